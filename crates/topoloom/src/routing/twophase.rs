//! `val` and `ugal-l` over any minimal algorithm.
//!
//! `val` (Valiant and Brebner, 1981): minimally to a random intermediate router, then minimally to the destination.
//! `ugal-l` (Singh, 2005): at the source router, the Valiant path only if the minimal one's first output has the longer
//! queue. Packets that UGAL sends minimally use the classes of the second phase, as BookSim's do.
//!
//! A packet decides when it comes to the front of its injection VC, and again, over another intermediate router, each
//! time that a VC is freed while it has none: one that has decided for a path that then fills up does not hold its
//! injection VC. A queue is what has been sent without a credit coming back and what waits in this router for the
//! output. With `rule=booksim` a packet decides once, when it arrives, and by what has been sent alone, as BookSim2's
//! do.

use super::booksim::BookSimUgal;
use super::min::hop;
use super::minimal::{self, AnyMinimal, with_minimal};
use super::table::TableMinimal;
use super::{
    ANY_VIA, Again, AnyRouting, Availability, Looks, Minimal, Move, NO_VIA, PacketState, Routing, RoutingInfo, Step,
    UgalRule, View, evenly,
};
use crate::catalogue::{Arguments, Key, Kind};
use crate::error::Result;
use crate::network::{Network, RouterId};
use crate::rng::Rng;

pub(super) const VAL: RoutingInfo = RoutingInfo {
    name: "val",
    summary: "Valiant: minimally to a random intermediate router, then minimally",
    offered: Availability::Anywhere,
    classes: "twice those of one phase; HyperX 2",
    adapts: Some(false),
    keys: &[Key::new(
        "via",
        Kind::Choice(&["other", "any"]),
        "other: neither source nor destination (default); any: any router, as in BookSim",
    )],
    build: |network, given| {
        let options = Options { any_via: given.choice("via") == "any", ..Options::default() };
        over_phases::<false>(network, options)
    },
};

/// UGAL's one key.
pub(super) const BIAS: Key = Key::new(
    "bias",
    Kind::Int(0, 1_000_000),
    "flits by which the detour must be better (default: HyperX 2, dragonfly 3, or 30 with rule=booksim, else 0)",
);

pub(super) const UGAL_L: RoutingInfo = RoutingInfo {
    name: "ugal-l",
    summary: "minimal if H_min q_min <= H_non q_non + bias at the source router, else the Valiant path",
    offered: Availability::Anywhere,
    classes: "as val",
    adapts: Some(true),
    keys: &[
        BIAS,
        Key::new(
            "rule",
            Kind::Choice(&["queue", "booksim"]),
            "queue: decided at the front and again while blocked, by all that waits for the output (default); booksim: once, \
             on arrival, by flits sent whose credits have not come back",
        ),
        Key::new(
            "vc",
            Kind::Choice(&["port", "hybrid", "discriminate"]),
            "port: compare the queues of outputs (default); hybrid: where both paths begin with one output, those of their \
             VCs (UGAL-L_VCH of Kim, Dally, Scott and Abts, 2008); discriminate: always those of their VCs (UGAL-L_VC)",
        ),
        Key::new(
            "vcs",
            Kind::Choice(&["own", "booksim"]),
            "own (default); booksim: the three VCs of BookSim's dragonfly, which can deadlock",
        ),
    ],
    build: |network, given| {
        let compare = match given.choice("vc") {
            "hybrid" => Compare::Hybrid,
            "discriminate" => Compare::Vcs,
            _ => Compare::Outputs,
        };
        let once = given.choice("rule") == "booksim";
        if once && compare != Compare::Outputs {
            return Err(given.mistake("rule=booksim compares outputs: leave vc out, or vc=port"));
        }
        let compare = if once { Compare::Sent } else { compare };
        let options = Options { bias: given.count(BIAS.name), compare, ..Options::default() };
        if given.choice("vcs") == "booksim" {
            return booksim_classes(network, given, options).map(Some);
        }
        over_phases::<true>(network, options)
    },
};

/// True if `val` takes any output on a shortest path in each of its phases, all equally likely.
pub(super) fn spreads_evenly(network: &Network) -> bool {
    minimal::closed_phase(network).is_none() && TableMinimal::is_possible(network)
}

