"""The engine, in Rust. Everything here is wrapped by friendlier modules.

Generated from the bindings by ``make generate``: do not edit.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from topoloom.engine.results import (
    AppDescription,
    BandwidthComparison,
    Bisection,
    CardSizes,
    Cost,
    Facts,
    FamilyDescription,
    Floor,
    FlowConfig,
    FlowResult,
    FormatDescription,
    HostDescription,
    Item,
    LayoutDescription,
    MachineDescription,
    MachineFacts,
    MappingDescription,
    PathDiversity,
    PermutationSummary,
    Point,
    PriceList,
    Proof,
    RackNumbers,
    Replay,
    Resilience,
    RouteLengths,
    RouterDescription,
    RoutingDescription,
    SaturationBound,
    Shape,
    SplitBound,
    StepFacts,
    Synthesis,
    TrafficDescription,
    WorkloadResult,
)

__version__: str
MODEL_VERSION: int
DEFAULT_GBPS: float

class TopoloomError(ValueError):
    """A user's mistake, as one sentence: what was wrong, where, and what is allowed."""

class Network:
    """An interconnection network, immutable."""
    def __init__(self, spec: str) -> None: ...
    @staticmethod
    def from_graph(
        kind: str,
        label: str,
        nodes: Sequence[tuple[str, int | None, str | None, tuple[float | None, float | None, float | None]]],
        links: Sequence[
            tuple[
                int,
                int,
                str | None,
                int | None,
                tuple[int, int] | None,
                tuple[float | None, float | None, float | None],
            ]
        ],
        directed: bool,
        p: int | None,
        written_as: str | None,
    ) -> Network:
        """
        A network from a graph that a program has: nodes as (name, terminals, kind, wire of its terminals), links as
        (place of one end, of the other, class, latency, ports, wire), where a wire is (Gb/s, nanoseconds, metres);
        ``written_as`` is the spec that the graph claims to be. Its spec is ``family:label,sha256=…``.
        """
    def with_failures(self, fail: str) -> Network:
        """The network that is left when what ``fail`` names fails at random."""
    @property
    def failures(self) -> str | None:
        """What failed, or None."""
    @property
    def spec(self) -> str: ...
    @property
    def family(self) -> str: ...
    @property
    def num_routers(self) -> int: ...
    @property
    def num_terminals(self) -> int: ...
    @property
    def distance_steps(self) -> int:
        """Links that a search for all distances looks at: those of the network, from every router it searches from."""
    @property
    def cycle_ns(self) -> float | None:
        """
        Nanoseconds of a cycle of a simulation, in which a flit of 64 bytes crosses the fastest link; nothing where
        links have no rates.
        """
    def routing_in_role(self, role: str) -> str | None:
        """The routing that plays a role, ``minimal`` or ``adaptive``, here; nothing if there is no such role."""
    def facts(self, sample: tuple[int, int] | None = None) -> Facts:
        """
        The facts that need no partitioner; with distances from (a number of routers, a seed) only if these are given.
        """
    def machine(self) -> MachineFacts | None:
        """What is known of the machine that this is; nothing if it is none."""
    def path_diversity(self, insists: bool) -> PathDiversity | None:
        """Numbers of shortest paths; nothing if they take more than some seconds, unless ``insists``."""
    def resilience(self, kind: str, fractions: Sequence[float], trials: int, seed: int, distances: bool) -> Resilience:
        """What random failures of a kind leave of the network."""
    def edges(self) -> list[tuple[int, int, int, int, str]]:
        """(router, port, router, port, class) of every link between routers."""
    def shape(self) -> Shape:
        """What a drawing asks of the family."""
    def notes(self) -> list[str]:
        """What was noticed when the network was read."""
    def source_sha256(self) -> str | None:
        """The SHA-256 of the file or graph that the network comes from, if it comes from one."""
    def written_as(self) -> str | None:
        """The spec that builds the same graph without the file that it comes from, if one does."""
    def routings(self) -> list[str]:
        """The routings that are offered."""
    def router_names(self) -> list[str] | None:
        """The names of the routers in the file or graph, where they are not the ids."""
    def terminals_by_router(self) -> list[int]:
        """The number of terminals of each router."""
    def own_latencies(self) -> list[int | None]:
        """The latencies of the links that have one of their own, None for the others, in the order of ``edges``."""
    def link_wires(self) -> list[tuple[float | None, float | None, float | None]] | None:
        """
        Rate (Gb/s), delay (ns) and length (m) of each link, in the order of ``edges``; None where no link has any.
        """
    def terminal_wires(self) -> list[tuple[float | None, float | None, float | None]] | None:
        """Rate, delay and length of the links of each router's terminals; None where they have none of their own."""
    def bought(self) -> Network:
        """The network as it is bought: before failures, and without the parts of hosts."""
    @property
    def injection_gbps(self) -> float | None:
        """What a terminal sends at load 1, in Gb/s, if links have rates."""
    def text(
        self, form: str, latencies_json: str | None, names: Sequence[str] | None = None, beside: str | None = None
    ) -> tuple[str, list[str]]:
        """
        The network as text in a format, with latencies by class if given (JSON) for links that have none of their own;
        and a sentence on what the format cannot hold. ``names`` are those of terminals, ``beside`` the name of the file
        with the graph, for formats that have a place for them.
        """
    def unwritten(self, form: str) -> str | None:
        """A sentence on what a file of a format cannot state about the family, if it cannot."""
    def metis_graph(self) -> list[NDArray[np.int32]]:
        """METIS's arrays: offsets, neighbours, weights of routers, weights of neighbours."""
    def routing_by_tables(
        self, ports: NDArray[np.int64], layers: NDArray[np.int64] | None, to_terminals: bool
    ) -> Routing:
        """
        Routing by tables: the output at each router (row) towards each destination (column), -1 where there is none,
        and the layer of packets from each router to each destination. The network knows the routing by its name from
        now on.
        """
    def layered_tables(self, routing: str) -> list[list[list[int]]]:
        """The ports and the layers of ``lash`` (by router) or ``dfsssp`` (by terminal), -1 where there is no port."""
    def best_bisection(self, partitions: Sequence[NDArray[np.int32]]) -> Bisection:
        """The best bisection that can be had from partitions, an array of 0 and 1 for the routers each."""

