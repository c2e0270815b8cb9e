"""Files of graphs: read and written, held against networkx and against the formats' own rules."""

import hashlib
import json
import pickle
from collections import Counter

import networkx as nx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import topoloom
from harness.engine import TIMES
from topoloom import TopoloomError

FORMATS = {"graphml": "graphml", "csv": "csv", "edges": "edges", "anynet": "anynet", "metis": "graph", "graph6": "g6"}

SPECS = [
    "mesh:4x3,p=2",
    "torus:4x2,double=true",
    "hyperx:3x3,p=2,trunk=3",
    "fattree:k=2,levels=3",
    "dragonfly:a=4,h=2,p=2",
    "slimfly:q=5,p=3",
]


def links(network):
    """The links as pairs of routers, with how many there are."""
    return Counter((min(a, b), max(a, b)) for a, _, b, _, _ in network.edges())


def of_graph(graph):
    return Counter((min(a, b), max(a, b)) for a, b in graph.edges())


@st.composite
def graphs(draw, *, parallel=True, most=24):
    """A graph on 0, 1, …: any links but loops."""
    n = draw(st.integers(1, most))
    graph = nx.MultiGraph() if parallel else nx.Graph()
    graph.add_nodes_from(range(n))
    if n > 1:
        pair = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)).filter(lambda ends: ends[0] != ends[1])
        graph.add_edges_from(draw(st.lists(pair, max_size=60)))
    return graph


by_hypothesis = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


def read(tmp_path, text, ending="edges", **keys):
    path = tmp_path / f"graph.{ending}"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return topoloom.network(f"file:{path}", **keys)


# what is written is read again


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("name", ["graphml", "csv"])
def test_a_network_comes_back_from_a_file_port_by_port(spec, name, tmp_path):
    network = topoloom.Network(spec)
    path = tmp_path / f"network.{FORMATS[name]}"
    assert network.write(path, links={}) == []
    back = topoloom.Network(f"file:{path},latencies=class")
    assert back.edges() == network.edges()
    assert back.core.terminals_by_router() == network.core.terminals_by_router()


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("name", FORMATS)
def test_every_format_keeps_the_graph(spec, name, tmp_path):
    network = topoloom.Network(spec)
    path = tmp_path / f"network.{FORMATS[name]}"
    lost = network.write(path)
    back = topoloom.Network(f"file:{path}")
    if name == "graph6":
        assert set(links(back)) == set(links(network))
        assert bool(max(links(network).values()) > 1) == ("parallel links" in " ".join(lost))
    else:
        assert links(back) == links(network)
    facts, again = network.facts(), back.facts()
    keys = ["routers", "diameter", "average_distance", "component_sizes"]
    if "terminals" not in " ".join(lost):
        keys += ["terminals", "average_hops", "radix"] if name != "graph6" else []
    assert [again[key] for key in keys] == [facts[key] for key in keys]


def test_a_file_and_a_graph_of_a_program_simulate_alike(tmp_path):
    network = topoloom.Network("hyperx:4x3,p=2")
    network.write(tmp_path / "network.graphml")
    back = topoloom.Network(f"file:{tmp_path / 'network.graphml'}")
    options = {"routing": "val", "load": 0.2, "warmup": 200, "measure": 1000}
    given_graph = topoloom.Network.from_networkx(network.to_networkx())
    one, other = back.simulate(**options), given_graph.simulate(**options)
    assert one.points[0.2].model_dump(exclude=TIMES) == other.points[0.2].model_dump(exclude=TIMES)


@by_hypothesis
@given(graph=graphs())
def test_networkx_reads_the_graphml_that_we_write(graph, tmp_path):
    network = topoloom.Network.from_networkx(graph, p=2)
    network.write(tmp_path / "g.graphml")
    back = nx.read_graphml(tmp_path / "g.graphml", node_type=int)
    assert sorted(back) == sorted(graph)
    assert of_graph(back) == of_graph(graph)
    assert set(nx.get_node_attributes(back, "terminals").values()) == {2}
    assert back.graph["spec"] == network.spec


