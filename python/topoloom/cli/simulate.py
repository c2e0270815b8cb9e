"""``topoloom simulate``: latency-load points by the cycle engine."""

from topoloom._core import CancelToken
from topoloom.cli import status
from topoloom.cli.console import paused, print_json, progress, say
from topoloom.cli.networks import load_network
from topoloom.cli.parameters import AnyRouting, Json, OneLoad, Spec, Traffic, takes_engine_options
from topoloom.cli.points import PointTable, tell_notes, warn_of_deadlocks
from topoloom.cli.trials import run_trials
from topoloom.cli.watching import Throttle, watched
from topoloom.network.networks import Network
from topoloom.simulation.curves import Curve
from topoloom.simulation.loads import offered_loads
from topoloom.simulation.options import EngineOptions
from topoloom.simulation.plans import fixed_plan
from topoloom.simulation.points import Point
from topoloom.simulation.runs import run_plans
from topoloom.simulation.simulator import Simulator
from topoloom.simulation.trials import BEST, Trials
from topoloom.wording import counted


@takes_engine_options
def simulate(
    spec: Spec,
    routing: AnyRouting = "minimal",
    traffic: Traffic = "uniform",
    load: OneLoad = None,
    json: Json = False,
    *,
    options: EngineOptions,
) -> int:
    """Simulate a network flit by flit at the given loads."""
    network = load_network(spec)
    if routing == BEST:
        return _try_all(network, traffic, load, json=json, options=options)
    loads, simulator = watched(lambda: _prepared(network, routing, traffic, load, options), f"{network.spec}: checks")
    finished = _run(simulator, loads, json)
    if json:
        print_json(simulator.curve.to_dict())
    return exit_status([simulator.curve], finished)


def _try_all(network: Network, traffic: str, load: str | None, *, json: bool, options: EngineOptions) -> int:
    """Simulate every routing that the network offers at these loads."""
    loads = offered_loads(network.core, traffic, load)
    trials = watched(lambda: Trials(network.core, traffic, options, loads), f"{network.spec}: checks")
    finished = run_trials(trials, json=json)
    return exit_status(trials.curves, finished)


def _prepared(
    network: Network, routing: str, traffic: str, load: str | None, options: EngineOptions
) -> tuple[list[float], Simulator]:
    """Find out what is to be simulated, and whether it can be."""
    loads = offered_loads(network.core, traffic, load)
    return loads, Simulator(network.core, routing, traffic, options, most_load=max(loads), searching=False)


def _run(simulator: Simulator, loads: list[float], json: bool) -> bool:
    """Run the points under a progress bar; people see them as they come."""
    table, throttle = None if json else PointTable(simulator.curve, loads), Throttle()
    with progress() as bar:
        task = bar.add_task(simulator.curve.spec, total=len(loads), now="")

        def on_point(curve: Curve, point: Point) -> None:
            bar.update(task, advance=1, now=f"load {point.offered:g}")
            if table is not None:
                with paused(bar):
                    table.print_ready(curve)

        def waiting(cancel: CancelToken) -> None:
            bar.update(task, now=f"{cancel.done:,} cycles")
            throttle.say(lambda: f"{len(simulator.curve.points)} of {len(loads)} points are done")

        finished = run_plans([(simulator, fixed_plan(loads))], on_point, waiting=waiting)
    if table is not None:
        table.print_rest(simulator.curve)
    return finished


def exit_status(curves: list[Curve], finished: bool, where: str = "") -> int:
    """Return the exit status for curves, a number, and report on stderr what went wrong in them.

    Args:
        curves: The curves.
        finished: Whether all of their points are done.
        where: What to add, after an interruption, about the position of the points, unchecked.

    >>> exit_status([], finished=False)
    130
    """
    tell_notes(curves)
    warn_of_deadlocks(curves)
    points = [point for curve in curves for point in curve.points.values()]
    if not finished:
        say(f"interrupted; {counted(len(points), 'point was', 'points were')} done{where}")
        return status.INTERRUPTED
    if any(point.deadlocked for point in points) or not any(point.has_answer for point in points):
        return status.NO_ANSWER
    return status.DONE
