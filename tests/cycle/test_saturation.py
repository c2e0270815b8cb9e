"""The search for saturation: against a full sweep, against the bound of expected channel loads, and what it costs."""

import dataclasses
from types import SimpleNamespace

import pytest

from harness.engine import bound_of
from topoloom import Network, TopoloomError, _core, compare
from topoloom.simulation.curves import Curve
from topoloom.simulation.options import make_options
from topoloom.simulation.plans import bend_plan, fixed_plan, highest_stable, knee_plan, near_plan, search_plan
from topoloom.simulation.runs import run_plans
from topoloom.simulation.simulator import Simulator


def searched(spec: str, routing: str, traffic: str, **options) -> Curve:
    simulator = Simulator(_core.Network(spec), routing, traffic, make_options(options), precise=())
    run_plans([(simulator, search_plan(simulator.curve))])
    return simulator.curve


def swept(spec: str, routing: str, traffic: str, loads: list[float]) -> Curve:
    """What `simulate` does at these loads, and nothing else."""
    simulator = Simulator(_core.Network(spec), routing, traffic, make_options({}), searching=False)
    run_plans([(simulator, fixed_plan(loads))])
    return simulator.curve


def cycles(curve: Curve) -> int:
    return sum(point.cycles for point in curve.points.values())


def bound(spec: str, routing: str, traffic: str) -> float:
    found: float = bound_of(spec, routing, traffic)["saturation_bound"]
    return found


def test_a_coarse_run_of_a_network_that_fills_slowly_ends_when_its_latency_has_settled():
    """Queues fill for thousands of cycles: a run that ends after 1,000 is 7 % below one of 20,000."""
    network = Network("slimfly:q=9,p=8")
    coarse, long = (
        network.simulate(routing="ugal-l", traffic="worst-case", load=0.25, **options).points[0.25].latency_cycles
        for options in ({"precision": 0.05}, {"warmup": 16_000, "measure": 4_000})
    )
    assert coarse == pytest.approx(long, rel=0.05)


def test_queues_that_fill_are_not_taken_for_saturation():
    """While they fill, less arrives than is sent: 2.2 % less in cycles 1,500 to 3,000, and none after them."""
    network = Network("dragonfly:a=8,h=4,p=4")
    (point,) = network.simulate(routing="ugal-l", traffic="next-group", load=0.3).points.values()
    assert not point.saturated
    assert point.accepted == pytest.approx(0.3, rel=0.01)


def test_deep_queues_that_fill_for_long_are_not_taken_for_saturation():
    """Queues of 256 flits, which the routing weighs, fill for tens of thousands of cycles, and settle."""
    network = Network("slimfly:q=5,p=4")
    own, long = (
        network.simulate(routing="ugal-l", traffic="worst-case", load=0.37, buffer=256, **options).points[0.37]
        for options in ({}, {"warmup": 80_000, "measure": 10_000})
    )
    assert not own.saturated
    assert own.latency_cycles == pytest.approx(long.latency_cycles, rel=0.05)


@pytest.mark.parametrize("cycles", [200, 500, 2000])
def test_long_links_are_not_taken_for_saturation(cycles):
    """Until the first packets have crossed fewer arrive than are sent, and the latencies of those that do grow."""
    (point,) = Network("mesh:8x8").simulate(load=0.1, buffer=1000, links={"local": cycles}).points.values()
    assert not point.saturated
    assert point.converged
    assert point.accepted == pytest.approx(0.1, rel=0.02)
    # Over all pairs, 5.25 links of that many cycles.
    assert point.latency_cycles == pytest.approx(5.25 * cycles, rel=0.05)


def test_a_latency_that_rises_is_past_saturation_and_one_that_has_settled_is_not():
    """Full load is nearly carried: a queue that is never idle grows without end, however little is turned away."""
    points = Network("hyperx:4x4,p=4").simulate(load=[1.0, 0.9]).points
    full, high = points[1.0], points[0.9]
    assert full.accepted >= 0.98
    assert full.saturated
    assert not full.converged
    assert full.cycles <= 40_000
    assert high.converged
    assert not high.saturated


