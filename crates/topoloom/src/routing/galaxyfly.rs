//! The routings of Galaxyfly (Lei, Dong and Liao, IEEE TPDS 2022, section 4): `min` from supernode to supernode, and
//! its adaptive companions `nar`, `nal` and `nag`.
//!
//! `min`: within a supernode one local hop; to a neighbouring one [local] global [local]; to any other over a common
//! neighbour, [local] global [local] global [local]. Of several common neighbours one of those that need the fewest
//! hops between routers, or with `common=random` any. That is not always a shortest path: two global links in a row,
//! over another supernode, can be shorter than local, global, local.
//!
//! The others decide once, at the source router, between that path and one other that is drawn: with Q the flits in the
//! buffer behind an output and in flight to it, the other is taken if Q' < th-nonmin Q and Q > th-min times that
//! buffer.
//!
//! - `nar`: between neighbours of one cluster, over a common neighbour in it;
//! - `nal`: first one local hop, to any other router of the source's supernode, then minimally from there;
//! - `nag`: first to any neighbouring supernode, then minimally from there, not back over the source's.
//!
//! Everything is decided at the source: a packet carries the links that it will take between supernodes.
//!
//! VC classes: the number g of global hops taken, on both kinds of links. With `nal` the first local hops within the
//! source's supernode are 0 and 1, later ones 1 + g. So classes never fall along a path, and of the hops of one class
//! the local one comes first. Numbering the hops of each kind of link from 0 on, which the paper suggests, is cyclic: a
//! packet that needs no local hop where another does counts on otherwise.

use std::cell::RefCell;
use std::hint::select_unpredictable;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{Again, AnyRouting, Availability, Looks, Move, PacketState, Routing, RoutingInfo, View};
use crate::catalogue::{Arguments, Key, Kind};
use crate::error::{Error, Result};
use crate::network::{LinkClass, Network, Peer, RouterId};
use crate::rng::Rng;
use crate::topology::{Galaxy, Galaxyfly, Over, Wiring};

/// The key of all four.
pub(super) const COMMON: Key = Key::new(
    "common",
    Kind::Choice(&["best", "random"]),
    "Galaxyfly: the common neighbour of two supernodes that are not joined: best, one of those with the fewest hops \
     between routers (default); random, any",
);

const THRESHOLDS: [Key; 3] = [
    Key::new(
        "th-min",
        Kind::Real(0.0, 1.0),
        "the part of the buffer that the minimal path's first output must hold for a detour (default 0.8)",
    ),
    Key::new(
        "th-nonmin",
        Kind::Real(0.0, 1000.0),
        "the part of that which the detour's first output may hold (default 0.5)",
    ),
    COMMON,
];

pub(super) const NAR: RoutingInfo = RoutingInfo {
    name: "nar",
    summary: "Galaxyfly's non-minimal random link: between neighbours of a cluster, perhaps over a common neighbour",
    offered: Availability::ByFamily,
    classes: "as min: 3 (3 local, 2 global)",
    adapts: Some(true),
    keys: &THRESHOLDS,
    build: |network, options| Adaptive::build(network, options, Detours::Link),
};

pub(super) const NAL: RoutingInfo = RoutingInfo {
    name: "nal",
    summary: "Galaxyfly's non-minimal local link: minimal, perhaps after one more local hop in the source's supernode",
    offered: Availability::ByFamily,
    classes: "4 (4 local, 2 global)",
    adapts: Some(true),
    keys: &THRESHOLDS,
    build: |network, options| Adaptive::build(network, options, Detours::Local),
};

pub(super) const NAG: RoutingInfo = RoutingInfo {
    name: "nag",
    summary: "Galaxyfly's non-minimal global link: minimal, perhaps after a hop to any neighbouring supernode",
    offered: Availability::ByFamily,
    classes: "4 (4 local, 3 global)",
    adapts: Some(true),
    keys: &THRESHOLDS,
    build: |network, options| Adaptive::build(network, options, Detours::Global),
};

/// `min` on an intact Galaxyfly; `None` on any other network.
///
/// # Errors
/// [`Error::TooLarge`] beyond what a packet can carry, and for a value of `common` that is none.
pub(super) fn minimal(network: &Network, options: &Arguments) -> Result<Option<AnyRouting>> {
    Ok(Ways::new(network, options)?.map(|ways| AnyRouting::new(Minimal(ways))))
}

/// True if a network has [`minimal`], or is too large for it.
pub(super) fn has_ways(network: &Network) -> bool {
    network.structure::<Galaxyfly>().is_some()
}

