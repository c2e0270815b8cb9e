"""`verify` against channel-dependency graphs built path by path (tests/oracles/routes.py)."""

import networkx as nx
import pytest

from harness.engine import proof_of
from harness.lengths import with_long
from oracles import escape, graphs, routes
from oracles.graphs import Graph
from topoloom import TopoloomError, network


def nested_drawn(graph: Graph) -> routes.Paths:
    return routes.nested(graph, drawn=True)


CASES = {
    # routing of the engine: {network: (its paths, VC classes of one phase)}
    "dor": {
        "mesh:5": (routes.dor_mesh, 1),
        "mesh:4x3x2,p=2": (routes.dor_mesh, 1),
        "mesh:3x1x3": (routes.dor_mesh, 1),
        "torus:8": (routes.dor_torus, 2),
        "torus:7": (routes.dor_torus, 2),
        "torus:4x4": (routes.dor_torus, 2),
        "torus:5x3x2": (routes.dor_torus, 2),
        "torus:2x2x3,double=true": (routes.dor_torus, 2),
        "hypercube:4,p=2": (routes.dor_mesh, 1),
        "hyperx:4x3x2": (lambda g: routes.hyperx(g, 1), 1),
        "hyperx:3x3,trunk=2": (lambda g: routes.hyperx(g, 1), 1),
        "nesttree:t=2,u=4,endpoints=48,upper=2x3x2": (routes.nested, 2),
        "nesttree:t=3,u=1,endpoints=54,upper=6x9": (routes.nested, 2),
        "nesttree:t=4,u=8,endpoints=192,upper=4x2x3,attach=published": (routes.nested, 4),
        "nestghc:t=4,u=8,endpoints=128,upper=2x4x2": (routes.nested, 4),
        "nestghc:t=2,u=2,endpoints=48,upper=4x3x2": (routes.nested, 2),
        "nestghc:t=6,u=8,endpoints=432,upper=6x9,attach=published": (routes.nested, 4),
    },
    "min": {
        "mesh:4x3": (routes.table, 5),
        "torus:4x4": (routes.table, 4),
        "torus:2x3,double=true": (routes.table, 2),
        "hyperx:4x3x2": (lambda g: routes.hyperx(g, 2), 2),
        "hyperx:3x3,trunk=2,p=2": (lambda g: routes.hyperx(g, 2), 2),
        "dragonfly:a=4,h=2": (routes.dragonfly, 2),
        "dragonfly:a=4,h=2,g=4": (routes.dragonfly, 2),
        "dragonfly:a=3,h=3,g=4,p=2": (routes.dragonfly, 2),
        "dragonfly:a=1,h=4": (routes.dragonfly, 2),
        "fattree:k=2,levels=3": (routes.on_a_tree, 1),
        "hypercube:4": (routes.table, 4),
        "folded-hypercube:4": (routes.table, 2),
        "clos:radix=4,levels=3": (routes.on_a_tree, 1),
        "dragonfly-plus:leaf=2,spine=2,h=1": (routes.table, 4),
        "myriclos:32": (routes.on_a_tree, 1),
        "slimfly:q=3": (routes.table, 2),
        "slimfly:q=4,p=2": (routes.table, 2),
        "slimfly:q=5": (routes.table, 2),
        "galaxyfly:n=3,q=5,a=2,p=2": (routes.galaxyfly, 3),
        "galaxyfly:n=2,q=9,a=3,wiring=round-robin": (routes.galaxyfly, 3),
        "galaxyfly:n=4,q=7,a=1": (routes.galaxyfly, 2),
        "galaxyfly:n=9,q=1,a=4": (routes.galaxyfly, 2),
        "galaxyfly:n=1,q=3,a=4": (routes.galaxyfly, 2),
        "galaxyfly:n=1,q=1,a=5": (routes.galaxyfly, 1),
        "flex:3x4x3": (routes.flex, 2),
        "flex:5x3x3,p=2": (routes.flex, 2),
        "flex:3x3x4": (routes.table, 3),
        "flex:2x3x3": (routes.table, 3),
    },
    "min-updown": {
        "mesh:4x3": (routes.updown_stretches, 3),
        "torus:5x3": (routes.updown_stretches, 2),
        "torus:2x3,double=true": (routes.updown_stretches, 2),
        "torus:3x4,twist=0:2/0:0": (routes.updown_stretches, 2),
        "cayley:13x4,turn=5,generators=1,13": (routes.updown_stretches, 3),
        "fattree:k=2,levels=3": (routes.updown_stretches, 2),
    },
    "min-spread": {"flex:3x4x3": (routes.table, 2), "flex:3x3x5": (routes.table, 3)},
    "nca": {
        "fattree:k=2,levels=4": (routes.nca, 1),
        "fattree:k=3,levels=3": (routes.nca, 1),
        "fattree:k=4,levels=2": (routes.nca, 1),
        "fattree:k=4,levels=3,taper=2": (routes.nca, 1),
        "clos:radix=6,levels=3": (routes.nca, 1),
        "clos:radix=4,levels=4": (routes.nca, 1),
        "clos:radix=8,levels=3,taper=4x2": (routes.nca, 1),
        "xgft:down=2x3x2,up=3x2": (routes.nca, 1),
        "nesttree:t=2,u=4,endpoints=48,upper=2x3x2": (nested_drawn, 2),
        "nesttree:t=4,u=8,endpoints=192,upper=4x2x3,attach=published": (nested_drawn, 4),
        "nestghc:t=2,u=2,endpoints=48,upper=4x3x2": (nested_drawn, 3),
        "nestghc:t=4,u=8,endpoints=128,upper=2x4x2": (nested_drawn, 4),
    },
}
CASES["anca"] = CASES["nca"]

