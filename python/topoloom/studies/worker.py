"""A worker of this machine: ``python -m topoloom.studies.worker FD PARENT`` runs the points that a socket delivers.

A program of its own, not a child of :mod:`multiprocessing`, which would import the user's script again.
"""

import os
import signal
import socket
import sys
import threading
import time
import warnings
from contextlib import suppress

from topoloom import _core
from topoloom._core import TopoloomError
from topoloom.simulation.options import TopoloomWarning
from topoloom.studies import measurements
from topoloom.studies.ledger import Outcome
from topoloom.studies.pipe import packed, receive
from topoloom.studies.points import StudyPoint


def outcome_of(point: StudyPoint) -> Outcome:
    """Run a point here and now. Whatever goes wrong in it becomes its outcome.

    Args:
        point: The point.

    >>> outcome_of(StudyPoint("facts", "mesh:2x2")).result["diameter"]
    2
    >>> outcome_of(StudyPoint("verify", "mesh:2x2", "dorr")).error.partition(";")[0]
    "unknown routing 'dorr' (did you mean 'dor'?)"
    """
    began, cpu_s = time.perf_counter(), time.process_time()
    result, error = None, None
    try:
        _require_same_files(point)
        result = measurements.run(point)
        _require_same_files(point)
    except TopoloomError as mistake:
        result, error = None, str(mistake)
    except BaseException as bug:  # one broken point must not end a study; a panic of the engine is no Exception
        error = f"internal error: {type(bug).__name__}: {bug}"
    wall_s, cpu_s = time.perf_counter() - began, time.process_time() - cpu_s
    return Outcome(point.key, result, error, wall_s, socket.gethostname(), cpu_s)


def _require_same_files(point: StudyPoint) -> None:
    """Reject a point whose files are no longer those of its key: its result would be another one's."""
    if changed := point.changed_files():
        raise TopoloomError(f"{changed[0]} changed while the study ran; the same command runs the point again")


def remote_outcome(text: str, key: str, version: tuple[str, int]) -> Outcome:
    """Run a point that came from another machine, if all that its result depends on is here as it is there.

    Args:
        text: The point, as JSON.
        key: Its key where it comes from, with the contents of the files that it names.
        version: The version of topoloom and of its models there.

    Raises:
        RuntimeError: This is another version.

    >>> point = StudyPoint("facts", "mesh:2x2")
    >>> here = (_core.__version__, _core.MODEL_VERSION)
    >>> remote_outcome(point.to_json(), point.key, here).result["routers"]
    4
    """
    if version != (_core.__version__, _core.MODEL_VERSION):
        raise RuntimeError(f"this is topoloom {_core.__version__} with models {_core.MODEL_VERSION}")
    point = StudyPoint.from_json(text)
    if point.key == key:
        return outcome_of(point)
    missing = [path for path in point.files if not os.path.isfile(path)]
    what = f"{missing[0]} is not there" if missing else f"{' or '.join(point.files)} is another file"
    where = f"on {socket.gethostname()} in {os.getcwd()}"
    return Outcome(key, None, f"{where} {what}: workers need the files that a study names", 0.0, socket.gethostname())


def _main() -> None:
    """Do points until the socket closes or the program that started us has ended."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the program that started us decides when to stop
    warnings.simplefilter("ignore", TopoloomWarning)  # it has said so
    threading.Thread(target=_end_with, args=(int(sys.argv[2]),), daemon=True).start()
    with socket.socket(fileno=int(sys.argv[1])) as end, suppress(EOFError, OSError):
        while True:
            end.sendall(packed(outcome_of(receive(end))))


def _end_with(parent: int) -> None:
    """End this process when `parent` has ended, even in the middle of a point."""
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


if __name__ == "__main__":
    _main()
