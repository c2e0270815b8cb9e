"""The machines of a folder: their nodes and networks, and how fast an engine finds them under a pattern."""

from collections.abc import Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError

from topoloom._core import TopoloomError
from topoloom.files import read_text
from topoloom.hardware.engines import ENGINES
from topoloom.network.networks import Network
from topoloom.studies.mistakes import parse_toml
from topoloom.workload.options import Engine


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Host(_Part):
    """A node as one of the libraries uses it.

    Attributes:
        file: A host of topoloom, or a file in the folder's ``hosts``.
        terminals: Its terminals: accelerators or processors.
        interfaces: For each network interface the terminal that is next to it.
    """

    file: str
    terminals: int
    interfaces: tuple[int, ...]


class NcclGraph(_Part):
    """What NCCL finds of a node, by which it chooses algorithm and protocol.

    Attributes:
        alone: GB/s of all channels within one node.
        joined: GB/s of all channels between nodes.
        rings: Rings between nodes, each by another interface; NCCL runs two channels on each.
        ll128: Whether LL128 is enabled between nodes: NCCL does so where no processor is between GPUs and interfaces.
        ampere: Whether the GPUs are of compute capability 8.0 rather than 7.0.
        amd: Whether the processors are AMD's.
    """

    alone: float
    joined: float
    rings: int
    ll128: bool
    ampere: bool
    amd: bool


class Apart(_Part):
    """Another place for the nodes of a job: each in another part of the machine.

    Attributes:
        fabric: The spec of as much of the fabric as that takes.
        stride: The distance of nodes that follow each other.
    """

    fabric: str
    stride: int


