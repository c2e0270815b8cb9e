"""How long a search or a comparison still takes, by the points that are done."""

from collections.abc import Sequence
from math import ceil, log2

from topoloom.simulation.curves import Curve
from topoloom.simulation.plans import LARGE, RESOLUTION
from topoloom.simulation.points import ZERO_LOAD

FIXED = 0.05
"""What a point takes whatever its load, in parts of what full load takes."""

NEAR_STEPS = 4
"""About this many points are needed by a search that starts near what is accepted at full load."""

SETTLES = 1.6
"""Close to saturation queues settle slowly: a point takes about this many times what its load suggests."""

USUAL_CYCLES = 5_000
"""Few points take more cycles than this. One that nearly carries full load may: its queues grow slowly."""

LIKELY = 0.7
"""Of the loads below the first one past saturation this part is likely stable."""


class TimeLeft:
    """The seconds until curves are finished, from how long their points took.

    A point is assumed to take as long for its load as those of its curve did, or those of all curves. Points at the
    largest load count apart: they may take far more cycles than others.

    Args:
        curves: The curves.
        loads: The loads that every curve shows below its saturation.
        workers: Points that are simulated at the same time.

    >>> import topoloom
    >>> curve = topoloom.network("mesh:2x2").saturation(vcs=2, buffer=4)
    >>> TimeLeft([curve]).seconds()
    0.0
    """

    def __init__(self, curves: Sequence[Curve], loads: Sequence[float] = (), workers: int = 1) -> None:
        self._curves = curves
        self._loads = loads
        self._workers = workers

    def seconds(self, under_way_s: float = 0.0) -> float | None:
        """Return the seconds left; None before a point is done.

        Args:
            under_way_s: Seconds since the last point was done, for which others have been under way.
        """
        left = [curve for curve in self._curves if not curve.finished]
        if not left:
            return 0.0
        rates = [rate for curve in self._curves if (rate := _rate(curve)) is not None]
        if not rates:
            return None
        usual = sum(rates) / len(rates)
        fulls = [full.wall_s for curve in self._curves if (full := curve.points.get(curve.most_load)) is not None]
        # The steps of one search follow each other, those of several run side by side.
        efforts = [(_rate(curve) or usual) * self._to_come(curve) + _full_s(curve, fulls, usual) for curve in left]
        whole = max(sum(efforts) / self._workers, *efforts)
        if len(left) == 1:
            # What takes longer than expected takes half as long again, on average over all lengths.
            return max(whole - under_way_s, under_way_s / 2)
        return max(whole - under_way_s, whole / (10 * len(left)))

    def _to_come(self, curve: Curve) -> float:
        """Return the effort of points below the largest load that a curve lacks, about: 1 stands for a load of 1."""
        if not self._loads and _is_large(curve) and set(curve.points) <= {ZERO_LOAD, curve.most_load}:
            return NEAR_STEPS * SETTLES * (FIXED + curve.points[curve.most_load].accepted)
        return sum(FIXED + load for load in self._loads_to_come(curve))

    def _loads_to_come(self, curve: Curve) -> list[float]:
        full = curve.most_load in curve.points
        stable, unstable = curve.most_stable or 0.0, curve.first_unstable
        if unstable is None and full:
            steps = 0
            unstable = curve.most_load
        else:
            unstable = curve.most_load if unstable is None else unstable
            between = round((unstable - stable) * RESOLUTION) - 1
            steps = ceil(log2(between + 1)) if between > 0 else 0
            steps = min(steps, NEAR_STEPS) if not (self._loads or stable) and _is_large(curve) else steps
        shown = [load for load in self._loads if load not in curve.points and load < max(stable, LIKELY * unstable)]
        return [(stable + unstable) / 2] * (steps if full else max(0, steps - 1)) + shown


def _is_large(curve: Curve) -> bool:
    """Return whether a search starts near what is accepted at full load."""
    full = curve.points.get(curve.most_load)
    return full is not None and full.active_terminals >= LARGE


def _full_s(curve: Curve, known: Sequence[float], usual: float) -> float:
    """Return the seconds of a curve's point at the largest load that is not done, as long as those that are known."""
    if curve.most_load in curve.points:
        return 0.0
    return sum(known) / len(known) if known else usual * (FIXED + curve.most_load)


def _rate(curve: Curve) -> float | None:
    """Return the seconds of a point at a load of 1 that a curve shows; None before one of its points is done."""
    known = [own for load, own in curve.points.items() if load not in {ZERO_LOAD, curve.most_load}]
    if effort := sum(FIXED + own.offered for own in known):
        return sum(own.wall_s for own in known) / effort
    full = curve.points.get(curve.most_load)
    if full is None:
        return None
    given = curve.config.get("measure") is not None
    usual = full.wall_s if given else full.wall_s * min(1.0, USUAL_CYCLES / full.cycles)
    return usual / (FIXED + full.offered)
