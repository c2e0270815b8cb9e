//! The `iq` router model: input-queued, virtual channels, credits, separable, iSLIP or wavefront allocation, BookSim2's
//! timing.
//!
//! One [`InputQueued`] holds all routers of a domain. Within an internal step every stage sees the state at its start: VC
//! allocation runs first and does not see what switch allocation frees; its winners ask for the switch one step later.
//! There is no output queue as an object: a flit that wins the switch is given its departure cycle at once.

mod options;

use std::collections::VecDeque;
use std::ops::Range;

use crate::cycle::channels::Channels;
use crate::cycle::flit::{Flit, NIL, Pool};
use crate::cycle::router::buffer_policy::{BufferPolicy, Buffers};
use crate::cycle::router::{Case, Router, RouterModel, Simulation, Wait};
use crate::cycle::table::Table;
use crate::cycle::{Arrivals, Point, Setup};
use crate::error::{Error, Result};
use crate::network::PortId;
use crate::routing::{DynRouting, PacketState, Routing};
use options::Allocator;
pub use options::{INFO, Options, VCT};

/// No VC: an idle input VC's output, a free output VC's owner.
const NONE: u16 = u16::MAX;
/// An empty place in a table of round-robin keys.
const UNSET: u64 = u64::MAX;

/// A virtual channel at an input. One cache line: the flit at the front is inline.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
struct InputVc {
    front: Flit,
    /// The flits behind the front, in the pool.
    next: u32,
    last: u32,
    flits: u32,
    /// The internal step from which the front may be allocated, where stages take more than one.
    ready: u32,
    /// The output VC (router numbering) that the packet at the front holds, or [`NONE`].
    output: u16,
    /// Round-robin pointer over the router's output VCs.
    pointer: u16,
}

/// A virtual channel at an output.
#[derive(Debug, Clone, Copy)]
struct OutputVc {
    /// Places taken behind it: flits sent whose credits have not come back, or, under virtual cut-through, whole
    /// packets from the moment at which they are given the VC.
    occupancy: u16,
    /// Round-robin pointer over the router's input VCs.
    pointer: u16,
    /// The input VC that holds it, or [`NONE`].
    owner: u16,
    /// True if the owner waits, off all lists, for a credit; without an owner, if a head waits for room.
    starved: bool,
}

/// Arbitration state of a port, as input and as output.
#[derive(Debug, Clone, Copy)]
struct PortArbiters {
    /// Output: VCs that no packet holds.
    free: u64,
    /// Input: round-robin pointer over outputs.
    input: u16,
    /// Output: round-robin pointer over inputs.
    output: u16,
    /// Input: the VC that is preferred when several want one output.
    offset: u16,
    /// Output: input VCs that wait, off the list of requests, for a VC to be freed.
    waiting: u16,
    /// Output: places taken of those that the VCs behind it share.
    shared: u32,
}

/// An input VC that asks for an output VC of a class.
#[derive(Debug, Clone, Copy)]
struct VcRequest {
    input: u16,
    port: u16,
    class: u8,
}

impl VcRequest {
    /// An empty place, or a request that has been served.
    const NONE: Self = Self { input: NONE, port: 0, class: 0 };
}

/// An input VC that holds an output VC and asks for the switch.
#[derive(Debug, Clone, Copy)]
struct SwitchRequest {
    input: u16,
    output: u16,
}

/// A router's share of the tables: its ports, and its lists of requests, which begin at its first VC.
#[derive(Debug, Clone, Copy)]
struct RouterState {
    first_port: u32,
    /// Input VCs that ask for an output VC.
    asking_vc: u16,
    /// Input VCs that ask for the switch.
    asking_switch: u16,
    active: bool,
    /// It stands on the list of those whose heads decide again in the next cycle.
    look: bool,
}

/// Round-robin choices in the making: the best (key, request) for each place, and the places that have one.
#[derive(Debug)]
struct Choices {
    best: Table<u64>,
    touched: Table<u16>,
    len: usize,
}

impl Choices {
    fn new(places: usize) -> Self {
        Self { best: Table::filled(UNSET, places), touched: Table::filled(0, places), len: 0 }
    }

    /// Offers a request with a round-robin key to a place; the lowest key wins.
    #[inline(always)]
    fn offer(&mut self, place: u16, key: u32, request: usize) {
        let best = &mut self.best[place as usize];
        if *best == UNSET {
            self.touched[self.len] = place;
            self.len += 1;
        }
        *best = (*best).min(u64::from(key) << 32 | request as u64);
    }

    /// Puts the first `len` places with requests in order.
    fn sort(&mut self, len: usize) {
        self.touched.sort(len);
    }

    /// The i-th place with a request, and its winner; the place is cleared.
    #[inline(always)]
    fn take(&mut self, i: usize) -> (u16, usize) {
        let place = self.touched[i];
        let best = std::mem::replace(&mut self.best[place as usize], UNSET);
        (place, best as u32 as usize)
    }
}

/// A request of an input (VC) for an output (VC), to a wavefront allocator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Crossing {
    /// How many diagonals come before its own.
    diagonal: u32,
    output: u16,
    input: u16,
    /// Whose turn it is, of several VCs of one input that ask for one output.
    turn: u32,
    place: usize,
}

/// Leaves the requests that a wavefront allocator serves: along the diagonals, whatever takes no input nor output that
/// is taken already.
fn wavefront(requests: &mut Vec<Crossing>) {
    requests.sort_unstable();
    let mut served = 0;
    for i in 0..requests.len() {
        let request = requests[i];
        if requests[..served].iter().all(|other| other.input != request.input && other.output != request.output) {
            requests[served] = request;
            served += 1;
        }
    }
    requests.truncate(served);
}

/// The diagonals that a router's wavefront allocators begin with next.
#[derive(Debug, Clone, Copy)]
struct Diagonals {
    vcs: u32,
    switch: u32,
}

/// Whole cycles that stages take beyond their step; `routing` is `None` if the router looks ahead.
#[derive(Debug, Clone, Copy)]
struct Delays {
    routing: Option<u32>,
    vc_alloc: u32,
    sw_alloc: u32,
}

/// The first internal step of a cycle.
#[inline(always)]
fn first_step(speedup: f64, cycle: u32) -> u32 {
    (f64::from(cycle) * speedup) as u32
}

