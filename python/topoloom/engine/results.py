"""The results of the engine. Generated from the crate by ``make generate``: do not edit."""

from typing import Any, Literal

from topoloom.engine.records import Record


class KeyDescription(Record):
    """
    A key that a name may give, as in ``key=value``.

    Attributes:
        name: What users write.
        type: What its value may be, in a word.
        doc: What it means, with its default.
        words: Of a choice, its words; the first is what holds unless another is given.
        least: Of a whole number, the least.
        most: Of a whole number, the most, where that is less than what the engine has room for.
        or_: The word that may replace a value.
        shared: True of a key that all of its kind take.
    """

    name: str
    type: str
    doc: str
    words: list[str] | None
    least: int | None
    most: int | None
    or_: str | None
    shared: bool | None


class AppDescription(Record):
    """
    An application.

    Attributes:
        name: The name that users type.
        argument: The positional argument behind the name, such as FILE.
        summary: The messages, in one line.
        keys_: The keys that it takes.
    """

    name: str
    argument: str | None
    summary: str
    keys_: list[KeyDescription]


class Bandwidth(Record):
    """
    How much a network carries. The names are keys of the JSON.

    Attributes:
        bisection_links: Links between two halves of the terminals: of the best bisection that was found.
        bisection_is: Whether that is the least.
        beta: Cut links over half the terminals.
        uniform_bound: The largest load that minimal routing (``min``) carries under uniform traffic, in flits per
            terminal per cycle.
        worst_case_bound: The same under worst-case traffic; ``None`` where that is not known.
    """

    bisection_links: int
    bisection_is: Literal["exact", "upper-bound"]
    beta: float | None
    uniform_bound: float
    worst_case_bound: float | None


class BandwidthComparison(Record):
    """
    Bandwidth before and after, by the same means. The names are keys of the JSON.

    Attributes:
        before: Before.
        after: Afterwards.
        losses: A clause for each measure that fell.
    """

    before: Bandwidth
    after: Bandwidth
    losses: list[str]


class Bisection(Record):
    """
    The best bisection that was found. The names are the keys of the JSON.

    Attributes:
        bisection_links: Links that it cuts.
        bisection_is: Whether that is the least.
        bisection_bound: A number of links that every balanced partition cuts, where one is known.
        bisection_gbps: What the links between two halves carry in one direction, at least, in Gb/s: those of the
            partition whose links carry least; null where links have no rates.
        bisection_ratio: Cut links over all links between routers.
        beta: Cut links over half the terminals.
    """

    bisection_links: int
    bisection_is: Literal["exact", "upper-bound"]
    bisection_bound: int | None
    bisection_gbps: float | None
    bisection_ratio: float | None
    beta: float | None


class CardSizes(Record):
    """
    How large tables are.

    Attributes:
        destinations: Destinations: the entries of a table without a hierarchy.
        block: Destinations of a block.
        tables: Tables: one for each input of a card and group that packets come by.
        most_entries: Entries of both levels, of the largest table.
        entries: Of all tables.
    """

    destinations: int
    block: int
    tables: int
    most_entries: int
    entries: int


class KindTotal(Record):
    """
    Cables of one kind.

    Attributes:
        kind: The kind.
        cables: Cables of it.
        length_m: Metres of it.
        cost_usd: What they cost.
        power_w: What they draw.
    """

    kind: str
    cables: int
    length_m: float
    cost_usd: float
    power_w: float


class Cost(Record):
    """
    What a network costs and draws. Terminal cables are included unless the layout leaves them out; network interfaces
    are included where the list has them; the terminals themselves never are. The names are the keys of the JSON; what
    is per terminal is null without terminals. The cost of cables is null if the list does not price them.

    Attributes:
        prices: The name of the price list.
        prices_assumed: What no public source gives of the things that are bought: each with the keys of the list that
            are assumed.
        layout: The layout, as it was asked for; ``rack`` unless that was something else.
        layout_assumptions: What the layout assumes, in a sentence.
        layout_order: In which order routers filled racks; none without the rule ``rack``.
        cabinet_count: Cabinets that hold anything.
        cost_usd: Routers, cables and network interfaces, as far as the list has prices.
        router_cost_usd: Routers.
        cable_cost_usd: Cables, those of terminals included.
        terminal_cable_cost_usd: Of these, the cables of terminals.
        nic_cost_usd: Network interfaces.
        cost_without_terminal_cables_usd: ``cost_usd`` less ``terminal_cable_cost_usd``: some papers count so.
        cost_per_terminal_usd: ``cost_usd`` over the terminals.
        router_cost_per_terminal_usd: ``router_cost_usd`` over the terminals.
        cable_cost_per_terminal_usd: ``cable_cost_usd`` over the terminals.
        power_w: What all that draws.
        router_power_w: What the routers draw.
        cable_power_w: What active cables draw.
        nic_power_w: What network interfaces draw.
        power_per_terminal_w: ``power_w`` over the terminals.
        energy_years: Years of electricity that are counted; none if the list does not price energy.
        energy_cost_usd: What ``power_w`` costs over these years, with what the site draws beside the equipment.
        lifetime_cost_usd: ``cost_usd`` + ``energy_cost_usd``.
        lifetime_cost_per_terminal_usd: ``lifetime_cost_usd`` over the terminals.
        cables: Cables, those of terminals included.
        cable_m: Metres of cable, those of terminals included.
        terminal_cable_m: Metres of terminals' cables.
        cable_per_terminal_m: ``cable_m`` over the terminals.
        longest_cable_m: The longest cable between two routers.
        cable_kinds: The kinds of cable in use.
        layout_notes: Sentences on cabinets that are not full.
    """

    prices: str
    prices_assumed: list[str]
    layout: str
    layout_assumptions: str
    layout_order: str | None
    cabinet_count: int
    cost_usd: float
    router_cost_usd: float
    cable_cost_usd: float | None
    terminal_cable_cost_usd: float | None
    nic_cost_usd: float
    cost_without_terminal_cables_usd: float
    cost_per_terminal_usd: float | None
    router_cost_per_terminal_usd: float | None
    cable_cost_per_terminal_usd: float | None
    power_w: float
    router_power_w: float
    cable_power_w: float
    nic_power_w: float
    power_per_terminal_w: float | None
    energy_years: float | None
    energy_cost_usd: float | None
    lifetime_cost_usd: float | None
    lifetime_cost_per_terminal_usd: float | None
    cables: int
    cable_m: float
    terminal_cable_m: float
    cable_per_terminal_m: float | None
    longest_cable_m: float
    cable_kinds: list[KindTotal]
    layout_notes: list[str]


