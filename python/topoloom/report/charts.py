"""The data of the charts; the page's script draws them in the colours of the reader's theme."""

from typing import Any

from topoloom.comparison import Comparison
from topoloom.curves import MOST_LATENCY, Curve, Point

HEADROOM = 1.1
"""Height of the latency axis over the largest latency that a stable point may have."""


def chart_data(comparison: Comparison) -> dict[str, Any]:
    """Return what the script draws: for every traffic a latency chart and a throughput chart."""
    specs = [facts["spec"] for facts in comparison.facts]
    roles = list(dict.fromkeys(curve.role for curve in comparison.curves))
    return {
        "traffics": [
            {
                "name": traffic,
                "latency_top": _latency_top([c for c in comparison.curves if c.traffic == traffic]),
                "series": [
                    {
                        "spec": curve.spec,
                        "routing": curve.routing,
                        "network": specs.index(curve.spec),
                        "role": roles.index(curve.role),
                        "latency": [_values(curve, point) for point in latency_points(curve)],
                        "throughput": [_values(curve, point) for point in curve.sorted_points()],
                    }
                    for curve in comparison.curves
                    if curve.traffic == traffic
                ],
            }
            for traffic in comparison.traffics
        ]
    }


def latency_points(curve: Curve) -> list[Point]:
    """Return the points of a latency chart: those below saturation, and the first one past it."""
    knee = curve.first_unstable
    return [
        point
        for point in curve.sorted_points()
        if point.latency_cycles is not None and (knee is None or point.offered <= knee)
    ]


def _latency_top(curves: list[Curve]) -> float:
    """Return the height of the latency axis, so that every stable point is on it."""
    lowest = [curve.zero_load_latency or _first_latency(curve) for curve in curves]
    return HEADROOM * MOST_LATENCY * max(lowest, default=0.0)


def _first_latency(curve: Curve) -> float:
    return next((point.latency_cycles for point in latency_points(curve) if point.latency_cycles is not None), 0.0)


def _values(curve: Curve, point: Point) -> dict[str, Any]:
    keys = {"offered", "accepted", "latency_cycles", "latency_ci95", "p50", "p99", "hops", "converged"}
    return point.model_dump(include=keys) | {"stable": curve.is_stable(point.offered)}
