"""The facts of a network, their order and units: one list for the terminal, the report and the comparison."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from topoloom.layout.prices import assumed_prices

Values = Mapping[str, Any]
"""Values of a network, or of its layout, by key."""


@dataclass(frozen=True)
class Fact:
    """One row of the table of facts.

    Attributes:
        label: The head of the row.
        unit: The unit of the value, or nothing.
        value: Takes the value from a network's facts; None where it has none.
        decimals: Decimals to show.
        better: Which value a buyer wants, if one is better.
        note: What the value means.
        optional: Whether the row is left out where no network has a value.
        priced: Whether the price list decides it: networks of different lists have no best one.
    """

    label: str
    unit: str
    value: Callable[[Values], float | None]
    decimals: int = 0
    better: Literal["low", "high"] | None = None
    note: str = ""
    optional: bool = False
    priced: bool = False

    def text(self, facts: Values) -> str:
        """Return the value as people read it, without its unit.

        Args:
            facts: The facts of a network, :meth:`topoloom.Network.facts`.

        >>> import topoloom
        >>> diameter = next(fact for fact in FACTS if fact.label == "Diameter")
        >>> diameter.text(topoloom.network("mesh:4x4").facts())
        '6'
        """
        value = self.value(facts)
        if value is None:
            return "∞" if self.unit == "hops" and facts.get("connected") is False else "–"
        return f"{value:,.{self.decimals}f}"

    def is_best(self, facts: Values, others: Sequence[Values]) -> bool:
        """Whether no network of `others` has a better value, and not all have the same.

        Args:
            facts: The facts of a network.
            others: The facts of all networks of the comparison, this one included.

        >>> import topoloom
        >>> diameter = next(fact for fact in FACTS if fact.label == "Diameter")
        >>> both = [topoloom.network(spec).facts() for spec in ("mesh:4x4", "torus:4x4")]
        >>> [diameter.is_best(facts, both) for facts in both]
        [False, True]
        """
        values = {self.text(other): value for other in others if (value := self.value(other)) is not None}
        if self.better is None or len(values) < 2 or self.text(facts) not in values:  # noqa: PLR2004 - a contest
            return False
        if self.priced and len({other.get("prices") for other in others}) > 1:
            return False
        best = min(values.values()) if self.better == "low" else max(values.values())
        return values[self.text(facts)] == best


def _of(key: str) -> Callable[[Values], float | None]:
    return lambda facts: facts.get(key)


def _diameter(facts: Values) -> float | None:
    """Return the diameter, or the largest distance of a sample."""
    return facts["diameter_at_least"] if facts.get("distance_sample") else facts.get("diameter")


def _gigabytes(key: str) -> Callable[[Values], float | None]:
    """Return what takes `key`, which is in Gb/s, from a network's facts in GB/s."""
    return lambda facts: None if facts.get(key) is None else float(facts[key]) / 8


def _taper(facts: Values) -> float | None:
    """Return the largest taper of the fabric's levels, 1 at least; None where links have no rates."""
    levels = facts.get("taper")
    if levels is None:
        return None
    tapers: list[float | None] = [each["taper"] for each in levels if each["level"] != "host"]
    return max([1.0, *filter(None, tapers)])


def _scale_up(facts: Values) -> float | None:
    """Return what accelerators send within their hosts over what the interfaces of hosts send; None without hosts."""
    ratios: list[float | None] = [each["taper"] for each in facts.get("taper") or () if each["level"] == "host"]
    return ratios[0] if ratios else None


def per_terminal(key: str) -> Callable[[Values], float | None]:
    """Return what takes `key` per terminal from a network's facts.

    Args:
        key: A key of the facts, such as ``cost_usd``.

    Raises:
        KeyError: The result raises it for facts without a number of terminals.

    >>> per_terminal("cost_usd")({"cost_usd": 100, "terminals": 8})
    12.5
    """
    return lambda facts: None if facts.get(key) is None else float(facts[key]) / int(facts["terminals"])


