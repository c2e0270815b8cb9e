"""Answers to questions, against every candidate measured by itself, and questions that cannot be answered."""

import json
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from time import process_time
from types import SimpleNamespace

import networkx
import numpy as np
import pytest

import topoloom
from topoloom import TopoloomError, candidates, network
from topoloom.design import windows
from topoloom.design.answer import answer
from topoloom.design.criteria import Criterion, Value, beats, dominates
from topoloom.design.question import amount, make_question
from topoloom.design.rounds import ALIKE
from topoloom.design.screen import DOUBT, EDGE, LARGE_BUILT, _clear, in_doubt
from topoloom.design.selection import practical, recommend
from topoloom.design.sensitivity import turns
from topoloom.design.windows import MOST_FLITS, windows_of
from topoloom.layout.prices import price_list
from topoloom.studies import Ledger, LocalExecutor
from topoloom.workload.options import WorkloadOptions
from topoloom.workload.runs import WorkloadRun

ASKED = {"terminals": (12, 13), "radix": 5, "families": ("hyperx", "galaxyfly", "slimfly", "random-regular")}
SLACK = 2 * ALIKE
"""What windows and seeds of two runs may differ by."""


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return tmp_path_factory.mktemp("design") / "design.store"


@pytest.fixture(scope="module")
def found(store):
    return topoloom.design(**ASKED, finalists=3, store=store)


@pytest.fixture(scope="module")
def survivors(store):
    """What is left of the HyperX networks if failures count, too."""
    return topoloom.design(**ASKED | {"families": "hyperx"}, finalists=2, survive="links=10%", store=store)


def measured(asked):
    """Every candidate of a question: dollars per terminal, and what it accepts at full load under both traffics."""
    window = windows_of(make_question(asked))[1]
    length = {"warmup": window.warmup, "measure": window.measure, "drain": 0}
    rows = {}
    for own in candidates(**asked):
        built = network(own.spec)
        facts = built.facts(prices="400g")
        accepted = [
            built.simulate("adaptive", traffic, 1.0, **length, seed=5).points[1.0].accepted
            for traffic in ("uniform", "worst-case")
        ]
        rows[own.spec] = (facts["cost_usd"] / facts["terminals"], *accepted)
    return rows


@pytest.fixture(scope="module")
def everything():
    return measured(ASKED)


def at_least_as_good(one, other, slack=0.0):
    """Whether a network costs no more than another and accepts no less, but for a part."""
    return one[0] <= other[0] and all(a >= b * (1 - slack) for a, b in zip(one[1:], other[1:], strict=True))


def check_front(front, rows):
    """What no other candidate beats is on the front, or a network there is as good."""
    unbeaten = {
        spec
        for spec, mine in rows.items()
        if not any(row != mine and at_least_as_good(row, mine) for row in rows.values())
    }
    assert len(unbeaten) >= 3
    for spec in unbeaten - front:
        assert any(at_least_as_good(rows[other], rows[spec], SLACK) for other in front), spec
    assert len(front) < len(rows)


def test_the_front_holds_what_nothing_beats(found, everything):
    check_front({own.spec for own in found.outcome.front}, everything)


@pytest.mark.long
@pytest.mark.parametrize(("terminals", "radix"), [((16, 17), 7), ((30, 33), 9)])
def test_the_front_of_all_families_holds_what_nothing_beats(terminals, radix, tmp_path):
    asked = {"terminals": terminals, "radix": radix}
    found = topoloom.design(**asked, finalists=1, store=tmp_path / "own.store")
    check_front({own.spec for own in found.outcome.front}, measured(asked))


def test_nothing_beats_the_front_clearly(found, everything):
    for own in found.outcome.front:
        cost, *accepted = everything[own.spec]
        clear = (cost, *(load * (1 + SLACK) for load in accepted))
        assert not any(row[0] < cost and at_least_as_good(row, clear) for row in everything.values()), own.spec


@pytest.mark.parametrize("accepted", [0.0, 0.3, 0.829, 0.84, 0.975, 1.0])
@pytest.mark.parametrize("most", [0.2, 0.829, 1.0])
def test_a_window_measures_no_more_than_what_is_proved(accepted, most):
    """A short window may accept more than any steady state does."""
    for window in windows_of(make_question({"terminals": 1000, "radix": 64})):
        known = window.value(accepted, most)
        assert known.low <= known.value <= known.high <= most


