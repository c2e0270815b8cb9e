"""Runs a paper's studies, and judges its claims by their results."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from topoloom import _core
from topoloom._core import TopoloomError, unknown
from topoloom.files import REPORT
from topoloom.libraries import require
from topoloom.papers.formulas import Formula, Lookups, NoValueError, Value
from topoloom.papers.lookups import NotMeasuredError, PointLookup, ResultLookup, Row, about, check_conditions, matches
from topoloom.papers.paper import (
    SINGLE,
    VERDICTS,
    WHOSE,
    Claim,
    Figure,
    Item,
    Paper,
    Table,
    TableRow,
    Verdict,
    Whose,
    margin,
    numbers,
)
from topoloom.simulation.curves import Curve
from topoloom.studies.estimates import shared
from topoloom.studies.executor import Executor, LocalExecutor
from topoloom.studies.ledger import Ledger
from topoloom.studies.points import StudyPoint
from topoloom.studies.running import OnProgress, Progress, run_points
from topoloom.studies.study import Study

NOT_MEASURED = "not measured"
"""The verdict where results are missing."""


@dataclass(frozen=True)
class Judgement:
    """The judgement on a claim.

    Attributes:
        id: Its name.
        item: The table, figure or part of the text that it belongs to.
        says: The statement.
        published: The paper's value.
        measured: The measured value, or values by name; None where nothing was measured.
        verdict: The verdict; None where results are missing.
        note: Further remarks; why nothing was measured.
        how: The method by which published.csv recomputed the row.
        recomputed: The value from the paper's own definitions, where published.csv has one.
        unit: The unit of the measured value.
        whose: The author of the statement.
        reading: The reading of the paper under which the verdict holds.
        evidence: The underlying results.

    >>> Judgement("links", "Table 2", "36 links", "36", 36, "reproduced", note="").to_dict()["verdict"]
    'reproduced'
    """

    id: str
    item: str
    says: str
    published: str
    measured: Value
    verdict: Verdict | None
    note: str
    how: str = ""
    recomputed: str = ""
    unit: str = ""
    whose: Whose = "paper"
    reading: str = ""
    evidence: Sequence[Row] = ()

    @property
    def state(self) -> str:
        """The verdict, or that there is none."""
        return self.verdict or NOT_MEASURED

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of ``reproduce --json``."""
        return {
            "id": self.id,
            "item": self.says,
            "part": self.item,
            "published": self.published,
            "measured": self.measured,
            "verdict": self.verdict,
            "whose": self.whose,
            "reading": self.reading,
            "note": self.note or self.how,
            "evidence": [row["key"] for row in self.evidence],
        }


@dataclass(frozen=True)
class Cell:
    """A cell of a table; both texts may be empty.

    Attributes:
        measured: The measured value as text.
        published: The published one.
    """

    measured: str
    published: str


@dataclass(frozen=True)
class ItemResult:
    """What came out of an item.

    Attributes:
        item: The item.
        claims: Its claims, judged.
        tables: The cells of its tables, row by row.
        found: The results that it may use.
    """

    item: Item
    claims: list[Judgement]
    tables: list[list[list[Cell]]]
    found: ResultLookup


