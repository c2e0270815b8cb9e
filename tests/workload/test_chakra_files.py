"""Applications written as Chakra traces: read back, they take the same time."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import topoloom as package
from oracles import chakrafile as ck
from topoloom import Application, TopoloomError


def seconds(app: str, spec: str = "torus:4x4", **options: str) -> float:
    (result,) = package.workload(spec, app, **options).results
    assert result.makespan_s is not None
    return result.makespan_s


GOAL = """num_ranks 3
rank 0 {
  a: calc 1700 cpu 0
  b: calc 2500 cpu 1
  c: calc 900 cpu 2
  d: calc 100 cpu 2
  s: send 4000b to 1 tag 1
  t: send 5000b to 1 tag 1
  t requires a
  d irequires s
  s requires b
}
rank 1 {
  r: recv 4000b from 0 tag 1
  q: recv 5000b from 0 tag 1
  z: send 10b to 2
  z irequires q
  q requires r
}
rank 2 { recv 10b from 1 }
"""


@pytest.mark.parametrize(
    "app",
    [
        "allreduce:size=9KiB",
        "sweep3d:grid=4x2x2,sweeps=3",
        "training:tensor=2,pipeline=2,data=4,hidden=64,sequence=64",
        "alltoall:algorithm=direct",
        "halo:grid=4x4,block=99x101,compute=7.3us,iterations=5",
        "goal:{schedule}",
        "chakra:{trace},ranks=16,tflops=1",
    ],
)
@pytest.mark.parametrize("endpoint", ["", "latency=1us,overhead=100ns"])
def test_what_is_written_takes_the_same_time(app: str, endpoint: str, tmp_path: Path) -> None:
    trace, schedule = tmp_path / "one.et", tmp_path / "own.goal"
    schedule.write_text(GOAL)
    nodes = [
        ck.node(1, ck.COMPUTE, micros=10),
        ck.node(2, ck.COMPUTE, micros=30, is_cpu_op=True),
        ck.node(5, ck.COMPUTE, num_ops=1_234_567),
        ck.node(3, ck.COLLECTIVE, [1, 5], comm_type=ck.ALL_REDUCE, comm_size=5000),
        ck.node(4, ck.COLLECTIVE, [2, 3], comm_type=ck.ALL_GATHER, comm_size=500),
    ]
    ck.write(trace, nodes)
    app = app.format(trace=trace, schedule=schedule)
    own = Application(app, 16)
    own.write_chakra(tmp_path / "traces", messages=True)
    file = tmp_path / "traces" / "trace.0.et"
    read = Application(f"chakra:{file}", 16)
    assert (read.tasks, read.num_messages, read.total_bytes) == (own.tasks, own.num_messages, own.total_bytes)
    assert seconds(f"chakra:{file}", endpoint=endpoint) == pytest.approx(seconds(app, endpoint=endpoint), rel=1e-12)


def test_what_is_lost_is_reported(tmp_path: Path) -> None:
    chain = Application("broadcast:algorithm=chain,size=8KiB,chunk=1KiB", 4)
    lost = chain.write_chakra(tmp_path / "chain.0.et", messages=True)
    assert len(lost) == 1
    assert "traces have no connections" in lost[0]
    (rounded,) = Application("halo:grid=2x2,compute=7.3us", 4).write_chakra(tmp_path / "halo")
    assert "whole microseconds" in rounded
    assert Application("halo:grid=2x2,compute=7us", 4).write_chakra(tmp_path / "halo") == []
    schedule = tmp_path / "late.goal"
    schedule.write_text(
        "num_ranks 2\nrank 0 {\na: calc 1000\nb: send 8b to 1\nb irequires a\n}\nrank 1 { recv 8b from 0 }"
    )
    (lost_start,) = Application(f"goal:{schedule}", 2).write_chakra(tmp_path / "late")
    assert "cannot wait for the start of a computation" in lost_start
    with pytest.raises(TopoloomError, match="repeats messages"):
        Application("gpcnet:congestor=incast", 64).write_chakra(tmp_path / "gpcnet")


def test_files_of_others_stay(tmp_path: Path) -> None:
    (tmp_path / "trace.2.et").write_text("mine")
    with pytest.raises(TopoloomError, match="force"):
        Application("reduce", 4).write_chakra(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["trace.2.et"]
    Application("reduce", 4).write_chakra(tmp_path, force=True)
    (tmp_path / "groups").mkdir()
    (tmp_path / "groups" / "comm_group.json").write_text("mine")
    with pytest.raises(TopoloomError, match="force"):
        Application("reduce:group=0-1", 4).write_chakra(tmp_path / "groups")
    assert [path.name for path in (tmp_path / "groups").iterdir()] == ["comm_group.json"]
    Application("reduce:size=1", 4).write_chakra(tmp_path / "trace.0.et")
    with pytest.raises(TopoloomError, match=r"trace\.3\.et is there already, and would be read as the trace of rank 3"):
        Application("reduce", 3).write_chakra(tmp_path)
    file = tmp_path / "notes.txt"
    file.write_text("mine")
    with pytest.raises(TopoloomError, match=r"notes\.txt is a file; give a folder"):
        Application("reduce", 4).write_chakra(file)


def test_the_command_line_writes_them(tmp_path: Path, topoloom: Callable[..., Any]) -> None:
    command = ["workload", "mesh:4x4", "--app", "reduce:size=1KiB", "--chakra", str(tmp_path / "step.0.et")]
    told = topoloom(*command, "--chakra-messages")
    assert (told.status, f"the traces are in {tmp_path}/step.0.et to {tmp_path}/step.15.et" in told.err) == (0, True)
    assert Application(f"chakra:{tmp_path}/step.0.et", 16).num_messages == 15
    told = topoloom("workload", "mesh:4x4", "--app", "reduce,allreduce", "--chakra", str(tmp_path))
    assert told.status == 2
    assert "--chakra writes one application; 2 are named" in told.err


@pytest.mark.parametrize(
    ("app", "read"),
    [
        ("allreduce:algorithm=ring,size=9KiB,iterations=3", "ring"),
        ("allreduce:algorithm=halving-doubling,size=9KiB", "halving-doubling"),
        ("all-gather:size=8KiB,group=0-14/2", "ring"),
        ("reduce-scatter:size=8KiB,group=8-15", "ring"),
        ("alltoall:algorithm=direct,size=3KiB", "direct"),
        ("broadcast:algorithm=chain,size=9KiB", "ring"),
    ],
)
def test_collectives_stay_collectives(app: str, read: str, tmp_path: Path) -> None:
    """Whole collectives are written; their messages are those of the algorithm given to the reader."""
    Application(app, 16).write_chakra(tmp_path)
    trace = f"chakra:{tmp_path / 'trace.0.et'},algorithm={read}"
    own = Application(app, 16)
    assert (Application(trace, 16).num_messages, Application(trace, 16).total_bytes) == (
        own.num_messages,
        own.total_bytes,
    )
    # Where nothing blocks: traces send one message at a time to each rank.
    assert seconds(trace, "hyperx:16") == pytest.approx(seconds(app, "hyperx:16"), rel=1e-9)
    nodes = ck.read(tmp_path / "trace.8.et")
    assert len(nodes) == (3 if "iterations" in app else 1)
    assert {node["type"] for node in nodes} == {ck.COLLECTIVE}


TRAINING = "training:tensor=2,context=2,pipeline=2,data=2,hidden=64,sequence=64,layers=4,zero=3,pipelined=false"


def test_training_steps_stay_collectives(tmp_path: Path) -> None:
    """By the reader's ring they are the step without pieces, whose groups are listed beside the traces."""
    assert Application(TRAINING, 16).write_chakra(tmp_path)
    file = tmp_path / "trace.0.et"
    assert seconds(f"chakra:{file}", "hyperx:16") == pytest.approx(seconds(TRAINING, "hyperx:16"), rel=1e-9)
    groups = {name: tuple(ranks) for name, ranks in json.loads((tmp_path / "comm_group.json").read_text()).items()}
    nodes = [node for rank in range(16) for node in ck.read(tmp_path / f"trace.{rank}.et")]
    called = {node["pg_name"] for node in nodes if node["type"] == ck.COLLECTIVE}
    assert called == set(groups)
    # Ranks count tensor first, then context, data and stages: pairs of tensor and of context ranks, and four with data.
    assert {(0, 1), (0, 2), (0, 4, 2, 6)} >= {ranks for ranks in groups.values() if ranks[0] == 0} - {(0, 2, 4, 6)}
    assert sum(len(ranks) == 4 for ranks in groups.values()) == 4
    kinds = {node["comm_type"] for node in nodes if node["type"] == ck.COLLECTIVE}
    assert kinds == {ck.ALL_REDUCE, ck.ALL_GATHER, ck.REDUCE_SCATTER}


