"""The main job: its JSON, and a report that stands alone."""

import re
import signal
import subprocess
import sys
from html.parser import HTMLParser

import pytest

import topoloom
from topoloom.report.comparison import Comparison
from topoloom.report.overview import contests, headline, join_words, verdict
from topoloom.report.rendering import render_report
from topoloom.simulation.curves import Curve
from topoloom.simulation.options import EngineOptions
from topoloom.simulation.points import ZERO_LOAD, Point

COMPARE = ["compare", "mesh:4x4", "hyperx:4x4", "--traffic", "uniform,bit-complement", "--load", "0.2:0.8:0.2"]


def test_full_load_is_simulated_until_what_is_accepted_has_settled():
    """Just after the load has begun, more or less is accepted than later; the table compares what lasts."""
    spec, traffic = "dragonfly:a=4,h=2,p=2", "next-group"
    curves = topoloom.compare([spec], routings=["min"], traffics=[traffic], load="0.2").curves
    alone = topoloom.network(spec).simulate("min", traffic, 1.0).points[1.0]
    assert (curves[0].points[1.0].cycles, curves[0].points[1.0].accepted) == (alone.cycles, alone.accepted)


class Page(HTMLParser):
    """Collects what a browser would load, and the text of elements."""

    def __init__(self, text):
        super().__init__()
        self.loads, self.ids, self.policy = [], [], ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.loads += [attributes[key] for key in ("src", "href", "data", "poster", "srcset") if key in attributes]
        self.loads += [tag] * (tag in {"link", "iframe", "object", "embed", "base"})
        self.ids += [attributes["id"]] if "id" in attributes else []
        if attributes.get("http-equiv") == "Content-Security-Policy":
            self.policy = attributes["content"]


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """The report of a small comparison, with the comparison."""
    comparison = topoloom.compare(["mesh:4x4", "hyperx:4x4"], traffics=["uniform"], load="0.2:0.8:0.2")
    path = tmp_path_factory.mktemp("report") / "report.html"
    comparison.write_report(path)
    return path.read_text(), comparison


def test_compare_simulates_every_network_with_every_routing_under_every_traffic(topoloom, tmp_path):
    outcome = topoloom(*COMPARE, "--json", "--out", str(tmp_path / "r.html"))
    assert outcome.status == 0
    result = outcome.json()
    assert [facts["spec"] for facts in result["networks"]] == ["mesh:4x4", "hyperx:4x4"]
    assert {(curve["spec"], curve["routing"], curve["traffic"]) for curve in result["curves"]} == {
        (spec, routing, traffic)
        for spec, routings in {"mesh:4x4": ("dor", "ugal-l"), "hyperx:4x4": ("min", "dal")}.items()
        for routing in routings
        for traffic in ("uniform", "bit-complement")
    }
    for curve in result["curves"]:
        assert curve["deadlock_free"] is True
        assert 0 < curve["saturation_load"] <= 1
        loads = [point["offered"] for point in curve["points"]]
        assert loads == sorted(loads)
        assert {load for load in (0.2, 0.4, 0.6, 0.8) if load < curve["saturation_load"]} <= set(loads)
    assert (tmp_path / "r.html").stat().st_size > 1_000_000


def test_a_line_tells_of_every_curve_where_stderr_is_no_terminal(topoloom):
    err = topoloom("compare", "mesh:3x3", "hyperx:3x3", "--routing", "minimal", "--load", "0.2").err
    assert re.fullmatch(r"(topoloom: [12] of 2: \w+:3x3, (dor|min), uniform saturates at [01]\.\d\d\n){2}", err)


def test_ctrl_c_leaves_a_report_of_what_is_done(tmp_path):
    out = tmp_path / "report.html"
    command = ["compare", "mesh:3x3", "mesh:16x16", "--routing", "minimal", "--out", str(out)]
    lengthy = ["--warmup", "200", "--measure", "60000"]
    process = subprocess.Popen(
        [sys.executable, "-m", "topoloom", *command, *lengthy], stderr=subprocess.PIPE, text=True
    )
    assert "1 of 2: mesh:3x3" in process.stderr.readline()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "interrupted" in err
    assert "1 of 2 curves are complete" in out.read_text()


def test_without_json_people_get_tables(topoloom):
    out = topoloom("compare", "mesh:3x3", "--routing", "minimal", "--load", "0.2").out
    assert "Power per terminal" in out
    assert "saturation load" in out


def test_routings_that_are_the_same_on_a_network_run_once():
    comparison = topoloom.compare(["mesh:3x3"], routings=["dor", "minimal"], load=0.2)
    assert [(curve.routing, curve.role) for curve in comparison.curves] == [("dor", "dor")]


