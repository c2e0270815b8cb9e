"""Every family of networks, written from its definition: who is linked to whom, in the order of the ports."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from math import prod

import networkx as nx
import numpy as np

from oracles.fields import Field

# The links of a router in the order of its ports: (peer, class).
Links = list[tuple[int, str]]


@dataclass
class Graph:
    """A network: for each router its terminals, and its links in the order of its ports."""

    links: list[Links]
    p: list[int]
    sides: tuple[int, ...] = ()
    extra: dict[str, int] = field(default_factory=dict)
    down: set[int] = field(default_factory=set)
    """Routers that have failed: no links, and no terminals that count."""
    attached: dict[tuple[int, ...], tuple[int, ...]] = field(default_factory=dict)
    """In a subtorus, the place whose uplink each place uses."""

    @property
    def routers(self) -> int:
        return len(self.links)

    @property
    def up(self) -> list[int]:
        """The routers that have not failed."""
        return [r for r in range(self.routers) if r not in self.down]

    @property
    def homes(self) -> list[int]:
        """The router of each terminal, for families that number terminals router by router."""
        return [r for r, p in enumerate(self.p) for _ in range(p)]

    def port(self, router: int, place: int) -> int:
        """The port of a router's link: its terminals stand first."""
        return self.p[router] + place

    def ports_to(self, router: int, peer: int) -> list[int]:
        return [self.port(router, i) for i, (to, _) in enumerate(self.links[router]) if to == peer]

    def coordinates(self, router: int) -> tuple[int, ...]:
        return coordinates(self.sides, router)

    def router(self, coordinates: tuple[int, ...]) -> int:
        return number(self.sides, coordinates)

    def networkx(self) -> nx.MultiGraph:
        graph = nx.MultiGraph()
        graph.add_nodes_from(range(self.routers))
        # Both ends list a link: every second mention of a pair is the other end.
        for router, links in enumerate(self.links):
            graph.add_edges_from((router, peer) for peer, _ in links if router < peer)
        return graph


def damaged(graph: Graph, left: list[tuple[int, int]], down: set[int]) -> Graph:
    """What failures leave: the links between the pairs `left` (one mention for each of several parallel ones), and the
    terminals of routers that are up. The ports of a router keep their order."""

    def links(router: int) -> Links:
        pairs = Counter(frozenset(pair) for pair in left)
        kept = []
        for peer, kind in graph.links[router]:
            pair = frozenset((router, peer))
            if pairs[pair]:
                pairs[pair] -= 1
                kept.append((peer, kind))
        return kept

    p = [0 if router in down else count for router, count in enumerate(graph.p)]
    return Graph([links(r) for r in range(graph.routers)], p, graph.sides, graph.extra, down)


