"""Charts of curves, with confidence bands, in one call."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol

from topoloom._core import TopoloomError, unknown
from topoloom.libraries import require

if TYPE_CHECKING:
    import plotly.graph_objects as go

COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#7f5fc0", "#6b6b6b")
"""Colours that colour-blind readers can distinguish (Okabe and Ito)."""

BAND = 0.18
"""Opacity of a confidence band."""

AXES = {
    "latency": "mean packet latency, cycles",
    "accepted": "accepted load, flits/cycle/terminal",
    "p99": "99th percentile of latency, cycles",
    "hops": "routers visited",
}

Measure = Literal["latency", "accepted", "p99", "hops"]


class ChartPoint(Protocol):
    """What is drawn of a point: :class:`topoloom.Point` has it."""

    @property
    def offered(self) -> float:
        """Offered load."""

    @property
    def latency_cycles(self) -> float | None:
        """Mean latency."""

    @property
    def latency_ci95(self) -> float | None:
        """Half the width of its 95 % interval."""

    @property
    def state(self) -> str:
        """What kind of answer the point is."""


class ChartCurve(Protocol):
    """What is drawn of a curve: :class:`topoloom.Curve` has it."""

    @property
    def spec(self) -> str:
        """The network."""

    @property
    def routing(self) -> str:
        """The routing."""

    @property
    def traffic(self) -> str:
        """The traffic pattern."""

    @property
    def first_unstable(self) -> float | None:
        """The smallest load past saturation."""

    def sorted_points(self) -> Sequence[ChartPoint]:
        """Return the points by ascending load."""


def plot(curves: ChartCurve | Iterable[ChartCurve], measure: Measure = "latency") -> "go.Figure":
    """Return a chart of curves over the offered load, with 95 % confidence bands where there are intervals.

    Args:
        curves: One curve or several.
        measure: ``latency``, ``accepted``, ``p99`` or ``hops``. Latency charts end at the first load past saturation.

    Returns:
        A Plotly figure: ``figure.show()``, ``figure.write_html("curves.html")``.

    Raises:
        TopoloomError: An unknown measure; the extra ``studies``, ``report`` or ``plot`` is missing.

    >>> import topoloom
    >>> curve = topoloom.network("mesh:2x2").simulate(load=[0.1, 0.2], warmup=10, measure=100)
    >>> list(plot(curve, "accepted").data[-1].x)
    [0.1, 0.2]
    """
    if measure not in AXES:
        raise TopoloomError(unknown("measure", str(measure), list(AXES)))
    require("plotly")
    import plotly.graph_objects as go  # noqa: PLC0415 - loads slowly

    figure = go.Figure()
    for place, curve in enumerate(curves if isinstance(curves, Iterable) else [curves]):
        color = COLORS[place % len(COLORS)]
        points = _shown(curve, measure)
        if measure == "latency":
            figure.add_trace(go.Scatter(**_band(points, color)))
        figure.add_trace(go.Scatter(**_line(curve, points, measure, color)))
    figure.update_layout(
        template="simple_white",
        xaxis={"title": "offered load, flits/cycle/terminal", "range": [0, 1.02]},
        yaxis={"title": AXES[measure], "rangemode": "tozero"},
        legend={"orientation": "h", "y": -0.25},
        margin={"t": 20, "r": 20},
    )
    return figure


def _shown(curve: ChartCurve, measure: Measure) -> Sequence[ChartPoint]:
    knee = curve.first_unstable
    points = curve.sorted_points()
    if measure == "accepted":
        return points
    return [p for p in points if _value(p, measure) is not None and (knee is None or p.offered <= knee)]


def _value(point: ChartPoint, measure: Measure) -> float | None:
    value: float | None = getattr(point, {"latency": "latency_cycles"}.get(measure, measure))
    return value


def _line(curve: ChartCurve, points: Sequence[ChartPoint], measure: Measure, color: str) -> dict[str, Any]:
    return {
        "x": [point.offered for point in points],
        "y": [_value(point, measure) for point in points],
        "name": f"{curve.spec} · {curve.routing} · {curve.traffic}",
        "mode": "lines+markers",
        "line": {"color": color},
        "text": [point.state for point in points],
        "hovertemplate": "%{x:.3g}: %{y:.4g} (%{text})<extra>%{fullData.name}</extra>",
    }


def _band(points: Sequence[ChartPoint], color: str) -> dict[str, Any]:
    """Return the outline of the confidence band: up along its upper edge, and back along its lower one."""
    known = [(p.offered, p.latency_cycles, p.latency_ci95) for p in points if p.latency_ci95 is not None]
    upper = [(load, mean + half) for load, mean, half in known if mean is not None and half is not None]
    lower = [(load, mean - half) for load, mean, half in known if mean is not None and half is not None]
    outline = upper + lower[::-1]
    return {
        "x": [load for load, _ in outline],
        "y": [edge for _, edge in outline],
        "fill": "toself",
        "fillcolor": color,
        "opacity": BAND,
        "line": {"width": 0},
        "mode": "lines",
        "hoverinfo": "skip",
        "showlegend": False,
    }
