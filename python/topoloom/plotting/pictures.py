"""What all pictures share: colours, matplotlib's settings, and how they are written."""

from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from topoloom._core import TopoloomError, unknown
from topoloom.files import PICTURES, check_writable, picture, replacing
from topoloom.libraries import require

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PALETTE = ("#2563a8", "#d9772b", "#3a9a5b", "#8d5fb5", "#b8434e", "#7a6a58", "#2a9aa3", "#c2a21f")
INK, GREY, PALE, PAPER = "#1f2933", "#52606d", "#9aa5b1", "#ffffff"

MOST_VECTOR_LINES = 15_000
"""More lines than these are put into an SVG as a picture, which browsers can still show."""


PLOTS = (".png", ".svg")
"""The formats of a plot, by the ending of its file."""


@contextmanager
def plain() -> Iterator[None]:
    """Within this, figures are made and written: the same figure gives the same file, and ``$`` begins no formula.

    Names of files and networks appear in pictures, and may have dollar signs.

    Raises:
        TopoloomError: The extra with matplotlib is missing.

    >>> import matplotlib
    >>> with plain():
    ...     matplotlib.rcParams["text.parse_math"]
    False
    """
    require("matplotlib")
    import matplotlib as mpl  # noqa: PLC0415 - loads slowly

    with mpl.rc_context({"svg.hashsalt": "topoloom", "text.parse_math": False}):
        yield


def check_path(path: Path, *, force: bool = False) -> None:
    """Check that a picture can be written.

    Args:
        path: The file.
        force: Allow a file of another kind to be overwritten.

    Raises:
        TopoloomError: An ending that stands for no kind of picture; a file of another kind is there; a place that
            cannot be written to.

    >>> check_path(Path("torus.svg"))
    """
    if path.suffix.lower() not in PICTURES:
        raise TopoloomError(f"{path}: {unknown('ending of a picture', path.suffix, list(PICTURES))}")
    check_writable(path, picture(path), force=force)


def svg(figure: "Figure") -> bytes:
    """Return a picture as an SVG; the same figure gives the same bytes.

    Args:
        figure: The picture.

    >>> from matplotlib.figure import Figure
    >>> svg(Figure())[:5]
    b'<?xml'
    """
    file = BytesIO()
    with plain():
        figure.savefig(file, format="svg", dpi=160, metadata={"Date": None})
    return file.getvalue()


def save(figure: "Figure", path: Path, *, force: bool = False) -> None:
    """Write a picture; the same figure gives the same file.

    Args:
        figure: The picture.
        path: The file; its name ends in .svg, .png or .pdf.
        force: Overwrite a file of another kind.

    Raises:
        TopoloomError: A file of another kind is there; a place that cannot be written to.

    >>> import tempfile
    >>> from matplotlib.figure import Figure
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(Figure(), Path(folder, "empty.svg"))
    ...     Path(folder, "empty.svg").read_bytes() == svg(Figure())
    True
    """
    date = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}, ".png": {"Software": None}}
    ending = path.suffix.lower()
    with plain(), replacing(path, picture(path), force=force) as file:
        figure.savefig(file, format=ending[1:], dpi=160, metadata=date[ending])


def check_plot(path: Path) -> None:
    """Reject the path of a plot whose ending names no format.

    Args:
        path: The file.

    Raises:
        TopoloomError: An ending other than those of :data:`PLOTS`.

    >>> from pathlib import Path
    >>> check_plot(Path("curves.svg"))
    """
    if path.suffix.lower() not in PLOTS:
        raise TopoloomError(f"--plot is '{path}'; its name must end in {' or '.join(PLOTS)}")


def save_plot(figure: "Figure", path: Path, *, force: bool) -> None:
    """Write a plot; the same figure gives the same file.

    Args:
        figure: The plot.
        path: The file; its name ends in .svg or .png.
        force: Overwrite a file of another kind.

    Raises:
        TopoloomError: A file of another kind is there; a place that cannot be written to.

    >>> import tempfile
    >>> from matplotlib.figure import Figure
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_plot(Figure(), Path(folder, "empty.png"), force=False)
    ...     Path(folder, "empty.png").read_bytes()[1:4]
    b'PNG'
    """
    ending = path.suffix.lower()
    with replacing(path, picture(path), force=force) as file:
        figure.savefig(file, format=ending[1:], dpi=150, metadata={"Date": None} if ending == ".svg" else None)
