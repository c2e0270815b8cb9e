//! The bisection: the fewest links between two halves of a network that have equally many terminals.
//!
//! A partition states for each router 0 or 1. It is balanced if the terminals of its sides differ by those of one router
//! at most; routers without terminals may be on either side. Partitioners such as METIS balance only nearly and
//! minimise only roughly: [`best`] takes what they find, balances it exactly and improves it by the passes of Fiduccia
//! and Mattheyses (DAC 1982). What it finds is an upper bound, and exact where it meets the spectral lower bound.

use rayon::prelude::*;
use serde::Serialize;

use super::spectrum::{connectivity_bound, fiedler};
use crate::graph::{Graph, terminals_by_router};
use crate::network::{Link, Network, PortId};
use crate::watch::{self, Stage};

/// A partition's cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Cut {
    /// Links between the two sides, parallel ones each.
    pub links: u64,
    /// True if the terminals of the two sides differ by those of one router at most.
    pub exact_balance: bool,
}

/// Whether a bisection is known to be the smallest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BisectionIs {
    /// No balanced partition cuts fewer links.
    Exact,
    /// No balanced partition that cuts fewer was found.
    UpperBound,
}

/// The best bisection that was found. The names are the keys of the JSON.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Bisection {
    /// Links that it cuts.
    pub bisection_links: u64,
    /// Whether that is the least.
    pub bisection_is: BisectionIs,
    /// A number of links that every balanced partition cuts, where one is known.
    pub bisection_bound: Option<u64>,
    /// What the links between two halves carry in one direction, at least, in Gb/s: those of the partition whose links
    /// carry least; null where links have no rates.
    pub bisection_gbps: Option<f64>,
    /// Cut links over all links between routers.
    pub bisection_ratio: Option<f64>,
    /// Cut links over half the terminals.
    pub beta: Option<f64>,
    /// The side of each router.
    #[serde(skip)]
    pub partition: Vec<u8>,
}

/// Balances a partition (0 or 1 for each router) exactly, and improves it.
///
/// # Panics
/// If the partition has not one entry for each router.
pub fn refine(network: &Network, partition: &mut [u8]) -> Cut {
    let stage = watch::stage("bisection", 0);
    Refiner::new(&Graph::new(network), &terminals_by_router(network), partition).run(&stage)
}

/// The best bisection that can be had from `partitions` and from a few of the crate's own: along the Fiedler vector,
/// the coordinates and the router ids.
///
/// # Panics
/// If a partition has not one entry for each router.
pub fn best(network: &Network, partitions: Vec<Vec<u8>>) -> Bisection {
    let graph = Graph::new(network);
    let terminals = terminals_by_router(network);
    let (own, estimate) = own_partitions(network, &graph, &terminals);
    let bound = estimate.and_then(|estimate| spectral_bound(&graph, &terminals, estimate));
    let stage = watch::stage("bisection", (partitions.len() + own.len()) as u64);
    let starts: Vec<Vec<u8>> =
        if network.has_rates() { partitions.iter().chain(&own).cloned().collect() } else { Vec::new() };
    let refined = partitions.into_par_iter().chain(own).enumerate().map(|(index, mut partition)| {
        let cut = Refiner::new(&graph, &terminals, &mut partition).run(&stage);
        stage.step();
        ((!cut.exact_balance, cut.links, index), partition)
    });
    let ((_, links, _), partition) = refined.min_by_key(|(rank, _)| *rank).expect("there are own partitions");
    let bisection_gbps = RateUnits::of(network).map(|units| match units.alike() {
        true => links as f64 * units.gbps,
        false => units.cut(network, &terminals, &starts, &stage),
    });
    let total: usize = terminals.iter().map(|&terminals| terminals as usize).sum();
    let over = |whole: f64| (whole > 0.0).then(|| links as f64 / whole);
    Bisection {
        bisection_links: links,
        bisection_is: if links == 0 || bound == Some(links) { BisectionIs::Exact } else { BisectionIs::UpperBound },
        bisection_bound: bound,
        bisection_gbps,
        bisection_ratio: over(network.links().len() as f64),
        beta: over(total as f64 / 2.0),
        partition,
    }
}

