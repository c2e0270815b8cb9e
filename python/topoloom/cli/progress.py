"""How far a run of points is, what became of them, and how it ended."""

import time
from collections.abc import Mapping
from pathlib import Path

from rich.live import Live
from rich.table import Table
from rich.text import Text

from topoloom.cli import status
from topoloom.cli.console import console, duration, say
from topoloom.studies import Progress, StudyPoint
from topoloom.wording import counted

SHOWN_FAILURES = 5
SHOWN_WORK = 6
TOLD_EVERY_S = 10.0
"""Seconds between lines of progress where stderr is no terminal."""


class ProgressDisplay:
    """Shows the progress of a run: a live table on a terminal, else a line now and then.

    Args:
        name: The name of the run.
        folder: Its store.
        every_s: Seconds between lines where stderr is no terminal.

    >>> with ProgressDisplay("one", Path("one.store")) as display:
    ...     display.update(Progress(total=4, done=1))
    """

    def __init__(self, name: str, folder: Path, every_s: float = TOLD_EVERY_S) -> None:
        self._name = name
        self._every_s = every_s
        self._folder = folder
        errors = console(stderr=True)
        self._live = Live(console=errors, transient=True, refresh_per_second=4) if errors.is_terminal else None
        self._said = time.monotonic()
        self._began = time.monotonic()

    def __enter__(self) -> "ProgressDisplay":
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(self, *exception: object) -> None:
        if self._live is not None:
            self._live.stop()

    def update(self, progress: Progress) -> None:
        """Show the progress.

        Args:
            progress: The progress.
        """
        if self._live is not None:
            self._live.update(self._table(progress))
        elif time.monotonic() - self._said > self._every_s:
            self._said = time.monotonic()
            say(self._line(progress))

    def _line(self, progress: Progress) -> str:
        left = "" if progress.left_s is None else f", {duration(progress.left_s)} left"
        failed = f", {len(progress.failed)} failed" if progress.failed else ""
        return f"{self._name}: {progress.done} of {progress.total} points done{failed}{left}"

    def _table(self, progress: Progress) -> Table:
        table = Table(box=None, pad_edge=False, show_header=False)
        table.add_column(overflow="ellipsis", no_wrap=True)
        table.add_row(Text(self._line(progress), style="bold"))
        share = progress.done / progress.total if progress.total else 1.0
        table.add_row(Text("━" * round(40 * share), style="green") + Text("━" * (40 - round(40 * share)), style="dim"))
        points = list(progress.under_way.values())
        for point in points[:SHOWN_WORK]:
            table.add_row(Text("  " + point.label(), style="cyan"))
        if progress.elsewhere:
            table.add_row(
                Text(f"  {counted(progress.elsewhere, 'point is', 'points are')} with another run", style="yellow")
            )
        for point, error in list(progress.failed.items())[-2:]:
            table.add_row(Text(f"  failed: {point.label()}: {error}", style="red"))
        table.add_row(Text(f"  store {self._folder}, {duration(time.monotonic() - self._began)} so far", style="dim"))
        return table


def tell_failures(progress: Progress) -> None:
    """Report on stderr which points were skipped or failed, and why.

    Args:
        progress: The progress of the run.

    >>> tell_failures(Progress(total=4, done=4))
    """
    tell_points("skipped", progress.skipped)
    tell_points("failed", progress.failed)


def tell_points(what: str, points: Mapping[StudyPoint, str]) -> None:
    """Report on stderr what became of points, and why; of many, the first few.

    Args:
        what: What became of them, unchecked.
        points: The reasons, by points.

    >>> tell_points("skipped", {})
    """
    for point, why in list(points.items())[:SHOWN_FAILURES]:
        say(f"{what}: {point.label()}: {why}")
    if len(points) > SHOWN_FAILURES:
        say(f"{what}: {counted(len(points) - SHOWN_FAILURES, 'point')} more")


def exit_status(progress: Progress) -> int:
    """Report how a run ended, and return the exit status, a number.

    Args:
        progress: The progress at the end.

    >>> exit_status(Progress(total=4, done=4)), exit_status(Progress(total=4, done=1))
    (0, 130)
    """
    if not progress.finished:
        say(f"interrupted; {progress.done} of {progress.total} points are done, and the same command resumes")
        return status.INTERRUPTED
    say(f"{progress.done} of {progress.total} points are done, {progress.before} of them before this run")
    return status.CHECK_FAILED if progress.failed else status.DONE
