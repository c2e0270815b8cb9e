"""Random failures: against all sets of failures, against networkx, and against the published table."""

import itertools
import json
from functools import cache
from math import comb

import networkx as nx
import pytest

import topoloom
from harness.engine import TIMES, channel_loads, measured, proof_of, run
from oracles import graphs, routes, sources
from oracles.router import Options, Simulation
from topoloom import TopoloomError, _core
from topoloom.simulation.roles import routing_on_spec

# Of 2,000 trials an estimate is farther than 4.5 standard deviations off in less than one case of 100,000.
TRIALS = 2000
SIGMAS = 4.5


def survivors(graph: nx.MultiGraph, kind: str, failed) -> nx.MultiGraph:
    """Return what is left when links (edges) or routers (nodes) fail."""
    left = graph.copy()
    (left.remove_edges_from if kind == "links" else left.remove_nodes_from)(failed)
    return left


def connected(graph: nx.MultiGraph) -> bool:
    return len(graph) > 0 and nx.is_connected(graph)


@pytest.mark.parametrize("spec", ["mesh:3x2", "torus:4", "hyperx:2x2,trunk=2", "flex:2x2x2"])
@pytest.mark.parametrize("kind", ["links", "routers"])
def test_the_share_of_connected_trials_is_that_of_all_sets_of_failures(spec, kind):
    graph = graphs.build(spec).networkx()
    everything = list(graph.edges(keys=True)) if kind == "links" else list(graph)
    count = len(everything)
    points = topoloom.network(spec).faults(
        kind=kind, fractions=[k / count for k in range(count + 1)], trials=TRIALS, seed=5
    )["points"]
    assert [point["failed"] for point in points] == list(range(count + 1))
    for k, point in enumerate(points):
        left = [survivors(graph, kind, failed) for failed in itertools.combinations(everything, k)]
        exact = sum(map(connected, left)) / comb(count, k)
        assert abs(point["connected"] - exact) <= SIGMAS * (exact * (1 - exact) / TRIALS) ** 0.5
        pairs = [sum(comb(len(part), 2) for part in nx.connected_components(graph)) for graph in left]
        pairs = [p / comb(len(graph), 2) for p in pairs]
        mean = sum(pairs) / len(pairs)
        variance = sum((p - mean) ** 2 for p in pairs) / len(pairs)
        assert abs(point["router_pairs"]["mean"] - mean) <= SIGMAS * (variance / TRIALS) ** 0.5 + 1e-12


def test_the_intervals_hold_the_exact_probability_nineteen_times_in_twenty():
    graph = graphs.build("mesh:3x2").networkx()
    left = [survivors(graph, "links", failed) for failed in itertools.combinations(graph.edges(keys=True), 2)]
    exact = sum(map(connected, left)) / len(left)
    network = topoloom.network("mesh:3x2")
    held = 0
    for seed in range(400):
        low, high = network.faults(fractions=2 / 7, trials=40, seed=seed)["points"][0]["connected_ci95"]
        held += low <= exact <= high
    assert 365 <= held <= 398


def test_critical_fractions_are_where_trials_fall_apart():
    result = topoloom.network("hyperx:3x3").faults(fractions=[k / 18 for k in range(19)], trials=300)
    critical = [round(18 * fraction) for fraction in result["critical"]["fractions"]]
    for k, point in enumerate(result["points"]):
        assert point["connected"] == sum(most >= k for most in critical) / 300
    ordered = sorted(result["critical"]["fractions"])
    assert result["critical"]["median"] == pytest.approx((ordered[149] + ordered[150]) / 2)
    assert result["critical"]["least"] == ordered[0]
    assert result["critical"]["most"] == ordered[-1]
    assert result["critical"]["median_ci95"][0] <= result["critical"]["median"] <= result["critical"]["median_ci95"][1]


