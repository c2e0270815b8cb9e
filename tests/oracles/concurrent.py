"""The largest concurrent flow (Shahrokhi and Matula, J. ACM 1990) as a linear program over all channels: what flows
that split at will can have at once. One commodity a source router; terminals send and receive at the rate of a link."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_array

from oracles.graphs import Graph


def largest(graph: Graph, pairs: Sequence[tuple[int, int]]) -> float:
    """The largest rate that all flows between pairs of terminals can have together, in link rates."""
    channels = [(at, to) for at in range(graph.routers) for to, _ in graph.links[at]]
    homes = list(graph.homes)
    demand = Counter((homes[a], homes[b]) for a, b in pairs if homes[a] != homes[b])
    at_ends = max([*Counter(a for a, _ in pairs).values(), *Counter(b for _, b in pairs).values()])
    sources = sorted({source for source, _ in demand})
    wide, last = len(channels), len(sources) * len(channels)
    entries: list[tuple[int, int, float]] = []  # of the equations: row, variable, factor
    for place, source in enumerate(sources):
        for router in range(graph.routers):
            row = place * graph.routers + router
            sent = sum(flows for (a, _), flows in demand.items() if a == source)
            wanted = -sent if router == source else demand[source, router]
            entries.append((row, last, -wanted))
        for channel, (at, to) in enumerate(channels):
            entries.append((place * graph.routers + at, place * wide + channel, -1.0))
            entries.append((place * graph.routers + to, place * wide + channel, 1.0))
    equal = _sparse(entries, (len(sources) * graph.routers, last + 1))
    limits = [(channel, place * wide + channel, 1.0) for place in range(len(sources)) for channel in range(wide)]
    objective = np.zeros(last + 1)
    objective[last] = -1.0
    found = linprog(
        objective,
        A_ub=_sparse(limits, (wide, last + 1)),
        b_ub=np.ones(wide),
        A_eq=equal,
        b_eq=np.zeros(equal.shape[0]),
        bounds=[(0, None)] * last + [(0, 1 / at_ends)],
    )
    assert found.success, found.message
    return float(found.x[last])


def _sparse(entries: list[tuple[int, int, float]], shape: tuple[int, int]) -> coo_array:
    rows, columns, factors = zip(*entries, strict=True)
    return coo_array((factors, (rows, columns)), shape=shape)