/// The internal step at the same place of its cycle, `cycles` cycles after `step`.
fn after(speedup: f64, step: u32, cycles: u32) -> u32 {
    if cycles == 0 {
        return step;
    }
    let mut cycle = (f64::from(step) / speedup) as u32;
    while first_step(speedup, cycle + 1) <= step {
        cycle += 1;
    }
    first_step(speedup, cycle + cycles) + step - first_step(speedup, cycle)
}

/// What a router is compiled for. All that can make an allocation or a buffer more than the simplest is off.
pub const PLAIN: u8 = 0;
/// As [`PLAIN`], for routings whose heads decide again, and whose adaptive VCs take whole packets only.
pub const ADAPTIVE: u8 = 1;
/// Every option that there is.
pub const GENERAL: u8 = 2;

/// The simplest router that can do what is asked: [`PLAIN`], [`ADAPTIVE`] or [`GENERAL`].
fn kind(setup: &Setup, options: &Options) -> u8 {
    let simple = options.allocator == Allocator::SeparableInputFirst
        && options.iterations == 1
        && !options.delayed()
        && !setup.interface.cut_through
        && setup.interface.buffers == Buffers::Private;
    match (simple, setup.decides_again, setup.whole) {
        (true, true, _) => ADAPTIVE,
        (true, false, 0) => PLAIN,
        _ => GENERAL,
    }
}

macro_rules! compiled {
    ($(#[$doc:meta])* $name:ident, $kind:ident: $($log:literal)*) => {
        $(#[$doc])*
        pub trait $name: DynRouting $(+ Arrivals<InputQueued<$log, $kind>>)* {}

        impl<R: Routing> $name for R {}
    };
}

compiled! {
    /// A routing that is compiled with the plain model of a router, once for each stride of VCs.
    Compiled, PLAIN: 0 1 2 3 4 6
}
compiled! {
    /// The same for routings that decide again: they need more of a router than the plain one has.
    CompiledAdaptive, ADAPTIVE: 0 1 2 3 4 6
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
                    $(($stride, PLAIN) => simulation.run::<InputQueued<$log, PLAIN>>(routing.compiled(), self),
                    ($stride, ADAPTIVE) => {
                        simulation.run::<InputQueued<$log, ADAPTIVE>>(routing.compiled_adaptive(), self)
                    }
                    // With options that few runs have, routings are called through a reference.
                    ($stride, _) => simulation.run::<InputQueued<$log, GENERAL>>(routing, self),)*
                    (other, _) => unreachable!("no engine for a stride of {other}"),
                }
            };
        }
        with_stride!(1 => 0, 2 => 1, 4 => 2, 8 => 3, 16 => 4, 64 => 6)
    }
}

/// All input-queued routers of a domain, of one of the kinds [`PLAIN`], [`ADAPTIVE`] and [`GENERAL`]; VCs stand 2^`LOG` to a port.
#[derive(Debug)]
pub struct InputQueued<const LOG: u32, const KIND: u8> {
    routers: Table<RouterState>,
    inputs: Table<InputVc>,
    outputs: Table<OutputVc>,
    ports: Table<PortArbiters>,
    /// The lists of requests: an input VC stands in one of them at most, and once.
    vc_requests: Table<VcRequest>,
    switch_requests: Table<SwitchRequest>,
    /// The input VCs that wait at each output, a bit each, `words` to a port.
    waiting: Table<u64>,
    words: usize,
    /// The router of each port.
    router_of: Table<u32>,
    /// VCs of each class; behind them all VCs.
    class_masks: Table<u64>,
    pool: Pool<Flit>,
    active: Vec<u32>,
    by_input: Choices,
    by_output: Choices,
    by_vc: Choices,
    /// Inputs (2 i) and outputs (2 o + 1) matched by earlier iterations of the step.
    granted: Vec<u16>,
    /// For the wavefront allocator: the diagonals of each router, and the requests of a step.
    diagonals: Table<Diagonals>,
    requests: Vec<Crossing>,
    vcs: u32,
    policy: BufferPolicy,
    /// For the VCs of `policy.whole`, by output VC: the least size of the packets that wait for room in it.
    wanted: Table<u16>,
    /// Where heads decide again, the state in which they decided: at the front of each input VC, and in the pool.
    before: Table<PacketState>,
    before_in_pool: Vec<PacketState>,
    /// Where packets take more places than they have flits: of those behind each output VC, the flits whose credits have
    /// not come back, and the places beyond.
    padded: Vec<VecDeque<(u16, u16)>>,
    decides_again: bool,
    /// Routers at which something has changed since the heads that wait there decided.
    looking: Vec<u32>,
    allocator: Allocator,
    iterations: u32,
    /// Internal steps a cycle; steps are counted from the first of cycle 0 on.
    speedup: f64,
    /// Whole cycles that the stages take beyond their step.
    delays: Delays,
    /// Some stage takes more than its step: requests have to look at when they are ready.
    delayed: bool,
    grants: u64,
}

impl<const LOG: u32, const KIND: u8> InputQueued<LOG, KIND> {
    #[inline(always)]
    fn delayed(&self) -> bool {
        KIND == GENERAL && self.delayed
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
    fn decides_again(&self) -> bool {
        KIND == ADAPTIVE || KIND == GENERAL && self.decides_again
    }

    #[inline(always)]
    fn whole(&self) -> u64 {
        if KIND == PLAIN { 0 } else { self.policy.whole }
    }

    #[inline(always)]
    fn cut_through(&self) -> bool {
        KIND == GENERAL && self.policy.cut_through
    }

    /// The occupancy from which the owner of a VC waits for credits, if no shared place is left.
    #[inline(always)]
    fn limit(&self) -> u32 {
        if self.cut_through() { u32::MAX } else { self.policy.reserve.into() }
    }

    /// The place of a VC among those of its port.
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
        let state = &mut self.routers[router as usize];
        if !state.active {
            state.active = true;
            self.active.push(router);
        }
    }

    /// A head has come to the front of input VC `index` (domain numbering): it asks for an output VC.
    #[inline(always)]
    fn ask_vc(&mut self, router: u32, index: usize, step: u32) {
        if self.delayed() {
            let vc = &mut self.inputs[index];
            let routed = self.delays.routing.map_or(step, |cycles| after(self.speedup, step + 1, cycles));
            vc.ready = after(self.speedup, routed, self.delays.vc_alloc);
        }
        self.list_vc_request(router, index);
    }

