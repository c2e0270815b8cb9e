"""Subtori under an upper network: published distances and costs, and mistakes."""

import pytest

import topoloom
from oracles import graphs, routes
from topoloom import TopoloomError


@pytest.mark.parametrize(
    ("spec", "switches", "cost", "power"),
    [
        ("nesttree:t=2,u=8,endpoints=131072", 2048, 1.17, 0.39),
        ("nestghc:t=4,u=1,endpoints=131072", 8192, 4.69, 1.56),
        ("xgft:down=32x32x128,up=32x32", 9216, 5.27, 1.76),
        ("torus:64x64x32", 0, 0.0, 0.0),
    ],
)
def test_switches_in_per_cent_of_boards(spec, switches, cost, power):
    network = topoloom.network(spec)
    bill = network.layout(prices="multitier").cost()
    assert bill["cost_per_terminal_usd"] == pytest.approx(cost, abs=0.005)
    assert bill["power_per_terminal_w"] == pytest.approx(power, abs=0.005)
    if spec.startswith("nest"):
        assert network.num_routers == 131072 + switches


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("nesttree:t=2,u=3,endpoints=64", "u is 3; it must be 1, 2, 4 or 8"),
        ("nesttree:t=3,u=2,endpoints=54", "t is 3; with u=2 it must be even"),
        ("nestghc:t=4,u=8,endpoints=100", "it must be a multiple of t^3 = 64, and at least two subtori"),
        ("nestghc:t=4,u=8,endpoints=64", "at least two subtori"),
        ("nesttree:t=2,u=8,endpoints=64,upper=2x2", "upper is 2x2; it must be sizes of 2 or more whose product"),
        ("nesttree:t=2,u=8,endpoints=64,upper=1x8", "upper is 1x8"),
        ("nesttree:t=2,u=8", "endpoints is missing"),
        ("nesttree:t=2,u=8,endpoints=64,attach=blok", "did you mean 'block'"),
        ("nesttree:t=4000000,u=1,endpoints=64", "multiple of t^3"),
        ("nesttree:t=2,u=1,endpoints=4294967288", "GB are available"),
    ],
)
def test_mistakes(spec, words):
    with pytest.raises(TopoloomError, match=words.replace("^", r"\^")):
        topoloom.network(spec)


def test_a_torus_alone_has_a_dateline_to_leave_out():
    with pytest.raises(TopoloomError, match="dateline=off is for a torus alone"):
        topoloom.network("nestghc:t=2,u=8,endpoints=64").verify("dor:dateline=off")


@pytest.mark.parametrize(
    ("spec", "average", "longest"),
    [
        ("nesttree:t=2,u=8,endpoints=131072", 8.8709, 12),
        ("nestghc:t=2,u=1,endpoints=131072", 5.875, 6),
        ("nestghc:t=4,u=8,endpoints=131072,attach=published", 8.6898, 12),
        ("nesttree:t=4,u=2,endpoints=131072", 6.9678, 8),
    ],
)
def test_published_lengths_of_ways(spec, average, longest):
    lengths = topoloom.network(spec).route_lengths()
    assert lengths["average_hops"] == pytest.approx(average, abs=5e-5)
    assert lengths["longest"] == longest
    assert sum(lengths["histogram"]) == 131072 * 131071


@pytest.mark.parametrize(
    ("spec", "routing", "paths"),
    [
        ("nesttree:t=4,u=8,endpoints=128,upper=4x4,attach=published", "dor", routes.nested),
        ("nestghc:t=2,u=1,endpoints=48,upper=2x6x4", "dor", routes.nested),
        ("nesttree:t=3,u=1,endpoints=54,upper=6x9", "dor", routes.nested),
        ("torus:4x3,p=2", "dor", routes.dor_torus),
    ],
)
def test_lengths_of_ways_are_those_of_the_paths(spec, routing, paths):
    """Told in closed form, over the symmetries of the network where there are any, or walked."""
    graph = graphs.build(spec)
    ways = paths(graph)
    homes = graph.homes
    pairs = [(a, b) for one, a in enumerate(homes) for other, b in enumerate(homes) if one != other]
    hops = [len(ways(a, b)[0][1]) if a != b else 0 for a, b in pairs]
    lengths = topoloom.network(spec).route_lengths(routing)
    assert lengths["histogram"] == [hops.count(length) for length in range(max(hops) + 1)]
    assert lengths["average_hops"] == pytest.approx(sum(hops) / len(hops))
