//! The `iq` router model: input-queued, virtual channels, credits, separable, iSLIP or wavefront allocation, BookSim2's
//! timing.
//!
//! One [`InputQueuedRouters`] holds all routers of a domain. Within an internal step every stage sees the state at its start: VC
//! allocation runs first and does not see what switch allocation frees; its winners ask for the switch one step later.
//! There is no output queue as an object: a flit that wins the switch is given its departure cycle at once.

mod buffers;
mod hot;
mod input_sets;
mod matching;
mod options;
mod plain;
mod switch_allocator;
mod timing;
mod vc_allocator;
mod waiting_heads;

use std::collections::VecDeque;
use std::ops::Range;

use crate::cycle::channels::{ChannelEnd, Channels, Wheel};
use crate::cycle::flit::{ARRIVED, Decision, Flit, Pool, TAIL, UNDECIDED};
use crate::cycle::router::buffer_policy::{BufferPolicy, Buffers};
use crate::cycle::router::{Case, FreshHead, Interface, Router, RouterModel, Simulation, Wait};
use crate::cycle::table::{Table, TableMaker};
use crate::cycle::{Point, Setup};
use crate::error::{Error, Result};
use crate::memory::{Region, prefetch};
use crate::routing::{Again, PacketState};
use buffers::{InputVc, Joins, OutputVc, PortQueue};
use input_sets::InputSets;
use matching::{Choices, Diagonals, Pairing, Turns};
use options::{Allocator, Priority};
pub use options::{INFO, Options, VCT};
use plain::Cycle;
use switch_allocator::{SwitchRequest, Tick};
use timing::{Delay, Delays, after, first_step};
use vc_allocator::VcRequest;
use waiting_heads::{Commitment, Unready, WaitingHead};

/// What a routing that decides for a port beyond the last one is rejected with: ports are indices of tables.
const NO_SUCH_PORT: &str = "a routing decides for a port that its router does not have";
/// Bytes of tables up to which asking for the memory of arrivals before it is needed does not pay.
const NEAR: usize = 128 << 10;
/// Bytes of flits up to which asking for those that have won an input does not.
const DEEP: usize = 256 << 10;
/// Bytes up to which asking for that of requests router by router does not.
const FAR: usize = 2 << 20;
/// Batches of 64 with requests up to which asking for what their first ones are about does, beyond [`NEAR`]: routers alone most
/// often have one.
const FEW: u32 = 32;
/// Ports of a batch of buffered routers, at most. With more the tables of a batch are too far.
const BATCH: usize = 256;
/// No VC: an idle input VC's output, a free output VC's owner.
const NONE: u16 = u16::MAX;

/// Arbitration state of a port, as input and as output: four to a cache line.
#[derive(Debug, Clone, Copy)]
#[repr(align(16))]
struct PortArbiters {
    /// Output: VCs that no packet holds.
    free: u64,
    /// Input: the output that it was matched with last.
    last_output: u16,
    /// Output: the input that it was matched with last.
    last_input: u16,
    /// Input: its VC that sent last. Of several that want one output, that comes last.
    last_vc: u16,
    /// Output: input VCs that wait, off the list of requests, for a VC to be freed.
    waiting: u16,
}

/// A router's share of the tables, and, at the first router of a batch, what the batch asks for.
///
/// A batch is some consecutive routers that are allocated together: ports and VCs are numbered from its first port on, and its
/// lists of requests begin at its first VC. What asks for an output is of the output's router, so the routers of a batch do not
/// see each other. One step for all of them takes less time than one for each: its loops are longer, and their ends are
/// mispredicted less often.
#[derive(Debug, Clone, Copy)]
struct RouterState {
    first_port: u32,
    /// Its ports.
    radix: u16,
    /// Input VCs whose heads may decide again, as they have been denied a VC.
    undecided: u16,
    /// The ports of its batch.
    ports: u16,
    /// Input VCs of the batch that ask for an output VC.
    asking_vc: u16,
    /// Input VCs of the batch that ask for the switch.
    asking_switch: u16,
    /// At the buffered kinds: of those that ask for an output VC, the last ones that may be given one from the later step of
    /// the cycle on.
    late: u16,
    /// The sum of the batch's `undecided`.
    all_undecided: u16,
    /// It is on the list of those whose heads decide again in the next cycle.
    look: bool,
}

/// One more head is undecided at a router whose batch begins with router `lead`, or one less.
#[inline(always)]
fn count_undecided(routers: &mut Table<RouterState>, lead: usize, router: usize, change: i16) {
    let own = &mut routers[router].undecided;
    *own = own.wrapping_add_signed(change);
    let all = &mut routers[lead].all_undecided;
    *all = all.wrapping_add_signed(change);
}

/// The heads of a router that wait for a VC, if there are any, decide again: it is put on the list of those.
#[inline(always)]
fn look(routers: &mut Table<RouterState>, looking: &mut Vec<u32>, router: u32) {
    let state = &mut routers[router as usize];
    if !state.look && state.undecided > 0 {
        state.look = true;
        looking.push(router);
    }
}

/// The masks of all 256 classes that a flit can name; those that there are not have no VC.
fn class_masks(masks: &[u64]) -> Box<[u64; 256]> {
    let mut all = Box::new([0; 256]);
    all[..masks.len()].copy_from_slice(masks);
    all
}

/// The slots behind an output of the VCs of all classes: those of the VCs themselves, and those that all share.
fn slots(masks: &[u64], policy: &BufferPolicy) -> Box<[u32; 256]> {
    let all_vcs = masks[masks.len() - 1];
    let of = |class: usize| {
        let mask = if policy.pool > 0 { all_vcs } else { masks.get(class).copied().unwrap_or(0) };
        mask.count_ones() * u32::from(policy.reserve) + policy.pool
    };
    Box::new(std::array::from_fn(of))
}

/// The first class that each VC belongs to; there is one alone unless VCs are fewer than a routing needs.
fn classes_of(masks: &[u64]) -> [u8; 64] {
    std::array::from_fn(|vc| masks.iter().position(|mask| mask >> vc & 1 == 1).unwrap_or(0) as u8)
}

/// What a router is compiled for. All that can make an allocation or a buffer more than the simplest is off.
pub const PLAIN: u8 = 0;
/// As [`PLAIN`], for routings whose heads decide again at their source routers alone.
pub const AT_SOURCE: u8 = 1;
/// The same for those whose heads decide again anywhere, and whose adaptive VCs take whole packets only.
pub const ADAPTIVE: u8 = 2;
/// As [`PLAIN`], with buffers and flow control of any kind, and stages of route computation.
pub const BUFFERED: u8 = 3;
/// As [`BUFFERED`], for routings whose heads decide again.
pub const BUFFERED_ADAPTIVE: u8 = 4;
/// Every option that there is.
pub const GENERAL: u8 = 5;

/// Calls `visit` with each of some places, the last one perhaps several times: how many groups of four there are is predicted
/// better than how many places.
#[inline(always)]
fn in_groups(places: Range<usize>, mut visit: impl FnMut(usize)) {
    let mut first = places.start;
    while first < places.end {
        (first..first + 4).for_each(|place| visit(place.min(places.end - 1)));
        first += 4;
    }
}

/// True for the kinds with buffers and flow control of any kind that are not [`GENERAL`].
const fn is_buffered(kind: u8) -> bool {
    kind == BUFFERED || kind == BUFFERED_ADAPTIVE
}

/// True for the kinds whose heads decide again; of the [`GENERAL`] kind they may.
const fn is_adaptive(kind: u8) -> bool {
    is_bare_adaptive(kind) || kind == BUFFERED_ADAPTIVE
}

/// True for those of them whose buffers are the simplest.
const fn is_bare_adaptive(kind: u8) -> bool {
    kind == AT_SOURCE || kind == ADAPTIVE
}

/// True for the kinds of which some VCs may take whole packets only.
const fn may_take_whole(kind: u8) -> bool {
    kind != PLAIN && kind != AT_SOURCE
}

/// The simplest kind of router that can do what is asked.
fn kind(setup: &Setup, options: &Options) -> u8 {
    let simple = options.allocator == Allocator::SeparableInputFirst
        && options.iterations == 1
        && options.priority == Priority::None
        && (options.vc_alloc_delay, options.sw_alloc_delay) == (1, 1);
    let Interface { cut_through, buffers, .. } = setup.interface;
    let bare = options.routing_delay == 0 && !cut_through && buffers == Buffers::Private;
    // A buffered router has an earlier and a later step in a cycle, at most, and packets that take as many slots as flits.
    let buffered = simple && setup.bubble == 0 && options.speedup <= 2.0;
    match setup.again {
        Again::Never if simple && bare && setup.whole == 0 => PLAIN,
        Again::Never if buffered => BUFFERED,
        Again::Never => GENERAL,
        Again::Revocable(1) if simple && bare && setup.whole == 0 => AT_SOURCE,
        _ if simple && bare => ADAPTIVE,
        _ if buffered => BUFFERED_ADAPTIVE,
        _ => GENERAL,
    }
}

/// Checks that the VCs are enough for the routing.
fn prepare(case: &Case<'_>) -> Result<Box<dyn Router>> {
    let Setup { config, vcs, classes, .. } = case.setup;
    if vcs < classes && !config.run_unsafe {
        return Err(Error::Routing(format!(
            "{} on {} needs {classes} VCs to be free of deadlock, but vcs is {vcs}; give vcs={classes} or more, or \
             --unsafe to run it all the same",
            case.name,
            case.network.spec()
        )));
    }
    Ok(Box::new(Options::read(&config.router)))
}

