"""Studies: what files say, what the ledger keeps, and what is left after anything goes wrong."""

import dataclasses
import errno
import json
import os
import pickle
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
import tomllib
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from itertools import pairwise
from pathlib import Path

import jsonschema
import pytest

from harness.paths import ROOT
from topoloom import TopoloomError, _core
from topoloom.network.networks import Network
from topoloom.simulation.loads import parse_loads
from topoloom.simulation.options import EngineOptions, make_options
from topoloom.simulation.plans import fixed_plan
from topoloom.simulation.points import ZERO_LOAD, Point
from topoloom.simulation.replications import is_narrow, replicate
from topoloom.simulation.runs import run_here
from topoloom.simulation.simulator import Simulator
from topoloom.studies import (
    Ledger,
    LocalExecutor,
    Results,
    Study,
    StudyPoint,
    Sweep,
    executor,
    ledger,
    parquet,
    repair,
    run_points,
)
from topoloom.studies.estimates import Estimates
from topoloom.studies.executor import LOST
from topoloom.studies.ledger import Outcome
from topoloom.studies.measurements import MEASUREMENTS
from topoloom.studies.running import ATTEMPTS, checked
from topoloom.studies.schema import study_schema
from topoloom.studies.toml_lines import places
from topoloom.studies.worker import outcome_of

TINY = {"warmup": 10, "measure": 20}


def tiny(seeds: str = "1:4", **keys: object) -> list[StudyPoint]:
    sweep = Sweep(networks=["mesh:2x2"], loads=0.1, seeds=seeds, options=TINY, **keys)
    return Study(name="tiny", sweep=[sweep]).points()


class Here:
    """An executor without processes, which can break down."""

    def __init__(self, capacity: int = 4, lose: int = 0) -> None:
        self.capacity = capacity
        self.lose = lose
        self.done: list[str] = []
        self.waiting: list[StudyPoint] = []

    def __enter__(self) -> "Here":
        return self

    def __exit__(self, *exception: object) -> None:
        self.waiting = []

    def submit(self, point: StudyPoint) -> None:
        self.waiting.append(point)

    def collect(self, _timeout_s: float) -> list[Outcome]:
        point = self.waiting.pop(0)
        if self.lose:
            self.lose -= 1
            return [Outcome(point.key, None, LOST)]
        self.done.append(point.key)
        return [Outcome(point.key, {"seen": len(self.done)}, None, 0.5)]


def test_a_sweep_is_all_combinations() -> None:
    sweep = Sweep(
        networks=["mesh:4x4", {"family": "hyperx", "sizes": [3, 3], "p": 2}],
        routings=["minimal", "val"],
        traffic=["uniform", "transpose"],
        loads="0.1:0.3:0.1",
        seeds="1:2",
        options={"buffer": [8, 16], "router": "vcs=4"},
    )
    points = Study(name="s", sweep=[sweep]).points()
    assert len(points) == len({p.key for p in points}) == 2 * 2 * 2 * 3 * 2 * 2
    assert {p.spec for p in points} == {"mesh:4x4", "hyperx:3x3,p=2"}
    assert {p.routing for p in points if p.spec == "mesh:4x4"} == {"dor", "val"}
    assert {p.options["buffer"] for p in points if "buffer" in p.options} == {8, 16}
    assert {p.options["vcs"] for p in points} == {4}


def test_zipped_lists_go_in_step() -> None:
    sweep = Sweep(
        networks=["mesh:2x2", "mesh:3x3"], loads=0.1, options={"buffer": [8, 16]}, zip=["networks", "options.buffer"]
    )
    points = Study(name="s", sweep=[sweep]).points()
    assert [(p.spec, p.options["buffer"]) for p in points] == [("mesh:2x2", 8), ("mesh:3x3", 16)]


def test_the_same_point_of_two_sweeps_is_one() -> None:
    sweeps = [Sweep(networks=["mesh:2x2"], loads="0.1,0.2"), Sweep(networks=["mesh:2x2"], loads="0.2,0.3")]
    assert [p.load for p in Study(name="s", sweep=sweeps).points()] == [0.1, 0.2, 0.3]


def test_a_key_is_what_the_result_depends_on(tmp_path: Path) -> None:
    def key(**options: object) -> str:
        (point,) = Study(
            name="s", sweep=[Sweep(networks=["mesh:2x2"], loads=0.1, options={**TINY, **options})]
        ).points()
        return point.key

    assert key() == key(threads=2) == key(credit_delay=2), "neither threads nor a default that is spelled out matter"
    assert len({key(), key(buffer=8), key(speedup=1), key(links={"local": 2})}) == 4
    for name, about in {"pairs": ("", "pairs:{}"), "table": ("table:{}", ""), "rates": ("", "")}.items():
        file = tmp_path / name
        settings = {"options": {"rates": str(file)}} if name == "rates" else {}
        keys = set()
        for place, text in enumerate(("0,1", "0,2", "0,1")):
            file.write_text(text)
            os.utime(file, ns=(place, place))
            routing, traffic = (part.format(file) for part in about)
            keys.add(StudyPoint("simulate", "mesh:2x2", routing, traffic, 0.1, settings).key)
        assert len(keys) == 2, f"the contents of {name} are part of the key, and its date is not"
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("0,1\n")
    before = StudyPoint("simulate", "mesh:2x2", "dor", f"pairs:{pairs}").key
    pairs.write_text("0,2\n")
    os.utime(pairs, ns=(1, 1))
    assert StudyPoint("simulate", "mesh:2x2", "dor", f"pairs:{pairs}").key != before, "the file is part of it"


