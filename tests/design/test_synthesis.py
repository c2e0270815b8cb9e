"""Searches for symmetric networks: what they report, against graphs written a second time, and all tori of a size."""

from collections import defaultdict

import networkx as nx
import pytest

import topoloom
from harness.engine import proof_of
from oracles import graphs
from topoloom import network, synthesise


def average_distance(graph: graphs.Graph) -> float:
    return nx.average_shortest_path_length(nx.Graph(graph.networkx()))


def largest_load(graph: graphs.Graph) -> float:
    """Flits over the busiest channel if each router sends one to any router or itself, by any minimal next link."""
    linked = nx.Graph(graph.networkx())
    loads: dict[tuple[int, int], float] = defaultdict(float)
    for to in linked:
        distance = nx.single_source_shortest_path_length(linked, to)
        flits = dict.fromkeys(linked, 1 / graph.routers)
        for at in sorted(linked, key=distance.__getitem__, reverse=True):
            closer = [(place, peer) for place, (peer, _) in enumerate(graph.links[at]) if distance[peer] < distance[at]]
            for place, peer in closer:
                loads[at, place] += flits[at] / len(closer)
                flits[peer] += flits[at] / len(closer)
    return max(loads.values())


@pytest.mark.parametrize(
    ("routers", "degree", "minimise", "group"),
    [(21, 4, "load", None), (64, 6, "distance", "4x4x4"), (48, 5, "load", None), (16, 4, "distance", "16")],
)
def test_what_is_reported_is_so(routers, degree, minimise, group):
    found = synthesise(routers, degree, minimise=minimise, group=group, graphs=1)
    assert found.least_torus_distance >= found.least_average_distance
    for told in (found.best, found.torus):
        graph = graphs.build(told.spec)
        assert graph.routers == routers
        assert max(len(links) for links in graph.links) <= degree
        assert told.average_distance == pytest.approx(average_distance(graph))
        assert told.max_channel_load == pytest.approx(largest_load(graph))
        assert told.diameter == nx.diameter(nx.Graph(graph.networkx()))
        assert told.uniform_bound == pytest.approx(min(1, 1 / told.max_channel_load))
        assert told.average_distance >= found.least_average_distance
    assert {len(links) for links in graphs.build(found.best.spec).links} == {degree}
    assert found.torus.average_distance >= found.least_torus_distance
    assert found.torus.uniform_bound <= found.most_torus_bound


def tori(routers):
    """All tori of two dimensions whose first shifts the second: every twist has that form."""
    for side in (side for side in range(1, routers + 1) if routers % side == 0):
        for offset in range(routers // side):
            yield graphs.twisted_torus((side, routers // side), [(0, offset), (0, 0)])


def test_no_torus_is_better_than_the_one_that_is_found():
    found = synthesise(24, 4, minimise="distance", graphs=1)
    least = min(average_distance(graph) for graph in tori(24) if all(len(links) == 4 for links in graph.links))
    assert found.torus.average_distance == pytest.approx(least)
    # A ball of radius 3 in the plane has 4, 8 and 12 points around its centre.
    assert found.least_torus_distance == pytest.approx((4 + 16 + 11 * 3) / 23)


def test_a_seed_and_a_number_of_graphs_give_one_result():
    once, again, other = (synthesise(60, 4, seed=seed, graphs=2000) for seed in (3, 3, 4))
    assert once == again
    assert other != once


def test_four_classes_of_vcs_carry_more_than_any_torus():
    """256 routers of degree 6 and two terminals: 1.25 times the bound of any torus, by exact loads of the routing."""
    found = synthesise(256, 6, graphs=1)
    made, torus = (network(f"{told.spec},p=2") for told in (found.best, found.torus))
    bound = made.bound("min-updown")
    assert bound["max_channel_load"] == pytest.approx(2 * found.best.max_channel_load)
    assert proof_of(made.spec, "min-updown")["vcs_needed"] <= 4
    assert bound["saturation_bound"] >= 1.25 * torus.bound("min")["saturation_bound"]
    # No torus has shorter distances; each of its six links carries a sixth of the hops at least.
    assert bound["saturation_bound"] >= 1.25 * 6 / (2 * found.least_torus_distance * 255 / 256)


def test_cases_without_a_graph_are_sentences():
    mistakes = {
        (3, 3): "routers is 3; it must be at least 4",
        (64, 2): "degree is 2; it must be from 3 to 63",
        (63, 5): "an odd number, it must be even",
        (13, 4): "no Cayley graph of 13 routers of degree 4 was found",
    }
    for (routers, degree), sentence in mistakes.items():
        with pytest.raises(topoloom.TopoloomError, match=sentence):
            synthesise(routers, degree, graphs=1)
    for group, sentence in {"8x4": "it has 32 elements", "8x8,turn=2": "does not lead back", "8y8": "size"}.items():
        with pytest.raises(topoloom.TopoloomError, match=sentence):
            synthesise(64, 4, group=group, graphs=1)
    with pytest.raises(topoloom.TopoloomError, match="seconds is 0"):
        synthesise(64, 4, seconds=0)


def test_the_command_prints_what_is_found(topoloom):
    asked = ["synthesise", "--routers", "21", "--degree", "4", "--graphs", "1"]
    found = topoloom(*asked, "--json").json()
    assert found["best"]["spec"].startswith("cayley:7x3,turn=")
    printed = topoloom(*asked).out
    for told in (found["best"], found["torus"]):
        assert told["spec"] in printed
    assert f"{found['least_torus_distance']:.4f}" in printed
