"""Plans: which loads of a curve are simulated, and in which order.

A *plan* yields batches of loads; when the points of a batch are in the curve, it is asked for the next one. Plans
see nothing but their own curve, so that the points do not depend on how many workers there are.
"""

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence

from topoloom.simulation.curves import LEAST_ACCEPTED, MOST_LATENCY, Curve
from topoloom.simulation.points import ZERO_LOAD

RESOLUTION = 100
"""The saturation load is placed on a grid of this many parts of full load."""

LARGE = 4096
"""Terminals from which on a search starts near what is accepted at full load, not in the middle."""

GUESSES = 8
"""This many loads of a search are guessed from latencies; after them steps double, or halve what is left."""

FARTHEST = 0.2
"""How far a guess may be from the largest stable load: latencies of near loads prove little about far ones."""

BELOW = (0.5, 0.8)
"""A search near a load begins at these parts of it …"""

COARSE_BELOW = (0.5, 0.6)
"""… a coarse one at these, as past saturation queues may fill for ten thousand cycles …"""

COARSE_NEAR_FULL = (0.8,)
"""… and at this one where nearly full load is carried."""

Plan = Iterator[list[float]]


def fixed_plan(loads: Sequence[float]) -> Plan:
    """Ask for `loads`, whatever comes out.

    Args:
        loads: The loads, in flits per terminal per cycle.

    >>> list(fixed_plan([0.1, 0.2]))
    [[0.1, 0.2]]
    """
    yield list(loads)


