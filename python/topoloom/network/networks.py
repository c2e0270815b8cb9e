"""Networks: the graph, its facts, and what can be asked of it."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import cache, cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

from topoloom import _core, files
from topoloom._core import TopoloomError
from topoloom.engine.results import Bisection, CardSizes, PathDiversity, RouteLengths
from topoloom.files import source
from topoloom.layout.layouts import Layout
from topoloom.network.bisection import candidates, without_metis
from topoloom.network.facts import bound as bound_sign
from topoloom.network.facts import facts_of
from topoloom.network.faults import make_fault_options, try_faults
from topoloom.network.graphs import GivenGraph, from_edges, from_networkx, to_networkx
from topoloom.network.permutation import bandwidth_side_by_side
from topoloom.network.results import Bound, Facts, Proof, Resilience
from topoloom.network.throughput import DETOURS, has_detours, optimal_throughput
from topoloom.plotting import draw_networks
from topoloom.simulation.curves import Curve
from topoloom.simulation.loads import Loads, offered_loads, parse_loads
from topoloom.simulation.option_types import MOST_U32, MOST_U64
from topoloom.simulation.options import check_whole, make_options
from topoloom.simulation.plans import fixed_plan, search_plan
from topoloom.simulation.points import BOUNDED_ROUTERS
from topoloom.simulation.roles import routing_on
from topoloom.simulation.runs import run_plans
from topoloom.simulation.simulator import Simulator
from topoloom.simulation.trials import Trials

if TYPE_CHECKING:
    import networkx as nx
    import numpy as np
    import numpy.typing as npt

PERMUTED = "permuted"
"""The family of networks whose cables have exchanged ends."""


class Network:
    """An interconnection network: routers, terminals and links. It never changes.

    Args:
        spec: ``family:sizes,key=value,…`` in one word, such as ``hyperx:10x10,p=10``.

    Raises:
        TopoloomError: A spec that does not parse, or a network that does not fit into memory.

    >>> Network("mesh:4x4").num_routers
    16
    """

    _graph: GivenGraph | None = None

    def __init__(self, spec: str) -> None:
        self.core = _core.Network(spec)

    @classmethod
    def from_networkx(cls, graph: "nx.Graph", p: int | None = None, label: str | None = None) -> Self:
        """Return the network that a graph of networkx describes.

        Routers are the nodes: those called 0, 1, … have these ids, other whole numbers count in ascending order, and
        other names in the order of the graph. A node may have ``terminals``, their number, or be a terminal itself if
        its ``kind`` or ``type`` is ``terminal`` or ``host``; an edge may have ``link_class``, ``latency`` (cycles),
        ``port_a`` and ``port_b``, ``rate_gbps`` (in each direction), ``latency_ns`` and ``length_m``; a node those of
        its terminals' links, as ``terminal_rate_gbps`` and so on. In a directed graph an edge and its reverse are one
        link.

        Args:
            graph: The graph; the edges of a multigraph are parallel links.
            p: The number of terminals per router; unless given, that of the graph, else 1.
            label: The name of the graph in the network's spec; unless given, its own name.

        Raises:
            TopoloomError: A graph without nodes, with a self-loop, or with an attribute that has no meaning.

        >>> import networkx as nx
        >>> Network.from_networkx(nx.petersen_graph(), p=2).facts()["diameter"]
        2
        """
        return cls._given(from_networkx(graph, p, label))

    @classmethod
    def from_edges(cls, edges: Iterable[tuple[Hashable, Hashable]], p: int = 1, label: str = "given") -> Self:
        """Return the network with the given links between routers.

        Args:
            edges: Pairs of routers; a pair given twice has two links.
            p: The number of terminals per router.
            label: The name of the network in its spec.

        Raises:
            TopoloomError: A link from a router to itself, or no link at all.

        >>> Network.from_edges([(0, 1), (1, 2), (2, 0)]).facts()["links"]
        3
        """
        return cls._given(from_edges(edges, p, label))

    @classmethod
    def _given(cls, graph: GivenGraph, fail: str | None = None) -> Self:
        network = cls.__new__(cls)
        network.core = graph.build()
        network._graph = graph
        return network if fail is None else network.with_failures(fail)

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel to other processes as a spec, or as the graph that was given."""
        return (
            (type(self), (self.spec,))
            if self._graph is None
            else (type(self)._given, (self._graph, self.core.failures))
        )

    def __repr__(self) -> str:
        return f"Network({self.spec!r})"

    def _repr_html_(self) -> str:
        facts = self.facts()
        rows = "".join(
            f"<tr><th style='text-align:left'>{fact.label}</th>"
            f"<td>{bound_sign(fact, facts)}{fact.text(facts)} {fact.unit}</td></tr>"
            for fact in facts_of([facts])
        )
        return f"<b>{escape(self.spec)}</b><table>{rows}</table>"

    @property
    def spec(self) -> str:
        """The spec that built it; failures follow it as ``--fail``."""
        return self.core.spec

    @property
    def family(self) -> str:
        """The name of its family; ``faulty`` once links or routers have failed."""
        return self.core.family

    @property
    def num_routers(self) -> int:
        """The number of routers, failed ones included."""
        return self.core.num_routers

    @property
    def num_terminals(self) -> int:
        """The number of terminals, those of failed routers included."""
        return self.core.num_terminals

    @property
    def notes(self) -> list[str]:
        """What was noticed when the network was read from a file or a graph, a sentence each."""
        return self.core.notes()

    @cached_property
    def _bisection(self) -> Bisection:
        return self.core.best_bisection(list(candidates(self.core)))

    @cached_property
    def less_bandwidth(self) -> list[str]:
        """What a permuted network carries less than its base, a sentence or none; large networks are not compared.

        >>> Network("permuted:two-cab(clos:radix=4,levels=3),cabinet=8").less_bandwidth[0][:45]
        'less bandwidth than clos:radix=4,levels=3: th'
        """
        if self.family != PERMUTED or self.num_routers > BOUNDED_ROUTERS:
            return []
        permutation = self.core.facts().permutation
        assert permutation is not None, "only this family is permuted"
        base = permutation.base
        losses = bandwidth_side_by_side(_core.Network(base), self.core).losses
        return [f"less bandwidth than {base}: {', '.join(losses)}"] if losses else []

    @cache  # noqa: B019 - a network is kept as long as it is used
    def _facts(self, sample: tuple[int, int] | None, insists: bool) -> Facts:
        facts = self.core.facts(sample)
        notes = {"notes": facts.notes + self.less_bandwidth + without_metis(self._bisection)}
        diversity = self.core.path_diversity(insists) or dict.fromkeys(PathDiversity.fields)
        return Facts(facts | notes | diversity | self._bisection)

    def facts(
        self, layout: str = "", prices: str = "", *, sample: int | None = None, seed: int = 1, paths: bool = False
    ) -> Facts:
        """Return the facts of the graph, with cost and power, by the keys of ``topoloom show --json``.

        They are a frozen dictionary, and have attributes of the same names.

        Distances are in router-to-router links, ``cost_usd`` in dollars, ``power_w`` in watts.
        ``bisection_is`` states whether ``bisection_links`` is ``exact`` or an ``upper-bound``.

        Args:
            layout: As for :meth:`layout`.
            prices: As for :meth:`layout`.
            sample: The number of random routers from which distances are measured; ``distance_sample`` then states it,
                ``diameter`` is None, and ``distance_histogram`` counts the pairs that were measured.
            seed: The seed of the sample.
            paths: Count shortest paths even if that takes long; otherwise their keys are None where it would.

        Raises:
            TopoloomError: A mistake in an argument.

        >>> facts = Network("mesh:4x4").facts()
        >>> facts["shortest_paths_max"], facts.diameter
        (20, 6)
        """
        if sample is not None:
            check_whole("sample", sample, 1, MOST_U32)
        check_whole("seed", seed, 0, MOST_U64)
        facts = self._facts(None if sample is None else (sample, seed), paths)
        return Facts(facts | self.layout(layout, prices).cost()) if layout or prices else facts

    def bound(self, routing: str = "minimal", traffic: str = "uniform", *, optimal: bool = False) -> Bound:
        """Return the load that `routing` cannot carry more than under `traffic`, and the loads that it rests on.

        The keys are those of ``topoloom bound --json``: ``saturation_bound`` in flits per active terminal per cycle.

        Args:
            routing: A routing, or a role.
            traffic: A traffic pattern.
            optimal: Add ``optimal_bound``, what the best possible routing could carry; see
                :func:`topoloom.network.throughput.optimal_throughput`.

        Raises:
            TopoloomError: A mistake in an argument, or a network that is too large.

        >>> Network("mesh:8x8").bound()["saturation_bound"]
        0.5
        """
        built, pattern = self._built(routing), _core.Traffic(self.core, traffic)
        about = {"spec": self.spec, "routing": built.name, "traffic": traffic}
        best = optimal_throughput(self.core, traffic) if optimal else {}
        return Bound(about | built.bound(pattern) | best)

    def split_bound(self, traffic: str = "uniform") -> dict[str, float]:
        """Return the throughput of minimal and Valiant's paths together under `traffic`, mixed in the best proportion.

        The same share of every flow takes minimal paths, the rest Valiant's. An adaptive routing chooses between the
        same paths, yet flow by flow, so that it may carry a little more than this. On trees, where detours carry no
        more, and where Valiant's routing is not offered, it is the throughput of minimal paths.

        Args:
            traffic: The traffic pattern.

        Returns:
            ``split_bound``: flits per active terminal per cycle; ``minimal_share``: the part of every flow on minimal
            paths; ``distance_bound``: what no routing carries more than, as no path is shorter than a shortest one and
            a channel carries a flit per cycle.

        Raises:
            TopoloomError: A mistake in an argument, or a network that is too large.

        >>> found = Network("hyperx:4x4,p=4").split_bound("worst-case")
        >>> found["split_bound"] > Network("hyperx:4x4,p=4").bound("min", "worst-case")["saturation_bound"]
        True
        """
        other = DETOURS if has_detours(self.core) else None
        return _core.split_bound(self.core, self.routing("minimal"), other, _core.Traffic(self.core, traffic))

    def channel_loads(self, routing: str = "minimal", traffic: str = "uniform") -> list[tuple[int, int, float]]:
        """Return (router, port, expected load) of each channel between routers, if each active terminal offers 1.

        Args:
            routing: A routing or a role.
            traffic: The traffic pattern.

        Returns:
            One tuple for each channel; loads are in flits per cycle, or fractions of the rate of the channel.

        Raises:
            TopoloomError: A mistake in an argument, or a routing whose decisions depend on congestion.

        >>> max(load for router, port, load in Network("mesh:8x8").channel_loads())
        2.0
        """
        return self._built(routing).channel_loads(_core.Traffic(self.core, traffic))

    def layout(self, layout: str = "", prices: str = "") -> Layout:
        """Return the network laid out on the machine floor, with its cables and what they cost.

        Args:
            layout: A layout's name and keys, such as ``rack:units=48`` or ``family``, or keys alone, such as
                ``cabinet=16,width=0.6``; nothing for ``rack``, the same racks for every family.
            prices: A price list's name, or the path of one (``*.json``); nothing for the default list.

        Raises:
            TopoloomError: A mistake in an argument.

        >>> Network("hyperx:10x10,p=10").layout("family").cost()["longest_cable_m"]
        11.0
        """
        return Layout(self, layout, prices)

    def draw(self, path: str | Path, *, force: bool = False) -> None:
        """Draw the network in a way that fits its structure: grid, groups, layers, levels, blocks.

        Args:
            path: The file, which ends in ``.svg``, ``.png`` or ``.pdf``.
            force: Overwrite a file of another kind.

        Raises:
            TopoloomError: An ending of no kind of picture, too many links, or a place that cannot be written to.

        >>> import tempfile
        >>> from pathlib import Path
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     Network("mesh:2x2").draw(f"{folder}/mesh.svg")
        ...     Path(f"{folder}/mesh.svg").exists()
        True
        """
        draw_networks([self.core], path, force=force)

    def route_lengths(self, routing: str = "minimal", *, seed: int = 1) -> RouteLengths:
        """Return the lengths of paths of `routing`, in links between routers, over ordered pairs of distinct terminals.

        The keys are ``average_hops``, ``longest`` and ``histogram``, the pairs by length from 0 on. Of a routing that
        draws its paths, one is drawn for each pair.

        Args:
            routing: A routing, or a role.
            seed: The seed of paths that are drawn.

        Raises:
            TopoloomError: A routing that is not offered, a network that is too large, or a seed out of its range.

        >>> Network("nesttree:t=2,u=8,endpoints=64").route_lengths()["longest"]
        12
        """
        check_whole("seed", seed, 0, MOST_U64)
        return self._built(routing).route_lengths(int(seed))

    def routing(self, name: str) -> str:
        """Return the name of the routing that a role selects on this network.

        Args:
            name: A role, such as ``minimal``; any other name is returned unchecked.

        >>> Network("torus:4x4").routing("minimal")
        'dor'
        """
        return routing_on(self.core, name)

    def _built(self, name: str) -> _core.Routing:
        """Return the routing that `name`, a role or a routing, stands for here, built."""
        return _core.Routing(self.core, self.routing(name))

    def with_failures(self, fail: str) -> Self:
        """Return the network that is left when random links and routers fail.

        Ids of routers and terminals stay; terminals of failed routers neither send nor receive.

        Args:
            fail: How many fail, and the seed: ``links=5%,routers=2,seed=1``.

        Raises:
            TopoloomError: More than there is, or a network that has failures already.

        >>> Network("mesh:4x4").with_failures("links=2")
        Network('mesh:4x4 --fail links=2,seed=1')
        """
        left = type(self).__new__(type(self))
        left.core = self.core.with_failures(fail)
        left._graph = self._graph
        return left

    def simulate(
        self, routing: str = "minimal", traffic: str = "uniform", load: Loads | None = None, **options: Any
    ) -> Curve:
        """Simulate one load or several, flit by flit, in parallel.

        Args:
            routing: A routing, or the role ``minimal`` or ``adaptive``.
            traffic: A traffic pattern.
            load: Offered load in flits per active terminal per cycle: a number, several, or a text such as
                ``0.1:0.9:0.1``, which is what None stands for. A trace has its own.
            **options: What :class:`topoloom.simulation.options.EngineOptions` names, such as ``vcs=4`` or ``seed=2``.

        Returns:
            The curve, one point a load. Interrupted by Ctrl-C, it is not ``finished`` and holds the points that
            were done.

        Raises:
            TopoloomError: A mistake in an argument.

        >>> curve = Network("mesh:4x4").simulate(load=0.1, warmup=500, measure=2000)
        >>> curve.points[0.1].hops > 2
        True
        """
        loads = offered_loads(self.core, traffic, load)
        simulator = Simulator(self.core, routing, traffic, make_options(options), most_load=max(loads), searching=False)
        run_plans([(simulator, fixed_plan(loads))])
        return simulator.curve

    def saturation(self, routing: str = "minimal", traffic: str = "uniform", **options: Any) -> Curve:
        """Search for the saturation load: the returned curve's ``saturation_load``.

        That is the largest offered load, to 0.01, of which at least 98 % is accepted with a mean latency of at
        most 3 times that of an empty network. Arguments and errors are those of :meth:`simulate`.

        >>> curve = Network("mesh:2x2").saturation(vcs=2, buffer=4)
        >>> 0 < curve.saturation_load <= 1
        True
        """
        simulator = Simulator(self.core, routing, traffic, make_options(options), precise=())
        run_plans([(simulator, search_plan(simulator.curve))])
        return simulator.curve

    def try_routings(self, traffic: str = "uniform", load: Loads | None = None, **options: Any) -> Trials:
        """Simulate every routing that is offered here, at the same loads with the same seed.

        Args:
            traffic: A traffic pattern.
            load: Offered loads, as for :meth:`simulate`; None to search each one's saturation load.
            **options: As for :meth:`simulate`. Unless ``vcs`` is given, each routing has those that it has by default.

        Returns:
            The trials: ``rows()`` is a table, the best routing first; ``curves`` are the curves in the same order.

        Raises:
            TopoloomError: A mistake in an argument.

        >>> found = Network("dragonfly:a=4,h=1,p=2").try_routings("next-group", 1, warmup=500, measure=300)
        >>> accepted = {row["routing"]: row["accepted_at_full"] for row in found.rows()}
        >>> accepted["min"] < 0.2 < accepted["val"] <= found.rows()[0]["accepted_at_full"]
        True
        """
        loads = None if load is None else parse_loads(load)
        trials = Trials(self.core, traffic, make_options(options), loads)
        trials.run()
        return trials

    def verify(self, routing: str = "minimal", vcs: int | None = None) -> Proof:
        """Prove that `routing` cannot deadlock here, or find a cycle of channels.

        With fewer `vcs` than it needs, VC classes share them, as in a simulation with ``unsafe=True``.

        Args:
            routing: A routing or a role.
            vcs: The number of VCs per channel; unless given, as many as the routing needs.

        Returns:
            The proof, by the keys of ``topoloom verify --json``.

        Raises:
            TopoloomError: A routing that is not offered here, or `vcs` that routers cannot have.

        >>> Network("torus:4x4").verify()["deadlock_free"]
        True
        """
        checked = make_options({"vcs": vcs}).vcs
        return Proof(self._built(routing).verify(checked) | source(self.core))

    def card_tables(self, routing: str = "minimal") -> tuple[str, CardSizes]:
        """Return a routing as the tables of cards, one for each input, as ``table:FILE`` reads them; and their sizes.

        The keys of the sizes are ``destinations``, the entries of a table without a hierarchy; ``block``, the
        destinations behind an entry of its first level; ``tables``, their number; ``most_entries``, those of the
        largest table; ``entries``, those of all.

        Args:
            routing: A routing or a role.

        Raises:
            TopoloomError: A routing whose hops depend on more than input, traffic class and destination.

        >>> text, sizes = Network("twin-torus:4x4x2x2x2").card_tables("ts-dor")
        >>> sizes["destinations"], sizes["block"], sizes["most_entries"]
        (256, 16, 80)
        """
        return self._built(routing).card_tables()

    def faults(self, **options: Any) -> Resilience:
        """Try random failures of links or routers, many orders of failure in parallel.

        Args:
            **options: What :class:`topoloom.network.faults.FaultOptions` names, such as ``kind="routers"``.

        Returns:
            What is left at each failed fraction, the largest fraction that more than half of the trials survive, and
            the exact fractions at which they fall apart, by the keys of ``topoloom faults --json``.

        Raises:
            TopoloomError: A mistake in an argument.

        >>> Network("hyperx:4x4").faults(trials=20)["survivable"]["fraction"] > 0.3
        True
        """
        return try_faults(self.core, make_fault_options(options))

    def routing_from_tables(
        self,
        next_port: "npt.ArrayLike",
        layers: "npt.ArrayLike | None" = None,
        destinations: Literal["terminals", "routers"] = "terminals",
    ) -> str:
        """Return the name of a routing by tables: give it as `routing` to this network, with failures or without.

        Args:
            next_port: The output (local port) at each router, a row, towards each destination, a column; -1 where
                there is none. Shape (routers, terminals), or (routers, routers) by `destinations`.
            layers: The VC class of packets from each router to each destination, in the same shape; unless given, all
                packets are in class 0.
            destinations: What the columns stand for.

        Raises:
            TopoloomError: A wrong shape, a hole, a port or layer that does not exist, paths with a cycle.

        >>> ring = Network("torus:3")
        >>> name = ring.routing_from_tables([[-1, 1, 2], [2, -1, 1], [1, 2, -1]], destinations="routers")
        >>> ring.verify(name)["deadlock_free"]
        True
        """
        if destinations not in ("terminals", "routers"):
            raise TopoloomError(_core.unknown("kind of destinations", str(destinations), ["terminals", "routers"]))
        ports, by_pair = _whole("next_port", next_port), None if layers is None else _whole("layers", layers)
        return self.core.routing_by_tables(ports, by_pair, destinations == "terminals").name

    def edges(self) -> list[tuple[int, int, int, int, str]]:
        """Return the links between routers: router and port at either end, and the class; parallel links each.

        >>> Network("mesh:2").edges()
        [(0, 1, 1, 1, 'local')]
        """
        return self.core.edges()

    def to_networkx(self) -> "nx.MultiGraph":
        """Return the graph of the routers, with all that :meth:`from_networkx` reads.

        Nodes are router ids, with their number of ``terminals`` and, where the network's source names them, their
        ``name``; an edge has ``port_a`` and ``port_b``, the ports at its first and second router, ``link_class``, and
        ``latency`` if it has one of its own.

        >>> Network("mesh:4x4").to_networkx().number_of_edges()
        24
        """
        return to_networkx(self.core)

    def write(
        self,
        path: str | Path,
        format: str | None = None,  # noqa: A002 - as users type
        links: Mapping[str, int | str] | None = None,
        nodes: Sequence[str] | None = None,
        *,
        force: bool = False,
    ) -> list[str]:
        """Write the network to a file that ``file:path`` or another program reads.

        A format that is a configuration has the graph in a second file, which is written beside it.

        Args:
            path: The file.
            format: A format that ``topoloom list formats`` names; unless given, the one of the path's ending.
            links: Latencies in cycles by class, written for links without their own.
            nodes: The names of terminals by id, for the formats of Slurm.
            force: Overwrite a file of another kind.

        Returns:
            A sentence for each kind of data that the format cannot hold.

        Raises:
            TopoloomError: An unknown format, or an ending of none; a file of another kind exists,
                and `force` is not given; a study, or a store's file; a place that cannot be written to.

        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     lost = Network("mesh:2x2").write(f"{folder}/mesh.graphml")
        ...     network(f"file:{folder}/mesh.graphml").num_routers
        4
        """
        path, name = Path(path), _core.format_of(str(path), format)
        beside = _beside(name)
        graph = path.with_suffix(f".{beside['ending']}") if beside else None
        text, lost = self.text(name, links, nodes, graph.name if graph else None)
        if beside and graph:
            files.write_file(graph, self.text(beside["name"], links)[0], files.graph(beside["name"]), force=force)
        files.write_file(path, text, files.graph(name), force=force)
        return lost

    def text(
        self,
        format: str,  # noqa: A002 - as users type
        links: Mapping[str, int | str] | None = None,
        nodes: Sequence[str] | None = None,
        beside: str | None = None,
    ) -> tuple[str, list[str]]:
        """Return the text of the file that :meth:`write` writes, and the sentences that it returns.

        Args:
            format: A format that ``topoloom list formats`` names.
            links: Latencies in cycles by class, written for links without their own.
            nodes: The names of terminals by id, for the formats of Slurm.
            beside: The name of the second file, for formats that have one.

        Raises:
            TopoloomError: An unknown format.

        >>> text, lost = Network("mesh:2x2").text("graphml")
        >>> text.count("<edge")
        4
        """
        latencies = None
        if links is not None:
            latencies = make_options({"links": links}).links.model_dump_json(by_alias=True)
        return self.core.text(format, latencies, list(nodes) if nodes is not None else None, beside)