/// The rates of links as whole numbers.
struct RateUnits {
    /// Gb/s of one unit.
    gbps: f64,
    /// The units of the fastest link.
    most: u32,
}

impl RateUnits {
    /// The largest unit that divides all rates, to one kilobit per second. If that makes too many units, rates are
    /// rounded up to a fraction of the fastest. `None` where links have no rates.
    fn of(network: &Network) -> Option<Self> {
        /// Units of the fastest link, at most: the refinement keeps a list for each gain.
        const MOST: u64 = 4096;
        let kilobits = |link: &Link| network.gbps(link.ends[0]).map(|gbps| (gbps * 1e6).round().max(1.0) as u64);
        let mut rates = network.links().iter().filter_map(kilobits);
        let first = rates.next()?;
        let (divisor, most) = rates.fold((first, first), |(a, most), b| (common_divisor(a, b), most.max(b)));
        let units = (most / divisor).min(MOST);
        Some(Self { gbps: most as f64 * 1e-6 / units as f64, most: units as u32 })
    }

    /// True if all links have one rate.
    fn alike(&self) -> bool {
        self.most == 1
    }

    /// Gb/s of the cut that carries least, from these partitions on.
    fn cut(&self, network: &Network, terminals: &[u32], starts: &[Vec<u8>], stage: &Stage) -> f64 {
        let units = |port: PortId| (network.gbps(port).unwrap_or(0.0) / self.gbps - 1e-6).ceil() as u32;
        let graph = Graph::weighted(network, units);
        let refined = starts.par_iter().map(|start| {
            let mut partition = start.clone();
            let cut = Refiner::new(&graph, terminals, &mut partition).run(stage);
            let crosses = |link: &&Link| {
                let [a, b] = network.routers_of(link);
                partition[a.index()] != partition[b.index()]
            };
            let links = network.links().iter().filter(crosses);
            let gbps: f64 = links.filter_map(|link| network.gbps(link.ends[0])).sum();
            (!cut.exact_balance, gbps)
        });
        let less = |a: &(bool, f64), b: &(bool, f64)| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1));
        refined.min_by(less).map_or(0.0, |(_, gbps)| gbps)
    }
}

fn common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { common_divisor(b, a % b) }
}

/// Partitions to start from, and the algebraic connectivity where it was computed.
fn own_partitions(network: &Network, graph: &Graph, terminals: &[u32]) -> (Vec<Vec<u8>>, Option<f64>) {
    /// Routers up to which the Fiedler vector is worth its time.
    const LARGEST: usize = 200_000;
    let ids: Vec<u32> = (0..graph.len() as u32).collect();
    let halve = |order: &[u32]| {
        let half = terminals.iter().map(|&terminals| u64::from(terminals)).sum::<u64>().div_ceil(2);
        let mut filled = 0;
        let mut partition = vec![1; order.len()];
        for &router in order {
            if filled < half {
                partition[router as usize] = 0;
            }
            filled += u64::from(terminals[router as usize]);
        }
        partition
    };
    let mut partitions = vec![halve(&ids)];
    if let Some(grid) = network.any_structure().grid() {
        let mut stride = 1;
        for &side in &grid.sides {
            let mut order = ids.clone();
            order.sort_by_key(|router| router / stride % side);
            partitions.push(halve(&order));
            stride *= side;
        }
        // The ids halve the last dimension with more than one coordinate, if that is even.
        if partitions[1..].contains(&partitions[0]) {
            partitions.remove(0);
        }
    }
    if !(2..=LARGEST).contains(&graph.len()) {
        return (partitions, None);
    }
    let fiedler = fiedler(graph);
    let mut order = ids;
    order.sort_by(|&a, &b| fiedler.vector[a as usize].total_cmp(&fiedler.vector[b as usize]));
    partitions.push(halve(&order));
    (partitions, Some(fiedler.value))
}