class Routing:
    """A routing on a network, with the proof if it needs one."""
    def __init__(self, network: Network, name: str) -> None:
        """The routing that ``name`` names, for ``network``."""
    @property
    def name(self) -> str:
        """The name that it was built by."""
    @property
    def classes(self) -> int:
        """The VC classes that it needs."""
    @property
    def vcs(self) -> int:
        """The VCs that it is given unless an option states how many."""
    @property
    def note(self) -> str | None:
        """What users should know of how it runs on this network, if anything."""
    @property
    def adapts(self) -> bool:
        """Whether it decides by congestion."""
    def verify(self, vcs: int | None = None) -> Proof:
        """Proves it free of deadlock, or finds a cycle; with fewer ``vcs`` than it needs, VC classes share them."""
    def bound(self, traffic: Traffic) -> SaturationBound:
        """The largest load that it can carry under a traffic."""
    def channel_loads(self, traffic: Traffic) -> list[tuple[int, int, float]]:
        """
        (router, port, expected load) of every channel between routers; rejected for routings that decide by congestion.
        """
    def route_lengths(self, seed: int) -> RouteLengths:
        """The lengths of its paths."""
    def forwarding_text(self, form: str) -> str:
        """Its forwarding tables: ``lft`` as OpenSM writes them, ``csv`` as ``table:FILE`` reads them."""
    def card_tables(self) -> tuple[str, CardSizes]:
        """Its tables for cards, as ``table:FILE`` reads them, and their sizes."""

