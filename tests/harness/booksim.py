"""How a point of the engine is held against one that BookSim2 measured."""

import json
import statistics
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

from harness.engine import simulate
from oracles.booksim import Point
from topoloom import _core


def run(point: Point, seed: int) -> dict[str, Any]:
    options = json.loads(point.options) | {"warmup": point.warmup, "measure": point.window, "seed": seed}
    return simulate(network_of(point.spec), point.routing, point.traffic, point.load, **options)


@cache
def network_of(spec: str) -> _core.Network:
    return _core.Network(spec)


def runs(point: Point, seeds: int) -> list[dict[str, Any]]:
    """The point with BookSim's own warm-up and window, once for each seed: two at a time."""
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(lambda seed: run(point, seed), range(1, seeds + 1)))


# BookSim looks ahead: it chooses among a router's outputs by the occupancies of up to three cycles before the packet is
# there. The engine decides on arrival, so its adaptive choice at every hop up is a little better: by this much at most.
LOOKAHEAD = 0.045


def disagreements(point: Point, seeds: int) -> Iterator[str]:
    """What is not as it should be, in sentences."""
    ours = runs(point, seeds)
    latencies = [run["latency_cycles"] for run in ours]
    mean, theirs = statistics.mean(latencies), point.latency
    assert theirs is not None
    # BookSim's error is that of one run of the same length; ours that of several.
    error = statistics.stdev(latencies) * (1 + 1 / seeds) ** 0.5
    detour = point.routing.startswith(("ugal", "val"))
    tolerance = max((0.05 if detour else 0.02) * theirs, 0.3, 3 * error)
    least = theirs - (max(tolerance, LOOKAHEAD * theirs) if point.routing == "anca" else tolerance)
    if not least <= mean <= theirs + tolerance:
        yield f"{point}: latency {mean:.3f}, BookSim's {theirs:.3f} (within {tolerance:.3f})"
    accepted = statistics.mean(run["accepted"] for run in ours)
    noise = statistics.stdev(run["accepted"] for run in ours) / seeds**0.5
    if abs(accepted - point.load) > 0.01 * point.load + 3 * noise:
        yield f"{point}: accepts {accepted:.5f}"
    hops = [run["hops"] for run in ours]
    error = statistics.stdev(hops) * (1 + 1 / seeds) ** 0.5
    if point.hops and abs(statistics.mean(hops) - point.hops) > max(0.01 * point.hops, 3 * error):
        yield f"{point}: {statistics.mean(hops):.4f} hops, BookSim's {point.hops:.4f}"
    if any(run["saturated"] or run["deadlocked"] for run in ours):
        yield f"{point}: called saturated or deadlocked"
