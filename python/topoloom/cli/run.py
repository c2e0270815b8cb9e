"""``topoloom run``: a study, from where it stands to its end."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from topoloom._core import TopoloomError
from topoloom.cli import status
from topoloom.cli.console import print_json, print_table, say
from topoloom.cli.jobs import Execution, executor_of, takes_jobs, tell_notes, write_script
from topoloom.cli.parameters import Force
from topoloom.cli.progress import ProgressDisplay, exit_status, tell_failures, tell_points
from topoloom.cli.results import summary_tables
from topoloom.files import REPORT, check_writable, write_file
from topoloom.studies import Executor, Ledger, Progress, Results, Study, run_points
from topoloom.studies.job_array import Journal, share_of, take_in
from topoloom.studies.reporting import study_report
from topoloom.studies.running import checked
from topoloom.studies.schema import study_schema


@takes_jobs
def run(
    context: typer.Context,
    study: Annotated[
        Path | None, typer.Argument(metavar="STUDY.toml", help="The study; see docs/studies.md.", show_default=False)
    ] = None,
    store: Annotated[
        Path | None,
        typer.Option("--store", metavar="FOLDER", help="The store of results; STUDY.store unless given."),
    ] = None,
    workers: Annotated[
        int | None, typer.Option("--workers", metavar="N", min=1, help="Processes; one per processor unless given.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="report.html", help="Write the report, one HTML file.")
    ] = None,
    force: Force = False,
    keep_going: Annotated[
        bool, typer.Option("--keep-going", help="Skip points that cannot be run instead of rejecting the study.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Check the study and count its points.")] = False,
    schema: Annotated[bool, typer.Option("--schema", help="Print the JSON schema of study files.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print only the results, as JSON.")] = False,
    *,
    where: Execution,
) -> int:
    """Run a study: sweeps of networks, routings, traffic and loads; resumes where it was stopped."""
    if schema:
        print_json(study_schema())
        return status.DONE
    if study is None:
        raise TopoloomError("run takes a study file, such as topoloom run STUDY.toml")
    read = Study.read(study)
    folder = store or study.with_suffix(".store")
    if dry_run:
        return _dry_run(read, folder, keep_going=keep_going)
    if where.script is not None:
        _refuse_results("--script", out, json=json)
        return write_script(study, read, folder, where, workers, force=force, keep_going=keep_going)
    executor = executor_of(where, workers)
    if where.share is not None:
        _refuse_results("--share", out, json=json)
        return _run_share(read, folder, where.share, executor, keep_going=keep_going)
    check_writable(out, REPORT, force=force)
    results, progress = _run(read, folder, executor, keep_going=keep_going)
    _print(read, folder, results, json=json)
    if out is not None:
        _write_report(read, results, out, context.obj, finished=progress.finished, store=folder.name, force=force)
    return exit_status(progress)


def _refuse_results(option: str, out: Path | None, *, json: bool) -> None:
    """Reject a request for results of a study of which only a part, or none, is stored."""
    if out is not None or json:
        name = "--json" if json else "--out"
        raise TopoloomError(f"{option} shows no results; give {name} to the run that takes in what the jobs did")


def _run(study: Study, folder: Path, executor: Executor, *, keep_going: bool) -> tuple[Results, Progress]:
    """Run what the store lacks; return all results of the study, and how it ended."""
    points = study.points()
    with Ledger(folder) as ledger:
        tell_notes(ledger)
        if new := take_in(ledger, study.name):
            say(f"{new} points were done by jobs of the array")
        with ProgressDisplay(study.name, folder) as display:
            progress = run_points(
                points, ledger, executor, name=study.name, keep_going=keep_going, on_progress=display.update
            )
        results = Results(ledger.rows()).of(
            key for point in points if point.key in progress.stored for key in point.keys
        )
        tell_notes(ledger)
    tell_failures(progress)
    return results, progress


def _print(study: Study, folder: Path, results: Results, *, json: bool) -> None:
    if json:
        print_json({"study": study.name, "store": str(folder), "points": [dict(row) for row in results.rows]})
    else:
        summary_tables(results)


def _run_share(study: Study, folder: Path, share: int, executor: Executor, *, keep_going: bool) -> int:
    """Run one share into its journal."""
    points = share_of(study.points(), folder, share)
    with Journal(folder, share) as journal, ProgressDisplay(f"{study.name}, share {share}", folder) as display:
        progress = run_points(
            points, journal, executor, name=study.name, keep_going=keep_going, on_progress=display.update
        )
    tell_failures(progress)
    return exit_status(progress)


def _dry_run(study: Study, folder: Path, *, keep_going: bool) -> int:
    """Check every point, and print how many there are of each sweep, and how many are done."""
    points = study.points()
    tell_points("skipped", skipped := checked(points, keep_going=keep_going))
    points = [point for point in points if point not in skipped]
    states = {}
    if folder.exists():
        with Ledger(folder, create=False) as ledger:
            states = ledger.states()
            tell_notes(ledger)
    counts: dict[tuple[str, str], list[int]] = {}
    for point in points:
        count = counts.setdefault((point.origin, point.kind), [0, 0])
        count[0] += 1
        count[1] += point.among(states) == "done"
    rows = [[origin, kind, str(count), str(done)] for (origin, kind), (count, done) in counts.items()]
    print_table(["sweep", "kind", "points", "done"], rows, left=2)
    return status.DONE


def _write_report(
    study: Study, results: Results, out: Path, command: Sequence[str], *, finished: bool, store: str, force: bool
) -> None:
    page = study_report(study, results, command, finished=finished, store=store)
    write_file(out, page, REPORT, force=force)
    say(f"the report is in {out}")
