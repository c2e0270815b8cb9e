"""``topoloom saturation``: the largest load that a network carries without much delay."""

from pathlib import Path

from topoloom._core import CancelToken
from topoloom.cli.console import print_json, progress
from topoloom.cli.keeping import Store, exit_status, kept_points
from topoloom.cli.networks import load_network
from topoloom.cli.parameters import AnyRouting, Json, Spec, Traffic, takes_engine_options
from topoloom.cli.trials import run_trials
from topoloom.cli.watching import Clock, Throttle, watched
from topoloom.network.networks import Network
from topoloom.simulation.curves import Curve
from topoloom.simulation.options import EngineOptions
from topoloom.simulation.plans import search_plan
from topoloom.simulation.points import Point
from topoloom.simulation.runs import Keeper, run_plans
from topoloom.simulation.simulator import Simulator
from topoloom.simulation.time_left import TimeLeft
from topoloom.simulation.trials import BEST, Trials
from topoloom.wording import counted


@takes_engine_options
def saturation(
    spec: Spec,
    routing: AnyRouting = "minimal",
    traffic: Traffic = "uniform",
    store: Store = None,
    json: Json = False,
    *,
    options: EngineOptions,
) -> int:
    """Search for the saturation load: accepted ≥ 0.98 offered, and mean latency ≤ 3 times that at zero load."""
    network = load_network(spec)
    if routing == BEST:
        return _try_all(network, traffic, store, json=json, options=options)
    simulator = watched(
        lambda: Simulator(network.core, routing, traffic, options, precise=()), f"{network.spec}: checks"
    )
    with kept_points(store, "saturation") as kept:
        finished = _run(simulator, kept)
        curve = simulator.curve
        if json:
            print_json(curve.saturation_dict())
        elif finished:
            _print(curve)
        return exit_status([curve], kept, finished=finished)


def _try_all(network: Network, traffic: str, store: Path | None, *, json: bool, options: EngineOptions) -> int:
    """Search the saturation load of every routing that the network offers."""
    trials = watched(lambda: Trials(network.core, traffic, options), f"{network.spec}: checks")
    with kept_points(store, "saturation") as kept:
        finished = run_trials(trials, json=json, keeper=kept)
        return exit_status(trials.curves, kept, finished=finished)


def _run(simulator: Simulator, keeper: Keeper) -> bool:
    throttle, clock = Throttle(), Clock(TimeLeft([simulator.curve]))
    with progress() as bar:
        task = bar.add_task(simulator.curve.spec, total=None, now="")

        def on_point(curve: Curve, point: Point) -> None:
            clock.note_point()
            bar.update(task, completed=len(curve.points), now=f"load {point.offered:g}{clock.text()}")

        def waiting(cancel: CancelToken) -> None:
            bar.update(task, now=f"{cancel.done:,} cycles{clock.text()}")
            done = len(simulator.curve.points)
            throttle.say(lambda: f"{counted(done, 'point is done', 'points are done')}{clock.text()}")

        return run_plans([(simulator, search_plan(simulator.curve))], on_point, keeper, waiting)


def _print(curve: Curve) -> None:
    def number(value: float | None, decimals: int, unit: str) -> str:
        return "–" if value is None else f"{value:.{decimals}f} {unit}"

    load = "flits per active terminal per cycle"
    print(f"{curve.spec}  routing {curve.routing}  traffic {curve.traffic}  seed {curve.config['seed']}")
    print(f"saturation load       {number(curve.saturation_load, 2, load)}")
    if curve.bound:
        why = "by expected channel load" if curve.bound.saturation_bound_is == "expected-load" else "by distances"
        print(f"  it cannot exceed    {curve.bound.saturation_bound:.3f} {load}, {why}")
    if curve.most_load < 1:
        print(f"  bursts offer at most {curve.most_load:.2f} {load}")
    print(f"largest accepted load {number(curve.accepted_max, 3, load)}")
    full = curve.points.get(1.0)
    early = ", before it has settled" if full is not None and full.saturated else ""
    print(f"accepted at load 1    {number(curve.accepted_at_1, 3, load)}{early}")
    print(f"latency at zero load  {number(curve.zero_load_latency, 2, 'cycles')}")
