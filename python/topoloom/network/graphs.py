"""Graphs of networkx and lists of links, to networks and back."""

import math
import operator
import re
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from itertools import repeat
from typing import TYPE_CHECKING, Any

from topoloom import _core
from topoloom._core import TopoloomError
from topoloom.libraries import require

if TYPE_CHECKING:
    import networkx as nx

Wire = tuple[float | None, float | None, float | None]
"""Attributes of a link: Gb/s in each direction, nanoseconds, metres."""

WIRE = ("rate_gbps", "latency_ns", "length_m")
"""The attributes of an edge that describe its link; with `terminal_` before them, of a node, its terminals' links."""

Node = tuple[str, int | None, str | None, Wire]
"""Name, terminals, kind, the links of its terminals."""

Link = tuple[int, int, str | None, int | None, tuple[int, int] | None, Wire]
"""The indices of two nodes, class, latency in cycles, local ports, attributes of the link."""


@dataclass(frozen=True)
class GivenGraph:
    """A graph as it crosses to the engine, and to other processes.

    Attributes:
        kind: Where it is from: ``networkx`` or ``links``.
        label: What it is called in the network's spec.
        nodes: Name, terminals and kind of each node, and the attributes of its terminals' links.
        links: The indices of two nodes, class, latency in cycles, local ports of each link, and its attributes.
        directed: Whether an edge and its reverse are one link.
        p: Terminals on every router; None for those of the nodes, else 1.
        written_as: The spec of the network that the graph claims to be, which is verified.
    """

    kind: str
    label: str
    nodes: list[Node]
    links: list[Link]
    directed: bool
    p: int | None
    written_as: str | None = None

    def build(self) -> _core.Network:
        """Return the engine's network.

        >>> from_edges([("a", "b"), ("b", "c")], 2, "line").build().num_routers
        3
        """
        return _core.Network.from_graph(
            self.kind, self.label, self.nodes, self.links, self.directed, self.p, self.written_as
        )


def from_networkx(graph: "nx.Graph", p: int | None, label: str | None, kind: str = "networkx") -> GivenGraph:
    """Return `graph` as it crosses to the engine; see :meth:`topoloom.Network.from_networkx`.

    Args:
        graph: A graph, whose nodes are routers; those of ``kind`` or ``type`` ``terminal`` are terminals.
        p: Terminals of each router; None: those that its nodes give.
        label: The name of the network; None: that of the graph.
        kind: The kind of source that results name.

    Raises:
        TopoloomError: An attribute of a node or an edge that is no number, or too small a one.

    >>> import networkx as nx
    >>> from_networkx(nx.cycle_graph(5), 2, "ring").build().num_terminals
    10
    """
    place = {node: number for number, node in enumerate(graph)}
    nodes = [
        (
            str(node),
            _number(f"node {node!r}", "terminals", data, least=0),
            _kind(data),
            _wire(f"node {node!r}", "terminal_", data),
        )
        for node, data in graph.nodes(data=True)
    ]
    links = [(place[a], place[b], *_link_data(f"edge {a!r} – {b!r}", data)) for a, b, data in graph.edges(data=True)]
    if p is not None:
        p = _number("the argument", "p", {"p": p}, least=1)
    name = re.sub(r"[^\w.+-]+", "-", label or graph.name or "graph").strip("-") or "graph"
    spec = graph.graph.get("spec")
    return GivenGraph(
        kind, name, nodes, links, graph.is_directed(), p, written_as=spec if isinstance(spec, str) else None
    )


def from_edges(edges: Iterable[tuple[Hashable, Hashable]], p: int, label: str) -> GivenGraph:
    """Return the graph of `edges` as it crosses to the engine; see :meth:`topoloom.Network.from_edges`.

    Args:
        edges: Pairs of routers, which any hashable values name.
        p: Terminals of each router.
        label: The name of the network.

    Raises:
        TopoloomError: An edge that is no pair.

    >>> len(from_edges([("a", "b"), ("a", "b")], 1, "trunk").links)
    2
    """
    require("networkx")
    import networkx as nx  # noqa: PLC0415 - loads slowly

    graph = nx.MultiGraph()
    for edge in edges:
        if not isinstance(edge, Iterable) or isinstance(edge, str) or len(ends := tuple(edge)) != 2:  # noqa: PLR2004
            raise TopoloomError(f"{edge!r} is no link; a link is a pair of routers")
        graph.add_edge(*ends)
    return from_networkx(graph, p, label, "links")


def _kind(data: Mapping[str, Any]) -> str | None:
    """Return the kind that a node declares, if any."""
    return next((data[key] for key in ("kind", "type") if isinstance(data.get(key), str)), None)


def _link_data(where: str, data: Mapping[str, Any]) -> tuple[str | None, int | None, tuple[int, int] | None, Wire]:
    link_class = data.get("link_class")
    ports = _number(where, "port_a", data, least=0), _number(where, "port_b", data, least=0)
    both = None if ports[0] is None or ports[1] is None else (ports[0], ports[1])
    own = None if link_class is None else str(link_class)
    return own, _number(where, "latency", data, least=1), both, _wire(where, "", data)


def _wire(where: str, prefix: str, data: Mapping[str, Any]) -> Wire:
    """Return what attributes, whose names begin with `prefix`, state about a link."""
    rate, delay, length = (_real(where, prefix + name, data) for name in WIRE)
    return rate, delay, length


def _real(where: str, key: str, data: Mapping[str, Any]) -> float | None:
    """Return the number above 0 that `data` has under `key`, if it has one."""
    value = data.get(key)
    if value is None:
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not 0 < number < math.inf:
        raise TopoloomError(f"{where}: {key} is {value!r}; it must be a number above 0")
    return number


def _number(where: str, key: str, data: Mapping[str, Any], least: int) -> int | None:
    """Return the whole number that `data` has under `key`, if it has one."""
    value = data.get(key)
    if value is None:
        return None
    try:
        number = operator.index(value)
    except TypeError:
        number = -1
    if not least <= number < 2**32:
        raise TopoloomError(f"{where}: {key} is {value!r}; it must be a whole number from {least} to {2**32 - 1}")
    return number


UNSAID: Wire = (None, None, None)
"""A link without attributes."""


def _said(prefix: str, wire: Wire) -> dict[str, float]:
    """Return the attributes of a link."""
    return {prefix + name: value for name, value in zip(WIRE, wire, strict=True) if value is not None}


def to_networkx(core: _core.Network) -> "nx.MultiGraph":
    """Return the graph of the routers; see :meth:`topoloom.Network.to_networkx`.

    Args:
        core: The engine's network, ``Network.core``.

    >>> import topoloom
    >>> to_networkx(topoloom.network("torus:4x4").core).number_of_edges()
    32
    """
    require("networkx")
    import networkx as nx  # noqa: PLC0415 - loads slowly

    graph = nx.MultiGraph(spec=core.written_as() or core.spec)
    names, of_terminals = core.router_names(), core.terminal_wires()
    for router, terminals in enumerate(core.terminals_by_router()):
        said = {} if of_terminals is None else _said("terminal_", of_terminals[router])
        graph.add_node(router, terminals=terminals, **said, **({} if names is None else {"name": names[router]}))
    links = zip(core.edges(), core.own_latencies(), core.link_wires() or repeat(UNSAID), strict=False)
    for (router_a, port_a, router_b, port_b, link_class), latency, wire in links:
        own = ({} if latency is None else {"latency": latency}) | _said("", wire)
        graph.add_edge(router_a, router_b, port_a=port_a, port_b=port_b, link_class=link_class, **own)
    return graph
