"""up*/down* ways, and Duato's condition for escape channels, from their definitions: by all ways of all packets."""

from collections.abc import Callable
from functools import cache
from itertools import product

import networkx as nx

from oracles.graphs import Graph
from oracles.routes import Choice, Hop, Paths, end_of, sources

# What a packet may do: the hops open to it at a router for a destination, and what it is after each.
Options = Callable[[int, object, int], list[tuple[Hop, object]]]


def ranks(graph: Graph, root: int) -> list[tuple[int, int]]:
    """The order in which links go up: towards smaller ranks."""
    level = nx.single_source_shortest_path_length(nx.Graph(graph.networkx()), root)
    return [(level[router], router) for router in range(graph.routers)]


def legal(graph: Graph, root: int) -> nx.DiGraph:
    """States (router, has gone down) with the legal hops between them."""
    rank = ranks(graph, root)
    steps = nx.DiGraph()
    for router, links in enumerate(graph.links):
        for peer, _ in links:
            if rank[peer] > rank[router]:
                steps.add_edges_from([((router, False), (peer, True)), ((router, True), (peer, True))])
            else:
                steps.add_edge((router, False), (peer, False))
    return steps


def distances(graph: Graph, root: int, dst: int) -> dict[tuple[int, bool], int]:
    """Hops of the shortest legal way to `dst` from each state."""
    steps = legal(graph, root).reverse()
    found: dict[tuple[int, bool], int] = {}
    for end in ((dst, False), (dst, True)):
        if end in steps:
            for state, hops in nx.single_source_shortest_path_length(steps, end).items():
                found[state] = min(hops, found.get(state, hops))
    return found


def mean_length(graph: Graph, root: int) -> float:
    """Mean hops of legal ways between routers with terminals."""
    ends = sources(graph)
    found = {dst: distances(graph, root, dst) for dst in ends}
    lengths = [found[dst][src, False] for src, dst in product(ends, repeat=2) if src != dst]
    return sum(lengths) / max(len(lengths), 1)


def updown_hops(graph: Graph, root: int) -> Callable[[int, bool, int], list[tuple[Hop, bool]]]:
    """The hops of shortest legal ways, with whether they go down."""
    rank = ranks(graph, root)
    far = cache(lambda dst: distances(graph, root, dst))

    def hops(at: int, down: bool, dst: int) -> list[tuple[Hop, bool]]:
        found = []
        for place, (peer, _) in enumerate(graph.links[at]):
            descends = rank[peer] > rank[at]
            if (descends or not down) and far(dst).get((peer, descends), 10**9) + 1 == far(dst)[at, down]:
                found.append(((at, graph.port(at, place), 0), descends))
        return found

    return hops


def updown(graph: Graph, root: int) -> Paths:
    """Shortest legal ways, each hop drawn evenly."""
    hops = updown_hops(graph, root)

    def walk(at: int, down: bool, dst: int) -> Choice:
        if at == dst:
            return [(1.0, ())]
        found = hops(at, down, dst)
        return [
            (p / len(found), (hop, *rest))
            for hop, descends in found
            for p, rest in walk(end_of(graph, hop), descends, dst)
        ]

    return lambda src, dst: walk(src, False, dst)


def minimal_hops(graph: Graph, vc: int) -> Callable[[int, int], list[Hop]]:
    """All hops that lead nearer, on class `vc`."""
    near = dict(nx.all_pairs_shortest_path_length(nx.Graph(graph.networkx())))
    return lambda at, dst: [
        (at, graph.port(at, place), vc)
        for place, (peer, _) in enumerate(graph.links[at])
        if near[peer][dst] < near[at][dst]
    ]


def duato_in_order(graph: Graph, dimension_order: Paths, classes: int) -> Options:
    """Any minimal hop on class `classes`, or the first hop of a path in dimension order from here on; both, always."""
    adaptive = minimal_hops(graph, classes)

    def options(at: int, _state: object, dst: int) -> list[tuple[Hop, object]]:
        escapes = {path[0] for _, path in dimension_order(at, dst)}
        return [(hop, None) for hop in [*adaptive(at, dst), *sorted(escapes)]]

    return options


def duato_up_down(graph: Graph, root: int) -> Options:
    """Any minimal hop on class 1, or up*/down* on class 0; who has taken that, stays there."""
    adaptive, escape = minimal_hops(graph, 1), updown_hops(graph, root)

    def options(at: int, state: object, dst: int) -> list[tuple[Hop, object]]:
        free = [(hop, None) for hop in adaptive(at, dst)] if state is None else []
        return free + [(hop, down) for hop, down in escape(at, bool(state), dst)]

    return options


def extended_dependencies(graph: Graph, options: Options, escapes: int) -> tuple[nx.DiGraph, set[Hop]]:
    """The extended dependency graph of the escape channels (classes below `escapes`), and all channels used.

    Every way of every packet is walked, with the last escape channel that the packet has taken before: each escape
    channel that it could take next waits behind it. A state without an escape channel fails.
    """
    waits, used = nx.DiGraph(), set()
    for src, dst in product(sources(graph), repeat=2):
        todo = [(src, None, None)] if src != dst else []
        seen = set(todo)
        while todo:
            at, state, held = todo.pop()
            hops = options(at, state, dst)
            assert any(hop[2] < escapes for hop, _ in hops), f"no escape at {at} to {dst}"
            for hop, after in hops:
                used.add(hop)
                is_escape = hop[2] < escapes
                if is_escape:
                    waits.add_node(hop)
                    if held is not None:
                        waits.add_edge(held, hop)
                peer = end_of(graph, hop)
                found = (peer, after, hop if is_escape else held)
                if peer != dst and found not in seen:
                    seen.add(found)
                    todo.append(found)
    return waits, used
