//! A domain: consecutive routers with their terminals, simulated by one thread.

use std::hint::black_box;
use std::ops::Range;
use std::sync::atomic::AtomicU32;

use super::Setup;
use super::channels::{Channels, FIRST, FlitEvent, Link, Outbox, SECOND, TERMINAL, Wheel, Wires};
use super::flit::{ARRIVED, Decision, ENTERS, FRESH, Flit, UNDECIDED};
use super::pace::Pace;
use super::router::{FreshHead, RouterModel};
use super::snapshot::Snapshot;
use super::stats::Stats;
use super::table::{Table, TableMaker};
use super::terminals::{Offer, Terminals};
use crate::memory::{Region, is_limited};
use crate::network::{Network, Peer, PortId, RouterId, TerminalId};
use crate::rng::Rng;
use crate::routing::{Again, Looks, OutputRow, PacketState, Routing, View};
use crate::traffic::Traffic;

/// How many events ahead memory is asked for: those between take about as long as it takes to come.
const AHEAD: usize = 24;
/// And that of a routing, for which the flit must have come.
const ROUTE_AHEAD: usize = 8;
/// How many packets start between two looks at which queues will be compared.
const START_AHEAD: usize = 128;

/// From this many bytes of a run on its tables are on large pages: those of all its domains, if each takes at least half of it, or
/// a domain's page would mostly be empty. Miri runs small networks only.
const MANY: u128 = if cfg!(miri) { 0 } else { 4 << 20 };

/// Which heads are routed: what is known of them when the engine is compiled. Any of them.
const ALL: u8 = 0;
/// Any of them, of a routing that may be asked about each at its destination as well.
const ALIKE: u8 = 1;
/// Those that come from terminals: all of them start. Where heads decide again they may do so at the front of their VC.
const ENTRIES: u8 = 2;
/// Those in transit that may decide at the front of their VC.
const FRONT: u8 = 3;
/// Those in transit that look at queues when they arrive.
const LOOKING: u8 = 4;
/// Those in transit that look at no queue, and come when nothing looks at queues any more.
const LAST: u8 = 5;

/// True if nothing is known of the heads of a set.
const fn is_any(set: u8) -> bool {
    matches!(set, ALL | ALIKE)
}

/// The events whose memory is asked for while those that are `BY` places ahead of them are taken in: none where all of it is
/// near.
struct Later<'a, T, const BY: usize> {
    events: &'a [T],
    /// How many they are.
    count: usize,
    /// The events that are behind none, for which memory is asked at once: where few events come, these are all.
    first: &'a [T],
}

impl<'a, T, const BY: usize> Later<'a, T, BY> {
    #[inline(always)]
    fn of(events: &'a [T], far: bool) -> Self {
        let first = if far { &events[..events.len().min(BY)] } else { &[] };
        // Else the compiler asks at each event whether it is near and whether there is a later one, instead of the latter alone.
        Self { events, count: black_box(if far { events.len().saturating_sub(BY) } else { 0 }), first }
    }

    /// The one behind the event at `place`.
    #[inline(always)]
    fn behind(&self, place: usize) -> Option<&'a T> {
        // SAFETY: the first `count` events have one that far behind them.
        (place < self.count).then(|| unsafe { self.events.get_unchecked(place + BY) })
    }

    /// Each event that has one behind it, with that one; and the others.
    #[inline(always)]
    fn pairs(&self) -> (impl Iterator<Item = (&'a T, &'a T)> + use<'a, T, BY>, &'a [T]) {
        let (with_later, last) = self.events.split_at(self.count);
        (with_later.iter().zip(&self.events[self.events.len() - self.count..]), last)
    }
}

/// The latency of all channels to terminals, if they have the same; `to` is where each leads, as [`ChannelEnd::to`](super::channels::ChannelEnd::to) has
/// it.
fn to_terminals(to: &[u32], links: &[Link]) -> Option<u32> {
    let mut latencies = to.iter().zip(links).filter(|(to, _)| *to & TERMINAL != 0).map(|(_, link)| link.latency);
    let first = latencies.next()?;
    latencies.all(|latency| latency == first).then_some(first)
}

/// True if the tables of a domain that takes `own` bytes of `all` of its run are on large pages. With a limit on addresses those that
/// a region does not use would be missed elsewhere; where it is not known how to ask for such pages they would be lost.
fn takes_large_pages(own: u128, all: u128, limited: bool) -> bool {
    cfg!(target_os = "linux") && !limited && all >= MANY && own >= MANY / 2
}

/// Routes what arrives in a domain in a cycle. The one part of the engine that is compiled again for each routing;
/// called through a reference, but once a cycle only.
pub trait Arrivals<M>: Sync {
    /// Takes in the flits that arrive at routers in cycle `now`: from routers, at their second router if these are
    /// [apart](Wires::flits), and from terminals if they are.
    fn take_in(&self, domain: &mut Domain<M>, events: [&[FlitEvent]; 3], now: u32, shared: &RunContext<'_, M>);

    /// Cycles between two snapshots that the routing asks for, or 0.
    fn snapshot_period(&self) -> u32;
    /// What it counts packets for, as [`Routing::wants`].
    fn wants(&self) -> u32;
}

impl<M: RouterModel, R: Routing> Arrivals<M> for R {
    fn take_in(
        &self,
        domain: &mut Domain<M>,
        [arrivals, seconds, entries]: [&[FlitEvent]; 3],
        now: u32,
        shared: &RunContext<'_, M>,
    ) {
        let again = self.decides_again();
        let rules = Rules { seed: shared.seed, all_vcs: shared.all_vcs, rings: self.keeps_bubbles() };
        if !M::MAY_DEFER {
            if self.answers_at_destination(true) && self.answers_at_destination(false) {
                return domain.arrive::<R, ALIKE>(self, [arrivals; 2], now, &shared.snapshot, rules);
            }
            domain.arrive::<R, ALL>(self, [arrivals; 2], now, &shared.snapshot, rules);
        } else {
            let in_flight = domain.model.defers_in_flight();
            let looks = match self.looks_in_transit() {
                // Those at their second router are among the others.
                Looks::AtSecond if domain.channels.wires.second == FIRST => Looks::Everywhere,
                looks => looks,
            };
            debug_assert!(looks == Looks::AtSecond || seconds.is_empty(), "`Setup::serve` knows");
            // Those that may look at queues.
            let looking = if looks == Looks::AtSecond { seconds } else { arrivals };
            // Those that add to queues and do not look at them come last.
            let last = looks == Looks::AtSecond || looks == Looks::Nowhere && !in_flight;
            if in_flight {
                domain.arrive_apart::<R, FRONT>(self, looking, now, &shared.snapshot, rules);
            } else if looks != Looks::Nowhere {
                domain.arrive_apart::<R, LOOKING>(self, looking, now, &shared.snapshot, rules);
            }
            domain.arrive_apart::<R, ENTRIES>(self, entries, now, &shared.snapshot, rules);
            if last {
                domain.arrive::<R, LAST>(self, [arrivals; 2], now, &shared.snapshot, rules);
            }
        }
        if again != Again::Never {
            domain.model.settle_queues();
            domain.decide_again(self, now, &shared.snapshot, rules);
        }
    }

