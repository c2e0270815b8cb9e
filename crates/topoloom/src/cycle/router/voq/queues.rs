//! Virtual output queues: packets by input VC and output, and which of their heads may be sent.

use super::Voq;
use crate::cycle::flit::{Flit, NIL, TAIL};
use crate::routing::PacketState;

/// A packet in a buffer, or in transit.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct PacketEntry {
    /// Its head, with the output decided.
    pub(super) head: Flit,
    /// The state in which it decided.
    pub(super) before: PacketState,
    /// When its head left the terminal.
    pub(super) injected: u32,
    /// The first cycle in which it may be sent.
    pub(super) ready: u32,
    /// The input VC that it came by.
    pub(super) from: u32,
    /// Cells that have come, and that have gone on.
    pub(super) arrived: u16,
    pub(super) sent: u16,
    /// Its VC behind the output.
    pub(super) vc: u8,
    /// It waits for an adaptive VC, and may fall back on another output.
    pub(super) adaptive: bool,
}

impl PacketEntry {
    /// The next cell to continue.
    #[inline]
    pub(super) fn cell(&self) -> Flit {
        if self.sent == 0 {
            return self.head;
        }
        let last = u32::from(self.sent) + 1 == self.head.size();
        Flit { kind: if last { TAIL } else { 0 }, injected: self.injected, ..self.head }
    }
}

/// A virtual output queue: packets of an input VC for one output.
#[derive(Debug, Clone, Copy)]
pub(super) struct Queue {
    pub(super) first: u32,
    pub(super) last: u32,
}

/// The queues of an input for an output, a bit for each VC of the input.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pair {
    /// Those whose head may be sent.
    pub(super) asking: u64,
    /// Those whose head waits for room.
    pub(super) waiting: u64,
    /// The VC that is preferred next.
    pub(super) turn: u8,
}

impl Voq {
    #[inline]
    pub(super) fn pair(&mut self, card: usize, input: u32, output: u32) -> &mut Pair {
        let port = (self.cards[card].first_port + output) as usize;
        &mut self.pairs[port << self.width | input as usize]
    }

    /// The head of a queue may be sent from now on.
    #[inline]
    pub(super) fn ask(&mut self, queue: u32) {
        let (vc, card, input, output) = self.place(queue);
        let lane = self.lane(vc);
        self.pair(card, input, output).asking |= 1 << lane;
        let port = self.cards[card].first_port + output;
        self.ports[port as usize].asking |= 1 << input;
        self.cards[card].wanted |= 1 << output;
        self.activate(card);
    }

    /// The head of a queue may not be sent any more: it is being sent, has gone elsewhere, or waits for room.
    #[inline]
    pub(super) fn withdraw(&mut self, queue: u32) {
        let (vc, card, input, output) = self.place(queue);
        let lane = self.lane(vc);
        let pair = self.pair(card, input, output);
        pair.asking &= !(1 << lane);
        if pair.asking == 0 {
            let port = &mut self.ports[(self.cards[card].first_port + output) as usize];
            port.asking &= !(1 << input);
            if port.asking == 0 {
                self.cards[card].wanted &= !(1 << output);
            }
        }
    }

    /// Looks at the head of a queue that has changed: it asks if its stages are behind it.
    #[inline]
    pub(super) fn renew(&mut self, queue: u32, now: u32) {
        if self.is_ready(queue, now) {
            self.ask(queue);
        }
    }

    /// True if the stages of a queue's head, if it has one, are behind it.
    #[inline]
    pub(super) fn is_ready(&self, queue: u32, now: u32) -> bool {
        let first = self.queues[queue as usize].first;
        first != NIL && self.packets.get(first).ready <= now
    }

    #[inline]
    pub(super) fn append(&mut self, queue: u32, packet: u32) {
        let last = std::mem::replace(&mut self.queues[queue as usize].last, packet);
        if self.queues[queue as usize].first == NIL {
            self.queues[queue as usize].first = packet;
        } else {
            self.packets.link(last, packet);
        }
    }

    /// Takes the head of a queue out of it; the caller looks at the next flit.
    #[inline]
    pub(super) fn detach(&mut self, queue: u32) -> u32 {
        let Queue { first, last } = self.queues[queue as usize];
        let next = if first == last { NIL } else { self.packets.behind(first) };
        self.queues[queue as usize].first = next;
        self.packets.link(first, NIL);
        first
    }
}
