"""Applications on the flow engine, where makespans are known; and GPCNeT's canaries beside congestors."""

from collections.abc import Callable
from itertools import pairwise
from math import log2
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import topoloom
from oracles import chakrafile as ck
from oracles import workloads as oracle
from topoloom import _core
from topoloom.studies import Results, Study

RATE = 5e10


def makespan(spec: str, app: str, flow: str = "", **options: object) -> float:
    (result,) = topoloom.workload(spec, app, flow_engine=flow, **options).results
    assert result.state == "finished"
    assert result.makespan_s is not None
    return result.makespan_s


@pytest.mark.parametrize(
    ("spec", "app", "flow", "bytes_"),
    [
        # One takes in what all send.
        ("hyperx:4x4", "reduce:size=10000", "", 15 * 10_000),
        ("torus:4x4x2", "reduce:size=10000", "", 31 * 10_000),
        # Every step is a permutation that the network carries at full rate.
        ("hyperx:16", "allreduce:size=16384", "", int(log2(16)) * 16_384),
        ("ring:8,degree=2,seed=1", "allreduce:size=8000,algorithm=ring", "", 14 * 1000),
        ("hyperx:16", "allreduce:size=16000,algorithm=rabenseifner", "", 2 * (8000 + 4000 + 2000 + 1000)),
        ("hyperx:16", "alltoall:size=500,algorithm=pairwise", "", 15 * 500),
        ("hyperx:16", "alltoall:size=500,algorithm=bruck", "", 4 * 8 * 500),
        ("hyperx:16", "alltoall:size=500,algorithm=direct", "injection=1", 15 * 500),
        ("hyperx:16", "broadcast:size=5000", "", 4 * 5000),
        ("mesh:8", "broadcast:size=8000,algorithm=chain", "", 7 * 8000),
        # Four tasks in a row, to both sides: a link carries one message at a time in each direction.
        ("torus:8", "nbodies:size=900", "", 4 * 900),
        # Neighbours on a torus that the grid fits: six at a time, or one after the other.
        ("torus:4x4x4", "nearneighbors:size=3000", "consumption=inf", 3000),
        ("torus:4x4x4", "nearneighbors:size=3000", "", 6 * 3000),
        ("hyperx:16", "bisection:size=700,rounds=5", "", 5 * 700),
    ],
)
def test_known_makespans(spec: str, app: str, flow: str, bytes_: int) -> None:
    assert makespan(spec, app, flow) == pytest.approx(bytes_ / RATE, rel=1e-9)
    assert makespan(spec, app, flow, rate="100Gb/s") == pytest.approx(4 * bytes_ / RATE, rel=1e-9)


def test_links_run_at_400_gbit_unless_something_else_is_given() -> None:
    assert topoloom.flows.run(topoloom.network("mesh:2"), [0], [1], [5 * 10**9]).makespan_s == pytest.approx(0.1)
    for engine in ("flow", "cycle"):
        (plain,) = topoloom.workload("mesh:2", "reduce:size=1MiB", engine=engine).results
        (same,) = topoloom.workload("mesh:2", "reduce:size=1MiB", engine=engine, rate="50GB/s").results
        (own,) = topoloom.workload("mesh:2,rate=100G", "reduce:size=1MiB", engine=engine).results
        assert plain.makespan_s == same.makespan_s == pytest.approx(own.makespan_s / 4)
        said = [[text for text in found.assumptions if "--rate" in text] for found in (plain, same, own)]
        wanted = ["400Gb/s in each direction", "50GB/s in each direction", "which --rate does not change"]
        assert all(text in one[0] for text, one in zip(wanted, said, strict=True))
        assert [len(one) for one in said] == [1, 1, 1]


def test_a_message_on_a_busy_path_waits_by_its_own_age(tmp_path) -> None:
    """A short message joins a long one after 0.9 s: it is served at once, and lets the last message go."""
    file = tmp_path / "late.csv"
    long, half = 1_250_000_000, 562_500_000
    file.write_text(
        "source,target,bytes,after\n"
        f"0,1,{long},\n15,14,{half},\n14,0,{half},1\n0,1,1250,2\n12,13,{long * 24 // 25},\n1,2,{long // 20},3\n"
    )
    exact, some = (
        makespan("mesh:4x4", f"messages:{file}", f"coalesce={share}", rate="10Gb/s") for share in ("0", "0.1")
    )
    assert exact == pytest.approx(1.000001, rel=1e-6)
    assert some == pytest.approx(exact, rel=1e-6)


