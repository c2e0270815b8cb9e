"""Networks that a search makes for a number of routers and a degree."""

from numbers import Real
from typing import Literal

from topoloom import _core
from topoloom._core import TopoloomError, unknown
from topoloom.engine.results import Synthesis
from topoloom.simulation.option_types import MOST_U32, MOST_U64
from topoloom.simulation.options import check_whole

SECONDS = 20.0
"""The time of a search, in seconds, unless another is given."""


def synthesise(
    routers: int,
    degree: int,
    *,
    minimise: Literal["load", "distance"] = "load",
    group: str | None = None,
    seed: int = 1,
    seconds: float = SECONDS,
    graphs: int | None = None,
) -> Synthesis:
    """Search the Cayley graphs of a degree for the least loaded channels or the shortest paths.

    Args:
        routers: The number of routers.
        degree: The links of a router.
        minimise: ``load``, the largest load of a channel under uniform traffic and minimal routing, or ``distance``,
            the mean number of links between two routers.
        group: The group, as in specs: ``16x16x16`` or ``16x16x16,turn=5,2``. Any of that order unless given.
        seed: The seed of the search.
        seconds: The longest time of the search in seconds; it ends with a round of starts.
        graphs: The number of graphs after which it ends, with the round. The result then depends on the seed alone.

    Raises:
        TopoloomError: No graph has these numbers, the group has another order, or a number is out of its range.

    >>> found = synthesise(21, 4, graphs=1)
    >>> found.best.diameter
    3
    """
    check_whole("routers", routers, 1, MOST_U32)
    check_whole("degree", degree, 1, MOST_U32)
    check_whole("seed", seed, 0, MOST_U64)
    if graphs is not None:
        check_whole("graphs", graphs, 1, MOST_U64)
    if isinstance(seconds, bool) or not isinstance(seconds, Real):
        raise TopoloomError(f"seconds is {seconds!r}; it must be a number above 0")
    if minimise not in ("load", "distance"):
        raise TopoloomError(unknown("aim", str(minimise), ["load", "distance"]))
    return _core.synthesise(routers, degree, minimise == "load", group, seed, float(seconds), graphs)
