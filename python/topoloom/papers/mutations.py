"""Whether claims can fail: their verdicts once what was measured is halved, doubled, or exchanged.

A verdict that no measurement changes proves nothing. Every claim is judged again with each of its measured values
halved and doubled, and with any two of them exchanged; a list is halved and doubled as a whole, and turned round. What
must change the verdict is in :func:`unmoved`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

from topoloom._core import TopoloomError
from topoloom.papers.formulas import Value
from topoloom.papers.paper import MUTATIONS, SINGLE, Claim, Paper, numbers
from topoloom.papers.reproduction import verdict_on

FACTORS = {"halved": 0.5, "doubled": 2.0}


@dataclass(frozen=True)
class Mutant:
    """Measured values of which some were changed.

    Attributes:
        mutation: What was done, one of :data:`MUTATIONS`.
        names: The values that were changed.
        values: All values by name.
    """

    mutation: str
    names: tuple[str, ...]
    values: Mapping[str, Value]


def mutants(values: Mapping[str, Value]) -> Iterator[Mutant]:
    """Yield every mutant of measured values that differs from them.

    Args:
        values: The measured values by name.

    >>> [(mutant.mutation, mutant.values) for mutant in mutants({"a": 2, "b": 3})][-1]
    ('exchanged', {'a': 3, 'b': 2})
    """
    for mutation, factor in FACTORS.items():
        for name, value in values.items():
            yield from _differing(mutation, values, {name: _scaled(value, factor)})
    for name, value in values.items():
        if isinstance(value, list):
            yield from _differing("exchanged", values, {name: value[::-1]})
    for first, second in combinations(values, 2):
        if _shape(values[first]) == _shape(values[second]):
            yield from _differing("exchanged", values, {first: values[second], second: values[first]})


def _differing(mutation: str, values: Mapping[str, Value], changed: Mapping[str, Value]) -> Iterator[Mutant]:
    if any(changed[name] != values[name] for name in changed):
        yield Mutant(mutation, tuple(changed), {**values, **changed})


def _scaled(value: Value, factor: float) -> Value:
    """Return a value times a factor; what is true becomes false, and none at all becomes some."""
    if isinstance(value, list):
        return [_scaled(one, factor) for one in value]
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return value * factor if value else factor - 1
    return value


def _shape(value: Value) -> Value:
    return [_shape(one) for one in value] if isinstance(value, list) else type(value) is str


def unmoved(paper: Paper, name: str, claim: Claim, it: Value, measured: Value) -> list[str]:
    """Return what fails to change the verdict on a claim of the paper, though the claim does not give the reason.

    These must change it, unless ``unmoved`` of the claim gives the reason: some halving, some doubling and, where
    values can be exchanged, some exchange; halving or doubling each measured value; and, where the paper prints a
    number, both the halving and the doubling of the first measured value. Claims that are not judged, not reproduced,
    or not the paper's, are passed over.

    Args:
        paper: The paper.
        name: The id of the claim.
        claim: The claim.
        it: Its ``it``.
        measured: What was measured.

    Raises:
        TopoloomError: The claim's verdict rests on more than its measured values.

    >>> loose = Claim(id="own", says="36 routers", published="36", measured="36", within="300%")
    >>> unmoved(Paper.named("flex"), "own", loose, None, 36.0)
    ['halved', 'doubled', 'measured']
    """
    published = claim.published or paper.rows.get(name, {}).get("published", "")
    names = {**paper.names, "it": it}
    verdict = verdict_on(claim, measured, names, published)
    if claim.whose != "paper" or verdict in ("not-reproduced", "not-testable"):
        return []
    if claim.measured is None:
        return ["it measures nothing"]
    values = measured if isinstance(claim.measured, dict) else {SINGLE: measured}
    all_mutants = list(mutants(values))
    moving = [one for one in all_mutants if _verdict(claim, one, names, published) != verdict]
    possible = {one.mutation for one in all_mutants}
    found = [one for one in MUTATIONS if one in possible and one not in {own.mutation for own in moving}]
    alone = {mutant.names for mutant in moving if mutant.mutation in FACTORS}
    found += [one for one in values if (one,) not in alone]
    first = next(iter(values))
    if numbers(published):
        found += [one for one in FACTORS if (one, (first,)) not in {(own.mutation, own.names) for own in moving}]
    return [one for one in dict.fromkeys(found) if one not in claim.unmoved]


def _verdict(claim: Claim, mutant: Mutant, names: Mapping[str, Value], published: str) -> str:
    measured = mutant.values if isinstance(claim.measured, dict) else mutant.values[SINGLE]
    try:
        return verdict_on(claim, measured, names, published)
    except TopoloomError:
        return "no verdict"  # a value that makes no sense, such as the position of an item that there is not
