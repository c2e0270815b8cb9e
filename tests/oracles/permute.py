"""Swap-and-randomize, slowly: sets of edges, an exchange by the paper's words, distances by networkx."""

import random
from collections import Counter
from itertools import combinations

import networkx as nx


def simple(edges):
    """Return the graph of pairs of routers."""
    graph = nx.Graph()
    graph.add_edges_from(edges)
    return graph


def cabinet_pairs(edges, cabinet):
    """Return how many edges join each pair of cabinets, (i, i) within one."""
    return Counter(tuple(sorted((cabinet[a], cabinet[b]))) for a, b in edges)


def swap(graph, e, f):
    """v1-v2 and v3-v4 become v1-v4 and v3-v2, if all are distinct and neither is there already."""
    (v1, v2), (v3, v4) = e, f
    if len({v1, v2, v3, v4}) < 4 or graph.has_edge(v1, v4) or graph.has_edge(v3, v2):
        return
    graph.remove_edges_from([e, f])
    graph.add_edges_from([(v1, v4), (v3, v2)])


class Machine:
    """A graph in cabinets whose edges are swapped."""

    def __init__(self, edges, cabinet, rng, swappable):
        self.graph, self.cabinet, self.rng, self.swappable = simple(edges), cabinet, rng, swappable

    def between(self, i, j):
        """Return the edges with one end in cabinet i and the other in j."""
        return [(a, b) for a, b in self.graph.edges if sorted((self.cabinet[a], self.cabinet[b])) == sorted((i, j))]

    def draw(self, links):
        """Draw pairs until fewer than two are left; swap each, with v1 and v3 in one cabinet."""
        self.rng.shuffle(links)
        for e, f in zip(links[::2], links[1::2], strict=False):
            ways = [(p, q) for p in (e, e[::-1]) for q in (f, f[::-1]) if self.cabinet[p[0]] == self.cabinet[q[0]]]
            if ways and self.rng.random() < self.swappable:
                swap(self.graph, *self.rng.choice(ways))

    def shuffled(self, size):
        """Return all sets of so many cabinets, in random order."""
        sets = list(combinations(sorted(set(self.cabinet)), size))
        self.rng.shuffle(sets)
        return sets


def permute(edges, cabinet, method, rng, swappable=1.0):
    """Return the graph after one permutation."""
    machine = Machine(edges, cabinet, rng, swappable)
    if method != "one-step":
        for i in sorted(set(cabinet)):
            machine.draw(machine.between(i, i))
    for chosen in machine.shuffled(3 if method == "three-cab" else 2):
        links = [link for i, j in combinations(chosen, 2) for link in machine.between(i, j)]
        if method == "one-step":
            links += [link for i in chosen for link in machine.between(i, i)]
        machine.draw(links)
    return machine.graph


def average_distances(edges, cabinet, method, trials, swappable=1.0):
    """Return the mean distance of each of some permutations."""
    return [
        nx.average_shortest_path_length(permute(edges, cabinet, method, random.Random(seed), swappable))
        for seed in range(trials)
    ]


def cabinet_distance(edges, cabinet):
    """Return the mean distance of the cabinets of two distinct routers."""
    quotient = simple((cabinet[a], cabinet[b]) for a, b in edges)
    quotient.add_nodes_from(cabinet)
    far = dict(nx.all_pairs_shortest_path_length(quotient))
    n = len(cabinet)
    return sum(far[a][b] for a in cabinet for b in cabinet) / (n * (n - 1))


def busiest(edges, terminals):
    """Return the load of the busiest channel if each terminal sends a flit per cycle to all alike.

    Packets walk one by one, as probabilities: at each router a packet takes any link that leads nearer, all alike.
    """
    graph = nx.MultiGraph()
    graph.add_nodes_from(range(len(terminals)))
    graph.add_edges_from(edges)
    total, load = sum(terminals), Counter()

    def walk(at, distance, amount):
        nearer = [(at, to, key) for _, to, key in graph.edges(at, keys=True) if distance[to] == distance[at] - 1]
        for channel in nearer:
            load[channel] += amount / len(nearer)
            walk(channel[1], distance, amount / len(nearer))

    for target in graph:
        distance = nx.single_source_shortest_path_length(graph, target)
        for source in graph:
            walk(source, distance, terminals[source] * terminals[target] / total)
    return max(load.values())
