"""Threads for work that releases the interpreter's lock, awaited in a way that Ctrl-C can interrupt."""

import os
import queue
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Generic, Self, TypeVar

Result = TypeVar("Result")
Outcome = tuple[Result | None, BaseException | None]

WAIT_S = 0.1
"""How long the main thread waits before it looks for Ctrl-C again."""

STOP_S = 0.7
"""How long cancelled work may take to stop before its threads are left to themselves."""


def cpu_count() -> int:
    """Return the number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Workers(Generic[Result]):
    """A pool of daemon threads; outcomes are fetched in the order in which they come.

    Daemon threads, unlike those of :mod:`concurrent.futures`, never keep an interrupted program from ending.
    """

    def __init__(self, count: int) -> None:
        self._tasks: queue.SimpleQueue[Callable[[], Result] | None] = queue.SimpleQueue()
        self._outcomes: queue.SimpleQueue[Outcome[Result]] = queue.SimpleQueue()
        self._threads = [threading.Thread(target=self._work, daemon=True) for _ in range(count)]
        for thread in self._threads:
            thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        for _ in self._threads:
            self._tasks.put(None)

    def submit(self, task: Callable[[], Result]) -> None:
        """Put `task` at the end of the queue."""
        self._tasks.put(task)

    def next_result(self, waiting: Callable[[], None] | None = None) -> Result:
        """Wait for the next task to end and return its result, or raise its exception; call `waiting` meanwhile."""
        while True:
            try:
                result, error = self._outcomes.get(timeout=WAIT_S)
            except queue.Empty:
                if waiting is not None:
                    waiting()
                continue
            if error is not None:
                raise error
            return result  # type: ignore[return-value] # a task without an error has a result

    def drop(self) -> None:
        """Forget the tasks that have not begun and wait a moment for those that have, once they are cancelled."""
        while not self._tasks.empty():
            self._tasks.get()
        for _ in self._threads:
            self._tasks.put(None)
        for thread in self._threads:
            thread.join(STOP_S / len(self._threads))

    def _work(self) -> None:
        while (task := self._tasks.get()) is not None:
            try:
                self._outcomes.put((task(), None))
            except BaseException as error:  # raised again in the thread that waits
                self._outcomes.put((None, error))


def interruptible(task: Callable[[], Result]) -> Result:
    """Run `task` in a thread of its own, so that Ctrl-C is heard while the engine works."""
    with Workers[Result](1) as workers:
        workers.submit(task)
        return workers.next_result()


@contextmanager
def noted_interrupt() -> Iterator[threading.Event]:
    """Note the first Ctrl-C in an event instead of raising it; the second one is raised.

    What must not be torn in the middle looks at the event between its steps. Outside the main thread, which alone
    hears signals, the event is never set.
    """
    event = threading.Event()

    def note(_number: int, _frame: FrameType | None) -> None:
        if event.is_set():
            raise KeyboardInterrupt
        event.set()

    if threading.current_thread() is not threading.main_thread():
        yield event
        return
    before = signal.signal(signal.SIGINT, note)
    try:
        yield event
    finally:
        signal.signal(signal.SIGINT, before)
