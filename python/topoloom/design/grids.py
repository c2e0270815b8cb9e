"""Shapes of direct networks whose routers have coordinates: meshes, tori, hypercubes, HyperX and subtori."""

from collections.abc import Iterator
from math import ceil, isqrt, prod, sqrt

from topoloom.design import bisections
from topoloom.design.racks import Packing, Spread
from topoloom.design.shape import Requirements, Shape

MOST_DIMENSIONS = 5
"""The most dimensions of a grid."""

LONGEST = 4
"""The longest side of a mesh or torus is at most this many times the shortest: others are chains of small networks."""

LEAST_CIRCULANT = 7
"""Routers of the smallest circulant graph of four links per router that is not complete."""

MOST_BITS = 26
"""The most dimensions of a hypercube: more routers than are ever searched."""


def _grids(wanted: Requirements, degree: int, each: int = 1, sides: tuple[int, ...] = ()) -> Iterator[tuple[int, ...]]:
    """Yield sides of two dimensions or more, none larger than the one before, of `each` routers at every place.

    The network has at most `wanted` terminals; every dimension takes `degree` ports at most.
    """
    places = each * prod(sides)
    if len(sides) > 1:
        yield sides
    if len(sides) == MOST_DIMENSIONS or degree * (len(sides) + 1) >= wanted.radix:
        return
    most = wanted.high // places
    first = isqrt(most * LONGEST) if not sides else min(sides[-1], most)
    for side in range(max(2, -(-sides[0] // LONGEST) if sides else 2), first + 1):
        yield from _grids(wanted, degree, each, (*sides, side))


def meshes(wanted: Requirements) -> Iterator[Shape]:
    """Yield meshes of two to five dimensions.

    Args:
        wanted: What is searched for.

    >>> [shape.spec for shape in meshes(Requirements(9, 9, 5))]
    ['mesh:3x3']
    """
    for sides in _grids(wanted, 1):
        routers, degree = prod(sides), sum(min(side - 1, 2) for side in sides)
        # Of sides of 2 alone it is a hypercube.
        if sides[0] > 2 and wanted.terminals(routers, degree):  # noqa: PLR2004 - ends are no middles
            spreads, stride = [], 1
            for side in sides:
                spreads.append(Spread(routers // side * (side - 1), 2, stride))
                stride *= side
            links = sum(routers // side * (side - 1) for side in sides)
            yield Shape(
                f"mesh:{'x'.join(map(str, sides))}", routers, routers, degree, links, float(bisections.mesh(sides)),
                "exact", sum(sides) - len(sides), Packing(tuple(spreads)),
            )  # fmt: skip


def tori(wanted: Requirements) -> Iterator[Shape]:
    """Yield tori of two to five dimensions, without twists.

    Args:
        wanted: What is searched for.

    >>> [(shape.spec, shape.cut) for shape in tori(Requirements(16, 16, 5))][:2]
    [('torus:4x2', 4.0), ('torus:4x2x2', 8.0)]
    """
    for sides in _grids(wanted, 1):
        routers, degree = prod(sides), sum(1 if side == 2 else 2 for side in sides)  # noqa: PLR2004 - both directions are one link
        # Of sides of 3 and less it is a HyperX.
        if sides[0] > 3 and wanted.terminals(routers, degree):  # noqa: PLR2004 - a ring of three is complete
            known = "upper-bound" if 2 in sides else "exact"  # noqa: PLR2004 - as above
            yield Shape(
                f"torus:{'x'.join(map(str, sides))}", routers, routers, degree, routers * degree // 2,
                float(bisections.torus(sides)), known, sum(side // 2 for side in sides), Packing(_rings(sides)),
            )  # fmt: skip


def _rings(sides: tuple[int, ...], each: int = 1) -> tuple[Spread, ...]:
    """Return how the links of rings spread over an order by coordinates, the first varying fastest."""
    places, stride, spreads = prod(sides), each, []
    for side in sides:
        spreads.append(Spread(places // side * (side - 1), 2, stride))
        if side > 2 or each > 1:  # noqa: PLR2004 - both directions are one link
            spreads.append(Spread(places // side, 2, stride * (side - 1)))
        stride *= side
    return tuple(spreads)


def twisted_tori(wanted: Requirements) -> Iterator[Shape]:
    """Yield tori of sides k and 2k whose wraparound links shift the longer ones.

    A packet goes round along shorter sides an even or an odd number of times; an odd one takes it k along all longer
    sides.

    Args:
        wanted: What is searched for.

    >>> [(shape.spec, shape.diameter) for shape in twisted_tori(Requirements(128, 128, 7)) if "4x4x8" in shape.spec]
    [('twisted-torus:4x4x8', 6)]
    """
    for dimensions in range(2, MOST_DIMENSIONS + 1):
        for longer in range(1, dimensions):
            shorter, k = dimensions - longer, 2
            while (routers := k**dimensions << longer) <= wanted.high:
                if wanted.terminals(routers, 2 * dimensions):
                    yield _twisted(k, shorter, longer)
                k += 1


def _twisted(k: int, shorter: int, longer: int) -> Shape:
    sides = (k,) * shorter + (2 * k,) * longer
    routers, half = prod(sides), k // 2
    diameter = shorter * half + (k % 2 + longer * k) // 2
    # Along a longer side halves cut its links and what goes round all shorter ones; along a shorter one its own.
    across = routers // k * (1 + shorter)
    cut = across if k % 2 else min(across, 2 * routers // k)
    # What goes round along a shorter side is half of all routers away.
    within = tuple(Spread(routers // k * (k - 1), 2, k**place) for place in range(shorter))
    along = (spread for spread in _rings(sides) if spread.stride >= k**shorter)
    spreads = (*within, Spread(routers // k * shorter, 2, routers // 2), *along)
    return Shape(
        f"twisted-torus:{'x'.join(map(str, sides))}", routers, routers, 2 * len(sides), routers * len(sides),
        float(cut), "upper-bound", diameter, Packing(spreads),
    )  # fmt: skip


def twin_tori(wanted: Requirements) -> Iterator[Shape]:
    """Yield tori of nodes with two cards.

    Args:
        wanted: What is searched for.

    >>> [(shape.spec, shape.diameter) for shape in twin_tori(Requirements(32, 32, 4))]
    [('twin-torus:4x4', 6), ('twin-torus:8x2', 7)]
    """
    for sides in _grids(wanted, 1, each=2):
        nodes, dimensions = prod(sides), len(sides)
        if wanted.terminals(2 * nodes, dimensions + 1):
            # Even: the cards have half of the dimensions each. Odd: every hop in the middle one changes the card.
            middle = dimensions // 2
            ways = sum(side // 2 for place, side in enumerate(sides) if dimensions % 2 == 0 or place != middle)
            diameter = ways + (2 if dimensions % 2 == 0 else sides[middle])
            spreads = (Spread(nodes, 2), *_rings(sides, 2))
            yield Shape(
                f"twin-torus:{'x'.join(map(str, sides))}", 2 * nodes, 2 * nodes, dimensions + 1,
                nodes * (dimensions + 1), float(bisections.double_torus(sides) + nodes % 2),
                "estimate" if nodes % 2 else "upper-bound", diameter, Packing(spreads, 2, 2),
            )  # fmt: skip


def hypercubes(wanted: Requirements) -> Iterator[Shape]:
    """Yield binary hypercubes.

    Args:
        wanted: What is searched for.

    >>> [shape.spec for shape in hypercubes(Requirements(16, 16, 5))]
    ['hypercube:3', 'hypercube:4']
    """
    for bits in range(2, MOST_BITS):
        routers = 1 << bits
        if wanted.terminals(routers, bits):
            packing = Packing(tuple(Spread(routers // 2, 2, 1 << bit) for bit in range(bits)))
            cut = float(routers // 2)
            yield Shape(
                f"hypercube:{bits}", routers, routers, bits, routers * bits // 2, cut, "exact", bits, packing
            )  # fmt: skip


def folded_hypercubes(wanted: Requirements) -> Iterator[Shape]:
    """Yield hypercubes with links between complements.

    Args:
        wanted: What is searched for.

    >>> [(shape.spec, shape.diameter) for shape in folded_hypercubes(Requirements(16, 16, 6))]
    [('folded-hypercube:3', 2), ('folded-hypercube:4', 2)]
    """
    for bits in range(3, MOST_BITS):
        routers = 1 << bits
        if wanted.terminals(routers, bits + 1):
            ways = [Spread(routers // 2, 2, 1 << bit) for bit in range(bits)]
            packing = Packing((*ways, Spread(routers // 2, routers)))
            yield Shape(
                f"folded-hypercube:{bits}", routers, routers, bits + 1, routers * (bits + 1) // 2, float(routers),
                "exact", (bits + 1) // 2, packing,
            )  # fmt: skip


def circulants(wanted: Requirements) -> Iterator[Shape]:
    """Yield Cayley graphs of cyclic groups, of four links per router, whose diameter is the least that there is.

    Links to k and k + 1 routers further on reach 2 k (k + 1) + 1 routers in k hops, and no such graph reaches more
    (Beivide, Herrada, Balcázar and Arruabarrena, Optimal distance networks of low degree for parallel computers, IEEE
    Transactions on Computers 40, 1991).

    Args:
        wanted: What is searched for.

    >>> [(shape.spec, shape.diameter) for shape in circulants(Requirements(13, 13, 5))]
    [('cayley:13,generators=2,3', 2)]
    """
    for p in range(1, wanted.radix - 3):
        for routers in range(max(LEAST_CIRCULANT, -(-wanted.low // p)), wanted.high // p + 1):
            k = ceil((sqrt(2 * routers - 1) - 1) / 2)
            # Both ends of an arc cut the links that pass over them.
            cut = float(min(2 * (2 * k + 1), 2 * routers))
            spreads = (Spread(routers, 2, k), Spread(routers, 2, k + 1))
            yield Shape(
                f"cayley:{routers},generators={k},{k + 1}", routers, routers, 4, 2 * routers, cut, "upper-bound", k,
                Packing(spreads), p=p,
            )  # fmt: skip


def hyperxes(wanted: Requirements, sides: tuple[int, ...] = ()) -> Iterator[Shape]:
    """Yield HyperX of up to five dimensions, as in Figure 4 of the Galaxyfly paper, none larger than the one before.

    Args:
        wanted: What is searched for.
        sides: The first sides, to which others are added.

    >>> [shape.spec for shape in hyperxes(Requirements(9, 9, 5))]
    ['hyperx:3', 'hyperx:3x3']
    """
    routers, degree = prod(sides), sum(sides) - len(sides)
    if sides and wanted.terminals(routers, degree):
        spec = "hyperx:" + "x".join(map(str, sides))
        cut = float(bisections.hyperx(sides))
        spreads = tuple(Spread(routers * (side - 1) / 2, side, prod(sides[:d])) for d, side in enumerate(sides))
        links = routers * degree // 2
        yield Shape(spec, routers, routers, degree, links, cut, "exact", len(sides), Packing(spreads))
    most = min(sides[-1] if sides else wanted.radix, wanted.high // routers, wanted.radix - degree)
    for side in range(2, most + 1 if len(sides) < MOST_DIMENSIONS else 0):
        yield from hyperxes(wanted, (*sides, side))


NEAREST = {1: 0, 2: 1, 4: 1, 8: 3}
"""Hops to the nearest endpoint with an uplink, at most, where one in this many has one."""

TORUS_PORTS = 6
"""Ports of an endpoint within its subtorus."""


def nest_trees(wanted: Requirements) -> Iterator[Shape]:
    """Yield subtori under a tree.

    Args:
        wanted: What is searched for.

    >>> [shape.spec for shape in nest_trees(Requirements(54, 54, 14))]
    ['nesttree:t=3,u=1,endpoints=54']
    """
    yield from _nests(wanted, "nesttree")


def nest_ghcs(wanted: Requirements) -> Iterator[Shape]:
    """Yield subtori under a generalised hypercube.

    Args:
        wanted: What is searched for.

    >>> [shape.routers for shape in nest_ghcs(Requirements(54, 54, 14))]
    [99]
    """
    yield from _nests(wanted, "nestghc")


def _nests(wanted: Requirements, family: str) -> Iterator[Shape]:
    """Subtori of every side whose halves are alike, under upper networks of the default sizes."""
    t = 2
    while 2 * (place := t**3) <= wanted.high:
        for u in NEAREST if t % 2 == 0 else (1,):
            for endpoints in range(place * max(2, -(-wanted.low // place)), wanted.high + 1, place):
                sizes = _upper(endpoints // u)
                # Of a tree all switches but the highest have as many links up as down.
                ports = max(2 * max(sizes[:-1], default=0), sizes[-1]) if family == "nesttree" else max(sizes)
                own = TORUS_PORTS + (1 if family == "nesttree" else len(sizes)) + 1
                if max(ports, own) <= wanted.radix:
                    yield _nest(family, (t, u, endpoints), sizes, max(ports, own))
        t += 1


def _nest(family: str, numbers: tuple[int, int, int], sizes: tuple[int, ...], radix: int) -> Shape:
    t, u, endpoints = numbers
    uplinks, subtori = endpoints // u, endpoints // t**3
    # Half of the subtori lose their uplinks; of an odd one the links across it are cut, and half of its uplinks.
    own = bisections.double_torus((t, t, t)) + t**3 // u // 2
    cut = subtori // 2 * (t**3 // u) + (own if subtori % 2 else 0)
    switches = sum(uplinks // size for size in sizes)
    packing = Packing((Spread(3 * endpoints, t**3), Spread(uplinks * len(sizes), 0)), t**3, t**3, switches)
    return Shape(
        f"{family}:t={t},u={u},endpoints={endpoints}", endpoints + switches, endpoints, radix - 1,
        3 * endpoints + uplinks * len(sizes), float(cut), "upper-bound", 2 * (NEAREST[u] + len(sizes)), packing,
        "upper-bound", 1,
    )  # fmt: skip


def _upper(uplinks: int) -> tuple[int, ...]:
    """Return the sizes of an upper network: three, as equal as can be, ascending, without those of 1."""

    def divisor(number: int, root: float) -> int:
        return next(size for size in range(int(root + 1e-9), 0, -1) if number % size == 0)

    first = divisor(uplinks, uplinks ** (1 / 3))
    second = divisor(uplinks // first, sqrt(uplinks // first))
    return tuple(size for size in (first, second, uplinks // first // second) if size > 1)
