"""The page of a comparison."""

import shlex
from base64 import b64encode
from typing import Any

from markupsafe import Markup
from plotly.offline import get_plotlyjs

from topoloom import _core
from topoloom.network.facts import assumptions, bound, facts_of
from topoloom.plotting import floor_svg
from topoloom.report.charts import chart_data
from topoloom.report.comparison import PROVED_ROUTERS, Comparison
from topoloom.report.maps import drawings, heat_maps
from topoloom.report.overview import contests, headline, verdict
from topoloom.report.page import environment, text
from topoloom.report.settings import active_terminals, origins, safety, settings
from topoloom.simulation.points import ZERO_LOAD


def render_report(comparison: Comparison) -> str:
    """Return the report on a comparison as HTML.

    Args:
        comparison: The comparison.

    >>> import topoloom
    >>> found = topoloom.compare(["mesh:2x2"], ["minimal"], load=[0.1, 0.2], warmup=10, measure=100)
    >>> "One network" in render_report(found)
    True
    """
    specs = [facts["spec"] for facts in comparison.facts]
    return (
        environment("topoloom.report")
        .get_template("page.html.j2")
        .render(
            title=headline(comparison),
            verdict=verdict(comparison),
            comparison=comparison,
            specs=specs,
            roles=_roles(comparison),
            contests=contests(comparison),
            fact_rows=facts_of(comparison.facts),
            bound=bound,
            assumptions=assumptions(comparison.facts),
            data=chart_data(comparison) | {"drawings": drawings(comparison), "heat": heat_maps(comparison)},
            floors=_floors(comparison),
            settings=settings(comparison.options),
            safety=safety(comparison),
            active=active_terminals(comparison),
            origins=origins(comparison),
            command=shlex.join(comparison.command),
            simulations=sum(len(curve.points) for curve in comparison.curves),
            zero_load=ZERO_LOAD,
            proved_routers=PROVED_ROUTERS,
            version=_core.__version__,
            style=Markup(text("style.css")),
            scripts=[Markup(text(name)) for name in ("page.js", "charts.js", "maps.js")],
            plotly=Markup(get_plotlyjs()),
        )
    )


MOST_FLOORS = 12
"""Floors that a report draws."""


def _floors(comparison: Comparison) -> list[dict[str, Any]]:
    """Return the drawing of each network's floor as a data URL, with notes and bill of materials, of some networks."""
    drawn = []
    for network in comparison.networks[:MOST_FLOORS]:
        floor = network.layout(comparison.layout, comparison.prices)
        picture = b64encode(floor_svg(floor)).decode()
        told = {"spec": network.spec, "url": f"data:image/svg+xml;base64,{picture}"}
        drawn.append(told | {"notes": floor.cost()["layout_notes"], "bill": floor.bill()})
    return drawn


def _roles(comparison: Comparison) -> dict[str, list[str]]:
    """Return the routings that play each role that was asked for."""
    roles: dict[str, list[str]] = {}
    for curve in comparison.curves:
        routings = roles.setdefault(curve.role, [])
        if curve.routing not in routings:
            routings.append(curve.routing)
    return roles
