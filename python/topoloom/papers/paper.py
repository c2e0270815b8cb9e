"""A paper as a folder of data: study files, published values, and what to make of the results.

The folder holds ``paper.toml``, the study files that it names, and ``published.csv``; see docs/reproduce.md.
"""

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from topoloom._core import TopoloomError, unknown
from topoloom.files import read_text
from topoloom.hardware import comparison as compared
from topoloom.papers.formulas import Formula
from topoloom.studies.mistakes import parse_toml
from topoloom.studies.toml_lines import as_toml, line_of, places

FILE, PUBLISHED, RESULTS = "paper.toml", "published.csv", "results.json"

SINGLE = "measured"
"""What formulas call the value of a claim that measures one thing only."""

MUTATIONS = ("halved", "doubled", "exchanged")
"""What :mod:`topoloom.papers.mutations` does to measured values."""

Verdict = Literal["reproduced", "close", "not-reproduced", "erratum", "not-testable"]

VERDICTS: tuple[Verdict, ...] = ("reproduced", "close", "not-reproduced", "erratum", "not-testable")

Whose = Literal["paper", "ours", "constant"]

WHOSE: tuple[Whose, ...] = ("paper", "ours", "constant")
"""Statements of the paper, statements of ours beside them, and arithmetic that no measurement can change."""

_NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?(?:[eE][+-]?\d+)?|-?\.\d+")
_PERCENT = re.compile(r"\s*(\d+(?:\.\d+)?)\s*%\s*")


def folder() -> Path:
    """Return the folder that holds the papers, one folder each.

    >>> (folder() / "flex" / FILE).is_file()
    True
    """
    return Path(__file__).parent / "data"


def names() -> list[str]:
    """Return the names of the papers.

    >>> "flex" in names()
    True
    """
    return sorted(path.parent.name for path in folder().glob(f"*/{FILE}"))


def numbers(text: str) -> list[float]:
    """Return the numbers in a text.

    Args:
        text: The text, unchecked; commas separate thousands.

    >>> numbers("1,056/264/15"), numbers("20.28%")
    ([1056.0, 264.0, 15.0], [20.28])
    """
    return [float(number.replace(",", "")) for number in _NUMBER.findall(text)]


def _formula(text: object) -> object:
    return Formula.parse(str(text)) if isinstance(text, (str, int, float)) else text


def _named(value: object) -> object:
    return {name: _formula(text) for name, text in value.items()} if isinstance(value, dict) else _formula(value)


def _listed(value: object) -> object:
    return value if isinstance(value, list) else [value]


def _texts(value: object) -> object:
    """Return numbers of a list as they are written."""
    return [f"{one:g}" if isinstance(one, float) else str(one) for one in value] if isinstance(value, list) else value


OneFormula = Annotated[Formula, BeforeValidator(_formula)]
Formulas = Annotated[Formula | dict[str, Formula], BeforeValidator(_named)]
Texts = Annotated[list[str], BeforeValidator(_texts)]


def _tolerance(value: float | str) -> float | str:
    if isinstance(value, str) and not _PERCENT.fullmatch(value):
        raise ValueError(f"is '{value}'; it must be a number, or a part of the published value such as '5 %'")
    return value


Tolerance = Annotated[float | str, AfterValidator(_tolerance)]


def margin(tolerance: float | str, target: float) -> float:
    """Return the largest difference from a target that a tolerance allows, a number in the target's unit.

    Args:
        tolerance: The difference itself, or a text such as ``5%``: a part of the target.
        target: The number aimed at.

    Raises:
        ValueError: A tolerance that is no number.

    >>> margin("5%", 200.0), margin(2, 200.0)
    (10.0, 2.0)
    """
    found = _PERCENT.fullmatch(tolerance) if isinstance(tolerance, str) else None
    return float(found[1]) / 100 * abs(target) if found else float(tolerance)


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=True, frozen=True)


class PaperStudy(_Part):
    """One of the paper's studies."""

    file: str = Field(description="The study file, in the paper's folder.")
    quick: dict[str, Any] | Literal[False] = Field(
        default={}, description="Keys of sweeps with which --quick replaces the study's; false leaves it out."
    )
    seconds: float = Field(default=0, ge=0, description="About how long all of it takes one processor.")
    quick_seconds: float = Field(default=0, ge=0, description="How long it takes with --quick.")


