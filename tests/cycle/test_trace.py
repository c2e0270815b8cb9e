"""The replay of traces: against the slow router, flit for flit; on any number of threads; and mistakes in files."""

import random
from pathlib import Path

import pytest

import topoloom
from harness.engine import LINKS, repeatable, simulate
from oracles import graphs, routes
from oracles.router import Options, Simulation
from oracles.sources import Replay
from topoloom import TopoloomError, _core

Packets = list[tuple[int, int, int, int]]


def write(folder: Path, packets: Packets) -> str:
    file = folder / "trace.csv"
    file.write_text("time,source,destination,flits\n" + "".join(",".join(map(str, p)) + "\n" for p in packets))
    return f"trace:{file}"


def bursts(terminals: int, count: int, length: int, sizes: list[int], seed: int) -> Packets:
    """Random packets of some of the terminals in random cycles, several a cycle and source now and then."""
    dice = random.Random(seed)
    senders = dice.sample(range(terminals), max(terminals - 2, 1))
    times = sorted(dice.randrange(length) for _ in range(count))
    return [(time, dice.choice(senders), dice.randrange(terminals), dice.choice(sizes)) for time in times]


def replay(spec: str, routing: str, traffic: str, **options) -> dict:
    return repeatable(simulate(spec, routing, traffic, 1.0, **options))


CASES = [
    ("mesh:3x3", 300, 200, [1], Options(vcs=1, buffer=4, speedup=1)),
    ("mesh:3x3", 200, 400, [1, 2, 7], Options(vcs=1, buffer=4, speedup=1)),
    ("mesh:4x4", 400, 100, [1, 5], Options(vcs=2, buffer=3, speedup=1)),
    ("mesh:3x3", 100, 10, [1, 5], Options(vcs=2, buffer=4, speedup=1)),
    ("mesh:3x3,p=2", 300, 50, [1, 3, 20], Options(vcs=3, buffer=8, speedup=2)),
    ("mesh:3x3", 300, 300, [2, 3], Options(vcs=4, buffer=8, speedup=1.5)),
    ("mesh:4x4", 300, 100, [1, 4], Options(vcs=2, buffer=4, speedup=1, allocator="islip")),
    ("torus:5x3", 300, 100, [1, 2], Options(vcs=4, buffer=3, classes=2, latency=LINKS | {"terminal": 2, "local": 5})),
    ("mesh:3x2", 5, 3000, [1, 9], Options(vcs=4, buffer=8)),
    ("mesh:4x4", 300, 100, [1, 5], Options(vcs=2, buffer=6, speedup=1, vct=True)),
    ("mesh:3x3", 300, 100, [2, 3], Options(vcs=3, buffer=4, reserve=3, vct=True, allocator="wavefront")),
]


@pytest.mark.parametrize(("spec", "count", "length", "sizes", "options"), CASES, ids=[case[0] for case in CASES])
def test_flit_for_flit_as_the_slow_router(tmp_path, spec, count, length, sizes, options):
    terminals = _core.Network(spec).num_terminals
    packets = bursts(terminals, count, length, sizes, seed=len(spec) + count)
    graph = graphs.build(spec)
    made = [Replay([(t, to, n) for t, src, to, n in packets if src == terminal]) for terminal in range(terminals)]
    paths = (routes.dor_torus if spec.startswith("torus") else routes.dor_mesh)(graph)
    theirs = Simulation(graph, paths, options, made).run(0, packets[-1][0] + 1)
    ours = replay(
        spec,
        "dor",
        write(tmp_path, packets),
        **options.of_the_engine(),
    )
    assert ours["converged"]
    assert ours["packets"] == theirs.packets == count
    assert theirs.latency == pytest.approx(ours["latency_cycles"] * count, abs=1e-6)
    assert theirs.network_latency == pytest.approx(ours["network_latency_cycles"] * count, abs=1e-6)
    assert theirs.hops == pytest.approx(ours["hops"] * count, abs=1e-6)
    assert ours["makespan_cycles"] == ours["measured_cycles"] == theirs.last + 1


def test_packets_that_are_all_created_at_once_are_replayed(tmp_path):
    """Routers next to each other exchange 30 flits from cycle 0 on: 8 cycles for the first, 1 for each further one."""
    trace = write(tmp_path, [(0, source, 1 - source, 10) for source in (0, 1, 0, 1, 0, 1)])
    (point,) = topoloom.network("mesh:2").simulate(traffic=trace).points.values()
    assert (point.offered, point.packets, point.converged) == (30, 6, True)
    assert point.makespan_cycles == 4 + 2 + 2 + 29 + 1


def test_what_is_told_of_a_trace(tmp_path):
    """Two packets that nothing hinders: 4 cycles for terminals' links, 1 per router, 2 per link, 1 per further flit."""
    point = replay("mesh:8", "dor", write(tmp_path, [(3, 0, 7, 1), (100, 6, 7, 4)]))
    latencies = [4 + 8 + 2 * 7, 4 + 2 + 2 + 3]
    assert point["latency_cycles"] == sum(latencies) / 2
    assert (point["p50"], point["p99"]) == (min(latencies), max(latencies))
    assert point["hops"] == (8 + 2) / 2
    assert point["makespan_cycles"] == 100 + latencies[1] + 1
    assert point["active_terminals"] == 2
    assert point["offered"] == 5 / 2 / 101
    assert point["accepted"] == pytest.approx(5 / 2 / point["makespan_cycles"])
    assert point["flit_hops"] == 8 + 2 * 4
    assert point["latency_ci95"] is None
    assert point["converged"]
    assert not point["saturated"]


