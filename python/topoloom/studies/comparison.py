"""The main job: several networks side by side, under the same traffic, with the same routers."""

from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from topoloom.layout.prices import price_list
from topoloom.network.networks import Network, as_networks
from topoloom.report.comparison import PROVED_ROUTERS, Comparison
from topoloom.simulation.curves import Curve
from topoloom.simulation.loads import Loads, parse_loads
from topoloom.simulation.options import EngineOptions, make_options, require_some
from topoloom.simulation.plans import knee_plan
from topoloom.simulation.runs import Keeper, OnPoint, Waiting, run_plans
from topoloom.simulation.simulator import Simulator
from topoloom.simulation.trials import BEST, offered_simulators, rank
from topoloom.studies.kept import KeptPoints
from topoloom.workers import interruptible


def compare(
    networks: str | Network | Iterable[str | Network],
    routings: str | Sequence[str] = ("minimal", "adaptive"),
    traffics: str | Sequence[str] = ("uniform",),
    load: Loads = "0.1:0.9:0.1",
    layout: str = "",
    prices: str = "",
    store: str | Path | None = None,
    **options: Any,
) -> Comparison:
    """Simulate every network with every routing under every traffic, up to its saturation.

    Args:
        networks: Specs or networks, or a single one.
        routings: Routings, or the roles ``minimal`` and ``adaptive``; ``best`` for all that each network offers. A
            single one need be in no list.
        traffics: Traffic patterns, or a single one.
        load: The loads that every curve shows below its saturation, in flits per active terminal per cycle.
        layout: The packing and placement of routers, as in :meth:`Network.layout`.
        prices: The price list, as there.
        store: The folder that keeps every point as soon as it is done; stored points are not simulated again. None for
            no folder.
        **options: Options of :class:`topoloom.simulation.options.EngineOptions`.

    Raises:
        TopoloomError: A mistake in an argument; found before anything is simulated.

    >>> found = compare(["mesh:2x2"], ["minimal"], load=[0.1, 0.2], warmup=10, measure=100)
    >>> [curve.routing for curve in found.curves]
    ['dor']
    """
    roles, patterns = ([own] if isinstance(own, str) else own for own in (routings, traffics))
    job = CompareJob(as_networks(networks), roles, patterns, parse_loads(load), make_options(options), layout, prices)
    if store is None:
        return job.run()
    with KeptPoints(Path(store), "compare", always=True) as kept:
        return job.run(keeper=kept)


