"""What a store holds: filtered, as data frames, in files, beside another store."""

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from topoloom._core import TopoloomError, unknown
from topoloom.engine.results import SaturationBound
from topoloom.files import PARQUET, ROWS, replacing, write_file
from topoloom.libraries import require
from topoloom.plotting import Measure, plot
from topoloom.simulation.curves import Curve
from topoloom.simulation.options import CYCLE_NS, EngineOptions
from topoloom.simulation.points import Point, Units
from topoloom.simulation.replications import merged
from topoloom.studies import parquet
from topoloom.studies.ledger import Ledger
from topoloom.studies.measurements import MEASUREMENTS
from topoloom.studies.superseded import split
from topoloom.wording import counted

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

Row = Mapping[str, Any]

TIMES = ("wall_s", "cpu_s", "peak_rss_bytes", "finished", "host", "version", "role", "result", "options", "settings")
"""Columns in which two runs of one point may differ."""

IDENTIFYING = ("spec", "routing", "traffic", "load", "seed")
"""Columns that a table for people begins with, where they hold anything."""

CURVES = ("simulate", "saturation", "curve")
"""Kinds of points that make latency-load curves."""

_RELATIONS: dict[str, Callable[[Any, Any], bool]] = {
    "<=": lambda value, wanted: value <= wanted,
    ">=": lambda value, wanted: value >= wanted,
    "!=": lambda value, wanted: value != wanted,
    "=": lambda value, wanted: value == wanted,
    "<": lambda value, wanted: value < wanted,
    ">": lambda value, wanted: value > wanted,
}