class Need(_Part):
    """The points that an item needs: all of a study, or those that meet conditions.

    Attributes:
        study: The name of the study.
        where: The values of columns and options that points must have.
    """

    study: str
    where: dict[str, Any] = {}

    @model_validator(mode="before")
    @classmethod
    def _reads(cls, value: Any) -> Any:
        if isinstance(value, str):
            return {"study": value}
        if isinstance(value, dict) and "where" not in value:
            return {"study": value.get("study"), "where": {key: own for key, own in value.items() if key != "study"}}
        return value


class Claim(_Part):
    """What the paper states, how it is measured, and when it counts as reproduced."""

    id: str = Field(default="", description="The name of the claim: that of a row of published.csv, if there is one.")
    ids: dict[str, Any] = Field(default={}, description="Several claims alike: the id of each, and its `it`.")
    says: str = Field(default="", description="What is claimed; that of the row unless given.")
    published: str = Field(default="", description="What the paper has; that of the row unless given.")
    measured: Formulas | None = Field(default=None, description="The value, or several by name.")
    target: OneFormula | None = Field(default=None, description="The value that the measured one is compared with.")
    within: Tolerance | None = Field(default=None, description="Reproduced if no further off than this.")
    close: Tolerance | None = Field(default=None, description="Close if no further off than this.")
    holds: OneFormula | None = Field(default=None, description="Reproduced if this is true.")
    nearly: OneFormula | None = Field(default=None, description="Close if this is true and `holds` is not.")
    verdict: Literal["erratum", "not-testable"] | None = Field(
        default=None, description="An erratum if `holds` is true, which states what is right; or not testable at all."
    )
    note: str = Field(default="", description="Further remarks; how the row was recomputed unless given.")
    unit: str = Field(default="", description="The unit of the measured values.")
    whose: Whose = Field(default="paper", description="Whose statement it is; the paper's alone are counted as such.")
    reading: str = Field(default="", description="The reading of the paper under which the verdict stands.")
    unmoved: dict[str, str] = Field(
        default={}, description="Why a mutation, or any of a measured value, leaves the verdict as it is."
    )

    @model_validator(mode="after")
    def _means_something(self) -> "Claim":
        name = self.id or next(iter(self.ids), "")
        if bool(self.id) == bool(self.ids):
            raise ValueError("a claim has an id, or ids of several")
        if self.verdict is None and (self.holds is None) == (self.within is None):
            raise ValueError(f"{name}: give within, for a number, or holds, for what must be true")
        if self.within is not None and self.measured is None:
            raise ValueError(f"{name}: within compares what is measured; give measured")
        if self.verdict == "erratum" and self.holds is None:
            raise ValueError(f"{name}: an erratum holds what is right; give holds")
        if (self.nearly is not None and self.holds is None) or (self.close is not None and self.within is None):
            raise ValueError(f"{name}: nearly goes with holds, close with within")
        known = [*MUTATIONS, *(self.measured if isinstance(self.measured, dict) else [SINGLE])]
        if mistaken := next((one for one in self.unmoved if one not in known), None):
            raise ValueError(f"{name}: {unknown('mutation or measured value', mistaken, known)}")
        return self


class TableRow(_Part):
    """A row of a table.

    Attributes:
        label: Its label, in the first column.
    """

    label: str
    measured: OneFormula | None = Field(default=None, description="The formula of its cells; the table's unless given.")
    over: list[Any] = Field(default=[], description="The `it` of each cell; those of the table unless given.")
    published: Texts = Field(default=[], description="What the paper has in each cell.")
    decimals: int = Field(default=0, description="Decimals of what is measured.")


class Table(_Part):
    """A table: measured values with the published ones beneath.

    Attributes:
        title: Its title.
        columns: The titles of its columns.
        measured: The formula of its cells, where a row has none of its own.
        row: Its rows.
    """

    title: str = ""
    head: str = Field(default="", description="What stands over the labels of the rows.")
    columns: list[str]
    over: list[Any] = Field(default=[], description="The `it` of each column.")
    measured: OneFormula | None = None
    row: list[TableRow] = Field(min_length=1)

    @model_validator(mode="after")
    def _fits(self) -> "Table":
        for row in self.row:
            over = row.over or self.over
            if len(over) != len(self.columns) or (row.published and len(row.published) != len(self.columns)):
                raise ValueError(f"the row '{row.label}' must have one cell for each of {len(self.columns)} columns")
            if row.measured is None and self.measured is None:
                raise ValueError(f"the row '{row.label}' has no formula; give measured, there or for the table")
        return self


