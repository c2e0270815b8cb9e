"""The exact distribution of destinations of every pattern, all sources, against the definitions."""

import json
from math import isclose

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.engine import measured
from oracles import graphs, patterns
from topoloom import TopoloomError, _core

quickly = settings(max_examples=60, deadline=None, derandomize=True)
sizes = st.integers(2, 90)


def chances(spec: str, traffic: str) -> list[patterns.Chances]:
    found = []
    for shares in _core.Traffic(_core.Network(spec), traffic).weights():
        of_source: patterns.Chances = {}
        for first, end, each in shares:
            for to in range(first, end):
                of_source[to] = of_source.get(to, 0.0) + each
        found.append(of_source)
    return found


def check(spec: str, traffic: str, expected: list[patterns.Chances]) -> None:
    found = chances(spec, traffic)
    assert len(found) == len(expected)
    for source, (ours, theirs) in enumerate(zip(found, expected, strict=True)):
        assert ours.keys() == theirs.keys(), f"{traffic} on {spec}: terminal {source}"
        assert all(isclose(ours[to], theirs[to], rel_tol=1e-9, abs_tol=1e-12) for to in ours)


@quickly
@given(sizes, st.integers(1, 12), st.sampled_from(["bit-complement", "bit-reversal", "shuffle", "transpose"]))
def test_patterns_on_bits(terminals, bits, name):
    if name == "transpose":
        bits += bits % 2
    expected = patterns.surely(patterns.by_bits(name, terminals, bits))
    if any(expected):
        check(f"mesh:{terminals}", f"{name}:bits={bits}", expected)
    else:
        with pytest.raises(TopoloomError, match="no terminal has another one to send to"):
            chances(f"mesh:{terminals}", f"{name}:bits={bits}")


@quickly
@given(sizes, st.sampled_from(["bit-complement", "bit-reversal", "shuffle"]))
def test_bits_are_the_nearest_to_the_logarithm(terminals, name):
    check(f"mesh:{terminals}", name, patterns.surely(patterns.by_bits(name, terminals)))


@quickly
@given(st.lists(st.integers(1, 7), min_size=1, max_size=3), st.integers(1, 3), st.sampled_from(["neighbor", "tornado"]))
def test_shifts_by_coordinate(sides, p, name):
    size = "x".join(map(str, sides))
    to = [router * p + i for router in patterns.shifted(name, tuple(sides)) for i in range(p)]
    for family in ("mesh", "torus", "hyperx"):
        check(f"{family}:{size},p={p}", name, patterns.surely(to))


@quickly
@given(st.lists(st.integers(2, 5), min_size=2, max_size=3), st.integers(1, 2), st.sampled_from(["neighbor", "tornado"]))
def test_on_a_twin_torus_the_node_moves_and_not_the_card(sides, p, name):
    to = [node * 2 * p + i for node in patterns.shifted(name, tuple(sides)) for i in range(2 * p)]
    check(f"twin-torus:{'x'.join(map(str, sides))},p={p}", name, patterns.surely(to))


@pytest.mark.parametrize("name", ["neighbor", "tornado"])
@pytest.mark.parametrize(
    ("spec", "sides"),
    [
        ("dragonfly:a=3,h=2,p=2", (42,)),
        ("fattree:k=3,levels=2", (9,)),
        ("slimfly:q=3", (18,)),
        ("flex:3x4x3,p=2", (72,)),
        ("hyperx:4x3,tile=2x3", (8, 9)),
    ],
)
def test_shifts_on_other_networks(spec, sides, name):
    check(spec, name, patterns.surely(patterns.shifted(name, sides)))


@pytest.mark.parametrize("name", ["neighbor", "tornado"])
@pytest.mark.parametrize(
    ("spec", "sides", "p"),
    [
        ("dragonfly:a=3,h=2,p=2", (21,), 2),
        ("fattree:k=3,levels=2", (3,), 3),
        ("slimfly:q=3", (18,), 1),
        ("flex:3x4x3,p=2", (3, 4, 3), 2),
        ("hypercube:3,p=2", (2, 2, 2), 2),
        ("torus:5x3,p=2", (5, 3), 2),
    ],
)
def test_shifts_by_routers(spec, sides, p, name):
    to = [router * p + i for router in patterns.shifted(name, sides) for i in range(p)]
    check(spec, f"{name}:by=routers", patterns.surely(to))


