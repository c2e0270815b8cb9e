"""Pictures: every family has one, in any ending, the same each time; sketches show every link where its routers are."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest

import topoloom
from topoloom._core import families
from topoloom.plotting import draw_layouts, draw_networks
from topoloom.plotting.families import links_of, sketch

SPECS = [
    "mesh:1",
    "mesh:2",
    "mesh:7",
    "mesh:4x4",
    "mesh:3x1x4",
    "torus:8",
    "torus:8x5",
    "torus:2x2,double=true",
    "torus:4x4x4",
    "twin-torus:3x4",
    "twin-torus:4x4x2x2x2",
    "torus:3x3x3x2x2",
    "hyperx:5",
    "hyperx:5x4,p=3",
    "hyperx:3x3x3,trunk=2",
    "fattree:k=3,levels=4",
    "dragonfly:a=4,h=2,p=2",
    "dragonfly:a=4,h=2,g=1",
    "dragonfly-plus:leaf=4,spine=4,p=2,h=2",
    "dragonfly:a=1,h=3",
    "slimfly:q=5,p=4",
    "slimfly:q=8",
    "galaxyfly:n=3,q=5,a=2",
    "flex:4x4x3",
    "flex:3x3x2",
    "flex:3x3x7",
    "flex:1x3x3",
]


def examples():

    return [family["example"] for family in families() if family["name"] != "file"]


@pytest.mark.parametrize("spec", SPECS)
def test_a_sketch_shows_every_link_once_from_router_to_router(spec):
    network = topoloom.network(spec)
    drawn = sketch(network.core)
    places = drawn.places
    assert places.shape == (network.num_routers, 2)
    assert drawn.outward.shape == places.shape
    assert np.isfinite(places).all()
    # No two routers at one place.
    assert len(np.unique(np.round(places, 6), axis=0)) == network.num_routers
    shown = sorted(
        tuple(sorted((tuple(np.round(line[0], 6)), tuple(np.round(line[-1], 6)))))
        for stroke in drawn.strokes
        for line in stroke.lines
    )
    there = {tuple(sorted((a, b))) for a, _, b, _, _ in network.edges()}
    expected = sorted(tuple(sorted((tuple(np.round(places[a], 6)), tuple(np.round(places[b], 6))))) for a, b in there)
    assert shown == expected


def test_links_of_a_class_stay_together():
    network = topoloom.network("dragonfly:a=4,h=2,p=2")
    assert {name: len(ends) for name, ends in links_of(network.core).items()} == {"local": 54, "global": 36}
    strokes = {stroke.label: len(stroke.lines) for stroke in sketch(network.core).strokes}
    assert strokes == {"local": 54, "global": 36}


def test_links_in_a_grid_are_told_apart():
    lines = {stroke.label: len(stroke.lines) for stroke in sketch(topoloom.network("torus:8x5").core).strokes}
    assert lines == {
        "local, dimension 1": 35,
        "local, dimension 1, wrap-around": 5,
        "local, dimension 2": 32,
        "local, dimension 2, wrap-around": 8,
    }
    lines = {stroke.label: len(stroke.lines) for stroke in sketch(topoloom.network("flex:4x4x3").core).strokes}
    assert lines == {f"local, layers {pair}": 96 for pair in ("0 and 1", "1 and 2", "0 and 2")}
    lines = {stroke.label: len(stroke.lines) for stroke in sketch(topoloom.network("slimfly:q=5").core).strokes}
    assert lines == {"local, between the blocks": 125, "local, within a column": 50}


def test_leaves_of_a_group_are_farther_out_than_its_spines():
    network = topoloom.network("dragonfly-plus:leaf=4,spine=4,p=2,h=2")
    out = np.linalg.norm(sketch(network.core).places, axis=1).reshape(-1, 8)
    assert (out[:, :4].min(axis=1) > out[:, 4:].max(axis=1)).all()


@pytest.mark.parametrize("spec", examples())
def test_every_family_draws(spec, tmp_path):
    path = tmp_path / "network.svg"
    topoloom.network(spec).draw(path)
    assert ET.parse(path).getroot().tag.endswith("svg")


@pytest.mark.parametrize(
    ("ending", "magic"), [("svg", b"<?xml"), ("png", b"\x89PNG"), ("pdf", b"%PDF"), ("PNG", b"\x89PNG")]
)
def test_show_plots(topoloom, tmp_path, ending, magic):
    path = tmp_path / f"picture.{ending}"
    outcome = topoloom("show", "mesh:4x4", "dragonfly:a=4,h=2,p=2", "--plot", str(path), "--json")
    assert (outcome.status, len(outcome.json()), outcome.err) == (0, 2, "")
    assert path.read_bytes().startswith(magic)
    floor = tmp_path / f"floor.{ending}"
    assert topoloom("layout", "dragonfly:a=4,h=2,p=2", "--plot", str(floor)).status == 0
    assert floor.read_bytes().startswith(magic)


def test_a_graph_from_a_file_draws(tmp_path):
    path = tmp_path / "graph.edges"
    path.write_text("0 2\n0 3\n2 4\n1 3\n1 4\n")
    network = topoloom.network(f"file:{path}")
    network.draw(tmp_path / "graph.svg")
    assert [len(stroke.lines) for stroke in sketch(network.core).strokes] == [5]


def test_the_same_network_makes_the_same_file(tmp_path):
    paths = [tmp_path / "a.svg", tmp_path / "b.svg", tmp_path / "c.svg", tmp_path / "d.svg"]
    for path in paths[:2]:
        draw_networks([topoloom.network("slimfly:q=5,p=4").core], path)
    for path in paths[2:]:
        draw_layouts([topoloom.network("slimfly:q=5,p=4").layout()], path)
    first, second, third, fourth = (path.read_bytes() for path in paths)
    assert first == second
    assert third == fourth


def test_a_floor_without_cable_prices_or_terminal_cables_draws(tmp_path):
    for rules, prices in [("terminal=none", "galaxyfly"), ("width=0,depth=0", ""), ("cabinet=4", "")]:
        draw_layouts([topoloom.network("fattree:k=2,levels=2").layout(rules, prices)], tmp_path / "floor.png")
    draw_layouts([topoloom.network("mesh:1").layout("terminal=none")], tmp_path / "floor.png")


def test_a_network_of_too_many_links_is_refused(tmp_path):
    with pytest.raises(topoloom.TopoloomError, match="a drawing shows at most 300,000"):
        topoloom.network("hyperx:800").draw(tmp_path / "large.png")


def test_text_is_inside_the_picture(tmp_path):
    """Titles and legends of a narrow picture do not run over its edges."""
    from topoloom.plotting.networks import Panel  # noqa: PLC0415

    for spec in ("torus:3x4x5", "mesh:3x40", "torus:2x2x2x2x2"):
        network = topoloom.network(spec)
        panel = Panel(network.core, sketch(network.core), 5.4)
        longest = max(len(str(entry.get_label())) for entry in panel.legend)
        assert panel.legend_columns * (0.45 + 0.06 * longest) <= panel.width
        assert panel.foot >= 0.19 * len(panel.legend) / panel.legend_columns


def test_hosts_are_boxes_with_their_parts():
    network = topoloom.network("cluster:hosts=6,host=hgx-h100,fabric=(clos:radix=8,levels=2,rate=400G)").core
    drawn = sketch(network)
    assert len(drawn.outlines) == 6
    for host, box in enumerate(drawn.outlines):
        (left, bottom), (right, top) = box.min(axis=0), box.max(axis=0)
        inside = [router for router, (x, y) in enumerate(drawn.places) if left < x < right and bottom < y < top]
        assert inside == list(range(9 * host, 9 * host + 9))
    heights = {tuple(sorted(set(drawn.places[54:, 1])))}
    assert len(heights.pop()) == 2, "leaves and spines"
    assert drawn.places[54:, 1].min() > drawn.places[:54, 1].max()