def test_a_sweep_takes_as_many_steps_as_its_diagonals() -> None:
    # Where a task waits for three messages it takes them in at a third of the rate each.
    assert makespan("torus:4x4x4", "sweep3d:size=1000", "consumption=inf") == pytest.approx(9 * 1000 / RATE)


def test_computing_takes_its_time() -> None:
    assert makespan("torus:4x4", "halo:grid=4x4,block=10x10,compute=7us,iterations=3") == pytest.approx(
        3 * (7e-6 + 4 * 80 / RATE)
    )


def test_mappings_matter() -> None:
    app = "nearneighbors:grid=8x8x2,size=1000"
    linear, random = (makespan("torus:8x8x2", app, "consumption=inf", mapping=m) for m in ("linear", "random"))
    assert random > 2 * linear


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--router", "vcs=8"], "vcs is an option of the cycle engine, but engine is flow"),
        (["--flit", "32B"], "flit is an option of the cycle engine"),
        (["--engine", "cycle", "--flow-engine", "paths=2"], "flow-engine is an option of the flow engine"),
        (["--flow-engine", "gbps=5"], "gbps has an option of its own here; give --rate"),
        (["--flow-engine", "modle=share"], "did you mean 'model'"),
        (["--rate", "fast"], "rate is 'fast'"),
        (["--routing", "nca"], "nca"),
    ],
)
def test_mistakes(topoloom: Callable[..., Any], arguments: list[str], told: str) -> None:
    outcome = topoloom("workload", "torus:4x4", "--app", "reduce", *arguments)
    assert outcome.status == 2
    assert told in outcome.err


def test_gpcnet_is_for_the_cycle_engine(topoloom: Callable[..., Any]) -> None:
    outcome = topoloom("workload", "torus:4x4", "--app", "gpcnet")
    assert outcome.status == 2
    assert "give engine cycle" in outcome.err


def test_congestion_impact_factors() -> None:
    found = topoloom.workload(
        "torus:8x4", "gpcnet:iterations=30,warmup=30us,block=2KiB,size=64", engine="cycle", mapping="random"
    )
    assert len(found.results) == 15
    factors = {(impact.canary, impact.congestor): impact for impact in found.impacts}
    assert len(factors) == 12
    # On a torus an incast blocks whoever shares a link with it.
    assert factors["latency", "incast"].p99 > 1.5
    assert factors["allreduce", "incast"].mean > 1.05
    assert all(impact.mean > 0.95 for impact in factors.values())
    result = found.results[1]
    alone = found.results[0]
    assert result.message_mean_s is not None
    assert alone.message_mean_s is not None
    assert found.impacts[0].mean == pytest.approx(result.message_mean_s / alone.message_mean_s)


def test_studies_ask_for_makespans(tmp_path) -> None:
    study = Study.parse(
        """
        name = "apps"
        [[sweep]]
        kind = "workload"
        networks = ["torus:4x4", "hyperx:4x4"]
        apps = ["reduce:size=1KiB", "alltoall:size=1KiB"]
        options = { engine = ["flow", "cycle"] }
        [[sweep]]
        kind = "workload"
        networks = "torus:4x4"
        apps = "allreduce"
        options = { flow-engine = ["", "model=share"], mapping = "random" }
        [[sweep]]
        kind = "workload"
        networks = "torus:4x4"
        apps = "allreduce:size=1KiB"
        options = { model = "extoll", engine = "cycle", packet = 4 }
        """
    )
    assert len(study.points()) == 11
    rows = Results.of(study.run(tmp_path / "store"), [p.key for p in study.points()]).rows
    assert all(row["makespan_s"] > 0 for row in rows)
    assert rows[0]["makespan_s"] == pytest.approx(15 * 1024 / RATE)


