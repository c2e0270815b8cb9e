"""Every family, link by link, against definitions written a second time (tests/oracles/graphs.py, fields.py)."""

from collections import Counter
from functools import cache

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import topoloom
from harness.lengths import with_long
from oracles import graphs
from oracles.fields import Field, prime_power
from topoloom import _core


def ports(network: _core.Network) -> list[dict[int, tuple[int, str]]]:
    """For each router, by port: the peer and the class of each link. Checks that every link has two ends."""
    found: list[dict[int, tuple[int, str]]] = [{} for _ in range(network.num_routers)]
    for a, port_a, b, port_b, kind in network.edges():
        assert a < b, "the end with the smaller id stands first"
        for router, port, peer in ((a, port_a, b), (b, port_b, a)):
            assert port not in found[router], f"port {port} of router {router} has two links"
            found[router][port] = (peer, kind)
    return found


def check(spec: str) -> None:
    """The engine's network has the oracle's links at the oracle's ports; terminals stand on the first ports."""
    network, oracle = _core.Network(spec), graphs.build(spec)
    assert network.num_routers == oracle.routers
    assert network.num_terminals == sum(oracle.p)
    for router, links in enumerate(ports(network)):
        wanted = {oracle.port(router, place): link for place, link in enumerate(oracle.links[router])}
        assert links == wanted, f"{spec}: router {router}"


