"""Trials: every routing that a network offers, at the same loads with the same seed, the best one first."""

from collections.abc import Sequence
from typing import Any

from topoloom import _core
from topoloom._core import TopoloomError
from topoloom.simulation.curves import Curve
from topoloom.simulation.options import EngineOptions
from topoloom.simulation.plans import fixed_plan, search_plan
from topoloom.simulation.runs import Keeper, OnPoint, Waiting, run_plans
from topoloom.simulation.simulator import Simulator

BEST = "best"
"""What stands for all routings where one is asked for."""

CRITERION = (
    "the load accepted at the highest load, to 0.01; of equals the largest stable load, then the lowest latency at the "
    "lowest load"
)
"""Which routing is better."""

ALIKE = 2
"""Decimals to which accepted loads are compared: others are noise."""


def rank(curve: Curve) -> tuple[float, float, float]:
    """Return what curves are sorted by, the best first: see :data:`CRITERION`.

    Args:
        curve: The curve.

    >>> import topoloom
    >>> both = [topoloom.network(spec).simulate(load=0.5) for spec in ("mesh:8", "torus:8")]
    >>> [curve.spec for curve in sorted(both, key=rank)]
    ['torus:8', 'mesh:8']
    """
    points = curve.sorted_points()
    if not points:
        return (0.0, 0.0, 0.0)
    last, latency = points[-1], points[0].latency_cycles
    accepted = -1.0 if last.deadlocked else round(last.accepted, ALIKE)
    return (-accepted, -(curve.most_stable or 0.0), float("inf") if latency is None else latency)


def offered_simulators(
    network: _core.Network, traffic: str, options: EngineOptions, **more: Any
) -> tuple[list[Simulator], dict[str, str]]:
    """Return a simulator for each routing that a network offers, and why others cannot run.

    Args:
        network: The network.
        traffic: A traffic pattern.
        options: The engine's options.
        **more: What :class:`Simulator` takes besides.

    Raises:
        TopoloomError: No routing can run, by the first one's reason.

    >>> simulators, rejected = offered_simulators(_core.Network("mesh:4"), "uniform", EngineOptions())
    >>> simulators[0].curve.routing
    'dor'
    """
    if options.fail is not None:
        network, options = network.with_failures(options.fail), options.model_copy(update={"fail": None})
    simulators, refused = [], {}
    for routing in network.routings():
        try:
            simulators.append(Simulator(network, routing, traffic, options, **more))
        except TopoloomError as error:
            refused[routing] = str(error)
    if not simulators:
        raise TopoloomError(next(iter(refused.values())))
    return simulators, refused


class Trials:
    """Every routing that a network offers, under one traffic with the same options and seed.

    Each has the VCs that it is given by default, unless the options state how many.

    Args:
        network: The network.
        traffic: A traffic pattern.
        options: The engine's options.
        loads: The loads to simulate; None to search each one's saturation load.

    Attributes:
        refused: Why a routing cannot run with these options, by routing.
        finished: Whether all is done.

    Raises:
        TopoloomError: A mistake in an argument, or no routing that can run.

    >>> trials = Trials(_core.Network("mesh:4"), "uniform", EngineOptions(warmup=50, measure=50), loads=[0.1])
    >>> trials.run()
    True
    >>> len(trials.rows()) == len(trials.to_dict()["routings"])
    True
    """

    def __init__(
        self, network: _core.Network, traffic: str, options: EngineOptions, loads: Sequence[float] | None = None
    ) -> None:
        more: dict[str, Any] = (
            {"precise": (), "settled": True} if loads is None else {"most_load": max(loads), "searching": False}
        )
        self._simulators, self.refused = offered_simulators(network, traffic, options, **more)
        self._loads = loads
        self.finished = False

    @property
    def curves(self) -> list[Curve]:
        """The curves, the best one first: see :data:`CRITERION`."""
        return sorted((simulator.curve for simulator in self._simulators), key=rank)

    @property
    def best(self) -> Curve | None:
        """The best one, once all is done."""
        return self.curves[0] if self.finished else None

    def run(
        self, on_point: OnPoint | None = None, keeper: Keeper | None = None, waiting: Waiting | None = None
    ) -> bool:
        """Run them, in parallel, and return whether all is done; the arguments are those of :func:`run_plans`."""
        loads = self._loads
        plans = [
            (simulator, search_plan(simulator.curve) if loads is None else fixed_plan(loads))
            for simulator in self._simulators
        ]
        self.finished = run_plans(plans, on_point, keeper, waiting)
        return self.finished

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per routing, the best first.

        The keys are ``routing``, ``roles`` (those that it plays on this network), ``vcs``, ``accepted_at_full`` (at the
        highest load), ``accepted_max`` (at any), ``saturation_load`` (None where it was not searched), ``stable_load``
        (the largest load simulated that lies below saturation) and ``latency_cycles`` (at the lowest load).
        """
        return [_row(curve, searched=self._loads is None) for curve in self.curves]

    def to_dict(self) -> dict[str, Any]:
        """Return what ``--routing best --json`` prints."""
        curves = self.curves
        first = curves[0]
        loads = sorted({load for curve in curves for load in curve.points})
        return {
            "spec": first.spec,
            **first.source,
            "traffic": first.traffic,
            "seed": first.config["seed"],
            "version": _core.__version__,
            "interrupted": not self.finished,
            "criterion": CRITERION,
            "best": self.best.routing if self.best is not None else None,
            "lowest_load": loads[0] if loads else None,
            "highest_load": loads[-1] if loads else None,
            "routings": self.rows(),
            "refused": self.refused,
            "curves": [curve.saturation_dict() if self._loads is None else curve.to_dict() for curve in curves],
        }


def _row(curve: Curve, *, searched: bool) -> dict[str, Any]:
    points = curve.sorted_points()
    ends = (points[0], points[-1]) if points else None
    return {
        "routing": curve.routing,
        "roles": curve.roles,
        "vcs": curve.config["vcs"],
        "accepted_at_full": None if ends is None or ends[1].deadlocked else ends[1].accepted,
        "accepted_max": curve.accepted_max,
        "saturation_load": curve.saturation_load if searched else None,
        "stable_load": curve.most_stable,
        "latency_cycles": ends[0].latency_cycles if ends is not None else None,
    }
