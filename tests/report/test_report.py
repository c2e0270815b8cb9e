"""What the figures of a report are made of."""

import base64
import re
from html import unescape
from pathlib import Path

import numpy as np
import plotly.graph_objects as go
import pytest

import topoloom
from topoloom.network.networks import Network
from topoloom.report.charts import value_for_money
from topoloom.report.maps import BUSIEST, LEVELS, MOST_DRAWN, drawings, heat_maps, pack
from topoloom.report.page import text as page_text
from topoloom.report.rendering import render_report
from topoloom.simulation.options import EngineOptions
from topoloom.studies import Results, Study
from topoloom.studies.reporting import as_comparison

SPECS = ["mesh:4x4", "dragonfly:a=4,h=2,p=2", "slimfly:q=5,p=3", "flex:3x3x3,p=2"]


@pytest.fixture(scope="module")
def comparison():
    return topoloom.compare(
        SPECS, traffics=["uniform", "bit-complement"], load=0.2, warmup=300, measure=600, precision=0.05
    )


def unpack(packed):
    return np.frombuffer(base64.b64decode(packed["bytes"]), dtype=f"<{packed['type']}")


def test_channels_carry_what_packets_visit(comparison):
    """A flit of a packet that visits h routers crosses h - 1 channels, and each expected load is met."""
    for curve in comparison.curves:
        point, flits = curve.points[curve.channels.load], curve.channels.flits
        assert curve.channels.load == curve.saturation_load
        assert len(flits) == 2 * len(Network(curve.spec).edges())
        crossed = point.accepted * point.active_terminals * (point.hops - 1)
        assert flits.sum() == pytest.approx(crossed, rel=0.06)
        assert flits.max() == pytest.approx(point.model_extra["link_utilisation_max"])


def test_channels_stand_in_the_order_of_the_links():
    """In dimension order on a mesh, each channel carries what is expected of it."""
    network = Network("mesh:5x3")
    made = topoloom.compare([network], routings=["dor"], load=0.2, warmup=500, measure=20000)
    (curve,) = made.curves
    expected = {(router, port): load for router, port, load in network.channel_loads("dor")}
    for (a, port_a, b, port_b, _), (there, back) in zip(
        network.edges(), curve.channels.flits.reshape(-1, 2), strict=True
    ):
        assert there == pytest.approx(curve.channels.load * expected[a, port_a], abs=0.03)
        assert back == pytest.approx(curve.channels.load * expected[b, port_b], abs=0.03)
    busiest = heat_maps(made)["curves"][0]["busiest"]
    assert len(busiest) == BUSIEST
    for router, port, peer, link_class, flits in busiest:
        (link,) = [e for e in network.edges() if (router, port) in (e[:2], e[2:4])]
        assert {router, peer} == {link[0], link[2]}
        assert link_class == link[4]
        assert flits == pytest.approx(curve.channels.load * expected[router, port], abs=0.03)


def test_a_map_holds_every_channel_to_a_step(comparison):
    data = heat_maps(comparison)
    for told, curve in zip(data["curves"], comparison.curves, strict=True):
        network = data["networks"][told["network"]]
        assert (network["spec"], told["routing"], told["traffic"]) == (curve.spec, curve.routing, curve.traffic)
        ends = unpack(network["ends"]).reshape(-1, 2)
        assert [tuple(pair) for pair in ends] == [(a, b) for a, _, b, _, _ in Network(curve.spec).edges()]
        assert np.abs(unpack(told["flits"]) / LEVELS - curve.channels.flits).max() <= 0.5 / LEVELS + 1e-6


@pytest.mark.parametrize("spec", [*SPECS, "fattree:k=4,levels=3", "hypercube:4", "torus:4x4", "hyperx:3x3x3"])
def test_a_drawing_has_every_link_once_between_its_routers(spec):
    network = Network(spec)
    made = topoloom.Comparison([], [], [], [], [], finished=True, networks=[network])
    (drawn,) = drawings(made)
    places = unpack(drawn["places"]).reshape(-1, 2).astype(int)
    assert len(places) == network.num_routers
    assert (places.max(axis=0) <= drawn["size"]).all()
    pairs = []
    for stroke in drawn["strokes"]:
        ends = unpack(stroke["ends"]).reshape(-1, 2)
        lines = unpack(stroke["lines"]).reshape(stroke["count"], stroke["points"], 2)
        assert (lines[:, [0, -1]] == places[ends]).all()
        pairs += [tuple(sorted(pair)) for pair in ends.tolist()]
    assert sorted(pairs) == sorted({tuple(sorted((a, b))) for a, _, b, _, _ in network.edges()})


def test_too_many_links_are_told_and_not_drawn():
    facts = [{"spec": "hyperx:40x40", "terminals": 1600}]
    made = topoloom.Comparison(facts, [], [EngineOptions()], [], [], finished=True, networks=[Network("hyperx:40x40")])
    (drawn,) = drawings(made)
    assert f"{40 * 40 * 78 // 2:,} links" in drawn["why"]
    assert drawn["why"] in unescape(render_report(made))
    assert MOST_DRAWN < 40 * 40 * 78 // 2


@pytest.mark.parametrize("largest", [0, 255, 256, 65535, 65536])
def test_packed_numbers_come_back(largest):
    assert unpack(pack(np.array([0, largest, 3]))).tolist() == [0, largest, 3]


