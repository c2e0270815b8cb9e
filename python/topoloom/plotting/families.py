"""How routers are arranged in a drawing: by grid, groups, levels, blocks; else on a circle or by forces."""

from collections.abc import Callable

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from topoloom._core import Network
from topoloom.plotting.hosts import has_hosts, of_hosts
from topoloom.plotting.sketch import Points, Sketch, Stroke, bent, on_circle, straight, through, unit

MOST_BY_FORCES = 400
"""Routers of the largest network without a structure that is drawn by forces; larger ones are drawn on a circle."""

Ends = NDArray[np.int64]
Links = dict[str, Ends]
"""The ends (links, 2) of the links of each class; parallel links once."""


def sketch(network: Network) -> Sketch:
    """Return the drawing that fits the structure of a network.

    Args:
        network: The network.

    >>> sketch(Network("mesh:2x2")).places.shape
    (4, 2)
    """
    shape = network.shape()
    links = links_of(network)
    if has_hosts(links):
        return of_hosts(network.num_routers, links)
    if shape.grid:
        return _of_grid(shape.grid, links)
    if shape.blocks:
        return _of_blocks(shape.blocks, links)
    if shape.group_size:
        # In a group, routers without terminals are spines, as in dragonfly+.
        tiers = [int(terminals == 0) for terminals in network.terminals_by_router()]
        return _of_groups(network.num_routers, shape.group_size, tiers, links)
    if shape.levels:
        return _of_levels(shape.levels, links)
    return _of_graph(network.num_routers, links)


def links_of(network: Network) -> Links:
    """Return the links of a network by class, parallel links once.

    Args:
        network: The network.

    >>> {name: ends.shape for name, ends in links_of(Network("mesh:2x2")).items()}
    {'local': (4, 2)}
    """
    ends: dict[str, set[tuple[int, int]]] = {}
    for router_a, _, router_b, _, link_class in network.edges():
        ends.setdefault(link_class, set()).add((router_a, router_b))
    return {name: np.array(sorted(pairs), dtype=np.int64) for name, pairs in ends.items()}


def _all(links: Links) -> Ends:
    return np.concatenate([np.empty((0, 2), dtype=np.int64), *links.values()])


# Grids


def _of_grid(sides: list[int], links: Links) -> Sketch:
    wide = [side for side in sides if side > 1] or [1]
    ends = _all(links)
    name = "/".join(links) or "local"
    coordinates = _coordinates(sides)
    if len(wide) == 1 and _is_round(ends, wide[0]):
        return _of_circle(wide[0], {name: ends})
    if len(sides) == 3:  # noqa: PLR2004 - three dimensions
        steps = coordinates[ends[:, 0]] != coordinates[ends[:, 1]]
        layered = steps[:, 2].all() and (np.count_nonzero(steps, axis=1) > 1).any()
        return (_of_layers if layered else _of_cube)(sides, coordinates, ends, name)
    return _of_flat_grid(sides, coordinates, ends, name)


def _is_round(ends: Ends, side: int) -> bool:
    return side > 2 and bool((np.abs(ends[:, 0] - ends[:, 1]) > 1).any())  # noqa: PLR2004 - two have no way round


def _coordinates(sides: list[int]) -> NDArray[np.int64]:
    """Return the coordinates of every router, one per row; the first dimension varies fastest."""
    return np.column_stack(np.unravel_index(np.arange(int(np.prod(sides))), sides, order="F"))


def _of_flat_grid(sides: list[int], coordinates: NDArray[np.int64], ends: Ends, name: str) -> Sketch:
    """Draw a grid of any dimensions in the plane: each dimension from the third on repeats the grid of those before."""
    axes = np.zeros((len(sides), 2))
    reach = [1.0, 1.0]
    for dimension, side in enumerate(sides):
        axis = dimension % 2
        axes[dimension, axis] = reach[axis]
        reach[axis] = reach[axis] * side + (0.6 * reach[axis] if dimension > 1 else 0.8)
    places = coordinates @ axes
    strokes = _grid_strokes(sides, coordinates, ends, places, axes, name)
    return Sketch(places, strokes, outward=np.tile(unit(np.array([[-1.0, -1.0]])), (len(places), 1)))


