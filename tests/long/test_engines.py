"""The two engines beside each other: makespans of the same applications on the same networks.

Run as a program, ``PYTHONPATH=tests python tests/long/test_engines.py docs/images/engines.svg``, it draws the chart of
the page on workloads.

Messages are large, so that what the flow engine leaves out, the time that a flit takes through routers, is small beside
the time that links are busy. Terminals send and take in a flit per cycle in both engines.
"""

import re
import sys
from pathlib import Path
from statistics import fmean

import matplotlib as mpl
import pytest
from matplotlib.figure import Figure

import topoloom
from harness.paths import ROOT

NETWORKS = {
    "fattree:k=16,levels=2": ("updown", "fat tree, 256"),
    "fattree:k=8,levels=3": ("updown", "fat tree, 512"),
    "xgft:down=8x8x16,up=8x8": ("updown", "fat tree, 1,024"),
    "hyperx:8x8,p=4": ("dor", "HyperX, 256"),
    "hyperx:8x8,p=8": ("dor", "HyperX, 512"),
    "hyperx:8x8x4,p=4": ("dor", "HyperX, 1,024"),
    "hyperx:8x8,p=16": ("dor", "HyperX, 1,024, crowded"),
    "torus:16x16": ("dor", "torus, 256"),
    "torus:8x8x8": ("dor", "torus, 512"),
    "torus:16x8x8": ("dor", "torus, 1,024"),
}
"""Networks with the routing that both engines run, and what the chart calls them."""

APPS = {
    "permutation:size=256KiB": "permutation",
    "alltoall:algorithm=direct,size=4KiB": "all-to-all at once",
    "allreduce:size=256KiB": "allreduce, doubling",
    "alltoall:algorithm=pairwise,size=16KiB": "all-to-all, pairwise",
    "allreduce:algorithm=rabenseifner,size=1MiB": "allreduce, Rabenseifner",
}
"""Applications, and what the chart calls them. In the last two, tasks wait for each other in many unequal steps."""

HELD = tuple(APPS)[:3]

APART = ("torus", "hyperx:8x8x4,p=4", "hyperx:8x8,p=16")
"""Where many messages share links the engines differ by more: on tori, and with 1,024 terminals on HyperX."""

CYCLE = {"engine": "cycle", "flit": "64B", "packet": 4, "vcs": 16, "buffer": 16}
FLOW = {"engine": "flow", "flow_engine": "injection=1"}


def measure(networks=tuple(NETWORKS), apps=tuple(APPS)):
    """Return (network, application, makespan by the cycle engine, by the flow engine) in seconds."""
    rows = []
    for spec in networks:
        routing, _ = NETWORKS[spec]
        cycle, flow = (topoloom.workload(spec, apps, routing=routing, **how).results for how in (CYCLE, FLOW))
        rows += [(spec, a.app, a.makespan_s, b.makespan_s) for a, b in zip(cycle, flow, strict=True)]
    return rows


def draw(rows, path):
    """Draw how much shorter or longer makespans are by the flow engine."""
    with mpl.rc_context({"svg.hashsalt": "topoloom", "font.size": 9}):
        figure = Figure(figsize=(9, 3.6), layout="constrained")
        panel = figure.subplots()
        specs = list(dict.fromkeys(row[0] for row in rows))
        for place, app in enumerate(APPS):
            found = {spec: 100 * (flow / cycle - 1) for spec, name, cycle, flow in rows if name == app}
            x = [at + 0.17 * place - 0.34 for at in range(len(specs))]
            panel.bar(x, [found[spec] for spec in specs], width=0.17, label=APPS[app])
        panel.axhspan(-10, 10, color="0.9", zorder=0)
        panel.set_xticks(range(len(specs)), [NETWORKS[spec][1].replace(", ", "\n", 1) for spec in specs])
        panel.set_ylabel("flow engine over cycle engine, %")
        figure.legend(loc="outside lower center", ncols=3, frameon=False)
        figure.savefig(path, metadata={"Date": None})


@pytest.mark.long
@pytest.mark.parametrize("spec", [spec for spec in NETWORKS if not spec.startswith(APART)])
def test_makespans_agree_within_a_tenth(spec):
    for _, app, cycle, flow in measure([spec], HELD):
        assert flow == pytest.approx(cycle, rel=0.1), app


@pytest.mark.long
@pytest.mark.parametrize("spec", ["machine:superpod-h100,units=1", "machine:summit,racks=3"])
def test_drawn_paths_of_a_ring_collide(spec):
    """The page on the flow engine says how much longer a ring takes than flit by flit."""
    app = "allreduce:algorithm=ring,size=4MiB"

    def makespan(**how):
        return topoloom.workload(spec, app, **how).results[0].makespan_s

    flits = makespan(engine="cycle", flit="256B")
    one, many = (makespan(engine="flow", flow_engine=f"paths={paths}") / flits for paths in (1, 16))
    page = " ".join((ROOT / "docs/flow-model.md").read_text(encoding="utf-8").split())
    told = rf"`{spec}` (?:it )?takes ([0-9.]+)(?: times as long as flit by flit with one path,)? and ([0-9.]+) times"
    assert [f"{one:.1f}", f"{many:.1f}"] == list(re.search(told, page).groups())