class Traffic:
    """A traffic pattern on a network."""
    @property
    def name(self) -> str: ...
    def __init__(self, network: Network, name: str) -> None:
        """The pattern that ``name`` names, for ``network``."""
    @property
    def trace_load(self) -> float | None:
        """The load that a trace has by itself; None for traffic that takes any load."""
    @property
    def active_terminals(self) -> int:
        """The number of terminals that send."""
    def most_load(self, config_json: str) -> float:
        """The largest load, of 1 at most, at which every terminal can create its packets."""
    def weights(self) -> list[list[tuple[int, int, float]]]:
        """The destinations of each terminal, as ranges: (first, last + 1, weight of each)."""
    def router_demands(self) -> tuple[NDArray[np.float64], float]:
        """
        Flits per cycle from router s to router d, at s * routers + d, if every active terminal offers one; and the
        largest load of a terminal's link.
        """

class Simulation:
    """A routing and a traffic on their network, with options of the engine: points are simulated at any load."""
    def __init__(self, routing: Routing, traffic: Traffic, config_json: str) -> None:
        """``config_json`` has the options that are not to be as they are by default."""
    def check(self, load: float) -> str:
        """
        Checks all that can be checked before a run at ``load``; returns the options with everything filled in, as JSON.
        """
    def point(self, load: float, cancel: CancelToken, seed: int | None = None) -> Point | None:
        """
        Simulates one point; nothing if it was cancelled before it began. The seed is that of the options unless given.
        """
    def point_and_channels(
        self, load: float, cancel: CancelToken, seed: int | None = None
    ) -> tuple[Point, NDArray[np.float32]] | None:
        """
        The same, with the flits per cycle on each channel between routers: two channels per link, in the order of
        ``Network.edges``, from its first router to its second and back.
        """

class Layout:
    """A network laid out on the machine floor, at the prices of a list."""
    def __init__(
        self, network: Network, rules: str = "", prices: str = "", packed: Sequence[int] | None = None
    ) -> None:
        """
        ``rules`` as users type them; ``prices`` the name of a list, or a custom list as JSON; without them the
        defaults, which for prices depend on the network's rate. ``packed`` is a partition of the routers for
        ``cabinet=metis:N``, which is made to fit.
        """
    def cost(self) -> Cost:
        """Cost and power in parts."""
    def floor(self) -> Floor:
        """The floor, its cabinets, lengths and bundles of cables."""
    def bill(self) -> list[Item]:
        """The bill of materials, item by item."""
    def cables(
        self,
    ) -> list[
        tuple[
            tuple[int, int, int, int],
            tuple[int, int, int, int] | None,
            tuple[int, int] | None,
            str,
            float,
            tuple[str, float, float] | None,
        ]
    ]:
        """
        Every cable: (router, port, cabinet, rack unit) at the near end, the same at the far end or the terminal there
        and its cabinet, class, metres, and what is bought for it (kind, metres, dollars).
        """

class CancelToken:
    """Stops the computations that it was given to, and hears how far they are, from any thread."""
    def __init__(self) -> None: ...
    def cancel(self) -> None:
        """Asks for a stop."""
    def enter(self) -> None:
        """Lets this thread compute under the token from now on."""
    @property
    def done(self) -> int:
        """
        Steps of the stage at hand: cycles simulated, or messages that have begun, of the simulation that reported last.
        """
    @property
    def threads(self) -> int | None:
        """The threads that a simulation uses, if the system gave fewer than requested."""
    @property
    def stage(self) -> tuple[str, int, int] | None:
        """The stage of a computation: its name, the steps that are done, and all (0 if unknown)."""

