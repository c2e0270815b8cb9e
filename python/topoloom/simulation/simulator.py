"""What turns loads into points: a network, a routing, a traffic and options that go together."""

import json
import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

from topoloom import _core
from topoloom._core import TopoloomError
from topoloom.engine import results
from topoloom.files import source
from topoloom.simulation.curves import MOST_LATENCY, ChannelLoads, Curve
from topoloom.simulation.loads import is_trace
from topoloom.simulation.options import EngineOptions, threads_given
from topoloom.simulation.plans import LARGE, RESOLUTION
from topoloom.simulation.points import ZERO_LOAD, Point, Units, bound_of
from topoloom.simulation.roles import roles_of, routing_on

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

HOPELESS_LATENCY = 1.05 * MOST_LATENCY
"""A search ends a simulation early once it has this many times the latency of an empty network."""

SEARCH_PRECISION = 0.05
"""Relative half-width of the latency interval that is enough for a search: latency grows steeply at the knee."""

LARGE_SEARCH_PRECISION = 0.1
"""The same of a network of at least :data:`LARGE` terminals: their mean latency hardly differs by chance, but near
saturation it still drifts for thousands of cycles, of which this is the most that may be left."""

EMPTY_FLITS = 2000
"""Flits that measure the latency of an empty network."""

LEAST_EMPTY_CYCLES, MOST_EMPTY_CYCLES = 3_000, 30_000
"""Bounds of the cycles that its simulation takes."""

SHARED_TERMINALS = 4096
"""Terminals from which on idle processors take part in a point."""

REPLICA_BITS = 32
"""Seeds of replicas are multiples of 2^32 apart, so that they never equal seeds of a study."""


