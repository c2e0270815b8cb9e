//! `min`: a family's minimal routing by itself, and `min-spread`, uniformly over all minimal paths.

use super::minimal::{self, AnyMinimal, with_minimal};
use super::table::TableMinimal;
use super::{
    AnyRouting, Availability, Minimal, Move, NO_VIA, PacketState, Routing, RoutingInfo, Step, View, galaxyfly,
};
use crate::catalogue::Arguments;
use crate::error::Result;
use crate::network::{Network, RouterId};
use crate::rng::Rng;

pub(super) const MIN: RoutingInfo = RoutingInfo {
    name: "min",
    summary: "minimal: a random minimal next hop; local-global-local on a dragonfly, from supernode to supernode on a \
              Galaxyfly, a random order of dimensions on a HyperX, Algorithm 1 of the paper on a 3-layer FleX",
    offered: Availability::Anywhere,
    classes: "diameter (by hop); trees 1; dragonfly, HyperX, FleX 2; Galaxyfly 3",
    adapts: Some(false),
    keys: &[galaxyfly::COMMON],
    build,
};

/// True if `min` takes any output on a shortest path, all equally likely.
pub(super) fn spreads_evenly(network: &Network) -> bool {
    !galaxyfly::has_ways(network) && minimal::closed_direct(network).is_none() && TableMinimal::is_possible(network)
}

fn build(network: &Network, options: &Arguments) -> Result<Option<AnyRouting>> {
    if let Some(routing) = galaxyfly::minimal(network, options)? {
        return Ok(Some(routing));
    }
    if options.text(galaxyfly::COMMON.name).is_some() {
        let what = "is a matter of an intact Galaxyfly's supernodes";
        return Err(options.mistake(format_args!("{} {what}; {} has none", galaxyfly::COMMON.name, network.spec())));
    }
    minimal::direct(network).map(|minimal| Some(alone(minimal)))
}

pub(super) const MIN_SPREAD: RoutingInfo = RoutingInfo {
    name: "min-spread",
    summary: "uniformly over all minimal paths",
    offered: Availability::ByFamily,
    classes: "diameter (by hop)",
    adapts: Some(false),
    keys: &[],
    build: |network, _| minimal::table(network).map(|minimal| Some(alone(minimal))),
};

/// The routing that goes minimally, all the way.
pub(super) fn alone(minimal: AnyMinimal) -> AnyRouting {
    with_minimal!(minimal, minimal => AnyRouting::new(Min(minimal)))
}

/// `min`: the minimal algorithm by itself.
pub struct Min<M>(pub M);

impl<M: Minimal> Routing for Min<M> {
    fn classes(&self) -> u32 {
        self.0.classes()
    }

    fn starts(&self, _src: RouterId, _dst: RouterId, out: &mut Vec<PacketState>) {
        out.extend(self.0.begins().into_iter().map(PacketState::direct));
    }

    fn moves(&self, at: RouterId, state: PacketState, dst: RouterId, out: &mut Vec<Move>) {
        let mut steps = Vec::new();
        self.0.steps(at, state.bits, dst, &mut steps);
        out.extend(steps.into_iter().map(|step| hop(step, 0, NO_VIA)));
    }

    #[inline(always)]
    fn start<V: View>(&self, _src: RouterId, _dst: RouterId, _view: &V, rng: &mut Rng) -> PacketState {
        PacketState::direct(self.0.begin(rng))
    }

    #[inline(always)]
    fn choose<V: View>(&self, at: RouterId, state: PacketState, dst: RouterId, _view: &V, rng: &mut Rng) -> Move {
        hop(self.0.step(at, state.bits, dst, rng), 0, NO_VIA)
    }

    #[inline(always)]
    fn draws(&self, fresh: bool) -> bool {
        self.0.draws(fresh)
    }

    #[inline(always)]
    fn expect(&self, at: RouterId, _state: PacketState, dst: RouterId) {
        self.0.expect(at, dst);
    }

    #[inline(always)]
    fn is_far(&self) -> bool {
        self.0.is_far()
    }

    #[inline(always)]
    fn answers_at_destination(&self, _fresh: bool) -> bool {
        self.0.answers_at_target()
    }

    #[inline(always)]
    fn eject_class(&self, state: PacketState) -> Option<u8> {
        self.0.eject_class(state.bits)
    }

    fn unproved(&self) -> bool {
        self.0.unproved()
    }

    fn oblivious(&self) -> bool {
        true
    }

    fn spreads_evenly(&self) -> bool {
        self.0.spreads_evenly()
    }

    fn enough_sources(&self, dst: RouterId, out: &mut Vec<RouterId>) -> bool {
        self.0.enough_sources(dst, out)
    }

    fn follows_ports(&self) -> bool {
        self.0.follows_ports()
    }

    fn likely_moves(&self, at: RouterId, state: PacketState, dst: RouterId, out: &mut Vec<(f64, Move)>) {
        self.0.likely_steps(at, state.bits, dst, |likely, step| out.push((likely, hop(step, 0, NO_VIA))));
    }
}

/// A step as a hop, its class counted from `offset`.
#[inline(always)]
pub(super) fn hop(step: Step, offset: u32, via: u32) -> Move {
    Move { port: step.port, class: step.class + offset as u8, next: PacketState { via, bits: step.bits } }
}
