"""The flow engine against rates and completions from their definitions (tests/oracles/fairness.py), over the paths of
the routings' oracle (tests/oracles/routes.py)."""

from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import topoloom
from harness.paths import DATA
from oracles import fairness, graphs, routes
from topoloom import TopoloomError, flows

# Networks whose routing has one path for each pair, and the oracle's paths.
FIXED = {
    "mesh:4x3": routes.dor_mesh,
    "mesh:5,p=2": routes.dor_mesh,
    "torus:3x5": routes.dor_torus,
    "hypercube:3": routes.dor_mesh,
    "hyperx:3x3,p=2": lambda graph: routes.hyperx(graph, 1),
    "nesttree:t=2,u=4,endpoints=32,upper=2x4": routes.nested,
    "nestghc:t=2,u=8,endpoints=64,upper=4x2": routes.nested,
}
LINK = 10**9  # bytes per second at gbps=8


class Known:
    """A network, and the channels of its terminals' pairs by the oracle, numbered by name."""

    def __init__(self, spec: str) -> None:
        self.network = topoloom.network(spec)
        graph = graphs.build(spec)
        self.homes, self.paths, self.names = list(graph.homes), FIXED[spec](graph), {}

    def path(self, source: int, target: int, injection: bool, consumption: bool) -> list[int]:
        a, b = self.homes[source], self.homes[target]
        hops: list[tuple] = [(router, port) for router, port, _ in self.paths(a, b)[0][1]] if a != b else []
        ends = [("in", source)] * injection, [("out", target)] * consumption
        return [self.names.setdefault(name, len(self.names)) for name in [*ends[0], *hops, *ends[1]]]

    def capacity(self, injection: Fraction | None, consumption: Fraction | None) -> dict[int, Fraction]:
        limits = {"in": injection, "out": consumption}
        return {channel: limits.get(name[0]) or Fraction(LINK) for name, channel in self.names.items()}


@cache
def known(spec: str) -> Known:
    return Known(spec)


@st.composite
def instances(draw):
    """A network, pairs of its terminals, limits of terminals in link rates."""
    spec = draw(st.sampled_from(sorted(FIXED)))
    terminals = len(known(spec).homes)
    ends = st.integers(0, terminals - 1)
    pairs = draw(st.lists(st.tuples(ends, ends).filter(lambda pair: pair[0] != pair[1]), min_size=1, max_size=24))
    limits = st.sampled_from([None, Fraction(1), Fraction(1, 2), Fraction(3)])
    return spec, pairs, draw(limits), draw(limits)


def options(injection: Fraction | None, consumption: Fraction | None, more: str = "") -> str:
    sends, receives = ("inf" if limit is None else float(limit) for limit in (injection, consumption))
    return f"gbps=8,injection={sends},consumption={receives}{more}"


def with_links(spec: str, limit: Fraction | None) -> Fraction | None:
    """The limit of a terminal: where routers have several, no more than the link that each hangs on."""
    homes = known(spec).homes
    if len(set(homes)) == len(homes):
        return limit
    return Fraction(1) if limit is None else min(limit, Fraction(1))


def wanted_paths(spec, pairs, injection, consumption):
    injection, consumption = with_links(spec, injection), with_links(spec, consumption)
    paths = [known(spec).path(*pair, injection is not None, consumption is not None) for pair in pairs]
    scale = {"in": injection and injection * LINK, "out": consumption and consumption * LINK}
    return paths, known(spec).capacity(scale["in"], scale["out"])


@settings(max_examples=250, deadline=None)
@given(instances(), st.sampled_from(["max-min", "share"]))
def test_rates_are_those_of_the_definition(instance, model):
    spec, pairs, injection, consumption = instance
    paths, capacity = wanted_paths(spec, pairs, injection, consumption)
    flow = options(injection, consumption, f",model={model}")
    found = flows.rates(known(spec).network, *zip(*pairs, strict=True), routing="dor", flow=flow)
    seen = [place for place, path in enumerate(paths) if path]
    assert np.isinf(np.delete(found, seen)).all(), "nothing limits a flow without channels"
    oracle = fairness.max_min if model == "max-min" else fairness.share
    wanted = oracle([paths[place] for place in seen], capacity)
    assert found[seen] == pytest.approx([float(rate) for rate in wanted], rel=1e-9)


