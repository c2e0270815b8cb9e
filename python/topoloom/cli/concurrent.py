"""``topoloom workload --job``: jobs that share a machine."""

from collections.abc import Mapping, Sequence

from topoloom._core import TopoloomError
from topoloom.cli import status
from topoloom.cli.console import print_json, print_table, say
from topoloom.cli.networks import load_only_network
from topoloom.wording import counted
from topoloom.workload.concurrent import Concurrent, ConcurrentRun
from topoloom.workload.options import WorkloadOptions
from topoloom.workload.results import time_text


def run_jobs(
    specs: Sequence[str],
    jobs: list[str],
    allocator: str | None,
    routing: str,
    options: WorkloadOptions,
    *,
    json: bool,
) -> int:
    """Run jobs that share a machine, print their times, and return the exit status, a number.

    Args:
        specs: The network, alone.
        jobs: The jobs, as ``APP,tasks=N,start=T``, or files of them.
        allocator: The allocator; None for ``contiguous``.
        routing: A routing, or the role ``minimal`` or ``adaptive``.
        options: Options of workloads.
        json: Whether to print JSON.

    Raises:
        TopoloomError: Several networks, or a mistake in what is named.

    >>> run_jobs(["ring:4,degree=2"], ["allreduce,tasks=2"], None, "minimal", WorkloadOptions(), json=True)
    ... # doctest: +ELLIPSIS
    {...
    0
    """
    network = load_only_network(specs, "--job runs jobs")
    try:
        found = ConcurrentRun(network, jobs, allocator or "contiguous", routing, options).run()
    except KeyboardInterrupt:
        say("interrupted")
        return status.INTERRUPTED
    for note in found.notes:
        say(note)
    if json:
        print_json(found.to_dict())
    else:
        _print_concurrent(found)
    return status.DONE


def require_no(option: str, given: Mapping[str, object]) -> None:
    """Reject options that are about one application at a time.

    Args:
        option: The option for several jobs, for the message.
        given: Values of other options by name; empty ones are not given.

    Raises:
        TopoloomError: One of them is given.

    >>> require_no("--job", {"app": [], "plot": None})
    """
    for name, value in given.items():
        if value:
            raise TopoloomError(f"--{name} does not go with {option}, which runs several jobs at once")


def _print_concurrent(found: Concurrent) -> None:
    """Print a row for each job, and one for each of the busiest channels."""
    rows = [
        [
            str(place),
            job.app,
            f"{job.tasks:,}",
            _ranges(job.terminals),
            time_text(job.start_s) if job.start_s else "0 s",
            time_text(job.alone_s),
            time_text(job.beside_s),
            f"{job.slowdown:.3f}",
        ]
        for place, job in enumerate(found.jobs, 1)
    ]
    print_table(
        ["job", "application", "tasks", "terminals", "start", "alone", "beside others", "slowdown"], rows, left=2
    )
    others = f"; others have {counted(found.occupied, 'terminal')}" if found.occupied else ""
    print(f"{found.spec}, {found.routing}, {found.allocator}{others}; all done after {time_text(found.makespan_s)}")
    for assumption in found.assumptions:
        print(assumption)
    print()
    channels = [
        [
            f"{own.channel['class']} {own.channel['from']} to {own.channel['to']}",
            f"{100 * own.channel['utilisation']:.0f} %",
            ", ".join(f"job {place} {100 * share:.0f} %" for place, share in enumerate(own.shares, 1) if share > 0),
        ]
        for own in found.channels
    ]
    print_table(["busiest channels", "used", "shares"], channels, left=1)


MOST_RANGES = 3
"""The number of ranges of terminals that are printed."""


def _ranges(terminals: list[int]) -> str:
    """Return terminals as ranges, a few of them."""
    ranges: list[list[int]] = []
    for terminal in sorted(terminals):
        if ranges and ranges[-1][1] + 1 == terminal:
            ranges[-1][1] = terminal
        else:
            ranges.append([terminal, terminal])
    told = [f"{first}-{last}" if first < last else str(first) for first, last in ranges[:MOST_RANGES]]
    return "+".join(told) + (f" and {len(ranges) - MOST_RANGES} more" if len(ranges) > MOST_RANGES else "")
