//! Buffers at inputs, what is known of those behind outputs, and the heads that wait for room or for a VC there.

use super::options::{Allocator, Priority};
use super::vc_allocator::VcRequest;
use super::waiting_heads::Commitment;
use super::{GENERAL, InputQueuedRouters, NO_SUCH_PORT, NONE, RouterState, is_bare_adaptive, is_buffered, look};
use crate::cycle::flit::{Decision, Flit, NIL, Pool, TAIL};
use crate::cycle::table::Part;

/// In what leads to a flit of a buffer: that is the last of its packet. The router need not look at it, which is most often
/// far.
const TAIL_LINK: u32 = 1 << 31;

/// A virtual channel at an input. Four to a cache line: its flits are in the pool, of which a network uses little at a
/// time.
#[derive(Debug, Clone, Copy)]
#[repr(align(16))]
pub(super) struct InputVc {
    /// The first of its flits in the pool, if there are any.
    pub(super) front: u32,
    /// The last one. At the buffered kinds, whose networks are large, it is a link: of two flits it leads to the second, and the
    /// first, which is most often far, has none. Most VCs hold no more.
    pub(super) last: u32,
    pub(super) flits: u16,
    /// What else is kept of the packet at the front. At the general kind: the output VC (router numbering) that it holds, or
    /// [`NONE`]; see [`InputQueuedRouters::held`]. At the others: the place of its record, if it has one; see
    /// [`InputQueuedRouters::record`].
    pub(super) kept: u16,
    /// The batch's output VC that it was given last; that of the packet at the front from its first flit's leaving on.
    pub(super) last_output: u16,
    /// The class that its head wants while it waits, off all lists, for a VC.
    pub(super) class: u8,
    /// The flit at the front is the last of its packet: a router that grants it need not look into the pool.
    pub(super) tail: bool,
}

/// What leads to the flit at `place`.
#[inline(always)]
fn link_to(place: u32, tail: bool) -> u32 {
    if tail { place | TAIL_LINK } else { place }
}

impl InputVc {
    /// What a VC is before anything has arrived.
    pub(super) const EMPTY: Self =
        Self { front: NIL, last: NIL, flits: 0, kept: NONE, last_output: NONE, class: 0, tail: false };

    /// A flit has arrived at a router of this kind, in front of which there is none.
    #[inline(always)]
    fn begin<const KIND: u8>(&mut self, place: u32, tail: bool) {
        (self.front, self.last, self.flits, self.tail) = (place, Self::last_of::<KIND>(place, tail), 1, tail);
    }

    /// [`InputVc::last`], where that is the flit at `place`.
    #[inline(always)]
    fn last_of<const KIND: u8>(place: u32, tail: bool) -> u32 {
        if is_buffered(KIND) { link_to(place, tail) } else { place }
    }

    /// The front flit leaves a router of this kind: returns its place, and whether it is the last of its packet.
    #[inline(always)]
    pub(super) fn pop<const KIND: u8>(&mut self, pool: &Pool<Flit>) -> (u32, bool) {
        let gone = (self.front, self.tail);
        self.flits -= 1;
        // Whether there is a second is often mispredicted. At the buffered kinds what is in front where there is none is not
        // looked at.
        if is_buffered(KIND) || self.flits > 0 {
            let next = if is_buffered(KIND) && self.flits <= 1 { self.last } else { pool.behind(self.front) };
            (self.front, self.tail) = (next & !TAIL_LINK, next & TAIL_LINK != 0);
        }
        gone
    }

    /// True if the first flit has a link to the second, at a router of this kind: of others a router need not look at what is
    /// in the pool.
    #[inline(always)]
    pub(super) fn has_link<const KIND: u8>(&self) -> bool {
        self.flits > if is_buffered(KIND) { 2 } else { 1 }
    }

