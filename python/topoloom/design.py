"""Design search: every configuration of the families that fits so many terminals and routers of so many ports.

Sizes, links and radix are exact, from the families' definitions; bisection and diameter are closed forms, which
`beta_is` and `diameter_is` qualify. Nothing is built until :meth:`Candidate.facts` is asked for.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from difflib import get_close_matches
from math import ceil, floor, isqrt, log, prod, sqrt
from typing import TYPE_CHECKING, Any

from topoloom._core import TopoloomError
from topoloom.networks import Network

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

    @property
    def ports(self) -> int:
        """Ports in use, of all routers: what routers cost and draw, about."""
        return 2 * self.links + self.terminals

    def to_dict(self) -> dict[str, Any]:
        """Return all that is known of it."""
        return asdict(self) | {"ports": self.ports}

    def network(self) -> Network:
        """Build it."""
        return Network(self.spec)

    def facts(self) -> dict[str, Any]:
        """Build it and return its facts, by the keys of ``topoloom show --json``.

        The diameter is then exact, the cut the best that is found.
        """
        return self.network().facts()


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
    families: Sequence[str] | None = None,
    min_beta: float = 0.0,
    max_diameter: int | None = None,
) -> Candidates:
    """Return every configuration of the families that has so many terminals on routers of so many ports at the most.

    Args:
        terminals: The least number of terminals, of which there may be a tenth more; or the least and the largest.
        radix: Ports of a router, those of terminals included.
        families: Names of families; all that can be searched unless given.
        min_beta: The least bisection: links between two halves over half the terminals, by the families' formulas.
        max_diameter: The largest diameter, by the families' formulas.

    Raises:
        TopoloomError: A family that cannot be searched, or numbers that are out of range.

    >>> found = candidates(terminals=3000, radix=36, families=["slimfly"], max_diameter=2)
    >>> found[0].spec
    'slimfly:q=8,p=24'
    """
    low, high = (terminals, floor(terminals * (1 + SLACK))) if isinstance(terminals, int) else terminals
    if not 1 <= low <= high <= MOST_TERMINALS:
        raise TopoloomError(f"terminals are {low} to {high}; they must ascend, from 1 to {MOST_TERMINALS}")
    if not 2 <= radix <= MOST_PORTS:  # noqa: PLR2004 - one port for a terminal, one for a link
        raise TopoloomError(f"radix is {radix}; it must be from 2 to {MOST_PORTS}")
    names = list(SHAPES) if families is None else list(dict.fromkeys(families))
    for name in names:
        if name not in SHAPES:
            near = get_close_matches(name, SHAPES, n=1)
            hint = f" (did you mean '{near[0]}'?)" if near else ""
            raise TopoloomError(f"no family '{name}' to search{hint}; there are {', '.join(SHAPES)}")
    found = (
        each for name in names for shape in SHAPES[name](high, radix) for each in _populated(shape, low, high, radix)
    )
    most = max_diameter if max_diameter is not None else MOST_TERMINALS
    return Candidates(each for each in found if each.beta >= min_beta and each.diameter <= most)


def _populated(shape: Shape, low: int, high: int, radix: int) -> Iterator[Candidate]:
    """Put on every number of terminals that fits."""
    least, most = -(-low // shape.ends), min(high // shape.ends, radix - shape.degree)
    if shape.p:
        least, most = max(least, shape.p), min(most, shape.p)
    fixed = shape.spec.partition(":")[0] in ("fattree", "clos")
    for p in range(max(least, 1), most + 1):
        total = shape.ends * p
        yield Candidate(
            spec=shape.spec if fixed else f"{shape.spec},p={p}",
            family=shape.spec.partition(":")[0],
            terminals=total,
            routers=shape.routers,
            radix=shape.degree + p,
            links=shape.links,
            diameter=shape.diameter,
            diameter_is=shape.diameter_is,
            beta=2 * shape.cut / total,
            beta_is=shape.cut_is,
        )


def prime_powers(most: int) -> list[int]:
    """Return the prime powers from 3 to `most`."""
    primes = [n for n in range(2, most + 1) if all(n % d for d in range(2, isqrt(n) + 1))]
    powers = {prime**m for prime in primes for m in range(1, max(1, int(log(most, prime) + 1e-9)) + 1)}
    return sorted(power for power in powers if 2 < power <= most)  # noqa: PLR2004 - 2 is none of use


def generators(q: int) -> int:
    """Return the degree of a generator graph of GF(q), q = 4 l + δ: (q - δ) / 2."""
    return {1: q - 1, 3: q + 1}.get(q % 4, q) // 2


def _galaxyflies(high: int, radix: int) -> Iterator[Shape]:
    for a in range(1, radix):
        most_links = a * (radix - a)
        for q in [1, *prime_powers(min(2 * most_links + 1, high // a))]:
            inside = generators(q)
            for n in range(1, min(most_links - inside + 1, high // (a * q)) + 1):
                if a * n * q > 1:
                    yield _galaxyfly(n, q, a)


def _galaxyfly(n: int, q: int, a: int) -> Shape:
    degree = n - 1 + generators(q)
    supernodes = n * q
    if supernodes == 1:
        cut = float((a // 2) * (a - a // 2))
    elif q == 1:
        cut = float((n // 2) * (n - n // 2))
    else:
        # Whole clusters on either side; or half of each, by the second eigenvalue of a Paley graph and chance.
        cut = min(n * n * q / 4 if n > 1 else supernodes * q, supernodes * ((q - sqrt(q)) / 8 + (n - 1) / 8))
    if supernodes == 1 or (q == 1 and a == 1):
        diameter, known = 1, "exact"
    elif a == 1:
        diameter, known = (1, "exact") if degree == supernodes - 1 else (2, "exact")
    else:
        diameter, known = (3, "upper-bound") if degree == supernodes - 1 else (5, "upper-bound")
    links = supernodes * (a * (a - 1) + degree) // 2
    spec = f"galaxyfly:n={n},q={q},a={a}"
    h = -(-degree // a)
    return Shape(spec, supernodes * a, supernodes * a, a - 1 + h, links, cut, "estimate", diameter, known)


def _dragonflies(high: int, radix: int) -> Iterator[Shape]:
    for a in range(1, radix):
        for h in range(1, radix - a + 1):
            groups = a * h + 1
            if a * groups > high:
                break
            links = groups * (a * (a - 1) + a * h) // 2
            cut = float((groups // 2) * (groups - groups // 2))
            diameter = 1 if a == 1 else 3
            spec = f"dragonfly:a={a},h={h}"
            yield Shape(spec, a * groups, a * groups, a - 1 + h, links, cut, "upper-bound", diameter, "upper-bound")


def _dragonfly_pluses(high: int, radix: int) -> Iterator[Shape]:
    """Groups of as many leaves as spines, whose global ports are as many as their leaves."""
    for half in range(1, radix // 2 + 1):
        groups = half * half + 1
        if half * groups > high:
            return
        links = groups * half * half + groups * half * half // 2
        cut = float((groups // 2) * (groups - groups // 2))
        spec = f"dragonfly-plus:leaf={half},spine={half},h={half}"
        # Leaf, spine, spine, leaf; two spines of one group are two links apart, and so on through both groups.
        yield Shape(spec, 2 * half * groups, half * groups, half, links, cut, "upper-bound", 5, "upper-bound", half)


def _slimflies(high: int, radix: int) -> Iterator[Shape]:
    for q in prime_powers(radix):
        degree = q + generators(q)
        routers = 2 * q * q
        if degree < radix and routers <= high:
            links = routers * degree // 2
            yield Shape(f"slimfly:q={q}", routers, routers, degree, links, q**3 / 2, "lower-bound", 2)


def _hyperxes(high: int, radix: int, sides: tuple[int, ...] = ()) -> Iterator[Shape]:
    """Up to five dimensions, as in Figure 4 of the Galaxyfly paper, none larger than the one before."""
    routers, degree = prod(sides), sum(sides) - len(sides)
    if sides:
        cut = min((side // 2) * (side - side // 2) * routers // side for side in sides)
        told = "upper-bound" if any(side % 2 == 0 for side in sides) else "estimate"
        spec = "hyperx:" + "x".join(map(str, sides))
        yield Shape(spec, routers, routers, degree, routers * degree // 2, float(cut), told, len(sides))
    most = min(sides[-1] if sides else radix, high // routers, radix - degree)
    for side in range(2, most + 1 if len(sides) < MOST_DIMENSIONS else 0):
        yield from _hyperxes(high, radix, (*sides, side))


def _fattrees(high: int, radix: int) -> Iterator[Shape]:
    for levels in range(2, 6):
        for k in range(2, radix // 2 + 1):
            if k**levels > high:
                break
            width = k ** (levels - 1)
            yield Shape(
                f"fattree:k={k},levels={levels}", levels * width, width, k, (levels - 1) * k * width, k**levels / 2,
                "exact", 2 * (levels - 1), p=k,
            )  # fmt: skip


def _clos(high: int, radix: int) -> Iterator[Shape]:
    for levels in range(2, 6):
        for half in range(2, radix // 2 + 1):
            total = 2 * half**levels
            if total > high:
                break
            leaves = 2 * half ** (levels - 1)
            routers = (2 * levels - 1) * half ** (levels - 1)
            yield Shape(
                f"clos:radix={2 * half},levels={levels}", routers, leaves, half, (levels - 1) * total, total / 2,
                "exact", 2 * (levels - 1), p=half,
            )  # fmt: skip


def _flexes(high: int, radix: int) -> Iterator[Shape]:
    """Three layers, the first side not shorter than the second."""
    for x in range(3, radix):
        for y in range(3, x + 1):
            routers, degree = 3 * x * y, 2 * (x + y - 2)
            if routers > high or degree >= radix:
                break
            spec = f"flex:{x}x{y}x3"
            yield Shape(spec, routers, routers, degree, routers * degree // 2, routers * y / 2, "lower-bound", 2)


def _random_regulars(high: int, radix: int) -> Iterator[Shape]:
    """As many routers as there are terminals for, of every degree; the bound is that of nearly all such graphs."""
    for degree in range(3, radix):
        routers = ceil(high / (1 + SLACK) / (radix - degree))
        routers += routers * degree % 2
        if routers > degree + 1:
            cut = routers * (degree - 2 * sqrt(degree - 1)) / 4
            diameter = max(2, ceil(log(routers) / log(degree - 1) + 1e-9))
            links = routers * degree // 2
            spec = f"random-regular:{routers},degree={degree}"
            yield Shape(spec, routers, routers, degree, links, cut, "estimate", diameter, "estimate")


SHAPES: dict[str, Callable[[int, int], Iterator[Shape]]] = {
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
"""The families that can be searched: all shapes of at most so many routers with terminals and so many ports."""
