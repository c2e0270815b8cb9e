"""Pages in a browser: every kind that the commands write, as wide as a desk's and as a phone's, light and dark.

They are skipped without Chromium, which `.ci/run` installs.
"""

import json
import re
import subprocess
from html import unescape

import pytest

import topoloom
from harness import browser
from harness.paths import DATA
from topoloom.papers import Paper, Plan
from topoloom.report.maps import BUSIEST

pytestmark = pytest.mark.skipif(browser.CHROMIUM is None, reason="no Chromium is installed")

SPECS = ["mesh:4x4", "dragonfly:a=4,h=2,p=2", "slimfly:q=5,p=3", "flex:3x3x3,p=2"]
SECTIONS = {"comparison": "saturation", "design": "neighbours", "workload": "time", "paper": "fig1"}
"""Kinds of pages, and a part that each has."""
READABLE = 4.5
"""The least contrast of text that the web's guidelines for accessibility ask for."""

WITNESS = (DATA.parent / "report/witness.js").read_text()
"""Reports what a page does and shows to the frame around it."""

FRAME = """<!doctype html><body><script>
addEventListener("message", (event) => {
  document.body.append(Object.assign(document.createElement("pre"), { className: "witness", textContent: event.data }));
});
</script>"""
"""A browser's window cannot be as narrow as a phone; a frame can."""


@pytest.fixture(scope="module")
def comparison():
    return topoloom.compare(
        SPECS, traffics=["uniform", "bit-complement"], load=0.2, warmup=300, measure=600, precision=0.05
    )


@pytest.fixture(scope="module")
def pages(comparison, tmp_path_factory):
    """A page of each kind."""
    asked = {"terminals": (12, 13), "radix": 5, "families": "hyperx", "finalists": 2, "survive": "links=10%"}
    plan = Plan(Paper.read(DATA / "papers/tiny"))
    made = {
        "comparison": comparison,
        "design": topoloom.design(**asked, apps=["alltoall:size=64KiB"]),
        "workload": topoloom.workload(["mesh:4x4", "torus:4x4"], ["allreduce:size=64KiB", "sweep3d:grid=4x2x2"]),
        "paper": plan.run(tmp_path_factory.mktemp("tiny") / "results.store"),
    }
    return {name: own.to_html() for name, own in made.items()}


def seen(pages, tmp_path, width, *flags):
    """What a witness within each page saw in a browser, on a page of that many pixels across."""
    frame = FRAME
    for name, page in pages.items():
        witness = f"<script>{WITNESS.replace('PAGE', json.dumps(name)).replace('READABLE', str(READABLE))}</script>"
        (tmp_path / f"{name}.html").write_text(page.replace("<head>", "<head>" + witness, 1))
        frame += f'<iframe src="{name}.html" style="width:{width}px;height:900px"></iframe>'
    path = tmp_path / "frame.html"
    path.write_text(frame)
    command = browser.command(path, "--dump-dom", *flags, width=1400, height=1000)
    dom = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True).stdout
    found = [json.loads(unescape(text)) for text in re.findall(r'class="witness">(.*?)</pre>', dom, re.DOTALL)]
    return {own["name"]: own for own in found}


@pytest.mark.parametrize(("width", "flags"), [(1300, ()), (375, (browser.DARK,))])
def test_a_browser_shows_every_figure_and_complains_of_nothing(pages, comparison, tmp_path, width, flags):
    found = seen(pages, tmp_path, width, *flags)
    assert found.keys() == pages.keys() == SECTIONS.keys()
    for name, own in found.items():
        assert own["told"] == own["fetched"] == own["faint"] == [], name
        assert own["cut"] == [], name
        assert own["width"] == [width, width], name
        assert own["charts"], name
        assert all(own["charts"]), name
        assert (own["paper"] < 0.1) == bool(flags), name
        assert SECTIONS[name] in own["sections"], name
    own = found["comparison"]
    assert own["canvases"] == [True] * (len(SPECS) + 2)
    # Cost against saturation, latency, accepted load, for each of two kinds of traffic.
    assert len(own["charts"]) == 6
    curve = comparison.curves[0]
    assert own["choices"] == [len(SPECS), 2, len({c.routing for c in comparison.curves if c.spec == curve.spec})]
    busiest = sorted(curve.channels.flits, reverse=True)[:BUSIEST]
    assert [float(row[-1]) for row in own["busiest"]] == pytest.approx(busiest, abs=1e-3)


SPOILT = """<script>nothing.such()</script><img src='x.png'>
<div style="width: 2000px; color: #777; background: #888">Faint</div>
<style>.chart { overflow: visible !important } .chart svg text { transform: translate(0, 900px) }</style>"""


def test_the_witness_hears_of_an_error(pages, tmp_path):
    page = pages["workload"].replace("</body>", SPOILT + "</body>")
    own = seen({"workload": page}, tmp_path, 1000)["workload"]
    told = "\n".join(own["told"])
    assert "nothing is not defined" in told
    assert "refused" in told
    assert [words for _, words, _ in own["faint"]] == ["Faint"]
    assert own["width"][0] > own["width"][1]
    assert own["cut"]
