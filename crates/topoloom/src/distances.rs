//! Exact distances between all pairs of routers.
//!
//! Breadth-first search from many sources at a time: a bit for each source is at each router, so that one pass over
//! the links moves hundreds of searches on (Then et al., The more the merrier, VLDB 2014). Where a family knows its
//! symmetries, one source of each orbit does.

use rayon::prelude::*;
use serde::Serialize;

use crate::error::{Error, Result};
use crate::graph::{Graph, terminals_by_router};
use crate::network::{Network, RouterId};
use crate::rng::Rng;
use crate::watch::{self, Stage};

/// Words of 64 sources that one sweep carries: a cache line for each router.
const WORDS: usize = 8;

/// What is seen of a search for distances: the routers that it has searched from.
const STAGE: &str = "distances";

/// A set of the sources of one sweep.
type Sources = [u64; WORDS];

const NOBODY: Sources = [0; WORDS];

/// Distances between routers, counted.
#[derive(Debug, Clone, PartialEq)]
pub struct Distances {
    /// Ordered pairs of routers by distance in links; entry 0 counts each router with itself. Pairs without a path are
    /// not in it, nor are routers that have failed.
    pub histogram: Vec<u64>,
    /// Routers of each connected component, the largest first.
    pub component_sizes: Vec<u32>,
    /// Links on minimal paths, summed over ordered pairs of terminals.
    terminal_hops: u128,
    /// Ordered pairs of terminals that a path joins, each terminal with itself among them.
    terminal_pairs: u128,
    /// Ordered pairs of terminals that were looked at, each terminal with itself among them.
    terminal_pairs_asked: u128,
    terminals: u64,
    /// The sample, if these are not the distances from all routers.
    pub sample: Option<Sample>,
}

/// What is known of the precision of sampled distances. The names are the keys of the JSON.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Sample {
    /// Routers from which distances were measured, drawn without repetition.
    pub sources: u32,
    /// The seed of the draw.
    pub seed: u64,
    /// Half the width of the 95 % confidence interval of the average distance.
    pub average_distance_ci95: Option<f64>,
}

impl Distances {
    /// Computes the distances of all pairs.
    pub fn new(network: &Network) -> Self {
        let graph = Graph::new(network);
        let terminals = terminals_by_router(network);
        let orbits = network.orbits();
        let levels = if orbits.is_empty() {
            let sources: Vec<u32> = network.up_routers().map(|router| router.0).collect();
            let stage = watch::stage(STAGE, sources.len() as u64);
            from_sources(&graph, &terminals, sources, &stage)
        } else {
            let stage = watch::stage(STAGE, orbits.len() as u64);
            let of_orbit =
                |&(router, size): &(RouterId, u32)| one_source(&graph, &terminals, router.0, &stage).times(size);
            orbits.par_iter().panic_fuse().map(of_orbit).reduce(Levels::default, Levels::merge)
        };
        let all = sum(&terminals);
        Self::of(network, &graph, levels, all * all, None)
    }

    /// Computes the distances from `sources` random routers to all; from all of them if there are no more.
    pub fn sampled(network: &Network, sources: u32, seed: u64) -> Self {
        let mut routers: Vec<u32> = network.up_routers().map(|router| router.0).collect();
        if sources as usize >= routers.len() {
            return Self::new(network);
        }
        let (graph, terminals) = (Graph::new(network), terminals_by_router(network));
        let all = routers.len();
        Rng::stream(seed, 0).shuffle(&mut routers);
        routers.truncate(sources as usize);
        let stage = watch::stage(STAGE, routers.len() as u64);
        let search = |&router: &u32| one_source(&graph, &terminals, router, &stage);
        let searches: Vec<Levels> = routers.par_iter().panic_fuse().map(search).collect();
        drop(stage);
        let means: Vec<f64> = searches.iter().filter_map(Levels::mean).collect();
        let sample = Sample { sources, seed, average_distance_ci95: half_width(&means, all) };
        let own: u128 = routers.iter().map(|&router| u128::from(terminals[router as usize])).sum();
        let levels = searches.into_iter().fold(Levels::default(), Levels::merge);
        Self::of(network, &graph, levels, own * sum(&terminals), Some(sample))
    }

