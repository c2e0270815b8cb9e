"""Runs a study: what the ledger lacks goes to the executor, longest first, and what comes back into the ledger."""

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Event
from types import MappingProxyType
from typing import Protocol

from topoloom._core import TopoloomError
from topoloom.studies import measurements
from topoloom.studies.estimates import Estimates
from topoloom.studies.executor import LOST, Executor
from topoloom.studies.ledger import PART_ROWS, Outcome
from topoloom.studies.points import StudyPoint
from topoloom.workers import noted_interrupt

ATTEMPTS = 3
"""How many times a point is begun whose worker is lost."""

WAIT_S = 0.2
"""How long one look for outcomes waits: the longest that a result stays out of the ledger."""

ELSEWHERE_S = 1.0
"""How long to wait before another run's points are looked at again."""

ALMOST = 0.9
"""No more than this part of the time left has gone by since the last point ended."""

SELDOM = 50
"""Efforts are not added up again within this many times what that took."""


@dataclass
class Progress:
    """How far a run is.

    Attributes:
        total: Points of the study.
        done: Points with a result, earlier runs' included.
        before: Points that earlier runs had done.
        failed: Points that failed, with why.
        skipped: Points that cannot be run, with why; reported before anything runs.
        under_way: Points that the executor holds.
        elsewhere: Points that another run is at.
        left_s: Estimated seconds until the end; None while nothing is known.
        stored: Keys of the points that have a result.
    """

    total: int
    done: int = 0
    before: int = 0
    failed: dict[StudyPoint, str] = field(default_factory=dict)
    skipped: dict[StudyPoint, str] = field(default_factory=dict)
    under_way: dict[str, StudyPoint] = field(default_factory=dict)
    elsewhere: int = 0
    left_s: float | None = None
    stored: set[str] = field(default_factory=set)

    @property
    def finished(self) -> bool:
        """Whether nothing is left to do."""
        return self.done + len(self.failed) + len(self.skipped) == self.total


class Records(Protocol):
    """What keeps the results of a run: :class:`topoloom.studies.ledger.Ledger`, or the journal of a share."""

    def states(self) -> dict[str, str]:
        """Return the state of every point that is known."""

    def durations(self) -> list[tuple[StudyPoint, float]]:
        """Return points that are done with how long they took, in seconds."""

    def failures(self) -> dict[str, str]:
        """Return why points failed, by their keys."""

    def note_contents(self, points: Iterable[StudyPoint]) -> None:
        """Store the contents of the files that points read.

        Args:
            points: The points of the study.
        """

    def begin(self, study: str) -> None:
        """Begin a run, in whose name points are claimed.

        Args:
            study: The name of the study, unchecked.
        """

    def exchange(self, outcomes: Iterable[Outcome], wanted: Sequence[StudyPoint]) -> list[StudyPoint]:
        """Store what was done; return those of `wanted` that may be done now.

        Args:
            outcomes: What was done since the last call.
            wanted: Points that the executor has room for.
        """

    def pack(self, *, least: int = 1) -> None:
        """Bring results into their lasting form.

        Args:
            least: The number of results from which on this is done.
        """


OnProgress = Callable[[Progress], None]


def checked(points: Sequence[StudyPoint], *, keep_going: bool) -> dict[StudyPoint, str]:
    """Check points before anything runs; return those that cannot be run, with why.

    Points that differ in load and seed alone are checked once, at their highest load.

    Args:
        points: The points.
        keep_going: Return what is wrong rather than raise it.

    Raises:
        TopoloomError: The first point that cannot be run, with the line that asks for it.

    >>> wrong = StudyPoint("verify", "mesh:2x2", "dorr")
    >>> [why.partition(";")[0] for why in checked([wrong], keep_going=True).values()]
    ["unknown routing 'dorr' (did you mean 'dor'?)"]
    """
    wrong: dict[StudyPoint, str] = {}
    hardest: dict[object, StudyPoint] = {}
    for point in points:
        other = hardest.setdefault(_same_check(point), point)
        if (point.load or 0.0) > (other.load or 0.0):
            hardest[_same_check(point)] = point
    fine = {group for group, point in hardest.items() if _verdict(point) is None}
    verdicts: dict[object, str | None] = {}
    for point in points:
        group = _same_check(point)
        if group in fine:
            continue
        if (group, point.load) not in verdicts:
            verdicts[group, point.load] = _verdict(point)
        if (sentence := verdicts[group, point.load]) is not None:
            if not keep_going:
                raise TopoloomError(f"{point.origin}: {sentence}" if point.origin else sentence)
            wrong[point] = sentence
    return wrong


