"""What points play instead of a traffic pattern: an application, jobs beside each other, or the jobs of a past day."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import fmean
from typing import Any

from topoloom import _core
from topoloom._core import TopoloomError
from topoloom.network.networks import Network
from topoloom.simulation.options import checked
from topoloom.studies.contents import digest
from topoloom.workload.applications import Application
from topoloom.workload.concurrent import ConcurrentRun, listed_jobs
from topoloom.workload.options import WorkloadOptions
from topoloom.workload.replay import ALLOCATOR, MIX, ReplayRun
from topoloom.workload.runs import WorkloadRun
from topoloom.workload.sacct import read_jobs

Result = dict[str, Any]


class JobsOptions(WorkloadOptions):
    """How jobs run that share a machine.

    Attributes:
        placement: What gives jobs their terminals: ``topoloom list allocators`` shows them.
    """

    placement: str = "contiguous"


class ReplayOptions(WorkloadOptions):
    """How the jobs of an accounting file are replayed.

    Attributes:
        placement: What gives jobs their nodes.
        backfill: Whether later jobs may begin before the first one that waits, where that cannot delay it.
        mix: What jobs repeat: parts such as ``halo,computing=1s``, with spaces between them.
    """

    placement: str = ALLOCATOR
    backfill: bool = False
    mix: str = " ".join(MIX)


@dataclass(frozen=True)
class Played:
    """What the points of a kind play.

    Attributes:
        what: What `apps` names, for people.
        files: Returns the paths of the files that a name reads; only the one named if it cannot be read.
        check: Raises what makes a point impossible: network, name, routing and options are given.

    >>> APPLICATIONS.files("goal:own.goal"), PAST_JOBS.files("day.csv")
    (['own.goal'], ['day.csv'])
    """

    what: str
    files: Callable[[str], list[str]]
    check: Callable[[Network, str, str, Mapping[str, Any]], object]


@lru_cache(maxsize=4096)
def _files_of_application(app: str) -> list[str]:
    return _core.files_of("app", app)


def _check_application(network: Network, app: str, routing: str, given: Mapping[str, Any]) -> None:
    """Check an application, its mapping and its routing, without what takes much memory."""
    options = checked(WorkloadOptions, given)
    core = network.core if options.fail is None else network.core.with_failures(options.fail)
    _core.Routing(core, routing)
    _application(app, network.num_terminals, tuple(map(digest, _files_of_application(app))))


@lru_cache(maxsize=256)
def _application(app: str, tasks: int, contents: tuple[str | None, ...]) -> None:  # noqa: ARG001 - other files
    """Build an application once to see that it can be."""
    Application(app, tasks)


def play_application(network: Network, app: str, routing: str, given: Mapping[str, Any]) -> Result:
    """Return what ``topoloom workload --json`` prints of an application.

    Args:
        network: The network.
        app: The application.
        routing: The routing.
        given: Options, as in Python.

    Raises:
        TopoloomError: Whatever makes the run impossible.

    >>> play_application(Network("mesh:4"), "reduce", "dor", {})["tasks"]
    4
    """
    return WorkloadRun(network, app, routing, checked(WorkloadOptions, given)).play().model_dump()


def _files_of_jobs(file: str) -> list[str]:
    named = [file] if file.endswith(".toml") else []
    try:
        apps = [_core.Job(job).app for job in listed_jobs(file)]
    except TopoloomError:  # reported when the point is checked
        return named
    return list(dict.fromkeys([*named, *(path for app in apps for path in _files_of_application(app))]))


def _concurrent(network: Network, file: str, routing: str, given: Mapping[str, Any]) -> ConcurrentRun:
    options = checked(JobsOptions, given)
    return ConcurrentRun(network, [file], options.placement, routing, options)


def play_jobs(network: Network, file: str, routing: str, given: Mapping[str, Any]) -> Result:
    """Return what ``topoloom workload --job FILE.toml --json`` prints, with the mean and the largest slowdown.

    Args:
        network: The network.
        file: The jobs, in TOML.
        routing: The routing.
        given: Options, as in Python.

    Raises:
        TopoloomError: Whatever makes the run impossible.

    >>> play_jobs(Network("mesh:4"), "reduce,tasks=2", "dor", {})["slowdown_mean"]
    1.0
    """
    found = _concurrent(network, file, routing, given).run()
    return found.to_dict() | _slowdowns([job.slowdown for job in found.jobs])


def _replay(network: Network, file: str, routing: str, given: Mapping[str, Any]) -> ReplayRun:
    options = checked(ReplayOptions, given)
    queue = (options.placement, options.backfill)
    return ReplayRun(network, read_jobs(file), options.mix.split(), queue, routing, options)


def play_past_jobs(network: Network, file: str, routing: str, given: Mapping[str, Any]) -> Result:
    r"""Return what ``topoloom workload --sacct FILE --json`` prints, with the mean and the largest slowdown.

    Args:
        network: The network.
        file: The accounting file.
        routing: The routing.
        given: Options, as in Python.

    Raises:
        TopoloomError: Whatever makes the run impossible.

    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     day = Path(folder, "day.csv")
    ...     size = day.write_text("JobID,NNodes,Submit,ElapsedRaw\n1,2,2026-01-01T00:00:00,10\n")
    ...     play_past_jobs(Network("mesh:4"), str(day), "dor", {})["slowdown_max"]
    1.0
    """
    found = _replay(network, file, routing, given).run(_core.CancelToken())
    return found.to_dict() | _slowdowns(found.slowdowns)


def _slowdowns(own: Sequence[float]) -> Result:
    """Return by how much others slow jobs."""
    return {"slowdown_mean": fmean(own) if own else None, "slowdown_max": max(own, default=None)}


APPLICATIONS = Played("applications", _files_of_application, _check_application)
JOBS = Played("files of jobs", _files_of_jobs, _concurrent)
PAST_JOBS = Played("accounting files", lambda file: [file], _replay)