@dataclass(frozen=True)
class Results:
    """Results, one row per point.

    Attributes:
        rows: The rows, as :func:`topoloom.studies.parquet.row` makes them, in the order in which they were done.
        notes: Sentences on what is left out, and on what of the store is damaged.

    >>> import tempfile
    >>> from topoloom import Study, Sweep
    >>> short = {"warmup": 10, "measure": 100}
    >>> study = Study(name="small", sweep=[Sweep(networks=["mesh:2x2"], loads=[0.1, 0.2], options=short)])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     results = study.run(f"{folder}/small.store")
    ...     results.write(f"{folder}/rows.csv")
    ...     Results.load(f"{folder}/small.store").differences(results).changed
    []
    >>> [row["load"] for row in results.ordered().rows], list(results.by_kind()), results.columns()[:2]
    ([0.1, 0.2], ['simulate'], ['key', 'kind'])
    >>> [row["load"] for row in results.where("load>0.1").rows], len(results.of([results.rows[0]["key"]]).rows)
    ([0.2], 1)
    >>> [curve.spec for curve in results.curves()], results.curves_with_options()[0][1]["measure"]
    (['mesh:2x2'], 100)
    >>> len(results.frame()), results.with_options()[0]["options.measure"], results.plot("accepted").data[-1].x
    (2, 100, (0.1, 0.2))
    """

    rows: Sequence[Row]
    notes: Sequence[str] = ()

    @classmethod
    def load(cls, store: str | Path, *, superseded: bool = False) -> "Results":
        """Read the results of a store.

        Args:
            store: The folder of the store.
            superseded: Also return results of former contents of files that have changed since.

        Raises:
            TopoloomError: A folder that is no store.
        """
        with Ledger(Path(store), create=False) as ledger:
            rows, contents = ledger.rows(), ledger.contents()
            notes = list(ledger.notes)
        if superseded:
            return cls(rows, notes)
        newest, former = split(rows, contents)
        if former:
            paths = sorted({path for row in former for path in parquet.point_of(row).files})
            notes.append(
                f"left out: {counted(len(former), 'result')} of former contents of {', '.join(paths)}; "
                "--superseded shows all"
            )
        return cls(newest, notes)

    def __len__(self) -> int:
        return len(self.rows)

    def of(self, keys: Iterable[str]) -> "Results":
        """Return the results of some points, in the given order; points without a result are left out.

        Args:
            keys: The keys of the points.
        """
        rows = {row["key"]: row for row in self.rows}
        return Results([rows[key] for key in keys if key in rows], self.notes)

    def ordered(self) -> "Results":
        """Return the rows in an order for people: by network, routing and so on, and ascending load and seed."""

        def place(row: Row) -> tuple[Any, ...]:
            names = (str(row[name]) for name in ("kind", "spec", "routing", "traffic"))
            options = {name: value for name, value in json.loads(row["options"]).items() if name != "seed"}
            return (*names, json.dumps(options), row["seed"] or 0, row["load"] or 0.0, row["model_version"] or 0)

        return Results(sorted(self.rows, key=place))

    def where(self, *conditions: str, **equal: Any) -> "Results":
        """Return the rows that meet all conditions.

        Args:
            *conditions: Texts such as ``routing=min`` or ``load<=0.5``; columns have their names in the store.
            **equal: Columns with their required value.

        Raises:
            TopoloomError: A condition that cannot be read, or a column that no row has.
        """
        columns = [*self.columns(), *(f"options.{name}" for name in EngineOptions.model_fields)]
        tests = [_condition(text, columns) for text in conditions]
        tests += [_test(column, "=", value, columns) for column, value in equal.items()]
        return Results([row for row in self.rows if all(test(row) for test in tests)])

    def curves(self) -> list[Curve]:
        """Return the latency-load curves, one for each network, routing, traffic and set of options.

        Points of several seeds become one, with the interval that their scatter gives.
        """
        return [curve for curve, _ in self.curves_with_options()]

    def curves_with_options(self) -> list[tuple[Curve, dict[str, Any]]]:
        """Return the curves as :meth:`curves` does, each with its options of the engine, including the first seed."""
        curves: dict[tuple[str, ...], Curve] = {}
        first: dict[tuple[str, ...], dict[str, Any]] = {}
        points: dict[tuple[str, ...], dict[float, list[Point]]] = {}
        for row in self.rows:
            if row["kind"] not in CURVES:
                continue
            options = json.loads(row["options"])
            told = json.dumps({key: value for key, value in options.items() if key != "seed"}, sort_keys=True)
            name = tuple(map(str, (row["spec"], row["routing"], row["traffic"], told)))
            first.setdefault(name, options)
            result = json.loads(row["result"])
            curve = curves.setdefault(name, _curve(row, result))
            for values in result.get("points", [result]):
                point = Point.model_validate({key: value for key, value in values.items() if key != "config"})
                points.setdefault(name, {}).setdefault(point.offered, []).append(point)
            curve.finished |= row["kind"] != "simulate"
        for name, curve in curves.items():
            curve.points = {load: merged(same) for load, same in points[name].items()}
        return [(curve, first[name]) for name, curve in curves.items()]

    def plot(self, measure: Measure = "latency") -> "go.Figure":
        """Return a chart of all curves; see :func:`topoloom.plot`.

        Args:
            measure: ``latency``, ``accepted``, ``p99`` or ``hops``.

        Raises:
            TopoloomError: The extra with Plotly is missing.
        """
        return plot(self.curves(), measure)

    def _repr_html_(self) -> str:
        columns = [name for name in self.frame().columns if name not in ("key", "host", "finished")]
        table: str = self.frame()[columns].to_html(float_format="{:.4g}".format, max_rows=20)
        return table

    def columns(self) -> list[str]:
        """Return the names of all columns."""
        return list(dict.fromkeys([*parquet.FIXED, *(name for row in self.rows for name in row)]))

    def by_kind(self) -> dict[str, "Results"]:
        """Return the results of each kind of point, in the order in which kinds are listed."""
        kinds = [kind for kind in MEASUREMENTS if any(row["kind"] == kind for row in self.rows)]
        return {kind: Results([row for row in self.rows if row["kind"] == kind]) for kind in kinds}

    def with_options(self) -> list[dict[str, Any]]:
        """Return the rows with the options that any of them sets as columns named ``options.NAME``."""
        own = [json.loads(row["options"]) for row in self.rows]
        names = dict.fromkeys(name for options in own for name in options)
        return [
            dict(row) | {f"options.{name}": _option(row, options, name) for name in names}
            for row, options in zip(self.rows, own, strict=True)
        ]

    def frame(self) -> "pd.DataFrame":
        """Return a data frame, one row per point; options are columns named ``options.NAME``."""
        require("pandas")
        import pandas as pd  # noqa: PLC0415 - loads slowly

        return pd.DataFrame(self.with_options()).drop(columns=["options", "settings", "result"], errors="ignore")

    def write(self, path: str | Path, *, force: bool = False) -> None:
        """Write the rows to a ``.csv`` or ``.parquet`` file.

        Args:
            path: The file.
            force: Overwrite a file of another kind.

        Raises:
            TopoloomError: Another ending; a file of another kind exists, and `force` is not given; a study, or a
                store's file; a place that cannot be written to.
        """
        path = Path(path)
        if path.suffix == ".parquet":
            require("pyarrow")
            import pyarrow.parquet as pq  # noqa: PLC0415 - loads slowly

            with replacing(path, PARQUET, force=force) as file:
                pq.write_table(parquet.table(self.rows), file, compression="zstd")
        elif path.suffix == ".csv":
            write_file(path, self.frame().to_csv(index=False), ROWS, force=force)
        else:
            raise TopoloomError(f"{path} ends in '{path.suffix}'; results are written to .csv or .parquet")

    def differences(self, other: "Results") -> "Differences":
        """Compare with the results of another store, point by point.

        Args:
            other: The results of the other store.
        """
        mine = {row["key"]: row for row in self.rows}
        theirs = {row["key"]: row for row in other.rows}
        changed = {
            key: different for key in mine.keys() & theirs.keys() if (different := _different(mine[key], theirs[key]))
        }
        return Differences(
            only_here=[mine[key] for key in mine if key not in theirs],
            only_there=[theirs[key] for key in theirs if key not in mine],
            equal=len(mine.keys() & theirs.keys()) - len(changed),
            changed=[(mine[key], theirs[key], changed[key]) for key in mine if key in changed],
        )


