"""NCCL 2.8.4: which algorithm and protocol it chooses by its cost model, and how long that takes.

The cost model and its constants are those of ``graph/tuning.cc`` of that version: latencies of a step by link,
algorithm and protocol, and bandwidths. ``enqueue.cc`` has how many channels and threads run a collective, and the
kernels in ``collectives/device`` how large the chunks are. All this is the library's own, with nothing fitted. What a
step, a chunk and a byte cost is fitted; the flow engine adds what rings and trees over all interfaces need longer.
"""

from dataclasses import dataclass
from functools import cache
from math import ceil, inf, log2

from topoloom.hardware.curves import Curve, Parameters
from topoloom.hardware.machines import Job, NcclGraph

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
_THREADS = (512, 640, 512)
"""The most threads of a channel, by protocol."""
_LEAST_THREADS = 128
"""Threads are halved while they are a multiple of this."""
_THREAD_BYTES = (8, 8, 64)
"""Bytes of a buffer for each thread, below which NCCL takes fewer channels, then fewer threads; LL's ring: per rank."""
_WORD = 8
"""Bytes of data that a thread handles at a time under LL."""
_SLOT = (32 * 1024, 576_000, 512 * 1024)
"""The most bytes of data of a chunk, by protocol: an eighth of a buffer, without flags."""
_LL128_PART = 60
"""Bytes for each thread of which chunks of LL128 are multiples."""


@dataclass(frozen=True, slots=True)
class Choice:
    """An algorithm of NCCL and its protocol.

    Attributes:
        algorithm: ``ring`` or ``tree``.
        protocol: The position of the protocol in :data:`PROTOCOLS`.
    """

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
    graph = _graph(job)
    column = min(job.nodes, _TREE_NODES) - 1
    total = graph.alone if job.nodes == 1 else graph.joined
    counted = 2 * graph.rings if job.nodes == 1 else graph.rings
    ll_most = _LL_MOST[graph.ampere if job.nodes == 1 else graph.amd][column]
    ll128_most = _LL128_MOST[operation] * counted
    if way.algorithm == "ring":
        part = 1 / 4 if job.nodes > 1 or operation == "allreduce" else 1 / 3
        own = (min(ll_most, total * part), min(total * 0.92, ll128_most), total)[way.protocol]
        steps = 2 * (job.ranks - 1) if operation == "allreduce" else job.ranks
        return own * job.ranks / steps
    total = min(total * 0.92, counted * _TREE_MOST[graph.ampere][column])
    of_ll128 = min(total * (7 / 9 if job.nodes == 1 else 0.915), ll128_most)
    return (min(total / 3.8, ll_most), of_ll128, total)[way.protocol] / 2


@cache
def choice(operation: str, size: int, job: Job) -> Choice:
    """Return the algorithm and the protocol that NCCL chooses, by the cost model of ``graph/tuning.cc`` of NCCL 2.8.4.

    Args:
        operation: ``allreduce`` or ``bcast``, unchecked.
        size: The buffer in bytes.
        job: The nodes, of a machine with ``nccl``.

    >>> from topoloom.hardware.machines import Machine
    >>> host = {"file": "v100-4", "terminals": 4, "interfaces": (0, 2)}
    >>> graph = {"alone": 120, "joined": 24, "rings": 2, "ll128": False, "ampere": False, "amd": False}
    >>> own = Machine(name="own", ranks=4, fabric="hyperx:2,p=4", attach="block", hosts={"gpu": host}, nccl=graph)
    >>> choice("allreduce", 4, own.job("nccl", 1)), choice("allreduce", 1 << 30, own.job("nccl", 1))
    (Choice(algorithm='ring', protocol=0), Choice(algorithm='ring', protocol=2))
    """
    best, chosen = inf, Choice("", 0)
    for algorithm in ("tree", "ring") if operation == "allreduce" else ("ring",):
        for protocol in _protocols(job):
            way = Choice(algorithm, protocol)
            latency = _broadcast_latency(way, job)
            if operation == "allreduce":
                latency = sum(_latency(way, job)) * _plateau(way, size, job)
            time = latency + size / (_bandwidth(operation, way, job) * _corrected(way, size)) / 1e3
            if time < best * (_TIE if chosen.algorithm == "tree" and algorithm == "ring" else 1.0):
                best, chosen = time, way
    return chosen