@by_hypothesis
@given(graph=graphs(), shuffle=st.randoms(use_true_random=False))
def test_we_read_the_graphml_that_networkx_writes(graph, shuffle, tmp_path):
    nodes = list(graph)
    shuffle.shuffle(nodes)
    shuffled = nx.MultiGraph()
    shuffled.add_nodes_from(nodes)
    shuffled.add_edges_from(graph.edges(), latency=3)
    for n in nodes:
        shuffled.nodes[n]["terminals"] = n % 3
    nx.write_graphml(shuffled, tmp_path / "g.graphml")
    network = topoloom.Network(f"file:{tmp_path / 'g.graphml'}")
    assert links(network) == of_graph(graph)
    terminals = [n % 3 for n in range(len(nodes))]
    assert network.core.terminals_by_router() == (terminals if any(terminals) else [1] * len(nodes))
    assert set(network.core.own_latencies()) <= {3}


@by_hypothesis
@given(graph=graphs(parallel=False, most=70))
def test_graph6_is_that_of_networkx(graph, tmp_path):
    topoloom.Network.from_networkx(graph).write(tmp_path / "g.g6")
    assert (tmp_path / "g.g6").read_bytes() == nx.to_graph6_bytes(graph, header=False)
    for header in (False, True):
        nx.write_graph6(graph, tmp_path / "h.g6", header=header)
        assert links(topoloom.Network(f"file:{tmp_path / 'h.g6'}")) == of_graph(graph)


@by_hypothesis
@given(graph=graphs())
def test_edge_lists_are_those_of_networkx(graph, tmp_path):
    network = topoloom.Network.from_networkx(graph)
    network.write(tmp_path / "g.edges")
    ours = nx.read_edgelist(tmp_path / "g.edges", create_using=nx.MultiGraph, nodetype=int)
    assert of_graph(ours) == of_graph(graph)
    assert links(topoloom.Network(f"file:{tmp_path / 'g.edges'}")) == of_graph(graph)
    if graph.number_of_edges():
        for data in (True, False):
            nx.write_edgelist(graph, tmp_path / "h.edgelist", data=data)
            back = topoloom.Network(f"file:{tmp_path / 'h.edgelist'}")
            nodes = sorted({node for edge in graph.edges() for node in edge})
            place = {node: place for place, node in enumerate(nodes)}
            assert links(back) == of_graph(nx.relabel_nodes(nx.MultiGraph(graph.edges()), place))


@by_hypothesis
@given(graph=graphs())
def test_metis_files_follow_the_rules_of_the_manual(graph, tmp_path):
    network = topoloom.Network.from_networkx(graph, p=3)
    network.write(tmp_path / "g.graph")
    head, *rows = (tmp_path / "g.graph").read_text().splitlines()
    n, m, fmt = head.split()
    simple = nx.Graph(graph)
    assert (int(n), int(m)) == (len(graph), simple.number_of_edges())
    assert fmt in {"010", "011"}
    step = 2 if fmt == "011" else 1
    for node, row in enumerate(rows):
        weight, *fields = map(int, row.split())
        assert weight == 3
        assert sorted(fields[::step]) == sorted(peer + 1 for peer in simple[node])
        if step == 2:
            assert fields[1::2] == [graph.number_of_edges(node, peer - 1) for peer in fields[::2]]
    back = topoloom.Network(f"file:{tmp_path / 'g.graph'}")
    assert links(back) == of_graph(graph)
    assert back.num_terminals == 3 * len(graph)


@by_hypothesis
@given(graph=graphs())
def test_anynet_comes_back(graph, tmp_path):
    topoloom.Network.from_networkx(graph, p=2).write(tmp_path / "g.anynet")
    text = (tmp_path / "g.anynet").read_text()
    assert Counter(text.split())["node"] == 2 * len(graph)
    assert Counter(text.split())["router"] == len(graph) + graph.number_of_edges()
    back = topoloom.Network(f"file:{tmp_path / 'g.anynet'}")
    assert links(back) == of_graph(graph)


# what files may say


