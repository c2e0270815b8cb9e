//! Places in buffers: how the VCs of a port share them, and what a packet needs to be sent.

use crate::cycle::flit::{ENTERS, Flit};
use crate::cycle::{Flow, Setup};

/// How buffers are divided among the VCs of a port, and what flow control asks of them.
#[derive(Debug, Clone, Copy)]
pub struct BufferPolicy {
    /// Places of each VC's own: all of them, unless VCs share some.
    pub reserve: u16,
    /// Places that the VCs of a port share.
    pub pool: u32,
    /// VCs (a bit each) that take a packet only if they are empty or have room for all of it.
    pub whole: u64,
    /// Virtual cut-through: packets take all their places when they are given a VC, flits take none.
    pub cut_through: bool,
    /// Flits of the largest packet where rings keep bubbles, else 0. Every packet then takes as many places as that: of
    /// packets of other sizes a ring could hold so many that its room is enough for none, though it is for one in all.
    pub bubble: u32,
}

impl BufferPolicy {
    /// The room that the options give.
    pub fn new(setup: &Setup) -> Self {
        let config = &setup.config;
        let cut_through = config.flow == Flow::Vct;
        let whole = if cut_through { u64::MAX } else { setup.whole };
        let (reserve, pool) = setup.places();
        Self { reserve: reserve as u16, pool, whole, cut_through, bubble: setup.bubble }
    }

    /// Places that the packet of this head takes under virtual cut-through.
    #[inline(always)]
    pub fn places(&self, head: &Flit) -> u32 {
        self.bubble.max(head.size())
    }

    /// Places that must be free for it: where it enters a ring, it leaves room for another.
    #[inline(always)]
    pub fn wanted(&self, head: &Flit) -> u32 {
        if head.kind & ENTERS == 0 { self.places(head) } else { 2 * self.bubble }
    }

    /// Places among the shared ones that a VC with so many takes.
    #[inline(always)]
    pub fn shared(&self, occupancy: u32) -> u32 {
        occupancy.saturating_sub(self.reserve.into())
    }

    /// True if a packet fits into a VC whole. Without virtual cut-through others may take what is shared before the
    /// packet has come: only the VC's own places count.
    #[inline(always)]
    pub fn fits(&self, occupancy: u16, shared: u32, size: u32) -> bool {
        let (before, after) = (u32::from(occupancy), u32::from(occupancy) + size);
        let free = if self.cut_through { self.pool - shared } else { 0 };
        occupancy == 0 || self.shared(after) - self.shared(before) <= free
    }
}