fn booksim_classes(network: &Network, given: &Arguments, options: Options) -> Result<AnyRouting> {
    let minimal = match minimal::phase(network)? {
        AnyMinimal::Dragonfly(minimal) => minimal,
        AnyMinimal::TabledDragonfly(minimal) => minimal.untabled(),
        _ => return Err(given.mistake("vcs=booksim is the numbering of a dragonfly's VCs; this network has its own")),
    };
    Ok(AnyRouting::new(BookSimUgal(TwoPhase::new(minimal, network, options))))
}

fn over_phases<const ADAPTIVE: bool>(network: &Network, options: Options) -> Result<Option<AnyRouting>> {
    let phase = minimal::phase(network)?;
    Ok(Some(with_minimal!(phase, m => AnyRouting::new(TwoPhase::<_, ADAPTIVE>::new(m, network, options)))))
}

/// What users may choose about `val` and `ugal-l`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// UGAL's bias towards the minimal path in flits, instead of the family's.
    pub bias: Option<u32>,
    /// Valiant: any router may be the intermediate one, source and destination included (as in BookSim).
    pub any_via: bool,
    /// UGAL: what it compares.
    pub compare: Compare,
    /// UGAL weighs no detour where a packet leaves at once by a minimal output: see [`View::leaves_at_once`]. Not for packets
    /// that decide once: what they do not see, the channels behind that output, may be overloaded.
    pub trusts_free_outputs: bool,
}

/// What UGAL compares of two paths' first hops.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Compare {
    /// Flits sent through the outputs whose credits have not come back, once.
    Sent,
    /// The queues of the outputs.
    #[default]
    Outputs,
    /// Those of the VC classes.
    Vcs,
    /// Those of the VC classes if the output is the same.
    Hybrid,
}

/// The two phases that `val` and `ugal-l` share: classes [0, C) towards the intermediate router, [C, 2C) after.
pub struct TwoPhase<M, const ADAPTIVE: bool> {
    minimal: M,
    classes: u32,
    routers: u32,
    /// Those of them that have not failed.
    up: u32,
    rule: UgalRule,
    /// See [`Structure::bias_when_refused`](crate::network::Structure::bias_when_refused).
    refused: Option<u32>,
    /// The intermediate router may be the source or the destination: the packet then goes minimally.
    any_via: bool,
    compare: Compare,
    trusts_free_outputs: bool,
}

/// A first hop that UGAL considers.
struct Probe {
    /// The packet before it.
    state: PacketState,
    hop: Move,
    /// The stream as it stood before the hop was drawn: `choose`, continuing from there, draws the very same hop.
    stream: Rng,
}

/// A minimal path is taken if its queue by this weight is no longer than that of a detour by its own, and the bias.
#[derive(Clone, Copy)]
struct Standard {
    weight: u32,
    bias: u32,
    /// As for packets whose VC request has failed: a detour's queue has a weight of 1, too.
    refused: bool,
}

impl<M: Minimal, const ADAPTIVE: bool> TwoPhase<M, ADAPTIVE> {
    /// Over `minimal`, on its network.
    pub fn new(minimal: M, network: &Network, options: Options) -> Self {
        let (routers, up) = (network.num_routers() as u32, network.up_routers().count() as u32);
        let mut rule = minimal.ugal();
        let own = if options.compare == Compare::Sent { rule.bias_by_sent } else { rule.bias };
        rule.bias = options.bias.unwrap_or(own);
        Self {
            classes: minimal.classes(),
            rule,
            refused: network.any_structure().bias_when_refused(),
            minimal,
            routers,
            up,
            any_via: options.any_via,
            compare: options.compare,
            trusts_free_outputs: options.trusts_free_outputs,
        }
    }

    /// The way of each phase.
    pub fn minimal(&self) -> &M {
        &self.minimal
    }

    /// UGAL's bias towards the minimal path, in flits.
    pub fn bias(&self) -> u32 {
        self.rule.bias
    }

    /// The intermediate router of UGAL's candidate, if there is one.
    #[inline(always)]
    pub fn candidate(&self, src: RouterId, dst: RouterId, rng: &mut Rng) -> Option<RouterId> {
        if self.up < 3 {
            return None;
        }
        // As `up`, whose closure a compiler does not always inline: this is most of what some routings do for a packet.
        loop {
            let via = self.minimal.candidate(src, dst, self.routers, rng);
            if via.is_none_or(|via| self.minimal.reaches(src, via)) {
                return via;
            }
        }
    }

