"""Parts of the funnel by themselves, against their definitions."""

from itertools import product
from types import SimpleNamespace

import pytest

from topoloom import TopoloomError
from topoloom.design import funnel as funnel_module
from topoloom.design.criteria import Value
from topoloom.design.funnel import (
    BEATEN,
    BEATEN_AS_ESTIMATED,
    BEATEN_AT_BEST,
    BOUNDS,
    BUILT,
    SHORT,
    TOO_SLOW,
    Funnel,
    InterruptionError,
    _carries_more,
)
from topoloom.design.question import make_question
from topoloom.design.rounds import ALIKE
from topoloom.studies import Progress, StudyPoint

APP = "allreduce:size=16MiB"


def funnel(**asked) -> Funnel:
    return Funnel(make_question({"terminals": (16, 16), "radix": 8} | asked), None, SimpleNamespace(submit=None))


def entrant(spec, **more) -> SimpleNamespace:
    """A network of which only what a test needs is known."""
    given = {"spec": spec, "routing": "dor", "cluster": "", "values": {}, "most": {}, "split": {}, "windows": 0}
    return SimpleNamespace(**given | {"details": {}, "candidate": SimpleNamespace(terminals=16, routers=9)} | more)


def answered(own, results) -> None:
    """Answer what a funnel asks for by a function of the point; no result is None."""

    def known(points, _seconds=None):
        return {point.key: told for point in points if (told := results(point)) is not None}

    own._results = known


def test_a_network_carries_more_if_one_bound_is_higher_and_none_lower():
    """What differs by the tolerance is alike; traffics that one of them lacks say nothing."""
    for pairs in product([(1, 1), (1, 2), (2, 1), (1, 1 + ALIKE / 2), (1 + ALIKE / 2, 1)], repeat=2):
        one, other = ({name: pair[side] for name, pair in zip("ab", pairs, strict=True)} for side in (0, 1))
        expected = (2, 1) in pairs and (1, 2) not in pairs
        assert _carries_more(one, other) is expected, pairs
        assert _carries_more(one | {"c": 9}, other) is expected


def test_each_network_that_misses_a_requirement_is_counted_once():
    own = funnel(min_bisection=0.5, max_diameter=3)
    facts = [(0.6, 3), (0.4, 2), (0.4, 9), (0.5, 4), (None, 1)]
    entrants = [SimpleNamespace(spec=str(facts), facts={"beta": beta, "diameter": far}) for beta, far in facts]
    for place, entrant in enumerate(entrants):
        entrant.spec = str(place)
    assert [entrant.spec for entrant in own._meeting(entrants)] == ["0"]
    assert own._dropped[BUILT] == {"misses min-bisection": 2, "misses max-diameter": 2}


@pytest.mark.parametrize(
    ("facts", "sentence"),
    [
        (
            [(0.4, 3), (0.3, 3)],
            "no network meets min-bisection 0.5 of full bisection, which excludes 2 of 2 networks; "
            "the nearest that meets all else that is asked is 0 with 0.4 of full bisection",
        ),
        (
            [(0.6, 4), (0.4, 9), (0.7, 5), (0.45, 3)],
            "no network meets all that is asked; max-diameter 3 hops excludes 3 of 4 networks; "
            "the nearest that meets all else that is asked is 0 with 4 hops",
        ),
        (
            [(0.4, 5), (0.3, 4)],
            "no network meets max-diameter 3 hops, which excludes 2 of 2 networks; "
            "the nearest, which misses min-bisection too, is 1 with 4 hops",
        ),
    ],
)
def test_what_excludes_networks_is_told_as_it_is(facts, sentence):
    """All networks that miss the limit count, and the sentence claims no more than what holds."""
    entrants = [
        SimpleNamespace(spec=str(place), facts={"beta": beta, "diameter": far})
        for place, (beta, far) in enumerate(facts)
    ]
    with pytest.raises(TopoloomError) as told:
        funnel(min_bisection=0.5, max_diameter=3)._meeting(entrants)
    assert str(told.value) == sentence


def test_networks_that_are_not_on_the_front_are_counted_by_what_beat_them():
    windows = {"a": [], "b": [], "c": [], "d": [1], "e": []}
    entrants = [SimpleNamespace(spec=spec, windows=own) for spec, own in windows.items()]
    own, rounds = funnel(), SimpleNamespace(entrants=entrants, unbeaten=lambda: entrants[:2])
    own._count_beaten(rounds, entrants[:1])
    assert own._dropped[BOUNDS] == {BEATEN_AS_ESTIMATED: 1, BEATEN_AT_BEST: 2}
    assert own._dropped[SHORT] == {BEATEN: 1}