PUBLISHED = {
    "clos:radix=20,levels=3": 0.55,
    "clos:radix=28,levels=3": 0.60,
    "clos:radix=34,levels=3": 0.65,
    "dragonfly:a=6,h=3": 0.50,
    "dragonfly:a=8,h=4": 0.55,
    "dragonfly:a=10,h=5": 0.60,
    "dragonfly:a=12,h=6": 0.65,
    "dragonfly:a=14,h=7": 0.65,
    "hyperx:8x8": 0.70,
    "hyperx:10x10": 0.75,
    "hyperx:14x14": 0.80,
    "hyperx:18x18": 0.80,
    "slimfly:q=7": 0.60,
    "slimfly:q=11": 0.70,
    "slimfly:q=13": 0.70,
    "slimfly:q=19": 0.75,
    "flex:5x5x3": 0.70,
    "flex:6x6x3": 0.75,
    "flex:8x8x3": 0.80,
    "flex:10x10x3": 0.80,
    "flex:12x12x3": 0.85,
}


@pytest.mark.parametrize(("spec", "fraction"), PUBLISHED.items())
def test_the_largest_survivable_fraction_is_the_published_one(spec, fraction):
    """FleX, Table 5: links between routers fail, more than half of 100 trials stay connected."""
    survivable = topoloom.network(spec).faults(fractions=0)["survivable"]
    assert survivable["fraction"] == pytest.approx(fraction)
    assert survivable["survive"] > 0.5 >= survivable["next_survive"]


# The published value, ours, and the share of trials that survive ours by a disjoint-set forest in plain Python.
BORDERS = {
    "clos:radix=12,levels=3": (0.45, 0.45, 0.55),
    "clos:radix=16,levels=3": (0.45, 0.50, 0.60),
    "hyperx:22x22": (0.80, 0.85, 0.59),
}


@pytest.mark.parametrize(("spec", "border"), BORDERS.items())
def test_a_border_that_chance_decides_says_so(spec, border):
    """Table 5 stands at most a step below a border that little more than half of many trials survive."""
    published, fraction, survive = border
    survivable = topoloom.network(spec).faults(fractions=0, trials=TRIALS)["survivable"]
    assert survivable["fraction"] == pytest.approx(fraction)
    assert 0 <= fraction - published < 0.051
    assert survivable["survive"] == pytest.approx(survive, abs=0.05)
    assert survivable["survive_ci95"][0] < survivable["survive"] < survivable["survive_ci95"][1]


def test_the_command_prints_what_the_api_returns(topoloom):
    outcome = topoloom("faults", "mesh:4x4", "torus:4x4", "--fractions", "0:0.4:0.2", "--distances", "--json")
    assert outcome.status == 0
    assert outcome.json() == [
        topoloom_network(spec).faults(fractions="0:0.4:0.2", distances=True) for spec in ("mesh:4x4", "torus:4x4")
    ]
    point = outcome.json()[0]["points"][0]
    assert (
        point["diameter"] == point["largest_diameter"] == {"mean": 6, "ci95": 0, "least": 6, "most": 6, "trials": 100}
    )
    table = topoloom("faults", "mesh:4x4", "torus:4x4", "--fractions", "0:0.4:0.2", "--kind", "routers").out
    assert "random failures of routers, 100 trials, seed 1" in table
    assert "torus:4x4" in table


topoloom_network = topoloom.network


@pytest.mark.parametrize("ending", ["svg", "png"])
def test_the_plot_is_the_same_for_the_same_trials(topoloom, tmp_path, ending):
    files = [tmp_path / f"{name}.{ending}" for name in "ab"]
    for file in files:
        assert topoloom("faults", "mesh:4x4", "--trials", "5", "--distances", "--plot", str(file)).status == 0
    assert files[0].read_bytes() == files[1].read_bytes()
    assert len(files[0].read_bytes()) > 5000


def test_unknown_options_are_refused():
    with pytest.raises(TopoloomError, match="did you mean 'trials'"):
        topoloom.network("mesh:4x4").faults(trails=3)


def test_the_result_is_json():
    assert json.loads(json.dumps(topoloom.network("mesh:1").faults()))["links"] == 0


