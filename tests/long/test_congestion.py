"""The table of the page on measured machines: a ring beside an incast, with windows and without, in both engines."""

import re

import numpy as np
import pytest

import topoloom
from harness.paths import ROOT
from topoloom.workload import flows

pytestmark = pytest.mark.long

SPEC = "hyperx:4x4,p=4"
APP = "gpcnet:canary=bandwidth,share=0.203125,iterations=20,block=128KiB,congestor="
RING, ROUNDS, ENDLESS = 26, 20, 1 << 34
"""Messages of a round of 13 canaries, rounds, and the bytes of a flow that outlasts them."""
ROW = re.compile(r"^\| (cycle|flow), (.+?) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|$", re.MULTILINE)
ROWS = ROW.findall((ROOT / "docs/hardware.md").read_text(encoding="utf-8"))


def by_packets(what: str, mapping: str) -> float:
    flits, window = re.fullmatch(r"([\d,]+) flits per VC, (.+)", what).groups()
    endpoint = "" if window == "no window" else f"window={window.replace(' ', '')}"
    options = {"engine": "cycle", "packet": 16, "buffer": int(flits.replace(",", "")), "mapping": mapping}
    found = topoloom.workload(SPEC, [APP + other for other in ("none", "incast")], endpoint=endpoint, **options)
    alone, beside = (result.message_mean_s for result in found.results)
    return beside / alone


def by_flows(what: str, mapping: str) -> float:
    network, app = topoloom.network(SPEC), topoloom.Application(APP + "incast", tasks=64)
    where, messages = app.core.mapping(network.core, mapping), app.messages()
    ring, rest = messages[:RING], messages[RING * ROUNDS :]
    incast = rest[rest["bytes"] > rest["bytes"].min()]
    assert incast.size == 50
    assert np.unique(incast["target"]).size == 1
    times = []
    for of in (ring, np.concatenate([ring, incast])):
        sizes = np.where(np.arange(of.size) < RING, of["bytes"], np.uint64(ENDLESS))
        model = "" if what == "max-min" else f",{what.strip('`')}"
        ends = where[of["source"]], where[of["target"]]
        times.append(flows.run(network, *ends, sizes, flow=f"injection=1{model}").times[:RING, 1].mean())
    return times[1] / times[0]


def test_the_page_has_every_row():
    assert [engine for engine, *_ in ROWS] == ["cycle"] * 7 + ["flow"] * 2


@pytest.mark.parametrize(("engine", "what", "values"), [(engine, what, told) for engine, what, *told in ROWS])
def test_an_incast_slows_a_ring_as_the_page_says(engine, what, values):
    measured = by_packets if engine == "cycle" else by_flows
    assert [f"{measured(what, f'random:seed={seed}'):.2f}" for seed in (1, 2, 3)] == values