    /// Valiant's intermediate router; `None` sends the packet minimally.
    #[inline(always)]
    fn draw_via(&self, src: RouterId, dst: RouterId, rng: &mut Rng) -> Option<RouterId> {
        if self.any_via {
            let via = self.up(src, || Some(RouterId(rng.below(self.routers))));
            return via.filter(|&via| via != src && via != dst);
        }
        self.up(src, || self.minimal.intermediate(src, dst, self.routers, rng))
    }

    /// Draws until it is a router that has not failed; `None` if there is none but source and destination.
    #[inline(always)]
    fn up(&self, src: RouterId, mut draw: impl FnMut() -> Option<RouterId>) -> Option<RouterId> {
        if self.up < 3 {
            return None;
        }
        loop {
            let via = draw();
            if via.is_none_or(|via| self.minimal.reaches(src, via)) {
                return via;
            }
        }
    }

    /// The packet's state once it has met its intermediate router.
    #[inline(always)]
    fn turned(&self, at: RouterId, state: PacketState, rng: &mut Rng) -> PacketState {
        if state.via == at.0 { PacketState::direct(self.minimal.begin(rng)) } else { state }
    }

    /// A hop of the phase that `via` determines: packets on a minimal path use the classes of the second.
    #[inline(always)]
    pub(super) fn hop(&self, step: Step, via: u32) -> Move {
        hop(step, if via == NO_VIA { self.classes } else { 0 }, via)
    }

    /// Draws the first hop of a path over `via`, or to `dst` by [`NO_VIA`], which continues from `bits` if it has
    /// begun, by its `only` step if there is one.
    #[inline(always)]
    fn probe(
        &self,
        (src, dst): (RouterId, RouterId),
        via: u32,
        bits: Option<u32>,
        only: Option<Step>,
        rng: &mut Rng,
    ) -> Probe {
        let bits = bits.unwrap_or_else(|| self.minimal.begin(rng));
        let stream = *rng;
        let state = PacketState { via, bits };
        let step = only.unwrap_or_else(|| self.minimal.step(src, bits, state.target(dst), rng));
        Probe { state, hop: self.hop(step, via), stream }
    }

    /// The lengths of two hops' queues.
    #[inline(always)]
    fn queues<V: View>(&self, [a, b]: [Move; 2], view: &V) -> [u32; 2] {
        // Most often.
        if self.compare == Compare::Outputs {
            return [view.queue(a.port.into()), view.queue(b.port.into())];
        }
        self.other_queues([a, b], &view.copy())
    }

    /// The same, where they are not those of the outputs.
    // Not inlined, for the registers, and the table of a `match`.
    #[inline(never)]
    fn other_queues<V: View>(&self, hops: [Move; 2], view: &V) -> [u32; 2] {
        let [a, b] = hops;
        match self.compare {
            Compare::Sent => hops.map(|hop| view.occupancy(hop.port.into())),
            Compare::Vcs => hops.map(|hop| view.queue_of(hop.port.into(), hop.class)),
            Compare::Hybrid if a.port == b.port => hops.map(|hop| view.queue_of(hop.port.into(), hop.class)),
            Compare::Outputs | Compare::Hybrid => hops.map(|hop| view.queue(hop.port.into())),
        }
    }

    /// The bias towards the minimal path, whose output is `port`, of a head whose VC request failed, if it has another one.
    ///
    /// What a full link has in flight while nothing waits is no queue; on a long link it is more than the usual bias.
    #[inline(always)]
    fn bias_when_refused<V: View>(&self, port: u16, view: &V) -> Option<u32> {
        let bias = self.refused.filter(|_| view.decides_again())?;
        Some(bias.max(view.queue(port.into()) - view.backlog(port.into())))
    }

    /// How a packet weighs its minimal path, whose output is `port`, and whose `hops` may be known.
    #[inline(always)]
    fn standard<V: View>(&self, (src, dst): (RouterId, RouterId), hops: Option<u32>, port: u16, view: &V) -> Standard {
        if let Some(bias) = self.bias_when_refused(port, view) {
            return Standard { weight: 1, bias, refused: true };
        }
        // Not `map_or_else`, which a compiler does not always inline.
        let weight = match (self.rule.weights, hops) {
            (Some((minimal, _)), _) => minimal,
            (None, Some(hops)) => hops,
            (None, None) => self.minimal.hops(src, dst),
        };
        Standard { weight, bias: self.rule.bias, refused: false }
    }

