"""Rows of results, and the Parquet files that hold them. One row per point, with its origin.

Columns: what the point is (``key kind spec routing role traffic load seed options``), the SHA-256 of each file that it
read (``files``), its origin (``version model_version host finished wall_s``), every plain value of the result under its
own name, and the whole result as JSON (``result``).
"""

import errno
import json
import os
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

from topoloom import _core
from topoloom.libraries import require
from topoloom.studies.measurements import MEASUREMENTS
from topoloom.studies.points import StudyPoint, files_of

if TYPE_CHECKING:
    import pyarrow as pa

NO_SPACE = errno.ENOSPC

IDENTITY = ("key", "kind", "spec", "routing", "role", "traffic", "load", "seed", "options", "settings", "files")
ORIGIN = ("version", "model_version", "host", "finished", "wall_s")
FIXED = (*IDENTITY, *ORIGIN, "result")
"""Columns that every row has."""

OBJECTS = ("options", "settings", "result")
"""Columns that hold JSON objects."""

TEXTS = ("key", "kind", "spec", "routing", "traffic", "finished", *OBJECTS)
"""Columns that hold a text in every row."""

NEEDED = (*TEXTS, "files")
"""Columns that state whether a row is whole."""


def row(key: str, point: str, result: str, provenance: Mapping[str, Any]) -> dict[str, Any]:
    """Return the row of a point that is done.

    Args:
        key: The key under which its result is kept.
        point: The point, as :meth:`StudyPoint.to_json` wrote it.
        result: Its result, as JSON.
        provenance: The values of :data:`ORIGIN`.

    Raises:
        ValueError: JSON that does not read, or is no point and no result.

    >>> one = row("k", StudyPoint("facts", "mesh:2x2").to_json(), '{"routers": 4}', {"wall_s": 0.5})
    >>> one["spec"], one["routers"], one["wall_s"], one["files"]
    ('mesh:2x2', 4, 0.5, None)
    """
    return _row(key, StudyPoint.from_json(point), files_of(point), _object(result), provenance)


def _row(
    key: str,
    point: StudyPoint,
    files: Mapping[str, str | None],
    result: Mapping[str, Any],
    provenance: Mapping[str, Any],
) -> dict[str, Any]:
    values = {
        "key": key,
        **point.named,
        "options": json.dumps(point.options, sort_keys=True),
        "settings": json.dumps(dict(point.settings), sort_keys=True),
        "files": json.dumps(dict(files), sort_keys=True) if files else None,
    }
    plain = {
        name: value
        for name, value in result.items()
        if name not in FIXED and isinstance(value, (bool, int, float, str))
    }
    return values | dict(provenance) | plain | {"result": json.dumps(result)}


