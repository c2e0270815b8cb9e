"""Tables of cards: what is written, walked by an independent reader; read back, the same decisions; what is refused."""

import networkx as nx
import pytest

from harness.engine import repeatable, simulate
from harness.lengths import with_long
from oracles import cardtables, graphs, routes
from topoloom import TopoloomError
from topoloom.cli.command import run
from topoloom.network.networks import Network

WAYS = {
    "ts-dor": routes.ts_dor,
    "ts-dor:ties=middle": lambda graph: routes.ts_dor(graph, "middle"),
    "dort:ties=plus": lambda graph: routes.dort(graph, "plus"),
    "dor:vc=upper-lower,ties=plus": lambda graph: routes.dor_torus(graph, ties="plus", compares=True),
    "dor": routes.dor_mesh,
}

FIT = [
    ("twin-torus:2x2x2", "ts-dor"),
    ("twin-torus:3x4x2", "ts-dor"),
    ("twin-torus:3x2x2x2x2", "ts-dor"),
    ("twin-torus:4x3,p=2", "ts-dor"),
    ("twin-torus:4x4x3", "ts-dor:ties=middle"),
    ("twin-torus:2x4x3", "dort:ties=plus"),
    ("torus:4x3x2", "dor:vc=upper-lower,ties=plus"),
    ("mesh:4x3,p=2", "dor"),
]


def same_ways(spec: str, routing: str, tables: cardtables.Tables) -> list[routes.Path]:
    """All ways by the tables; they are those of the routing's rule."""
    graph = graphs.build(spec)
    paths, found = WAYS[routing](graph), []
    for source in routes.sources(graph):
        for terminal, home in enumerate(graph.homes):
            way = cardtables.way(graph, tables, source, terminal)
            assert [(1.0, way)] == (paths(source, home) if source != home else [(1.0, ())])
            found.append(way)
    return found


@pytest.mark.parametrize(("spec", "routing"), FIT)
def test_packets_go_by_the_tables_as_by_the_rule(spec, routing, tmp_path):
    network = Network(spec)
    text, sizes = network.card_tables(routing)
    tables = cardtables.read(text)
    ways = same_ways(spec, routing, tables)
    # Sizes are those of the text.
    assert (sizes["tables"], sizes["most_entries"], sizes["entries"]) == (
        len(tables.sizes), max(tables.sizes), sum(tables.sizes),
    )  # fmt: skip
    assert sizes["destinations"] == network.num_terminals
    # What is read back is written alike, and its channels wait for each other as the ways say.
    file = tmp_path / "cards.txt"
    file.write_text(text)
    assert network.card_tables(f"table:{file}") == (text, sizes)
    waits = nx.DiGraph()
    for way in ways:
        waits.add_nodes_from(way)
        nx.add_path(waits, way)
    proof = network.verify(f"table:{file}")
    assert (proof["channels"], proof["dependencies"]) == (waits.number_of_nodes(), waits.number_of_edges())
    assert proof["deadlock_free"] == nx.is_directed_acyclic_graph(waits)
    assert proof["unserved_pairs"] == 0
    known = network.verify(routing)
    assert [proof[key] for key in ("deadlock_free", "channels", "dependencies")] == [
        known[key] for key in ("deadlock_free", "channels", "dependencies")
    ]


def rounds(graph: graphs.Graph, first: int, a: int, b: int) -> int:
    """Links between two routers of a torus; on a twin torus, whose first coordinate is the card, between nodes."""
    sides = zip(graph.sides, graph.coordinates(a), graph.coordinates(b), strict=True)
    return sum(min((x - y) % side, (y - x) % side) for side, x, y in list(sides)[first:])


FIVE = "twin-torus:3x2x2x2x2"


