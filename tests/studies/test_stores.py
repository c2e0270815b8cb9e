"""Stores: which contents of files a result stands for, and what is left where a store's own files are damaged."""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from harness.outcome import Outcome
from topoloom import TopoloomError, _core
from topoloom.simulation.option_types import Options, marks
from topoloom.simulation.options import EngineOptions
from topoloom.simulation.run_options import LinkLatencies
from topoloom.studies import Ledger, LocalExecutor, Results, Study, StudyPoint, Sweep, measurements, parquet, run_points
from topoloom.studies.measurements import MEASUREMENTS
from topoloom.studies.superseded import split
from topoloom.studies.worker import outcome_of

Command = Callable[..., Outcome]

SHORT = "options = {warmup = 10, measure = 50}"
PRICES = json.dumps(_core.price_list("") | {"name": "own"})


class Here:
    """An executor without processes."""

    capacity = 4

    def __init__(self) -> None:
        self.waiting: list[StudyPoint] = []

    def __enter__(self) -> "Here":
        return self

    def __exit__(self, *exception: object) -> None:
        self.waiting = []

    def submit(self, point: StudyPoint) -> None:
        self.waiting.append(point)

    def collect(self, _timeout_s: float) -> list[Any]:
        return [outcome_of(self.waiting.pop(0))]


# ---- files that points read -------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


NAMES: dict[str, tuple[str, dict[str, Any], str, str]] = {
    # What is asked, with FILE for the name of the file; that name; two contents
    "file": ("facts", {"networks": ["file:FILE,p=1"]}, "net(1).edges", "0 1\n1 2\n|0 1\n1 2\n2 0\n"),
    "base": (
        "facts",
        {"networks": ["permuted:two-cab(file:FILE,p=1),cabinet=2"]},
        "ring.edges",
        "0 1\n1 2\n2 3\n3 0\n|0 1\n1 2\n2 3\n3 0\n0 2\n",
    ),
    "cabinet of a base": (
        "facts",
        {"networks": ["permuted:two-cab(mesh:2x2),cabinet=FILE"]},
        "racks.csv",
        "0,a\n1,a\n2,b\n3,b\n|0,a\n1,b\n2,c\n3,d\n",
    ),
    "table": (
        "verify",
        {"networks": ["mesh:2"], "routings": ["table:FILE"]},
        "a,b.csv",
        "at,destination,port\n0,1,1\n1,0,1\n|at,destination,port,class\n0,1,1,1\n1,0,1,1\n",
    ),
    "pairs": ("simulate", {"networks": ["mesh:2x2"], "traffic": ["pairs:FILE"]}, "p(2),q=1.csv", "0,1\n|0,3\n"),
    "trace": ("simulate", {"networks": ["mesh:2x2"], "traffic": ["trace:FILE"]}, "run(1).csv", "0,0,1,1\n|0,0,3,1\n"),
    "goal": (
        "workload",
        {"networks": ["mesh:2"], "apps": ["goal:FILE"]},
        "a,b(1).goal",
        "num_ranks 2\nrank 0 {\nsend 64b to 1\n}\nrank 1 {\nrecv 64b from 0\n}\n|"
        "num_ranks 2\nrank 0 {\nsend 9b to 1\n}\nrank 1 {\nrecv 9b from 0\n}\n",
    ),
    "messages": ("workload", {"networks": ["mesh:2x2"], "apps": ["messages:FILE"]}, "m=1,n.csv", "0,1,64\n|0,3,64\n"),
    "prices": (
        "layout",
        {"networks": ["mesh:2x2"], "options": {"prices": "FILE"}},
        "own, of(us).json",
        f"{PRICES}|{PRICES.replace('128.0', '7.0')}",
    ),
    "layout": (
        "facts",
        {"networks": ["mesh:2x2"], "options": {"layout": "width=0.6,cabinet=FILE"}},
        "cabs.csv",
        "0,a\n1,a\n2,b\n3,b\n|0,a\n1,b\n2,c\n3,d\n",
    ),
    "rates": ("simulate", {"networks": ["mesh:2x2"], "options": {"rates": "FILE"}}, "r(1).csv", "0,3\n|1,3\n"),
    "links": (
        "simulate",
        {"networks": ["mesh:2x2"], "options": {"links": {"inside": 1, "between": 30, "cabinet": "FILE"}}},
        "c,d.csv",
        "0,a\n1,a\n2,b\n3,b\n|0,a\n1,a\n2,a\n3,a\n",
    ),
}


