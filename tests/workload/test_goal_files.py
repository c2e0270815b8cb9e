"""Applications written as GOAL: read back, they take the same time."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import topoloom as package
from oracles import chakrafile as ck
from oracles import goalfile as gf
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


ANY_RANK = """num_ranks 3
rank 0 {{
  first: recv 10b from {any} tag {any}
  second: recv 10b from {any} tag {any}
  second requires first
  answer: send 10b to 1 tag 9
  answer requires second
  third: recv 10b from -1 tag 3
  third requires answer
}}
rank 1 {{
  a: send 10b to 0 tag 1
  wait: recv 10b from 0 tag 9
  wait requires a
  b: send 10b to 0 tag 3
  b requires wait
}}
rank 2 {{
  c: calc 500
  d: send 10b to 0 tag 2
  d requires c
}}
"""


@pytest.mark.parametrize("any_", ["-1", "*"])
def test_receives_from_any_rank_take_what_comes_first(any_: str, tmp_path: Path) -> None:
    file = tmp_path / "any.goal"
    file.write_text(ANY_RANK.format(any=any_))
    application = Application(f"goal:{file}", 8)
    ends = [(int(m["source"]), int(m["target"])) for m in application.messages()]
    # In the order of the file b would be the second, which waits for the answer to it.
    assert [ends[id_] for what, id_ in application.program(0) if what == "receive"] == [(1, 0), (2, 0), (1, 0)]
    assert seconds(f"goal:{file}") > 0
    file.write_text(ANY_RANK.format(any=any_).replace("to 0 tag 3", "to 0 tag 4"))
    with pytest.raises(TopoloomError, match="line 8: rank 0 receives from any rank with tag 3 what no rank sends"):
        Application(f"goal:{file}", 8)


def test_the_binary_form_is_the_same_schedule(tmp_path: Path) -> None:
    text, binary = tmp_path / "own.goal", tmp_path / "own.bin"
    text.write_text(
        "num_ranks 2\nrank 0 {\na: calc 1500 cpu 1\nb: send 70000b to 1 tag 7\nb requires a\n"
        "c: calc 900\nc irequires b\n}\nrank 1 {\nr: recv 70000b from -1 tag -1\nd: calc 20\nd requires r\n}\n"
    )
    first = [
        gf.Operation(gf.COMPUTE, 1500, cpu=1),
        gf.Operation(gf.SEND, 70_000, peer=1, tag=7, requires=[0]),
        gf.Operation(gf.COMPUTE, 900, irequires=[1]),
    ]
    other = [gf.Operation(gf.RECEIVE, 70_000, peer=gf.ANY, tag=gf.ANY), gf.Operation(gf.COMPUTE, 20, requires=[0])]
    gf.write(binary, [first, other])
    one, two = (Application(f"goal:{file}", 4) for file in (text, binary))
    assert [one.program(task) for task in (0, 1)] == [two.program(task) for task in (0, 1)]
    assert one.core.dependencies() == two.core.dependencies()
    whole = binary.read_bytes()
    for wrong, sentence in [
        (whole[:-3], "ends too early"),
        (whole[:12], "it has 2 ranks"),
        (whole.replace(b"\x02" + b"\xff" * 4, b"\x05" + b"\xff" * 4), "rank 1: it has the type 5; there are 1 to 3"),
    ]:
        binary.write_bytes(wrong)
        with pytest.raises(TopoloomError) as error:
            Application(f"goal:{binary}", 4)
        assert sentence in str(error.value)


SHARED = """num_ranks 4
rank 0 {
  a: calc 1000
  b: send 50000b to 1
  b requires a
}
rank 1 {
  r: recv 50000b from 0
  c: calc 2000
  c requires r
  s: send 50000b to 2
  s requires c
  e: calc 9000 cpu 1
  e irequires r
}
rank 2 {
  r: recv 50000b from 1
  s: send 50000b to 3
  s requires r
}
rank 3 {
  r: recv 50000b from 2
  c: calc 500
  c requires r
}
"""


@pytest.mark.parametrize("engine", ["flow", "cycle"])
def test_ranks_of_a_terminal_share_it(engine: str, tmp_path: Path) -> None:
    """By hand: 1 us and 2 us of computing, 1 us over the network, 0.5 us; each message between terminals adds 1 us."""
    file = tmp_path / "shared.goal"
    # What waits for the start of a receive does not wait for its message.
    for late, waits in ((9000, 9.0), (100, 4.5)):
        file.write_text(SHARED.replace("9000", str(late)))
        (told,) = package.workload("hyperx:4", f"goal:{file},ranks-per-terminal=2", engine=engine).results
        assert told.makespan_s == pytest.approx(waits * 1e-6, rel=1e-9 if engine == "flow" else 0.02)
        assert told.tasks == 2
    (apart,) = package.workload("hyperx:4", f"goal:{file}", engine=engine).results
    assert apart.makespan_s == pytest.approx(6.5e-6, rel=1e-9 if engine == "flow" else 0.02)


def test_ranks_of_a_terminal_compute_side_by_side(tmp_path: Path) -> None:
    file = tmp_path / "own.goal"
    ranks = "".join(f"rank {rank} {{\na: calc 1000\nb: calc 1000\n}}\n" for rank in range(6))
    file.write_text(f"num_ranks 6\n{ranks}")
    (told,) = package.workload("hyperx:2", f"goal:{file},ranks-per-terminal=3").results
    assert told.makespan_s == pytest.approx(2e-6, rel=1e-9)


def test_mistakes_in_shared_terminals_are_named(tmp_path: Path) -> None:
    file = tmp_path / "own.goal"
    file.write_text(SHARED)
    with pytest.raises(TopoloomError, match="num_ranks over ranks-per-terminal asks for 2 tasks; there is room for 1"):
        Application(f"goal:{file},ranks-per-terminal=2", 1)
    file.write_text(SHARED.replace("b requires a", "b requires a\n  z: recv 1b from 1\n  a requires z"))
    with pytest.raises(TopoloomError, match="rank 0 receives from rank 1 with tag 0 what no rank sends"):
        Application(f"goal:{file},ranks-per-terminal=2", 4)
    file.write_text(
        "num_ranks 3\nrank 0 {\na: recv 1b from 1\nb: send 1b to 1\nb requires a\n}\n"
        "rank 1 {\na: recv 1b from 0\nb: send 1b to 0\nb requires a\n}\nrank 2 { calc 5 }\n"
    )
    with pytest.raises(TopoloomError, match=r"wait for each other.*line 4 \(b of rank 0\).*line 9 \(b of rank 1\)"):
        Application(f"goal:{file},ranks-per-terminal=2", 4)


def test_messages_without_data_still_order_ranks(tmp_path: Path) -> None:
    """As schedules of MPI programs have them."""
    text, binary = tmp_path / "own.goal", tmp_path / "own.bin"
    text.write_text(
        "num_ranks 2\nrank 0 {\na: calc 1000\nb: send 0b to 1\nb requires a\n}\n"
        "rank 1 {\nr: recv 0b from 0\nc: calc 500\nc requires r\n}\n"
    )
    first = [gf.Operation(gf.COMPUTE, 1000), gf.Operation(gf.SEND, 0, peer=1, requires=[0])]
    gf.write(binary, [first, [gf.Operation(gf.RECEIVE, 0, peer=0), gf.Operation(gf.COMPUTE, 500, requires=[0])]])
    for file in (text, binary):
        (told,) = package.workload("hyperx:2", f"goal:{file}").results
        assert told.makespan_s == pytest.approx(1.5e-6, abs=1e-10)
        assert Application(f"goal:{file}", 2).notes == [f"goal:{file}: 1 message of 0 bytes, sent with one byte each"]