def _same_check(point: StudyPoint) -> object:
    """Return what the check of a point depends on beside its load: its seed does not matter."""
    options = tuple(sorted((name, str(value)) for name, value in point.options.items() if name != "seed"))
    return (point.kind, point.spec, point.routing, point.traffic, options)


def _verdict(point: StudyPoint) -> str | None:
    try:
        measurements.check(point)
    except TopoloomError as error:
        return str(error)
    return None


def run_points(
    points: Sequence[StudyPoint],
    ledger: Records,
    executor: Executor,
    *,
    name: str,
    keep_going: bool = False,
    check: bool = True,
    on_progress: OnProgress | None = None,
    noted: Mapping[str, float] = MappingProxyType({}),
) -> Progress:
    """Run the points that the ledger lacks.

    Args:
        points: The points of the study, each once.
        ledger: The store of results.
        executor: The executor of points; it is entered and left here.
        name: The name of the study, for the ledger's record.
        keep_going: Skip points that cannot be run instead of rejecting the study.
        check: Check all points here before any of them runs. Otherwise workers find out, and points that cannot be run
            have failed.
        on_progress: Called in this thread at every change, and at least every few tenths of a second.
        noted: Approximate seconds of points, by their keys, where known.

    Returns:
        The progress at the end. After Ctrl-C it is not ``finished``; completed points are stored.

    Raises:
        TopoloomError: A point that cannot be run, before any point runs; or a full disk.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from topoloom.studies import Ledger, LocalExecutor, Study, Sweep
    >>> points = Study(name="one", sweep=[Sweep(kind="facts", networks=["mesh:2x2"])]).points()
    >>> with tempfile.TemporaryDirectory() as folder, Ledger(Path(folder, "one.store")) as ledger:
    ...     run_points(points, ledger, LocalExecutor(1), name="one").done
    1
    """
    return _Run(points, ledger, executor, keep_going=keep_going, check=check, noted=noted).to_the_end(
        name, on_progress or (lambda _: None)
    )


