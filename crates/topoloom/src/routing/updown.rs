//! up*/down* on any graph (Schroeder et al., Autonet, 1991): a tree of shortest paths from a root directs the links;
//! a packet goes up as long as it likes, then down, and never up again. One VC class.
//!
//! A link goes up towards the router nearer to the root, between equally near ones towards the lower id. Packets take
//! the shortest legal paths, a random one where there are several. The root is the candidate with the smallest mean
//! length of legal paths.

use rayon::prelude::*;

use super::fattree::FixedUp;
use super::{AnyRouting, Availability, Move, PacketState, Routing, RoutingInfo, Step, View};
use crate::catalogue::{Arguments, Key, Kind};
use crate::error::{Error, Result};
use crate::memory::available_memory;
use crate::network::{Network, RouterId};
use crate::rng::Rng;
use crate::watch;

pub(super) const UPDOWN: RoutingInfo = RoutingInfo {
    name: "updown",
    summary: "trees: up by outputs that the source fixes, then down; elsewhere up*/down*: shortest paths up a tree of all \
              links and down again, around a root chosen for short paths",
    offered: Availability::Anywhere,
    classes: "1",
    adapts: Some(false),
    keys: &[ROOT],
    build: |network, options| {
        let root = root(network, options)?;
        if let (None, Some(up)) = (root, FixedUp::new(network)) {
            return Ok(Some(AnyRouting::new(up)));
        }
        let ways = UpDown::new(network, root)?;
        Ok(Some(AnyRouting::new(UpDownRouting(ways))))
    },
};

/// The key that names a root.
pub(super) const ROOT: Key = Key::new(
    "root",
    Kind::count(0),
    "the router at the root (default: the one with the shortest paths among candidates)",
);

/// The root that the user asks for.
pub(super) fn root(network: &Network, options: &Arguments) -> Result<Option<RouterId>> {
    let last = network.num_routers() as u32 - 1;
    match options.count(ROOT.name) {
        Some(root) if root > last => {
            Err(options.mistake(format_args!("{} is {root}; it must be a whole number from 0 to {last}", ROOT.name)))
        }
        root => Ok(root.map(RouterId)),
    }
}

/// May go up and down.
pub(super) const UP: u32 = 0;
/// Has gone down.
pub(super) const DOWN: u32 = 1;
/// Marks an output that goes down.
const GOES_DOWN: u16 = 1 << 15;
/// No legal way.
const FAR: u16 = u16::MAX;

/// Targets that are followed at a time, and a bit for each of them.
const TARGETS: usize = 256;
type Targets = [u64; TARGETS / 64];
const NOBODY: Targets = [0; TARGETS / 64];

fn join(set: &mut Targets, other: &Targets) {
    set.iter_mut().zip(other).for_each(|(word, other)| *word |= other);
}

/// The shortest legal paths to every router.
pub struct UpDown {
    routers: usize,
    /// Where the hops of (target, phase, router) begin in the target's pool.
    start: Vec<u32>,
    /// The hops towards each target: outputs, marked where they go down.
    pools: Vec<Vec<u16>>,
}

impl UpDown {
    /// The paths around `root`, or around the best candidate.
    ///
    /// # Errors
    /// If the network is disconnected, or its tables would not fit in memory.
    pub fn new(network: &Network, root: Option<RouterId>) -> Result<Self> {
        let routers = network.num_routers();
        let bytes = (routers * routers) as u128 * 16;
        if bytes > available_memory() / 2 {
            return Err(Error::TooLarge(format!(
                "{}: up*/down* tables for {routers} routers need about {} GB",
                network.spec(),
                bytes.div_ceil(1_000_000_000)
            )));
        }
        let order = Order::new(network, root.map_or_else(|| best_root(network), Ok)?)?;
        let stage = watch::stage("routing tables", routers as u64);
        let row = |to| {
            stage.step();
            order.row(network, RouterId(to))
        };
        let rows: Vec<(Vec<u32>, Vec<u16>)> = (0..routers as u32).into_par_iter().map(row).collect();
        let mut ways = Self { routers, start: Vec::with_capacity(rows.len() * (2 * routers + 1)), pools: Vec::new() };
        for (start, pool) in rows {
            ways.start.extend(start);
            ways.pools.push(pool);
        }
        Ok(ways)
    }

    #[inline(always)]
    fn outputs(&self, at: RouterId, phase: u32, to: RouterId) -> &[u16] {
        let place = to.index() * (2 * self.routers + 1) + phase as usize * self.routers + at.index();
        &self.pools[to.index()][self.start[place] as usize..self.start[place + 1] as usize]
    }

    #[inline(always)]
    fn step(hop: u16) -> Step {
        Step { port: hop & !GOES_DOWN, class: 0, bits: if hop & GOES_DOWN != 0 { DOWN } else { UP } }
    }

