"""Layouts: lengths, cost and power against a slow second computation and against what papers print."""

import csv
import json
import math
import re
from collections import Counter
from pathlib import Path

import pytest

import topoloom
from harness.paths import ROOT
from oracles import floor
from topoloom import _core as topoloom_core
from topoloom.layout.layouts import pack


def cables_of(topoloom, path, *arguments):
    assert topoloom("layout", *arguments, "--cables", str(path)).status == 0
    with path.open() as file:
        return list(csv.DictReader(file))


def edges_of(topoloom, path, spec):
    assert topoloom("show", spec, "--edges", str(path)).status == 0
    with path.open() as file:
        return [(int(row["router_a"]), int(row["router_b"])) for row in csv.DictReader(file)]


@pytest.mark.parametrize(
    ("spec", "family", "numbers"),
    [
        ("mesh:5x4,p=2", "mesh", [5, 4]),
        ("torus:4x3x5", "torus", [4, 3, 5]),
        ("hyperx:4x3x2,p=3,trunk=2", "hyperx", [4, 3, 2]),
        ("flex:4x3x5,p=2", "flex", [4, 3, 5]),
        ("dragonfly:a=4,h=2,p=2", "dragonfly", [4]),
        ("dragonfly:a=3,h=2,p=1,g=4", "dragonfly", [3]),
        ("slimfly:q=5,p=4", "slimfly", [5]),
        ("galaxyfly:n=7,q=5,a=2,p=20", "galaxyfly", [5, 2, 20]),
        ("galaxyfly:n=2,q=9,a=3,p=40", "galaxyfly", [9, 3, 40]),
        ("galaxyfly:n=2,q=7,a=2,p=200", "galaxyfly", [7, 2, 200]),
        ("galaxyfly:n=81,q=1,a=10,p=4", "galaxyfly", [1, 10, 4]),
        ("fattree:k=4,levels=3", "fattree", [4, 3]),
        ("fattree:k=3,levels=2", "fattree", [3, 2]),
    ],
)
def test_cost_is_the_sum_over_edges_and_coordinates(topoloom, tmp_path, spec, family, numbers):
    facts = topoloom("show", spec, "--layout", "family", "--json").json()[0]
    edges = edges_of(topoloom, tmp_path / "edges.csv", spec)
    places, inside = floor.places(family, numbers, facts["routers"])
    lengths = [floor.length(places[a], places[b], inside) for a, b in edges]
    ports = Counter(end for edge in edges for end in edge)
    per_router = Counter(row["router_a"] for row in cables_of(topoloom, tmp_path / "c.csv", spec) if row["terminal"])
    for router, terminals in per_router.items():
        ports[int(router)] += terminals
    assert sum(per_router.values()) == facts["terminals"]
    expected = floor.edr(lengths + [1.0] * facts["terminals"], [ports[router] for router in range(facts["routers"])])
    assert facts["cost_usd"] == pytest.approx(expected, rel=1e-12)
    assert facts["longest_cable_m"] == max(lengths)
    assert facts["cable_m"] == pytest.approx(sum(lengths) + facts["terminals"])
    assert facts["power_w"] == pytest.approx(2.8 * sum(ports.values()))


