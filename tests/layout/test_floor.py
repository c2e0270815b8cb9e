"""Floors: capacities, aisles, node-only cabinets, places by annealing, cabling lists that read back."""

import csv
import json
import math
import re
from collections import Counter
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.collections import LineCollection
from scipy.optimize import quadratic_assignment

import topoloom
from topoloom import _core
from topoloom.plotting.floors import _figure, floor_svg

PAPER = "permutation,place=anneal"


@pytest.mark.parametrize(
    ("spec", "metres"),
    # 256 switches in 16 cabinets on a floor of 4 x 4, annealed for long by another program.
    [("torus:16x16", 1834), ("torus:2x2x4x4x4", 4109), ("hypercube:8", 4109), ("folded-hypercube:8", 5312)],
)
def test_annealed_floors_are_as_short_as_long_searches_found(spec, metres):
    assert topoloom.network(spec).layout(PAPER).cost()["cable_m"] == pytest.approx(metres, abs=0.5)


@pytest.mark.parametrize("count", [2, 3, 5, 7, 11, 12, 16, 20])
def test_the_paper_s_floor_has_the_root_of_the_cabinets_as_rows(count):
    """Section 7: q rows, the square root of the number of cabinets rounded up, and as many cabinets a row as needed."""
    told = topoloom.network(f"torus:{count}x16").layout("permutation").floor()
    assert (told["rows"], told["columns"]) == (rows := math.ceil(count**0.5), math.ceil(count / rows))


def test_columns_that_are_given_set_the_rows_of_the_paper_s_floor():
    told = topoloom.network("torus:11x16").layout("permutation,columns=4").floor()
    assert (told["rows"], told["columns"]) == (3, 4)
    told = topoloom.network("torus:11x16").layout("cabinet=16").floor()
    assert (told["rows"], told["columns"]) == (3, 4), "other floors have the root as columns"


def test_permuting_keeps_every_metre_of_cable():
    base = "hypercube:6"
    lengths = [
        topoloom.network(spec).layout("permutation,cabinet=4,place=anneal").floor()["lengths"]
        for spec in (base, f"permuted:two-cab({base}),cabinet=4", f"permuted:three-cab({base}),cabinet=4")
    ]
    assert lengths[0] == lengths[1] == lengths[2]


