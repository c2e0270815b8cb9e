//! The step of all kinds of router but the general one: separable allocation, inputs first, in one iteration, without
//! priorities. Heads of the adaptive ones may decide again while they wait; the buffered ones have shared buffers, virtual
//! cut-through and stages of route computation.
//!
//! What a router's step reads and writes is held as [`Part`]s of the tables, and its counts apart from them: most of what
//! the general step takes longer is looking up, after each store, where each table is.

use std::ops::Range;

use super::buffers::{InputVc, OutputVc, PortQueue, with_room};
use super::input_sets::InputSets;
use super::matching::{Choices, Turns, turn};
use super::switch_allocator::SwitchRequest;
use super::timing::Delay;
use super::vc_allocator::VcRequest;
use super::waiting_heads::{Commitment, Unready, WaitingHead};
use super::{
    InputQueuedRouters, NO_SUCH_PORT, NONE, PortArbiters, RouterState, count_undecided, is_adaptive, is_bare_adaptive,
    is_buffered, look, may_take_whole,
};
use crate::cycle::channels::{ChannelEnd, Channels, FIRST, Wheel, Wires};
use crate::cycle::flit::{Flit, Pool, UNDECIDED};
use crate::cycle::router::FreshHead;
use crate::cycle::router::buffer_policy::BufferPolicy;
use crate::cycle::table::{Part, Table};
use crate::network::PortId;
use crate::routing::PacketState;

/// The internal steps of a cycle.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cycle {
    pub(super) now: u32,
    pub(super) substeps: u32,
    /// At the buffered kinds: when the heads may be allocated that come to the front in each of them.
    pub(super) delays: [Delay; 2],
}

impl Cycle {
    /// The first cycle in which what is granted in a step can leave.
    #[inline(always)]
    pub(super) fn departure(self, substep: u32) -> u32 {
        if substep + 1 < self.substeps { self.now } else { self.now + 1 }
    }
}

/// When a flit that wins the switch leaves, and when the head behind it may be allocated.
#[derive(Debug, Clone, Copy)]
struct Grant {
    now: u32,
    departure: u32,
    delay: Delay,
}

/// How many requests of a batch are looked at whether each is the only one of its router.
const FEW_ALONE: usize = 4;

/// A packet of one flit that is given a VC and the switch in one cycle.
#[derive(Debug, Clone, Copy)]
struct Crossing {
    router: u32,
    /// The ports and VCs that it comes by, in the numbering of the domain …
    inputs: [usize; 2],
    /// … and leaves by.
    outputs: [usize; 2],
    /// Both VCs in the numbering of the batch.
    input: u16,
    output: u16,
    commitment: Commitment,
    /// It takes one of the slots that the VCs of its output share.
    shares: bool,
}

impl Crossing {
    /// No packet.
    const NONE: Self = {
        let (none, commitment) = ([0; 2], Commitment::Final);
        Self { router: u32::MAX, inputs: none, outputs: none, input: 0, output: 0, commitment, shares: false }
    };
}

/// A batch of routers, its ports and VCs numbered from 0.
struct PlainBatch<'a, const LOG: u32, const KIND: u8> {
    first_port: usize,
    /// All of its ports.
    ports_of_batch: u16,
    /// Its first router.
    lead: u32,
    router_of: &'a Table<u32>,
    asking_vc: usize,
    asking_switch: usize,
    inputs: Part<'a, InputVc>,
    outputs: Part<'a, OutputVc>,
    starved: Part<'a, bool>,
    ports: Part<'a, PortArbiters>,
    ends: Part<'a, ChannelEnd>,
    wires: &'a mut Wires,
    vc_requests: Part<'a, VcRequest>,
    switch_requests: Part<'a, SwitchRequest>,
    /// See [`InputQueuedRouters::waiting`].
    waiting: &'a mut InputSets,
    vc_turns: Turns<'a>,
    output_turns: Turns<'a>,
    by_input: &'a mut Choices,
    pool: &'a mut Pool<Flit>,
    class_masks: &'a [u64; 256],
    policy: &'a BufferPolicy,
    /// Output VCs that have been freed where heads wait.
    freed: Part<'a, u16>,
    /// How many they are.
    frees: usize,
    again: Again<'a>,
    stock: Stock<'a>,
}

/// What the step of a buffered router needs beyond that; empty at the others.
struct Stock<'a> {
    /// See [`InputQueuedRouters::shared`].
    shared: Part<'a, u32>,
    /// See [`InputQueuedRouters::tight`].
    tight: u32,
    /// The shared slots taken of an output from which on some packet may not fit into it.
    roomy: u32,
    /// The less of both: most often fewer are taken.
    crowded: u32,
    /// An output that a request of this step asks for has as many taken as [`Stock::tight`].
    is_tight: bool,
    /// See [`RouterState::late`]; none from the later step on.
    late: usize,
    /// The step is the last one of its cycle.
    last: bool,
    /// See [`InputQueuedRouters::delayed`].
    delayed: bool,
    unready: &'a mut [Wheel<Unready>; 2],
    ready: Part<'a, u32>,
    winners: &'a mut Vec<(u16, u16)>,
}