APPS: dict[str, list[str]] = {
    "reduce": ["reduce", "reduce:algorithm=binomial"],
    "allreduce": [
        "allreduce:iterations=3",
        "allreduce:algorithm=ring",
        "allreduce:algorithm=tree,iterations=2",
        "allreduce:algorithm=rabenseifner,tasks=13",
        "allreduce:algorithm=ring,chunk=16KiB,channels=2,iterations=2",
        "allreduce:algorithm=double-binary-tree,tasks=13,chunk=8KiB",
    ],
    "reduce-scatter": ["reduce-scatter:algorithm=bruck"],
    "all-gather": ["all-gather:algorithm=2d,chunk=10KiB"],
    "all-to-all-v": ["all-to-all-v:size=1KiB-64KiB"],
    "send-recv": ["send-recv:shift=5,channels=3"],
    "barrier": ["barrier:iterations=3"],
    "msccl": ["msccl:{msccl},size=100000"],
    "chakra": ["chakra:{chakra},ranks=12", "chakra:{chakra},ranks=5,algorithm=double-binary-tree"],
    "nccl": ["nccl:{nccl},ranks=9", "nccl:{nccl},ranks=6,algorithm=double-binary-tree"],
    "mapreduce": ["mapreduce:partners=5"],
    "sweep3d": ["sweep3d:sweeps=3", "sweep3d:reading=inrflow,sweeps=2"],
    "flood": ["flood:waves=3"],
    "nearneighbors": ["nearneighbors:grid=2x4x2,iterations=3"],
    "nbodies": ["nbodies", "nbodies:reading=inrflow"],
    "unstructured": ["unstructured:each=5,size=1KiB-64KiB,rounds=2"],
    "unstructured-mgmt": ["unstructured-mgmt:each=9"],
    "unstructured-hr": ["unstructured-hr:each=5"],
    "bisection": ["bisection:rounds=5"],
    "alltoall": ["alltoall:algorithm=pairwise", "alltoall:algorithm=direct", "alltoall:algorithm=bruck"],
    "broadcast": ["broadcast", "broadcast:algorithm=chain"],
    "halo": ["halo:grid=4x4,block=99x101,compute=7.3us,iterations=5"],
    "permutation": ["permutation:size=1MiB"],
    "training": [
        "training:data=2,tensor=4,pipeline=2,layers=4,microbatches=4",
        "training:data=4,tensor=2,pipeline=2,expert=2,layers=4",
    ],
    "goal": ["goal:{goal}"],
    "messages": ["messages:{messages}"],
}
"""Every application that the flow engine runs, with repetitions where it has any."""

GRAPHS = ("goal", "msccl", "chakra", "nccl", "training")
"""Those whose tasks do not do one thing after another."""

GOAL = """num_ranks 4
rank 0 { a: calc 1001 cpu 0
b: calc 333 cpu 0
c: calc 77
s: send 6400b to 1
s requires a
t: send 100000b to 2
t requires b
s irequires c }
rank 1 { r: recv 6400b from 0
d: calc 12345
d requires r
s: send 999b to 3
s requires d }
rank 2 { r: recv 100000b from 0
d: calc 5
d requires r
s: send 99999b to 3
s requires d }
rank 3 { x: recv 999b from 1
y: recv 99999b from 2
z: calc 41
z requires x
z requires y }
"""