# Networks with failures. The oracle is told which links failed, and knows all else by itself.
FAULTY = [
    "mesh:4x3,p=2 --fail links=2,seed=1",
    "torus:4x4 --fail links=10%,routers=3,seed=3",
    "hyperx:3x3,trunk=2 --fail links=6,seed=2",
    "hyperx:4x3x2,p=2 --fail links=20%,routers=2,seed=7",
    "dragonfly:a=4,h=2,p=2 --fail links=5%,routers=1,seed=1",
    "fattree:k=2,levels=3 --fail links=3,seed=4",
    "slimfly:q=3,p=2 --fail links=20%,seed=1",
    "flex:3x3x3 --fail links=10%,routers=2,seed=1",
]


@cache
def faulty(spec: str) -> graphs.Graph:
    """Return what is left, by the oracle's own links of the intact network."""
    intact, _, fail = spec.partition(" --fail ")
    wanted = dict(item.split("=") for item in fail.split(","))
    core = _core.Network(spec)
    graph = graphs.build(intact)
    left = [(a, b) for a, _, b, _, _ in core.edges()]
    routers = int(wanted.get("routers", 0))
    # No more routers are down than were to fail, and all others keep their links but for those that were to.
    failed = set(nx.isolates(core_graph(core)))
    down = {r for r in failed if len(failed) == routers}
    assert len(down) == routers
    links = sum(map(len, graph.links)) // 2
    amount = wanted.get("links", "0")
    count = int(int(amount[:-1]) * links / 100 + 0.5) if amount.endswith("%") else int(amount)
    lost = links - len(left)
    of_routers = sum(1 for r in range(graph.routers) for peer, _ in graph.links[r] if r < peer and {r, peer} & down)
    assert max(count, of_routers) <= lost <= count + of_routers
    return graphs.damaged(graph, left, down)


def core_graph(core: _core.Network) -> nx.MultiGraph:
    graph = nx.MultiGraph()
    graph.add_nodes_from(range(core.num_routers))
    graph.add_edges_from((a, b) for a, _, b, _, _ in core.edges())
    return graph


@pytest.mark.parametrize("spec", FAULTY)
def test_facts_with_failures_are_those_of_networkx(spec):
    graph = faulty(spec)
    simple = nx.Graph(graph.networkx())
    simple.remove_nodes_from(graph.down)
    facts = topoloom.network(spec).facts()
    intact = topoloom.network(spec.partition(" --fail ")[0]).facts()
    assert facts["family"] == intact["family"]
    assert facts["routers"] == len(simple) == intact["routers"] - facts["failed_routers"]
    assert facts["terminals"] == facts["terminal_links"] == sum(graph.p)
    assert facts["links"] == intact["links"] - facts["failed_links"] == graph.networkx().number_of_edges()
    assert facts["min_degree"] == min(len(graph.links[r]) for r in graph.up)
    assert facts["radix"] == max(graph.p[r] + len(graph.links[r]) for r in graph.up)
    assert facts["connected"]
    assert facts["diameter"] == nx.diameter(simple)
    assert facts["average_distance"] == pytest.approx(nx.average_shortest_path_length(simple))
    distance = dict(nx.all_pairs_shortest_path_length(simple))
    terminals = sum(graph.p)
    hops = sum(graph.p[a] * graph.p[b] * d for a, row in distance.items() for b, d in row.items())
    assert facts["average_hops"] == pytest.approx(hops / (terminals * (terminals - 1)))
    assert facts["bisection_links"] <= intact["bisection_links"]
    # The machine was bought whole.
    assert facts["cost_usd"] == intact["cost_usd"]
    assert facts["power_w"] == intact["power_w"]