def write(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write a part, whole or not at all, on the disk when this returns.

    Args:
        path: The file, which is created or replaced.
        rows: The rows, as :func:`row` makes them.

    Raises:
        OSError: The file cannot be written.
        TopoloomError: The extra with pyarrow is missing.

    >>> import tempfile
    >>> one = row("k", StudyPoint("facts", "mesh:2x2").to_json(), "{}", dict.fromkeys(ORIGIN, "x"))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(Path(folder, "a.parquet"), [one])
    ...     keys(Path(folder, "a.parquet")), read(Path(folder, "a.parquet")) == [one]
    ({'k'}, True)
    """
    require("pyarrow")
    import pyarrow.parquet as pq  # noqa: PLC0415 - loads slowly

    unfinished = path.with_suffix(".unfinished")
    try:
        pq.write_table(table(rows), unfinished, compression="zstd", write_page_checksum=True)
        with unfinished.open("rb") as file:
            os.fsync(file.fileno())
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise
    unfinished.rename(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def table(rows: Sequence[Mapping[str, Any]]) -> "pa.Table":
    """Return rows as an Arrow table; a value that a row lacks is null.

    Args:
        rows: The rows, as :func:`row` makes them.

    Raises:
        TopoloomError: The extra with pyarrow is missing.

    >>> table([{"spec": "mesh:2x2", "routers": 4}, {"spec": "mesh:3x3"}])["routers"].to_pylist()
    [4, None]
    """
    require("pyarrow")
    import pyarrow as pa  # noqa: PLC0415 - loads slowly

    names = list(dict.fromkeys([*FIXED, *(name for row in rows for name in row)]))
    columns = {name: _array([row.get(name) for row in rows]) for name in names}
    return pa.table(columns).replace_schema_metadata({"topoloom": _core.__version__})


def _array(values: list[Any]) -> "pa.Array":
    """Return a column. Whole and broken numbers mix to the latter, anything else that differs to text."""
    require("pyarrow")
    import pyarrow as pa  # noqa: PLC0415 - loads slowly

    types = {type(value) for value in values if value is not None}
    if types == {int, float}:
        values, types = [None if value is None else float(value) for value in values], {float}
    elif len(types) > 1:
        values, types = [None if value is None else str(value) for value in values], {str}
    try:
        kind, buffers = _buffers(values, *types)
    except OverflowError:  # what has more than 64 bits, or more than 2 GiB of text
        return pa.array(values)
    present = None if None not in values else pa.py_buffer(_bits(value is not None for value in values))
    return pa.Array.from_buffers(kind, len(values), [present, *map(pa.py_buffer, buffers)])


def _buffers(values: Sequence[Any], of: type | None = None) -> tuple["pa.DataType", list[Any]]:
    """Return the Arrow type of a column and its memory: :func:`pyarrow.array` would load pandas first.

    Raises:
        OverflowError: A value does not fit.
    """
    require("pyarrow")
    import pyarrow as pa  # noqa: PLC0415 - loads slowly

    if of is str:
        texts = [(value or "").encode() for value in values]
        return pa.utf8(), [array("i", accumulate(map(len, texts), initial=0)), b"".join(texts)]
    if of is bool:
        return pa.bool_(), [_bits(map(bool, values))]
    if of in (int, float):
        code, kind = ("q", pa.int64()) if of is int else ("d", pa.float64())
        return kind, [array(code, [value or 0 for value in values])]
    return pa.null(), []


def _bits(flags: Iterable[bool]) -> bytes:
    """Return flags as Arrow packs them, the first in the lowest bit."""
    digits = "".join("1" if flag else "0" for flag in flags)
    return int(digits[::-1] or "0", 2).to_bytes(-(-len(digits) // 8), "little")


def read(path: Path, keys: AbstractSet[str] | None = None) -> list[dict[str, Any]]:
    """Return the rows of a part that are whole, without the nulls that only fill a column up.

    Args:
        path: The file.
        keys: The only keys whose rows are returned; all unless given.

    Raises:
        FileNotFoundError: There is no such file.
        DamagedError: It does not read.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(Path(folder, "a.parquet"), [{"key": "a row that is not whole"}])
    ...     read(Path(folder, "a.parquet"))
    []
    """
    return [
        dict.fromkeys(FIXED) | {name: value for name, value in row.items() if value is not None}
        for batch in _batches(path)
        for row in batch
        # Whether a row is whole takes long to find out where its result is large.
        if (keys is None or row.get("key") in keys) and is_whole(row)
    ]


def keys(path: Path) -> set[str]:
    """Return the keys of the rows of a part that are whole, once all of it has been read.

    Args:
        path: The file.

    Raises:
        FileNotFoundError: There is no such file.
        DamagedError: It does not read.

    >>> import tempfile
    >>> one = row("k", StudyPoint("facts", "mesh:2x2").to_json(), "{}", {"finished": "today"})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(Path(folder, "a.parquet"), [one])
    ...     keys(Path(folder, "a.parquet"))
    {'k'}
    """
    return {row["key"] for batch in _batches(path, NEEDED) for row in batch if is_whole(row)}


class DamagedError(Exception):
    """A part that does not read; the text is why."""


BATCH_ROWS = 5000
"""Rows that are in memory as Python's own values at a time."""


def _batches(path: Path, names: Sequence[str] = ()) -> Iterator[list[dict[str, Any]]]:
    """Yield the rows of a part, many at a time, or these columns of them; all of the file is read."""
    require("pyarrow")
    import pyarrow as pa  # noqa: PLC0415 - loads slowly

    require("pyarrow")
    import pyarrow.parquet as pq  # noqa: PLC0415 - loads slowly

    try:
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            for batch in file.iter_batches(BATCH_ROWS):
                chosen = [name for name in names if name in batch.schema.names] or batch.schema.names
                yield batch.select(chosen).to_pylist()
    except FileNotFoundError:
        raise
    except OSError as error:
        raise DamagedError(error.strerror or str(error).partition("\n")[0]) from None
    except (pa.ArrowException, ValueError) as error:
        raise DamagedError(str(error).partition("\n")[0]) from None


def is_whole(row: Mapping[str, Any]) -> bool:
    """Return whether a row has all that is needed to show its result.

    Args:
        row: A row, as :func:`row` makes it.

    >>> one = row("k", StudyPoint("facts", "mesh:2x2").to_json(), "{}", {"finished": "today"})
    >>> is_whole(one), is_whole(one | {"result": "[]"})
    (True, False)
    """
    if not all(isinstance(row.get(name), str) for name in TEXTS) or row["kind"] not in MEASUREMENTS:
        return False
    try:
        return all(_object(row[name]) is not None for name in OBJECTS) and files(row) != {}
    except ValueError:
        return False


def _object(text: str) -> dict[str, Any]:
    """Return a JSON object.

    Raises:
        ValueError: It does not read, or is none.
    """
    values = json.loads(text)
    if not isinstance(values, dict):
        raise ValueError("no JSON object")
    return values


def point_of(row: Mapping[str, Any]) -> StudyPoint:
    """Return the point of a row, with the files that are here.

    Args:
        row: A row, as :func:`row` makes it.

    >>> one = StudyPoint("facts", "mesh:2x2")
    >>> point_of(row("k", one.to_json(), "{}", {})) == one
    True
    """
    names = ("kind", "spec", "routing", "traffic", "load", "role")
    named: dict[str, Any] = {name: row.get(name) for name in names}
    return StudyPoint(**named, settings=_object(row["settings"]))


def files(row: Mapping[str, Any]) -> dict[str, str | None] | None:
    """Return the SHA-256 of each file that the point of a row read; None where an earlier version noted none.

    Args:
        row: A row, as :func:`row` makes it.

    >>> files({"files": '{"own.csv": "6b86b273"}'}), files({})
    ({'own.csv': '6b86b273'}, None)
    """
    return None if row.get("files") is None else _object(row["files"])


def point_text(row: Mapping[str, Any]) -> str:
    """Return the point of a row as :meth:`StudyPoint.to_json` wrote it.

    Args:
        row: A row, as :func:`row` makes it.

    >>> text = StudyPoint("facts", "mesh:2x2").to_json()
    >>> point_text(row("k", text, "{}", {})) == text
    True
    """
    return point_of(row).to_json(files(row) or {})
