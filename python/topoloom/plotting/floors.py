"""Floors, drawn: cabinets with the cables between them, lengths, cost and power in parts."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import FuncFormatter, MaxNLocator

from topoloom.plotting.histogram import bin_width, sorts_of
from topoloom.plotting.pictures import GREY, INK, MOST_VECTOR_LINES, PALE, PALETTE, PAPER, check_path, plain, save, svg
from topoloom.wording import counted

WIDTH, HEIGHT = 11.0, 5.6
"""Inches of the picture of one floor."""

TALLEST = 10.0
"""Inches of the picture of a floor that is deeper than wide."""

MOST_BARS = 24
"""Bars of the histogram of lengths."""

MOST_TICKS = 12
"""The largest number of rows or columns that are all named at the edge."""

MOST_POINTS, LEAST_POINTS = 6.5, 1.5
"""Sizes of cabinets' numbers; smaller ones are left out."""

SHADES = LinearSegmentedColormap.from_list("cabinets", ["#eef2f6", "#9db8d6"])
NODES = "#f6ead9"
"""Cabinets that hold terminals alone."""
AISLE = "#eef0e6"
"""Aisles of their own; one that is part of a place's depth is not seen."""

HATCHES = ("", "////", "....", "xxxx")
"""Kinds of cable in the histogram."""

CLASS_COLOURS = {
    "terminal": PALE,
    "local": PALETTE[0],
    "global": PALETTE[1],
    "up": PALETTE[1],
    "internal": PALETTE[2],
    "nic": PALE,
}


class FloorPlan(Protocol):
    """What is drawn: :class:`topoloom.Layout` has it."""

    @property
    def spec(self) -> str:
        """The network."""

    def floor(self) -> dict[str, Any]:
        """Return the floor, by the keys of ``topoloom layout --json``."""

    def cost(self) -> dict[str, Any]:
        """Return cost, power and cable, by these keys."""


def draw_layouts(layouts: Sequence[FloorPlan], path: str | Path, *, force: bool = False) -> None:
    """Draw floors, one below the other: the plan, the lengths of cables, cost and power in parts.

    Args:
        layouts: What to draw.
        path: The file; its name ends in .svg, .png or .pdf.
        force: Overwrite a file of another kind.

    Raises:
        TopoloomError: A name with another ending; a file of another kind is there; a place that cannot be written to.

    >>> draw_layouts([], "floor.svgz")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    topoloom.TopoloomError: floor.svgz: unknown ending of a picture '.svgz' (did you mean '.svg'?)...
    """
    path = Path(path)
    check_path(path, force=force)
    save(_figure(layouts), path, force=force)


def floor_svg(layout: FloorPlan) -> bytes:
    """Return the drawing of one floor as an SVG.

    Args:
        layout: The floor.

    >>> import topoloom
    >>> floor_svg(topoloom.network("mesh:2x2").layout())[:5]
    b'<?xml'
    """
    return svg(_figure([layout]))


@plain()
def _figure(layouts: Sequence[FloorPlan]) -> Figure:
    heights = [_height(layout) for layout in layouts]
    whole = sum(heights)
    figure = Figure(figsize=(WIDTH, whole), facecolor=PAPER)
    rows = figure.add_gridspec(
        len(layouts), 1, height_ratios=heights, hspace=0.12, left=0.05, right=0.97, top=0.99, bottom=0.5 / whole
    )
    for row, layout in enumerate(layouts):
        cells = rows[row].subgridspec(
            3,
            2,
            width_ratios=[1.25, 1],
            height_ratios=[0.085 * HEIGHT, 0.53 * HEIGHT, heights[row] - 0.615 * HEIGHT],
            hspace=0.5 * HEIGHT / heights[row],
            wspace=0.16,
        )
        head = figure.add_subplot(cells[0, :])
        head.axis("off")
        _title(head, layout)
        _plan(figure.add_subplot(cells[1:, 0]), layout)
        _lengths(figure.add_subplot(cells[1, 1]), layout)
        foot = cells[2, 1].subgridspec(2, 1, height_ratios=[0.385 * HEIGHT, max(heights[row] - HEIGHT, 1e-3)])
        _parts(figure.add_subplot(foot[0]), layout)
    return figure