/// What the step of a router needs where heads decide again; empty at the plain one.
struct Again<'a> {
    /// See [`InputQueuedRouters::undecided`].
    undecided: &'a mut InputSets,
    heads: Part<'a, WaitingHead>,
    /// See [`InputQueuedRouters::noted`].
    noted: &'a mut InputSets,
    before: &'a [PacketState],
    queued: Part<'a, PortQueue>,
    /// See [`InputQueuedRouters::fresh`].
    fresh: &'a mut Vec<FreshHead>,
    /// See [`InputQueuedRouters::wanted`]; of the buffered kinds, too.
    wanted: Part<'a, u16>,
    /// See [`InputQueuedRouters::most`].
    most: u32,
    /// See [`InputQueuedRouters::revocable`].
    revocable: u16,
    routers: &'a mut Table<RouterState>,
    /// See [`InputQueuedRouters::looking`].
    looking: &'a mut Vec<u32>,
    /// Something has changed since they decided, if there are any; not of the buffered kind, whose routers are noted one by one.
    changed: bool,
}

impl<const LOG: u32, const KIND: u8> InputQueuedRouters<LOG, KIND> {
    /// Runs the internal steps of the batch that router `lead` is the first of, not of the general kind; returns true if it has
    /// requests left.
    #[inline(always)]
    pub(super) fn step_plain(&mut self, lead: usize, cycle: Cycle, channels: &mut Channels) -> bool {
        if cycle.substeps == 2 && self.cross_alone(lead, cycle, channels) {
            return self.routers[lead].asking_vc > 0;
        }
        let mut substep = 0;
        while substep < cycle.substeps {
            let mut plain = self.plain_batch(lead, channels);
            while substep < cycle.substeps && plain.frees == 0 {
                plain.step(cycle, substep);
                plain.wake_freed();
                substep += 1;
            }
            let (asking_vc, asking_switch, frees) = (plain.asking_vc, plain.asking_switch, plain.frees);
            let changed = plain.again.changed;
            let state = &mut self.routers[lead];
            (state.asking_vc, state.asking_switch) = (asking_vc as u16, asking_switch as u16);
            if Self::BUFFERED {
                state.late = 0;
            } else if changed {
                self.look(lead);
            }
            if frees == 0 {
                return asking_vc > 0 || asking_switch > 0;
            }
            self.wake_freed(lead, frees);
        }
        let state = &self.routers[lead];
        state.asking_vc > 0 || state.asking_switch > 0
    }

    /// If the only requests of a batch are of different routers, each of a packet of one flit for a VC that is free and has a
    /// credit, runs two internal steps: the packets are given the VCs in the first, and the switch in the second. What would be
    /// written and taken back again is left out. Returns false, with nothing done, where that is not so.
    #[inline(always)]
    fn cross_alone(&mut self, lead: usize, Cycle { now, delays, .. }: Cycle, channels: &mut Channels) -> bool {
        let RouterState { first_port, asking_vc, asking_switch, all_undecided, late, .. } = self.routers[lead];
        // A head that may decide again would do so, as a VC is freed.
        let decides = Self::ADAPTIVE && all_undecided > 0;
        let most = if Self::BUFFERED { FEW_ALONE } else { 1 };
        let asking = usize::from(asking_vc);
        if asking.wrapping_sub(1) >= most || asking_switch != 0 || decides || Self::BUFFERED && late > 0 {
            return false;
        }
        let (first_port, delay) = (first_port as usize, delays[1]);
        if asking > 1 {
            return self.cross_few(lead, first_port, asking, (now, delay), channels);
        }
        let Some(crossing) = self.crossing(lead, first_port, 0) else { return false };
        self.routers[lead].asking_vc = 0;
        self.cross(crossing, (now, delay), channels);
        true
    }

    /// The same of several requests.
    #[inline(never)]
    fn cross_few(
        &mut self,
        lead: usize,
        first_port: usize,
        asking: usize,
        time: (u32, Delay),
        channels: &mut Channels,
    ) -> bool {
        let mut crossings = [Crossing::NONE; FEW_ALONE];
        for place in 0..asking {
            let Some(crossing) = self.crossing(lead, first_port, place) else { return false };
            if crossings[..place].iter().any(|other| other.router == crossing.router) {
                return false;
            }
            crossings[place] = crossing;
        }
        self.routers[lead].asking_vc = 0;
        for &crossing in &crossings[..asking] {
            self.cross(crossing, time, channels);
        }
        true
    }

