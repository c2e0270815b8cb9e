"""What sending and receiving costs, by makespans computed by hand in the parameters of LogGOPS."""

from pathlib import Path

import pytest

import topoloom
from topoloom import TopoloomError

RATE = 5e10  # bytes per second of a link, unless a run says otherwise
L, O, G = 2e-6, 3e-7, 5e-7  # noqa: E741 - the names that the papers have


def makespan(rows: str, endpoint: str, tmp_path: Path, spec: str = "mesh:4", **options: str) -> float:
    file = tmp_path / "messages.csv"
    file.write_text("source,target,bytes,after\n" + rows)
    (result,) = topoloom.workload(spec, f"messages:{file}", endpoint=endpoint, **options).results
    assert result.state == "finished"
    return result.makespan_s


COSTS = "latency=2us,overhead=300ns,gap=500ns"


@pytest.mark.parametrize(
    ("rows", "endpoint", "wanted"),
    [
        # One message: o, its bytes, L, o.
        ("0,1,10000,\n", COSTS, O + 10_000 / RATE + L + O),
        # An answer goes out once its request has been taken in.
        ("0,1,10000,\n1,0,5000,0\n", COSTS, 2 * (O + L + O) + 15_000 / RATE),
        # Messages of one byte from one task to three: each g after the one before.
        ("0,1,1,\n0,2,1,\n0,3,1,\n", COSTS, O + 2 * G + 1 / RATE + L + O),
        # With no gap they follow by o.
        ("0,1,1,\n0,2,1,\n0,3,1,\n", "latency=2us,overhead=300ns", 3 * O + 1 / RATE + L + O),
        # Three come at the same time (their bytes share the way in): the task takes them in one after the other.
        ("1,0,100,\n2,0,100,\n3,0,100,\n", "overhead=300ns", O + 300 / RATE + 3 * O),
        # A long message waits for a request and its answer, a short one does not.
        ("0,1,65537,\n", COSTS + ",rendezvous=64KiB", O + 2 * (L + O) + 65_537 / RATE + L + O),
        ("0,1,65536,\n", COSTS + ",rendezvous=64KiB", O + 65_536 / RATE + L + O),
        # 3 packets of 4096 bytes at the most carry 64 more each.
        ("0,1,10000,\n", "header=64", (10_000 + 3 * 64) / RATE),
        ("0,1,10000,\n", "header=64,packet=1000", (10_000 + 10 * 64) / RATE),
        # A byte takes 1 ns at its terminal, less on the link.
        ("0,1,10000,\n", "per-byte=1ns", 10_000 * 1e-9),
        # Taken in byte by byte.
        ("0,1,10000,\n", "reduce=0.5ns", 10_000 / RATE + 5e-6),
    ],
)
def test_makespans_by_hand(rows, endpoint, wanted, tmp_path):
    assert makespan(rows, endpoint, tmp_path) == pytest.approx(wanted, rel=1e-9)


def test_a_request_and_its_answer_take_the_delays_of_links(tmp_path):
    spec = "mesh:4,rate=400G,delay=100ns"
    alone = makespan("0,3,100000,\n", "latency=1us", tmp_path, spec)
    assert alone == pytest.approx(1e5 / RATE + 3e-7 + 1e-6, rel=1e-9)
    asked = makespan("0,3,100000,\n", "latency=1us,rendezvous=1KiB", tmp_path, spec)
    assert asked - alone == pytest.approx(2 * (3e-7 + 1e-6), rel=1e-9)


LATE = """num_ranks 2
rank 0 {
busy: calc 20000
late: recv 64000b from 1
late requires busy
}
rank 1 {
send 64000b to 0
}
"""


