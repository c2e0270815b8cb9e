"""Latency-load curves: the points of one routing under one traffic on one network, and what they show."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any

from topoloom import _core
from topoloom.engine.results import SaturationBound
from topoloom.libraries import require
from topoloom.plotting import Measure, plot
from topoloom.simulation.points import ZERO_LOAD, Point, Units

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import plotly.graph_objects as go
    from numpy.typing import NDArray

LEAST_ACCEPTED = 0.98
"""A stable point accepts at least this part of what is offered."""

MOST_LATENCY = 3.0
"""A stable point has at most this many times the latency of an empty network."""


@dataclass(frozen=True)
class ChannelLoads:
    """How busy the channels between routers were at one load.

    Attributes:
        load: The offered load.
        flits: Flits per cycle, two channels per link: from its first router to its second, and back.
    """

    load: float
    flits: "NDArray[np.float32]"


@dataclass
class Curve:
    """The latency-load curve of one routing under one traffic on one network.

    Attributes:
        spec: The network.
        routing: The routing, resolved from its role.
        role: The routing as it was asked for: a role, or the routing itself.
        roles: The roles that the routing plays on this network, where that is known.
        traffic: The traffic pattern.
        config: The engine's configuration, as it runs.
        deadlock_free: Whether the routing was proved free of deadlock with these VCs; None if it was not checked.
        points: The points simulated so far, by offered load, and in this order once the run has ended.
        finished: Whether every point that was asked for is there.
        source: The hash of the file or graph that the network comes from, if it comes from one.
        bound: What the saturation load cannot exceed, where it was computed.
        channels: How busy the channels were at the largest stable load, where that was asked for.
        most_load: The largest load that its terminals can offer, or that will be asked for: bursts have to make up
            for pauses, and cannot offer 1 with small packets.
        note: What is to be known of how the routing runs on this network, if anything.
        units: What its cycles and loads stand for.

    >>> import topoloom
    >>> curve = topoloom.network("mesh:2x2").simulate(load=[0.1, 0.2], warmup=100, measure=20000)
    >>> [(point.offered, curve.is_stable(point.offered)) for point in curve.sorted_points()]
    [(0.1, True), (0.2, True)]
    >>> curve.is_past_bound(0.2), len(curve.frame()), curve.plot("hops").data[-1].x
    (False, 2, (0.1, 0.2))
    >>> len(curve.to_dict()["points"]), curve.saturation_dict()["saturation_load"]
    (2, None)
    """

    spec: str
    routing: str
    role: str
    traffic: str
    config: dict[str, Any]
    points: dict[float, Point] = field(default_factory=dict)
    finished: bool = False
    deadlock_free: bool | None = None
    source: dict[str, str] = field(default_factory=dict)
    bound: SaturationBound | None = None
    channels: ChannelLoads | None = None
    most_load: float = 1.0
    note: str | None = None
    roles: Sequence[str] = ()
    units: Units = field(default_factory=Units)

    def sorted_points(self) -> list[Point]:
        """Return the points by ascending load."""
        return [self.points[load] for load in sorted(self.points)]

    def sort_points(self) -> None:
        """Put the points in the order of their loads: they came in the order in which the simulations ended.

        >>> from topoloom.simulation.points import Point
        >>> curve = Curve("mesh:4", "dor", "dor", "uniform", {})
        >>> curve.points = {load: Point.model_construct(offered=load) for load in (0.5, 0.1)}
        >>> curve.sort_points()
        >>> list(curve.points)
        [0.1, 0.5]
        """
        self.points = dict(sorted(self.points.items()))

    @property
    def zero_load_latency(self) -> float | None:
        """The latency of an empty network in cycles, once it has been measured."""
        point = self.points.get(ZERO_LOAD)
        return point.latency_cycles if point else None

    @property
    def zero_load_ci95(self) -> float | None:
        """Half the width of the 95 % confidence interval of :attr:`zero_load_latency`, in cycles."""
        point = self.points.get(ZERO_LOAD)
        return point.latency_ci95 if point else None

    @property
    def first_unstable(self) -> float | None:
        """The smallest load past saturation, if one was simulated."""
        return min((load for load in self.points if load != ZERO_LOAD and not self.is_stable(load)), default=None)

    def is_stable(self, load: float) -> bool:
        """Return whether the point at `load` lies below saturation: at least 98 % is accepted, without long delays.

        A load past the bound is never stable. Where the latency of an empty network was not measured, the smallest
        latency of the curve replaces it.

        Args:
            load: An offered load of a simulated point, in flits per active terminal per cycle.

        Raises:
            KeyError: No point was simulated at this load.
        """
        point, empty = self.points[load], self.zero_load_latency or self._least_latency
        if not point.has_answer or point.latency_cycles is None or empty is None:
            return False
        return (
            not self.is_past_bound(load)
            and point.accepted >= LEAST_ACCEPTED * load
            and point.latency_cycles <= MOST_LATENCY * empty
        )

    def is_past_bound(self, load: float) -> bool:
        """Return whether no steady state carries `load`: queues grow without end, even if a simulation hides it.

        A simulation is finite: up to 1 / :data:`LEAST_ACCEPTED` of the bound, and further where few channels are
        overloaded, it may meet all conditions of a stable point.

        Args:
            load: An offered load in flits per active terminal per cycle.
        """
        return self.bound is not None and load > self.bound.saturation_bound * (1 + 1e-9)

    @property
    def _least_latency(self) -> float | None:
        known = [point.latency_cycles for point in self.points.values() if point.latency_cycles is not None]
        return min(known, default=None)

    @property
    def saturation_load(self) -> float | None:
        """The largest stable load, to 0.01; None until the search for it has ended."""
        if not self.finished or self.zero_load_latency is None:
            return None
        return self.most_stable or 0.0

    @property
    def most_stable(self) -> float | None:
        """The largest load of a stable point, the one that stands for an empty network aside."""
        return max((load for load in self.points if load != ZERO_LOAD and self.is_stable(load)), default=None)

    @property
    def accepted_max(self) -> float | None:
        """The largest accepted load of any point."""
        return max((point.accepted for point in self.points.values() if not point.deadlocked), default=None)

    @property
    def accepted_at_1(self) -> float | None:
        """The load accepted where every terminal offers all it can."""
        point = self.points.get(1.0)
        return point.accepted if point and not point.deadlocked else None

    def frame(self) -> "pd.DataFrame":
        """Return the points as a data frame, one row per load, with network, routing and traffic."""
        require("pandas")
        import pandas as pd  # noqa: PLC0415 - loads slowly

        about = {"spec": self.spec, "routing": self.routing, "traffic": self.traffic, "seed": self.config["seed"]}
        return pd.DataFrame([about | point.model_dump() for point in self.sorted_points()])

    def plot(self, measure: Measure = "latency") -> "go.Figure":
        """Return a chart of the curve with its confidence band; see :func:`topoloom.plot`.

        Args:
            measure: ``latency``, ``accepted``, ``p99`` or ``hops``.

        Raises:
            TopoloomError: The extra with Plotly is missing.
        """
        return plot(self, measure)

    def _repr_html_(self) -> str:
        title = f"{self.spec}, routing {self.routing}, traffic {self.traffic}, seed {self.config['seed']}"
        columns = ["accepted", "latency_cycles", "latency_ci95", "p99", "hops", "converged", "saturated"]
        table = self.frame().set_index("offered")[columns] if self.points else None
        body = "no point yet" if table is None else table.to_html(float_format="{:.4g}".format)
        return f"<b>{escape(title)}</b><br>{body}"

    def to_dict(self) -> dict[str, Any]:
        """Return the output of ``simulate --json``."""
        return {
            "spec": self.spec,
            **self.source,
            "routing": self.routing,
            **({"note": self.note} if self.note else {}),
            "traffic": self.traffic,
            "config": self.config,
            "seed": self.config["seed"],
            "version": _core.__version__,
            "interrupted": not self.finished,
            "points": [point.model_dump() for point in self.sorted_points()],
        }

    def saturation_dict(self) -> dict[str, Any]:
        """Return the output of ``saturation --json``."""
        summary = {
            "saturation_load": self.saturation_load,
            "saturation_bound": self.bound.saturation_bound if self.bound else None,
            "saturation_bound_is": self.bound.saturation_bound_is if self.bound else None,
            "accepted_max": self.accepted_max,
            "accepted_at_1": self.accepted_at_1,
            "zero_load_latency_cycles": self.zero_load_latency,
        }
        if self.units.cycle_ns is not None and self.zero_load_latency is not None:
            summary["zero_load_latency_ns"] = self.zero_load_latency * self.units.cycle_ns
        if self.units.injection_gbps is not None:
            summary["saturation_gb_s"] = self.units.gigabytes(self.saturation_load)
            summary["accepted_max_gb_s"] = self.units.gigabytes(self.accepted_max)
        return summary | self.to_dict()