    fn snapshot_period(&self) -> u32 {
        Routing::snapshot_period(self)
    }

    fn wants(&self) -> u32 {
        Routing::wants(self)
    }
}

/// What all domains read.
pub struct RunContext<'a, M> {
    /// The routing.
    pub routing: &'a dyn Arrivals<M>,
    /// What terminals send.
    pub offer: Offer<'a>,
    /// Router and output of each terminal.
    pub targets: Vec<(u32, u16)>,
    /// The first routers of the domains, and behind them the number of routers.
    pub bounds: Vec<u32>,
    /// The seed.
    pub seed: u64,
    /// The class index that stands for all VCs.
    pub all_vcs: u8,
    /// What routings may know about the whole network.
    pub snapshot: Snapshot,
}

/// What decisions read of a run. Held apart from what they change, it need not be read again for each of them; and a head
/// that draws nothing does not begin a random stream.
#[derive(Debug, Clone, Copy)]
struct Rules {
    seed: u64,
    /// See [`RunContext::all_vcs`].
    all_vcs: u8,
    /// Rings keep bubbles: [`Routing::keeps_bubbles`].
    rings: bool,
}

impl Rules {
    /// Those of a routing, in a function that is compiled for it: what follows from its type need not be read.
    #[inline(always)]
    fn of<R: Routing>(self, routing: &R) -> Self {
        Self { rings: routing.keeps_bubbles(), ..self }
    }
}

/// The routers `first..first + n` with all that arrives at them. Aligned so that threads share no cache line.
#[repr(align(128))]
pub struct Domain<M> {
    /// The first router.
    pub first_router: u32,
    /// The first port.
    pub first_port: u32,
    /// First port of each router in the domain's numbering.
    first_ports: Table<u32>,
    /// The routers' buffers and arbitration.
    pub model: M,
    /// The channels.
    pub channels: Channels,
    /// The sources.
    pub terminals: Terminals,
    /// By port: what is added to the number of its VCs for those of its terminal, if it has one.
    terminal_at: Table<u32>,
    /// The counts.
    pub stats: Stats,
    /// The first VC, in the numbering of the network.
    first_vc: u32,
    /// Cycles from sending a flit to its being at a terminal, if they are as many at all: their ports need not be looked at.
    to_terminals: Option<u32>,
    /// Empty between cycles.
    undecided: UndecidedHeads,
}

/// The heads that decide at the same time, as [`RouterModel::undecided`] has them, and what they decide.
#[derive(Debug, Default)]
struct UndecidedHeads {
    fresh: Vec<FreshHead>,
    waiting: Vec<(u32, u32)>,
    decisions: Vec<Decision>,
}

/// What a packet has decided for that has not decided yet.
const NOWHERE: (u32, u8) = (u32::MAX, u8::MAX);

/// The state of one router, for its routing. As little as there can be: it is made for each decision, and few look at all.
struct RouterView<'a, M, const SET: u8> {
    domain: &'a Domain<M>,
    first_port: u32,
    /// The head of the packet at hand, and the input VC it came by.
    head: &'a Flit,
    vc: u32,
    snapshot: &'a Snapshot,
    /// The output and class that the packet at hand has decided for before, if it decides again; else [`NOWHERE`].
    decided: (u32, u8),
}

impl<M, const SET: u8> RouterView<'_, M, SET> {
    /// The flits of the packet at hand, if an output is its `own`; else none.
    #[inline(always)]
    fn of_own(&self, own: bool) -> u32 {
        if is_any(SET) && own { self.head.size() } else { 0 }
    }
}

