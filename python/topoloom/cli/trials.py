"""``--routing best``: every routing that a network offers, at the same loads, in a table with the best one first."""

from topoloom._core import CancelToken
from topoloom.cli.console import print_json, print_table, progress, say
from topoloom.cli.watching import Throttle
from topoloom.simulation.curves import Curve
from topoloom.simulation.points import Point
from topoloom.simulation.runs import Keeper
from topoloom.simulation.trials import CRITERION, Trials
from topoloom.wording import counted


def run_trials(trials: Trials, *, json: bool, keeper: Keeper | None = None) -> bool:
    """Run the trials under a progress bar and print a row per routing; return whether all is done.

    Args:
        trials: The trials.
        json: Whether to print JSON.
        keeper: What keeps points from one run to the next; None for nothing.

    >>> from topoloom import _core
    >>> from topoloom.simulation.options import EngineOptions
    >>> ring, short = _core.Network("ring:3,degree=2"), EngineOptions(warmup=50, measure=50)
    >>> run_trials(Trials(ring, "uniform", short, loads=[0.1]), json=False)  # doctest: +ELLIPSIS
    ring:3,degree=2  traffic uniform  seed 1
    ...
    True
    """
    for routing, why in trials.refused.items():
        say(f"{routing} is left out: {why}")
    throttle = Throttle()
    curves = trials.curves
    with progress() as bar:
        task = bar.add_task("routings", total=len(curves), now="")

        def on_point(curve: Curve, point: Point) -> None:
            done = sum(own.finished for own in curves)
            bar.update(task, completed=done, now=f"{curve.routing} {point.offered:g}")

        def waiting(cancel: CancelToken) -> None:
            bar.update(task, now=f"{cancel.done:,} cycles")
            points = sum(len(curve.points) for curve in curves)
            throttle.say(lambda: f"{counted(points, 'point')} of {counted(len(curves), 'routing')} done")

        finished = trials.run(on_point, keeper, waiting)
    if json:
        print_json(trials.to_dict())
    else:
        _print_trials(trials)
    return finished


def _print_trials(trials: Trials) -> None:
    """Print one row per routing, the best first."""

    def number(value: float | None, decimals: int) -> str:
        return "–" if value is None else f"{value:.{decimals}f}"

    told = trials.to_dict()
    print(f"{told['spec']}  traffic {told['traffic']}  seed {told['seed']}")
    if not any(curve.points for curve in trials.curves):
        return
    print(f"best first: {CRITERION}")
    searched = any(row["saturation_load"] is not None for row in told["routings"])
    rows = [
        [
            row["routing"],
            ", ".join(row["roles"]),
            str(row["vcs"]),
            number(row["accepted_at_full"], 3),
            number(row["accepted_max"], 3),
            number(row["saturation_load" if searched else "stable_load"], 2),
            number(row["latency_cycles"], 2),
        ]
        for row in told["routings"]
    ]
    headers = [
        "routing", "role", "VCs", f"accepted at {told['highest_load']:g}", "most accepted",
        "saturation load" if searched else "largest stable load", f"latency at {told['lowest_load']:g}",
    ]  # fmt: skip
    print_table(headers, rows, left=2)
