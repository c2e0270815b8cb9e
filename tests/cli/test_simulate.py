"""Simulations: keys, reproducibility, exit statuses, interruption."""

import json
import subprocess
import sys

import pytest

import topoloom
from harness.engine import TIMES
from harness.processes import interrupt, talkative

POINT_KEYS = {
    "offered", "accepted", "latency_cycles", "latency_ci95", "network_latency_cycles", "p50", "p99", "hops",
    "converged", "saturated", "cycles", "flit_hops", "wall_s", "cpu_s",
}  # fmt: skip


def stripped(result):
    """Return a result without the fields that no two runs share."""
    points = [{key: value for key, value in point.items() if key not in TIMES} for point in result["points"]]
    return result | {"points": points}


def test_simulate_prints_json_with_the_documented_keys(topoloom):
    outcome = topoloom("simulate", "mesh:4x4", "--load", "0.1,0.3", "--json")
    assert outcome.status == 0
    result = outcome.json()
    assert result.keys() >= {"spec", "routing", "traffic", "config", "seed", "version", "points"}
    assert (result["routing"], result["traffic"], result["seed"]) == ("dor", "uniform", 1)
    assert result["config"]["vcs"] == 4
    assert [point["offered"] for point in result["points"]] == [0.1, 0.3]
    for point in result["points"]:
        assert point.keys() >= POINT_KEYS
        assert point["converged"]
        assert not point["saturated"]
        assert point["accepted"] == pytest.approx(point["offered"], rel=0.05)
        assert point["p50"] <= point["p99"]


def test_the_latency_of_an_empty_mesh_is_that_of_the_formula():
    """T0 = 3 H + 2 for H routers at speedup 2; H is 1 + 2 * 1.25 on average on a 4x4 mesh, self-traffic included."""
    point = topoloom.network("mesh:4x4").simulate(load=0.001, warmup=1000, measure=400_000).points[0.001]
    assert point.latency_cycles == pytest.approx(3 * point.hops + 2, abs=0.05)
    assert point.hops == pytest.approx(3.5, rel=0.02)


def test_a_seed_gives_the_same_result_whatever_the_threads(topoloom):
    arguments = ["simulate", "hyperx:4x4,p=2", "--load", "0.2,0.6", "--routing", "adaptive", "--json"]
    first = stripped(topoloom(*arguments).json())
    again = stripped(topoloom(*arguments).json())
    threads = stripped(topoloom(*arguments, "--threads", "2").json())
    other = stripped(topoloom(*arguments, "--seed", "2").json())
    assert first == again
    assert first["points"] == threads["points"]
    assert first["points"] != other["points"]


def test_people_get_a_row_a_load(topoloom):
    outcome = topoloom("simulate", "mesh:4x4", "--load", "0.1:0.3:0.1")
    rows = [line.split() for line in outcome.out.splitlines()[3:]]
    assert [row[0] for row in rows] == ["0.1", "0.2", "0.3"]
    assert {row[-1] for row in rows} == {"converged"}


def test_past_saturation_is_an_answer(topoloom):
    outcome = topoloom("simulate", "mesh:8x8", "--load", "1", "--json")
    assert outcome.status == 0
    assert outcome.json()["points"][0]["saturated"]


def test_no_answer_is_status_3(topoloom):
    outcome = topoloom("simulate", "mesh:4x4", "--load", "0", "--json")
    assert outcome.status == 3
    assert outcome.json()["points"][0]["latency_cycles"] is None


def test_a_deadlock_is_status_3_and_names_routers(topoloom):
    outcome = topoloom(
        "simulate", "torus:8", "--routing", "dor", "--traffic", "tornado", "--load", "1", "--router",
        "vcs=1,buffer=2", "--packet", "8", "--unsafe", "--json",
    )  # fmt: skip
    assert outcome.status == 3
    assert "deadlock" in outcome.err
    point = outcome.json()["points"][0]
    assert point["deadlocked"]
    assert len(point["deadlock"]["routers"]) == 8


def test_saturation_is_the_largest_stable_load(topoloom):
    result = topoloom("saturation", "mesh:4x4", "--traffic", "transpose", "--json").json()
    load, zero = result["saturation_load"], result["zero_load_latency_cycles"]
    points = {point["offered"]: point for point in result["points"]}
    assert points[load]["accepted"] >= 0.98 * load
    assert points[load]["latency_cycles"] <= 3 * zero
    past = points[round(load + 0.01, 2)]
    assert past["accepted"] < 0.98 * past["offered"] or past["latency_cycles"] > 3 * zero
    assert result["accepted_at_1"] == points[1.0]["accepted"]
    assert 0 < result["saturation_load"] <= result["saturation_bound"] <= 1
    assert result["saturation_bound_is"] in {"expected-load", "distance"}
    assert result["accepted_max"] == max(point["accepted"] for point in points.values())


def test_a_network_that_never_saturates_has_saturation_load_1():
    curve = topoloom.network("hyperx:4").saturation(traffic="neighbor")
    assert curve.saturation_load == 1.0


