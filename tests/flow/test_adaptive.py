"""Adaptive routings in the flow engine, between the best of all splits (a linear program) and oblivious routings."""

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import topoloom
from harness.lengths import with_long
from oracles import concurrent, fairness, graphs
from topoloom import TopoloomError, _core, flows

LINK = 10**9  # bytes per second at gbps=8


def shifted(terminals: int, by: int) -> list[tuple[int, int]]:
    return [(place, (place + by) % terminals) for place in range(terminals)]


def permuted(terminals: int) -> list[tuple[int, int]]:
    return list(enumerate(np.random.default_rng(3).permutation(terminals).tolist()))


# The shift that the network likes least: to the next group, the next line, half way round.
ADVERSE = {
    "dragonfly:a=4,h=2,p=2": 8,
    "hyperx:4x4,p=4": 4,
    "torus:6x6": 3,
    "slimfly:q=5,p=3": 75,
    "xgft:down=4x4,up=4": 5,
}


def makespan(spec: str, pairs: list[tuple[int, int]], routing: str, paths: int) -> float:
    sources, targets = zip(*pairs, strict=True)
    flow = f"gbps=8,paths={paths}"
    return flows.run(
        topoloom.network(spec), sources, targets, [LINK] * len(pairs), routing=routing, flow=flow
    ).makespan_s


@pytest.mark.parametrize("paths", [1, 8])
@pytest.mark.parametrize("pattern", ["adverse", "permutation"])
@pytest.mark.parametrize("spec", with_long(ADVERSE, lambda spec: spec.startswith("slimfly")))
def test_a_split_lies_between_the_best_of_all_and_the_better_oblivious_one(spec, pattern, paths):
    terminals = topoloom.network(spec).num_terminals
    pairs = shifted(terminals, ADVERSE[spec]) if pattern == "adverse" else permuted(terminals)
    bound = 1 / concurrent.largest(graphs.build(spec), [pair for pair in pairs if pair[0] != pair[1]])
    found = {name: makespan(spec, pairs, name, paths) for name in ("minimal", "val", "adaptive")}
    assert found["adaptive"] >= bound * (1 - 1e-9), "no split of flows is faster"
    assert found["adaptive"] <= min(found["minimal"], found["val"]) * (1 + 1e-9), found
    if paths > 1:
        assert found["adaptive"] <= 2 * bound, (found, bound)


@pytest.mark.parametrize("spec", ["dragonfly:a=4,h=2,p=2", "hyperx:4x4,p=2", "torus:6x6", "slimfly:q=5,p=1"])
def test_no_detours_where_all_links_are_needed(spec):
    """All to all: minimal paths fill the links evenly, and every detour costs somebody else's."""
    terminals = topoloom.network(spec).num_terminals
    pairs = [(a, b) for a in range(terminals) for b in range(terminals) if a != b]
    assert makespan(spec, pairs, "adaptive", 1) <= 1.02 * makespan(spec, pairs, "minimal", 1)


def test_two_flows_of_a_link_take_a_detour_or_share_it():
    star = topoloom.network("hyperx:4,p=2")
    pairs = [0, 1], [2, 3]
    assert flows.rates(star, *pairs, flow="gbps=8") == pytest.approx([LINK / 2] * 2)
    for routing in ("adaptive", "ugal-l", "ugal-g", "lbr", "par"):
        assert flows.rates(star, *pairs, routing=routing, flow="gbps=8") == pytest.approx([LINK] * 2), routing
        run = flows.run(star, *pairs, [LINK] * 2, routing=routing, flow="gbps=8")
        assert run.makespan_s == pytest.approx(1), routing
        assert run.facts["routing"] == ("dal" if routing == "adaptive" else routing)


