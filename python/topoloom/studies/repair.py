"""What can be saved of a store whose files were damaged or lost: sound ledgers, and parts that they agree with.

No result is ever deleted here: a file that does not read is set aside under another name.
"""

import fcntl
import os
import re
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from topoloom.studies import parquet
from topoloom.wording import counted

ASIDE = "damaged"
"""The ending of a file that was set aside."""

BESIDE = ("-wal", "-shm")
"""The files that SQLite keeps beside a database, by their endings."""

_DAMAGE = ("SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_ERROR", "SQLITE_MISMATCH", "SQLITE_FORMAT")
"""Errors of SQLite that are the file's fault; a lock or a full disk is not."""

MISSING = "it is missing"
"""Why a part does not read that is not there."""

PART = re.compile(r"\d{20}-\d+\.(parquet|unfinished)")
"""The names of the files that runs write into the folder of parts."""

UNFINISHED = ".unfinished"
"""The ending of a part that is being written."""

LOOSE = "key, point, result, wall_s, finished, version, model_version, host"
"""The columns of a result in a ledger."""

ADOPT = """
INSERT INTO points (key, state, run, point, result, wall_s, finished, version, model_version, host)
VALUES (?, 'done', ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (key) DO UPDATE SET state = 'done', run = excluded.run, result = excluded.result, error = NULL,
    wall_s = excluded.wall_s, finished = excluded.finished, version = excluded.version,
    model_version = excluded.model_version, host = excluded.host
WHERE state != 'done'
"""
"""Stores a result that was written down elsewhere: its key, the run, and the other columns of :data:`LOOSE`."""

_KNOWN = """
INSERT INTO points (key, state, run, point, part, wall_s, finished, version, model_version, host)
VALUES (?, 'done', 0, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (key) DO UPDATE SET state = 'done', run = 0, part = excluded.part, error = NULL
"""


def damage(path: Path) -> str | None:
    """Return what is wrong with a ledger, None if nothing is. One without any tables is sound: it has just begun.

    Args:
        path: The file, which is there.

    Raises:
        sqlite3.Error: It cannot be examined now; it is locked, for example.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "ledger.sqlite")
    ...     empty, torn = path.write_bytes(b""), damage(path)
    ...     written = path.write_text("no database")
    ...     torn, damage(path)
    (None, 'file is not a database')
    """
    for name in (path, *(path.with_name(path.name + ending) for ending in BESIDE)):
        if name.exists() and not name.is_file():
            return f"{name.name} is no regular file"
    try:
        with closing(connect(path)) as db:
            return _fault(db)
    except sqlite3.DatabaseError as error:
        if is_damage(error):
            return str(error)
        raise


def _fault(db: sqlite3.Connection) -> str | None:
    """Return what is wrong with an open ledger, None if nothing is."""
    try:
        (found,) = db.execute("PRAGMA quick_check(1)").fetchone()
        if found != "ok":
            return str(found).partition("\n")[0]
        tables = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if not tables:
            return None
        if missing := {"meta", "runs", "points", "parts"} - tables:
            return f"the table {min(missing)} is missing"
        version = db.execute("SELECT value FROM meta WHERE name = 'schema'").fetchone()
        return None if version and str(version[0]).isdecimal() else "its version is missing"
    except sqlite3.DatabaseError as error:
        if is_damage(error):
            return str(error)
        raise


def is_damage(error: sqlite3.Error) -> bool:
    """Return whether an error states that the file is damaged, not that it cannot be used now.

    Args:
        error: An error of SQLite.

    >>> error = sqlite3.OperationalError("database is locked")
    >>> error.sqlite_errorname = "SQLITE_BUSY"
    >>> is_damage(error), is_damage(sqlite3.DatabaseError("file is not a database"))
    (False, True)
    """
    name = getattr(error, "sqlite_errorname", "SQLITE_ERROR") or "SQLITE_ERROR"
    return name.startswith(_DAMAGE)


def connect(path: Path) -> sqlite3.Connection:
    """Open a ledger for reading only; nothing is written, not even beside it if that is not possible.

    Args:
        path: The file.

    Raises:
        sqlite3.OperationalError: There is no such file, or it cannot be opened.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     written = Path(folder, "ledger.sqlite").write_bytes(b"")
    ...     with closing(connect(Path(folder, "ledger.sqlite"))) as db:
    ...         db.execute("SELECT name FROM sqlite_master").fetchall()
    []
    """
    # Without a log of changes SQLite needs no locks, which it cannot make in a folder that is read-only.
    log = path.with_name(path.name + BESIDE[0])
    writable = os.access(path.parent, os.W_OK) and os.access(path, os.W_OK)
    how = "mode=ro" if writable or (log.is_file() and log.stat().st_size) else "mode=ro&immutable=1"
    return _connect(path, how)


