"""The neighbourhood of a network: sizes by their families' formulas, cables by coordinates of our own."""

import itertools
from collections import Counter

import pytest

from topoloom import network
from topoloom.design.neighbours import changes, neighbours, synthesised

SPECS = [
    "hyperx:4x3,p=2", "xgft:down=6x4x3,up=4x2,trunk=1x2", "dragonfly:a=4,h=2,p=2,g=7", "slimfly:q=5,p=4",
    "clos:radix=8,levels=3", "fattree:k=4,levels=3", "flex:4x4x3,p=2", "galaxyfly:n=3,q=5,a=2,p=2",
    "random-regular:30,degree=6,p=4", "dragonfly-plus:leaf=3,spine=3,h=3",
]  # fmt: skip


def cables(spec, place):
    """The cables of a network by the places of their ends."""
    return Counter(tuple(sorted((place(a), place(b)))) for a, _, b, _, _ in network(spec).edges())


@pytest.mark.parametrize("spec", SPECS)
def test_neighbours_are_what_they_say(spec):
    own, radix = network(spec), 24
    found = neighbours(spec, radix)
    assert {"smaller", "larger"} <= {each.relation for each in found}
    assert sum(each.relation == "larger" for each in found) == 1
    for each in found:
        near = network(each.spec)
        assert (near.num_terminals, near.num_routers) == (each.terminals, each.routers)
        assert near.facts()["radix"] <= radix
        sign = {"smaller": -1, "larger": 1, "variant": 0}[each.relation]
        difference = near.num_terminals - own.num_terminals
        assert (difference > 0) - (difference < 0) == sign
        assert each.kept + each.moved == len(own.edges())
        assert each.kept + each.added == len(near.edges())
        assert 0 <= each.kept <= min(len(own.edges()), len(near.edges()))


@pytest.mark.parametrize(("side", "spec", "larger"), [(4, "hyperx:4x3,p=2", "hyperx:5x3,p=2")])
def test_a_hyperx_grows_without_moving_a_cable(side, spec, larger):
    """Every line of the longer side gets a router; those that stand keep their cables."""
    (found,) = (each for each in neighbours(spec, 16) if each.relation == "larger")
    assert (found.spec, found.moved) == (larger, 0)
    assert found.added == 3 * side + 3


def test_cables_that_stay_are_those_of_the_same_places():
    """Groups of a dragonfly by hand: a router is its group and its place in it."""
    (found,) = (each for each in neighbours("dragonfly:a=4,h=2,p=2,g=7", 8) if each.relation == "larger")
    assert found.spec == "dragonfly:a=4,h=2,p=2,g=8"
    one, other = (cables(spec, lambda router: divmod(router, 4)) for spec in ("dragonfly:a=4,h=2,p=2,g=7", found.spec))
    assert found.kept == sum((one & other).values())
    # The local cables of all seven groups stay, at least.
    assert found.kept >= 7 * 6


@pytest.mark.parametrize(
    ("spec", "alone"),
    [
        ("xgft:down=4x5x2,up=2x2", "down=4x5x1"),
        ("hyperx:4x2,p=3", "4x1"),
        ("dragonfly:a=4,h=2,g=2,p=2", "g=1"),
        ("rack-tree:racks=2,leaf=5,upper=1,trunk=1,top=1,links=3,p=4", "racks=1"),
    ],
)
def test_a_level_of_one_child_or_a_side_of_one_router_is_no_neighbour(spec, alone):
    """It would join nothing; sides that are numbers of links or of parents may be one."""
    found = [text for _, text in changes(spec)]
    assert found
    assert not any(alone in text for text in found)
    assert any("up=1x" in text for text in found) or "xgft" not in spec


def test_a_pod_more_moves_no_cable_of_a_tree_with_room_at_the_top():
    spec = "xgft:down=6x8x3,up=4x2"
    (found,) = (each for each in neighbours(spec, 10) if each.relation == "larger")
    assert found.spec == "xgft:down=6x8x4,up=4x2"
    assert found.moved == 0
    # A pod: eight leaves with four links up each, four routers above with two each.
    assert found.added == 8 * 4 + 4 * 2


def test_trees_are_tapered_and_trunked():
    found = {each.change: each for each in neighbours("xgft:down=48x22,up=16", 64) if each.relation == "variant"}
    assert found["up 16 → 15"].spec == "xgft:down=48x22,up=15"
    trunked = found["trunk of level 1 1 → 2"]
    assert trunked.spec == "xgft:down=48x22,up=8,trunk=2"
    assert (trunked.routers, trunked.moved, trunked.added) == (22 + 8, 176, 176)


def test_numbers_are_named():
    told = [change for spec in ("hyperx:4x3,p=2", "xgft:down=2x3x2,up=1x2", "random-regular:10,degree=3,p=1,seed=4")
            for change, _ in changes(spec)]  # fmt: skip
    names = {change.rsplit(" ", 3)[0] for change in told}
    assert {"side 1", "side 2", "p", "down 3", "up 2", "trunk of level 2", "routers", "degree"} <= names
    assert not any("seed" in name for name in names)


def test_sizes_that_routers_have_no_ports_for_are_left_out():
    assert all(each.relation != "larger" for each in neighbours("hyperx:4,p=5", 8))
    assert [each.terminals for each in neighbours("mesh:2x2", 4) if each.relation == "larger"] == [6]
    for spec, radix in itertools.product(SPECS[:3], (8, 12)):
        assert all(network(each.spec).facts()["radix"] <= radix for each in neighbours(spec, radix))


@pytest.mark.parametrize("spec", ["torus:6x6,p=2", "slimfly:q=5,p=4", "hypercube:5,p=3"])
def test_a_cayley_graph_has_as_many_routers_links_and_terminals(spec):
    found, own = synthesised(spec, 1), network(spec)
    near = network(found.spec)
    assert found.relation == "variant"
    assert near.num_routers == own.num_routers
    assert near.num_terminals == own.num_terminals
    assert len(near.edges()) == len(own.edges()) == found.kept + found.moved
    assert found == synthesised(spec, 1), "a seed gives one result"


def test_a_torus_carries_less_than_a_cayley_graph_of_its_size():
    near = network(synthesised("torus:6x6,p=2", 1).spec)
    assert near.split_bound()["split_bound"] > 1.2 * network("torus:6x6,p=2").split_bound()["split_bound"]


@pytest.mark.parametrize(
    "spec", ["clos:radix=4,levels=2", "mesh:4x4,p=1", "hyperx:3,p=2", "hyperx:20x20,p=2", "hyperx:6x6,p=2"]
)
def test_routers_that_differ_or_are_too_many_are_not_searched(spec):
    assert synthesised(spec, 1) is None