DETOURS = {
    "mesh:4x3": (routes.dor_mesh, 1),
    "torus:5x3": (routes.dor_torus, 2),
    "torus:4x2,p=2": (routes.dor_torus, 2),
    "hypercube:4": (routes.dor_mesh, 1),
    "folded-hypercube:3": (routes.table, 2),
    "hyperx:3x3": (lambda g: routes.hyperx(g, 1), 1),
    "hyperx:2x3x2,trunk=2": (lambda g: routes.hyperx(g, 1), 1),
    "dragonfly:a=4,h=2": (routes.dragonfly, 2),
    "dragonfly:a=4,h=2,g=4": (routes.dragonfly, 2),
    "fattree:k=2,levels=3": (routes.on_a_tree, 1),
    "slimfly:q=3": (routes.table, 2),
    "flex:3x3x3": (routes.flex, 2),
    "flex:3x3x4": (routes.table, 3),
}


def check(spec: str, routing: str, waits: nx.DiGraph, classes: int) -> None:
    assert nx.is_directed_acyclic_graph(waits)
    proof = proof_of(spec, routing)
    assert proof["deadlock_free"]
    assert proof["method"] == "acyclic"
    assert proof["cycle"] == []
    assert proof["vcs_needed"] == classes
    assert proof["unserved_pairs"] == 0
    assert proof["dependencies"] == waits.number_of_edges()
    assert proof["channels"] == waits.number_of_nodes()


def is_long(case: tuple[str, str]) -> bool:
    """Ways up that adapt depend on each other as those that do not: once is enough for the large ones."""
    spec, routing = case
    if spec.startswith("nestghc:t=6"):
        return True
    return routing == "anca" and spec.startswith(("nesttree:t=4", "nestghc:t=4"))


@pytest.mark.parametrize(
    ("spec", "routing"),
    with_long([(spec, routing) for routing, specs in CASES.items() for spec in specs], is_long),
)
def test_one_phase(spec, routing):
    paths, classes = CASES[routing][spec]
    graph = graphs.build(spec)
    check(spec, routing, routes.dependencies(graph, paths(graph)), classes)


@pytest.mark.parametrize(
    "routing", ["val", "val:via=any", "ugal-l", "ugal-l:bias=5", "ugal-g:period=10", "lbr:n=2,t=10"]
)
@pytest.mark.parametrize("spec", DETOURS)
def test_two_phases(spec, routing):
    paths, classes = DETOURS[spec]
    graph = graphs.build(spec)
    check(spec, routing, routes.valiant_dependencies(graph, paths(graph), classes), 2 * classes)


