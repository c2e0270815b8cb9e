"""The text of TOML files, which tomllib does not report: lines of items, and how a value is written.

A mistake is reported with its line, and with the value as its author wrote it.
"""

import datetime
import re
from collections.abc import Sequence

_KEY = re.compile(r"""^\s*((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*=""")
_NAME = re.compile(r"""[\w-]+|"[^"]*"|'[^']*'""")

Path = tuple[str | int, ...]


def places(text: str) -> dict[Path, int]:
    r"""Return the line of every table and key of a TOML document, by its path.

    The path of a key in the second table ``[[sweep]]`` is ``("sweep", 1, "networks")``. Keys of inline tables have no
    line of their own.

    Args:
        text: The document, unchecked.

    >>> places('[[sweep]]  # the first one\nkind = "facts"\n')[("sweep", 0, "kind")]
    2
    """
    found: dict[Path, int] = {}
    arrays: dict[Path, int] = {}
    here: Path = ()
    for number, line in enumerate(text.splitlines(), start=1):
        if (header := _header(line)) is not None:
            here = _enter(_names(header), arrays, opens=line.lstrip().startswith("[["))
            found.setdefault(here, number)
        elif key := _KEY.match(line):
            path = here
            for name in _names(key[1]):
                path = (*path, name)
                found.setdefault(path, number)
    return found


def line_of(found: dict[Path, int], path: Sequence[str | int]) -> int | None:
    """Return the number of the line of `path`, or of the nearest thing around it that has one.

    Args:
        found: The lines that :func:`places` returns.
        path: The path of a table, a key, or what is within.

    >>> line_of({("sweep", 0): 3}, ("sweep", 0, "kind")), line_of({}, ("name",))
    (3, None)
    """
    for length in range(len(path), 0, -1):
        if (line := found.get(tuple(path[:length]))) is not None:
            return line
    return None


def as_toml(value: object) -> str:
    """Return a value that tomllib has read as TOML writes it.

    Args:
        value: The value.

    >>> as_toml({"on": True, "at": [datetime.date(2020, 1, 2), "noon"]})
    "{on = true, at = [2020-01-02, 'noon']}"
    """
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (datetime.date, datetime.time)):  # a date with a time is a date
        return value.isoformat()
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {as_toml(held)}" for key, held in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(as_toml, value)) + "]"
    return repr(value)


def _header(line: str) -> str | None:
    """Return the name of the table that a line begins; no regular expression, which blanks could make slow."""
    name, closed, rest = line.strip().removeprefix("[").removeprefix("[").partition("]")
    rest = rest.removeprefix("]").lstrip()
    if not (line.lstrip().startswith("[") and closed and name.strip()) or (rest and not rest.startswith("#")):
        return None
    return name


def _names(dotted: str) -> list[str]:
    return [name.strip("\"'") for name in _NAME.findall(dotted)]


def _enter(names: list[str], arrays: dict[Path, int], *, opens: bool) -> Path:
    """Return the path that a header leads to; the last table of an array is the one that is meant."""
    path: Path = ()
    for place, name in enumerate(names):
        path = (*path, name)
        if opens and place == len(names) - 1:
            arrays[path] = arrays.get(path, -1) + 1
        if path in arrays:
            path = (*path, arrays[path])
    return path