def flows_of(network, size):
    count = Counter()
    for a, _, b, _, _ in network.edges():
        i, j = sorted((a // size, b // size))
        if i != j:
            count[i, j] += 1
    return [(i, j, float(flow)) for (i, j), flow in count.items()]


def manhattan(rows, columns, width=0.6, depth=2.1):
    places = [(p % columns * width, p // columns * depth) for p in range(rows * columns)]
    return np.array([[abs(a[0] - b[0]) + abs(a[1] - b[1]) for b in places] for a in places])


def cost(flows, distances, places):
    return sum(flow * distances[places[a], places[b]] for a, b, flow in flows)


def test_places_of_256_cabinets_beat_the_order_and_scipy():
    flows, distances = flows_of(topoloom.network("torus:64x64"), 16), manhattan(16, 16)
    places, told = _core.place_qap(flows, distances, 1)
    assert sorted(places) == list(range(256))
    assert told == pytest.approx(cost(flows, distances, places))
    matrix = np.zeros((256, 256))
    for a, b, flow in flows:
        matrix[a, b] = matrix[b, a] = flow
    scipy = quadratic_assignment(matrix, distances, method="faq").col_ind
    assert told < cost(flows, distances, range(256))
    assert told <= cost(flows, distances, scipy)


@pytest.mark.parametrize(
    ("spec", "rules"),
    [
        ("torus:6x4,p=2", "cabinet=4"),
        ("myriclos:256", "nodes=128,place=anneal"),
        ("dragonfly:a=4,h=2,p=2", "own"),
        ("slimfly:q=5,p=50", "rack"),
        ("permuted:two-cab(hypercube:5,p=3),cabinet=8", "cabinet=8,terminal=none"),
        ("xgft:down=3x2x4,up=2x3", "cabinet=metis:5"),
    ],
)
def test_a_cabling_list_reads_back_to_the_same_network(topoloom, tmp_path, spec, rules):
    path = tmp_path / "cabling.csv"
    assert topoloom("layout", spec, "--layout", rules, "--cables", str(path)).status == 0
    network, again = (topoloom_network(text) for text in (spec, f"file:{path}"))
    assert sorted(again.edges()) == sorted(network.edges())
    assert again.core.terminals_by_router() == network.core.terminals_by_router()


def topoloom_network(spec):
    return topoloom.network(spec)


def test_what_a_cabling_list_says(topoloom, tmp_path):
    path = tmp_path / "cabling.csv"
    rules = "cabinet=4,units=8,router-units=2,nodes=6,width=0.6,depth=1.2,aisle=1.2:0.6,columns=2"
    spec = "torus:4x4,p=1"
    told = topoloom("layout", spec, "--layout", rules, "--cables", str(path), "--json").json()[0]
    with path.open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == told["cables"] == 32 + 16
    assert len({row["label"] for row in rows}) == len(rows), "every label is one cable's"
    place = {c["cabinet"]: (c["x_m"], c["y_m"]) for c in told["cabinets"]}
    # Four cabinets of routers, three of nodes; rows at 0, 1.2 + 1.2, 2.4 + 1.2 + 0.6, …
    assert [place[c][1] for c in (0, 2, 4, 6)] == pytest.approx([0, 2.4, 4.2, 6.6])
    assert [(c["routers"], c["terminals"]) for c in told["cabinets"]] == [(4, 0)] * 4 + [(0, 6), (0, 6), (0, 4)]
    for row in rows:
        router, near, far = int(row["router_a"]), int(row["cabinet_a"]), int(row["cabinet_b"])
        assert (near, int(row["unit_a"])) == (router // 4, 1 + 2 * (router % 4))
        way = sum(abs(a - b) for a, b in zip(place[near], place[far], strict=True))
        assert float(row["length_m"]) == pytest.approx(way + 2 if near != far else 2, abs=1e-4)
        assert row["label"].startswith(f"C{near}-U{row['unit_a']}-P{row['port_a']}/C{far}-")
        if row["terminal"]:
            assert far == 4 + int(row["terminal"]) // 6
    bundles = Counter(tuple(sorted((int(r["cabinet_a"]), int(r["cabinet_b"])))) for r in rows)
    expected = {pair: cables for pair, cables in bundles.items() if pair[0] != pair[1]}
    assert {tuple(bundle["cabinets"]): bundle["cables"] for bundle in told["bundles"]} == expected


def test_copper_or_optical_goes_by_length(tmp_path):
    path = tmp_path / "mine.json"
    kinds = [{"kind": "copper", "reach_m": 5, "usd": 1}, {"kind": "optical", "usd": 9}]
    path.write_text(json.dumps({"name": "mine", "source": "me", "router": {}, "cables": kinds}))
    layout = topoloom.network("torus:16x16").layout(PAPER, str(path))
    assert {cable.kind for cable in layout.cables()} == {"copper", "optical"}
    assert all((cable.kind == "copper") == (cable.length_m <= 5) for cable in layout.cables())


def test_metis_fills_cabinets_that_few_cables_join():
    network = topoloom.network("torus:10x10")
    metis, order = (network.layout(f"cabinet={cabinet}").floor() for cabinet in ("metis:7", "7"))
    for floor in (metis, order):
        assert max(c["routers"] for c in floor["cabinets"]) <= 7
        assert sum(c["routers"] for c in floor["cabinets"]) == 100
    assert len(metis["cabinets"]) == math.ceil(100 / 7)
    between = [sum(bundle["cables"] for bundle in floor["bundles"]) for floor in (metis, order)]
    assert between[0] < between[1]


SVG = "{http://www.w3.org/2000/svg}"


def boxes_of(svg, name):
    """Return left, right, top, bottom of the boxes whose ids begin with a name, by what follows it."""
    found = {}
    for group in ElementTree.fromstring(svg).iter(f"{SVG}g"):
        if (group.get("id") or "").startswith(f"{name}-"):
            numbers = [float(n) for n in re.findall(r"-?[\d.]+", group.find(f"{SVG}path").get("d"))]
            xs, ys = numbers[::2], numbers[1::2]
            found[int(group.get("id").removeprefix(f"{name}-"))] = (min(xs), max(xs), min(ys), max(ys))
    return found


@pytest.mark.parametrize(
    ("spec", "rules"),
    [
        ("torus:8x8", "cabinet=4,width=0.6,depth=1,aisle=1.2:0.7,columns=4"),
        ("torus:16x16", "permutation"),
        pytest.param("torus:64x64", "permutation", marks=pytest.mark.long),
        ("myriclos:256", "nodes=128"),
        ("mesh:5x3", "family"),
        ("hyperx:10x10,p=10", ""),
        ("fattree:k=8,levels=3", ""),
        ("slimfly:q=5,p=50", "rack:units=48,aisle=0.9:1.5,rows=4"),
    ],
)
def test_floors_are_drawn_to_scale(spec, rules):
    layout = topoloom.network(spec).layout(rules)
    floor, svg = layout.floor(), floor_svg(layout)
    assert svg == floor_svg(layout)
    drawn = boxes_of(svg, "cabinet")
    assert sorted(drawn) == [cabinet["cabinet"] for cabinet in floor["cabinets"]]
    places = {cabinet["cabinet"]: cabinet for cabinet in floor["cabinets"]}
    left, right, top, _ = drawn[0]
    metre = (right - left) / floor["width_m"]
    for number, (start, end, upper, lower) in drawn.items():
        assert (end - start, lower - upper) == pytest.approx(
            (metre * floor["width_m"], metre * floor["depth_m"]), rel=1e-3
        )
        expected = (left + metre * places[number]["x_m"], top + metre * places[number]["y_m"])
        assert (start, upper) == pytest.approx(expected, abs=0.01 * metre)
    aisles = boxes_of(svg, "aisle")
    assert sorted(aisles) == [aisle["behind_row"] for aisle in floor["aisles"]]
    for aisle in floor["aisles"]:
        _, _, upper, lower = aisles[aisle["behind_row"]]
        assert lower - upper == pytest.approx(metre * aisle["width_m"], rel=1e-3)
        row = [drawn[c["cabinet"]] for c in floor["cabinets"] if c["row"] == aisle["behind_row"]]
        assert upper == pytest.approx(max(box[3] for box in row), abs=0.01 * metre)


def test_floors_show_numbers_and_bundles():
    layout = topoloom.network("torus:64x64").layout("permutation")
    figure = _figure([layout])
    plan = figure.axes[1]
    assert {text.get_text() for text in plan.texts} == {str(number) for number in range(256)}
    lines = next(item for item in plan.collections if isinstance(item, LineCollection))
    bundles = layout.floor()["bundles"]
    assert len(lines.get_segments()) == len(bundles)
    places = {c["cabinet"]: (c["x_m"], c["y_m"]) for c in layout.floor()["cabinets"]}
    for segment, bundle in zip(lines.get_segments(), bundles, strict=True):
        a, b = (np.array(places[cabinet]) for cabinet in bundle["cabinets"])
        assert segment[-1] - segment[0] == pytest.approx(b - a)
        assert all(abs(end - place).max() <= 0.5 * 2.1 for end, place in zip(segment[[0, -1]], (a, b), strict=True))


def test_the_kinds_of_cable_are_told_apart():
    layout = topoloom.network("torus:8x8").layout("permutation,cabinet=4,copper=5", "fdr10-slimfly")
    words = {
        text.get_text() for axes in _figure([layout]).axes if axes.get_legend() for text in axes.get_legend().texts
    }
    assert {"local, electric", "local, optical"} <= words


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        ("permutatoin", "did you mean 'permutation'?"),
        ("cabinet=4,place=annealed", "did you mean 'anneal'?"),
        ("cabinet=4,seed=2", "seed goes with place=anneal"),
        ("place=anneal", "place=anneal goes with cabinet=N"),
        ("rack:rows=square", "rows=square does not go with rack"),
        ("nodes=4", "nodes goes with cabinet=N"),
        ("cabinet=4,units=3", "cabinet 0 holds 4 routers of 1 rack unit each; units is 3"),
        ("cabinet=4,aisle=1:x", "aisle is 1:x; it must be metres"),
        ("cabinet=metis:0", "cabinet is metis:0"),
        ("cabinet=4,cabinet=8", "cabinet is given twice"),
        ("rak:units=48", "did you mean 'rack'?"),
        ("rack:unit=48", "did you mean 'units'?"),
        ("rack:units=48,kw=0", "kw is 0; it must be a number above 0"),
        ("rack:kw=1e9", "kw is 1e9; it must be a number above 0, up to 1000"),
        ("rack:router-kw=x", "router-kw is 'x'; it must be a number from 0 to 1000"),
        ("rack:node-units=2000", "node-units is 2000; it must be a number from 0 to 1000"),
        ("rack:max-routers=0", "max-routers is 0; it must be a whole number from 1"),
        ("rack:order=best", "unknown order 'best'; there are: cabinets, groups, ids, growth"),
        ("rack:order=groups", "torus:4x4 has nothing to keep together for order=groups"),
        ("rack:cabinet=4", "cabinet does not go with rack"),
        ("rack:nodes=4", "nodes does not go with rack"),
        ("kw=20", "kw goes with rack, as rack:kw=…"),
        ("family:max-nodes=4", "max-nodes goes with rack"),
        ("rack:units=2,node-units=3", "a rack of 2 units and 30 kW has no room for a node of 3 units and 0.5 kW"),
        ("rack:kw=0.2", "a rack of 42 units and 0.2 kW has no room for a router of 1 unit and 0.25 kW"),
        ("rack:rows=1,columns=1,units=2", "16 cabinets do not fit on a floor of 1 row of 1"),
    ],
)
def test_mistakes_in_rules(topoloom, rules, words):
    outcome = topoloom("layout", "torus:4x4", "--layout", rules)
    assert (outcome.status, outcome.out, outcome.err.count("\n")) == (2, "", 1)
    assert words in outcome.err


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("router_a,port_a,router_b,port_b,terminal\n0,0,,,0\n0,0,1,1,\n", "line 3: port 0 of router '0' has a link"),
        ("router_a,port_a,router_b,port_b,terminal\n0,0,,,0\n1,0,,,0\n", "line 3: terminal 0 has a cable already"),
        ("router_a,port_a,router_b,port_b,terminal\n0,0,,,1\n0,1,1,1,\n", "terminal 0 is missing"),
    ],
)
def test_mistakes_in_a_cabling_list(tmp_path, text, words):
    path = tmp_path / "cabling.csv"
    path.write_text(text)
    with pytest.raises(topoloom.TopoloomError, match=words):
        topoloom.network(f"file:{path}")