    /// Every shortest legal hop in `phase`, [`UP`] or [`DOWN`]; the bits after it are the phase.
    pub fn steps(&self, at: RouterId, phase: u32, to: RouterId) -> impl Iterator<Item = Step> + '_ {
        self.outputs(at, phase, to).iter().map(|&hop| Self::step(hop))
    }

    /// One of them, drawn.
    #[inline(always)]
    pub fn draw(&self, at: RouterId, phase: u32, to: RouterId, rng: &mut Rng) -> Step {
        let outputs = self.outputs(at, phase, to);
        Self::step(outputs[if outputs.len() > 1 { rng.below(outputs.len() as u32) as usize } else { 0 }])
    }
}

/// The routers in the order in which links go up: towards smaller numbers.
struct Order {
    rank: Vec<(u32, u32)>,
}

impl Order {
    fn new(network: &Network, root: RouterId) -> Result<Self> {
        let level = levels(network, root);
        if let Some(lost) = network.up_routers().find(|router| level[router.index()] == u32::MAX) {
            return Err(Error::Routing(format!(
                "{} is disconnected: router {lost} does not reach router {root}",
                network.spec()
            )));
        }
        Ok(Self { rank: level.into_iter().zip(0..).collect() })
    }

    fn goes_down(&self, from: RouterId, to: RouterId) -> bool {
        self.rank[to.index()] > self.rank[from.index()]
    }

    /// Hops of the shortest legal way from each router in phase UP and in phase DOWN to `to`.
    fn distances(&self, network: &Network, to: RouterId) -> [Vec<u16>; 2] {
        let mut far = [vec![FAR; network.num_routers()], vec![FAR; network.num_routers()]];
        let mut queue = vec![(UP, to), (DOWN, to)];
        queue.iter().for_each(|&(phase, _)| far[phase as usize][to.index()] = 0);
        let mut next = 0;
        while let Some(&(phase, at)) = queue.get(next) {
            next += 1;
            let hops = far[phase as usize][at.index()] + 1;
            for (_, before) in network.neighbors(at) {
                // Down into phase DOWN, from either phase; up into phase UP, from UP.
                let down = self.goes_down(before, at);
                let phases: &[u32] = match (phase, down) {
                    (DOWN, true) => &[UP, DOWN],
                    (UP, false) => &[UP],
                    _ => &[],
                };
                for &phase in phases {
                    let known = &mut far[phase as usize][before.index()];
                    if *known == FAR {
                        *known = hops;
                        queue.push((phase, before));
                    }
                }
            }
        }
        far
    }

    /// The sum of the hops of the shortest legal paths between all pairs of `ends`, each of which reaches the others,
    /// over links to `peers` of each router. It follows [`TARGETS`] targets at a time, a bit each.
    fn length(&self, peers: &[Vec<u32>], ends: &[RouterId]) -> u64 {
        let mut is_end = vec![false; peers.len()];
        ends.iter().for_each(|end| is_end[end.index()] = true);
        let mut sum = 0;
        for targets in ends.chunks(TARGETS) {
            // By router: the targets that it reaches in phase UP and in phase DOWN.
            let mut near = vec![[NOBODY; 2]; peers.len()];
            for (bit, target) in targets.iter().enumerate() {
                near[target.index()].iter_mut().for_each(|phase| phase[bit / 64] |= 1 << (bit % 64));
            }
            // At each round, all pairs that are further apart count once.
            let missing = |near: &[[Targets; 2]]| -> u64 {
                let reached =
                    |phases: &[Targets; 2]| -> u64 { phases[0].iter().map(|word| u64::from(word.count_ones())).sum() };
                let held = near.iter().zip(&is_end).filter(|(_, is_end)| **is_end).map(|(phases, _)| reached(phases));
                (ends.len() * targets.len()) as u64 - held.sum::<u64>()
            };
            loop {
                let left = missing(&near);
                if left == 0 {
                    break;
                }
                sum += left;
                near = (0..peers.len()).map(|at| self.one_hop_further(&near, at, &peers[at])).collect();
            }
        }
        sum
    }

    /// The targets that a router reaches, in each phase, by itself or by a hop to where they are `near`.
    fn one_hop_further(&self, near: &[[Targets; 2]], at: usize, peers: &[u32]) -> [Targets; 2] {
        let mut found = near[at];
        for &peer in peers {
            let [up, down] = &near[peer as usize];
            if self.goes_down(RouterId(at as u32), RouterId(peer)) {
                found.iter_mut().for_each(|phase| join(phase, down));
            } else {
                join(&mut found[UP as usize], up);
            }
        }
        found
    }