class Workload:
    """An application: tasks, their messages, and what each does in which order."""
    def __init__(self, spec: str, room: int, records: bool | None = None, calls: bool | None = None) -> None:
        """
        The application that ``spec`` names, for at most ``room`` tasks; what messages of a collective carry is recorded
        if asked, and collectives stay calls, without messages.
        """
    @staticmethod
    def on(
        spec: str,
        network: Network,
        room: int | None = None,
        rate: str | None = None,
        calls: bool | None = None,
        changes: tuple[int, str] | None = None,
    ) -> Workload:
        """
        The application that ``spec`` names, for at most ``room`` tasks on a network, or as many as that has room for;
        its links have this rate unless they have rates of their own. It may be this many times smaller, and have noise.
        """
    @staticmethod
    def together(jobs: Sequence[tuple[Workload, float]]) -> Workload:
        """One workload of several, each of which begins at its time, in seconds."""
    def carried(self) -> list[tuple[bool, list[tuple[int, int]]]] | None:
        """
        What each message of a collective carries: whether its receiver combines it with what it has, and spans of the
        buffer as (first byte, bytes). None if that was not recorded, or no message gives it.
        """
    @property
    def spec(self) -> str:
        """What it was built from."""
    @property
    def tasks(self) -> int:
        """The number of tasks."""
    @property
    def num_messages(self) -> int:
        """The number of messages."""
    @property
    def total_bytes(self) -> int:
        """The sum of all sizes."""
    @property
    def yardstick(self) -> tuple[float, float] | None:
        """What the bandwidth of a collective is measured by: bytes, and the factor of the bus bandwidth."""
    @property
    def step(self) -> StepFacts | None:
        """What is known of a training step before it runs."""
    @property
    def shown(self) -> list[int] | None:
        """Tasks that stand for all of them, where some do: the first rank of each stage of a training step."""
    def ends(self, times: NDArray[np.float64], computations: NDArray[np.float64]) -> list[float]:
        """When each task was done in a run, in seconds, by the times that ``Self::timeline`` takes."""
    def timeline(
        self, times: NDArray[np.float64], computations: NDArray[np.float64], tasks: Sequence[int]
    ) -> list[tuple[int, str, str, float, float]]:
        """
        What tasks did in a run, as (task, lane, name, beginning, end) in seconds: of each message its beginning and its
        end, of each computation its operation and these.
        """
    @property
    def notes(self) -> list[str]:
        """What a user should know, a sentence each."""
    @property
    def fills_room(self) -> bool:
        """Whether the number of tasks follows from the room that it was built for, not from its text."""
    def messages(self) -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint64]]:
        """Source, target and bytes of all messages."""
    def program(self, task: int) -> list[tuple[str, float]]:
        """What a task does, in its order: ("send", message), ("receive", message) and ("compute", seconds)."""
    def dependencies(self) -> list[tuple[int, int, bool]] | None:
        """
        What each operation waits for as (operation, the one that waits, whether for its start only), with operations
        numbered task by task; None if tasks do one thing after the other.
        """
    def processors(self, task: int) -> list[int]:
        """The processor of each operation of a task, 0 of those that do not compute."""
    @property
    def repeats(self) -> bool:
        """Whether some tasks begin again at their end."""
    @property
    def has_connections(self) -> bool:
        """Whether messages to one task on one channel are sent one at a time."""
    def mapping(self, network: Network, mapping: str) -> NDArray[np.uint32]:
        """The terminal of each task under a mapping."""

class CyclePlay:
    """A workload on the cycle engine, checked but not started."""
    def __init__(
        self, routing: Routing, workload: Workload, mapping: str, flit: str, rate: str, endpoint: str, config_json: str
    ) -> None:
        """Checks all that can be checked."""
    def config(self) -> str:
        """The options with everything filled in, as JSON."""
    def run(
        self, cancel: CancelToken
    ) -> tuple[WorkloadResult, tuple[NDArray[np.uint32], NDArray[np.float64], NDArray[np.float64]]]:
        """Runs without the interpreter's lock; returns what came of it, and when messages were ready and arrived."""

class ChakraTraces:
    """An application that is written as Chakra traces."""
    def __init__(self, workload: Workload) -> None:
        """Traces of an application that does not repeat its messages."""
    def losses(self) -> list[str]:
        """What is lost in them, a sentence each."""
    def groups(self) -> list[tuple[str, list[int]]]:
        """The groups that collectives name, and their ranks."""
    def trace(self, rank: int) -> bytes:
        """The trace of a rank."""

class Job:
    """A job that shares a machine with others."""
    def __init__(self, text: str) -> None:
        """Reads ``APP,tasks=256,start=0s``."""
    @property
    def app(self) -> str:
        """The application."""
    @property
    def start_s(self) -> float:
        """When it begins, in seconds."""
    @property
    def on(self) -> list[int] | None:
        """The terminals of its tasks, if given."""
    def workload(self, network: Network, rate: str, changes: tuple[int, str] | None = None) -> Workload:
        """
        Builds its application for a network whose links have this rate unless they have rates of their own; it may be
        this many times smaller, and have noise.
        """