@dataclass
class Reproduction:
    """A paper's tables, figures and claims with the measured values.

    Attributes:
        paper: The paper.
        quick: Whether the coarse version was run.
        items: The results of each requested item.
        progress: The end of the run of the points.
        studies: The studies, as they were run.
        rows: The results of their points.
        others: Results in the store that belong to other versions of the models, by version; they are not used.
        command: The command that repeats it.
        store: The name of the store.

    >>> import tempfile
    >>> from topoloom.papers import Paper, Plan
    >>> plan = Plan(Paper.named("hardware"), only=["limits"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     found = plan.run(Path(folder, "results.store"))
    >>> sum(found.counts().values()) == len(found.claims), len(found.totals()), len(found.to_dict()["claims"]) > 0
    (True, 1, True)
    >>> found.to_html()[:15]
    '<!doctype html>'
    """

    paper: Paper
    quick: bool
    items: list[ItemResult]
    progress: Progress
    studies: Mapping[str, Study]
    rows: Sequence[Row]
    others: Mapping[int, int] = field(default_factory=dict)
    command: Sequence[str] = ()
    store: str = ""

    @property
    def claims(self) -> list[Judgement]:
        """All claims that were judged."""
        return [claim for item in self.items for claim in item.claims]

    def counts(self, whose: Whose | None = None) -> dict[str, int]:
        """Return the number of claims by verdict, those without any last.

        Args:
            whose: The author of the counted claims; all claims unless given.
        """
        counts = Counter(claim.state for claim in self.claims if whose in (None, claim.whose))
        return {name: counts[name] for name in (*VERDICTS, NOT_MEASURED) if counts[name]}

    def totals(self) -> dict[Whose, dict[str, int]]:
        """Return the counts of the paper's claims, of our additions and of constants."""
        return {whose: counts for whose in WHOSE if (counts := self.counts(whose))}

    def to_dict(self) -> dict[str, Any]:
        """Return the output of ``reproduce --json``; claims without a verdict are listed separately."""
        return {
            "paper": self.paper.name,
            "version": _core.__version__,
            "model_version": _core.MODEL_VERSION,
            "quick": self.quick,
            "interrupted": not self.progress.finished,
            "points": len(self.rows),
            "seconds": round(sum(processor_s(row) for row in self.rows)),
            "totals": self.totals(),
            "claims": [claim.to_dict() for claim in self.claims if claim.verdict is not None],
            "not_measured": [{"id": claim.id, "note": claim.note} for claim in self.claims if claim.verdict is None],
        }

    def to_html(self) -> str:
        """Return the paper's page."""
        require(*REPORT.needs)
        from topoloom.papers.page import render_paper  # noqa: PLC0415 - the libraries of pages load slowly

        return render_paper(self)


def processor_s(row: Row) -> float:
    """Return the seconds that a point took one processor: wall-clock time where its kind reports no other.

    Args:
        row: The row of the point in a store.

    >>> processor_s({"result": '{"cpu_s": 1.5}', "wall_s": 9.0}), processor_s({"result": "{}", "wall_s": 9.0})
    (1.5, 9.0)
    """
    result = json.loads(row["result"])
    parts = [result, *(one for one in result.get("points", ()) if isinstance(one, dict))]
    return sum(one.get("cpu_s") or 0 for one in parts) or row["wall_s"] or 0.0