    /// The request at `place` of a batch, which has the only one of its router, if it may be given a VC and the switch in a cycle.
    #[inline(always)]
    fn crossing(&self, lead: usize, first_port: usize, place: usize) -> Option<Crossing> {
        let first_vc = first_port << LOG;
        let VcRequest { input, port, last_output, class, commitment } = self.vc_requests[first_vc + place];
        let (in_port, out_port) = (first_port + usize::from(Self::port(input)), first_port + usize::from(port));
        let PortArbiters { free, waiting, .. } = self.ports[out_port];
        let free = free & self.class_masks[class as usize];
        let index = first_vc + usize::from(input);
        let InputVc { tail, flits, .. } = self.inputs[index];
        if free == 0 || waiting > 0 || !tail {
            return None;
        }
        let may_not_fit = || free & self.whole() != 0 && !self.all_fit(out_port, self.most);
        if Self::ADAPTIVE && flits > 1 || may_take_whole(KIND) && may_not_fit() {
            return None;
        }
        let out_vc = Self::pick(free, port, last_output);
        let out_index = (out_port << LOG) + out_vc as usize;
        let shares = self.outputs[out_index].occupancy >= self.policy.reserve;
        if shares && (!Self::BUFFERED || self.shared[out_port] >= self.policy.pool) {
            return None;
        }
        let router = if Self::BUFFERED { self.router_of[in_port] } else { lead as u32 };
        let (inputs, outputs) = ([in_port, index], [out_port, out_index]);
        Some(Crossing { router, inputs, outputs, input, output: port << LOG | out_vc as u16, commitment, shares })
    }

    /// It does.
    #[inline(always)]
    fn cross(&mut self, crossing: Crossing, (now, delay): (u32, Delay), channels: &mut Channels) {
        let Crossing { router, input, output, commitment, shares, .. } = crossing;
        let ([in_port, index], [out_port, out_index]) = (crossing.inputs, crossing.outputs);
        let sending = &mut self.outputs[out_index];
        (sending.occupancy, sending.last_input) = (sending.occupancy + 1, input);
        if Self::BUFFERED && shares {
            self.shared[out_port] += 1;
        }
        if self.whole() != 0 {
            self.starved[out_index] = false;
        }
        if is_bare_adaptive(KIND) {
            self.queued[out_port].sent += 1;
        }
        if Self::ADAPTIVE && commitment == Commitment::Noted {
            self.settle(router as usize, index);
        }
        let vc = &mut self.inputs[index];
        vc.last_output = output;
        let (place, _) = vc.pop::<KIND>(&self.pool);
        let more = vc.flits > 0;
        let arbiters = &mut self.ports[in_port];
        (arbiters.last_vc, arbiters.last_output) = (Self::vc(input) as u16, Self::port(output));
        self.ports[out_port].last_input = Self::port(input);
        let ports = [in_port, out_port].map(|port| PortId(port as u32));
        if Self::ADAPTIVE {
            channels.forward_flit(ports, Self::vc(output), now + 1, place);
        } else {
            channels.send_flit(ports[1], Self::vc(output), now + 1, place);
        }
        channels.send_credit(PortId(in_port as u32), Self::vc(input), now);
        if !Self::ADAPTIVE && more {
            let Flit { out, class, .. } = *self.front(index);
            self.ask_vc_after(router, index, (out, class, Commitment::Final), delay);
        }
    }

    #[inline(always)]
    fn plain_batch<'a>(&'a mut self, lead: usize, channels: &'a mut Channels) -> PlainBatch<'a, LOG, KIND> {
        let state = self.routers[lead];
        let (first_port, size) = (state.first_port as usize, state.ports as usize);
        let (first_vc, vcs) = (first_port << LOG, size << LOG);
        // The plain router has none of these tables.
        let none = (0, 0);
        let (of_vcs, of_ports) = if Self::ADAPTIVE { ((first_vc, vcs), (first_port, size)) } else { (none, none) };
        let of_whole = if !may_take_whole(KIND) || self.policy.whole == 0 { none } else { (first_vc, vcs) };
        let of_shared = if Self::BUFFERED { (first_port, size) } else { none };
        let of_ready = if Self::BUFFERED && self.delayed { of_vcs } else { none };
        let roomy = match self.policy.whole {
            0 => u32::MAX,
            _ if self.policy.cut_through => (self.policy.pool + 1).saturating_sub(self.most),
            _ => 0,
        };
        PlainBatch {
            first_port,
            ports_of_batch: state.ports,
            lead: lead as u32,
            router_of: &self.router_of,
            asking_vc: state.asking_vc as usize,
            asking_switch: state.asking_switch as usize,
            inputs: self.inputs.part(first_vc, vcs),
            outputs: self.outputs.part(first_vc, vcs),
            starved: self.starved.part(first_vc, vcs),
            ports: self.ports.part(first_port, size),
            ends: channels.ends.part(first_port, size),
            wires: &mut channels.wires,
            vc_requests: self.vc_requests.part(first_vc, vcs),
            switch_requests: self.switch_requests.part(first_vc, vcs),
            waiting: &mut self.waiting,
            vc_turns: Turns::of(&mut self.vc_turns, vcs),
            output_turns: Turns::of(&mut self.output_turns, size),
            by_input: &mut self.by_input,
            pool: &mut self.pool,
            class_masks: &self.class_masks,
            policy: &self.policy,
            freed: self.freed.part(0, vcs),
            frees: 0,
            again: Again {
                undecided: &mut self.undecided,
                heads: self.waiting_heads.part(of_vcs.0, of_vcs.1),
                noted: &mut self.noted,
                before: &self.before,
                queued: self.queued.part(of_ports.0, of_ports.1),
                fresh: &mut self.fresh,
                wanted: self.wanted.part(of_whole.0, of_whole.1),
                most: self.most,
                revocable: self.revocable,
                routers: &mut self.routers,
                looking: &mut self.looking,
                changed: false,
            },
            stock: Stock {
                shared: self.shared.part(of_shared.0, of_shared.1),
                tight: self.tight,
                roomy,
                crowded: roomy.min(self.tight),
                is_tight: false,
                late: state.late.into(),
                last: false,
                delayed: self.delayed,
                unready: &mut self.unready,
                ready: self.ready.part(of_ready.0, of_ready.1),
                winners: &mut self.winners,
            },
        }
    }

