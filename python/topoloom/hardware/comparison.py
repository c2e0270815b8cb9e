"""Measured values beside predicted ones: errors by size class, tables and charts for a paper's page."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import nan
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from topoloom._core import TopoloomError
from topoloom.files import read_text
from topoloom.hardware.rows import FITTED_NODES, POINT_TO_POINT, Row, read_rows
from topoloom.studies.mistakes import parse_toml

LONG = 32 * 1024
"""Bytes from which on a point counts as long."""

Kind = tuple[str, str, str]
"""Machine, benchmark and library."""


@dataclass(frozen=True, slots=True)
class SizeClass:
    """Points of long, or of short, buffers, and how far predictions of them may be off.

    Attributes:
        name: What names of formulas end with.
        title: What people read.
        median: The most that the median of errors may be.
        ninetieth: The most that their 90th percentile may be.
    """

    name: str
    title: str
    median: float
    ninetieth: float


SHORT_CLASS = SizeClass("short", "below 32 KiB", 0.25, 0.60)
LONG_CLASS = SizeClass("long", "from 32 KiB on", 0.15, 0.35)
CLASSES = (SHORT_CLASS, LONG_CLASS)


@dataclass(frozen=True, slots=True)
class Compared:
    """A point that was measured, and its prediction.

    Attributes:
        row: The measurement.
        predicted: The predicted value, in the unit of the measurement.
    """

    row: Row
    predicted: float

    @property
    def error(self) -> float:
        """Predicted over measured, minus one."""
        return self.predicted / self.row.value - 1

    @property
    def size_class(self) -> SizeClass:
        """The class that its buffer belongs to."""
        return LONG_CLASS if self.row.bytes >= LONG else SHORT_CLASS

    @property
    def is_outside(self) -> bool:
        """Whether it is off by more than twice what nine of ten points may be."""
        return abs(self.error) > 2 * self.size_class.ninetieth

    @property
    def is_judged(self) -> bool:
        """Whether nothing was fitted on it: a collective on more nodes than fits see."""
        return self.row.nodes > FITTED_NODES and self.row.benchmark not in POINT_TO_POINT


class Reason(BaseModel):
    """Why points are outside twice the limit, as far as that is known.

    Attributes:
        machine: Their machine.
        benchmark: Their benchmark.
        library: Their library.
        nodes: Their numbers of nodes.
        bytes: The least and the most bytes of their buffers.
        says: The reason; empty where it is not understood.

    >>> known = Reason(machine="own", benchmark="bcast", library="mpi", nodes=(4, 8), bytes=(0, 64), says="slow links")
    >>> known.covers(Row("own", "bcast", "mpi", 4, 8, 64, 2.0, "us"))
    True
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    machine: str
    benchmark: str
    library: str
    nodes: tuple[int, ...]
    bytes: tuple[int, int]
    says: str

    def covers(self, row: Row) -> bool:
        """Return whether this is about a point.

        Args:
            row: The measurement of the point.
        """
        same = (row.machine, row.benchmark, row.library) == (self.machine, self.benchmark, self.library)
        return same and row.nodes in self.nodes and self.bytes[0] <= row.bytes <= self.bytes[1]


def compare(measured: Iterable[Row], predicted: Iterable[Row]) -> list[Compared]:
    """Return the points that were both measured and predicted.

    Args:
        measured: The measurements.
        predicted: The predictions.

    >>> measured = Row("own", "bcast", "mpi", 4, 8, 64, 2.0, "us")
    >>> predicted = Row("own", "bcast", "mpi", 4, 8, 64, 2.5, "us")
    >>> [point.error for point in compare([measured], [predicted])]
    [0.25]
    """
    values = {row.key: row.value for row in predicted}
    return [Compared(row, values[row.key]) for row in measured if row.key in values]


def distribution(points: Iterable[Compared]) -> tuple[int, float, float]:
    """Return the number of points, and the median and the 90th percentile of their errors without sign.

    Args:
        points: The points.

    Returns:
        The number, and errors as fractions of the measured values: NaN where there are no points.

    >>> rows = [Row("own", "bcast", "mpi", 4, 8, size, 2.0, "us") for size in (8, 16, 32)]
    >>> distribution([Compared(row, value) for row, value in zip(rows, (1.0, 2.0, 2.5))])
    (3, 0.25, 0.45)
    """
    errors = [abs(point.error) for point in points]
    if not errors:
        return 0, nan, nan
    if len(errors) == 1:
        return 1, errors[0], errors[0]
    return len(errors), median(errors), quantiles(errors, n=10, method="inclusive")[-1]