@pytest.mark.parametrize(("bytes_", "seconds"), [(LINK, 1.54), (LINK // 5, 1.53)])
def test_what_is_still_to_cross_a_link_counts(bytes_, seconds, tmp_path: Path):
    """A second message begins after half a second: it makes a detour of a link more only if the first is under way."""
    goal = tmp_path / "two.goal"
    goal.write_text(
        f"""num_ranks 8
rank 0 {{ a: send {bytes_}b to 2 tag 1 }}
rank 1 {{ a: calc 500000000
          b: send {LINK}b to 3 tag 1
          b requires a }}
rank 2 {{ a: recv {bytes_}b from 0 tag 1 }}
rank 3 {{ a: recv {LINK}b from 1 tag 1 }}
"""
    )
    (result,) = topoloom.workload(
        "hyperx:4,p=2", f"goal:{goal}", routing="adaptive", rate="8Gb/s", flow_engine="latency=10ms"
    ).results
    assert result.makespan_s == pytest.approx(seconds)
    assert (result.routing, result.role) == ("dal", "adaptive")


# Networks that together offer every routing that adapts.
OFFERING = (
    "dragonfly:a=4,h=2,p=2",
    "hyperx:3x4,p=2",
    "fattree:k=3,levels=3",
    "galaxyfly:n=5,q=5,a=2,p=2",
    "twin-torus:4x4x2x2x2",
    "flex:4x4x3,p=2",
)


@pytest.mark.parametrize("spec", OFFERING)
def test_every_adaptive_routing_runs_and_repeats_itself(spec):
    network = topoloom.network(spec)
    pairs = permuted(network.num_terminals)
    sources, targets = zip(*[pair for pair in pairs if pair[0] != pair[1]], strict=True)
    sizes = [LINK // (1 + place % 3) for place in range(len(sources))]
    known = {info.name: info.adapts for info in _core.routings()}
    for routing in network.core.routings():
        if not known[routing]:
            continue
        first, again = (
            flows.run(network, sources, targets, sizes, routing=routing, flow="gbps=8,paths=2") for _ in range(2)
        )
        assert (first.times == again.times).all(), routing
        assert first.facts["bytes"] == sum(sizes)
        assert first.makespan_s >= first.facts["ideal_s"]


def test_seeds_draw_other_paths_and_mistakes_are_as_elsewhere():
    network = topoloom.network("dragonfly:a=4,h=2,p=2")
    sources, targets = zip(*shifted(72, 8), strict=True)
    runs = [
        flows.run(network, sources, targets, [LINK] * 72, routing="adaptive", flow=f"gbps=8,seed={seed}").channel_bytes
        for seed in (1, 2)
    ]
    assert (runs[0] != runs[1]).any()
    with pytest.raises(TopoloomError, match="does not offer the routing 'anca'"):
        flows.run(network, sources, targets, [LINK] * 72, routing="anca")


def test_parts_share_bytes_as_their_rates_allow(tmp_path: Path):
    """Two disjoint paths of 8 and 4 Gb/s carry two thirds and one third, and end together."""
    file = tmp_path / "paths.csv"
    file.write_text("router_a,router_b,rate_gbps\n0,1,8\n1,3,8\n0,2,4\n2,3,4\n")
    network = topoloom.network(f"file:{file}")
    run = flows.run(network, [0], [3], [3 * LINK], routing="amin", flow="paths=2,consumption=inf")
    assert run.makespan_s == pytest.approx(2)
    assert sorted(run.channel_bytes[run.channel_bytes > 0]) == pytest.approx([LINK, LINK, 2 * LINK, 2 * LINK])
    # A routing that does not adapt gives each part its half, and the slower one decides.
    halves = flows.run(network, [0], [3], [3 * LINK], routing="min", flow="paths=64,consumption=inf")
    assert halves.makespan_s > 2.5


@settings(max_examples=60, deadline=None)
@given(st.integers(8, 32), st.integers(1, 2), st.integers(1, 2))
def test_messages_that_share_their_bytes_end_as_the_definition_says(across, first, second):
    """Corner to corner of a square on both paths, beside short messages on a link of each path."""
    square = topoloom.network("mesh:2x2")
    sizes = [across, first, second]
    run = flows.run(
        square,
        [0, 0, 2],
        [3, 1, 3],
        [size * LINK for size in sizes],
        routing="amin",
        flow="gbps=8,paths=2,consumption=inf",
    )
    right, left = ["0-1", "1-3"], ["0-2", "2-3"]
    names = {name: place for place, name in enumerate(right + left)}
    paths = [[[names[hop] for hop in path] for path in (right, left)], [[names["0-1"]]] * 2, [[names["2-3"]]] * 2]
    ends = fairness.shared_completions(
        paths, [Fraction(size * LINK) for size in sizes], dict.fromkeys(names.values(), Fraction(LINK))
    )
    assert run.times[:, 1] == pytest.approx([float(end) for end in ends], rel=1e-9)
    assert run.channel_bytes.sum() == pytest.approx((2 * across + first + second) * LINK, rel=1e-9)


def test_messages_of_two_tasks_go_one_after_the_other(tmp_path: Path):
    goal = tmp_path / "three.goal"
    own, other = (
        "\n".join(f"{tag}: {verb} {LINK}b {way} tag {place}" for place, tag in enumerate("abc"))
        for verb, way in (("send", "to 1"), ("recv", "from 0"))
    )
    goal.write_text(f"num_ranks 2\nrank 0 {{ {own} }}\nrank 1 {{ {other} }}\n")
    (result,) = topoloom.workload(
        "hyperx:2", f"goal:{goal}", routing="adaptive", rate="8Gb/s", flow_engine="paths=4"
    ).results
    assert result.makespan_s == pytest.approx(3)
    assert result.message_mean_s == pytest.approx((1 + 2 + 3) / 3)


@pytest.mark.parametrize("paths", [1, 4])
@pytest.mark.parametrize("routing", ["minimal", "adaptive"])
def test_a_message_that_joins_others_on_their_path_shares_from_then_on(paths, routing, tmp_path: Path):
    """Three units alone for a second, then beside one unit: that one ends at 3 s, the others at 4 s."""
    goal = tmp_path / "later.goal"
    goal.write_text(
        "num_ranks 4\n"
        f"rank 0 {{ a: send {3 * LINK}b to 2 }}\n"
        f"rank 1 {{ wait: calc {10**9}\nb: send {LINK}b to 3\nb requires wait }}\n"
        f"rank 2 {{ a: recv {3 * LINK}b from 0 }}\n"
        f"rank 3 {{ b: recv {LINK}b from 1 }}\n"
    )
    (result,) = topoloom.workload(
        "mesh:2,p=2", f"goal:{goal}", routing=routing, rate="8Gb/s",
        flow_engine=f"paths={paths},injection=inf,consumption=inf",
    ).results  # fmt: skip
    assert result.makespan_s == pytest.approx(4)
    assert result.message_mean_s == pytest.approx((4 + 2) / 2)


@pytest.mark.parametrize("paths", [1, 4])
def test_the_timeline_counts_the_parts_of_the_messages_under_way(paths):
    """One unit and three share a link for two seconds, then the longer has it for two more."""
    run = flows.run(
        topoloom.network("mesh:2,p=2"), [0, 1], [2, 3], [LINK, 3 * LINK], routing="adaptive",
        flow=f"gbps=8,paths={paths}",
    )  # fmt: skip
    counts = run.facts["timeline"]["flows"]
    half = len(counts) // 2
    assert counts == pytest.approx([2 * paths] * half + [paths] * half)


def test_flows_of_a_pair_begin_together_and_share_like_others():
    """Each gets as much as any other flow to the same terminal, however many there are of a pair."""
    star = topoloom.network("hyperx:4")
    options = {"routing": "adaptive", "flow": "gbps=8,paths=4,seed=5"}
    run = flows.run(star, [0, 0, 0], [1, 1, 1], [LINK] * 3, **options)
    assert run.times == pytest.approx(np.array([[0, 3]] * 3))
    run, again = (flows.run(star, [0, 0, 0, 2], [1, 1, 1, 1], [LINK] * 4, **options) for _ in range(2))
    assert run.times[:, 1] == pytest.approx([4] * 4)
    assert (run.times == again.times).all()
    assert run.facts["bytes"] == 4 * LINK


@pytest.mark.parametrize("options", ["", ",coalesce=0.05", ",latency=10us", ",model=share", ",model=sticky"])
def test_bytes_of_messages_that_share_them_are_all_carried(options):
    network = topoloom.network("dragonfly:a=4,h=2,p=2")
    pairs = [pair for pair in permuted(network.num_terminals) if pair[0] != pair[1]]
    sizes = [LINK // (1 + place % 5) for place in range(len(pairs))]
    run = flows.run(network, *zip(*pairs, strict=True), sizes, routing="par", flow=f"gbps=8,paths=4{options}")
    assert run.facts["bytes"] == sum(sizes)
    assert run.channel_bytes[-network.num_terminals :].sum() == pytest.approx(sum(sizes), rel=1e-9)
    timeline = run.facts["timeline"]
    spans = [timeline["interval_s"]] * len(timeline["bytes_per_s"])
    spans[-1] = run.makespan_s - sum(spans[:-1])
    carried = sum(rate * span for rate, span in zip(timeline["bytes_per_s"], spans, strict=True))
    assert carried == pytest.approx(sum(sizes), rel=1e-9)
