"""Results that come with a paper: what a run found, claim by claim, as ``reproduce --json`` printed it."""

import json
from collections import Counter
from collections.abc import Mapping, Set
from contextlib import suppress
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from topoloom._core import TopoloomError
from topoloom.files import Kind, read_text
from topoloom.papers.formulas import Value
from topoloom.papers.paper import RESULTS, VERDICTS, WHOSE, Claim, Paper, Verdict, Whose
from topoloom.papers.reproduction import NOT_MEASURED, Plan, Reproduction, processor_s, verdict_on

KEPT = Kind("results of a paper", lambda head: b'"paper":' in head)
"""The kind of files that hold them."""

UNKNOWN = "no run whose results are kept measured it"


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True)


class KeptClaim(_Part):
    """A claim as it was judged.

    Attributes:
        id: The id of the claim.
        item: The statement.
        part: The id of the table, figure or part of the text that it belongs to.
        published: What the paper has.
        measured: What was measured: a number, a truth, or several by name.
        verdict: The verdict.
        whose: Whose statement it is.
        reading: The reading of the paper under which the verdict holds.
        note: Further remarks.
        model_version: The version of the models that it was judged by; that of the run unless given.
        quick: Whether a quick run judged it; as the run unless given.
    """

    id: str
    item: str
    part: str
    published: str
    measured: Any = None
    verdict: Verdict
    whose: Whose
    reading: str
    note: str
    model_version: int | None = None
    quick: bool | None = None


class KeptRun(_Part):
    """The runs of a paper whose verdicts are kept.

    Attributes:
        paper: The name of the paper.
        version: The version of topoloom that ran the last one.
        model_version: The version of the models that the last one ran on.
        quick: Whether the last one was a quick run.
        points: The number of points that they rest on.
        seconds: Their processor seconds.
        totals: Verdicts, counted by whose the claims are.
        claims: The claims with a verdict.
    """

    paper: str
    version: str
    model_version: int
    quick: bool
    points: int = 0
    seconds: float = 0
    totals: Mapping[Whose, Mapping[str, int]]
    claims: tuple[KeptClaim, ...]


def has_kept_run(paper: Paper) -> bool:
    """Return whether results are kept with a paper.

    Args:
        paper: The paper.

    >>> has_kept_run(Paper.named("flex"))
    True
    """
    return (paper.folder / RESULTS).is_file()


def kept_text(paper: Paper) -> str:
    """Return the file that holds the results of a paper.

    Args:
        paper: The paper.

    Raises:
        TopoloomError: None are kept with it.

    >>> kept_text(Paper.named("flex")).startswith("{")
    True
    """
    if not has_kept_run(paper):
        raise TopoloomError(f"{paper.name}: no results are kept with it")
    return read_text(paper.folder / RESULTS)


def kept_run(paper: Paper) -> KeptRun:
    """Return the run whose results are kept with a paper.

    Args:
        paper: The paper.

    Raises:
        TopoloomError: None are, or they do not read.

    >>> kept_run(Paper.named("flex")).paper
    'flex'
    """
    text = kept_text(paper)
    try:
        return KeptRun.model_validate(json.loads(text))
    except (ValidationError, ValueError) as error:
        raise TopoloomError(f"{paper.folder / RESULTS} holds no results of a paper: {error}") from None


def results_with(paper: Paper, found: Reproduction) -> str:
    """Return the file of results of a paper after a run: its verdicts in place of those on the same claims.

    Claims that this run did not measure are judged again, by what was measured before and what the paper states now.
    Those that the paper no longer makes, or for which it now measures values of other names, are left out. A point that
    several runs have counts once, by the last of them.

    Args:
        paper: The paper.
        found: The results of a run, of all of its items or of some.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from topoloom.papers import Plan
    >>> paper = Paper.named("hardware")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     found = Plan(paper, only=["limits"]).run(Path(folder, "results.store"))
    >>> '"not_measured": []' in results_with(paper, found)
    True
    """
    run = found.to_dict()
    before = json.loads(kept_text(paper)) if has_kept_run(paper) else {}
    old = {claim["id"]: _of_run(claim, before) for claim in before.get("claims", ())}
    new = {claim["id"]: _of_run(claim, run) for claim in run["claims"]}
    every = [own for item in paper.item for own in paper.claims(item)]
    claims = {}
    for name, claim, it in every:
        if name in new:
            claims[name] = new[name]
        elif name in old and _names(claim.measured) == _names(old[name]["measured"]):
            claims[name] = _judged_again(paper, old[name], claim, it)
    parts = _parts_with(paper, before, found)
    missing = {one["id"]: one for one in (*before.get("not_measured", ()), *run["not_measured"])}
    kept = {
        **run,
        "points": sum(part["points"] for part in parts),
        "seconds": round(sum(part["seconds"] for part in parts)),
        "totals": _totals({name: claim for name, claim, _ in every}, claims),
        "parts": parts,
        "claims": list(claims.values()),
        "not_measured": [
            missing.get(name, {"id": name, "note": UNKNOWN}) for name, _, _ in every if name not in claims
        ],
    }
    return json.dumps(kept, indent=1, ensure_ascii=False) + "\n"


