"""Throughput that failures leave, against paths that are enumerated and against closed values."""

import itertools

import pytest

import topoloom
from oracles import graphs, routes
from topoloom import TopoloomError, _core, network
from topoloom.network import survival
from topoloom.network.faults import make_fault_options, try_faults
from topoloom.network.survival import Survival, quantiles

SHARES = 400
"""Shares of minimal paths that are tried: the best of them is off by less than a part of that."""


def whole_graph(spec: str) -> _core.Network:
    return _core.Network(spec)


def draw(spec: str, fail: str) -> tuple[graphs.Graph, set[int]]:
    """Return the oracle's graph of what is left, and the routers that are down; links are read from the engine."""
    core = _core.Network(spec).with_failures(fail)
    left = [(a, b) for a, _, b, _, _ in core.edges()]
    whole = graphs.build(spec)
    down = {r for r in range(len(whole.p)) if r not in set(itertools.chain(*left))}
    return graphs.damaged(whole, left, down), down


def carried(graph: graphs.Graph, diameter: int) -> float:
    """Return where uniform traffic saturates if every flow has the same share of shortest and of Valiant's paths."""
    minimal, ends, terminals = routes.table(graph), routes.sources(graph), sum(graph.p)
    flows = [(a, b, graph.p[a] * graph.p[b] / terminals) for a in ends for b in ends]
    direct, detour = (routes.loads(graph, own, flows) for own in (minimal, routes.valiant(graph, minimal, diameter)))
    hops = set(direct) | set(detour)
    most = [
        max(x / SHARES * direct.get(hop, 0.0) + (1 - x / SHARES) * detour.get(hop, 0.0) for hop in hops)
        for x in range(SHARES + 1)
    ]
    return min(1.0, 1 / min(most))


@pytest.mark.parametrize("spec", ["torus:4x4,p=2", "hyperx:3x3,p=3", "slimfly:q=3,p=3"])
@pytest.mark.parametrize("kind", ["links", "routers"])
def test_what_is_carried_is_what_the_paths_of_each_draw_carry(spec, kind):
    trials, seed, fraction = 3, 7, 0.12
    (row,) = topoloom.network(spec).faults(
        kind=kind, fractions=[fraction], trials=trials, seed=seed, throughput="uniform"
    )["throughput"]
    found = []
    for trial in range(trials):
        fail = f"{kind}={100 * fraction:g}%,seed={seed + trial}"
        graph, _ = draw(spec, fail)
        found.append(carried(graph, topoloom.network(spec).with_failures(fail).facts()["diameter"]))
    assert row["apart"] == 0
    things = len(whole_graph(spec).edges()) if kind == "links" else whole_graph(spec).num_routers
    assert row["failed"] == round(fraction * things)
    assert row["throughput"] == pytest.approx(quantiles(found), rel=2 / SHARES)
    whole = topoloom.network(spec).split_bound("uniform")["split_bound"]
    assert row["kept"]["median"] == pytest.approx(row["throughput"]["median"] / min(1.0, whole))


def test_bandwidth_falls_where_all_stays_connected():
    """At 5 % nothing falls apart, and yet throughput is lost."""
    told = topoloom.network("torus:8x8").faults(fractions="0,0.05", trials=5, throughput="uniform,worst-case")
    assert [point["connected"] for point in told["points"]] == [1.0, 1.0]
    kept = {(row["fraction"], row["traffic"]): row["kept"] for row in told["throughput"]}
    for traffic in ("uniform", "worst-case"):
        assert set(kept[0.0, traffic].values()) == {1.0}
        assert kept[0.05, traffic]["least"] <= kept[0.05, traffic]["median"] <= kept[0.05, traffic]["most"] < 0.9


def test_a_link_of_two_that_fails_takes_half():
    """Two routers joined by two links: one that fails leaves half of what the links carry."""
    told = topoloom.network("hyperx:2,trunk=2,p=4").faults(fractions=[0, 0.5], trials=2, throughput="uniform")
    whole, half = (row["throughput"]["median"] for row in told["throughput"])
    assert (whole, half) == (pytest.approx(1.0), pytest.approx(0.5))


