//! `polarized`: routing on any network by a weight that never falls (Camarero, Martínez and Beivide, HOTI 2021).
//!
//! From source s to destination t, at router c, the weight is d(s, c) - d(c, t): it grows from -d(s, t) to d(s, t). A hop is
//! allowed if the weight grows by 1 or 2, or stays and the hop leads away from the source while the packet is nearer to it than to
//! the destination, or towards the destination from then on. Among them a packet takes the one of the shortest queue, to
//! which a hop that gains less than the best one adds a penalty; it weighs again while it is denied a VC.
//!
//! The class of a hop is its number on the path, which no path falls back from: no circle. The longest path has 4 D - 3 hops
//! where D is the diameter; with fewer classes only hops are allowed from which the classes left suffice. Where a network
//! has corners in which no hop is allowed, minimal ones are.

use super::table::TableMinimal;
use super::{Again, AnyRouting, Availability, Move, PacketState, Routing, RoutingInfo, View};
use crate::catalogue::{Key, Kind};
use crate::limits::MAX_VCS;
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
        Self { table, classes, penalties: [0, penalty, penalty + penalty / 4], links, first }
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
        let links = &self.links[self.first[at.index()] as usize..self.first[at.index() + 1] as usize];
        links.iter().filter_map(move |&(port, peer)| {
            let next = (from[peer.index()], to[peer.index()]);
            // A link changes a distance by one at most.
            let away = u32::from(next.0) + 1 - u32::from(here.0);
            let nearer = u32::from(here.1) + 1 - u32::from(next.1);
            let gain = gains[(3 * away + nearer) as usize];
            (gain != FORBIDDEN && u32::from(next.1) <= most).then_some((port, gain.into()))
        })
    }

    /// The shortest queue, by what its hop gains, and the output; on a tie a random one.
    #[inline(always)]
    fn best<V: View>(
        &self,
        allowed: impl Iterator<Item = (u16, usize)>,
        view: &V,
        rng: &mut Rng,
    ) -> Option<(u32, u32, u16)> {
        let (mut least, mut best) = ([u32::MAX; 3], [(0, 0); 3]);
        for (port, gain) in allowed {
            let queue = view.queue(port.into());
            if queue <= least[gain] {
                let offer = (rng.below(u32::MAX), port);
                best[gain] = if queue < least[gain] { offer } else { best[gain].min(offer) };
                least[gain] = queue;
            }
        }
        let (mut found, mut below) = (None::<(u32, u32, u16)>, 0);
        for gain in (0..3).rev() {
            if least[gain] < u32::MAX {
                let (turn, port) = best[gain];
                let offer = (least[gain] + self.penalties[below], turn, port);
                found = Some(found.map_or(offer, |known| known.min(offer)));
            }
            below += usize::from(found.is_some());
        }
        found
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
        let best = self.best(self.allowed(at, state, dst), view, rng).or_else(|| {
            let minimal = self.table.outputs(at, dst).iter().map(|&port| (port, 0));
            self.best(minimal, view, rng)
        });
        let (.., port) = best.expect("the destination is another router");
        Self::hop(port, state)
    }

    fn decides_again(&self) -> Again {
        Again::Revocable(u16::MAX)
    }
}
