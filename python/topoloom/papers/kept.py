"""Results that come with a paper: what a run found, claim by claim, as ``reproduce --json`` printed it."""

import json
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from topoloom._core import TopoloomError
from topoloom.files import read_text
from topoloom.papers.paper import RESULTS, Paper, Verdict, Whose


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True)


class KeptClaim(_Part):
    """A claim as it was judged.

    Attributes:
        id: The id of the claim.
        item: The table, figure or part of the text that it belongs to.
        part: The title of that item.
        published: What the paper has.
        measured: What was measured: a number, a truth, or several by name.
        verdict: The verdict.
        whose: Whose statement it is.
        reading: The reading of the paper under which the verdict holds.
        note: Further remarks.
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


class KeptRun(_Part):
    """A run of a paper.

    Attributes:
        paper: The name of the paper.
        version: The version of topoloom that ran it.
        model_version: The version of the models that it ran on.
        quick: Whether it was a quick run.
        points: The number of points that it rests on.
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
