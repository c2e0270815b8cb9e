"""What all pictures share: colours, and how they are written."""

from io import BytesIO
from pathlib import Path

from matplotlib.figure import Figure

from topoloom._core import TopoloomError, unknown
from topoloom.files import PICTURES, check_writable, picture, replacing
from topoloom.pictures import plain

PALETTE = ("#2563a8", "#d9772b", "#3a9a5b", "#8d5fb5", "#b8434e", "#7a6a58", "#2a9aa3", "#c2a21f")
INK, GREY, PALE, PAPER = "#1f2933", "#52606d", "#9aa5b1", "#ffffff"

MOST_VECTOR_LINES = 15_000
"""More lines than these are put into an SVG as a picture, which browsers can still show."""


def check_path(path: Path, *, force: bool = False) -> None:
    """Check that a picture can be written.

    Raises:
        TopoloomError: An ending that stands for no kind of picture; a file of another kind is there.
        OSError: A place that cannot be written to.
    """
    if path.suffix.lower() not in PICTURES:
        raise TopoloomError(f"{path}: {unknown('ending of a picture', path.suffix, list(PICTURES))}")
    check_writable(path, picture(path), force=force)


def svg(figure: Figure) -> bytes:
    """Return a picture as an SVG; the same figure gives the same bytes."""
    file = BytesIO()
    with plain():
        figure.savefig(file, format="svg", dpi=160, metadata={"Date": None})
    return file.getvalue()


def save(figure: Figure, path: Path, *, force: bool = False) -> None:
    """Write a picture; the same figure gives the same file."""
    date = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}, ".png": {"Software": None}}
    ending = path.suffix.lower()
    with plain(), replacing(path, picture(path), force=force) as file:
        figure.savefig(file, format=ending[1:], dpi=160, metadata=date[ending])
