"""The page of a reproduced paper: its items with published values beside measured ones, and the verdicts."""

import json
import shlex
from collections.abc import Sequence
from typing import Any

from markupsafe import Markup
from plotly.offline import get_plotlyjs

from topoloom import _core
from topoloom.papers.paper import Figure
from topoloom.papers.reproduction import ItemResult, Judgement, Reproduction, curve_label, series_points, shown
from topoloom.report.charts import curve_series, latency_top
from topoloom.report.page import environment, text
from topoloom.report.settings import settings
from topoloom.simulation.curves import Curve
from topoloom.simulation.options import make_options
from topoloom.studies.measurements import MEASUREMENTS
from topoloom.studies.results import CURVES

MOST_EVIDENCE = 24
"""Results that the evidence of a claim lists."""

MOST_OPEN = 10
"""Items with more claims than this show those that were reproduced on demand."""


def render_paper(reproduction: Reproduction) -> str:
    """Return the page of a paper as HTML.

    Args:
        reproduction: The reproduction.

    >>> from topoloom.papers.paper import Paper
    >>> from topoloom.studies import Progress
    >>> paper = Paper.named("flex")
    >>> paper.title in render_paper(Reproduction(paper, True, [], Progress(total=0), {}, []))
    True
    """
    figures: list[dict[str, Any]] = []
    items = [_item(reproduction, result, figures) for result in reproduction.items]
    return (
        environment("topoloom.papers")
        .get_template("page.html.j2")
        .render(
            paper=reproduction.paper,
            reproduction=reproduction,
            counts=reproduction.counts(),
            items=items,
            errata=[claim for claim in reproduction.claims if claim.verdict == "erratum"],
            data={"figures": figures},
            networks=_networks(reproduction),
            routings=_routings(reproduction),
            setups=[_setup(reproduction, name) for name in reproduction.studies],
            shown=shown,
            evidence=_evidence,
            most_evidence=MOST_EVIDENCE,
            command=shlex.join(reproduction.command),
            version=_core.__version__,
            model_version=_core.MODEL_VERSION,
            style=Markup(text("style.css")),
            scripts=[Markup(text(name)) for name in ("page.js", "charts.js")],
            plotly=Markup(get_plotlyjs()),
        )
    )


def _evidence(claim: Judgement) -> list[str]:
    """Return the results that a claim rests on, a line each."""
    return [_evidence_line(row) for row in claim.evidence[:MOST_EVIDENCE]]


def _evidence_line(row: Any) -> str:
    result = json.loads(row["result"])
    names = MEASUREMENTS[row["kind"]].columns
    values = [f"{name} {shown(result[name])}" for name in names if result.get(name) is not None]
    about = [row["kind"], row["spec"], row["routing"], row["traffic"]]
    about += [f"load {row['load']:g}"] if row["load"] is not None else []
    about += [f"seed {row['seed']}"] if row["seed"] is not None else []
    return " ".join(filter(None, about)) + ": " + ", ".join(values)


def _networks(reproduction: Reproduction) -> dict[str, str]:
    """Return the networks that curves are drawn of, with what the paper calls them, in the order of its list."""
    drawn = list(dict.fromkeys(row["spec"] for row in reproduction.rows if row["kind"] in CURVES))
    names = reproduction.paper.networks
    return {spec: names.get(spec, spec) for spec in sorted(drawn, key=_place(list(names)))}


def _routings(reproduction: Reproduction) -> list[str]:
    """Return what the routings of curves are called, in the order of the paper's list."""
    drawn = dict.fromkeys(row["routing"] for row in reproduction.rows if row["kind"] in CURVES)
    names = reproduction.paper.routings
    called = dict.fromkeys(names.get(routing, routing) for routing in drawn)
    return sorted(called, key=_place(list(dict.fromkeys(names.values()))))


def _place(order: list[str]) -> Any:
    return lambda name: order.index(name) if name in order else len(order)


