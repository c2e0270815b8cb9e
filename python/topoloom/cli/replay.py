"""``topoloom workload --sacct``: the jobs of a machine's accounting, beside each other."""

from collections.abc import Sequence
from pathlib import Path

from topoloom import _core
from topoloom.cli import status
from topoloom.cli.console import print_json, print_table, progress, say
from topoloom.cli.networks import load_only_network
from topoloom.engine.results import Replay, ReplayedChannel, ReplayedJob
from topoloom.workers import interruptible
from topoloom.workload.options import WorkloadOptions
from topoloom.workload.replay import ALLOCATOR, MIX, Replayed, ReplayRun, slowdown
from topoloom.workload.results import time_text
from topoloom.workload.sacct import read_jobs

HOUR_S, MINUTE_S = 3600, 60


def run_replay(
    specs: Sequence[str],
    file: Path,
    mix: list[str] | None,
    allocator: str | None,
    backfill: bool | None,
    routing: str,
    options: WorkloadOptions,
    *,
    json: bool,
) -> int:
    """Replay the jobs of a file, print their waits and slowdowns, and return the exit status, a number.

    Args:
        specs: The network, alone.
        file: The accounting file.
        mix: The parts that jobs repeat; None for the default ones.
        allocator: The allocator; None for ``topology``.
        backfill: Whether later jobs may begin before the first one that waits.
        routing: A routing, or the role ``minimal`` or ``adaptive``.
        options: Options of workloads.
        json: Whether to print JSON.

    Raises:
        TopoloomError: Several networks, a file that does not read, or a mistake in what is named.

    >>> run_replay(["mesh:2x2", "mesh:4"], Path("jobs.csv"), None, None, None, "minimal", WorkloadOptions(), json=False)
    Traceback (most recent call last):
    topoloom.TopoloomError: --sacct replays jobs on one network; 2 are named
    """
    network = load_only_network(specs, "--sacct replays jobs")
    read = read_jobs(file)
    run = ReplayRun(network, read, mix or MIX, (allocator or ALLOCATOR, bool(backfill)), routing, options)
    found = _watched(run)
    for note in found.notes:
        say(note)
    if json:
        print_json(found.to_dict())
    else:
        _print_replay(found)
    if found.outcome.completed:
        return status.DONE
    say(f"interrupted; {len(found.outcome.jobs):,} of {len(run.jobs):,} jobs were done")
    return status.INTERRUPTED


def _watched(run: ReplayRun) -> Replayed:
    """Run all jobs, and show how far they are."""
    with progress() as bar:
        task = bar.add_task("jobs", total=None, now="")
        cancel = _core.CancelToken()
        return interruptible(lambda: run.run(cancel), lambda _: bar.update(task, now=f"{cancel.done:,} collectives"))


def _print_replay(found: Replayed) -> None:
    """Print what all jobs did, those that others slow most, and the busiest channels."""
    outcome, slow = found.outcome, found.slowdowns
    if slow:
        _print_all(outcome, slow)
        print()
        columns = ["slowed most", "application", "nodes", "waited", "alone", "took", "slowdown"]
        print_table(columns, [_job(job) for job in found.slowest()], left=2)
    print(f"{found.spec}, {found.routing}, {found.allocator}")
    for assumption in found.assumptions:
        print(assumption)
    print()
    channels = [_channel(own, outcome) for own in outcome.channels]
    print_table(["busiest channels", "used", "jobs", "most of it"], channels, left=1)


def _print_all(outcome: Replay, slow: list[float]) -> None:
    ordered, waits = sorted(slow), [job.wait_s for job in outcome.jobs]
    row = [
        f"{len(outcome.jobs):,}",
        f"{outcome.collectives:,}",
        _hours(outcome.makespan_s),
        f"{100 * outcome.occupied:.1f} %",
        _hours(sum(waits) / len(waits)),
        _hours(max(waits)),
        f"{sum(slow) / len(slow):.4f}",
        f"{ordered[(len(ordered) * 99 - 1) // 100]:.4f}",
        f"{ordered[-1]:.4f}",
    ]
    columns = ["jobs", "collectives", "all done", "nodes used", "wait, mean", "wait, most"]
    print_table([*columns, "slowdown, mean", "p99", "most"], [row], left=0)


def _job(job: ReplayedJob) -> list[str]:
    took_s = job.end_s - job.start_s
    times = [_hours(job.wait_s), _hours(job.alone_s), _hours(took_s)]
    return [job.name, job.app, f"{job.nodes:,}", *times, f"{slowdown(job):.4f}"]


def _channel(own: ReplayedChannel, outcome: Replay) -> list[str]:
    channel = own.channel
    name = f"{channel.class_} {channel.from_} to {channel.to}"
    most = ", ".join(f"{outcome.jobs[int(job)].name} {100 * share:.0f} %" for job, share in own.jobs)
    return [name, f"{100 * channel.utilisation:.2g} %", f"{own.users:,}", most]


def _hours(seconds: float) -> str:
    """Return a time as hours and minutes, or with the unit that suits it.

    >>> _hours(7265.0), _hours(12.5), _hours(0.0)
    ('2:01:05', '12.5 s', '0 s')
    """
    if seconds < MINUTE_S:
        return time_text(seconds) if seconds > 0 else "0 s"
    whole = round(seconds)
    return f"{whole // HOUR_S}:{whole % HOUR_S // MINUTE_S:02}:{whole % MINUTE_S:02}"
