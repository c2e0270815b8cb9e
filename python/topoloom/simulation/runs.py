"""Runs of simulators: the loads that plans ask for, one after another or in parallel."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Protocol

from topoloom import _core
from topoloom.simulation.curves import Curve
from topoloom.simulation.plans import Plan
from topoloom.simulation.points import Point
from topoloom.simulation.simulator import Simulator
from topoloom.workers import Workers, cpu_count

OnPoint = Callable[[Curve, Point], None]

Waiting = Callable[[_core.CancelToken], None]


def run_here(simulator: Simulator, plan: Plan, refine: Callable[[float], None] = lambda _: None) -> None:
    """Run the simulations that `plan` asks for one after another in this thread; `refine` improves each point.

    Args:
        simulator: The simulator, whose curve gets the points.
        plan: The plan of the loads.
        refine: Called with each load once its point is in the curve.

    >>> from topoloom.simulation.options import EngineOptions
    >>> simulator = Simulator(_core.Network("mesh:4"), "dor", "uniform", EngineOptions(warmup=50, measure=50))
    >>> run_here(simulator, iter([[0.2, 0.1]]))
    >>> list(simulator.curve.points)
    [0.1, 0.2]
    """
    never = _core.CancelToken()
    curve = simulator.curve
    for batch in plan:
        for load in batch:
            if load not in curve.points and (point := simulator.point(load, never)):
                curve.points[load] = point
                refine(load)
    curve.sort_points()
    curve.finished = True


class Keeper(Protocol):
    """What keeps points from one run to the next: :class:`topoloom.studies.kept.KeptPoints`."""

    @property
    def store(self) -> str:
        """The name of the store that holds them; empty if none does."""

    def recall(self, simulator: Simulator, load: float) -> Point | None:
        """Return a point that is known.

        Args:
            simulator: The simulator that asks.
            load: The load, in flits per terminal per cycle.
        """

    def keep(self, simulator: Simulator, load: float, point: Point) -> None:
        """Keep a point that was measured.

        Args:
            simulator: The simulator of the point.
            load: The load, in flits per terminal per cycle.
            point: The point.
        """


def run_plans(
    plans: Sequence[tuple[Simulator, Plan]],
    on_point: OnPoint | None = None,
    keeper: Keeper | None = None,
    waiting: Waiting | None = None,
) -> bool:
    """Run the simulations that `plans` ask for, in parallel, and put the points into their curves.

    Args:
        plans: Each simulator with the plan for its curve.
        on_point: Called in this thread for every point, in the order in which they come; the point is in its curve.
        keeper: Knows points that need not be simulated, and keeps the others.
        waiting: Called in this thread some times a second, with what reports how far the engine is.

    Returns:
        True when all is done; False when Ctrl-C came first. The points done until then are in the curves.

    >>> from topoloom.simulation.options import EngineOptions
    >>> simulator = Simulator(_core.Network("mesh:4"), "dor", "uniform", EngineOptions(warmup=50, measure=50))
    >>> run_plans([(simulator, iter([[0.2, 0.1]]))]), list(simulator.curve.points)
    (True, [0.1, 0.2])
    """
    cancel = _core.CancelToken()
    threads = max((simulator.curve.config["threads"] for simulator, _ in plans), default=1)
    with Workers[tuple[int, float, Point | None]](max(1, cpu_count() // threads)) as workers:
        run = _Run(plans, workers, cancel, on_point or _ignore, keeper)
        try:
            run.to_the_end(None if waiting is None else lambda: waiting(cancel))
        except KeyboardInterrupt:
            return False
        finally:
            cancel.cancel()
            workers.drop()
            for simulator, _ in plans:
                simulator.curve.sort_points()
    return True


def _ignore(curve: Curve, point: Point) -> None:
    """Take note of no point."""


class _Run:
    """The state of one :func:`run_plans`."""

    def __init__(
        self,
        plans: Sequence[tuple[Simulator, Plan]],
        workers: Workers[tuple[int, float, Point | None]],
        cancel: _core.CancelToken,
        on_point: OnPoint,
        keeper: Keeper | None,
    ) -> None:
        self._plans = plans
        self._workers = workers
        self._cancel = cancel
        self._on_point = on_point
        self._keeper = keeper
        self._missing = [0] * len(plans)

    def to_the_end(self, waiting: Callable[[], None] | None) -> None:
        for which in range(len(self._plans)):
            self._advance(which)
        while any(self._missing):
            which, load, point = self._workers.next_result(waiting)
            if point is None:
                continue
            simulator = self._plans[which][0]
            simulator.curve.points[load] = point
            if self._keeper is not None:
                self._keeper.keep(simulator, load, point)
            self._missing[which] -= 1
            if not self._missing[which]:
                simulator.keep_channels()
                self._advance(which)
            self._on_point(simulator.curve, point)

    def _advance(self, which: int) -> None:
        """Submit the next batch of a plan that has points left to run."""
        simulator, plan = self._plans[which]
        for batch in plan:
            new = [load for load in batch if load not in simulator.curve.points and not self._recalled(which, load)]
            threads = self._threads(simulator, len(new))
            for load in new:
                self._workers.submit(partial(self._simulate, which, load, threads))
            if new:
                self._missing[which] = len(new)
                return
            simulator.keep_channels()
        simulator.curve.finished = True

    def _recalled(self, which: int, load: float) -> bool:
        """Put a point that is known into its curve; return whether there is one."""
        simulator = self._plans[which][0]
        point = self._keeper.recall(simulator, load) if self._keeper is not None else None
        if point is None:
            return False
        simulator.curve.points[load] = point
        self._on_point(simulator.curve, point)
        return True

    def _threads(self, simulator: Simulator, new: int) -> int | None:
        """Return how many threads each of this many points of a large network gets: the processors that are idle.

        The results do not depend on it. None for those that the options state.
        """
        if not simulator.shares_well:
            return None
        return max(1, cpu_count() // (sum(self._missing) + new))

    def _simulate(self, which: int, load: float, threads: int | None) -> tuple[int, float, Point | None]:
        return which, load, self._plans[which][0].point(load, self._cancel, threads=threads)
