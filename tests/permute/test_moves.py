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
from topoloom.network.permutation import permute_list

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
    """Sockets and plugs: cables, known by their lines, with two ends each, some of which may hang in the air."""

    def __init__(self, text, switch="switch"):
        self.cabinet, self.ends, self.socket = {}, {}, {}
        reader = csv.DictReader(io.StringIO(text))
        for row in reader:
            if row.get("terminal"):
                continue
            number = reader.line_num
            self.ends[number] = [(row[f"{switch}_{end}"], row[f"port_{end}"]) for end in "ab"]
            for side, end in enumerate("ab"):
                self.cabinet[row[f"{switch}_{end}"]] = row[f"cabinet_{end}"]
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
    asked = ["permute", str(path), "--method", "two-cab", "--allow-less-bandwidth"]
    outcome = topoloom(*asked, "--out", str(moves), "--after", str(after), "--json")
    told = outcome.json()
    assert outcome.status == 0
    assert told["after"]["average_distance"] < told["before"]["average_distance"]
    machine = Machine(path.read_text())
    machine.apply(moves.read_text())
    assert machine.ends == Machine(after.read_text()).ends
    table = topoloom(*asked)
    assert table.status == 0
    assert "64 switches in 8 cabinets" in table.out


def test_the_list_that_layout_writes_is_read(topoloom, tmp_path):
    path = tmp_path / "cables.csv"
    assert topoloom("layout", "torus:8x8,p=2", "--layout", "cabinet=8", "--cables", str(path)).status == 0
    outcome = topoloom("permute", str(path), "--allow-less-bandwidth", "--json")
    assert (outcome.status, outcome.json()["switches"], outcome.json()["cables"]) == (0, 64, 128)
    assert "128 cables of terminals stay where they are" in outcome.err