def test_values_lie_within_their_intervals(found, everything):
    for own in found.outcome.front:
        cost, uniform, worst = everything[own.spec]
        assert own.values["cost"].value == pytest.approx(cost)
        for name, measured in (("saturation.uniform", uniform), ("saturation.worst-case", worst)):
            value = own.values[name]
            assert value.known == "measured"
            assert value.low * (1 - ALIKE) <= measured <= value.high * (1 + ALIKE)


def test_bounds_are_not_below_what_is_measured(everything):
    """A network is dropped by its bound only if it cannot carry more."""
    for spec, (_, *accepted) in list(everything.items())[::5]:
        for traffic, measured in zip(("uniform", "worst-case"), accepted, strict=True):
            bound = network(spec).split_bound(traffic)
            assert measured <= bound["distance_bound"] * (1 + ALIKE)


@pytest.mark.parametrize("spec", ["hyperx:4x4,p=4", "slimfly:q=3,p=3", "dragonfly:a=3,h=1,p=2", "torus:4x4"])
def test_the_best_split_lies_between_one_routing_and_the_best_of_all(spec):
    own = network(spec)
    for traffic in ("uniform", "worst-case", "random-permutation"):
        split = own.split_bound(traffic)
        alone = [own.bound(routing, traffic)["saturation_bound"] for routing in ("minimal", "val")]
        best = own.bound("minimal", traffic, optimal=True)["optimal_bound"]
        assert max(alone) - 1e-6 <= split["split_bound"] <= best + 1e-6
        assert best <= split["distance_bound"] + 1e-6
        assert 0 <= split["minimal_share"] <= 1


@pytest.mark.parametrize(
    "spec", ["galaxyfly:n=6,q=5,a=2,p=2", "galaxyfly:n=1,q=9,a=3,p=3", "hyperx:4x3,p=2", "mesh:5x4"]
)
def test_the_bound_of_distances_is_that_of_shortest_paths(spec):
    """By networkx, for uniform traffic. On a Galaxyfly the minimal routing does not always take a shortest path."""
    own = network(spec)
    graph = networkx.MultiGraph((a, b) for a, _, b, _, _ in own.core.edges())
    routers, per_router = len(graph), own.facts()["terminals"] // len(graph)
    sums = [sum(near.values()) for _, near in networkx.all_pairs_shortest_path_length(graph)]
    flits = per_router / routers  # from a router to each one: terminals send to themselves, too
    crowded = max(flits * (routers - 1) / graph.degree(router) for router in graph)
    expected = 1 / max(1.0, crowded, flits * sum(sums) / (2 * graph.number_of_edges()))
    assert own.split_bound("uniform")["distance_bound"] == pytest.approx(expected)


@pytest.mark.parametrize("spec", ["xgft:down=6x4x3,up=3x2", "fattree:k=4,levels=3,taper=2", "clos:radix=8,levels=3"])
def test_detours_carry_nothing_more_in_trees(spec):
    core = topoloom._core.Network(spec)
    for name in ("uniform", "worst-case", "tornado"):
        traffic = topoloom._core.Traffic(core, name)
        mixed = topoloom._core.split_bound(core, "nca", "val", traffic)["split_bound"]
        assert min(1.0, network(spec).split_bound(name)["split_bound"]) == pytest.approx(mixed)


def test_clear_winners_are_the_same_whether_looked_at_one_by_one_or_in_blocks():
    rng = Random(3)
    rows = [SimpleNamespace(beta=rng.random(), diameter=rng.randint(2, 4)) for _ in range(5000)]
    cost = np.array([rng.uniform(100, 1000) * (0.2 + row.beta) for row in rows])
    kept = []
    for place in sorted(range(len(rows)), key=lambda own: cost[own]):
        own = rows[place]
        better = (
            cost[other] * EDGE <= cost[place]
            and rows[other].diameter <= own.diameter
            and rows[other].beta >= min(1, DOUBT * own.beta)
            for other in kept
        )
        if not any(better):
            kept.append(place)
    assert len(kept) > 50
    assert _clear(rows, cost, np.arange(len(rows))) == kept


def test_every_network_is_accounted_for(found):
    dropped = sum(sum(reasons.values()) for reasons in found.outcome.dropped.values())
    assert found.outcome.searched == dropped + len(found.outcome.front) == len(candidates(**ASKED))


