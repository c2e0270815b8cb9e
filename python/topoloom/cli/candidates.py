"""``topoloom candidates``: every configuration for a number of terminals and ports."""

from functools import partial
from typing import Annotated, Any

import typer

from topoloom._core import layout_assumptions
from topoloom.cli.console import print_assumptions, print_json, print_sentence, print_table, say
from topoloom.cli.parameters import Json, LayoutRules, Prices, count_or_range
from topoloom.cli.watching import watched
from topoloom.design.candidates import Candidate
from topoloom.design.candidates import candidates as search
from topoloom.design.racks import RackRule
from topoloom.design.shapes import SHAPES
from topoloom.layout.layouts import DEFAULT_LAYOUT
from topoloom.layout.prices import price_list

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
    )
    rule, assumed = RackRule.read(layout), layout_assumptions(layout)
    price_list(prices)
    if prices and not exact:
        say(f"cost by {prices} is known of networks that are built; --exact builds what is shown")
    rows = [_told(candidate, layout, prices, exact=exact) for candidate in found.best(each)]
    built = len(rows)
    if exact:
        rows = [row for row in rows if _holds(row, min_beta, max_diameter)]
        if len(rows) < built:
            say(f"{built - len(rows)} of the {built} that were built fall short of what is asked; --each builds more")
    if json:
        print_json({"candidates": len(found), "layout_assumptions": assumed, "shown": rows})
        return
    titles = ["network", "terminals", "routers", "radix", "links", "ports", "diameter", "beta", "cable m/terminal"]
    print_table(titles + ["$/terminal"] * exact, [[row["spec"], *_cells(row)] for row in rows])
    if exact:
        print_assumptions(rows)
    else:
        print_sentence(f"Cable: layout {layout or DEFAULT_LAYOUT}: {assumed}.")
    if rule is None and not exact:
        say(f"cable is estimated in the layout rack only; --exact measures it in {layout}")
    say(f"{len(found):,} candidates" + (f"; the {each} of fewest ports of each family" if len(found) > built else ""))


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
    return [*counts, diameter, beta, cable, *cost]