@pytest.mark.parametrize(
    "spec",
    [
        "mesh:1",
        "mesh:7,p=3",
        "mesh:8x8",
        "mesh:4x3x2,p=2",
        "mesh:2x2x2x2",
        "mesh:3x1x4",
        "torus:8x8",
        "torus:5",
        "torus:2",
        "torus:2x2x2",
        "torus:4x3x1x2,p=2",
        "torus:2,double=true",
        "torus:2x3,double=true",
        "torus:2x2x3,double=true,p=3",
        "torus:16x8x8",
        "torus:4x3,twist=0:1/0:0",
        "torus:3x4x5,twist=0:2:3/0:0:4/0:0:0",
        "torus:4x3x2,p=2,twist=0:0:0/2:0:0/3:2:0",
        "torus:1x1x12,twist=0:0:5/0:0:8/0:0:0",
        "torus:2x4,twist=0:2/0:0",
        "torus:1x2x6,twist=0:0:3/0:0:0/0:0:0",
        "torus:1x2x6,double=true,twist=0:1:3/0:0:0/0:0:0",
        "cayley:7x3,turn=2,generators=1,7",
        "cayley:13x4,turn=5,generators=1,13,40,p=2",
        "cayley:8x2,turn=7,generators=8,9,4",
        "cayley:4x4x4,turn=1,2,generators=1,17,34",
        "cayley:2x2x2x7,turn=1,1,0,generators=3,8",
        "cayley:12,generators=1,6,4",
        "cayley:4x3x2,generators=1,5,12",
        "twin-torus:4x4x2x2x2",
        "twin-torus:2x2x2",
        "twin-torus:3x4x5,p=2",
        "twin-torus:3x2",
        "twin-torus:2x3x4x2,p=3",
        "twin-torus:2x2x2x2x2x3x2",
        "hyperx:10x10,p=10",
        "hyperx:6",
        "hyperx:4x3x2",
        "hyperx:4x3x2,trunk=2",
        "hyperx:3x1x2,trunk=3,p=2",
        "hyperx:4x4,tile=2x2",
        "hyperx:3x2,tile=2x4",
        "fattree:k=2,levels=2",
        "fattree:k=2,levels=5",
        "fattree:k=3,levels=4",
        "fattree:k=4,levels=3",
        "fattree:k=10,levels=3",
        "fattree:k=4,levels=3,taper=2",
        "fattree:k=6,levels=3,taper=1.5x4",
        "fattree:k=3,levels=4,taper=1x1x3",
        "hypercube:1",
        "hypercube:8",
        "hypercube:5,p=3",
        "folded-hypercube:2",
        "folded-hypercube:7,p=2",
        "clos:radix=4,levels=2",
        "clos:radix=16,levels=3",
        "clos:radix=6,levels=4",
        "clos:radix=4,levels=5",
        "clos:radix=8,levels=3,taper=2",
        "clos:radix=12,levels=3,taper=1.5x2",
        "clos:radix=12,levels=2,taper=5",
        "xgft:down=3x4,up=2",
        "xgft:down=4x2x3,up=3x5",
        "xgft:down=2x3x2x4,up=2x1x3",
        "xgft:down=1x1x1,up=2x3",
        "xgft:down=3x2x3,up=2x2,trunk=2x3",
        "xgft:down=32x32x10,up=32x5,trunk=1x6",
        "xgft:down=32x32x16,up=32x32",
        "dragonfly:a=8,h=4,p=4",
        "dragonfly:a=4,h=2,p=2",
        "dragonfly:a=1,h=5",
        "dragonfly:a=5,h=1,p=3",
        "dragonfly:a=4,h=2,g=1",
        "dragonfly:a=4,h=2,g=2",
        "dragonfly:a=4,h=2,g=3",
        "dragonfly:a=4,h=2,g=5",
        "dragonfly:a=4,h=2,g=6",
        "dragonfly:a=4,h=2,g=8",
        "dragonfly:a=3,h=3,g=4",
        "dragonfly:a=3,h=2,g=6",
        "dragonfly-plus:leaf=8,spine=8,p=8,h=8",
        "dragonfly-plus:leaf=2,spine=3,h=2",
        "dragonfly-plus:leaf=4,spine=2,h=1,p=3",
        "dragonfly-plus:leaf=1,spine=1,h=4",
        "dragonfly-plus:leaf=2,spine=2,h=2,g=1",
        "dragonfly-plus:leaf=3,spine=2,h=2,p=2,g=2",
        "dragonfly-plus:leaf=4,spine=4,p=2,h=2,g=8",
        "dragonfly-plus:leaf=4,spine=3,p=2,h=2,g=4",
        *(f"myriclos:{2**n}" for n in range(5, 14)),
        "slimfly:q=9,p=6",
        "flex:6x6x3,p=10",
        "flex:4x3x2",
        "flex:2x2x3",
        "flex:1x4x3",
        "flex:3x4x4",
        *(f"flex:3x4x{layers},p=2" for layers in range(5, 13)),
        "galaxyfly:n=1,q=1,a=1",
        "galaxyfly:n=1,q=1,a=6,p=2",
        "galaxyfly:n=6,q=1,a=1",
        "galaxyfly:n=9,q=1,a=4,p=2",
        "galaxyfly:n=1,q=9,a=3,h=2",
        "galaxyfly:n=15,q=29,a=1,p=7",
        "galaxyfly:n=11,q=7,a=20,h=1",
        "galaxyfly:n=3,q=49,a=4",
        "nesttree:t=2,u=8,endpoints=64,upper=4x2",
        "nesttree:t=2,u=4,endpoints=96,upper=2x3x4",
        "nesttree:t=4,u=2,endpoints=256,upper=4x8x4",
        "nesttree:t=3,u=1,endpoints=108,upper=6x2x9",
        "nesttree:t=4,u=8,endpoints=512,upper=64,attach=published",
        "nestghc:t=2,u=8,endpoints=64,upper=2x4",
        "nestghc:t=2,u=1,endpoints=48,upper=2x2x3x4",
        "nestghc:t=4,u=4,endpoints=256,upper=4x4x4",
        "nestghc:t=6,u=2,endpoints=432,upper=6x36",
    ],
)
def test_links_and_ports(spec):
    check(spec)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(1, 5), min_size=2, max_size=3), st.permutations(range(3)), st.randoms())
def test_twists_of_any_kind(sides, order, random):
    place = [d for d in order if d < len(sides)]
    rows = [
        ":".join(
            str(random.randrange(side)) if place.index(d) < place.index(to) else "0" for to, side in enumerate(sides)
        )
        for d in range(len(sides))
    ]
    check(f"torus:{'x'.join(map(str, sides))},twist={'/'.join(rows)}")


