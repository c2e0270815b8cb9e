"""Shares of a study, for jobs that know nothing of each other: a list of points each, and a journal of what came out.

Jobs of a batch system meet in a file system on which SQLite is not safe. So each writes to a file of its own alone, a
line a point; the next run of the study takes these lines into the ledger. What a job did not do is left to do.
"""

import json
import os
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from threading import Event, Thread
from typing import Any

from topoloom import _core
from topoloom._core import TopoloomError
from topoloom.studies.ledger import SHARES, Ledger, Outcome, now
from topoloom.studies.points import StudyPoint
from topoloom.studies.repair import loose_row

FOLDER = SHARES
_ENTRY = {"key", "point", "result", "wall_s", "finished", "version", "model_version", "host"}
"""What a line of a journal states."""

_OURS = re.compile(r"\d+\.(json|jsonl|alive|log)|\.clock")
"""The names of the files of shares."""

BEAT_S = 10.0
"""Seconds between signs of life of a job."""

STALE_S = 60.0
"""Seconds without a sign of life after which a job counts as dead."""


def deal(points: Sequence[StudyPoint], folder: Path, count: int) -> int:
    """Write lists of points for `count` jobs, after the results of earlier jobs have been taken in.

    Args:
        points: The points left to do, by effort, so that each list has long points and short ones.
        folder: The store.
        count: The number of jobs.

    Returns:
        The number of lists: at most that of points.

    Raises:
        TopoloomError: There is something else in the place of the shares.
        OSError: The folder cannot be written.

    >>> import tempfile
    >>> from topoloom import Study, Sweep
    >>> points = Study(name="two", sweep=[Sweep(kind="facts", networks=["mesh:2x2", "mesh:3x3"])]).points()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     deal(points, Path(folder), 3), share_of(points, Path(folder), 1) == points[1:]
    (2, True)
    """
    place = _place(folder)
    place.mkdir(parents=True, exist_ok=True)
    for old in place.iterdir():
        if _OURS.fullmatch(old.name):
            old.unlink()
    count = min(count, len(points))
    for share in range(count):
        keys = [point.key for point in points[share::count]]
        (place / f"{share}.json").write_text(json.dumps(keys), encoding="utf-8")
    return count


def _place(folder: Path) -> Path:
    """Return the folder of the shares of a store.

    Raises:
        TopoloomError: It is no folder, or it or a file in it is a link: nothing is written or removed elsewhere.
    """
    place = folder / FOLDER
    if place.is_symlink() or (place.exists() and not place.is_dir()):
        what = "a symbolic link" if place.is_symlink() else "no folder"
        raise TopoloomError(f"{place} is {what}; the shares of a store are a folder in it: remove it")
    for path in place.glob("*"):
        if _OURS.fullmatch(path.name) and (path.is_symlink() or path.is_dir()):
            what = "a symbolic link" if path.is_symlink() else "a folder"
            raise TopoloomError(f"{path} is {what} in the place of a file; remove it")
    return place


def share_of(points: Sequence[StudyPoint], folder: Path, share: int) -> list[StudyPoint]:
    """Return the points of one share.

    Args:
        points: All points of the study.
        folder: The store.
        share: The number of the share, from 0.

    Raises:
        TopoloomError: There is no such share, or the study has changed since.

    >>> share_of([], Path("none.store"), 0)
    Traceback (most recent call last):
    topoloom.TopoloomError: none.store has no share 0; topoloom run STUDY.toml --script FILE deals them
    """
    path = _place(folder) / f"{share}.json"
    if not path.is_file():
        there = sum(1 for _ in path.parent.glob("*.json"))
        what = f"; they are 0 to {there - 1}" if there else "; topoloom run STUDY.toml --script FILE deals them"
        raise TopoloomError(f"{folder} has no share {share}{what}")
    known = {point.key: point for point in points}
    keys = _keys(path)
    if any(key not in known for key in keys):
        raise TopoloomError(
            f"share {share} of {folder} holds points that the study does not: it, a file that it names, or topoloom "
            "changed since the shares were dealt; write the script again"
        )
    return [known[key] for key in keys]


def _keys(path: Path) -> list[str]:
    """Return the keys in the file of a share.

    Raises:
        TopoloomError: It is damaged.
    """
    try:
        keys = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        keys = None
    if not isinstance(keys, list) or not all(isinstance(key, str) for key in keys):
        raise TopoloomError(
            f"{path} is damaged: it holds no list of points; write the script again, which deals shares"
        )
    return keys


def _refuse_busy(folder: Path) -> None:
    """Raise an error while jobs are at work on shares: their points would be run twice.

    Raises:
        TopoloomError: Some are.
    """
    if busy := _busy(_place(folder)):
        names = ", ".join(map(str, busy[:5])) + (", …" if len(busy) > 5 else "")  # noqa: PLR2004 - a few are enough
        raise TopoloomError(
            f"jobs are at work on shares {names} of {folder}; wait for them or cancel them (they count as dead "
            f"{STALE_S:g} s after they were last heard of)"
        )


def _busy(place: Path) -> list[int]:
    """Return the shares whose jobs were heard of lately, by the clock of the file system."""
    beats = {int(path.stem): path.stat().st_mtime for path in place.glob("*.alive") if _OURS.fullmatch(path.name)}
    if not beats:
        return []
    probe = place / ".clock"
    probe.write_bytes(b"")
    clock = probe.stat().st_mtime
    probe.unlink()
    return sorted(share for share, beat in beats.items() if clock - beat < STALE_S)