class Series(_Part):
    """A line or a set of bars.

    Attributes:
        label: Its label in the legend.
        y: The formula of its values.
    """

    label: str
    y: OneFormula
    x: OneFormula | None = Field(default=None, description="Where each point stands; `it` itself unless given.")
    over: list[Any] = Field(default=[], description="The `it` of each point; that of the figure unless given.")
    published: list[float] = Field(default=[], description="The values that the paper prints of it.")
    colour: int | None = Field(default=None, ge=0, description="Its colour; its place in the list unless given.")


class Figure(_Part):
    """A chart.

    Attributes:
        title: Its title.
        kind: The kind of chart.
        series: Its lines or bars.
        xaxis: The title of the horizontal axis.
        yaxis: The title of the vertical axis.
        note: A sentence below it.
    """

    title: str = ""
    kind: Literal["latency", "throughput", "lines", "bars"]
    where: dict[str, Any] = Field(default={}, description="Latency, throughput: which curves, by columns of results.")
    colour: Literal["spec", "routing"] = Field(default="spec", description="What distinguishes curves by colour.")
    over: list[Any] = Field(default=[], description="Lines, bars: the `it` of each point.")
    labels: list[str] = Field(default=[], description="Bars: the names on the axis, one for each of `over`.")
    series: list[Series] = []
    xaxis: str = ""
    yaxis: str = ""
    logarithmic: bool = Field(default=False, description="Whether both axes are logarithmic.")
    note: str = ""

    @model_validator(mode="after")
    def _fits(self) -> "Figure":
        if self.kind in ("lines", "bars") and not self.series:
            raise ValueError(f"a figure of kind {self.kind} has one series at least")
        if self.kind in ("latency", "throughput") and self.series:
            raise ValueError(f"a figure of kind {self.kind} has no series; where chooses its curves")
        return self


class Item(_Part):
    """A table, a figure, or a part of the text.

    Attributes:
        id: Its id: lower-case letters, digits and dashes.
        title: Its title.
        text: What the page shows above its tables.
        needs: The points that it needs.
        table: Its tables.
        figure: Its figures.
        claim: Its claims.
    """

    id: str = Field(pattern=r"^[a-z0-9][a-z0-9-]*$")
    title: str
    text: str = ""
    needs: Annotated[list[Need], BeforeValidator(_listed)] = []
    table: list[Table] = []
    figure: list[Figure] = []
    claim: list[Claim] = []


class Comparison(_Part):
    """Measurements and predictions of machines, of which items and names are made."""

    measured: str = Field(description="The CSV file of measurements.")
    predicted: str = Field(description="The CSV file of predictions.")
    first: str | None = Field(
        default=None, description="The CSV file of predictions before any comparison, if the others came after one."
    )
    cycle: str | None = Field(
        default=None,
        description="The CSV file of the same predictions with rates of the cycle engine, if there are some.",
    )
    reasons: str = Field(description="The TOML file with the reasons of points that are far off.")