class DistanceSummary(Record):
    """
    The distances of a cabling in short. The names are keys of the JSON.

    Attributes:
        diameter: The largest distance between two vertices that a path joins.
        average_distance: The mean distance over ordered pairs of distinct vertices that a path joins.
    """

    diameter: int
    average_distance: float


class Counts(Record):
    """
    What became of the pairs of cables that were drawn.

    Attributes:
        exchanged: Pairs that exchanged ends.
        refused: Pairs without four distinct vertices, with a parallel cable afterwards, or without a cabinet in common.
        disconnecting: Pairs that would have disconnected the network.
        fixed: Pairs that stayed because not all cables are swappable.
    """

    exchanged: int
    refused: int
    disconnecting: int
    fixed: int


class Trial(DistanceSummary, Counts):
    """What one permutation came to. The names are keys of the JSON."""


class SearchRecord(Record):
    """
    What the searches did, all of them together. The names are keys of the JSON.

    Attributes:
        tried: Exchanges that were looked at.
        kept: Exchanges that were kept.
        disconnecting: Exchanges that were discarded because they would have disconnected the network.
        alike: Symmetric copies applied per exchange, at first: one per cabinet that looks alike; 1 if none do.
    """

    tried: int
    kept: int
    disconnecting: int
    alike: int


class Optimisation(DistanceSummary, SearchRecord):
    """
    What a search found. The names are keys of the JSON.

    Attributes:
        cable_m: Metres of cable of the base and afterwards, if only length is conserved.
    """

    cable_m: list[float] | None


class Permutation(Record):
    """
    How a permuted network came about. The names are keys of the JSON.

    Attributes:
        method: The method.
        base: The base network.
        cabinet: How routers are put into cabinets.
        cabinets: Cabinets, node-only ones included.
        best_trial: The number of the trial that was taken, from 0.
        moved_ends: Ends of cables that are plugged in elsewhere than in the base.
        diameter: The largest distance afterwards, between routers; also terminals, if their cables are swapped.
        average_distance: The mean distance afterwards.
        base_diameter: The largest distance of the base, between routers; also terminals, if their cables are swapped.
        base_average_distance: The mean distance of the base.
        cabinet_distance: The mean distance of cabinets: as long as the cables between each two cabinets stay, no
            network is below it.
        trials: Every trial.
        optimised: What was searched for behind the trials.
    """

    method: str
    base: str
    cabinet: str
    cabinets: int
    best_trial: int
    moved_ends: int
    diameter: int
    average_distance: float
    base_diameter: int
    base_average_distance: float
    cabinet_distance: float
    trials: list[Trial]
    optimised: Optimisation | None


class Taper(Record):
    """
    What the routers of a level carry below and above, all together. The names are keys of the JSON.

    Attributes:
        level: The level: ``0`` for the leaves of a tree, ``1`` above them, …; ``router`` and ``group`` where a network
            is no tree, and ``host`` before them.
        down_gbps: What the links below it carry in one direction, in Gb/s: those of terminals at the lowest level.
        up_gbps: What the links above it carry in one direction, in Gb/s.
        taper: The first over the second: 1 without a taper; ``None`` where nothing leads up.
    """

    level: str
    down_gbps: float
    up_gbps: float
    taper: float | None


class Sample(Record):
    """
    What is known of the precision of sampled distances. The names are the keys of the JSON.

    Attributes:
        sources: Routers from which distances were measured, drawn without repetition.
        seed: The seed of the draw.
        average_distance_ci95: Half the width of the 95 % confidence interval of the average distance.
    """

    sources: int
    seed: int
    average_distance_ci95: float | None


class BuiltFigure(Record):
    """
    A figure of a machine, as it was published and as the network has it.

    Attributes:
        fact: What it is a number of.
        meaning: The same in words, with the unit.
        published: What was published of the whole machine.
        built: What this network has.
        source: Where it was published; ``None`` of an assumption.
    """

    fact: str
    meaning: str
    published: float
    built: float | None
    source: str | None


class MachineFacts(Record):
    """
    What is known of the machine that a network is.

    Attributes:
        name: The machine.
        source: Where most of it is published.
        stands_for: The spec that it stands for.
        routing: The routing that it runs.
        endpoint: What sending and receiving costs, where that was published.
        is_scaled: True unless it is the whole machine.
        assumptions: Assumptions without a source.
        figures: Its figures.
    """

    name: str
    source: str
    stands_for: str
    routing: str
    endpoint: str | None
    is_scaled: bool
    assumptions: list[str]
    figures: list[BuiltFigure]


class Facts(Cost):
    """
    The facts of a network that need no partitioner. The names are the keys of the JSON.

    Attributes:
        spec: The spec that built the network.
        family: Its family.
        source_sha256: The SHA-256 of the file or graph that the network comes from, if its spec does not identify it.
        notes: What was noticed when the network was read: parallel links, renumbered ids.
        permutation: How a permuted network came about.
        terminals: Terminals.
        routers: Routers.
        radix: The largest number of ports in use at a router, terminals included.
        network_radix: The largest number of ports to other routers.
        min_degree: The smallest number of ports to other routers.
        links: Links between routers, parallel ones each.
        terminal_links: Links between a router and a terminal.
        host_routers: Routers that are parts of hosts, beside ``routers``: accelerators and the switches within hosts.
        host_links: Links within hosts, beside ``links``.
        injection_gbps: What a terminal sends into the network at load 1, in Gb/s: its own link's rate, or its part of
            the network interfaces of its host; their mean where terminals differ; null where links have no rates.
        taper: What each level of the network carries below and above it; null where links have no rates.
        failed_links: Links that failed, those of failed routers among them; 0 of a network without failures. They are
            not among ``links``, nor are failed routers and their terminals in any other count.
        failed_routers: Routers that failed.
        connected: True if a path joins every pair of routers.
        component_sizes: Routers of each connected component, the largest first.
        distance_sample: How distances were sampled; ``None`` if all were measured.
        diameter: The largest distance between two routers; ``None`` if the network is not connected, or only sampled.
        diameter_at_least: The largest distance that was measured: the diameter, unless it is ``None``.
        average_distance: The mean distance over ordered pairs of distinct routers.
        average_hops: The mean number of links between routers on a minimal path, over ordered pairs of distinct
            terminals.
        distance_histogram: Ordered pairs of routers by distance, from 0 on.
        moore_ratio: Routers over the Moore bound for the network radix and the diameter; ``None`` of networks with
            hosts, whose parts are no routers of one kind.
        machine: What is known of the machine that the network is, if it is one.
    """

    spec: str
    family: str
    source_sha256: str | None
    notes: list[str]
    permutation: Permutation | None
    terminals: int
    routers: int
    radix: int
    network_radix: int
    min_degree: int
    links: int
    terminal_links: int
    host_routers: int
    host_links: int
    injection_gbps: float | None
    taper: list[Taper] | None
    failed_links: int
    failed_routers: int
    connected: bool
    component_sizes: list[int]
    distance_sample: Sample | None
    diameter: int | None
    diameter_at_least: int
    average_distance: float | None
    average_hops: float | None
    distance_histogram: list[int]
    moore_ratio: float | None
    machine: MachineFacts | None


