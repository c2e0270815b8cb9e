"""The cycle engine against itself: threads, conservation of flits, runs that find their own length."""

import json

import pytest

from harness.engine import LINKS, measured, repeatable, simulate
from topoloom import _core

REPEATED = [
    ("mesh:8x8", "dor", "uniform", 0.4, {"warmup": 100, "measure": 300}),
    ("hyperx:3x3,p=8", "dor", "uniform", 0.7, {}),  # finds its own length
    ("torus:4x4,p=2", "val", "tornado", 0.3, {"warmup": 100, "measure": 300, "packet": 3, "buffer": 4, "speedup": 1}),
    ("hyperx:4x4,tile=2x2", "ugal-l", "transpose", 0.5, {"warmup": 100, "measure": 300}),
    (
        "dragonfly:a=4,h=2",
        "ugal-l",
        "next-group",
        0.2,
        {"links": LINKS | {"local": 10, "global": 100}, "buffer": 256, "warmup": 300, "measure": 500},
    ),
    ("fattree:k=3,levels=3", "anca", "uniform", 0.9, {"warmup": 100, "measure": 300, "allocator": "islip"}),
    (
        "slimfly:q=3,p=3",
        "min",
        "random-permutation",
        0.6,
        {"speedup": 1.5, "routing_delay": 1, "warmup": 100, "measure": 300},
    ),
    ("flex:3x3x3,p=4", "min", "uniform", 1.0, {"warmup": 100, "measure": 300, "vcs": 2, "buffer": 3}),
    (
        "mesh:4x4",
        "dor",
        "uniform",
        0.7,
        {"flow": "vct", "buffers": "shared:8", "buffer": 9, "packet": "1-8", "warmup": 100, "measure": 300},
    ),
    (
        "hyperx:3x3,p=3",
        "min",
        "uniform",
        0.8,
        {"allocator": "wavefront", "buffers": "shared:1", "buffer": 3, "packet": 3, "warmup": 100, "measure": 300},
    ),
    ("mesh:4x4", "dor", "uniform", 0.15, {"injection": "on-off:alpha=0.02,beta=0.1", "warmup": 300, "measure": 700}),
    ("torus:8", "dor", "uniform", 1.0, {"vcs": 1, "buffer": 2, "unsafe": True, "warmup": 100, "measure": 20_000}),
]


def result(spec, routing, traffic, load, **options):
    return repeatable(simulate(spec, routing, traffic, load, **options))


@pytest.mark.parametrize(
    ("spec", "routing", "traffic", "load", "options"), REPEATED, ids=[case[0] for case in REPEATED]
)
def test_the_same_seed_gives_the_same_result_on_any_number_of_threads(spec, routing, traffic, load, options):
    once = result(spec, routing, traffic, load, **options)
    assert once["packets"] > 100 or once["deadlocked"]
    for threads in (1, 2) if once["deadlocked"] else (1, 2, 3):
        assert result(spec, routing, traffic, load, **options, threads=threads) == once
    other = result(spec, routing, traffic, load, **options, seed=2)
    assert other != once


ADAPTIVE = ["dragonfly:a=4,h=2,p=2", "dragonfly-plus:leaf=2,spine=2,p=2,h=2,g=3", "hyperx:3x4,p=3", "slimfly:q=3,p=3",
            "galaxyfly:n=2,q=5,a=2,p=2", "flex:3x3x3,p=4", "torus:4x4,p=2", "fattree:k=3,levels=3"]  # fmt: skip


@pytest.mark.parametrize("spec", ADAPTIVE)
def test_what_routers_publish_to_each_other_does_not_depend_on_threads(spec):
    core = _core.Network(spec)
    adaptive = [name for name in core.routings() if _core.Routing(core, name).adapts]
    assert adaptive
    for routing in adaptive:
        once = result(spec, routing, "uniform", 0.7, warmup=150, measure=250)
        assert once["packets"] > 100, routing
        assert result(spec, routing, "uniform", 0.7, warmup=150, measure=250, threads=2) == once, routing


def test_more_threads_than_routers():
    once = result("mesh:2x2", "dor", "uniform", 0.5, warmup=100, measure=300)
    assert result("mesh:2x2", "dor", "uniform", 0.5, warmup=100, measure=300, threads=9) == once


# What goes in comes out

CARRIED = [
    ("mesh:8x8", "dor", "uniform", 0.4, {}),
    ("mesh:8x8", "dor", "bit-complement", 0.2, {}),
    ("mesh:6x6", "dor", "uniform", 0.3, {"packet": 5, "speedup": 1}),
    ("torus:8x8", "dor", "uniform", 0.7, {"packet": 4}),
    ("torus:8x8", "val", "tornado", 0.3, {"vcs": 8}),
    ("hyperx:4x4,p=4", "ugal-l", "bit-complement", 0.2, {}),
    ("fattree:k=4,levels=3", "nca", "uniform", 0.8, {"speedup": 1.5}),
    ("fattree:k=4,levels=3", "anca", "transpose", 0.8, {}),
    ("dragonfly:a=4,h=2,p=2", "min", "uniform", 0.6, {}),
    ("slimfly:q=5,p=3", "min", "uniform", 0.5, {"allocator": "islip"}),
    ("flex:4x4x3,p=4", "min", "neighbor", 0.5, {}),
    ("flex:4x4x3,p=4", "ugal-l", "next-group", 0.2, {}),
    ("mesh:8x8", "dor", "uniform", 0.25, {"injection": "on-off:alpha=0.1,beta=0.2"}),
]


