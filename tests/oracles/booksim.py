"""BookSim2's measured curves (tests/data/booksim)."""

import csv
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

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
            # BookSim decides once, by credits alone.
            "ugal-l:rule=booksim" if row["routing"] == "ugal-l" else row["routing"],
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
