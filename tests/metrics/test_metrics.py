"""Facts of networks against networkx and against exhaustive search."""

from collections import Counter
from functools import cache
from math import comb

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import topoloom
from oracles import graphs
from topoloom import _core
from topoloom.network.bisection import candidates


@cache
def core_facts(spec: str) -> dict:
    return _core.Network(spec).facts()


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
        "twin-torus:4x4x2x2x2",
        "twin-torus:3x4x2,p=2",
        "twin-torus:4x3",
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
        "hypercube:6,p=2",
        "folded-hypercube:5",
        "clos:radix=8,levels=3",
        "clos:radix=8,levels=3,taper=2",
        "xgft:down=3x4x5,up=2x3",
        "dragonfly-plus:leaf=4,spine=4,p=2,h=2",
        "myriclos:32",
        "myriclos:512",
        "slimfly:q=5,p=4",
        "slimfly:q=8",
        "slimfly:q=9,p=6",
        "galaxyfly:n=2,q=5,a=1,p=2",
        "galaxyfly:n=3,q=13,a=1",
        "galaxyfly:n=4,q=9,a=1",
        "galaxyfly:n=5,q=7,a=4,p=2",
        "galaxyfly:n=17,q=5,a=6",
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


@pytest.mark.parametrize("n", range(2, 11))
def test_distances_of_hypercubes_in_closed_form(n):
    """n over d routers at distance d; folded, the complement's as well: half of the dimensions, rounded up."""
    histogram = [2**n * comb(n, d) for d in range(n + 1)]
    assert core_facts(f"hypercube:{n}")["distance_histogram"] == histogram
    folded = Counter()
    for d in range(n + 1):
        folded[min(d, n + 1 - d)] += histogram[d]
    found = core_facts(f"folded-hypercube:{n}")
    assert found["distance_histogram"] == [folded[d] for d in range(len(folded))]
    assert found["diameter"] == (n + 1) // 2


@pytest.mark.parametrize(("radix", "levels"), [(4, 2), (4, 5), (8, 3), (16, 3)])
def test_facts_of_clos_in_closed_form(radix, levels):
    facts, half = core_facts(f"clos:radix={radix},levels={levels}"), radix // 2
    assert facts["terminals"] == 2 * half**levels
    assert facts["routers"] == (2 * levels - 1) * half ** (levels - 1)
    assert facts["links"] == (levels - 1) * facts["terminals"]
    assert facts["radix"] == radix
    assert facts["diameter"] == 2 * levels - 2
    below = [half ** (level + 1) for level in range(levels - 1)] + [2 * half**levels]
    hops = sum(2 * level * (below[level] - below[level - 1]) for level in range(1, levels))
    assert facts["average_hops"] == pytest.approx(hops / (facts["terminals"] - 1))


@pytest.mark.parametrize(
    ("spec", "diameter", "average"),
    [
        ("hypercube:12", 12, 6.001),
        ("folded-hypercube:12", 6, 5.035),
        ("torus:8x8x4x4x4", 14, 7.002),
        ("hyperx:16x16x16", 3, 2.813),
    ],
)
def test_published_distances_of_4096_routers(spec, diameter, average):
    """Fujiwara et al., figures 3 to 8 at n = 12."""
    facts = core_facts(spec)
    assert facts["diameter"] == diameter
    assert facts["average_distance"] == pytest.approx(average, abs=6e-4)


@pytest.mark.parametrize(
    ("degree", "diameter", "average"), [(4, 10, 6.912), (10, 5, 3.906), (12, 5, 3.651), (13, 5, 3.564)]
)
def test_published_distances_of_rings_with_matchings(degree, diameter, average):
    """RING-4, -10, -12 and -13 of Fujiwara et al. at n = 12: theirs are the best of twenty."""
    facts = core_facts(f"ring:4096,degree={degree}")
    assert diameter <= facts["diameter"] <= diameter + 1
    assert facts["average_distance"] == pytest.approx(average, abs=0.012)


def test_random_regular_graphs_have_the_distances_of_those_of_networkx():
    theirs = [nx.average_shortest_path_length(nx.random_regular_graph(6, 200, seed=seed)) for seed in range(5)]
    ours = [core_facts(f"random-regular:200,degree=6,seed={seed}")["average_distance"] for seed in range(5)]
    assert sum(ours) / 5 == pytest.approx(sum(theirs) / 5, abs=0.01)


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
    "hypercube:4",
    "folded-hypercube:4",
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
        ("clos:radix=4,levels=3", 8),
        ("clos:radix=8,levels=2", 16),
        ("fattree:k=4,levels=2,taper=2", 4),
        ("hypercube:6", 32),
        ("folded-hypercube:6", 64),
    ],
)
def test_bisections_that_are_known(spec, links):
    assert topoloom.network(spec).facts()["bisection_links"] == links