def _grid_strokes(
    sides: list[int], coordinates: NDArray[np.int64], ends: Ends, places: Points, axes: Points, name: str
) -> list[Stroke]:
    """Draw steps of one as straight lines, longer ones bent, each dimension in a colour of its own.

    Where dimensions share an axis (two that point the same way) the later ones pass over routers, and bend as well.
    """
    steps = np.abs(coordinates[ends[:, 0]] - coordinates[ends[:, 1]])
    slanted = np.count_nonzero(steps, axis=1) > 1
    longest = [int(steps[~slanted, dimension].max(initial=0)) for dimension in range(len(sides))]
    # A ring has steps of 1 and of all but 1; in three routers these are all there are, ring or not.
    rings = [
        side > 3 and not np.isin(steps[:, dimension], range(2, side - 1)).any()  # noqa: PLR2004
        for dimension, side in enumerate(sides)
    ]
    strokes = []
    if slanted.any():
        strokes.append(Stroke(f"{name}, across dimensions", len(sides), straight(places, ends[slanted])))
    for dimension in range(len(sides)):
        along = np.flatnonzero((steps[:, dimension] > 0) & ~slanted)
        if not len(along):
            continue
        length = steps[along, dimension]
        base = 0.17 * _shared(axes, dimension)
        lift = np.where(length > 1, 0.16 + base + 0.22 * length / longest[dimension], base)
        lines = bent(places, ends[along], lift[:, None] * _sideways(axes[dimension]))
        label = f"{name}, dimension {dimension + 1}" if len(sides) > 1 else name
        wraps = (length > 1) & (rings[dimension] or (sides[dimension] == 3 and any(rings)))  # noqa: PLR2004
        for chosen, what in ((~wraps, ""), (wraps, ", wrap-around")):
            if chosen.any():
                strokes.append(Stroke(label + what, dimension, lines[chosen], dashed=bool(what)))
    return strokes


def _shared(axes: Points, dimension: int) -> int:
    """Return how many earlier dimensions point the same way."""
    directions = unit(axes[: dimension + 1])
    return int((np.abs(directions[:-1] - directions[-1]).max(axis=1, initial=0) < 1e-9).sum())  # noqa: PLR2004


def _sideways(axis: Points) -> Points:
    """Return the direction in which a long line along `axis` bends, so that it passes between its neighbours."""
    x, y = axis / np.linalg.norm(axis)
    return np.array([y, x]) if abs(y) < 1e-9 or abs(x) < 1e-9 else np.array([-y, x])  # noqa: PLR2004


def _of_cube(sides: list[int], coordinates: NDArray[np.int64], ends: Ends, name: str) -> Sketch:
    """Draw three dimensions as a block seen from the side: to the right, backwards, up."""
    axes = np.array([[1.0, 0.0], [0.37, 0.29], [0.0, 1.0]])
    places = coordinates @ axes
    strokes = _grid_strokes(sides, coordinates, ends, places, axes, name)
    return Sketch(places, strokes, outward=np.tile([[0.7, -0.7]], (len(places), 1)), spacing=0.45)


STEP, SHEAR, FLATTEN = 1.3, 0.55, 0.5
"""How a layer is seen from the side: what a step to the right adds along x, and one backwards along x and along y."""


def _of_layers(sides: list[int], coordinates: NDArray[np.int64], ends: Ends, name: str) -> Sketch:
    """Draw layers that are linked with each other only (FleX) above each other, seen from the side."""
    axes = np.array([[STEP, 0.0], [SHEAR, FLATTEN], [0.0, FLATTEN * sides[1] + 1.5]])
    places = coordinates @ axes
    strokes = _layer_strokes(sides[2], coordinates, ends, places, name)
    corners = np.array([[-0.6, -0.6], [sides[0] - 0.4, -0.6], [sides[0] - 0.4, sides[1] - 0.4], [-0.6, sides[1] - 0.4]])
    drawn = Sketch(places, strokes, outward=np.tile([[-0.8, -0.6]], (len(places), 1)), spacing=FLATTEN)
    for layer in range(sides[2]):
        outline = corners @ axes[:2] + layer * axes[2]
        drawn.outlines.append(outline)
        drawn.labels.append((float(outline[0, 0]) - 0.25, float(outline[0, 1] + outline[3, 1]) / 2, f"layer {layer}"))
    return drawn


