"""The drawings of the networks and the loads of their channels, packed for the script that draws them."""

from base64 import b64encode
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoloom.network.networks import Network
from topoloom.plotting.families import sketch
from topoloom.plotting.sketch import BEND_STEPS, Points, Sketch, Stroke
from topoloom.report.comparison import Comparison
from topoloom.simulation.curves import Curve

MOST_DRAWN = 20_000
"""Links that a report draws, in all of its networks."""

MOST_MAPPED = 400_000
"""Channels whose load a report holds, a byte each, in all of its curves."""

SPAN = 16_000
"""The longer side of a drawing, in the whole numbers that positions are rounded to."""

BUSIEST = 10
"""Channels that the table of the busiest lists."""

LEVELS = 255
"""Steps to which the load of a channel is rounded on a map; 1 flit per cycle is the last one."""


def pack(values: NDArray[Any]) -> dict[str, str]:
    """Return whole numbers from 0 on as text: the type that holds the largest, and its little-endian bytes.

    Args:
        values: The numbers, an array of any shape, which is lost.

    >>> pack(np.array([1, 258]))
    {'type': 'u2', 'bytes': 'AQACAQ=='}
    """
    largest = int(values.max(initial=0))
    name = next(name for name in ("u1", "u2", "u4") if largest <= np.iinfo(name).max)
    return {"type": name, "bytes": b64encode(values.astype(f"<{name}").tobytes()).decode()}


def drawings(comparison: Comparison) -> list[dict[str, Any]]:
    """Return what the script draws of each network, or why it draws nothing.

    Args:
        comparison: The comparison.

    >>> made = Comparison([], [], [], [], [], finished=True, networks=[Network("mesh:2x2"), Network("hyperx:150x2")])
    >>> [(one["spec"], one.get("routers"), one["why"]) for one in drawings(made)]
    [('mesh:2x2', 4, ''), ('hyperx:150x2', None, 'its 22,500 links are more than this page has room for')]
    """
    told, room = [], MOST_DRAWN
    for network in comparison.networks:
        links = len(network.edges())
        if links > room:
            drawn: dict[str, Any] = {"why": f"its {links:,} links are more than this page has room for"}
        else:
            drawn = _drawing(network)
            room -= links
        told.append({"spec": network.spec} | drawn)
    return told


def _drawing(network: Network) -> dict[str, Any]:
    drawn = sketch(network.core)
    corners = [drawn.places, *(stroke.lines.reshape(-1, 2) for stroke in drawn.strokes), *drawn.outlines]
    points = np.concatenate([*corners, np.array([[x, y] for x, y, _ in drawn.labels]).reshape(-1, 2)])
    low, high = points.min(axis=0), points.max(axis=0)
    scale = SPAN / max(*(high - low), 1e-9)

    def rounded(values: Points) -> NDArray[np.int64]:
        """Round positions, counted from the top left corner."""
        steps: Points = np.stack([values[..., 0] - low[0], high[1] - values[..., 1]], axis=-1) * scale
        return np.rint(steps).astype(np.int64)

    left = drawn.places[:, 0].min()
    return {
        "why": "",
        "routers": len(drawn.places),
        "terminals": network.num_terminals,
        "size": [round(side) for side in (high - low) * scale],
        "spacing": round(drawn.spacing * scale),
        "places": pack(rounded(drawn.places)),
        "strokes": [
            {
                "label": stroke.label,
                "colour": stroke.colour,
                "dashed": stroke.dashed,
                "count": len(stroke.lines),
                **_line_shape(stroke),
                "lines": pack(rounded(_knots(stroke))),
                "ends": pack(_ends(drawn, stroke)),
            }
            for stroke in drawn.strokes
            if len(stroke.lines)
        ],
        "outlines": [rounded(outline).ravel().tolist() for outline in drawn.outlines],
        "labels": [
            [*rounded(np.array([x, y])).tolist(), text, "right" if x < left and not text.isdigit() else "center"]
            for x, y, text in drawn.labels
        ],
    }


