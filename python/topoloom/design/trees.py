"""Shapes of trees, whose terminals are on their leaves."""

from collections.abc import Iterator, Sequence
from itertools import product
from math import ceil

from topoloom.design.racks import Packing, Spread
from topoloom.design.shape import Requirements, Shape


def fattrees(wanted: Requirements) -> Iterator[Shape]:
    """Yield k-ary n-trees.

    As many links as terminals leave each half of the leaves, and no fewer: the trees are rearrangeable.

    Args:
        wanted: What is searched for.

    >>> [shape.spec for shape in fattrees(Requirements(16, 16, 8))][:2]
    ['fattree:k=2,levels=2', 'fattree:k=3,levels=2']
    """
    for levels in range(2, 6):
        for k in range(2, wanted.radix // 2 + 1):
            if k**levels > wanted.high:
                break
            width = k ** (levels - 1)
            packing = _tree(k * width, levels, k, k, (levels - 2) * width)
            yield Shape(
                f"fattree:k={k},levels={levels}", levels * width, width, k, (levels - 1) * k * width,
                float(k * (width // 2)), "exact", 2 * (levels - 1), packing, p=k,
            )  # fmt: skip


def clos(wanted: Requirements) -> Iterator[Shape]:
    """Yield fat trees of routers with equally many ports.

    Args:
        wanted: What is searched for.

    >>> [shape.spec for shape in clos(Requirements(16, 16, 8))]
    ['clos:radix=4,levels=2', 'clos:radix=4,levels=3']
    """
    for levels in range(2, 6):
        for half in range(2, wanted.radix // 2 + 1):
            total = 2 * half**levels
            if total > wanted.high:
                break
            leaves = 2 * half ** (levels - 1)
            routers = (2 * levels - 1) * half ** (levels - 1)
            pod = half if levels > 2 else 2 * half  # noqa: PLR2004 - two levels are one pod
            packing = _tree(total, levels, pod, half, routers - leaves - leaves * half // pod)
            yield Shape(
                f"clos:radix={2 * half},levels={levels}", routers, leaves, half, (levels - 1) * total, total / 2,
                "exact", 2 * (levels - 1), packing, p=half,
            )  # fmt: skip


TAPERS = (1.0, 1.5, 2.0, 3.0, 4.0)
"""The largest factors by which trees as they are bought have fewer links up than down."""


def xgfts(wanted: Requirements) -> Iterator[Shape]:
    """Yield trees as they are bought, whose ports are filled.

    They have any number of pods, are tapered or not, and have trunks to the top.

    Args:
        wanted: What is searched for.

    >>> [shape.spec for shape in xgfts(Requirements(12, 12, 4))][:1]
    ['xgft:down=3x4,up=1']
    """
    found = {shape.spec: shape for shape in (*_two_levels(wanted), *_three_levels(wanted))}
    yield from found.values()


def _two_levels(wanted: Requirements) -> Iterator[Shape]:
    """Up to as many leaves as a router above them has ports."""
    radix = wanted.radix
    for p in range(1, radix):
        for leaves in range(max(2, -(-wanted.low // p)), min(wanted.high // p, radix) + 1):
            for up in sorted({ceil(p / taper) for taper in TAPERS}):
                trunk = min(radix // leaves, up)
                tops = min(-(-up // trunk), (radix - p) // trunk)
                same = trunk == 1 and tops == p and leaves in (p, 2 * p)
                if tops == 0 or same:
                    continue
                links = leaves * tops * trunk
                yield Shape(
                    _xgft((p, leaves), (tops,), (trunk,)), leaves + tops, leaves,
                    max(p + tops * trunk, leaves * trunk) - p, links, float(leaves // 2 * tops * trunk), "exact", 2,
                    _tree(links, 2, leaves, tops, 0), p=p,
                )  # fmt: skip


def _three_levels(wanted: Requirements) -> Iterator[Shape]:
    """Pods of leaves that fill their ports, a router above them for each link of a leaf, and routers above the pods."""
    radix = wanted.radix
    for taper in TAPERS:
        # The most terminals that leave a leaf its links up; down to half of it.
        most = max((p for p in range(1, radix) if p + ceil(p / taper) <= radix), default=0)
        for p, leaves in product(range(max(1, most // 2), most + 1), range(2, radix)):
            pods = range(max(2, -(-wanted.low // (p * leaves))), min(wanted.high // (p * leaves), radix) + 1)
            ups = {ceil(leaves / upper) for upper in TAPERS} if pods else ()
            for above, up in product(pods, sorted(ups)):
                yield from _pods(radix, (p, leaves, above), ceil(p / taper), up)


def _pods(radix: int, down: tuple[int, int, int], middle: int, up: int) -> Iterator[Shape]:
    """The tree of pods with `middle` routers above the leaves, each with about `up` links to the top."""
    p, leaves, pods = down
    trunk = min(radix // pods, up)
    each = min(-(-up // trunk), (radix - leaves) // trunk)
    same = trunk == 1 and p == middle == leaves == each and pods in (p, 2 * p)
    if each == 0 or same:
        return
    lower, upper = pods * leaves * middle, pods * middle * each * trunk
    # Pods apart, one of them divided if their number is odd; or every pod divided.
    odd = middle * (leaves // 2) if pods % 2 else 0
    cut = min(middle * each * trunk * (pods // 2) + odd, middle * (pods * leaves // 2))
    tops = middle * each
    spreads = (Spread(lower, leaves + middle), Spread(upper, 0))
    packing = Packing(spreads, leaves + middle, leaves, tops)
    ports = max(p + middle, leaves + each * trunk, pods * trunk)
    yield Shape(
        _xgft(down, (middle, each), (1, trunk)), pods * (leaves + middle) + tops, pods * leaves, ports - p,
        lower + upper, float(cut), "upper-bound", 4, packing, p=p,
    )  # fmt: skip


def _xgft(down: Sequence[int], up: Sequence[int], trunk: Sequence[int]) -> str:
    """Return the spec of a tree."""
    given = {"down": down, "up": up} | ({"trunk": trunk} if max(trunk) > 1 else {})
    return "xgft:" + ",".join(f"{key}={'x'.join(map(str, sides))}" for key, sides in given.items())


def _tree(links: int, levels: int, leaves: int, above: int, hubs: int) -> Packing:
    """Return how a tree is packed: pods of leaves and the routers above them, then hubs, with the links per level."""
    # Every level but the lowest joins routers that stand amid the pods, to pods or to each other.
    upper = (Spread((levels - 2) * links, 0),) if hubs else ()
    return Packing((Spread(links, leaves + above), *upper), leaves + above, leaves, hubs)


def myriclos(wanted: Requirements) -> Iterator[Shape]:
    """Yield the Clos networks of Myrinet, of two, three and four tiers of routers with 16 ports.

    Args:
        wanted: What is searched for.

    >>> [(shape.spec, shape.routers, shape.diameter) for shape in myriclos(Requirements(128, 256, 16))]
    [('myriclos:128', 24, 2), ('myriclos:256', 80, 4)]
    """
    half = 8
    for total in (1 << bits for bits in range(5, 14)):
        leaves = total // half
        if 2 * half > wanted.radix or not wanted.terminals(leaves, half, half):
            continue
        # Of one enclosure; with spine routers; with spine enclosures of 24 for each 128 terminals.
        tiers = 2 if total <= 128 else 3 if total <= 1024 else 4  # noqa: PLR2004 - the sizes of Myrinet's enclosures
        above = {2: total // 16, 3: leaves + total // 16, 4: leaves + total // 128 * 24}[tiers]
        links = (tiers - 1) * total
        packing = _tree(total, 2, leaves, above, 0)
        if tiers > 2:  # noqa: PLR2004 - two tiers are one enclosure
            packing = _tree(total, tiers, half, half, above - leaves)
        yield Shape(
            f"myriclos:{total}", leaves + above, leaves, half, links, total / 2, "upper-bound", 2 * (tiers - 1),
            packing, p=half,
        )  # fmt: skip


TRUNKS = (1, 2, 3, 4, 6, 8)
"""Links between a leaf and a switch of its rack."""

MOST_UPPER = 8
"""Switches above the leaves of a rack, at most."""


def rack_trees(wanted: Requirements) -> Iterator[Shape]:
    """Yield racks of leaves under switches of their own, joined by director switches that meet all of these.

    Leaves have at most 1, 1.5, 2, 3 or 4 times fewer links up than down; ports up of the switches are filled.

    Args:
        wanted: What is searched for.

    >>> next(shape.spec for shape in rack_trees(Requirements(64, 64, 16)) if shape.p == 4 and "leaf=4" in shape.spec)
    'rack-tree:racks=4,leaf=4,upper=1,trunk=1,top=1,links=4'
    """
    radix = wanted.radix
    for upper, trunk in product(range(1, MOST_UPPER + 1), TRUNKS):
        up = upper * trunk
        for p in sorted({min(int(up * taper), radix - up) for taper in TAPERS}):
            for leaf in range(2, (radix - 1) // trunk + 1) if p > 0 else ():
                ends = range(max(2, -(-wanted.low // (leaf * p))), wanted.high // (leaf * p) + 1)
                for racks in range(ends.start, min(ends.stop, radix // upper + 1)):
                    yield _rack_tree(radix, (racks, leaf, p), upper, trunk)


def _rack_tree(radix: int, down: tuple[int, int, int], upper: int, trunk: int) -> Shape:
    """The tree whose director switches are as few as fill the ports up of the switches in the racks."""
    racks, leaf, p = down
    free, uppers = radix - leaf * trunk, racks * upper
    links = min(radix // uppers, free)
    top = min(free // links, -(-leaf * trunk // links))
    within, above = racks * leaf * upper * trunk, uppers * top * links
    # Racks apart, one of them divided if their number is odd; or half of the leaves without their links up.
    odd = leaf // 2 * upper * trunk if racks % 2 else 0
    cut = min(racks // 2 * upper * top * links + odd, racks * leaf // 2 * upper * trunk)
    rack = leaf + upper
    packing = Packing((Spread(within, rack), Spread(above, 0)), rack, leaf, top)
    ports = max(p + upper * trunk, leaf * trunk + top * links, uppers * links)
    return Shape(
        f"rack-tree:racks={racks},leaf={leaf},upper={upper},trunk={trunk},top={top},links={links}",
        racks * rack + top, racks * leaf, ports - p, within + above, float(cut), "upper-bound", 4, packing, p=p,
    )  # fmt: skip
