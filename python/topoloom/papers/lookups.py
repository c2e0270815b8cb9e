"""What formulas find: values in the results of a paper's studies."""

import json
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from statistics import fmean
from typing import Any

from topoloom._core import TopoloomError, unknown
from topoloom.papers.formulas import Value
from topoloom.simulation.replications import half_width
from topoloom.studies.points import StudyPoint
from topoloom.studies.results import Results
from topoloom.workload.options import WorkloadOptions

Row = Mapping[str, Any]

COLUMNS = ("study", "kind", "spec", "routing", "role", "traffic", "load", "seed")
"""What a lookup can ask for beside the engine's options."""

SAME_LOAD = 1e-9


class NotMeasuredError(TopoloomError):
    """A result that a formula needs is not there: its point was left out, failed, or was not run yet."""


def matches(about: Mapping[str, Any], options: Mapping[str, Any], conditions: Mapping[str, Value]) -> bool:
    """Return whether a point or a row meets all conditions; a list holds the values that are allowed.

    Args:
        about: Its :data:`COLUMNS`.
        options: Its options.
        conditions: The values of columns and options that it must have.

    >>> matches({"kind": "simulate", "load": 0.5}, {"vcs": 4}, {"load": [0.5, 0.6], "vcs": 4})
    True
    """
    for name, wanted in conditions.items():
        value = about.get(name) if name in COLUMNS else options.get(name, _DEFAULTS.get(name))
        if value not in (wanted if isinstance(wanted, list) else [wanted]):
            return False
    return True


_DEFAULTS = WorkloadOptions().model_dump(mode="json", by_alias=True)


class _Index:
    """Points or rows by the values of their columns: a lookup asks for few of thousands."""

    def __init__(self, all_columns: Iterable[Mapping[str, Any]]) -> None:
        self._places: dict[tuple[str, Any], list[int]] = {}
        self._count = 0
        for place, columns in enumerate(all_columns):
            self._count += 1
            for name in COLUMNS:
                self._places.setdefault((name, columns.get(name)), []).append(place)

    def candidates(self, conditions: Mapping[str, Value]) -> Sequence[int]:
        """Return, in order, the positions of those that meet the condition on a column that fewest meet; others may."""
        fewest: Sequence[int] = range(self._count)
        for name, wanted in conditions.items():
            values = wanted if isinstance(wanted, list) else [wanted]
            if name in COLUMNS and all(isinstance(value, Hashable) for value in values):
                found = {place for value in values for place in self._places.get((name, value), ())}
                fewest = min(fewest, sorted(found), key=len)
        return fewest


def check_conditions(conditions: Mapping[str, Value]) -> None:
    """Reject a condition on what is no column.

    Args:
        conditions: The conditions.

    Raises:
        TopoloomError: The first such condition, with the nearest name.

    >>> check_conditions({"load": 0.5, "vcs": 4})
    """
    known = [*COLUMNS, *WorkloadOptions.model_fields]
    for name in conditions:
        if name not in known:
            raise TopoloomError(unknown("condition", name, known))