def test_the_list_of_cables_adds_up(topoloom, tmp_path):
    spec = "dragonfly:a=4,h=2,p=2"
    layout = topoloom("layout", spec, "--layout", "family", "--json").json()[0]
    rows = cables_of(topoloom, tmp_path / "cables.csv", spec, "--layout", "family")
    assert len(rows) == layout["cables"] == 72 + 90
    assert sum(float(row["price_usd"]) for row in rows) == pytest.approx(layout["cable_cost_usd"], abs=0.01 * len(rows))
    assert sum(float(row["length_m"]) for row in rows) == pytest.approx(layout["cable_m"])
    counts = Counter((row["class"], float(row["length_m"])) for row in rows)
    assert counts == {(item["class"], item["length_m"]): item["cables"] for item in layout["lengths"]}
    edges = {edge[:4] for edge in topoloom_edges(spec)}
    assert {tuple(int(row[key]) for key in ("router_a", "port_a", "router_b", "port_b")) for row in rows[:90]} == edges
    for row in rows:
        assert int(row["cabinet_a"]) == int(row["router_a"]) // 4
        assert (row["cabinet_a"] == row["cabinet_b"]) == (row["class"] != "global")
        assert (row["terminal"] == "") == (row["router_b"] != "")
    terminals = {int(row["terminal"]): (int(row["router_a"]), int(row["port_a"])) for row in rows[90:]}
    assert terminals == {terminal: (terminal // 2, terminal % 2) for terminal in range(72)}
    assert [cabinet["routers"] for cabinet in layout["cabinets"]] == [4] * 9
    assert [(c["row"], c["column"]) for c in layout["cabinets"]] == [divmod(place, 3) for place in range(9)]


def topoloom_edges(spec):
    return topoloom.network(spec).edges()


def test_parts_sum_to_the_whole(topoloom):
    options = ["--prices", "fdr10-slimfly", "--layout", "cabinet=10"]
    for layout in topoloom("layout", "slimfly:q=5,p=4", "fattree:k=4,levels=3", *options, "--json").json():
        parts = layout["router_cost_usd"] + layout["cable_cost_usd"] + layout["nic_cost_usd"]
        assert layout["cost_usd"] == pytest.approx(parts)
        kinds = layout["cable_kinds"]
        assert {kind["kind"] for kind in kinds} == {"electric", "optical"}
        assert sum(kind["cost_usd"] for kind in kinds) == pytest.approx(layout["cable_cost_usd"])
        assert sum(kind["cables"] for kind in kinds) == layout["cables"] == sum(c["cables"] for c in layout["lengths"])
        assert sum(kind["length_m"] for kind in kinds) == pytest.approx(layout["cable_m"])
        watts = layout["router_power_w"] + layout["cable_power_w"] + layout["nic_power_w"]
        assert layout["power_w"] == pytest.approx(watts)
        assert sum(cabinet["routers"] for cabinet in layout["cabinets"]) == layout["routers"]
        assert sum(cabinet["terminals"] for cabinet in layout["cabinets"]) == layout["terminals"]


def test_the_prices_of_the_slim_fly_paper(topoloom, tmp_path):
    """Electric cables within cabinets, optical ones between them, a router 350.4 k - 892.3 $, all at 40 Gb/s."""
    spec = "slimfly:q=5,p=4"
    facts = topoloom("show", spec, "--prices", "fdr10-slimfly", "--layout", "family", "--json").json()[0]
    edges = edges_of(topoloom, tmp_path / "edges.csv", spec)
    cabinet = [router // 5 % 5 for router in range(50)]
    places = floor.on_floor(cabinet)
    cables = 200 * 40 * (0.4079 + 0.5771)
    for a, b in edges:
        metres = floor.length(places[a], places[b], 2.0)
        line = 0.4079 * metres + 0.5771 if cabinet[a] == cabinet[b] else 0.0919 * metres + 2.7452
        cables += 40 * line
    assert facts["cable_cost_usd"] == pytest.approx(cables)
    assert facts["router_cost_usd"] == pytest.approx(50 * (350.4 * 11 - 892.3))


def test_cabinets_of_sixteen_as_in_the_permutation_paper(topoloom, tmp_path):
    rules = "cabinet=16,width=0.6,depth=2.1,overhead=4,inside=2,terminal=none"
    rows = cables_of(topoloom, tmp_path / "c.csv", "torus:16x16", "--layout", rules)
    assert len(rows) == 512
    places = floor.on_floor([router // 16 for router in range(256)], 0.6, 2.1)
    for row in rows:
        a, b = int(row["router_a"]), int(row["router_b"])
        assert float(row["length_m"]) == pytest.approx(floor.length(places[a], places[b], 2.0, 4.0))


OWN = {
    "name": "mine",
    "source": "a quote",
    "router": {"usd": 1000, "usd_per_port": 10, "w": 50},
    "nic": {"usd": 300, "w": 9},
    "cables": [
        {"kind": "copper", "reach_m": 4.5, "usd": 40, "usd_per_m": 10},
        {"kind": "optical", "usd": 200, "usd_per_m": 5, "w": 3.5},
    ],
}


SOLD = OWN | {
    "cables": [
        {"kind": "copper", "copper": True, "lengths_m": [1, 2, 3.5], "usd": 40, "usd_per_m": 10},
        {"kind": "optical", "lengths_m": [5, 10, 20], "usd": 50, "usd_per_m": 1, "w": 3.5},
    ]
}


def test_cables_are_bought_in_lengths_that_are_sold(tmp_path):
    path = tmp_path / "sold.json"
    path.write_text(json.dumps(SOLD))
    layout = topoloom.network("mesh:4").layout("overhead=1.25,width=1.25", str(path))
    cables = list(layout.cables())
    assert {(c.link_class, c.length_m, c.bought_m, c.kind, c.price_usd) for c in cables} == {
        ("local", 2.5, 5.0, "optical", 55.0),
        ("terminal", 1.0, 1.0, "copper", 50.0),
    }, "copper of 3.5 m costs 75 $"
    assert layout.cost()["cable_m"] == 3 * 2.5 + 4
    assert sum(item["total_m"] or 0 for item in layout.bill()) == 3 * 5 + 4


def test_copper_up_to_a_length(topoloom):
    spec, rules = "slimfly:q=5,p=4", "cabinet=5,width=0.8,copper=3"
    told = topoloom("layout", spec, "--prices", "fdr10-slimfly", "--layout", rules, "--json").json()[0]
    assert {item["kind"] for item in told["lengths"]} == {"electric", "optical"}
    assert all((item["kind"] == "electric") == (item["length_m"] <= 3) for item in told["lengths"])
    line = {"electric": (0.4079, 0.5771), "optical": (0.0919, 2.7452)}
    expected = sum(
        item["cables"] * 40 * (line[item["kind"]][0] * item["length_m"] + line[item["kind"]][1])
        for item in told["lengths"]
    )
    assert told["cable_cost_usd"] == pytest.approx(expected)
    outcome = topoloom("layout", spec, "--prices", "fdr10-slimfly", "--layout", rules)
    head = next(line for line in outcome.out.splitlines() if "cables of metres" in line)
    assert "local, electric" in head
    assert "local, optical" in head
    outcome = topoloom("layout", spec, "--layout", rules)
    assert (outcome.status, outcome.err.count("\n")) == (2, 1)
    assert "price list edr-flex: copper=3 needs a kind of cable" in outcome.err


@pytest.mark.parametrize("command", ["layout", "show"])
def test_cabinets_that_are_not_full_are_said(topoloom, command):
    rules = ["--layout", "cabinet=8,nodes=40"]
    outcome = topoloom(command, "mesh:9x7,p=3", *rules)
    assert "mesh:9x7,p=3: 8 routers per cabinet do not divide 63 routers: the last of 8 cabinets holds 7" in outcome.err
    assert "40 terminals per node-only cabinet do not divide 189 terminals: the last of 5 holds 29" in outcome.err
    told = topoloom(command, "mesh:9x7,p=3", *rules, "--json").json()[0]["layout_notes"]
    assert len(told) == 2
    assert "blocks of 4x4 do not divide the grid 9x7" in topoloom(command, "mesh:9x7", "--layout", "cabinet=4x4").err
    assert topoloom(command, "mesh:8x8", "--layout", "cabinet=4x4").err == ""


def test_permuting_says_which_cabinets_are_not_full(topoloom):
    outcome = topoloom("show", "permuted:two-cab(mesh:9x7),cabinet=4x4")
    assert "blocks of 4x4 do not divide the grid 9x7: 4 of 6 cabinets hold fewer than 16 routers" in outcome.err


def test_the_bill_of_the_page(tmp_path):
    page = (ROOT / "docs/cost.md").read_text()
    path = tmp_path / "bill.csv"
    topoloom.network("dragonfly:a=4,h=2,p=2").layout("", "fdr10-slimfly").write_bill(path)
    assert re.findall(r"```csv\n(.*?)```", page, re.DOTALL) == [path.read_text()]


def test_a_list_of_ones_own(topoloom, tmp_path):
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(OWN))
    told = topoloom(
        "layout", "mesh:8,p=2", "--layout", "cabinet=1,columns=8,overhead=3.5", "--prices", str(path), "--json"
    )
    layout = told.json()[0]
    # Seven cables of 1 + 3.5 m: copper at 85 $ reaches; sixteen of 1 m at 50 $.
    assert [(k["kind"], k["cables"], k["cost_usd"]) for k in layout["cable_kinds"]] == [
        ("copper", 23, 7 * 85 + 16 * 50)
    ]
    told = topoloom(
        "layout", "mesh:8,p=2", "--layout", "cabinet=1,columns=8,overhead=4", "--prices", str(path), "--json"
    )
    layout = told.json()[0]
    kinds = {kind["kind"]: kind for kind in layout["cable_kinds"]}
    assert (kinds["optical"]["cables"], kinds["optical"]["cost_usd"], kinds["optical"]["power_w"]) == (7, 7 * 225, 24.5)
    assert layout["cost_usd"] == 8 * 1000 + 10 * 30 + 16 * 300 + 7 * 225 + 16 * 50
    assert layout["power_w"] == 8 * 50 + 16 * 9 + 24.5
    assert (layout["prices"], layout["layout"]) == ("mine", "cabinet=1,columns=8,overhead=4")


FIGURE = {"of": "nic", "key": "usd", "date": "2024", "source": "a quote"}


def test_no_cables_draw_no_power_and_not_less(topoloom, tmp_path):
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(OWN | {"cables": []}))
    told = topoloom("layout", "mesh:2", "--prices", str(path))
    assert (told.status, "-0" in told.out) == (0, False)
    cost = topoloom("layout", "mesh:2", "--prices", str(path), "--json").json()[0]
    assert str(cost["cable_power_w"]) == "0.0"


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"router": {"usd": -5}}, "price list mine: router.usd is -5; it must not be negative"),
        ({"nic": {"usd": -1}}, "nic.usd is -1"),
        ({"cables": [{"kind": "copper", "reach_m": 2}]}, "no kind of cable reaches 3.00 m between cabinets"),
        ({"cable": 3}, "unknown field `cable`"),
        ({"router": "dear"}, "the price list does not read"),
        ({"name": ""}, "the price list has an empty name"),
        ({"router": {"usd": 1e308}}, "price list mine: router.usd is 1e308; numbers of a price list are at most 1e12"),
        ({"figures": [FIGURE | {"of": "nik"}]}, "unknown thing in figures 'nik' (did you mean 'nic'?)"),
        ({"figures": [FIGURE | {"key": "us"}]}, "unknown key of nic in figures 'us' (did you mean 'usd'?)"),
    ],
)
def test_mistakes_in_a_list_of_ones_own(topoloom, tmp_path, change, told):
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(OWN | change))
    outcome = topoloom("show", "mesh:4x4", "--layout", "cabinet=4", "--prices", str(path))
    assert (outcome.status, outcome.out, outcome.err.count("\n")) == (2, "", 1)
    assert told in outcome.err


