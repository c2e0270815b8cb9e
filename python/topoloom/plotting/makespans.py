"""Pictures of makespans, by matplotlib."""

import math
from collections.abc import Sequence
from pathlib import Path
from textwrap import wrap
from typing import Protocol

import matplotlib as mpl
from matplotlib.figure import Figure

from topoloom.plotting.pictures import check_plot, plain, save_plot

WIDTH_IN, BAR_IN, HEIGHT_IN = 2.5, 0.18, 3.4
GAP = 0.2
"""Of the room of an application, the part between it and the next one."""
MOST_IN = 6.0
"""Long names of networks make a picture wider up to here; longer ones have several lines."""
LETTER_IN, LINE_IN = 0.075, 0.15
"""What a letter of a name takes, and a line."""


def _lines(name: str, letters: int) -> list[str]:
    """Return a name in lines of this many letters at most, which end behind commas where that is possible.

    >>> _lines("mesh:4", 6), _lines("mesh:4,p=2", 8), _lines("mesh:4x4x4", 6)
    (['mesh:4'], ['mesh:4,', 'p=2'], ['mesh:4', 'x4x4'])
    """
    return [line.replace(", ", ",") for line in wrap(name.replace(",", ", "), letters, break_on_hyphens=False)]


class Makespans(Protocol):
    """What is drawn: the makespans of applications on networks, as :class:`topoloom.Workloads` has them."""

    @property
    def apps(self) -> Sequence[str]:
        """The applications."""

    @property
    def placements(self) -> Sequence[tuple[str, str]]:
        """The pairs of a network and a mapping."""

    @property
    def reference(self) -> str:
        """The name of what the others are compared with."""

    @property
    def results(self) -> Sequence[object]:
        """One for each application, network and mapping that came to an end."""

    def label(self, spec: str, mapping: str) -> str:
        """Return the name of a network and a mapping.

        Args:
            spec: The network, unchecked.
            mapping: The mapping, unchecked.
        """

    def relative(self, spec: str, app: str, mapping: str | None = None) -> float | None:
        """Return a makespan as a ratio to that on the baseline; None where it is not known.

        Args:
            spec: The network.
            app: The application.
            mapping: The mapping; the first if None.
        """


def write_makespans(found: Makespans, path: Path, *, force: bool = False) -> None:
    """Draw the makespans as bars, as ratios to those on the baseline. The same results give the same file.

    Args:
        found: The makespans.
        path: The file; its name ends in .svg or .png.
        force: Overwrite a file of another kind.

    Raises:
        TopoloomError: A name with another ending, a file of another kind is there, or a place that cannot be written
            to.

    >>> write_makespans([], Path("makespans.txt"))
    Traceback (most recent call last):
    topoloom.TopoloomError: --plot is 'makespans.txt'; its name must end in .png or .svg
    """
    check_plot(path)
    width = (1 - GAP) / len(found.placements)
    names = [found.label(*placement) for placement in found.placements]
    longest = LETTER_IN * max(map(len, names))
    wide = max(WIDTH_IN + BAR_IN * len(found.results) + 0.3 * len(found.apps), min(longest + 0.6, MOST_IN))
    letters = int((wide - 0.6) / LETTER_IN)
    columns = 2 if 2 * longest + 1.2 < wide else 1
    listed = [_lines(name, letters) for name in names]
    head = ["1 is the makespan on", *_lines(found.reference, letters)]
    rows = math.ceil(sum(map(len, listed)) / columns) + len(head)
    with plain(), mpl.rc_context({"font.size": 9}):
        figure = Figure(figsize=(wide, HEIGHT_IN + LINE_IN * max(rows - 4, 0)), layout="constrained")
        panel = figure.subplots()
        for place, (spec, mapping) in enumerate(found.placements):
            heights = [found.relative(spec, app, mapping) or 0.0 for app in found.apps]
            left = [x + GAP / 2 + width * place for x in range(len(found.apps))]
            label = "\n".join(listed[place])
            panel.bar(left, heights, width=width, align="edge", color=f"C{place % 10}", label=label)
        panel.set_xticks([x + 0.5 for x in range(len(found.apps))], found.apps, fontsize="small")
        panel.set_title("\n".join(head), fontsize="small")
        panel.set_ylabel("relative makespan")
        panel.axhline(1, color="0.4", linewidth=0.8, linestyle=":")
        panel.grid(axis="y", alpha=0.3)
        figure.legend(loc="outside lower center", ncols=columns, frameon=False, fontsize="small")
        save_plot(figure, path, force=force)