def test_a_laid_out_machine_is_permuted_and_still_a_network(topoloom, tmp_path):
    before, moves, after = (tmp_path / name for name in ("cables.csv", "moves.csv", "after.csv"))
    rules = "cabinet=8,router-units=2"
    assert topoloom("layout", "torus:8x8,p=2", "--layout", rules, "--cables", str(before)).status == 0
    # Terminals first, so that a cable's line is not its place among the switches' cables.
    header, *lines = before.read_text().splitlines(keepends=True)
    before.write_text("".join([header, *lines[128:], *lines[:128]]))
    asked = ["permute", str(before), "--allow-less-bandwidth"]
    told = topoloom(*asked, "--out", str(moves), "--after", str(after), "--json").json()
    was, done = (list(csv.DictReader(path.open())) for path in (before, after))
    assert done[0].keys() == was[0].keys()
    assert done[:128] == was[:128], "cables of terminals stay"
    machine = Machine(before.read_text(), "router")
    machine.apply(moves.read_text())
    assert machine.ends == Machine(after.read_text(), "router").ends
    for old, new in zip(was[128:], done[128:], strict=True):
        assert {key: old[key] for key in ("class", "length_m", "kind")} == {
            key: new[key] for key in ("class", "length_m", "kind")
        }
        ends = [[new[f"{key}_{side}"] for key in ("router", "cabinet", "unit", "port")] for side in "ab"]
        for router, cabinet, unit, _ in ends:
            assert (int(cabinet), int(unit)) == (int(router) // 8, 1 + 2 * (int(router) % 8))
        assert new["label"] == "/".join(f"C{cabinet}-U{unit}-P{port}" for _, cabinet, unit, port in ends)
    assert len({row["label"] for row in done}) == len(done)
    for row in csv.DictReader(moves.open()):
        assert row["label"] == was[int(row["cable"]) - 2]["label"]
    facts = topoloom("show", f"file:{after}", "--json").json()[0]
    assert (facts["routers"], facts["terminals"], facts["links"]) == (64, 128, 128)
    assert facts["average_distance"] == pytest.approx(told["after"]["average_distance"])
    assert facts["average_distance"] < told["before"]["average_distance"]


NAMED = """# the machine, room 2
Switch A,PORT_A,Cabinet-A,slot_a,switch b,port b,cabinet_b,slot_b,Terminal,Label

"#1",eth1,x,s1,#2,eth1,x,s3,,red
#2,eth2,x,s4,#3,eth1,x,s5,,blue
#3,eth2,x,s6,#4,eth1,x,s7,,green
"#4",eth2,x,s8,"#1",eth2,x,s2,,white
"#1",up,x,s0,,,,,node 1,grey
"#3",eth2,x,s6,#4,eth1,x,s7,,green
"#2",eth2,x,s4,#3,eth1,x,s5,,blue
"""


def test_a_list_of_names_is_a_network_before_and_after(topoloom, tmp_path):
    path, after = tmp_path / "machine.csv", tmp_path / "after.csv"
    path.write_text(NAMED)
    outcome = topoloom("permute", str(path), "--after", str(after), "--json")
    assert outcome.status == 0
    note = (
        "2 lines, the first of them line 5, begin with # and are comments; where a name begins with #, put it in quotes"
    )
    assert note in outcome.err
    assert "the cable of a terminal stays where it is" in outcome.err
    header, *rows = csv.reader(after.open())
    assert header == NAMED.splitlines()[1].split(",")
    assert [row[9] for row in rows] == ["red", "white", "grey", "green", "blue"], "labels of their own stay"
    slots = {(row[4 * s], row[4 * s + 1]): row[4 * s + 3] for row in rows for s in (0, 1) if row[4 * s]}
    assert [slots["#1", f"eth{n}"] for n in (1, 2)] + [slots["#3", "eth1"]] == ["s1", "s2", "s5"]
    for listed in (path, after):
        shown = topoloom("show", f"file:{listed}", "--json").json()[0]
        assert (shown["routers"], shown["links"], shown["terminals"], shown["diameter"]) == (4, 4, 1, 2)
        assert any("ports have names" in note for note in shown["notes"])


def test_switches_that_stand_alone_are_said(topoloom, tmp_path):
    path = tmp_path / "machine.csv"
    path.write_text("a,1,x,b,1,y\nb,2,y,c,1,z\n")
    assert "every cabinet holds one switch, so no cables can exchange ends" in topoloom("permute", str(path)).err


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,1,x,b,1,x\na,1,x,c,1,x\n", "line 2: port '1' of switch 'a' is used twice, first on line 1"),
        (f"{HEADER}\na,1,x,b,1,y\na,2,x,b,1,y\n", "line 3: port '1' of switch 'b' is used twice, first on line 2"),
        (
            "a,1,x,b,1,x\nb,2,x,c,1,x\n\n\na,1,x,c,2,x\n",
            "line 5: port '1' of switch 'a' is used twice, first on line 1",
        ),
        ("\n\na,1,x,b,1,x\n# no\n\na,1,x,c,2,x\n", "line 6: port '1' of switch 'a' is used twice, first on line 3"),
        ("\r\na,1,x,b,1,x\r\n\r\na,1,x,c,2,x\r\n", "line 4: port '1' of switch 'a' is used twice, first on line 2"),
        (
            f"{HEADER},terminal\na,1,x,b,1,x,\na,1,x,,,,T1\n",
            "line 3: port '1' of switch 'a' is used twice, first on line 2",
        ),
        (
            f"{HEADER},terminal\na,1,x,,,,T1\nb,1,x,a,1,x,\n",
            "line 3: port '1' of switch 'a' is used twice, first on line 2",
        ),
        (
            f"{HEADER},terminal\n,,,a,1,y,T1\nb,1,x,a,2,x,\n",
            "line 3: switch 'a' is in cabinet 'x' here, in 'y' on line 2",
        ),
        (f"{HEADER},terminal\na,1,x,b,1,x,T1\n", "line 2: the cable of terminal 'T1' leads to two switches"),
        (f"{HEADER},terminal\n,,,,,,T1\n", "line 2: the cable of terminal 'T1' leads to no switch"),
        ("\na;1;x;b;1;x\n", "line 2: there is no comma between fields; a cable is switch_a"),
        ('"a,1,x,b,1,x\nb,2,x,c,1,x\n', "line 1: there is no comma between fields"),
        ("a,1,x,b,,x\n", "line 1: the port at end b is missing"),
        (",1,x,b,1,x\n", "line 1: the switch at end a is missing"),
        ("a,1,x,b,2\n", "line 1: switch 'b' is in no cabinet"),
        ("a,1,,b,2,x\n", "line 1: switch 'a' is in no cabinet"),
        ("a,1,x,,2,x\n", "line 1: the switch at end b is missing"),
        ("a,1,x,b,1,x\nb,2,y,c,1,x\n", "line 2: switch 'b' is in cabinet 'y' here, in 'x' on line 1"),
        ("a,1,x,a,2,x\n", "line 1: the cable leads from switch 'a' to itself"),
        (
            "a,1,x,b,1,x\nc,1,x,d,1,x\n",
            "switch 'c' (line 2) cannot be reached from switch 'a' (line 1), nor can one other",
        ),
        (
            f"{HEADER},terminal\na,1,x,b,1,x,\nc,1,x,,,,T\n",
            "switch 'c' (line 3) cannot be reached from switch 'a' (line 2)",
        ),
        ("switch_a,port_a,switch_b,port_b,cabinet_b\n", "line 1: the column cabinet_a is missing; a list has switch_a"),
        (f"{HEADER},Router A\n", "line 1: the column switch_a is listed twice"),
        (
            "from_switch,from_port,from_rack,to_switch,to_port,to_rack\na,1,x,b,1,x\n",
            "line 1: unknown column 'from_switch'; there are: switch_a, port_a, cabinet_a",
        ),
        ("a,1,x,b,1,x,blue\n", "line 1: 7 fields stand here, where there are 6: switch_a,port_a"),
        (f"{HEADER},colour\na,1,x,b,1,x,blue,2\n", "line 2: 8 fields stand here, where there are 7"),
        ("\n", "there is no cable between two switches in it"),
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
        ([str(path), "--out", str(path)], "CABLING.csv and --out are the same file"),
        (
            [str(path), "--after", str(tmp_path / "x" / ".." / "machine.csv")],
            "CABLING.csv and --after are the same file",
        ),
        (
            [str(path), "--out", str(tmp_path / "q"), "--after", str(tmp_path / "q")],
            "--out and --after are the same file",
        ),
    ]:
        outcome = topoloom("permute", *arguments)
        assert (outcome.status, outcome.out, outcome.err.count("\n")) == (2, "", 1)
        assert words in outcome.err
        assert path.read_text() == "a,1,x,b,1,x\n"


