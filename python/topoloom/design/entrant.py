"""A configuration on its way through the funnel of a design."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from topoloom.design.candidates import Candidate
from topoloom.design.criteria import Value


@dataclass
class Entrant:
    """A configuration on its way through the funnel.

    Attributes:
        candidate: The configuration.
        facts: Its facts, once it is built.
        routing: The routing that it is measured with.
        values: What is known of the criteria.
        details: Results of the full measurements, by kind and what they are of.
    """

    candidate: Candidate
    facts: Mapping[str, Any] = field(default_factory=dict)
    routing: str = ""
    values: dict[str, Value] = field(default_factory=dict)
    details: dict[tuple[str, str], Mapping[str, Any]] = field(default_factory=dict)

    @property
    def spec(self) -> str:
        """The network."""
        return self.candidate.spec
