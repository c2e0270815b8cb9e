"""Networks, drawn."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil, sqrt
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.figure import Figure
from matplotlib.gridspec import SubplotSpec
from matplotlib.lines import Line2D

from topoloom._core import Network, TopoloomError
from topoloom.plotting.families import sketch
from topoloom.plotting.pictures import GREY, INK, MOST_VECTOR_LINES, PALE, PALETTE, PAPER, check_path, plain, save
from topoloom.plotting.sketch import Points, Sketch, Stroke
from topoloom.wording import counted

WIDTH, NARROW = 7.8, 5.4
"""Inches of a drawing of one network, and of several side by side."""

MARGIN = 0.2
"""Inches around all drawings of a page, both sides together."""

MOST_LINKS = 300_000
"""Links of the largest network that is drawn."""

MOST_TERMINALS = 160
"""The largest number of terminals that are drawn."""

LEAST_FONT, MOST_NUMBERED = 4.0, 400
"""The least height of ids in points, and the largest number of routers, for which ids are drawn."""

MOST_DASHED = 2000
"""Among more lines than these, thin and plain ones are clearer than dashes."""


@plain()
def draw_networks(networks: Sequence[Network], path: str | Path, *, force: bool = False) -> None:
    """Draw networks side by side, each in a way that fits its structure.

    Args:
        networks: The networks.
        path: The file; its name ends in .svg, .png or .pdf.
        force: Overwrite a file of another kind.

    Raises:
        TopoloomError: A name with another ending, a network of too many links, or a place that cannot be written to.

    >>> draw_networks([], "mesh.svgz")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    topoloom.TopoloomError: mesh.svgz: unknown ending of a picture '.svgz' (did you mean '.svg'?)...
    """
    path = Path(path)
    check_path(path, force=force)
    for network in networks:
        links = len(network.edges())
        if links > MOST_LINKS:
            raise TopoloomError(f"{network.spec} has {links:,} links; a drawing shows at most {MOST_LINKS:,}")
    columns = ceil(sqrt(len(networks)))
    rows = ceil(len(networks) / columns)
    panels = [Panel(network, sketch(network), WIDTH if columns == 1 else NARROW) for network in networks]
    heights = [max(panel.height for panel in panels[row * columns : (row + 1) * columns]) for row in range(rows)]
    figure = Figure(figsize=(columns * panels[0].width + MARGIN, sum(heights) + MARGIN), facecolor=PAPER)
    grid = figure.add_gridspec(rows, columns, height_ratios=heights, hspace=0, wspace=0,
                               left=0.02, right=0.98, top=0.99, bottom=0.01)  # fmt: skip
    for place, panel in enumerate(panels):
        row, column = divmod(place, columns)
        _draw(figure, grid[row, column], panel, heights[row])
    save(figure, path, force=force)


HEAD = 0.75
"""Inches above a drawing, for its title."""

LEGEND_LINE = 0.19
"""Inches of a line of the legend."""


@dataclass(frozen=True)
class Panel:
    """One network on a page. Sizes are in inches.

    Attributes:
        network: The network.
        drawn: What is drawn of it.
        width: Of the panel.
    """

    network: Network
    drawn: Sketch
    width: float

    @cached_property
    def extent(self) -> tuple[float, float, float, float]:
        """Left, right, bottom and top of all that is drawn, in the sketch's own units."""
        drawn = self.drawn
        parts = [drawn.places, *(stroke.lines.reshape(-1, 2) for stroke in drawn.strokes), *drawn.outlines]
        parts += [np.array([[x, y]]) for x, y, _ in drawn.labels]
        points = np.concatenate(parts)
        (left, bottom), (right, top) = points.min(axis=0), points.max(axis=0)
        span = max(right - left, top - bottom, 1.0)
        margin = 0.03 * span + 0.35 * drawn.spacing
        hanging = max((len(text) for x, _, text in drawn.labels if self._hangs(x, text)), default=0)
        return left - margin - 0.012 * hanging * span, right + margin, bottom - margin, top + margin

    def _hangs(self, x: float, text: str) -> bool:
        """Whether a label stands to the left of all routers and ends there."""
        return x < self.drawn.places[:, 0].min() and not text.isdigit()

    @property
    def body(self) -> float:
        """The height of the drawing itself."""
        left, right, bottom, top = self.extent
        return self.width * min(max((top - bottom) / (right - left), 0.25), 1.15)

    @property
    def scale(self) -> float:
        """Points per unit of the sketch."""
        left, right, bottom, top = self.extent
        return 72 * min(self.width / (right - left), self.body / (top - bottom))

    @cached_property
    def legend(self) -> list[Line2D]:
        """The legend's entries: classes of links, routers, terminals."""
        counts: dict[str, int] = {}
        for stroke in self.drawn.strokes:
            counts[stroke.label] = counts.get(stroke.label, 0) + len(stroke.lines)
        styles = {stroke.label: stroke for stroke in self.drawn.strokes}
        entries = [
            Line2D([], [], color=_colour(styles[label]), linewidth=1.8, label=f"{label} ({counts[label]:,})",
                   linestyle=(0, (2.5, 1.2)) if styles[label].dashed else "-")
            for label in sorted(styles)
        ]  # fmt: skip
        entries.append(Line2D([], [], marker="o", linestyle="", color=INK, markersize=5, label="router"))
        if self.shows_terminals:
            label = f"terminal ({self.network.num_terminals:,})"
            entries.append(Line2D([], [], marker="s", linewidth=0.8, color=PALE, markersize=3, label=label))
        return entries

    @property
    def shows_terminals(self) -> bool:
        """Whether terminals are few enough to be drawn."""
        return 0 < self.network.num_terminals <= MOST_TERMINALS

    @property
    def legend_columns(self) -> int:
        """As many entries beside each other as fit."""
        longest = max(len(str(entry.get_label())) for entry in self.legend)
        return max(1, min(len(self.legend), int(self.width / (0.5 + 0.062 * longest))))

    @property
    def foot(self) -> float:
        """The height of the legend."""
        return 0.2 + LEGEND_LINE * ceil(len(self.legend) / self.legend_columns)

    @property
    def height(self) -> float:
        """Of the panel."""
        return HEAD + self.body + self.foot