def test_accelerators_of_a_host_share_its_interfaces():
    """Four accelerators on two interfaces: an interface sends what two tasks do."""
    plain, shared = (funnel(apps=APP, **more)._sent for more in ({}, {"hosts": "v100-4"}))
    assert plain.keys() == shared.keys()
    assert list(shared.values()) == pytest.approx([2 * sent for sent in plain.values()])


def test_makespans_that_were_measured_are_not_played_again():
    own = funnel(apps=APP)
    [name] = own._sent
    kinds = {"new": {}, "estimated": {name: Value(1, 1, 1, "estimate")}, "measured": {name: Value(1, 1, 1, "measured")}}
    entrants = [SimpleNamespace(spec=spec, values=values) for spec, values in kinds.items()]
    own._application = lambda entrant, app: (entrant.spec, app)
    assert set(own._to_play(entrants)) == {("new", name), ("estimated", name)}


@pytest.mark.parametrize(("stage", "told"), [(SHORT, ""), (BOUNDS, " by the lengths of its paths")])
def test_networks_that_carry_the_least_throughput_or_more_are_kept(stage, told):
    """Before they are simulated the upper bound decides, then what was measured."""

    def some(*loads):
        values = [Value(0.4, 0, load, "bound") if stage == BOUNDS else Value(load, 0, 1, "measured") for load in loads]
        return [
            entrant(f"{load}", values={"saturation.uniform": value}) for load, value in zip(loads, values, strict=True)
        ]

    own = funnel(min_throughput=0.5)
    assert [each.spec for each in own._fast_enough(some(0.5, 0.499, 0.7, 0.1), stage)] == ["0.5", "0.7"]
    assert own._dropped[stage] == {TOO_SLOW: 2}
    assert own._fast_enough([], stage) == []
    with pytest.raises(TopoloomError, match=rf"the nearest is 0\.4 with 0\.4{told}$"):
        own._fast_enough(some(0.3, 0.4, 0.2), stage)


@pytest.mark.parametrize(
    ("left", "part"),
    [
        ((0.4, 0.6, 0.5), (0.5, 0.35, 0.65)),
        ((0.8, 0.88, 0.8), (1.0, 0.85, 1.15)),
        ((0.08, 0.6, 0.5), (0.1, 0.0, 0.25)),
        ((0.7, "deadlocked", 0.7), (0.0, 0.0, 0.15)),
    ],
)
def test_the_worst_draw_of_failures_says_what_survives(left, part):
    """The whole network accepts 0.8; the first window is off by 0.15."""
    own, network = funnel(survive="links=10%", seed=4), entrant("mesh:3x3")
    accepted = dict(zip((f"links=10%,seed={seed}" for seed in (4, 5, 6)), left, strict=True)) | {None: 0.8}

    def result(point):
        load = accepted[point.options.get("fail")]
        return {"deadlocked": load == "deadlocked", "accepted": 0.1 if load == "deadlocked" else load}

    answered(own, result)
    assert own._broken([network], "links=10%", 0) == [network]
    value = network.values["survivable"]
    assert (value.value, value.low, value.high) == pytest.approx(part)
    assert value.known == "measured"


@pytest.mark.parametrize("missing", [None, "links=10%,seed=5"])
def test_networks_that_fall_apart_are_counted(missing):
    own, some = funnel(survive="links=10%", seed=4), [entrant("mesh:3x3"), entrant("mesh:2x2"), entrant("mesh:2x3")]
    answered(
        own,
        lambda point: (
            None
            if point.options.get("fail") == missing and point.spec != "mesh:2x2"
            else {"deadlocked": False, "accepted": 0.5}
        ),
    )
    assert [each.spec for each in own._broken(some, "links=10%", 0)] == ["mesh:2x2"]
    [(why, count)] = own._dropped[SHORT].items()
    assert count == 2
    assert "links=10%" in why


def test_networks_that_accept_nothing_keep_nothing():
    own, network = funnel(survive="links=10%"), entrant("mesh:3x3")
    answered(own, lambda _: {"deadlocked": False, "accepted": 0.0})
    own._broken([network], "links=10%", 0)
    assert network.values["survivable"].value == 0


@pytest.mark.parametrize(
    ("terminals", "value", "settings"),
    [
        (16, None, {"options": {"seed": 7}}),
        (16, 0.6, {"options": {"seed": 7}, "near": 0.57}),
        (16, 0.98, {"options": {"seed": 7}, "near": 0.98}),
        (4000, None, {"options": {"seed": 7, "precision": 0.1}}),
        (4000, 0.6, {"options": {"seed": 7, "precision": 0.1}, "near": 0.57, "parts": 20}),
    ],
)
def test_saturation_loads_are_searched_near_what_full_load_showed(terminals, value, settings):
    """In steps of 0.01, or of 0.05 where networks are large; stable is 0.95 of what is accepted, if that is not all."""
    values = {} if value is None else {"saturation.uniform": Value(value, 0, 1, "measured")}
    point = funnel(terminals=(terminals, terminals), seed=7)._search(entrant("mesh:4x4", values=values), "uniform")
    assert (point.kind, point.traffic) == ("saturation", "uniform")
    told = dict(point.settings)
    assert told.pop("near", None) == (pytest.approx(settings.pop("near")) if "near" in settings else None)
    assert told == settings