@pytest.mark.parametrize(("engine", "rate", "bytes_s"), [("flow", "400Gb/s", 1.28e-6), ("cycle", "10Gb/s", 51.2e-6)])
def test_a_long_message_waits_until_its_receive_is_posted(engine, rate, bytes_s, tmp_path):
    """Rank 0 computes for 20 us before it posts the receive; the bytes alone take 1.28 and 51.2 us."""
    file = tmp_path / "late.goal"
    file.write_text(LATE)
    took = {}
    for costs in ("", "rendezvous=64000", "rendezvous=63999"):
        (result,) = topoloom.workload("hyperx:4", f"goal:{file}", endpoint=costs, engine=engine, rate=rate).results
        took[costs] = result.makespan_s
    few = 0 if engine == "flow" else 40 * CYCLE
    assert took[""] == took["rendezvous=64000"] == pytest.approx(max(20e-6, bytes_s), rel=1e-9, abs=few)
    assert took["rendezvous=63999"] == pytest.approx(20e-6 + bytes_s, rel=1e-9, abs=few)


@pytest.mark.parametrize("spec", ["torus:4x4", "mesh:3x3", "fattree:k=4,levels=2", "dragonfly:a=4,h=2,p=2"])
def test_what_waits_for_receivers_is_the_same_by_rule_and_by_list(spec):
    """Ranks drift apart on these networks; a rank of the rule is as far as the list of its operations says."""
    for app in ("alltoall:algorithm=pairwise", "alltoall", "allreduce:algorithm=ring"):
        took = [
            topoloom.workload(spec, app, endpoint=costs, flow_engine=f"symmetry={way}").results[0].makespan_s
            for costs in ("rendezvous=1", COSTS + ",rendezvous=1")
            for way in ("on", "off")
        ]
        assert took[0] == pytest.approx(took[1], rel=1e-9), app
        assert took[2] == pytest.approx(took[3], rel=1e-9), app


def test_ranks_of_a_pairwise_exchange_that_wait_for_their_receivers_stay_in_step():
    """A tree that blocks nothing carries every step at full rate: rendezvous keeps the ranks together there."""
    spec, app = "xgft:down=8x8,up=8", "alltoall:algorithm=pairwise"
    took = {
        (costs, routing): topoloom.workload(spec, app, routing=routing, endpoint=costs).results[0]
        for costs in ("", "rendezvous=1")
        for routing in ("nca", "anca")
    }
    eager, waits = took["", "anca"], took["rendezvous=1", "anca"]
    assert eager.makespan_s > 1.5 * waits.makespan_s
    assert waits.over_ideal < 2


def test_an_allreduce_pays_in_every_step():
    steps = 2 * (16 - 1)
    (plain,) = topoloom.workload("hyperx:16", "allreduce:size=16KiB,algorithm=ring").results
    (costly,) = topoloom.workload("hyperx:16", "allreduce:size=16KiB,algorithm=ring", endpoint=COSTS).results
    # A step begins once its part has been taken in; the next send of a task comes at least g after the one before.
    assert costly.makespan_s - plain.makespan_s == pytest.approx(steps * (O + L + O), rel=1e-9)
    assert costly.ideal_s == plain.ideal_s
    assert any("endpoint" in sentence for sentence in costly.assumptions)


CYCLE = 51.2e-9
"""Of the cycle engine: a flit of 64 bytes at 10 Gb/s."""


def cycles(rows: str, endpoint: str, tmp_path: Path, spec: str = "hyperx:4", **options: str) -> float:
    return makespan(rows, endpoint, tmp_path, spec, engine="cycle", rate="10Gb/s", **options) / CYCLE


FLITS = "latency=2048ns,overhead=307.2ns,gap=512ns"
"""40, 6 and 10 cycles."""

ONE = 8
"""Cycles that a message of one flit takes where endpoints are free: two routers and their links."""


