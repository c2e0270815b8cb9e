"""When terminals create packets, and for whom."""

import math
import random
from typing import Protocol

NEVER = 2**32 - 1


class Source(Protocol):
    next: int
    """When the next packet is created."""
    size: int | None
    """Flits of the packet that was taken last; None if all packets have the size of the router's options."""

    def take(self) -> int:
        """Give the destination of the packet that was created at `next`, and go on to the one after."""


class Replay:
    """Packets that are given: (time, destination, flits), by time."""

    def __init__(self, packets: list[tuple[int, int, int]]) -> None:
        self.packets = packets
        self.size: int | None = None

    @property
    def next(self) -> int:
        return self.packets[0][0] if self.packets else NEVER

    def take(self) -> int:
        _, to, self.size = self.packets.pop(0)
        return to


class Coin:
    """A trial every cycle, and any terminal for a destination: what the model says, by numbers of our own."""

    size = None

    def __init__(self, dice: random.Random, rate: float, terminals: int) -> None:
        self.dice, self.rate, self.terminals = dice, rate, terminals
        self.next = -1
        self.toss()

    def toss(self) -> None:
        self.next += 1
        while self.dice.random() >= self.rate:
            self.next += 1

    def take(self) -> int:
        to = self.dice.randrange(self.terminals)
        self.toss()
        return to


WORD = 2**64 - 1


def mix(x: int) -> int:
    """The engine's mixing function."""
    x ^= x >> 27
    x = x * 0x3C79AC492BA7B653 & WORD
    x ^= x >> 33
    x = x * 0x1C69B3F74AC4AE35 & WORD
    return x ^ x >> 27


class Engine:
    """The very packets of the engine: its counter-based stream of a terminal, geometric gaps, uniform destinations."""

    size = None
    STEP = 0x9E3779B97F4A7C15

    def __init__(self, seed: int, terminal: int, rate: float, terminals: int) -> None:
        self.counter = mix(seed ^ mix((terminal | 1 << 63) + self.STEP & WORD))
        self.log, self.terminals = math.log1p(-rate), terminals
        self.next = 0
        self.wait()

    def bits(self) -> int:
        self.counter = self.counter + self.STEP & WORD
        return mix(self.counter)

    def wait(self) -> None:
        unit = ((self.bits() >> 11) + 1) / 2**53
        self.next += int(math.log(unit) / self.log)

    def take(self) -> int:
        to = (self.bits() >> 32) * self.terminals >> 32
        self.next += 1
        self.wait()
        return to
