"""The timeline of tasks: a file that Perfetto and Chrome's ``about:tracing`` show."""

import heapq
import json
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from topoloom import _core
from topoloom.files import TIMELINE, replacing

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

MOST_TASKS = 64
"""The number of tasks that are shown where none represents others."""

Events = list[tuple[int, str, str, float, float]]
"""Task, lane, name, and the beginning and the end in seconds."""


def events_of(
    workload: _core.Workload, times: "npt.NDArray[np.float64]", computations: "npt.NDArray[np.float64]"
) -> Events:
    """Return what tasks did: the first rank of each stage of a training step, or the first tasks of others.

    Args:
        workload: The application.
        times: When each message was sent and delivered, in seconds: an array of shape (messages, 2).
        computations: Each computation with its beginning and end in seconds: an array of shape (computations, 3).

    >>> import numpy as np
    >>> events_of(_core.Workload("reduce:size=64", 2), np.array([[0.0, 1e-9]]), np.zeros((0, 3)))
    [(0, 'receive', '64 bytes from task 1', 0.0, 1e-09), (1, 'send', '64 bytes to task 0', 0.0, 1e-09)]
    """
    tasks = workload.shown or list(range(min(workload.tasks, MOST_TASKS)))
    return workload.timeline(times, computations, tasks)


def write_timeline(events: Events, title: str, path: str | Path, *, force: bool = False) -> None:
    """Write events in the JSON of Chrome's traces: a process for each task, a thread for each of its lanes.

    Events that overlap in a lane get further lanes of the same name. Times are in microseconds.

    Args:
        events: The events, of :func:`events_of`.
        title: The title that the viewer shows.
        path: The file, which ends in ``.json``.
        force: Overwrite a file of another kind.

    Raises:
        TopoloomError: A file of another kind is there, and `force` is not given; a place that cannot be written to.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_timeline([(0, "compute", "forward", 0.0, 1e-6)], "one event", f"{folder}/events.json")
    """
    about = {"generator": f"topoloom {_core.__version__}", "title": title}
    with replacing(path, TIMELINE, force=force) as file:
        file.write(f'{{"otherData": {json.dumps(about)}, "displayTimeUnit": "ms", "traceEvents": [\n'.encode())
        file.write(",\n".join(json.dumps(row) for row in _rows(events)).encode())
        file.write(b"\n]}\n")


def _rows(events: Events) -> list[dict[str, Any]]:
    """Return the entries of the file: names of processes and threads, then what went on in them."""
    by_lane: dict[tuple[int, str], Events] = defaultdict(list)
    for event in events:
        by_lane[event[:2]].append(event)
    names: list[dict[str, Any]] = []
    rows: list[dict[str, Any]] = []
    threads: dict[int, int] = defaultdict(int)
    for (task, lane), own in by_lane.items():
        if threads[task] == 0:
            names.append({"name": "process_name", "ph": "M", "pid": task, "args": {"name": f"rank {task}"}})
        for place, sublane in enumerate(_side_by_side(own)):
            threads[task] += 1
            thread = {"pid": task, "tid": threads[task]}
            told = lane if place == 0 else f"{lane}, {place + 1}"
            names.append({"name": "thread_name", "ph": "M", **thread, "args": {"name": told}})
            rows += [
                {"name": name, "ph": "X", **thread, "ts": 1e6 * start, "dur": 1e6 * (end - start)}
                for _, _, name, start, end in sublane
            ]
    return names + rows


def _side_by_side(events: Events) -> list[Events]:
    """Return the events of a lane in as few lists as there are at most at a time, so that none overlap in a list."""
    lists: list[Events] = []
    ends: list[tuple[float, int]] = []
    for event in sorted(events, key=lambda own: own[3:]):
        if ends and ends[0][0] <= event[3]:
            place = heapq.heappop(ends)[1]
        else:
            place = len(lists)
            lists.append([])
        lists[place].append(event)
        heapq.heappush(ends, (event[4], place))
    return lists
