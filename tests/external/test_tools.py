"""Files that other programs read: each is given to the program itself."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import networkx as nx
import pytest

from topoloom import Network

pytestmark = pytest.mark.tools

NETWORKS = ["mesh:4x3,p=2", "hyperx:3x3,trunk=2", "clos:radix=4,levels=3", "dragonfly:a=4,h=2,p=2"]

SIMGRID = """
import sys, simgrid
engine = simgrid.Engine(["platform", "--log=root.thres:critical"])
engine.load_platform(sys.argv[1])
engine.netzone_root.seal()
hosts = {host.name: host for host in engine.all_hosts}
count = len(hosts)
for a in range(0, count, 3):
    for b in range(count):
        if a != b:
            links, latency = hosts[f"terminal-{a}"].route_to(hosts[f"terminal-{b}"])
            print(a, b, len(links), round(latency * 1e9))
"""


@pytest.mark.parametrize("spec", NETWORKS)
def test_graphviz_draws_it(spec: str, tmp_path: Path) -> None:
    network = Network(spec)
    network.write(tmp_path / "net.dot")
    drawn = subprocess.run(
        ["neato", "-Tplain", tmp_path / "net.dot"], capture_output=True, text=True, check=True
    ).stdout
    words = [line.split()[0] for line in drawn.splitlines()]
    assert (words.count("node"), words.count("edge")) == (network.facts()["routers"], network.facts()["links"])


@pytest.mark.parametrize("spec", NETWORKS)
def test_metis_parts_it(spec: str, tmp_path: Path) -> None:
    Network(spec).write(tmp_path / "net.graph")
    told = subprocess.run(["gpmetis", tmp_path / "net.graph", "2"], capture_output=True, text=True, check=True).stdout
    facts = Network(spec).facts()
    assert re.search(rf"#Vertices: {facts['routers']}, ", told), told
    assert len((tmp_path / "net.graph.part.2").read_text().split()) == facts["routers"]


@pytest.mark.parametrize("spec", NETWORKS)
def test_simgrid_routes_it(spec: str, tmp_path: Path) -> None:
    network = Network(spec)
    network.write(tmp_path / "net.xml", "simgrid", {"terminal": 5, "local": 7, "global": 7, "up": 7})
    command = ["/usr/bin/python3", "-c", SIMGRID, tmp_path / "net.xml"]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    routes = [tuple(map(int, line.split())) for line in told.splitlines()]
    graph = network.to_networkx()
    home = [router for router in graph for _ in range(graph.nodes[router]["terminals"])]
    distance = dict(nx.all_pairs_shortest_path_length(nx.Graph(graph)))
    assert len(routes) > 50
    for a, b, links, latency in routes:
        hops = distance[home[a]][home[b]]
        assert (links, latency) == (2 + hops, 10 + 7 * hops)


@pytest.mark.parametrize("spec", NETWORKS)
def test_a_script_for_sst_has_the_graph(spec: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SST itself is in no package; what its script hands to topoAny is a graph of networkx."""
    network = Network(spec)
    network.write(tmp_path / "net.sst.py")
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "net.sst.py").rename(tmp_path / f"sst_{os.getpid()}.py")
    module = __import__(f"sst_{os.getpid()}")
    del sys.modules[f"sst_{os.getpid()}"]
    made, ours = module.graph(), network.to_networkx()
    assert [made.nodes[router]["endpoints"] for router in made] == [ours.nodes[router]["terminals"] for router in ours]
    assert sorted(map(sorted, made.edges())) == sorted(sorted(edge[:2]) for edge in ours.edges())


@pytest.mark.skipif(shutil.which("caminos") is None, reason="cargo install caminos brings it")
def test_caminos_runs_it(tmp_path: Path) -> None:
    for spec in ("mesh:4x3,p=2", "dragonfly:a=4,h=2,p=2"):
        network = Network(spec)
        network.write(tmp_path / "net.caminos")
        text = (tmp_path / "net.caminos").read_text()
        (tmp_path / "net.cfg").write_text(re.sub(r"!\[.*?\]", "0.3", text).replace("warmup: 5000", "warmup: 500"))
        done = subprocess.run(["caminos", "net.cfg"], capture_output=True, text=True, cwd=tmp_path, check=False)
        told = done.stdout + done.stderr
        assert done.returncode == 0, told[-2000:]
        hops = float(re.search(r"average_packet_hops: ([\d.]+)", told)[1])  # type: ignore[index]
        assert abs(hops - network.facts()["average_hops"]) < 0.1


@pytest.mark.skipif("BOOKSIM" not in os.environ, reason="BOOKSIM names no booksim program")
def test_booksim_runs_it(tmp_path: Path) -> None:
    network = Network("mesh:4x3,p=2")
    network.write(tmp_path / "net.booksim")
    command = [os.environ["BOOKSIM"], "net.booksim", "routing_function=min"]
    told = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=True).stdout
    assert "Hops average" in told