    /// What the queue of the path over `via` is multiplied by.
    #[inline(always)]
    fn weight_over(&self, src: RouterId, dst: RouterId, via: RouterId) -> u32 {
        match self.rule.weights {
            Some((_, detour)) => detour,
            None => self.minimal.hops_over(src, via, dst),
        }
    }

    /// True if the minimal path, whose output is `port`, is taken whatever the queues.
    #[inline(always)]
    fn leaves_at_once<V: View>(&self, port: u16, view: &V) -> bool {
        self.trusts_free_outputs && view.leaves_at_once(port.into())
    }

    /// UGAL's decision between the minimal path, which continues from `bits` if it has begun, and the one over its candidate;
    /// and its first hop, if it is known.
    #[inline(always)]
    pub(super) fn weigh<V: View>(
        &self,
        src: RouterId,
        dst: RouterId,
        bits: Option<u32>,
        view: &V,
        rng: &mut Rng,
    ) -> (PacketState, Option<Move>) {
        // A minimal queue up to the bias is as good as any. No candidate is drawn for it, as long as no later draw depends on
        // one.
        let (only, hops) = self.minimal.only_step_and_hops(src, bits.unwrap_or_default(), dst);
        let mut standard = None;
        if let Some(Step { port, .. }) = only {
            if self.leaves_at_once(port, view) {
                return self.directly(bits, only, rng);
            }
            let known = self.standard((src, dst), hops, port, view);
            if known.weight * view.queue(port.into()) <= known.bias {
                return self.directly(bits, only, rng);
            }
            standard = Some(known);
        }
        match self.candidate(src, dst, rng) {
            Some(via) => self.decide((src, dst), (bits, only, standard), via, view, rng),
            None => self.directly(bits, only, rng),
        }
    }

    /// A packet on the minimal path, which continues from `bits` if it has begun; and its `only` step, if there is one.
    #[inline(always)]
    fn directly(&self, bits: Option<u32>, only: Option<Step>, rng: &mut Rng) -> (PacketState, Option<Move>) {
        let bits = bits.unwrap_or_else(|| self.minimal.begin(rng));
        (PacketState::direct(bits), only.map(|step| self.hop(step, NO_VIA)))
    }

    /// The same, with the candidate `via`; the minimal path continues from `bits`, by its `only` step, which it weighs by a
    /// `standard`.
    #[inline(always)]
    fn decide<V: View>(
        &self,
        (src, dst): (RouterId, RouterId),
        (bits, only, standard): (Option<u32>, Option<Step>, Option<Standard>),
        via: RouterId,
        view: &V,
        rng: &mut Rng,
    ) -> (PacketState, Option<Move>) {
        let only = if self.minimal.draws_only_steps() { None } else { only };
        let min = self.probe((src, dst), NO_VIA, bits, only, rng);
        let non = self.probe((src, dst), via.0, None, None, rng);
        let [q_min, q_non] = self.queues([min.hop, non.hop], view);
        let Standard { weight, bias, refused } = match standard {
            Some(known) => known,
            None => self.standard((src, dst), None, min.hop.port, view),
        };
        let weight_over = if refused { 1 } else { self.weight_over(src, dst, via) };
        let minimal = weight * q_min <= weight_over * q_non + bias;
        let taken = if minimal || self.leaves_at_once(min.hop.port, view) { min } else { non };
        *rng = taken.stream;
        (taken.state, Some(taken.hop))
    }
}

impl<M: Minimal, const ADAPTIVE: bool> Routing for TwoPhase<M, ADAPTIVE> {
    fn classes(&self) -> u32 {
        2 * self.classes
    }

    fn vcs(&self) -> u32 {
        let each = if ADAPTIVE { self.minimal.vcs_per_class() } else { 2 };
        each * self.classes()
    }