    /// Asks for the memory of the second flit, if there is one: once the first has left, its router looks at it at once.
    #[inline(always)]
    pub(super) fn expect_second<const KIND: u8>(&self, pool: &Pool<Flit>) {
        if is_buffered(KIND) {
            // Without a branch where there is none, which is often mispredicted: then for what is near anyway.
            let second = if self.flits > 1 { self.last & !TAIL_LINK } else { 0 };
            pool.prefetch(if self.has_link::<KIND>() { pool.behind(self.front) & !TAIL_LINK } else { second });
        } else if self.flits > 1 {
            let second = if self.has_link::<KIND>() { pool.behind(self.front) } else { self.last };
            pool.prefetch(second & !TAIL_LINK);
        }
    }
}

/// A virtual channel at an output: as little as there can be of what each flit that is sent and each credit changes.
#[derive(Debug, Clone, Copy)]
pub(super) struct OutputVc {
    /// Slots taken behind it: flits sent whose credits have not come back, or, under virtual cut-through, whole
    /// packets from the moment at which they are given the VC.
    pub(super) occupancy: u16,
    /// The batch's input VC that was given it last.
    pub(super) last_input: u16,
}

/// What waits for and behind an output, where heads decide again.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct PortQueue {
    /// [`View::queue`](crate::routing::View::queue).
    pub(super) all: i32,
    /// Those of them that have been sent: [`View::occupancy`](crate::routing::View::occupancy). Of the kinds only of which
    /// [`is_bare_adaptive`] is true.
    pub(super) sent: u32,
}

/// A packet that has arrived in the cycle at hand: its flits will belong to the queue of its output.
#[derive(Debug, Clone, Copy)]
pub(super) struct Joining {
    /// The output (domain numbering).
    port: u32,
    size: u32,
    class: u8,
}

/// All of them. Where classes have no queues of their own, of packets of one flit the output alone: these are the most.
#[derive(Debug, Default)]
pub(super) struct Joins {
    single: Vec<u32>,
    others: Vec<Joining>,
}

impl<const LOG: u32, const KIND: u8> InputQueuedRouters<LOG, KIND> {
    /// Takes the request at `place` off the list until a VC of its output is freed. A head that decides again waits for
    /// any VC of the router, among those of its first port: it looks at once whether another will do.
    #[inline(always)]
    pub(super) fn park(&mut self, router: usize, place: usize) {
        let first_port = self.routers[router].first_port as usize;
        let VcRequest { input, port, class, commitment, .. } =
            std::mem::replace(&mut self.vc_requests[place], VcRequest::NONE);
        let (input, port) = (input as usize, first_port + port as usize);
        if self.decides_again() && commitment != Commitment::Final {
            let record = match commitment {
                Commitment::Noted => self.record(first_port << LOG, input),
                _ => self.note(router, (first_port << LOG) + input),
            };
            return self.leave_undecided(router, record);
        }
        self.inputs[(first_port << LOG) + input].class = class;
        self.ports[port].waiting += 1;
        self.waiting.insert(port, input);
    }

    /// The input VC (numbering of its batch) that holds output VC `vc` (domain numbering), or [`NONE`]: the one that was given it
    /// last, while it is not free. In the general kind it may not be noted.
    #[inline(always)]
    pub(super) fn holder(&self, vc: usize) -> u16 {
        match KIND {
            GENERAL => self.owners[vc],
            _ if self.ports[vc >> LOG].free >> (vc % (1 << LOG)) & 1 == 1 => NONE,
            _ => self.outputs[vc].last_input,
        }
    }

    /// The output VC of a packet whose head has left, and of which the next flit comes to the front of input VC `input`; the
    /// first VC of their batch is `vc_base`.
    #[inline(always)]
    pub(super) fn held(&self, vc_base: usize, input: u16) -> u16 {
        let InputVc { kept, last_output, .. } = self.inputs[vc_base + usize::from(input)];
        let held = if KIND == GENERAL { kept } else { last_output };
        debug_assert_eq!(self.holder(vc_base + usize::from(held)), input, "the head has been given it");
        held
    }