def test_verify_proves_or_fails(topoloom):
    keys = {"spec", "routing", "deadlock_free", "method", "channels", "dependencies", "vcs_needed", "cycle"}
    outcome = topoloom("verify", "torus:4x4", "--json")
    assert outcome.status == 0
    proof = outcome.json()
    assert proof.keys() >= keys
    assert (proof["routing"], proof["deadlock_free"], proof["vcs_needed"]) == ("dor", True, 2)
    assert proof["unserved_pairs"] == 0
    assert "deadlock free" in topoloom("verify", "flex:3x3x3", "--routing", "adaptive").out


def test_verify_that_fails_is_status_1_and_prints_the_cycle(topoloom, monkeypatch):
    hop = {"from": 0, "to": 1, "port": 2, "vc_class": 0, "link": "local"}
    proof = {
        "spec": "mesh:2x2", "routing": "dor", "deadlock_free": False, "method": "acyclic", "channels": 1,
        "dependencies": 1, "vcs_needed": 1, "cycle": [hop], "states_without_escape": 0,
        "unserved_pairs": 1, "unserved_examples": [[0, 3]],
    }  # fmt: skip
    monkeypatch.setattr("topoloom.network.networks.Network.verify", lambda *_, **__: proof)
    outcome = topoloom("verify", "mesh:2x2")
    assert outcome.status == 1
    assert "NOT deadlock free" in outcome.out
    assert "router 0 port 2 → router 1" in outcome.out
    assert "0 to 3" in outcome.out


def test_progress_goes_to_stderr_and_a_broken_pipe_is_quiet():
    command = f"{sys.executable} -m topoloom list topologies | true; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert done.stderr == ""


ENDLESS = ["simulate", "mesh:8x8", "--load", "0.0001,0.4", "--warmup", "0", "--measure", "10000000"]


def started(*more):
    """Start a simulation of two loads, of which the first is done soon and the second never."""
    command = talkative([*ENDLESS, *more])
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_ctrl_c_stops_within_a_second_and_keeps_what_people_saw():
    process = started()
    row = next(line for line in process.stdout if line.split()[0] == "0.0001")
    ending = interrupt(process)
    assert ending.status == 130
    assert ending.took_s < 1.5
    assert "interrupted; 1 point" in ending.err
    assert "Traceback" not in ending.err
    assert "converged" in row
    assert "0.4" not in ending.out


def test_ctrl_c_leaves_valid_json():
    process = started("--json")
    next(line for line in process.stderr if "1 of 2 points are done" in line)
    ending = interrupt(process)
    assert ending.status == 130
    assert ending.took_s < 1.5
    result = json.loads(ending.out)
    assert result["interrupted"]
    assert [point["offered"] for point in result["points"]] == [0.0001]


@pytest.mark.parametrize("spec", ["flex:3x3x3,p=2", "mesh:4x4"])
def test_packets_are_counted_by_the_routers_that_they_visit(spec):
    """Their counts sum to the packets and their mean to the hops; minimal ones visit no more than the diameter lets."""
    network = topoloom.network(spec)
    point = network.simulate(load=0.1, warmup=200, measure=2000, threads=2).points[0.1]
    assert sum(point.hop_counts) == point.packets
    assert sum(hops * count for hops, count in enumerate(point.hop_counts)) / point.packets == pytest.approx(point.hops)
    assert len(point.hop_counts) == network.facts()["diameter"] + 2
    assert point.hop_counts[0] == 0


@pytest.mark.parametrize(("spec", "routing"), [("mesh:2", "dor"), ("torus:5", "duato"), ("hypercube:3", "duato")])
def test_the_model_of_virtual_cut_through_takes_its_paper_s_times(topoloom, spec, routing):
    """38 cycles per switch, 8 per link, 8 each to enter and to leave, 32 more for the tail: 46 H + 40."""
    options = ["--model", "vct", "--routing", routing, "--traffic", "uniform:exclude-self", "--load", "0.002"]
    told = topoloom("simulate", spec, *options, "--warmup", "2000", "--measure", "60000", "--json").json()
    point = told["points"][0]
    assert point["network_latency_cycles"] == pytest.approx(46 * point["hops"] + 40, rel=0.02)
    assert point["latency_ns"] == pytest.approx(point["latency_cycles"] * 8 / 3)
    config = told["config"]
    assert (config["model"], config["vcs"], config["packet"], config["flow"]) == ("vct", 4, 33, "vct")


def test_options_stand_above_the_times_of_a_model(topoloom):
    options = ["--model", "vct", "--packet", "4", "--router", "buffer=9", "--load", "0.1"]
    config = topoloom("simulate", "mesh:2x2", *options, "--warmup", "50", "--measure", "100", "--json").json()["config"]
    assert (config["packet"], config["buffer"], config["routing_delay"]) == (4, 9, 36)
    told = topoloom("simulate", "mesh:2x2", *options, "--warmup", "50", "--measure", "100").out.splitlines()
    assert told[1].endswith("latency in cycles of 2.667 ns")
    assert told[2].split()[2:5] == ["latency", "in", "ns"]
    outcome = topoloom("simulate", "mesh:2x2", "--model", "vct", "--router", "flow=wormhole", "--load", "0.1")
    assert (outcome.status, "model=vct is virtual cut-through" in outcome.err) == (2, True)
