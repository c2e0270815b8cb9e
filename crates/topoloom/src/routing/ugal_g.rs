//! `ugal-g` (Singh, 2005): UGAL that knows the queues of the whole network, from a snapshot published every T cycles.
//!
//! H q is the number of flits in all queues along a path: hops times the mean occupancy of its outputs.

use super::channels::ChannelEnds;
use super::minimal::{self, with_minimal};
use super::twophase::{BIAS, Options, TwoPhase};
use super::{
    Again, AnyRouting, Availability, Looks, Minimal, Move, NO_VIA, PacketState, Routing, RoutingInfo, Step, View,
};
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

/// UGAL by the queues of whole paths.
pub struct GlobalUgal<M> {
    two: TwoPhase<M, true>,
    period: u32,
    channels: ChannelEnds,
}

/// A path from here to a router, as far as it was followed.
struct Probe {
    /// The bits of the packet before its first hop.
    bits: u32,
    first: Step,
    /// The flits in its queues.
    flits: u32,
    /// The stream as it stood before the first hop was drawn: `choose`, continuing from there, draws the very same one.
    stream: Rng,
}

impl<M: Minimal> GlobalUgal<M> {
    /// Draws a path from `from` to `target`, another router, and follows it until its queues have `limit` flits at least.
    #[inline(always)]
    fn probe<V: View>(&self, from: RouterId, target: RouterId, limit: u32, view: &V, rng: &mut Rng) -> Probe {
        let minimal = self.two.minimal();
        let bits = minimal.begin(rng);
        let stream = *rng;
        let queue = |port| view.published(port);
        if let Some((first, flits)) = minimal.first_and_queues([from, target], &self.channels, queue) {
            return Probe { bits, first, flits, stream };
        }
        let first = minimal.step(from, bits, target, rng);
        let (mut at, mut step, mut flits) = (from, first, 0);
        loop {
            let port = self.channels.output(at, step.port);
            flits += queue(port);
            at = self.channels.behind(port);
            if at == target || flits >= limit {
                return Probe { bits, first, flits, stream };
            }
            step = minimal.step(at, step.bits, target, rng);
        }
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

    #[inline(always)]
    fn start<V: View>(&self, src: RouterId, dst: RouterId, view: &V, rng: &mut Rng) -> PacketState {
        self.start_with_hop(src, dst, view, rng).0
    }

    #[inline(always)]
    fn start_with_hop<V: View>(
        &self,
        src: RouterId,
        dst: RouterId,
        view: &V,
        rng: &mut Rng,
    ) -> (PacketState, Option<Move>) {
        let Some(via) = self.two.candidate(src, dst, rng) else {
            return (PacketState::direct(self.two.minimal().begin(rng)), None);
        };
        let min = self.probe(src, dst, u32::MAX, view, rng);
        // What the detour's queues must stay below. It is followed no further than it does.
        let limit = min.flits.saturating_sub(self.two.bias());
        if limit > 0 {
            let non = self.probe(src, via, limit, view, rng);
            if non.flits < limit && self.probe(via, dst, limit - non.flits, view, rng).flits < limit - non.flits {
                *rng = non.stream;
                return (PacketState { via: via.0, bits: non.bits }, Some(self.two.hop(non.first, via.0)));
            }
        }
        *rng = min.stream;
        (PacketState::direct(min.bits), Some(self.two.hop(min.first, NO_VIA)))
    }

    #[inline(always)]
    fn choose<V: View>(&self, at: RouterId, state: PacketState, dst: RouterId, view: &V, rng: &mut Rng) -> Move {
        self.two.choose(at, state, dst, view, rng)
    }

    #[inline(always)]
    fn expect(&self, at: RouterId, state: PacketState, dst: RouterId) {
        self.two.expect(at, state, dst);
    }

    #[inline(always)]
    fn is_far(&self) -> bool {
        self.two.is_far()
    }

    #[inline(always)]
    fn draws(&self, fresh: bool) -> bool {
        self.two.draws(fresh)
    }

    fn eject_class(&self, state: PacketState) -> Option<u8> {
        self.two.eject_class(state)
    }

    fn decides_again(&self) -> Again {
        self.two.decides_again()
    }

    fn looks_in_transit(&self) -> Looks {
        self.two.looks_in_transit()
    }

    fn snapshot_period(&self) -> u32 {
        self.period
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::{Network, PortId};
    use crate::rng::mix;
    use crate::{routing, topology};

    /// Queues of a few flits, by port and seed, as published.
    struct Published(u64);

    impl View for Published {
        fn copy(&self) -> Self {
            Self(self.0)
        }

        fn occupancy(&self, _port: u32) -> u32 {
            unreachable!("a routing that reads what is published")
        }

        fn published(&self, port: PortId) -> u32 {
            (mix(self.0 ^ mix(port.0.into())) % 9) as u32
        }

        fn interval(&self) -> u32 {
            0
        }

        fn free_vcs(&self, _port: u32, _class: u8) -> u32 {
            1
        }

        fn buffer(&self, _class: u8) -> u32 {
            256
        }
    }

    /// The flits in all queues of the path that `minimal` draws, looked up link by link.
    fn along<M: Minimal>(minimal: &M, network: &Network, ends: [RouterId; 2], view: &Published, rng: &mut Rng) -> u32 {
        let [mut at, target] = ends;
        let (mut bits, mut flits) = (minimal.begin(rng), 0);
        while at != target {
            let step = minimal.step(at, bits, target, rng);
            flits += view.published(PortId(network.port_base(at) + u32::from(step.port)));
            let peer = network.neighbors(at).find(|&(port, _)| port == u32::from(step.port));
            (at, bits) = (peer.expect("the step leads along a link").1, step.bits);
        }
        flits
    }

    #[test]
    fn a_detour_is_taken_where_all_its_queues_together_are_shorter() {
        for (spec, bias) in [
            ("dragonfly:a=4,h=2,p=2", 3),
            ("dragonfly:a=4,h=2,p=2,g=4", 3),
            ("hyperx:4x4", 2),
            ("slimfly:q=5", 0),
            ("torus:4x5", 0),
        ] {
            let network = topology::build(spec).expect(spec);
            let routing = routing::build(&network, "ugal-g").expect(spec);
            let mut taken = [0, 0];
            with_minimal!(minimal::phase(&network).expect(spec), m => {
                let two = TwoPhase::<_, true>::new(m, &network, Options::default());
                for seed in 0..3000 {
                    let (view, mut rng) = (Published(seed), Rng::stream(seed, 1));
                    let (src, dst) = (RouterId(seed as u32 % 3), RouterId(3 + seed as u32 % 7));
                    let mut own = rng;
                    let (state, hop) = routing.start_with_hop(src, dst, &view, &mut rng);
                    let via = two.candidate(src, dst, &mut own);
                    let mut flits = |ends| along(two.minimal(), &network, ends, &view, &mut own);
                    // A group of a dragonfly has no other path to its own routers.
                    let detour = via.filter(|&via| {
                        let [min, first, second] = [[src, dst], [src, via], [via, dst]].map(&mut flits);
                        min > first + second + bias
                    });
                    assert_eq!(state.via, detour.map_or(NO_VIA, |via| via.0), "{spec}, {seed}");
                    taken[usize::from(detour.is_some())] += 1;
                    // `choose` would draw the same hop.
                    let chosen = routing.choose(src, state, dst, &view, &mut rng);
                    assert!(hop.is_none_or(|hop| hop == chosen), "{spec}, {seed}");
                }
            });
            assert!(taken.into_iter().all(|times| times > 50), "{spec}: {taken:?}");
        }
    }
}