GALAXYFLIES = [
    "galaxyfly:n=2,q=5,a=2,p=2",
    "galaxyfly:n=3,q=7,a=3",
    "galaxyfly:n=2,q=4,a=4,wiring=relative",
    "galaxyfly:n=1,q=13,a=2,wiring=round-robin",
    "galaxyfly:n=4,q=8,a=2,wiring=palmtree",
    "galaxyfly:n=3,q=9,a=2,h=5,wiring=absolute",
]


@pytest.mark.parametrize(("name", "classes"), [("nar", 3), ("nal", 4), ("nag", 4)])
@pytest.mark.parametrize("spec", GALAXYFLIES)
def test_adaptive_routings_of_galaxyfly(spec, name, classes):
    graph = graphs.build(spec)
    check(spec, name, routes.dependencies(graph, routes.galaxyfly_adaptive(graph, name)), classes)


@pytest.mark.parametrize("name", ["min", "nar", "nal", "nag"])
def test_any_common_neighbour(name):
    spec = "galaxyfly:n=3,q=7,a=2"
    graph = graphs.build(spec)
    oracle = "minimal" if name == "min" else name
    waits = routes.dependencies(graph, routes.galaxyfly_adaptive(graph, oracle, best=False))
    check(spec, f"{name}:common=random", waits, 4 if name in ("nal", "nag") else 3)


@pytest.mark.parametrize(
    ("spec", "name", "classes"),
    [
        ("galaxyfly:n=7,q=1,a=2", "nar", 2),
        ("galaxyfly:n=7,q=1,a=2", "nal", 3),
        ("galaxyfly:n=7,q=1,a=2", "nag", 3),
        ("galaxyfly:n=2,q=1,a=3", "nag", 2),
        ("galaxyfly:n=1,q=1,a=2", "nal", 1),
        ("galaxyfly:n=3,q=9,a=1", "nar", 2),
        ("galaxyfly:n=3,q=9,a=1", "nal", 2),
        ("galaxyfly:n=3,q=9,a=1", "nag", 3),
        ("galaxyfly:n=1,q=3,a=2", "nar", 3),
    ],
)
def test_adaptive_routings_of_special_cases(spec, name, classes):
    graph = graphs.build(spec)
    check(spec, name, routes.dependencies(graph, routes.galaxyfly_adaptive(graph, name)), classes)


@pytest.mark.parametrize("name", ["minimal", "nar", "nal", "nag"])
def test_numbering_the_hops_of_each_kind_of_link_is_cyclic(name):
    """What the paper says at first reading: the VC grows by one with each hop over a link of its kind."""
    graph = graphs.build("galaxyfly:n=2,q=5,a=2")
    waits = {
        label: routes.dependencies(graph, routes.galaxyfly_adaptive(graph, name, label))
        for label in ("by_kind", "by_hop")
    }
    assert not nx.is_directed_acyclic_graph(waits["by_kind"])
    assert nx.is_directed_acyclic_graph(waits["by_hop"]), "one VC a hop is safe, but needs 5, 6 or 7 on every port"
    most = {"minimal": (3, 2), "nar": (3, 2), "nal": (4, 2), "nag": (4, 3)}[name]
    kinds = {
        (router, port): kind
        for router in range(graph.routers)
        for port, (_, kind) in enumerate(graph.links[router], graph.p[router])
    }
    for kind, classes in zip(("local", "global"), most, strict=True):
        used = {c for router, port, c in waits["by_kind"] if kinds[router, port] == kind}
        assert used == set(range(classes)), "as many VCs as the paper counts"


@pytest.mark.parametrize("spec", ["dragonfly:a=4,h=2", "dragonfly:a=4,h=2,g=4", "dragonfly:a=3,h=1,p=2"])
def test_decisions_taken_again(spec):
    check(spec, "par", routes.par_dependencies(graphs.build(spec)), 5)


@pytest.mark.parametrize("spec", [spec for spec in DETOURS if spec.startswith(("slimfly", "hyperx", "dragonfly-plus"))])
def test_decisions_taken_again_after_any_first_hop(spec):
    paths, classes = DETOURS[spec]
    graph = graphs.build(spec)
    check(spec, "par", routes.late_dependencies(graph, paths(graph), classes), 1 + 2 * classes)


