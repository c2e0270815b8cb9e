"""A day of a machine, as its accounting lists it: how long jobs wait and take beside each other."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from topoloom import _core
from topoloom._core import TopoloomError
from topoloom.engine.results import Replay, ReplayedJob
from topoloom.network.networks import Network, as_networks
from topoloom.simulation.options import checked
from topoloom.simulation.roles import adapts, routing_on
from topoloom.workload.options import WorkloadOptions
from topoloom.workload.runs import rate_said
from topoloom.workload.sacct import PastJob, read_jobs

MIX = ("allreduce:algorithm=ring,size=64MiB", "alltoall:algorithm=direct,size=1MiB", "halo")
"""What jobs repeat, unless it is given: one of these, by their ids, each after 1 s of computing."""

ALLOCATOR = "topology"
FLUID = (
    "collectives: all that two tasks send each other moves at once, in proportion; a collective takes as long as its "
    "busiest channel, alone and beside others; delays of links and costs of endpoints are not counted"
)
REPEATED = (
    "jobs: each computes and communicates in turn, as many times as fit into its elapsed time alone; its id chooses "
    "its part of the mix"
)
SERVED = (
    "order: a job begins at its Start, or at its Submit where the file has none, as soon as its nodes are free and all "
    "jobs before it have begun"
)
ONE_ONLY = {"engine": "flow", "mapping": "linear", "endpoint": "", "noise": "", "scale": 1}
"""Options that do not go with jobs that are replayed, and what they are then."""
FILLED_IN = (
    "order: a job begins at its Start, or at its Submit where the file has none, as soon as its nodes are free; jobs "
    "behind the first that waits begin before it where that cannot delay it, by the limits of all jobs (EASY backfill)"
)
MOST_TOLD = 10
"""Jobs in the table of those that others slow most."""


@dataclass(frozen=True)
class Replayed:
    """How the jobs of a machine went.

    Attributes:
        spec: The network.
        routing: The routing that ran.
        allocator: What gave jobs their nodes.
        backfill: Whether later jobs could begin before the first one that waits.
        mix: What jobs repeat.
        outcome: Jobs, collectives and busy channels, as the engine found them.
        rate: At which rates links run, as a sentence.
        notes: What is worth knowing, a sentence each.
        wall_s: Seconds that it took.
    """

    spec: str
    routing: str
    allocator: str
    backfill: bool
    mix: tuple[str, ...]
    outcome: Replay
    rate: str
    notes: list[str]
    wall_s: float

    @cached_property
    def assumptions(self) -> list[str]:
        """What the times rest on, a sentence each."""
        return [REPEATED, FLUID, FILLED_IN if self.backfill else SERVED, self.rate]

    @cached_property
    def slowdowns(self) -> list[float]:
        """The slowdown of each job: the time that it took over the time that it takes alone."""
        return [slowdown(job) for job in self.outcome.jobs]

    def slowest(self) -> list[ReplayedJob]:
        r"""Return the jobs that others slow most, the slowest first.

        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     jobs = Path(folder, "jobs.csv")
        ...     size = jobs.write_text("JobID,NNodes,Submit,ElapsedRaw\n1,2,2026-01-01T00:00:00,10\n")
        ...     found = replay("mesh:4", jobs)
        >>> [job.nodes for job in found.slowest()]
        [2]
        """
        order = sorted(range(len(self.slowdowns)), key=lambda place: (-self.slowdowns[place], place))
        return [self.outcome.jobs[place] for place in order[:MOST_TOLD]]

    def to_dict(self) -> dict[str, Any]:
        r"""Return what ``workload --sacct … --json`` prints.

        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     jobs = Path(folder, "jobs.csv")
        ...     size = jobs.write_text("JobID,NNodes,Submit,ElapsedRaw\n1,2,2026-01-01T00:00:00,10\n")
        ...     found = replay("mesh:4", jobs)
        >>> found.to_dict()["allocator"]
        'topology'
        """
        jobs = [dict(job) | {"slowdown": slow} for job, slow in zip(self.outcome.jobs, self.slowdowns, strict=True)]
        return {
            "spec": self.spec,
            "routing": self.routing,
            "allocator": self.allocator,
            "backfill": self.backfill,
            "mix": list(self.mix),
            **self.outcome,
            "jobs": jobs,
            "assumptions": self.assumptions,
            "notes": self.notes,
            "wall_s": self.wall_s,
        }


def slowdown(job: ReplayedJob) -> float:
    """Return the time that a job took over the time that it takes alone.

    Args:
        job: A job of :attr:`Replayed.outcome`. The result is a ratio.

    >>> from types import SimpleNamespace
    >>> slowdown(SimpleNamespace(start_s=1.0, end_s=5.0, alone_s=2.0))
    2.0
    """
    return (job.end_s - job.start_s) / job.alone_s if job.alone_s else 1.0


def replay(
    network: str | Network,
    file: str | Path,
    *,
    mix: Sequence[str] = MIX,
    allocator: str = ALLOCATOR,
    backfill: bool = False,
    routing: str = "minimal",
    **options: Any,
) -> Replayed:
    r"""Replay the jobs of a Slurm accounting file on a network, by the flow engine.

    Args:
        network: A spec or a network. A node of a job is a host, where the network has hosts, else a terminal.
        file: What ``sacct --parsable2`` prints, or a CSV with the same columns.
        mix: Applications that jobs repeat, each as ``APP,computing=1s``; the id of a job selects one.
        allocator: What gives jobs their nodes; ``topoloom list allocators`` shows them.
        backfill: Whether later jobs may begin before the first one that waits, where that cannot delay it.
        routing: A routing, or the role ``minimal`` or ``adaptive``.
        **options: What :class:`WorkloadOptions` names; mappings, costs of endpoints, noise and scale aside.

    Raises:
        TopoloomError: A mistake in an argument or in the file; a job that does not fit.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     jobs = Path(folder, "jobs.csv")
    ...     size = jobs.write_text("JobID,NNodes,Submit,ElapsedRaw\n1,2,2026-01-01T00:00:00,10\n")
    ...     found = replay("mesh:4", jobs)
    >>> found.slowdowns
    [1.0]
    """
    (own,) = as_networks([network])
    run = ReplayRun(own, read_jobs(file), mix, (allocator, backfill), routing, checked(WorkloadOptions, options))
    return run.run(_core.CancelToken())


class ReplayRun:
    """Jobs that wait to be replayed.

    Args:
        network: The network.
        read: The jobs, and notes on them.
        mix: What they repeat.
        queue: What gives them their nodes, and whether later jobs may begin before the first one that waits.
        role: A routing, or a role.
        options: How they are run.

    Raises:
        TopoloomError: Arguments that do not go together.
    """

    def __init__(
        self,
        network: Network,
        read: tuple[list[PastJob], list[str]],
        mix: Sequence[str],
        queue: tuple[str, bool],
        role: str,
        options: WorkloadOptions,
    ) -> None:
        for name, default in ONE_ONLY.items():
            if (value := getattr(options, name)) != default:
                raise TopoloomError(f"{name} is {value}, which does not go with jobs that are replayed")
        self.core = network.core if options.fail is None else network.core.with_failures(options.fail)
        self.jobs, self.notes = read
        self.mix, (self.allocator, self.backfill), self.options = tuple(mix), queue, options
        self.routing = _core.Routing(self.core, routing_on(self.core, role))

    def run(self, cancel: _core.CancelToken) -> Replayed:
        """Run all jobs; `cancel` ends it early, with the jobs that are done.

        Args:
            cancel: A token that another thread may cancel.

        >>> import topoloom
        >>> run = ReplayRun(topoloom.network("mesh:4"), ([], []), MIX, (ALLOCATOR, False), "minimal", WorkloadOptions())
        >>> run.run(_core.CancelToken()).slowdowns
        []
        """
        begun, options = time.monotonic(), self.options
        jobs = [
            (job.name, job.number, job.submit_s, job.start_s, job.elapsed_s, job.limit_s, job.nodes)
            for job in self.jobs
        ]
        outcome = _core.flow_replay(
            self.routing,
            jobs,
            list(self.mix),
            self.allocator,
            self.backfill,
            options.flow_engine,
            options.rate,
            options.seed,
            cancel,
        )
        notes = list(self.notes)
        if adapts(self.core, self.routing.name):
            notes.append(f"{self.routing.name} takes the paths of an idle network here, whatever other jobs send")
        said = rate_said(self.core, options.rate)
        took = time.monotonic() - begun
        name = self.routing.name
        return Replayed(self.core.spec, name, self.allocator, self.backfill, self.mix, outcome, said, notes, took)
