"""Layered shortest paths and routing tables: lash, dfsssp, CSV, OpenSM's dumps, NumPy; against networkx."""

from collections import Counter
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from oracles import graphs, routes
from topoloom import TopoloomError, _core
from topoloom.network.networks import Network

NETWORKS = ["torus:5", "torus:4x4", "mesh:4x3,p=2", "slimfly:q=5,p=2", "dragonfly:a=4,h=2,p=2", "fattree:k=2,levels=3",
            "hyperx:3x3,trunk=2", "flex:3x3x3"]  # fmt: skip


def minimal_tables(graph: graphs.Graph, *, to_terminals: bool) -> np.ndarray:
    """The first minimal port at each router towards each destination."""
    near = dict(nx.all_pairs_shortest_path_length(nx.Graph(graph.networkx())))
    homes = graph.homes if to_terminals else list(range(graph.routers))
    table = np.full((graph.routers, len(homes)), -1)
    for at in range(graph.routers):
        for column, home in enumerate(homes):
            for place, (peer, _) in enumerate(graph.links[at]):
                if at != home and near[peer][home] < near[at][home] and table[at, column] < 0:
                    table[at, column] = graph.port(at, place)
    return table


def paths_of(graph: graphs.Graph, table: np.ndarray, homes: list[int], layers: np.ndarray | None = None) -> dict:
    """The path of each (source router, column): hops as (router, port, class)."""
    found = {}
    for src in routes.sources(graph):
        for column, home in enumerate(homes):
            if graph.p[home] == 0:
                continue
            at, hops = src, []
            while at != home:
                layer = 0 if layers is None else int(layers[src, column])
                hops.append((at, int(table[at, column]), layer))
                at = routes.end_of(graph, hops[-1])
            found[src, column] = tuple(hops)
    return found


def dependencies(paths: dict) -> nx.DiGraph:
    waits = nx.DiGraph()
    for path in paths.values():
        waits.add_nodes_from(path)
        nx.add_path(waits, path)
    return waits


@pytest.mark.parametrize("routing", ["lash", "dfsssp"])
@pytest.mark.parametrize("spec", NETWORKS)
def test_layers_have_no_cycle_and_paths_are_shortest(spec, routing, tmp_path):
    """The tables as the engine has computed them, walked here."""
    network = Network(spec)
    graph = graphs.build(spec)
    homes = graph.homes if routing == "dfsssp" else list(range(graph.routers))
    ports, layers = (np.array(matrix) for matrix in network.core.layered_tables(routing))
    paths = paths_of(graph, ports, homes, layers)
    near = dict(nx.all_pairs_shortest_path_length(nx.Graph(graph.networkx())))
    assert all(len(path) == near[src][homes[column]] for (src, column), path in paths.items())
    waits = dependencies(paths)
    assert nx.is_directed_acyclic_graph(waits)
    proof = network.verify(routing)
    assert proof["deadlock_free"]
    assert proof["unserved_pairs"] == 0
    used = {layer for path in paths.values() for *_, layer in path}
    assert proof["vcs_needed"] == len(used) == max(used, default=0) + 1
    assert (proof["channels"], proof["dependencies"]) == (waits.number_of_nodes(), waits.number_of_edges())
    # A layer less does not do: everything in one layer is cyclic exactly where there is more than one.
    merged = dependencies({key: tuple((*hop[:2], 0) for hop in path) for key, path in paths.items()})
    assert nx.is_directed_acyclic_graph(merged) == (len(used) == 1)


@pytest.mark.parametrize(
    ("spec", "most"), [("fattree:k=2,levels=3", 1), ("mesh:4x4", 2), ("torus:4x4", 3), ("slimfly:q=5", 3)]
)
def test_few_layers_are_enough(spec, most):
    for routing in ("lash", "dfsssp"):
        assert Network(spec).verify(routing)["vcs_needed"] <= most


def test_dfsssp_shares_parallel_ways_out():
    """Sixteen terminals of a leaf, seen from another: each of the four ways up carries four."""
    network = Network("fattree:k=4,levels=2")
    ports, _ = network.core.layered_tables("dfsssp")
    counts = Counter(Counter(row[:4])[port] for row in ports[1:4] for port in set(row[:4]))
    assert counts == {1: 12}


def write_csv(path: Path, table: np.ndarray, header: str = "at,destination,port") -> Path:
    rows = [f"{at},{to},{port}" for (at, to), port in np.ndenumerate(table) if port >= 0]
    path.write_text("\n".join([header, *rows]) + "\n")
    return path


