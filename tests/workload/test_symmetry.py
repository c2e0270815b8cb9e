"""Regular collectives by their rules: the results of lists, at sizes that lists still reach and beyond them."""

import time

import pytest

import topoloom
from topoloom.workload.results import WorkloadResult

RATE = 5e10
RING = "allreduce:algorithm=ring,size={size}"


def ran(spec: str, app: str, flow: str = "", **options: object) -> WorkloadResult:
    (result,) = topoloom.workload(spec, app, flow_engine=flow, **options).results
    return result


def way(result: WorkloadResult) -> tuple[str, int] | None:
    symbolic = (result.model_extra or {})["symbolic"]
    return symbolic and (symbolic["way"], symbolic["tasks"])


@pytest.mark.parametrize(
    ("spec", "app", "expected"),
    [
        ("fattree:k=32,levels=2", RING.format(size="1MiB"), ("alike", 1)),
        ("dragonfly:a=8,h=4,p=4", "allreduce:algorithm=ring,size=512KiB,tasks=512", ("alike", 1)),
        # The way from the last group to the first shares links with two others.
        ("dragonfly:a=8,h=4,p=4,g=32", RING.format(size="1MiB"), ("delay-lines", 3)),
        ("clos:radix=16,levels=3", "all-to-all:algorithm=direct,size=4KiB,tasks=300", ("at-once", 300)),
    ],
)
def test_a_thousand_tasks_take_what_the_list_says(spec: str, app: str, expected: tuple[str, int] | None) -> None:
    by_rule, by_list = ran(spec, app), ran(spec, app, "symmetry=off")
    assert way(by_rule) == expected
    assert way(by_list) is None
    assert any(by_rule.spec in note for note in by_rule.model_extra["notes"]) == (expected is not None)
    for name in ("makespan_s", "ideal_s", "message_mean_s", "message_p99_s"):
        assert getattr(by_rule, name) == pytest.approx(getattr(by_list, name), rel=1e-9), name
    assert by_rule.flows == by_list.flows


@pytest.mark.parametrize("spec", ["fattree:k=128,levels=2", "dragonfly:a=16,h=8,p=8"])
def test_rings_beyond_lists_take_their_closed_form(spec: str) -> None:
    begun = time.process_time()
    result = ran(spec, "allreduce:algorithm=ring,size=60MiB,tasks=15360")
    assert way(result) == ("alike", 1)
    assert result.flows == 2 * 15_359 * 15_360
    assert result.makespan_s == pytest.approx(2 * 15_359 * 4096 / RATE, rel=1e-9)
    assert time.process_time() - begun < 20


@pytest.mark.parametrize("spec", ["fattree:k=128,levels=2", "dragonfly:a=16,h=8,p=8"])
def test_rings_in_pieces_beyond_lists_take_their_closed_form(spec: str) -> None:
    """Pieces of a rank follow one another on its link, which is always busy: it takes as long as in one piece."""
    begun = time.process_time()
    result = ran(spec, "allreduce:algorithm=ring,size=60MiB,chunk=15MiB,tasks=15360")
    assert way(result) == ("alike", 1)
    assert result.flows == 4 * 2 * 15_359 * 15_360
    assert result.makespan_s == pytest.approx(2 * 15_359 * 4096 / RATE, rel=1e-9)
    assert time.process_time() - begun < 20


def test_rings_of_hosts_on_channels_of_their_own_take_what_the_list_says() -> None:
    """Each ring leaves hosts by another interface: eight carry eight times as much as one."""
    spec = "cluster:hosts=16,host=hgx-h100,fabric=(clos:radix=32,levels=2,rate=400G),attach=rail"
    one, app = 2 * 127 * 2**26 / 128 / RATE, "allreduce:algorithm=ring,size=64MiB,channels=8"
    by_rule, by_list = ran(spec, app, "symmetry=on"), ran(spec, app, "symmetry=off")
    assert way(by_rule) == ("alike", 8)
    assert way(by_list) is None
    for name in ("makespan_s", "ideal_s", "message_mean_s", "message_p99_s"):
        assert getattr(by_rule, name) == pytest.approx(getattr(by_list, name), rel=1e-9), name
    assert one / 8 <= by_rule.makespan_s < one / 4


def test_blocks_are_made_equal_where_there_are_many() -> None:
    result = ran("fattree:k=32,levels=2", "allreduce:algorithm=ring,size=10MB,tasks=1000")
    assert result.makespan_s == pytest.approx(2 * 999 * 10_000 / RATE, rel=1e-9)
    result = ran("fattree:k=32,levels=2", "allreduce:algorithm=ring,size=10000001,tasks=1000")
    assert result.makespan_s == pytest.approx(2 * 999 * 10_001 / RATE, rel=1e-9)
    assert result.data_bytes == 10_000_001
    assert any("rounded up by 999 bytes" in note for note in result.model_extra["notes"])


def test_more_messages_than_can_be_simulated_one_by_one_are_rejected() -> None:
    with pytest.raises(topoloom.TopoloomError, match=r"32768 tasks send 2147418112 messages.*not alike"):
        ran("torus:32x32x32", RING.format(size="32MiB"), mapping="random")


def test_the_cycle_engine_lists_what_is_kept_as_a_rule() -> None:
    result = ran("hyperx:16x17", "all-to-all:size=64,algorithm=direct", engine="cycle")
    assert result.state == "finished"
    assert topoloom.Application("all-to-all:size=64", tasks=272).messages()["bytes"].sum() == 64 * 272 * 271


def test_hierarchical_collectives_beyond_lists_take_their_closed_form() -> None:
    """Within a host 7 of 8 GPUs exchange an eighth each at 450 GB/s; then rings of 256 blocks at 50 GB/s; and back."""
    spec = "cluster:hosts=256,host=hgx-h100,fabric=(clos:radix=64,levels=2,rate=400G),attach=rail"
    begun = time.process_time()
    result = ran(spec, "allreduce:algorithm=hierarchical,size=1GiB")
    size = 2**30
    assert way(result) == ("lock-step", 2048)
    assert result.flows == 2 * 2048 * (7 + 255)
    within, across = 7 * size / 8 / 450e9, 255 * size / 2048 / 50e9
    assert result.makespan_s == pytest.approx(2 * (within + across), rel=1e-9)
    assert time.process_time() - begun < 20
