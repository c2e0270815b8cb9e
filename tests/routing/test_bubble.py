"""Bubbles in the rings of tori: the proof, what it rests on, and the router that keeps them."""

import networkx as nx
import pytest

from harness.engine import proof_of, simulate
from oracles import graphs, routes, sources
from oracles.router import Options, Simulation
from topoloom import TopoloomError, _core

BUBBLE = "dor:bubble=on"


@pytest.mark.parametrize(
    "spec", ["torus:4", "torus:5", "torus:5x3", "torus:4x4", "torus:4x5,p=2", "torus:5x4x3", "torus:6x6"]
)
def test_every_cycle_lies_within_a_ring(spec):
    """By all paths: without the rings' own dependencies nothing is cyclic, nor are the rings among each other."""
    graph = graphs.build(spec)
    waits = routes.dependencies(graph, routes.dor_torus(graph, dateline=False))
    rings = routes.rings(graph)
    ring_of = {hop: number for number, ring in enumerate(rings) for hop in ring}
    assert not nx.is_directed_acyclic_graph(waits)
    for cycle in nx.strongly_connected_components(waits):
        assert len({ring_of[hop] for hop in cycle}) == 1
        assert len(cycle) in (1, len(rings[ring_of[next(iter(cycle))]]))
        # Round it goes, and no other way.
        inside = waits.subgraph(cycle)
        assert len(cycle) == 1 or all(degree == 1 for _, degree in inside.out_degree)
    order = nx.DiGraph((ring_of[a], ring_of[b]) for a, b in waits.edges if ring_of[a] != ring_of[b])
    assert nx.is_directed_acyclic_graph(order)
    proof = proof_of(spec, BUBBLE)
    assert (proof["deadlock_free"], proof["method"], proof["cycle"]) == (True, "bubble", [])
    assert (proof["vcs_needed"], proof["unserved_pairs"]) == (1, 0)
    assert proof["channels"] == waits.number_of_nodes()
    assert proof["dependencies"] == waits.number_of_edges()
    assert not proof_of(spec, "dor:dateline=off")["deadlock_free"]


SLOW = [
    ("torus:5x3", 0.45, Options(vcs=1, buffer=2, speedup=1, vct=True, bubble=1)),
    ("torus:5", 0.7, Options(vcs=1, buffer=6, speedup=1, packet=3, vct=True, bubble=3)),
    ("torus:5x5", 0.5, Options(vcs=2, buffer=6, speedup=2, packet=3, vct=True, bubble=3)),
    ("torus:5x3", 0.4, Options(vcs=1, buffer=10, speedup=1, packet="1-5", vct=True, bubble=5)),
    (
        "torus:5x3,p=2",
        0.3,
        Options(vcs=2, buffer=9, speedup=1.5, packet="1:3,4:1", vct=True, bubble=4, routing_delay=1),
    ),
    ("torus:5x5", 0.5, Options(vcs=3, buffer=8, speedup=1, packet="2-4", vct=True, bubble=4, allocator="islip")),
    ("torus:7", 0.5, Options(vcs=2, buffer=5, speedup=1, packet=2, vct=True, bubble=2, allocator="wavefront")),
]


@pytest.mark.parametrize(("spec", "load", "options"), SLOW, ids=[f"{s} {n}" for n, (s, *_) in enumerate(SLOW)])
def test_flit_for_flit_as_the_slow_router(spec, load, options):
    """Given the engine's own packets, the slow router moves every one of them in the very same cycles."""
    warmup, measure, seed = 200, 600, 5
    terminals = _core.Network(spec).num_terminals
    made = [sources.Engine(seed, i, load, terminals, options.packet) for i in range(terminals)]
    graph = graphs.build(spec)
    theirs = Simulation(graph, routes.dor_torus(graph, dateline=False), options, made).run(warmup, measure)
    ours = simulate(
        spec,
        BUBBLE,
        "uniform",
        load,
        **options.of_the_engine(),
        seed=seed,
        warmup=warmup,
        measure=measure,
    )
    assert theirs.packets == ours["packets"]
    assert theirs.latency == pytest.approx(ours["latency_cycles"] * ours["packets"], abs=1e-6)
    assert theirs.network_latency == pytest.approx(ours["network_latency_cycles"] * ours["packets"], abs=1e-6)
    assert theirs.hops == pytest.approx(ours["hops"] * ours["packets"], abs=1e-6)


@pytest.mark.parametrize("vcs", [1, 2])
@pytest.mark.parametrize(("packet", "largest"), [(1, 1), (4, 4), ("1-4", 4), ("1:0.8,8:0.2", 8)])
@pytest.mark.parametrize(("spec", "traffic"), [("torus:8", "tornado"), ("torus:4x4", "uniform")])
def test_two_packets_of_buffer_keep_a_full_torus_moving(spec, traffic, packet, largest, vcs):
    """At full load, in the smallest buffers allowed; the same torus without bubbles stands still."""
    options = {"vcs": vcs, "buffer": 2 * largest, "packet": packet, "flow": "vct", "warmup": 2000, "measure": 15_000}
    point = simulate(spec, BUBBLE, traffic, 1.0, **options)
    assert point["deadlock"] is None
    assert point["accepted"] > 0.05
    assert simulate(spec, "dor:dateline=off", traffic, 1.0, **options, unsafe=True)["deadlock"] is not None


def test_bubbles_do_not_depend_on_threads():
    options = {"buffer": 8, "packet": "1-4", "flow": "vct", "warmup": 100, "measure": 300}
    one, two = (simulate("torus:5x4", BUBBLE, "uniform", 0.5, **options, threads=threads) for threads in (1, 2))
    assert one["latency_cycles"] == two["latency_cycles"]


@pytest.mark.parametrize(
    ("routing", "options", "sentence"),
    [
        (BUBBLE, {"buffer": 8}, "flow=vct"),
        (BUBBLE, {"flow": "vct", "buffer": 8, "buffers": "shared:4"}, "buffers=private"),
        (BUBBLE, {"flow": "vct", "buffer": 7, "packet": "1-4"}, "give 8 or more"),
        ("dor:bubble=on,dateline=on", {"flow": "vct"}, "leave out one"),
        ("dor:bubble=yes", {}, "bubble"),
    ],
)
def test_what_bubbles_need(routing, options, sentence):
    with pytest.raises(TopoloomError, match=sentence):
        simulate("torus:4x4", routing, "uniform", 0.1, **options)


def test_only_a_torus_keeps_bubbles():
    with pytest.raises(TopoloomError, match="only a torus"):
        proof_of("mesh:4x4", BUBBLE)
