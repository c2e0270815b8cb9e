//! Progressive adaptive routing on a dragonfly (Jiang, Kim and Dally, ISCA 2009): UGAL, decided again after a local hop
//! in the source group. On other networks the same after the first hop: see [`Late`].
//!
//! At the source it is decided at the front of the VC, and again while the head is blocked; at the second router once, when
//! the head arrives.
//!
//! The first hop's queue indicates little about the global links behind it. If all of these are full, as under uniform traffic at
//! full load where they are fewer than terminals, a packet that is blocked would turn away from one full link to another,
//! at some time, and take two of them instead of one. A detour is therefore made only if the minimal path's global link has
//! a longer backlog than the group's others have on average, by the same rule that compares the two first hops.
//! Where the minimal global link is, the backlog of the detour's counts as well. The routers of a group publish these
//! backlogs to each other every [`PERIOD`] cycles (after the piggybacking of the same paper).
//!
//! Past saturation all backlogs are long. If far more packets want the minimal global link than others, the group's backlogs
//! do not count, and a detour needs only the shorter one: see [`GlobalLinks::are_crowded`].
//!
//! Several links between two groups share what packets between these groups ask for: a detour over another one takes no
//! more global links. In its own group a packet may go over a third router, as a single link joins two (after the local
//! misrouting of García et al., *On-the-fly adaptive routing in high-radix hierarchical networks*, ICPP 2012).
//!
//! On a dragonfly, classes grow along every way: local 0 to the first exit, 1 to the exit of a detour taken late, 2 to
//! the intermediate router, 3 to the exit of its group, 4 to the destination; global [`GLOBAL`] in each phase.

use super::dragonfly::{DragonflyMinimal, FirstHop};
use super::global_links::GlobalLinks;
use super::minimal::{self, AnyMinimal, with_minimal};
use super::twophase::{self, BIAS, TwoPhase};
use super::{
    ANY_VIA, Again, AnyRouting, Availability, Looks, Minimal, Move, NO_VIA, PacketState, Routing, RoutingInfo, Step,
    View,
};
use crate::network::{Network, RouterId};
use crate::rng::Rng;

pub(super) const PAR: RoutingInfo = RoutingInfo {
    name: "par",
    summary: "progressive adaptive: ugal-l, decided again after a local hop in the source group; elsewhere after any first hop",
    offered: Availability::ByFamily,
    classes: "dragonfly 5 (5 local, 2 of them global); else 1 more than val",
    adapts: Some(true),
    keys: &[BIAS],
    build: |network, options| {
        let bias = options.count(BIAS.name);
        // A detour may begin anywhere.
        Ok(Some(match minimal::free_phase(network)? {
            AnyMinimal::Dragonfly(minimal) => AnyRouting::new(Progressive::new(minimal, network, bias)),
            AnyMinimal::TabledDragonfly(minimal) => AnyRouting::new(Progressive::new(minimal, network, bias)),
            any => {
                let options = twophase::Options { bias, trusts_free_outputs: true, ..twophase::Options::default() };
                let compares = network.any_structure().compares_global_links();
                let links = compares.then(|| GlobalLinks::new(network)).flatten();
                with_minimal!(any, m => AnyRouting::new(Late { two: TwoPhase::new(m, network, options), links }))
            }
        }))
    },
};

/// The classes of global links towards the intermediate router, and to the destination.
const GLOBAL: [u8; 2] = [1, 3];

/// Cycles from one publication of queues to the next.
const PERIOD: u32 = 10;

/// Where a packet is in flight: the bits of its state.
mod stage {
    /// Without a detour, in the source router.
    pub const FIRST: u32 = 0;
    /// Without a detour, after a local hop in the source group: the decision is open again.
    pub const OPEN: u32 = 1;
    /// From the intermediate router on.
    pub const SECOND: u32 = 2;
    /// In the destination's group.
    pub const LAST: u32 = 3;
    /// On a detour from the source router on.
    pub const DETOUR: u32 = 4;
    /// On a detour, elsewhere in the source group.
    pub const LATE: u32 = 5;
    /// In the intermediate router's group.
    pub const NEAR: u32 = 6;
    /// How many there may be, with one that there is not: a power of two.
    pub const ALL: usize = 8;
}

