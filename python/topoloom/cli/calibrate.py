"""``topoloom calibrate``: the endpoints of machines that were measured, and predictions of larger runs."""

import json as json_module
from pathlib import Path
from typing import Annotated

import typer

from topoloom.cli import status
from topoloom.cli.console import print_json, print_table, say
from topoloom.cli.parameters import Force, Json
from topoloom.cli.watching import watched
from topoloom.files import CALIBRATION, PREDICTIONS, check_writable, write_file
from topoloom.hardware.folders import calibrate_folder
from topoloom.papers.paper import folder as papers_folder


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
        typer.Option("--predictions", metavar="FILE.csv", help="Write what 2 to 64 nodes of these machines will take."),
    ] = None,
    force: Force = False,
    json: Json = False,
) -> int:
    """Fit the costs of endpoints on point-to-point runs and on one and two nodes only; predict larger runs."""
    check_writable(out, CALIBRATION, force=force)
    check_writable(predictions, PREDICTIONS, force=force)
    here = folder or papers_folder() / "hardware"
    found = watched(lambda: calibrate_folder(here), f"{here}: calibration")
    if out is not None:
        write_file(out, found.text, CALIBRATION, force=force)
        say(f"the parameters are in {out}")
    if predictions is not None:
        count, text = watched(found.predictions, f"{here}: predictions")
        write_file(predictions, text, PREDICTIONS, force=force)
        say(f"{count} predictions are in {predictions}")
    if json:
        print_json(json_module.loads(found.text))
    else:
        print_table(["machine", "library", "benchmark", "rows", "parameters", "median error"], found.table(), left=3)
    return status.DONE
