"""Chakra traces: read, run, and their mistakes."""

import re
from pathlib import Path

import pytest

import topoloom
from oracles import chakrafile as ck
from topoloom import Application, TopoloomError

RATE = 5e10


LAST = ck.node(12, ck.COLLECTIVE, comm_type=ck.ALL_REDUCE, comm_size=100_000, pg_name="stage0")


def four(tmp_path: Path, **changes: list[bytes]) -> str:
    """Write the traces of four ranks: a pipeline of two stages of two ranks each, which reduce gradients at last."""
    ranks = {
        rank: [
            ck.node(10, ck.COMPUTE, micros=100 * (rank + 1)),
            ck.node(11, ck.SEND, [10], comm_dst=rank + 2, comm_size=50_000, comm_tag=5),
            ck.node(
                12, ck.COLLECTIVE, [10, 11], comm_type=ck.ALL_REDUCE, comm_size=100_000, pg_name=f"stage{rank // 2}"
            ),
        ]
        if rank < 2
        else [
            ck.node(7, ck.RECEIVE, comm_src=rank - 2, comm_size=50_000, comm_tag=5),
            ck.node(8, ck.COMPUTE, [7], micros=300),
            ck.node(3, ck.COLLECTIVE, [8], comm_type=ck.ALL_REDUCE, comm_size=100_000, pg_name="stage1"),
        ]
        for rank in range(4)
    }
    ranks |= {int(name[1:]): nodes for name, nodes in changes.items()}
    for rank, nodes in ranks.items():
        ck.write(tmp_path / f"step.{rank}.et", nodes)
    return f"chakra:{tmp_path}/step.0.et"


def makespan(app: str, spec: str = "hyperx:4", **options: str) -> float:
    (result,) = topoloom.workload(spec, app, **options).results
    assert result.makespan_s is not None
    return result.makespan_s


def test_a_trace_by_hand(tmp_path: Path) -> None:
    # Rank 1 computes 200 us and sends 50,000 bytes, rank 3 computes 300 us; a ring of two takes two steps of as many.
    assert makespan(four(tmp_path)) == pytest.approx(200e-6 + 300e-6 + 3 * 50_000 / RATE, rel=1e-9)
    application = Application(four(tmp_path), 8)
    assert (application.tasks, application.num_messages) == (4, 2 + 2 * 4)


