"""``topoloom reproduce``: a paper's tables, figures and claims, published beside measured."""

from pathlib import Path
from typing import Annotated

import typer

from topoloom._core import TopoloomError
from topoloom.cli import status
from topoloom.cli.console import duration, print_json, print_table, say
from topoloom.cli.jobs import tell_notes
from topoloom.cli.parameters import Force
from topoloom.cli.progress import ProgressDisplay, exit_status, tell_failures
from topoloom.files import REPORT, check_folder, check_writable, reporting, write_file
from topoloom.hardware.comparison import DISTRIBUTION
from topoloom.libraries import require
from topoloom.papers import VERDICTS, Paper, Plan, Reproduction, names
from topoloom.papers.kept import KEPT, has_kept_run, kept_run, kept_text, results_with
from topoloom.papers.paper import RESULTS
from topoloom.papers.reproduction import NOT_MEASURED, Cell, shown
from topoloom.papers.values import KIND as VALUES_KIND
from topoloom.papers.values import VALUES, values_with
from topoloom.studies import Ledger, LocalExecutor
from topoloom.wording import counted
from topoloom.workers import cpu_count

TOTALS = {"paper": "all of the paper's claims", "ours": "all of ours", "constant": "all that are arithmetic only"}

HEADS = (*VERDICTS, NOT_MEASURED)

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
        int | None, typer.Option("--workers", metavar="N", min=1, help="Processes; one per processor unless given.")
    ] = None,
    kept: Annotated[
        bool, typer.Option("--kept", help="Print the results that come with the paper, or with all; run nothing.")
    ] = False,
    keep: Annotated[
        bool, typer.Option("--keep", help="Put the verdicts into the results that come with the paper.")
    ] = False,
    list_: Annotated[bool, typer.Option("--list", help="List the paper's items, and run nothing.")] = False,
    force: Force = False,
    json: Annotated[bool, typer.Option("--json", help="Print only JSON on stdout.")] = False,
) -> int:
    """Reproduce a paper: published values beside measured ones, with a verdict on each claim; resumes."""
    if paper is None and kept:
        return _print_kept_runs(as_json=json)
    if paper is None:
        raise TopoloomError(f"reproduce takes a paper; there are {', '.join(names())}")
    read = Paper.read(Path(paper)) if "/" in paper else Paper.named(paper)
    if list_:
        print_table(["item", "what it is"], [[item.id, item.title] for item in read.item], left=2)
        return status.DONE
    if kept:
        return _print_kept_claims(read, as_json=json)
    chosen = [] if only is None else [name.strip() for name in only.split(",")]
    plan = Plan(read, chosen, quick=quick)
    require(*REPORT.needs)
    if keep and has_kept_run(read):
        # Results that do not read are reported before the run, which may take hours.
        kept_run(read)
    folder = out or Path(f"{read.name}-reproduced")
    check_folder(folder, "page and results go to a folder")
    with reporting(folder):
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
    if keep:
        write_file(read.folder / RESULTS, results_with(read, found), KEPT)
        write_file(read.folder / VALUES, values_with(read, found), VALUES_KIND)
    if json:
        print_json(found.to_dict())
    else:
        _print(found)
        _print_tables(found, DISTRIBUTION if not chosen else None)
    code = exit_status(found.progress)
    # Skipping points was not requested: the paper asks for what cannot be run.
    return status.CHECK_FAILED if code == status.DONE and found.progress.skipped else code


def _print_kept_runs(*, as_json: bool) -> int:
    """Print what the runs that come with the papers found: the papers' own claims, counted."""
    runs = [kept_run(paper) for paper in map(Paper.named, names()) if has_kept_run(paper)]
    if as_json:
        print_json([run.model_dump(mode="json", exclude={"claims"}) for run in runs])
        return status.DONE
    rows = []
    for run in runs:
        counts = run.totals.get("paper", {})
        rows.append([run.paper, *(str(counts.get(head, "")) for head in HEADS), f"{run.seconds / 60:.0f}"])
    print_table(["claims of the paper", *HEADS, "minutes"], rows)
    return status.DONE


def _print_kept_claims(paper: Paper, *, as_json: bool) -> int:
    """Print the claims of a paper that did not come out, or do not count, in the run that comes with it."""
    if as_json:
        print(kept_text(paper), end="")
        return status.DONE
    run = kept_run(paper)
    rows = [
        [claim.verdict if claim.whose == "paper" else claim.whose, claim.id, claim.published, shown(claim.measured)]
        for claim in run.claims
        if claim.whose == "constant" or (claim.whose == "paper" and claim.verdict not in ("reproduced", "erratum"))
    ]
    print_table(["verdict", "claim", "published", "measured"], rows, left=4)
    return status.DONE


def _announce(plan: Plan, store: Path, processors: int) -> None:
    """Report how much there is to do, and about how long it takes."""
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
        say(f"the store also holds {counted(count, 'result')} of version {version} of the models, which are not used")


def _write_page(found: Reproduction, page: Path, *, force: bool) -> None:
    write_file(page, found.to_html(), REPORT, force=force)
    say(f"the page is {page}")


def _print_tables(found: Reproduction, only: str | None) -> None:
    """Print the tables of measured and predicted values of items, of one if it is given, where a paper has such."""
    if found.paper.comparison is None:
        return
    for result in found.items:
        if only not in (None, result.item.id):
            continue
        for table, cells in zip(result.item.table, result.tables, strict=True):
            rows = [[row.label, *map(_shown_cell, own)] for row, own in zip(table.row, cells, strict=True)]
            print()
            print_table([table.head or result.item.title, *table.columns], rows)


def _shown_cell(cell: Cell) -> str:
    return f"{cell.measured} / {cell.published}" if cell.published else cell.measured


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
