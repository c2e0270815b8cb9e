"""Applications on the cycle engine: what is sent when, and what the network makes of it, each by another way."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import topoloom
from oracles import workloads as oracle
from topoloom import _core

CYCLE_S = 64 / 5e10


def play(spec: str, routing: str, app: str, mapping: str = "linear", **options: object) -> tuple[dict, list]:
    """Return the engine's result, and (message, ready cycle, arrival cycle) by message."""
    network = _core.Network(spec)
    workload = _core.Workload.on(app, network)
    run = _core.CyclePlay(_core.Routing(network, routing), workload, mapping, "64B", "400Gb/s", "", json.dumps(options))
    told, times = run.run(_core.CancelToken())
    ids, ready, arrived = (column.tolist() for column in times)
    cycles = [(m, round(r / CYCLE_S), round(a / CYCLE_S)) for m, r, a in zip(ids, ready, arrived, strict=True)]
    return told, cycles


def ready_by(programs: oracle.Programs, arrivals: dict[int, int], cycle_s: float) -> dict[int, int]:
    """Return when each message can be sent if messages arrive as they did, task by task."""
    found = {}
    for program in programs:
        now = 0
        for op in program:
            if op[0] == "send":
                found[op[3]] = now
            elif op[0] == "receive":
                now = max(now, arrivals[op[2]])
            else:
                now += max(1, -int(-op[1] // cycle_s))
    return found


APPS = (
    "allreduce:size=2000", "allreduce:algorithm=ring,size=9KiB", "sweep3d:grid=4x2x2,size=500",
    "flood:grid=4x2x2,waves=2",
    "nearneighbors:grid=2x4x2,iterations=2", "nbodies:size=700", "alltoall:size=300,algorithm=pairwise",
    "bisection:size=1000",
    "mapreduce:size=200", "broadcast:algorithm=chain,size=3KiB", "unstructured:each=3,size=64-4096",
    "halo:grid=4x4,block=8x8,compute=1us,iterations=2", "training:tensor=2,pipeline=2,hidden=32,sequence=16",
)  # fmt: skip


SEQUENCES = [app for app in APPS if not app.startswith("training")]
"""Those whose tasks do one thing after another."""


@given(
    app=st.sampled_from(SEQUENCES),
    mapping=st.sampled_from(["linear", "random:seed=3"]),
    packet=st.sampled_from([1, 3, 512]),
)
@settings(max_examples=25, deadline=None)
def test_messages_are_sent_as_soon_as_what_they_wait_for_has_arrived(app: str, mapping: str, packet: int) -> None:
    network = "torus:4x2,p=2"
    told, cycles = play(network, "dor", app, mapping, packet=packet)
    application = topoloom.Application(app, 16)
    assert told["flows"] == application.num_messages == len(cycles)
    arrivals = {message: arrived for message, _, arrived in cycles}
    programs = oracle.programs_of(application)
    assert {message: ready for message, ready, _ in cycles} == ready_by(programs, arrivals, CYCLE_S)
    ends = [arrived for _, _, arrived in cycles]
    assert told["makespan_cycles"] >= max(ends) + 1
    if not any(op[0] == "compute" for program in programs for op in program):
        assert told["makespan_cycles"] == max(ends) + 1
    assert told["makespan_s"] == pytest.approx(told["makespan_cycles"] * CYCLE_S)
    # A flit per cycle from every terminal, and a flit per cycle to each.
    for message, ready, arrived in cycles:
        assert arrived - ready >= -(-int(application.messages()[message]["bytes"]) // 64)


@pytest.mark.parametrize("app", [app for app in APPS if not app.startswith(("nearneighbors", "unstructured"))])
def test_the_network_carries_messages_as_it_carries_a_trace(app: str, tmp_path: Path) -> None:
    """Messages of one packet, replayed as a trace of packets that are created when they were ready.

    Those that are all ready within fewer cycles than they have flits would be no load that a trace may have.
    """
    spec = "mesh:4x4"
    told, cycles = play(spec, "dor", app, packet=1024)
    table = topoloom.Application(app, 16).messages()
    rows = sorted((ready, message) for message, ready, _ in cycles)
    lines = [
        f"{ready},{table[m]['source']},{table[m]['target']},{-(-int(table[m]['bytes']) // 64)}" for ready, m in rows
    ]
    file = tmp_path / "trace.csv"
    file.write_text("\n".join(lines))
    point = topoloom.network(spec).simulate("dor", f"trace:{file}").sorted_points()[0]
    assert point.makespan_cycles == max(arrived for *_, arrived in cycles) + 1
    assert point.flit_hops == told["flit_hops"]


def test_threads_change_nothing() -> None:
    for app in (
        "alltoall:size=500,algorithm=pairwise",
        "training:tensor=2,pipeline=2,hidden=32,sequence=16",
        "gpcnet:congestor=all,iterations=9,warmup=2us",
    ):
        one, three = (play("torus:4x4,p=2", "dor", app, "random", packet=4, threads=n) for n in (1, 3))
        assert one[1] == three[1]
        assert one[0]["makespan_cycles"] == three[0]["makespan_cycles"]


def test_one_stream_takes_what_a_link_takes(topoloom: Callable[..., Any]) -> None:
    outcome = topoloom(
        "workload",
        "mesh:4",
        "torus:8",
        "--app",
        "reduce:size=64KiB,tasks=2",
        "--baseline",
        "torus:8",
        "--engine",
        "cycle",
        "--json",
    )
    assert outcome.status == 0
    results = outcome.json()
    assert [(r["spec"], r["app"], r["engine"]) for r in results] == [
        ("mesh:4", "reduce:size=64KiB,tasks=2", "cycle"),
        ("torus:8", "reduce:size=64KiB,tasks=2", "cycle"),
    ]
    for result in results:
        # 1,024 flits and an empty network's latency.
        assert 1024 < result["makespan_cycles"] < 1040
        assert result["makespan_s"] == pytest.approx(result["makespan_cycles"] * CYCLE_S)
        assert result["flows"] == 1
        assert result["relative"] == 1.0
        assert result["peak_rss_bytes"] > 0


def test_the_report_and_the_chart_are_written(topoloom: Callable[..., Any], tmp_path: Path) -> None:
    page, chart = tmp_path / "page.html", tmp_path / "chart.svg"
    arguments = [
        "torus:4x4",
        "mesh:4x4",
        "--app",
        "reduce:size=1KiB,sweep3d:grid=2x2x3",
        "--out",
        str(page),
        "--plot",
        str(chart),
    ]
    outcome = topoloom("workload", *arguments)
    assert outcome.status == 0
    assert "sweep3d:grid=2x2x3" in outcome.out
    text = page.read_text()
    assert "reduce:size=1KiB" in text
    assert "Makespan" in text
    assert chart.read_text().startswith("<?xml")
    first = chart.read_bytes()
    topoloom("workload", *arguments)
    assert chart.read_bytes() == first


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["torus:4x4", "--app", "reduse"], "did you mean 'reduce'"),
        (["torus:4x4", "--app", "reduce:tasks=17"], "there is room for 16"),
        (["torus:4x4", "--app", "reduce", "--mapping", "randon"], "did you mean 'random'"),
        (["torus:4x4", "--app", "reduce", "--mapping", "tiles:size=2x2"], "are on no grid"),
        (["torus:4x4", "--app", "nearneighbors:grid=4x4x1", "--mapping", "tiles:size=3x2x1"], "do not divide the grid"),
        (["torus:4x4", "--app", "reduce", "--mapping", "blocks:size=17"], "size is 17"),
        (["torus:4x4", "--app", "reduce", "--flit", "0B"], "flit is '0B'"),
        (["torus:4x4", "--app", "reduce", "--rate", "10"], "rate is '10'"),
        (["torus:4x4", "--app", "reduce", "--baseline", "mesh:4x4"], "the baseline is mesh:4x4"),
        (["torus:4x4", "--app", "reduce", "--packet", "1-4"], "packets of one size"),
        (["torus:4x4", "--app", "reduce", "--injection", "on-off:alpha=0.5,beta=0.5"], "has times of its own"),
        (["torus:4x4", "--app", "reduce", "--routing", "val", "--router", "vcs=1"], "needs 4 VCs"),
    ],
)  # fmt: skip
def test_mistakes_end_with_status_2(topoloom: Callable[..., Any], arguments: list[str], told: str) -> None:
    outcome = topoloom("workload", "--engine", "cycle", *arguments)
    assert outcome.status == 2
    assert told in outcome.err
    assert outcome.err.count("\n") == 1