def _read_reasons(path: Path) -> list[Reason]:
    """Return why points are outside twice the limit.

    Raises:
        TopoloomError: A mistake in the file.
    """
    try:
        return [Reason.model_validate(one) for one in parse_toml(str(path), read_text(path))["reason"]]
    except ValidationError as error:
        first = error.errors()[0]
        raise TopoloomError(f"{path}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from None


class Comparison:
    """What a paper's folder holds of measurements and predictions, as items and names of the paper.

    Args:
        folder: The folder.
        measured: The file of measurements.
        predicted: The file of predictions.
        reasons: The file that has the reasons of points that are far off.
        first: The file of the predictions that were made before any comparison, if `predicted` was made after one.
        cycle: The file of the same predictions with rates of the cycle engine, if there are some.

    Raises:
        TopoloomError: A mistake in one of the files.

    >>> import tempfile
    >>> from topoloom.hardware.rows import predictions_text
    >>> text = predictions_text([Row("own", "bcast", "mpi", 4, 8, 64, 2.0, "us")])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     place = Path(folder)
    ...     written = (place / "p.csv").write_text(text)
    ...     written = (place / "m.csv").write_text(text.replace("predicted", "value").replace(",2,", ",8,"))
    ...     written = (place / "r.toml").write_text("reason = []")
    ...     found = Comparison(place, "m.csv", "p.csv", "r.toml")
    >>> found.names()["points_short"], found.names()["median_short"], found.reason(found.judged[0])
    (1, 0.75, 'not understood')
    >>> [item["id"] for item in found.errors() + found.benchmarks()]
    ['distribution', 'outside', 'own-bcast-mpi']
    """

    def __init__(
        self,
        folder: Path,
        measured: str,
        predicted: str,
        reasons: str,
        first: str | None = None,
        cycle: str | None = None,
    ) -> None:
        self.measured = read_rows(folder / measured)
        self.predicted = read_rows(folder / predicted, "predicted")
        self.judged = self._judged(self.predicted)
        others = {"first": first, "cycle": cycle}
        self.others = {
            name: self._judged(read_rows(folder / file, "predicted")) for name, file in others.items() if file
        }
        self.reasons = _read_reasons(folder / reasons)

    def _judged(self, predicted: Iterable[Row]) -> list[Compared]:
        return [point for point in compare(self.measured, predicted) if point.is_judged]

    def names(self) -> dict[str, float]:
        """Return what formulas can use: the distributions of errors of long and of short buffers."""
        names: dict[str, float] = {}
        others = {f"{name}_": points for name, points in self.others.items()}
        for whose, points in {"": self.judged, **others}.items():
            for size in CLASSES:
                own = [point for point in points if point.size_class is size]
                count, middle, ninetieth = distribution(own)
                outside = sum(point.is_outside for point in own)
                told = {"points": count, "median": middle, "ninetieth": ninetieth, "outside": outside}
                names |= {f"{whose}{name}_{size.name}": value for name, value in told.items()}
        return names

    def errors(self) -> list[dict[str, Any]]:
        """Return items of a paper about all points: the distribution of errors, and points outside."""
        return [self._distribution(), self._outside()]

    def benchmarks(self) -> list[dict[str, Any]]:
        """Return an item of a paper for each benchmark."""
        return [self._benchmark(kind) for kind in self._kinds()]

    def _kinds(self) -> list[Kind]:
        return list(dict.fromkeys(_kind(row) for row in self.predicted))

    def _distribution(self) -> dict[str, Any]:
        judged = {_kind(point.row) for point in self.judged}
        rows = [
            {"label": ", ".join(kind) if kind else "all", "over": self._errors(kind), "decimals": 0}
            for kind in [*(kind for kind in self._kinds() if kind in judged), None]
        ]
        heads = ["median %", "90th percentile %"]
        heads += [f"{name}: {head}" for name in self.others for head in ("median %", "90th %")]
        heads = [head for size in CLASSES for head in (f"points {size.title}", *heads)]
        table = {"columns": heads, "head": "machine, benchmark, library", "measured": "it", "row": rows}
        item = {"id": DISTRIBUTION, "title": "Errors of predictions on four and more nodes", "table": [table]}
        told = " ".join(_OTHERS[name] for name in self.others)
        return item | ({"text": told} if told else {})

    def _errors(self, kind: Kind | None) -> list[float]:
        """Return for each size class the number of points, and median and 90th percentile of errors in per cent.

        Those of the other predictions follow, if there are some.
        """
        told: list[float] = []
        for size in CLASSES:
            own, *others = (
                distribution(point for point in points if point.size_class is size and kind in (None, _kind(point.row)))
                for points in (self.judged, *self.others.values())
            )
            told.append(float(own[0]))
            told += [100 * error for found in (own, *others) for error in found[1:]]
        return told

    def _outside(self) -> dict[str, Any]:
        heads = ["nodes", "bytes", "measured", "predicted", "error %"]
        rows = [
            {"label": ", ".join(_kind(point.row)) + ": " + self.reason(point), "over": _point(point)}
            for point in self.judged
            if point.is_outside
        ]
        item: dict[str, Any] = {
            "id": "outside",
            "title": "Points outside twice the limit",
            "text": "Off by more than 70 % from 32 KiB on, or by more than 120 % below.",
        }
        return item | (
            {"table": [{"columns": heads, "head": "which, why", "measured": "it", "row": rows}]} if rows else {}
        )

    def reason(self, point: Compared) -> str:
        """Return why a point is outside twice the limit.

        Args:
            point: The point.
        """
        return next((one.says for one in self.reasons if one.covers(point.row) and one.says), NOT_UNDERSTOOD)

    def _benchmark(self, kind: Kind) -> dict[str, Any]:
        """Return time, or rate, against size: measured beside predicted, for each number of nodes."""
        predicted = {(row.nodes, row.ranks, row.bytes): row for row in self.predicted if _kind(row) == kind}
        measured = {
            (row.nodes, row.ranks, row.bytes): row.value for row in self.measured if _kind(row) == kind and row.bytes
        }
        unit = next(iter(predicted.values())).unit
        known = {(nodes, ranks) for nodes, ranks, _ in predicted}
        runs = list(dict.fromkeys((nodes, ranks) for nodes, ranks, _ in measured if (nodes, ranks) in known))
        item: dict[str, Any] = {"id": _slug(kind), "title": ", ".join(kind)}
        if not runs:
            rows = [
                {"label": f"{row.nodes} nodes, {row.bytes} bytes", "over": [row.value]} for row in predicted.values()
            ]
            table = {"columns": [f"predicted, {unit}"], "measured": "it", "row": rows}
            return item | {"text": "Predicted, and not measured in what stands here.", "table": [table]}
        sizes = sorted({size for _, _, size in measured})
        rows = [_table_row(size, runs, predicted, measured) for size in sizes]
        columns = [_run_title(run) for run in runs]
        table = {"columns": columns, "head": f"bytes ({unit})", "measured": "it", "row": rows}
        series = [_series(run, sizes, predicted, measured) for run in runs]
        figure = {
            "kind": "lines",
            "series": series,
            "xaxis": "bytes",
            "yaxis": unit,
            "logarithmic": True,
            "note": "Lines: predicted; on two nodes, fitted. Diamonds: measured.",
        }
        return item | {
            "text": "Predicted, and beneath, or behind the slash, measured.",
            "table": [table],
            "figure": [figure],
        }


DISTRIBUTION = "distribution"
"""The item that has the distribution of errors."""

NOT_UNDERSTOOD = "not understood"
_OTHERS = {
    "first": (
        "The predictions were made after a first comparison was seen, by a model that was changed for reasons in "
        "published sources; the fit never sees four and more nodes. First: predictions that were made before any "
        "comparison."
    ),
    "cycle": "Cycle: the same predictions with the rates of the cycle engine, by fits that use these rates too.",
}

_Run = tuple[int, int]
_Values = Mapping[tuple[int, int, int], float]
_Rows = Mapping[tuple[int, int, int], Row]


def _kind(row: Row) -> Kind:
    return row.machine, row.benchmark, row.library


def _slug(kind: Kind) -> str:
    return re.sub("[^a-z0-9]+", "-", "-".join(kind).lower())


def _point(point: Compared) -> list[float]:
    row = point.row
    return [row.nodes, row.bytes, row.value, point.predicted, 100 * point.error]


def _run_title(run: _Run) -> str:
    return f"{run[0]} nodes, {run[1]} ranks"


def _table_row(size: int, runs: Sequence[_Run], predicted: _Rows, measured: _Values) -> dict[str, Any]:
    values = [predicted[*run, size].value if (*run, size) in predicted else 0.0 for run in runs]
    beneath = [f"{measured[*run, size]:,.1f}" if (*run, size) in measured else "" for run in runs]
    return {"label": f"{size:,}", "over": values, "published": beneath, "decimals": 1}


def _series(run: _Run, sizes: Sequence[int], predicted: _Rows, measured: _Values) -> dict[str, Any]:
    both = [size for size in sizes if (*run, size) in predicted and (*run, size) in measured]
    return {
        "label": _run_title(run),
        "over": [[size, predicted[*run, size].value] for size in both],
        "x": "it[0]",
        "y": "it[1]",
        "published": [measured[*run, size] for size in both],
    }