def test_decisions_taken_again_on_a_tree_count_hops():
    """A detour that begins above a leaf may fall and rise: one class for each phase would not do."""
    spec = "dragonfly-plus:leaf=3,spine=3,p=2,h=1,g=1"
    graph = graphs.build(spec)
    check(spec, "par", routes.late_dependencies(graph, routes.table(graph), 2), 5)
    assert proof_of(spec, "val")["vcs_needed"] == 2


@pytest.mark.parametrize(
    "spec", ["mesh:4x3", "torus:4x4", "torus:5x3", "hypercube:4", "slimfly:q=3", "folded-hypercube:3"]
)
def test_minimal_adaptive_paths(spec):
    graph = graphs.build(spec)
    plain = nx.Graph((router, peer) for router, links in enumerate(graph.links) for peer, _ in links)
    diameter = nx.diameter(plain)
    classes = diameter // 2 + 1 if nx.is_bipartite(plain) else diameter
    check(spec, "amin", routes.dependencies(graph, routes.negative_hops(graph)), classes)


@pytest.mark.parametrize("spec", ["fattree:k=2,levels=3", "xgft:down=2x3,up=2", "clos:radix=4,levels=2"])
@pytest.mark.parametrize("name", ["amin", "min"])
def test_minimal_paths_on_trees(spec, name):
    graph = graphs.build(spec)
    check(spec, name, routes.dependencies(graph, routes.on_a_tree(graph)), 1)


@pytest.mark.parametrize("name", ["lbr:n=all", "lbr:n=2,m=12"])
def test_first_hops_of_all_minimal_paths_on_a_tree(name):
    graph = graphs.build("fattree:k=2,levels=3")
    check("fattree:k=2,levels=3", name, routes.valiant_dependencies(graph, routes.on_a_tree(graph), 1), 2)


def test_a_tree_whose_paths_fall_before_they_rise_counts_hops():
    """A router that has lost a link down reaches that leaf over another one: down, up, and down again."""
    for seed in range(3):
        spec = f"faulty:links=2,seed={seed}(fattree:k=3,levels=3)"
        diameter = nx.diameter(nx.Graph((a, b) for a, _, b, *_ in network(spec).edges()))
        assert diameter > 4, "that of the intact tree"
        proof = proof_of(spec, "min")
        assert (proof["deadlock_free"], proof["vcs_needed"]) == (True, diameter)


@pytest.mark.parametrize("spec", ["hyperx:4", "hyperx:3x4", "hyperx:3x3x2,p=2", "hyperx:2x3,trunk=2"])
def test_detours_in_each_dimension(spec):
    check(spec, "dimwar", routes.dimwar_dependencies(graphs.build(spec)), 2)


@pytest.mark.parametrize(("keys", "detours"), [("", None), (":deroutes=0", 0), (":deroutes=1", 1), (":deroutes=5", 5)])
@pytest.mark.parametrize("spec", ["hyperx:4", "hyperx:3x4", "hyperx:3x1x3", "hyperx:2x3,trunk=2"])
def test_detours_by_distance_classes(spec, keys, detours):
    graph = graphs.build(spec)
    dimensions = sum(side > 1 for side in graph.sides)
    classes = dimensions + (dimensions if detours is None else detours)
    check(spec, f"omniwar{keys}", routes.omniwar_dependencies(graph, classes), classes)


@pytest.mark.parametrize("spec", ["hyperx:4", "hyperx:3x4", "hyperx:3x3x2,p=2", "hyperx:2x3,trunk=2"])
def test_one_detour_in_each_dimension_with_escapes_in_order(spec):
    graph = graphs.build(spec)
    waits, used = escape.extended_dependencies(graph, routes.dal_options(graph), 1)
    assert nx.is_directed_acyclic_graph(waits)
    proof = proof_of(spec, "dal")
    assert (proof["deadlock_free"], proof["method"], proof["vcs_needed"]) == (True, "escape", 2)
    assert (proof["states_without_escape"], proof["unserved_pairs"]) == (0, 0)
    assert (proof["channels"], proof["dependencies"]) == (len(used), waits.number_of_edges())


