"""GPCNeT 1.3 on a machine of which only runs between pairs of ranks are known.

Patterns, sizes and what is reported are those of its source: communicators have one rank of each node, random rings
are drawn in each of them, every rank sends to both of its neighbours. Endpoints cost what pairs of ranks do. Bandwidths
come from the flow engine, in which a flow never gets more than its fair share of the busiest channel on its path: that
is ideal control of injection by flow and destination: an incast blocks no packet to another destination. Without
control, flows hold equal shares of every channel on their paths, also of those that they cannot use.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, log2

import numpy as np

from topoloom.hardware.curves import Curve
from topoloom.hardware.engines import MICRO
from topoloom.hardware.machines import Job
from topoloom.workload import flows

MIB = 1 << 20
OUTSTANDING = 8
"""Messages under way to each neighbour."""
RING_BYTES, LATENCY_BYTES, ALLTOALL_BYTES = 131_072, 8, 4096
MEASURING_NODES = 13
"""Nodes that measure while the others congest: a fifth of 64."""
_PACKET = 4096
_LINKS = 3
"""Links between two nodes of a group on which other packets may block one."""
_ROUTING = "hosts:fabric=adaptive"
CONTROLS = {"flow": "paths=4", "none": "paths=4,model=share"}
"""Options of the flow engine by how endpoints control injection: by flow, or not at all."""
_LONG = 1 << 34
"""Bytes of a flow that outlasts what is measured."""


@dataclass(frozen=True, slots=True)
class Endpoints:
    """What messages between two nodes cost, by bytes.

    Attributes:
        latency: Microseconds of a message, one way.
        gap: Microseconds between two messages of a rank that sends many.
        wire: How much longer bytes take on the interfaces than their links state.
    """

    latency: Curve
    gap: Curve
    wire: float


Pairs = tuple[np.ndarray, np.ndarray]


def rows(job: Job, ends: Endpoints, control: str = "flow") -> list[tuple[str, int, int, float, str]]:
    """Return benchmark, nodes, bytes, value and unit of everything that is predicted.

    Args:
        job: All nodes: more than :data:`MEASURING_NODES`.
        ends: What messages cost.
        control: How endpoints control injection, one of :data:`CONTROLS`, unchecked; rates alone depend on it.

    >>> from topoloom.hardware.machines import Machine
    >>> host = {"file": "v100-4", "terminals": 4, "interfaces": (0, 2)}
    >>> own = Machine(name="own", ranks=1, fabric="hyperx:2x2,p=16,rate=400G", attach="block", hosts={"cpu": host})
    >>> ends = Endpoints(Curve([(1, 2.0)]), Curve([(1, 0.5)]), 1.0)
    >>> benchmark, nodes, size, value, unit = rows(own.job("mpi-cpu", 24), ends)[3]
    >>> benchmark, nodes, size, round(value, 6), unit
    ('multiple-allreduce', 24, 8, 96.0, 'us')
    """
    flow = CONTROLS[control]
    some = list(range(MEASURING_NODES))
    us, rate = "us", "MiB/s/rank"
    busy = _in_the_way(job)
    return [
        ("rr-two-sided-latency", job.nodes, LATENCY_BYTES, _ring_latency(ends), us),
        ("rr-two-sided-bandwidth", job.nodes, RING_BYTES, _ring_rate(job, ends, _random_rings, flow), rate),
        ("natural-ring-bandwidth", job.nodes, RING_BYTES, _ring_rate(job, ends, _natural_rings, flow), rate),
        ("multiple-allreduce", job.nodes, LATENCY_BYTES, _allreduce(ends, job.nodes), us),
        ("multiple-alltoall", job.nodes, ALLTOALL_BYTES, _alltoall(ends, job.nodes), rate),
        ("congested-rr-latency", job.nodes, LATENCY_BYTES, _ring_latency(ends, busy), us),
        ("congested-rr-bandwidth-sync", job.nodes, RING_BYTES, _congested_rate(job, ends, some, flow), rate),
        ("congested-allreduce", job.nodes, LATENCY_BYTES, _allreduce(ends, len(some), busy), us),
    ]


def _ring_latency(ends: Endpoints, more: float = 0.0) -> float:
    """Return half of what sending to both neighbours and receiving from both takes."""
    return (ends.latency(LATENCY_BYTES) + ends.gap(LATENCY_BYTES) + more) / 2


def _allreduce(ends: Endpoints, ranks: int, more: float = 0.0) -> float:
    """Return recursive doubling; ranks beyond a power of two hand over first, and get the result at the end."""
    whole = 1 << (ranks.bit_length() - 1)
    steps = log2(whole) + (2 if ranks > whole else 0)
    return steps * (ends.latency(LATENCY_BYTES) + more)


def _alltoall(ends: Endpoints, ranks: int) -> float:
    """Return the rate at which every rank sends to all others; sending and receiving occupy it in turn."""
    each = ends.gap(ALLTOALL_BYTES) + ends.gap(1)
    time = (ranks - 1) * each + ends.latency(ALLTOALL_BYTES)
    return ALLTOALL_BYTES * (ranks - 1) / time * MICRO / MIB


def _in_the_way(job: Job) -> float:
    """Return the microseconds that other packets block one: with controlled injection, half a packet per link."""
    idle = job.idle()
    return _LINKS * _PACKET / 2 * idle


def _random_rings(job: Job, nodes: list[int]) -> Pairs:
    """Return senders and receivers of one ring in random order for each slot of a node, both directions round."""
    draw = np.random.default_rng(1)
    orders = [draw.permutation(nodes) * job.per_node + place for place in range(job.per_node)]
    return _both_ways(orders)


def _natural_rings(job: Job, nodes: list[int]) -> Pairs:
    """Return senders and receivers of one ring in the order of nodes for each slot of a node, both directions round."""
    return _both_ways([np.array(nodes) * job.per_node + place for place in range(job.per_node)])


def _both_ways(orders: list[np.ndarray]) -> Pairs:
    sources = np.concatenate([order for order in orders for _ in range(2)])
    targets = np.concatenate([np.roll(order, way) for order in orders for way in (1, -1)])
    return sources, targets


def _ring_times(job: Job, ends: Endpoints, pairs: Pairs, flow: str, others: Pairs | None = None) -> np.ndarray:
    """Return the microseconds that each rank takes to send to both neighbours and to receive from both."""
    sources, targets = pairs
    size = ceil(OUTSTANDING * RING_BYTES * ends.wire)
    sizes = np.full(sources.size, size)
    if others is not None:
        sources, targets = np.concatenate([sources, others[0]]), np.concatenate([targets, others[1]])
        sizes = np.concatenate([sizes, np.full(others[0].size, _LONG)])
    run = flows.run(job.network, job.terminals(sources), job.terminals(targets), sizes, routing=_ROUTING, flow=flow)
    done = run.times[: pairs[0].size, 1] * MICRO
    times = np.zeros(job.ranks)
    np.maximum.at(times, pairs[0], done)
    np.maximum.at(times, pairs[1], done)
    measured: np.ndarray = times[np.unique(pairs[0])] + ends.latency(LATENCY_BYTES)
    return measured


def _rate(times: np.ndarray) -> float:
    """Return MiB a second that ranks send to both neighbours, the mean of all."""
    return float(np.mean(2 * OUTSTANDING * RING_BYTES / times)) * MICRO / MIB


def _ring_rate(job: Job, ends: Endpoints, rings: Callable[[Job, list[int]], Pairs], flow: str) -> float:
    return _rate(_ring_times(job, ends, rings(job, list(range(job.nodes))), flow))


def _congested_rate(job: Job, ends: Endpoints, nodes: list[int], flow: str) -> float:
    """Return the rate in rings of some nodes, with a barrier after each round, while all other nodes congest."""
    others = [node for node in range(job.nodes) if node not in nodes]
    times = _ring_times(job, ends, _random_rings(job, nodes), flow, _congestors(job, others))
    barrier = ceil(log2(len(nodes))) * ends.latency(LATENCY_BYTES)
    slowest = times.reshape(len(nodes), job.per_node).max(axis=0)
    return _rate(slowest + barrier)


def _congestors(job: Job, nodes: list[int]) -> Pairs:
    """Return flows of congestors: a quarter of the nodes each does all to all, all to one, one to all, all to one."""
    draw = np.random.default_rng(2)
    sources, targets = [], []
    for kind, part in enumerate(np.array_split(draw.permutation(nodes), 4)):
        for place in range(job.per_node):
            own = part * job.per_node + place
            one = np.full(own.size - 1, own[0])
            flow = [(own, np.roll(own, 1 + place % (own.size - 1))), (own[1:], one), (one, own[1:]), (own[1:], one)][
                kind
            ]
            sources.append(flow[0])
            targets.append(flow[1])
    return np.concatenate(sources), np.concatenate(targets)
