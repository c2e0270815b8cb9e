//! Minimal routing on any graph, from tables: a uniformly random minimal next hop. VC class = hop index, or one class where
//! all paths between terminals rise and then fall.

use rayon::prelude::*;

use super::{Minimal, Step};
use crate::distances::{distances_from, require_connected};
use crate::error::{Error, Result};
use crate::graph::Graph;
use crate::memory::{available_memory, on_large_pages, prefetch};
use crate::network::{Network, RouterId};
use crate::rng::Rng;
use crate::watch;

/// Marks a router that no path reaches: one that has failed.
const FAR: u8 = u8::MAX;

/// There is no next hop, or more than one.
const SEVERAL: u16 = u16::MAX;

/// Routers up to which a table of only next hops is made: it takes 128 MB.
const MOST_ROWS: usize = 8192;

/// Routers up to which decisions ask for an only output before they draw. What they draw after that depends on the answer:
/// on larger networks there has never been one, and their results stay as they were.
const MOST_TOLD: usize = 4096;

/// Next hops towards every router, with the distances.
pub struct TableMinimal {
    routers: usize,
    diameter: u32,
    /// Links from router `at` to `to`, at `at * routers + to`, and as many from `to` to `at`.
    distance: Vec<u8>,
    /// The next hops of each router.
    rows: Vec<NextHops>,
    /// The only next hop of (at, to), at `at * routers + to`, or [`SEVERAL`]: the decisions of a router look at one row.
    /// Empty where there are more than [`MOST_ROWS`] routers.
    only: Vec<u16>,
    /// What a hop adds to a packet's bits, which are its class: 1, or 0 where one class is enough.
    hop: u32,
}

impl TableMinimal {
    /// Breadth-first search from every router, on all cores.
    ///
    /// # Errors
    /// If the network is disconnected (routers that have failed aside), wider than 255 hops, or its tables would not
    /// fit in memory.
    pub fn new(network: &Network) -> Result<Self> {
        Self::check(network)?;
        let routers = network.num_routers();
        let stage = watch::stage("routing tables", 2 * routers as u64);
        let ids = || (0..routers as u32).into_par_iter().map(RouterId);
        let graph = Graph::new(network);
        let distances = |from| {
            stage.step();
            distances(&graph, from).map_err(|error| Error::Routing(format!("{}: {error}", network.spec())))
        };
        let distance = ids().map(distances).collect::<Result<Vec<_>>>()?.concat();
        let reached = distance.iter().copied().filter(|&hops| hops != FAR);
        let diameter = u32::from(reached.max().unwrap_or(0));
        let next_hops = |at| {
            stage.step();
            next_hops(network, at, &distance)
        };
        let rows: Vec<NextHops> = ids().map(next_hops).collect();
        drop(stage);
        let mut table = Self { routers, diameter, distance, rows, only: Vec::new(), hop: 1 };
        if routers <= MOST_ROWS {
            table.only = table.only_hops();
        }
        Ok(table)
    }

    /// The same with one class for all hops, where no cycle of waiting packets is possible: if the paths rise and then fall.
    #[must_use]
    pub fn in_one_class(self) -> Self {
        Self { hop: 0, ..self }
    }

    /// True if all hops take one class.
    pub fn has_one_class(&self) -> bool {
        self.hop == 0
    }

    /// Rejects what tables are not made of, but for a network that is too wide.
    fn check(network: &Network) -> Result<()> {
        require_connected(network)?;
        let routers = network.num_routers();
        if network.radix() > usize::from(u16::MAX) {
            let (spec, radix) = (network.spec(), network.radix());
            return Err(Error::TooLarge(format!(
                "{spec}: a router has {radix} ports; at most {} are possible",
                u16::MAX
            )));
        }
        let bytes = (routers * routers) as u128 * 12;
        if bytes > available_memory() / 2 {
            return Err(Error::TooLarge(format!(
                "{}: routing tables for {routers} routers need about {} GB",
                network.spec(),
                bytes.div_ceil(1_000_000_000)
            )));
        }
        Ok(())
    }

    /// Whether tables can be made of a network, as far as a single search shows: one that is nearly too wide takes more.
    pub fn is_possible(network: &Network) -> bool {
        let Some(first) = network.up_routers().next() else { return false };
        let far = distances_from(&Graph::new(network), first.0).into_iter().filter(|&hops| hops != u32::MAX).max();
        Self::check(network).is_ok() && 2 * far.unwrap_or(0) < u32::from(FAR)
    }

    fn only_hops(&self) -> Vec<u16> {
        let ids = || (0..self.routers as u32).map(RouterId);
        let pairs = ids().flat_map(|at| ids().map(move |to| (at, to)));
        let mut only = on_large_pages(self.routers * self.routers);
        only.extend(pairs.map(|(at, to)| if let [port] = self.outputs(at, to) { *port } else { SEVERAL }));
        only
    }

    /// The most links between two routers.
    pub fn diameter(&self) -> u32 {
        self.diameter
    }

    /// The links from each router to `to`.
    #[inline(always)]
    pub fn distances(&self, to: RouterId) -> &[u8] {
        &self.distance[to.index() * self.routers..][..self.routers]
    }

    /// Asks for the memory that [`TableMinimal::quick`] reads, or where there is none that [`TableMinimal::outputs`] reads first.
    #[inline(always)]
    pub fn expect_outputs(&self, at: RouterId, to: RouterId) {
        if self.only.is_empty() {
            prefetch(&self.rows[at.index()].start, to.index());
        } else {
            prefetch(&self.only, at.index() * self.routers + to.index());
        }
    }