def take_in(ledger: Ledger, name: str) -> int:
    """Store the results that jobs have written and the ledger lacks; return their number.

    Args:
        ledger: The ledger of the store that holds the shares.
        name: The name of the study, for the ledger's record.

    Raises:
        TopoloomError: Jobs are still at work.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, Ledger(Path(folder, "one.store")) as ledger:
    ...     take_in(ledger, "one")
    0
    """
    _refuse_busy(ledger.folder)
    paths = sorted(path for path in _place(ledger.folder).glob("*.jsonl") if _OURS.fullmatch(path.name))
    entries = [entry for path in paths for entry in _entries(path) if entry["result"] is not None]
    if not entries:
        return 0
    ledger.begin(name)
    return ledger.adopt(entries)


def _entries(path: Path) -> list[dict[str, Any]]:
    """Return the lines of a journal that are whole; the last one may be torn, as its job was killed."""
    entries = []
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
    except FileNotFoundError:
        return []
    for line in lines:
        with suppress(ValueError):
            entry = json.loads(line)
            if isinstance(entry, dict) and entry.keys() >= _ENTRY and _reads(entry):
                entries.append(entry)
    return entries


def _reads(entry: Mapping[str, Any]) -> bool:
    """Return whether a line is a failure, or a result that a ledger can hold."""
    if entry["result"] is None:
        return True
    origin = (entry[name] for name in ("wall_s", "finished", "version", "model_version", "host"))
    return loose_row((entry["key"], entry["point"], json.dumps(entry["result"]), *origin)) is not None


class Journal:
    """The record of one share, which implements :class:`topoloom.studies.running.Records`.

    It stores outcomes only: the ledger that takes them in does everything else.

    Args:
        folder: The store.
        share: The number of the share, from 0.

    Raises:
        TopoloomError: There is something else in the place of the shares.

    >>> import tempfile
    >>> from topoloom import Study, Sweep
    >>> points = Study(name="one", sweep=[Sweep(kind="facts", networks=["mesh:2x2"])]).points()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     lists = deal(points, Path(folder), 1)
    ...     with Journal(Path(folder), 0) as journal:
    ...         journal.begin("one")
    ...         journal.note_contents(points)
    ...         wanted = journal.exchange([], points)
    ...         none = journal.exchange([Outcome(points[0].key, {"routers": 4})], [])
    ...         journal.pack()
    ...         print(wanted == points, journal.durations(), journal.failures())
    ...     Journal(Path(folder), 0).states() == {points[0].key: "done"}
    True [] {}
    True
    """

    def __init__(self, folder: Path, share: int) -> None:
        self._path = _place(folder) / f"{share}.jsonl"
        self._alive = self._path.with_suffix(".alive")
        self._ended = Event()
        self._points: dict[str, StudyPoint] = {}
        self._states = {entry["key"]: "done" for entry in _entries(self._path) if entry["result"] is not None}

    def __enter__(self) -> "Journal":
        self._beat()
        Thread(target=self._keep_beating, daemon=True).start()
        self._file = self._path.open("a", encoding="utf-8")
        # Lines behind a torn line must not be torn with it.
        self._file.write("\n")
        return self

    def __exit__(self, *exception: object) -> None:
        self._ended.set()
        self._file.close()
        self._alive.unlink(missing_ok=True)

    def _keep_beating(self) -> None:
        while not self._ended.wait(BEAT_S):
            self._beat()

    def _beat(self) -> None:
        self._alive.write_text(str(time.time()))

    def states(self) -> dict[str, str]:
        """Return the state of every point that the journal held when it was opened: all of them are done."""
        return dict(self._states)

    def durations(self) -> list[tuple[StudyPoint, float]]:
        """Return nothing: a share is in its order already."""
        return []

    def failures(self) -> dict[str, str]:
        """Return nothing: no other run has these points."""
        return {}

    def begin(self, study: str) -> None:
        """Do nothing: no points are claimed.

        Args:
            study: The name of the study, unchecked.
        """

    def note_contents(self, points: Iterable[StudyPoint]) -> None:
        """Store nothing: the run that takes the lines in does.

        Args:
            points: The points.
        """

    def exchange(self, outcomes: Iterable[Outcome], wanted: Sequence[StudyPoint]) -> list[StudyPoint]:
        """Write outcomes, on the disk when this returns.

        Args:
            outcomes: What was done.
            wanted: The points to be run next.

        Returns:
            All of `wanted`: no other run has these points.

        Raises:
            OSError: The journal cannot be written.
        """
        self._points |= {point.key: point for point in wanted}
        text = "".join(json.dumps(self._entry(outcome)) + "\n" for outcome in outcomes)
        if text:
            self._file.write(text)
            self._file.flush()
            os.fsync(self._file.fileno())
        return list(wanted)

    def _entry(self, outcome: Outcome) -> dict[str, Any]:
        origin = {"finished": now(), "version": _core.__version__, "model_version": _core.MODEL_VERSION}
        return asdict(outcome) | {"point": self._points[outcome.key].to_json()} | origin

    def pack(self, *, least: int = 1) -> None:
        """Do nothing: the ledger that takes the lines in packs them.

        Args:
            least: The number of results from which on they would be packed.
        """