class FamilyDescription(Record):
    """
    A family of networks.

    Attributes:
        name: The name in specs.
        summary: What it is, in a line.
        sizes: How its sizes are written; ``None`` of a family without sizes.
        example: A spec that works.
        source: Where it was published.
        keys_: The keys that a spec may give.
    """

    name: str
    summary: str
    sizes: str | None
    example: str
    source: str
    keys_: list[KeyDescription]


class Aisle(Record):
    """
    An aisle between two rows.

    Attributes:
        behind_row: The row that it is behind, from 0.
        from_m: Where it begins, across the rows, as the y of cabinets counts: half a place behind the middle of its
            row.
        width_m: How wide it is.
    """

    behind_row: int
    from_m: float
    width_m: float


class Cabinet(Record):
    """
    A cabinet on the floor, as JSON has it.

    Attributes:
        cabinet: Its number.
        row: Its row, from 0.
        column: Its position in the row, from 0.
        x_m: Along the row, from the first cabinet.
        y_m: Across the rows, from the first row.
        routers: Routers in it.
        terminals: Terminals in it: those of its routers, unless terminals have cabinets of their own.
    """

    cabinet: int
    row: int
    column: int
    x_m: float
    y_m: float
    routers: int
    terminals: int


class LengthCount(Record):
    """
    Cables of one class, kind and length.

    Attributes:
        class_: The class of their links.
        kind: Their kind; ``None`` if the list prices no cables.
        length_m: The length of each.
        cables: How many there are.
    """

    class_: Literal["terminal", "local", "global", "up", "internal", "nic"]
    kind: str | None
    length_m: float
    cables: int


class Bundle(Record):
    """
    The cables between two cabinets, which run the same way and are bundled.

    Attributes:
        cabinets: The cabinets, the smaller number first.
        cables: Cables in it.
        length_m: The length of the longest.
    """

    cabinets: list[int]
    cables: int
    length_m: float


class Floor(Record):
    """
    The machine floor. The names are keys of the JSON.

    Attributes:
        rows: Rows of cabinets.
        columns: Slots for cabinets in a row.
        width_m: Metres from a cabinet to the next one in its row.
        depth_m: Metres from a row to the next one, without the aisles between them.
        aisles: The aisles between rows.
        cabinets: The cabinets.
        lengths: Cables by class, kind and length.
        bundles: Cables between cabinets, bundled.
    """

    rows: int
    columns: int
    width_m: float
    depth_m: float
    aisles: list[Aisle]
    cabinets: list[Cabinet]
    lengths: list[LengthCount]
    bundles: list[Bundle]


class Endpoint(Record):
    """
    What sending and receiving costs. The names are keys of the JSON.

    Attributes:
        latency_s: L: seconds that a message takes beside its path and its bytes.
        overhead_s: o: seconds for which a send, or a receive, occupies its task.
        gap_s: g: seconds between the beginnings of two messages of one terminal.
        per_byte_s: G: seconds that each byte takes at its terminal, at least.
        rendezvous: S: bytes above which messages wait for a request and its answer.
        header: Bytes of a packet beside its data.
        packet: At most this many bytes of data in a packet.
        window: Bytes that a terminal may have in flight to each other one.
        reduce_s: Seconds that a task that receives takes for each byte.
    """

    latency_s: float
    overhead_s: float
    gap_s: float
    per_byte_s: float
    rendezvous: int | None
    header: int
    packet: int
    window: int | None
    reduce_s: float


class FlowConfig(Record):
    """
    How a run of the flow engine goes.

    Attributes:
        model: How flows share channels.
        gbps: The rate of a link in each direction, in Gb/s.
        injection: What a terminal can send, in link rates; ``None``: no limit but that of its link, where it has one.
        consumption: What a terminal can receive, in link rates; ``None``: no limit but that of its link, where it has
            one.
        latency_s: Seconds for each link of a path.
        paths: Parts of a message.
        coalesce: Completions within this share of the time that the first took are served together.
        symmetry: Whether tasks of a regular collective that are alike share one entry.
        seed: Of the paths that a routing draws.
        endpoint: What sending and receiving costs; nothing: all is free.
    """

    model: Literal["max-min", "share", "sticky"]
    gbps: float
    injection: float | None
    consumption: float | None
    latency_s: float
    paths: int
    coalesce: float
    symmetry: Literal["auto", "on", "off"]
    seed: int
    endpoint: Endpoint | None


class Symbolic(Record):
    """
    How a regular collective was simulated without a list of its messages.

    Attributes:
        way: ``alike``: tasks that are alike share one entry; ``delay-lines``: tasks whose flows share no channel pass
            on what reaches them after a fixed time; ``lock-step``: all messages of a step end together; ``at-once``:
            all messages begin together, and the rates of none change.
        tasks: Tasks that were simulated. Of ``alike`` each stands for as many others.
    """

    way: str
    tasks: int


class MessageTimes(Record):
    """
    Times from a message's beginning to its completion.

    Attributes:
        mean_s: Their mean.
        p50_s: Their median.
        p99_s: Their 99th percentile.
        max_s: The longest.
        mean_stretch: The mean of the factors by which they are longer than at the rate of a link.
        max_stretch: The largest of these.
    """

    mean_s: float
    p50_s: float
    p99_s: float
    max_s: float
    mean_stretch: float
    max_stretch: float


