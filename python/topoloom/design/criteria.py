"""What counts in a design: criteria with their units, and values that state how well they are known."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Final, Literal

from topoloom._core import TopoloomError, unknown
from topoloom.design.question import UNIFORM, Question
from topoloom.layout.prices import price_list
from topoloom.workload.results import time_text

Knowledge = Literal["exact", "bound", "estimate", "measured"]

Kind = Literal["fact", "saturation", "makespan", "survivable"]
"""Where a value comes from: a fact, full load under a traffic, an application, full load under failures."""

SATURATION: Final = "saturation"
MAKESPAN: Final = "makespan"
SURVIVABLE: Final = "survivable"


@dataclass(frozen=True)
class Value:
    """A value of a criterion.

    Attributes:
        value: The value.
        low: The smaller end of its interval; the value itself where it is exact.
        high: The larger end, perhaps infinite.
        known: How it is known: by a formula or a count, as a bound, as an estimate, by simulation.

    >>> Value.exact(2.0).to_dict()
    {'value': 2.0, 'interval': [2.0, 2.0], 'is': 'exact'}
    """

    value: float
    low: float
    high: float
    known: Knowledge

    @classmethod
    def exact(cls, value: float) -> "Value":
        """Return a value without an interval.

        Args:
            value: The number.
        """
        return cls(value, value, value, "exact")

    def to_dict(self) -> dict[str, object]:
        """Return what JSON holds of it; an end of the interval that is not known is None."""
        ends = [end if isfinite(end) else None for end in (self.low, self.high)]
        return {"value": self.value, "interval": ends, "is": self.known}


@dataclass(frozen=True)
class Criterion:
    """One thing that counts.

    Attributes:
        name: Its name, as users type it.
        label: What it is, for people.
        unit: Its unit.
        better: Which values are better.
        decimals: The number of decimals to show.
        kind: Where its values come from.
        of: The traffic or the application, if it belongs to one.

    >>> FIXED[0].name, FIXED[0].text(1234.5), FIXED[0].cost_of(1234.5), FIXED[-1].cost_of(0.9)
    ('cost', '1,234', 1234.5, -0.9)
    >>> [f"{each.name} {each.text(2.75)} {each.unit}" for each in FIXED[2:5]]
    ['power 2.75 W/terminal', 'cable 2.75 m/terminal', 'diameter 3 links']
    """

    name: str
    label: str
    unit: str
    better: Literal["low", "high"]
    decimals: int
    kind: Kind = "fact"
    of: str = ""

    def text(self, value: float) -> str:
        """Return a value without its unit; a makespan with a unit that suits it.

        Args:
            value: The number, in the criterion's unit.
        """
        return time_text(value) if self.kind == MAKESPAN else f"{value:,.{self.decimals}f}"

    def cost_of(self, value: float) -> float:
        """Return the number so that less is better: negative where more is better.

        Args:
            value: The number, in the criterion's unit.
        """
        return value if self.better == "low" else -value

    def _best_case(self, value: Value) -> float:
        """Return the better end of an interval, so that less is better."""
        return value.low if self.better == "low" else -value.high

    def _worst_case(self, value: Value) -> float:
        """Return the worse end of an interval, so that less is better."""
        return value.high if self.better == "low" else -value.low


ROUNDING = 1e-9
"""Differences of measured values that come from rounding."""

FIXED = (
    Criterion("cost", "Cost", "$/terminal", "low", 0),
    Criterion("lifetime-cost", "Cost with electricity", "$/terminal", "low", 0),
    Criterion("power", "Power", "W/terminal", "low", 2),
    Criterion("cable", "Cable", "m/terminal", "low", 2),
    Criterion("diameter", "Diameter", "links", "low", 0),
    Criterion(SURVIVABLE, "Throughput kept after failures", "", "high", 3, SURVIVABLE),
)
"""Criteria that every network has a value of; ``survivable`` where the question states which failures."""


def criteria_of(question: Question) -> list[Criterion]:
    """Return what counts in a question, in its order.

    Args:
        question: The question.

    Raises:
        TopoloomError: An unknown criterion, or one that needs something else in the question.

    >>> from topoloom.design.question import make_question
    >>> [each.name for each in criteria_of(make_question({"terminals": 64, "radix": 8}))]
    ['cost', 'saturation.uniform', 'saturation.worst-case']
    >>> [each.unit for each in criteria_of(make_question({"terminals": 64, "radix": 8, "criteria": "lifetime-cost"}))]
    ['$/terminal']
    >>> criteria_of(make_question({"terminals": 64, "radix": 8, "criteria": "survivable"}))
    Traceback (most recent call last):
    topoloom.TopoloomError: criterion survivable needs the failures: --survive links=2%
    >>> without = make_question({"terminals": 64, "radix": 8, "criteria": "lifetime-cost", "prices": "edr-flex"})
    >>> criteria_of(without)
    Traceback (most recent call last):
    topoloom.TopoloomError: criterion lifetime-cost needs a price of energy; the price list edr-flex has none
    """
    measured = [
        *(
            Criterion(
                f"{SATURATION}.{name}",
                f"Saturation throughput, {name}",
                "flits/cycle/terminal",
                "high",
                3,
                SATURATION,
                name,
            )
            for name in question.traffic
        ),
        *(Criterion(f"{MAKESPAN}.{name}", f"Makespan, {name}", "", "low", 6, MAKESPAN, name) for name in question.apps),
    ]
    known = {each.name: each for each in [*FIXED, *measured]}
    default = ["cost", *(each.name for each in measured), *([SURVIVABLE] if question.survive else [])]
    chosen = [_criterion(name, known) for name in question.criteria or default]
    if any(each.name == "lifetime-cost" for each in chosen) and price_list(question.prices).get("energy") is None:
        raise TopoloomError(
            f"criterion lifetime-cost needs a price of energy; the price list {question.prices} has none"
        )
    if question.min_throughput is not None and f"{SATURATION}.{UNIFORM}" not in {each.name for each in chosen}:
        raise TopoloomError("min-throughput needs the criterion saturation.uniform; add it to the criteria")
    if question.survive is None and any(each.kind == SURVIVABLE for each in chosen):
        raise TopoloomError("criterion survivable needs the failures: --survive links=2%")
    return list(dict.fromkeys(chosen))


def _criterion(name: str, known: dict[str, Criterion]) -> Criterion:
    if name not in known:
        raise TopoloomError(unknown("criterion", name, list(known)))
    return known[name]


def dominates(one: Sequence[Value], other: Sequence[Value], criteria: Sequence[Criterion], alike: float = 0.0) -> bool:
    """Return whether one network is as good as another in all criteria and better in one, whatever the intervals.

    The worst case of the one is compared with the best case of the other, as :func:`beats` does.

    Args:
        one: The values of the one, one per criterion.
        other: The values of the other, one per criterion.
        criteria: What counts.
        alike: The fraction by which values that are not exact may differ and count as equal.

    >>> cost = [FIXED[0]]
    >>> near = [Value(95.0, 90.0, 101.0, "measured")]
    >>> dominates(near, [Value.exact(100.0)], cost), dominates(near, [Value.exact(102.0)], cost)
    (False, True)
    """
    ends = [
        (each._worst_case(mine), each._best_case(theirs), _room(mine, theirs, alike))
        for each, mine, theirs in zip(criteria, one, other, strict=True)
    ]
    return _wins(ends)


def may_beat(one: Sequence[Value], other: Sequence[Value], criteria: Sequence[Criterion], alike: float) -> bool:
    """Return whether the intervals leave it open that one network beats another.

    Args:
        one: The values of the one, one per criterion.
        other: The values of the other, one per criterion.
        criteria: What counts.
        alike: The fraction by which values that are not exact may differ and count as equal.

    >>> cost = [FIXED[0]]
    >>> near = [Value(105.0, 90.0, 110.0, "measured")]
    >>> may_beat(near, [Value.exact(100.0)], cost, 0.0), may_beat(near, [Value.exact(80.0)], cost, 0.0)
    (True, False)
    """
    ends = [
        (each._best_case(mine), each._worst_case(theirs), _room(mine, theirs, alike))
        for each, mine, theirs in zip(criteria, one, other, strict=True)
    ]
    return _wins(ends)


def beats(one: Sequence[Value], other: Sequence[Value], criteria: Sequence[Criterion], alike: float) -> bool:
    """Return whether one network is as good as another in all criteria, and clearly better in one.

    Args:
        one: The values of the one, one per criterion.
        other: The values of the other, one per criterion.
        criteria: What counts.
        alike: The fraction by which values that are not exact may differ and count as equal.

    >>> cost = [FIXED[0]]
    >>> beats([Value.exact(99.0)], [Value.exact(100.0)], cost, 0.02)
    True
    >>> beats([Value(99.0, 99.0, 99.0, "measured")], [Value.exact(100.0)], cost, 0.02)
    False
    """
    return _wins([
        (each.cost_of(mine.value), each.cost_of(theirs.value), _room(mine, theirs, alike))
        for each, mine, theirs in zip(criteria, one, other, strict=True)
    ])  # fmt: skip


def _room(mine: Value, theirs: Value, alike: float) -> float:
    """Return the part of a value by which two may differ and count as equal."""
    return 0.0 if mine.known == theirs.known == "exact" else alike


def _wins(ends: Sequence[tuple[float, float, float]]) -> bool:
    """Return whether a network wins, of pairs of costs, its own and the other's, with the part that counts as none."""
    better = False
    for mine, theirs, part in ends:
        if mine == theirs:
            continue
        room = part * abs(theirs) + ROUNDING if isfinite(theirs) and part else 0.0
        if theirs - mine < -room:
            return False
        better = better or theirs - mine > room
    return better