@pytest.mark.parametrize(
    ("terminals", "split", "expected"),
    [
        (
            16,
            {"uniform": 0.9, "tornado": 0.4},
            ([0.01, 0.05], 3, ["uniform", "tornado"], {"uniform": 0.9, "tornado": 0.4}),
        ),
        (16, {"uniform": 0.9}, ([0.01, 0.05], 3, ["uniform", "tornado"], None)),
        (50_000, {"uniform": 0.9, "tornado": 0.4}, ([0.05], 1, ["uniform"], {"uniform": 0.9})),
        (50_000, {}, ([0.05], 1, ["uniform"], None)),
    ],
)
def test_finalists_are_broken_once_where_they_are_large(terminals, split, expected):
    """What the whole network carries is passed on, where it is known under all traffics that are asked for."""
    own = funnel(terminals=(terminals, terminals), radix=64, traffic=["uniform", "tornado"])
    point = own._faults(entrant("mesh:4x4", split=split), "links")
    options = point.options
    told = (options["fractions"], options["trials"], options["throughput"], point.settings.get("intact"))
    assert told == expected


def test_makespans_are_estimated_until_they_are_played():
    own = funnel(apps=APP)
    [name] = own._sent
    known = {"old": Value(9, 9, 9, "estimate"), "played": Value(7, 7, 7, "measured")}
    uniform = Value(0.5, 0.0, 1.0, "bound")
    some = [
        entrant(
            spec, values={"saturation.uniform": uniform} | ({name: known[spec]} if spec in known else {}), cluster=hosts
        )
        for spec, hosts in (("new", ""), ("old", ""), ("played", ""), ("hosted", "cluster"))
    ]
    own._estimate(some)
    values = {each.spec: each.values[name] for each in some}
    alone = own._sent[name] / 50e9
    assert values["new"] == values["old"] == Value(2 * alone, alone, float("inf"), "estimate")
    assert values["played"] == known["played"]
    assert values["hosted"] == Value(2 * alone, 0.0, float("inf"), "estimate")


def test_networks_that_could_not_play_are_dropped():
    own = funnel(apps=APP)
    [name] = own._sent
    some = [entrant("mesh:2x8"), entrant("mesh:4x4", values={name: Value(9, 9, 9, "estimate")}), entrant("torus:4x4")]
    plays = own._to_play(some)
    made = {"mesh:2x8": 0.25, "torus:4x4": None}
    known = {plays[spec, name].key: {"makespan_s": seconds} for spec, seconds in made.items()}
    kept = own._timed(some, plays, known)
    assert [each.spec for each in kept] == ["mesh:2x8"]
    assert kept[0].values[name] == Value(0.25, 0.25, 0.25, "measured")
    assert own._dropped[SHORT] == {f"{name} cannot be measured": 2}
    assert name not in some[1].values, "an estimate does not stand for what cannot be played"


@pytest.mark.parametrize(
    ("terminals", "runs"), [(16, [(["new"], 0), (["new", "seen"], 2)]), (50_000, [([], 0), (["new", "seen"], 0)])]
)
def test_finalists_that_were_not_simulated_begin_with_the_shortest_window(terminals, runs):
    own, done = funnel(terminals=(terminals, terminals), radix=64, traffic="uniform"), []
    own._simulated = lambda some, rung: done.append(([each.spec for each in some], rung))
    own._look_around = done.append
    answered(own, lambda point: {"kind": point.kind, "spec": point.spec})
    finalists = [entrant("new"), entrant("seen", windows=2)]
    own._measure_in_full(finalists)
    assert done == [*runs, finalists]
    searched = {("saturation", "uniform")} if terminals == 16 else set()
    for each in finalists:
        assert {kind for kind in each.details if kind[0] != "optics"} == searched | {
            ("layout", ""), ("verify", ""), ("faults", "links"), ("faults", "routers"),
        }  # fmt: skip
        assert {told["spec"] for told in each.details.values()} == {each.spec}


