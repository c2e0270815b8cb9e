"""Open MPI 4.0.5: which algorithm its ``tuned`` component chooses, and how long that takes.

Choices and trees are those of ``coll_tuned_decision_fixed.c`` and ``coll_base_bcast.c`` of that version. Times are
microseconds, averaged over the ranks as the OSU benchmarks do it. Buffers on GPUs are copied to the host for reductions
(component ``cuda``); broadcasts send from GPU to GPU.
"""

from dataclasses import dataclass
from functools import cache
from math import ceil, log2

import numpy as np

from topoloom.hardware.curves import Curve, Parameters
from topoloom.hardware.machines import Job

KIB = 1024
DOUBLING = 10_000
"""Bytes from which an allreduce goes round a ring."""
SEGMENT = 1024 * KIB
"""Bytes a rank above which the ring is run in segments of this size."""


EAGER = 8 * KIB
"""Bytes up to which messages of a broadcast are sent without being announced."""


class Costs:
    """What the endpoints of a job take, from fitted parameters, and what its network adds to that.

    Args:
        parameters: Fitted parameters; times in microseconds.
        job: The nodes.

    Attributes:
        job: The nodes.
        point_to_point: A message to another node, one way, in microseconds by bytes.

    >>> from topoloom.hardware.machines import Machine
    >>> host = {"file": "v100-4", "terminals": 4, "interfaces": (0, 2)}
    >>> own = Machine(name="own", ranks=2, fabric="hyperx:2,p=4,rate=400G", attach="block", hosts={"cpu": host})
    >>> costs = Costs({"call": 0.3, "exchange@4": 1.0, "point-to-point@1": 2.0}, own.job("mpi-cpu", 1))
    >>> costs.value("call"), costs.curve("exchange")(4), costs.point_to_point(1)
    (0.3, 1.0, 2.0)
    """

    def __init__(self, parameters: Parameters, job: Job) -> None:
        self._parameters, self.job = parameters, job
        self.point_to_point = Curve.of(parameters, "point-to-point")
        self._curves: dict[str, Curve] = {}

    def value(self, name: str) -> float:
        """Return a parameter: microseconds, or a ratio.

        Args:
            name: The name of the parameter.

        Raises:
            KeyError: There is no such parameter.
        """
        return self._parameters[name]

    def curve(self, name: str) -> Curve:
        """Return a curve among the parameters, in microseconds by bytes.

        Args:
            name: The name of the curve.

        Raises:
            IndexError: The parameters have no such curve; reported when it is used.
        """
        if name not in self._curves:
            self._curves[name] = Curve.of(self._parameters, name)
        return self._curves[name]

    def _away(self, size: float, byte_us: float) -> float:
        """Return what a message to another node takes where the network needs `byte_us` for each of its bytes.

        Idle, it takes what the fit found; where messages share links, each byte takes longer by as much as the flow
        engine states.
        """
        return self.point_to_point(size) + size * max(0.0, byte_us - self.job.idle())


def allreduce(size: int, costs: Costs) -> float:
    """Return the time of an allreduce in microseconds: recursive doubling below :data:`DOUBLING` bytes, else a ring.

    Args:
        size: The buffer of a rank in bytes.
        costs: The costs of the endpoints.

    >>> from topoloom.hardware.machines import Machine
    >>> host = {"file": "v100-4", "terminals": 4, "interfaces": (0, 2)}
    >>> own = Machine(name="own", ranks=2, fabric="hyperx:2,p=4,rate=400G", attach="block", hosts={"cpu": host})
    >>> fitted = {"call": 0.3, "exchange@4": 1.0, "exchange.away": 1.0, "exchange.more": 0.2, "point-to-point@1": 2.0}
    >>> allreduce(4, Costs(fitted, own.job("mpi-cpu", 1)))
    1.3
    """
    if size < DOUBLING:
        return costs.value("call") + _doubling(size, costs)
    return costs.value("call") + _ring(size, costs)


