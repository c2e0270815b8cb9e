"""Jobs that share a machine: what they take alone and beside each other, on terminals that allocators choose."""

from collections.abc import Callable
from pathlib import Path

import pytest

from harness.outcome import Outcome
from topoloom import TopoloomError
from topoloom.workload.concurrent import Concurrent, concurrent

PAIR = "allreduce:algorithm=ring,size=1MB"
"""Of two tasks: each sends half of it twice."""

ONE_LINK = "mesh:2,p=2"
"""Terminals 0 and 1 on one router, 2 and 3 on the other."""


def slowdowns(found: Concurrent) -> list[float]:
    return [job.slowdown for job in found.jobs]


def test_jobs_on_one_link_take_twice_as_long() -> None:
    found = concurrent(ONE_LINK, [f"{PAIR},on=0+2", f"{PAIR},on=1+3"], rate="1GB/s")
    assert [job.alone_s for job in found.jobs] == pytest.approx([1e-3, 1e-3])
    assert slowdowns(found) == pytest.approx([2, 2])
    assert found.makespan_s == pytest.approx(2e-3)
    assert "links carry 1GB/s" in found.assumptions[-1]
    between = [own for own in found.channels if own.channel["class"] == "local"]
    assert [own.shares for own in between] == [[0.5, 0.5], [0.5, 0.5]]


def test_jobs_that_do_not_meet_do_not_slow_each_other() -> None:
    apart = concurrent(ONE_LINK, [f"{PAIR},tasks=2", f"{PAIR},tasks=2"], rate="1GB/s")
    assert [job.terminals for job in apart.jobs] == [[0, 1], [2, 3]]
    assert slowdowns(apart) == pytest.approx([1, 1])
    later = concurrent(ONE_LINK, [f"{PAIR},on=0+2", f"{PAIR},on=1+3,start=5ms"], rate="1GB/s")
    assert slowdowns(later) == pytest.approx([1, 1])
    assert later.makespan_s == pytest.approx(6e-3)


def test_a_job_that_begins_later_slows_from_then_on() -> None:
    found = concurrent(ONE_LINK, [f"{PAIR},on=0+2", f"{PAIR},on=1+3,start=500us"], rate="1GB/s")
    # Half of the first is done; the other half and half of the second share the link for 1 ms; then half is left.
    assert [job.beside_s for job in found.jobs] == pytest.approx([1.5e-3, 1.5e-3])


@pytest.mark.parametrize(
    "app",
    [
        "allreduce:algorithm=double-binary-tree,size=1MB,chunk=100kB",
        "training:tensor=2,layers=2,hidden=64,sequence=32",
        "halo:grid=2x2,compute=5us,iterations=2",
    ],
)
def test_any_application_is_a_job(app: str) -> None:
    """Beside one that begins when it is done, each takes what it takes alone, whatever its operations wait for."""
    jobs = [f"{app},tasks=4", f"{PAIR},tasks=4,start=1s", f"{app},tasks=4,start=2s"]
    found = concurrent("hyperx:4x4", jobs, allocator="random:seed=3")
    assert slowdowns(found) == pytest.approx([1, 1, 1], rel=1e-6)


def test_a_machine_may_be_in_use() -> None:
    network = "cluster:hosts=4,host=hgx-h100,fabric=(hyperx:4x4,p=2,rate=400G)"
    found = concurrent(network, [f"{PAIR},tasks=16"], allocator="best-fit:occupied=50%,seed=4")
    assert found.occupied == 8 * round(found.occupied / 8) > 0, "whole hosts"
    assert len(set(found.jobs[0].terminals)) == 16
    with pytest.raises(TopoloomError, match=r"job 1 \(allreduce.*\) has \d+ tasks; \d+ terminals are free"):
        concurrent(network, [f"{PAIR},tasks={found.occupied + 9}"], allocator="best-fit:occupied=100%")


def test_a_list_of_jobs_is_a_file(tmp_path: Path) -> None:
    file = tmp_path / "jobs.toml"
    file.write_text(f'[[job]]\napp = "{PAIR}"\non = "0+2"\n[[job]]\napp = "{PAIR}"\ntasks = 2\nstart = "5ms"\n')
    both = [
        concurrent(ONE_LINK, jobs, allocator="spread")
        for jobs in ([str(file)], [f"{PAIR},on=0+2", f"{PAIR},tasks=2,start=5ms"])
    ]
    assert both[0].jobs == both[1].jobs
    for text, told in [
        ("[[job]]\ntasks = 2\n", "job 1 names no app"),
        ("a = 1\n", "has no jobs"),
        ("[[job\n", "jobs.toml: "),
        ('[[job]]\napp = "alltoall"\nsize = 3\n', "has the key 'size'; a job has app, tasks, start and on"),
    ]:
        file.write_text(text)
        with pytest.raises(TopoloomError, match=told):
            concurrent(ONE_LINK, [str(file)])


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--job", "alltoall,tasks=5"], "job 1 (alltoall) has 5 tasks; 4 terminals are free on mesh:2,p=2"),
        (
            ["--job", "alltoall,tasks=3", "--job", "alltoall,tasks=2"],
            "job 2 (alltoall) has 2 tasks; 1 terminals are free",
        ),
        (["--job", "alltoall"], "alltoall: how many tasks has this job?"),
        (["--job", "alltoall,on=0-9"], "terminal 4 is not free; mesh:2,p=2 has the terminals 0 to 3"),
        (["--job", "alltoall,tasks=2", "--allocator", "nearest"], "unknown allocator 'nearest'"),
        (["--job", "alltoall,tasks=2", "--app", "alltoall"], "--app does not go with --job"),
        (["--job", "alltoall,tasks=2", "--engine", "cycle"], "run in the flow engine"),
        (["--job", "alltoall,tasks=2", "--mapping", "random"], "jobs are placed by allocator"),
        (["--job", "gpcnet:congestor=incast,share=0.5,tasks=4"], "repeats messages"),
        (["--job", "gone.toml"], "gone.toml"),
        (["--allocator", "spread", "--app", "alltoall"], "--allocator gives jobs their terminals"),
        ([], "give --app, or --job"),
    ],
)
def test_mistakes_are_sentences(topoloom: Callable[..., Outcome], arguments: list[str], told: str) -> None:
    done = topoloom("workload", ONE_LINK, *arguments)
    assert (done.status, done.out) == (2, "")
    assert told in " ".join(done.err.split())


def test_the_command_prints_jobs_and_channels(topoloom: Callable[..., Outcome]) -> None:
    jobs = ["--job", f"{PAIR},on=0+2", "--job", f"{PAIR},on=1+3"]
    told = topoloom("workload", ONE_LINK, *jobs).out
    assert "slowdown" in told
    assert "job 1 50 %, job 2 50 %" in told
    read = topoloom("workload", ONE_LINK, *jobs, "--json").json()
    assert [job["slowdown"] for job in read["jobs"]] == pytest.approx([2, 2])