/// A packet makes a detour if the minimal path's backlog is longer than this many of the detour's, and a bias.
const DETOUR: u32 = 2;

/// `par` on a dragonfly.
pub struct Progressive<const TABLED: bool> {
    minimal: DragonflyMinimal<TABLED>,
    bias: u32,
    routers: u32,
}

impl<const TABLED: bool> Progressive<TABLED> {
    /// [`Progressive::classed`] of all stages, of each a local hop and a global one, the class in the lower byte: to look it up
    /// takes fewer instructions.
    const CLASSED: [u16; 2 * stage::ALL] = {
        let mut all = [0; 2 * stage::ALL];
        let mut hop = 0;
        while hop < all.len() {
            let (class, next) = Self::classed((hop / 2) as u32, hop % 2 > 0);
            all[hop] = class as u16 | (next as u16) << 8;
            hop += 1;
        }
        all
    };

    /// That over a minimal algorithm for a network, with this bias or the one that a dragonfly has by itself.
    pub(crate) fn new(minimal: DragonflyMinimal<TABLED>, network: &Network, bias: Option<u32>) -> Self {
        Self { bias: bias.unwrap_or(minimal.ugal().bias), minimal, routers: network.num_routers() as u32 }
    }

    /// The class of a hop that leaves `bits`, and the bits after it.
    const fn classed(bits: u32, global: bool) -> (u8, u32) {
        match (bits, global) {
            (stage::FIRST, false) => (0, stage::OPEN),
            (stage::DETOUR, false) => (0, stage::LATE),
            (stage::LATE, false) => (1, stage::LATE),
            (stage::NEAR, false) => (2, stage::NEAR),
            (stage::SECOND | stage::OPEN, false) => (3, stage::SECOND),
            (_, false) => (4, stage::LAST),
            (stage::DETOUR | stage::LATE, true) => (GLOBAL[0], stage::NEAR),
            (_, true) => (GLOBAL[1], stage::LAST),
        }
    }

    /// The hop for a minimal step that begins without bits: after it these are 1 if it is a global hop.
    #[inline(always)]
    fn hop(step: Step, bits: u32, via: u32) -> Move {
        debug_assert!(step.bits <= 1 && bits < stage::ALL as u32);
        let classed = Self::CLASSED[(2 * bits + step.bits) as usize % Self::CLASSED.len()];
        Move { port: step.port, class: classed as u8, next: PacketState { via, bits: (classed >> 8).into() } }
    }

    /// The packet's state once it has met its intermediate router.
    #[inline(always)]
    fn turned(at: RouterId, state: PacketState) -> PacketState {
        if state.via == at.0 { PacketState::direct(stage::SECOND) } else { state }
    }

    /// A router that a detour may lead over: one of a third group, or one of the destination's where another link leads to
    /// it. Within a group any other router.
    #[inline(always)]
    fn candidate(&self, at: RouterId, dst: RouterId, rng: &mut Rng) -> Option<RouterId> {
        let links = self.minimal.links();
        let within = self.minimal.same_group(at, dst);
        if !within && links.between(at, dst).len() < 2 {
            return self.minimal.candidate(at, dst, self.routers, rng);
        }
        let via = if within { self.minimal.in_group(at, rng) } else { RouterId(rng.below(self.routers)) };
        let leads_on = within || !self.minimal.same_group(at, via);
        (leads_on && via != at && via != dst).then_some(via)
    }

    /// True if the only minimal step of a packet at a router of the source group is so short that no detour is better: its
    /// backlog is no longer than the bias.
    #[inline(always)]
    fn is_short<V: View>(&self, step: Step, late: bool, view: &V) -> bool {
        view.backlog(step.port.into()) <= self.bias(late)
    }

