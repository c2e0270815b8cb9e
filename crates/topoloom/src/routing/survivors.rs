//! `nca` and `anca` on a tree of which links or routers have failed, or in which several routers below another lead to the
//! same leaf: up and then down as on the whole tree, by the paths that there are.
//!
//! A packet goes down as soon as a downward path to its leaf is left, else up towards the nearest routers above that
//! have one. The probability of an output is proportional to the number of paths behind it, so that routers above a
//! broken link get fewer packets. Up and then down in one VC class cannot deadlock, whatever has failed.

use rayon::prelude::*;

use super::fattree::levels;
use super::{AnyRouting, Move, PacketState, Routing, View};
use crate::error::{Error, Result};
use crate::memory::available_memory;
use crate::network::{Network, RouterId};
use crate::rng::Rng;

/// No path is left.
const FAR: u8 = u8::MAX;

/// A link of a router.
struct Link {
    port: u16,
    peer: RouterId,
    up: bool,
}

/// What is left of a tree.
struct TreeRemains {
    /// The level of each router in the whole tree.
    level: Vec<u32>,
    links: Vec<Link>,
    /// Where each router's links begin, and the number of all.
    first: Vec<u32>,
}

/// The paths to one leaf.
struct Ways {
    /// Links to it, by router: as many as the router's level if a path down is left.
    distance: Vec<u8>,
    /// Paths of that length, 65,535 at most.
    paths: Vec<u16>,
}

/// Up and then down by what is left, by random outputs or the less occupied of two.
pub struct Survivors<const ADAPTIVE: bool> {
    left: TreeRemains,
    /// The position of a leaf router among the leaves.
    leaf: Vec<u32>,
    ways: Vec<Ways>,
}

impl TreeRemains {
    /// `None` unless the whole network is a tree whose terminals are attached to its lowest level.
    fn new(network: &Network) -> Option<Self> {
        let level = levels(network.intact())?;
        let (mut links, mut first) = (Vec::new(), vec![0]);
        for router in network.routers() {
            let up = |peer: RouterId| level[peer.index()] > level[router.index()];
            links.extend(network.neighbors(router).map(|(port, peer)| Link { port: port as u16, peer, up: up(peer) }));
            first.push(links.len() as u32);
        }
        Some(Self { level, links, first })
    }

    #[inline(always)]
    fn links(&self, at: RouterId) -> &[Link] {
        &self.links[self.first[at.index()] as usize..self.first[at.index() + 1] as usize]
    }

    /// The paths to `leaf`; `order` has the routers by their levels, lowest first.
    fn ways(&self, leaf: RouterId, order: &[RouterId]) -> Ways {
        let routers = self.level.len();
        let mut ways = Ways { distance: vec![FAR; routers], paths: vec![0; routers] };
        (ways.distance[leaf.index()], ways.paths[leaf.index()]) = (0, 1);
        for &at in order.iter().filter(|at| **at != leaf) {
            self.join(at, false, &mut ways);
        }
        for &at in order.iter().rev() {
            if ways.distance[at.index()] == FAR {
                self.join(at, true, &mut ways);
            }
        }
        ways
    }

    /// Counts the paths of `at` from those of the routers above or below it.
    fn join(&self, at: RouterId, up: bool, ways: &mut Ways) {
        let peers = || self.links(at).iter().filter(|link| link.up == up).map(|link| link.peer.index());
        let nearest = peers().map(|peer| ways.distance[peer]).min().unwrap_or(FAR);
        if nearest < FAR - 1 {
            let paths = peers().filter(|&peer| ways.distance[peer] == nearest).map(|peer| ways.paths[peer]);
            ways.paths[at.index()] = paths.fold(0, u16::saturating_add);
            ways.distance[at.index()] = nearest + 1;
        }
    }
}

