"""Which networks of the front become finalists, and which of those are recommended."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, inf, log

from topoloom.design.criteria import MAKESPAN, SATURATION, SURVIVABLE, Criterion
from topoloom.design.entrant import Entrant
from topoloom.design.question import UNIFORM
from topoloom.wording import counted

PRACTICAL = 0.25
"""Finalists have at least this part of the best throughput under uniform traffic, and the best makespan is at least
this part of theirs, unless the question states what they must carry. A slower network is no answer, however cheap."""

LEAST_PART = 1e-9
"""A part of nothing counts as this much, so that a geometric mean has a logarithm of it."""


def choose(front: Sequence[Entrant], criteria: Sequence[Criterion], most: int) -> list[Entrant]:
    """Return up to `most` of the front: the cheapest, the best of each family and criterion, then those far apart.

    Args:
        front: The networks of the front.
        criteria: What counts.
        most: The number of finalists at most.

    >>> from topoloom.design.candidates import candidates
    >>> from topoloom.design.criteria import FIXED, Value
    >>> found = candidates(terminals=16, radix=8, families="hyperx")[:2]
    >>> costs = [{"cost": Value.exact(100.0)}, {"cost": Value.exact(90.0)}]
    >>> one, other = (Entrant(own, values=values) for own, values in zip(found, costs))
    >>> choose([one, other], FIXED[:1], 1) == [other]
    True
    """
    scores = {own.spec: _scores(own, front, criteria) for own in front}
    chosen: dict[str, Entrant] = {}

    def add(own: Entrant) -> None:
        if len(chosen) < most:
            chosen.setdefault(own.spec, own)

    add(min(front, key=lambda own: own.values["cost"].value))
    families: dict[str, Entrant] = {}
    for own in sorted(front, key=lambda own: sum(scores[own.spec])):
        families.setdefault(own.candidate.family, own)
    for own in families.values():
        add(own)
    for place in range(len(criteria)):
        add(min(front, key=lambda own: (scores[own.spec][place], sum(scores[own.spec]))))
    while len(chosen) < min(most, len(front)):
        taken = [scores[spec] for spec in chosen]
        left = [own for own in front if own.spec not in chosen]
        add(max(left, key=lambda own: min(_distance(scores[own.spec], other) for other in taken)))
    return list(chosen.values())


def practical(front: Sequence[Entrant], criteria: Sequence[Criterion]) -> list[Entrant]:
    """Return the networks of a front that perform well enough to be bought: all criteria by at least :data:`PRACTICAL`.

    Throughput counts under uniform traffic alone: many networks that are bought carry little of a worst case. If no
    network performs so well in all, all are returned.

    Args:
        front: The networks.
        criteria: What counts.

    >>> from topoloom.design.candidates import candidates
    >>> from topoloom.design.criteria import Value
    >>> found = candidates(terminals=16, radix=8, families="hyperx")[:2]
    >>> uniform = Criterion("saturation.uniform", "", "flits/cycle/terminal", "high", 3, SATURATION, "uniform")
    >>> carried = [{uniform.name: Value.exact(0.8)}, {uniform.name: Value.exact(0.1)}]
    >>> one, other = (Entrant(own, values=values) for own, values in zip(found, carried))
    >>> practical([one, other], [uniform]) == [one]
    True
    """
    judged = [each for each in criteria if each.kind == MAKESPAN or (each.kind == SATURATION and each.of == UNIFORM)]
    parts = {own.spec: _parts(own, front, judged) for own in front}
    return [own for own in front if all(part >= PRACTICAL for part in parts[own.spec])] or list(front)


def _scores(own: Entrant, front: Sequence[Entrant], criteria: Sequence[Criterion]) -> list[float]:
    """Return 0 for the best of the front to 1 for the worst, a number a criterion; what is missing is the worst."""
    scores = []
    for each in criteria:
        known = [each.cost_of(other.values[each.name].value) for other in front if each.name in other.values]
        if each.name not in own.values or not known:
            scores.append(1.0)
            continue
        span = max(known) - min(known)
        scores.append((each.cost_of(own.values[each.name].value) - min(known)) / span if span else 0.0)
    return scores


def _distance(one: Sequence[float], other: Sequence[float]) -> float:
    return sum((a - b) ** 2 for a, b in zip(one, other, strict=True))


@dataclass(frozen=True)
class Recommendation:
    """One of the answers to a question.

    Attributes:
        title: What it is best in.
        why: The reason as a sentence, with its numbers.
        spec: The network.
    """

    title: str
    why: str
    spec: str


def recommend(finalists: Sequence[Entrant], criteria: Sequence[Criterion]) -> list[Recommendation]:
    """Return the cheapest finalist, the one with the best performance for its cost, and the most robust one.

    Performance is the geometric mean of the ratios to the best finalist, over throughputs and makespans. Robustness is
    the smallest of these ratios, and of the throughput that remains after failures.

    Args:
        finalists: The finalists.
        criteria: What counts.

    >>> from topoloom.design.candidates import candidates
    >>> from topoloom.design.criteria import Value
    >>> own = candidates(terminals=16, radix=8, families="hyperx")[0]
    >>> uniform = Criterion("saturation.uniform", "", "flits/cycle/terminal", "high", 3, SATURATION, "uniform")
    >>> entrant = Entrant(own, values={"cost": Value.exact(100.0), uniform.name: Value.exact(0.9)})
    >>> recommend([entrant], [uniform])[1].why
    '1.00 of the best, on the geometric mean of 1 measure of throughput and time, for $100 per terminal'
    """
    performance = [each for each in criteria if each.kind in (SATURATION, MAKESPAN)]
    cheapest = min(finalists, key=lambda own: own.values["cost"].value)
    value = max(finalists, key=lambda own: _performance(own, finalists, performance) / own.values["cost"].value)
    robust = max(finalists, key=lambda own: _weakest(own, finalists, performance))
    return [
        Recommendation("Cheapest that meets all", f"{_dollars(cheapest)} per terminal", cheapest.spec),
        Recommendation(
            "Most performance for its cost",
            f"{_performance(value, finalists, performance):.2f} of the best, on the geometric mean of "
            f"{counted(len(performance), 'measure', 'measures')} of throughput and time, "
            f"for {_dollars(value)} per terminal",
            value.spec,
        ),
        Recommendation("Most robust", _why_robust(robust, finalists, performance), robust.spec),
    ]


def _dollars(own: Entrant) -> str:
    return f"${own.values['cost'].value:,.0f}"


def _parts(own: Entrant, finalists: Sequence[Entrant], criteria: Sequence[Criterion]) -> list[float]:
    """Return the performance of a finalist in parts of the best one's, a number a criterion."""
    parts = []
    for each in criteria:
        values = [other.values[each.name].value for other in finalists if each.name in other.values]
        mine = own.values[each.name].value if each.name in own.values else None
        if mine is None or not values:
            parts.append(0.0)
        else:
            parts.append(mine / max(values) if each.better == "high" else min(values) / mine)
    return parts


def _performance(own: Entrant, finalists: Sequence[Entrant], criteria: Sequence[Criterion]) -> float:
    """Return the geometric mean of the parts."""
    parts = _parts(own, finalists, criteria)
    return exp(sum(log(max(part, LEAST_PART)) for part in parts) / len(parts)) if parts else 0.0


def _weakest(own: Entrant, finalists: Sequence[Entrant], criteria: Sequence[Criterion]) -> tuple[float, float]:
    """Return what robustness is ranked by: the weakest of all parts, failures among them; then what is paid."""
    kept = own.values[SURVIVABLE].value if SURVIVABLE in own.values else inf
    return min([*_parts(own, finalists, criteria), kept]), -own.values["cost"].value


def _why_robust(own: Entrant, finalists: Sequence[Entrant], criteria: Sequence[Criterion]) -> str:
    least = _weakest(own, finalists, criteria)[0]
    kept = ", failures among them," if SURVIVABLE in own.values else ""
    return f"at least {least:.2f} of the best in all that was measured{kept} for {_dollars(own)} per terminal"
