"""Parts of the funnel by themselves, against their definitions."""

from itertools import product
from types import SimpleNamespace

import pytest

from topoloom import TopoloomError
from topoloom.design.criteria import Value
from topoloom.design.funnel import (
    BEATEN,
    BEATEN_AS_ESTIMATED,
    BEATEN_AT_BEST,
    BOUNDS,
    BUILT,
    SHORT,
    Funnel,
    _carries_more,
)
from topoloom.design.question import make_question
from topoloom.design.rounds import ALIKE

APP = "allreduce:size=16MiB"


def funnel(**asked) -> Funnel:
    return Funnel(make_question({"terminals": (16, 16), "radix": 8} | asked), None, SimpleNamespace(submit=None))


def test_a_network_carries_more_if_one_bound_is_higher_and_none_lower():
    """What differs by the tolerance is alike; traffics that one of them lacks say nothing."""
    for pairs in product([(1, 1), (1, 2), (2, 1), (1, 1 + ALIKE / 2), (1 + ALIKE / 2, 1)], repeat=2):
        one, other = ({name: pair[side] for name, pair in zip("ab", pairs, strict=True)} for side in (0, 1))
        expected = (2, 1) in pairs and (1, 2) not in pairs
        assert _carries_more(one, other) is expected, pairs
        assert _carries_more(one | {"c": 9}, other) is expected


def test_each_network_that_misses_a_requirement_is_counted_once():
    own = funnel(min_bisection=0.5, max_diameter=3)
    facts = [(0.6, 3), (0.4, 2), (0.4, 9), (0.5, 4), (None, 1)]
    entrants = [SimpleNamespace(spec=str(facts), facts={"beta": beta, "diameter": far}) for beta, far in facts]
    for place, entrant in enumerate(entrants):
        entrant.spec = str(place)
    assert [entrant.spec for entrant in own._meeting(entrants)] == ["0"]
    assert own._dropped[BUILT] == {"misses min-bisection": 2, "misses max-diameter": 2}


@pytest.mark.parametrize(
    ("facts", "sentence"),
    [
        (
            [(0.4, 3), (0.3, 3)],
            "no network meets min-bisection 0.5 of full bisection, which excludes 2 of 2 networks; "
            "the nearest that meets all else that is asked is 0 with 0.4 of full bisection",
        ),
        (
            [(0.6, 4), (0.4, 9), (0.7, 5), (0.45, 3)],
            "no network meets all that is asked; max-diameter 3 hops excludes 3 of 4 networks; "
            "the nearest that meets all else that is asked is 0 with 4 hops",
        ),
        (
            [(0.4, 5), (0.3, 4)],
            "no network meets max-diameter 3 hops, which excludes 2 of 2 networks; "
            "the nearest, which misses min-bisection too, is 1 with 4 hops",
        ),
    ],
)
def test_what_excludes_networks_is_told_as_it_is(facts, sentence):
    """All networks that miss the limit count, and the sentence claims no more than what holds."""
    entrants = [
        SimpleNamespace(spec=str(place), facts={"beta": beta, "diameter": far})
        for place, (beta, far) in enumerate(facts)
    ]
    with pytest.raises(TopoloomError) as told:
        funnel(min_bisection=0.5, max_diameter=3)._meeting(entrants)
    assert str(told.value) == sentence


def test_networks_that_are_not_on_the_front_are_counted_by_what_beat_them():
    windows = {"a": [], "b": [], "c": [], "d": [1], "e": []}
    entrants = [SimpleNamespace(spec=spec, windows=own) for spec, own in windows.items()]
    own, rounds = funnel(), SimpleNamespace(entrants=entrants, unbeaten=lambda: entrants[:2])
    own._count_beaten(rounds, entrants[:1])
    assert own._dropped[BOUNDS] == {BEATEN_AS_ESTIMATED: 1, BEATEN_AT_BEST: 2}
    assert own._dropped[SHORT] == {BEATEN: 1}


def test_accelerators_of_a_host_share_its_interfaces():
    """Four accelerators on two interfaces: an interface sends what two tasks do."""
    plain, shared = (funnel(apps=APP, **more)._sent for more in ({}, {"hosts": "v100-4"}))
    assert plain.keys() == shared.keys()
    assert list(shared.values()) == pytest.approx([2 * sent for sent in plain.values()])


def test_makespans_that_were_measured_are_not_played_again():
    own = funnel(apps=APP)
    [name] = own._sent
    kinds = {"new": {}, "estimated": {name: Value(1, 1, 1, "estimate")}, "measured": {name: Value(1, 1, 1, "measured")}}
    entrants = [SimpleNamespace(spec=spec, values=values) for spec, values in kinds.items()]
    own._application = lambda entrant, app: (entrant.spec, app)
    assert set(own._to_play(entrants)) == {("new", name), ("estimated", name)}
