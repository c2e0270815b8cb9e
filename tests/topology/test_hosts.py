"""Clusters against a second definition that shares no code with them: links, paths, makespans computed by hand."""

import itertools
import tomllib
from collections import Counter
from pathlib import Path

import networkx as nx
import pytest

import topoloom
from harness.engine import bound_of, proof_of
from harness.paths import ROOT
from topoloom import Network, flows

HOSTS = Path(ROOT, "crates/topoloom/src/topology/hosts")

ATTACHED = [
    ("hgx-h100", "clos:radix=8,levels=2,rate=400G", "rail", None, 5),
    ("mi300x", "clos:radix=8,levels=3,rate=200G", "rail", None, 11),
    ("cray-ex", "dragonfly:a=2,h=1,p=4,rate=200G,rate.global=100G,delay.global=300ns", "block", None, 6),
    ("v100-4", "fattree:k=3,levels=2,rate=100G", "spread", None, 4),
    ("cray-ex", "clos:radix=8,levels=2,rate=200G", "plane", 2, 6),
    ("gb200-nvl72", "hyperx:4x4,p=4,rate=400G", "rail", None, 2),
    ("tpu-v4", "torus:3x3,p=2,rate=100G", "dual-tor", None, 7),
    ("plain", "xgft:down=2x3x4,up=2x2,rate=100G", "block", None, 9),
]


def host_of(name: str) -> tuple[int, int, list, list]:
    """Accelerators, parts, links as (a, b, Gb/s), interfaces as (part, Gb/s) from a host's file."""
    data = tomllib.loads((HOSTS / f"{name}.toml").read_text())
    count = data["accelerators"]
    links = []
    for row in data.get("link", []):
        pairs = list(row.get("pairs", []))
        if row.get("mesh"):
            pairs += [(a, b) for a in range(count) for b in range(a + 1, count)]
        if "from" in row:
            pairs += [(a, row["to"]) for a in range(count)]
        links += [(a, b, row["gbps"]) for a, b in pairs]
    nics = [
        (part, row.get("gbps"))
        for row in data["nic"]
        for part in (range(count) if row["at"] == "accelerators" else row["at"])
    ]
    return count, count + data.get("switches", 0), links, nics


def plugs(attach: str, planes: int | None, hosts: int, nics: list, homes: list[int]) -> list[tuple[int, int, int, int]]:
    """(host, interface, copy, terminal of the fabric) of every port."""
    count, leaves = len(nics), {}
    for terminal, home in enumerate(homes):
        leaves.setdefault(home, []).append(terminal)
    racks = [leaves[home] for home in sorted(leaves)]
    copies = {"rail": count, "plane": planes or count}.get(attach, 1)
    found, used = [], Counter()
    pairs = [(a, b) for k in range(0, len(racks) - 1, 2) for a, b in zip(racks[k], racks[k + 1], strict=False)]
    dealt = [rack[turn] for turn in range(max(map(len, racks))) for rack in racks if turn < len(rack)]
    for host in range(hosts):
        for nic in range(count):
            copy = nic % copies
            place = used[copy]
            used[copy] += 1
            if attach == "dual-tor":
                found += [(host, nic, 0, terminal) for terminal in pairs[place]]
            else:
                found.append((host, nic, copy, dealt[place] if attach == "spread" else place))
    return found


def expected(host: str, fabric: str, attach: str, planes: int | None, hosts: int) -> nx.MultiGraph:
    """The cluster's routers by name, before anything is trimmed."""
    _, parts, links, nics = host_of(host)
    graph, net = nx.MultiGraph(), Network(fabric)
    wires, ends = net.core.link_wires(), net.core.terminal_wires()
    homes = [router for router, count in enumerate(net.core.terminals_by_router()) for _ in range(count)]
    plugged = plugs(attach, planes, hosts, nics, homes)
    for copy in {copy for _, _, copy, _ in plugged}:
        for (a, _, b, _, kind), wire in zip(net.core.edges(), wires, strict=True):
            graph.add_edge(("fabric", copy, a), ("fabric", copy, b), what=(kind, wire[0], wire[1]))
    for at in range(hosts):
        for a, b, gbps in links:
            graph.add_edge(("host", at, a), ("host", at, b), what=("internal", gbps, None))
        graph.add_nodes_from(("host", at, part) for part in range(parts))
    for at, nic, copy, terminal in plugged:
        part, gbps = nics[nic]
        port = ends[homes[terminal]][0] if ends else max(wire[0] for wire in wires)
        own = port if gbps is None else min(port, gbps / (2 if attach == "dual-tor" else 1))
        graph.add_edge(("host", at, part), ("fabric", copy, homes[terminal]), what=("nic", own, None))
    return graph


