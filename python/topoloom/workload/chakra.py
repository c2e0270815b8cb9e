"""Chakra execution traces: what an application does, one file for each rank, for other simulators to run."""

import json
from pathlib import Path

from topoloom import _core
from topoloom._core import TopoloomError
from topoloom.files import CHAKRA, COMM_GROUPS, check_folder, check_writable, replacing, reporting

ENDING = ".et"
STEM = "trace"
"""The name of the files of a folder, before the rank."""
GROUPS = "comm_group.json"
"""The name of the file that lists the ranks of each group, as ASTRA-sim reads it."""


def write_chakra(workload: _core.Workload, path: str | Path, *, force: bool = False) -> list[str]:
    """Write what an application does as execution traces; return what is lost in them, a sentence each.

    Groups of ranks that collectives name are listed in ``comm_group.json`` beside them.

    Args:
        workload: The application; where its collectives are calls, these are nodes of the traces.
        path: A folder, which is made if it is missing and gets ``trace.0.et``, ``trace.1.et``, …; or the file of
            rank 0, as in ``step.0.et``.
        force: Overwrite files of other kinds.

    Raises:
        TopoloomError: An application that repeats its messages; a file of another kind, and `force` is not given;
            a trace of one rank more, which a reader would take for a part of these; a place that cannot be written to.

    >>> import tempfile
    >>> workload = _core.Workload("allreduce:size=64", 2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     lost = write_chakra(workload, folder)
    ...     sorted(file.name for file in Path(folder).iterdir())
    ['trace.0.et', 'trace.1.et']
    """
    traces = _core.ChakraTraces(workload)
    files = [trace_file(path, rank) for rank in range(workload.tasks)]
    with reporting(path):
        if (other := trace_file(path, workload.tasks)).exists():
            raise TopoloomError(
                f"{other} is there already, and would be read as the trace of rank {workload.tasks} beside the "
                f"{len(files)} written here; remove it, or give another name"
            )
        check_folder(folder := files[0].parent, "give a folder, or the file of rank 0, as in step.0.et")
        folder.mkdir(exist_ok=True)
    for file in files:
        check_writable(file, CHAKRA, force=force)
    check_writable(groups_file(path), COMM_GROUPS, force=force)
    # The trace of rank 0 comes last: without it, those of an interrupted command are not read.
    for rank in reversed(range(len(files))):
        with replacing(files[rank], CHAKRA, force=force) as out:
            out.write(traces.trace(rank))
    groups = traces.groups()
    if groups:
        with replacing(groups_file(path), COMM_GROUPS, force=force) as out:
            out.write(json.dumps(dict(groups)).encode())
    return traces.losses()


def groups_file(path: str | Path) -> Path:
    """Return the file with the groups of ranks of traces.

    Args:
        path: The folder of the traces, or the file of rank 0, unchecked.

    >>> groups_file("step.0.et").name, str(groups_file("traces"))
    ('step.comm_group.json', 'traces/comm_group.json')
    """
    path = Path(path)
    if path.suffix == ENDING:
        return path.with_name(f"{path.name.removesuffix(ENDING).removesuffix('.0')}.{GROUPS}")
    return path / GROUPS


def trace_file(path: str | Path, rank: int) -> Path:
    """Return the file of a rank, by that of rank 0 or by the folder.

    Args:
        path: The folder of the traces, or the file of rank 0, unchecked.
        rank: The number of the rank.

    >>> trace_file("step.0.et", 3).name, str(trace_file("traces", 3))
    ('step.3.et', 'traces/trace.3.et')
    """
    path = Path(path)
    if path.suffix == ENDING:
        return path.with_name(f"{path.name.removesuffix(ENDING).removesuffix('.0')}.{rank}{ENDING}")
    return path / f"{STEM}.{rank}{ENDING}"