    /// Puts the head at the front of input VC `index` (domain numbering) on the list of requests.
    #[inline(always)]
    fn list_vc_request(&mut self, router: u32, index: usize) {
        let vc = &self.inputs[index];
        let state = &mut self.routers[router as usize];
        let vc_base = state.first_port << LOG;
        let place = vc_base as usize + state.asking_vc as usize;
        state.asking_vc += 1;
        let input = (index as u32 - vc_base) as u16;
        self.vc_requests[place] = VcRequest { input, port: vc.front.out, class: vc.front.class };
    }

    /// Input VC `input` (router numbering), which holds `output`, asks for the switch.
    #[inline(always)]
    fn ask_switch(&mut self, router: usize, input: u16, output: u16) {
        let state = &mut self.routers[router];
        let place = (state.first_port << LOG) as usize + state.asking_switch as usize;
        state.asking_switch += 1;
        self.switch_requests[place] = SwitchRequest { input, output };
    }

    /// VC allocation of one router in internal step `step`.
    #[inline(always)]
    fn allocate_vcs(&mut self, router: usize, step: u32) {
        for iteration in 0..self.iterations() {
            if self.routers[router].asking_vc == 0 {
                return;
            }
            let dropped = match self.allocator() {
                Allocator::SeparableInputFirst => self.vcs_input_first(router, step),
                Allocator::Islip => self.vcs_islip(router, step, iteration == 0),
                Allocator::Wavefront => self.vcs_wavefront(router, step),
            };
            if dropped == 0 {
                break;
            }
            self.drop_vc_requests(router, dropped);
        }
        if self.delayed() {
            self.delay_losers(router, step);
        }
    }

    /// Takes the `dropped` requests that are marked off the list.
    #[inline(always)]
    fn drop_vc_requests(&mut self, router: usize, dropped: usize) {
        let state = &mut self.routers[router];
        let base = (state.first_port << LOG) as usize;
        let asking = state.asking_vc as usize;
        state.asking_vc = (asking - dropped) as u16;
        if dropped == asking {
            return;
        }
        let mut kept = base;
        for place in base..base + asking {
            let request = self.vc_requests[place];
            self.vc_requests[kept] = request;
            kept += usize::from(request.input != NONE);
        }
    }

    /// Takes the requests for the switch that are marked off the list.
    #[inline(always)]
    fn drop_switch_requests(&mut self, router: usize) {
        let state = &mut self.routers[router];
        let base = (state.first_port << LOG) as usize;
        let mut kept = base;
        for place in base..base + state.asking_switch as usize {
            let request = self.switch_requests[place];
            self.switch_requests[kept] = request;
            kept += usize::from(request.input != NONE);
        }
        state.asking_switch = (kept - base) as u16;
    }

    /// Where VC allocation takes more than a cycle, a request that lost goes through all of it again.
    fn delay_losers(&mut self, router: usize, step: u32) {
        let state = self.routers[router];
        let vc_base = (state.first_port << LOG) as usize;
        for place in vc_base..vc_base + state.asking_vc as usize {
            let vc = &mut self.inputs[vc_base + self.vc_requests[place].input as usize];
            if vc.ready <= step {
                vc.ready = after(self.speedup, step + 1, self.delays.vc_alloc);
            }
        }
    }

    /// The VC that an input VC's round-robin pointer picks among `free` ones of `port`: the first from the pointer on,
    /// the lowest if the pointer is elsewhere.
    #[inline(always)]
    fn pick(free: u64, port: u16, pointer: u16) -> u32 {
        if Self::port(pointer) == port {
            let from = free & (u64::MAX << Self::vc(pointer));
            if from != 0 {
                return from.trailing_zeros();
            }
        }
        free.trailing_zeros()
    }

    /// Takes the request at `place` off the list until a VC of its output is freed. A head that decides again waits for
    /// any VC of the router, among those of its first port: it looks at once whether another will do.
    #[inline(always)]
    fn park(&mut self, router: usize, place: usize) {
        let first_port = self.routers[router].first_port as usize;
        let VcRequest { input, port, .. } = std::mem::replace(&mut self.vc_requests[place], VcRequest::NONE);
        let (input, port) = (input as usize, first_port + if self.decides_again() { 0 } else { port as usize });
        self.ports[port].waiting += 1;
        self.waiting[port * self.words + input / 64] |= 1 << (input % 64);
        if self.decides_again() {
            self.look(router);
        }
    }

    /// A VC has been freed at output `port` (domain numbering), or room has been made in one.
    #[inline(always)]
    fn freed(&mut self, router: usize, port: usize) {
        if self.decides_again() {
            self.look(router);
        } else if self.ports[port].waiting > 0 {
            self.wake(router, port);
        }
    }

    /// The heads of a router that wait for a VC shall decide again.
    #[inline(always)]
    fn look(&mut self, router: usize) {
        let state = &mut self.routers[router];
        if !state.look && self.ports[state.first_port as usize].waiting > 0 {
            state.look = true;
            self.looking.push(router as u32);
        }
    }

    /// Puts those who wait for a VC of output `port` (domain numbering) on the list of requests.
    ///
    /// If a single VC is free, all of them would ask for it, and only the first from its round-robin pointer on could
    /// win: the others need not be looked at.
    fn wake(&mut self, router: usize, port: usize) {
        let free = self.ports[port].free;
        let simple = !self.delayed() && self.whole() == 0 && self.allocator() != Allocator::Wavefront;
        let pointer = match free.count_ones() {
            1 if simple => self.outputs[(port << LOG) + free.trailing_zeros() as usize].pointer,
            _ => 0,
        };
        let only_first = free.is_power_of_two() && simple;
        let vc_base = (self.routers[router].first_port << LOG) as usize;
        let (first, from) = ((pointer / 64) as usize, u64::MAX << (pointer % 64));
        // From the pointer to the end, then from the start to the pointer.
        for turn in 0..=self.words {
            let word = (first + turn) % self.words;
            let part = match turn {
                0 => from,
                _ if turn == self.words => !from,
                _ => u64::MAX,
            };
            let mut bits = self.waiting[port * self.words + word] & part;
            while bits != 0 {
                let index = vc_base + word * 64 + bits.trailing_zeros() as usize;
                let bit = bits & bits.wrapping_neg();
                bits ^= bit;
                let head = &self.inputs[index].front;
                let (class, size) = (head.class, self.policy.wanted(head));
                if self.usable(port, class, size) == 0 {
                    continue;
                }
                self.waiting[port * self.words + word] ^= bit;
                self.ports[port].waiting -= 1;
                self.list_vc_request(router as u32, index);
                if only_first {
                    return;
                }
            }
        }
    }

