"""When terminals create packets, and for whom."""

import math
import random
from typing import Protocol

NEVER = 2**32 - 1


class Source(Protocol):
    next: int
    """When the next packet is created."""
    size: int
    """Its flits."""

    def take(self) -> int:
        """Give the destination of the packet that was created at `next`, and go on to the one after."""


def sizes(packet: int | str) -> list[tuple[int, float]]:
    """The sizes of packets with their weights, from what users write."""
    if isinstance(packet, int):
        return [(packet, 1.0)]
    if "-" in packet:
        first, last = map(int, packet.split("-"))
        return [(size, 1.0) for size in range(first, last + 1)]
    return [(int(size), float(weight)) for size, weight in (item.split(":") for item in packet.split(","))]


def largest(packet: int | str) -> int:
    return max(size for size, _ in sizes(packet))


def mean(sizes: list[tuple[int, float]]) -> float:
    return sum(size * weight for size, weight in sizes) / sum(weight for _, weight in sizes)


class Replay:
    """Packets that are given: (time, destination, flits), by time."""

    def __init__(self, packets: list[tuple[int, int, int]]) -> None:
        self.packets = packets

    @property
    def next(self) -> int:
        return self.packets[0][0] if self.packets else NEVER

    @property
    def size(self) -> int:
        return self.packets[0][2]

    def take(self) -> int:
        return self.packets.pop(0)[1]


class Coin:
    """A trial every cycle, and any terminal for a destination: what the model says, by numbers of our own."""

    def __init__(self, dice: random.Random, rate: float, terminals: int, size: int) -> None:
        self.dice, self.rate, self.terminals, self.size = dice, rate, terminals, size
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

    STEP = 0x9E3779B97F4A7C15

    def __init__(self, seed: int, terminal: int, load: float, terminals: int, packet: int | str) -> None:
        self.counter = mix(seed ^ mix((terminal | 1 << 63) + self.STEP & WORD))
        self.sizes = sizes(packet)
        self.log, self.terminals = math.log1p(-load / mean(self.sizes)), terminals
        self.between = isinstance(packet, str) and "-" in packet
        self.next = 0
        self.wait()

    def bits(self) -> int:
        self.counter = self.counter + self.STEP & WORD
        return mix(self.counter)

    def wait(self) -> None:
        self.next += int(math.log(self.unit()) / self.log)
        self.size = self.draw()

    def unit(self) -> float:
        return ((self.bits() >> 11) + 1) / 2**53

    def draw(self) -> int:
        if len(self.sizes) == 1:
            return self.sizes[0][0]
        if self.between:
            return self.sizes[(self.bits() >> 32) * len(self.sizes) >> 32][0]
        left = self.unit() * sum(weight for _, weight in self.sizes)
        for size, weight in self.sizes:
            left -= weight
            if left <= 0:
                return size
        return self.sizes[-1][0]

    def take(self) -> int:
        to = (self.bits() >> 32) * self.terminals >> 32
        self.next += 1
        self.wait()
        return to