@dataclass
class ResultLookup:
    """The results that one item may use.

    Attributes:
        rows: The rows of its points that have a result, each with its ``study``.
        points: All points that its studies ask for, each with its study.
        used: Rows that formulas have used since this was emptied, by their keys.

    >>> from topoloom.studies import parquet
    >>> point = StudyPoint("facts", "mesh:2x2")
    >>> row = parquet.row(point.key, point.to_json(), '{"diameter": 2}', {}) | {"study": "own"}
    >>> found = ResultLookup([row], [("own", point)])
    >>> found.call("value", ["diameter"], {"spec": "mesh:2x2"}), len(found.used)
    (2, 1)
    >>> len(found.where({"study": "own"}).rows)
    1
    """

    rows: Sequence[Row]
    points: Sequence[tuple[str, StudyPoint]]
    used: dict[str, Row] = field(default_factory=dict)
    _read: dict[str, tuple[dict[str, Any], dict[str, Any]]] = field(default_factory=dict)

    def _options_and_result(self, row: Row) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the options and the result of a row, read once."""
        if row["key"] not in self._read:
            self._read[row["key"]] = (json.loads(row["options"]), json.loads(row["result"]))
        return self._read[row["key"]]

    def call(self, name: str, arguments: list[Value], conditions: dict[str, Value]) -> Value:
        """Return what a lookup of a formula finds; see :meth:`topoloom.papers.formulas.Lookups.call`.

        Args:
            name: The lookup, one of :data:`topoloom.papers.formulas.LOOKUPS`.
            arguments: Its arguments: the name of a field; a load first where the lookup is ``at``.
            conditions: The values of columns and options that points must have.

        Raises:
            NotMeasuredError: A point that has no result.
            TopoloomError: Wrong arguments, an unknown condition, several points where one value is asked for, or a
                field that no result has.
        """
        check_conditions(conditions)
        wanted = 2 if name == "at" else 1
        if len(arguments) != wanted:
            raise TopoloomError(f"{name} takes {'a load and ' if name == 'at' else ''}the name of a field")
        field_name = str(arguments[-1])
        load = float(arguments[0]) if name == "at" else None
        groups = self._groups(field_name, load, conditions)
        if name == "values":
            return [_mean(values) for values in groups]
        if len(groups) > 1:
            raise TopoloomError(
                f"{name}('{field_name}') finds results of {len(groups)} different points; give more conditions"
            )
        return _half_width(groups[0], field_name) if name == "interval" else _mean(groups[0])

    def where(self, conditions: Mapping[str, Value]) -> Results:
        """Return the results that meet conditions, for curves.

        Args:
            conditions: The values of columns and options that points must have.

        Raises:
            TopoloomError: An unknown condition.
        """
        check_conditions(conditions)
        rows = self._matching(conditions)
        self.used.update((row["key"], row) for row in rows)
        return Results(rows)

    @cached_property
    def _index(self) -> _Index:
        return _Index(self.rows)

    def _matching(self, conditions: Mapping[str, Value]) -> list[Row]:
        """Return the rows that meet conditions."""
        rows = [self.rows[place] for place in self._index.candidates(conditions)]
        return [row for row in rows if matches(row, self._options_and_result(row)[0], conditions)]

    def _groups(self, name: str, load: float | None, conditions: dict[str, Value]) -> list[list[Value]]:
        """Return the values of a field, those of points that differ in their seed alone together."""
        groups: dict[str, list[Value]] = {}
        for row in self._matching(conditions):
            _, result = self._options_and_result(row)
            value = _reach(result, name) if load is None else _at(result, load, name)
            if value is None:
                continue
            self.used[row["key"]] = row
            groups.setdefault(_but_for_seed(row), []).append(value)
        if not groups:
            self._explain(name, conditions)
        return list(groups.values())

    def _explain(self, name: str, conditions: dict[str, Value]) -> None:
        """State why nothing was found.

        Raises:
            NotMeasuredError: A point that has no result.
            TopoloomError: Nothing was asked of the kind.
        """
        told = ", ".join(f"{key}={value}" for key, value in conditions.items())
        asked = [point for study, point in self.points if matches(about(study, point), point.options, conditions)]
        done = {row["key"] for row in self.rows}
        if not asked or any(done.isdisjoint(point.keys) for point in asked):
            raise NotMeasuredError(f"no result of {told or 'any point'}")
        raise TopoloomError(f"no result of {told or 'any point'} has a '{name}'")


@dataclass
class PointLookup:
    """The lookups of formulas before there is any result: they reject what no study asks for, and what is ambiguous.

    Attributes:
        points: All points that the item's studies ask for, each with its study.

    >>> PointLookup([("own", StudyPoint("facts", "mesh:2x2"))]).call("value", ["diameter"], {"spec": "mesh:2x2"})
    1.0
    """

    points: Sequence[tuple[str, StudyPoint]]

    @cached_property
    def _abouts(self) -> list[dict[str, Any]]:
        return [about(study, point) for study, point in self.points]

    @cached_property
    def _index(self) -> _Index:
        return _Index(self._abouts)

    def call(self, name: str, arguments: list[Value], conditions: dict[str, Value]) -> Value:
        """Return 1 in the place of each value.

        Args:
            name: The lookup, one of :data:`topoloom.papers.formulas.LOOKUPS`.
            arguments: Its arguments: the name of a field; a load first where the lookup is ``at``.
            conditions: The values of columns and options that points must have.

        Raises:
            TopoloomError: No point meets the conditions, or several do where one value is looked up: points of one
                kind that differ in more than their seed (a curve's load aside, which ``at`` chooses).
        """
        check_conditions(conditions)
        asked = [
            point
            for place in self._index.candidates(conditions)
            if matches(self._abouts[place], (point := self.points[place][1]).options, conditions)
        ]
        told = ", ".join(f"{key}={value}" for key, value in conditions.items())
        if not asked:
            raise TopoloomError(f"{name}({arguments}): no study that it needs asks for {told}")
        if name == "values":
            return [1.0]
        differing: dict[str, set[str]] = {}
        for point in asked:
            differing.setdefault(point.kind, set()).add(_settings_but_for_seed(point, with_load=name != "at"))
        kind, most = max(differing.items(), key=lambda one: len(one[1]))
        if len(most) > 1:
            met = told or "no condition"
            raise TopoloomError(
                f"{name}({arguments}): {len(most)} points of kind {kind} meet {met}; give more conditions"
            )
        return 1.0


def _settings_but_for_seed(point: StudyPoint, *, with_load: bool) -> str:
    """Return all that distinguishes a point from others of its kind, its seed aside."""
    options = {name: own for name, own in point.options.items() if name != "seed"}
    load = point.load if with_load else None
    return json.dumps([*point.names, load, dict(point.settings) | {"options": options}], sort_keys=True)


def _but_for_seed(row: Row) -> str:
    """Return all that distinguishes a point from others, its seed aside."""
    settings = json.loads(row["settings"])
    settings["options"] = {name: own for name, own in settings.get("options", {}).items() if name != "seed"}
    same = [row[column] for column in ("kind", "spec", "routing", "traffic", "load")]
    return json.dumps([same, settings], sort_keys=True)


def about(study: str, point: StudyPoint) -> dict[str, Any]:
    """Return :data:`COLUMNS` of a point.

    Args:
        study: The study that asks for it, unchecked.
        point: The point.

    >>> about("own", StudyPoint("facts", "mesh:2x2"))["spec"]
    'mesh:2x2'
    """
    return {"study": study, **point.named}


def _reach(result: Value, name: str) -> Value:
    """Return the field `name` of a result; ``survivable.fraction`` is a field within a field, ``points.0`` an item."""
    for part in name.split("."):
        if isinstance(result, dict):
            result = result.get(part)
        elif isinstance(result, list) and part.isdecimal() and int(part) < len(result):
            result = result[int(part)]
        else:
            return None
    return result


def _at(result: Mapping[str, Any], load: float, name: str) -> Value:
    """Return the field `name` of a curve at a load: of its point there, else on the line between its neighbours."""
    points = sorted(
        (point["offered"], value)
        for point in result.get("points", [result])
        if "offered" in point and (value := _reach(point, name)) is not None
    )
    for offered, value in points:
        if abs(offered - load) < SAME_LOAD:
            return value
    for (low, first), (high, last) in pairwise(points):
        if low < load < high:
            return first + (last - first) * (load - low) / (high - low)
    return None


def _mean(values: list[Value]) -> Value:
    if len(values) == 1 or not all(isinstance(value, (int, float)) for value in values):
        return values[0]
    return fmean(values)


def _half_width(values: list[Value], name: str) -> float:
    found = half_width([float(value) for value in values])
    if found is None:
        raise TopoloomError(f"interval('{name}') needs several seeds; there is one")
    return found