SWEEP = 'name = "x"\n[[sweep]]\nnetworks = "mesh:2x2"\n'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('name = "x"\n', "the key 'sweep' is missing"),
        ('name = "x"\n[[sweep]]\nnetwork = "mesh:2x2"\n', "line 3: unknown key 'network' (did you mean 'networks'"),
        ('nam = "x"\n[[sweep]]\nnetworks = "mesh:2x2"\n', "line 1: unknown key 'nam' (did you mean 'name'"),
        ('name = "x"\n[[sweep]]\nnetworks = "mesh:2x2"\nrouting = "min"\n', "line 4: unknown key 'routing' (did you"),
        ('name = "x"\nnmae = 1\n[[sweep]]\nnetworks = "mesh:2x2"\n', "line 2: unknown key 'nmae' (did you mean 'name'"),
        ('name = "x"\n[[sweep]]\nnetworks = "mesh:2x2"\n[[sweep]]\nkind = "facts"\n', "line 4: the key 'networks' is"),
        ('name = "x"\n[[sweep]]\nnetworks = "mesh:2x2"\nkind = "fcats"\n', "line 4: kind is 'fcats'; it must be"),
        ('name = "x"\n[[sweep]]\nnetworks = "mesh:2x2"\nseeds = "3:1"\n', "line 4: seeds is '3:1', 0 seeds"),
        (
            'name = "x"\n[[sweep]]\nnetworks = "mesh:2x2"\noptions = {bufer=1}\n',
            "study, line 4: unknown option 'bufer'",
        ),
        ('name = "x"\n[[sweep]]\nnetworks = "mesh:2x2"\nloads = "2"\n', "study, line 4: load is 2"),
        (
            'name = "x"\n[defaults]\nrouting = "min"\n[[sweep]]\nnetworks = "mesh:2x2"\n',
            "study, line 3: unknown key 'routing'",
        ),
        (
            'name = "x"\n[defaults]\noptions = {bufer=1}\n[[sweep]]\nnetworks = "mesh:2x2"\noptions = {vcs=4}\n',
            "line 3: unknown",
        ),
        (
            f"{SWEEP}[sweep.options]\nwarmup = 1\nmesure = 2\n",
            "line 6: unknown option 'mesure' (did you mean 'measure'?)",
        ),
        (f"{SWEEP}options = {{links={{globl=1}}}}\n", "line 4: unknown option 'globl' (did you mean 'global'?)"),
        (f"{SWEEP}options = {{router='bufer=8'}}\n", "line 4: router: unknown key 'bufer' (did you mean 'buffer'?)"),
        (f"{SWEEP}options = {{buffer=[]}}\n", "line 4: buffer is an empty list"),
        (f"{SWEEP}options = {{buffer=true}}\n", "line 4: buffer is true"),
        (f"{SWEEP}options = {{seed=3}}\n", "line 4: the seed is no option of a study; give seeds"),
        (f"{SWEEP}options = {{links={{local=true}}}}\n", "line 4: links local is true; it must be a number or a text"),
        (f"{SWEEP}options = {{router=true}}\n", "line 4: router is true; it must be a text"),
        (f"{SWEEP}options = {{measure=2020-01-02}}\n", "line 4: measure is 2020-01-02; it must be a number or a text"),
        (f"{SWEEP}options = {{links={{local=10:30:00}}}}\n", "line 4: links local is 10:30:00; it must be"),
        (f"{SWEEP}traffic = 2020-01-02T10:30:00\n", "line 4: traffic is 2020-01-02T10:30:00; it must be"),
        (f"{SWEEP}traffic = [{{on=true}}]\n", "line 4: traffic is {on = true}; it must be"),
        (f"{SWEEP}seeds = [10:30:00]\n", "line 4: seeds is 10:30:00; it must be"),
        (f"{SWEEP}loads = [2020-01-02]\n", "line 4: load '2020-01-02' is not a number"),
        ("name = 2020-01-02\n", "line 1: name is 2020-01-02; it must be"),
        (f"{SWEEP}seeds = true\n", "line 4: seeds is true or false; it must be a number"),
        (f"{SWEEP}traffic = []\n", "line 4: traffic is empty"),
        (f"{SWEEP}loads = 0.1\nloads = 0.2\n", "line 5: loads is given twice"),
        (f"{SWEEP}traffic = 'trace:x.csv'\nloads = 0.1\n", "line 5: a trace has a load of its own"),
        (f"{SWEEP}kind = 'facts'\nloads = 0.1\n", "line 5: points of kind facts have no loads"),
        (f"{SWEEP}zip = ['seeds', 'seeds']\n", "names a list twice"),
        (
            'name = "x"\n[sweep]\nnetworks = "mesh:2x2"\n',
            "line 2: sweep must be a list of tables; write each as [[sweep]]",
        ),
        (
            'name = "x"\n[[sweep]]\nnetworks = {family="hyperx", size=[3]}\n',
            "unknown key of hyperx 'size' (did you mean 'sizes'",
        ),
        (
            'name = "x"\n[[sweep]]\nnetworks = {familiy="hyperx"}\n',
            "has no family: unknown key 'familiy' (did you mean",
        ),
        ('name = "x"\n[[sweep]]\nnetworks = ["a","b"]\nzip=["networks","seeds"]\n', "networks 2, seeds 1"),
        ('name = "x"\n[[sweep]]\nnetworks = "mesh:2x2\n', "study, line 3: illegal"),
    ],
)
def test_mistakes_are_told_with_their_line(text: str, words: str) -> None:
    with pytest.raises(TopoloomError) as caught:
        Study.parse(text).points()
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_places_follow_headers_and_dotted_keys() -> None:
    found = places('a = 1\n[d.options]\nb.c = 2\n[[sweep]]\n"x" = 3\n[sweep.options]\ny = 4\n[[sweep]]\nz = 5\n')
    assert found[("a",)] == 1
    assert found[("d", "options", "b", "c")] == 3
    assert found[("sweep", 0, "x")] == 5
    assert found[("sweep", 0, "options", "y")] == 7
    assert found[("sweep", 1, "z")] == 9


def test_an_impossible_point_is_told_before_anything_runs(tmp_path: Path) -> None:
    text = '\nname = "x"\n[[sweep]]\nnetworks = ["mesh:2x2", "mesh:0x2"]\nloads = 0.1\noptions = {warmup=1,measure=2}\n'
    points = Study.parse(text).points()
    here = Here()
    with Ledger(tmp_path / "s") as ledger:
        with pytest.raises(TopoloomError, match="line 3: mesh:0x2"):
            run_points(points, ledger, here, name="x")
        assert not here.done
        progress = run_points(points, ledger, here, name="x", keep_going=True)
    assert progress.finished
    assert [point.spec for point in progress.skipped] == ["mesh:0x2"]
    assert progress.done == 1