/// What a packet carries: global hops taken, and the links to take next.
///
/// From the lowest bit on: the number of global hops (2 bits); one more than the link that it takes out of the
/// supernode where it is, as [`Galaxy`] counts it, or 0 where that follows from the destination (15 bits); the same for
/// the supernode after that one, or with `nal` where it is in the source's supernode, see [`Plan::AHEAD`] (15 bits).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Plan(u32);

impl Plan {
    /// The largest number that 15 bits hold, less 2.
    const MOST: u32 = (1 << 15) - 3;
    /// `nal`: the packet has had its local hop.
    const BEHIND: u32 = 1;
    /// `nal`: the packet goes to router r of the supernode first: AHEAD + r.
    const AHEAD: u32 = 2;

    #[inline(always)]
    fn new(link: Option<u32>, then: u32) -> Self {
        Self((link.map_or(0, |link| link + 1) << 2) | (then << 17))
    }

    #[inline(always)]
    fn taken(self) -> u32 {
        self.0 & 3
    }

    /// One more than the link that it takes next, or 0.
    #[inline(always)]
    fn link_number(self) -> u32 {
        (self.0 >> 2) & 0x7FFF
    }

    fn link(self) -> Option<u32> {
        self.link_number().checked_sub(1)
    }

    #[inline(always)]
    fn then(self) -> u32 {
        self.0 >> 17
    }

    /// After a global hop.
    #[inline(always)]
    fn across(self) -> Self {
        Self((self.taken() + 1) | (self.then() << 2))
    }
}

/// A link between supernodes as seen from one: which of its routers has it, and the output there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Gate {
    router: u16,
    port: u16,
}

/// A way from a supernode to another over one that both are joined with: the link that it takes first, the router that has
/// that link, the router at its end, and whether it takes a local hop between its two links.
#[derive(Debug, Clone, Copy)]
struct Way {
    link: u32,
    leaves: u32,
    arrives: u32,
    turns: bool,
}

/// All of those from one supernode to another, of one [`Ways`].
struct Between {
    of: (u64, u32, u32),
    ways: Vec<Way>,
}

thread_local! {
    /// What was found last: what asks of all pairs of routers asks of those of two supernodes one after the other.
    static BETWEEN: RefCell<Between> = const { RefCell::new(Between { of: (0, 0, 0), ways: Vec::new() }) };
}

/// Where a router is: its supernode, and that one's cluster and label.
#[derive(Debug, Clone, Copy)]
struct Place {
    supernode: u32,
    parts: (u32, u32),
}

/// All paths between supernodes.
struct Ways {
    galaxy: Arc<Galaxy>,
    a: u32,
    p: u32,
    degree: u32,
    places: Vec<Place>,
    /// The gates of all supernodes, one after the other, by link; those of one where they are the same in all: that much less
    /// memory is looked at.
    gates: Vec<Gate>,
    /// How many of them a supernode has of its own.
    row: u32,
    /// The routers at the other ends of the links of all supernodes.
    peers: Vec<u32>,
    /// Any common neighbour, not only the best.
    any_common: bool,
    /// The numbers of links follow from those of ports: see [`Routing::follows_ports`].
    by_ports: bool,
    /// None other in this process has it.
    id: u64,
}

impl Ways {
    fn new(network: &Network, options: &Arguments) -> Result<Option<Self>> {
        let Some(own) = network.structure::<Galaxyfly>() else { return Ok(None) };
        let (galaxy, a) = (Arc::clone(&own.galaxy), own.a);
        // With one router a supernode, all common neighbours are as far.
        let any_common = options.choice(COMMON.name) == "random" || a == 1;
        let degree = galaxy.degree();
        if degree.max(a) > Plan::MOST {
            return Err(Error::TooLarge(format!(
                "{} has {degree} links and {a} routers per supernode; its routings can number {}",
                network.spec(),
                Plan::MOST
            )));
        }
        let place = |router: RouterId| {
            let supernode = own.supernode(router);
            Place { supernode, parts: galaxy.parts(supernode) }
        };
        let places: Vec<Place> = network.routers().map(place).collect();
        let links = galaxy.supernodes() as usize * degree as usize;
        // Where there is no link, a last hop looks at a gate all the same.
        let (mut gates, mut peers) = (vec![Gate { router: 0, port: 0 }; links.max(1)], vec![0; links]);
        for router in network.routers() {
            let here = places[router.index()];
            for (port, at) in network.ports_of(router).iter().enumerate() {
                let (LinkClass::Global, Peer::Port(peer)) = (at.class, at.peer) else { continue };
                let peer = network.ports()[peer.index()].router;
                let link = galaxy.link(here.parts, places[peer.index()].parts).expect("links join neighbours");
                let place = (here.supernode * degree + link) as usize;
                gates[place] = Gate { router: (router.0 - here.supernode * a) as u16, port: port as u16 };
                peers[place] = peer.0;
            }
        }
        let mut row = degree;
        if degree > 0 && gates.chunks(degree as usize).all(|of_supernode| *of_supernode == gates[..degree as usize]) {
            gates.truncate(degree as usize);
            row = 0;
        }
        /// None has been given yet; 0 is no one's.
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        // Of three routers or more, the ports of local links state which is which. Where they do not, or where links are
        // counted otherwise, packets are the same but for the numbers that they carry.
        let by_ports = a != 2 && matches!(own.wiring, Wiring::G | Wiring::RoundRobin);
        Ok(Some(Self { galaxy, a, p: own.p, degree, places, gates, row, peers, any_common, by_ports, id }))
    }