def asked(name: str, path: str) -> StudyPoint:
    kind, keys, _, _ = NAMES[name]
    keys = json.loads(json.dumps(keys).replace("FILE", path))
    if kind == "simulate" and not keys.get("traffic", ["uniform"])[0].startswith("trace:"):
        keys |= {"loads": 0.1, "options": {"warmup": 10, "measure": 200, **keys.get("options", {})}}
    (point,) = Study(name="s", sweep=[Sweep(kind=kind, **keys)]).points()
    return point


@pytest.mark.parametrize("name", NAMES)
def test_what_stands_in_a_file_is_part_of_the_key(name: str, folder: Path) -> None:
    path, (before, after) = NAMES[name][2], NAMES[name][3].split("|")
    Path(path).write_text(before)
    first = asked(name, path)
    assert first.files == [path]
    result = measurements.run(first)
    Path(path).write_text(after)
    second = asked(name, path)
    assert second.key != first.key
    assert measurements.run(second) != result, "the new content counts, also where the former is kept in memory"
    os.utime(path, ns=(5, 5))
    assert asked(name, path).key == second.key, "its date does not matter"
    Path(path).write_text(before)
    assert asked(name, path).key == first.key


def test_every_option_that_reads_a_file_is_marked(folder: Path) -> None:
    """Options are given files that are not there: those that miss them read them."""
    reading = set()
    for name, kind in MEASUREMENTS.items():
        for option, field in kind.options.model_fields.items():
            if str not in _types(field.annotation):
                continue
            values: dict[str, Any] = {"warmup": 1, "measure": 1} if kind.simulates else {}
            missing = [
                _missing(kind, name, values | {option: text}) for text in ("no.csv", "no.json", "cabinet=no.csv")
            ]
            if any(missing):
                reading.add(f"{name} {option}")
                named = [kind.options.files({option: text}) for text in ("no.csv", "no.json", "cabinet=no.csv")]
                assert any(named), f"{name}: {option} reads a file that no key knows of"
    assert {"facts prices", "facts layout", "layout prices", "simulate rates", "curve rates"} <= reading
    nested = {field.annotation for field in EngineOptions.model_fields.values() if _is_options(field.annotation)}
    assert nested == {LinkLatencies}, "options within options are walked here, too"
    texts = {name for name, field in LinkLatencies.model_fields.items() if str in _types(field.annotation)}
    marked = {name for name, field in LinkLatencies.model_fields.items() if any(marks(field))}
    assert texts == marked == {"cabinet"}


def _types(annotation: object) -> set[object]:
    """Return a type and all types that it is made of."""
    parts = (part for part in get_args(annotation) if isinstance(part, type) or get_args(part))
    return {annotation}.union(*map(_types, parts))


def _is_options(annotation: object) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, Options)


def _missing(kind: measurements.Measurement, name: str, options: dict[str, Any]) -> bool:
    point = StudyPoint(name, "mesh:2x2", "dor" if kind.routes else "", "uniform" if kind.sends else "", 0.1)
    if kind.plays:
        Path("day.csv").write_text("JobID,NNodes,Submit,ElapsedRaw\n1,2,2026-01-01T00:00:00,10\n")
        played = {"workload": "allreduce", "jobs": "allreduce,tasks=2", "replay": "day.csv"}[name]
        point = StudyPoint(name, "mesh:2x2", "dor", played)
    settings = {"options": options, "loads": [0.1, 0.2], "tolerance": 0.5}
    try:
        measurements.run(StudyPoint(name, point.spec, point.routing, point.traffic, 0.1, settings))
    except TopoloomError as error:
        return "No such file" in str(error) or "not found" in str(error) or "does not exist" in str(error)
    except TypeError:
        return False
    return False