impl Router for Options {
    fn run(&self, simulation: &Simulation<'_>) -> Result<Point> {
        let (setup, routing) = (simulation.setup, simulation.routing);
        macro_rules! with_stride {
            ($($stride:literal => $log:literal),*) => {
                match (setup.stride, kind(setup, self)) {
                    $(($stride, PLAIN) => simulation.run::<InputQueuedRouters<$log, PLAIN>>(hot::once::<$log>(routing), self),
                    ($stride, AT_SOURCE) => {
                        simulation.run::<InputQueuedRouters<$log, AT_SOURCE>>(hot::at_source::<$log>(routing), self)
                    }
                    ($stride, ADAPTIVE) => {
                        simulation.run::<InputQueuedRouters<$log, ADAPTIVE>>(hot::again::<$log>(routing), self)
                    }
                    ($stride, BUFFERED) => {
                        simulation.run::<InputQueuedRouters<$log, BUFFERED>>(hot::buffered::<$log>(routing), self)
                    }
                    ($stride, BUFFERED_ADAPTIVE) => simulation.run::<InputQueuedRouters<$log, BUFFERED_ADAPTIVE>>(
                        hot::buffered_again::<$log>(routing),
                        self,
                    ),
                    ($stride, _) => simulation.run::<InputQueuedRouters<$log, GENERAL>>(routing, self),)*
                    (other, _) => unreachable!("no engine for a stride of {other}"),
                }
            };
        }
        with_stride!(1 => 0, 2 => 1, 4 => 2, 8 => 3, 16 => 4, 64 => 6)
    }
}

/// All input-queued routers of a domain, of one of the kinds from [`PLAIN`] to [`GENERAL`]; VCs stand 2^`LOG` to a port.
#[derive(Debug)]
pub struct InputQueuedRouters<const LOG: u32, const KIND: u8> {
    routers: Table<RouterState>,
    /// A batch is 2^`batch_log` routers, the last one perhaps fewer.
    batch_log: u32,
    inputs: Table<InputVc>,
    outputs: Table<OutputVc>,
    /// By output VC: true if the packet that holds it waits, off all lists, for a credit; if none does, that a head waits for
    /// room.
    starved: Table<bool>,
    /// By output VC, the input VC (router numbering) that holds it, or [`NONE`]: of the general kind only. See
    /// [`InputQueuedRouters::holder`].
    owners: Table<u16>,
    ports: Table<PortArbiters>,
    /// By output: slots taken of those that the VCs behind it share. Of the buffered and the general kinds alone.
    shared: Table<u32>,
    /// The lists of requests: an input VC is in one of them at most, and once.
    vc_requests: Table<VcRequest>,
    switch_requests: Table<SwitchRequest>,
    /// The input VCs that wait at each output.
    waiting: InputSets,
    /// The heads that wait and may decide again. Those of a router have the first places from its first VC on, however few
    /// they are: what is used of this is near.
    waiting_heads: Table<WaitingHead>,
    /// The places of these, in the numbering of each router.
    noted: InputSets,
    /// Those of them that are not on the list of requests.
    undecided: InputSets,
    /// The router of each port.
    router_of: Table<u32>,
    /// VCs of each class; behind them all VCs. Any class is an index: a routing may decide for one that there is not.
    class_masks: Box<[u64; 256]>,
    /// By class, the slots of its VCs behind an output.
    slots: Box<[u32; 256]>,
    pool: Pool<Flit>,
    /// 1 for batches that have requests, else 0, up to a multiple of 64 of them: they are visited in order, as their tables
    /// lie in memory.
    active: Table<u8>,
    /// What the allocations of all routers read and write: more than [`NEAR`] or [`FAR`]?
    bytes: usize,
    /// The pool of flits takes more than [`DEEP`].
    deep: bool,
    by_input: Choices,
    by_output: Choices,
    by_vc: Choices,
    /// The output VC that each request of a router has picked in a step.
    picks: Table<u16>,
    /// Choices of the plain router, and the output VCs that it has freed in a step.
    vc_turns: Table<u32>,
    output_turns: Table<u32>,
    freed: Table<u16>,
    /// Inputs (2 i) and outputs (2 o + 1) matched by earlier iterations of the step.
    granted: Vec<u16>,
    /// For the wavefront allocator: the diagonals of each router, and the requests of a step.
    diagonals: Table<Diagonals>,
    requests: Vec<Pairing>,
    vcs: u32,
    policy: BufferPolicy,
    /// For the VCs of `policy.whole`, by output VC: the least size of the packets that wait for room in it.
    wanted: Table<u16>,
    /// The most slots that a packet may want.
    most: u32,
    /// Where heads decide again, the state in which they decided, by their places in the pool. Empty where they do so at their
    /// source alone: their packets start again.
    before: Vec<PacketState>,
    /// They are kept there.
    remembers: bool,
    /// Where packets take more slots than they have flits: of those behind each output VC, the flits whose credits have
    /// not come back, and the slots beyond.
    padded: Vec<VecDeque<(u16, u16)>>,
    /// Heads decide again in this many first routers of their paths; 0 if nowhere.
    revocable: u16,
    /// Heads that have visited fewer routers than this decide at the front of their VC: `revocable`, or 0 if all decide when
    /// they arrive.
    deferring: u16,
    /// Where heads decide again, what waits for and behind each output.
    queued: Table<PortQueue>,
    /// Where routings compare them, [`View::queue_of`](crate::routing::View::queue_of), by port and class; else empty.
    queues: Table<i32>,
    by_class: bool,
    /// The class that each VC belongs to.
    class_of: [u8; 64],
    /// What has arrived in the cycle at hand.
    joins: Joins,
    /// Heads that have arrived at the front of their VC in the cycle, and have to wait: router and record of each.
    refused: Vec<(u32, usize)>,
    /// Routers at which something has changed since the heads that wait there decided.
    looking: Vec<u32>,
    /// Heads that have come to the front of their VC, and decide for the first time.
    fresh: Vec<FreshHead>,
    allocator: Allocator,
    iterations: u32,
    priority: Priority,
    /// Internal steps a cycle; steps are counted from the first of cycle 0 on.
    speedup: f64,
    /// Whole cycles that the stages take beyond their step.
    delays: Delays,
    /// Where they take some: the internal step from which the front of each input VC may be allocated. Of the general kind,
    /// and of the others where heads decide again.
    ready: Table<u32>,
    /// Some stage takes more than its step: requests have to look at when they are ready.
    delayed: bool,
    /// The last delays found, by step.
    delays_of: [Delay; 4],
    /// That of the first step of a cycle, and the cycle.
    arrival: (u32, Delay),
    /// Heads that are not ready yet, by the cycle in which they are: those that are from its first step on, and others.
    unready: [Wheel<Unready>; 2],
    /// Where packets that are given VCs of one output in one step may take the shared slots from each other: from how many
    /// slots taken on they do not suffice for all, and one that enters a ring.
    tight: u32,
    /// Those that have won output VCs in such a step: the VCs, and the places of the requests.
    winners: Vec<(u16, u16)>,
}

impl<const LOG: u32, const KIND: u8> InputQueuedRouters<LOG, KIND> {
    /// [`is_buffered`].
    const BUFFERED: bool = is_buffered(KIND);
    /// [`is_adaptive`].
    const ADAPTIVE: bool = is_adaptive(KIND);
    /// The kinds that have more than each VC's own slots.
    const SHARES: bool = Self::BUFFERED || KIND == GENERAL;

    #[inline(always)]
    fn delayed(&self) -> bool {
        Self::SHARES && self.delayed
    }

    /// A flit that has arrived, if it is a head with what has been decided about it, goes to the end of input VC `vc`.
    #[inline(always)]
    fn enqueue(&mut self, vc: u32, router: u32, place: u32, decided: Option<(Decision, PacketState)>, now: u32) {
        let index = vc as usize;
        let decision = decided.map(|(decision, _)| decision);
        let first = self.append(index, place, decision);
        // Where heads decide at the front, those that may do so again are taken in by `accept_front` and `accept_undecided`.
        let again = self.decides_again() && self.deferring() == 0;
        let commitment = if again { self.commitment(place) } else { Commitment::Final };
        debug_assert!(decided.is_none() || commitment == self.commitment(place));
        if let (Commitment::Open, Some((_, before))) = (commitment, decided) {
            self.remember(place, before);
        }
        if !first {
            return;
        }
        match decision {
            Some(Decision { out, class, .. }) if Self::SHARES => {
                let delay = self.delay_on_arrival(now);
                if !self.ask_vc_after(router, index, (out, class, commitment), delay) {
                    return;
                }
            }
            Some(Decision { out, class, .. }) => self.list_vc_request(router, index, out, class, commitment),
            None => {
                if KIND == GENERAL && self.delayed {
                    self.ready[index] = after(self.speedup, first_step(self.speedup, now), self.delays.sw_alloc);
                }
                let lead = self.lead_of(router);
                let vc_base = self.routers[lead].first_port << LOG;
                let input = (vc - vc_base) as u16;
                let output = self.held(vc_base as usize, input);
                self.ask_switch(lead, input, output);
            }
        }
        self.activate(router);
    }

    #[inline(always)]
    fn allocator(&self) -> Allocator {
        if KIND == GENERAL { self.allocator } else { Allocator::SeparableInputFirst }
    }

    #[inline(always)]
    fn iterations(&self) -> u32 {
        if KIND == GENERAL { self.iterations } else { 1 }
    }

    #[inline(always)]
    fn priority(&self) -> Priority {
        if KIND == GENERAL { self.priority } else { Priority::None }
    }

    /// The rank of the packet at the front of input VC `input` of the router whose first VC is `vc_base`, where packets have
    /// one: lower ones come first.
    #[inline(always)]
    fn rank(&self, vc_base: usize, input: u16) -> Option<u32> {
        let front = || self.front(vc_base + input as usize);
        match self.priority() {
            Priority::None => None,
            Priority::Transit => Some(u32::from(front().hops == 1)),
            Priority::Age => Some(front().created),
        }
    }

    #[inline(always)]
    fn decides_again(&self) -> bool {
        Self::ADAPTIVE || KIND == GENERAL && self.revocable > 0
    }

    /// [`InputQueuedRouters::deferring`].
    #[inline(always)]
    fn deferring(&self) -> u16 {
        if KIND == AT_SOURCE { 1 } else { self.deferring }
    }

