"""Results as tables for people: a table for each kind of point."""

from collections.abc import Container
from typing import Any

from topoloom.report.comparison import ResultTable
from topoloom.studies.measurements import MEASUREMENTS
from topoloom.studies.results import IDENTIFYING, Results

UNITS = ("_gb_s", "_ns")
"""How columns end that only networks with rates have."""


def columns(found: Results) -> list[str]:
    """Return the columns that distinguish the rows of one kind, and those that were measured.

    Args:
        found: The rows, at least one, all of one kind.

    >>> from topoloom import Study, Sweep
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     study = Study(name="small", sweep=[Sweep(kind="bound", networks=["mesh:2x2"])])
    ...     columns(study.run(f"{folder}/small.store"))[:4]
    ['spec', 'routing', 'traffic', 'saturation_bound']
    """
    rows = found.with_options()
    differing = [
        name
        for name in dict.fromkeys(name for row in rows for name in row if name.startswith("options."))
        if name != "options.seed" and len({str(row.get(name)) for row in rows}) > 1
    ]
    telling = [name for name in IDENTIFYING if any(row.get(name) not in (None, "") for row in rows)]
    if len({row["traffic"] for row in rows}) == len({row["seed"] for row in rows}) == 1:
        telling = [name for name in telling if name != "seed"]
    versions = ["model_version"] if len({row["model_version"] for row in rows}) > 1 else []
    measured = [
        name
        for name in MEASUREMENTS[found.rows[0]["kind"]].columns
        if not name.endswith(UNITS) or any(row.get(name) is not None for row in rows)
    ]
    return [*telling, *differing, *versions, *measured]


def cell(value: Any) -> str:
    """Return a value as tables show it, with at most five digits.

    Args:
        value: What JSON can hold.

    >>> cell(None), cell(True), cell(1 / 3), cell({"global": 10})
    ('–', 'yes', '0.33333', 'global=10')
    """
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return ",".join(f"{name}={part}" for name, part in value.items())
    return f"{value:.5g}" if isinstance(value, float) else str(value)


def result_tables(found: Results, most: int, without: Container[str] = ()) -> list[ResultTable]:
    """Return a table for each kind.

    Args:
        found: The results.
        most: The number of rows of a table at most.
        without: Kinds that are left out.

    >>> result_tables(Results([]), 10)
    []
    """
    tables = []
    for kind, mine in found.ordered().by_kind().items():
        if kind not in without:
            names = columns(mine)
            rows = [[cell(row.get(name)) for name in names] for row in mine.with_options()[:most]]
            tables.append(ResultTable(kind, MEASUREMENTS[kind].summary, names, rows, max(0, len(mine) - most)))
    return tables
