"""The twin torus: its routings against paths written from their rules, proofs and refusals, and exact static values."""

import networkx as nx
import pytest

from harness import engine
from harness.engine import channel_loads
from oracles import graphs, routes
from topoloom import TopoloomError, _core

ODD = ["3x3x2", "2x2x2", "2x4x3,p=2"]
SPLIT_BY_MORE_THAN_TWO = ["3x3x2", "2x4x3", "2x5x2", "2x2x3x2x2"]
EVEN = ["4x3", "2x3x2x2"]
TIES = ["source", "middle", "plus", "wrong", "coin"]


def proof_of(sides: str, routing: str) -> dict:
    return engine.proof_of(f"twin-torus:{sides}", routing)


def agrees(proof: dict, waits: nx.DiGraph) -> None:
    """The engine's dependencies are those of the paths, and so is its verdict."""
    assert (proof["channels"], proof["dependencies"]) == (waits.number_of_nodes(), waits.number_of_edges())
    assert proof["deadlock_free"] == nx.is_directed_acyclic_graph(waits)
    assert proof["unserved_pairs"] == 0


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("sides", ODD + EVEN)
def test_both_routings_are_free_of_deadlock_whatever_the_ties(sides, ties):
    graph = graphs.build(f"twin-torus:{sides}")
    for name, paths in (("ts-dor", routes.ts_dor), ("dort", routes.dort)):
        proof = proof_of(sides, f"{name}:ties={ties}")
        agrees(proof, routes.dependencies(graph, paths(graph, ties)))
        assert proof["deadlock_free"]
        assert proof["vcs_needed"] == 4


@pytest.mark.parametrize("sides", SPLIT_BY_MORE_THAN_TWO)
@pytest.mark.parametrize(
    ("routing", "rule"),
    [("internal-vcs=3", "3"), ("internal-vcs=2", "2"), ("internal-vcs=1", "1"), ("first=enter", "enter")],
)
def test_dort_needs_its_four_internal_vcs_and_the_split_ones_from_the_first_hop(sides, routing, rule):
    graph = graphs.build(f"twin-torus:{sides}")
    proof = proof_of(sides, f"dort:{routing}")
    agrees(proof, routes.dependencies(graph, routes.dort(graph, rule=rule)))
    assert not proof["deadlock_free"]
    assert proof["cycle"]


@pytest.mark.parametrize("sides", ODD + EVEN)
def test_both_orders_in_one_traffic_class_close_a_circle(sides):
    graph = graphs.build(f"twin-torus:{sides}")
    proof = proof_of(sides, "ts-dor:tc=shared")
    agrees(proof, routes.dependencies(graph, routes.ts_dor(graph, shared=True)))
    assert not proof["deadlock_free"]


@pytest.mark.parametrize("sides", [*ODD, *EVEN, "3x3x3", "2x2x3x2x2"])
def test_the_adaptive_variant_escapes_by_ts_dor(sides):
    proof = proof_of(sides, "duato")
    assert proof["deadlock_free"]
    assert (proof["method"], proof["states_without_escape"], proof["unserved_pairs"]) == ("escape", 0, 0)
    assert proof["vcs_needed"] == 6


def loads(spec: str, routing: str) -> dict[str, list[float]]:
    """The load of each channel, by the class of its link, if every terminal sends a flit per cycle to any other."""
    network = _core.Network(spec)
    kinds = {}
    for a, port_a, b, port_b, kind in network.edges():
        kinds[a, port_a] = kinds[b, port_b] = kind
    found: dict[str, list[float]] = {"local": [], "internal": []}
    for router, port, load in channel_loads(network, routing, "uniform:exclude-self"):
        found[kinds[router, port]].append(load)
    return found


def mean_hops(spec: str, routing: str) -> tuple[float, float]:
    """Hops between two terminals, and those of them over internal links, by the loads of all channels."""
    by_kind = loads(spec, routing)
    terminals = _core.Network(spec).num_terminals
    internal = sum(by_kind["internal"]) / terminals
    return sum(by_kind["local"]) / terminals + internal, internal


SIZES = {"4x4x2x2x2": "8x8x4", "4x4x2x4x2": "8x8x8", "4x4x2x4x4": "16x8x8"}


@pytest.mark.parametrize(
    ("sides", "single", "twin", "internal", "wrong", "dort"),
    [
        ("4x4x2x2x2", 5.020, 4.439, 0.925, 5.365, 4.867),
        ("4x4x2x4x2", 6.012, 4.963, 0.955, 5.918, 5.419),
        ("4x4x2x4x4", 8.008, 5.474, 0.970, 6.444, 5.944),
    ],
)
def test_static_distances(sides, single, twin, internal, wrong, dort):
    spec = f"twin-torus:{sides}"
    assert mean_hops(spec, "ts-dor") == pytest.approx((twin, internal), abs=5e-4)
    assert mean_hops(spec, "ts-dor:ties=wrong")[0] == pytest.approx(wrong, abs=5e-4)
    assert mean_hops(spec, "dort")[0] == pytest.approx(dort, abs=5e-4)
    assert mean_hops(f"torus:{SIZES[sides]}", "dor")[0] == pytest.approx(single, abs=5e-4)


