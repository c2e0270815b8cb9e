"""Machines that stand: their cabling lists permuted, the moves that lead there, and what that does to bandwidth."""

import json
from pathlib import Path
from typing import NamedTuple

from topoloom import _core
from topoloom.engine import results
from topoloom.files import read_text
from topoloom.network.bisection import candidates
from topoloom.simulation.option_types import MOST_U32, MOST_U64
from topoloom.simulation.options import check_whole


class Cabling(results.DistanceSummary, results.Bandwidth):
    """Distances and bandwidth of a machine."""


class PermutationSummary(results.PermutationSummary):
    """What the permutation of a cabling list came to.

    Attributes:
        before: Distances and bandwidth before.
        after: Distances and bandwidth behind the last move.
        losses: A clause for each measure of bandwidth that fell.
    """

    before: Cabling
    after: Cabling
    losses: list[str]


class Permutation(NamedTuple):
    """A cabling list, permuted.

    Attributes:
        told: The results, by the keys of ``topoloom permute --json``.
        moves: The moves, one per line, as CSV.
        cabling: The list afterwards, as CSV.
    """

    told: PermutationSummary
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
    r"""Permute a machine's cables, and state in which order its ends of cables are moved.

    Args:
        path: The cabling list: CSV of switch, port and cabinet at either end of each cable.
        method: ``two-cab``, ``three-cab``, ``one-step``, or ``optimised``, which searches.
        trials: The number of permutations, of which the best is taken.
        swappable: The probability that a pair of cables may exchange ends.
        seed: The seed.
        keep: ``bandwidth`` lets a search accept only what lowers neither the bisection nor a channel-load bound.
        steps: Exchanges that each of four searches looks at; unless given, as many as the network's size suggests.

    Raises:
        TopoloomError: A list that cannot be read or has a mistake, which is reported with its line; a network that is
            not connected; an argument that is not allowed.

    >>> import tempfile
    >>> ring = [f"s{i},0,c{i // 4},s{(i + 1) % 16},1,c{(i + 1) % 16 // 4}" for i in range(16)]
    >>> across = [f"s{i},2,c{i // 4},s{i + 8},2,c{i // 4 + 2}" for i in range(8)]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     list_of_cables = Path(folder, "machine.csv")
    ...     size = list_of_cables.write_text("\n".join(ring + across))
    ...     permuted = permute_list(list_of_cables, trials=2)
    >>> len(permuted.cabling.splitlines())
    25
    """
    check_whole("trials", trials, 1, MOST_U32)
    check_whole("seed", seed, 0, MOST_U64)
    if steps is not None:
        check_whole("steps", steps, 1, MOST_U64)
    text = read_text(path, "the cabling list")
    how = {"method": method, "trials": trials, "swappable": swappable, "seed": seed, "keep": keep, "steps": steps}
    told, moves, cabling, before, after = _core.permute_list(str(path), text, json.dumps(how))
    bandwidth = bandwidth_side_by_side(before, after)
    sides = {"before": told.before | bandwidth.before, "after": told.after | bandwidth.after}
    return Permutation(PermutationSummary(told | sides | {"losses": bandwidth.losses}), moves, cabling)


def bandwidth_side_by_side(before: _core.Network, after: _core.Network) -> results.BandwidthComparison:
    """Return how much two networks with the same routers and terminals carry, both measured by the same means.

    Both bisections start from the same partitions, and the worst-case traffic of each network is tried on both.

    Args:
        before: The engine's network, ``Network.core``.
        after: One with the same routers and terminals.

    Returns:
        ``before`` and ``after``: ``bisection_links``, ``bisection_is``, ``beta``, and ``uniform_bound`` and
        ``worst_case_bound``, the loads that minimal routing (``min``) carries by expected channel load, in flits per
        terminal per cycle; ``losses``, a clause for each of them that fell.

    >>> import topoloom
    >>> both = [topoloom.network(spec).core for spec in ("mesh:4x4", "torus:4x4")]
    >>> found = bandwidth_side_by_side(*both)
    >>> found.before.bisection_links, found.after.bisection_links
    (4, 8)
    """
    partitions = list(candidates(before)), list(candidates(after))
    return _core.bandwidth_side_by_side(before, after, partitions)