def test_a_search_finds_what_a_sweep_finds_in_a_third_of_its_cycles():
    """The sweep: 0.1:0.9:0.1, and the nine loads of 0.01 between the last that is stable and the next."""
    case = ("torus:8x8", "dor", "tornado")
    curve = searched(*case)
    found = curve.saturation_load
    assert found is not None
    tenth = int(found * 10 + 1e-9) / 10
    loads = {step / 10 for step in range(1, 10)} | {round(tenth + step / 100, 2) for step in range(1, 10)}
    sweep = swept(*case, sorted(loads))
    sweep.points[0.001] = curve.points[0.001]
    stable = max(load for load in loads if sweep.is_stable(load))
    assert found == pytest.approx(stable, abs=0.0101)
    assert cycles(curve) <= (cycles(sweep) - sweep.points[0.001].cycles) / 3


def test_only_the_loads_between_those_shown_are_measured_coarsely():
    options = make_options({})
    simulator = Simulator(_core.Network("mesh:4x4"), "dor", "uniform", options, precise=[0.1])
    seen = {load: simulator.options_at(load) for load in (0.001, 0.1, 0.25)}
    assert (seen[0.001].warmup, seen[0.001].measure) == (0, 30_000)
    assert seen[0.1] == options
    assert seen[0.25].precision == 0.05
    fixed = make_options({"warmup": 10, "measure": 20})
    simulator = Simulator(_core.Network("mesh:4x4"), "dor", "uniform", fixed, precise=[])
    assert simulator.options_at(0.001) == simulator.options_at(0.5) == fixed


def test_the_empty_network_is_measured_well_enough():
    """Its latency on a mesh: 4 cycles for the terminals' links, 1 per router and 2 per link, over all pairs."""
    for spec, hops in (("mesh:8x8", 1 + 2 * 2.625), ("mesh:16", 1 + (16 * 16 - 1) / (3 * 16))):
        latency = searched(spec, "dor", "uniform", measure=None).zero_load_latency
        assert latency == pytest.approx(4 + hops + 2 * (hops - 1), rel=0.04)


UNIFORM = [
    ("mesh:8x8", "dor", "uniform"),
    ("torus:8x8", "dor", "tornado"),
    ("torus:5x5", "dor", "worst-case"),
    ("mesh:6x6", "dor", "worst-case"),
    ("hyperx:4x4,p=4", "dor", "worst-case"),
    ("slimfly:q=5,p=3", "min", "worst-case"),
    ("dragonfly:a=4,h=2,p=2", "min", "worst-case"),
    ("flex:4x4x3,p=4", "min", "worst-case"),
    ("fattree:k=4,levels=2", "nca", "worst-case"),
    ("hyperx:4x4,p=4", "dor", "hotspot:nodes=0,5,10,share=0.2"),
    ("mesh:6x6", "dor", "asymmetric"),
]


@pytest.mark.parametrize(("spec", "routing", "traffic"), UNIFORM)
def test_saturation_stays_below_the_bound(spec, routing, traffic):
    """Exactly in what is reported; what is measured alone may pass it: by a 50th, as 0.98 has to be accepted."""
    curve = searched(spec, routing, traffic)
    most = bound(spec, routing, traffic)
    assert curve.bound is not None
    assert curve.saturation_load <= most
    curve.bound = None
    assert curve.most_stable <= most / 0.98 + 0.01


def test_a_load_past_the_bound_is_not_stable_however_it_is_measured(tmp_path):
    """Two flows of 134 share a channel: all others hide for a while that these two cannot be served past 1 / 2."""
    side = 12
    rows = [(y * side + x, y * side + (x ^ 1)) for y in range(1, side) for x in range(side)]
    (pairs := tmp_path / "pairs.csv").write_text(
        "source,destination\n" + "".join(f"{a},{b}\n" for a, b in [(0, 2), (1, 3), *rows])
    )
    curve = searched(f"mesh:{side}x{side}", "dor", f"pairs:{pairs}")
    assert curve.bound.saturation_bound == 0.5
    assert curve.saturation_load == curve.saturation_dict()["saturation_load"] == 0.5
    measured = dataclasses.replace(curve, bound=None)
    assert 0.5 < measured.saturation_load < 1
    assert not curve.is_stable(measured.saturation_load)


