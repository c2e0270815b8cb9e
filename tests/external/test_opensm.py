"""The real OpenSM on simulated fabrics: its tables are read back, proved and simulated; ours come back as they were."""

import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import networkx as nx
import pytest

from topoloom import Network, TopoloomError, _core

pytestmark = pytest.mark.opensm

UMAD = next(iter(Path("/usr/lib").glob("*/umad2sim/libumad2sim.so")), Path("libumad2sim.so"))
ENGINES = ("minhop", "updn", "ftree", "lash", "dor", "dfsssp", "nue", "torus-2QoS")
LARGE = ("clos:radix=16,levels=3", "dragonfly:a=8,h=4,p=4", "flex:6x6x3,p=10")
"""About a thousand hosts each; OpenSM's lash takes minutes for them."""
FAT_TREE, TORUS = "clos:radix=8,levels=3", "torus:4x4x4"
NETWORKS = (FAT_TREE, "dragonfly:a=4,h=2,p=2", "flex:3x3x3,p=4", TORUS, "slimfly:q=5,p=2", "hyperx:4x3,p=2,trunk=2")
FITS = {"ftree": FAT_TREE, "torus-2QoS": TORUS}
"""Engines that route one of them only: for others OpenSM says so in its log, takes another engine, and exits with 0."""

PATIENCE_S = 200.0


@dataclass
class Routed:
    """What OpenSM did: the engine whose tables it loaded, and its dump of them."""

    engine: str
    dump: Path
    log: str


@contextmanager
def fabric(netlist: Path, folder: Path) -> Iterator[dict[str, str]]:
    """Run ibsim; yields the environment in which programs talk to it."""
    environment = os.environ | {
        "IBSIM_SOCKNAME": str(folder / "socket"),
        "SIM_HOST": "H-0000200000000000",
        "OSM_CACHE_DIR": str(folder),
        "OSM_TMP_DIR": str(folder),
    }
    command = ["ibsim", "-s", "-n", "-N", "20000", "-S", "4000", "-P", "200000", str(netlist)]
    with (folder / "ibsim.log").open("w") as log:
        process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        end = time.monotonic() + 20
        while "MaxMcastCap" not in (folder / "ibsim.log").read_text():
            assert process.poll() is None, (folder / "ibsim.log").read_text()
            assert time.monotonic() < end
            time.sleep(0.05)
        time.sleep(0.3)
        yield environment | {"LD_PRELOAD": str(UMAD)}
    finally:
        process.terminate()
        process.wait()


def route(network: Network, engine: str, folder: Path, *arguments: str) -> Routed:
    """Let OpenSM route the network; its log tells which engine did it."""
    folder.mkdir()
    network.write(folder / "fabric.ibnet")
    with fabric(folder / "fabric.ibnet", folder) as environment:
        command = ["opensm", "-o", "-R", engine, "-f", str(folder / "osm.log"), "--dump_files_dir", str(folder)]
        command += ["-D", "0x43", *arguments]
        subprocess.run(
            command, env=environment, cwd=folder, timeout=PATIENCE_S, capture_output=True, check=True, text=True
        )
    log = (folder / "osm.log").read_text()
    (used,) = re.findall(r"osm_ucast_mgr_process: (\S+) tables configured on all switches", log)
    return Routed(used, folder / "opensm-lfts.dump", log)


def options(engine: str, network: Network, folder: Path) -> list[str]:
    """What an engine needs to be told."""
    if engine == "updn":
        # Roots: the top of a tree, whose routers have no neighbour with terminals; elsewhere a router.
        graph = network.to_networkx()
        bare = {router for router in graph if not graph.nodes[router]["terminals"]}
        roots = sorted(router for router in bare if bare.issuperset(graph[router])) or [0]
        (folder / "roots").write_text("".join(f"0x{0x1000_0000_0000 + 16 * router:x}\n" for router in roots))
        return ["-a", str(folder / "roots")]
    if engine == "torus-2QoS":
        guid = {router: f"0x{0x1000_0000_0000 + 16 * router:x}" for router in (0, 1, 3, 4, 12, 16, 48)}
        (folder / "torus.conf").write_text(
            "torus 4 4 4\n"
            f"xp_link {guid[0]} {guid[1]}\nyp_link {guid[0]} {guid[4]}\nzp_link {guid[0]} {guid[16]}\n"
            f"xm_link {guid[0]} {guid[3]}\nym_link {guid[0]} {guid[12]}\nzm_link {guid[0]} {guid[48]}\n"
        )
        return ["-Q", "--torus_config", str(folder / "torus.conf")]
    return []


def is_acyclic(network: Network, routing: str) -> bool:
    """Whether no packets that follow tables wait for each other in a circle on one lane: every way, one by one."""
    edges = [tuple(map(int, line.split(",")[:4])) for line in network.text("csv")[0].splitlines()[1:]]
    peer = {(a, port): b for a, port, b, _ in edges} | {(b, port): a for a, _, b, port in edges}
    rows = _core.Routing(network.core, routing).forwarding_text("csv").splitlines()[1:]
    port_of = {(at, to): port for at, to, port in (map(int, row.split(",")) for row in rows)}
    graph = network.to_networkx()
    home = [router for router in graph for _ in range(graph.nodes[router]["terminals"])]
    waits = nx.DiGraph()
    for source in set(home):
        for to, target in enumerate(home):
            way, at = [], source
            while at != target:
                way.append((at, port_of[at, to]))
                at = peer[way[-1]]
            nx.add_path(waits, way)
    return nx.is_directed_acyclic_graph(waits)


