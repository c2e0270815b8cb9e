"""The ledger: which points are done, where, and with which results. One SQLite file and Parquet parts in one folder.

A result is stored in the transaction that marks its point as done, so a run that is killed loses no more than the
points that it was working on. Results are kept as JSON in SQLite first and move into Parquet parts from time to time;
a part counts from the commit that names it. When a run opens a store, ledger and parts are made to agree: results of
parts that no commit names are taken in, and points whose results no longer read are free again.
Several runs may share a store: each claims its points, and claims of runs that died are free again.
"""

import json
import os
import shutil
import socket
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from topoloom import _core
from topoloom._core import TopoloomError
from topoloom.files import LEDGER as FILE
from topoloom.files import check_folder
from topoloom.libraries import require
from topoloom.studies import parquet, repair
from topoloom.studies.points import StudyPoint
from topoloom.wording import counted

SCHEMA_VERSION = 2
"""The layout of the store; a store of a later one is rejected."""

PARTS = "results"
SHARES = "shares"
"""The folder in which jobs that know nothing of each other meet; see :mod:`topoloom.studies.job_array`."""

STALE_S = 60.0
"""Seconds without a sign of life after which a run on another machine counts as dead."""

PART_ROWS = 5000
"""The number of results that are gathered before they move into a part."""

ATTEMPTS = 5
"""How many times the parts are read while other runs merge them."""

BUSY_S = 60.0
"""Seconds that a transaction waits for those of other runs."""

LEAST_FREE = 1 << 20
"""A disk with fewer bytes left counts as full where writing fails."""

MOST_PARTS = 8
"""Parts are merged into one when there are more."""

_SCHEMA = """
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS runs (
    id INTEGER PRIMARY KEY, host TEXT NOT NULL, pid INTEGER NOT NULL, born TEXT NOT NULL, study TEXT NOT NULL,
    version TEXT NOT NULL, started TEXT NOT NULL, heard REAL NOT NULL, ended INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE IF NOT EXISTS points (
    key TEXT PRIMARY KEY, state TEXT NOT NULL CHECK (state IN ('claimed', 'done', 'failed')), run INTEGER NOT NULL,
    point TEXT NOT NULL, result TEXT, part TEXT, error TEXT, wall_s REAL, finished TEXT, version TEXT, host TEXT,
    model_version INTEGER
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS points_loose ON points (state) WHERE result IS NOT NULL;
CREATE TABLE IF NOT EXISTS parts (name TEXT PRIMARY KEY, rows INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS contents (path TEXT PRIMARY KEY, sha256 TEXT NOT NULL, seen TEXT NOT NULL) WITHOUT ROWID;
"""

_FROM: dict[int, tuple[str, ...]] = {
    1: (
        "ALTER TABLE points ADD COLUMN model_version INTEGER",
        "UPDATE points SET model_version = 1, point = json_remove(point, '$.line')",
    )
}
"""How a store of an older version becomes one of the next."""

_CLAIM = """
INSERT INTO points (key, state, run, point) VALUES (?, 'claimed', ?, ?)
ON CONFLICT (key) DO UPDATE SET state = 'claimed', run = excluded.run, error = NULL
WHERE state = 'failed' OR (state = 'claimed' AND run IN (SELECT value FROM json_each(?)))
"""

_FINISH = """
UPDATE points SET state = ?, result = ?, error = ?, wall_s = ?, finished = ?, version = ?, model_version = ?, host = ?
WHERE key = ? AND state = 'claimed' AND run = ?
"""


@dataclass(frozen=True)
class Outcome:
    """What became of a point.

    Attributes:
        key: The point's key.
        result: Its result, or None if it failed.
        error: Why it failed.
        wall_s: How long it took, in seconds.
        host: The machine that it was run on; the one that stores it if empty.
        cpu_s: Processor seconds of the process that did it meanwhile, all of its threads together.
    """

    key: str
    result: dict[str, Any] | None
    error: str | None = None
    wall_s: float = 0.0
    host: str = ""
    cpu_s: float = 0.0