@pytest.mark.parametrize("spec", ["mesh:4x3", "torus:4x4", "flex:3x3x3", "hyperx:3x3,trunk=2"])
@pytest.mark.parametrize("kind", ["links", "routers"])
def test_a_trial_of_a_sweep_is_the_network_with_its_first_failures(spec, kind):
    intact = topoloom.network(spec)
    count = intact.facts()[kind]
    fractions = [k / count for k in range(0, count, 3)]
    for seed in range(4):
        points = intact.faults(kind=kind, fractions=fractions, trials=1, seed=seed, distances=True)["points"]
        for k, point in zip(range(0, count, 3), points, strict=True):
            facts = intact.with_failures(f"{kind}={k},seed={seed}").facts()
            assert point["failed"] == k
            assert point["connected"] == facts["connected"]
            assert point["largest_component"]["mean"] == facts["component_sizes"][0] / intact.num_routers
            if facts["connected"] and facts["routers"] > 1:
                assert point["diameter"]["mean"] == facts["diameter"]
                assert point["average_distance"]["mean"] == pytest.approx(facts["average_distance"])


@pytest.mark.parametrize("spec", FAULTY)
def test_tables_route_around_failures(spec):
    """The proof walks the very channels of all minimal paths, and of all pairs of them over a router that is up."""
    graph = faulty(spec)
    paths, core = routes.table(graph), _core.Network(spec)
    classes = topoloom.network(spec).facts()["diameter"]
    for routing, waits, needed in [
        ("min", routes.dependencies(graph, paths), classes),
        ("val", routes.valiant_dependencies(graph, paths, classes), 2 * classes),
        ("val:via=any", routes.valiant_dependencies(graph, paths, classes), 2 * classes),
        ("ugal-l", routes.valiant_dependencies(graph, paths, classes), 2 * classes),
    ]:
        proof = proof_of(core, routing)
        assert proof["deadlock_free"]
        assert proof["unserved_pairs"] == 0
        assert proof["vcs_needed"] == needed
        assert proof["channels"] == waits.number_of_nodes()
        assert proof["dependencies"] == waits.number_of_edges()


@pytest.mark.parametrize("spec", FAULTY)
def test_loads_with_failures_are_those_of_the_paths(spec):
    graph = faulty(spec)
    paths, core = routes.table(graph), _core.Network(spec)
    classes, terminals = topoloom.network(spec).facts()["diameter"], sum(graph.p)
    flows = [(a, b, graph.p[a] * graph.p[b] / terminals) for a in routes.sources(graph) for b in routes.sources(graph)]
    # The ports of a router begin with its terminals, also where these have failed: no channel leaves such a router.
    detours = routes.valiant(graph, paths, classes)
    for routing, of in [("min", paths), ("val", detours)]:
        exact = routes.loads(graph, of, flows)
        for router, port, load in channel_loads(core, routing, "uniform"):
            assert load == pytest.approx(exact.get((router, port), 0.0), abs=1e-9)


@pytest.mark.parametrize("spec", FAULTY)
def test_the_engine_visits_as_many_routers_as_the_paths_have(spec):
    graph = faulty(spec)
    classes = topoloom.network(spec).facts()["diameter"]
    paths = routes.table(graph)
    point = run(spec, "min", 0.1, vcs=max(4, classes))
    assert point["hops"] == pytest.approx(routes.mean_hops(graph, paths), rel=0.005)
    assert point["active_terminals"] == sum(graph.p)
    assert point["accepted"] == pytest.approx(0.1, rel=0.015)
    detours = routes.valiant(graph, paths, classes)
    point = run(spec, "val", 0.05, vcs=max(4, 2 * classes))
    assert point["hops"] == pytest.approx(routes.mean_hops(graph, detours), rel=0.005)