/// Links that every balanced partition cuts: between n0 and n1 of n routers there are at least λ2 n0 n1 / n (Fiedler,
/// Czech. Math. J. 1973). Known only where every router has as many terminals, so that n0 and n1 are halves of n.
fn spectral_bound(graph: &Graph, terminals: &[u32], estimate: f64) -> Option<u64> {
    if terminals[0] == 0 || terminals.iter().any(|&of_router| of_router != terminals[0]) {
        return None;
    }
    let (n, half) = (graph.len() as f64, (graph.len() / 2) as f64);
    let bound = connectivity_bound(graph, estimate)?;
    Some((bound * half * (n - half) / n).ceil() as u64)
}

/// No vertex: the end of a list.
const NONE: u32 = u32::MAX;

/// Improves one partition. The gain of a router is the number of links by which the cut shrinks if it changes sides.
struct Refiner<'a> {
    graph: &'a Graph,
    terminals: &'a [u32],
    side: &'a mut [u8],
    /// Terminals of side 0 less those of side 1.
    difference: i64,
    /// Terminals of the largest router: the difference that is allowed.
    allowed: i64,
    cut: i64,
    gain: Vec<i32>,
    buckets: Buckets,
}

impl<'a> Refiner<'a> {
    fn new(graph: &'a Graph, terminals: &'a [u32], side: &'a mut [u8]) -> Self {
        assert_eq!(side.len(), graph.len(), "a partition has one entry for each router");
        side.iter_mut().for_each(|side| *side = u8::from(*side != 0));
        let signed = |(&terminals, &side): (&u32, &u8)| i64::from(terminals) * (1 - 2 * i64::from(side));
        let difference = terminals.iter().zip(&*side).map(signed).sum();
        let allowed = terminals.iter().copied().max().unwrap_or(0).into();
        let reach = (0..graph.len() as u32).map(|router| graph.degree(router)).max().unwrap_or(0) as i32;
        let buckets = Buckets::new(graph.len(), reach);
        let mut refiner = Self { graph, terminals, side, difference, allowed, cut: 0, gain: Vec::new(), buckets };
        refiner.count();
        refiner
    }

    /// Computes all gains, and the cut.
    fn count(&mut self) {
        let gain = |router: u32| -> i32 {
            let links = self.graph.links(router);
            links.map(|(peer, links)| if self.apart(router, peer) { links as i32 } else { -(links as i32) }).sum()
        };
        self.gain = (0..self.graph.len() as u32).map(gain).collect();
        let crossing = |router: u32| -> i64 {
            let links = self.graph.links(router).filter(|&(peer, _)| self.apart(router, peer));
            links.map(|(_, links)| i64::from(links)).sum()
        };
        self.cut = (0..self.graph.len() as u32).map(crossing).sum::<i64>() / 2;
    }

    fn apart(&self, a: u32, b: u32) -> bool {
        self.side[a as usize] != self.side[b as usize]
    }

    fn balanced(&self) -> bool {
        self.difference.abs() <= self.allowed
    }

    /// Passes with more and more freedom; each success restarts with the least.
    fn run(mut self, stage: &Stage) -> Cut {
        /// The difference that a pass may go through, in units of the allowed one.
        const FREEDOM: [i64; 4] = [2, 6, 16, 64];
        let mut level = 0;
        while level < FREEDOM.len() {
            stage.steps(0);
            level = if self.pass(FREEDOM[level] * self.allowed) { 0 } else { level + 1 };
        }
        Cut { links: self.cut as u64, exact_balance: self.balanced() }
    }

