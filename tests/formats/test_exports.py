"""Files for other programs, and forwarding tables, without these programs: make test-opensm and test-tools ask them."""

import re
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import pytest

from topoloom import Network, TopoloomError, _core

NETWORKS = ["mesh:4x3,p=2", "hyperx:3x3,trunk=2", "clos:radix=4,levels=3", "dragonfly:a=4,h=2,p=2", "flex:3x3x3,p=2"]


def edges(network: Network) -> Counter[tuple[int, ...]]:
    return Counter(tuple(sorted(edge[:2])) for edge in network.to_networkx().edges())


def terminals(network: Network) -> list[int]:
    graph = network.to_networkx()
    return [graph.nodes[router]["terminals"] for router in graph]


@pytest.mark.parametrize("spec", NETWORKS)
def test_a_subnet_is_the_network_again(spec: str, tmp_path: Path) -> None:
    network = Network(spec)
    network.write(tmp_path / "net.ibnet")
    again = Network(f"file:{tmp_path / 'net.ibnet'}")
    assert edges(again) == edges(network)
    assert terminals(again) == terminals(network)
    # Forwarding tables fit it, by GUIDs and numbers of ports.
    (tmp_path / "tables.lft").write_text(_core.Routing(network.core, "dfsssp").forwarding_text("lft"))
    tables = _core.Routing(network.core, "dfsssp").forwarding_text("csv")
    for same in (network, again):
        assert _core.Routing(same.core, f"table:{tmp_path / 'tables.lft'}").forwarding_text("csv") == tables


def test_forwarding_tables_are_the_ways_of_the_routing(tmp_path: Path) -> None:
    network = Network("mesh:4x3,p=2")
    text = _core.Routing(network.core, "dor").forwarding_text("csv")
    rows = [map(int, line.split(",")) for line in text.splitlines()[1:]]
    graph = network.to_networkx()
    peer = {(edge["router_a"], edge["port_a"]): edge["router_b"] for edge in links(network)}
    peer |= {(edge["router_b"], edge["port_b"]): edge["router_a"] for edge in links(network)}
    assert len(peer) == 2 * graph.number_of_edges()
    for at, destination, port in rows:
        x, y, to_x, to_y = at % 4, at // 4, destination // 2 % 4, destination // 2 // 4
        step = (x + (to_x > x) - (to_x < x), y) if x != to_x else (x, y + (to_y > y) - (to_y < y))
        assert peer[at, port] == step[0] + 4 * step[1]


def links(network: Network) -> list[dict[str, Any]]:
    names = ("router_a", "port_a", "router_b", "port_b")
    lines = network.text("csv")[0].splitlines()[1:]
    return [dict(zip(names, map(int, line.split(",")[:4]), strict=True)) for line in lines]


@pytest.mark.parametrize(
    ("spec", "routing", "why"),
    [
        ("torus:4x4", "dor", "at router 2 the way to router 0 is one of several"),
        ("torus:4x4", "val", "goes over another router first"),
        ("mesh:4x4", "min", "is one of several"),
        ("fattree:k=2,levels=3", "nca", "is one of several"),
    ],
)
def test_a_routing_that_is_no_table_is_refused(spec: str, routing: str, why: str) -> None:
    with pytest.raises(TopoloomError, match=why):
        _core.Routing(Network(spec).core, routing).forwarding_text("lft")


def test_import_lft_proves_and_writes(topoloom: Callable[..., Any], tmp_path: Path) -> None:
    dump, table = tmp_path / "t.lft", tmp_path / "t.csv"
    assert topoloom("export", "mesh:3x3", "--routing", "dor", "--out", str(dump)).status == 0
    told = topoloom("import-lft", "mesh:3x3", str(dump), "--out", str(table))
    assert told.status == 0
    assert "deadlock free" in told.out
    assert topoloom("verify", "mesh:3x3", "--routing", f"table:{table}").status == 0
    told = topoloom("export", "torus:5x5", "--routing", "dfsssp", "--out", str(dump))
    assert "cannot store the" in told.err
    assert "VC classes of dfsssp" in told.err
    assert topoloom("import-lft", "torus:5x5", str(dump)).status == 1
    told = topoloom("import-lft", "mesh:5x5", str(dump))
    assert told.status == 2
    assert re.search(r"t\.lft, line \d+: port \d of switch 'router \d+'; router \d+ has ports 1 to \d", told.err)


def test_slurm_trees_hold_every_node_once(topoloom: Callable[..., Any], tmp_path: Path) -> None:
    for spec in NETWORKS:
        text, _ = Network(spec).text("slurm")
        below = dict(re.findall(r"SwitchName=(\S+) \w+=(\S+)", text))
        roots = set(below) - {name for names in below.values() for name in expanded(names)}
        nodes = [name for names in below.values() for name in expanded(names) if name.startswith("n")]
        assert len(roots) == 1
        assert sorted(nodes) == sorted(f"n{terminal}" for terminal in range(sum(terminals(Network(spec)))))
        yaml = Network(spec).text("slurm-yaml")[0]
        assert dict(re.findall(r"- switch: (\S+)\n +\w+: (\S+)", yaml)) == below
    told = topoloom("export", "mesh:2,p=2", "--format", "slurm", "--nodes", "a[08-10],b")
    assert told.out.splitlines()[:2] == ["SwitchName=s0 Nodes=a[08-09]", "SwitchName=s1 Nodes=a10,b"]
    assert (
        "the names of nodes are 3; mesh:2,p=2 has 4 terminals"
        in topoloom("export", "mesh:2,p=2", "--format", "slurm", "--nodes", "a[1-3]").err
    )
    assert "is no list of names" in topoloom("export", "mesh:2", "--format", "slurm", "--nodes", "a[1-").err
    assert "the format dot has no such names" in topoloom("export", "mesh:2", "--format", "dot", "--nodes", "a,b").err


