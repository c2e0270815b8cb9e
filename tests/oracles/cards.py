"""Cards with virtual output queues and iSLIP, cell by cell over plain lists: slow, written from the model's page alone.

Every cycle: cells and credits arrive, terminals inject, then every card matches its free inputs with its free
outputs and moves one cell of each packet that goes through.
"""

from collections import defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from oracles.graphs import Graph
from oracles.machine import Machine, around, latencies
from oracles.routes import Paths
from oracles.sources import Source, largest


@dataclass
class Options:
    buffer: int = 64
    reserve: int | None = None
    """Cells of each VC's own where the VCs of a port share the rest."""
    iterations: int = 1
    stages: tuple[int, int, int, int] = (1, 1, 1, 1)
    """Cycles of routing, storing, arbitration, crossbar."""
    credit_delay: int = 2
    packet: int | str = 1
    groups: int = 1
    """Groups of packets that are kept apart in traffic classes of their own: by the card of the source."""
    classes: int = 2
    """VC classes within a traffic class: upper and lower; with 1 a packet keeps its VC."""
    latency: dict[str, int] = field(default_factory=latencies)

    def of_the_engine(self) -> dict[str, Any]:
        routing, buffer, arbitration, crossbar = self.stages
        return {
            "model": "extoll",
            "buffer": self.buffer,
            "buffers": "private" if self.reserve is None else f"shared:{self.reserve}",
            "iterations": self.iterations,
            "routing_delay": routing,
            "buffer_delay": buffer,
            "sw_alloc_delay": arbitration,
            "crossbar_delay": crossbar,
            "credit_delay": self.credit_delay,
            "packet": self.packet,
            "links": self.latency,
        }


TCS, TC_VCS, VCS = 4, 2, 10
"""Traffic classes, deterministic VCs of each, all VCs of a port."""


@dataclass
class Packet:
    source: int
    created: int
    size: int
    hops: list[tuple[int, int | None]]
    """The outputs, and upper (0) or lower (1), or None where the VC is the packet's own."""
    visited: int = 0


@dataclass
class Stored:
    """A packet in a buffer: cells there, cells gone on, and from when it may be sent."""

    packet: Packet
    ready: int
    output: int
    vc: int
    cells: int = 1
    sent: int = 0


@dataclass
class Port:
    queues: dict[tuple[int, int], deque[Stored]] = field(default_factory=lambda: defaultdict(deque))
    """By VC and output."""
    coming: dict[int, Stored] = field(default_factory=dict)
    used: list[int] = field(default_factory=lambda: [0] * VCS)
    """As output: places taken behind each VC."""
    through: tuple[int, Stored] | None = None
    """As input: the VC and the packet that goes through the card."""
    grant: int = 0
    accept: int = 0
    busy: bool = False


@dataclass
class Result:
    packets: int = 0
    latency: int = 0
    cell_latency: int = 0
    measured_cells: int = 0
    hops: int = 0
    cells: int = 0
    by_source: defaultdict[int, int] = field(default_factory=lambda: defaultdict(int))
    """Cells that arrived in the window, by terminal."""