    /// [`Progressive::detour`].
    #[inline(always)]
    fn drawn_detour<V: View>(
        &self,
        at: RouterId,
        dst: RouterId,
        late: bool,
        view: &V,
        rng: &mut Rng,
    ) -> Option<RouterId> {
        // Copies: what a function that is not inlined refers to is in memory from the start, whether it is called or not.
        let mut draws = *rng;
        let via = self.detour(at, dst, late, &view.copy(), &mut draws);
        *rng = draws;
        via
    }

    /// A detour from the second router is a local hop longer than one from the source.
    #[inline(always)]
    fn bias(&self, late: bool) -> u32 {
        self.bias + u32::from(late)
    }

    /// UGAL's decision at a router of the source group, at the source or a `late` one, where no step
    /// [is short](Progressive::is_short): the intermediate router of a detour, or none. For a short step no candidate is
    /// drawn, as no later draw depends on one.
    ///
    /// It compares backlogs: where minimal channels run at full load without waiting, as under a permutation that suits
    /// the network, what is under way in them is no reason for detours, which would fill other minimal channels in
    /// turn.
    // Not inlined: what arrives needs the registers.
    #[inline(never)]
    fn detour<V: View>(&self, at: RouterId, dst: RouterId, late: bool, view: &V, rng: &mut Rng) -> Option<RouterId> {
        let bias = self.bias(late);
        let via = self.candidate(at, dst, rng)?;
        // The first hops that `choose` will draw.
        let first_hop = |target| self.minimal.first_hop(at, target, &mut rng.clone());
        let (direct, hop) = (first_hop(dst), first_hop(via));
        if self.minimal.same_group(via, dst) {
            // A detour that takes no more global links than the minimal path; within a group two local ones instead of one.
            let ahead =
                |hop: FirstHop| view.backlog(hop.port.into()) + hop.exit.map_or(0, |link| view.published_backlog(link));
            let weight = if self.minimal.same_group(at, dst) { DETOUR } else { 1 };
            return (ahead(direct) > weight * ahead(hop) + bias).then_some(via);
        }
        // Then others wait for the minimal link as well, and what is shorter is better.
        let crowded = self.minimal.links().are_crowded(at, dst, view);
        let weight = if crowded { 1 } else { DETOUR };
        let is_longer = |own: u32, other: u32| own > weight * other + bias;
        let queue = view.backlog(direct.port.into());
        // Where the minimal global link is, that of the detour counts as well.
        let (own, beyond) = match (direct.exit, hop.exit) {
            (Some(link), _) => (view.published_backlog(link), 0),
            (None, Some(link)) => (queue, view.published_backlog(link)),
            (None, None) => (queue, 0),
        };
        if !is_longer(queue, view.backlog(hop.port.into()) + beyond) {
            return None;
        }
        let (_, others) = self.minimal.links().backlogs(at, dst, view)?;
        (crowded || is_longer(own, others)).then_some(via)
    }
}

impl<const TABLED: bool> Routing for Progressive<TABLED> {
    fn classes(&self) -> u32 {
        5
    }

    fn vcs(&self) -> u32 {
        2 * self.classes()
    }

    fn starts(&self, _src: RouterId, _dst: RouterId, out: &mut Vec<PacketState>) {
        out.extend([PacketState::direct(stage::FIRST), PacketState { via: ANY_VIA, bits: stage::DETOUR }]);
    }

