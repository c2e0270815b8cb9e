"""The `extoll` router model: cell by cell as a slow card, closed forms, iSLIP on one card, and what is refused."""

import pytest

from harness import engine
from harness.engine import LINKS
from oracles import cards, graphs, routes, sources
from oracles.cards import Options
from topoloom import TopoloomError


def simulate(spec: str, routing: str, traffic: str, load: float, **options) -> dict:
    return engine.simulate(spec, routing, traffic, load, **{"model": "extoll", **options})


SLOW = [
    ("mesh:3x3", "dor", 0.3, Options(classes=1)),
    ("mesh:3x3", "dor", 0.4, Options(packet="1-8", buffer=8, classes=1)),
    ("mesh:4x2,p=2", "dor", 0.35, Options(packet="1-32", buffer=40, stages=(2, 0, 3, 2), classes=1)),
    ("torus:3x3", "dor", 0.6, Options(packet="1-5", buffer=6, iterations=2)),
    ("torus:5x3", "dor", 0.5, Options(packet=4, buffer=9, stages=(0, 0, 1, 0), credit_delay=0)),
    ("torus:5x3", "dor", 0.5, Options(packet="1-6", buffer=8, reserve=6)),
    ("torus:3x3", "dor", 0.6, Options(packet="1-6", buffer=8, reserve=2)),
    ("twin-torus:3x3", "ts-dor", 0.3, Options(packet="1-9", buffer=12, groups=2)),
    ("twin-torus:3x3", "ts-dor", 0.6, Options(packet="1-6", buffer=6, groups=2, iterations=3)),
    ("twin-torus:3x3x3", "ts-dor", 0.4, Options(packet="1-4", groups=2, latency=LINKS | {"internal": 3, "local": 5})),
]


@pytest.mark.parametrize(("spec", "routing", "load", "options"), SLOW, ids=[f"{s[0]} {n}" for n, s in enumerate(SLOW)])
def test_cell_for_cell_as_the_slow_card(spec, routing, load, options):
    """Given the engine's own packets, the slow card moves every cell in the very same cycles."""
    warmup, measure, seed = 100, 300, 7
    graph = graphs.build(spec)
    terminals = len(graph.homes)
    made = [sources.Engine(seed, i, load, terminals, options.packet) for i in range(terminals)]
    paths = {"mesh": routes.dor_mesh, "torus": routes.dor_torus, "twin-torus": routes.ts_dor}[spec.partition(":")[0]]
    slow = cards.Simulation(graph, paths(graph), options, made)
    theirs = slow.run(warmup, measure)
    ours = simulate(
        spec, routing, "uniform", load, **options.of_the_engine(), seed=seed, warmup=warmup, measure=measure
    )
    assert theirs.packets == ours["packets"] > 0
    assert theirs.latency == pytest.approx(ours["latency_cycles"] * ours["packets"], abs=1e-6)
    assert theirs.hops == pytest.approx(ours["hops"] * ours["packets"], abs=1e-6)
    assert theirs.cells == pytest.approx(ours["accepted"] * terminals * measure, abs=1e-6)
    assert theirs.cell_latency / theirs.measured_cells == pytest.approx(ours["flit_latency_cycles"], abs=1e-9)


@pytest.mark.parametrize("stages", [(1, 1, 1, 1), (0, 0, 1, 0), (3, 2, 4, 5)])
@pytest.mark.parametrize("size", [1, 7])
def test_a_card_costs_its_stages_and_a_link(stages, size):
    """Without contention: terminal's link, then a card's stages and a link each, then the rest of the packet."""
    routing, storing, arbitration, crossbar = stages
    options = Options(packet=size, stages=stages, latency=LINKS | {"local": 4, "terminal": 2}).of_the_engine()
    point = simulate("mesh:2", "dor", "bit-complement", 0.001, **options, warmup=0, measure=200_000)
    assert point["hops"] == 2
    card = routing + storing + arbitration - 1 + crossbar
    expected = (2 + 1) + 2 * card + (4 + 1) + (2 + 1) + size - 1
    assert point["p50"] == expected
    assert point["latency_cycles"] == pytest.approx(expected, abs=0.2)
    assert point["latency_cycles"] - point["flit_latency_cycles"] == pytest.approx((size - 1) / 2, abs=0.2)


def test_one_card_carries_all_that_uniform_traffic_offers():
    """With virtual output queues iSLIP comes to 100 % (McKeown, 1999), where a queue an input would stop at 58.6 %."""
    options = {"packet": 1, "buffer": 1000, "warmup": 20_000, "measure": 40_000}
    # To themselves as well: if no input wants one of the outputs, the pointers turn past it in vain.
    point = simulate("mesh:1,p=16", "dor", "uniform", 0.95, **options)
    assert point["accepted"] == pytest.approx(0.95, abs=0.002)


