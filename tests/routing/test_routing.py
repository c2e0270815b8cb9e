"""Routings as the engine runs them: mean hops, loads of links, and who offers what. Paths are those of the oracle."""

import pytest

import topoloom
from harness.engine import proof_of, run
from harness.lengths import with_long
from oracles import graphs, routes
from oracles.cases import DETOURS, HOPS
from topoloom import _core


@pytest.mark.parametrize(("spec", "routing", "paths"), HOPS, ids=[f"{spec} {name}" for spec, name, _ in HOPS])
def test_mean_hops_are_those_of_the_paths(spec, routing, paths):
    graph = graphs.build(spec)
    point = run(spec, routing, 0.2)
    assert point["hops"] == pytest.approx(routes.mean_hops(graph, paths(graph)), rel=0.005)
    assert point["accepted"] == pytest.approx(0.2, rel=0.01)
    assert point["converged"]


@pytest.mark.parametrize(("spec", "paths", "classes"), DETOURS, ids=[spec for spec, *_ in DETOURS])
def test_mean_hops_of_valiant(spec, paths, classes):
    graph = graphs.build(spec)
    exact = routes.mean_hops(graph, routes.valiant(graph, paths(graph), classes))
    point = run(spec, "val", 0.1, vcs=max(4, 2 * classes))
    assert point["hops"] == pytest.approx(exact, rel=0.005)
    # Any router for an intermediate one: as often as not a detour less.
    direct = routes.mean_hops(graph, paths(graph))
    n = graph.routers
    some = (exact - 1) * (n - 2) / n + (direct - 1) * 2 / n + 1
    assert run(spec, "val:via=any", 0.1, vcs=max(4, 2 * classes))["hops"] == pytest.approx(some, rel=0.005)


# What adaptive routings accept. A decision made once, on arrival, leaves a dragonfly far below Valiant's throughput.


@pytest.mark.parametrize(
    ("routing", "least"),
    with_long(
        [("ugal-l", 0.42), ("ugal-l:vc=hybrid", 0.42), ("ugal-g", 0.46), ("par", 0.46), ("ugal-l:rule=booksim", None)],
        lambda case: case[0] in ("ugal-l:vc=hybrid", "ugal-g"),
    ),
)
def test_deciding_again_is_what_lets_ugal_leave_a_busy_path(routing, least):
    """Dragonfly, next group, load 0.5: Valiant carries 0.49; deciding once loses most of it."""
    point = run("dragonfly:a=8,h=4,p=4", routing, 0.5, traffic="next-group", warmup=2000, measure=1000, vcs=8)
    assert point["accepted"] >= least if least else point["accepted"] < 0.25


def test_no_detour_costs_latency_where_none_is_needed():
    """Dragonfly: at 0.3 next-group within 1.6 of Valiant's latency, at 0.8 uniform within 1.15 of minimal's."""
    spec = "dragonfly:a=8,h=4,p=4"
    latency = {
        (name, traffic): run(spec, name, load, traffic=traffic, warmup=1500, measure=1000)["latency_cycles"]
        for traffic, load, names in (("next-group", 0.3, ("par", "val")), ("uniform", 0.8, ("par", "min")))
        for name in names
    }
    assert latency["par", "next-group"] <= 1.6 * latency["val", "next-group"]
    assert latency["par", "uniform"] <= 1.15 * latency["min", "uniform"]


FULL_LOAD = [("uniform", 0.95), ("bit-complement", 0.55), ("worst-case", 0.45)]


