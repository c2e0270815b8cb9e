"""The rule `rack`: what racks hold and how long cables are, against a slow second computation and by hand."""

import csv

import pytest

import topoloom
from oracles import floor, racks
from oracles.racks import NODE, ROUTER, Rule

# What a family keeps together: its cabinets, then its groups, as the pages on the families define them.
CASES = [
    ("dragonfly:a=4,h=2,p=2", [lambda router: router // 4] * 2),
    ("dragonfly:a=3,h=2,p=9,g=4", [lambda router: router // 3] * 2),
    ("dragonfly:a=8,h=2,p=6,g=7", [lambda router: router // 8] * 2),
    ("slimfly:q=5,p=4", [lambda router: router // 5 % 5, lambda router: router // 5]),
    ("slimfly:q=4,p=45", [lambda router: router // 4 % 4, lambda router: router // 4]),
    ("fattree:k=4,levels=3", [lambda router: floor.pod(router, 4, 3)]),
    ("fattree:k=6,levels=2", [lambda router: floor.pod(router, 6, 2)]),
    (
        "galaxyfly:n=2,q=5,a=3,p=4",
        [lambda router: floor.part_of_a_galaxy(router, 5, 3, 4), lambda router: router // 15],
    ),
    ("flex:4x3x3,p=5", [lambda router: router // 12]),
    ("hyperx:4x3x2,p=11,trunk=2", []),
    ("torus:5x4,p=1", []),
    ("mesh:7", []),
    ("random-regular:30,degree=4,p=7", []),
    ("ring:22,degree=4,p=41", []),
]

RULES = [
    ("rack", Rule()),
    (
        "rack:units=9,kw=3,router-units=2,node-units=0.5,router-kw=0.3,node-kw=0.2,width=0.8,depth=1,aisle=0.9,overhead=3,"
        "inside=2,terminal=1",
        Rule(9, 3, 2, 0.5, 0.3, 0.2, width=0.8, depth=1, aisles=(0.9, 0.9), overhead=3, inside=2, terminal=1),
    ),
    ("rack:max-routers=2,max-nodes=20,kw=50", Rule(max_routers=2, max_nodes=20, kw=50)),
]


def built(spec, layout, path):
    """Return what the layout's JSON says, its rows of cables between routers, and those of terminals."""
    found = topoloom.network(spec).layout(layout)
    found.write_cables(path)
    with path.open() as file:
        rows = list(csv.DictReader(file))
    return found.to_dict(), [row for row in rows if not row["terminal"]], [row for row in rows if row["terminal"]]


@pytest.mark.parametrize(("layout", "rule"), RULES, ids=["default", "small", "counts"])
@pytest.mark.parametrize(("spec", "groupings"), CASES, ids=[spec for spec, _ in CASES])
def test_racks_places_and_cables_are_those_of_a_second_computation(tmp_path, spec, groupings, layout, rule):
    told, links, terminals = built(spec, layout, tmp_path / "cables.csv")
    edges = [(int(row["router_a"]), int(row["router_b"])) for row in links]
    nodes = [0] * told["routers"]
    for row in terminals:
        nodes[int(row["router_a"])] += 1
    expected = racks.shortest(rule, nodes, edges, groupings)
    for row in links:
        ends = [expected.rack_of[ROUTER, int(row[f"router_{end}"])] for end in "ab"]
        assert [int(row["cabinet_a"]), int(row["cabinet_b"])] == ends
    first = {}
    for row in terminals:
        router, terminal = int(row["router_a"]), int(row["terminal"])
        node = terminal - first.setdefault(router, terminal)
        assert int(row["cabinet_b"]) == expected.rack_of[NODE, (router, node)]
    places = {cabinet["cabinet"]: (cabinet["x_m"], cabinet["y_m"]) for cabinet in told["cabinets"]}
    assert places.keys() == expected.place.keys()
    for rack, place in expected.place.items():
        assert places[rack] == pytest.approx(place)
    assert [float(row["length_m"]) for row in links] == pytest.approx(expected.lengths, rel=1e-5)
    assert [float(row["length_m"]) for row in terminals] == pytest.approx(expected.terminals, rel=1e-5)
    assert told["cable_m"] == pytest.approx(expected.total)
    assert told["longest_cable_m"] == pytest.approx(max(expected.lengths))
    ports = [count + sum(router in edge for edge in edges) for router, count in enumerate(nodes)]
    assert told["cost_usd"] == pytest.approx(floor.edr(expected.lengths + expected.terminals, ports))
    assert (told["layout"], told["cabinet_count"]) == (layout, len(expected.racks))


def test_a_dragonfly_by_hand():
    """A group of 4 routers and 8 nodes takes 12 units: three groups a rack, three racks side by side."""
    told = topoloom.network("dragonfly:a=4,h=2,p=2").layout("rack:order=groups").to_dict()
    assert [(c["routers"], c["terminals"]) for c in told["cabinets"]] == [(12, 24)] * 3
    assert [c["x_m"] for c in told["cabinets"]] == pytest.approx([0, 0.6, 1.2])
    assert [c["row"] for c in told["cabinets"]] == [0, 0, 0]
    # 36 pairs of groups, 3 within each rack; 27 cables between racks, of which 9 pass over one rack.
    assert told["cable_m"] == pytest.approx((54 + 9 + 72) * 1.5 + 18 * 4.6 + 9 * 5.2)
    assert told["longest_cable_m"] == pytest.approx(5.2)


def test_a_tree_by_hand():
    """Pods of 2 leaves with 2 nodes each and 2 routers above them; the 4 top routers have a rack amid the pods."""
    told = (
        topoloom.network("clos:radix=4,levels=3")
        .layout("rack:units=8,max-routers=4,columns=3,order=cabinets")
        .to_dict()
    )
    assert [(c["routers"], c["terminals"]) for c in told["cabinets"]] == [(4, 4)] * 4 + [(4, 0)]
    # Rows to and fro: pods 0 and 1 and the top; then pod 2 behind the top, and pod 3 behind pod 1.
    assert [(c["row"], c["column"]) for c in told["cabinets"]] == [(0, 0), (0, 1), (1, 2), (1, 1), (0, 2)]


def test_nodes_for_which_there_is_no_room_run_over_into_the_next_rack():
    told = topoloom.network("hyperx:3,p=60").layout("rack:order=ids").to_dict()
    # 61 units per router: 42, then 19 beside 23 of the next one, then 38 beside 4 of the last, then nodes alone.
    assert [(c["routers"], c["terminals"]) for c in told["cabinets"]] == [(1, 41), (1, 41), (1, 41), (0, 42), (0, 15)]


@pytest.mark.parametrize("spec", ["slimfly:q=9,p=6", "hyperx:10x10,p=10", "clos:radix=20,levels=3", "torus:6x6x6,p=3",
                                  "dragonfly:a=8,h=4,p=4", "random-regular:90,degree=9,p=47"])  # fmt: skip
@pytest.mark.parametrize(
    "layout", ["rack", "rack:units=48,kw=12", "rack:kw=9,max-routers=1", "rack:order=growth,node-kw=2"]
)
def test_racks_never_hold_more_than_their_units_and_kw(spec, layout):
    keys = dict(item.split("=") for item in layout.partition(":")[2].split(",") if item)
    units, kw, node_kw = (float(keys.get(key, value)) for key, value in (("units", 42), ("kw", 30), ("node-kw", 0.5)))
    told = topoloom.network(spec).layout(layout).to_dict()
    for cabinet in told["cabinets"]:
        assert cabinet["routers"] + cabinet["terminals"] <= units
        assert cabinet["routers"] * 0.25 + cabinet["terminals"] * node_kw <= kw + 1e-9
        assert cabinet["routers"] <= float(keys.get("max-routers", "inf"))
    assert sum(cabinet["routers"] for cabinet in told["cabinets"]) == told["routers"]
    assert sum(cabinet["terminals"] for cabinet in told["cabinets"]) == told["terminals"]


@pytest.mark.parametrize(
    ("spec", "share"),
    # The most cable that the same graph may take without its family's structure, over what it takes with it.
    [
        ("dragonfly:a=4,h=2,p=4", 1.1),
        ("slimfly:q=5,p=4", 1.05),
        ("clos:radix=8,levels=3", 1.15),
        ("hyperx:6x6,p=6", 1.0),
        ("hyperx:8,p=4", 1.0),
        ("galaxyfly:n=4,q=5,a=2,p=3", 1.1),
    ],
)
def test_no_family_has_an_advantage_but_its_structure(tmp_path, spec, share):
    written, bare = tmp_path / "written.csv", tmp_path / "bare.csv"
    topoloom.network(spec).layout("family").write_cables(written)
    with written.open() as file, bare.open("w", newline="") as graph:
        links = csv.DictWriter(graph, ("router_a", "port_a", "router_b", "port_b", "terminal"), extrasaction="ignore")
        links.writeheader()
        links.writerows(csv.DictReader(file))
    known, again = (topoloom.network(text).layout("rack").cost() for text in (spec, f"file:{bare}"))
    assert again["layout_order"] in {"ids", "growth"}
    assert again["cabinet_count"] <= 1.05 * known["cabinet_count"]
    assert again["cable_m"] <= share * known["cable_m"] + 1e-6


@pytest.mark.parametrize("layout", ["", "rack:units=20,kw=9"])
@pytest.mark.parametrize("spec", ["dragonfly:a=8,h=2,p=6,g=7", "slimfly:q=4,p=45", "clos:radix=8,levels=3"])
def test_racks_come_back_with_the_cabling_list(tmp_path, spec, layout):
    written = topoloom.network(spec).layout(layout)
    written.write_cables(tmp_path / "cables.csv")
    again = topoloom.network(f"file:{tmp_path / 'cables.csv'}").layout()
    assert again.cost() == written.cost()
    assert again.floor() == written.floor()


def test_one_dimension_of_a_hyperx_and_one_group_of_a_dragonfly_are_alike():
    """Both are eight routers, each linked to each; what a dragonfly has besides is a link to the other group."""
    hyperx = topoloom.network("hyperx:8,p=4").layout().cost()
    group = topoloom.network("dragonfly:a=8,h=1,p=4,g=2").layout().floor()
    assert hyperx["cabinet_count"] == 1
    assert [(c["routers"], c["terminals"]) for c in group["cabinets"]] == [(8, 32)] * 2
    inside = {(item["class"], item["length_m"]): item["cables"] for item in group["lengths"]}
    assert inside["local", 1.5] == 2 * 28


def test_the_rule_is_the_default_of_every_command(topoloom):
    spec = "slimfly:q=5,p=4"
    shown = topoloom("show", spec, "--json").json()[0]
    named = topoloom("show", spec, "--layout", "rack", "--json").json()[0]
    own = topoloom("show", spec, "--layout", "family", "--json").json()[0]
    laid = topoloom("layout", spec, "--json").json()[0]
    compare = ["compare", spec, "--routing", "min", "--load", "0.1", "--warmup", "50", "--measure", "50", "--json"]
    compared = topoloom(*compare).json()["networks"][0]
    for told in (named, laid, compared):
        assert {key: told[key] for key in ("layout", "cable_m", "cost_usd", "layout_assumptions", "cabinet_count")} == {
            "layout": "rack",
            **{key: shown[key] for key in ("cable_m", "cost_usd", "layout_assumptions", "cabinet_count")},
        }
    assert (own["layout"], own["cabinet_count"]) == ("family", 5)
    assert own["cable_m"] != shown["cable_m"]
    assert "racks of 42 U and 30 kW" in shown["layout_assumptions"]
    assert "own packaging" in own["layout_assumptions"]


@pytest.mark.parametrize("command", ["show", "layout", "compare"])
def test_tables_say_the_layout_beneath_the_numbers(topoloom, command):
    options = ["--routing", "min", "--load", "0.1", "--warmup", "50", "--measure", "50"] if command == "compare" else []
    for layout, words in (("rack:units=48", "racks of 48 U and 30 kW"), ("family", "each family's own packaging")):
        told = " ".join(topoloom(command, "mesh:4x4", *options, "--layout", layout).out.split())
        assert f"Cost, power and cable: prices edr-flex; layout {layout}: " in told
        assert words in told


def test_layouts_are_listed_with_their_keys(topoloom):
    layouts = {layout["name"]: layout for layout in topoloom("list", "layouts", "--json").json()}
    assert next(iter(layouts)) == "rack"
    rack = layouts["rack"]
    keys = {key["name"]: key["doc"] for key in rack["keys"]}
    assert keys.keys() >= {item.split("=")[0] for item in rack["stands_for"].split(",")}
    assert all(keys.values())
    assert "cabinet" not in keys
    spec = ["layout", "dragonfly:a=4,h=2,p=2", "--json"]
    written = topoloom(*spec, "--layout", f"rack:{rack['stands_for']}").json()[0]
    assert written["cable_m"] == topoloom(*spec).json()[0]["cable_m"]


def test_annealing_moves_racks_to_where_cables_are_short():
    network = topoloom.network("torus:8x8,p=8")
    ordered, annealed = (network.layout(f"rack:{keys}order=ids").cost() for keys in ("", "place=anneal,"))
    assert annealed["cabinet_count"] == ordered["cabinet_count"]
    assert annealed["cable_m"] < ordered["cable_m"]


def test_the_default_rule_of_the_oracle_is_that_of_the_program():
    """Every default of the second computation, said in words by the first."""
    rule, told = Rule(), topoloom.network("mesh:2").layout().cost()["layout_assumptions"]
    for number in (
        rule.units,
        rule.kw,
        rule.width,
        rule.depth,
        *rule.aisles,
        rule.overhead,
        rule.inside,
        rule.terminal,
    ):
        assert f"{number:g}" in told
