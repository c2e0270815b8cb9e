"""Rows of results, and the Parquet files that hold them. One row a point, with its origin.

Columns: what the point is (``key kind spec routing role traffic load seed options``), its origin (``version
model_version host finished wall_s``), every plain value of the result under its own name, and the whole result as JSON
(``result``).
"""

import errno
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from topoloom import _core
from topoloom.studies.points import StudyPoint

if TYPE_CHECKING:
    import pyarrow as pa

NO_SPACE = errno.ENOSPC

IDENTITY = ("key", "kind", "spec", "routing", "role", "traffic", "load", "seed", "options", "settings")
ORIGIN = ("version", "model_version", "host", "finished", "wall_s")
FIXED = (*IDENTITY, *ORIGIN, "result")
"""Columns that every row has."""


def row(key: str, point: StudyPoint, result: Mapping[str, Any], provenance: Mapping[str, Any]) -> dict[str, Any]:
    """Return the row of a point that is done."""
    values = {
        "key": key,
        **point.named,
        "options": json.dumps(point.options, sort_keys=True),
        "settings": json.dumps(dict(point.settings), sort_keys=True),
    }
    plain = {
        name: value
        for name, value in result.items()
        if name not in FIXED and isinstance(value, (bool, int, float, str))
    }
    return values | dict(provenance) | plain | {"result": json.dumps(result)}


def write(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write a part, whole or not at all, on the disk when this returns."""
    import pyarrow.parquet as pq  # noqa: PLC0415 - loads slowly

    unfinished = path.with_suffix(".unfinished")
    try:
        pq.write_table(table(rows), unfinished, compression="zstd")
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
    """Return rows as an Arrow table; a value that a row lacks is null."""
    import pyarrow as pa  # noqa: PLC0415 - loads slowly

    names = list(dict.fromkeys([*FIXED, *(name for row in rows for name in row)]))
    columns = {name: _array([row.get(name) for row in rows]) for name in names}
    return pa.table(columns).replace_schema_metadata({"topoloom": _core.__version__})


def _array(values: list[Any]) -> "pa.Array":
    """Return a column. Whole and broken numbers mix to the latter, anything else that differs to text."""
    import pyarrow as pa  # noqa: PLC0415 - loads slowly

    types = {type(value) for value in values if value is not None}
    if types == {int, float}:
        values = [None if value is None else float(value) for value in values]
    elif len(types) > 1:
        values = [None if value is None else str(value) for value in values]
    return pa.array(values)


def read(paths: Sequence[Path]) -> list[dict[str, Any]]:
    """Return the rows of parts, without the nulls that only fill a column up."""
    if not paths:
        return []
    import pyarrow.parquet as pq  # noqa: PLC0415 - loads slowly

    return [
        {name: value for name, value in row.items() if value is not None or name in FIXED}
        for path in paths
        for row in pq.read_table(path).to_pylist()
    ]