    /// The output VC that the packet at the front of input VC `input` of a router holds, if it holds one (both in the numbering of
    /// its batch).
    pub(super) fn find_held(&self, router: usize, input: u16) -> Option<u16> {
        let (first_vc, vcs) = (self.batch_base(router), self.radix(router) << LOG);
        let own = ((self.routers[router].first_port << LOG) - first_vc as u32) as u16;
        let InputVc { kept, last_output, flits, .. } = self.inputs[first_vc + usize::from(input)];
        if KIND == GENERAL {
            return Some(kept).filter(|&output| output != NONE);
        }
        let holds = |&output: &u16| self.holder(first_vc + usize::from(output)) == input;
        // Where the head has left, the input VC has the output VC noted. Else that may be of an earlier packet.
        let noted = Some(last_output).filter(|&output| output != NONE && holds(&output));
        if flits == 0 { noted } else { noted.or_else(|| (own..own + vcs as u16).find(holds)) }
    }

    /// The flit at the front of input VC `index` (domain numbering).
    #[inline(always)]
    pub(super) fn front(&self, index: usize) -> &Flit {
        self.pool.get(self.inputs[index].front)
    }

    /// The position of a class's queue at output `port` (domain numbering).
    #[inline(always)]
    pub(super) fn queue_index(port: u32, class: u8) -> usize {
        ((port << LOG) + u32::from(class).min((1 << LOG) - 1)) as usize
    }

    /// Output `out` of a router (domain numbering).
    #[inline(always)]
    pub(super) fn output(&self, router: u32, out: u16) -> u32 {
        let RouterState { first_port, radix, .. } = self.routers[router as usize];
        assert!(out < radix, "{NO_SUCH_PORT}");
        first_port + u32::from(out)
    }

    /// A head that arrives has decided: its packet's flits belong to the queue of its output (domain numbering), which is
    /// returned, once all has arrived.
    #[inline(always)]
    pub(super) fn join_queue(&mut self, router: u32, Decision { out, class, kind, .. }: Decision, head: u32) -> u32 {
        let port = self.output(router, out);
        if kind & TAIL != 0 && !self.by_class {
            self.joins.single.push(port);
        } else {
            self.joins.others.push(Joining { port, size: self.pool.get(head).size(), class });
        }
        port
    }

    /// All has arrived: the packets belong to the queues of their outputs.
    #[inline(always)]
    pub(super) fn settle_joins(&mut self) {
        let mut joins = std::mem::take(&mut self.joins);
        joins.single.iter().for_each(|&port| self.queued[port as usize].all += 1);
        joins.others.iter().for_each(|&Joining { port, size, class }| self.move_queue(port, class, size as i32));
        joins.single.clear();
        joins.others.clear();
        self.joins = joins;
    }

    /// This many flits of a class join the queue of output `port` (domain numbering), or leave it.
    #[inline(always)]
    pub(super) fn move_queue(&mut self, port: u32, class: u8, flits: i32) {
        self.queued[port as usize].all += flits;
        if self.by_class {
            self.queues[Self::queue_index(port, class)] += flits;
        }
    }

    /// A credit has come back for output VC `vc`: a flit belongs to the queue of its output no longer.
    #[inline(always)]
    pub(super) fn leave_channel(&mut self, vc: u32) {
        let queue = &mut self.queued[(vc >> LOG) as usize];
        queue.all -= 1;
        if is_bare_adaptive(KIND) {
            queue.sent -= 1;
        }
        if self.by_class {
            let class = self.class_of[(vc & ((1 << LOG) - 1)) as usize];
            self.queues[Self::queue_index(vc >> LOG, class)] -= 1;
        }
    }

    /// A VC has been freed at output `port` (domain numbering), or room has been made in one.
    #[inline(always)]
    pub(super) fn freed(&mut self, router: usize, port: usize) {
        if self.decides_again() {
            self.look(router);
        }
        if self.ports[port].waiting > 0 {
            self.wake(router, port);
        }
    }

