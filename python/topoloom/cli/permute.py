"""``topoloom permute``: swap-and-randomize a machine that stands."""

from pathlib import Path
from typing import Annotated, Any

import typer

from topoloom.cli.console import print_json, print_table, say
from topoloom.cli.parameters import Force, Json
from topoloom.cli.watching import watched
from topoloom.files import CABLING, MOVES, check_apart, check_writable, write_file
from topoloom.network.permutation import permute_list
from topoloom.wording import counted


def permute(
    cabling: Annotated[
        Path, typer.Argument(metavar="CABLING.csv", help="Switch, port, cabinet at either end, one cable per line.")
    ],
    method: Annotated[
        str, typer.Option("--method", metavar="NAME", help="two-cab, three-cab, one-step or optimised.")
    ] = "two-cab",
    out: Annotated[
        Path | None, typer.Option("--out", metavar="MOVES.csv", help="Write the moves, in an order that works.")
    ] = None,
    after: Annotated[
        Path | None, typer.Option("--after", metavar="FILE.csv", help="Write the cabling list after the moves.")
    ] = None,
    trials: Annotated[int, typer.Option("--trials", metavar="N", help="Permutations to try.", min=1)] = 20,
    swappable: Annotated[
        float, typer.Option("--swappable", metavar="P", help="Probability that a pair of cables may be swapped.")
    ] = 1.0,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="The seed.", min=0)] = 1,
    keep: Annotated[
        str | None,
        typer.Option("--keep", metavar="bandwidth", help="optimised: accept no exchange that lowers bandwidth."),
    ] = None,
    steps: Annotated[
        int | None,
        typer.Option("--steps", metavar="N", help="optimised: exchanges that each of four searches tries.", min=1),
    ] = None,
    allow_less_bandwidth: Annotated[
        bool, typer.Option("--allow-less-bandwidth", help="Write a plan even if it lowers bandwidth.")
    ] = False,
    force: Force = False,
    json: Json = False,
) -> int:
    """Permute the cables of an installed machine: shorter paths, no more cable, and the list of moves."""
    check_apart({"CABLING.csv": cabling, "--out": out, "--after": after})
    for path, kind in ((out, MOVES), (after, CABLING)):
        check_writable(path, kind, force=force)
    done = watched(
        lambda: permute_list(cabling, method, trials=trials, swappable=swappable, seed=seed, keep=keep, steps=steps),
        f"{cabling}: permutation",
    )
    refused = bool(done.told["losses"]) and not allow_less_bandwidth
    for path, text, kind in ((out, done.moves, MOVES), (after, done.cabling, CABLING)):
        if path is not None and not refused:
            write_file(path, text, kind, force=force)
    for note in done.told["notes"]:
        say(f"{cabling}: {note}")
    if done.told["left_out"]:
        say(
            f"{cabling}: {done.told['left_out']} ends of cables stay where they are, "
            "because the network would fall apart while they are moved"
        )
    if json:
        print_json(done.told | {"refused": refused})
    else:
        _print(done.told)
    if done.told["losses"]:
        say(f"{cabling}: {_lowered(done.told['losses'], keep, refused=refused)}")
    return int(refused)


def _lowered(losses: list[str], keep: str | None, *, refused: bool) -> str:
    """Report what a permutation lowers, and what can be done about it."""
    told = f"the permutation lowers bandwidth: {', '.join(losses)}"
    if not refused:
        return told
    other = "" if keep else ", --method optimised --keep bandwidth searches for one that keeps it"
    return f"{told}; no plan is written: --allow-less-bandwidth accepts it{other}"


def _print(told: dict[str, Any]) -> None:
    rows = [
        ["Diameter", "hops", *(f"{told[when]['diameter']:,}" for when in ("before", "after"))],
        ["Average distance", "hops", *(f"{told[when]['average_distance']:.3f}" for when in ("before", "after"))],
        ["Bisection", "links", *(_bisection(told[when]) for when in ("before", "after"))],
        ["Beta", "", *(_number(told[when]["beta"]) for when in ("before", "after"))],
        ["Bound, uniform", "load", *(_number(told[when]["uniform_bound"]) for when in ("before", "after"))],
        ["Bound, worst case", "load", *(_number(told[when]["worst_case_bound"]) for when in ("before", "after"))],
        ["Cables", "", *[f"{told['cables']:,}"] * 2],
        ["Ends moved", "", "–", f"{told['moved_ends']:,}"],
        ["Moves", "", "–", f"{told['moves']:,}"],
    ]
    cabinets = counted(told["cabinets"], "cabinet")
    print_table(
        [f"{counted(told['switches'], 'switch', 'switches')} in {cabinets}", "", "before", "after"], rows, left=2
    )


def _bisection(told: dict[str, Any]) -> str:
    """Return the links of a bisection, with ≤ unless it is known to be the least."""
    return f"{'' if told['bisection_is'] == 'exact' else '≤ '}{told['bisection_links']:,}"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
