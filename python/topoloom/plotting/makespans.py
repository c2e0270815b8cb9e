"""Pictures of makespans, by matplotlib."""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import matplotlib as mpl
from matplotlib.figure import Figure

from topoloom.plotting.pictures import check_plot, plain, save_plot

WIDTH_IN, BAR_IN, HEIGHT_IN = 2.5, 0.18, 3.4
GAP = 0.2
"""Of the room of an application, the part between it and the next one."""


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
        TopoloomError: A name with another ending, or a file of another kind is there.
        OSError: A place that cannot be written to.

    >>> write_makespans([], Path("makespans.txt"))
    Traceback (most recent call last):
    topoloom.TopoloomError: --plot is 'makespans.txt'; its name must end in .png or .svg
    """
    check_plot(path)
    width = (1 - GAP) / len(found.placements)
    with plain(), mpl.rc_context({"font.size": 9}):
        size = (WIDTH_IN + BAR_IN * len(found.results) + 0.3 * len(found.apps), HEIGHT_IN)
        figure = Figure(figsize=size, layout="constrained")
        panel = figure.subplots()
        for place, (spec, mapping) in enumerate(found.placements):
            heights = [found.relative(spec, app, mapping) or 0.0 for app in found.apps]
            left = [x + GAP / 2 + width * place for x in range(len(found.apps))]
            panel.bar(
                left, heights, width=width, align="edge", color=f"C{place % 10}", label=found.label(spec, mapping)
            )
        panel.set_xticks([x + 0.5 for x in range(len(found.apps))], found.apps, fontsize="small")
        panel.set_ylabel(f"makespan, 1 is that on\n{found.reference}")
        panel.axhline(1, color="0.4", linewidth=0.8, linestyle=":")
        panel.grid(axis="y", alpha=0.3)
        figure.legend(loc="outside lower center", ncols=2, frameon=False, fontsize="small")
        save_plot(figure, path, force=force)