class Plan:
    """The work for a paper, before anything runs.

    Args:
        paper: The paper.
        only: The requested items; all unless given.
        quick: Whether the coarse version is requested.

    Raises:
        TopoloomError: An unknown item, a mistake in a study, or a formula that needs a point of no study.

    >>> import tempfile
    >>> from topoloom.papers import Paper
    >>> plan = Plan(Paper.named("hardware"), only=["limits"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     plan.seconds({}), plan.needs(), plan.run(Path(folder, "results.store")).paper.name
    (0, [], 'hardware')
    """

    def __init__(self, paper: Paper, only: Sequence[str] = (), *, quick: bool = False) -> None:
        known = [item.id for item in paper.item]
        for name in only:
            if name not in known:
                raise TopoloomError(unknown("item", name, known))
        if quick:
            paper = paper.model_copy(update={"names": paper.names | paper.quick_names})
        self.paper = paper
        self.quick = quick
        self.items = [item for item in paper.item if not only or item.id in only]
        self.studies = self._read()
        every = {name: study.points() for name, study in self.studies.items()}
        self._points = {item.id: _needed(item, every) for item in self.items}
        if not quick:
            for item in self.items:
                _check_formulas(paper, item, self._points[item.id])
        keys: dict[str, StudyPoint] = {}
        for points in self._points.values():
            for _, point in points:
                keys.setdefault(point.key, point)
        self.points = list(keys.values())
        self._seconds = self._noted(every)

    def needs(self) -> list[tuple[StudyPoint, tuple[str, ...]]]:
        """Return each point with the ids of the requested items that need it."""
        ids: dict[str, dict[str, None]] = {point.key: {} for point in self.points}
        for item, points in self._points.items():
            for _, point in points:
                ids[point.key][item] = None
        return [(point, tuple(ids[point.key])) for point in self.points]

    def _noted(self, every: Mapping[str, Sequence[StudyPoint]]) -> dict[str, float]:
        """Return about how many seconds points take, by their keys, as the paper's data note it of studies."""
        noted: dict[str, float] = {}
        for name, points in every.items():
            study = self.paper.study[name]
            noted |= shared(study.quick_seconds if self.quick else study.seconds, points)
        return noted

    def _read(self) -> dict[str, Study]:
        """Read the studies that the items need, as they are to be run."""
        needed = {need.study for item in self.items for need in item.needs}
        studies = {}
        for name, about_it in self.paper.study.items():
            if name not in needed or (self.quick and about_it.quick is False):
                continue
            instead = about_it.quick if self.quick and about_it.quick else None
            path = self.paper.folder / about_it.file
            if not path.is_file():
                raise TopoloomError(f"{self.paper.name}: the study {name} has no file {about_it.file}")
            studies[name] = Study.read(path, instead=instead)
        return studies

    def seconds(self, states: Mapping[str, str]) -> float:
        """Return the approximate seconds of processor time of the missing points, from the paper's data.

        Args:
            states: The states of points by key, as :meth:`topoloom.studies.Ledger.states` returns them.
        """
        return sum(self._seconds[point.key] for point in self.points if point.among(states) != "done")

    def run(
        self, store: Path, *, executor: Executor | None = None, on_progress: OnProgress | None = None
    ) -> Reproduction:
        """Run the missing points, and judge the claims.

        After Ctrl-C the reproduction's ``progress`` is not ``finished``; claims whose results exist are judged.

        Args:
            store: The folder of the results.
            executor: The executor of points; the processors of this machine unless given.
            on_progress: Called at every change.

        Raises:
            TopoloomError: A point that cannot be run, or a full disk.
        """
        with Ledger(store) as ledger:
            progress = run_points(
                self.points,
                ledger,
                executor or LocalExecutor(),
                name=self.paper.name,
                keep_going=True,
                on_progress=on_progress,
                noted=self._seconds,
            )
            stored = ledger.rows()
        others = Counter(
            int(row["model_version"] or 0) for row in stored if row["model_version"] != _core.MODEL_VERSION
        )
        rows = {row["key"]: row for row in stored}
        items = [self._judged(item, rows) for item in self.items]
        used = [row for point in self.points if (row := point.among(rows)) is not None]
        return Reproduction(self.paper, self.quick, items, progress, self.studies, used, dict(others))

    def _judged(self, item: Item, rows: Mapping[str, Row]) -> ItemResult:
        points = self._points[item.id]
        own = [
            dict(row) | {"study": study, "role": point.role}
            for study, point in points
            if (row := point.among(rows)) is not None
        ]
        found = ResultLookup(own, points)
        claims = [_judge(self.paper, item, name, claim, it, found) for name, claim, it in self.paper.claims(item)]
        tables = [[_cells(self.paper, table, row, found) for row in table.row] for table in item.table]
        return ItemResult(item, claims, tables, found)


def _needed(item: Item, every: Mapping[str, Sequence[StudyPoint]]) -> list[tuple[str, StudyPoint]]:
    """Return the points that an item needs, each with its study."""
    points: dict[tuple[str, str], tuple[str, StudyPoint]] = {}
    for need in item.needs:
        check_conditions(need.where)
        for point in every.get(need.study, ()):
            if matches(about(need.study, point), point.options, need.where):
                points[need.study, point.key] = (need.study, point)
    return list(points.values())


def _check_formulas(paper: Paper, item: Item, points: Sequence[tuple[str, StudyPoint]]) -> None:
    """Reject formulas that ask for unknown names or points.

    Raises:
        TopoloomError: The first of them, with its item.
    """
    asked = PointLookup(points)
    for where, formula, names in _formulas(paper, item):
        for name in sorted(formula.names() - names.keys()):
            raise TopoloomError(f"{paper.name}: {where}: {unknown('name', name, list(names))}")
        try:
            formula.evaluate(names, asked)
        except NoValueError:
            pass  # the placeholder values make no sense: only lookups are of interest
        except TopoloomError as error:
            raise TopoloomError(f"{paper.name}: {where}: {error}") from None