class Name:
    """A name that has been read: ``what`` it is the name of as for ``files_of``."""
    def __init__(self, what: str, text: str) -> None: ...
    @property
    def canonical(self) -> str:
        """What means the same in one way of writing."""
    @property
    def family(self) -> str:
        """The head: the family, the pattern, …."""
    @property
    def sizes(self) -> list[int]:
        """The sizes that stand first."""
    @property
    def values(self) -> list[tuple[str, str]]:
        """The keys with their values as they are written, in their order."""
    @property
    def within(self) -> str | None:
        """The canonical name of the network that a network is made of."""
    @property
    def files(self) -> list[tuple[str, str | None]]:
        """The path of each file that it reads, with its SHA-256; nothing of one that is missing."""

def place_qap(
    flows: Sequence[tuple[int, int, float]], distances: NDArray[np.float64], seed: int
) -> tuple[list[int], float]:
    """
    Places for facilities between which there are ``flows`` (a, b, how much), and their cost, by annealing;
    ``distances`` are those of each place to each.
    """

def metis_cabinet(rules: str) -> int | None:
    """What a layout without ``cabinet=metis:N`` has no need of: N, if the rules state that."""

def rack_numbers(rules: str) -> RackNumbers | None:
    """The numbers of the rule ``rack`` with the keys of ``rules``; nothing if they are another layout's."""

def layout_assumptions(rules: str) -> str:
    """What a layout assumes, in a sentence."""

def permute_list(file: str, text: str, how: str) -> tuple[PermutationSummary, str, str, Network, Network]:
    """
    Permutes the cabling list ``text`` of a file; ``how`` has the method and its options, as JSON. Returns what came of
    it, the moves and the list afterwards, both as CSV, and the networks before and afterwards.
    """

def bandwidth_side_by_side(
    before: Network, after: Network, partitions: Sequence[Sequence[NDArray[np.int32]]]
) -> BandwidthComparison:
    """
    Bandwidth before and after by the same means, given partitions to start from (an array of 0 and 1 for the routers
    each).
    """

def synthesise(
    routers: int, degree: int, load: bool, group: str | None, seed: int, seconds: float, graphs: int | None
) -> Synthesis:
    """
    Searches for the Cayley graph of the least average distance, or with ``load`` of the least loaded channels: for
    ``seconds``, or until ``graphs`` were compared.
    """

def split_bound(network: Network, minimal: str, detours: str | None, traffic: Traffic) -> SplitBound:
    """
    The largest load that a network can carry under a traffic if a share of every flow takes the paths of one routing,
    and the rest those of another, if there is one. Only what is needed of them is built.
    """

def room(network: Network) -> int:
    """The most tasks that a network has room for: its terminals whose routers have not failed."""

def student_t(degrees: int) -> float:
    """The 97.5 % quantile of Student's t."""

def flow_keys() -> list[tuple[str, str]]:
    """The keys of the flow engine, with their meaning."""

def endpoint_keys() -> list[tuple[str, str]]:
    """The keys of what sending and receiving costs, with their meaning."""

def noise_keys() -> list[tuple[str, str]]:
    """The keys of noise, with their meaning."""

def flow_rates(routing: Routing, pairs: Sequence[NDArray[np.uint32]], config: str) -> NDArray[np.float64]:
    """The rates, in bytes per second, of flows that are all under way."""

def flow_run(
    routing: Routing, pairs: Sequence[NDArray[np.uint32]], bytes: NDArray[np.uint64], config: str, cancel: CancelToken
) -> tuple[FlowResult, NDArray[np.float64], NDArray[np.float64]]:
    """Runs flows that all begin at the start."""

def allocate(
    allocator: str, network: Network, jobs: Sequence[tuple[str, int, Sequence[int] | None]]
) -> tuple[list[list[int]], int]:
    """The terminals of each job as an allocator states, and how many others have."""

