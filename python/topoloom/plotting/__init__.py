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
    """Draw networks side by side; see :func:`topoloom.plotting.networks.draw_networks`."""
    require(*DRAWING)
    from topoloom.plotting import networks as pictures  # noqa: PLC0415

    pictures.draw_networks(networks, path, force=force)


def draw_layouts(layouts: "Sequence[FloorPlan]", path: str | Path, *, force: bool = False) -> None:
    """Draw floors, one below the other; see :func:`topoloom.plotting.floors.draw_layouts`."""
    require(*DRAWING)
    from topoloom.plotting import floors as pictures  # noqa: PLC0415

    pictures.draw_layouts(layouts, path, force=force)


def floor_svg(layout: "FloorPlan") -> bytes:
    """Return the drawing of one floor; see :func:`topoloom.plotting.floors.floor_svg`."""
    require(*DRAWING)
    from topoloom.plotting import floors as pictures  # noqa: PLC0415

    return pictures.floor_svg(layout)


def write_faults(results: Sequence[dict[str, Any]], path: Path, *, force: bool = False) -> None:
    """Draw what failures leave of networks; see :func:`topoloom.plotting.faults.write_faults`."""
    require(*DRAWING)
    from topoloom.plotting import faults as pictures  # noqa: PLC0415

    pictures.write_faults(results, path, force=force)


def write_makespans(found: "Makespans", path: Path, *, force: bool = False) -> None:
    """Draw makespans as bars; see :func:`topoloom.plotting.makespans.write_makespans`."""
    require(*DRAWING)
    from topoloom.plotting import makespans as pictures  # noqa: PLC0415

    pictures.write_makespans(found, path, force=force)