def _formulas(paper: Paper, item: Item) -> list[tuple[str, Formula, dict[str, Value]]]:
    """Return every formula of an item with where it stands and the names that it may use."""
    found: list[tuple[str, Formula, dict[str, Value]]] = []
    for name, claim, it in paper.claims(item):
        names = paper.names | {"it": it}
        measured = claim.measured if isinstance(claim.measured, dict) else {SINGLE: claim.measured}
        own = [(name, formula, names) for formula in (*measured.values(), claim.target) if formula is not None]
        if shadowing := next((own for own in measured if own in names), None):
            raise TopoloomError(
                f"{paper.name}: {name}: '{shadowing}' is measured here, and a name of the paper as well"
            )
        named = names | dict.fromkeys(measured, 1.0)
        own += [(name, formula, named) for formula in (claim.holds, claim.nearly) if formula is not None]
        found += own
    for table in item.table:
        for row in table.row:
            formula = row.measured or table.measured
            assert formula is not None
            found += [(f"{item.id}, {row.label}", formula, paper.names | {"it": it}) for it in row.over or table.over]
    for figure in item.figure:
        for series in figure.series:
            both = [formula for formula in (series.x, series.y) if formula is not None]
            its = series.over or figure.over
            found += [(f"{item.id}, {series.label}", own, paper.names | {"it": it}) for own in both for it in its]
    return found


def _judge(paper: Paper, item: Item, name: str, claim: Claim, it: Value, found: ResultLookup) -> Judgement:
    """Return a claim with its verdict."""
    row = paper.rows.get(name, {})
    published = claim.published or row.get("published", "")
    told: dict[str, Any] = {
        "id": name,
        "item": item.id,
        "says": claim.says or row.get("item", ""),
        "published": published,
        "recomputed": row.get("recomputed", ""),
        "note": claim.note,
        "how": row.get("how", ""),
        "unit": claim.unit,
        "whose": claim.whose,
        "reading": claim.reading,
    }
    found.used.clear()
    try:
        measured, verdict = _weigh(claim, paper.names | {"it": it}, published, found)
    except NotMeasuredError as missing:
        return Judgement(**told | {"note": str(missing)}, measured=None, verdict=None)
    except TopoloomError as error:
        raise TopoloomError(f"{paper.name}: {name}: {error}") from None
    return Judgement(**told, measured=measured, verdict=verdict, evidence=list(found.used.values()))


def _weigh(claim: Claim, names: dict[str, Value], published: str, found: ResultLookup) -> tuple[Value, Verdict]:
    """Return what was measured, and the verdict."""
    several = isinstance(claim.measured, dict)
    formulas = claim.measured if isinstance(claim.measured, dict) else {SINGLE: claim.measured}
    values = {name: formula.evaluate(names, found) for name, formula in formulas.items() if formula is not None}
    measured = values if several else values.get(SINGLE)
    return measured, verdict_on(claim, measured, names, published, found)


def verdict_on(
    claim: Claim, measured: Value, names: Mapping[str, Value], published: str, found: Lookups | None = None
) -> Verdict:
    """Return the verdict on measured values.

    Args:
        claim: The claim.
        measured: What was measured: values by name if the claim names several, else one value.
        names: The names of the paper, and ``it``.
        published: What the paper has, unchecked.
        found: The results that formulas may look up.

    Raises:
        TopoloomError: An unknown name, or arithmetic that has no answer.

    >>> claim = Claim(id="own", says="36 routers", measured="36", within="5%", close="20%")
    >>> [verdict_on(claim, measured, {}, "36") for measured in (37.0, 40.0, 48.0)]
    ['reproduced', 'close', 'not-reproduced']
    """
    own = measured if isinstance(claim.measured, dict) else {SINGLE: measured} if claim.measured is not None else {}
    names = dict(names) | own
    if claim.verdict == "not-testable":
        return "not-testable"
    if claim.holds is not None:
        return _truth(claim, names, found)
    target = claim.target.evaluate(names, found) if claim.target else numbers(published)
    return _nearness(claim, measured, target if isinstance(target, list) else [target])


def _truth(claim: Claim, names: dict[str, Value], found: Lookups | None) -> Verdict:
    assert claim.holds is not None
    if claim.holds.evaluate(names, found):
        return "erratum" if claim.verdict == "erratum" else "reproduced"
    if claim.nearly is not None and claim.nearly.evaluate(names, found):
        return "close"
    return "not-reproduced"