def test_routers_move_with_their_tiles():
    places = [graphs.coordinates((8, 9), terminal) for terminal in range(72)]
    to = [graphs.number((8, 9), ((x + 2) % 8, (y + 3) % 9)) for x, y in places]
    check("hyperx:4x3,tile=2x3", "neighbor:by=routers", patterns.surely(to))


@quickly
@given(sizes, st.lists(st.integers(1, 5), min_size=1, max_size=3), st.sampled_from(["neighbor", "tornado"]))
def test_ids_move_on_a_grid_that_is_given(terminals, sides, name):
    traffic = f"{name}:sides={'x'.join(map(str, sides))}"
    places = dict(enumerate(patterns.shifted(name, tuple(sides))))
    to = [to if (to := places.get(terminal)) is not None and to < terminals else None for terminal in range(terminals)]
    expected = patterns.surely(to)
    if any(expected):
        check(f"mesh:{terminals}", traffic, expected)
    else:
        with pytest.raises(TopoloomError, match="no terminal has another one to send to"):
            chances(f"mesh:{terminals}", traffic)


@pytest.mark.parametrize(("name", "step"), [("neighbor", 1), ("tornado", 4)])
def test_equal_sides_are_the_digits_of_booksim(name, step):
    """BookSim adds the step to every digit of the id in base k, modulo k, whatever the network."""
    to = [int("".join(str((int(digit) + step) % 10) for digit in f"{id_:03}")) for id_ in range(1000)]
    check("flex:6x6x3,p=10", f"{name}:sides=10x10x10", patterns.surely([*to, *[None] * 80]))


@quickly
@given(sizes)
def test_uniform_and_asymmetric(terminals):
    spec = f"mesh:{terminals}"
    check(spec, "uniform", patterns.uniform(terminals))
    check(spec, "uniform:exclude-self", patterns.uniform(terminals, with_self=False))
    check(spec, "asymmetric", patterns.asymmetric(terminals))


@quickly
@given(st.data(), sizes)
def test_hot_spots(data, terminals):
    ids = data.draw(st.lists(st.integers(0, terminals - 1), min_size=1, max_size=5, unique=True))
    rates = data.draw(st.lists(st.integers(1, 9), min_size=len(ids), max_size=len(ids)))
    share = data.draw(st.sampled_from([0.0, 0.25, 1.0]))
    listed = ",".join(map(str, ids))
    spec = f"mesh:{terminals}"
    check(spec, f"hotspot:nodes={listed}", patterns.hotspot(terminals, dict.fromkeys(ids, 1)))
    hot = dict(zip(ids, rates, strict=True))
    traffic = f"hotspot:nodes={listed},rates={','.join(map(str, rates))},share={share}"
    check(spec, traffic, patterns.hotspot(terminals, hot, share))


def test_hot_spots_in_ranges_and_parts():
    check("mesh:20", "hotspot:nodes=3-5,9", patterns.hotspot(20, dict.fromkeys([3, 4, 5, 9], 1)))
    check("mesh:20", "hotspot:nodes=3-5,9,rates=1,1", patterns.hotspot(20, {3: 1, 4: 1, 5: 1, 9: 3}))
    check("mesh:20", "hotspot:nodes=15%", patterns.hotspot(20, dict.fromkeys([0, 6, 13], 1)))
    check("mesh:20", "hotspot:nodes=0.001", patterns.hotspot(20, {0: 1}))
    check("mesh:97", "hotspot:nodes=0.1", patterns.hotspot(97, dict.fromkeys(patterns.spread(97, 10), 1)))


