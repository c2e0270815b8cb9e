"""Facts of networks against networkx and against exhaustive search."""

import json
from collections import Counter
from functools import cache

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import topoloom
from oracles import graphs
from topoloom import _core


@cache
def core_facts(spec: str) -> dict:
    return json.loads(_core.Network(spec).facts_json())


def check_distances(spec: str) -> None:
    graph, facts = graphs.build(spec), core_facts(spec)
    simple = nx.Graph(graph.networkx())
    n, terminals = graph.routers, sum(graph.p)
    distance = dict(nx.all_pairs_shortest_path_length(simple))
    counts = Counter(d for row in distance.values() for d in row.values())
    assert facts["distance_histogram"] == [counts[d] for d in range(max(counts) + 1)]
    sizes = sorted(map(len, nx.connected_components(simple)), reverse=True)
    assert facts["component_sizes"] == sizes
    assert facts["connected"] == (len(sizes) == 1)
    assert facts["routers"] == n
    assert facts["terminals"] == facts["terminal_links"] == terminals
    assert facts["links"] == sum(map(len, graph.links)) // 2
    assert facts["network_radix"] == max(map(len, graph.links))
    assert facts["min_degree"] == min(map(len, graph.links))
    assert facts["radix"] == max(p + len(links) for p, links in zip(graph.p, graph.links, strict=True))
    assert facts["power_w"] == pytest.approx(2.8 * (2 * facts["links"] + terminals))
    if len(sizes) > 1:
        assert facts["diameter"] is facts["average_distance"] is facts["average_hops"] is facts["moore_ratio"] is None
        return
    diameter = nx.diameter(simple)
    assert facts["diameter"] == diameter
    degree = facts["network_radix"]
    moore = 1 + sum(degree * (degree - 1) ** d for d in range(diameter))
    assert facts["moore_ratio"] == pytest.approx(n / moore)
    if n > 1:
        assert facts["average_distance"] == pytest.approx(nx.average_shortest_path_length(simple))
    if terminals > 1:
        hops = sum(graph.p[a] * graph.p[b] * d for a, row in distance.items() for b, d in row.items())
        assert facts["average_hops"] == pytest.approx(hops / (terminals * (terminals - 1)))


@pytest.mark.parametrize(
    "spec",
    [
        "mesh:1",
        "mesh:8x8",
        "mesh:5x4x3,p=2",
        "torus:8x8",
        "torus:5x4x2",
        "torus:2x2,double=true",
        "hyperx:4x3x2,trunk=2",
        "hyperx:10x10,p=10",
        "hyperx:4x4,tile=2x2",
        "fattree:k=2,levels=4",
        "fattree:k=5,levels=3",
        "fattree:k=3,levels=2",
        "dragonfly:a=4,h=2,p=2",
        "dragonfly:a=8,h=4,p=4",
        "dragonfly:a=4,h=2,g=4",
        "dragonfly:a=5,h=1,g=2,p=3",
        "slimfly:q=5,p=4",
        "slimfly:q=8",
        "slimfly:q=9,p=6",
        "flex:6x6x3,p=10",
        "flex:3x3x2",
        "flex:3x4x5",
        "flex:3x3x8",
        # Without a path from everywhere to everywhere.
        "flex:2x2x2",
        "flex:2x2x4,p=3",
        "flex:1x1x3",
        "flex:1x2x2",
    ],
)
def test_distances_are_those_of_networkx(spec):
    check_distances(spec)


@settings(max_examples=40, deadline=None)
@given(
    family=st.sampled_from(["mesh", "torus", "hyperx", "flex"]),
    sides=st.lists(st.integers(1, 6), min_size=3, max_size=3),
    p=st.integers(1, 3),
)
def test_distances_on_grids_of_any_sides(family, sides, p):
    if family == "flex":
        sides = [*sides[:2], sides[2] + 1]
    check_distances(f"{family}:{'x'.join(map(str, sides))},p={p}")


BISECTED = [
    "mesh:4x4",
    "mesh:5x3",
    "mesh:2x2x4",
    "mesh:15",
    "torus:4x4",
    "torus:5x3",
    "torus:2x2x4",
    "torus:2x2x4,double=true",
    "torus:9",
    "hyperx:4x4,p=4",
    "hyperx:5x3",
    "hyperx:3x3,trunk=2",
    "hyperx:7",
    "dragonfly:a=3,h=1",
    "dragonfly:a=4,h=1,p=2",
    "dragonfly:a=2,h=2",
    "dragonfly:a=3,h=2,g=5",
    "slimfly:q=3",
    "flex:3x3x2",
    "flex:3x2x3",
    "flex:2x2x3,p=2",
]


@pytest.mark.parametrize("spec", BISECTED)
def test_the_bisection_of_small_networks_is_the_smallest_of_all(spec):
    facts = topoloom.network(spec).facts()
    exact = graphs.bisection(graphs.build(spec))
    assert facts["bisection_links"] == exact
    assert facts["bisection_ratio"] == pytest.approx(exact / facts["links"])
    assert facts["beta"] == pytest.approx(exact / (facts["terminals"] / 2))
    assert facts["bisection_is"] in {"exact", "upper-bound"}


@pytest.mark.parametrize(
    ("spec", "links"),
    [
        # k^(n-1) in an even mesh, twice that in a torus, (S/2)^2 S for each line of a HyperX of even sides.
        ("mesh:8x8", 8),
        ("mesh:4x4x4", 16),
        ("torus:8x8", 16),
        ("torus:4x4x4", 32),
        ("hyperx:8x8", 128),
        ("hyperx:6x4", 24),
        # N_R min(Nx, Ny) / 2: proved where the smaller side is even.
        ("flex:4x4x3", 96),
        ("flex:6x6x3", 324),
        ("flex:4x6x3", 144),
        # k^n / 2: full bisection.
        ("fattree:k=4,levels=2", 8),
        ("fattree:k=2,levels=4", 8),
    ],
)
def test_bisections_that_are_known(spec, links):
    assert topoloom.network(spec).facts()["bisection_links"] == links


@pytest.mark.parametrize("spec", ["hyperx:8x8", "flex:6x6x3,p=10", "flex:4x6x3"])
def test_bisections_that_are_proved(spec):
    facts = topoloom.network(spec).facts()
    assert facts["bisection_is"] == "exact"
