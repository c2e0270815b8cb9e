//! Heads that wait for an output VC and may still decide for another.
//!
//! Past saturation they are most of what a router looks at, and they decide often. In the pool they are spread over much
//! more memory than is near, so their records are copied to where those of a router stand together. What they have decided
//! is written to the pool when they are given a VC.

use super::InputQueuedRouters;
use super::timing::Delay;
use crate::cycle::flit::{Decision, Flit};
use crate::cycle::router::FreshHead;
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
    /// The routing's state in which it decides, and what it has decided that it becomes.
    before: PacketState,
    after: PacketState,
    size: u16,
    eject: u16,
    /// The output that it has decided for, or [`UNDECIDED`](crate::cycle::flit::UNDECIDED), and the class.
    pub(super) out: u16,
    hops: u16,
    pub(super) class: u8,
    kind: u8,
}

const _: () = assert!(size_of::<WaitingHead>() == 32);

impl WaitingHead {
    /// The record of a head that decides in state `before`.
    #[inline(always)]
    pub(super) fn of(head: &Flit, before: PacketState) -> Self {
        let Flit { dst, state, eject, out, hops, class, kind, .. } = *head;
        Self { dst, before, after: state, size: head.size() as u16, eject, out, hops, class, kind }
    }

    /// The record of the head at `place` in the pool, which decided in the state of that place in `before`, if it is kept.
    #[inline(always)]
    pub(super) fn new(head: &Flit, before: &[PacketState], place: u32) -> Self {
        Self::of(head, before.get(place as usize).copied().unwrap_or(PacketState::direct(0)))
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
    /// Its input VC (domain numbering).
    pub(super) vc: u32,
    pub(super) out: u16,
    pub(super) class: u8,
    pub(super) commitment: Commitment,
}

impl<const LOG: u32, const KIND: u8> InputQueuedRouters<LOG, KIND> {
    /// The head at `place` in the pool, which decides again, did so in state `before`.
    #[inline(always)]
    pub(super) fn remember(&mut self, place: u32, before: PacketState) {
        if !self.remembers {
            return;
        }
        let place = place as usize;
        if place >= self.before.len() {
            self.before.resize(place + 1, before);
        }
        self.before[place] = before;
    }

    /// The head at the front of input VC `vc` (domain numbering) will wait.
    #[inline(always)]
    pub(super) fn note(&mut self, vc: usize) {
        let front = self.inputs[vc].front;
        self.waiting_heads[vc] = WaitingHead::new(self.pool.get(front), &self.before, front);
    }

    /// The head at the front of input VC `vc` (domain numbering), which has waited, does what it has decided.
    #[inline(always)]
    pub(super) fn settle(&mut self, vc: usize) {
        self.pool.at(self.inputs[vc].front).decide(self.waiting_heads[vc].decision());
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
        if !self.front_asks((router, vc, place), port, decision, delay) {
            self.wait_undecided(router as usize, self.input_of(router, vc));
        }
    }

    /// The head at `place`, at the front of input VC `vc` (domain numbering), asks for a VC of output `port` after a delay;
    /// false if none that has room is free. Its record is then among the waiting heads.
    #[inline(always)]
    pub(super) fn front_asks(
        &mut self,
        (router, vc, place): (u32, u32, u32),
        port: u32,
        Decision { out, class, .. }: Decision,
        delay: Delay,
    ) -> bool {
        let usable = self.usable(port as usize, class, |this| this.policy.wanted(this.pool.get(place))) != 0;
        if usable {
            self.ask_after_deciding(router, vc as usize, (out, class, Commitment::Open), delay);
        } else {
            self.note(vc as usize);
        }
        usable
    }

    /// Input VC `vc` (domain numbering) in the numbering of its router.
    #[inline(always)]
    pub(super) fn input_of(&self, router: u32, vc: u32) -> usize {
        (vc - (self.routers[router as usize].first_port << LOG)) as usize
    }

    /// The head at the front of input VC `vc` (domain numbering), which waits, has decided again.
    #[inline(always)]
    pub(super) fn head_decides_anew(&mut self, router: u32, vc: u32, decision: Decision, now: u32) {
        let head = &mut self.waiting_heads[vc as usize];
        let before = *head;
        head.decide(decision);
        let (size, Decision { out, class, .. }) = (before.size() as i32, decision);
        let first_port = self.routers[router as usize].first_port;
        let port = first_port + u32::from(out);
        self.move_queue(first_port + u32::from(before.out), before.class, -size);
        self.move_queue(port, class, size);
        let wanted = |this: &Self| this.policy.wanted(&this.waiting_heads[vc as usize].flit());
        if self.usable(port as usize, class, wanted) != 0 {
            let input = self.input_of(router, vc);
            self.routers[router as usize].undecided -= 1;
            self.undecided.remove(router as usize, input);
            let delay = self.delay_left(vc as usize, now);
            self.ask_after_deciding(router, vc as usize, (out, class, Commitment::Noted), delay);
        }
    }

    /// The head at the front of input VC `input` (router numbering), which has been noted, did not get a VC: it decides
    /// again in the next cycle, and then whenever a VC of the router is freed, until it is on the list of requests.
    #[inline(always)]
    pub(super) fn leave_undecided(&mut self, router: usize, input: usize) {
        self.wait_undecided(router, input);
        self.look(router);
    }

    /// The head at the front of input VC `input` (router numbering), which has been noted, decides again whenever a VC of
    /// the router is freed.
    #[inline(always)]
    pub(super) fn wait_undecided(&mut self, router: usize, input: usize) {
        self.routers[router].undecided += 1;
        self.undecided.insert(router, input);
    }

    /// The record of the head at the front of input VC `input` of a router, if it waits and may decide again.
    pub(super) fn noted(&self, router: usize, input: usize) -> Option<&WaitingHead> {
        let (vc_base, asking, _) = self.lists(router);
        let decides = self.decides_again() && self.undecided.contains(router, input);
        let asks =
            |request: &super::VcRequest| usize::from(request.input) == input && request.commitment == Commitment::Noted;
        let noted = decides || self.vc_requests.slice(vc_base, asking).iter().any(asks);
        noted.then(|| &self.waiting_heads[vc_base + input])
    }
}
