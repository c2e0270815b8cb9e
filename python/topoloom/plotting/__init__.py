"""Charts and pictures. Protocols describe what is drawn: plotting is a floor below all that can be drawn.

What draws by matplotlib is loaded when it is called: loading takes as long as a small simulation.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from topoloom import _core
from topoloom.files import DRAWING
from topoloom.libraries import require
from topoloom.plotting.curves import Measure, plot
from topoloom.plotting.pictures import check_plot

if TYPE_CHECKING:
    from topoloom.plotting.floors import FloorPlan
    from topoloom.plotting.makespans import Makespans

__all__ = [
    "Measure",
    "check_plot",
    "draw_layouts",
    "draw_networks",
    "floor_svg",
    "plot",
    "write_faults",
    "write_makespans",
]


def draw_networks(networks: Sequence[_core.Network], path: str | Path, *, force: bool = False) -> None:
    """Draw networks side by side, each in a way that fits its structure.

    Args:
        networks: The networks, ``Network.core`` of each.
        path: The file, which ends in ``.svg``, ``.png`` or ``.pdf``.
        force: Overwrite a file of another kind.

    Raises:
        TopoloomError: An ending of no kind of picture, a network of too many links, or a place that cannot be written
            to.

    >>> import tempfile
    >>> import topoloom
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     draw_networks([topoloom.network("mesh:2x2").core], f"{folder}/mesh.svg")
    """
    require(*DRAWING)
    from topoloom.plotting import networks as pictures  # noqa: PLC0415

    pictures.draw_networks(networks, path, force=force)


def draw_layouts(layouts: "Sequence[FloorPlan]", path: str | Path, *, force: bool = False) -> None:
    """Draw floors, one below the other: the plan, the lengths of cables, cost and power in parts.

    Args:
        layouts: The layouts.
        path: The file, which ends in ``.svg``, ``.png`` or ``.pdf``.
        force: Overwrite a file of another kind.

    Raises:
        TopoloomError: An ending of no kind of picture, or a place that cannot be written to.

    >>> import tempfile
    >>> import topoloom
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     draw_layouts([topoloom.network("mesh:2x2").layout()], f"{folder}/floor.svg")
    """
    require(*DRAWING)
    from topoloom.plotting import floors as pictures  # noqa: PLC0415

    pictures.draw_layouts(layouts, path, force=force)


def floor_svg(layout: "FloorPlan") -> bytes:
    """Return the drawing of one floor as an SVG.

    Args:
        layout: The layout.

    >>> import topoloom
    >>> b"<svg" in floor_svg(topoloom.network("mesh:2x2").layout())
    True
    """
    require(*DRAWING)
    from topoloom.plotting import floors as pictures  # noqa: PLC0415

    return pictures.floor_svg(layout)


def write_faults(results: Sequence[dict[str, Any]], path: Path, *, force: bool = False) -> None:
    """Draw the results of :meth:`topoloom.Network.faults` for several networks, against the failed fraction.

    Bands are 95 % intervals. The same results give the same file.

    Args:
        results: The results, one for each network.
        path: The file, which ends in ``.svg`` or ``.png``.
        force: Overwrite a file of another kind.

    Raises:
        TopoloomError: An ending of no format.

    >>> import tempfile
    >>> import topoloom
    >>> found = topoloom.network("mesh:3x3").faults(trials=2, fractions=[0.1, 0.2])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_faults([found], Path(folder, "faults.svg"))
    """
    require(*DRAWING)
    from topoloom.plotting import faults as pictures  # noqa: PLC0415

    pictures.write_faults(results, path, force=force)


def write_makespans(found: "Makespans", path: Path, *, force: bool = False) -> None:
    """Draw makespans as bars, relative to the baseline. The same results give the same file.

    Args:
        found: The results, such as :class:`topoloom.Workloads`.
        path: The file, which ends in ``.svg`` or ``.png``.
        force: Overwrite a file of another kind.

    Raises:
        TopoloomError: An ending of no format.

    >>> import tempfile
    >>> import topoloom
    >>> found = topoloom.workload("mesh:2x2", "reduce:size=1KiB")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_makespans(found, Path(folder, "makespans.svg"))
    """
    require(*DRAWING)
    from topoloom.plotting import makespans as pictures  # noqa: PLC0415

    pictures.write_makespans(found, path, force=force)