def _colour(stroke: Stroke) -> str:
    return PALETTE[stroke.colour % len(PALETTE)]


def _draw(figure: Figure, cell: SubplotSpec, panel: Panel, height: float) -> None:
    inner = cell.subgridspec(3, 1, height_ratios=[HEAD, height - HEAD - panel.foot, panel.foot], hspace=0)
    head, axes, foot = (figure.add_subplot(inner[part]) for part in range(3))
    for part in (head, axes, foot):
        part.axis("off")
    left, right, bottom, top = panel.extent
    axes.set_xlim(left, right)
    axes.set_ylim(bottom, top)
    axes.set_aspect("equal", adjustable="box")
    _draw_links(axes, panel)
    _draw_routers(axes, panel)
    for x, y, text in panel.drawn.labels:
        align = "right" if panel._hangs(x, text) else "center"
        axes.text(x, y, text, ha=align, va="center", fontsize=7.5, color=GREY)
    title, facts = _title(panel.network)
    size = float(np.clip(100 * panel.width / len(title), 7, 14))
    head.text(0.5, 0.72, title, ha="center", va="center", fontsize=size, weight="bold", color=INK)
    size = float(np.clip(125 * panel.width / len(facts), 6, 9))
    head.text(0.5, 0.28, facts, ha="center", va="center", fontsize=size, color=GREY)
    foot.legend(handles=panel.legend, loc="center", ncols=panel.legend_columns, frameon=False, fontsize=7.5,
                handlelength=1.8, columnspacing=1.4, labelspacing=0.4)  # fmt: skip