def _graph(job: Job) -> NcclGraph:
    graph = job.machine.nccl
    assert graph is not None
    return graph


def _protocols(job: Job) -> tuple[int, ...]:
    """Return the positions of the protocols that NCCL enables: LL128 between nodes only where interfaces are near."""
    return (0, 1, 2) if job.nodes == 1 or _graph(job).ll128 else (0, 2)


def _broadcast_latency(way: Choice, job: Job) -> float:
    """Return NCCL's latency of a broadcast whose rings differ: a step for every rank, those of Simple as in trees."""
    algorithm = "tree" if way.protocol == len(PROTOCOLS) - 1 else "ring"
    step = (_NVLINK if job.nodes == 1 else _NETWORK)[algorithm][way.protocol]
    return _BASE["ring"][way.protocol] + job.ranks * step


@dataclass(frozen=True, slots=True)
class Launch:
    """The resources with which a collective runs.

    Attributes:
        channels: The number of channels, each with a ring and a tree.
        threads: The number of threads per channel.
    """

    channels: int
    threads: int


@cache
def launch(way: Choice, size: int, job: Job) -> Launch:
    """Return the channels and threads with which NCCL runs a collective.

    It takes fewer channels, then half the threads, until each thread has enough bytes. Under LL's ring a thread needs
    them for every rank: with more ranks the same buffer goes through fewer threads.

    Args:
        way: The algorithm and the protocol.
        size: The buffer in bytes.
        job: The nodes, of a machine with ``nccl``.

    >>> from topoloom.hardware.machines import Machine
    >>> host = {"file": "v100-4", "terminals": 4, "interfaces": (0, 2)}
    >>> graph = {"alone": 120, "joined": 24, "rings": 2, "ll128": False, "ampere": False, "amd": False}
    >>> own = Machine(name="own", ranks=4, fabric="hyperx:2,p=4", attach="block", hosts={"gpu": host}, nccl=graph)
    >>> launch(Choice("ring", 2), 1 << 30, own.job("nccl", 1))
    Launch(channels=4, threads=512)
    """
    channels, threads = 2 * _graph(job).rings, _THREADS[way.protocol]
    enough = _THREAD_BYTES[way.protocol] * (job.ranks if way == Choice("ring", 0) else 1)
    while size < channels * threads * enough:
        if channels > 1:
            channels -= 1
        elif threads % _LEAST_THREADS == 0:
            threads //= 2
        else:
            break
    return Launch(channels, threads)


@dataclass(frozen=True, slots=True)
class _Chunks:
    """How a buffer is cut for a channel.

    Attributes:
        size: Bytes of a chunk.
        count: Chunks that follow each other; at least one.
        loops: How often a thread of LL reads for a chunk; below one where some threads have nothing.
        shared: Channels that use the same interface.
    """

    size: float
    count: float
    loops: float
    shared: int


@cache
def _chunks(way: Choice, parts: int, size: int, run: Launch, job: Job) -> _Chunks:
    """Return how a buffer is cut, where each channel has `parts` of it in flight at a time."""
    own = size / run.channels / parts
    slot = _SLOT[way.protocol]
    grain = (run.threads * _WORD, run.threads * _LL128_PART, 1)[way.protocol]
    short = way.protocol == 0 and own < grain
    chunk = own if short else min(slot, ceil(own / grain) * grain)
    loops = chunk / run.threads / _WORD if way.protocol == 0 else 0.0
    shared = ceil(run.channels / min(run.channels, _graph(job).rings))
    return _Chunks(chunk, max(1.0, own / chunk), loops, shared)