    /// True if this head decides again at its router, where heads do in the first `revocable` routers of their paths.
    #[inline(always)]
    fn may_decide_again(head: &Flit, revocable: u16) -> bool {
        head.hops <= if KIND == AT_SOURCE { 1 } else { revocable } && head.kind & ARRIVED == 0
    }

    /// True if this head decides again at the router at which it is.
    #[inline(always)]
    fn is_open(&self, head: &Flit) -> bool {
        self.decides_again() && Self::may_decide_again(head, self.revocable)
    }

    /// Whether the head at `place` in the pool decides again at the router at which it is.
    #[inline(always)]
    fn commitment(&self, place: u32) -> Commitment {
        if self.decides_again() && self.is_open(self.pool.get(place)) { Commitment::Open } else { Commitment::Final }
    }

    #[inline(always)]
    fn whole(&self) -> u64 {
        if may_take_whole(KIND) { self.policy.whole } else { 0 }
    }

    #[inline(always)]
    fn cut_through(&self) -> bool {
        Self::SHARES && self.policy.cut_through
    }

    /// The occupancy from which the owner of a VC waits for credits, if no shared place is left.
    #[inline(always)]
    fn limit(&self) -> u32 {
        if self.cut_through() { u32::MAX } else { self.policy.reserve.into() }
    }

    /// The position of a VC among those of its port.
    #[inline(always)]
    fn vc(index: u16) -> u32 {
        u32::from(index) & ((1 << LOG) - 1)
    }

    #[inline(always)]
    fn port(index: u16) -> u16 {
        ((index as u32) >> LOG) as u16
    }

    #[inline(always)]
    fn activate(&mut self, router: u32) {
        let batch = (router >> self.batch_log()) as usize;
        self.active[batch] = 1;
    }

    /// The routers of a batch are 2^this: one alone, but at the buffered kinds.
    #[inline(always)]
    fn batch_log(&self) -> u32 {
        if Self::BUFFERED { self.batch_log } else { 0 }
    }

    /// The first router of a router's batch.
    #[inline(always)]
    fn lead_of(&self, router: u32) -> usize {
        (router >> self.batch_log() << self.batch_log()) as usize
    }

    /// The first VC of a router's batch.
    #[inline(always)]
    fn batch_base(&self, router: usize) -> usize {
        (self.routers[self.lead_of(router as u32)].first_port as usize) << LOG
    }

    /// The batches from number 64 `word` on that have requests, a bit each.
    #[inline(always)]
    fn active_bits(&self, word: usize) -> u64 {
        // Bit 8 i moves to 56 + i; no two of the others meet.
        const GATHER: u64 = 0x0102_0408_1020_4080;
        let bytes = self.active.slice(word * 64, 64).chunks_exact(8);
        let bits =
            bytes.map(|eight| u64::from_le_bytes(eight.try_into().expect("eight of them")).wrapping_mul(GATHER) >> 56);
        bits.rev().fold(0, |all, eight| all << 8 | eight)
    }

    /// Runs the internal steps of a router from step `first` on; returns true if it has requests left.
    #[inline(always)]
    fn step_router(&mut self, router: usize, first: u32, cycle: Cycle, channels: &mut Channels) -> bool {
        for substep in 0..cycle.substeps {
            let tick = Tick { now: cycle.now, departure: cycle.departure(substep), step: first + substep };
            let asking = self.routers[router].asking_switch as usize;
            self.allocate_vcs(router, tick.step);
            if asking > 0 {
                self.allocate_switch(router, asking, tick, channels);
            }
        }
        let state = &self.routers[router];
        state.asking_vc > 0 || state.asking_switch > 0
    }

    /// What allocations read and write, by port.
    const BYTES: usize = size_of::<PortArbiters>()
        + size_of::<ChannelEnd>()
        + ((size_of::<InputVc>()
            + size_of::<OutputVc>()
            + size_of::<bool>()
            + size_of::<VcRequest>()
            + size_of::<SwitchRequest>())
            << LOG);

    /// Asks for the memory of the routers of a word that are visited next: the lists of the second, and what the requests
    /// of the first are about, for which its lists must have come.
    #[inline(never)]
    fn expect(&self, word: usize, next: u64, substeps: u32, channels: &Channels) {
        let after = next & next.wrapping_sub(1);
        if after != 0 {
            let (first_vc, asking_vc, asking_switch) =
                self.lists((word * 64 + after.trailing_zeros() as usize) << self.batch_log());
            (0..asking_vc).step_by(8).for_each(|place| self.vc_requests.prefetch(first_vc + place));
            (0..asking_switch).step_by(16).for_each(|place| self.switch_requests.prefetch(first_vc + place));
        }
        if next != 0 {
            let router = (word * 64 + next.trailing_zeros() as usize) << self.batch_log();
            let (first_vc, asking_vc, asking_switch) = self.lists(router);
            let RouterState { ports: radix, late, .. } = self.routers[router];
            // Those that may be given a VC in an earlier step may cross in the same cycle.
            let early = match substeps {
                1 if KIND != GENERAL => 0,
                _ => asking_vc - usize::from(late),
            };
            if (KIND == PLAIN || Self::BUFFERED) && asking_vc + asking_switch > usize::from(radix) / 4 {
                let looked_at = if Self::BUFFERED { early } else { asking_vc };
                return self.expect_ports(first_vc, radix.into(), (looked_at, asking_switch), channels);
            }
            in_groups(0..early, |place| {
                let VcRequest { input, port, .. } = self.vc_requests[first_vc + place];
                self.expect_transfer(first_vc, input, port << LOG, channels);
            });
            // Under cut-through a transfer does not look at output VCs.
            in_groups(if self.cut_through() { 0 } else { early }..asking_vc, |place| {
                let VcRequest { input, port, .. } = self.vc_requests[first_vc + place];
                if !Self::BUFFERED {
                    self.inputs.prefetch(first_vc + usize::from(input));
                }
                self.outputs.prefetch(first_vc + usize::from(port << LOG));
                self.ports.prefetch((first_vc >> LOG) + usize::from(port));
            });
            in_groups(0..asking_switch, |place| {
                let SwitchRequest { input, output } = self.switch_requests[first_vc + place];
                self.expect_transfer(first_vc, input, output, channels);
            });
        }
    }

    /// As [`Self::expect`] for a router with many requests: for all of its ports at once, of which they use most lines, and for
    /// the input VCs of the first requests for VCs and of those for the switch.
    #[inline(always)]
    fn expect_ports(&self, first_vc: usize, radix: usize, asking: (usize, usize), channels: &Channels) {
        let (asking_vc, asking_switch) = asking;
        let (first, vcs) = (first_vc >> LOG, radix << LOG);
        self.ports.prefetch_part(first, radix);
        channels.ends.prefetch_part(first, radix);
        self.outputs.prefetch_part(first_vc, vcs);
        if Self::BUFFERED {
            self.shared.prefetch_part(first, radix);
            self.starved.prefetch_part(first_vc, vcs);
        }
        in_groups(0..asking_vc, |place| {
            self.inputs.prefetch(first_vc + usize::from(self.vc_requests[first_vc + place].input));
        });
        in_groups(0..asking_switch, |place| {
            self.inputs.prefetch(first_vc + usize::from(self.switch_requests[first_vc + place].input));
        });
    }

    /// Asks for the memory that the first request of the batch two behind the next of these is about, or of the last one:
    /// where few of a word have requests, most have one.
    #[inline(always)]
    fn expect_alone(&self, word: usize, batches: u64, channels: &Channels) {
        // Without branches, which are mispredicted at the last ones of each word.
        let drop_first = |batches: u64| {
            let others = batches & batches.wrapping_sub(1);
            if others == 0 { batches } else { others }
        };
        let behind = drop_first(drop_first(batches));
        let first_port =
            self.routers[(word * 64 + behind.trailing_zeros() as usize) << self.batch_log()].first_port as usize;
        let VcRequest { input, port, .. } = self.vc_requests[first_port << LOG];
        let (input, port) = (first_port + usize::from(Self::port(input)), first_port + usize::from(port));
        self.ports.prefetch(port);
        self.outputs.prefetch(port << LOG);
        channels.ends.prefetch(port);
        channels.ends.prefetch(input);
    }

    /// Asks for the memory of the first heads that wait at a router.
    #[inline(always)]
    fn expect_waiting(&self, router: usize) {
        self.noted.prefetch(router);
        self.undecided.prefetch(router);
        self.waiting_heads.prefetch((self.routers[router].first_port as usize) << LOG);
    }

    /// The first VC of the batch whose first router is `lead`, and the lengths of its lists of requests.
    #[inline(always)]
    fn lists(&self, lead: usize) -> (usize, usize, usize) {
        let RouterState { first_port, asking_vc, asking_switch, .. } = self.routers[lead];
        ((first_port as usize) << LOG, asking_vc.into(), asking_switch.into())
    }

    /// A flit will cross from an input VC of the batch whose first VC is `first_vc` to an output VC.
    #[inline(always)]
    fn expect_transfer(&self, first_vc: usize, input: u16, output: u16, channels: &Channels) {
        let (input, output) = (first_vc + usize::from(input), first_vc + usize::from(output));
        self.inputs.prefetch(input);
        if !self.cut_through() {
            self.outputs.prefetch(output);
        }
        self.ports.prefetch(output >> LOG);
        channels.ends.prefetch(output >> LOG);
        channels.ends.prefetch(input >> LOG);
    }

    /// Ports of a router.
    fn radix(&self, router: usize) -> u32 {
        let first = self.routers[router].first_port;
        let next = self.routers.iter().nth(router + 1).map_or(self.ports.iter().len() as u32, |r| r.first_port);
        next - first
    }
}

impl<const LOG: u32, const KIND: u8> RouterModel for InputQueuedRouters<LOG, KIND> {
    type Plan = Options;

