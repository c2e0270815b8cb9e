"""How far times were off where machines were measured, in one line."""

import json
from functools import cache
from pathlib import Path

from topoloom.files import read_text

RESULTS = Path(__file__).parents[1] / "papers/data/hardware/results.json"
"""What ``topoloom reproduce hardware`` found, as it comes with topoloom."""


@cache
def error_bars() -> str:
    """Return a sentence on the errors of predictions for machines that were measured.

    >>> error_bars().startswith("compared with ABCI 2.0 on 4 to 16 nodes")
    True
    """
    claims = {claim["id"]: claim["measured"] for claim in json.loads(read_text(RESULTS))["claims"]}
    off = {name: f"{value:.0%}" for name, value in claims.items() if name.endswith("-32-kib")}
    return (
        "compared with ABCI 2.0 on 4 to 16 nodes, with endpoints fitted on one and two: times with rates of the flow "
        f"engine were off by {off['median-from-32-kib']} in the median and {off['ninetieth-from-32-kib']} at the 90th "
        f"percentile from 32 KiB on ({off['first-median-from-32-kib']} and {off['first-ninetieth-from-32-kib']} by "
        f"predictions before any comparison), by {off['median-below-32-kib']} and {off['ninetieth-below-32-kib']} "
        f"below; with rates of the cycle engine by {off['cycle-median-from-32-kib']} and "
        f"{off['cycle-ninetieth-from-32-kib']} from 32 KiB on, {off['cycle-median-below-32-kib']} and "
        f"{off['cycle-ninetieth-below-32-kib']} below"
    )
