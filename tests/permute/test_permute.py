"""Permuted networks: what exchanges keep, against a slow re-implementation and against what the paper prints."""

import os
import re
import statistics
import subprocess
import sys
from collections import Counter

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import topoloom
from oracles import permute
from oracles.cabinets import least_distance


def pairs(network):
    return [(a, b) for a, _, b, _, _ in network.edges()]


def consecutive(network, size):
    return [router // size for router in range(network.num_routers)]


BASES = ["torus:6x6,p=2", "hypercube:5", "hyperx:4x3x2", "dragonfly:a=4,h=2,p=2", "ring:40,degree=4", "slimfly:q=5,p=2"]


@settings(max_examples=40, deadline=None, derandomize=True)
@given(
    st.sampled_from(BASES),
    st.sampled_from(["two-cab", "three-cab", "one-step"]),
    st.integers(1, 20),
    st.integers(0, 99),
)
def test_exchanges_keep_what_they_must(spec, method, size, seed):
    base = topoloom.network(spec)
    network = topoloom.network(f"permuted:{method}({spec}),cabinet={size},trials=3,seed={seed}")
    cabinet = consecutive(base, size)
    before, after = pairs(base), pairs(network)
    assert permute.cabinet_pairs(after, cabinet) == permute.cabinet_pairs(before, cabinet)
    assert network.num_terminals == base.num_terminals
    used = [
        {(router, port) for a, pa, b, pb, _ in n.edges() for router, port in ((a, pa), (b, pb))}
        for n in (base, network)
    ]
    assert used[0] == used[1], "every port that had a cable has one"
    assert max(Counter(map(frozenset, after)).values()) <= max(Counter(map(frozenset, before)).values())
    if method == "two-cab":
        links = [Counter((a, cabinet[b]) for e in edges for a, b in (e, e[::-1])) for edges in (before, after)]
        assert links[0] == links[1], "a router keeps its number of links to each cabinet"
    graph, facts = permute.simple(after), network.facts()
    assert nx.is_connected(graph)
    told = facts["permutation"]
    best = told["trials"][told["best_trial"]]
    assert facts["diameter"] == best["diameter"] == nx.diameter(graph)
    assert facts["average_distance"] == pytest.approx(nx.average_shortest_path_length(graph))
    assert best["average_distance"] == pytest.approx(facts["average_distance"])
    assert (best["diameter"], best["average_distance"]) == min(
        (trial["diameter"], trial["average_distance"]) for trial in told["trials"]
    )
    assert told["cabinet_distance"] == pytest.approx(permute.cabinet_distance(before, cabinet))
    assert told["base_average_distance"] == pytest.approx(base.facts()["average_distance"])
    ends = [{(a, pa, b, pb) for a, pa, b, pb, _ in n.edges()} for n in (base, network)]
    assert (told["moved_ends"] == 0) == (ends[0] == ends[1])


@pytest.mark.parametrize(
    ("spec", "method", "size", "swappable"),
    [
        ("torus:8x8", "two-cab", 8, 1.0),
        ("torus:8x8", "three-cab", 8, 1.0),
        ("hypercube:6", "two-cab", 8, 1.0),
        ("hypercube:6", "three-cab", 16, 1.0),
        ("hypercube:6", "one-step", 16, 1.0),
        ("torus:4x4x4", "two-cab", 16, 0.25),
    ],
)
def test_distances_are_those_of_a_slow_permutation(spec, method, size, swappable):
    base = topoloom.network(spec)
    trials = 40
    network = topoloom.network(f"permuted:{method}({spec}),cabinet={size},trials={trials},swappable={swappable}")
    found = [trial["average_distance"] for trial in network.facts()["permutation"]["trials"]]
    slow = permute.average_distances(pairs(base), consecutive(base, size), method, trials, swappable)
    error = (statistics.variance(found) / trials + statistics.variance(slow) / trials) ** 0.5
    assert statistics.mean(found) == pytest.approx(statistics.mean(slow), abs=4 * error)


PAPER = [
    # base, method, diameter, average distance: recomputed independently from the paper's words
    ("torus:64x64", "two-cab", 35, 18.513),
    ("torus:64x64", "three-cab", 43, 21.996),
    ("torus:4x4x4x8x8", "two-cab", 10, 5.391),
    ("torus:4x4x4x8x8", "three-cab", 10, 5.605),
    ("hypercube:12", "two-cab", 8, 4.371),
    ("folded-hypercube:12", "two-cab", 5, 3.798),
]


@pytest.mark.parametrize(("base", "method", "diameter", "distance"), PAPER)
def test_the_paper_s_networks_of_4096_switches(base, method, diameter, distance):
    facts = topoloom.network(f"permuted:{method}({base}),cabinet=16").core.facts()
    trials = [trial["average_distance"] for trial in facts["permutation"]["trials"]]
    assert facts["diameter"] == diameter
    assert facts["average_distance"] == pytest.approx(distance, rel=0.005)
    assert statistics.stdev(trials) / statistics.mean(trials) <= 0.01


def test_the_network_does_not_depend_on_threads():
    specs = ["permuted:three-cab(hypercube:8),cabinet=16,trials=7", "permuted:optimised(torus:8x8),cabinet=8,steps=200"]
    code = f"import topoloom; print([topoloom.network(spec).edges() for spec in {specs}])"
    told = [
        subprocess.run(
            [sys.executable, "-c", code], env=os.environ | {"RAYON_NUM_THREADS": n}, capture_output=True, check=True
        ).stdout
        for n in ("1", "3")
    ]
    assert told[0] == told[1]


@pytest.mark.parametrize(
    ("base", "alike"),
    # Each shift that maps links onto links takes a cabinet to another one. A mesh has borders.
    [("torus:8x8", 8), ("hypercube:6", 8), ("folded-hypercube:6", 8), ("torus:2x4x4x4", 16), ("mesh:8x8", 1)],
)
def test_chosen_exchanges_keep_cabinets_and_shorten_ways(base, alike):
    network = topoloom.network(f"permuted:optimised({base}),cabinet=8,trials=3,steps=400")
    told = network.facts()["permutation"]
    before, after = pairs(topoloom.network(base)), pairs(network)
    cabinet = consecutive(network, 8)
    assert permute.cabinet_pairs(after, cabinet) == permute.cabinet_pairs(before, cabinet)
    graph = permute.simple(after)
    assert told["average_distance"] == pytest.approx(nx.average_shortest_path_length(graph))
    assert told["diameter"] == nx.diameter(graph)
    assert told["cabinet_distance"] < told["average_distance"] < told["trials"][told["best_trial"]]["average_distance"]
    assert told["optimised"]["tried"] >= told["optimised"]["kept"] > 0
    assert told["optimised"]["alike"] == alike


@pytest.mark.parametrize(
    ("sides", "degree", "folded", "least"),
    [((4, 8, 8), 10, False, 5.166), ((2,) * 8, 12, False, 4.224), ((2,) * 8, 13, True, 3.572)],
)
def test_the_least_distances_that_the_documentation_tells(sides, degree, folded, least):
    assert least_distance(sides, degree, folded=folded)[1] == pytest.approx(least, abs=5e-4)


def test_no_search_goes_below_the_least_distance():
    network = topoloom.network("permuted:optimised(hypercube:7),cabinet=8,trials=3,steps=2000")
    mean, least = least_distance((2,) * 4, 7, size=8)
    told = network.facts()["permutation"]
    assert told["cabinet_distance"] == pytest.approx(mean)
    assert mean < least < told["average_distance"]


def test_chosen_exchanges_that_keep_length_alone_need_no_more_cable():
    floor, base = "width=0.6,depth=2.1,overhead=4,inside=2,terminal=none,place=anneal", "torus:8x8"
    rules = f"conserve=length,floor=({floor}),steps=1000"
    network = topoloom.network(f"permuted:optimised({base}),cabinet=8,trials=3,{rules}")
    cabinet = consecutive(network, 8)
    before, after = (permute.cabinet_pairs(pairs(n), cabinet) for n in (topoloom.network(base), network))
    assert before != after
    # The base's floor: cabinets stand where its cables are short.
    layout = topoloom.network(base).layout(f"cabinet=8,{floor}")
    place = {c["cabinet"]: (c["x_m"], c["y_m"]) for c in layout.floor()["cabinets"]}
    metres = [
        sum(n * (2 if i == j else 4 + sum(abs(a - b) for a, b in zip(place[i], place[j], strict=True)))
            for (i, j), n in count.items())
        for count in (before, after)
    ]  # fmt: skip
    assert network.facts()["permutation"]["optimised"]["cable_m"] == pytest.approx(metres)
    assert metres[0] == pytest.approx(layout.cost()["cable_m"])
    assert metres[1] <= metres[0] + 1e-6


def test_cables_of_terminals_move_if_they_stand_in_cabinets():
    base = topoloom.network("myriclos:256")
    network = topoloom.network("permuted:one-step(myriclos:256),nodes=128")
    told = network.facts()["permutation"]
    assert (told["cabinets"], network.num_terminals, network.num_routers) == (4, 256, 80)
    degree = [Counter(router for edge in pairs(n) for router in edge) for n in (base, network)]
    ports = [
        Counter({r: degree[k][r] + t for r, t in enumerate(n.core.terminals_by_router())})
        for k, n in enumerate((base, network))
    ]
    assert ports[0] == ports[1], "every port is in use still"
    assert network.core.terminals_by_router() != base.core.terminals_by_router()
    graph = permute.simple(pairs(network))
    for terminal, router in enumerate(r for r, n in enumerate(network.core.terminals_by_router()) for _ in range(n)):
        graph.add_edge(router, ("terminal", terminal))
    best = told["trials"][told["best_trial"]]
    assert nx.average_shortest_path_length(graph) == pytest.approx(best["average_distance"])
    assert nx.diameter(graph) == best["diameter"]


def test_cabinets_by_blocks_and_by_file(tmp_path):
    network = topoloom.network("permuted:two-cab(torus:8x8),cabinet=4x4")
    blocks = [router % 8 // 4 + 2 * (router // 8 // 4) for router in range(64)]
    before = pairs(topoloom.network("torus:8x8"))
    assert permute.cabinet_pairs(pairs(network), blocks) == permute.cabinet_pairs(before, blocks)
    path = tmp_path / "racks.csv"
    path.write_text("router,cabinet\n" + "".join(f"{router},rack{cabinet}\n" for router, cabinet in enumerate(blocks)))
    assert topoloom.network(f"permuted:two-cab(torus:8x8),cabinet={path}").edges() == network.edges()


def test_a_cabinet_that_is_not_full_is_said():
    notes = topoloom.network("permuted:two-cab(torus:6x6),cabinet=16").notes
    assert "16 routers per cabinet do not divide 36 routers: the last of 3 cabinets holds 4" in notes


def test_exchanges_that_would_disconnect_are_discarded_and_counted():
    # A ring and a path in one cabinet: of the two ways in which two cables exchange ends one cuts off a ring.
    for base in ("torus:30", "mesh:30"):
        network = topoloom.network(f"permuted:two-cab({base}),cabinet=30,trials=30")
        trials = network.facts()["permutation"]["trials"]
        drawn = [trial["exchanged"] + trial["refused"] + trial["disconnecting"] for trial in trials]
        assert drawn == [len(network.edges()) // 2] * 30
        assert statistics.mean(trial["disconnecting"] for trial in trials) == pytest.approx(6.5, abs=1.5)
        for seed in range(8):
            one = topoloom.network(f"permuted:two-cab({base}),cabinet=30,trials=1,seed={seed}")
            graph = permute.simple(pairs(one))
            assert nx.is_connected(graph)
            assert graph.number_of_nodes() == one.num_routers


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        (
            "permuted:two-cab(torus:16x16),cabinet=16",
            "between 16 cabinets .* the average distance fell from 8.031 to 5",
        ),
        ("permuted:two-cab(dragonfly:a=6,h=3),cabinet=9,trials=1", "the average distance rose from 2.579 to 2.6"),
        ("permuted:two-cab(torus:4x4),cabinet=16", "exchanges in 1 cabinet moved"),
        ("permuted:two-cab(torus:16x16)", "0 exchanges between 256 cabinets .* the average distance stayed at 8.031$"),
        (
            "permuted:two-cab(torus:16x16)",
            "every cabinet holds one router, so no cables can exchange ends: .*cabinet=16",
        ),
        ("permuted:two-cab(ring:16,degree=4)", "every cabinet holds one router"),
        (
            "permuted:optimised(mesh:12),cabinet=12,steps=1",
            "stayed at .* in the best of 20 trials, and stayed at .* by",
        ),
    ],
)
def test_notes_say_what_happened(spec, words):
    assert any(re.search(words, note) for note in topoloom.network(spec).notes)


def test_routers_that_stand_alone_exchange_ends_if_length_alone_is_kept():
    notes = topoloom.network("permuted:optimised(ring:16,degree=4),conserve=length,steps=9,trials=1").notes
    assert not any("no cables can exchange ends" in note for note in notes)


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("permuted:", "a method must stand first"),
        ("permuted:torus:4x4", "a method must stand first"),
        ("permuted:two-cab()", "a method must stand first"),
        ("permuted:two-cabs(torus:4x4)", "did you mean 'two-cab'?"),
        ("permuted:two-cab(tours:4x4)", "did you mean 'torus'?"),
        ("permuted:two-cab(torus:4x4", "a bracket is not closed"),
        ("permuted:two-cab(torus:4x4)),cabinet=4", "a bracket closes that none opens"),
        ("permuted:two-cab(torus:4x4),cabinet=0", "cabinet is 0; it must be a whole number from 1"),
        ("permuted:two-cab(ring:8,degree=2),cabinet=4x4", "no grid of as many dimensions"),
        ("permuted:two-cab(torus:4x4),cabinet=none.csv", "cannot read 'none.csv'"),
        ("permuted:two-cab(torus:4x4),swappable=2", "swappable is 2; it must be a number from 0 to 1"),
        ("permuted:two-cab(torus:4x4),trials=0", "trials is 0"),
        ("permuted:two-cab(torus:4x4),steps=9", "steps is for optimised only"),
        ("permuted:optimised(torus:4x4),floor=(own)", "floor is for conserve=length only"),
        ("permuted:optimised(torus:4x4),conserve=metres", "there are: cabinets, length"),
        ("permuted:optimised(torus:4x4),conserve=length,floor=own", "write it in brackets"),
        ("permuted:optimised(torus:4x4),conserve=length,floor=(cabinet=4,depth=2)", "floor has cabinet, but gives"),
        ("permuted:optimised(torus:4x4),conserve=length,floor=(permutation,nodes=4)", "floor has nodes, but gives"),
        ("permuted:optimised(torus:4x4),conserve=length,floor=(own)", "floor has own, but gives only the positions"),
        ("permuted:optimised(torus:4x4),conserve=length,floor=(width=-1)", "layout: width is -1"),
        ("permuted:optimised(torus:4x4),conserve=length,nodes=4", "conserve=length does not go with nodes"),
        ("permuted:optimised(torus:4x4),steps=0", "steps is 0"),
        ("permuted:two-cab(torus:4x4),cabinets=4", "did you mean 'cabinet'?"),
        ("permuted:two-cab(flex:2x2x4)", "is disconnected"),
    ],
)
def test_mistakes_are_sentences(topoloom, spec, words):
    outcome = topoloom("show", spec)
    assert (outcome.status, outcome.out, outcome.err.count("\n")) == (2, "", 1)
    assert words in outcome.err
    assert outcome.err.count(f"{spec}: ") <= 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("0,a\n1\n", "line 2: a router and its cabinet must stand here"),
        ("0,a\n9,a\n", "line 2: mesh:4 has no router '9'"),
        ("0,a\n0,b\n", "line 2: router '0' has a cabinet already"),
        ("0,a\n1,a\n2,b\n", "router 3 of mesh:4 is in no cabinet"),
    ],
)
def test_mistakes_in_a_table_of_cabinets(tmp_path, text, words):
    path = tmp_path / "racks.csv"
    path.write_text(text)
    with pytest.raises(topoloom.TopoloomError, match=words):
        topoloom.network(f"permuted:two-cab(mesh:4),cabinet={path}")


