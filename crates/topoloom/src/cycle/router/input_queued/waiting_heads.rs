//! Heads that wait for an output VC and may still decide for another.
//!
//! Past saturation they are most of what a router looks at, and they decide often. In the pool they are spread over much
//! more memory than is near, so their records are copied to where those of a router stand together. What they have decided
//! is written to the pool when they are given a VC.

use super::timing::Delay;
use super::{GENERAL, InputQueuedRouters, count_undecided};
use crate::cycle::flit::{Decision, Flit};
use crate::cycle::router::{FreshHead, RouterModel};
use crate::routing::PacketState;

/// Whether the head that asks for an output VC may decide for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Commitment {
    /// It has decided for good.
    Final,
    /// It may.
    Open,
    /// It may, and its record is among the waiting heads.
    Noted,
}

/// The record of a head that waits: half a cache line.
#[derive(Debug, Clone, Copy)]
#[repr(align(32))]
pub(super) struct WaitingHead {
    dst: u32,
    /// The routing's state in which it decides, or, if that is not remembered, the one that it first decided for or that of
    /// another packet; and what it has decided that it becomes.
    before: PacketState,
    after: PacketState,
    size: u16,
    eject: u16,
    /// The output that it has decided for, or [`UNDECIDED`](crate::cycle::flit::UNDECIDED), and the class.
    pub(super) out: u16,
    hops: u16,
    /// The input VC (numbering of its batch).
    pub(super) input: u16,
    pub(super) class: u8,
    kind: u8,
}

const _: () = assert!(size_of::<WaitingHead>() == 32);

impl WaitingHead {
    /// That of no head.
    pub(super) const NONE: Self = {
        let Flit { dst, state, eject, out, hops, class, kind, .. } = Flit::NONE;
        Self { dst, before: state, after: state, size: 1, eject, out, hops, input: 0, class, kind }
    };

    /// The record of the head at `place` in the pool and the front of input VC `input` (numbering of its batch), which decided in
    /// the state of that place in `before`, if it is remembered.
    #[inline(always)]
    pub(super) fn new(head: &Flit, input: u16, before: &[PacketState], place: u32) -> Self {
        let Flit { dst, state, eject, out, hops, class, kind, .. } = *head;
        let before = before.get(place as usize).copied().unwrap_or(state);
        Self { dst, before, after: state, size: head.size() as u16, eject, out, hops, input, class, kind }
    }

    /// The head as it was when it decided.
    #[inline(always)]
    pub(super) fn flit(&self) -> Flit {
        let Self { dst, before, size, eject, out, hops, class, kind, .. } = *self;
        Flit { dst, state: before, created: 0, injected: size.into(), eject, out, hops, class, kind }
    }

    /// Flits of its packet.
    #[inline(always)]
    pub(super) fn size(&self) -> u32 {
        self.size.into()
    }

    /// It has decided this.
    #[inline(always)]
    pub(super) fn decide(&mut self, Decision { out, class, kind, state }: Decision) {
        (self.out, self.class, self.kind, self.after) = (out, class, kind, state);
    }

    /// What it has decided.
    #[inline(always)]
    pub(super) fn decision(&self) -> Decision {
        Decision { out: self.out, class: self.class, kind: self.kind, state: self.after }
    }
}

/// A head that will ask for an output VC once its stages' delays are over.
#[derive(Debug, Clone, Copy)]
pub(super) struct Unready {
    /// The first router of its batch (domain numbering), in whose numbering the others are.
    pub(super) lead: u32,
    pub(super) input: u16,
    pub(super) out: u16,
    /// As in [`VcRequest`](super::vc_allocator::VcRequest): its input VC, which is most often far by then, need not be looked
    /// at.
    pub(super) last_output: u16,
    pub(super) class: u8,
    pub(super) commitment: Commitment,
}

impl<const LOG: u32, const KIND: u8> InputQueuedRouters<LOG, KIND> {
    /// The head at `place` in the pool, which decides again, did so in state `before`. Where it does at its source router it starts
    /// again, whatever that state was.
    #[inline(always)]
    pub(super) fn remember(&mut self, place: u32, before: PacketState) {
        if !self.remembers() || self.deferring() > 0 && self.pool.get(place).hops == 1 {
            return;
        }
        let place = place as usize;
        if place >= self.before.len() {
            self.before.resize(place + 1, before);
        }
        self.before[place] = before;
    }

    /// The record (router numbering) of the head at the front of input VC `input` of the router whose first VC is `vc_base`,
    /// which waits.
    #[inline(always)]
    pub(super) fn record(&self, vc_base: usize, input: usize) -> usize {
        if KIND == GENERAL { input } else { self.inputs[vc_base + input].kept.into() }
    }

