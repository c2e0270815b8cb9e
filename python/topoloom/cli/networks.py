"""Networks of the command line: built where Ctrl-C is handled, with notes on stderr."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from topoloom._core import TopoloomError
from topoloom.cli.console import say
from topoloom.cli.watching import watched
from topoloom.network.bisection import without_metis
from topoloom.network.networks import Network


def load_networks(specs: Sequence[str], fail: str | None = None) -> list[Network]:
    """Return networks, or the surviving parts of them after failures.

    Args:
        specs: The specs of the networks.
        fail: The failures, such as ``links=5%``; None for none.

    Raises:
        TopoloomError: A mistake in a spec or in the failures.

    >>> [network.num_routers for network in load_networks(["mesh:2x2", "ring:4,degree=2"])]
    [4, 4]
    """
    networks = [watched(partial(Network, spec), f"{spec}: building") for spec in specs]
    for network in networks:
        for note in network.notes:
            say(f"{network.spec}: {note}")
    if fail is None:
        return networks
    return [watched(partial(network.with_failures, fail), f"{network.spec}: failures") for network in networks]


def load_network(spec: str, fail: str | None = None) -> Network:
    """Return a network, or the surviving part of it after failures.

    Args:
        spec: The spec of the network.
        fail: The failures, such as ``links=5%``; None for none.

    Raises:
        TopoloomError: A mistake in the spec or in the failures.

    >>> len(load_network("mesh:2x2").edges()), len(load_network("mesh:2x2", "links=1").edges())
    (4, 3)
    """
    return load_networks([spec], fail)[0]


def load_only_network(specs: Sequence[str], what: str) -> Network:
    """Return the one network of `specs`.

    Args:
        specs: The specs.
        what: What takes one network, for the message.

    Raises:
        TopoloomError: There are several, or a mistake in the spec.

    >>> load_only_network(["mesh:2x2"], "--job runs jobs").spec
    'mesh:2x2'
    """
    if len(specs) != 1:
        raise TopoloomError(f"{what} on one network; {len(specs)} are named")
    return load_network(specs[0])


def tell_less_bandwidth(networks: Iterable[Network]) -> None:
    """Report on stderr which permuted networks carry less than their base.

    Args:
        networks: The networks.

    >>> tell_less_bandwidth([Network("mesh:2x2")])
    """
    for network in networks:
        for note in watched(partial(getattr, network, "less_bandwidth"), f"{network.spec}: bandwidth"):
            say(f"{network.spec}: {note}")


def tell_missing_metis(facts: Iterable[Mapping[str, Any]]) -> None:
    """Report once on stderr if METIS might have found smaller bisections, had it been installed.

    Args:
        facts: The facts of the networks.

    >>> tell_missing_metis([Network("mesh:2x2").facts()])
    """
    found = [(network["spec"], note) for network in facts for note in without_metis(network)]
    if found:
        (first, note), others = found[0], len(found) - 1
        say(f"{first}{f' and {others} more' if others else ''}: {note}")


def tell_layout_notes(told: Iterable[Mapping[str, Any]]) -> None:
    """Report on stderr which cabinets of networks are not full.

    Args:
        told: The facts or the costs of the networks.

    >>> tell_layout_notes([Network("mesh:2x2").facts()])
    """
    for network in told:
        for note in network["layout_notes"]:
            say(f"{network['spec']}: {note}")
