"""The page of an answer: what is recommended, the front, the funnel, the finalists."""

import shlex
from typing import TYPE_CHECKING, Any

from markupsafe import Markup
from plotly.offline import get_plotlyjs

from topoloom import _core
from topoloom.design.criteria import FIXED, SATURATION, Criterion
from topoloom.design.entrant import Entrant
from topoloom.design.makespans import makespans_note
from topoloom.design.rounds import ALIKE
from topoloom.design.windows import throughput_note, windows_of
from topoloom.engine.results import PriceList
from topoloom.layout.prices import assumed_prices, price_list
from topoloom.report.page import environment, text
from topoloom.workload.results import time_text

if TYPE_CHECKING:
    from topoloom.design.answer import Answer


def render_answer(found: "Answer") -> str:
    """Return the page as HTML.

    Args:
        found: The answer.

    >>> from topoloom.design.answer import Answer
    >>> from topoloom.design.candidates import candidates
    >>> from topoloom.design.criteria import Value
    >>> from topoloom.design.funnel import Outcome
    >>> from topoloom.design.question import make_question
    >>> own = candidates(terminals=16, radix=8, families="hyperx")[0]
    >>> floor = {("layout", ""): {"cabinet_count": 1}, ("split", ""): {}}
    >>> entrant = Entrant(own, own.facts(), values={"cost": Value.exact(100.0)}, details=floor)
    >>> asked = make_question({"terminals": 16, "radix": 8})
    >>> own.spec in render_answer(Answer(asked, Outcome([], 1, [entrant], [entrant], {}, 0.0)))
    True
    """
    figures = _curves(found)
    return (
        environment("topoloom.design")
        .get_template("page.html.j2")
        .render(
            found=found,
            specs=[own.spec for own in found.finalists],
            stages=_stages(found),
            figures=figures,
            cells=_cells(found),
            played=_played(found),
            bills=[_bill(own) for own in found.finalists],
            turns=_turns(found),
            failures=_failures(found),
            relations=RELATIONS,
            settings=_settings(found),
            data={"figures": [figure["data"] for figure in figures], "front": _front(found)},
            command=shlex.join(found.command),
            version=_core.__version__,
            model_version=_core.MODEL_VERSION,
            style=Markup(text("style.css")),
            scripts=[Markup(text(name)) for name in ("page.js", "charts.js")],
            own_script=Markup(environment("topoloom.design").get_template("front.js").render()),
            plotly=Markup(get_plotlyjs()),
        )
    )


def _stages(found: "Answer") -> list[dict[str, Any]]:
    """Return the funnel: what entered each stage, what dropped out there and why."""
    left = found.outcome.searched
    rows = []
    for stage, reasons in found.outcome.dropped.items():
        gone = sum(reasons.values())
        rows.append({"name": stage, "entered": left, "dropped": gone, "reasons": [r for r in reasons.items() if r[1]]})
        left -= gone
    return rows


def _front(found: "Answer") -> dict[str, Any]:
    """Return what the scatter shows: criteria as axes, networks as marks."""
    finalists = {own.spec: place for place, own in enumerate(found.finalists)}
    marks = [
        {
            "spec": own.spec,
            "routing": own.routing,
            "family": own.candidate.family,
            "finalist": finalists.get(own.spec),
            "values": {name: value.to_dict() for name, value in own.values.items()},
        }
        for own in found.outcome.front
    ]
    axes = [(each.name, f"{each.label}, {each.unit}" if each.unit else each.label) for each in _shown(found)]
    families = list(dict.fromkeys(own.candidate.family for own in found.outcome.front))
    return {"marks": marks, "axes": axes, "families": families}


def _shown(found: "Answer") -> list[Criterion]:
    """Return the criteria that the scatter can show: what counts, and what is known anyway."""
    known = {each.name: each for each in [*found.criteria, *FIXED]}
    return [each for each in known.values() if any(each.name in own.values for own in found.outcome.front)]


def _curves(found: "Answer") -> list[dict[str, Any]]:
    """Return the charts of latency against offered load below saturation, one for each traffic."""
    charts = []
    for name in found.question.traffic:
        series = []
        for place, own in enumerate(found.finalists):
            detail = own.details.get(("saturation", name))
            if detail is None:
                continue
            most = detail["saturation_load"] or 0.0
            points = [point for point in detail["points"] if point["offered"] <= most and point["latency_cycles"]]
            x, y = [point["offered"] for point in points], [point["latency_cycles"] for point in points]
            series.append({"label": own.spec, "colour": place, "x": x, "y": y, "published": []})
        data = {"series": series, "xaxis": "offered load, flits/cycle/terminal", "yaxis": "latency, cycles"}
        key = [(each["colour"], each["label"]) for each in series]
        charts.append({"title": f"{name}, up to saturation", "data": data | {"logarithmic": False}, "key": key})
    return charts