def allreduce_on_gpus(size: int, costs: Costs) -> float:
    """Return the time of an allreduce of buffers on GPUs in microseconds.

    Buffers are copied to the host, reduced there, and copied back.

    Args:
        size: The buffer of a rank in bytes.
        costs: The costs of the endpoints.

    >>> from topoloom.hardware.machines import Machine
    >>> host = {"file": "v100-4", "terminals": 4, "interfaces": (0, 2)}
    >>> own = Machine(name="own", ranks=2, fabric="hyperx:2,p=4,rate=400G", attach="block", hosts={"cpu": host})
    >>> fitted = {"call": 0.3, "exchange@4": 1.0, "exchange.away": 1.0, "exchange.more": 0.2, "point-to-point@1": 2.0}
    >>> round(allreduce_on_gpus(4, Costs(fitted | {"copies@4": 25.0}, own.job("mpi-cpu", 1))), 9)
    26.3
    """
    return allreduce(size, costs) + costs.curve("copies")(size)


def _doubling(size: int, costs: Costs) -> float:
    """Recursive doubling: ranks beyond a power of two hand over to a neighbour first, and get the result at the end."""
    job = costs.job
    inside = costs.curve("exchange")(size)
    whole = 1 << (job.ranks.bit_length() - 1)
    beyond = job.ranks - whole
    done = np.zeros(whole)
    ranks = np.arange(whole)
    real = np.where(ranks < beyond, 2 * ranks + 1, ranks + beyond)
    if beyond:
        done[ranks < beyond] += inside
    node = real // job.per_node
    for bit in range(whole.bit_length() - 1):
        other = ranks ^ (1 << bit)
        apart = node != node[other]
        byte_us = job.exchanged(1 << bit) if apart.any() else 0.0
        outside = costs.value("exchange.away") * costs._away(size, byte_us) + costs.value("exchange.more")
        done = np.maximum(done, done[other]) + np.where(apart, outside, inside)
    last = beyond * inside / job.ranks
    return float(done.mean()) + last


def _ring(size: int, costs: Costs) -> float:
    """Ring: reduce-scatter, then allgather; a part passes every edge, those to other nodes once a round."""
    job = costs.job
    part = size / job.ranks
    steps = job.ranks - 1
    if size <= job.ranks * SEGMENT:
        return 2 * steps * _ring_step(part, costs)
    phases = ceil(size / (job.ranks * SEGMENT))
    return phases * steps * _ring_step(part / phases, costs) + steps * _ring_step(part, costs)


def _ring_step(part: float, costs: Costs) -> float:
    job = costs.job
    inside = costs.value("ring") * costs.curve("exchange")(part)
    if job.nodes == 1:
        return inside
    outside = costs.value("exchange.away") * costs._away(part, job.ring()) + costs.value("exchange.more")
    return inside + max(0.0, outside - inside) * job.nodes / job.ranks


@dataclass(frozen=True, slots=True)
class Broadcast:
    """The algorithm of a broadcast.

    Attributes:
        algorithm: ``binomial``, ``split`` (two halves down a binary tree) or ``pipeline`` (a chain).
        segment: Bytes of a segment; 0 where the buffer is not divided.
    """

    algorithm: str
    segment: int = 0


def broadcast_choice(size: int, ranks: int) -> Broadcast:
    """Return what Open MPI 4.0.5 chooses for a broadcast, by ``coll_tuned_decision_fixed.c`` of that version.

    Args:
        size: The buffer in bytes.
        ranks: The number of ranks.

    >>> broadcast_choice(1024, 16), broadcast_choice(1 << 20, 16).segment // 1024
    (Broadcast(algorithm='binomial', segment=0), 8)
    """
    if size < 2 * KIB:
        return Broadcast("binomial")
    if size < 370_728:  # noqa: PLR2004 - the library's own constants, here and below
        return Broadcast("split", KIB)
    if 1.6134e-6 * size + 2.1102 <= ranks < 13:  # noqa: PLR2004
        return Broadcast("split", 8 * KIB)
    rules = ((1.6134e-6, 2.1102, 128), (2.3679e-6, 1.1787, 64), (3.2118e-6, 8.7936, 16))
    segment = next((kib for slope, fixed, kib in rules if ranks < slope * size + fixed), 8)
    return Broadcast("pipeline", segment * KIB)