def test_the_anynet_of_the_manual(tmp_path):
    text = "router 0 node 0 node 1 node 2 router 1 15\nrouter 1 node 3 node 4 node 5 router 0\n\n"
    network = read(tmp_path, text, "anynet")
    assert (network.num_routers, network.num_terminals, network.edges()) == (2, 6, [(0, 3, 1, 3, "local")])
    assert network.core.own_latencies() == [15]
    swapped = read(tmp_path, "node 1 router 0\nnode 0 router 1\nrouter 1 router 0 router 0\n", "anynet")
    homes = nx.get_node_attributes(swapped.to_networkx(), "terminals")
    assert (homes, swapped.facts()["links"]) == ({0: 1, 1: 1}, 2)


def test_latencies_of_a_file_are_kept_by_the_engine(tmp_path):
    def latency(network, **options):
        curve = network.simulate(load=0.01, traffic="neighbor", warmup=100, measure=5000, **options)
        return curve.points[0.01].latency_cycles

    path = read(tmp_path, "0 1 1\n")
    slow = read(tmp_path, "0 1 11\n")
    assert latency(slow) == pytest.approx(latency(path) + 10, abs=0.3)
    by_class = read(tmp_path, "0 1 1\n", latencies="class")
    assert latency(by_class, links={"local": 11}) == pytest.approx(latency(slow), abs=1e-9)
    with pytest.raises(TopoloomError, match=r"1 local links latencies of their own.*latencies=class"):
        slow.simulate(load=0.1, links={"local": 3})


def test_names_are_kept(tmp_path):
    graph = nx.Graph([("spine", "leaf <1>"), ("spine", 'leaf "2" & co')])
    nx.write_graphml(graph, tmp_path / "g.graphml")
    network = topoloom.Network(f"file:{tmp_path / 'g.graphml'}")
    assert nx.get_node_attributes(network.to_networkx(), "name") == dict(enumerate(graph))
    network.write(tmp_path / "h.graphml")
    assert sorted(nx.read_graphml(tmp_path / "h.graphml")) == sorted(graph)


def test_numbers_with_gaps_count_in_their_order(tmp_path):
    network = read(tmp_path, "30 7\n7 100\n")
    assert links(network) == Counter({(0, 1): 1, (0, 2): 1})
    assert network.notes == ["the routers 7 to 100 are numbered from 0 to 2 in their order"]
    assert nx.get_node_attributes(network.to_networkx(), "name") == {0: "7", 1: "30", 2: "100"}


def test_terminals_of_their_own_in_graphml(tmp_path):
    graph = nx.Graph()
    graph.add_node("a", kind="switch")
    for host in ("h1", "h2", "h3"):
        graph.add_edge("a" if host != "h2" else "b", host)
        graph.nodes[host]["kind"] = "host"
    graph.add_edge("a", "b")
    nx.write_graphml(graph, tmp_path / "g.graphml")
    for network in (topoloom.Network(f"file:{tmp_path / 'g.graphml'}"), topoloom.Network.from_networkx(graph)):
        assert network.core.terminals_by_router() == [2, 1]
        assert links(network) == Counter({(0, 1): 1})


def test_p_stands_for_the_terminals_of_the_file(tmp_path):
    text = "router 0 node 0 router 1\nrouter 1\n"
    assert read(tmp_path, text, "anynet").core.terminals_by_router() == [1, 0]
    network = read(tmp_path, text, "anynet", p=2)
    assert network.core.terminals_by_router() == [2, 2]
    assert network.notes == ["p=2 stands for the 1 terminal of the source"]


def test_terminals_on_no_router_are_one_on_each_and_that_is_said():
    graph = nx.path_graph(3)
    assert topoloom.Network.from_networkx(graph).notes == []
    nx.set_node_attributes(graph, 0, "terminals")
    network = topoloom.Network.from_networkx(graph)
    assert network.core.terminals_by_router() == [1, 1, 1]
    assert network.notes == ["the source gives no router a terminal; each has one"]
    assert topoloom.Network.from_networkx(graph, p=2).notes == []
    graph.nodes[1]["terminals"] = 10**12
    with pytest.raises(
        TopoloomError, match="1: terminals is 1000000000000; it must be a whole number from 0 to 4294967295"
    ):
        topoloom.Network.from_networkx(graph)


def test_a_graph_in_many_pieces_tells_the_largest(topoloom):
    outcome = topoloom("show", "mesh:4x3", "--fail", "links=100%")
    assert "12 components of 1, 1, 1, 1, 1, 1, 1, 1 routers, and 4 no larger" in outcome.err


