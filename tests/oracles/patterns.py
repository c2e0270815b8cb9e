"""Who sends to whom: the fixed patterns, from their definitions. None = the terminal is silent."""

from math import log2

from oracles.graphs import coordinates, number

Grid = tuple[int, ...]


def by_bits(name: str, terminals: int, bits: int | None = None) -> list[int | None]:
    """Patterns on the b bits of an id; ids that do not exist neither send nor receive."""
    b = bits or round(log2(terminals))

    def to(id_: int) -> int | None:
        text = f"{id_:0{b}b}"
        if len(text) > b:
            return None
        moved = {
            "bit-complement": "".join("10"[int(bit)] for bit in text),
            "bit-reversal": text[::-1],
            "shuffle": text[1:] + text[0],
            "transpose": text[b // 2 :] + text[: b // 2],
        }[name]
        dst = int(moved, 2)
        return dst if dst < terminals else None

    return [to(terminal) for terminal in range(terminals)]


def shifted(name: str, sides: Grid) -> list[int | None]:
    """Patterns that move every coordinate of a terminal."""
    by = {"neighbor": lambda _: 1, "tornado": lambda side: (side + 1) // 2 - 1}[name]
    places = [coordinates(sides, terminal) for terminal in range(number(sides, tuple(s - 1 for s in sides)) + 1)]
    return [number(sides, tuple((c + by(s)) % s for c, s in zip(place, sides, strict=True))) for place in places]
