"""Collectives: every algorithm against what its collective means, and against closed forms."""

from itertools import pairwise
from math import ceil, log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import topoloom
from oracles import collectives as oracle
from topoloom import Application, TopoloomError, _core

RATE = 5e10
SIZE = 4801  # odd, and more than the blocks and pieces of every case

ALGORITHMS = {
    "allreduce": [
        "recursive-doubling", "ring", "tree", "rabenseifner", "halving-doubling", "double-binary-tree", "direct",
        "hierarchical", "2d", "auto",
    ],
    "reduce-scatter": ["ring", "halving-doubling", "bruck", "direct", "hierarchical", "2d", "auto"],
    "all-gather": ["ring", "recursive-doubling", "bruck", "direct", "hierarchical", "2d", "auto"],
    "all-to-all": ["pairwise", "bruck", "direct", "hierarchical", "2d", "auto"],
    "broadcast": ["binomial", "linear", "chain", "ring", "double-binary-tree", "hierarchical", "auto"],
    "reduce": ["linear", "binomial", "chain", "ring", "double-binary-tree", "hierarchical", "auto"],
    "barrier": ["dissemination", "tree"],
}  # fmt: skip
CASES = [(what, algorithm) for what, algorithms in ALGORITHMS.items() for algorithm in algorithms]
SPLIT = [(what, algorithm) for what, algorithm in CASES if what != "barrier"]


def messages_of(application: Application) -> list[oracle.Message]:
    table, carried = application.messages(), application.carried()
    for row, (_, spans) in zip(table, carried, strict=True):
        assert sum(length for _, length in spans) == row["bytes"]
    return [
        oracle.Message(int(row["source"]), int(row["target"]), combined, spans)
        for row, (combined, spans) in zip(table, carried, strict=True)
    ]


def buffer(what: str, n: int, size: int) -> int:
    return size * {"all-to-all": n * n, "send-recv": n}.get(what, 1)


def spec(what: str, algorithm: str, n: int, more: str = "", size: int = SIZE) -> str:
    hosts = (
        f",ranks-per-host={next(d for d in (4, 3, 2, 5, 7, 1) if n % d == 0)}" if algorithm == "hierarchical" else ""
    )
    return f"{what}:algorithm={algorithm},size={size}{hosts}{more}"


def simulated(text: str, n: int, network: str) -> tuple[Application, _core.Workload, np.ndarray]:
    """Run an application by the flow engine; return it, its core, and when each message began and arrived."""
    net = topoloom.network(network).core
    workload = _core.Workload(text, n)
    _, _, times, _ = _core.flow_workload(
        _core.Routing(net, "dor"), workload, "linear", "", "400Gb/s", 1, _core.CancelToken(), "latency=1us"
    )
    return Application(text, n), workload, times


@pytest.mark.parametrize(("what", "algorithm"), CASES)
@pytest.mark.parametrize("n", [2, 3, 6, 8, 13, 24])
def test_every_rank_ends_with_what_it_should(what: str, algorithm: str, n: int) -> None:
    application = Application(spec(what, algorithm, n), n)
    messages = messages_of(application)
    events = oracle.in_program_order([application.program(task) for task in range(n)])
    oracle.check(what, messages, events, list(range(n)), buffer(what, n, SIZE), 0)


@given(
    case=st.sampled_from(SPLIT),
    n=st.integers(2, 18),
    channels=st.integers(1, 3),
    chunk=st.sampled_from(["", ",chunk=1601", ",chunk=400"]),
)
@settings(max_examples=30, deadline=None)
def test_lanes_end_with_it_as_their_messages_wait_for_each_other(
    case: tuple[str, str], n: int, channels: int, chunk: str
) -> None:
    """What waits for what is enough for the result, and the flow engine sends nothing before what it waits for."""
    what, algorithm = case
    application, workload, times = simulated(
        spec(what, algorithm, n, f",channels={channels}{chunk}"), n, f"torus:{n}" if n > 2 else "mesh:2"
    )
    programs = [application.program(task) for task in range(n)]
    waits = oracle.waits_of(programs, workload.dependencies())
    oracle.check_flow(what, messages_of(application), programs, waits, buffer(what, n, SIZE))
    oracle.keep_time(programs, waits, times)


