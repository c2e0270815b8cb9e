"""What the page on measured machines says of the cycle engine, made again."""

import re
from pathlib import Path

import numpy as np
import pytest

from harness.paths import ROOT
from topoloom import workload
from topoloom.hardware.engines import LONG, MICRO, SHORT, by_flow
from topoloom.hardware.engines import _goal as goal
from topoloom.hardware.folders import calibrate_folder
from topoloom.hardware.machines import Job, double_tree, read_machines
from topoloom.workload.flows import rates

pytestmark = pytest.mark.long

HARDWARE = ROOT / "papers/hardware"
PERLMUTTER = "cluster:hosts=16,host=cray-ex,fabric=(hyperx:16,p=16,rate=200G),attach=spread"
NODES = (4, 8, 16)
PAGE = " ".join((ROOT / "docs/hardware.md").read_text(encoding="utf-8").split())
SLIM_FLY = "slimfly:q=5,p=4,rate=54.5G"


def test_predictions_come_out_again():
    """Both the parameters and the predictions, with the rates of the cycle engine."""
    found, text = calibrate_folder(HARDWARE, "cycle").predictions([2, 4, 8, 16, 32, 64])
    kept = Path(HARDWARE, "predictions-cycle.csv").read_text(encoding="utf-8")
    assert found == text.count("\n") - 1
    for own, line in zip(text.splitlines()[1:], kept.splitlines()[1:], strict=True):
        *key, value, unit = own.split(",")
        *kept_key, kept_value, kept_unit = line.split(",")
        assert (key, unit) == (kept_key, kept_unit)
        assert float(value) == pytest.approx(float(kept_value), rel=1e-3), key


@pytest.mark.parametrize(
    ("spec", "routing", "app", "told"),
    [
        (PERLMUTTER, "hosts:fabric=adaptive", "alltoall:size=64KiB", r"of 64 KiB takes (157) (µs) by both"),
        (
            SLIM_FLY,
            "adaptive",
            "allreduce:size=800000,algorithm=recursive-doubling",
            r"800,000 bytes takes (1\.66) (ms) flit by flit, and (1\.83) ms by flows",
        ),
        (
            SLIM_FLY,
            "adaptive",
            "allreduce:size=800000,algorithm=ring",
            r"Its ring takes (263) (µs) flit by flit, and (234) µs by flows",
        ),
    ],
)
def test_the_page_says_what_both_engines_find(spec, routing, app, told):
    flits, unit, *flows = re.search(told, PAGE).groups()
    of_engines = {"cycle": flits, "flow": flows[0] if flows else flits}
    for engine, value in of_engines.items():
        how = {"flow_engine": "paths=16"} if engine == "flow" else {}
        found = workload(spec, app, routing=routing, engine=engine, **how).results[0].makespan_s
        assert found * {"µs": 1e6, "ms": 1e3}[unit] == pytest.approx(float(value), rel=0.01), engine


def pairs_of_trees(job: Job) -> tuple[list[int], list[int]]:
    """Each node's part in two binary trees, up and down, by all of its interfaces."""
    near = [[node * job.host.terminals + slot for slot in job.host.interfaces] for node in range(job.nodes)]
    pairs = [pair for child, parent in double_tree(job.nodes) for pair in ((child, parent), (parent, child))]
    return [at for a, _ in pairs for at in near[a]], [at for _, b in pairs for at in near[b]]


def test_trees_are_slower_flit_by_flit_where_a_class_has_one_vc(tmp_path):
    flow, cycle = (read_machines(HARDWARE, engine)["ABCI 2.0 A"] for engine in ("flow", "cycle"))
    longer = [cycle.job("nccl", nodes).interface_trees() / flow.job("nccl", nodes).interface_trees() for nodes in NODES]
    assert f"take {100 * min(longer) - 100:.0f} to {100 * max(longer) - 100:.0f} % longer flit by flit" in PAGE

    def longer_with(nodes: int, **how: object) -> float:
        job = flow.job("nccl", nodes)
        sources, targets = pairs_of_trees(job)
        file, times = tmp_path / "trees.goal", []
        for size in (SHORT, LONG):
            file.write_text(goal(list(zip(sources, targets, strict=True)), size))
            times.append(workload(job.network, f"goal:{file}", engine="cycle", **how).results[0].makespan_s)
        return (times[1] - times[0]) * MICRO / (LONG - SHORT) / by_flow(job.network, sources, targets)

    # Four VCs for the fabric's class: what networks have by default since.
    more = [100 * longer_with(nodes) - 100 for nodes in NODES]
    assert f"With default VCs they take {min(more):.0f} to {max(more):.0f} % longer" in PAGE
    # The same with deep buffers: no head is blocked by another.
    assert longer_with(4, buffer=1024) == pytest.approx(1, abs=0.0025)
    assert "With 1,024 flits per VC, those on 4 nodes take as long" in PAGE


def test_sixteen_paths_that_are_drawn_collide():
    flow, cycle = (read_machines(HARDWARE, engine)["ABCI 2.0 A"].job("mpi-cpu", 16) for engine in ("flow", "cycle"))
    faster = [flow.exchanged(distance) / cycle.exchanged(distance) - 1 for distance in (16, 32, 64)]
    assert f"{100 * min(faster):.0f} to {100 * max(faster):.0f} % higher rates" in PAGE
    ranks = np.arange(flow.ranks)
    pairs = [flow.terminals(own).tolist() for own in (ranks, ranks ^ 32)]
    many = MICRO / rates(flow.network, *pairs, flow="paths=256").min()
    assert many == pytest.approx(cycle.exchanged(32), rel=0.02)
