//! Routing on trees: up to a nearest common ancestor, then down. One VC class; up*/down* cannot deadlock.
//!
//! `nca` takes a random output at each hop up; `anca` the less occupied of two random ones (the first on a tie);
//! `updown` the one that the source terminal is given. Subtori under a tree or a generalised hypercube offer `nca` and
//! `anca` in their upper network: see `nest.rs`. Where links or routers of a tree have failed, see `survivors.rs`.

use std::collections::{HashMap, HashSet};

use super::nest::{NestRouting, Ways};
use super::survivors::Survivors;
use super::{AnyRouting, Availability, Move, PacketState, Routing, RoutingInfo, View};
use crate::error::Result;
use crate::network::{Network, Peer, RouterId};
use crate::rng::Rng;
use crate::topology::Tree;

pub(super) const NCA: RoutingInfo = RoutingInfo {
    name: "nca",
    summary: "up to a nearest common ancestor by random outputs, then down; nestghc: dimensions in random order",
    offered: Availability::ByFamilyAndFailed,
    classes: "1",
    adapts: Some(false),
    keys: &[],
    build: |network, _| build::<false>(network, "nca"),
};

pub(super) const ANCA: RoutingInfo = RoutingInfo {
    name: "anca",
    summary: "as nca, by the less occupied of two random outputs",
    offered: Availability::ByFamilyAndFailed,
    classes: "1",
    adapts: Some(true),
    keys: &[],
    build: |network, _| build::<true>(network, "anca"),
};

fn build<const ADAPTIVE: bool>(network: &Network, name: &str) -> Result<Option<AnyRouting>> {
    if network.failures().is_some() {
        return Survivors::<ADAPTIVE>::build(network, name);
    }
    if let Some(nested) = NestRouting::new(network, if ADAPTIVE { Ways::Compared } else { Ways::Drawn }) {
        return Ok(Some(AnyRouting::new(nested)));
    }
    match NearestAncestor::<ADAPTIVE>::new(network) {
        Some(routing) => Ok(Some(AnyRouting::new(routing))),
        // What reaches a leaf by several routers below it draws among them.
        None => Survivors::<ADAPTIVE>::build(network, name),
    }
}

/// Marks a leaf that is not below a router.
const NOT_BELOW: u16 = u16::MAX;

/// Nearest-common-ancestor routing on any tree whose terminals are attached to its lowest level.
pub struct NearestAncestor<const ADAPTIVE: bool> {
    /// The position of a leaf router among the leaves.
    leaf: Vec<u32>,
    nodes: Vec<Node>,
    /// Outputs down, or [`NOT_BELOW`]: the rows that nodes name.
    down: Vec<u16>,
}

/// What a router knows of the tree.
#[derive(Debug, Clone, Copy)]
struct Node {
    /// The leaves from the first to the last one below it, as positions among all: the first of them and how many.
    first: u32,
    leaves: u32,
    /// Where the row of its outputs down to these begins. Routers whose rows are alike, such as all roots, share one: most
    /// trees need little memory then.
    row: u32,
    /// First output up and number of them: they are consecutive.
    up: (u16, u16),
    /// Links that join it with each router below it, on consecutive outputs; 1 where that differs.
    trunk: u16,
}

