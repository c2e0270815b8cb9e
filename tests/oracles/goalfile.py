"""GOAL in binary form, byte by byte as LogGOPSim writes it: a cookie, a table of ranks, and the part of each rank."""

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

COOKIE = 4223
SEND, RECEIVE, COMPUTE = 1, 2, 3
ANY = 2**32 - 1


@dataclass
class Operation:
    """An operation, with the numbers of those of its rank that it waits for."""

    kind: int
    size: int
    peer: int = 0
    tag: int = 0
    cpu: int = 0
    requires: Sequence[int] = ()
    irequires: Sequence[int] = ()
    followers: list[list[int]] = field(default_factory=lambda: [[], []])


def part(operations: Sequence[Operation]) -> bytes:
    """Return the part of a rank: counts, operations without requirements, operations, and lists of followers."""
    for number, own in enumerate(operations):
        for kind, before in enumerate((own.requires, own.irequires)):
            for one in before:
                operations[one].followers[kind].append(number)
    roots = [number for number, own in enumerate(operations) if not own.requires and not own.irequires]
    out = struct.pack(f"<II{len(roots)}I", len(operations), len(roots), *roots)
    lists: list[int] = []
    for own in operations:
        needs = len(own.requires) + len(own.irequires)
        out += struct.pack("<IBIQIBB", needs, own.kind, own.peer, own.size, own.tag, own.cpu, 0)
        for followers in own.followers:
            out += struct.pack("<II", len(followers), len(lists))
            lists += followers
    return out + struct.pack(f"<{len(lists)}I", *lists)


def write(path: Path, ranks: Sequence[Sequence[Operation]]) -> None:
    """Write a schedule."""
    parts = [part(operations) for operations in ranks]
    place = 4 + 2 + 16 * len(ranks)
    table = b""
    for own in parts:
        table += struct.pack("<QQ", place, place + len(own))
        place += len(own)
    path.write_bytes(struct.pack("<QIBB", COOKIE, len(ranks), 1, 1) + table + b"".join(parts))
