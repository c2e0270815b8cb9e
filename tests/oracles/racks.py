"""The rule `rack`, slowly: racks are lists of things, places are written out, every cable is measured on its own."""

import math
from dataclasses import dataclass

ROUTER, NODE = "router", "node"


@dataclass(frozen=True)
class Rule:
    units: float = 42
    kw: float = 30
    router_units: float = 1
    node_units: float = 1
    router_kw: float = 0.25
    node_kw: float = 0.5
    max_routers: float = math.inf
    max_nodes: float = math.inf
    width: float = 0.6
    depth: float = 1.2
    aisles: tuple = (1.0, 1.2)
    overhead: float = 4
    inside: float = 1.5
    terminal: float = 1.5

    def fits(self, things):
        """Whether a rack can hold these things."""
        routers = sum(kind == ROUTER for kind, _ in things)
        nodes = len(things) - routers
        return (
            routers * self.router_units + nodes * self.node_units <= self.units + 1e-9
            and routers * self.router_kw + nodes * self.node_kw <= self.kw + 1e-9
            and routers <= self.max_routers
            and nodes <= self.max_nodes
        )


def block(router, nodes):
    """A router and its nodes, numbered within the router."""
    return [(ROUTER, router), *((NODE, (router, node)) for node in range(nodes))]


def put(rule, racks, router, nodes):
    """A router goes with its nodes into the last rack, else into an empty one, else its nodes run over."""
    things = block(router, nodes)
    whole = rule.fits(things)
    if not rule.fits(racks[-1] + (things if whole else things[:1])) and racks[-1]:
        racks.append([])
    for thing in things:
        if not rule.fits([*racks[-1], thing]):
            racks.append([])
        racks[-1].append(thing)


def by_groups(rule, nodes, group_of):
    """Groups that fit into a rack are not divided; groups without nodes come last. Returns racks and the first hub."""
    groups = {}
    for router in range(len(nodes)):
        groups.setdefault(group_of(router), []).append(router)
    racks, first_hub = [[]], None
    ordered = [groups[name] for name in sorted(groups)]
    for group in sorted(ordered, key=lambda group: not any(nodes[router] for router in group)):
        things = [thing for router in group for thing in block(router, nodes[router])]
        is_hub = not any(nodes[router] for router in group)
        starts_hubs = is_hub and first_hub is None
        apart = rule.fits(things) and not rule.fits(racks[-1] + things)
        if (starts_hubs or apart) and racks[-1]:
            racks.append([])
        if starts_hubs:
            first_hub = len(racks) - 1
        for router in group:
            put(rule, racks, router, nodes[router])
    return racks, first_hub


def by_growth(rule, nodes, edges):
    """Each rack takes the routers with the most links into it; ties go to links to all racks, then to the lower id."""
    links = [[0] * len(nodes) for _ in nodes]
    for a, b in edges:
        links[a][b] += 1
        links[b][a] += 1
    racks, left = [[]], set(range(len(nodes)))

    def best():
        here = [router for kind, router in racks[-1] if kind == ROUTER]
        gone = set(range(len(nodes))) - left
        rank = {r: (sum(links[r][h] for h in here), sum(links[r][g] for g in gone), -r) for r in left}
        return max(left, key=rank.__getitem__)

    while left:
        router = best()
        things = block(router, nodes[router])
        if rule.fits(things) and not rule.fits(racks[-1] + things):
            racks.append([])
            router = best()
        put(rule, racks, router, nodes[router])
        left.remove(router)
    return racks, None


def positions(rule, count, first_hub):
    """The place of each rack in metres: in rows to and fro, racks of hubs amid the others."""
    pitch = rule.depth + sum(rule.aisles) / 2
    rows = max(1, math.floor(math.sqrt(count * rule.width / pitch) + 0.5))
    columns = math.ceil(count / rows)
    hubs = [] if first_hub is None else list(range(first_hub, count))
    others = [rack for rack in range(count) if rack not in hubs]
    half = math.ceil(len(others) / 2)
    found = {}
    for place, rack in enumerate(others[:half] + hubs + others[half:]):
        row, column = divmod(place, columns)
        if row % 2:
            column = columns - 1 - column
        across = sum(rule.depth + rule.aisles[before % 2] for before in range(row))
        found[rack] = (column * rule.width, across)
    return found


class Floor:
    """Racks that are filled and stand on the floor."""

    def __init__(self, rule, nodes, edges, racks, first_hub):
        self.rule, self.racks = rule, racks
        self.place = positions(rule, len(racks), first_hub)
        self.rack_of = {thing: rack for rack, things in enumerate(racks) for thing in things}
        self.lengths = [self.length(self.rack_of[ROUTER, a], self.rack_of[ROUTER, b], rule.inside) for a, b in edges]
        self.terminals = [
            self.length(self.rack_of[ROUTER, router], self.rack_of[NODE, (router, node)], rule.terminal)
            for router, count in enumerate(nodes)
            for node in range(count)
        ]

    def length(self, a, b, inside):
        if a == b:
            return inside
        return sum(abs(p - q) for p, q in zip(self.place[a], self.place[b], strict=True)) + self.rule.overhead

    @property
    def total(self):
        return sum(self.lengths) + sum(self.terminals)


def shortest(rule, nodes, edges, groupings):
    """The floor of the order with the least cable: groupings, then ids, then growth; the first among equals."""
    orders = [by_groups(rule, nodes, group_of) for group_of in groupings]
    ids = [[]]
    for router, count in enumerate(nodes):
        put(rule, ids, router, count)
    orders += [(ids, None), by_growth(rule, nodes, edges)]
    floors = [Floor(rule, nodes, edges, racks, first_hub) for racks, first_hub in orders]
    best = floors[0]
    for other in floors[1:]:
        if other.total < best.total - 1e-6:
            best = other
    return best
