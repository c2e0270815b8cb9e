"""`--routing best`, and the line that says where another routing carries more than the adaptive one."""

import pytest

from topoloom import Network, TopoloomError
from topoloom.cli.compare import print_saturation
from topoloom.report.comparison import Comparison
from topoloom.report.rendering import render_report
from topoloom.report.throughput import BOUNDED, MEASURED, shortfalls
from topoloom.simulation.curves import Curve
from topoloom.simulation.options import EngineOptions
from topoloom.simulation.points import ZERO_LOAD, Point
from topoloom.simulation.trials import rank

SPEC = "dragonfly:a=4,h=2,p=2"
SMALL = "dragonfly:a=2,h=1,p=2"
"""Every routing of a dragonfly in a tenth of the time, for what does not depend on the size."""
SHORT = ["--warmup", "800", "--measure", "400"]


def point(load: float, accepted: float, latency: float | None = 20.0, *, deadlocked: bool = False) -> Point:
    return Point(
        offered=load, accepted=accepted, latency_cycles=latency, latency_ci95=0.1, network_latency_cycles=latency,
        p50=1.0, p99=1.0, hops=2.0, converged=True, saturated=False, deadlocked=deadlocked, cycles=1, flit_hops=1,
        wall_s=0.0, cpu_s=0.0, active_terminals=1,
    )  # fmt: skip


def curve(routing: str, accepted: dict[float, float], role: str = "", spec: str = SPEC, **more) -> Curve:
    points = {load: point(load, value) for load, value in accepted.items()}
    config = {"seed": 1, "vcs": 4, "model": "iq"}
    return Curve(spec, routing, role or routing, "next-group", config, points, True, roles=(role,), **more)


def test_all_routings_at_the_same_loads_the_best_one_first(topoloom):
    arguments = ["simulate", SMALL, "--routing", "best", "--traffic", "next-group", "--load", "0.1,1", *SHORT]
    found = topoloom(*arguments, "--json").json()
    offered = set(Network(SMALL).core.routings())
    assert {row["routing"] for row in found["routings"]} | set(found["refused"]) == offered
    assert found["best"] == found["routings"][0]["routing"]
    assert [curve["routing"] for curve in found["curves"]] == [row["routing"] for row in found["routings"]]
    for row, own in zip(found["routings"], found["curves"], strict=True):
        single = topoloom("simulate", SMALL, "--routing", row["routing"], "--traffic", "next-group", "--load", "0.1,1",
                          *SHORT, "--json").json() if row["routing"] in ("par", "min") else own  # fmt: skip
        assert row["accepted_at_full"] == single["points"][-1]["accepted"]
        assert row["latency_cycles"] == single["points"][0]["latency_cycles"]
        assert row["vcs"] == single["config"]["vcs"], "the VCs that it has by default"
        assert row["accepted_max"] == max(one["accepted"] for one in own["points"])
    accepted = [round(row["accepted_at_full"], 2) for row in found["routings"]]
    assert accepted == sorted(accepted, reverse=True)
    roles = {row["routing"]: row["roles"] for row in found["routings"]}
    assert (roles["min"], roles["par"], roles["val"]) == (["minimal"], ["adaptive"], [])
    table = topoloom(*arguments)
    assert "best first: the load accepted at the highest load" in table.out
    assert [line.split()[0] for line in table.out.splitlines()[-len(accepted) :]] == [
        row["routing"] for row in found["routings"]
    ]


def test_routings_that_cannot_run_are_named(topoloom):
    outcome = topoloom("simulate", SPEC, "--routing", "best", "--load", "0.1", *SHORT, "--router", "vcs=4", "--json")
    assert outcome.status == 0
    assert "par is left out: " in outcome.err
    assert set(outcome.json()["refused"]) >= {"par"}
    assert {row["vcs"] for row in outcome.json()["routings"]} == {4}
    wrong = topoloom("simulate", SPEC, "--routing", "best", "--traffic", "unifrom", "--load", "0.1")
    assert (wrong.status, wrong.err.count("\n")) == (2, 1)
    assert "did you mean 'uniform'" in wrong.err
    with pytest.raises(TopoloomError, match="unknown traffic"):
        Network(SPEC).try_routings("unifrom", 0.1)


def test_searches_of_all_routings(topoloom, tmp_path):
    arguments = ["saturation", "torus:4x4", "--routing", "best", *SHORT, "--json", "--store", str(tmp_path / "store")]
    found = topoloom(*arguments).json()
    single = topoloom("saturation", "torus:4x4", "--routing", "val", *SHORT, "--json").json()
    [row] = [row for row in found["routings"] if row["routing"] == "val"]
    assert row["saturation_load"] == single["saturation_load"]
    assert row["accepted_at_full"] == single["accepted_at_1"]
    assert (found["lowest_load"], found["highest_load"]) == (ZERO_LOAD, 1.0)
    again = topoloom(*arguments)
    assert " and 0 now" in again.err, "all points are in the store"


