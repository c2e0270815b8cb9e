"""What is written and read back is the same network: facts, floor, routings. What a file says of itself is verified."""

import csv

import pytest

from topoloom import Network, TopoloomError
from topoloom.network.permutation import permute_list

FAMILIES = {
    "mesh": "mesh:4x3,p=2",
    "torus": "torus:4x3x2,p=2",
    "hypercube": "hypercube:4",
    "folded-hypercube": "folded-hypercube:4,p=2",
    "hyperx": "hyperx:4x4,p=4,tile=2x2,trunk=2",
    "fattree": "fattree:k=3,levels=3",
    "clos": "clos:radix=8,levels=3",
    "xgft": "xgft:down=3x2x2,up=2x2",
    "dragonfly": "dragonfly:a=4,h=2,p=2",
    "dragonfly-plus": "dragonfly-plus:leaf=2,spine=2,p=2,h=2",
    "slimfly": "slimfly:q=5,p=3",
    "flex": "flex:4x4x3,p=2",
    "galaxyfly": "galaxyfly:n=3,q=5,a=1,p=2",
    "nesttree": "nesttree:t=2,u=8,endpoints=64",
    "nestghc": "nestghc:t=2,u=8,endpoints=64,upper=2x4",
    "twin-torus": "twin-torus:4x4",
    "ring": "ring:24,degree=4,seed=2",
    "random-regular": "random-regular:24,degree=4,seed=2",
    "myriclos": "myriclos:256",
    "twisted-torus": "twisted-torus:2x4",
    "cayley": "cayley:7x3,turn=2,generators=1,7",
    "cascade": "cascade:columns=3,rows=2,trunk=2,p=2,g=3,pair=2",
    "rack-tree": "rack-tree:racks=3,leaf=2,p=2,upper=2,trunk=2,top=1,links=2",
    "rails": "rails:copies=2,fabric=(clos:radix=4,levels=2),join=(mesh:1,p=8),uplinks=2",
    "machine": "machine:abci-v,racks=1",
    "cluster": "cluster:hosts=4,host=v100-4,fabric=(clos:radix=4,levels=2,rate=100G)",
    "permuted": "permuted:two-cab(torus:6x6,p=2),cabinet=6,trials=2",
    "faulty": "faulty:links=10%,seed=2(torus:4x4,p=2)",
}
"""A network of every family but files."""

ENDINGS = {"graphml": True, "csv": False, "edges": True, "anynet": False, "graph": True, "g6": False, "ibnet": True}
"""The endings of files that are written and read, and whether the file has a place for the spec."""

OF_THE_FILE = {"spec", "source_sha256", "notes"}


def known(network):
    """What is to come back: all facts, the floor with every cable and price, the routings on offer."""
    facts = {key: value for key, value in network.facts().items() if key not in OF_THE_FILE}
    layout = {key: value for key, value in network.layout().to_dict().items() if key != "spec"}
    return {"facts": facts, "layout": layout, "routings": network.core.routings(), "family": network.family}


def written(network, tmp_path, ending, stated=True):
    path = tmp_path / f"network.{ending}"
    network.write(path)
    told = "" if ENDINGS[ending] or not stated else f",as=({network.spec})"
    return Network(f"file:{path}{told}")


def test_every_family_is_tried(topoloom):
    listed = {family["name"] for family in topoloom("list", "topologies", "--json").json()}
    assert listed == set(FAMILIES) | {"file"}


@pytest.mark.parametrize("spec", FAMILIES.values(), ids=FAMILIES)
def test_a_network_comes_back_from_every_format(tmp_path, spec):
    network = Network(spec)
    expected = known(network)
    parallel = len({frozenset((a, b)) for a, _, b, _, _ in network.edges()}) < len(network.edges())
    for ending, holds in ENDINGS.items():
        if ending == "g6" and parallel:
            continue  # a graph of graph6 is simple
        again = written(network, tmp_path, ending)
        assert known(again) == expected, ending
        assert again.core.written_as() == spec
        twice = written(again, tmp_path, ending)
        assert known(twice) == expected, ending
        if holds and ending != "ibnet":  # which has GUIDs for names
            shown = [again.text("graphml")[0], network.text("graphml")[0]]
            latencies = [text.replace('<data key="latency">1</data>', "") for text in shown]
            assert latencies[0] == latencies[1], "ids, ports, classes, terminals"


TRIMMED = [
    "cluster:hosts=8,host=hgx-h100,fabric=(clos:radix=16,levels=2,rate=400G),attach=rail",
    "cluster:hosts=7,host=mi300x,fabric=(clos:radix=32,levels=2,rate=400G),attach=plane,planes=4",
    "cluster:hosts=4,host=hgx-h100,fabric=(clos:radix=64,levels=3,rate=400G),attach=rail",
    "machine:gb200-superpod,racks=2",
]
"""Clusters that use a small part of the fabric that their spec names: 32 of 65,536 terminals in the third one."""


