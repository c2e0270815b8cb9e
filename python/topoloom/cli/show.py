"""``topoloom show``: the facts of networks, side by side."""

import csv
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from topoloom._core import TopoloomError
from topoloom.cli.console import print_json, print_table
from topoloom.cli.parameters import Json, LayoutRules, Links, Prices, Specs, link_options
from topoloom.facts import FACTS, bound
from topoloom.networks import Network
from topoloom.options import make_options
from topoloom.workers import interruptible

EDGE_COLUMNS = ("router_a", "port_a", "router_b", "port_b", "class", "latency")


def show(
    specs: Specs,
    json: Json = False,
    edges: Annotated[
        Path | None, typer.Option("--edges", metavar="FILE.csv", help="Write the links between routers.")
    ] = None,
    links: Links = None,
    layout: LayoutRules = "",
    prices: Prices = "",
) -> None:
    """Show the facts of networks, side by side."""
    if edges is not None and len(specs) != 1:
        raise TopoloomError(f"--edges takes one network; {len(specs)} are given")
    networks = [interruptible(lambda spec=spec: Network(spec)) for spec in specs]  # type: ignore[misc]
    if edges is not None:
        _write_edges(networks[0], edges, link_options(links))
    facts = [interruptible(partial(network.facts, layout, prices)) for network in networks]
    if json:
        print_json(facts)
    else:
        print_facts(facts)


def print_facts(facts: list[dict[str, Any]]) -> None:
    """Print a table: facts are rows, networks are columns."""
    rows = [
        [fact.label, fact.unit, *(bound(fact, network) + fact.text(network) for network in facts)] for fact in FACTS
    ]
    print_table(["", "", *(network["spec"] for network in facts)], rows, left=2)


def _write_edges(network: Network, path: Path, links: dict[str, Any]) -> None:
    latencies = make_options(links).links.model_dump(by_alias=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(EDGE_COLUMNS)
        writer.writerows((*edge, latencies[edge[-1]]) for edge in network.edges())