MACHINES = {
    "machine:summit,racks=3": "adaptive",
    "machine:superpod-h100,units=1": "adaptive",
    "machine:leonardo,groups=4,switches=9": "adaptive",
    "machine:frontier,groups=8,switches=8": "adaptive",
    "machine:hyperx-sc19,sides=12x8": "adaptive",
    "machine:slimfly-nsdi24": "adaptive",
    "machine:tpu-v4,sides=8x8x8": "dor",
    "machine:fugaku,sides=4x4x4x2x3x2": "dor",
}
"""Machines of 200 to 768 terminals, and the routing of each: adaptive ones, but for tori."""

TREES = ("machine:summit", "machine:superpod")

LARGE = ("allreduce:algorithm=ring,size=16MiB", "permutation:size=256KiB", "alltoall:algorithm=direct,size=16KiB")
"""Applications with messages of 64 flits of 256 bytes and more, in the order of the page's columns."""


COALESCED = {("machine:leonardo,groups=4,switches=9", LARGE[2]): ",coalesce=0.01"}
"""The page says why."""


TORI = ("machine:tpu-v4", "machine:fugaku")
"""Their differences are reported, whatever they are."""


SEEDS = range(1, 11)
"""Of the permutations: on one network the ratios of two of them differ by up to a quarter."""


@pytest.mark.long
@pytest.mark.parametrize("app", LARGE)
@pytest.mark.parametrize("spec", MACHINES)
def test_machines_take_as_much_longer_as_the_page_says(spec, app):
    """Every permutation is held to the bounds; the page says what the mean, the least and the most are."""

    def makespan(app, **how):
        return topoloom.workload(spec, app, routing=MACHINES[spec], **how).results[0].makespan_s

    drawn = [f"{app},seed={seed}" for seed in SEEDS] if app == LARGE[1] else [app]
    paths = f"paths=16{COALESCED.get((spec, app), '')}"
    ratios = [
        makespan(one, engine="flow", flow_engine=paths) / makespan(one, engine="cycle", flit="256B") for one in drawn
    ]
    cell = f"{fmean(ratios):.2f}" + (f" ({min(ratios):.2f} to {max(ratios):.2f})" if len(ratios) > 1 else "")
    page = (ROOT / "docs/flow-model.md").read_text(encoding="utf-8")
    (row,) = re.findall(rf"^\| `{spec}` \|.*$", page, re.MULTILINE)
    assert cell == row.split("|")[2 + LARGE.index(app)].strip()
    is_tree = spec.startswith(TREES)
    if app == LARGE[0] or not spec.startswith(TORI):
        assert ratios == pytest.approx([1] * len(ratios), abs=0.1 if app == LARGE[0] or is_tree else 0.2)


@pytest.mark.long
def test_longer_permutations_of_a_hyperx_are_closer():
    """The page says what longer messages than the table's take."""
    spec = "machine:hyperx-sc19,sides=12x8"

    def ratio(size):
        flows, flits = (
            topoloom.workload(spec, f"permutation:size={size}", routing="adaptive", **how).results[0].makespan_s
            for how in ({"engine": "flow", "flow_engine": "paths=16"}, {"engine": "cycle", "flit": "256B"})
        )
        return flows / flits

    page = " ".join((ROOT / "docs/flow-model.md").read_text(encoding="utf-8").split())
    told = re.search(r"With 512 KiB its ratio is ([0-9]\.[0-9]+), with 1 MiB ([0-9]\.[0-9]+)", page)
    assert [f"{ratio(size):.2f}" for size in ("512KiB", "1MiB")] == list(told.groups())


@pytest.mark.long
def test_heads_block_each_other_on_summit():
    """The page says what a permutation takes where packets have fewer VCs, or deeper buffers."""
    spec, app = "machine:summit,racks=3", LARGE[1]

    def makespan(**how):
        return topoloom.workload(spec, app, routing="adaptive", **how).results[0].makespan_s

    flows = makespan(engine="flow", flow_engine="paths=16")
    ratios = [flows / makespan(engine="cycle", flit="256B", **how) for how in ({"vcs": 7}, {"buffer": 1024})]
    page = " ".join((ROOT / "docs/flow-model.md").read_text(encoding="utf-8").split())
    told = re.search(r"With `vcs=7` the ratio of `seed=1` is ([0-9]\.[0-9]+), with `buffer=1024` ([0-9]\.[0-9]+)", page)
    assert [f"{ratio:.2f}" for ratio in ratios] == list(told.groups())


if __name__ == "__main__":
    measured = measure()
    for spec, app, cycle, flow in measured:
        print(f"{spec:24} {app:44} {1e6 * cycle:9.1f} µs {1e6 * flow:9.1f} µs {100 * (flow / cycle - 1):+6.1f} %")
    if len(sys.argv) > 1:
        draw(measured, Path(sys.argv[1]))
