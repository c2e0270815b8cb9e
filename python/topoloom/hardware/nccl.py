"""NCCL 2.8.4: which algorithm and protocol it chooses by its cost model, and how long that takes.

The cost model and its constants are those of ``graph/tuning.cc`` of that version: latencies of a step by link,
algorithm and protocol, and bandwidths. The choice is the library's own, with nothing fitted. The time of what is
chosen has the same structure, with factors on latencies and bandwidths that the fit finds, and the bandwidth between
nodes that the flow engine finds for the rings and trees over all interfaces.
"""

from dataclasses import dataclass
from math import inf, log2

from topoloom.hardware.curves import Curve, Parameters
from topoloom.hardware.machines import Job

PROTOCOLS = ("LL", "LL128", "Simple")
WIRE = (2.0, 128 / 120, 1.0)
"""Bytes that a protocol sends for each byte of data: LL has a flag of 4 bytes with every 4, LL128 one of 8 with 120."""

_BASE = {"tree": (4.4, 4.4, 0.0), "ring": (3.6, 10.0, 8.4)}
_NVLINK = {"tree": (0.52, 1.25, 28.0), "ring": (0.47, 1.9, 3.4)}
_NETWORK = {"tree": (5.0, 8.5, 28.0), "ring": (2.7, 4.0, 9.6)}
_LL_MOST = {False: (39.0, 39.0, 20.4), True: (87.7, 22.5, 19.0)}
_TREE_MOST = {False: (26.5, 18.5, 10.0), True: (24.0, 22.5, 16.0)}
_LL128_MOST = {"allreduce": 16.9, "bcast": 18.8}
_TREE_CORRECTION = (
    (1, 1, 1, 1, 0.9, 0.8, 0.7, 0.7, 0.7, 0.7, 0.6, 0.5, 0.4, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1, 1, 1),
    (1, 1, 1, 1, 1, 0.9, 0.8, 0.8, 0.8, 0.7, 0.6, 0.6, 0.6, 0.5, 0.6, 0.6, 0.7, 0.7, 0.8, 0.9, 0.9, 0.92, 0.92),
    (0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.8, 0.7, 0.6, 0.6, 0.5, 0.5, 0.5, 0.5, 0.6, 0.7, 0.8, 0.7, 0.7, 0.8, 0.9, 0.9),
)
"""The part of its bandwidth that a tree reaches, by protocol and by powers of two of bytes from 64 on."""
_PLATEAU = 1.9
"""What the latency of a long ring of several nodes is multiplied by, under Simple."""
_TIE = 0.98
"""What a ring's time must be below a tree's for it to be chosen: what NCCL finds of a node is not known any better."""
_JOINED_LL = 1.8
"""What a step of LL within a node takes longer where there are several nodes."""
_TREE_NODES = 3
"""Nodes from which on NCCL's table of bandwidths has its last column."""


@dataclass(frozen=True, slots=True)
class Choice:
    """An algorithm, ``ring`` or ``tree``, and the place of a protocol among PROTOCOLS."""

    algorithm: str
    protocol: int


def _steps(algorithm: str, job: Job) -> tuple[float, float]:
    """Return the steps of an allreduce within nodes and between them."""
    if algorithm == "ring":
        between = 2 * (job.nodes - 1)
        return 2 * (job.ranks - 1) - between, between
    return 2 * (job.per_node - 1), 2 * int(log2(job.nodes))


def _latency(way: Choice, job: Job) -> tuple[float, float, float]:
    """Return NCCL's latencies of an allreduce: of the call, of the steps within nodes, and of those between them."""
    protocol = way.protocol
    inside, between = _steps(way.algorithm, job)
    slower = _JOINED_LL if job.nodes > 1 and protocol == 0 else 1.0
    return (
        _BASE[way.algorithm][protocol],
        inside * _NVLINK[way.algorithm][protocol] * slower,
        between * _NETWORK[way.algorithm][protocol],
    )


def _corrected(way: Choice, size: int) -> float:
    """Return the part of its bandwidth that NCCL's model grants an algorithm at this size."""
    if way.algorithm == "ring":
        return 1.0
    factors = _TREE_CORRECTION[way.protocol]
    power = (size >> 6).bit_length() - 1
    return factors[max(power, 0)] if power < len(factors) else 1.0


