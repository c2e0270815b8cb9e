"""Expected channel loads: against all paths with their probabilities, closed formulas, and published values."""

import math
from collections import defaultdict

import pytest

from harness.engine import bound_of, channel_loads
from oracles import graphs, patterns, routes
from oracles.cases import DETOURS, HOPS
from topoloom import _core

OBLIVIOUS = [case for case in HOPS if case[1] != "anca"]
NAMES = [f"{spec} {name}" for spec, name, _ in OBLIVIOUS]


def bound(spec: str, routing: str, traffic: str = "uniform") -> dict:
    return bound_of(spec, routing, traffic)


def loads(spec: str, routing: str, traffic: str = "uniform") -> dict[tuple[int, int], float]:
    return {(router, port): load for router, port, load in channel_loads(spec, routing, traffic)}


def uniform(graph: graphs.Graph) -> list[tuple[int, int, float]]:
    ends, terminals = routes.sources(graph), sum(graph.p)
    return [(src, dst, graph.p[src] * graph.p[dst] / terminals) for src in ends for dst in ends]


def permuted(graph: graphs.Graph, to: list[int | None]) -> list[tuple[int, int, float]]:
    flows: dict[tuple[int, int], float] = defaultdict(float)
    for src, dst in enumerate(to):
        if dst is not None:
            flows[graph.homes[src], graph.homes[dst]] += 1
    return [(src, dst, rate) for (src, dst), rate in flows.items()]


def check(spec: str, routing: str, traffic: str, graph: graphs.Graph, paths: routes.Paths, flows: list) -> None:
    exact, found = routes.loads(graph, paths, flows), loads(spec, routing, traffic)
    channels = {(router, graph.port(router, i)) for router, peers in enumerate(graph.links) for i in range(len(peers))}
    assert set(found) == channels
    assert all(found[channel] == pytest.approx(exact.get(channel, 0.0), abs=1e-9) for channel in channels)
    told = bound(spec, routing, traffic)
    largest = max(exact.values(), default=0.0)
    assert told["max_channel_load"] == pytest.approx(largest)
    assert told["mean_channel_load"] == pytest.approx(sum(exact.values()) / len(channels))
    assert told["channels"] == len(channels)
    assert told["saturation_bound_is"] == "expected-load"
    assert told["saturation_bound"] == pytest.approx(1 / max(largest, told["max_terminal_load"]))
    busiest = told["busiest"]
    assert exact[busiest["from"], busiest["port"]] == pytest.approx(largest)
    assert routes.end_of(graph, (busiest["from"], busiest["port"], 0)) == busiest["to"]


@pytest.mark.parametrize(("spec", "routing", "paths"), OBLIVIOUS, ids=NAMES)
def test_uniform_traffic_loads_links_as_the_paths_say(spec, routing, paths):
    graph = graphs.build(spec)
    check(spec, routing, "uniform", graph, paths(graph), uniform(graph))


@pytest.mark.parametrize(("spec", "routing", "paths"), OBLIVIOUS, ids=NAMES)
@pytest.mark.parametrize("name", ["bit-complement", "shuffle"])
def test_fixed_patterns_load_links_as_the_paths_say(spec, routing, paths, name):
    graph = graphs.build(spec)
    if spec.endswith("tile=2x2"):
        graph.homes[:] = graphs.tile_homes((4, 4), (2, 2))
    flows = permuted(graph, patterns.by_bits(name, sum(graph.p)))
    check(spec, routing, name, graph, paths(graph), flows)