def test_tasks_avoid_failed_routers(topoloom: Callable[..., Any]) -> None:
    outcome = topoloom(
        "workload",
        "mesh:4x4",
        "--app",
        "alltoall:size=64B,algorithm=pairwise",
        "--fail",
        "routers=2,seed=3",
        "--routing",
        "updown",
        "--json",
    )
    assert outcome.status == 0
    assert outcome.json()[0]["tasks"] == 14


def test_several_apps_by_several_options(topoloom: Callable[..., Any]) -> None:
    apps = ["--app", "reduce", "--app", "allreduce:size=1KiB,reduce", "--app", "mapreduce"]
    runs = topoloom("workload", "torus:4x4", *apps, "--json").json()
    assert [run["app"] for run in runs] == ["reduce", "allreduce:size=1KiB", "mapreduce"]


def test_the_ideal_in_cycles_is_told_as_it_is(tmp_path):
    """One message in an empty network: its slow terminal and the delays of links are not in the ideal."""
    spec, file = "hyperx:2,p=1,rate=400G,rate.terminal=100G,delay=1us", tmp_path / "one.csv"
    file.write_text("source,target,bytes\n0,1,1000000\n")
    found = {
        engine: topoloom.workload(spec, f"messages:{file}", engine=engine).results[0] for engine in ("flow", "cycle")
    }
    assert found["flow"].ideal_s == pytest.approx(83e-6)
    assert found["cycle"].ideal_s == pytest.approx(20e-6)
    assert "every message alone on its path" in found["flow"].assumptions[0]
    told = (
        "terminals send and receive one flit per cycle, routers and links without delay; a cycle is that of a flit at "
    )
    assert found["cycle"].assumptions[0].endswith(told + "400 Gb/s")
    assert not any("messages alone" in line for line in found["cycle"].assumptions)