@pytest.mark.parametrize(("host", "fabric", "attach", "planes", "hosts"), ATTACHED)
def test_links_are_those_of_the_definition(host, fabric, attach, planes, hosts):
    more = f",planes={planes}" if planes else ""
    spec = f"cluster:hosts={hosts},host={host},fabric=({fabric}),attach={attach}{more}"
    network, graph = Network(spec), expected(host, fabric, attach, planes, hosts)
    count, parts, *_ = host_of(host)
    names = {at * parts + part: ("host", at, part) for at in range(hosts) for part in range(parts)}
    found = nx.MultiGraph()
    found.add_nodes_from(range(network.num_routers))
    for (a, _, b, _, kind), wire in zip(network.core.edges(), network.core.link_wires(), strict=True):
        found.add_edge(a, b, what=(kind, wire[0], wire[1]))
    if fabric.startswith(("clos", "fattree", "xgft")):
        graph = trimmed(graph)
    assert Counter(data["what"] for *_, data in found.edges(data=True)) == Counter(
        data["what"] for *_, data in graph.edges(data=True)
    )
    assert found.number_of_nodes() == graph.number_of_nodes()
    # The fabric's routers keep their order.
    kept = sorted(node for node in graph if node[0] == "fabric")
    names |= {hosts * parts + place: node for place, node in enumerate(kept)}
    relabelled = Counter((*sorted((names[a], names[b])), data["what"]) for a, b, data in found.edges(data=True))
    assert relabelled == Counter((*sorted((a, b)), data["what"]) for a, b, data in graph.edges(data=True))
    homes = [router for router, terminals in enumerate(network.core.terminals_by_router()) for _ in range(terminals)]
    assert homes == [at * parts + slot for at in range(hosts) for slot in range(count)]
    facts = network.facts()
    of_hosts = sum(node[0] == "host" for node in graph)
    assert (facts["host_routers"], facts["routers"]) == (of_hosts, graph.number_of_nodes() - of_hosts)
    kinds = Counter(data["what"][0] for *_, data in graph.edges(data=True))
    assert (facts["host_links"], facts["terminal_links"]) == (kinds["internal"], kinds["nic"])
    assert facts["links"] == graph.number_of_edges() - kinds["internal"] - kinds["nic"]
    out = sum(data["what"][1] for *_, data in graph.edges(data=True) if data["what"][0] == "nic")
    assert facts["injection_gbps"] == pytest.approx(out / hosts / count)


def trimmed(graph: nx.MultiGraph) -> nx.MultiGraph:
    """Without the routers of trees that no shortest way between two hosts, or within one leaf, goes through."""
    simple = nx.Graph(graph)
    needed = {node for node in graph if node[0] == "host"}
    leaves = {b for a, b in simple.edges if a[0] == "host" and b[0] == "fabric"}
    leaves |= {a for a, b in simple.edges if b[0] == "host" and a[0] == "fabric"}
    fabric = simple.subgraph(node for node in simple if node[0] == "fabric")
    for a in leaves:
        for b in leaves:
            if a[1] == b[1]:
                needed |= {node for path in nx.all_shortest_paths(fabric, a, b) for node in path}
    return nx.MultiGraph(graph.subgraph(needed))


