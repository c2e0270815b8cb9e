"""Training steps: what is known of them, and where their time went."""

from collections.abc import Callable
from typing import Any

from topoloom import _core
from topoloom.engine.results import StepFacts, StepTimes
from topoloom.workload.results import WorkloadResult, time_text

PEAK = 989.0
"""TFLOP/s of an NVIDIA H100 SXM in BF16, without sparsity: what the peak is unless given."""

ASSUMED = (
    "{app}: {shape}; a rank reaches {tflops:g} TFLOP/s while it computes, and {peak:g} at most{which}, of which MFU is "
    "a part; its weights, gradients and optimizer take {state:.3g} GB (2, 4 and 12 bytes a weight), without activations"
)


def assumption(app: str, step: StepFacts) -> str:
    """Return how a step is spread and what its times rest on, in a sentence.

    Args:
        app: The name of the application, unchecked.
        step: The facts of the step, of ``_core.Workload.step``.

    >>> import topoloom
    >>> app = "training:tensor=2,layers=2,hidden=64,sequence=32"
    >>> step = _core.Workload.on(app, topoloom.network("mesh:4").core).step
    >>> assumption(app, step)[-28:]
    'weight), without activations'
    """
    which = " (peak: an H100 in BF16)" if step.peak_tflops == PEAK else ""
    told = {"shape": step.shape, "tflops": step.tflops, "peak": step.peak_tflops, "state": step.state_bytes / 1e9}
    return ASSUMED.format(app=app, which=which, **told) + (f"; {step.source}" if step.source else "")


def step_of(workload: _core.Workload, makespan_s: float | None, times: StepTimes | None) -> dict[str, Any] | None:
    """Return the facts and times of a training step; None for other applications.

    Args:
        workload: The application.
        makespan_s: How long it took, in seconds; None if it did not end.
        times: Where the time went, as the flow engine reports it.

    >>> step_of(_core.Workload("reduce", 4), 1.0, None) is None
    True
    """
    facts = workload.step
    if facts is None:
        return None
    peak = workload.tasks * facts.peak_tflops * 1e12
    mfu = facts.flops / peak / makespan_s if makespan_s else None
    tokens_per_s = facts.tokens / makespan_s if makespan_s else None
    return {**facts, "mfu": mfu, "tokens_per_s": tokens_per_s, **(times or {})}


STEP_COLUMNS = ["application", "network", "step", "MFU", "tokens/s", "computing", "exposed", "bubble", "slower ranks"]
"""Of a table of steps. The last four are what a rank does, or waits for, in the mean."""

TRAFFIC_COLUMNS = ["application", "network", "parallelism", "collective", "GB", "in flight", "exposed", "of the step"]
"""Of a table of what is sent: of all ranks together, and seconds of a rank in the mean."""


WHOLE_GB = 1000
"""Larger sizes, in GB, are printed without decimals."""


def step_rows(results: list[WorkloadResult]) -> list[list[str]]:
    """Return a row for each training step.

    Args:
        results: The results.

    >>> import topoloom
    >>> step_rows(topoloom.workload("mesh:4", "reduce").results)
    []
    """
    rows, label = [], _labels(results)
    for result in results:
        step, makespan = result.training, result.makespan_s
        if step is None or makespan is None:
            continue
        shares = [_share(step.get(name), makespan) for name in ("compute_s", "exposed_s", "bubble_s", "skew_s")]
        tokens = f"{step['tokens_per_s']:,.0f}"
        rows.append([result.app, label(result), time_text(makespan), f"{100 * step['mfu']:.1f} %", tokens, *shares])
    return rows


def traffic_rows(results: list[WorkloadResult]) -> list[list[str]]:
    """Return a row for each collective of each parallelism of each training step.

    Args:
        results: The results.

    >>> import topoloom
    >>> traffic_rows(topoloom.workload("mesh:4", "reduce").results)
    []
    """
    label = _labels(results)
    return [
        [
            result.app,
            label(result),
            own["parallelism"],
            own["collective"],
            _gigabytes(own["bytes"]),
            time_text(own["in_flight_s"]),
            time_text(own["exposed_s"]),
            _share(own["exposed_s"], result.makespan_s),
        ]
        for result in results
        for own in (result.training or {}).get("communication", [])
    ]


def _labels(results: list[WorkloadResult]) -> Callable[[WorkloadResult], str]:
    """Return what names the network of a result, with its mapping where there are several."""
    if len({result.mapping for result in results}) == 1:
        return lambda result: result.spec
    return lambda result: f"{result.spec}, {result.mapping}"


def _gigabytes(bytes_: int) -> str:
    """Return a size in GB for people."""
    size = bytes_ / 1e9
    return f"{size:,.0f}" if size >= WHOLE_GB else f"{size:.4g}"


def _share(seconds: float | None, makespan_s: float | None) -> str:
    """Return the part of a makespan for people."""
    return "–" if seconds is None or not makespan_s else f"{100 * seconds / makespan_s:.1f} %"