@pytest.mark.parametrize(
    ("spec", "degree", "diameter"),
    [
        ("cayley:13x4,turn=5,generators=1,13", 4, 4),
        ("cayley:2x2x2x7,turn=1,1,0,generators=8,9", 4, 6),
        ("cayley:4x4x4,turn=1,2,generators=1,17,34", 5, 4),
    ],
)
def test_cayley_graphs_look_the_same_from_every_router(spec, degree, diameter):
    graph = _core.Network(spec)
    linked = nx.Graph((a, b) for a, _, b, _, _ in graph.edges())
    assert set(dict(linked.degree()).values()) == {degree}
    profiles = {tuple(sorted(nx.single_source_shortest_path_length(linked, router).values())) for router in linked}
    assert len(profiles) == 1
    assert max(profiles.pop()) == diameter == graph.facts().diameter


def test_groups_and_generators_that_there_are_not_are_named():
    mistakes = {
        "cayley:7x3,turn=2": "generators is missing",
        "cayley:7x3,turn=3,generators=1,7": "does not lead back to 1",
        "cayley:7x3,turn=2,1,generators=1,7": "a number for each size but the last, 1",
        "cayley:7x5x3,turn=2,1,generators=1,7": "must be the same",
        "cayley:7x3,turn=9,generators=1,7": "below the first size, 7",
        "cayley:7x3,turn=2,generators=1,21": "from 1 to 20",
        "cayley:7x3,turn=2,generators=1,6": "the generators 1 and 6 make the same links",
        "cayley:7x3,turn=2,generators=1,2": "reach 7 of 21 routers",
        "cayley:7x3,trun=2,generators=1,7": "did you mean 'turn'",
    }
    for spec, sentence in mistakes.items():
        with pytest.raises(topoloom.TopoloomError, match=sentence):
            _core.Network(spec)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(*[st.integers(1, 4)] * 2, st.integers(1, 3)), min_size=2, max_size=4))
def test_trees_of_any_widths(widths):
    down, up, trunk = ("x".join(map(str, side)) for side in zip(*widths, strict=True))
    check(f"xgft:down={down},up={up.rpartition('x')[0]},trunk={trunk.rpartition('x')[0]}")


@settings(max_examples=30, deadline=None)
@given(
    half=st.integers(2, 5), levels=st.integers(2, 4), tapers=st.lists(st.sampled_from(["1", "1.5", "2"]), max_size=3)
)
def test_clos_of_any_radix_levels_and_taper(half, levels, tapers):
    taper = f",taper={'x'.join(tapers[: levels - 1])}" if tapers else ""
    check(f"clos:radix={2 * half},levels={levels}{taper}")


def test_a_k_ary_tree_is_an_extended_generalised_one():
    for k, levels in [(2, 4), (3, 3), (4, 2)]:
        links = [_core.Network(spec).edges() for spec in (f"fattree:k={k},levels={levels}", xgft(k, levels))]
        assert links[0] == links[1]


@pytest.mark.parametrize(
    ("terminals", "routers", "tiers", "cabinets"),
    [
        (32, 6, (4, 2), 1),
        (64, 12, (8, 4), 1),
        (128, 24, (16, 8), 1),
        (256, 80, (32, 32, 16), 2),
        (512, 160, (64, 64, 32), 3),
        (1024, 320, (128, 128, 64), 6),
        (2048, 896, (256, 256, 256, 128), 12),
        (4096, 1792, (512, 512, 512, 256), 24),
    ],
)
def test_sizes_of_myriclos_are_those_of_table_1(terminals, routers, tiers, cabinets):
    """Table 1 of Fujiwara et al.: switches, switches of each tier, switch-only cabinets."""
    network = topoloom.network(f"myriclos:{terminals}")
    assert (network.num_terminals, network.num_routers) == (terminals, routers)
    # Terminals take the first ports of a router: eight on the first tier, none on the others.
    ends = {router for router, links in enumerate(ports(network.core)) if min(links) == 8}
    levels = nx.multi_source_dijkstra_path_length(nx.Graph(network.to_networkx()), ends, weight=None)
    assert Counter(levels.values()) == Counter(dict(enumerate(tiers)))
    assert len(network.layout("family").floor()["cabinets"]) == cabinets


def simple(spec: str) -> nx.Graph:
    """The graph, checked to have no link twice."""
    graph = nx.Graph()
    edges = _core.Network(spec).edges()
    graph.add_edges_from((a, b) for a, _, b, _, _ in edges)
    assert graph.number_of_edges() == len(edges), f"{spec}: a link stands twice"
    return graph