@pytest.mark.parametrize(
    ("routing", "traffic", "least"),
    with_long(
        [(routing, *case) for routing in ("dimwar", "omniwar", "dal") for case in FULL_LOAD],
        lambda case: case[0] == "omniwar" or case[:2] == ("dal", "worst-case"),
    )
    # `polarized` makes detours out of the dimensions that differ: under the worst case it carries less than Valiant's.
    + [("polarized", *case) for case in FULL_LOAD[:2]],
)
def test_routings_of_a_hyperx_carry_more_than_valiant_does(routing, traffic, least):
    """At full load on 6x6 routers: Valiant carries half or less; minimal less than a fifth of what is not uniform.

    Under the worst case queues take 2,400 cycles until what is accepted is steady: 0.42 after 600, 0.50 after 4,000.
    """
    warmup = 3000 if traffic == "worst-case" else 1200
    point = run("hyperx:6x6,p=6", routing, 1.0, traffic=traffic, warmup=warmup, measure=600)
    assert point["accepted"] >= least


CLUSTER = "cluster:hosts=18,host=abci-a,fabric=(hyperx:3x3,p=8,rate=200G),attach=spread"


@pytest.mark.parametrize(
    ("spec", "fabric", "options", "least"),
    [
        ("hyperx:3x3,p=8", "{}", {"vcs": 2, "warmup": 1500, "measure": 1000}, 0.135),
        ("hyperx:6x6,p=6", "{}", {"vcs": 4, "warmup": 1500, "measure": 1000}, 0.49),
        # A link takes 12 cycles for a flit, so that buffers are full late.
        pytest.param(
            *(CLUSTER, "hosts:fabric={}", {"warmup": 30_000, "measure": 15_000}, 0.175), marks=pytest.mark.long
        ),
    ],
    ids=["two-vcs", "four-vcs", "cluster"],
)
def test_detours_past_saturation_lead_where_escape_channels_continue(spec, fabric, options, least):
    """Detours in any dimension fill adaptive channels with packets whose escape channel is another busy link's."""
    point = run(spec, fabric.format("dal"), 1.0, traffic="worst-case", **options)
    assert point["accepted"] >= least


@pytest.mark.parametrize("routing", ["omniwar", "dal", "polarized"])
def test_hops_decided_one_by_one_are_minimal_where_nothing_waits(routing):
    graph = graphs.build("hyperx:4x3,p=2")
    minimal = routes.mean_hops(graph, routes.hyperx(graph, 1))
    point = run("hyperx:4x3,p=2", f"{routing}:{'penalty' if routing == 'polarized' else 'bias'}=1000", 0.1)
    assert point["hops"] == pytest.approx(minimal, rel=0.005)


def test_detours_need_classes():
    """Without a detour's classes, omniwar adapts the order of dimensions alone: two links of each router carry all."""
    accepted = [
        run("hyperx:5x5,p=4", f"omniwar:deroutes={most}", 1.0, traffic="worst-case", warmup=3000, measure=2000)[
            "accepted"
        ]
        for most in (0, 1, 2)
    ]
    # Once they have settled.
    assert accepted[:2] == [pytest.approx(1 / 4, abs=0.005), pytest.approx(1 / 3, abs=0.01)]
    assert accepted[1] + 0.2 < accepted[2]


@pytest.mark.parametrize(
    ("spec", "paths"),
    [("mesh:5x4", routes.dor_mesh), ("dragonfly:a=4,h=2", routes.dragonfly)],
    ids=["mesh", "dragonfly"],
)
def test_an_idle_ugal_goes_minimally(spec, paths):
    graph = graphs.build(spec)
    point = run(spec, "ugal-l:bias=1000", 0.1, vcs=4)
    assert point["hops"] == pytest.approx(routes.mean_hops(graph, paths(graph)), rel=0.005)


LOADED = [case for case in HOPS if case[1] != "anca"]


