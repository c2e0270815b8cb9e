"""How long points take, roughly: the longest go first, and the time left is shown."""

from collections.abc import Iterable, Mapping, Sequence
from math import prod
from types import MappingProxyType

from topoloom import _core
from topoloom.studies.measurements import MEASUREMENTS
from topoloom.studies.points import StudyPoint

FACTORS = ("q", "a", "p")
"""Keys of families whose numbers multiply the number of routers or terminals."""

SIZES = ("endpoints", "down")
"""Keys of families that state the number of terminals, or numbers whose product it is."""

USUAL_CYCLES = 3000
"""About as many cycles a simulation takes whose length is not given."""

SCALED = ("warmup", "measure", "seed")
"""Options that an effort is scaled by, or that do not change it."""

MOST_DIGITS = 6
"""Longer numbers prove nothing about a size."""


class Estimates:
    """Efforts of points in seconds of one worker, learnt from points that are done.

    The first estimate of a point is the time noted beforehand, else a guess from its spec and options. It is scaled by
    how far off such estimates were of points with the same network, routing, traffic and options. If none of those is
    done, other networks count as well, else other options, then the network alone, the kind, and all points.

    Args:
        done: Points with their durations in seconds.
        noted: Seconds of points by their keys, where known beforehand; those of points done count more.

    Attributes:
        learnt_s: Seconds of the points that were learnt.

    >>> from topoloom import Study, Sweep
    >>> one, two = Study(name="two", sweep=[Sweep(kind="facts", networks=["mesh:2x2", "mesh:3x3"])]).points()
    >>> found = Estimates([(one, 2.0)], noted={two.key: 5.0})
    >>> found.effort(one), found.effort(two)
    (2.0, 5.0)
    >>> found.learn(two, 10.0)
    >>> found.effort(two), found.learnt_s
    (10.0, 10.0)
    >>> proofs = Sweep(kind="verify", networks=["mesh:2x2"], routings=["dor", "min", "val"])
    >>> dor, shortest, valiant = Study(name="three", sweep=[proofs]).points()
    >>> round(Estimates([(dor, 2.0), (shortest, 4.0)]).effort(valiant), 9)
    3.0
    """

    def __init__(
        self, done: Iterable[tuple[StudyPoint, float]] = (), noted: Mapping[str, float] = MappingProxyType({})
    ) -> None:
        self._noted = noted
        # Seconds of points that are done and what they were estimated at, by what they have in common.
        self._known: dict[tuple[str, ...], tuple[float, float]] = {}
        # What points have in common with others, by the nearest of it, and with its first estimate by their keys.
        self._alike: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
        self._traits: dict[str, tuple[list[tuple[str, ...]], float]] = {}
        self.learnt_s = 0.0
        for point, wall_s in done:
            self._add(point, wall_s)

    def effort(self, point: StudyPoint) -> float:
        """Return the estimated effort in seconds, by what is known now.

        Args:
            point: The point.
        """
        kinships, first = self._traits_of(point)
        for kinship in kinships:
            if kinship in self._known:
                taken, estimated = self._known[kinship]
                return first * taken / estimated
        return first

    def learn(self, point: StudyPoint, wall_s: float) -> None:
        """Record the duration of a point that is done.

        Args:
            point: The point.
            wall_s: Its duration in seconds.
        """
        self.learnt_s += wall_s
        self._add(point, wall_s)

    def _add(self, point: StudyPoint, wall_s: float) -> None:
        kinships, first = self._traits_of(point)
        for kinship in kinships:
            taken, estimated = self._known.get(kinship, (0.0, 0.0))
            self._known[kinship] = (taken + wall_s, estimated + first)

    def _traits_of(self, point: StudyPoint) -> tuple[list[tuple[str, ...]], float]:
        """Return what a point has in common with others, and its first estimate."""
        if point.key not in self._traits:
            noted = self._noted.get(point.key)
            # Guesses are no seconds: only those of points that were guessed alike show how far off they are.
            how = "guessed" if noted is None else "noted"
            kinships = [(how, *own) for own in _kinships(point)]
            # Points that differ in load and seed alone share one list.
            kinships = self._alike.setdefault(kinships[0], kinships)
            self._traits[point.key] = (kinships, noted or _guess(point))
        return self._traits[point.key]


def _kinships(point: StudyPoint) -> list[tuple[str, ...]]:
    """Return what a point has in common with others that take about as long, the nearest first."""
    kind = (point.kind, "of a length" if _cycles(point) else "to its end")
    simulated = (*kind, point.routing, point.traffic)
    options = _options(point)
    return [
        (*simulated, point.spec, options),
        (*simulated, options),
        (*simulated, point.spec),
        (*kind, point.spec),
        kind,
        (),
    ]


def _options(point: StudyPoint) -> str:
    """Return the options of a point whose effect on its effort is unknown, as text."""
    return str(sorted((name, str(value)) for name, value in point.options.items() if name not in SCALED))


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
    for key, value in name.values:
        if key in SIZES and all(part.isdecimal() and len(part) <= MOST_DIGITS for part in value.split("x")):
            return [int(part) for part in value.split("x")]
    keys = [(key, int(value)) for key, value in name.values if value.isdecimal() and len(value) <= MOST_DIGITS]
    first = name.sizes or (_factors(name.within) if name.within else [number for _, number in keys[:1]])
    others = keys if name.sizes or name.within else keys[1:]
    return first + [number for key, number in others if key in FACTORS]