    /// The heads of a router that wait for a VC shall decide again.
    #[inline(always)]
    pub(super) fn look(&mut self, router: usize) {
        look(&mut self.routers, &mut self.looking, router as u32);
    }

    /// Puts those who wait for a VC of output `port` (domain numbering) on the list of requests.
    ///
    /// If a single VC is free, all of them would ask for it, and only the first behind the one that was given it last could
    /// win: the others need not be looked at.
    // Not inlined, like what else is seldom: the loops of a step need the registers.
    #[inline(never)]
    pub(super) fn wake(&mut self, router: usize, port: usize) {
        let free = self.ports[port].free;
        let simple = !self.delayed()
            && self.whole() == 0
            && self.allocator() != Allocator::Wavefront
            && self.priority() == Priority::None;
        let only_first = free.is_power_of_two() && simple;
        let vc_base = (self.routers[router].first_port as usize) << LOG;
        let last = match only_first {
            true => self.outputs[(port << LOG) + free.trailing_zeros() as usize].last_input,
            false => NONE,
        };
        let own = (vc_base - self.batch_base(router)) as u16;
        let last = if last == NONE { NONE } else { last - own };
        for (word, part) in self.waiting.words_behind(last) {
            let mut bits = self.waiting.word(port, word) & part;
            while bits != 0 {
                let input = word * 64 + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                let index = vc_base + input;
                let class = self.inputs[index].class;
                let size = if self.whole() == 0 { 1 } else { self.policy.wanted(self.front(index)) };
                if self.usable(port, class, |_| size) == 0 {
                    continue;
                }
                self.list_waiting(router, port, input, class);
                if only_first {
                    return;
                }
            }
        }
    }

    /// Puts the head of a class at `input` (router numbering), which waits at output `port`, on the list of requests.
    #[inline(always)]
    fn list_waiting(&mut self, router: usize, port: usize, input: usize, class: u8) {
        let first_port = self.routers[router].first_port as usize;
        self.waiting.remove(port, input);
        self.ports[port].waiting -= 1;
        let (index, out) = ((first_port << LOG) + input, (port - first_port) as u16);
        self.list_vc_request(router as u32, index, out, class, Commitment::Final);
    }

    /// The VCs of a class at output `port` (domain numbering) that a packet of `size` flits may be given now. Its size is
    /// asked for if some packet does not fit.
    #[inline(always)]
    pub(super) fn usable(&mut self, port: usize, class: u8, size: impl FnOnce(&Self) -> u32) -> u64 {
        let free = self.ports[port].free & self.class_masks[class as usize];
        if self.whole() & free == 0 || self.all_fit(port, self.most) {
            return free;
        }
        let size = size(self);
        if self.all_fit(port, size) { free } else { self.with_room(port, free, size) }
    }

    /// True if a packet of `size` flits fits whole into any VC of output `port` (domain numbering), as so few slots are taken
    /// of all of them together. Not all of which this is true are found.
    #[inline(always)]
    pub(super) fn all_fit(&self, port: usize, size: u32) -> bool {
        // The port may be one that a routing asks for.
        if is_bare_adaptive(KIND) {
            return self.queued.checked(port).sent + size <= self.policy.reserve.into();
        }
        // Whatever the VCs hold, the slots that they share suffice.
        Self::SHARES && self.policy.cut_through && *self.shared.checked(port) + size <= self.policy.pool
    }

    /// True if a VC of output `port` (domain numbering) has room for a packet of `size` flits where it must fit whole.
    #[inline(always)]
    pub(super) fn fits(&self, port: usize, vc: usize, size: u32) -> bool {
        let occupancy = self.outputs[(port << LOG) + vc].occupancy;
        if Self::SHARES {
            return self.policy.fits(occupancy, self.shared[port], size);
        }
        self.policy.fits_own(occupancy, size)
    }