    fn of(network: &Network, graph: &Graph, levels: Levels, asked: u128, sample: Option<Sample>) -> Self {
        Self {
            terminal_hops: (0u128..).zip(&levels.0).map(|(distance, level)| distance * level.terminal_pairs).sum(),
            terminal_pairs: levels.0.iter().map(|level| level.terminal_pairs).sum(),
            terminal_pairs_asked: asked,
            histogram: levels.0.iter().map(|level| level.pairs).collect(),
            component_sizes: component_sizes(network, graph),
            terminals: sum(&terminals_by_router(network)) as u64,
            sample,
        }
    }

    /// Routers that [`Distances::new`] searches from: one of each orbit, or all where no symmetry is known.
    pub fn sources(network: &Network) -> usize {
        match network.orbits().len() {
            0 => network.num_routers(),
            orbits => orbits,
        }
    }

    /// True if a path joins every pair of routers.
    pub fn connected(&self) -> bool {
        self.component_sizes.len() <= 1
    }

    /// The largest distance, if the network is connected and all distances were measured.
    pub fn diameter(&self) -> Option<u32> {
        (self.connected() && self.sample.is_none()).then(|| self.largest())
    }

    /// The largest distance that was measured.
    pub fn largest(&self) -> u32 {
        self.histogram.len() as u32 - 1
    }

    /// The mean distance over ordered pairs of distinct routers, if there are any and paths join all.
    pub fn average_distance(&self) -> Option<f64> {
        let pairs: u64 = self.histogram[1..].iter().sum();
        let sum: u128 = (0u128..).zip(&self.histogram).map(|(distance, &pairs)| distance * u128::from(pairs)).sum();
        (self.connected() && pairs > 0).then(|| sum as f64 / pairs as f64)
    }

    /// The mean number of links between routers on a minimal path, over ordered pairs of distinct terminals (two of the
    /// same router are 0 apart), if there are any and paths join all.
    pub fn average_hops(&self) -> Option<f64> {
        // Every terminal that was asked has itself among its partners.
        let distinct = self.terminal_pairs_asked - self.terminal_pairs_asked.checked_div(self.terminals.into())?;
        let joined = self.terminal_pairs == self.terminal_pairs_asked;
        (joined && distinct > 0).then(|| self.terminal_hops as f64 / distinct as f64)
    }
}

/// All terminals, from those of each router.
fn sum(terminals: &[u32]) -> u128 {
    terminals.iter().copied().map(u128::from).sum()
}

/// Half the width of the 95 % confidence interval of the mean of `all` values, of which these were drawn.
fn half_width(values: &[f64], all: usize) -> Option<f64> {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0);
    // Sources are drawn without repetition, so the last ones add less information.
    let left = 1.0 - n / all as f64;
    (values.len() > 1).then(|| 1.96 * (variance / n * left).sqrt())
}

/// Rejects a network in which not every pair of routers is joined by a path.
///
/// # Errors
/// [`Error::Routing`] with the sizes of the components.
pub fn require_connected(network: &Network) -> Result<()> {
    /// Components that fit into a sentence.
    const TOLD: usize = 8;
    let sizes = component_sizes(network, &Graph::new(network));
    if sizes.len() <= 1 {
        return Ok(());
    }
    let told: Vec<String> = sizes.iter().take(TOLD).map(u32::to_string).collect();
    let rest = sizes.len() - told.len();
    let rest = if rest > 0 { format!(" routers, and {rest} that are no larger") } else { " routers".to_owned() };
    Err(Error::Routing(format!(
        "{} is disconnected: it falls into {} components of {}{rest}; packets need a path between every pair",
        network.spec(),
        sizes.len(),
        told.join(", ")
    )))
}

