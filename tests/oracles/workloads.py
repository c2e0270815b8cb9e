"""Applications written down a second time, task by task, and played on networks so small that a pencil would do.

A program is a list of ``("send", to, bytes, tag)``, ``("receive", source, tag)`` and ``("compute", seconds)``. Tags are
any values that tell the messages of two tasks apart.
"""

from collections import defaultdict, deque
from itertools import product
from math import prod
from typing import Any

from oracles.graphs import coordinates, number

Step = tuple[Any, ...]
Programs = list[list[Step]]


def reduce(n: int, size: int) -> Programs:
    """All to task 0."""
    return [[("receive", i, 0) for i in range(1, n)]] + [[("send", 0, size, 0)] for _ in range(1, n)]


def recursive_doubling(n: int, size: int) -> Programs:
    """For powers of two."""
    programs: Programs = [[] for _ in range(n)]
    for i in range(n):
        k = 1
        while k < n:
            programs[i] += [("send", i ^ k, size, k), ("receive", i ^ k, k)]
            k *= 2
    return programs


def ring_allreduce(n: int, size: int) -> Programs:
    """Reduce-scatter, then allgather, around a ring."""

    def block(b: int) -> int:
        return (b + 1) * size // n - b * size // n

    programs: Programs = [[] for _ in range(n)]
    for i in range(n):
        for step in range(n - 1):
            programs[i] += [
                ("send", (i + 1) % n, block((i - step) % n), step),
                ("receive", (i - 1) % n, step),
            ]
        for step in range(n - 1):
            programs[i] += [
                ("send", (i + 1) % n, block((i + 1 - step) % n), ("b", step)),
                ("receive", (i - 1) % n, ("b", step)),
            ]
    return programs


