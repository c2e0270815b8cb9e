"""How one application went on one network."""

from typing import Any

from pydantic import BaseModel, ConfigDict


class WorkloadResult(BaseModel):
    """How an application went on a network. Values that could not be measured are None.

    Attributes:
        spec: The network.
        app: The application.
        engine: The engine.
        routing: The routing that ran, resolved from its role.
        role: Its role, or its name if it was asked for by that.
        mapping: Which terminal ran which task.
        paths: Paths of a message in the flow engine, each drawn for it: 1, as with ECMP by flow, unless given.
        makespan_s: Seconds from the start to the end of the last task.
        ideal_s: A lower bound of that on any network: no congestion, only computing, waiting and the terminals' rates.
        tasks: The number of tasks.
        flows: Messages that went through the network.
        events: What the engine did: cycles simulated, or events of the flow engine.
        message_mean_s: Mean seconds from when a message can be sent until all of it has arrived.
        message_p99_s: The 99th percentile of these.
        data_bytes: Bytes of the data of a collective, of all its iterations, as nccl-tests count them; None of others.
        bus_factor: What its algorithm bandwidth is multiplied by for the bus bandwidth.
        training: Of a training step: how it is spread, model FLOPs utilisation, and where the time went.
        wall_s: Seconds that the engine ran.
        peak_rss_bytes: The largest memory of the process so far.
        interrupted: Whether it was stopped early.
    """

    model_config = ConfigDict(frozen=True, extra="allow")

    spec: str
    app: str
    engine: str
    routing: str
    role: str = ""
    mapping: str
    paths: int | None = None
    makespan_s: float | None
    ideal_s: float | None = None
    tasks: int
    flows: int
    events: int
    message_mean_s: float | None = None
    message_p99_s: float | None = None
    data_bytes: float | None = None
    bus_factor: float | None = None
    training: dict[str, Any] | None = None
    wall_s: float
    peak_rss_bytes: int
    interrupted: bool = False

    @property
    def coalesced_share(self) -> float:
        """The part of the makespan that messages of the critical path waited to be served together with others."""
        waited: float = (self.model_extra or {}).get("coalesced_s", 0.0)
        return waited / self.makespan_s if self.makespan_s else 0.0

    @property
    def over_ideal(self) -> float | None:
        """The makespan in parts of the ideal one; None if it is not known, or takes no time."""
        return self.makespan_s / self.ideal_s if self.makespan_s is not None and self.ideal_s else None

    @property
    def algbw_gb_s(self) -> float | None:
        """The algorithm bandwidth of a collective in GB/s: its data over the makespan."""
        return self.data_bytes / self.makespan_s / 1e9 if self.data_bytes is not None and self.makespan_s else None

    @property
    def busbw_gb_s(self) -> float | None:
        """Its bus bandwidth in GB/s: the former by what the hardware bounds, whatever the number of ranks."""
        own = self.algbw_gb_s
        return None if own is None or self.bus_factor is None else own * self.bus_factor

    @property
    def routing_text(self) -> str:
        """The routing for people: its role and its name, where both differ."""
        return f"{self.role} ({self.routing})" if self.role and self.role != self.routing else self.routing

    @property
    def state(self) -> str:
        """What kind of answer it is, in a word."""
        if getattr(self, "deadlocked", False):
            return "deadlocked"
        if self.makespan_s is None:
            return "interrupted" if self.interrupted else "not finished"
        return "finished"


def time_text(seconds: float | None) -> str:
    """Return a time with the unit that suits it.

    Args:
        seconds: The time, in seconds; None for a run that did not end.

    >>> time_text(0.00123), time_text(None)
    ('1.23 ms', '–')
    """
    if seconds is None:
        return "–"
    unit, size = time_unit(seconds)
    return f"{seconds / size:.4g} {unit}"


def time_unit(seconds: float) -> tuple[str, float]:
    """Return the unit that suits a time, and its seconds.

    Args:
        seconds: The time, in seconds.

    >>> time_unit(0.00123)
    ('ms', 0.001)
    """
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return unit, size
    return "ns", 1e-9
