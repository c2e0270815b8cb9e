//! `polarized`: routing on any network by a weight that never falls (Camarero, Martínez and Beivide, HOTI 2021).
//!
//! From source s to destination t, at router c, the weight is d(s, c) - d(c, t): it grows from -d(s, t) to d(s, t). A hop is
//! allowed if the weight grows by 1 or 2, or stays and the hop leads away from the source while the packet is nearer to it than to
//! the destination, or towards the destination from then on. Among them a packet takes the one of the shortest queue, to
//! which a hop that gains less than the best one adds a penalty; it weighs again while it is denied a VC. Where nothing waits
//! for a hop that gains most, there is nothing to weigh.
//!
//! The class of a hop is its number on the path, which no path falls back from: no circle. The longest path has 4 D - 3 hops
//! where D is the diameter; with fewer classes only hops are allowed from which the classes left suffice. Where a network
//! has corners in which no hop is allowed, minimal ones are.

use super::table::TableMinimal;
use super::{Again, AnyRouting, Availability, Move, PacketState, Routing, RoutingInfo, View};
use crate::catalogue::{Key, Kind};
use crate::limits::MAX_VCS;
use crate::memory::prefetch;
use crate::network::{Network, RouterId};
use crate::rng::Rng;

const HOPS: Key = Key::new(
    "hops",
    Kind::Int(1, MAX_VCS as u64),
    "hops of the longest path, a VC class each: the diameter D at least (default: 2 D, or 4 D - 3 if that is less)",
);

const PENALTY: Key = Key::new(
    "penalty",
    Kind::Int(0, 1_000_000),
    "flits added to the queue of a hop that gains 1 less than the best; a quarter more for 2 less (default 8)",
);

pub(super) const POLARIZED: RoutingInfo = RoutingInfo {
    name: "polarized",
    summary: "hops that lead away from the source or towards the destination, by the shortest queue, decided hop by hop",
    offered: Availability::Anywhere,
    classes: "twice the diameter D, or 4 D - 3 if that is less",
    adapts: Some(true),
    keys: &[HOPS, PENALTY],
    build: |network, given| {
        let table = TableMinimal::new(network)?;
        let diameter = table.diameter().max(1);
        let longest = (2 * diameter).min((4 * diameter).saturating_sub(3)).max(diameter);
        let classes = given.count(HOPS.name).unwrap_or(longest.min(MAX_VCS.max(diameter)));
        if classes < diameter {
            return Err(given.mistake(format_args!("hops is {classes}; the network's diameter is {diameter}")));
        }
        let penalty = given.count(PENALTY.name).unwrap_or(8);
        Ok(Some(AnyRouting::new(PolarizedRouting::new(network, table, classes, penalty))))
    },
};

/// The bits of a packet are its source, and below it the hops that it has taken. Tables of routers squared leave room in
/// no memory for more routers than that holds.
const TAKEN_BITS: u32 = 8;

pub struct PolarizedRouting {
    table: TableMinimal,
    classes: u32,
    /// By how much less than the best a hop gains.
    penalties: [u32; 3],
    /// Output and neighbour of each link, router by router.
    links: Vec<(u16, RouterId)>,
    /// Where each router's links begin, and the number of all.
    first: Vec<u32>,
    /// For each router, then for each other one, where the links of the first lead; empty where that is too much.
    directions: Vec<Directions>,
}

/// The links of a router that lead nearer to another one, and those that lead farther from it, a bit each.
#[derive(Debug, Clone, Copy, Default)]
struct Directions {
    /// Above the bits, how many links that other one is from the router: what a decision reads lies together.
    nearer: u64,
    farther: u64,
}

impl Directions {
    /// The most links of a router.
    const LINKS: u32 = 56;
    /// The most bytes of those of all pairs.
    const MOST: usize = 64 << 20;

    /// Where `links` lead, by the links that they and their router are from the other one.
    fn new(links: &[(u16, RouterId)], own: u8, distances: &[u8]) -> Self {
        let mut this = Self { nearer: u64::from(own) << Self::LINKS, farther: 0 };
        for (place, (_, peer)) in links.iter().enumerate() {
            let there = distances[peer.index()];
            this.nearer |= u64::from(there < own) << place;
            this.farther |= u64::from(there > own) << place;
        }
        this
    }

    /// The links to the other one.
    #[inline(always)]
    fn distance(self) -> u32 {
        (self.nearer >> Self::LINKS) as u32
    }

