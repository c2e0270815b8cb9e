"""``topoloom reproduce``: a paper's tables, figures and claims, published beside measured."""

from pathlib import Path
from typing import Annotated

import typer

from topoloom._core import TopoloomError
from topoloom.cli import status
from topoloom.cli.console import print_json, print_table, say
from topoloom.cli.jobs import tell_notes
from topoloom.cli.parameters import Force
from topoloom.cli.progress import ProgressDisplay, duration, exit_status, tell_failures
from topoloom.files import REPORT, check_writable, write_file
from topoloom.papers import Paper, Plan, Reproduction, names
from topoloom.studies import Ledger, LocalExecutor
from topoloom.workers import cpu_count

TOTALS = {"paper": "all of the paper's claims", "ours": "all of ours", "constant": "all that are arithmetic only"}

LEAST_TOLD_S = 5.0
"""Shorter runs are not announced."""


def reproduce(
    context: typer.Context,
    paper: Annotated[
        str | None, typer.Argument(metavar="PAPER", help="The paper, or the folder of one.", show_default=False)
    ] = None,
    only: Annotated[
        str | None, typer.Option("--only", metavar="ITEM,…", help="Only these, such as table6,fig8.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FOLDER", help="Where page and results go; PAPER-reproduced unless given."),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Every table, and a coarse version of every figure.")] = False,
    workers: Annotated[
        int | None, typer.Option("--workers", metavar="N", min=1, help="Processes; one a processor unless given.")
    ] = None,
    list_: Annotated[bool, typer.Option("--list", help="List the paper's items, and run nothing.")] = False,
    force: Force = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON, and nothing else, on stdout.")] = False,
) -> int:
    """Reproduce a paper: what it publishes beside what is measured here, with a verdict on each claim. Resumes."""
    if paper is None:
        raise TopoloomError(f"reproduce takes a paper; there are {', '.join(names())}")
    read = Paper.read(Path(paper)) if "/" in paper else Paper.named(paper)
    if list_:
        print_table(["item", "what it is"], [[item.id, item.title] for item in read.item], left=2)
        return status.DONE
    chosen = [] if only is None else [name.strip() for name in only.split(",")]
    plan = Plan(read, chosen, quick=quick)
    folder = out or Path(f"{read.name}-reproduced")
    folder.mkdir(parents=True, exist_ok=True)
    store, page = folder / "results.store", folder / f"{read.name}.html"
    check_writable(page, REPORT, force=force)
    _announce(plan, store, workers or cpu_count())
    with ProgressDisplay(read.name, store) as display:
        found = plan.run(store, executor=LocalExecutor(workers), on_progress=display.update)
    found.command, found.store = context.obj, str(store)
    tell_failures(found.progress)
    _tell_others(found)
    _write_page(found, page, force=force)
    if json:
        print_json(found.to_dict())
    else:
        _print(found)
    code = exit_status(found.progress)
    # Nobody asked for points to be skipped: the paper asks for what cannot be run.
    return status.CHECK_FAILED if code == status.DONE and found.progress.skipped else code


def _announce(plan: Plan, store: Path, processors: int) -> None:
    """Say how much there is to do, and about how long it takes."""
    states = {}
    if store.exists():
        with Ledger(store, create=False) as ledger:
            states = ledger.states()
            tell_notes(ledger)
    left = sum(point.among(states) != "done" for point in plan.points)
    seconds = plan.seconds(states) / processors
    about = f", about {duration(seconds)} on {processors} processors" if seconds > LEAST_TOLD_S else ""
    say(f"{plan.paper.name}: {left} of {len(plan.points)} points to run{about}")


def _tell_others(found: Reproduction) -> None:
    for version, count in sorted(found.others.items()):
        say(f"the store also holds {count} results of version {version} of the models, which are not used")


def _write_page(found: Reproduction, page: Path, *, force: bool) -> None:
    write_file(page, found.to_html(), REPORT, force=force)
    say(f"the page is {page}")


def _print(found: Reproduction) -> None:
    heads = list(found.counts())
    rows = []
    for result in found.items:
        own = [claim.state for claim in result.claims]
        rows.append([result.item.id, result.item.title, *(str(own.count(head) or "") for head in heads)])
    for whose, counts in found.totals().items():
        rows.append(["", TOTALS[whose], *(str(counts.get(head, "")) for head in heads)])
    print_table(["item", "what it is", *heads], rows, left=2)
    for claim in found.claims:
        if claim.verdict == "not-reproduced":
            say(f"not reproduced: {claim.id}: {claim.says}")