impl<M: RouterModel, const SET: u8> View for RouterView<'_, M, SET> {
    #[inline(always)]
    fn copy(&self) -> Self {
        Self { ..*self }
    }

    #[inline(always)]
    fn occupancy(&self, port: u32) -> u32 {
        self.domain.model.occupancy(self.first_port + port)
    }

    #[inline(always)]
    fn queue(&self, port: u32) -> u32 {
        self.domain.model.queue(self.first_port + port) - self.of_own(self.decided.0 == port)
    }

    #[inline(always)]
    fn shortest_queue(&self, outputs: &OutputRow) -> Option<u32> {
        let Some(queues) = self.domain.model.queues(self.first_port + outputs.first, outputs.count) else {
            return outputs.shortest((0..outputs.count).map(|place| self.queue(outputs.first + place)));
        };
        let own = self.decided.0.wrapping_sub(outputs.first);
        outputs.shortest((0..).zip(queues).map(|(place, queue)| queue - self.of_own(place == own)))
    }

    #[inline(always)]
    fn backlog(&self, port: u32) -> u32 {
        // The port is what a routing asks for: `queue` checks it, `in_flight` does not.
        let queue = self.queue(port);
        let in_flight = self.domain.channels.in_flight[(self.first_port + port) as usize];
        queue - self.occupancy(port).min(in_flight)
    }

    #[inline(always)]
    fn queue_of(&self, port: u32, class: u8) -> u32 {
        self.domain.model.queue_of(self.first_port + port, class) - self.of_own(self.decided == (port, class))
    }

    #[inline(always)]
    fn published(&self, port: PortId) -> u32 {
        self.snapshot.occupancy(port)
    }

    #[inline(always)]
    fn published_backlog(&self, port: PortId) -> u32 {
        self.snapshot.backlog(port)
    }

    #[inline(always)]
    fn published_mean(&self, set: PortId, outputs: &mut dyn Iterator<Item = PortId>) -> u32 {
        self.snapshot.mean(set, outputs.map(|port| self.published_backlog(port)))
    }

    #[inline(always)]
    fn published_sum(&self, set: PortId, outputs: &mut dyn Iterator<Item = PortId>) -> u32 {
        self.snapshot.sum(set, outputs.map(|port| self.published_backlog(port)))
    }

    #[inline(always)]
    fn want(&self, what: u32) {
        self.snapshot.want(what);
    }

    #[inline(always)]
    fn wanted(&self, what: u32) -> u32 {
        self.snapshot.wanted(what)
    }

    #[inline(always)]
    fn wanted_by_all(&self, set: Range<u32>) -> u32 {
        self.snapshot.wanted_by_all(set)
    }

    #[inline(always)]
    fn published_table(&self) -> Option<&[AtomicU32]> {
        Some(self.snapshot.table())
    }

    #[inline(always)]
    fn interval(&self) -> u32 {
        self.snapshot.interval()
    }

    #[inline(always)]
    fn sent_before(&self, source: RouterId, new: bool) -> u32 {
        self.snapshot.sent_before(source, new)
    }

    #[inline(always)]
    fn decides_again(&self) -> bool {
        // What arrives has not.
        is_any(SET) && self.decided != NOWHERE
    }

    #[inline(always)]
    fn is_blind(&self) -> bool {
        SET == LAST
    }

    #[inline(always)]
    fn arrived_by(&self) -> u32 {
        self.domain.model.port_of(self.vc) - self.first_port
    }

    #[inline(always)]
    fn leaves_by(&self) -> u32 {
        self.head.eject.into()
    }

    #[inline(always)]
    fn free_vcs(&self, port: u32, class: u8) -> u32 {
        self.domain.model.free_vcs(self.first_port + port, class, self.head.size(), self.vc)
    }

    #[inline(always)]
    fn has_free_vc(&self, port: u32, class: u8) -> bool {
        self.domain.model.has_free_vc(self.first_port + port, class, self.head.size(), self.vc)
    }

    #[inline(always)]
    fn buffer(&self, class: u8) -> u32 {
        self.domain.model.buffer(class)
    }
}

impl<M: RouterModel> Domain<M> {
    /// Builds domain `index` of those that begin at the routers `bounds` (the last bound is the number of routers).
    pub fn new(
        network: &Network,
        setup: &Setup,
        plan: &M::Plan,
        offer: Offer<'_>,
        bounds: &[u32],
        index: usize,
    ) -> Self {
        let (first, end) = (bounds[index], bounds[index + 1]);
        let first_port = network.port_base(RouterId(first));
        let routers = (first..end).map(RouterId);
        let mut first_ports = vec![0];
        for router in routers.clone() {
            first_ports.push(first_ports[first_ports.len() - 1] + network.radix_of(router) as u32);
        }
        let ports = first_ports[first_ports.len() - 1] as usize;
        let mut terminals: Vec<(TerminalId, u32)> = Vec::new();
        let (mut to, mut links) = (Vec::with_capacity(ports), Vec::with_capacity(ports));
        let mut terminal_at = vec![0; ports];
        let mut paces = Vec::with_capacity(ports);
        let mut in_flight = Vec::with_capacity(ports);
        for port in (first_port..first_port + ports as u32).map(PortId) {
            let here = network.ports()[port.index()];
            let (far_end, domain) = match here.peer {
                Peer::Terminal(terminal) => {
                    let (place, local) = (terminals.len() as u32, port.0 - first_port);
                    let vc = local * setup.stride;
                    terminal_at[local as usize] = (place * setup.stride).wrapping_sub(vc);
                    terminals.push((terminal, vc));
                    (TERMINAL | vc, index)
                }
                Peer::Port(peer) => {
                    let router = network.ports()[peer.index()].router.0;
                    let domain = bounds.partition_point(|&b| b <= router) - 1;
                    let base = network.port_base(RouterId(bounds[domain]));
                    ((peer.0 - base) * setup.stride, domain)
                }
            };
            let board = matches!(here.peer, Peer::Terminal(_)) && !setup.paces_terminals;
            let pace = if board { Pace::FULL } else { Pace::of_port(network, port, setup.clock_gbps) };
            paces.push(pace);
            let (latency, slow) = (setup.links.of(network, port) + pace.cycles(), !pace.is_full());
            let cycles = 2 * latency + setup.interface.turnaround;
            in_flight.push(if slow { pace.flits(cycles) } else { cycles });
            to.push(far_end);
            links.push(Link { latency, domain: domain as u16, slow });
        }
        let to_terminals = to_terminals(&to, &links);
        let own = setup.memory(network, ports, terminals.len());
        let all = setup.memory(network, network.ports().len(), network.num_terminals());
        let region = takes_large_pages(own, all, is_limited()).then(|| Region::of(own as usize)).flatten();
        let horizon = setup.horizon(network);
        // SAFETY: indexed by the ports of the domain and by its routers, which are numbered from 0 without gaps.
        let tables = unsafe { TableMaker::promise() }.within(region.as_ref());
        let wires = Wires {
            links: tables.of(links),
            paces: tables.of(if setup.slowest > 1 { paces } else { Vec::new() }),
            flits: [horizon; 4].map(Wheel::new),
            entry: u32::from(M::MAY_DEFER),
            second: if M::MAY_DEFER && setup.second_apart { SECOND } else { FIRST },
            credits: Wheel::new(horizon),
            leaving: vec![Vec::new(); bounds.len() - 1],
            outboxes: (1..bounds.len()).map(|_| Outbox::default()).collect(),
            domain: index as u16,
            credit_delay: setup.interface.credit_delay,
        };
        let this = Self {
            first_router: first,
            first_port,
            model: M::new(setup, plan, &first_ports, ports, region.as_ref()),
            first_ports: tables.of(first_ports),
            channels: Channels::new(&tables, &to, wires, tables.of(in_flight), setup.interface.output_delay),
            terminal_at: tables.of(terminal_at),
            terminals: Terminals::new(setup, &terminals, offer, region.as_ref()),
            stats: Stats::default(),
            first_vc: first_port * setup.stride,
            to_terminals,
            undecided: UndecidedHeads::default(),
        };
        if let Some(region) = region {
            region.give_rest_back();
        }
        this
    }