def test_the_front_holds_who_is_beaten_by_none(comparison):
    for traffic in comparison.traffics:
        told = value_for_money(comparison, traffic)
        marks = {mark["spec"]: (mark["cost"], -mark["saturation"]) for mark in told["marks"]}
        for facts in comparison.facts:
            of = [c.saturation_load for c in comparison.curves if (c.spec, c.traffic) == (facts["spec"], traffic)]
            assert marks[facts["spec"]] == (facts["cost_usd"] / facts["terminals"], -max(of))
        beaten = {
            spec
            for spec, mine in marks.items()
            if any(o != mine and o[0] <= mine[0] and o[1] <= mine[1] for o in marks.values())
        }
        assert {mark["spec"] for mark in told["front"]} == set(marks) - beaten
        assert [mark["cost"] for mark in told["front"]] == sorted(mark["cost"] for mark in told["front"])


def test_the_same_results_give_the_same_page(comparison):
    assert render_report(comparison) == render_report(comparison)


STUDY = """
name = "sides"
[[sweep]]
networks = ["mesh:3x3", "hyperx:3x3"]
loads = [0.1, 0.2]
options = {warmup = 200, measure = 500}
"""


def test_a_study_tells_its_text_its_store_and_how_busy_links_are(topoloom, tmp_path):
    path, out = tmp_path / "sides.toml", tmp_path / "report.html"
    path.write_text(STUDY)
    assert topoloom("run", str(path), "--out", str(out)).status == 0
    page = out.read_text()
    assert STUDY in unescape(page)
    assert "sides.store" in page
    made = as_comparison(Study.read(path), Results.load(path.with_suffix(".store")), [], finished=True)
    for curve in made.curves:
        point = curve.points[0.2]
        assert curve.channels.load == 0.2
        # The same run once more: the busiest channel is as busy as the stored point says.
        assert curve.channels.flits.max() == pytest.approx(point.model_extra["link_utilisation_max"], rel=1e-6)


def test_curves_of_a_study_keep_their_bounds_and_tell_their_options(tmp_path):
    options = {"warmup": 200, "measure": 400, "buffer": [4, 8]}
    sweep = {"kind": "saturation", "networks": ["mesh:3x3"], "options": options}
    study = Study.model_validate({"name": "bounds", "sweep": [sweep]})
    made = as_comparison(study, study.run(tmp_path / "store"), [], finished=True)
    bound = Network("mesh:3x3").bound()["saturation_bound"]
    assert [curve.bound.saturation_bound for curve in made.curves] == [bound, bound]
    page = render_report(made)
    assert "<small>buffer 4</small>" in page
    assert "<small>buffer 8</small>" in page


def test_floors_come_with_their_bills_and_the_first_one_is_open():
    compared = topoloom.compare(["mesh:3,p=2", "mesh:2x2"], load=0.1, warmup=50, measure=50, layout="cabinet=2")
    section = render_report(compared).partition('<section id="floors">')[2].partition("</section>")[0]
    assert re.findall(r"<details( open)?><summary><span", section) == [" open", ""]
    assert "2 routers per cabinet do not divide 3 routers: the last of 2 cabinets holds 1" in section
    bills = re.findall(r"<tbody>(.*?)</tbody>", section, re.DOTALL)
    assert len(bills) == 2
    rows = [re.findall(r">([^<>]+)<", row) for row in re.findall(r"<tr>(.*?)</tr>", bills[0])]
    assert ["router with 4 ports in use", "1", "–", "15,541.00", "15,541", "11.2"] in rows
    assert ["cabinet of 2 routers and 4 terminals", "1", "–", "–", "–", "0.0"] in rows


def luminance(color):
    """The relative luminance of a colour such as #1a2b3c, as the web's guidelines for accessibility define it."""
    parts = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return float(np.dot([0.2126, 0.7152, 0.0722], linear))


@pytest.mark.parametrize("theme", [0, 1])
def test_every_colour_of_text_is_read_on_its_paper(theme):
    """Light and dark: a contrast of at least 4.5, which the guidelines ask for; networks' names have their colours."""
    block = re.findall(r":root[^{]*\{(.*?)\}", page_text("style.css"), re.DOTALL)[theme]
    colours = dict(re.findall(r"--([\w-]+): (#\w+)", block.replace("#fff;", "#ffffff;")))
    papers = {name: "warn-paper" if name == "warn" else "paper" for name in ("ink", "soft", "accent", "warn")}
    for name, paper in (papers | {f"n{place}": "paper" for place in range(8)}).items():
        low, high = sorted((luminance(colours[name]), luminance(colours[paper])))
        assert (high + 0.05) / (low + 0.05) >= 4.5, name


def test_families_have_shapes_and_letters_of_their_own():
    """Fronts of a dozen families repeat no shape in their key; Plotly knows all of them."""
    source = (Path(topoloom.__file__).parent / "report/page.js").read_text(encoding="utf-8")
    symbols, glyphs = (
        re.findall(r'"([^"]+)"', re.findall(rf"{name}: \[(.*?)\]", source, re.DOTALL)[0])
        for name in ("symbols", "glyphs")
    )
    assert len(symbols) == len(set(symbols)) == len(glyphs) == len(set(glyphs)) >= 12
    assert go.Scatter(marker={"symbol": symbols}).marker.symbol == tuple(symbols)
    with pytest.raises(ValueError, match="symbol"):
        go.Scatter(marker={"symbol": ["no-such-shape"]})
