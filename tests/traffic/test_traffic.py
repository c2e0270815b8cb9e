"""Traffic patterns, seen by how far their packets go and how they load links, against their definitions."""

import pytest

from harness.engine import simulate
from oracles import graphs, patterns, routes

LOAD, CYCLES = 0.02, 100_000


def check(spec: str, traffic: str, paths: routes.Paths, homes: list[int], to: list[int | None]) -> None:
    """Each terminal that sends does so at the load: mean hops and the busiest link follow."""
    point = simulate(spec, "dor", traffic, LOAD, warmup=500, measure=CYCLES)
    flows = [(homes[src], homes[dst], LOAD) for src, dst in enumerate(to) if dst is not None]
    assert point["active_terminals"] == len(flows)
    hops = [1 + (len(paths(a, b)[0][1]) if a != b else 0) for a, b, _ in flows]
    assert point["hops"] == pytest.approx(sum(hops) / len(hops), rel=0.01)
    assert point["accepted"] == pytest.approx(LOAD, rel=0.02)
    load = routes.loads(graphs.build(spec), paths, flows)
    busiest = max(load.values(), default=0.0)
    noise = (busiest / CYCLES) ** 0.5
    assert busiest - 4 * noise <= point["link_utilisation_max"] <= busiest + 6 * noise


@pytest.mark.parametrize("name", ["bit-complement", "bit-reversal", "shuffle", "transpose"])
@pytest.mark.parametrize(
    ("spec", "bits"), [("mesh:16", None), ("mesh:4x4,p=4", None), ("mesh:20", None), ("mesh:13", 4), ("mesh:24", 2)]
)
def test_patterns_on_bits(name, spec, bits):
    graph = graphs.build(spec)
    to = patterns.by_bits(name, sum(graph.p), bits)
    traffic = f"{name}:bits={bits}" if bits else name
    check(spec, traffic, routes.dor_mesh(graph), graph.homes, to)


@pytest.mark.parametrize("name", ["neighbor", "tornado"])
@pytest.mark.parametrize("spec", ["mesh:6x5,p=2", "torus:7x5", "torus:5x3,p=3"])
def test_shifts_on_routers_with_coordinates(name, spec):
    graph = graphs.build(spec)
    p = graph.p[0]
    to = [router * p + i for router in patterns.shifted(name, graph.sides) for i in range(p)]
    paths = (routes.dor_torus if spec.startswith("torus") else routes.dor_mesh)(graph)
    check(spec, name, paths, graph.homes, to)


@pytest.mark.parametrize("name", ["neighbor", "tornado", "bit-complement", "transpose"])
@pytest.mark.parametrize("tile", [(2, 2), (4, 1), (1, 4)])
def test_terminals_in_tiles_have_coordinates_of_their_own(name, tile):
    spec = f"hyperx:4x4,tile={tile[0]}x{tile[1]}"
    graph = graphs.build(spec)
    whole = (4 * tile[0], 4 * tile[1])
    to = patterns.shifted(name, whole) if name in {"neighbor", "tornado"} else patterns.by_bits(name, 64)
    check(spec, name, routes.hyperx(graph, 1), graphs.tile_homes((4, 4), tile), to)


def sparse(spec: str, routing: str, traffic: str) -> dict:
    return simulate(spec, routing, traffic, LOAD, warmup=500, measure=40_000)


def test_uniform_includes_the_source_unless_told():
    assert sparse("mesh:1,p=2", "dor", "uniform")["hops"] == 1
    assert sparse("mesh:2", "dor", "uniform")["hops"] == pytest.approx(1.5, abs=0.05)
    assert sparse("mesh:2", "dor", "uniform:exclude-self")["hops"] == 2


def test_the_next_group_is_never_the_own():
    """Every packet crosses one global link, and a local one at either end unless it is there already."""
    point = sparse("dragonfly:a=4,h=2,p=2", "min", "next-group")
    # It is with probability a quarter.
    assert point["hops"] == pytest.approx(2 + 2 * 3 / 4, rel=0.01)
    assert point["link_utilisation_max"] == pytest.approx(8 * LOAD, rel=0.1)
    # On FleX to the next layer: one link if exactly one coordinate agrees, else two.
    flex = sparse("flex:3x3x3,p=2", "min", "next-group")
    assert flex["hops"] == pytest.approx(1 + (4 * 1 + 5 * 2) / 9, rel=0.01)


def test_a_random_permutation_has_one_partner_for_each_and_a_seed():
    """The share of terminals whose partner is on their own router tells permutations apart."""
    runs = [sparse("hyperx:16,p=4", "dor", f"random-permutation:seed={seed}") for seed in (1, 1, 2)]
    assert runs[0]["hops"] == runs[1]["hops"] != runs[2]["hops"]
    # No terminal receives more than one flow: ejection is never the bottleneck, however high the load.
    point = simulate("mesh:1,p=9", "dor", "random-permutation", 1.0, warmup=500, measure=2000)
    assert point["accepted"] == pytest.approx(1.0, abs=0.01)