    #[inline(always)]
    fn place(&self, router: RouterId) -> Place {
        self.places[router.index()]
    }

    #[inline(always)]
    fn gate(&self, supernode: u32, link: u32) -> Gate {
        self.gates[(supernode * self.row + link) as usize]
    }

    /// The router behind a link of a supernode.
    #[inline(always)]
    fn behind(&self, supernode: u32, link: u32) -> RouterId {
        RouterId(self.peers[(supernode * self.degree + link) as usize])
    }

    /// The router of a supernode that has a link.
    #[inline(always)]
    fn router(&self, supernode: u32, link: u32) -> u32 {
        supernode * self.a + u32::from(self.gate(supernode, link).router)
    }

    /// A path from one supernode to another over a third by the routers on it.
    #[inline(always)]
    fn way(&self, from: u32, to: u32, Over { middle, first, second }: Over) -> Way {
        let turns = self.router(middle, first[1]) != self.router(middle, second[0]);
        Way { link: first[0], leaves: self.router(from, first[0]), arrives: self.router(to, second[1]), turns }
    }

    /// True if `min` needs no common neighbour between two routers.
    #[inline(always)]
    fn near(&self, here: Place, there: Place) -> bool {
        here.supernode == there.supernode || self.galaxy.link(here.parts, there.parts).is_some()
    }

    /// Calls `visit` with each link from the supernode of `at` to one that it has in common with that of `to`, `except`
    /// that one, and with what it costs.
    #[inline(always)]
    fn common(&self, at: RouterId, to: RouterId, except: Option<u32>, mut visit: impl FnMut(u32, u32)) {
        let (here, there) = (self.place(at), self.place(to));
        self.galaxy.common(here.parts, there.parts, |over| {
            if Some(over.first[0]) != except {
                visit(over.first[0], self.cost(&self.way(here.supernode, there.supernode, over), at, to));
            }
        });
    }

    /// What a path between the supernodes of two routers costs: the hops of it all, less two, or nothing where any will do.
    #[inline(always)]
    fn cost(&self, way: &Way, at: RouterId, to: RouterId) -> u32 {
        let hops = u32::from(way.leaves != at.0) + u32::from(way.turns) + u32::from(way.arrives != to.0);
        if self.any_common { 0 } else { hops }
    }

    /// Calls `visit` with each link by which `min` may leave the supernode of `at` towards `to` over a common
    /// neighbour, `except` that one; or with nothing where it needs no such neighbour.
    fn links(&self, at: RouterId, to: RouterId, except: Option<u32>, mut visit: impl FnMut(Option<u32>)) {
        if self.near(self.place(at), self.place(to)) {
            return visit(None);
        }
        BETWEEN.with_borrow_mut(|between| {
            self.find_between(self.place(at).supernode, self.place(to).supernode, between);
            let cost = |way: &Way| {
                if Some(way.link) == except { u32::MAX } else { self.cost(way, at, to) }
            };
            let least = between.ways.iter().map(cost).min().filter(|least| *least != u32::MAX);
            let best = between.ways.iter().filter(|way| Some(cost(way)) == least);
            best.for_each(|way| visit(Some(way.link)));
        });
    }

    /// Finds all paths from one supernode to another that it is not joined with, unless these were found last.
    fn find_between(&self, from: u32, to: u32, between: &mut Between) {
        if between.of == (self.id, from, to) {
            return;
        }
        between.of = (self.id, from, to);
        between.ways.clear();
        let [here, there] = [from, to].map(|supernode| self.galaxy.parts(supernode));
        self.galaxy.common(here, there, |over| between.ways.push(self.way(from, to, over)));
    }

