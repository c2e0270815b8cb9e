"""Where minimal routing or Valiant's carries more than the adaptive one."""

from collections.abc import Sequence
from dataclasses import dataclass

from topoloom import _core
from topoloom.engine.results import SaturationBound
from topoloom.network.networks import Network
from topoloom.simulation.curves import Curve
from topoloom.simulation.points import ZERO_LOAD, bound_of
from topoloom.simulation.roles import routing_on

MEASURED = 1.02
"""A routing that was simulated carries more above this factor: less is noise."""

BOUNDED = 1.1
"""A routing that was not simulated is named where its bound is more than this factor larger: none reaches its bound."""


@dataclass(frozen=True)
class Shortfall:
    """A routing that carries more, or may, than the adaptive one of the same network under the same traffic.

    Loads are flits per active terminal per cycle.

    Attributes:
        spec: The network.
        traffic: The traffic pattern.
        adaptive: The adaptive routing.
        accepted: The load that it accepts at `load`, or at any load where that is None.
        other: The other routing.
        carries: The load that that one accepts there, or an upper bound by its channels where it was not simulated.
        load: The highest load that both were simulated at, or None.
        simulated: Whether the other was simulated.

    >>> Shortfall("mesh:4x4", "uniform", "dal", 0.5, "dor", 0.6, 1.0, True).sentence()
    'mesh:4x4, uniform: dor carries more than the adaptive routing dal: it accepts 0.600 at load 1, dal 0.500'
    """

    spec: str
    traffic: str
    adaptive: str
    accepted: float
    other: str
    carries: float
    load: float | None
    simulated: bool

    def sentence(self) -> str:
        """Return it in a sentence."""
        where = "at most, at any load" if self.load is None else f"at load {self.load:g}"
        if self.simulated:
            return (
                f"{self.spec}, {self.traffic}: {self.other} carries more than the adaptive routing {self.adaptive}: it "
                f"accepts {self.carries:.3f} {where}, {self.adaptive} {self.accepted:.3f}"
            )
        return (
            f"{self.spec}, {self.traffic}: {self.other}, which was not simulated, may carry more than the adaptive "
            f"routing {self.adaptive}: its channels carry up to {self.carries:.3f}, {self.adaptive} accepts "
            f"{self.accepted:.3f} at most"
        )


def shortfalls(curves: Sequence[Curve], networks: Sequence[Network] = ()) -> list[Shortfall]:
    """Return where another routing carries more than the adaptive one: at most one for each adaptive curve.

    Of routings that were simulated the one that accepts most counts, at full load first, else at any load. Of minimal
    and Valiant's where they were not simulated, the proven bounds of their channels do, on `networks` that are not too
    large: a bound below what the adaptive one accepts proves that they carry no more.

    Args:
        curves: The curves.
        networks: The networks whose channel loads may be computed.

    >>> import topoloom
    >>> shortfalls([topoloom.network("mesh:2x2").simulate(load=[0.1], warmup=10, measure=100)])
    []
    """
    cores = {network.spec: network.core for network in networks}
    found = []
    for curve in curves:
        if "adaptive" not in curve.roles or not curve.points:
            continue
        others = [own for own in curves if own is not curve and _alike(own, curve) and own.points]
        short = _measured(curve, others) or _bounded(curve, others, cores.get(curve.spec))
        if short is not None:
            found.append(short)
    return found


def _alike(a: Curve, b: Curve) -> bool:
    """Whether two curves differ by nothing but their routing: the role also names options in which curves differ."""
    return (a.spec, a.traffic, a.role.partition(", ")[2]) == (b.spec, b.traffic, b.role.partition(", ")[2])


def _measured(curve: Curve, others: Sequence[Curve]) -> Shortfall | None:
    """Return the routing that was simulated and carries most, if that is more."""
    at_full = [(load, own) for own in others if (load := _highest_common(curve, own)) is not None]
    if at_full:
        load, best = max(at_full, key=lambda pair: pair[1].points[pair[0]].accepted)
        if (most := best.points[load].accepted) > MEASURED * (own := curve.points[load].accepted):
            return _short(curve, own, best.routing, most, load)
    comparable = [own for own in others if max(own.points) == max(curve.points) and own.accepted_max is not None]
    if comparable and curve.accepted_max is not None:
        best = max(comparable, key=lambda own: own.accepted_max or 0.0)
        if (most := best.accepted_max or 0.0) > MEASURED * curve.accepted_max:
            return _short(curve, curve.accepted_max, best.routing, most, None)
    return None


def _short(curve: Curve, accepted: float, other: str, carries: float, load: float | None) -> Shortfall:
    return Shortfall(curve.spec, curve.traffic, curve.routing, accepted, other, carries, load, simulated=True)


def _highest_common(a: Curve, b: Curve) -> float | None:
    """Return the highest load of both curves, if it is the highest of each."""
    load = max(a.points)
    both = load == max(b.points) and load != ZERO_LOAD
    return load if both and not a.points[load].deadlocked and not b.points[load].deadlocked else None


def _bounded(curve: Curve, others: Sequence[Curve], core: _core.Network | None) -> Shortfall | None:
    """Return minimal or Valiant's routing, whichever may carry most, if its bound leaves room for more."""
    own = curve.accepted_max
    if core is None or own is None or max(curve.points) < curve.most_load:
        return None
    simulated = {other.routing for other in others}
    names = [name for name in (routing_on(core, "minimal"), "val") if name not in simulated]
    bounds = [
        (bound.saturation_bound, name)
        for name in names
        if (bound := _bound(core, name, curve.traffic)) and bound.saturation_bound_is == "expected-load"
    ]
    most, name = max(bounds, default=(0.0, ""))
    if min(most, curve.most_load) <= BOUNDED * own:
        return None
    return Shortfall(curve.spec, curve.traffic, curve.routing, own, name, most, None, simulated=False)


def _bound(core: _core.Network, name: str, traffic: str) -> SaturationBound | None:
    """Return the load that a routing cannot carry more than, where it is offered and the bound takes no long time."""
    try:
        return bound_of(core, _core.Routing(core, name), _core.Traffic(core, traffic))
    except _core.TopoloomError:
        return None
