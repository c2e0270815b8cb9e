"""The answer to a question: the front, the finalists, what dropped out, and what is recommended."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from topoloom import _core
from topoloom.design.criteria import Criterion
from topoloom.design.entrant import Entrant
from topoloom.design.funnel import Funnel, Outcome, Watcher
from topoloom.design.question import Question, make_question, read_question
from topoloom.design.selection import PRACTICAL, Recommendation, recommend
from topoloom.design.sensitivity import Turn, turns
from topoloom.files import REPORT, Page
from topoloom.libraries import require
from topoloom.studies import Executor, Ledger, LocalExecutor
from topoloom.wording import counted


@dataclass(frozen=True)
class Answer(Page):
    """The answer to a question.

    Attributes:
        question: The question.
        outcome: What came out of the funnel.
        command: The command that repeats it, word by word.

    >>> from topoloom.design.candidates import candidates
    >>> from topoloom.design.criteria import Value
    >>> own = candidates(terminals=16, radix=8, families="hyperx")[0]
    >>> floor = {("layout", ""): {"cabinet_count": 1}, ("split", ""): {}}
    >>> entrant = Entrant(own, own.facts(), values={"cost": Value.exact(100.0)}, details=floor)
    >>> asked = make_question({"terminals": 16, "radix": 8})
    >>> found = Answer(asked, Outcome([], 1, [entrant], [entrant], {}, 0.0))
    >>> found.to_dict()["recommended"][0]["why"], found.to_html().startswith("<!doctype html>")
    ('$100 per terminal', True)
    """

    question: Question
    outcome: Outcome
    command: Sequence[str] = ()

    @property
    def criteria(self) -> list[Criterion]:
        """What counted."""
        return self.outcome.criteria

    @property
    def finalists(self) -> list[Entrant]:
        """The finalists, cheapest first."""
        return sorted(self.outcome.finalists, key=lambda own: own.values["cost"].value)

    @cached_property
    def recommendations(self) -> list[Recommendation]:
        """The cheapest finalist, the best performance for its cost, the most robust one."""
        return recommend(self.finalists, self.criteria)

    @property
    def passed_over(self) -> str:
        """Which networks of the front perform too little to be finalists, as a sentence; nothing if none does."""
        if not self.outcome.passed_over:
            return ""
        count = counted(self.outcome.passed_over, "network", "networks")
        return (
            f"{count} of the front with less than {PRACTICAL:g} of the best throughput under uniform traffic, or more "
            f"than {1 / PRACTICAL:g} times the shortest makespan, cannot be finalists; min-throughput 0 admits them"
        )

    @cached_property
    def sensitivity(self) -> list[Turn]:
        """What is recommended if optics cost less or more than the price list states."""
        return turns(self.finalists, self.criteria, self.recommendations)

    @cached_property
    def prices_assumed(self) -> list[str]:
        """What no public source gives of the things that the finalists need, by the price list."""
        return list(dict.fromkeys(told for own in self.finalists for told in own.facts.get("prices_assumed", ())))

    def to_dict(self) -> dict[str, Any]:
        """Return what ``design --json`` prints."""
        asked = self.question.model_dump(mode="json", exclude_none=True)
        return {
            "version": _core.__version__,
            "model_version": _core.MODEL_VERSION,
            "command": list(self.command),
            "question": asked,
            "criteria": [
                {"name": each.name, "unit": each.unit, "better": each.better} for each in self.criteria
            ],
            "searched": self.outcome.searched,
            "front": [_row(own) for own in self.outcome.front],
            "finalists": [_row(own) | {"details": _details(own)} for own in self.finalists],
            "recommended": [
                {"title": own.title, "spec": own.spec, "why": own.why} for own in self.recommendations
            ],
            "passed_over": self.outcome.passed_over,
            "sensitivity": [own.to_dict() for own in self.sensitivity],
            "prices_assumed": self.prices_assumed,
            "dropped": {
                stage: {"count": sum(reasons.values()), "reasons": {why: n for why, n in reasons.items() if n}}
                for stage, reasons in self.outcome.dropped.items()
            },
            "cpu_s": self.outcome.cpu_s,
        }  # fmt: skip

    def to_html(self) -> str:
        """Return the report as HTML, one page that needs no other file.

        Raises:
            TopoloomError: The extra with the report's libraries is missing.
        """
        require(*REPORT.needs)
        from topoloom.design.page import render_answer  # noqa: PLC0415 - the libraries of pages load slowly

        return render_answer(self)


def answer(
    question: Question,
    store: Path,
    command: Sequence[str] = (),
    *,
    executor: Executor | None = None,
    watcher: Watcher | None = None,
) -> Answer:
    """Answer a question; every result is kept in a store, and no stored result is measured again.

    Args:
        question: The requirements and criteria.
        store: The folder of the results.
        command: The command that repeats the run, for the report.
        executor: Where points are run; the processors of this machine unless given.
        watcher: Receives progress; None for no reports.

    Raises:
        topoloom.design.funnel.InterruptionError: Ctrl-C; the same question resumes there.
        TopoloomError: No network meets the requirements, or a mistake in what the question names.

    >>> asked = make_question({"terminals": (16, 16), "radix": 8, "families": "hyperx", "min_bisection": 9})
    >>> with TemporaryDirectory() as folder:
    ...     answer(asked, Path(folder, "a.store"))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    topoloom.TopoloomError: no network meets min-bisection 9 of full bisection, which excludes ...
    """
    with Ledger(store) as ledger:
        outcome = Funnel(question, ledger, executor or LocalExecutor(), watcher).run()
    return Answer(question, outcome, command)


def design(path: str | Path | None = None, *, store: str | Path | None = None, **asked: Any) -> Answer:
    """Return which networks answer a question: built, proved, costed and simulated.

    Args:
        path: A TOML file with the question; `asked` overrides it.
        store: The folder that keeps results, so that nothing is measured twice; None for no folder.
        **asked: Keys of :class:`topoloom.design.question.Question`, such as ``terminals=1000, radix=32``.

    Raises:
        TopoloomError: A mistake in the question, or no network that meets its requirements.

    >>> found = design(terminals=[12, 13], radix=5, families=["hyperx"], finalists=1)
    >>> found.recommendations[0].spec.startswith("hyperx")
    True
    """
    values = {} if path is None else read_question(path)
    question = make_question(values | asked)
    if store is not None:
        return answer(question, Path(store))
    with TemporaryDirectory() as folder:
        return answer(question, Path(folder, "design.store"))


def _row(own: Entrant) -> dict[str, Any]:
    return {
        "spec": own.spec,
        **({"cluster": own.cluster} if own.cluster else {}),
        "family": own.candidate.family,
        "routing": own.routing,
        "terminals": own.candidate.terminals,
        "routers": own.candidate.routers,
        "radix": own.facts["radix"],
        "diameter": own.facts["diameter"],
        "beta": own.facts["beta"],
        "cost_usd": own.facts["cost_usd"],
        "power_w": own.facts["power_w"],
        "energy_cost_usd": own.facts.get("energy_cost_usd"),
        "lifetime_cost_usd": own.facts.get("lifetime_cost_usd"),
        "criteria": {name: value.to_dict() for name, value in own.values.items()},
    }


def _details(own: Entrant) -> dict[str, Any]:
    """Return what else was measured of a finalist: saturation loads, the proof, makespans."""
    told: dict[str, Any] = {}
    for (kind, of), found in own.details.items():
        if kind == "saturation":
            keys = ("saturation_load", "zero_load_latency_cycles", "accepted_max")
            told.setdefault("saturation", {})[of] = {key: found[key] for key in keys}
        elif kind == "verify":
            told["deadlock_free"] = found["deadlock_free"]
        elif kind == "workload":
            told.setdefault("makespan_s", {})[of] = found["makespan_s"]
        elif kind == "split":
            told["split_bound"] = dict(found)
        elif kind == "faults":
            told.setdefault("failures", {})[of] = found["throughput"]
    return told | {"neighbours": [each.to_dict() for each in own.neighbours]}