@pytest.mark.parametrize("spec", with_long(["twin-torus:3x2x2", FIVE, "torus:5x3"], lambda spec: spec == FIVE))
def test_adaptive_outputs_come_nearer_and_their_escape_is_the_rule(spec, tmp_path):
    network, graph = Network(spec), graphs.build(spec)
    text, _ = network.card_tables("duato")
    tables = cardtables.read(text)
    twin = int(spec.startswith("twin"))
    if twin:
        same_ways(spec, "ts-dor", tables)
    several = 0
    for (card, _, _), entries in tables.flat.items():
        for home, entry in zip(graph.homes, entries, strict=True):
            if entry is None or entry.vc is None:
                continue
            nearer = {
                graph.port(card, place)
                for place, (peer, _) in enumerate(graph.links[card])
                if rounds(graph, twin, peer, home) < rounds(graph, twin, card, home)
            }
            assert entry.adaptive == [entry.port] or set(entry.adaptive) <= nearer
            if spec.startswith("torus"):
                assert set(entry.adaptive) == nearer
            several += len(entry.adaptive) > 1
    assert several
    file = tmp_path / "cards.txt"
    file.write_text(text)
    proof = network.verify(f"table:{file}")
    assert (proof["deadlock_free"], proof["method"], proof["unserved_pairs"]) == (True, "escape", 0)


@pytest.mark.parametrize(
    ("spec", "routing"),
    [
        ("twin-torus:4x3x2", "ts-dor"),
        ("twin-torus:4x3x2", "duato"),
        ("torus:4x4", "dor:vc=upper-lower,ties=plus"),
        ("torus:5x3,p=2", "duato"),
    ],
)
def test_a_run_by_tables_is_the_run_of_the_routing(spec, routing, tmp_path):
    file = tmp_path / "cards.txt"
    file.write_text(Network(spec).card_tables(routing)[0])
    options = {"model": "extoll", "packet": "1-32", "warmup": 200, "measure": 2000, "seed": 5}
    ours, back = (repeatable(simulate(spec, name, "uniform", 0.7, **options)) for name in (routing, f"table:{file}"))
    assert ours == back


def test_a_hierarchy_is_smaller_than_a_flat_table():
    """Table I's largest networks: at most 176 entries for 1,024 destinations."""
    for spec, routing in (("twin-torus:4x4x2x4x4", "ts-dor"), ("torus:16x8x8", "dor:vc=upper-lower,ties=plus")):
        _, sizes = Network(spec).card_tables(routing)
        assert (sizes["destinations"], sizes["block"], sizes["most_entries"]) == (1024, 16, 176)


@pytest.mark.parametrize(
    ("spec", "routing", "words"),
    [
        ("torus:4x4", "dor", "dor is no table of cards: at router .* is one of several"),
        ("torus:6x3", "dor:ties=plus", "depends on more than the input, the traffic class and the destination"),
        ("torus:4x4", "duato", "is one of several"),
        ("torus:4x4", "val", "goes over another router first"),
        ("hyperx:3x3", "ugal-l", "goes over another router first"),
        ("twin-torus:4x4x2", "dort", "depends on more than the input"),
        ("mesh:1,p=70", "dor", "has routers of 70 ports; cards have at most 64"),
        ("torus:4x4", "ts-dor", "does not offer the routing 'ts-dor'"),
    ],
)
def test_what_is_no_table_of_cards(spec, routing, words):
    with pytest.raises(TopoloomError, match=words):
        Network(spec).card_tables(routing)


