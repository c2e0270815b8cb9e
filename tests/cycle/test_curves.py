"""What a curve of points says of itself."""

from dataclasses import replace
from types import SimpleNamespace

from topoloom import Network
from topoloom.simulation.curves import Curve
from topoloom.simulation.options import EngineOptions
from topoloom.simulation.points import Point
from topoloom.simulation.runs import run_here, run_plans
from topoloom.simulation.simulator import Simulator


def point(load: float, accepted: float, *, deadlocked: bool = False) -> Point:
    return Point(
        offered=load, accepted=accepted, latency_cycles=20, latency_ci95=0.1, network_latency_cycles=20, p50=1, p99=1,
        hops=2, converged=True, saturated=False, deadlocked=deadlocked, cycles=1, flit_hops=1, wall_s=0, cpu_s=0,
        active_terminals=1,
    )  # fmt: skip


POINTS = [point(0.2, 0.2), point(0.6, 0.55), point(0.9, 0.5), point(1.0, 0.8, deadlocked=True)]
CURVE = Curve("mesh:2x2", "dor", "minimal", "uniform", {"seed": 1}, {own.offered: own for own in POINTS}, True)


def test_the_largest_accepted_load_is_that_of_a_point_that_runs_on():
    assert CURVE.accepted_max == 0.55
    assert CURVE.accepted_at_1 is None
    assert replace(CURVE, points={}).accepted_max is None


def test_notebooks_show_the_points_or_that_there_is_none():
    shown = CURVE._repr_html_()
    assert "mesh:2x2, routing dor, traffic uniform, seed 1" in shown
    assert shown.count("<tr") == 2 + len(POINTS), "a row each, below the heading and the index"
    assert replace(CURVE, points={})._repr_html_().endswith("no point yet")


def test_a_note_and_a_bound_are_written_where_there_are_some():
    assert "note" not in CURVE.to_dict()
    assert replace(CURVE, note="of two").to_dict()["note"] == "of two"
    assert [CURVE.saturation_dict()[key] for key in ("saturation_bound", "saturation_bound_is")] == [None, None]
    bound = SimpleNamespace(saturation_bound=0.7, saturation_bound_is="expected-load")
    told = replace(CURVE, bound=bound).saturation_dict()
    assert (told["saturation_bound"], told["saturation_bound_is"]) == (0.7, "expected-load")


def test_points_are_in_the_order_of_their_loads_whichever_ended_first():
    mesh = Network("mesh:4x4")
    searched = mesh.saturation(warmup=50, measure=200)
    here = Simulator(mesh.core, "dor", "uniform", EngineOptions(warmup=50, measure=50))
    run_here(here, iter([[0.4, 0.2], [0.3, 0.1]]))
    there = Simulator(mesh.core, "dor", "uniform", EngineOptions(warmup=50, measure=50))
    run_plans([(there, iter([[0.4, 0.2], [0.3, 0.1]]))])
    for curve in (searched, here.curve, there.curve):
        assert len(curve.points) >= 4
        assert list(curve.points) == sorted(curve.points)