class Paper(_Part):
    """A paper; see docs/reproduce.md for every key.

    Attributes:
        title: Its title.
        citation: Its reference, as the page shows it.
        about: What it is about.
        study: Its studies, by name.
        item: Its tables, figures and parts of the text.

    >>> paper = Paper.named("hardware")
    >>> Paper.read(paper.folder).name
    'hardware'
    >>> [id for id, claim, it in paper.claims(paper.item[0])][0]
    'median-from-32-kib'
    """

    title: str
    citation: str
    about: str = ""
    settings: list[str] = Field(default=[], description="How the reproduction is set up, a sentence each.")
    names: dict[str, Any] = Field(default={}, description="Names that formulas can use, such as a list of patterns.")
    quick_names: dict[str, Any] = Field(default={}, description="What some of them are instead with --quick.")
    networks: dict[str, str] = Field(default={}, description="What networks are called, by spec.")
    routings: dict[str, str] = Field(default={}, description="What routings are called, by name.")
    study: dict[str, PaperStudy] = {}
    comparison: Comparison | None = Field(
        default=None,
        description="Measured and predicted values: errors are behind the first item, benchmarks behind the last.",
    )
    item: list[Item] = Field(min_length=1)

    _folder: Path = Path()

    @property
    def name(self) -> str:
        """The paper's name, which is that of its folder."""
        return self._folder.name

    @property
    def folder(self) -> Path:
        """The folder of its data."""
        return self._folder

    @cached_property
    def rows(self) -> dict[str, dict[str, str]]:
        """The rows of ``published.csv`` by their ids; none if there is no such file."""
        path = self._folder / PUBLISHED
        if not path.is_file():
            return {}
        with path.open(newline="", encoding="utf-8-sig") as file:
            return {row["id"]: row for row in csv.DictReader(file)}

    @classmethod
    def named(cls, name: str) -> "Paper":
        """Return the paper of a name.

        Args:
            name: A name of :func:`names`.

        Raises:
            TopoloomError: An unknown name, or a mistake in the paper's data.
        """
        if name not in names():
            raise TopoloomError(unknown("paper", name, names()))
        return cls.read(folder() / name)

    @classmethod
    def read(cls, path: Path) -> "Paper":
        """Read the paper in a folder.

        Args:
            path: The folder.

        Raises:
            TopoloomError: A mistake in it, with the line.
        """
        file = path / FILE
        if not file.exists():
            raise TopoloomError(f"{path} is no paper's folder: it has no {FILE}")
        text = read_text(file)
        values = parse_toml(str(file), text)
        try:
            paper = cls.model_validate(values)
        except ValidationError as error:
            raise TopoloomError(_mistake(error, text, str(file))) from None
        if paper.comparison is not None:
            own = compared.Comparison(path, **paper.comparison.model_dump())
            errors, benchmarks = (
                [Item.model_validate(item) for item in items] for items in (own.errors(), own.benchmarks())
            )
            items = paper.item[:1] + errors + paper.item[1:] + benchmarks
            paper = paper.model_copy(update={"names": paper.names | own.names(), "item": items})
        paper._folder = path.resolve()
        _check(paper, str(file))
        return paper

    def claims(self, item: Item) -> Iterator[tuple[str, Claim, Any]]:
        """Yield the claims of an item, each with its id and its `it`.

        Args:
            item: An item of this paper.
        """
        for claim in item.claim:
            for name, it in (claim.ids or {claim.id: None}).items():
                yield name, claim, it


def _mistake(error: ValidationError, text: str, name: str) -> str:
    """Return the first mistake of a paper as one sentence with its line."""
    found = error.errors(include_url=False)
    # A misspelt name is reported rather than that the intended one is missing.
    first = next((one for one in found if one["type"] == "extra_forbidden"), found[0])
    path = first["loc"]
    line = line_of(places(text), path)
    where = f"{name}, line {line}" if line else name
    cause = first.get("ctx", {}).get("error")
    key = next((str(part) for part in reversed(path) if isinstance(part, str)), "")
    if first["type"] == "extra_forbidden":
        return f"{where}: {unknown('key', str(path[-1]), _keys(path[:-1]))}"
    if first["type"] == "missing":
        return f"{where}: the key '{path[-1]}' is missing"
    if cause is not None:
        return f"{where}: {key + ' ' if str(cause).startswith('is ') else ''}{cause}"
    return f"{where}: {key} is {as_toml(first['input'])}; {first['msg'].replace('Input should be', 'it must be')}"


_MODELS: Mapping[str, type[_Part]] = {
    "item": Item, "claim": Claim, "table": Table, "row": TableRow, "figure": Figure, "series": Series,
    "study": PaperStudy, "needs": Need,
}  # fmt: skip


def _keys(path: Sequence[str | int]) -> list[str]:
    """Return the keys that a table at `path` can have."""
    last = next((part for part in reversed(path) if part in _MODELS), None)
    return list((_MODELS[str(last)] if last else Paper).model_fields)


def _check(paper: Paper, name: str) -> None:
    """Check what one part of a paper states about another.

    Raises:
        TopoloomError: A study that there is not, or an id that is given twice.
    """
    items = [item.id for item in paper.item]
    claims = [claim for item in paper.item for claim, _, _ in paper.claims(item)]
    for what, ids in (("item", items), ("claim", claims)):
        if twice := next((one for one in ids if ids.count(one) > 1), None):
            raise TopoloomError(f"{name}: the {what} {twice} is given twice")
    for item in paper.item:
        for need in item.needs:
            if need.study not in paper.study:
                raise TopoloomError(f"{name}: {item.id}: {unknown('study', need.study, list(paper.study))}")
        for one, claim, _ in paper.claims(item):
            if one not in paper.rows and not (claim.says and claim.published):
                raise TopoloomError(
                    f"{name}: the claim {one} is no row of {PUBLISHED}; give its statement and its published value"
                )
