//! `amin`: minimal adaptive routing on any network. At each router a packet takes, of the outputs on minimal paths, the
//! one with the shortest queue, and weighs again while it is refused a VC.
//!
//! VC classes grow along every path, so that no circle of channels waits for itself: the class of a hop is its number on
//! the path, as `min` has it (Günther, IEEE Transactions on Communications, 1981). Where all links join routers of two
//! colours, as on a mesh or a torus of even sides, half of the classes are enough: only hops from the second colour to the
//! first raise the class (negative hops; Gopal, IEEE Transactions on Communications, 1985).

use super::table::TableMinimal;
use super::{Again, AnyRouting, Availability, Minimal, Move, PacketState, Routing, RoutingInfo, View};
use crate::network::{Network, RouterId};
use crate::rng::Rng;

pub(super) const AMIN: RoutingInfo = RoutingInfo {
    name: "amin",
    summary: "minimal adaptive: of the outputs on minimal paths the one with the shortest queue, decided hop by hop",
    offered: Availability::Anywhere,
    classes: "the diameter D (by hop); D/2 + 1 where links join routers of two colours",
    adapts: Some(true),
    keys: &[],
    build: |network, _| {
        TableMinimal::new(network).map(|table| Some(AnyRouting::new(AdaptiveMinimal::new(network, table))))
    },
};

pub struct AdaptiveMinimal {
    table: TableMinimal,
    /// Whether the links join routers of two colours: those at even and at odd distances from the first.
    coloured: bool,
}

impl AdaptiveMinimal {
    fn new(network: &Network, table: TableMinimal) -> Self {
        let odd = |router| table.hops(RouterId(0), router) % 2;
        let mut links = network.routers().flat_map(|at| network.neighbors(at).map(move |(_, peer)| (at, peer)));
        let coloured = links.all(|(a, b)| odd(a) != odd(b));
        Self { table, coloured }
    }

    /// The bits of a packet at its source: on the way they count hops, from 1 on if the source has the second colour.
    #[inline(always)]
    fn begin(&self, src: RouterId) -> PacketState {
        PacketState::direct(if self.coloured { self.table.hops(RouterId(0), src) % 2 } else { 0 })
    }

    #[inline(always)]
    fn hop(&self, port: u16, bits: u32) -> Move {
        Move { port, class: (bits >> u32::from(self.coloured)) as u8, next: PacketState::direct(bits + 1) }
    }
}

impl Routing for AdaptiveMinimal {
    fn classes(&self) -> u32 {
        let diameter = self.table.diameter();
        if self.coloured { diameter / 2 + 1 } else { diameter.max(1) }
    }

    fn vcs(&self) -> u32 {
        2 * self.classes()
    }

    fn starts(&self, src: RouterId, _dst: RouterId, out: &mut Vec<PacketState>) {
        out.push(self.begin(src));
    }

    fn moves(&self, at: RouterId, state: PacketState, dst: RouterId, out: &mut Vec<Move>) {
        out.extend(self.table.outputs(at, dst).iter().map(|&port| self.hop(port, state.bits)));
    }

    #[inline(always)]
    fn start<V: View>(&self, src: RouterId, _dst: RouterId, _view: &V, _rng: &mut Rng) -> PacketState {
        self.begin(src)
    }

    #[inline(always)]
    fn choose<V: View>(&self, at: RouterId, state: PacketState, dst: RouterId, view: &V, rng: &mut Rng) -> Move {
        let outputs = self.table.outputs(at, dst);
        if let [port] = outputs {
            return self.hop(*port, state.bits);
        }
        let (before, on) = outputs.split_at(rng.below(outputs.len() as u32) as usize);
        let shortest = on.iter().chain(before).min_by_key(|&&port| view.queue(port.into()));
        self.hop(*shortest.expect("there is a way to every destination"), state.bits)
    }

    fn decides_again(&self) -> Again {
        Again::Revocable(u16::MAX)
    }
}