def test_finalists_have_all_that_is_measured_in_full(found):
    assert len(found.finalists) == 3
    families = {own.candidate.family for own in found.outcome.front}
    assert len({own.candidate.family for own in found.finalists}) >= min(2, len(families))
    for own in found.finalists:
        assert own.details["verify", ""]["deadlock_free"]
        assert {name for name, _ in own.details} == {"verify", "layout", "saturation", "optics", "faults", "split"}
        assert own.neighbours
    told = json.loads(json.dumps(found.to_dict()))
    assert {own["spec"] for own in told["finalists"]} <= {own["spec"] for own in told["front"]}
    assert told["finalists"][0]["criteria"]["cost"]["is"] == "exact"
    assert [own["title"] for own in told["recommended"]] == [
        "Cheapest that meets all", "Most performance for its cost", "Most robust",
    ]  # fmt: skip


def test_what_survives_counts_before_networks_drop_out(survivors):
    """Networks of the front that are no finalists have the criterion, too; those that fall apart are not on it."""
    assert len(survivors.outcome.front) > len(survivors.finalists)
    for own in survivors.outcome.front:
        value = own.values["survivable"]
        assert value.low <= value.value <= value.high
        assert 0 <= value.value <= 1 + ALIKE
        assert own.values["survivable"].known == "measured"
        assert network(own.spec).with_failures("links=10%,seed=1").facts()["diameter"] is not None


def test_failures_are_estimated_by_bounds_where_windows_have_no_place(monkeypatch, tmp_path):
    """Every network must hold together, but only as many are simulated under failures as there are places."""
    short, _, last = windows_of(make_question({"terminals": 400, "radix": 16}))
    monkeypatch.setattr(
        windows, "_WINDOWS", ((MOST_FLITS, (replace(short, places=1), replace(short, places=0), last)),)
    )
    asked = ASKED | {"families": "hyperx", "survive": "links=10%"}
    answer = topoloom.design(**asked, finalists=1, store=tmp_path / "own.store")
    known = {own.spec: own.values["survivable"] for own in answer.outcome.front}
    assert sum(value.known == "measured" for value in known.values()) <= 2
    estimated = {spec: value for spec, value in known.items() if value.known == "estimate"}
    assert estimated
    for spec, value in estimated.items():
        whole = network(spec)
        left = [
            whole.with_failures(f"links=10%,seed={draw}").split_bound("uniform")["split_bound"] for draw in (1, 2, 3)
        ]
        assert value.value == pytest.approx(min(1.0, min(left) / min(1.0, whole.split_bound("uniform")["split_bound"])))
        assert (value.low, value.high) == (0.0, 1.0)


def test_failures_leave_less_and_neighbours_are_priced(found):
    for own in found.finalists:
        told = next(row for row in found.to_dict()["finalists"] if row["spec"] == own.spec)["details"]
        assert set(told["failures"]) == {"links", "routers"}
        for rows in told["failures"].values():
            assert {row["fraction"] for row in rows} == {0.01, 0.05}
            assert {row["traffic"] for row in rows} == {"uniform", "worst-case"}
        for near in told["neighbours"]:
            built = network(near["spec"])
            assert near["cost_per_terminal_usd"] == built.layout(prices="400g").cost()["cost_per_terminal_usd"]
            bound = min(1.0, built.split_bound("uniform")["split_bound"])
            assert near["split_bound"]["uniform"] == pytest.approx(bound)


def test_other_prices_of_optics_are_tried(found):
    """Against the price of each finalist at a list whose optics were changed by hand."""
    half, twice = found.sensitivity
    assert (half.factor, twice.factor) == (0.5, 2.0)
    for turn in (half, twice):
        told = json.loads(json.dumps(price_list("400g")))
        for kind in told["cables"]:
            if kind["kind"] in ("AOC", "optics DR4"):
                kind["usd"] *= turn.factor
                kind["usd_per_m"] *= turn.factor
        for own in found.finalists:
            cost = network(own.spec).layout(prices=json.dumps(told)).cost()["cost_per_terminal_usd"]
            assert turn.costs[own.spec] == pytest.approx(cost)
        assert turn.recommended[0].spec == min(turn.costs, key=turn.costs.__getitem__)
    assert [own["optics"] for own in found.to_dict()["sensitivity"]] == [0.5, 2.0]