    /// The VCs of a class at output `port` (domain numbering) that a packet of `size` flits may be given now.
    #[inline(always)]
    fn usable(&mut self, port: usize, class: u8, size: u32) -> u64 {
        let free = self.ports[port].free & self.class_masks[class as usize];
        if self.whole() & free == 0 { free } else { self.with_room(port, free, size) }
    }

    /// Those of the `free` VCs of output `port` that have room for a packet of `size` flits where it must fit whole.
    /// The others are marked, so that the credit that makes room is noticed.
    #[inline(never)]
    fn with_room(&mut self, port: usize, free: u64, size: u32) -> u64 {
        let (mut fitting, mut left) = (free, free & self.whole());
        while left != 0 {
            let vc = left.trailing_zeros() as usize;
            left &= left - 1;
            let output = &mut self.outputs[(port << LOG) + vc];
            if !self.policy.fits(output.occupancy, self.ports[port].shared, size) {
                fitting &= !(1 << vc);
                let wanted = &mut self.wanted[(port << LOG) + vc];
                *wanted = if output.starved { size.min((*wanted).into()) as u16 } else { size as u16 };
                output.starved = true;
            }
        }
        fitting
    }

    /// The places that must be free for the packet at the front of the input VC that asks.
    #[inline(always)]
    fn size_of(&self, vc_base: usize, request: VcRequest) -> u32 {
        self.policy.wanted(&self.inputs[vc_base + request.input as usize].front)
    }

    /// True if packets that are given VCs of one output in one step may take the shared places from each other.
    #[inline(always)]
    fn crowded(&self) -> bool {
        self.cut_through() && self.policy.pool > 0
    }

    /// Where that is so, VCs are given in the order of their numbers: true if the request at `place` comes too late.
    #[inline(always)]
    fn comes_too_late(&self, router: usize, place: usize, output: u16) -> bool {
        if !self.crowded() {
            return false;
        }
        let state = self.routers[router];
        let vc_base = (state.first_port << LOG) as usize;
        let port = state.first_port as usize + Self::port(output) as usize;
        let size = self.size_of(vc_base, self.vc_requests[place]);
        !self.policy.fits(self.outputs[vc_base + output as usize].occupancy, self.ports[port].shared, size)
    }

    /// Inputs choose, then output VCs. Returns the number of requests to be taken off the list.
    #[inline(always)]
    fn vcs_input_first(&mut self, router: usize, step: u32) -> usize {
        let state = self.routers[router];
        let (port_base, vc_base) = (state.first_port as usize, (state.first_port << LOG) as usize);
        let mut dropped = 0;
        for place in vc_base..vc_base + state.asking_vc as usize {
            let request = self.vc_requests[place];
            if self.delayed() && self.inputs[vc_base + request.input as usize].ready > step {
                continue;
            }
            let port = port_base + request.port as usize;
            let mut free = self.ports[port].free & self.class_masks[request.class as usize];
            if self.whole() & free != 0 {
                free = self.with_room(port, free, self.size_of(vc_base, request));
            }
            if free == 0 {
                self.park(router, place);
                dropped += 1;
                continue;
            }
            let vc = &self.inputs[vc_base + request.input as usize];
            let output = request.port << LOG | Self::pick(free, request.port, vc.pointer) as u16;
            if state.asking_vc == 1 {
                self.grant_vc(router, place, output, true, step);
                return 1;
            }
            let pointer = self.outputs[vc_base + output as usize].pointer;
            self.by_vc.offer(output, u32::from(request.input.wrapping_sub(pointer)), place);
        }
        let winners = std::mem::take(&mut self.by_vc.len);
        if self.crowded() {
            self.by_vc.sort(winners);
        }
        for i in 0..winners {
            let (output, place) = self.by_vc.take(i);
            if self.comes_too_late(router, place, output) {
                continue;
            }
            self.grant_vc(router, place, output, true, step);
            dropped += 1;
        }
        dropped
    }

    /// iSLIP over VCs: every free output VC of the class grants, each input VC accepts one.
    fn vcs_islip(&mut self, router: usize, step: u32, first: bool) -> usize {
        let state = self.routers[router];
        let (port_base, vc_base) = (state.first_port as usize, (state.first_port << LOG) as usize);
        let mut dropped = 0;
        for place in vc_base..vc_base + state.asking_vc as usize {
            let request = self.vc_requests[place];
            if self.delayed() && self.inputs[vc_base + request.input as usize].ready > step {
                continue;
            }
            let size = self.size_of(vc_base, request);
            let mut free = self.usable(port_base + request.port as usize, request.class, size);
            if free == 0 {
                self.park(router, place);
                dropped += 1;
                continue;
            }
            while free != 0 {
                let output = request.port << LOG | free.trailing_zeros() as u16;
                free &= free - 1;
                let pointer = self.outputs[vc_base + output as usize].pointer;
                self.by_vc.offer(output, u32::from(request.input.wrapping_sub(pointer)), place);
            }
        }
        // The grants of an input VC compete by its own pointer.
        let mut accepted: Vec<(usize, u16, u16)> = Vec::new();
        for i in 0..std::mem::take(&mut self.by_vc.len) {
            let (output, place) = self.by_vc.take(i);
            let request = self.vc_requests[place];
            let key = output.wrapping_sub(self.inputs[vc_base + request.input as usize].pointer);
            match accepted.iter_mut().find(|(p, _, _)| *p == place) {
                Some(best) if key < best.1 => *best = (place, key, output),
                Some(_) => {}
                None => accepted.push((place, key, output)),
            }
        }
        if self.crowded() {
            accepted.sort_unstable_by_key(|&(_, _, output)| output);
        }
        for &(place, _, output) in &accepted {
            if self.comes_too_late(router, place, output) {
                continue;
            }
            self.grant_vc(router, place, output, first, step);
            dropped += 1;
        }
        dropped
    }

    /// Ports of a router.
    fn radix(&self, router: usize) -> u32 {
        let first = self.routers[router].first_port;
        let next = self.routers.iter().nth(router + 1).map_or(self.ports.iter().len() as u32, |r| r.first_port);
        next - first
    }