@pytest.mark.parametrize("packet", [1, 5])
def test_islip_serves_all_inputs_of_a_busy_output_alike(packet):
    """Eight inputs want all of one output: it is never idle, and each gets its eighth."""
    load, senders = 0.6, 8
    made: list[sources.Source] = [
        sources.Replay([(t * packet, senders, packet) for t in range(2000)] if i < senders else []) for i in range(9)
    ]
    options = Options(packet=packet, classes=1)
    slow = cards.Simulation(graphs.build("mesh:1,p=9"), lambda _a, _b: [(1.0, ())], options, made)
    slow.window = (100, 1700)
    for now in range(1700):
        slow.cycle(now)
    served = [slow.result.by_source[i] for i in range(senders)]
    assert sum(served) == 1600
    assert max(served) - min(served) <= 2 * packet
    ours = simulate("mesh:1,p=9", "dor", "hotspot:nodes=8", load, packet=packet, warmup=500, measure=4000)
    assert ours["accepted"] * 9 == pytest.approx(1.0, abs=0.01)


@pytest.mark.parametrize(
    ("spec", "routing"),
    [
        ("twin-torus:2x4x2", "ts-dor"),
        ("twin-torus:3x4x3", "duato"),
        ("twin-torus:4x3", "duato"),
        ("torus:4x4", "dor:vc=upper-lower"),
        ("torus:4x4", "duato"),
        ("torus:8", "duato"),
    ],
)
@pytest.mark.parametrize("buffers", ["private", "shared:3"])
def test_no_deadlock_at_full_load_in_the_smallest_buffers(spec, routing, buffers):
    options = {"packet": "1-8", "buffer": 8, "buffers": buffers, "warmup": 1000, "measure": 20_000}
    point = simulate(spec, routing, "uniform", 1.0, **options)
    assert not point["deadlocked"]
    assert point["accepted"] > 0.2


@pytest.mark.parametrize("routing", ["ts-dor:tc=shared", "duato:escape=off"])
def test_what_verify_refuses_gets_stuck_and_the_watchdog_sees_it(routing):
    options = {"packet": 8, "buffer": 8, "tcs": 1, "adaptive_tcs": 1, "warmup": 1000, "measure": 60_000, "unsafe": True}
    point = simulate("twin-torus:4x4x4", routing, "uniform", 1.0, **options)
    assert point["deadlocked"]
    assert len(point["deadlock"]["circle"]) > 1


def test_an_adaptive_packet_falls_back_on_the_escape_and_gets_further():
    """A tornado along one dimension: minimal ways are one, so that only falling back doubles the VCs that serve it."""
    options = {"packet": "1-8", "buffer": 16, "warmup": 1000, "measure": 10_000}
    adaptive = simulate("torus:8x8", "duato", "transpose", 1.0, **options)
    fixed = simulate("torus:8x8", "dor", "transpose", 1.0, **options)
    assert adaptive["accepted"] > 1.1 * fixed["accepted"]


def test_results_do_not_depend_on_threads():
    options = {"packet": "1-32", "warmup": 300, "measure": 2000}
    one, three = (simulate("twin-torus:4x3x4", "duato", "uniform", 0.6, **options, threads=n) for n in (1, 3))
    same = ("accepted", "latency_cycles", "flit_latency_cycles", "p99", "hops", "cycles", "flit_hops")
    assert [one[key] for key in same] == [three[key] for key in same]


@pytest.mark.parametrize(
    ("spec", "routing", "options", "words"),
    [
        ("twin-torus:4x4x2", "ts-dor", {"tcs": 1}, "keeps 2 groups of packets apart .*tcs is 1; give tcs=2"),
        ("twin-torus:4x4x2", "dort", {}, "needs 4 deterministic VCs in a traffic class, but tc-vcs is 2"),
        ("torus:4x4", "dor", {"packet": 65}, "packets of 65 flits do not fit into buffers of 64 flits"),
        (
            "torus:4x4",
            "dor",
            {"packet": "1-48", "buffer": 40, "buffers": "shared:16"},
            "packets of 48 flits do not fit into buffers of 40 flits",
        ),
        ("torus:4x4", "dor", {"vcs": 4}, "model=extoll has no vcs"),
        ("torus:4x4", "dor", {"speedup": 3}, "model=extoll has no speedup"),
        ("torus:4x4", "dor", {"model": "iq", "tcs": 2}, "tcs is for model=extoll"),
        ("torus:4x4", "dor:bubble=on", {}, "keeps bubbles in its rings, which model=extoll does not"),
        ("torus:4x4", "duato", {"adaptive_tcs": 0}, "no traffic class with an adaptive VC"),
        ("torus:4x4", "dor", {"tcs": 40}, "tcs is 40; it must be from 1 to 16"),
        ("mesh:1,p=70", "dor", {}, "routers of 70 ports; model=extoll has at most 64"),
    ],
)
def test_mistakes(spec, routing, options, words):
    with pytest.raises(TopoloomError, match=words):
        simulate(spec, routing, "uniform", 0.1, **options)