def test_files_that_hold_no_list(topoloom, tmp_path):
    path = tmp_path / "list.json"
    for content, told in [
        (b"[1, 2]", "no JSON object"),
        (b"\xff\xfe", "no text in UTF-8"),
        (b"{", "does not read"),
        (b"", "no JSON"),
    ]:
        path.write_bytes(content)
        outcome = topoloom("layout", "mesh:4x4", "--prices", str(path))
        assert (outcome.status, outcome.out, outcome.err.count("\n")) == (2, "", 1)
        assert told in outcome.err


def test_show_and_layout_agree_and_other_facts_stay(topoloom):
    options = ["--prices", "galaxyfly", "--layout", "cabinet=8"]
    plain = topoloom("show", "hyperx:4x4,p=4", "--json").json()[0]
    other = topoloom("show", "hyperx:4x4,p=4", *options, "--json").json()[0]
    layout = topoloom("layout", "hyperx:4x4,p=4", *options, "--json").json()[0]
    assert plain.keys() == other.keys()
    changed = {key for key in plain if plain[key] != other[key]}
    assert changed >= {"cost_usd", "power_w", "prices", "layout", "cable_m"}
    assert {key: layout[key] for key in changed} == {key: other[key] for key in changed}
    assert (other["cable_cost_usd"], other["cost_usd"]) == (None, other["router_cost_usd"])
    assert other["power_w"] == pytest.approx(2.8 * (16 * 10) + 10 * 64)


