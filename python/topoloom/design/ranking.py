"""Order among configurations that are not built: by what they are sorted, and which of them nothing beats."""

from collections.abc import Callable, Mapping, Sequence
from math import inf
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from topoloom import _core
from topoloom._core import TopoloomError, unknown
from topoloom.layout.prices import price_list, read_prices

if TYPE_CHECKING:
    from topoloom.design.candidates import Candidate

Array = npt.NDArray[np.float64]

BLOCK = 1024
"""Configurations that are compared with the front together."""


def router_costs(found: Sequence["Candidate"], prices: str) -> Array:
    """Return the dollars of a terminal's share of the routers.

    Where switches are bought whole, all routers of a network count as its largest one. They cost ∞ where the list has
    no switch of this many ports.

    Args:
        found: The configurations.
        prices: The price list: a name, or the path of a JSON file.

    Raises:
        TopoloomError: A price list that cannot be read.

    >>> from topoloom.design.candidates import candidates
    >>> found = candidates(terminals=16, radix=8, families="hyperx")
    >>> [round(usd) for usd in router_costs(found[:2], "400g")]
    [6000, 6000]
    """
    router = price_list(prices).get("router")
    if router is not None:
        routers = [router.usd * own.routers + router.usd_per_port * own.ports for own in found]
    else:
        each = _core.router_costs(read_prices(prices), max((own.radix for own in found), default=0))
        routers = [inf if (usd := each[own.radix]) is None else usd * own.routers for own in found]
    return np.array([usd / own.terminals for usd, own in zip(routers, found, strict=True)], dtype=float)


def _cables(found: Sequence["Candidate"], layout: str) -> Array:
    lengths = [own.cable_per_terminal_m(layout) for own in found]
    if None in lengths:
        raise TopoloomError("cable is estimated in the layout rack only; sort by something else, or leave --layout out")
    return np.array(lengths, dtype=float)


def _number(name: str, sign: int = 1) -> Callable[[Sequence["Candidate"], str, str], Array]:
    return lambda found, _layout, _prices: sign * np.array([getattr(own, name) for own in found], dtype=float)


KEYS: Mapping[str, Callable[[Sequence["Candidate"], str, str], Array]] = MappingProxyType({
    "ports": lambda found, _layout, _prices: np.array([own.ports / own.terminals for own in found], dtype=float),
    "cost": lambda found, _layout, prices: router_costs(found, prices),
    "cable": lambda found, layout, _prices: _cables(found, layout),
    "beta": _number("beta", -1),
    "diameter": _number("diameter"),
    "routers": _number("routers"),
    "links": _number("links"),
    "radix": _number("radix"),
    "terminals": _number("terminals", -1),
})  # fmt: skip
"""What configurations are sorted by: functions of them, of the layout and of the prices, so that less is better."""


def column(found: Sequence["Candidate"], key: str, layout: str = "", prices: str = "") -> Array:
    """Return one number per configuration, so that less is better.

    Ports, cost and cable count per terminal; more is better of bisection and terminals.

    Args:
        found: The configurations.
        key: One of :data:`KEYS`.
        layout: The layout of the cable.
        prices: The price list of the cost.

    Raises:
        TopoloomError: An unknown key, a layout or a price list that cannot be read.

    >>> from topoloom.design.candidates import candidates
    >>> [float(number) for number in column(candidates(terminals=16, radix=8, families="hyperx")[:2], "diameter")]
    [2.0, 1.0]
    """
    if key not in KEYS:
        raise TopoloomError(unknown("key to sort by", key, list(KEYS)))
    return KEYS[key](found, layout, prices)


def unbeaten(rows: Array) -> list[int]:
    """Return the positions of the rows that no other row beats: as low in all columns, and lower in one.

    Args:
        rows: The rows, an array of shape (rows, columns); less is better in each column.

    >>> unbeaten(np.array([(1.0, 3.0), (2.0, 3.0), (3.0, 1.0), (1.0, 3.0)]))
    [0, 2, 3]
    """
    order = np.lexsort(rows.T[::-1])
    front = np.empty((0, rows.shape[1]))
    kept: list[int] = []
    for first in range(0, len(order), BLOCK):
        block = order[first : first + BLOCK]
        # What is before the block beats most of it: only the others are looked at one by one.
        for place in block[np.logical_not(_beaten(front, rows[block]))]:
            if not _beaten(front, rows[[place]])[0]:
                kept.append(int(place))
                if not (front == rows[place]).all(axis=1).any():
                    front = np.vstack([front, rows[place]])
    return sorted(kept)


def _beaten(front: Array, rows: Array) -> "npt.NDArray[np.bool_]":
    """Return which rows a row of the front beats."""
    as_low = (front[:, None] <= rows[None]).all(axis=2)
    lower = (front[:, None] < rows[None]).any(axis=2)
    return np.asarray(np.any(as_low & lower, axis=0), dtype=bool)