    fn moves(&self, at: RouterId, state: PacketState, dst: RouterId, out: &mut Vec<Move>) {
        let state = Self::turned(at, state);
        let mut steps = Vec::new();
        self.minimal.steps(at, 0, state.target(dst), &mut steps);
        out.extend(steps.into_iter().map(|step| Self::hop(step, state.bits, state.via)));
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
        if !view.decides_again() {
            self.minimal.links().want(src, dst, view);
        }
        let direct = PacketState::direct(stage::FIRST);
        if let Some(step) = self.minimal.only_step(src, 0, dst)
            && self.is_short(step, false, view)
        {
            return (direct, Some(Self::hop(step, direct.bits, direct.via)));
        }
        let detour = self.drawn_detour(src, dst, false, view, rng);
        (detour.map_or(direct, |via| PacketState { via: via.0, bits: stage::DETOUR }), None)
    }

    #[inline(always)]
    fn choose<V: View>(&self, at: RouterId, state: PacketState, dst: RouterId, view: &V, rng: &mut Rng) -> Move {
        let mut state = Self::turned(at, state);
        debug_assert!(!view.is_blind() || state.bits != stage::OPEN, "those at their second router look");
        // At its destination it looks at no queue: there is no output to it.
        let settled = view.is_blind() || state.bits != stage::OPEN || at == dst;
        if !settled {
            if let Some(step) = self.minimal.only_step(at, 0, dst)
                && self.is_short(step, true, view)
            {
                return Self::hop(step, state.bits, state.via);
            }
            if let Some(via) = self.drawn_detour(at, dst, true, view, rng) {
                state = PacketState { via: via.0, bits: stage::LATE };
            }
        }
        // Of a packet that is settled `step` may draw where there is one step alone. The flow engine draws a whole path from one
        // stream: without that draw its results would be others.
        let step = self.minimal.step(at, 0, state.target(dst), rng);
        Self::hop(step, state.bits, state.via)
    }

    #[inline(always)]
    fn answers_at_destination(&self, fresh: bool) -> bool {
        !fresh && self.minimal.answers_at_target()
    }

    #[inline(always)]
    fn expect(&self, at: RouterId, state: PacketState, dst: RouterId) {
        self.minimal.expect(at, state.target(dst));
    }

    #[inline(always)]
    fn is_far(&self) -> bool {
        self.minimal.is_far()
    }

    #[inline(always)]
    fn draws(&self, _fresh: bool) -> bool {
        false
    }

    fn snapshot_period(&self) -> u32 {
        PERIOD
    }

    fn wants(&self) -> u32 {
        self.minimal.links().wants()
    }

    #[inline(always)]
    fn decides_again(&self) -> Again {
        // Not at the second router as well: a head that turned to whatever output is freed first would seldom wait, so the queue
        // behind it, which shows sources a full global link, would stay short; and packets of its router's terminals,
        // which compete with few others, would fill their destinations.
        Again::Revocable(1)
    }

    #[inline(always)]
    fn looks_in_transit(&self) -> Looks {
        Looks::AtSecond
    }

    fn diverts(&self, _at: RouterId, state: PacketState, _dst: RouterId, out: &mut Vec<PacketState>) {
        if state.via == NO_VIA && state.bits == stage::OPEN {
            out.push(PacketState { via: ANY_VIA, bits: stage::LATE });
        }
    }
}

/// `par` over any minimal algorithm: `ugal-l` whose packets on the minimal path weigh it again at the second router.
///
/// The first hop has a class of its own, those of `ugal-l` come after it, so classes grow along every path.
///
/// On a Dragonfly+ a packet to another group makes a detour only if the global links of its minimal paths have more than
/// twice the mean backlog of the group's others, or are crowded, for the reasons above.
pub struct Late<M> {
    two: TwoPhase<M, true>,
    links: Option<GlobalLinks>,
}

/// The packet is at its source.
const FIRST: u32 = 1;
/// It is at the second router of the minimal path: the decision is open again.
const OPEN: u32 = 2;
/// Bits below those of `ugal-l`: as few as these leave room for what carries a packet further, such as a cluster.
const FLAGS: u32 = 2;

