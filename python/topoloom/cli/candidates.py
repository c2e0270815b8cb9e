"""``topoloom candidates``: every configuration for a number of terminals and ports."""

from functools import partial
from math import isfinite
from typing import Annotated, Any

import typer

from topoloom._core import layout_assumptions
from topoloom.cli.console import print_assumptions, print_json, print_sentence, print_table, say
from topoloom.cli.parameters import Json, LayoutRules, Prices
from topoloom.cli.watching import watched
from topoloom.design.candidates import SORTED_BY, Candidate, Candidates, count_or_range
from topoloom.design.candidates import candidates as search
from topoloom.design.hosting import Hosting
from topoloom.design.racks import RackRule
from topoloom.design.shapes import SHAPES
from topoloom.layout.layouts import DEFAULT_LAYOUT
from topoloom.layout.prices import price_list
from topoloom.wording import counted

SIGNS = {"exact": "", "upper-bound": "≤ ", "lower-bound": "≥ ", "estimate": "~ "}


def candidates(
    terminals: Annotated[
        str, typer.Option("--terminals", metavar="N|LOW:HIGH", help="At least N and up to a tenth more, or a range.")
    ],
    radix: Annotated[int, typer.Option("--radix", metavar="K", help="The largest number of ports on a router.")],
    families: Annotated[
        str | None,
        typer.Option("--families", metavar="F,…", help=f"Families: {', '.join(SHAPES)}; all unless given."),
    ] = None,
    min_beta: Annotated[
        float, typer.Option("--min-beta", metavar="B", help="Links between two halves over half the terminals.")
    ] = 0.0,
    max_diameter: Annotated[int | None, typer.Option("--max-diameter", metavar="D", show_default=False)] = None,
    hosts: Annotated[
        str,
        typer.Option("--hosts", metavar="HOST", help="Terminals are accelerators of these; see: topoloom list hosts."),
    ] = "",
    sort: Annotated[
        str | None, typer.Option("--sort", metavar="KEY", help=f"Best first by one of {', '.join(SORTED_BY)}.")
    ] = None,
    pareto: Annotated[
        str | None,
        typer.Option(
            "--pareto", metavar="KEY,…", help="Only what no other one beats in these keys, such as ports,beta,diameter."
        ),
    ] = None,
    each: Annotated[int, typer.Option("--each", metavar="N", min=1, help="Show N of every family.")] = 3,
    exact: Annotated[
        bool,
        typer.Option(
            "--exact",
            help="Build the networks shown, report measured diameter and bisection, drop those that fall short.",
        ),
    ] = False,
    layout: LayoutRules = "",
    prices: Prices = "",
    json: Json = False,
) -> None:
    """Search the families for configurations with a number of terminals and a router radix, fewest ports first."""
    names = None if families is None else families.split(",")
    found = search(
        terminals=count_or_range("--terminals", terminals),
        radix=radix,
        families=names,
        min_beta=min_beta,
        max_diameter=max_diameter,
        hosts=hosts,
    )
    list_of_prices = price_list(prices).name
    ranked = "cost" in (sort, *(pareto or "").split(","))
    kept = _kept(found, sort, pareto, layout, prices)
    shown = kept.best(each)
    rows = [_told(candidate, layout, prices, exact=exact) for candidate in shown]
    if exact:
        rows = [row for row in rows if _holds(row, min_beta, max_diameter)]
        if len(rows) < len(shown):
            missing = f"{len(shown) - len(rows)} of the {len(shown)} that were built fall short of what is asked"
            say(f"{missing}; --each builds more")
    elif prices or ranked:
        rows = _with_routers(rows, shown, prices)
    assumed = layout_assumptions(layout)
    if json:
        counts = {"candidates": len(found), "unbeaten": len(kept), "layout_assumptions": assumed}
        print_json(counts | ({"prices": list_of_prices} if prices or ranked else {}) | {"shown": rows})
        return
    _print(rows, layout, exact=exact)
    if ranked or (prices and not exact):
        ranks = "Order by cost" if exact else "Cost"
        print_sentence(
            f"{ranks}: prices {list_of_prices}, of routers alone, all as large as the largest of their network."
        )
    if hosts:
        host = Hosting.read(hosts)
        per = f"{host.accelerators} accelerators and {counted(host.interfaces, 'interface')}"
        print_sentence(f"Hosts: {hosts}, of {per}; terminals of a network are ports for interfaces.")
    beaten = f", {len(kept):,} of which no other one beats in {pareto}" if pareto else ""
    first = "of fewest ports" if sort is None else f"that are first by {sort}"
    say(
        f"{len(found):,} candidates{beaten}"
        + (f"; the {each} {first} of each family" if len(kept) > len(shown) else "")
    )