def assumptions(told: Iterable[Values]) -> list[str]:
    """Return what cost, power and cable of networks rest on, a sentence for each layout and price list among them.

    Args:
        told: The facts of each network.

    >>> import topoloom
    >>> assumptions([topoloom.network("mesh:4x4").facts()])[0][:45]
    'Cost, power and cable: prices edr-flex; layou'
    """
    found: dict[tuple[str, str, str], dict[str, None]] = {}
    for facts in told:
        if "layout_assumptions" in facts:
            key = (facts["prices"], facts["layout"], facts["layout_assumptions"])
            found.setdefault(key, {}).update(dict.fromkeys(facts.get("prices_assumed", ())))
    sentences = [
        f"Cost, power and cable: prices {prices}{assumed_prices(assumed)}; layout {layout}: {rules}."
        for (prices, layout, rules), assumed in found.items()
    ]
    if len({prices for prices, _, _ in found}) > 1:
        sentences.append(
            "The networks are priced by different lists, each by that of its rate, so their costs and power do not "
            "compare; --prices prices all by one list."
        )
    return sentences


COST_PER_TERMINAL = Fact(
    "Cost per terminal",
    "$",
    per_terminal("cost_usd"),
    better="low",
    note="routers and cables, terminal cables included",
    priced=True,
)
POWER_PER_TERMINAL = Fact("Power per terminal", "W", per_terminal("power_w"), decimals=1, better="low", priced=True)
LIFETIME_COST_PER_TERMINAL = Fact(
    "Cost per terminal with electricity",
    "$",
    _of("lifetime_cost_per_terminal_usd"),
    better="low",
    note="of the years that the price list counts",
    optional=True,
    priced=True,
)
CABLE_PER_TERMINAL = Fact(
    "Cable per terminal", "m", per_terminal("cable_m"), 2, "low", "of all cables, terminal cables included"
)
LONGEST_CABLE = Fact("Longest cable", "m", _of("longest_cable_m"), 1, "low", "between routers")

FACTS: tuple[Fact, ...] = (
    Fact("Terminals", "", _of("terminals")),
    Fact("Routers", "", _of("routers")),
    Fact("Radix", "ports", _of("radix"), note="ports of the largest router in use, terminals included"),
    Fact("Network radix", "ports", _of("network_radix"), note="ports to other routers"),
    Fact("Links", "", _of("links"), note="between routers, each once"),
    Fact("Terminal links", "", _of("terminal_links")),
    Fact("Diameter", "hops", _diameter, better="low", note="largest distance between two routers"),
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
        "Shortest paths",
        "mean",
        _of("shortest_paths_mean"),
        3,
        "high",
        "between two routers; parallel links make several",
    ),
    Fact(
        "Pairs with several",
        "",
        _of("multipath_share"),
        3,
        "high",
        "share of the pairs of routers with more than one shortest path",
    ),
    Fact(
        "Bisection",
        "links",
        _of("bisection_links"),
        better="high",
        note="links between two halves of the terminals",
    ),
    Fact(
        "Bisection bandwidth",
        "GB/s",
        _gigabytes("bisection_gbps"),
        better="high",
        note="of the links between two halves of the terminals, in one direction",
        optional=True,
    ),
    Fact(
        "Injection bandwidth",
        "GB/s",
        _gigabytes("injection_gbps"),
        2,
        note="of a terminal into the network: load 1",
        optional=True,
    ),
    Fact(
        "Taper",
        "",
        _taper,
        2,
        "low",
        "the largest of the fabric's levels: what enters a level over what can leave it upwards",
        optional=True,
    ),
    Fact(
        "Scale-up",
        "",
        _scale_up,
        2,
        note="what accelerators can send within their hosts over what the hosts' interfaces can send",
        optional=True,
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
        optional=True,
    ),
    Fact("Cost", "$", _of("cost_usd"), better="low", note="routers and cables, terminal cables included", priced=True),
    COST_PER_TERMINAL,
    LIFETIME_COST_PER_TERMINAL,
    Fact(
        "Power",
        "W",
        _of("power_w"),
        better="low",
        note="of routers, and of what else the price list knows",
        priced=True,
    ),
    POWER_PER_TERMINAL,
    Fact("Cabinets", "", _of("cabinet_count"), note="or racks, by the layout"),
    CABLE_PER_TERMINAL,
    LONGEST_CABLE,
)

