//! `dal`: dimensionally adaptive, load-balanced routing on a HyperX (Ahn, Binkert, Davis, McLaren and Schreiber, SC
//! 2009).
//!
//! A packet corrects its dimensions in any order, and makes one detour at most in each, to any other router of the
//! line. It carries the dimensions in which it has made one. Adaptive channels may wait for each other in cycles;
//! escape channels in dimension order resolve these (Duato, 1993), and a packet may leave them at the next router. The
//! paper leaves the threshold for a detour open: here a packet takes a detour if queue times hops left is less, as in
//! `dimwar` and `omniwar`, but none where nothing waits for the output of a minimal path. A head whose VC request failed
//! compares queues alone, and makes a detour only in the dimension of its escape channel. Past saturation it then comes to
//! a router from where the escape channel continues along the same line. After a detour in another dimension its escape
//! channel would be that of a link at which new packets wait. Packets that wait for it would fill the adaptive channels of
//! the line of the detour, while the links of that line are idle.
//!
//! A dimension that a packet has corrected stays so, so an escape channel of a dimension is only ever followed by those
//! of higher ones, however many adaptive hops lie between: no cycle.

use super::hyperx::{HyperXMinimal, detour_limit, each, limit_when_refused, shortest, weighing};
use super::twophase::BIAS;
use super::{Again, Availability, Move, PacketState, Routing, RoutingInfo, View};
use crate::network::RouterId;
use crate::rng::Rng;

pub(super) const DAL: RoutingInfo = RoutingInfo {
    name: "dal",
    summary: "dimensions in any order with one detour in each, by the least queue times hops, decided hop by hop; escape \
              channels in dimension order",
    offered: Availability::ByFamily,
    classes: "escape 1 + 1 adaptive",
    adapts: Some(true),
    keys: &[BIAS],
    build: |network, given| Ok(weighing(network, given, |minimal, bias| Dal { minimal, bias })),
};

const ESCAPE: u8 = 0;
const ADAPTIVE: u8 = 1;

/// The bits of a packet are the dimensions that still differ in which it has made its detour.
pub struct Dal {
    minimal: HyperXMinimal<1>,
    bias: u32,
}

impl Dal {
    /// The hop to the coordinate of the destination in dimension `dim`.
    #[inline(always)]
    fn straight(port: u16, class: u8, turned: u32, dim: usize) -> Move {
        Move { port, class, next: PacketState::direct(turned & !(1 << dim)) }
    }

    #[inline(always)]
    fn detour(port: u16, turned: u32, dim: usize) -> Move {
        Move { port, class: ADAPTIVE, next: PacketState::direct(turned | 1 << dim) }
    }
}

impl Routing for Dal {
    fn classes(&self) -> u32 {
        2
    }

    fn vcs(&self) -> u32 {
        4 * self.classes()
    }

    fn moves(&self, at: RouterId, state: PacketState, dst: RouterId, out: &mut Vec<Move>) {
        let turned = state.bits;
        let escape = self.minimal.dimension(at, dst, 0);
        let outputs = self.minimal.straight(at, dst, escape).iter();
        out.extend(outputs.map(|&port| Self::straight(port, ESCAPE, turned, escape)));
        for dim in each(self.minimal.unaligned(at, dst)) {
            let outputs = self.minimal.straight(at, dst, dim).iter();
            out.extend(outputs.map(|&port| Self::straight(port, ADAPTIVE, turned, dim)));
            if turned >> dim & 1 == 0 {
                let others = self.minimal.others(at, dst, dim, 0);
                let outputs = others.flat_map(|other| self.minimal.toward(at, dim, other));
                out.extend(outputs.map(|&port| Self::detour(port, turned, dim)));
            }
        }
    }

    #[inline(always)]
    fn choose<V: View>(&self, at: RouterId, state: PacketState, dst: RouterId, view: &V, rng: &mut Rng) -> Move {
        let (turned, dims) = (state.bits, self.minimal.unaligned(at, dst));
        let is_free = |port: u16| view.has_free_vc(port.into(), ADAPTIVE);
        // The shortest queue, and the shortest with a free VC.
        let (mut minimal, mut least, mut best, mut left) = ((u32::MAX, 0), u32::MAX, None, 0);
        for dim in each(dims) {
            left += 1;
            let (queue, port) = shortest(self.minimal.straight(at, dst, dim), view);
            if queue < minimal.0 {
                minimal = (queue, port);
            }
            if queue < least && is_free(port) {
                (least, best) = (queue, Some((port, dim)));
            }
        }
        let (limit, detours) = if view.decides_again() {
            let escape = dims & dims.wrapping_neg();
            (limit_when_refused(minimal.0, minimal.1, self.bias, view), escape & !turned)
        } else if best.is_some_and(|(port, _)| view.leaves_at_once(port.into())) {
            (0, 0)
        } else {
            (detour_limit(left, minimal.0, self.bias), dims & !turned)
        };
        if limit > 0 {
            let best = self.minimal.best_detour([at, dst], detours, limit, view, rng, is_free);
            if let Some((_, detour, dim)) = best {
                return Self::detour(detour, turned, dim);
            }
        }
        if let Some((port, dim)) = best {
            return Self::straight(port, ADAPTIVE, turned, dim);
        }
        let dim = self.minimal.dimension(at, dst, 0);
        Self::straight(shortest(self.minimal.straight(at, dst, dim), view).1, ESCAPE, turned, dim)
    }

    fn escape_classes(&self) -> u32 {
        1
    }

    fn decides_again(&self) -> Again {
        Again::Revocable(u16::MAX)
    }

    fn takes_whole_packets(&self, class: u8) -> bool {
        class == ADAPTIVE
    }
}
