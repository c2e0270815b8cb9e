"""The first stage of a design: which of all configurations are built, by closed forms."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from topoloom import _core
from topoloom.design.candidates import Candidate
from topoloom.design.question import Question
from topoloom.layout.prices import price_list, read_prices

Array = npt.NDArray[np.float64]

BUILT_TERMINALS = 100_000
"""The total number of terminals of the networks that are built, about …"""

LEAST_BUILT = 60
"""… and the least number of these networks."""

EDGE = 1.1
"""A configuration of the same family has to be this much cheaper to drop another one."""

BLOCK = 1024
"""Configurations that are compared with the others together."""

DOUBT = 1.25
"""And its bisection has to be larger by this factor, up to full bisection: it is an estimate."""


def in_doubt(found: Sequence[Candidate], question: Question, dropped: Counter[str]) -> list[Candidate]:
    """Return the configurations to build, and count why others are not.

    Dropped is what misses a requirement for certain; what another configuration of its family beats clearly in cost,
    bisection and diameter, all by closed forms; and, where more are left than can be built, what lies between others.

    Args:
        found: The configurations.
        question: The question.
        dropped: The number of configurations dropped for each reason, to which this adds.

    >>> from topoloom.design.candidates import candidates
    >>> from topoloom.design.question import make_question
    >>> found = candidates(terminals=16, radix=8, families="hyperx")
    >>> dropped = Counter()
    >>> kept = in_doubt(found, make_question({"terminals": 16, "radix": 8, "families": "hyperx"}), dropped)
    >>> len(kept) + sum(dropped.values()) == len(found)
    True
    """
    held = [own for own in found if _may_hold(own, question)]
    dropped["misses a requirement for certain"] += len(found) - len(held)
    able = _once(held)
    dropped["joins every pair of routers, as a network of another family does"] += len(held) - len(able)
    cost = _cost(able, question.prices)
    families: dict[str, list[int]] = {}
    for place, own in enumerate(able):
        families.setdefault(own.family, []).append(place)
    room = max(LEAST_BUILT, BUILT_TERMINALS // max(question.least_terminals, 1))
    kept: list[Candidate] = []
    for left, (_, places) in zip(range(len(families), 0, -1), _smallest_first(families), strict=True):
        front = _clear(able, cost, np.array(places))
        spread = _spread(able, cost, front, max(1, (room - len(kept)) // left))
        dropped["another of its family is clearly better by closed forms"] += len(places) - len(front)
        dropped["lies between others of its family that are built"] += len(front) - len(spread)
        kept += [able[place] for place in spread]
    return kept


def _once(found: Sequence[Candidate]) -> list[Candidate]:
    """Return the configurations with one of those of as many routers, all joined in pairs: a HyperX if there is one."""
    complete: dict[tuple[int, int], Candidate] = {}
    for own in found:
        if _is_complete(own):
            size = (own.routers, own.terminals)
            complete[size] = min(complete.get(size, own), own, key=lambda each: (each.family != "hyperx", each.spec))
    chosen = {own.spec for own in complete.values()}
    return [own for own in found if own.spec in chosen or not _is_complete(own)]


def _is_complete(own: Candidate) -> bool:
    return own.diameter == 1 and 2 * own.links == own.routers * (own.routers - 1)


def _smallest_first(families: dict[str, list[int]]) -> list[tuple[str, list[int]]]:
    """Return families by how many configurations they have: what small ones leave over goes to large ones."""
    return sorted(families.items(), key=lambda item: len(item[1]))


def _may_hold(own: Candidate, question: Question) -> bool:
    """Return whether closed forms leave it open that the requirements are met."""
    if question.max_diameter is not None and own.diameter_is == "exact" and own.diameter > question.max_diameter:
        return False
    known = own.beta_is in ("exact", "upper-bound")
    return not (question.min_bisection is not None and known and own.beta < question.min_bisection)


def _cost(found: Sequence[Candidate], prices: str) -> Array:
    """Return the dollars of a terminal's share of the routers.

    Where switches are bought whole, all routers of a network count as its largest one.
    """
    router = price_list(prices).get("router")
    if router is not None:
        routers = [router.usd * own.routers + router.usd_per_port * own.ports for own in found]
    else:
        each = _core.router_costs(read_prices(prices), max((own.radix for own in found), default=0))
        routers = [(each[own.radix] or 0.0) * own.routers for own in found]
    return np.array([usd / own.terminals for usd, own in zip(routers, found, strict=True)], dtype=float)


def _clear(found: Sequence[Candidate], cost: Array, places: "npt.NDArray[np.int64]") -> list[int]:
    """Return the places that no other one beats clearly, those of least cost first."""
    order = places[np.argsort(cost[places], kind="stable")]
    beta = np.array([min(found[place].beta, 1.0) for place in order])
    diameter = np.array([found[place].diameter for place in order], dtype=float)
    price = cost[order]
    kept: list[int] = []
    front = np.empty((0, 3))
    for first in range(0, len(order), BLOCK):
        block = np.arange(first, min(first + BLOCK, len(order)))
        # What is before the block beats most of it: only the others are looked at one by one.
        for place in block[np.logical_not(_beaten(front, price[block], beta[block], diameter[block]))]:
            if not _beaten(front, price[[place]], beta[[place]], diameter[[place]])[0]:
                kept.append(int(order[place]))
                front = np.vstack([front, (price[place], beta[place], diameter[place])])
                if len(front) > 512:  # noqa: PLR2004 - those that others beat make no difference
                    front = front[_outermost(front)]
    return kept


def _beaten(front: Array, price: Array, beta: Array, diameter: Array) -> "npt.NDArray[np.bool_]":
    """Return which configurations a row of the front (cost, bisection, diameter) beats clearly."""
    better = (front[:, 0, None] * EDGE <= price) & (front[:, 2, None] <= diameter)
    better &= front[:, 1, None] >= np.minimum(1.0, DOUBT * beta)
    beaten: npt.NDArray[np.bool_] = np.any(better, axis=0)
    return beaten


def _outermost(rows: Array) -> "npt.NDArray[np.bool_]":
    """Return which rows no other row beats in all columns."""
    worse = (rows[:, None, 0] >= rows[None, :, 0]) & (rows[:, None, 1] <= rows[None, :, 1])
    worse &= rows[:, None, 2] >= rows[None, :, 2]
    worse &= (rows[:, None] != rows[None]).any(axis=2)
    return np.logical_not(worse.any(axis=1))


def _spread(found: Sequence[Candidate], cost: Array, places: list[int], most: int) -> list[int]:
    """Return `most` of the places, as far apart in cost, bisection, diameter and concentration as can be."""
    if len(places) <= most:
        return places
    rows = np.array([
        (np.log(cost[place]), min(found[place].beta, 1.0), found[place].diameter, np.log(found[place].routers))
        for place in places
    ])  # fmt: skip
    span = np.ptp(rows, axis=0)
    rows = rows / np.where(span > 0, span, 1.0)
    chosen = [int(np.argmin(rows[:, 0]))]
    distance = np.linalg.norm(rows - rows[chosen[0]], axis=1)
    while len(chosen) < most:
        chosen.append(int(np.argmax(distance)))
        distance = np.minimum(distance, np.linalg.norm(rows - rows[chosen[-1]], axis=1))
    return [places[place] for place in sorted(chosen)]
