"""``topoloom compare``: several networks in one report."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from topoloom._core import CancelToken
from topoloom.cli import completion
from topoloom.cli.console import print_json, print_table, progress, say
from topoloom.cli.keeping import Store, exit_status, kept_points
from topoloom.cli.networks import load_networks, tell_layout_notes, tell_less_bandwidth, tell_missing_metis
from topoloom.cli.parameters import Force, Json, LayoutRules, Load, Prices, Specs, split_names, takes_engine_options
from topoloom.cli.show import print_facts
from topoloom.cli.watching import Clock, Throttle, stage_text, watched
from topoloom.files import REPORT, check_writable
from topoloom.report.comparison import Comparison
from topoloom.simulation.curves import Curve
from topoloom.simulation.loads import parse_loads
from topoloom.simulation.options import EngineOptions
from topoloom.simulation.points import Point
from topoloom.simulation.time_left import TimeLeft
from topoloom.studies.comparison import CompareJob
from topoloom.studies.kept import KeptPoints
from topoloom.wording import counted
from topoloom.workers import cpu_count


@takes_engine_options
def compare(
    context: typer.Context,
    specs: Specs,
    routing: Annotated[
        str,
        typer.Option(
            "--routing",
            help="Routings, or the roles minimal and adaptive; best: all that each network offers.",
            autocompletion=completion.routings,
        ),
    ] = "minimal,adaptive",
    traffic: Annotated[
        str, typer.Option("--traffic", help="Traffic patterns.", autocompletion=completion.traffic)
    ] = "uniform",
    load: Load = "0.1:0.9:0.1",
    out: Annotated[
        Path | None, typer.Option("--out", metavar="report.html", help="Write the report, one HTML file.")
    ] = None,
    layout: LayoutRules = "",
    prices: Prices = "",
    store: Store = None,
    force: Force = False,
    json: Json = False,
    *,
    options: EngineOptions,
) -> int:
    """Compare networks: facts, cost, power, latency-load curves and saturation, in one report."""
    loads = parse_loads(load)
    routings, traffics = split_names("--routing", routing), split_names("--traffic", traffic)
    check_writable(out, REPORT, force=force)
    networks = load_networks(specs)
    tell_less_bandwidth(networks)
    job = watched(lambda: CompareJob(networks, routings, traffics, loads, options, layout, prices), "checks")
    for (spec, routing_), why in job.refused.items():
        say(f"{spec}: {routing_} is left out: {why}")
    with kept_points(store, "compare", out) as kept:
        comparison = _run(job, context.obj, kept)
        tell_layout_notes(comparison.facts)
        tell_missing_metis(comparison.facts)
        if out is not None:
            watched(lambda: comparison.write_report(out, force=force), "report")
            say(f"the report is in {out}")
        if json:
            print_json(comparison.to_dict())
        else:
            print_facts(comparison.facts)
            print_saturation(comparison)
        return exit_status(comparison.curves, kept, finished=comparison.finished)


def _run(job: CompareJob, command: Sequence[str], kept: KeptPoints) -> Comparison:
    """Run the comparison; stderr shows the progress: a bar on a terminal, elsewhere one line per curve."""
    told: set[int] = set()
    throttle, clock = Throttle(), Clock(TimeLeft(job.curves, job.loads, cpu_count()))
    with progress() as bar:
        task = bar.add_task("curves", total=len(job.curves), now="")

        def on_point(curve: Curve, point: Point) -> None:
            clock.note_point()
            finished = {place for place, curve in enumerate(job.curves) if curve.finished}
            bar.update(task, completed=len(finished), now=f"{curve.spec} {point.offered:g}{clock.text()}")
            for place in sorted(finished - told) if bar.disable else ():
                told.add(place)
                say(f"{len(told)} of {len(job.curves)}: {_saturates(job.curves[place])}")

        def waiting(cancel: CancelToken) -> None:
            stage = stage_text(cancel)
            if stage:
                bar.update(task, now=stage)
            throttle.say(lambda: f"{_done(job.curves)}{clock.text()}{', ' * bool(stage)}{stage}")

        return job.run(command, on_point, kept, waiting)


def _done(curves: Sequence[Curve]) -> str:
    finished = sum(curve.finished for curve in curves)
    points = sum(len(curve.points) for curve in curves)
    return f"{finished} of {counted(len(curves), 'curve')} done, {counted(points, 'point')} so far"


def _saturates(curve: Curve) -> str:
    load = curve.saturation_load
    found = "has no saturation load" if load is None else f"saturates at {load:.2f}"
    return f"{curve.spec}, {curve.routing}, {curve.traffic} {found}"


def print_saturation(comparison: Comparison) -> None:
    """Print the saturation loads of the curves of a comparison, each with its bound.

    Args:
        comparison: The comparison.

    >>> import topoloom
    >>> print_saturation(topoloom.compare(["mesh:2x2"], ["minimal"], load=[0.1], warmup=10, measure=100))
    ... # doctest: +ELLIPSIS, +NORMALIZE_WHITESPACE
    traffic   network    routing   zero-load latency   saturation load   bound ...
    """

    def number(value: float | None, decimals: int) -> str:
        return "–" if value is None else f"{value:.{decimals}f}"

    rows = [
        [
            curve.traffic,
            curve.spec,
            curve.routing,
            number(curve.zero_load_latency, 2),
            number(curve.saturation_load, 2),
            number(curve.bound.saturation_bound if curve.bound else None, 3),
            number(curve.accepted_max, 3),
            number(curve.accepted_at_1, 3),
        ]
        for curve in comparison.curves
    ]
    headers = [
        "traffic", "network", "routing", "zero-load latency", "saturation load", "bound", "most accepted",
        "accepted at 1",
    ]  # fmt: skip
    print_table(headers, rows, left=3)
    for short in comparison.shortfalls:
        print(short.sentence())