def test_networks_stand_side_by_side(topoloom):
    outcome = topoloom("layout", "mesh:4x4", "dragonfly:a=4,h=2,p=2", "--prices", "galaxyfly")
    assert outcome.status == 0
    assert "mesh:4x4" in outcome.out.splitlines()[0]
    assert "dragonfly:a=4,h=2,p=2" in outcome.out.splitlines()[0]
    row = next(line.split() for line in outcome.out.splitlines() if line.startswith("Routers "))
    assert row[-2:] == ["16", "36"]
    cables = next(line.split() for line in outcome.out.splitlines() if line.startswith("  of cables"))
    assert cables[-2:] == ["–", "–"]


def test_terminal_cables_can_be_left_out():
    cost = topoloom.network("mesh:2").layout("terminal=none").cost()
    assert cost["cost_per_terminal_usd"] == cost["cost_usd"] / 2
    assert math.isclose(cost["cable_m"], 3.0)


@pytest.mark.parametrize("prices", ["edr-flex", "fdr10-slimfly", "galaxyfly", "multitier", "sold.json"])
@pytest.mark.parametrize(
    ("spec", "rules"),
    [
        ("torus:4x3x2,p=2", "own"),
        ("random-regular:12,degree=5,p=50", "rack"),
        ("fattree:k=4,levels=3", "rack:units=9,kw=3,width=0.8"),
        ("dragonfly:a=4,h=2,p=2", "nodes=10,width=0.6,depth=1.2"),
        ("fattree:k=4,levels=3", "cabinet=fit,units=6,inside=1.5"),
        ("twin-torus:3x3x2", "terminal=none"),
    ],
)
def test_the_bill_lists_what_the_cabling_list_does_and_costs_what_the_model_says(
    topoloom, tmp_path, monkeypatch, spec, rules, prices
):
    monkeypatch.chdir(tmp_path)
    Path("sold.json").write_text(json.dumps(SOLD))
    arguments = [spec, "--layout", rules, "--prices", prices, "--bill", "bill.csv", "--cables", "cables.csv", "--json"]
    outcome = topoloom("layout", *arguments)
    if outcome.status == 2:
        assert "ports would cost" in outcome.err, "a line of prices that begins below zero"
        return
    told = outcome.json()[0]
    bill, cables = (list(csv.DictReader(Path(name).read_text().splitlines())) for name in ("bill.csv", "cables.csv"))
    listed = Counter((row["kind"], row["class"], float(row["bought_m"] or row["length_m"])) for row in cables)
    items = [item for item in bill if item["part"] == "cable"]
    billed = {(i["kind"], i["class"], float(f"{float(i['length_m']):g}")): int(i["count"]) for i in items}
    assert billed == listed

    def total(key, part):
        return sum(float(item[key] or 0) for item in bill if item["part"] == part)

    assert total("cost_usd", "cable") == pytest.approx(told["cable_cost_usd"] or 0)
    assert total("cost_usd", "router") == pytest.approx(told["router_cost_usd"])
    assert total("cost_usd", "interface") == pytest.approx(told["nic_cost_usd"])
    assert sum(total("power_w", part) for part in ("cable", "router", "interface")) == pytest.approx(told["power_w"])
    for part, count in [
        ("router", told["routers"]),
        ("cable", len(cables)),
        ("interface", told["terminals"]),
        ("cabinet", len(told["cabinets"])),
    ]:
        assert total("count", part) == count
    for item in bill:
        if item["unit_usd"]:
            assert float(item["cost_usd"]) == pytest.approx(int(item["count"]) * float(item["unit_usd"]))