def test_spreadsheets_leave_columns_without_names(tmp_path):
    network = read(tmp_path, "\ufeffSwitch A,switch b,,\nx,y,,\n,,,\ny,z,,\n", "csv")
    assert (network.num_routers, len(network.edges()), network.notes) == (3, 2, [])


def test_tables_may_name_their_columns_otherwise(tmp_path):
    network = read(tmp_path, "Source,Target,Weight,latency\nx,y,3,7\ny,z,1,\n", "csv")
    assert network.core.own_latencies() == [7, None]
    assert "columns that were ignored: Weight" in network.notes


def test_parallel_links_are_kept_and_said(topoloom, tmp_path):
    path = tmp_path / "g.edges"
    path.write_text("0 1\n1 2\n1 0\n")
    outcome = topoloom("show", f"file:{path}", "--json")
    (facts,) = outcome.json()
    assert facts["links"] == 3
    assert "1 pair of routers is linked more than once, by 2 links in all" in facts["notes"][0]
    assert "line 3" in facts["notes"][0]
    assert facts["notes"][0] in outcome.err


def test_results_say_which_file_they_are_of(topoloom, tmp_path):
    path = tmp_path / "g.edges"
    path.write_text("0 1\n1 2\n2 0\n")
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    run = ["--load", "0.1", "--warmup", "10", "--measure", "100", "--json"]
    assert topoloom("show", f"file:{path}", "--json").json()[0]["source_sha256"] == sha256
    assert topoloom("simulate", f"file:{path}", *run).json()["source_sha256"] == sha256
    assert topoloom("verify", f"file:{path}", "--json").json()["source_sha256"] == sha256
    assert "source_sha256" not in topoloom("simulate", "mesh:2x2", *run).json()


def test_directed_graphs(tmp_path):
    both = nx.DiGraph([(0, 1), (1, 0), (1, 2), (2, 1)])
    one_way = nx.DiGraph([(0, 1), (1, 2)])
    mixed = nx.DiGraph([(0, 1), (1, 0), (1, 2)])
    for graph in (both, one_way):
        nx.write_graphml(graph, tmp_path / "g.graphml")
        for network in (topoloom.Network(f"file:{tmp_path / 'g.graphml'}"), topoloom.Network.from_networkx(graph)):
            assert links(network) == Counter({(0, 1): 1, (1, 2): 1})
            assert bool(network.notes) == (graph is one_way)
    nx.write_graphml(mixed, tmp_path / "g.graphml")
    with pytest.raises(TopoloomError, match="between '1' and '2' has a reverse"):
        topoloom.Network(f"file:{tmp_path / 'g.graphml'}")
    with pytest.raises(TopoloomError, match="between '1' and '2' has a reverse"):
        topoloom.Network.from_networkx(mixed)


# graphs of a program


def test_a_graph_that_was_given_works_as_any_network():
    graph = nx.petersen_graph()
    network = topoloom.Network.from_networkx(graph, p=2)
    assert network.family == "networkx"
    assert network.spec.startswith("networkx:Petersen-Graph,sha256=")
    facts = network.facts()
    assert (facts["terminals"], facts["diameter"], facts["spec"]) == (20, 2, network.spec)
    assert len(facts["source_sha256"]) == 64
    assert network.verify("min")["deadlock_free"]
    comparison = topoloom.compare([network, "mesh:3x3"], ["min"], load=0.1, warmup=100, measure=500)
    assert {curve.spec for curve in comparison.curves} == {network.spec, "mesh:3x3"}
    json.dumps(comparison.to_dict(), allow_nan=False)
    with pytest.raises(TopoloomError, match="no spec builds again"):
        topoloom.Network(network.spec)


def test_networks_travel_to_other_processes():
    for network in (
        topoloom.Network.from_networkx(nx.petersen_graph()),
        topoloom.Network.from_edges([("a", "b"), ("b", "c")], p=3),
        topoloom.Network("mesh:3x3"),
    ):
        back = pickle.loads(pickle.dumps(network))
        assert (back.spec, back.edges(), back.num_terminals) == (network.spec, network.edges(), network.num_terminals)


