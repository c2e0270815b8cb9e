"""The neighbourhood of a network: a size up and down, other trunks and tapers, and the cables that move.

A neighbour differs in one number of the spec, or splits the links of a tree otherwise among trunks. Routers of two
networks are the same if their family gives them the same place, so that the cables of a change are counted.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from topoloom import _core
from topoloom._core import TopoloomError
from topoloom.libraries import require

Relation = Literal["smaller", "larger", "variant"]

STEPS = 8
"""How far a number is changed until a network of the family has it."""

FARTHEST = 4.0
"""The largest ratio of the terminals of a network and its neighbour, in either direction."""

FIXED = ("seed", "levels")
"""Keys whose change makes another network, not a neighbour."""

JOINED = (None, "down", "racks", "g")
"""Keys of what a level or a dimension joins, None for its sides: with one of them it would join nothing."""

SPARSE = 4
"""These networks have at least this many routers for each link of a router: other Cayley graphs are much alike."""

SYNTHESISED = "the same routers as a Cayley graph"
"""The change of what a search finds."""

SYNTHESIS_S = 60.0
"""Seconds that a search takes at most; it ends with its first round, far sooner."""

LEAST_SYNTHESISED, MOST_SYNTHESISED = 8, 750
"""Routers, and links, of the networks of which a Cayley graph is searched: a search of more links takes seconds."""

Label = tuple[int, ...]
"""The position of a router in its family."""


@dataclass(frozen=True)
class Neighbour:
    """A neighbour of a network.

    Attributes:
        spec: Its spec.
        change: The number that differs, as in ``pods 3 → 4``.
        relation: Whether it has fewer terminals, more, or as many.
        terminals: Its terminals.
        routers: Its routers.
        kept: Cables between routers that stay where they are, at least.
        moved: Cables of the network that are unplugged at one end or both, at most.
        added: Cables of the neighbour that are not there, at most; moved ones may serve.
    """

    spec: str
    change: str
    relation: Relation
    terminals: int
    routers: int
    kept: int
    moved: int
    added: int


def neighbours(spec: str, radix: int) -> list[Neighbour]:
    """Return the neighbours of a network on routers of at most `radix` ports.

    They are the next one with fewer terminals and the next with more, by another number of routers where the family
    has one; and of those with as many terminals the ones with the fewest and most links, and with the fewest routers.

    Args:
        spec: The spec of the network.
        radix: Ports of a router at most, those of terminals included.

    Raises:
        TopoloomError: A spec that does not parse.

    >>> [(own.change, own.terminals, own.moved) for own in neighbours("hyperx:4x4,p=2", 9)][1]
    ('side 1 4 → 5', 40, 0)
    """
    own = _core.Network(spec)
    found = []
    for change, text in changes(spec):
        near = _built(text)
        if near is None or _ports(near) > radix:
            continue
        ratio = near.num_terminals / own.num_terminals
        if 1 / FARTHEST <= ratio <= FARTHEST:
            found.append((change, near))
    return [_neighbour(own, change, near) for change, near in _nearest(own, found)]


def synthesised(spec: str, seed: int) -> Neighbour | None:
    """Return the best Cayley graph that a short search finds of as many routers, links and terminals.

    None if the routers of the network are not all alike, if there is no such graph, or if it has too many links: in
    all, or for its routers.

    Args:
        spec: The spec of the network.
        seed: The seed of the search.

    Raises:
        TopoloomError: A spec that does not parse.

    >>> found = synthesised("torus:6x6,p=2", 1)
    >>> found.spec.split(":")[0], found.terminals, synthesised("clos:radix=4,levels=2", 1)
    ('cayley', 72, None)
    """
    own = _core.Network(spec)
    ends = own.terminals_by_router()
    links = Counter(dict.fromkeys(range(own.num_routers), 0))
    for a, _, b, _, _ in own.edges():
        links.update((a, b))
    alike = len(set(ends)) == 1 == len(set(links.values()))
    few = own.num_routers >= LEAST_SYNTHESISED and len(own.edges()) <= MOST_SYNTHESISED
    if not (alike and few and own.num_routers >= SPARSE * links[0]):
        return None
    try:
        best = _core.synthesise(own.num_routers, links[0], True, None, seed, SYNTHESIS_S, 1).best
    except TopoloomError:
        return None
    near = _core.Network(f"{best.spec},p={ends[0]}")
    return _neighbour(own, SYNTHESISED, near)


def _nearest(own: _core.Network, found: Sequence[tuple[str, _core.Network]]) -> list[tuple[str, _core.Network]]:
    """Return the nearest smaller and larger network, and the variants."""

    def far(item: tuple[str, _core.Network]) -> tuple[bool, int]:
        """Return how far a size is: those that only change the terminals of a router come last."""
        _, near = item
        return near.num_routers == own.num_routers, abs(near.num_terminals - own.num_terminals)

    fewer = [item for item in found if item[1].num_terminals < own.num_terminals]
    more = [item for item in found if item[1].num_terminals > own.num_terminals]
    sizes = [min(side, key=far) for side in (fewer, more) if side]
    same = [item for item in found if item[1].num_terminals == own.num_terminals]
    links = {change: len(near.edges()) for change, near in same}
    variants = {
        own[0]: own
        for own in (
            min(same, key=lambda item: links[item[0]], default=None),
            max(same, key=lambda item: links[item[0]], default=None),
            min(same, key=lambda item: item[1].num_routers, default=None),
        )
        if own is not None
    }
    return sizes + list(variants.values())


def changes(spec: str) -> Iterator[tuple[str, str]]:
    """Yield every change of one number, up and down to the next one that builds, and every other split into trunks.

    A level of a tree with a single child, or a dimension of a single router, is no neighbour: it joins nothing.

    Args:
        spec: The spec of the network.

    Raises:
        TopoloomError: A spec that does not parse.

    >>> list(changes("slimfly:q=5,p=4"))[:2]
    [('q 5 → 4', 'slimfly:q=4,p=4'), ('q 5 → 7', 'slimfly:q=7,p=4')]
    """
    name = _core.Name("topology", spec)
    parts = _parts(name)
    for place, (key, value) in enumerate(parts):
        numbers = value.split("x")
        for index in range(len(numbers)):
            if key in FIXED or not numbers[index].isdigit():
                continue
            told = _told(key, numbers, index)
            for sign in (-1, 1):
                for number in range(int(numbers[index]) + sign, int(numbers[index]) + sign * (STEPS + 1), sign):
                    other = "x".join([*numbers[:index], str(number), *numbers[index + 1 :]])
                    text = _text(name.family, [*parts[:place], (key, other), *parts[place + 1 :]])
                    if number > (key in JOINED) and _built(text) is not None:
                        yield f"{told} {numbers[index]} → {number}", text
                        break
    yield from _trunks(spec)


def _trunks(spec: str) -> Iterator[tuple[str, str]]:
    """Return other splits of a tree's links up: half the routers above with trunks twice as wide, or the reverse."""
    keys = dict(_core.Name("topology", spec).values)
    if "up" not in keys or "down" not in keys:
        return
    up = [int(number) for number in keys["up"].split("x")]
    trunk = [int(number) for number in keys.get("trunk", "x".join("1" * len(up))).split("x")]
    for level in range(len(up)):
        for wider in (True, False):
            fewer, more = (up, trunk) if wider else (trunk, up)
            if fewer[level] % 2 or fewer[level] < 2:  # noqa: PLR2004 - a half
                continue
            halved, doubled = list(fewer), list(more)
            halved[level], doubled[level] = fewer[level] // 2, more[level] * 2
            new_up, new_trunk = (halved, doubled) if wider else (doubled, halved)
            sides = {"down": keys["down"], "up": "x".join(map(str, new_up)), "trunk": "x".join(map(str, new_trunk))}
            told = f"trunk of level {level + 1} {trunk[level]} → {new_trunk[level]}"
            yield told, "xgft:" + ",".join(f"{key}={value}" for key, value in sides.items())