def _height(layout: FloorPlan) -> float:
    """Return inches for a picture whose plan is as wide as there is room, within limits."""
    floor = layout.floor()
    (left, right), (top, bottom) = _extent(floor)
    room = 0.47 * WIDTH
    tallest = min(HEIGHT + 0.3 * (floor["rows"] - 1), TALLEST)
    return float(min(max(HEIGHT, 1.2 + room * (bottom - top) / (right - left)), tallest))


def _title(axes: Axes, layout: FloorPlan) -> None:
    cost, cabinets = layout.cost(), layout.floor()["cabinets"]
    told = [
        counted(len(cabinets), "cabinet"),
        counted(cost["cables"], "cable"),
        f"{cost['cable_m']:,.0f} m",
        f"{cost['cost_usd']:,.0f} $",
        f"{cost['power_w']:,.0f} W",
        f"prices {cost['prices']}{' (partly assumed)' if cost['prices_assumed'] else ''}",
        f"layout {cost['layout']}",
    ]
    axes.text(0.5, 0.5, layout.spec, ha="center", va="center", fontsize=14, weight="bold", color=INK)
    size = min(9.0, 1400 / len(" · ".join(told)))
    axes.text(0.5, -0.25, " · ".join(told), ha="center", va="center", fontsize=size, color=GREY)


def _extent(floor: dict[str, Any]) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return where a floor begins and ends, in metres, along the rows and across them."""
    ways = [[cabinet[key] for cabinet in floor["cabinets"]] for key in ("x_m", "y_m")]
    first, last = [(min(way) - side / 2, max(way) + side / 2) for way, side in zip(ways, _sides(floor), strict=True)]
    return first, last


def _sides(floor: dict[str, Any]) -> tuple[float, float]:
    """Return the sides of a cabinet's footprint in metres; cabinets at one point are a decimetre."""
    return max(floor["width_m"], 0.1), max(floor["depth_m"], 0.1)


def _plan(axes: Axes, layout: FloorPlan) -> None:
    """Draw the floor from above, to scale: cabinets, aisles, and every bundle along the row first, then across."""
    floor = layout.floor()
    cabinets, bundles = floor["cabinets"], floor["bundles"]
    width, depth = _sides(floor)
    (left, right), (top, bottom) = _extent(floor)
    leaving: Counter[int] = Counter()
    for bundle in bundles:
        leaving.update(dict.fromkeys(bundle["cabinets"], bundle["cables"]))
    counts = [leaving[cabinet["cabinet"]] for cabinet in cabinets]
    least, most = min(counts), max(counts)
    for cabinet in cabinets:
        shade = SHADES((leaving[cabinet["cabinet"]] - least) / max(most - least, 1)) if cabinet["routers"] else NODES
        corner = (cabinet["x_m"] - width / 2, cabinet["y_m"] - depth / 2)
        box = Rectangle(corner, width, depth, facecolor=shade, edgecolor=GREY, linewidth=0.5, zorder=1)
        box.set_gid(f"cabinet-{cabinet['cabinet']}")
        axes.add_patch(box)
    for aisle in floor["aisles"]:
        _aisle(axes, aisle, left, right)
    _bundles(axes, cabinets, bundles, (width, depth))
    axes.set_xlim(left - 0.05 * (right - left), right + 0.05 * (right - left))
    axes.set_ylim(bottom + 0.03 * (bottom - top), top - 0.03 * (bottom - top))
    axes.set_aspect("equal", adjustable="box")
    _numbers(axes, cabinets, (width, depth))
    axes.set_title(_holds(floor), fontsize=8.5, color=GREY)
    for axis, key in ((axes.xaxis, "x_m"), (axes.yaxis, "y_m")):
        places = sorted({cabinet[key] for cabinet in cabinets})
        if len(places) <= MOST_TICKS:
            axis.set_ticks(places)
    _quiet(axes)
    one = counted(least, "cable leaves a cabinet", "cables leave a cabinet")
    note = one if least == most else f"shade: {least:,} to {most:,} cables leave a cabinet"
    axes.set_xlabel(note, fontsize=7.5, color=GREY)