    fn new(setup: &Setup, options: &Options, first_ports: &[u32], ports: usize, region: Option<&Region>) -> Self {
        let output = OutputVc { occupancy: 0, last_input: NONE };
        let policy = BufferPolicy::new(setup);
        let wavefront = options.allocator == Allocator::Wavefront;
        let decides = setup.again != Again::Never;
        let by_class = decides && setup.by_class;
        let all = setup.class_masks[setup.classes as usize];
        let port = PortArbiters { free: all, last_output: NONE, last_input: NONE, last_vc: NONE, waiting: 0 };
        let radix = first_ports.windows(2).map(|w| w[1] - w[0]).max().unwrap_or(0) as usize;
        let routers = first_ports.len() - 1;
        let in_batch = if Self::BUFFERED { 1 << (BATCH / radix.max(1)).checked_ilog2().unwrap_or(0) } else { 1 };
        let router = |(number, w): (usize, &[u32])| {
            let lead = number / in_batch * in_batch;
            let end = first_ports[(lead + in_batch).min(routers)];
            RouterState {
                first_port: w[0],
                radix: (w[1] - w[0]) as u16,
                ports: (end - first_ports[lead]) as u16,
                asking_vc: 0,
                asking_switch: 0,
                look: false,
                undecided: 0,
                all_undecided: 0,
                late: 0,
            }
        };
        let ports_of_batch = in_batch * radix;
        // SAFETY: routers, ports and VCs (2^LOG to a port) of the domain are numbered from 0 without gaps. Numbers of VCs
        // come in by the channels, which have them from the network, and all others are made of them: those within a
        // batch by its first port and the output of a head, which is checked when the head asks for it. An input VC is on
        // its batch's lists of requests once at most, so these have room. Masks of classes, and so free VCs, hold the VCs
        // of a port only. Flits on wires and in buffers are at the places where the pool put them. Tables that an option
        // leaves empty are read with that option only.
        let tables = unsafe { TableMaker::promise() }.within(region);
        let of_routers = || InputSets::new(&tables, if decides { first_ports.len() - 1 } else { 0 }, radix << LOG);
        Self {
            routers: tables.of(first_ports.windows(2).enumerate().map(router)),
            batch_log: in_batch.trailing_zeros(),
            inputs: tables.filled(InputVc::EMPTY, ports << LOG),
            outputs: tables.filled(output, ports << LOG),
            starved: tables.filled(false, ports << LOG),
            owners: tables.filled(NONE, if KIND == GENERAL { ports << LOG } else { 0 }),
            ports: tables.filled(port, ports),
            shared: tables.filled(0, if Self::SHARES { ports } else { 0 }),
            vc_requests: tables.filled(VcRequest::NONE, ports << LOG),
            switch_requests: tables.filled(SwitchRequest { input: NONE, output: NONE }, ports << LOG),
            waiting: InputSets::new(&tables, ports, radix << LOG),
            waiting_heads: tables.filled(WaitingHead::NONE, if decides { ports << LOG } else { 0 }),
            noted: of_routers(),
            undecided: of_routers(),
            router_of: tables.owners(first_ports),
            class_masks: class_masks(&setup.class_masks),
            slots: slots(&setup.class_masks, &policy),
            pool: Pool::new(&tables, setup.slots(ports)),
            active: tables.filled(0, routers.div_ceil(in_batch).next_multiple_of(64)),
            bytes: ports * Self::BYTES,
            deep: false,
            by_input: Choices::new(&tables, ports_of_batch),
            by_output: Choices::new(&tables, radix),
            by_vc: Choices::new(&tables, radix << LOG),
            picks: tables.filled(0, radix << LOG),
            vc_turns: tables.filled(Turns::UNSET, ports_of_batch << LOG),
            output_turns: tables.filled(Turns::UNSET, ports_of_batch),
            freed: tables.filled(0, ports_of_batch << LOG),
            granted: Vec::new(),
            diagonals: tables.filled(Diagonals { vcs: 0, switch: 0 }, if wavefront { first_ports.len() } else { 0 }),
            requests: Vec::new(),
            vcs: setup.vcs,
            policy,
            wanted: tables.filled(0, if policy.whole == 0 { 0 } else { ports << LOG }),
            revocable: setup.again.routers(),
            deferring: if let Again::Revocable(routers) = setup.again { routers } else { 0 },
            queued: tables.filled(PortQueue::default(), if decides { ports } else { 0 }),
            queues: tables.filled(0, if by_class { ports << LOG } else { 0 }),
            by_class,
            class_of: classes_of(&setup.class_masks),
            most: setup.largest.max(2 * setup.bubble),
            before: Vec::new(),
            remembers: decides && setup.again != Again::Revocable(1) && !setup.undoes,
            padded: vec![VecDeque::new(); if policy.bubble > 1 { ports << LOG } else { 0 }],
            joins: Joins::default(),
            refused: Vec::new(),
            looking: Vec::new(),
            fresh: Vec::new(),
            allocator: options.allocator,
            iterations: options.iterations,
            priority: options.priority,
            speedup: options.speedup,
            delays: Delays {
                routing: options.routing_delay.checked_sub(1),
                vc_alloc: options.vc_alloc_delay - 1,
                sw_alloc: options.sw_alloc_delay - 1,
            },
            ready: tables.filled(0, if options.delayed() && KIND != BUFFERED { ports << LOG } else { 0 }),
            delayed: options.delayed(),
            delays_of: [Delay::NONE; 4],
            arrival: (u32::MAX, Delay::NONE),
            unready: [0, 1].map(|_| Wheel::new(options.routing_delay + options.vc_alloc_delay + 1)),
            tight: match policy.cut_through && policy.pool > 0 {
                true => (policy.pool + 1).saturating_sub((setup.vcs + 1) * setup.largest),
                false => u32::MAX,
            },
            winners: Vec::new(),
        }
    }

    #[inline(always)]
    fn port_of(&self, vc: u32) -> u32 {
        vc >> LOG
    }

    #[inline(always)]
    fn router_of(&self, vc: u32) -> u32 {
        self.router_of[(vc >> LOG) as usize]
    }

    #[inline(always)]
    fn pool(&self) -> &Pool<Flit> {
        &self.pool
    }

    #[inline(always)]
    fn pool_mut(&mut self) -> &mut Pool<Flit> {
        &mut self.pool
    }

    #[inline(always)]
    fn accept(&mut self, vc: u32, router: u32, place: u32, decided: Option<(Decision, PacketState)>, now: u32) {
        if let Some((decision, _)) = decided
            && self.decides_again()
        {
            self.join_queue(router, decision, place);
        }
        self.enqueue(vc, router, place, decided, now);
    }

    #[inline(always)]
    fn accept_last(&mut self, vc: u32, router: u32, place: u32, decided: (Decision, PacketState), now: u32) {
        if self.decides_again() {
            let Decision { out, class, kind, .. } = decided.0;
            let size = if kind & TAIL != 0 { 1 } else { self.pool.get(place).size() };
            self.move_queue(self.output(router, out), class, size as i32);
        }
        self.enqueue(vc, router, place, Some(decided), now);
    }

    #[inline(always)]
    fn expect_flit(&self, vc: u32, place: u32) {
        self.inputs.prefetch(vc as usize);
        if self.decides_again() && self.remembers() {
            prefetch(&self.before, place as usize);
        }
    }

    #[inline(always)]
    fn are_queues_far(&self) -> bool {
        self.decides_again() && self.bytes > FAR
    }

    #[inline(always)]
    fn expect_queues(&self, router: u32) {
        let RouterState { first_port, radix, .. } = self.routers[router as usize];
        self.queued.prefetch_part(first_port as usize, radix.into());
    }

    #[inline(always)]
    fn expect_decision(&self, FreshHead { vc, router, place }: FreshHead, out: u16) {
        self.pool.prefetch(place);
        self.inputs.prefetch(vc as usize);
        if self.remembers() {
            prefetch(&self.before, place as usize);
        }
        let port = self.routers[router as usize].first_port as usize + usize::from(out);
        self.ports.prefetch(port);
        self.queued.prefetch(port);
    }

    #[inline(always)]
    fn is_far(&self) -> bool {
        self.bytes > NEAR
    }

    #[inline(always)]
    fn expect_credit(&self, vc: u32) {
        self.outputs.prefetch(vc as usize);
    }

    #[inline(always)]
    fn credit(&mut self, vc: u32) {
        let output = &mut self.outputs[vc as usize];
        debug_assert!(output.occupancy > 0, "a credit that was not spent");
        let was_shared = Self::SHARES && output.occupancy > self.policy.reserve;
        let may_be_waited_for = output.occupancy >= self.policy.waited_from;
        output.occupancy -= 1;
        if self.decides_again() {
            self.leave_channel(vc);
        }
        if KIND == GENERAL && !self.padded.is_empty() {
            self.give_padding_back(vc);
        }
        if was_shared {
            let port = vc >> LOG;
            self.shared[port as usize] -= 1;
            for vc in port << LOG..(port + 1) << LOG {
                if self.starved[vc as usize] {
                    self.relieve(vc);
                }
            }
        } else if may_be_waited_for && self.starved[vc as usize] {
            self.relieve(vc);
        }
        debug_assert!(may_be_waited_for || !self.starved[vc as usize]);
    }

    // Not inlined: compiled once for each stride, not again for each routing.
    #[inline(never)]
    fn step(&mut self, now: u32, channels: &mut Channels) {
        if self.delayed() {
            self.list_ready(now);
        }
        let first = first_step(self.speedup, now);
        let substeps = first_step(self.speedup, now + 1) - first;
        let cycle = Cycle { now, substeps, delays: self.delays_after(first) };
        self.deep = self.pool.bytes() > DEEP;
        for word in 0..self.active.len() / 64 {
            let mut left = self.active_bits(word);
            let few = (NEAR + 1..=FAR).contains(&self.bytes) && left.count_ones() <= FEW;
            while left != 0 {
                let batch = word * 64 + left.trailing_zeros() as usize;
                let router = batch << self.batch_log();
                if few {
                    self.expect_alone(word, left, channels);
                }
                left &= left - 1;
                if self.bytes > FAR {
                    self.expect(word, left, substeps, channels);
                }
                let asking = if KIND == GENERAL {
                    self.step_router(router, first, cycle, channels)
                } else {
                    self.step_plain(router, cycle, channels)
                };
                self.active[batch] = u8::from(asking);
            }
        }
    }

