"""How far times were off where machines were measured, in one line."""

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from topoloom.files import read_text

RESULTS = Path(__file__).parents[1] / "papers/data/hardware/results.json"
"""What ``topoloom reproduce hardware`` found, as it comes with topoloom."""

ALONE = (
    "without --endpoint messages cost nothing at their ends: on two measured machines the network alone took 5 to 42 % "
    "of the time"
)

SIZES = ("from", "below")
"""The size classes, as names of claims have them."""


def error_bars(engine: str, assumptions: Sequence[str]) -> str:
    """Return a sentence on the errors of such times on machines that were measured.

    Args:
        engine: The engine, flow or cycle, unchecked.
        assumptions: What the times rest on, as :attr:`topoloom.Workloads.assumptions` has it.

    >>> error_bars("flow", ["ideal: a lower bound"])[:34]
    'without --endpoint messages cost n'
    >>> error_bars("flow", ["endpoint: latency=1us"])[:44]
    'with endpoints fitted on one and two nodes, '
    """
    if not any(said.startswith("endpoint:") for said in assumptions):
        return ALONE
    found = _of_predictions()
    own = "cycle-" if engine == "cycle" else ""

    def told(whose: str) -> str:
        errors = [f"{found[f'{whose}{part}-{size}-32-kib']:.0%}" for size in SIZES for part in ("median", "ninetieth")]
        return "{} and {} from 32 KiB on, {} and {} below".format(*errors)

    alike = "; in nearly all points endpoints decide, not the engine" if own else ""
    return (
        f"with endpoints fitted on one and two nodes, times on 4 to 16 nodes of ABCI 2.0 were off by {told(own)} "
        f"(median and 90th percentile{alike}), by {told('first-')} before anything was compared"
    )


@cache
def _of_predictions() -> dict[str, float]:
    """Return the errors of predictions, by the names of claims."""
    claims = json.loads(read_text(RESULTS))["claims"]
    return {claim["id"]: claim["measured"] for claim in claims if claim["id"].endswith("-32-kib")}