    /// Links to common neighbours of which the best are most often not more: to look for these again takes longer than to keep
    /// them.
    const FEW: usize = 16;

    /// Draws one of `links`; `None` if there is none.
    #[inline(always)]
    fn draw(&self, at: RouterId, to: RouterId, except: Option<u32>, rng: &mut Rng) -> Option<Option<u32>> {
        let (here, there) = (self.place(at), self.place(to));
        if self.near(here, there) {
            return Some(None);
        }
        // Those that cost least: how many they are, and the first ones, with a place for what does not count.
        let (mut least, mut count, mut first) = (u32::MAX, 0, [0; Self::FEW + 1]);
        if self.any_common {
            least = 0;
            let except = except.unwrap_or(u32::MAX);
            self.galaxy.candidates(here.parts, there.parts, |link, common| {
                first[(count as usize).min(Self::FEW)] = link;
                count += u32::from(common & (link != except));
            });
        } else {
            self.common(at, to, except, |link, cost| {
                if cost < least {
                    (least, count) = (cost, 0);
                }
                if cost == least {
                    first[(count as usize).min(Self::FEW)] = link;
                    count += 1;
                }
            });
        }
        let mut left = match count {
            0 => return None,
            1 => 0,
            _ => rng.below(count),
        };
        if (left as usize) < Self::FEW {
            return Some(Some(first[left as usize]));
        }
        let mut drawn = None;
        self.common(at, to, except, |link, cost| {
            if cost == least {
                drawn = drawn.or((left == 0).then_some(link));
                left = left.wrapping_sub(1);
            }
        });
        Some(drawn)
    }

    /// The output to router number `to` of the own supernode.
    #[inline(always)]
    fn local(&self, at: RouterId, to: u32) -> u16 {
        let own = at.0 - self.place(at).supernode * self.a;
        (self.p + to - u32::from(to > own)) as u16
    }

    /// The next hop of a plan: its output, whether it is global, and the plan after it. Without branches, of which many would be
    /// mispredicted. It may be asked at the destination as well.
    #[inline(always)]
    fn next(&self, at: RouterId, plan: Plan, to: RouterId) -> (u16, bool, Plan) {
        let (here, there) = (self.place(at), self.place(to));
        let first = here.supernode * self.a;
        let planned = plan.link_number();
        let last = (planned == 0) & (here.supernode == there.supernode);
        let direct = self.galaxy.link_to_neighbor(here.parts, there.parts);
        let leads_on = || planned > 0 || self.galaxy.link(here.parts, there.parts) == Some(direct);
        debug_assert!(last || leads_on(), "the plan leads to a neighbour");
        let link = select_unpredictable(planned == 0, direct, planned.wrapping_sub(1));
        let gate = self.gate(here.supernode, select_unpredictable(last, 0, link));
        let router = select_unpredictable(last, to.0.wrapping_sub(first), gate.router.into());
        let leaves = !last & (first + router == at.0);
        let port = select_unpredictable(leaves, gate.port, self.local(at, router));
        (port, leaves, Plan(select_unpredictable(leaves, plan.across().0, plan.0)))
    }

    /// The most global hops of a minimal path.
    fn diameter(&self) -> u32 {
        match (self.galaxy.supernodes(), self.degree + 1) {
            (1, _) => 0,
            (all, near) if all == near => 1,
            _ => 2,
        }
    }

    /// VC classes where all paths have at most that many global hops.
    fn classes(&self, globals: u32) -> u32 {
        (globals + u32::from(self.a > 1)).max(1)
    }
}

/// `min`.
pub struct Minimal(Ways);

impl Minimal {
    #[inline(always)]
    fn hop(&self, at: RouterId, state: PacketState, dst: RouterId) -> Move {
        let plan = Plan(state.bits);
        let (port, _, next) = self.0.next(at, plan, dst);
        Move { port, class: plan.taken() as u8, next: PacketState::direct(next.0) }
    }
}

impl Routing for Minimal {
    fn classes(&self) -> u32 {
        self.0.classes(self.0.diameter())
    }

    fn starts(&self, src: RouterId, dst: RouterId, out: &mut Vec<PacketState>) {
        self.0.links(src, dst, None, |link| out.push(PacketState::direct(Plan::new(link, 0).0)));
    }

    fn moves(&self, at: RouterId, state: PacketState, dst: RouterId, out: &mut Vec<Move>) {
        out.push(self.hop(at, state, dst));
    }

