"""The data in flight from a terminal to each other one: closed forms, a reference of the turns, an incast's victim."""

import random
from collections import deque
from pathlib import Path

import pytest

import topoloom
from topoloom import TopoloomError

FLIT, PACKET = 64, 16
"""Bytes of a flit, flits of a packet."""
CYCLE = FLIT * 8 / 10e9
"""Seconds, at 10 Gb/s."""


def run(rows: str, endpoint: str, tmp_path: Path, spec: str, **options) -> topoloom.WorkloadResult:
    file = tmp_path / "messages.csv"
    file.write_text("source,target,bytes,after\n" + rows)
    options = {"engine": "cycle", "rate": "10Gb/s", "packet": PACKET} | options
    (result,) = topoloom.workload(spec, f"messages:{file}", endpoint=endpoint, **options).results
    assert result.state == "finished"
    return result


def cycles(rows: str, endpoint: str, tmp_path: Path, spec: str, **options) -> int:
    return round(run(rows, endpoint, tmp_path, spec, **options).makespan_s / CYCLE)


def idle(routers: int, terminal: int, local: int) -> int:
    """Return the cycles of one flit that visits so many routers of one cycle each, by the latencies of links."""
    return 2 * (terminal + 1) + routers + (routers - 1) * (local + 1)


class Turns:
    """One terminal that sends packets of its messages by turns, so many flits to each target before acknowledgements.

    Args:
        messages: The target and the flits of each; all can be sent at the start.
        window: Flits in flight to a target, at most; one packet may be.
        alone: The cycles of a flit to each target, and of an acknowledgement back.
    """

    def __init__(self, messages: list[tuple[int, int]], window: int, alone: dict[int, int]):
        self.messages, self.window, self.alone = messages, window, alone
        self.in_flight = dict.fromkeys(alone, 0)
        self.held = {target: deque[list[int]]() for target in alone}
        self.queue = deque[list[int]]()
        self.back = list[tuple[int, int, int]]()
        self.arrivals = [0] * len(messages)
        for number, (_, flits) in enumerate(messages):
            self.enter([number, flits])

    def enter(self, sending: list[int]) -> None:
        target = self.messages[sending[0]][0]
        self.held[target].append(sending)
        if len(self.held[target]) == 1:
            self.admit(target)

    def admit(self, target: int) -> None:
        held = self.held[target]
        while held:
            flits = min(held[0][1], PACKET)
            if self.in_flight[target] and self.in_flight[target] + flits > self.window:
                break
            self.in_flight[target] += flits
            self.queue.append(held.popleft())

    def acknowledge(self, now: int) -> None:
        for back in sorted(back for back in self.back if back[0] == now):
            self.back.remove(back)
            target = self.messages[back[1]][0]
            self.in_flight[target] -= back[2]
            self.admit(target)

    def send(self, now: int) -> int:
        number, left = self.queue.popleft()
        flits, alone = min(left, PACKET), self.alone[self.messages[number][0]]
        self.arrivals[number] = now + flits - 1 + alone
        self.back.append((self.arrivals[number] + alone, number, flits))
        if left > flits:
            self.enter([number, left - flits])
        return flits

    def run(self) -> list[int]:
        """Return when each message has arrived."""
        now = free = 0
        while self.queue or self.back:
            self.acknowledge(now)
            if self.queue and now >= free:
                free = now + self.send(now)
            now += 1
        return self.arrivals


@pytest.mark.parametrize(("terminal", "local"), [(1, 1), (5, 37)])
@pytest.mark.parametrize(("spec", "target", "routers"), [("hyperx:4", 1, 2), ("torus:8", 4, 5), ("mesh:2x3", 5, 4)])
def test_one_pair_sends_a_window_each_round_trip(spec, target, routers, terminal, local, tmp_path):
    """Batches of as many packets as the window has, one each round trip; or a flit per cycle."""
    alone = idle(routers, terminal, local)
    trip = 2 * alone + PACKET - 1
    links = {"terminal": terminal, "local": local}
    for window, packets in [(1, 9), (2, 10), (3, 12), (8, 32)]:
        rows = f"0,{target},{packets * PACKET * FLIT},\n"
        batches = packets // window
        waits = (batches - 1) * max(trip, window * PACKET)
        wanted = waits + window * PACKET - 1 + alone + 1
        for more in (0, 100):
            limit = f"window={window * PACKET * FLIT + more}"
            assert cycles(rows, limit, tmp_path, spec, links=links) == wanted
        if window * PACKET >= trip:
            assert cycles(rows, "", tmp_path, spec, links=links) == wanted


