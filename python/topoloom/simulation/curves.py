"""Latency-load curves: their points, and the plans by which points are chosen.

A *plan* yields batches of loads; when the points of a batch stand in the curve, it is asked for the next one. Plans
see nothing but their own curve, so that the points do not depend on how many workers there are.
"""

import json
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from html import escape
from typing import TYPE_CHECKING, Any, Protocol

from pydantic import BaseModel, ConfigDict

from topoloom import _core
from topoloom._core import TopoloomError
from topoloom.network.graphs import source
from topoloom.simulation.loads import DEFAULT_LOADS, Loads, parse_loads
from topoloom.simulation.options import CYCLE_NS, EngineOptions, threads_given
from topoloom.simulation.roles import resolve_routing
from topoloom.workers import Workers, cpu_count

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import plotly.graph_objects as go
    from numpy.typing import NDArray

    from topoloom.plotting.curves import Measure

ZERO_LOAD = 0.001
"""The load whose latency stands for that of an empty network, in flits per terminal per cycle."""

LEAST_ACCEPTED = 0.98
"""A stable point accepts at least this part of what is offered."""

MOST_LATENCY = 3.0
"""A stable point has at most this many times the latency of an empty network."""

HOPELESS_LATENCY = 1.05 * MOST_LATENCY
"""A search ends a simulation early once it has this many times the latency of an empty network."""

SEARCH_PRECISION = 0.05
"""Relative half-width of the latency interval that is enough for a search: latency grows steeply at the knee."""

EMPTY_FLITS = 2000
"""Flits that tell the latency of an empty network."""

LEAST_EMPTY_CYCLES, MOST_EMPTY_CYCLES = 3_000, 30_000
"""Bounds of the cycles that its simulation takes."""

RESOLUTION = 100
"""The saturation load is placed on a grid of this many parts of full load."""

BOUNDED_ROUTERS = 1024
"""Saturation loads of networks of up to so many routers are told with their bound; ``topoloom bound`` has no limit."""

REPLICA_BITS = 32
"""Replicas have seeds that lie 2^32 apart, so that those of a study's seeds never meet."""

Plan = Iterator[list[float]]


class Point(BaseModel):
    """One simulated load. Loads are flits per active terminal per cycle; latencies are in cycles.

    Values that could not be measured, such as the latency where nothing arrived, are None.

    Attributes:
        offered: Offered load.
        accepted: Accepted load.
        latency_cycles: Mean latency from a packet's creation to its tail's arrival, source queue included.
        latency_ci95: Half the width of its 95 % confidence interval.
        network_latency_cycles: Mean latency from injection on.
        p50: Median latency.
        p99: 99th percentile of latency.
        hops: Mean number of routers that a packet visits.
        converged: Whether warm-up ended and the interval became narrow enough.
        saturated: Whether the source queues grew without bound.
        deadlocked: Whether flits stopped for good.
        cycles: Simulated cycles.
        flit_hops: Flits through routers over all cycles.
        wall_s: Seconds that the engine ran.
        cpu_s: Processor seconds that it used.
        active_terminals: Terminals that send.
        makespan_cycles: Cycles until the last packet of a trace arrived; None for other traffic.
        replicas: Simulations that the point is the mean of; absent from a point of a single one.
        latency_ns: The mean latency in nanoseconds; absent where a cycle of the router model stands for none.
    """

    model_config = ConfigDict(frozen=True, extra="allow")

    offered: float
    accepted: float
    latency_cycles: float | None
    latency_ci95: float | None
    network_latency_cycles: float | None
    p50: float | None
    p99: float | None
    hops: float | None
    converged: bool
    saturated: bool
    deadlocked: bool = False
    cycles: int
    flit_hops: int
    wall_s: float
    cpu_s: float
    active_terminals: int
    makespan_cycles: int | None = None

    def with_ns(self, model: str) -> "Point":
        """Return the point with its latency in nanoseconds as well, if cycles of the router `model` stand for some."""
        cycle_ns = CYCLE_NS.get(model)
        if cycle_ns is None or self.latency_cycles is None:
            return self
        return Point.model_validate(self.model_dump() | {"latency_ns": self.latency_cycles * cycle_ns})

    @property
    def has_answer(self) -> bool:
        """Whether the point measured anything: packets arrived and nothing stopped for good."""
        return not self.deadlocked and self.latency_cycles is not None

    @property
    def state(self) -> str:
        """What kind of answer the point is, in a word or two."""
        if self.deadlocked:
            return "deadlocked"
        if self.latency_cycles is None:
            return "nothing arrived"
        if self.saturated:
            return "saturated"
        return "converged" if self.converged else "not converged"