STEP = '<step s="{0}" type="{1}" srcbuf="i" srcoff="{2}" dstbuf="s" dstoff="{2}" cnt="1" depid="-1" deps="-1"/>'
MSCCL = '<algo nchunksperloop="2" ngpus="2" coll="custom">' + "".join(
    f'<gpu id="{gpu}" i_chunks="2" o_chunks="0" s_chunks="2"><tb id="0" send="{1 - gpu}" recv="{1 - gpu}" chan="0">'
    + "".join(STEP.format(step, kind, step // 2) for step, kind in enumerate(["s", "r", "s", "r"]))
    + "</tb></gpu>"
    for gpu in range(2)
) + "</algo>"  # fmt: skip


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("apps")
    goal, messages, msccl = folder / "four.goal", folder / "list.csv", folder / "swap.xml"
    goal.write_text(GOAL)
    msccl.write_text(MSCCL)
    chakra = folder / "one.et"
    nodes = [
        ck.node(1, ck.COMPUTE, micros=37),
        ck.node(2, ck.COLLECTIVE, comm_type=ck.ALL_GATHER, comm_size=7000, pg_name="a"),
        ck.node(3, ck.COMPUTE, [2], micros=11),
        ck.node(4, ck.COLLECTIVE, [1, 3], comm_type=ck.ALL_REDUCE, comm_size=99_999, pg_name="b"),
    ]
    ck.write(chakra, nodes)
    nccl = folder / "calls.csv"
    nccl.write_text("collective,bytes,compute_us\nAllReduce,99999,37\nAllGather,7000,11\nAllToAll,801,0\n")
    messages.write_text("source,target,bytes,after\n0,1,1KiB\n1,2,50000,0\n2,0,1MB,1\n0,2,8,2\n5,2,77777\n2,7,9,1 4\n")
    return {"goal": goal, "messages": messages, "msccl": msccl, "chakra": chakra, "nccl": nccl}


@pytest.mark.parametrize(
    "flow", ["", "coalesce=0.2", "latency=300ns,injection=1", "latency=300ns,coalesce=0.1,paths=3"]
)
@pytest.mark.parametrize("spec", ["torus:4x4", "clos:radix=8,levels=2"])
def test_the_critical_path_takes_the_makespan_in_every_application(
    spec: str, flow: str, files: dict[str, Path]
) -> None:
    assert {app.name for app in _core.apps()} - {"gpcnet"} == set(APPS)
    apps = [app.format(**files) for listed in APPS.values() for app in listed]
    for result in topoloom.workload(spec, apps, flow_engine=flow).results:
        told = result.model_extra or {}
        path = told["critical_path"]
        assert result.makespan_s is not None
        assert path["message_s"] + path["compute_s"] == pytest.approx(result.makespan_s, rel=1e-9), result.app
        steps = path["steps"]
        assert all(a["end_s"] == b["start_s"] for a, b in pairwise(steps)), result.app
        assert steps[-1]["end_s"] == result.makespan_s
        if len(steps) == path["messages"] + path["computations"]:
            assert steps[0]["start_s"] == 0.0
        assert 0 < path["alone_s"] <= path["message_s"] * (1 + 1e-9), result.app
        assert 0 <= told["coalesced_s"] <= result.makespan_s * (flow.count("coalesce") or 0)
        assert result.ideal_s is not None
        assert 0 < result.ideal_s <= result.makespan_s * (1 + 1e-9), result.app


@pytest.mark.parametrize("routing", ["minimal", "adaptive"])
@pytest.mark.parametrize("flow", ["", "symmetry=on", "paths=4"])
@pytest.mark.parametrize(
    "app",
    [
        "allreduce:algorithm=ring",
        "allreduce:algorithm=hierarchical",
        "allreduce:algorithm=ring,chunk=4KiB",
        "alltoall:algorithm=direct",
        "alltoall:algorithm=pairwise",
        "training:preset=gpt3-13b,layers=4,microbatches=4",
    ],
)
def test_messages_within_hosts_take_no_longer_alone(app: str, flow: str, routing: str) -> None:
    """Links within hosts are faster than interfaces: the share of the critical path exceeded 100 %."""
    spec = "cluster:hosts=4,host=hgx-h100,fabric=(fattree:k=16,levels=2,rate=400G)"
    (result,) = topoloom.workload(spec, app, routing=routing, flow_engine=flow).results
    path = (result.model_extra or {})["critical_path"]
    assert 0 < path["alone_s"] <= path["message_s"] * (1 + 1e-9)


def test_one_message_takes_as_long_as_it_takes_alone(tmp_path: Path) -> None:
    file = tmp_path / "list.csv"
    file.write_text("source,target,bytes\n0,1,1MB\n")
    spec = "cluster:hosts=2,host=hgx-h100,fabric=(fattree:k=16,levels=2,rate=400G)"
    (result,) = topoloom.workload(spec, f"messages:{file}").results
    path = (result.model_extra or {})["critical_path"]
    assert path["alone_s"] == pytest.approx(path["message_s"], rel=1e-12)


@st.composite
def schedules(draw: st.DrawFn) -> list[tuple[int, int, int, list[int]]]:
    """Messages between eight tasks; each waits for some of those that have arrived at its source."""
    rows: list[tuple[int, int, int, list[int]]] = []
    for _ in range(draw(st.integers(2, 30))):
        source = draw(st.integers(0, 7))
        target = (source + draw(st.integers(1, 7))) % 8
        known = [place for place, row in enumerate(rows) if row[1] == source]
        after = draw(st.lists(st.sampled_from(known), unique=True, max_size=3)) if known else []
        rows.append((source, target, draw(st.integers(1, 10**6)), after))
    return rows


@given(rows=schedules(), flow=st.sampled_from(["", "coalesce=0.3", "latency=3us", "model=share"]))
@settings(max_examples=60, deadline=None)
def test_each_step_of_the_critical_path_is_what_the_next_one_waited_for(
    rows: list[tuple[int, int, int, list[int]]], flow: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    file = tmp_path_factory.mktemp("random") / "list.csv"
    lines = (f"{a},{b},{size},{' '.join(map(str, after))}" for a, b, size, after in rows)
    file.write_text("source,target,bytes,after\n" + "\n".join(lines))
    network = _core.Network("mesh:3x3")
    workload = _core.Workload.on(f"messages:{file}", network)
    cancel = _core.CancelToken()
    told, _, times, _ = _core.flow_workload(
        _core.Routing(network, "dor"), workload, "linear", flow, "400Gb/s", 1, cancel
    )
    begun, ended = times.T
    wanted = [max((ended[before] for before in row[3]), default=0.0) for row in rows]
    assert begun == pytest.approx(wanted, abs=0)
    chain = [step["message"] for step in told["critical_path"]["steps"]]
    assert ended[chain[-1]] == told["makespan_s"] == ended.max()
    assert begun[chain[0]] == 0.0
    for before, message in pairwise(chain):
        assert before in rows[message][3]
        assert ended[before] == begun[message]
    took = np.sort(ended - begun)
    assert told["messages"]["mean_s"] == pytest.approx(took.mean())
    assert told["messages"]["p99_s"] == took[-(-99 * len(rows) // 100) - 1]


@pytest.mark.parametrize("flow", ["", "injection=0.5", "consumption=2,injection=3"])
@pytest.mark.parametrize("name", [name for name in APPS if name not in (*GRAPHS, "messages")])
def test_the_ideal_is_that_of_its_definition(name: str, flow: str) -> None:
    """Of tasks that do one thing after another, which those of collectives in pieces do not."""
    for app in (app for app in APPS[name] if "chunk=" not in app and "channels=" not in app):
        (result,) = topoloom.workload("torus:4x4", app, flow_engine=flow).results
        keys = dict(key.split("=") for key in flow.split(",") if key)
        send, receive = float(keys.get("injection", "inf")) * RATE, float(keys.get("consumption", 1)) * RATE
        programs = oracle.programs_of(topoloom.Application(app, 16))
        wanted = oracle.ideal(programs, min(RATE, send, receive), send, receive)
        assert result.ideal_s == pytest.approx(wanted, rel=1e-9), app


def test_the_ideal_is_reached_where_nothing_is_shared() -> None:
    for app in ("reduce:size=9999", "permutation:size=1MiB", "alltoall:size=500"):
        (result,) = topoloom.workload("hyperx:16", app, flow_engine="injection=1").results
        assert result.over_ideal == pytest.approx(1.0, rel=1e-9), app
    (crowded,) = topoloom.workload("clos:radix=8,levels=3", "permutation:size=1MiB").results
    (wide,) = topoloom.workload("clos:radix=8,levels=3", "permutation:size=1MiB", flow_engine="paths=64").results
    assert crowded.ideal_s == wide.ideal_s == pytest.approx(2**20 / RATE)
    assert crowded.over_ideal is not None
    assert wide.over_ideal is not None
    assert crowded.over_ideal > 2 > wide.over_ideal > 1, "a path for each message, as the output says"


def test_the_cycle_engine_takes_longer_than_the_ideal() -> None:
    for app in ("alltoall:size=300", "reduce:size=64KiB", "halo:grid=4x4,block=8x8,compute=1us,iterations=2"):
        (result,) = topoloom.workload("torus:4x4", app, engine="cycle").results
        assert result.over_ideal is not None
        assert 1 < result.over_ideal < 40, app
    (large,) = topoloom.workload("mesh:2", "reduce:size=1MiB", engine="cycle").results
    assert large.over_ideal == pytest.approx(1, rel=1e-3)


def test_an_adaptive_routing_runs_and_its_model_is_stated(topoloom: Callable[..., Any], tmp_path: Path) -> None:
    specs, page = ("dragonfly:a=4,h=2,p=2", "clos:radix=8,levels=2", "torus:4x4"), tmp_path / "page.html"
    apps = "alltoall:size=4KiB,permutation"
    minimal = topoloom("workload", *specs, "--app", apps, "--json").json()
    outcome = topoloom("workload", *specs, "--app", apps, "--routing", "adaptive", "--out", str(page), "--json")
    assert outcome.status == 0
    found = outcome.json()
    for own, least in zip(found, minimal, strict=True):
        assert own["role"] == "adaptive"
        assert own["makespan_s"] <= 1.02 * least["makespan_s"]
    assert {r["routing"] for r in found} == {"par", "anca", "amin"}
    assert any(text.startswith("par: each part of a message decides at its start") for text in found[0]["assumptions"])
    assert "adaptive (anca)" in page.read_text()
    table = topoloom("workload", "dragonfly:a=4,h=2,p=2", "--app", apps, "--routing", "ugal-l")
    assert "ugal-l: each part of a message decides at its start" in table.out
    assert "paths=1: a message takes one path; " in table.out
    assert "ideal: a lower bound" in table.out
    cycle = topoloom("workload", "dragonfly:a=4,h=2,p=2", "--app", "reduce:size=64", "--engine", "cycle", "--routing",
                     "adaptive", "--json")  # fmt: skip
    assert cycle.json()[0]["routing"] == "par"
    assert not any("decides at its start" in text for text in cycle.json()[0]["assumptions"])


def test_studies_store_the_routing_that_ran(tmp_path: Path) -> None:
    study = Study.parse(
        """
        name = "adaptive"
        [[sweep]]
        kind = "workload"
        networks = "clos:radix=8,levels=2"
        routings = ["adaptive", "nca", "val"]
        apps = "alltoall:size=1KiB"
        [[sweep]]
        kind = "workload"
        networks = "dragonfly:a=4,h=2,p=2"
        routings = "adaptive"
        apps = "reduce:size=1KiB,tasks=8"
        options = { engine = "cycle" }
        """
    )
    rows = Results.of(study.run(tmp_path / "store"), [p.key for p in study.points()]).rows
    assert {row["routing"] for row in rows} == {"anca", "nca", "val", "par"}
    assert all(row["ideal_s"] <= row["makespan_s"] * (1 + 1e-9) for row in rows)


def test_networks_are_compared_on_the_same_number_of_tasks(topoloom: Callable[..., Any], tmp_path: Path) -> None:
    specs, page = ("dragonfly:a=4,h=2,p=2", "torus:4x4x4", "hyperx:4x4,p=5"), tmp_path / "page.html"
    found = topoloom("workload", *specs, "--app", "alltoall:size=1KiB",
                     "--app", "training:hidden=256,sequence=64,tensor=3", "--app", "sweep3d", "--app", "halo:grid=4x4",
                     "--app", "reduce:tasks=10", "--json").json()  # fmt: skip
    tasks = {r["app"]: set() for r in found}
    for result in found:
        tasks[result["app"]].add((result["tasks"], result["flows"], result["bytes"]))
    assert all(len(seen) == 1 for seen in tasks.values()), "the same problem everywhere"
    assert [min(seen)[0] for seen in tasks.values()] == [64, 63, 64, 16, 10]
    said = {r["app"] for r in found for text in r["assumptions"] if "tasks on every network" in text}
    assert said == {"alltoall:size=1KiB", "training:hidden=256,sequence=64,tensor=3", "sweep3d"}, "unless given"
    outcome = topoloom("workload", *specs, "--app", "alltoall:size=1KiB", "--out", str(page))
    sentence = "alltoall:size=1KiB: 64 tasks on every network, as many as the smallest one has room for"
    assert outcome.out.count(sentence) == 1
    assert sentence in page.read_text()
    alone = topoloom("workload", specs[0], "--app", "alltoall:size=1KiB", "--json").json()
    assert alone[0]["tasks"] == 72
    failed = topoloom("workload", "mesh:4x4", "torus:4x5", "--app", "reduce", "--fail", "routers=2,seed=3", "--routing",
                      "updown", "--json").json()  # fmt: skip
    assert [r["tasks"] for r in failed] == [14, 14]
