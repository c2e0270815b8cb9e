"""``topoloom design``: from a need to a decision."""

from collections.abc import Sequence
from pathlib import Path
from shutil import rmtree
from typing import Annotated, Any

import typer

from topoloom.cli import status
from topoloom.cli.console import print_json, print_sentence, print_table, say
from topoloom.cli.parameters import Force, Json, LayoutRules, Prices
from topoloom.cli.progress import ProgressDisplay
from topoloom.design.answer import Answer, answer
from topoloom.design.candidates import count_or_range
from topoloom.design.criteria import Criterion, Value
from topoloom.design.funnel import InterruptionError
from topoloom.design.makespans import makespans_note
from topoloom.design.question import Question, make_question, read_question
from topoloom.design.shapes import SHAPES
from topoloom.design.windows import throughput_note
from topoloom.files import REPORT, check_writable
from topoloom.layout.layouts import DEFAULT_LAYOUT
from topoloom.layout.prices import assumed_prices, price_list
from topoloom.studies import LocalExecutor, Progress
from topoloom.wording import counted

STORE = "design.store"

TOLD_EVERY_S = 60.0
"""Seconds between lines of progress within a stage where stderr is no terminal; stages are printed anyway."""


class _Teller:
    """Reports which stage begins, and shows how far it is."""

    def __init__(self, display: ProgressDisplay) -> None:
        self._display = display

    def stage(self, name: str, count: int) -> None:
        """Report that a stage begins."""
        say(f"{name}: {counted(count, 'network')}")

    def progress(self, progress: Progress) -> None:
        """Show how far a stage is."""
        self._display.update(progress)


def _text(name: str, metavar: str, help_: str) -> Any:
    return typer.Option(name, metavar=metavar, help=help_, show_default=False)


