//! Path diversity: how many shortest paths join two routers.
//!
//! Paths are counted by links: two that use different parallel links are two. Counts are exact. One that exceeds 128
//! bits, as on a mesh with sides of a hundred routers, is reported, and the numbers that depend on it are omitted.

use rayon::prelude::*;
use serde::Serialize;

use crate::graph::Graph;
use crate::network::{Network, RouterId};
use crate::watch;

/// The largest effort that a network is spared unless its user asks: links looked at, over all sources.
const EFFORT: u128 = 300_000_000;

/// Numbers of shortest paths. The names are the keys of the JSON; pairs are ordered, of distinct routers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PathDiversity {
    /// The fewest shortest paths of a pair that has any.
    pub shortest_paths_min: Option<u128>,
    /// The mean number of shortest paths, over pairs that have any; `None` also if counts passed 128 bits.
    pub shortest_paths_mean: Option<f64>,
    /// The most shortest paths of a pair; `None` also if counts passed 128 bits.
    pub shortest_paths_max: Option<u128>,
    /// True if counts passed 128 bits.
    pub shortest_paths_overflow: bool,
    /// Pairs with more than one shortest path over all pairs.
    pub multipath_share: Option<f64>,
    /// Those of them in one group, over all pairs; `None` if the network has no groups.
    pub multipath_share_intra: Option<f64>,
    /// Those of them in different groups, over all pairs.
    pub multipath_share_inter: Option<f64>,
}

/// What is counted from some sources.
#[derive(Debug, Clone, Copy)]
struct Count {
    pairs: u64,
    paths: u128,
    min: u128,
    max: u128,
    multiple_intra: u64,
    multiple: u64,
    overflow: bool,
}

impl Count {
    const NOTHING: Self =
        Self { pairs: 0, paths: 0, min: u128::MAX, max: 0, multiple_intra: 0, multiple: 0, overflow: false };

    fn merge(self, other: Self) -> Self {
        let (paths, overflow) = self.paths.overflowing_add(other.paths);
        Self {
            pairs: self.pairs + other.pairs,
            paths,
            min: self.min.min(other.min),
            max: self.max.max(other.max),
            multiple_intra: self.multiple_intra + other.multiple_intra,
            multiple: self.multiple + other.multiple,
            overflow: self.overflow || other.overflow || overflow,
        }
    }

    fn times(self, size: u32) -> Self {
        let (paths, overflow) = self.paths.overflowing_mul(size.into());
        let [pairs, multiple, multiple_intra] =
            [self.pairs, self.multiple, self.multiple_intra].map(|count| count * u64::from(size));
        Self { pairs, multiple, multiple_intra, paths, overflow: self.overflow || overflow, ..self }
    }
}

/// Counts the shortest paths between all routers; `None` if that would take more than some seconds, unless `insists`.
pub fn path_diversity(network: &Network, insists: bool) -> Option<PathDiversity> {
    let routers = network.up_routers().count();
    let groups: Option<Vec<u32>> = network.routers().map(|router| network.any_structure().group_of(router)).collect();
    // Symmetries need not respect the groups.
    let sources = match network.orbits() {
        orbits if groups.is_some() || orbits.is_empty() => network.routers().map(|router| (router, 1)).collect(),
        orbits => orbits,
    };
    let effort = sources.len() as u128 * (2 * network.links().len() + routers) as u128;
    if effort > EFFORT && !insists {
        return None;
    }
    let graph = Graph::new(network);
    let stage = watch::stage("shortest paths", sources.len() as u64);
    let count = sources
        .par_iter()
        .map_init(
            || Search::new(&graph),
            |search, &(source, size)| {
                stage.step();
                search.run(source, groups.as_deref()).times(size)
            },
        )
        .reduce(|| Count::NOTHING, Count::merge);
    let up = network.up_routers().count() as f64;
    let all = up * (up - 1.0);
    let share = |pairs: u64| (up > 1.0).then(|| pairs as f64 / all);
    let known = count.pairs > 0 && !count.overflow;
    Some(PathDiversity {
        shortest_paths_min: (count.pairs > 0).then_some(count.min),
        shortest_paths_mean: known.then(|| count.paths as f64 / count.pairs as f64),
        shortest_paths_max: known.then_some(count.max),
        shortest_paths_overflow: count.overflow,
        multipath_share: share(count.multiple),
        multipath_share_intra: groups.as_ref().and_then(|_| share(count.multiple_intra)),
        multipath_share_inter: groups.and_then(|_| share(count.multiple - count.multiple_intra)),
    })
}

