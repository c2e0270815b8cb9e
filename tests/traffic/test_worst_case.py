"""`worst-case`: who sends to whom, and the load that follows on the busiest channel, as the families document it."""

import networkx as nx
import pytest
from test_patterns import chances, check

from harness.engine import bound_of
from oracles import graphs, patterns, routes
from topoloom import _core, network


def busiest(graph: graphs.Graph, paths: routes.Paths, found: list[patterns.Chances]) -> float:
    """Flits per cycle on the busiest channel between routers, at full load."""
    homes = graph.homes
    flows = [(homes[src], homes[dst], p) for src, each in enumerate(found) for dst, p in each.items()]
    return max(routes.loads(graph, paths, flows).values())


@pytest.mark.parametrize(
    ("sides", "p"), [((8,), 1), ((5,), 2), ((4, 4), 1), ((5, 3), 2), ((2, 6, 3), 1), ((7, 4), 3), ((3, 1, 4), 1)]
)
def test_grids(sides, p):
    size = "x".join(map(str, sides))
    longest = max(sides)
    makers = {
        "mesh": (patterns.opposite, routes.dor_mesh, longest // 2 * p),
        "torus": (patterns.tornado_by_one, routes.dor_torus, max((longest + 1) // 2 - 1, 1) * p),
        "hyperx": (patterns.tornado_by_one, lambda graph: routes.hyperx(graph, 1), p),
    }
    for family, (to, paths, load) in makers.items():
        spec = f"{family}:{size},p={p}"
        graph = graphs.build(spec)
        check(spec, "worst-case", patterns.by_routers(graph.homes, to(sides)))
        assert busiest(graph, paths(graph), chances(spec, "worst-case")) == pytest.approx(load)


def test_parallel_links_share_the_load():
    spec = "hyperx:3x4,p=6,trunk=3"
    graph = graphs.build(spec)
    assert busiest(graph, routes.hyperx(graph, 1), chances(spec, "worst-case")) == pytest.approx(2)


def test_a_tile_does_not_matter():
    """The i-th terminal of a router by its ports, whatever their ids."""
    homes = graphs.tile_homes((4, 3), (2, 2))
    found = chances("hyperx:4x3,tile=2x2", "worst-case")
    to = patterns.tornado_by_one((4, 3))
    assert [homes[next(iter(each))] for each in found] == [to[home] for home in homes]
    assert sorted(next(iter(each)) for each in found) == list(range(48))


@pytest.mark.parametrize(("a", "h", "p", "g", "links"), [(4, 2, 2, 9, 1), (2, 1, 3, 3, 1), (4, 2, 2, 5, 2)])
def test_dragonfly(a, h, p, g, links):
    spec = f"dragonfly:a={a},h={h},p={p},g={g}"
    graph = graphs.build(spec)
    check(spec, "worst-case", patterns.next_group(graph.homes, a))
    if links == 1:
        assert busiest(graph, routes.dragonfly(graph), chances(spec, "worst-case")) == pytest.approx(a * p)


@pytest.mark.parametrize(("nx_", "ny", "p"), [(3, 3, 1), (4, 5, 2), (6, 6, 2), (6, 3, 2)])
def test_flex(nx_, ny, p):
    spec = f"flex:{nx_}x{ny}x3,p={p}"
    graph = graphs.build(spec)
    check(spec, "worst-case", patterns.next_group(graph.homes, nx_ * ny))
    load = p * max(ny - 1 + 2 / (nx_ - 1), nx_ - 1) / (nx_ * ny)
    assert busiest(graph, routes.flex(graph), chances(spec, "worst-case")) == pytest.approx(load)


@pytest.mark.parametrize(("n", "q", "a", "p"), [(2, 3, 1, 1), (3, 5, 2, 2), (4, 9, 3, 1), (15, 29, 1, 7)])
def test_galaxyfly(n, q, a, p):
    """Any terminal of the next cluster."""
    spec = f"galaxyfly:n={n},q={q},a={a},p={p}"
    check(spec, "worst-case", patterns.next_group(graphs.build(spec).homes, q * a))


@pytest.mark.parametrize(
    ("n", "q", "a", "p"),
    [(4, 9, 3, 2), (3, 5, 5, 1), (4, 13, 4, 3), (6, 8, 5, 1), (3, 4, 1, 2), (3, 7, 1, 1), (2, 16, 1, 1)],
)
def test_the_busiest_link_of_a_galaxyfly(n, q, a, p):
    """A terminal takes no more than one sends; a supernode's packets share one link to the next cluster."""
    spec = f"galaxyfly:n={n},q={q},a={a},p={p}"
    graph = graphs.build(spec)
    bound = network(spec).bound("min", "worst-case")
    assert bound["max_terminal_load"] == pytest.approx(1)
    assert bound["max_channel_load"] == pytest.approx(
        busiest(graph, routes.galaxyfly(graph), chances(spec, "worst-case"))
    )
    if n == 2:  # there is no third cluster to go by
        assert bound["max_channel_load"] >= a * p * (1 - 1e-9)


@pytest.mark.parametrize("spec", ["galaxyfly:n=7,q=1,a=3,p=2", "galaxyfly:n=5,q=1,a=1"])
def test_a_galaxyfly_that_is_a_dragonfly(spec):
    graph = graphs.build(spec)
    check(spec, "worst-case", patterns.next_group(graph.homes, graph.extra["a"]))


@pytest.mark.parametrize(("k", "levels"), [(2, 2), (2, 4), (3, 2), (3, 3), (4, 2)])
def test_all_packets_cross_the_top_of_a_fat_tree(k, levels):
    spec = f"fattree:k={k},levels={levels}"
    graph = graphs.build(spec)
    found = chances(spec, "worst-case")
    check(spec, "worst-case", patterns.across(k**levels))
    paths = routes.nca(graph)
    homes = graph.homes
    assert all(len(paths(homes[s], homes[next(iter(to))])[0][1]) == 2 * (levels - 1) for s, to in enumerate(found))
    flows = [(homes[s], homes[next(iter(to))], 1.0) for s, to in enumerate(found)]
    loads = routes.loads(graph, paths, flows)
    assert len(loads) == 2 * k**levels * (levels - 1)
    assert all(load == pytest.approx(1) for load in loads.values())


@pytest.mark.parametrize(("q", "p"), [(3, 1), (4, 2), (5, 4), (7, 2), (9, 1)])
def test_the_next_subgroup_of_a_slim_fly(q, p):
    spec = f"slimfly:q={q},p={p}"
    graph = graphs.build(spec)
    check(spec, "worst-case", patterns.by_routers(graph.homes, patterns.next_subgroup(q)))
    paths = routes.table(graph)
    to = patterns.next_subgroup(q)
    assert all(len(paths(src, dst)) == 1 and len(paths(src, dst)[0][1]) == 2 for src, dst in enumerate(to))
    assert busiest(graph, paths, chances(spec, "worst-case")) == pytest.approx(2 * p)


def is_matched_far(spec: str, graph: nx.Graph, ends: list[int], p: int) -> None:
    """A permutation of the routers with terminals that no exchange of two makes longer, near the longest of all."""
    homes = [router for router in ends for _ in range(p)]
    found = [next(iter(each)) for each in chances(spec, "worst-case")]
    assert sorted(found) == list(range(len(homes)))
    to = {homes[s]: homes[t] for s, t in enumerate(found)}
    assert all(homes[t] == to[homes[s]] and t % p == s % p for s, t in enumerate(found))
    far = dict(nx.all_pairs_shortest_path_length(graph))
    for a in ends:
        for b in ends:
            assert far[a][to[a]] + far[b][to[b]] >= far[a][to[b]] + far[b][to[a]]
    both = nx.Graph()
    both.add_weighted_edges_from(((0, a), (1, b), far[a][b]) for a in ends for b in ends)
    longest = sum(both.edges[edge]["weight"] for edge in nx.max_weight_matching(both, maxcardinality=True))
    assert sum(far[a][to[a]] for a in ends) >= 0.9 * longest


@pytest.mark.parametrize(
    "spec",
    [
        "ring:24,degree=4,seed=3,p=2",
        "random-regular:30,degree=4,seed=2",
        "folded-hypercube:5,p=2",
        "random-regular:17,degree=6",
        # Here one pass of exchanges leaves some, and the first router and neighbours in the list have some to make.
        "random-regular:12,degree=3,seed=6",
        "random-regular:12,degree=3,seed=1",
        "random-regular:12,degree=3,seed=5",
    ],
)
def test_networks_that_say_nothing_get_a_long_matching(spec):
    network = _core.Network(spec)
    graph = nx.Graph((a, b) for a, _, b, *_ in network.edges())
    is_matched_far(spec, graph, sorted(graph), network.num_terminals // network.num_routers)


@pytest.mark.parametrize(
    ("spec", "routing", "load"),
    [
        ("hypercube:4,p=3", "dor", 3),
        ("clos:radix=4,levels=3", "nca", 1),
        ("xgft:down=4x4,up=2", "nca", 2),
        ("dragonfly-plus:leaf=2,spine=2,p=2,h=2,g=3", "min", 2),
    ],
)
def test_the_busiest_channel_of_other_families(spec, routing, load):
    """A complement, trees (the taper counts), and a Dragonfly+ of two links between its groups."""
    told = bound_of(spec, routing, "worst-case")
    assert told["max_channel_load"] == pytest.approx(load)
