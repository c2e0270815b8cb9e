"""Deadlocks that must be, and those that must not."""

from itertools import pairwise

import networkx as nx
import pytest

from harness.engine import simulate
from oracles import graphs
from topoloom import _core

UNSAFE = [
    ("torus:8", {"buffer": 2}),
    ("torus:8", {"buffer": 2, "packet": 4}),
    ("torus:5", {"buffer": 1}),
    ("torus:4x4", {"buffer": 2}),
    ("torus:6x3,p=2", {"buffer": 4, "speedup": 1}),
    ("torus:8x8", {"buffer": 8}),
    ("torus:8", {"buffer": 5, "packet": 4, "flow": "vct"}),
    ("torus:8", {"buffer": 5, "packet": "1-4", "flow": "vct", "buffers": "shared:4"}),
    ("torus:8", {"buffer": 4, "packet": 3, "buffers": "shared:1"}),
    ("torus:4x4", {"buffer": 2, "allocator": "wavefront"}),
]


@pytest.mark.parametrize("length", [{"warmup": 500, "measure": 20_000}, {}], ids=["fixed", "open"])
@pytest.mark.parametrize(("spec", "options"), UNSAFE)
def test_a_torus_without_its_dateline_deadlocks_and_says_where(spec, options, length):
    point = simulate(spec, "dor", "uniform", 1.0, vcs=1, **{"unsafe": True}, **options, **length)
    assert point["deadlocked"]
    assert not point["converged"]
    found, graph = point["deadlock"], nx.Graph(graphs.build(spec).networkx())
    assert found["cycle"] <= point["cycles"]
    assert found["flits"] > 0
    assert found["routers"] == sorted(set(found["routers"]))
    circle = found["circle"]
    assert set(circle) <= set(found["routers"])
    # Each router of the circle once, each waiting for its neighbour; on a ring, one of its lines all the way round.
    assert len(set(circle)) == len(circle) > 2
    assert all(graph.has_edge(a, b) for a, b in pairwise([*circle, circle[0]]))


@pytest.mark.parametrize(
    ("spec", "routing", "options"),
    [
        ("torus:8", "dor", {"vcs": 2, "buffer": 1, "packet": 4}),
        ("torus:4x4", "val", {"vcs": 4, "buffer": 1, "packet": 3}),
        ("flex:3x3x3,p=2", "ugal-l", {"vcs": 4, "buffer": 1}),
        ("dragonfly:a=4,h=2,p=2", "ugal-l", {"vcs": 4, "buffer": 2, "packet": 3}),
        ("slimfly:q=4,p=4", "val", {"vcs": 4, "buffer": 1}),
        ("fattree:k=2,levels=3", "nca", {"vcs": 1, "buffer": 1, "packet": 5}),
        ("hyperx:3x3,p=3", "min", {"vcs": 2, "buffer": 1, "packet": 2}),
        ("torus:8", "dor", {"vcs": 2, "buffer": 4, "packet": 4, "flow": "vct"}),
        ("torus:8", "dor", {"vcs": 2, "buffer": 4, "packet": 4, "buffers": "shared:1"}),
        ("torus:4x4", "val", {"vcs": 4, "buffer": 3, "packet": "1-3", "buffers": "shared:3", "flow": "vct"}),
        ("torus:4x4", "val", {"vcs": 4, "buffer": 3, "packet": "1-3", "buffers": "shared:1", "flow": "vct"}),
        ("torus:8", "dor", {"vcs": 2, "buffer": 12, "packet": "1-8", "buffers": "shared:1", "flow": "vct"}),
        ("torus:4x4", "val", {"vcs": 4, "buffer": 5, "packet": "1-9", "buffers": "shared:1"}),
        ("flex:3x3x3,p=2", "ugal-l", {"vcs": 4, "buffer": 3, "packet": 5, "allocator": "wavefront"}),
        ("dragonfly:a=4,h=2,p=2", "ugal-l", {"vcs": 4, "buffer": 4, "packet": "1-4", "buffers": "shared:1"}),
    ],
)
def test_safe_routings_never_deadlock(spec, routing, options):
    point = simulate(spec, routing, "uniform", 1.0, warmup=0, measure=20_000, **options)
    assert not point["deadlocked"]
    assert point["accepted"] > 0.01
    assert point["saturated"]


def test_fewer_vcs_than_classes_are_refused():
    with pytest.raises(_core.TopoloomError, match="needs 2 VCs to be free of deadlock, but vcs is 1"):
        simulate("torus:4", "dor", "uniform", 0.1, vcs=1)