@pytest.mark.parametrize(
    ("spec", "routing"),
    [
        ("cluster:hosts=6,host=hgx-h100,fabric=(clos:radix=8,levels=2,rate=400G)", "hosts:nic=rail"),
        ("cluster:hosts=6,host=cray-ex,fabric=(dragonfly:a=2,h=1,p=4,rate=200G),attach=spread", "hosts:fabric=val"),
    ],
)
def test_verify_proves_hosts_and_fabric(topoloom, spec, routing):
    proof = proof_of(spec, routing)
    assert proof["deadlock_free"]
    assert proof["unserved_pairs"] == 0
    assert topoloom("verify", spec, "--routing", "adaptive").status == 0


SIZE = 1 << 20
RING = f"allreduce:algorithm=ring,size={SIZE}"


@pytest.mark.parametrize("hosts", [2, 6])
def test_a_ring_over_hosts_takes_what_its_interfaces_take(topoloom, hosts):
    """The last GPU of each host sends 2 (N - 1) parts through one interface to the first GPU of the next."""
    spec = f"cluster:hosts={hosts},host=hgx-h100,fabric=(clos:radix=8,levels=2,rate=400G)"
    gpus = 8 * hosts
    run = topoloom("workload", spec, "--app", RING, "--json").json()[0]
    assert run["tasks"] == gpus
    assert run["routing"] == "hosts"
    least = 2 * (gpus - 1) * SIZE / gpus / 50e9
    # A task sends its next part as soon as it has it: parts share the interface for a while, and the first comes later.
    assert least * (1 - 1e-3) <= run["makespan_s"] <= 1.01 * least


def test_rates_within_and_between_hosts():
    network = Network("cluster:hosts=4,host=hgx-h100,fabric=(clos:radix=4,levels=2,rate=400G)")
    within, between = flows.rates(network, [0, 0], [1, 8], routing="hosts")
    assert (within, between) == (450e9, 50e9)
    # Two flows of one GPU to another rail: by its own interface, or each by the one that it goes to.
    assert list(flows.rates(network, [0, 0], [9, 10], routing="hosts")) == [25e9, 25e9]
    assert list(flows.rates(network, [0, 0], [9, 10], routing="hosts:nic=rail")) == [50e9, 50e9]


def test_bounds_count_interfaces():
    """Tornado over hosts: each GPU sends to the same slot, a half of all further on; leaves of 2 hosts, 2 spines."""
    spec = "cluster:hosts=4,host=hgx-h100,fabric=(clos:radix=4,levels=2,rate=400G,rate.up=200G)"
    told = bound_of(spec, "hosts", "worst-case")
    assert told["saturation_bound"] == pytest.approx(0.5), "two links up of half the rate for two interfaces"


FABRICS = [
    "clos:radix=8,levels=2,taper=3",
    "xgft:down=4x4x2,up=2x2",
    "dragonfly:a=4,h=1,p=4",
    "dragonfly-plus:leaf=4,spine=4,p=4,h=2",
    "hyperx:3x4,p=8",
    "slimfly:q=5,p=4",
    "torus:4x6,p=4",
    "mesh:4x4,p=4",
    "hypercube:4,p=4",
    "galaxyfly:n=2,q=3,a=2,p=4",
    "random-regular:20,degree=4,p=4",
]


