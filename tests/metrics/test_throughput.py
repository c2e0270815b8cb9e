"""What the best possible routing carries: closed values, and what no routing may exceed."""

import pytest

import topoloom
from topoloom import _core


def optimal(spec: str, traffic: str = "uniform") -> dict:
    return topoloom.network(spec).bound("val", traffic, optimal=True)


@pytest.mark.parametrize(
    ("spec", "load"),
    [
        # Uniform traffic of p flits per router, N routers: the sum of distances over the channels.
        ("torus:8", 8 / 8),
        ("torus:6,p=2", 2 * 6 / 8),
        ("torus:7", (7 - 1 / 7) / 8),
        ("torus:4x4,p=3", 3 * 4 / 8),
        ("hyperx:6", 1 / 6),
        ("hyperx:5,p=7", 7 / 5),
        # Hypercubes: half of all dimensions to go, over as many channels per router.
        ("torus:2x2x2,p=4", 4 / 2),
        ("hyperx:2x2x2x2,p=3", 3 / 2),
        ("mesh:2", 1 / 2),
    ],
)
def test_closed_values(spec, load):
    told = optimal(spec)
    assert told["optimal_channel_load"] == pytest.approx(load)
    assert told["optimal_bound"] == pytest.approx(min(1, 1 / load))


@pytest.mark.parametrize(
    ("spec", "traffic"),
    [
        ("mesh:4x4,p=2", "uniform"),
        ("mesh:4x4", "transpose"),
        ("torus:5x3", "tornado"),
        ("dragonfly:a=3,h=1,p=3", "next-group"),
        ("slimfly:q=3,p=3", "uniform"),
    ],
)
def test_no_routing_carries_more(spec, traffic):
    network = topoloom.network(spec)
    best = optimal(spec, traffic)
    for routing in ("min", "val"):
        told = network.bound(routing, traffic)
        assert best["optimal_channel_load"] <= told["max_channel_load"] + 1e-9
        assert best["optimal_bound"] >= told["saturation_bound"] - 1e-9
    assert best["optimal_bound"] <= network.bound("ugal-l", traffic)["saturation_bound"] + 1e-9


def test_detours_are_taken_where_they_help():
    """All routers of a ring of four send to the next: x straight on and 1 - x by three hops back, x = 3 (1 - x)."""
    assert optimal("torus:4", "tornado")["optimal_channel_load"] == pytest.approx(3 / 4)
    # Two pairs of neighbours that exchange two flits: whatever goes round the one loads the other's link.
    assert optimal("torus:4,p=2", "bit-complement:bits=3")["optimal_channel_load"] == pytest.approx(2.0)


def test_no_traffic_between_routers_is_no_load():
    told = optimal("mesh:1,p=4")
    assert told["optimal_bound"] == 1
    assert told["optimal_channel_load"] == 0


def test_networks_that_are_too_large_or_apart_are_refused():
    with pytest.raises(_core.TopoloomError, match=r"the linear program would have [\d,]+ flows"):
        optimal("flex:6x6x3,p=10")
    with pytest.raises(_core.TopoloomError, match="disconnected"):
        optimal("flex:2x2x4")
