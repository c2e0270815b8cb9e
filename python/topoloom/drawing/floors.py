"""Floors, drawn: cabinets with the cables between them, lengths, cost and power in parts."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import FuncFormatter, MaxNLocator

from topoloom.drawing.paper import GREY, INK, MOST_VECTOR_LINES, PALE, PALETTE, PAPER, check_path, save, svg
from topoloom.layouts import Layout, bin_width

WIDTH, HEIGHT = 11.0, 5.6
"""Inches of the picture of one floor."""

MOST_BARS = 24
"""Bars of the histogram of lengths."""

MOST_TICKS = 12
"""Rows and columns are all named at the edge up to so many."""

MOST_NUMBERED = 150
"""Cabinets bear their numbers up to so many."""

SHADES = LinearSegmentedColormap.from_list("cabinets", ["#eef2f6", "#9db8d6"])
NODES = "#f6ead9"
"""Cabinets that hold terminals alone."""

CLASS_COLOURS = {"terminal": PALE, "local": PALETTE[0], "global": PALETTE[1], "up": PALETTE[1], "internal": PALETTE[2]}


def draw_layouts(layouts: Sequence[Layout], path: str | Path) -> None:
    """Draw floors, one below the other: the plan, the lengths of cables, cost and power in parts.

    Args:
        layouts: What to draw.
        path: Where to; it ends in .svg, .png or .pdf.

    Raises:
        TopoloomError: An ending that stands for no kind of picture.
    """
    path = Path(path)
    check_path(path)
    save(_figure(layouts), path)


def floor_svg(layout: Layout) -> bytes:
    """Return the drawing of one floor as an SVG."""
    return svg(_figure([layout]))


def _figure(layouts: Sequence[Layout]) -> Figure:
    figure = Figure(figsize=(WIDTH, HEIGHT * len(layouts)), facecolor=PAPER)
    foot = 0.5 / (HEIGHT * len(layouts))
    rows = figure.add_gridspec(len(layouts), 1, hspace=0.12, left=0.05, right=0.97, top=0.99, bottom=foot)
    for row, layout in enumerate(layouts):
        cells = rows[row].subgridspec(
            3, 2, width_ratios=[1.25, 1], height_ratios=[0.16, 1, 0.72], hspace=0.5, wspace=0.16
        )
        head = figure.add_subplot(cells[0, :])
        head.axis("off")
        _title(head, layout)
        _plan(figure.add_subplot(cells[1:, 0]), layout)
        _lengths(figure.add_subplot(cells[1, 1]), layout)
        _parts(figure.add_subplot(cells[2, 1]), layout)
    return figure


def _title(axes: Axes, layout: Layout) -> None:
    cost, cabinets = layout.cost(), layout.floor()["cabinets"]
    told = [
        f"{len(cabinets):,} cabinets",
        f"{cost['cables']:,} cables",
        f"{cost['cable_m']:,.0f} m",
        f"{cost['cost_usd']:,.0f} $",
        f"{cost['power_w']:,.0f} W",
        f"prices {cost['prices']}",
    ]
    if cost["layout"] != "own":
        told.append(f"layout {cost['layout']}")
    axes.text(0.5, 0.5, layout.network.spec, ha="center", va="center", fontsize=14, weight="bold", color=INK)
    size = min(9.0, 1400 / len(" · ".join(told)))
    axes.text(0.5, -0.25, " · ".join(told), ha="center", va="center", fontsize=size, color=GREY)


def _plan(axes: Axes, layout: Layout) -> None:
    """Draw the cabinets from above, and every bundle of cables along its way: along the row first, then across."""
    cabinets = layout.floor()["cabinets"]
    pitch = [_pitch(cabinet[key] for cabinet in cabinets) for key in ("x_m", "y_m")]
    places = {cabinet["cabinet"]: np.array([cabinet["x_m"], cabinet["y_m"]]) for cabinet in cabinets}
    bundles: Counter[tuple[int, int]] = Counter()
    leaving: Counter[int] = Counter()
    for cable in layout.cables():
        far = cable.far_cabinet
        if far is not None and far != cable.near.cabinet:
            ends = sorted((cable.near.cabinet, far))
            bundles[ends[0], ends[1]] += 1
            leaving.update(ends)
    counts = [leaving[cabinet["cabinet"]] for cabinet in cabinets]
    least, most = min(counts), max(counts)
    for cabinet in cabinets:
        x, y = places[cabinet["cabinet"]]
        shade = SHADES((leaving[cabinet["cabinet"]] - least) / max(most - least, 1)) if cabinet["routers"] else NODES
        corner = (x - 0.32 * pitch[0], y - 0.26 * pitch[1])
        box = Rectangle(
            corner, 0.64 * pitch[0], 0.52 * pitch[1], facecolor=shade, edgecolor=GREY, linewidth=0.6, zorder=2
        )
        axes.add_patch(box)
        if len(cabinets) <= MOST_NUMBERED:
            axes.text(x, y, str(cabinet["cabinet"]), ha="center", va="center", fontsize=6.5, color=INK, zorder=3)
    _bundles(axes, places, bundles, pitch)
    xs, ys = [np.array([place[axis] for place in places.values()]) for axis in (0, 1)]
    axes.set_xlim(xs.min() - 0.7 * pitch[0], xs.max() + 0.7 * pitch[0])
    axes.set_ylim(ys.max() + 0.7 * pitch[1], ys.min() - 0.7 * pitch[1])
    axes.set_aspect("equal", adjustable="box")
    routers = {cabinet["routers"] for cabinet in cabinets if cabinet["routers"]}
    nodes = sum(not cabinet["routers"] for cabinet in cabinets)
    holds = f"{min(routers)}" if len(routers) == 1 else f"{min(routers)} to {max(routers)}"
    noun = "router" if routers == {1} else "routers"
    alone = f", {nodes:,} for terminals alone" if nodes else ""
    axes.set_title(f"the floor from above, in metres; {holds} {noun} a cabinet{alone}", fontsize=8.5, color=GREY)
    for axis, values in ((axes.xaxis, xs), (axes.yaxis, ys)):
        if len(set(values)) <= MOST_TICKS:
            axis.set_ticks(sorted(set(values)))
    _quiet(axes)
    note = (
        f"{least:,} cables leave a cabinet" if least == most else f"shade: {least:,} to {most:,} cables leave a cabinet"
    )
    axes.set_xlabel(note, fontsize=7.5, color=GREY)


def _pitch(values: Any) -> float:
    """Return the smallest step between different places, or 1."""
    different = np.unique(np.round(list(values), 6))
    return float(np.diff(different).min()) if len(different) > 1 else 1.0


def _bundles(axes: Axes, places: dict[int, Any], bundles: Counter[tuple[int, int]], pitch: list[float]) -> None:
    if not bundles:
        return
    # Each bundle stands a little aside, by multiples of the golden section, so that lines do not hide each other.
    lines, widths = [], []
    largest = max(bundles.values())
    for place, ((a, b), count) in enumerate(sorted(bundles.items())):
        shift = np.array([0.24 * pitch[0], 0.18 * pitch[1]]) * (2 * (place * 0.618034 % 1) - 1)
        first, last = places[a] + shift, places[b] + shift
        lines.append(np.array([first, [last[0], first[1]], last]))
        widths.append(0.35 + 1.1 * count / largest)
    alpha = float(np.clip(12 / np.sqrt(len(lines)), 0.07, 0.75))
    axes.add_collection(LineCollection(lines, colors=PALETTE[1], linewidths=widths, alpha=alpha, zorder=1,
                                       rasterized=len(lines) > MOST_VECTOR_LINES))  # fmt: skip


def _lengths(axes: Axes, layout: Layout) -> None:
    """Draw how many cables there are of each length, by class."""
    lengths = layout.floor()["lengths"]
    longest = max(item["length_m"] for item in lengths) if lengths else 1.0
    width = max(bin_width(longest, MOST_BARS), 1.0)
    bottom: Counter[float] = Counter()
    for name in dict.fromkeys(item["class"] for item in lengths):
        bars: Counter[float] = Counter()
        for item in lengths:
            if item["class"] == name:
                bars[item["length_m"] // width * width] += item["cables"]
        starts = sorted(bars)
        middles, heights = [start + width / 2 for start in starts], [bars[start] for start in starts]
        below, colour = [bottom[start] for start in starts], CLASS_COLOURS.get(name, PALETTE[3])
        axes.bar(middles, heights, 0.86 * width, bottom=below, color=colour, label=name)
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


def _parts(axes: Axes, layout: Layout) -> None:
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
