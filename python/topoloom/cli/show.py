"""``topoloom show``: the facts of networks, side by side."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from topoloom._core import TopoloomError
from topoloom.cli import status
from topoloom.cli.console import print_assumptions, print_json, print_sentence, print_table, say
from topoloom.cli.networks import load_networks, tell_layout_notes, tell_less_bandwidth, tell_missing_metis
from topoloom.cli.parameters import Fail, Force, Json, LayoutRules, Links, Plot, Prices, Specs, link_options
from topoloom.cli.watching import watched, watched_each
from topoloom.files import check_apart, check_writable, graph
from topoloom.network.facts import Values, bound, facts_of
from topoloom.network.networks import Network
from topoloom.plotting import draw_networks

LONG_SEARCH = 10**11
"""Links to visit beyond which a note announces the wait: minutes on a laptop."""


def show(
    specs: Specs,
    json: Json = False,
    edges: Annotated[
        Path | None, typer.Option("--edges", metavar="FILE.csv", help="Write the links between routers.")
    ] = None,
    links: Links = None,
    plot: Plot = None,
    fail: Fail = None,
    layout: LayoutRules = "",
    prices: Prices = "",
    sample: Annotated[
        int | None,
        typer.Option("--sample", metavar="N", help="Measure distances from N random routers only.", show_default=False),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="The seed of the sample.", min=0)] = 1,
    paths: Annotated[bool, typer.Option("--paths", help="Count shortest paths even if that takes long.")] = False,
    force: Force = False,
) -> int:
    """Show the facts of networks, side by side."""
    if edges is not None and len(specs) != 1:
        raise TopoloomError(f"--edges takes one network; {len(specs)} are given")
    check_apart({"--edges": edges, "--plot": plot})
    check_writable(edges, graph("csv"), force=force)
    networks = load_networks(specs, fail)
    if edges is not None:
        latencies = link_options(links).get("links")
        watched(lambda: networks[0].write(edges, "csv", latencies, force=force), f"{networks[0].spec}: links")
    if plot is not None:
        _draw(networks, plot, force=force)
    if sample is None:
        _warn_of_long_searches(networks)
    asked = {"sample": sample, "seed": seed, "paths": paths}
    facts, interrupted = watched_each(
        networks,
        lambda network: network.facts(layout, prices, **asked),  # type: ignore[arg-type]
        "facts",
    )
    tell_layout_notes(facts)
    tell_less_bandwidth(networks)
    tell_missing_metis(facts)
    if json:
        print_json(facts)
    else:
        print_facts(facts)
    for network in facts:
        if not network["connected"]:
            say(f"{network['spec']} is disconnected: {_components(network['component_sizes'])}")
    return status.INTERRUPTED if interrupted else status.DONE


def _warn_of_long_searches(networks: list[Network]) -> None:
    """Report before it begins that finding all distances will take minutes or more."""
    for network in networks:
        if network.core.distance_steps > LONG_SEARCH:
            say(f"{network.spec}: all distances take long to find; --sample 1000 measures from some routers only")


def _draw(networks: list[Network], path: Path, *, force: bool) -> None:
    watched(lambda: draw_networks([network.core for network in networks], path, force=force), "drawing")


def print_facts(facts: Sequence[Values]) -> None:
    """Print a table: facts are rows, networks are columns.

    Args:
        facts: The facts of the networks.

    >>> from topoloom.network.networks import Network
    >>> print_facts([Network("mesh:2x2").facts()])  # doctest: +ELLIPSIS
                                 mesh:2x2
    ...
    """
    rows = [
        [fact.label, fact.unit, *(bound(fact, network) + fact.text(network) for network in facts)]
        for fact in facts_of(facts)
    ]
    print_table(["", "", *(network["spec"] for network in facts)], rows, left=2)
    print_assumptions(facts)
    for network in facts:
        if "machine" in network:
            _print_machine(network["spec"], network["machine"])


def _print_machine(spec: str, machine: Values) -> None:
    """Print what was published of a machine beside what the network that is built for it has."""
    sources = list(dict.fromkeys(figure["source"] for figure in machine["figures"] if figure["source"]))
    rows = [
        [
            figure["meaning"],
            _number(figure["published"]),
            _number(figure["built"]),
            f"[{sources.index(figure['source']) + 1}]" if figure["source"] else "assumed",
        ]
        for figure in machine["figures"]
    ]
    print()
    print_table([machine["name"], "published", "scaled" if machine["is_scaled"] else "built", "source"], rows)
    for number, source in enumerate(sources, 1):
        print_sentence(f"[{number}] {source}.")
    print_sentence(f"{spec} stands for {machine['stands_for']}; it runs the routing {machine['routing']}.")
    if machine["is_scaled"]:
        print_sentence("What was published is of the whole machine.")
    if machine["endpoint"]:
        print_sentence(f"Sending and receiving costs --endpoint {machine['endpoint']}.")
    for sentence in machine["assumptions"]:
        print_sentence(f"Assumed: {sentence}.")


def _number(value: float | None) -> str:
    """Return a number with as many decimals as it has, up to two."""
    return "–" if value is None else f"{value:,.2f}".rstrip("0").rstrip(".")


def _components(sizes: list[int]) -> str:
    """Return the sizes of components as people read them, the largest first."""
    largest = 8
    told = ", ".join(f"{size:,}" for size in sizes[:largest])
    more = f", and {len(sizes) - largest:,} no larger" if len(sizes) > largest else ""
    return f"{len(sizes):,} components of {told} routers{more}"
