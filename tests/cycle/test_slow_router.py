"""The cycle engine against a slow router written a second time, flit for flit."""

import random
import statistics

import pytest

from harness.engine import LINKS, simulate
from oracles import graphs, routes, sources
from oracles.router import Options, Simulation
from topoloom import _core


def slow(spec, paths, load, options, made, warmup, measure):
    graph = graphs.build(spec)
    return Simulation(graph, paths(graph), options, made).run(warmup, measure)


def fast(spec, load, options, seed, warmup, measure):
    return simulate(
        spec,
        "dor",
        "uniform",
        load,
        **options.of_the_engine(),
        seed=seed,
        warmup=warmup,
        measure=measure,
    )


SLOW = [
    ("mesh:3x3", 0.1, Options(vcs=1, buffer=4, speedup=1)),
    ("mesh:3x3", 0.35, Options(vcs=1, buffer=4, speedup=1)),
    ("mesh:3x3", 0.3, Options(vcs=1, buffer=1, speedup=1, packet=3)),
    ("mesh:3x3", 0.3, Options(vcs=1, buffer=4, speedup=1, packet=3)),
    ("mesh:4x4", 0.35, Options(vcs=2, buffer=3, speedup=1, packet=4)),
    ("mesh:4x4", 0.45, Options(vcs=3, buffer=8, speedup=1, packet=2)),
    ("mesh:4x4", 0.5, Options(vcs=4, buffer=8, speedup=2)),
    ("mesh:3x3", 0.5, Options(vcs=4, buffer=8, speedup=1.5, packet=2)),
    ("mesh:3x3", 0.6, Options(vcs=4, buffer=8, speedup=3, packet=2)),
    ("mesh:3x3", 0.4, Options(vcs=4, buffer=8, speedup=1, allocator="islip")),
    ("mesh:4x4", 0.3, Options(vcs=2, buffer=4, speedup=1, allocator="islip", packet=3)),
    ("mesh:3x3", 0.5, Options(vcs=4, buffer=8, speedup=2, allocator="islip")),
    ("mesh:3x3", 0.35, Options(vcs=2, buffer=4, speedup=1, routing_delay=1, packet=2)),
    ("mesh:3x3", 0.4, Options(vcs=1, buffer=4, speedup=2, routing_delay=1)),
    ("mesh:3x2,p=2", 0.5, Options(vcs=2, buffer=4, speedup=1, credit_delay=0, packet=2)),
    ("torus:5x3", 0.45, Options(vcs=4, buffer=3, speedup=1, packet=2, classes=2)),
    ("mesh:3x3", 0.35, Options(vcs=1, buffer=4, speedup=1, packet=3, vct=True)),
    ("mesh:4x4", 0.4, Options(vcs=3, buffer=6, speedup=1, packet=4, vct=True)),
    ("mesh:4x4", 0.45, Options(vcs=2, buffer=7, speedup=2, packet=4, vct=True, allocator="islip")),
    ("torus:5x3", 0.45, Options(vcs=4, buffer=5, speedup=1.5, packet=3, vct=True, classes=2, routing_delay=1)),
    ("mesh:3x3", 0.5, Options(vcs=2, buffer=2, speedup=1, reserve=1)),
    ("mesh:4x4", 0.45, Options(vcs=4, buffer=3, speedup=1, packet=3, reserve=1)),
    ("mesh:4x4", 0.5, Options(vcs=3, buffer=4, speedup=2, packet=2, reserve=2, allocator="islip")),
    ("torus:5x3", 0.45, Options(vcs=4, buffer=3, speedup=1, packet=2, reserve=1, classes=2)),
    ("mesh:4x4", 0.45, Options(vcs=4, buffer=5, speedup=1, packet=4, reserve=4, vct=True)),
    ("mesh:4x4", 0.5, Options(vcs=4, buffer=6, speedup=2, packet=5, reserve=5, vct=True)),
    ("mesh:3x3", 0.6, Options(vcs=3, buffer=4, speedup=1, packet=3, reserve=3, vct=True, allocator="islip")),
    ("mesh:3x3", 0.45, Options(vcs=1, buffer=4, speedup=1, allocator="wavefront")),
    ("mesh:4x4", 0.45, Options(vcs=3, buffer=4, speedup=1, packet=3, allocator="wavefront")),
    ("mesh:3x3,p=2", 0.5, Options(vcs=4, buffer=8, speedup=2, packet=2, allocator="wavefront")),
    ("torus:5x3", 0.45, Options(vcs=4, buffer=3, speedup=1.5, packet=2, classes=2, allocator="wavefront")),
    ("mesh:4x4", 0.45, Options(vcs=4, buffer=5, speedup=1, packet=4, reserve=4, vct=True, allocator="wavefront")),
    ("mesh:3x3", 0.35, Options(vcs=1, buffer=4, speedup=1, packet="1-8")),
    ("mesh:4x4", 0.45, Options(vcs=3, buffer=4, speedup=1, packet="4:0.8,16:0.2")),
    ("mesh:4x4", 0.5, Options(vcs=3, buffer=8, speedup=2, packet="2-8", vct=True)),
    ("mesh:4x4", 0.5, Options(vcs=3, buffer=8, speedup=1, packet="1:3,2:1,7:2", vct=True, allocator="islip")),
    ("mesh:4x4", 0.5, Options(vcs=4, buffer=7, speedup=1, packet="1-6", reserve=6, vct=True)),
    ("mesh:3x3,p=2", 0.4, Options(vcs=4, buffer=3, speedup=1, packet="1-6", reserve=1)),
    ("mesh:4x4", 0.5, Options(vcs=4, buffer=7, speedup=1, packet="1-6", reserve=2, vct=True)),
    ("mesh:3x3", 0.6, Options(vcs=3, buffer=6, speedup=2, packet=5, reserve=1, vct=True, allocator="islip")),
    ("torus:3x3,p=2", 0.2, Options(vcs=2, buffer=4, classes=2, packet=2, latency=LINKS | {"terminal": 2, "local": 5})),
]