    #[inline(always)]
    fn start<V: View>(&self, src: RouterId, dst: RouterId, _view: &V, rng: &mut Rng) -> PacketState {
        let link = self.0.draw(src, dst, None, rng).expect("the Galaxy graph has diameter 2");
        PacketState::direct(Plan::new(link, 0).0)
    }

    #[inline(always)]
    fn choose<V: View>(&self, at: RouterId, state: PacketState, dst: RouterId, _view: &V, _rng: &mut Rng) -> Move {
        self.hop(at, state, dst)
    }

    #[inline(always)]
    fn answers_at_destination(&self, fresh: bool) -> bool {
        !fresh
    }

    fn oblivious(&self) -> bool {
        true
    }

    fn follows_ports(&self) -> bool {
        self.0.by_ports
    }

    fn likely_moves(&self, at: RouterId, state: PacketState, dst: RouterId, out: &mut Vec<(f64, Move)>) {
        out.push((1.0, self.hop(at, state, dst)));
    }
}

/// What kind of detour an adaptive routing takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Detours {
    /// `nar`.
    Link,
    /// `nal`.
    Local,
    /// `nag`.
    Global,
}

/// `nar`, `nal` and `nag`.
pub struct Adaptive {
    ways: Ways,
    detours: Detours,
    /// The first links of `nar`'s detours, by the difference of two labels.
    common: Vec<Vec<u32>>,
    th_min: f64,
    th_nonmin: f64,
}

impl Adaptive {
    fn build(network: &Network, options: &Arguments, detours: Detours) -> Result<Option<AnyRouting>> {
        let th_min = options.real("th-min").unwrap_or(0.8);
        let th_nonmin = options.real("th-nonmin").unwrap_or(0.5);
        Ok(Ways::new(network, options)?.map(|ways| {
            let common = if detours == Detours::Link { ways.galaxy.detours() } else { Vec::new() };
            AnyRouting::new(Self { ways, detours, common, th_min, th_nonmin })
        }))
    }

    /// The first links of `nar`'s detours.
    fn links(&self, src: RouterId, dst: RouterId) -> &[u32] {
        let (here, there) = (self.ways.place(src).parts, self.ways.place(dst).parts);
        if here.0 != there.0 {
            return &[];
        }
        &self.common[self.ways.galaxy.difference(here.1, there.1) as usize]
    }

    /// The number of things that a detour is drawn from.
    fn draws(&self, src: RouterId, dst: RouterId) -> u32 {
        match self.detours {
            Detours::Link => self.links(src, dst).len() as u32,
            Detours::Local => self.ways.a,
            Detours::Global if self.ways.place(src).supernode == self.ways.place(dst).supernode => 0,
            Detours::Global => self.ways.degree,
        }
    }

    /// Where detour number `drawn` begins its minimal part, and what is left out there; `None` if it is no detour.
    fn turn(&self, src: RouterId, dst: RouterId, drawn: u32) -> Option<(RouterId, Option<u32>)> {
        let here = self.ways.place(src).supernode;
        match self.detours {
            Detours::Link => None,
            Detours::Local => {
                let router = RouterId(here * self.ways.a + drawn);
                (router != src && router != dst).then_some((router, None))
            }
            Detours::Global => {
                let arrived = self.ways.behind(here, drawn);
                let back = self.ways.galaxy.back(here, drawn);
                let there = self.ways.place(dst).supernode;
                (self.ways.place(arrived).supernode != there).then_some((arrived, Some(back)))
            }
        }
    }

    /// The plan of a detour whose minimal part takes `link` first.
    fn plan(&self, src: RouterId, dst: RouterId, drawn: u32, link: Option<u32>) -> Plan {
        match self.detours {
            Detours::Link => Plan::new(Some(self.links(src, dst)[drawn as usize]), 0),
            Detours::Local => Plan::new(link, Plan::AHEAD + drawn),
            Detours::Global => Plan::new(Some(drawn), link.map_or(0, |link| link + 1)),
        }
    }

    /// Draws a detour; `None` if what was drawn is none.
    fn detour(&self, src: RouterId, dst: RouterId, rng: &mut Rng) -> Option<Plan> {
        let draws = self.draws(src, dst);
        if draws == 0 {
            return None;
        }
        let drawn = rng.below(draws);
        if self.detours == Detours::Link {
            return Some(self.plan(src, dst, drawn, None));
        }
        let (from, except) = self.turn(src, dst, drawn)?;
        let link = self.ways.draw(from, dst, except, rng)?;
        Some(self.plan(src, dst, drawn, link))
    }

