"""Cables by length in bins, for tables and for pictures."""

import math
from collections.abc import Sequence
from typing import Any


def histogram(lengths: Sequence[dict[str, Any]], most: int) -> tuple[list[tuple[str, dict[str, int]]], list[str]]:
    """Return cables by length in at most `most` bins, and the sorts there are: classes, and kinds if there are several.

    A bin is its label in metres and the number of cables of each sort. Where there are few lengths each is a bin of
    its own; otherwise bins are equally wide.

    Args:
        lengths: Cables: the class, kind, length in metres and number of each sort and length.
        most: The number of bins at most.

    >>> histogram([{"class": "local", "kind": "optical", "length_m": 2.0, "cables": 3}], 12)
    ([('2', {'local': 3})], ['local'])
    """
    sorts = sorts_of(lengths)
    different = sorted({item["length_m"] for item in lengths})
    bins: dict[float, dict[str, int]] = {}
    width = bin_width(different[-1], most) if len(different) > most else 0.0
    for item in sorted(lengths, key=lambda item: float(item["length_m"])):
        counts = bins.setdefault(item["length_m"] // width * width if width else item["length_m"], {})
        sort = sorts[item["class"], item["kind"]]
        counts[sort] = counts.get(sort, 0) + item["cables"]
    label = (lambda start: f"{start:g} to {start + width:g}") if width else "{:g}".format
    return [(label(start), counts) for start, counts in sorted(bins.items())], list(sorts.values())


def sorts_of(lengths: Sequence[dict[str, Any]]) -> dict[tuple[str, str | None], str]:
    """Return the words for each class and kind of cables; kinds are named where there are several.

    Args:
        lengths: Cables: the class and kind of each sort.

    >>> sorts_of([{"class": "up", "kind": "copper"}, {"class": "up", "kind": "optical"}])
    {('up', 'copper'): 'up, copper', ('up', 'optical'): 'up, optical'}
    """
    several = len({item["kind"] for item in lengths}) > 1
    found = dict.fromkeys((item["class"], item["kind"]) for item in lengths)
    return {(name, kind): f"{name}, {kind}" if several else name for name, kind in found}


def bin_width(longest: float, most: int) -> float:
    """Return a round width in metres, 1, 2 or 5 times a power of ten, of which at most `most` hold `longest`.

    Args:
        longest: The longest cable in metres.
        most: The number of bins at most.

    >>> bin_width(47.0, 12)
    5.0
    """
    power = 10.0 ** math.floor(math.log10(longest / most))
    return next(factor * power for factor in (1.0, 2.0, 5.0, 10.0) if longest // (factor * power) < most)