    /// The hops towards `to`: where those of each phase and router begin, and the hops.
    fn row(&self, network: &Network, to: RouterId) -> (Vec<u32>, Vec<u16>) {
        let far = self.distances(network, to);
        let (mut start, mut pool) = (vec![0], Vec::new());
        for phase in [UP, DOWN] {
            for at in network.routers() {
                let here = far[phase as usize][at.index()];
                for (port, peer) in network.neighbors(at).filter(|_| here != FAR) {
                    let down = self.goes_down(at, peer);
                    let after = if down { DOWN } else { UP };
                    let legal = down || phase == UP;
                    if legal
                        && far[after as usize][peer.index()] != FAR
                        && far[after as usize][peer.index()] + 1 == here
                    {
                        pool.push(port as u16 | if down { GOES_DOWN } else { 0 });
                    }
                }
                start.push(pool.len() as u32);
            }
        }
        (start, pool)
    }
}

/// Hops from `root` to each router; `u32::MAX` where there is no path.
fn levels(network: &Network, root: RouterId) -> Vec<u32> {
    let mut level = vec![u32::MAX; network.num_routers()];
    level[root.index()] = 0;
    let mut queue = vec![root];
    let mut next = 0;
    while let Some(&at) = queue.get(next) {
        next += 1;
        for (_, peer) in network.neighbors(at) {
            if level[peer.index()] == u32::MAX {
                level[peer.index()] = level[at.index()] + 1;
                queue.push(peer);
            }
        }
    }
    level
}

/// The root with the smallest mean legal path between routers with terminals, among the most central ones: as many as
/// some hundred million steps allow, four at least; one alone where all are alike.
fn best_root(network: &Network) -> Result<RouterId> {
    const STEPS: usize = 400_000_000;
    let routers = network.num_routers();
    let ends: Vec<RouterId> = network.up_routers().filter(|&r| network.has_terminals(r)).collect();
    let steps = ends.len() * network.ports().len() * 2;
    let most =
        if network.any_structure().vertex_transitive() { 1 } else { (STEPS / steps.max(1)).clamp(4, routers.max(4)) };
    let mut candidates: Vec<u32> = network.up_routers().map(|router| router.0).collect();
    let stage = watch::stage("root of up*/down*", 0);
    if most > 1 {
        candidates.par_sort_by_cached_key(|&root| {
            stage.step();
            let level = levels(network, RouterId(root));
            (ends.iter().map(|end| u64::from(level[end.index()])).sum::<u64>(), root)
        });
    }
    let peers: Vec<Vec<u32>> =
        network.routers().map(|router| network.neighbors(router).map(|(_, peer)| peer.0).collect()).collect();
    let length = |&root: &u32| {
        stage.step();
        Ok((Order::new(network, RouterId(root))?.length(&peers, &ends), root))
    };
    let lengths: Result<Vec<(u64, u32)>> = candidates.par_iter().take(most).map(length).collect();
    let best = lengths?.into_iter().min().map_or(0, |(_, root)| root);
    Ok(RouterId(best))
}

/// up*/down* by itself.
struct UpDownRouting(UpDown);

fn hop(step: Step) -> Move {
    Move { port: step.port, class: 0, next: PacketState::direct(step.bits) }
}

impl Routing for UpDownRouting {
    fn classes(&self) -> u32 {
        1
    }

    fn starts(&self, _src: RouterId, _dst: RouterId, out: &mut Vec<PacketState>) {
        out.push(PacketState::direct(UP));
    }

    fn moves(&self, at: RouterId, state: PacketState, dst: RouterId, out: &mut Vec<Move>) {
        out.extend(self.0.steps(at, state.bits, dst).map(hop));
    }

    fn start<V: View>(&self, _src: RouterId, _dst: RouterId, _view: &V, _rng: &mut Rng) -> PacketState {
        PacketState::direct(UP)
    }

    fn choose<V: View>(&self, at: RouterId, state: PacketState, dst: RouterId, _view: &V, rng: &mut Rng) -> Move {
        hop(self.0.draw(at, state.bits, dst, rng))
    }

    fn oblivious(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_ways_follow_many_targets_as_they_follow_one() {
        for spec in ["torus:4x5,p=1", "ring:300,degree=4", "myriclos:64", "dragonfly:a=4,h=2,g=6"] {
            let network = crate::topology::build(spec).unwrap();
            let ends: Vec<RouterId> = network.routers().filter(|&r| network.has_terminals(r)).collect();
            let peers: Vec<Vec<u32>> =
                network.routers().map(|router| network.neighbors(router).map(|(_, peer)| peer.0).collect()).collect();
            for root in [0, 3] {
                let order = Order::new(&network, RouterId(root)).unwrap();
                let far = |&to: &RouterId| {
                    let row = &order.distances(&network, to)[UP as usize];
                    ends.iter().map(|end| u64::from(row[end.index()])).sum::<u64>()
                };
                assert_eq!(order.length(&peers, &ends), ends.iter().map(far).sum::<u64>(), "{spec}, root {root}");
            }
        }
    }
}
