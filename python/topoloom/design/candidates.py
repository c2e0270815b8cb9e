"""Design search: every configuration of the families that fits so many terminals and routers of so many ports.

Sizes, links and radix are exact, from the families' definitions; bisection (of :mod:`topoloom.design.bisections`) and
diameter are closed forms, which `beta_is` and `diameter_is` qualify. Nothing is built until :meth:`Candidate.facts` is
asked for.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from math import floor, isfinite, isqrt, log, prod
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

from topoloom._core import TopoloomError
from topoloom.design import bisections
from topoloom.design.bisections import generator_degree
from topoloom.design.racks import Packing, RackRule, Spread
from topoloom.layout.layouts import DEFAULT_LAYOUT
from topoloom.network.networks import Network
from topoloom.simulation.options import check_whole

if TYPE_CHECKING:
    import pandas as pd

SLACK = 0.1
"""Networks may have this part more terminals than are asked for, unless a range is given."""

MOST_PORTS = 1024
"""The largest radix that is searched."""

MOST_TERMINALS = 100_000_000
"""The largest network that is searched."""

MOST_DIMENSIONS = 5
"""The most dimensions of a HyperX."""


@dataclass(frozen=True, slots=True)
class Shape:
    """A network without its terminals.

    Attributes:
        spec: Its spec, without p.
        routers: Routers in all.
        ends: Those that have terminals.
        degree: Ports to other routers, of the router that has most of them with its terminals.
        links: Links between routers.
        cut: Links between two halves, about.
        cut_is: ``exact``, ``upper-bound``, ``lower-bound`` or ``estimate``.
        diameter: Links between two routers at the most.
        packing: What stands together in racks, and how links spread over them.
        diameter_is: ``exact``, ``upper-bound`` or ``estimate``.
        p: Terminals a router, where the family fixes them; 0 where they are free.
    """

    spec: str
    routers: int
    ends: int
    degree: int
    links: int
    cut: float
    cut_is: str
    diameter: int
    packing: Packing
    diameter_is: str = "exact"
    p: int = 0


@dataclass(frozen=True, slots=True)
class Candidate:
    """One configuration.

    Attributes:
        spec: The network.
        family: Its family.
        terminals: Terminals in all.
        routers: Routers in all.
        radix: Ports of a router, those of terminals included.
        links: Links between routers.
        diameter: Links between two routers at the most.
        diameter_is: ``exact``, ``upper-bound`` or ``estimate``.
        beta: Links between two halves over half the terminals.
        beta_is: ``exact``, ``upper-bound``, ``lower-bound`` or ``estimate``.
        shape: The network without its terminals.
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
        """Return the metres of cable per terminal, those of terminals included, about; None unless by ``rack``.

        Args:
            layout: As in :meth:`Network.layout`.

        Raises:
            TopoloomError: A layout that does not read.
        """
        rule = RackRule.read(layout)
        if rule is None:
            return None
        ends = self.shape.ends
        return rule.cable_m(self.shape.packing, self.terminals // ends, ends) / self.terminals

    def to_dict(self, layout: str = "") -> dict[str, Any]:
        """Return all that is known of it; cable by a layout, as :meth:`cable_per_terminal_m`."""
        known = {each.name: getattr(self, each.name) for each in fields(self) if each.name != "shape"}
        cable_m = self.cable_per_terminal_m(layout)
        cable_is = None if cable_m is None else "estimate"
        told = {"ports": self.ports, "cable_per_terminal_m": cable_m, "cable_is": cable_is}
        return known | told | {"layout": layout or DEFAULT_LAYOUT}

    def network(self) -> Network:
        """Build it."""
        return Network(self.spec)

    def facts(self, layout: str = "") -> dict[str, Any]:
        """Build it and return its facts, by the keys of ``topoloom show --json``.

        The diameter is then exact, the cut the best that is found.

        Args:
            layout: What cost and cable follow, as in :meth:`Network.layout`.
        """
        return self.network().facts(layout)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is searched for.

    Attributes:
        low: Terminals at the least.
        high: Terminals at the most.
        radix: Ports of a router at the most.
    """

    low: int
    high: int
    radix: int

    def terminals(self, ends: int, degree: int, p: int = 0) -> range:
        """Return the numbers of terminals a router that fit, only p if that is given.

        Args:
            ends: Routers with terminals.
            degree: Ports to other routers.
            p: What the family fixes, or 0.
        """
        least, most = max(1, -(-self.low // ends)), min(self.high // ends, self.radix - degree)
        return range(max(least, p), min(most, p) + 1) if p else range(least, most + 1)


class Candidates(Sequence[Candidate]):
    """Configurations, those of the fewest ports first."""

    def __init__(self, found: Iterable[Candidate]) -> None:
        self._found = sorted(found, key=lambda each: (each.ports, each.spec))

    def __getitem__(self, place: Any) -> Any:
        """Return one of them, or a list of several."""
        return self._found[place]

    def __len__(self) -> int:
        return len(self._found)

    def __repr__(self) -> str:
        return f"<{len(self)} candidates>"

    def best(self, each: int = 1) -> "Candidates":
        """Return the first `each` of every family."""
        kept: dict[str, list[Candidate]] = {}
        for found in self._found:
            kept.setdefault(found.family, []).append(found)
        return Candidates(found for family in kept.values() for found in family[:each])

    def frame(self) -> "pd.DataFrame":
        """Return them as a data frame, one row a configuration."""
        import pandas as pd  # noqa: PLC0415 - loads slowly

        return pd.DataFrame([found.to_dict() for found in self._found])


def candidates(
    *,
    terminals: int | tuple[int, int],
    radix: int,
    families: Sequence[str] | str | None = None,
    min_beta: float = 0.0,
    max_diameter: int | None = None,
) -> Candidates:
    """Return every configuration of the families that has so many terminals on routers of so many ports at the most.

    Args:
        terminals: The least number of terminals, of which there may be a tenth more; or the least and the largest.
        radix: Ports of a router, those of terminals included.
        families: Names of families, or one name; all that can be searched unless given.
        min_beta: The least bisection: links between two halves over half the terminals, by the families' formulas.
        max_diameter: The largest diameter, by the families' formulas.

    Raises:
        TopoloomError: A family that cannot be searched, or numbers that are out of range.

    >>> found = candidates(terminals=3000, radix=36, families=["slimfly"], max_diameter=2)
    >>> found[0].spec
    'slimfly:q=8,p=24'
    """
    wanted = Wanted(*_range(terminals), check_whole("radix", radix, 2, MOST_PORTS))
    if isinstance(min_beta, bool) or not isinstance(min_beta, Real) or not (isfinite(min_beta) and min_beta >= 0):
        raise TopoloomError(f"min_beta is {min_beta!r}; it must be a number from 0")
    if max_diameter is not None:
        check_whole("max_diameter", max_diameter, 1, MOST_TERMINALS)
    found = (each for name in _names(families) for shape in SHAPES[name](wanted) for each in _populated(shape, wanted))
    return Candidates(
        each for each in found if each.beta >= min_beta and (max_diameter is None or each.diameter <= max_diameter)
    )


def _range(terminals: Any) -> tuple[int, int]:
    """Return the least and the largest number of terminals."""
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


def _names(families: Any) -> list[str]:
    """Return the names of the families that are searched."""
    if families is None:
        return list(SHAPES)
    if not isinstance(families, Iterable):
        raise TopoloomError(f"families is {families!r}; it must be a name or several of {', '.join(SHAPES)}")
    names = [families] if isinstance(families, str) else list(dict.fromkeys(families))
    for name in names:
        if name not in SHAPES:
            near = get_close_matches(str(name), SHAPES, n=1)
            hint = f" (did you mean '{near[0]}'?)" if near else ""
            raise TopoloomError(f"no family '{name}' to search{hint}; there are {', '.join(SHAPES)}")
    return names


def _populated(shape: Shape, wanted: Wanted) -> Iterator[Candidate]:
    """Put on every number of terminals that fits."""
    family = shape.spec.partition(":")[0]
    for p in wanted.terminals(shape.ends, shape.degree, shape.p):
        total = shape.ends * p
        yield Candidate(
            spec=shape.spec if family in ("fattree", "clos") else f"{shape.spec},p={p}",
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


def prime_powers(most: int) -> list[int]:
    """Return the prime powers from 3 to `most`."""
    primes = [n for n in range(2, most + 1) if all(n % d for d in range(2, isqrt(n) + 1))]
    powers = {prime**m for prime in primes for m in range(1, max(1, int(log(most, prime) + 1e-9)) + 1)}
    return sorted(power for power in powers if 2 < power <= most)  # noqa: PLR2004 - 2 is none of use


def _galaxyflies(wanted: Wanted) -> Iterator[Shape]:
    for a in range(1, wanted.radix + 1):
        most_links = a * (wanted.radix - a)
        for q in [1, *prime_powers(min(2 * most_links + 1, wanted.high // a))]:
            inside = generator_degree(q)
            for n in range(1, min(most_links - inside + 1, wanted.high // (a * q)) + 1):
                # Many have no fitting number of terminals.
                h = -(-(n - 1 + inside) // a)
                if a * n * q > 1 and wanted.terminals(a * n * q, a - 1 + h):
                    yield _galaxyfly(n, q, a)


def _galaxyfly(n: int, q: int, a: int) -> Shape:
    degree = n - 1 + generator_degree(q)
    supernodes = n * q
    if supernodes == 1 or (q == 1 and a == 1):
        diameter, known = 1, "exact"
    elif a == 1:
        diameter, known = (1, "exact") if degree == supernodes - 1 else (2, "exact")
    else:
        diameter, known = (3, "upper-bound") if degree == supernodes - 1 else (5, "upper-bound")
    links = supernodes * (a * (a - 1) + degree) // 2
    spec = f"galaxyfly:n={n},q={q},a={a}"
    h = -(-degree // a)
    cut, told = bisections.galaxyfly(n, q, a, h), "exact" if degree == 0 or (q == 1 and a == 1) else "estimate"
    spreads = (
        Spread(supernodes * a * (a - 1) / 2, a),
        Spread(supernodes * generator_degree(q) / 2, q, a),
        Spread(supernodes * (n - 1) / 2, n, q * a),
    )
    packing = Packing(spreads, q * a, q * a)
    return Shape(spec, supernodes * a, supernodes * a, a - 1 + h, links, cut, told, diameter, packing, known)


def _dragonflies(wanted: Wanted) -> Iterator[Shape]:
    for a in range(1, wanted.radix):
        for h in range(1, wanted.radix - a + 1):
            for g in range(2, min(a * h + 1, wanted.high // a) + 1):
                if wanted.terminals(a * g, a - 1 + h):
                    yield _dragonfly(a, h, g)


def _dragonfly(a: int, h: int, g: int) -> Shape:
    """Where ports are left over that no second group takes, one stays unused."""
    links = g * (a * (a - 1)) // 2 + g * a * h // 2
    spec = f"dragonfly:a={a},h={h}" + (f",g={g}" if g <= a * h else "")
    diameter = 1 if a == 1 else 3
    cut = bisections.dragonfly(a, h, g)
    packing = Packing((Spread(g * a * (a - 1) / 2, a), Spread(g * a * h // 2, g, a)), a, a)
    return Shape(spec, a * g, a * g, a - 1 + h, links, cut, "estimate", diameter, packing, "upper-bound")


def _dragonfly_pluses(wanted: Wanted) -> Iterator[Shape]:
    """Groups of as many leaves as spines, whose global ports are as many as their leaves."""
    for half in range(1, wanted.radix // 2 + 1):
        groups = half * half + 1
        links = groups * half * half + groups * half * half // 2
        cut = float((groups // 2) ** 2 + (groups % 2) * half * half // 2)
        spec = f"dragonfly-plus:leaf={half},spine={half},h={half}"
        # Leaf, spine, spine, leaf; two spines of one group are two links apart, and so on through both groups.
        spreads = (Spread(groups * half * half, 2 * half), Spread(groups * half * half // 2, groups, 2 * half))
        packing = Packing(spreads, 2 * half, half)
        yield Shape(
            spec, 2 * half * groups, half * groups, half, links, cut, "upper-bound", 5, packing, "upper-bound", half
        )


def _slimflies(wanted: Wanted) -> Iterator[Shape]:
    for q in prime_powers(wanted.radix):
        degree = q + generator_degree(q)
        routers = 2 * q * q
        if degree < wanted.radix:
            links = routers * degree // 2
            # Columns of both subgraphs that share a cabinet: of the links between subgraphs, one in q stays within.
            spreads = (Spread(links - q**3 + q * q, 2 * q), Spread(q**3 - q * q, q, 2 * q))
            packing = Packing(spreads, 2 * q, 2 * q)
            yield Shape(f"slimfly:q={q}", routers, routers, degree, links, q**3 / 2, "lower-bound", 2, packing)


def _hyperxes(wanted: Wanted, sides: tuple[int, ...] = ()) -> Iterator[Shape]:
    """Up to five dimensions, as in Figure 4 of the Galaxyfly paper, none larger than the one before."""
    routers, degree = prod(sides), sum(sides) - len(sides)
    if sides and wanted.terminals(routers, degree):
        spec = "hyperx:" + "x".join(map(str, sides))
        cut = float(bisections.hyperx(sides))
        spreads = tuple(Spread(routers * (side - 1) / 2, side, prod(sides[:d])) for d, side in enumerate(sides))
        links = routers * degree // 2
        yield Shape(spec, routers, routers, degree, links, cut, "exact", len(sides), Packing(spreads))
    most = min(sides[-1] if sides else wanted.radix, wanted.high // routers, wanted.radix - degree)
    for side in range(2, most + 1 if len(sides) < MOST_DIMENSIONS else 0):
        yield from _hyperxes(wanted, (*sides, side))


def _fattrees(wanted: Wanted) -> Iterator[Shape]:
    """As many links as terminals leave each half of the leaves, and no fewer: the trees are rearrangeable."""
    for levels in range(2, 6):
        for k in range(2, wanted.radix // 2 + 1):
            if k**levels > wanted.high:
                break
            width = k ** (levels - 1)
            packing = _tree(k * width, levels, k, k, (levels - 2) * width)
            yield Shape(
                f"fattree:k={k},levels={levels}", levels * width, width, k, (levels - 1) * k * width,
                float(k * (width // 2)), "exact", 2 * (levels - 1), packing, p=k,
            )  # fmt: skip


def _clos(wanted: Wanted) -> Iterator[Shape]:
    for levels in range(2, 6):
        for half in range(2, wanted.radix // 2 + 1):
            total = 2 * half**levels
            if total > wanted.high:
                break
            leaves = 2 * half ** (levels - 1)
            routers = (2 * levels - 1) * half ** (levels - 1)
            pod = half if levels > 2 else 2 * half  # noqa: PLR2004 - two levels are one pod
            packing = _tree(total, levels, pod, half, routers - leaves - leaves * half // pod)
            yield Shape(
                f"clos:radix={2 * half},levels={levels}", routers, leaves, half, (levels - 1) * total, total / 2,
                "exact", 2 * (levels - 1), packing, p=half,
            )  # fmt: skip


def _tree(links: int, levels: int, leaves: int, above: int, hubs: int) -> Packing:
    """Return how a tree is packed: pods of leaves and the routers above these, then hubs; so many links a level."""
    # Every level but the lowest joins routers that stand amid the pods, to pods or to each other.
    upper = (Spread((levels - 2) * links, 0),) if hubs else ()
    return Packing((Spread(links, leaves + above), *upper), leaves + above, leaves, hubs)


def _flexes(wanted: Wanted) -> Iterator[Shape]:
    """Three layers, the first side not shorter than the second."""
    for x in range(3, wanted.radix):
        for y in range(3, x + 1):
            routers, degree = 3 * x * y, 2 * (x + y - 2)
            if routers > wanted.high or degree >= wanted.radix:
                break
            spec = f"flex:{x}x{y}x3"
            links = routers * degree // 2
            packing = Packing((Spread(links, routers),), x * y, x * y)
            yield Shape(spec, routers, routers, degree, links, routers * y / 2, "lower-bound", 2, packing)


def _random_regulars(wanted: Wanted) -> Iterator[Shape]:
    """As many routers as there are terminals for, of every degree and with every number of terminals."""
    for degree in range(3, wanted.radix):
        for p in range(1, wanted.radix - degree + 1):
            routers = -(-wanted.low // p)
            routers += routers * degree % 2
            if routers > degree + 1 and wanted.terminals(routers, degree, p):
                cut = bisections.random_regular(routers, degree)
                diameter = _random_diameter(routers, degree)
                links = routers * degree // 2
                spec = f"random-regular:{routers},degree={degree}"
                packing = Packing((Spread(links, routers),))
                yield Shape(spec, routers, routers, degree, links, cut, "estimate", diameter, packing, "estimate", p)


def _random_diameter(routers: int, degree: int) -> int:
    """Return the number of links within which all pairs are found to be, about, in a random regular graph.

    The least whose walks are some n log n in number (Bollobás and de la Vega, The diameter of random regular graphs,
    Combinatorica 1982); 1.5 of them fits nine in ten graphs of 20 to 3,000 routers, the others by one.
    """
    diameter, walks = 1, degree
    while walks < 1.5 * routers * log(routers):
        diameter, walks = diameter + 1, walks * (degree - 1)
    return diameter


SHAPES: dict[str, Callable[[Wanted], Iterator[Shape]]] = {
    "galaxyfly": _galaxyflies,
    "dragonfly": _dragonflies,
    "dragonfly-plus": _dragonfly_pluses,
    "slimfly": _slimflies,
    "hyperx": _hyperxes,
    "fattree": _fattrees,
    "clos": _clos,
    "flex": _flexes,
    "random-regular": _random_regulars,
}
"""The families that can be searched: all shapes of at most so many terminals and so many ports."""
