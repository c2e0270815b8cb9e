"""GOAL, the text format of LogGOPSim: what an application does, for other simulators to run."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

from topoloom import _core
from topoloom._core import TopoloomError
from topoloom.files import GOAL, replacing

SENT_ONE_BY_ONE = (
    "{app}: GOAL has no connections; what waits for the message before it on its connection is sent at once there"
)
"""What is lost of applications in pieces."""


def write_goal(workload: _core.Workload, path: str | Path, *, force: bool = False) -> list[str]:
    """Write what an application does as a schedule in GOAL; return what is lost in it, a sentence each.

    Args:
        workload: The application, ``Application.core``.
        path: The file, which ends in ``.goal``.
        force: Overwrite a file of another kind.

    Raises:
        TopoloomError: An application that repeats its messages; a file of another kind is there, and `force` is not
            given; a place that cannot be written to.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_goal(_core.Workload("reduce", 4), f"{folder}/reduce.goal")
    []
    """
    if workload.repeats:
        raise TopoloomError(f"{workload.spec} repeats messages until other tasks are done, which GOAL cannot express")
    with replacing(path, GOAL, force=force) as file:
        for line in goal_lines(workload):
            file.write(f"{line}\n".encode())
    return [SENT_ONE_BY_ONE.format(app=workload.spec)] if workload.has_connections else []


def goal_lines(workload: _core.Workload) -> Iterator[str]:
    """Return the lines of the schedule.

    Every message has a tag of its own between its two ranks, so that it does not matter in which order they are sent.
    Computing is rounded to whole nanoseconds.

    Args:
        workload: The application, ``Application.core``.

    >>> list(goal_lines(_core.Workload("reduce:size=64", 2)))[:3]
    ['num_ranks 2', 'rank 0 {', 'l0: recv 64b from 1 tag 0']
    """
    sources, targets, sizes = (column.tolist() for column in workload.messages())
    count: Counter[tuple[int, int]] = Counter()
    tags = []
    for pair in zip(sources, targets, strict=True):
        tags.append(count[pair])
        count[pair] += 1
    requires = _requirements(workload)
    yield f"num_ranks {workload.tasks}"
    first = 0
    for rank in range(workload.tasks):
        yield f"rank {rank} {{"
        program, processors = workload.program(rank), workload.processors(rank)
        cpus = {processor: cpu for cpu, processor in enumerate(sorted(set(processors)))}
        for place, ((what, value), processor) in enumerate(zip(program, processors, strict=True)):
            if what == "compute":
                yield f"l{place}: calc {round(value * 1e9)} cpu {cpus[processor]}"
            else:
                id_ = int(value)
                ends = f"to {targets[id_]}" if what == "send" else f"from {sources[id_]}"
                yield f"l{place}: {'send' if what == 'send' else 'recv'} {sizes[id_]}b {ends} tag {tags[id_]}"
        for place in range(len(program)):
            if requires is None:
                yield from [f"l{place} requires l{place - 1}"] if place else []
            else:
                yield from (
                    f"l{place} {'irequires' if start_only else 'requires'} l{before - first}"
                    for before, start_only in requires[first + place]
                )
        yield "}"
        first += len(program)


def _requirements(workload: _core.Workload) -> dict[int, list[tuple[int, bool]]] | None:
    """Return what each operation waits for; None if all wait for the one before."""
    listed = workload.dependencies()
    if listed is None:
        return None
    found: dict[int, list[tuple[int, bool]]] = defaultdict(list)
    for before, later, start_only in listed:
        found[later].append((before, start_only))
    return found
