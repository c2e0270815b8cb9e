"""``topoloom bound``: the load that a network cannot carry more than, before anything is simulated."""

from typing import Annotated, Any

import typer

from topoloom.cli.console import print_json
from topoloom.cli.networks import load_network
from topoloom.cli.parameters import Fail, Json, Routing, Spec, Traffic
from topoloom.cli.watching import watched
from topoloom.wording import counted

RESTS_ON = {
    "expected-load": "the expected load of the busiest channel",
    "distance": "shortest distances: the routing is adaptive",
}


def bound(
    spec: Spec,
    routing: Routing = "minimal",
    traffic: Traffic = "uniform",
    optimal: Annotated[
        bool, typer.Option("--optimal", help="Also what the best possible routing carries; small networks only.")
    ] = False,
    fail: Fail = None,
    json: Json = False,
) -> None:
    """Compute the expected load of every channel, and the saturation load that no simulation can exceed."""
    network = load_network(spec, fail)
    told = watched(lambda: network.bound(routing, traffic, optimal=optimal), f"{network.spec}: bound")
    if json:
        print_json(told)
    else:
        _print(told)


def _print(told: dict[str, Any]) -> None:
    print(f"{told['spec']}  routing {told['routing']}  traffic {told['traffic']}")
    print(f"saturation load       ≤ {told['saturation_bound']:.4f} flits per active terminal per cycle")
    print(f"  by                  {RESTS_ON[told['saturation_bound_is']]}")
    if "max_channel_load" in told:
        print(f"largest channel load  {told['max_channel_load']:.4f} flits per cycle if each terminal offers one")
        print(f"largest of terminals' {told['max_terminal_load']:.4f}")
    if told.get("mean_channel_load") is not None:
        print(f"mean channel load     {told['mean_channel_load']:.4f} over {counted(told['channels'], 'channel')}")
    if told.get("busiest"):
        channel = told["busiest"]
        print(f"busiest channel       router {channel['from']} port {channel['port']} → router {channel['to']}")
    if "optimal_bound" in told:
        print(f"best routing possible {told['optimal_bound']:.4f} flits per active terminal per cycle")