def test_a_dear_cable_turns_the_answer(found):
    """Two finalists by hand: the one with more optics is cheaper until these cost twice as much."""
    one, other = found.finalists[:2]

    def at(own, usual, by_factor):
        details = {("optics", factor): {"cost_per_terminal_usd": cost} for factor, cost in by_factor.items()}
        return replace(own, values=own.values | {"cost": Value.exact(usual)}, details=details)

    priced = [
        at(one, 10.0, by_factor={"0.5": 8.0, "2": 14.0}),
        at(other, 11.0, by_factor={"0.5": 10.9, "2": 11.2}),
    ]
    usual = recommend(priced, found.criteria)
    half, twice = turns(priced, found.criteria, usual)
    assert usual[0].spec == half.recommended[0].spec == one.spec
    assert twice.recommended[0].spec == other.spec
    assert "Cheapest that meets all" in twice.changed
    assert "Cheapest that meets all" not in half.changed


@pytest.mark.parametrize(
    ("asked", "rate", "prices"),
    [
        ({}, "400Gb/s", "400g"),
        ({"rate": "100G"}, "100G", "100g"),
        ({"rate": "25GB/s"}, "25GB/s", "200g"),
        ({"prices": "edr-flex"}, "100Gb/s", "edr-flex"),
        ({"prices": "galaxyfly"}, "400Gb/s", "galaxyfly"),
        ({"prices": "800g", "rate": "800Gb/s"}, "800Gb/s", "800g"),
    ],
)
def test_the_rate_chooses_the_prices(asked, rate, prices):
    question = make_question({"terminals": 64, "radix": 8} | asked)
    assert (question.rate, question.prices) == (rate, prices)


def test_electricity_counts_where_it_is_asked_for():
    asked = {"terminals": (12, 13), "radix": 5, "families": "hyperx", "criteria": "lifetime-cost,saturation.uniform"}
    answer = topoloom.design(**asked, finalists=1)
    (own,) = answer.finalists
    facts = own.facts
    assert own.values["lifetime-cost"].value == pytest.approx(facts["lifetime_cost_usd"] / facts["terminals"])
    assert facts["lifetime_cost_usd"] > facts["cost_usd"]


def test_the_cheapest_is_the_cheapest(found):
    costs = {own.spec: own.values["cost"].value for own in found.outcome.front}
    assert costs[found.recommendations[0].spec] == min(costs.values())


