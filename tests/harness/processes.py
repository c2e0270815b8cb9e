"""Processes that tests start and interrupt."""

import resource
import signal
import subprocess
import sys
import time
from typing import NamedTuple

import psutil

COMMAND = [sys.executable, "-m", "topoloom"]
"""The command line in a process of its own."""


class Ending(NamedTuple):
    """How a process ended after a signal."""

    status: int
    out: str
    err: str
    took_s: float
    """Seconds from the signal to the end, of the clock or of processors, whichever are fewer.

    On a busy machine the clock runs while the process does not; in a process of several threads processors count more
    than the clock.
    """


def interrupt(process: subprocess.Popen[str], number: signal.Signals = signal.SIGINT) -> Ending:
    """Send a signal to a process whose output is piped, and wait for its end.

    Raises:
        subprocess.TimeoutExpired: It has not ended after a minute.
    """
    spent, ended = psutil.Process(process.pid).cpu_times(), resource.getrusage(resource.RUSAGE_CHILDREN)
    asked = time.monotonic()
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    wall_s = time.monotonic() - asked
    now = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = now.ru_utime + now.ru_stime - ended.ru_utime - ended.ru_stime - spent.user - spent.system
    return Ending(process.returncode, out, err, min(wall_s, cpu_s))


def talkative(arguments: list[str]) -> list[str]:
    """Return a command that shows progress at once, and often."""
    script = (
        "import topoloom.cli.watching as w; w.QUIET_S = 0.0; w.SAID_EVERY_S = 0.05\n"
        f"from topoloom.cli import main; main({list(map(str, arguments))!r})"
    )
    return [sys.executable, "-c", script]
