"""Machines that stand: cabling lists are permuted, and the moves applied one by one to a model of the machine."""

import csv
import io
import random

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import topoloom
from oracles import permute
from topoloom.permutation import permute_list

HEADER = "switch_a,port_a,cabinet_a,switch_b,port_b,cabinet_b"


def listed(spec, size, seed=0):
    """Return the cabling list of a network, in any order, with names of people."""
    rows = [
        f"sw{a:03},eth{pa},rack{a // size},sw{b:03},eth{pb},rack{b // size}"
        for a, pa, b, pb, _ in topoloom.network(spec).edges()
    ]
    random.Random(seed).shuffle(rows)
    return "\n".join([HEADER, *rows]) + "\n"


class Machine:
    """Sockets and plugs: cables with two ends each, some of which may hang in the air."""

    def __init__(self, text):
        self.cabinet, self.ends, self.socket = {}, {}, {}
        for number, row in enumerate(csv.DictReader(io.StringIO(text)), 1):
            self.ends[number] = [(row[f"switch_{end}"], row[f"port_{end}"]) for end in "ab"]
            for side, end in enumerate("ab"):
                self.cabinet[row[f"switch_{end}"]] = row[f"cabinet_{end}"]
                self.socket[self.ends[number][side]] = (number, side)
        self.length = self.lengths()

    def lengths(self):
        return {n: sorted(self.cabinet[end[0]] for end in ends) for n, ends in self.ends.items()}

    def pull(self, number, socket):
        cable, side = self.socket.pop(socket)
        assert cable == number, "the cable that is named is in the port that is named"
        self.ends[cable][side] = None
        return side

    def push(self, number, socket, side):
        assert socket not in self.socket, "the port is free"
        side = self.ends[number].index(None) if side is None else side
        assert self.ends[number][side] is None
        self.ends[number][side] = socket
        self.socket[socket] = (number, side)

    def connected(self):
        graph = nx.Graph()
        graph.add_nodes_from(self.cabinet)
        graph.add_edges_from((a[0], b[0]) for a, b in self.ends.values() if a and b)
        return nx.is_connected(graph)

    def apply(self, text):
        """Apply moves, one by one; the network is connected with every cable that is in the hand counted as gone."""
        touched = []
        for row in csv.DictReader(io.StringIO(text)):
            number = int(row["cable"])
            source, target = (row["from_switch"], row["from_port"]), (row["to_switch"], row["to_port"])
            assert row["action"] in ("unplug", "move", "plug")
            other = [end for end in self.ends[number] if end not in (None, source)]
            side = None
            if row["action"] != "plug":
                touched.append(source)
                assert self.cabinet[source[0]] == row["cabinet"]
                side = self.pull(number, source)
                assert self.connected()
            if row["action"] != "unplug":
                self.push(number, target, side)
                assert self.cabinet[target[0]] == row["cabinet"]
                assert self.connected()
            assert (row["other_switch"], row["other_port"]) == (other[0] if other else ("", ""))
        assert len(touched) == len(set(touched)), "no end is touched twice"
        return len(touched)


@settings(max_examples=25, deadline=None, derandomize=True)
@given(
    st.sampled_from([("torus:5x6", 6), ("hypercube:5", 8), ("hyperx:4x4", 4), ("ring:24,degree=3", 5), ("mesh:12", 4)]),
    st.sampled_from(["two-cab", "three-cab", "one-step"]),
    st.integers(0, 30),
)
def test_moves_lead_to_the_list_that_is_told_and_the_network_holds(tmp_path_factory, network, method, seed):
    path = tmp_path_factory.mktemp("cabling") / "machine.csv"
    path.write_text(listed(*network, seed))
    done = permute_list(path, method, trials=2, seed=seed)
    machine, after = Machine(path.read_text()), Machine(done.cabling)
    assert machine.apply(done.moves) == done.told["moved_ends"]
    assert machine.ends == after.ends
    assert after.lengths() == machine.length, "each cable joins the cabinets that it joined"
    graph = permute.simple((a[0], b[0]) for a, b in machine.ends.values())
    assert done.told["after"]["diameter"] == nx.diameter(graph)
    assert done.told["after"]["average_distance"] == pytest.approx(nx.average_shortest_path_length(graph))
    assert done.told["moves"] == done.moves.count("\n") - 1
    path.write_text(done.cabling)
    assert Machine(done.cabling).ends == Machine(permute_list(path, swappable=0.0).cabling).ends, "it reads back"