class CompareJob:
    """A comparison that has been checked and waits to be run.

    Args:
        networks: The networks; of several with the same spec the last counts.
        routings: Routings, or the roles ``minimal`` and ``adaptive``; ``best`` for all that each network offers.
        traffics: Traffic patterns.
        loads: The loads that every curve shows below its saturation, in flits per active terminal per cycle.
        options: The engine's options; with ``fail``, every network is the one with these failures.
        layout: The packing and placement of routers, as in :meth:`Network.layout`.
        prices: The price list, as there.

    Attributes:
        refused: Why routings are left out, by network and routing, where ``best`` was asked for.

    Raises:
        TopoloomError: A mistake in an argument; found before anything is simulated.

    >>> short = make_options({"warmup": 10, "measure": 100})
    >>> job = CompareJob([Network("mesh:2x2")], ["minimal"], ["uniform"], [0.1], short)
    >>> [curve.routing for curve in job.curves], job.run().facts[0]["diameter"]
    (['dor'], 2)
    """

    def __init__(
        self,
        networks: Sequence[Network],
        routings: Sequence[str],
        traffics: Sequence[str],
        loads: list[float],
        options: EngineOptions,
        layout: str = "",
        prices: str = "",
    ) -> None:
        for name, given in (("networks", networks), ("routings", routings), ("traffics", traffics), ("load", loads)):
            require_some(name, given)
        self._layout, self._prices = layout, prices
        price_list(prices)  # a mistake in its name is reported before the networks are built
        if options.fail is not None:
            networks = [network.with_failures(options.fail) for network in networks]
        self._networks = list({network.spec: network for network in networks}.values())
        self._traffics = list(dict.fromkeys(traffics))
        self._loads = loads
        self._options = options
        have_failed = options.model_copy(update={"fail": None})
        self._routings = list(dict.fromkeys(routings))
        self.refused: dict[tuple[str, str], str] = {}
        self._simulators = [
            simulator
            for traffic in self._traffics
            for network in self._networks
            for simulator in self._of(network, traffic, have_failed)
        ]

    def _of(self, network: Network, traffic: str, options: EngineOptions) -> list[Simulator]:
        """Return the simulators of one network under one traffic."""
        roles = _distinct(network, [role for role in self._routings if role != BEST])
        simulators = [
            Simulator(network.core, role, traffic, options, precise=self._loads, settled=True, channels=True)
            for role in roles
        ]
        if BEST not in self._routings:
            return simulators
        offered, refused = offered_simulators(
            network.core, traffic, options, precise=self._loads, settled=True, channels=True
        )
        self.refused |= {(network.spec, routing): why for routing, why in refused.items()}
        named = {simulator.curve.routing for simulator in simulators}
        return [*simulators, *(other for other in offered if other.curve.routing not in named)]

    @property
    def loads(self) -> list[float]:
        """The loads that every curve shows below its saturation."""
        return self._loads

    @property
    def curves(self) -> list[Curve]:
        """The curves to come."""
        return [simulator.curve for simulator in self._simulators]

    def _ranked(self) -> list[Curve]:
        """Return the curves as they are shown: where all routings were asked for, each network's best one first."""
        if BEST not in self._routings:
            return self.curves
        specs = [network.spec for network in self._networks]
        return sorted(
            self.curves, key=lambda own: (self._traffics.index(own.traffic), specs.index(own.spec), rank(own))
        )

    def run(
        self,
        command: Sequence[str] = (),
        on_point: OnPoint | None = None,
        keeper: Keeper | None = None,
        waiting: Waiting | None = None,
    ) -> Comparison:
        """Gather the facts and run the simulations; Ctrl-C ends the simulations early, not the comparison.

        Args:
            command: The command that repeats it.
            on_point: Hears every point.
            keeper: Keeps the points from one run to the next.
            waiting: Called some times a second, with what reports how far the engine is.
        """
        facts = [
            interruptible(partial(network.facts, self._layout, self._prices), waiting) for network in self._networks
        ]
        self._prove(waiting)
        plans = [(simulator, knee_plan(simulator.curve, self._loads)) for simulator in self._simulators]
        finished = run_plans(plans, on_point, keeper, waiting)
        return Comparison(
            facts=facts,
            curves=self._ranked(),
            options=[self._options],
            traffics=self._traffics,
            command=command,
            finished=finished,
            layout=self._layout,
            prices=self._prices,
            networks=self._networks,
            store=keeper.store if keeper is not None else "",
        )

    def _prove(self, waiting: Waiting | None) -> None:
        """Prove every routing of every network that is not too large, once for all traffics."""
        for network in self._networks:
            if network.num_routers > PROVED_ROUTERS:
                continue
            mine = [curve for curve in self.curves if curve.spec == network.spec]
            for routing in {curve.routing for curve in mine}:
                proof = interruptible(partial(network.verify, routing), waiting)
                for curve in mine:
                    if curve.routing == routing:
                        curve.deadlock_free = proof["deadlock_free"] and curve.config["vcs"] >= proof["vcs_needed"]


def _distinct(network: Network, roles: Sequence[str]) -> list[str]:
    """Return `roles` without those that stand for the same routing on `network` as an earlier one."""
    first = {network.routing(role): role for role in reversed(roles)}
    return [role for role in dict.fromkeys(roles) if first[network.routing(role)] == role]
