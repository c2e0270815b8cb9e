"""What a buyer reads first: which network wins on what."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from topoloom.network.facts import CABLE_PER_TERMINAL, COST_PER_TERMINAL, LONGEST_CABLE, POWER_PER_TERMINAL, Fact
from topoloom.report.comparison import Comparison
from topoloom.simulation.curves import Curve

COUNT_WORDS = ("No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten")


@dataclass(frozen=True)
class Entry:
    """What one network achieves in a contest.

    Attributes:
        spec: The network.
        value: The achievement.
        by: The routing that achieved it, if routing matters.
        note: A remark beside the value.
    """

    spec: str
    value: float
    by: str = ""
    note: str = ""


@dataclass(frozen=True)
class Contest:
    """One measure on which networks are ranked.

    Attributes:
        title: What is measured.
        aim: What winning it is called.
        unit: The unit.
        decimals: The number of decimals to show; values that agree in them tie.
        better: Which values win.
        entries: One for each network that has a value.

    >>> one, other = Entry("mesh:2x2", 50.0), Entry("ring:4", 100.0)
    >>> cost = Contest("Cost", "the lowest cost", "$", 1, "low", (one, other))
    >>> cost.winners == [one], cost.margin(other), cost.share(one), cost.text(1234.5)
    (True, '+100 %', 0.5, '1,234.5')
    >>> cost.entry("ring:4") == other, cost.entry("mesh:4x4")
    (True, None)
    >>> free = Contest("Cost", "the lowest cost", "$", 1, "low", (Entry("mesh:2x2", 0.0),))
    >>> free.margin(free.entries[0]), free.share(free.entries[0]), free.winners
    ('', 0.0, [])
    """

    title: str
    aim: str
    unit: str
    decimals: int
    better: Literal["low", "high"]
    entries: tuple[Entry, ...]

    def text(self, value: float) -> str:
        """Return a value without its unit.

        Args:
            value: The number, in the contest's unit.
        """
        return f"{value:,.{self.decimals}f}"

    @property
    def ranking(self) -> list[Entry]:
        """The entries, best first."""
        return sorted(self.entries, key=lambda entry: entry.value, reverse=self.better == "high")

    @property
    def winners(self) -> list[Entry]:
        """The best entry and those that tie with it; none wins where all are equal."""
        ranking = self.ranking
        best = [entry for entry in ranking if self.text(entry.value) == self.text(ranking[0].value)]
        return best if len(best) < len(ranking) else []

    def margin(self, entry: Entry) -> str:
        """Return the difference of an entry from the best, in per cent of the best.

        Args:
            entry: An entry of this contest.
        """
        best = self.ranking[0].value
        return "" if best == 0 else f"{(entry.value - best) / best:+.0%}".replace("%", " %").replace("-", "−")

    def entry(self, spec: str) -> Entry | None:
        """Return the entry of a network; None if it has none.

        Args:
            spec: The network.
        """
        return next((entry for entry in self.entries if entry.spec == spec), None)

    def share(self, entry: Entry) -> float:
        """Return the length of the entry's bar, a fraction from 0 to 1: its value over the largest.

        Args:
            entry: An entry of this contest.
        """
        largest = max(entry.value for entry in self.entries)
        return entry.value / largest if largest else 0.0


def contests(comparison: Comparison) -> list[Contest]:
    """Return the contests that have at least one entry.

    Args:
        comparison: The comparison.

    >>> import topoloom
    >>> found = topoloom.compare(["mesh:2x2"], ["minimal"], load=[0.1, 0.2], warmup=10, measure=100)
    >>> [(contest.unit, contest.decimals, contest.better) for contest in contests(found)][:2]
    [('cycles', 1, 'low'), ('flits/cycle/terminal', 2, 'high')]
    >>> [(contest.unit, contest.better) for contest in contests(found)][2:]
    [('$', 'low'), ('W', 'low'), ('m', 'low'), ('m', 'low')]
    """
    first = comparison.traffics[:1]
    found = [
        Contest(
            f"Zero-load latency, {traffic}",
            "the lowest zero-load latency",
            "cycles",
            1,
            "low",
            _best_of_curves(comparison, traffic, lambda curve: curve.zero_load_latency, min, _interval),
        )
        for traffic in first
    ]
    found += [
        Contest(
            f"Saturation load, {traffic}",
            f"the highest saturation load under {traffic} traffic",
            "flits/cycle/terminal",
            2,
            "high",
            saturation_entries(comparison, traffic),
        )
        for traffic in comparison.traffics
    ]
    found += [
        _of_fact(comparison, COST_PER_TERMINAL, "the lowest cost per terminal"),
        _of_fact(comparison, POWER_PER_TERMINAL, "the lowest power per terminal"),
        _of_fact(comparison, CABLE_PER_TERMINAL, "the least cable per terminal"),
        _of_fact(comparison, LONGEST_CABLE, "the shortest longest cable"),
    ]
    return [contest for contest in found if contest.entries]


def saturation_entries(comparison: Comparison, traffic: str) -> tuple[Entry, ...]:
    """Return each network's highest saturation load under a traffic, with what that routing accepts at load 1.

    Args:
        comparison: The comparison.
        traffic: A traffic pattern of the comparison, unchecked.

    >>> import topoloom
    >>> found = topoloom.compare(["mesh:2x2"], ["minimal"], load=[0.1, 0.2], warmup=10, measure=100)
    >>> (entry,) = saturation_entries(found, "uniform")
    >>> entry.value == found.curves[0].saturation_load, entry.note
    (True, 'accepts 0.96 at load 1')
    """
    return _best_of_curves(comparison, traffic, lambda curve: curve.saturation_load, max, _accepted_at_1)


def _interval(curve: Curve) -> str:
    return "" if curve.zero_load_ci95 is None else f"± {curve.zero_load_ci95:.2f}"


def _accepted_at_1(curve: Curve) -> str:
    return "" if curve.accepted_at_1 is None else f"accepts {curve.accepted_at_1:.2f} at load 1"


def _best_of_curves(
    comparison: Comparison,
    traffic: str,
    measure: Callable[[Curve], float | None],
    best: Callable[..., Entry],
    note: Callable[[Curve], str] = lambda _: "",
) -> tuple[Entry, ...]:
    """Return each network's best value among its routings."""
    entries = []
    for facts in comparison.facts:
        mine = [
            Entry(curve.spec, value, curve.routing, note(curve))
            for curve in comparison.curves
            if curve.spec == facts["spec"] and curve.traffic == traffic and (value := measure(curve)) is not None
        ]
        if mine:
            entries.append(best(mine, key=lambda entry: entry.value))
    return tuple(entries)