def test_bursts_are_searched_up_to_what_they_can_offer(tmp_path):
    """Half of the time off: a packet of one flit per cycle while on offers 0.5, of four flits all that a link takes."""
    bursts = {"injection": "on-off:alpha=0.1,beta=0.1", "warmup": 500, "measure": 5_000}
    network = Network("mesh:4x4")
    curve = network.saturation("dor", "neighbor", **bursts)
    assert max(curve.points) == curve.most_load == 0.5
    assert curve.accepted_at_1 is None
    assert network.saturation("dor", "uniform", packet=4, **bursts).accepted_at_1 is not None
    # All on 1 of 10 cycles: the bursts of one terminal in every ten fill a link; a fast one offers less for all.
    rare = bursts | {"injection": "on-off:alpha=0.1,beta=0.9"}
    assert network.saturation("dor", "neighbor", **rare).saturation_load == 0.1
    (rates := tmp_path / "rates.csv").write_text("terminal,rate\n0,17\n")
    assert network.saturation("dor", "neighbor", rates=str(rates), **bursts).most_load == 0.05
    compared = compare(["mesh:4x4"], ["dor"], ["neighbor"], "0.1:0.9:0.1", **bursts)
    assert max(compared.curves[0].points) == 0.5


VALIANT = [
    ("torus:8", "tornado", {}),
    ("torus:8x8", "tornado", {}),
    ("dragonfly:a=4,h=2,p=2", "next-group", {}),
    ("hyperx:4x4,p=4", "bit-complement", {}),
]


@pytest.mark.parametrize(("spec", "traffic", "options"), VALIANT)
def test_valiant_reaches_most_of_the_bound_under_adversarial_traffic(spec, traffic, options):
    most = bound(spec, "val", traffic)
    found = searched(spec, "val", traffic, **options).saturation_load
    assert 0.85 * most <= found <= most / 0.98 + 0.01


def test_what_a_window_accepts_does_not_depend_on_how_long_its_packets_are_waited_for():
    network = Network("dragonfly:a=4,h=2,p=2")
    window = {"warmup": 1000, "measure": 500}
    whole, none, some = (
        network.simulate("minimal", "worst-case", 1.0, **window, **drain).points[1.0]
        for drain in ({}, {"drain": 0}, {"drain": 100})
    )
    assert whole.accepted == none.accepted == some.accepted
    assert (none.cycles, some.cycles) == (1500, 1600)
    assert whole.cycles > some.cycles
    assert none.saturated
    assert not none.converged


def test_packets_that_nothing_waits_for_do_not_saturate_a_network():
    found = Network("mesh:4x4").simulate(load=0.1, warmup=500, measure=1000, drain=0).points[0.1]
    assert found.cycles == 1500
    assert not found.saturated


def test_a_drain_that_is_given_is_kept_where_links_are_long():
    """Packets take two thousand cycles here, and a run without a drain waits for none of them."""
    network = Network("mesh:2,rate=400G,rate.terminal=400G,delay.local=2us")
    window = {"warmup": 500, "measure": 1000}
    assert network.simulate(load=0.1, **window, drain=0).points[0.1].cycles == 1500
    assert network.simulate(load=0.1, **window).points[0.1].cycles > 1500 + 1000


def test_a_drain_follows_a_window():
    with pytest.raises(TopoloomError, match="drain follows a window: give warmup and measure"):
        Network("mesh:4x4").simulate(load=0.1, drain=5)


class Knee:
    """A curve that is stable up to a load; latencies are those of a queue, or say nothing."""

    bound = None

    def __init__(self, knee, most=1.0, zero_load_latency=None):
        self.knee, self.most_load, self.points = knee, most, {}
        self.zero_load_latency = zero_load_latency

    def is_stable(self, load):
        return load <= self.knee + 1e-9

    def point(self, load):
        """Latency is thrice that of an empty network a little above the knee, and does not grow without end."""
        latency = None
        if empty := self.zero_load_latency:
            latency = empty * (1 + min(0.1 * load / max(self.knee + 0.05 * (load + 0.1) - load, 1e-3), 9 + load))
        return SimpleNamespace(accepted=min(load, self.knee + 0.02), active_terminals=10_000, latency_cycles=latency)

    def searched(self, near, parts=100):
        return self.followed(near_plan(self, near, parts))

    def followed(self, plan):
        for loads in plan:
            for load in loads:
                assert load not in self.points
                self.points[load] = self.point(load)
        return max((load for load in self.points if self.is_stable(load) and load >= 0.01), default=0)


@pytest.mark.parametrize("empty", [None, 20.0])
@pytest.mark.parametrize("most", [0.8, 1.0])
def test_a_search_near_a_load_finds_every_saturation_load_and_asks_for_none_twice(most, empty):
    for part in range(101):
        for near in (0.003, 0.31, part / 100 + 0.02, 0.97, 1.2):
            curve = Knee(part / 100, most, empty)
            assert curve.searched(near) == pytest.approx(min(part / 100, most))