def test_tables_of_calls_become_traces(tmp_path: Path) -> None:
    table = tmp_path / "calls.csv"
    rows = ["rank,collective,count,datatype,comm,compute_us"]
    rows += [f"{rank},AllReduce,1000,float32,dp{rank % 2},{10 + rank}" for rank in range(8)]
    rows += [f"{rank},AllGather,500,float32,,5" for rank in range(8)]
    table.write_text("\n".join(rows))
    Application(f"nccl:{table}", 16).write_chakra(tmp_path / "traces")
    file = tmp_path / "traces" / "trace.0.et"
    assert seconds(f"chakra:{file}") == pytest.approx(seconds(f"nccl:{table}"), rel=1e-9)
    assert json.loads((tmp_path / "traces" / "comm_group.json").read_text()) == {
        "dp0": [0, 2, 4, 6],
        "dp1": [1, 3, 5, 7],
    }


def test_what_traces_cannot_call_stays_messages(tmp_path: Path) -> None:
    for app in ("broadcast:root=3,size=8KiB", "send-recv", "all-to-all-v", "halo:grid=4x4"):
        folder = tmp_path / app.partition(":")[0]
        Application(app, 16).write_chakra(folder)
        kinds = {node["type"] for rank in range(16) for node in ck.read(folder / f"trace.{rank}.et")}
        assert kinds <= {ck.SEND, ck.RECEIVE, ck.COMPUTE}, app
        assert seconds(f"chakra:{folder}/trace.0.et") == pytest.approx(seconds(app), rel=1e-12)