/// The pairs at one distance: of routers, and of their terminals.
#[derive(Debug, Clone, Copy, Default)]
struct Level {
    pairs: u64,
    terminal_pairs: u128,
}

/// The pairs at each distance.
#[derive(Debug, Default)]
struct Levels(Vec<Level>);

impl Levels {
    fn add(&mut self, distance: usize, pairs: u64, terminal_pairs: u128) {
        if self.0.len() <= distance {
            self.0.resize(distance + 1, Level::default());
        }
        self.0[distance].pairs += pairs;
        self.0[distance].terminal_pairs += terminal_pairs;
    }

    /// The mean distance to another router.
    fn mean(&self) -> Option<f64> {
        let pairs: u64 = self.0[1..].iter().map(|level| level.pairs).sum();
        let sum: u64 = (0..).zip(&self.0).map(|(distance, level)| distance * level.pairs).sum();
        (pairs > 0).then(|| sum as f64 / pairs as f64)
    }

    fn merge(mut self, other: Self) -> Self {
        for (distance, level) in other.0.into_iter().enumerate() {
            self.add(distance, level.pairs, level.terminal_pairs);
        }
        self
    }

    fn times(mut self, factor: u32) -> Self {
        for level in &mut self.0 {
            level.pairs *= u64::from(factor);
            level.terminal_pairs *= u128::from(factor);
        }
        self
    }
}

/// The routers in the order of their distance from `source`, cut into levels; `seen` marks those that were met before,
/// here or in an earlier search. Where most routers are met, those that are not look for a neighbour that is, rather than
/// the other way round (Beamer, Asanović and Patterson, Direction-optimizing breadth-first search, SC 2012).
pub(super) fn search(graph: &Graph, source: u32, seen: &mut [bool], mut visit: impl FnMut(usize, u32)) {
    let (mut frontier, mut next) = (vec![source], Vec::new());
    seen[source as usize] = true;
    let mut unseen = seen.iter().filter(|seen| !**seen).count();
    let (mut left, mut is_frontier): (Option<Vec<u32>>, Vec<bool>) = (None, Vec::new());
    for distance in 0.. {
        frontier.iter().for_each(|&router| visit(distance, router));
        if unseen == 0 {
            return;
        }
        if frontier.len() < unseen {
            for &router in &frontier {
                for &peer in graph.neighbors(router) {
                    if !std::mem::replace(&mut seen[peer as usize], true) {
                        next.push(peer);
                    }
                }
            }
        } else {
            let all = || (0..graph.len() as u32).filter(|&router| !seen[router as usize]).collect();
            let left = left.get_or_insert_with(all);
            is_frontier.clear();
            is_frontier.resize(graph.len(), false);
            frontier.iter().for_each(|&router| is_frontier[router as usize] = true);
            left.retain(|&router| {
                if seen[router as usize] {
                    return false;
                }
                let met = graph.neighbors(router).iter().any(|&peer| is_frontier[peer as usize]);
                if met {
                    next.push(router);
                }
                !met
            });
            next.iter().for_each(|&router| seen[router as usize] = true);
        }
        if next.is_empty() {
            return;
        }
        unseen -= next.len();
        std::mem::swap(&mut frontier, &mut next);
        next.clear();
    }
}

/// Links on a shortest path from `source` to each router; `u32::MAX` where there is none.
pub(super) fn distances_from(graph: &Graph, source: u32) -> Vec<u32> {
    let mut distances = vec![u32::MAX; graph.len()];
    search(graph, source, &mut vec![false; graph.len()], |distance, router| {
        distances[router as usize] = distance as u32
    });
    distances
}

/// Links on a shortest path from each vertex to each other, one row at a time, of a graph as for [`histogram`];
/// `u32::MAX` where there is none.
pub fn rows(vertices: usize, list: impl Fn(u32, &mut Vec<u32>)) -> impl Iterator<Item = Vec<u32>> {
    let graph = Graph::gather(vertices, list);
    (0..vertices as u32).map(move |source| distances_from(&graph, source))
}

