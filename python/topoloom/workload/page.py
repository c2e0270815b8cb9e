"""The page of applications on networks: how long they take, beside each other, and what the time went into."""

import shlex
from typing import Any

from markupsafe import Markup
from plotly.offline import get_plotlyjs

from topoloom import _core
from topoloom.report.page import environment, text
from topoloom.wording import counted
from topoloom.workload.error_bars import error_bars
from topoloom.workload.results import WorkloadResult, time_text, time_unit
from topoloom.workload.schedule import drawn, schedule
from topoloom.workload.training import STEP_COLUMNS, TRAFFIC_COLUMNS, step_rows, traffic_rows
from topoloom.workload.workloads import Workloads

MOST_SIDE_BY_SIDE = 8
"""With more networks than this every application has a chart of its own."""

INTERVALS = 2
"""The least number of intervals of a use over time that is drawn."""

SETTINGS = (
    ("engine", "Engine"), ("mapping", "Tasks on terminals"), ("rate", "Rate of a link"), ("flit", "Flit"),
    ("packet", "Flits of a packet"), ("vcs", "VCs of a port"), ("buffer", "Flits of a VC"),
    ("speedup", "Internal speedup"), ("model", "Model"), ("injection", "Send rate of a terminal, in its link's"),
    ("consumption", "Receive rate of a terminal, in its link's"), ("latency_s", "Latency of a link, s"),
    ("scale", "Scale"), ("noise", "Noise"),
    ("paths", "Paths of a message"), ("coalesce", "Coalesce"), ("seed", "Seed"),
)  # fmt: skip
"""What the page shows of the engine's configuration, where it has it."""


def _error_bars(found: Workloads) -> list[str]:
    """Return what is known of the errors of such times; nothing where there are none."""
    return [error_bars(result.engine, found.assumptions) for result in found.results[:1]]


def render_workloads(found: Workloads) -> str:
    """Return the page as HTML.

    Args:
        found: The results.

    >>> import topoloom
    >>> "<html" in render_workloads(topoloom.workload("mesh:4", "reduce"))
    True
    """
    figures = _makespans(found)
    over_time = _over_time(found)
    steps = _steps(found)
    return (
        environment("topoloom.workload")
        .get_template("page.html.j2")
        .render(
            found=found,
            title=_title(found),
            specs=found.specs,
            mapped=len(found.mappings) > 1,
            figures=figures,
            over_time=over_time,
            first_over_time=len(figures),
            steps=steps,
            first_step=len(figures) + len(over_time),
            schedules=_schedules(found),
            step_tables=[(STEP_COLUMNS, step_rows(found.results)), (TRAFFIC_COLUMNS, traffic_rows(found.results))],
            best={app: _best(found, app) for app in found.apps},
            notes=list(dict.fromkeys([*found.notes, *found.assumptions, *_error_bars(found)])),
            settings=_settings(found),
            extra=extra,
            busiest=_busiest,
            collective=any(result.busbw_gb_s is not None for result in found.results),
            coalesced=any(result.coalesced_share for result in found.results),
            time_text=time_text,
            data={"figures": [figure["data"] for figure in [*figures, *over_time, *steps]]},
            command=shlex.join(found.command),
            version=_core.__version__,
            model_version=_core.MODEL_VERSION,
            style=Markup(text("style.css")),
            scripts=[Markup(text(name)) for name in ("page.js", "charts.js")],
            plotly=Markup(get_plotlyjs()),
        )
    )


def extra(result: WorkloadResult, name: str) -> Any:
    """Return what an engine reports besides the rest; ``critical_path.messages`` is a field within a field.

    Args:
        result: A result.
        name: A field of the engine's report, unchecked; None stands for a field that it lacks.

    >>> import topoloom
    >>> extra(topoloom.workload("mesh:4", "reduce").results[0], "critical_path.messages")
    1
    """
    value: Any = result.model_extra or {}
    for part in name.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    return value


def _busiest(result: WorkloadResult) -> str:
    """Return the channel that was used most, with its use; nothing if the engine does not report it."""
    listed = extra(result, "busiest")
    if not listed:
        return ""
    first = listed[0]
    ends = {"terminal": ("router", "terminal"), "injection": ("terminal", "router")}.get(first["class"], ("", ""))
    names = (f"{end} {first[key]}".strip() for end, key in zip(ends, ("from", "to"), strict=True))
    return f"{' → '.join(names)}: {100 * first['utilisation']:.0f}\u202f%"


def _title(found: Workloads) -> str:
    apps = [_core.head(app) for app in found.apps]
    named = ", ".join(dict.fromkeys(apps)) if len(apps) <= MOST_SIDE_BY_SIDE else f"{len(apps)} applications"
    return f"{named} on {counted(len(found.specs), 'network')}"


def _best(found: Workloads, app: str) -> float | None:
    known = [r.makespan_s for r in found.results if r.app == app and r.makespan_s is not None]
    return min(known, default=None)


