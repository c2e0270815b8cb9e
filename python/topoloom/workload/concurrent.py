"""Jobs that share a machine: how long each takes alone, and beside the others."""

import time
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict

from topoloom import _core
from topoloom._core import TopoloomError
from topoloom.engine.results import BusyChannel
from topoloom.files import read_text
from topoloom.network.networks import Network, as_networks
from topoloom.simulation.options import checked
from topoloom.simulation.roles import adapts, routing_on
from topoloom.workers import interruptible
from topoloom.workload.options import WorkloadOptions
from topoloom.workload.runs import changes_said, rate_said

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

ALONE = "alone: each job by itself, on the same terminals; slowdown: beside the others over alone"
SHARES = "shares of a channel: the bytes that each job puts on it alone, over those of all"
PLACED = "jobs have their terminals from the start to the end of all of them"


class ConcurrentJob(BaseModel):
    """How a job went.

    Attributes:
        app: The application.
        tasks: How many tasks it has.
        terminals: The terminals of its tasks, in their order.
        start_s: When it began, in seconds.
        alone_s: How long it takes alone, on the same terminals.
        beside_s: How long it took beside the others.
    """

    model_config = ConfigDict(frozen=True)

    app: str
    tasks: int
    terminals: list[int]
    start_s: float
    alone_s: float
    beside_s: float

    @property
    def slowdown(self) -> float:
        """How many times longer it took beside the others than alone; 1 if it takes no time."""
        return self.beside_s / self.alone_s if self.alone_s else 1.0


class SharedChannel(BaseModel):
    """A busy channel, and the jobs that use it.

    Attributes:
        channel: The channel: where it leads from and to, its class, and the part of its capacity that was used.
        shares: The part of each job, in the order of jobs.
    """

    model_config = ConfigDict(frozen=True)

    channel: dict[str, Any]
    shares: list[float]


@dataclass(frozen=True)
class Concurrent:
    """How jobs went that shared a machine.

    Attributes:
        spec: The network.
        routing: The routing that ran.
        allocator: What gave jobs their terminals.
        occupied: Terminals that others had.
        jobs: The jobs.
        makespan_s: When the last of them was done.
        channels: The busiest channels.
        rate: At which rates links run, as a sentence.
        notes: What is worth knowing, a sentence each.
        wall_s: Seconds that it took.
    """

    spec: str
    routing: str
    allocator: str
    occupied: int
    jobs: list[ConcurrentJob]
    makespan_s: float
    channels: list[SharedChannel]
    rate: str
    notes: list[str] = field(default_factory=list)
    wall_s: float = 0.0

    @cached_property
    def assumptions(self) -> list[str]:
        """What the times rest on, a sentence each."""
        return [ALONE, SHARES, PLACED, self.rate]

    def to_dict(self) -> dict[str, Any]:
        """Return what ``workload --job … --json`` prints.

        >>> concurrent("mesh:4", ["reduce,tasks=2", "reduce,tasks=2"]).to_dict()["spec"]
        'mesh:4'
        """
        return {
            "spec": self.spec,
            "routing": self.routing,
            "allocator": self.allocator,
            "occupied": self.occupied,
            "makespan_s": self.makespan_s,
            "jobs": [job.model_dump() | {"slowdown": job.slowdown} for job in self.jobs],
            "channels": [own.model_dump() for own in self.channels],
            "assumptions": self.assumptions,
            "notes": self.notes,
            "wall_s": self.wall_s,
        }


def concurrent(
    network: str | Network,
    jobs: Sequence[str],
    *,
    allocator: str = "contiguous",
    routing: str = "minimal",
    **options: Any,
) -> Concurrent:
    """Run jobs that share a machine, each alone as well, by the flow engine.

    Args:
        network: A spec or a network.
        jobs: ``APP,tasks=256,start=0s`` each, or files in TOML with a table ``[[job]]`` for each.
        allocator: What gives jobs their terminals; ``topoloom list allocators`` shows them.
        routing: A routing, or the role ``minimal`` or ``adaptive``.
        **options: What :class:`WorkloadOptions` names, mappings aside.

    Raises:
        TopoloomError: A mistake in an argument; a job that does not fit.

    >>> found = concurrent("mesh:8", ["alltoall,tasks=4", "alltoall,tasks=4,start=1ms"])
    >>> [round(job.slowdown, 3) for job in found.jobs]
    [1.0, 1.0]
    """
    (own,) = as_networks([network])
    return ConcurrentRun(own, jobs, allocator, routing, checked(WorkloadOptions, options)).run()