@pytest.mark.parametrize(
    ("near", "parts", "begins"),
    [(0.5, 100, [0.25, 0.4]), (0.01, 100, [0.01]), (0.5, 20, [0.25, 0.3]), (0.98, 20, [0.75]), (0.02, 20, [0.05])],
)
def test_a_search_near_a_load_begins_at_parts_of_it(near, parts, begins):
    """At half and four fifths; in a coarse grid at half and three fifths, or four fifths of nearly full load."""
    curve = Knee(1.0)
    curve.searched(near, parts)
    assert list(curve.points)[: 1 + len(begins)] == [0.001, *begins]


def test_a_search_near_the_saturation_load_takes_few_simulations():
    """One of an empty network, up to four at the knee, two below it for the curve."""
    for part in range(10, 100):
        curve = Knee(part / 100)
        curve.searched((part + 2) / 100)
        assert len(curve.points) <= 7


@pytest.mark.parametrize("latencies", [lambda _: 25.0, lambda _: 20.0, lambda load: 30.0 - load])
def test_latencies_that_do_not_grow_say_nothing_and_do_no_harm(latencies):
    """The same at all loads, that of an empty network, and falling ones, as of few packets."""
    for part in range(5, 100, 6):
        curve = Knee(part / 100, zero_load_latency=20.0)
        curve.point = lambda load, own=curve: SimpleNamespace(
            accepted=min(load, own.knee + 0.02), active_terminals=10_000, latency_cycles=latencies(load)
        )
        assert curve.searched((part + 5) / 100) == pytest.approx(part / 100)


def test_latencies_below_saturation_spare_simulations_past_it():
    """Those take longest, and end with nothing that is kept; the load to look around is what full load accepts."""
    past = []
    for part in range(20, 99):
        curve = Knee(part / 100, zero_load_latency=20.0)
        curve.searched(min(0.99, (part + 8) / 100))
        past.append(sum(not curve.is_stable(load) for load in curve.points))
    assert sum(past) / len(past) < 1.4, past


