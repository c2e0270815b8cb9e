"""Where ``compare`` and ``saturation`` keep their points, so that they resume after an interruption."""

from pathlib import Path
from typing import Annotated

import typer

from topoloom._core import TopoloomError
from topoloom.cli import simulate
from topoloom.cli.console import say
from topoloom.simulation.curves import Curve
from topoloom.studies.kept import KeptPoints
from topoloom.wording import counted

Store = Annotated[
    Path | None,
    typer.Option(
        "--store",
        metavar="FOLDER",
        help="Keep every point there as soon as it is done, and simulate none that is there. Otherwise points are kept "
        "when the run is interrupted, and the same command resumes from them.",
        show_default=False,
    ),
]


def kept_points(store: Path | None, command: str, out: Path | None = None) -> KeptPoints:
    """Return the points of earlier runs.

    Args:
        store: The store; None for what an interrupted run left.
        command: The name of the command.
        out: The file of the report: what an interrupted run left is beside it, else in the working directory.

    Raises:
        TopoloomError: A folder that is no store of results.

    >>> kept_points(None, "compare", Path("report.html")).folder
    PosixPath('report.html.store')
    """
    beside = Path(f"{command}.store") if out is None else out.with_name(f"{out.name}.store")
    return KeptPoints(store or beside, command, always=store is not None)


def exit_status(curves: list[Curve], kept: KeptPoints, *, finished: bool) -> int:
    """Return the exit status for curves, a number; report where their points are, and what went wrong in them.

    Args:
        curves: The curves.
        kept: Their points.
        finished: Whether all of them are done.

    >>> exit_status([], kept_points(None, "compare"), finished=False)
    130
    """
    if kept.recalled:
        before = counted(kept.recalled, "point was", "points were")
        say(f"{before} simulated before and {kept.measured:,} now; all are in {kept.folder}")
    return simulate.exit_status(curves, finished, "" if finished else _where(kept))


def _where(kept: KeptPoints) -> str:
    """Keep what is not kept yet, and return what people should know of it."""
    if not kept.recalled + kept.measured:
        return ""
    try:
        kept.save()
    except TopoloomError as error:
        return f", and could not be kept: {error}"
    return f" and kept in {kept.folder}; the same command resumes"