def search_plan(curve: Curve, coarse: Iterable[float] = ()) -> Plan:
    """Look for the saturation load by bisection, first among `coarse` loads, then to 0.01.

    In a network of at least :data:`LARGE` terminals the search for the load alone starts near what is accepted at full
    load, below the bound if there is one; it simulates fewer points, and the same load is found.

    Args:
        curve: The curve, which gets the points that the plan asks for.
        coarse: Loads that are tried first.

    >>> import topoloom
    >>> next(search_plan(topoloom.network("mesh:4").simulate(load=0.1, warmup=50, measure=50)))
    [0.001]
    """
    yield [ZERO_LOAD]
    most = curve.most_load
    yield [most]
    stable, unstable = 0.0, most
    if curve.is_stable(most):
        return
    coarse = sorted(coarse)
    if not coarse and curve.points[most].active_terminals >= LARGE:
        highest = _below_bound(curve)
        # Queues past saturation accept a little more than any stable load.
        near = (round(curve.points[most].accepted * RESOLUTION) - 1) / RESOLUTION
        yield from _closing_in(curve, near, highest, RESOLUTION)
        return
    fine = [step / RESOLUTION for step in range(1, RESOLUTION)]
    for grid in (coarse, fine):
        while between := [load for load in grid if stable < load < unstable]:
            middle = between[len(between) // 2]
            yield [middle]
            if curve.is_stable(middle):
                stable = middle
            else:
                unstable = middle


def near_plan(curve: Curve, near: float, parts: int = RESOLUTION, highest: float = 1.0) -> Plan:
    """Look for the saturation load around `near`, from two loads below it, which a curve needs anyway.

    Simulations below saturation are short. Their latencies, with those that follow, show where the latency is three
    times that of an empty network, so that few loads are simulated just past saturation, which takes longest. Loads
    past the bound are never stable, and not simulated.

    Args:
        curve: The curve, which gets the points that the plan asks for.
        near: The load to look around, in flits per terminal per cycle.
        parts: The loads that are searched are multiples of full load over this number.
        highest: The largest load to simulate, where those above are known not to be stable.

    >>> import topoloom
    >>> next(near_plan(topoloom.network("mesh:4").simulate(load=0.1, warmup=50, measure=50), 0.5))
    [0.001]
    """
    yield [ZERO_LOAD]
    bound = _below_bound(curve, parts)
    fine, full = parts >= RESOLUTION, min(near, bound) >= LEAST_ACCEPTED
    most = min(bound, highest)
    near = min(near, most)
    begins = BELOW if fine else COARSE_NEAR_FULL if full else COARSE_BELOW
    below = {max(math.floor(part * near * parts + 1e-9), 1) / parts for part in begins}
    for load in sorted(load for load in below if load <= most):
        yield [load]
        if not curve.is_stable(load):
            break
    yield from _closing_in(curve, near, most, parts)


def highest_stable(traffic: str, parts: int) -> float:
    """Return the largest of the loads that are multiples of full load over `parts` and may be stable under a traffic.

    Where terminals draw their destinations, a channel to a terminal is busy all the time at full load. Packets come to
    it at random, so that its queue grows without end, if slowly.

    Args:
        traffic: The traffic pattern, unchecked.
        parts: The number of parts.

    >>> highest_stable("uniform", 20), highest_stable("worst-case", 20)
    (0.95, 1.0)
    """
    return (parts - 1) / parts if traffic == "uniform" else 1.0


def _closing_in(curve: Curve, near: float, most: float, parts: int) -> Plan:
    """Look for the saturation load between the points that there are, up to `most`, first at `near` or below it."""
    grid = sorted({part / parts for part in range(1, math.floor(most * parts + 1e-9) + 1)} | {most})
    step = 1
    for attempt in itertools.count():
        stable = sorted(load for load in curve.points if load != ZERO_LOAD and curve.is_stable(load))
        unstable = min((load for load in curve.points if load != ZERO_LOAD and load not in stable), default=math.inf)
        between = [load for load in grid if (stable[-1] if stable else 0.0) < load < unstable]
        if not between:
            return
        guess = _guessed(curve, stable, unstable, parts) if attempt < GUESSES else None
        if attempt == 0 and near < unstable:
            load = near if guess is None else min(guess, near)
        elif guess is not None:
            load = guess
        else:
            # What is accepted past saturation is about what can be carried.
            last = curve.points.get(unstable)
            load = stable[-1] + step / parts if last is None else min(unstable - step / parts, last.accepted)
            step *= 2
            if not between[0] <= load <= between[-1]:
                load = between[len(between) // 2]
        load = math.floor(load * parts + 1e-9) / parts
        yield [min(max(load, between[0]), between[-1])]


def _guessed(curve: Curve, stable: Sequence[float], unstable: float, parts: int) -> float | None:
    """Guess the saturation load: from the two largest stable loads, and from the ends of what is left."""
    pairs = [(stable[-2], stable[-1])] if len(stable) > 1 else []
    if stable and unstable < math.inf:
        pairs.append((stable[-1], unstable))
    guesses = [guess for low, high in pairs if (guess := _crossing(curve, low, high, parts)) is not None]
    return min([*guesses, stable[-1] + FARTHEST]) if guesses else None


def _below_bound(curve: Curve, parts: int = RESOLUTION) -> float:
    """Return the largest load of the grid that terminals offer and that is not past the bound."""
    if curve.bound is None:
        return curve.most_load
    return min(curve.most_load, math.floor(curve.bound.saturation_bound * parts * (1 + 1e-9)) / parts)


def _crossing(curve: Curve, stable: float, unstable: float, parts: int) -> float | None:
    """Guess the largest stable load from the latencies on both sides of it; None where they do not show it.

    Waiting grows as one over what is left up to the capacity. Its inverse is a straight line.
    """
    empty, pair = curve.zero_load_latency, (stable, unstable)
    latencies = [curve.points[load].latency_cycles for load in pair if load]
    if empty is None or len(latencies) < len(pair) or None in latencies:
        return None
    waits = [latency - empty for latency in latencies if latency is not None]
    if not 0 < waits[0] < waits[1]:
        return None
    (x, y), (other, lower) = ((load, 1 / wait) for load, wait in zip(pair, waits, strict=True))
    crossing = x + (y - 1 / ((MOST_LATENCY - 1) * empty)) * (other - x) / (y - lower)
    return math.floor(crossing * parts + 1e-9) / parts


def knee_plan(curve: Curve, loads: Sequence[float]) -> Plan:
    """Place the saturation load, then fill in those of `loads` that lie below it.

    Args:
        curve: The curve, which gets the points that the plan asks for.
        loads: The loads that make the curve.

    >>> import topoloom
    >>> next(knee_plan(topoloom.network("mesh:4").simulate(load=0.1, warmup=50, measure=50), [0.1, 0.2]))
    [0.001]
    """
    yield from search_plan(curve, loads)
    stable = max((load for load in curve.points if curve.is_stable(load)), default=0.0)
    yield [load for load in loads if load < stable]


def bend_plan(curve: Curve, loads: Sequence[float], tolerance: float) -> Plan:
    """Place points where the curve bends, up to the first load past saturation.

    The range is that of `loads`, and one load is past saturation. Below it, straight lines between the points follow
    the curve: an interval is halved while an end of it is further than `tolerance` from the line between its
    neighbours, as a share of its latency. No interval becomes narrower than 0.01.

    Args:
        curve: The curve, which gets the points that the plan asks for.
        loads: The loads whose range the curve has.
        tolerance: The largest distance from a straight line, as a share of the latency.

    >>> import topoloom
    >>> next(bend_plan(topoloom.network("mesh:4").simulate(load=0.1, warmup=50, measure=50), [0.1, 0.5], 0.05))
    [0.001]
    """
    first, last = min(loads), min(max(loads), curve.most_load)
    yield [ZERO_LOAD]
    yield [last]
    stable, unstable = 0.0, last
    # A load and a half of an even grid: enough to see where the curve leaves the picture.
    while not curve.is_stable(last) and unstable - stable > 1.5 / RESOLUTION:
        middle = _on_grid((stable + unstable) / 2)
        yield [middle]
        if curve.is_stable(middle):
            stable = middle
        else:
            unstable = middle
    yield [first]
    while batch := _bends(curve, tolerance):
        yield batch


def _bends(curve: Curve, tolerance: float) -> list[float]:
    """Return the middles of the intervals at whose ends the curve bends too much."""
    known = [
        (load, latency)
        for load in sorted(curve.points)
        if curve.is_stable(load) and (latency := curve.points[load].latency_cycles) is not None
    ]
    new = set()
    for (a, low), (b, mid), (c, high) in zip(known, known[1:], known[2:], strict=False):
        line = low + (high - low) * (b - a) / (c - a)
        if abs(line - mid) > tolerance * mid:
            wide = (a, b) if b - a > c - b else (b, c)
            new.add(_on_grid(sum(wide) / 2))
    return sorted(new - set(curve.points))


def _on_grid(load: float, parts: int = RESOLUTION) -> float:
    return round(load * parts) / parts
