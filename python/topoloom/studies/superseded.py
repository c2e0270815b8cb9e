"""Which results are of former contents of files that have changed since."""

from collections.abc import Mapping, Sequence
from typing import Any

from topoloom.studies import parquet

Row = Mapping[str, Any]


def split(rows: Sequence[Row], contents: Mapping[str, str]) -> tuple[list[Row], list[Row]]:
    """Return the results of the newest content of each file, those without files among them, and the others.

    Args:
        rows: Rows of results, the latest last.
        contents: The SHA-256 that each file had in the last run, as far as that is known; of other files the latest
            result gives it.

    >>> from topoloom.studies import StudyPoint
    >>> text = StudyPoint("facts", "file:own.csv").to_json
    >>> rows = [parquet.row(sha, text({"own.csv": sha}), "{}", {"model_version": 1}) for sha in ("old", "new")]
    >>> [[row["key"] for row in part] for part in split(rows, {})]
    [['new'], ['old']]
    """
    read = [_Row(row) for row in rows]
    newest = {path: found for one in read for path, found in (one.files or {}).items() if found} | dict(contents)
    latest = {one.question: one.row["key"] for one in read if one.files is None}
    kept: list[Row] = []
    former: list[Row] = []
    for one in read:
        (kept if one.is_newest(newest, latest) else former).append(one.row)
    return kept, former


class _Row:
    """A row with the files that its point read."""

    def __init__(self, row: Row) -> None:
        self.row = row
        self.files = parquet.files(row)
        self._point = None if self.files is not None else parquet.point_of(row)
        if self._point is not None and not self._point.files:
            self.files = {}

    @property
    def question(self) -> tuple[Any, ...]:
        """What the point asks, whatever its files contain."""
        names = ("kind", "spec", "routing", "traffic", "load", "settings", "model_version")
        return tuple(self.row[name] for name in names)

    def is_newest(self, newest: Mapping[str, str], latest: Mapping[tuple[Any, ...], str]) -> bool:
        """Return whether the files were what they are now."""
        if self.files is not None:
            return all(newest.get(path) == found for path, found in self.files.items() if found)
        # An earlier version did not note the files. The key shows it where their content is known.
        assert self._point is not None
        if all(path in newest for path in self._point.files):
            key = self._point.key_of(newest.get, self.row["model_version"], as_written=True)
            return bool(key == self.row["key"])
        return bool(latest[self.question] == self.row["key"])