class ConcurrentRun:
    """Jobs that wait to be run on a machine.

    Args:
        network: The network.
        jobs: The jobs, as for :func:`concurrent`.
        allocator: What gives them their terminals.
        role: A routing, or a role.
        options: How they are run.

    Raises:
        TopoloomError: Arguments that do not go together; a job that does not fit.
    """

    def __init__(
        self, network: Network, jobs: Sequence[str], allocator: str, role: str, options: WorkloadOptions
    ) -> None:
        if options.engine != "flow":
            raise TopoloomError("jobs that share a machine run in the flow engine, but engine is cycle")
        if options.mapping != "linear":
            raise TopoloomError("mapping places the tasks of one application; jobs are placed by allocator, or by on=")
        self.core = network.core if options.fail is None else network.core.with_failures(options.fail)
        self.options, self.allocator = options, allocator
        self.routing = _core.Routing(self.core, routing_on(self.core, role))
        listed = [_core.Job(text) for job in jobs for text in listed_jobs(job)]
        self.workloads = interruptible(
            lambda: [job.workload(self.core, options.rate, options.changes) for job in listed]
        )
        self.starts = [job.start_s for job in listed]
        demands = [
            (f"job {place} ({job.app})", workload.tasks, job.on)
            for place, (job, workload) in enumerate(zip(listed, self.workloads, strict=True), 1)
        ]
        self.placed, self.occupied = _core.allocate(allocator, self.core, demands)
        for workload in self.workloads:
            _core.flow_check(workload, options.flow_engine, options.rate, options.seed, options.endpoint)

    def run(self, cancel: _core.CancelToken | None = None) -> Concurrent:
        """Run each job alone, then all of them beside each other.

        Args:
            cancel: A token that another thread may cancel; None: one of its own.

        >>> from topoloom import network
        >>> run = ConcurrentRun(network("mesh:4"), ["reduce,tasks=2"] * 2, "contiguous", "minimal", WorkloadOptions())
        >>> len(run.run().jobs)
        2
        """
        begun = time.monotonic()
        cancel = cancel or _core.CancelToken()
        alone = [self._play(*own, cancel) for own in zip(self.workloads, self.placed, strict=True)]
        everybody = _core.Workload.together(list(zip(self.workloads, self.starts, strict=True)))
        terminals = [terminal for own in self.placed for terminal in own]
        result, _, times, computations = self._play(everybody, terminals, cancel)
        ends = everybody.ends(times, computations)
        jobs, first = [], 0
        for workload, placed, start_s, (by_itself, *_) in zip(
            self.workloads, self.placed, self.starts, alone, strict=True
        ):
            end_s = float(max(ends[first : first + workload.tasks], default=start_s))
            first += workload.tasks
            told = {"app": workload.spec, "tasks": workload.tasks, "terminals": placed, "start_s": start_s}
            took = {"alone_s": by_itself.makespan_s, "beside_s": max(end_s - start_s, 0.0)}
            jobs.append(ConcurrentJob(**told, **took))
        notes = list(dict.fromkeys(note for own in self.workloads for note in own.notes))
        notes += changes_said(self.options)
        if adapts(self.core, self.routing.name):
            notes.append(f"{self.routing.name} takes other paths beside other jobs; shares are those of paths alone")
        return Concurrent(
            self.core.spec,
            self.routing.name,
            self.allocator,
            self.occupied,
            jobs,
            result.makespan_s,
            [_shared(channel, [bytes_ for _, bytes_, *_ in alone]) for channel in result.busiest],
            rate_said(self.core, self.options.rate),
            notes,
            time.monotonic() - begun,
        )

    def _play(self, workload: _core.Workload, terminals: Sequence[int], cancel: _core.CancelToken) -> Any:
        options = self.options
        told = _core.flow_workload(
            self.routing,
            workload,
            options.mapping,
            options.flow_engine,
            options.rate,
            options.seed,
            cancel,
            options.endpoint,
            list(terminals),
        )
        if not told[0].completed:
            raise KeyboardInterrupt
        return told


def _shared(channel: BusyChannel, alone: "list[npt.NDArray[np.float64]]") -> SharedChannel:
    """Return a channel with the part of each job."""
    own = [float(bytes_[channel.channel]) for bytes_ in alone]
    total = max(sum(own), 1.0)
    return SharedChannel(channel=dict(channel), shares=[bytes_ / total for bytes_ in own])


def listed_jobs(job: str) -> list[str]:
    """Return the jobs of a file, or the one that is written.

    Args:
        job: ``APP,tasks=256,start=0s``, or a file in TOML with a table ``[[job]]`` for each.

    Raises:
        TopoloomError: A file that cannot be read, or lists no jobs.

    >>> listed_jobs("reduce,tasks=2")
    ['reduce,tasks=2']
    """
    if not job.endswith(".toml"):
        return [job]
    try:
        rows = tomllib.loads(read_text(job, "the list of jobs")).get("job", [])
    except tomllib.TOMLDecodeError as error:
        raise TopoloomError(f"{job}: {error}") from None
    if not rows or not isinstance(rows, list):
        raise TopoloomError(f"{job} has no jobs; write a table [[job]] for each, with app, tasks, start or on")
    return [_row(job, place, row) for place, row in enumerate(rows, 1)]


def _row(file: str, place: int, row: Any) -> str:
    """Return a job of a file as it is written on the command line."""
    if not isinstance(row, dict) or "app" not in row:
        raise TopoloomError(f"{file}: job {place} names no app")
    other = [key for key in row if key not in ("app", "tasks", "start", "on")]
    if other:
        raise TopoloomError(f"{file}: job {place} has the key '{other[0]}'; a job has app, tasks, start and on")
    return ",".join([str(row["app"]), *(f"{key}={value}" for key, value in row.items() if key != "app")])