def expanded(names: str) -> list[str]:
    found = re.findall(r"([^,\[]+)(?:\[(\d+)-(\d+)\])?", names)
    return [
        f"{prefix}{number}" if last else prefix
        for prefix, first, last in found
        for number in (range(int(first), int(last) + 1) if last else [0])
    ]


@pytest.mark.parametrize("spec", NETWORKS)
def test_other_formats_have_the_graph(spec: str, tmp_path: Path) -> None:
    network = Network(spec)
    ours, simple = edges(network), set(edges(network))
    dot = re.findall(r'"(\d+)" -- "(\d+)"', network.text("dot")[0])
    assert Counter(tuple(sorted(map(int, edge))) for edge in dot) == ours
    root = ET.fromstring(re.sub(r"<!DOCTYPE[^>]*>", "", network.text("simgrid")[0]))
    routes = [(route.get("src"), route.get("dst")) for route in root.iter("route")]
    assert {tuple(sorted(int(end.split("-")[1]) for end in way)) for way in routes if "t" not in way[0][0]} == simple  # type: ignore[union-attr, index]
    assert len([way for way in routes if way[0].startswith("t")]) == sum(terminals(network))  # type: ignore[union-attr]
    scope: dict[str, Any] = {"__name__": "graph"}
    exec(network.text("sst")[0], scope)
    made = scope["graph"]()
    assert Counter(tuple(sorted(edge)) for edge in made.edges()) == ours
    assert [made.nodes[router]["endpoints"] for router in made] == terminals(network)
    assert isinstance(made, nx.MultiGraph) == ("trunk" in spec)


def test_a_configuration_has_its_graph_beside_it(tmp_path: Path) -> None:
    network = Network("mesh:4x3,p=2")
    network.write(tmp_path / "a.booksim")
    assert "network_file = a.anynet;" in (tmp_path / "a.booksim").read_text()
    assert edges(Network(f"file:{tmp_path / 'a.anynet'}")) == edges(network)
    network.write(tmp_path / "b.caminos")
    assert 'filename: "b.adj"' in (tmp_path / "b.caminos").read_text()
    words = (tmp_path / "b.adj").read_text().splitlines()
    assert words[:2] == ["NODOS 12", "GRADO 4"]
    found = {
        (int(name.split()[1]), int(peer))
        for name, peers in zip(words[2::2], words[3::2], strict=True)
        for peer in peers.split()
    }
    assert found == {pair for a, b in edges(network) for pair in ((a, b), (b, a))}
    with pytest.raises(TopoloomError, match="different numbers of terminals"):
        Network("clos:radix=4,levels=3").write(tmp_path / "c.caminos")


def test_booksim_reads_every_word_of_its_configuration(topoloom: Callable[..., Any], tmp_path: Path) -> None:
    network = Network("torus:2x3,double=true")
    (lost,) = network.write(tmp_path / "net.booksim")
    assert lost.endswith("the format booksim cannot hold parallel links (3 links left out)")
    text = re.sub(r"//.*", "", (tmp_path / "net.booksim").read_text())
    # Its grammar: name = value; where a value is a name or a number.
    name, number = r"[A-Za-z_][\w.-]*", r"-?\d+(\.\d+)?"
    assert re.fullmatch(rf"(\s*{name}\s*=\s*({name}|{number})\s*;)*\s*", text)
    for wrong in ("8x8", "a b"):
        told = topoloom("export", "mesh:3x3", "--out", str(tmp_path / f"{wrong}.booksim"))
        assert told.status == 2
        assert f"BookSim2 cannot read the name '{wrong}.anynet'" in told.err
        assert not (tmp_path / f"{wrong}.booksim").exists()


def test_formats_with_one_latency_have_that_of_most_links() -> None:
    network = Network("dragonfly:a=4,h=2,p=2")  # 54 local links, 36 global ones
    links = {"terminal": 2, "local": 7, "global": 30}
    caminos, (lost,) = network.text("caminos", links)
    assert "link_classes: [ LinkClass { delay: 7 }, LinkClass { delay: 2 } ]" in caminos
    assert "different latencies of links (all have 7, that of most)" in lost
    sst, (lost,) = network.text("sst", links)
    assert 'LINK_LATENCY, HOST_LINK_LATENCY = "7ns", "2ns"' in sst
    assert "different latencies of links (all have 7, that of most)" in lost
    assert Network("mesh:3x3").text("caminos", {"local": 9})[1] == []


def test_options_of_graphs_mean_nothing_to_tables(topoloom: Callable[..., Any]) -> None:
    for option in (["--links", "local=3"], ["--nodes", "a,b"]):
        told = topoloom("export", "mesh:2", "--routing", "dor", "--format", "lft", *option)
        assert told.status == 2
        assert f"{option[0]} describes a graph; forwarding tables cannot store it" in told.err