    /// Moves each router once, the most profitable first, and keeps the best balanced state of the pass. True if that
    /// is better than the state before.
    fn pass(&mut self, freedom: i64) -> bool {
        /// Moves without a success after which a pass of a large network gives up; a quarter of it in small ones.
        const PATIENCE: usize = 50_000;
        let patience = (self.graph.len() / 4).clamp(200, PATIENCE);
        let before = (!self.balanced(), self.cut);
        let (mut best, mut best_length) = (before, 0);
        let mut moves: Vec<u32> = Vec::new();
        self.fill_buckets();
        while let Some(router) = self.choose(freedom) {
            self.buckets.remove(router, self.class(router), self.gain[router as usize]);
            self.change_side(router);
            moves.push(router);
            let state = (!self.balanced(), self.cut);
            if state < best {
                (best, best_length) = (state, moves.len());
            } else if moves.len() - best_length > patience && !best.0 {
                break;
            }
        }
        // Undoing the moves keeps the gains correct as well; the buckets are no longer used.
        self.buckets.clear();
        for &router in moves[best_length..].iter().rev() {
            self.change_side(router);
        }
        best < before
    }

    /// Routers that weigh are kept apart from those that do not, and by side: the balance allows or forbids a class.
    fn class(&self, router: u32) -> usize {
        2 * self.side[router as usize] as usize + usize::from(self.terminals[router as usize] > 0)
    }

    fn fill_buckets(&mut self) {
        for router in 0..self.graph.len() as u32 {
            self.buckets.insert(router, self.class(router), self.gain[router as usize]);
        }
    }

    /// The difference once `router` has changed sides.
    fn difference_after(&self, router: u32) -> i64 {
        let terminals = i64::from(self.terminals[router as usize]);
        self.difference - 2 * terminals * (1 - 2 * i64::from(self.side[router as usize]))
    }

    /// The router of the largest gain that the balance lets go; of equal ones that which leaves the better balance.
    fn choose(&self, freedom: i64) -> Option<u32> {
        /// Routers of a class that are asked: they mostly weigh the same, and one answer stands for all.
        const ASKED: usize = 16;
        let fits = |&router: &u32| {
            let after = self.difference_after(router).abs();
            after <= freedom || after < self.difference.abs()
        };
        let best_of_class = |class: usize| self.buckets.by_gain(class).take(ASKED).find(fits);
        let candidates = (0..CLASSES).filter_map(best_of_class);
        candidates.max_by_key(|&router| (self.gain[router as usize], -self.difference_after(router).abs()))
    }

    fn change_side(&mut self, router: u32) {
        self.difference = self.difference_after(router);
        self.cut -= i64::from(self.gain[router as usize]);
        self.side[router as usize] ^= 1;
        self.gain[router as usize] *= -1;
        let graph = self.graph;
        for (peer, links) in graph.links(router) {
            let change = 2 * links as i32 * if self.apart(router, peer) { 1 } else { -1 };
            let gain = self.gain[peer as usize];
            self.gain[peer as usize] = gain + change;
            if self.buckets.contains(peer) {
                let class = self.class(peer);
                self.buckets.remove(peer, class, gain);
                self.buckets.insert(peer, class, gain + change);
            }
        }
    }
}

const CLASSES: usize = 4;

/// The routers of each class by gain: a linked list for each gain, the last that came first.
struct Buckets {
    /// Gains reach from -reach to reach.
    reach: i32,
    /// The first of each list, class by class.
    heads: Vec<u32>,
    /// The largest gain of each class whose list may not be empty, as an index.
    tops: [usize; CLASSES],
    next: Vec<u32>,
    previous: Vec<u32>,
    inside: Vec<bool>,
}

impl Buckets {
    fn new(routers: usize, reach: i32) -> Self {
        let heads = vec![NONE; CLASSES * (2 * reach as usize + 1)];
        let (next, previous) = (vec![NONE; routers], vec![NONE; routers]);
        Self { reach, heads, tops: [0; CLASSES], next, previous, inside: vec![false; routers] }
    }

    fn clear(&mut self) {
        self.heads.fill(NONE);
        self.tops = [0; CLASSES];
        self.inside.fill(false);
    }

    fn width(&self) -> usize {
        2 * self.reach as usize + 1
    }

    fn place(&self, gain: i32) -> usize {
        (gain + self.reach) as usize
    }

    fn contains(&self, router: u32) -> bool {
        self.inside[router as usize]
    }