@dataclass(frozen=True)
class Differences:
    """How two stores differ.

    Attributes:
        only_here: Rows of the first store alone.
        only_there: Rows of the second store alone.
        equal: The number of points with the same result in both, times aside.
        changed: Rows with different results, and the columns in which they differ.
    """

    only_here: list[Row]
    only_there: list[Row]
    equal: int
    changed: list[tuple[Row, Row, list[str]]]


def _curve(row: Row, result: Mapping[str, Any]) -> Curve:
    return Curve(
        spec=row["spec"],
        routing=row["routing"],
        role=row["role"] or row["routing"],
        traffic=row["traffic"],
        config=result["config"],
        bound=_bound(result),
        units=Units(CYCLE_NS.get(result["config"]["model"])),
    )


def _bound(result: Mapping[str, Any]) -> SaturationBound | None:
    if result.get("saturation_bound") is None:
        return None
    return SaturationBound({key: result[key] for key in ("saturation_bound", "saturation_bound_is")})


def _different(a: Row, b: Row) -> list[str]:
    return [name for name in a.keys() | b.keys() if name not in TIMES and not _same(a.get(name), b.get(name))]


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, float) and isinstance(b, float):
        return a == b or (math.isnan(a) and math.isnan(b))
    return bool(a == b)


def _option(row: Row, options: Mapping[str, Any], name: str) -> Any:
    """Return an option of a row: its own, or the one that the engine ran with; None where the kind takes none."""
    if name in options or not MEASUREMENTS[row["kind"]].simulates:
        return options.get(name)
    default = _DEFAULTS.get(name)
    return json.loads(row["result"])["config"].get(name) if default is None else default


_DEFAULTS = EngineOptions().model_dump(mode="json", by_alias=True)


def _condition(text: str, columns: Sequence[str]) -> Callable[[Row], bool]:
    for relation in _RELATIONS:
        column, found, value = text.partition(relation)
        if found:
            return _test(column.strip(), relation, value.strip(), columns)
    raise TopoloomError(f"'{text}' is no condition; write it like routing=min or load<=0.5")


def _test(column: str, relation: str, wanted: Any, columns: Sequence[str]) -> Callable[[Row], bool]:
    if column not in columns:
        raise TopoloomError(unknown("column", column, columns))
    holds = _RELATIONS[relation]

    def test(row: Row) -> bool:
        name = column.removeprefix("options.")
        value = row.get(column) if name == column else _option(row, json.loads(row["options"]), name)
        if value is None:
            return False
        try:
            return holds(value, _like(value, wanted))
        except ValueError:
            raise TopoloomError(f"{column} holds numbers, and '{wanted}' is none") from None

    return test


def _like(value: Any, wanted: Any) -> Any:
    """Return `wanted`, which may be a text that someone typed, as the type of `value`."""
    if isinstance(value, bool):
        return str(wanted).lower() == "true"
    if isinstance(value, (int, float)):
        return float(wanted)
    return str(wanted)