class Ledger:
    """An open store of results.

    Damaged or lost parts of a store are left out and reported. A run repairs the store, and runs lost points again.

    Args:
        folder: The store; created if it does not exist.
        create: Whether a missing store is created, and a damaged one repaired; otherwise it is only read.

    Attributes:
        notes: Sentences on damaged parts, and their repair.

    Raises:
        TopoloomError: A store of a later version, a folder that is no store, or a file in its place.

    >>> import tempfile
    >>> from topoloom.studies import LocalExecutor, Study, Sweep, run_points
    >>> points = Study(name="one", sweep=[Sweep(kind="facts", networks=["mesh:2x2"])]).points()
    >>> with tempfile.TemporaryDirectory() as folder, Ledger(Path(folder, "one.store")) as ledger:
    ...     _ = run_points(points, ledger, LocalExecutor(1), name="one")
    ...     ledger.begin("one")
    ...     ledger.note_contents(points)
    ...     ledger.pack()
    ...     print(ledger.states() == {points[0].key: "done"}, ledger.failures(), ledger.contents())
    ...     print([row["spec"] for row in ledger.rows()], [point.spec for point, seconds in ledger.durations()])
    ...     print(ledger.exchange([], points), ledger.adopt([]))
    ...     ledger.close()
    True {} {}
    ['mesh:2x2'] ['mesh:2x2']
    [] 0
    """

    def __init__(self, folder: Path, *, create: bool = True) -> None:
        self.folder = folder
        self.notes: list[str] = []
        self._run: int | None = None
        self._loose: int | None = None
        self._heard: dict[int, tuple[float, float]] = {}
        self._only_read = not create
        if create:
            require("pyarrow")
        check_folder(folder, "a store of results is a folder")
        if not (folder / FILE).exists():
            _refuse_other_folders(folder, create=create)
        try:
            self._open_to_write() if create else self._open_to_read()
        except OSError as error:
            raise TopoloomError(f"{folder} cannot be used as a store of results: {error.strerror or error}") from None
        except sqlite3.DatabaseError as error:
            why = str(error) if os.access(folder, os.W_OK) else "it is read-only; a run has to write there"
            raise TopoloomError(f"{folder / FILE} cannot be used as a store of results: {why}") from None

    def _open_to_write(self) -> None:
        """Open the ledger, once what does not read has been set aside, and let it agree with the parts."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with repair.locked(self.folder):
            saved = self._set_aside()
            (self.folder / PARTS).mkdir(exist_ok=True)
            # Only once the file exists does another run see that the files beside it belong to it.
            self._db = _connect(self.folder / FILE)
            self._refuse_later_versions()
            self._keep_log()
        # A commit is on the disk when it returns: a power cut takes no result that was reported as done.
        self._db.execute("PRAGMA synchronous = FULL")
        verdicts = self._verdicts()
        with self._transaction():
            new = self._schema_version() == 0
            self._make_tables()
            mending = repair.Repair(self._db, self.folder / PARTS)
            mending.free_lost_points(verdicts)
            mending.free_unreadable_points()
            found = mending.save(saved) + mending.take_in_parts()
        if mending.notes:
            self.notes += [*mending.notes, f"what {self.folder} lost is done again where a study asks for it"]
        if found:
            why = "was missing, empty or damaged; it is rebuilt from" if new else "did not know of"
            self.notes.append(f"{self.folder / FILE} {why} {counted(found, 'result')} of the store")

    def _set_aside(self) -> list[tuple[Any, ...]]:
        """Set aside what stands where ledger and parts should, but is neither; return the results that it held."""
        path, place = self.folder / FILE, self.folder / PARTS
        if place.exists() and not place.is_dir():
            self.notes.append(f"{place} is no folder; it is kept as {repair.set_aside(place).name}")
        if not path.exists():
            repair.set_aside(path)  # what SQLite left beside it
            return []
        if (why := repair.damage(path)) is None:
            return []
        aside = repair.set_aside(path)
        self.notes.append(f"{path} is damaged ({why}); it is kept as {aside.name}")
        return repair.saved(aside)

    def _open_to_read(self) -> None:
        """Open the ledger; where it does not read, one in memory takes its place."""
        path = self.folder / FILE
        why = "it is missing"
        if path.exists():
            try:
                why = repair.damage(path) or ("it is empty" if _is_empty(path) else "")
            except sqlite3.OperationalError as error:
                why = str(error)
        if not why:
            writable = os.access(self.folder, os.W_OK) and os.access(path, os.W_OK)
            self._db = _connect(path) if writable else repair.connect(path)
            self._refuse_later_versions()
            if self._schema_version() < SCHEMA_VERSION:
                self._db.close()
                self._open_to_write()
            return
        self._db = sqlite3.connect(":memory:", isolation_level=None)
        self._make_tables()
        mending = repair.Repair(self._db, self.folder / PARTS, keep=True)
        found = (mending.save(repair.saved(path)) if path.is_file() else 0) + mending.take_in_parts()
        self.notes += [
            *mending.notes,
            f"{path}: {why}; {counted(found, 'result was', 'results were')} found in the store, and the next run "
            "rebuilds the ledger",
        ]

    def _refuse_later_versions(self) -> None:
        if (found := self._schema_version()) > SCHEMA_VERSION:
            self._db.close()
            raise TopoloomError(
                f"the store {self.folder} has version {found}, later than the {SCHEMA_VERSION} of topoloom "
                f"{_core.__version__}; a newer topoloom wrote it"
            )

    def _make_tables(self) -> None:
        for statement in _FROM.get(self._schema_version(), ()):
            self._db.execute(statement)
        for statement in filter(str.strip, _SCHEMA.split(";")):
            self._db.execute(statement)
        self._db.execute("INSERT OR REPLACE INTO meta VALUES ('schema', ?)", (str(SCHEMA_VERSION),))

    def _verdicts(self) -> dict[str, set[str] | str]:
        """Return the keys that each part holds that the ledger names, or why it does not read."""
        known = self._db.execute("SELECT 1 FROM sqlite_master WHERE name = 'parts'").fetchone()
        names = self._part_names() if known else []
        return repair.verdicts(self.folder / PARTS, names)

    def _part_names(self) -> list[str]:
        return [name for (name,) in self._db.execute("SELECT name FROM parts ORDER BY name")]

    def _keep_log(self) -> None:
        """Let SQLite keep a log of changes; of several that begin at once it rejects all but one without waiting."""
        until = time.monotonic() + BUSY_S
        while True:
            try:
                self._db.execute("PRAGMA journal_mode = WAL")
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or time.monotonic() > until:
                    raise
                time.sleep(0.01)
            else:
                return

    def _schema_version(self) -> int:
        known = self._db.execute("SELECT 1 FROM sqlite_master WHERE name = 'meta'").fetchone()
        row = self._db.execute("SELECT value FROM meta WHERE name = 'schema'").fetchone() if known else None
        return int(row[0]) if row else 0

    def close(self) -> None:
        """End the run, if there is one, and close the files."""
        if self._run is not None:
            # What is not done is free again at once.
            with suppress(sqlite3.Error), self._transaction():
                self._db.execute("DELETE FROM points WHERE state = 'claimed' AND run = ?", (self._run,))
                self._db.execute("UPDATE runs SET ended = 1 WHERE id = ?", (self._run,))
            self._run = None
        self._db.close()

    def __enter__(self) -> "Ledger":
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """Hold the store's write lock; all is written at the end, or nothing."""
        try:
            self._db.execute("BEGIN IMMEDIATE")
            yield
            self._db.execute("COMMIT")
        except BaseException as error:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            if isinstance(error, sqlite3.Error):
                raise _unwritable(self.folder, error) from None
            raise

    # ---- a run --------------------------------------------------------------------------------------------------

    def begin(self, study: str) -> None:
        """Begin a run that claims points, unless one has begun.

        Args:
            study: The name of the study.

        Raises:
            TopoloomError: The store cannot be written.
        """
        if self._run is not None:
            return
        with self._transaction():
            cursor = self._db.execute(
                "INSERT INTO runs (host, pid, born, study, version, started, heard) VALUES (?, ?, ?, ?, ?, ?, ?)",
                (socket.gethostname(), os.getpid(), _born(os.getpid()), study, _core.__version__, now(), time.time()),
            )
            self._run = cursor.lastrowid

    def exchange(self, outcomes: Iterable[Outcome], wanted: Sequence[StudyPoint]) -> list[StudyPoint]:
        """Store finished points and claim further ones, in one transaction.

        Args:
            outcomes: The outcomes of points that this run claimed.
            wanted: Points that this run would do next.

        Returns:
            Those of `wanted` that this run may do now. The others are done, or claimed by another run.

        Raises:
            TopoloomError: The disk is full; earlier results are intact.
        """
        with self._transaction():
            self._db.execute("UPDATE runs SET heard = ? WHERE id = ?", (time.time(), self._run))
            host, finished = socket.gethostname(), now()
            outcomes = list(outcomes)
            self._loose = None if self._loose is None else self._loose + len(outcomes)
            self._db.executemany(
                _FINISH,
                (
                    (
                        "done" if outcome.result is not None else "failed",
                        None if outcome.result is None else json.dumps(outcome.result),
                        outcome.error,
                        outcome.wall_s,
                        finished,
                        _core.__version__,
                        _core.MODEL_VERSION,
                        outcome.host or host,
                        outcome.key,
                        self._run,
                    )
                    for outcome in outcomes
                ),
            )
            dead = json.dumps(self._dead_runs()) if wanted else "[]"
            return [
                point
                for point in wanted
                if self._db.execute(_CLAIM, (point.key, self._run, point.to_json(), dead)).rowcount
            ]

    def adopt(self, entries: Sequence[Mapping[str, Any]]) -> int:
        """Store results that others recorded elsewhere, for points without a result here, once a run has begun.

        Args:
            entries: The records of :class:`topoloom.studies.job_array.Journal`.

        Returns:
            The number of new results.
        """
        with self._transaction():
            return sum(
                self._db.execute(
                    repair.ADOPT,
                    (
                        entry["key"],
                        self._run,
                        entry["point"],
                        json.dumps(entry["result"]),
                        entry["wall_s"],
                        entry["finished"],
                        entry["version"],
                        entry["model_version"],
                        entry["host"],
                    ),
                ).rowcount
                for entry in entries
            )

    def _dead_runs(self) -> list[int]:
        rows = self._db.execute("SELECT id, host, pid, born, heard, ended FROM runs WHERE id != ?", (self._run,))
        return [run for run, *about in rows.fetchall() if not self._alive(run, *about)]

    def _alive(self, run: int, host: str, pid: int, born: str, heard: float, ended: int) -> bool:
        """Whether a run may still be at its points."""
        if ended:
            return False
        if host == socket.gethostname():
            return _born(pid) == born
        # Clocks differ and can be set back: what counts is how long we have seen nothing new.
        last, since = self._heard.get(run, (None, 0.0))
        if heard != last:
            self._heard[run] = (heard, time.monotonic())
            return True
        return time.monotonic() - since < STALE_S

    # ---- contents -----------------------------------------------------------------------------------------------

    def states(self) -> dict[str, str]:
        """Return the state of every point: ``done``, ``failed`` or ``claimed``; none where the result is lost."""
        states = dict(self._db.execute("SELECT key, state FROM points").fetchall())
        if self._only_read:  # a run has taken lost points off the ledger
            for name, lost in repair.lost_points(self._db, self._verdicts()).items():
                part = self.folder / PARTS / name
                self.notes.append(
                    f"{part} lacks the results of {counted(len(lost), 'point')}; the next run does them again"
                )
                states = {key: state for key, state in states.items() if key not in lost}
        return states

    def durations(self) -> list[tuple[StudyPoint, float]]:
        """Return finished points with their durations in seconds; a sample of the latest thousand."""
        rows = self._db.execute(
            "SELECT point, wall_s FROM points WHERE state = 'done' ORDER BY finished DESC LIMIT 1000"
        ).fetchall()
        found = []
        for text, wall_s in rows:
            with suppress(ValueError):
                found.append((StudyPoint.from_json(text), float(wall_s or 0.0)))
        return found

    def failures(self) -> dict[str, str]:
        """Return the reasons of failed points, by their keys."""
        return dict(self._db.execute("SELECT key, error FROM points WHERE state = 'failed'").fetchall())

    def note_contents(self, points: Iterable[StudyPoint]) -> None:
        """Store the present contents of the files of points, which distinguish results of former contents.

        Args:
            points: The points.
        """
        files = {path: found for point in points for path, found in point.contents.items() if found is not None}
        if files:
            seen = now()
            with self._transaction():
                self._db.executemany(
                    "INSERT OR REPLACE INTO contents VALUES (?, ?, ?)",
                    ((path, found, seen) for path, found in files.items()),
                )

    def contents(self) -> dict[str, str]:
        """Return the SHA-256 of each file when a run last read it."""
        known = self._db.execute("SELECT 1 FROM sqlite_master WHERE name = 'contents'").fetchone()
        return dict(self._db.execute("SELECT path, sha256 FROM contents").fetchall()) if known else {}

    def rows(self, keys: AbstractSet[str] | None = None) -> list[dict[str, Any]]:
        """Return all results, one row per point, as :func:`topoloom.studies.parquet.row` makes them.

        Unreadable results are left out, and noted.

        Args:
            keys: The only points whose results are read, by their keys; all unless given.
        """
        for attempt in range(ATTEMPTS):
            # Another run may merge a part into a new one while it is looked for.
            rows, notes = self._all_rows(keys)
            if not any(repair.MISSING in note for note in notes) or attempt == ATTEMPTS - 1:
                break
        self.notes += notes
        return sorted(rows, key=lambda row: row["finished"])

    def _all_rows(self, keys: AbstractSet[str] | None) -> tuple[list[dict[str, Any]], list[str]]:
        """Return all rows, or those with these keys, of one moment of the ledger, and what does not read."""
        self._db.execute("BEGIN")
        try:
            loose, unreadable = self._loose_rows(keys)
            names = self._part_names()
        finally:
            self._db.execute("ROLLBACK")
        found, notes = self._read_parts(names, keys)
        # Parts that the ledger does not know yet, or no longer: what they hold is the same wherever it stands.
        unknown = [
            path.name for path in _children(self.folder / PARTS) if repair.is_part(path) and path.name not in names
        ]
        found = [*self._read_parts(unknown, keys)[0], *found]
        rows = {row["key"]: row for row in [*found, *loose]}
        if unreadable:
            notes.append(
                f"{counted(unreadable, 'result')} in {self.folder / FILE} cannot be read; the next run "
                "repeats what is lost"
            )
        return list(rows.values()), notes

    def _read_parts(
        self, names: Iterable[str], keys: AbstractSet[str] | None = None
    ) -> tuple[list[dict[str, Any]], list[str]]:
        """Return the rows of parts, or those with these keys, and what does not read."""
        rows, notes = [], []
        for name in names:
            path = self.folder / PARTS / name
            try:
                rows += parquet.read(path, keys)
            except FileNotFoundError:
                notes.append(self._lost_part(name, repair.MISSING))
            except parquet.DamagedError as error:
                notes.append(self._lost_part(name, str(error)))
        return rows, notes

    def _lost_part(self, name: str, why: str) -> str:
        (count,) = self._db.execute("SELECT count(*) FROM points WHERE part = ?", (name,)).fetchone()
        part, lost = self.folder / PARTS / name, f"the results of {counted(count, 'point')} are left out"
        return f"{part} does not read ({why}): {lost}, and the next run does them again"

    def _loose_rows(self, keys: AbstractSet[str] | None = None) -> tuple[list[dict[str, Any]], int]:
        """Return the results that are still in SQLite, or those with these keys, and how many do not read."""
        loose = f"SELECT {repair.LOOSE} FROM points WHERE result IS NOT NULL"
        if keys is None:
            rows = self._db.execute(loose).fetchall()
        else:
            rows = [row for key in keys for row in self._db.execute(f"{loose} AND key = ?", (key,))]
        whole = [made for row in rows if (made := repair.loose_row(row)) is not None]
        return whole, len(rows) - len(whole)

    # ---- parts --------------------------------------------------------------------------------------------------

    def pack(self, *, least: int = 1) -> None:
        """Move results from SQLite into a Parquet part, and merge small parts.

        Args:
            least: The smallest number of results that are moved.

        Raises:
            TopoloomError: The disk is full.
        """
        if self._loose is None:
            # It reads every result: too slow to ask often.
            (self._loose,) = self._db.execute("SELECT count(*) FROM points WHERE result IS NOT NULL").fetchone()
        if self._loose < least:
            return
        self._loose = None
        try:
            with self._transaction():
                old = self._pack()
        except OSError as error:
            raise _full(self.folder) if error.errno == parquet.NO_SPACE else error from None
        for name in old:
            (self.folder / PARTS / name).unlink(missing_ok=True)

    def _pack(self) -> list[str]:
        """Write one part with the loose results, and with those of all parts if there are many; return the latter."""
        rows, _ = self._loose_rows()
        if not rows:
            return []
        old = self._part_names()
        if len(old) < MOST_PARTS:
            old = []
        merged, unread = self._read_parts(old)
        if unread:  # they stay until the next run mends the store
            merged, old = [], []
        name = f"{time.time_ns():020d}-{os.getpid()}.parquet"
        while (self.folder / PARTS / name).exists():  # a clock that was set back
            name = f"{time.time_ns():020d}-{os.getpid()}.parquet"
        parquet.write(self.folder / PARTS / name, list({row["key"]: row for row in [*merged, *rows]}.values()))
        self._db.execute("INSERT INTO parts VALUES (?, ?)", (name, len(merged) + len(rows)))
        self._db.executemany("DELETE FROM parts WHERE name = ?", ((part,) for part in old))
        self._db.executemany(
            "UPDATE points SET result = NULL, part = ? WHERE key = ?", ((name, row["key"]) for row in rows)
        )
        if old:
            marks = ", ".join("?" * len(old))
            self._db.execute(f"UPDATE points SET part = ? WHERE part IN ({marks})", (name, *old))
        return old