def test_done_points_are_never_run_again(tmp_path: Path) -> None:
    points = tiny("1:9")
    first, second = Here(), Here()
    with Ledger(tmp_path / "s") as ledger:
        run_points(points[:5], ledger, first, name="x")
    with Ledger(tmp_path / "s") as ledger:
        progress = run_points(points, ledger, second, name="x")
    assert sorted(first.done) == sorted(p.key for p in points[:5])
    assert sorted(second.done) == sorted(p.key for p in points[5:])
    assert (progress.before, progress.done) == (5, 9)
    assert {row["key"] for row in Results.load(tmp_path / "s").rows} == {p.key for p in points}


def test_a_lost_worker_costs_a_second_attempt_and_a_lost_cause_ends(tmp_path: Path) -> None:
    with Ledger(tmp_path / "s") as ledger:
        assert run_points(tiny("1:3"), ledger, Here(lose=2), name="x").done == 3
    with Ledger(tmp_path / "t") as ledger:
        progress = run_points(tiny("1"), ledger, Here(lose=99), name="x")
        assert list(progress.failed.values()) == [LOST]
        assert run_points(tiny("1"), ledger, Here(), name="x").done == 1, "what failed is tried again by the next run"


class Elsewhere:
    """An executor as a cluster is one: points travel as text, come back late and in any order, and some are lost."""

    def __init__(self, every: int) -> None:
        self.every = every
        self.rng = random.Random(5)
        self.losses: dict[str, int] = {}
        self.most_held = 0
        self.lost_count = 0

    def __enter__(self) -> "Elsewhere":
        self.pool = ThreadPoolExecutor(4)
        self.jobs: list[tuple[Future[Outcome], StudyPoint]] = []
        return self

    def __exit__(self, *exception: object) -> None:
        self.pool.shutdown(cancel_futures=True)

    @property
    def capacity(self) -> int:
        """Machines come and go, and at times there is none."""
        return self.rng.randrange(12)

    def submit(self, point: StudyPoint) -> None:
        sent = pickle.loads(pickle.dumps(point)) if self.rng.random() < 0.5 else StudyPoint.from_json(point.to_json())
        assert sent.key == point.key
        self.jobs.append((self.pool.submit(outcome_of, sent), point))
        self.most_held = max(self.most_held, len(self.jobs))

    def loses(self, point: StudyPoint) -> bool:
        """Return whether an outcome gets lost: those of one point in `every`, until its last attempt."""
        before = self.losses.get(point.key)
        if before is None:
            before = 0 if len(self.losses) % self.every == 0 else ATTEMPTS
        lost = before < ATTEMPTS - 1
        self.losses[point.key] = before + lost
        return lost

    def collect(self, timeout_s: float) -> list[Outcome]:
        done = [job for job in self.jobs if job[0].done()]
        if not done:
            time.sleep(timeout_s / 50)
        self.rng.shuffle(done)
        self.jobs = [job for job in self.jobs if job not in done]
        gone = [self.loses(point) for _, point in done]
        self.lost_count += sum(gone)
        return [
            Outcome(point.key, None, LOST) if away else future.result()
            for (future, point), away in zip(done, gone, strict=True)
        ]


def test_a_back_end_with_late_outcomes_in_any_order_and_losses_gives_the_same_results(tmp_path: Path) -> None:
    points = tiny("1:60")
    executor = Elsewhere(every=10)
    with Ledger(tmp_path / "far") as ledger:
        progress = run_points(points, ledger, executor, name="x")
    assert (progress.done, progress.failed) == (60, {})
    assert executor.lost_count == 6 * (ATTEMPTS - 1)
    assert 1 < executor.most_held <= 12
    with Ledger(tmp_path / "near") as ledger:
        run_points(points, ledger, LocalExecutor(1), name="x")
    differences = Results.load(tmp_path / "far").differences(Results.load(tmp_path / "near"))
    assert (differences.equal, differences.changed) == (60, [])