    /// Simulates cycle `now`.
    pub fn cycle(&mut self, now: u32, shared: &RunContext<'_, M>) {
        let [arrivals, entries, seconds, ejections] = &mut self.channels.wires.flits;
        let (arrivals, ejections) = (arrivals.take(now), ejections.take(now));
        // Where no head defers, what comes from terminals is among the arrivals.
        let [entries, seconds] =
            [entries, seconds].map(|wheel| if M::MAY_DEFER { wheel.take(now) } else { Vec::new() });
        shared.routing.take_in(self, [&arrivals, &seconds, &entries], now, shared);
        self.eject(&ejections, now);
        self.stats.settle(now);
        for (flits, events) in self.channels.wires.flits.iter_mut().zip([arrivals, entries, seconds, ejections]) {
            flits.recycle(events);
        }
        self.take_credits(now);
        self.inject(now, shared.offer.traffic, &shared.targets);
        self.model.step(now, &mut self.channels);
    }

    /// [`Channels::in_flight`] of each output, in their order.
    pub fn in_flight(&self) -> impl Iterator<Item = u32> {
        self.channels.in_flight.iter().copied()
    }

    /// Publishes to the whole network what the outputs of this domain hold at the beginning of cycle `now`.
    pub fn publish(&self, snapshot: &Snapshot, now: u32) {
        snapshot.begin(now);
        let (first, ports) = (PortId(self.first_port), self.channels.ends.len() as u32);
        match self.model.queues(0, ports) {
            Some(queues) => snapshot.publish(first, queues),
            None => snapshot.publish(first, (0..ports).map(|port| self.model.queue(port))),
        }
    }

    /// How many events ahead memory is asked for: more than there are where all of it is near.
    #[inline(always)]
    fn ahead(&self) -> usize {
        if self.model.is_far() { AHEAD } else { usize::MAX / 2 }
    }

    /// Flits have reached their terminals.
    fn eject(&mut self, events: &[FlitEvent], now: u32) {
        if self.terminals.driver().is_some() {
            self.eject_from::<true>(events, now);
        } else {
            self.eject_from::<false>(events, now);
        }
    }

    /// The same, of `MESSAGES` of a workload or of packets that bear when they were created. Each flit is counted, and its
    /// credit goes back.
    #[inline(never)]
    fn eject_from<const MESSAGES: bool>(&mut self, events: &[FlitEvent], now: u32) {
        self.give_credits_back(events, now);
        let expected = Later::<_, AHEAD>::of(events, self.model.is_far());
        let (model, stats) = (&mut self.model, &mut self.stats);
        model.pool_mut().release_all(events.iter().map(|event| event.place));
        for (place, event) in events.iter().enumerate() {
            if let Some(next) = expected.behind(place) {
                model.pool().prefetch(next.place);
            }
            let flit = model.pool().get(event.place);
            if !MESSAGES && flit.is_single() {
                stats.arrived_whole(flit.created, flit.injected, flit.hops, now);
                continue;
            }
            stats.ejected(if MESSAGES { None } else { Some(flit.created) }, now);
            if flit.is_tail() {
                let created = self.terminals.arrived(flit, now);
                stats.delivered(created, flit.injected, flit.hops, now);
            }
        }
    }

    /// Sends the credits of flits that have reached their terminals.
    #[inline(always)]
    fn give_credits_back(&mut self, events: &[FlitEvent], now: u32) {
        let Wires { links, credits, credit_delay, .. } = &mut self.channels.wires;
        let vc = |event: &FlitEvent| event.to & !TERMINAL;
        if let Some(latency) = self.to_terminals {
            return credits.push_all(now + latency + *credit_delay, events.iter().map(vc));
        }
        let output = |event| self.model.port_of(vc(event)) as usize;
        let expected = Later::<_, AHEAD>::of(events, self.model.is_far());
        for (place, event) in events.iter().enumerate() {
            if let Some(next) = expected.behind(place) {
                links.prefetch(output(next));
            }
            credits.push(now + links[output(event)].latency + *credit_delay, vc(event));
        }
    }

    /// Flits of a `SET` have reached routers, the first of them or, most often, all: heads are routed, from the state at the end
    /// of the previous internal step.
    #[inline(always)]
    fn arrive<R: Routing, const SET: u8>(
        &mut self,
        routing: &R,
        [events, all]: [&[FlitEvent]; 2],
        now: u32,
        snapshot: &Snapshot,
        rules: Rules,
    ) {
        let expected = Later::<_, AHEAD>::of(all, self.model.is_far());
        // What looks at queues waits for them as well, and finds them by what the routing has looked at.
        let routes = Later::<_, ROUTE_AHEAD>::of(all, routing.is_far() || M::MAY_DEFER && SET != LAST);
        for event in expected.first {
            self.model.expect_flit(event.to, event.place);
        }
        // Counted by hand: an iterator would count addresses as well.
        let mut place = 0;
        while let Some(event) = events.get(place) {
            if let Some(next) = expected.behind(place) {
                self.model.pool().prefetch(next.place);
                self.model.expect_flit(next.to, next.place);
            }
            if let Some(next) = routes.behind(place) {
                self.expect_route(routing, next);
            }
            self.arrive_one::<R, SET>(routing, event, now, snapshot, rules);
            place += 1;
        }
    }

    /// The same, of a set whose heads decide by more than others. Not inlined: the loop over these, which are more, needs the
    /// registers.
    #[inline(never)]
    fn arrive_apart<R: Routing, const SET: u8>(
        &mut self,
        routing: &R,
        events: &[FlitEvent],
        now: u32,
        snapshot: &Snapshot,
        rules: Rules,
    ) {
        let far = self.model.are_queues_far();
        let part = if far { START_AHEAD } else { usize::MAX };
        let mut left = events;
        while !left.is_empty() {
            let count = part.min(left.len());
            if far {
                self.expect_queues(&left[..count]);
            }
            let (next, behind) = left.split_at(count);
            self.arrive::<R, SET>(routing, [next, left], now, snapshot, rules.of(routing));
            left = behind;
        }
    }

    /// Asks for the memory of the queues that heads will look at, once for those at one router that follow each other.
    #[inline(never)]
    fn expect_queues(&self, events: &[FlitEvent]) {
        let mut last = u32::MAX;
        for event in events {
            let router = self.model.router_of(event.to);
            if router != last {
                self.model.expect_queues(router);
                last = router;
            }
        }
    }

