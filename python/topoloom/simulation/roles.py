"""Routings by their role: ``minimal`` and ``adaptive`` name, on each network, the routing that plays it there.

Each family names its own, in its file in the engine. Where links or routers have failed, it plays its role as long as
what is left has what it needs.
"""

from functools import cache

from topoloom import _core

ROLES = ("minimal", "adaptive")
"""The roles."""


def resolve_routing(name: str, family: str) -> str:
    """Return the routing that `name`, a role or a routing, stands for on a network of `family`.

    Args:
        name: A role or a routing, unchecked.
        family: A family of networks.

    >>> resolve_routing("minimal", "fattree"), resolve_routing("adaptive", "flex"), resolve_routing("val", "flex")
    ('nca', 'ugal-l', 'val')
    """
    return _core.routing_in_role(name, family) or name


def routing_on(network: _core.Network, name: str) -> str:
    """Return the routing that `name`, a role or a routing, stands for on this network.

    Args:
        network: The engine's network, ``Network.core``.
        name: A role or a routing, unchecked.

    >>> routing_on(_core.Network("dragonfly:a=4,h=2,p=2"), "minimal")
    'min'
    """
    return network.routing_in_role(name) or name


@cache
def routing_on_spec(spec: str, fail: str | None, name: str) -> str:
    """Return the routing that a role stands for on the network of a spec; a routing stands for itself.

    Args:
        spec: The spec of the network.
        fail: The failures, such as ``links=2``; None for none.
        name: A role, or a routing.

    Raises:
        TopoloomError: A spec or failures that do not make a network.

    >>> routing_on_spec("torus:4x4", None, "minimal"), routing_on_spec("torus:4x4", "links=2", "minimal")
    ('dor', 'min')
    """
    if name not in ROLES:
        return name
    network = _core.Network(spec)
    return routing_on(network if fail is None else network.with_failures(fail), name)


def adapts(network: _core.Network, routing: str) -> bool:
    """Whether a routing decides by congestion; one that is read from a file is built to see.

    Args:
        network: The engine's network, ``Network.core``.
        routing: A routing.

    Raises:
        TopoloomError: A routing from a file that the network cannot run.

    >>> tree = _core.Network("fattree:k=2,levels=2")
    >>> adapts(tree, "nca"), adapts(tree, "anca")
    (False, True)
    """
    by_name = _core.adapts_by_name(routing)
    return _core.Routing(network, routing).adapts if by_name is None else by_name


def roles_of(network: _core.Network, routing: str) -> list[str]:
    """Return the roles that a routing plays on this network.

    Args:
        network: The engine's network, ``Network.core``.
        routing: A routing, unchecked.

    >>> tree = _core.Network("fattree:k=2,levels=2")
    >>> roles_of(tree, "nca"), roles_of(tree, "val")
    (['minimal'], [])
    """
    return [role for role in ROLES if routing_on(network, role) == routing]
