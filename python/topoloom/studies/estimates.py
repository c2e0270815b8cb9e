"""How long points take, roughly: the longest go first, and the time left is shown."""

from collections.abc import Iterable, Mapping, Sequence
from math import prod
from types import MappingProxyType

from topoloom import _core
from topoloom.studies.measurements import MEASUREMENTS
from topoloom.studies.points import StudyPoint

FACTORS = ("q", "a", "p")
"""Keys of families whose numbers multiply the number of routers or terminals."""

USUAL_CYCLES = 3000
"""About as many cycles a simulation takes whose length is not given."""

MOST_DIGITS = 6
"""Longer numbers prove nothing about a size."""


class Estimates:
    """Efforts of points in seconds of one worker, learnt from points that are done.

    The effort of a point is the mean of those of the same network, routing and traffic, scaled by load and cycles. If
    there are none, the network alone counts, then the time noted beforehand, then a guess from the spec, scaled by how
    far off such guesses were of points of the same kind.

    Args:
        done: Points with their durations in seconds.
        noted: Seconds of points by their keys, where known beforehand; those of points done count more.

    >>> from topoloom import Study, Sweep
    >>> one, two = Study(name="two", sweep=[Sweep(kind="facts", networks=["mesh:2x2", "mesh:3x3"])]).points()
    >>> found = Estimates([(one, 2.0)], noted={two.key: 5.0})
    >>> found.effort(one), found.effort(two)
    (2.0, 5.0)
    >>> found.learn(two, 10.0)
    >>> found.scale("facts"), found.learnt_s  # twice as long as was estimated
    (2.0, 10.0)
    >>> proofs = Sweep(kind="verify", networks=["mesh:2x2"], routings=["dor", "min", "val"])
    >>> dor, shortest, valiant = Study(name="three", sweep=[proofs]).points()
    >>> round(Estimates([(dor, 2.0), (shortest, 4.0)]).effort(valiant), 9)
    3.0
    """

    def __init__(
        self, done: Iterable[tuple[StudyPoint, float]] = (), noted: Mapping[str, float] = MappingProxyType({})
    ) -> None:
        self._noted = noted
        self._known: dict[tuple[str, ...], tuple[float, int]] = {}
        # Seconds of points that are done, and what would have been guessed for them, by kind.
        self._guessed: dict[tuple[str, str], tuple[float, float]] = {}
        self._efforts: dict[str, float] = {}
        for point, wall_s in done:
            self._add(point, wall_s)
        # Of points that were done since: seconds and efforts, by kind.
        self._taken: dict[str, tuple[float, float]] = {}

    def effort(self, point: StudyPoint) -> float:
        """Return the estimated effort in seconds; it does not change once it has been asked for.

        Args:
            point: The point.
        """
        if point.key not in self._efforts:
            self._efforts[point.key] = self._estimate(point)
        return self._efforts[point.key]

    def learn(self, point: StudyPoint, wall_s: float) -> None:
        """Record the duration of a point that is done.

        Args:
            point: The point.
            wall_s: Its duration in seconds.
        """
        taken, effort = self._taken.get(point.kind, (0.0, 0.0))
        self._taken[point.kind] = (taken + wall_s, effort + self.effort(point))
        self._add(point, wall_s)

    @property
    def learnt_s(self) -> float:
        """Seconds of the points that were learnt."""
        return sum(taken for taken, _ in self._taken.values())

    def scale(self, kind: str) -> float:
        """Return how much longer points of a kind took that were learnt than was estimated, or all if none was.

        Args:
            kind: The kind, unchecked.

        Returns:
            Seconds over estimated seconds; 1 before any point is learnt.
        """
        alike = [self._taken[kind]] if kind in self._taken else list(self._taken.values())
        effort = sum(efforts for _, efforts in alike)
        return sum(taken for taken, _ in alike) / effort if effort else 1.0

    def _estimate(self, point: StudyPoint) -> float:
        for kinship in _kinships(point):
            if kinship in self._known:
                total, count = self._known[kinship]
                return total / count * _load(point)
        if (noted := self._noted.get(point.key)) is not None:
            return noted
        taken, guessed = self._guessed.get(_kind(point), (0.0, 0.0))
        return _guess(point) * (taken / guessed if guessed else 1.0)

    def _add(self, point: StudyPoint, wall_s: float) -> None:
        taken, guessed = self._guessed.get(_kind(point), (0.0, 0.0))
        self._guessed[_kind(point)] = (taken + wall_s, guessed + _guess(point))
        for kinship in _kinships(point):
            total, count = self._known.get(kinship, (0.0, 0))
            self._known[kinship] = (total + wall_s / _load(point), count + 1)


def _kinships(point: StudyPoint) -> list[tuple[str, ...]]:
    """Return what a point has in common with others that take about as long, the nearest first."""
    return [(*_kind(point), point.spec, point.routing, point.traffic), (*_kind(point), point.spec)]


def _kind(point: StudyPoint) -> tuple[str, str]:
    """Return the kind of a point, and whether its length is given."""
    return point.kind, "of a length" if _cycles(point) else "to its end"


def _cycles(point: StudyPoint) -> int:
    """Return the cycles of a simulation whose length is given; 0 where it finds its end itself, or is none."""
    options = point.settings.get("options", {})
    warmup, measure = (options.get(name) for name in ("warmup", "measure"))
    return 0 if warmup is None or measure is None else int(warmup) + int(measure)


def _load(point: StudyPoint) -> float:
    """Return what the effort is proportional to, by and large: the load, over a fixed part, and cycles if given."""
    return (0.05 + (0.5 if point.load is None else point.load)) * ((_cycles(point) or USUAL_CYCLES) / USUAL_CYCLES)


def shared(seconds: float, points: Sequence[StudyPoint]) -> dict[str, float]:
    """Return the seconds of each of some points, by key: their shares of the time of all of them.

    Args:
        seconds: The time of all points together, in seconds.
        points: The points.

    >>> from topoloom import Study, Sweep
    >>> points = Study(name="two", sweep=[Sweep(kind="facts", networks=["mesh:2x2", "mesh:4x4"])]).points()
    >>> list(shared(10.0, points).values())
    [2.0, 8.0]
    >>> specs = ["hyperx:4x4,p=2", "hyperx:4x4,p=3", "slimfly:q=5,p=4", "slimfly:q=4,p=7"]
    >>> points = Study(name="four", sweep=[Sweep(kind="facts", networks=specs)]).points()
    >>> [round(seconds) for seconds in shared(128.0, points).values()]
    [32, 48, 20, 28]
    """
    whole = sum(map(_guess, points))
    return {point.key: seconds * _guess(point) / whole for point in points}


def _guess(point: StudyPoint) -> float:
    """Return an effort for a network of which nothing is known: by its numbers, which show how large it is."""
    factors = _factors(point.spec) or [100]
    size = min(max(prod(factors), 1), 10**7)
    return MEASUREMENTS[point.kind].effort * _load(point) * size / 1000


def _factors(spec: str) -> list[int]:
    """Return the numbers in a spec that its size grows with, as far as its text shows."""
    try:
        name = _core.Name("topology", spec)
    except _core.TopoloomError:
        return []
    keys = [(key, int(value)) for key, value in name.values if value.isdecimal() and len(value) <= MOST_DIGITS]
    first = name.sizes or (_factors(name.within) if name.within else [number for _, number in keys[:1]])
    others = keys if name.sizes or name.within else keys[1:]
    return first + [number for key, number in others if key in FACTORS]
