//! `worst-case`: what a family says it is worst at ([`WorstCase`]), else a longest matching: every router sends to one
//! other, far away (Jyothi, Singla, Godfrey and Kolla, Measuring and understanding throughput of network topologies, SC
//! 2016).

use super::keys::Request;
use super::registry::PatternInfo;
use super::shift::{by_routers, moved, tornado};
use super::{Pattern, next_group};
use crate::distances;
use crate::error::{Error, Result};
use crate::network::{Grid, Network, RouterId, WorstCase};

pub(super) const INFO: PatternInfo = PatternInfo {
    name: "worst-case",
    summary: "what the network is worst at: the next group, a tornado, across the top of a tree, …; see docs/traffic.md",
    keys: &[],
    argument: None,
    build,
};

fn build(request: &Request) -> Result<Pattern> {
    let network = request.network;
    let to = |routers: &[RouterId]| Pattern::Fixed(by_routers(network, |router| routers[router.index()]));
    Ok(match network.any_structure().worst_case() {
        WorstCase::Tornado => {
            on_grid(network, |grid, r| moved(grid, None, r, |side| tornado(side).max(u32::from(side > 1))))
        }
        WorstCase::Complement => on_grid(network, complement),
        WorstCase::NextGroup => next_group::build(request)?,
        WorstCase::AcrossTheTop => {
            let terminals = request.terminals;
            Pattern::Fixed((0..terminals).map(|id| (id + terminals / 2) % terminals).collect())
        }
        WorstCase::Routers(routers) => to(&routers),
        WorstCase::LongestMatching => to(&longest_matching(network)?),
    })
}

fn on_grid(network: &Network, to: impl Fn(&Grid, u32) -> u32) -> Pattern {
    let grid = network.any_structure().grid().expect("a family that is worst at a move on a grid has one");
    Pattern::Fixed(by_routers(network, |router| RouterId(to(grid, router.0))))
}

fn complement(grid: &Grid, place: u32) -> u32 {
    let opposite: Vec<u32> = grid.coordinates(place).iter().zip(&grid.sides).map(|(c, side)| side - 1 - c).collect();
    grid.id(&opposite)
}

/// The most routers that are matched: all distances between them are at hand.
const MOST_ROUTERS: usize = 8192;

/// A permutation of the routers with terminals whose distances add up to much: each in turn takes the farthest that is
/// left (the first of equals), then pairs exchange their partners as long as that adds distance.
fn longest_matching(network: &Network) -> Result<Vec<RouterId>> {
    if network.num_routers() > MOST_ROUTERS {
        return Err(Error::TooLarge(format!(
            "worst-case: {} has {} routers; at most {MOST_ROUTERS} can be matched by distance",
            network.spec(),
            network.num_routers()
        )));
    }
    let ends: Vec<RouterId> = network.routers().filter(|&r| network.terminals_of(r).next().is_some()).collect();
    let distances = distances::matrix(network);
    let distance = |a: RouterId, b: RouterId| distances[a.index()][b.index()];
    let mut left = ends.clone();
    let mut to: Vec<RouterId> = Vec::with_capacity(ends.len());
    for &from in &ends {
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