def test_a_backlog_is_sent_in_order_one_flit_a_cycle(tmp_path):
    """What a source creates at once waits in its queue: the k-th of n flits leaves in cycle k."""
    point = replay("mesh:1,p=2", "dor", write(tmp_path, [(0, 0, 1, 1)] * 500))
    assert point["network_latency_cycles"] == 5
    assert point["latency_cycles"] == 5 + 499 / 2
    assert point["makespan_cycles"] == 505


@pytest.mark.parametrize(
    ("spec", "routing", "options"),
    [
        ("mesh:6x6", "dor", {"vcs": 2, "buffer": 3, "speedup": 1}),
        ("dragonfly:a=4,h=2,p=2", "ugal-l", {"links": LINKS | {"global": 9}}),
        ("torus:5x4", "val", {"seed": 4}),
    ],
)
def test_the_same_on_any_number_of_threads(tmp_path, spec, routing, options):
    terminals = _core.Network(spec).num_terminals
    traffic = write(tmp_path, bursts(terminals, 600, 60, [1, 2, 6], seed=1))
    once = replay(spec, routing, traffic, **options)
    assert once["converged"]
    for threads in (2, 3):
        assert replay(spec, routing, traffic, **options, threads=threads) == once


def test_a_trace_can_deadlock(tmp_path):
    traffic = write(tmp_path, bursts(8, 3000, 300, [1, 2, 6], seed=1))
    point = replay("torus:8", "dor", traffic, vcs=1, buffer=1, unsafe=True)
    assert point["deadlocked"]
    assert not point["converged"]
    assert point["makespan_cycles"] is None


def test_a_pattern_of_a_trace_is_what_its_flits_say(tmp_path):
    trace = write(tmp_path, [(0, 1, 2, 3), (4, 1, 0, 1), (4, 3, 3, 2)])
    shares = _core.Traffic(_core.Network("mesh:4"), trace).weights()
    assert shares == [[], [(2, 3, 0.75), (0, 1, 0.25)], [], [(3, 4, 1.0)]]


def test_from_python_and_from_the_command_line(tmp_path, topoloom):
    traffic = write(tmp_path, [(0, 0, 5, 3), (9, 2, 1, 1)])
    outcome = topoloom("simulate", "mesh:4x4", "--traffic", traffic, "--json")
    assert outcome.status == 0
    [point] = outcome.json()["points"]
    curve = network.simulate(traffic=traffic)
    [(load, same)] = curve.points.items()
    assert load == same.offered == point["offered"]
    assert same.makespan_cycles == point["makespan_cycles"]
    shown = topoloom("simulate", "mesh:4x4", "--traffic", traffic)
    assert f"after {same.makespan_cycles} cycles" in shown.out
    for line, told in [
        (["simulate", "mesh:4x4", "--load", "0.1"], "a trace has a load of its own"),
        (["saturation", "mesh:4x4"], "cannot be searched for saturation"),
        (["compare", "mesh:4x4"], "cannot be searched for saturation"),
        (["bound", "mesh:4x4"], "none that it saturates at"),
        (["simulate", "mesh:4x4", "--packet", "2"], "a trace has sizes of packets of its own; leave packet out"),
        (["simulate", "mesh:4x4", "--injection", "on-off:alpha=0.1,beta=0.1"], "leave injection out"),
        (["simulate", "mesh:4x4", "--warmup", "1", "--measure", "9"], "leave warmup and measure out"),
    ]:
        outcome = topoloom(*line, "--traffic", traffic)
        assert outcome.status == 2
        assert told in outcome.err
        assert outcome.err.count("\n") == 1


network = topoloom.network("mesh:4x4")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("0,1,2,1\n5,1,2,1\n4,1,2,1\n", "line 3: time 4 is before time 5 of the packet before"),
        (
            "time,source,destination,flits\n0,1,16,1\n",
            "line 2: destination is '16'; it must be a whole number from 0 to 15",
        ),
        ("0,99,1,1\n", "line 1: source is '99'"),
        ("0,1,2,0\n", "line 1: flits is '0'; it must be a whole number from 1 to 65535"),
        ("0,1,2,65536\n", "line 1: flits is '65536'"),
        ("0,1,2\n", "line 1: 3 columns; there must be time,source,destination,flits"),
        ("0,1,2,1,1\n", "line 1: 5 columns"),
        ("-1,1,2,1\n", "line 1: time is '-1'"),
        ("1.5,1,2,1\n", "line 1: time is '1.5'"),
        ("99999999999,1,2,1\n", "line 1: time is '99999999999'; it must be a whole number from 0 to 50000000"),
        ("0 1 2 1\n", "line 1: 1 column;"),
        ("time,src,dst,flits\n0,1,2,1\n", "line 1: the columns are time,src,dst,flits"),
        ("\n# empty\n", "trace.csv has no rows; each row must be time,source,destination,flits"),
    ],
)
def test_mistakes_in_a_trace(tmp_path, text, told):
    file = tmp_path / "trace.csv"
    file.write_text(text)
    with pytest.raises(TopoloomError) as raised:
        network.simulate(traffic=f"trace:{file}")
    assert told in str(raised.value)


def test_files_that_are_none(tmp_path):
    for name, told in [
        ("trace", "needs a FILE, as in trace:FILE"),
        ("trace:/nonexistent", "No such file"),
        (f"trace:{tmp_path}", "it is a folder"),
    ]:
        with pytest.raises(TopoloomError, match=told):
            network.simulate(traffic=name)