def test_a_least_throughput_leaves_the_part_of_the_front_that_carries_it(found, store):
    def carried(own):
        return own.values["saturation.uniform"].value

    least = sorted(carried(own) for own in found.outcome.front)[len(found.outcome.front) // 2]
    asked = topoloom.design(**ASKED, finalists=3, min_throughput=least * (1 - 1e-9), store=store)
    assert {own.spec for own in asked.outcome.front} == {
        own.spec for own in found.outcome.front if carried(own) >= least * (1 - 1e-9)
    }
    assert sum(stage["misses min-throughput"] for stage in asked.outcome.dropped.values()) > 0
    assert all(carried(own) >= least * (1 - 1e-9) for own in asked.finalists)
    assert "that carry at least" in asked.question.sentence()


def test_finalists_perform_well_enough_to_be_bought():
    """Throughputs of 0.8, a quarter of it and less; times of 1 s, four times as much and more."""
    names = ("saturation.uniform", "saturation.worst-case", "makespan.halo")
    found = candidates(terminals=(12, 40), radix=12, families="hyperx")[:5]
    numbers = [(0.8, 0.1, 1.0), (0.2, 0.8, 4.0), (0.19, 0.8, 1.0), (0.8, 0.8, 4.1), (0.8, 0.01, 1.0)]
    entrants = [
        SimpleNamespace(spec=own.spec, values=dict(zip(names, map(Value.exact, row), strict=True)))
        for own, row in zip(found, numbers, strict=False)
    ]
    criteria = [
        Criterion(names[0], "", "", "high", 3, "saturation", "uniform"),
        Criterion(names[1], "", "", "high", 3, "saturation", "worst-case"),
        Criterion(names[2], "", "", "low", 6, "makespan", "halo"),
    ]
    assert len(entrants) == 5
    assert practical(entrants, criteria) == [entrants[0], entrants[1], entrants[4]]
    assert practical(entrants[2:4], criteria) == entrants[2:4], "none performs so well in all"


def test_the_answer_says_how_many_perform_too_little(found):
    assert found.passed_over == "" or "cannot be finalists" in found.passed_over
    poor = replace(found, outcome=replace(found.outcome, passed_over=2))
    assert poor.passed_over.startswith("2 networks of the front with less than 0.25 of the best throughput")
    assert poor.passed_over in poor.to_html()
    assert poor.to_dict()["passed_over"] == 2


def test_nothing_is_measured_twice(found, store):
    with Ledger(store, create=False) as ledger:
        before = ledger.states()
    again = topoloom.design(**ASKED, finalists=3, store=store)
    with Ledger(store, create=False) as ledger:
        assert ledger.states() == before
    told, before = again.to_dict(), found.to_dict()
    assert told.pop("cpu_s") < before.pop("cpu_s"), "what is in the store costs nothing"
    assert told == before


def test_what_carries_everything_in_a_short_window_is_not_simulated_in_a_longer_one(found, store):
    """All that a longer window would show is that it still does; the last window is precise enough to be worth it."""
    with Ledger(store) as ledger:
        rows = [row for row in ledger.rows() if row["kind"] == "simulate" and "fail" not in json.loads(row["options"])]
    by_length = {length: {} for length in (1000, 6000, 12_000)}
    for row in rows:
        by_length[json.loads(row["options"])["warmup"]][row["spec"], row["traffic"]] = row["accepted"]
    short, longer = by_length[1000], by_length[6000]
    entered = {spec for spec, _ in longer}
    for spec in entered:
        for name in ("uniform", "worst-case"):
            assert ((spec, name) in longer) == (short[spec, name] < windows.CARRIED), (spec, name)
    assert len(longer) < 2 * len(entered)
    assert all((own.spec, "uniform") in by_length[12_000] for own in found.finalists)


def test_cpu_seconds_are_those_of_the_processes():
    """The clock on the wall runs on while processes wait: what points say of it does not count."""

    class Slow:
        def __init__(self, inner):
            self.inner, self.submit, self.cpu_s = inner, inner.submit, 0.0

        @property
        def capacity(self):
            return self.inner.capacity

        def collect(self, timeout_s):
            outcomes = self.inner.collect(timeout_s)
            self.cpu_s += sum(one.cpu_s for one in outcomes)
            return [replace(one, wall_s=one.wall_s + 1000) for one in outcomes]

        def __enter__(self):
            self.inner.__enter__()
            return self

        def __exit__(self, *exception):
            self.inner.__exit__(*exception)

    with TemporaryDirectory() as folder:
        executor = Slow(LocalExecutor(1))
        asked = make_question(
            {"terminals": [12, 13], "radix": 5, "families": ["hyperx"], "finalists": 1, "traffic": ["uniform"]}
        )
        began = process_time()
        told = answer(asked, Path(folder, "s"), executor=executor).to_dict()["cpu_s"]
    assert executor.cpu_s > 0
    assert executor.cpu_s < told <= executor.cpu_s + process_time() - began
    assert told < 1000


def test_the_page_names_every_finalist(found):
    page = found.to_html()
    for own in found.finalists:
        assert f'id="{own.spec}"' in page
    assert "What would change the answer" in page


COST = Criterion("cost", "", "", "low", 0)
LOAD = Criterion("saturation.uniform", "", "", "high", 3)


def test_an_interval_that_reaches_further_saves_a_network():
    criteria = [COST, LOAD]
    better = [Value.exact(1.0), Value(0.8, 0.7, 0.9, "measured")]
    assert dominates(better, [Value.exact(2.0), Value(0.6, 0.5, 0.7, "measured")], criteria)
    assert not dominates(better, [Value.exact(2.0), Value(0.6, 0.5, 0.71, "measured")], criteria)
    assert not dominates(better, better, criteria)
    assert not dominates(better, [Value.exact(0.5), Value(0.1, 0.1, 0.1, "measured")], criteria)


def test_values_that_differ_by_little_are_alike():
    criteria = [COST, LOAD]
    one, other = ([Value.exact(cost), Value(load, load, load, "measured")] for cost, load in ((1, 0.99), (2, 1.0)))
    assert beats(one, other, criteria, 0.02)
    assert not beats(one, other, criteria, 0.005)
    assert not beats(other, one, criteria, 0.02)


def test_more_than_can_be_built_is_thinned_out():
    question = make_question({"terminals": 20_000, "radix": 32, "families": "hyperx,dragonfly-plus,slimfly"})
    found = list(candidates(terminals=question.terminals, radix=32, families=question.families))
    dropped = Counter()
    kept = in_doubt(found, question, dropped)
    assert len(kept) + sum(dropped.values()) == len(found)
    assert {own.family for own in kept} <= {own.family for own in found}
    assert len(kept) < len(found)


def test_places_go_to_networks_that_carry_enough_to_be_finalists():
    """What carries too little has a tenth of the places; the others' bisections carry a quarter of uniform traffic."""
    question = make_question({"terminals": 3000, "radix": 32, "families": "torus,hyperx,slimfly,xgft,random-regular"})
    kept = in_doubt(list(candidates(terminals=3000, radix=32, families=question.families)), question, Counter())
    weak = [own for own in kept if 2 * DOUBT * own.beta < 0.25]
    assert 0 < len(weak) <= len(kept) // 10 + 1 < len(kept)
    assert len({own.family for own in kept}) >= 4
    free = make_question({"terminals": 3000, "radix": 32, "families": question.families, "min_throughput": 0.0})
    more = in_doubt(list(candidates(terminals=3000, radix=32, families=question.families)), free, Counter())
    assert sum(2 * DOUBT * own.beta < 0.25 for own in more) > len(weak)


def test_networks_too_large_to_be_simulated_are_few_and_small_enough_to_be_bounded():
    question = make_question({"terminals": MOST_FLITS + 1, "radix": 64, "families": "hyperx,random-regular,xgft"})
    found = list(candidates(terminals=question.terminals, radix=64, families=question.families))
    dropped = Counter()
    kept = in_doubt(found, question, dropped)
    assert 3 <= len(kept) <= LARGE_BUILT
    assert len(kept) + sum(dropped.values()) == len(found)
    for own in kept:
        assert own.routers <= {"hyperx": 6000, "random-regular": 2500, "xgft": 12_000}[own.family]


def test_all_routers_in_pairs_are_one_network_whatever_the_family():
    """A HyperX of one dimension, a dragonfly of routers and a Galaxyfly of one supernode: a HyperX is built."""
    question = make_question({"terminals": (12, 12), "radix": 6, "families": "dragonfly,galaxyfly,hyperx"})
    dropped = Counter()
    kept = {own.spec for own in in_doubt(list(candidates(terminals=(12, 12), radix=6)), question, dropped)}
    assert "hyperx:4,p=3" in kept
    assert not kept & {"galaxyfly:n=1,q=1,a=4,p=3", "dragonfly:a=1,h=3,p=3"}
    assert dropped["joins every pair of routers, as a network of another family does"] >= 2


def test_a_tree_of_two_families_is_built_once():
    """A rack with one switch, and a link from it to each leaf, is a pod of an XGFT: the links are compared."""
    asked = {"terminals": (40, 44), "radix": 8}
    found, dropped = list(candidates(**asked)), Counter()
    question = make_question(asked)
    kept = {own.spec for own in in_doubt(found, question, dropped)}
    one, other = "xgft:down=4x2x5,up=1x2", "rack-tree:racks=5,leaf=2,upper=1,trunk=1,top=2,links=1,p=4"
    assert {one, other} <= {own.spec for own in found}
    assert other not in kept
    assert dropped["is the same tree as one of another family"] == 6
    graphs = [networkx.MultiGraph([(a, b) for a, _, b, _, _ in network(spec).edges()]) for spec in (one, other)]
    assert networkx.is_isomorphic(*graphs)
    assert in_doubt([own for own in found if own.spec == other], question, Counter())


def test_bounds_stand_for_what_networks_carry_that_are_too_large(monkeypatch):
    monkeypatch.setattr(windows, "_WINDOWS", ((MOST_FLITS, ()),))
    answer = topoloom.design(**ASKED | {"families": "hyperx"}, finalists=1)
    for own in answer.outcome.front:
        value = own.values["saturation.uniform"]
        assert value.known == "bound"
        assert value.value <= value.high == own.most["uniform"]
    assert not any(kind == "saturation" for kind, _ in answer.finalists[0].details)
    assert "are not simulated flit by flit" in answer.to_html()


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"radix": 2}, "radix is 2; it must be a whole number from 3 to 1024"),
        ({"budget": "30 pounds"}, "budget is '30 pounds'; it must be dollars such as 30M"),
        ({"power": "-3kW"}, "power is '-3kW'; it must be watts such as 500kW"),
        ({"terminals": (30, 20)}, "terminals are 30 to 20; they must ascend"),
        ({"terminals": True}, "terminals is True; it must be a whole number or a pair of them"),
        ({"radix": True}, "radix is True; it must be a number"),
        ({"min_bisection": True}, "min-bisection is True; it must be a number"),
        ({"families": ","}, "families is ','; it must be names with commas between them"),
        ({"families": "hyperx,,slimfly"}, "families is 'hyperx,,slimfly'; it must be names with commas between them"),
        ({"criteria": "cost,"}, "criteria is 'cost,'; it must be names with commas between them"),
        ({"criteria": "cots"}, "unknown criterion 'cots' (did you mean 'cost'?)"),
        ({"criteria": "survivable"}, "criterion survivable needs the failures: --survive links=2%"),
        ({"families": "slimfli"}, "no family 'slimfli' to search (did you mean 'slimfly'?)"),
        ({"hosts": "hgx-h10"}, "unknown host 'hgx-h10' (did you mean 'hgx-h100'?)"),
        ({"hosts": "hgx-h100", "families": "twin-torus"}, "the family twin-torus cannot take hosts hgx-h100"),
        ({"families": "cluster"}, "the family cluster is not searched: it puts hosts on a network"),
        ({"finalists": 0}, "finalists is 0; it must be a whole number from 1 to 64"),
        ({"colour": "red"}, "unknown option 'colour'"),
        ({"max_diameter": 1, "radix": 4}, "no network meets max-diameter 1 hops, which excludes 5 of 5 networks"),
        ({"budget": 10}, "the nearest that meets all else that is asked is"),
        ({"terminals": (1_000, 1_000), "radix": 3, "families": "slimfly"}, "no family has 1,000 to 1,000 terminals"),
        ({"traffic": "worst-cse"}, "unknown traffic 'worst-cse' (did you mean 'worst-case'?)"),
        ({"apps": "alltoal"}, "unknown application 'alltoal' (did you mean 'alltoall'?)"),
        ({"apps": "chakra"}, "chakra: needs a FILE, as in chakra:step.0.et"),
        ({"apps": "goal:nothing.goal"}, "goal: nothing.goal: No such file or directory"),
        ({"apps": "gpcnet"}, "app gpcnet repeats messages until other tasks are done, which the flow engine does not"),
        ({"terminals": "50-60"}, "terminals is '50-60'; it must be"),
        ({"layout": "rck"}, "unknown preset 'rck' (did you mean 'rack'?)"),
        ({"prices": "nix"}, "unknown price list 'nix'"),
        ({"rate": "50G"}, "no price list has links of 50 Gb/s; there are lists of 25, 100, 200, 400, 800 Gb/s"),
        ({"rate": "fast"}, "rate is 'fast'; it must be bits or bytes per second"),
        ({"rate": "400G", "prices": "edr-flex"}, "edr-flex has links of 100 Gb/s, but rate is 400G"),
        ({"radix": 200}, "the largest switch of the price list 400g has 128 ports"),
        ({"criteria": "lifetime-cost", "prices": "edr-flex"}, "the price list edr-flex has none"),
        ({"routing": "mn"}, "unknown routing 'mn' (did you mean 'min'?)"),
        ({"routing": "ts-dor"}, "no network can be measured; of the first: "),
        ({"min_throughput": 1.5}, "min-throughput is 1.5; it must be a number from 0 to 1 flit"),
        (
            {"min_throughput": 0.5, "traffic": "worst-case"},
            "min-throughput is of uniform traffic, which",
        ),
        ({"min_throughput": 0.5, "criteria": "cost"}, "min-throughput needs the criterion saturation.uniform"),
        (
            {"min_throughput": 1.0, "families": "hyperx"},
            "no network meets min-throughput 1 of uniform traffic",
        ),
        ({"survive": "links=2%", "terminals": MOST_FLITS + 1}, "survive is simulated flit by flit"),
        ({"survive": "links=2%,seed=3"}, "survive takes no seed"),
        ({"survive": ""}, "survive is ''; it must be failures such as links=2%"),
        ({"survive": "lnks=2%"}, "survive: unknown key 'lnks' (did you mean 'links'?)"),
        ({"survive": "links=200%"}, "survive: links is '200%'; a percentage must be from 0% to 100%"),
        ({"survive": "links=zz"}, "survive: links is 'zz'; it must be a whole number"),
        (
            {"survive": "links=70%", "families": "hyperx"},
            "or has no routing left, when links=70% fail",
        ),
    ],
)
def test_mistakes_are_one_sentence(asked, sentence, store):
    with pytest.raises(TopoloomError) as told:
        topoloom.design(**(ASKED | asked), store=store)
    assert sentence in str(told.value)
    assert "\n" not in str(told.value)
    assert not re.search(r"\b(\w+) \1\b", str(told.value))


