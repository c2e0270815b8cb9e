//! Duato's protocol: any minimal hop over adaptive channels, with escape channels that cannot deadlock behind them.
//!
//! On the twin torus the escape channels follow TS-DOR: see `twin.rs`.
//! On grids whose dimension order is at hand (Duato, 1993) the escape channels follow it, and a packet may return from
//! them to the adaptive ones at the next router. On any other graph (Silla and Duato, 2000) they follow up*/down*,
//! whose paths need not be minimal: a packet that has taken one stays on them, so that it cannot go round without end.
//! A head takes the least occupied minimal output that has an adaptive VC for it; where none has, it escapes, or decides
//! again when something is freed.

use super::amin::MinimalPaths;
use super::min::hop;
use super::minimal::{self, AnyMinimal};
use super::table::TableMinimal;
use super::twin;
use super::updown::{self, UpDown};
use super::{Again, AnyRouting, Availability, Minimal, Move, NO_VIA, PacketState, Routing, RoutingInfo, Step, View};
use crate::catalogue::{Key, Kind};
use crate::network::RouterId;
use crate::rng::Rng;

pub(super) const DUATO: RoutingInfo = RoutingInfo {
    name: "duato",
    summary: "minimal adaptive, the least occupied output; escape channels in dimension order on mesh, torus, hypercube \
              and HyperX, by ts-dor on the twin torus, by up*/down* elsewhere",
    offered: Availability::Anywhere,
    classes: "escape (torus 2, else 1) + 1 adaptive; twin torus 4 + 2",
    adapts: Some(true),
    keys: &[
        updown::ROOT,
        Key::new("escape", Kind::Choice(&["on", "off"]), "on (default); off: no escape channels, which can deadlock"),
    ],
    build: |network, options| {
        if options.choice("escape") == "off" {
            return Ok(Some(AnyRouting::new(AdaptiveAlone(TableMinimal::new(network)?))));
        }
        let root = updown::root(network, options)?;
        if let Some(routing) = twin::adaptive(network).filter(|_| root.is_none()) {
            return Ok(Some(routing));
        }
        // Coordinates give the minimal paths of meshes and tori, however large; tables give all others.
        Ok(Some(match minimal::phase(network)? {
            AnyMinimal::Mesh(order) if root.is_none() => Duato::build(order.clone(), InOrder(order)),
            AnyMinimal::Torus(order) if root.is_none() => Duato::build(order.clone(), InOrder(order)),
            AnyMinimal::HyperX(order) if root.is_none() => Duato::build(TableMinimal::new(network)?, InOrder(order)),
            _ => Duato::build(TableMinimal::new(network)?, UpDown::new(network, root)?),
        }))
    },
};

/// On adaptive channels, or free to take them.
const ADAPTIVE: u32 = 0;

/// The paths of the escape channels. Bits are [`ADAPTIVE`], or the path's own once a packet may not return from it.
trait Way: Send + Sync {
    fn classes(&self) -> u32;

    /// Every hop over escape channels.
    fn steps(&self, at: RouterId, bits: u32, dst: RouterId, out: &mut Vec<Step>);

    /// One of them.
    fn step(&self, at: RouterId, bits: u32, dst: RouterId, rng: &mut Rng) -> Step;
}

/// Dimension order, decided afresh at each router.
struct InOrder<M>(M);

impl<M: Minimal> Way for InOrder<M> {
    fn classes(&self) -> u32 {
        self.0.classes()
    }

    fn steps(&self, at: RouterId, _bits: u32, dst: RouterId, out: &mut Vec<Step>) {
        let first = out.len();
        self.0.steps(at, self.0.begin(&mut Rng::stream(0, 0)), dst, out);
        out[first..].iter_mut().for_each(|step| step.bits = ADAPTIVE);
    }

    fn step(&self, at: RouterId, _bits: u32, dst: RouterId, rng: &mut Rng) -> Step {
        let bits = self.0.begin(rng);
        Step { bits: ADAPTIVE, ..self.0.step(at, bits, dst, rng) }
    }
}

impl UpDown {
    /// The phase of a packet with these bits: 1 + phase on escape channels, and free to go up when it enters them.
    fn phase(bits: u32) -> u32 {
        if bits == ADAPTIVE { updown::UP } else { bits - 1 }
    }
}

impl Way for UpDown {
    fn classes(&self) -> u32 {
        1
    }

