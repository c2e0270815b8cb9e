"""The input-queued router, cycle by cycle over plain lists: slow, and written from the model's description alone.

Every cycle: flits and credits arrive, terminals inject, routers run their internal steps. In a step all stages see the
state at its start; VC allocation and switch allocation are decided first and take effect after.
"""

from collections import defaultdict, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from math import floor
from typing import Any

from oracles.graphs import Graph
from oracles.machine import Machine, around, latencies
from oracles.routes import Paths
from oracles.sources import Source, largest


@dataclass
class Options:
    vcs: int = 4
    buffer: int = 64
    speedup: float = 2.0
    routing_delay: int = 0
    credit_delay: int = 2
    allocator: str = "separable-input-first"
    packet: int | str = 1
    """As users write it; the sources say what size each packet has."""
    vct: bool = False
    reserve: int | None = None
    """Flits of each VC's own where the VCs of a port share the rest of their buffers."""
    bubble: int = 0
    """Where the rings of a torus keep bubbles, the flits of the largest packet: every packet takes so many places."""
    classes: int = 1
    latency: dict[str, int] = field(default_factory=latencies)

    def of_the_engine(self) -> dict[str, Any]:
        """The same as options of the engine."""
        return {
            "vcs": self.vcs,
            "buffer": self.buffer,
            "speedup": self.speedup,
            "routing_delay": self.routing_delay,
            "credit_delay": self.credit_delay,
            "allocator": self.allocator,
            "packet": self.packet,
            "flow": "vct" if self.vct else "wormhole",
            "buffers": "private" if self.reserve is None else f"shared:{self.reserve}",
            "links": self.latency,
        }


@dataclass
class Packet:
    created: int
    injected: int
    routers: int
    hops: list[tuple[int, range]]
    """The output and the VCs to choose from, router by router."""
    size: int
    enters: list[bool]
    """Router by router, whether the hop leads into a ring that the packet is not in yet."""
    places: int
    """What it takes of a buffer, under virtual cut-through."""


@dataclass
class Flit:
    packet: Packet
    head: bool
    tail: bool
    visited: int = -1
    """Routers before the one that it is at or goes to."""


@dataclass
class Input:
    """An input VC."""

    queue: deque[Flit] = field(default_factory=deque)
    output: tuple[int, int] | None = None
    """The output VC that the packet at the front holds."""
    ready: int = 0
    """The step from which the head at the front may ask for an output VC."""
    pointer: int = 0


@dataclass
class Output:
    """An output VC."""

    owner: tuple[int, int] | None = None
    used: int = 0
    pointer: int = 0


@dataclass
class Port:
    """What is kept for a port as input (offset, accept) and as output (grant)."""

    accept: int = 0
    grant: int = 0
    offset: int = 0
    flit_free: int = 0
    credit_free: int = 0


@dataclass
class Router:
    inputs: list[list[Input]]
    outputs: list[list[Output]]
    ports: list[Port]
    vc_diagonal: int = 0
    switch_diagonal: int = 0


@dataclass
class Result:
    packets: int = 0
    latency: int = 0
    network_latency: int = 0
    hops: int = 0
    flits: int = 0
    injected: int = 0
    ejected: int = 0
    last: int = 0
    """When a packet of the window last arrived."""


def wavefront(wanted: set[tuple[int, int]], size: int, first: int) -> Iterator[tuple[int, int]]:
    """Rows and columns of a square that are matched diagonal by diagonal, from one diagonal on, each at most once."""
    rows, columns = set(), set()
    for diagonal in range(first, first + size):
        for row in range(size):
            column = (diagonal - row) % size
            if (row, column) in wanted and row not in rows and column not in columns:
                rows.add(row)
                columns.add(column)
                yield row, column


