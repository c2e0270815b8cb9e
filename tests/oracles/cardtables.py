"""Tables of cards from their text, and the ways of packets by them: from the format's description alone."""

from dataclasses import dataclass
from itertools import accumulate

from oracles.graphs import Graph
from oracles.routes import Path


@dataclass
class Entry:
    port: int
    vc: int | None
    """None for the port of the destination itself."""
    adaptive: list[int]


@dataclass
class Tables:
    groups: int
    vcs: int
    group_of: dict[int, int]
    flat: dict[tuple[int, str, int], list[Entry | None]]
    """By card, input and group, the entry for each destination."""
    sizes: list[int]
    """Entries of both levels, table by table."""


def entry(word: str) -> Entry | None:
    if word == "-":
        return None
    fixed, *adaptive = word.split("+")
    port, _, vc = fixed.partition("/")
    return Entry(int(port), int(vc) if vc else None, [int(port) for port in adaptive])


def read(text: str) -> Tables:
    lines = [line.split() for line in text.splitlines() if line.strip() and not line.startswith("#")]
    assert lines[0] == ["card-tables", "1"]
    _, destinations, _, block = lines[1]
    _, groups, _, vcs, *_ = lines[2]
    tables = Tables(int(groups), int(vcs), {}, {}, [])
    card, key, blocks, second = -1, ("", 0), list[str](), dict[str, list[str]]()

    def close() -> None:
        if blocks:
            words = [word for first in blocks for word in second.get(first, [first] * int(block))]
            assert len(words) == int(destinations)
            tables.flat[card, *key] = [entry(word) for word in words]
            tables.sizes.append(len(blocks) + sum(map(len, second.values())))

    for first, *words in lines[3:]:
        if first in ("card", "input"):
            close()
            blocks, second = [], {}
        if first == "card":
            card, tables.group_of[int(words[0])] = int(words[0]), int(words[2])
        elif first == "input":
            key = (words[0], int(words[2]))
        elif first == "blocks":
            blocks = words
        else:
            second[first] = words
    close()
    return tables


def behind(graph: Graph, router: int, port: int) -> tuple[int, int]:
    """Router and port at the other end. Of two links between the same cards, + of one is - of the other."""
    peer, _ = graph.links[router][port - graph.p[router]]
    here, there = graph.ports_to(router, peer), graph.ports_to(peer, router)
    return peer, there[len(here) - 1 - here.index(port)]


def way(graph: Graph, tables: Tables, source: int, terminal: int) -> Path:
    """The hops of a packet from a card to a terminal, (router, port, class), by escape and deterministic VCs."""
    first = list(accumulate(graph.p, initial=0))
    at, name, group, hops = source, "host", tables.group_of[source], []
    while True:
        found = tables.flat[at, name, group][terminal]
        assert found is not None
        if found.vc is None:
            assert first[at] + found.port == terminal
            return tuple(hops)
        hops.append((at, found.port, group * tables.vcs + found.vc))
        at, port = behind(graph, at, found.port)
        name = str(port)