def _beside(format: str) -> dict[str, str] | None:  # noqa: A002 - as users type
    """Return the name and the ending of the format of the second file that one of `format` refers to."""
    found: dict[str, str] | None = next(item.beside for item in _core.formats() if item.name == format)
    return found


def _whole(name: str, values: "npt.ArrayLike") -> "npt.NDArray[np.int64]":
    """Return a matrix of whole numbers."""
    import numpy as np  # noqa: PLC0415 - loads slowly

    try:
        array = np.asarray(values)
    except ValueError:
        raise TopoloomError(f"{name}: its rows differ in length") from None
    if array.ndim != 2 or array.dtype.kind not in "iu":  # noqa: PLR2004 - a matrix
        raise TopoloomError(f"{name}: {array.ndim} dimensions of {array.dtype}; it must be a matrix of whole numbers")
    return array.astype(np.int64)


def network(spec: str, **keys: str | float | bool) -> Network:
    """Return the network that a spec describes.

    Args:
        spec: The network, as ``topoloom list topologies`` explains.
        **keys: Keys that are added to the spec, with their values.

    Raises:
        TopoloomError: A spec that cannot be read, or a network that is too large.

    >>> network("hyperx:3x3", p=2)
    Network('hyperx:3x3,p=2')
    """
    return Network(with_keys(spec, keys))