    /// Puts heads that wait for the first `frees` VCs that were freed in the step, and for room in them, on the list of
    /// requests.
    #[inline(always)]
    fn wake_freed(&mut self, lead: usize, frees: usize) {
        for place in 0..frees {
            let port = self.routers[lead].first_port as usize + usize::from(Self::port(self.freed[place]));
            self.wake(self.router_of[port] as usize, port);
        }
    }
}

/// Fills the places from `kept` of a list up to those at `later` with the last ones of these, whose order decides nothing; returns
/// how many requests there are.
#[inline(always)]
fn close_up<T: Copy>(requests: &mut Part<'_, T>, kept: usize, later: Range<usize>) -> usize {
    let free = later.start - kept;
    for place in 0..free.min(later.len()) {
        requests[kept + place] = requests[later.end - 1 - place];
    }
    kept + later.len()
}

impl<const LOG: u32, const KIND: u8> PlainBatch<'_, LOG, KIND> {
    const BUFFERED: bool = is_buffered(KIND);
    const ADAPTIVE: bool = is_adaptive(KIND);
    /// With so few VCs heads wait often, and a branch on whether some do would be mispredicted. With more VCs they seldom wait,
    /// and the branch takes less time.
    const FEW_VCS: bool = LOG <= 1;

    /// The port of a VC.
    #[inline(always)]
    fn port(vc: u16) -> u16 {
        (u32::from(vc) >> LOG) as u16
    }

    /// The position of a VC among those of its port.
    #[inline(always)]
    fn place(vc: u16) -> u32 {
        u32::from(vc) & ((1 << LOG) - 1)
    }

    /// One internal step: both allocations see the state at its start.
    #[inline(always)]
    fn step(&mut self, cycle: Cycle, substep: u32) {
        let asking = self.asking_switch;
        if Self::BUFFERED {
            self.stock.last = substep + 1 == cycle.substeps;
        }
        if Self::BUFFERED && self.stock.late > 0 {
            match self.asking_vc - std::mem::take(&mut self.stock.late) {
                0 => {}
                1 => self.allocate_single_vc(),
                early => self.allocate_vcs(early),
            }
        } else {
            match self.asking_vc {
                0 => {}
                1 => self.allocate_single_vc(),
                asking => self.allocate_vcs(asking),
            }
        }
        let grant =
            Grant { now: cycle.now, departure: cycle.departure(substep), delay: cycle.delays[substep as usize & 1] };
        match asking {
            0 => {}
            1 => self.allocate_single_switch(grant),
            _ => self.allocate_switch(asking, grant),
        }
    }

    /// The output VC that the request at `place` picks; if none is free, or none has room, its head waits off the list.
    #[inline(always)]
    fn pick(&mut self, place: usize) -> Option<u16> {
        let VcRequest { port, last_output, class, .. } = self.vc_requests[place];
        let mut free = self.ports[port as usize].free & self.class_masks[class as usize];
        let may_not_fit = match Self::BUFFERED {
            true => {
                let shared = self.stock.shared[port as usize];
                shared >= self.stock.crowded && {
                    self.stock.is_tight |= shared >= self.stock.tight;
                    shared >= self.stock.roomy && free & self.policy.whole != 0
                }
            }
            false => may_take_whole(KIND) && free & self.policy.whole != 0 && !self.all_fit(port, self.again.most),
        };
        if may_not_fit {
            free = self.with_room(port, free, self.size_of(place));
        }
        if free == 0 {
            if Self::BUFFERED {
                self.park_or_stay(place);
            } else {
                self.park(place);
            }
            return None;
        }
        Some(port << LOG | InputQueuedRouters::<LOG, KIND>::pick(free, port, last_output) as u16)
    }

    /// A head that waits off the list is noted as soon as a VC is freed that has no room for it, and those that may decide again
    /// do so when there is room. One that stays on the list is noted a step later: true if there will be room at `port`,
    /// whatever is granted in this step, or if no head decides again.
    #[inline(always)]
    fn may_stay(&self, port: u16) -> bool {
        let crowded = || self.policy.pool == 0 || self.stock.shared[port as usize] >= self.stock.tight;
        let room = || self.policy.cut_through && !crowded();
        !Self::ADAPTIVE || self.policy.whole == 0 || room()
    }

    /// The request at `place`, for which no VC is free, or none has room, is taken off the list, or stays on it. In the last
    /// step of a cycle most of those that hold VCs have been given them in the cycle, and leave in this step. Where few ask, to
    /// ask again takes less than to be taken off and put back.
    #[inline(always)]
    fn park_or_stay(&mut self, place: usize) {
        let VcRequest { port, class, commitment, .. } = self.vc_requests[place];
        let held = self.ports[port as usize].free & self.class_masks[class as usize] == 0;
        let few = self.asking_vc <= usize::from(self.ports_of_batch) / 2;
        if held && (self.stock.last || few) && commitment == Commitment::Final && self.may_stay(port) {
            // As if it had picked one, which it does not win.
            self.vc_requests[place].last_output = port << LOG;
        } else {
            self.park(place);
        }
    }

    /// As [`InputQueuedRouters::all_fit`].
    #[inline(always)]
    fn all_fit(&self, port: u16, size: u32) -> bool {
        if Self::BUFFERED {
            return self.policy.cut_through && self.stock.shared[port as usize] + size <= self.policy.pool;
        }
        self.again.queued[port as usize].sent + size <= self.policy.reserve.into()
    }

    /// Those of the `free` VCs of an output that have room for a packet of `size` flits where it must fit whole.
    #[inline(always)]
    fn with_room(&mut self, port: u16, free: u64, size: u32) -> u64 {
        if self.all_fit(port, size) {
            return free;
        }
        let policy = self.policy;
        let shared = if Self::BUFFERED { self.stock.shared[port as usize] } else { 0 };
        let fits = |occupancy| match Self::BUFFERED {
            true => policy.fits(occupancy, shared, size),
            false => policy.fits_own(occupancy, size),
        };
        let (starved, wanted) = (&mut self.starved, &mut self.again.wanted);
        with_room(&self.outputs, starved, wanted, (port as usize) << LOG, free, size, policy.whole, fits)
    }

    /// The slots that must be free for the packet of the request at `place`.
    #[inline(always)]
    fn size_of(&self, place: usize) -> u32 {
        let VcRequest { input, commitment, .. } = self.vc_requests[place];
        let head = match commitment {
            Commitment::Noted => &self.again.heads[self.place_of(input)].flit(),
            _ => self.pool.get(self.inputs[input as usize].front),
        };
        self.policy.wanted(head)
    }

    /// Takes the request at `place` off the list until a VC of its output is freed, or, if its head may decide again, until
    /// it has.
    #[inline(always)]
    fn park(&mut self, place: usize) {
        let VcRequest { input, port, class, commitment, .. } =
            std::mem::replace(&mut self.vc_requests[place], VcRequest::NONE);
        let (input, port) = (input as usize, port as usize);
        if Self::ADAPTIVE && commitment != Commitment::Final {
            let router = self.router(input as u16);
            let record =
                if commitment == Commitment::Open { self.note(router, input) } else { self.record(input as u16) };
            return self.leave_undecided(router, record);
        }
        self.inputs[input].class = class;
        self.ports[port].waiting += 1;
        let own = self.first_vc(self.router(input as u16));
        self.waiting.insert(self.first_port + port, input - own);
    }

    /// VC allocation of the only request that is ready.
    #[inline(always)]
    fn allocate_single_vc(&mut self) {
        let request = self.vc_requests[0];
        match self.pick(0) {
            Some(output) => self.grant_vc(request, output),
            None if Self::BUFFERED && self.vc_requests[0].input != NONE => {
                // It stays.
                self.vc_requests[0] = request;
                return;
            }
            None => {}
        }
        self.asking_vc -= 1;
        if Self::BUFFERED {
            // Of those that are not ready the last one comes first: their order does not matter.
            self.vc_requests[0] = self.vc_requests[self.asking_vc];
        }
    }

    /// VC allocation of the first `asking` requests: inputs choose, then output VCs. What is served or parked is taken off
    /// the list.
    #[inline(always)]
    fn allocate_vcs(&mut self, asking: usize) {
        self.stock.is_tight = false;
        for place in 0..asking {
            let input = self.vc_requests[place].input;
            let Some(output) = self.pick(place) else { continue };
            // What it was given last is known to its input VC: for now the pick takes its place.
            self.vc_requests[place].last_output = output;
            self.vc_turns.offer(output, input, self.outputs[output as usize].last_input, place);
        }
        if Self::BUFFERED && self.stock.is_tight {
            self.grant_vcs_in_order(asking);
        }
        let mut kept = 0;
        for place in 0..asking {
            let request = self.vc_requests[place];
            if self.vc_turns.wins(request.last_output, place) {
                self.grant_vc(request, request.last_output);
            } else if request.input != NONE {
                let last_output = self.inputs[request.input as usize].last_output;
                self.vc_requests[kept] = VcRequest { last_output, ..request };
                kept += 1;
            }
        }
        self.asking_vc = close_up(&mut self.vc_requests, kept, asking..self.asking_vc);
    }

    /// Where winners of VCs of one output may take the shared slots from each other, they are served in the order of the
    /// VCs, and marked. Those that come too late ask again.
    #[inline(always)]
    fn grant_vcs_in_order(&mut self, asking: usize) {
        let mut winners = std::mem::take(self.stock.winners);
        for place in 0..asking {
            let VcRequest { input, last_output: output, .. } = self.vc_requests[place];
            if input != NONE && self.vc_turns.wins(output, place) {
                winners.push((output, place as u16));
            }
        }
        winners.sort_unstable();
        for (output, place) in winners.drain(..) {
            let (place, port) = (usize::from(place), usize::from(Self::port(output)));
            let size = self.size_of(place);
            if self.policy.fits(self.outputs[output as usize].occupancy, self.stock.shared[port], size) {
                let request = std::mem::replace(&mut self.vc_requests[place], VcRequest::NONE);
                self.grant_vc(request, output);
            }
        }
        *self.stock.winners = winners;
    }

    /// Flits of the packet at the front of input VC `input`.
    #[inline(always)]
    fn size_at_front(&self, input: u16) -> u32 {
        let InputVc { front, tail, .. } = self.inputs[input as usize];
        if tail { 1 } else { self.pool.get(front).size() }
    }

    /// Gives output VC `output` to the packet that asks for it. At the buffered kinds its input VC is not looked at: it is most
    /// often far, and will be when the switch is granted.
    #[inline(always)]
    fn grant_vc(&mut self, VcRequest { input, commitment, .. }: VcRequest, output: u16) {
        if Self::ADAPTIVE && commitment == Commitment::Noted {
            self.settle(input);
        }
        if !Self::BUFFERED {
            // Past saturation what is in the pool is far, however near the network is.
            let vc = &self.inputs[input as usize];
            if vc.has_link::<KIND>() {
                self.pool.prefetch(vc.front);
            }
        }
        let owned = &mut self.outputs[output as usize];
        owned.last_input = input;
        // Elsewhere none waits for room in a free VC.
        debug_assert!(self.asks_for_room() || !self.starved[output as usize]);
        if self.asks_for_room() {
            self.starved[output as usize] = false;
        }
        if Self::BUFFERED && self.policy.cut_through {
            // The packet takes all its slots now.
            let size = if self.again.most == 1 { 1 } else { self.size_at_front(input) };
            let owned = &mut self.outputs[output as usize];
            owned.occupancy += size as u16;
            let shared = self.policy.shared(owned.occupancy.into());
            if shared > 0 {
                self.stock.shared[Self::port(output) as usize] += shared.min(size);
            }
        }
        self.ports[Self::port(output) as usize].free &= !(1 << Self::place(output));
        self.switch_requests[self.asking_switch] = SwitchRequest { input, output };
        self.asking_switch += 1;
    }

    /// True if the request at `place` can be served; one without a credit is marked to be taken off the list until a
    /// credit comes.
    #[inline(always)]
    fn eligible(&mut self, place: usize) -> bool {
        let output = self.switch_requests[place].output;
        let (port, output) = (Self::port(output), output as usize);
        // Its packet has all the slots that it needs.
        if Self::BUFFERED && self.policy.cut_through {
            return true;
        }
        let limit = self.policy.reserve.into();
        let no_more = || !Self::BUFFERED || self.stock.shared[port as usize] >= self.policy.pool;
        if u32::from(self.outputs[output].occupancy) >= limit && no_more() {
            self.starved[output] = true;
            self.switch_requests[place].input = NONE;
            return false;
        }
        true
    }

    /// Switch allocation of the only request that was there when the step began.
    #[inline(always)]
    fn allocate_single_switch(&mut self, grant: Grant) {
        let request = self.switch_requests[0];
        if !self.eligible(0) || self.grant_switch(request, grant) {
            self.asking_switch -= 1;
            self.switch_requests[0] = self.switch_requests[self.asking_switch];
        }
    }

    /// Switch allocation over the first `asking` requests.
    #[inline(always)]
    fn allocate_switch(&mut self, asking: usize, grant: Grant) {
        self.choose(asking);
        let mut kept = 0;
        for place in 0..asking {
            let request = self.switch_requests[place];
            let done = if self.output_turns.wins(Self::port(request.output), place) {
                self.grant_switch(request, grant)
            } else {
                request.input == NONE
            };
            if !done {
                self.switch_requests[kept] = request;
                kept += 1;
            }
        }
        self.asking_switch = close_up(&mut self.switch_requests, kept, asking..self.asking_switch);
    }

    /// Inputs choose, then outputs. Leaves the winners in `output_turns`, and marks the requests to be taken off the list.
    #[inline(always)]
    fn choose(&mut self, asking: usize) {
        if Self::BUFFERED {
            // In a batch some input has most often asked twice.
            return self.inputs_choose(asking);
        }
        // As long as no input has asked twice, inputs have nothing to choose: requests go straight to their outputs.
        let (mut asked, mut place) = (0u64, 0);
        while place < asking {
            if self.eligible(place) {
                let request = self.switch_requests[place];
                // Two inputs that share a bit are taken for one: the general case is right for any.
                let bit = 1 << (Self::port(request.input) % 64);
                if asked & bit != 0 {
                    break;
                }
                asked |= bit;
                self.offer_to_output(request, place);
            }
            place += 1;
        }
        if place < asking {
            for earlier in 0..place {
                self.output_turns.clear(Self::port(self.switch_requests[earlier].output));
            }
            self.inputs_choose(asking);
        }
    }

    /// The general case of [`PlainBatch::choose`].
    #[inline(always)]
    fn inputs_choose(&mut self, asking: usize) {
        for place in 0..asking {
            if self.switch_requests[place].input == NONE || !self.eligible(place) {
                continue;
            }
            let request = self.switch_requests[place];
            let port = Self::port(request.input);
            let arbiters = &self.ports[port as usize];
            let output = u32::from(turn(Self::port(request.output), arbiters.last_output));
            let vc = u32::from(turn(Self::place(request.input) as u16, arbiters.last_vc)) & 0xFF;
            self.by_input.offer(port, None, output << 8 | vc, place);
        }
        for place in 0..asking {
            let request = self.switch_requests[place];
            if request.input != NONE && self.by_input.wins(Self::port(request.input), place) {
                self.offer_to_output(request, place);
            }
        }
    }

    /// Offers a request to its output, which takes the first input behind the last one that it took.
    #[inline(always)]
    fn offer_to_output(&mut self, request: SwitchRequest, place: usize) {
        let (input, output) = (Self::port(request.input), Self::port(request.output));
        self.output_turns.offer(output, input, self.ports[output as usize].last_input, place);
        self.inputs[request.input as usize].expect_second::<KIND>(self.pool);
    }

    /// A request has won the switch: its flit leaves. Returns true if the request is done.
    #[inline(always)]
    fn grant_switch(&mut self, request: SwitchRequest, Grant { now, departure, delay }: Grant) -> bool {
        let SwitchRequest { input, output } = request;
        let (in_port, out_port) = (Self::port(input), Self::port(output));
        let (in_id, out_id) = (self.port_id(in_port), self.port_id(out_port));
        let arbiters = &mut self.ports[in_port as usize];
        (arbiters.last_vc, arbiters.last_output) = (Self::place(input) as u16, out_port);
        let owned = &mut self.outputs[output as usize];
        if !Self::BUFFERED || !self.policy.cut_through {
            owned.occupancy += 1;
        }
        if Self::BUFFERED && !self.policy.cut_through && owned.occupancy > self.policy.reserve {
            self.stock.shared[out_port as usize] += 1;
        }
        if is_bare_adaptive(KIND) {
            self.again.queued[out_port as usize].sent += 1;
        }
        let vc = &mut self.inputs[input as usize];
        vc.last_output = output;
        let (place, tail) = vc.pop::<KIND>(self.pool);
        let more = vc.flits > 0;
        let wheel = if Self::ADAPTIVE { self.wires.wheel_from(&self.ends[in_port as usize]) } else { FIRST };
        let end = &mut self.ends[out_port as usize];
        self.wires.send_flit(end, out_id, Self::place(output), departure, wheel, place);
        self.wires.send_credit(&mut self.ends[in_port as usize], in_id, Self::place(input), now);
        let arbiters = &mut self.ports[out_port as usize];
        arbiters.last_input = in_port;
        if !tail {
            return !more;
        }
        arbiters.free |= 1 << Self::place(output);
        if Self::FEW_VCS {
            // An output frees one VC in a step: there is room for one that does not count.
            self.freed[self.frees] = output;
            self.frees += usize::from(arbiters.waiting > 0);
        } else if arbiters.waiting > 0 {
            self.freed[self.frees] = output;
            self.frees += 1;
        }
        if is_bare_adaptive(KIND) {
            self.again.changed = true;
        } else if Self::ADAPTIVE && self.again.routers[self.lead as usize].all_undecided > 0 {
            self.look(self.router(input));
        }
        if more {
            self.ask_vc(input, delay);
        }
        true
    }

    /// The head at the front of input VC `input` asks for an output VC, from the next step on.
    #[inline(always)]
    fn ask_vc(&mut self, input: u16, delay: Delay) {
        let InputVc { front, last_output, .. } = self.inputs[input as usize];
        let head = self.pool.get(front);
        let Flit { out, class, .. } = *head;
        let delayed = Self::BUFFERED && self.stock.delayed;
        if Self::ADAPTIVE && out == UNDECIDED {
            if delayed {
                self.stock.ready[input as usize] = delay.ready;
            }
            // As `InputQueuedRouters::ask_decision`. That others look was noted as the packet before it left.
            let vc = (self.first_port << LOG) as u32 + u32::from(input);
            self.again.fresh.push(FreshHead { vc, router: self.router(input), place: front });
            return;
        }
        let out = self.output_in_batch(input, out);
        let open = Self::ADAPTIVE && InputQueuedRouters::<LOG, KIND>::may_decide_again(head, self.again.revocable);
        let commitment = if open { Commitment::Open } else { Commitment::Final };
        if delayed {
            let head = Unready { lead: self.lead, input, out, last_output, class, commitment };
            return self.stock.unready[usize::from(delay.late)].push(delay.cycle, head);
        }
        self.vc_requests[self.asking_vc] = VcRequest { input, port: out, last_output, class, commitment };
        self.asking_vc += 1;
    }

    /// Some VC must have room for all of a packet.
    #[inline(always)]
    fn asks_for_room(&self) -> bool {
        may_take_whole(KIND) && self.policy.whole != 0
    }

    /// Wakes heads that wait for VCs that were freed in the step. Where some wait for room, what frees them is left.
    // Not where VCs are freed: the loops of a step need the registers.
    #[inline(always)]
    fn wake_freed(&mut self) {
        if self.asks_for_room() {
            return;
        }
        while self.frees > 0 {
            self.frees -= 1;
            self.wake_first(self.freed[self.frees]);
        }
    }

    /// Output VC `output` has been freed, and heads wait at its output, not for room: the first that may take it asks for
    /// it. An output gives back one VC in a step. Of those who wait no other is free for any, or they would ask for it: so one
    /// can win.
    #[inline(always)]
    fn wake_first(&mut self, output: u16) {
        let (port, place, last) = (Self::port(output), Self::place(output), self.outputs[output as usize].last_input);
        // By value: what closures borrow of the router would no longer be in registers.
        let (inputs, masks) = (self.inputs.all(), self.class_masks);
        let owner = self.first_port + usize::from(port);
        let own = self.first_vc(self.router(output));
        let last = if last == NONE { NONE } else { last - own as u16 };
        let suited = |input: usize| masks[inputs[own + input].class as usize] >> place & 1 == 1;
        let Some(input) = self.waiting.take_first_behind(owner, last, suited) else { return };
        let input = own + input;
        self.ports[port as usize].waiting -= 1;
        let InputVc { last_output, class, .. } = self.inputs[input];
        let commitment = Commitment::Final;
        self.vc_requests[self.asking_vc] = VcRequest { input: input as u16, port, last_output, class, commitment };
        self.asking_vc += 1;
    }

    /// Output `out` of the router of an input VC.
    #[inline(always)]
    fn output_in_batch(&self, input: u16, out: u16) -> u16 {
        if !Self::BUFFERED {
            // As `InputQueuedRouters::output_in_batch`.
            debug_assert!(out < self.ports_of_batch, "{NO_SUCH_PORT}");
            assert!(is_bare_adaptive(KIND) || out < self.ports_of_batch, "{NO_SUCH_PORT}");
            return out;
        }
        let RouterState { first_port, radix, .. } = self.again.routers[self.router(input) as usize];
        assert!(out < radix, "{NO_SUCH_PORT}");
        out + (first_port - self.first_port as u32) as u16
    }

    /// The router of a VC.
    #[inline(always)]
    fn router(&self, vc: u16) -> u32 {
        if !Self::BUFFERED {
            return self.lead;
        }
        self.router_of[self.first_port + usize::from(Self::port(vc))]
    }

    /// The first VC of a router.
    #[inline(always)]
    fn first_vc(&self, router: u32) -> usize {
        if !Self::BUFFERED {
            return 0;
        }
        (self.again.routers[router as usize].first_port as usize - self.first_port) << LOG
    }

    /// As [`InputQueuedRouters::look`].
    #[inline(always)]
    fn look(&mut self, router: u32) {
        look(self.again.routers, self.again.looking, router);
    }

    /// The place of the record of the head at the front of input VC `input`.
    #[inline(always)]
    fn place_of(&self, input: u16) -> usize {
        self.first_vc(self.router(input)) + self.record(input)
    }

    /// As [`InputQueuedRouters::record`].
    #[inline(always)]
    fn record(&self, input: u16) -> usize {
        self.inputs[input as usize].kept.into()
    }

    /// As [`InputQueuedRouters::note`].
    #[inline(always)]
    fn note(&mut self, router: u32, input: usize) -> usize {
        let record = self.again.noted.insert_first(router as usize);
        let first_vc = self.first_vc(router);
        let vc = &mut self.inputs[input];
        vc.kept = record as u16;
        let head = self.pool.get(vc.front);
        self.again.heads[first_vc + record] = WaitingHead::new(head, input as u16, self.again.before, vc.front);
        record
    }

    /// As [`InputQueuedRouters::settle`].
    #[inline(always)]
    fn settle(&mut self, input: u16) {
        let (router, record) = (self.router(input), self.record(input));
        self.again.noted.remove(router as usize, record);
        let place = self.first_vc(router) + record;
        self.pool.at(self.inputs[input as usize].front).decide(self.again.heads[place].decision());
    }

    /// As [`InputQueuedRouters::leave_undecided`].
    #[inline(always)]
    fn leave_undecided(&mut self, router: u32, record: usize) {
        self.again.undecided.insert(router as usize, record);
        count_undecided(self.again.routers, self.lead as usize, router as usize, 1);
        self.look(router);
    }

    #[inline(always)]
    fn port_id(&self, port: u16) -> PortId {
        PortId((self.first_port + usize::from(port)) as u32)
    }
}