def broadcast(size: int, costs: Costs) -> float:
    """Return the time of a broadcast in microseconds, the mean of all ranks.

    Args:
        size: The buffer in bytes.
        costs: The costs of the endpoints.

    >>> from topoloom.hardware.machines import Machine
    >>> host = {"file": "v100-4", "terminals": 4, "interfaces": (0, 2)}
    >>> own = Machine(name="own", ranks=2, fabric="hyperx:2,p=4,rate=400G", attach="block", hosts={"cpu": host})
    >>> fitted = {"call": 0.3, "segment@1": 0.5, "segment@1024": 1.0, "segment.next": 0.3, "segment.more": 0.2}
    >>> broadcast(1024, Costs(fitted | {"point-to-point@1": 2.0}, own.job("mpi-cpu", 1)))
    0.8
    """
    chosen = broadcast_choice(size, costs.job.ranks)
    ways = {"binomial": _binomial, "split": _split, "pipeline": _pipeline}
    return costs.value("call") + ways[chosen.algorithm](size, chosen.segment or size, costs)


@cache
def _binomial_arrivals(ranks: int, per_node: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return for each rank sends that go before, messages within nodes, and messages between them, on its path.

    The rank that first has the message sends it to the ranks 1, 2, 4, … further on, in this order.
    """
    before, inside, outside = (np.zeros(ranks) for _ in range(3))
    for rank in range(1, ranks):
        top = 1 << (rank.bit_length() - 1)
        parent = rank ^ top
        earlier = parent.bit_length()
        away = parent // per_node != rank // per_node
        before[rank] = before[parent] + (top.bit_length() - 1 - earlier)
        inside[rank] = inside[parent] + (not away)
        outside[rank] = outside[parent] + away
    return before, inside, outside


def _binomial(size: int, _: int, costs: Costs) -> float:
    job = costs.job
    before, inside, outside = _binomial_arrivals(job.ranks, job.per_node)
    hop = costs.curve("segment")(size)
    byte_us = job.exchanged(job.per_node) if job.nodes > 1 else 0.0
    away = costs._away(size, byte_us) + costs.value("segment.more")
    return float(np.mean(before * costs.value("segment.next") * hop + inside * hop + outside * away))


def _pace(segment: int, costs: Costs) -> float:
    """Return the time from one segment to the next where they follow each other through all ranks."""
    inside = costs.curve("segment")(segment)
    return inside if costs.job.nodes == 1 else max(inside, _pace_outside(segment, costs))


def _pace_outside(segment: int, costs: Costs) -> float:
    """Return the time from one segment to the next where they go to another node.

    Short ones go there as fast as messages can; of long ones each waits for part of the one before.
    """
    if segment < EAGER:
        return costs.curve("gap")(segment)
    return costs.value("segment.away") * costs._away(segment, costs.job.ring())


def _split(size: int, segment: int, costs: Costs) -> float:
    """Each half goes down one side of a binary tree; then ranks exchange halves with a neighbour.

    Some exchange with a neighbour on another node, which with buffers on GPUs takes longer.
    """
    job = costs.job
    half = size / 2
    segments = ceil(half / segment)
    hop = costs.curve("segment")(segment)
    levels = max(1.0, log2(job.ranks) - 1)
    away = log2(job.nodes) * max(0.0, costs._away(segment, job.ring()) - hop) if job.nodes > 1 else 0.0
    both = costs.curve("halves")(half) + (costs.curve("apart")(half) if job.nodes > 1 else 0.0)
    return segments * 2 * _pace(segment, costs) + levels * hop + away + both


def _pipeline(size: int, segment: int, costs: Costs) -> float:
    """Segments go down a chain of all ranks; the slowest rank sets the pace, the mean rank is half the chain away.

    The last rank of a node waits for a segment from a neighbour, then until it has left the node, before it takes the
    next one: half a message within the node, that of its receiver, adds to the message between nodes.
    """
    job = costs.job
    segments = ceil(size / segment)
    inside = costs.curve("segment")(segment)
    outside = costs._away(segment, job.ring()) if job.nodes > 1 else 0.0
    pace = inside if job.nodes == 1 else max(inside, inside / 2 + _pace_outside(segment, costs))
    fill = (job.ranks - job.nodes) * inside + (job.nodes - 1) * max(outside, inside)
    return segments * pace + fill / 2