GOOD = """\
# a ring of three
card-tables 1
destinations 3 block 1
groups 1 vcs 2 adaptive 0
card 0 group 0
input host group 0
blocks 0 1/0 2/1
input 1 group 0
blocks 0 - -
input 2 group 0
blocks 0 - -
card 1 group 0
input host group 0
blocks 2/1 0 1/0
input 1 group 0
blocks - 0 -
input 2 group 0
blocks - 0 -
card 2 group 0
input host group 0
blocks 1/0 2/1 0
input 1 group 0
blocks - - 0
input 2 group 0
blocks - - 0
"""


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("card-tables 1", "card-tables 2", "line 2: 'card-tables 2' is another version"),
        ("destinations 3 block 1", "destinations 4 block 1", "line 3: 4 destinations in blocks of 1; torus:3 has 3"),
        ("destinations 3 block 1", "destinations 3 block 2", "blocks must divide them evenly"),
        ("destinations 3 block 1", "destinations three block 1", "destinations is 'three'; it must be from 1 to"),
        ("groups 1 vcs 2 adaptive 0", "groups 1 vcs 2", "must be a line 'groups … vcs … adaptive …'"),
        ("groups 1 vcs 2 adaptive 0", "groups 1 vcs 0 adaptive 0", "vcs is '0'; it must be from 1 to 16"),
        ("groups 1 vcs 2 adaptive 0", "groups 16 vcs 16 adaptive 0", "256 VCs; at most 64 are possible"),
        ("card 1 group 0", "card 2 group 0", "line 12: card is '2'; it must be 1"),
        ("card 1 group 0", "card 1 group 1", "group is '1'; it must be 0"),
        ("blocks 0 1/0 2/1", "blocks 0 1/0", "line 7: 'blocks' has 2 entries; it must have 3"),
        ("blocks 0 1/0 2/1", "blocks 0 1/2 2/1", "'1/2' is no entry .* ports 0 to 2 and VCs 0 to 1"),
        ("blocks 0 1/0 2/1", "blocks 0 3/0 2/1", "line 7: '3/0' is no entry of router 0"),
        ("blocks 0 1/0 2/1", "blocks 0 1/0+2 2/1", r"line 7: '1/0\+2' is no entry"),
        ("blocks 0 1/0 2/1", "blocks 0 @0 2/1", "line 7: there is no line @0"),
        ("blocks 0 1/0 2/1", "blocks 0 @0 2/1\n@1 1/0", "line 8: '@1 1/0' must be a line '@0 …'"),
        ("blocks 0 1/0 2/1", "blocks 0 - 2/1", "router 0 has no entry for terminal 1 at input host, group 0"),
        ("blocks 0 1/0 2/1", "blocks 0 0 2/1", "for terminal 1 .* to port 0; another hangs there"),
        ("blocks 0 1/0 2/1", "blocks 1/0 1/0 2/1", "for terminal 0 .* to port 1; it hangs at port 0"),
        ("blocks - 0 -", "blocks - 1/0 -", "router 1 sends packets for terminal 1 from input 1, group 0, to port 1"),
        ("input 1 group 0\nblocks 0 - -", "input 1 group 0\nblocks 0 1/0 -", None),
        ("input 1 group 0\nblocks 0 - -", "input 3 group 0\nblocks 0 - -", "input is '3'; .* its ports 1 to 2"),
        ("input 2 group 0\nblocks 0 - -", "input 1 group 0\nblocks 0 - -", "a table for input 1, group 0 already"),
        ("input 2 group 0\nblocks 0 - -", "input 2 group 1\nblocks 0 - -", "group is '1'; it must be from 0 to 0"),
        ("card 2 group 0", "", "line 20: router 1 has a table for input host, group 0 already"),
        ("# a ring of three\n", "card-tables 1\n", "line 2: 'card-tables 1' must be a line 'destinations … block …'"),
    ],
)  # fmt: skip
def test_mistakes_in_a_file(old, new, words, tmp_path):
    assert old in GOOD
    file = tmp_path / "cards.txt"
    file.write_text(GOOD.replace(old, new, 1))
    network = Network("torus:3")
    if words is None:
        assert network.verify(f"table:{file}")["deadlock_free"]
        return
    with pytest.raises(TopoloomError, match=words):
        network.verify(f"table:{file}")


def test_a_way_in_a_circle_is_refused(tmp_path):
    """Cards 1 and 2 send packets for terminal 0 to each other."""
    cards = GOOD.partition("card 1")
    text = cards[2].replace("blocks 2/1 0 1/0", "blocks 1/0 0 1/0", 1).replace("blocks - 0 -", "blocks 1/0 0 -", 1)
    first, last = text.rsplit("blocks - - 0", 1)
    file = tmp_path / "cards.txt"
    file.write_text(cards[0] + cards[1] + first + "blocks 2/0 - 0" + last)
    with pytest.raises(TopoloomError, match="packets from router 1 to terminal 0 can go round in a circle at router"):
        Network("torus:3").verify(f"table:{file}")


def test_on_the_command_line(tmp_path, capsys):
    file, spec = tmp_path / "cards.txt", "twin-torus:3x3x2"
    assert run(["export", spec, "--routing", "ts-dor", "--format", "extoll", "--out", str(file)]) == 0
    assert "in blocks of 2 destinations: at most 20 entries each, for 36 destinations" in capsys.readouterr().err
    assert run(["verify", spec, "--routing", f"table:{file}"]) == 0
    assert run(["verify", "torus:3", "--routing", f"table:{file}"]) == 2
    assert "torus:3 has 3" in capsys.readouterr().err
    assert run(["export", spec, "--format", "extoll"]) == 2
    assert "extoll is a format of routing tables; give a routing" in capsys.readouterr().err
