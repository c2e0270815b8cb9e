"""How short ways can become if the links between each pair of cabinets stay: a lower bound by linear programming.

Cabinets stand as a grid that wraps round, or as a folded hypercube, of which each has `size` routers of `degree`
links; as many links as routers lead to each neighbour. Whatever is exchanged, a router has n links to other cabinets,
so many in each direction, and degree - n in its own; only the mean of n is given. A pair of routers is *short* if its
distance is that of its cabinets. Short pairs are no more than the walks that go nearer at each hop:

- two links of one router, in different directions, make such a walk of two hops;
- the links that go on at both ends of a link make such walks of three;
- a router reaches first who is nearer in a direction that it has a link in.

The program chooses what share of routers is of each kind, and which kinds links join, so that most pairs are short.
Pairs in one cabinet, or in neighbouring ones, that are neither linked nor a hop off a link, are two hops too long.
"""

from collections import Counter, defaultdict
from itertools import combinations, product

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_array


def partitions(total, parts, most):
    """Yield the ways to write a number as a sum of so many numbers at most, none above `most`, in descending order."""
    if total == 0:
        yield ()
    elif parts:
        for first in range(min(total, most), 0, -1):
            yield from ((first, *rest) for rest in partitions(total - first, parts - 1, first))


def displacements(sides, folded):
    """Return for each cabinet its distance from the first one, and the directions that lead nearer to it."""
    found = []
    for place in product(*map(range, sides)):
        if folded:
            ones = sum(place)
            distance = min(ones, 1 + len(sides) - ones)
            nearer = {i for i, digit in enumerate(place) if digit == (ones == distance)}
            if ones == 1 + len(sides) - ones:
                nearer = set(range(len(sides)))
            if 1 + len(sides) - ones == distance:
                nearer.add(-1)
        else:
            distance = sum(min(digit, side - digit) for digit, side in zip(place, sides, strict=True))
            nearer = {
                (i, 1) for i, (digit, side) in enumerate(zip(place, sides, strict=True)) if 0 < digit <= side - digit
            }
            nearer |= {
                (i, 1 if side == 2 else -1)
                for i, (digit, side) in enumerate(zip(place, sides, strict=True))
                if 0 < side - digit <= digit
            }
        found.append((distance, frozenset(nearer)))
    return found


class Program:
    """A linear program whose variables have names; all are 0 or more."""

    def __init__(self):
        self.names = {}
        self.rows = {"at most": [], "equal": []}

    def add(self, kind, terms, right):
        """Add a row: the sum of terms (coefficient, name) is at most, or equal to, the right side."""
        row = defaultdict(float)
        for factor, name in terms:
            row[self.names.setdefault(name, len(self.names))] += factor
        self.rows[kind].append((row, right))

    def maximum(self, terms):
        """Return the largest value of a sum of terms."""
        cost = np.zeros(len(self.names))
        for factor, name in terms:
            cost[self.names[name]] -= factor
        parts = []
        for kind in ("at most", "equal"):
            entries = [(i, j, v) for i, (row, _) in enumerate(self.rows[kind]) for j, v in row.items()]
            i, j, v = zip(*entries, strict=True)
            parts += [coo_array((v, (i, j)), shape=(len(self.rows[kind]), len(cost))), [r for _, r in self.rows[kind]]]
        solved = linprog(cost, parts[0], parts[1], parts[2], parts[3], bounds=(0, None), method="highs")
        assert solved.status == 0, solved.message
        return -solved.fun


def joined(a, b):
    """Return the name of the links between two kinds of ends."""
    return ("joined", min(a, b), max(a, b))


def spread_links(program, kinds, directions):
    """Add what links there are: a share of routers of each kind, joined end by end. Return the kinds of ends.

    A kind of router is its links to other cabinets by direction; a kind of end, all links of its router, and how many
    of them go on in another direction.
    """
    ends = sorted({(sum(kind), sum(kind) - links) for kind in kinds for links in kind})
    program.add("equal", [(1, kind) for kind in kinds], 1)
    program.add("equal", [(sum(kind), kind) for kind in kinds], directions)
    for end in ends:
        own = [(-sum(x for x in kind if sum(kind) - x == end[1]), kind) for kind in kinds if sum(kind) == end[0]]
        program.add("equal", [(1, joined(end, other)) for other in ends] + own, 0)
    return ends


def limit_sources(program, kinds, ends, degree, most):
    """Add what routers of n links reach at most; `most[hop, k]` are near enough in k directions."""
    hops = {hop for hop, _ in most}
    for n in range(degree + 1):
        own = [kind for kind in kinds if sum(kind) == n]
        for hop in hops:
            program.add("at most", [(1, ("short", hop, n))] + [(-most[hop, len(kind)], kind) for kind in own], 0)
        program.add("at most", [(1, ("short", 1, n))] + [(-n, kind) for kind in own], 0)
        for hop in hops & {2, 3, 4, 5}:
            on = [(-b[1] * (degree - 1) ** (hop - 2), joined(a, b)) for a in ends if a[0] == n for b in ends]
            program.add("at most", [(1, ("short", hop, n)), *on], 0)


def limit_walks(program, kinds, ends, degree, short):
    """Add how many walks there are over the links of one router, and over the links at both ends of a link."""
    if 2 in short:
        two = [(-(sum(kind) ** 2 - sum(x * x for x in kind)), kind) for kind in kinds]
        program.add("at most", short[2] + two, 0)
    for hop in short.keys() & {3, 4, 5}:
        on = [(-a[1] * b[1] * (degree - 1) ** (hop - 3), joined(a, b)) for a in ends for b in ends]
        program.add("at most", short[hop] + on, 0)


def least_distance(sides, degree, *, folded=False, size=16):
    """Return the mean cabinet distance of two routers, and a bound that their mean distance cannot be below."""
    cabinets = displacements(sides, folded)
    directions = sorted(set().union(*(nearer for _, nearer in cabinets)), key=str)
    there = Counter({0: -1})
    for distance, _ in cabinets:
        there[distance] += size
    hops = range(1, max(there) + 1)
    most = {
        (hop, k): size * max(
            sum(1 for distance, nearer in cabinets if distance == hop and nearer & set(chosen))
            for chosen in combinations(directions, k)
        )
        for hop in hops for k in range(min(degree, len(directions)) + 1)
    }  # fmt: skip
    kinds = [kind for n in range(degree + 1) for kind in partitions(n, len(directions), degree)]
    short = {hop: [(1, ("short", hop, n)) for n in range(degree + 1)] for hop in hops}
    program = Program()
    ends = spread_links(program, kinds, len(directions))
    limit_sources(program, kinds, ends, degree, most)
    limit_walks(program, kinds, ends, degree, short)
    program.add("at most", [(1, "inside")] + [(-min(degree - sum(kind), size - 1), kind) for kind in kinds], 0)
    program.add("at most", [(1, "beside")] + [(-2 * sum(kind) * (degree - sum(kind)), kind) for kind in kinds], 0)
    program.add("at most", [(1, "beside"), *short[1]], there[1])
    saved = [(1, "inside"), (1, "beside")] + [(1 + (hop == 1), name) for hop in hops for _, name in short[hop]]
    longer = 2 * there[0] + 2 * there[1] + sum(there[hop] for hop in hops if hop > 1) - program.maximum(saved)
    others = size * len(cabinets) - 1
    mean = sum(distance * routers for distance, routers in there.items()) / others
    return mean, mean + longer / others
