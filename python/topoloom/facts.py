"""What is told of a network, in which order and unit: one list for the terminal, the report and the comparison."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

Facts = Mapping[str, Any]


@dataclass(frozen=True)
class Fact:
    """One row of the table of facts.

    Attributes:
        label: What stands at the head of the row.
        unit: The unit of the value, or nothing.
        value: Takes the value from a network's facts; None where it has none.
        decimals: Decimals to show.
        better: Which value a buyer wants, if one is better.
        note: What the value means.
    """

    label: str
    unit: str
    value: Callable[[Facts], float | None]
    decimals: int = 0
    better: Literal["low", "high"] | None = None
    note: str = ""

    def text(self, facts: Facts) -> str:
        """Return the value as people read it, without its unit."""
        value = self.value(facts)
        return "–" if value is None else f"{value:,.{self.decimals}f}"

    def is_best(self, facts: Facts, others: Sequence[Facts]) -> bool:
        """Whether no network of `others` has a better value, and not all have the same."""
        values = {self.text(other): value for other in others if (value := self.value(other)) is not None}
        if self.better is None or len(values) < 2 or self.text(facts) not in values:  # noqa: PLR2004 - a contest
            return False
        best = min(values.values()) if self.better == "low" else max(values.values())
        return values[self.text(facts)] == best


def _of(key: str) -> Callable[[Facts], float | None]:
    return lambda facts: facts.get(key)


def per_terminal(key: str) -> Callable[[Facts], float | None]:
    """Return what takes `key` per terminal from a network's facts."""
    return lambda facts: None if facts.get(key) is None else float(facts[key]) / int(facts["terminals"])


COST_PER_TERMINAL = Fact(
    "Cost per terminal",
    "$",
    per_terminal("cost_usd"),
    better="low",
    note="routers and cables, terminal cables included",
)
POWER_PER_TERMINAL = Fact("Power per terminal", "W", per_terminal("power_w"), decimals=1, better="low")

FACTS: tuple[Fact, ...] = (
    Fact("Terminals", "", _of("terminals")),
    Fact("Routers", "", _of("routers")),
    Fact("Radix", "ports", _of("radix"), note="ports of the largest router in use, terminals included"),
    Fact("Network radix", "ports", _of("network_radix"), note="ports to other routers"),
    Fact("Links", "", _of("links"), note="between routers, each once"),
    Fact("Terminal links", "", _of("terminal_links")),
    Fact("Diameter", "hops", _of("diameter"), better="low", note="largest distance between two routers"),
    Fact(
        "Average distance",
        "hops",
        _of("average_distance"),
        3,
        "low",
        "over ordered pairs of distinct routers",
    ),
    Fact(
        "Average hops",
        "hops",
        _of("average_hops"),
        3,
        "low",
        "between routers, over pairs of distinct terminals",
    ),
    Fact(
        "Bisection",
        "links",
        _of("bisection_links"),
        better="high",
        note="links between two halves of the terminals",
    ),
    Fact("Bisection ratio", "", _of("bisection_ratio"), 3, "high", "bisection over links"),
    Fact("Beta", "", _of("beta"), 3, "high", "bisection over half the terminals: 1 is full bisection bandwidth"),
    Fact(
        "Moore ratio",
        "",
        _of("moore_ratio"),
        3,
        "high",
        "routers over the most that degree and diameter allow",
    ),
    Fact("Cost", "$", _of("cost_usd"), better="low", note="routers and cables, terminal cables included"),
    COST_PER_TERMINAL,
    Fact("Power", "W", _of("power_w"), better="low", note="2.8 W a router port"),
    POWER_PER_TERMINAL,
)


def bound(fact: Fact, facts: Facts) -> str:
    """Return the sign that stands before a value that is only a bound."""
    return "≤ " if fact.label == "Bisection" and facts.get("bisection_is") == "upper-bound" else ""