@pytest.mark.parametrize("spec", TRIMMED)
def test_trimmed_fabrics_come_back(tmp_path, spec):
    network = Network(spec)
    for ending in ("graphml", "csv"):
        assert known(written(network, tmp_path, ending)) == known(network), ending


def test_what_a_format_cannot_say_is_said_when_a_file_is_written(topoloom, tmp_path):
    for ending, holds in ENDINGS.items():
        outcome = topoloom("export", "fattree:k=2,levels=2", "--out", str(tmp_path / f"a.{ending}"))
        said = "cannot hold the family, its routings and its packaging; read it with as=(fattree:k=2,levels=2)"
        assert (said in outcome.err) != holds
    plain = written(Network("fattree:k=2,levels=2"), tmp_path, "csv", stated=False)
    assert "nca" not in plain.core.routings()
    assert plain.family == "file"


LAYOUTS = [
    "",
    "own",
    "cabinet=4,width=0.6,depth=2.1,overhead=4,inside=2",
    "cabinet=metis:4",
    "cabinet=fit,units=8,node-units=0.5",
    "cabinet=5,nodes=8,terminal=3",
    "cabinet=4,place=anneal,seed=3",
    "permutation,rows=2",
]


@pytest.mark.parametrize("rules", LAYOUTS)
@pytest.mark.parametrize(
    "spec", ["clos:radix=8,levels=3", "torus:4x3x2,p=2", "dragonfly:a=4,h=2,p=2", "slimfly:q=5,p=3"]
)
def test_a_cabling_list_keeps_floor_and_structure(tmp_path, spec, rules):
    network = Network(spec)
    try:
        floor = network.layout(rules)
    except TopoloomError:
        pytest.skip("these rules do not fit this family")
    floor.write_cables(path := tmp_path / "cables.csv")
    again = Network(f"file:{path}")
    told = [{key: value for key, value in item.to_dict().items() if key != "spec"} for item in (floor, again.layout())]
    assert told[0] == told[1]
    assert again.facts()["cost_usd"] == floor.cost()["cost_usd"]
    assert again.core.routings() == network.core.routings()
    again.layout().write_cables(twice := tmp_path / "twice.csv")
    assert path.read_text() == twice.read_text()
    by_hand = again.layout("cabinet=6,inside=3")
    assert by_hand.cost()["cable_m"] == network.layout("cabinet=6,inside=3").cost()["cable_m"], "who asks, decides"


@pytest.mark.parametrize("rules", ["", "cabinet=8", "permutation,place=anneal"])
def test_a_permuted_list_keeps_its_floor(tmp_path, rules):
    network = Network("torus:4x4x4,p=2")
    network.layout(rules).write_cables(path := tmp_path / "cables.csv")
    (after := tmp_path / "after.csv").write_text(permute_list(path, trials=2).cabling)
    moved = Network(f"file:{after}")
    assert moved.family == "file"
    assert any("it is read as a graph without that structure" in note for note in moved.notes)
    assert "dor" not in moved.core.routings()
    before, now = network.layout(rules).to_dict(), moved.layout().to_dict()
    lengths = (
        ("cable_m", "longest_cable_m") if rules else ()
    )  # this family's own cables also go up and down in a cabinet
    for key in ("cabinets", "rows", "columns", "layout", *lengths):
        assert before[key] == pytest.approx(now[key]) if key in lengths else before[key] == now[key], key


def test_a_list_of_a_machine_keeps_its_cabinets(tmp_path):
    rows = "a,1,r1,b,1,r1\nb,2,r1,c,1,r2\nc,2,r2,d,1,r2\nd,2,r2,a,2,r1\n"
    path = tmp_path / "machine.csv"
    path.write_text("switch_a,port_a,cabinet_a,switch_b,port_b,cabinet_b\n" + rows)
    layout = Network(f"file:{path}").layout().to_dict()
    assert [cabinet["routers"] for cabinet in layout["cabinets"]] == [2, 2]
    path.write_text(path.read_text() + "d,3,r1,b,3,r1\n")
    with pytest.raises(TopoloomError, match="line 6: router 'd' is in cabinet 'r1' here, and in 'r2' before"):
        Network(f"file:{path}")


def edited(path, change):
    rows = list(csv.DictReader(path.open()))
    change(rows)
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


def two_cables_of_one_router(rows):
    """The first two cables of a router between routers: their ports there change places."""
    first, second = [row for row in rows if row["router_a"] == "5" and not row["terminal"]][:2]
    first["port_a"], second["port_a"] = second["port_a"], first["port_a"]


def another_class(rows):
    rows[0]["class"] = "global"


def without_a_terminal(rows):
    rows.pop()