@pytest.mark.parametrize(("spec", "routing", "paths"), LOADED, ids=[f"{spec} {name}" for spec, name, _ in LOADED])
def test_the_busiest_link_and_the_mean_one(spec, routing, paths):
    """Uniform traffic at 0.3 loads each link as the paths say; the busiest is found among them."""
    graph = graphs.build(spec)
    terminals = sum(graph.p)
    ends = routes.sources(graph)
    flows = [(src, dst, 0.3 * graph.p[src] * graph.p[dst] / terminals) for src in ends for dst in ends]
    load = routes.loads(graph, paths(graph), flows)
    channels = sum(map(len, graph.links))
    point = run(spec, routing, 0.3, measure=10_000)
    assert not point["saturated"]
    assert point["link_utilisation_mean"] == pytest.approx(sum(load.values()) / channels, rel=0.01)
    # The largest of many noisy counts stands above the largest expectation, by some standard deviations.
    busiest, noise = max(load.values()), (max(load.values()) / 10_000) ** 0.5
    assert busiest - 2 * noise <= point["link_utilisation_max"] <= busiest + 5 * noise


def test_each_network_offers_its_own_routings():
    offers = {
        "mesh:4x4": {"dor", "min", "val", "ugal-l"},
        "torus:4x4": {"dor", "min", "val", "ugal-l"},
        "hypercube:4": {"dor", "min", "val", "ugal-l"},
        "folded-hypercube:4": {"min", "val", "ugal-l"},
        "clos:radix=4,levels=3": {"min", "val", "ugal-l", "nca", "anca"},
        "xgft:down=2x3x2,up=2x2": {"min", "val", "ugal-l", "nca", "anca"},
        "hyperx:4x4": {"dor", "min", "val", "ugal-l", "par", "dimwar", "omniwar", "dal"},
        "fattree:k=2,levels=3": {"min", "val", "ugal-l", "nca", "anca"},
        "dragonfly:a=4,h=2": {"min", "val", "ugal-l", "par"},
        "dragonfly-plus:leaf=2,spine=2,h=1": {"min", "val", "ugal-l", "par"},
        "ring:8,degree=3": {"min", "val", "ugal-l"},
        "random-regular:8,degree=3": {"min", "val", "ugal-l"},
        "myriclos:32": {"min", "val", "ugal-l"},
        "slimfly:q=5": {"min", "val", "ugal-l", "par"},
        "flex:3x3x3": {"min", "min-spread", "val", "ugal-l"},
        "flex:3x3x4": {"min", "min-spread", "val", "ugal-l"},
    }
    anywhere = {"amin", "min-updown", "ugal-g", "polarized", "lbr", "updown", "duato", "lash", "dfsssp"}
    # A table is the user's own.
    names = {routing.name for routing in _core.routings()} - {"table"}
    for spec, offered in offers.items():
        network = _core.Network(spec)
        for name in names:
            if name in offered | anywhere:
                assert proof_of(network, name)["deadlock_free"]
            else:
                with pytest.raises(_core.TopoloomError, match=f"does not offer the routing '{name}'"):
                    proof_of(network, name)


def test_a_disconnected_network_has_no_minimal_routing():
    with pytest.raises(_core.TopoloomError, match="disconnected"):
        proof_of("flex:2x2x4", "min")


@pytest.mark.parametrize("routing", ["lbr", "lbr:t=20", "ugal-g", "ugal-l", "amin", "polarized"])
def test_points_of_a_curve_do_not_touch_each_other(routing):
    """They share a routing, and run at the same time: each is what it is alone."""
    network = topoloom.network("flex:3x3x3,p=3")
    loads = [0.2, 0.35, 0.5, 0.65, 0.8, 0.95]
    options = {"warmup": 150, "measure": 300, "threads": 1}
    together = network.simulate(routing, "bit-complement", loads, **options).points
    for load in loads[::2]:
        alone = network.simulate(routing, "bit-complement", load, **options).points[load]
        assert (together[load].accepted, together[load].latency_cycles) == (alone.accepted, alone.latency_cycles)


def test_three_routers_have_one_detour():
    """Four terminals of each router send to the next one: minimal paths carry a quarter, and detours the same again."""
    curve = topoloom.network("hyperx:3,p=4").simulate(
        routing="ugal-l", traffic="neighbor:by=routers", load=[1.0], warmup=500, measure=2000
    )
    [point] = curve.sorted_points()
    assert 0.35 < point.accepted <= 0.5, point.accepted