    #[inline(always)]
    fn nearer(self) -> u64 {
        self.nearer & ((1 << Self::LINKS) - 1)
    }

    /// The links that lead neither nearer nor farther, and bits of no link.
    #[inline(always)]
    fn level(self) -> u64 {
        !(self.nearer | self.farther)
    }
}

/// The allowed links of a router by what their hops gain, a bit each.
#[derive(Debug, Clone, Copy)]
struct Gains {
    two: u64,
    one: u64,
    none: u64,
}

impl Gains {
    /// The most that one gains.
    #[inline(always)]
    fn most(self) -> usize {
        match self {
            Self { two: 0, one: 0, .. } => 0,
            Self { two: 0, .. } => 1,
            _ => 2,
        }
    }

    /// Those that gain the most.
    #[inline(always)]
    fn first(self) -> u64 {
        let less = if self.one == 0 { self.none } else { self.one };
        if self.two == 0 { less } else { self.two }
    }

    /// All of them.
    #[inline(always)]
    fn all(self) -> u64 {
        self.two | self.one | self.none
    }

    /// What the link at a position gains.
    #[inline(always)]
    fn of(self, place: usize) -> usize {
        ((self.one >> place & 1) + 2 * (self.two >> place & 1)) as usize
    }
}

/// The positions of the bits of a word.
#[inline(always)]
fn places(mut bits: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let place = (bits != 0).then(|| bits.trailing_zeros() as usize)?;
        bits &= bits - 1;
        Some(place)
    })
}

/// What no gain is.
const FORBIDDEN: u8 = 3;
/// What a hop gains, at three times the links that it leads away from the source, plus those nearer to the destination, one
/// more each; first where the source is not nearer than the destination. Hops that gain nothing must lead nearer to the
/// destination there, and away from the source elsewhere.
const GAINS: [[u8; 9]; 2] = [
    [FORBIDDEN, FORBIDDEN, 0, FORBIDDEN, FORBIDDEN, 1, FORBIDDEN, 1, 2],
    [FORBIDDEN, FORBIDDEN, FORBIDDEN, FORBIDDEN, FORBIDDEN, 1, 0, 1, 2],
];

impl PolarizedRouting {
    fn new(network: &Network, table: TableMinimal, classes: u32, penalty: u32) -> Self {
        let (mut links, mut first) = (Vec::new(), vec![0]);
        for router in network.routers() {
            links.extend(network.neighbors(router).map(|(port, peer)| (port as u16, peer)));
            first.push(links.len() as u32);
        }
        let penalties = [0, penalty, penalty + penalty / 4];
        let mut this = Self { table, classes, penalties, links, first, directions: Vec::new() };
        let widest = network.routers().map(|router| this.links_of(router).len()).max().unwrap_or(0);
        let pairs = network.num_routers() * network.num_routers();
        if widest <= Directions::LINKS as usize && pairs * size_of::<Directions>() <= Directions::MOST {
            let all = network.routers().flat_map(|at| network.routers().map(move |other| (at, other)));
            let directions = all.map(|(at, other)| {
                let distances = this.table.distances(other);
                Directions::new(this.links_of(at), distances[at.index()], distances)
            });
            this.directions = directions.collect();
        }
        this
    }

    #[inline(always)]
    fn links_of(&self, at: RouterId) -> &[(u16, RouterId)] {
        &self.links[self.first[at.index()] as usize..self.first[at.index() + 1] as usize]
    }

    #[inline(always)]
    fn unpacked(state: PacketState) -> (RouterId, u32) {
        (RouterId(state.bits >> TAKEN_BITS), state.bits & ((1 << TAKEN_BITS) - 1))
    }

    #[inline(always)]
    fn hop(port: u16, state: PacketState) -> Move {
        let (_, taken) = Self::unpacked(state);
        Move { port, class: taken as u8, next: PacketState::direct(state.bits + 1) }
    }