@pytest.mark.parametrize(
    ("spec", "keys", "classes"),
    [
        ("hyperx:3x4", "", 4),
        ("hyperx:4", "", 1),
        ("torus:4x3", "", 6),
        ("slimfly:q=3", "", 4),
        ("slimfly:q=3", ":hops=5", 5),
        ("slimfly:q=3", ":hops=2", 2),
        ("dragonfly:a=3,h=1", "", 6),
        ("torus:9", "", 8),
        # A tree has corners: a packet that has gone up the wrong way finds no hop that keeps its weight.
        ("fattree:k=2,levels=3", "", 8),
        ("mesh:3x3", ":hops=13,penalty=0", 13),
    ],
)
def test_weights_that_never_fall(spec, keys, classes):
    graph = graphs.build(spec)
    check(spec, f"polarized{keys}", routes.polarized_dependencies(graph, classes), classes)


def test_a_path_is_as_long_as_the_diameter_at_least():
    with pytest.raises(TopoloomError, match="hops is 3; the network's diameter is 4"):
        proof_of("torus:4x4", "polarized:hops=3")


@pytest.mark.parametrize("spec", ["mesh:4x3", "torus:5x3", "dragonfly:a=4,h=2", "slimfly:q=3", "flex:3x3x3"])
def test_the_two_phases_of_the_proof_cover_every_packet(spec):
    """The proof joins phases at any router for any destination; here every (source, via, destination) by itself."""
    paths, classes = DETOURS[spec]
    graph = graphs.build(spec)
    minimal = paths(graph)
    real = routes.dependencies(graph, routes.valiant(graph, minimal, classes))
    joined = routes.valiant_dependencies(graph, minimal, classes)
    assert set(real.edges) <= set(joined.edges)
    assert set(real.nodes) <= set(joined.nodes)


@pytest.mark.parametrize(
    ("spec", "routing"),
    [("mesh:2", "dor"), ("hyperx:5,p=2", "dor"), ("dragonfly:a=4,h=2,g=1", "min"), ("mesh:1", "dor")],
)
def test_channels_that_nothing_waits_for_count_as_well(spec, routing):
    """All routers are neighbours: every link is used, no channel depends on another."""
    proof = proof_of(spec, routing)
    assert proof["deadlock_free"]
    assert proof["channels"] == sum(map(len, graphs.build(spec).links))
    assert proof["dependencies"] == 0


def without_classes(paths: routes.Paths) -> routes.Paths:
    return lambda src, dst: [(p, tuple((r, port, 0) for r, port, _ in path)) for p, path in paths(src, dst)]


@pytest.mark.parametrize(
    ("spec", "paths"),
    [
        ("torus:4", lambda g: routes.dor_torus(g, dateline=False)),
        ("torus:5x3", lambda g: routes.dor_torus(g, dateline=False)),
        ("flex:3x3x3", lambda g: routes.flex(g, classes=False)),
        ("flex:3x4x3", lambda g: without_classes(routes.table(g))),
        ("hyperx:3x3", lambda g: without_classes(routes.hyperx(g, 2))),
        ("dragonfly:a=4,h=2", lambda g: without_classes(routes.dragonfly(g))),
        ("slimfly:q=5", lambda g: without_classes(routes.table(g))),
    ],
)
def test_with_a_class_less_the_oracle_finds_a_cycle(spec, paths):
    """What makes the classes necessary, and shows that the check above can fail."""
    graph = graphs.build(spec)
    assert not nx.is_directed_acyclic_graph(routes.dependencies(graph, paths(graph)))


def test_a_ring_of_three_needs_no_dateline():
    """All ways are one hop: a cycle needs longer ones."""
    graph: Graph = graphs.build("torus:3")
    assert nx.is_directed_acyclic_graph(routes.dependencies(graph, routes.dor_torus(graph, dateline=False)))


def test_valiant_on_one_phase_of_classes_is_cyclic():
    graph = graphs.build("mesh:3x3")
    waits = routes.dependencies(graph, without_classes(routes.valiant(graph, routes.dor_mesh(graph), 1)))
    assert not nx.is_directed_acyclic_graph(waits)


@pytest.mark.parametrize("vcs", [0, -1, 65, 2.5, "x"])
def test_vcs_that_routers_cannot_have(vcs):
    with pytest.raises(TopoloomError, match=f"vcs is '?{vcs}'?; it must be"):
        network("torus:4x4").verify("dor", vcs=vcs)