def test_the_report_loads_nothing_from_anywhere(report):
    text, _ = report
    page = Page(text)
    assert all(source.startswith("data:image/") for source in page.loads), "pictures stand in the page itself"
    assert page.policy.startswith("default-src 'none'")
    assert not re.search(r"@import|url\(\s*['\"]?(?!#)", text[: text.index("<body>")])
    assert text.count("plotly.js v") == 1


def test_the_report_has_its_parts(report):
    text, comparison = report
    assert {"overview", "facts", "curves", "saturation", "results", "origin"} <= set(Page(text).ids)
    body = text[: text.index('<script type="application/json"')]
    for curve in comparison.curves:
        assert f"{curve.saturation_load:.2f}" in body
        for point in curve.points.values():
            assert f"{point.latency_cycles:,.2f}" in body
    assert "Seed" in body
    assert "edr-flex" in body


def point(offered, latency, accepted=None, **more):
    values = {
        "offered": offered, "accepted": offered if accepted is None else accepted, "latency_cycles": latency,
        "latency_ci95": 0.1, "network_latency_cycles": latency, "p50": latency, "p99": latency, "hops": 2.0,
        "converged": True, "saturated": False, "cycles": 1000, "flit_hops": 1, "wall_s": 0.1, "cpu_s": 0.1,
        "active_terminals": 4,
    }  # fmt: skip
    return Point.model_validate(values | more)


def curve(spec, latency, saturation, traffic="uniform", finished=True):
    points = [point(0.001, latency), point(saturation, 2 * latency), point(1.0, 50 * latency, 0.9)]
    config = {"vcs": 4, "seed": 1}
    return Curve(spec, "min", "minimal", traffic, config, {p.offered: p for p in points}, finished)


def facts(spec, cost):
    return {"spec": spec, "terminals": 4, "cost_usd": cost, "power_w": 8.0}


def made(specs, curves, **more):
    values = {
        "facts": [facts(spec, 100 * place) for place, spec in enumerate(specs, 1)],
        "curves": curves, "options": [EngineOptions()], "traffics": ["uniform"],
        "command": ["topoloom", "compare", "a b", "--out", "r.html"], "finished": True,
    }  # fmt: skip
    return Comparison(**(values | more))


def test_the_overview_names_the_winners_and_ties():
    comparison = made(["a", "b"], [curve("a", 10, 0.5), curve("b", 12, 0.7)])
    won = {contest.aim: [entry.spec for entry in contest.winners] for contest in contests(comparison)}
    assert won == {
        "the lowest zero-load latency": ["a"],
        "the highest saturation load under uniform traffic": ["b"],
        "the lowest cost per terminal": ["a"],
        "the lowest power per terminal": [],
    }
    assert dict(verdict(comparison))["a"] == "the lowest zero-load latency and the lowest cost per terminal"
    tied = made(["a", "b", "c"], [curve("a", 10, 0.5), curve("b", 10, 0.5), curve("c", 12, 0.4)])
    assert dict(verdict(tied))["b"] == (
        "the lowest zero-load latency (tied) and the highest saturation load under uniform traffic (tied)"
    )
    assert headline(comparison) == "Two networks, side by side"
    assert join_words(["one"]) == "one"


def test_zero_load_latency_has_its_interval():
    comparison = made(["a"], [curve("a", 10, 0.5)])
    (point,) = [point for point in comparison.curves[0].points.values() if point.offered == ZERO_LOAD]
    assert contests(comparison)[0].entries[0].note == f"± {point.latency_ci95:.2f}"


def test_what_users_type_is_escaped():
    evil = "<script>alert(1)</script>"
    text = render_report(made([evil], [curve(evil, 10, 0.5)], command=["topoloom", evil]))
    assert evil not in text
    assert "&lt;script&gt;alert(1)" in text


def test_the_command_can_be_pasted():
    text = render_report(made(["a"], [curve("a", 10, 0.5)]))
    assert "topoloom compare &#39;a b&#39; --out r.html" in text


def test_a_partial_report_says_so():
    text = render_report(made(["a"], [curve("a", 10, 0.5, finished=False)], finished=False))
    assert "Partial." in text
    assert "0 of 1 curves are complete" in text


def test_a_deadlock_is_told():
    broken = curve("a", 10, 0.5)
    broken.points[1.0] = point(1.0, None, 0.1, deadlocked=True)
    assert "Deadlock." in render_report(made(["a"], [broken]))
