"""Graphs of networkx and lists of links, to networks and back."""

import operator
import re
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from topoloom import _core
from topoloom._core import TopoloomError

if TYPE_CHECKING:
    import networkx as nx

Node = tuple[str, int | None, str | None]
"""Name, terminals, kind."""

Link = tuple[int, int, str | None, int | None, tuple[int, int] | None]
"""The places of two nodes, class, latency in cycles, local ports."""


@dataclass(frozen=True)
class GivenGraph:
    """A graph as it crosses to the engine, and to other processes.

    Attributes:
        kind: Where it is from: ``networkx`` or ``links``.
        label: What it is called in the network's spec.
        nodes: Name, terminals and kind of each node.
        links: The places of two nodes, class, latency in cycles, and local ports of each link.
        directed: Whether an edge and its reverse are one link.
        p: Terminals on every router; None for what the nodes say, else 1.
        written_as: The spec of the network that the graph says it is, which is verified.
    """

    kind: str
    label: str
    nodes: list[Node]
    links: list[Link]
    directed: bool
    p: int | None
    written_as: str | None = None

    def build(self) -> _core.Network:
        """Return the engine's network."""
        return _core.Network.from_graph(
            self.kind, self.label, self.nodes, self.links, self.directed, self.p, self.written_as
        )


def from_networkx(graph: "nx.Graph", p: int | None, label: str | None, kind: str = "networkx") -> GivenGraph:
    """Return `graph` as it crosses to the engine; see :meth:`topoloom.Network.from_networkx`."""
    place = {node: number for number, node in enumerate(graph)}
    nodes = [
        (str(node), _number(f"node {node!r}", "terminals", data, least=0), _kind(data))
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
    """Return the graph of `edges` as it crosses to the engine; see :meth:`topoloom.Network.from_edges`."""
    import networkx as nx  # noqa: PLC0415 - loads slowly

    graph = nx.MultiGraph()
    for edge in edges:
        if not isinstance(edge, Iterable) or isinstance(edge, str) or len(ends := tuple(edge)) != 2:  # noqa: PLR2004
            raise TopoloomError(f"{edge!r} is no link; a link is a pair of routers")
        graph.add_edge(*ends)
    return from_networkx(graph, p, label, "links")


def _kind(data: Mapping[str, Any]) -> str | None:
    """Return what a node says that it is, if it does."""
    return next((data[key] for key in ("kind", "type") if isinstance(data.get(key), str)), None)


def _link_data(where: str, data: Mapping[str, Any]) -> tuple[str | None, int | None, tuple[int, int] | None]:
    link_class = data.get("link_class")
    ports = _number(where, "port_a", data, least=0), _number(where, "port_b", data, least=0)
    both = None if ports[0] is None or ports[1] is None else (ports[0], ports[1])
    return (None if link_class is None else str(link_class)), _number(where, "latency", data, least=1), both


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


def to_networkx(core: _core.Network) -> "nx.MultiGraph":
    """Return the graph of the routers; see :meth:`topoloom.Network.to_networkx`."""
    import networkx as nx  # noqa: PLC0415 - loads slowly

    graph = nx.MultiGraph(spec=core.written_as() or core.spec)
    names = core.router_names()
    for router, terminals in enumerate(core.terminals_by_router()):
        graph.add_node(router, terminals=terminals, **({} if names is None else {"name": names[router]}))
    for (router_a, port_a, router_b, port_b, link_class), latency in zip(
        core.edges(), core.own_latencies(), strict=True
    ):
        own = {} if latency is None else {"latency": latency}
        graph.add_edge(router_a, router_b, port_a=port_a, port_b=port_b, link_class=link_class, **own)
    return graph