impl<const ADAPTIVE: bool> Survivors<ADAPTIVE> {
    /// The routing called `name`; `None` unless the whole network is a tree.
    ///
    /// # Errors
    /// If no path up and then down is left between some routers with terminals, or the tables would not fit in memory.
    pub fn build(network: &Network, name: &str) -> Result<Option<AnyRouting>> {
        let Some(left) = TreeRemains::new(network) else { return Ok(None) };
        let leaves: Vec<RouterId> = network.up_routers().filter(|r| left.level[r.index()] == 0).collect();
        let bytes = (network.num_routers() * leaves.len()) as u128 * 3;
        if bytes > available_memory() / 2 {
            let (spec, gigabytes) = (network.spec(), bytes.div_ceil(1_000_000_000));
            return Err(Error::TooLarge(format!("{spec}: the tables of {name} need about {gigabytes} GB")));
        }
        let mut order: Vec<RouterId> = network.routers().collect();
        order.sort_by_key(|router| left.level[router.index()]);
        let ways: Vec<Ways> = leaves.par_iter().map(|&leaf| left.ways(leaf, &order)).collect();
        let pairs = || ways.iter().zip(&leaves).flat_map(|(ways, to)| leaves.iter().map(move |from| (ways, from, to)));
        let lost = pairs().find(|(ways, from, _)| ways.distance[from.index()] == FAR);
        if let Some((_, from, to)) = lost {
            return Err(Error::Routing(format!(
                "{}: no path up the tree and then down is left from router {from} to router {to}, which {name} needs; \
                 min, updown and others take any path that is left",
                network.spec()
            )));
        }
        let mut leaf = vec![u32::MAX; network.num_routers()];
        leaves.iter().enumerate().for_each(|(place, router)| leaf[router.index()] = place as u32);
        Ok(Some(AnyRouting::new(Self { left, leaf, ways })))
    }

    /// The outputs on the nearest paths to `dst`, with the paths behind them.
    #[inline(always)]
    fn outputs(&self, at: RouterId, dst: RouterId) -> impl Iterator<Item = (u16, u32)> {
        let ways = &self.ways[self.leaf[dst.index()] as usize];
        let distance = ways.distance[at.index()];
        let up = u32::from(distance) > self.left.level[at.index()];
        let links = self.left.links(at).iter();
        let fit = links.filter(move |link| link.up == up && ways.distance[link.peer.index()] == distance - 1);
        fit.map(|link| (link.port, ways.paths[link.peer.index()].into()))
    }

    /// Draws an output by the paths behind it.
    #[inline(always)]
    fn draw(&self, at: RouterId, dst: RouterId, total: u32, rng: &mut Rng) -> u16 {
        let mut draw = rng.below(total);
        let mut outputs = self.outputs(at, dst);
        loop {
            let (port, paths) = outputs.next().expect("a draw below the number of paths");
            if draw < paths {
                return port;
            }
            draw -= paths;
        }
    }

    fn hop(port: u16) -> Move {
        Move { port, class: 0, next: PacketState::direct(0) }
    }
}

impl<const ADAPTIVE: bool> Routing for Survivors<ADAPTIVE> {
    fn classes(&self) -> u32 {
        1
    }

    /// Packets to leaves with few links left hold up others for longer than on a whole tree.
    fn vcs(&self) -> u32 {
        8
    }

    fn moves(&self, at: RouterId, _state: PacketState, dst: RouterId, out: &mut Vec<Move>) {
        out.extend(self.outputs(at, dst).map(|(port, _)| Self::hop(port)));
    }

    #[inline(always)]
    fn choose<V: View>(&self, at: RouterId, _state: PacketState, dst: RouterId, view: &V, rng: &mut Rng) -> Move {
        let total = self.outputs(at, dst).map(|(_, paths)| paths).sum();
        let one = self.draw(at, dst, total, rng);
        if !ADAPTIVE {
            return Self::hop(one);
        }
        let other = self.draw(at, dst, total, rng);
        let better = view.occupancy(other.into()) < view.occupancy(one.into());
        Self::hop(if better { other } else { one })
    }

    fn oblivious(&self) -> bool {
        !ADAPTIVE
    }

    fn likely_moves(&self, at: RouterId, _state: PacketState, dst: RouterId, out: &mut Vec<(f64, Move)>) {
        let total: u32 = self.outputs(at, dst).map(|(_, paths)| paths).sum();
        out.extend(self.outputs(at, dst).map(|(port, paths)| (f64::from(paths) / f64::from(total), Self::hop(port))));
    }
}