def _parts(name: _core.Name) -> list[tuple[str | None, str]]:
    """Return the values of a spec in their order, with their keys; what stands first in many families has none."""
    values = name.values
    first = name.canonical[len(name.family) + 1 :].split(",")[: -len(values) or None]
    return [*((None, value) for value in first if value), *values]


def _text(family: str, parts: Sequence[tuple[str | None, str]]) -> str:
    return f"{family}:" + ",".join(value if key is None else f"{key}={value}" for key, value in parts)


def _told(key: str | None, numbers: Sequence[str], index: int) -> str:
    """Return what one of the numbers of a value is called."""
    several = len(numbers) > 1
    if key is None:
        return f"side {index + 1}" if several else "routers"
    return f"{key} {index + 1}" if several else key


def _built(spec: str) -> _core.Network | None:
    """Return a network, or None if the family does not have it."""
    try:
        return _core.Network(spec)
    except TopoloomError:
        return None


def _ports(network: _core.Network) -> int:
    """Return the ports of the largest router."""
    used = Counter(dict(enumerate(network.terminals_by_router())))
    for a, _, b, _, _ in network.edges():
        used[a] += 1
        used[b] += 1
    return max(used.values())


def _neighbour(own: _core.Network, change: str, near: _core.Network) -> Neighbour:
    kept = max(_shared(own, near, place) for place in PLACES)
    fewer, more = near.num_terminals < own.num_terminals, near.num_terminals > own.num_terminals
    relation: Relation = "smaller" if fewer else "larger" if more else "variant"
    moved, added = len(own.edges()) - kept, len(near.edges()) - kept
    return Neighbour(near.spec, change, relation, near.num_terminals, near.num_routers, kept, moved, added)