class Simulation(Machine[Options, Result]):
    def __init__(self, graph: Graph, paths: Paths, options: Options, sources: list[Source]) -> None:
        v = options.vcs
        whole = largest(options.packet) if options.vct else 0
        super().__init__(graph, paths, options, sources, vcs=v, whole=whole, result=Result())
        self.routers = [
            Router(
                [[Input() for _ in range(v)] for _ in range(ports)],
                [[Output() for _ in range(v)] for _ in range(ports)],
                [Port() for _ in range(ports)],
            )
            for ports in (p + len(links) for p, links in zip(graph.p, graph.links, strict=True))
        ]
        # Of each terminal, flits of the packet still to be sent.
        self.sending: list[deque[Flit]] = [deque() for _ in sources]
        self.flits: defaultdict[int, list[tuple[int, int, int, Flit]]] = defaultdict(list)
        self.credits: defaultdict[int, list[Output]] = defaultdict(list)
        self.home_credits: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)

    def cycle(self, now: int) -> None:
        for router, port, vc, flit in self.flits.pop(now, []):
            if port < 0:
                self.eject(now, flit)
            else:
                self.arrive(now, router, port, vc, flit)
        for output in self.credits.pop(now, []):
            output.used -= 1
        for terminal, vc in self.home_credits.pop(now, []):
            self.held[terminal][vc] -= 1
        for terminal in range(len(self.sources)):
            self.inject(now, terminal)
        steps = range(self.first_step(now), self.first_step(now + 1))
        for router in range(len(self.routers)):
            for step in steps:
                # The switch is crossed in the step after the grant: in the next cycle if this is the last one.
                self.step(now, router, step, now if step < steps[-1] else now + 1)

    def first_step(self, cycle: int) -> int:
        """Internal steps are numbered from the start of time."""
        return floor(cycle * self.options.speedup)

    # Terminals

    def inject(self, now: int, terminal: int) -> None:
        source, options = self.sources[terminal], self.options
        sending, held = self.sending[terminal], self.held[terminal]
        if not sending and source.next > now:
            return
        last, v = self.last_vc[terminal], options.vcs
        choices = [last] if sending else [(last + 1 + i) % v for i in range(v)]
        flits = source.size if options.vct and not sending else 1
        vc = next((c for c in choices if self.fits(held, c, flits)), None)
        if vc is None:
            return
        if not sending:
            created = source.next
            size = source.size
            to = source.take()
            packet = self.packet(terminal, to, created, now, size)
            self.waiting += self.window[0] <= created < self.window[1]
            sending.extend(Flit(packet, i == 0, i == size - 1) for i in range(size))
        self.last_vc[terminal] = vc
        held[vc] += 1
        self.result.injected += 1
        port = terminal - self.first[terminal]
        self.flits[now + options.latency["terminal"] + 1].append((self.homes[terminal], port, vc, sending.popleft()))

    def packet(self, terminal: int, to: int, created: int, now: int, size: int) -> Packet:
        here, there, v, c = self.homes[terminal], self.homes[to], self.options.vcs, self.options.classes
        [(_, path)] = self.paths(here, there) if here != there else [(1.0, ())]
        hops = [(port, range(k * v // c, (k + 1) * v // c)) for _, port, k in path]
        rings = [None, *(self.ring(router, port) for router, port, _ in path)] if self.options.bubble else []
        enters = [before != after for before, after in pairwise(rings)] or [False] * len(path)
        hops.append((to - self.first[to], range(v)))
        return Packet(created, now, len(hops), hops, size, [*enters, False], self.options.bubble or size)

    def ring(self, router: int, port: int) -> tuple[int, bool]:
        """The dimension and direction of a link of a torus (of sides above 2)."""
        here, there = (
            self.graph.coordinates(r) for r in (router, self.graph.links[router][port - self.graph.p[router]][0])
        )
        [d] = (d for d, (a, b) in enumerate(zip(here, there, strict=True)) if a != b)
        return d, (there[d] - here[d]) % self.graph.sides[d] == 1

    def eject(self, now: int, flit: Flit) -> None:
        self.result.ejected += 1
        packet, (start, end) = flit.packet, self.window
        self.result.flits += start <= now < end
        if flit.tail and start <= packet.created < end:
            self.waiting -= 1
            self.result.packets += 1
            self.result.last = now
            self.result.latency += now - packet.created
            self.result.network_latency += now - packet.injected
            self.result.hops += packet.routers

    # Routers

    def arrive(self, now: int, router: int, port: int, vc: int, flit: Flit) -> None:
        flit.visited += 1
        state = self.routers[router].inputs[port][vc]
        state.queue.append(flit)
        if len(state.queue) == 1 and flit.head:
            state.ready = self.first_step(now) + self.options.routing_delay

    def step(self, now: int, index: int, step: int, departure: int) -> None:
        router = self.routers[index]
        asking = list(self.vc_requests(router, step))
        crossing = list(self.switch_requests(router))
        of_vcs, of_switch = {
            "separable-input-first": (self.vcs_input_first, self.switch_input_first),
            "islip": (self.vcs_islip, self.switch_islip),
            "wavefront": (self.vcs_wavefront, self.switch_wavefront),
        }[self.options.allocator]
        vcs, grants = of_vcs(router, asking), of_switch(router, crossing)
        for (port, vc), (out, out_vc) in grants:
            self.cross(now, index, port, vc, out, out_vc, departure, step)
        # Where packets of one step may take shared places from each other, the VC of the lowest number comes first.
        for (port, vc), (out, out_vc) in sorted(vcs, key=lambda grant: grant[1]):
            state, output = router.inputs[port][vc], router.outputs[out][out_vc]
            if self.options.vct:
                packet = state.queue[0].packet
                if not self.fits([o.used for o in router.outputs[out]], out_vc, packet.places):
                    continue
                output.used += packet.places
            state.output, output.owner = (out, out_vc), (port, vc)
            state.pointer, output.pointer = self.number(out, out_vc) + 1, self.number(port, vc) + 1

    def number(self, port: int, vc: int) -> int:
        return port * self.options.vcs + vc

    def vc_requests(self, router: Router, step: int) -> Iterator[tuple[tuple[int, int], list[tuple[int, int]]]]:
        """Each head that waits for an output VC, with the free ones that it may have."""
        for port, vcs in enumerate(router.inputs):
            for vc, state in enumerate(vcs):
                if state.queue and state.output is None and state.ready <= step:
                    flit = state.queue[0]
                    out, allowed = flit.packet.hops[flit.visited]
                    used = [output.used for output in router.outputs[out]]
                    # Who enters a ring leaves room for another packet.
                    size = flit.packet.places * (1 + flit.packet.enters[flit.visited]) if self.options.vct else 0
                    free = [
                        (out, o) for o in allowed if router.outputs[out][o].owner is None and self.fits(used, o, size)
                    ]
                    if free:
                        yield (port, vc), free

    def vcs_input_first(self, router, asking):
        """Each input VC picks a free output VC, each output VC one of those that picked it."""
        picked = defaultdict(list)
        for (port, vc), free in asking:
            pointer = router.inputs[port][vc].pointer
            out = free[0][0]
            if pointer // self.options.vcs != out:
                pointer = 0  # outside the output's range: the lowest free VC
            number = around([self.number(*f) for f in free], pointer)
            picked[divmod(number, self.options.vcs)].append(self.number(port, vc))
        for (out, out_vc), inputs in picked.items():
            yield divmod(around(inputs, router.outputs[out][out_vc].pointer), self.options.vcs), (out, out_vc)

    def vcs_islip(self, router, asking):
        """Each free output VC grants one input VC, each input VC accepts one grant."""
        wanted, granted = defaultdict(list), defaultdict(list)
        for (port, vc), free in asking:
            for output in free:
                wanted[output].append(self.number(port, vc))
        for (out, out_vc), inputs in wanted.items():
            granted[around(inputs, router.outputs[out][out_vc].pointer)].append(self.number(out, out_vc))
        for number, outputs in granted.items():
            port, vc = divmod(number, self.options.vcs)
            yield (port, vc), divmod(around(outputs, router.inputs[port][vc].pointer), self.options.vcs)

    def vcs_wavefront(self, router, asking):
        """Along the diagonals of the square of all input VCs and output VCs."""
        wanted = {(self.number(*vc), self.number(*output)) for vc, free in asking for output in free}
        size = len(router.ports) * self.options.vcs
        for i, o in wavefront(wanted, size, router.vc_diagonal):
            yield divmod(i, self.options.vcs), divmod(o, self.options.vcs)
        router.vc_diagonal += bool(wanted)

    def switch_wavefront(self, router, crossing):
        """Along the diagonals of the square of inputs and outputs."""
        vcs = {(port, out): (vc, out_vc) for (port, vc), (out, out_vc) in crossing}
        for port, out in wavefront(set(vcs), len(router.ports), router.switch_diagonal):
            vc, out_vc = vcs[port, out]
            yield (port, vc), (out, out_vc)
        router.switch_diagonal += bool(vcs)

    def switch_requests(self, router: Router) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
        """Each input VC with a flit and a credit; of those of one input for one output, only one."""
        for port, vcs in enumerate(router.inputs):
            by_output = defaultdict(list)
            for vc, state in enumerate(vcs):
                if state.queue and state.output is not None:
                    out, out_vc = state.output
                    # Under virtual cut-through the packet has all its places already.
                    if self.options.vct or self.fits([output.used for output in router.outputs[out]], out_vc, 1):
                        by_output[out].append(vc)
            for candidates in by_output.values():
                vc = around(candidates, router.ports[port].offset)
                yield (port, vc), vcs[vc].output

    def switch_input_first(self, router, crossing):
        """Each input picks an output, each output one of those that picked it."""
        by_input, by_output = defaultdict(dict), defaultdict(dict)
        for (port, vc), (out, out_vc) in crossing:
            by_input[port][out] = (vc, out_vc)
        for port, outputs in by_input.items():
            out = around(list(outputs), router.ports[port].accept)
            by_output[out][port] = outputs[out]
        for out, inputs in by_output.items():
            port = around(list(inputs), router.ports[out].grant)
            vc, out_vc = inputs[port]
            yield (port, vc), (out, out_vc)

    def switch_islip(self, router, crossing):
        """Each output grants one input, each input accepts one output."""
        by_output, by_input = defaultdict(dict), defaultdict(dict)
        for (port, vc), (out, out_vc) in crossing:
            by_output[out][port] = (vc, out_vc)
        for out, inputs in by_output.items():
            port = around(list(inputs), router.ports[out].grant)
            by_input[port][out] = inputs[port]
        for port, outputs in by_input.items():
            out = around(list(outputs), router.ports[port].accept)
            vc, out_vc = outputs[out]
            yield (port, vc), (out, out_vc)

    def cross(self, now, index, port, vc, out, out_vc, departure, step):
        """A flit crosses the switch: it takes a credit, frees its place, and leaves when the link is free."""
        router, graph, latency = self.routers[index], self.graph, self.options.latency
        router.ports[port].offset = vc + 1
        router.ports[port].accept = out + 1
        router.ports[out].grant = port + 1
        state, output = router.inputs[port][vc], router.outputs[out][out_vc]
        flit = state.queue.popleft()
        output.used += not self.options.vct
        if flit.tail:
            state.output = output.owner = None
            if state.queue:
                state.ready = step + 1 + self.options.routing_delay
        # With its last flit a packet gives back the places that it has taken beyond its size.
        places = 1 + (flit.packet.places - flit.packet.size if flit.tail else 0)
        # The flit.
        leaves = max(departure, router.ports[out].flit_free)
        router.ports[out].flit_free = leaves + 1
        if out < graph.p[index]:
            arrives = leaves + latency["terminal"] + 1
            self.flits[arrives].append((index, -1, 0, flit))
            back = arrives + latency["terminal"] + 1 + self.options.credit_delay
            self.credits[back] += [output] * places
        else:
            peer, there, kind = self.other_end(index, out)
            self.flits[leaves + latency[kind] + 1].append((peer, there, out_vc, flit))
        # The credit.
        leaves = max(now, router.ports[port].credit_free)
        router.ports[port].credit_free = leaves + 1
        if port < graph.p[index]:
            terminal = self.homes.index(index) + port
            self.home_credits[leaves + latency["terminal"] + 1].append((terminal, vc))
        else:
            peer, there, kind = self.other_end(index, port)
            upstream = self.routers[peer].outputs[there][vc]
            self.credits[leaves + latency[kind] + 1 + self.options.credit_delay] += [upstream] * places