    fn starts(&self, _src: RouterId, _dst: RouterId, out: &mut Vec<PacketState>) {
        for bits in self.minimal.begins() {
            if ADAPTIVE || self.any_via || self.up < 3 {
                out.push(PacketState::direct(bits));
            }
            if self.up >= 3 {
                out.push(PacketState { via: ANY_VIA, bits });
            }
        }
    }

    fn moves(&self, at: RouterId, state: PacketState, dst: RouterId, out: &mut Vec<Move>) {
        let mut steps = Vec::new();
        if state.via == at.0 {
            for bits in self.minimal.begins() {
                self.minimal.steps(at, bits, dst, &mut steps);
            }
            out.extend(steps.into_iter().map(|step| self.hop(step, NO_VIA)));
        } else {
            self.minimal.steps(at, state.bits, state.target(dst), &mut steps);
            out.extend(steps.into_iter().map(|step| self.hop(step, state.via)));
        }
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
        if ADAPTIVE {
            return self.weigh(src, dst, None, view, rng);
        }
        let via = self.draw_via(src, dst, rng);
        (PacketState { via: via.map_or(NO_VIA, |v| v.0), bits: self.minimal.begin(rng) }, None)
    }

    #[inline(always)]
    fn expect(&self, at: RouterId, state: PacketState, dst: RouterId) {
        // A packet at its intermediate router turns.
        self.minimal.expect(at, if state.via == at.0 { dst } else { state.target(dst) });
    }

    #[inline(always)]
    fn is_far(&self) -> bool {
        self.minimal.is_far()
    }

    #[inline(always)]
    fn draws(&self, fresh: bool) -> bool {
        fresh || self.minimal.draws(false)
    }

    #[inline(always)]
    fn choose<V: View>(&self, at: RouterId, state: PacketState, dst: RouterId, _view: &V, rng: &mut Rng) -> Move {
        let state = self.turned(at, state, rng);
        let step = self.minimal.step(at, state.bits, state.target(dst), rng);
        self.hop(step, state.via)
    }

    #[inline(always)]
    fn answers_at_destination(&self, fresh: bool) -> bool {
        !fresh && self.minimal.answers_at_target()
    }

    #[inline(always)]
    fn decides_again(&self) -> Again {
        if ADAPTIVE && self.compare != Compare::Sent { Again::Revocable(1) } else { Again::Never }
    }

    #[inline(always)]
    fn looks_in_transit(&self) -> Looks {
        Looks::Nowhere
    }

    fn compares_classes(&self) -> bool {
        ADAPTIVE && matches!(self.compare, Compare::Vcs | Compare::Hybrid)
    }

    #[inline(always)]
    fn eject_class(&self, state: PacketState) -> Option<u8> {
        let offset = if state.via == NO_VIA { self.classes as u8 } else { 0 };
        self.minimal.eject_class(state.bits).map(|class| class + offset)
    }

    fn oblivious(&self) -> bool {
        !ADAPTIVE
    }

    fn takes_detours(&self) -> bool {
        true
    }

    fn spreads_evenly(&self) -> bool {
        !ADAPTIVE && self.minimal.spreads_evenly()
    }

    fn follows_ports(&self) -> bool {
        self.minimal.follows_ports()
    }

    fn likely_starts(&self, _src: RouterId, _dst: RouterId, out: &mut Vec<(f64, PacketState)>) {
        // Of all routers, two make no detour: the source and the destination.
        let direct = match (self.up, self.any_via) {
            (..3, _) => 1.0,
            (up, true) => 2.0 / f64::from(up),
            (_, false) => 0.0,
        };
        for (likely, bits) in evenly(self.minimal.begins()) {
            let starts = [(direct, NO_VIA), (1.0 - direct, ANY_VIA)].map(|(p, via)| (p * likely, via));
            let possible = starts.into_iter().filter(|(likely, _)| *likely > 0.0);
            out.extend(possible.map(|(likely, via)| (likely, PacketState { via, bits })));
        }
    }