def rabenseifner(n: int, size: int) -> Programs:
    """For powers of two: each step tells which blocks a task is responsible for, as sets."""
    programs: Programs = [[] for _ in range(n)]
    own = [set(range(n)) for _ in range(n)]

    def bytes_of(blocks: set[int]) -> int:
        return sum((b + 1) * size // n - b * size // n for b in blocks)

    distance = n // 2
    while distance:
        for i in range(n):
            partner = i ^ distance
            keep = {b for b in own[i] if (b & distance) == (i & distance)}
            give = own[i] - keep
            programs[i] += [("send", partner, bytes_of(give), distance), ("receive", partner, distance)]
            own[i] = keep
        distance //= 2
    distance = 1
    while distance < n:
        before = [set(blocks) for blocks in own]
        for i in range(n):
            partner = i ^ distance
            programs[i] += [("send", partner, bytes_of(before[i]), -distance), ("receive", partner, -distance)]
            own[i] = before[i] | before[partner]
        distance *= 2
    assert all(blocks == set(range(n)) for blocks in own)
    return programs


def sweep3d(sides: list[int], size: int) -> Programs:
    """From one corner to the other."""
    n = prod(sides)
    programs: Programs = [[] for _ in range(n)]
    for task in range(n):
        place = coordinates(tuple(sides), task)
        for d in range(3):
            if place[d] > 0:
                programs[task].append(
                    ("receive", number(tuple(sides), tuple([c - (e == d) for e, c in enumerate(place)])), 0)
                )
        for d in range(3):
            if place[d] + 1 < sides[d]:
                programs[task].append(
                    ("send", number(tuple(sides), tuple([c + (e == d) for e, c in enumerate(place)])), size, 0)
                )
    return programs


def flood(sides: list[int], size: int, waves: int) -> Programs:
    """Wave after wave by the breadth-first search itself."""
    n = prod(sides)

    def around(task: int) -> set[int]:
        place = coordinates(tuple(sides), task)
        found = set()
        for d, move in product(range(3), (1, -1)):
            found.add(
                number(tuple(sides), tuple([(c + move) % sides[e] if e == d else c for e, c in enumerate(place)]))
            )
        return found - {task}

    level = {0: 0}
    queue = deque([0])
    while queue:
        task = queue.popleft()
        for other in around(task):
            if other not in level:
                level[other] = level[task] + 1
                queue.append(other)
    programs: Programs = [[] for _ in range(n)]
    for wave in range(waves):
        for task in range(n):
            programs[task] += [("receive", o, wave) for o in around(task) if level[o] == level[task] - 1]
            programs[task] += [("send", o, size, wave) for o in around(task) if level[o] == level[task] + 1]
    return programs


def nearneighbors(sides: list[int], size: int) -> Programs:
    """Six neighbours, each direction a message of its own even if two lead to one task."""
    n = prod(sides)
    programs: Programs = [[] for _ in range(n)]
    for task in range(n):
        place = coordinates(tuple(sides), task)
        for d, move in product(range(3), (1, -1)):
            other = number(tuple(sides), tuple([(c + move) % sides[e] if e == d else c for e, c in enumerate(place)]))
            if other != task:
                programs[task].append(("send", other, size, (d, move)))
    for task in range(n):
        place = coordinates(tuple(sides), task)
        for d, move in product(range(3), (1, -1)):
            other = number(tuple(sides), tuple([(c - move) % sides[e] if e == d else c for e, c in enumerate(place)]))
            if other != task:
                programs[task].append(("receive", other, (d, move)))
    return programs


def nbodies(n: int, size: int) -> Programs:
    """Chains: task i sends its own, then passes on those of i-1, i-2, … as far as they go."""
    programs: Programs = [[] for _ in range(n)]
    hops = n // 2
    for i in range(n):
        programs[i].append(("send", (i + 1) % n, size, i))
        for back in range(1, hops + 1):
            chain = (i - back) % n
            programs[i].append(("receive", (i - 1) % n, chain))
            if back < hops:
                programs[i].append(("send", (i + 1) % n, size, chain))
    return programs


def nbodies_inrflow(n: int, size: int) -> Programs:
    """Blocks go 1, 2, 4, … places on."""
    programs: Programs = [[] for _ in range(n)]
    for i in range(n):
        step = 1
        while step < n:
            blocks = min(step, n - step)
            programs[i] += [("send", (i + step) % n, blocks * size, step), ("receive", (i - step) % n, step)]
            step *= 2
    return programs


def pairwise(n: int, size: int) -> Programs:
    """All to all, one partner a step."""
    return [
        [op for step in range(1, n) for op in (("send", (i + step) % n, size, step), ("receive", (i - step) % n, step))]
        for i in range(n)
    ]


def bruck(n: int, size: int) -> Programs:
    """All to all: the blocks themselves travel, and all arrive where they belong."""
    programs: Programs = [[] for _ in range(n)]
    held = [[(i, j) for j in range(n)] for i in range(n)]
    step = 1
    while step < n:
        moved = []
        for i in range(n):
            go = [(s, t) for s, t in held[i] if ((t - s) % n) & step]
            moved.append(go)
            programs[i] += [("send", (i + step) % n, len(go) * size, step), ("receive", (i - step) % n, step)]
        for i in range(n):
            held[i] = [b for b in held[i] if b not in moved[i]] + moved[(i - step) % n]
        step *= 2
    for i in range(n):
        assert sorted(held[i]) == [(s, i) for s in range(n)]
    return programs


def broadcast(n: int, size: int) -> Programs:
    """Down a binomial tree: a task's parent is itself without its lowest bit."""
    programs: Programs = [[] for _ in range(n)]
    for i in range(n):
        low = i & -i if i else 1 << (n - 1).bit_length()
        if i:
            programs[i].append(("receive", i - low, 0))
        child = low // 2
        while child:
            if i + child < n:
                programs[i].append(("send", i + child, size, 0))
            child //= 2
    return programs


def messages(programs: Programs) -> dict[tuple[int, int], list[int]]:
    """Return the sizes of all messages from one task to another, in ascending order."""
    found: dict[tuple[int, int], list[int]] = defaultdict(list)
    for task, program in enumerate(programs):
        for op in program:
            if op[0] == "send":
                found[task, op[1]].append(op[2])
    return {pair: sorted(sizes) for pair, sizes in found.items()}


def depths(programs: Programs) -> dict[tuple[int, int], list[int]]:
    """Return how many messages must have arrived, one after the other, before each one between two tasks is sent."""
    sent: dict[tuple[int, int, Any], int] = {}
    at_op = [0] * len(programs)
    depth = [0] * len(programs)
    moved = True
    while moved:
        moved = False
        for task, program in enumerate(programs):
            while at_op[task] < len(program):
                op = program[at_op[task]]
                if op[0] == "send":
                    sent[task, op[1], op[-1]] = depth[task]
                elif op[0] == "receive":
                    key = (op[1], task, op[2])
                    if key not in sent:
                        break
                    depth[task] = max(depth[task], sent[key] + 1)
                at_op[task] += 1
                moved = True
    assert all(place == len(program) for place, program in zip(at_op, programs, strict=True)), "it hangs"
    found: dict[tuple[int, int], list[int]] = defaultdict(list)
    for (source, target, _), value in sent.items():
        found[source, target].append(value)
    return {pair: sorted(values) for pair, values in found.items()}


def programs_of(application: Any) -> Programs:
    """Return what an application of the product does, in this module's words."""
    table = application.messages()
    programs: Programs = []
    for task in range(application.tasks):
        program: list[Step] = []
        for what, value in application.program(task):
            if what == "send":
                message = table[value]
                assert message["source"] == task
                program.append(("send", int(message["target"]), int(message["bytes"]), value))
            elif what == "receive":
                message = table[value]
                assert message["target"] == task
                program.append(("receive", int(message["source"]), value))
            else:
                program.append(("compute", value))
        programs.append(program)
    return programs


def ideal(programs: Programs, rate: float, send: float, receive: float) -> float:
    """The lower bound of the makespan, from its definition: `rate` a message alone, `send` and `receive` a terminal.

    The start of every operation is found by going through all programs again and again until nothing changes.
    """
    sent: dict[Any, float] = {}
    sizes = {op[3]: op[2] for program in programs for op in program if op[0] == "send"}
    before, ends = None, [0.0]
    while before != sent:
        before = dict(sent)
        ends = [_end(program, sent, sizes, rate, receive) for program in programs]
    for program in programs:
        for kind, place, limit in (("send", 3, send), ("receive", 2, receive)):
            own = [op[place] for op in program if op[0] == kind]
            ends += [min(map(sent.get, own)) + sum(map(sizes.get, own)) / limit] if own else []
    return max(ends)


def _end(program: list[Step], sent: dict[Any, float], sizes: dict[Any, int], rate: float, receive: float) -> float:
    """Return when a task is done as far as it is known when messages are sent; update those of its own."""
    time, waited = 0.0, []
    for op in [*program, ("end",)]:
        if op[0] == "receive":
            waited.append((sent.get(op[2], 0.0), sizes[op[2]]))
            continue
        if waited:
            arrived = max(start + size / rate for start, size in waited)
            through = min(start for start, _ in waited) + sum(size for _, size in waited) / receive
            time, waited = max(time, arrived, through), []
        if op[0] == "send":
            sent[op[3]] = time
        elif op[0] == "compute":
            time += op[1]
    return time