@pytest.mark.parametrize("change", [two_cables_of_one_router, another_class, without_a_terminal])
def test_a_list_that_was_changed_is_a_graph_alone(tmp_path, change):
    Network("mesh:4x4").layout("cabinet=4").write_cables(path := tmp_path / "cables.csv")
    assert "dor" in Network(f"file:{path}").core.routings()
    edited(path, change)
    network = Network(f"file:{path}")
    assert "dor" not in network.core.routings()
    assert "its spec is mesh:4x4, but" in network.notes[-1]
    with pytest.raises(TopoloomError, match="this is not mesh:4x4: it"):
        Network(f"file:{path},as=mesh:4x4")


@pytest.mark.parametrize(
    ("claim", "told"),
    [
        ("torus:1000x1000x100", "ports are more than there are here"),
        ("torus:no", "which cannot be built"),
        ("permuted:two-cab(mesh:3),cabinet=99999999999", "which cannot be built"),
        ("mesh:4", "its spec is mesh:4, but it has 3 routers and not 4"),
        ("mesh:1", "but it has 3 routers and not 1"),
        ("ring:3,degree=2", "but it lacks 1 of the 3 links of that network, and has 0 links of its own"),
        ("file:SELF", None),
        ("networkx:me,sha256=0", None),
        ("(" * 2000, None),
    ],
)
def test_a_file_may_say_anything(tmp_path, claim, told):
    path = tmp_path / "graph.edges"
    path.write_text(f"# topoloom spec: {claim.replace('SELF', str(path))}\n0 1\n1 2\n")
    network = Network(f"file:{path}")
    assert network.facts()["diameter"] == 2
    assert network.family == "file"
    assert any(told in note for note in network.notes) if told else network.notes == []


@pytest.mark.parametrize(
    ("claim", "told"),
    [
        ("mesh:4", "this is not mesh:4: it has 3 routers and not 4"),
        ("torus:no", "this is not torus:no: that network cannot be built: "),
        ("ring:3,degree=2", "this is not ring:3,degree=2: it lacks 1 of the 3 links of that network"),
    ],
)
def test_what_a_user_says_of_a_file_is_checked(tmp_path, claim, told):
    path = tmp_path / "graph.edges"
    path.write_text("0 1\n1 2\n")
    with pytest.raises(TopoloomError, match=told):
        Network(f"file:{path},as=({claim})")


def test_latencies_come_back_with_the_structure(topoloom, tmp_path):
    path = tmp_path / "links.csv"
    assert topoloom("show", "fattree:k=2,levels=3", "--edges", str(path), "--links", "up=7").status == 0
    network = Network(f"file:{path},as=(fattree:k=2,levels=3)")
    assert set(network.core.own_latencies()) == {7}
    assert "nca" in network.core.routings()
    assert set(Network(f"file:{path},as=(fattree:k=2,levels=3),latencies=class").core.own_latencies()) == {None}


def test_failures_of_a_network_from_a_file(tmp_path):
    whole = written(Network("torus:4x4,p=2"), tmp_path, "graphml")
    facts = [network.with_failures("links=3,seed=2").facts() for network in (whole, Network("torus:4x4,p=2"))]
    assert facts[0]["distance_histogram"] == facts[1]["distance_histogram"]
    assert facts[0]["source_sha256"] == whole.facts()["source_sha256"]


def test_json_of_facts_is_the_same_on_the_command_line(topoloom, tmp_path):
    path = tmp_path / "cables.csv"
    assert topoloom("layout", "clos:radix=8,levels=3", "--cables", str(path)).status == 0
    direct, again = (topoloom("show", spec, "--json").json()[0] for spec in ("clos:radix=8,levels=3", f"file:{path}"))
    assert {key for key in direct if direct[key] != again[key]} <= OF_THE_FILE
    assert topoloom("simulate", f"file:{path}", "--routing", "nca", "--load", "0.1", "--json").status == 0


def test_a_search_is_not_repeated_but_its_floor_is_kept(tmp_path):
    network = Network("permuted:optimised(torus:6x6,p=2),cabinet=6,steps=50,floor=(width=2),conserve=length")
    for ending in ("graphml", "edges", "ibnet"):
        again = written(network, tmp_path, ending)
        if ending != "edges":  # which says nothing of terminals
            assert again.layout().floor() == network.layout().floor()
            assert again.facts()["cable_m"] == pytest.approx(network.facts()["cable_m"])
        assert again.facts()["distance_histogram"] == network.facts()["distance_histogram"]
        assert "the search is not repeated" in again.notes[-1]
        assert again.core.written_as() is None
    network.layout().write_cables(path := tmp_path / "cables.csv")
    assert Network(f"file:{path}").layout().floor()["cabinets"] == network.layout().floor()["cabinets"]