@pytest.mark.parametrize(
    ("spec", "size"),
    [("dragonfly:a=4,h=2,p=2", 4), ("dragonfly:a=2,h=2,p=3,g=3", 2), ("flex:3x4x3,p=2", 12), ("flex:3x3x5", 9)],
)
def test_the_next_group(spec, size):
    check(spec, "next-group", patterns.next_group(graphs.build(spec).homes, size))


@quickly
@given(st.integers(2, 120), st.integers(1, 60), st.sampled_from([0.0, 0.1, 0.5, 1.0]))
def test_blended(terminals, io, share):
    if io < terminals:
        check(f"mesh:{terminals}", f"blended:io={io},share={share}", patterns.blended(terminals, io, share))
    check(f"mesh:{terminals}", "blended", patterns.blended(terminals, -(-terminals // 10)))


@pytest.mark.parametrize(
    ("spec", "io"), [("dragonfly:a=4,h=2,p=2", 7), ("mesh:10", 3), ("hyperx:3x3,p=4", 5), ("flex:3x3x3,p=2", 53)]
)
def test_blended_to_fixed_nodes(spec, io):
    check(spec, f"blended:io={io},to=fixed", patterns.blended_fixed(graphs.build(spec).homes, io))


@quickly
@given(st.data(), st.integers(2, 40))
def test_pairs_of_a_file(tmp_path_factory, data, terminals):
    ids, weights = st.integers(0, terminals - 1), st.sampled_from([0.0, 0.5, 1.0, 3.0])
    flows = data.draw(st.lists(st.tuples(ids, ids, weights), min_size=1, max_size=60))
    file = tmp_path_factory.mktemp("pairs") / "flows.csv"
    rows = [f"{src},{dst}" if weight == 1 else f"{src}, {dst}, {weight}" for src, dst, weight in flows]
    file.write_text("# some flows\nsource,destination,weight\n\n" + "\n".join(rows) + "\n")
    expected = patterns.pairs(terminals, flows)
    if any(expected):
        check(f"mesh:{terminals}", f"pairs:{file}", expected)
    else:
        with pytest.raises(TopoloomError, match="no terminal has another one to send to"):
            chances(f"mesh:{terminals}", f"pairs:{file}")


def test_a_random_permutation_is_one():
    for seed in range(5):
        to = [next(iter(each)) for each in chances("mesh:50", f"random-permutation:seed={seed}")]
        assert sorted(to) == list(range(50))
    # Every terminal is equally likely to be the first one's destination: 3,000 seeds over 5 cells.
    first = [next(iter(chances("mesh:5", f"random-permutation:seed={seed}")[0])) for seed in range(3000)]
    assert all(500 < first.count(to) < 700 for to in range(5))


DRAWN = ["asymmetric", "hotspot:nodes=1,5-7,rates=3,1,share=0.5", "blended:io=3", "uniform:exclude-self"]


@pytest.mark.parametrize("traffic", DRAWN)
def test_the_engine_draws_what_the_weights_say(traffic):
    """Mean hops on a mesh: the weights' own, within their noise."""
    side, config = 12, json.dumps({"warmup": 0, "measure": 60_000})
    network = _core.Network(f"mesh:{side}")
    point = measured(network, "dor", traffic, 0.05, config)
    sending = {source: to for source, to in enumerate(chances(f"mesh:{side}", traffic)) if to}
    lengths = [(p / len(sending), 1 + abs(to - source)) for source, each in sending.items() for to, p in each.items()]
    mean = sum(p * length for p, length in lengths)
    deviation = (sum(p * (length - mean) ** 2 for p, length in lengths) / point["packets"]) ** 0.5
    assert point["active_terminals"] == len(sending)
    assert point["packets"] > 10_000
    assert abs(point["hops"] - mean) < 4 * deviation


MISTAKES = [
    ("hotspot", "nodes is missing"),
    ("hotspot:nodes=9", "'9' is no terminal of mesh:9; ids go from 0 to 8"),
    ("hotspot:nodes=", "nodes has no value"),
    ("hotspot:nodes=5-2", "ends before it begins"),
    ("hotspot:nodes=1.5", "a part of them such as 0.1"),
    ("hotspot:nodes=0%", "a part of them such as 0.1"),
    ("hotspot:nodes=1,2,rates=1", "rates has 1 number, and nodes has 2; they must be as many"),
    ("hotspot:nodes=1,rates=-1", "rates is '-1'"),
    ("hotspot:nodes=1,2,rates=1e308,1e308", "rates is '1e308,1e308'"),
    ("hotspot:nodes=1,rates=0", "all rates are 0"),
    ("hotspot:nodes=0.5,rates=1", "rates go with a list"),
    ("hotspot:nodes=1,share=2", "share is '2'; it must be from 0 to 1"),
    ("hotspot:node=1", "unknown key of hotspot 'node' (did you mean 'nodes'?)"),
    ("hotspot:nodes=1,nodes=2", "nodes is given twice"),
    ("hotspots:nodes=1", "did you mean 'hotspot'"),
    ("asymmetric:nodes=1", "takes no keys"),
    ("bit-complement:bits=0", "bits is 0"),
    ("bit-complement:bits=x", "bits is 'x'"),
    ("bit-reversal:bit=3", "did you mean 'bits'"),
    ("uniform:exclude-self=maybe", "must be true or false"),
    ("neighbor:by=router", "unknown value of by 'router' (did you mean 'routers'?)"),
    ("neighbor:sides=3x0", "sides is '3x0'"),
    ("tornado:sides=65536x65536", "the product of sides must be less than 2^32"),
    ("tornado:by=routers,sides=3x3", "sides are those of a grid of terminals"),
    ("blended:io=9", "one at least must compute"),
    ("blended:io=0", "io is '0'"),
    ("blended:io=10", "io is '10'"),
    ("blended:share=nan", "share is 'nan'"),
    ("blended:to=fix", "unknown value of to 'fix' (did you mean 'fixed'?)"),
    ("pairs", "needs a FILE"),
    ("pairs:/nonexistent.csv", "/nonexistent.csv: No such file"),
]


@pytest.mark.parametrize(("traffic", "told"), MISTAKES, ids=[traffic for traffic, _ in MISTAKES])
def test_mistakes(traffic, told):
    with pytest.raises(TopoloomError) as raised:
        chances("mesh:9", traffic)
    assert told in str(raised.value)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("0,1\n2\n", "line 2: 1 column; there must be source,destination,weight"),
        ("0,1\n\n2,3,4,5\n", "line 3: 4 columns"),
        ("0,1\n2,9\n", "line 2: destination is '9'; it must be a whole number from 0 to 8"),
        ("-1,1\n", "line 1: source is '-1'"),
        ("0,1,-2\n", "line 1: weight is '-2'; it must be a number from 0 to 1e100"),
        ("0,1,1e308\n0,2,1e308\n", "line 1: weight is '1e308'"),
        ("0,1,inf\n", "line 1: weight is 'inf'"),
        ("0;1\n", "line 1: 1 column;"),
        ("source,dst\n0,1\n", "line 1: the columns are source,dst; they must be source,destination,weight"),
        ("0,1\nsource,destination\n", "line 2: source is 'source'"),
        ("# nothing\n", "flows.csv has no rows; each row must be source,destination,weight"),
        ("source,destination\n", "flows.csv has no rows"),
        ("0,1,0\n", "on mesh:9: no terminal has another one to send to"),
    ],
)
def test_mistakes_in_a_file_of_pairs(tmp_path, text, told):
    file = tmp_path / "flows.csv"
    file.write_text(text)
    with pytest.raises(TopoloomError) as raised:
        chances("mesh:9", f"pairs:{file}")
    assert told in str(raised.value)


def test_every_pattern_is_listed_with_its_keys():
    listed = {item["name"]: item for item in _core.traffic_patterns()}
    assert listed["pairs"]["argument"] == "FILE"
    assert [key["name"] for key in listed["hotspot"]["keys"]] == ["nodes", "rates", "share"]