@pytest.mark.parametrize(("sides", "most"), [("4x4x2x2x2", (8, 10)), ("4x4x2x4x2", (9, 12)), ("4x4x2x4x4", (10, 16))])
def test_longest_ways(sides, most):
    """TS-DOR is as short as the graph allows here: its mean is the graph's, and so its longest way."""
    twin, single = (_core.Network(spec) for spec in (f"twin-torus:{sides}", f"torus:{SIZES[sides]}"))
    assert (twin.facts()["diameter"], single.facts()["diameter"]) == most
    shortest = twin.facts()["average_distance"]
    assert mean_hops(f"twin-torus:{sides}", "ts-dor")[0] == pytest.approx(shortest)


@pytest.mark.parametrize(
    ("spec", "routing", "bound"),
    [
        ("twin-torus:4x4x2x2x2", "ts-dor", 0.996),
        ("twin-torus:4x4x2x4x2", "ts-dor", 0.998),
        ("twin-torus:4x4x2x4x4", "ts-dor", 0.999),
        ("twin-torus:4x4x2x2x2", "ts-dor:ties=middle", 0.664),
        ("twin-torus:4x4x2x4x4", "ts-dor:ties=middle", 0.666),
        ("torus:8x8x4", "dor", 0.996),
        ("torus:8x8x4", "dor:ties=plus", 0.797),
        ("torus:8x8x8", "dor:ties=minus", 0.798),
        ("torus:16x8x8", "dor:vc=upper-lower", 0.4995),
        ("torus:16x8x8", "dor:ties=plus", 0.444),
    ],
)
def test_channel_loads_bound_the_throughput(spec, routing, bound):
    assert 1 / max(max(of_kind, default=0) for of_kind in loads(spec, routing).values()) == pytest.approx(
        bound, abs=5e-4
    )


@pytest.mark.parametrize(
    ("sides", "routing", "paths"),
    [
        ("4x3x2", "ts-dor", routes.ts_dor),
        ("4x3x2", "ts-dor:ties=coin", lambda g: routes.ts_dor(g, "coin")),
        ("4x2x5", "dort:ties=wrong", lambda g: routes.dort(g, "wrong")),
        ("4x2,p=2", "ts-dor", routes.ts_dor),
    ],
)
def test_loads_are_those_of_the_paths(sides, routing, paths):
    spec = f"twin-torus:{sides}"
    graph = graphs.build(spec)
    homes, others = graph.homes, len(graph.homes) - 1
    flows = [(homes[a], homes[b], 1 / others) for a in range(others + 1) for b in range(others + 1) if a != b]
    exact = routes.loads(graph, paths(graph), [flow for flow in flows if flow[0] != flow[1]])
    for router, port, load in channel_loads(spec, routing, "uniform:exclude-self"):
        assert load == pytest.approx(exact.get((router, port), 0.0)), (router, port)


@pytest.mark.parametrize("spec", ["torus:4x6", "torus:2x4x3,double=true", "torus:5x2"])
@pytest.mark.parametrize("ties", ["coin", "plus", "minus"])
@pytest.mark.parametrize("rule", ["dateline", "upper-lower"])
def test_a_torus_of_single_cards_by_the_same_rules(spec, ties, rule):
    graph = graphs.build(spec)
    waits = routes.dependencies(graph, routes.dor_torus(graph, ties=ties, compares=rule == "upper-lower"))
    proof = engine.proof_of(spec, f"dor:ties={ties},vc={rule}")
    agrees(proof, waits)
    assert proof["deadlock_free"]


def test_without_even_sizes_no_rule_for_ties_is_needed():
    """Odd sizes know no ties: all rules are one."""
    spec = "twin-torus:3x5x3"
    [first, *others] = [loads(spec, f"ts-dor:ties={ties}") for ties in [*TIES, "none"]]
    for other in others:
        assert other == {kind: pytest.approx(found) for kind, found in first.items()}


@pytest.mark.parametrize(
    ("spec", "routing", "words"),
    [
        ("twin-torus:3x4x3", "ts-dor:ties=none", "dimension 1 of twin-torus:3x4x3 has an even size"),
        ("twin-torus:3x4x3", "ts-dor:ties=sources", "did you mean 'source'"),
        ("torus:4x4", "ts-dor", "torus:4x4 does not offer the routing 'ts-dor'"),
        ("mesh:4x4", "dor:ties=plus", "only a torus has two directions round"),
        ("torus:4x4", "dor:ties=plus,dateline=off", "ties and vc go with a dateline"),
    ],
)
def test_mistakes(spec, routing, words):
    with pytest.raises(TopoloomError, match=words):
        engine.proof_of(spec, routing)