fn one_source(graph: &Graph, terminals: &[u32], source: u32, stage: &Stage) -> Levels {
    let mut levels = Levels::default();
    let own = u128::from(terminals[source as usize]);
    search(graph, source, &mut vec![false; graph.len()], |distance, router| {
        levels.add(distance, 1, own * u128::from(terminals[router as usize]));
    });
    stage.step();
    levels
}

/// The distance in links from every router (a row each) to every router; 0 where there is no path.
pub fn matrix(network: &Network) -> Vec<Vec<u16>> {
    let graph = Graph::new(network);
    let stage = watch::stage(STAGE, graph.len() as u64);
    let row = |source| {
        let mut row = vec![0; graph.len()];
        search(&graph, source, &mut vec![false; graph.len()], |distance, router| {
            row[router as usize] = distance as u16;
        });
        stage.step();
        row
    };
    (0..graph.len() as u32).into_par_iter().panic_fuse().map(row).collect()
}

fn component_sizes(network: &Network, graph: &Graph) -> Vec<u32> {
    let mut seen = vec![false; graph.len()];
    let mut sizes = Vec::new();
    for source in network.up_routers() {
        if !seen[source.index()] {
            let mut size = 0;
            search(graph, source.0, &mut seen, |_, _| size += 1);
            sizes.push(size);
        }
    }
    sizes.sort_unstable_by(|a, b| b.cmp(a));
    sizes
}

/// Ordered pairs of vertices that a path joins, by distance in links, from 0 on: of a graph of this many vertices whose
/// neighbours `list` appends, in any order.
pub fn histogram(vertices: usize, list: impl Fn(u32, &mut Vec<u32>)) -> Vec<u64> {
    let stage = watch::stage(STAGE, vertices as u64);
    histogram_from(&Graph::gather(vertices, list), (0..vertices as u32).collect(), &stage)
}

/// Ordered pairs of a source and a router that it reaches, by distance in links, from 0 on. A step of `stage` is a
/// source.
pub(super) fn histogram_from(graph: &Graph, sources: Vec<u32>, stage: &Stage) -> Vec<u64> {
    from_sources(graph, &vec![0; graph.len()], sources, stage).0.iter().map(|level| level.pairs).collect()
}

fn from_sources(graph: &Graph, terminals: &[u32], mut sources: Vec<u32>, stage: &Stage) -> Levels {
    // The sources of a sweep have equally many terminals, so that counting bits is enough to weight the pairs.
    sources.sort_by_key(|&router| terminals[router as usize]);
    let alike = sources.chunk_by(|&a, &b| terminals[a as usize] == terminals[b as usize]);
    let batches: Vec<&[u32]> = alike.flat_map(|routers| routers.chunks(64 * WORDS)).collect();
    // What is left of a cancelled search begins all the same: it must not take memory first.
    let sweep = || {
        stage.steps(0);
        Sweep::new(graph, terminals)
    };
    batches
        .into_par_iter()
        .map_init(sweep, |sweep, sources| sweep.run(sources, stage))
        .reduce(Levels::default, Levels::merge)
}

/// Breadth-first search from up to 64 * WORDS sources at a time.
struct Sweep<'a> {
    graph: &'a Graph,
    terminals: &'a [u32],
    /// The sources that have reached each router.
    seen: Vec<Sources>,
    /// Those that reached it at the distance at hand.
    frontier: Vec<Sources>,
    /// Those that reach it next; all empty between two pushes.
    next: Vec<Sources>,
    /// The routers whose frontier is not empty.
    active: Vec<u32>,
    touched: Vec<u32>,
}

impl<'a> Sweep<'a> {
    fn new(graph: &'a Graph, terminals: &'a [u32]) -> Self {
        let empty = || vec![NOBODY; graph.len()];
        let (active, touched) = (Vec::new(), Vec::new());
        Self { graph, terminals, seen: empty(), frontier: empty(), next: empty(), active, touched }
    }