PARTS: tuple[Fact, ...] = (
    Fact("Terminals", "", _of("terminals")),
    Fact("Routers", "", _of("routers")),
    Fact("Cabinets", "", lambda told: len(told["cabinets"])),
    Fact("Terminals of a cabinet", "at most", lambda told: max(cabinet["terminals"] for cabinet in told["cabinets"])),
    Fact("Rows", "", _of("rows")),
    Fact("Cabinets of a row", "", _of("columns")),
    Fact("Routers of a cabinet", "at most", lambda told: max(cabinet["routers"] for cabinet in told["cabinets"])),
    Fact("Bundles", "", lambda told: len(told["bundles"]), note="pairs of cabinets that cables join"),
    Fact("Cables of a bundle", "at most", lambda told: max((b["cables"] for b in told["bundles"]), default=None)),
    Fact("Cables", "", _of("cables"), note="those of terminals included"),
    Fact("Cable", "m", _of("cable_m"), 1),
    Fact("  of terminals", "m", _of("terminal_cable_m"), 1),
    LONGEST_CABLE,
    Fact("Cost", "$", _of("cost_usd")),
    Fact("  of routers", "$", _of("router_cost_usd")),
    Fact("  of cables", "$", _of("cable_cost_usd")),
    Fact("  of terminals' cables", "$", _of("terminal_cable_cost_usd")),
    Fact("  of network interfaces", "$", _of("nic_cost_usd")),
    Fact("  without terminals' cables", "$", _of("cost_without_terminal_cables_usd")),
    Fact("Electricity", "$", _of("energy_cost_usd"), note="of the years that the price list counts", optional=True),
    Fact("  years", "", _of("energy_years"), optional=True),
    Fact("Cost with electricity", "$", _of("lifetime_cost_usd"), optional=True),
    Fact("Power", "W", _of("power_w"), 1),
    Fact("  of routers", "W", _of("router_power_w"), 1),
    Fact("  of active cables", "W", _of("cable_power_w"), 1),
    Fact("  of network interfaces", "W", _of("nic_power_w"), 1),
    Fact("Cost per terminal", "$", _of("cost_per_terminal_usd"), 2),
    Fact("  of routers", "$", _of("router_cost_per_terminal_usd"), 2),
    Fact("  of cables", "$", _of("cable_cost_per_terminal_usd"), 2),
    CABLE_PER_TERMINAL,
    LIFETIME_COST_PER_TERMINAL,
    Fact("Power per terminal", "W", _of("power_per_terminal_w"), 2),
)
"""What ``topoloom layout`` reports of a network; parts follow their whole."""


def facts_of(networks: Sequence[Values], rows: Sequence[Fact] = FACTS) -> list[Fact]:
    """Return the facts to show of networks: optional ones only if one of them has a value.

    Args:
        networks: The facts of each network.
        rows: The facts to choose from, in the order in which they are shown.

    >>> import topoloom
    >>> [fact.label for fact in facts_of([topoloom.network("mesh:4x4").facts()])][:3]
    ['Terminals', 'Routers', 'Radix']
    """
    return [fact for fact in rows if not fact.optional or any(fact.value(facts) is not None for facts in networks)]


def bound(fact: Fact, facts: Values) -> str:
    """Return the sign that precedes a value that is only a bound, or an estimate.

    Args:
        fact: The fact.
        facts: The facts of a network.

    >>> import topoloom
    >>> cut = next(fact for fact in FACTS if fact.label == "Bisection")
    >>> bound(cut, topoloom.network("torus:8x8").facts())
    '≤ '
    """
    if (
        fact.label in ("Bisection", "Bisection bandwidth")
        and fact.value(facts) is not None
        and facts.get("bisection_is") == "upper-bound"
    ):
        return "≤ "
    if facts.get("distance_sample"):
        return SAMPLED.get(fact.label, "")
    return ""


SAMPLED = {"Diameter": "≥ ", "Average distance": "≈ ", "Average hops": "≈ "}
"""The signs before values that were found from a sample of routers."""
