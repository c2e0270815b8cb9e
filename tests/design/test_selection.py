"""Which networks of a front become finalists and are recommended, by numbers that are counted by hand."""

from math import sqrt
from types import SimpleNamespace

import pytest

from topoloom.design.criteria import FIXED, MAKESPAN, SATURATION, Criterion, Value
from topoloom.design.selection import choose, practical, recommend

COST = FIXED[0]
UNIFORM = Criterion("saturation.uniform", "", "flits/cycle/terminal", "high", 3, SATURATION, "uniform")
WORST = Criterion("saturation.worst-case", "", "flits/cycle/terminal", "high", 3, SATURATION, "worst-case")
TIME = Criterion("makespan.app", "", "s", "low", 3, MAKESPAN, "app")


def own(spec, cost, uniform, family="hyperx", **more) -> SimpleNamespace:
    values = {"cost": cost, UNIFORM.name: uniform} | {name.replace("_", "."): value for name, value in more.items()}
    return SimpleNamespace(
        spec=spec,
        candidate=SimpleNamespace(family=family),
        values={name: Value.exact(value) for name, value in values.items()},
    )


def test_finalists_are_the_cheapest_then_the_best_of_families_and_criteria_then_those_far_apart():
    """Scores are dollars over 100 beyond the first 100, and what is missing to a load of 1, over 0.5."""
    places = {"p": (0.1, 0.95), "q": (0.8, 0.15), "r": (0.25, 0.6), "a": (0, 1), "b": (1, 0), "m": (0.5, 0.3)}
    front = [own(spec, 100 + 100 * x, 1 - y / 2) for spec, (x, y) in places.items()]
    # The sum of m is the least. Squares of the distance to the nearest that is taken: r 0.1525, q 0.0625, p 0.0125.
    for most in range(1, 9):
        chosen = choose(front, [COST, UNIFORM], most)
        assert [each.spec for each in chosen] == ["a", "m", "b", "r", "q", "p"][:most]


def test_each_family_has_its_best_among_the_finalists():
    front = [
        own("a", 100, 0.4),
        own("b", 200, 1.0),
        own("c", 160, 0.7, "torus"),
        own("d", 110, 0.5),
        own("e", 190, 0.9, "torus"),
    ]
    # Sums of scores: a 1, b 1, c 0.6 + 0.5, d 0.1 + 5/6, e 0.9 + 1/6.
    assert [each.spec for each in choose(front, [COST, UNIFORM], 4)] == ["a", "d", "e", "b"]


def test_each_criterion_has_its_best_among_the_finalists():
    """After the cheapest and the one with the least sum: the one that carries most, and that of the least time."""
    front = [
        own("cheap", 100, 0.5, makespan_app=3.0),
        own("balanced", 110, 0.9, makespan_app=2.0),
        own("fast", 300, 0.4, makespan_app=1.0),
        own("large", 290, 1.0, makespan_app=2.9),
    ]
    assert [each.spec for each in choose(front, [COST, UNIFORM, TIME], 4)] == ["cheap", "balanced", "large", "fast"]


def test_what_was_not_measured_counts_as_the_worst():
    """Alike in all that is known of them: only the criterion that one of them lacks tells them apart."""
    front = [own("none", 100, 0.5), own("slow", 100, 0.5, makespan_app=9.0), own("fast", 100, 0.5, makespan_app=1.0)]
    assert [each.spec for each in choose(front, [COST, UNIFORM, TIME], 2)] == ["none", "fast"]
    assert [each.spec for each in choose(front[:1], [COST, TIME], 3)] == ["none"]
    # Sums of scores: 0 + 1 + 1, 1/3 + 0 + 1 and 1 + 0.8 + 0.
    front = [own("cheap", 90, 0.4, makespan_app=9.0), own("none", 100, 0.9), own("fast", 120, 0.5, makespan_app=1.0)]
    assert [each.spec for each in choose(front, [COST, UNIFORM, TIME], 2)] == ["cheap", "none"]


def test_a_quarter_of_the_best_is_enough_to_be_bought():
    front = [
        own("best", 200, 1.0, **{"saturation_worst-case": 0.8, "makespan_app": 4.0}),
        own("just", 100, 0.25, **{"saturation_worst-case": 0.1, "makespan_app": 16.0}),
        own("less", 90, 0.2499, **{"saturation_worst-case": 0.8, "makespan_app": 4.0}),
        own("slow", 80, 1.0, **{"saturation_worst-case": 0.8, "makespan_app": 16.1}),
        own("none", 70, 1.0, **{"saturation_worst-case": 0.8}),
    ]
    assert [each.spec for each in practical(front, [COST, UNIFORM, WORST, TIME])] == ["best", "just"]
    assert practical(front[3:], [COST, UNIFORM, TIME]) == front[3:4]


@pytest.mark.parametrize(
    ("survives", "robust", "why"),
    [
        ((None, None, None), "y", "at least 1.00 of the best in all that was measured for $200 per terminal"),
        (
            (0.9, 0.45, 0.7),
            "z",
            "at least 0.50 of the best in all that was measured, failures among them, for $125 per terminal",
        ),
    ],
)
def test_recommendations_are_those_of_parts_of_the_best(survives, robust, why):
    """Parts of the best: x 0.4 and 0.5, y 1 and 1, z 0.9 and 0.5; their means over dollars are largest for z."""
    some = [
        own("x", 100, 0.32, makespan_app=4.0),
        own("y", 200, 0.8, makespan_app=2.0),
        own("z", 125, 0.72, makespan_app=4.0),
    ]
    for each, part in zip(some, survives, strict=True):
        if part is not None:
            each.values["survivable"] = Value.exact(part)
    cheapest, value, strong = recommend(some, [COST, UNIFORM, TIME])
    assert (cheapest.spec, cheapest.why) == ("x", "$100 per terminal")
    assert sqrt(0.45) / 125 > 1 / 200 > sqrt(0.2) / 100
    assert value.spec == "z"
    assert value.why == (
        "0.67 of the best, on the geometric mean of 2 measures of throughput and time, for $125 per terminal"
    )
    assert (strong.spec, strong.why) == (robust, why)


def test_the_cheaper_of_two_that_are_as_robust_is_recommended():
    some = [own("dear", 200, 0.5), own("cheap", 150, 0.5), own("weak", 100, 0.4)]
    assert recommend(some, [COST, UNIFORM])[2].spec == "cheap"


def test_a_network_that_was_not_measured_is_of_no_value():
    some = [own("none", 1, 1.0), own("all", 1000, 0.5, makespan_app=4.0)]
    _, value, robust = recommend(some, [COST, UNIFORM, TIME])
    assert value.spec == robust.spec == "all"
    assert robust.why.startswith("at least 0.50 of the best")
