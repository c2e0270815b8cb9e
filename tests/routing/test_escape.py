"""Escape channels and up*/down* against their definitions (oracles/escape.py), and proofs that fail as they must."""

import json

import networkx as nx
import pytest

from harness.engine import channel_loads, measured, proof_of
from oracles import escape, graphs, routes
from topoloom import TopoloomError, _core
from topoloom.network.networks import Network

IN_ORDER = {
    "mesh:4x3": (routes.dor_mesh, 1),
    "mesh:3x2x3": (routes.dor_mesh, 1),
    "torus:6": (routes.dor_torus, 2),
    "torus:4x4": (routes.dor_torus, 2),
    "torus:5x3x2": (routes.dor_torus, 2),
    "hyperx:4x3,p=2": (lambda g: routes.hyperx(g, 1), 1),
    "hyperx:3x3x2,trunk=2": (lambda g: routes.hyperx(g, 1), 1),
}
ANY = ["slimfly:q=3", "slimfly:q=5", "dragonfly:a=4,h=2,g=4", "fattree:k=2,levels=3", "flex:3x3x3", "torus:4x3"]


def check_escape(proof: dict, waits: nx.DiGraph, used: set, classes: int) -> None:
    assert nx.is_directed_acyclic_graph(waits)
    assert proof["deadlock_free"]
    assert proof["method"] == "escape"
    assert proof["states_without_escape"] == 0
    assert proof["unserved_pairs"] == 0
    assert proof["vcs_needed"] == classes
    assert proof["channels"] == len(used)
    assert proof["dependencies"] == waits.number_of_edges()


@pytest.mark.parametrize("spec", IN_ORDER)
def test_escapes_in_dimension_order_have_the_extended_dependencies_of_all_ways(spec):
    paths, classes = IN_ORDER[spec]
    graph = graphs.build(spec)
    options = escape.duato_in_order(graph, paths(graph), classes)
    check_escape(proof_of(spec, "duato"), *escape.extended_dependencies(graph, options, classes), classes + 1)


@pytest.mark.parametrize("spec", ANY)
def test_escapes_by_up_down(spec):
    graph = graphs.build(spec)
    root = graph.routers // 2
    found = escape.extended_dependencies(graph, escape.duato_up_down(graph, root), 1)
    check_escape(proof_of(spec, f"duato:root={root}"), *found, 2)


@pytest.mark.parametrize("spec", ANY)
def test_up_down_takes_the_shortest_legal_ways(spec):
    graph = graphs.build(spec)
    for root in (0, graph.routers - 1):  # on a tree, too, where a root is named
        waits = routes.dependencies(graph, escape.updown(graph, root))
        proof = proof_of(spec, f"updown:root={root}")
        assert nx.is_directed_acyclic_graph(waits)
        assert proof["deadlock_free"]
        assert proof["method"] == "acyclic"
        assert (proof["vcs_needed"], proof["unserved_pairs"]) == (1, 0)
        assert (proof["channels"], proof["dependencies"]) == (waits.number_of_nodes(), waits.number_of_edges())


@pytest.mark.parametrize("spec", ["slimfly:q=3", "dragonfly:a=4,h=2,g=4", "mesh:4x3"])
def test_the_root_has_the_shortest_ways(spec):
    """Small networks: every router is a candidate. Hops in simulation are those of a best root."""
    graph = graphs.build(spec)
    lengths = [escape.mean_length(graph, root) for root in range(graph.routers)]
    best = routes.mean_hops(graph, escape.updown(graph, lengths.index(min(lengths))))
    config = json.dumps({"warmup": 300, "measure": int(60_000 / sum(graph.p) / 0.1)})
    network = _core.Network(spec)
    point = measured(network, "updown", "uniform", 0.1, config)
    assert point["hops"] == pytest.approx(best, rel=0.01)


@pytest.mark.parametrize(
    "spec",
    ["fattree:k=3,levels=3", "clos:radix=4,levels=3", "xgft:down=3x2x2,up=3x2", "xgft:down=4x3x2,up=2x2,trunk=2x3"],
)
def test_on_a_tree_the_source_fixes_the_way_up(spec):
    proof = Network(spec).verify("updown")
    assert proof["deadlock_free"]
    assert (proof["method"], proof["vcs_needed"], proof["unserved_pairs"]) == ("acyclic", 1, 0)


def test_fixed_ways_up_are_shared_out_evenly():
    """k terminals per leaf, k ways up: uniform traffic loads all links up alike, as random ways do in the mean."""
    network = _core.Network("fattree:k=4,levels=3")
    loads = {(router, port): load for router, port, load in channel_loads(network, "updown", "uniform")}
    drawn = {(router, port): load for router, port, load in channel_loads(network, "nca", "uniform")}
    up = [(router, port) for router in range(32) for port in range(4, 8)]
    assert [loads[place] for place in up] == pytest.approx([drawn[place] for place in up])