def design(
    context: typer.Context,
    question: Annotated[
        Path | None,
        typer.Argument(metavar="QUESTION.toml", help="The question; options come before it.", show_default=False),
    ] = None,
    terminals: Annotated[str | None, _text("--terminals", "N|LOW:HIGH", "At least N and up to a tenth more.")] = None,
    radix: Annotated[int | None, _text("--radix", "K", "The largest number of ports on a router.")] = None,
    families: Annotated[
        str | None, _text("--families", "F,…", f"Families: {', '.join(SHAPES)}; all unless given.")
    ] = None,
    budget: Annotated[
        str | None,
        _text("--budget", "DOLLARS", "The largest cost of routers, cables and network interfaces, as in 30M."),
    ] = None,
    power: Annotated[str | None, _text("--power", "WATTS", "The largest power of the same, as in 500kW.")] = None,
    max_diameter: Annotated[int | None, _text("--max-diameter", "D", "The largest diameter in hops.")] = None,
    min_bisection: Annotated[
        float | None, _text("--min-bisection", "B", "Links between two halves over half the terminals.")
    ] = None,
    min_throughput: Annotated[
        float | None,
        _text(
            "--min-throughput",
            "X",
            "The smallest saturation throughput under uniform traffic, from 0 to 1; unless given, a quarter of the "
            "best for finalists.",
        ),
    ] = None,
    survive: Annotated[
        str | None, _text("--survive", "KIND=AMOUNT", "Failures to measure throughput under, as in links=2%.")
    ] = None,
    traffic: Annotated[
        str | None, _text("--traffic", "NAME,…", "Traffic patterns; uniform and worst-case unless given.")
    ] = None,
    app: Annotated[str | None, _text("--app", "NAME,…", "Applications; their makespans count.")] = None,
    criteria: Annotated[
        str | None,
        _text("--criteria", "NAME,…", "What counts: cost power cable diameter saturation.T makespan.APP survivable."),
    ] = None,
    routing: Annotated[str | None, _text("--routing", "NAME", "A routing or a role; adaptive unless given.")] = None,
    finalists: Annotated[int | None, _text("--finalists", "N", "Networks measured in full; 12 unless given.")] = None,
    rate: Annotated[
        str | None,
        _text("--rate", "RATE", "Rate of a link, which chooses the prices; that of --prices or 400Gb/s unless given."),
    ] = None,
    hosts: Annotated[
        str | None, _text("--hosts", "HOST", "Hosts whose accelerators the terminals are; see: topoloom list hosts.")
    ] = None,
    seed: Annotated[int | None, _text("--seed", "N", "The seed of all random choices; 1 unless given.")] = None,
    layout: LayoutRules = "",
    prices: Prices = "",
    store: Annotated[
        Path | None,
        _text(
            "--store",
            "FOLDER",
            "Where results are kept; beside the report unless given, or in design.store until the run ends.",
        ),
    ] = None,
    workers: Annotated[
        int | None, typer.Option("--workers", metavar="N", min=1, help="Processes; one per processor unless given.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="report.html", help="Write the report, one HTML file.")
    ] = None,
    force: Force = False,
    json: Json = False,
) -> int:
    """Answer which network to build: search, build, prove, cost and simulate; resumes where it was stopped."""
    given = {
        "terminals": None if terminals is None else count_or_range("--terminals", terminals),
        "radix": radix, "families": families, "budget": budget, "power": power,
        "max_diameter": max_diameter, "min_bisection": min_bisection, "min_throughput": min_throughput,
        "survive": survive, "traffic": traffic,
        "apps": app, "criteria": criteria, "routing": routing, "finalists": finalists, "rate": rate, "seed": seed,
        "hosts": hosts,
        "layout": layout or None, "prices": prices or None,
    }  # fmt: skip
    values = {} if question is None else read_question(question)
    asked = make_question(values | {name: value for name, value in given.items() if value is not None})
    check_writable(out, REPORT, force=force)
    folder = store or (Path(STORE) if out is None else out.with_name(f"{out.name}.store"))
    say(asked.sentence())
    found = _answered(asked, folder, context.obj, workers, passing=store is None and out is None)
    if found is None:
        say(f"interrupted; finished points are kept in {folder}, and the same command resumes")
        return status.INTERRUPTED
    if out is not None:
        found.write_report(out, force=force)
        say(f"the report is in {out}")
    if json:
        print_json(found.to_dict())
    else:
        _print_answer(found)
    return status.DONE


def _answered(
    asked: Question, folder: Path, command: Sequence[str], workers: int | None, *, passing: bool
) -> Answer | None:
    """Answer a question; None if Ctrl-C came first. A store that was not requested is deleted once all is done."""
    passing = passing and not folder.exists()
    with ProgressDisplay("design", folder, TOLD_EVERY_S) as display:
        try:
            return answer(asked, folder, command, executor=LocalExecutor(workers), watcher=_Teller(display))
        except InterruptionError:
            passing = False
            return None
        finally:
            if passing:
                rmtree(folder, ignore_errors=True)


def _print_answer(found: Answer) -> None:
    """Print the finalists, what is recommended, and what all of it rests on."""
    criteria = found.criteria
    titles = [f"{each.name}, {each.unit}" if each.unit else each.name for each in criteria]
    rows = [
        [own.spec, own.routing, f"{own.candidate.terminals:,}", f"{own.candidate.routers:,}"]
        + [_cell(own.values.get(each.name), each) for each in criteria]
        for own in found.finalists
    ]
    print_table(["network", "routing", "terminals", "routers", *titles], rows, left=2)
    for own in found.recommendations:
        print(f"{own.title}: {own.spec} ({own.why})")
    if found.passed_over:
        print_sentence(found.passed_over)
    for turn in found.sensitivity:
        which = ", ".join(own.title for own in turn.recommended if own.title in turn.changed)
        cheapest = f"cheapest is {turn.recommended[0].spec} (${turn.costs[turn.recommended[0].spec]:,.0f} per terminal)"
        print(
            f"Optics at {turn.factor:g} times the price: {cheapest}; {f'another: {which}' if which else 'all the same'}"
        )
    prices = f"{price_list(found.question.prices).name}{assumed_prices(found.prices_assumed)}"
    makespans = f" Makespans: {note}." if (note := makespans_note(found.question)) else ""
    print_sentence(
        f"Cost and cable: prices {prices}, layout {found.question.layout or DEFAULT_LAYOUT}. Saturation throughput: "
        f"{throughput_note(found.question)}, seed {found.question.seed}.{makespans}"
    )
    searched = counted(found.outcome.searched, "configuration")
    say(f"{searched}, {len(found.outcome.front)} on the front, {counted(len(rows), 'finalist')}")


def _cell(value: Value | None, each: Criterion) -> str:
    return "–" if value is None else each.text(value.value)
