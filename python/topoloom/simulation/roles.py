"""Routings by their role: ``minimal`` and ``adaptive`` name, on each network, the routing that plays it there.

Each family names its own, in its file in the engine.
"""

from topoloom import _core


def resolve_routing(name: str, family: str) -> str:
    """Return the routing that `name`, a role or a routing, stands for on a network of `family`.

    >>> resolve_routing("minimal", "fattree"), resolve_routing("adaptive", "flex"), resolve_routing("val", "flex")
    ('nca', 'ugal-l', 'val')
    """
    return _core.routing_in_role(name, family) or name


def named_flow_routing(name: str, family: str) -> str:
    """Return the routing of the flow engine for `name`, as far as its name says: no adaptive one.

    >>> named_flow_routing("adaptive", "fattree"), named_flow_routing("val", "flex")
    ('nca', 'val')
    """
    return resolve_routing("minimal" if adapts_by_name(name, family) else name, family)


def adapts_by_name(name: str, family: str = "") -> bool:
    """Whether `name`, a role or a routing, stands for a routing that decides by congestion."""
    return _core.adapts_by_name(resolve_routing(name, family)) is True


def instead_of(name: str) -> str:
    """Return the warning that the minimal routing runs in the flow engine instead of the adaptive one of this name."""
    return f"{name}: the flow engine does not model adaptive routing; the routing is minimal instead"


def flow_routing(network: _core.Network, name: str) -> tuple[str, str | None]:
    """Return the routing of the flow engine for `name`, and a warning if it is another one.

    Paths of flows do not depend on congestion. Instead of an adaptive routing the minimal one of the network runs.

    Raises:
        TopoloomError: A routing that the network does not offer.
    """
    routing = resolve_routing(name, network.family)
    if _core.adapts_by_name(routing) is False or not _core.adapts(network, routing):
        return routing, None
    return resolve_routing("minimal", network.family), instead_of(name)
