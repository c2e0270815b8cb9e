"""The accounting of a machine, replayed: which jobs are read, when they begin, and what they take beside each other."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from topoloom import TopoloomError
from topoloom.workload.concurrent import concurrent
from topoloom.workload.replay import replay
from topoloom.workload.sacct import read_jobs

RING = "allreduce:algorithm=ring,size=1MB"

SACCT = """JobID|JobName|NNodes|Submit|Start|End|Elapsed|State
100|a|2|2026-01-31T12:00:00|2026-01-31T12:01:00|2026-01-31T12:11:00|00:10:00|COMPLETED
100.batch|batch|1|2026-01-31T12:01:00|2026-01-31T12:01:00|2026-01-31T12:11:00|00:10:00|COMPLETED
101_3|b|4|2026-01-31T12:00:30|2026-01-31T12:02:00|2026-02-02T12:02:00|2-00:00:00|TIMEOUT
102|c|1|2026-01-31T12:00:40|Unknown|Unknown|00:00:00|CANCELLED
"""


def write(tmp_path: Path, *rows: str) -> Path:
    file = tmp_path / "jobs.csv"
    file.write_text("JobID,Submit,ElapsedRaw,NNodes\n" + "".join(f"{row}\n" for row in rows))
    return file


def test_jobs_of_sacct_are_read(tmp_path: Path) -> None:
    file = tmp_path / "jobs.txt"
    file.write_text(SACCT)
    jobs, notes = read_jobs(file)
    assert [(job.name, job.number, job.submit_s, job.start_s, job.elapsed_s, job.nodes) for job in jobs] == [
        ("100", 100, 0.0, 60.0, 600.0, 2),
        ("101_3", 104, 30.0, 120.0, 172_800.0, 4),
    ]
    assert [note.partition(": ")[2] for note in notes] == [
        "1 rows are steps of jobs, and passed over",
        "1 jobs never ran, and are passed over",
    ]


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (
            "NNodes",
            "Nodes",
            "has no column NNodes or AllocNodes or ReqNodes; its first line names JobID, JobName, Nodes",
        ),
        ("Elapsed", "Took", "has no column ElapsedRaw or Elapsed"),
        ("2026-01-31T12:00:30", "yesterday", "line 4: Submit is 'yesterday'; it must be a time, as in 2026-01-31T"),
        ("2-00:00:00", "two days", "line 4: Elapsed is 'two days'; it must be seconds, or a time as in 1-02:30:00"),
        ("|b|4|", "|b|four|", "line 4: NNodes is 'four'; it must be a whole number of nodes"),
    ],
)
def test_mistakes_in_accounting_have_their_line(tmp_path: Path, old: str, new: str, told: str) -> None:
    file = tmp_path / "jobs.txt"
    file.write_text(SACCT.replace(old, new))
    with pytest.raises(TopoloomError) as error:
        read_jobs(file)
    assert told in str(error.value)


def test_what_collectives_take_is_what_the_flow_engine_finds(tmp_path: Path) -> None:
    """Two rings across one link, alone and at once, on the terminals that the allocator gives them."""
    file = write(tmp_path, "1,2026-01-31T12:00:00,10,2", "2,2026-01-31T12:00:00,10,2")
    found = replay("mesh:2,p=2", file, mix=[f"{RING},computing=0s"], allocator="spread", rate="1GB/s")
    jobs = [f"{RING},on=0+2", f"{RING},on=1+3"]
    both = concurrent("mesh:2,p=2", jobs, rate="1GB/s")
    for own, other in zip(found.outcome.jobs, both.jobs, strict=True):
        assert own.collective_s == pytest.approx(other.alone_s)
        assert (own.end_s - own.start_s) / own.alone_s == pytest.approx(other.slowdown)
    assert found.outcome.collectives == 20_000
    assert found.slowdowns == pytest.approx([2.0, 2.0])


@pytest.mark.parametrize(
    ("spec", "app", "routing", "allocator", "tolerance"),
    [
        ("dragonfly:a=4,h=2,p=2", "allreduce:algorithm=ring,size=480kB", "min", "contiguous", 1e-6),
        ("torus:8x8", "allreduce:algorithm=ring,size=480kB", "dor", "contiguous", 1e-6),
        ("fattree:k=4,levels=3", "alltoall:algorithm=direct,size=16KiB", "updown", "random", 0.1),
        ("hyperx:8x8", "halo", "dor", "random", 0.1),
        # Here ranks that are ahead share links with those behind them.
        ("dragonfly:a=4,h=2,p=2", "allreduce:algorithm=ring,size=1MiB", "min", "random", 0.2),
    ],
)
def test_a_collective_alone_takes_what_it_takes_message_by_message(
    spec: str, app: str, routing: str, allocator: str, tolerance: float, tmp_path: Path
) -> None:
    file = write(tmp_path, "1,2026-01-31T12:00:00,10,48")
    found = replay(spec, file, mix=[app], allocator=allocator, routing=routing)
    (job,) = found.outcome.jobs
    exact = concurrent(spec, [f"{app},tasks=48"], allocator=allocator, routing=routing).jobs[0].alone_s
    assert job.collective_s == pytest.approx(exact, rel=tolerance)
    assert job.alone_s == pytest.approx(job.collectives * (1.0 + job.collective_s)) == pytest.approx(10, abs=1)


def test_jobs_begin_in_their_order_as_soon_as_there_are_nodes(tmp_path: Path) -> None:
    file = tmp_path / "jobs.csv"
    day = "2026-01-31T12"
    file.write_text(
        f"JobID,Submit,Start,Elapsed,NNodes\n7,{day}:00:00,{day}:05:00,01:00:00,3\n"
        f"8,{day}:01:00,None,00:30:00,2\n9,{day}:02:00,None,00:01:00,4\n"
    )
    found = replay("mesh:4", file, mix=[RING, "alltoall:size=1kB", "halo"])
    # 8 may begin first, and 9 waits for 8; 7 begins once 9, which came before it, is done.
    jobs = {job.name: job for job in found.outcome.jobs}
    assert [round(jobs[name].start_s / 60) for name in ("8", "9", "7")] == [1, 31, 32]
    assert [jobs[name].app for name in ("7", "8", "9")] == ["alltoall:size=1kB", "halo", RING]
    assert jobs["7"].wait_s == pytest.approx(27 * 60, abs=2)
    with pytest.raises(TopoloomError, match="job 9 has 4 nodes; mesh:3 has 3 for jobs"):
        replay("mesh:3", file)
    with pytest.raises(TopoloomError, match=r"job 7 has 3 nodes; cluster.* has 2 for jobs"):
        replay("cluster:hosts=2,host=v100-4,fabric=(hyperx:2,p=2,rate=100G)", file)


def test_later_jobs_fill_in_by_the_limits_of_all(tmp_path: Path, topoloom: Callable[..., Any]) -> None:
    """Three of four nodes are busy until 12:10; a job of all nodes waits, and one of a single node comes last."""
    file = tmp_path / "jobs.csv"
    heading = "JobID,Submit,Elapsed,NNodes,Timelimit\n"
    for limit, begins in (("00:05:00", 2), ("UNLIMITED", 2), ("5", 2), ("01:00:00", 15)):
        file.write_text(
            f"{heading}1,2026-01-31T12:00:00,00:10:00,3,00:10:00\n2,2026-01-31T12:01:00,00:05:00,4,01:00:00\n"
            f"3,2026-01-31T12:02:00,00:04:00,1,{limit}\n"
        )
        found = replay("mesh:4", file, mix=[RING], backfill=True)
        starts = {job.name: round(job.start_s / 60) for job in found.outcome.jobs}
        assert starts == {"1": 0, "2": 10, "3": begins}, limit
        in_order = {job.name: round(job.start_s / 60) for job in replay("mesh:4", file, mix=[RING]).outcome.jobs}
        assert in_order == {"1": 0, "2": 10, "3": 15}
    told = topoloom("workload", "mesh:4", "--sacct", str(file), "--backfill")
    assert (told.status, "EASY backfill" in told.out) == (0, True), told.err
    file.write_text(f"{heading}1,2026-01-31T12:00:00,00:10:00,3,soon\n")
    with pytest.raises(TopoloomError, match="line 2: Timelimit is 'soon'; it must be minutes, or a time as in 1-02"):
        read_jobs(file)


def test_the_command_line_replays_a_day(tmp_path: Path, topoloom: Callable[..., Any]) -> None:
    rows = [f"{job},2026-01-31T{job % 24:02}:00:00,{600 + job},{1 + job % 9}" for job in range(60)]
    file = write(tmp_path, *rows)
    spec = "cluster:hosts=16,host=v100-4,fabric=(clos:radix=8,levels=2,rate=100G)"
    told = topoloom("workload", spec, "--sacct", str(file))
    assert told.status == 0, told.err
    assert "busiest channels" in told.out
    found = topoloom("workload", spec, "--sacct", str(file), "--json").json()
    assert (len(found["jobs"]), found["completed"]) == (60, True)
    assert {job["tasks"] for job in found["jobs"]} == {4 * nodes for nodes in range(1, 10)}
    assert all(job["slowdown"] >= 1 - 1e-9 for job in found["jobs"])
    for arguments, sentence in [
        (["--sacct", str(file), "--app", "reduce"], "--app does not go with --sacct"),
        (["--app", "reduce", "--mix", "reduce"], "give --sacct with it"),
        (["--sacct", str(file), "--mix", "redoce"], "did you mean 'reduce'"),
        (["--sacct", str(file), "--mix", "reduce,computing=1"], "computing is '1'"),
        (["--sacct", str(file), "--noise", "jitter=1%"], "noise is jitter=1%, which does not go with jobs"),
        (["--sacct", str(file), "--engine", "cycle"], "engine is cycle, which does not go with jobs that are replayed"),
        (["--sacct", str(file), "--flow-engine", "latency=1us"], "latency of the flow engine does not go with"),
        (["--sacct", str(tmp_path / "none.csv")], "none.csv"),
    ]:
        wrong = topoloom("workload", spec, *arguments)
        assert (wrong.status, sentence in wrong.err) == (2, True), wrong.err
