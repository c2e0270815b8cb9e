//! How long the paths of a routing are, which need not be the shortest ones.

use rayon::prelude::*;
use serde::Serialize;

use crate::error::{Error, Result};
use crate::flow::{FlowConfig, Paths};
use crate::network::{Network, RouterId, TerminalId};
use crate::rng::Rng;
use crate::routing::{AnyRouting, Routing};
use crate::watch;

/// Pairs of terminals that are walked at most.
const MOST_PAIRS: u64 = 1 << 30;

/// Lengths of paths in links between routers. The names are the keys of the JSON.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RouteLengths {
    /// The mean, over ordered pairs of distinct terminals.
    pub average_hops: f64,
    /// The largest.
    pub longest: u32,
    /// Ordered pairs of distinct terminals by length, from 0 on.
    pub histogram: Vec<u64>,
}

/// The lengths of the paths of `routing` between all terminals: of one path per pair, as the flow engine draws it.
///
/// Where a routing knows lengths without walking, the function uses symmetries of the network.
///
/// # Errors
/// [`Error::TooLarge`] if it would take too long; [`Error::Routing`] if a path never ends.
pub fn route_lengths(network: &Network, routing: &AnyRouting, seed: u64) -> Result<RouteLengths> {
    let terminals: Vec<(TerminalId, RouterId)> = (0..network.num_terminals() as u32)
        .map(|terminal| (TerminalId(terminal), network.router_of(TerminalId(terminal))))
        .filter(|&(_, router)| network.is_up(router))
        .collect();
    let all = terminals.len() as u64;
    let told = terminals.first().zip(terminals.last()).is_some_and(|(a, b)| routing.hops(a.1, b.1).is_some());
    let orbits = if told { network.orbits() } else { Vec::new() };
    let sources: Vec<(TerminalId, RouterId, u64)> = if orbits.is_empty() {
        terminals.iter().map(|&(terminal, router)| (terminal, router, 1)).collect()
    } else {
        let of_orbit = |&(router, size): &(RouterId, u32)| {
            network.terminals_of(router).map(move |terminal| (terminal, router, u64::from(size))).collect::<Vec<_>>()
        };
        orbits.iter().flat_map(of_orbit).collect()
    };
    let pairs = sources.len() as u64 * all;
    if pairs > MOST_PAIRS {
        return Err(Error::TooLarge(format!(
            "{}: {pairs} paths between terminals would have to be walked; at most {MOST_PAIRS} are",
            network.spec()
        )));
    }
    let config = FlowConfig { consumption: None, seed, ..FlowConfig::default() };
    let paths = Paths::new(network, routing, &config);
    let stage = watch::stage("routes", sources.len() as u64);
    let from = |&(source, router, weight): &(TerminalId, RouterId, u64)| {
        stage.step();
        let (mut histogram, mut path) = (Vec::new(), Vec::new());
        for &(target, end) in terminals.iter().filter(|(target, _)| *target != source) {
            let hops = match told {
                _ if router == end => 0,
                true => routing.hops(router, end).expect("it counted others"),
                false => {
                    path.clear();
                    let mut rng: Rng = paths.stream(source, target);
                    paths.walk(source, target, &mut rng, &mut path)?
                }
            };
            add(&mut histogram, hops as usize, weight);
        }
        Ok(histogram)
    };
    let merge = |mut a: Vec<u64>, b: Vec<u64>| {
        b.into_iter().enumerate().for_each(|(hops, pairs)| add(&mut a, hops, pairs));
        Ok(a)
    };
    let histogram = sources.par_iter().map(from).try_reduce(Vec::new, merge)?;
    let sum: u64 = (0..).zip(&histogram).map(|(hops, pairs)| hops * pairs).sum();
    let count: u64 = histogram.iter().sum();
    let longest = histogram.len().saturating_sub(1) as u32;
    Ok(RouteLengths { average_hops: if count > 0 { sum as f64 / count as f64 } else { 0.0 }, longest, histogram })
}

fn add(histogram: &mut Vec<u64>, hops: usize, pairs: u64) {
    if histogram.len() <= hops {
        histogram.resize(hops + 1, 0);
    }
    histogram[hops] += pairs;
}
