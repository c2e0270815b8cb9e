"""Networks of the command line: built where Ctrl-C is heard, and what was noticed on the way said on stderr."""

from collections.abc import Sequence

from topoloom.cli.console import say
from topoloom.networks import Network
from topoloom.workers import interruptible


def load_networks(specs: Sequence[str]) -> list[Network]:
    """Return the networks of `specs`."""
    networks = [interruptible(lambda spec=spec: Network(spec)) for spec in specs]  # type: ignore[misc]
    for network in networks:
        for note in network.notes:
            say(f"{network.spec}: {note}")
    return networks


def load_network(spec: str) -> Network:
    """Return the network of `spec`."""
    return load_networks([spec])[0]