@pytest.mark.parametrize(
    ("spec", "classes", "load"),
    [("mesh:3x3 --fail links=4,seed=3", 6, 0.15), ("torus:5 --fail links=1,seed=1", 4, 0.3)],
)
@pytest.mark.parametrize("packet", [1, 3])
def test_flit_for_flit_as_the_slow_router(spec, classes, load, packet):
    """Trees are left, on which every way is the only one: the slow router moves all packets in the same cycles."""
    graph, core = faulty(spec), _core.Network(spec)
    assert nx.is_tree(graph.networkx())
    options = Options(vcs=classes, buffer=4, speedup=1, packet=packet, classes=classes)
    warmup, measure = 200, 800
    made = [sources.Engine(5, i, load, core.num_terminals, packet) for i in range(core.num_terminals)]
    theirs = Simulation(graph, routes.table(graph), options, made).run(warmup, measure)
    config = {"vcs": classes, "buffer": 4, "speedup": 1, "packet": packet, "seed": 5}
    ours = measured(core, "min", "uniform", load, json.dumps(config | {"warmup": warmup, "measure": measure}))
    assert theirs.packets == ours["packets"] > 50
    assert theirs.latency == pytest.approx(ours["latency_cycles"] * ours["packets"], abs=1e-6)
    assert theirs.hops == pytest.approx(ours["hops"] * ours["packets"], abs=1e-6)


