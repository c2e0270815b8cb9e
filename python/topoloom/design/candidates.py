"""Design search: every configuration of the families for a number of terminals and a router radix.

Sizes, links and radix are exact, from the families' definitions; bisection (of :mod:`topoloom.design.bisections`) and
diameter are closed forms, which `beta_is` and `diameter_is` qualify. Nothing is built until :meth:`Candidate.facts` is
asked for.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from functools import cache
from math import floor, isfinite
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

from topoloom import _core
from topoloom._core import TopoloomError
from topoloom.design.hosting import SELF_HOSTED, Hosting
from topoloom.design.racks import RackRule
from topoloom.design.shape import Requirements, Shape
from topoloom.design.shapes import OTHERS, SHAPES
from topoloom.layout.layouts import DEFAULT_LAYOUT
from topoloom.libraries import require
from topoloom.network.families import descriptions
from topoloom.network.networks import Network
from topoloom.simulation.options import check_whole, require_some

if TYPE_CHECKING:
    import pandas as pd

SLACK = 0.1
"""Networks may have this part more terminals than are asked for, unless a range is given."""

SORTED_BY = ("ports", "cost", "cable", "beta", "diameter", "routers", "links", "radix", "terminals")
"""What configurations are sorted by; ports, cost and cable count per terminal."""

MOST_PORTS = 1024
"""The largest radix that is searched."""

MOST_TERMINALS = 100_000_000
"""The largest network that is searched."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One configuration.

    Attributes:
        spec: The network.
        family: Its family.
        terminals: Number of terminals.
        routers: Number of routers.
        radix: Ports of a router, those of terminals included.
        links: Links between routers.
        diameter: The largest distance between two routers, in hops.
        diameter_is: ``exact``, ``upper-bound`` or ``estimate``.
        beta: Links between two halves over half the terminals.
        beta_is: ``exact``, ``upper-bound``, ``lower-bound`` or ``estimate``.
        shape: The network without its terminals.

    >>> found = candidates(terminals=16, radix=8, families="hyperx")[0]
    >>> found.network().num_terminals == found.facts()["terminals"] == found.terminals
    True
    >>> found.to_dict()["family"], found.cable_per_terminal_m("rack") > 0
    ('hyperx', True)
    """

    spec: str
    family: str
    terminals: int
    routers: int
    radix: int
    links: int
    diameter: int
    diameter_is: str
    beta: float
    beta_is: str
    shape: Shape = field(repr=False, compare=False)

    @property
    def ports(self) -> int:
        """Ports in use, of all routers: what routers cost and draw, about."""
        return 2 * self.links + self.terminals

    def cable_per_terminal_m(self, layout: str = "") -> float | None:
        """Return the estimated metres of cable per terminal, for the layout ``rack`` only; None for others.

        Cables of terminals are included.

        Args:
            layout: As in :meth:`Network.layout`.

        Raises:
            TopoloomError: A layout that cannot be read.
        """
        rule = RackRule.read(layout)
        if rule is None:
            return None
        ends = self.shape.ends
        return rule.cable_m(self.shape.packing, self.terminals // ends, ends) / self.terminals

    def to_dict(self, layout: str = "") -> dict[str, Any]:
        """Return all its values by the keys of ``topoloom candidates --json``.

        Args:
            layout: The layout of the cable, as in :meth:`Network.layout`.

        Raises:
            TopoloomError: A layout that cannot be read.
        """
        known = {each.name: getattr(self, each.name) for each in fields(self) if each.name != "shape"}
        cable_m = self.cable_per_terminal_m(layout)
        cable_is = None if cable_m is None else "estimate"
        told = {"ports": self.ports, "cable_per_terminal_m": cable_m, "cable_is": cable_is}
        return known | told | {"layout": layout or DEFAULT_LAYOUT}

    def network(self) -> Network:
        """Build the network of this configuration."""
        return Network(self.spec)

    def facts(self, layout: str = "", prices: str = "") -> dict[str, Any]:
        """Build the network and return its facts, by the keys of ``topoloom show --json``.

        The diameter is then exact, and the bisection is the best cut found.

        Args:
            layout: The layout of cost and cable, as in :meth:`Network.layout`.
            prices: The price list, as there.

        Raises:
            TopoloomError: A layout or a price list that cannot be read.
        """
        return self.network().facts(layout, prices)


class Candidates(Sequence[Candidate]):
    """Configurations, those of the fewest ports first.

    Args:
        found: The configurations, in any order.
        ordered: Keep their order.

    >>> found = candidates(terminals=16, radix=8)
    >>> [one.family for one in found.best(1)] == list(dict.fromkeys(one.family for one in found.best(1)))
    True
    >>> len(found.frame()) == len(found)
    True
    """

    def __init__(self, found: Iterable[Candidate], *, ordered: bool = False) -> None:
        self._found = list(found) if ordered else sorted(found, key=lambda each: (each.ports, each.spec))

    def __getitem__(self, place: Any) -> Any:
        """Return one of them, or a list of several."""
        return self._found[place]

    def __len__(self) -> int:
        return len(self._found)

    def __repr__(self) -> str:
        return f"<{len(self)} candidates>"

    def best(self, each: int = 1) -> "Candidates":
        """Return the first configurations of every family.

        Args:
            each: The number of configurations per family.
        """
        seen: Counter[str] = Counter()
        kept = []
        for found in self._found:
            seen[found.family] += 1
            if seen[found.family] <= each:
                kept.append(found)
        return Candidates(kept, ordered=True)

    def sorted_by(self, key: str, layout: str = "", prices: str = "") -> "Candidates":
        """Return the configurations in the order of a key, the best first; the other keys break ties.

        Args:
            key: One of :data:`SORTED_BY`. The largest come first of ``beta`` and ``terminals``; ``cost`` is that of
                routers.
            layout: The layout of the cable, as in :meth:`Network.layout`.
            prices: The price list of the cost, as there.

        Raises:
            TopoloomError: An unknown key, a layout or a price list that cannot be read.

        >>> candidates(terminals=16, radix=8, families="hyperx").sorted_by("beta")[0].spec
        'hyperx:4x4,p=1'
        """
        from topoloom.design.ranking import column  # noqa: PLC0415 - NumPy loads slowly

        places = column(self._found, key, layout, prices).argsort(kind="stable")
        return Candidates((self._found[place] for place in places), ordered=True)

    def pareto(self, keys: Sequence[str], layout: str = "", prices: str = "") -> "Candidates":
        """Return the configurations that no other one beats: as good in all keys, and better in one.

        Args:
            keys: Keys as of :meth:`sorted_by`.
            layout: The layout of the cable, as in :meth:`Network.layout`.
            prices: The price list of the cost, as there.

        Raises:
            TopoloomError: An unknown key, a layout or a price list that cannot be read.

        >>> found = candidates(terminals=16, radix=8, families="hyperx")
        >>> [own.spec for own in found.pareto(["ports", "diameter"])]
        ['hyperx:2x2,p=4', 'hyperx:4,p=4']
        """
        from topoloom.design.ranking import column, unbeaten  # noqa: PLC0415 - NumPy loads slowly

        if not keys:
            raise TopoloomError("pareto needs a key at least, such as ports,beta,diameter")
        import numpy as np  # noqa: PLC0415 - loads slowly

        rows = np.column_stack([column(self._found, key, layout, prices) for key in keys])
        return Candidates((self._found[place] for place in unbeaten(rows)), ordered=True)

    def router_costs(self, prices: str = "") -> list[float]:
        """Return the dollars of a terminal's share of the routers, all as large as the largest of their network.

        They are ∞ where the list has no switch of this many ports.

        Args:
            prices: The price list, as in :meth:`Network.layout`.

        Raises:
            TopoloomError: A price list that cannot be read.

        >>> candidates(terminals=(16, 16), radix=8, families="hyperx").router_costs("400g")[0]
        6000.0
        """
        from topoloom.design.ranking import router_costs  # noqa: PLC0415 - NumPy loads slowly

        return [float(usd) for usd in router_costs(self._found, prices)]

    def frame(self) -> "pd.DataFrame":
        """Return a data frame, one row per configuration."""
        require("pandas")
        import pandas as pd  # noqa: PLC0415 - loads slowly

        return pd.DataFrame([found.to_dict() for found in self._found])


def candidates(
    *,
    terminals: int | tuple[int, int],
    radix: int,
    families: Sequence[str] | str | None = None,
    min_beta: float = 0.0,
    max_diameter: int | None = None,
    hosts: str = "",
) -> Candidates:
    """Return every configuration of the families for a number of terminals and a number of ports per router.

    With `hosts` the terminals are their accelerators. Those of the configurations are ports for network interfaces.

    Args:
        terminals: The least number of terminals, with up to a tenth more allowed; or the least and the largest.
        radix: Ports of a router, those of terminals included.
        families: Names of families, or one name; all that can be searched unless given.
        min_beta: The least bisection: links between two halves over half the terminals, by the families' formulas.
        max_diameter: The largest diameter in hops, by the families' formulas.
        hosts: The kind of hosts, as in ``topoloom list hosts``; none unless given.

    Raises:
        TopoloomError: A family that cannot be searched, unknown hosts, or numbers that are out of range.

    >>> found = candidates(terminals=3000, radix=36, families=["slimfly"], max_diameter=2)
    >>> found[0].spec
    'slimfly:q=8,p=24'
    """
    asked = terminal_range(terminals)
    ports = Hosting.read(hosts).ports(asked) if hosts else asked
    wanted = Requirements(*ports, check_whole("radix", radix, 2, MOST_PORTS))
    if isinstance(min_beta, bool) or not isinstance(min_beta, Real) or not (isfinite(min_beta) and min_beta >= 0):
        raise TopoloomError(f"min_beta is {min_beta!r}; it must be a number from 0")
    if max_diameter is not None:
        check_whole("max_diameter", max_diameter, 1, MOST_TERMINALS)
    found = (
        each for name in _names(families, hosts) for shape in SHAPES[name](wanted) for each in _populated(shape, wanted)
    )
    return Candidates(
        each for each in found if each.beta >= min_beta and (max_diameter is None or each.diameter <= max_diameter)
    )


def terminal_range(terminals: Any) -> tuple[int, int]:
    """Return the least and the largest number of terminals, of one number or a pair.

    Args:
        terminals: One number, to which a tenth is added for the largest; or the least and the largest, also as in
            ``"3000:3300"``.

    Raises:
        TopoloomError: It is neither, or out of range.

    >>> terminal_range(1000), terminal_range("50:60")
    ((1000, 1100), (50, 60))
    """
    if isinstance(terminals, str):
        terminals = _range(terminals) or terminals
    if isinstance(terminals, Integral) and not isinstance(terminals, bool):
        low = check_whole("terminals", terminals, 1, MOST_TERMINALS)
        return low, min(floor(low * (1 + SLACK)), MOST_TERMINALS)
    if not isinstance(terminals, tuple | list) or len(terminals) != 2:  # noqa: PLR2004 - the least and the largest
        raise TopoloomError(
            f"terminals is {terminals!r}; it must be a whole number or a pair of them, such as (3000, 3300)"
        )
    low, high = (check_whole("terminals", number, 1, MOST_TERMINALS) for number in terminals)
    if low > high:
        raise TopoloomError(f"terminals are {low} to {high}; they must ascend, from 1 to {MOST_TERMINALS}")
    return low, high


def count_or_range(option: str, text: str) -> int | tuple[int, int]:
    """Return a number, or the least and the largest of a range, as commands read them.

    Args:
        option: The option, for the message.
        text: The text.

    Raises:
        TopoloomError: It is neither.

    >>> count_or_range("--terminals", "3000"), count_or_range("--terminals", "3000:3300")
    (3000, (3000, 3300))
    """
    try:
        return _range(text) or int(text)
    except ValueError:
        raise TopoloomError(f"{option} is '{text}'; it must be a number or a range, such as 3000:3300") from None


def _range(text: str) -> tuple[int, int] | None:
    """Return both numbers of a text such as ``3000:3300``; None for another text."""
    numbers = re.fullmatch(r"\s*(\d{1,18})\s*:\s*(\d{1,18})\s*", text)
    return None if numbers is None else (int(numbers[1]), int(numbers[2]))


def _names(families: Any, hosts: str) -> list[str]:
    """Return the names of the families that are searched."""
    if families is None:
        return [name for name in SHAPES if not (hosts and name in SELF_HOSTED)]
    if not isinstance(families, Iterable):
        raise TopoloomError(f"families is {families!r}; it must be a name or several of {', '.join(SHAPES)}")
    names = [families] if isinstance(families, str) else list(dict.fromkeys(families))
    require_some("families", names)
    for name in names:
        if (sentence := why_not_searched(name, hosts)) is not None:
            raise TopoloomError(sentence)
    return names


def why_not_searched(name: Any, hosts: str = "") -> str | None:
    """Return why a family cannot be searched, as a sentence; None if it can.

    Args:
        name: The name of the family, or what stands for it.
        hosts: The kind of hosts that it is to join, if any.

    >>> why_not_searched("machine")
    'the family machine is not searched: it is a machine as it was built; see topoloom list machines'
    >>> why_not_searched("torus") is None, why_not_searched("tors")[:55]
    (True, "no family 'tors' to search (did you mean 'torus'?); the")
    """
    if hosts and name in SELF_HOSTED:
        able = ", ".join(each for each in SHAPES if each not in SELF_HOSTED)
        return f"the family {name} cannot take hosts {hosts}: its routers are endpoints themselves; there are {able}"
    if name in SHAPES:
        return None
    if name in OTHERS:
        return f"the family {name} is not searched: {OTHERS[name]}"
    near = get_close_matches(str(name), SHAPES, n=1)
    hint = f" (did you mean '{near[0]}'?)" if near else ""
    return f"no family '{name}' to search{hint}; there are {', '.join(SHAPES)}"


@cache
def _fixes_terminals(family: str) -> bool:
    """Return whether the other keys of a family decide how many terminals a router has."""
    return all(key["name"] != "p" for key in descriptions()[family]["keys"])


def _populated(shape: Shape, wanted: Requirements) -> Iterator[Candidate]:
    """Put on every number of terminals that fits."""
    fitting = wanted.terminals(shape.ends, shape.degree, shape.p)
    if not fitting:
        return
    family = _core.head(shape.spec)
    fixed = _fixes_terminals(family)
    for p in fitting:
        total = shape.ends * p
        yield Candidate(
            spec=shape.spec if fixed else f"{shape.spec},p={p}",
            family=family,
            terminals=total,
            routers=shape.routers,
            radix=shape.degree + p,
            links=shape.links,
            diameter=shape.diameter,
            diameter_is=shape.diameter_is,
            beta=2 * shape.cut / total,
            beta_is=shape.cut_is,
            shape=shape,
        )
