"""``topoloom export``: a network as a file of another program's format."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from topoloom import _core
from topoloom._core import TopoloomError
from topoloom.cli.console import say
from topoloom.cli.networks import load_network
from topoloom.cli.parameters import Links, Spec, link_options


def export(
    spec: Spec,
    format_: Annotated[
        str | None,
        typer.Option("--format", metavar="NAME", help="A format of list formats; unless given, by the ending of FILE."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="The file; standard output unless given.")
    ] = None,
    links: Links = None,
) -> None:
    """Write the graph of a network in a format that other programs read."""
    if format_ is None and out is None:
        raise TopoloomError("--format or --out is missing; an ending such as --out cluster.graphml tells the format")
    name = _core.format_of("" if out is None else str(out), format_)
    latencies = link_options(links).get("links")
    text, lost = load_network(spec).text(name, latencies)
    if out is None:
        sys.stdout.write(text)
    else:
        out.write_text(text, encoding="utf-8", newline="")
    for note in lost:
        say(note)