def _layer_strokes(layers: int, coordinates: NDArray[np.int64], ends: Ends, places: Points, name: str) -> list[Stroke]:
    """Draw links between layers, those of each pair of layers in a colour of their own."""
    between = np.sort(coordinates[ends, 2], axis=1)
    strokes = []
    for colour, (low, high) in enumerate(sorted({(int(low), int(high)) for low, high in between})):
        pairs = ends[(between == [low, high]).all(axis=1)]
        label = f"{name}, layers {low} and {high}"
        if high - low == 1:
            strokes.append(Stroke(label, colour, straight(places, pairs)))
        else:
            side = np.array([1.0, 0.0]) * 0.12 * (places[:, 0].max() - places[:, 0].min())
            strokes.append(Stroke(label, colour, bent(places, pairs, side), dashed=False))
    return strokes[::-1] if layers > 2 else strokes  # noqa: PLR2004 - the way round goes behind


# Blocks of columns


def _of_blocks(sides: list[int], links: Links) -> Sketch:
    height, columns, blocks = sides
    router = np.arange(height * columns * blocks)
    place, column, block = router % height, router // height % columns, router // (height * columns)
    gap = max(3.0, 0.9 * columns)
    places = np.column_stack([column + block * (columns + gap), 1.4 * place])
    strokes = []
    for name, ends in links.items():
        inside = (ends[:, 0] // height) == (ends[:, 1] // height)
        strokes.append(Stroke(f"{name}, between the blocks", 1, straight(places, ends[~inside])))
        pairs = ends[inside]
        length = np.abs(places[pairs[:, 0], 1] - places[pairs[:, 1], 1])
        bulge = 0.42 * (length / (1.4 * max(height - 1, 1)))[:, None] * np.array([[1.0, 0.0]])
        outwards = np.where(block[pairs[:, 0]] > 0, 1.0, -1.0)[:, None]
        strokes.append(Stroke(f"{name}, within a column", 0, bent(places, pairs, bulge * outwards)))
    labels = [
        (
            float((columns - 1) / 2 + b * (columns + gap)),
            1.4 * height - 0.6,
            f"subgraph {b}: {columns} columns of {height}",
        )
        for b in range(blocks)
    ]
    return Sketch(places, strokes, labels=labels, outward=np.tile([[0.0, -1.0]], (len(places), 1)))


# Groups on a ring


def _of_groups(routers: int, size: int, tiers: list[int], links: Links) -> Sketch:
    groups = -(-routers // size)
    router = np.arange(routers)
    group, member = router // size, router % size
    inner, radius = _members(size, tiers)
    ring = 0.0 if groups == 1 else max(1.3 * radius / np.sin(np.pi / groups), 2.2 * radius)
    outwards = on_circle(groups)
    centres = ring * outwards
    # The members' own axes: outwards from the ring, and along it.
    along = np.column_stack([outwards[:, 1], -outwards[:, 0]])
    places = centres[group] + inner[member, :1] * along[group] + inner[member, 1:] * outwards[group]
    strokes = []
    for name, ends in sorted(links.items(), reverse=True):
        same = group[ends[:, 0]] == group[ends[:, 1]]
        for pairs, colour in ((ends[~same], 1), (ends[same], 0)):
            if len(pairs):
                first, last = places[pairs[:, 0]], places[pairs[:, 1]]
                lines = straight(places, pairs) if colour == 0 else through(first, 0.2 * (first + last) / 2, last)
                strokes.append(Stroke(_class_label(name, colour == 0), colour, lines))
    strokes.sort(key=lambda stroke: -stroke.colour)
    drawn = Sketch(places, strokes, outward=unit(places - centres[group]), spacing=_spacing(size, radius))
    if 1 < groups <= 80:  # noqa: PLR2004 - more numbers would not be legible
        out = ring + float(inner[:, 1].max()) + 0.6 + 0.02 * ring
        drawn.labels = [(float(x), float(y), str(g)) for g, (x, y) in enumerate(out * outwards)]
    return drawn


def _class_label(name: str, inside: bool) -> str:
    return name if name in {"local", "global"} else f"{name}, {'within a group' if inside else 'between groups'}"


def _members(size: int, tiers: list[int]) -> tuple[Points, float]:
    """Return the positions of a group's routers around its middle (along the ring, outwards), and their reach."""
    if len(set(tiers[:size])) == 1:
        return on_circle(size), 1.0 if size > 1 else 0.5
    rows = np.array(tiers[:size])
    places = np.zeros((size, 2))
    for tier in set(tiers[:size]):
        mine = np.flatnonzero(rows == tier)
        places[mine, 0] = np.arange(len(mine)) - (len(mine) - 1) / 2
        # The leaves stand outside, the spines inside.
        places[mine, 1] = 0.5 - tier
    places[:, 0] *= 2 / max(np.abs(places[:, 0]).max() * 2, 1)
    return places, 1.15


def _spacing(size: int, radius: float) -> float:
    return min(0.9, 2 * radius * float(np.sin(np.pi / max(size, 3))))


# Trees


def _of_levels(levels: list[int], links: Links) -> Sketch:
    level = np.array(levels)
    counts = np.bincount(level)
    width = float(counts.max())
    places = np.zeros((len(levels), 2))
    height = max(1.2, 0.6 * width / max(len(counts) - 1, 1) ** 0.5 * 0.6)
    for row, count in enumerate(counts):
        mine = np.flatnonzero(level == row)
        places[mine, 0] = (np.arange(count) + 0.5) * width / count
        places[mine, 1] = row * height
    strokes = []
    for name, ends in links.items():
        low = np.minimum(level[ends[:, 0]], level[ends[:, 1]])
        for row in sorted(set(low.tolist())):
            label = f"{name}, levels {row} and {row + 1}"
            strokes.append(Stroke(label, row, straight(places, ends[low == row])))
    labels = [(-0.02 * width - 0.3, row * height, f"level {row}") for row in range(len(counts))]
    return Sketch(places, strokes, labels=labels, outward=np.tile([[0.0, -1.0]], (len(places), 1)))


# Anything else


def _of_graph(routers: int, links: Links) -> Sketch:
    ends = _all(links)
    beside = {(a, b) for a, b in ends.tolist() if b - a in {1, routers - 1}}
    if len(beside) >= routers - 1 or routers > MOST_BY_FORCES:
        return _of_circle(routers, links)
    graph = nx.Graph(ends.tolist())
    graph.add_nodes_from(range(routers))
    found = nx.spring_layout(graph, seed=1, iterations=200)
    places = np.array([found[router] for router in range(routers)]) * np.sqrt(routers)
    strokes = [Stroke(name, colour, straight(places, pairs)) for colour, (name, pairs) in enumerate(links.items())]
    return Sketch(places, strokes, outward=unit(places - places.mean(axis=0)), spacing=0.6)


def _of_circle(routers: int, links: Links) -> Sketch:
    places = on_circle(routers, radius=max(1.0, routers / (2 * np.pi)))
    strokes = []
    for name, ends in links.items():
        beside = np.isin(np.abs(ends[:, 0] - ends[:, 1]), [1, routers - 1])
        kinds: list[tuple[str, Ends, Callable[[Points, Ends], Points]]] = [
            (f"{name}, across", ends[~beside], straight),
            (f"{name}, beside each other", ends[beside], straight),
        ]
        strokes += [Stroke(label, c, line(places, pairs)) for c, (label, pairs, line) in enumerate(kinds) if len(pairs)]
    return Sketch(places, strokes, outward=unit(places))
