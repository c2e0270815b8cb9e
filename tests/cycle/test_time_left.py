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