def _shared(one: _core.Network, other: _core.Network, place: Callable[[_core.Network], list[Label]]) -> int:
    """Return how many cables join the same positions in both networks; parallel ones count each."""
    cables = [
        Counter(tuple(sorted((labels[a], labels[b]))) for a, _, b, _, _ in network.edges())
        for network, labels in ((network, place(network)) for network in (one, other))
    ]
    return sum((cables[0] & cables[1]).values())


def _by_id(network: _core.Network) -> list[Label]:
    return [(router,) for router in range(network.num_routers)]


def _by_structure(network: _core.Network) -> list[Label]:
    """Return the coordinates of routers, or their groups, columns or levels; ids where the family has none of them."""
    shape = network.shape()
    sides = shape.grid or shape.blocks or ([shape.group_size] if shape.group_size else None)
    if sides is not None:
        return [_digits(router, sides) for router in range(network.num_routers)]
    if shape.levels is not None:
        return _by_levels(shape.levels, pods=1)
    return _by_id(network)


def _by_pods(network: _core.Network) -> list[Label]:
    """Return level, pod and place within the pod of the routers of a tree; the top is one pod."""
    levels = network.shape().levels
    return _by_id(network) if levels is None else _by_levels(levels, pods=_pods(network, levels))


def _pods(network: _core.Network, levels: Sequence[int]) -> int:
    """Return the pods of a tree: what hangs together below its top."""
    require("networkx")
    import networkx as nx  # noqa: PLC0415 - loads slowly

    top = max(levels)
    below = nx.Graph()
    below.add_nodes_from(router for router, level in enumerate(levels) if level < top)
    below.add_edges_from((a, b) for a, _, b, _, _ in network.edges() if top not in (levels[a], levels[b]))
    return int(nx.number_connected_components(below))


def _by_levels(levels: Sequence[int], pods: int) -> list[Label]:
    """Return level, part of the level and place in that part, of each router."""
    sizes, seen, top = Counter(levels), Counter[int](), max(levels)
    labels: list[Label] = []
    for level in levels:
        part = max(1, sizes[level] // pods) if level < top else sizes[level]
        labels.append((level, *divmod(seen[level], part)))
        seen[level] += 1
    return labels


def _digits(number: int, sides: Sequence[int]) -> Label:
    """Return a number in the mixed base of `sides`, the first of which turns fastest; what is left comes last.

    >>> _digits(17, [4, 3])
    (1, 1, 1)
    """
    digits = []
    for side in sides:
        number, digit = divmod(number, side)
        digits.append(digit)
    return (*digits, number)


PLACES = (_by_id, _by_structure, _by_pods)
"""Which routers of two networks are the same; the way that keeps most cables in place is taken."""