def _plateau(way: Choice, size: int, job: Job) -> float:
    """Return the factor on the latency of a ring under Simple on several nodes."""
    long = size >= job.ranks / 16 * 65536
    return _PLATEAU if way == Choice("ring", 2) and job.nodes > 1 and long else 1.0


def _bandwidth(operation: str, way: Choice, job: Job) -> float:
    """Return the bandwidth in GB/s that NCCL's model has for a buffer."""
    graph = job.machine.nccl
    assert graph is not None
    column = min(job.nodes, _TREE_NODES) - 1
    total = graph.alone if job.nodes == 1 else graph.joined
    ll_most = _LL_MOST[graph.ampere if job.nodes == 1 else graph.amd][column]
    ll128_most = _LL128_MOST[operation] * graph.channels
    if way.algorithm == "ring":
        part = 1 / 4 if job.nodes > 1 or operation == "allreduce" else 1 / 3
        own = (min(ll_most, total * part), min(total * 0.92, ll128_most), total)[way.protocol]
        steps = 2 * (job.ranks - 1) if operation == "allreduce" else job.ranks
        return own * job.ranks / steps
    total = min(total * 0.92, graph.channels * _TREE_MOST[graph.ampere][column])
    of_ll128 = min(total * (7 / 9 if job.nodes == 1 else 0.915), ll128_most)
    return (min(total / 3.8, ll_most), of_ll128, total)[way.protocol] / 2


def choice(operation: str, size: int, job: Job) -> Choice:
    """Return what NCCL chooses for an ``allreduce`` or a ``bcast`` of so many bytes."""
    best, chosen = inf, Choice("", 0)
    for algorithm in ("tree", "ring") if operation == "allreduce" else ("ring",):
        for protocol in range(len(PROTOCOLS)):
            way = Choice(algorithm, protocol)
            latency = _call(way, job)
            if operation == "allreduce":
                latency = sum(_latency(way, job)) * _plateau(way, size, job)
            time = latency + size / (_bandwidth(operation, way, job) * _corrected(way, size)) / 1e3
            if time < best * (_TIE if chosen.algorithm == "tree" and algorithm == "ring" else 1.0):
                best, chosen = time, way
    return chosen


def _call(way: Choice, job: Job) -> float:
    """Return NCCL's latency of a broadcast whose channels are alike."""
    return _BASE["ring"][way.protocol] + (_NVLINK if job.nodes == 1 else _NETWORK)["ring"][way.protocol]


def allreduce(size: int, parameters: Parameters, job: Job) -> float:
    """Return the microseconds of an allreduce of so many bytes."""
    way = choice("allreduce", size, job)
    protocol = PROTOCOLS[way.protocol]
    _, inside, between = _latency(way, job)
    steps = parameters[f"inside.{protocol}"] * inside
    if job.nodes > 1:
        steps += parameters[f"between.{protocol}"] * between
    return parameters["call"] + steps * _plateau(way, size, job) + _bytes(way, size, parameters, job)


def _bytes(way: Choice, size: int, parameters: Parameters, job: Job) -> float:
    """Return the microseconds of the bytes of an allreduce: the slower of what GPUs and what the network need.

    Under LL, NCCL adds channels as buffers grow, so that time grows by a power of the bytes below one.
    """
    protocol = PROTOCOLS[way.protocol]
    sent = size * (2 * (job.ranks - 1) / job.ranks if way.algorithm == "ring" else 2.0)
    where = "alone" if job.nodes == 1 else "joined"
    by_gpus = parameters[f"bytes.{where}.{protocol}"] * (sent ** parameters["power.LL"] if way.protocol == 0 else sent)
    if job.nodes == 1:
        return by_gpus
    between = sent * job.interface_ring() if way.algorithm == "ring" else size * job.interface_trees()
    carried = parameters["wire"] * WIRE[way.protocol] * between
    return max(by_gpus, carried) / (_corrected(way, size) if way.protocol else 1.0)


def broadcast(size: int, parameters: Parameters, job: Job) -> float:
    """Return the microseconds of a broadcast of so many bytes, repeated without waiting as nccl-tests does.

    Broadcasts that follow each other fill the ring, so that the slowest stage counts and not the number of stages: on
    several nodes it is the one between two of them.
    """
    if job.nodes == 1:
        return Curve.of(parameters, "alone")(size)
    idle = job.machine.job(job.library, 2).interface_ring()
    busier = max(0.0, job.interface_ring() - idle)
    return Curve.of(parameters, "joined")(size) + size * busier