def _nearness(claim: Claim, measured: Value, target: list[float]) -> Verdict:
    """Return the verdict on numbers: each is compared with the target at its index."""
    values = list(measured.values()) if isinstance(measured, dict) else measured
    values = values if isinstance(values, list) else [values]
    if len(target) != len(values):
        raise TopoloomError(f"{len(values)} values are measured, and {len(target)} published")
    for tolerance, verdict in ((claim.within, "reproduced"), (claim.close, "close")):
        if tolerance is not None and all(
            abs(value - wanted) <= margin(tolerance, wanted) + 1e-9
            for value, wanted in zip(values, target, strict=True)
        ):
            return verdict  # type: ignore[return-value] # both are verdicts
    return "not-reproduced"


def _cells(paper: Paper, table: Table, row: TableRow, found: ResultLookup) -> list[Cell]:
    formula = row.measured or table.measured
    assert formula is not None
    cells = []
    for place, it in enumerate(row.over or table.over):
        try:
            text = shown(formula.evaluate(paper.names | {"it": it}, found), row.decimals)
        except NotMeasuredError:
            text = ""
        cells.append(Cell(text, row.published[place] if row.published else ""))
    return cells


def series_points(paper: Paper, figure: Figure, found: ResultLookup) -> list[list[dict[str, Value]]]:
    """Return the points of each series of a figure as ``it``, ``x`` and ``y``; those without a result are left out.

    Where the figure has labels, they are the ``x``.

    Args:
        paper: The paper.
        figure: The figure.
        found: The results.

    Raises:
        TopoloomError: A formula that has no value.

    >>> line = {"label": "line", "over": [1, 2], "y": "it * it"}
    >>> figure = Figure(kind="lines", series=[line], xaxis="x", yaxis="y")
    >>> series_points(Paper.named("flex"), figure, ResultLookup([], []))
    [[{'it': 1, 'x': 1, 'y': 1}, {'it': 2, 'x': 2, 'y': 4}]]
    """
    labels = dict(zip(map(str, figure.over), figure.labels, strict=False))
    drawn = []
    for series in figure.series:
        points = []
        for it in series.over or figure.over:
            names = paper.names | {"it": it}
            with suppress(NotMeasuredError):
                x = series.x.evaluate(names, found) if series.x else it
                points.append({"it": it, "x": labels.get(str(it), x), "y": series.y.evaluate(names, found)})
        drawn.append(points)
    return drawn


def curve_label(paper: Paper, figure: Figure, curve: Curve) -> str:
    """Return what a figure calls a curve: its network and routing, or the routing where that alone distinguishes it.

    Args:
        paper: The paper.
        figure: The figure.
        curve: One of its curves.

    >>> from topoloom import network
    >>> paper, curve = Paper.named("flex"), network("flex:6x6x3,p=10").simulate("min", load=0)
    >>> [curve_label(paper, Figure(kind="latency", colour=colour), curve) for colour in ("spec", "routing")]
    ['FleX, minimal', 'minimal']
    """
    routing = paper.routings.get(curve.routing, curve.routing)
    return routing if figure.colour == "routing" else f"{paper.networks.get(curve.spec, curve.spec)}, {routing}"


def shown(value: Value, decimals: int | None = None) -> str:
    """Return a measured value as people read it.

    Args:
        value: The value: a number, a truth, a text, a list of them, or several by name.
        decimals: The number of decimals; None for four digits.

    >>> shown(3059532.0), shown([0.5, True]), shown({"LBR": 0.123456})
    ('3,059,532', '0.5, yes', 'LBR 0.1235')
    """
    if isinstance(value, dict):
        return ", ".join(f"{name.replace('_', ' ')} {shown(own, decimals)}" for name, own in value.items())
    if isinstance(value, list):
        return ", ".join(shown(own, decimals) for own in value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return {True: "yes", False: "no", None: "–"}.get(value, str(value))
    if decimals is not None:
        return f"{value:,.{decimals}f}"
    return f"{value:,.0f}" if float(value).is_integer() or abs(value) >= 9999.5 else f"{value:.4g}"  # noqa: PLR2004