class ChannelUse(Record):
    """
    Channels of one class.

    Attributes:
        class_: The class of their links; ``injection`` for channels from terminals.
        channels: How many there are.
        used: How many carried anything.
        mean_utilisation: The bytes they carried, over what they could have carried until the end: the mean of all …
        max_utilisation: … and the largest.
    """

    class_: str
    channels: int
    used: int
    mean_utilisation: float
    max_utilisation: float


class BusyChannel(Record):
    """
    A channel and its use.

    Attributes:
        channel: Its id.
        from_: The router that sends; of a channel from a terminal the terminal.
        port: The router's port.
        to: The router or the terminal that receives.
        class_: The class, as in ``ChannelUse``.
        utilisation: The part of its capacity that was used.
    """

    channel: int
    from_: int
    port: int | None
    to: int
    class_: str
    utilisation: float


class Timeline(Record):
    """
    Means over intervals of equal length, from the start on.

    Attributes:
        interval_s: Their length.
        bytes_per_s: Bytes per second of all flows.
        utilisation: The mean utilisation of the channels between routers.
        flows: Flows under way.
    """

    interval_s: float
    bytes_per_s: list[float]
    utilisation: list[float]
    flows: list[float]


class Step(Record):
    """
    A step of the critical path.

    Attributes:
        message: The id of a message; none of a computation.
        source: The task that sends it.
        target: The task that receives it.
        start_s: When it began.
        end_s: When it was complete.
    """

    message: int | None
    source: int | None
    target: int | None
    start_s: float
    end_s: float


class CriticalPath(Record):
    """
    The chain of messages and computations that ends last: each began when the one before was complete, the first one at
    the start. The times of all of them add up to the makespan.

    Attributes:
        messages: Messages on it.
        message_s: Seconds of messages under way.
        alone_s: Of these, what the messages would have taken alone on their paths.
        computations: Computations on it.
        compute_s: Seconds of computing.
        steps: The last steps, in the order of time.
    """

    messages: int
    message_s: float
    alone_s: float
    computations: int
    compute_s: float
    steps: list[Step]


class StepTraffic(Record):
    """
    Communication of one kind.

    Attributes:
        parallelism: Which ranks work together: tensor, context, expert, pipeline or data.
        collective: What they do: allreduce, reduce-scatter, all-gather, all-to-all or send-recv.
        bytes: Bytes of all ranks together.
        in_flight_s: Seconds in which messages of it were under way to a rank, in the mean.
        exposed_s: Of these, seconds in which the rank did nothing and waited for them, in the mean.
    """

    parallelism: str
    collective: str
    bytes: int
    in_flight_s: float
    exposed_s: float


class StepTimes(Record):
    """
    Where the time of a training step went, in seconds of a rank in the mean: they add up to the makespan.

    Attributes:
        compute_s: Computing.
        exposed_s: Communication that computing waited for.
        bubble_s: Neither, as the pipeline fills and drains: the bubble.
        skew_s: Neither, as slower ranks are waited for: those with the busiest experts, or behind the busiest links.
        communication: Communication by parallelism and collective.
    """

    compute_s: float
    exposed_s: float
    bubble_s: float
    skew_s: float
    communication: list[StepTraffic]


class FlowResult(Record):
    """
    The results of a run. The names are the keys of the JSON.

    Attributes:
        makespan_s: The time at which the last task was done.
        ideal_s: What it cannot be less than on any network: see ``ideal``(crate::workload::ideal).
        flows: Messages that went through the network.
        local_messages: Messages between tasks of one terminal, which take no time.
        events: Instants at which something was complete.
        rate_changes: How often the rate of a class of flows was recomputed.
        most_classes: The most classes of flows under way at a time.
        bytes: Their bytes, as far as they arrived.
        completed: False if the run was stopped before its end.
        symbolic: How a regular collective was simulated without a list of its messages; nothing of others.
        coalesced_s: The seconds that steps of the critical path waited to be served together with others, as a part of
            their times. What such messages hold of their channels meanwhile, others lack: that comes on top.
        messages: How long messages took.
        channels: Channels by class: those between routers, and of terminals those that have a limit.
        busiest: The busiest channels.
        timeline: Use over time.
        critical_path: What the makespan consists of: from the last thing that was done back to the start.
        step: Where the time of a training step went.
        config: The options.
    """

    makespan_s: float
    ideal_s: float
    flows: int
    local_messages: int
    events: int
    rate_changes: int
    most_classes: int
    bytes: int
    completed: bool
    symbolic: Symbolic | None
    coalesced_s: float
    messages: MessageTimes | None
    channels: list[ChannelUse]
    busiest: list[BusyChannel]
    timeline: Timeline
    critical_path: CriticalPath
    step: StepTimes | None
    config: FlowConfig


class GraphFormat(Record):
    """
    The format of a second file, which has the graph.

    Attributes:
        name: Its name.
        ending: How its files end, without the dot.
    """

    name: str
    ending: str


class FormatDescription(Record):
    """
    A file format.

    Attributes:
        name: Its name, as ``format=`` and ``--format`` take it.
        summary: What it is, in a line.
        endings: The endings of file names that select it, without the dot.
        read: Whether it is read.
        write: Whether it is written.
        beside: The format of a second file that it refers to, which has the graph.
    """

    name: str
    summary: str
    endings: list[str]
    read: bool
    write: bool
    beside: GraphFormat | None


class HostDescription(Record):
    """
    What the ports of a fabric can be attached to.

    Attributes:
        name: The name in specs.
        summary: What it is, in a line.
        source: Where its numbers are from.
        assumptions: Assumptions without a source.
        accelerators: Accelerators or sockets: its terminals.
        switches: Switches within it.
        interface_gbps: The rate of each network interface in one direction, in Gb/s; ``None`` of one that has the rate
            of its port.
    """

    name: str
    summary: str
    source: str
    assumptions: list[str]
    accelerators: int
    switches: int
    interface_gbps: list[float | None]


class Item(Record):
    """
    A line of the bill: things that are alike.

    Attributes:
        part: What sort of thing it is.
        item: What it is, in words.
        ports: Of a router: its ports in use, with those of terminals.
        kind: Of a cable: its kind, if the list prices cables.
        class_: Of a cable: the class of its link.
        length_m: Of a cable: the length that is bought.
        count: How many.
        total_m: Of cables: metres of all.
        unit_usd: What each costs; ``None`` if the list does not give it.
        cost_usd: What all cost.
        power_w: What all draw.
    """

    part: Literal["router", "cable", "interface", "cabinet"]
    item: str
    ports: int | None
    kind: str | None
    class_: Literal["terminal", "local", "global", "up", "internal", "nic"] | None
    length_m: float | None
    count: int
    total_m: float | None
    unit_usd: float | None
    cost_usd: float | None
    power_w: float


