"""``topoloom layout``: networks on the machine floor, their cables, cost and power."""

from pathlib import Path
from typing import Annotated, Any

import typer

from topoloom._core import TopoloomError
from topoloom.cli.console import print_assumptions, print_json, print_table
from topoloom.cli.networks import load_networks, tell_layout_notes
from topoloom.cli.parameters import Force, Json, LayoutRules, Plot, Prices, Specs
from topoloom.cli.watching import watched
from topoloom.files import BILL, CABLES, check_apart, check_writable
from topoloom.layout.layouts import Layout
from topoloom.network.facts import PARTS, facts_of
from topoloom.plotting import draw_layouts
from topoloom.plotting.histogram import histogram

MOST_BINS = 12
"""Rows of the table of lengths."""


def layout(
    specs: Specs,
    layout: LayoutRules = "",
    prices: Prices = "",
    cables: Annotated[
        Path | None, typer.Option("--cables", metavar="FILE.csv", help="Write the list of cables.")
    ] = None,
    bill: Annotated[
        Path | None, typer.Option("--bill", metavar="FILE.csv", help="Write the bill of materials.")
    ] = None,
    plot: Plot = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Lay networks out on the machine floor: cabinets, cables by length, cost and power in parts, side by side."""
    check_apart({"--cables": cables, "--bill": bill, "--plot": plot})
    for option, path, kind in (("--cables", cables, CABLES), ("--bill", bill, BILL)):
        if path is not None and len(specs) != 1:
            raise TopoloomError(f"{option} takes one network; {len(specs)} are given")
        check_writable(path, kind, force=force)
    networks = load_networks(specs)
    layouts = [watched(lambda of=of: Layout(of, layout, prices), f"{of.spec}: layout") for of in networks]  # type: ignore[misc]
    told = [watched(item.to_dict, f"{of.spec}: cables") for of, item in zip(networks, layouts, strict=True)]
    if cables is not None:
        watched(lambda: layouts[0].write_cables(cables, force=force), f"{networks[0].spec}: list of cables")
    if bill is not None:
        layouts[0].write_bill(bill, force=force)
    if plot is not None:
        _draw(layouts, plot, force=force)
    tell_layout_notes(told)
    if json:
        print_json(told)
        return
    _print_parts(told)
    for floor in told:
        print()
        _print_lengths(floor)


def _draw(layouts: list[Layout], path: Path, *, force: bool) -> None:
    watched(lambda: draw_layouts(layouts, path, force=force), "drawing")


def _print_parts(told: list[dict[str, Any]]) -> None:
    """Print a table: parts are rows, networks are columns."""
    rows = [[fact.label, fact.unit, *(fact.text(floor) for floor in told)] for fact in facts_of(told, PARTS)]
    kinds = dict.fromkeys(kind["kind"] for floor in told for kind in floor["cable_kinds"])
    for kind in kinds:
        found = [next((k for k in floor["cable_kinds"] if k["kind"] == kind), None) for floor in told]
        rows.append([f"Cables, {kind}", "", *("–" if k is None else f"{k['cables']:,}" for k in found)])
    print_table(["", "", *(floor["spec"] for floor in told)], rows, left=2)
    print_assumptions(told)


def _print_lengths(floor: dict[str, Any]) -> None:
    """Print how many cables there are of each length, by class, and by kind if there are several."""
    bins, sorts = histogram(floor["lengths"], MOST_BINS)
    rows = [[label, *(f"{counts[sort]:,}" if sort in counts else "–" for sort in sorts)] for label, counts in bins]
    print_table([f"{floor['spec']}, cables of metres", *sorts], rows)
