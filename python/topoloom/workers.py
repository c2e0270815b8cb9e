"""Threads for work that releases the interpreter's lock, awaited in a way that Ctrl-C can interrupt."""

import queue
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Generic, Self, TypeVar

from topoloom import _core

Result = TypeVar("Result")
Outcome = tuple[Result | None, BaseException | None]

WAIT_S = 0.1
"""How long the main thread waits before it looks for Ctrl-C again."""

STOP_S = 0.7
"""How long cancelled work may take to stop before its threads are left to themselves."""


def cpu_count() -> int:
    """Return the number of processors that this process may use, by its affinity and its control groups.

    >>> cpu_count() >= 1
    True
    """
    return _core.processors()


class Workers(Generic[Result]):
    """A pool of daemon threads; outcomes are fetched in the order in which they come.

    Daemon threads, unlike those of :mod:`concurrent.futures`, never keep an interrupted program from ending. Where the
    system starts fewer threads than `count`, these do the work; where it starts none, the caller does.

    Args:
        count: The number of threads.

    >>> with Workers(1) as workers:
    ...     workers.submit(lambda: 6 * 7)
    ...     result = workers.next_result()
    ...     workers.drop()
    >>> result
    42
    """

    def __init__(self, count: int) -> None:
        self._tasks: queue.SimpleQueue[Callable[[], Result] | None] = queue.SimpleQueue()
        self._outcomes: queue.SimpleQueue[Outcome[Result]] = queue.SimpleQueue()
        self._threads = self._start(count)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        for _ in self._threads:
            self._tasks.put(None)

    def submit(self, task: Callable[[], Result]) -> None:
        """Put `task` at the end of the queue.

        Args:
            task: The task, which takes no arguments.
        """
        self._tasks.put(task)

    def next_result(self, waiting: Callable[[], None] | None = None) -> Result:
        """Wait for the next task to end and return its result, or raise its exception; call `waiting` meanwhile.

        Args:
            waiting: Called some times a second until a task ends.

        Raises:
            KeyboardInterrupt: Ctrl-C.
        """
        while True:
            if not self._threads:
                self._do(self._tasks.get())
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

    def _start(self, count: int) -> list[threading.Thread]:
        started: list[threading.Thread] = []
        for _ in range(count):
            thread = threading.Thread(target=self._work, daemon=True)
            try:
                thread.start()
            except RuntimeError:  # the system cannot start it
                break
            started.append(thread)
        return started

    def _work(self) -> None:
        while self._do(self._tasks.get()):
            pass

    def _do(self, task: Callable[[], Result] | None) -> bool:
        """Do a task; return whether there was one."""
        if task is None:
            return False
        try:
            self._outcomes.put((task(), None))
        except BaseException as error:  # raised again in the thread that waits
            self._outcomes.put((None, error))
        return True


def interruptible(task: Callable[[], Result], watching: Callable[[_core.CancelToken], None] | None = None) -> Result:
    """Run `task` in a thread of its own, so that Ctrl-C is heard while the engine works, and ends that work.

    Args:
        task: What to do.
        watching: Called some times a second with what reports how far the engine is.

    >>> interruptible(lambda: 6 * 7)
    42
    """
    if threading.current_thread() is not threading.main_thread():
        return task()  # Ctrl-C is not handled here, and the thread's starter watches it
    cancel = _core.CancelToken()

    def work() -> Result:
        if threading.current_thread() is not threading.main_thread():
            cancel.enter()
        return task()

    with Workers[Result](1) as workers:
        workers.submit(work)
        try:
            return workers.next_result(None if watching is None else lambda: watching(cancel))
        finally:
            cancel.cancel()


@contextmanager
def noted_interrupt() -> Iterator[threading.Event]:
    """Note the first Ctrl-C in an event instead of raising it; the second one is raised.

    What must not be torn in the middle looks at the event between its steps. Outside the main thread, which alone
    hears signals, the event is never set. SIGTERM counts as Ctrl-C where :func:`terminate_as_interrupt` was called.

    Raises:
        KeyboardInterrupt: The second Ctrl-C.

    >>> with noted_interrupt() as interrupted:
    ...     interrupted.is_set()
    False
    """
    event = threading.Event()

    def note(_number: int, _frame: FrameType | None) -> None:
        if event.is_set():
            raise KeyboardInterrupt
        event.set()

    if threading.current_thread() is not threading.main_thread():
        yield event
        return
    heard = [signal.SIGINT]
    if signal.getsignal(signal.SIGTERM) is signal.default_int_handler:
        heard.append(signal.SIGTERM)
    before = {number: signal.signal(number, note) for number in heard}
    try:
        yield event
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def terminate_as_interrupt() -> None:
    """Let SIGTERM do from now on what Ctrl-C does, unless the parent process has it ignored.

    >>> before = signal.getsignal(signal.SIGTERM)
    >>> terminate_as_interrupt()  # from now on, SIGTERM raises KeyboardInterrupt
    >>> again = signal.signal(signal.SIGTERM, before)
    """
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, signal.default_int_handler)
