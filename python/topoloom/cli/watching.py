"""How far one long computation is: a live line on a terminal, a line now and then elsewhere."""

import time
from collections.abc import Callable, Sequence
from typing import TypeVar

from rich.live import Live
from rich.text import Text

from topoloom import _core
from topoloom.cli.console import console, duration, say
from topoloom.network.networks import Network
from topoloom.simulation.time_left import TimeLeft
from topoloom.workers import interruptible

QUIET_S = 1.0
"""Work that is done sooner shows nothing."""

SAID_EVERY_S = 30.0
"""How often progress is reported where stderr is no terminal."""

Result = TypeVar("Result")


def watched(task: Callable[[], Result], what: str) -> Result:
    """Run a task, which Ctrl-C ends, and show on stderr its name and its progress.

    Args:
        task: The task.
        what: Its name, unchecked.

    Raises:
        KeyboardInterrupt: Ctrl-C.

    >>> watched(lambda: 6 * 7, "multiplying")
    42
    """
    with _Line(what) as line:
        return interruptible(task, line.show)


def watched_each(
    networks: Sequence[Network], task: Callable[[Network], Result], what: str
) -> tuple[list[Result], bool]:
    """Run a task for one network after another.

    Args:
        networks: The networks.
        task: The task.
        what: Its name, unchecked.

    Returns:
        The results, and whether Ctrl-C came before the end.

    Raises:
        KeyboardInterrupt: It came before anything was done.

    >>> watched_each([Network("mesh:2x2")], lambda network: network.num_routers, "counting")
    ([4], False)
    """
    done: list[Result] = []
    for network in networks:
        try:
            done.append(watched(lambda network=network: task(network), f"{network.spec}: {what}"))  # type: ignore[misc]
        except KeyboardInterrupt:
            if not done:
                raise
            say(f"interrupted; {len(done)} of {len(networks)} networks are done")
            return done, True
    return done, False


def stage_text(cancel: _core.CancelToken) -> str:
    """Return the engine's current step, for people; nothing if it does not report it.

    Args:
        cancel: The token of the computation.

    >>> stage_text(_core.CancelToken())
    ''
    """
    if cancel.stage is None:
        return ""
    name, done, total = cancel.stage
    return f"{name}, {done:,} of {total:,}" if total else f"{name}, {done:,}" if done else name


class Throttle:
    """Prints a line on stderr now and then, where that is no terminal.

    >>> Throttle().say(lambda: "4 points are done")
    """

    def __init__(self) -> None:
        self._silent = console(stderr=True).is_terminal
        self._said = time.monotonic()

    def say(self, text: Callable[[], str]) -> None:
        """Print a line if the last one was long ago.

        Args:
            text: Returns the line.
        """
        if not self._silent and time.monotonic() - self._said > SAID_EVERY_S:
            self._said = time.monotonic()
            say(text())


class Clock:
    """Estimates the time left of points that run.

    Args:
        left: What estimates it from the points that are done.

    >>> clock = Clock(TimeLeft([], [], 1))
    >>> clock.note_point()
    >>> clock.text()
    ''
    """

    def __init__(self, left: TimeLeft) -> None:
        self._left = left
        self._noted = time.monotonic()

    def note_point(self) -> None:
        """Note that a point is done."""
        self._noted = time.monotonic()

    def text(self) -> str:
        """Return the time left behind a comma; nothing where it is not known yet, or nothing is left."""
        seconds = self._left.seconds(time.monotonic() - self._noted)
        return f", about {duration(seconds)} left" if seconds else ""


class _Line:
    """The line of one computation."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._began = time.monotonic()
        self._throttle = Throttle()
        errors = console(stderr=True)
        self._live = (
            Live(console=errors, transient=True, auto_refresh=False, redirect_stdout=False, redirect_stderr=False)
            if errors.is_terminal
            else None
        )

    def __enter__(self) -> "_Line":
        return self

    def __exit__(self, *exception: object) -> None:
        if self._live is not None and self._live.is_started:
            self._live.stop()

    def show(self, cancel: _core.CancelToken) -> None:
        """Show how far it is, once it has taken longer than people wait gladly."""
        spent = time.monotonic() - self._began
        if spent < QUIET_S:
            return
        stage = stage_text(cancel)
        text = f"{self._what}{': ' * bool(stage)}{stage}, {spent:.0f} s"
        if self._live is None:
            self._throttle.say(lambda: text)
            return
        if not self._live.is_started:
            self._live.start()
        self._live.update(Text(text, overflow="ellipsis", no_wrap=True), refresh=True)