    /// The head at the front of input VC `vc` (domain numbering) will wait: returns its record (router numbering).
    // Not inlined: what arrives needs the registers.
    #[inline(never)]
    pub(super) fn note(&mut self, router: usize, vc: usize) -> usize {
        let vc_base = (self.routers[router].first_port as usize) << LOG;
        let input = vc - self.batch_base(router);
        let record = if KIND == GENERAL {
            self.noted.insert(router, input);
            input
        } else {
            let first = self.noted.insert_first(router);
            self.inputs[vc].kept = first as u16;
            first
        };
        let front = self.inputs[vc].front;
        self.waiting_heads[vc_base + record] =
            WaitingHead::new(self.pool.get(front), input as u16, &self.before, front);
        record
    }

    /// The head at the front of input VC `vc` (domain numbering), which has waited, does what it has decided.
    #[inline(always)]
    pub(super) fn settle(&mut self, router: usize, vc: usize) {
        let vc_base = (self.routers[router].first_port as usize) << LOG;
        let record = self.record(vc_base, vc - vc_base);
        self.noted.remove(router, record);
        self.pool.at(self.inputs[vc].front).decide(self.waiting_heads[vc_base + record].decision());
    }

    /// The head at the front of input VC `vc` (domain numbering) has come there undecided: it decides in the next cycle, and
    /// those that have been rejected at its router with it.
    #[inline(always)]
    pub(super) fn ask_decision(&mut self, router: usize, vc: u32) {
        self.fresh.push(FreshHead { vc, router: router as u32, place: self.inputs[vc as usize].front });
        self.look(router);
    }

    /// A head that has come to the front undecided has decided.
    #[inline(always)]
    pub(super) fn head_decides(&mut self, FreshHead { vc, router, place }: FreshHead, decision: Decision, now: u32) {
        let head = self.pool.at(place);
        let before = head.state;
        head.decide(decision);
        let size = head.size();
        let port = self.routers[router as usize].first_port + u32::from(decision.out);
        self.remember(place, before);
        self.move_queue(port, decision.class, size as i32);
        let delay = self.delay_left(vc as usize, now);
        if let Some(record) = self.front_asks((router, vc, place), port, decision, delay) {
            self.wait_undecided(router as usize, record);
        }
    }

    /// The head at `place`, at the front of input VC `vc` (domain numbering), asks for a VC of output `port` after a delay. If
    /// none that has room is free, it waits: returns its record (router numbering).
    #[inline(always)]
    pub(super) fn front_asks(
        &mut self,
        (router, vc, place): (u32, u32, u32),
        port: u32,
        Decision { out, class, .. }: Decision,
        delay: Delay,
    ) -> Option<usize> {
        if self.usable(port as usize, class, |this| this.policy.wanted(this.pool.get(place))) == 0 {
            return Some(self.note(router as usize, vc as usize));
        }
        self.ask_after_deciding(router, vc as usize, (out, class, Commitment::Open), delay);
        None
    }

    /// The head at the front of input VC `vc` (domain numbering), which waits with this `record` (domain numbering), has
    /// decided again.
    #[inline(always)]
    pub(super) fn head_decides_anew(&mut self, router: u32, (vc, record): (u32, u32), decision: Decision, now: u32) {
        let head = &mut self.waiting_heads[record as usize];
        let before = *head;
        head.decide(decision);
        let (size, Decision { out, class, .. }) = (before.size() as i32, decision);
        let first_port = self.routers[router as usize].first_port;
        let port = first_port + u32::from(out);
        self.move_queue(first_port + u32::from(before.out), before.class, -size);
        self.move_queue(port, class, size);
        let wanted = |this: &Self| this.policy.wanted(&this.waiting_heads[record as usize].flit());
        if self.usable(port as usize, class, wanted) != 0 {
            let lead = self.lead_of(router);
            count_undecided(&mut self.routers, lead, router as usize, -1);
            self.undecided.remove(router as usize, (record - (first_port << LOG)) as usize);
            let delay = self.delay_left(vc as usize, now);
            self.ask_after_deciding(router, vc as usize, (out, class, Commitment::Noted), delay);
        }
    }

    /// The head of this `record` (router numbering) did not get a VC: it decides again in the next cycle, and then whenever a
    /// VC of the router is freed, until it is on the list of requests.
    #[inline(always)]
    pub(super) fn leave_undecided(&mut self, router: usize, record: usize) {
        self.wait_undecided(router, record);
        self.look(router);
    }

    /// The head of this `record` (router numbering) decides again whenever a VC of the router is freed.
    #[inline(always)]
    pub(super) fn wait_undecided(&mut self, router: usize, record: usize) {
        let lead = self.lead_of(router as u32);
        count_undecided(&mut self.routers, lead, router, 1);
        self.undecided.insert(router, record);
    }

    /// The record of the head at the front of input VC `input` of a router, if it waits and may decide again.
    pub(super) fn noted(&self, router: usize, input: u16) -> Option<&WaitingHead> {
        if !self.decides_again() {
            return None;
        }
        let (vc_base, vcs) = ((self.routers[router].first_port as usize) << LOG, (self.radix(router) as usize) << LOG);
        let records = (0..vcs).filter(|&record| self.noted.contains(router, record));
        records.map(|record| &self.waiting_heads[vc_base + record]).find(|head| head.input == input)
    }
}