@pytest.mark.parametrize("spec", NETWORKS)
def test_engines_tables_are_read_proved_and_simulated(spec: str, tmp_path: Path) -> None:
    network = Network(spec)
    settings = {"warmup": 500, "measure": 1000, "vcs": 8, "unsafe": True}
    rows = []
    for engine in ENGINES:
        routed = route(network, engine, tmp_path / engine, *options(engine, network, tmp_path))
        falls_back = FITS.get(engine, spec) != spec
        assert (routed.engine != engine) == falls_back, f"{engine} became {routed.engine}: {routed.log[-2000:]}"
        name = f"table:{routed.dump}"
        proof = network.verify(name)
        assert proof["unserved_pairs"] == 0
        assert proof["deadlock_free"] == (not proof["cycle"]) == is_acyclic(network, name)
        if spec == FAT_TREE and engine in ("ftree", "updn"):
            assert proof["deadlock_free"]
        (point,) = network.simulate(name, "uniform", 0.2, **settings).points.values()
        rows.append((engine + (f" → {routed.engine}" if falls_back else ""), proof, point))
    for ours in ("lash", "dfsssp"):
        (point,) = network.simulate(ours, "uniform", 0.2, **settings | {"vcs": 16}).points.values()
        rows.append((f"our {ours}", network.verify(ours), point))
    print(f"\n{spec}: engine, deadlock free on one lane, hops, latency at load 0.2")
    for name, proof, point in rows:
        print(f"  {name:22} {proof['deadlock_free']!s:6} {point.hops:.3f} {point.latency_cycles:.2f}")


def test_our_tables_come_back_identical_within_five_minutes(tmp_path: Path) -> None:
    began = time.monotonic()
    for place, spec in enumerate(LARGE):
        network = Network(spec)
        ours, back = (tmp_path / f"{name}{place}.csv" for name in ("ours", "back"))
        tables = tmp_path / f"ours{place}.lft"
        tables.write_text(_core.Routing(network.core, "dfsssp").forwarding_text("lft"))
        ours.write_text(_core.Routing(network.core, "dfsssp").forwarding_text("csv"))
        routed = route(network, "file", tmp_path / f"file{place}", "-U", str(tables))
        assert routed.engine == "file"
        back.write_text(_core.Routing(network.core, f"table:{routed.dump}").forwarding_text("csv"))
        assert back.read_text() == ours.read_text(), spec
        again = route(network, "minhop", tmp_path / f"minhop{place}")
        assert network.verify(f"table:{again.dump}")["unserved_pairs"] == 0
    spent = time.monotonic() - began
    print(f"round trips of the three networks: {spent:.0f} s")
    assert spent < 300


def test_a_discovered_fabric_is_the_network_and_its_tables_fit(tmp_path: Path) -> None:
    network = Network("mesh:3x3,p=2")
    (folder := tmp_path / "fabric").mkdir()
    network.write(folder / "fabric.ibnet")
    with fabric(folder / "fabric.ibnet", folder) as environment:
        found = subprocess.run(["ibnetdiscover"], env=environment, capture_output=True, text=True, check=True).stdout
    (tmp_path / "found.ibnet").write_text(found)
    same = Network(f"file:{tmp_path / 'found.ibnet'}")
    ours, theirs = network.facts(), same.facts()
    for fact in ("terminals", "routers", "radix", "links", "diameter", "average_hops", "bisection_links"):
        assert theirs[fact] == ours[fact]
    routed = route(network, "dfsssp", tmp_path / "dfsssp")
    proofs = [
        json.dumps({**each.verify(f"table:{routed.dump}"), "spec": "", "cycle": [], "source_sha256": ""})
        for each in (network, same)
    ]
    assert json.loads(proofs[0])["dependencies"] == json.loads(proofs[1])["dependencies"]


def test_tables_of_another_network_name_the_first_port_that_does_not_fit(tmp_path: Path) -> None:
    routed = route(Network("mesh:4x2,p=2"), "minhop", tmp_path / "mesh")
    with pytest.raises(TopoloomError, match=r"line \d+: port 5 of switch 'router 1'; router 1 has ports 1 to 4"):
        Network("mesh:2x4,p=2").verify(f"table:{routed.dump}")
    # Every port is there, but leads elsewhere.
    with pytest.raises(TopoloomError, match="packets from router 4 to terminal 0 go round in a circle"):
        Network("hypercube:3,p=2").verify(f"table:{routed.dump}")


def test_every_command_is_there() -> None:
    assert [name for name in ("opensm", "ibsim", "ibnetdiscover") if shutil.which(name) is None] == []
    assert UMAD.is_file()