impl<M: Minimal> Late<M> {
    /// True if a detour may pay.
    #[inline(always)]
    fn may_turn<V: View>(&self, at: RouterId, dst: RouterId, view: &V) -> bool {
        let backlogs = self.links.as_ref().and_then(|links| links.backlogs(at, dst, view));
        backlogs.is_none_or(|(minimal, others)| minimal > 2 * others + self.two.bias())
            || self.links.as_ref().is_some_and(|links| links.are_crowded(at, dst, view))
    }

    /// The state of `ugal-l`. Its bits may all be set, and stay so.
    #[inline(always)]
    fn inner(state: PacketState) -> PacketState {
        PacketState { bits: (state.bits as i32 >> FLAGS) as u32, ..state }
    }

    /// The state of this routing for one of `ugal-l`.
    #[inline(always)]
    fn outer(state: PacketState, flags: u32) -> PacketState {
        PacketState { bits: state.bits << FLAGS | flags, ..state }
    }

    /// The hop of `ugal-l` from `state` as one of this routing.
    #[inline(always)]
    fn shifted(state: PacketState, hop: Move) -> Move {
        if state.bits & FIRST == 0 {
            return Move { class: hop.class + 1, next: Self::outer(hop.next, 0), ..hop };
        }
        let open = if hop.next.via == NO_VIA { OPEN } else { 0 };
        Move { class: 0, next: Self::outer(hop.next, open), ..hop }
    }
}

impl<M: Minimal> Routing for Late<M> {
    fn classes(&self) -> u32 {
        1 + self.two.classes()
    }

    fn vcs(&self) -> u32 {
        2 * self.classes()
    }

    fn starts(&self, src: RouterId, dst: RouterId, out: &mut Vec<PacketState>) {
        let first = out.len();
        self.two.starts(src, dst, out);
        out[first..].iter_mut().for_each(|state| *state = Self::outer(*state, FIRST));
    }

    fn moves(&self, at: RouterId, state: PacketState, dst: RouterId, out: &mut Vec<Move>) {
        let first = out.len();
        self.two.moves(at, Self::inner(state), dst, out);
        out[first..].iter_mut().for_each(|hop| *hop = Self::shifted(state, *hop));
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
        if let Some(links) = self.links.as_ref().filter(|_| !view.decides_again()) {
            links.want(src, dst, view);
        }
        let stream = *rng;
        let (mut state, mut hop) = self.two.start_with_hop(src, dst, view, rng);
        if state.via != NO_VIA && !self.may_turn(src, dst, view) {
            *rng = stream;
            (state, hop) = (PacketState::direct(self.two.minimal().begin(rng)), None);
        }
        let state = Self::outer(state, FIRST);
        (state, hop.map(|hop| Self::shifted(state, hop)))
    }

    #[inline(always)]
    fn choose<V: View>(&self, at: RouterId, state: PacketState, dst: RouterId, view: &V, rng: &mut Rng) -> Move {
        let mut inner = Self::inner(state);
        debug_assert!(!view.is_blind() || state.bits & OPEN == 0, "those at their second router look");
        if !view.is_blind() && state.bits & OPEN != 0 && self.may_turn(at, dst, view) {
            let hop;
            (inner, hop) = self.two.weigh(at, dst, Some(inner.bits), view, rng);
            if let Some(hop) = hop {
                return Self::shifted(state, hop);
            }
        }
        Self::shifted(state, self.two.choose(at, inner, dst, view, rng))
    }

    #[inline(always)]
    fn expect(&self, at: RouterId, state: PacketState, dst: RouterId) {
        self.two.expect(at, Self::inner(state), dst);
    }

    #[inline(always)]
    fn is_far(&self) -> bool {
        self.two.is_far()
    }

    #[inline(always)]
    fn draws(&self, _fresh: bool) -> bool {
        // Most queues on minimal paths are short, and no detour is drawn: so it is at the second router, too, where most decide.
        false
    }

    #[inline(always)]
    fn eject_class(&self, state: PacketState) -> Option<u8> {
        self.two.eject_class(Self::inner(state)).map(|class| class + 1)
    }