@pytest.mark.parametrize("ranks", [2, 3, 8])
@pytest.mark.parametrize(
    ("kind", "app"),
    [
        (ck.ALL_REDUCE, "allreduce:algorithm=ring,size={0}"),
        (ck.ALL_GATHER, "all-gather:algorithm=ring,size={1}"),
        (ck.REDUCE_SCATTER, "reduce-scatter:algorithm=ring,size={0}"),
        (ck.ALL_TO_ALL, "alltoall:algorithm=direct,size={2}"),
        (ck.BROADCAST, "broadcast:algorithm=chain,size={0}"),
        (ck.BARRIER, "barrier:size={0}"),
    ],
)
def test_one_trace_for_all_ranks_runs_our_collectives(tmp_path: Path, kind: int, app: str, ranks: int) -> None:
    size = 48_000
    ck.write(tmp_path / "one.et", [ck.node(1, ck.COLLECTIVE, comm_type=kind, comm_size=size)], version="")
    told = app.format(size, size * ranks, size // ranks)
    own = makespan(f"chakra:{tmp_path}/one.et,ranks={ranks}", f"hyperx:{ranks}")
    assert own == pytest.approx(makespan(f"{told},tasks={ranks}", f"hyperx:{ranks}"), rel=1e-9)


def test_nodes_compute_one_at_a_time_and_operations_need_a_speed(tmp_path: Path) -> None:
    nodes = [
        ck.node(1, ck.COMPUTE, micros=100),
        ck.node(2, ck.COMPUTE, micros=50),
        ck.node(3, ck.COMPUTE, micros=130, is_cpu_op=True),
        ck.node(4, ck.COMPUTE, num_ops=3_000_000_000),
        ck.node(5, ck.COLLECTIVE, [1, 2, 3, 4], comm_type=ck.BARRIER),
    ]
    ck.write(tmp_path / "one.et", nodes)
    app = f"chakra:{tmp_path}/one.et,ranks=2"
    barrier = 8 / RATE
    assert makespan(app) == pytest.approx(150e-6 + barrier)
    assert makespan(f"{app},tflops=30") == pytest.approx(250e-6 + barrier)
    (note,) = Application(app, 2).notes
    assert "2 nodes give operations and no time" in note


def test_traces_run_flit_by_flit(tmp_path: Path) -> None:
    app = four(tmp_path)
    # A terminal sends a flit per cycle there, to whomever.
    assert makespan(app, engine="cycle") == pytest.approx(makespan(app, flow_engine="injection=1"), rel=0.01)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        (
            {"r0": [ck.node(11, ck.SEND, [2], comm_dst=2, comm_size=9, comm_tag=5), ck.node(2, 4, [11]), LAST]},
            "wait for each other without end: node 11 (n11) of rank 0 -> node 2 (n2) of rank 0 -> node 11",
        ),
        ({"r0": [ck.node(1, ck.COMPUTE, [9])]}, "step.0.et: node 1 (n1) depends on node 9, which does not exist"),
        (
            {"r0": [ck.node(10, ck.COMPUTE)]},
            "step.2.et: node 7 (n7) of rank 2 waits for what rank 0 never sends with tag 5",
        ),
        (
            {"r2": [ck.node(1, ck.COMPUTE)]},
            "step.0.et: node 11 (n11) of rank 0 sends what rank 2 never receives with tag 5",
        ),
        (
            {"r1": [ck.node(1, ck.SEND, comm_dst=3, comm_size=9, comm_tag=5),
                    ck.node(2, ck.COLLECTIVE, comm_type=ck.ALL_GATHER, comm_size=100_000, pg_name="stage0")]},
            "step.1.et: node 2 (n2) of rank 1 meets node 12 (n12) of rank 0, which is another collective",
        ),
        (
            {"r0": [ck.node(1, ck.SEND, comm_dst=9, comm_size=1)]},
            "node 1 (n1) of rank 0 names rank 9; there are ranks 0 to 3",
        ),
        ({"r0": [ck.node(1, ck.SEND, comm_size=1)]}, "node 1 (n1) has no comm_dst"),
        ({"r0": [ck.node(1, 77)]}, "node 1 (n1) has the type 77"),
        ({"r0": [ck.node(1, ck.COMPUTE), ck.node(1, ck.COMPUTE)]}, "node 1 (n1) is listed twice"),
        ({"r0": [ck.node(1, ck.COLLECTIVE, comm_type=33, comm_size=1)]}, "node 1 (n1) has the comm_type 33"),
    ],
)  # fmt: skip
def test_mistakes_name_ranks_and_nodes(tmp_path: Path, changes: dict[str, list[bytes]], told: str) -> None:
    with pytest.raises(TopoloomError) as error:
        Application(four(tmp_path, **changes), 8)
    assert told in str(error.value)
    assert "\n" not in str(error.value)


def test_a_rank_that_never_comes_is_named(tmp_path: Path) -> None:
    gathers = [ck.node(4, ck.COLLECTIVE, comm_type=ck.ALL_GATHER, comm_size=8)]
    for rank in range(3):
        ck.write(tmp_path / f"step.{rank}.et", gathers if rank != 1 else [ck.node(1, ck.COMPUTE)])
    with pytest.raises(
        TopoloomError, match="rank 0 waits without end: rank 1 never comes to this collective of all ranks"
    ):
        Application(f"chakra:{tmp_path}/step.0.et", 8)


def test_files_that_are_no_traces(tmp_path: Path) -> None:
    app = four(tmp_path)
    file = tmp_path / "step.2.et"
    whole = file.read_bytes()
    for wrong, told in [
        (whole[:-3], "step.2.et: the file ends behind 2 nodes"),
        (whole[:4], "step.2.et: the file ends within its metadata"),
        (b"", "step.2.et: it is empty"),
        (b"not a trace at all, but a text of some length, " * 4, "step.2.et: "),
    ]:  # fmt: skip
        file.write_bytes(wrong)
        with pytest.raises(TopoloomError) as error:
            Application(app, 8)
        assert told in str(error.value)
    ck.write(file, [], version="2.3.0")
    with pytest.raises(TopoloomError, match=r"its schema has the version '2\.3\.0'; 1\.x is read"):
        Application(app, 8)
    ck.write(tmp_path / "alone.0.et", [])
    with pytest.raises(TopoloomError, match="it is the trace of one rank"):
        Application(f"chakra:{tmp_path}/alone.0.et", 8)
    with pytest.raises(TopoloomError, match="the trace asks for 4 tasks; there is room for 3"):
        Application(four(tmp_path), 3)


