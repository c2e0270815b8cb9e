"""Congestion impact factors: what canaries measure beside congestors, over what they measure alone."""

from collections.abc import Sequence
from dataclasses import dataclass

from topoloom import _core
from topoloom.workload.results import WorkloadResult

NAME = "gpcnet"
CANARIES = ("latency", "bandwidth", "allreduce")
CONGESTORS = ("alltoall", "incast", "broadcast", "onesided")
ALONE = "none"


@dataclass(frozen=True)
class Impact:
    """How much longer a canary takes beside a congestor.

    Attributes:
        spec: The network.
        canary: What measures: messages of ``latency`` and ``bandwidth``, rounds of ``allreduce``.
        congestor: What congests.
        alone_s: The mean time without congestors, in seconds.
        mean: The mean time beside it, in parts of that without.
        p99: The same of the 99th percentiles.
    """

    spec: str
    canary: str
    congestor: str
    alone_s: float
    mean: float
    p99: float


def expanded(app: str) -> list[str]:
    """Return the applications that `app` stands for: those of a benchmark that does not state which of its tests.

    Args:
        app: The name of an application, whose keys are unchecked.

    >>> expanded("reduce"), len(expanded("gpcnet:share=0.5")), expanded("gpcnet:canary=latency,congestor=incast")
    (['reduce'], 15, ['gpcnet:canary=latency,congestor=incast'])
    """
    if _core.head(app) != NAME or "congestor" in (keys := _keys(app)):
        return [app]
    tail = "".join(f",{key}={value}" for key, value in keys.items())
    canaries = CANARIES if "canary" not in keys else ("",)
    return [
        f"{NAME}:" + (f"canary={canary}," if canary else "") + f"congestor={congestor}{tail}"
        for canary in canaries
        for congestor in (ALONE, *CONGESTORS)
    ]


def impacts(results: Sequence[WorkloadResult]) -> list[Impact]:
    """Return the factors of all canaries that ran both beside a congestor and alone.

    Args:
        results: The results of the applications of :func:`expanded` on any networks.

    >>> import topoloom
    >>> impacts(topoloom.workload("mesh:4", "reduce").results)  # no canary ran
    []
    """
    alone = {_identity(result): result for result in results if _is_canary(result) and _congestor(result) == ALONE}
    found = []
    for result in results:
        base = alone.get(_identity(result)) if _is_canary(result) and _congestor(result) != ALONE else None
        if base is None:
            continue
        (mean, p99), (alone_mean, alone_p99) = _times(result), _times(base)
        if mean is not None and p99 is not None and alone_mean and alone_p99:
            told = result.spec, _keys(result.app).get("canary", CANARIES[0]), _congestor(result)
            found.append(Impact(*told, alone_mean, mean / alone_mean, p99 / alone_p99))
    return found


def _keys(app: str) -> dict[str, str]:
    return dict(_core.Name("app", app).values)


def _is_canary(result: WorkloadResult) -> bool:
    return _core.head(result.app) == NAME


def _congestor(result: WorkloadResult) -> str:
    return _keys(result.app).get("congestor", ALONE)


def _identity(result: WorkloadResult) -> tuple[str, ...]:
    keys = sorted((key, value) for key, value in _keys(result.app).items() if key not in ("congestor", "block"))
    return (result.spec, result.routing, result.mapping, *map(str, keys))


def _times(result: WorkloadResult) -> tuple[float | None, float | None]:
    """Return mean and 99th percentile: of rounds where all canaries do one thing together, else of messages."""
    if _keys(result.app).get("canary") == "allreduce":
        told = result.model_extra or {}
        return told.get("round_s"), told.get("round_p99_s")
    return result.message_mean_s, result.message_p99_s