    /// [`Adaptive::detour`], and its first hop.
    // Not inlined: it is seldom drawn, and what arrives needs the registers.
    #[inline(never)]
    fn drawn_detour(&self, src: RouterId, dst: RouterId, rng: &mut Rng) -> Option<(PacketState, Move)> {
        let detour = PacketState::direct(self.detour(src, dst, rng)?.0);
        Some((detour, self.hop(src, detour, dst)))
    }

    #[inline(always)]
    fn hop(&self, at: RouterId, state: PacketState, dst: RouterId) -> Move {
        let plan = Plan(state.bits);
        if self.detours != Detours::Local {
            let (port, _, next) = self.ways.next(at, plan, dst);
            return Move { port, class: plan.taken() as u8, next: PacketState::direct(next.0) };
        }
        if let Some(router) = plan.then().checked_sub(Plan::AHEAD) {
            let next = Plan::new(plan.link(), Plan::BEHIND);
            return Move { port: self.ways.local(at, router), class: 0, next: PacketState::direct(next.0) };
        }
        let (port, global, next) = self.ways.next(at, plan, dst);
        let class = match (global, plan.taken()) {
            (true, taken) => taken,
            (false, 0) => plan.then(),
            (false, taken) => 1 + taken,
        };
        // What `then` states is of the source's supernode only.
        let next = if global { Plan(plan.taken() + 1) } else { next };
        Move { port, class: class as u8, next: PacketState::direct(next.0) }
    }

    /// True if there is a detour anywhere.
    fn has_detours(&self) -> bool {
        match self.detours {
            Detours::Link => self.ways.galaxy.generators().iter().any(|&g| !self.common[g as usize].is_empty()),
            Detours::Local => self.ways.a > 2 || (self.ways.a == 2 && self.ways.galaxy.supernodes() > 1),
            Detours::Global => self.ways.galaxy.supernodes() > 2,
        }
    }
}

impl Routing for Adaptive {
    fn classes(&self) -> u32 {
        let least = self.ways.diameter();
        if !self.has_detours() {
            return self.ways.classes(least);
        }
        match self.detours {
            Detours::Link => self.ways.classes(2),
            Detours::Local => least + 2,
            Detours::Global => self.ways.classes(least + 1),
        }
    }

    fn vcs(&self) -> u32 {
        2 * self.classes()
    }

    fn starts(&self, src: RouterId, dst: RouterId, out: &mut Vec<PacketState>) {
        let mut add = |plan: Plan| out.push(PacketState::direct(plan.0));
        self.ways.links(src, dst, None, |link| add(Plan::new(link, 0)));
        for drawn in 0..self.draws(src, dst) {
            if self.detours == Detours::Link {
                add(self.plan(src, dst, drawn, None));
            } else if let Some((from, except)) = self.turn(src, dst, drawn) {
                self.ways.links(from, dst, except, |link| add(self.plan(src, dst, drawn, link)));
            }
        }
    }

    fn moves(&self, at: RouterId, state: PacketState, dst: RouterId, out: &mut Vec<Move>) {
        out.push(self.hop(at, state, dst));
    }

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
        let link = self.ways.draw(src, dst, None, rng).expect("the Galaxy graph has diameter 2");
        let minimal = PacketState::direct(Plan::new(link, 0).0);
        let hop = self.hop(src, minimal, dst);
        let queue = |port: u16| f64::from(view.queue(port.into()));
        let q_min = queue(hop.port);
        // No detour is drawn where none is taken: no later draw depends on one.
        if q_min <= self.th_min * f64::from(view.buffer(hop.class)) {
            return (minimal, Some(hop));
        }
        let mut draws = *rng;
        let other = self.drawn_detour(src, dst, &mut draws);
        *rng = draws;
        match other {
            Some((detour, other)) if queue(other.port) < self.th_nonmin * q_min => (detour, Some(other)),
            _ => (minimal, Some(hop)),
        }
    }

    #[inline(always)]
    fn choose<V: View>(&self, at: RouterId, state: PacketState, dst: RouterId, _view: &V, _rng: &mut Rng) -> Move {
        self.hop(at, state, dst)
    }

    #[inline(always)]
    fn answers_at_destination(&self, fresh: bool) -> bool {
        !fresh
    }

    #[inline(always)]
    fn decides_again(&self) -> Again {
        Again::Revocable(1)
    }

    #[inline(always)]
    fn looks_in_transit(&self) -> Looks {
        Looks::Nowhere
    }

    #[inline(always)]
    fn draws(&self, _fresh: bool) -> bool {
        false
    }

    fn note(&self) -> Option<String> {
        let why = match self.detours {
            _ if self.has_detours() => return None,
            Detours::Link => "no two neighbours of a cluster have a common neighbour in it",
            Detours::Local => "no supernode has a router for one more local hop",
            Detours::Global => "there is no third supernode",
        };
        Some(format!("{why}, so that every packet goes minimally, as by min"))
    }
}

