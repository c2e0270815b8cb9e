"""Applications on the flow engine, where makespans are known; and GPCNeT's canaries beside congestors."""

from collections.abc import Callable
from math import log2
from typing import Any

import pytest

import topoloom
from topoloom.studies import Results, Study

RATE = 1.25e9


def makespan(spec: str, app: str, flow: str = "", **options: object) -> float:
    (result,) = topoloom.workload(spec, app, flow_engine=flow, **options).results
    assert result.state == "finished"
    assert result.makespan_s is not None
    return result.makespan_s


@pytest.mark.parametrize(
    ("spec", "app", "flow", "bytes_"),
    [
        # One takes in what all send.
        ("hyperx:4x4", "reduce:size=10000", "", 15 * 10_000),
        ("torus:4x4x2", "reduce:size=10000", "", 31 * 10_000),
        # Every step is a permutation that the network carries at full rate.
        ("hyperx:16", "allreduce:size=16384", "", int(log2(16)) * 16_384),
        ("ring:8,degree=2,seed=1", "allreduce:size=8000,algorithm=ring", "", 14 * 1000),
        ("hyperx:16", "allreduce:size=16000,algorithm=rabenseifner", "", 2 * (8000 + 4000 + 2000 + 1000)),
        ("hyperx:16", "alltoall:size=500", "", 15 * 500),
        ("hyperx:16", "alltoall:size=500,algorithm=bruck", "", 4 * 8 * 500),
        ("hyperx:16", "alltoall:size=500,algorithm=direct", "injection=1", 15 * 500),
        ("hyperx:16", "broadcast:size=5000", "", 4 * 5000),
        ("mesh:8", "broadcast:size=8000,algorithm=chain", "", 7 * 8000),
        # Four tasks in a row, to both sides: a link carries one message at a time in each direction.
        ("torus:8", "nbodies:size=900", "", 4 * 900),
        # Neighbours on a torus that the grid fits: six at a time, or one after the other.
        ("torus:4x4x4", "nearneighbors:size=3000", "consumption=inf", 3000),
        ("torus:4x4x4", "nearneighbors:size=3000", "", 6 * 3000),
        ("hyperx:16", "bisection:size=700,rounds=5", "", 5 * 700),
    ],
)
def test_known_makespans(spec: str, app: str, flow: str, bytes_: int) -> None:
    assert makespan(spec, app, flow) == pytest.approx(bytes_ / RATE, rel=1e-9)
    assert makespan(spec, app, flow, rate="100Gb/s") == pytest.approx(bytes_ / RATE / 10, rel=1e-9)


def test_a_message_on_a_busy_path_waits_by_its_own_age(tmp_path) -> None:
    """A short message joins a long one after 0.9 s: it is served at once, and lets the last message go."""
    file = tmp_path / "late.csv"
    long, half = 1_250_000_000, 562_500_000
    file.write_text(
        "source,target,bytes,after\n"
        f"0,1,{long},\n15,14,{half},\n14,0,{half},1\n0,1,1250,2\n12,13,{long * 24 // 25},\n1,2,{long // 20},3\n"
    )
    exact, some = (makespan("mesh:4x4", f"messages:{file}", f"coalesce={share}") for share in ("0", "0.1"))
    assert exact == pytest.approx(1.000001, rel=1e-6)
    assert some == pytest.approx(exact, rel=1e-6)


def test_a_sweep_takes_as_many_steps_as_its_diagonals() -> None:
    # Where a task waits for three messages it takes them in at a third of the rate each.
    assert makespan("torus:4x4x4", "sweep3d:size=1000", "consumption=inf") == pytest.approx(9 * 1000 / RATE)


def test_computing_takes_its_time() -> None:
    assert makespan("torus:4x4", "halo:grid=4x4,block=10x10,compute=7us,iterations=3") == pytest.approx(
        3 * (7e-6 + 4 * 80 / RATE)
    )


def test_mappings_matter() -> None:
    app = "nearneighbors:grid=8x8x2,size=1000"
    linear, random = (makespan("torus:8x8x2", app, "consumption=inf", mapping=m) for m in ("linear", "random"))
    assert random > 2 * linear


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--router", "vcs=8"], "vcs is an option of the cycle engine, but engine is flow"),
        (["--flit", "32B"], "flit is an option of the cycle engine"),
        (["--engine", "cycle", "--flow-engine", "paths=2"], "flow-engine is an option of the flow engine"),
        (["--flow-engine", "gbps=5"], "gbps has an option of its own here; give --rate"),
        (["--flow-engine", "modle=share"], "did you mean 'model'"),
        (["--rate", "fast"], "rate is 'fast'"),
        (["--routing", "nca"], "nca"),
    ],
)
def test_mistakes(topoloom: Callable[..., Any], arguments: list[str], told: str) -> None:
    outcome = topoloom("workload", "torus:4x4", "--app", "reduce", *arguments)
    assert outcome.status == 2
    assert told in outcome.err


def test_gpcnet_is_for_the_cycle_engine(topoloom: Callable[..., Any]) -> None:
    outcome = topoloom("workload", "torus:4x4", "--app", "gpcnet")
    assert outcome.status == 2
    assert "give engine cycle" in outcome.err


def test_congestion_impact_factors() -> None:
    found = topoloom.workload(
        "torus:8x4", "gpcnet:iterations=30,warmup=30us,block=2KiB,size=64", engine="cycle", mapping="random"
    )
    assert len(found.results) == 15
    factors = {(impact.canary, impact.congestor): impact for impact in found.impacts}
    assert len(factors) == 12
    # On a torus an incast blocks whoever shares a link with it.
    assert factors["latency", "incast"].p99 > 1.5
    assert factors["allreduce", "incast"].mean > 1.05
    assert all(impact.mean > 0.95 for impact in factors.values())
    result = found.results[1]
    alone = found.results[0]
    assert result.message_mean_s is not None
    assert alone.message_mean_s is not None
    assert found.impacts[0].mean == pytest.approx(result.message_mean_s / alone.message_mean_s)


def test_studies_ask_for_makespans(tmp_path) -> None:
    study = Study.parse(
        """
        name = "apps"
        [[sweep]]
        kind = "workload"
        networks = ["torus:4x4", "hyperx:4x4"]
        apps = ["reduce:size=1KiB", "alltoall:size=1KiB"]
        options = { engine = ["flow", "cycle"] }
        [[sweep]]
        kind = "workload"
        networks = "torus:4x4"
        apps = "allreduce"
        options = { flow-engine = ["", "model=share"], mapping = "random" }
        [[sweep]]
        kind = "workload"
        networks = "torus:4x4"
        apps = "allreduce:size=1KiB"
        options = { model = "extoll", engine = "cycle", packet = 4 }
        """
    )
    assert len(study.points()) == 11
    rows = Results.of(study.run(tmp_path / "store"), [p.key for p in study.points()]).rows
    assert all(row["makespan_s"] > 0 for row in rows)
    assert rows[0]["makespan_s"] == pytest.approx(15 * 1024 / RATE)