def _holds(floor: dict[str, Any]) -> str:
    """Return what the plan shows, in words."""
    cabinets = floor["cabinets"]
    routers = {cabinet["routers"] for cabinet in cabinets if cabinet["routers"]}
    nodes = sum(not cabinet["routers"] for cabinet in cabinets)
    holds = f"{min(routers)}" if len(routers) == 1 else f"{min(routers)} to {max(routers)}"
    noun = "router" if routers == {1} else "routers"
    alone = f", {nodes:,} for terminals alone" if nodes else ""
    size = f"{floor['width_m']:g} x {floor['depth_m']:g} m"
    return f"the floor from above, in metres; a cabinet is {size}\n{holds} {noun} per cabinet{alone}"


def _aisle(axes: Axes, aisle: dict[str, Any], left: float, right: float) -> None:
    """Draw an aisle as a band, and name it where letters fit."""
    first, width = aisle["from_m"], aisle["width_m"]
    band = Rectangle((left, first), right - left, width, facecolor=AISLE, edgecolor="none", zorder=0)
    band.set_gid(f"aisle-{aisle['behind_row']}")
    axes.add_patch(band)
    axes.text(
        right + 0.01 * (right - left), first + width / 2, f"aisle {width:g} m", va="center", fontsize=6, color=GREY
    )


def _numbers(axes: Axes, cabinets: list[dict[str, Any]], sides: tuple[float, float]) -> None:
    """Write each cabinet's number into it as large as fits, along its longer side."""
    spans = [abs(high - low) for low, high in (axes.get_xlim(), axes.get_ylim())]
    points = 72 / axes.figure.dpi * min(axes.bbox.width / spans[0], axes.bbox.height / spans[1])
    short, long = sorted(points * side for side in sides)
    digits = len(str(max(cabinet["cabinet"] for cabinet in cabinets)))
    size = min(MOST_POINTS, 0.8 * short, 0.9 * long / (0.65 * digits))
    if size < LEAST_POINTS:
        return
    upright = sides[1] > sides[0] and 0.65 * digits * size > 0.9 * min(short, long)
    for cabinet in cabinets:
        axes.text(
            cabinet["x_m"],
            cabinet["y_m"],
            str(cabinet["cabinet"]),
            ha="center",
            va="center",
            fontsize=size,
            rotation=90 if upright else 0,
            color=INK,
            zorder=3,
            bbox={"boxstyle": "round,pad=0.15", "facecolor": PAPER, "edgecolor": "none", "alpha": 0.8},
        )


def _bundles(
    axes: Axes, cabinets: list[dict[str, Any]], bundles: list[dict[str, Any]], sides: tuple[float, float]
) -> None:
    if not bundles:
        return
    places = {cabinet["cabinet"]: np.array([cabinet["x_m"], cabinet["y_m"]]) for cabinet in cabinets}
    # Each bundle stands a little aside, by multiples of the golden section, so that lines do not hide each other.
    lines, widths = [], []
    largest = max(bundle["cables"] for bundle in bundles)
    for place, bundle in enumerate(bundles):
        shift = 0.4 * np.array(sides) * (2 * (place * 0.618034 % 1) - 1)
        first, last = [places[cabinet] + shift for cabinet in bundle["cabinets"]]
        lines.append(np.array([first, [last[0], first[1]], last]))
        widths.append(0.35 + 1.1 * bundle["cables"] / largest)
    # Where many bundles cross a cabinet they are thin and pale, so that it shows through.
    steps = sum(float(np.abs((line[-1] - line[0]) / sides).sum()) for line in lines)
    crowd = np.sqrt(steps / len(cabinets))
    alpha = float(np.clip(2.2 / crowd, 0.07, 0.75))
    widths = [width * float(np.clip(4 / crowd, 0.4, 1)) for width in widths]
    axes.add_collection(LineCollection(lines, colors=PALETTE[1], linewidths=widths, alpha=alpha, zorder=2,
                                       rasterized=len(lines) > MOST_VECTOR_LINES))  # fmt: skip


