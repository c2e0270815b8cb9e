"""The results of the engine. Generated from the crate by ``make generate``: do not edit."""

from typing import Literal

from topoloom.engine.records import Record


class Bisection(Record):
    """
    The best bisection that was found. The names are the keys of the JSON.

    Attributes:
        bisection_links: Links that it cuts.
        bisection_is: Whether that is the least.
        bisection_bound: A number of links that every balanced partition cuts, where one is known.
        bisection_ratio: Cut links over all links between routers.
        beta: Cut links over half the terminals.
    """

    bisection_links: int
    bisection_is: Literal["exact", "upper-bound"]
    bisection_bound: int | None
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
    is per terminal is null without terminals, and what cables cost is null if the list does not price them.

    Attributes:
        prices: The name of the price list.
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
        cables: Cables, those of terminals included.
        cable_m: Metres of cable, those of terminals included.
        terminal_cable_m: Metres of terminals' cables.
        cable_per_terminal_m: ``cable_m`` over the terminals.
        longest_cable_m: The longest cable between two routers.
        cable_kinds: The kinds of cable in use.
        layout_notes: Sentences on cabinets that are not full.
    """

    prices: str
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
    cables: int
    cable_m: float
    terminal_cable_m: float
    cable_per_terminal_m: float | None
    longest_cable_m: float
    cable_kinds: list[KindTotal]
    layout_notes: list[str]


class Trial(Record):
    """
    What one permutation came to. The names are keys of the JSON.

    Attributes:
        diameter: The largest distance between two vertices that a path joins.
        average_distance: The mean distance over ordered pairs of distinct vertices that a path joins.
        exchanged: Pairs that exchanged ends.
        refused: Pairs without four distinct vertices, with a parallel cable afterwards, or without a cabinet in common.
        disconnecting: Pairs that would have disconnected the network.
        fixed: Pairs that stayed because not all cables are swappable.
    """

    diameter: int
    average_distance: float
    exchanged: int
    refused: int
    disconnecting: int
    fixed: int


class Optimisation(Record):
    """
    What a search found. The names are keys of the JSON.

    Attributes:
        diameter: The largest distance between two vertices that a path joins.
        average_distance: The mean distance over ordered pairs of distinct vertices that a path joins.
        tried: Exchanges that were looked at.
        kept: Exchanges that were kept.
        disconnecting: Exchanges that were discarded because they would have disconnected the network.
        alike: So often each exchange was made at first: in all cabinets that look alike; 1 if none do.
        cable_m: Metres of cable of the base and afterwards, if only length is conserved.
    """

    diameter: int
    average_distance: float
    tried: int
    kept: int
    disconnecting: int
    alike: int
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


class Facts(Record):
    """
    The facts of a network that need no partitioner. The names are the keys of the JSON.

    Attributes:
        spec: The spec that built the network.
        family: Its family.
        source_sha256: The SHA-256 of the file or graph that the network comes from, if a spec alone does not tell what
            it is.
        notes: What was noticed when the network was read: parallel links, renumbered ids.
        permutation: How a permuted network came about.
        terminals: Terminals.
        routers: Routers.
        radix: The largest number of ports in use at a router, terminals included.
        network_radix: The largest number of ports to other routers.
        min_degree: The smallest number of ports to other routers.
        links: Links between routers, parallel ones each.
        terminal_links: Links between a router and a terminal.
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
        moore_ratio: Routers over the Moore bound for the network radix and the diameter.
        prices: The name of the price list.
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
        cables: Cables, those of terminals included.
        cable_m: Metres of cable, those of terminals included.
        terminal_cable_m: Metres of terminals' cables.
        cable_per_terminal_m: ``cable_m`` over the terminals.
        longest_cable_m: The longest cable between two routers.
        cable_kinds: The kinds of cable in use.
        layout_notes: Sentences on cabinets that are not full.
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
    prices: str
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
    cables: int
    cable_m: float
    terminal_cable_m: float
    cable_per_terminal_m: float | None
    longest_cable_m: float
    cable_kinds: list[KindTotal]
    layout_notes: list[str]


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
        peak_rss_bytes: The largest memory of the process so far, in bytes; 0 where the system does not tell.
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
    link: Literal["terminal", "local", "global", "up", "internal"]


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


class Survivable(Record):
    """
    The rule of FleX's Table 5: the largest step of 5 % that more than half of the trials survive, connected at it and
    at all smaller fractions.

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
    Lengths of ways in links between routers. The names are the keys of the JSON.

    Attributes:
        average_hops: The mean, over ordered pairs of distinct terminals.
        longest: The largest.
        histogram: Ordered pairs of distinct terminals by length, from 0 on.
    """

    average_hops: float
    longest: int
    histogram: list[int]


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
        channels: Channels between routers: two a link.
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
