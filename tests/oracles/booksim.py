"""BookSim2's measured curves (tests/data/booksim), and how a point of the engine is held against them."""

import csv
import json
import statistics
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from topoloom import _core

DATA = Path(__file__).parent.parent / "data" / "booksim" / "curves.csv"
KNEE = 0.9
"""Points up to this share of saturation are compared."""


@dataclass(frozen=True)
class Point:
    """One measured point, with all that the engine needs to run it. Loads are in flits."""

    case: str
    kind: str
    spec: str
    routing: str
    traffic: str
    options: str
    load: float
    accepted: float
    latency: float | None
    hops: float | None
    window: int
    warmup: int
    usable: bool

    def __str__(self) -> str:
        return f"{self.case} {self.load:g}"


def options_of(row: dict[str, str]) -> dict[str, Any]:
    # BookSim's UGAL runs a dragonfly on 3 VCs, which can deadlock; the engine's needs 4 classes.
    vcs = 4 if row["spec"].startswith("dragonfly") and row["routing"] == "ugal-l" else int(row["vcs"])
    return {
        "vcs": vcs,
        "buffer": int(row["buffer"]),
        "speedup": float(row["speedup"]),
        "routing_delay": int(row["routing_delay"]),
        "allocator": row["allocator"],
        "packet": int(row["packet"]),
        "links": {"terminal": 1, "local": int(row["local"]), "global": int(row["global"]), "up": 1, "internal": 1},
    }


@cache
def points() -> tuple[Point, ...]:
    with DATA.open(newline="") as file:
        rows = list(csv.DictReader(file))
    return tuple(
        Point(
            row["case"],
            row["kind"],
            row["spec"],
            row["routing"],
            row["traffic"],
            json.dumps(options_of(row)),
            float(row["load"]) * (int(row["packet"]) if row["kind"] == "curve" else 1),
            float(row["accepted"]),
            float(row["latency"]) if row["latency"] else None,
            float(row["hops"]) if row["hops"] else None,
            int(row["window"] or 0),
            int(row["warmup"] or 0),
            # 255 is BookSim's success; a curve point that it aborted as unstable says nothing.
            row["status"] == "exit255" and row["saturated"] != "1",
        )
        for row in rows
    )


def saturation(case: str) -> float:
    """The largest load that the case was seen to carry."""
    if case == "dfly4_min_baddragon":  # measured at one load only: the 32 terminals of a group share one link
        return 1 / 32
    return max(point.accepted for point in points() if point.case == case)


def below_the_knee(case: str) -> list[Point]:
    limit = KNEE * saturation(case)
    return [p for p in points() if (p.case, p.kind) == (case, "curve") and p.usable and p.load <= limit]


def cases() -> list[str]:
    return [case for case in dict.fromkeys(p.case for p in points()) if below_the_knee(case)]


def run(point: Point, seed: int) -> dict[str, Any]:
    options = json.loads(point.options) | {"warmup": point.warmup, "measure": point.window, "seed": seed}
    network = network_of(point.spec)
    text = _core.simulate(network, point.routing, point.traffic, point.load, json.dumps(options), _core.CancelToken())
    return json.loads(text)


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
