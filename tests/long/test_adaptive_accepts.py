"""What `adaptive` accepts on networks of a thousand terminals and more, beside minimal routing and Valiant's.

Run as a program, ``python tests/long/test_adaptive_accepts.py [SPEC…]``, this prints a table of all
cells as they are measured.
Everything but loads is left at its default.
"""

import sys
from dataclasses import dataclass
from functools import cache

import pytest

import topoloom
from topoloom import TopoloomError, _core

NETWORKS = (
    "dragonfly:a=8,h=4,p=4",
    "dragonfly:a=8,h=2,p=4",
    "dragonfly:a=8,h=4,p=8,g=9",
    "hyperx:10x10,p=10",
    "slimfly:q=9,p=6",
    "flex:6x6x3,p=10",
    "galaxyfly:n=15,q=29,a=1,p=7",
    "torus:8x8x8,p=2",
    "dragonfly-plus:leaf=8,spine=8,p=8,h=8,g=9",
)

TRAFFICS = (
    "uniform",
    "bit-complement",
    "transpose",
    "next-group",
    "worst-case",
    *(f"random-permutation:seed={seed}" for seed in (1, 2, 3)),
)

LOADS = [step / 10 for step in range(1, 11)]
LEAST = 0.9
"""Of the better of `min` and `val` at full load, and of the most that `adaptive` accepts at any load."""


@dataclass(frozen=True)
class Cell:
    """What routings accept on a network under a traffic, in flits per active terminal per cycle."""

    spec: str
    traffic: str
    routing: str
    min: float
    val: float
    full: float
    """What `adaptive` accepts at load 1 …"""
    most: float
    """… and at any load."""

    @property
    def of_better(self) -> float:
        return self.full / max(self.min, self.val)

    @property
    def of_most(self) -> float:
        return self.full / self.most

    @property
    def good(self) -> bool:
        return min(self.of_better, self.of_most) >= LEAST

    def __str__(self) -> str:
        numbers = (self.min, self.val, self.full, self.of_better, self.most, self.of_most)
        told = "".join(f"{number:9.3f}" for number in numbers)
        return f"{self.spec:42}{self.traffic:27}{self.routing:10}{told}  {'ok' if self.good else 'LESS'}"


HEAD = (
    f"{'network':42}{'traffic':27}{'adaptive':10}{'min':>9}{'val':>9}{'at 1':>9}{'of them':>9}{'most':>9}{'of it':>9}"
)


@cache
def exists(spec: str, traffic: str) -> bool:
    """Whether a pattern is defined on a network."""
    try:
        _core.Traffic(_core.Network(spec), traffic)
    except TopoloomError:
        return False
    return True


CELLS = [(spec, traffic) for spec in NETWORKS for traffic in TRAFFICS]


@cache
def measured(spec: str, traffic: str) -> Cell:
    network = topoloom.network(spec)
    least, most = (network.simulate(name, traffic, 1.0).points[1.0].accepted for name in ("min", "val"))
    curve = network.simulate("adaptive", traffic, LOADS)
    assert curve.accepted_max is not None
    return Cell(spec, traffic, curve.routing, least, most, curve.points[1.0].accepted, curve.accepted_max)


@pytest.mark.long
@pytest.mark.parametrize(("spec", "traffic"), CELLS, ids=[f"{spec} {traffic}" for spec, traffic in CELLS])
def test_adaptive_accepts_what_minimal_or_valiant_do_and_does_not_collapse(spec, traffic):
    if not exists(spec, traffic):
        pytest.skip("no such pattern on this network")
    cell = measured(spec, traffic)
    print(cell)
    assert cell.of_better >= LEAST, cell
    assert cell.of_most >= LEAST, cell


@pytest.mark.long
@pytest.mark.parametrize(
    ("traffic", "load", "other", "most"), [("next-group", 0.3, "val", 1.6), ("uniform", 0.8, "min", 1.15)]
)
def test_latency_below_saturation(traffic, load, other, most):
    network = topoloom.network(NETWORKS[0])
    latency = {name: network.simulate(name, traffic, load).points[load].latency_cycles for name in ("adaptive", other)}
    print(latency)
    assert latency["adaptive"] <= most * latency[other], latency


def main(specs: list[str]) -> int:
    """Print all cells; return how many fall short."""
    print(HEAD, flush=True)
    short = 0
    for spec in specs or NETWORKS:
        for traffic in TRAFFICS:
            if not exists(spec, traffic):
                print(f"{spec:42}{traffic:27}no such pattern", flush=True)
                continue
            cell = measured(spec, traffic)
            short += not cell.good
            print(cell, flush=True)
    return short


if __name__ == "__main__":
    raise SystemExit(min(main(sys.argv[1:]), 1))