class LayoutDescription(Record):
    """
    A layout that has a name.

    Attributes:
        name: Its name.
        summary: What it is about, in a line.
        stands_for: The keys that it stands for.
        source: Where its numbers are from.
        keys_: The keys that it takes.
    """

    name: str
    summary: str
    stands_for: str
    source: str
    keys_: list[KeyDescription]


class ScaleDescription(Record):
    """
    A key that scales a machine.

    Attributes:
        key: The key.
        whole: What the whole machine has, as specs write it.
        doc: What it counts.
    """

    key: str
    whole: str
    doc: str


class FigureDescription(Record):
    """
    A figure of a machine.

    Attributes:
        fact: What it is a number of.
        value: The number.
        tolerance: How far the machine as it is built may be from it, in parts of it.
        source: Where it was published; ``None`` of an assumption.
    """

    fact: str
    value: float
    tolerance: float
    source: str | None


class MachineDescription(Record):
    """
    A machine that exists.

    Attributes:
        name: The name in specs.
        summary: What it is, in a line.
        source: Where most of it is published.
        example: The spec that builds the whole machine.
        stands_for: The spec that it stands for.
        scaled: The spec of a form of 256 to 1,024 terminals.
        routing: The routing that it runs.
        endpoint: What sending and receiving costs, where that was published.
        assumptions: Assumptions without a source.
        scale: The keys that it is scaled by.
        figures: Its figures.
    """

    name: str
    summary: str
    source: str
    example: str
    stands_for: str
    scaled: str
    routing: str
    endpoint: str | None
    assumptions: list[str]
    scale: list[ScaleDescription]
    figures: list[FigureDescription]


class MappingDescription(Record):
    """
    A mapping of tasks to terminals, or what gives jobs their terminals.

    Attributes:
        name: The name that users type.
        summary: Where tasks go, in a line.
        keys_: The keys that it takes.
    """

    name: str
    summary: str
    keys_: list[KeyDescription]


class PathDiversity(Record):
    """
    Numbers of shortest paths. The names are the keys of the JSON; pairs are ordered, of distinct routers.

    Attributes:
        shortest_paths_min: The fewest shortest paths of a pair that has any.
        shortest_paths_mean: The mean number of shortest paths, over pairs that have any; ``None`` also if counts passed
            128 bits.
        shortest_paths_max: The most shortest paths of a pair; ``None`` also if counts passed 128 bits.
        shortest_paths_overflow: True if counts passed 128 bits.
        multipath_share: Pairs with more than one shortest path over all pairs.
        multipath_share_intra: Those of them in one group, over all pairs; ``None`` if the network has no groups.
        multipath_share_inter: Those of them in different groups, over all pairs.
    """

    shortest_paths_min: int | None
    shortest_paths_mean: float | None
    shortest_paths_max: int | None
    shortest_paths_overflow: bool
    multipath_share: float | None
    multipath_share_intra: float | None
    multipath_share_inter: float | None


class PermutationSummary(Record):
    """
    What the permutation of a cabling list came to. The names are keys of the JSON.

    Attributes:
        file: The file of the list.
        method: The method.
        seed: The seed.
        swappable: The probability that a pair of cables may exchange ends.
        keep: What a search kept beside cables, if anything was asked for.
        switches: Switches of the list.
        cables: Cables between switches.
        cabinets: Cabinets.
        best_trial: The number of the random trial that was taken, from 0.
        trials: All random trials.
        searched: What a search did behind them.
        notes: What was noticed when the list was read.
        moves: Steps of the plan.
        moved_ends: Ends of cables that are plugged in elsewhere afterwards.
        left_out: Ends that stay because the network would fall apart while they are moved.
        before: Distances before.
        after: Distances behind the last step of the plan.
    """

    file: str
    method: str
    seed: int
    swappable: float
    keep: str | None
    switches: int
    cables: int
    cabinets: int
    best_trial: int
    trials: list[Trial]
    searched: SearchRecord | None
    notes: list[str]
    moves: int
    moved_ends: int
    left_out: int
    before: DistanceSummary
    after: DistanceSummary


class Deadlock(Record):
    """
    Packets that wait for each other.

    Attributes:
        cycle: The cycle in which it was found.
        routers: Routers that hold packets which can never move.
        circle: Routers of one circle of waiting.
        flits: Flits that can never move.
    """

    cycle: int
    routers: list[int]
    circle: list[int]
    flits: int


class Point(Record):
    """
    One point of a latency-load curve.

    Attributes:
        offered: Load asked for, in flits per active terminal per cycle.
        accepted: Flits that arrived within the window, per active terminal per cycle.
        latency_cycles: Mean latency from creation to the tail's arrival, in cycles; ``None`` if no packet arrived.
        latency_ci95: Half the width of its 95 % confidence interval; ``None`` if there are too few batches.
        network_latency_cycles: Mean latency from the head's leaving the terminal, in cycles.
        flit_latency_cycles: Mean latency of flits, from their packet's creation to their own arrival: that of cells.
        p50: Median latency.
        p99: 99th percentile of the latency.
        hops: Mean number of routers visited.
        hop_counts: Packets by the routers that they visited, from 0 on; 31 stands for all that are more.
        converged: True if the run was long enough: a narrow interval, or a fixed length that drained.
        saturated: True if the network does not carry the load.
        deadlocked: True if packets can never move again.
        deadlock: Where.
        interrupted: True if the run was cancelled before its end.
        cycles: Cycles simulated, warm-up and drain included.
        warmup_cycles: Cycles before the window.
        measured_cycles: Cycles of the window.
        packets: Packets created within the window that arrived.
        active_terminals: Terminals that send.
        flit_hops: Flits through routers over all cycles.
        makespan_cycles: Cycles until the last packet of a trace has arrived; ``None`` without a trace, or if some did
            not arrive.
        link_utilisation_max: Share of the window in which the busiest link between routers sent a flit.
        link_utilisation_mean: The same, averaged over both directions of all links between routers.
        wall_s: Seconds on the clock.
        cpu_s: Seconds of processor time.
        peak_rss_bytes: The largest memory of the process so far, in bytes; 0 where the system does not report it.
    """

    offered: float
    accepted: float
    latency_cycles: float | None
    latency_ci95: float | None
    network_latency_cycles: float | None
    flit_latency_cycles: float | None
    p50: int | None
    p99: int | None
    hops: float | None
    hop_counts: list[int]
    converged: bool
    saturated: bool
    deadlocked: bool
    deadlock: Deadlock | None
    interrupted: bool
    cycles: int
    warmup_cycles: int
    measured_cycles: int
    packets: int
    active_terminals: int
    flit_hops: int
    makespan_cycles: int | None
    link_utilisation_max: float
    link_utilisation_mean: float
    wall_s: float
    cpu_s: float
    peak_rss_bytes: int