def test_what_is_named_twice_counts_once():
    asked = ASKED | {"traffic": "uniform,uniform", "apps": ["alltoall", "alltoall"], "criteria": "cost,cost"}
    question = make_question(asked)
    assert (question.traffic, question.apps, question.criteria) == (("uniform",), ("alltoall",), ("cost",))


def test_a_range_of_terminals_may_be_written_as_on_the_command_line():
    assert make_question({"terminals": "50:60", "radix": 8}).terminals == (50, 60)


def test_a_key_is_written_in_one_way(tmp_path):
    (tmp_path / "q.toml").write_text("terminals = 16\nradix = 6\nmax-diameter = 3\nmax_diameter = 4\n")
    with pytest.raises(TopoloomError, match="max-diameter is given twice, with a dash and without"):
        topoloom.design(tmp_path / "q.toml")


def test_applications_run_on_hosts_and_throughput_is_that_of_the_network(tmp_path):
    asked = {
        "terminals": (64, 70),
        "radix": 9,
        "families": "hyperx",
        "traffic": "uniform",
        "apps": "allreduce:size=1MiB",
    }
    found = topoloom.design(**asked, hosts="hgx-h100", finalists=2, store=tmp_path / "own.store")
    for own in found.to_dict()["finalists"]:
        built = topoloom.network(own["cluster"])
        assert 64 <= built.num_terminals <= own["terminals"]
        options = WorkloadOptions(rate="400Gb/s", seed=1)
        alone = WorkloadRun(built, "allreduce:size=1MiB,tasks=64", "adaptive", options).play()
        assert own["criteria"]["makespan.allreduce:size=1MiB"]["value"] == pytest.approx(alone.makespan_s)
        assert f"({own['spec']},rate=400Gb/s)" in own["cluster"]
    assert found.question.sentence().startswith("64 to 70 accelerators in hosts hgx-h100 on routers")


