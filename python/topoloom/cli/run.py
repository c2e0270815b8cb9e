"""``topoloom run``: a study, from where it stands to its end."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.live import Live
from rich.table import Table
from rich.text import Text

from topoloom._core import TopoloomError
from topoloom.cli import status
from topoloom.cli.console import console, print_json, print_table, say
from topoloom.cli.jobs import Where, executor_of, takes_jobs, write_script
from topoloom.cli.results import summary_tables
from topoloom.studies import Executor, Ledger, Progress, Results, Study, run_points
from topoloom.studies.running import checked
from topoloom.studies.shares import Journal, share_of, take_in
from topoloom.writable import check_writable

SHOWN_FAILURES = 5
SHOWN_WORK = 6
TOLD_EVERY_S = 10.0
"""How often progress is told in a line where stderr is no terminal."""


@takes_jobs
def run(
    context: typer.Context,
    study: Annotated[
        Path | None, typer.Argument(metavar="STUDY.toml", help="The study; see docs/studies.md.", show_default=False)
    ] = None,
    store: Annotated[
        Path | None,
        typer.Option("--store", metavar="FOLDER", help="Where results are kept; STUDY.store beside it unless given."),
    ] = None,
    workers: Annotated[
        int | None, typer.Option("--workers", metavar="N", min=1, help="Processes; one a processor unless given.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="report.html", help="Write the report, one HTML file.")
    ] = None,
    keep_going: Annotated[
        bool, typer.Option("--keep-going", help="Skip points that cannot be run instead of refusing the study.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Check the study and count its points.")] = False,
    schema: Annotated[bool, typer.Option("--schema", help="Print the JSON schema of study files.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the results as JSON, and nothing else.")] = False,
    *,
    where: Where,
) -> int:
    """Run a study: sweeps of networks, routings, traffic and loads. Resumes where it was stopped."""
    if schema:
        from topoloom.studies.schema import study_schema  # noqa: PLC0415 - named here alone

        print_json(study_schema())
        return status.DONE
    if study is None:
        raise TopoloomError("run takes a study file, such as topoloom run STUDY.toml")
    read = Study.read(study)
    folder = store or study.with_suffix(".store")
    if dry_run:
        return _dry_run(read, folder)
    if where.script is not None:
        return write_script(study, read, folder, where)
    executor = executor_of(where, workers)
    if where.share is not None:
        return _run_share(read, folder, where.share, executor)
    if out is not None:
        check_writable(out)
    results, progress = _run(read, folder, executor, keep_going=keep_going)
    _print(read, folder, results, json=json)
    if out is not None:
        _write_report(read, results, out, context.obj, finished=progress.finished, store=folder.name)
    return exit_status(progress)


def _run(study: Study, folder: Path, executor: Executor, *, keep_going: bool) -> tuple[Results, Progress]:
    """Run what the store lacks; return all results of the study, and how it ended."""
    points = study.points()
    with Ledger(folder) as ledger:
        if new := take_in(ledger, study.name):
            say(f"{new} points were done by jobs of the array")
        with Told(study.name, folder) as told:
            progress = run_points(
                points, ledger, executor, name=study.name, keep_going=keep_going, on_progress=told.update
            )
        results = Results(ledger.rows()).of(point.key for point in points if point.key in progress.stored)
    tell_failures(progress)
    return results, progress


def _print(study: Study, folder: Path, results: Results, *, json: bool) -> None:
    if json:
        print_json({"study": study.name, "store": str(folder), "points": [dict(row) for row in results.rows]})
    else:
        summary_tables(results)


def _run_share(study: Study, folder: Path, share: int, executor: Executor) -> int:
    """Run one share into its journal."""
    points = share_of(study.points(), folder, share)
    with Journal(folder, share) as journal, Told(f"{study.name}, share {share}", folder) as told:
        progress = run_points(points, journal, executor, name=study.name, on_progress=told.update)
    tell_failures(progress)
    return exit_status(progress)


def _dry_run(study: Study, folder: Path) -> int:
    """Check every point, and print how many there are of each sweep, and how many are done."""
    points = study.points()
    checked(points, keep_going=False)
    states = {}
    if folder.exists():
        with Ledger(folder, create=False) as ledger:
            states = ledger.states()
    counts: dict[tuple[str, str], list[int]] = {}
    for point in points:
        count = counts.setdefault((point.origin, point.kind), [0, 0])
        count[0] += 1
        count[1] += states.get(point.key) == "done"
    rows = [[origin, kind, str(count), str(done)] for (origin, kind), (count, done) in counts.items()]
    print_table(["sweep", "kind", "points", "done"], rows, left=2)
    return status.DONE


def _write_report(
    study: Study, results: Results, out: Path, command: Sequence[str], *, finished: bool, store: str
) -> None:
    from topoloom.studies.reporting import study_report  # noqa: PLC0415 - the report's libraries load slowly

    out.write_text(study_report(study, results, command, finished=finished, store=store), encoding="utf-8")
    say(f"the report is in {out}")


class Told:
    """Tells how far a run is: a live table on a terminal, a line now and then elsewhere."""

    def __init__(self, name: str, folder: Path) -> None:
        self._name = name
        self._folder = folder
        errors = console(stderr=True)
        self._live = Live(console=errors, transient=True, refresh_per_second=4) if errors.is_terminal else None
        self._said = time.monotonic()
        self._began = time.monotonic()

    def __enter__(self) -> "Told":
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
        elif time.monotonic() - self._said > TOLD_EVERY_S:
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
    for what, points in (("skipped", progress.skipped), ("failed", progress.failed)):
        for point, why in list(points.items())[:SHOWN_FAILURES]:
            say(f"{what}: {point.label()}: {why}")
        if len(points) > SHOWN_FAILURES:
            say(f"{what}: {len(points) - SHOWN_FAILURES} points more")


def exit_status(progress: Progress) -> int:
    """Say how a run ended, and return the exit status that goes with it."""
    if not progress.finished:
        say(f"interrupted; {progress.done} of {progress.total} points are done, and the same command goes on")
        return status.INTERRUPTED
    say(f"{progress.done} of {progress.total} points are done, {progress.before} of them before this run")
    return status.CHECK_FAILED if progress.failed else status.DONE