def _lengths(axes: Axes, layout: FloorPlan) -> None:
    """Draw how many cables there are of each length, by class."""
    lengths = layout.floor()["lengths"]
    longest = max(item["length_m"] for item in lengths) if lengths else 1.0
    width = max(bin_width(longest, MOST_BARS), 1.0)
    bottom: Counter[float] = Counter()
    kinds = list(dict.fromkeys(item["kind"] for item in lengths))
    for (name, kind), words in sorts_of(lengths).items():
        bars: Counter[float] = Counter()
        for item in lengths:
            if (item["class"], item["kind"]) == (name, kind):
                bars[item["length_m"] // width * width] += item["cables"]
        starts = sorted(bars)
        middles, heights = [start + width / 2 for start in starts], [bars[start] for start in starts]
        below, colour = [bottom[start] for start in starts], CLASS_COLOURS.get(name, PALETTE[3])
        hatch = HATCHES[kinds.index(kind) % len(HATCHES)]
        axes.bar(middles, heights, 0.86 * width, bottom=below, color=colour, label=words, hatch=hatch, edgecolor=PAPER)
        bottom.update(bars)
    axes.set_title(f"cables by length, in bins of {width:g} m", fontsize=8.5, color=GREY)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    axes.xaxis.set_major_locator(MaxNLocator(8, integer=width >= 1))
    axes.set_xlabel("metres", fontsize=7.5, color=GREY)
    axes.yaxis.set_major_locator(MaxNLocator(6, integer=True))
    if lengths:
        axes.set_ylim(top=1.35 * max(bottom.values()))  # room for the legend
        axes.legend(frameon=False, fontsize=7.5)
    _quiet(axes)


def _parts(axes: Axes, layout: FloorPlan) -> None:
    """Draw the shares of the parts in cost and power."""
    cost = layout.cost()
    cables = cost["cable_cost_usd"] or 0.0
    terminals = cost["terminal_cable_cost_usd"] or 0.0
    bars: list[tuple[str, list[tuple[str, float, str]]]] = [
        (
            f"cost\n{cost['cost_usd']:,.0f} $",
            [
                ("routers", cost["router_cost_usd"], PALETTE[0]),
                ("cables", cables - terminals, PALETTE[1]),
                ("terminals' cables", terminals, "#f0c396"),
                ("interfaces", cost["nic_cost_usd"], PALETTE[2]),
            ],
        ),
        (
            f"power\n{cost['power_w']:,.0f} W",
            [
                ("routers", cost["router_power_w"], PALETTE[0]),
                ("cables", cost["cable_power_w"], PALETTE[1]),
                ("interfaces", cost["nic_power_w"], PALETTE[2]),
            ],
        ),
    ]
    named: set[str] = set()
    for place, (_, parts) in enumerate(bars):
        whole = sum(value for _, value, _ in parts)
        left = 0.0
        for name, value, colour in parts:
            share = value / whole if whole else 0.0
            if share > 0:
                axes.barh(place, share, left=left, height=0.5, color=colour, label=None if name in named else name)
                named.add(name)
            if share > 0.06:  # noqa: PLR2004 - room for the number
                axes.text(
                    left + share / 2,
                    place,
                    f"{share:.0%}",
                    ha="center",
                    va="center",
                    fontsize=7.5,
                    color=PAPER if name != "terminals' cables" else INK,
                )
            left += share
    axes.set_yticks(range(len(bars)), [label for label, _ in bars])
    axes.invert_yaxis()
    axes.set_xlim(0, 1)
    axes.set_xticks([])
    axes.set_title("parts of cost and power", fontsize=8.5, color=GREY)
    legend = axes.legend(frameon=False, fontsize=7.5, ncols=4, columnspacing=1.2, handlelength=1.2, loc="upper center")
    legend.set_bbox_to_anchor((0.45, -0.02), transform=axes.transAxes)
    _quiet(axes)
    axes.spines["bottom"].set_visible(False)


def _quiet(axes: Axes) -> None:
    axes.tick_params(labelsize=7.5, colors=GREY, length=2.5)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(PALE)