def test_keys_are_what_they_were() -> None:
    """As version 0.1.0 made them: what a store holds is not done again."""
    cycle = {"vcs": 4, "links": {"global": 10}}
    sweeps = {
        "f671cc4a5890dfc2452144395edc9a50": Sweep(kind="facts", networks=["mesh:2x2"]),
        "dd0339c5245a5728f47c8bb96d87e73b": Sweep(
            networks=["dragonfly:a=4,h=2,p=2"], routings=["ugal-l"], loads=0.3, seeds=2, options=cycle
        ),
        # But for the rate of links, which workloads take to be 400 Gb/s since.
        "8facc5e15942114e17c8771a561a428c": Sweep(
            kind="workload",
            networks=["permuted:two-cab(torus:4x4),cabinet=4"],
            apps=["allreduce:size=64KiB"],
            options={"engine": "flow"},
        ),
        "eb90bad08e28ac7d841f4602bca56cde": Sweep(
            kind="layout", networks=["mesh:4x4"], options={"prices": "fdr10-slimfly", "layout": "cabinet=4"}
        ),
    }
    for known, sweep in sweeps.items():
        (point,) = Study(name="s", sweep=[sweep]).points()
        assert point.key_of({}.get, 2) == known, sweep


def test_a_file_that_changes_while_a_study_runs_gives_no_result(folder: Path) -> None:
    Path("p.csv").write_text("0,1\n")
    point = asked("pairs", "p.csv")
    assert outcome_of(point).key == point.key
    Path("p.csv").write_text("0,3\n")
    outcome = outcome_of(point)
    assert outcome.result is None
    assert outcome.error is not None
    assert "p.csv changed while the study ran" in outcome.error


# ---- former contents --------------------------------------------------------------------------------------------


def write_study(text: str, name: str = "s.toml") -> str:
    Path(name).write_text(f'name = "s"\n[[sweep]]\n{text}\n')
    return name


def priced(usd: float) -> None:
    Path("own.json").write_text(PRICES.replace("128.0", str(usd)))


