//! Minimal routing on any graph, from tables: a uniformly random minimal next hop. VC class = hop index.

use rayon::prelude::*;

use super::{Minimal, Step};
use crate::distances::require_connected;
use crate::error::{Error, Result};
use crate::memory::available_memory;
use crate::network::{Network, RouterId};
use crate::rng::Rng;
use crate::watch;

/// Marks a router that no path reaches: one that has failed.
const FAR: u8 = u8::MAX;

/// Next hops towards every router, with the distances.
pub struct TableMinimal {
    routers: usize,
    diameter: u32,
    /// Links from router `at` to `to`, at `to * routers + at`.
    distance: Vec<u8>,
    /// Where the next hops of (to, at) begin in their target's pool.
    start: Vec<u32>,
    /// The next hops towards each target.
    pools: Vec<Vec<u16>>,
}

impl TableMinimal {
    /// Breadth-first search from every router, on all cores.
    ///
    /// # Errors
    /// If the network is disconnected (routers that have failed aside), wider than 255 hops, or its tables would not
    /// fit in memory.
    pub fn new(network: &Network) -> Result<Self> {
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
        let stage = watch::stage("routing tables", routers as u64);
        let row = |to| {
            stage.step();
            row(network, RouterId(to))
        };
        let rows = (0..routers as u32).into_par_iter().map(row).collect::<Result<Vec<_>>>()?;
        drop(stage);
        let mut table = Self {
            routers,
            diameter: 0,
            distance: Vec::with_capacity(routers * routers),
            start: Vec::with_capacity(routers * (routers + 1)),
            pools: Vec::with_capacity(routers),
        };
        for row in rows {
            table.diameter = table
                .diameter
                .max(u32::from(row.distance.iter().copied().filter(|&hops| hops != FAR).max().unwrap_or(0)));
            table.distance.extend(row.distance);
            table.start.extend(row.start);
            table.pools.push(row.pool);
        }
        Ok(table)
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

    /// The outputs on shortest paths.
    #[inline(always)]
    pub fn outputs(&self, at: RouterId, to: RouterId) -> &[u16] {
        let place = to.index() * (self.routers + 1) + at.index();
        &self.pools[to.index()][self.start[place] as usize..self.start[place + 1] as usize]
    }
}

/// The tables of one target.
struct Row {
    distance: Vec<u8>,
    start: Vec<u32>,
    pool: Vec<u16>,
}

fn row(network: &Network, to: RouterId) -> Result<Row> {
    let mut distance = vec![FAR; network.num_routers()];
    distance[to.index()] = 0;
    let mut queue = vec![to];
    let mut next = 0;
    while next < queue.len() {
        let at = queue[next];
        next += 1;
        let hops = distance[at.index()] + 1;
        for (_, peer) in network.neighbors(at) {
            if distance[peer.index()] == FAR {
                if hops == FAR {
                    return Err(Error::Routing(format!(
                        "{}: the diameter is above 254 hops, which tables cannot count",
                        network.spec()
                    )));
                }
                distance[peer.index()] = hops;
                queue.push(peer);
            }
        }
    }
    let (mut start, mut pool) = (vec![0], Vec::new());
    for at in network.routers() {
        let closer = network.neighbors(at).filter(|(_, peer)| distance[peer.index()] < distance[at.index()]);
        pool.extend(closer.map(|(port, _)| port as u16));
        start.push(pool.len() as u32);
    }
    Ok(Row { distance, start, pool })
}

impl Minimal for TableMinimal {
    fn classes(&self) -> u32 {
        self.diameter.max(1)
    }

    fn steps(&self, at: RouterId, bits: u32, target: RouterId, out: &mut Vec<Step>) {
        let outputs = self.outputs(at, target).iter();
        out.extend(outputs.map(|&port| Step { port, class: bits as u8, bits: bits + 1 }));
    }

    fn likely_steps(&self, at: RouterId, bits: u32, target: RouterId, mut visit: impl FnMut(f64, Step)) {
        let outputs = self.outputs(at, target);
        let each = 1.0 / outputs.len() as f64;
        outputs.iter().for_each(|&port| visit(each, Step { port, class: bits as u8, bits: bits + 1 }));
    }

    fn nth_step(&self, at: RouterId, bits: u32, target: RouterId, nth: u32) -> Option<Step> {
        let port = *self.outputs(at, target).get(nth as usize)?;
        Some(Step { port, class: bits as u8, bits: bits + 1 })
    }

    #[inline(always)]
    fn step(&self, at: RouterId, bits: u32, target: RouterId, rng: &mut Rng) -> Step {
        let outputs = self.outputs(at, target);
        let port = match outputs {
            [port] => *port,
            _ => outputs[rng.below(outputs.len() as u32) as usize],
        };
        Step { port, class: bits as u8, bits: bits + 1 }
    }

    #[inline(always)]
    fn reaches(&self, from: RouterId, to: RouterId) -> bool {
        self.distance[to.index() * self.routers + from.index()] != FAR
    }

    #[inline(always)]
    fn hops(&self, from: RouterId, to: RouterId) -> u32 {
        u32::from(self.distance[to.index() * self.routers + from.index()])
    }
}