class _Run:
    """The state of one :func:`run_points`."""

    def __init__(
        self,
        points: Sequence[StudyPoint],
        ledger: Records,
        executor: Executor,
        *,
        keep_going: bool,
        check: bool,
        noted: Mapping[str, float],
    ) -> None:
        self._points = points
        self._ledger = ledger
        self._executor = executor
        states = ledger.states()
        done = {point.key for point in points if point.among(states) == "done"}
        todo = [point for point in points if point.key not in done]
        self.progress = Progress(total=len(points), done=len(done), before=len(done), stored=done)
        self.progress.skipped = checked(todo, keep_going=keep_going) if check else {}
        self._estimates = Estimates(ledger.durations() if todo else [], noted)
        todo = [point for point in todo if point not in self.progress.skipped]
        # The longest last: points are taken from the end.
        self._todo = sorted(todo, key=self._estimates.effort)
        self._left = {point.key: point for point in todo}
        # Their seconds, when these were added up, and how long that took.
        self._left_s, self._added_up, self._adding_s = 0.0, -math.inf, 0.0
        self._attempts: dict[str, int] = {}
        self._elsewhere: list[StudyPoint] = []
        # When the run began, and when its last outcome came.
        self._began = self._heard = 0.0

    def to_the_end(self, name: str, on_progress: OnProgress) -> Progress:
        on_progress(self.progress)
        self._ledger.note_contents(self._points)
        if self._todo:
            self._ledger.begin(name)
            self._began = time.monotonic()
            with noted_interrupt() as interrupted, self._executor:
                self._loop(on_progress, interrupted)
            self._ledger.pack()
        return self.progress

    def _loop(self, on_progress: OnProgress, interrupted: Event) -> None:
        looked = 0.0
        while (self._todo or self.progress.under_way or self._elsewhere) and not interrupted.is_set():
            outcomes = self._executor.collect(WAIT_S) if self.progress.under_way else []
            wanted = self._take()
            granted = self._ledger.exchange(outcomes, wanted)
            for outcome in outcomes:
                self._note(outcome)
            self._hand_out(wanted, granted)
            self._ledger.pack(least=PART_ROWS)
            if self._elsewhere and time.monotonic() - looked > ELSEWHERE_S:
                looked = time.monotonic()
                self._look_elsewhere()
            self.progress.left_s = self._seconds_left()
            on_progress(self.progress)
            if not (self.progress.under_way or self._todo):
                time.sleep(WAIT_S if self._elsewhere else 0)

    def _take(self) -> list[StudyPoint]:
        """Take the next points from the list, as many as the executor can hold."""
        room = max(0, self._executor.capacity - len(self.progress.under_way))
        return [self._todo.pop() for _ in range(min(room, len(self._todo)))]

    def _hand_out(self, wanted: Iterable[StudyPoint], granted: Iterable[StudyPoint]) -> None:
        mine = {point.key for point in granted}
        for point in wanted:
            if point.key in mine:
                self.progress.under_way[point.key] = point
                self._executor.submit(point)
            else:
                self._elsewhere.append(point)
        self.progress.elsewhere = len(self._elsewhere)

    def _note(self, outcome: Outcome) -> None:
        """Take down what became of a point; one whose worker was lost is tried again."""
        point = self.progress.under_way.pop(outcome.key)
        if outcome.error == LOST:
            self._attempts[point.key] = self._attempts.get(point.key, 0) + 1
            if self._attempts[point.key] < ATTEMPTS:
                self._todo.append(point)
                return
        self._settle(point, outcome.error)
        self._estimates.learn(point, outcome.wall_s)
        self._heard = time.monotonic()

    def _seconds_left(self) -> float | None:
        """Return the seconds until the end, by what points took and how many ran at once; None before one is done."""
        learnt_s = self._estimates.learnt_s
        if not learnt_s:
            return None
        now = time.monotonic()
        self._add_up(now)
        # Points under way have taken time that is not learnt yet: how many run at once is known as of the last end.
        whole = self._left_s * (self._heard - self._began) / learnt_s
        return max(whole - (now - self._heard), (1 - ALMOST) * whole)

    def _add_up(self, now: float) -> None:
        """Add up the seconds of the points that are left; of many points seldom, as it takes long."""
        if now - self._added_up >= SELDOM * self._adding_s:
            self._left_s = sum(map(self._estimates.effort, self._left.values()))
            self._added_up, self._adding_s = now, time.monotonic() - now

    def _settle(self, point: StudyPoint, error: str | None) -> None:
        del self._left[point.key]
        if error is None:
            self.progress.done += 1
            self.progress.stored.add(point.key)
        else:
            self.progress.failed[point] = error

    def _look_elsewhere(self) -> None:
        """See what became of points that other runs are at; those of a run that died are ours again."""
        states, failures = self._ledger.states(), self._ledger.failures()
        waiting = []
        for point in self._elsewhere:
            state = point.among(states)
            if state == "done":
                self._settle(point, None)
            elif state == "failed":
                self._settle(point, point.among(failures))
            else:
                waiting.append(point)
        self._elsewhere = []
        self._todo = waiting + self._todo
        self.progress.elsewhere = 0
