"""Runs of applications: what their results say they rest on, beside what the numbers are."""

import re
import resource
import time
from pathlib import Path
from typing import Any

import pytest

import topoloom

HALO = "halo:grid=4,block=8,compute=1us,iterations=2"
TRAINING = "training:tensor=2,pipeline=2,hidden=32,sequence=16"


def ran(spec: str, app: str, **options: Any) -> topoloom.WorkloadResult:
    (result,) = topoloom.workload(spec, app, **options).results
    return result


@pytest.mark.parametrize(
    ("app", "options", "expected"),
    [
        ("reduce", {}, ["ideal", "rate", "paths=1"]),
        ("reduce", {"flow_engine": "paths=2"}, ["ideal", "rate", "paths=2"]),
        ("reduce", {"endpoint": "overhead=500ns"}, ["ideal", "rate", "endpoint", "paths=1"]),
        ("reduce", {"scale": 2}, ["ideal", "rate", "scale", "paths=1"]),
        (HALO, {"scale": 3, "noise": "jitter=5%"}, ["ideal", "rate", "scale", "noise", "paths=1"]),
        (TRAINING, {}, ["ideal", "rate", TRAINING, "paths=1"]),
        ("reduce", {"routing": "adaptive"}, ["ideal", "rate", "amin", "paths=1"]),
        ("reduce", {"routing": "adaptive", "flow_engine": "paths=2"}, ["ideal", "rate", "amin", "paths=2"]),
        ("reduce", {"engine": "cycle"}, ["ideal", "rate"]),
        ("reduce", {"engine": "cycle", "routing": "adaptive"}, ["ideal", "rate"]),
        (TRAINING, {"engine": "cycle"}, ["ideal", "rate", TRAINING]),
    ],
)
def test_a_result_names_what_it_rests_on_and_nothing_else(app: str, options: dict[str, Any], expected: list) -> None:
    said = ran("torus:4x4", app, **options).assumptions
    assert [next(name for name in expected if text.startswith(f"{name}: ")) for text in said] == expected


def test_parts_of_a_message_are_told_as_they_are() -> None:
    """With one path a message is whole; with several it is split, evenly or as its parts decide."""
    said = {
        (routing, paths): ran("torus:4x4", "reduce", routing=routing, flow_engine=f"paths={paths}").assumptions[-1]
        for routing in ("minimal", "adaptive")
        for paths in (1, 2, 3)
    }
    for (routing, paths), text in said.items():
        assert text.startswith(f"paths={paths}: ")
        assert ("a message takes one path" in text) == (paths == 1)
        assert ("evenly" in text) == (routing == "minimal" and paths > 1)
        assert ("for itself" in text or "for themselves" in text) == (routing == "adaptive")


@pytest.mark.parametrize("options", [{}, {"rate": "100Gb/s"}, {"flit": "32B"}, {"rate": "56Gb/s", "flit": "256B"}])
@pytest.mark.parametrize("spec", ["torus:4x4", "torus:4x4,rate=200G", "hyperx:4,p=1,rate=400G,rate.terminal=100G"])
def test_the_ideal_in_cycles_is_that_of_the_rate_it_names(spec: str, options: dict[str, Any]) -> None:
    """The ideal of one message is its bytes over the rate."""
    result = ran(spec, "reduce:size=1MiB,tasks=2", engine="cycle", **options)
    named = re.search(r"a flit at ([\d.]+) Gb/s$", result.assumptions[0])
    assert named is not None
    assert result.ideal_s == pytest.approx(2**20 * 8 / (float(named[1]) * 1e9), rel=1e-9)


def test_the_ideal_of_flows_is_that_of_the_rate_it_names() -> None:
    result = ran("torus:4x4,rate=200G", "reduce:size=1MiB,tasks=2", rate="100Gb/s")
    named = re.search(r"messages alone are measured by ([\d.]+) Gb/s", result.assumptions[1])
    assert named is not None
    assert result.ideal_s == pytest.approx(2**20 * 8 / (float(named[1]) * 1e9), rel=1e-9)


def test_applications_cross_links_of_the_latency_that_is_given() -> None:
    """Two groups of one router: the message crosses the global link once, its flits one after another."""
    spec, app = "dragonfly:a=1,h=1,p=1,g=2", "reduce:size=64,tasks=2"
    near, far = (ran(spec, app, engine="cycle", links={"global": cycles}).makespan_cycles for cycles in (1, 501))
    assert near is not None
    assert far == near + 500


def test_a_run_takes_the_time_and_the_memory_that_it_says() -> None:
    begun = time.monotonic()
    result = ran("torus:4x4", "alltoall:size=1KiB")
    assert 0 < result.wall_s <= time.monotonic() - begun
    peak = result.peak_rss_bytes
    assert peak is not None
    assert peak % resource.getpagesize() == 0
    assert 10 * 2**20 < peak < 2**40
    if (status := Path("/proc/self/status")).exists():
        kilobytes = re.search(r"VmRSS:\s*(\d+) kB", status.read_text())
        assert kilobytes is not None
        assert peak > 1024 * int(kilobytes[1]) / 2