class RouterPrice(Record):
    """
    What a router costs and draws: a line in k.

    Attributes:
        usd: Each router. It may be below zero, as the constant of a fitted line, if ports cost something.
        usd_per_port: Each port in use.
        w: Each router draws this …
        w_per_port: … and this for each port in use.
    """

    usd: float
    usd_per_port: float
    w: float
    w_per_port: float


class SwitchPrice(Record):
    """
    A switch that is sold: it costs and draws the same whatever part of its ports is used.

    Attributes:
        model: What it is, such as a model.
        ports: Its ports, those of terminals included.
        usd: Each switch.
        w: Each switch draws this, without active cables.
    """

    model: str
    ports: int
    usd: float
    w: float


class NicPrice(Record):
    """
    What the network interface of a terminal costs and draws.

    Attributes:
        usd: Each interface.
        w: What it draws.
    """

    usd: float
    w: float


class CableKind(Record):
    """
    A kind of cable. A cable of x metres costs usd + usd_per_m x + port_gbps (usd_per_gbps + usd_per_gbps_m x).

    Attributes:
        kind: Its name, such as ``copper``.
        place: Where it may be laid.
        copper: True of cables that carry electric signals: a layout can ask for these up to a length, and for others
            beyond.
        reach_m: The longest that there is, in metres; none: as long as need be.
        lengths_m: The lengths that are sold, in metres; empty: every length. A cable is bought in the shortest that
            will do.
        usd: Each cable.
        usd_per_m: Each metre.
        usd_per_gbps: Each Gb/s.
        usd_per_gbps_m: Each Gb/s and metre.
        w: What an active cable draws, both ends together.
    """

    kind: str
    place: Literal["any", "cabinet", "floor"]
    copper: bool | None
    reach_m: float | None
    lengths_m: list[float] | None
    usd: float
    usd_per_m: float
    usd_per_gbps: float
    usd_per_gbps_m: float
    w: float


class EnergyPrice(Record):
    """
    What electricity costs over the years that a network runs.

    Attributes:
        usd_per_kwh: Each kWh.
        pue: Power of the site over that of the equipment (power usage effectiveness), 1 at least.
        years: Years of operation.
    """

    usd_per_kwh: float
    pue: float
    years: float


class PriceFigure(Record):
    """
    Where a figure of a price list is from.

    Attributes:
        of: What it is of: ``switch of 64 ports``, ``nic``, ``energy``, or a kind of cable.
        key: Its key there, such as ``usd`` or ``w``.
        date: When it held: a year, or a year and a month.
        source: The public source; of an assumption, what it rests on.
        assumed: True if no public source gives it.
    """

    of: str
    key: str
    date: str
    source: str
    assumed: bool


class PriceList(Record):
    """
    What routers, network interfaces and cables cost and draw. k is the number of ports of a router that are in use,
    terminals included. What a list leaves out is free and draws nothing.

    Attributes:
        name: Its name.
        summary: What it is about, in a line.
        source: Where the prices are from.
        port_gbps: The bandwidth of a port, which prices per Gb/s are multiplied by.
        router: Routers, priced by a line in k; nothing where ``switches`` are listed.
        switches: The switches that are sold. A router is the cheapest one with at least k ports, bought whole.
        board: Routers that share a board with the one terminal that they have; nothing: as any other router.
        nic: Network interfaces, one per terminal.
        cables: The kinds of cable that there are. The cheapest that reaches is taken. None: cables are measured, not
            priced.
        energy: What electricity costs; nothing: energy is not priced.
        figures: Where each figure is from.
    """

    name: str
    summary: str
    source: str
    port_gbps: float
    router: RouterPrice | None
    switches: list[SwitchPrice] | None
    board: RouterPrice | None
    nic: NicPrice
    cables: list[CableKind]
    energy: EnergyPrice | None
    figures: list[PriceFigure] | None


class CycleHop(Record):
    """
    One channel of a cycle.

    Attributes:
        from_: The router that sends.
        to: The router that receives.
        port: The output of the sender.
        vc_class: The VC class.
        link: The class of the link.
    """

    from_: int
    to: int
    port: int
    vc_class: int
    link: Literal["terminal", "local", "global", "up", "internal", "nic"]


class Proof(Record):
    """
    What ``topoloom verify`` prints.

    Attributes:
        spec: The network.
        routing: The routing.
        deadlock_free: True if no deadlock is possible.
        method: How that was shown.
        channels: Nodes of the graph that some packet uses: (channel, VC class).
        dependencies: Edges of the graph.
        states_without_escape: States of packets, with their routers and destinations, in which no escape channel can be
            taken; 0 for routings without escape channels.
        vcs_needed: VC classes, hence the least number of VCs.
        cycle: A shortest cycle that was found, channel by channel; empty if there is none.
        unserved_pairs: Pairs of routers with terminals between which some packet could get stuck or never arrive.
        unserved_examples: The first of them, as (source router, destination router).
        note: What is to be known of how the routing runs on this network, if anything.
    """

    spec: str
    routing: str
    deadlock_free: bool
    method: str
    channels: int
    dependencies: int
    states_without_escape: int
    vcs_needed: int
    cycle: list[CycleHop]
    unserved_pairs: int
    unserved_examples: list[list[int]]
    note: str | None


class RackNumbers(Record):
    """
    The numbers of the rule ``rack``. Lengths are in metres.

    Attributes:
        units: Rack units of a rack.
        kw: kW that a rack powers and cools.
        router_units: Rack units of a router.
        node_units: Rack units of a node.
        router_kw: kW of a router.
        node_kw: kW of a node.
        max_routers: Routers of a rack at most.
        max_nodes: Nodes of a rack at most.
        width_m: From a rack to the next one in its row.
        depth_m: From a row to the next one.
        aisles_m: Aisles behind even and behind odd rows.
        overhead_m: What a cable between racks needs beside the distance.
        inside_m: A cable within a rack.
        terminal_m: A cable to a terminal; ``None`` where these are left out.
        rows: Rows of racks.
        columns: Racks of a row.
    """

    units: int
    kw: float
    router_units: int
    node_units: float
    router_kw: float
    node_kw: float
    max_routers: int | None
    max_nodes: int | None
    width_m: float
    depth_m: float
    aisles_m: list[float]
    overhead_m: float
    inside_m: float
    terminal_m: float | None
    rows: int | None
    columns: int | None