@pytest.mark.parametrize(
    ("routers", "degree"), [(3, 2), (4, 3), (6, 5), (64, 4), (1000, 13), (33, 2), (40, 20), (12, 9), (20, 19)]
)
def test_rings_have_random_matchings_that_are_perfect(routers, degree):
    for seed in (1, 2):
        spec = f"ring:{routers},degree={degree},p=2,seed={seed}"
        assert all(d == degree for _, d in simple(spec).degree())
        found = ports(_core.Network(spec))
        for router, links in enumerate(found):
            peers = [links[port][0] for port in sorted(links)]
            assert peers[:2] == [(router + 1) % routers, (router - 1) % routers]
            for rank, peer in enumerate(peers[2:], 2):
                assert found[peer][2 + rank] == (router, "local"), "matching n is on port n of both ends"


@pytest.mark.parametrize(
    ("routers", "degree"), [(2, 1), (4, 3), (5, 2), (64, 6), (1024, 16), (15, 14), (16, 13), (101, 4), (300, 3)]
)
def test_random_regular_graphs_are_regular_simple_and_connected(routers, degree):
    for seed in (1, 2):
        spec = f"random-regular:{routers},degree={degree},seed={seed}"
        graph = simple(spec)
        assert len(graph) == routers
        assert all(d == degree for _, d in graph.degree())
        assert nx.is_connected(graph)
        assert all(sorted(links) == list(range(1, degree + 1)) for links in ports(_core.Network(spec)))
        assert all(
            [links[port][0] for port in sorted(links)] == sorted(peer for peer, _ in links.values())
            for links in ports(_core.Network(spec))
        )


@pytest.mark.parametrize("spec", ["ring:64,degree=5", "random-regular:64,degree=5"])
def test_random_links_follow_their_seed(spec):
    of = {seed: _core.Network(f"{spec},seed={seed}").edges() for seed in (0, 1, 7, 8)}
    assert of[7] == _core.Network(f"{spec},seed=7").edges()
    assert of[1] == _core.Network(spec).edges()
    assert len({str(edges) for edges in of.values()}) == 4


def test_every_pair_of_routers_is_as_likely_linked_as_any_other():
    """Of 8 routers with 3 links each, over 4,000 seeds: 3/7 of the time, within five standard deviations."""
    counts = Counter(
        (a, b)
        for seed in range(4000)
        for a, _, b, _, _ in _core.Network(f"random-regular:8,degree=3,seed={seed}").edges()
    )
    sigma = (4000 * 3 / 7 * 4 / 7) ** 0.5
    assert len(counts) == 28
    assert all(abs(count - 4000 * 3 / 7) < 5 * sigma for count in counts.values())


def xgft(k: int, levels: int) -> str:
    down, up = ("x".join([str(k)] * n) for n in (levels, levels - 1))
    return f"xgft:down={down},up={up}"


@pytest.mark.parametrize("dimensions", range(2, 9))
def test_hypercubes_are_those_of_networkx(dimensions):
    theirs = nx.relabel_nodes(
        nx.hypercube_graph(dimensions), lambda bits: sum(bit << place for place, bit in enumerate(bits))
    )
    ours = {(a, b) for a, _, b, _, _ in _core.Network(f"hypercube:{dimensions}").edges()}
    assert ours == {(min(edge), max(edge)) for edge in theirs.edges()}


sides = st.lists(st.integers(1, 5), min_size=1, max_size=4).map(lambda sides: "x".join(map(str, sides)))
concentrations = st.integers(1, 3)


@settings(max_examples=40, deadline=None)
@given(family=st.sampled_from(["mesh", "torus", "hyperx"]), sides=sides, p=concentrations)
def test_grids_of_any_sides(family, sides, p):
    check(f"{family}:{sides},p={p}")


@settings(max_examples=25, deadline=None)
@given(sides=sides, trunk=st.integers(1, 3))
def test_trunks_of_any_width(sides, trunk):
    check(f"hyperx:{sides},trunk={trunk}")


