//! BookSim2's numbering of VCs in its dragonfly's UGAL (`ugal_dragonflynew`): three of them. It is not free of deadlock:
//! towards the intermediate router VC 0 serves local and global hops alike. Here for comparison, and to show that
//! `verify` and the watchdog find what is wrong with it.

use super::dragonfly::DragonflyMinimal;
use super::twophase::TwoPhase;
use super::{Move, NO_VIA, PacketState, Routing, View};
use crate::network::RouterId;
use crate::rng::Rng;

/// `ugal-l:vcs=booksim`: its VC classes, numbered as BookSim does.
pub struct BookSimUgal(pub TwoPhase<DragonflyMinimal<false>, true>);

impl BookSimUgal {
    /// 0 in the first phase; 1 in the second up to its global hop, 2 from there on and within a group from the source.
    fn numbered(&self, at: RouterId, state: PacketState, dst: RouterId, hop: Move) -> Move {
        let within = state.via == NO_VIA && self.0.minimal().same_group(at, dst);
        let class = match hop.next.via {
            NO_VIA if within || hop.next.bits > 0 => 2,
            NO_VIA => 1,
            _ => 0,
        };
        Move { class, ..hop }
    }
}

impl Routing for BookSimUgal {
    fn classes(&self) -> u32 {
        3
    }

    fn starts(&self, src: RouterId, dst: RouterId, out: &mut Vec<PacketState>) {
        self.0.starts(src, dst, out);
    }

    fn moves(&self, at: RouterId, state: PacketState, dst: RouterId, out: &mut Vec<Move>) {
        let first = out.len();
        self.0.moves(at, state, dst, out);
        out[first..].iter_mut().for_each(|hop| *hop = self.numbered(at, state, dst, *hop));
    }

    fn start<V: View>(&self, src: RouterId, dst: RouterId, view: &V, rng: &mut Rng) -> PacketState {
        self.0.start(src, dst, view, rng)
    }

    fn choose<V: View>(&self, at: RouterId, state: PacketState, dst: RouterId, view: &V, rng: &mut Rng) -> Move {
        self.numbered(at, state, dst, self.0.choose(at, state, dst, view, rng))
    }

    fn unproved(&self) -> bool {
        true
    }
}