class ReplayedJob(Record):
    """
    How a job went.

    Attributes:
        name: What the accounting calls it.
        app: What it repeats.
        nodes: Its nodes.
        tasks: Its tasks, one on each terminal of its nodes.
        submit_s: When it was submitted, in seconds.
        start_s: When it began.
        end_s: When it ended.
        wait_s: How long it waited for its nodes once it could begin.
        collectives: How often it communicated.
        collective_s: Seconds of one collective alone.
        alone_s: Seconds that all of it takes alone.
    """

    name: str
    app: str
    nodes: int
    tasks: int
    submit_s: float
    start_s: float
    end_s: float
    wait_s: float
    collectives: int
    collective_s: float
    alone_s: float


class ReplayedChannel(Record):
    """
    A busy channel, with the jobs that put the most bytes on it.

    Attributes:
        channel: The channel.
        jobs: The positions of jobs, with the part of its bytes that each has put there.
        users: How many jobs used it.
    """

    channel: BusyChannel
    jobs: list[list[int | float]]
    users: int


class Replay(Record):
    """
    How a machine's jobs went.

    Attributes:
        jobs: The jobs that were done, in the order in which they could begin.
        collectives: Collectives of all jobs.
        makespan_s: When the last job was done, in seconds.
        occupied: The part of the time of all nodes, from the first start to the last end, in which they had a job.
        channels: The channels that carried the most, each in parts of what it can carry in that time.
        completed: Whether all jobs were done.
    """

    jobs: list[ReplayedJob]
    collectives: int
    makespan_s: float
    occupied: float
    channels: list[ReplayedChannel]
    completed: bool


class Survivable(Record):
    """
    The rule of FleX's Table 5: the largest step of 5 % at which more than half of the trials are connected. These
    trials are also connected at all smaller fractions.

    Attributes:
        fraction: That step; ``None`` if not even a network without failures is connected.
        survive: The share of trials that survive it.
        survive_ci95: The 95 % interval of that share.
        next_fraction: The next step; ``None`` behind 100 %.
        next_survive: The share of trials that survive the next step.
        next_survive_ci95: The 95 % interval of that share.
    """

    fraction: float | None
    survive: float | None
    survive_ci95: list[float] | None
    next_fraction: float | None
    next_survive: float | None
    next_survive_ci95: list[float] | None


class Critical(Record):
    """
    Critical fractions: of a trial, the largest failed fraction up to which it stays connected.

    Attributes:
        median: The median over the trials (of an even number, the mean of the middle two).
        median_ci95: The 95 % interval of the median, by order statistics.
        least: The smallest.
        most: The largest.
        fractions: One a trial, in the order of the trials.
    """

    median: float
    median_ci95: list[float]
    least: float
    most: float
    fractions: list[float]


class Estimate(Record):
    """
    A mean over trials.

    Attributes:
        mean: The mean.
        ci95: Half the width of its 95 % interval (Student's t); ``None`` of a single trial.
        least: The smallest.
        most: The largest.
        trials: The trials it is taken over.
    """

    mean: float
    ci95: float | None
    least: float
    most: float
    trials: int


class SweepPoint(Record):
    """
    The state of the trials at one failed fraction. Components are those of the surviving routers.

    Attributes:
        fraction: The fraction that was asked for.
        failed: The number of failures that it means.
        connected: The share of trials in which paths join all surviving routers.
        connected_ci95: Its 95 % interval (Wilson).
        largest_component: Routers of the largest component over all routers, failed ones included.
        router_pairs: Pairs of routers that a path still joins over all pairs, failed routers included; ``None`` below
            two routers.
        terminal_pairs: The same for terminals; those of failed routers are lost. ``None`` below two terminals.
        diameter: The diameter of the trials that are connected; ``None`` if none is, or if distances were not asked
            for.
        average_distance: Their mean distance over pairs of distinct surviving routers; trials with one router left have
            none.
        largest_diameter: The diameter of the largest component, of all trials.
        largest_average_distance: The mean distance within the largest component, of all trials where it has two routers
            or more.
    """

    fraction: float
    failed: int
    connected: float
    connected_ci95: list[float]
    largest_component: Estimate
    router_pairs: Estimate | None
    terminal_pairs: Estimate | None
    diameter: Estimate | None
    average_distance: Estimate | None
    largest_diameter: Estimate | None
    largest_average_distance: Estimate | None


class Resilience(Record):
    """
    What failures leave of a network.

    Attributes:
        spec: The spec of the network.
        kind: What fails.
        links: Links between routers, without failures.
        routers: Routers, without failures.
        terminals: Terminals, without failures.
        trials: Random orders of failure.
        seed: Their seed.
        survivable: The largest survivable fraction, by steps of 5 %.
        critical: The exact fractions at which the trials fall apart; ``None`` if some are in parts without any failure.
        points: The failed fractions that were asked for.
    """

    spec: str
    kind: Literal["links", "routers"]
    links: int
    routers: int
    terminals: int
    trials: int
    seed: int
    survivable: Survivable
    critical: Critical | None
    points: list[SweepPoint]


class RouteLengths(Record):
    """
    Lengths of paths in links between routers. The names are the keys of the JSON.

    Attributes:
        average_hops: The mean, over ordered pairs of distinct terminals.
        longest: The largest.
        histogram: Ordered pairs of distinct terminals by length, from 0 on.
    """

    average_hops: float
    longest: int
    histogram: list[int]


class RouterDescription(Record):
    """
    A router model.

    Attributes:
        name: The name that users type.
        summary: What it is, in a line.
        source: Where it was published.
        cycle_ns: Nanoseconds of a cycle, where its times are those of a machine.
        preset: What goes with it: options that are not as usual where it is asked for, unless they are given.
    """

    name: str
    summary: str
    source: str
    cycle_ns: float | None
    preset: dict[str, Any]


