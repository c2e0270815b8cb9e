"""Plans: which loads of a curve are simulated, and in which order.

A *plan* yields batches of loads; when the points of a batch are in the curve, it is asked for the next one. Plans
see nothing but their own curve, so that the points do not depend on how many workers there are.
"""

import math
from collections.abc import Generator, Iterable, Iterator, Sequence

from topoloom.simulation.curves import MOST_LATENCY, Curve
from topoloom.simulation.points import ZERO_LOAD

RESOLUTION = 100
"""The saturation load is placed on a grid of this many parts of full load."""

LARGE = 4096
"""Terminals from which on a search starts near what is accepted at full load, not in the middle."""

GUESSES = 4
"""So many loads of a search are guessed from latencies; after them it halves what is left."""

FARTHEST = 0.2
"""How far a guess may be from the largest stable load: latencies of near loads say little of far ones."""

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
        yield from _bracket(curve, curve.points[most].accepted - 1 / RESOLUTION, highest, past=most)
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


def near_plan(curve: Curve, near: float, parts: int = RESOLUTION) -> Plan:
    """Look for the saturation load around `near`; then simulate one or two loads below it, for the curve.

    Steps from there double until one load is stable and another one is not; most of a bisection from afar is spared.
    Loads past the bound are never stable, and not simulated.

    Args:
        curve: The curve, which gets the points that the plan asks for.
        near: The load to begin at, in flits per terminal per cycle.
        parts: The loads that are searched are multiples of full load over this number; a coarse search has one load
            below the one that it finds.

    >>> import topoloom
    >>> next(near_plan(topoloom.network("mesh:4").simulate(load=0.1, warmup=50, measure=50), 0.5))
    [0.001]
    """
    yield [ZERO_LOAD]
    if parts < RESOLUTION:
        # Below saturation a simulation takes far less time than just past it.
        near = math.floor(near * parts * (1 + 1e-9)) / parts
    stable = yield from _bracket(curve, near, _below_bound(curve, parts), parts=parts)
    below = {_on_grid(stable / 2)} | ({_on_grid(0.8 * stable)} if parts >= RESOLUTION else set())
    yield sorted(load for load in below if load and load not in curve.points)


def _below_bound(curve: Curve, parts: int = RESOLUTION) -> float:
    """Return the largest load of the grid that terminals offer and that is not past the bound."""
    if curve.bound is None:
        return curve.most_load
    return min(curve.most_load, math.floor(curve.bound.saturation_bound * parts * (1 + 1e-9)) / parts)


def _bracket(
    curve: Curve, near: float, most: float, past: float = math.inf, parts: int = RESOLUTION
) -> Generator[list[float], None, float]:
    """Look for the saturation load around `near`, up to `most` and below `past`; return the largest stable load."""
    load = min(max(_on_grid(near, parts), 1 / parts), most)
    limit = min(most + 1 / parts, past)
    stable, unstable, step, guesses = 0.0, limit, 1, GUESSES
    while load not in (stable, unstable):
        yield [load]
        before = stable
        if curve.is_stable(load):
            stable = load
            load = min(_on_grid(load + step / parts, parts), most)
        else:
            unstable = load
            # What is accepted past saturation is about what can be carried.
            lower = load - step / parts
            load = max(_on_grid(lower if stable else min(lower, curve.points[load].accepted), parts), 0.0)
        step *= 2
        between = [part / parts for part in range(1, parts) if stable < part / parts < unstable]
        guess = None
        if guesses and 0 < before < stable:
            # Of two stable loads: past saturation a latency is only what it was when its run ended.
            guess = _crossing(curve, before, stable, parts)
        elif guesses and unstable < limit:
            guess = _crossing(curve, stable, unstable, parts)
        if between and guess is not None:
            guesses -= 1
            load = min(max(min(guess, _on_grid(stable + FARTHEST, parts)), between[0]), between[-1])
        elif not stable < load < unstable:
            load = between[len(between) // 2] if between else stable
    return stable


def _crossing(curve: Curve, stable: float, unstable: float, parts: int) -> float | None:
    """Guess the largest stable load from the latencies on both sides of it; None where they say nothing.

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