def lft(graph: graphs.Graph, table: np.ndarray, names: bool) -> str:
    """What OpenSM's dump_lfts would print; LIDs of adapters stand from 100 down, so that only names or order tell."""
    lids = {terminal: 100 + terminal for terminal in range(len(graph.homes))}
    lines = []
    for at in range(graph.routers):
        called = f"switch-{at} of rack" if names else "MF0;sw:IB"
        lines += [f"Unicast lids [0x0-0xff] of switch Lid {at + 1} guid 0x{at:016x} ({called}):",
                  "  Lid  Out   Destination", "       Port     Info"]  # fmt: skip
        lines += [f"0x{to + 1:04x} 001 : (Switch portguid 0x{to:016x}: 'sw')" for to in range(graph.routers)]
        for terminal, lid in lids.items():
            home = graph.homes[terminal]
            port = (
                table[at, terminal]
                if at != home
                else [t for t, h in enumerate(graph.homes) if h == home].index(terminal)
            )
            host = f"host {terminal} mlx5_0" if names else "HCA"
            lines.append(f"0x{lid:04x} {port + 1:03d} : (Channel Adapter portguid 0x{terminal:016x}: '{host}')")
        lines.append(f"{len(lids) + graph.routers} valid lids dumped")
    return "\n".join(lines) + "\n"


def opensm_dump(graph: graphs.Graph, table: np.ndarray, lmc: int = 0) -> str:
    """What OpenSM itself dumps: its own separators, names that count from 1, adapters without numbers whose LIDs run
    down, 2^lmc of them each, and nothing to go by but the port at which their switch has them."""
    lines, terminals = [], len(graph.homes)
    for at in range(graph.routers):
        lines.append(f"Unicast lids [0-999] of switch Lid {at + 1} guid 0x{at:016x} ('ibsw{at + 1}:SX6036/U1'):")
        lines += [
            f"0x{to + 1:04x} {int(to != at):03d} # Switch portguid 0x{to:016x}: 'sw'" for to in range(graph.routers)
        ]
        for lid in range(100, 100 + (terminals << lmc)):
            terminal = terminals - 1 - (lid - 100 >> lmc)
            home = graph.homes[terminal]
            place = [t for t, h in enumerate(graph.homes) if h == home].index(terminal)
            port = place if at == home else table[at, terminal]
            lines.append(f"0x{lid:04x} {port + 1:03d} # Channel Adapter portguid 0x{terminal:016x}: 'cn HCA-1'")
        lines += ["0x0300 001 # unknown node and type", "999 lids dumped"]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("spec", ["mesh:4x3,p=2", "fattree:k=2,levels=3", "torus:5"])
def test_a_table_is_what_it_says_in_every_format(spec, tmp_path):
    graph = graphs.build(spec)
    network = Network(spec)
    by_terminal = minimal_tables(graph, to_terminals=True)
    by_router = minimal_tables(graph, to_terminals=False)
    (tmp_path / "names.lft").write_text(lft(graph, by_terminal, names=True))
    (tmp_path / "order.lft").write_text(lft(graph, by_terminal, names=False))
    (tmp_path / "opensm-lfts.dump").write_text(opensm_dump(graph, by_terminal))
    (tmp_path / "lmc.dump").write_text(opensm_dump(graph, by_terminal, lmc=2))
    names = [
        f"table:{write_csv(tmp_path / 'terminals.csv', by_terminal)}",
        f"table:{write_csv(tmp_path / 'routers.csv', by_router, 'at,destination_router,port')}",
        f"table:{tmp_path / 'names.lft'}",
        f"table:{tmp_path / 'order.lft'}",
        f"table:{tmp_path / 'opensm-lfts.dump'}",
        f"table:{tmp_path / 'lmc.dump'}",
        network.routing_from_tables(by_terminal),
        network.routing_from_tables(by_router, destinations="routers"),
    ]
    waits = dependencies(paths_of(graph, by_router, list(range(graph.routers))))
    for name in names:
        proof = network.verify(name)
        assert proof["unserved_pairs"] == 0
        assert (proof["channels"], proof["dependencies"]) == (waits.number_of_nodes(), waits.number_of_edges()), name
        assert proof["deadlock_free"] == nx.is_directed_acyclic_graph(waits)
    hops = {
        network.simulate(name, load=0.05, warmup=200, measure=2000, unsafe=True).points[0.05].hops for name in names
    }
    assert len(hops) == 1


def test_terminals_of_one_router_may_have_ways_of_their_own():
    """Two terminals on each end of a square: one goes round by the left, the other by the right."""
    network = Network("torus:4,p=2")
    graph = graphs.build("torus:4,p=2")
    table = minimal_tables(graph, to_terminals=True)
    left, right = graph.ports_to(0, 3)[0], graph.ports_to(0, 1)[0]
    table[0, 4], table[0, 5] = left, right
    proof = network.verify(network.routing_from_tables(table))
    waits = dependencies(paths_of(graph, table, graph.homes))
    assert (proof["channels"], proof["dependencies"]) == (waits.number_of_nodes(), waits.number_of_edges())