class RoutingDescription(Record):
    """
    A routing.

    Attributes:
        name: The name that users type.
        summary: What it does, in a line.
        networks: The networks that offer it.
        classes: The VC classes that it needs.
        adapts: Whether it decides by congestion; ``None`` where that depends on the file that it is read from.
        keys_: The keys that it takes.
    """

    name: str
    summary: str
    networks: str
    classes: str
    adapts: bool | None
    keys_: list[KeyDescription]


class RouterChannel(Record):
    """
    A channel between routers.

    Attributes:
        from_: The router that sends.
        port: Its output, counted within the router.
        to: The router that receives.
    """

    from_: int
    port: int
    to: int


class SaturationBound(Record):
    """
    An offered load that a network cannot carry more than. The names are the keys of the JSON.

    Attributes:
        saturation_bound: Flits per active terminal per cycle; more than 1 if the terminals' own links saturate last, as
            they can offer 1.
        saturation_bound_is: What it rests on.
        max_channel_load: The largest load of a channel between routers; 0 if there is none.
        mean_channel_load: The mean load of the channels between routers.
        channels: Channels between routers: two per link.
        busiest: The most loaded channel: the router that sends, its output, the router that receives.
        max_terminal_load: The largest load of a channel from or to a terminal.
    """

    saturation_bound: float
    saturation_bound_is: Literal["expected-load", "distance"]
    max_channel_load: float | None
    mean_channel_load: float | None
    channels: int | None
    busiest: RouterChannel | None
    max_terminal_load: float | None


class Shape(Record):
    """
    What a drawing asks of a family.

    Attributes:
        grid: The sides of the grid of routers, where they have coordinates.
        group_size: Routers of a group, where they come in groups of consecutive ids.
        blocks: Routers of a column, columns of a block, and blocks, where the family is best drawn so.
        levels: The level of each router, 0 for the leaves, of a tree.
    """

    grid: list[int] | None
    group_size: int | None
    blocks: list[int] | None
    levels: list[int] | None


class SplitBound(Record):
    """
    Offered loads, in flits per active terminal per cycle. The names are the keys of the JSON.

    Attributes:
        split_bound: What is carried with the best share.
        minimal_share: That share: the part of every flow that takes minimal paths.
        distance_bound: What no routing carries more than, as no path is shorter than a shortest one.
    """

    split_bound: float
    minimal_share: float
    distance_bound: float


class StepFacts(Record):
    """
    What is known of a training step before it runs. The names are the keys of the JSON.

    Attributes:
        shape: How it is spread over ranks, as users write it.
        source: Where the sizes of its model are from, of a preset.
        tokens: Tokens.
        flops: Operations of the model for them: 6 for each weight and token, and those of attention. What is computed
            again does not count.
        tflops: 10^12 operations per second of a rank that computes.
        peak_tflops: The same at most: what model FLOPs utilisation is a part of.
        state_bytes: Bytes of weights, gradients and the optimizer's numbers of the rank that has most.
    """

    shape: str
    source: str | None
    tokens: float
    flops: float
    tflops: float
    peak_tflops: float
    state_bytes: float


class SynthesisedNetwork(Record):
    """
    A network that was found. The names are keys of the JSON.

    Attributes:
        spec: Its spec.
        average_distance: Links between two routers, on average over all pairs.
        diameter: The most links between two routers.
        max_channel_load: The largest load of a channel between routers under uniform traffic of one terminal per
            router, in flits per cycle at load 1, if any minimal next hop is equally likely (``min``, ``min-updown``).
        uniform_bound: The load that these channels and the terminals' links carry at most, in flits per terminal per
            cycle.
    """

    spec: str
    average_distance: float
    diameter: int
    max_channel_load: float
    uniform_bound: float


class Synthesis(Record):
    """
    What a search found. The names are keys of the JSON.

    Attributes:
        routers: Routers.
        degree: Links of a router.
        seed: The seed of the search.
        best: The best Cayley graph.
        torus: The best torus with twists; none where the degree or the number of routers has none.
        least_average_distance: The average distance that no graph of this many routers of this degree is below (Moore).
        least_torus_distance: The average distance that no torus is below, whatever its sides and twists.
        most_torus_bound: The uniform bound that no torus is above, whatever its sides and twists.
        graphs: The Cayley graphs that were compared.
        tori: The tori that were compared.
    """

    routers: int
    degree: int
    seed: int
    best: SynthesisedNetwork
    torus: SynthesisedNetwork | None
    least_average_distance: float
    least_torus_distance: float
    most_torus_bound: float
    graphs: int
    tori: int


class TrafficDescription(Record):
    """
    A traffic pattern.

    Attributes:
        name: The name that users type.
        argument: The positional argument behind the name, such as FILE.
        summary: The destinations, in one line.
        keys_: The keys that it takes.
    """

    name: str
    argument: str | None
    summary: str
    keys_: list[KeyDescription]


class WorkloadResult(Record):
    """
    What came out of a workload.

    Attributes:
        makespan_s: Seconds from the start to the end of the last task; ``None`` if it did not come to its end.
        makespan_cycles: The same in cycles.
        ideal_s: What the makespan cannot be less than on any network: see ``ideal``.
        flows: Messages that arrived, but for those of tasks that begin again and again; so in all that follows.
        packets: Packets that arrived.
        events: Cycles simulated.
        message_mean_s: Mean seconds from when a message can be sent to its arrival.
        message_p99_s: Their 99th percentile.
        round_s: Mean seconds of a round, from when its first message can be sent until its last one has arrived.
        round_p99_s: Their 99th percentile.
        hops: Mean number of routers that a packet of any task visits.
        link_utilisation_max: Share of the makespan in which the busiest link between routers sent.
        link_utilisation_mean: The same, averaged over both directions of all links between routers.
        deadlocked: True if packets can never move again.
        interrupted: True if it was cancelled.
        flit_hops: Flits through routers.
        wall_s: Seconds on the clock.
        cpu_s: Seconds of processor time.
        peak_rss_bytes: The largest memory of the process so far, in bytes; 0 where the system does not report it.
    """

    makespan_s: float | None
    makespan_cycles: int | None
    ideal_s: float
    flows: int
    packets: int
    events: int
    message_mean_s: float | None
    message_p99_s: float | None
    round_s: float | None
    round_p99_s: float | None
    hops: float | None
    link_utilisation_max: float
    link_utilisation_mean: float
    deadlocked: bool
    interrupted: bool
    flit_hops: int
    wall_s: float
    cpu_s: float
    peak_rss_bytes: int
