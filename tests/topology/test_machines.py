"""Machines that exist: every published figure against what the built network has, proofs, and runs of scaled forms."""

import json
from collections import Counter

import pytest

from harness.engine import proof_of
from harness.lengths import with_long
from topoloom import Network, _core

MACHINES = {machine.name: machine for machine in _core.machines()}


@pytest.mark.parametrize("name", MACHINES)
def test_published_figures_are_those_of_the_network(name):
    told = MACHINES[name]
    built = _core.Network(told.example).machine()
    assert not built["is_scaled"]
    assert len(built["figures"]) == len(told.figures)
    for figure, expected in zip(built["figures"], told.figures, strict=True):
        value = pytest.approx(expected["value"], rel=expected["tolerance"] or 1e-9)
        assert figure["built"] == value, figure


FABRIC = ("local", "global", "up")
"""Classes of links outside of hosts that a scaled form may have fewer of."""


def shares(spec):
    """Return the capacity of the links of each class outside of hosts, in units of what all hosts inject."""
    core = Network(spec).core
    injected = core.injection_gbps * core.num_terminals
    found = Counter()
    for (rate, *_), (*_, kind) in zip(core.link_wires(), core.edges(), strict=True):
        found[kind] += rate / injected
    return {kind: share for kind, share in found.items() if kind in FABRIC}


@pytest.mark.parametrize("name", MACHINES)
def test_scaled_machines_leave_a_host_its_share_of_the_fabric(name):
    """To what whole links leave; Piz Daint of one cabinet a group has 0.69 of the links between chassis."""
    whole, scaled = shares(MACHINES[name].example), shares(MACHINES[name].scaled)
    assert scaled == pytest.approx(whole, rel=0.35)


@pytest.mark.parametrize("name", with_long(MACHINES, lambda name: name == "aurora"))
def test_scaled_machines_are_proved_deadlock_free(name):
    told = MACHINES[name]
    proof = proof_of(told.scaled, told.routing)
    assert proof["deadlock_free"]
    assert proof["unserved_pairs"] == 0


LONG = {"aurora", "frontier", "fugaku", "mira", "piz-daint", "sequoia"}


@pytest.mark.parametrize("name", with_long(MACHINES, LONG.__contains__))
def test_whole_machines_are_proved_deadlock_free(name):
    told = MACHINES[name]
    proof = proof_of(told.example, told.routing)
    assert (proof["deadlock_free"], proof["unserved_pairs"], proof["cycle"]) == (True, 0, [])


@pytest.mark.parametrize("name", MACHINES)
def test_scaled_machines_run(topoloom, name):
    """On meta-24k a packet takes 19,400 short cycles: the warm-up is twice that."""
    told = MACHINES[name]
    network = Network(told.scaled)
    point = topoloom(
        *("simulate", told.scaled, "--routing", told.routing, "--load", "0.01", "--json"),
        *("--warmup", "40000", "--measure", "10000"),
    )
    assert point.status == 0, point.err
    assert point.json()["points"][0]["accepted"] == pytest.approx(0.01, rel=0.1)
    run = topoloom(
        "workload", told.scaled, "--routing", told.routing, "--app", f"halo:grid={network.num_terminals}", "--json"
    )
    assert run.status == 0, run.err
    assert run.json()[0]["tasks"] == network.num_terminals


def test_show_tells_what_was_published(topoloom):
    text = " ".join(topoloom("show", "machine:abci-v,racks=2").out.split())
    assert "Assumed: a director switch is one switch" in text
    assert "it runs the routing hosts:fabric=min" in text
    assert "2,176" in text
    assert "What was published is of the whole machine." in text
    facts = topoloom("show", "machine:abci-v,racks=2", "--json").json()[0]
    figures = {figure["fact"]: figure for figure in facts["machine"]["figures"]}
    assert (figures["hosts"]["published"], figures["hosts"]["built"]) == (1088, 68)
    assert figures["radix"]["source"] is None
    assert "machine" not in topoloom("show", "mesh:4x4", "--json").json()[0]


def test_lists_tell_machines(topoloom):
    text = topoloom("list", "machines").out
    assert "abci-v" in text
    assert "racks=  racks of 34 hosts (32 in all)" in text
    listed = topoloom("list", "machines", "--json").json()
    assert [machine["name"] for machine in listed] == list(MACHINES)
    assert json.dumps(listed[0])


def test_machines_are_scaled_by_hosts(topoloom):
    assert Network("machine:abci-v,hosts=68").num_terminals == 4 * 68
    for spec, words in [
        ("machine:abci-v,hosts=100", "whole racks have 34 hosts each: 68 or 102 are possible"),
        ("machine:abci-v,groups=3", "abci-v has no groups; it is scaled by racks"),
        ("machine:abciv", "did you mean 'abci-v'"),
        ("machine:frontier,groups=1", "at least 2 is possible"),
        ("machine:frontier,groups=546", "groups is 546; at most 545 is possible, and 546 is more"),
        ("machine:leonardo,groups=24", "groups is 24; at most 23 is possible, and 24 is more"),
        ("machine:tpu-v4,sides=6x4x4", "only multiples of 4 are whole cubes of 4x4x4"),
        ("machine:slingshot-64x8,switches=6", "only multiples of 4 are whole chassis of 4 switches"),
    ]:
        failed = topoloom("show", spec)
        assert failed.status == 2
        assert words in failed.err
        assert len(failed.err.strip().splitlines()) == 1


def test_rates_of_a_machine_can_be_changed():
    network = Network("machine:slingshot-64x8,rate.local=100G")
    rates = {
        wire[0]
        for wire, (*_, kind) in zip(network.core.link_wires(), network.core.edges(), strict=True)
        if kind == "local"
    }
    assert rates == {100.0}


def test_files_of_ones_own_are_machines_too(topoloom, tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text("include = 'abci-v'\nrouting = 'hosts:nic=spread'\n")
    network = Network(f"machine:{path},racks=2")
    assert network.core.machine()["routing"] == "hosts:nic=spread"
    path.write_text(f"include = '{path}'\n")
    failed = topoloom("show", f"machine:{path}")
    assert failed.status == 2
    assert "include each other in a circle" in failed.err
    assert len(failed.err.strip().splitlines()) == 1


def test_python_has_the_family():
    import topoloom  # noqa: PLC0415 - the fixture of that name is the command line

    assert topoloom.Machine("abci-v", racks=2).num_terminals == 2 * 34 * 4
