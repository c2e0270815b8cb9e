"""Rows of tables of facts: how values are written, which of them is best, and what is taken from which fact."""

import pytest

from topoloom.network.facts import FACTS, PARTS, Fact, assumptions, bound, facts_of, per_terminal

ROWS = {fact.label: fact for fact in FACTS}
LOW, HIGH, NONE = (Fact("Own", "m", lambda facts: facts.get("own"), 1, better) for better in ("low", "high", None))


@pytest.mark.parametrize(
    ("label", "facts", "text"),
    [
        ("Terminals", {"terminals": 12_345}, "12,345"),
        ("Terminals", {}, "–"),
        ("Diameter", {"diameter": 4}, "4"),
        ("Diameter", {"diameter": None, "connected": False}, "∞"),
        ("Diameter", {"diameter": None, "connected": True}, "–"),
        ("Diameter", {"diameter": None}, "–"),
        ("Diameter", {"distance_sample": 100, "diameter_at_least": 7, "diameter": None}, "7"),
        ("Bisection", {"connected": False}, "–"),
        ("Average distance", {"average_distance": 2.34567}, "2.346"),
        ("Injection bandwidth", {"injection_gbps": 400.0}, "50.00"),
        ("Bisection bandwidth", {"bisection_gbps": None}, "–"),
        ("Bisection bandwidth", {"bisection_gbps": 8000.0}, "1,000"),
        ("Cost per terminal", {"cost_usd": 1000.0, "terminals": 16}, "62"),
        ("Power per terminal", {"power_w": 1000.0, "terminals": 16}, "62.5"),
        ("Cable per terminal", {"cable_m": None, "terminals": 16}, "–"),
    ],
)
def test_values_are_written_as_people_read_them(label, facts, text):
    assert ROWS[label].text(facts) == text


@pytest.mark.parametrize(
    ("levels", "taper", "scale_up"),
    [
        (None, "–", "–"),
        ([], "1.00", "–"),
        ([("leaf", 0.5)], "1.00", "–"),
        ([("leaf", 2.0), ("spine", 3.0), ("core", None)], "3.00", "–"),
        ([("host", 9.0), ("leaf", 1.5)], "1.50", "9.00"),
        ([("host", None), ("leaf", 1.5)], "1.50", "–"),
    ],
)
def test_the_taper_is_the_largest_of_the_fabric_and_hosts_have_their_own(levels, taper, scale_up):
    told = levels and [{"level": level, "taper": value} for level, value in levels]
    facts = {"taper": [] if levels == [] else told}
    assert (ROWS["Taper"].text(facts), ROWS["Scale-up"].text(facts)) == (taper, scale_up)


@pytest.mark.parametrize(
    ("fact", "values", "best"),
    [
        (LOW, (3, 1, 2), (False, True, False)),
        (HIGH, (3, 1, 2), (True, False, False)),
        (NONE, (3, 1, 2), (False, False, False)),
        (LOW, (1, 1, 2), (True, True, False)),
        (LOW, (2, 2, 2), (False, False, False)),
        (HIGH, (2.01, 2.04, 1), (True, True, False)),  # both are written 2.0
        (HIGH, (2.01, 2.04, 2.02), (False, False, False)),
        (LOW, (None, 2, 1), (False, False, True)),
        (LOW, (None, None, 1), (False, False, False)),
    ],
)
def test_the_best_are_those_that_no_other_betters_as_they_are_written(fact, values, best):
    networks = [{"own": value} for value in values]
    assert tuple(fact.is_best(facts, networks) for facts in networks) == best


def test_prices_of_different_lists_have_no_best():
    cost = ROWS["Cost"]
    for lists, best in ((("a", "a"), [True, False]), (("a", "b"), [False, False])):
        networks = [{"cost_usd": dollars, "prices": name} for dollars, name in zip((100, 200), lists, strict=True)]
        assert [cost.is_best(facts, networks) for facts in networks] == best
    diameters = [{"diameter": 2, "prices": "a"}, {"diameter": 3, "prices": "b"}]
    assert ROWS["Diameter"].is_best(diameters[0], diameters)


def test_each_layout_and_list_has_its_sentence_once():
    laid = {"prices": "400g", "layout": "rack", "layout_assumptions": "racks of 42 U"}
    one = assumptions([laid, laid | {"terminals": 5}, {"terminals": 7}])
    assert one == ["Cost, power and cable: prices 400g; layout rack: racks of 42 U."]
    two = assumptions([laid, laid | {"prices": "edr"}])
    assert [text.partition(";")[0] for text in two[:2]] == [
        "Cost, power and cable: prices 400g",
        "Cost, power and cable: prices edr",
    ]
    assert two[2].startswith("The networks are priced by different lists")
    assert len(assumptions([laid, laid | {"layout": "family"}])) == 2
    assert assumptions([{"terminals": 7}]) == []


def test_optional_rows_are_shown_where_a_network_has_a_value():
    told = [fact.label for fact in facts_of([{"injection_gbps": None}, {"injection_gbps": 400.0}])]
    assert "Injection bandwidth" in told
    assert "Bisection bandwidth" not in told
    assert [label for label in told if label != "Injection bandwidth"] == [
        label for label, fact in ROWS.items() if not fact.optional
    ]
    assert "Electricity" not in [fact.label for fact in facts_of([{}], PARTS[-4:])]


def test_bounds_and_estimates_have_their_signs():
    cut, rate = ROWS["Bisection"], ROWS["Bisection bandwidth"]
    upper = {"bisection_links": 8, "bisection_gbps": 800.0, "bisection_is": "upper-bound"}
    assert [bound(fact, upper) for fact in (cut, rate, ROWS["Diameter"])] == ["≤ ", "≤ ", ""]
    assert bound(cut, upper | {"bisection_is": "exact"}) == ""
    assert bound(cut, upper | {"bisection_links": None}) == ""
    sampled = {"distance_sample": 100}
    assert [bound(ROWS[label], sampled) for label in ("Diameter", "Average distance", "Average hops", "Links")] == [
        "≥ ", "≈ ", "≈ ", "",
    ]  # fmt: skip


def test_a_part_per_terminal_needs_their_number():
    assert per_terminal("cost_usd")({"cost_usd": 100, "terminals": 8}) == 12.5
    assert per_terminal("cost_usd")({"cost_usd": None}) is None
    with pytest.raises(KeyError):
        per_terminal("cost_usd")({"cost_usd": 100})