@pytest.mark.parametrize("more", ["", ",channels=2,chunk=400"])
def test_messages_that_do_not_wait_are_seen(more: str) -> None:
    application, workload, times = simulated(spec("allreduce", "ring", 4, more), 4, "torus:4")
    programs = [application.program(task) for task in range(4)]
    waits = oracle.waits_of(programs, workload.dependencies())
    with pytest.raises(AssertionError, match="before it may"):
        oracle.keep_time(programs, waits, times[::-1])
    with pytest.raises(AssertionError, match="ends with"):
        oracle.check_flow("allreduce", messages_of(application), programs, [], SIZE)


@pytest.mark.parametrize(("what", "algorithm"), [case for case in CASES if case[1] not in ("hierarchical", "2d")])
def test_groups_of_ranks_in_their_order(what: str, algorithm: str) -> None:
    group = [8, 10, 12, 14, 3, 4, 5]
    rooted = ",root=12" if what in ("broadcast", "reduce") else ""
    application = Application(f"{what}:algorithm={algorithm},size={SIZE},group=8-14/2+3-5{rooted}", 16)
    events = oracle.in_program_order([application.program(task) for task in range(16)])
    root = 12 if rooted else 8
    oracle.check(what, messages_of(application), events, group, buffer(what, len(group), SIZE), root)