@pytest.mark.parametrize(
    ("workers", "threads", "used"), [(None, None, 4), (None, 2, 2), (None, 3, 1), (None, 9, 1), (3, 2, 3)]
)
def test_points_of_several_threads_share_the_processors(
    workers: int | None, threads: int | None, used: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(executor, "cpu_count", lambda: 4)
    point = tiny("1")[0]
    options = point.options | ({} if threads is None else {"threads": threads})
    with LocalExecutor(workers) as local:
        local.submit(dataclasses.replace(point, settings={**point.settings, "options": options}))
        assert len(local._workers) == used
        assert local.capacity == used * LocalExecutor.AHEAD
        assert [outcome.error for outcome in local.collect(60)] == [None]


def test_where_points_take_long_a_worker_holds_none_but_the_one_under_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another worker may be idle at the end; the next point waits for the first that is free."""
    monkeypatch.setattr(LocalExecutor, "LONG_S", 0.0)
    with LocalExecutor(1) as local:
        assert local.capacity == LocalExecutor.AHEAD
        local.submit(tiny("1")[0])
        assert len(local.collect(60)) == 1
        assert local.capacity == 1


def test_points_of_more_threads_leave_workers_idle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executor, "cpu_count", lambda: 2)
    one, *more = tiny("1:5")
    with LocalExecutor() as local:
        local.submit(one)
        for point in more:
            options = point.options | {"threads": 2}
            local.submit(dataclasses.replace(point, settings={**point.settings, "options": options}))
        assert [len(worker.held) for worker in local._workers] == [3, 0]


def test_a_killed_worker_loses_nothing(tmp_path: Path) -> None:
    sweep = Sweep(networks=["mesh:8x8"], loads=0.3, seeds="1:6", options={"warmup": 100, "measure": 20000})
    points = Study(name="s", sweep=[sweep]).points()
    executor = LocalExecutor(2)
    killed = []

    def kill_one(progress: object) -> None:
        if not killed and executor._workers and all(worker.process.poll() is None for worker in executor._workers):
            killed.append(executor._workers[0].process.pid)
            time.sleep(0.5)
            os.kill(killed[0], signal.SIGKILL)

    with Ledger(tmp_path / "s") as ledger:
        progress = run_points(points, ledger, executor, name="x", on_progress=kill_one)
    assert killed
    assert progress.finished
    assert not progress.failed


def test_what_depends_on_the_load_or_on_failures_is_told_before_anything_runs() -> None:
    """A burst cannot reach every load; failed networks have roles of their own."""
    text = SWEEP + "loads = [0.1, 0.5, 0.9]\noptions = {injection='on-off:alpha=0.1,beta=0.1'}\n"
    points = Study.parse(text, name="s.toml").points()
    with pytest.raises(TopoloomError, match=r"^s.toml, line 2: on-off.* cannot reach load 0.9"):
        checked(points, keep_going=False)
    assert [point.load for point in checked(points, keep_going=True)] == [0.9]
    unsafe = Study.parse(SWEEP.replace("mesh:2x2", "torus:4x4") + "options = {vcs=[1, 2]}\n").points()
    assert {point.options["vcs"] for point in checked(unsafe, keep_going=True)} == {1}
    (failed,) = Study.parse(SWEEP.replace("2x2", "4x4") + "loads=0.1\noptions={fail='links=1'}\n").points()
    assert failed.routing == "min"
    assert not checked([failed], keep_going=True)


def test_a_trace_is_one_point_with_a_load_of_its_own(tmp_path: Path) -> None:
    trace = tmp_path / "t.csv"
    trace.write_text("time,source,destination,flits\n0,0,1,2\n3,1,0,2\n")
    sweep = Sweep(networks=["mesh:2x2"], traffic=["uniform", f"trace:{trace}"], loads="0.1,0.2", options={"vcs": 2})
    points = Study(name="s", sweep=[sweep]).points()
    assert [point.load for point in points] == [0.1, 0.2, None]
    with Ledger(tmp_path / "s") as ledger:
        assert run_points(points, ledger, LocalExecutor(1), name="s").done == 3
    row = Results.load(tmp_path / "s").where(f"traffic=trace:{trace}").rows[0]
    assert row["makespan_cycles"] > 3
    (curve,) = Study(name="s", sweep=[Sweep(kind="curve", networks=["mesh:2x2"])]).points()
    impossible = dataclasses.replace(curve, traffic=f"trace:{trace}")
    assert "curve cannot" in checked([impossible], keep_going=True)[impossible]


def test_every_sort_of_engine_option_works_in_a_study(tmp_path: Path) -> None:
    rates = tmp_path / "rates.csv"
    rates.write_text("terminal,rate\n0,1\n1,0.5\n2,1\n3,1\n")
    for network, options in (
        ("mesh:2x2", {"rates": str(rates)}),
        ("mesh:4x4", {"fail": "links=1,seed=2"}),
        ("mesh:2x2", {"buffers": "shared:5", "allocator": "wavefront"}),
        ("mesh:2x2", {"flow": "vct", "packet": "4:0.8,16:0.2", "links": {"local": 3}}),
        ("mesh:2x2", {"precision": 0.2, "warmup": None, "measure": None}),
    ):
        own = {name: value for name, value in {"warmup": 20, "measure": 200, **options}.items() if value is not None}
        (point,) = Study(name="s", sweep=[Sweep(networks=[network], loads=0.1, options=own)]).points()
        assert not checked([point], keep_going=True)
        outcome = outcome_of(StudyPoint.from_json(point.to_json()))
        assert outcome.error is None
        assert outcome.result
        for name, value in options.items():
            ran = outcome.result["config"][name]
            assert value is None or ran == value or (name == "links" and ran["local"] == 3), name


def test_an_application_takes_the_options_of_its_engine_in_a_study() -> None:
    options = {"flow": "vct", "engine": "cycle", "vcs": [4, 8], "mapping": "random"}
    sweep = Sweep(kind="workload", networks=["mesh:2x2"], apps=["reduce"], options=options)
    points = Study(name="s", sweep=[sweep]).points()
    assert [(point.options["flow"], point.options["vcs"]) for point in points] == [("vct", 4), ("vct", 8)]
    assert not checked(points, keep_going=True)
    with pytest.raises(ValueError, match="flow is an option of the cycle engine, but engine is flow"):
        Sweep(kind="workload", networks=["mesh:2x2"], apps=["reduce"], options={"engine": "flow", "flow": "vct"})


def test_makespans_are_stored_with_the_rate_that_they_rest_on() -> None:
    def keys(**options: str) -> list[str]:
        sweep = Sweep(kind="workload", networks=["mesh:2x2"], apps=["reduce"], options=options)
        return [point.key for point in Study(name="s", sweep=[sweep]).points()]

    sweep = Sweep(kind="workload", networks=["mesh:2x2"], apps=["reduce"])
    (point,) = Study(name="s", sweep=[sweep]).points()
    assert point.options["rate"] == "400Gb/s"
    assert keys() == keys(rate="400Gb/s") != keys(rate="10Gb/s")


def test_claims_of_a_live_run_stand_and_those_of_a_dead_one_fall(tmp_path: Path) -> None:
    points = tiny("1:2")
    with Ledger(tmp_path / "s") as one, Ledger(tmp_path / "s") as two:
        one.begin("one")
        two.begin("two")
        assert one.exchange([], points) == points
        assert two.exchange([], points) == []
        # As if the first run's process had ended without a word.
        one._db.execute("UPDATE runs SET born = 'long ago' WHERE id = ?", (one._run,))
        assert two.exchange([], points) == points
        two.exchange([Outcome(points[0].key, {"by": "two"})], [])
        one.exchange([Outcome(points[0].key, {"by": "one"})], [])
        assert [row["by"] for row in one.rows()] == ["two"], "who holds the claim writes the result, once"


def test_many_open_a_new_store_at_once(tmp_path: Path) -> None:
    for place in range(20):
        gate = threading.Barrier(8)

        def opened(folder: Path = tmp_path / str(place), gate: threading.Barrier = gate) -> int:
            gate.wait()
            with Ledger(folder) as ledger:
                ledger.begin("all at once")
                return len(ledger.states())

        with ThreadPoolExecutor(8) as pool:
            assert [future.result() for future in [pool.submit(opened) for _ in range(8)]] == [0] * 8


def test_a_store_that_another_run_is_making_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The one looks for a ledger just before the other makes it: what SQLite keeps beside it is not set aside."""
    folder, looked, made = tmp_path / "s", threading.Event(), threading.Event()
    connect, set_aside, seen = ledger._connect, repair.set_aside, []

    def connect_late(path: Path) -> sqlite3.Connection:
        looked.wait(0.5)
        return connect(path)

    def set_aside_late(path: Path) -> Path:
        seen.append(path)
        if len(seen) > 1:
            looked.set()
            made.wait(5)
        return set_aside(path)

    def opened() -> None:
        with Ledger(folder) as store:
            made.set()
            store.begin("at once")
            time.sleep(0.2)

    monkeypatch.setattr(ledger, "_connect", connect_late)
    monkeypatch.setattr(repair, "set_aside", set_aside_late)
    with ThreadPoolExecutor(2) as pool:
        for future in [pool.submit(opened) for _ in range(2)]:
            future.result()
    assert not list(folder.glob("*damaged*"))


def test_two_runs_share_a_store(tmp_path: Path) -> None:
    study = tmp_path / "s.toml"
    study.write_text(
        'name="s"\n[[sweep]]\nnetworks="mesh:4x4"\nloads=0.2\nseeds="1:60"\noptions={warmup=100,measure=20000}\n'
    )
    command = [sys.executable, "-m", "topoloom", "run", str(study), "--workers", "1"]
    runs = [subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) for _ in range(2)]
    assert [run.wait() for run in runs] == [0, 0], [run.stderr and run.stderr.read() for run in runs]
    rows = Results.load(tmp_path / "s.store").rows
    assert len(rows) == len({row["key"] for row in rows}) == 60


