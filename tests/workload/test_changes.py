"""Noise and scale of applications, and tasks on the terminals of a table: closed forms, and mistakes."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import topoloom as package
from topoloom import Application, Study, Sweep, TopoloomError

RATE = 5e10


def makespan(app: str, spec: str = "hyperx:2", **options: Any) -> float:
    (result,) = package.workload(spec, app, **options).results
    assert result.makespan_s is not None
    return result.makespan_s


@pytest.mark.parametrize("engine", ["flow", "cycle"])
def test_a_slow_task_delays_by_its_computing(engine: str) -> None:
    """Two tasks compute, and send to each other: the slow one's message comes last."""
    app = "halo:grid=2,block=512,cell=8,compute=10us,open"
    even = makespan(app, engine=engine)
    slow = makespan(app, engine=engine, noise="stragglers=1%,slow=3")
    assert slow - even == pytest.approx(20e-6, rel=1e-9 if engine == "flow" else 1e-3)


def test_jitter_delays_by_the_longest_of_all_tasks() -> None:
    """A barrier of tasks that compute: the mean of the largest of n exponential times is H(n) times theirs."""
    tasks, runs = 64, 200
    halo = "halo:grid=64,block=1,compute=1ms,iterations=1"
    longest = [makespan(halo, "hyperx:64", noise=f"jitter=10%,seed={seed}") - 1e-3 for seed in range(runs)]
    harmonic = sum(1 / k for k in range(1, tasks + 1))
    # The standard deviation of the largest is at most pi / sqrt(6) times the mean of one.
    assert sum(longest) / runs == pytest.approx(1e-4 * harmonic, abs=4 * 1.283 * 1e-4 / runs**0.5)


def test_both_engines_have_the_same_noise() -> None:
    app, noise = "halo:grid=4x4,block=8x8,compute=100us,iterations=10", "stragglers=10%,jitter=20%"
    flow = makespan(app, "hyperx:4x4", noise=noise)
    assert makespan(app, "hyperx:4x4", noise=noise, engine="cycle") == pytest.approx(flow, rel=1e-2)
    assert flow > 1.1 * makespan(app, "hyperx:4x4")


def test_a_smaller_run_is_the_full_one_at_another_scale() -> None:
    for app in ("allreduce:algorithm=ring,size=64MiB", "training:tensor=2,data=8,layers=2,hidden=1024,sequence=512"):
        (full,), (small,) = (package.workload("hyperx:16", app, scale=scale).results for scale in (1, 64))
        assert full.makespan_s is not None
        assert small.makespan_s is not None
        assert 64 * small.makespan_s == pytest.approx(full.makespan_s, rel=1e-5)
        assert small.bytes == pytest.approx(full.bytes / 64, rel=1e-3)
        if full.busbw_gb_s is not None:
            assert small.busbw_gb_s == pytest.approx(full.busbw_gb_s, rel=1e-5)
    assert small.training is not None
    assert full.training is not None
    assert small.training["mfu"] == pytest.approx(full.training["mfu"], rel=1e-5)


@pytest.mark.parametrize(
    ("hosts", "app"),
    [
        (4, "training:preset=gpt3-13b,layers=8,microbatches=15"),
        pytest.param(16, "training:preset=gpt3-13b", marks=pytest.mark.long),
    ],
)
def test_both_engines_agree_on_a_step_where_nothing_blocks(hosts, app) -> None:
    """The step of gpt3-13b, with fewer layers as well, on hosts that share one switch per rail.

    Flit by flit it is shorter: messages that a rank sends at once follow one another, and do not share its link.
    """
    spec = f"cluster:hosts={hosts},host=hgx-h100,fabric=(clos:radix=16,levels=2,rate=400G)"
    flow = makespan(app, spec, scale=64)
    assert makespan(app, spec, scale=64, engine="cycle", flit="4KiB") == pytest.approx(flow, rel=0.05)


