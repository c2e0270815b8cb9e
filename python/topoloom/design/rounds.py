"""Rounds of short simulations: which networks are simulated next, for how long, and which of them make the front.

A network that is cheap to rule out is never simulated: first come those that their bounds put on the front, and what
these are measured at rules out others, whose upper bounds are proofs. Longer windows go to networks alone of which the
intervals leave open whether they belong to the front.
"""

from collections.abc import Callable, Sequence

from topoloom.design.criteria import SATURATION, Criterion, Value, beats, dominates, may_beat
from topoloom.design.entrant import Entrant

ALIKE = 0.02
"""Measured values that differ by less than this fraction count as equal: windows and seeds change them as much."""

WAVE = 12
"""Networks that are simulated together; what they show may spare others."""

Beats = Callable[[Sequence[Value], Sequence[Value]], bool]


class Rounds:
    """The networks that may be on the front, and what is known of them.

    Args:
        entrants: The networks, with values of all criteria but those that simulations measure.
        criteria: What counts.
        places: The number of networks that may enter each window, each longer than the one before it; none if nothing
            can be simulated, and what the bounds estimate counts.

    >>> from topoloom.design.candidates import candidates
    >>> from topoloom.design.criteria import FIXED
    >>> found = candidates(terminals=16, radix=8, families="hyperx")[:2]
    >>> costs = [{"cost": Value.exact(100.0)}, {"cost": Value.exact(90.0)}]
    >>> one, other = (Entrant(own, values=values) for own, values in zip(found, costs))
    >>> rounds = Rounds([one, other], FIXED[:1], [8])
    >>> rounds.wave() == [other], len(rounds.unbeaten()), rounds.known(one)[0].value
    (True, 2, 100.0)
    >>> one.windows = other.windows = 1
    >>> rounds.front() == [other]
    True
    """

    def __init__(self, entrants: Sequence[Entrant], criteria: Sequence[Criterion], places: Sequence[int]) -> None:
        self.entrants = list(entrants)
        self._criteria = criteria
        self._places = places

    def wave(self) -> list[Entrant]:
        """Return the networks to simulate next, all in the same window; none if the front is known."""
        live = self.unbeaten() if self._places else []
        fresh = [own for own in live if not own.windows]
        if fresh and self._room(0):
            likely = [own for own in self._likely(live) if not own.windows]
            return sorted(likely or fresh, key=self._promise)[: min(WAVE, self._room(0))]
        unsure = [own for own in self._unsure(live) if own.windows and self._room(own.windows)]
        least = min((own.windows for own in unsure), default=0)
        wave = sorted((own for own in unsure if own.windows == least), key=self._promise)
        return wave[: min(WAVE, self._room(least))]

    def _room(self, window: int) -> int:
        """Return how many networks may still enter a window."""
        if window >= len(self._places):
            return 0
        return max(0, self._places[window] - sum(own.windows > window for own in self.entrants))

    def unbeaten(self) -> list[Entrant]:
        """Return the networks that no measured one beats wherever the values lie in their intervals."""
        return self._left(lambda one, other: dominates(one, other, self._criteria, ALIKE), lambda own: own.windows > 0)

    def front(self) -> list[Entrant]:
        """Return the networks that are left if every value counts as what it was measured at.

        A network that was not simulated counts by the estimate of its bounds, and beats no other.
        """
        return self._left(self._beats, lambda own: own.windows > 0 or not self._places, self.unbeaten())

    def _likely(self, entrants: Sequence[Entrant]) -> list[Entrant]:
        """Return the networks that none beats if values count without their intervals."""
        return self._left(self._beats, among=entrants)

    def _beats(self, one: Sequence[Value], other: Sequence[Value]) -> bool:
        return beats(one, other, self._criteria, ALIKE)

    def _unsure(self, live: Sequence[Entrant]) -> list[Entrant]:
        """Return the networks of which one may beat the other, or may not."""
        rows = [(own, self.known(own)) for own in live]
        unsure: dict[str, Entrant] = {}
        for one, mine in rows:
            for other, theirs in rows:
                if one is not other and may_beat(mine, theirs, self._criteria, ALIKE):
                    unsure |= {one.spec: one, other.spec: other}
        return list(unsure.values())

    def _left(
        self,
        better: Beats,
        able: Callable[[Entrant], bool] = lambda _: True,
        among: Sequence[Entrant] | None = None,
    ) -> list[Entrant]:
        """Return the networks that none of those that are left and `able` to beats.

        The cheapest come first, so that what is ruled out is beaten by one that stays: a chain of small differences
        must not add up.
        """
        kept: list[tuple[Entrant, Sequence[Value]]] = []

        def is_beaten(own: Entrant, values: Sequence[Value]) -> bool:
            return any(other is not own and able(other) and better(theirs, values) for other, theirs in kept)

        for own in sorted(self.entrants if among is None else among, key=self._cheapest):
            values = self.known(own)
            if not is_beaten(own, values):
                kept += [(own, values)]
        for row in list(kept):
            if is_beaten(*row):
                kept.remove(row)
        return [own for own, _ in kept]

    def known(self, own: Entrant) -> list[Value]:
        """Return one value per criterion; where nothing is known yet, any value is possible.

        Args:
            own: The network.
        """
        return [own.values[each.name] if each.name in own.values else _nothing(each) for each in self._criteria]

    def _cheapest(self, own: Entrant) -> tuple[float, float]:
        return own.values["cost"].value, -self._throughput(own)

    def _promise(self, own: Entrant) -> float:
        """Return what decides which is simulated first: the cost of throughput, by what is known so far."""
        return own.values["cost"].value / max(self._throughput(own), 1e-9)

    def _throughput(self, own: Entrant) -> float:
        """Return the product of all throughputs."""
        most = 1.0
        for each in self._criteria:
            if each.kind == SATURATION:
                most *= own.values[each.name].value
        return most


def _nothing(each: Criterion) -> Value:
    """Return what is known before anything is: any value is possible."""
    return Value(0.0, 0.0, 1.0 if each.better == "high" else float("inf"), "estimate")