@pytest.mark.parametrize(
    ("rows", "endpoint", "wanted"),
    [
        # Cycles beside those in which a message of one flit arrives, where endpoints are free.
        ("0,1,10000,\n", FLITS, 6 + 156 + 40 + 6),
        ("0,1,10000,\n1,0,1,0\n", FLITS, 156 + ONE + 2 * (6 + 40 + 6)),
        ("0,1,1,\n0,2,1,\n0,3,1,\n", FLITS, 6 + 2 * 10 + 40 + 6),
        ("0,1,1,\n0,2,1,\n0,3,1,\n", "latency=2048ns,overhead=307.2ns", 3 * 6 + 40 + 6),
        # Three come within 6 cycles: the task takes them in one after the other.
        ("1,0,1,\n2,0,1,\n3,0,1,\n", "overhead=307.2ns", 6 + 3 * 6),
        ("0,1,10000,\n", FLITS + ",rendezvous=9999", 6 + 2 * (ONE + 46) + 156 + 46),
        ("0,1,10000,\n", FLITS + ",rendezvous=10000", 6 + 156 + 46),
        # A byte takes 1 ns: a flit 64 ns, 5/4 cycles, of 157 flits.
        ("0,1,10000,\n", "per-byte=1ns", 156 * 5 / 4),
        # 65 packets of 60 bytes need as many flits.
        ("0,1,3900,\n", "header=4", 64),
        ("0,1,10000,\n", "reduce=0.512ns", 156 + 100),
    ],
)
def test_cycles_by_hand(rows, endpoint, wanted, tmp_path):
    one, long = (cycles(f"0,1,{size},\n", "", tmp_path) - 1 for size in (1, 10_000))
    assert (one, long) == pytest.approx((ONE, ONE + 156))
    assert cycles(rows, endpoint, tmp_path) - 1 == pytest.approx(ONE + wanted, abs=1.01)


def test_both_engines_agree_on_what_endpoints_cost(tmp_path):
    """A ring of large messages on a full mesh: endpoints add the same, but for flits that ask and answer."""
    asking_s = 2 * (8 - 1) * 2 * cycles("0,1,1,\n", "", tmp_path) * CYCLE
    added = []
    for engine in ("flow", "cycle"):
        free, costly = (
            topoloom.workload(
                "hyperx:8", "allreduce:size=1MiB,algorithm=ring", endpoint=e, engine=engine, rate="10Gb/s"
            ).results[0]
            for e in ("", COSTS + ",rendezvous=64KiB")
        )
        added.append(costly.makespan_s - free.makespan_s)
    assert added[1] == pytest.approx(added[0] + asking_s, rel=0.02)


def test_threads_do_not_change_what_endpoints_cost():
    one, two = (
        topoloom.workload("torus:4x4", "allreduce:size=64KiB", endpoint=COSTS, engine="cycle", threads=threads).results[
            0
        ]
        for threads in (1, 2)
    )
    assert one.makespan_s == two.makespan_s


def test_what_is_free_changes_nothing():
    results = [topoloom.workload("torus:4x4", "allreduce:size=1MiB", endpoint=e).results[0] for e in ("", "latency=0s")]
    assert results[0].makespan_s == results[1].makespan_s
    assert "endpoint" not in results[0].config


def test_mistakes():
    for options, words in [
        ({"endpoint": "overhed=1us"}, "did you mean 'overhead'"),
        ({"endpoint": "overhead=1"}, "must be a time with its unit"),
        ({"endpoint": "windw=64KiB"}, "did you mean 'window'"),
        ({"endpoint": "window=0"}, "window is '0'; it must be a number of bytes from 1 up"),
        ({"endpoint": "window=-4KiB", "engine": "cycle"}, "window is '-4KiB'; it must be a number of bytes from 1 up"),
        ({"endpoint": "window=64Kib", "engine": "cycle"}, "window is '64Kib'; it must be a number of bytes from 1 up"),
        ({"endpoint": "header=64", "engine": "cycle"}, "have no room for data beside a header of 64 bytes"),
        ({"endpoint": "header=4,packet=1KiB", "engine": "cycle"}, "the endpoint's packet is of the flow engine"),
    ]:
        with pytest.raises(TopoloomError, match=words):
            topoloom.workload("mesh:4", "allreduce", **options)
