//! `dimwar`: dimensionally weighted adaptive routing on a HyperX (McDonald, Isaev, Flores, Davis and Kim, SC 2019).
//!
//! Dimensions are corrected in ascending order. In each a packet goes to its coordinate at once, or by a detour over any
//! other router of the line and from there. It takes the hop for which queue times hops left is least, and weighs again
//! while it is denied a VC. Where nothing waits for the output of the minimal path, it weighs nothing.
//!
//! Classes: 0 for a detour's first hop, 1 for its second; a hop that needs no detour takes either. Within a line class 0
//! is followed by 1 alone, and lines are taken in the order of dimensions: no circle. Two VCs are enough, whatever the
//! number of dimensions.

use super::hyperx::{HyperXMinimal, detour_limit, shortest, weighing};
use super::twophase::BIAS;
use super::{Again, Availability, Minimal, Move, PacketState, Routing, RoutingInfo, View};
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
    build: |network, given| Ok(weighing(network, given, |minimal, bias| DimWar { minimal, bias })),
};

/// The class of a detour's first hop, and of the hop to the coordinate of the destination that ends a dimension.
const DETOUR: u8 = 0;
const LAST: u8 = 1;

/// The bits of a packet that continues in no detour, and of one that has had its detour in the dimension at hand.
const FREE: u32 = 0;
const TURNED: u32 = 1;

/// `dimwar`.
pub struct DimWar {
    minimal: HyperXMinimal<1>,
    bias: u32,
}

impl DimWar {
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
}

impl Routing for DimWar {
    fn classes(&self) -> u32 {
        2
    }

    fn vcs(&self) -> u32 {
        4 * self.classes()
    }

    fn moves(&self, at: RouterId, state: PacketState, dst: RouterId, out: &mut Vec<Move>) {
        let dim = self.minimal.dimension(at, dst, 0);
        let outputs = self.minimal.straight(at, dst, dim);
        out.extend(outputs.iter().map(|&port| Self::last(port, LAST)));
        if state.bits == FREE {
            out.extend(outputs.iter().map(|&port| Self::last(port, DETOUR)));
            let others = self.minimal.others(at, dst, dim, 0);
            let outputs = others.flat_map(|other| self.minimal.toward(at, dim, other));
            out.extend(outputs.map(|&port| Self::detour(port)));
        }
    }

    #[inline(always)]
    fn choose<V: View>(&self, at: RouterId, state: PacketState, dst: RouterId, view: &V, rng: &mut Rng) -> Move {
        let dim = self.minimal.dimension(at, dst, 0);
        let (queue, port) = shortest(self.minimal.straight(at, dst, dim), view);
        if state.bits == TURNED {
            return Self::last(port, LAST);
        }
        // A detour makes the rest of the path a hop longer.
        let hops = self.minimal.hops(at, dst);
        let limit = if view.leaves_at_once(port.into()) { 0 } else { detour_limit(hops, queue, self.bias) };
        if limit > 0
            && let Some((_, detour)) = self.minimal.line_detour([at, dst], dim, limit, view, rng, |_| true)
        {
            return Self::detour(detour);
        }
        Self::last(port, Self::either(port, view))
    }

    fn decides_again(&self) -> Again {
        Again::Revocable(u16::MAX)
    }
}