@by_hypothesis
@given(graph=graphs())
def test_to_networkx_and_back(graph):
    network = topoloom.Network.from_networkx(graph, p=2)
    back = topoloom.Network.from_networkx(network.to_networkx())
    assert back.edges() == network.edges()
    assert back.core.terminals_by_router() == [2] * len(graph)


GIVEN_MISTAKES = [
    (nx.Graph(), "no routers"),
    (nx.Graph([(0, 0)]), "linked to itself"),
    (nx.Graph([("1", 1)]), "two nodes are called '1'"),
    (nx.Graph([(0, 1, {"latency": 0.5})]), "latency is 0.5"),
    (nx.Graph([(0, 1, {"latency": 99999})]), "latency is 99999"),
    (nx.Graph([(0, 1, {"link_class": "lokal"})]), "did you mean 'local'"),
    (nx.Graph([(0, 1, {"link_class": "terminal"})]), "unknown class"),
]


@pytest.mark.parametrize(("graph", "told"), GIVEN_MISTAKES, ids=[told for _, told in GIVEN_MISTAKES])
def test_mistakes_in_a_graph_that_is_given(graph, told):
    with pytest.raises(TopoloomError, match=told):
        topoloom.Network.from_networkx(graph)


# what is no graph


def xml(*inside):
    return f'<graphml xmlns="http://graphml.graphdrawing.org/xmlns">{"".join(inside)}</graphml>'


A = '<node id="a"/>'
TERMINALS = '<key id="t" for="node" attr.name="terminals"/><key id="k" for="node" attr.name="kind"/>'