def test_comparing_takes_prices_and_layouts(topoloom):
    arguments = ["compare", "mesh:2x2", "--routing", "min", "--load", "0.1", "--warmup", "50", "--measure", "50"]
    done = topoloom(*arguments, "--prices", "galaxyfly", "--layout", "cabinet=2", "--json")
    facts = done.json()["networks"][0]
    assert (facts["prices"], facts["layout"]) == ("galaxyfly", "cabinet=2")
    outcome = topoloom(*arguments, "--prices", "edr-flx")
    assert outcome.status == 2
    assert "did you mean 'edr-flex'" in outcome.err


def test_the_far_end_of_a_cable_has_its_cabinet():
    """Of a terminal's cable that of the terminal, of another that of the second router."""
    cables = list(topoloom.Layout(topoloom.network("hyperx:2x6,p=6"), "family").cables())
    assert {cable.far is None for cable in cables} == {True, False}
    for cable in cables:
        assert cable.far_cabinet == (cable.terminal_cabinet if cable.far is None else cable.far.cabinet)
    assert len({cable.far_cabinet for cable in cables}) > 1


@pytest.mark.parametrize(("size", "cabinets"), [(1, 8), (3, 3), (4, 2), (7, 2), (8, 1), (9, 1)])
def test_cabinets_of_a_partition_hold_all_routers(size, cabinets):
    parts = pack(topoloom.network("mesh:4x2"), f"cabinet=metis:{size}")
    assert parts is not None
    assert len(parts) == 8
    assert sorted(set(parts)) == list(range(cabinets))


