"""``topoloom calibrate``: the endpoints of machines that were measured, and predictions of larger runs."""

import json as json_module
from pathlib import Path
from typing import Annotated

import typer

from topoloom._core import TopoloomError
from topoloom.cli import status
from topoloom.cli.console import print_json, print_table, say
from topoloom.cli.parameters import Force, Json
from topoloom.cli.watching import watched
from topoloom.files import CALIBRATION, PREDICTIONS, check_apart, check_writable, write_file
from topoloom.hardware.folders import calibrate_folder
from topoloom.papers.paper import folder as papers_folder
from topoloom.workload.options import Engine

MOST_NODES = 4096
"""The most nodes that a prediction is of."""


def calibrate(
    folder: Annotated[
        Path | None,
        typer.Argument(
            metavar="FOLDER",
            help="Holds machines.toml and measurements.csv; the machines that come with topoloom unless given.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE.json", help="Write the parameters with their intervals.")
    ] = None,
    predictions: Annotated[
        Path | None,
        typer.Option("--predictions", metavar="FILE.csv", help="Write what more nodes of these machines will take."),
    ] = None,
    nodes: Annotated[
        str | None,
        typer.Option(
            "--nodes",
            metavar="N,N,…",
            help="Numbers of nodes of collectives; 2 to 64 unless given.",
            show_default=False,
        ),
    ] = None,
    engine: Annotated[
        Engine,
        typer.Option("--engine", help="What finds the rates of networks: fair shares of links, or flits."),
    ] = "flow",
    force: Force = False,
    json: Json = False,
) -> int:
    """Fit the costs of endpoints on point-to-point runs and on one and two nodes only; predict larger runs."""
    check_apart({"--out": out, "--predictions": predictions})
    check_writable(out, CALIBRATION, force=force)
    check_writable(predictions, PREDICTIONS, force=force)
    counts = None if nodes is None else _counts(nodes)
    if counts is not None and predictions is None:
        raise TopoloomError("--nodes sets what to predict; give --predictions FILE.csv too, or leave it out")
    here = folder or papers_folder() / "hardware"
    found = watched(lambda: calibrate_folder(here, engine), f"{here}: calibration")
    if out is not None:
        write_file(out, found.text, CALIBRATION, force=force)
        say(f"the parameters are in {out}")
    if predictions is not None:
        count, text = watched(lambda: found.predictions(counts), f"{here}: predictions")
        write_file(predictions, text, PREDICTIONS, force=force)
        say(f"{count} predictions are in {predictions}")
    if json:
        print_json(json_module.loads(found.text))
    else:
        print_table(["machine", "library", "benchmark", "rows", "parameters", "median error"], found.table(), left=3)
    return status.DONE


def _counts(text: str) -> list[int]:
    """Return numbers of nodes.

    Raises:
        TopoloomError: Something else is among them.

    >>> _counts("2,4,8,4")
    [2, 4, 8]
    """
    parts = text.split(",")
    short = len(str(MOST_NODES))
    if not all(
        part.isascii() and part.isdigit() and len(part) <= short and 0 < int(part) <= MOST_NODES for part in parts
    ):
        raise TopoloomError(f"--nodes is '{text}'; it must be numbers from 1 to {MOST_NODES}, as in 2,4,8")
    return list(dict.fromkeys(map(int, parts)))