def _line_shape(stroke: Stroke) -> dict[str, Any]:
    knots = _knots(stroke)
    return {"points": knots.shape[1], "bent": knots.shape[1] != stroke.lines.shape[1]}


def _knots(stroke: Stroke) -> Points:
    """Return the points that make a line: of a bent one its ends and its middle, through which one parabola goes."""
    if stroke.lines.shape[1] == BEND_STEPS + 1:
        return stroke.lines[:, [0, BEND_STEPS // 2, BEND_STEPS]]
    return stroke.lines


def _ends(drawn: Sketch, stroke: Stroke) -> NDArray[np.int64]:
    """Return the routers (links, 2) at which the lines of a stroke begin and end."""
    where = {place: router for router, place in enumerate(map(tuple, np.round(drawn.places, 6)))}
    ends = np.round(stroke.lines[:, [0, -1]], 6)
    return np.array([[where[tuple(end)] for end in line] for line in ends], dtype=np.int64).reshape(-1, 2)


def heat_maps(comparison: Comparison) -> dict[str, Any]:
    """Return the ends of the channels of each network, and for each curve that has them the loads of its channels.

    Curves beyond :data:`MOST_MAPPED` channels are left out.

    Args:
        comparison: The comparison.

    >>> import topoloom
    >>> found = topoloom.compare(["mesh:2x2"], ["minimal"], load=[0.1, 0.2], warmup=10, measure=100)
    >>> [(curve["routing"], len(curve["busiest"])) for curve in heat_maps(found)["curves"]]
    [('dor', 8)]
    """
    specs = [network.spec for network in comparison.networks]
    mapped, room = [], MOST_MAPPED
    for curve in comparison.curves:
        if curve.channels is not None and curve.spec in specs and len(curve.channels.flits) <= room:
            room -= len(curve.channels.flits)
            mapped.append(curve)
    edges = {spec: network.edges() for spec, network in zip(specs, comparison.networks, strict=True)}
    return {
        "networks": [
            {"spec": spec, "routers": network.num_routers, "ends": pack(_link_ends(edges[spec]))}
            for spec, network in zip(specs, comparison.networks, strict=True)
        ]
        if mapped
        else [],
        "left_out": sum(curve.points != {} for curve in comparison.curves) - len(mapped),
        "curves": [_heat_map(curve, specs.index(curve.spec), edges[curve.spec]) for curve in mapped],
    }


def _link_ends(edges: list[tuple[int, int, int, int, str]]) -> NDArray[np.int64]:
    return np.array([(router_a, router_b) for router_a, _, router_b, _, _ in edges], dtype=np.int64).reshape(-1, 2)


def _heat_map(curve: Curve, network: int, edges: list[tuple[int, int, int, int, str]]) -> dict[str, Any]:
    assert curve.channels is not None
    flits = curve.channels.flits
    order = np.argsort(-flits, kind="stable")[:BUSIEST]
    return {
        "network": network,
        "routing": curve.routing,
        "role": curve.role,
        "traffic": curve.traffic,
        "load": curve.channels.load,
        "flits": pack(np.rint(LEVELS * np.clip(flits, 0, 1)).astype(np.int64)),
        "mean": round(float(flits.mean()), 4) if len(flits) else 0.0,
        "busiest": [[*_channel(edges, int(place)), round(float(flits[place]), 4)] for place in order],
    }


def _channel(edges: list[tuple[int, int, int, int, str]], channel: int) -> tuple[int, int, int, str]:
    """Return the router and port that a channel leaves, the router that it leads to, and its class of links."""
    router_a, port_a, router_b, port_b, link_class = edges[channel // 2]
    there = (router_a, port_a, router_b, link_class)
    return there if channel % 2 == 0 else (router_b, port_b, router_a, link_class)
