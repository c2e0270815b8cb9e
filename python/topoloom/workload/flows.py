"""The flow engine: sets of flows, their fair rates, and how long they take.

A flow leads from one terminal to another, over the path that a routing decides in an idle network, or, where the
routing adapts, by what is still to cross the channels. Options are written ``key=value,…``, as on the command line: see
:data:`KEYS`.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from topoloom import _core
from topoloom.engine import results
from topoloom.network.networks import Network, as_networks
from topoloom.simulation.roles import routing_on
from topoloom.wording import counted

Ids = Sequence[int] | npt.NDArray[Any]

KEYS: dict[str, str] = dict(_core.flow_keys())
"""The options of the flow engine, with their meaning."""


class FlowResult(results.FlowResult):
    """The result of a run of the flow engine.

    Attributes:
        routing: The routing that ran, resolved from its role.
    """

    routing: str


class FlowRun:
    """The results of a run of the flow engine.

    Args:
        told: The engine's result, the bytes of each channel, and the times of each message: an array of two columns.
        routing: The routing that ran.

    Attributes:
        facts: The result.
        channel_bytes: The bytes that each channel carried. Ids: the ports of all routers, router by router, then (with
            a limit on injection) the terminals.
        times: When each message began and when it was complete, in seconds: an array of two columns; NaN where never.
    """

    def __init__(
        self, told: tuple[results.FlowResult, npt.NDArray[np.float64], npt.NDArray[np.float64]], routing: str
    ) -> None:
        result, self.channel_bytes, self.times = told
        self.facts = FlowResult(result | {"routing": routing})

    @property
    def makespan_s(self) -> float:
        """The time at which all was done."""
        return self.facts.makespan_s


def _ids(values: Ids, name: str, kind: type[np.unsignedinteger[Any]] = np.uint32) -> npt.NDArray[Any]:
    array = np.asarray(values)
    whole = array.ndim == 1 and (array.size == 0 or np.issubdtype(array.dtype, np.integer))
    if not whole or (array.size and (array.min() < 0 or array.max() > np.iinfo(kind).max)):
        raise _core.TopoloomError(f"{name} must be a list of whole numbers from 0 up")
    return np.ascontiguousarray(array, dtype=kind)


def _pairs(sources: Ids, targets: Ids) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32]]:
    pairs = _ids(sources, "sources"), _ids(targets, "targets")
    if pairs[0].size != pairs[1].size:
        raise _core.TopoloomError(
            f"sources has {counted(pairs[0].size, 'id')} and targets {pairs[1].size}; they must be as many"
        )
    return pairs


def _routing(network: str | Network, routing: str) -> _core.Routing:
    (built,) = as_networks([network])
    return _core.Routing(built.core, routing_on(built.core, routing))


def rates(
    network: str | Network, sources: Ids, targets: Ids, *, routing: str = "minimal", flow: str = ""
) -> npt.NDArray[np.float64]:
    """Return the rates of concurrent flows: an array of bytes per second, one per flow.

    Args:
        network: The network, or its spec.
        sources: The id of the source terminal, one per flow.
        targets: The id of the destination terminal, one per flow. A flow to its own terminal has an infinite rate.
        routing: A routing, or a role. An adaptive one spreads the flows over its paths: see the page on the flow model.
        flow: Options of the flow engine, such as ``model=share,injection=1``.

    Raises:
        TopoloomError: A mistake in an argument.

    >>> rates(Network("mesh:4"), [0, 1], [3, 3], flow="gbps=8").tolist()
    [500000000.0, 500000000.0]
    """
    pairs = _pairs(sources, targets)
    return _core.flow_rates(_routing(network, routing), pairs, flow)


def run(
    network: str | Network,
    sources: Ids,
    targets: Ids,
    sizes: Ids,
    *,
    routing: str = "minimal",
    flow: str = "",
) -> FlowRun:
    """Run flows of given sizes that all begin at the start.

    Args:
        network: The network, or its spec.
        sources: The id of the source terminal, one per flow.
        targets: The id of the destination terminal, one per flow.
        sizes: The bytes, one per flow.
        routing: A routing, or a role. An adaptive one spreads the flows over its paths: see the page on the flow model.
        flow: Options of the flow engine.

    Raises:
        TopoloomError: A mistake in an argument.

    >>> run(Network("mesh:4"), [0, 1], [3, 3], [10**9, 10**9], flow="gbps=8").makespan_s
    2.0
    """
    pairs = _pairs(sources, targets)
    bytes_ = _ids(sizes, "sizes", np.uint64)
    if bytes_.size != pairs[0].size:
        raise _core.TopoloomError(
            f"sizes has {counted(bytes_.size, 'number')}, but flows are {pairs[0].size}; they must be as many"
        )
    cancel = _core.CancelToken()
    chosen = _routing(network, routing)
    return FlowRun(_core.flow_run(chosen, pairs, bytes_, flow, cancel), chosen.name)
