"""The ledger: which points are done, by whom, with which results. One SQLite file and Parquet parts in one folder.

A result is stored in the transaction that marks its point as done, so a run that is killed loses no more than the
points that it was working on. Results are kept as JSON in SQLite first and move into Parquet parts from time to time;
a part counts from the commit that names it, and parts that no commit names are swept away when a store is opened.
Several runs may share a store: each claims its points, and claims of runs that died are free again.
"""

import json
import os
import re
import shutil
import socket
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from topoloom import _core
from topoloom._core import TopoloomError
from topoloom.studies import parts
from topoloom.studies.points import StudyPoint
from topoloom.writable import LEDGER as FILE

SCHEMA_VERSION = 2
"""The layout of the store; a store of a later one is refused."""

PARTS = "results"

STALE_S = 60.0
"""A run on another machine counts as dead when it has not been heard of for so long."""

PART_ROWS = 5000
"""So many results are gathered before they move into a part."""

ATTEMPTS = 5
"""So often the parts are read while other runs merge them."""

BUSY_S = 60.0
"""So long a transaction waits for those of other runs."""

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
"""

_FROM: dict[int, tuple[str, ...]] = {
    1: (
        "ALTER TABLE points ADD COLUMN model_version INTEGER",
        "UPDATE points SET model_version = 1, point = json_remove(point, '$.line')",
    )
}
"""How a store of an older version becomes one of the next."""

_PART = re.compile(r"\d{20}-\d+\.(parquet|unfinished)")
"""The names of the files that we write into the folder of parts."""

_CLAIM = """
INSERT INTO points (key, state, run, point) VALUES (?, 'claimed', ?, ?)
ON CONFLICT (key) DO UPDATE SET state = 'claimed', run = excluded.run, error = NULL
WHERE state = 'failed' OR (state = 'claimed' AND run IN (SELECT value FROM json_each(?)))
"""

_ADOPT = """
INSERT INTO points (key, state, run, point, result, wall_s, finished, version, model_version, host)
VALUES (?, 'done', ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (key) DO UPDATE SET state = 'done', run = excluded.run, result = excluded.result, error = NULL,
    wall_s = excluded.wall_s, finished = excluded.finished, version = excluded.version,
    model_version = excluded.model_version, host = excluded.host
WHERE state != 'done'
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
    """

    key: str
    result: dict[str, Any] | None
    error: str | None = None
    wall_s: float = 0.0
    host: str = ""


class Ledger:
    """A store of results, open.

    Args:
        folder: The store; made if it is not there.
        create: Whether a store that is not there is made or refused.

    Raises:
        TopoloomError: A store of a later version, a folder that is no store, or a file in its place.
    """

    def __init__(self, folder: Path, *, create: bool = True) -> None:
        self.folder = folder
        self._run: int | None = None
        self._loose: int | None = None
        self._heard: dict[int, tuple[float, float]] = {}
        if folder.exists() and not folder.is_dir():
            raise TopoloomError(f"{folder} is a file; a store of results is a folder")
        if not (folder / FILE).is_file():
            _refuse_other_folders(folder, create=create)
        try:
            self._db = _connect(folder, create=create)
            self._open(create=create)
        except sqlite3.DatabaseError as error:
            why = str(error) if os.access(folder, os.W_OK) else "it is read-only; a run has to write there"
            raise TopoloomError(f"{folder / FILE} cannot be used as a store of results: {why}") from None

    def _open(self, *, create: bool) -> None:
        found = self._schema_version()
        if found > SCHEMA_VERSION:
            self._db.close()
            raise TopoloomError(
                f"the store {self.folder} has version {found}, later than the {SCHEMA_VERSION} of topoloom "
                f"{_core.__version__}; a newer topoloom wrote it"
            )
        if not create and found == SCHEMA_VERSION:
            return
        self._keep_log()
        # A commit is on the disk when it returns: a power cut takes no result that was reported as done.
        self._db.execute("PRAGMA synchronous = FULL")
        with self._transaction():
            for statement in _FROM.get(self._schema_version(), ()):
                self._db.execute(statement)
            for statement in filter(str.strip, _SCHEMA.split(";")):
                self._db.execute(statement)
            self._db.execute("INSERT OR REPLACE INTO meta VALUES ('schema', ?)", (str(SCHEMA_VERSION),))
            self._sweep()

    def _keep_log(self) -> None:
        """Let SQLite keep a log of changes; of several that begin at once it refuses all but one without waiting."""
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
        """Begin a run, in whose name points are claimed, unless one has begun."""
        if self._run is not None:
            return
        with self._transaction():
            cursor = self._db.execute(
                "INSERT INTO runs (host, pid, born, study, version, started, heard) VALUES (?, ?, ?, ?, ?, ?, ?)",
                (socket.gethostname(), os.getpid(), _born(os.getpid()), study, _core.__version__, now(), time.time()),
            )
            self._run = cursor.lastrowid

    def exchange(self, outcomes: Iterable[Outcome], wanted: Sequence[StudyPoint]) -> list[StudyPoint]:
        """Store what was done and claim what is wanted, in one transaction.

        Args:
            outcomes: What became of points that this run claimed.
            wanted: Points that this run would do next.

        Returns:
            Those of `wanted` that this run may do now. The others are done, or another run is at them.

        Raises:
            TopoloomError: The disk is full; what was stored before is intact.
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
        """Store results that others wrote down elsewhere, for the points that are not done here, once a run has begun.

        Args:
            entries: What :class:`topoloom.studies.shares.Journal` writes.

        Returns:
            How many results are new.
        """
        with self._transaction():
            return sum(
                self._db.execute(
                    _ADOPT,
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

    # ---- what is there ------------------------------------------------------------------------------------------

    def states(self) -> dict[str, str]:
        """Return the state of every point: ``done``, ``failed`` or ``claimed``."""
        return dict(self._db.execute("SELECT key, state FROM points").fetchall())

    def durations(self) -> list[tuple[StudyPoint, float]]:
        """Return points that are done with how long they took, in seconds; a sample of the latest thousand."""
        rows = self._db.execute(
            "SELECT point, wall_s FROM points WHERE state = 'done' ORDER BY finished DESC LIMIT 1000"
        ).fetchall()
        return [(StudyPoint.from_json(text), wall_s) for text, wall_s in rows]

    def failures(self) -> dict[str, str]:
        """Return why points failed, by their keys."""
        return dict(self._db.execute("SELECT key, error FROM points WHERE state = 'failed'").fetchall())

    def rows(self) -> list[dict[str, Any]]:
        """Return everything that is done, one row a point, as :func:`topoloom.studies.parts.row` makes them."""
        for _ in range(ATTEMPTS):
            try:
                rows = self._all_rows()
            except FileNotFoundError as error:  # another run has just merged that part into a new one
                missing = error.filename
            else:
                return sorted(rows, key=lambda row: row["finished"])
        raise TopoloomError(f"the store {self.folder} lacks {missing}, which holds results")

    def _all_rows(self) -> list[dict[str, Any]]:
        """Return all rows, of one moment of the ledger."""
        self._db.execute("BEGIN")
        try:
            loose = list(self._loose_rows())
            names = [name for (name,) in self._db.execute("SELECT name FROM parts ORDER BY name")]
            return parts.read([self.folder / PARTS / name for name in names]) + loose
        finally:
            self._db.execute("ROLLBACK")

    def _loose_rows(self) -> Iterator[dict[str, Any]]:
        """Return the results that stand in SQLite still."""
        rows = self._db.execute(
            "SELECT key, point, result, version, model_version, host, finished, wall_s FROM points "
            "WHERE result IS NOT NULL"
        )
        for key, point, result, *origin in rows.fetchall():
            provenance = dict(zip(parts.ORIGIN, origin, strict=True))
            yield parts.row(key, StudyPoint.from_json(point), json.loads(result), provenance)

    # ---- parts --------------------------------------------------------------------------------------------------

    def pack(self, *, least: int = 1) -> None:
        """Move results from SQLite into a Parquet part, if there are at least `least`, and merge small parts."""
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
            raise _full(self.folder) if error.errno == parts.NO_SPACE else error from None
        for name in old:
            (self.folder / PARTS / name).unlink(missing_ok=True)

    def _pack(self) -> list[str]:
        """Write one part with the loose results, and with those of all parts if there are many; return the latter."""
        rows = list(self._loose_rows())
        if not rows:
            return []
        old = [name for (name,) in self._db.execute("SELECT name FROM parts ORDER BY name")]
        if len(old) < MOST_PARTS:
            old = []
        merged = parts.read([self.folder / PARTS / name for name in old]) + rows
        name = f"{time.time_ns():020d}-{os.getpid()}.parquet"
        while (self.folder / PARTS / name).exists():  # a clock that was set back
            name = f"{time.time_ns():020d}-{os.getpid()}.parquet"
        parts.write(self.folder / PARTS / name, merged)
        self._db.execute("INSERT INTO parts VALUES (?, ?)", (name, len(merged)))
        self._db.executemany("DELETE FROM parts WHERE name = ?", ((part,) for part in old))
        self._db.executemany(
            "UPDATE points SET result = NULL, part = ? WHERE key = ?", ((name, row["key"]) for row in rows)
        )
        if old:
            marks = ", ".join("?" * len(old))
            self._db.execute(f"UPDATE points SET part = ? WHERE part IN ({marks})", (name, *old))
        return old

    def _sweep(self) -> None:
        """Remove files that no commit names: what a run left that was killed while it packed."""
        named = {name for (name,) in self._db.execute("SELECT name FROM parts")}
        for path in (self.folder / PARTS).iterdir():
            if path.name not in named and _PART.fullmatch(path.name):
                path.unlink(missing_ok=True)


def _refuse_other_folders(folder: Path, *, create: bool) -> None:
    """Refuse a folder that holds something, but no store."""
    if not create:
        raise TopoloomError(f"{folder} is no store of results: it has no {FILE}")
    # A run that begins at the same time may have got as far as the folder of parts.
    if folder.exists() and any(path.name != PARTS and not path.name.startswith(FILE) for path in folder.iterdir()):
        raise TopoloomError(f"{folder} holds other files; a store of results is a folder of its own")


def _connect(folder: Path, *, create: bool) -> sqlite3.Connection:
    """Open the ledger's file; one that cannot be written can be read."""
    if create or (os.access(folder, os.W_OK) and os.access(folder / FILE, os.W_OK)):
        (folder / PARTS).mkdir(parents=True, exist_ok=True)
        return sqlite3.connect(folder / FILE, timeout=BUSY_S, isolation_level=None)
    # Without a log of changes SQLite needs no locks, which it could not make there.
    log = folder / f"{FILE}-wal"
    how = "mode=ro" if log.is_file() and log.stat().st_size else "mode=ro&immutable=1"
    return sqlite3.connect(f"{(folder / FILE).absolute().as_uri()}?{how}", uri=True, isolation_level=None)


def _unwritable(folder: Path, error: sqlite3.Error) -> TopoloomError:
    if "full" in str(error) or shutil.disk_usage(folder).free < LEAST_FREE:
        return _full(folder)
    return TopoloomError(f"the store {folder} cannot be written: {error}; what was done before is stored")


def _full(folder: Path) -> TopoloomError:
    return TopoloomError(
        f"the disk of {folder} is full; what was done is stored, and the same command goes on once there is room"
    )


def now() -> str:
    """Return the time as stores keep it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _born(pid: int) -> str:
    """Return what tells a process from a later one with its number; empty if there is none of that number."""
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