    /// The allowed hops, by output, with what they gain.
    #[inline(always)]
    fn allowed(&self, at: RouterId, state: PacketState, dst: RouterId) -> impl Iterator<Item = (u16, usize)> {
        let (src, taken) = Self::unpacked(state);
        let (from, to) = (self.table.distances(src), self.table.distances(dst));
        let (here, most) = ((from[at.index()], to[at.index()]), self.classes - taken - 1);
        let gains = &GAINS[usize::from(here.0 < here.1)];
        self.links_of(at).iter().filter_map(move |&(port, peer)| {
            let next = (from[peer.index()], to[peer.index()]);
            // A link changes a distance by one at most.
            let away = u32::from(next.0) + 1 - u32::from(here.0);
            let nearer = u32::from(here.1) + 1 - u32::from(next.1);
            let gain = gains[(3 * away + nearer) as usize];
            (gain != FORBIDDEN && u32::from(next.1) <= most).then_some((port, gain.into()))
        })
    }

    /// The same by the directions of all links at once.
    #[inline(always)]
    fn allowed_directions(&self, at: RouterId, state: PacketState, dst: RouterId) -> Gains {
        let (src, taken) = Self::unpacked(state);
        let routers = self.first.len() - 1;
        let row = &self.directions[at.index() * routers..][..routers];
        let (from, to) = (row[src.index()], row[dst.index()]);
        let (left, most) = (to.distance(), self.classes - taken - 1);
        let (mut nearer, mut level, mut farther) = (to.nearer(), to.level(), to.farther);
        // Seldom.
        if left >= most {
            farther = 0;
            level = if left > most { 0 } else { level };
            nearer = if left > most + 1 { 0 } else { nearer };
        }
        Gains {
            two: from.farther & nearer,
            one: from.level() & nearer | from.farther & level,
            none: if from.distance() < left { from.farther & farther } else { from.nearer() & nearer },
        }
    }

    /// The output with the shortest queue, to which a hop that gains less than `most` adds a penalty; on a tie a random one.
    /// Where nothing waits for the best of those that gain `most`, it is that.
    #[inline(always)]
    fn best<V: View>(
        &self,
        allowed: impl Iterator<Item = (u16, usize)>,
        most: usize,
        view: &V,
        rng: &mut Rng,
    ) -> Option<u16> {
        let (turns, mut best, mut first) = (Turns::new(rng), Best::NONE, Best::NONE);
        for (number, (port, gain)) in (0u32..).zip(allowed) {
            let penalty = self.penalties[most.saturating_sub(gain)];
            best.offer(view.queue(port.into()) + penalty, turns.of(number), port);
            if gain == most {
                first.offer(view.queue(port.into()), turns.of(number), port);
            }
        }
        first.port().filter(|port| view.leaves_at_once((*port).into())).or(best.port())
    }

    /// The same by the links' bits.
    #[inline(always)]
    fn best_of<V: View>(&self, gains: Gains, links: &[(u16, RouterId)], view: &V, rng: &mut Rng) -> Option<u16> {
        let first = gains.first();
        if first.is_power_of_two() {
            let port = links[first.trailing_zeros() as usize].0;
            if self.none_is_better(port, view.queue(port.into()), view) {
                // There is nothing to draw.
                return Some(port);
            }
        }
        let (port, stream) = self.shortest(gains, links, &view.copy(), *rng);
        *rng = stream;
        port
    }

    /// True if no hop that gains less than the most is better than the one to `port`, which gains it: its queue is below what
    /// others add, or a packet leaves at once.
    #[inline(always)]
    fn none_is_better<V: View>(&self, port: u16, queue: u32, view: &V) -> bool {
        // All bits where something waits. Which of the two it is, is often mispredicted; whether it is one of them is not.
        let waits = (view.waiting(port.into()).wrapping_neg() as i32 >> 31) as u32;
        (queue + 1) & waits <= self.penalties[1]
    }

    /// [`PolarizedRouting::best_of`] where it draws; the stream behind its draw as well.
    // Not inlined, for the registers.
    #[inline(never)]
    fn shortest<V: View>(&self, gains: Gains, links: &[(u16, RouterId)], view: &V, mut rng: Rng) -> (Option<u16>, Rng) {
        let turns = Turns::new(&mut rng);
        let (first, all) = (gains.first(), gains.all());
        let mut best = Best::NONE;
        // An only one has been looked at.
        if !first.is_power_of_two() {
            for place in places(first) {
                let number = (all & ((1 << place) - 1)).count_ones();
                best.offer(view.queue(links[place].0.into()), turns.of(number), links[place].0);
            }
            if first == all || self.none_is_better(best.port, best.queue(), view) {
                return (best.port(), rng);
            }
        }
        // By gain; a fourth, which no hop has, spares a check of the index.
        let most = gains.most();
        let penalties: [u32; 4] = std::array::from_fn(|gain| self.penalties[most.saturating_sub(gain)]);
        for (number, place) in (0u32..).zip(places(all)) {
            let queue = view.queue(links[place].0.into()) + penalties[gains.of(place) & 3];
            best.offer(queue, turns.of(number), links[place].0);
        }
        (best.port(), rng)
    }
}

