"""Shapes: networks without their terminals, of all families that can be searched.

Sizes, links and degree are exact, from the families' definitions; bisection (of :mod:`topoloom.design.bisections`) and
diameter are closed forms, which `cut_is` and `diameter_is` qualify.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import ceil, isqrt, log, prod

from topoloom.design import bisections
from topoloom.design.bisections import generator_degree
from topoloom.design.racks import Packing, Spread

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
        diameter: The largest distance between two routers, in hops.
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
class Requirements:
    """What is searched for.

    Attributes:
        low: The smallest number of terminals.
        high: The largest number of terminals.
        radix: The largest number of ports on a router.

    >>> list(Requirements(60, 70, 12).terminals(16, 6)), list(Requirements(60, 70, 12).terminals(16, 6, 3))
    ([4], [])
    """

    low: int
    high: int
    radix: int

    def terminals(self, ends: int, degree: int, p: int = 0) -> range:
        """Return the numbers of terminals per router that fit, only p if that is given.

        Args:
            ends: The number of routers with terminals.
            degree: Ports to other routers.
            p: The number of terminals that the family fixes, or 0.
        """
        least, most = max(1, -(-self.low // ends)), min(self.high // ends, self.radix - degree)
        return range(max(least, p), min(most, p) + 1) if p else range(least, most + 1)


def prime_powers(most: int) -> list[int]:
    """Return the prime powers from 3 to `most`, ascending.

    Args:
        most: The largest number.

    >>> prime_powers(11)
    [3, 4, 5, 7, 8, 9, 11]
    """
    primes = [n for n in range(2, most + 1) if all(n % d for d in range(2, isqrt(n) + 1))]
    powers = {prime**m for prime in primes for m in range(1, max(1, int(log(most, prime) + 1e-9)) + 1)}
    return sorted(power for power in powers if 2 < power <= most)  # noqa: PLR2004 - 2 is none of use


def _galaxyflies(wanted: Requirements) -> Iterator[Shape]:
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


def _dragonflies(wanted: Requirements) -> Iterator[Shape]:
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


def _dragonfly_pluses(wanted: Requirements) -> Iterator[Shape]:
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


def _slimflies(wanted: Requirements) -> Iterator[Shape]:
    for q in prime_powers(wanted.radix):
        degree = q + generator_degree(q)
        routers = 2 * q * q
        if degree < wanted.radix:
            links = routers * degree // 2
            # Columns of both subgraphs that share a cabinet: of the links between subgraphs, one in q stays within.
            spreads = (Spread(links - q**3 + q * q, 2 * q), Spread(q**3 - q * q, q, 2 * q))
            packing = Packing(spreads, 2 * q, 2 * q)
            yield Shape(f"slimfly:q={q}", routers, routers, degree, links, q**3 / 2, "lower-bound", 2, packing)


def _hyperxes(wanted: Requirements, sides: tuple[int, ...] = ()) -> Iterator[Shape]:
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


def _fattrees(wanted: Requirements) -> Iterator[Shape]:
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


def _clos(wanted: Requirements) -> Iterator[Shape]:
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


TAPERS = (1.0, 1.5, 2.0, 3.0, 4.0)
"""How many times fewer links a router of a tree as it is bought has up than down, about."""


def _xgfts(wanted: Requirements) -> Iterator[Shape]:
    """Trees as they are bought, whose ports are filled: any number of pods, tapered or not, with trunks to the top."""
    found = {shape.spec: shape for shape in (*_two_levels(wanted), *_three_levels(wanted))}
    yield from found.values()


def _two_levels(wanted: Requirements) -> Iterator[Shape]:
    """Up to as many leaves as a router above them has ports."""
    radix = wanted.radix
    for p in range(1, radix):
        for leaves in range(max(2, -(-wanted.low // p)), min(wanted.high // p, radix) + 1):
            for up in sorted({ceil(p / taper) for taper in TAPERS}):
                trunk = min(radix // leaves, up)
                tops = min(-(-up // trunk), (radix - p) // trunk)
                same = trunk == 1 and tops == p and leaves in (p, 2 * p)
                if tops == 0 or same:
                    continue
                links = leaves * tops * trunk
                yield Shape(
                    _xgft((p, leaves), (tops,), (trunk,)), leaves + tops, leaves,
                    max(p + tops * trunk, leaves * trunk) - p, links, float(leaves // 2 * tops * trunk), "exact", 2,
                    _tree(links, 2, leaves, tops, 0), p=p,
                )  # fmt: skip


def _three_levels(wanted: Requirements) -> Iterator[Shape]:
    """Pods of leaves that fill their ports, a router above them for each link of a leaf, and routers above the pods."""
    radix = wanted.radix
    for taper in TAPERS:
        # The most terminals that leave a leaf its links up; down to half of it.
        most = max((p for p in range(1, radix) if p + ceil(p / taper) <= radix), default=0)
        for p, leaves in product(range(max(1, most // 2), most + 1), range(2, radix)):
            pods = range(max(2, -(-wanted.low // (p * leaves))), min(wanted.high // (p * leaves), radix) + 1)
            ups = {ceil(leaves / upper) for upper in TAPERS} if pods else ()
            for above, up in product(pods, sorted(ups)):
                yield from _pods(radix, (p, leaves, above), ceil(p / taper), up)


def _pods(radix: int, down: tuple[int, int, int], middle: int, up: int) -> Iterator[Shape]:
    """The tree of pods with `middle` routers above the leaves, each with about `up` links to the top."""
    p, leaves, pods = down
    trunk = min(radix // pods, up)
    each = min(-(-up // trunk), (radix - leaves) // trunk)
    same = trunk == 1 and p == middle == leaves == each and pods in (p, 2 * p)
    if each == 0 or same:
        return
    lower, upper = pods * leaves * middle, pods * middle * each * trunk
    # Pods apart, one of them divided if their number is odd; or every pod divided.
    odd = middle * (leaves // 2) if pods % 2 else 0
    cut = min(middle * each * trunk * (pods // 2) + odd, middle * (pods * leaves // 2))
    tops = middle * each
    spreads = (Spread(lower, leaves + middle), Spread(upper, 0))
    packing = Packing(spreads, leaves + middle, leaves, tops)
    ports = max(p + middle, leaves + each * trunk, pods * trunk)
    yield Shape(
        _xgft(down, (middle, each), (1, trunk)), pods * (leaves + middle) + tops, pods * leaves, ports - p,
        lower + upper, float(cut), "upper-bound", 4, packing, p=p,
    )  # fmt: skip


def _xgft(down: Sequence[int], up: Sequence[int], trunk: Sequence[int]) -> str:
    """Return the spec of a tree."""
    given = {"down": down, "up": up} | ({"trunk": trunk} if max(trunk) > 1 else {})
    return "xgft:" + ",".join(f"{key}={'x'.join(map(str, sides))}" for key, sides in given.items())


def _tree(links: int, levels: int, leaves: int, above: int, hubs: int) -> Packing:
    """Return how a tree is packed: pods of leaves and the routers above them, then hubs, with the links per level."""
    # Every level but the lowest joins routers that stand amid the pods, to pods or to each other.
    upper = (Spread((levels - 2) * links, 0),) if hubs else ()
    return Packing((Spread(links, leaves + above), *upper), leaves + above, leaves, hubs)


def _flexes(wanted: Requirements) -> Iterator[Shape]:
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


def _random_regulars(wanted: Requirements) -> Iterator[Shape]:
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


SHAPES: dict[str, Callable[[Requirements], Iterator[Shape]]] = {
    "galaxyfly": _galaxyflies,
    "dragonfly": _dragonflies,
    "dragonfly-plus": _dragonfly_pluses,
    "slimfly": _slimflies,
    "hyperx": _hyperxes,
    "fattree": _fattrees,
    "clos": _clos,
    "xgft": _xgfts,
    "flex": _flexes,
    "random-regular": _random_regulars,
}
"""The families that can be searched, each with all its shapes within limits on terminals and ports."""
