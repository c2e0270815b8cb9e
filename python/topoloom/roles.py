"""Routings by their role: ``minimal`` and ``adaptive`` name, on each network, the routing that plays it there."""

from collections.abc import Callable

MINIMAL = {
    **dict.fromkeys(("mesh", "torus", "hypercube", "nesttree", "nestghc"), "dor"),
    **dict.fromkeys(("fattree", "clos", "xgft"), "nca"),
    "twin-torus": "ts-dor",
}
"""The minimal routing of each family that does not use ``min``."""

ADAPTIVE = {"twin-torus": "duato", "fattree": "anca", "clos": "anca", "xgft": "anca", "galaxyfly": "nag"}
"""The adaptive routing of each family that does not use ``ugal-l``."""

ROLES: dict[str, Callable[[str], str]] = {
    "minimal": lambda family: MINIMAL.get(family, "min"),
    "adaptive": lambda family: ADAPTIVE.get(family, "ugal-l"),
}


def resolve_routing(name: str, family: str) -> str:
    """Return the routing that `name`, a role or a routing, stands for on a network of `family`.

    >>> resolve_routing("minimal", "fattree"), resolve_routing("adaptive", "flex"), resolve_routing("val", "flex")
    ('nca', 'ugal-l', 'val')
    """
    role = ROLES.get(name)
    return role(family) if role else name