def test_killed_at_random_nothing_is_lost_and_nothing_double(tmp_path: Path) -> None:
    study = tmp_path / "s.toml"
    study.write_text(
        'name="s"\n[[sweep]]\nnetworks="mesh:4x4"\nloads="0.1:0.4:0.1"\nseeds="1:1000"\n'
        "options={warmup=100,measure=2000}\n"
    )
    command = [sys.executable, "-m", "topoloom", "run", str(study), "--workers", "1"]
    rng, before = random.Random(7), 0
    for _ in range(5):
        run = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until = time.monotonic() + 30
        while time.monotonic() < until and _stored(tmp_path / "s.store") <= before:
            time.sleep(0.05)
        time.sleep(rng.uniform(0, 0.4))
        run.kill()
        run.wait()
        rows = Results.load(tmp_path / "s.store").rows
        assert len(rows) == len({row["key"] for row in rows}) > before
        before = len(rows)
    with sqlite3.connect(tmp_path / "s.store" / "ledger.sqlite") as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)


@pytest.mark.parametrize("after", [0.0, 0.3])
def test_workers_end_with_the_program_that_started_them_and_are_silent_on_ctrl_c(after: float, tmp_path: Path) -> None:
    """A worker whose parent has ended before it looked must not go on for hours either."""
    script = """
import sys, time
from topoloom.studies import LocalExecutor, Study, Sweep
sweep = Sweep(networks=["mesh:8x8"], loads=0.3, options={"warmup": 0, "measure": 10**8})
point = Study(name="s", sweep=[sweep]).points()
with LocalExecutor(1) as executor:
    executor.submit(point[0])
    print(executor._workers[0].process.pid, flush=True)
    time.sleep(60)
"""
    run = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert run.stdout
    assert run.stderr
    worker = int(run.stdout.readline())
    os.kill(worker, signal.SIGINT)
    time.sleep(after)
    assert Path(f"/proc/{worker}/stat").read_text().split()[2] != "Z"
    run.kill()
    until = time.monotonic() + 20
    while Path(f"/proc/{worker}").exists() and time.monotonic() < until:
        time.sleep(0.1)
    assert not Path(f"/proc/{worker}").exists()
    assert "Traceback" not in run.stderr.read()
    run.wait()


def _stored(store: Path) -> int:
    try:
        with sqlite3.connect(f"file:{store / 'ledger.sqlite'}?mode=ro", uri=True) as db:
            return int(db.execute("SELECT count(*) FROM points WHERE state = 'done'").fetchone()[0])
    except sqlite3.OperationalError:
        return 0


def test_a_part_counts_from_the_commit_that_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Ledger(tmp_path / "s") as ledger:
        write = parquet.write

        def write_and_die(path: Path, rows: list[dict[str, object]]) -> None:
            write(path, rows)
            raise KeyboardInterrupt

        monkeypatch.setattr(parquet, "write", write_and_die)
        with pytest.raises(KeyboardInterrupt):
            run_points(tiny("1:3"), ledger, Here(), name="x")
        assert len(list((tmp_path / "s" / "results").iterdir())) == 1
    monkeypatch.undo()
    with Ledger(tmp_path / "s") as ledger:
        assert list((tmp_path / "s" / "results").iterdir()) == [], "no commit names it"
        assert len(ledger.rows()) == 3, "the results are where they were"


def test_parts_are_merged(tmp_path: Path) -> None:
    points = tiny("1:30")
    for place in range(0, 30, 2):
        with Ledger(tmp_path / "s") as ledger:
            run_points(points[place : place + 2], ledger, Here(), name="x")
    assert len(list((tmp_path / "s" / "results").iterdir())) < 10
    assert {row["key"] for row in Results.load(tmp_path / "s").rows} == {p.key for p in points}


