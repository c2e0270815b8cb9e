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

/// The VCs, from the first on, whose queues a [`Pair`] holds itself: they fill its cache line, and are those of usual cards.
pub(super) const OWN_QUEUES: usize = 11;

const _: () = assert!(MAX_VCS <= ADAPTIVE as u32, "numbers of VCs are below it");

impl Stay {
    /// That of no packet.
    pub(super) const NONE: Self = Self { before: PacketState::direct(0), injected: 0, arrived: 0, class: 0 };
}

/// The VC behind its output that a head in a buffer takes.
#[inline(always)]
pub(super) fn lane_behind(head: &Flit) -> u8 {
    head.class & !ADAPTIVE
}

/// The queues of an input for an output, by VC of the input. A cache line.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
pub(super) struct Pair {
    /// Those whose head may be sent, and those whose head waits for room, a bit each.
    pub(super) asking: u64,
    pub(super) waiting: u64,
    /// The last packet of each of the first VCs, or [`NIL`].
    queues: [u32; OWN_QUEUES],
    /// The VC that sent last: those behind it are preferred.
    pub(super) turn: u8,
}

impl Pair {
    /// That of no packet: any VC may be the first.
    pub(super) const EMPTY: Self = Self { asking: 0, waiting: 0, queues: [NIL; OWN_QUEUES], turn: LAST };
}

impl Voq {
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
        self.withdraw_if(true, card, pair, lane);
    }

    /// The same if it is `gone`.
    // Without branches: whether others ask is often mispredicted.
    #[inline(always)]
    pub(super) fn withdraw_if(&mut self, gone: bool, card: usize, pair: u32, lane: u32) {
        let asking = &mut self.pairs[pair as usize].asking;
        *asking &= !(u64::from(gone) << lane);
        let (port, input) = (pair >> self.width, pair & ((1 << self.width) - 1));
        let inputs = &mut self.ports[port as usize].asking;
        *inputs &= !(u64::from(*asking == 0) << input);
        let state = &mut self.cards[card];
        state.wanted &= !(u64::from(*inputs == 0) << (port - state.first_port));
    }

    /// The queue of VC `lane` of a pair.
    #[inline(always)]
    pub(super) fn queue_of(&self, pair: u32, lane: u32) -> u32 {
        pair << self.log | lane
    }

    /// The pair and the VC of a queue.
    #[inline(always)]
    pub(super) fn place_of(&self, queue: u32) -> (u32, u32) {
        (queue >> self.log, self.lane(queue))
    }

    /// The last packet of a queue, or [`NIL`].
    #[inline(always)]
    pub(super) fn last(&self, queue: u32) -> u32 {
        let (pair, lane) = self.place_of(queue);
        match self.pairs[pair as usize].queues.get(lane as usize) {
            Some(&last) => last,
            None => self.queues[self.place_of_other(pair, lane)],
        }
    }

    /// Makes `last` that.
    #[inline(always)]
    pub(super) fn set_last(&mut self, queue: u32, last: u32) {
        let (pair, lane) = self.place_of(queue);
        match self.pairs[pair as usize].queues.get_mut(lane as usize) {
            Some(queue) => *queue = last,
            None => {
                let place = self.place_of_other(pair, lane);
                self.queues[place] = last;
            }
        }
    }

    /// Where the queue of a VC is that pairs do not hold themselves.
    #[inline(always)]
    fn place_of_other(&self, pair: u32, lane: u32) -> usize {
        pair as usize * self.other_queues + (lane as usize - OWN_QUEUES)
    }

    /// The head of a queue that is not empty: the last packet has it behind itself.
    #[inline(always)]
    pub(super) fn first(&self, queue: u32) -> u32 {
        self.pool.behind(self.last(queue))
    }

    /// The packets of a queue, in order.
    pub(super) fn packets(&self, queue: u32) -> impl Iterator<Item = u32> + '_ {
        let last = self.last(queue);
        let first = (last != NIL).then(|| self.pool.behind(last));
        std::iter::successors(first, move |&packet| (packet != last).then(|| self.pool.behind(packet)))
    }

    /// Returns true if the queue was empty: the packet is its head.
    #[inline(always)]
    pub(super) fn append(&mut self, queue: u32, packet: u32) -> bool {
        let last = self.last(queue);
        self.set_last(queue, packet);
        let empty = last == NIL;
        // One that is alone is the last one before itself.
        let before = if empty { packet } else { last };
        let first = if empty { packet } else { self.pool.behind(last) };
        self.pool.link(before, packet);
        self.pool.link(packet, first);
        empty
    }

    /// Takes the head, which is at `first`, out of a queue; returns true if it is empty then.
    #[inline(always)]
    pub(super) fn detach(&mut self, queue: u32, first: u32) -> bool {
        let last = self.last(queue);
        // Without a branch on whether it is alone, which is often mispredicted: then it may be linked to anything.
        self.set_last(queue, last | (NIL * u32::from(first == last)));
        self.pool.link(last, self.pool.behind(first));
        first == last
    }
}
