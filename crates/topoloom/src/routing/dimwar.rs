//! `dimwar`: dimensionally weighted adaptive routing on a HyperX (McDonald, Isaev, Flores, Davis and Kim, SC 2019).
//!
//! Dimensions are corrected in ascending order. In each a packet goes to its coordinate at once, or by a detour over any
//! other router of the line and from there. It takes the hop for which queue times hops left is least, and weighs again
//! while it is refused a VC.
//!
//! Classes: 0 for a detour's first hop, 1 for its second; a hop that needs no detour takes either. Within a line class 0
//! is followed by 1 alone, and lines are taken in the order of dimensions: no circle. Two VCs are enough, whatever the
//! number of dimensions.

use super::hyperx::HyperXMinimal;
use super::twophase::BIAS;
use super::{Again, AnyRouting, Availability, Minimal, Move, PacketState, Routing, RoutingInfo, View};
use crate::network::RouterId;
use crate::rng::Rng;

pub(super) const DIMWAR: RoutingInfo = RoutingInfo {
    name: "dimwar",
    summary: "dimension order with a detour of one hop in each dimension where its queue times hops is less, decided hop by \
              hop",
    offered: Availability::ByFamily,
    classes: "2",
    adapts: Some(true),
    keys: &[BIAS],
    build: |network, given| {
        let bias = given.count(BIAS.name);
        Ok(HyperXMinimal::new(network).map(|minimal| {
            let bias = bias.unwrap_or(minimal.ugal().bias);
            AnyRouting::new(DimWar { minimal, bias })
        }))
    },
};

/// The class of a detour's first hop, and of the hop to the coordinate of the destination that ends a dimension.
const DETOUR: u8 = 0;
const LAST: u8 = 1;

/// The bits of a packet that goes on in no detour, and of one that has had its detour in the dimension at hand.
const FREE: u32 = 0;
const TURNED: u32 = 1;

/// `dimwar`.
pub struct DimWar {
    minimal: HyperXMinimal<1>,
    bias: u32,
}

impl DimWar {
    /// The shortest of parallel links' queues, and its output.
    #[inline(always)]
    fn shortest<V: View>(outputs: &[u16], view: &V) -> (u32, u16) {
        let queues = outputs.iter().map(|&port| (view.queue(port.into()), port));
        queues.min().expect("two routers of a line have a link")
    }

    /// The class of a hop that may take either: the one with more free VCs.
    #[inline(always)]
    fn either<V: View>(port: u16, view: &V) -> u8 {
        let free = |class| view.free_vcs(port.into(), class);
        if free(DETOUR) > free(LAST) { DETOUR } else { LAST }
    }

    /// The hop to the coordinate of the destination.
    #[inline(always)]
    fn last(port: u16, class: u8) -> Move {
        Move { port, class, next: PacketState::direct(FREE) }
    }

    #[inline(always)]
    fn detour(port: u16) -> Move {
        Move { port, class: DETOUR, next: PacketState::direct(TURNED) }
    }

    /// The best detour in the line, by its queue; on a tie the first from a random coordinate on.
    #[inline(always)]
    fn best_detour<V: View>(
        &self,
        at: RouterId,
        dst: RouterId,
        dim: usize,
        view: &V,
        rng: &mut Rng,
    ) -> Option<(u32, u16)> {
        let side = self.minimal.side(dim);
        let first = rng.below(side);
        let (from, to) = (self.minimal.coordinate(at, dim), self.minimal.coordinate(dst, dim));
        let others = (0..side).map(|turn| (first + turn) % side).filter(|&other| other != from && other != to);
        let queues = others.map(|other| Self::shortest(self.minimal.toward(at, dim, other), view));
        queues.min_by_key(|(queue, _)| *queue)
    }
}

impl Routing for DimWar {
    fn classes(&self) -> u32 {
        2
    }

    fn vcs(&self) -> u32 {
        4 * self.classes()
    }

    fn starts(&self, _src: RouterId, _dst: RouterId, out: &mut Vec<PacketState>) {
        out.push(PacketState::direct(FREE));
    }

    fn moves(&self, at: RouterId, state: PacketState, dst: RouterId, out: &mut Vec<Move>) {
        let dim = self.minimal.dimension(at, dst, 0);
        let to = self.minimal.coordinate(dst, dim);
        let outputs = self.minimal.toward(at, dim, to);
        out.extend(outputs.iter().map(|&port| Self::last(port, LAST)));
        if state.bits == FREE {
            out.extend(outputs.iter().map(|&port| Self::last(port, DETOUR)));
            let own = self.minimal.coordinate(at, dim);
            let others = (0..self.minimal.side(dim)).filter(|&other| other != own && other != to);
            let outputs = others.flat_map(|other| self.minimal.toward(at, dim, other));
            out.extend(outputs.map(|&port| Self::detour(port)));
        }
    }

    #[inline(always)]
    fn start<V: View>(&self, _src: RouterId, _dst: RouterId, _view: &V, _rng: &mut Rng) -> PacketState {
        PacketState::direct(FREE)
    }

    #[inline(always)]
    fn choose<V: View>(&self, at: RouterId, state: PacketState, dst: RouterId, view: &V, rng: &mut Rng) -> Move {
        let dim = self.minimal.dimension(at, dst, 0);
        let outputs = self.minimal.toward(at, dim, self.minimal.coordinate(dst, dim));
        let (queue, port) = Self::shortest(outputs, view);
        if state.bits == TURNED {
            return Self::last(port, LAST);
        }
        // A detour makes the rest of the path a hop longer.
        let hops = self.minimal.hops(at, dst);
        if hops * queue > self.bias {
            if let Some((other, detour)) = self.best_detour(at, dst, dim, view, rng) {
                if hops * queue > (hops + 1) * other + self.bias {
                    return Self::detour(detour);
                }
            }
        }
        Self::last(port, Self::either(port, view))
    }

    fn decides_again(&self) -> Again {
        Again::Revocable(u16::MAX)
    }
}
