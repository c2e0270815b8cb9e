"""How long a byte takes on the slowest of concurrent flows, by the flow engine or flit by flit."""

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from topoloom._core import Routing, TopoloomError
from topoloom.network.networks import Network
from topoloom.workload import flows
from topoloom.workload.options import Engine, WorkloadOptions
from topoloom.workload.runs import WorkloadRun

MICRO = 1e6
"""Microseconds of a second."""

SHORT, LONG = 16 * 1024, 64 * 1024
"""Bytes of the messages of the cycle engine: the latency of an empty network is not in the difference of their times.

Where heads of packets block each other, longer messages take a few per cent more for a byte.
"""

FEWEST_VCS = 4
"""VCs of the routers of the cycle engine, unless there are more VC classes."""


def by_flow(network: Network, sources: Sequence[int], targets: Sequence[int]) -> float:
    """Return the microseconds of a byte on the slowest of concurrent flows, by the flow engine.

    The rates are max-min fair; each flow is spread over sixteen paths.

    Args:
        network: The network.
        sources: The sending terminals, one per flow.
        targets: The receiving terminals, one per flow.

    Raises:
        TopoloomError: Terminals that the network does not have.

    >>> by_flow(Network("mesh:4,rate=8G"), [0, 1], [3, 3])  # 1 GB/s for both of them
    0.002
    """
    rates = flows.rates(network, sources, targets, flow="paths=16")
    finite = rates[np.isfinite(rates)]
    return MICRO / float(finite.min()) if finite.size else 0.0


def by_cycle(network: Network, sources: Sequence[int], targets: Sequence[int]) -> float:
    """Return the microseconds of a byte on the slowest of concurrent messages, flit by flit.

    All messages begin together. Their makespans for two sizes give the time of a byte, without that of an empty
    network. Flits, packets and routers are the defaults of ``topoloom workload --engine cycle``, but for VCs: there is
    one per VC class, and four at least. That was the default when `papers/hardware` recorded predictions.

    Args:
        network: The network.
        sources: The sending terminals, one per message.
        targets: The receiving terminals, one per message.

    Raises:
        TopoloomError: Terminals that the network does not have, or messages that do not arrive.

    >>> round(by_cycle(Network("mesh:4,rate=8G"), [0, 1], [3, 3]), 4)
    0.002
    """
    pairs = [(source, target) for source, target in zip(sources, targets, strict=True) if source != target]
    if not pairs:
        return 0.0
    short, long = (_makespan(network, pairs, size) for size in (SHORT, LONG))
    return (long - short) * MICRO / (LONG - SHORT)


def _makespan(network: Network, pairs: Sequence[tuple[int, int]], size: int) -> float:
    """Return the seconds until messages of this many bytes have arrived that all begin together.

    Raises:
        TopoloomError: They do not arrive: a deadlock, or an interruption.
    """
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "step.goal")
        file.write_text(_goal(pairs, size))
        classes = Routing(network.core, network.routing("minimal")).classes
        options = WorkloadOptions(engine="cycle", vcs=max(FEWEST_VCS, classes))
        makespan = WorkloadRun(network, f"goal:{file}", "minimal", options).play().makespan_s
    if makespan is None:
        raise TopoloomError(f"{network.spec}: the messages of a step do not all arrive")
    return makespan


def _goal(pairs: Sequence[tuple[int, int]], size: int) -> str:
    """Return a GOAL schedule in which each source sends to its target.

    >>> print(_goal([(0, 1)], 8), end="")
    num_ranks 2
    rank 0 {
    l0: send 8b to 1 tag 0
    }
    rank 1 {
    l0: recv 8b from 0 tag 0
    }
    """
    tasks: list[list[str]] = [[] for _ in range(1 + max(max(pair) for pair in pairs))]
    for tag, (source, target) in enumerate(pairs):
        for at, what in ((source, f"send {size}b to {target}"), (target, f"recv {size}b from {source}")):
            tasks[at].append(f"l{len(tasks[at])}: {what} tag {tag}")
    ranks = ["\n".join([f"rank {task} {{", *does, "}"]) for task, does in enumerate(tasks)]
    return "\n".join([f"num_ranks {len(tasks)}", *ranks, ""])


ENGINES: dict[Engine, Callable[[Network, Sequence[int], Sequence[int]], float]] = {"flow": by_flow, "cycle": by_cycle}
"""What finds how long a byte takes, by the engine."""