def _of_fact(comparison: Comparison, fact: Fact, aim: str) -> Contest:
    entries = tuple(
        Entry(facts["spec"], value) for facts in comparison.facts if (value := fact.value(facts)) is not None
    )
    return Contest(fact.label, aim, fact.unit, fact.decimals, fact.better or "low", entries)


def headline(comparison: Comparison) -> str:
    """Return the title of the report.

    Args:
        comparison: The comparison.

    >>> headline(Comparison([{}, {}], [], [], [], [], finished=True))
    'Two networks, side by side'
    """
    if comparison.title:
        return comparison.title
    count = len(comparison.facts)
    word = COUNT_WORDS[count] if count < len(COUNT_WORDS) else str(count)
    return f"{word} network{'' if count == 1 else 's, side by side'}"


def verdict(comparison: Comparison) -> list[tuple[str, str]]:
    """Return the winners: (network, the measures it wins), most wins first; a shared win is marked.

    Args:
        comparison: The comparison.

    >>> from topoloom.network.networks import Network
    >>> facts = [Network(spec).facts() for spec in ("mesh:2x2", "hyperx:8x8,p=4")]
    >>> verdict(Comparison(facts, [], [], [], [], finished=True))[1]
    ('hyperx:8x8,p=4', 'the lowest cost per terminal')
    """
    wins: dict[str, list[str]] = {}
    for contest in contests(comparison):
        shared = " (tied)" if len(contest.winners) > 1 else ""
        for winner in contest.winners:
            wins.setdefault(winner.spec, []).append(contest.aim + shared)
    ranked = sorted(wins.items(), key=lambda item: -len(item[1]))
    return [(spec, join_words(aims)) for spec, aims in ranked]


def join_words(words: list[str]) -> str:
    """Return words as a list in a sentence.

    Args:
        words: The words.

    >>> join_words(["a", "b", "c"])
    'a, b and c'
    """
    return " and ".join(", ".join(words).rsplit(", ", 1)) if len(words) > 1 else "".join(words)