def test_the_nearest_is_what_comes_closest(store):
    with pytest.raises(TopoloomError) as told:
        topoloom.design(**ASKED, budget=1000, store=store)
    least = min((own.facts(prices="400g")["cost_usd"], own.spec) for own in candidates(**ASKED))
    assert least[1] in str(told.value)


def test_amounts_have_units():
    units = {"": 1.0, "k": 1e3}
    assert [amount(text, units, "dollars") for text in ("3", "2.5k", 7)] == [3.0, 2500.0, 7.0]
    for wrong in ("", "k", "3 M", "nan", True, None):
        with pytest.raises(ValueError, match="it must be dollars"):
            amount(wrong, units, "dollars")


def test_the_command_answers_a_file_and_goes_on(topoloom, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "q.toml").write_text('terminals = [16, 18]\nradix = 6\nfamilies = ["hyperx"]\nfinalists = 2\n')
    told = topoloom("design", "q.toml", "--json", "--out", "r.html")
    assert told.status == 0
    assert len(json.loads(told.out)["finalists"]) == 2
    assert (tmp_path / "r.html").is_file()
    assert (tmp_path / "r.html.store").is_dir()
    again = topoloom("design", "q.toml", "--out", "r.html")
    assert again.status == 0
    assert "Cheapest that meets all: hyperx:" in again.out
    assert topoloom("design", "--radix", "8").err == (
        "topoloom: error: a design needs terminals; give it as --terminals or in the TOML file\n"
    )