def allreduce(size: int, parameters: Parameters, job: Job) -> float:
    """Return the microseconds of an allreduce.

    Args:
        size: The buffer of a rank in bytes.
        parameters: Fitted parameters: microseconds, microseconds per byte, and ratios.
        job: The nodes, of a machine with ``nccl``.

    >>> from topoloom.hardware.machines import Machine
    >>> host = {"file": "v100-4", "terminals": 4, "interfaces": (0, 2)}
    >>> graph = {"alone": 120, "joined": 24, "rings": 2, "ll128": False, "ampere": False, "amd": False}
    >>> own = Machine(name="own", ranks=4, fabric="hyperx:2,p=4", attach="block", hosts={"gpu": host}, nccl=graph)
    >>> fitted = {"call": 6.0, "inside.LL": 1.0, "bytes.alone.LL": 0.0, "power.LL": 0.5}
    >>> round(allreduce(4, fitted, own.job("nccl", 1)), 9)
    8.82
    """
    way = choice("allreduce", size, job)
    protocol = PROTOCOLS[way.protocol]
    _, inside, between = _latency(way, job)
    steps = parameters[f"inside.{protocol}"] * inside
    if job.nodes > 1:
        steps += parameters[f"between.{protocol}"] * between
    if job.nodes > 1 and way.protocol == 0:
        return parameters["call"] + _allreduce_by_ll(way, steps, size, parameters, job)
    return parameters["call"] + steps * _plateau(way, size, job) + _bytes(way, size, parameters, job)


def _allreduce_by_ll(way: Choice, latency: float, size: int, parameters: Parameters, job: Job) -> float:
    """Return the microseconds of an allreduce under LL, after the call.

    At every step of a ring, ranks read a chunk, reduce it and send it on, and all threads wait for each other. Down
    a tree, threads of the next rank read a line as soon as it is there. Only a host forwards a chunk as a whole, from
    node to node: it is written to memory, its flags are checked, and it is sent.
    """
    inside, between = _steps(way.algorithm, job)
    ring = way.algorithm == "ring"
    cut = _chunks(way, job.ranks if ring else 1, size, launch(way, size, job), job)
    read = cut.loops * parameters["loop"] + cut.size * parameters["byte"]
    by_interface = parameters["wire"] * WIRE[0] * job.interface_ring() * len(job.host.interfaces)
    carried = by_interface * cut.size * cut.shared
    handed = read + carried + parameters["host.LL"] * cut.size
    if ring:
        return cut.count * (latency + inside * read + between * handed)
    return latency + read + between * handed + (cut.count - 1) * 2 * max(read, carried)


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
    """Return the microseconds of a broadcast, repeated without waiting as nccl-tests does.

    On one ring, broadcasts that follow each other overlap, and the slowest stage counts. Where channels have several
    rings, each enters a node at another GPU. The root is the first of one ring and in the middle of the others, which
    end at GPUs before it. Such a GPU is early in one ring and last in another. A kernel holds all channels, and the
    next one starts after it: of R rings, R - 1 rounds take the time of R broadcasts.

    Args:
        size: The buffer in bytes.
        parameters: Fitted parameters: microseconds, microseconds per byte, and ratios.
        job: The nodes, of a machine with ``nccl``.

    >>> from topoloom.hardware.machines import Machine
    >>> host = {"file": "v100-4", "terminals": 4, "interfaces": (0, 2)}
    >>> own = Machine(name="own", ranks=4, fabric="hyperx:2,p=4", attach="block", hosts={"gpu": host})
    >>> broadcast(4, {"alone@1": 6.0, "alone@4096": 6.0}, own.job("nccl", 1))
    6.0
    """
    if job.nodes == 1:
        return Curve.of(parameters, "alone")(size)
    way = choice("bcast", size, job)
    protocol = PROTOCOLS[way.protocol]
    run = launch(way, size, job)
    cut = _chunks(way, 1, size, run, job)
    read = cut.loops * parameters["loop"]
    carried = _carried(cut, way, parameters, job)
    more = (cut.count - 1) * max(read, carried)
    rings = min(run.channels, _graph(job).rings)
    rounds = (rings - 1) / rings * job.nodes
    stage = parameters["stage"] + read + carried
    around = rounds * (parameters[f"node.{protocol}"] + read + carried)
    return max(parameters["call"], stage + more, around + more)


def _carried(cut: _Chunks, way: Choice, parameters: Parameters, job: Job) -> float:
    """Return the microseconds that an interface needs for one chunk of each of its channels.

    Idle, a byte takes what the fit found; where messages share links, longer by as much as the flow engine finds.
    """
    idle = job.machine.job(job.library, 2).interface_ring()
    busier = max(0.0, job.interface_ring() - idle) * len(job.host.interfaces)
    wire = parameters[f"wire.{PROTOCOLS[way.protocol]}"] + WIRE[way.protocol] * busier
    return wire * cut.size * cut.shared