#[cfg(test)]
mod tests {
    use super::super::min::MIN;
    use super::*;
    use crate::topology;

    #[test]
    fn links_to_common_neighbours_are_those_of_least_cost() {
        for spec in ["galaxyfly:n=1,q=13,a=3,p=1", "galaxyfly:n=4,q=5,a=2,p=1", "galaxyfly:n=6,q=1,a=3,p=1"] {
            let network = topology::build(spec).expect(spec);
            let own = network.structure::<Galaxyfly>().expect("a Galaxyfly");
            let joint = |from: u32, to: u32| {
                let links = network.routers().flat_map(|a| network.neighbors(a).map(move |(_, b)| (a, b)));
                let mut found = links.filter(|(a, b)| (own.supernode(*a), own.supernode(*b)) == (from, to));
                found.next().expect("supernodes that are joined")
            };
            for how in ["", "common=random"] {
                let given = Arguments::read(MIN.entry(), MIN.name, how).expect("a key of min");
                let ways = Ways::new(&network, &given).expect("small").expect("a Galaxyfly");
                let mut several = 0;
                for (at, to) in network.routers().flat_map(|at| network.routers().map(move |to| (at, to))) {
                    if ways.near(ways.place(at), ways.place(to)) {
                        continue;
                    }
                    let mut all = Vec::new();
                    ways.common(at, to, None, |link, cost| {
                        let [here, there] = [at, to].map(|router| own.supernode(router));
                        let middle = own.galaxy.neighbor(here, link);
                        let [(leaves, enters), (turns, arrives)] = [joint(here, middle), joint(middle, there)];
                        let hops = [leaves != at, enters != turns, arrives != to].map(u32::from).iter().sum();
                        assert_eq!(cost, if ways.any_common { 0 } else { hops }, "{spec} {how} {at:?} {to:?} {link}");
                        all.push((link, cost));
                    });
                    for except in std::iter::once(None).chain(all.iter().map(|(link, _)| Some(*link))) {
                        let left = || all.iter().filter(|(link, _)| Some(*link) != except);
                        let least = left().map(|(_, cost)| *cost).min();
                        let expected: Vec<_> =
                            left().filter(|(_, cost)| Some(*cost) == least).map(|(link, _)| Some(*link)).collect();
                        let mut found = Vec::new();
                        ways.links(at, to, except, |link| found.push(link));
                        assert_eq!(found, expected, "{spec} {how} {at:?} {to:?} {except:?}");
                        several += usize::from(found.len() > 1);
                    }
                }
                assert!(several > 0 || spec.contains("q=1,"), "{spec} {how}");
            }
        }
    }

    #[test]
    fn common_neighbours_are_those_that_both_have() {
        for spec in [
            "galaxyfly:n=1,q=13,a=3,p=1",
            "galaxyfly:n=4,q=5,a=2,p=1",
            "galaxyfly:n=6,q=1,a=3,p=1",
            "galaxyfly:n=4,q=7,a=1,p=1",
            "galaxyfly:n=3,q=8,a=1,p=1",
            "galaxyfly:n=3,q=9,a=1,p=1",
        ] {
            let network = topology::build(spec).expect(spec);
            let galaxy = &network.structure::<Galaxyfly>().expect("a Galaxyfly").galaxy;
            let neighbors = |supernode| (0..galaxy.degree()).map(move |link| galaxy.neighbor(supernode, link));
            for (from, to) in
                (0..galaxy.supernodes()).flat_map(|from| (0..galaxy.supernodes()).map(move |to| (from, to)))
            {
                let [here, there] = [from, to].map(|supernode| galaxy.parts(supernode));
                let link = (0..).zip(neighbors(from)).find(|(_, other)| *other == to).map(|(link, _)| link);
                assert_eq!(galaxy.link(here, there), link, "{spec}: {from} {to}");
                assert!(link.is_none_or(|link| galaxy.link_to_neighbor(here, there) == link), "{spec}: {from} {to}");
                if from == to || link.is_some() {
                    continue;
                }
                let both = (0..).zip(neighbors(from)).filter(|(_, middle)| neighbors(to).any(|other| other == *middle));
                let mut found = Vec::new();
                galaxy.common(here, there, |over| {
                    let onward = galaxy.parts(over.middle);
                    let links = [(here, onward), (onward, here), (onward, there), (there, onward)];
                    let [first, second] = [over.first, over.second];
                    let all = [first[0], first[1], second[0], second[1]];
                    assert_eq!(links.map(|(own, other)| galaxy.link(own, other)), all.map(Some), "{spec}: {from} {to}");
                    found.push(first[0]);
                });
                let mut first = Vec::new();
                galaxy.candidates(here, there, |link, common| first.extend(common.then_some(link)));
                assert_eq!(first, found, "{spec}: {from} {to}");
                found.sort_unstable();
                assert_eq!(found, both.map(|(link, _)| link).collect::<Vec<u32>>(), "{spec}: {from} {to}");
            }
        }
    }

