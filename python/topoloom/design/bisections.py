"""Bisections by formulas: how many links there are, about, between two halves of a network without building it.

Halves are those of ``topoloom show``: their terminals differ by those of one router at most. :func:`hyperx` is exact;
the others are the fewest links of a few cuts that suit the family, and estimates where such a cut is not followed to
the last router. How near they come is in ``docs/design-search.md``.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from math import exp, inf, log, prod, sqrt

SMALL = {1: 0, 3: 2, 4: 2, 5: 2, 7: 6, 8: 4}
"""The least cuts of the smallest generator graphs."""

FAR = 1.5
"""Corners are skipped if their local links alone exceed a known cut by this factor."""


def generator_degree(q: int) -> int:
    """Return the degree of a generator graph of GF(q) in ports per supernode: (q - δ) / 2, where q = 4 l + δ.

    Source: Besta and Hoefler, Slim Fly: a cost effective low-diameter network topology, SC 2014.

    Args:
        q: The number of elements of the field, a prime power; q = 1 and q = 2 are no such graphs.

    >>> generator_degree(5), generator_degree(7), generator_degree(8)
    (2, 4, 4)
    """
    return {1: q - 1, 3: q + 1}.get(q % 4, q) // 2


def complete(k: int) -> int:
    """Return the links between two halves of a complete graph.

    Args:
        k: The number of routers.

    >>> complete(4), complete(5)
    (4, 6)
    """
    return (k // 2) * (k - k // 2)


def hyperx(sides: Sequence[int]) -> int:
    """Return the fewest links between two halves of a HyperX.

    No set of routers has more links inside than the first in lexicographic order, the shortest side changing slowest
    (Lindsey, Assignment of numbers to vertices, American Mathematical Monthly 1964).

    Args:
        sides: Routers per dimension.

    >>> hyperx([4, 4]), hyperx([3, 3])
    (16, 8)
    """
    order = sorted(sides)
    return _first(prod(order) // 2, order)


def _first(count: int, sides: Sequence[int]) -> int:
    """Return the links between the first routers in lexicographic order and the others."""
    if not sides:
        return 0
    layer = prod(sides[1:])
    full, rest = divmod(count, layer)
    across = rest * (full + 1) * (sides[0] - full - 1) + (layer - rest) * full * (sides[0] - full)
    return across + (_first(rest, sides[1:]) if rest else 0)


def random_regular(routers: int, degree: int) -> float:
    """Return an estimate of the links between two halves of a random regular graph.

    Half of the links less 0.38 √d per router in large ones (Dembo, Montanari and Sen, Annals of Probability 2017); the
    factor here was fitted to small ones, of 6 to 400 routers.

    Args:
        routers: The number of routers.
        degree: Links per router, at least 2.

    >>> round(random_regular(64, 8))
    72
    """
    factor = (0.37 + 0.15 / (degree - 1)) * (1 - exp(-2 / 3 * log(routers)))
    average = routers * degree / 4 * routers / (routers - 1)
    return average - routers * factor * sqrt((degree - 1) * (1 - degree / routers))


def galaxyfly(n: int, q: int, a: int, h: int) -> float:
    """Return an estimate of the links between two halves of a Galaxyfly under wiring G: the best of several cuts.

    Args:
        n: The number of clusters.
        q: The number of supernodes per cluster.
        a: The number of routers per supernode.
        h: The number of global ports per router.

    >>> galaxyfly(1, 1, 4, 0), galaxyfly(4, 1, 1, 3)
    (4.0, 4.0)
    """
    if n * q == 1:
        return float(complete(a))
    return _galaxyfly(n, q, a, h)


def dragonfly(a: int, h: int, g: int) -> float:
    """Return an estimate of the links between two halves of a dragonfly of the absolute arrangement.

    It is the smallest of several cuts.

    Args:
        a: The number of routers per group.
        h: The number of global ports per router.
        g: The number of groups.

    >>> dragonfly(4, 2, 9)
    18.0
    """
    times, left = divmod(a * h, g - 1)
    if times == 1 and left == 0:
        return _galaxyfly(g, 1, a, h)
    ring = left // 2
    circulant = ring * (ring + 1) + (g // 2 if left % 2 else 0)
    best = float(times * (g // 2) ** 2 + circulant)
    if g % 2:
        best += complete(a) + a % 2 * (h // 2) + (times - times % 2) * (g // 2) + left / 2
    if a == 1:
        return best
    best = min(best, g * complete(a) + _between_times(a, h, g))
    routers = a // times
    if routers > 1 and a % times == 0:
        best = min(best, times * times * _corner(g, 1, routers, 0, h, inf) + circulant)
    return best


def _between_times(a: int, h: int, g: int) -> float:
    """Links between groups that are cut if each is in two, its first routers on one side.

    Links that go to all other groups at a time then stay on a side, but for the time that is cut itself. With an odd
    number of routers half of the groups keep one more, so that what it has to the other groups is cut.
    """
    place = a // 2 * h % (g - 1)
    time = place * (g - 1 - place)
    if a % 2:
        other = (place + h) % (g - 1)
        return complete(g) * h / (g - 1) + (time + other * (g - 1 - other)) / 4
    times, left = divmod(a * h, g - 1)
    # Or groups of the two halves of the only time exchange sides.
    return float(min(time, g / 2 + left * g / 4)) if times == 1 else float(time)


def _galaxyfly(n: int, q: int, a: int, h: int) -> float:
    inside = generator_degree(q) if q > 1 else 0
    best = min(_clusters(n, q, a, h), _labels(n, q, a))
    if a == 1:
        return best
    # A cut that splits supernodes crosses at least this number of local links.
    if n > 1:
        best = min(best, _corner(n, q, a, inside, h, best))
        best = min(best, _exchanged(n, q, a, inside, h, best))
    if n * q * complete(a) < best:
        best = min(best, _all_alike(n, q, a, inside, h))
    return best


@lru_cache(maxsize=4096)
def _paley(q: int) -> float:
    """Return the links between two halves of a cluster, of supernodes as single routers.

    Fewer than an average cut has, by a part that was fitted to the generator graphs up to q = 180.
    """
    if q in SMALL:
        return float(SMALL[q])
    deviations = {1: 0.75, 3: 1.05}.get(q % 4, 1.2)
    return generator_degree(q) * complete(q) / (q - 1) * (1 - deviations / sqrt(q))


def _clusters(n: int, q: int, a: int, h: int) -> float:
    """Whole clusters on either side, and one in two if their number is odd."""
    if n == 1:
        return inf
    half = n // 2
    if n % 2 == 0:
        return float(half * half * q)
    if q == 1:
        # The half of its routers is linked to the groups that are on its side.
        return float(half * half + complete(a) + a % 2 * (h // 2))
    return half * (half + 1) * q + _paley(q) + (complete(a) if q % 2 else 0)


def _labels(n: int, q: int, a: int) -> float:
    """Half of the labels of every cluster."""
    if q == 1:
        return inf
    split = complete(a) if q % 2 and n % 2 else 0
    # The labels that cut a cluster best, which cut the links between clusters by chance ...
    chosen = n * _paley(q) + n * (n - 1) * q / 4
    # ... or powers of ξ that follow each other, one earlier in the second half of the clusters: links between these
    # halves are not cut, two of every two clusters of the same half are.
    low, high = n // 2, n - n // 2
    average = generator_degree(q) * complete(q) / (q - 1) if q > 4 else SMALL[q]  # noqa: PLR2004 - all cuts of these are alike
    powers = n * average + low * (low - 1) + high * (high - 1) + (low * high if q % 2 else 0)
    return min(chosen, powers) + split


def _corner(n: int, q: int, a: int, inside: int, h: int, known: float) -> float:
    """The first routers of the first clusters; where that is far from `known`, not all is counted.

    Rule G gives router r the links to the clusters from r h - `inside` on: those between the first `edge` routers of
    the clusters that these routers lead to are not cut. A strip of one router more, in as many clusters, makes a half.
    """
    half, own = n * a / 2, -(-inside // h)
    corner = (inside + sqrt(inside * inside + 2 * h * n * a)) / (2 * h)
    if half * (a - corner) * q > FAR * known:
        return inf

    def led(routers: int) -> int:
        return n if routers >= a else min(max(routers * h - inside, 0), n)

    edge = min(max(own, 1, int(corner)), a)
    while led(edge) * edge < half:
        edge += 1
    inner, wide = led(edge - 1), led(edge) - led(edge - 1)

    def routers(length: int) -> int:
        return inner * (edge - 1) + wide * length + led(length) if length < edge else led(edge) * edge

    def local(length: int) -> int:
        if length == edge:
            return led(edge) * edge * (a - edge)
        longer = led(length) * edge * (a - edge) + (inner - led(length)) * (edge - 1) * (a - edge + 1)
        return longer + wide * length * (a - length)

    length = bisect_left(range(edge + 1), half, key=routers)
    if length == 0:
        return float(local(0) * q)
    part = (half - routers(length - 1)) / (routers(length) - routers(length - 1))
    pairs = wide * (2 * (led(length) - led(length - 1)) if length < edge else wide)
    ends = wide * q * _own_cut(range(length), inside, h, q) if length <= own else 0
    block = part * (1 - part) * _block(pairs, q, wide if length <= own else 0)
    return (local(length - 1) * (1 - part) + local(length) * part) * q + block + ends


def _block(pairs: int, q: int, own: int) -> float:
    """Where the strip ends within a block of clusters, either links of the block are cut, or labels are halved.

    Args:
        pairs: Pairs of clusters that have links there.
        q: Supernodes a cluster.
        own: Clusters whose own links are on the router where it ends.
    """
    return float(pairs * q if q == 1 else min(pairs * q, 4 * (own * generator_degree(q) * q / 4 + pairs)))


def _exchanged(n: int, q: int, a: int, inside: int, h: int, best: float) -> float:
    """The last routers of the clusters to which the others lead, and the others of those to which the last lead.

    Only links at the border between these two kinds of clusters are cut, besides the local ones.
    """
    for last in range(1, min(a - -(-inside // h) + 1, a)):
        local = n * q * last * (a - last)
        if local < best:
            lower = min(max((a - last) * h - inside, 0), n)
            moved = abs(n / 2 - lower) * abs(a - 2 * last) * q
            best = min(best, local + q * min(lower, n - lower) + moved * (a - 1 + h) / 2)
    return best


def _all_alike(n: int, q: int, a: int, inside: int, h: int) -> float:
    """The same half of the routers of every supernode."""
    return n * q * complete(a) + min(
        _between(half, n, inside, h) * q + n * q * _own_cut(half, inside, h, q)
        for half in _half_supernodes(a, inside, h)
    )


def _half_supernodes(a: int, inside: int, h: int) -> Iterator[Sequence[int]]:
    """Routers of a supernode: the first ones, or such that have both ends of links within clusters."""
    half, pairs = a // 2, -(-inside // h) // 2
    yield range(half)
    for first in {half // 2, half - half // 2}:
        ends = [*range(min(first, pairs)), *range(pairs, pairs + min(half - first, pairs))]
        yield ends + [router for router in reversed(range(a)) if router not in ends][: half - len(ends)]


def _between(half: Sequence[int], n: int, inside: int, h: int) -> int:
    """Links between clusters with one end at a router of `half`, of every label: each pair of positions is a link."""
    most = inside + n - 1
    places = sum(max(0, min((r + 1) * h, most) - max(r * h, inside)) for r in half)
    return places * (n - 1 - places)


def _own_cut(half: Sequence[int], inside: int, h: int, q: int) -> int:
    """Links within a cluster with one end at a router of `half`, for each of its supernodes.

    The other end of link k < (q - δ) / 4 has the place k + (q - δ) / 4, or its own if q is even.
    """
    if q % 2 == 0:
        return 0
    shift, cut, place = inside // 2, 0, 0
    chosen = set(half)
    while place < shift:
        end = min(shift, (place // h + 1) * h, ((place + shift) // h + 1) * h - shift)
        if (place // h in chosen) != ((place + shift) // h in chosen):
            cut += end - place
        place = end
    return cut


def mesh(sides: Sequence[int]) -> int:
    """Return the fewest links between two halves of a mesh.

    They lie across the longest side; of an odd number of layers the middle one is halved in turn (Efe and Feng, A proof
    for bisection width of grids, International Conference on Computer Science 2007).

    Args:
        sides: Routers per dimension.

    >>> mesh([4, 4]), mesh([3, 3]), mesh([2, 4])
    (4, 4, 2)
    """
    order, cut = sorted(sides, reverse=True), 0
    for place, side in enumerate(order):
        cut += prod(order[place + 1 :])
        if side % 2 == 0:
            break
    return cut


def torus(sides: Sequence[int]) -> int:
    """Return the links between two halves of a torus across its dimensions; the fewest if no side is 2.

    A cut of a ring is two links, or one where both directions are the same (Arjona Aroca and Fernández Anta, Bisection
    (band)width of product networks with application to data centers, IEEE Transactions on Parallel and Distributed
    Systems 25, 2014).

    Args:
        sides: Routers per dimension.

    >>> torus([4, 4]), torus([3, 3]), torus([2, 4])
    (8, 8, 4)
    """
    return _across(sides, lambda side: 1 if side == 2 else 2)  # noqa: PLR2004 - one link for both directions


def double_torus(sides: Sequence[int]) -> int:
    """Return the links between two halves of a torus of which every ring has two links to cut, those of two as well.

    Args:
        sides: Routers per dimension.

    >>> double_torus([4, 4]), double_torus([2, 4])
    (8, 4)
    """
    return _across(sides, lambda _: 2)


def _across(sides: Sequence[int], links: Callable[[int], int]) -> int:
    """Return the links that are cut dimension by dimension, the fewest first: odd ones leave a layer to halve."""
    order, cut = sorted(sides, key=lambda side: (links(side) / side, side)), 0
    for place, side in enumerate(order):
        cut += links(side) * prod(order[place + 1 :])
        if side % 2 == 0:
            break
    return cut