    /// Wavefront over VCs: every head asks for all free VCs of its class; who stands on an earlier diagonal of the
    /// square of input VCs and output VCs comes first.
    fn vcs_wavefront(&mut self, router: usize, step: u32) -> usize {
        let state = self.routers[router];
        let (port_base, vc_base) = (state.first_port as usize, (state.first_port << LOG) as usize);
        let (square, first) = (self.radix(router) * self.vcs, self.diagonals[router].vcs);
        let vcs = self.vcs;
        let number = |index: u16| u32::from(Self::port(index)) * vcs + Self::vc(index);
        let mut requests = std::mem::take(&mut self.requests);
        let mut dropped = 0;
        for place in vc_base..vc_base + state.asking_vc as usize {
            let request = self.vc_requests[place];
            if self.delayed() && self.inputs[vc_base + request.input as usize].ready > step {
                continue;
            }
            let port = port_base + request.port as usize;
            let mut free = self.usable(port, request.class, self.size_of(vc_base, request));
            if free == 0 {
                self.park(router, place);
                dropped += 1;
            }
            while free != 0 {
                let output = request.port << LOG | free.trailing_zeros() as u16;
                free &= free - 1;
                let diagonal = (number(request.input) + number(output) + square - first) % square;
                requests.push(Crossing { diagonal, output, input: request.input, turn: 0, place });
            }
        }
        if !requests.is_empty() {
            self.diagonals[router].vcs = (first + 1) % square;
        }
        wavefront(&mut requests);
        if self.crowded() {
            requests.sort_unstable_by_key(|request| request.output);
        }
        for request in requests.drain(..) {
            if !self.comes_too_late(router, request.place, request.output) {
                self.grant_vc(router, request.place, request.output, true, step);
                dropped += 1;
            }
        }
        self.requests = requests;
        dropped
    }

    /// Gives output VC `output` to the request at `place`, which is marked for removal.
    #[inline(always)]
    fn grant_vc(&mut self, router: usize, place: usize, output: u16, move_pointers: bool, step: u32) {
        let state = self.routers[router];
        let input = std::mem::replace(&mut self.vc_requests[place].input, NONE);
        let (port_base, vc_base) = (state.first_port as usize, (state.first_port << LOG) as usize);
        let vc = &mut self.inputs[vc_base + input as usize];
        vc.output = output;
        if KIND == GENERAL && self.delayed {
            vc.ready = after(self.speedup, step + 1, self.delays.sw_alloc);
        }
        let (size, places) = (vc.front.size(), self.policy.places(&vc.front));
        let owned = &mut self.outputs[vc_base + output as usize];
        owned.owner = input;
        owned.starved = false;
        if move_pointers {
            vc.pointer = output + 1;
            owned.pointer = input + 1;
        }
        let arbiters = &mut self.ports[port_base + Self::port(output) as usize];
        arbiters.free &= !(1 << Self::vc(output));
        if KIND == GENERAL && self.policy.cut_through {
            let before = u32::from(owned.occupancy);
            owned.occupancy += places as u16;
            arbiters.shared += self.policy.shared(before + places) - self.policy.shared(before);
            if let Some(padded) = self.padded.get_mut(vc_base + output as usize) {
                padded.push_back((size as u16, (places - size) as u16));
            }
        }
        self.ask_switch(router, input, output);
    }

    /// Switch allocation over the first `asking` requests of a router; winners leave at `departure` or later.
    #[inline(always)]
    fn allocate_switch(
        &mut self,
        router: usize,
        asking: usize,
        now: u32,
        departure: u32,
        step: u32,
        channels: &mut Channels,
    ) {
        if asking == 0 {
            return;
        }
        let base = (self.routers[router].first_port << LOG) as usize;
        let mut dropped = false;
        if asking == 1 && self.allocator() != Allocator::Wavefront {
            if self.eligible(router, base, step, &mut dropped).is_some() {
                dropped |= self.grant_switch(router, base, true, now, departure, step, channels);
            }
        } else {
            for iteration in 0..self.iterations() {
                dropped |= match self.allocator() {
                    Allocator::SeparableInputFirst => self.switch_input_first(router, base..base + asking, step),
                    Allocator::Islip => self.switch_islip(router, base..base + asking, step),
                    Allocator::Wavefront => self.switch_wavefront(router, base..base + asking, step),
                };
                let move_pointers = iteration == 0 || self.allocator() == Allocator::SeparableInputFirst;
                for i in 0..std::mem::take(&mut self.by_output.len) {
                    let (_, place) = self.by_output.take(i);
                    dropped |= self.grant_switch(router, place, move_pointers, now, departure, step, channels);
                }
            }
        }
        self.granted.clear();
        if dropped {
            self.drop_switch_requests(router);
        }
    }

    /// True if a request can be served in this step; one without a credit is taken off the list until a credit comes.
    #[inline(always)]
    fn eligible(&mut self, router: usize, place: usize, step: u32, parked: &mut bool) -> Option<SwitchRequest> {
        let request = self.switch_requests[place];
        if self.iterations() > 1 && request.input == NONE {
            return None;
        }
        let vc_base = (self.routers[router].first_port << LOG) as usize;
        if self.delayed() && self.inputs[vc_base + request.input as usize].ready > step {
            return None;
        }
        let limit = self.limit();
        let output = &mut self.outputs[vc_base + request.output as usize];
        let out_port = self.routers[router].first_port as usize + Self::port(request.output) as usize;
        if u32::from(output.occupancy) >= limit && (KIND != GENERAL || self.ports[out_port].shared >= self.policy.pool)
        {
            output.starved = true;
            self.switch_requests[place].input = NONE;
            *parked = true;
            return None;
        }
        if self.iterations() > 1 {
            let taken = |port: u16| self.granted.contains(&port);
            if taken(Self::port(request.input) << 1) || taken(Self::port(request.output) << 1 | 1) {
                return None;
            }
        }
        Some(request)
    }

    /// Inputs choose, then outputs. Leaves the winners in `by_output`; returns whether any request was marked to be
    /// taken off the list.
    #[inline(always)]
    fn switch_input_first(&mut self, router: usize, asking: Range<usize>, step: u32) -> bool {
        let port_base = self.routers[router].first_port as usize;
        let mut parked = false;
        // As long as no input has asked twice, inputs have nothing to choose: requests go straight to their outputs.
        let mut asked = 0u64;
        for place in asking.clone() {
            let Some(request) = self.eligible(router, place, step, &mut parked) else { continue };
            let input = Self::port(request.input);
            let bit = 1u64.checked_shl(input.into()).unwrap_or(0);
            if bit == 0 || asked & bit != 0 {
                for i in 0..std::mem::take(&mut self.by_output.len) {
                    self.by_output.take(i);
                }
                self.inputs_choose(router, asking, step, &mut parked);
                return parked;
            }
            asked |= bit;
            let output = Self::port(request.output);
            let pointer = self.ports[port_base + output as usize].output;
            self.by_output.offer(output, u32::from(input.wrapping_sub(pointer)), place);
        }
        parked
    }