def _cells(found: "Answer") -> list[dict[str, Any]]:
    """Return a row a finalist: its criteria as text with their intervals, and the best of each column."""
    best = {}
    for each in found.criteria:
        known = [own.values[each.name].value for own in found.finalists if each.name in own.values]
        best[each.name] = (min if each.better == "low" else max)(known, default=None)
    rows = []
    for own in found.finalists:
        cells = []
        for each in found.criteria:
            value = own.values.get(each.name)
            if value is None:
                cells.append({"text": "–", "note": "not measured", "best": False})
                continue
            span = f"{each.text(value.low)} to {each.text(value.high)}, {value.known}"
            note = value.known if value.low == value.high else span
            cells.append({"text": each.text(value.value), "note": note, "best": value.value == best[each.name]})
        loads = [(own.details.get((SATURATION, name)) or {}).get("saturation_load") for name in found.question.traffic]
        proof = own.details.get(("verify", ""), {}).get("deadlock_free")
        played = [time_text(own.details.get(("workload", app), {}).get("makespan_s")) for app in _played(found)]
        rows.append({"own": own, "cells": cells, "loads": loads, "played": played, "proof": _proved(proof)})
    return rows


def _played(found: "Answer") -> list[str]:
    """Return the applications whose makespans are estimated, and that finalists played."""
    apps = (of for own in found.finalists for kind, of in own.details if kind == "workload")
    return list(dict.fromkeys(apps))


def _proved(deadlock_free: bool | None) -> str:
    return {True: "proved free", False: "possible", None: "not proved"}[deadlock_free]


def _bill(own: Entrant) -> dict[str, Any]:
    """Return what a finalist is made of."""
    floor = own.details.get(("layout", ""), {})
    return {"own": own, "facts": own.facts, "floor": floor}


RELATIONS = {"smaller": "a size down", "larger": "a size up", "variant": "as large"}
"""What neighbours are to a network, for people."""


def _failures(found: "Answer") -> list[dict[str, Any]]:
    """Return what failures leave of the throughput of finalists: the columns, then a row a finalist."""
    columns = dict.fromkeys(
        (kind, row["fraction"], row["traffic"])
        for own in found.finalists
        for (name, kind), told in own.details.items()
        if name == "faults"
        for row in told["throughput"]
    )
    rows = []
    for own in found.finalists:
        left = {
            (kind, row["fraction"], row["traffic"]): row
            for (name, kind), told in own.details.items()
            if name == "faults"
            for row in told["throughput"]
        }
        rows.append({"own": own, "cells": [left.get(column) for column in columns]})
    heads = [f"{100 * fraction:g} % of {kind}, {traffic}" for kind, fraction, traffic in columns]
    return [{"heads": heads, "rows": rows}] if columns else []


def _turns(found: "Answer") -> list[dict[str, Any]]:
    """Return what is recommended at other prices of optics: a row a price, a cell a recommendation."""
    rows = [{"what": "as in the price list", "cells": [(own.spec, False) for own in found.recommendations]}]
    for turn in found.sensitivity:
        cells = [(own.spec, own.title in turn.changed) for own in turn.recommended]
        rows.append({"what": f"{turn.factor:g} times the price", "cells": cells})
    return rows


def _settings(found: "Answer") -> list[tuple[str, str]]:
    question = found.question
    prices: PriceList = price_list(question.prices)
    assumed = found.finalists[0].facts["layout_assumptions"]
    windows = ", ".join(
        f"{own.warmup:,} + {own.measure:,} ± {100 * own.off:g} %" for own in windows_of(question) if own.places
    )
    return [
        ("Question", question.sentence()),
        ("Prices", f"{prices.name}: {prices.summary}{assumed_prices(found.prices_assumed)}"),
        ("Layout", f"{question.layout or 'rack'}: {assumed}"),
        ("Routing", question.routing),
        ("Saturation throughput", throughput_note(question)),
        *([("Makespans", makespan)] if (makespan := makespans_note(question)) else []),
        *([("Windows, cycles of warm-up + measured, and how far they may be off", windows)] if windows else []),
        ("Measured values that count as equal", f"those within {ALIKE:.0%}".replace("%", " %")),
        ("Rate of a link", question.rate),
        ("Seed", str(question.seed)),
    ]