/// The best hop so far.
#[derive(Debug, Clone, Copy)]
struct Best {
    /// Its queue, and below it its turn.
    key: u64,
    port: u16,
}

impl Best {
    const NONE: Self = Self { key: u64::MAX, port: 0 };

    #[inline(always)]
    fn offer(&mut self, queue: u32, turn: u32, port: u16) {
        let key = u64::from(queue) << u32::BITS | u64::from(turn);
        // Which hop is better is often mispredicted, hence no branch. A compiler makes one of a choice in a loop.
        let better = u64::from(key < self.key).wrapping_neg();
        self.key ^= (self.key ^ key) & better;
        self.port ^= (self.port ^ port) & better as u16;
    }

    #[inline(always)]
    fn queue(self) -> u32 {
        (self.key >> u32::BITS) as u32
    }

    #[inline(always)]
    fn port(self) -> Option<u16> {
        (self.key != u64::MAX).then_some(self.port)
    }
}

/// Whose turn it is among equal outputs: the multiples of a random odd number, from a random one on, modulo 2^32.
struct Turns {
    first: u32,
    step: u32,
}

impl Turns {
    #[inline(always)]
    fn new(rng: &mut Rng) -> Self {
        let bits = rng.bits();
        let step = (bits >> 32) as u32 | 1;
        Self { first: (bits as u32).wrapping_add(step), step }
    }

    /// That of the allowed output of this number.
    #[inline(always)]
    fn of(&self, number: u32) -> u32 {
        self.first.wrapping_add(self.step.wrapping_mul(number))
    }
}

impl Routing for PolarizedRouting {
    fn classes(&self) -> u32 {
        self.classes
    }

    fn vcs(&self) -> u32 {
        2 * self.classes
    }

    fn starts(&self, src: RouterId, _dst: RouterId, out: &mut Vec<PacketState>) {
        out.push(PacketState::direct(src.0 << TAKEN_BITS));
    }

    fn moves(&self, at: RouterId, state: PacketState, dst: RouterId, out: &mut Vec<Move>) {
        let first = out.len();
        out.extend(self.allowed(at, state, dst).map(|(port, _)| Self::hop(port, state)));
        if out.len() == first {
            out.extend(self.table.outputs(at, dst).iter().map(|&port| Self::hop(port, state)));
        }
    }

    #[inline(always)]
    fn start<V: View>(&self, src: RouterId, _dst: RouterId, _view: &V, _rng: &mut Rng) -> PacketState {
        PacketState::direct(src.0 << TAKEN_BITS)
    }

    #[inline(always)]
    fn choose<V: View>(&self, at: RouterId, state: PacketState, dst: RouterId, view: &V, rng: &mut Rng) -> Move {
        let best = if self.directions.is_empty() {
            let most = self.allowed(at, state, dst).map(|(_, gain)| gain).max().unwrap_or(0);
            self.best(self.allowed(at, state, dst), most, view, rng)
        } else {
            self.best_of(self.allowed_directions(at, state, dst), self.links_of(at), view, rng)
        };
        let port = best.unwrap_or_else(|| {
            let minimal = self.table.outputs(at, dst).iter().map(|&port| (port, 0));
            self.best(minimal, 0, view, rng).expect("the destination is another router")
        });
        Self::hop(port, state)
    }

    #[inline(always)]
    fn draws(&self, _fresh: bool) -> bool {
        false
    }

    #[inline(always)]
    fn expect(&self, at: RouterId, state: PacketState, dst: RouterId) {
        let (src, _) = Self::unpacked(if state.bits == 0 { PacketState::direct(at.0 << TAKEN_BITS) } else { state });
        let routers = self.first.len() - 1;
        for other in [src, dst] {
            if self.directions.is_empty() {
                self.table.expect_distance(at, other);
            } else {
                prefetch(&self.directions, at.index() * routers + other.index());
            }
        }
    }

    fn decides_again(&self) -> Again {
        Again::Revocable(u16::MAX)
    }

    #[inline(always)]
    fn undo(&self, after: PacketState) -> Option<PacketState> {
        Some(PacketState::direct(after.bits - 1))
    }