def uniform_bound(network):
    return 1 / max(1, permute.busiest(pairs(network), network.core.terminals_by_router()))


def test_an_optimised_network_keeps_bandwidth_when_it_is_told_to():
    base = topoloom.network("mesh:5x5")
    spec = "permuted:optimised(mesh:5x5),cabinet=5,steps=400,seed=3"
    free, kept = topoloom.network(spec), topoloom.network(f"{spec},keep=bandwidth")
    assert uniform_bound(free) < uniform_bound(base), "without being told it does not"
    assert uniform_bound(kept) >= uniform_bound(base) - 1e-9
    assert kept.facts()["bisection_links"] >= base.facts()["bisection_links"]
    assert kept.facts()["average_distance"] < base.facts()["average_distance"]
    assert kept.less_bandwidth == []
    assert kept.edges() == topoloom.network(f"{spec},keep=bandwidth").edges()
    with pytest.raises(topoloom.TopoloomError, match="keep is for optimised only"):
        topoloom.network("permuted:two-cab(torus:6x6),cabinet=6,keep=bandwidth")
    with pytest.raises(topoloom.TopoloomError, match="keep=bandwidth does not go with nodes"):
        topoloom.network("permuted:optimised(torus:6x6),cabinet=6,keep=bandwidth,nodes=6")


def test_a_network_that_carries_less_than_its_base_says_so(topoloom):
    spec = "permuted:two-cab(clos:radix=8,levels=3),cabinet=8,trials=2"
    shown = topoloom("show", spec, "--json")
    words = "less bandwidth than clos:radix=8,levels=3: the bisection falls from"
    assert words in shown.err
    assert any(words in note for note in shown.json()[0]["notes"])
    assert "less bandwidth" not in topoloom("show", "permuted:two-cab(mesh:8),cabinet=4", "--json").err


@pytest.mark.parametrize(("spec", "worse"), [("slimfly:q=5", True), ("torus:8x8", False)])
def test_a_permutation_that_is_worse_than_its_base_says_so(spec, worse):
    facts = topoloom.network(f"permuted:two-cab({spec}),cabinet=8,trials=3").facts()
    told, note = facts["permutation"], next(note for note in facts["notes"] if "is the best" in note)
    longer = told["diameter"] > told["base_diameter"] or told["average_distance"] > told["base_average_distance"]
    assert longer == worse
    assert ("the base is better" in note) == longer
    if told["diameter"] > told["base_diameter"]:
        assert f"the diameter rose from {told['base_diameter']} to {told['diameter']}" in note
