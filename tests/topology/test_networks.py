"""Facts and graphs of networks, from the command line and from Python."""

import csv

import networkx as nx
import pytest

import topoloom

FACT_KEYS = {
    "spec", "family", "terminals", "routers", "radix", "network_radix", "links", "terminal_links", "diameter",
    "average_distance", "average_hops", "bisection_links", "bisection_is", "bisection_ratio", "beta", "moore_ratio",
    "cost_usd", "power_w",
}  # fmt: skip

SPECS = [
    "mesh:4x3,p=2",
    "torus:5x2",
    "hyperx:4x4,p=4",
    "fattree:k=3,levels=3",
    "dragonfly:a=4,h=2,p=2",
    "slimfly:q=5,p=3",
    "flex:3x3x3,p=2",
]


def test_show_gives_every_fact_of_every_network(topoloom):
    shown = topoloom("show", *SPECS, "--json").json()
    assert [facts["spec"] for facts in shown] == SPECS
    for facts in shown:
        assert facts.keys() >= FACT_KEYS
        assert facts["bisection_is"] in {"exact", "upper-bound"}
        assert facts["cost_usd"] > 0
        assert facts["power_w"] == pytest.approx(2.8 * (2 * facts["links"] + facts["terminal_links"]))


@pytest.mark.parametrize("spec", SPECS)
def test_the_facts_are_those_of_networkx(spec):
    network = topoloom.network(spec)
    graph, facts = network.to_networkx(), network.facts()
    assert (graph.number_of_nodes(), graph.number_of_edges()) == (facts["routers"], facts["links"])
    assert max(degree for _, degree in graph.degree()) == facts["network_radix"]
    assert nx.diameter(graph) == facts["diameter"]
    assert nx.average_shortest_path_length(graph) == pytest.approx(facts["average_distance"])


def test_the_bisection_of_a_square_mesh():
    facts = topoloom.network("mesh:6x6").facts()
    assert facts["bisection_links"] == 6
    assert facts["bisection_ratio"] == pytest.approx(6 / 60)
    assert facts["beta"] == pytest.approx(6 / 18)


def test_edges_are_written_once_with_their_ports(topoloom, tmp_path):
    path = tmp_path / "edges.csv"
    arguments = ["show", "dragonfly:a=4,h=2,p=2", "--edges", str(path), "--links", "global=100"]
    assert topoloom(*arguments).status == 0
    rows = list(csv.DictReader(path.open()))
    assert list(rows[0]) == ["router_a", "port_a", "router_b", "port_b", "class", "latency"]
    assert len(rows) == 9 * 6 + 36
    assert {(row["class"], row["latency"]) for row in rows} == {("local", "1"), ("global", "100")}
    ends = [(row[f"router_{end}"], row[f"port_{end}"]) for row in rows for end in "ab"]
    assert len(ends) == len(set(ends)), "a port has one link"


def test_people_get_a_table(topoloom):
    lines = topoloom("show", "mesh:4x4", "hyperx:10x10,p=10").out.splitlines()
    assert lines[0].split() == ["mesh:4x4", "hyperx:10x10,p=10"]
    assert ["Terminals", "16", "1,000"] in [line.split() for line in lines]


def test_keyword_arguments_are_the_keys_of_the_spec():
    assert topoloom.network("torus:2x4", p=3, double=True).spec == "torus:2x4,p=3,double=true"
    assert topoloom.network("slimfly", q=5).num_routers == 50


def test_list_names_everything_with_its_parameters(topoloom):
    families = {item["name"]: item for item in topoloom("list", "topologies", "--json").json()}
    assert families.keys() >= {"mesh", "torus", "hyperx", "fattree", "dragonfly", "slimfly", "flex"}
    assert {key["name"] for key in families["dragonfly"]["keys"]} >= {"a", "h", "p", "g", "arrangement"}
    routings = {item["name"] for item in topoloom("list", "routings", "--json").json()}
    assert routings >= {"dor", "min", "val", "ugal-l", "nca", "anca"}
    patterns = topoloom("list", "traffic").out
    assert "bit-complement" in patterns
    assert "random-permutation" in patterns


def test_every_example_of_a_family_works(topoloom, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    topoloom("export", "mesh:3x3", "--out", "cluster.graphml")
    for family in topoloom("list", "topologies", "--json").json():
        assert topoloom("show", family["example"], "--json").status == 0