@pytest.mark.parametrize("fabric", FABRICS)
def test_the_worst_case_of_a_cluster_is_no_easier_than_uniform_traffic(fabric):
    """Where the fabric's is harder, and however hosts fill the fabric or a part of it."""
    alone = Network(f"{fabric},rate=400G")
    uniform, worst = (alone.bound(traffic=traffic) for traffic in ("uniform", "worst-case"))
    assert worst["saturation_bound"] < uniform["saturation_bound"]
    joined = "rail,join=(clos:radix=16,levels=2,rate=400G),uplinks=1"
    attached = ["rail", "block", "block,leaves=2", "plane,planes=2", "dual-tor", "spread"]
    attached += [joined] if fabric.startswith(("clos", "xgft")) else []
    checked = 0
    for (host, ports), attach, part in itertools.product(
        [("plain", 1), ("cray-ex", 4), ("abci-a", 4), ("v100-4", 2)], attached, (1, 0.6)
    ):
        of_copy = {"rail": 1, joined: 1, "plane,planes=2": max(1, ports // 2), "dual-tor": 2 * ports}.get(attach, ports)
        hosts = int(alone.num_terminals / of_copy * part)
        if hosts < 2 or (ports == 1 and attach not in ("block", "spread", "dual-tor")):
            continue
        spec = f"cluster:hosts={hosts},host={host},fabric=({fabric},rate=400G),attach={attach}"
        core = Network(spec).core
        uniform, worst = (bound_of(core, "hosts", traffic) for traffic in ("uniform", "worst-case"))
        assert worst["saturation_bound"] <= 1.02 * uniform["saturation_bound"], spec
        assert worst["max_terminal_load"] == pytest.approx(1), spec
        checked += 1
    assert checked > 30


def test_hosts_spread_over_a_hyperx_send_where_its_tornado_goes():
    """Each of 9 routers has 8 interfaces, all of which send over one link of a row and one of a column."""
    spec = "cluster:hosts=18,host=abci-a,fabric=(hyperx:3x3,p=8,rate=200G),attach="
    bounds = [bound_of(spec + attach, "hosts", "worst-case")["saturation_bound"] for attach in ("spread", "block")]
    assert bounds == [pytest.approx(1 / 8)] * 2


def test_large_clusters_build_quickly():
    network = Network("cluster:hosts=2048,host=hgx-h100,fabric=(clos:radix=128,levels=2,rate=400G)")
    assert network.num_terminals == 16384
    assert network.num_routers == 2048 * 9 + 8 * (32 + 64)


def test_cost_layout_and_pictures_are_of_the_fabric(topoloom, tmp_path):
    spec = "cluster:hosts=16,host=hgx-h100,fabric=(clos:radix=8,levels=2,rate=400G)"
    layout = topoloom("layout", spec, "--json").json()[0]
    facts = topoloom("show", spec, "--json").json()[0]
    assert layout["routers"] == facts["routers"] == 8 * (4 + 4)
    assert facts["cost_usd"] == pytest.approx(layout["cost_usd"])
    assert [level["level"] for level in facts["taper"]] == ["host", "0"]
    assert facts["taper"][0]["taper"] == 9
    assert topoloom("show", spec, "--plot", str(tmp_path / "cluster.svg")).status == 0


@pytest.mark.parametrize("ending", ["graphml", "csv"])
def test_files_bring_clusters_back(tmp_path, ending):
    spec = "cluster:hosts=4,host=v100-4,fabric=(clos:radix=4,levels=2,rate=100G),attach=rail"
    network, path = Network(spec), tmp_path / f"network.{ending}"
    network.write(path)
    again = Network(f"file:{path},as=({spec})")
    assert "hosts" in again.core.routings()
    ignored = {"spec", "source_sha256", "notes"}
    facts = [{key: value for key, value in one.facts().items() if key not in ignored} for one in (network, again)]
    assert facts[0] == facts[1]


def test_hosts_of_ones_own(topoloom, tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(
        "summary = 'two'\nsource = 'me'\naccelerators = 2\n[[link]]\nmesh = true\ngbps = 100\n[[nic]]\nat = [0]\n"
    )
    network = Network(f"cluster:hosts=3,host={path},fabric=(mesh:3,rate=50G)")
    assert (network.num_terminals, network.core.injection_gbps) == (6, 25)
    path.write_text("summary = 'two'\nsource = 'me'\naccelerators = 2\n[[nic]]\nat = 0\n")
    failed = topoloom("show", f"cluster:hosts=3,host={path},fabric=(mesh:3,rate=50G)")
    assert failed.status == 2
    assert len(failed.err.strip().splitlines()) == 1, failed.err


def test_lists_tell_hosts(topoloom):
    told = topoloom("list", "hosts").out
    assert "hgx-h100" in told and "assumed" in told  # noqa: PT018 - one text
    described = {host["name"]: host for host in topoloom("list", "hosts", "--json").json()}
    assert described["gb200-nvl72"]["interface_gbps"] == [400.0] * 72


def test_python_has_the_family():
    network = topoloom.Cluster(hosts=4, host="cray-ex", fabric="(hyperx:2x2,p=1,rate=200G)")
    assert network.num_terminals == 16