def test_a_packet_larger_than_the_window_goes_alone(tmp_path):
    rows = f"0,1,{5 * PACKET * FLIT},\n"
    took = {cycles(rows, f"window={bytes_}", tmp_path, "hyperx:4") for bytes_ in (1, 64, PACKET * FLIT)}
    assert took == {4 * (2 * idle(2, 1, 1) + PACKET - 1) + PACKET - 1 + idle(2, 1, 1) + 1}


@pytest.mark.parametrize("seed", range(12))
def test_messages_to_others_go_on_while_a_window_is_full(seed, tmp_path):
    """Up to eight messages of one terminal to three targets at other distances, on a line."""
    draw = random.Random(seed)
    alone = {target: idle(target + 1, 1, 29) for target in (1, 3, 5)}
    messages = [(draw.choice(list(alone)), draw.randint(1, 150)) for _ in range(draw.randint(2, 8))]
    window = draw.randint(1, 4 * PACKET)
    arrivals = Turns(messages, window, alone).run()
    rows = "".join(f"0,{target},{flits * FLIT},\n" for target, flits in messages)
    result = run(rows, f"window={window * FLIT}", tmp_path, "mesh:6", links={"local": 29})
    assert round(result.makespan_s / CYCLE) == max(arrivals) + 1
    assert result.message_mean_s / CYCLE == pytest.approx(sum(arrivals) / len(arrivals), rel=1e-9)


VICTIM, AFTER = 32 * 1024, 3_000_000
"""Bytes, and nanoseconds that its receiver computes afterwards: longer than the incast."""


def victim(spec: str, pair: tuple[int, int], incast: list[tuple[int, int]], endpoint: str, tmp_path: Path, **options):
    """Return the cycles of a message beside others of 64 KiB each."""
    sends = [(*pair, VICTIM), *((*ends, 65_536) for ends in incast)]
    lines = {task: [] for task in range(1 + max(max(ends[:2]) for ends in sends))}
    for number, (source, target, size) in enumerate(sends):
        lines[source].append(f"send {size}b to {target} tag {number}")
        lines[target].append(f"r{number}: recv {size}b from {source} tag {number}")
    lines[pair[1]] += [f"after: calc {AFTER}", "after requires r0"]
    text = "".join(f"rank {task} {{\n{chr(10).join(own)}\n}}\n" for task, own in lines.items())
    file = tmp_path / "incast.goal"
    file.write_text(f"num_ranks {len(lines)}\n{text}")
    options = {"engine": "cycle", "rate": "10Gb/s", "packet": PACKET} | options
    (result,) = topoloom.workload(spec, f"goal:{file}", endpoint=endpoint, **options).results
    return result.makespan_s / CYCLE - AFTER * 1e-9 / CYCLE


CASES = {
    # All but the victim's ends and the root send to the root.
    "fattree:k=4,levels=2": ((0, 7), [(source, 6) for source in range(1, 6)]),
    "mesh:4,p=4": ((0, 9), [(source, 12) for source in (1, 5, 6, 7, 9, 10, 11, 14, 15)]),
}


@pytest.mark.parametrize(("spec", "spread", "kept"), [("fattree:k=4,levels=2", 4, 1.2), ("mesh:4,p=4", 10, 2)])
def test_a_window_keeps_an_incast_from_its_victim(spec, spread, kept, tmp_path):
    """Without one the incast's packets fill the buffers on the victim's path: congestion spreads."""
    pair, incast = CASES[spec]
    alone = victim(spec, pair, [], "", tmp_path)
    assert victim(spec, pair, incast, "", tmp_path) > spread * alone
    assert victim(spec, pair, incast, "window=4KiB", tmp_path) < kept * alone