@pytest.mark.parametrize(("accepted", "low", "high"), [(0.4, 0.34, 0.46), (0.99, 0.98, 1.0)])
def test_full_load_shows_what_networks_accept(accepted, low, high):
    own, some = funnel(traffic="uniform"), [entrant(spec, most={"uniform": 1.0}) for spec in ("a", "b", "c")]
    points = []

    def result(point):
        points.append(point)
        return None if point.spec == "b" else {"deadlocked": point.spec == "c", "accepted": accepted}

    answered(own, result)
    assert [each.spec for each in own._simulated(some, 0)] == ["a"]
    value = some[0].values["saturation.uniform"]
    assert (value.value, value.low, value.high, value.known) == (
        accepted,
        pytest.approx(low),
        pytest.approx(high),
        "measured",
    )
    assert own._dropped[SHORT] == {"saturation.uniform cannot be measured": 2}
    assert {each.windows for each in some} == {1}
    for point in points:
        assert (point.kind, point.load, point.routing) == ("simulate", 1.0, "dor")
        assert point.options == {"warmup": 1000, "measure": 500, "drain": 0, "seed": 1}


@pytest.mark.parametrize("more", [{}, {"apps": APP}, {"survive": "links=10%"}])
def test_bounds_stand_for_throughput_until_it_is_measured(more):
    """Makespans are estimated by uniform traffic, which is bounded with them, and failures by the first traffic."""
    own, noted = funnel(traffic="tornado", **more), {}
    bounds = {"tornado": (0.5, 0.75), "uniform": (1.25, 1.5)}
    asked = []

    def results(points, times=None):
        noted.update(times or {})
        asked.extend(points := list(points))
        return {
            point.key: dict(zip(("split_bound", "distance_bound"), bounds[point.traffic], strict=True))
            for point in points
            if point.spec != "mesh:3x3"
        }

    own._results = results
    own._holding = lambda entrants: entrants
    some = [entrant("mesh:2x2"), entrant("mesh:3x3")]
    assert own._bounded(some) == some[:1]
    assert own._dropped[BOUNDS] == {"traffic or routing that the network does not have": 1}
    wanted = {"tornado"} | ({"uniform"} if "apps" in more else set())
    assert {point.traffic for point in asked} == wanted
    assert set(noted.values()) == {1e-5 * 81}
    network = some[0]
    assert network.values["saturation.tornado"] == Value(0.5, 0.0, 0.75, "bound")
    assert (network.most["tornado"], network.split["tornado"]) == (0.75, 0.5)
    if "apps" in more:
        assert network.values["saturation.uniform"] == Value(1.0, 0.0, 1.0, "bound")
        assert (network.most["uniform"], network.split["uniform"]) == (1.0, 1.0)


@pytest.mark.parametrize(
    ("asked", "fabric", "behind_hosts"),
    [
        ("adaptive", "dal", "hosts:fabric=adaptive"),
        ("minimal", "min", "hosts"),
        ("ugal-l", "ugal-l", "hosts:fabric=ugal-l"),
    ],
)
def test_applications_on_hosts_are_routed_in_the_fabric_as_the_question_says(asked, fabric, behind_hosts):
    """A role is that of the whole cluster, and any other routing that of the fabric."""
    for hosts, routing in (({}, fabric), ({"hosts": "v100-4"}, behind_hosts)):
        own, network = funnel(apps=APP, routing=asked, **hosts), entrant("hyperx:4,p=4")
        own._routed([network])
        point = own._application(network, APP)
        assert (network.routing, point.routing) == (fabric, routing)
        assert point.spec == (network.cluster if hosts else network.spec)
        assert point.spec.startswith("cluster:") == bool(hosts)
        assert point.traffic == f"{APP},tasks=16"


def test_what_fails_is_an_error_where_nothing_of_its_kind_has_a_result(monkeypatch):
    """Of three points one fails: the others are answered, by keys of earlier versions too. Then its kind has none."""
    points = [StudyPoint("split", "mesh:2x2", traffic=name) for name in ("uniform", "tornado")]
    points.append(StudyPoint("facts", "mesh:2x2"))
    rows = [{"key": point.keys[-1], "result": f'{{"of": "{point.kind}"}}'} for point in points[1:]]
    rows.append({"key": points[2].key, "result": '{"of": "a row that comes later"}'})
    ledger = SimpleNamespace(rows=lambda keys: [row for row in rows if row["key"] in keys])
    own = Funnel(make_question({"terminals": 16, "radix": 8}), ledger, SimpleNamespace(submit=None))
    ran, done = [], {"count": 2}

    def run_points(some, *_, keep_going, **__):
        assert keep_going
        ran.extend(some)
        return Progress(total=len(some), done=done["count"], failed={points[0]: "no routing has it"})

    monkeypatch.setattr(funnel_module, "run_points", run_points)
    assert own._results([*points, points[0]]) == {points[1].key: {"of": "split"}, points[2].key: {"of": "facts"}}
    assert ran == points, "each once"
    rows[:1] = []
    with pytest.raises(TopoloomError, match="no network can be measured; of the first: no routing has it"):
        own._results(points)
    done["count"] = 1
    with pytest.raises(InterruptionError):
        own._results(points)