class Bound(BaseModel):
    """A load that a routing cannot carry more than under a traffic, by expectation.

    Attributes:
        saturation_bound: Flits per active terminal per cycle.
        saturation_bound_is: What it rests on: ``expected-load``, exact for this routing, or ``distance``.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    saturation_bound: float
    saturation_bound_is: str

    @classmethod
    def of(cls, network: _core.Network, routing: str, traffic: str) -> "Bound | None":
        """Return the bound, or None where it takes too long or nothing is known."""
        if network.num_routers > BOUNDED_ROUTERS:
            return None
        try:
            return cls.model_validate_json(_core.saturation_bound(network, routing, traffic))
        except _core.TopoloomError:
            return None


@dataclass(frozen=True)
class ChannelLoads:
    """How busy the channels between routers were at one load.

    Attributes:
        load: The offered load.
        flits: Flits per cycle, two channels a link: from its first router to its second, and back.
    """

    load: float
    flits: "NDArray[np.float32]"


@dataclass
class Curve:
    """The latency-load curve of one routing under one traffic on one network.

    Attributes:
        spec: The network.
        routing: The routing, resolved from its role.
        role: The routing as it was asked for: a role, or the routing itself.
        traffic: The traffic pattern.
        config: The engine's configuration, as it runs.
        deadlock_free: Whether the routing was proved free of deadlock with these VCs; None if nobody tried.
        points: The points simulated so far, by offered load.
        finished: Whether every point that was asked for is there.
        source: The hash of the file or graph that the network comes from, if it comes from one.
        bound: What the saturation load cannot exceed, where it was computed.
        channels: How busy the channels were at the largest stable load, where that was asked for.
        most_load: The largest load that its terminals can offer, or that will be asked for: bursts have to make up
            for pauses, and cannot offer 1 with small packets.
        note: What is to be known of how the routing runs on this network, if anything.
    """

    spec: str
    routing: str
    role: str
    traffic: str
    config: dict[str, Any]
    points: dict[float, Point] = field(default_factory=dict)
    finished: bool = False
    deadlock_free: bool | None = None
    source: dict[str, str] = field(default_factory=dict)
    bound: Bound | None = None
    channels: ChannelLoads | None = None
    most_load: float = 1.0
    note: str | None = None

    def sorted_points(self) -> list[Point]:
        """Return the points by ascending load."""
        return [self.points[load] for load in sorted(self.points)]

    @property
    def zero_load_latency(self) -> float | None:
        """The latency of an empty network in cycles, once it has been measured."""
        point = self.points.get(ZERO_LOAD)
        return point.latency_cycles if point else None

    @property
    def first_unstable(self) -> float | None:
        """The smallest load past saturation, if one was simulated."""
        return min((load for load in self.points if load != ZERO_LOAD and not self.is_stable(load)), default=None)

    def is_stable(self, load: float) -> bool:
        """Whether the point at `load` lies below saturation: what is offered arrives, and without much delay.

        A load past the bound is never stable. Where the latency of an empty network was not measured, the smallest one
        of the curve stands for it.
        """
        point, empty = self.points[load], self.zero_load_latency or self._least_latency
        if not point.has_answer or point.latency_cycles is None or empty is None:
            return False
        return (
            not self.is_past_bound(load)
            and point.accepted >= LEAST_ACCEPTED * load
            and point.latency_cycles <= MOST_LATENCY * empty
        )

    def is_past_bound(self, load: float) -> bool:
        """Whether no steady state carries `load`: queues grow for ever, however little of that a simulation sees.

        A simulation is finite: up to 1 / :data:`LEAST_ACCEPTED` of the bound, and further where few channels are
        overloaded, it may measure all that a stable point asks for.
        """
        return self.bound is not None and load > self.bound.saturation_bound * (1 + 1e-9)

    @property
    def _least_latency(self) -> float | None:
        known = [point.latency_cycles for point in self.points.values() if point.latency_cycles is not None]
        return min(known, default=None)

    @property
    def saturation_load(self) -> float | None:
        """The largest stable load, to 0.01; None until the search for it has ended."""
        if not self.finished or self.zero_load_latency is None:
            return None
        return self.most_stable or 0.0

    @property
    def most_stable(self) -> float | None:
        """The largest load of a stable point, the one that stands for an empty network aside."""
        return max((load for load in self.points if load != ZERO_LOAD and self.is_stable(load)), default=None)

    @property
    def accepted_max(self) -> float | None:
        """The largest accepted load of any point."""
        return max((point.accepted for point in self.points.values() if not point.deadlocked), default=None)

    @property
    def accepted_at_1(self) -> float | None:
        """The load accepted where every terminal offers all it can."""
        point = self.points.get(1.0)
        return point.accepted if point and not point.deadlocked else None

    def frame(self) -> "pd.DataFrame":
        """Return the points as a data frame, one row a load, with network, routing and traffic."""
        import pandas as pd  # noqa: PLC0415 - loads slowly

        about = {"spec": self.spec, "routing": self.routing, "traffic": self.traffic, "seed": self.config["seed"]}
        return pd.DataFrame([about | point.model_dump() for point in self.sorted_points()])

    def plot(self, measure: "Measure" = "latency") -> "go.Figure":
        """Return a chart of the curve with its confidence band; see :func:`topoloom.plot`."""
        from topoloom.plotting.curves import plot  # noqa: PLC0415 - charts know curves, not the reverse

        return plot(self, measure)

    def _repr_html_(self) -> str:
        title = f"{self.spec}, routing {self.routing}, traffic {self.traffic}, seed {self.config['seed']}"
        columns = ["accepted", "latency_cycles", "latency_ci95", "p99", "hops", "converged", "saturated"]
        table = self.frame().set_index("offered")[columns] if self.points else None
        body = "no point yet" if table is None else table.to_html(float_format="{:.4g}".format)
        return f"<b>{escape(title)}</b><br>{body}"

    def to_dict(self) -> dict[str, Any]:
        """Return what ``simulate --json`` prints."""
        return {
            "spec": self.spec,
            **self.source,
            "routing": self.routing,
            **({"note": self.note} if self.note else {}),
            "traffic": self.traffic,
            "config": self.config,
            "seed": self.config["seed"],
            "version": _core.__version__,
            "interrupted": not self.finished,
            "points": [point.model_dump() for point in self.sorted_points()],
        }

    def saturation_dict(self) -> dict[str, Any]:
        """Return what ``saturation --json`` prints."""
        summary = {
            "saturation_load": self.saturation_load,
            "saturation_bound": self.bound.saturation_bound if self.bound else None,
            "saturation_bound_is": self.bound.saturation_bound_is if self.bound else None,
            "accepted_max": self.accepted_max,
            "accepted_at_1": self.accepted_at_1,
            "zero_load_latency_cycles": self.zero_load_latency,
        }
        if (cycle_ns := CYCLE_NS.get(self.config["model"])) is not None and self.zero_load_latency is not None:
            summary["zero_load_latency_ns"] = self.zero_load_latency * cycle_ns
        return summary | self.to_dict()


def is_trace(traffic: str) -> bool:
    """Whether `traffic` gives packets one by one, and so has a load of its own."""
    return traffic.partition(":")[0] == "trace"


def offered_loads(network: _core.Network, traffic: str, load: Loads | None) -> list[float]:
    """Return the loads to simulate: those of `load`, unless given 0.1 to 0.9, or the one that a trace has by itself.

    Raises:
        TopoloomError: Loads that do not parse, a load beside a trace, or a mistake in a trace.
    """
    if not is_trace(traffic):
        return parse_loads(DEFAULT_LOADS if load is None else load)
    if load is not None:
        raise TopoloomError("a trace has a load of its own; leave the load out")
    own = _core.trace_load(network, traffic)
    return [] if own is None else [own]


def fixed_plan(loads: Sequence[float]) -> Plan:
    """Ask for `loads`, whatever comes out."""
    yield list(loads)


def search_plan(curve: Curve, coarse: Iterable[float] = ()) -> Plan:
    """Look for the saturation load by bisection, first among `coarse` loads, then to 0.01."""
    yield [ZERO_LOAD]
    most = curve.most_load
    yield [most]
    stable, unstable = 0.0, most
    if curve.is_stable(most):
        return
    fine = [step / RESOLUTION for step in range(1, RESOLUTION)]
    for grid in (sorted(coarse), fine):
        while between := [load for load in grid if stable < load < unstable]:
            middle = between[len(between) // 2]
            yield [middle]
            if curve.is_stable(middle):
                stable = middle
            else:
                unstable = middle


def knee_plan(curve: Curve, loads: Sequence[float]) -> Plan:
    """Place the saturation load, then fill in those of `loads` that lie below it."""
    yield from search_plan(curve, loads)
    stable = max((load for load in curve.points if curve.is_stable(load)), default=0.0)
    yield [load for load in loads if load < stable]


def bend_plan(curve: Curve, loads: Sequence[float], tolerance: float) -> Plan:
    """Place points where the curve bends, up to the first load past saturation.

    The range is that of `loads`. Past saturation stands one load; below it, an interval is halved as long as the
    latency at one of its ends lies further from the straight line between its neighbours than `tolerance`, as a part
    of that latency, so that straight lines between the points are the curve. No interval becomes narrower than 0.01.
    """
    first, last = min(loads), min(max(loads), curve.most_load)
    yield [ZERO_LOAD]
    yield [last]
    stable, unstable = 0.0, last
    # A load and a half of an even grid: enough to see where the curve leaves the picture.
    while not curve.is_stable(last) and unstable - stable > 1.5 / RESOLUTION:
        middle = _on_grid((stable + unstable) / 2)
        yield [middle]
        if curve.is_stable(middle):
            stable = middle
        else:
            unstable = middle
    yield [first]
    while batch := _bends(curve, tolerance):
        yield batch


def _bends(curve: Curve, tolerance: float) -> list[float]:
    """Return the middles of the intervals at whose ends the curve bends too much."""
    known = [
        (load, latency)
        for load in sorted(curve.points)
        if curve.is_stable(load) and (latency := curve.points[load].latency_cycles) is not None
    ]
    new = set()
    for (a, low), (b, mid), (c, high) in zip(known, known[1:], known[2:], strict=False):
        line = low + (high - low) * (b - a) / (c - a)
        if abs(line - mid) > tolerance * mid:
            wide = (a, b) if b - a > c - b else (b, c)
            new.add(_on_grid(sum(wide) / 2))
    return sorted(new - set(curve.points))


def _on_grid(load: float) -> float:
    return round(load * RESOLUTION) / RESOLUTION


class Simulator:
    """What turns loads into points: a network, a routing, a traffic and options that go together.

    Args:
        network: The network.
        role: A routing, or a role.
        traffic: A traffic pattern.
        options: The engine's options.
        most_load: The largest load that will be asked for; None for all that the terminals can offer, to 0.01.
        searching: Simulate no longer than it takes to tell whether a load lies past saturation.
        precise: The loads that are measured as precisely as the options say; None for all. The others only have to
            tell which side of saturation they lie on.
        channels: Let the curve tell how busy the channels are at its largest stable load.

    Raises:
        TopoloomError: Arguments that do not go together.
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
        channels: bool = False,
    ) -> None:
        if searching and is_trace(traffic):
            raise TopoloomError(f"{traffic} has a load of its own and cannot be searched for saturation; simulate it")
        options = options.on_this_machine()
        if options.fail is not None:
            network = network.with_failures(options.fail)
        routing = resolve_routing(role, network.family)
        if most_load is None:
            most = _core.most_load(network, traffic, options.engine_json())
            most_load = max(math.floor(most * RESOLUTION * (1 + 1e-9)), 1) / RESOLUTION
        self.curve = Curve(
            spec=network.spec,
            routing=routing,
            role=role,
            traffic=traffic,
            config={
                **json.loads(_core.check(network, routing, traffic, most_load, options.engine_json())),
                "fail": network.failures,
            },
            source=source(network),
            most_load=most_load,
            note=_core.check_routing(network, routing),
        )
        # The bound is that of terminals which all send the same.
        if searching and options.rates is None:
            self.curve.bound = Bound.of(network, routing, traffic)
        self._network = network
        self._options = options
        self._searching = searching
        self._precise = None if precise is None else frozenset(precise)
        self._flits: dict[float, NDArray[np.float32]] | None = {} if channels else None

    def point(self, load: float, cancel: _core.CancelToken, replica: int = 0) -> Point | None:
        """Simulate one load; None if `cancel` stopped it. Each `replica` has a seed of its own."""
        curve = self.curve
        options = self.options_at(load)
        if replica:
            options = options.model_copy(update={"seed": (options.seed + (replica << REPLICA_BITS)) % 2**64})
        run = (self._network, curve.routing, curve.traffic, load, options.engine_json(), cancel)
        if self._flits is None:
            text = _core.simulate(*run)
        else:
            text, self._flits[load] = _core.simulate_channels(*run)
        curve.config["threads"] = threads_given(cancel, curve.config["threads"])
        values = json.loads(text)
        return None if values.pop("interrupted", False) else Point.model_validate(values).with_ns(options.model)

    @property
    def keeps_flits(self) -> bool:
        """Whether it is to tell how busy the channels are."""
        return self._flits is not None

    def flits(self, load: float) -> "NDArray[np.float32] | None":
        """Return the flits per cycle on each channel at a load, as :class:`ChannelLoads` has them, if it keeps them."""
        return None if self._flits is None else self._flits.get(load)

    def keep_flits(self, load: float, flits: "NDArray[np.float32]") -> None:
        """Take the flits per cycle on each channel at a load that was simulated before."""
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
        """Return the options for one load: a search simulates no longer than it must."""
        options = self._options
        if not self._searching or options.measure is not None:
            return options
        if load == ZERO_LOAD:
            return options.model_copy(update={"warmup": 0, "measure": self._empty_cycles()})
        changed: dict[str, float] = {}
        if self._precise is not None and load not in self._precise:
            changed["precision"] = max(options.precision, SEARCH_PRECISION)
        if self.curve.zero_load_latency is not None and options.latency_limit is None:
            changed["latency_limit"] = HOPELESS_LATENCY * self.curve.zero_load_latency
        return options.model_copy(update=changed)

    def _empty_cycles(self) -> int:
        """Return the cycles within which terminals offer :data:`EMPTY_FLITS`, within bounds; nothing has to warm up."""
        cycles = math.ceil(EMPTY_FLITS / (ZERO_LOAD * self._network.num_terminals))
        return min(max(cycles, LEAST_EMPTY_CYCLES), MOST_EMPTY_CYCLES)