    /// The general case of [`InputQueued::switch_input_first`].
    fn inputs_choose(&mut self, router: usize, asking: Range<usize>, step: u32, parked: &mut bool) {
        let port_base = self.routers[router].first_port as usize;
        for place in asking {
            if self.switch_requests[place].input == NONE {
                continue;
            }
            let Some(request) = self.eligible(router, place, step, parked) else { continue };
            let port = Self::port(request.input);
            let arbiters = &self.ports[port_base + port as usize];
            let output = u32::from(Self::port(request.output).wrapping_sub(arbiters.input));
            let vc = (Self::vc(request.input).wrapping_sub(u32::from(arbiters.offset))) & 0xFF;
            self.by_input.offer(port, output << 8 | vc, place);
        }
        for i in 0..std::mem::take(&mut self.by_input.len) {
            let (input, place) = self.by_input.take(i);
            let output = Self::port(self.switch_requests[place].output);
            let pointer = self.ports[port_base + output as usize].output;
            self.by_output.offer(output, u32::from(input.wrapping_sub(pointer)), place);
        }
    }

    /// Outputs grant, then inputs accept. As [`InputQueued::switch_input_first`]; the winners stand by input in `by_output`.
    fn switch_islip(&mut self, router: usize, asking: Range<usize>, step: u32) -> bool {
        let port_base = self.routers[router].first_port as usize;
        let mut parked = false;
        for place in asking {
            let Some(request) = self.eligible(router, place, step, &mut parked) else { continue };
            let (input, output) = (Self::port(request.input), Self::port(request.output));
            let key = u32::from(input.wrapping_sub(self.ports[port_base + output as usize].output));
            let offset = self.ports[port_base + input as usize].offset;
            let vc = (Self::vc(request.input).wrapping_sub(u32::from(offset))) & 0xFF;
            self.by_input.offer(output, key << 8 | vc, place);
        }
        for i in 0..std::mem::take(&mut self.by_input.len) {
            let (output, place) = self.by_input.take(i);
            let input = Self::port(self.switch_requests[place].input);
            let pointer = self.ports[port_base + input as usize].input;
            self.by_output.offer(input, u32::from(output.wrapping_sub(pointer)), place);
        }
        parked
    }

    /// Wavefront over inputs and outputs. As [`InputQueued::switch_input_first`].
    fn switch_wavefront(&mut self, router: usize, asking: Range<usize>, step: u32) -> bool {
        let port_base = self.routers[router].first_port as usize;
        let (square, first) = (self.radix(router), self.diagonals[router].switch);
        let mut requests = std::mem::take(&mut self.requests);
        let mut parked = false;
        for place in asking {
            let Some(request) = self.eligible(router, place, step, &mut parked) else { continue };
            let (input, output) = (Self::port(request.input), Self::port(request.output));
            let offset = self.ports[port_base + input as usize].offset;
            let turn = (Self::vc(request.input).wrapping_sub(u32::from(offset))) & 0xFF;
            let diagonal = (u32::from(input) + u32::from(output) + square - first) % square;
            requests.push(Crossing { diagonal, output, input, turn, place });
        }
        if !requests.is_empty() {
            self.diagonals[router].switch = (first + 1) % square;
        }
        wavefront(&mut requests);
        for request in requests.drain(..) {
            self.by_output.offer(request.output, 0, request.place);
        }
        self.requests = requests;
        parked
    }

    /// The request at `place` has won the switch: its flit leaves. Returns true if the request is done.
    #[inline(always)]
    #[allow(clippy::too_many_arguments)]
    fn grant_switch(
        &mut self,
        router: usize,
        place: usize,
        move_pointers: bool,
        now: u32,
        departure: u32,
        step: u32,
        channels: &mut Channels,
    ) -> bool {
        let first_port = self.routers[router].first_port;
        let request = self.switch_requests[place];
        let (input, output) = (Self::port(request.input), Self::port(request.output));
        let vc_base = first_port << LOG;
        let (in_port, out_port) = (first_port + u32::from(input), first_port + u32::from(output));
        let arbiters = &mut self.ports[in_port as usize];
        arbiters.offset = Self::vc(request.input) as u16 + 1;
        if move_pointers {
            arbiters.input = output + 1;
            self.ports[out_port as usize].output = input + 1;
        }
        if self.iterations() > 1 {
            self.granted.extend([input << 1, output << 1 | 1]);
        }
        self.grants += 1;
        let index = (vc_base + u32::from(request.input)) as usize;
        let flit = self.pop(index);
        let out_index = vc_base + u32::from(request.output);
        if !self.cut_through() {
            let output = &mut self.outputs[out_index as usize];
            output.occupancy += 1;
            if KIND == GENERAL && output.occupancy > self.policy.reserve {
                self.ports[out_port as usize].shared += 1;
            }
        }
        channels.send_flit(PortId(out_port), out_index, Self::vc(request.output), departure, flit);
        channels.send_credit(PortId(in_port), Self::vc(request.input), now);
        let empty = self.inputs[index].flits == 0;
        if flit.is_tail() {
            self.inputs[index].output = NONE;
            self.outputs[out_index as usize].owner = NONE;
            self.ports[out_port as usize].free |= 1 << Self::vc(request.output);
            self.freed(router, out_port as usize);
            if !empty {
                self.ask_vc(router as u32, index, step + 1);
            }
        } else if !empty {
            if self.delayed() {
                self.inputs[index].ready = after(self.speedup, step + 1, self.delays.sw_alloc);
            }
            return false;
        }
        self.switch_requests[place].input = NONE;
        true
    }

    /// Takes the front flit of an input VC.
    #[inline(always)]
    fn pop(&mut self, index: usize) -> Flit {
        let vc = &mut self.inputs[index];
        let flit = vc.front;
        vc.flits -= 1;
        if vc.flits > 0 {
            let place = vc.next as usize;
            (vc.front, vc.next) = self.pool.remove(vc.next);
            if self.decides_again() && self.inputs[index].front.is_head() {
                self.before[index] = self.before_in_pool[place];
            }
        }
        flit
    }