    fn run(&mut self, sources: &[u32], stage: &Stage) -> Levels {
        self.seen.fill(NOBODY);
        let mut all = NOBODY;
        for (bit, &source) in sources.iter().enumerate() {
            let mark = 1 << (bit % 64);
            all[bit / 64] |= mark;
            self.frontier[source as usize][bit / 64] = mark;
            self.seen[source as usize][bit / 64] = mark;
            self.active.push(source);
        }
        let own = u128::from(self.terminals[sources[0] as usize]);
        let mut levels = Levels::default();
        for distance in 0.. {
            let (pairs, weighted) = self.count();
            levels.add(distance, pairs, own * weighted);
            // Few active routers push to their neighbours; many are read by all that still miss somebody.
            if 4 * self.active.len() < self.graph.len() {
                self.push()
            } else {
                self.pull(&all)
            }
            if self.active.is_empty() {
                stage.steps(sources.len() as u64);
                return levels;
            }
            stage.steps(0);
        }
        unreachable!("a search ends")
    }

    /// The pairs of the distance at hand, and the same weighted with the terminals of the router that is reached.
    fn count(&self) -> (u64, u128) {
        self.active.iter().fold((0, 0), |(pairs, weighted), &router| {
            let here: u64 = self.frontier[router as usize].iter().map(|word| u64::from(word.count_ones())).sum();
            (pairs + here, weighted + u128::from(here) * u128::from(self.terminals[router as usize]))
        })
    }

    fn push(&mut self) {
        for router in self.active.drain(..) {
            let arriving = std::mem::replace(&mut self.frontier[router as usize], NOBODY);
            for &peer in self.graph.neighbors(router) {
                let next = &mut self.next[peer as usize];
                if *next == NOBODY {
                    self.touched.push(peer);
                }
                join(next, &arriving);
            }
        }
        for router in self.touched.drain(..) {
            let arriving = std::mem::replace(&mut self.next[router as usize], NOBODY);
            let seen = &mut self.seen[router as usize];
            let new = without(&arriving, seen);
            if new != NOBODY {
                join(seen, &new);
                self.frontier[router as usize] = new;
                self.active.push(router);
            }
        }
    }

    fn pull(&mut self, all: &Sources) {
        let before = std::mem::take(&mut self.active);
        for router in 0..self.graph.len() {
            let seen = &mut self.seen[router];
            if seen == all {
                continue;
            }
            let mut arriving = NOBODY;
            for &peer in self.graph.neighbors(router as u32) {
                join(&mut arriving, &self.frontier[peer as usize]);
            }
            let new = without(&arriving, seen);
            if new != NOBODY {
                join(seen, &new);
                self.next[router] = new;
                self.active.push(router as u32);
            }
        }
        for router in before {
            self.frontier[router as usize] = NOBODY;
        }
        std::mem::swap(&mut self.frontier, &mut self.next);
    }
}

fn join(set: &mut Sources, other: &Sources) {
    for (word, other) in set.iter_mut().zip(other) {
        *word |= other;
    }
}