    fn likely_moves(&self, at: RouterId, state: PacketState, dst: RouterId, out: &mut Vec<(f64, Move)>) {
        if state.via == at.0 {
            for (begins, bits) in evenly(self.minimal.begins()) {
                let visit = |likely, step| out.push((begins * likely, self.hop(step, NO_VIA)));
                self.minimal.likely_steps(at, bits, dst, visit);
            }
        } else {
            let visit = |likely, step| out.push((likely, self.hop(step, state.via)));
            self.minimal.likely_steps(at, state.bits, state.target(dst), visit);
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::network::PortId;
    use crate::rng::mix;
    use crate::{routing, topology};

    /// Of the flits in the queue of one output this many are in flight; other outputs have none.
    pub struct OneQueue {
        pub port: u32,
        pub queue: u32,
        pub in_flight: u32,
        /// A VC request has failed.
        pub again: bool,
    }

    impl View for OneQueue {
        fn copy(&self) -> Self {
            Self { ..*self }
        }

        fn occupancy(&self, port: u32) -> u32 {
            if port == self.port { self.queue } else { 0 }
        }

        fn backlog(&self, port: u32) -> u32 {
            if port == self.port { self.queue - self.in_flight } else { 0 }
        }

        fn published(&self, _port: PortId) -> u32 {
            unreachable!("a routing that reads what is here")
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

        fn decides_again(&self) -> bool {
            self.again
        }
    }

    /// Queues of few lengths, so that many are equal, by port and seed. An output has no free VC if the next one has no queue.
    pub struct Queues {
        pub seed: u64,
        /// They are shorter than this.
        pub below: u64,
    }

    impl View for Queues {
        fn copy(&self) -> Self {
            Self { ..*self }
        }

        fn occupancy(&self, port: u32) -> u32 {
            (mix(self.seed ^ mix(port.into())) % self.below) as u32
        }

        fn published(&self, _port: PortId) -> u32 {
            unreachable!("a routing that reads what is here")
        }

        fn interval(&self) -> u32 {
            0
        }

        fn free_vcs(&self, port: u32, _class: u8) -> u32 {
            u32::from(self.occupancy(port + 1) > 0)
        }

        fn buffer(&self, _class: u8) -> u32 {
            8
        }
    }

    #[test]
    fn a_hop_that_is_known_at_the_start_is_the_one_that_would_be_chosen() {
        for spec in ["hyperx:4x3,trunk=2", "hyperx:4x4", "dragonfly:a=4,h=2,p=2,g=5", "slimfly:q=5", "torus:4x4"] {
            let network = topology::build(spec).expect(spec);
            let phase = minimal::phase(&network).expect(spec);
            let (mut direct, mut detours) = (0, 0);
            with_minimal!(phase, m => {
                let ugal = TwoPhase::<_, true>::new(m, &network, Options::default());
                for seed in 0..400 {
                    let dst = RouterId(1 + seed as u32 % (network.num_routers() as u32 - 1));
                    let (view, mut rng) = (Queues { seed, below: 20 }, Rng::stream(seed, 1));
                    let mut other = rng;
                    let (state, hop) = ugal.start_with_hop(RouterId(0), dst, &view, &mut rng);
                    assert_eq!(state, ugal.start(RouterId(0), dst, &view, &mut other), "{spec}");
                    let Some(hop) = hop else { continue };
                    assert_eq!(hop, ugal.choose(RouterId(0), state, dst, &view, &mut other), "{spec}");
                    *(if state.via == NO_VIA { &mut direct } else { &mut detours }) += 1;
                }
            });
            assert!(direct > 10 && detours > 10, "{spec}: {direct} and {detours}");
        }
    }

    #[test]
    fn decisions_are_those_of_the_definition() {
        for spec in
            ["hyperx:4x4", "hyperx:4x3,trunk=2", "dragonfly:a=4,h=2,p=2", "dragonfly:a=4,h=2,p=2,g=5", "slimfly:q=5"]
        {
            let network = topology::build(spec).expect(spec);
            let mut taken = [0, 0];
            with_minimal!(minimal::phase(&network).expect(spec), m => {
                let ugal = TwoPhase::<_, true>::new(m, &network, Options::default());
                for seed in 0..3000 {
                    let src = RouterId((seed as u32 / 7) % network.num_routers() as u32);
                    let dst = RouterId((src.0 + 1 + seed as u32 % 13) % network.num_routers() as u32);
                    if src == dst {
                        continue;
                    }
                    let view = Queues { seed, below: 20 };
                    let [mut rng, mut draws] = [Rng::stream(seed, 1); 2];
                    let found = ugal.start(src, dst, &view, &mut rng).via;
                    // The candidate is drawn first, then the first hop of each path.
                    let expected = ugal.candidate(src, dst, &mut draws).filter(|&via| {
                        let mut queue = |to| {
                            let step = ugal.minimal.step(src, 0, to, &mut draws);
                            view.queue(step.port.into())
                        };
                        let (short, long) = (queue(dst), queue(via));
                        let hops = |from, to| ugal.minimal.hops(from, to);
                        let all = (hops(src, dst), hops(src, via) + hops(via, dst));
                        let weights = ugal.rule.weights.unwrap_or(all);
                        weights.0 * short > weights.1 * long + ugal.bias()
                    });
                    assert_eq!(found, expected.map_or(NO_VIA, |via| via.0), "{spec} {seed}");
                    taken[usize::from(found != NO_VIA)] += 1;
                }
            });
            assert!(taken.into_iter().all(|times| times > 100), "{spec} {taken:?}");
        }
    }

    #[test]
    fn a_head_that_was_refused_weighs_both_queues_alike() {
        let network = topology::build("slimfly:q=5,p=2").expect("a spec that works");
        let bias = network.any_structure().bias_when_refused().expect("it has one");
        let ugal = TwoPhase::<_, true>::new(TableMinimal::new(&network).expect("small"), &network, Options::default());
        let (src, mut taken) = (RouterId(0), [0, 0]);
        for seed in 0..2000 {
            // One that a single minimal path leads to.
            let dst = RouterId(1 + seed as u32 % (network.num_routers() as u32 - 1));
            let Some(step) = ugal.minimal.only_step(src, 0, dst) else { continue };
            let view = BlockedHead(Queues { seed, below: 40 });
            let [mut rng, mut draws] = [Rng::stream(seed, 1); 2];
            let found = ugal.start(src, dst, &view, &mut rng).via;
            let queue = view.queue(step.port.into());
            let via = ugal.candidate(src, dst, &mut draws).expect("of many routers");
            let over = view.queue(ugal.minimal.step(src, 0, via, &mut draws).port.into());
            // The packet itself belongs to no queue here.
            let expected = if queue > over + bias { via.0 } else { NO_VIA };
            assert_eq!(found, expected, "{seed}: {queue} and {over}");
            taken[usize::from(found != NO_VIA && over > bias)] += 1;
        }
        assert!(taken.into_iter().all(|times| times > 20), "{taken:?}");
    }

    /// [`Queues`], of a head whose VC request failed.
    struct BlockedHead(Queues);

    impl View for BlockedHead {
        fn copy(&self) -> Self {
            Self(self.0.copy())
        }

        fn occupancy(&self, port: u32) -> u32 {
            self.0.occupancy(port)
        }

        fn published(&self, port: PortId) -> u32 {
            self.0.published(port)
        }

        fn interval(&self) -> u32 {
            self.0.interval()
        }

        fn free_vcs(&self, port: u32, class: u8) -> u32 {
            self.0.free_vcs(port, class)
        }

        fn buffer(&self, class: u8) -> u32 {
            self.0.buffer(class)
        }

        fn decides_again(&self) -> bool {
            true
        }
    }

    #[test]
    fn a_packet_leaves_at_once_where_nothing_waits_unless_it_has_waited() {
        let leaves = |queue, again| OneQueue { port: 3, queue, in_flight: 5, again }.leaves_at_once(3);
        assert_eq!([leaves(5, false), leaves(6, false), leaves(5, true), leaves(6, true)], [true, false, false, false]);
    }

    #[test]
    fn what_a_long_link_has_in_flight_is_no_queue() {
        let network = topology::build("slimfly:q=5,p=2").expect("a spec that works");
        let routing = routing::build(&network, "ugal-l").expect("offered");
        let (port, dst) = network.neighbors(RouterId(0)).next().expect("it has links");
        let detours = |queue, in_flight| {
            let view = OneQueue { port, queue, in_flight, again: true };
            let starts = |seed| routing.start(RouterId(0), dst, &view, &mut Rng::stream(seed, 0)).via != NO_VIA;
            (0..50).filter(|seed| starts(*seed)).count()
        };
        assert_eq!([detours(8, 0), detours(8, 8), detours(100, 100)], [0, 0, 0]);
        assert!(detours(9, 0) > 40, "longer than the bias");
        assert!(detours(201, 100) > 40, "longer than what is in flight");
    }
}