@settings(max_examples=120, deadline=None)
@given(instances(), st.data(), st.sampled_from(["max-min", "share"]))
def test_completions_are_those_of_the_definition(instance, data, model):
    spec, pairs, injection, consumption = instance
    sizes = data.draw(st.lists(st.integers(1, 6), min_size=len(pairs), max_size=len(pairs)))
    paths, capacity = wanted_paths(spec, pairs, injection, consumption)
    flow = options(injection, consumption, f",model={model}")
    run = flows.run(known(spec).network, *zip(*pairs, strict=True), [s * LINK for s in sizes], routing="dor", flow=flow)
    seen = [place for place, path in enumerate(paths) if path]
    oracle = fairness.max_min if model == "max-min" else fairness.share
    bytes_ = [Fraction(sizes[place] * LINK) for place in seen]
    ends = fairness.completions([paths[place] for place in seen], bytes_, capacity, oracle)
    assert run.times[seen, 1] == pytest.approx([float(end) for end in ends], rel=1e-9)
    assert (run.times[:, 0] == 0).all()
    assert (np.delete(run.times[:, 1], seen) == 0).all(), "what has no channels takes no time"
    assert run.makespan_s == pytest.approx(float(max(ends, default=0)), rel=1e-9)
    assert run.facts["events"] == len(set(ends)), "equal times are one instant"
    carried = sum(sizes[place] * len(paths[place]) for place in seen) * LINK
    assert run.channel_bytes.sum() == pytest.approx(carried, rel=1e-9)
    assert run.facts["bytes"] == pytest.approx(sum(map(float, bytes_)), rel=1e-9)


def test_known_answers():
    """Ten flows into one terminal; a long flow that meets two short ones; a bottleneck that frees another."""
    star = topoloom.network("hyperx:11")
    assert (flows.rates(star, range(1, 11), [0] * 10, flow="gbps=8") == LINK / 10).all()
    line = topoloom.network("mesh:4")
    # Routers 0 to 3: the flows 0-3 and 0-1 share the first link, 2-3 and 0-3 the last one; then 1-2 has the rest.
    rates = flows.rates(line, [0, 0, 0, 2, 1], [3, 1, 1, 3, 2], flow="gbps=8,consumption=inf")
    assert rates == pytest.approx([LINK / 3, LINK / 3, LINK / 3, 2 * LINK / 3, 2 * LINK / 3], rel=1e-12)
    share = flows.rates(line, [0, 0, 0, 2, 1], [3, 1, 1, 3, 2], flow="gbps=8,consumption=inf,model=share")
    assert share == pytest.approx([LINK / 3, LINK / 3, LINK / 3, LINK / 2, LINK / 2], rel=1e-12)


def test_completions_are_those_of_simgrid():
    """All 375, each after many others (tests/data/simgrid). On sides of 5 no two ways round are as long."""
    table = np.genfromtxt(DATA / "simgrid/torus-5x5x5.csv", delimiter=",", names=True)
    pairs = [table[name].astype(int) for name in ("source", "target", "bytes")]
    run = flows.run(topoloom.network("torus:5x5x5"), *pairs, routing="dor", flow="gbps=10,consumption=inf")
    assert run.times[:, 1] == pytest.approx(table["end_s"], rel=1e-12)


