"""All paths of every routing, with their probabilities, written from the rules: no state, no tables, only paths.

A hop is (router, port, VC class). `minimal(graph, name)` gives a function from two routers to a list of
(probability, path); everything else - Valiant's paths, dependencies, expected loads and hops - follows from it.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import pairwise, permutations, product
from math import prod
from typing import Any

import networkx as nx

from oracles.graphs import Graph, coordinates, moved, nest_uplinks, number

Hop = tuple[int, int, int]
Path = tuple[Hop, ...]
Choice = list[tuple[float, Path]]
Paths = Callable[[int, int], Choice]


def end_of(graph: Graph, hop: Hop) -> int:
    """The router that a hop leads to."""
    router, port, _ = hop
    return graph.links[router][port - graph.p[router]][0]


def through(graph: Graph, routers: Iterable[int], classes: Iterable[int]) -> Choice:
    """The paths through these routers: parallel links are equally likely."""
    hops = [
        [(a, port, c) for port in graph.ports_to(a, b)] for (a, b), c in zip(pairwise(routers), classes, strict=True)
    ]
    return [(1 / prod(map(len, hops)), path) for path in product(*hops)]


def evenly(choices: list[Choice]) -> Choice:
    return [(p / len(choices), path) for choice in choices for p, path in choice]


def dor_mesh(graph: Graph) -> Paths:
    def paths(src: int, dst: int) -> Choice:
        here, to, route = graph.coordinates(src), graph.coordinates(dst), [src]
        for d in range(len(here)):
            while here[d] != to[d]:
                here = moved(here, d, here[d] + (1 if to[d] > here[d] else -1))
                route.append(graph.router(here))
        return through(graph, route, [0] * (len(route) - 1))

    return paths


def dor_torus(graph: Graph, *, dateline: bool = True, ties: str = "coin", compares: bool = False) -> Paths:
    """The shorter way round each dimension, either on a tie (or only + or -); class 1 all the way if it crosses the
    wrap-around, or in each hop that `compares` if the destination's coordinate is the lower one."""

    def ways(src: int, dst: int, d: int) -> list[Path]:
        here, side = graph.coordinates(src), graph.sides[d]
        a, b = here[d], graph.coordinates(dst)[d]
        up = (b - a) % side
        found = []
        for way, length in ((1, up), (-1, side - up)):
            if up == 0 or length > side - length:
                continue
            if 2 * length == side and ties == ("minus" if way == 1 else "plus"):
                continue
            crosses = b < a if way == 1 else b > a
            route = [graph.router(moved(here, d, (a + way * i) % side)) for i in range(length + 1)]
            # Both links of a doubled ring of two lead to the same router: + is the first of them.
            hops = [(r, graph.ports_to(r, s)[0 if way == 1 else -1]) for r, s in pairwise(route)]
            lower = [int(b < (a + way * i) % side) for i in range(length)]
            classes = lower if compares else [int(crosses and dateline)] * length
            found.append(tuple((r, port, c) for (r, port), c in zip(hops, classes, strict=True)))
        return found or [()]

    def paths(src: int, dst: int) -> Choice:
        corner, legs = graph.coordinates(src), []
        for d, c in enumerate(graph.coordinates(dst)):
            start, corner = corner, moved(corner, d, c)
            legs.append(ways(graph.router(start), graph.router(corner), d))
        return evenly([[(1.0, sum(parts, ()))] for parts in product(*legs)])

    return paths