impl<const ADAPTIVE: bool> NearestAncestor<ADAPTIVE> {
    /// `None` unless the routers with terminals are the lowest level of a tree with consecutive outputs up, each of whose
    /// routers reaches a leaf by one router below.
    pub fn new(network: &Network) -> Option<Self> {
        let level = levels(network)?;
        let leaves: Vec<RouterId> = network.routers().filter(|r| level[r.index()] == 0).collect();
        let mut leaf = vec![u32::MAX; network.num_routers()];
        leaves.iter().enumerate().for_each(|(place, router)| leaf[router.index()] = place as u32);
        let mut order: Vec<RouterId> = network.routers().collect();
        order.sort_by_key(|r| level[r.index()]);
        let (width, mut rows) = (leaves.len(), Rows::default());
        let mut nodes: Vec<Node> = Vec::new();
        nodes.resize(network.num_routers(), Node::ALONE);
        for router in order {
            let mut down = vec![NOT_BELOW; width];
            let mut up = (0u16, 0u16);
            for (port, peer) in network.neighbors(router) {
                if level[peer.index()] > level[router.index()] {
                    if up.1 == 0 {
                        up.0 = port as u16;
                    } else if up.0 + up.1 != port as u16 {
                        return None;
                    }
                    up.1 += 1;
                    continue;
                }
                let below_peer = rows.of(&nodes[peer.index()]).filter(|&(_, port)| port != NOT_BELOW);
                let itself = Some(leaf[peer.index()]).filter(|&place| place != u32::MAX);
                for place in below_peer.map(|(place, _)| place).chain(itself) {
                    let known = &mut down[place as usize];
                    if *known == NOT_BELOW {
                        *known = port as u16;
                    } else if below(network, router, *known) != peer {
                        return None;
                    }
                }
            }
            nodes[router.index()] = Node { up, trunk: trunk_below(network, &level, router), ..rows.node(&down) };
        }
        Some(Self { leaf, nodes, down: rows.outputs })
    }

    /// One of consecutive outputs.
    #[inline(always)]
    fn one_of<V: View>((first, count): (u16, u16), view: &V, rng: &mut Rng) -> Move {
        let one = first + rng.below(u32::from(count)) as u16;
        if !ADAPTIVE {
            return hop(one);
        }
        let other = first + rng.below(u32::from(count)) as u16;
        let better = view.occupancy(u32::from(other)) < view.occupancy(u32::from(one));
        hop(if better { other } else { one })
    }

    #[inline(always)]
    fn down(&self, node: &Node, dst: RouterId) -> Option<u16> {
        let place = self.leaf[dst.index()].wrapping_sub(node.first);
        if place >= node.leaves {
            return None;
        }
        let port = self.down[(node.row + place) as usize];
        (port != NOT_BELOW).then_some(port)
    }
}

impl Node {
    /// A router with nothing below or above it.
    const ALONE: Self = Self { first: 0, leaves: 0, row: 0, up: (0, 0), trunk: 1 };
}

/// The rows of outputs down while a routing is built, each once.
#[derive(Default)]
struct Rows {
    outputs: Vec<u16>,
    known: HashMap<Vec<u16>, u32>,
}

impl Rows {
    /// The node of a router with these outputs down to all leaves; its outputs up are not known yet.
    fn node(&mut self, down: &[u16]) -> Node {
        let is_below = |port: &u16| *port != NOT_BELOW;
        let Some(first) = down.iter().position(is_below) else { return Node::ALONE };
        let end = down.iter().rposition(is_below).map_or(first, |last| last + 1);
        let row = &down[first..end];
        let place = *self.known.entry(row.to_vec()).or_insert_with(|| {
            self.outputs.extend(row);
            (self.outputs.len() - row.len()) as u32
        });
        Node { first: first as u32, leaves: row.len() as u32, row: place, ..Node::ALONE }
    }

    /// The leaves that a node's row is about, with their outputs.
    fn of(&self, node: &Node) -> impl Iterator<Item = (u32, u16)> {
        let row = &self.outputs[node.row as usize..][..node.leaves as usize];
        (node.first..).zip(row.iter().copied())
    }
}

/// The router behind an output that leads to one.
fn below(network: &Network, router: RouterId, port: u16) -> RouterId {
    match network.ports_of(router)[usize::from(port)].peer {
        Peer::Port(peer) => network.ports()[peer.index()].router,
        Peer::Terminal(_) => router,
    }
}