    /// One of them.
    #[inline(always)]
    fn arrive_one<R: Routing, const SET: u8>(
        &mut self,
        routing: &R,
        event: &FlitEvent,
        now: u32,
        snapshot: &Snapshot,
        rules: Rules,
    ) {
        let flit = self.model.pool().get(event.place);
        let router = self.model.router_of(event.to);
        if !flit.is_head() {
            self.model.accept(event.to, router, event.place, None, now);
            return;
        }
        let may_defer = is_any(SET) || matches!(SET, ENTRIES | FRONT);
        debug_assert!(may_defer || !self.model.defers(flit), "heads that decide at the front are taken in apart");
        // Where it leaves the network there is nothing to decide.
        if may_defer && self.model.defers(flit) && flit.dst != self.first_router + router {
            if self.model.flits(event.to) == 0 {
                let stream = self.front_stream(event.to, now);
                let decided = self.route::<_, SET>(routing, event.to, router, flit, NOWHERE, stream, snapshot, rules);
                return self.model.accept_front(event.to, router, event.place, decided, now);
            }
            return self.model.accept_undecided(event.to, router, event.place, now);
        }
        let stream = u64::from(self.first_port + self.model.port_of(event.to)) << 32 | u64::from(now);
        let decided = self.route::<_, SET>(routing, event.to, router, flit, NOWHERE, stream, snapshot, rules);
        if SET == LAST {
            return self.model.accept_last(event.to, router, event.place, decided, now);
        }
        self.model.accept(event.to, router, event.place, Some(decided), now);
    }

    /// Asks for what the routing will look at when the flit that has arrived, if it is a head, decides.
    #[inline(always)]
    fn expect_route<R: Routing>(&self, routing: &R, event: &FlitEvent) {
        let flit = self.model.pool().get(event.place);
        if flit.is_head() {
            self.expect_decision(routing, self.model.router_of(event.to), flit);
        }
    }

    /// Asks for what the routing will look at when `head` decides at router `local`.
    #[inline(always)]
    fn expect_decision<R: Routing>(&self, routing: &R, local: u32, head: &Flit) {
        routing.expect(RouterId(self.first_router + local), head.state, RouterId(head.dst));
    }

    /// Decides where a head at router `local` goes, which may have `decided` before, with random stream number `stream`;
    /// returns the state in which it decided as well.
    #[inline(always)]
    #[allow(clippy::too_many_arguments)]
    fn route<R: Routing, const SET: u8>(
        &self,
        routing: &R,
        vc: u32,
        local: u32,
        flit: &Flit,
        decided: (u32, u8),
        stream: u64,
        snapshot: &Snapshot,
        Rules { seed, all_vcs, rings }: Rules,
    ) -> (Decision, PacketState) {
        let (mut kind, mut before) = (flit.kind, flit.state);
        if rings {
            kind &= !ENTERS;
        }
        let at = RouterId(self.first_router + local);
        let fresh = SET == ENTRIES || is_any(SET) && kind & FRESH != 0;
        debug_assert_eq!(fresh, kind & FRESH != 0, "heads that start are taken in apart");
        let arrived = at.0 == flit.dst;
        let leaves = |kind, state| {
            let class = routing.eject_class(state).unwrap_or(all_vcs);
            Decision { out: flit.eject, class, kind: kind | ARRIVED, state }
        };
        let answers = SET == ALIKE || routing.answers_at_destination(fresh);
        if !answers && arrived {
            return (leaves(kind, before), before);
        }
        let came = (kind, before);
        let mut rng = Rng::stream(seed, stream);
        if routing.draws(fresh) {
            rng.begin();
        }
        let dst = RouterId(flit.dst);
        let first_port = self.first_ports[local as usize];
        let view = RouterView::<M, SET> { domain: self, first_port, head: flit, vc, snapshot, decided };
        let mut hop = None;
        if fresh {
            kind &= !FRESH;
            (before, hop) = routing.start_with_hop(at, dst, &view, &mut rng);
        }
        let hop = hop.unwrap_or_else(|| routing.choose(at, before, dst, &view, &mut rng));
        if rings && routing.enters(before, &hop) {
            kind |= ENTERS;
        }
        let goes = Decision { out: hop.port, class: hop.class, kind, state: hop.next };
        if !answers {
            return (goes, before);
        }
        (goes.unless(arrived, leaves(came.0, came.1)), before)
    }

    /// The number of the random stream of the head at the front of input VC `vc`.
    #[inline(always)]
    fn front_stream(&self, vc: u32, now: u32) -> u64 {
        u64::from((self.first_vc + vc) | 1 << 30) << 32 | u64::from(now)
    }

    /// Heads that have come to the front of their VC, or wait where no VC is free and one was freed at their router, decide
    /// (again).
    #[inline(never)]
    fn decide_again<R: Routing>(&mut self, routing: &R, now: u32, snapshot: &Snapshot, rules: Rules) {
        let (mut undecided, rules) = (std::mem::take(&mut self.undecided), rules.of(routing));
        let UndecidedHeads { fresh, waiting, decisions } = &mut undecided;
        self.model.undecided(fresh, waiting);
        let ahead = self.ahead();
        for (number, &FreshHead { vc, router, place }) in fresh.iter().enumerate() {
            if let Some(next) = fresh.get(number + ahead) {
                self.model.pool().prefetch(next.place);
            }
            if let Some(next) = fresh.get(number + ahead / 2) {
                self.expect_decision(routing, next.router, self.model.pool().get(next.place));
            }
            let head = self.model.pool().get(place);
            let stream = self.front_stream(vc, now);
            let (decision, _) = self.route::<_, ALL>(routing, vc, router, head, NOWHERE, stream, snapshot, rules);
            decisions.push(decision);
        }
        let revocable = matches!(routing.decides_again(), Again::Revocable(_));
        for (place, &(vc, number)) in waiting.iter().enumerate() {
            if let Some(&(vc, number)) = waiting.get(place + ahead / 2) {
                self.expect_decision(routing, self.model.router_of(vc), &self.model.waiting_head(number));
            }
            let (router, mut head) = (self.model.router_of(vc), self.model.waiting_head(number));
            if !self.model.remembers()
                && let Some(before) = routing.undo(head.state)
            {
                head.state = before;
            }
            if revocable && head.hops == 1 {
                head.kind |= FRESH;
            }
            let decided = if head.out == UNDECIDED { NOWHERE } else { (head.out.into(), head.class) };
            let stream = self.front_stream(vc, now);
            let (decision, _) = self.route::<_, ALL>(routing, vc, router, &head, decided, stream, snapshot, rules);
            decisions.push(decision);
        }
        for (number, (&head, &decision)) in fresh.iter().zip(&*decisions).enumerate() {
            if let Some(&next) = fresh.get(number + ahead / 2) {
                self.model.expect_decision(next, decisions[number + ahead / 2].out);
            }
            self.model.decide_first(head, decision, now);
        }
        let decisions = decisions.drain(..).skip(fresh.len());
        fresh.clear();
        for ((vc, number), decision) in waiting.drain(..).zip(decisions) {
            self.model.redirect(vc, number, decision, now);
        }
        self.undecided = undecided;
    }