def test_sticky_flows_keep_their_rates_and_wait_where_nothing_is_left():
    line = topoloom.network("mesh:3")
    # 0-1 twice and 1-2 once, sizes 1, 3 and 1: the second keeps half of the link though the first has gone.
    run = flows.run(line, [0, 0], [1, 1], [LINK, 3 * LINK], flow="gbps=8,model=sticky,consumption=inf")
    assert run.times[:, 1] == pytest.approx([2, 6])
    fair = flows.run(line, [0, 0], [1, 1], [LINK, 3 * LINK], flow="gbps=8,consumption=inf")
    assert fair.times[:, 1] == pytest.approx([2, 4])


def test_a_limit_on_injection_holds_what_a_terminal_sends():
    star = topoloom.network("hyperx:4")
    free = flows.rates(star, [0, 0, 0], [1, 2, 3], flow="gbps=8")
    assert (free == LINK).all()
    assert flows.rates(star, [0, 0, 0], [1, 2, 3], flow="gbps=8,injection=1.5") == pytest.approx([LINK / 2] * 3)


def test_latency_is_for_each_link_those_of_terminals_included():
    for spec, links in (("mesh:4", 3), ("mesh:4,p=2", 5)):
        network = topoloom.network(spec)
        last = network.num_terminals - 1
        run = flows.run(network, [0, 2], [last, 2], [LINK, LINK], flow="gbps=8,latency=10ms")
        assert run.times[:, 1] == pytest.approx([1 + links * 0.01, 0]), "a message to oneself needs no link"


def test_parts_on_several_paths_use_them_together():
    """Two leaves of a tree with eight spines: one path has one link, many paths have nearly all."""
    tree = topoloom.network("xgft:down=8x2,up=8")
    one = flows.run(tree, range(8), range(8, 16), [LINK] * 8, routing="nca", flow="gbps=8,seed=3")
    many = flows.run(tree, range(8), range(8, 16), [LINK] * 8, routing="nca", flow="gbps=8,seed=3,paths=256")
    assert one.makespan_s >= 2, "random ways up collide"
    assert 1 <= many.makespan_s < 1.15
    assert (many.facts["flows"], one.facts["flows"]) == (8, 8), "messages, not their parts"
    again = flows.run(tree, range(8), range(8, 16), [LINK] * 8, routing="nca", flow="gbps=8,seed=3,paths=256")
    assert (again.times == many.times).all()