def test_tables_have_units_where_links_have_rates(
    folder: Path, topoloom: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    options = "loads = 0.1\noptions = {warmup=10, measure=50}"
    heads = []
    for spec in ("mesh:2x2", "mesh:2x2,rate=100G"):
        study = write_study(f'networks = "{spec}"\n{options}', f"{len(heads)}.toml")
        heads.append(topoloom("run", study).out.splitlines()[1].split())
    plain, rated = heads
    assert set(rated) - set(plain) == {"accepted_gb_s", "latency_ns"}
    assert set(plain) <= set(rated)


def test_a_study_whose_price_list_changed_is_run_again(folder: Path, topoloom: Command) -> None:
    study = write_study('kind = "layout"\nnetworks = ["mesh:2x2", "mesh:3x3"]\noptions = {prices = "own.json"}')
    priced(128.0)
    first = topoloom("run", study, "--json").json()["points"]
    priced(7.0)
    again = topoloom("run", study, "--json")
    assert "0 of them before this run" in again.err
    second = again.json()["points"]
    assert [row["cost_usd"] for row in first] != [row["cost_usd"] for row in second]
    shown = topoloom("results", "s.store", "--json")
    assert [row["key"] for row in shown.json()] == [row["key"] for row in second]
    assert "left out: 2 results of former contents of own.json; --superseded shows all" in shown.err
    both = topoloom("results", "s.store", "--superseded", "--json")
    assert len(both.json()) == 4
    assert "left out" not in both.err
    priced(128.0)
    assert "2 of them before this run" in topoloom("run", study).err
    assert [row["cost_usd"] for row in topoloom("results", "s.store", "--json").json()] == [
        row["cost_usd"] for row in first
    ], "the former content is the newest again"


def test_curves_never_mix_contents(folder: Path) -> None:
    """A run that was stopped after one point of a new content leaves no curve of both."""
    Path("p.csv").write_text("0,1\n")

    def points() -> list[StudyPoint]:
        sweep = Sweep(
            networks=["mesh:2x2"], traffic=["pairs:p.csv"], loads="0.1:0.3:0.1", options={"warmup": 9, "measure": 50}
        )
        return Study(name="s", sweep=[sweep]).points()

    with Ledger(Path("s")) as ledger:
        run_points(points(), ledger, Here(), name="s")
    Path("p.csv").write_text("0,3\n")
    with Ledger(Path("s")) as ledger:
        run_points(points()[1:2], ledger, Here(), name="s")
    assert [row["load"] for row in Results.load("s").rows] == [0.2]
    assert len(Results.load("s", superseded=True).rows) == 4
    Path("s/ledger.sqlite").unlink()
    assert [row["load"] for row in Results.load("s").rows] == [0.2], "the parts alone tell it, too"


def test_results_that_do_not_note_their_files_are_told_by_their_keys(folder: Path) -> None:
    """As results of earlier versions do not."""
    for content in ("0,1\n", "0,3\n"):
        Path("p.csv").write_text(content)
        with Ledger(Path("s")) as ledger:
            run_points([point := asked("pairs", "p.csv")], ledger, Here(), name="s")
            ledger._db.execute("UPDATE points SET point = json_remove(point, '$.files')")
    with sqlite3.connect("s/ledger.sqlite") as db:
        db.execute("DROP TABLE contents")
    strip_files(Path("s"))
    assert [row["key"] for row in Results.load("s").rows] == [point.key], "the latest, while nothing else is known"
    Path("p.csv").write_text("0,1\n")
    with Ledger(Path("s")) as ledger:
        assert run_points([point := asked("pairs", "p.csv")], ledger, Here(), name="s").before == 1
    assert [row["key"] for row in Results.load("s").rows] == [point.key]


def test_keys_of_earlier_versions_have_names_as_they_were_written() -> None:
    point = StudyPoint("facts", "file:own.csv,format=csv,p=2")
    key = point.key_of({"own.csv": "new"}.get, 1, as_written=True)
    assert key != point.key_of({"own.csv": "new"}.get, 1)
    row = parquet.row(key, point.to_json({}), "{}", {"model_version": 1})
    assert split([row], {"own.csv": "new"}) == ([row], [])
    assert split([row], {"own.csv": "old"}) == ([], [row])


def strip_files(store: Path) -> None:
    for path in (store / "results").iterdir():
        pq.write_table(pq.read_table(path).drop_columns("files"), path)


# ---- damage -----------------------------------------------------------------------------------------------------

STUDY = f'networks = ["mesh:2x2"]\nloads = "0.1:0.4:0.1"\nseeds = "1:3"\n{SHORT}'


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of twelve results, two of which stand in the ledger still."""
    made = tmp_path_factory.mktemp("template") / "s.store"
    with Ledger(made) as ledger:
        points = Study.parse(f'name = "s"\n[[sweep]]\n{STUDY}').points()
        run_points(points, ledger, Here(), name="s")
        first = {point.key for point in points[:2]}
        for row in (row for row in ledger.rows() if row["key"] in first):
            ledger._db.execute("UPDATE points SET result = ?, part = NULL WHERE key = ?", (row["result"], row["key"]))
    return made


@pytest.fixture
def store(folder: Path, template: Path) -> Path:
    write_study(STUDY)
    return Path(shutil.copytree(template, folder / "s.store"))


def part_of(store: Path) -> Path:
    (path,) = [path for path in (store / "results").iterdir() if path.suffix == ".parquet"]
    return path


def bad_page(path: Path) -> None:
    """Spoil a page: of a ledger that with which the points begin."""
    place = path.stat().st_size // 2
    if path.suffix == ".sqlite":
        with sqlite3.connect(path) as db:
            (number,) = db.execute("SELECT rootpage FROM sqlite_master WHERE name = 'points'").fetchone()
        place = (number - 1) * 4096
    with path.open("r+b") as file:
        file.seek(place)
        file.write(b"\xff" * 4096)


def truncate(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def flip(path: Path) -> None:
    """Spoil some bytes behind the magic number of a Parquet file."""
    with path.open("r+b") as file:
        file.seek(40)
        file.write(b"\x55" * 20)


def replace_by_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()
    (path / "mine").write_text("precious")


DAMAGE: dict[str, Callable[[Path], object]] = {
    "empty": lambda path: path.write_bytes(b""),
    "missing": Path.unlink,
    "folder": replace_by_folder,
    "garbage": lambda path: path.write_bytes(b"no file of ours, but a long one\n" * 500),
    "truncated": truncate,
    "bad page": bad_page,
    "flipped bytes": flip,
}


@pytest.mark.parametrize("how", DAMAGE)
@pytest.mark.parametrize("what", ["ledger", "part"])
def test_a_damaged_file_costs_what_it_held_and_no_more(what: str, how: str, store: Path, topoloom: Command) -> None:
    whole = {row["key"]: row["latency_cycles"] for row in Results.load(store).rows}
    path = part_of(store) if what == "part" else store / "ledger.sqlite"
    DAMAGE[how](path)
    before = {found: found.read_bytes() for found in store.rglob("*") if found.is_file() and "sqlite" not in found.name}
    shown = topoloom("results", str(store), "--json")
    assert shown.status == 0, shown.err
    assert len(shown.json()) >= (10 if what == "ledger" else 2)
    harmless = how == "flipped bytes" and len(shown.json()) == 12  # of what nobody reads
    assert path.name in shown.err or harmless, "it is named"
    assert before == {found: found.read_bytes() for found in before}, "reading changes nothing"
    dry = topoloom("run", "s.toml", "--dry-run")
    assert dry.status == 0, dry.err
    assert dry.out.split()[-2:] == ["12", str(len(shown.json()))], "what is lost is not done"
    again = topoloom("run", "s.toml", "--json", "--workers", "1")
    assert again.status == 0, again.err
    assert path.name in again.err or harmless
    assert {row["key"]: row["latency_cycles"] for row in again.json()["points"]} == whole
    assert {row["key"]: row["latency_cycles"] for row in Results.load(store).rows} == whole
    if how == "folder":
        assert [kept.read_text() for kept in store.rglob("mine")] == ["precious"], "nothing of the user's is lost"
    last = topoloom("run", "s.toml")
    assert "12 of them before this run" in last.err
    assert path.name not in last.err, "it is said once"
    assert list(Results.load(store).notes) == []


def test_an_empty_ledger_is_made_anew_from_the_parts(store: Path, topoloom: Command) -> None:
    with Ledger(store) as ledger:
        ledger.pack()
    for spoil in (lambda path: path.write_bytes(b""), Path.unlink):
        spoil(Path("s.store/ledger.sqlite"))
        shown = topoloom("results", "s.store", "--json")
        assert len(shown.json()) == 12
        assert "12 results were found in the store, and the next run rebuilds the ledger" in shown.err
        again = topoloom("run", "s.toml", "--out", "report.html")
        assert "rebuilt from 12 results" in again.err
        assert "12 of them before this run" in again.err


def test_json_in_a_ledger_that_does_not_read_is_one_point_lost(store: Path, topoloom: Command) -> None:
    columns = {"result": "{", "point": "[1]"}
    with sqlite3.connect(store / "ledger.sqlite", isolation_level=None) as db:
        keys = [key for (key,) in db.execute("SELECT key FROM points WHERE result IS NOT NULL")]
        for key, (column, text) in zip(keys, columns.items(), strict=True):
            db.execute(f"UPDATE points SET {column} = ? WHERE key = ?", (text, key))
        packed = "UPDATE points SET point = 'x' WHERE key = (SELECT key FROM points WHERE part IS NOT NULL)"
        db.execute(packed)
    shown = topoloom("results", str(store), "--json")
    assert (shown.status, len(shown.json())) == (0, 12), "the part has these two, too"
    assert "2 results in" in shown.err
    again = topoloom("run", "s.toml", "--json", "--workers", "1")
    assert (again.status, len(again.json()["points"])) == (0, 12), again.err
    assert "2 results in the ledger of s.store cannot be read" in again.err
    assert "cannot be read" not in topoloom("results", str(store)).err, "the run has mended the ledger"


@pytest.mark.parametrize("text", ["{", "[]", "7"])
def test_json_in_a_part_that_does_not_read_is_one_point_lost(text: str, store: Path, topoloom: Command) -> None:
    path = part_of(store)
    found = pq.read_table(path)
    texts = found["result"].to_pylist()
    with sqlite3.connect(store / "ledger.sqlite") as db:
        elsewhere = {key for (key,) in db.execute("SELECT key FROM points WHERE result IS NOT NULL")}
    alone = next(place for place, key in enumerate(found["key"].to_pylist()) if key not in elsewhere)
    texts[alone] = text
    pq.write_table(found.set_column(found.schema.get_field_index("result"), "result", pa.array(texts)), path)
    shown = topoloom("results", str(store), "--json")
    assert (shown.status, len(shown.json())) == (0, 11)
    again = topoloom("run", "s.toml", "--json", "--workers", "1")
    assert (again.status, len(again.json()["points"])) == (0, 12), again.err
    assert f"{path.name}: 1 result is missing or unreadable" in again.err


def test_parts_that_the_ledger_does_not_know_are_taken_in(store: Path, topoloom: Command) -> None:
    """As after a backup of the ledger was put back, or a part of another machine was copied here."""
    shutil.copytree(store, "old.store")
    write_study(STUDY.replace("1:3", "1:5"))
    assert topoloom("run", "s.toml").status == 0
    shutil.copy("old.store/ledger.sqlite", store / "ledger.sqlite")
    for ending in ("-wal", "-shm"):
        (store / f"ledger.sqlite{ending}").unlink(missing_ok=True)
    assert len(topoloom("results", str(store), "--json").json()) == 20
    again = topoloom("run", "s.toml")
    assert "20 of them before this run" in again.err
    assert "did not know of 8 results of the store" in again.err


def test_a_file_in_the_place_of_the_parts(store: Path, topoloom: Command) -> None:
    shutil.rmtree(store / "results")
    (store / "results").write_text("precious")
    assert len(topoloom("results", str(store), "--json").json()) == 2
    again = topoloom("run", "s.toml", "--json", "--workers", "1")
    assert (again.status, len(again.json()["points"])) == (0, 12), again.err
    (kept,) = store.glob("results.damaged-*")
    assert kept.read_text() == "precious"


# ---- shares -----------------------------------------------------------------------------------------------------


def deal(topoloom: Command) -> Outcome:
    return topoloom("run", "s.toml", "--script", "job.sh", "--jobs", "2")


def test_shares_behind_a_link_are_left_alone(folder: Path, topoloom: Command) -> None:
    write_study(STUDY)
    Path("mine").mkdir()
    Path("mine/0.json").write_text("precious")
    Path("s.store").mkdir()
    Path("s.store/shares").symlink_to(folder / "mine")
    refused = deal(topoloom)
    assert refused.status == 2
    assert "s.store/shares is a symbolic link" in refused.err
    assert Path("mine/0.json").read_text() == "precious"
    Path("s.store/shares").unlink()
    assert deal(topoloom).status == 0
    Path("s.store/shares/0.jsonl").symlink_to(folder / "mine" / "0.json")
    for refused in (deal(topoloom), topoloom("run", "s.toml", "--share", "0"), topoloom("run", "s.toml")):
        assert refused.status == 2
        assert "0.jsonl is a symbolic link" in refused.err
    Path("s.store/shares/0.jsonl").unlink()
    Path("s.store/shares/notes.txt").write_text("precious")
    assert deal(topoloom).status == 0
    assert Path("s.store/shares/notes.txt").read_text() == "precious", "it is no file of ours"
    assert Path("mine/0.json").read_text() == "precious"


@pytest.mark.parametrize("text", ["", "{", "[1]", '{"a": 1}'])
def test_a_share_that_does_not_read_is_one_sentence(text: str, folder: Path, topoloom: Command) -> None:
    write_study(STUDY)
    assert deal(topoloom).status == 0
    Path("s.store/shares/0.json").write_text(text)
    found = topoloom("run", "s.toml", "--share", "0")
    assert found.status == 2
    assert "0.json is damaged" in found.err
    for line in ("5", "[]", "{}", '{"key": 1, "result": {}}', '{"key": "a", "result": 1}'):
        Path("s.store/shares/1.jsonl").write_text(f"{line}\n")
        Path("s.store/shares/x.alive").write_text("")
        assert topoloom("run", "s.toml", "--json").status == 0


# ---- many tiny points -------------------------------------------------------------------------------------------

SLOW_DISK = """
import sys, time
from pathlib import Path
from topoloom.cli.command import run
from topoloom.studies import Ledger, LocalExecutor
LocalExecutor.AHEAD = LocalExecutor.MOST_AHEAD
exchange = Ledger.exchange
def slow(self, *arguments):
    time.sleep(0.15)
    return exchange(self, *arguments)
Ledger.exchange = slow
sys.exit(run(sys.argv[1:]))
"""


MANY = 'networks = ["mesh:2"]\nloads = 0.1\nseeds = "1:800"\noptions = {warmup = 0, measure = 1}'


def test_tiny_points_on_a_slow_disk_come_to_an_end(folder: Path) -> None:
    """Neither the program nor a worker waits for the other to read, however much both have to say."""
    command = [sys.executable, "-c", SLOW_DISK, "run", write_study(MANY), "--workers", "2"]
    assert subprocess.run(command, check=False, stdout=subprocess.DEVNULL, timeout=200).returncode == 0
    assert len(Results.load("s.store").rows) == 800


def test_the_first_interrupt_acts_whatever_workers_have_to_say(folder: Path) -> None:
    command = [sys.executable, "-c", SLOW_DISK, "run", write_study(MANY), "--workers", "2"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as run:
        until = time.monotonic() + 60
        while time.monotonic() < until and not Path("s.store/ledger.sqlite-wal").exists():
            time.sleep(0.05)
        time.sleep(1)
        run.send_signal(signal.SIGINT)
        assert run.wait(30) == 130
    assert len(Results.load("s.store").rows) < 800


def test_handing_points_over_never_waits(folder: Path) -> None:
    """A worker that is not listened to stops; whoever gives it more does not."""
    points = [StudyPoint("facts", "mesh:2", role="x" * 20_000 + str(number)) for number in range(300)]
    with LocalExecutor(1) as executor:
        executor.AHEAD = executor.MOST_AHEAD
        began = time.monotonic()
        for point in points:
            executor.submit(point)
        assert time.monotonic() - began < 20
        outcomes: list[Any] = []
        while len(outcomes) < len(points):
            outcomes += executor.collect(1)
    assert all(outcome.error is None for outcome in outcomes)


@pytest.mark.parametrize(
    "values",
    [
        [None, None],
        [1, None, -3],
        [2**63 - 1, -(2**63)],
        ["a", None, "", "é€"],
        [True, None, False, *[True] * 9],
        [None, *[False] * 7, None, True],
        [0.1, None, -0.0, float("inf")],
    ],
    ids=str,
)
def test_columns_are_those_that_pyarrow_makes(values):
    column = parquet.table([{"x": value} for value in values])["x"].combine_chunks()
    column.validate(full=True)
    assert column.type == pa.array(values).type
    assert column.equals(pa.array(values))


def test_columns_of_several_types():
    table = parquet.table([{"x": 1, "y": 1}, {"x": 2.5, "y": "a"}, {"y": True}])
    assert table["x"].to_pylist() == [1.0, 2.5, None]
    assert table["y"].to_pylist() == ["1", "a", "True"]


def test_small_parts_are_merged_and_nothing_is_lost(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each run writes a part; the one that finds as many as are allowed makes one of all."""
    monkeypatch.setattr("topoloom.studies.ledger.MOST_PARTS", 3)
    sweep = Sweep(networks=["mesh:2x2"], loads="0.1:0.8:0.1", options={"warmup": 9, "measure": 50})
    points, counts = Study(name="s", sweep=[sweep]).points(), []
    for point in points:
        with Ledger(Path("s")) as ledger:
            run_points([point], ledger, Here(), name="s")
            ledger.pack()
        counts.append(len(list(Path("s/results").glob("*.parquet"))))
    assert counts == [1, 2, 3, 1, 2, 3, 1, 2]
    assert {row["key"] for row in Results.load("s").rows} == {point.key for point in points}
    with sqlite3.connect("s/ledger.sqlite") as db:
        named = {part for (part,) in db.execute("SELECT DISTINCT part FROM points")}
        assert named == {path.name for path in Path("s/results").glob("*.parquet")}, "each point knows its part"
        db.execute("UPDATE points SET result = '{', part = NULL WHERE key IN (?, ?)", (points[0].key, points[1].key))
        db.execute("UPDATE points SET result = '{}', part = NULL WHERE key = ?", (points[2].key,))
    with Ledger(Path("s"), create=False) as ledger:
        whole, unreadable = ledger._loose_rows()
        assert unreadable == 3 - len(whole) >= 2


def test_results_of_some_points_are_read_alone(store: Path) -> None:
    """Two of the results stand in the ledger still, the others in a part."""
    with Ledger(store, create=False) as ledger:
        every = {row["key"]: row for row in ledger.rows()}
        assert len(every) == 12
        loose = {key for (key,) in ledger._db.execute("SELECT key FROM points WHERE result IS NOT NULL")}
        assert len(loose) == 2
        for asked in (loose, set(every) - loose, {min(loose), min(set(every) - loose)}, set()):
            found = ledger.rows(asked | {"none"})
            assert {row["key"] for row in found} == asked
            assert all(row == every[row["key"]] for row in found)


def test_results_that_others_recorded_are_stored_once_and_by_position(folder: Path) -> None:
    """Python 3.12 warns of numbered placeholders that are filled from a sequence."""
    entry = {"key": "k", "point": "{}", "result": {}, "wall_s": 1.0, "finished": "now", "version": "0", "host": "h"}
    with Ledger(Path("s")) as ledger, warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)
        ledger.begin("s")
        assert [ledger.adopt([entry | {"model_version": 1}]) for _ in range(2)] == [1, 0]
        row = ledger._db.execute("SELECT key, state, point, result, wall_s, version, model_version, host FROM points")
        assert row.fetchall() == [("k", "done", "{}", "{}", 1.0, "0", 1, "h")]