@cache
def round_subtorus(t: int, src: int, dst: int, classes: tuple[int, int]) -> Path:
    """The shorter way round each dimension, equally long ones in the sense of the coordinate; classes by crossing."""
    sides, size = (t, t, t), t**3
    here, to, hops = coordinates(sides, src % size), coordinates(sides, dst % size), []
    for d in range(3):
        gap = to[d] - here[d]
        way = (1 if gap > 0 else -1) * (1 if 2 * abs(gap) <= t else -1)
        while here[d] != to[d]:
            crosses = (to[d] - here[d]) * way < 0
            hops.append((src // size * size + number(sides, here), 1 + 2 * d + (way < 0), classes[crosses]))
            here = moved(here, d, (here[d] + way) % t)
    return tuple(hops)


Upward = list[tuple[int, int]]
"""(port, class) of each hop over an upper network."""


def over_the_tree(sizes: tuple[int, ...], a: int, b: int, classes: int, *, drawn: bool) -> list[Upward]:
    """The source's digits choose the ways up, unless any will do; the destination's the ways down."""
    up, down = coordinates(sizes, a), coordinates(sizes, b)
    top = max(i for i in range(len(sizes)) if up[i] != down[i])
    found = []
    for digits in product(*(range(sizes[i]) if drawn else [up[i]] for i in range(top))):
        ports = [7, *(sizes[i] + digit for i, digit in enumerate(digits)), *(down[i] for i in range(top, -1, -1))]
        uplinks = [a] * (len(ports) - 1) + [b]
        found.append([(port, uplink % classes) for port, uplink in zip(ports, uplinks, strict=True)])
    return found


def over_the_cube(sizes: tuple[int, ...], a: int, b: int, classes: int, *, drawn: bool) -> list[Upward]:
    """Digit by digit, from endpoint to switch to endpoint: in order, or in any order, by digits left."""
    to = coordinates(sizes, b)
    differ = [d for d, digit in enumerate(to) if digit != coordinates(sizes, a)[d]]
    found = []
    for order in permutations(differ) if drawn else [differ]:
        hops: Upward = []
        at = a
        for left, d in zip(range(len(order), 0, -1), order, strict=True):
            before, at = at, number(sizes, moved(coordinates(sizes, at), d, to[d]))
            first, second = (left - 1, left - 1) if drawn else (before % classes, at % classes)
            hops += [(7 + d, first), (to[d], second)]
        found.append(hops)
    return found


def nested(graph: Graph, *, drawn: bool = False) -> Paths:
    """Round the source's subtorus to its uplink, over the upper network, round the other subtorus."""
    t, u, endpoints = (graph.extra[key] for key in ("t", "u", "endpoints"))
    size, uplinks = t**3, nest_uplinks(t, u)
    first, last = ((0, 1), (2, 3)) if t > 3 else ((0, 0), (1, 1))
    tree = graph.links[endpoints][0][1] == "up"
    over = over_the_tree if tree else over_the_cube
    classes = max(last[1] + 1, 0 if tree or not drawn else len(graph.sides))

    @cache
    def uplink(router: int) -> int:
        place = graph.attached[coordinates((t, t, t), router % size)]
        return router // size * len(uplinks) + uplinks.index(place)

    @cache
    def holder(j: int) -> int:
        return j // len(uplinks) * size + number((t, t, t), uplinks[j % len(uplinks)])

    def paths(src: int, dst: int) -> Choice:
        if src // size == dst // size:
            return [(1.0, round_subtorus(t, src, dst, last))]
        a, b = uplink(src), uplink(dst)
        found = []
        for upward in over(graph.sides, a, b, classes, drawn=drawn):
            hops = [*round_subtorus(t, src, holder(a), first)]
            at = holder(a)
            for port, used in upward:
                hops.append((at, port, used))
                at = graph.links[at][port - graph.p[at]][0]
            found.append([(1.0, (*hops, *round_subtorus(t, holder(b), dst, last)))])
        return evenly(found)

    return paths


def by_cards(  # noqa: C901 - the whole rule in one place
    graph: Graph, *, orders: str, ties: str = "source", internal: Callable[[dict[str, int]], int]
) -> Paths:
    """Dimension order on a twin torus. Router 2 v + c is card c of node v; ports are found by what they lead to.

    `orders` is "twin" (packets of card 0 ascend, of card 1 descend, in classes 2 higher) or "up" (all ascend).
    `internal` gives the class of an internal hop from: the card it leaves, upper or lower in the dimension wanted,
    whether that is the split one, whether the packet ejects behind it, and whether it has moved in the split one.
    """
    sides = graph.sides[1:]
    n = len(sides)
    split = n // 2 if n % 2 else None

    def outer(node: tuple[int, ...], d: int, way: int) -> tuple[int, int, int]:
        """The card that bears this port, the port, and the router behind it."""
        there = moved(node, d, (node[d] + way) % sides[d])
        if d == split:
            card, behind = (1, 0) if way == 1 else (0, 1)
        else:
            card = behind = int(d >= n // 2)
        router, peer = graph.router((card, *node)), graph.router((behind, *there))
        ports = graph.ports_to(router, peer)
        # Two links to the same card: + stands first.
        return card, ports[0] if way == 1 else ports[-1], peer

    def way_round(a: int, b: int, side: int, source: int, d: int, coin: dict[int, int]) -> int:
        up = (b - a) % side
        if 2 * up != side:
            return 1 if 2 * up < side else -1
        of_source = -1 if source == 0 or (d == split and orders == "up") else 1
        return {
            "source": of_source,
            "wrong": -of_source,
            "plus": 1,
            "middle": of_source if d == split else 1,
            "coin": coin.get(d, 1),
        }[ties]

    def path(src: int, dst: int, coin: dict[int, int]) -> Path:
        source, to = src % 2, graph.coordinates(dst)[1:]
        descends = orders == "twin" and source == 1
        group = 2 * source if orders == "twin" else 0
        at, hops, in_split = src, [], 0
        for d in reversed(range(n)) if descends else range(n):
            way = None
            while graph.coordinates(at)[1 + d] != to[d]:
                card, *node = graph.coordinates(at)
                way = way or way_round(node[d], to[d], sides[d], source, d, coin)
                lower = int(to[d] < node[d])
                bearer, port, peer = outer(tuple(node), d, way)
                if bearer != card:
                    about = {"card": card, "lower": lower, "split": int(d == split), "ejects": 0, "moved": in_split}
                    other = at ^ 1
                    hops.append((at, graph.ports_to(at, other)[-1], group + internal(about)))
                    at = other
                hops.append((at, port, group + lower))
                in_split |= int(d == split)
                at = peer
        if at != dst:
            about = {"card": at % 2, "lower": 0, "split": 0, "ejects": 1, "moved": in_split}
            hops.append((at, graph.ports_to(at, dst)[-1], group + internal(about)))
        return tuple(hops)

    def paths(src: int, dst: int) -> Choice:
        here, there = graph.coordinates(src)[1:], graph.coordinates(dst)[1:]
        tied = [d for d in range(n) if 2 * ((there[d] - here[d]) % sides[d]) == sides[d]] if ties == "coin" else []
        draws = [dict(zip(tied, ways, strict=True)) for ways in product((1, -1), repeat=len(tied))]
        return [(1 / len(draws), path(src, dst, coin)) for coin in draws]

    return paths


def ts_dor(graph: Graph, ties: str = "source", *, shared: bool = False) -> Paths:
    """TS-DOR: in the split dimension the internal link's VC is that of the outer ones; else it goes by the card."""
    paths = by_cards(
        graph, orders="twin", ties=ties, internal=lambda hop: hop["lower"] if hop["split"] else hop["card"]
    )
    if not shared:
        return paths
    return lambda src, dst: [(p, tuple((r, port, c % 2) for r, port, c in path)) for p, path in paths(src, dst)]


def dort(graph: Graph, ties: str = "source", *, rule: str = "4") -> Paths:
    """DORT by the use of its internal link: cases i (eject), ii (enter a dimension of the other card), iii (in the
    split dimension). Rules of less than four VCs, and the one whose first hop is of case ii, can deadlock."""

    def four(hop: dict[str, int]) -> int:
        return 0 if hop["ejects"] else 2 + hop["lower"] if hop["split"] else 1

    rules: dict[str, Callable[[dict[str, int]], int]] = {
        "4": four,
        "3": lambda hop: max(0, four(hop) - 1),
        "2": lambda hop: hop["lower"] if hop["split"] else hop["card"],
        "1": lambda _: 0,
        "enter": lambda hop: four(hop) if hop["moved"] or not hop["split"] else 1,
    }
    return by_cards(graph, orders="up", ties=ties, internal=rules[rule])


def hyperx(graph: Graph, orders: int) -> Paths:
    """One hop for each dimension that differs: in ascending order, or (two orders) descending in class 1."""

    def paths(src: int, dst: int) -> Choice:
        choices = []
        for order in range(orders):
            here, to, route = graph.coordinates(src), graph.coordinates(dst), [src]
            dims = range(len(here))
            for d in reversed(dims) if order else dims:
                if here[d] != to[d]:
                    here = moved(here, d, to[d])
                    route.append(graph.router(here))
            choices.append(through(graph, route, [order] * (len(route) - 1)))
        return evenly(choices)

    return paths


def dragonfly(graph: Graph) -> Paths:
    """Local, global, local over a shortest of the pair's links; class = global hops taken."""
    a = graph.extra["a"]

    def paths(src: int, dst: int) -> Choice:
        if src == dst:
            return [(1.0, ())]
        if src // a == dst // a:
            return through(graph, [src, dst], [0])
        found = []
        for gate in range(src // a * a, src // a * a + a):
            for place, (peer, kind) in enumerate(graph.links[gate]):
                if kind == "global" and peer // a == dst // a:
                    local = through(graph, [src, gate], [0]) if src != gate else [(1.0, ())]
                    last = through(graph, [peer, dst], [1]) if peer != dst else [(1.0, ())]
                    found.append((*local[0][1], (gate, graph.port(gate, place), 0), *last[0][1]))
        shortest = [path for path in found if len(path) == min(map(len, found))]
        return [(1 / len(shortest), path) for path in shortest]

    return paths


class Galaxyfly:
    """Routes from supernode to supernode as lists of routers; what a hop's class is comes last."""

    def __init__(self, graph: Graph, *, best: bool = True) -> None:
        self.graph, self.best, self.a = graph, best, graph.extra["a"]
        self.gates = {
            (router // self.a, peer // self.a): (router, peer)
            for router, links in enumerate(graph.links)
            for peer, kind in links
            if kind == "global"
        }
        self.near: dict[int, set[int]] = defaultdict(set)
        for s, t in self.gates:
            self.near[s].add(t)

    def over(self, supernodes: Iterable[int], route: list[int], dst: int) -> list[int]:
        """From the last router of a route through these supernodes to the destination, with local hops where needed."""
        route = list(route)
        for to in supernodes:
            gate, peer = self.gates[route[-1] // self.a, to]
            route += [gate, peer] if gate != route[-1] else [peer]
        return route if route[-1] == dst else [*route, dst]

    def minimal(self, src: int, dst: int, *, without: int | None = None) -> list[list[int]]:
        """All routes, equally likely; none over the supernode `without`."""
        here, there = src // self.a, dst // self.a
        if here == there or there in self.near[here]:
            return [self.over([there] if here != there else [], [src], dst)]
        commons = self.near[here] & self.near[there] - {without}
        routes = [self.over([common, there], [src], dst) for common in sorted(commons)]
        return [route for route in routes if not self.best or len(route) == min(map(len, routes))]

    def nar(self, src: int, dst: int) -> list[list[int]]:
        q, here, there = self.graph.extra["q"], src // self.a, dst // self.a
        if here // q != there // q or there not in self.near[here]:
            return []
        commons = {c for c in self.near[here] & self.near[there] if c // q == here // q}
        return [self.over([common, there], [src], dst) for common in sorted(commons)]

    def nal(self, src: int, dst: int) -> list[list[int]]:
        first = src // self.a * self.a
        others = [router for router in range(first, first + self.a) if router not in (src, dst)]
        return [[src, *route] for other in others for route in self.minimal(other, dst)]

    def nag(self, src: int, dst: int) -> list[list[int]]:
        here, there = src // self.a, dst // self.a
        found = []
        for other in sorted(self.near[here] - {there}) if here != there else []:
            way = self.over([other], [src], self.gates[here, other][1])
            found += [way[:-1] + route for route in self.minimal(way[-1], dst, without=here)]
        return found

    def kinds(self, route: list[int]) -> list[bool]:
        """Which hops are global."""
        return [a // self.a != b // self.a for a, b in pairwise(route)]

    def by_global_hops(self, route: list[int]) -> Path:
        kinds = self.kinds(route)
        return self.path(route, [sum(kinds[:i]) for i in range(len(kinds))])

    def by_source(self, route: list[int]) -> Path:
        """Local hops within the source's supernode count, later ones go by global hops."""
        kinds = self.kinds(route)
        taken = [sum(kinds[:i]) for i in range(len(kinds))]
        return self.path(
            route, [g if kind else 1 + g if g else i for i, (kind, g) in enumerate(zip(kinds, taken, strict=True))]
        )

    def by_kind(self, route: list[int]) -> Path:
        """Hops of each kind of link from 0 on."""
        kinds = self.kinds(route)
        return self.path(route, [kinds[:i].count(kind) for i, kind in enumerate(kinds)])

    def by_hop(self, route: list[int]) -> Path:
        return self.path(route, list(range(len(route) - 1)))

    def path(self, route: list[int], classes: list[int]) -> Path:
        [(_, path)] = through(self.graph, route, classes)
        return path


def galaxyfly(graph: Graph, *, best: bool = True) -> Paths:
    """Minimal routes, class = global hops taken."""
    ways = Galaxyfly(graph, best=best)

    def paths(src: int, dst: int) -> Choice:
        routes = ways.minimal(src, dst) if src != dst else []
        return [(1 / len(routes), ways.by_global_hops(route)) for route in routes] or [(1.0, ())]

    return paths


def galaxyfly_adaptive(graph: Graph, name: str, label: str | None = None, *, best: bool = True) -> Paths:
    """Every route that `nar`, `nal` or `nag` could take. Probabilities say nothing: they follow from the traffic."""
    ways = Galaxyfly(graph, best=best)
    classed = getattr(ways, label or ("by_source" if name == "nal" else "by_global_hops"))

    def paths(src: int, dst: int) -> Choice:
        if src == dst:
            return [(1.0, ())]
        detours = getattr(ways, name)(src, dst) if name != "minimal" else []
        return [(0.0, classed(route)) for route in [*ways.minimal(src, dst), *detours]]

    return paths


def flex(graph: Graph, *, classes: bool = True) -> Paths:
    """Algorithm 1 of the FleX paper, for three layers; class = hop."""

    def nexts(at: int, dst: int) -> list[tuple[int, ...]]:
        (x, y, z), (u, v, w) = graph.coordinates(at), graph.coordinates(dst)
        third = next(iter({0, 1, 2} - {z, w}))
        if z == w:
            if x == u:
                return [(x, j, (z - 1) % 3) for j in range(graph.sides[1]) if j not in (y, v)]
            if y == v:
                return [(i, y, (z - 1) % 3) for i in range(graph.sides[0]) if i not in (x, u)]
            return [(x, v, (z - 1) % 3)]
        if (x, y) == (u, v):
            return [(i, y, third) for i in range(graph.sides[0]) if i != x]
        return [(u, v, w)] if x == u or y == v else [(x, v, third)]

    def walk(at: int, dst: int, hop: int) -> Choice:
        if at == dst:
            return [(1.0, ())]
        assert hop < 2, "Algorithm 1 takes two hops at most"
        tos = [graph.router(place) for place in nexts(at, dst)]
        first = [(at, graph.ports_to(at, to)[0], hop if classes else 0) for to in tos]
        return [
            (p / len(tos), (step, *rest))
            for step, to in zip(first, tos, strict=True)
            for p, rest in walk(to, dst, hop + 1)
        ]

    return lambda src, dst: walk(src, dst, 0)


def nca(graph: Graph) -> Paths:
    """Up by any port until above the destination, then down. Leaves are the routers with terminals."""
    levels = nx.multi_source_dijkstra_path_length(nx.Graph(graph.networkx()), set(sources(graph)))

    @cache
    def below(router: int) -> frozenset[int]:
        """The leaves that steps down lead to."""
        peers = [peer for peer, _ in graph.links[router] if levels[peer] < levels[router]]
        return frozenset([router] if levels[router] == 0 else []).union(*map(below, peers))

    def walk(at: int, leaf: int) -> Choice:
        if at == leaf:
            return [(1.0, ())]
        peers = [(graph.port(at, place), peer) for place, (peer, _) in enumerate(graph.links[at])]
        if leaf in below(at):
            fit = [(port, peer) for port, peer in peers if levels[peer] < levels[at] and leaf in below(peer)]
        else:
            fit = [(port, peer) for port, peer in peers if levels[peer] > levels[at]]
        return [(p / len(fit), ((at, port, 0), *rest)) for port, peer in fit for p, rest in walk(peer, leaf)]

    return walk


def nca_left(graph: Graph, whole: Graph) -> Paths:
    """On what failures leave of a `whole` tree: the shortest ways up and then down, all equally likely."""
    levels = nx.multi_source_dijkstra_path_length(nx.Graph(whole.networkx()), set(sources(whole)))

    def ways(at: int, leaf: int, *, down: bool) -> Iterator[Path]:
        if at == leaf:
            yield ()
            return
        for place, (peer, _) in enumerate(graph.links[at]):
            descends = levels[peer] < levels[at]
            if descends or not down:
                yield from (((at, graph.port(at, place), 0), *rest) for rest in ways(peer, leaf, down=descends))

    @cache
    def paths(src: int, dst: int) -> Choice:
        found = list(ways(src, dst, down=False))
        shortest = [path for path in found if len(path) == min(map(len, found))]
        return [(1 / len(shortest), path) for path in shortest]

    return paths


def table(graph: Graph, *, classes: bool = True) -> Paths:
    """Any minimal next link, all equally likely; class = hop, or 0 without ``classes``."""
    distance = dict(nx.all_pairs_shortest_path_length(nx.Graph(graph.networkx())))

    def walk(at: int, dst: int, hop: int) -> Choice:
        if at == dst:
            return [(1.0, ())]
        closer = [
            (graph.port(at, place), peer)
            for place, (peer, _) in enumerate(graph.links[at])
            if distance[peer][dst] < distance[at][dst]
        ]
        return [
            (p / len(closer), ((at, port, hop), *rest))
            for port, peer in closer
            for p, rest in walk(peer, dst, hop + int(classes))
        ]

    return cache(lambda src, dst: walk(src, dst, 0))


def on_a_tree(graph: Graph) -> Paths:
    """The same on a tree, where one class is enough."""
    return table(graph, classes=False)


def updown_stretches(graph: Graph) -> Paths:
    """The same paths as ``table``; the class counts how often a path has gone down and then up, in the order in which a
    breadth-first search from router 0 meets the routers, by their ports."""
    meets = [0, *(peer for _, peer in nx.bfs_edges(_ordered(graph), 0))]
    place = {router: number for number, router in enumerate(meets)}

    def classed(path: Path) -> Path:
        ups = [place[end_of(graph, hop)] > place[hop[0]] for hop in path]
        valleys = [sum(not a and b for a, b in pairwise(ups[: last + 1])) for last in range(len(ups))]
        return tuple((router, port, c) for (router, port, _), c in zip(path, valleys, strict=True))

    minimal = table(graph)
    return cache(lambda src, dst: [(p, classed(path)) for p, path in minimal(src, dst)])


def _ordered(graph: Graph) -> nx.DiGraph:
    """Links both ways, those of a router in the order of its ports."""
    return nx.DiGraph((router, peer) for router, links in enumerate(graph.links) for peer, _ in links)


def sources(graph: Graph) -> list[int]:
    """Routers with terminals."""
    return [router for router, p in enumerate(graph.p) if p]


def shifted(path: Path, classes: int) -> Path:
    return tuple((router, port, c + classes) for router, port, c in path)


def valiant(graph: Graph, minimal: Paths, classes: int) -> Paths:
    """Minimally to any router but the two ends, then minimally in classes of its own; a packet that meets its
    destination on the way is there."""

    def paths(src: int, dst: int) -> Choice:
        if src == dst:
            return [(1.0, ())]
        vias = [via for via in graph.up if via not in (src, dst)]
        found = []
        for via in vias:
            for p, first in minimal(src, via):
                met = [i for i, hop in enumerate(first) if end_of(graph, hop) == dst]
                if met:
                    found.append((p / len(vias), first[: met[0] + 1]))
                else:
                    second = minimal(via, dst)
                    found += [(p * q / len(vias), first + shifted(rest, classes)) for q, rest in second]
        return found

    return paths


def dependencies(graph: Graph, paths: Paths) -> nx.DiGraph:
    """The channel dependency graph of all packets: who may hold which channel while it waits for which."""
    return _waits(path for src, dst in product(sources(graph), repeat=2) for _, path in paths(src, dst))


def _waits(paths: Iterable[Path]) -> nx.DiGraph:
    """What packets on some paths may hold while they wait for what."""
    holds: set[Hop] = set()
    waits: set[tuple[Hop, Hop]] = set()
    for path in paths:
        holds.update(path)
        waits.update(pairwise(path))
    # networkx takes much longer than a set for what it has already.
    graph = nx.DiGraph()
    graph.add_nodes_from(holds)
    graph.add_edges_from(waits)
    return graph


def rings(graph: Graph) -> list[set[Hop]]:
    """The rings of a torus: the channels of one direction of one dimension, around the routers of one line."""
    found = defaultdict(set)
    for router, links in enumerate(graph.links):
        here = graph.coordinates(router)
        for place, (peer, _) in enumerate(links):
            there = graph.coordinates(peer)
            [d] = (d for d in range(len(here)) if here[d] != there[d])
            up = (there[d] - here[d]) % graph.sides[d] == 1
            found[d, up, moved(here, d, 0)].add((router, graph.port(router, place), 0))
    return list(found.values())


def valiant_dependencies(graph: Graph, minimal: Paths, classes: int) -> nx.DiGraph:
    """The same for Valiant's two phases over *any* intermediate router, whoever is the destination: what arrives at a
    router in the first phase may wait for whatever leaves it in the second."""
    ends = sources(graph)
    ways: list[Path] = []
    last, first = defaultdict(set), defaultdict(set)
    for src, via in product(ends, graph.up):
        for _, path in minimal(src, via) if src != via else []:
            ways.append(path)
            last[via].add(path[-1])
    for via, dst in product(graph.up, ends):
        for _, path in minimal(via, dst) if via != dst else []:
            ways.append(shifted(path, classes))
            first[via].add(ways[-1][0])
    waits = _waits(ways)
    for via in range(graph.routers):
        waits.add_edges_from(product(last[via], first[via]))
    return waits


def led(path: Path, shift: int) -> Path:
    """A path whose first hop has a class of its own, 0, before those of all others."""
    return [(*path[0][:2], 0), *shifted(path, shift)[1:]]


def late_detours(graph: Graph, minimal: Paths, path: Path, dst: int) -> Iterator[Path]:
    """The first phases of packets that leave a minimal path to `dst` at its second router, with the hop to there."""
    second = path[1][0] if len(path) > 1 else dst
    for via in set(graph.up) - {second, dst} if second != dst else ():
        for _, detour in minimal(second, via):
            yield [*led(path, 0)[:1], *shifted(detour, 1)]


def late_dependencies(graph: Graph, minimal: Paths, classes: int) -> nx.DiGraph:
    """UGAL decided again after the first hop, which has a class of its own: then Valiant's two phases behind it."""
    ends = sources(graph)
    pairs = [(src, dst, path) for src, dst in product(ends, graph.up) if src != dst for _, path in minimal(src, dst)]
    firsts = [(via, led(path, 1)) for _, via, path in pairs]
    late = {tuple(way) for _, dst, path in pairs if dst in set(ends) for way in late_detours(graph, minimal, path, dst)}
    ends_of = {(hop[0], hop[1]): peer for hop, peer in peers(graph)}
    firsts += [(ends_of[way[-1][:2]], list(way)) for way in late]
    straight = [led(path, 1 + classes) for _, dst, path in pairs if dst in set(ends)]
    seconds = [
        (via, shifted(path, 1 + classes))
        for via, dst in product(graph.up, ends)
        if via != dst
        for _, path in minimal(via, dst)
    ]
    waits = _waits([*(way for _, way in [*firsts, *seconds]), *straight])
    for via in graph.up:
        last, first = ({way[place] for at, way in ways if at == via} for ways, place in ((firsts, -1), (seconds, 0)))
        waits.add_edges_from(product(last, first))
    return waits


def peers(graph: Graph) -> Iterator[tuple[tuple[int, int], int]]:
    """Every output (router, port), and the router behind it."""
    for router, links in enumerate(graph.links):
        for place, (peer, _) in enumerate(links):
            yield (router, graph.port(router, place)), peer


def dimwar_hops(graph: Graph, at: int, dst: int, turned: bool) -> Iterator[tuple[Hop, int, bool]]:
    """The hops of DimWAR: straight on in the lowest dimension that differs, in class 0 or 1; or over another router of
    the line, in class 0 and then in class 1."""
    here, there = grid(graph, at), grid(graph, dst)
    dim = next(d for d in range(len(here)) if here[d] != there[d])
    for place, (peer, _) in enumerate(graph.links[at]):
        after = grid(graph, peer)
        straight = after[dim] == there[dim]
        in_line = after[:dim] + after[dim + 1 :] == here[:dim] + here[dim + 1 :]
        classes = {(True, False): (0, 1), (True, True): (1,), (False, False): (0,)}.get((straight, turned), ())
        for cls in classes if in_line else ():
            yield (at, graph.port(at, place), cls), peer, not straight


def grid(graph: Graph, router: int) -> list[int]:
    return list(graph.coordinates(router))


def walked(
    graph: Graph, start: Callable[[int], object], hops: Callable[..., Iterator[tuple[Hop, int, Any]]]
) -> nx.DiGraph:
    """What packets may hold while they wait, which start in a state at their source.

    `hops` gives all that may follow at a router for a destination in a state: hop, router behind it, state there.
    """
    waits = nx.DiGraph()
    for src, dst in product(sources(graph), repeat=2):
        todo: list[tuple[Hop | None, int, Any]] = [(None, src, start(src))]
        seen = set()
        while todo:
            came, at, state = found = todo.pop()
            if at == dst or found in seen:
                continue
            seen.add(found)
            for hop, peer, after in hops(graph, at, dst, state):
                waits.add_node(hop)
                waits.add_edges_from([(came, hop)] if came else [])
                todo.append((hop, peer, after))
    return waits


def dimwar_dependencies(graph: Graph) -> nx.DiGraph:
    """What DimWAR's packets on a HyperX may hold while they wait."""
    return walked(graph, lambda _: False, dimwar_hops)


def line_hops(graph: Graph, at: int, dst: int) -> Iterator[tuple[int, int, int, bool]]:
    """The links of a HyperX's router in the dimensions that differ: port, peer, dimension, whether it then agrees."""
    here, there = grid(graph, at), grid(graph, dst)
    for place, (peer, _) in enumerate(graph.links[at]):
        after = grid(graph, peer)
        [dim] = (d for d in range(len(here)) if here[d] != after[d])
        if here[dim] != there[dim]:
            yield graph.port(at, place), peer, dim, after[dim] == there[dim]


def omniwar_dependencies(graph: Graph, classes: int) -> nx.DiGraph:
    """OmniWAR: any dimension that differs, a detour if the classes above suffice for all hops left; class = hop."""

    def hops(graph: Graph, at: int, dst: int, taken: int) -> Iterator[tuple[Hop, int, int]]:
        left = len({dim for _, _, dim, _ in line_hops(graph, at, dst)})
        for port, peer, _, straight in line_hops(graph, at, dst):
            if straight or left <= classes - taken - 1:
                yield (at, port, taken), peer, taken + 1

    return walked(graph, lambda _: 0, hops)


def dal_options(graph: Graph) -> Callable[[int, Any, int], list[tuple[Hop, Any]]]:
    """DAL: any dimension that differs, one detour in each, in class 1; the lowest dimension without one in class 0."""

    def options(at: int, turned: frozenset[int] | None, dst: int) -> list[tuple[Hop, frozenset[int]]]:
        turned, ways = turned or frozenset(), list(line_hops(graph, at, dst))
        lowest = min(dim for _, _, dim, _ in ways)
        escapes = [((at, port, 0), turned - {dim}) for port, _, dim, straight in ways if straight and dim == lowest]
        straight = [((at, port, 1), turned - {dim}) for port, _, dim, straight in ways if straight]
        detours = [
            ((at, port, 1), turned | {dim}) for port, _, dim, straight in ways if not straight and dim not in turned
        ]
        return escapes + straight + detours

    return options


def polarized_dependencies(graph: Graph, classes: int) -> nx.DiGraph:
    """Polarized routing: by the hops from the source and to the destination; class = hop."""
    far = dict(nx.all_pairs_shortest_path_length(nx.Graph(graph.networkx())))

    def hops(graph: Graph, at: int, dst: int, state: tuple[int, int]) -> Iterator[tuple[Hop, int, tuple[int, int]]]:
        src, taken = state
        links = [(graph.port(at, place), peer) for place, (peer, _) in enumerate(graph.links[at])]

        def allowed(peer: int) -> bool:
            moves = (far[src][peer] - far[src][at], far[peer][dst] - far[at][dst])
            first_half = far[src][at] < far[at][dst]
            rises = moves in {(1, -1), (0, -1), (1, 0)}
            stays = moves == ((1, 1) if first_half else (-1, -1))
            return (rises or stays) and far[peer][dst] <= classes - taken - 1

        fit = [link for link in links if allowed(link[1])]
        for port, peer in fit or [(port, peer) for port, peer in links if far[peer][dst] < far[at][dst]]:
            yield (at, port, taken), peer, (src, taken + 1)

    return walked(graph, lambda src: (src, 0), hops)


def negative_hops(graph: Graph) -> Paths:
    """All shortest paths; their classes count hops, or, if two colours suffice for the routers, the hops before
    that led back to the colour of router 0."""
    shortest = table(graph)
    plain = nx.Graph((router, peer) for router, links in enumerate(graph.links) for peer, _ in links)
    if not nx.is_bipartite(plain):
        return shortest
    near = {router: hops % 2 for router, hops in nx.single_source_shortest_path_length(plain, 0).items()}

    def paths(src: int, dst: int) -> list[tuple[float, Path]]:
        coloured = []
        for likely, path in shortest(src, dst):
            classes = [sum(near[before] for before, _, _ in path[:place]) for place in range(len(path))]
            coloured.append((likely, tuple((r, port, c) for (r, port, _), c in zip(path, classes, strict=True))))
        return coloured

    return paths


def par_labelled(graph: Graph, path: Path, local: tuple[int, int], across: int) -> Path:
    """A minimal path's classes: local before and after its global hop, and that hop."""
    kinds = [graph.links[router][port - graph.p[router]][1] for router, port, _ in path]
    return tuple(
        (router, port, across if kind == "global" else local[taken])
        for (router, port, taken), kind in zip(path, kinds, strict=True)
    )


def par_dependencies(graph: Graph) -> nx.DiGraph:
    """Progressive adaptive routing on a dragonfly, over any intermediate routers: without a detour, with one from the
    source on, and with one from the first exit on."""
    minimal = dragonfly(graph)
    ends, everywhere = sources(graph), range(graph.routers)
    waits = nx.DiGraph()

    def ways(pairs: Iterable[tuple[int, int]], local: tuple[int, int], across: int) -> list[Path]:
        found = [par_labelled(graph, path, local, across) for a, b in pairs if a != b for _, path in minimal(a, b)]
        for path in found:
            nx.add_path(waits, path)
        return found

    direct = ways(product(ends, ends), (0, 4), 3)
    opened = {path[0] for path in direct if len(path) > 1 and path[0][2] == 0}
    early = ways(product(ends, everywhere), (0, 2), 1)
    late = {hop: ways(product([end_of(graph, hop)], everywhere), (1, 2), 1) for hop in opened}
    second = ways(product(everywhere, ends), (3, 4), 3)
    for hop, found in late.items():
        waits.add_edges_from((hop, path[0]) for path in found)
    first = defaultdict(set)
    for path in second:
        first[path[0][0]].add(path[0])
    for path in [*early, *(path for found in late.values() for path in found)]:
        waits.add_edges_from((path[-1], hop) for hop in first[end_of(graph, path[-1])])
    return waits


def mean_hops(graph: Graph, paths: Paths) -> float:
    """The mean number of routers visited under uniform traffic, the source itself included."""
    total = sum(
        graph.p[src] * graph.p[dst] * (1 + sum(p * len(path) for p, path in paths(src, dst) if src != dst))
        for src, dst in product(sources(graph), repeat=2)
    )
    return total / sum(graph.p) ** 2


def loads(graph: Graph, paths: Paths, flows: Iterable[tuple[int, int, float]]) -> dict[tuple[int, int], float]:
    """Expected flits per cycle on each (router, port), for flows (source, destination, flits per cycle)."""
    load: dict[tuple[int, int], float] = defaultdict(float)
    for src, dst, rate in flows:
        for p, path in paths(src, dst) if src != dst else []:
            for router, port, _ in path:
                load[router, port] += p * rate
    return load