@pytest.mark.parametrize("what", ["broadcast", "reduce"])
@pytest.mark.parametrize("root", [0, 5, 11])
def test_hosts_have_leaders_beside_the_root(what: str, root: int) -> None:
    application = Application(f"{what}:algorithm=hierarchical,ranks-per-host=4,root={root},size=100", 12)
    messages = messages_of(application)
    events = oracle.in_program_order([application.program(task) for task in range(12)])
    oracle.check(what, messages, events, list(range(12)), 100, root)
    across = [message for message in messages if message.source // 4 != message.target // 4]
    assert len(across) == 2
    assert {rank % 4 for message in across for rank in message[:2]} == {root % 4}


def test_hierarchical_ones_follow_the_hosts_of_a_cluster() -> None:
    net = topoloom.network("cluster:hosts=4,host=hgx-h100,fabric=(clos:radix=16,levels=2,rate=400G)")
    own = _core.Workload.on("allreduce:algorithm=hierarchical,size=1MiB", net.core)
    told = _core.Workload("allreduce:algorithm=hierarchical,size=1MiB,ranks-per-host=8", 32)
    assert [list(a) for a in own.messages()] == [list(a) for a in told.messages()]
    sources, targets, _ = own.messages()
    across = sources // 8 != targets // 8
    assert (sources[across] % 8 == targets[across] % 8).all(), "across hosts data stays on its rail"


def test_all_to_all_v_has_sizes_of_its_own() -> None:
    application = Application("all-to-all-v:size=1KiB-4KiB,seed=3", 9)
    table = application.messages()
    assert sorted(zip(table["source"], table["target"], strict=True)) == [
        (i, j) for i in range(9) for j in range(9) if i != j
    ]
    assert len(set(table["bytes"])) > 60
    spans = [spans for _, spans in application.carried()]
    assert all(len(own) == 1 for own in spans)
    starts = sorted(own[0] for own in spans)
    assert all(a + length <= b for (a, length), (b, _) in pairwise(starts))


def test_send_recv_goes_so_many_ranks_on() -> None:
    table = Application("send-recv:shift=3,size=100", 8).messages()
    assert sorted(zip(table["source"], table["target"], strict=True)) == [(i, (i + 3) % 8) for i in range(8)]


A, B, G = 2e-6, 1 / RATE, 3e-10
COSTS = "latency=2us,reduce=0.3ns"


@pytest.mark.parametrize("n", [4, 12, 16])
def test_closed_forms(n: int) -> None:
    """On a network that does not block: alpha a message, beta a byte sent, gamma a byte combined."""
    m, d = 48_000 * n, ceil(log2(n))
    half = (n - 1) / n * m
    forms = {
        f"allreduce:algorithm=ring,size={m}": 2 * (n - 1) * A + 2 * half * B + half * G,
        f"reduce-scatter:algorithm=ring,size={m}": (n - 1) * A + half * (B + G),
        f"all-gather:algorithm=ring,size={m}": (n - 1) * A + half * B,
        f"all-to-all:size={m},algorithm=pairwise": (n - 1) * (A + m * B),
        f"all-gather:algorithm=bruck,size={m}": d * A + half * B,
        f"barrier:size={m}": d * (A + m * (B + G)),
        f"send-recv:size={m}": A + m * B,
        # A chain of n - 1 links, on which eight pieces follow one another.
        f"broadcast:algorithm=chain,size={m},chunk={m // 8}": (n - 1) * (A + m / 8 * B) + 7 * m / 8 * B,
    }
    if n == 2**d:
        forms |= {
            f"allreduce:algorithm=tree,size={m}": 2 * d * (A + m * B) + d * m * G,
            f"broadcast:size={m}": d * (A + m * B),
            f"allreduce:size={m}": d * (A + m * (B + G)),
            f"allreduce:algorithm=halving-doubling,size={m}": 2 * d * A + 2 * half * B + half * G,
            f"all-gather:algorithm=recursive-doubling,size={m}": d * A + half * B,
        }
    for app, seconds in forms.items():
        (result,) = topoloom.workload(f"hyperx:{n}", app, endpoint=COSTS).results
        assert result.makespan_s == pytest.approx(seconds, rel=1e-9), app


def test_channels_of_a_ring_leave_a_host_by_all_its_interfaces() -> None:
    spec = "cluster:hosts=4,host=hgx-h100,fabric=(clos:radix=16,levels=2,rate=400G),attach=rail"
    app = "allreduce:algorithm=ring,size=256MiB"
    one, eight = (topoloom.workload(spec, app + more).results[0] for more in ("", ",channels=8"))
    # A ring through one interface of each host is bound by 50 GB/s, eight rings by eight of them.
    assert one.busbw_gb_s == pytest.approx(50, rel=0.01)
    assert eight.busbw_gb_s > 300


@pytest.mark.parametrize("engine", ["flow", "cycle"])
def test_pieces_follow_one_another_in_both_engines(engine: str) -> None:
    whole, pieces = (
        topoloom.workload("mesh:8", f"broadcast:algorithm=chain,size=64KiB{more}", engine=engine).results[0].makespan_s
        for more in ("", ",chunk=2KiB")
    )
    assert pieces / whole == pytest.approx((7 + 31) / (7 * 32), rel=0.15 if engine == "cycle" else 1e-9)


@pytest.mark.parametrize("what", ["allreduce", "reduce-scatter", "all-gather", "alltoall", "broadcast", "send-recv"])
def test_bandwidths_are_those_of_nccl_tests(what: str) -> None:
    (result,) = topoloom.workload("hyperx:12", f"{what}:size=96KiB").results
    wanted = oracle.bandwidths(what, 12, 96 * 1024, result.makespan_s)
    assert (result.algbw_gb_s, result.busbw_gb_s) == pytest.approx(wanted, rel=1e-12)
    (twice,) = topoloom.workload("hyperx:12", f"{what}:size=96KiB,iterations=2").results
    assert twice.busbw_gb_s == pytest.approx(result.busbw_gb_s, rel=0.2)
    (none,) = topoloom.workload("hyperx:12", "nearneighbors:grid=2x2x2").results
    assert none.algbw_gb_s is None


def test_auto_says_what_it_chose() -> None:
    (result,) = topoloom.workload("hyperx:16", "allreduce:algorithm=auto,size=8").results
    (note,) = result.notes
    assert note.startswith("allreduce:algorithm=auto,size=8: auto is ")
    assert "NCCL 2.12" in note


def test_the_check_fails_for_what_is_wrong() -> None:
    """The oracle itself: a message that is dropped, one that carries too little, one that is counted twice."""
    application = Application("allreduce:algorithm=ring,size=60", 6)
    messages = messages_of(application)
    events = oracle.in_program_order([application.program(task) for task in range(6)])
    oracle.check("allreduce", messages, events, list(range(6)), 60, 0)
    for wrong in (
        messages[7]._replace(spans=[(messages[7].spans[0][0], 9)]),
        messages[7]._replace(combined=False),
        messages[40]._replace(combined=True),
        messages[40]._replace(target=(messages[40].target + 1) % 6),
    ):
        changed = [wrong if message in (messages[7], messages[40]) and message.source == wrong.source
                   and message.spans[0][0] == wrong.spans[0][0] else message for message in messages]  # fmt: skip
        with pytest.raises(AssertionError):
            oracle.check("allreduce", changed, events, list(range(6)), 60, 0)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("allreduce:algorithm=hierarchical", "give ranks-per-host, or a network of the family cluster"),
        ("allreduce:algorithm=hierarchical,ranks-per-host=5", "do not divide among their hosts"),
        ("allreduce:algorithm=2d,width=3", "width is 3; it must divide the 16 ranks"),
        ("allreduce:width=4", "width is for algorithm=2d"),
        ("allreduce:group=4-20", "group names rank 20; tasks are 0 to 15"),
        ("allreduce:group=4-8+8", "group names rank 8 twice"),
        ("allreduce:group=8-4", "group is '8-4'; it must be ranks"),
        ("allreduce:group=3", "group has one rank"),
        ("broadcast:root=3,group=4-8", "root is 3, which is no rank of the group"),
        ("send-recv:shift=32", "in a group of 16 each rank would send to itself"),
        ("reduce-scatter:size=8", "cuts the data into 16 blocks"),
        ("all-gather:algorithm=brukc", "did you mean 'bruck'"),
    ],
)
def test_mistakes_are_sentences(text: str, told: str) -> None:
    with pytest.raises(TopoloomError, match=told):
        Application(text, 16)


