"""Cable in the racks of the layout ``rack`` by closed forms: nothing is built.

Routers fill racks in an order in which the members of a group follow each other. What is known of links is how far
apart their ends are in that order (:class:`Spread`); what the racks hold and where they stand then gives metres.
"""

from dataclasses import dataclass, replace
from functools import lru_cache
from math import ceil, floor, inf, sqrt

from topoloom import _core
from topoloom.engine.results import RackNumbers


@dataclass(frozen=True, slots=True)
class Spread:
    """Links whose ends differ in one digit of their routers' numbers, in any two values of it.

    Attributes:
        links: How many there are.
        values: Values of the digit; 0 for links to hubs.
        stride: Routers from a value to the next one.
    """

    links: float
    values: int
    stride: int = 1


@dataclass(frozen=True, slots=True)
class Packing:
    """What stands together, and how links spread.

    Attributes:
        spreads: The links between routers.
        group: Routers that are kept together.
        group_ends: Those of them that have terminals.
        hubs: Routers in racks of their own, amid the others.
    """

    spreads: tuple[Spread, ...]
    group: int = 1
    group_ends: int = 1
    hubs: int = 0


class RackRule(RackNumbers):
    """The numbers of the rule; see ``topoloom list layouts``. Lengths are in metres.

    >>> RackRule.read("").cable_m(Packing((Spread(4.0, 4),), group=4, group_ends=4), p=2, ends=4)
    18.0
    """

    @classmethod
    @lru_cache(maxsize=64)
    def read(cls, layout: str) -> "RackRule | None":
        """Return the numbers of a layout; None if it is not ``rack``.

        Args:
            layout: The layout, such as ``rack:units=48``; empty for the default one.

        Raises:
            TopoloomError: A layout that does not read.

        >>> RackRule.read("rack:units=48").units, RackRule.read("family")
        (48, None)
        """
        numbers = _core.rack_numbers(layout)
        return None if numbers is None else cls(numbers)

    def most(self, routers: int, nodes: int) -> float:
        """Return the number of equal lots of routers and nodes that a rack holds; not rounded.

        Args:
            routers: The number of routers per lot.
            nodes: The number of nodes per lot.

        >>> RackRule.read("").most(1, 13)
        3.0
        """
        limits = [
            (self.units, routers * self.router_units + nodes * self.node_units),
            (self.kw, routers * self.router_kw + nodes * self.node_kw),
            (self.max_routers, routers),
            (self.max_nodes, nodes),
        ]
        return min((limit / load for limit, load in limits if limit is not None and load), default=inf)

    def cable_m(self, packing: Packing, p: int, ends: int) -> float:
        """Return an estimate of the metres of all cables, those of terminals included.

        Args:
            packing: What stands together, and how links spread.
            p: Terminals of a router that has any.
            ends: Routers that have terminals.
        """
        # The rule takes the order with the least cable: groups that are not divided, or routers one after the other.
        undivided = self.most(packing.group, packing.group_ends * p) >= 1
        ways = [self._links_m(packing, ends, self._racks_a_router(packing, p), undivided=undivided)]
        if undivided:
            streamed = replace(packing, group=1, group_ends=1) if packing.group == packing.group_ends else packing
            ways.append(self._links_m(packing, ends, self._racks_a_router(streamed, p), undivided=False))
        return min(ways) + ends * self._terminals_m(p)

    def _links_m(self, packing: Packing, ends: int, each: float, *, undivided: bool) -> float:
        """Return the metres of cable between routers that take `each` racks."""
        count = ends / packing.group_ends * packing.group * each + packing.hubs / max(1.0, self.most(1, 0) // 1)
        room = _Floor.of(self, max(1, ceil(count - 1e-9)))
        return sum(
            spread.links
            * (
                self.inside_m
                if undivided and 0 < spread.values * spread.stride <= packing.group
                else room.mean_m(spread, each)
            )
            for spread in packing.spreads
        )

    def _racks_a_router(self, packing: Packing, p: int) -> float:
        """Return the part of a rack that a router of a group takes with its nodes, on average."""
        whole = self.most(packing.group, packing.group_ends * p)
        if whole >= 1:
            return 1 / (packing.group * (whole // 1))
        one = self.most(1, p)
        full = 1 / (one // 1) if one >= 1 else 1 / one
        bare = 1 / (self.most(1, 0) // 1)
        return (packing.group_ends * full + (packing.group - packing.group_ends) * bare) / packing.group

    def _terminals_m(self, p: int) -> float:
        """Return the metres of cable of the terminals of a router."""
        if self.terminal_m is None:
            return 0.0
        if self.most(1, p) >= 1:
            return p * self.terminal_m
        # The router stands anywhere in its rack: half of a rack is left for its nodes, on average.
        near = min(p, max(self.most(1, p) * (p + 1) - 1, 0) / 2)
        return near * self.terminal_m + (p - near) * (self.overhead_m + self.width_m)


@dataclass(frozen=True)
class _Floor:
    """Racks in rows that are run through to and fro."""

    rule: RackRule
    columns: int
    count: int

    @classmethod
    def of(cls, rule: RackRule, count: int) -> "_Floor":
        row_m = rule.depth_m + sum(rule.aisles_m) / 2
        rows = rule.rows or max(1, floor(sqrt(count * rule.width_m / max(row_m, 1e-9)) + 0.5))
        columns = rule.columns or ceil(count / rows)
        return cls(rule, max(1, min(columns, count)), count)

    def mean_m(self, spread: Spread, each: float) -> float:
        """Return the mean length of links that spread so, of routers that take `each` racks."""
        rule = self.rule
        row_m = rule.depth_m + sum(rule.aisles_m) / 2
        across_m = rule.width_m * (self.columns**2 - 1) / (3 * self.columns)
        if not spread.values:
            # Any rack to one in the middle.
            return rule.overhead_m + across_m + row_m * self.count / self.columns / 4
        step = spread.stride * each
        values = spread.values
        if values == 1:
            return rule.inside_m
        pairs = values * (values - 1) / 2
        together = sum((values - d) * (1 - d * step) for d in range(1, min(values, ceil(1 / step)))) / pairs
        racks = max(1.0, step * (values + 1) / 3 / max(1 - together, 1e-9))
        in_a_row = step * values <= self.columns
        way_m = rule.width_m * racks if in_a_row else across_m + row_m * racks / self.columns
        return together * rule.inside_m + (1 - together) * (rule.overhead_m + way_m)
