"""The first stage of a design: which of all configurations are built, by closed forms."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from topoloom import _core
from topoloom.design.candidates import Candidate
from topoloom.design.question import Question
from topoloom.design.ranking import router_costs, unbeaten
from topoloom.design.selection import PRACTICAL
from topoloom.design.shapes import TREES
from topoloom.design.windows import MOST_FLITS

Array = npt.NDArray[np.float64]

BUILT_TERMINALS = 100_000
"""The total number of terminals of the networks that are built, about …"""

LEAST_BUILT = 60
"""… and the least number of these networks."""

LARGE_BUILT = 24
"""The number of networks that are built if they are too large to be simulated: the bounds of one take half a minute."""

MOST_ROUTERS = {"": 6000, "random-regular": 2500, "ring": 2500} | dict.fromkeys(TREES, 12_000)
"""The most routers of these, by family: each pair of them counts, of trees that of leaves, and in random graphs each
next hop."""

EDGE = 1.1
"""A configuration of the same family has to be this much cheaper to drop another one."""

WIDER = {"exact": 2.0, "lower-bound": 2.0, "estimate": 3.0}
"""A configuration of another family drops one if it is cheaper by :data:`EDGE` and its bisection is larger by this
factor, up to full bisection: estimates are up to 2.9 times too high."""

BLOCK = 1024
"""Configurations that are compared with the others together."""

DOUBT = 1.25
"""And its bisection has to be larger by this factor, up to full bisection: it is an estimate."""


def in_doubt(found: Sequence[Candidate], question: Question, dropped: Counter[str]) -> list[Candidate]:
    """Return the configurations to build, and count why others are not.

    Dropped is what misses a requirement for certain; what another configuration, of any family, is far ahead of in cost
    and bisection; what another one of its family beats clearly in cost, bisection and diameter, all by closed forms;
    and, where more are left than can be built, what lies between others.

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
    trees = {own.spec for own in able if own.family == "xgft"}
    different = [own for own in able if own.family != "rack-tree" or _as_xgft(own.spec) not in trees]
    dropped["is the same tree as one of another family"] += len(able) - len(different)
    able = different
    if question.least_terminals > MOST_FLITS:
        bounded = [own for own in able if own.routers <= MOST_ROUTERS.get(own.family, MOST_ROUTERS[""])]
        dropped["more routers than bounds of the throughput are computed of"] += len(able) - len(bounded)
        able = bounded
    cost = router_costs(able, question.prices)
    far = _far_behind(able, cost)
    dropped["another network, of any family, is far ahead by closed forms"] += int(far.sum())
    families: dict[str, list[int]] = {}
    for place in np.flatnonzero(np.logical_not(far)):
        families.setdefault(able[place].family, []).append(int(place))
    fronts = [_clear(able, cost, np.array(places)) for places in families.values()]
    clear = sum(map(len, fronts))
    dropped["another of its family is clearly better by closed forms"] += len(able) - int(far.sum()) - clear
    kept = _thinned(able, cost, fronts, question)
    dropped["lies between others that are built"] += clear - len(kept)
    return [able[place] for place in kept]


def _thinned(found: Sequence[Candidate], cost: Array, fronts: list[list[int]], question: Question) -> list[int]:
    """Return as many positions of the families' fronts as can be built.

    Networks that carry too little to be finalists have a tenth of them, whatever their families. The others are
    spread over each family, in equal parts; what small families leave over goes to large ones.
    """
    large = question.least_terminals > MOST_FLITS
    room = LARGE_BUILT if large else max(LEAST_BUILT, BUILT_TERMINALS // max(question.least_terminals, 1))
    if sum(map(len, fronts)) <= room:
        return [place for front in fronts for place in front]
    least = PRACTICAL if question.min_throughput is None else question.min_throughput
    strong = [[place for place in front if 2 * DOUBT * found[place].beta >= least] for front in fronts]
    chosen = {place for front in strong for place in front}
    weak = sorted((place for front in fronts for place in front if place not in chosen), key=lambda place: cost[place])
    kept = _spread(found, cost, weak, room // 10 if chosen else room) if weak else []
    families = sorted((front for front in strong if front), key=len)
    for left, front in zip(range(len(families), 0, -1), families, strict=True):
        kept += _spread(found, cost, front, max(1, (room - len(kept)) // left))
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


def _as_xgft(spec: str) -> str | None:
    """Return a rack tree as an XGFT if it is one: a single switch in each rack, and one link from it to each leaf."""
    told = dict(_core.Name("topology", spec).values)
    if (told["upper"], told["trunk"]) != ("1", "1"):
        return None
    trunk = f",trunk=1x{told['links']}" if told["links"] != "1" else ""
    return f"xgft:down={told['p']}x{told['leaf']}x{told['racks']},up=1x{told['top']}{trunk}"


def _is_complete(own: Candidate) -> bool:
    return own.diameter == 1 and 2 * own.links == own.routers * (own.routers - 1)


def _may_hold(own: Candidate, question: Question) -> bool:
    """Return whether closed forms leave it open that the requirements are met."""
    if question.max_diameter is not None and own.diameter_is == "exact" and own.diameter > question.max_diameter:
        return False
    known = own.beta_is in ("exact", "upper-bound")
    return not (question.min_bisection is not None and known and own.beta < question.min_bisection)


def _far_behind(found: Sequence[Candidate], cost: Array) -> "npt.NDArray[np.bool_]":
    """Return which configurations are far behind another one, of any family, in bisection, and not cheaper or nearer.

    An upper bound of a bisection is no lower bound.
    """
    beta, diameter = (np.array([getattr(own, name) for own in found], dtype=float) for name in ("beta", "diameter"))
    factor = np.array([WIDER.get(own.beta_is, np.inf) for own in found])
    rows = np.column_stack([cost, -np.minimum(beta, 1.0) / factor, diameter])
    far = np.zeros(len(found), dtype=bool)
    # What others beat in all three makes no difference.
    for price, wide, across in rows[unbeaten(rows)]:
        enough = np.minimum(1.0 / WIDER["exact"], beta)
        far |= (price * EDGE <= cost) & (-wide >= enough) & (across <= diameter)
    return far


def _clear(found: Sequence[Candidate], cost: Array, places: "npt.NDArray[np.int64]") -> list[int]:
    """Return the positions that no other one beats clearly, those of least cost first."""
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
    """Return `most` of the positions, as far apart in cost, bisection, diameter and concentration as can be."""
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