    #[test]
    fn a_link_is_drawn_from_all_of_the_best() {
        // The last one has more of them than are kept.
        for (spec, beyond) in [("galaxyfly:n=6,q=5,a=2,p=1", 1), ("galaxyfly:n=25,q=5,a=1,p=1", Ways::FEW)] {
            let network = topology::build(spec).expect(spec);
            let given = Arguments::read(MIN.entry(), MIN.name, "").expect("no key");
            let ways = Ways::new(&network, &given).expect("small").expect("a Galaxyfly");
            let mut found = 0;
            for seed in 0..4000 {
                let [at, to] = [0, 1].map(|id| RouterId(Rng::stream(seed, id).below(network.num_routers() as u32)));
                if ways.near(ways.place(at), ways.place(to)) {
                    continue;
                }
                let mut all = Vec::new();
                ways.common(at, to, None, |link, cost| all.push((cost, link)));
                let least = all.iter().map(|(cost, _)| *cost).min().expect("diameter 2");
                all.retain(|(cost, _)| *cost == least);
                let mut rng = Rng::stream(seed, 2);
                let drawn = ways.draw(at, to, None, &mut rng.clone());
                let place = if all.len() == 1 { 0 } else { rng.below(all.len() as u32) as usize };
                assert_eq!(drawn, Some(Some(all[place].1)), "{spec} {at:?} {to:?}");
                found = found.max(all.len());
            }
            assert!(found > beyond, "{spec}: {found}");
        }
    }

    #[test]
    fn a_detour_that_is_not_drawn_would_not_be_taken() {
        use super::super::twophase::tests::Queues;
        for (spec, info, name, kind) in [
            ("galaxyfly:n=6,q=5,a=2,p=1", NAG, "nag", Detours::Global),
            ("galaxyfly:n=6,q=5,a=3,p=1", NAL, "nal", Detours::Local),
            ("galaxyfly:n=1,q=13,a=1,p=1", NAR, "nar", Detours::Link),
        ] {
            let network = topology::build(spec).expect(spec);
            let given = Arguments::read(info.entry(), name, "").expect("no key");
            let ways = Ways::new(&network, &given).expect("small").expect("a Galaxyfly");
            let common = if kind == Detours::Link { ways.galaxy.detours() } else { Vec::new() };
            let routing = Adaptive { ways, detours: kind, common, th_min: 0.8, th_nonmin: 0.5 };
            let (mut detours, mut direct) = (0, 0);
            for seed in 0..4000 {
                let dst = RouterId(1 + seed as u32 % (network.num_routers() as u32 - 1));
                let (src, view) = (RouterId(0), Queues { seed, below: 24 });
                // Both are drawn, then compared.
                let mut rng = Rng::stream(seed, 1);
                let link = routing.ways.draw(src, dst, None, &mut rng).expect("diameter 2");
                let minimal = PacketState::direct(Plan::new(link, 0).0);
                let other = routing.detour(src, dst, &mut rng).map(|plan| PacketState::direct(plan.0));
                let queue = |state| f64::from(view.queue(routing.hop(src, state, dst).port.into()));
                let full = f64::from(view.buffer(routing.hop(src, minimal, dst).class));
                let wins = |&other: &PacketState| queue(other) < 0.5 * queue(minimal) && queue(minimal) > 0.8 * full;
                let expected = other.filter(wins).unwrap_or(minimal);
                let (state, hop) = routing.start_with_hop(src, dst, &view, &mut Rng::stream(seed, 1));
                assert_eq!(state, expected, "{spec} {seed}");
                assert_eq!(hop, Some(routing.choose(src, state, dst, &view, &mut rng)), "{spec} {seed}");
                *(if state == minimal { &mut direct } else { &mut detours }) += 1;
            }
            assert!(detours > 20 && direct > 20, "{spec}: {detours} and {direct}");
        }
    }
}