    fn insert(&mut self, router: u32, class: usize, gain: i32) {
        let place = self.place(gain);
        let list = class * self.width() + place;
        let head = std::mem::replace(&mut self.heads[list], router);
        self.next[router as usize] = head;
        self.previous[router as usize] = NONE;
        if head != NONE {
            self.previous[head as usize] = router;
        }
        self.inside[router as usize] = true;
        self.tops[class] = self.tops[class].max(place);
    }

    fn remove(&mut self, router: u32, class: usize, gain: i32) {
        let (previous, next) = (self.previous[router as usize], self.next[router as usize]);
        match previous {
            NONE => {
                let list = class * self.width() + self.place(gain);
                self.heads[list] = next;
            }
            _ => self.next[previous as usize] = next,
        }
        if next != NONE {
            self.previous[next as usize] = previous;
        }
        self.inside[router as usize] = false;
        while self.tops[class] > 0 && self.heads[class * self.width() + self.tops[class]] == NONE {
            self.tops[class] -= 1;
        }
    }

    /// The routers of a class from the largest gain down.
    fn by_gain(&self, class: usize) -> impl Iterator<Item = u32> + '_ {
        let lists = &self.heads[class * self.width()..class * self.width() + self.tops[class] + 1];
        lists.iter().rev().flat_map(|&head| {
            std::iter::successors((head != NONE).then_some(head), |&router| {
                let next = self.next[router as usize];
                (next != NONE).then_some(next)
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::metis_graph;
    use crate::topology::build;

    fn network(spec: &str) -> Network {
        build(spec).expect(spec)
    }

    /// The cut and the difference of terminals, counted again.
    fn slowly(network: &Network, partition: &[u8]) -> (u64, i64) {
        let side = |port: crate::network::PortId| partition[network.ports()[port.index()].router.index()];
        let cut = network.links().iter().filter(|link| side(link.ends[0]) != side(link.ends[1])).count();
        let signs = network.routers().flat_map(|router| network.terminals_of(router).map(move |_| router));
        (cut as u64, signs.map(|router| if partition[router.index()] == 0 { 1 } else { -1 }).sum())
    }

    /// The smallest balanced cut by trying all partitions.
    fn by_force(network: &Network) -> u64 {
        let n = network.num_routers();
        let largest = network.routers().map(|router| network.terminals_of(router).count()).max().unwrap_or(0) as i64;
        let partitions = (0..1u32 << (n - 1)).map(|bits| (0..n).map(|i| (bits >> i & 1) as u8).collect::<Vec<_>>());
        let cuts = partitions.map(|partition| slowly(network, &partition));
        cuts.filter(|(_, difference)| difference.abs() <= largest).map(|(cut, _)| cut).min().expect("one is balanced")
    }

    #[test]
    fn small_networks_agree_with_all_partitions() {
        for spec in [
            "mesh:4x4",
            "mesh:5x3,p=2",
            "torus:4x4",
            "hyperx:4x3,trunk=2",
            "flex:2x2x3",
            "dragonfly:a=3,h=1,p=2",
            "fattree:k=2,levels=3",
            "slimfly:q=3",
        ] {
            let network = network(spec);
            let found = best(&network, Vec::new());
            let least = by_force(&network);
            assert_eq!(found.bisection_links, least, "{spec}");
            assert!(found.bisection_bound.is_none_or(|bound| bound <= least), "{spec}");
            assert_eq!(slowly(&network, &found.partition).0, least, "{spec}");
        }
    }

    #[test]
    fn published_bisections() {
        for (spec, links) in [
            ("flex:4x4x3", 96),
            ("flex:5x4x3", 120),
            ("flex:4x100x3", 2400),
            ("hyperx:10x10,p=9", 250),
            ("hyperx:14x14", 686),
            ("flex:6x6x3,p=10", 324),
            ("flex:8x8x3", 768),
        ] {
            let found = best(&network(spec), Vec::new());
            assert_eq!(
                (found.bisection_links, found.bisection_is),
                (links, BisectionIs::Exact),
                "{spec}: {:?}",
                found.bisection_bound
            );
        }
    }

    /// Half the terminals of a fat tree can always send to the other half at once.
    #[test]
    fn a_fat_tree_has_full_bisection() {
        let found = best(&network("fattree:k=10,levels=3"), Vec::new());
        assert_eq!((found.bisection_links, found.bisection_ratio, found.beta), (500, Some(0.25), Some(1.0)));
        assert_eq!(found.bisection_bound, None);
    }

    #[test]
    fn any_partition_is_balanced_and_improved() {
        let mut random = crate::rng::Rng::stream(5, 0);
        for spec in ["slimfly:q=5,p=3", "dragonfly:a=4,h=2,p=2", "fattree:k=3,levels=3", "mesh:5x5", "flex:3x3x3,p=4"] {
            let network = network(spec);
            let largest =
                network.routers().map(|router| network.terminals_of(router).count()).max().unwrap_or(0) as i64;
            for share in [0, 1, 5, 9, 10] {
                let mut partition: Vec<u8> = network.routers().map(|_| u8::from(random.below(10) < share)).collect();
                let cut = refine(&network, &mut partition);
                let (links, difference) = slowly(&network, &partition);
                assert!(cut.exact_balance && difference.abs() <= largest, "{spec} is off by {difference}");
                assert_eq!(cut.links, links, "{spec}");
                assert_eq!(refine(&network, &mut partition.clone()), cut, "{spec}: nothing is left to improve");
            }
        }
    }

    #[test]
    fn the_graph_for_metis_merges_parallel_links() {
        let graph = metis_graph(&network("hyperx:3,trunk=2,p=4"));
        assert_eq!((graph.xadj, graph.adjncy), (vec![0, 2, 4, 6], vec![1, 2, 0, 2, 0, 1]));
        assert_eq!((graph.adjwgt, graph.vwgt), (vec![2; 6], vec![4; 3]));
        assert_eq!(metis_graph(&network("fattree:k=2,levels=2")).vwgt, [2, 2, 0, 0]);
    }

    /// The smallest balanced cut in Gb/s by trying all partitions.
    fn gbps_by_force(network: &Network) -> f64 {
        let n = network.num_routers();
        let largest = network.routers().map(|router| network.terminals_of(router).count()).max().unwrap_or(0) as i64;
        let partitions = (0..1u32 << (n - 1)).map(|bits| (0..n).map(|i| (bits >> i & 1) as u8).collect::<Vec<_>>());
        let balanced = partitions.filter(|partition| slowly(network, partition).1.abs() <= largest);
        let gbps = |partition: Vec<u8>| -> f64 {
            let cut = |link: &&Link| {
                let [a, b] = network.routers_of(link);
                partition[a.index()] != partition[b.index()]
            };
            network.links().iter().filter(cut).map(|link| network.gbps(link.ends[0]).expect("rates")).sum()
        };
        balanced.map(gbps).fold(f64::INFINITY, f64::min)
    }

    #[test]
    fn bisections_count_what_links_carry() {
        for spec in [
            "mesh:4x4,rate=106.25G",
            "dragonfly:a=3,h=1,p=2,rate=400G,rate.global=50G",
            "dragonfly:a=3,h=1,p=2,rate=50G,rate.global=900G",
            "fattree:k=2,levels=3,rate=400G,rate.terminal=200G",
        ] {
            let network = network(spec);
            assert_eq!(best(&network, Vec::new()).bisection_gbps, Some(gbps_by_force(&network)), "{spec}");
        }
        assert_eq!(best(&network("mesh:4x4"), Vec::new()).bisection_gbps, None);
    }

    #[test]
    fn one_router_cuts_nothing() {
        let found = best(&network("mesh:1,p=3"), Vec::new());
        assert_eq!((found.bisection_links, found.bisection_ratio), (0, None));
    }

    #[test]
    fn the_json_has_the_published_keys() {
        let json = serde_json::to_value(best(&network("flex:4x4x3"), Vec::new())).expect("serialises");
        assert_eq!(json["bisection_is"], "exact");
        assert_eq!(json["bisection_links"], 96);
        assert_eq!(json["beta"], 4.0);
    }
}