class Simulation(Machine[Options, Result]):
    def __init__(self, graph: Graph, paths: Paths, options: Options, sources: list[Source]) -> None:
        super().__init__(graph, paths, options, sources, vcs=VCS, whole=largest(options.packet), result=Result())
        self.cards = [[Port() for _ in range(p + len(links))] for p, links in zip(graph.p, graph.links, strict=True)]
        self.turns: defaultdict[tuple[int, int, int], int] = defaultdict(int)
        self.sending: list[deque[tuple[Packet, int]]] = [deque() for _ in sources]
        self.events: defaultdict[int, list[Callable[[int], None]]] = defaultdict(list)
        self.credits: defaultdict[int, list[tuple[list[int], int]]] = defaultdict(list)

    def cycle(self, now: int) -> None:
        for event in self.events.pop(now, []):
            event(now)
        for used, vc in self.credits.pop(now, []):
            used[vc] -= 1
        for terminal in range(len(self.sources)):
            self.inject(now, terminal)
        for card in range(len(self.cards)):
            self.match(now, card)
            self.move(now, card)

    # Terminals

    def inject(self, now: int, terminal: int) -> None:
        source, home = self.sources[terminal], self.homes[terminal]
        if not self.sending[terminal]:
            if source.next > now:
                return
            of_group = TCS * TC_VCS // self.options.groups
            first = home % self.options.groups * of_group
            order = [(self.last_vc[terminal] + 1 + i) % VCS for i in range(VCS)]
            own = [vc for vc in order if first <= vc < first + of_group]
            vc = next((vc for vc in own if self.fits(self.held[terminal], vc, source.size)), None)
            if vc is None:
                return
            self.last_vc[terminal] = vc
            created, size = source.next, source.size
            packet = self.packet(terminal, source.take(), created, size)
            self.waiting += self.window[0] <= created < self.window[1]
            self.sending[terminal].extend((packet, i) for i in range(size))
        vc = self.last_vc[terminal]
        self.held[terminal][vc] += 1
        packet, cell = self.sending[terminal].popleft()
        port = terminal - self.first[terminal]
        self.events[now + self.options.latency["terminal"] + 1].append(
            lambda now: self.arrive(now, home, port, vc, packet, cell)
        )

    def packet(self, terminal: int, to: int, created: int, size: int) -> Packet:
        here, there = self.homes[terminal], self.homes[to]
        [(_, path)] = self.paths(here, there) if here != there else [(1.0, ())]
        hops = [(port, k % 2 if self.options.classes == TC_VCS else None) for _, port, k in path]
        return Packet(terminal, created, size, [*hops, (to - self.first[to], None)])

    # Cards

    def arrive(self, now: int, card: int, port: int, vc: int, packet: Packet, cell: int) -> None:
        state = self.cards[card][port]
        if cell > 0:
            state.coming[vc].cells += 1
            return
        output, lane = packet.hops[packet.visited]
        packet.visited += 1
        routing, storing, arbitration, _ = self.options.stages
        behind = vc if lane is None else vc // TC_VCS * TC_VCS + lane
        stored = Stored(packet, now + routing + storing + arbitration - 1, output, behind)
        state.coming[vc] = stored
        state.queues[vc, output].append(stored)

    def candidates(self, now: int, card: int, port: int, output: int) -> list[int]:
        """The VCs of an input whose queue for an output has a head that may be sent."""
        ports = self.cards[card]
        heads = {vc: queue[0] for (vc, out), queue in ports[port].queues.items() if out == output and queue}
        return [
            vc
            for vc, head in heads.items()
            if head.ready <= now and self.fits(ports[output].used, head.vc, head.packet.size)
        ]

    def match(self, now: int, card: int) -> None:
        ports = self.cards[card]
        for iteration in range(self.options.iterations):
            granted: defaultdict[int, list[int]] = defaultdict(list)
            for output, state in enumerate(ports):
                if state.busy:
                    continue
                asking = [i for i, p in enumerate(ports) if p.through is None and self.candidates(now, card, i, output)]
                if asking:
                    granted[around(asking, state.grant)].append(output)
            for port, outputs in granted.items():
                output = around(outputs, ports[port].accept)
                if iteration == 0:
                    ports[port].accept, ports[output].grant = output + 1, port + 1
                turn = self.turns[card, port, output]
                vc = around(self.candidates(now, card, port, output), turn)
                self.turns[card, port, output] = vc + 1
                stored = ports[port].queues[vc, output].popleft()
                ports[port].through, ports[output].busy = (vc, stored), True
                ports[output].used[stored.vc] += stored.packet.size

    def move(self, now: int, card: int) -> None:
        graph, latency = self.graph, self.options.latency
        for port, state in enumerate(self.cards[card]):
            if state.through is None:
                continue
            vc, stored = state.through
            assert stored.sent < stored.cells, "a cell has come in time"
            cell, packet, output = stored.sent, stored.packet, stored.output
            stored.sent += 1
            leaves = now + self.options.stages[3]
            if output < graph.p[card]:
                arrives = leaves + latency["terminal"] + 1
                self.events[arrives].append(lambda now, cell=cell, packet=packet: self.eject(now, packet, cell))
                back = arrives + latency["terminal"] + 1 + self.options.credit_delay
                self.credits[back].append((self.cards[card][output].used, stored.vc))
            else:
                self.send(card, output, stored.vc, packet, cell, leaves)
            self.give_back(now, card, port, vc)
            if stored.sent == packet.size:
                state.through, self.cards[card][output].busy = None, False

    def send(self, card: int, output: int, vc: int, packet: Packet, cell: int, leaves: int) -> None:
        peer, there, kind = self.other_end(card, output)
        arrives = leaves + self.options.latency[kind] + 1
        self.events[arrives].append(lambda now: self.arrive(now, peer, there, vc, packet, cell))

    def give_back(self, now: int, card: int, port: int, vc: int) -> None:
        """The credit of a cell that has left the buffer."""
        latency = self.options.latency
        if port < self.graph.p[card]:
            terminal = self.homes.index(card) + port
            self.credits[now + latency["terminal"] + 1].append((self.held[terminal], vc))
            return
        peer, there, kind = self.other_end(card, port)
        back = now + latency[kind] + 1 + self.options.credit_delay
        self.credits[back].append((self.cards[peer][there].used, vc))

    def eject(self, now: int, packet: Packet, cell: int) -> None:
        start, end = self.window
        self.result.cells += start <= now < end
        self.result.by_source[packet.source] += start <= now < end
        if not start <= packet.created < end:
            return
        self.result.cell_latency += now - packet.created
        self.result.measured_cells += 1
        if cell == packet.size - 1:
            self.waiting -= 1
            self.result.packets += 1
            self.result.latency += now - packet.created
            self.result.hops += packet.visited
