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

CAMINOS = shutil.which("caminos") or Path(__file__).parents[2] / "target" / "tools" / "bin" / "caminos"
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
    assert len(routes) == len(range(0, len(home), 3)) * (len(home) - 1)
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


def caminos(folder: Path, load: float) -> dict[str, float]:
    """What CAMINOS measures with the configuration net.caminos at one of its loads."""
    text = (folder / "net.caminos").read_text()
    (folder / "net.cfg").write_text(re.sub(r"!\[.*?\]", str(load), text))
    done = subprocess.run([CAMINOS, "net.cfg"], capture_output=True, text=True, cwd=folder, check=False)
    told = done.stdout + done.stderr
    assert done.returncode == 0, told[-2000:]
    found = re.findall(r"(accepted_load|average_message_delay|average_packet_hops):\s+([\d.]+)", told)
    return {name: float(value) for name, value in found}


@pytest.mark.parametrize(
    "spec", ["mesh:4x3,p=2", "dragonfly:a=4,h=2,p=2", "hyperx:3x3,p=3", "slimfly:q=5,p=2", "flex:3x3x3,p=2"]
)
def test_caminos_runs_it_and_agrees(spec: str, tmp_path: Path) -> None:
    """Below saturation, CAMINOS takes what is offered, over as many links as ours, in the time that they take."""
    network = Network(spec)
    packet, links = 16, {"terminal": 2, "local": 5, "global": 5}
    network.write(tmp_path / "net.caminos", links=links)
    idle, busy = caminos(tmp_path, 0.02), caminos(tmp_path, 0.2)
    settings = {"packet": packet, "links": links, "warmup": 2000, "measure": 10_000, "vcs": 8}
    (ours,) = network.simulate("min", "uniform:exclude-self", 0.2, **settings).points.values()
    hops = network.facts()["average_hops"]
    for theirs in (idle, busy):
        assert abs(theirs["average_packet_hops"] - hops) < 0.1
    # The head over every link, and then the rest of the packet; here and there it waits.
    least = 5 * idle["average_packet_hops"] + 2 * 2 + packet - 1
    print(f"{spec}: latency {idle['average_message_delay']:.2f}, {least:.2f} at least; accepted at 0.2:", end=" ")
    print(f"{busy['accepted_load']:.4f}, ours {ours.accepted:.4f}; links {hops:.3f}, {busy['average_packet_hops']:.3f}")
    assert 0 <= idle["average_message_delay"] - least < 1.5
    # Packets come at random: four standard errors.
    error = 4 * (0.2 * packet / (10_000 * network.facts()["terminals"])) ** 0.5
    assert abs(busy["accepted_load"] - 0.2) < error
    assert abs(ours.accepted - 0.2) < error
    assert abs(ours.hops - 1 - busy["average_packet_hops"]) < 0.1


@pytest.mark.skipif("BOOKSIM" not in os.environ, reason="BOOKSIM names no booksim program")
def test_booksim_runs_it(tmp_path: Path) -> None:
    network = Network("mesh:4x3,p=2")
    network.write(tmp_path / "net.booksim")
    command = [os.environ["BOOKSIM"], "net.booksim", "routing_function=min"]
    told = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=True).stdout
    assert "Hops average" in told