def test_completions_that_are_served_together():
    """Flows into one terminal each, of sizes 1.00, 1.01, …: fewer instants, and a makespan that is hardly longer."""
    star = topoloom.network("hyperx:65")
    sizes = [LINK + place * LINK // 100 for place in range(64)]
    exact = flows.run(star, range(64), [64] * 64, sizes, flow="gbps=8")
    some = flows.run(star, range(64), [64] * 64, sizes, flow="gbps=8,coalesce=0.02")
    assert exact.facts["events"] == 64
    assert some.facts["events"] < 20
    assert exact.makespan_s <= some.makespan_s <= exact.makespan_s * 1.03
    assert (some.times[:, 1] >= exact.times[:, 1] - 1e-9).all(), "nobody is served before it is complete"


def test_bytes_count_once_though_completions_wait():
    """What is complete and waits to be served with others carries nothing more."""
    line = topoloom.network("mesh:4")
    sizes = [LINK, 13 * LINK // 10, LINK // 1000]
    exact, some = (
        flows.run(line, [0, 2, 0], [1, 3, 1], sizes, flow=f"gbps=8,coalesce={share}") for share in ("0", "0.4")
    )
    assert some.facts["events"] < exact.facts["events"], "the first long one waits for the second"
    for run in (exact, some):
        assert run.facts["bytes"] == sum(sizes)
        timeline = run.facts["timeline"]
        ends = [timeline["interval_s"]] * len(timeline["bytes_per_s"])
        ends[-1] = run.makespan_s - sum(ends[:-1])
        carried = sum(rate * span for rate, span in zip(timeline["bytes_per_s"], ends, strict=True))
        assert carried == pytest.approx(sum(sizes), rel=1e-9)


def test_the_critical_path_the_timeline_and_the_channels():
    line = topoloom.network("mesh:4")
    run = flows.run(line, [0, 0, 2], [3, 1, 3], [4 * LINK, LINK, LINK], flow="gbps=8,consumption=inf")
    path, timeline = run.facts["critical_path"], run.facts["timeline"]
    assert [step["message"] for step in path["steps"]] == [0]
    assert path["message_s"] == pytest.approx(run.makespan_s) == pytest.approx(5)
    assert path["alone_s"] == pytest.approx(4)
    busy = sum(timeline["utilisation"]) * timeline["interval_s"] * 6
    assert busy == pytest.approx(4 * 3 + 1 + 1, rel=0.02), "link-seconds; the last interval is a part of one"
    [local] = run.facts["channels"]
    assert (local["channels"], local["used"], local["max_utilisation"]) == (6, 3, pytest.approx(1))
    assert [(c["from"], c["to"]) for c in run.facts["busiest"]] == [(0, 1), (2, 3), (1, 2)]
    assert run.facts["messages"]["max_s"] == pytest.approx(5)


@pytest.mark.parametrize(
    ("arguments", "flow", "words"),
    [
        (([0], [4], [1]), "", "flow 0 names the terminal 4; mesh:4 has the terminals 0 to 3"),
        (([0, 1], [1], [1]), "", "sources has 2 ids and targets 1; they must be as many"),
        (([0], [1], [1, 2]), "", "sizes has 2 numbers, but flows are 1; they must be as many"),
        (([0.5], [1], [1]), "", "sources must be a list of whole numbers"),
        (([0], [-1], [1]), "", "targets must be a list of whole numbers"),
        (([0], [1], [1]), "modl=share", "did you mean 'model'"),
        (([0], [1], [1]), "model=fair", "fair"),
        (([0], [1], [1]), "gbps=0", "gbps is 0; it must be a number above 0"),
        (([0], [1], [1]), "injection=0", "injection is 0"),
        (([0], [1], [1]), "coalesce=1", "coalesce is 1; it must be from 0 to below 1"),
        (([0], [1], [1]), "latency=0.1", "latency is '0.1'; it must be a time with its unit, as in 100ns"),
        (([0], [1], [1]), "paths=0", "paths is 0; it must be a whole number from 1 up"),
    ],
)
def test_mistakes(arguments, flow, words):
    with pytest.raises(TopoloomError, match=words):
        flows.run(topoloom.network("mesh:4"), *arguments, flow=flow)


def test_percentiles_are_nearest_ranks_of_all_messages():
    star = topoloom.network("hyperx:101")
    sizes = [LINK * (place + 1) for place in range(100)]
    run = flows.run(star, range(100), [*range(1, 100), 100], sizes, flow="gbps=8")
    took = np.sort(run.times[:, 1] - run.times[:, 0])
    told = run.facts["messages"]
    assert told["mean_s"] == pytest.approx(took.mean())
    assert (told["p50_s"], told["p99_s"], told["max_s"]) == pytest.approx((took[49], took[98], took[99]))


def test_the_ideal_is_what_terminals_and_single_messages_take():
    """Seven into one terminal; one out of another; a long one alone."""
    tree = topoloom.network("xgft:down=4x4,up=1")
    into = flows.run(tree, range(1, 8), [0] * 7, [LINK] * 7, flow="gbps=8")
    assert into.facts["ideal_s"] == pytest.approx(7)
    out = flows.run(tree, [0, 0, 0], [1, 5, 6], [LINK, LINK, 2 * LINK], flow="gbps=8")
    assert out.facts["ideal_s"] == pytest.approx(4)
    shared = flows.run(tree, range(4), range(4, 8), [LINK, LINK, LINK, 3 * LINK], flow="gbps=8,latency=10ms")
    assert shared.facts["ideal_s"] == pytest.approx(3 + 4 * 0.01)
    assert shared.makespan_s == pytest.approx(6 + 4 * 0.01), "all four share the one link up"
