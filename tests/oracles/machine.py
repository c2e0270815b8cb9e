"""What the slow simulations of routers share: sources, a window of time, room in buffers, the ends of links."""

from typing import Any, Generic, Protocol, TypeVar

from oracles.graphs import Graph
from oracles.routes import Paths
from oracles.sources import Source


def latencies() -> dict[str, int]:
    """A cycle for each class of links."""
    return dict.fromkeys(("terminal", "local", "global", "up", "internal"), 1)


def around(candidates: list[int], pointer: int) -> int:
    """Round robin: the first candidate from the pointer on, else the lowest."""
    return min((c for c in candidates if c >= pointer), default=min(candidates))


class Options(Protocol):
    buffer: int
    reserve: int | None
    """Flits of each VC's own where the VCs of a port share the rest of their buffers."""


Chosen = TypeVar("Chosen", bound=Options)
Counted = TypeVar("Counted")


class Machine(Generic[Chosen, Counted]):
    """Routers, terminals and a clock.

    Args:
        vcs: VCs of a port.
        whole: Flits of a largest packet, if packets are sent only where all of them fits.
        result: What is counted.
    """

    def __init__(
        self,
        graph: Graph,
        paths: Paths,
        options: Chosen,
        sources: list[Source],
        *,
        vcs: int,
        whole: int,
        result: Counted,
    ) -> None:
        self.graph, self.paths, self.options, self.sources = graph, paths, options, sources
        self.vcs, self.whole, self.result = vcs, whole, result
        self.homes = graph.homes
        self.first = [self.homes.index(home) for home in self.homes]
        # Of each terminal: flits in the injection buffers, the last VC.
        self.held = [[0] * vcs for _ in sources]
        self.last_vc = [vcs - 1] * len(sources)
        self.window = (0, 0)
        self.waiting = 0

    def run(self, warmup: int, measure: int) -> Counted:
        """Measures packets created in the window, and goes on until all of them have arrived."""
        self.window = (warmup, warmup + measure)
        now = 0
        while now < warmup + measure or self.waiting or any(s.next < warmup + measure for s in self.sources):
            self.cycle(now)
            now += 1
            assert now < 50 * (warmup + measure), "packets of the window never arrive"
        return self.result

    def cycle(self, now: int) -> Any:
        raise NotImplementedError

    def fits(self, used: list[int], vc: int, flits: int) -> bool:
        """True if so many flits more fit into a VC, by the places taken of all VCs of the port."""
        options = self.options
        if options.reserve is None:
            return used[vc] + flits <= options.buffer
        shared = [max(0, places - options.reserve) for places in used]
        more = max(0, used[vc] + flits - options.reserve) - shared[vc]
        # What each other VC lacks to hold a largest packet stays set aside for it.
        aside = sum(max(0, self.whole - max(options.reserve, used[v])) for v in range(self.vcs) if v != vc)
        return sum(shared) + more + aside <= self.vcs * (options.buffer - options.reserve)

    def other_end(self, router: int, port: int) -> tuple[int, int, str]:
        """The router and its port at the other end of a link (there are no parallel ones here), and its class."""
        peer, kind = self.graph.links[router][port - self.graph.p[router]]
        [there] = self.graph.ports_to(peer, router)
        return peer, there, kind
