"""``topoloom synthesise``: a search for the best symmetric network of a number of routers and links."""

from typing import Annotated, Literal

import typer

from topoloom.cli.console import print_json, print_table, say
from topoloom.cli.parameters import Json
from topoloom.cli.watching import watched
from topoloom.design.synthesis import SECONDS
from topoloom.design.synthesis import synthesise as search
from topoloom.engine.results import Synthesis


def synthesise(
    routers: Annotated[int, typer.Option("--routers", metavar="N", min=1, help="The number of routers.")],
    degree: Annotated[int, typer.Option("--degree", metavar="D", min=1, help="The links of a router.")],
    minimise: Annotated[
        Literal["load", "distance"],
        typer.Option(
            "--minimise", help="The largest load of a channel under uniform traffic, or the average distance."
        ),
    ] = "load",
    group: Annotated[
        str | None,
        typer.Option("--group", metavar="SIZES[,turn=…]", help="The group, as in cayley:…; any unless given."),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", metavar="N", min=0, help="The seed of the search.")] = 1,
    seconds: Annotated[float, typer.Option("--seconds", metavar="S", help="The longest time of the search.")] = SECONDS,
    graphs: Annotated[
        int | None,
        typer.Option("--graphs", metavar="N", min=1, help="End after N graphs: the same result on every machine."),
    ] = None,
    json: Json = False,
) -> None:
    """Search the Cayley graphs of a degree for the least loaded channels or the shortest paths."""
    found = watched(
        lambda: search(routers, degree, minimise=minimise, group=group, seed=seed, seconds=seconds, graphs=graphs),
        f"{routers:,} routers of degree {degree}: search",
    )
    if json:
        print_json(found)
    else:
        _print(found)


def _print(found: Synthesis) -> None:
    networks = [network for network in (found.best, found.torus) if network is not None]
    rows = [
        [
            network.spec,
            f"{network.average_distance:.4f}",
            f"{network.diameter}",
            f"{network.max_channel_load:.4f}",
            f"{network.uniform_bound:.4f}",
        ]
        for network in networks
    ]
    print_table(["network", "average distance", "diameter", "largest load", "uniform bound"], rows)
    print(f"Any graph:  average distance at least {found.least_average_distance:.4f} (Moore)")
    print(
        f"Any torus:  average distance at least {found.least_torus_distance:.4f}, "
        f"uniform bound at most {found.most_torus_bound:.4f}, whatever its sides and twists"
    )
    if found.torus is not None:
        carries = found.best.uniform_bound / found.torus.uniform_bound
        relieved = found.torus.max_channel_load / found.best.max_channel_load
        print(
            f"Over the best torus found: uniform bound {carries:.3f} times, channels {relieved:.3f} times less loaded"
        )
    say(f"{found.graphs:,} graphs and {found.tori:,} tori compared, seed {found.seed}")
