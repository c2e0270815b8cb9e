"""``topoloom export``: a network as a file of another program's format."""

import re
from pathlib import Path
from typing import Annotated

import typer

from topoloom import _core, files
from topoloom._core import TopoloomError
from topoloom.cli.console import say
from topoloom.cli.networks import load_network
from topoloom.cli.parameters import Force, Links, Spec, link_options
from topoloom.cli.streams import write_data
from topoloom.cli.watching import watched

TABLES = ("lft", "csv", "extoll")
"""Formats of routing tables: as OpenSM writes them, as ``table:FILE`` reads them, and by input, as cards load them."""

DIGITS = 18
"""Digits that a number in the name of a node may have."""

TABLES_ALONE = ("lft", "extoll")
"""Those of them that no graph is written in."""


def export(
    spec: Spec,
    format_: Annotated[
        str | None,
        typer.Option("--format", metavar="NAME", help="A format of list formats; unless given, by the ending of FILE."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="The file; standard output unless given.")
    ] = None,
    routing: Annotated[
        str | None,
        typer.Option(
            "--routing",
            help="Write its tables instead of the graph: --format lft for OpenSM, csv, or extoll for cards.",
            show_default=False,
        ),
    ] = None,
    nodes: Annotated[
        str | None,
        typer.Option(
            "--nodes",
            metavar="NAMES",
            help="Names of the terminals, for Slurm: node[001-064],login.",
            show_default=False,
        ),
    ] = None,
    links: Links = None,
    force: Force = False,
) -> None:
    """Write the graph of a network, or a routing's tables, in a format that other programs read."""
    if format_ is None and out is None:
        raise TopoloomError("--format or --out is missing; an ending such as --out cluster.graphml selects the format")
    if routing is None and format_ in TABLES_ALONE:
        raise TopoloomError(f"{format_} is a format of routing tables; give a routing as well, as in --routing dor")
    if routing is not None:
        for name, given in (("links", links), ("nodes", nodes)):
            if given is not None:
                raise TopoloomError(f"--{name} describes a graph; forwarding tables cannot store it")
        lost = _write_tables(spec, routing, format_, out, force=force)
    else:
        lost = _write_graph(spec, format_, out, link_options(links).get("links"), nodes, force=force)
    for note in lost:
        say(note)


def _write_graph(
    spec: str,
    format_: str | None,
    out: Path | None,
    links: dict[str, int | str] | None,
    nodes: str | None,
    *,
    force: bool,
) -> list[str]:
    name = _core.format_of("" if out is None else str(out), format_)
    if nodes is not None and not name.startswith("slurm"):
        raise TopoloomError(f"--nodes names the nodes of Slurm; the format {name} has no such names")
    files.check_writable(out, files.graph(name), force=force)
    network = load_network(spec)
    names = None if nodes is None else _hostnames(nodes, network.num_terminals)
    what = f"{network.spec}: {name}"
    if out is not None:
        lost = watched(lambda: network.write(out, name, links, names, force=force), what)
        unwritten = network.core.unwritten(name)
        return lost if unwritten is None else [*lost, unwritten]
    text, lost = watched(lambda: network.text(name, links, names), what)
    write_data(text)
    return lost


def _write_tables(spec: str, routing: str, format_: str | None, out: Path | None, *, force: bool) -> list[str]:
    name = format_ if format_ is not None or out is None else out.suffix.removeprefix(".")
    if name not in TABLES:
        raise TopoloomError(_core.unknown("format of forwarding tables", name or "", list(TABLES)))
    files.check_writable(out, files.TABLES[name], force=force)
    network = load_network(spec)
    what = f"{network.spec}: tables of {routing}"
    sizes = None
    if name == "extoll":
        text, sizes = watched(lambda: network.card_tables(routing), what)
    else:
        text = watched(lambda: _core.Routing(network.core, routing).forwarding_text(name), what)
    if out is None:
        write_data(text)
    else:
        files.write_file(out, text, files.TABLES[name], force=force)
    if sizes is not None:
        return [
            f"{network.spec}: {sizes['tables']} tables, in blocks of {sizes['block']} destinations: at most "
            f"{sizes['most_entries']} entries each, for {sizes['destinations']} destinations"
        ]
    classes = watched(lambda: network.verify(routing), f"{network.spec}: proof of {routing}")["vcs_needed"]
    if classes == 1:
        return []
    return [f"{network.spec}: forwarding tables cannot store the {classes} VC classes of {routing}"]


def _hostnames(text: str, most: int) -> list[str]:
    """Return the names that a list of hosts stands for, as Slurm writes it; there must be at most `most`.

    >>> _hostnames("n[08-10,12],login", 5)
    ['n08', 'n09', 'n10', 'n12', 'login']
    """
    names: list[str] = []
    for part in re.findall(r"(?:[^,\[]|\[[^\]]*\]?)+", text):
        prefix, bracket, ranges = part.partition("[")
        if not bracket:
            names.append(part)
            continue
        for numbers in ranges.removesuffix("]").split(","):
            found = re.fullmatch(rf"(\d{{1,{DIGITS}}})(?:-(\d{{1,{DIGITS}}}))?", numbers, re.ASCII)
            first, last = (int(found[1]), int(found[2] or found[1])) if found else (1, 0)
            if found is None or not ranges.endswith("]") or last < first:
                raise TopoloomError(f"--nodes: '{part}' is no list of names; write it like node[001-064,070]")
            if last - first >= most - len(names):
                raise TopoloomError(f"--nodes makes more names than the {most} terminals of the network")
            names += [f"{prefix}{number:0{len(found[1])}}" for number in range(first, last + 1)]
    return names
