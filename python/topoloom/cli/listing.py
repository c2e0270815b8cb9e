"""``topoloom list``: topologies, hosts, machines, routings, patterns, applications, allocators, layouts and so on."""

import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated

import typer
from rich.text import Text

from topoloom import _core
from topoloom._core import TopoloomError, unknown
from topoloom.cli.console import console, print_json
from topoloom.cli.parameters import Json
from topoloom.engine.records import Record

KINDS: Mapping[str, Callable[[], Sequence[Record]]] = {
    "topologies": _core.families,
    "hosts": _core.hosts,
    "machines": _core.machines,
    "routings": _core.routings,
    "traffic": _core.traffic_patterns,
    "apps": _core.apps,
    "mappings": _core.mappings,
    "allocators": _core.allocators,
    "layouts": _core.layouts,
    "prices": _core.price_lists,
    "formats": _core.formats,
}

HEADS = {
    "topologies": ("example", "source"),
    "routings": ("networks", "classes"),
    "layouts": ("stands_for", "source"),
    "prices": ("source",),
}
"""The keys whose values are printed besides an item's summary."""

EVERY = "keys of links, which every family takes but faulty, whose links are those of the network within"

INDENT = 20
"""Columns of the names."""


def list_(
    what: Annotated[
        str,
        typer.Argument(
            metavar="topologies|hosts|machines|routings|traffic|apps|mappings|allocators|layouts|prices|formats",
            help="What to list.",
        ),
    ],
    json: Json = False,
) -> None:
    """List topologies, hosts, machines, routings, traffic patterns, applications, allocators and more."""
    if what not in KINDS:
        raise TopoloomError(unknown("list", what, list(KINDS)))
    items = KINDS[what]()
    if json:
        print_json(items)
    else:
        _print(what, items)


def _print(what: str, items: Sequence[Record]) -> None:
    """Print every item as a paragraph: its name and what it is, then its details, each on lines of their own."""
    output = console()
    for item in items:
        argument = item.get("argument")
        name = f"{item['name']}:{argument}" if argument else item["name"]
        name = f"{name:<{INDENT}}"
        output.print(Text.assemble((name, "bold"), _folded(item["summary"], output.width)))
        for label, value in _details(what, item):
            output.print(Text(" " * INDENT + _folded(f"{label}  {value}", output.width), style="dim"))
    if shared := {key["name"]: key["doc"] for item in items for key in item.get("keys", ()) if key.get("shared")}:
        output.print(Text(f"{'beside these':<{INDENT}}" + _folded(EVERY, output.width)))
        for name, doc in shared.items():
            output.print(Text(" " * INDENT + _folded(f"{name}=  {doc}", output.width), style="dim"))


def _folded(text: str, width: int) -> str:
    """Return `text` in lines that fit beside the names."""
    return ("\n" + " " * INDENT).join(textwrap.wrap(text, max(width - INDENT, INDENT)))


def _details(what: str, item: Record) -> list[tuple[str, str]]:
    """Return what is printed of an item besides its summary."""
    if what == "formats":
        uses = " and ".join(use for use in ("read", "write") if item[use])
        return [("endings", " ".join(f".{ending}" for ending in item["endings"])), ("use", uses)]
    if what == "hosts":
        return [("source", item["source"]), *(("assumed", sentence) for sentence in item["assumptions"])]
    if what == "machines":
        scales = [(f"{scale['key']}=", f"{scale['doc']} ({scale['whole']} in all)") for scale in item["scale"]]
        figures = len(item["figures"])
        sourced = sum(figure["source"] is not None for figure in item["figures"])
        return [
            *scales,
            ("scaled", item["scaled"]),
            ("routing", item["routing"]),
            ("figures", f"{sourced} with a source, {figures - sourced} assumed"),
            ("source", item["source"]),
            *(("assumed", sentence) for sentence in item["assumptions"]),
        ]
    heads = HEADS.get(what, ())
    return [(head.replace("_", " "), item[head]) for head in heads if item[head]] + [
        (f"{key['name']}=", key["doc"]) for key in item.get("keys", ()) if not key.get("shared")
    ]
