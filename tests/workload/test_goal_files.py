"""Applications written as GOAL: read back, they take the same time."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import topoloom as package
from oracles import chakrafile as ck
from topoloom import Application, TopoloomError


def seconds(app: str) -> float:
    (result,) = package.workload("torus:4x4", app, endpoint="latency=1us,overhead=100ns").results
    assert result.makespan_s is not None
    return result.makespan_s


@pytest.mark.parametrize(
    "app",
    [
        "allreduce:size=9KiB",
        "sweep3d:grid=4x2x2,sweeps=3",
        "training:tensor=2,pipeline=2,data=4,hidden=64,sequence=64",
        "alltoall:algorithm=direct",
        "allreduce:algorithm=double-binary-tree,size=64KiB",
        "halo:grid=4x4,block=99x101,compute=7.3us,iterations=5",
        "chakra:{trace}",
    ],
)
def test_what_is_written_takes_the_same_time(app: str, tmp_path: Path) -> None:
    trace = tmp_path / "one.et"
    nodes = [
        ck.node(1, ck.COMPUTE, micros=10),
        ck.node(2, ck.COMPUTE, micros=30, is_cpu_op=True),
        ck.node(3, ck.COLLECTIVE, [1], comm_type=ck.ALL_REDUCE, comm_size=5000),
        ck.node(4, ck.COLLECTIVE, [2, 3], comm_type=ck.ALL_GATHER, comm_size=500),
    ]
    ck.write(trace, nodes)
    app = app.format(trace=f"{trace},ranks=16")
    file = tmp_path / "own.goal"
    own = Application(app, 16)
    own.write_goal(file)
    read = Application(f"goal:{file}", 16)
    assert (read.num_messages, read.total_bytes) == (own.num_messages, own.total_bytes)
    # Times of computing are whole nanoseconds there.
    assert seconds(f"goal:{file}") == pytest.approx(seconds(app), rel=1e-3 if "training" in app else 1e-6)


def test_pieces_and_repetitions_are_not_lost_unsaid(tmp_path: Path) -> None:
    notes = Application("broadcast:algorithm=chain,size=8KiB,chunk=1KiB", 4).write_goal(tmp_path / "chain.goal")
    assert "GOAL has no connections" in notes[0]
    with pytest.raises(TopoloomError, match="repeats messages"):
        Application("gpcnet:congestor=incast", 64).write_goal(tmp_path / "gpcnet.goal")


def test_files_of_others_stay(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("mine")
    with pytest.raises(TopoloomError, match="force"):
        Application("reduce", 4).write_goal(file)
    assert file.read_text() == "mine"
    own = tmp_path / "own.goal"
    for size in ("1KiB", "2KiB"):
        Application(f"reduce:size={size}", 4).write_goal(own)
    assert "2048b" in own.read_text()


def test_the_command_line_writes_it(tmp_path: Path, topoloom: Callable[..., Any]) -> None:
    file = tmp_path / "own.goal"
    told = topoloom("workload", "mesh:4x4", "--app", "reduce:size=1KiB", "--goal", str(file))
    assert (told.status, f"the schedule is in {file}" in told.err) == (0, True)
    assert Application(f"goal:{file}", 16).num_messages == 15
    told = topoloom("workload", "mesh:4x4", "--app", "reduce,allreduce", "--goal", str(file))
    assert told.status == 2
    assert "--goal writes one application; 2 are named" in told.err