    /// Asks for that of [`TableMinimal::distances`]; any number of a router will do.
    #[inline(always)]
    pub fn expect_distance(&self, from: RouterId, to: RouterId) {
        prefetch(&self.distance, to.index() * self.routers + from.index());
    }

    /// The output on shortest paths, if there is one alone and this is known at once.
    #[inline(always)]
    pub(super) fn quick(&self, at: RouterId, to: RouterId) -> Option<u16> {
        let only = self.only.get(at.index() * self.routers + to.index()).copied();
        only.filter(|&port| port != SEVERAL)
    }

    /// The outputs on shortest paths.
    #[inline(always)]
    pub fn outputs(&self, at: RouterId, to: RouterId) -> &[u16] {
        let NextHops { start, pool } = &self.rows[at.index()];
        &pool[start[to.index()] as usize..start[to.index() + 1] as usize]
    }
}

/// The next hops of one router, so that its decisions look at memory that lies together.
struct NextHops {
    /// Where those towards each router begin in the pool, and behind them their number.
    start: Vec<u32>,
    pool: Vec<u16>,
}

/// The links from a router to each other one.
fn distances(graph: &Graph, from: RouterId) -> Result<Vec<u8>> {
    let told = |hops: u32| match u8::try_from(hops) {
        _ if hops == u32::MAX => Ok(FAR),
        Ok(hops) if hops != FAR => Ok(hops),
        _ => Err(Error::Routing("the diameter is above 254 hops, which tables cannot count".to_owned())),
    };
    distances_from(graph, from.0).into_iter().map(told).collect()
}

fn next_hops(network: &Network, at: RouterId, distance: &[u8]) -> NextHops {
    let routers = network.num_routers();
    let row = |router: RouterId| &distance[router.index() * routers..][..routers];
    let (own, peers): (_, Vec<_>) =
        (row(at), network.neighbors(at).map(|(port, peer)| (port as u16, row(peer))).collect());
    let mut less = vec![0; routers];
    let mut start = vec![0u32; routers + 1];
    for (_, far) in &peers {
        closer(far, own, &mut less, |to| start[to + 1] += 1);
    }
    for to in 0..routers {
        start[to + 1] += start[to];
    }
    let (mut place, mut pool) = (start.clone(), vec![0; start[routers] as usize]);
    for (port, far) in &peers {
        closer(far, own, &mut less, |to| {
            pool[place[to] as usize] = *port;
            place[to] += 1;
        });
    }
    NextHops { start, pool }
}

/// Visits where distances are less than others. They are few: comparisons without a branch, in `less`, come first.
fn closer(far: &[u8], own: &[u8], less: &mut [u8], mut visit: impl FnMut(usize)) {
    less.iter_mut().zip(far).zip(own).for_each(|((less, far), own)| *less = u8::from(far < own));
    for (group, bytes) in less.chunks(size_of::<u64>()).enumerate() {
        let mut all = [0; size_of::<u64>()];
        all[..bytes.len()].copy_from_slice(bytes);
        let mut bits = u64::from_le_bytes(all);
        while bits != 0 {
            visit(group * size_of::<u64>() + bits.trailing_zeros() as usize / 8);
            bits &= bits - 1;
        }
    }
}

impl Minimal for TableMinimal {
    fn classes(&self) -> u32 {
        if self.has_one_class() { 1 } else { self.diameter.max(1) }
    }

    #[inline(always)]
    fn counts_hops(&self) -> bool {
        !self.has_one_class()
    }

    fn steps(&self, at: RouterId, bits: u32, target: RouterId, out: &mut Vec<Step>) {
        let outputs = self.outputs(at, target).iter();
        out.extend(outputs.map(|&port| Step { port, class: bits as u8, bits: bits + self.hop }));
    }

    fn likely_steps(&self, at: RouterId, bits: u32, target: RouterId, mut visit: impl FnMut(f64, Step)) {
        let outputs = self.outputs(at, target);
        let each = 1.0 / outputs.len() as f64;
        outputs.iter().for_each(|&port| visit(each, Step { port, class: bits as u8, bits: bits + self.hop }));
    }

    fn spreads_evenly(&self) -> bool {
        true
    }

    fn follows_ports(&self) -> bool {
        true
    }

    fn nth_step(&self, at: RouterId, bits: u32, target: RouterId, nth: u32) -> Option<Step> {
        let port = *self.outputs(at, target).get(nth as usize)?;
        Some(Step { port, class: bits as u8, bits: bits + self.hop })
    }

    #[inline(always)]
    fn step(&self, at: RouterId, bits: u32, target: RouterId, rng: &mut Rng) -> Step {
        let port = self.quick(at, target).unwrap_or_else(|| match self.outputs(at, target) {
            [port] => *port,
            outputs => outputs[rng.below(outputs.len() as u32) as usize],
        });
        Step { port, class: bits as u8, bits: bits + self.hop }
    }

    #[inline(always)]
    fn expect(&self, at: RouterId, target: RouterId) {
        self.expect_outputs(at, target);
        prefetch(&self.distance, at.index() * self.routers + target.index());
    }

    #[inline(always)]
    fn only_step(&self, at: RouterId, bits: u32, target: RouterId) -> Option<Step> {
        if self.routers > MOST_TOLD {
            return None;
        }
        self.quick(at, target).map(|port| Step { port, class: bits as u8, bits: bits + self.hop })
    }

    #[inline(always)]
    fn reaches(&self, from: RouterId, to: RouterId) -> bool {
        self.distance[from.index() * self.routers + to.index()] != FAR
    }

    #[inline(always)]
    fn hops(&self, from: RouterId, to: RouterId) -> u32 {
        u32::from(self.distance[from.index() * self.routers + to.index()])
    }
}
