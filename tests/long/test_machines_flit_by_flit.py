"""What the page on measured machines says of the cycle engine, made again."""

import re
from pathlib import Path

import pytest

from harness.paths import ROOT
from topoloom import workload
from topoloom.hardware.folders import calibrate_folder

pytestmark = pytest.mark.long

HARDWARE = ROOT / "papers/hardware"
PERLMUTTER = "cluster:hosts=16,host=cray-ex,fabric=(hyperx:16,p=16,rate=200G),attach=spread"
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
        (SLIM_FLY, "adaptive", "allreduce:size=800000,algorithm=recursive-doubling", r"800,000 bytes (1\.84) (ms)"),
        (SLIM_FLY, "adaptive", "allreduce:size=800000,algorithm=ring", r"Its ring takes (265) (µs) flit by flit"),
    ],
)
def test_the_page_says_what_flits_take(spec, routing, app, told):
    page = " ".join((ROOT / "docs/hardware.md").read_text(encoding="utf-8").split())
    value, unit = re.search(told, page).groups()
    found = workload(spec, app, routing=routing, engine="cycle").results[0].makespan_s
    assert found * {"µs": 1e6, "ms": 1e3}[unit] == pytest.approx(float(value), rel=0.01)
