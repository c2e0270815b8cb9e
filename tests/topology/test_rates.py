"""Links with rates and delays: loads, fair shares, delays and files against definitions of their own."""

import json
from fractions import Fraction

import pytest

from harness.engine import bound_of, channel_loads
from oracles import fairness, graphs, routes
from topoloom import Network, flows

DRAGONFLY = "dragonfly:a=4,h=2,p=2"
TAPERED = f"{DRAGONFLY},rate=400G,rate.global=106.25G,rate.terminal=200G"
GBPS = {"local": Fraction(400), "global": Fraction(425, 4), "terminal": Fraction(200)}


def classes(network: Network) -> dict[tuple[int, int], str]:
    """The class of every channel between routers, by its router and local port."""
    ends = {}
    for a, port_a, b, port_b, link_class in network.core.edges():
        ends[a, port_a] = ends[b, port_b] = link_class
    return ends


def test_loads_are_parts_of_what_links_carry():
    graph, kind = graphs.build(DRAGONFLY), classes(Network(TAPERED))
    terminals = sum(graph.p)
    uniform = [(a, b, graph.p[a] * graph.p[b] / terminals) for a in range(len(graph.p)) for b in range(len(graph.p))]
    flits = routes.loads(graph, routes.dragonfly(graph), uniform)
    exact = {channel: load * float(GBPS["terminal"] / GBPS[kind[channel]]) for channel, load in flits.items()}
    found = {(router, port): load for router, port, load in channel_loads(TAPERED, "min", "uniform")}
    assert found == pytest.approx({channel: exact.get(channel, 0.0) for channel in found}, abs=1e-9)
    assert bound_of(TAPERED, "min", "uniform")["saturation_bound"] == pytest.approx(1 / max(exact.values()))