/// Breadth-first search that counts paths.
struct Search<'a> {
    graph: &'a Graph,
    /// Links from the source, [`FAR`] where it has not come yet.
    distance: Vec<u32>,
    /// Shortest paths from the source; u128::MAX stands for more than that.
    paths: Vec<u128>,
    /// Routers in the order of their distance.
    queue: Vec<u32>,
}

/// No distance.
const FAR: u32 = u32::MAX;

impl<'a> Search<'a> {
    fn new(graph: &'a Graph) -> Self {
        let routers = graph.len();
        Self { graph, distance: vec![FAR; routers], paths: vec![0; routers], queue: Vec::new() }
    }

    fn run(&mut self, source: RouterId, groups: Option<&[u32]>) -> Count {
        self.distance.fill(FAR);
        self.paths.fill(0);
        self.queue.clear();
        self.queue.push(source.0);
        self.distance[source.index()] = 0;
        self.paths[source.index()] = 1;
        let mut place = 0;
        while let Some(&router) = self.queue.get(place) {
            place += 1;
            let (next, paths) = (self.distance[router as usize] + 1, self.paths[router as usize]);
            for (peer, links) in self.graph.links(router) {
                let distance = &mut self.distance[peer as usize];
                if *distance == FAR {
                    *distance = next;
                    self.queue.push(peer);
                }
                if *distance == next {
                    let sum = &mut self.paths[peer as usize];
                    *sum = sum.saturating_add(paths.saturating_mul(links.into()));
                }
            }
        }
        let in_group = |router: u32| groups.is_some_and(|groups| groups[router as usize] == groups[source.index()]);
        self.queue[1..].iter().fold(Count::NOTHING, |count, &router| {
            let paths = self.paths[router as usize];
            let multiple = u64::from(paths > 1);
            count.merge(Count {
                pairs: 1,
                paths,
                min: paths,
                max: paths,
                multiple,
                multiple_intra: if in_group(router) { multiple } else { 0 },
                overflow: paths == u128::MAX,
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::build;

    fn of(spec: &str) -> PathDiversity {
        path_diversity(&build(spec).expect(spec), true).expect("insists")
    }

    #[test]
    fn paths_of_grids_are_binomials() {
        // From corner to corner of a mesh of n by n: 2 (n - 1) over n - 1.
        assert_eq!(of("mesh:4x4").shortest_paths_max, Some(20));
        assert_eq!(of("mesh:3x3x3").shortest_paths_max, Some(90));
        assert_eq!(of("hyperx:4x4x4").shortest_paths_max, Some(6), "three dimensions in any order");
        assert_eq!(of("hyperx:4x4,trunk=3").shortest_paths_max, Some(18), "and any of the parallel links");
        assert_eq!(of("torus:4").shortest_paths_max, Some(2), "either way round");
        assert_eq!(of("torus:4").multipath_share, Some(1.0 / 3.0));
    }

    #[test]
    fn symmetry_gives_what_all_sources_give() {
        for spec in ["torus:5x4x3", "hyperx:4x3,trunk=2", "fattree:k=3,levels=3"] {
            let network = build(spec).expect(spec);
            let graph = Graph::new(&network);
            let mut search = Search::new(&graph);
            assert!(!network.orbits().is_empty(), "{spec} knows its symmetry");
            let all = network.routers().map(|source| search.run(source, None)).fold(Count::NOTHING, Count::merge);
            let found = of(spec);
            assert_eq!(found.shortest_paths_mean, Some(all.paths as f64 / all.pairs as f64), "{spec}");
            assert_eq!((found.shortest_paths_min, found.shortest_paths_max), (Some(all.min), Some(all.max)), "{spec}");
        }
    }

    #[test]
    fn too_many_paths_are_said_to_be() {
        let found = of("mesh:90x90");
        assert!(found.shortest_paths_overflow);
        assert_eq!((found.shortest_paths_mean, found.shortest_paths_max), (None, None));
        assert_eq!(found.shortest_paths_min, Some(1));
        assert!(!of("mesh:60x60").shortest_paths_overflow, "118 over 59 is 2.4e34, below 3.4e38");
    }

    #[test]
    fn large_networks_are_left_out_unless_asked_for() {
        assert_eq!(path_diversity(&build("mesh:200x200").expect("small"), false), None);
        assert!(path_diversity(&build("torus:200x200").expect("small"), false).is_some(), "one source is enough");
    }

    #[test]
    fn one_router_and_separate_ones_have_no_paths() {
        assert_eq!((of("mesh:1").shortest_paths_min, of("mesh:1").multipath_share), (None, None));
        let apart = of("flex:2x2x2");
        assert_eq!(apart.shortest_paths_min, Some(1));
    }
}
