"""Machines that stand: their cabling lists permuted, and the moves that lead there."""

import json
from pathlib import Path
from typing import Any, NamedTuple

from topoloom import _core
from topoloom._core import TopoloomError


class Permuted(NamedTuple):
    """A cabling list, permuted.

    Attributes:
        told: What came of it, by the keys of ``topoloom permute --json``.
        moves: The moves, one a line, as CSV.
        cabling: The list afterwards, as CSV.
    """

    told: dict[str, Any]
    moves: str
    cabling: str


def permute_list(
    path: str | Path, method: str = "two-cab", *, trials: int = 20, swappable: float = 1.0, seed: int = 1
) -> Permuted:
    """Permute a machine's cables, and say in which order its ends of cables are moved.

    Args:
        path: The cabling list: CSV of switch, port and cabinet at either end of each cable.
        method: ``two-cab``, ``three-cab`` or ``one-step``.
        trials: Permutations of which the best is taken.
        swappable: The probability that a pair of cables may exchange ends.
        seed: The seed.

    Raises:
        TopoloomError: A list that cannot be read or has a mistake, which is told with its line; a network that is not
            connected; an argument that is not allowed.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise TopoloomError(f"{path}: it is not UTF-8 text") from None
    except OSError as error:
        raise TopoloomError(f"the cabling list {path} cannot be read: {error.strerror}") from None
    told, moves, cabling = _core.permute_list(str(path), text, method, trials, swappable, seed)
    return Permuted(json.loads(told), moves, cabling)