    /// A credit has come back for output VC `vc`: with its last one a packet gives back the places beyond its flits.
    fn give_padding_back(&mut self, vc: u32) {
        let sent = &mut self.padded[vc as usize];
        let oldest = sent.front_mut().expect("a packet has been sent");
        oldest.0 -= 1;
        if let (0, places) = *oldest {
            sent.pop_front();
            self.outputs[vc as usize].occupancy -= places;
        }
    }

    /// Room has been made in output VC `vc`, for which its owner or heads without a VC wait: enough for some?
    fn relieve(&mut self, vc: u32) {
        let router = self.router_of[(vc >> LOG) as usize];
        let (port, output) = ((vc >> LOG) as usize, &mut self.outputs[vc as usize]);
        let input = output.owner;
        if input != NONE {
            output.starved = false;
            let output = (vc - (self.routers[router as usize].first_port << LOG)) as u16;
            self.ask_switch(router as usize, input, output);
        } else if self.policy.fits(output.occupancy, self.ports[port].shared, self.wanted[vc as usize].into()) {
            output.starved = false;
            self.freed(router as usize, port);
        }
        self.activate(router);
    }
}

impl<const LOG: u32, const KIND: u8> RouterModel for InputQueued<LOG, KIND> {
    type Plan = Options;

    fn new(setup: &Setup, options: &Options, first_ports: &[u32], ports: usize) -> Self {
        let input = InputVc { front: Flit::NONE, next: NIL, last: NIL, flits: 0, ready: 0, output: NONE, pointer: 0 };
        let output = OutputVc { occupancy: 0, pointer: 0, owner: NONE, starved: false };
        let policy = BufferPolicy::new(setup);
        let wavefront = options.allocator == Allocator::Wavefront;
        let before = if setup.decides_again { ports << LOG } else { 0 };
        let all = setup.class_masks[setup.classes as usize];
        let radix = first_ports.windows(2).map(|w| w[1] - w[0]).max().unwrap_or(0) as usize;
        let router =
            |w: &[u32]| RouterState { first_port: w[0], asking_vc: 0, asking_switch: 0, active: false, look: false };
        Self {
            routers: first_ports.windows(2).map(router).collect(),
            inputs: Table::filled(input, ports << LOG),
            outputs: Table::filled(output, ports << LOG),
            ports: Table::filled(
                PortArbiters { free: all, input: 0, output: 0, offset: 0, waiting: 0, shared: 0 },
                ports,
            ),
            vc_requests: Table::filled(VcRequest::NONE, ports << LOG),
            switch_requests: Table::filled(SwitchRequest { input: NONE, output: NONE }, ports << LOG),
            waiting: Table::filled(0, ports * (radix << LOG).div_ceil(64)),
            words: (radix << LOG).div_ceil(64),
            router_of: first_ports
                .windows(2)
                .enumerate()
                .flat_map(|(r, w)| std::iter::repeat_n(r as u32, (w[1] - w[0]) as usize))
                .collect(),
            class_masks: setup.class_masks.iter().copied().collect(),
            pool: Pool::new(),
            active: Vec::new(),
            by_input: Choices::new(radix),
            by_output: Choices::new(radix),
            by_vc: Choices::new(radix << LOG),
            granted: Vec::new(),
            diagonals: Table::filled(Diagonals { vcs: 0, switch: 0 }, if wavefront { first_ports.len() } else { 0 }),
            requests: Vec::new(),
            vcs: setup.vcs,
            policy,
            wanted: Table::filled(0, if policy.whole == 0 { 0 } else { ports << LOG }),
            decides_again: setup.decides_again,
            before: Table::filled(PacketState::direct(0), before),
            before_in_pool: Vec::new(),
            padded: vec![VecDeque::new(); if policy.bubble > 1 { ports << LOG } else { 0 }],
            looking: Vec::new(),
            allocator: options.allocator,
            iterations: options.iterations,
            speedup: options.speedup,
            delays: Delays {
                routing: options.routing_delay.checked_sub(1),
                vc_alloc: options.vc_alloc_delay - 1,
                sw_alloc: options.sw_alloc_delay - 1,
            },
            delayed: options.delayed(),
            grants: 0,
        }
    }

    #[inline(always)]
    fn router_of(&self, vc: u32) -> u32 {
        self.router_of[(vc >> LOG) as usize]
    }

    #[inline(always)]
    fn accept(&mut self, vc: u32, flit: Flit, now: u32) {
        let index = vc as usize;
        let state = &mut self.inputs[index];
        state.flits += 1;
        if state.flits == 1 {
            state.front = flit;
            let router = self.router_of[(vc >> LOG) as usize];
            if flit.is_head() {
                let step = if self.delayed() { first_step(self.speedup, now) } else { 0 };
                self.ask_vc(router, index, step);
            } else {
                let output = state.output;
                if KIND == GENERAL && self.delayed {
                    state.ready = after(self.speedup, first_step(self.speedup, now), self.delays.sw_alloc);
                }
                let input = (vc - (self.routers[router as usize].first_port << LOG)) as u16;
                self.ask_switch(router as usize, input, output);
            }
            self.activate(router);
            return;
        }
        let place = self.pool.insert(flit);
        if state.flits == 2 {
            state.next = place;
        } else {
            self.pool.link(state.last, place);
        }
        state.last = place;
    }

    #[inline(always)]
    fn expect_flit(&self, vc: u32) {
        self.inputs.prefetch(vc as usize);
        self.router_of.prefetch((vc >> LOG) as usize);
    }

    #[inline(always)]
    fn expect_credit(&self, vc: u32) {
        self.outputs.prefetch(vc as usize);
    }

    #[inline(always)]
    fn credit(&mut self, vc: u32) {
        let output = &mut self.outputs[vc as usize];
        debug_assert!(output.occupancy > 0, "a credit that nobody has spent");
        let was_shared = KIND == GENERAL && output.occupancy > self.policy.reserve;
        output.occupancy -= 1;
        if KIND == GENERAL && !self.padded.is_empty() {
            self.give_padding_back(vc);
        }
        let output = &self.outputs[vc as usize];
        if was_shared {
            let port = vc >> LOG;
            self.ports[port as usize].shared -= 1;
            for vc in port << LOG..(port + 1) << LOG {
                if self.outputs[vc as usize].starved {
                    self.relieve(vc);
                }
            }
        } else if output.starved {
            self.relieve(vc);
        }
    }