    #[inline(never)]
    fn take_credits(&mut self, now: u32) {
        let credits = self.channels.wires.credits.take(now);
        let expected = Later::<_, AHEAD>::of(&credits, self.model.is_far());
        expected.first.iter().for_each(|&credit| self.model.expect_credit(credit & !TERMINAL));
        let (with_later, last) = expected.pairs();
        for (&credit, &next) in with_later {
            // For a terminal it asks for memory that is not needed: less work than finding out.
            self.model.expect_credit(next & !TERMINAL);
            self.take_credit(credit, now);
        }
        last.iter().for_each(|&credit| self.take_credit(credit, now));
        self.channels.wires.credits.recycle(credits);
    }

    #[inline(always)]
    fn take_credit(&mut self, credit: u32, now: u32) {
        if credit & TERMINAL != 0 {
            let vc = credit & !TERMINAL;
            let index = vc.wrapping_add(self.terminal_at[self.model.port_of(vc) as usize]);
            self.terminals.credit(index, now);
        } else {
            self.model.credit(credit);
        }
    }

    /// Lets the terminals send that have something to send.
    fn inject(&mut self, now: u32, traffic: &Traffic, targets: &[(u32, u16)]) {
        self.terminals.tick(now);
        let awake = self.terminals.awake(now);
        if !self.inject_single_flits(&awake, now, traffic, targets) {
            self.inject_any(&awake, now, traffic, targets);
        }
        self.terminals.recycle(awake);
    }

    /// Lets these terminals send, if all packets are single flits; returns whether they are.
    #[inline(never)]
    fn inject_single_flits(&mut self, awake: &[u32], now: u32, traffic: &Traffic, targets: &[(u32, u16)]) -> bool {
        let arrival = now + self.terminals.latency();
        let expected = Later::<_, AHEAD>::of(awake, self.model.is_far());
        let Some(mut sources) = self.terminals.single_flits() else { return false };
        let (pool, mut arrivals) = (self.model.pool_mut(), self.channels.wires.entries().due(arrival));
        let (mut sent, mut created_now) = (0, 0);
        for (i, &place) in awake.iter().enumerate() {
            if let Some(&next) = expected.behind(i) {
                sources.expect(next);
            }
            let Some((to, flit)) = sources.send(place, now, traffic, targets) else { continue };
            match flit.created == now {
                true => created_now += 1,
                false => self.stats.injected(flit.created, 1),
            }
            let place = pool.insert(flit);
            arrivals.push(FlitEvent { to, place });
            sent += 1;
        }
        self.stats.injected_flits += sent;
        if created_now > 0 {
            self.stats.injected(now, created_now);
        }
        true
    }

    /// Lets these terminals send.
    #[inline(never)]
    fn inject_any(&mut self, awake: &[u32], now: u32, traffic: &Traffic, targets: &[(u32, u16)]) {
        let expected = Later::<_, AHEAD>::of(awake, self.model.is_far());
        for (i, &place) in awake.iter().enumerate() {
            if let Some(&next) = expected.behind(i) {
                self.terminals.expect(next);
            }
            let Some((to, flit)) = self.terminals.send(place, now, traffic, targets) else { continue };
            self.stats.injected_flits += 1;
            if flit.is_head() {
                self.stats.injected(self.terminals.created(&flit, now), 1);
            }
            let place = self.model.pool_mut().insert(flit);
            self.channels.wires.entries().push(now + self.terminals.latency(), FlitEvent { to, place });
        }
    }

    /// Takes in what another domain has sent.
    pub fn receive(&mut self, outbox: &mut Outbox) {
        for &(time, to, ref flit) in &outbox.flits {
            let wires = &mut self.channels.wires;
            let wheel = if flit.hops == 1 { wires.second } else { FIRST };
            let place = self.model.pool_mut().insert(*flit);
            wires.arrive(time, wheel, FlitEvent { to, place });
        }
        outbox.flits.clear();
        for (time, vc) in outbox.credits.drain(..) {
            self.channels.wires.credits.push(time, vc);
        }
        if let Some(driver) = self.terminals.driver_mut() {
            outbox.acknowledgements.drain(..).for_each(|acknowledgement| driver.expect(acknowledgement));
        }
    }