def test_layers_of_ones_own_make_a_ring_safe():
    network, graph = Network("torus:5"), graphs.build("torus:5")
    table = minimal_tables(graph, to_terminals=False)
    # Two hops in either direction: cyclic in one layer.
    name = network.routing_from_tables(table, destinations="routers")
    assert not network.verify(name)["deadlock_free"]
    with pytest.raises(TopoloomError, match="can deadlock"):
        network.simulate(name, load=0.1)
    crosses = np.array([[int(abs(src - dst) > 2) for dst in range(5)] for src in range(5)])
    layered = network.routing_from_tables(table, layers=crosses, destinations="routers")
    proof = network.verify(layered)
    assert proof["deadlock_free"]
    assert proof["vcs_needed"] == 2
    assert network.simulate(layered, load=0.1, warmup=100, measure=1000).points[0.1].converged


def test_mistakes_in_tables(tmp_path):
    network, graph = Network("torus:4"), graphs.build("torus:4")
    good = minimal_tables(graph, to_terminals=False)

    def told(table, match, **more):
        with pytest.raises(TopoloomError, match=match):
            network.routing_from_tables(table, destinations="routers", **more)

    hole = good.copy()
    hole[1, 3] = -1
    told(hole, "router 1 has no port towards router 3")
    absent = good.copy()
    absent[2, 0] = 9
    told(absent, "router 2 sends to port 9 towards router 0; it has ports 0 to 2")
    terminal = good.copy()
    terminal[2, 0] = 0
    told(terminal, "where terminal 2 hangs")
    loop = good.copy()
    loop[0, 2], loop[1, 2] = graph.ports_to(0, 1)[0], graph.ports_to(1, 0)[0]
    told(loop, "round in a circle: router 0 → router 1 → router 0")
    told(good[:3], r"of shape \(3, 4\); there are 4 routers")
    told(good[:, :3], r"of shape \(4, 3\)")
    told(good.astype(float), "whole numbers")
    told([[1, 2], [1]], "rows differ in length")
    told(good, "the layer from router 0 to router 0 is 99", layers=np.full((4, 4), 99))
    with pytest.raises(TopoloomError, match="did you mean 'routers'"):
        network.routing_from_tables(good, destinations="router")

    def file_told(text, match):
        path = tmp_path / "table"
        path.write_text(text)
        with pytest.raises(TopoloomError, match=match):
            network.verify(f"table:{path}")

    file_told("at,to,port\n", "is not the header of a table")
    file_told("at,destination,port\n0,1\n", "line 2: '0,1' has 2 fields")
    file_told("at,destination,port\n0,9,1\n", "line 2: destination is '9'; it must be from 0 to 3")
    file_told("at,destination,port\n7,1,1\n", "line 2: at is '7'")
    file_told("at,destination,port\n0,1,1\n0,1,2\n", "line 3: router 0 has a port towards terminal 1 already")
    file_told("at,destination,port\n0,1,1\n", "has no port towards")
    text = lft(graph, minimal_tables(graph, to_terminals=True), names=True)
    file_told(text.replace("0x0064 002", "0x0064 009"), "port 9 of switch")
    file_told(text.replace("0x0064 001", "0x0064 002"), "which stands for router 0, where terminal 0 hangs at port 1")
    file_told(text.split("Unicast lids [0x0-0xff] of switch Lid 4")[0], "tables of 3 switches; torus:4 has 4")
    with pytest.raises(TopoloomError, match="No such file"):
        network.verify("table:absent.csv")
    with pytest.raises(TopoloomError, match="needs a FILE, as in table:FILE"):
        network.verify("table")
    assert _core.routings()


def test_a_table_for_another_network_is_refused():
    ring = Network("torus:4")
    name = ring.routing_from_tables(minimal_tables(graphs.build("torus:4"), to_terminals=False), destinations="routers")
    with pytest.raises(TopoloomError, match="stands for no table that this network holds"):
        Network("torus:5").verify(name)


def test_a_file_that_changes_is_proved_anew(tmp_path):
    """A proof is kept for the runs that follow; of the same name with other contents it says nothing."""
    network, graph = Network("torus:5"), graphs.build("torus:5")
    shortest = minimal_tables(graph, to_terminals=False)
    # Never over the link between routers 4 and 0: a line has no ring.
    line = shortest.copy()
    for at in range(5):
        for to in set(range(5)) - {at}:
            line[at, to] = graph.ports_to(at, at + (1 if to > at else -1))[0]
    file = tmp_path / "routes.csv"

    def write(table):
        rows = [f"{at},{to},{table[at, to]}" for at in range(5) for to in range(5) if at != to]
        file.write_text("\n".join(["at,destination_router,port", *rows]) + "\n")

    for table, safe in ((line, True), (shortest, False), (line, True), (shortest, False)):
        write(table)
        for load in (0.05, 0.1):
            if safe:
                assert network.simulate(f"table:{file}", load=load, warmup=50, measure=200).points[load].packets
            else:
                with pytest.raises(TopoloomError, match="can deadlock"):
                    network.simulate(f"table:{file}", load=load, warmup=50, measure=200)
