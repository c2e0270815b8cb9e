//! Virtual output queues: packets by input VC and output, and which of their heads may be sent.

use super::Voq;
use super::allocator::LAST;
use super::traffic_classes::ADAPTIVE;
use crate::cycle::flit::{Flit, NIL};
use crate::limits::MAX_VCS;
use crate::routing::PacketState;

/// What is known of a packet of several cells, or of one that may fall back, besides its head.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stay {
    /// The state in which it decided.
    pub(super) before: PacketState,
    /// What [`Flit::injected`] is of the cell that has come last.
    pub(super) injected: u32,
    /// Cells that have come.
    pub(super) arrived: u16,
    /// The VC class decided: the head has its VC behind the output in place of it.
    pub(super) class: u8,
}

/// In [`Flit::class`] of a head in a buffer, beside its VC behind the output, and [`ADAPTIVE`] if it may fall back on another
/// one: its stages are behind it.
pub(super) const READY: u8 = 1 << 6;
const _: () = assert!(MAX_VCS <= READY as u32 && READY < ADAPTIVE, "numbers of VCs are below both");

/// The VC behind its output that a head in a buffer takes.
#[inline(always)]
pub(super) fn lane_behind(head: &Flit) -> u8 {
    head.class & !(ADAPTIVE | READY)
}

/// The queues of an input for an output, a bit for each VC of the input.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pair {
    /// Those whose head may be sent.
    pub(super) asking: u64,
    /// The VC that sent last: those behind it are preferred.
    pub(super) turn: u8,
    /// The VC whose queue has its head at `head`, unless that is [`NIL`]: of most pairs one VC asks, and to look where its
    /// head is takes two steps through memory that is far.
    pub(super) known: u8,
    pub(super) head: u32,
}

impl Pair {
    /// That of no packet: any VC may be the first.
    pub(super) const EMPTY: Self = Self { asking: 0, turn: LAST, known: 0, head: NIL };
}

impl Voq {
    #[inline(always)]
    pub(super) fn pair(&self, card: usize, input: u32, output: u32) -> usize {
        let port = (self.cards[card].first_port + output) as usize;
        port << self.width | input as usize
    }

    /// The head of a queue may be sent from now on.
    #[inline(always)]
    pub(super) fn ask(&mut self, card: usize, pair: u32, lane: u32) {
        self.pairs[pair as usize].asking |= 1 << lane;
        let (port, input) = (pair >> self.width, pair & ((1 << self.width) - 1));
        self.ports[port as usize].asking |= 1 << input;
        let state = &mut self.cards[card];
        state.wanted |= 1 << (port - state.first_port);
        state.asking |= 1 << input;
        self.activate(card);
    }

    /// The head of a queue may not be sent any more: it is being sent, or waits for room.
    #[inline(always)]
    pub(super) fn withdraw(&mut self, card: usize, pair: u32, lane: u32) {
        let asking = &mut self.pairs[pair as usize].asking;
        *asking &= !(1 << lane);
        if *asking == 0 {
            let port = pair >> self.width;
            let inputs = &mut self.ports[port as usize].asking;
            *inputs &= !(1 << (pair & ((1 << self.width) - 1)));
            if *inputs == 0 {
                let state = &mut self.cards[card];
                state.wanted &= !(1 << (port - state.first_port));
            }
        }
    }

    /// The head of a queue that is not empty: the last packet has it behind itself.
    #[inline(always)]
    pub(super) fn first(&self, queue: u32) -> u32 {
        self.pool.behind(self.queues[queue as usize])
    }

    /// The same of one of a `pair`, by VC `lane` of the input.
    #[inline(always)]
    pub(super) fn first_of(&self, pair: Pair, lane: u32, queue: u32) -> u32 {
        let known = u32::from(pair.known) == lane && pair.head != NIL;
        debug_assert!(!known || pair.head == self.first(queue), "a head that is known is the first");
        if known { pair.head } else { self.first(queue) }
    }

    /// The head of the queue of VC `lane` of a pair is at `head`, or is not known any more.
    #[inline(always)]
    pub(super) fn know(&mut self, pair: u32, lane: u32, head: u32) {
        let pair = &mut self.pairs[pair as usize];
        (pair.known, pair.head) = (lane as u8, head);
    }

    /// The packets of a queue, in order.
    pub(super) fn packets(&self, queue: u32) -> impl Iterator<Item = u32> + '_ {
        let last = self.queues[queue as usize];
        let first = (last != NIL).then(|| self.pool.behind(last));
        std::iter::successors(first, move |&packet| (packet != last).then(|| self.pool.behind(packet)))
    }

    #[inline(always)]
    pub(super) fn append(&mut self, queue: u32, packet: u32) {
        let last = std::mem::replace(&mut self.queues[queue as usize], packet);
        let first = if last == NIL { packet } else { self.pool.behind(last) };
        self.pool.link(packet, first);
        if last != NIL {
            self.pool.link(last, packet);
        }
    }

    /// Takes the head, which is at `first`, out of a queue; returns the next one, or [`NIL`].
    #[inline(always)]
    pub(super) fn detach(&mut self, queue: u32, first: u32) -> u32 {
        let last = self.queues[queue as usize];
        if first == last {
            self.queues[queue as usize] = NIL;
            return NIL;
        }
        let next = self.pool.behind(first);
        self.pool.link(last, next);
        next
    }

    /// True if there is a packet at `place`, and it may be sent.
    #[inline(always)]
    pub(super) fn is_ready(&self, place: u32) -> bool {
        place != NIL && self.pool.get(place).class & READY != 0
    }
}
