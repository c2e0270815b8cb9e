"""What a drawing consists of, before anything is drawn: positions of routers, strokes of links, labels."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.float64]
"""Positions in the plane, one per row."""

BEND_STEPS = 16
"""Straight pieces of a bent line."""


@dataclass(frozen=True)
class Stroke:
    """Links that are drawn alike.

    Attributes:
        label: What the legend calls them.
        colour: Which colour of the palette they have.
        lines: An array (links, points of a line, 2).
        dashed: Draw them with dashes.
    """

    label: str
    colour: int
    lines: Points
    dashed: bool = False


@dataclass
class Sketch:
    """A drawing of a network.

    Attributes:
        places: Positions of the routers.
        strokes: Links, those to be drawn last at the end.
        outward: The direction in which a router's terminals stand, one per router.
        labels: Text beside groups and layers: (x, y, text).
        outlines: Corners of areas behind routers, such as layers.
        spacing: The distance of neighbouring routers, which sizes follow.
    """

    places: Points
    strokes: list[Stroke]
    outward: Points
    labels: list[tuple[float, float, str]] = field(default_factory=list)
    outlines: list[Points] = field(default_factory=list)
    spacing: float = 1.0


def straight(places: Points, ends: NDArray[np.int64]) -> Points:
    """Return straight lines between routers, an array of shape (links, 2, 2).

    Args:
        places: Positions of the routers, an array of shape (routers, 2).
        ends: Routers at the ends of the links, an array of shape (links, 2).

    >>> straight(np.array([[0.0, 0.0], [1.0, 0.0]]), np.array([[0, 1]])).tolist()
    [[[0.0, 0.0], [1.0, 0.0]]]
    """
    return places[ends]


def bent(places: Points, ends: NDArray[np.int64], bulge: Points | Sequence[float]) -> Points:
    """Return lines that bulge sideways, an array of shape (links, points, 2).

    Args:
        places: Positions of the routers, an array of shape (routers, 2).
        ends: Routers at the ends of the links, an array of shape (links, 2).
        bulge: The displacement of the middle: one vector for all links, or an array of shape (links, 2).

    >>> bent(np.array([[0.0, 0.0], [1.0, 0.0]]), np.array([[0, 1]]), [0.0, 0.5])[0, BEND_STEPS // 2].tolist()
    [0.5, 0.5]
    """
    first, last = places[ends[:, 0]], places[ends[:, 1]]
    return through(first, (first + last) / 2 + 2 * np.asarray(bulge), last)


def through(first: Points, control: Points, last: Points) -> Points:
    """Return quadratic Bézier curves, an array of shape (lines, points, 2).

    Args:
        first: Where they begin, an array of shape (lines, 2).
        control: Their control points: one for all, or an array of shape (lines, 2).
        last: Where they end, an array of shape (lines, 2).

    >>> through(np.zeros((1, 2)), np.array([1.0, 2.0]), np.ones((1, 2)))[0, BEND_STEPS // 2].tolist()
    [0.75, 1.25]
    """
    t = np.linspace(0, 1, BEND_STEPS + 1)[None, :, None]
    control = np.broadcast_to(control, first.shape)
    return (1 - t) ** 2 * first[:, None] + 2 * t * (1 - t) * control[:, None] + t**2 * last[:, None]


def on_circle(count: int, radius: float = 1.0, start: float = np.pi / 2) -> Points:
    """Return positions on a circle around the origin, clockwise, an array of shape (count, 2).

    Args:
        count: The number of positions.
        radius: The radius, in the sketch's own units: 1 is the unit of many drawings.
        start: The angle of the first place in radians.

    >>> np.round(on_circle(4), 9).tolist()[:2]
    [[0.0, 1.0], [1.0, 0.0]]
    """
    angles = start - 2 * np.pi * np.arange(count) / max(count, 1)
    return radius * np.column_stack([np.cos(angles), np.sin(angles)])


def unit(vectors: Points) -> Points:
    """Return vectors of length 1 in the same directions; a vector of no length points down.

    Args:
        vectors: The vectors, an array of shape (vectors, 2).

    >>> unit(np.array([[3.0, 4.0], [0.0, 0.0]])).tolist()
    [[0.6, 0.8], [0.0, -1.0]]
    """
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    down = np.array([0.0, -1.0])
    return np.where(length > 0, vectors / np.where(length > 0, length, 1), down)