def flow_check(workload: Workload, config: str, rate: str, seed: int, endpoint: str = "") -> FlowConfig:
    """Checks that the flow engine can run a workload, with links of ``rate`` and a seed; returns its options."""

def flow_workload(
    routing: Routing,
    workload: Workload,
    mapping: str,
    config: str,
    rate: str,
    seed: int,
    cancel: CancelToken,
    endpoint: str = "",
    terminals: Sequence[int] | None = None,
) -> tuple[FlowResult, NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Runs a workload, its tasks on the terminals that are listed, or else where a mapping states."""

def flow_replay(
    routing: Routing,
    jobs: Sequence[tuple[str, int, float, float | None, float, float | None, int]],
    mix: Sequence[str],
    allocator: str,
    backfill: bool,
    config: str,
    rate: str,
    seed: int,
    cancel: CancelToken,
) -> Replay:
    """
    Replays the jobs of a machine; each repeats one of the mix, by its number. Later jobs may be filled in before
    others.
    """

def unknown(kind: str, name: str, known: Sequence[str]) -> str:
    """
    "unknown KIND 'NAME' (did you mean 'NEAR'?); there are: …"
    """

def concise(sentence: str) -> str:
    """A sentence that quotes what users gave, short enough to be read."""

def available_memory() -> int:
    """The bytes of memory that this process can still take."""

def families() -> list[FamilyDescription]:
    """The families of networks."""

def hosts() -> list[HostDescription]:
    """The hosts that are built in."""

def machines() -> list[MachineDescription]:
    """The machines that are built in."""

def layouts() -> list[LayoutDescription]:
    """The layouts that have a name, the default one first."""

def routing_in_role(role: str, family: str) -> str | None:
    """
    The routing that plays a role, ``minimal`` or ``adaptive``, on networks of a family; nothing if there is no such
    role.
    """

def price_lists() -> list[PriceList]:
    """The price lists, the default one first."""

def price_list(prices: str) -> PriceList:
    """One price list, by its name or from your own JSON; nothing: the default one."""

def router_costs(prices: str, most: int) -> list[float | None]:
    """
    What a router costs whose ports in use are 0, 1, 2, … ``most``, in dollars; nothing where the list has no such
    router.
    """

def bytes_per_second(rate: str) -> float:
    """Bytes per second that are written as in ``400Gb/s``."""

def formats() -> list[FormatDescription]:
    """The file formats."""

def format_of(path: str, name: str | None = None) -> str:
    """The name of the format of a file: ``name`` if given, else that of the ending of ``path``."""

def files_of(what: str, name: str) -> list[str]:
    """
    The paths of the files that a name reads; ``what`` it is the name of: topology, routing, traffic, app, layout,
    cabinet or file.
    """

def adapts_by_name(name: str) -> bool | None:
    """
    Whether the routing of this name decides by congestion; None where its file decides, false for an unknown name.
    """

def family_of(spec: str) -> str:
    """The family of a network by its spec, whether or not there is such a family."""

def head(text: str) -> str:
    """The head of a name, whether or not there is such a name."""

def split_names(text: str) -> list[str] | None:
    """The names in a text with commas between them; nothing where one is missing or a bracket is not closed."""

def parse_pairs(option: str, text: str, keys: Sequence[str]) -> list[tuple[str, str]]:
    """The keys and values of ``key=value,…``, keys with underscores; mistakes begin with the name of the option."""

def processors() -> int:
    """The processors that this process may use, by its affinity and the quotas of its control groups."""

def routings() -> list[RoutingDescription]:
    """The routings."""

def router_models() -> list[RouterDescription]:
    """The router models."""

def router_settings(config_json: str) -> list[tuple[str, str]]:
    """How the router of a configuration is set up, in words: (what, value with its unit)."""

def apps() -> list[AppDescription]:
    """The applications."""

def mappings() -> list[MappingDescription]:
    """The mappings of tasks to terminals."""

def allocators() -> list[MappingDescription]:
    """What gives jobs their terminals that share a machine."""

def traffic_patterns() -> list[TrafficDescription]:
    """The traffic patterns."""