def test_a_huge_grid_is_cut_across_its_dimensions_without_a_partitioner():
    """More than 400,000 routers: METIS would take most of the time of `show`, and find nothing smaller."""
    torus = topoloom.network("torus:1000x401")
    assert list(candidates(torus.core)) == []
    facts = torus.facts()
    assert (facts["bisection_links"], facts["bisection_is"], facts["diameter"]) == (802, "upper-bound", 700)


@pytest.mark.parametrize("spec", ["hyperx:8x8", "flex:6x6x3,p=10", "flex:4x6x3"])
def test_bisections_that_are_proved(spec):
    facts = topoloom.network(spec).facts()
    assert facts["bisection_is"] == "exact"


def slow_paths(graph: graphs.Graph) -> dict[tuple[int, int], int]:
    """The number of shortest paths between routers, by following every one; parallel links each."""
    simple = nx.Graph(graph.networkx())
    distance = dict(nx.all_pairs_shortest_path_length(simple))
    links = [Counter(peer for peer, _ in peers) for peers in graph.links]

    @cache
    def paths(at: int, to: int) -> int:
        if at == to:
            return 1
        closer = (peer for peer in links[at] if distance[peer].get(to, n) < distance[at][to])
        return sum(links[at][peer] * paths(peer, to) for peer in closer)

    n = graph.routers
    return {(a, b): paths(a, b) for a in range(n) for b in distance[a] if a != b}


@pytest.mark.parametrize(
    ("spec", "group_size"),
    [
        ("mesh:4x4", None),
        ("torus:4x3x2,double=true", None),
        ("hyperx:4x3,trunk=2", None),
        ("fattree:k=3,levels=3", None),
        ("dragonfly:a=4,h=2,p=2", 4),
        ("dragonfly:a=4,h=2,g=3", 4),
        ("slimfly:q=5,p=4", 5),
        ("slimfly:q=8", 8),
        ("galaxyfly:n=3,q=5,a=2,p=2", 10),
        ("galaxyfly:n=5,q=1,a=2", 2),
        ("flex:4x3x3", 12),
        ("flex:3x3x5", 9),
        ("flex:2x2x4", 4),
    ],
)
def test_numbers_of_shortest_paths(spec, group_size):
    graph = graphs.build(spec)
    found = slow_paths(graph)
    facts = topoloom.network(spec).facts()
    assert facts["shortest_paths_min"] == min(found.values())
    assert facts["shortest_paths_max"] == max(found.values())
    assert facts["shortest_paths_mean"] == pytest.approx(sum(found.values()) / len(found))
    assert not facts["shortest_paths_overflow"]
    pairs = graph.routers * (graph.routers - 1)
    several = [(a, b) for (a, b), paths in found.items() if paths > 1]
    assert facts["multipath_share"] == pytest.approx(len(several) / pairs)
    if group_size is None:
        assert facts["multipath_share_intra"] is facts["multipath_share_inter"] is None
        return
    intra = sum(a // group_size == b // group_size for a, b in several)
    assert facts["multipath_share_intra"] == pytest.approx(intra / pairs)
    assert facts["multipath_share_inter"] == pytest.approx((len(several) - intra) / pairs)


def test_shortest_paths_of_large_networks_are_counted_on_request_only():
    large = _core.Network("mesh:120x120")
    assert large.path_diversity(False) is None
    asked = large.path_diversity(True)
    assert (asked["shortest_paths_min"], asked["shortest_paths_overflow"]) == (1, True)
    # Two routers of one row or column have one path.
    assert asked["multipath_share"] == pytest.approx(1 - 2 * 119 / (120 * 120 - 1))


def test_sampled_distances_say_so():
    network = topoloom.network("dragonfly:a=6,h=3,p=3")
    exact, some = network.facts(), network.facts(sample=20, seed=3)
    assert exact["distance_sample"] is None
    assert exact["diameter_at_least"] == exact["diameter"] == 3
    assert some["distance_sample"]["sources"] == 20
    assert some["distance_sample"]["seed"] == 3
    assert some["diameter"] is some["moore_ratio"] is None
    assert some["diameter_at_least"] <= 3
    assert sum(some["distance_histogram"]) == 20 * exact["routers"]
    width = some["distance_sample"]["average_distance_ci95"]
    assert some["average_distance"] == pytest.approx(exact["average_distance"], abs=2 * width + 1e-9)
    assert network.facts(sample=20, seed=3) == some
    assert network.facts(sample=10**6) == exact
    with pytest.raises(topoloom.TopoloomError, match="sample is 0; it must be a whole number from 1"):
        network.facts(sample=0)