def test_a_full_disk_ends_the_run_cleanly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    points = tiny("1:400")
    with Ledger(tmp_path / "s") as ledger:
        (pages,) = ledger._db.execute("PRAGMA page_count").fetchone()
        ledger._db.execute(f"PRAGMA max_page_count = {pages + 20}")
        with pytest.raises(TopoloomError, match=r"the disk of .* is full; finished points are stored"):
            run_points(points, ledger, Here(), name="x")
    done = len(Results.load(tmp_path / "s").rows)
    assert 0 < done < 400

    def no_space(path: Path, rows: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(parquet, "write", no_space)
    with Ledger(tmp_path / "s") as ledger, pytest.raises(TopoloomError, match="is full"):
        ledger.pack()


def test_a_store_of_a_later_version_is_refused(tmp_path: Path) -> None:
    with Ledger(tmp_path / "s") as ledger:
        ledger._db.execute("UPDATE meta SET value = '99' WHERE name = 'schema'")
    with pytest.raises(TopoloomError, match="has version 99, later than"):
        Ledger(tmp_path / "s")
    (tmp_path / "t").mkdir()
    (tmp_path / "t" / "ledger.sqlite").write_text("this is no database, but long enough to be taken for one" * 20)
    with Ledger(tmp_path / "t") as ledger:
        assert "ledger.sqlite is damaged (file is not a database); it is kept as" in ledger.notes[0]
    assert any("this is no database" in path.read_text() for path in (tmp_path / "t").glob("ledger.sqlite.damaged-*"))
    with pytest.raises(TopoloomError, match="is no store of results"):
        Results.load(tmp_path / "nowhere")


def test_a_store_of_the_version_before_is_carried_over(tmp_path: Path) -> None:
    with Ledger(tmp_path / "s") as ledger:
        run_points(tiny("1:3"), ledger, Here(), name="x")
        for statement in (
            "ALTER TABLE points DROP COLUMN model_version",
            "UPDATE points SET point = json_set(point, '$.line', 7)",
            "UPDATE meta SET value = '1' WHERE name = 'schema'",
        ):
            ledger._db.execute(statement)
    with Ledger(tmp_path / "s") as ledger:
        assert run_points(tiny("1:4"), ledger, Here(), name="x").before == 3
    assert {row["model_version"] for row in Results.load(tmp_path / "s").rows} == {_core.MODEL_VERSION}


def test_a_folder_with_other_files_is_no_store_and_keeps_them(tmp_path: Path) -> None:
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "mine.parquet").write_text("precious")
    with Ledger(tmp_path) as ledger:
        run_points(tiny("1:3"), ledger, Here(), name="x")
    assert (tmp_path / "results" / "mine.parquet").read_text() == "precious"
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "notes.txt").touch()
    with pytest.raises(TopoloomError, match="holds other files"):
        Ledger(tmp_path / "home")
    assert [path.name for path in (tmp_path / "home").iterdir()] == ["notes.txt"]


def test_results_of_other_models_stand_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = _core.MODEL_VERSION
    with Ledger(tmp_path / "s") as ledger:
        run_points(tiny("1:3"), ledger, Here(), name="x")
    monkeypatch.setattr(_core, "MODEL_VERSION", 99)
    with Ledger(tmp_path / "s") as ledger:
        progress = run_points(points := tiny("1:3"), ledger, Here(), name="x")
        assert (progress.before, progress.done) == (0, 3), "nothing of the old models is taken for the new ones'"
        rows = Results(ledger.rows())
    assert sorted(row["model_version"] for row in rows.rows) == [first, first, first, 99, 99, 99]
    assert {row["model_version"] for row in rows.of(point.key for point in points).rows} == {99}


def test_a_run_on_another_machine_is_dead_when_nothing_is_heard_whatever_its_clock_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    points = tiny("1:2")
    with Ledger(tmp_path / "s") as one, Ledger(tmp_path / "s") as two:
        one.begin("one")
        two.begin("two")
        assert one.exchange([], points) == points
        for heard in (time.time() + 1e6, time.time() - 1e6):
            one._db.execute("UPDATE runs SET host = 'elsewhere', heard = ? WHERE id = ?", (heard, one._run))
            assert two.exchange([], points) == [], "it has just been heard of"
        passed = time.monotonic() + 61
        monkeypatch.setattr(time, "monotonic", lambda: passed)
        assert two.exchange([], points) == points


def test_results_are_filtered_exported_and_compared(tmp_path: Path) -> None:
    with Ledger(tmp_path / "s") as ledger:
        run_points(tiny("1:6"), ledger, LocalExecutor(1), name="x")
    found = Results.load(tmp_path / "s")
    assert sorted(row["seed"] for row in found.where("seed>=3", "seed<5", routing="dor").rows) == [3, 4]
    with pytest.raises(TopoloomError, match=r"unknown column 'sed' .did you mean 'seed'"):
        found.where("sed=1")
    frame = found.frame()
    assert len(found.where("options.measure=20", "options.buffer=64")) == 6, "defaults are told, too"
    assert frame["accepted"].notna().all()
    assert set(frame["options.measure"]) == {20}
    found.write(tmp_path / "x.parquet")
    assert sorted(row["key"] for row in parquet.read(tmp_path / "x.parquet")) == sorted(r["key"] for r in found.rows)
    with Ledger(tmp_path / "t") as ledger:
        run_points(tiny("3:8"), ledger, LocalExecutor(1), name="x")
    differences = found.differences(Results.load(tmp_path / "t"))
    assert (differences.equal, len(differences.only_here), len(differences.only_there)) == (4, 2, 2)
    assert not differences.changed, "one seed gives one result"
    changed = Results([{**found.rows[0], "accepted": 7.0}]).differences(found)
    assert changed.changed[0][2] == ["accepted"]


def test_the_longest_points_go_first(tmp_path: Path) -> None:
    sweep = Sweep(networks=["mesh:2x2", "mesh:8x8", "mesh:4x4"], loads="0.1,0.9", options=TINY)
    points = Study(name="s", sweep=[sweep]).points()
    here = Here(capacity=1)
    with Ledger(tmp_path / "s") as ledger:
        run_points(points, ledger, here, name="x")
    done = [next((p.spec, p.load) for p in points if p.key == key) for key in here.done]
    assert done[0] == ("mesh:8x8", 0.9)
    assert done[-1] == ("mesh:2x2", 0.1)


def test_ten_times_the_cycles_take_ten_times_as_long() -> None:
    sweeps = [Sweep(networks="mesh:2x2", loads="0.5", options={**TINY, "warmup": n, "measure": n}) for n in (10, 100)]
    short, long = Study(name="s", sweep=sweeps).points()
    assert Estimates([(short, 2.0)]).effort(long) == pytest.approx(20.0)


class Timed:
    """An executor of two workers on a simulated clock: each point takes a given number of seconds."""

    def __init__(self, seconds: Callable[[StudyPoint], float]) -> None:
        self.seconds, self.now, self.capacity = seconds, 0.0, 2
        self.ends: dict[str, tuple[float, StudyPoint]] = {}

    def __enter__(self) -> "Timed":
        return self

    def __exit__(self, *exception: object) -> None:
        pass

    def submit(self, point: StudyPoint) -> None:
        self.ends[point.key] = (self.now + self.seconds(point), point)

    def collect(self, _: float) -> list[Outcome]:
        self.now, point = min(self.ends.values(), key=lambda job: job[0])
        del self.ends[point.key]
        return [dataclasses.replace(outcome_of(point), wall_s=self.seconds(point))]