    /// Those of the `free` VCs of output `port` that have room for a packet of `size` flits where it must fit whole.
    #[inline(never)]
    pub(super) fn with_room(&mut self, port: usize, free: u64, size: u32) -> u64 {
        let (vcs, policy) = (self.outputs.len(), self.policy);
        let shared = if Self::SHARES { self.shared[port] } else { 0 };
        let fits = |occupancy| match Self::SHARES {
            true => policy.fits(occupancy, shared, size),
            false => policy.fits_own(occupancy, size),
        };
        let outputs = &self.outputs.part(0, vcs);
        let (starved, wanted) = (&mut self.starved.part(0, vcs), &mut self.wanted.part(0, vcs));
        with_room(outputs, starved, wanted, port << LOG, free, size, policy.whole, fits)
    }

    /// Puts a head that has arrived into an empty input VC.
    #[inline(always)]
    pub(super) fn append_first(&mut self, index: usize, place: u32, decision: Decision) {
        let flit = self.pool.at(place);
        flit.arrive(Some(decision));
        debug_assert_eq!(self.inputs[index].flits, 0, "the VC is empty");
        self.inputs[index].begin::<KIND>(place, flit.is_tail());
    }

    /// Puts a flit that has arrived behind those of an input VC; returns true if there are none.
    #[inline(always)]
    pub(super) fn append(&mut self, index: usize, place: u32, decision: Option<Decision>) -> bool {
        let flit = self.pool.at(place);
        flit.arrive(decision);
        let tail = flit.is_tail();
        let state = &mut self.inputs[index];
        if state.flits == 0 {
            state.begin::<KIND>(place, tail);
            return true;
        }
        let before = std::mem::replace(&mut state.last, InputVc::last_of::<KIND>(place, tail));
        state.flits += 1;
        if Self::BUFFERED {
            match state.flits {
                2 => return false,
                3 => self.pool.link(state.front, before),
                _ => {}
            }
        }
        self.pool.link(before & !TAIL_LINK, link_to(place, tail));
        false
    }

    /// A credit has come back for output VC `vc`: with its last one a packet gives back the slots beyond its flits.
    pub(super) fn give_padding_back(&mut self, vc: u32) {
        let sent = &mut self.padded[vc as usize];
        let oldest = sent.front_mut().expect("a packet has been sent");
        oldest.0 -= 1;
        if let (0, places) = *oldest {
            sent.pop_front();
            self.outputs[vc as usize].occupancy -= places;
        }
    }

    /// Room has been made in output VC `vc`, for which its owner or heads without a VC wait: enough for some?
    pub(super) fn relieve(&mut self, vc: u32) {
        let router = self.router_of[(vc >> LOG) as usize];
        let port = (vc >> LOG) as usize;
        let input = self.holder(vc as usize);
        if input != NONE {
            self.starved[vc as usize] = false;
            let output = vc as usize - self.batch_base(router as usize);
            self.ask_switch(self.lead_of(router), input, output as u16);
        } else if self.fits(port, vc as usize % (1 << LOG), self.wanted[vc as usize].into()) {
            self.starved[vc as usize] = false;
            self.freed(router as usize, port);
        }
        self.activate(router);
    }
}

/// Those of the `free` VCs of a port, whose first VC is `first`, that have room for a packet of `size` flits where it must
/// fit whole. The others are marked, so that the credit that makes room is noticed.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
pub(super) fn with_room(
    outputs: &Part<'_, OutputVc>,
    starved: &mut Part<'_, bool>,
    wanted: &mut Part<'_, u16>,
    first: usize,
    free: u64,
    size: u32,
    whole: u64,
    fits: impl Fn(u16) -> bool,
) -> u64 {
    let (mut fitting, mut left) = (free, free & whole);
    while left != 0 {
        let vc = left.trailing_zeros() as usize;
        left &= left - 1;
        if !fits(outputs[first + vc].occupancy) {
            fitting &= !(1 << vc);
            let wanted = &mut wanted[first + vc];
            let waits = std::mem::replace(&mut starved[first + vc], true);
            *wanted = if waits { size.min((*wanted).into()) as u16 } else { size as u16 };
        }
    }
    fitting
}