BAD_FILES = [
    # anything
    ("edges", "", "empty"),
    ("graphml", " \n", "empty"),
    ("edges", b"\xff\xfe0 1", "no text in UTF-8"),
    ("csv", b"router_a,router_b\n0,\xff\n", "line 2: this is no text"),
    ("weird", "0 1", "ending of"),
    # edge lists
    ("edges", "0 1\n1 1\n", "line 2: router '1' is linked to itself"),
    ("edges", "0 1\n1\n2 3 4 5 6\n", "line 3: 5 fields"),
    ("edges", "0 1 lokal\n", "line 1: unknown class of links 'lokal' (did you mean 'local'"),
    ("edges", "0 1 0.5\n", "line 1: the latency is '0.5'"),
    ("edges", "0 1 0\n", "line 1: a latency is 0"),
    ("edges", "0 1 {'latency: 5}\n", "no dictionary"),
    ("edges", "a\nb\n", "no line holds a link"),
    ("edges", "<graphml>\n", "line 1: '<graphml>' is no router's name"),
    ("edges", '{"nodes": []}', "line 1"),
    ("edges", "0 1 99999999999\n", "latency is '99999999999'"),
    # tables
    ("csv", "router_a,router_b\n0,1,2\n", "line 2: 3 fields"),
    ("csv", "a,1,x,b,1,x\n", "line 1: 6 fields stand here; a line is like '0 1 local 5', or the first one of a table"),
    ("csv", "router_a,router_b,class\n0,1,x\n", "line 2: unknown class"),
    ("csv", "router_a,port_a,router_b,port_b\n0,1,1,1\n0,1,2,1\n", "line 3: port 1 of router '0' has a link already"),
    ("csv", "router_a,port_a,router_b,port_b\n0,-1,1,1\n", "port_a is '-1'"),
    ("csv", "router_a,port_a,router_b,port_b\n0,4000000000,1,4000000000\n", "line 2: port_a is 4000000000; the"),
    ("csv", "router_a,port_a,router_b,port_b\n0,1,1,2\n0,2,1,65535\n", "line 3: port_b is 65535; the largest"),
    ("csv", "router_a,router_b\n0,\n", "no name"),
    ("csv", "\n\nrouter_a,router_b\n0,1\n\n# so\n0,1,2\n", "line 7: 3 fields"),
    ("csv", "router_a,router_b,class\n\n\n0,1,x\n", "line 4: unknown class"),
    ("csv", "\n\nsource,port_a,target,port_b\n0,1,1,1\n\n0,1,2,1\n", "line 6: port 1 of router '0' has a link already"),
    ("csv", "\nrouter_a,router_b,class,class\n", "line 2: the column 'class' is listed twice"),
    ("csv", "switch_a,port_a,switch_b,port_b\n0,1,1,1\n0,x,2,1\n", "line 3: port_a is 'x'; it must be a whole number"),
    ("csv", "switch_a,port_a,switch_b,port_b\n0,x,1,x\n0,x,2,x\n", "line 3: port x of router '0' has a link already"),
    ("csv", "switch_a,port_a,switch_b,port_b\n0,x,1,x\n0,,2,x\n", "line 3: port_a is missing"),
    ("csv", "switch_a,switch_b,terminal\n0,1,T\n", "line 2: the cable of terminal 'T' leads to two routers"),
    # anynet
    ("anynet", "router 0 node 0\nrouter 1 node 0\n", "line 2: node 0 is attached to router 1 and to router 0"),
    ("anynet", "router 0 router 1 5\nrouter 1 router 0 6\n", "line 2: from router 1 to router 0 the latency is 6"),
    ("anynet", "router 0 router 0\n", "itself"),
    ("anynet", "router 0 switch 1\n", "'switch' stands where"),
    ("anynet", "router 0 router\n", "missing"),
    ("anynet", "router zero\n", "'zero'"),
    ("anynet", "node 0 node 1\n", "line 1: node 0 is connected to node 1"),
    ("anynet", "node 0\n", "is attached to no router"),
    ("anynet", "hello world\n", "'hello'"),
    # METIS
    ("graph", "3\n", "begins with"),
    ("graph", "2 1\n2\n", "2 vertices are promised, and 1 lines follow"),
    ("graph", "2 2\n2\n1\n", "2 edges are promised, and 1 are listed"),
    ("graph", "2 1\n2\n\n", "line 2: vertex 1 lists 2, but not vice versa"),
    ("graph", "2 1\n3\n1\n", "line 2: a neighbour is 3"),
    ("graph", "2 1\n1\n1\n", "vertex 1 lists itself"),
    ("graph", "2 1 7\n2\n1\n", "fmt is '7'"),
    ("graph", "2 1 011 2\n1 1 2 1\n1 1 1 1\n", "ncon is '2'"),
    ("graph", "2 1 001\n2 1\n1 2\n", "weighs"),
    ("graph", "2 1 001\n2\n1\n", "weight of the last edge is missing"),
    ("graph", "999999999999 1\n2\n", "999999999999 vertices are promised"),
    # graph6
    ("g6", "C", "4 nodes need 1 bytes"),
    ("g6", "C~~", "there are 2"),
    ("g6", "B\x7f", "byte 127"),
    ("g6", ":An", "sparse6"),
    ("g6", "&AG", "digraph6"),
    ("g6", "C~\nC~\n", "second graph"),
    ("g6", "~~?????~", "need"),
    ("g6", "~", "cut off"),
    ("g6", "?", "no routers"),
    ("g6", "A~", "padding"),
    # GraphML
    ("graphml", "0 1\n", "no XML"),
    ("graphml", "<graphml><graph>", "no XML"),
    ("graphml", "<svg/>", "<svg>"),
    ("graphml", xml(""), "no <graph>"),
    ("graphml", xml("<graph/>"), "no routers"),
    ("graphml", xml("<graph/><graph/>"), "second <graph>"),
    ("graphml", xml(f"<graph>\n{A}\n{A}</graph>"), "line 3: node 'a' stands here a second"),
    ("graphml", xml("<graph><node/></graph>"), "no id"),
    ("graphml", xml(f'<graph>{A}\n<edge source="a" target="b"/></graph>'), "line 2: an edge leads to 'b'"),
    ("graphml", xml(f'<graph>{A}\n<edge source="a" target="a"/></graph>'), "line 2: router 'a'"),
    ("graphml", xml('<graph><node id="a"/><hyperedge/></graph>'), "hyperedge"),
    ("graphml", xml(TERMINALS, '<graph><node id="b"><data key="t">-1</data></node></graph>'), "is '-1'"),
    ("graphml", xml(TERMINALS, '<graph><node id="b"><data key="t">99999999999</data></node></graph>'),
     "99999999999 terminals"),
    ("graphml", xml(TERMINALS, f'<graph>{A}\n<node id="h"><data key="k">host</data></node></graph>'),
     "line 2: terminal 'h' is attached to no router"),
    ("graphml", "<a>" * 100_000, "nested more than"),
    ("graphml", '<!DOCTYPE g [<!ENTITY a "b">]><graphml>&a;</graphml>', "no XML"),
]  # fmt: skip