    /// Makes ready what goes to other domains: flits, and acknowledgements for their terminals.
    pub fn post(&mut self, shared: &RunContext<'_, M>) {
        self.channels.wires.pack(self.model.pool_mut());
        let Some(driver) = self.terminals.driver_mut() else { return };
        for acknowledgement in driver.take_abroad() {
            let (router, _) = shared.targets[acknowledgement.to.index()];
            let domain = shared.bounds.partition_point(|&first| first <= router) - 1;
            self.channels.wires.outboxes[domain].acknowledgements.push(acknowledgement);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use super::super::measurement;
    use super::super::router::input_queued::{ADAPTIVE, AT_SOURCE, GENERAL, InputQueuedRouters, Options, PLAIN};
    use super::super::{Config, Point, RouterOptions, Setup, Sizes, Value};
    use super::*;
    use crate::links::Latencies;
    use crate::routing::{DragonflyMinimal, Min, Move, Progressive};
    use crate::watch::NoControl;
    use crate::{topology, traffic};

    #[test]
    fn terminals_have_one_latency_if_all_have_the_same() {
        let latency_of = |channels: &[(u32, u32)]| {
            let (to, latencies): (Vec<u32>, Vec<u32>) = channels.iter().copied().unzip();
            let links = latencies.into_iter().map(|latency| Link { latency, domain: 0, slow: false });
            to_terminals(&to, &links.collect::<Vec<_>>())
        };
        assert_eq!(latency_of(&[(0, 3)]), None);
        assert_eq!(latency_of(&[(0, 3), (TERMINAL, 5), (4, 7), (TERMINAL | 8, 5)]), Some(5));
        assert_eq!(latency_of(&[(TERMINAL, 5), (TERMINAL | 4, 5), (TERMINAL | 8, 6)]), None);
    }

    #[test]
    #[cfg(not(miri))]
    #[cfg_attr(not(target_os = "linux"), ignore)]
    fn tables_of_large_networks_lie_on_large_pages() {
        let taken = [(MANY, MANY), (MANY / 2, MANY), (MANY - 1, MANY - 1), (MANY / 2 - 1, MANY)];
        assert_eq!(taken.map(|(own, all)| takes_large_pages(own, all, false)), [true, true, false, false]);
        assert!(!takes_large_pages(MANY, MANY, true));
    }

    /// Fully adaptive on a mesh, with dimension order for an escape: class 0 by any minimal output with a VC to spare,
    /// class 1 in order.
    struct Adaptive {
        network: Network,
        again: bool,
        whole: bool,
    }

    impl Adaptive {
        fn new(spec: &str, again: bool, whole: bool) -> Self {
            Self { network: topology::build(spec).expect("a mesh"), again, whole }
        }

        /// The minimal outputs, lowest dimension first.
        fn minimal(&self, at: RouterId, dst: RouterId) -> Vec<u16> {
            let grid = self.network.any_structure().grid().expect("a mesh has coordinates");
            let far = |router: RouterId| {
                let (here, there) = (grid.coordinates(router.0), grid.coordinates(dst.0));
                here.iter().zip(there).map(|(a, b)| a.abs_diff(b)).collect::<Vec<_>>()
            };
            let sum = |router| far(router).iter().sum::<u32>();
            let nearer = self.network.neighbors(at).filter(|&(_, peer)| sum(peer) < sum(at));
            let mut outputs: Vec<(bool, u16)> =
                nearer.map(|(port, peer)| (far(peer)[0] == far(at)[0], port as u16)).collect();
            outputs.sort_unstable();
            outputs.into_iter().map(|(_, port)| port).collect()
        }

        fn run(&self, config: Config, threads: u32) -> Point {
            let config = Config { threads, measure: Some(1_500), ..config };
            run::<1, GENERAL>(&self.network, self, "uniform", 1.0, config)
        }
    }

    impl Routing for Adaptive {
        fn classes(&self) -> u32 {
            2
        }

        fn starts(&self, _src: RouterId, _dst: RouterId, out: &mut Vec<PacketState>) {
            out.push(PacketState::direct(0));
        }

        fn moves(&self, _at: RouterId, _state: PacketState, _dst: RouterId, _out: &mut Vec<Move>) {
            unreachable!("this routing is run, not proved");
        }

        fn start<V: View>(&self, src: RouterId, _dst: RouterId, _view: &V, _rng: &mut Rng) -> PacketState {
            PacketState::direct(src.0 << 8)
        }

        fn choose<V: View>(&self, at: RouterId, state: PacketState, dst: RouterId, view: &V, rng: &mut Rng) -> Move {
            // However often a head has decided, it has made as many hops as it has come far.
            let grid = self.network.any_structure().grid().expect("a mesh has coordinates");
            let (from, here) = (grid.coordinates(state.bits >> 8), grid.coordinates(at.0));
            assert_eq!(state.bits & 0xFF, from.iter().zip(&here).map(|(a, b)| a.abs_diff(*b)).sum::<u32>());
            let outputs = self.minimal(at, dst);
            let next = PacketState::direct(state.bits + 1);
            let first = rng.below(outputs.len() as u32) as usize;
            let mut turns = (0..outputs.len()).map(|turn| outputs[(first + turn) % outputs.len()]);
            match turns.find(|&port| view.free_vcs(port.into(), 0) > 0) {
                Some(port) => Move { port, class: 0, next },
                None => Move { port: outputs[0], class: 1, next },
            }
        }

        fn decides_again(&self) -> Again {
            if self.again { Again::Blocked } else { Again::Never }
        }

        fn takes_whole_packets(&self, class: u8) -> bool {
            self.whole && class == 0
        }
    }

    /// Packets of this many flits in small buffers.
    fn crowded<'a>(packet: u32, given: impl IntoIterator<Item = (&'a str, Value)>) -> Config {
        let router = RouterOptions::new("iq", given).expect("options of a router");
        Config { router, packet: Sizes::One(packet), ..Config::default() }
    }

    fn small() -> Vec<Config> {
        let buffer = |flits: u32| ("buffer", Value::from(flits));
        vec![
            crowded(1, [buffer(1)]),
            crowded(3, [buffer(4)]),
            crowded(4, [buffer(1), ("speedup", 1.0.into())]),
            crowded(5, [buffer(3)]),
            crowded(3, [buffer(4), ("buffers", "shared:1".into())]),
            crowded(3, [buffer(4), ("flow", "vct".into())]),
            crowded(3, [buffer(4), ("flow", "vct".into()), ("buffers", "shared:3".into())]),
        ]
    }

    /// A run with 2^LOG VCs at routers of this kind.
    fn run<const LOG: u32, const KIND: u8>(
        network: &Network,
        routing: &impl Routing,
        traffic: &str,
        load: f64,
        mut config: Config,
    ) -> Point {
        config.router.set("vcs", 1 << LOG).expect("a key");
        config.warmup = Some(0);
        let setup = Setup::new(network, "any", routing.classes(), 1 << LOG, &config).expect("allowed options");
        let (setup, traffic) = (setup.serve(routing), traffic::build(network, traffic).expect("a pattern"));
        let (plan, offer) = (Options::read(&setup.config.router), Offer::of(&traffic, load));
        measurement::run::<InputQueuedRouters<LOG, KIND>>(network, routing, offer, &setup, &plan, &NoControl)
            .expect("a run")
    }