@pytest.mark.parametrize("write", ["write_cables", "write_bill", "draw"])
def test_what_is_written_replaces_no_file_of_another_kind(write, tmp_path):
    own = tmp_path / ("own.svg" if write == "draw" else "own.csv")
    own.write_text("my notes", encoding="utf-8")
    layout = topoloom.Layout(topoloom.network("mesh:2"))
    with pytest.raises(topoloom.TopoloomError, match=own.name):
        getattr(layout, write)(own)
    assert own.read_text(encoding="utf-8") == "my notes"
    getattr(layout, write)(own, force=True)
    assert own.read_text(encoding="utf-8") != "my notes"


def test_own_prices_do_not_go_by_the_name_of_other_ones(topoloom, tmp_path):
    """Tables name the list: a copy of one that comes with the program is that list, a changed one is not."""
    given = dict(topoloom_core.price_list("400g"))
    copy, changed, named = (tmp_path / f"{name}.json" for name in ("copy", "changed", "named"))
    copy.write_text(json.dumps(given), encoding="utf-8")
    given["energy"] = {**given["energy"], "usd_per_kwh": 9.0}
    changed.write_text(json.dumps(given), encoding="utf-8")
    named.write_text(json.dumps({**given, "name": "mine"}), encoding="utf-8")
    assert [topoloom("layout", "torus:4,p=2", "--prices", str(path)).status for path in (copy, named)] == [0, 0]
    found = topoloom("layout", "torus:4,p=2", "--prices", str(changed))
    assert found.status == 2
    assert f"{changed}: its name is '400g', as of a list that comes with the program" in found.err