def _title(network: Network) -> tuple[str, str]:
    facts = network.facts()
    counts = [("routers", "router"), ("links", "link"), ("terminals", "terminal")]
    told = [counted(facts[key], noun) for key, noun in counts]
    diameter = "not connected" if facts["diameter"] is None else f"diameter {facts['diameter']}"
    return network.spec, " · ".join([*told, f"radix {facts['radix']}", diameter])


def _draw_links(axes: Axes, panel: Panel) -> None:
    """Draw all links; the more ink they would be on their paper, the paler they are."""
    drawn, scale = panel.drawn, panel.scale
    if drawn.outlines:
        areas = PolyCollection(drawn.outlines, facecolors="#eef2f6", edgecolors="#d3dae2", linewidths=0.6, zorder=0)
        axes.add_collection(areas)
    count = sum(len(stroke.lines) for stroke in drawn.strokes)
    width = float(np.clip(max(22 / sqrt(max(count, 1)), 0.06 * drawn.spacing * scale), 0.25, 1.4))
    length = sum(float(np.linalg.norm(np.diff(stroke.lines, axis=1), axis=2).sum()) for stroke in drawn.strokes)
    paper = 72 * panel.width * 72 * panel.body
    alpha = float(np.clip(0.33 / max(length * scale * width / paper, 1e-9), 0.08, 0.9))
    for stroke in drawn.strokes:
        lines = LineCollection(list(stroke.lines), colors=_colour(stroke), linewidths=width, alpha=alpha, zorder=1)
        if stroke.dashed and count < MOST_DASHED:
            lines.set_linestyle((0, (4, 2)))
        lines.set_rasterized(count > MOST_VECTOR_LINES)
        axes.add_collection(lines)


def _draw_routers(axes: Axes, panel: Panel) -> None:
    """Draw routers, with their ids where these are legible, and terminals if they are few."""
    places, scale = panel.drawn.places, panel.scale
    share = 0.4 if len(places) <= MOST_NUMBERED else 0.25
    diameter = float(np.clip(share * panel.drawn.spacing * scale, 1.1, 17))
    digits = len(str(len(places) - 1))
    font = min(7.0, 1.15 * diameter / max(digits, 2))
    numbered = font >= LEAST_FONT and len(places) <= MOST_NUMBERED
    if panel.shows_terminals:
        _draw_terminals(axes, panel, diameter / scale)
    face, edge = (PAPER, 0.9) if numbered else (INK, 0.0)
    axes.scatter(places[:, 0], places[:, 1], s=diameter**2, facecolors=face, edgecolors=INK, linewidths=edge, zorder=3)
    for router, (x, y) in enumerate(places if numbered else ()):
        axes.text(x, y, str(router), ha="center", va="center_baseline", fontsize=font, color=INK, zorder=4)


def _draw_terminals(axes: Axes, panel: Panel, router: float) -> None:
    """Draw every router's terminals as a fan on the side where there is room; `router` is a router's diameter."""
    drawn = panel.drawn
    counts = np.array(panel.network.terminals_by_router())
    on = np.repeat(np.arange(len(counts)), counts)
    first = np.concatenate([[0], np.cumsum(counts)[:-1]])
    rank = np.arange(len(on)) - first[on]
    angle = np.arctan2(drawn.outward[on, 1], drawn.outward[on, 0])
    spread = np.minimum(1.9, 0.55 * (counts[on] - 1))
    turn = np.where(counts[on] > 1, (rank / np.maximum(counts[on] - 1, 1) - 0.5) * spread, 0.0)
    reach = 0.95 * router
    far: Points = drawn.places[on] + reach * np.column_stack([np.cos(angle + turn), np.sin(angle + turn)])
    axes.add_collection(
        LineCollection(list(np.stack([drawn.places[on], far], axis=1)), colors=PALE, linewidths=0.7, zorder=2)
    )
    axes.scatter(far[:, 0], far[:, 1], s=5, marker="s", color=PALE, zorder=2)