# bandwidth


def laid_out(tmp_path, spec, rules):
    path = tmp_path / "cables.csv"
    topoloom.network(spec).layout(rules).write_cables(path)
    return path


def bound_of(network):
    """The load that minimal routing carries under uniform traffic, written down a second time."""
    edges = [(a, b) for a, _, b, _, _ in network.edges()]
    return 1 / max(1, permute.busiest(edges, network.core.terminals_by_router()))


def test_bandwidth_before_and_after_is_told(tmp_path):
    path, after = laid_out(tmp_path, "clos:radix=8,levels=3", "cabinet=8"), tmp_path / "after.csv"
    done = permute_list(path, trials=3)
    after.write_text(done.cabling)
    for when, file in (("before", path), ("after", after)):
        told, network = done.told[when], topoloom.network(f"file:{file}")
        facts = network.facts()
        assert told["uniform_bound"] == pytest.approx(bound_of(network))
        assert told["bisection_links"] <= facts["bisection_links"]
        assert told["beta"] == told["bisection_links"] / (facts["terminals"] / 2)
        assert told["bisection_is"] in {"exact", "upper-bound"}
        assert 0 < told["worst_case_bound"] <= network.bound("min", "worst-case")["saturation_bound"] + 1e-9
    assert done.told["before"]["uniform_bound"] == 1
    assert any("uniform channel-load bound of minimal routing falls from 1.000" in loss for loss in done.told["losses"])


def test_a_plan_that_lowers_bandwidth_is_refused(topoloom, tmp_path):
    moves, after = tmp_path / "moves.csv", tmp_path / "after.csv"
    path = laid_out(tmp_path, "clos:radix=8,levels=3", "cabinet=8")
    asked = ["permute", str(path), "--trials", "2", "--out", str(moves), "--after", str(after)]
    refused = topoloom(*asked)
    assert refused.status == 1
    assert not moves.exists()
    assert not after.exists()
    for words in ("the bisection falls from", "falls from 1.000 to 0.", "no plan is written: --allow-less-bandwidth"):
        assert words in refused.err
    assert {"Bisection", "Beta", "Bound, uniform", "Bound, worst case"} <= {
        line.split("  ")[0] for line in refused.out.splitlines()
    }
    told = topoloom(*asked, "--json")
    assert (told.status, told.json()["refused"], moves.exists()) == (1, True, False)
    allowed = topoloom(*asked, "--allow-less-bandwidth", "--json")
    assert (allowed.status, allowed.json()["refused"], moves.exists(), after.exists()) == (0, False, True, True)
    assert "the permutation lowers bandwidth: " in allowed.err


def test_a_search_keeps_bandwidth_when_it_is_told_to(tmp_path):
    path = laid_out(tmp_path, "mesh:6x6,p=2", "cabinet=6")
    before = topoloom.network("mesh:6x6,p=2")
    free = permute_list(path, "optimised", steps=400, seed=3)
    kept = permute_list(path, "optimised", steps=400, seed=3, keep="bandwidth")
    assert free.told["losses"], "without being told it does not"
    assert kept.told["losses"] == []
    (after := tmp_path / "after.csv").write_text(kept.cabling)
    network = topoloom.network(f"file:{after}")
    assert bound_of(network) >= bound_of(before) - 1e-9
    assert kept.told["searched"]["kept"] > 0
    assert kept.told["after"]["average_distance"] < kept.told["before"]["average_distance"]


def test_options_of_the_search_belong_to_it(topoloom, tmp_path):
    path = laid_out(tmp_path, "torus:4x4", "cabinet=4")
    for arguments, words in [
        (["--keep", "bandwidth"], "keep is for a search: method optimised"),
        (["--steps", "5"], "steps is for a search: method optimised"),
        (["--method", "optimised", "--keep", "bandwith"], "did you mean 'bandwidth'?"),
    ]:
        outcome = topoloom("permute", str(path), *arguments)
        assert (outcome.status, outcome.out) == (2, "")
        assert words in outcome.err