    #[inline(always)]
    fn occupancy(&self, port: u32) -> u32 {
        // The port is what a routing asks for.
        let taken = || self.outputs.slice((port << LOG) as usize, 1 << LOG).iter().map(|vc| u32::from(vc.occupancy));
        if is_bare_adaptive(KIND) {
            let sent = self.queued.checked(port as usize).sent;
            debug_assert_eq!(sent, taken().sum::<u32>(), "the flits sent are counted and summed");
            return sent;
        }
        taken().sum()
    }

    const MAY_DEFER: bool = Self::ADAPTIVE || KIND == GENERAL;

    #[inline(always)]
    fn defers_in_flight(&self) -> bool {
        self.deferring() > 1
    }

    #[inline(always)]
    fn defers(&self, head: &Flit) -> bool {
        // It visits this router next.
        self.decides_again() && head.hops < self.deferring()
    }

    #[inline(always)]
    fn accept_undecided(&mut self, vc: u32, router: u32, place: u32, now: u32) {
        self.pool.at(place).out = UNDECIDED;
        if self.append(vc as usize, place, None) {
            let delay = self.delay_on_arrival(now);
            self.ask_vc_after(router, vc as usize, (UNDECIDED, 0, Commitment::Open), delay);
        }
    }

    #[inline(always)]
    fn accept_front(&mut self, vc: u32, router: u32, place: u32, decided: (Decision, PacketState), now: u32) {
        let (decision, before) = decided;
        let port = self.join_queue(router, decision, place);
        self.append_first(vc as usize, place, decision);
        self.remember(place, before);
        let delay = self.delay_on_arrival(now);
        let waits = self.front_asks((router, vc, place), port, decision, delay);
        // As where `ask_vc_after` notes it.
        if self.delayed() && (KIND == GENERAL || waits.is_some()) {
            self.ready[vc as usize] = delay.ready;
        }
        if let Some(record) = waits {
            self.refused.push((router, record));
        }
    }

    #[inline(always)]
    fn settle_queues(&mut self) {
        self.settle_joins();
    }

    #[inline(always)]
    fn queue(&self, port: u32) -> u32 {
        if !self.decides_again() {
            return self.occupancy(port);
        }
        // The port is what a routing asks for.
        self.queued.checked(port as usize).all as u32
    }

    #[inline(always)]
    fn queues(&self, first: u32, count: u32) -> Option<impl ExactSizeIterator<Item = u32>> {
        // The ports are what a routing asks for.
        let queues = self.decides_again().then(|| self.queued.slice(first as usize, count as usize))?;
        Some(queues.iter().map(|queue| queue.all as u32))
    }

    #[inline(always)]
    fn queue_of(&self, port: u32, class: u8) -> u32 {
        if !self.decides_again() {
            return self.occupancy(port);
        }
        assert!(self.by_class, "a routing that reads queues by class declares compares_classes");
        *self.queues.checked(Self::queue_index(port, class)) as u32
    }

    #[inline(always)]
    fn free_vcs(&self, port: u32, class: u8, size: u32, _from: u32) -> u32 {
        let port = port as usize;
        // Port and class are what a routing asks for.
        let free = self.ports.checked(port).free & self.class_masks[class as usize];
        let mut count = free.count_ones();
        if self.all_fit(port, size) {
            return count;
        }
        let mut whole = free & self.whole();
        while whole != 0 {
            count -= u32::from(!self.fits(port, whole.trailing_zeros() as usize, size));
            whole &= whole - 1;
        }
        count
    }

    #[inline(always)]
    fn has_free_vc(&self, port: u32, class: u8, size: u32, _from: u32) -> bool {
        let port = port as usize;
        // Port and class are what a routing asks for.
        let free = self.ports.checked(port).free & self.class_masks[class as usize];
        let mut whole = free & self.whole();
        if whole != free || free != 0 && self.all_fit(port, size) {
            return true;
        }
        while whole != 0 && !self.fits(port, whole.trailing_zeros() as usize, size) {
            whole &= whole - 1;
        }
        whole != 0
    }

    #[inline(always)]
    fn buffer(&self, class: u8) -> u32 {
        self.slots[class as usize]
    }

    fn undecided(&mut self, fresh: &mut Vec<FreshHead>, waiting: &mut Vec<(u32, u32)>) {
        std::mem::swap(fresh, &mut self.fresh);
        while let Some(router) = self.looking.pop() {
            if self.is_far()
                && let Some(&later) = self.looking.iter().nth_back(3)
            {
                self.expect_waiting(later as usize);
            }
            let state = &mut self.routers[router as usize];
            state.look = false;
            let vc_base = state.first_port << LOG;
            let first_vc = self.batch_base(router as usize) as u32;
            for word in 0..self.undecided.words {
                let mut bits = self.undecided.word(router as usize, word);
                while bits != 0 {
                    let number = vc_base + word as u32 * 64 + bits.trailing_zeros();
                    let vc = first_vc + u32::from(self.waiting_heads[number as usize].input);
                    if self.is_far() {
                        self.inputs.prefetch(vc as usize);
                    }
                    waiting.push((vc, number));
                    bits &= bits - 1;
                }
            }
        }
        // These have decided in this cycle.
        while let Some((router, record)) = self.refused.pop() {
            self.wait_undecided(router as usize, record);
        }
    }

    #[inline(always)]
    fn remembers(&self) -> bool {
        KIND != AT_SOURCE && self.remembers
    }

    #[inline(always)]
    fn waiting_head(&self, number: u32) -> Flit {
        self.waiting_heads[number as usize].flit()
    }

    #[inline(always)]
    fn decide_first(&mut self, head: FreshHead, decision: Decision, now: u32) {
        assert!(decision.out < self.routers[head.router as usize].radix, "{NO_SUCH_PORT}");
        self.head_decides(head, decision, now);
    }

    #[inline(always)]
    fn redirect(&mut self, vc: u32, number: u32, decision: Decision, now: u32) {
        let router = self.router_of(vc);
        assert!(decision.out < self.routers[router as usize].radix, "{NO_SUCH_PORT}");
        self.head_decides_anew(router, (vc, number), decision, now);
    }

    #[inline(always)]
    fn flits(&self, vc: u32) -> u32 {
        self.inputs[vc as usize].flits.into()
    }

    fn waits_for(&self, vc: u32) -> Wait {
        let state = &self.inputs[vc as usize];
        let first_port = self.routers[self.router_of(vc) as usize].first_port;
        let vc_base = self.batch_base(self.router_of(vc) as usize) as u32;
        if let Some(held) = self.find_held(self.router_of(vc) as usize, (vc - vc_base) as u16) {
            let output = vc_base + u32::from(held);
            return match state.flits {
                0 => Wait::Flit,
                _ if self.starved[output as usize] => Wait::Credit(output),
                _ => Wait::Nothing,
            };
        }
        if state.flits == 0 {
            return Wait::Nothing;
        }
        let router = self.router_of(vc) as usize;
        let input = (vc - vc_base) as usize;
        let front = &self.noted(router, input as u16).map_or(*self.front(vc as usize), WaitingHead::flit);
        if front.out == UNDECIDED {
            // It decides in the next cycle.
            return Wait::Nothing;
        }
        let port = first_port + u32::from(front.out);
        let class = self.class_masks[front.class as usize];
        if self.free_vcs(port, front.class, self.policy.wanted(front), vc) > 0 {
            return Wait::Nothing;
        }
        let decided = (0..1 << LOG).filter(|v| class >> v & 1 == 1).map(|v| (port << LOG) + v);
        if !self.is_open(front) {
            return Wait::Vcs(decided.collect());
        }
        // It may decide for any VC that is freed here.
        let end = self.routers.iter().map(|r| r.first_port).find(|&p| p > first_port);
        let vcs = first_port << LOG..end.map_or(self.outputs.iter().len() as u32, |port| port << LOG);
        Wait::Vcs(vcs.filter(|&vc| self.holder(vc as usize) != NONE).chain(decided).collect())
    }

    fn owner(&self, vc: u32) -> Option<u32> {
        let owner = self.holder(vc as usize);
        (owner != NONE).then(|| self.batch_base(self.router_of(vc) as usize) as u32 + u32::from(owner))
    }

    fn taken(&self, vc: u32) -> u32 {
        let padding =
            self.padded.get(vc as usize).map_or(0, |sent| sent.iter().map(|(_, places)| u32::from(*places)).sum());
        u32::from(self.outputs[vc as usize].occupancy) - padding
    }