@pytest.mark.parametrize("empty", [None, 20.0])
def test_a_coarse_search_finds_the_largest_stable_load_of_its_grid(empty):
    """Runs past the knee take longest: there is hardly more than the one that ends the search."""
    runs, past = [], []
    for part in range(5, 101):
        curve = Knee(part / 100, zero_load_latency=empty)
        assert curve.searched((part + 2) / 100, 20) == pytest.approx(part // 5 / 20)
        runs.append(len(curve.points))
        past.append(sum(not curve.is_stable(load) for load in curve.points))
    assert sum(past) / len(past) < 1.2, past
    assert sum(runs) / len(runs) < 6.5, runs


def test_a_coarse_search_meets_slow_runs_past_the_knee_once():
    """Where a routing weighs queues, those of a worst case fill for ten thousand cycles far below full load."""
    curve = Knee(0.38, zero_load_latency=20.0)
    assert curve.searched(0.71, 20) == pytest.approx(0.35)
    assert sorted(curve.points) == [0.001, 0.35, 0.4]


def test_a_coarse_search_leaves_out_full_load_where_destinations_are_drawn():
    """A channel to a terminal that is busy all the time has no steady state, whatever a short simulation shows."""
    assert highest_stable("uniform", 20) == 0.95
    curve = Knee(0.97, zero_load_latency=20.0)
    assert curve.followed(near_plan(curve, 0.98, 20, highest_stable("uniform", 20))) == pytest.approx(0.95)
    assert max(curve.points) <= 0.95
    assert len(curve.points) <= 3, "nearly full load is carried: it begins at 0.75"
    full = Knee(1.0)
    assert full.followed(near_plan(full, 0.98, 20, highest_stable("shift", 20))) == pytest.approx(1.0)


def test_a_search_near_a_load_leaves_out_what_is_past_the_bound():
    curve = Knee(0.5)
    curve.bound = SimpleNamespace(saturation_bound=0.505)
    assert curve.searched(0.7) == pytest.approx(0.5)
    assert max(curve.points) <= 0.505


def test_a_search_that_begins_far_above_saturation_goes_down_to_what_is_accepted():
    """One of an empty network, one far above, up to four at the knee, two below it for the curve."""
    for part in range(10, 80):
        curve = Knee(part / 100)
        curve.searched((part + 20) / 100)
        assert len(curve.points) <= 8, list(curve.points)


def test_a_search_that_begins_far_below_saturation_follows_the_latencies():
    """One of an empty network, up to six at the knee, two below it for the curve; eleven by steps that double."""
    for part in range(25, 100):
        curve = Knee(part / 100, zero_load_latency=20.0)
        curve.searched((part - 10) / 100)
        assert len(curve.points) <= 9, list(curve.points)


@pytest.mark.parametrize(
    ("spec", "traffic", "near"), [("mesh:4x4", "uniform", 0.5), ("hyperx:4x4,p=4", "worst-case", 0.6)]
)
def test_a_search_near_a_load_ends_where_one_from_afar_does(spec, traffic, near):
    simulator = Simulator(_core.Network(spec), "minimal", traffic, make_options({}), precise=())
    run_plans([(simulator, near_plan(simulator.curve, near))])
    assert simulator.curve.saturation_load == searched(spec, "minimal", traffic).saturation_load


class FullKnee(Knee):
    """A curve of many terminals that accepts a little more at full load than it carries."""

    def __init__(self, knee, bound=None, zero_load_latency=None):
        super().__init__(knee, zero_load_latency=zero_load_latency)
        self.bound = SimpleNamespace(saturation_bound=bound) if bound else None


@pytest.mark.parametrize("empty", [None, 20.0])
def test_a_search_in_a_large_network_starts_near_what_is_accepted_at_full_load(empty):
    for part in range(101):
        curve = FullKnee(part / 100, zero_load_latency=empty)
        assert curve.followed(search_plan(curve)) == pytest.approx(part / 100)
        assert len(curve.points) <= 6, list(curve.points)
    below = FullKnee(0.5, bound=0.505)
    assert below.followed(search_plan(below)) == pytest.approx(0.5)
    assert max(load for load in below.points if load < 1) <= 0.505, "loads past the bound need no simulation"


def test_the_first_load_below_what_full_load_accepts_is_rounded_to_the_nearest():
    """What is accepted comes with noise: rounded down, a simulation of thousands of cycles at the knee is added."""
    for accepted in (0.9899, 0.9901):
        curve = FullKnee(0.98)
        curve.point = lambda load, most=accepted: SimpleNamespace(
            accepted=min(load, most), active_terminals=10_000, latency_cycles=None
        )
        assert curve.followed(search_plan(curve)) == pytest.approx(0.98)
        assert sorted(curve.points) == [0.001, 0.98, 0.99, 1.0]


def test_a_search_in_a_large_network_need_not_wait_until_latencies_hardly_drift():
    few, many = (
        Simulator(_core.Network(spec), "minimal", "uniform", make_options(given), precise=())
        for spec, given in (("hyperx:8x8,p=63", {}), ("hyperx:8x8,p=64", {}))
    )
    assert [own.options_at(0.5).precision for own in (few, many)] == [0.05, 0.1]
    coarse = Simulator(
        _core.Network("hyperx:8x8,p=64"), "minimal", "uniform", make_options({"precision": 0.2}), precise=()
    )
    assert coarse.options_at(0.5).precision == 0.2


def test_latencies_tell_where_saturation_is():
    """One run of an empty network, one at full load, and those on both sides of saturation, hardly more."""
    runs = []
    for part in range(20, 99):
        curve = FullKnee(part / 100, zero_load_latency=20.0)
        curve.followed(search_plan(curve))
        runs.append(len(curve.points))
    assert sum(runs) / len(runs) < 4.5, runs


def test_idle_processors_take_part_in_a_point_of_a_large_network_and_change_nothing():
    network = _core.Network("hyperx:8x8,p=64")
    window = {"warmup": 20, "measure": 20, "drain": 0}
    simulator = Simulator(network, "minimal", "uniform", make_options(window), searching=False)
    assert simulator.shares_well
    asked = Simulator(network, "minimal", "uniform", make_options(window | {"threads": 1}), searching=False)
    small = Simulator(_core.Network("mesh:4x4"), "minimal", "uniform", make_options(window), searching=False)
    assert not asked.shares_well
    assert not small.shares_well
    one, two = (simulator.point(0.2, _core.CancelToken(), threads=threads) for threads in (1, 2))
    assert one is not None
    assert two is not None
    times = {"wall_s", "cpu_s", "peak_rss_bytes"}
    assert one.model_dump(exclude=times) == two.model_dump(exclude=times)


def test_a_lower_precision_needs_fewer_terminals_for_short_runs():
    """216 terminals are many for 5 %: half as many batches are enough, and the latency is that of a precise run."""
    network = Network("hyperx:6x6,p=6")
    short, precise = (network.simulate(load=0.6, precision=p).points[0.6] for p in (0.05, 0.01))
    assert short.converged
    assert precise.converged
    assert short.measured_cycles < 0.7 * precise.measured_cycles
    assert short.latency_cycles == pytest.approx(precise.latency_cycles, rel=0.05)


def test_what_is_accepted_past_saturation_settles_at_any_precision():
    """The window has 2,000 cycles, however coarse the latency may be."""
    for spec in ("hyperx:6x6,p=6", "hyperx:3x3,p=3"):
        point = Network(spec).simulate(load=1.0, traffic="worst-case", precision=0.05).points[1.0]
        assert point.measured_cycles >= 2000


def test_runs_of_large_networks_are_short_and_as_precise():
    """Far below saturation a window of 1,000 cycles shows what the short one has to."""
    network = Network("hyperx:8x8,p=64")
    short = network.simulate(load=0.05, precision=0.05).points[0.05]
    long = network.simulate(load=0.05, warmup=100, measure=1000).points[0.05]
    assert short.converged
    assert short.cycles < 1000 < long.cycles
    assert short.latency_cycles == pytest.approx(long.latency_cycles, rel=0.01)


TENTHS = [tenth / 10 for tenth in range(1, 11)]


def follow(curve, plan):
    """Follow a plan, which may ask again for what there is."""
    for batch in plan:
        for load in batch:
            curve.points.setdefault(load, curve.point(load))


def test_a_comparison_measures_the_knee_and_what_lies_below_it():
    """In a network of few terminals: loads that make the curve are tried first, then hundredths."""
    for part in range(101):
        curve = Knee(part / 100)
        curve.point = lambda load, own=curve: SimpleNamespace(accepted=min(load, own.knee), active_terminals=16)
        follow(curve, knee_plan(curve, TENTHS))
        stable = [load for load in curve.points if curve.is_stable(load)]
        assert max(stable, default=0) == pytest.approx(part / 100)
        below = {tenth for tenth in TENTHS if tenth <= part / 100}
        assert below <= set(curve.points)
        # One run of an empty network, one at full load, up to four at tenths and four at hundredths.
        assert len(set(curve.points) - below) <= 2 + 4 + 4, list(curve.points)


def bent(curve, loads, tolerance):
    """Follow the plan, and return the loads that are stable and those that are not."""
    follow(curve, bend_plan(curve, loads, tolerance))
    found = sorted(curve.points)
    return [load for load in found if curve.is_stable(load)], [load for load in found if not curve.is_stable(load)]


@pytest.mark.parametrize("part", [*range(7, 100, 4), 100])
@pytest.mark.parametrize("tolerance", [0.02, 0.1])
def test_straight_lines_follow_a_curve_that_is_placed_where_it_bends(part, tolerance):
    """Each point is near the line between its neighbours, unless these are as near as loads may be."""
    curve = Knee(part / 100, zero_load_latency=20.0)
    stable, past = bent(curve, [0.03, 0.5, 0.95], tolerance)
    assert {0.001, 0.03} <= set(stable)
    assert max(curve.points) == 0.95
    if past:
        assert 0 < past[0] - stable[-1] <= 0.015 + 1e-9
        assert len(past) <= 7
    else:
        assert stable[-1] == 0.95
    latency = {load: curve.points[load].latency_cycles for load in stable}
    for a, b, c in zip(stable, stable[1:], stable[2:], strict=False):
        line = latency[a] + (latency[c] - latency[a]) * (b - a) / (c - a)
        assert abs(line - latency[b]) <= tolerance * latency[b] or max(b - a, c - b) < 0.02
    assert all(load in (0.001, 0.95) or round(100 * load) == pytest.approx(100 * load) for load in curve.points)
    assert len(curve.points) < 40


@pytest.mark.parametrize("tolerance", [0.0, 0.05])
def test_a_straight_curve_needs_no_more_points(tolerance):
    """A latency that does not change: its ends, and those that place the knee by halves."""
    curve = Knee(0.4)
    curve.point = lambda load: SimpleNamespace(accepted=load, active_terminals=16, latency_cycles=20.0)
    stable, past = bent(curve, [0.1, 0.9], tolerance)
    assert {0.001, 0.1, 0.4} <= set(stable)
    assert past[0] == pytest.approx(0.41)
    # Ninety parts are halved seven times at most until one is left.
    assert len(curve.points) <= 3 + 7
    whole = Knee(1.0)
    whole.point = curve.point
    assert bent(whole, [0.1, 0.9], tolerance) == ([0.001, 0.1, 0.9], [])
