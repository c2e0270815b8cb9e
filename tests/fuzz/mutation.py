"""Random changes to texts and bytes: what people mistype, what programs cut off, and what nobody would think of."""

import re
from random import Random

NUMBERS = [
    *("0", "1", "2", "3", "5", "7", "-1", "00", "+1", "1.5", "1e3", "0x10", "1_0", "٣", "", "nan", "inf", "-0", "½"),
    *("64", "65", "255", "256", "1025", "65535", "65536", "1e400", "1e-400", "1e-5000", "1e999999999999"),
    *("4294967295", "4294967296", "9223372036854775808", "18446744073709551616", "9" * 40, "9" * 5000),
]
"""Numbers at the ends of what types hold, and what is almost a number. None is large and yet possible."""

PIECES = [
    *(",", "=", ":", "x", "(", ")", "[", "]", "{", "}", "-", "%", "#", '"', "'", "\\", "/", "|", ";", "$", "*", " "),
    *("/dev/zero", "[" * 3000, "(" * 3000, "permuted:two-cab(" * 500, " " * 3000, "\\u0000"),
    *("\n", "\t", "\r", "\x00", "\x1b[2J", "é", "\u202e", "🦀", "\ufeff", "NaN", "null", "true", "=,=", "((", "::"),
]
"""Pieces with a meaning somewhere."""

NAMES = re.compile(r"[A-Za-z][\w-]*")
DIGITS = re.compile(r"\d+(?:\.\d+)?")


def mutated(random: Random, text: str, tokens: list[str]) -> str:
    """Return `text` with a few changes; `tokens` are words that mean something in its place."""
    for _ in range(random.choice([1, 1, 1, 2, 3, 8])):
        text = random.choice(CHANGES)(random, text, tokens)
    return text


def _number(random: Random, text: str, tokens: list[str]) -> str:
    found = list(DIGITS.finditer(text))
    return _replaced(text, random.choice(found).span(), random.choice(NUMBERS)) if found else text


def _word(random: Random, text: str, tokens: list[str]) -> str:
    found = list(NAMES.finditer(text))
    return _replaced(text, random.choice(found).span(), random.choice(tokens)) if found and tokens else text


def _insert(random: Random, text: str, tokens: list[str]) -> str:
    at = random.randint(0, len(text))
    return text[:at] + random.choice(PIECES) + text[at:]


def _drop(random: Random, text: str, tokens: list[str]) -> str:
    at = random.randint(0, len(text))
    return text[:at] + text[at + random.choice([1, 1, 1, 2, 10]) :]


def _cut(random: Random, text: str, tokens: list[str]) -> str:
    return text[: random.randint(0, len(text))]


def _double(random: Random, text: str, tokens: list[str]) -> str:
    start, end = sorted(random.randint(0, len(text)) for _ in range(2))
    return text[:end] + text[start:end] * random.choice([1, 1, 2, 50]) + text[end:]


def _swap(random: Random, text: str, tokens: list[str]) -> str:
    parts = text.split(",")
    random.shuffle(parts)
    return ",".join(parts)


CHANGES = (_number, _number, _number, _word, _word, _insert, _insert, _drop, _drop, _cut, _double, _swap)


def _replaced(text: str, span: tuple[int, int], by: str) -> str:
    return text[: span[0]] + by + text[span[1] :]


def mutated_bytes(random: Random, data: bytes, tokens: list[str]) -> bytes:
    """Return a file's bytes with changes, mostly to its text."""
    if random.random() < 0.8:
        text = data.decode("utf-8", errors="replace")
        lines = text.splitlines(keepends=True)
        if lines and random.random() < 0.6:
            at = random.randrange(len(lines))
            lines[at] = random.choice([mutated(random, lines[at], tokens), "", lines[at] * 2])
            return "".join(lines).encode()
        return mutated(random, text, tokens).encode()
    raw = bytearray(data)
    for _ in range(random.choice([1, 1, 4, 40])):
        if raw:
            raw[random.randrange(len(raw))] = random.choice([0, 10, 32, 255, random.randrange(256)])
    return bytes(raw)
