//! `omniwar`: omni-dimensional weighted adaptive routing on a HyperX (McDonald, Isaev, Flores, Davis and Kim, SC 2019).
//!
//! A packet corrects its dimensions in any order. In any that differs it goes to its coordinate at once, or makes a detour
//! to any other router of the line, after which the dimension still differs. It takes the hop for which queue times hops
//! left is least, and weighs again while it is denied a VC, then by queues alone ([`limit_when_refused`]). Where nothing waits
//! for the output of a minimal path, it weighs nothing.
//!
//! Distance classes: the class of a hop is its number on the path. N dimensions and M detours make N + M classes; a packet
//! makes detours as long as the classes above suffice for the hops that are left. Classes grow along every path: no circle.

use super::hyperx::{HyperXMinimal, detour_limit, each, limit_when_refused, shortest, weighing};
use super::twophase::BIAS;
use super::{Again, Availability, Minimal, Move, PacketState, Routing, RoutingInfo, View};
use crate::catalogue::{Key, Kind};
use crate::network::RouterId;
use crate::rng::Rng;

const DEROUTES: Key = Key::new(
    "deroutes",
    Kind::Int(0, 60),
    "detours of a packet whose dimensions all differ (default: as many as there are dimensions)",
);

pub(super) const OMNIWAR: RoutingInfo = RoutingInfo {
    name: "omniwar",
    summary: "dimensions in any order, with detours as VC classes allow, by the least queue times hops, decided hop by hop",
    offered: Availability::ByFamily,
    classes: "dimensions + deroutes, by default twice the dimensions",
    adapts: Some(true),
    keys: &[DEROUTES, BIAS],
    build: |network, given| {
        let deroutes = given.count(DEROUTES.name);
        Ok(weighing(network, given, |minimal, bias| {
            let dimensions = minimal.dimensions();
            let classes = (dimensions + deroutes.unwrap_or(dimensions)).max(1);
            OmniWar { minimal, classes, bias }
        }))
    },
};

/// The bits of a packet are the hops that it has taken.
pub struct OmniWar {
    minimal: HyperXMinimal<1>,
    classes: u32,
    bias: u32,
}

impl OmniWar {
    #[inline(always)]
    fn hop(port: u16, taken: u32) -> Move {
        Move { port, class: taken as u8, next: PacketState::direct(taken + 1) }
    }

    /// True if after a detour the classes still suffice for the hops that are left.
    #[inline(always)]
    fn may_detour(&self, taken: u32, left: u32) -> bool {
        taken + 1 + left <= self.classes
    }
}

impl Routing for OmniWar {
    fn classes(&self) -> u32 {
        self.classes
    }

    fn vcs(&self) -> u32 {
        2 * self.classes
    }

    fn moves(&self, at: RouterId, state: PacketState, dst: RouterId, out: &mut Vec<Move>) {
        let (taken, left) = (state.bits, self.minimal.hops(at, dst));
        for dim in each(self.minimal.unaligned(at, dst)) {
            out.extend(self.minimal.straight(at, dst, dim).iter().map(|&port| Self::hop(port, taken)));
            if self.may_detour(taken, left) {
                let others = self.minimal.others(at, dst, dim, 0);
                let outputs = others.flat_map(|other| self.minimal.toward(at, dim, other));
                out.extend(outputs.map(|&port| Self::hop(port, taken)));
            }
        }
    }

    #[inline(always)]
    fn choose<V: View>(&self, at: RouterId, state: PacketState, dst: RouterId, view: &V, rng: &mut Rng) -> Move {
        let (taken, dims) = (state.bits, self.minimal.unaligned(at, dst));
        let (mut queue, mut port, mut left) = (u32::MAX, 0, 0);
        for dim in each(dims) {
            left += 1;
            let next = shortest(self.minimal.straight(at, dst, dim), view);
            if next.0 < queue {
                (queue, port) = next;
            }
        }
        let limit = if view.decides_again() {
            limit_when_refused(queue, port, self.bias, view)
        } else if view.leaves_at_once(port.into()) {
            0
        } else {
            detour_limit(left, queue, self.bias)
        };
        if limit > 0
            && self.may_detour(taken, left)
            && let Some((_, detour, _)) = self.minimal.best_detour([at, dst], dims, limit, view, rng, |_| true)
        {
            return Self::hop(detour, taken);
        }
        Self::hop(port, taken)
    }

    fn decides_again(&self) -> Again {
        Again::Revocable(u16::MAX)
    }
}
