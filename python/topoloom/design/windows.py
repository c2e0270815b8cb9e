"""How long networks of a design are simulated, and how well that shows what they accept."""

from dataclasses import dataclass

from topoloom._core import TopoloomError
from topoloom.design.candidates import MOST_TERMINALS
from topoloom.design.criteria import Value
from topoloom.design.question import Question
from topoloom.simulation.plans import RESOLUTION

ALL = 1_000_000
"""More networks than are ever built."""

CARRIED = 0.98
"""A network that accepts this part of the load carries all of it."""

CLEAR = 4
"""A longer window is left out where an interval is at most one over this number as wide as that of the window."""


@dataclass(frozen=True)
class Window:
    """A simulation at full load of a fixed length.

    Attributes:
        warmup: Cycles before it is measured.
        measure: Cycles that are measured.
        off: The largest error of the accepted load, as a fraction of it: networks past saturation settle slowly.
        full: The least accepted load of a network that carries all: queues fill at first, even without congestion.
        places: The number of networks that are simulated in it at most, those of the least cost for their throughput
            first.

    >>> known = Window(1000, 500, 0.15).value(0.8, 0.9)
    >>> round(known.low, 2), known.value, known.high
    (0.68, 0.8, 0.9)
    """

    warmup: int
    measure: int
    off: float
    full: float = CARRIED
    places: int = ALL

    def value(self, accepted: float, most: float) -> Value:
        """Return what is known of the throughput of a network, in flits per active terminal per cycle.

        Args:
            accepted: The accepted load at full offered load.
            most: A proved upper bound of the load.
        """
        least = CARRIED if accepted >= self.full else 0.0
        low = min(most, max(least, accepted * (1 - self.off)))
        value = min(most, max(accepted, low))
        return Value(value, low, min(most, value * (1 + self.off)), "measured")

    def shows_more(self, known: Value | None) -> bool:
        """Return whether a simulation in this window is worth its time: all of the load may have been carried before.

        Args:
            known: What is known of the throughput, if anything.

        >>> short, long, last = Window(400, 100, 0.3, full=0.97), Window(1000, 500, 0.15), Window(12_000, 6000, 0.03)
        >>> [long.shows_more(short.value(accepted, 1.0)) for accepted in (0.8, 0.975)]
        [True, False]
        >>> last.shows_more(short.value(0.975, 1.0))
        True
        """
        if known is None or known.known != "measured":
            return True
        return known.high - known.low > 2 * self.off * known.value / CLEAR


MOST_FLITS = 30_000
"""Terminals of the largest network that is simulated flit by flit; for others, bounds by channel load count."""

_WINDOWS = (
    (500, (Window(1000, 500, 0.15), Window(6000, 3000, 0.05), Window(12_000, 6000, 0.03))),
    (3000, (Window(400, 100, 0.3, 0.97, places=32), Window(1000, 500, 0.15, places=10), Window(1000, 500, 0.15))),
    (MOST_FLITS, (Window(100, 100, 0.3, 0.96, places=12), Window(1000, 500, 0.15, places=0), Window(400, 400, 0.15))),
    (MOST_TERMINALS, ()),
)
"""The largest number of terminals, and the windows: for all, for those that may be on the front, for finalists."""


def windows_of(question: Question) -> tuple[Window, ...]:
    """Return the windows in which networks are simulated: shorter where a cycle takes longer; none for the largest.

    Args:
        question: The question.

    Raises:
        TopoloomError: What is asked has to be simulated, and the networks are too large for that.

    >>> from topoloom.design.question import make_question
    >>> [window.measure for window in windows_of(make_question({"terminals": 400, "radix": 16}))]
    [500, 3000, 6000]
    """
    windows = next(windows for most, windows in _WINDOWS if question.least_terminals <= most)
    if question.survive is not None and not windows:
        raise TopoloomError(
            f"survive is simulated flit by flit, for at most {MOST_FLITS:,} terminals; leave it out: finalists are "
            "broken in any case, and their throughput bounded"
        )
    return windows


def places_of(question: Question) -> list[int]:
    """Return the number of networks that may enter each window but that of the finalists.

    Args:
        question: The question.

    >>> from topoloom.design.question import make_question
    >>> places_of(make_question({"terminals": 2000, "radix": 32}))
    [32, 10]
    """
    return [window.places for window in windows_of(question)[:-1]]


FINE_SEARCH = 3000
"""Terminals up to which the saturation loads of finalists are searched to 0.01, and from which …"""

COARSE_PARTS = 20
"""… to a part of full load over this number: as precisely as their windows show what they accept, or better."""

COARSE_PRECISION = 0.1
"""The precision of latencies in such a search."""


def search_parts(question: Question) -> int:
    """Return the number of parts of full load of which saturation loads of finalists are multiples.

    Args:
        question: The question.

    >>> from topoloom.design.question import make_question
    >>> search_parts(make_question({"terminals": 400, "radix": 16}))
    100
    """
    return RESOLUTION if question.least_terminals <= FINE_SEARCH else COARSE_PARTS


def throughput_note(question: Question) -> str:
    """Return what the values of saturation throughput are, for people.

    Args:
        question: The question.

    >>> from topoloom.design.question import make_question
    >>> throughput_note(make_question({"terminals": 400, "radix": 16}))
    'accepted at load 1, routers and links as simulate has them by default'
    """
    if windows_of(question):
        return "accepted at load 1, routers and links as simulate has them by default"
    return (
        f"estimated by the expected load of every channel, minimal and Valiant's paths in the best shares; networks "
        f"of more than {MOST_FLITS:,} terminals are not simulated flit by flit"
    )
