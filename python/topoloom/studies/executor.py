"""Where points are run: the protocol that a back-end follows, and the one for this machine.

A back-end takes points and gives outcomes back, in any order. It keeps no record: the ledger decides what is left to
do, so a back-end may lose a point as long as it reports it by an outcome that is :data:`LOST`.
"""

import os
import selectors
import signal
import socket
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Protocol

from topoloom.studies.ledger import Outcome
from topoloom.studies.pipe import Pipe
from topoloom.studies.points import StudyPoint
from topoloom.workers import cpu_count

LOST = "the worker ended before the point was done"
"""The error of a point whose worker was lost. It may be run again."""


END_S = 5.0
"""How long a worker may take to end before it is killed."""


class Executor(Protocol):
    """Runs points; a protocol, which :class:`LocalExecutor` and those of :mod:`topoloom.studies.clusters` implement.

    A study is run within ``with executor:``; leaving it abandons unfinished points.
    """

    @property
    def capacity(self) -> int:
        """The number of points that may be in progress or waiting here; it may change from call to call."""

    def submit(self, point: StudyPoint) -> None:
        """Accept a point without waiting.

        Args:
            point: The point to run.
        """

    def collect(self, timeout_s: float) -> list[Outcome]:
        """Return the outcomes since the last call; if there are none, wait for the first.

        Args:
            timeout_s: The longest wait in seconds.
        """

    def __enter__(self) -> "Executor": ...

    def __exit__(self, *exception: object) -> None: ...


@dataclass
class _Worker:
    """A process, the pipe to it, and the keys of the points that it holds, the one under way first."""

    process: subprocess.Popen[bytes]
    pipe: Pipe
    held: deque[StudyPoint] = field(default_factory=deque)


class LocalExecutor:
    """Runs points in processes of this machine.

    A process that dies loses one point; it is replaced, and its waiting points go to another.

    Args:
        workers: The number of processes; unless given, as many as keep the processors busy with the threads of points.

    >>> from topoloom import Study, Sweep
    >>> point = Study(name="one", sweep=[Sweep(kind="facts", networks=["mesh:2x2"])]).points()[0]
    >>> with LocalExecutor(1) as executor:
    ...     executor.submit(point)
    ...     executor.collect(60.0)[0].key == point.key
    True
    """

    AHEAD = 3
    """Points that a worker holds at least: the one under way, and some so that it never waits."""

    MOST_AHEAD = 300
    """Points that a worker holds at most, where they are tiny."""

    AHEAD_S = 0.2
    """Seconds of work that a worker holds in tiny points."""

    LONG_S = 5.0
    """Seconds of points from which on a worker holds none but the one under way: another one may be idle at the end."""

    GATHER_S = 0.05
    """Outcomes within this many seconds are returned together: a commit of the ledger costs time."""

    def __init__(self, workers: int | None = None) -> None:
        self._given = workers
        self._threads = 1
        self._workers: list[_Worker] = []
        self._waiting: deque[StudyPoint] = deque()
        self._lost: list[Outcome] = []
        self._mean_s = 1.0
        self._last_s: deque[float] = deque(maxlen=4)

    @property
    def capacity(self) -> int:
        """The points that keep every worker busy: more of them where they are tiny."""
        return self._count * self._ahead

    @property
    def _count(self) -> int:
        """The workers that take points: fewer where a point uses several threads itself."""
        return self._given or max(1, cpu_count() // self._threads)

    @property
    def _ahead(self) -> int:
        if self._last_s and sum(self._last_s) >= self.LONG_S * len(self._last_s):
            return 1
        return min(self.MOST_AHEAD, max(self.AHEAD, round(self.AHEAD_S / max(self._mean_s, 1e-6))))

    def __enter__(self) -> "LocalExecutor":
        return self

    def __exit__(self, *exception: object) -> None:
        for worker in self._workers:
            worker.pipe.close()
            worker.process.terminate()
        for worker in self._workers:
            _end(worker.process)
        self._workers = []

    def submit(self, point: StudyPoint) -> None:
        """Give a point to the worker with the fewest; the first points of all workers are taken in order.

        Args:
            point: The point to run.
        """
        self._waiting.append(point)
        self._threads = max(self._threads, point.options.get("threads", 1))
        self._feed()

    def collect(self, timeout_s: float) -> list[Outcome]:
        """Return the outcomes of workers, and replace workers that died.

        Args:
            timeout_s: The longest wait in seconds if there is no outcome.
        """
        outcomes, self._lost = self._lost, []
        until = time.monotonic() + (0 if outcomes else timeout_s)
        while (left := until - time.monotonic()) > 0 or not outcomes:
            new = self._gather(max(0.0, left))
            if new and not outcomes:
                until = time.monotonic() + self.GATHER_S
            outcomes += new
            if left <= 0:
                break
        self._feed()
        return outcomes

    def _gather(self, timeout_s: float) -> list[Outcome]:
        """Return what comes first within `timeout_s` seconds."""
        with selectors.DefaultSelector() as selector:
            for worker in self._workers:
                writes = selectors.EVENT_WRITE if worker.pipe.is_behind else 0
                selector.register(worker.pipe, selectors.EVENT_READ | writes, worker)
            ready = [(key.data, events) for key, events in selector.select(timeout_s)]
        outcomes = [new for worker, events in ready for new in self._exchange(worker, events)]
        for outcome in outcomes:
            self._mean_s += (outcome.wall_s - self._mean_s) / 20
            self._last_s.append(outcome.wall_s)
        return outcomes

    def _exchange(self, worker: _Worker, events: int) -> list[Outcome]:
        """Take what a worker has sent, and give it what it has room for."""
        outcomes: list[Outcome] = []
        try:
            if events & selectors.EVENT_READ:
                outcomes = worker.pipe.receive()
                for _ in outcomes:
                    worker.held.popleft()
            if events & selectors.EVENT_WRITE:
                worker.pipe.flush()
        except (EOFError, OSError):
            outcomes += self._replace(worker)
        return outcomes

    def _replace(self, worker: _Worker) -> list[Outcome]:
        """Put a new worker in the place of one that died; its first point is lost, the others wait again."""
        worker.pipe.close()
        _end(worker.process)
        lost = [Outcome(worker.held.popleft().key, None, LOST)] if worker.held else []
        self._waiting.extendleft(reversed(worker.held))
        self._workers[self._workers.index(worker)] = self._start()
        return lost

    def _feed(self) -> None:
        while self._waiting:
            while len(self._workers) < self._count:
                self._workers.append(self._start())
            worker = min(self._workers[: self._count], key=lambda worker: len(worker.held))
            if len(worker.held) >= self._ahead:
                return
            point = self._waiting.popleft()
            worker.held.append(point)
            try:
                worker.pipe.send(point)
            except OSError:
                self._lost += self._replace(worker)

    def _start(self) -> _Worker:
        ours, theirs = socket.socketpair()
        with theirs:
            command = [sys.executable, "-m", "topoloom.studies.worker", str(theirs.fileno()), str(os.getpid())]
            with _without_interrupts():
                process = subprocess.Popen(command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL)
        return _Worker(process, Pipe(ours))


def _end(process: subprocess.Popen[bytes]) -> None:
    """Wait for a process that was asked to end; one that does not, as it is stopped, is killed."""
    try:
        process.wait(END_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Hold Ctrl-C back, here and in processes that are started meanwhile, which a terminal sends it to as well."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
