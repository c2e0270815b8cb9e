"""Candidate bisections by METIS; the engine balances, refines and judges them."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from topoloom import _core
from topoloom.libraries import installed, missing

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SEEDS = 16
"""The largest number of METIS runs; each starts from another seed."""

ROUTERS = 400_000
"""Routers that all runs together are given: large networks have fewer runs, but one at least if they are no grids."""


def candidates(network: _core.Network) -> "Iterator[NDArray[np.int32]]":
    """Yield partitions of the routers, one per seed: an array of 0 and 1 of the length of the number of routers.

    There are none where METIS is not installed: the engine has candidates of its own.

    Args:
        network: The engine's network, ``Network.core``.

    >>> import topoloom
    >>> sides = next(candidates(topoloom.network("mesh:4x4").core))
    >>> len(sides), int(sides.sum())
    (16, 8)
    """
    if network.num_routers < 2 or not installed("pymetis"):  # noqa: PLR2004 - nothing to cut
        return
    if network.num_routers > ROUTERS and network.shape().grid:
        return  # a run takes seconds, and the engine cuts grids across each dimension itself
    import numpy as np  # noqa: PLC0415 - loads slowly
    import pymetis  # noqa: PLC0415 - loads slowly

    offsets, neighbors, router_weights, link_weights = network.metis_graph()
    adjacency = pymetis.CSRAdjacency(offsets, neighbors)
    for seed in range(max(1, min(SEEDS, ROUTERS // network.num_routers))):
        options = pymetis.Options(seed=seed, contig=0)
        _, parts = pymetis.part_graph(
            2, adjacency, vweights=router_weights, eweights=link_weights, options=options, recursive=True
        )
        yield np.asarray(parts, dtype=np.int32)


def without_metis(bisection: Mapping[str, Any]) -> list[str]:
    """Return a sentence where a cut is an upper bound that METIS might lower, had it been installed.

    Args:
        bisection: The best cut that was found.

    >>> import topoloom
    >>> without_metis(topoloom.network("mesh:2").facts())
    []
    """
    if bisection["bisection_is"] != "upper-bound" or installed("pymetis"):
        return []
    return [f"a smaller bisection may exist, as METIS did not search: {missing('pymetis')}"]