class Machine(_Part):
    """A machine.

    Attributes:
        name: Its name, that of the measurements.
        ranks: Ranks per node.
        fabric: The spec of the network that joins the nodes, without brackets.
        attach: How nodes are plugged into it.
        hosts: The node as libraries use it: ``gpu`` and ``cpu``.
        stride: The distance of nodes of a job that follow each other: 1 for neighbours.
        apart: Where nodes are if they are not neighbours, if that makes a difference.
        nccl: What NCCL finds, if it was measured.
        sources: Where all this is published.
        assumptions: What is not published.

    >>> host = {"file": "v100-4", "terminals": 4, "interfaces": (0, 2)}
    >>> far = {"fabric": "hyperx:4,p=4", "stride": 2}
    >>> own = Machine(name="own", ranks=4, fabric="hyperx:2,p=4", attach="block", hosts={"cpu": host}, apart=far)
    >>> own.spec("mpi-cpu", 2)
    'cluster:hosts=2,host=v100-4,fabric=(hyperx:2,p=4),attach=block'
    >>> own.taken_apart().spec("mpi-cpu", 2)
    'cluster:hosts=4,host=v100-4,fabric=(hyperx:4,p=4),attach=block'
    >>> own.job("mpi-cpu", 2).ranks
    8
    """

    name: str
    ranks: int
    fabric: str
    attach: str
    hosts: dict[str, Host]
    stride: int = 1
    apart: Apart | None = None
    nccl: NcclGraph | None = None
    sources: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()

    _folder: Path = Path()
    _engine: Engine = "flow"

    @property
    def engine(self) -> Engine:
        """What finds the rates of its network."""
        return self._engine

    def _host_of(self, library: str) -> Host:
        """Return the node as a library uses it.

        Raises:
            TopoloomError: The machine does not give it.
        """
        kind = "cpu" if library == "mpi-cpu" else "gpu"
        if kind not in self.hosts:
            raise TopoloomError(f"{self.name}: {library} needs a host; give hosts.{kind}")
        return self.hosts[kind]

    def spec(self, library: str, nodes: int) -> str:
        """Return the spec of a number of nodes.

        Args:
            library: ``nccl``, ``mpi`` (buffers on GPUs) or ``mpi-cpu``.
            nodes: The number of nodes.

        Raises:
            TopoloomError: The machine has no host for the library.
        """
        file = self._host_of(library).file
        own = self._folder / "hosts" / file
        host = str(own) if own.is_file() else file
        return f"cluster:hosts={nodes * self.stride},host={host},fabric=({self.fabric}),attach={self.attach}"

    def taken_apart(self) -> "Machine":
        """Return the machine with the nodes of a job in other parts of it; the same one if it has no such parts."""
        if self.apart is None:
            return self
        moved = self.model_copy(update={"fabric": self.apart.fabric, "stride": self.apart.stride})
        moved._folder, moved._engine = self._folder, self._engine
        return moved

    def job(self, library: str, nodes: int, ranks: int = 0) -> "Job":
        """Return neighbouring nodes and their network.

        Args:
            library: ``nccl``, ``mpi`` (buffers on GPUs) or ``mpi-cpu``.
            nodes: The number of nodes.
            ranks: The number of ranks on all of them; 0 for all that the machine has.

        Raises:
            TopoloomError: The machine has no host for the library.
        """
        return _job(self, library, nodes, ranks // nodes or self.ranks)

    def __hash__(self) -> int:
        return hash(self.name)


def read_machines(folder: Path, engine: Engine = "flow") -> dict[str, Machine]:
    r"""Return the machines of a folder by name, from its ``machines.toml``.

    Args:
        folder: The folder.
        engine: What finds the rates of their networks.

    Raises:
        TopoloomError: A mistake in the file.

    >>> import tempfile
    >>> text = '[[machine]]\nname = "own"\nranks = 4\nfabric = "hyperx:2,p=4"\nattach = "block"\nhosts = {}'
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     written = Path(folder, "machines.toml").write_text(text)
    ...     read_machines(Path(folder))["own"].fabric
    'hyperx:2,p=4'
    """
    file = folder / "machines.toml"
    values = parse_toml(str(file), read_text(file))
    try:
        machines = [Machine.model_validate(one) for one in values.get("machine", [])]
    except ValidationError as error:
        first = error.errors()[0]
        raise TopoloomError(f"{file}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from None
    if not machines:
        raise TopoloomError(f"{file}: there is no machine; write one below [[machine]]")
    for machine in machines:
        machine._folder, machine._engine = folder, engine
    return {machine.name: machine for machine in machines}


class Job:
    """Nodes of a machine that run one program, with ranks numbered node by node.

    Attributes:
        machine: The machine.
        library: The library.
        nodes: The number of nodes.
        per_node: Ranks per node.

    Raises:
        TopoloomError: The machine has no host for the library.

    >>> host = {"file": "v100-4", "terminals": 4, "interfaces": (0, 2)}
    >>> own = Machine(name="own", ranks=2, fabric="hyperx:2,p=4,rate=100G", attach="block", hosts={"cpu": host})
    >>> job = Job(own, "mpi-cpu", 2, 2)
    >>> job.terminals([0, 1, 2, 3]).tolist(), job.slowest([], [])
    ([0, 2, 4, 6], 0.0)
    >>> [round(cost, 9) for cost in (job.idle(), job.ring(), job.exchanged(2))]  # 100 Gb/s are 12,500 bytes per µs
    [8e-05, 8e-05, 8e-05]
    >>> [round(cost, 9) for cost in (job.interface_ring(), job.interface_trees())]  # by two interfaces
    [4e-05, 4e-05]
    """

    def __init__(self, machine: Machine, library: str, nodes: int, per_node: int) -> None:
        self.machine, self.library, self.nodes, self.per_node = machine, library, nodes, per_node
        self.host = machine._host_of(library)
        self._apart = self.host.terminals * machine.stride

    @property
    def ranks(self) -> int:
        """Ranks on all nodes."""
        return self.nodes * self.per_node

    @cached_property
    def network(self) -> Network:
        """The network of these nodes."""
        return Network(self.machine.spec(self.library, self.nodes))

    def terminals(self, ranks: Any) -> Any:
        """Return the terminals of ranks: those of a node are dealt to its terminals in blocks.

        Args:
            ranks: The ranks, an array of any shape; the result has the same shape.
        """
        node, slot = np.divmod(np.asarray(ranks), self.per_node)
        return node * self._apart + slot * self.host.terminals // self.per_node

    def _near_interfaces(self, node: int) -> list[int]:
        """Return the terminals of a node that are next to its interfaces, one for each."""
        return [node * self._apart + slot for slot in self.host.interfaces]

    def slowest(self, sources: Sequence[int], targets: Sequence[int]) -> float:
        """Return the microseconds per byte on the slowest of flows between terminals that are all under way.

        Args:
            sources: The sending terminals, one per flow.
            targets: The receiving terminals, one per flow.

        Raises:
            TopoloomError: A network that cannot be built.
        """
        return ENGINES[self.machine.engine](self.network, sources, targets) if len(sources) else 0.0

    @cache  # noqa: B019 - jobs are few, and live as long as the predictions
    def idle(self) -> float:
        """Return the microseconds per byte between two nodes that are alone."""
        two = self.machine.job(self.library, 2)
        return two.slowest([0], [two._apart])

    @cache  # noqa: B019
    def exchanged(self, mask: int) -> float:
        """Return the microseconds per byte where every rank sends to the one whose number differs in one bit.

        Args:
            mask: A number in which this bit alone is set.
        """
        ranks = np.arange(self.ranks)
        others = ranks ^ mask
        both = others < self.ranks
        return self.slowest(self.terminals(ranks[both]), self.terminals(others[both]))

    @cache  # noqa: B019
    def ring(self) -> float:
        """Return the microseconds per byte where the last rank of each node sends to the first of the next."""
        first = np.arange(self.nodes) * self.per_node
        last = first + self.per_node - 1
        return self.slowest(self.terminals(last), self.terminals(np.roll(first, -1)))

    @cache  # noqa: B019
    def interface_ring(self) -> float:
        """Return the microseconds per byte of a buffer that goes round all nodes, its parts by all interfaces."""
        near = [self._near_interfaces(node) for node in range(self.nodes)]
        sources = [at for own in near for at in own]
        targets = [at for own in near[1:] + near[:1] for at in own]
        return self.slowest(sources, targets) / len(near[0])

    @cache  # noqa: B019
    def interface_trees(self) -> float:
        """Return the microseconds per byte of a buffer, half of which goes up and down each of two binary trees."""
        pairs = [pair for child, parent in double_tree(self.nodes) for pair in ((child, parent), (parent, child))]
        near = [self._near_interfaces(node) for node in range(self.nodes)]
        sources = [at for a, _ in pairs for at in near[a]]
        targets = [at for _, b in pairs for at in near[b]]
        return self.slowest(sources, targets) / len(near[0]) / 2


@cache
def _job(machine: Machine, library: str, nodes: int, per_node: int) -> Job:
    return Job(machine, library, nodes, per_node)


def _tree(nodes: int) -> list[tuple[int, int]]:
    """Return child and parent of each node of a binary tree in which every other node is a leaf.

    >>> _tree(4)
    [(1, 2), (2, 0), (3, 2)]
    """
    top = 1
    while top < nodes:
        top *= 2
    edges = []
    for node in range(1, nodes):
        bit = node & -node
        parent = (node ^ bit) | (bit << 1)
        if parent >= nodes:
            parent = node ^ bit
        edges.append((node, parent))
    return edges


def double_tree(nodes: int) -> list[tuple[int, int]]:
    """Return child and parent of two binary trees: the leaves of one are the inner nodes of the other.

    As in Sanders, Speck and Träff, Two-tree algorithms for full bandwidth broadcast, reduction and scan (2009): the
    second is the first mirrored, or shifted by one where the number of nodes is odd.

    Args:
        nodes: The number of nodes.

    >>> double_tree(4)
    [(1, 2), (2, 0), (3, 2), (2, 1), (1, 3), (0, 1)]
    """
    first = _tree(nodes)
    if nodes % 2:
        second = [((child + 1) % nodes, (parent + 1) % nodes) for child, parent in first]
    else:
        second = [(nodes - 1 - child, nodes - 1 - parent) for child, parent in first]
    return first + second