    // Not inlined: compiled once for each stride, not again for each routing.
    #[inline(never)]
    fn step(&mut self, now: u32, channels: &mut Channels) {
        let first = first_step(self.speedup, now);
        let substeps = first_step(self.speedup, now + 1) - first;
        let mut place = 0;
        while place < self.active.len() {
            let router = self.active[place] as usize;
            for substep in 0..substeps {
                let departure = if substep + 1 < substeps { now } else { now + 1 };
                let step = first + substep;
                let asking = self.routers[router].asking_switch as usize;
                self.allocate_vcs(router, step);
                self.allocate_switch(router, asking, now, departure, step, channels);
            }
            let state = &mut self.routers[router];
            if state.asking_vc == 0 && state.asking_switch == 0 {
                state.active = false;
                self.active.swap_remove(place);
            } else {
                place += 1;
            }
        }
    }

    #[inline(always)]
    fn occupancy(&self, port: u32) -> u32 {
        let first = (port << LOG) as usize;
        (first..first + (1 << LOG)).map(|vc| u32::from(self.outputs[vc].occupancy)).sum()
    }

    #[inline(always)]
    fn free_vcs(&self, port: u32, class: u8, size: u32, _from: u32) -> u32 {
        let port = port as usize;
        let free = self.ports[port].free & self.class_masks[class as usize];
        let mut whole = free & self.whole();
        let mut count = free.count_ones();
        while whole != 0 {
            let occupancy = self.outputs[(port << LOG) + whole.trailing_zeros() as usize].occupancy;
            count -= u32::from(!self.policy.fits(occupancy, self.ports[port].shared, size));
            whole &= whole - 1;
        }
        count
    }

    #[inline(always)]
    fn buffer(&self, class: u8) -> u32 {
        // The last mask is that of all VCs.
        let mask = if self.policy.pool > 0 { self.class_masks.len() - 1 } else { class.into() };
        self.class_masks[mask].count_ones() * u32::from(self.policy.reserve) + self.policy.pool
    }

    #[inline(always)]
    fn remember(&mut self, vc: u32, before: PacketState) {
        let state = &self.inputs[vc as usize];
        if state.flits == 1 {
            self.before[vc as usize] = before;
        } else {
            let place = state.last as usize;
            self.before_in_pool.resize(self.before_in_pool.len().max(place + 1), before);
            self.before_in_pool[place] = before;
        }
    }

    fn undecided(&mut self, heads: &mut Vec<(u32, Flit)>) {
        let mut looking = std::mem::take(&mut self.looking);
        for router in looking.drain(..) {
            let state = &mut self.routers[router as usize];
            state.look = false;
            let (port, vc_base) = (state.first_port as usize, state.first_port << LOG);
            for word in 0..self.words {
                let mut bits = self.waiting[port * self.words + word];
                while bits != 0 {
                    let vc = vc_base + word as u32 * 64 + bits.trailing_zeros();
                    bits &= bits - 1;
                    heads.push((vc, Flit { state: self.before[vc as usize], ..self.inputs[vc as usize].front }));
                }
            }
        }
        self.looking = looking;
    }

    fn redirect(&mut self, vc: u32, flit: Flit) {
        self.inputs[vc as usize].front = flit;
        let router = self.router_of(vc);
        let first_port = self.routers[router as usize].first_port;
        let wanted = self.policy.wanted(&flit);
        if self.usable((first_port + u32::from(flit.out)) as usize, flit.class, wanted) == 0 {
            return;
        }
        let input = (vc - (first_port << LOG)) as usize;
        self.ports[first_port as usize].waiting -= 1;
        self.waiting[first_port as usize * self.words + input / 64] ^= 1 << (input % 64);
        self.list_vc_request(router, vc as usize);
        self.activate(router);
    }

    fn grants(&self) -> u64 {
        self.grants
    }

    fn buffered(&self) -> u64 {
        self.inputs.iter().map(|vc| u64::from(vc.flits)).sum()
    }

    fn flits(&self, vc: u32) -> u32 {
        self.inputs[vc as usize].flits
    }

    fn waits_for(&self, vc: u32) -> Wait {
        let state = &self.inputs[vc as usize];
        let first_port = self.routers[self.router_of(vc) as usize].first_port;
        let vc_base = first_port << LOG;
        if state.output != NONE {
            let output = vc_base + u32::from(state.output);
            return match state.flits {
                0 => Wait::Flit,
                _ if self.outputs[output as usize].starved => Wait::Credit(output),
                _ => Wait::Nothing,
            };
        }
        if state.flits == 0 {
            return Wait::Nothing;
        }
        let port = first_port + u32::from(state.front.out);
        let class = self.class_masks[state.front.class as usize];
        if self.free_vcs(port, state.front.class, self.policy.wanted(&state.front), vc) > 0 {
            return Wait::Nothing;
        }
        let decided = (0..1 << LOG).filter(|v| class >> v & 1 == 1).map(|v| (port << LOG) + v);
        if !self.decides_again() {
            return Wait::Vcs(decided.collect());
        }
        // It may decide for any VC that is freed here.
        let end = self.routers.iter().map(|r| r.first_port).find(|&p| p > first_port);
        let vcs = vc_base..end.map_or(self.outputs.iter().len() as u32, |port| port << LOG);
        Wait::Vcs(vcs.filter(|&vc| self.outputs[vc as usize].owner != NONE).chain(decided).collect())
    }

    fn owner(&self, vc: u32) -> Option<u32> {
        let owner = self.outputs[vc as usize].owner;
        let first_port = self.routers[self.router_of(vc) as usize].first_port;
        (owner != NONE).then(|| (first_port << LOG) + u32::from(owner))
    }

    fn taken(&self, vc: u32) -> u32 {
        let padding =
            self.padded.get(vc as usize).map_or(0, |sent| sent.iter().map(|(_, places)| u32::from(*places)).sum());
        u32::from(self.outputs[vc as usize].occupancy) - padding
    }

    fn takers(&self, vc: u32) -> Vec<u32> {
        let others = self.policy.pool > 0 && (self.cut_through() || self.outputs[vc as usize].owner != NONE);
        let shares = |other: &u32| others && self.outputs[*other as usize].occupancy > self.policy.reserve;
        let first = vc >> LOG << LOG;
        let own = (self.outputs[vc as usize].occupancy > 0).then_some(vc);
        own.into_iter().chain((first..first + (1 << LOG)).filter(|&other| other != vc).filter(shares)).collect()
    }
}
