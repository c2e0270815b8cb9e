"""``topoloom faults``: what random failures leave of networks, side by side."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from topoloom.cli import status
from topoloom.cli.console import print_json, print_table, say
from topoloom.cli.networks import load_networks
from topoloom.cli.parameters import Force, Json, Specs
from topoloom.cli.watching import watched_each
from topoloom.files import check_writable, picture
from topoloom.network.faults import BOUNDED_FRACTIONS, BOUNDED_TRIALS, FRACTIONS, make_fault_options, try_faults
from topoloom.plotting import check_plot, write_faults
from topoloom.wording import counted

Result = dict[str, Any]

ESTIMATES: tuple[tuple[str, str, int, bool], ...] = (
    ("router_pairs", "pairs of routers that a path joins, of all pairs", 3, False),
    ("terminal_pairs", "pairs of terminals that a path joins, of all pairs", 3, False),
    ("diameter", "diameter, over the trials that are connected", 2, True),
    ("average_distance", "average distance, over the trials that are connected", 3, True),
    ("largest_diameter", "diameter of the largest component, over all trials", 2, True),
    ("largest_average_distance", "average distance in the largest component, over all trials", 3, True),
)
"""Key, heading, decimals, and whether it is a distance."""


def faults(
    specs: Specs,
    kind: Annotated[str, typer.Option("--kind", metavar="links|routers", help="What fails.")] = "links",
    fractions: Annotated[
        str | None,
        typer.Option(
            "--fractions",
            help="Failed fractions: 0.3 or first:last:step, commas mix; none: only the summary. "
            f"Unless given {FRACTIONS}, or {BOUNDED_FRACTIONS} with --throughput.",
            show_default=False,
        ),
    ] = None,
    trials: Annotated[
        str | None,
        typer.Option(
            "--trials",
            metavar="N",
            help=f"Random orders of failure; 100 unless given, {BOUNDED_TRIALS} with --throughput.",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[str, typer.Option("--seed", metavar="N", help="Their seed.")] = "1",
    distances: Annotated[
        bool, typer.Option("--distances", help="Also measure diameter and average distance, which takes longer.")
    ] = False,
    throughput: Annotated[
        str | None,
        typer.Option(
            "--throughput",
            metavar="TRAFFIC,…",
            help="Bound the remaining throughput under these patterns, such as uniform,worst-case.",
            show_default=False,
        ),
    ] = None,
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="FILE.svg|png", help="Draw curves with their 95 % intervals.")
    ] = None,
    force: Force = False,
    json: Json = False,
) -> int:
    """Let random links or routers fail, and report the surviving part of each network, side by side."""
    options = make_fault_options(
        {"kind": kind, "fractions": fractions, "trials": trials, "seed": seed, "distances": distances}
        | {"throughput": throughput}
    )
    if plot is not None:
        check_plot(plot)
        check_writable(plot, picture(plot), force=force)
    networks = load_networks(specs)
    results, interrupted = watched_each(networks, lambda network: try_faults(network.core, options), "failures")
    if plot is not None:
        write_faults(results, plot, force=force)
        say(f"the curves are in {plot}")
    if json:
        print_json(results)
    else:
        _print(results, distances)
    return status.INTERRUPTED if interrupted else status.DONE


def _print(results: Sequence[Result], distances: bool) -> None:
    """Print the summary of all networks, then a table for each thing that was measured."""
    first = results[0]
    print(f"random failures of {first['kind']}, {counted(first['trials'], 'trial')}, seed {first['seed']}")
    rows = [[result["spec"], *(text(result) for _, text in SUMMARY)] for result in results]
    print_table(["", *(heading for heading, _ in SUMMARY)], rows)
    if not first["points"]:
        return
    _print_points(
        "share of trials in which all routers left are connected, with its 95 % interval", results, _connected
    )
    for key, heading, decimals, is_distance in ESTIMATES:
        if distances or not is_distance:
            _print_points(f"{heading}; mean ± 95 %", results, _estimate(key, decimals))
    for traffic in dict.fromkeys(row["traffic"] for row in first["throughput"]):
        _print_throughput(traffic, results)


def _print_throughput(traffic: str, results: Sequence[Result]) -> None:
    """Print what is left of the throughput under a traffic: failed fractions are rows, networks are columns."""
    columns = [[row for row in result["throughput"] if row["traffic"] == traffic] for result in results]
    print(
        f"\nthroughput under {traffic}, by channel load: minimal and Valiant's paths in the best shares; "
        "flits/cycle/terminal\nmedian and least of the trials, 0 where it is disconnected; the median in parts of the "
        "intact network's"
    )
    rows = [[f"{row[0]['fraction']:g}", *(_left(own) for own in row)] for row in zip(*columns, strict=True)]
    print_table(["failed", *(result["spec"] for result in results)], rows)


def _left(row: Result) -> str:
    kept = "–" if row["kept"] is None else _percent(row["kept"]["median"])
    return f"{row['throughput']['median']:.3f}  {row['throughput']['least']:.3f}  {kept:>5}"


def _print_points(heading: str, results: Sequence[Result], text: Callable[[Result], str]) -> None:
    """Print a table: failed fractions are rows, networks are columns."""
    print(f"\n{heading}")
    rows = [
        [f"{points[0]['fraction']:g}", *(text(point) for point in points)]
        for points in zip(*(result["points"] for result in results), strict=True)
    ]
    print_table(["failed", *(result["spec"] for result in results)], rows)


def _connected(point: Result) -> str:
    low, high = point["connected_ci95"]
    return f"{point['connected']:.3f}  {low:.2f}–{high:.2f}"


def _estimate(key: str, decimals: int) -> Callable[[Result], str]:
    def text(point: Result) -> str:
        estimate = point[key]
        if estimate is None:
            return "–"
        width = "" if estimate["ci95"] is None else f" ± {estimate['ci95']:.{decimals}f}"
        return f"{estimate['mean']:.{decimals}f}{width}"

    return text


def _percent(value: float | None, decimals: int = 0) -> str:
    return "–" if value is None else f"{100 * value:.{decimals}f} %"


def _survives(prefix: str) -> Callable[[Result], str]:
    """Return the formatter of the share of trials that survive a step of 5 %."""

    def text(result: Result) -> str:
        survivable = result["survivable"]
        fraction, share = survivable[f"{prefix}fraction"], survivable[f"{prefix}survive"]
        return "–" if fraction is None else f"{_percent(share)} at {_percent(fraction)}"

    return text


def _critical(text: Callable[[Result], str]) -> Callable[[Result], str]:
    return lambda result: "–" if result["critical"] is None else text(result["critical"])


def _range(low: float, high: float) -> str:
    return f"{100 * low:.1f}–{100 * high:.1f} %"


SUMMARY: tuple[tuple[str, Callable[[Result], str]], ...] = (
    ("routers", lambda result: f"{result['routers']:,}"),
    ("links", lambda result: f"{result['links']:,}"),
    ("survivable", lambda result: _percent(result["survivable"]["fraction"])),
    ("survive it", _survives("")),
    ("survive the next", _survives("next_")),
    ("critical: median", _critical(lambda critical: _percent(critical["median"], 1))),
    ("95 % interval", _critical(lambda critical: _range(*critical["median_ci95"]))),
    ("of all trials", _critical(lambda critical: _range(critical["least"], critical["most"]))),
)
"""The columns of the summary."""