def test_a_path_cannot_be_moved_while_it_runs(tmp_path):
    path = tmp_path / "path.csv"
    path.write_text(listed("mesh:12", 12))
    told = permute_list(path, trials=3).told
    assert (told["moves"], told["before"]) == (0, told["after"])
    assert told["left_out"] > 0


def test_the_command(topoloom, tmp_path):
    path, moves, after = (tmp_path / name for name in ("machine.csv", "moves.csv", "after.csv"))
    path.write_text(listed("torus:8x8", 8))
    outcome = topoloom(
        "permute", str(path), "--method", "two-cab", "--out", str(moves), "--after", str(after), "--json"
    )
    told = outcome.json()
    assert outcome.status == 0
    assert told["after"]["average_distance"] < told["before"]["average_distance"]
    machine = Machine(path.read_text())
    machine.apply(moves.read_text())
    assert machine.ends == Machine(after.read_text()).ends
    table = topoloom("permute", str(path))
    assert table.status == 0
    assert "64 switches in 8 cabinets" in table.out


def test_the_list_that_layout_writes_is_read(topoloom, tmp_path):
    path = tmp_path / "cables.csv"
    assert topoloom("layout", "torus:8x8,p=2", "--layout", "cabinet=8", "--cables", str(path)).status == 0
    outcome = topoloom("permute", str(path), "--json")
    assert (outcome.status, outcome.json()["switches"], outcome.json()["cables"]) == (0, 64, 128)
    assert "128 cables of terminals stay where they are" in outcome.err


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,1,x,b,1,x\na,1,x,c,1,x\n", "line 2: port '1' of switch 'a' is used twice, first on line 1"),
        (f"{HEADER}\na,1,x,b,1,y\na,2,x,b,1,y\n", "line 3: port '1' of switch 'b' is used twice, first on line 2"),
        ("a,1,x,b,,x\n", "line 1: the port of an end is missing"),
        ("a,1,x,b,2\n", "line 1: a switch is in no cabinet"),
        ("a,1,,b,2,x\n", "line 1: a switch is in no cabinet"),
        ("a,1,x,,2,x\n", "line 1: the switch of an end is missing"),
        ("a,1,x,b,1,x\nb,2,y,c,1,x\n", "line 2: switch 'b' is in cabinet 'y' here, in 'x' on line 1"),
        ("a,1,x,a,2,x\n", "line 1: the cable leads from switch 'a' to itself"),
        ("a,1,x,b,1,x\nc,1,x,d,1,x\n", "the network is disconnected"),
        ("switch_a,port_a,switch_b,port_b,cabinet_b\n", "line 1: the column cabinet_a is missing"),
        ("\n", "there is no cable in it"),
    ],
)
def test_mistakes_in_a_list(topoloom, tmp_path, text, words):
    path = tmp_path / "machine.csv"
    path.write_text(text)
    outcome = topoloom("permute", str(path))
    assert (outcome.status, outcome.out, outcome.err.count("\n")) == (2, "", 1)
    assert words in outcome.err


def test_other_mistakes(topoloom, tmp_path):
    path = tmp_path / "machine.csv"
    path.write_text("a,1,x,b,1,x\n")
    for arguments, words in [
        (["none.csv"], "none.csv cannot be read"),
        ([str(path), "--method", "tow-cab"], "did you mean 'two-cab'?"),
        ([str(path), "--swappable", "2"], "swappable is 2"),
    ]:
        outcome = topoloom("permute", *arguments)
        assert (outcome.status, outcome.out, outcome.err.count("\n")) == (2, "", 1)
        assert words in outcome.err
