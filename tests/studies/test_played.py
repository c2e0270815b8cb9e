"""Studies of jobs: beside each other on a machine, and as an accounting file lists them."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.outcome import Outcome
from topoloom import Study, Sweep, TopoloomError
from topoloom.studies import StudyPoint
from topoloom.studies.reporting import study_report
from topoloom.studies.tables import result_tables

Command = Callable[..., Outcome]

JOBS = """[[job]]
app = "alltoall:size=64KiB"
tasks = 4
[[job]]
app = "goal:pair.goal"
start = "1us"
"""
GOAL = "num_ranks 2\nrank 0 {{ send {}b to 1 }}\nrank 1 {{ recv {}b from 0 }}\n"
DAY = """JobID,NNodes,Submit,ElapsedRaw
1,8,2026-01-01T00:00:00,100
2,12,2026-01-01T00:00:02,20
3,4,2026-01-01T00:00:03,10
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("jobs.toml").write_text(JOBS)
    Path("pair.goal").write_text(GOAL.format(10**6, 10**6))
    Path("day.csv").write_text(DAY)
    return tmp_path


def test_jobs_of_a_study_are_those_of_the_command(topoloom: Command) -> None:
    sweep = Sweep(
        kind="jobs", networks=["mesh:4x4"], apps=["jobs.toml"], options={"placement": ["contiguous", "random"]}
    )
    rows = Study(name="jobs", sweep=[sweep]).run("jobs.store").rows
    assert len(rows) == 2
    for row, allocator in zip(rows, ("contiguous", "random"), strict=True):
        expected = json.loads(
            topoloom("workload", "mesh:4x4", "--job", "jobs.toml", "--allocator", allocator, "--json").out
        )
        result = json.loads(row["result"])
        for key in ("makespan_s", "jobs", "allocator", "channels"):
            assert result[key] == expected[key]
        slowdowns = [job["slowdown"] for job in expected["jobs"]]
        assert row["slowdown_max"] == max(slowdowns)
        assert row["slowdown_mean"] == pytest.approx(sum(slowdowns) / 2)


def test_a_day_of_a_study_is_that_of_the_command(topoloom: Command) -> None:
    options = {"backfill": [True, False], "mix": "halo,computing=1s alltoall,computing=2s", "placement": "contiguous"}
    sweep = Sweep(kind="replay", networks=["mesh:4x4"], apps=["day.csv"], options=options)
    rows = Study(name="day", sweep=[sweep]).run("day.store").rows
    mix = ("--mix", "halo,computing=1s", "--mix", "alltoall,computing=2s", "--allocator", "contiguous")
    begun = []
    for row, more in zip(rows, (("--backfill",), ()), strict=True):
        expected = json.loads(topoloom("workload", "mesh:4x4", "--sacct", "day.csv", *mix, *more, "--json").out)
        result = json.loads(row["result"])
        assert (result["jobs"], result["collectives"]) == (expected["jobs"], expected["collectives"])
        begun += [[job["start_s"] for job in result["jobs"]]]
    assert begun[0] != begun[1], "the third job begins before the second where it may"


def test_what_jobs_read_is_part_of_their_results() -> None:
    def key() -> str:
        return StudyPoint("jobs", "mesh:4x4", "dor", "jobs.toml").key

    assert StudyPoint("jobs", "mesh:4x4", "dor", "jobs.toml").files == ["jobs.toml", "pair.goal"]
    first = key()
    assert key() == first
    Path("pair.goal").write_text(GOAL.format(2 * 10**6, 2 * 10**6))
    second = key()
    Path("jobs.toml").write_text(JOBS + '[[job]]\napp = "reduce,tasks=2"\n')
    assert len({first, second, key()}) == 3
    day = StudyPoint("replay", "mesh:4x4", "dor", "day.csv")
    assert day.files == ["day.csv"]


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ("kind = 'jobs'", "points of kind jobs need files of jobs; give apps"),
        ("kind = 'replay'", "points of kind replay need accounting files; give apps"),
        ("kind = 'jobs'\napps = 'none.toml'", "none.toml"),
        ("kind = 'jobs'\napps = 'jobs.toml'\nnetworks = 'mesh:2'", "terminals"),
        ("kind = 'jobs'\napps = 'jobs.toml'\noptions = {placement = 'continuous'}", "did you mean 'contiguous'"),
        (
            "kind = 'jobs'\napps = 'jobs.toml'\noptions = {engine = 'cycle'}",
            "jobs that share a machine run in the flow",
        ),
        ("kind = 'jobs'\napps = 'jobs.toml'\nloads = 0.5", "points of kind jobs have no loads"),
        ("kind = 'replay'\napps = 'none.csv'", "none.csv"),
        ("kind = 'replay'\napps = 'day.csv'\noptions = {scale = 2}", "scale is 2"),
        ("kind = 'replay'\napps = 'day.csv'\noptions = {backfil = true}", "did you mean 'backfill'"),
    ],
)
def test_mistakes_have_their_lines(keys: str, said: str) -> None:
    network = "" if "networks" in keys else "networks = 'mesh:4x4'\n"
    text = f"name = 'jobs'\n[[sweep]]\n{network}{keys}\n"
    with pytest.raises(TopoloomError) as caught:
        Study.parse(text, name="own.toml").run("own.store")
    assert "own.toml, line" in str(caught.value)
    assert said in str(caught.value)


def test_the_report_shows_what_was_played() -> None:
    """A table for each kind, in place of curves that there are not; values are those of the results."""
    jobs = Sweep(kind="jobs", networks=["mesh:4x4"], apps=["jobs.toml"])
    apps = Sweep(kind="workload", networks=["mesh:4x4", "torus:4x4"], apps=["reduce:size=1MiB"])
    study = Study(name="played", sweep=[jobs, apps])
    results = study.run("played.store")
    page = study_report(study, results)
    assert "What was measured" in page
    assert "Latency and throughput under load" not in page
    makespans = [f"{row['makespan_s']:.5g}" for row in results.rows]
    assert len(makespans) == 3
    assert all(f"<td>{makespan}</td>" in page for makespan in makespans)
    (slowest,) = (row["slowdown_max"] for row in results.rows if row["kind"] == "jobs")
    assert f"<td>{slowest:.5g}</td>" in page


def test_a_table_without_room_says_how_many_rows_are_left_out() -> None:
    sweep = Sweep(kind="bound", networks=["mesh:2x2", "mesh:3x3", "mesh:4x4"])
    found = Study(name="bounds", sweep=[sweep]).run("bounds.store")
    (table,) = result_tables(found, 2)
    assert (len(table.rows), table.left_out) == (2, 1)
    assert table.columns[:3] == ["spec", "routing", "traffic"]
    assert [row[0] for row in table.rows] == ["mesh:2x2", "mesh:3x3"]
    assert result_tables(found, 2, ("bound",)) == []
