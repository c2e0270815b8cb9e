"""What failures leave of the throughput: bounds by channel load on the networks of several draws of failures."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from topoloom import _core
from topoloom.network.throughput import DETOURS, has_detours
from topoloom.simulation.roles import routing_on

QUANTILES = (("least", 0.0), ("p10", 0.1), ("median", 0.5), ("p90", 0.9), ("most", 1.0))
"""What is reported of the trials, and the part of them that is not better."""


@dataclass(frozen=True)
class Survival:
    """Draws of failures, and the traffic under which throughput is bounded.

    Draw t of a fraction is the network that ``--fail KIND=PERCENT%,seed=SEED+t`` leaves, so that more failures of
    a draw include fewer.

    Attributes:
        network: The network without failures.
        kind: ``links`` or ``routers``.
        trials: How many draws.
        seed: The seed of the first one.
        traffics: The traffic patterns.
        known: What the network carries without failures, by traffic, where that was computed before.
    """

    network: _core.Network
    kind: str
    trials: int
    seed: int
    traffics: tuple[str, ...]
    known: Mapping[str, float] | None = None

    @cached_property
    def intact(self) -> Mapping[str, float]:
        """What the network carries without failures, by traffic: flits per active terminal per cycle."""
        return carried(self.network, self.traffics) if self.known is None else self.known

    @cached_property
    def _count(self) -> int:
        """How many links or routers there are."""
        return len(self.network.edges()) if self.kind == "links" else self.network.num_routers

    def at(self, fraction: float) -> list[dict[str, Any]]:
        """Return what is left when `fraction` of the links or routers fail, a row a traffic.

        Throughput is in flits per active terminal per cycle, 0 where it is disconnected. ``kept`` is the same
        in parts of what the intact network carries.

        Args:
            fraction: The share of links or routers that fail, 0 to 1.

        Raises:
            TopoloomError: A traffic pattern that does not exist, or a network that is too large.

        >>> import topoloom
        >>> survival = Survival(topoloom.network("torus:4x4").core, "links", 2, 1, ("uniform",))
        >>> [(row["failed"], row["apart"]) for row in survival.at(0.25)]
        [(8, 0)]
        """
        failed = int(fraction * self._count + 0.5 + 1e-9)
        draws = [self._draw(fraction, trial) for trial in range(self.trials)] if failed else [self.network]
        joined = [draw for draw in draws if draw is not None and draw.facts((1, 1))["connected"]]
        left = [carried(draw, self.traffics) for draw in joined]
        rows = []
        for traffic in self.traffics:
            found = [draw[traffic] for draw in left] + [0.0] * (len(draws) - len(joined))
            whole = self.intact[traffic]
            rows.append({
                "fraction": fraction,
                "failed": failed,
                "traffic": traffic,
                "apart": len(draws) - len(joined),
                "throughput": quantiles(found),
                "kept": quantiles([value / whole for value in found]) if whole else None,
            })  # fmt: skip
        return rows

    def _draw(self, fraction: float, trial: int) -> _core.Network | None:
        """Return what one draw leaves; None if that is nothing."""
        try:
            return self.network.with_failures(f"{self.kind}={100 * fraction:.12g}%,seed={self.seed + trial}")
        except _core.TopoloomError:
            if fraction < 1:
                raise
            return None


def carried(core: _core.Network, traffics: Sequence[str]) -> dict[str, float]:
    """Return what minimal paths and Valiant's carry together, in the best shares; what minimal ones do without those.

    Args:
        core: The engine's network, ``Network.core``.
        traffics: The traffic patterns.

    Raises:
        TopoloomError: A traffic pattern that does not exist, or a network that is too large or in parts.

    >>> import topoloom
    >>> round(carried(topoloom.network("torus:8x8").core, ["tornado"])["tornado"], 6)
    0.5
    """
    minimal, other = routing_on(core, "minimal"), DETOURS if has_detours(core) else None
    bounds = {name: _core.split_bound(core, minimal, other, _core.Traffic(core, name)) for name in traffics}
    return {name: min(1.0, bound.split_bound) for name, bound in bounds.items()}


def quantiles(values: Sequence[float]) -> dict[str, float]:
    """Return the quantiles of values, linear between neighbours, and their mean.

    Args:
        values: The values, at least one.

    >>> quantiles([0.0, 0.5, 1.0])["p90"]
    0.9
    """
    ordered = sorted(values)
    told = {"mean": sum(ordered) / len(ordered)}
    for name, part in QUANTILES:
        place = part * (len(ordered) - 1)
        low = int(place)
        high = min(low + 1, len(ordered) - 1)
        told[name] = ordered[low] + (place - low) * (ordered[high] - ordered[low])
    return told
