"""What a study can ask of a network: what a point of each kind measures, and how it is run.

A new kind is an entry in :data:`MEASUREMENTS`; expansion, ledger, executors and tables need no change.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, Protocol

from pydantic import Field

from topoloom import _core
from topoloom._core import TopoloomError
from topoloom.layout.prices import price_files
from topoloom.network.faults import FaultOptions, make_fault_options, try_faults
from topoloom.network.networks import Network
from topoloom.simulation.loads import is_trace, offered_loads
from topoloom.simulation.option_types import U32, Options, Reads
from topoloom.simulation.options import EngineOptions, checked, make_options
from topoloom.simulation.plans import RESOLUTION, bend_plan, fixed_plan, highest_stable, near_plan, search_plan
from topoloom.simulation.replications import REPLICA_PRECISION, replicate
from topoloom.simulation.runs import run_here
from topoloom.simulation.simulator import Simulator
from topoloom.studies.contents import digest
from topoloom.studies.played import (
    APPLICATIONS,
    JOBS,
    PAST_JOBS,
    JobsOptions,
    Played,
    ReplayOptions,
    play_application,
    play_jobs,
    play_past_jobs,
)
from topoloom.workload.options import WorkloadOptions

Result = dict[str, Any]

MOST_PRECISION = 0.5
"""The widest interval that the engine can be asked for."""


class Question(Protocol):
    """What a measurement reads of a point; :class:`topoloom.studies.StudyPoint` states what each stands for."""

    @property
    def kind(self) -> str:
        """The name of the measurement."""

    @property
    def spec(self) -> str:
        """The network."""

    @property
    def routing(self) -> str:
        """The routing."""

    @property
    def traffic(self) -> str:
        """The traffic pattern, or what is played."""

    @property
    def load(self) -> float | None:
        """The offered load."""

    @property
    def settings(self) -> Mapping[str, Any]:
        """What else the measurement takes."""

    @property
    def options(self) -> dict[str, Any]:
        """The options, as Python takes them."""


class FloorOptions(Options):
    """What cost and power depend on.

    Attributes:
        layout: The layout, such as ``family`` or ``cabinet=16``; the same racks for every family unless given.
        prices: The price list.
    """

    layout: Annotated[str, Reads(partial(_core.files_of, "layout"))] = ""
    prices: Annotated[str, Reads(price_files)] = ""


class FactsOptions(FloorOptions):
    """How facts are found.

    Attributes:
        layout: As of :class:`FloorOptions`.
        prices: As of :class:`FloorOptions`.
        sample: The number of random routers from which distances are measured; all unless given.
        paths: Count shortest paths even if that takes long.
    """

    sample: Annotated[int, Field(ge=1)] | None = None
    paths: bool = False


class VerifyOptions(Options):
    """How a routing is verified.

    Attributes:
        vcs: Virtual channels per port; as many as the routing needs unless given.
    """

    vcs: U32 | None = None


class BoundOptions(Options):
    """Which bounds are computed.

    Attributes:
        optimal: Also what the best possible routing carries.
    """

    optimal: bool = False


@dataclass(frozen=True)
class Measurement:
    """What points of one kind measure.

    Attributes:
        summary: What it measures, for people.
        run: Does the work of one point.
        simulates: Whether it needs a routing, a traffic pattern and the engine's options.
        routes: Whether it needs a routing.
        sends: Whether it needs a traffic pattern.
        plays: What it plays, such as applications, in the place of a traffic pattern.
        seeded: Whether its result depends on a seed.
        options: The options that it takes.
        reads: Checks them, where their types alone do not.
        loads: Whether there is one point for each load.
        takes_loads: Whether loads belong to the point, all of them.
        effort: Its work relative to one simulation at full load.
        columns: What a table for people shows of its result; in other units than cycles, where the result has them.

    >>> from topoloom.studies import StudyPoint
    >>> facts = MEASUREMENTS["facts"]
    >>> facts.make_options({"paths": True}).paths, facts.files(StudyPoint("facts", "file:own.csv"))
    (True, ['own.csv'])
    """

    summary: str
    run: Callable[[Question], Result]
    simulates: bool = False
    routes: bool = False
    sends: bool = False
    plays: Played | None = None
    seeded: bool = False
    options: type[Options] = Options
    reads: Callable[[Mapping[str, Any]], Options] | None = None
    loads: bool = False
    takes_loads: bool = False
    effort: float = 1.0
    columns: tuple[str, ...] = ()

    def make_options(self, values: Mapping[str, Any]) -> Options:
        """Return checked options.

        Args:
            values: Options by name, as in Python.

        Raises:
            TopoloomError: An option that the kind does not have, or a value that it does not allow.
        """
        return self.reads(values) if self.reads else checked(self.options, values)

    def files(self, point: Question) -> list[str]:
        """Return the paths of the files that a point of this kind reads, as its names have them.

        Args:
            point: The point.
        """
        names = {"topology": point.spec, "routing": point.routing}
        named = [path for what, name in names.items() for path in _files_of(what, name)]
        sent = _files_of("traffic", point.traffic) if self.plays is None else self.plays.files(point.traffic)
        return named + sent + self.options.files(point.options)

    @property
    def refused(self) -> frozenset[str]:
        """The keys of a sweep that mean nothing to points of this kind."""
        return frozenset(
            (() if self.routes else ("routings",))
            + (() if self.sends else ("traffic",))
            + (() if self.plays else ("apps",))
            + (() if self.seeded else ("seeds",))
            + (() if self.options.model_fields else ("options",))
            + (() if self.loads or self.takes_loads else ("loads",))
            + (() if self.takes_loads else ("tolerance", "precision", "replicas"))
        )


@lru_cache(maxsize=4096)
def _files_of(what: str, name: str) -> list[str]:
    return _core.files_of(what, name)


def network(spec: str) -> Network:
    """Return the network of a spec; the last few are kept, as points of one network come in a row.

    Args:
        spec: The spec of the network.

    Raises:
        TopoloomError: A spec that does not read, or a network that cannot be built.

    >>> network("mesh:2x2").num_routers, network("mesh:2x2") is network("mesh:2x2")
    (4, True)
    """
    return _network(spec, _contents("topology", spec))


@lru_cache(maxsize=8)
def _network(spec: str, contents: tuple[str | None, ...]) -> Network:  # noqa: ARG001 - other files, another network
    return Network(spec)


def _contents(what: str, name: str) -> tuple[str | None, ...]:
    """Return the digests of the files that a name reads."""
    return tuple(map(digest, _files_of(what, name)))


def _simulator(point: Question, *, searching: bool, **defaults: Any) -> Simulator:
    """Return the simulator of a point; `defaults` stand where the point does not give an option.

    Raises:
        TopoloomError: Network, routing, traffic and options that do not go together.
    """
    return Simulator(
        network(point.spec).core,
        point.routing,
        point.traffic,
        make_options(defaults | point.options),
        most_load=_load(point),
        searching=searching,
        precise=() if point.kind == "saturation" else None,
    )


def _load(point: Question) -> float | None:
    """Return the largest load that a point simulates: its own, or that of its trace; None for all there is."""
    if point.load is not None:
        return point.load
    return offered_loads(network(point.spec).core, point.traffic, None)[0] if is_trace(point.traffic) else None


def check(point: Question) -> None:
    """Check all that can be checked of a point before it is run.

    Args:
        point: The point.

    Raises:
        TopoloomError: Whatever makes the point impossible.

    >>> from topoloom.studies import StudyPoint
    >>> check(StudyPoint("verify", "mesh:2x2", "dor"))
    """
    kind = MEASUREMENTS[point.kind]
    if kind.simulates:
        if not kind.loads and is_trace(point.traffic):
            raise TopoloomError(f"{point.traffic} has a load of its own; kind simulate replays it, {point.kind} cannot")
        _simulator(point, searching=False)
    elif kind.plays:
        kind.plays.check(network(point.spec), point.traffic, point.routing, point.options)
    elif kind.routes:
        _core.Routing(network(point.spec).core, point.routing)
    else:
        network(point.spec)


def run(point: Question) -> Result:
    """Do the work of a point; the result is what JSON can hold.

    Args:
        point: The point.

    Raises:
        TopoloomError: Whatever makes the point impossible.

    >>> from topoloom.studies import StudyPoint
    >>> run(StudyPoint("facts", "mesh:2x2"))["diameter"]
    2
    """
    return MEASUREMENTS[point.kind].run(point)


def _simulate(point: Question) -> Result:
    sim = _simulator(point, searching=False)
    run_here(sim, fixed_plan([sim.curve.most_load]))
    (measured,) = sim.curve.points.values()
    return {"config": sim.curve.config} | measured.model_dump()


def _saturation(point: Question) -> Result:
    """Search for the saturation load; from the load `near` on, if the settings have one, in `parts` of full load."""
    sim = _simulator(point, searching=True)
    near, parts = point.settings.get("near"), point.settings.get("parts", RESOLUTION)
    # A fine search looks at full load as well, which other fine searches show.
    highest = highest_stable(point.traffic, parts) if parts < RESOLUTION else 1.0
    run_here(sim, search_plan(sim.curve) if near is None else near_plan(sim.curve, near, parts, highest))
    return sim.curve.saturation_dict()


def _curve(point: Question) -> Result:
    settings = point.settings
    precision = settings.get("precision")
    # Replicas that are longer than they must be would be wasted.
    own = {} if precision is None else {"precision": min(REPLICA_PRECISION * precision, MOST_PRECISION)}
    sim = _simulator(point, searching=True, **own)
    refine = partial(replicate, sim, precision=precision, most=settings["replicas"]) if precision else _leave
    run_here(sim, bend_plan(sim.curve, settings["loads"], settings["tolerance"]), refine)
    stable = [found for load, found in sim.curve.points.items() if sim.curve.is_stable(load)]
    told = {"simulated_cycles": sum(found.cycles for found in sim.curve.points.values())}
    return sim.curve.saturation_dict() | told | {"unconverged": sum(not found.converged for found in stable)}


def _leave(load: float) -> None:
    """Leave a point as it is."""


def _facts(point: Question) -> Result:
    return network(point.spec).facts(**point.options)


def _floor(point: Question) -> Result:
    told = network(point.spec).layout(**point.options).to_dict()
    told["cabinet_count"] = len(told.pop("cabinets"))
    # Of a large network these alone take megabytes; `topoloom layout` lists them.
    told["bundle_count"] = len(told.pop("bundles"))
    return told


def _verify(point: Question) -> Result:
    return network(point.spec).verify(point.routing, **point.options)


def _bound(point: Question) -> Result:
    return network(point.spec).bound(point.routing, point.traffic, **point.options)


def _split(point: Question) -> Result:
    return dict(network(point.spec).split_bound(point.traffic))


def _plays(play: Callable[[Network, str, str, Mapping[str, Any]], Result]) -> Callable[[Question], Result]:
    """Return what plays the application, or the jobs, of a point."""
    return lambda point: play(network(point.spec), point.traffic, point.routing, point.options)


def _faults(point: Question) -> Result:
    return try_faults(network(point.spec).core, make_fault_options(point.options), point.settings.get("intact"))


def _tables(point: Question) -> Result:
    own = network(point.spec)
    text, sizes = own.card_tables(point.routing)
    with TemporaryDirectory() as folder:
        file = Path(folder, "tables.txt")
        file.write_text(text, encoding="utf-8", newline="")
        back, _ = own.card_tables(f"table:{file}")
        proof = own.verify(f"table:{file}")
    told = ("deadlock_free", "unserved_pairs", "vcs_needed", "channels", "dependencies")
    return sizes | {"reads_back": back == text} | {key: proof[key] for key in told}


def _routes(point: Question) -> Result:
    return network(point.spec).route_lengths(point.routing)


_cycles = partial(Measurement, simulates=True, routes=True, sends=True, seeded=True, options=EngineOptions)
"""A kind that runs the cycle engine."""

MEASUREMENTS: dict[str, Measurement] = {
    "facts": Measurement(
        "the graph's facts, cost and power",
        _facts,
        options=FactsOptions,
        effort=0.02,
        columns=(
            "terminals", "routers", "radix", "links", "diameter", "average_hops", "bisection_links", "bisection_is",
            "cost_usd", "power_w",
        ),
    ),
    "verify": Measurement(
        "the proof that a routing cannot deadlock",
        _verify,
        routes=True,
        options=VerifyOptions,
        effort=0.2,
        columns=("deadlock_free", "method", "vcs_needed", "channels", "dependencies"),
    ),
    "layout": Measurement(
        "cabinets, cables, cost and power",
        _floor,
        options=FloorOptions,
        effort=0.01,
        columns=("cost_usd", "cost_per_terminal_usd", "power_w", "cables", "cable_m", "cabinet_count"),
    ),
    "bound": Measurement(
        "the load that a routing cannot carry more than",
        _bound,
        routes=True,
        sends=True,
        options=BoundOptions,
        effort=0.1,
        columns=("saturation_bound", "saturation_bound_is", "max_channel_load", "mean_channel_load"),
    ),
    "split": Measurement(
        "the load that minimal paths and Valiant's carry together, in the best shares",
        _split,
        sends=True,
        effort=0.2,
        columns=("split_bound", "minimal_share", "distance_bound"),
    ),
    "faults": Measurement(
        "what random failures leave",
        _faults,
        seeded=True,
        options=FaultOptions,
        reads=make_fault_options,
        effort=0.2,
        columns=("trials",),
    ),
    "workload": Measurement(
        "how long an application takes",
        _plays(play_application),
        routes=True,
        plays=APPLICATIONS,
        seeded=True,
        options=WorkloadOptions,
        columns=("makespan_s", "ideal_s", "tasks", "flows", "events", "message_mean_s", "message_p99_s", "wall_s"),
    ),
    "jobs": Measurement(
        "how much jobs that share a machine slow each other",
        _plays(play_jobs),
        routes=True,
        plays=JOBS,
        seeded=True,
        options=JobsOptions,
        columns=("makespan_s", "slowdown_mean", "slowdown_max", "occupied", "wall_s"),
    ),
    "replay": Measurement(
        "how the jobs of an accounting file go",
        _plays(play_past_jobs),
        routes=True,
        plays=PAST_JOBS,
        seeded=True,
        options=ReplayOptions,
        columns=("makespan_s", "slowdown_mean", "slowdown_max", "occupied", "collectives", "wall_s"),
    ),
    "routes": Measurement(
        "how long the paths of a routing are",
        _routes,
        routes=True,
        effort=0.1,
        columns=("average_hops", "longest"),
    ),
    "tables": Measurement(
        "the routing tables of cards: how large they are, read back and proved",
        _tables,
        routes=True,
        effort=0.2,
        columns=("destinations", "block", "tables", "most_entries", "entries", "reads_back", "deadlock_free"),
    ),
    "simulate": _cycles(
        "one latency-load point a load",
        _simulate,
        loads=True,
        columns=(
            "accepted", "accepted_gb_s", "latency_cycles", "latency_ci95", "latency_ns", "p50", "p99", "hops",
            "converged", "saturated", "cycles",
        ),
    ),
    "saturation": _cycles(
        "the search for the saturation load, to 0.01",
        _saturation,
        effort=4.0,
        columns=(
            "zero_load_latency_cycles", "zero_load_latency_ns", "saturation_load", "saturation_gb_s", "accepted_max",
            "accepted_max_gb_s", "accepted_at_1",
        ),
    ),
    "curve": _cycles(
        "a latency-load curve whose points are placed where it bends, with its saturation",
        _curve,
        takes_loads=True,
        effort=6.0,
        columns=(
            "zero_load_latency_cycles", "zero_load_latency_ns", "saturation_load", "saturation_gb_s", "accepted_max",
            "accepted_max_gb_s", "simulated_cycles", "unconverged",
        ),
    ),
}  # fmt: skip
"""Every kind of point, by the name that a study gives it."""
