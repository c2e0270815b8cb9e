"""Packets of mixed sizes, shared buffers, rates and bursts."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.engine import LINKS, simulate, stages
from oracles import sources
from topoloom import _core


@settings(max_examples=30, deadline=None, derandomize=True)
@given(
    packet=st.sampled_from(["1-8", "3-5", "4:0.8,16:0.2", "1:1,2:2,9:0.5"]),
    flow=st.sampled_from(["wormhole", "vct"]),
    buffers=st.sampled_from(["private", "shared:16", "shared:30"]),
    allocator=st.sampled_from(["separable-input-first", "islip", "wavefront"]),
    speedup=st.sampled_from([1, 2]),
)
def test_latency_at_zero_load_with_packets_of_mixed_sizes(packet, flow, buffers, allocator, speedup):
    """The tail comes as many cycles after the head as the packet has flits behind it: mean, least and most."""
    sizes = sources.sizes(packet)
    head = 2 * 2 + 3 * stages(speedup, 0) + 2 * 2
    options = {"flow": flow, "buffers": buffers, "buffer": 40, "allocator": allocator, "speedup": speedup}
    point = simulate(
        "mesh:2x3", "dor", "bit-complement:bits=3", 0.001, packet=packet, warmup=0, measure=1_000_000, **options
    )
    few = point["packets"] ** -0.5 * max(size for size, _ in sizes)
    assert point["network_latency_cycles"] == pytest.approx(head + sources.mean(sizes) - 1, abs=4 * few)
    assert point["p99"] >= head + max(size for size, _ in sizes) - 1
    assert point["accepted"] == pytest.approx(0.001, rel=0.2)
    assert point["hops"] == 3


@pytest.mark.parametrize(
    ("options", "carried"),
    [
        ({"packet": "1-32"}, 0.6),
        ({"packet": "4:0.8,16:0.2", "allocator": "wavefront"}, 0.6),
        ({"packet": "1-32", "flow": "vct"}, 0.6),
        ({"packet": "1-16", "flow": "vct", "buffers": "shared:16"}, 0.6),
        ({"packet": 4, "buffer": 16, "buffers": "shared:1"}, 0.6),
    ],
)
def test_below_saturation_all_that_is_offered_arrives_whatever_the_router(options, carried):
    point = simulate("torus:4x4", "dor", "uniform", carried, warmup=1000, measure=20_000, **options)
    assert point["converged"]
    assert not point["saturated"]
    assert point["accepted"] == pytest.approx(carried, rel=0.02)


def test_shared_places_go_to_who_uses_them():
    """A long link carries the places that its VCs can take once a credit loop."""
    for reserve in (1, 2, 5):
        options = {
            "vcs": 4,
            "buffer": 5,
            "buffers": f"shared:{reserve}",
            "speedup": 2,
            "links": LINKS | {"local": 50},
            "warmup": 3000,
            "measure": 10_400,
        }
        loop = 2 * 50 + 2 + 2
        point = simulate("mesh:2", "dor", "bit-complement", 1.0, **options)
        assert point["accepted"] == pytest.approx(20 / loop, rel=0.01)
        alone = simulate("mesh:2", "dor", "bit-complement", 1.0, **options | {"vcs": 1})
        assert alone["accepted"] == pytest.approx(5 / loop, rel=0.01)
    # On a dragonfly min uses one VC of two on a channel: alone it has its own places and what is shared.
    for reserve, places in ((1, 9), (3, 7), (5, 5)):
        options = {"vcs": 2, "buffer": 5, "buffers": f"shared:{reserve}", "links": LINKS | {"global": 50}}
        point = simulate("dragonfly:a=1,h=1", "min", "bit-complement", 1.0, warmup=3000, measure=10_400, **options)
        assert point["accepted"] == pytest.approx(places / loop, rel=0.01)


@pytest.mark.parametrize("injection", ["bernoulli", "on-off:alpha=0.2,beta=0.2"])
def test_rates_are_relative_and_the_load_is_their_mean(tmp_path, injection):
    """Terminal i of six sends i times as much as the first; what each accepts is what is sent to it: all the same."""
    file = tmp_path / "rates.csv"
    file.write_text("terminal,rate\n0,0\n1,1\n2,2\n3,3\n5,5\n")
    options = {"warmup": 500, "measure": 40_000, "injection": injection, "rates": str(file)}
    point = simulate("mesh:2x3", "dor", "neighbor", 0.2, **options)
    assert point["active_terminals"] == 5  # terminal 4 is left out and has rate 1
    assert point["accepted"] == pytest.approx(0.2, rel=0.03)
    assert not point["saturated"]
    # The mean of 1, 2, 3, 1 and 5 is 2.4: at load 0.6 the last one would have to send 1.25 flits per cycle.
    if injection == "bernoulli":
        assert simulate("mesh:2x3", "dor", "neighbor", 0.6, **options)["saturated"]
    else:
        with pytest.raises(_core.TopoloomError, match=r"on-off.* cannot reach load 0\.6.*2\.500 packets per cycle"):
            simulate("mesh:2x3", "dor", "neighbor", 0.6, **options)
    only = tmp_path / "only.csv"
    only.write_text("".join(f"{terminal},0\n" for terminal in range(5)))
    alone = simulate("mesh:2x3", "dor", "neighbor", 0.4, warmup=500, measure=40_000, rates=str(only))
    assert (alone["active_terminals"], alone["hops"]) == (1, 4)  # from (1, 2) to (0, 0): 3 links, 4 routers
    assert alone["accepted"] == pytest.approx(0.4, rel=0.02)


def test_bursts_offer_what_they_should():
    """A terminal is on in alpha / (alpha + beta) of the cycles; on or off, the mean is the load."""
    for alpha, beta in ((0.5, 0.5), (0.05, 0.1), (0.01, 0.01)):
        bursts = f"on-off:alpha={alpha},beta={beta}"
        point = simulate("mesh:4x4", "dor", "uniform", 0.2, injection=bursts, packet="1-3", warmup=500, measure=60_000)
        assert point["accepted"] == pytest.approx(0.2, rel=0.02)
        assert not point["saturated"]