PAIR = """<algo name="pair" nchunksperloop="2" ngpus="2" coll="allgather">
  <gpu id="0" i_chunks="1" o_chunks="2" s_chunks="0">
    <tb id="0" send="1" recv="1" chan="0">
      <step s="0" type="s" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
      <step s="1" type="r" srcbuf="i" srcoff="0" dstbuf="o" dstoff="1" cnt="1" depid="1" deps="0" hasdep="0"/>
    </tb>
    <tb id="1" send="-1" recv="-1" chan="0">
      <step s="0" type="cpy" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="1"/>
    </tb>
  </gpu>
  <gpu id="1" i_chunks="1" o_chunks="2" s_chunks="0">
    <tb id="0" send="0" recv="0" chan="0">
      <step s="0" type="s" srcbuf="i" srcoff="0" dstbuf="o" dstoff="1" cnt="1" depid="-1" deps="-1" hasdep="0"/>
      <step s="1" type="r" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
      <step s="2" type="cpy" srcbuf="i" srcoff="0" dstbuf="o" dstoff="1" cnt="1" depid="-1" deps="-1" hasdep="0"/>
    </tb>
  </gpu>
</algo>
"""


def ring_in_xml(n: int) -> str:
    """Write a ring allreduce in place, as MSCCL's compilers do: the last reducing step of a chunk sends it on."""
    lines = [f'<algo name="ring" nchunksperloop="{n}" ngpus="{n}" coll="allreduce" inplace="1">']
    for gpu in range(n):
        lines.append(f'<gpu id="{gpu}" i_chunks="{n}" o_chunks="0" s_chunks="0">')
        lines.append(f'<tb id="0" send="{(gpu + 1) % n}" recv="{(gpu - 1) % n}" chan="0">')
        kinds = ["s"] + ["rrs"] * (n - 2) + ["rrcs"] + ["rcs"] * (n - 2) + ["r"]
        for step, kind in enumerate(kinds):
            chunk = (gpu - step) % n
            lines.append(
                f'<step s="{step}" type="{kind}" srcbuf="i" srcoff="{chunk}" dstbuf="i" dstoff="{chunk}" cnt="1" '
                'depid="-1" deps="-1" hasdep="0"/>'
            )
        lines += ["</tb>", "</gpu>"]
    return "\n".join([*lines, "</algo>"])