@pytest.mark.parametrize(("ending", "text", "told"), BAD_FILES, ids=range(len(BAD_FILES)))
def test_what_is_no_graph_is_refused_in_a_sentence(topoloom, tmp_path, ending, text, told):
    path = tmp_path / f"bad.{ending}"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    outcome = topoloom("show", f"file:{path}")
    assert outcome.status == 2
    assert outcome.out == ""
    assert outcome.err.count("\n") == 1
    assert f"bad.{ending}" in outcome.err
    assert told in outcome.err


# graphs that are not connected


@pytest.fixture
def islands(tmp_path):
    path = tmp_path / "islands.edges"
    path.write_text("0 1\n1 2\n3 4\n5\n")
    return f"file:{path}"


def test_show_reports_a_disconnected_graph(topoloom, islands):
    (facts,) = topoloom("show", islands, "--json").json()
    assert (facts["connected"], facts["component_sizes"]) == (False, [3, 2, 1])
    for key in ("diameter", "average_distance", "average_hops", "moore_ratio"):
        assert facts[key] is None
    assert (facts["bisection_links"], facts["bisection_is"]) == (0, "exact")
    table = topoloom("show", islands)
    rows = [line.split() for line in table.out.splitlines()]
    assert ["Diameter", "hops", "∞"] in rows
    assert "3 components of 3, 2, 1 routers" in table.err


@pytest.mark.parametrize("command", ["simulate", "saturation", "verify", "compare"])
def test_commands_that_simulate_refuse_a_disconnected_graph(topoloom, islands, command):
    outcome = topoloom(command, islands, "--routing", "min")
    assert outcome.status == 2
    assert "3 components of 3, 2, 1 routers" in outcome.err


# export


def test_export_writes_to_standard_output(topoloom):
    outcome = topoloom("export", "mesh:3", "--format", "anynet", "--links", "local=7")
    assert outcome.out == "router 0 node 0 router 1 7\nrouter 1 node 1 router 2 7\nrouter 2 node 2\n"
    assert outcome.err == ""
    outcome = topoloom("export", "mesh:3,p=2", "--format", "graph6")
    assert outcome.out == "Bg\n"
    assert "terminals (read it with p=2)" in outcome.err


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("export mesh:3", "--format or --out"),
        ("export mesh:3 --format graphlm", "did you mean 'graphml'"),
        ("export mesh:3 --out links.doc", "selects no format"),
        ("export mesh:3 --out /nonexistent/g.graphml", "/nonexistent/g.graphml"),
        ("show file:/nonexistent/g.graphml", "cannot read '/nonexistent/g.graphml'"),
        ("show file:/dev/zero,format=edges", "no regular file"),
        ("show file:", "path is missing"),
        (
            "show file:g.graphml,format=gexf",
            "unknown format 'gexf'; there are: graphml, csv, edges, anynet, metis, graph6, ibsim\n",
        ),
        ("show file:g.doc", "ibsim .topo, or name the format: graphml, csv, edges, anynet, metis, graph6, ibsim\n"),
        ("show file:g.graphml,q=2", "unknown key of file 'q'"),
        ("show networkx:petersen", "no spec builds again"),
    ],
)
def test_mistakes_of_export_and_specs(topoloom, line, told):
    outcome = topoloom(*line.split())
    assert (outcome.status, outcome.out) == (2, "")
    assert told in outcome.err


def test_the_formats_are_listed(topoloom):
    listed = {item["name"] for item in topoloom("list", "formats", "--json").json()}
    assert listed == set(FORMATS) | {
        "dot",
        "sst",
        "booksim",
        "ibsim",
        "slurm",
        "slurm-yaml",
        "caminos",
        "caminos-graph",
        "simgrid",
    }