@pytest.mark.parametrize("routing", ["updown", "nca"])
def test_links_side_by_side_share_the_load(routing):
    """As many links up as terminals at every level: uniform traffic loads all links of a trunk alike, up and down."""
    network = _core.Network("xgft:down=4x4x2,up=2x2,trunk=2x2")
    loads = {(router, port): load for router, port, load in channel_loads(network, routing, "uniform")}
    trunks = {}
    for a, port_a, b, port_b, _ in network.edges():
        trunks.setdefault((a, b), []).append(loads[a, port_a])
        trunks.setdefault((b, a), []).append(loads[b, port_b])
    assert {len(own) for own in trunks.values()} == {2}
    assert all(max(own) == pytest.approx(min(own)) for own in trunks.values())


UNSAFE = [
    # What is left out, and a torus or dragonfly on which that closes a cycle.
    ("torus:4x4", "dor:dateline=off", None),
    ("torus:5", "dor:dateline=off", None),
    ("torus:4x4", "dor", 1),
    ("torus:4x4", "duato:escape=off", None),
    ("torus:4x4", "val", 3),
    ("mesh:4x4", "duato:escape=off", None),
    ("mesh:4x4", "duato", 1),
    ("mesh:3x3", "val", 1),
    ("dragonfly:a=4,h=2,p=2", "min", 1),
    ("dragonfly:a=4,h=2,p=2", "ugal-l", 3),
    ("dragonfly:a=4,h=2,p=2", "par", 4),
    ("dragonfly:a=4,h=2,p=2", "ugal-l:vcs=booksim", None),
    ("hyperx:3x3", "min", 1),
    ("slimfly:q=5,p=3", "min", 1),
]


@pytest.mark.parametrize(("spec", "routing", "vcs"), UNSAFE)
def test_what_is_left_out_closes_a_cycle(spec, routing, vcs):
    proof = proof_of(spec, routing, vcs)
    assert not proof["deadlock_free"]
    assert proof["unserved_pairs"] == 0
    cycle = proof["cycle"]
    ends = {(a, port_a): b for a, port_a, b, _, _ in _core.Network(spec).edges()}
    ends |= {(b, port_b): a for a, _, b, port_b, _ in _core.Network(spec).edges()}
    for hop, after in zip(cycle, cycle[1:] + cycle[:1], strict=True):
        assert ends[hop["from"], hop["port"]] == hop["to"] == after["from"]


def test_the_shortest_cycle_on_a_ring_without_a_dateline_goes_round_it():
    assert len(proof_of("torus:6", "dor:dateline=off")["cycle"]) == 6
    assert proof_of("torus:3", "dor:dateline=off")["deadlock_free"], "all ways are one hop"


@pytest.mark.parametrize(
    ("spec", "routing", "traffic", "vcs"),
    [
        ("torus:8x8", "dor:dateline=off", "tornado", 1),
        ("torus:8", "dor", "tornado", 1),
        ("torus:8x8", "duato:escape=off", "uniform", 1),
        ("dragonfly:a=4,h=2,p=2", "ugal-l:vcs=booksim,bias=0", "next-group", 3),
        ("dragonfly:a=4,h=2,p=2", "min", "uniform", 1),
    ],
)
def test_the_watchdog_catches_what_the_proof_shows(spec, routing, traffic, vcs):
    """At full load, with buffers that fill quickly."""
    network = _core.Network(spec)
    config = {"vcs": vcs, "buffer": 2, "packet": 4, "warmup": 2000, "measure": 20_000}
    assert not proof_of(network, routing, vcs)["deadlock_free"]
    with pytest.raises(TopoloomError, match="--unsafe"):
        measured(network, routing, traffic, 1.0, json.dumps(config))
    config["unsafe"] = True
    point = measured(network, routing, traffic, 1.0, json.dumps(config))
    assert point["deadlock"] is not None


@pytest.mark.parametrize("packet", [1, 4, 16])
@pytest.mark.parametrize(
    ("spec", "traffic", "vcs"),
    [
        ("torus:8", "tornado", 3),
        ("torus:4x4", "uniform", 3),
        ("mesh:4x4", "transpose", 2),
        ("slimfly:q=3", "uniform", 2),
    ],
)
def test_escapes_keep_a_full_network_moving(spec, traffic, vcs, packet):
    """The VCs that the proof asks for, and buffers of a few flits: without the escapes this stands still."""
    network = _core.Network(spec)
    config = {"vcs": vcs, "buffer": 2, "packet": packet, "warmup": 2000, "measure": 8000}
    point = measured(network, "duato", traffic, 1.0, json.dumps(config))
    assert point["deadlock"] is None
    assert point["accepted"] > 0.01


def test_verify_says_how_many_vcs_are_missing(topoloom):
    outcome = topoloom("verify", "torus:4x4", "--routing", "dor", "--router", "vcs=1")
    assert outcome.status == 1
    assert "NOT deadlock free" in outcome.out
    assert "VCs needed    2" in outcome.out
    assert Network("torus:4x4").verify("dor", vcs=2)["deadlock_free"]


def test_a_deadlock_that_was_asked_for_ends_with_status_3(topoloom):
    line = "simulate torus:8 --routing dor:dateline=off --traffic tornado --load 1.0 --unsafe --packet 4"
    outcome = topoloom(*line.split(), "--router", "vcs=1,buffer=2")
    assert outcome.status == 3
    assert "deadlock" in outcome.err