    #[inline(always)]
    fn decides_again(&self) -> Again {
        Again::Revocable(2)
    }

    #[inline(always)]
    fn looks_in_transit(&self) -> Looks {
        Looks::AtSecond
    }

    fn follows_ports(&self) -> bool {
        self.two.follows_ports()
    }

    fn snapshot_period(&self) -> u32 {
        if self.links.is_some() { PERIOD } else { 0 }
    }

    fn wants(&self) -> u32 {
        self.links.as_ref().map_or(0, GlobalLinks::wants)
    }

    fn diverts(&self, _at: RouterId, state: PacketState, _dst: RouterId, out: &mut Vec<PacketState>) {
        if state.bits & OPEN != 0 {
            let detour = |bits| Self::outer(PacketState { via: ANY_VIA, bits }, 0);
            out.extend(self.two.minimal().begins().into_iter().map(detour));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::PortId;
    use crate::routing::Idle;
    use crate::topology;

    /// The backlog of the minimal path's output, and those that the group publishes of the minimal global link and of all
    /// others; all other outputs are free.
    struct Queues {
        minimal: (u32, u32),
        link: (PortId, u32),
        others: u32,
        /// The numbers of its pair of groups, and of the group with itself.
        numbers: [u32; 2],
        /// How many packets want the minimal global link, and each other one.
        wanted: (u32, u32),
    }

    impl View for Queues {
        fn copy(&self) -> Self {
            Self { ..*self }
        }

        fn occupancy(&self, port: u32) -> u32 {
            if port == self.minimal.0 { self.minimal.1 } else { 0 }
        }

        fn published(&self, port: PortId) -> u32 {
            if port == self.link.0 { self.link.1 } else { self.others }
        }

        fn wanted(&self, what: u32) -> u32 {
            // Packets within the group are counted, too.
            match self.numbers {
                [minimal, _] if minimal == what => self.wanted.0,
                [_, within] if within == what => 100,
                _ => self.wanted.1,
            }
        }

        fn interval(&self) -> u32 {
            0
        }

        fn free_vcs(&self, _port: u32, _class: u8) -> u32 {
            1
        }

        fn buffer(&self, _class: u8) -> u32 {
            8
        }
    }

    /// [`Queues::numbers`] of the links from a router's group to another's.
    fn numbers_of(par: &Progressive<false>, [at, dst]: [RouterId; 2]) -> [u32; 2] {
        let links = par.minimal.links();
        [dst, at].map(|router| links.pair(links.group(at), links.group(router)))
    }

    /// The detours that a hundred decisions at a router make.
    fn detours(par: &Progressive<false>, [at, dst]: [RouterId; 2], view: &Queues) -> usize {
        let decide = |seed: &u64| {
            let mut rng = Rng::stream(*seed, 0);
            par.choose(at, PacketState::direct(stage::OPEN), dst, view, &mut rng).next.via != NO_VIA
        };
        (0..100).filter(decide).count()
    }

    #[test]
    fn a_settled_packet_draws_what_its_minimal_step_draws() {
        let network = topology::build("dragonfly:a=8,h=3,p=2,g=8").expect("several links join two groups");
        let par = Progressive::new(DragonflyMinimal::new(&network).expect("it has groups"), &network, None);
        let pairs = network.routers().flat_map(|at| network.routers().map(move |dst| (at, dst)));
        let mut drawn_among_one = 0;
        for (at, dst) in pairs.filter(|(at, dst)| at != dst) {
            let [mut own, mut other] = [Rng::stream(at.0.into(), 0); 2];
            let hop = par.choose(at, PacketState::direct(stage::FIRST), dst, &Idle, &mut own);
            assert_eq!(hop.port, par.minimal.step(at, 0, dst, &mut other).port, "{at} {dst}");
            let next = own.bits();
            assert_eq!(next, other.bits(), "{at} {dst}");
            let is_alone = par.minimal.only_step(at, 0, dst).is_some();
            drawn_among_one += u32::from(is_alone && next != Rng::stream(at.0.into(), 0).bits());
        }
        assert!(drawn_among_one > 0);
    }

    #[test]
    fn where_all_global_links_are_full_none_is_left_for_another() {
        let network = topology::build("dragonfly:a=4,h=2,p=2").expect("a spec that works");
        let par = Progressive::new(DragonflyMinimal::new(&network).expect("it has groups"), &network, None);
        let at = RouterId(1);
        let first_hop = |dst: RouterId| par.minimal.first_hop(at, dst, &mut Rng::stream(1, 1));
        // The minimal global link is here, or at another router of the group.
        for here in [true, false] {
            let is_wanted =
                |dst: &RouterId| first_hop(*dst).exit.is_none() == here && !par.minimal.same_group(at, *dst);
            let dst = network.routers().find(is_wanted).expect("each router has global links");
            let port = par.minimal.only_step(at, 0, dst).expect("a single link joins two groups").port;
            let link = first_hop(dst).exit.unwrap_or(PortId(network.port_base(at) + u32::from(port)));
            let numbers = numbers_of(&par, [at, dst]);
            let wanted_by = |queue, own, others, wanted| {
                let minimal = (port.into(), queue);
                detours(&par, [at, dst], &Queues { minimal, link: (link, own), others, numbers, wanted })
            };
            let of = |queue, own, others| wanted_by(queue, own, others, (1, 1));
            assert!(of(50, 50, 0) > 50, "{here}: others are free");
            assert_eq!(of(50, 50, 50), 0, "{here}: others are as full");
            assert_eq!(of(50, 50, 26), 0, "{here}: a detour takes two of them");
            assert!(of(62, 62, 28) > 0, "{here}: the minimal link is none of the others");
            // Eight links: the mean is above a third of 4, and below one of 5.
            assert_eq!(wanted_by(50, 50, 45, (4, 1)), 0, "{here}: packets want others nearly as much");
            assert!(wanted_by(50, 50, 45, (5, 1)) > 0, "{here}: packets want the minimal link");
            let [less, more] = [45, 60].map(|others| wanted_by(50, 50, others, (5, 1)));
            assert!(more > 0, "{here}: backlogs of others do not matter");
            assert_eq!(less > more, here, "{here}: that of the detour's own link does, without a weight");
            assert_eq!(of(3, 50, 0), 0, "{here}: the first hop has no queue");
            assert_eq!(of(50, 3, 0) > 0, here, "the link behind another router has no queue");
        }
    }

    #[test]
    fn detours_are_made_within_a_group_and_over_other_links_between_two_groups() {
        for (spec, within) in [("dragonfly:a=4,h=2,p=2", true), ("dragonfly:a=4,h=2,p=2,g=2", false)] {
            let network = topology::build(spec).expect("a spec that works");
            let par = Progressive::new(DragonflyMinimal::new(&network).expect("it has groups"), &network, None);
            let at = RouterId(1);
            let has_one_way = |dst: &RouterId| {
                *dst != at && par.minimal.same_group(at, *dst) == within && par.minimal.only_step(at, 0, *dst).is_some()
            };
            for dst in network.routers().filter(has_one_way) {
                let port = par.minimal.only_step(at, 0, dst).expect("one output").port;
                let exit = par.minimal.first_hop(at, dst, &mut Rng::stream(1, 1)).exit;
                let link = (exit.unwrap_or(PortId(network.port_base(at) + u32::from(port))), 0);
                let numbers = numbers_of(&par, [at, dst]);
                let of = |queue| {
                    let minimal = (port.into(), queue);
                    detours(&par, [at, dst], &Queues { minimal, link, others: 0, numbers, wanted: (1, 1) })
                };
                assert_eq!(of(4), 0, "{spec} {dst}: the bias, and a hop more from here");
                assert!(of(5) > 20, "{spec} {dst}: other ways are free");
            }
        }
    }
}