def coordinates(sides: tuple[int, ...], router: int) -> tuple[int, ...]:
    """The first dimension varies fastest."""
    return tuple(router // prod(sides[:d]) % side for d, side in enumerate(sides))


def number(sides: tuple[int, ...], place: tuple[int, ...]) -> int:
    return sum(c * prod(sides[:d]) for d, c in enumerate(place))


def moved(place: tuple[int, ...], d: int, to: int) -> tuple[int, ...]:
    return (*place[:d], to, *place[d + 1 :])


def mesh(sides: tuple[int, ...], p: int = 1) -> Graph:
    def links(router: int) -> Links:
        here = coordinates(sides, router)
        steps = [(d, here[d] + way) for d in range(len(sides)) for way in (1, -1)]
        return [(number(sides, moved(here, d, to)), "local") for d, to in steps if 0 <= to < sides[d]]

    n = prod(sides)
    return Graph([links(r) for r in range(n)], [p] * n, sides)


def torus(sides: tuple[int, ...], p: int = 1, *, double: bool = False) -> Graph:
    def links(router: int) -> Links:
        here = coordinates(sides, router)
        found: Links = []
        for d, side in enumerate(sides):
            ways = (1, -1) if side > 2 or (side == 2 and double) else (1,) if side == 2 else ()
            found += [(number(sides, moved(here, d, (here[d] + way) % side)), "local") for way in ways]
        return found

    n = prod(sides)
    return Graph([links(r) for r in range(n)], [p] * n, sides)


def twisted_torus(sides: tuple[int, ...], rows: list[tuple[int, ...]], p: int = 1, *, double: bool = False) -> Graph:
    """Points of a box, and of the lattice around it: two points are one router if whole multiples of the vectors
    side e_d - row d lead from one to the other. Every router is linked to the points next to it."""
    vectors = np.diag(sides) - np.array(rows)
    places = np.array([coordinates(sides, router) for router in range(prod(sides))])

    def at(point: np.ndarray) -> int:
        multiples = np.linalg.solve(vectors.T, (places - point).T)
        (router,) = np.flatnonzero(np.all(abs(multiples - multiples.round()) < 1e-9, axis=0))
        return int(router)

    def links(router: int) -> Links:
        found: Links = []
        for way in np.eye(len(sides), dtype=int):
            ends = [at(places[router] + way), at(places[router] - way)]
            single = ends[0] == ends[1] and not double
            found += [(end, "local") for end in ends[: 1 if single else 2] if end != router]
        return found

    n = prod(sides)
    return Graph([links(router) for router in range(n)], [p] * n, sides)


Element = tuple[tuple[int, ...], int]
"""A vector, and how often it turns."""


def semidirect(sizes: tuple[int, ...], turn: tuple[int, ...] | None) -> tuple[list[Element], Callable]:
    """The elements of a semidirect product in the order of their numbers, and their product, by powers of matrices."""
    moduli, n = sizes[:-1], sizes[-1]
    matrix = np.eye(len(moduli), dtype=int)
    if turn is not None:
        matrix = np.eye(len(moduli), k=-1, dtype=int)
        matrix[:, -1] = turn

    def times(a: Element, b: Element) -> Element:
        vector = np.array(b[0], dtype=int)
        for _ in range(a[1]):
            vector = matrix @ vector % np.array(moduli, dtype=int)
        return tuple(int(x + y) % m for x, y, m in zip(a[0], vector, moduli, strict=True)), (a[1] + b[1]) % n

    vectors = [tuple(reversed(digits)) for digits in product(*(range(m) for m in reversed(moduli)))]
    return [(vector, t) for t in range(n) for vector in vectors], times


def cayley(
    sizes: tuple[int, ...], generators: tuple[int, ...], turn: tuple[int, ...] | None = None, p: int = 1
) -> Graph:
    """Router r is linked to r s, and to r h where s h = 1."""
    elements, times = semidirect(sizes, turn)
    numbers = {element: place for place, element in enumerate(elements)}
    ways: list[Element] = []
    for generator in (elements[place] for place in generators):
        (inverse,) = (element for element in elements if numbers[times(generator, element)] == 0)
        ways += [generator] if inverse == generator else [generator, inverse]
    links = [[(numbers[times(element, way)], "local") for way in ways] for element in elements]
    return Graph(links, [p] * len(elements))


def twin_torus(sides: tuple[int, ...], p: int = 1) -> Graph:
    """Nodes of two cards, ids 2 node + card. The lower dimensions are on card 0, the upper on card 1; of an odd number
    the middle one has its - on card 0 and its + on card 1."""
    n = len(sides)

    def bears(card: int, d: int, way: int) -> bool:
        if n % 2 == 1 and d == n // 2:
            return card == (way == 1)
        return card == (d >= n // 2)

    def links(router: int) -> Links:
        node, card = divmod(router, 2)
        here = coordinates(sides, node)
        found: Links = []
        for d, side in enumerate(sides):
            for way in (1, -1):
                if bears(card, d, way):
                    peer = number(sides, moved(here, d, (here[d] + way) % side))
                    found.append((2 * peer + bears(1, d, -way), "local"))
        return [*found, (2 * node + 1 - card, "internal")]

    routers = 2 * prod(sides)
    return Graph([links(r) for r in range(routers)], [p] * routers, (2, *sides))


def hypercube(dimensions: int, p: int = 1, *, folded: bool = False) -> Graph:
    """Routers are words of bits; linked where one bit differs, and if folded where all do."""
    sides = (2,) * dimensions
    n = 2**dimensions

    def links(router: int) -> Links:
        here = coordinates(sides, router)
        peers = [moved(here, d, 1 - here[d]) for d in range(dimensions)]
        peers += [tuple(1 - c for c in here)] if folded else []
        return [(number(sides, peer), "local") for peer in peers]

    return Graph([links(r) for r in range(n)], [p] * n, sides)


def hyperx(sides: tuple[int, ...], p: int = 1, trunk: int = 1) -> Graph:
    def links(router: int) -> Links:
        here = coordinates(sides, router)
        return [
            (number(sides, moved(here, d, to)), "local")
            for d, side in enumerate(sides)
            for to in range(side)
            if to != here[d]
            for _ in range(trunk)
        ]

    n = prod(sides)
    return Graph([links(r) for r in range(n)], [p] * n, sides, {"trunk": trunk})


def tile_homes(sides: tuple[int, ...], tile: tuple[int, ...]) -> list[int]:
    """The router of each terminal of a HyperX whose terminals are numbered over the grid of all of them."""
    whole = tuple(s * t for s, t in zip(sides, tile, strict=True))
    places = (coordinates(whole, terminal) for terminal in range(prod(whole)))
    return [number(sides, tuple(c // t for c, t in zip(place, tile, strict=True))) for place in places]


def tree(
    down: tuple[int, ...], up: tuple[int, ...], trunk: tuple[int, ...] | None = None, *, consecutive: bool = False
) -> Graph:
    """A router is (level, group, copies), a copy being the list of the up ports that lead to it from a leaf.

    Two routers are linked if the one's group holds the other's and the other's copies begin with the one's; by so many
    links as `trunk` says of their levels.
    """
    top = len(down) - 1
    trunk = trunk or (1,) * top
    routers = []
    for level in range(top + 1):
        copies = list(product(*(range(width) for width in up[:level])))
        # The number of a copy reads its up ports as digits: the last one counts most, or least.
        copies.sort(key=lambda ports: ports if consecutive else ports[::-1])
        routers += [(level, group, copy) for group in range(prod(down[level + 1 :])) for copy in copies]
    place = {router: i for i, router in enumerate(routers)}

    def links(level: int, group: int, copy: tuple[int, ...]) -> Links:
        found = []
        if level > 0:
            children = range(group * down[level], (group + 1) * down[level])
            found += [(level - 1, child, copy[:-1]) for child in children for _ in range(trunk[level - 1])]
        if level < top:
            above = [(level + 1, group // down[level + 1], (*copy, port)) for port in range(up[level])]
            found += [router for router in above for _ in range(trunk[level])]
        return [(place[router], "up") for router in found]

    terminals = [down[0] if level == 0 else 0 for level, _, _ in routers]
    extra = {f"down{level}": width for level, width in enumerate(down)}
    return Graph([links(*router) for router in routers], terminals, extra=extra)


def fattree(k: int, levels: int) -> Graph:
    """A router is (level, word of levels-1 digits in base k); one step up sets the digit of the level."""
    width = k ** (levels - 1)
    words = (k,) * (levels - 1)

    def links(router: int) -> Links:
        level, word = divmod(router, width)
        digits = coordinates(words, word)
        found: Links = []
        if level > 0:
            found += [((level - 1) * width + number(words, moved(digits, level - 1, d)), "up") for d in range(k)]
        if level < levels - 1:
            found += [((level + 1) * width + number(words, moved(digits, level, d)), "up") for d in range(k)]
        return found

    n = levels * width
    terminals = [k if r < width else 0 for r in range(n)]
    return Graph([links(r) for r in range(n)], terminals)


def tapered(full: int, levels: int, taper: str) -> tuple[int, ...]:
    """Links up of each level but the last."""
    tapers = [Fraction(t) for t in taper.split("x")]
    return tuple(int(full / t) for t in tapers) + (full,) * (levels - 1 - len(tapers))


def kary_tree(k: int, levels: int, taper: str | None) -> Graph:
    return fattree(k, levels) if taper is None else tree((k,) * levels, tapered(k, levels, taper))


def clos(radix: int, levels: int, taper: str = "1") -> Graph:
    """Al-Fares et al.: all routers have `radix` ports, half of them up but at the top."""
    half = radix // 2
    return tree((half,) * (levels - 1) + (radix,), tapered(half, levels, taper), consecutive=True)


def dragonfly(a: int, h: int, p: int = 1, g: int | None = None) -> Graph:
    """The absolute arrangement; with fewer than a*h+1 groups, leftover ports only where a circulant graph takes all."""
    g = a * h + 1 if g is None else g
    rounds, rest = divmod(a * h, g - 1) if g > 1 else (0, 0)
    assert rest % 2 == 0 or g % 2 == 0, "which port stays unused is the engine's own choice"

    def near(i: int, j: int) -> bool:
        step = min((i - j) % g, (j - i) % g)
        return step <= rest // 2 or (rest % 2 == 1 and 2 * step == g)

    def targets(group: int) -> list[int]:
        others = [j for j in range(g) if j != group]
        return others * rounds + [j for j in others if near(group, j)]

    def peer(group: int, index: int) -> int:
        """The router at the other end: the n-th port to a group meets the n-th port back."""
        to = targets(group)[index]
        nth = targets(group)[:index].count(to)
        back = [i for i, j in enumerate(targets(to)) if j == group][nth]
        return to * a + back // h

    def links(router: int) -> Links:
        group, own = divmod(router, a)
        local: Links = [(group * a + r, "local") for r in range(a) if r != own]
        used = range(own * h, min((own + 1) * h, len(targets(group))))
        return local + [(peer(group, index), "global") for index in used]

    return Graph([links(r) for r in range(a * g)], [p] * (a * g), extra={"a": a})


def dragonfly_plus(leaf: int, spine: int, h: int, p: int = 1, g: int | None = None) -> Graph:
    """A dragonfly of the spines alone, whose routers of a group are joined by leaves instead of links."""
    spines = dragonfly(spine, h, p, g)
    size = leaf + spine
    found: list[Links] = []
    for group in range(spines.routers // spine):
        found += [[(group * size + leaf + s, "local") for s in range(spine)] for _ in range(leaf)]
        for router in range(group * spine, (group + 1) * spine):
            down: Links = [(group * size + below, "local") for below in range(leaf)]
            peers = [peer for peer, kind in spines.links[router] if kind == "global"]
            found.append(down + [(peer // spine * size + leaf + peer % spine, "global") for peer in peers])
    terminals = [p if router % size < leaf else 0 for router in range(len(found))]
    return Graph(found, terminals)


def myriclos(n: int) -> Graph:
    """Tier by tier, as (tier, enclosure, place); links from the rules of the enclosures and of the uplinks."""
    if n <= 128:
        routers = [(0, 0, i) for i in range(n // 8)] + [(1, 0, i) for i in range(n // 16)]
        within = [((0, 0, i), (1, 0, j)) for i in range(n // 8) for j in range(n // 16) for _ in range(128 // n)]
        return tiers(routers, within)
    leaves = range(n // 64)
    routers = [(tier, b, i) for b in leaves for tier in (0, 1) for i in range(8)]
    links = [((0, b, i), (1, b, j)) for b in leaves for i in range(8) for j in range(8)]
    uplinks = [(b, q) for b in leaves for q in range(64)]
    if n <= 1024:
        routers += [(2, 0, i) for i in range(n // 16)]
        links += [((1, b, q // 8), (2, 0, q % (n // 16))) for b, q in uplinks]
        return tiers(routers, links)
    spines = n // 128
    routers += [(tier, e, i) for e in range(spines) for tier, width in ((2, 16), (3, 8)) for i in range(width)]
    for b, q in uplinks:
        turn, enclosure = divmod(q, spines)
        links.append(((1, b, q // 8), (2, enclosure, (b * (64 // spines) + turn) // 8)))
    links += [((2, e, i), (3, e, j)) for e in range(spines) for i in range(16) for j in range(8)]
    return tiers(routers, links)


def tiers(routers: list[tuple[int, int, int]], links: list[tuple[tuple, tuple]]) -> Graph:
    """A graph of (tier, enclosure, place) by links up, which stand in the order of both their ends' ports."""
    number_of = {router: i for i, router in enumerate(routers)}
    down: list[Links] = [[] for _ in routers]
    up: list[Links] = [[] for _ in routers]
    for lower, upper in links:
        up[number_of[lower]].append((number_of[upper], "up"))
        down[number_of[upper]].append((number_of[lower], "up"))
    terminals = [8 if tier == 0 else 0 for tier, _, _ in routers]
    return Graph([d + u for d, u in zip(down, up, strict=True)], terminals)


def slimfly(q: int, p: int = 1) -> Graph:
    field_ = Field(q)
    sets = field_.generator_sets()

    def links(router: int) -> Links:
        side, x, y = router // (q * q), router // q % q, router % q
        found: Links = [(router - y + field_.add(y, g), "local") for g in sets[side]]
        for other in range(q):
            # (0, x, y) - (1, m, c) if y = m x + c
            slope = field_.mul(x, other)
            there = field_.add(y, field_.neg(slope)) if side == 0 else field_.add(slope, y)
            found.append(((1 - side) * q * q + other * q + there, "local"))
        return found

    n = 2 * q * q
    return Graph([links(r) for r in range(n)], [p] * n)


def galaxy(n: int, q: int) -> list[list[int]]:
    """The neighbours of each supernode (c, x), number c q + x: in its cluster by generator, then cluster by cluster."""
    if q == 1:
        return [[other for other in range(n) if other != c] for c in range(n)]
    field_ = Field(q)
    generators = field_.generator_sets()[0]
    label = {field_.mul(field_.xi, x): x for x in range(q)}

    def neighbours(c: int, x: int) -> list[int]:
        inside = [c * q + field_.add(x, g) for g in generators]
        # For clusters s < t, (t, x) - (s, xi x).
        return inside + [s * q + (field_.mul(field_.xi, x) if s < c else label[x]) for s in range(n) if s != c]

    return [neighbours(c, x) for c in range(n) for x in range(q)]


def galaxyfly(n: int, q: int, a: int, p: int = 1, h: int | None = None, wiring: str = "G") -> Graph:
    """Every supernode sorts its links as the wiring says, and deals them to its routers."""
    supernodes = galaxy(n, q)
    degree = len(supernodes[0])
    h = -(-degree // a) if h is None else h

    def dealt(s: int) -> list[list[int]]:
        """The supernodes that each router of one leads to, in the order of its global ports."""
        keys = {
            "absolute": lambda t: t,
            "relative": lambda t: (t - s) % (n * q),
            "palmtree": lambda t: (s - t) % (n * q),
        }
        to = sorted(supernodes[s], key=keys[wiring]) if wiring in keys else supernodes[s]
        if wiring == "round-robin":
            return [to[r::a] for r in range(a)]
        return [to[r * h : (r + 1) * h] for r in range(a)]

    hands = [dealt(s) for s in range(n * q)]
    owner = [{t: s * a + r for r, hand in enumerate(hands[s]) for t in hand} for s in range(n * q)]

    def links(router: int) -> Links:
        s, own = divmod(router, a)
        local: Links = [(s * a + r, "local") for r in range(a) if r != own]
        return local + [(owner[t][s], "global") for t in hands[s][own]]

    return Graph([links(r) for r in range(n * q * a)], [p] * (n * q * a), extra={"n": n, "q": q, "a": a})


def flex(nx_: int, ny: int, layers: int, p: int = 1) -> Graph:
    sides = (nx_, ny, layers)

    def links(router: int) -> Links:
        x, y, z = coordinates(sides, router)
        found: Links = []
        for layer in [(z + 1) % layers] if layers == 2 else [(z + 1) % layers, (z - 1) % layers]:
            found += [(number(sides, (u, y, layer)), "local") for u in range(nx_) if u != x]
            found += [(number(sides, (x, v, layer)), "local") for v in range(ny) if v != y]
        return found

    n = prod(sides)
    return Graph([links(r) for r in range(n)], [p] * n, sides)


def nest_uplinks(t: int, u: int) -> list[tuple[int, int, int]]:
    """The places of a subtorus that have uplinks, by z, y, x as their numbers go; of u = 4 the even ones first."""
    places = [(x, y, z) for z in range(t) for y in range(t) for x in range(t)]
    parities = {place: [c % 2 for c in place] for place in places}
    if u == 1:
        return places
    if u == 2:
        return [place for place in places if place[0] % 2 == 0]
    even = [place for place in places if parities[place] == [0, 0, 0]]
    odd = [place for place in places if parities[place] == [1, 1, 1]]
    return even + odd if u == 4 else even


def nest_attached(t: int, u: int, attach: str) -> dict[tuple[int, int, int], tuple[int, int, int]]:
    """The place whose uplink each place uses, found by searching all that have one."""
    uplinks = nest_uplinks(t, u)

    def ring(a: int, b: int) -> int:
        return min((a - b) % t, (b - a) % t)

    def own_block(place: tuple[int, ...], uplink: tuple[int, ...]) -> bool:
        return all(a // 2 == b // 2 for a, b in zip(place, uplink, strict=True))

    found = {}
    for place in product(range(t), repeat=3):
        anywhere = u == 1 or (attach == "published" and u == 8)
        near = uplinks if anywhere else [up for up in uplinks if own_block(place, up)]
        # By distance round the rings, of equally near ones the first by z, y, x.
        far = [(sum(map(ring, place, up)), up[::-1], up) for up in near]
        found[place] = min(far)[-1]
    return found


def nest(t: int, u: int, endpoints: int, upper: tuple[int, ...], attach: str, *, ghc: bool) -> Graph:
    """Subtori, and above them a tree whose terminals are the uplinks, or a switch for all that differ in one digit."""
    size = t**3
    holders = [s * size + number((t,) * 3, place) for s in range(endpoints // size) for place in nest_uplinks(t, u)]
    ring = torus((t,) * 3, double=True)
    links: list[Links] = [
        [(s * size + peer, kind) for peer, kind in ring.links[r]] for s in range(endpoints // size) for r in range(size)
    ]
    if ghc:
        digits = [coordinates(upper, j) for j in range(len(holders))]
        for i in range(len(upper)):
            for place in [d for d in digits if d[i] == 0]:
                row = [holders[number(upper, moved(place, i, digit))] for digit in range(upper[i])]
                for holder in row:
                    links[holder].append((len(links), "global"))
                links.append([(holder, "global") for holder in row])
    else:
        above = tree(upper, upper[:-1])
        for j, leaf in enumerate(above.homes):
            links[holders[j]].append((endpoints + leaf, "up"))
        for router, found in enumerate(above.links):
            down: Links = [(holder, "up") for holder, leaf in zip(holders, above.homes, strict=True) if leaf == router]
            links.append(down + [(endpoints + peer, kind) for peer, kind in found])
    extra = {"t": t, "u": u, "endpoints": endpoints}
    p = [1] * endpoints + [0] * (len(links) - endpoints)
    return Graph(links, p, upper, extra, attached=nest_attached(t, u, attach))


def build(spec: str) -> Graph:
    """The graph of a spec of the engine, read naively."""
    family, _, rest = spec.partition(":")
    sizes: tuple[int, ...] = ()
    keys: dict[str, str] = {}
    for item in rest.split(","):
        key, equals, value = item.partition("=")
        if equals:
            keys[key] = value
        elif keys and item.isdigit():
            keys[list(keys)[-1]] += f",{item}"
        else:
            sizes = tuple(int(side) for side in item.split("x"))
    p, double = int(keys.get("p", 1)), keys.get("double") == "true"
    tile = tuple(int(t) for t in keys.get("tile", str(p)).split("x"))
    number_of = {key: int(value) for key, value in keys.items() if value.isdigit()}
    lists = {
        key: tuple(map(int, value.split("x"))) for key, value in keys.items() if key in ("down", "up", "trunk", "upper")
    }
    numbers = {key: tuple(map(int, value.split(","))) for key, value in keys.items() if key in ("turn", "generators")}

    def torus_or_twisted() -> Graph:
        if "twist" not in keys:
            return torus(sizes, p, double=double)
        rows = [tuple(map(int, row.split(":"))) for row in keys["twist"].split("/")]
        return twisted_torus(sizes, rows, p, double=double)

    def nested(*, ghc: bool) -> Graph:
        numbers = (number_of[key] for key in ("t", "u", "endpoints"))
        return nest(*numbers, lists["upper"], keys.get("attach", "block"), ghc=ghc)

    makers: dict[str, Callable[[], Graph]] = {
        "mesh": lambda: mesh(sizes, p),
        "torus": torus_or_twisted,
        "cayley": lambda: cayley(sizes, numbers["generators"], numbers.get("turn"), p),
        "twin-torus": lambda: twin_torus(sizes, p),
        "hypercube": lambda: hypercube(*sizes, p),
        "folded-hypercube": lambda: hypercube(*sizes, p, folded=True),
        "hyperx": lambda: hyperx(sizes, prod(tile), number_of.get("trunk", 1)),
        "fattree": lambda: kary_tree(number_of["k"], number_of["levels"], keys.get("taper")),
        "clos": lambda: clos(number_of["radix"], number_of["levels"], keys.get("taper", "1")),
        "xgft": lambda: tree(lists["down"], lists["up"], lists.get("trunk")),
        "dragonfly": lambda: dragonfly(number_of["a"], number_of["h"], p, number_of.get("g")),
        "dragonfly-plus": lambda: dragonfly_plus(
            number_of["leaf"], number_of["spine"], number_of["h"], p, number_of.get("g")
        ),
        "myriclos": lambda: myriclos(*sizes),
        "slimfly": lambda: slimfly(number_of["q"], p),
        "flex": lambda: flex(*sizes, p),
        "galaxyfly": lambda: galaxyfly(
            number_of["n"], number_of["q"], number_of["a"], p, number_of.get("h"), keys.get("wiring", "G")
        ),
        "nesttree": lambda: nested(ghc=False),
        "nestghc": lambda: nested(ghc=True),
    }
    return makers[family]()


def bisection(graph: Graph) -> int:
    """The fewest links between two halves of the routers (of equal concentration), by trying all halves at once."""
    n = graph.routers
    halves = np.arange(2 ** (n - 1), dtype=np.uint32)  # router n-1 stands on side 0
    sizes = sum(halves >> r & 1 for r in range(n))
    halves = halves[abs(2 * sizes.astype(int) - n) <= 1]
    return int(sum((halves >> a ^ halves >> b) & 1 for a, b in graph.networkx().edges()).min())
