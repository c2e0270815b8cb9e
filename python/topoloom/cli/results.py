"""``topoloom results``: what a store holds."""

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from topoloom._core import TopoloomError, unknown
from topoloom.cli import status
from topoloom.cli.console import console, print_json, print_table, say
from topoloom.cli.parameters import Force
from topoloom.studies import parquet
from topoloom.studies.measurements import MEASUREMENTS
from topoloom.studies.results import Results
from topoloom.studies.tables import cell, columns
from topoloom.wording import counted

MOST_ROWS = 60
"""Rows that a table shows unless more are asked for."""

MOST_CHANGES = 20

GAP = 3
"""Blanks between two columns of a table."""


def results(
    store: Annotated[Path, typer.Argument(metavar="STORE", help="The folder with a study's results.")],
    other: Annotated[
        Path | None, typer.Argument(metavar="OTHER", help="Another store to compare with.", show_default=False)
    ] = None,
    where: Annotated[
        list[str] | None,
        typer.Option("--where", metavar="CONDITION", help="Only rows such as routing=min or load<=0.5; may repeat."),
    ] = None,
    columns: Annotated[
        str | None, typer.Option("--columns", metavar="NAME,…", help="Columns to show; those measured unless given.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Write the rows to a .csv or .parquet file.")
    ] = None,
    all_: Annotated[bool, typer.Option("--all", help="Show every row.")] = False,
    force: Force = False,
    superseded: Annotated[
        bool, typer.Option("--superseded", help="Also show results of former contents of files that have changed.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print only JSON on stdout.")] = False,
) -> int:
    """List, filter and export the results of a study, or compare two stores."""
    found = _load(store, where, superseded=superseded)
    if other is not None:
        return _compare(found, _load(other, where, superseded=superseded), json=json)
    if out is not None:
        found.write(out, force=force)
        say(f"{counted(len(found), 'row is', 'rows are')} in {out}")
    elif json:
        print_json([dict(row) for row in found.rows])
    else:
        names = None if columns is None else [name.strip() for name in columns.split(",")]
        summary_tables(found, names, everything=all_)
    _tell_versions(found)
    return status.DONE


def _load(store: Path, where: list[str] | None, *, superseded: bool) -> Results:
    """Return the selected rows, and report which others of the store are left out."""
    found = Results.load(store, superseded=superseded)
    for note in found.notes:
        say(note)
    return found.where(*(where or [])).ordered()


def _tell_versions(found: Results) -> None:
    """Warn where results of several versions of the models are mixed."""
    versions = Counter(row["model_version"] for row in found.rows)
    if len(versions) > 1:
        told = ", ".join(f"{count} of version {version}" for version, count in sorted(versions.items()))
        say(f"the models changed between these results: {told}; --where model_version={max(versions)} shows the latest")


def summary_tables(found: Results, names: list[str] | None = None, *, everything: bool = False) -> None:
    """Print results as one table per kind of point, the first rows if there are many.

    Args:
        found: The results.
        names: The columns; those that distinguish rows and those that were measured unless given.
        everything: Whether to print all rows.

    >>> summary_tables(Results([]))
    """
    for kind, mine in found.by_kind().items():
        shown = mine if everything else Results(mine.rows[:MOST_ROWS])
        console().print(f"{kind}: {MEASUREMENTS[kind].summary}", style="bold")
        _print_rows(shown, names, columns(mine))
        print()
        if len(shown) < len(mine):
            say(f"{kind}: {counted(len(mine) - len(shown), 'more row')}; --all shows all, --out FILE.csv writes them")


def _print_rows(found: Results, chosen: list[str] | None, names: list[str]) -> None:
    """Print the chosen columns, or those of `names` that fit."""
    names = chosen or names
    rows = found.with_options()
    known = list(dict.fromkeys([*parquet.FIXED, *(name for row in rows for name in row)]))
    for name in names:
        if name not in known and not any(name in kind.columns for kind in MEASUREMENTS.values()):
            raise TopoloomError(unknown("column", name, known))
    cells = [[cell(row.get(name)) for name in names] for row in rows]
    fit = _fitting([names, *cells], console().width) if chosen is None else len(names)
    left = sum(name in ("spec", "routing", "traffic") for name in names)
    print_table(names[:fit], [row[:fit] for row in cells], left=left)
    if fit < len(names):
        say(f"this terminal has no room for {', '.join(names[fit:])}; --columns chooses, --out FILE.csv writes all")


def _fitting(rows: list[list[str]], width: int) -> int:
    """Return how many columns of a table, from the left, fit into a terminal."""
    needed, fit = 0, 0
    for column in zip(*rows, strict=True):
        needed += max(map(len, column)) + GAP
        if needed - GAP > width:
            break
        fit += 1
    return max(fit, 1)


def _compare(here: Results, there: Results, *, json: bool) -> int:
    """Report how two stores differ; different results for one key are a failed check."""
    found = here.differences(there)
    if json:
        changed = [{"key": a["key"], "columns": names, "here": a, "there": b} for a, b, names in found.changed]
        print_json({
            "equal": found.equal,
            "only_here": [dict(row) for row in found.only_here],
            "only_there": [dict(row) for row in found.only_there],
            "changed": changed,
        })  # fmt: skip
    else:
        rows = [
            ["equal", str(found.equal)],
            ["different", str(len(found.changed))],
            ["only in the first", str(len(found.only_here))],
            ["only in the second", str(len(found.only_there))],
        ]
        print_table(["results", "points"], rows)
        for a, b, names in found.changed[:MOST_CHANGES]:
            told = ", ".join(f"{name} {cell(a.get(name))} / {cell(b.get(name))}" for name in sorted(names)[:4])
            say(f"{a['kind']} {a['spec']} {a['routing']} {a['traffic']}: {told}")
        _tell_versions(Results([*here.rows, *there.rows]))
    return status.CHECK_FAILED if found.changed else status.DONE
