"""What a study can ask of a network: the kinds of points, and how each is run.

A new kind is an entry in :data:`KINDS`; expansion, ledger, executors and tables need no change.
"""

import dataclasses
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

from topoloom import _core
from topoloom._core import TopoloomError
from topoloom.curves import Simulator, bend_plan, fixed_plan, is_trace, offered_loads, run_here, search_plan
from topoloom.networks import Network
from topoloom.options import make_options
from topoloom.replicas import REPLICA_PRECISION, replicate
from topoloom.studies.points import StudyPoint

Result = dict[str, Any]

MOST_PRECISION = 0.5
"""The widest interval that the engine can be asked for."""


@dataclass(frozen=True)
class Kind:
    """A kind of point.

    Attributes:
        summary: What it measures, for people.
        run: Does the work of one point.
        simulates: Whether it needs a routing, a traffic pattern and the engine's options.
        routes: Whether it needs a routing.
        loads: Whether there is one point for each load.
        takes_loads: Whether loads belong to the point, all of them.
        effort: How much more work it is than one simulation at full load.
        columns: What a table for people shows of its result.
    """

    summary: str
    run: Callable[[StudyPoint], Result]
    simulates: bool = False
    routes: bool = False
    loads: bool = False
    takes_loads: bool = False
    effort: float = 1.0
    columns: tuple[str, ...] = ()

    @property
    def refused(self) -> frozenset[str]:
        """The keys of a sweep that mean nothing to points of this kind."""
        return frozenset(
            (() if self.routes else ("routings",))
            + (() if self.simulates else ("traffic", "seeds", "options"))
            + (() if self.loads or self.takes_loads else ("loads",))
            + (() if self.takes_loads else ("tolerance", "precision", "replicas"))
        )


@lru_cache(maxsize=8)
def network(spec: str) -> Network:
    """Return the network of `spec`; the last few are kept, as points of one network come in a row."""
    return Network(spec)


def simulator(point: StudyPoint, *, searching: bool) -> Simulator:
    """Return the simulator of a point.

    Raises:
        TopoloomError: Network, routing, traffic and options that do not go together.
    """
    return Simulator(
        network(point.spec).core,
        point.routing,
        point.traffic,
        make_options(point.options),
        most_load=_load(point),
        searching=searching,
        precise=() if point.kind == "saturation" else None,
    )


def _load(point: StudyPoint) -> float | None:
    """Return the largest load that a point simulates: its own, or that of its trace; None for all there is."""
    if point.load is not None:
        return point.load
    return offered_loads(network(point.spec).core, point.traffic, None)[0] if is_trace(point.traffic) else None


def check(point: StudyPoint) -> None:
    """Check all that can be checked of a point before it is run.

    Raises:
        TopoloomError: Whatever makes the point impossible.
    """
    kind = KINDS[point.kind]
    if kind.simulates:
        if not kind.loads and is_trace(point.traffic):
            raise TopoloomError(f"{point.traffic} has a load of its own; kind simulate replays it, {point.kind} cannot")
        simulator(point, searching=False)
    elif kind.routes:
        _core.check_routing(network(point.spec).core, point.routing)
    else:
        network(point.spec)


def run(point: StudyPoint) -> Result:
    """Do the work of a point; the result is what JSON can hold."""
    return KINDS[point.kind].run(point)


def _simulate(point: StudyPoint) -> Result:
    sim = simulator(point, searching=False)
    run_here(sim, fixed_plan([sim.curve.most_load]))
    (measured,) = sim.curve.points.values()
    return {"config": sim.curve.config} | measured.model_dump()


def _saturation(point: StudyPoint) -> Result:
    sim = simulator(point, searching=True)
    run_here(sim, search_plan(sim.curve))
    return sim.curve.saturation_dict()


def _curve(point: StudyPoint) -> Result:
    settings = point.settings
    if (precision := settings.get("precision")) is not None:
        # Replicas that are longer than they must be would be wasted.
        options = {"precision": min(REPLICA_PRECISION * precision, MOST_PRECISION)} | point.options
        point = dataclasses.replace(point, settings={**settings, "options": options})
    sim = simulator(point, searching=True)
    refine = partial(replicate, sim, precision=precision, most=settings["replicas"]) if precision else _leave
    run_here(sim, bend_plan(sim.curve, settings["loads"], settings["tolerance"]), refine)
    stable = [found for load, found in sim.curve.points.items() if sim.curve.is_stable(load)]
    told = {"simulated_cycles": sum(found.cycles for found in sim.curve.points.values())}
    return sim.curve.saturation_dict() | told | {"unconverged": sum(not found.converged for found in stable)}


def _leave(load: float) -> None:
    """Leave a point as it is."""


def _facts(point: StudyPoint) -> Result:
    return network(point.spec).facts()


def _verify(point: StudyPoint) -> Result:
    result: Result = json.loads(_core.verify(network(point.spec).core, point.routing))
    return result


KINDS: dict[str, Kind] = {
    "facts": Kind(
        "the graph's facts, cost and power",
        _facts,
        effort=0.02,
        columns=(
            "terminals", "routers", "radix", "links", "diameter", "average_hops", "bisection_links", "bisection_is",
            "cost_usd", "power_w",
        ),
    ),
    "verify": Kind(
        "the proof that a routing cannot deadlock",
        _verify,
        routes=True,
        effort=0.2,
        columns=("deadlock_free", "method", "vcs_needed", "channels", "dependencies"),
    ),
    "simulate": Kind(
        "one latency-load point a load",
        _simulate,
        simulates=True,
        routes=True,
        loads=True,
        columns=(
            "accepted", "latency_cycles", "latency_ci95", "p50", "p99", "hops", "converged", "saturated", "cycles",
        ),
    ),
    "saturation": Kind(
        "the search for the saturation load, to 0.01",
        _saturation,
        simulates=True,
        routes=True,
        effort=4.0,
        columns=("zero_load_latency_cycles", "saturation_load", "accepted_max", "accepted_at_1"),
    ),
    "curve": Kind(
        "a latency-load curve whose points are placed where it bends, with its saturation",
        _curve,
        simulates=True,
        routes=True,
        takes_loads=True,
        effort=6.0,
        columns=("zero_load_latency_cycles", "saturation_load", "accepted_max", "simulated_cycles", "unconverged"),
    ),
}  # fmt: skip
"""Every kind of point, by the name that a study gives it."""
