"""The options that send a study's points to other machines, and what they mean."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from topoloom._core import TopoloomError
from topoloom.cli import status
from topoloom.cli.console import say
from topoloom.cli.parameters import takes
from topoloom.cli.progress import tell_points
from topoloom.files import SCRIPT, check_writable, write_file
from topoloom.studies import Executor, Ledger, LocalExecutor, Study
from topoloom.studies.clusters import SYSTEMS, DaskExecutor, JobExecutor, Jobs
from topoloom.studies.estimates import Estimates
from topoloom.studies.job_array import deal, take_in
from topoloom.studies.running import checked
from topoloom.studies.script import array_script
from topoloom.wording import counted

PANEL = "Cluster"


def _text(name: str, metavar: str, help_: str) -> Any:
    return Annotated[
        str | None, typer.Option(name, metavar=metavar, help=help_, rich_help_panel=PANEL, show_default=False)
    ]


def _count(name: str, help_: str, default: str | bool = False, least: int = 1) -> Any:
    return Annotated[
        int | None, typer.Option(name, metavar="N", help=help_, min=least, rich_help_panel=PANEL, show_default=default)
    ]


JOBS: dict[str, Any] = {
    "scheduler": _text("--scheduler", "tcp://…", "Run on the Dask cluster whose scheduler listens there."),
    "cluster": _text("--cluster", "|".join(SYSTEMS), "Run in jobs of a batch system, as workers of Dask."),
    "jobs": _count("--jobs", "The number of jobs.", "1"),
    "cores": _count("--cores", "Cores per job, and points that it runs at a time.", "1"),
    "memory": _text("--memory", "4GB", "Memory per job; 4GB unless given."),
    "queue": _text("--queue", "NAME", "The queue or partition."),
    "walltime": _text(
        "--walltime", "HH:MM:SS", "The time limit of a job, in the batch system's notation; --cluster: 30 minutes."
    ),
    "account": _text("--account", "NAME", "The account that jobs are charged to."),
    "interface": _text("--interface", "NAME", "The network by which workers reach this program, such as ib0."),
    "script": _text("--script", "FILE", "Write an array of jobs for sbatch, and run nothing."),
    "share": _count("--share", "Run one share: what a job of such an array does.", least=0),
}
"""The options that send points to other machines."""


@dataclass(frozen=True)
class Execution:
    """Where a study is to be run; this machine if everything is None.

    Attributes:
        scheduler: The address of a Dask cluster that is running.
        jobs: What to ask a batch system for.
        script: The file to write for ``sbatch`` instead of running anything.
        share: The one share to run.
    """

    scheduler: str | None = None
    jobs: Jobs | None = None
    script: Path | None = None
    share: int | None = None


def _where(given: dict[str, Any]) -> Execution:
    """Check the options of :data:`JOBS`."""
    given = {name: value for name, value in given.items() if value is not None}
    scheduler, script, share = (given.pop(name, None) for name in ("scheduler", "script", "share"))
    system = given.pop("cluster", "slurm" if script else None)
    chosen = [
        name for name, value in (("scheduler", scheduler), ("cluster", system), ("share", share)) if value is not None
    ]
    if len(chosen) > 1:
        raise TopoloomError(f"--{chosen[0]} and --{chosen[1]} both run the points; give one of them")
    if system is None and given:
        names = "|".join(SYSTEMS)
        raise TopoloomError(f"--{next(iter(given))} belongs to jobs; give --cluster {names} or --script FILE too")
    if script and system != "slurm":
        raise TopoloomError(f"--script writes a file for sbatch, which --cluster {system} does not have")
    return Execution(scheduler, Jobs(system, **given) if system else None, Path(script) if script else None, share)


takes_jobs = takes("where", JOBS, _where)
"""Gives a command the options of :data:`JOBS`; it receives them checked, as its argument `where`."""


def executor_of(where: Execution, workers: int | None) -> Executor:
    """Return the executor of the points.

    Args:
        where: Where they are run.
        workers: The number of processes on this machine; None for one per processor.

    Raises:
        TopoloomError: `workers` for a cluster.

    >>> executor_of(Execution(), 1).capacity
    3
    """
    if where.scheduler or where.jobs:
        _refuse_workers(workers)
    if where.scheduler is not None:
        return DaskExecutor(where.scheduler, say)
    return LocalExecutor(workers) if where.jobs is None else JobExecutor(where.jobs, say)


def _refuse_workers(workers: int | None) -> None:
    if workers is not None:
        raise TopoloomError("--workers counts processes of this machine; a cluster has --jobs and --cores")


def tell_notes(ledger: Ledger) -> None:
    """Print on stderr the damage of a store and its repair; each sentence once.

    Args:
        ledger: The open store.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, Ledger(Path(folder, "one.store")) as ledger:
    ...     tell_notes(ledger)
    """
    for note in ledger.notes:
        say(note)
    ledger.notes.clear()


def write_script(
    file: Path, study: Study, folder: Path, where: Execution, workers: int | None, *, force: bool, keep_going: bool
) -> int:
    """Divide the points that the ledger lacks among the jobs of an array, and write the file for sbatch.

    Args:
        file: The file of the study.
        study: The study.
        folder: The store.
        where: The jobs and the file for sbatch.
        workers: The number of processes of this machine, which must be None.
        force: Overwrite a file of another kind.
        keep_going: Skip points that cannot be run instead of rejecting the study.

    Returns:
        The exit status, a number.

    Raises:
        TopoloomError: `workers` is given, a file of another kind is there, jobs are at work, or a point cannot be run.

    >>> import tempfile
    >>> from topoloom import Sweep
    >>> study = Study(name="one", sweep=[Sweep(kind="facts", networks=["mesh:2x2"])])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     place = Path(folder)
    ...     where = Execution(jobs=Jobs("slurm"), script=place / "job.sh")
    ...     write_script(place / "s.toml", study, place / "s.store", where, None, force=False, keep_going=False)
    ...     (place / "job.sh").read_text().startswith("#!/bin/sh")
    0
    True
    """
    _refuse_workers(workers)
    script, jobs = where.script, where.jobs
    assert script is not None
    assert jobs is not None
    check_writable(script, SCRIPT, force=force)
    points = study.points()
    with Ledger(folder) as ledger:
        tell_notes(ledger)
        take_in(ledger, study.name)
        states, estimates = ledger.states(), Estimates(ledger.durations())
        ledger.pack()
    left = sorted((point for point in points if point.among(states) != "done"), key=estimates.effort)
    tell_points("skipped", skipped := checked(left, keep_going=keep_going))
    left = [point for point in left if point not in skipped]
    if not left:
        but = f" but the {len(skipped)} that are skipped" if skipped else ""
        done = (
            "the only point is done" if len(points) == 1 and not skipped else f"all {len(points)} points{but} are done"
        )
        say(f"{done}; {script} is not written")
        return status.DONE
    count = min(jobs.jobs, len(left))
    text = array_script(file, folder, replace(jobs, jobs=count), keep_going=keep_going)
    deal(left, folder, count)
    write_file(script, text, SCRIPT, force=force)
    say(
        f"{script}: {len(left)} of {counted(len(points), 'point')} in {counted(count, 'job')}; "
        f"submit it: sbatch {script}"
    )
    return status.DONE
