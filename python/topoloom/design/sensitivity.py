"""Whether the answer turns on what optics cost."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from topoloom.design.criteria import Criterion, Value
from topoloom.design.entrant import Entrant
from topoloom.design.selection import Recommendation, recommend

OPTICS = (0.5, 2.0)
"""What optics may cost, in parts of the price list's prices."""


@dataclass(frozen=True)
class Turn:
    """The answer at other prices of optics.

    Attributes:
        factor: The prices of optics, as a ratio to those of the price list.
        costs: Dollars per terminal of each finalist, by its spec.
        recommended: What is recommended then.
        changed: The titles of the recommendations that name another network than at the list's prices.

    >>> Turn(0.5, {"mesh:2x2": 100.0}, [], []).to_dict()["optics"]
    0.5
    """

    factor: float
    costs: dict[str, float]
    recommended: list[Recommendation]
    changed: list[str]

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON holds of it."""
        return {
            "optics": self.factor,
            "cost_per_terminal_usd": self.costs,
            "recommended": [{"title": own.title, "spec": own.spec, "why": own.why} for own in self.recommended],
            "changed": self.changed,
        }


def turns(finalists: Sequence[Entrant], criteria: Sequence[Criterion], usual: Sequence[Recommendation]) -> list[Turn]:
    """Return the answer with optics at each of :data:`OPTICS` times their price, cables chosen again.

    A cable is bought in the kind that is the cheapest then, so that copper may replace optics and the other way round.
    A factor at which a finalist was not laid out is left out, as are all of them where a list prices no cables.

    Args:
        finalists: The finalists, with their layouts at other prices among their details.
        criteria: What counts.
        usual: What is recommended at the list's prices.

    >>> from topoloom.design.candidates import candidates
    >>> own = candidates(terminals=16, radix=8, families="hyperx")[0]
    >>> floors = {("optics", f"{factor:g}"): {"cost_per_terminal_usd": 100 * factor} for factor in OPTICS}
    >>> entrant = Entrant(own, values={"cost": Value.exact(100.0)}, details=floors)
    >>> [(turn.factor, turn.costs[own.spec], turn.changed) for turn in turns([entrant], [], recommend([entrant], []))]
    [(0.5, 50.0, []), (2.0, 200.0, [])]
    """
    found = []
    for factor in OPTICS:
        floors = {own.spec: own.details.get(("optics", f"{factor:g}")) for own in finalists}
        costs = {spec: float(floor["cost_per_terminal_usd"]) for spec, floor in floors.items() if floor is not None}
        if len(costs) < len(floors):
            continue
        priced = [replace(own, values=own.values | {"cost": Value.exact(costs[own.spec])}) for own in finalists]
        recommended = recommend(priced, criteria)
        pairs = zip(recommended, usual, strict=True)
        changed = [own.title for own, other in pairs if own.spec != other.spec]
        found.append(Turn(factor, costs, recommended, changed))
    return found