@pytest.mark.parametrize(("spec", "paths", "classes"), DETOURS, ids=[spec for spec, *_ in DETOURS])
@pytest.mark.parametrize("traffic", ["uniform", "bit-complement"])
def test_valiant_loads_links_as_the_paths_say(spec, paths, classes, traffic):
    graph = graphs.build(spec)
    detours = routes.valiant(graph, paths(graph), classes)
    flows = uniform(graph) if traffic == "uniform" else permuted(graph, patterns.by_bits(traffic, sum(graph.p)))
    check(spec, "val", traffic, graph, detours, flows)
    # Two intermediate routers of all make no detour.
    share = 2 / graph.routers
    direct, exact = routes.loads(graph, paths(graph), flows), routes.loads(graph, detours, flows)
    some = loads(spec, "val:via=any", traffic)
    for channel, load in some.items():
        assert load == pytest.approx(share * direct.get(channel, 0) + (1 - share) * exact.get(channel, 0), abs=1e-9)


@pytest.mark.parametrize("k", [4, 5, 8, 9])
def test_closed_formulas_of_rings_and_lines(k):
    """Dally and Towles, Principles and Practices of Interconnection Networks, 2004, section 3.3 and 25.2."""
    ring = k / 8 if k % 2 == 0 else (k - 1 / k) / 8
    assert bound(f"torus:{k}x{k}", "dor")["max_channel_load"] == pytest.approx(ring)
    line = (k // 2) * (k - k // 2) / k
    assert bound(f"mesh:{k}x{k}", "dor")["max_channel_load"] == pytest.approx(line)
    # Tornado: all go the same way round, and nearly half of it.
    assert bound(f"torus:{k}", "dor", "tornado")["max_channel_load"] == pytest.approx(math.ceil(k / 2) - 1)


def test_published_loads_of_flex():
    """The FleX paper's Algorithm 1 loads links unevenly; spread over all minimal paths the load is even."""
    told = bound("flex:6x6x3,p=10", "min")
    # Published per unit of flow between each pair of routers; a terminal sends p / N of its flits to each router.
    unit = 10 / 108
    assert told["max_channel_load"] == pytest.approx(12.4 * unit)
    assert told["mean_channel_load"] == pytest.approx(9.7 * unit)
    assert told["saturation_bound"] == pytest.approx(0.870, abs=0.001)
    spread = bound("flex:6x6x3,p=10", "min-spread")
    assert spread["max_channel_load"] == pytest.approx(spread["mean_channel_load"])


@pytest.mark.parametrize("spec", ["torus:5x4", "dragonfly:a=4,h=2,p=2", "slimfly:q=5,p=3", "fattree:k=3,levels=3"])
def test_adaptive_routings_have_a_bound_by_distance(spec):
    """No routing has less to carry than shortest paths: the bound lies above that of every other routing."""
    told = bound(spec, "ugal-l")
    assert told["saturation_bound_is"] == "distance"
    assert "max_channel_load" not in told
    graph = graphs.build(spec)
    paths = routes.table(graph)
    hops = sum(rate * len(paths(a, b)[0][1]) for a, b, rate in uniform(graph) if a != b)
    mean = hops / sum(map(len, graph.links))
    out = max(
        sum(rate for a, b, rate in uniform(graph) if a == router != b) / len(graph.links[router])
        for router in range(graph.routers)
    )
    assert told["saturation_bound"] == pytest.approx(1 / max(1.0, mean, out))
    assert all(told["saturation_bound"] >= bound(spec, other)["saturation_bound"] - 1e-12 for other in ("min", "val"))
    with pytest.raises(_core.TopoloomError, match=r"ugal-l on .* decides by congestion"):
        channel_loads(spec, "ugal-l", "uniform")


def test_terminals_bound_the_load_too():
    """One router: only its terminals' links carry anything."""
    told = bound("mesh:1,p=4", "dor")
    assert (told["max_channel_load"], told["mean_channel_load"], told["busiest"]) == (0, None, None)
    assert told["saturation_bound"] == told["max_terminal_load"] == pytest.approx(1.0)


def test_a_network_that_is_too_large_is_refused():
    with pytest.raises(_core.TopoloomError, match=r"the loads that 1000000 routers cause each other need about .* GB"):
        bound_of("mesh:1000x1000", "dor", "uniform")