def test_calls_on_the_processor_only_start_communication(tmp_path: Path) -> None:
    """As PyTorch records them: the call of the library, and the kernel that communicates, with its type and size."""
    nodes = [
        ck.node(1, ck.COLLECTIVE, micros=50, is_cpu_op=True, name="c10d::broadcast_"),
        ck.node(2, ck.COLLECTIVE, [1], micros=9, is_cpu_op=False, comm_type=ck.ALL_REDUCE, comm_size=1_000_000),
    ]
    ck.write(tmp_path / "one.et", nodes)
    app = f"chakra:{tmp_path / 'one.et'},ranks=2"
    assert makespan(app, "hyperx:2") == pytest.approx(50e-6 + 2 * 500_000 / RATE, rel=1e-9)
    (note,) = Application(app, 2).notes
    assert "1 nodes of communication are marked is_cpu_op" in note


def test_messages_without_data_still_order_ranks(tmp_path: Path) -> None:
    sender = [ck.node(1, ck.COMPUTE, micros=7), ck.node(2, ck.SEND, [1], comm_dst=1, comm_size=0, is_cpu_op=False)]
    other = [ck.node(1, ck.RECEIVE, comm_src=0, comm_size=0, is_cpu_op=False), ck.node(2, ck.COMPUTE, [1], micros=5)]
    ck.write(tmp_path / "step.0.et", sender)
    ck.write(tmp_path / "step.1.et", other)
    assert makespan(f"chakra:{tmp_path / 'step.0.et'}", "hyperx:2") == pytest.approx(12e-6, abs=1e-10)


def test_roots_that_a_file_leaves_out_are_done(tmp_path: Path) -> None:
    """PyTorch's traces name the process and the thread by control, which are no nodes of their files."""
    # Dependencies alternate between data and control: 1 is data of 2, and 99 control.
    nodes = [ck.node(1, ck.COMPUTE, micros=5), ck.node(2, ck.COMPUTE, [1, 99], micros=7)]
    ck.write(tmp_path / "one.et", nodes)
    app = f"chakra:{tmp_path / 'one.et'},ranks=2"
    assert makespan(app, "hyperx:2") == pytest.approx(12e-6, rel=1e-9)
    (note,) = Application(app, 2).notes
    assert "1 control dependencies name nodes that the file does not contain" in note
    ck.write(tmp_path / "one.et", [nodes[0], ck.node(2, ck.COMPUTE, [99], micros=7)])
    with pytest.raises(TopoloomError, match=r"node 2 .* depends on node 99, which does not exist"):
        Application(app, 2)


def test_cycles_of_control_dependencies_can_be_left_out(tmp_path: Path) -> None:
    """PyTorch's older traces name their callers by control in circles, while data flows in one direction."""
    # Dependencies alternate between data and control: 3 follows 1 by data; 2 and 3 wait for each other by control.
    nodes = [
        ck.node(1, ck.COMPUTE, micros=5),
        ck.node(2, ck.COMPUTE, [1, 3], micros=7),
        ck.node(3, ck.COMPUTE, [1, 2], micros=11),
    ]
    ck.write(tmp_path / "one.et", nodes)
    app = f"chakra:{tmp_path / 'one.et'},ranks=2"
    told = "node 2 (n2) of rank 0; only control dependencies close cycles in this trace: dependencies=data leaves them"
    with pytest.raises(TopoloomError, match=re.escape(told)):
        Application(app, 2)
    assert makespan(f"{app},dependencies=data", "hyperx:2") == pytest.approx(23e-6, rel=1e-9)
    with pytest.raises(TopoloomError, match="did you mean 'data'"):
        Application(f"{app},dependencies=dat", 2)


def test_cycles_of_data_dependencies_stay_mistakes(tmp_path: Path) -> None:
    nodes = [ck.node(1, ck.COMPUTE, [2]), ck.node(2, ck.COMPUTE, [1, 3]), ck.node(3, ck.COMPUTE, [1, 2])]
    ck.write(tmp_path / "one.et", nodes)
    for keys in ("", ",dependencies=data"):
        with pytest.raises(TopoloomError, match="wait for each other without end") as error:
            Application(f"chakra:{tmp_path / 'one.et'},ranks=2{keys}", 2)
        assert "dependencies=data leaves" not in str(error.value)


def test_data_dependencies_alone_leave_nothing_to_note(tmp_path: Path) -> None:
    """A control dependency on a node outside the file is not noted where control does not count; order may change."""
    nodes = [ck.node(1, ck.COMPUTE, micros=5), ck.node(2, ck.COMPUTE, [1, 99], micros=7)]
    ck.write(tmp_path / "one.et", nodes)
    assert Application(f"chakra:{tmp_path / 'one.et'},ranks=2,dependencies=data", 2).notes == []