def test_threads_do_not_change_what_a_window_holds_back():
    """Acknowledgements cross between domains, over long links and over the shortest."""
    for spec, app, more in [
        ("torus:4x4", "alltoall:size=4KiB", ""),
        ("torus:4x4", "gpcnet:canary=bandwidth,congestor=incast,iterations=1,share=0.25,size=16KiB,warmup=1us", ""),
        ("dragonfly:a=4,h=2,p=2,rate=100G,delay.global=300ns", "allreduce:size=16KiB", "per-byte=0.1ns,overhead=50ns,"),
    ]:
        told = set()
        for threads in (1, 2):
            endpoint = f"{more}window=1KiB"
            (result,) = topoloom.workload(
                spec, app, endpoint=endpoint, engine="cycle", threads=threads, packet=8
            ).results
            told.add((result.makespan_s, result.message_mean_s, result.message_p99_s))
        assert len(told) == 1, spec


def test_a_window_that_is_never_full_changes_nothing():
    told = [
        topoloom.workload("torus:4x4", "allreduce:algorithm=ring,size=32KiB", endpoint=costs, engine="cycle", packet=8)
        for costs in ("", "window=1GiB", "window=512B")
    ]
    free, wide, narrow = (comparison.results[0] for comparison in told)
    assert (free.makespan_s, free.message_mean_s) == (wide.makespan_s, wide.message_mean_s)
    assert narrow.makespan_s > 1.5 * free.makespan_s


TRIP, BYTES = 6e-7, 10_000_000
"""Seconds from end to end of three links of 100 ns and back; bytes of a message."""
DELAYS = "mesh:4,rate=400G,delay=100ns"


@pytest.mark.parametrize(
    ("rows", "window", "messages", "options"),
    [
        (f"0,3,{BYTES},\n", 3000, 1, {}),
        # Two between the same terminals share the window, and so do the parts of one.
        (f"0,3,{BYTES},\n0,3,{BYTES},\n", 3000, 2, {}),
        (f"0,3,{BYTES},\n", 3000, 1, {"flow_engine": "paths=4"}),
        (f"0,3,{BYTES},\n", 3000, 1, {"routing": "duato"}),
        # One to a nearer terminal has its own, and a shorter round trip.
        (f"0,3,{BYTES},\n0,2,{BYTES},\n", 3000, 1, {}),
    ],
)
def test_the_flow_engine_caps_the_rate_between_two_terminals(rows, window, messages, options, tmp_path):
    wanted = messages * BYTES * TRIP / window + TRIP / 2
    assert flow(rows, f"window={window}", tmp_path, **options) == pytest.approx(wanted, rel=1e-9)


def flow(rows: str, endpoint: str, tmp_path: Path, spec: str = DELAYS, **options) -> float:
    file = tmp_path / "messages.csv"
    file.write_text("source,target,bytes,after\n" + rows)
    (result,) = topoloom.workload(spec, f"messages:{file}", endpoint=endpoint, **options).results
    return result.makespan_s


def test_a_window_of_more_than_the_round_trip_holds_changes_nothing_in_the_flow_engine(tmp_path):
    rows = f"0,3,{BYTES},\n"
    assert flow(rows, "window=30000", tmp_path) == pytest.approx(BYTES / 5e10 + TRIP / 2, rel=1e-9)
    assert flow(rows, "window=29999", tmp_path) == pytest.approx(BYTES * TRIP / 29_999 + TRIP / 2, rel=1e-9)


def test_windows_are_the_same_by_rule_and_by_list():
    for app in ("allreduce:size=1MiB,algorithm=ring", "alltoall:size=64KiB,algorithm=pairwise"):
        on, off, free = (
            topoloom.workload("torus:4x4,rate=400G,delay=100ns", app, endpoint=costs, flow_engine=way).results[0]
            for costs, way in [("window=3000", "symmetry=on"), ("window=3000", "symmetry=off"), ("", "symmetry=off")]
        )
        assert on.makespan_s == pytest.approx(off.makespan_s, rel=1e-9)
        assert off.makespan_s > 2 * free.makespan_s


def test_the_flow_engine_rejects_a_window_where_links_have_no_delay():
    with pytest.raises(TopoloomError, match="limits nothing on mesh:4 in the flow engine: its links have no delay"):
        topoloom.workload("mesh:4", "allreduce", endpoint="window=64KiB")