    fn steps(&self, at: RouterId, bits: u32, dst: RouterId, out: &mut Vec<Step>) {
        out.extend(UpDown::steps(self, at, Self::phase(bits), dst).map(|step| Step { bits: step.bits + 1, ..step }));
    }

    fn step(&self, at: RouterId, bits: u32, dst: RouterId, rng: &mut Rng) -> Step {
        let step = self.draw(at, Self::phase(bits), dst, rng);
        Step { bits: step.bits + 1, ..step }
    }
}

/// `duato`.
pub struct Duato<P> {
    paths: P,
    way: Box<dyn Way>,
    adaptive_class: u8,
}

/// The least occupied of `outputs` with a free VC of `class`; on a tie the first from a random one on.
#[inline(always)]
pub(super) fn least_occupied<V: View>(outputs: &[u16], class: u8, view: &V, rng: &mut Rng) -> Option<u16> {
    let is_free = |port: u16| view.has_free_vc(u32::from(port), class);
    if let [port] = outputs {
        return Some(*port).filter(|port| is_free(*port));
    }
    let (first, mut best) = (rng.below(outputs.len() as u32), u64::MAX);
    for (place, &port) in (0u32..).zip(outputs) {
        // Positions before the random one come after all others.
        let turn = place.wrapping_sub(first);
        let key = u64::from(view.occupancy(port.into())) << 32 | u64::from(turn);
        best = if is_free(port) { best.min(key) } else { best };
    }
    let place = (best as u32).wrapping_add(first) as usize;
    (best != u64::MAX).then(|| outputs[place])
}

/// The adaptive channels by themselves, in one class: a negative example for proofs.
struct AdaptiveAlone(TableMinimal);

impl Routing for AdaptiveAlone {
    fn classes(&self) -> u32 {
        1
    }

    fn moves(&self, at: RouterId, _state: PacketState, dst: RouterId, out: &mut Vec<Move>) {
        let hop = |&port: &u16| Move { port, class: 0, next: PacketState::direct(ADAPTIVE) };
        out.extend(self.0.outputs(at, dst).iter().map(hop));
    }

    fn choose<V: View>(&self, at: RouterId, _state: PacketState, dst: RouterId, view: &V, rng: &mut Rng) -> Move {
        let outputs = self.0.outputs(at, dst);
        let port = least_occupied(outputs, 0, view, rng).unwrap_or(outputs[0]);
        Move { port, class: 0, next: PacketState::direct(ADAPTIVE) }
    }

    fn unproved(&self) -> bool {
        true
    }
}

impl<P: MinimalPaths + 'static> Duato<P> {
    fn build(paths: P, way: impl Way + 'static) -> AnyRouting {
        AnyRouting::new(Self { paths, adaptive_class: way.classes() as u8, way: Box::new(way) })
    }
}

impl<P: MinimalPaths> Duato<P> {
    #[inline(always)]
    fn adaptive(&self, port: u16) -> Move {
        Move { port, class: self.adaptive_class, next: PacketState::direct(ADAPTIVE) }
    }
}

impl<P: MinimalPaths> Routing for Duato<P> {
    fn classes(&self) -> u32 {
        self.way.classes() + 1
    }

    fn moves(&self, at: RouterId, state: PacketState, dst: RouterId, out: &mut Vec<Move>) {
        if state.bits == ADAPTIVE {
            self.paths.with_outputs(at, dst, |ports| out.extend(ports.iter().map(|&port| self.adaptive(port))));
        }
        let mut steps = Vec::new();
        self.way.steps(at, state.bits, dst, &mut steps);
        out.extend(steps.into_iter().map(|step| hop(step, 0, NO_VIA)));
    }

    #[inline(always)]
    fn choose<V: View>(&self, at: RouterId, state: PacketState, dst: RouterId, view: &V, rng: &mut Rng) -> Move {
        let free = match state.bits {
            ADAPTIVE => {
                self.paths.with_outputs(at, dst, |outputs| least_occupied(outputs, self.adaptive_class, view, rng))
            }
            _ => None,
        };
        match free {
            Some(port) => self.adaptive(port),
            None => hop(self.way.step(at, state.bits, dst, rng), 0, NO_VIA),
        }
    }

    #[inline(always)]
    fn expect(&self, at: RouterId, _state: PacketState, dst: RouterId) {
        self.paths.expect(at, dst);
    }

    fn escape_classes(&self) -> u32 {
        self.way.classes()
    }

    fn decides_again(&self) -> Again {
        Again::Blocked
    }

    fn takes_whole_packets(&self, class: u8) -> bool {
        class == self.adaptive_class
    }
}