def test_compare_takes_all_routings_of_each_network(topoloom):
    found = topoloom("compare", SMALL, "torus:4x4", "--routing", "best", "--load", "0.1", *SHORT, "--json").json()
    for spec in (SMALL, "torus:4x4"):
        mine = [curve for curve in found["curves"] if curve["spec"] == spec]
        assert {curve["routing"] for curve in mine} == set(Network(spec).core.routings())
        accepted = [round(curve["accepted_at_1"], 2) for curve in mine]
        assert accepted == sorted(accepted, reverse=True)


def test_curves_are_ranked_by_what_they_accept_then_by_saturation_then_by_latency():
    better = curve("a", {0.1: 0.1, 1.0: 0.504})
    saturates_earlier = curve("b", {0.1: 0.05, 1.0: 0.501})
    less = curve("c", {0.1: 0.1, 1.0: 0.49})
    stuck = curve("d", {0.1: 0.1})
    stuck.points[1.0] = point(1.0, 0.9, None, deadlocked=True)
    assert sorted([stuck, less, saturates_earlier, better], key=rank) == [better, saturates_earlier, less, stuck]


def test_a_line_says_where_another_routing_carries_more():
    adaptive = curve("par", {0.1: 0.1, 0.6: 0.5, 1.0: 0.40}, "adaptive")
    valiant = curve("val", {0.1: 0.1, 0.6: 0.45, 1.0: 0.45})
    [short] = shortfalls([adaptive, valiant])
    assert (short.other, short.accepted, short.carries, short.load) == ("val", 0.40, 0.45, 1.0)
    assert short.sentence() == (
        f"{SPEC}, next-group: val carries more than the adaptive routing par: it accepts 0.450 at load 1, par 0.400"
    )
    assert shortfalls([adaptive, curve("val", {1.0: 0.405})]) == [], "within noise"
    [short] = shortfalls(
        [curve("par", {0.1: 0.1, 1.0: 0.45}, "adaptive"), valiant, curve("min", {0.6: 0.55, 1.0: 0.3})]
    )
    assert (short.other, short.carries, short.load) == ("min", 0.55, None)
    assert shortfalls([adaptive, curve("val", {0.5: 0.5})]) == [], "not measured at the same load"
    assert shortfalls([adaptive, curve("val", {1.0: 0.9}, spec="torus:4x4")]) == [], "another network"
    other_options = curve("val", {1.0: 0.9}, "val, vcs 8")
    assert shortfalls([adaptive, other_options]) == []


def test_what_carries_nothing_or_just_as_much_as_noise_allows_is_not_more():
    adaptive = curve("par", {0.1: 0.1, 1.0: 0.40}, "adaptive")
    least = MEASURED * 0.40
    assert shortfalls([adaptive, curve("val", {0.6: 0.2, 1.0: least})]) == []
    assert shortfalls([adaptive, curve("val", {0.6: least, 1.0: 0.3})]) == [], "at any load"
    nothing = curve("val", {0.6: 0.0, 1.0: 0.0})
    assert shortfalls([adaptive, nothing]) == []
    [short] = shortfalls([adaptive, nothing, curve("min", {0.6: 0.55, 1.0: 0.3})])
    assert short.other == "min"
    network = Network(SPEC)
    bound = network.bound("val", "next-group")["saturation_bound"]
    own = bound / BOUNDED
    assert BOUNDED * own == bound
    assert shortfalls([curve("par", {0.1: 0.1, 1.0: own}, "adaptive")], [network]) == []


def test_a_bound_is_enough_where_the_other_was_not_simulated():
    network = Network(SPEC)
    low, high = (curve("par", {0.1: 0.1, 1.0: accepted}, "adaptive") for accepted in (0.2, 0.5))
    [short] = shortfalls([low], [network])
    assert not short.simulated
    assert short.other == "val"
    assert short.carries == pytest.approx(network.bound("val", "next-group")["saturation_bound"])
    assert "which was not simulated, may carry more" in short.sentence()
    assert shortfalls([high], [network]) == [], "no more than its bound"
    assert shortfalls([low, curve("val", {1.0: 0.19})], [network]) == [], "what was simulated counts"


def test_the_command_its_json_and_the_report_say_it(capsys):
    curves = [curve("par", {0.1: 0.1, 1.0: 0.40}, "adaptive"), curve("val", {0.1: 0.1, 1.0: 0.45})]
    facts = [{"spec": SPEC, "terminals": 72, "cost_usd": 1.0, "power_w": 1.0}]
    comparison = Comparison(facts, curves, [EngineOptions()], ["next-group"], ["topoloom", "compare"], finished=True)
    sentence = "val carries more than the adaptive routing par: it accepts 0.450 at load 1, par 0.400"
    [told] = comparison.to_dict()["carried_more"]
    assert (told["other"], told["accepted"], told["carries"]) == ("val", 0.40, 0.45)
    assert told["sentence"].endswith(sentence)
    assert sentence in render_report(comparison)
    print_saturation(comparison)
    assert sentence in capsys.readouterr().out