    /// The links and distances of a router's image are those of the router. The bits of a packet's image name the image of
    /// its source; it takes no detours.
    fn follows_ports(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::twophase::tests::Queues;
    use super::*;
    use crate::network::PortId;
    use crate::topology;

    #[test]
    fn directions_allow_what_distances_allow() {
        for spec in
            ["hyperx:3x4", "dragonfly:a=4,h=2,p=2", "slimfly:q=5", "torus:5x3", "mesh:4x2", "fattree:k=4,levels=3"]
        {
            let network = topology::build(spec).expect(spec);
            let table = TableMinimal::new(&network).expect(spec);
            let classes = 2 * table.diameter();
            let routing = PolarizedRouting::new(&network, table, classes, 8);
            let routers = || network.routers();
            for (src, dst) in routers().flat_map(|src| routers().map(move |dst| (src, dst))) {
                for (at, taken) in routers().flat_map(|at| (0..classes).map(move |taken| (at, taken))) {
                    if at == dst {
                        continue;
                    }
                    let state = PacketState::direct(src.0 << TAKEN_BITS | taken);
                    let gains = routing.allowed_directions(at, state, dst);
                    let quick: Vec<_> =
                        places(gains.all()).map(|place| (routing.links_of(at)[place].0, gains.of(place))).collect();
                    let slow: Vec<_> = routing.allowed(at, state, dst).collect();
                    assert_eq!(gains.most(), slow.iter().map(|(_, gain)| *gain).max().unwrap_or(0));
                    assert_eq!(quick, slow, "{spec} {src:?} {dst:?} {at:?} {taken}");
                    let mut moves = Vec::new();
                    routing.moves(at, state, dst, &mut moves);
                    assert!(!moves.is_empty() && moves.iter().all(|hop| routing.undo(hop.next) == Some(state)));
                }
            }
        }
    }

    /// Queues of which some flits are in flight, for a head that may have been denied a VC.
    struct Links {
        queues: Queues,
        again: bool,
    }

    impl View for Links {
        fn copy(&self) -> Self {
            Self { queues: self.queues.copy(), again: self.again }
        }

        fn occupancy(&self, port: u32) -> u32 {
            self.queues.occupancy(port)
        }

        fn backlog(&self, port: u32) -> u32 {
            self.occupancy(port).saturating_sub(10)
        }

        fn published(&self, port: PortId) -> u32 {
            self.queues.published(port)
        }

        fn interval(&self) -> u32 {
            0
        }

        fn free_vcs(&self, _port: u32, _class: u8) -> u32 {
            1
        }

        fn buffer(&self, _class: u8) -> u32 {
            64
        }

        fn decides_again(&self) -> bool {
            self.again
        }
    }

    #[test]
    fn choices_by_directions_are_those_by_distances() {
        for spec in ["hyperx:3x4", "dragonfly:a=4,h=2,p=2", "slimfly:q=5", "torus:5x3", "mesh:4x2"] {
            let network = topology::build(spec).expect(spec);
            let routers = network.num_routers() as u32;
            for penalty in [0, 1, 8] {
                let [quick, mut slow] = [(); 2].map(|()| {
                    let table = TableMinimal::new(&network).expect(spec);
                    let classes = 2 * table.diameter();
                    PolarizedRouting::new(&network, table, classes, penalty)
                });
                slow.directions = Vec::new();
                let mut least = 0;
                for seed in 0..4000 {
                    let mut draws = Rng::stream(seed, 7);
                    let [src, dst, at] = [(); 3].map(|()| RouterId(draws.below(routers)));
                    if at == dst {
                        continue;
                    }
                    let state = PacketState::direct(src.0 << TAKEN_BITS | draws.below(quick.classes));
                    let view = Links { queues: Queues { seed, below: 40 }, again: draws.coin() };
                    let [mut one, mut other] = [Rng::stream(seed, 1); 2];
                    let chosen = quick.choose(at, state, dst, &view, &mut one);
                    assert_eq!(chosen, slow.choose(at, state, dst, &view, &mut other), "{spec} {penalty} {seed}");
                    let gains = slow.allowed(at, state, dst);
                    least +=
                        usize::from(gains.min_by_key(|(_, gain)| *gain).is_some_and(|(port, _)| port == chosen.port));
                }
                assert!(least > 100, "{spec}: hops that gain least are chosen {least} times");
            }
        }
    }
}
