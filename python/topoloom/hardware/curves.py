"""Costs that depend on the size of a message, as lines between knots on logarithmic axes."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from math import exp, log

Parameters = Mapping[str, float]
"""Values by name; those of a curve are called ``curve@bytes``."""


class Curve:
    """A cost in microseconds by bytes: straight lines between knots, on logarithmic axes.

    Below the first knot it is constant; above the last it grows as the bytes do.

    Args:
        knots: Bytes and microseconds of each knot, by ascending bytes.

    >>> cost = Curve([(1, 1.0), (100, 2.0), (10000, 20.0)])
    >>> [round(cost(size), 6) for size in (0, 10, 1000, 100000)]
    [1.0, 1.414214, 6.324555, 200.0]
    >>> Curve.of({"call": 0.3, "line@1": 2.0}, "line")(0)
    2.0
    """

    def __init__(self, knots: Sequence[tuple[int, float]]) -> None:
        self._sizes = [log(size) for size, _ in knots]
        self._costs = [log(cost) for _, cost in knots]

    @classmethod
    def of(cls, parameters: Parameters, name: str) -> "Curve":
        """Return the curve whose knots are among the parameters.

        Args:
            parameters: The parameters, in microseconds.
            name: The name of the curve, unchecked.
        """
        start = f"{name}@"
        knots = [(int(key.removeprefix(start)), value) for key, value in parameters.items() if key.startswith(start)]
        return cls(sorted(knots))

    def __call__(self, size: float) -> float:
        """Return the cost of a message of `size` bytes, in microseconds."""
        at = log(max(size, 1.0))
        if at <= self._sizes[0]:
            return exp(self._costs[0])
        if at >= self._sizes[-1]:
            return exp(self._costs[-1] + at - self._sizes[-1])
        above = bisect_right(self._sizes, at)
        low, high = self._sizes[above - 1], self._sizes[above]
        part = (at - low) / (high - low)
        return exp(self._costs[above - 1] * (1 - part) + self._costs[above] * part)