def test_an_adaptive_bound_counts_what_links_carry():
    plain, tapered = (bound_of(spec, "par", "next-group")["saturation_bound"] for spec in (DRAGONFLY, TAPERED))
    assert plain == 1.0, "every router has more links than terminals"
    # All links of a router, and of all routers, against flits times shortest distances: the latter is less here.
    graph = graphs.build(DRAGONFLY)
    sent = [(a, 4 * ((a // 4 + 1) % 9) + to) for a in range(36) for to in range(4)]
    hops = sum(2 / 4 * len(routes.dragonfly(graph)(a, b)[0][1]) for a, b in sent)
    capacity = sum(float(GBPS[kind] / GBPS["terminal"]) for kind in classes(Network(TAPERED)).values())
    assert tapered == pytest.approx(min(1.0, capacity / hops), rel=1e-6)


def test_flows_share_what_links_carry():
    network, graph = Network(TAPERED), graphs.build(DRAGONFLY)
    kind, paths, names = classes(network), routes.dragonfly(graph), {}
    pairs = [(0, 9), (1, 9), (2, 30), (3, 71), (9, 0), (17, 30), (18, 31), (40, 71), (41, 70), (5, 7)]
    channels = []
    for a, b in pairs:
        hops = [(router, port) for router, port, _ in paths(graph.homes[a], graph.homes[b])[0][1]]
        channels.append([names.setdefault(name, len(names)) for name in [("in", a), *hops, ("out", b)]])
    bytes_a_second = {"in": GBPS["terminal"], "out": GBPS["terminal"]} | {}
    capacity = {
        place: bytes_a_second.get(name[0], GBPS[kind[name]] if name in kind else None) * 10**9 / 8
        for name, place in names.items()
    }
    wanted = [float(rate) for rate in fairness.max_min(channels, capacity)]
    assert flows.rates(network, *zip(*pairs, strict=True), routing="min") == pytest.approx(wanted, rel=1e-9)


def test_a_message_alone_takes_its_slowest_link_and_all_delays():
    spec = f"{TAPERED},delay=5ns,delay.global=350ns,delay.terminal=20ns"
    size, graph = 10**6, graphs.build(DRAGONFLY)
    for source, target in [(0, 71), (0, 2), (0, 1)]:
        hops = routes.dragonfly(graph)(graph.homes[source], graph.homes[target])[0][1] if target > 1 else []
        kind = [classes(Network(spec))[router, port] for router, port, _ in hops] + ["terminal"] * 2
        delays = {"local": 5e-9, "global": 350e-9, "terminal": 20e-9}
        slowest = min(GBPS[link] for link in kind) * 10**9 / 8
        wanted = float(size / slowest) + sum(delays[link] for link in kind)
        run = flows.run(Network(spec), [source], [target], [size], routing="min")
        assert run.makespan_s == pytest.approx(wanted, rel=1e-12)
        assert run.facts["ideal_s"] == pytest.approx(wanted, rel=1e-12), "a lower bound that one message meets"


@pytest.mark.parametrize("spec", ["torus:4x4", "hyperx:4x4,p=4", "fattree:k=4,levels=2"])
def test_equal_rates_change_nothing(topoloom, spec):
    args = ["--app", "allreduce:size=1MiB", "--json"]
    plain = topoloom("workload", spec, "--rate", "25Gb/s", *args).json()[0]
    rated = topoloom("workload", f"{spec},rate=25G", *args).json()[0]
    assert {key for key in plain if plain[key] != rated[key]} <= {
        "spec",
        "assumptions",
        "wall_s",
        "peak_rss_bytes",
        "config",
        "baseline",
    }
    prices = ["--prices", "edr-flex", "--json"]
    facts = [topoloom("show", s, *prices).json()[0] for s in (spec, f"{spec},rate=25G")]
    new = {"spec", "injection_gbps", "bisection_gbps", "taper"}
    assert {key for key in facts[0] if facts[0][key] != facts[1][key]} == new
    assert facts[1]["bisection_gbps"] == 25 * facts[0]["bisection_links"]
    assert all(facts[0][key] is None for key in new - {"spec"})
    point = ["--load", "0.3", "--warmup", "200", "--measure", "500", "--json"]
    points = [topoloom("simulate", s, *point).json()["points"][0] for s in (spec, f"{spec},rate=25G")]
    times = {"wall_s", "cpu_s", "peak_rss_bytes"}
    units = {"accepted_gb_s", "latency_ns"}
    assert points[1].keys() - points[0].keys() == units
    assert {key: value for key, value in points[0].items() if key not in times} == {
        key: value for key, value in points[1].items() if key not in times | units
    }


@pytest.mark.parametrize("ending", ["graphml", "csv"])
@pytest.mark.parametrize(
    "spec", [f"{TAPERED},delay.global=350.5ns", "torus:4x4,rate=400G", "clos:radix=4,levels=3,rate=100G"]
)
def test_files_carry_rates(tmp_path, ending, spec):
    network, path = Network(spec), tmp_path / f"network.{ending}"
    network.write(path)
    for told in ("", f",as=({spec.split(',rate')[0]})"):
        again = Network(f"file:{path}{told}")
        for what in ("link_wires", "terminal_wires", "edges"):
            assert sorted(getattr(again.core, what)() or (), key=repr) == sorted(
                getattr(network.core, what)() or (), key=repr
            ), what
        assert again.facts()["bisection_gbps"] == network.facts()["bisection_gbps"]
        assert again.core.injection_gbps == network.core.injection_gbps


def test_graphs_of_networkx_carry_rates():
    network = Network(f"{TAPERED},delay.local=7ns")
    again = Network.from_networkx(network.to_networkx())
    assert again.core.link_wires() == network.core.link_wires()
    assert again.core.terminal_wires() == network.core.terminal_wires()


def test_a_file_says_what_is_wrong(topoloom, tmp_path):
    head = "router_a,router_b,rate_gbps\n"
    for rows, words in [
        ("0,1,0\n", "line 2: rate_gbps is '0'; it must be a number above 0"),
        ("0,1,x\n", "rate_gbps is 'x'"),
        ("0,1,5\n1,2,\n", "some links have a rate, but local links have none"),
    ]:
        (tmp_path / "links.csv").write_text(head + rows)
        failed = topoloom("show", f"file:{tmp_path}/links.csv")
        assert (failed.status, words in failed.err) == (2, True), failed.err


def test_lists_and_tables_know_the_keys(topoloom):
    assert "rate.global=" in topoloom("list", "topologies").out
    mesh = topoloom("list", "topologies", "--json").json()[0]
    assert {
        "name": "delay.up",
        "type": "time",
        "doc": "the delay of links between the levels of a tree",
        "shared": True,
    } in mesh["keys"]
    table = topoloom("show", TAPERED, "torus:4x4").out
    assert "Bisection bandwidth" in table
    assert "Taper" in table
    assert "Bisection bandwidth" not in topoloom("show", "torus:4x4").out


def test_python_takes_the_keys():
    network = Network("torus:4x4,rate=1.6T,delay=10ns")
    assert network.core.injection_gbps == 1600
    assert json.loads(json.dumps(network.facts()["taper"]))[0]["level"] == "router"


def test_platforms_of_simgrid_have_rates_and_delays(tmp_path):
    path = tmp_path / "network.simgrid"
    Network(f"{TAPERED},delay=20ns,delay.global=350ns").write(path)
    text = path.read_text()
    assert text.count('bandwidth="25GBps" latency="20ns"') == 72, "terminals"
    assert text.count('bandwidth="50GBps" latency="20ns"') == 9 * 6, "local links"
    assert text.count('bandwidth="13.28125GBps" latency="350ns"') == 36, "global links"
    Network("hyperx:3,trunk=2,p=1").write(path, force=True)
    assert path.read_text().count('bandwidth="25GBps" latency="1ns"') == 3
