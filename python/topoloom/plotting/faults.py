"""Curves of what random failures leave of networks, drawn by matplotlib."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from topoloom.plotting.pictures import check_plot, plain, save_plot
from topoloom.wording import counted

CURVES = (
    ("connected", "trials that are connected"),
    ("terminal_pairs", "terminal pairs that are joined"),
    ("largest_average_distance", "average distance in the largest component"),
    ("largest_diameter", "diameter of the largest component"),
)
"""Key and label of what is drawn, each in a panel of its own."""

STYLES = ("-", "--", "-.", ":")
"""Lines differ by colour, and by style as soon as the colours repeat."""

COLUMNS, WIDTH_IN, HEIGHT_IN = 2, 5.2, 3.8


def write_faults(results: Sequence[dict[str, Any]], path: Path, *, force: bool = False) -> None:
    """Draw what :meth:`topoloom.Network.faults` returned for several networks, against the failed fraction.

    Bands are 95 % intervals. The same results give the same file.

    Args:
        results: The results, one per network.
        path: The file; its name ends in .svg or .png.
        force: Overwrite a file of another kind.

    Raises:
        TopoloomError: A name with another ending, a file of another kind is there, or a place that cannot be written
            to.

    >>> write_faults([], Path("faults.txt"))
    Traceback (most recent call last):
    topoloom.TopoloomError: --plot is 'faults.txt'; its name must end in .png or .svg
    """
    check_plot(path)
    shown = [curve for curve in CURVES if any(point[curve[0]] is not None for point in results[0]["points"])]
    rows = -(-len(shown) // COLUMNS)
    with plain(), mpl.rc_context({"font.size": 9}):
        figure = Figure(figsize=(COLUMNS * WIDTH_IN, rows * HEIGHT_IN + 0.6), layout="constrained")
        panels = figure.subplots(rows, COLUMNS, squeeze=False).flatten()
        for panel, (key, label) in zip(panels, shown, strict=False):
            _draw(panel, results, key)
            panel.set_xlabel(f"failed {results[0]['kind']}, part of all")
            panel.set_title(label, fontsize="medium")
        for panel in panels[len(shown) :]:
            panel.remove()
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=min(3, len(labels)), frameon=False)
        trials, seed = results[0]["trials"], results[0]["seed"]
        figure.suptitle(
            f"Random failures of {results[0]['kind']}: {counted(trials, 'trial')}, seed {seed}, 95 % intervals"
        )
        save_plot(figure, path, force=force)


def _draw(panel: Axes, results: Sequence[dict[str, Any]], key: str) -> None:
    """Draw one quantity of all networks."""
    for place, result in enumerate(results):
        points = [point for point in result["points"] if point[key] is not None]
        fractions = [point["fraction"] for point in points]
        means, lows, highs = zip(*(_interval(point, key) for point in points), strict=True) if points else ((), (), ())
        style = STYLES[place // 10 % len(STYLES)]
        panel.plot(fractions, means, color=f"C{place % 10}", linestyle=style, label=result["spec"])
        panel.fill_between(fractions, lows, highs, color=f"C{place % 10}", alpha=0.2, linewidth=0)
    panel.grid(alpha=0.3)
    panel.set_ylim(bottom=0)
    panel.set_xlim(left=0)


def _interval(point: dict[str, Any], key: str) -> tuple[float, float, float]:
    """Return the mean and the ends of its interval."""
    if key == "connected":
        return (point["connected"], *point["connected_ci95"])
    estimate = point[key]
    half = estimate["ci95"] or 0.0
    return estimate["mean"], estimate["mean"] - half, estimate["mean"] + half
