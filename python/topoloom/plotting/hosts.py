"""Clusters, drawn: hosts as boxes of their parts, in rows below the routers of the fabric."""

from math import ceil, sqrt

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from topoloom.plotting.sketch import Points, Sketch, Stroke, bent, straight

Ends = NDArray[np.int64]
Links = dict[str, Ends]
"""The ends (links, 2) of the links of each class."""

NIC, INSIDE = "nic", "internal"
"""The classes of links between hosts and fabric, and within hosts."""

HOSTS_WIDE = 4.0
"""How many times as wide as high the rows of hosts are, about."""

ROW = 4.0
"""The distance between two levels of the fabric, in the distance of parts of a host."""


def has_hosts(links: Links) -> bool:
    """Return whether a network has hosts: links of classes that only hosts have.

    Args:
        links: The ends of the links of each class, arrays of shape (links, 2).

    >>> has_hosts({"nic": np.array([[0, 1]])}), has_hosts({"local": np.array([[0, 1]])})
    (True, False)
    """
    return NIC in links


def of_hosts(routers: int, links: Links) -> Sketch:
    """Draw hosts as boxes below the fabric. A router of the fabric stands the higher the more links it is from a host.

    Args:
        routers: The number of routers, the parts of hosts included.
        links: The ends of the links of each class, arrays of shape (links, 2).

    >>> of_hosts(3, {"nic": np.array([[0, 2], [1, 2]])}).places[:, 1].tolist()
    [0.0, 0.0, 4.0]
    """
    hosts, levels = _hosts(routers, links)
    places = np.zeros((routers, 2))
    outlines = _place_hosts(places, hosts)
    width = max(float(places[:, 0].max()), 1.0)
    for level in range(max(levels.values(), default=0) + 1):
        row = sorted(router for router, own in levels.items() if own == level)
        steps = (np.arange(len(row)) + 0.5) / max(len(row), 1)
        places[row] = np.column_stack([steps * width, np.full(len(row), (level + 1) * ROW)])
    strokes = [_stroke(places, name, number, links[name]) for number, name in enumerate(sorted(links))]
    outward = np.tile([0.0, -1.0], (routers, 1))
    return Sketch(places, strokes, outward=outward, outlines=outlines)


def _hosts(routers: int, links: Links) -> tuple[list[list[int]], dict[int, int]]:
    """Return the parts of each host, and how far each router of the fabric is from the nearest host, from 0 on."""
    graph = nx.Graph()
    graph.add_nodes_from(range(routers))
    graph.add_edges_from(links.get(INSIDE, np.empty((0, 2), dtype=np.int64)).tolist())
    # Hosts come first: of the ends of an interface the upper one is of the fabric.
    upper = links[NIC].max(axis=1)
    first = int(upper.min())
    hosts = sorted(sorted(part) for part in nx.connected_components(graph.subgraph(range(first))))
    fabric = nx.Graph()
    fabric.add_nodes_from(range(first, routers))
    fabric.add_edges_from(pair for name, ends in links.items() if name not in (NIC, INSIDE) for pair in ends.tolist())
    levels: dict[int, int] = nx.multi_source_dijkstra_path_length(fabric, set(upper.tolist()))
    return hosts, {router: int(levels.get(router, 0)) for router in fabric}


def _place_hosts(places: Points, hosts: list[list[int]]) -> list[Points]:
    """Place the parts of each host in its box, and return the boxes."""
    side = ceil(sqrt(max(len(host) for host in hosts)))
    pitch = side + 1.0
    columns = ceil(sqrt(len(hosts) * HOSTS_WIDE))
    outlines = []
    for number, host in enumerate(hosts):
        row, column = divmod(number, columns)
        left, top = column * pitch, -row * pitch
        steps = np.arange(len(host))
        places[host] = np.column_stack([left + steps % side, top - steps // side])
        right, bottom = left + side - 0.5, top - side + 0.5
        corners = [(left - 0.5, top + 0.5), (right, top + 0.5), (right, bottom), (left - 0.5, bottom)]
        outlines.append(np.array(corners))
    return outlines


def _stroke(places: Points, name: str, number: int, ends: Ends) -> Stroke:
    """Draw links as straight lines, and those between routers of one row as arcs."""
    apart = places[ends[:, 1]] - places[ends[:, 0]]
    level = (apart[:, 1] == 0) & (np.abs(apart[:, 0]) > 1)
    if not level.any() or name == NIC:
        return Stroke(name, number, straight(places, ends))
    lift = np.where(level, 0.12 * np.abs(apart[:, 0]), 0.0)
    return Stroke(name, number, bent(places, ends, np.column_stack([np.zeros(len(ends)), lift])))