@pytest.mark.parametrize(("spec", "load", "options"), SLOW, ids=[f"{s} {n}" for n, (s, *_) in enumerate(SLOW)])
def test_flit_for_flit_as_the_slow_router(spec, load, options):
    """Given the engine's own packets, the slow router moves every one of them in the very same cycles."""
    warmup, measure, seed = 50, 250, 5
    terminals = _core.Network(spec).num_terminals
    made = [sources.Engine(seed, i, load, terminals, options.packet) for i in range(terminals)]
    paths = routes.dor_torus if spec.startswith("torus") else routes.dor_mesh
    theirs = slow(spec, paths, load, options, made, warmup, measure)
    ours = fast(spec, load, options, seed, warmup, measure)
    assert theirs.packets == ours["packets"]
    assert theirs.latency == pytest.approx(ours["latency_cycles"] * ours["packets"], abs=1e-6)
    assert theirs.network_latency == pytest.approx(ours["network_latency_cycles"] * ours["packets"], abs=1e-6)
    assert theirs.hops == pytest.approx(ours["hops"] * ours["packets"], abs=1e-6)
    assert theirs.flits == pytest.approx(ours["accepted"] * terminals * measure, abs=1e-6)


def test_a_routing_stage_takes_one_internal_step_at_any_speedup():
    test_flit_for_flit_as_the_slow_router("mesh:3x3", 0.35, Options(vcs=1, buffer=4, speedup=1.5, routing_delay=1))


@pytest.mark.parametrize(
    ("load", "options"),
    [
        (0.25, Options(vcs=1, buffer=4, speedup=1, packet=3)),
        (0.35, Options(vcs=2, buffer=2, speedup=1, packet=2)),
    ],
)
def test_the_slow_router_agrees_by_packets_of_its_own(load, options):
    """Nothing shared with the engine, not even random numbers: mean latencies agree within their noise."""
    means = []
    for seed in range(6):
        dice = random.Random(seed)
        made = [sources.Coin(dice, load / options.packet, 9, options.packet) for _ in range(9)]
        result = slow("mesh:3x3", routes.dor_mesh, load, options, made, 200, 1000)
        means.append(result.latency / result.packets)
    ours = fast("mesh:3x3", load, options, 1, 1000, 60_000)
    error = statistics.stdev(means) / len(means) ** 0.5
    assert abs(statistics.mean(means) - ours["latency_cycles"]) < 4 * error + 2 * ours["latency_ci95"]