/// Links that join a router with each of those below it, if they are as many everywhere and on consecutive outputs, else 1.
fn trunk_below(network: &Network, level: &[u32], router: RouterId) -> u16 {
    let below = |peer: RouterId| level[peer.index()] < level[router.index()];
    let links: Vec<(u32, RouterId)> = network.neighbors(router).filter(|&(_, peer)| below(peer)).collect();
    let runs: Vec<_> = links.chunk_by(|a, b| a.1 == b.1 && a.0 + 1 == b.0).collect();
    let peers: HashSet<RouterId> = runs.iter().map(|run| run[0].1).collect();
    let most = runs.first().map_or(1, |run| run.len());
    if peers.len() == runs.len() && runs.iter().all(|run| run.len() == most) { most as u16 } else { 1 }
}

/// The level of each router: hops from the nearest terminal. `None` if two neighbours are on one level.
pub(super) fn levels(network: &Network) -> Option<Vec<u32>> {
    let mut level = vec![u32::MAX; network.num_routers()];
    let mut queue: Vec<RouterId> = network.routers().filter(|&r| network.has_terminals(r)).collect();
    queue.iter().for_each(|r| level[r.index()] = 0);
    let mut next = 0;
    while next < queue.len() {
        let at = queue[next];
        next += 1;
        for (_, peer) in network.neighbors(at) {
            if level[peer.index()] == u32::MAX {
                level[peer.index()] = level[at.index()] + 1;
                queue.push(peer);
            } else if level[peer.index()] == level[at.index()] {
                return None;
            }
        }
    }
    (queue.len() == network.num_routers()).then_some(level)
}

/// `updown` on a tree: the output up is fixed by the source terminal, digit by digit of its number (source modulo k),
/// so that the terminals of a leaf leave it evenly. All in closed form. Of links side by side a packet takes the same one
/// up and down, so that they are shared out evenly in both directions.
pub struct FixedUp {
    /// Keeps the tree.
    network: Network,
    /// More than the number of any terminal: a packet's bits are what is left of its source's number, and times this the
    /// links of trunks that it took up, last one first.
    numbers: u32,
}

impl FixedUp {
    /// `None` unless the network is a tree, or if the bits of a packet cannot hold its way.
    pub fn new(network: &Network) -> Option<Self> {
        let tree = network.structure::<Tree>()?;
        let numbers = network.num_terminals() as u32;
        tree.trunk.iter().try_fold(numbers, |all, trunk| all.checked_mul(*trunk))?;
        Some(Self { network: network.clone(), numbers })
    }

    #[inline(always)]
    fn tree(&self) -> &Tree {
        self.network.structure().expect("a tree")
    }

    /// The hop of a packet, as its bits state.
    #[inline(always)]
    fn hop(&self, at: RouterId, state: PacketState, dst: RouterId) -> Move {
        let tree = self.tree();
        let (level, group, _) = tree.place(at);
        let (down, level) = (&tree.down, level as usize);
        let (links, number) = (state.bits / self.numbers, state.bits % self.numbers);
        // Leaves below each of the routers below, and so below this router.
        let each: u32 = down[1..level.max(1)].iter().product();
        if level > 0 && dst.0 / (each * down[level]) == group {
            let trunk = tree.trunk_below(level);
            let (link, links) = (links % trunk, links / trunk);
            let port = dst.0 / each % down[level] * trunk + link;
            return Move { port: port as u16, class: 0, next: PacketState::direct(links * self.numbers) };
        }
        let trunk = tree.trunk[level];
        let outputs = tree.up[level] * trunk;
        let (digit, rest) = (number % outputs, number / outputs);
        let bits = (links * trunk + digit % trunk) * self.numbers + rest;
        Move { port: (tree.down_ports(level) + digit) as u16, class: 0, next: PacketState::direct(bits) }
    }
}

impl Routing for FixedUp {
    fn classes(&self) -> u32 {
        1
    }

    fn starts(&self, src: RouterId, _dst: RouterId, out: &mut Vec<PacketState>) {
        let terminals = self.tree().down[0];
        out.extend((src.0 * terminals..(src.0 + 1) * terminals).map(PacketState::direct));
    }

    fn moves(&self, at: RouterId, state: PacketState, dst: RouterId, out: &mut Vec<Move>) {
        out.push(self.hop(at, state, dst));
    }