def test_the_time_left_is_right_within_a_factor_of_two(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of some networks short simulations are known, of others nothing; long ones follow, and proofs."""
    specs = ["mesh:2x2", "mesh:3x3", "mesh:4x4", "mesh:3x4", "mesh:4x5", "mesh:5x5"]
    sizes = {spec: 4 + number for number, spec in enumerate(specs)}
    short, long = ({**TINY, "warmup": length, "measure": length} for length in (10, 100))
    known = Sweep(networks=specs[:3], loads="0.3,0.6,0.9", options=short)
    wanted = [
        Sweep(kind="verify", networks=["mesh:16x16", "mesh:20x20"], routings="dor"),
        Sweep(networks=specs, loads="0.3,0.6,0.9", options=long),
    ]

    def seconds(point: StudyPoint) -> float:
        if point.kind == "verify":
            return 0.1
        return sizes[point.spec] * point.load * point.settings["options"]["measure"] / 10

    timed, seen = Timed(seconds), []
    monkeypatch.setattr("topoloom.studies.running.time.monotonic", lambda: timed.now)
    with Ledger(tmp_path / "s") as ledger:
        run_points(Study(name="s", sweep=[known]).points(), ledger, timed, name="x")
        begun, points = timed.now, Study(name="s", sweep=wanted).points()
        run_points(points, ledger, timed, name="x", on_progress=lambda told: seen.append((timed.now, told.left_s)))
    whole = timed.now - begun
    left = [(timed.now - at, told) for at, told in seen if told is not None and at > begun + whole / 4]
    assert len(left) > len(specs)
    assert not [(right, told) for right, told in left if right > whole / 8 and not right / 2 <= told <= 2 * right]


def test_options_that_cost_much_do_not_lead_the_time_left_astray(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One of each is known; points of the first option take a hundred times as long as those of the second."""
    specs, loads = ["mesh:2x2", "mesh:3x3"], [round(0.05 * step, 2) for step in range(1, 20)]
    costly, cheap = ({**TINY, "buffer": buffer} for buffer in (64, 4))
    wanted = [
        Sweep(networks=specs, loads="0.4,0.5,0.6", options=costly),
        Sweep(networks=specs, loads=loads, options=cheap),
    ]
    timed, seen = Timed(lambda point: (400 if point.settings["options"]["buffer"] == 64 else 4) * point.load), []
    monkeypatch.setattr("topoloom.studies.running.time.monotonic", lambda: timed.now)
    points = Study(name="s", sweep=wanted).points()
    with Ledger(tmp_path / "s") as ledger:
        run_points([points[0], points[-1]], ledger, timed, name="x")
        begun = timed.now
        run_points(points, ledger, timed, name="x", on_progress=lambda told: seen.append((timed.now, told.left_s)))
    whole = timed.now - begun
    left = [(timed.now - at, told) for at, told in seen if told is not None and at > begun]
    assert len(left) > len(loads)
    assert not [(right, told) for right, told in left if right > whole / 8 and not right / 2 <= told <= 2 * right]


def test_sizes_that_a_spec_states_count_as_its_size() -> None:
    specs = ["xgft:down=16x16x32,up=16x16", "nesttree:t=8,u=8,endpoints=8192", "torus:32x16x16"]
    points = Study(name="s", sweep=[Sweep(kind="facts", networks=specs)]).points()
    assert len({Estimates().effort(point) for point in points}) == 1


def test_a_curve_places_its_points_and_agrees_with_a_fine_even_grid(tmp_path: Path) -> None:
    text = """
name = "curves"
[defaults]
networks = "mesh:4x4"
loads = "0.001,0.05:1:0.02"
[[sweep]]
kind = "simulate"
[[sweep]]
kind = "curve"
"""
    points = Study.parse(text).points()
    with Ledger(tmp_path / "s") as ledger:
        progress = run_points(points, ledger, LocalExecutor(2), name="x")
    assert progress.finished
    rows = Results.load(tmp_path / "s").rows
    grid = [row for row in rows if row["kind"] == "simulate"]
    (curve,) = (json.loads(row["result"]) for row in rows if row["kind"] == "curve")
    cycles = sum(point["cycles"] for point in curve["points"])
    assert cycles <= 0.5 * sum(row["cycles"] for row in grid)
    knots = [(p["offered"], p["latency_cycles"]) for p in curve["points"] if p["offered"] <= curve["saturation_load"]]
    for row in grid:
        if row["load"] <= curve["saturation_load"]:
            (a, low), (b, high) = next(pair for pair in pairwise(knots) if row["load"] <= pair[1][0])
            line = low + (high - low) * (row["load"] - a) / (b - a)
            assert abs(line - row["latency_cycles"]) <= 0.06 * row["latency_cycles"]


@pytest.mark.parametrize("spec", ["mesh:4x4", "hyperx:3x3,p=2"])
def test_a_curve_with_replicas_is_that_of_an_even_grid_for_half_of_its_cycles(spec: str) -> None:
    """The grid's points are replicated by the same rule; its step is twice that of the saturation load."""
    options = {"warmup": 200, "measure": 1000}
    loads = "0.05:0.99:0.02,1"
    sweep = Sweep(kind="curve", networks=[spec], loads=loads, precision=0.03, options=options)
    result = outcome_of(Study(name="s", sweep=[sweep]).points()[0]).result
    assert result
    even = Simulator(Network(spec).core, "minimal", "uniform", make_options(options))
    run_here(even, fixed_plan([ZERO_LOAD, *parse_loads(loads)]), partial(replicate, even, precision=0.03, most=30))
    grid = even.curve
    assert result["simulated_cycles"] <= 0.5 * sum(point.cycles for point in grid.points.values())
    assert abs(result["saturation_load"] - grid.most_stable) <= 0.02
    points = [Point.model_validate(point) for point in result["points"]]
    below = [point for point in points if ZERO_LOAD < point.offered <= result["saturation_load"]]
    for point in below:
        assert 5 <= point.replicas <= 30
        assert point.converged == is_narrow(point, 0.03)
    assert result["unconverged"] <= 3
    for low, high in pairwise(below):
        for load in (load for load in grid.points if low.offered <= load <= high.offered and grid.is_stable(load)):
            share = (load - low.offered) / (high.offered - low.offered)
            line = low.latency_cycles + (high.latency_cycles - low.latency_cycles) * share
            mean, half = grid.points[load].latency_cycles, grid.points[load].latency_ci95
            assert abs(line - mean) <= 0.06 * mean + 2 * half


def test_replicas_that_do_not_become_narrow_say_so() -> None:
    sweep = Sweep(
        kind="curve",
        networks=["mesh:2x2"],
        loads=0.5,
        precision=0.001,
        replicas=6,
        options={"warmup": 50, "measure": 500},
    )
    (point,) = Study(name="s", sweep=[sweep]).points()
    (again,) = Study(name="s", sweep=[sweep.model_copy(update={"replicas": 7})]).points()
    assert point.key != again.key
    result = outcome_of(point).result
    assert result
    measured = {load["offered"]: load for load in result["points"]}[0.5]
    assert (measured["replicas"], measured["converged"]) == (6, False)
    assert result["unconverged"] >= 1


def test_points_of_several_seeds_become_one(tmp_path: Path) -> None:
    sweep = Sweep(networks=["mesh:4x4"], loads="0.1,0.3", seeds="1:5", options={"warmup": 100, "measure": 1000})
    with Ledger(tmp_path / "s") as ledger:
        run_points(Study(name="s", sweep=[sweep]).points(), ledger, LocalExecutor(1), name="s")
    found = Results.load(tmp_path / "s")
    (curve,) = found.curves()
    latencies = found.frame().query("load == 0.3")["latency_cycles"]
    assert curve.points[0.3].latency_cycles == pytest.approx(latencies.mean())
    assert curve.points[0.3].latency_ci95 == pytest.approx(2.776 * latencies.sem(), rel=1e-3)
    assert len(found.plot().data) == 2, "a band and a line"


def test_the_schema_describes_every_key_and_agrees_with_what_is_read() -> None:
    schema = study_schema()
    assert ">>>" not in json.dumps(schema)
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)

    def undescribed(node: object, path: str) -> list[str]:
        if not isinstance(node, dict):
            return []
        own = [f"{path}.{name}" for name, key in node.get("properties", {}).items() if "description" not in key]
        return own + [found for name, value in node.items() for found in undescribed(value, f"{path}.{name}")]

    assert undescribed(schema, "") == []
    for path in ROOT.glob("examples/studies/*.toml"):
        validator.validate(tomllib.loads(path.read_text()))
    good = (
        f"{SWEEP}seeds = '1:30'\noptions = {{buffer=[8, 64], links={{global=10}}, sw-alloc-delay=1, packet='1-32'}}\n"
    )
    validator.validate(tomllib.loads(good))
    assert Study.parse(good).points()
    for bad in ("routing = 'min'", "seeds = 'x'", "options = {bufer=1}", "options = {links={globl=1}}", "replicas = 1"):
        with pytest.raises(jsonschema.ValidationError):
            validator.validate(tomllib.loads(f"{SWEEP}{bad}\n"))
        with pytest.raises(TopoloomError):
            Study.parse(f"{SWEEP}{bad}\n")
    names = schema["$defs"]["Sweep"]["properties"]["options"]["properties"]
    known = {name for kind in MEASUREMENTS.values() for name in kind.options.model_fields}
    assert {name.replace("-", "_") for name in names} == {*known, "router"} - {"seed"}
    assert known >= {*EngineOptions.model_fields, "trials", "layout", "vcs"}


