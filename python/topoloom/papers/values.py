"""The values of a paper's tables and figures, which are kept with the paper as a table: what its page shows as data."""

import csv
import io
from collections.abc import Iterator

from topoloom.files import read_text, table
from topoloom.papers.paper import Figure, Paper
from topoloom.papers.reproduction import ItemResult, Reproduction, curve_label, series_points, shown

COLUMNS = ("item", "part", "title", "series", "x", "y", "published")
"""The columns: an item's id; `table 1`, `figure 2`, … of it; title; row or series; column or x; the values."""

KIND = table("table of values", COLUMNS)
"""The kind of file."""

VALUES = "values.csv"
"""The name of the file in a paper's folder."""

Row = tuple[str, ...]


def kept_values(paper: Paper) -> list[Row]:
    """Return the values that are kept with a paper, row by row, without the head; none if there is no file.

    Args:
        paper: The paper.

    >>> kept_values(Paper.named("twin-torus"))[0][:3]
    ('table1', 'table 1', '')
    """
    path = paper.folder / VALUES
    if not path.is_file():
        return []
    _, *rows = csv.reader(io.StringIO(read_text(path)))
    return [tuple(row) for row in rows]


def values_with(paper: Paper, found: Reproduction) -> str:
    """Return the file of values of a paper after a run: those of its items in place of what was kept of them.

    Args:
        paper: The paper.
        found: The results of a run, of all of its items or of some.

    >>> from topoloom.studies import Progress
    >>> paper = Paper.named("twin-torus")
    >>> nothing = Reproduction(paper, False, [], Progress(total=0), {}, [])
    >>> values_with(paper, nothing) == (paper.folder / VALUES).read_text()
    True
    """
    new = {result.item.id: list(_rows(paper, result)) for result in found.items}
    old: dict[str, list[Row]] = {}
    for row in kept_values(paper):
        old.setdefault(row[0], []).append(row)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for item in paper.item:
        writer.writerows(new[item.id] if item.id in new else old.get(item.id, []))
    return text.getvalue()


def _rows(paper: Paper, result: ItemResult) -> Iterator[Row]:
    """Yield the rows of an item: its tables, then its figures."""
    for number, (own, cells) in enumerate(zip(result.item.table, result.tables, strict=True), 1):
        for row, line in zip(own.row, cells, strict=True):
            for column, cell in zip(own.columns, line, strict=False):
                if cell.measured or cell.published:
                    yield (
                        result.item.id,
                        f"table {number}",
                        own.title,
                        row.label,
                        column,
                        cell.measured,
                        cell.published,
                    )
    for number, figure in enumerate(result.item.figure, 1):
        drawn = _curves(paper, result, figure) if figure.where else _series(paper, result, figure)
        for series, x, y, published in drawn:
            yield result.item.id, f"figure {number}", figure.title, series, x, y, published


def _curves(paper: Paper, result: ItemResult, figure: Figure) -> Iterator[Row]:
    """Yield the points of the curves that a figure selects: the latency over the load, or what is accepted."""
    for curve in result.found.where(figure.where).curves():
        for point in curve.sorted_points():
            y = point.latency_cycles if figure.kind == "latency" else point.accepted
            if y is not None:
                yield curve_label(paper, figure, curve), f"{point.offered:.6g}", f"{y:.6g}", ""


def _series(paper: Paper, result: ItemResult, figure: Figure) -> Iterator[Row]:
    """Yield the points of the series of lines or bars."""
    for series, points in zip(figure.series, series_points(paper, figure, result.found), strict=True):
        published = series.published if len(series.published) == len(points) else [""] * len(points)
        for point, printed in zip(points, published, strict=True):
            x, y = point["x"], point["y"]
            x = x if isinstance(x, str) else shown(x).replace(",", "")
            yield series.label, x, f"{y:.6g}" if isinstance(y, (int, float)) else shown(y), str(printed)
