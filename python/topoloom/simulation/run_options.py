"""The options of the cycle engine. Generated from the crate by ``make generate``: do not edit."""

from typing import Literal

from pydantic import Field

from topoloom.simulation.option_types import U32, U64, CabinetRule, FilePath, Options


class LinkLatencies(Options):
    """
    Latency in cycles, by link class or by cabinets. A flit that is sent over a link of latency L in cycle s is at hand
    in s + L + 1.

    Attributes:
        terminal: Of links between a terminal and its router.
        local: Of links within a group, or of a family without a hierarchy.
        global_: Of links between groups.
        up: Of links of trees.
        internal: Of links between the routers of one node.
        nic: Of links between network interfaces of hosts and routers.
        inside: Of links between routers of one cabinet, whatever their class; None for their class's.
        between: Of links between routers of different cabinets, whatever their class; None for their class's.
        cabinet: Which routers share a cabinet, as a layout's ``cabinet`` states; None for the default layout's.
    """

    terminal: U32 = 1
    local: U32 = 1
    global_: U32 = Field(default=1, alias="global")
    up: U32 = 1
    internal: U32 = 1
    nic: U32 = 1
    inside: U32 | None = None
    between: U32 | None = None
    cabinet: CabinetRule | None = None


class RouterOptions(Options):
    """
    A router model and its options, as the engine lists them. Times are in cycles, sizes in flits.

    ``iq``: input-queued with virtual channels, timed like BookSim2's router. Source: Dally and Towles, Principles and
    Practices of Interconnection Networks (2004).

    ``vct``: the same under virtual cut-through, with the times of a switch of InfiniBand's days. Source: Fujiwara et
    al., Swap-and-randomize, section 6.1.

    ``extoll``: cards with virtual output queues, iSLIP, whole packets and traffic classes. Source: the papers on the
    twin torus and on EXTOLL cards.

    Attributes:
        model: The router model: iq, vct, extoll; what goes with it stands wherever an option is not given.
        vcs: Virtual channels per port; unless given, what the routing needs, twice that where its paths are of several
            kinds, and 4 at least.
        buffer: Flits that the buffer of one VC holds; unless given, 64, or, where links have rates, what keeps the one
            of the longest credit loop busy.
        buffers: How the buffers of a port are divided among its VCs: private, or shared:R, of which R flits are private
            to each VC (as many as the largest packet has, at least, where packets need room for all of it).
        flow: The flow control: wormhole, or vct for virtual cut-through.
        speedup: Internal steps of a router per cycle; 1.5 alternates one and two.
        routing_delay: Cycles of route computation; 0 looks ahead; unless given, 0, or 1 with model=extoll.
        vc_alloc_delay: Cycles of VC allocation.
        sw_alloc_delay: Cycles of switch allocation.
        credit_delay: Cycles that a router takes to process a credit.
        buffer_delay: Of ``extoll``: cycles to store a packet; unless given, 1.
        crossbar_delay: Of ``extoll``: cycles through the crossbar; unless given, 1.
        tcs: Of ``extoll``: traffic classes; unless given, 4.
        tc_vcs: Of ``extoll``: deterministic VCs of a traffic class; unless given, 2.
        adaptive_tcs: Of ``extoll``: traffic classes that have an adaptive VC as well, spread evenly among all; unless
            given, 2, or 1 if that is all.
        tc_use: Of ``extoll``: the traffic classes in which packets are sent: all, deterministic (without an adaptive
            VC), adaptive; unless given, adaptive with an adaptive routing, else all.
        allocator: The allocator of VCs and of the switch.
        iterations: Iterations of the allocator.
        priority: Which packets get VCs and the switch first: none, transit (packets from other routers before those of
            the router's own terminals), or age (packets created earlier); unless given, none.
    """

    model: Literal["iq", "vct", "extoll"] = "iq"
    vcs: U32 | None = None
    buffer: U32 | None = None
    buffers: str = "private"
    flow: Literal["wormhole", "vct"] = "wormhole"
    speedup: float = 2.0
    routing_delay: U32 | None = None
    vc_alloc_delay: U32 = 1
    sw_alloc_delay: U32 = 1
    credit_delay: U32 = 2
    buffer_delay: U32 | None = None
    crossbar_delay: U32 | None = None
    tcs: U32 | None = None
    tc_vcs: U32 | None = None
    adaptive_tcs: U32 | None = None
    tc_use: Literal["all", "deterministic", "adaptive"] | None = None
    allocator: Literal["separable-input-first", "islip", "wavefront"] = "separable-input-first"
    iterations: U32 = 1
    priority: Literal["none", "transit", "age"] | None = None


class RunOptions(RouterOptions):
    """
    Everything that a run depends on but network, routing, traffic and load.

    In JSON the model and its options are among the rest. Where a model is asked for, options that are not given are
    what goes with it, as in ``Config::of``.

    Attributes:
        links: Latency of a link by class, or by cabinets.
        packet: Flits of a packet: one size such as 4, any of a range such as 1-32, or sizes with weights such as
            4:0.8,16:0.2.
        injection: The injection process.
        rates: A CSV file of terminal,rate: how much each terminal sends beside the others; None if all send the same.
        warmup: Cycles before measurement; None to detect the end of warm-up.
        measure: Cycles of measurement; None to stop when the confidence interval is narrow enough.
        drain: At most this many cycles after a window of fixed length, until its packets have arrived; None for a few
            times its length. What the window accepts does not depend on it.
        latency_limit: Mean latency past which a network counts as saturated and its simulation ends early; None for no
            limit.
        precision: Half-width of the interval of the mean latency, relative to it, at which a simulation ends that has
            no fixed length.
        seed: The seed of every random choice.
        threads: Threads within one simulation.
        unsafe: Run a routing that can deadlock.
    """

    links: LinkLatencies = LinkLatencies()
    packet: U32 | str = 1
    injection: str = "bernoulli"
    rates: FilePath | None = None
    warmup: U64 | None = None
    measure: U64 | None = None
    drain: U64 | None = None
    latency_limit: float | None = None
    precision: float = 0.01
    seed: U64 = 1
    threads: U32 = 1
    unsafe: bool = False
