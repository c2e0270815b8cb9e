"""What a shape is, a network without its terminals, and what is searched for."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import isqrt, log

from topoloom.design.racks import Packing


@dataclass(frozen=True, slots=True)
class Shape:
    """A network without its terminals.

    Attributes:
        spec: Its spec, without p.
        routers: Routers in all.
        ends: Those that have terminals.
        degree: Ports to other routers, of the router that has most of them with its terminals.
        links: Links between routers.
        cut: Links between two halves, about.
        cut_is: ``exact``, ``upper-bound``, ``lower-bound`` or ``estimate``.
        diameter: The largest distance between two routers, in hops.
        packing: What stands together in racks, and how links spread over them.
        diameter_is: ``exact``, ``upper-bound`` or ``estimate``.
        p: Terminals per router, where the family fixes them; 0 where they are free.
    """

    spec: str
    routers: int
    ends: int
    degree: int
    links: int
    cut: float
    cut_is: str
    diameter: int
    packing: Packing
    diameter_is: str = "exact"
    p: int = 0


@dataclass(frozen=True, slots=True)
class Requirements:
    """What is searched for.

    Attributes:
        low: The smallest number of terminals.
        high: The largest number of terminals.
        radix: The largest number of ports on a router.

    >>> list(Requirements(60, 70, 12).terminals(16, 6)), list(Requirements(60, 70, 12).terminals(16, 6, 3))
    ([4], [])
    """

    low: int
    high: int
    radix: int

    def terminals(self, ends: int, degree: int, p: int = 0) -> range:
        """Return the numbers of terminals per router that fit, only p if that is given.

        Args:
            ends: The number of routers with terminals.
            degree: Ports to other routers.
            p: The number of terminals that the family fixes, or 0.
        """
        least, most = max(1, -(-self.low // ends)), min(self.high // ends, self.radix - degree)
        return range(max(least, p), min(most, p) + 1) if p else range(least, most + 1)


def prime_powers(most: int) -> list[int]:
    """Return the prime powers from 3 to `most`, ascending.

    Args:
        most: The largest number.

    >>> prime_powers(11)
    [3, 4, 5, 7, 8, 9, 11]
    """
    primes = [n for n in range(2, most + 1) if all(n % d for d in range(2, isqrt(n) + 1))]
    powers = {prime**m for prime in primes for m in range(1, max(1, int(log(most, prime) + 1e-9)) + 1)}
    return sorted(power for power in powers if 2 < power <= most)  # noqa: PLR2004 - there is no Slim Fly of 2


Search = Callable[[Requirements], Iterator[Shape]]
"""What yields all shapes of a family within limits on terminals and ports."""
