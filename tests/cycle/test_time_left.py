"""The time left of a search: against what the rest of it takes, where a point takes as long as its load says."""

import pytest

from topoloom.simulation.curves import Curve
from topoloom.simulation.plans import knee_plan, search_plan
from topoloom.simulation.points import Point
from topoloom.simulation.time_left import TimeLeft

EMPTY = 10.0


def point(load: float, knee: float, terminals: int) -> Point:
    latency = EMPTY if load <= knee + 1e-9 else 10 * EMPTY
    nothing = dict.fromkeys(("latency_ci95", "network_latency_cycles", "p50", "p99", "hops"))
    known = {
        "offered": load,
        "accepted": min(load, knee + 0.03),
        "latency_cycles": latency,
        "active_terminals": terminals,
    }
    flags = {
        "converged": True,
        "saturated": False,
        "cycles": 1,
        "flit_hops": 1,
        "wall_s": 3 * (0.1 + load),
        "cpu_s": 1.0,
    }
    return Point(**nothing, **known, **flags)


def told_and_taken(knee: float, loads: list[float], terminals: int) -> list[tuple[float, float]]:
    """Of every point but the first two: the seconds left that were told behind it, and those that it took."""
    curve = Curve("mesh:2x2", "dor", "dor", "uniform", {})
    left, told, taken = TimeLeft([curve], loads), [], []
    assert left.seconds() is None
    for batch in knee_plan(curve, loads) if loads else search_plan(curve):
        for load in batch:
            if load not in curve.points:
                curve.points[load] = point(load, knee, terminals)
                taken.append(curve.points[load].wall_s)
                told.append(left.seconds())
    curve.finished = True
    assert left.seconds() == 0
    rest = [sum(taken[place + 1 :]) for place in range(len(taken))]
    return list(zip(told, rest, strict=True))[2:-1]


@pytest.mark.parametrize("terminals", [64, 10_000])
@pytest.mark.parametrize("loads", [[], [step / 10 for step in range(1, 10)]])
def test_the_time_left_is_right_within_a_factor_of_two(terminals, loads):
    right = total = 0
    for part in range(5, 100, 3):
        for told, rest in told_and_taken(part / 100, loads, terminals):
            total += 1
            right += rest / 2 <= told <= 2 * rest
    assert total > 30
    assert right >= 0.9 * total, f"{right} of {total}"


def test_other_curves_tell_how_long_one_without_points_takes_and_several_share_the_processors():
    done, new = (Curve("mesh:2x2", "dor", "dor", traffic, {}) for traffic in ("uniform", "tornado"))
    done.points = {1.0: point(1.0, 0.5, 4)}
    both, one = TimeLeft([done, new], workers=2).seconds(), TimeLeft([done, new]).seconds()
    assert both is not None
    assert one is not None
    assert one / 2 <= both < one
    assert TimeLeft([done, new], workers=2).seconds(under_way_s=1.0) == pytest.approx(both - 1)


MEASURED = {
    "dragonfly:a=24,h=24,g=35,p=12 uniform": {1.0: 7.7, 0.98: 31.2, 0.97: 17.7},
    "dragonfly:a=24,h=24,g=35,p=12 worst-case": {1.0: 8.0, 0.81: 7.6, 0.8: 7.9, 0.78: 8.4, 0.76: 11.4, 0.74: 16.8},
    "hyperx:22x18,p=26 uniform": {1.0: 3.6, 0.67: 14.0, 0.69: 3.4, 0.66: 3.4, 0.65: 2.5},
    "xgft:down=32x31x11,up=16x5,trunk=1x5 uniform": {1.0: 3.0, 0.47: 2.5, 0.45: 4.0, 0.44: 5.6},
    "hyperx:17x17,p=16 worst-case": {1.0: 2.5, 0.54: 1.1, 0.5: 1.5, 0.49: 1.4, 0.48: 1.3, 0.47: 1.0},
    "slimfly:q=17,p=8 uniform": {1.0: 2.1, 0.98: 7.3, 0.97: 3.9},
}
"""Seconds of the points of searches with `adaptive` on two processors; those of two points are added up in one."""


@pytest.mark.parametrize("search", MEASURED.values(), ids=MEASURED)
def test_near_saturation_points_take_longer(search):
    """What is left after the point at full load, and while the next one is half done or nearly done."""
    full, *others = search.items()
    curve = Curve("mesh:2x2", "dor", "dor", "uniform", {})
    curve.points = {load: point(load, others[0][0], 10_000) for load in (0.001, 1.0)}
    curve.points[1.0] = curve.points[1.0].model_copy(update={"wall_s": full[1]})
    longest, rest = max(seconds for _, seconds in others), sum(seconds for _, seconds in others)
    left = TimeLeft([curve])
    for under_way in (0.0, longest / 2, 0.9 * longest):
        told = left.seconds(under_way)
        assert (rest - under_way) / 2 <= told <= 2 * (rest - under_way), under_way


COMPARED = {
    "hyperx:10x10,p=10 min": (
        45.4,
        138_942,
        {0.1: 0.03, 0.5: 0.09, 0.8: 0.2, 0.9: 0.3, 0.93: 0.55, 0.94: 0.65, 0.95: 0.56},
    ),
    "hyperx:10x10,p=10 dal": (
        95.2,
        136_919,
        {0.1: 0.06, 0.5: 0.16, 0.8: 0.31, 0.9: 0.55, 0.96: 0.92, 0.97: 1.27, 0.98: 1.08},
    ),
}
"""Seconds and cycles of the point at full load, which is nearly carried, and seconds of some others below it."""


def compared(number: int) -> list[Curve]:
    """Return new curves that have been measured, the first `number` of them with their points at full load."""
    curves = [Curve(name, "min", "min", "uniform", {}) for name in COMPARED]
    for curve, (seconds, cycles, _) in list(zip(curves, COMPARED.values(), strict=True))[:number]:
        full = point(1.0, 0.96, 1_000)
        curve.points = {1.0: full.model_copy(update={"wall_s": seconds, "cycles": cycles})}
    return curves


def test_points_below_full_load_take_fewer_cycles_than_one_that_is_nearly_carried():
    """Nine loads and some steps around the knee: a few seconds, not minutes, in a curve."""
    loads = [step / 10 for step in range(1, 10)]
    told = TimeLeft(compared(2), loads).seconds()
    least = sum(sum(others.values()) for *_, others in COMPARED.values())
    assert least <= told <= 5 * least
    # Of the second curve the point at full load is missing, which is expected to take as long as the other's.
    assert 45.4 <= TimeLeft(compared(1), loads).seconds() <= 1.5 * 45.4


def test_windows_of_a_given_length_take_as_long_at_all_loads():
    curves = [Curve("mesh:2x2", "min", "min", "uniform", {"measure": length}) for length in (None, 50_000)]
    for curve in curves:
        curve.points = {1.0: point(1.0, 0.5, 64).model_copy(update={"cycles": 50_000})}
    free, given = (TimeLeft([curve]).seconds() for curve in curves)
    assert free == pytest.approx(given / 10)


def test_a_point_that_takes_longer_than_expected_is_not_nearly_done():
    curve = Curve("mesh:2x2", "dor", "dor", "uniform", {})
    curve.points = {load: point(load, 0.5, 64) for load in (0.001, 1.0, 0.5)}
    left = TimeLeft([curve])
    whole = left.seconds()
    assert left.seconds(0.1) == pytest.approx(whole - 0.1)
    assert left.seconds(100.0) >= 50.0