    fn start<V: View>(&self, src: RouterId, _dst: RouterId, view: &V, _rng: &mut Rng) -> PacketState {
        PacketState::direct(src.0 * self.tree().down[0] + view.arrived_by())
    }

    #[inline(always)]
    fn choose<V: View>(&self, at: RouterId, state: PacketState, dst: RouterId, _view: &V, _rng: &mut Rng) -> Move {
        self.hop(at, state, dst)
    }

    fn oblivious(&self) -> bool {
        true
    }
}

#[inline(always)]
fn hop(port: u16) -> Move {
    Move { port, class: 0, next: PacketState::direct(0) }
}

impl<const ADAPTIVE: bool> Routing for NearestAncestor<ADAPTIVE> {
    fn classes(&self) -> u32 {
        1
    }

    fn moves(&self, at: RouterId, _state: PacketState, dst: RouterId, out: &mut Vec<Move>) {
        let node = &self.nodes[at.index()];
        match self.down(node, dst) {
            Some(port) => out.extend((port..port + node.trunk).map(hop)),
            None => {
                let (first, count) = node.up;
                out.extend((first..first + count).map(hop));
            }
        }
    }

    #[inline(always)]
    fn choose<V: View>(&self, at: RouterId, _state: PacketState, dst: RouterId, view: &V, rng: &mut Rng) -> Move {
        let node = &self.nodes[at.index()];
        // All draws are in one place, so that a head that leaves by the only output downwards begins no random stream.
        let outputs = match self.down(node, dst) {
            Some(port) if node.trunk == 1 => return hop(port),
            Some(port) => (port, node.trunk),
            None => node.up,
        };
        Self::one_of(outputs, view, rng)
    }

    fn oblivious(&self) -> bool {
        !ADAPTIVE
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology;

    /// Hops from every router to `dst`, by breadth-first search.
    fn distances(network: &Network, dst: RouterId) -> Vec<u32> {
        let mut hops = vec![u32::MAX; network.num_routers()];
        hops[dst.index()] = 0;
        let mut queue = vec![dst];
        let mut next = 0;
        while let Some(&at) = queue.get(next) {
            next += 1;
            for (_, peer) in network.neighbors(at) {
                if hops[peer.index()] == u32::MAX {
                    hops[peer.index()] = hops[at.index()] + 1;
                    queue.push(peer);
                }
            }
        }
        hops
    }

    #[test]
    fn every_hop_leads_nearer_to_the_leaf() {
        for spec in
            ["fattree:k=3,levels=3", "clos:radix=8,levels=3", "xgft:down=2x3x2,up=2x2", "clos:radix=12,levels=2"]
        {
            let network = topology::build(spec).expect(spec);
            let routing = NearestAncestor::<false>::new(&network).expect("a tree");
            for dst in network.routers().filter(|&router| network.has_terminals(router)) {
                let hops = distances(&network, dst);
                for at in network.routers().filter(|&at| at != dst) {
                    let mut moves = Vec::new();
                    routing.moves(at, PacketState::direct(0), dst, &mut moves);
                    let next = |hop: &Move| below(&network, at, hop.port);
                    assert!(!moves.is_empty(), "{spec}: {at:?} to {dst:?}");
                    assert!(
                        moves.iter().all(|hop| hops[next(hop).index()] + 1 == hops[at.index()]),
                        "{spec} {at:?} {dst:?}"
                    );
                    // And all that do.
                    let nearer = network.neighbors(at).filter(|(_, peer)| hops[peer.index()] + 1 == hops[at.index()]);
                    assert_eq!(moves.len(), nearer.count(), "{spec}: {at:?} to {dst:?}");
                }
            }
        }
    }

    #[test]
    fn routers_with_equal_rows_share_one() {
        let network = topology::build("fattree:k=4,levels=3").expect("a tree");
        let routing = NearestAncestor::<false>::new(&network).expect("a tree");
        // The roots have a row of 16 leaves, the routers below them one of 4 each, all alike.
        assert_eq!(routing.down.len(), 16 + 4);
    }
}
