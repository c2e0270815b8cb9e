"""Training steps: bytes, operations, schedules and times against closed forms."""

import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import topoloom
from oracles.training import one_forward_one_backward
from topoloom import Application, TopoloomError, _core
from topoloom.workload.results import WorkloadResult

FAST = "1000000000Gb/s"
"""A rate at which sending takes no time that matters."""


def run(app: str, network: str, **options: Any) -> WorkloadResult:
    (result,) = topoloom.workload(network, app, **options).results
    return result


def step(app: str, network: str, **options: Any) -> dict[str, Any]:
    training = run(app, network, **options).training
    assert training is not None
    return training


def sent(training: dict[str, Any]) -> dict[tuple[str, str], dict[str, Any]]:
    return {(own["parallelism"], own["collective"]): own for own in training["communication"]}


def test_a_step_has_the_bytes_that_its_sizes_ask_for() -> None:
    d, t, p, e, layers, batches, hidden, tokens = 4, 2, 2, 2, 4, 3, 64, 32
    spec = (
        f"training:data={d},tensor={t},pipeline={p},expert={e},layers={layers},microbatches={batches},"
        f"hidden={hidden},sequence={tokens},top=2,tflops=100"
    )
    application = Application(spec, d * t * p)
    table = application.messages()
    rank = np.arange(d * t * p)
    tensor, data, stage = rank % t, rank // t % d, rank // (t * d)
    s, g = table["source"], table["target"]
    activations = tokens * hidden * 2
    along_stages = stage[s] != stage[g]
    assert table["bytes"][along_stages].sum() == 2 * (p - 1) * batches * d * activations
    within_tensor = ~along_stages & (tensor[s] != tensor[g])
    rings = 4 * layers * batches * d
    assert table["bytes"][within_tensor].sum() == rings * 2 * (t - 1) * activations
    rest = table[~along_stages & ~within_tensor]
    routed = 4 * layers * batches * t * d * (e - 1) * (activations * 2 // e // t)
    dense = p * t * 2 * (d - 1) * (4 * hidden * hidden * 2 // t * layers // p)
    experts = p * t * e * 2 * (d // e - 1) * (8 * hidden * hidden * 2 // t * layers // p)
    assert rest["bytes"].sum() == routed + dense + experts
    assert (data[rest["source"]] != data[rest["target"]]).all()
    flops = tokens * (2 * 4 * hidden**2 + 4 * tokens * hidden) / t + tokens * 2 * 8 * hidden**2 * 2 / t
    computed = sum(value for what, value in application.program(0) if what == "compute")
    assert computed == pytest.approx(3 * flops / 100e12 * layers / p * batches)
    stepped = Application(f"{spec},pipelined=false", d * t * p)
    assert stepped.total_bytes == application.total_bytes
    assert stepped.num_messages > application.num_messages


def test_zero_moves_the_bytes_that_it_promises() -> None:
    """Stage 1 as much as an allreduce; 2 reduces each microbatch; 3 gathers weights for each pass as well."""
    d, batches, weights = 4, 3, 12 * 64 * 64 * 2
    one = (d - 1) * weights * 2  # of two layers, one collective, all ranks together
    for zero, gathers, reduces in [(0, 0, 2), (1, 1, 1), (2, 1, batches), (3, 2 * batches, batches)]:
        app = f"training:data={d},layers=2,microbatches={batches},hidden=64,sequence=32,zero={zero}"
        told = sent(step(app, "hyperx:4"))
        gathered = told.get(("data", "all-gather"), {"bytes": 0})["bytes"]
        assert (gathered, sum(own["bytes"] for own in told.values())) == (gathers * one, (gathers + reduces) * one)


def test_context_and_sequence_parallelism_have_their_bytes() -> None:
    c, hidden, tokens = 4, 64, 32
    app = f"training:context={c},data=1,layers=1,microbatches=1,hidden={hidden},sequence={tokens},zero=1"
    told = sent(step(app, "hyperx:4"))
    keys_values = 2 * hidden * tokens * 2
    assert told["context", "all-gather"]["bytes"] == 2 * (c - 1) * keys_values
    assert told["context", "reduce-scatter"]["bytes"] == (c - 1) * keys_values
    assert told["data", "reduce-scatter"]["bytes"] == (c - 1) * 12 * hidden * hidden * 2, "all reduce what they share"
    app = f"training:tensor={c},data=1,layers=1,microbatches=1,hidden={hidden},sequence={tokens}"
    plain, split = (sent(step(app + more, "hyperx:4")) for more in ("", ",sequence-parallel"))
    assert plain["tensor", "allreduce"]["bytes"] == sum(own["bytes"] for own in split.values())
    assert set(split) == {("tensor", "reduce-scatter"), ("tensor", "all-gather")}


@pytest.mark.parametrize(
    ("stages", "batches", "chunks"), [(4, 8, 1), (4, 2, 1), (3, 7, 1), (4, 8, 2), (2, 6, 3), (4, 4, 2)]
)
def test_the_bubble_is_that_of_the_closed_form(stages: int, batches: int, chunks: int) -> None:
    app = (
        f"training:pipeline={stages},data=1,layers={stages * chunks},microbatches={batches},interleave={chunks},"
        "hidden=1024,sequence=512"
    )
    training = step(app, f"hyperx:{stages}", rate=FAST)
    makespan = sum(training[name] for name in ("compute_s", "exposed_s", "bubble_s", "skew_s"))
    bubble = (stages - 1) / (chunks * batches + stages - 1)
    assert training["bubble_s"] / makespan == pytest.approx(bubble, rel=1e-3)
    assert makespan == pytest.approx(training["tokens"] / training["tokens_per_s"])


@pytest.mark.parametrize(("stages", "batches"), [(4, 6), (3, 2), (5, 5)])
def test_the_order_is_that_of_stages_that_take_what_there_is(stages: int, batches: int, tmp_path: Path) -> None:
    file = tmp_path / "timeline.json"
    app = f"training:pipeline={stages},data=1,microbatches={batches},hidden=1024,sequence=512"
    result = run(app, f"hyperx:{stages}", rate=FAST, timeline=file)
    events = json.loads(file.read_text())["traceEvents"]
    assert result.training is not None
    assert result.makespan_s is not None
    forward = result.training["compute_s"] / batches / 3
    expected, order = one_forward_one_backward(stages, batches, forward, 2 * forward)
    assert result.makespan_s == pytest.approx(expected, rel=1e-3)
    lanes = {(row["pid"], row["tid"]): row["args"]["name"] for row in events if row["name"] == "thread_name"}
    for stage in range(stages):
        done = []
        for row in events:
            if row["ph"] == "X" and row["pid"] == stage and lanes[stage, row["tid"]] == "compute":
                kind, batch = re.findall(r"^(\w)\w+, microbatch (\d+), chunk \d+$", row["name"])[0]
                done.append(f"{kind}{batch}")
        assert done[::2] == order[stage], "each pass computes attention, then the MLP"


def test_tensor_parallel_communication_is_exposed_to_the_byte() -> None:
    layers, batches, hidden, tokens, rate = 3, 2, 64, 32, 1e9
    app = f"training:tensor=2,data=1,layers={layers},microbatches={batches},hidden={hidden},sequence={tokens}"
    training = step(app, "mesh:2", rate="1GB/s")
    each = tokens * hidden * 2 / rate  # two ranks: half there, half back
    assert training["exposed_s"] == pytest.approx(4 * layers * batches * each)
    assert training["bubble_s"] + training["skew_s"] == pytest.approx(0, abs=1e-12)
    slower = step(f"{app},step-latency=1us", "mesh:2", rate="1GB/s")
    assert slower["exposed_s"] == pytest.approx(4 * layers * batches * (each + 2e-6))


def test_gradients_hide_behind_the_pass_back() -> None:
    """A bucket takes half as long as the pass back through its layer: the last one alone is exposed."""
    layers, hidden, tokens = 4, 64, 32
    weights = 12 * hidden * hidden
    back = 2 * tokens * (2 * weights + 4 * tokens * hidden) / 1e12
    rate = weights * 2 / (back / 2)
    app = f"training:data=2,layers={layers},microbatches=1,hidden={hidden},sequence={tokens},tflops=1,bucket=1B"
    exposed = [
        step(app + more, "mesh:2", rate=f"{rate / 1e9:.12f}GB/s")["exposed_s"]
        for more in ("", ",overlap=false", ",zero=3")
    ]
    # FSDP gathers the first weights before anything can begin, and computes a layer for as long as it gathers the next.
    assert exposed == pytest.approx([back / 2, layers * back / 2, back / 4 + back / 4], rel=1e-3)


def test_what_is_computed_again_is_no_use() -> None:
    app = "training:data=2,layers=2,microbatches=1,hidden=64,sequence=32"
    plain, selective, full = (
        step(f"{app},recompute={how}", "mesh:2", rate=FAST) for how in ("none", "selective", "full")
    )
    assert full["compute_s"] == pytest.approx(plain["compute_s"] * 4 / 3)
    scores = 4 * 32 * 64 / (2 * 12 * 64 * 64 + 4 * 32 * 64)
    assert selective["compute_s"] == pytest.approx(plain["compute_s"] * (1 + scores / 3))
    assert plain["flops"] == full["flops"] == 2 * 32 * 2 * (6 * 12 * 64 * 64 + 12 * 32 * 64)
    assert plain["mfu"] == pytest.approx(0.6, rel=1e-3), "nothing but computing, at 60 % of the peak"


def test_the_busiest_experts_are_waited_for() -> None:
    app = "training:data=4,expert=4,experts=8,layers=2,microbatches=1,hidden=64,sequence=32"
    even, uneven = (step(app + more, "hyperx:4", rate=FAST) for more in ("", ",imbalance=1.5"))
    assert uneven["compute_s"] == pytest.approx(even["compute_s"])
    assert even["skew_s"] == pytest.approx(0, abs=1e-9)
    mlp = 3 * 2 * 32 * 2 * 2 * 8 * 64 * 64 / 593.4e12  # forward and backward, of two layers
    assert uneven["skew_s"] == pytest.approx(0.5 * mlp, rel=1e-3)


@pytest.mark.parametrize(
    ("preset", "ranks", "shape"),
    [
        ("gpt3-13b", 128, "tensor=2,pipeline=1,data=64,zero=1,microbatches=15,batch=1"),
        ("gpt3-13b", 2, "tensor=2,pipeline=1,data=1,zero=1,microbatches=977,batch=1"),
        ("gpt3-175b", 128, "tensor=8,pipeline=8,data=2,zero=1,microbatches=781,batch=1"),
        ("gpt3-175b", 16, "tensor=8,pipeline=2,data=1,zero=1,microbatches=1563,batch=1"),
        ("mixtral-8x22b", 128, "tensor=2,pipeline=8,data=8,expert=8,zero=1,microbatches=122,batch=1"),
    ],
)
def test_presets_spread_over_the_ranks_that_there_are(preset: str, ranks: int, shape: str) -> None:
    facts = _core.Workload(f"training:preset={preset},layers=8", ranks).step
    assert facts is not None
    assert (facts.shape, bool(facts.source)) == (shape, True)


def test_tensor_ranks_share_a_host_unless_told_otherwise() -> None:
    app = "training:tensor=8,pipeline=2,data=2,layers=8,microbatches=1,hidden=64,sequence=32"
    hosts = [Application(f"{app}{more}", 32).messages() for more in ("", ",order=dpct")]
    within = [(own["source"] // 8 == own["target"] // 8).mean() for own in hosts]
    assert within[0] > 0.8 > within[1]
    notes = run(
        "training:tensor=6,data=2,hidden=64,sequence=32",
        "cluster:hosts=4,host=hgx-h100,fabric=(hyperx:4x4,p=2,rate=400G)",
        routing="minimal",
    )
    assert any("6 tensor ranks span hosts of 8" in note for note in (notes.model_extra or {})["notes"])


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        ("expert=3,data=4", "expert is 3; it must divide data, 4"),
        ("expert=4,experts=6,data=4", "expert is 4; it must divide the 6 experts of a layer"),
        ("layers=3,pipeline=4", "3 layers do not fill 4 chunks"),
        ("interleave=2", "interleave is 2, but there is one stage"),
        ("pipeline=4,interleave=2,microbatches=6", "in rounds of 4; microbatches is 6"),
        ("context=3,data=2", "context is 3; it must divide the sequence of 2048 tokens"),
        ("data=2,global-batch=3", "global-batch is 3 sequences; 2 replicas with microbatches of 1 take multiples of 2"),
        ("data=2,global-batch=4,microbatches=2", "microbatches and global-batch are given"),
        ("preset=gpt3-13b,hidden=4", "hidden is that of preset gpt3-13b"),
        ("preset=gpt4", "unknown value of preset 'gpt4'"),
        ("order=tcd", "order is 'tcd'; it must be the letters"),
        ("data=4,expert=2,imbalance=3", "imbalance is 3; it must be from 1 to the 2 ranks"),
        ("peak=100,tflops=101", "tflops is 101, more than peak, 100"),
        ("data=64,tensor=2", "asks for 128 tasks; there is room for 64"),
        ("hidden=4000000000", "at most 1048576 is possible"),
        ("layers=4000000000,microbatches=4000000000", "at most 2\\^30 are possible"),
        ("data=2,batch=4000000000,sequence=4000000000", "do not fit into 2\\^62 bytes"),
    ],
)
def test_mistakes_are_sentences(keys: str, told: str) -> None:
    with pytest.raises(TopoloomError, match=told):
        Application(f"training:{keys}", 64)


def test_timelines_of_other_applications_show_messages(tmp_path: Path) -> None:
    file = tmp_path / "halo.json"
    run("halo:grid=2x2,compute=5us", "mesh:2x2", timeline=file)
    events = json.loads(file.read_text())["traceEvents"]
    assert {row["pid"] for row in events} == {0, 1, 2, 3}
    spans: dict[tuple[int, int], list[tuple[float, float]]] = {}
    for row in events:
        if row["ph"] == "X":
            spans.setdefault((row["pid"], row["tid"]), []).append((row["ts"], row["ts"] + row["dur"]))
    for own in spans.values():
        assert all(end <= start + 1e-9 for (_, end), (start, _) in pairwise(own))
    with pytest.raises(TopoloomError, match="one application on one network"):
        topoloom.workload(["mesh:2x2", "hyperx:2x2"], "halo:grid=2x2", timeline=file)
    with pytest.raises(TopoloomError, match="a run of the flow engine"):
        topoloom.workload("mesh:2x2", "halo:grid=2x2", engine="cycle", timeline=file)


def test_the_report_draws_what_each_stage_does() -> None:
    """Only computing takes time: a rank computes for m / (p - 1 + m) of the step, a third of it forward."""
    stages, batches = 4, 8
    app = f"training:pipeline={stages},microbatches={batches},layers=4,hidden=512,sequence=256"
    found = topoloom.workload(f"hyperx:{stages}", app, rate=FAST)
    page = found.to_html()
    (picture,) = re.findall(r'<svg class="schedule".*?</svg>', page, re.DOTALL)
    assert re.findall(r"<text[^>]*>([^<]*)</text>", picture) == [f"rank {rank}" for rank in range(stages)]
    bars = re.findall(r'<rect class="n(\d)" x="([\d.]+)" y="(\d+)" width="([\d.]+)"', picture)
    first = sorted({int(y) for _, _, y, _ in bars})[0]
    parts = [sum(float(width) for colour, _, y, width in bars if (colour, int(y)) == (own, first)) for own in "01"]
    whole = 1000 * batches / (stages - 1 + batches)
    assert parts == pytest.approx([whole / 3, 2 * whole / 3], rel=0.02)
    assert "rank 3" not in topoloom.workload("hyperx:4", "halo:grid=2x2,compute=1us").to_html()
