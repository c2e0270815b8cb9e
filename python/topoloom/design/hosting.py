"""Hosts of a design: how many interfaces their accelerators take, and the cluster that they make of a network."""

from dataclasses import dataclass
from functools import lru_cache

from topoloom import _core
from topoloom._core import TopoloomError

SELF_HOSTED = ("nesttree", "nestghc", "twin-torus")
"""Families whose routers are endpoints of their own."""

PROBE = "(hyperx:2,p=250,rate=400G)"
"""A fabric that has ports for two hosts of any kind."""


@dataclass(frozen=True)
class Hosting:
    """A kind of hosts.

    Attributes:
        name: Its name, or the path of its file.
        accelerators: Accelerators, or sockets, of a host.
        interfaces: Network interfaces of a host.

    >>> host = Hosting.read("abci-a")
    >>> host.accelerators, host.interfaces, host.ports((1000, 1100))
    (8, 4, (500, 548))
    >>> host.cluster("hyperx:5x5,p=20", 500, "200Gb/s")
    'cluster:hosts=125,host=abci-a,fabric=(hyperx:5x5,p=20,rate=200Gb/s),attach=block'
    """

    name: str
    accelerators: int
    interfaces: int

    @classmethod
    @lru_cache(maxsize=64)
    def read(cls, name: str) -> "Hosting":
        """Return a kind of hosts.

        Args:
            name: A built-in host, or the path of a file that ends in ``.toml``.

        Raises:
            TopoloomError: There is none, or it does not read.
        """
        try:
            pair = _core.Network(f"cluster:hosts=2,host={name},fabric={PROBE},attach=block")
        except TopoloomError as error:
            _, _, sentence = str(error).partition("attach=block: ")
            raise TopoloomError(sentence or str(error)) from None
        return cls(name, pair.num_terminals // 2, sum(kind == "nic" for *_, kind in pair.edges()) // 2)

    def ports(self, terminals: tuple[int, int]) -> tuple[int, int]:
        """Return the least and the largest number of ports for interfaces, for as many accelerators.

        Args:
            terminals: The least and the largest number of accelerators.
        """
        least = -(-terminals[0] // self.accelerators)
        return least * self.interfaces, max(least, terminals[1] // self.accelerators) * self.interfaces

    def cluster(self, spec: str, ports: int, rate: str) -> str:
        """Return the hosts on a network, the interfaces of a host at neighbouring ports.

        Args:
            spec: The network.
            ports: Its terminals, which are ports for interfaces.
            rate: The rate of its links, in bits or bytes per second.

        Raises:
            Nothing: what is wrong with the network is found when it is built.
        """
        fabric = f"({spec},rate={rate})"
        return f"cluster:hosts={ports // self.interfaces},host={self.name},fabric={fabric},attach=block"
