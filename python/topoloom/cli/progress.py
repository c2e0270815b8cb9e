"""How far a run of points is, what became of them, and how it ended."""

import time
from collections.abc import Mapping
from pathlib import Path

from rich.live import Live
from rich.table import Table
from rich.text import Text

from topoloom.cli import status
from topoloom.cli.console import console, say
from topoloom.studies import Progress, StudyPoint

SHOWN_FAILURES = 5
SHOWN_WORK = 6
TOLD_EVERY_S = 10.0
"""Seconds between lines of progress where stderr is no terminal."""


class ProgressDisplay:
    """Shows the progress of a run: a live table on a terminal, a line now and then elsewhere."""

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
        """Show how far it is."""
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
            table.add_row(Text(f"  {progress.elsewhere} points are with another run", style="yellow"))
        for point, error in list(progress.failed.items())[-2:]:
            table.add_row(Text(f"  failed: {point.label()}: {error}", style="red"))
        table.add_row(Text(f"  store {self._folder}, {duration(time.monotonic() - self._began)} so far", style="dim"))
        return table


def duration(seconds: float) -> str:
    """Return a time as people say it."""
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {seconds:02} s" if minutes else f"{seconds} s"


def tell_failures(progress: Progress) -> None:
    """Say which points were skipped or failed, and why."""
    tell_points("skipped", progress.skipped)
    tell_points("failed", progress.failed)


def tell_points(what: str, points: Mapping[StudyPoint, str]) -> None:
    """Say of points what became of them, and why; of many, the first few."""
    for point, why in list(points.items())[:SHOWN_FAILURES]:
        say(f"{what}: {point.label()}: {why}")
    if len(points) > SHOWN_FAILURES:
        say(f"{what}: {len(points) - SHOWN_FAILURES} points more")


def exit_status(progress: Progress) -> int:
    """Say how a run ended, and return the exit status that goes with it."""
    if not progress.finished:
        say(f"interrupted; {progress.done} of {progress.total} points are done, and the same command resumes")
        return status.INTERRUPTED
    say(f"{progress.done} of {progress.total} points are done, {progress.before} of them before this run")
    return status.CHECK_FAILED if progress.failed else status.DONE
