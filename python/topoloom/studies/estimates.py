"""How long points take, roughly: the longest go first, and the time left is shown."""

from collections.abc import Iterable, Mapping, Sequence
from math import prod
from types import MappingProxyType

from topoloom import _core
from topoloom.studies.measurements import MEASUREMENTS
from topoloom.studies.points import StudyPoint

FACTORS = ("q", "a", "p")
"""Keys of families whose numbers multiply the number of routers or terminals."""

MOST_DIGITS = 6
"""Longer numbers say nothing of a size."""


class Estimates:
    """Efforts of points in seconds of one worker, learnt from points that are done.

    Args:
        done: Points with how long they took, in seconds.
        noted: Seconds of points by their keys, as far as they are known beforehand; those of points done count more.
    """

    def __init__(
        self, done: Iterable[tuple[StudyPoint, float]] = (), noted: Mapping[str, float] = MappingProxyType({})
    ) -> None:
        self._noted = noted
        self._known: dict[tuple[str, ...], tuple[float, int]] = {}
        self._efforts: dict[str, float] = {}
        for point, wall_s in done:
            self._add(point, wall_s)
        self.learnt = 0.0

    def effort(self, point: StudyPoint) -> float:
        """Return the estimated effort; it does not change once it has been asked for."""
        if point.key not in self._efforts:
            self._efforts[point.key] = self._estimate(point)
        return self._efforts[point.key]

    def learn(self, point: StudyPoint, wall_s: float) -> None:
        """Take note of a point that is done."""
        self.learnt += self.effort(point)
        self._add(point, wall_s)

    def _estimate(self, point: StudyPoint) -> float:
        for kinship in _kinships(point):
            if kinship in self._known:
                total, count = self._known[kinship]
                return total / count * _load(point)
        return self._noted.get(point.key) or guess(point)

    def _add(self, point: StudyPoint, wall_s: float) -> None:
        for kinship in _kinships(point):
            total, count = self._known.get(kinship, (0.0, 0))
            self._known[kinship] = (total + wall_s / _load(point), count + 1)


def _kinships(point: StudyPoint) -> list[tuple[str, ...]]:
    """Return what a point has in common with others that take about as long, the nearest first."""
    return [(point.kind, point.spec, point.routing, point.traffic), (point.kind, point.spec)]


def _load(point: StudyPoint) -> float:
    """Return what the effort is proportional to, by and large: the load, over a fixed part."""
    return 0.05 + (0.5 if point.load is None else point.load)


def shared(seconds: float, points: Sequence[StudyPoint]) -> dict[str, float]:
    """Return the seconds of each of some points, by their keys: their parts of what all of them take."""
    whole = sum(map(guess, points))
    return {point.key: seconds * guess(point) / whole for point in points}


def guess(point: StudyPoint) -> float:
    """Return an effort for a network of which nothing is known: by its numbers, which say how large it is."""
    factors = _factors(point.spec) or [100]
    size = min(max(prod(factors), 1), 10**7)
    return MEASUREMENTS[point.kind].effort * _load(point) * size / 1000


def _factors(spec: str) -> list[int]:
    """Return the numbers in a spec that its size grows with, as far as a look at it says."""
    try:
        name = _core.Name("topology", spec)
    except _core.TopoloomError:
        return []
    keys = [(key, int(value)) for key, value in name.values if value.isdecimal() and len(value) <= MOST_DIGITS]
    first = name.sizes or (_factors(name.within) if name.within else [number for _, number in keys[:1]])
    others = keys if name.sizes or name.within else keys[1:]
    return first + [number for key, number in others if key in FACTORS]
