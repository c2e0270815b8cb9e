"""Shapes: networks without their terminals, of all families that can be searched.

Sizes, links and degree are exact, from the families' definitions; bisection (of :mod:`topoloom.design.bisections`) and
diameter are closed forms, which `cut_is` and `diameter_is` qualify.
"""

from collections.abc import Iterator
from itertools import product
from math import log

from topoloom.design import bisections
from topoloom.design.bisections import generator_degree
from topoloom.design.grids import (
    circulants,
    folded_hypercubes,
    hypercubes,
    hyperxes,
    meshes,
    nest_ghcs,
    nest_trees,
    tori,
    twin_tori,
    twisted_tori,
)
from topoloom.design.racks import Packing, Spread
from topoloom.design.shape import Requirements, Search, Shape, prime_powers
from topoloom.design.trees import clos, fattrees, myriclos, rack_trees, xgfts

CASCADE_COLUMNS, CASCADE_ROWS, CASCADE_TRUNKS, CASCADE_PAIRS = (4, 8, 12, 16), range(2, 7), (1, 2, 3), (1, 2, 4, 8, 16)
"""Columns and rows of the groups of a Cascade, links along a column and between two groups."""


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


def _cascades(wanted: Requirements) -> Iterator[Shape]:
    """Groups of 4 to 16 columns and 2 to 6 rows, with 1 to 3 links along columns and 1 to 16 between two groups."""
    for columns, rows, trunk in product(CASCADE_COLUMNS, CASCADE_ROWS, CASCADE_TRUNKS):
        a, local = columns * rows, columns - 1 + (rows - 1) * trunk
        most = wanted.radix - local - 1
        for pair in CASCADE_PAIRS if most > 0 else ():
            for g in range(max(2, -(-wanted.low // (a * most))), min(wanted.high // a, a * most // pair + 1) + 1):
                if wanted.terminals(a * g, local + -(-pair * (g - 1) // a)):
                    yield _cascade((columns, rows, trunk), local, pair, g)


def _cascade(group: tuple[int, int, int], local: int, pair: int, g: int) -> Shape:
    columns, rows, trunk = group
    a = columns * rows
    inside, across = g * a * local // 2, pair * g * (g - 1) // 2
    # Whole groups on either side. Of an odd one half of the columns or rows, and its links to the others of its side.
    columns_cut = bisections.complete(columns) * rows + (columns % 2) * bisections.complete(rows) * trunk
    rows_cut = bisections.complete(rows) * columns * trunk + (rows % 2) * bisections.complete(columns)
    odd = min(columns_cut, rows_cut) + pair * (g - 1) // 2 if g % 2 else 0
    spec = f"cascade:columns={columns},rows={rows},trunk={trunk},g={g},pair={pair}"
    packing = Packing((Spread(inside, a), Spread(across, g, a)), a, a)
    cut, degree = float((g // 2) ** 2 * pair + odd), local + -(-pair * (g - 1) // a)
    return Shape(
        spec, a * g, a * g, degree, inside + across, cut, "estimate" if g % 2 else "upper-bound", 5, packing,
        "upper-bound",
    )  # fmt: skip


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
    yield from _random(wanted, "random-regular", 3)


def _rings(wanted: Requirements) -> Iterator[Shape]:
    """The same with a ring through all routers, and the ring alone."""
    yield from _random(wanted, "ring", 2)


def _random(wanted: Requirements, family: str, least: int) -> Iterator[Shape]:
    for degree in range(least, wanted.radix):
        for p in range(1, wanted.radix - degree + 1):
            routers = -(-wanted.low // p)
            # Links have two ends; matchings need pairs of routers.
            routers += routers * degree % 2 if family == "random-regular" else routers % 2 if degree > 2 else 0  # noqa: PLR2004 - the ring alone
            if routers > degree + 1 and wanted.terminals(routers, degree, p):
                yield _random_shape(family, routers, degree, p)


def _random_shape(family: str, routers: int, degree: int, p: int) -> Shape:
    links, spec = routers * degree // 2, f"{family}:{routers},degree={degree}"
    if degree == 2:  # noqa: PLR2004 - a ring alone
        return Shape(
            spec, routers, routers, 2, routers, 2.0, "exact", routers // 2, Packing((Spread(routers, 2),)), p=p
        )
    cut, diameter = bisections.random_regular(routers, degree), _random_diameter(routers, degree)
    near = (Spread(routers, 2), Spread(links - routers, routers)) if family == "ring" else (Spread(links, routers),)
    return Shape(spec, routers, routers, degree, links, cut, "estimate", diameter, Packing(near), "estimate", p)


def _random_diameter(routers: int, degree: int) -> int:
    """Return the number of links within which all pairs are found to be, about, in a random regular graph.

    The least whose walks are some n log n in number (Bollobás and de la Vega, The diameter of random regular graphs,
    Combinatorica 1982); 1.5 of them fits nine in ten graphs of 20 to 3,000 routers, the others by one.
    """
    diameter, walks = 1, degree
    while walks < 1.5 * routers * log(routers):
        diameter, walks = diameter + 1, walks * (degree - 1)
    return diameter


SHAPES: dict[str, Search] = {
    "galaxyfly": _galaxyflies,
    "dragonfly": _dragonflies,
    "cascade": _cascades,
    "dragonfly-plus": _dragonfly_pluses,
    "slimfly": _slimflies,
    "hyperx": hyperxes,
    "fattree": fattrees,
    "clos": clos,
    "xgft": xgfts,
    "rack-tree": rack_trees,
    "myriclos": myriclos,
    "flex": _flexes,
    "mesh": meshes,
    "torus": tori,
    "twisted-torus": twisted_tori,
    "twin-torus": twin_tori,
    "hypercube": hypercubes,
    "folded-hypercube": folded_hypercubes,
    "cayley": circulants,
    "nesttree": nest_trees,
    "nestghc": nest_ghcs,
    "ring": _rings,
    "random-regular": _random_regulars,
}
"""The families that can be searched, each with all its shapes within limits on terminals and ports."""

TREES = ("fattree", "clos", "xgft", "rack-tree", "myriclos")
"""Families whose terminals are on leaves alone."""

OTHERS = {
    "cluster": "it puts hosts on a network; ask for these with --hosts",
    "rails": "it joins copies of a tree; ask for xgft, which has trees of three levels",
    "machine": "it is a machine as it was built; see topoloom list machines",
    "permuted": "it is another network whose cables exchange ends; see topoloom permute",
    "faulty": "it is another network of which parts have failed; ask a design with --survive",
    "file": "it is one network, in a file",
}
"""Families that are not searched, and why."""