fn without(set: &Sources, other: &Sources) -> Sources {
    std::array::from_fn(|word| set[word] & !other[word])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::{LinkClass, NetworkBuilder, Structure};
    use crate::topology::build;

    #[derive(Debug)]
    struct Plain;
    impl Structure for Plain {}

    fn graph(routers: u32, terminals: &[u32], links: &[(u32, u32)]) -> Network {
        let mut builder = NetworkBuilder::new(routers);
        terminals.iter().for_each(|&router| builder.terminal(router));
        links.iter().for_each(|&(a, b)| builder.link(a, b, LinkClass::Local));
        builder.build("test".into(), "test", Box::new(Plain)).expect("small")
    }

    /// Floyd and Warshall's distances, `None` without a path.
    fn slowly(network: &Network) -> Vec<Vec<Option<u64>>> {
        let n = network.num_routers();
        let mut distance = vec![vec![None; n]; n];
        for router in network.routers() {
            distance[router.index()][router.index()] = Some(0);
            for (_, peer) in network.neighbors(router) {
                distance[router.index()][peer.index()] = Some(1);
            }
        }
        for middle in 0..n {
            for a in 0..n {
                for b in 0..n {
                    let Some(detour) = distance[a][middle].zip(distance[middle][b]).map(|(x, y)| x + y) else {
                        continue;
                    };
                    if distance[a][b].is_none_or(|known| known > detour) {
                        distance[a][b] = Some(detour);
                    }
                }
            }
        }
        distance
    }

    fn check(network: &Network, distances: &Distances) {
        let slow = slowly(network);
        let found: Vec<u64> = slow.iter().flatten().flatten().copied().collect();
        let longest = found.iter().copied().max().unwrap_or(0);
        let histogram: Vec<u64> = (0..=longest).map(|d| found.iter().filter(|&&x| x == d).count() as u64).collect();
        assert_eq!(distances.histogram, histogram, "{network:?}");
        let routers: Vec<usize> =
            network.routers().flat_map(|router| network.terminals_of(router).map(move |_| router.index())).collect();
        let hops: Option<u64> =
            routers.iter().flat_map(|&a| routers.iter().map(move |&b| (a, b))).map(|(a, b)| slow[a][b]).sum();
        let pairs = (routers.len() * routers.len().saturating_sub(1)) as f64;
        let average = hops.filter(|_| pairs > 0.0).map(|hops| hops as f64 / pairs);
        assert_eq!(distances.average_hops(), average, "{network:?}");
    }

    #[test]
    fn all_families_agree_with_a_slow_definition() {
        for spec in [
            "mesh:7x5,p=2",
            "mesh:40x15",
            "torus:6x5x2,p=3",
            "torus:600",
            "hyperx:4x3x3,p=2,trunk=2",
            "fattree:k=2,levels=4",
            "fattree:k=4,levels=3",
            "dragonfly:a=4,h=2,p=2",
            "dragonfly:a=3,h=2,g=4,arrangement=random",
            "slimfly:q=7,p=3",
            "flex:4x3x3,p=2",
            "flex:3x3x2",
            "flex:2x2x4",
        ] {
            let network = build(spec).expect(spec);
            check(&network, &Distances::new(&network));
        }
    }

    #[test]
    fn terminals_on_some_routers_weight_the_hops() {
        let path = graph(5, &[0, 0, 3, 4, 4, 4], &[(0, 1), (1, 2), (2, 3), (3, 4)]);
        check(&path, &Distances::new(&path));
    }

    #[test]
    fn symmetry_gives_what_all_sources_give() {
        for spec in [
            "torus:5x4x2,p=2",
            "hypercube:5",
            "folded-hypercube:5,p=2",
            "hyperx:4x3,p=3",
            "flex:4x3x3",
            "flex:3x3x2",
            "flex:2x2x4",
            "fattree:k=3,levels=3",
            "fattree:k=4,levels=3,taper=2x4",
            "clos:radix=6,levels=4",
            "clos:radix=8,levels=3,taper=4",
            "xgft:down=2x3x4,up=3x2",
        ] {
            let network = build(spec).expect(spec);
            let graph = Graph::new(&network);
            let all = (0..graph.len() as u32).collect();
            let levels = from_sources(&graph, &terminals_by_router(&network), all, &watch::stage(STAGE, 0));
            let histogram: Vec<u64> = levels.0.iter().map(|level| level.pairs).collect();
            assert!(!network.orbits().is_empty(), "{spec} knows its symmetry");
            assert_eq!(Distances::new(&network).histogram, histogram, "{spec}");
            // Every router by itself, too: a histogram over all hides differences between routers.
            for (first, size) in network.orbits().into_iter().map(|(router, size)| (router.0, size)) {
                let of = |router| {
                    one_source(&graph, &terminals_by_router(&network), router, &watch::stage(STAGE, 0))
                        .0
                        .iter()
                        .map(|l| l.pairs)
                        .collect::<Vec<_>>()
                };
                assert!((first..first + size).all(|router| of(router) == of(first)), "{spec}");
            }
        }
    }

    /// Their orbits are not of consecutive routers.
    #[test]
    fn symmetry_of_nested_networks() {
        for (spec, orbits) in [
            ("nesttree:t=2,u=1,endpoints=128,upper=4x4x8", 8 + 2 + 1 + 1),
            ("nesttree:t=2,u=8,endpoints=64,upper=2x4", 8 + 2),
            ("nesttree:t=4,u=8,endpoints=512,upper=2x2x16,attach=published", 64 + 4 + 2 + 1),
            ("nestghc:t=2,u=4,endpoints=128,upper=4x2x4", 8 + 1 + 2 + 2),
            ("nestghc:t=2,u=1,endpoints=64,upper=2x16x2", 8 + 4 + 2 + 8),
            ("nestghc:t=4,u=8,endpoints=256,upper=4x8,attach=published", 64 + 2 + 4),
            ("nesttree:t=3,u=1,endpoints=108,upper=6x18", 0),
        ] {
            let network = build(spec).expect(spec);
            let graph = Graph::new(&network);
            let all = (0..graph.len() as u32).collect();
            let levels = from_sources(&graph, &terminals_by_router(&network), all, &watch::stage(STAGE, 0));
            let histogram: Vec<u64> = levels.0.iter().map(|level| level.pairs).collect();
            assert_eq!(network.orbits().len(), orbits, "{spec}");
            assert_eq!(Distances::new(&network).histogram, histogram, "{spec}");
        }
    }

    #[test]
    fn sampled_distances_are_those_of_the_sources() {
        let network = build("mesh:23x17,p=2").expect("small");
        let all = Distances::new(&network);
        assert_eq!(Distances::sampled(&network, 400, 1), all, "from all there are");
        assert!(all.sample.is_none());
        let mut hits = 0;
        for seed in 0..40 {
            let some = Distances::sampled(&network, 60, seed);
            let sample = some.sample.expect("sampled");
            assert_eq!((sample.sources, sample.seed, some.diameter()), (60, seed, None));
            assert_eq!(some.histogram.iter().sum::<u64>(), 60 * 23 * 17);
            assert!(some.largest() <= 38);
            let off = some.average_distance().expect("connected") - all.average_distance().expect("connected");
            hits += u32::from(off.abs() <= sample.average_distance_ci95.expect("many"));
            // Every router has as many terminals: hops and distances differ by a constant factor.
            let ratio = |distances: &Distances| {
                distances.average_hops().expect("connected") / distances.average_distance().expect("connected")
            };
            assert!((ratio(&some) - ratio(&all)).abs() < 1e-9);
        }
        assert!(hits >= 34, "the interval holds the truth in {hits} of 40 samples");
        assert_eq!(Distances::sampled(&network, 60, 7), Distances::sampled(&network, 60, 7));
        assert_ne!(Distances::sampled(&network, 60, 7), Distances::sampled(&network, 60, 8));
    }

    #[test]
    fn disconnected_networks_say_so() {
        let two = graph(5, &[0, 1], &[(0, 1), (2, 3), (3, 4)]);
        let distances = Distances::new(&two);
        assert_eq!((distances.connected(), &distances.component_sizes[..]), (false, &[3, 2][..]));
        assert_eq!((distances.diameter(), distances.average_distance()), (None, None));
        assert_eq!(distances.average_hops(), Some(1.0), "the terminals are in one component");
        let apart = Distances::new(&graph(2, &[0, 1], &[]));
        assert_eq!(apart.average_hops(), None);
    }

    #[test]
    fn one_router_has_no_pairs() {
        let distances = Distances::new(&build("mesh:1").expect("one router"));
        assert_eq!(
            (distances.diameter(), distances.average_distance(), distances.average_hops()),
            (Some(0), None, None)
        );
    }
}