def test_rules_are_scaled_as_lists_are() -> None:
    app = "allreduce:algorithm=ring,size=64MiB"
    own = [makespan(app, "hyperx:64", scale=100, flow_engine=f"symmetry={how}") for how in ("on", "off")]
    assert own[0] == pytest.approx(own[1], rel=1e-9)
    assert own[0] == pytest.approx(2 * 63 * -(-(2**20) // 100) / RATE, rel=1e-9)


def test_tasks_run_where_a_table_says(tmp_path: Path) -> None:
    table, app = tmp_path / "tasks.csv", Application("allreduce", 3)
    network = package.network("mesh:8").core
    for text in (
        "terminal,task\n5,1\n2,0\n7,2\n0,3\n",
        "# a comment\n0,2\n1,5\n2,7\n",
        "2\n5\n7\n1\n",
    ):
        table.write_text(text)
        assert app.core.mapping(network, f"file:{table}").tolist() == [2, 5, 7], text
    for text, told in [
        ("0,2\n1,5\n", "line 2: the table ends, and no line has task 2 of 3"),
        ("0,2\n1,5\n2,5\n", "line 3: terminal 5 has task 1 already"),
        ("0,2\n1,5\n1,6\n", "line 3: task 1 is listed twice"),
        ("0,2\n1,8\n", "line 2: the network has no terminal 8 that works"),
        ("0,2\none,8\n", "line 2: the task is 'one'; it must be a whole number"),
        ("task,terminal\n0,\n", "line 2: the terminal is ''; it must be a whole number"),
    ]:
        table.write_text(text)
        with pytest.raises(TopoloomError) as error:
            app.core.mapping(network, f"file:{table}")
        assert told in str(error.value), text


def test_a_table_places_as_the_mapping_does_that_it_was_made_of(tmp_path: Path) -> None:
    table = tmp_path / "tasks.csv"
    app = Application("allreduce:algorithm=ring", 16)
    drawn = app.core.mapping(package.network("torus:4x4").core, "random:seed=5").tolist()
    table.write_text("".join(f"{terminal}\n" for terminal in drawn))
    times = [
        makespan("allreduce:algorithm=ring", "torus:4x4", mapping=own)
        for own in (f"file:{table}", "random:seed=5", "linear")
    ]
    assert times[0] == times[1] != times[2]


def test_studies_know_placements_noise_and_scale(tmp_path: Path) -> None:
    """Each is a part of the point, a table by what it holds."""
    table = tmp_path / "tasks.csv"

    def keys(**options: Any) -> set[str]:
        sweep = Sweep(kind="workload", networks=["mesh:4"], apps=["halo:compute=1us"], options=options)
        return {point.key for point in Study(name="one", sweep=[sweep]).points()}

    table.write_text("0\n1\n2\n3\n")
    placed = keys(mapping=["linear", f"file:{table}"])
    assert len(placed) == 2
    table.write_text("3\n2\n1\n0\n")
    assert len(placed & keys(mapping=["linear", f"file:{table}"])) == 1
    assert len(keys(noise=["", "jitter=1%"], scale=[1, 2])) == 4
    assert keys() == keys(noise="", scale=1) <= placed


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--noise", "straggler=1%"], "did you mean 'stragglers'"),
        (["--noise", "seed=3"], "nothing is slow; give stragglers=1%, jitter=5% or both"),
        (["--noise", "jitter=5%"], "reduce computes nothing, so that noise changes nothing"),
        (["--scale", "0"], "scale"),
        (["--mapping", "file:missing.csv"], "missing.csv"),
        (["--mapping", "file"], "file: needs a FILE, as in file:tasks.csv"),
        (["--backfill"], "--backfill is for jobs of an accounting file; give --sacct with it"),
        (["--chakra-messages"], "give --chakra with it"),
    ],
)
def test_mistakes(arguments: list[str], told: str, topoloom: Callable[..., Any]) -> None:
    wrong = topoloom("workload", "mesh:4", "--app", "reduce", *arguments)
    assert (wrong.status, told in wrong.err) == (2, True), wrong.err


def test_jobs_have_noise_and_scale(topoloom: Callable[..., Any]) -> None:
    command = ["workload", "mesh:8", "--job", "halo:compute=1ms,tasks=4", "--json"]
    full, slow, small = (topoloom(*command, *more).json() for more in ([], ["--noise", "jitter=50%"], ["--scale", "8"]))
    assert slow["makespan_s"] > full["makespan_s"]
    assert 8 * small["makespan_s"] == pytest.approx(full["makespan_s"], rel=1e-3)
    assert any("1/8 of their bytes" in note for note in small["notes"])