class Simulator:
    """What turns loads into points: a network, a routing, a traffic and options that go together.

    Args:
        network: The network.
        role: A routing, or a role.
        traffic: A traffic pattern.
        options: The engine's options.
        most_load: The largest load that will be asked for; None for all that the terminals can offer, to 0.01.
        searching: Simulate no longer than needed to decide whether a load lies past saturation.
        precise: The loads that are measured as precisely as the options state; None for all. The others only have to
            decide which side of saturation they lie on.
        settled: Simulate the largest load on past saturation, until what is accepted there has settled.
        channels: Record in the curve how busy the channels are at its largest stable load.

    Raises:
        TopoloomError: Arguments that do not go together.

    >>> options = EngineOptions(warmup=50, measure=50)
    >>> simulator = Simulator(_core.Network("mesh:4"), "dor", "uniform", options, channels=True)
    >>> simulator.options_at(0.2).measure
    50
    >>> simulator.curve.points[0.2] = simulator.point(0.2, _core.CancelToken())
    >>> flits = simulator.flits(0.2)
    >>> simulator.keep_flits(0.1, flits)
    >>> simulator.keep_channels()
    >>> len(flits), simulator.curve.channels is None  # no load has been found to be stable
    (6, True)
    """

    def __init__(
        self,
        network: _core.Network,
        role: str,
        traffic: str,
        options: EngineOptions,
        *,
        most_load: float | None = None,
        searching: bool = True,
        precise: Iterable[float] | None = None,
        settled: bool = False,
        channels: bool = False,
    ) -> None:
        if searching and is_trace(traffic):
            raise TopoloomError(f"{traffic} has a load of its own and cannot be searched for saturation; simulate it")
        options = options.on_this_machine()
        if options.fail is not None:
            network = network.with_failures(options.fail)
        pattern = _core.Traffic(network, traffic)
        if most_load is None:
            most = pattern.most_load(options.engine_json())
            most_load = max(math.floor(most * RESOLUTION * (1 + 1e-9)), 1) / RESOLUTION
        routing = _core.Routing(network, routing_on(network, role))
        simulation = _core.Simulation(routing, pattern, options.engine_json())
        self.curve = Curve(
            spec=network.spec,
            routing=routing.name,
            role=role,
            roles=roles_of(network, routing.name),
            traffic=traffic,
            config={
                **json.loads(simulation.check(most_load)),
                "fail": network.failures,
            },
            source=source(network),
            most_load=most_load,
            note=routing.note,
            units=Units.of(network, options.model),
        )
        # The bound is that of terminals which all send the same.
        if searching and options.rates is None:
            self.curve.bound = bound_of(network, routing, pattern)
        self._network, self._routing, self._traffic = network, routing, pattern
        self._options = options
        self._searching = searching
        self._settled = settled
        self._precise = None if precise is None else frozenset(precise)
        self._flits: dict[float, NDArray[np.float32]] | None = {} if channels else None

    @property
    def shares_well(self) -> bool:
        """Whether a point gains by threads that were not asked for: a cycle takes much longer than their meeting."""
        return "threads" not in self._options.model_fields_set and self._network.num_terminals >= SHARED_TERMINALS

    def point(
        self, load: float, cancel: _core.CancelToken, replica: int = 0, threads: int | None = None
    ) -> Point | None:
        """Simulate one load; None if `cancel` stopped it.

        Args:
            load: The load, in flits per terminal per cycle.
            cancel: A token that another thread may cancel.
            replica: The number of the replica, which changes the seed.
            threads: The number of threads to run on, with the same result; None for that of the options.
        """
        options = self.options_at(load)
        if threads is not None:
            options = options.model_copy(update={"threads": threads})
        seed = (options.seed + (replica << REPLICA_BITS)) % 2**64
        simulation = _core.Simulation(self._routing, self._traffic, options.engine_json())
        measured = self._measured(simulation, load, cancel, seed)
        self.curve.config["threads"] = threads_given(cancel, self.curve.config["threads"])
        if measured is None or measured.interrupted:
            return None
        values = {key: value for key, value in measured.items() if key != "interrupted"}
        return Point.model_validate(values).with_units(self.curve.units)

    def _measured(
        self, simulation: _core.Simulation, load: float, cancel: _core.CancelToken, seed: int
    ) -> results.Point | None:
        """Simulate one load, and keep how busy the channels were if that is asked for."""
        if self._flits is None:
            return simulation.point(load, cancel, seed)
        found = simulation.point_and_channels(load, cancel, seed)
        if found is None:
            return None
        measured, self._flits[load] = found
        return measured

    @property
    def keeps_flits(self) -> bool:
        """Whether it records how busy the channels are."""
        return self._flits is not None

    def flits(self, load: float) -> "NDArray[np.float32] | None":
        """Return the flits per cycle on each channel at a load, as :class:`ChannelLoads` has them, if it keeps them.

        Args:
            load: The load, in flits per terminal per cycle.
        """
        return None if self._flits is None else self._flits.get(load)

    def keep_flits(self, load: float, flits: "NDArray[np.float32]") -> None:
        """Take the flits per cycle on each channel at a load that was simulated before.

        Args:
            load: The load, in flits per terminal per cycle.
            flits: The flits per cycle, an array of one value per channel.
        """
        if self._flits is not None:
            self._flits[load] = flits

    def keep_channels(self) -> None:
        """Put the loads of the channels at the largest stable load into the curve, and forget the others."""
        if self._flits is None:
            return
        stable = {load: flits for load, flits in self._flits.items() if load == self.curve.most_stable}
        self._flits = stable
        self.curve.channels = next((ChannelLoads(load, flits) for load, flits in stable.items()), None)

    def options_at(self, load: float) -> EngineOptions:
        """Return the options for one load: a search simulates no longer than it must.

        Args:
            load: The load, in flits per terminal per cycle.
        """
        options = self._options
        if not self._searching or options.measure is not None:
            return options
        if load == ZERO_LOAD:
            return options.model_copy(update={"warmup": 0, "measure": self._empty_cycles()})
        changed: dict[str, float] = {}
        if self._precise is not None and load not in self._precise:
            large = self._network.num_terminals >= LARGE
            changed["precision"] = max(options.precision, LARGE_SEARCH_PRECISION if large else SEARCH_PRECISION)
        empty = self.curve.zero_load_latency
        if empty is not None and options.latency_limit is None and not self._settles(load):
            changed["latency_limit"] = HOPELESS_LATENCY * empty
        return options.model_copy(update=changed)

    def _settles(self, load: float) -> bool:
        """Whether a simulation continues although its latency shows that the load lies beyond saturation.

        Curves are compared by what they accept at full load, which has to settle: that takes longer.
        """
        return self._settled and load == self.curve.most_load

    def _empty_cycles(self) -> int:
        """Return the cycles within which terminals offer :data:`EMPTY_FLITS`, within bounds; nothing has to warm up."""
        cycles = math.ceil(EMPTY_FLITS / (ZERO_LOAD * self._network.num_terminals))
        return min(max(cycles, LEAST_EMPTY_CYCLES), MOST_EMPTY_CYCLES)
