"""What the best possible routing could carry: the largest concurrent flow, by linear programming with HiGHS."""

from typing import TYPE_CHECKING, Any

from topoloom import _core
from topoloom._core import TopoloomError
from topoloom.libraries import require

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DETOURS = "val"
"""The routing whose detours carry what minimal paths cannot."""

MOST_VARIABLES = 30_000
"""Flows (of a source on a channel) up to which the program is solved: some ten seconds."""


def optimal_throughput(network: _core.Network, traffic: str = "uniform") -> dict[str, Any]:
    """Return what a routing that splits and spreads every flow at will could carry under `traffic`.

    The largest concurrent flow (Shahrokhi and Matula, J. ACM 1990): the largest factor t such that t times the demands
    of all pairs of routers flow at once, with at most one flit per cycle on any channel. All that one source sends is
    one commodity.

    Args:
        network: The engine's network, ``Network.core``.
        traffic: A traffic pattern.

    Returns:
        ``optimal_bound``: flits per active terminal per cycle, the terminals' own links included;
        ``optimal_channel_load``: the load of the busiest channel under that routing, if every active terminal offers a
        flit per cycle.

    Raises:
        TopoloomError: Unknown traffic, a network that is too large, or one that cannot serve the traffic.

    >>> import topoloom
    >>> optimal_throughput(topoloom.network("torus:4").core, "tornado")["optimal_bound"]
    1.0
    """
    import numpy as np  # noqa: PLC0415 - loads slowly

    demands, terminal_load = _core.Traffic(network, traffic).router_demands()
    routers = network.num_routers
    demand = demands.reshape(routers, routers)
    np.fill_diagonal(demand, 0.0)
    links = np.array([(a, b) for a, _, b, _, _ in network.edges()], dtype=np.int64).reshape(-1, 2)
    channels = np.concatenate([links, links[:, ::-1]])
    sources = np.flatnonzero(demand.sum(axis=1) > 0)
    if len(sources) * len(channels) > MOST_VARIABLES:
        raise TopoloomError(
            f"{network.spec}: the linear program would have {len(sources) * len(channels):,} flows "
            f"({len(sources)} sources, {len(channels)} channels); at most {MOST_VARIABLES:,} are solved"
        )
    factor = _largest_factor(demand[sources], sources, channels) if len(sources) else np.inf
    if factor <= 0:
        raise TopoloomError(f"{network.spec}: no path serves some pairs of {traffic}")
    return {"optimal_bound": min(factor, 1 / terminal_load), "optimal_channel_load": 1 / factor}


def has_detours(network: _core.Network) -> bool:
    """Return whether detours may carry what minimal paths cannot.

    In a tree minimal paths spread over all routers above already, and a detour takes the links up twice.

    Args:
        network: The network.

    >>> has_detours(_core.Network("hyperx:4x4")), has_detours(_core.Network("fattree:k=2,levels=2"))
    (True, False)
    """
    return DETOURS in network.routings() and network.shape().levels is None


def _largest_factor(
    demand: "NDArray[np.float64]", sources: "NDArray[np.int64]", channels: "NDArray[np.int64]"
) -> float:
    """Maximise t, the last variable: flow of source s on channel c is variable s * channels + c.

    Rows: the capacity of every channel; then, for each source and each other router, what enters less what leaves is t
    times the demand.
    """
    require("highspy")
    import highspy  # noqa: PLC0415 - loads slowly
    import numpy as np  # noqa: PLC0415 - loads slowly

    routers, width, flows = demand.shape[1], len(channels), len(sources) * len(channels)
    columns = np.arange(flows)
    source, channel = np.divmod(columns, width)
    tail, head = channels[channel].T
    row_of = width + source * routers
    # Each flow is in three rows: its channel's, and those of the routers at the two ends of it.
    rows = np.stack([channel, row_of + head, row_of + tail])
    values = np.broadcast_to(np.array([[1.0], [1.0], [-1.0]]), rows.shape)
    served, target = np.nonzero(demand)
    t_rows, t_values = width + served * routers + target, -demand[served, target]
    height = width + len(sources) * routers
    lower, upper = np.zeros(height), np.zeros(height)
    lower[:width], upper[:width] = -highspy.kHighsInf, 1.0
    # What leaves a source follows from all others.
    own = width + np.arange(len(sources)) * routers + sources
    lower[own], upper[own] = -highspy.kHighsInf, highspy.kHighsInf
    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = flows + 1, height
    model.col_cost_ = np.append(np.zeros(flows), 1.0)
    model.col_lower_, model.col_upper_ = np.zeros(flows + 1), np.full(flows + 1, highspy.kHighsInf)
    model.row_lower_, model.row_upper_ = lower, upper
    model.sense_ = highspy.ObjSense.kMaximize
    model.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    model.a_matrix_.start_ = np.append(np.arange(flows + 1) * 3, 3 * flows + len(t_rows))
    model.a_matrix_.index_ = np.append(rows.T.ravel(), t_rows)
    model.a_matrix_.value_ = np.append(values.T.ravel(), t_values)
    solver = highspy.Highs()  # type: ignore[no-untyped-call]
    solver.silent()
    solver.passModel(model)
    solver.run()
    if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        raise RuntimeError(f"HiGHS ended with {solver.modelStatusToString(solver.getModelStatus())}")
    return float(solver.getInfo().objective_function_value)
