"""Points as rows of a table that grows while they are simulated."""

from collections.abc import Callable, Sequence

from topoloom.cli.console import say
from topoloom.simulation.curves import Curve
from topoloom.simulation.points import Point

Column = tuple[str, int, Callable[[Point], str]]


def _number(value: float | None, decimals: int) -> str:
    return "–" if value is None else f"{value:.{decimals}f}"


COLUMNS: tuple[Column, ...] = (
    ("offered", 8, lambda point: f"{point.offered:.5g}"),
    ("accepted", 10, lambda point: _number(point.accepted, 4)),
    ("latency", 10, lambda point: _number(point.latency_cycles, 2)),
    ("±95 %", 8, lambda point: _number(point.latency_ci95, 2)),
    ("p50", 8, lambda point: _number(point.p50, 0)),
    ("p99", 8, lambda point: _number(point.p99, 0)),
    ("hops", 7, lambda point: _number(point.hops, 3)),
    ("cycles", 10, lambda point: f"{point.cycles}"),
)


class PointTable:
    """Prints the points of a curve in the order of their loads, each as soon as those before it are there.

    Args:
        curve: The curve.
        loads: Its loads to come, ascending, in flits per active terminal per cycle.

    >>> import topoloom
    >>> curve = topoloom.network("mesh:2x2").simulate(load=[0.1], warmup=10, measure=100)
    >>> table = PointTable(curve, [0.1])
    mesh:2x2  routing dor  traffic uniform  seed 1
    loads in flits per active terminal per cycle, latency in cycles
     offered  accepted   latency   ±95 %     p50     p99   hops    cycles
    >>> table.print_ready(curve)  # doctest: +ELLIPSIS
         0.1 ...
    >>> table.print_rest(curve)
    """

    def __init__(self, curve: Curve, loads: Sequence[float]) -> None:
        self._waiting = list(loads)
        self._columns = list(COLUMNS)
        units = curve.units
        if units.cycle_ns is not None:
            self._insert("latency", "in ns", 1, "latency_ns")
        if units.injection_gbps is not None:
            self._insert("accepted", "in GB/s", 3, "accepted_gb_s")
        print(f"{curve.spec}  routing {curve.routing}  traffic {curve.traffic}  seed {curve.config['seed']}")
        of_ns = "" if units.cycle_ns is None else f" of {units.cycle_ns:.4g} ns"
        full = units.gigabytes(1.0)
        loads_in = "flits per active terminal per cycle" if full is None else f"parts of {full:.4g} GB/s per terminal"
        print(f"loads in {loads_in}, latency in cycles{of_ns}")
        print("".join(f"{name:>{width}}" for name, width, _ in self._columns), flush=True)

    def _insert(self, after: str, name: str, decimals: int, key: str) -> None:
        """Add a column of further values of points, after another."""
        place = next(place for place, column in enumerate(self._columns) if column[0] == after) + 1
        self._columns.insert(place, (name, 9, lambda point: _number((point.model_extra or {}).get(key), decimals)))

    def print_ready(self, curve: Curve) -> None:
        """Print the points that have no load before them missing.

        Args:
            curve: The curve, with the points that are done.
        """
        while self._waiting and self._waiting[0] in curve.points:
            self._print_row(curve.points[self._waiting.pop(0)])

    def print_rest(self, curve: Curve) -> None:
        """Print the points that wait for one that will not come.

        Args:
            curve: The curve, with the points that are done.
        """
        for load in self._waiting:
            if load in curve.points:
                self._print_row(curve.points[load])

    def _print_row(self, point: Point) -> None:
        row = "".join(f"{text(point):>{width}}" for _, width, text in self._columns)
        print(f"{row}  {point.state}", flush=True)
        if point.makespan_cycles is not None:
            print(f"all packets of the trace have arrived after {point.makespan_cycles} cycles", flush=True)


def tell_notes(curves: Sequence[Curve]) -> None:
    """Report on stderr, once for each network and routing, how the routing runs there.

    Args:
        curves: The curves.

    >>> tell_notes([])
    """
    for spec, routing, note in dict.fromkeys((curve.spec, curve.routing, curve.note) for curve in curves):
        if note is not None:
            say(f"{spec}, routing {routing}: {note}")


def warn_of_deadlocks(curves: Sequence[Curve]) -> None:
    """Name on stderr the routers of every deadlock, as the engine's watchdog saw them.

    Args:
        curves: The curves.

    >>> warn_of_deadlocks([])
    """
    for curve in curves:
        for point in curve.sorted_points():
            if point.deadlocked:
                say(
                    f"deadlock: {curve.spec}, routing {curve.routing}, traffic {curve.traffic}, "
                    f"load {point.offered:g}: {_routers(point)}"
                )


def _routers(point: Point) -> str:
    routers = ((point.model_extra or {}).get("deadlock") or {}).get("routers", [])
    shown = ", ".join(str(router) for router in routers[:12])
    return f"at routers {shown}{' and more' if len(routers) > 12 else ''}"  # noqa: PLR2004 - fits a line