def test_schedules_come_as_xml(tmp_path) -> None:
    file = tmp_path / "ring.xml"
    file.write_text(ring_in_xml(6))
    own, told = (
        topoloom.workload("hyperx:6", app).results[0]
        for app in (f"msccl:{file},size=600000", "allreduce:algorithm=ring,size=600000,tasks=6")
    )
    assert own.flows == told.flows == 2 * 6 * 5
    assert own.makespan_s == pytest.approx(told.makespan_s, rel=1e-12)
    assert own.busbw_gb_s == pytest.approx(told.busbw_gb_s, rel=1e-12)
    file.write_text(PAIR)
    (pair,) = topoloom.workload("hyperx:2", f"msccl:{file},size=1000").results
    assert (pair.flows, pair.makespan_s) == (2, pytest.approx(500 / RATE))


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('type="s"', 'type="x"', "line 4: a step has the type 'x'; there are: s, r, rcs"),
        ("<algo", "<alg", "line 18: no XML"),
        ('ngpus="2"', 'ngpus="3"', "line 1: ngpus is 3, but there are 2 <gpu>"),
        ('type="s"', 'type="nop"', "line 14: gpu 1 receives from gpu 0 on channel 0 what it never sends"),
        ('type="r"', 'type="nop"', "line 13: gpu 1 sends to gpu 0 on channel 0 what it never receives"),
        ('depid="1" deps="0"', 'depid="1" deps="7"', "line 5: it waits for step 7 of thread block 1"),
        ('dstoff="1" cnt="1" depid="1"', 'dstoff="0" cnt="1" depid="1"', "chunk 0 of the output of gpu 0 is wrong"),
        ('send="1"', 'send="9"', "line 3: send is 9; there are gpus 0 to 1"),
        ('send="1"', 'send="-1"', "line 4: the thread block on line 3 has no send peer"),
        ('cnt="1" depid="1"', 'cnt="2" depid="1"', "line 5: 2 chunks are received; line 13 sends 1"),
        ('nchunksperloop="2"', "", "line 1: <algo> has no nchunksperloop"),
        ('depid="-1" deps="-1" hasdep="1"', 'depid="0" deps="1" hasdep="1"', "wait for each other without end: line 5"),
    ],
)
def test_mistakes_in_schedules_are_told_with_their_line(tmp_path, old: str, new: str, told: str) -> None:
    file = tmp_path / "wrong.xml"
    assert old in PAIR
    file.write_text(PAIR.replace(old, new, 1))
    with pytest.raises(TopoloomError) as error:
        Application(f"msccl:{file},size=64", 8)
    assert told in str(error.value)
    assert "\n" not in str(error.value)


def test_what_is_no_collective_does_not_say_what_it_carries() -> None:
    with pytest.raises(TopoloomError, match="is no collective"):
        Application("nearneighbors:grid=2x2x2", 8).carried()
