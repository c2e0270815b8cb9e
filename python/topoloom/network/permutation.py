"""Machines that stand: their cabling lists permuted, the moves that lead there, and what that does to bandwidth."""

import json
from pathlib import Path
from typing import Any, NamedTuple

from topoloom import _core
from topoloom.files import read_text
from topoloom.network.bisection import candidates
from topoloom.simulation.options import MOST_U32, MOST_U64, check_whole


class Permutation(NamedTuple):
    """A cabling list, permuted.

    Attributes:
        told: What came of it, by the keys of ``topoloom permute --json``; ``losses`` has a clause for each measure of
            bandwidth that the permutation lowers.
        moves: The moves, one a line, as CSV.
        cabling: The list afterwards, as CSV.
    """

    told: dict[str, Any]
    moves: str
    cabling: str


def permute_list(
    path: str | Path,
    method: str = "two-cab",
    *,
    trials: int = 20,
    swappable: float = 1.0,
    seed: int = 1,
    keep: str | None = None,
    steps: int | None = None,
) -> Permutation:
    """Permute a machine's cables, and say in which order its ends of cables are moved.

    Args:
        path: The cabling list: CSV of switch, port and cabinet at either end of each cable.
        method: ``two-cab``, ``three-cab``, ``one-step``, or ``optimised``, which searches.
        trials: Permutations of which the best is taken.
        swappable: The probability that a pair of cables may exchange ends.
        seed: The seed.
        keep: ``bandwidth`` lets a search accept only what lowers neither the bisection nor a channel-load bound.
        steps: Exchanges that each of four searches looks at; unless given, as many as the network's size suggests.

    Raises:
        TopoloomError: A list that cannot be read or has a mistake, which is reported with its line; a network that is
            not connected; an argument that is not allowed.
    """
    check_whole("trials", trials, 1, MOST_U32)
    check_whole("seed", seed, 0, MOST_U64)
    if steps is not None:
        check_whole("steps", steps, 1, MOST_U64)
    text = read_text(path, "the cabling list")
    how = {"method": method, "trials": trials, "swappable": swappable, "seed": seed, "keep": keep, "steps": steps}
    text, moves, cabling, before, after = _core.permute_list(str(path), text, json.dumps(how))
    told, bandwidth = json.loads(text), bandwidth_side_by_side(before, after)
    for when in ("before", "after"):
        told[when] |= bandwidth[when]
    return Permutation(told | {"losses": bandwidth["losses"]}, moves, cabling)


def bandwidth_side_by_side(before: _core.Network, after: _core.Network) -> dict[str, Any]:
    """Return how much two networks with the same routers and terminals carry, both measured by the same means.

    Both bisections start from the same partitions, and the worst-case traffic of each network is tried on both.

    Returns:
        ``before`` and ``after``: ``bisection_links``, ``bisection_is``, ``beta``, and ``uniform_bound`` and
        ``worst_case_bound``, the loads that minimal routing (``min``) carries by expected channel load, in flits per
        terminal per cycle; ``losses``, a clause for each of them that fell.
    """
    partitions = list(candidates(before)), list(candidates(after))
    told: dict[str, Any] = json.loads(_core.bandwidth_side_by_side(before, after, partitions))
    return told
