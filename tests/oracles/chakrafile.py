"""Chakra traces as files, written byte by byte from the published schema (MLCommons, ``et_def.proto``, version 1)."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

COMPUTE, SEND, RECEIVE, COLLECTIVE = 4, 5, 6, 7
ALL_REDUCE, ALL_GATHER, BROADCAST, ALL_TO_ALL, REDUCE_SCATTER, BARRIER = 0, 2, 5, 6, 7, 9


def varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    out = b""
    while value > 0x7F:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def field(number: int, value: int | bytes | str) -> bytes:
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def attribute(name: str, value: int | bool | str) -> bytes:
    kinds: dict[type, int] = {bool: 27, int: 9, str: 29}
    return field(1, name) + field(kinds[type(value)], value)


def node(number: int, kind: int, after: Iterable[int] = (), micros: int = 0, name: str = "", **values: Any) -> bytes:
    """Encode a node. Dependencies alternate between data, packed as proto3 packs them, and control, one by one."""
    waits = list(after)
    data, control = waits[::2], waits[1::2]
    out = field(1, number) + field(2, name or f"n{number}") + field(3, kind)
    out += b"".join(field(4, before) for before in control)
    if data:
        out += field(5, b"".join(varint(before) for before in data))
    out += field(7, micros)
    out += field(8, field(1, "[[1, 2]]") + field(2, "[[4]]"))  # inputs, which nobody needs here
    return out + b"".join(field(10, attribute(key, value)) for key, value in values.items())


def write(path: Path, nodes: Iterable[bytes], version: str = "1.0.0") -> None:
    """Write a trace: its metadata and its nodes, each with its length before it."""
    messages = [field(1, version) if version else b"", *nodes]
    path.write_bytes(b"".join(varint(len(message)) + message for message in messages))


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def _fields(data: bytes) -> list[tuple[int, int | bytes]]:
    """Decode the fields of a message: their numbers, and integers or bytes."""
    found: list[tuple[int, int | bytes]] = []
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        if key & 7 == 0:
            value, at = _varint(data, at)
            found.append((key >> 3, value))
        else:
            is_double, size = key & 7 == 1, 8
            if not is_double:
                size, at = _varint(data, at)
            found.append((key >> 3, b"" if is_double else data[at : at + size]))
            at += size
    return found


def read(path: Path) -> list[dict[str, Any]]:
    """Return the nodes of a trace: ``id``, ``name``, ``type``, and their attributes."""
    data, at, messages = path.read_bytes(), 0, []
    while at < len(data):
        size, at = _varint(data, at)
        messages.append(data[at : at + size])
        at += size
    nodes = []
    for message in messages[1:]:
        node: dict[str, Any] = {}
        for number, value in _fields(message):
            if number in (1, 3):
                node["id" if number == 1 else "type"] = value
            elif number == 10 and isinstance(value, bytes):
                (_, name), (_, content) = _fields(value)
                assert isinstance(name, bytes)
                node[name.decode()] = content.decode() if isinstance(content, bytes) else content
        nodes.append(node)
    return nodes
