"""The data of the charts; the page's script draws them in the colours of the reader's theme."""

from typing import Any

from topoloom import _core
from topoloom.network.facts import COST_PER_TERMINAL
from topoloom.report.comparison import Comparison
from topoloom.report.overview import saturation_entries
from topoloom.simulation.curves import MOST_LATENCY, Curve
from topoloom.simulation.points import ZERO_LOAD, Point

HEADROOM = 1.1
"""Height of the latency axis over the largest latency that a stable point may have."""

NEAR_COST, NEAR_LOAD = 0.12, 0.12
"""Marks so near each other, as a part of the span of costs and in load, have their labels on different sides."""


def chart_data(comparison: Comparison) -> dict[str, Any]:
    """Return what the script draws: for every traffic a latency chart and a throughput chart.

    Args:
        comparison: The comparison.

    >>> import topoloom
    >>> found = topoloom.compare(["mesh:2x2"], ["minimal"], load=[0.1, 0.2], warmup=10, measure=100)
    >>> [(traffic["name"], len(traffic["series"])) for traffic in chart_data(found)["traffics"]]
    [('uniform', 1)]
    """
    specs = [facts["spec"] for facts in comparison.facts]
    roles = list(dict.fromkeys(curve.role for curve in comparison.curves))
    return {
        "traffics": [
            {
                "name": traffic,
                "latency_top": latency_top([c for c in comparison.curves if c.traffic == traffic]),
                "series": [
                    curve_series(curve, specs.index(curve.spec), roles.index(curve.role))
                    for curve in comparison.curves
                    if curve.traffic == traffic
                ],
                **value_for_money(comparison, traffic),
            }
            for traffic in comparison.traffics
        ]
    }


def curve_series(curve: Curve, network: int, role: int) -> dict[str, Any]:
    """Return what the script draws of a curve.

    Args:
        curve: The curve.
        network: The number of its colour, from 0.
        role: The number of its dashes, from 0.

    >>> import topoloom
    >>> curve = topoloom.network("mesh:2x2").simulate(load=[0.1, 0.2], warmup=10, measure=100)
    >>> [point["offered"] for point in curve_series(curve, 0, 0)["throughput"]]
    [0.1, 0.2]
    """
    return {
        "spec": curve.spec,
        "routing": curve.routing,
        "network": network,
        "role": role,
        "bound": curve.bound.saturation_bound if curve.bound else None,
        "latency": [_values(curve, point) for point in _latency_points(curve)],
        "throughput": [_values(curve, point) for point in curve.sorted_points()],
    }


def value_for_money(comparison: Comparison, traffic: str) -> dict[str, list[dict[str, Any]]]:
    """Return the marks of cost against saturation, and the Pareto front: those that no other beats in both.

    Each network is drawn at its best routing's saturation load. One that costs no less and saturates no later than
    another, and differs from it, is not on the front.

    Args:
        comparison: The comparison.
        traffic: A traffic pattern of the comparison, unchecked.

    Returns:
        Marks of all networks and of the front, costs in dollars per terminal, loads in flits per active terminal per
        cycle.

    >>> import topoloom
    >>> found = topoloom.compare(["mesh:2x2"], ["minimal"], load=[0.1, 0.2], warmup=10, measure=100)
    >>> [(mark["spec"], mark["cost"]) for mark in value_for_money(found, "uniform")["front"]]
    [('mesh:2x2', 16316.21)]
    """
    best = {entry.spec: entry for entry in saturation_entries(comparison, traffic)}
    families = [_core.head(facts["spec"]) for facts in comparison.facts]
    marks: list[dict[str, Any]] = []
    for place, facts in enumerate(comparison.facts):
        cost, entry = COST_PER_TERMINAL.value(facts), best.get(facts["spec"])
        if cost is None or entry is None:
            continue
        family = families[place]
        label = family if families.count(family) == 1 else facts["spec"]
        mark = {"spec": entry.spec, "label": label, "network": place, "cost": cost}
        marks.append(mark | {"saturation": entry.value, "routing": entry.by})
    for mark in marks:
        mark["best"] = not any(_beats(other, mark) for other in marks)
    span = max((mark["cost"] for mark in marks), default=0) - min((mark["cost"] for mark in marks), default=0)
    for place, mark in enumerate(marks):
        mark["lower"] = any(
            abs(other["cost"] - mark["cost"]) <= NEAR_COST * span
            and abs(other["saturation"] - mark["saturation"]) <= NEAR_LOAD
            and (other["saturation"], -place) > (mark["saturation"], -marks.index(other))
            for other in marks
            if other is not mark
        )
    return {"marks": marks, "front": sorted((mark for mark in marks if mark["best"]), key=lambda mark: mark["cost"])}


def _beats(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether a mark is no worse in both directions, and better in one."""
    cheaper, later = one["cost"] <= other["cost"], one["saturation"] >= other["saturation"]
    same = one["cost"] == other["cost"] and one["saturation"] == other["saturation"]
    return cheaper and later and not same


def _latency_points(curve: Curve) -> list[Point]:
    """Return the points of a latency chart: those below saturation, and the first one past it."""
    knee = curve.first_unstable
    return [
        point
        for point in curve.sorted_points()
        if point.latency_cycles is not None and (knee is None or point.offered <= knee)
    ]


def latency_top(curves: list[Curve]) -> float:
    """Return the height of the latency axis in cycles, so that every stable point is on it.

    Args:
        curves: The curves of the chart.

    >>> latency_top([])
    0.0
    """
    lowest = [curve.zero_load_latency or _first_latency(curve) for curve in curves]
    return HEADROOM * MOST_LATENCY * max(lowest, default=0.0)


def _first_latency(curve: Curve) -> float:
    return next((point.latency_cycles for point in _latency_points(curve) if point.latency_cycles is not None), 0.0)


def _values(curve: Curve, point: Point) -> dict[str, Any]:
    keys = {"offered", "accepted", "latency_cycles", "latency_ci95", "p50", "p99", "hops", "converged"}
    # What arrives in an empty network is so little that chance decides how much of it is accepted.
    return point.model_dump(include=keys) | {"stable": point.offered == ZERO_LOAD or curve.is_stable(point.offered)}
