//! `worst-case`: what a family states it is worst at ([`WorstCase`]), else a longest matching: every router sends to one
//! other, far away (Jyothi, Singla, Godfrey and Kolla, Measuring and understanding throughput of network topologies, SC
//! 2016).

use super::hosted::on_hosts;
use super::keys::Request;
use super::registry::PatternInfo;
use super::shift::{by_routers, moved, tornado};
use super::{Pattern, next_group};
use crate::distances;
use crate::error::{Error, Result};
use crate::network::{Network, RouterId, WorstCase};

pub(super) const INFO: PatternInfo = PatternInfo {
    name: "worst-case",
    summary: "what the network is worst at: the next group, a tornado, across the top of a tree, …; see docs/traffic.md",
    keys: &[],
    argument: None,
    build,
};

fn build(request: &Request) -> Result<Pattern> {
    let network = request.network;
    if let Some(plugged) = network.any_structure().plugged() {
        return on_hosts(network, &plugged);
    }
    Ok(match Goal::of(network, &with_terminals(network))? {
        Goal::Routers(to) => Pattern::Fixed(by_routers(network, |router| to[router.index()])),
        Goal::NextGroup => next_group::build(request)?,
        Goal::Across => {
            let terminals = request.terminals;
            Pattern::Fixed((0..terminals).map(|id| (id + terminals / 2) % terminals).collect())
        }
    })
}

/// What a network is worst at.
pub(super) enum Goal {
    /// For each router that whose terminals its own send to.
    Routers(Vec<RouterId>),
    /// Terminals send to those of the next group of routers.
    NextGroup,
    /// Terminals send to those half of all terminals further on.
    Across,
}

impl Goal {
    /// The worst case of a network of which the terminals of routers `ends` take part.
    pub fn of(network: &Network, ends: &[RouterId]) -> Result<Self> {
        let structure = network.any_structure();
        Ok(match structure.worst_case() {
            WorstCase::Tornado => {
                let grid = structure.grid().expect("a family that is worst at a move on a grid has one");
                let to = |router| moved(grid, None, router, |side| tornado(side).max(u32::from(side > 1)));
                Self::Routers((0..network.num_routers() as u32).map(|router| RouterId(to(router))).collect())
            }
            WorstCase::Complement => {
                let grid = structure.grid().expect("a family that is worst at a move on a grid has one");
                let places: Vec<Vec<u32>> = ends.iter().map(|router| grid.coordinates(router.0)).collect();
                let mut to: Vec<RouterId> = network.routers().collect();
                for (router, place) in ends.iter().zip(opposite(&places)) {
                    to[router.index()] = RouterId(grid.id(&place));
                }
                Self::Routers(to)
            }
            WorstCase::NextGroup => Self::NextGroup,
            // A fabric has no hosts.
            WorstCase::AcrossTheTop | WorstCase::OfFabric => Self::Across,
            WorstCase::Routers(routers) => Self::Routers(routers),
            WorstCase::LongestMatching => Self::Routers(longest_matching(network, ends)?),
        })
    }
}

fn with_terminals(network: &Network) -> Vec<RouterId> {
    network.routers().filter(|&router| network.has_terminals(router)).collect()
}

/// The opposite place of each in the smallest box around them all.
fn opposite(places: &[Vec<u32>]) -> impl Iterator<Item = Vec<u32>> + '_ {
    let of = |dimension: usize| places.iter().map(move |place| place[dimension]);
    let ends = |dimension: usize| of(dimension).min().unwrap_or(0) + of(dimension).max().unwrap_or(0);
    let sums: Vec<u32> = (0..places.first().map_or(0, Vec::len)).map(ends).collect();
    places.iter().map(move |place| sums.iter().zip(place).map(|(sum, c)| sum - c).collect())
}

/// The most routers that are matched: all distances between them are at hand.
const MOST_ROUTERS: usize = 8192;

/// A permutation of the routers `ends` whose distances add up to much: each in turn takes the farthest that is
/// left (the first of equals), then pairs exchange their partners as long as that adds distance.
fn longest_matching(network: &Network, ends: &[RouterId]) -> Result<Vec<RouterId>> {
    if network.num_routers() > MOST_ROUTERS {
        return Err(Error::TooLarge(format!(
            "worst-case: {} has {} routers; at most {MOST_ROUTERS} can be matched by distance",
            network.spec(),
            network.num_routers()
        )));
    }
    let distances = distances::matrix(network);
    let distance = |a: RouterId, b: RouterId| distances[a.index()][b.index()];
    let mut left = ends.to_vec();
    let mut to: Vec<RouterId> = Vec::with_capacity(ends.len());
    for &from in ends {
        let farthest = (0..left.len()).rev().max_by_key(|&place| distance(from, left[place]));
        to.push(left.remove(farthest.expect("as many are left as are not matched")));
    }
    let mut changed = true;
    while std::mem::take(&mut changed) {
        for a in 0..ends.len() {
            for b in a + 1..ends.len() {
                let now = distance(ends[a], to[a]) + distance(ends[b], to[b]);
                if distance(ends[a], to[b]) + distance(ends[b], to[a]) > now {
                    to.swap(a, b);
                    changed = true;
                }
            }
        }
    }
    let mut of_routers: Vec<RouterId> = network.routers().collect();
    ends.iter().zip(to).for_each(|(from, to)| of_routers[from.index()] = to);
    Ok(of_routers)
}