def test_a_network_in_parts_carries_nothing():
    told = topoloom.network("torus:4").faults(fractions=[0.5, 1], trials=3, throughput="uniform")
    assert [row["apart"] for row in told["throughput"]] == [3, 3]
    assert {row["throughput"]["most"] for row in told["throughput"]} == {0.0}
    every = Survival(_core.Network("mesh:3"), "routers", 2, 1, ("uniform",)).at(1.0)
    assert every[0]["apart"] == 2


def test_a_part_that_rounds_to_no_failure_leaves_the_network_as_it_is():
    """Also where the routing of what is left is another one: this dragonfly carries more by tables."""
    (row,) = topoloom.network("dragonfly:a=2,h=1,p=10").faults(fractions=[0.01], trials=2, throughput="uniform")[
        "throughput"
    ]
    assert row["failed"] == 0
    assert set(row["kept"].values()) == {1.0}


def test_more_failures_of_a_draw_include_fewer():
    """The networks of one seed are nested, so that the links that are left are, too."""
    whole = _core.Network("torus:6x6")
    few, many = (
        {(a, b) for a, _, b, _, _ in whole.with_failures(f"links={amount}%,seed=4").edges()} for amount in (5, 20)
    )
    assert many < few


def test_the_command_prints_throughput(topoloom):
    outcome = topoloom("faults", "torus:4x4", "--throughput", "uniform", "--trials", "2", "--fractions", "0,0.1")
    assert "throughput under uniform, by channel load" in outcome.out
    assert "100 %" in outcome.out
    told = topoloom("faults", "torus:4x4", "--throughput", "uniform", "--json", "--fractions", "0.1").json()
    assert told[0]["trials"] == 20
    assert [row["traffic"] for row in told[0]["throughput"]] == ["uniform"]
    assert topoloom("faults", "torus:4x4", "--json", "--fractions", "0.1").json()[0]["throughput"] == []
    assert "unknown traffic 'unifrm'" in topoloom("faults", "torus:4x4", "--throughput", "unifrm").err


def test_bound_takes_failures(topoloom):
    told = topoloom("bound", "torus:8x8", "--fail", "links=5%,seed=2", "--json").json()
    left = network("torus:8x8").with_failures("links=5%,seed=2")
    assert told["saturation_bound"] == left.bound()["saturation_bound"] < 1
    assert told["spec"] == "torus:8x8 --fail links=5%,seed=2"
    assert "is disconnected" in topoloom("bound", "torus:4", "--fail", "links=2").err


def test_quantiles_are_linear_between_neighbours():
    told = quantiles([4.0, 1.0, 2.0])
    assert (told["least"], told["p10"], told["median"], told["p90"], told["most"]) == (1.0, 1.2, 2.0, 3.6, 4.0)


def test_traffic_that_does_not_exist_is_refused():
    with pytest.raises(TopoloomError, match="unknown traffic"):
        topoloom.network("mesh:2").faults(throughput=["nothing"])


def test_what_is_known_of_the_intact_network_is_not_computed_again(monkeypatch):
    options = make_fault_options({"kind": "links", "fractions": [0.25], "trials": 2, "throughput": "uniform"})
    core = _core.Network("torus:4x4")
    (row,) = try_faults(core, options)["throughput"]
    computed = []
    monkeypatch.setattr(
        survival, "carried", lambda network, names: computed.append(network) or dict.fromkeys(names, 0.5)
    )
    (other,) = try_faults(core, options, {"uniform": 1.0})["throughput"]
    assert other["kept"]["median"] == 0.5
    assert core not in computed
    assert len(computed) == 2
    assert row["kept"]["median"] == pytest.approx(
        row["throughput"]["median"]
    )  # a torus of this size carries everything
