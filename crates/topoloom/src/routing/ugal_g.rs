//! `ugal-g` (Singh, 2005): UGAL that knows the queues of the whole network, from a snapshot published every T cycles.
//!
//! H q is the number of flits in all queues along a path: hops times the mean occupancy of its outputs.

use super::channels::ChannelEnds;
use super::minimal::{self, with_minimal};
use super::twophase::{BIAS, Options, TwoPhase};
use super::{Again, AnyRouting, Availability, Minimal, Move, PacketState, Routing, RoutingInfo, View};
use crate::catalogue::{Key, Kind};
use crate::network::RouterId;
use crate::rng::Rng;

pub(super) const UGAL_G: RoutingInfo = RoutingInfo {
    name: "ugal-g",
    summary: "as ugal-l, but q of the whole path, as last published",
    offered: Availability::Anywhere,
    classes: "as val",
    adapts: Some(true),
    keys: &[
        BIAS,
        Key::new(
            "period",
            Kind::Int(1, 1_000_000),
            "cycles from one publication of all queues to the next (default: 1)",
        ),
    ],
    build: |network, given| {
        let options = Options { bias: given.count(BIAS.name), ..Options::default() };
        let period = given.count("period").unwrap_or(1);
        Ok(Some(with_minimal!(minimal::phase(network)?, m => AnyRouting::new(GlobalUgal {
            two: TwoPhase::new(m, network, options),
            period,
            channels: ChannelEnds::new(network),
        }))))
    },
};

struct GlobalUgal<M> {
    two: TwoPhase<M, true>,
    period: u32,
    channels: ChannelEnds,
}

impl<M: Minimal> GlobalUgal<M> {
    /// Draws a way from `from` to `target`; returns the bits it starts with, the flits in its queues, and the stream as
    /// it stood before the first hop was drawn, so that `choose` draws the very same one.
    fn probe<V: View>(&self, from: RouterId, target: RouterId, view: &V, rng: &mut Rng) -> (u32, u32, Rng) {
        let minimal = self.two.minimal();
        let start = minimal.begin(rng);
        let (before, mut at, mut bits, mut flits) = (*rng, from, start, 0);
        while at != target {
            let step = minimal.step(at, bits, target, rng);
            let port = self.channels.output(at, step.port);
            flits += view.published(port);
            (at, bits) = (self.channels.behind(port), step.bits);
        }
        (start, flits, before)
    }
}

impl<M: Minimal> Routing for GlobalUgal<M> {
    fn classes(&self) -> u32 {
        self.two.classes()
    }

    fn vcs(&self) -> u32 {
        self.two.vcs()
    }

    fn starts(&self, src: RouterId, dst: RouterId, out: &mut Vec<PacketState>) {
        self.two.starts(src, dst, out);
    }

    fn moves(&self, at: RouterId, state: PacketState, dst: RouterId, out: &mut Vec<Move>) {
        self.two.moves(at, state, dst, out);
    }

    fn start<V: View>(&self, src: RouterId, dst: RouterId, view: &V, rng: &mut Rng) -> PacketState {
        let Some(via) = self.two.candidate(src, dst, rng) else {
            return PacketState::direct(self.two.minimal().begin(rng));
        };
        let (bits_min, flits_min, stream_min) = self.probe(src, dst, view, rng);
        let (bits_non, flits_first, stream_non) = self.probe(src, via, view, rng);
        let (_, flits_second, _) = self.probe(via, dst, view, rng);
        if flits_min <= flits_first + flits_second + self.two.bias() {
            *rng = stream_min;
            PacketState::direct(bits_min)
        } else {
            *rng = stream_non;
            PacketState { via: via.0, bits: bits_non }
        }
    }

    fn choose<V: View>(&self, at: RouterId, state: PacketState, dst: RouterId, view: &V, rng: &mut Rng) -> Move {
        self.two.choose(at, state, dst, view, rng)
    }

    fn eject_class(&self, state: PacketState) -> Option<u8> {
        self.two.eject_class(state)
    }

    fn decides_again(&self) -> Again {
        self.two.decides_again()
    }

    fn looks_in_transit(&self) -> bool {
        self.two.looks_in_transit()
    }

    fn snapshot_period(&self) -> u32 {
        self.period
    }
}