def _refuse_other_folders(folder: Path, *, create: bool) -> None:
    """Reject a folder that holds something, but no store."""
    if not create and not any(repair.PART.fullmatch(path.name) for path in _children(folder / PARTS)):
        raise TopoloomError(f"{folder} is no store of results: it has no {FILE}")
    # A run that begins at the same time may have got as far as the folder of parts.
    ours = (FILE, f"{PARTS}.{repair.ASIDE}-")
    if any(path.name not in (PARTS, SHARES) and not path.name.startswith(ours) for path in _children(folder)):
        raise TopoloomError(f"{folder} holds other files; a store of results is a folder of its own")


def _children(folder: Path) -> list[Path]:
    return list(folder.iterdir()) if folder.is_dir() else []


def _connect(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, timeout=BUSY_S, isolation_level=None)


def _is_empty(path: Path) -> bool:
    return path.stat().st_size == 0 and not path.with_name(path.name + "-wal").exists()


def _unwritable(folder: Path, error: sqlite3.Error) -> TopoloomError:
    if repair.is_damage(error):
        return TopoloomError(f"{folder / FILE} is damaged ({error}); the same command repairs it and resumes")
    if "full" in str(error) or shutil.disk_usage(folder).free < LEAST_FREE:
        return _full(folder)
    return TopoloomError(f"the store {folder} cannot be written: {error}; what was done before is stored")


def _full(folder: Path) -> TopoloomError:
    return TopoloomError(
        f"the disk of {folder} is full; finished points are stored, and the same command resumes once there is room"
    )


def now() -> str:
    """Return the present time in UTC in ISO 8601, with microseconds.

    >>> now().endswith("+00:00"), now() <= now()
    (True, True)
    """
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _born(pid: int) -> str:
    """Return what distinguishes a process from a later one with its number; empty if there is none of that number."""
    try:
        # The time of its start, in ticks since the machine's own: field 22, behind a name that may hold blanks.
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except OSError:
        pass
    if Path("/proc/self").exists():
        return ""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return ""
    except PermissionError:
        pass
    return "alive"