def _item(reproduction: Reproduction, result: ItemResult, figures: list[dict[str, Any]]) -> dict[str, Any]:
    """Return what the page shows of an item; what the script draws is added to `figures`."""
    drawn = []
    for figure in result.item.figure:
        chart = _curves(reproduction, result, figure) if figure.where else _values(reproduction, result, figure)
        drawn.append({"place": len(figures), "figure": figure} | chart)
        figures.append(chart["data"])
    folded = [claim for claim in result.claims if claim.verdict == "reproduced"]
    folded = folded if len(result.claims) > MOST_OPEN else []
    return {
        "item": result.item,
        "claims": result.claims,
        "open": [claim for claim in result.claims if claim not in folded],
        "folded": folded,
        "tables": result.tables,
        "figures": drawn,
    }


def _curves(reproduction: Reproduction, result: ItemResult, figure: Figure) -> dict[str, Any]:
    """Return a chart of curves, its key, and the table of their values."""
    curves = result.found.where(figure.where).curves()
    networks, called = list(_networks(reproduction)), _routings(reproduction)
    routings = list(dict.fromkeys(curve.routing for curve in curves))
    series, key = [], []
    for curve in curves:
        routing = reproduction.paper.routings.get(curve.routing, curve.routing)
        if figure.colour == "routing":
            colour, dash = routings.index(curve.routing), 0
        else:
            colour, dash = networks.index(curve.spec), called.index(routing)
        label = curve_label(reproduction.paper, figure, curve)
        series.append(curve_series(curve, colour, dash) | {"fixed": figure.colour == "routing"})
        key.append({"colour": colour, "dash": dash % 4, "label": label, "curve": curve})
    order = sorted(range(len(key)), key=lambda place: (key[place]["colour"], key[place]["dash"]))
    data = {"name": figure.title, "latency_top": latency_top(curves), "series": [series[place] for place in order]}
    return {"data": data, "key": [key[place] for place in order], "silent": _silent(curves)}


def _silent(curves: Sequence[Curve]) -> list[tuple[str, int]]:
    """Return how many terminals send in each network."""
    return list(dict.fromkeys((c.spec, c.sorted_points()[0].active_terminals) for c in curves if c.points))


def _values(reproduction: Reproduction, result: ItemResult, figure: Figure) -> dict[str, Any]:
    """Return a chart of lines or bars, and its key."""
    points = series_points(reproduction.paper, figure, result.found)
    series = [
        {
            "label": own.label,
            "colour": place if own.colour is None else own.colour,
            "x": [point["x"] for point in found],
            "y": [point["y"] for point in found],
            "published": own.published if len(own.published) == len(found) else [],
        }
        for place, (own, found) in enumerate(zip(figure.series, points, strict=True))
    ]
    data = {"series": series, "xaxis": figure.xaxis, "yaxis": figure.yaxis, "logarithmic": figure.logarithmic}
    data["published"] = "measured" if reproduction.paper.comparison else "published"
    key = [{"colour": own["colour"], "dash": 0, "label": own["label"], "curve": None} for own in series]
    return {"data": data, "key": key, "silent": []}


def _setup(reproduction: Reproduction, name: str) -> dict[str, Any]:
    """Return how a study was set up: its text, and the engine's options where it simulates."""
    study = reproduction.studies[name]
    sets: dict[str, dict[str, Any]] = {}
    seeds: dict[int, None] = {}
    for point in study.points():
        if MEASUREMENTS[point.kind].simulates:
            options = {option: own for option, own in point.options.items() if option != "seed"}
            sets.setdefault(json.dumps(options, sort_keys=True), options)
            seeds.setdefault(point.seed or 0)
    told = [(what, value) for what, value in settings([make_options(own) for own in sets.values()]) if what != "Seed"]
    quick = reproduction.paper.study[name].quick
    return {
        "name": name,
        "file": reproduction.paper.study[name].file,
        "text": study.text,
        "quick": json.dumps(quick) if reproduction.quick and quick else "",
        "settings": [*told, ("Seeds", ", ".join(map(str, seeds)))] if seeds else [],
    }
