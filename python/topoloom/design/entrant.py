"""A configuration in the funnel of a design."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from topoloom.design.candidates import Candidate
from topoloom.design.criteria import Value
from topoloom.design.neighbours import Neighbour


@dataclass(frozen=True)
class Surroundings:
    """A neighbour of a finalist with what is known of it.

    Attributes:
        neighbour: The neighbour.
        cost: Dollars per terminal.
        bounds: The load that minimal and Valiant's paths carry together, by traffic: flits per active terminal per
            cycle.

    >>> from topoloom.design.neighbours import neighbours
    >>> near = neighbours("hyperx:4x4,p=2", 9)[1]
    >>> Surroundings(near, 100.0, {"uniform": 0.9}).to_dict()["cost_per_terminal_usd"]
    100.0
    """

    neighbour: Neighbour
    cost: float | None
    bounds: dict[str, float]

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON holds of it."""
        return asdict(self.neighbour) | {"cost_per_terminal_usd": self.cost, "split_bound": self.bounds}


@dataclass
class Entrant:
    """A configuration in the funnel.

    Attributes:
        candidate: The configuration.
        facts: Its facts, once it is built.
        routing: The routing that it is measured with.
        cluster: The network with the hosts on it, where hosts are asked for.
        values: What is known of the criteria.
        most: Proved upper bounds of the throughput, by traffic.
        split: What minimal and Valiant's paths carry together, by traffic.
        windows: In how many windows it was simulated, each longer than the one before it.
        details: Results of the full measurements, by kind and what they are of.
        neighbours: Its neighbourhood, of a finalist.
    """

    candidate: Candidate
    facts: Mapping[str, Any] = field(default_factory=dict)
    routing: str = ""
    cluster: str = ""
    values: dict[str, Value] = field(default_factory=dict)
    most: dict[str, float] = field(default_factory=dict)
    split: dict[str, float] = field(default_factory=dict)
    windows: int = 0
    details: dict[tuple[str, str], Mapping[str, Any]] = field(default_factory=dict)
    neighbours: list[Surroundings] = field(default_factory=list)

    @property
    def spec(self) -> str:
        """The network."""
        return self.candidate.spec
