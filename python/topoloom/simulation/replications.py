"""Points of several seeds as one: their mean, with the interval that their scatter gives."""

import math
from collections.abc import Callable, Sequence
from statistics import fmean, stdev

from topoloom import _core
from topoloom.simulation.points import ZERO_LOAD, Point
from topoloom.simulation.simulator import Simulator

LEAST_REPLICAS = 5
"""Fewer replicas may agree by chance: an interval that stops at the first narrow one would be too narrow too often."""

MOST_REPLICAS = 30
"""Replicas of a point unless more are asked for."""

REPLICA_PRECISION = 1.5
"""The interval of one replica by itself may be this many times as wide as that of all."""


def replicate(simulator: Simulator, load: float, *, precision: float, most: int) -> None:
    """Add replicas to a point of a curve until the interval of its mean latency is narrow enough.

    Points past saturation, whose latency means nothing, stay single. A point whose interval is too wide after `most`
    replicas has not converged.

    Args:
        simulator: Where the curve comes from; it contains the point at `load`.
        load: The load of the point, in flits per terminal per cycle.
        precision: Half the width of the 95 % interval that is narrow enough, as a share of the mean.
        most: The largest number of replicas, :data:`LEAST_REPLICAS` at least.

    >>> from topoloom.simulation.options import EngineOptions
    >>> simulator = Simulator(_core.Network("mesh:4"), "dor", "uniform", EngineOptions(warmup=50, measure=200))
    >>> simulator.curve.points[0.2] = simulator.point(0.2, _core.CancelToken())
    >>> replicate(simulator, 0.2, precision=0.5, most=4)
    """
    curve, never = simulator.curve, _core.CancelToken()
    same = [curve.points[load]]
    while load == ZERO_LOAD or curve.is_stable(load):
        point = curve.points[load]
        narrow = len(same) >= LEAST_REPLICAS and is_narrow(point, precision)
        if narrow or len(same) >= most:
            curve.points[load] = point.model_copy(update={"converged": point.converged and narrow})
            return
        another = simulator.point(load, never, replica=len(same))
        assert another is not None  # no caller cancels
        same.append(another)
        curve.points[load] = merged(same).with_units(curve.units)


def is_narrow(point: Point, precision: float) -> bool:
    """Whether the interval of a point's mean latency is within `precision` of it, relative to it.

    Args:
        point: The point.
        precision: Half the width that is allowed, as a share of the mean.

    >>> import topoloom
    >>> (point,) = topoloom.network("mesh:4").simulate(load=0.1).sorted_points()
    >>> is_narrow(point, 0.05)
    True
    """
    if point.latency_cycles is None or point.latency_ci95 is None:
        return False
    return point.latency_ci95 <= precision * point.latency_cycles


def half_width(values: Sequence[float]) -> float | None:
    """Return half the width of the 95 % interval of the mean of independent values; None for fewer than two.

    Args:
        values: The values. The result has their unit, such as cycles.

    >>> round(half_width([1.0, 2.0, 3.0]), 3)
    2.484
    """
    if len(values) < 2:  # noqa: PLR2004 - one value does not scatter
        return None
    return _core.student_t(len(values) - 1) * stdev(values) / math.sqrt(len(values))


def merged(points: Sequence[Point]) -> Point:
    """Return points of one load and several seeds as one point.

    Means are means over seeds, and the interval is that of their scatter. The point converged if all did, it is
    saturated if more than half are, and deadlocked if any is; cycles, hops of flits and times are sums.

    Args:
        points: The points of one load, at least one.

    >>> import topoloom
    >>> (point,) = topoloom.network("mesh:4").simulate(load=0.1, warmup=50, measure=50).sorted_points()
    >>> merged([point, point]).accepted == point.accepted
    True
    """
    if len(points) == 1:
        return points[0]
    latencies = [point.latency_cycles for point in points if point.latency_cycles is not None]
    complete = len(latencies) == len(points)
    return Point(
        offered=points[0].offered,
        accepted=fmean(point.accepted for point in points),
        latency_cycles=fmean(latencies) if complete else None,
        latency_ci95=half_width(latencies) if complete else None,
        network_latency_cycles=_mean(points, lambda point: point.network_latency_cycles),
        p50=_mean(points, lambda point: point.p50),
        p99=_mean(points, lambda point: point.p99),
        hops=_mean(points, lambda point: point.hops),
        converged=all(point.converged for point in points),
        saturated=sum(point.saturated for point in points) * 2 > len(points),
        deadlocked=any(point.deadlocked for point in points),
        cycles=sum(point.cycles for point in points),
        flit_hops=sum(point.flit_hops for point in points),
        wall_s=sum(point.wall_s for point in points),
        cpu_s=sum(point.cpu_s for point in points),
        active_terminals=points[0].active_terminals,
        replicas=len(points),
    )


def _mean(points: Sequence[Point], value: Callable[[Point], float | None]) -> float | None:
    values = [found for point in points if (found := value(point)) is not None]
    return fmean(values) if len(values) == len(points) else None
