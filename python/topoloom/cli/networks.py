"""Networks of the command line: built where Ctrl-C is handled, with notes on stderr."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from topoloom._core import TopoloomError
from topoloom.cli.console import say
from topoloom.cli.watching import watched
from topoloom.network.networks import Network


def load_networks(specs: Sequence[str], fail: str | None = None) -> list[Network]:
    """Return the networks of `specs`, or what the failures `fail` leave of them."""
    networks = [watched(partial(Network, spec), f"{spec}: building") for spec in specs]
    for network in networks:
        for note in network.notes:
            say(f"{network.spec}: {note}")
    if fail is None:
        return networks
    return [watched(partial(network.with_failures, fail), f"{network.spec}: failures") for network in networks]


def load_network(spec: str, fail: str | None = None) -> Network:
    """Return the network of `spec`, or what the failures `fail` leave of it."""
    return load_networks([spec], fail)[0]


def load_only_network(specs: Sequence[str], what: str) -> Network:
    """Return the one network of `specs`.

    Raises:
        TopoloomError: There are several, but `what` takes one.
    """
    if len(specs) != 1:
        raise TopoloomError(f"{what} on one network; {len(specs)} are named")
    return load_network(specs[0])


def tell_less_bandwidth(networks: Iterable[Network]) -> None:
    """Say on stderr which permuted networks carry less than their base."""
    for network in networks:
        for note in watched(partial(getattr, network, "less_bandwidth"), f"{network.spec}: bandwidth"):
            say(f"{network.spec}: {note}")


def tell_layout_notes(told: Iterable[Mapping[str, Any]]) -> None:
    """Say on stderr which cabinets of networks are not full."""
    for network in told:
        for note in network["layout_notes"]:
            say(f"{network['spec']}: {note}")