@pytest.mark.parametrize(
    ("kind", "keys", "field"),
    [
        ("layout", "options = {layout = 'terminal=none'}", "cost_usd"),
        ("faults", "seeds = 3\noptions = {trials = 10, fractions = 'none'}", "survivable"),
        ("bound", "routings = 'min'\ntraffic = 'tornado'\noptions = {optimal = true}", "optimal_bound"),
        ("verify", "routings = 'min'\noptions = {vcs = 1}", "deadlock_free"),
        ("facts", "options = {sample = 2}", "distance_sample"),
    ],
)
def test_every_kind_takes_options_of_its_own(kind: str, keys: str, field: str) -> None:
    (point,) = Study.parse(f"name = 'x'\n[[sweep]]\nkind = '{kind}'\nnetworks = 'mesh:3x3'\n{keys}\n").points()
    assert point.options
    assert field in (outcome_of(point).result or {})
    with pytest.raises(TopoloomError, match="unknown option 'bufer'"):
        Study.parse(f"name = 'x'\n[[sweep]]\nkind = '{kind}'\nnetworks = 'mesh:3x3'\noptions = {{bufer = 1}}\n")


def test_defaults_give_each_kind_the_options_that_it_knows() -> None:
    study = Study.parse(
        "name = 'x'\n[defaults]\nnetworks = 'mesh:3x3'\noptions = {buffer = 8, trials = 7}\n"
        "[[sweep]]\nkind = 'facts'\n[[sweep]]\nkind = 'faults'\n[[sweep]]\nkind = 'simulate'\nloads = 0.1\n"
    )
    assert [point.options for point in study.points()] == [
        {},
        {"trials": 7, "fractions": study.points()[1].options["fractions"], "seed": 1},
        {"buffer": 8, "seed": 1},
    ]


def test_keys_instead_of_those_of_a_study() -> None:
    text = (
        "name = 'x'\n[defaults]\nnetworks = 'mesh:3x3'\n[[sweep]]\nkind = 'facts'\n"
        "[[sweep]]\nkind = 'simulate'\nloads = '0.1:0.5:0.1'\noptions = {buffer = 8, measure = 900, warmup = 100}\n"
    )
    coarse = Study.parse(text, instead={"loads": "0.1:0.2:0.1", "options": {"measure": 50}}).points()
    assert [(point.kind, point.load) for point in coarse] == [("facts", None), ("simulate", 0.1), ("simulate", 0.2)]
    assert coarse[1].options == {"buffer": 8, "measure": 50, "warmup": 100, "seed": 1}
    with pytest.raises(TopoloomError, match="line 8: load 'many'"):
        Study.parse(text, instead={"loads": "many"})