def _makespans(found: Workloads) -> list[dict[str, Any]]:
    """Return the bar charts of makespans in parts of the baseline's."""
    # The name of a network may be longer than an axis: it is in the title of the chart, which has several lines.
    axis, one = "relative makespan", f"1 is {found.reference}"

    def chart(title: str, series: list[dict[str, Any]], key: list[tuple[int, str]]) -> dict[str, Any]:
        data = {"series": series, "xaxis": "", "yaxis": axis, "logarithmic": False}
        return {"title": title, "kind": "bars", "data": data, "key": key}

    labels = [found.label(*own) for own in found.placements]
    if len(labels) <= MOST_SIDE_BY_SIDE:
        series = [
            _bars(labels[place], place, found.apps, [found.relative(spec, app, mapping) for app in found.apps])
            for place, (spec, mapping) in enumerate(found.placements)
        ]
        return [chart(f"Makespans beside each other; {one}", series, list(enumerate(labels)))]
    return [
        chart(
            f"{app}; {one}",
            [_bars(app, 0, labels, [found.relative(spec, app, mapping) for spec, mapping in found.placements])],
            [],
        )
        for app in found.apps
    ]


def _bars(label: str, colour: int, x: list[str], y: list[float | None]) -> dict[str, Any]:
    return {"label": label, "colour": colour, "x": x, "y": y, "published": []}


def _over_time(found: Workloads) -> list[dict[str, Any]]:
    """Return the charts of how busy links between routers were over time, where the engine reports it."""
    charts = []
    for app in found.apps:
        used = []
        for place, (spec, mapping) in enumerate(found.placements):
            result = found.result(spec, app, mapping)
            if result is not None and len(use := extra(result, "timeline.utilisation") or []) >= INTERVALS:
                used.append((found.label(spec, mapping), place, extra(result, "timeline.interval_s"), use))
        if used and len(used) <= MOST_SIDE_BY_SIDE:
            unit, size = time_unit(max(interval * len(use) for *_, interval, use in used))
            series = [
                {"label": label, "colour": place, "x": _middles(interval / size, len(use)), "y": use, "published": []}
                for label, place, interval, use in used
            ]
            data = {"series": series, "xaxis": f"time, {unit}", "yaxis": "mean use of links", "logarithmic": False}
            key = [(place, label) for label, place, *_ in used]
            charts.append({"title": app, "kind": "lines", "data": data, "key": key})
    return charts


def _middles(interval: float, count: int) -> list[float]:
    """Return the middles of intervals that follow each other from 0."""
    return [interval * (step + 0.5) for step in range(count)]


def _steps(found: Workloads) -> list[dict[str, Any]]:
    """Return the charts of where the time of training steps went, one for each application that is one."""
    charts = []
    for app in found.apps:
        steps = [own for own in found.results if own.app == app and own.training and "compute_s" in own.training]
        parts: dict[str, dict[str, float]] = {}
        for result in steps:
            for name, seconds in _parts(result.training or {}).items():
                parts.setdefault(name, {})[found.label(result.spec, result.mapping)] = 1e3 * seconds
        labels = [found.label(result.spec, result.mapping) for result in steps]
        series = [
            _bars(name, place, labels, [own.get(label) for label in labels])
            for place, (name, own) in enumerate(parts.items())
        ]
        if series:
            data = {"series": series, "xaxis": "", "yaxis": "time of a rank, ms", "logarithmic": False}
            charts.append({"title": app, "kind": "bars", "data": data, "key": list(enumerate(parts))})
    return charts


def _schedules(found: Workloads) -> list[dict[str, Any]]:
    """Return the drawings of what ranks of training steps do, with what they show."""
    drawings = []
    for result in found.results:
        events = found.events.get((result.spec, result.app, result.mapping), [])
        if events and result.makespan_s:
            picture = Markup(schedule(events, result.makespan_s))
            label = found.label(result.spec, result.mapping)
            drawings.append({"title": f"{result.app}, {label}", "picture": picture, "key": drawn(events)})
    return drawings[:MOST_SIDE_BY_SIDE]


def _parts(step: dict[str, Any]) -> dict[str, float]:
    """Return what the time of a step went into: computing, what was waited for by parallelism, and neither."""
    parts = {"computing": step["compute_s"]}
    for own in step["communication"]:
        name = f"{own['parallelism']} exposed"
        parts[name] = parts.get(name, 0.0) + own["exposed_s"]
    return parts | {"bubble": step["bubble_s"], "slower ranks": step["skew_s"]}


def _settings(found: Workloads) -> list[tuple[str, str]]:
    """Return what the results were made with as (what, values)."""
    rows = []
    for name, label in SETTINGS:
        told = [getattr(result, name, None) or (extra(result, "config") or {}).get(name) for result in found.results]
        values = dict.fromkeys(
            f"{value:g}" if isinstance(value, float) else str(value) for value in told if value is not None
        )
        if values:
            rows.append((label, "; ".join(values)))
    routings = dict.fromkeys(f"{result.spec}: {result.routing_text}" for result in found.results)
    return [*rows, ("Routing", "; ".join(routings))]