def _connect(path: Path, how: str) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.absolute().as_uri()}?{how}", uri=True, isolation_level=None, timeout=60)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Let one process at a time set files of a store aside; a file system without locks lets all of them.

    Args:
        folder: The store.

    Raises:
        OSError: The folder cannot be opened.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, locked(Path(folder)):
    ...     pass
    """
    held = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # a file system without locks
            fcntl.flock(held, fcntl.LOCK_EX)
        yield
    finally:
        os.close(held)


def set_aside(path: Path) -> Path:
    """Rename a file that is damaged, with what SQLite keeps beside it; return its new name, which is free.

    Args:
        path: The file.

    Raises:
        OSError: The folder cannot be written.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     written = Path(folder, "ledger.sqlite").write_bytes(b"torn")
    ...     set_aside(Path(folder, "ledger.sqlite")).name.partition("-")[0]
    'ledger.sqlite.damaged'
    """
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%f")
    aside = path.with_name(f"{path.name}.{ASIDE}-{stamp}")
    if path.exists():
        path.rename(aside)
    for ending in BESIDE:
        with suppress(FileNotFoundError):
            path.with_name(path.name + ending).rename(aside.with_name(aside.name + ending))
    return aside


def saved(path: Path) -> list[tuple[Any, ...]]:
    """Return the results that can still be read from a damaged ledger.

    Args:
        path: The ledger, unchecked: a file that does not read holds no results.

    Returns:
        Rows of key, point, result, wall_s, finished, version, model_version and host, of keys that are texts.

    >>> saved(Path("none.sqlite"))
    []
    """
    for how in ("mode=ro", "mode=ro&immutable=1"):
        found: dict[str, tuple[Any, ...]] = {}
        with suppress(sqlite3.Error, OSError), closing(_connect(path, how)) as db:
            db.text_factory = lambda text: text.decode(errors="replace")
            # A bad page ends one search; what lies behind it is found from the other end.
            for order in ("ASC", "DESC"):
                with suppress(sqlite3.DatabaseError):
                    results = f"SELECT {LOOSE} FROM points NOT INDEXED WHERE result IS NOT NULL"
                    for row in db.execute(f"{results} ORDER BY key {order}"):
                        found[str(row[0])] = row
        if found:
            return list(found.values())
    return []


# ---- parts ------------------------------------------------------------------------------------------------------


@dataclass
class Repair:
    """A store's ledger and parts made to agree again, within one transaction of the ledger.

    Attributes:
        db: The ledger.
        place: The folder of the parts.
        keep: Whether files stay as they are: the ledger is in memory only.
        notes: What was found, as sentences.

    >>> db = sqlite3.connect(":memory:")
    >>> tables = db.executescript(
    ...     "CREATE TABLE points (key PRIMARY KEY, state, run, point, result, part, error, wall_s, finished, version,"
    ...     " model_version, host); CREATE TABLE parts (name, rows); INSERT INTO parts VALUES ('a.parquet', 1);"
    ...     " INSERT INTO points (key, state, part) VALUES ('k', 'done', 'a.parquet')"
    ... )
    >>> mending = Repair(db, Path("one.store/results"), keep=True)
    >>> mending.free_lost_points({"a.parquet": MISSING})
    >>> mending.free_unreadable_points()
    >>> mending.save([]), mending.take_in_parts(), db.execute("SELECT key FROM points").fetchall()
    (0, 0, [])
    >>> mending.notes
    ['one.store/results/a.parquet does not read (it is missing): 1 result is lost']
    """

    db: sqlite3.Connection
    place: Path
    keep: bool = False
    notes: list[str] = field(default_factory=list)

    def free_lost_points(self, verdicts: Mapping[str, set[str] | str]) -> None:
        """Take points off the ledger whose results its parts no longer hold.

        Args:
            verdicts: The keys that each part holds, or why it does not read.
        """
        for name, lost in lost_points(self.db, verdicts).items():
            self.db.executemany("DELETE FROM points WHERE key = ?", ((key,) for key in lost))
            why = verdicts[name]
            if isinstance(why, str):
                self.db.execute("DELETE FROM parts WHERE name = ?", (name,))
                self._report(name, why, counted(len(lost), "result is lost", "results are lost"))
            else:
                self.notes.append(
                    f"{self.place / name}: {counted(len(lost), 'result is', 'results are')} missing or unreadable"
                )

    def free_unreadable_points(self) -> None:
        """Remove points from the ledger whose results in it are unreadable, and note their number."""
        rows = self.db.execute(f"SELECT {LOOSE} FROM points WHERE result IS NOT NULL").fetchall()
        lost = [row[0] for row in rows if loose_row(row) is None]
        self.db.executemany("DELETE FROM points WHERE key = ?", ((key,) for key in lost))
        if lost:
            self.notes.append(f"{counted(len(lost), 'result')} in the ledger of {self.place.parent} cannot be read")

    def save(self, rows: Iterable[tuple[Any, ...]]) -> int:
        """Store results that another ledger held; return the number of new ones.

        Args:
            rows: Rows of :func:`saved`.
        """
        whole = (row for row in rows if loose_row(row) is not None)
        return sum(self.db.execute(ADOPT, (row[0], 0, *row[1:])).rowcount for row in whole)

    def take_in_parts(self) -> int:
        """Store the results of parts that the ledger does not name; return their number."""
        named = {name for (name,) in self.db.execute("SELECT name FROM parts")}
        there = sorted(self.place.iterdir()) if self.place.is_dir() else []
        files = [path for path in there if PART.fullmatch(path.name) and path.name not in named]
        done = {key for (key,) in self.db.execute("SELECT key FROM points WHERE state = 'done'")} if files else set()
        return sum(self._take_in(path, done) for path in files)

    def _take_in(self, path: Path, done: set[str]) -> int:
        try:
            rows = [row for row in parquet.read(path) if row["key"] not in done]
        except FileNotFoundError:  # a run that merged it has just removed it
            return 0
        except parquet.DamagedError as error:
            if path.suffix == UNFINISHED:
                self._remove(path)
            else:
                self._report(path.name, str(error), "the ledger does not know what it held")
            return 0
        if not rows:  # all of it stands elsewhere
            self._remove(path)
            return 0
        if path.suffix == UNFINISHED and not self.keep:
            path = path.rename(path.with_suffix(".parquet"))
        self.db.execute("INSERT INTO parts VALUES (?, ?)", (path.name, len(rows)))
        self.db.executemany(_KNOWN, (self._known(row, path.name) for row in rows))
        done.update(row["key"] for row in rows)
        return len(rows)

    def _known(self, row: Mapping[str, Any], part: str) -> tuple[Any, ...]:
        origin = (row.get(name) for name in ("wall_s", "finished", "version", "model_version", "host"))
        return (row["key"], parquet.point_text(row), part, *origin)

    def _remove(self, path: Path) -> None:
        if not self.keep:
            path.unlink(missing_ok=True)

    def _report(self, name: str, why: str, what: str) -> None:
        path = self.place / name
        kept = ""
        if not self.keep and path.exists():
            with suppress(OSError):
                kept = f"; it is kept as {set_aside(path).name}"
        self.notes.append(f"{path} does not read ({why}): {what}{kept}")


def is_part(path: Path) -> bool:
    """Return whether a run wrote this file, all of it, into the folder of parts.

    Args:
        path: The file, unchecked.

    >>> is_part(Path("20261123080000000000-17.parquet")), is_part(Path("notes.parquet"))
    (True, False)
    """
    return PART.fullmatch(path.name) is not None and path.suffix != UNFINISHED


def verdicts(place: Path, names: Iterable[str]) -> dict[str, set[str] | str]:
    """Return the keys that each part holds, or why it does not read.

    Args:
        place: The folder of the parts, unchecked.
        names: The names of the parts.

    >>> verdicts(Path("none.store"), ["a.parquet"])
    {'a.parquet': 'it is missing'}
    """
    found: dict[str, set[str] | str] = {}
    for name in names:
        try:
            found[name] = parquet.keys(place / name)
        except FileNotFoundError:
            found[name] = MISSING
        except parquet.DamagedError as error:
            found[name] = str(error)
    return found


def lost_points(db: sqlite3.Connection, verdicts: Mapping[str, set[str] | str]) -> dict[str, set[str]]:
    """Return the points that a ledger places in parts that do not hold them, by part; all points of unreadable parts.

    Args:
        db: The ledger.
        verdicts: The keys that each part holds, or why it does not read.

    >>> db = sqlite3.connect(":memory:")
    >>> tables = db.executescript(
    ...     "CREATE TABLE parts (name); CREATE TABLE points (key, part);"
    ...     "INSERT INTO parts VALUES ('a'); INSERT INTO points VALUES ('k', 'a'), ('l', 'a')"
    ... )
    >>> lost_points(db, {"a": {"k"}}), lost_points(db, {"a": {"k", "l"}})
    ({'a': {'l'}}, {})
    """
    found: dict[str, set[str]] = {}
    for (name,) in db.execute("SELECT name FROM parts").fetchall():
        verdict = verdicts.get(name)
        told = {key for (key,) in db.execute("SELECT key FROM points WHERE part = ?", (name,))}
        if isinstance(verdict, str):
            found[name] = told
        elif verdict is not None and told - verdict:
            found[name] = told - verdict
    return found


def loose_row(row: tuple[Any, ...]) -> dict[str, Any] | None:
    """Return the row of a result in a ledger; None if it is unreadable.

    Args:
        row: The values of its columns :data:`LOOSE`.

    >>> origin = (0.5, "today", "0.2.0", 1, "here")
    >>> point = '{"kind": "facts", "spec": "mesh:2x2"}'
    >>> loose_row(("k", point, '{"routers": 4}', *origin))["routers"], loose_row(("k", point, "torn", *origin))
    (4, None)
    """
    key, point, result, wall_s, finished, version, model_version, host = row
    origin = dict(zip(parquet.ORIGIN, (version, model_version, host, finished, wall_s), strict=True))
    try:
        made = parquet.row(key, point, result, origin)
    except (ValueError, TypeError):
        return None
    return made if parquet.is_whole(made) else None