    /// What is counted of a run with 8 VCs at routers of this kind.
    fn counted<const KIND: u8>(network: &Network, routing: &impl Routing, load: f64) -> (u64, u64, Option<f64>) {
        let config = Config { measure: Some(1_000), ..crowded(1, [("buffer", 4.into())]) };
        let point = run::<3, KIND>(network, routing, "uniform", load, config);
        (point.flit_hops, point.packets, point.latency_cycles)
    }

    #[test]
    fn what_answers_at_its_destination_leaves_as_what_does_not() {
        let network = topology::build("dragonfly:a=4,h=2,p=4").expect("a dragonfly");
        let untabled = || DragonflyMinimal::new(&network).expect("it has groups");
        let tabled = || untabled().tabled(untabled().table(&network).expect("it is small"));
        assert!(Min(tabled()).answers_at_destination(false) && !Min(untabled()).answers_at_destination(false));
        for load in [0.3, 0.9] {
            let min = counted::<PLAIN>(&network, &Min(tabled()), load);
            assert_eq!(min, counted::<PLAIN>(&network, &Min(untabled()), load), "min, {load}");
            let par = counted::<ADAPTIVE>(&network, &Progressive::new(tabled(), &network, None), load);
            let other = counted::<ADAPTIVE>(&network, &Progressive::new(untabled(), &network, None), load);
            assert_eq!(par, other, "par, {load}");
        }
    }

    /// Between two routers. Notes how many flits have decided for the only link and have not left, as heads find that decide
    /// again.
    #[derive(Default)]
    struct Waiting {
        most: AtomicU32,
    }

    impl Routing for Waiting {
        fn classes(&self) -> u32 {
            1
        }

        fn starts(&self, _src: RouterId, _dst: RouterId, out: &mut Vec<PacketState>) {
            out.push(PacketState::direct(0));
        }

        fn moves(&self, _at: RouterId, _state: PacketState, _dst: RouterId, _out: &mut Vec<Move>) {
            unreachable!("this routing is run, not proved");
        }

        fn start<V: View>(&self, _src: RouterId, _dst: RouterId, _view: &V, _rng: &mut Rng) -> PacketState {
            PacketState::direct(0)
        }

        fn choose<V: View>(&self, _at: RouterId, next: PacketState, _dst: RouterId, view: &V, _rng: &mut Rng) -> Move {
            if view.decides_again() {
                self.most.fetch_max(view.queue(0) - view.occupancy(0), Ordering::Relaxed);
            }
            Move { port: 0, class: 0, next }
        }

        fn decides_again(&self) -> Again {
            Again::Revocable(1)
        }
    }

    /// The most that [`Waiting`] finds with `terminals` at each router, of packets of that many `flits`.
    fn most_waiting<const KIND: u8>(terminals: u32, flits: u32) -> u32 {
        let network = topology::build(&format!("mesh:2,p={terminals}")).expect("a mesh");
        let config = Config { measure: Some(500), ..crowded(flits, [("buffer", 8.into())]) };
        let routing = Waiting::default();
        run::<0, KIND>(&network, &routing, "neighbor:by=routers", 1.0, config);
        routing.most.into_inner()
    }

    #[test]
    fn a_head_that_decides_again_does_not_count_itself() {
        for (terminals, flits) in [(2, 1), (3, 1), (3, 4), (5, 2)] {
            let others = (terminals - 1) * flits;
            let [general, adaptive, at_source] = [
                most_waiting::<GENERAL>(terminals, flits),
                most_waiting::<ADAPTIVE>(terminals, flits),
                most_waiting::<AT_SOURCE>(terminals, flits),
            ];
            assert_eq!([general, adaptive, at_source], [others; 3], "{terminals} terminals, {flits} flits");
        }
    }

    #[test]
    fn credits_of_terminals_are_due_when_their_latencies_are_over_whether_all_have_the_same() {
        let network = topology::build("mesh:2,p=3").expect("a mesh");
        let links = Latencies { terminal: 3, ..Latencies::default() };
        let setup = Setup::new(&network, "waiting", 1, 1, &Config { links, ..crowded(1, [("vcs", 8.into())]) });
        let setup = setup.expect("allowed options").serve(&Waiting::default());
        let traffic = traffic::build(&network, "uniform").expect("a pattern");
        let (plan, now) = (Options::read(&setup.config.router), 5);
        for known in [true, false] {
            let offer = Offer::of(&traffic, 0.5);
            let mut domain = Domain::<InputQueuedRouters<3, GENERAL>>::new(&network, &setup, &plan, offer, &[0, 2], 0);
            assert_eq!(domain.to_terminals, Some(4));
            if !known {
                domain.to_terminals = None;
                domain.channels.wires.links[2].latency = 6;
            }
            let events = [8, 16, 3].map(|to| FlitEvent { to: TERMINAL | to, place: 0 });
            domain.give_credits_back(&events, now);
            let Wires { credits, credit_delay, .. } = &mut domain.channels.wires;
            let due = [4, 6].map(|latency| credits.take(now + latency + *credit_delay));
            assert_eq!(due, if known { [vec![8, 16, 3], Vec::new()] } else { [vec![8, 3], vec![16]] });
            assert_eq!(credits.len(), 0);
        }
    }

    #[test]
    fn heads_that_decide_again_escape_from_any_circle() {
        let adaptive = Adaptive::new("mesh:4x4,p=2", true, true);
        for config in small() {
            let point = adaptive.run(config.clone(), 1);
            assert!(!point.deadlocked, "{config:?}: {:?}", point.deadlock);
            assert!(point.accepted > 0.05, "{config:?}: {}", point.accepted);
        }
    }

    #[test]
    fn decisions_made_again_do_not_depend_on_threads() {
        let adaptive = Adaptive::new("mesh:4x4,p=2", true, true);
        let [one, two] = [1, 2].map(|threads| {
            let point = adaptive.run(crowded(3, [("buffer", 4.into())]), threads);
            (point.flit_hops, point.latency_cycles, point.packets)
        });
        assert_eq!(one, two);
    }

    #[test]
    fn heads_that_do_not_decide_again_get_stuck() {
        let adaptive = Adaptive::new("mesh:4x4,p=2", false, true);
        let stuck = small().into_iter().filter(|config| adaptive.run(config.clone(), 1).deadlocked).count();
        assert!(stuck > 0, "{stuck}");
    }
}