@pytest.mark.parametrize(("spec", "routing", "traffic", "load", "options"), CARRIED)
def test_below_saturation_what_is_offered_is_accepted(spec, routing, traffic, load, options):
    point = simulate(spec, routing, traffic, load, warmup=1000, measure=20_000, **options)
    assert point["converged"]
    assert not point["saturated"]
    assert not point["deadlocked"]
    assert point["accepted"] == pytest.approx(load, rel=0.01 if "injection" not in options else 0.03)
    # All packets created in the window arrived, and they are as many as were offered.
    created = load / options.get("packet", 1) * point["active_terminals"] * 20_000
    assert point["packets"] == pytest.approx(created, rel=0.01 if "injection" not in options else 0.03)
    assert point["p50"] <= point["p99"]
    assert point["network_latency_cycles"] <= point["latency_cycles"]


def test_silent_terminals_do_not_count():
    """Of nine terminals only 7 and 8 have a partner; loads are by active terminal."""
    point = simulate("mesh:3x3", "dor", "bit-complement:bits=4", 0.5, warmup=100, measure=20_000)
    assert point["active_terminals"] == 2
    assert point["accepted"] == pytest.approx(0.5, rel=0.02)


def test_bursts_wait_longer():
    smooth = simulate("mesh:8x8", "dor", "uniform", 0.25, warmup=1000, measure=20_000)
    bursts = simulate(
        "mesh:8x8", "dor", "uniform", 0.25, injection="on-off:alpha=0.01,beta=0.03", warmup=1000, measure=20_000
    )
    assert bursts["latency_cycles"] > smooth["latency_cycles"] + 1


# Runs without a fixed length


def test_intervals_cover_the_mean_nearly_nineteen_times_in_twenty():
    truth = simulate("mesh:4x4", "dor", "uniform", 0.4, warmup=2000, measure=400_000, seed=99)
    assert truth["latency_ci95"] < 0.02
    covered = 0
    for seed in range(60):
        point = simulate("mesh:4x4", "dor", "uniform", 0.4, seed=seed)
        assert point["converged"]
        # It was within 1 % when the run ended; packets that were under way then count as well.
        assert point["latency_ci95"] <= 0.02 * point["latency_cycles"]
        covered += abs(point["latency_cycles"] - truth["latency_cycles"]) <= point["latency_ci95"]
    # Stopping when the interval happens to be narrow costs some coverage.
    assert covered >= 51


@pytest.mark.parametrize("load", [0.0, 1e-7, 1e-5, 1e-4, 1e-3, 0.01])
def test_hardly_any_traffic(load):
    """Few packets or none are no mistake, no panic, and no saturation."""
    point = simulate("mesh:4x4", "dor", "uniform", load)
    assert not point["saturated"]
    assert not point["deadlocked"]
    assert point["accepted"] == pytest.approx(load, abs=max(1e-5, 0.1 * load))
    if load >= 1e-3:
        assert point["converged"]
        assert point["latency_cycles"] == pytest.approx(2 + 3 * 3.5, rel=0.05)


@pytest.mark.parametrize(
    ("spec", "routing", "traffic", "carried", "too_much"),
    [
        ("mesh:8x8", "dor", "uniform", 0.45, 0.54),
        ("mesh:8x8", "dor", "bit-complement", 0.22, 0.28),
        # One link for the four by four terminals of a router, one for the eight of a group.
        ("hyperx:4x4,tile=2x2", "dor", "bit-complement", 0.23, 0.27),
        ("dragonfly:a=4,h=2,p=2", "min", "next-group", 0.105, 0.135),
    ],
)
def test_the_verdict_of_saturation(spec, routing, traffic, carried, too_much):
    for seed in (1, 2, 3):
        point = simulate(spec, routing, traffic, carried, seed=seed)
        assert (point["saturated"], point["converged"]) == (False, True)
        point = simulate(spec, routing, traffic, too_much, seed=seed)
        assert (point["saturated"], point["converged"], point["deadlocked"]) == (True, False, False)
        assert point["accepted"] < 0.98 * too_much


def test_a_cancelled_run_says_so_and_counts_only_what_it_ran():
    token = _core.CancelToken()
    token.cancel()
    options = json.dumps({"warmup": 0, "measure": 1_000_000})
    point = measured("mesh:8x8", "dor", "uniform", 0.2, options, token)
    assert point["interrupted"]
    assert not point["converged"]
    assert point["cycles"] < 100_000
    # Rates are over the cycles that were simulated.
    assert point["measured_cycles"] <= point["cycles"]
    assert 0.1 < point["accepted"] < 0.24  # the network fills up within them