def _parts_with(paper: Paper, before: Mapping[str, Any], found: Reproduction) -> list[dict[str, Any]]:
    """Return points and seconds of all runs by the items that need them: those of this run in place of earlier ones."""
    new = _parts_of(paper, found)
    # A quick run leaves studies out: what was kept of their items stays.
    ran = {result.item.id for result in found.items if result.found.rows or not result.item.needs}
    known = [item.id for item in paper.item]
    # Earlier versions kept the sums alone.
    whole = {"items": known, "points": before.get("points", 0), "seconds": before.get("seconds", 0)}
    rest = (_rest(part, new, ran) for part in before.get("parts", [whole]))
    return [part for part in rest if part["points"] and not set(known).isdisjoint(part["items"])] + list(new.values())


def _parts_of(paper: Paper, found: Reproduction) -> dict[tuple[str, ...], dict[str, Any]]:
    """Return the points of a run and their seconds by the items that need them, among all items of the paper."""
    rows = {row["key"]: row for row in found.rows}
    took: dict[tuple[str, ...], list[float]] = {}
    for point, items in Plan(paper, quick=found.quick).needs():
        if (row := point.among(rows)) is not None:
            took.setdefault(items, []).append(processor_s(row))
    return {
        items: {"items": list(items), "points": len(each), "seconds": round(sum(each), 1)}
        for items, each in took.items()
    }


def _rest(part: Mapping[str, Any], new: Mapping[tuple[str, ...], Mapping[str, Any]], ran: Set[str]) -> dict[str, Any]:
    """Return what remains of an earlier part after a run of some items; it may have no points."""
    items = [item for item in part["items"] if item not in ran]
    points = part["points"] if items and tuple(part["items"]) not in new else 0
    if points and len(items) < len(part["items"]):
        # Its points are not known one by one: those that were run again took their share of the seconds.
        again = sum(own["points"] for key, own in new.items() if set(key) <= set(part["items"]))
        points = max(0, points - again)
    seconds = round(part["seconds"] * points / part["points"], 1) if points else 0
    return {"items": items, "points": points, "seconds": seconds}


def _judged_again(paper: Paper, kept: Mapping[str, Any], claim: Claim, it: Value) -> dict[str, Any]:
    """Return a claim of an earlier run with the words of the paper's data, and the verdict by them."""
    row = paper.rows.get(kept["id"], {})
    published = claim.published or row.get("published", "")
    verdict = kept["verdict"]
    with suppress(TopoloomError):  # the verdict rests on more than the measured values, which alone are kept
        verdict = verdict_on(claim, kept["measured"], paper.names | {"it": it}, published)
    return {
        **kept,
        "item": claim.says or row.get("item", ""),
        "published": published,
        "verdict": verdict,
        "whose": claim.whose,
        "reading": claim.reading,
        "note": claim.note or row.get("how", ""),
    }


def _names(measured: object) -> set[str] | None:
    return set(measured) if isinstance(measured, dict) else None


def _of_run(claim: Mapping[str, Any], run: Mapping[str, Any]) -> dict[str, Any]:
    """Return a claim with the run that judged it, and without the keys of the evidence, which is in no repository."""
    own = {"model_version": run["model_version"], "quick": run["quick"], **claim}
    own.pop("evidence", None)
    return own


def _totals(known: Mapping[str, Claim], claims: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, int]]:
    """Return verdicts counted by whose the claims are, in the order of verdicts; what has none comes last."""
    counts: dict[str, Counter[str]] = {whose: Counter() for whose in WHOSE}
    for name, claim in known.items():
        counts[claim.whose][claims[name]["verdict"] if name in claims else NOT_MEASURED] += 1
    order = (*VERDICTS, NOT_MEASURED)
    return {whose: {one: own[one] for one in order if own[one]} for whose, own in counts.items() if own}
