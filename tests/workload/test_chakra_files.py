"""Applications written as Chakra traces: read back, they take the same time."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import topoloom as package
from oracles import chakrafile as ck
from topoloom import Application, TopoloomError


def seconds(app: str, **options: str) -> float:
    (result,) = package.workload("torus:4x4", app, **options).results
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
    own.write_chakra(tmp_path / "traces")
    file = tmp_path / "traces" / "trace.0.et"
    read = Application(f"chakra:{file}", 16)
    assert (read.tasks, read.num_messages, read.total_bytes) == (own.tasks, own.num_messages, own.total_bytes)
    assert seconds(f"chakra:{file}", endpoint=endpoint) == pytest.approx(seconds(app, endpoint=endpoint), rel=1e-12)


def test_what_is_lost_is_reported(tmp_path: Path) -> None:
    lost = Application("broadcast:algorithm=chain,size=8KiB,chunk=1KiB", 4).write_chakra(tmp_path / "chain.0.et")
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
    Application("reduce:size=1", 4).write_chakra(tmp_path / "trace.0.et")
    with pytest.raises(TopoloomError, match=r"trace\.3\.et is there already, and would be read as the trace of rank 3"):
        Application("reduce", 3).write_chakra(tmp_path)
    file = tmp_path / "notes.txt"
    file.write_text("mine")
    with pytest.raises(TopoloomError, match=r"notes\.txt is a file; give a folder"):
        Application("reduce", 4).write_chakra(file)


def test_the_command_line_writes_them(tmp_path: Path, topoloom: Callable[..., Any]) -> None:
    told = topoloom("workload", "mesh:4x4", "--app", "reduce:size=1KiB", "--chakra", str(tmp_path / "step.0.et"))
    assert (told.status, f"the traces are in {tmp_path}/step.0.et to {tmp_path}/step.15.et" in told.err) == (0, True)
    assert Application(f"chakra:{tmp_path}/step.0.et", 16).num_messages == 15
    told = topoloom("workload", "mesh:4x4", "--app", "reduce,allreduce", "--chakra", str(tmp_path))
    assert told.status == 2
    assert "--chakra writes one application; 2 are named" in told.err
