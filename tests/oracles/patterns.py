"""Who sends to whom: the fixed patterns, from their definitions. None = the terminal is silent."""

from math import log2, prod

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


# Patterns that draw: for each source the probability of every destination; an empty one is silent.

Chances = dict[int, float]


def surely(to: list[int | None]) -> list[Chances]:
    """A pattern of one destination each."""
    return [{} if dst is None else {dst: 1.0} for dst in to]


def mixed(*parts: tuple[float, list[int]]) -> Chances:
    """With these probabilities, any of these terminals."""
    chances: Chances = {}
    for weight, ids in parts:
        for id_ in ids if weight else []:
            chances[id_] = chances.get(id_, 0.0) + weight / len(ids)
    return chances


def uniform(terminals: int, *, with_self: bool = True) -> list[Chances]:
    everybody = range(terminals)
    return [mixed((1.0, [d for d in everybody if with_self or d != s])) if terminals > 1 else {} for s in everybody]


def asymmetric(terminals: int) -> list[Chances]:
    half = terminals // 2
    return [{s % half: 0.5, s % half + half: 0.5} for s in range(terminals)]


def hotspot(terminals: int, hot: dict[int, float], share: float = 1.0) -> list[Chances]:
    """`hot` are relative rates; what is not hot goes to anybody."""
    chances = mixed((1 - share, list(range(terminals))))
    for id_, rate in hot.items():
        chances[id_] = chances.get(id_, 0.0) + share * rate / sum(hot.values())
    return [{id_: chance for id_, chance in chances.items() if chance}] * terminals


def spread(terminals: int, count: int) -> list[int]:
    """`count` ids, evenly spread from 0 on."""
    return [i * terminals // count for i in range(count)]


def next_group(homes: list[int], size: int) -> list[Chances]:
    """Terminals whose router is in the next group of `size` routers."""
    groups = max(homes) // size + 1
    members = [[t for t, home in enumerate(homes) if home // size == g] for g in range(groups)]
    return [mixed((1.0, members[(home // size + 1) % groups])) for home in homes]


def blended_fixed(homes: list[int], io: int, share: float = 0.1) -> list[Chances]:
    """The packets of a router to I/O nodes all go to the I/O nodes of one router."""
    computing = len(homes) - io
    nodes = list(range(computing, len(homes)))
    targets = [[node for node in nodes if homes[node] == home] for home in sorted({homes[node] for node in nodes})]
    turns = sorted({homes[terminal] for terminal in range(computing)})

    def row(terminal: int) -> Chances:
        own = targets[turns.index(homes[terminal]) % len(targets)]
        to = dict.fromkeys(range(computing), (1 - share) / computing)
        return to | {node: share / len(own) for node in own}

    return [row(terminal) if terminal < computing else {} for terminal in range(len(homes))]


def blended(terminals: int, io: int, share: float = 0.1) -> list[Chances]:
    computing = list(range(terminals - io))
    chances = mixed((1 - share, computing), (share, list(range(terminals - io, terminals))))
    return [chances] * len(computing) + [{}] * io


def pairs(terminals: int, flows: list[tuple[int, int, float]]) -> list[Chances]:
    found: list[Chances] = [{} for _ in range(terminals)]
    for src, dst, weight in flows:
        found[src][dst] = found[src].get(dst, 0.0) + weight
    return [{dst: weight / sum(chances.values()) for dst, weight in chances.items() if weight} for chances in found]


# The worst cases: where the terminals of each router send, terminal i to terminal i.


def by_routers(homes: list[int], to: list[int]) -> list[Chances]:
    first = [homes.index(home) for home in homes]
    there = [homes.index(to[home]) if to[home] in homes else None for home in homes]
    return [{start + t - first[t]: 1.0} if start is not None else {} for t, start in enumerate(there)]


def tornado_by_one(sides: Grid) -> list[int]:
    """As a tornado, but one step at least."""
    by = [max((side + 1) // 2 - 1, 1) for side in sides]
    places = [coordinates(sides, router) for router in range(prod(sides))]
    return [number(sides, tuple((c + b) % s for c, b, s in zip(place, by, sides, strict=True))) for place in places]


def opposite(sides: Grid) -> list[int]:
    return [prod(sides) - 1 - router for router in range(prod(sides))]


def across(terminals: int) -> list[Chances]:
    return [{(s + terminals // 2) % terminals: 1.0} for s in range(terminals)]


def next_subgroup(q: int) -> list[int]:
    """On a Slim Fly: (subgraph, x, y) to (subgraph, x + 1, y)."""
    return [s * q * q + (x + 1) % q * q + y for s in (0, 1) for x in range(q) for y in range(q)]