def run_here(simulator: Simulator, plan: Plan, refine: Callable[[float], None] = lambda _: None) -> None:
    """Run the simulations that `plan` asks for one after another in this thread; `refine` improves each point."""
    never = _core.CancelToken()
    curve = simulator.curve
    for batch in plan:
        for load in batch:
            if load not in curve.points and (point := simulator.point(load, never)):
                curve.points[load] = point
                refine(load)
    curve.finished = True


OnPoint = Callable[[Curve, Point], None]


Waiting = Callable[[_core.CancelToken], None]


class Keeper(Protocol):
    """What keeps points from one run to the next: :class:`topoloom.studies.kept.KeptPoints`."""

    @property
    def store(self) -> str:
        """The name of the store that holds them; empty if none does."""

    def recall(self, simulator: Simulator, load: float) -> Point | None:
        """Return a point that is known."""

    def keep(self, simulator: Simulator, load: float, point: Point) -> None:
        """Keep a point that was measured."""


def run_plans(
    plans: Sequence[tuple[Simulator, Plan]],
    on_point: OnPoint | None = None,
    keeper: Keeper | None = None,
    waiting: Waiting | None = None,
) -> bool:
    """Run the simulations that `plans` ask for, in parallel, and put the points into their curves.

    Args:
        plans: Each simulator with the plan for its curve.
        on_point: Called in this thread for every point, in the order in which they come; the point is in its curve.
        keeper: Knows points that need not be simulated, and keeps the others.
        waiting: Called in this thread some times a second, with what says how far the engine is.

    Returns:
        True when all is done; False when Ctrl-C came first. The points done until then are in the curves.
    """
    cancel = _core.CancelToken()
    threads = max((simulator.curve.config["threads"] for simulator, _ in plans), default=1)
    with Workers[tuple[int, float, Point | None]](max(1, cpu_count() // threads)) as workers:
        run = _Run(plans, workers, cancel, on_point or _ignore, keeper)
        try:
            run.to_the_end(None if waiting is None else lambda: waiting(cancel))
        except KeyboardInterrupt:
            return False
        finally:
            cancel.cancel()
            workers.drop()
    return True


def _ignore(curve: Curve, point: Point) -> None:
    """Take note of no point."""


class _Run:
    """The state of one :func:`run_plans`."""

    def __init__(
        self,
        plans: Sequence[tuple[Simulator, Plan]],
        workers: Workers[tuple[int, float, Point | None]],
        cancel: _core.CancelToken,
        on_point: OnPoint,
        keeper: Keeper | None,
    ) -> None:
        self._plans = plans
        self._workers = workers
        self._cancel = cancel
        self._on_point = on_point
        self._keeper = keeper
        self._missing = [0] * len(plans)

    def to_the_end(self, waiting: Callable[[], None] | None) -> None:
        for which in range(len(self._plans)):
            self._advance(which)
        while any(self._missing):
            which, load, point = self._workers.next_result(waiting)
            if point is None:
                continue
            simulator = self._plans[which][0]
            simulator.curve.points[load] = point
            if self._keeper is not None:
                self._keeper.keep(simulator, load, point)
            self._missing[which] -= 1
            if not self._missing[which]:
                simulator.keep_channels()
                self._advance(which)
            self._on_point(simulator.curve, point)

    def _advance(self, which: int) -> None:
        """Submit the next batch of a plan that has points left to run."""
        simulator, plan = self._plans[which]
        for batch in plan:
            new = [load for load in batch if load not in simulator.curve.points and not self._recalled(which, load)]
            for load in new:
                self._workers.submit(partial(self._simulate, which, load))
            if new:
                self._missing[which] = len(new)
                return
            simulator.keep_channels()
        simulator.curve.finished = True

    def _recalled(self, which: int, load: float) -> bool:
        """Put a point that is known into its curve; return whether there is one."""
        simulator = self._plans[which][0]
        point = self._keeper.recall(simulator, load) if self._keeper is not None else None
        if point is None:
            return False
        simulator.curve.points[load] = point
        self._on_point(simulator.curve, point)
        return True

    def _simulate(self, which: int, load: float) -> tuple[int, float, Point | None]:
        return which, load, self._plans[which][0].point(load, self._cancel)