    fn takers(&self, vc: u32) -> Vec<u32> {
        let others = self.policy.pool > 0 && (self.cut_through() || self.holder(vc as usize) != NONE);
        let shares = |other: &u32| others && self.outputs[*other as usize].occupancy > self.policy.reserve;
        let first = vc >> LOG << LOG;
        let own = (self.outputs[vc as usize].occupancy > 0).then_some(vc);
        own.into_iter().chain((first..first + (1 << LOG)).filter(|&other| other != vc).filter(shares)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cycle::Config;
    use crate::cycle::flit::{HEAD, TAIL};
    use crate::cycle::measurement;
    use crate::cycle::terminals::Offer;
    use crate::routing::Routing;
    use crate::watch::NoControl;

    /// What crosses a network of routers of a kind, past saturation or not: flit-hops, packets and their latency.
    fn run<const KIND: u8>(spec: &str, name: &str, load: f64, config: &str) -> (u64, u64, Option<f64>) {
        run_after::<KIND>(spec, name, load, config, |_| ())
    }

    /// The same after a change of what it is set up for.
    fn run_after<const KIND: u8>(
        spec: &str,
        name: &str,
        load: f64,
        config: &str,
        change: impl Fn(&mut Setup),
    ) -> (u64, u64, Option<f64>) {
        let network = crate::topology::build(spec).unwrap();
        let routing = crate::routing::build(&network, name).unwrap();
        let traffic = crate::traffic::build(&network, "uniform").unwrap();
        let mut config: Config = serde_json::from_str(config).unwrap();
        (config.warmup, config.measure) = (Some(0), Some(300));
        let mut setup = Setup::new(&network, name, routing.classes(), 4, &config).unwrap().serve(&routing);
        change(&mut setup);
        let (offer, plan) = (Offer::of(&traffic, load), Options::read(&setup.config.router));
        let point =
            measurement::run::<InputQueuedRouters<2, KIND>>(&network, &routing, offer, &setup, &plan, &NoControl);
        let point = point.unwrap();
        (point.flit_hops, point.packets, point.latency_cycles)
    }

    #[test]
    fn a_run_takes_the_simplest_kind_that_has_what_it_needs() {
        for (spec, routing, config, expected) in [
            ("hyperx:3x3", "dor", "{}", PLAIN),
            ("hyperx:3x3", "ugal-l", "{}", AT_SOURCE),
            ("dragonfly:a=4,h=2,p=2", "par", "{}", AT_SOURCE),
            // Its heads decide again at their second routers.
            ("hyperx:3x3", "par", "{}", ADAPTIVE),
            ("hyperx:3x3", "dimwar", "{}", ADAPTIVE),
            // Packets must fit whole.
            ("torus:4x4", "duato", "{}", ADAPTIVE),
            ("hyperx:3x3", "dor", r#"{"flow": "vct"}"#, BUFFERED),
            ("hyperx:3x3", "ugal-l", r#"{"routing_delay": 1}"#, BUFFERED_ADAPTIVE),
            ("hyperx:3x3", "ugal-l", r#"{"allocator": "wavefront"}"#, GENERAL),
        ] {
            let network = crate::topology::build(spec).unwrap();
            let routed = crate::routing::build(&network, routing).unwrap();
            let config: Config = serde_json::from_str(config).unwrap();
            let setup = Setup::new(&network, routing, routed.classes(), 8, &config).unwrap().serve(&routed);
            assert_eq!(kind(&setup, &Options::read(&setup.config.router)), expected, "{spec} {routing} {config:?}");
        }
    }

    #[test]
    fn the_plain_router_moves_every_flit_as_the_general_one() {
        for (spec, config) in [
            ("mesh:4x4,p=2", r#"{"vcs": 4, "buffer": 2}"#),
            ("hyperx:3x3,p=4", r#"{"vcs": 3, "speedup": 1.0}"#),
            ("torus:5", r#"{"vcs": 4, "packet": "1-5", "buffer": 3, "speedup": 1.5}"#),
            // Many wait for the VCs of one output.
            ("hyperx:2,p=12", r#"{"vcs": 4, "buffer": 2, "packet": "1-2"}"#),
            // So many that their set has several words; heads of two classes wait there.
            ("torus:5,p=16", r#"{"vcs": 4, "buffer": 4, "packet": "1-2"}"#),
            // Some wait for VCs of packets of several flits: one that is woken may have its router for itself.
            ("mesh:3,p=2", r#"{"vcs": 3, "buffer": 16, "packet": "1-6"}"#),
        ] {
            // At the lowest of them most routers have a single request.
            for load in [0.03, 0.2, 1.0] {
                let (plain, general) =
                    (run::<PLAIN>(spec, "dor", load, config), run::<GENERAL>(spec, "dor", load, config));
                assert_eq!(plain, general, "{spec} {load}");
            }
        }
    }

    #[test]
    fn the_adaptive_router_moves_every_flit_as_the_general_one() {
        for (spec, routing, config) in [
            ("dragonfly:a=4,h=2,p=4", "par", r#"{"vcs": 4, "buffer": 4}"#),
            ("hyperx:4x4,p=4", "ugal-l", r#"{"vcs": 4, "packet": "1-5"}"#),
            ("hyperx:4x4,p=4", "dimwar", r#"{"vcs": 3, "speedup": 1.0}"#),
            ("torus:4x4,p=2", "duato", r#"{"vcs": 3, "packet": 4, "buffer": 8}"#),
            ("hyperx:3x3", "ugal-l", r#"{"vcs": 4, "buffer": 1}"#),
            ("hyperx:3x3", "dimwar", r#"{"vcs": 3, "buffer": 1}"#),
        ] {
            for load in [0.03, 0.3, 1.0] {
                let (adaptive, general) =
                    (run::<ADAPTIVE>(spec, routing, load, config), run::<GENERAL>(spec, routing, load, config));
                assert!(adaptive.0 > 0);
                assert_eq!(adaptive, general, "{spec} {routing} {load}");
                if ["par", "ugal-l"].contains(&routing) {
                    assert_eq!(run::<AT_SOURCE>(spec, routing, load, config), general, "{spec} {routing} {load}");
                }
            }
        }
    }

    #[test]
    fn the_buffered_routers_move_every_flit_as_the_general_one() {
        let galaxyfly = "galaxyfly:n=3,q=5,a=1,p=6";
        for (spec, routing, config) in [
            // The router of the Galaxyfly paper, with slots for all and so few that winners take them from each other.
            (galaxyfly, "min", r#"{"vcs": 4, "flow": "vct", "buffers": "shared:5", "routing_delay": 2}"#),
            (galaxyfly, "min", r#"{"vcs": 4, "flow": "vct", "buffers": "shared:1", "buffer": 2, "routing_delay": 1}"#),
            (galaxyfly, "min", r#"{"vcs": 4, "flow": "vct", "buffers": "shared:3", "buffer": 4, "packet": "1-3"}"#),
            ("mesh:4x4,p=2", "dor", r#"{"vcs": 3, "flow": "vct", "packet": "1-5", "buffer": 8, "routing_delay": 7}"#),
            ("hyperx:3x3,p=4", "dor", r#"{"buffers": "shared:1", "buffer": 2, "packet": "1-3", "vcs": 4}"#),
            (
                "hyperx:3x3,p=4",
                "dor",
                r#"{"buffers": "shared:2", "buffer": 4, "vcs": 3, "speedup": 1.0, "routing_delay": 2}"#,
            ),
            ("torus:5,p=3", "dor", r#"{"routing_delay": 1, "vcs": 4, "buffer": 6, "packet": "1-2", "speedup": 1.5}"#),
            // Several batches, the last one of fewer routers; those at the rim have fewer ports.
            ("mesh:9x9,p=2", "dor", r#"{"vcs": 4, "flow": "vct", "buffers": "shared:2", "buffer": 4}"#),
            ("mesh:9x9,p=2", "dor", r#"{"vcs": 3, "routing_delay": 2, "buffer": 4, "packet": "1-3"}"#),
            // A single head often waits for VCs that are all held by long packets.
            ("mesh:3,p=1", "dor", r#"{"vcs": 3, "buffers": "shared:1", "buffer": 16, "packet": "1-6"}"#),
            ("mesh:3,p=2", "dor", r#"{"vcs": 3, "routing_delay": 1, "buffer": 16, "packet": "1-6"}"#),
        ] {
            for load in [0.03, 0.3, 1.0] {
                let buffered = run::<BUFFERED>(spec, routing, load, config);
                assert_eq!(buffered, run::<GENERAL>(spec, routing, load, config), "{spec} {load} {config}");
            }
        }
        for (spec, routing, config) in [
            (galaxyfly, "nal", r#"{"vcs": 4, "flow": "vct", "buffers": "shared:5", "routing_delay": 2}"#),
            (galaxyfly, "nag", r#"{"vcs": 4, "flow": "vct", "buffers": "shared:1", "buffer": 2, "routing_delay": 1}"#),
            (galaxyfly, "nar", r#"{"vcs": 4, "flow": "vct", "buffers": "shared:3", "buffer": 4, "packet": "1-3"}"#),
            ("dragonfly:a=4,h=2,p=4", "par", r#"{"vcs": 4, "buffer": 4, "routing_delay": 3, "speedup": 1.5}"#),
            ("dragonfly:a=8,h=2,p=2", "par", r#"{"vcs": 4, "flow": "vct", "buffers": "shared:2", "buffer": 4}"#),
            ("dragonfly:a=8,h=2,p=2", "ugal-l", r#"{"vcs": 4, "buffer": 4, "routing_delay": 1, "packet": "1-2"}"#),
            // Heads decide again as soon as there is room for one that waited for a VC.
            (galaxyfly, "nag", r#"{"vcs": 4, "flow": "vct", "buffer": 8, "packet": "1-3"}"#),
            (
                "dragonfly:a=4,h=2,p=4",
                "ugal-l",
                r#"{"vcs": 4, "flow": "vct", "buffers": "shared:2", "buffer": 6, "packet": "1-3"}"#,
            ),
            ("hyperx:3x3", "ugal-l", r#"{"vcs": 4, "buffer": 1, "routing_delay": 1}"#),
            ("hyperx:4x4,p=4", "dimwar", r#"{"vcs": 3, "buffers": "shared:2", "buffer": 6, "packet": "1-4"}"#),
            (
                "torus:4x4,p=2",
                "duato",
                r#"{"vcs": 3, "packet": 4, "buffers": "shared:5", "buffer": 8, "routing_delay": 1}"#,
            ),
        ] {
            for load in [0.03, 0.3, 1.0] {
                let buffered = run::<BUFFERED_ADAPTIVE>(spec, routing, load, config);
                assert!(buffered.0 > 0);
                assert_eq!(buffered, run::<GENERAL>(spec, routing, load, config), "{spec} {routing} {load} {config}");
            }
        }
    }

    /// The router of a network whose routers have one each, and a packet that is to leave by `out`.
    fn accept(out: u16, class: u8) -> InputQueuedRouters<2, PLAIN> {
        let network = crate::topology::build("hypercube:1").unwrap();
        let config: Config = serde_json::from_str(r#"{"vcs": 4}"#).unwrap();
        let setup = Setup::new(&network, "dor", 1, 4, &config).unwrap();
        let mut routers = InputQueuedRouters::new(&setup, &Options::read(&setup.config.router), &[0, 2, 4], 4, None);
        let (kind, state) = (HEAD | TAIL, PacketState::direct(0));
        let place = routers.pool.insert(Flit { kind, ..Flit::NONE });
        routers.accept(4 + 1, 0, place, Some((Decision { out, class, kind, state }, state)), 0);
        routers
    }

    #[test]
    fn packets_join_queues_once_all_have_arrived() {
        for by_class in [false, true] {
            let network = crate::topology::build("hypercube:1,p=3").unwrap();
            let config: Config = serde_json::from_str(r#"{"vcs": 4, "packet": "1-3"}"#).unwrap();
            let mut setup = Setup::new(&network, "dor", 2, 4, &config).unwrap();
            (setup.again, setup.by_class) = (Again::Revocable(1), by_class);
            let options = Options::read(&setup.config.router);
            let mut routers = InputQueuedRouters::<2, ADAPTIVE>::new(&setup, &options, &[0, 4, 8], 8, None);
            // The output and the class of each head, and the flits of its packet: a flit alone is its own last one.
            let heads = [(3, 0, 1), (3, 1, 3), (3, 1, 1), (2, 0, 2)];
            for (port, (out, class, size)) in (0..).zip(heads) {
                let kind = if size == 1 { HEAD | TAIL } else { HEAD };
                let place = routers.pool.insert(Flit { kind, injected: size, hops: 1, ..Flit::NONE });
                let state = PacketState::direct(0);
                routers.accept(4 * (4 + port), 1, place, Some((Decision { out, class, kind, state }, state)), 0);
            }
            let all =
                |routers: &InputQueuedRouters<2, ADAPTIVE>| (0..8).map(|port| routers.queue(port)).collect::<Vec<_>>();
            assert_eq!(all(&routers), [0; 8]);
            for _ in 0..2 {
                routers.settle_queues();
                assert_eq!(all(&routers), [0, 0, 0, 0, 0, 0, 2, 5]);
                if by_class {
                    let classes = [(7, 0), (7, 1), (6, 0), (6, 1)].map(|(port, class)| routers.queue_of(port, class));
                    assert_eq!(classes, [1, 4, 2, 0]);
                }
            }
        }
    }

    #[test]
    fn heads_that_wait_are_recorded_at_the_first_places() {
        fn walk<const KIND: u8>() -> Vec<Vec<Option<u16>>> {
            let network = crate::topology::build("hypercube:1,p=3").unwrap();
            let config: Config = serde_json::from_str(r#"{"vcs": 4}"#).unwrap();
            let mut setup = Setup::new(&network, "dor", 2, 4, &config).unwrap();
            setup.again = Again::Revocable(1);
            let options = Options::read(&setup.config.router);
            let mut routers = InputQueuedRouters::<2, KIND>::new(&setup, &options, &[0, 4, 8], 8, None);
            let state = PacketState::direct(0);
            for vc in [17, 22, 31] {
                let place = routers.pool.insert(Flit { kind: HEAD | TAIL, dst: vc, hops: 1, ..Flit::NONE });
                routers.append(vc as usize, place, None);
            }
            let places: Vec<usize> = [22, 31].into_iter().map(|vc| routers.note(1, vc)).collect();
            assert_eq!(places, if KIND == GENERAL { [6, 15] } else { [0, 1] });
            let decided = Decision { out: 3, class: 1, kind: HEAD | TAIL, state };
            routers.waiting_heads[16 + places[0]].decide(decided);
            let outs = |routers: &InputQueuedRouters<2, KIND>| {
                let first_vc = routers.batch_base(1) as u16;
                [17, 22, 31]
                    .map(|vc| routers.noted(1, vc - first_vc).map(|head| head.flit()).map(|head| head.dst as u16))
                    .to_vec()
            };
            let mut all = vec![outs(&routers)];
            routers.settle(1, 22);
            assert_eq!((routers.front(22).out, routers.front(31).out), (3, 0));
            all.push(outs(&routers));
            let next = routers.note(1, 17);
            assert_eq!(next, if KIND == GENERAL { 1 } else { 0 });
            all.push(outs(&routers));
            all
        }
        let of_each = walk::<ADAPTIVE>();
        assert_eq!(of_each, [[None, Some(22), Some(31)], [None, None, Some(31)], [Some(17), None, Some(31)]]);
        assert_eq!(of_each, walk::<GENERAL>());
        // The second router of a batch.
        assert_eq!(of_each, walk::<BUFFERED_ADAPTIVE>());
    }

    #[test]
    fn a_head_that_stays_on_the_list_asks_as_it_did() {
        let network = crate::topology::build("hypercube:1,p=3").unwrap();
        let config: Config = serde_json::from_str(r#"{"vcs": 4, "buffers": "shared:1", "buffer": 4}"#).unwrap();
        let setup = Setup::new(&network, "dor", 1, 4, &config).unwrap();
        let options = Options::read(&setup.config.router);
        let mut routers = InputQueuedRouters::<2, BUFFERED>::new(&setup, &options, &[0, 4, 8], 8, None);
        let mut channels = Channels::of_loops(8);
        let (kind, state) = (HEAD | TAIL, PacketState::direct(0));
        let place = routers.pool.insert(Flit { kind, ..Flit::NONE });
        routers.inputs[1].last_output = 14;
        routers.accept(1, 0, place, Some((Decision { out: 3, class: 0, kind, state }, state)), 0);
        let free = std::mem::take(&mut routers.ports[3].free);
        for now in 0..3 {
            routers.step(now, &mut channels);
            assert_eq!((routers.routers[0].asking_vc, routers.ports[3].waiting), (1, 0));
            assert_eq!((routers.vc_requests[0].input, routers.vc_requests[0].last_output), (1, 14));
        }
        routers.ports[3].free = free;
        routers.step(3, &mut channels);
        assert_eq!((routers.routers[0].asking_vc, routers.inputs[1].last_output), (0, 15));
    }

    /// A head of a router, which is given a VC that has no slots, waits for a credit for it.
    fn waits_for_a_credit<const KIND: u8>(router: u32) {
        let network = crate::topology::build("hypercube:1,p=3").unwrap();
        let config: Config = serde_json::from_str(r#"{"vcs": 4, "buffer": 4}"#).unwrap();
        let setup = Setup::new(&network, "dor", 1, 4, &config).unwrap();
        let options = Options::read(&setup.config.router);
        let mut routers = InputQueuedRouters::<2, KIND>::new(&setup, &options, &[0, 4, 8], 8, None);
        let mut channels = Channels::of_loops(8);
        let (kind, state) = (HEAD | TAIL, PacketState::direct(0));
        let place = routers.pool.insert(Flit { kind, out: 3, ..Flit::NONE });
        let (number, first) = (router as usize, 16 * router);
        let own = (first as usize - routers.batch_base(number)) as u16;
        // It was given an output VC of another packet before; those of its own output have no slots.
        routers.inputs[first as usize + 1].last_output = own + 6;
        (12..16).for_each(|vc| routers.outputs[first as usize + vc].occupancy = 4);
        routers.accept(first + 1, router, place, Some((Decision { out: 3, class: 0, kind, state }, state)), 0);
        assert_eq!(routers.find_held(number, own + 1), None);
        routers.step(0, &mut channels);
        let owner = routers.owner(first + 12);
        assert_eq!((routers.find_held(number, own + 1), owner), (Some(own + 12), Some(first + 1)));
        routers.step(1, &mut channels);
        assert_eq!(routers.waits_for(first + 1), Wait::Credit(first + 12));
        routers.credit(first + 12);
        assert_eq!(routers.waits_for(first + 1), Wait::Nothing);
        routers.step(2, &mut channels);
        assert_eq!((routers.find_held(number, own + 1), channels.sent()), (None, 1));
    }

    #[test]
    fn a_head_that_has_not_left_waits_for_a_credit_of_the_vc_it_was_given() {
        waits_for_a_credit::<PLAIN>(0);
        // The second router of a batch.
        waits_for_a_credit::<BUFFERED>(1);
    }

    #[test]
    fn a_vc_of_the_general_kind_holds_what_it_has_kept_whatever_its_pointers_are() {
        let network = crate::topology::build("hypercube:1").unwrap();
        let config: Config = serde_json::from_str(r#"{"vcs": 3, "allocator": "islip"}"#).unwrap();
        let setup = Setup::new(&network, "dor", 1, 4, &config).unwrap();
        let options = Options::read(&setup.config.router);
        let mut routers = InputQueuedRouters::<2, GENERAL>::new(&setup, &options, &[0, 2, 4], 4, None);
        assert_eq!(routers.find_held(0, 1), None);
        (routers.inputs[1].kept, routers.inputs[1].last_output, routers.owners[5]) = (5, 4, 1);
        assert_eq!(routers.find_held(0, 1), Some(5));
    }

    /// Puts flits into an input VC and takes them out again, and compares with a queue.
    fn keeps_flits_in_order<const KIND: u8>() {
        let network = crate::topology::build("hypercube:1").unwrap();
        let config: Config = serde_json::from_str(r#"{"vcs": 3, "buffer": 8}"#).unwrap();
        let setup = Setup::new(&network, "dor", 2, 4, &config).unwrap();
        let options = Options::read(&setup.config.router);
        let mut routers = InputQueuedRouters::<2, KIND>::new(&setup, &options, &[0, 2, 4], 4, None);
        let (mut rng, mut queue) = (crate::rng::Rng::stream(7, 0), VecDeque::new());
        let mut lengths = [0; 6];
        for step in 0..2_000 {
            if rng.coin() && queue.len() < 5 {
                let tail = rng.coin();
                let kind = if tail { crate::cycle::flit::TAIL } else { 0 };
                let place = routers.pool.insert(Flit { kind, ..Flit::NONE });
                assert_eq!(routers.append(5, place, None), queue.is_empty(), "{step}");
                queue.push_back((place, tail));
            } else if let Some(expected) = queue.pop_front() {
                assert_eq!(routers.inputs[5].pop::<KIND>(&routers.pool), expected, "{step}");
                routers.pool.release(expected.0);
            }
            lengths[queue.len()] += 1;
            let InputVc { front, tail, flits, .. } = routers.inputs[5];
            assert_eq!(usize::from(flits), queue.len(), "{step}");
            assert!(queue.front().is_none_or(|&first| first == (front, tail)), "{step}: {queue:?}");
        }
        assert!(lengths.iter().all(|&times| times > 50), "{lengths:?}");
    }

    #[test]
    fn flits_leave_an_input_vc_in_their_order() {
        keeps_flits_in_order::<PLAIN>();
        keeps_flits_in_order::<ADAPTIVE>();
        keeps_flits_in_order::<BUFFERED>();
        keeps_flits_in_order::<BUFFERED_ADAPTIVE>();
        keeps_flits_in_order::<GENERAL>();
    }

    #[test]
    fn a_state_that_is_undone_is_the_one_that_would_be_remembered() {
        let config = r#"{"vcs": 4, "buffer": 4}"#;
        for (spec, load) in [("hyperx:4x4,p=4", 0.8), ("dragonfly:a=4,h=2,p=2", 0.5), ("fattree:k=2,levels=3", 0.9)] {
            let undone = [run::<ADAPTIVE>, run::<GENERAL>].map(|run| run(spec, "polarized", load, config));
            let remember = |setup: &mut Setup| {
                assert!(setup.undoes);
                setup.undoes = false;
            };
            let remembered = run_after::<ADAPTIVE>(spec, "polarized", load, config, remember);
            assert_eq!(undone, [remembered; 2], "{spec}");
        }
    }

    #[test]
    fn heads_at_their_second_router_decide_as_among_all_others() {
        let config = r#"{"vcs": 4, "buffer": 8, "packet": "1-2"}"#;
        for spec in ["dragonfly:a=4,h=2,p=4", "hyperx:4x4,p=4"] {
            for load in [0.3, 0.8] {
                let apart = [run::<ADAPTIVE>, run::<BUFFERED_ADAPTIVE>, run::<GENERAL>]
                    .map(|run| run(spec, "par", load, config));
                let among = |setup: &mut Setup| {
                    assert!(setup.second_apart);
                    setup.second_apart = false;
                };
                let among_all = run_after::<ADAPTIVE>(spec, "par", load, config, among);
                assert_eq!(apart, [among_all; 3], "{spec} {load}");
            }
        }
    }

    #[test]
    fn what_is_far_moves_as_what_is_near() {
        // One domain of all routers has more than two megabytes of tables, each of two has less.
        let network = crate::topology::build("hyperx:14x14,p=40").unwrap();
        let cut_through = r#"{"vcs": 4, "warmup": 0, "measure": 30, "flow": "vct", "buffers": "shared:4", "speedup": 2,
            "routing_delay": 1, "buffer": 16, "threads": "#;
        for (routing, config) in [
            ("dor", r#"{"vcs": 4, "warmup": 0, "measure": 30, "threads": "#),
            ("dor", cut_through),
            ("ugal-l", cut_through),
            ("ugal-l", r#"{"vcs": 4, "warmup": 0, "measure": 30, "seed": 3, "threads": "#),
            ("dimwar", r#"{"vcs": 4, "warmup": 0, "measure": 30, "routing_delay": 1, "packet": "1-3", "threads": "#),
        ] {
            let points = [1, 2].map(|threads| {
                let config: Config = serde_json::from_str(&format!("{config}{threads}}}")).unwrap();
                let point = crate::cycle::simulate(&network, routing, "uniform", 0.6, &config, &NoControl).unwrap();
                (point.flit_hops, point.packets, point.latency_cycles)
            });
            let ports = network.ports().len();
            let bytes = ports * InputQueuedRouters::<2, ADAPTIVE>::BYTES;
            assert!(bytes > FAR && bytes < 2 * FAR, "{bytes}");
            assert_eq!(points[0], points[1], "{routing}");
            assert!(points[0].0 > 50_000);
        }
    }

    #[test]
    fn a_class_has_the_slots_of_its_vcs_or_those_of_all() {
        let network = crate::topology::build("hypercube:1").unwrap();
        // Three VCs of 8 slots, of two classes; of shared ones one is kept for each VC.
        for (buffers, expected) in [("private", [8, 16, 0]), ("shared:1", [24; 3])] {
            let text = format!(r#"{{"vcs": 3, "buffer": 8, "buffers": "{buffers}"}}"#);
            let config: Config = serde_json::from_str(&text).unwrap();
            let setup = Setup::new(&network, "dor", 2, 4, &config).unwrap();
            let options = Options::read(&setup.config.router);
            let routers = InputQueuedRouters::<2, GENERAL>::new(&setup, &options, &[0, 2, 4], 4, None);
            assert_eq!([0, 1, 255].map(|class| routers.buffer(class)), expected, "{buffers}");
        }
    }

    #[test]
    fn an_input_vc_picks_the_first_free_vc_behind_its_last_one() {
        type Routers = InputQueuedRouters<2, PLAIN>;
        for free in 1..16u64 {
            for port in 0..3u16 {
                for last in (0..12).chain([NONE]) {
                    let elsewhere = last / 4 != port;
                    let behind = (0..4).map(|turn| if elsewhere { turn } else { (u32::from(last) + 1 + turn) % 4 });
                    let first = behind.into_iter().find(|vc| free >> vc & 1 == 1);
                    assert_eq!(Some(Routers::pick(free, port, last)), first, "{free:b} {port} {last}");
                }
            }
        }
    }

    #[test]
    fn a_packet_holds_a_vc_from_its_grant_to_its_tail() {
        /// Those of a router: all numbers are in its own numbering.
        fn states<const KIND: u8>(router: u32) -> Vec<(Vec<Option<u32>>, Vec<Wait>)> {
            let network = crate::topology::build("hypercube:1,p=3").unwrap();
            let base = 16 * router;
            let config: Config = serde_json::from_str(r#"{"vcs": 4, "packet": "1-3", "buffer": 2}"#).unwrap();
            let setup = Setup::new(&network, "dor", 1, 4, &config).unwrap();
            let options = Options::read(&setup.config.router);
            let mut routers = InputQueuedRouters::<2, KIND>::new(&setup, &options, &[0, 4, 8], 8, None);
            let mut channels = Channels::of_loops(8);
            let mut states = Vec::new();
            for now in 0..12 {
                // A packet of three flits arrives at VC 1 of each of the first three ports; all want the same output.
                let kind = [HEAD, 0, TAIL].get(now as usize).copied();
                for (port, kind) in kind.into_iter().flat_map(|kind| [0, 1, 2].map(|port| (port, kind))) {
                    let place = routers.pool.insert(Flit { kind, injected: 3, ..Flit::NONE });
                    let state = PacketState::direct(0);
                    let decided = (kind == HEAD).then_some((Decision { out: 3, class: 0, kind, state }, state));
                    routers.accept(base + 4 * port + 1, router, place, decided, now);
                }
                if now == 6 {
                    // Of the three flits of each packet two have left: one more may.
                    (12..15).for_each(|vc| routers.credit(base + vc));
                }
                routers.step(now, &mut channels);
                let own = |wait| match wait {
                    Wait::Credit(vc) => Wait::Credit(vc - base),
                    Wait::Vcs(vcs) => Wait::Vcs(vcs.into_iter().map(|vc| vc - base).collect()),
                    wait => wait,
                };
                let vcs = || base..base + 16;
                let owners = vcs().map(|vc| routers.owner(vc).map(|owner| owner - base)).collect();
                states.push((owners, vcs().map(|vc| own(routers.waits_for(vc))).collect()));
            }
            states
        }
        let plain = states::<PLAIN>(0);
        assert_eq!(plain, states::<GENERAL>(0));
        // The second router of a batch.
        assert_eq!(plain, states::<BUFFERED>(1));
        assert!(plain[1].0.iter().flatten().count() == 3 && plain[11].0.iter().all(Option::is_none), "{plain:?}");
        assert!(plain.iter().any(|(_, waits)| waits.iter().any(|wait| matches!(wait, Wait::Credit(_)))));
    }

    #[test]
    fn a_head_asks_for_the_output_that_its_routing_decided_for() {
        let routers = accept(1, 0);
        let flits: u32 = (0..8).map(|vc| routers.flits(vc)).sum();
        assert_eq!((flits, routers.free_vcs(1, 0, 1, 0)), (1, 4));
        // A class that there is not has no VC, at whatever port.
        assert_eq!(routers.free_vcs(1, 255, 1, 0), 0);
    }

    #[test]
    #[should_panic(expected = "a port that its router does not have")]
    fn an_output_beyond_the_last_is_no_index() {
        accept(2, 0);
    }

    #[test]
    #[should_panic(expected = "a port that its router does not have")]
    fn nor_is_one_of_a_head_that_comes_to_the_front_later() {
        let mut routers = accept(1, 0);
        let (kind, state) = (HEAD | TAIL, PacketState::direct(0));
        let place = routers.pool.insert(Flit { kind, ..Flit::NONE });
        routers.accept(4 + 1, 0, place, Some((Decision { out: 2, class: 0, kind, state }, state)), 0);
        let mut channels = Channels::of_loops(4);
        (0..4).for_each(|now| routers.step(now, &mut channels));
    }

    #[test]
    #[should_panic(expected = "index out of bounds")]
    fn nor_is_one_that_a_routing_only_looks_at() {
        accept(1, 0).free_vcs(4, 0, 1, 0);
    }

    #[test]
    #[should_panic(expected = "out of range")]
    fn nor_one_whose_queue_it_compares() {
        accept(1, 0).occupancy(4);
    }
}