def _kept(found: Candidates, sort: str | None, pareto: str | None, layout: str, prices: str) -> Candidates:
    """Return the configurations that are asked for, in the order that is asked for."""
    if pareto is not None:
        found = found.pareto([key for key in pareto.split(",") if key], layout, prices)
    return found if sort is None else found.sorted_by(sort, layout, prices)


def _with_routers(rows: list[dict[str, Any]], shown: Candidates, prices: str) -> list[dict[str, Any]]:
    """Return rows with what the routers of a terminal cost."""
    costs = shown.router_costs(prices)
    return [
        row | {"routers_usd_per_terminal": usd if isfinite(usd) else None} for row, usd in zip(rows, costs, strict=True)
    ]


def _print(rows: list[dict[str, Any]], layout: str, *, exact: bool) -> None:
    """Print the table and what its values rest on."""
    titles = ["network", "terminals", "routers", "radix", "links", "ports", "diameter", "beta", "cable m/terminal"]
    priced = any("routers_usd_per_terminal" in row for row in rows)
    cost = ["$/terminal"] if exact else ["routers $/terminal"] if priced else []
    print_table(titles + cost, [[row["spec"], *_cells(row)] for row in rows])
    if exact:
        print_assumptions(rows)
        return
    print_sentence(f"Cable: layout {layout or DEFAULT_LAYOUT}: {layout_assumptions(layout)}.")
    if RackRule.read(layout) is None:
        say(f"cable is estimated in the layout rack only; --exact measures it in {layout}")


def _told(candidate: Candidate, layout: str, prices: str, *, exact: bool) -> dict[str, Any]:
    told = candidate.to_dict(layout)
    if exact:
        facts = watched(partial(candidate.facts, layout, prices), f"{candidate.spec}: facts")
        told |= {"diameter": facts["diameter"], "diameter_is": "exact", "beta": facts["beta"]}
        told |= {"beta_is": facts["bisection_is"], "cost_usd": facts["cost_usd"], "power_w": facts["power_w"]}
        told |= {"cable_per_terminal_m": facts["cable_per_terminal_m"], "cable_is": "exact"}
        kept = ("prices", "prices_assumed", "layout", "layout_assumptions", "energy_cost_usd", "lifetime_cost_usd")
        told |= {key: facts[key] for key in kept}
    return told


def _holds(row: dict[str, Any], min_beta: float, max_diameter: int | None) -> bool:
    """Return whether a built network meets the request; a disconnected one has no diameter."""
    if row["diameter"] is None or row["beta"] < min_beta:
        return False
    return max_diameter is None or row["diameter"] <= max_diameter


def _cells(row: dict[str, Any]) -> list[str]:
    counts = [f"{row[key]:,}" for key in ("terminals", "routers", "radix", "links", "ports")]
    cable = "–" if row["cable_is"] is None else f"{SIGNS[row['cable_is']]}{row['cable_per_terminal_m']:.2f}"
    diameter, beta = (
        f"{SIGNS[row[f'{key}_is']]}{row[key]:{form}}" for key, form in (("diameter", "d"), ("beta", ".2f"))
    )
    cost = [f"{row['cost_usd'] / row['terminals']:,.0f}"] if "cost_usd" in row else []
    if "routers_usd_per_terminal" in row:
        usd = row["routers_usd_per_terminal"]
        cost.append("–" if usd is None else f"{usd:,.0f}")
    return [*counts, diameter, beta, cable, *cost]
