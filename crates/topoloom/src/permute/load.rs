//! The expected load of the busiest channel of a cabling under minimal routing: what a search measures at each
//! exchange.
//!
//! The same expectation as that of `min` in [`crate::metrics::load`], which follows any routing, but on a cabling and
//! without building a network: each vertex splits what it sends on evenly over the plugs that lead nearer to the
//! target.

use std::collections::BTreeMap;

use super::cabling::Cabling;

/// What vertices send to vertices, in flits per cycle.
#[derive(Debug, Clone)]
pub enum Demands {
    /// Each terminal to all terminals alike: the terminals of each vertex.
    Uniform(Vec<u32>),
    /// (source, flits) of what each vertex gets from others.
    Given(Vec<Vec<(u32, f64)>>),
}

impl Demands {
    /// What is in a matrix: from vertex s to vertex d at s * vertices + d.
    pub fn of_matrix(vertices: usize, flits: &[f64]) -> Self {
        let mut into = vec![BTreeMap::new(); vertices];
        for (source, row) in flits.chunks_exact(vertices).enumerate() {
            for (target, &flits) in row.iter().enumerate().filter(|&(target, &flits)| target != source && flits > 0.0) {
                into[target].insert(source as u32, flits);
            }
        }
        Self::Given(into.into_iter().map(|sources| sources.into_iter().collect()).collect())
    }

    /// Puts what each vertex sends to `target` into `flits`; false if that is nothing.
    fn put(&self, target: u32, flits: &mut [f64]) -> bool {
        match self {
            Self::Uniform(terminals) => {
                let total: f64 = terminals.iter().map(|&own| f64::from(own)).sum();
                let here = f64::from(terminals[target as usize]);
                flits.iter_mut().zip(terminals).for_each(|(flits, &own)| *flits = f64::from(own) * here / total);
                here > 0.0
            }
            Self::Given(into) => {
                flits.fill(0.0);
                into[target as usize].iter().for_each(|&(source, sent)| flits[source as usize] = sent);
                !into[target as usize].is_empty()
            }
        }
    }
}

/// The load of the busiest channel between vertices, in flits per cycle, if all `demands` are served by minimal routing.
pub fn busiest(cabling: &Cabling, demands: &Demands) -> f64 {
    let vertices = cabling.len();
    let mut loads = vec![0.0f64; 2 * cabling.cables()];
    let mut flits = vec![0.0; vertices];
    let mut distances = vec![u32::MAX; vertices];
    let mut order = Vec::with_capacity(vertices);
    for target in 0..vertices as u32 {
        if !demands.put(target, &mut flits) {
            continue;
        }
        walk_from(cabling, target, &mut distances, &mut order);
        for &at in order.iter().skip(1).rev() {
            let sent = flits[at as usize];
            if sent == 0.0 {
                continue;
            }
            let nearer = |plug: &u32| distances[cabling.peer(*plug) as usize] < distances[at as usize];
            let each = sent / cabling.plugs_of(at).filter(nearer).count() as f64;
            for plug in cabling.plugs_of(at).filter(nearer) {
                loads[plug as usize] += each;
                flits[cabling.peer(plug) as usize] += each;
            }
        }
    }
    loads.into_iter().fold(0.0, f64::max)
}

/// Vertices in ascending distance from `source`.
fn walk_from(cabling: &Cabling, source: u32, distances: &mut [u32], order: &mut Vec<u32>) {
    distances.fill(u32::MAX);
    order.clear();
    order.push(source);
    distances[source as usize] = 0;
    let mut next = 0;
    while let Some(&at) = order.get(next) {
        next += 1;
        for &peer in cabling.peers(at) {
            if distances[peer as usize] == u32::MAX {
                distances[peer as usize] = distances[at as usize] + 1;
                order.push(peer);
            }
        }
    }
}

/// A limit on the load of the busiest channel under uniform traffic, which a search does not exceed.
#[derive(Debug, Clone)]
pub struct Limit {
    demands: Demands,
    most: f64,
}

impl Limit {
    /// That of a cabling whose vertices have these numbers of terminals. A terminal's own link carries one flit per
    /// cycle, so that lower loads gain nothing.
    pub fn of(cabling: &Cabling, terminals: Vec<u32>) -> Self {
        let demands = Demands::Uniform(terminals);
        let most = busiest(cabling, &demands).max(1.0) * (1.0 + 1e-9);
        Self { demands, most }
    }

    /// True if no channel of a cabling carries more.
    pub fn holds(&self, cabling: &Cabling) -> bool {
        busiest(cabling, &self.demands) <= self.most
    }
}