def test_terminals_of_failed_routers_take_no_part():
    left = topoloom.network("torus:4x4,p=2").with_failures("routers=3,seed=2")
    assert left.num_terminals == 32
    curve = left.simulate(traffic="bit-complement", load=0.1, warmup=200, measure=500)
    down = {router for router in range(16) if left.to_networkx().degree(router) == 0}
    assert len(down) == 3
    # Neither they nor those who would send to them.
    silent = {t for t in range(32) if {t // 2, (31 - t) // 2} & down}
    assert curve.points[0.1].active_terminals == 32 - len(silent)


def test_what_failed_is_recorded(topoloom):
    outcome = topoloom(
        "simulate", "mesh:4x4", "--fail", "links=2", "--load", "0.1", "--warmup", "99", "--measure", "99", "--json"
    )
    assert outcome.json()["spec"] == "mesh:4x4 --fail links=2,seed=1"
    assert outcome.json()["config"]["fail"] == "links=2,seed=1"
    assert outcome.json()["routing"] == "min"
    again = topoloom_network(outcome.json()["spec"])
    assert again.facts()["failed_links"] == 2
    whole = topoloom("simulate", "mesh:4x4", "--load", "0.1", "--warmup", "99", "--measure", "99", "--json")
    assert whole.json()["config"]["fail"] is None
    curve = topoloom_network("mesh:4x4").simulate(load=0.1, warmup=99, measure=99, fail="links=2")
    assert curve.points[0.1].model_dump(exclude=TIMES).items() <= (outcome.json()["points"][0].items())


def test_a_comparison_of_networks_with_failures(topoloom, tmp_path):
    report = tmp_path / "report.html"
    lengths = ["--warmup", "200", "--measure", "300"]
    outcome = topoloom(
        "compare", "mesh:3x3", "torus:3x3", "--fail", "links=1,seed=4", "--json", "--out", str(report), *lengths
    )
    assert outcome.status == 0
    assert [facts["failed_links"] for facts in outcome.json()["networks"]] == [1, 1]
    assert {curve["routing"] for curve in outcome.json()["curves"]} == {"min", "ugal-l", "amin"}
    assert {curve["config"]["fail"] for curve in outcome.json()["curves"]} == {"links=1,seed=4"}
    assert "torus:3x3 --fail links=1,seed=4" in report.read_text()


def test_the_other_commands_take_failures(topoloom):
    shown = topoloom("show", "mesh:4x4", "--fail", "routers=1,links=1", "--json").json()[0]
    assert (shown["routers"], shown["failed_routers"]) == (15, 1)
    proof = topoloom("verify", "mesh:4x4", "--fail", "links=2", "--json").json()
    assert (proof["routing"], proof["deadlock_free"]) == ("min", True)
    found = topoloom("saturation", "mesh:3x3", "--fail", "links=1", "--routing", "adaptive", "--json").json()
    assert found["routing"] == "ugal-l"
    assert 0 < found["saturation_load"] < 1


CLOSED = {
    "mesh:4x4": ["dor"],
    "torus:4x4": ["dor"],
    "hyperx:4x4": ["dor"],
    "flex:3x3x3": ["min-spread"],
}


LEFT_OF_TREES = [
    "fattree:k=4,levels=3 --fail links=5%,seed=1",
    "fattree:k=3,levels=3 --fail links=3,routers=2,seed=2",
    "xgft:down=2x3x4,up=3x3 --fail links=4,routers=1,seed=2",
    "clos:radix=8,levels=3 --fail links=5%,seed=3",
]


@pytest.mark.parametrize("spec", LEFT_OF_TREES)
def test_what_is_left_of_a_tree_goes_up_and_down_by_its_shortest_ways(spec):
    graph, whole = faulty(spec), graphs.build(spec.partition(" --fail ")[0])
    paths = routes.nca_left(graph, whole)
    waits = routes.dependencies(graph, paths)
    for name in ("nca", "anca"):
        proof = topoloom.network(spec).verify(name)
        assert (proof["deadlock_free"], proof["method"], proof["vcs_needed"]) == (True, "acyclic", 1)
        assert (proof["channels"], proof["dependencies"]) == (waits.number_of_nodes(), waits.number_of_edges())
        assert proof["unserved_pairs"] == 0
    terminals, ends = sum(graph.p), routes.sources(graph)
    flows = [(src, dst, 0.2 * graph.p[src] * graph.p[dst] / terminals) for src in ends for dst in ends]
    load = routes.loads(graph, paths, flows)
    point = run(spec, "nca", 0.2, measure=8000)
    busiest, noise = max(load.values()), (max(load.values()) / 8000) ** 0.5
    assert busiest - 3 * noise <= point["link_utilisation_max"] <= busiest + 6 * noise
    mean = sum(load.values()) / sum(map(len, graph.links))
    assert point["link_utilisation_mean"] == pytest.approx(mean, rel=0.02)


def test_adaptive_on_a_tree_stays_so_while_ways_up_and_down_are_left():
    """With 5 % of the links failed it carries far more than `min`, and as much as `ugal-l` with three times the VCs."""
    spec = "fattree:k=4,levels=3 --fail links=5%,seed=1"
    network = topoloom.network(spec)
    assert [network.routing(role) for role in ("minimal", "adaptive")] == ["nca", "anca"]
    accepted = {
        name: run(spec, name, 1.0, warmup=1500, measure=1500)["accepted"] for name in ("anca", "nca", "min", "ugal-l")
    }
    assert min(accepted["anca"], accepted["nca"]) > accepted["min"] + 0.2
    assert accepted["anca"] > 0.95 * accepted["ugal-l"]
    network = topoloom.network("fattree:k=4,levels=3 --fail links=30%,seed=1")
    assert [network.routing(role) for role in ("minimal", "adaptive")] == ["min", "ugal-l"]


def test_a_tree_without_a_way_up_and_down_says_so(topoloom):
    refused = topoloom("verify", "fattree:k=4,levels=3", "--fail", "links=30%,seed=1", "--routing", "anca")
    assert refused.status == 2
    assert "no path up the tree and then down is left from router" in refused.err
    assert "min, updown and others take any path that is left" in refused.err


def test_a_study_takes_the_routing_that_is_left():
    assert routing_on_spec("fattree:k=4,levels=3", "links=5%,seed=1", "adaptive") == "anca"
    assert routing_on_spec("fattree:k=4,levels=3 --fail links=30%,seed=1", None, "adaptive") == "ugal-l"
    assert routing_on_spec("fattree:k=4,levels=3", "links=1", "min") == "min"


@pytest.mark.parametrize(("spec", "routing"), [(spec, name) for spec, names in CLOSED.items() for name in names])
def test_routings_that_know_only_intact_networks_say_so(topoloom, spec, routing):
    outcome = topoloom("verify", spec, "--fail", "links=1", "--routing", routing)
    assert outcome.status == 2
    assert f"does not offer the routing '{routing}', which relies on the structure of an intact" in outcome.err
    assert "it offers: min, min-updown, amin, val, ugal-l" in outcome.err
