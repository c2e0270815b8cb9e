"""Points of latency-load curves: what is measured at one load, and the load that cannot be exceeded."""

from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

from topoloom import _core
from topoloom.engine.results import SaturationBound
from topoloom.simulation.options import CYCLE_NS

ZERO_LOAD = 0.001
"""The load whose latency stands for that of an empty network, in flits per terminal per cycle."""

BOUNDED_ROUTERS = 1024
"""Saturation loads of networks of at most this many routers come with their bound; ``topoloom bound`` has no limit."""


@dataclass(frozen=True)
class Units:
    """What the cycles and loads of a simulation stand for.

    Attributes:
        cycle_ns: Nanoseconds of a cycle: 64 bytes on the fastest link, or of the router model; None if of none.
        injection_gbps: What a terminal sends at load 1, in Gb/s; None where links have no rates.
    """

    cycle_ns: float | None = None
    injection_gbps: float | None = None

    @classmethod
    def of(cls, network: _core.Network, model: str) -> "Units":
        """Return those of a network whose links may have rates, with routers of `model`.

        Args:
            network: The engine's network, ``Network.core``.
            model: A router model; a name without times of its own is unchecked.

        >>> import topoloom
        >>> Units.of(topoloom.network("mesh:4,rate=400G").core, "input-queued").injection_gbps
        400.0
        """
        cycle_ns = CYCLE_NS.get(model) if network.cycle_ns is None else network.cycle_ns
        return cls(cycle_ns, network.injection_gbps)

    def gigabytes(self, load: float | None) -> float | None:
        """Return a load in GB/s per terminal; None where links have no rates.

        Args:
            load: The load, in flits per terminal per cycle.

        >>> Units(1.0, 400.0).gigabytes(0.5)
        25.0
        """
        return None if load is None or self.injection_gbps is None else load * self.injection_gbps / 8


class Point(BaseModel):
    """One simulated load. Loads are flits per active terminal per cycle; latencies are in cycles.

    Values that could not be measured, such as the latency where nothing arrived, are None.

    Attributes:
        offered: Offered load.
        accepted: Accepted load.
        latency_cycles: Mean latency from a packet's creation to its tail's arrival, source queue included.
        latency_ci95: Half the width of its 95 % confidence interval.
        network_latency_cycles: Mean latency from injection on.
        p50: Median latency.
        p99: 99th percentile of latency.
        hops: Mean number of routers that a packet visits.
        converged: Whether warm-up ended and the interval became narrow enough.
        saturated: Whether the source queues grew without bound.
        deadlocked: Whether flits stopped for good.
        cycles: Simulated cycles.
        flit_hops: Flits through routers over all cycles.
        wall_s: Seconds that the engine ran.
        cpu_s: Processor seconds that it used.
        active_terminals: Terminals that send.
        makespan_cycles: Cycles until the last packet of a trace arrived; None for other traffic.
        replicas: Simulations that the point is the mean of; absent from a point of a single one.
        latency_ns: The mean latency in nanoseconds; absent where a cycle stands for none.
        accepted_gb_s: The accepted load in GB/s per terminal; absent where links have no rates.
    """

    model_config = ConfigDict(frozen=True, extra="allow")

    offered: float
    accepted: float
    latency_cycles: float | None
    latency_ci95: float | None
    network_latency_cycles: float | None
    p50: float | None
    p99: float | None
    hops: float | None
    converged: bool
    saturated: bool
    deadlocked: bool = False
    cycles: int
    flit_hops: int
    wall_s: float
    cpu_s: float
    active_terminals: int
    makespan_cycles: int | None = None

    def with_units(self, units: Units) -> "Point":
        """Return the point with its latency in nanoseconds and its accepted load in GB/s, where the units are known.

        Args:
            units: The nanoseconds of a cycle and the GB/s of load 1, where known.

        >>> import topoloom
        >>> curve = topoloom.network("mesh:2x2").simulate(load=0.1, warmup=10, measure=100)
        >>> point = curve.points[0.1]
        >>> point.with_units(curve.units) == point
        True
        """
        more: dict[str, float] = {}
        if units.cycle_ns is not None and self.latency_cycles is not None:
            more["latency_ns"] = self.latency_cycles * units.cycle_ns
        if (accepted := units.gigabytes(self.accepted)) is not None:
            more["accepted_gb_s"] = accepted
        return Point.model_validate(self.model_dump() | more) if more else self

    @property
    def has_answer(self) -> bool:
        """Whether the point measured anything: packets arrived and nothing stopped for good."""
        return not self.deadlocked and self.latency_cycles is not None

    @property
    def state(self) -> str:
        """What kind of answer the point is, in a word or two."""
        if self.deadlocked:
            return "deadlocked"
        if self.latency_cycles is None:
            return "nothing arrived"
        if self.saturated:
            return "saturated"
        return "converged" if self.converged else "not converged"


def bound_of(network: _core.Network, routing: _core.Routing, traffic: _core.Traffic) -> SaturationBound | None:
    """Return the load that cannot be exceeded, or None where it takes too long or nothing is known.

    Args:
        network: The engine's network, ``Network.core``.
        routing: A routing on it.
        traffic: A traffic on it.

    >>> import topoloom
    >>> core = topoloom.network("torus:8").core
    >>> bound = bound_of(core, _core.Routing(core, "dor"), _core.Traffic(core, "tornado"))
    >>> round(bound.saturation_bound, 6)
    0.333333
    """
    if network.num_routers > BOUNDED_ROUTERS:
        return None
    try:
        return routing.bound(traffic)
    except _core.TopoloomError:
        return None