@settings(max_examples=30, deadline=None)
@given(a=st.integers(1, 6), h=st.integers(1, 4), data=st.data(), p=concentrations)
def test_dragonflies_of_any_number_of_groups(a, h, data, p):
    g = data.draw(st.integers(1, a * h + 1))
    rest = a * h % (g - 1) if g > 1 else 0
    spec = f"dragonfly:a={a},h={h},g={g},p={p}"
    if rest % 2 == 0 or g % 2 == 0:
        check(spec)
        return
    # Which port stays unused is the engine's choice: all groups but one have all their links, pairs nearly as many.
    network = _core.Network(spec)
    between = Counter((i // a, j // a) for i, _, j, _, kind in network.edges() if kind == "global")
    degrees = Counter(group for pair in between.elements() for group in pair)
    assert sorted(degrees.values()) == [a * h - 1] + [a * h] * (g - 1)
    shares = [between[i, j] for i in range(g) for j in range(i + 1, g)]
    assert set(shares) <= {a * h // (g - 1), a * h // (g - 1) + 1}


@pytest.mark.parametrize("arrangement", ["relative", "palmtree", "circulant"])
def test_arrangements_lead_where_they_say(arrangement):
    a, h, g = 4, 2, 9
    orders = {
        "relative": list(range(1, g)),
        "palmtree": list(range(-1, -g, -1)),
        "circulant": [way * step for step in range(1, g // 2 + 1) for way in (1, -1)],
    }
    network = _core.Network(f"dragonfly:a={a},h={h},p=2,arrangement={arrangement}")
    for router, links in enumerate(ports(network)):
        group, own = divmod(router, a)
        to = [peer // a for _, (peer, kind) in sorted(links.items()) if kind == "global"]
        assert to == [(group + step) % g for step in orders[arrangement][own * h : (own + 1) * h]]


PRIME_POWERS = [3, 4, 5, 7, 8, 9, 11, 13, 16, 17, 19, 23, 25, 27]


@pytest.mark.parametrize("q", PRIME_POWERS)
def test_slim_fly_edge_for_edge(q):
    check(f"slimfly:q={q}")


@pytest.mark.parametrize("q", [3, 4, 5, 8, 9, 11, 16, 25, 27, 32])
def test_slim_fly_by_degree_and_diameter(q):
    delta = {1: 1, 3: -1, 0: 0}[q % 4]
    facts = _core.Network(f"slimfly:q={q}").facts()
    assert facts["routers"] == 2 * q * q
    assert facts["network_radix"] == facts["min_degree"] == (3 * q - delta) // 2
    assert facts["diameter"] == 2


def test_orders_that_are_no_prime_power_are_refused():
    for q in range(1, 132):
        if not prime_power(q) or q == 2:
            with pytest.raises(_core.TopoloomError, match=f"q is {q}; it must be a prime power but 2"):
                _core.Network(f"slimfly:q={q}")
        elif q <= 64:
            assert _core.Network(f"slimfly:q={q}").num_routers == 2 * q * q


WIRINGS = ["G", "absolute", "relative", "palmtree", "round-robin"]


@settings(max_examples=60, deadline=None)
@given(
    n=st.integers(1, 6),
    q=st.sampled_from([1, 3, 4, 5, 7, 8, 9, 11, 13, 16, 25, 27]),
    a=st.integers(1, 6),
    more=st.integers(0, 2),
    wiring=st.sampled_from(WIRINGS),
    p=concentrations,
)
def test_galaxyflies_of_any_parameters(n, q, a, more, wiring, p):
    degree = len(graphs.galaxy(n, q)[0])
    check(f"galaxyfly:n={n},q={q},a={a},p={p},h={-(-degree // a) + more},wiring={wiring}")
    if more == 0:
        check(f"galaxyfly:n={n},q={q},a={a},p={p},wiring={wiring}")


def test_a_random_wiring_joins_the_same_supernodes_otherwise():
    def joined(spec):
        edges = [(i, j) for i, _, j, _, kind in _core.Network(spec).edges() if kind == "global"]
        return edges, Counter((i // 4, j // 4) for i, j in edges)

    spec = "galaxyfly:n=4,q=9,a=4"
    plain, drawn, again, other = (
        joined(spec + keys) for keys in ("", *[f",wiring=random,seed={s}" for s in (1, 1, 2)])
    )
    assert plain[1] == drawn[1] == other[1]
    assert set(drawn[1].values()) == {1}
    assert drawn == again
    assert len({tuple(sorted(edges)) for edges, _ in (plain, drawn, other)}) == 3
    degrees = Counter(router for edge in drawn[0] for router in edge)
    assert [degrees[r] for r in range(4)] == [2, 2, 2, 1], "7 links on 4 routers of 2 ports"


@pytest.mark.parametrize("spec", ["galaxyfly:n=9,q=1,a=4,p=2", "galaxyfly:n=19,q=1,a=6,p=3,wiring=palmtree"])
def test_with_q_1_a_galaxyfly_is_a_dragonfly(spec):
    """Rule G is then the absolute arrangement."""
    keys = dict(item.split("=") for item in spec.partition(":")[2].split(","))
    h = (int(keys["n"]) - 1) // int(keys["a"])
    dragonfly = f"dragonfly:a={keys['a']},h={h},p={keys['p']},arrangement={keys.get('wiring', 'absolute')}"
    assert ports(_core.Network(spec)) == ports(_core.Network(dragonfly))


@pytest.mark.parametrize("q", [3, 4, 5, 7, 8, 9, 11, 13, 16, 17, 19, 23, 25, 27, 29, 31, 32])
def test_galaxy_graphs_have_diameter_2(q):
    for n in (1, 2, 3, 6):
        told = _core.Network(f"galaxyfly:n={n},q={q},a=1").facts()
        assert told["diameter"] == (1 if (n, q) == (1, 3) else 2)
        assert told["network_radix"] == told["min_degree"] == n - 1 + len(Field(q).generator_sets()[0])


@settings(max_examples=15, deadline=None)
@given(n=st.integers(1, 5), q=st.sampled_from([1, 3, 4, 5, 7, 8, 9, 11]), a=st.integers(2, 5), seed=st.integers(0, 9))
def test_no_wiring_has_a_diameter_above_5(n, q, a, seed):
    for wiring in (*WIRINGS, f"random,seed={seed}"):
        told = _core.Network(f"galaxyfly:n={n},q={q},a={a},wiring={wiring}").facts()
        assert told["diameter"] <= 5


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("galaxyfly:n=3,q=2,a=2", "q is 2; it must be a prime power but 2: the nearest is 3"),
        ("galaxyfly:n=3,q=6,a=2", "q is 6; it must be a prime power but 2, such as 5 or 7"),
        (
            "galaxyfly:n=3,q=5,a=2,h=1",
            "h is 1; a supernode of 2 routers has 4 links to others, so that h must be at least 2",
        ),
        ("galaxyfly:n=3,q=5,a=2,wiring=relativ", "unknown wiring 'relativ' .did you mean 'relative'"),
        ("galaxyfly:n=3,q=5,a=2,seed=1", "seed is for wiring=random only; the wiring is G"),
        ("galaxyfly:n=0,q=5,a=2", "n is 0; it must be a whole number from 1 up"),
        ("galaxyfly:n=3,q=5", "a is missing"),
        ("galaxyfly:n=65536,q=65537,a=9", "routers"),
    ],
)
def test_galaxyflies_that_cannot_be(spec, words):
    with pytest.raises(_core.TopoloomError, match=words):
        _core.Network(spec)


@cache
def library():
    return pytest.importorskip("galois", reason="the library of finite fields is not installed")


@pytest.mark.parametrize("q", with_long([32, 49, 64, 81, 128], lambda q: q == 128))
def test_larger_slim_flies_by_their_first_column_of_either_subgraph(q):
    """The links of routers (s, 1, y), from the definition; the others repeat them, translated."""
    field_ = Field(q)
    sets = field_.generator_sets()
    network = _core.Network(f"slimfly:q={q}")
    found = {router: [] for side in (0, 1) for router in range(side * q * q + q, side * q * q + 2 * q)}
    for a, port_a, b, port_b, _ in network.edges():
        for router, port, peer in ((a, port_a, b), (b, port_b, a)):
            if router in found:
                found[router].append((port, peer))
    for router, links in found.items():
        side, y = router // (q * q), router % q
        inside = [router - y + field_.add(y, g) for g in sets[side]]
        # (0, 1, y) - (1, m, y - m) and (1, 1, c) - (0, x, x + c)
        across = [(1 - side) * q * q + m * q + field_.add(y, m if side else field_.neg(m)) for m in range(q)]
        assert [peer for _, peer in sorted(links)] == inside + across


@pytest.mark.parametrize("q", [4, 8, 9, 16, 25, 27, 32, 49, 64, 81, 121, 125, 128])
def test_the_oracles_fields_are_those_of_a_library(q):
    galois, ours = library(), Field(q)
    polynomial = galois.Poly([1, *reversed(ours.modulus)], field=galois.GF(ours.p, compile="python-calculate"))
    assert polynomial.is_primitive()
    theirs = galois.GF(q, irreducible_poly=polynomial, compile="python-calculate")
    elements = theirs(np.arange(q))
    assert np.array_equal(np.add.outer(elements, elements), [[ours.add(a, b) for b in range(q)] for a in range(q)])
    assert np.array_equal(np.multiply.outer(elements, elements), [[ours.mul(a, b) for b in range(q)] for a in range(q)])


@pytest.mark.parametrize("q", [5, 8, 9])
def test_slim_fly_over_the_librarys_own_field(q):
    """Another polynomial and root give another labelling: the same degrees, distances, triangles and bipartite core."""
    field = library().GF(q, compile="python-calculate")
    root, elements = field.primitive_element, field.elements
    delta = {1: 1, 3: -1, 0: 0}[q % 4]
    generators = [root ** (2 * i) for i in range((q - delta) // 2)]
    graph = nx.Graph()
    for side, scale in ((0, field(1)), (1, root)):
        for x in range(q):
            graph.add_edges_from(
                ((side, x, int(y)), (side, x, int(y + g * scale))) for y in elements for g in generators
            )
    graph.add_edges_from(
        ((0, int(x), int(m * x + c)), (1, int(m), int(c))) for x in elements for m in elements for c in elements
    )
    ours = graphs.build(f"slimfly:q={q}").networkx()
    assert sorted(d for _, d in graph.degree()) == sorted(d for _, d in ours.degree())
    assert nx.diameter(graph) == 2
    assert sum(nx.triangles(graph).values()) == sum(nx.triangles(nx.Graph(ours)).values())
    spectra = [np.linalg.eigvalsh(nx.to_numpy_array(g)) for g in (graph, nx.Graph(ours))]
    assert np.allclose(*spectra, atol=1e-8)


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("flex:6x6x3,p=10", []),
        ("flex:3x3x3", []),
        ("flex:2x4x3", ["a side is 2", "Algorithm 1"]),
        ("flex:1x4x3", ["a side is 1", "Algorithm 1"]),
        ("flex:6x6x2", ["two layers", "Algorithm 1"]),
        ("flex:2x2x2", ["a side is 2", "two layers", "Algorithm 1"]),
        ("flex:6x6x5", ["Algorithm 1"]),
    ],
)
def test_a_flex_says_what_does_not_hold(spec, words):
    notes = topoloom.network(spec).notes
    assert len(notes) == len(words)
    assert all(word in note for word, note in zip(words, notes, strict=True))


def test_dragonflies_with_fewer_links_between_groups_than_their_ports_allow():
    """32 global ports per group, 8 of them per pair of groups; with links=N only N, and all other ports unused."""
    for links in (1, 3, 8):
        network = topoloom.network(f"dragonfly:a=8,h=4,g=5,links={links}")
        pairs = Counter(tuple(sorted((a // 8, b // 8))) for a, _, b, _, _ in network.edges() if a // 8 != b // 8)
        assert pairs == {(i, j): links for i in range(5) for j in range(i + 1, 5)}
    with pytest.raises(topoloom.TopoloomError, match="links is 9; 32 global ports per group allow at most 8 between"):
        topoloom.network("dragonfly:a=8,h=4,g=5,links=9")
    two = topoloom.network("dragonfly:a=2,h=2,g=2,links=4")
    assert sum(a // 2 != b // 2 for a, _, b, _, _ in two.edges()) == 4, "all ports join the only pair"


def test_a_dragonfly_that_is_too_large_is_counted_without_being_built():
    a, h, p = 3001, 4001, 7
    groups = a * h + 1
    links = groups * a * (a - 1) // 2 + groups * a * h // 2
    told = f"{groups * a} routers, {groups * a * p} terminals and {links} links"
    with pytest.raises(topoloom.TopoloomError, match=told):
        topoloom.network(f"dragonfly:a={a},h={h},p={p}")