def _by_class(key: str, value: Any) -> list[tuple[str, Any]]:
    """Return keys of link classes, such as ``rate.global``, of a table of values by class; else the key itself."""
    return [(f"{key}.{name}", one) for name, one in value.items()] if isinstance(value, Mapping) else [(key, value)]


def with_keys(spec: str, keys: Mapping[str, Any]) -> str:
    """Return `spec` with `keys` added to it.

    Args:
        spec: A name of a network, such as ``torus:4x4``.
        keys: Values by key, unchecked; a dictionary as a value gives one value per class of links.

    >>> with_keys("slimfly", {"q": 5, "p": 2})
    'slimfly:q=5,p=2'
    >>> with_keys("torus:4x4", {"rate": {"terminal": "200G", "local": "400G"}})
    'torus:4x4,rate.terminal=200G,rate.local=400G'
    """
    pairs = [
        f"{name}={str(one).lower() if isinstance(one, bool) else one}"
        for key, value in keys.items()
        for name, one in _by_class(key, value)
    ]
    if not pairs:
        return spec
    return spec + ("," if ":" in spec else ":") + ",".join(pairs)


def as_networks(networks: str | Network | Iterable[str | Network]) -> list[Network]:
    """Return `networks`, built where they are specs.

    Args:
        networks: Networks, specs, or both; or a single one.

    Raises:
        TopoloomError: A spec that is none.

    >>> [network.num_routers for network in as_networks(["mesh:2x2", Network("torus:4x4")])]
    [4, 16]
    """
    listed = [networks] if isinstance(networks, (str, Network)) else networks
    return [item if isinstance(item, Network) else Network(item) for item in listed]
