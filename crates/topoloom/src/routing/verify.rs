//! Proves a routing free of deadlock: the dependencies between its channels, exhaustively, and a cycle if there is one.
//!
//! A node is a (channel, VC class); an edge says that some packet may hold the first while it waits for the second.
//! An acyclic graph is a proof (Dally and Seitz, 1987). The walk is over targets: for each router as the target of a
//! phase, all states of all packets that head for it. Where packets turn at an intermediate router, what arrives there
//! for it is joined with what leaves it for any destination, so the proof holds for any intermediate.

use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;
use serde::Serialize;

use super::{ANY_VIA, Move, PacketState, Routing};
use crate::network::{LinkClass, Network, Peer, PortId, RouterId};

/// What `topoloom verify` prints.
#[derive(Debug, Clone, Serialize)]
pub struct Proof {
    /// The network.
    pub spec: String,
    /// The routing.
    pub routing: String,
    /// True if no deadlock is possible.
    pub deadlock_free: bool,
    /// How that was shown.
    pub method: &'static str,
    /// Nodes of the graph that some packet uses: (channel, VC class).
    pub channels: usize,
    /// Edges of the graph.
    pub dependencies: usize,
    /// VC classes, hence the least number of VCs.
    pub vcs_needed: u32,
    /// A shortest cycle that was found, channel by channel; empty if there is none.
    pub cycle: Vec<CycleHop>,
    /// Pairs of routers with terminals between which some packet could get stuck or never arrive.
    pub unserved_pairs: usize,
    /// The first of them, as (source router, destination router).
    pub unserved_examples: Vec<(u32, u32)>,
}

/// One channel of a cycle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CycleHop {
    /// The router that sends.
    pub from: u32,
    /// The router that receives.
    pub to: u32,
    /// The output of the sender.
    pub port: u32,
    /// The VC class.
    pub vc_class: u32,
    /// The class of the link.
    pub link: LinkClass,
}

/// Verifies `routing` on `network`.
pub fn verify(network: &Network, name: &str, routing: &dyn Routing) -> Proof {
    let graph = Graph::new(network, routing.classes() as usize);
    let ends: Vec<RouterId> = network.up_routers().filter(|&r| network.terminals_of(r).next().is_some()).collect();
    let arrivals = first_phase(&graph, routing, &ends);
    let turns: Vec<Vec<Row>> = arrivals.iter().map(|at| at.iter().map(|_| Row::new(graph.words)).collect()).collect();
    let stuck = last_phase(&graph, routing, &ends, &arrivals, &turns);
    graph.join(&arrivals, &turns);
    let cycle = graph.cycle();
    let unserved: usize = stuck.iter().map(|(_, sources)| sources.len()).sum();
    let examples = stuck.iter().flat_map(|(dst, sources)| sources.iter().map(|src| (src.0, dst.0))).take(10).collect();
    Proof {
        spec: network.spec().to_owned(),
        routing: name.to_owned(),
        deadlock_free: cycle.is_empty(),
        method: "acyclic",
        channels: graph.used.len(),
        dependencies: graph.rows.iter().map(Row::len).sum(),
        vcs_needed: routing.classes(),
        cycle,
        unserved_pairs: unserved,
        unserved_examples: examples,
    }
}

/// What arrives at a router that is its intermediate one: a state, and the nodes it arrives on.
struct Arrival {
    state: PacketState,
    nodes: Vec<u32>,
}

/// A set of (local output, class) of one router, filled by many threads.
struct Row(Vec<AtomicU64>);

impl Row {
    fn new(words: usize) -> Self {
        Self((0..words).map(|_| AtomicU64::new(0)).collect())
    }

    fn len(&self) -> usize {
        self.0.iter().map(|word| word.load(Ordering::Relaxed).count_ones() as usize).sum()
    }

    fn insert(&self, bit: usize) {
        self.0[bit / 64].fetch_or(1 << (bit % 64), Ordering::Relaxed);
    }
}

/// Walks the way to every possible intermediate router.
fn first_phase(graph: &Graph, routing: &dyn Routing, ends: &[RouterId]) -> Vec<Vec<Arrival>> {
    let walk = |via: RouterId| {
        let mut walk = Walk::new(graph, via);
        let mut starts = Vec::new();
        for &src in ends.iter().filter(|&&src| src != via) {
            starts.clear();
            // Which destination is asked for does not matter: a start over any router has none in it.
            if let Some(&dst) = ends.iter().find(|&&dst| dst != src) {
                routing.starts(src, dst, &mut starts);
            }
            for state in starts.iter().filter(|state| state.via == ANY_VIA) {
                walk.reach(src, PacketState { via: via.0, bits: state.bits });
            }
        }
        walk.run(routing);
        walk.record();
        walk.arrivals()
    };
    (0..graph.network.num_routers() as u32).into_par_iter().map(RouterId).map(walk).collect()
}

/// Walks the way to every destination, from sources and from intermediate routers. Returns, by destination, the
/// sources that are not served.
fn last_phase(
    graph: &Graph,
    routing: &dyn Routing,
    ends: &[RouterId],
    arrivals: &[Vec<Arrival>],
    turns: &[Vec<Row>],
) -> Vec<(RouterId, Vec<RouterId>)> {
    let walk = |&dst: &RouterId| {
        let mut walk = Walk::new(graph, dst);
        let mut sources: Vec<(RouterId, usize)> = Vec::new();
        let mut starts = Vec::new();
        for &src in ends.iter().filter(|&&src| src != dst) {
            starts.clear();
            routing.starts(src, dst, &mut starts);
            for state in starts.iter().filter(|state| state.via != ANY_VIA) {
                sources.push((src, walk.reach(src, *state)));
            }
        }
        let mut turned = Vec::new();
        for via in graph.network.routers().filter(|&via| via != dst) {
            for (place, arrival) in arrivals[via.index()].iter().enumerate() {
                let index = walk.reach(via, arrival.state);
                sources.push((via, index));
                turned.push((&turns[via.index()][place], index));
            }
        }
        walk.run(routing);
        walk.record();
        for (row, index) in turned {
            walk.outs(index).for_each(|hop| row.insert(graph.bit(hop)));
        }
        (dst, walk.stuck(&sources))
    };
    ends.par_iter().map(walk).collect()
}

/// The channel dependency graph. A node is `port id * classes + class`.
struct Graph<'a> {
    network: &'a Network,
    classes: usize,
    words: usize,
    /// For each node, the nodes at the receiving router that wait behind it.
    rows: Vec<Row>,
    /// The nodes that some packet uses, whether or not anything waits behind them.
    used: Row,
}

impl<'a> Graph<'a> {
    fn new(network: &'a Network, classes: usize) -> Self {
        let words = (network.radix() * classes).div_ceil(64);
        let rows: Vec<Row> = (0..network.ports().len() * classes).map(|_| Row::new(words)).collect();
        let used = Row::new(rows.len().div_ceil(64));
        Self { network, classes, words, rows, used }
    }

    fn bit(&self, hop: &Move) -> usize {
        hop.port as usize * self.classes + hop.class as usize
    }

    fn node(&self, at: RouterId, hop: &Move) -> u32 {
        self.network.port_base(at) * self.classes as u32 + self.bit(hop) as u32
    }

    fn head(&self, node: usize) -> RouterId {
        match self.network.ports()[node / self.classes].peer {
            Peer::Port(peer) => self.network.ports()[peer.index()].router,
            Peer::Terminal(_) => unreachable!("only links between routers have dependencies"),
        }
    }

    /// Joins what arrives at intermediate routers with what leaves them.
    fn join(&self, arrivals: &[Vec<Arrival>], turns: &[Vec<Row>]) {
        for (arrival, row) in arrivals.iter().flatten().zip(turns.iter().flatten()) {
            for &node in &arrival.nodes {
                for (into, from) in self.rows[node as usize].0.iter().zip(&row.0) {
                    into.fetch_or(from.load(Ordering::Relaxed), Ordering::Relaxed);
                }
            }
        }
    }

    fn successors(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        let words = self.rows[node].0.iter().map(|w| w.load(Ordering::Relaxed)).enumerate();
        let bits = words.flat_map(|(i, word)| (0..64).filter(move |b| word >> b & 1 == 1).map(move |b| i * 64 + b));
        bits.map(move |bit| self.network.port_base(self.head(node)) as usize * self.classes + bit)
    }

    fn successors_if_any(&self, node: usize) -> Vec<usize> {
        let empty = self.rows[node].0.iter().all(|w| w.load(Ordering::Relaxed) == 0);
        if empty { Vec::new() } else { self.successors(node).collect() }
    }

    /// A shortest cycle through a node of the graph, empty if it is acyclic.
    fn cycle(&self) -> Vec<CycleHop> {
        /// Breadth-first searches for a shorter cycle, at the most.
        const SEARCHES: usize = 4096;
        let left = self.cyclic_core();
        let nodes: Vec<usize> = (0..left.len()).filter(|&n| left[n]).collect();
        let shortest = nodes
            .par_iter()
            .take(SEARCHES)
            .filter_map(|&node| self.cycle_through(node, &left))
            .min_by_key(|cycle| (cycle.len(), cycle[0]));
        shortest.unwrap_or_default().into_iter().map(|node| self.describe(node)).collect()
    }

    /// Kahn's algorithm, from both ends: what is left lies on cycles or between them.
    fn cyclic_core(&self) -> Vec<bool> {
        let next: Vec<Vec<usize>> = (0..self.rows.len()).map(|n| self.successors_if_any(n)).collect();
        let mut previous = vec![Vec::new(); next.len()];
        next.iter().enumerate().for_each(|(n, to)| to.iter().for_each(|&t| previous[t].push(n)));
        let mut left = vec![true; next.len()];
        for (towards, back) in [(&next, &previous), (&previous, &next)] {
            let mut degree: Vec<usize> =
                (0..left.len()).map(|n| back[n].iter().filter(|&&b| left[b]).count()).collect();
            let mut free: Vec<usize> = (0..left.len()).filter(|&n| left[n] && degree[n] == 0).collect();
            while let Some(node) = free.pop() {
                left[node] = false;
                for &to in towards[node].iter().filter(|&&to| left[to]) {
                    degree[to] -= 1;
                    if degree[to] == 0 {
                        free.push(to);
                    }
                }
            }
        }
        left
    }

    fn cycle_through(&self, start: usize, within: &[bool]) -> Option<Vec<usize>> {
        let mut parent = std::collections::HashMap::new();
        let mut queue = vec![start];
        let mut place = 0;
        while place < queue.len() {
            let node = queue[place];
            place += 1;
            for next in self.successors(node).filter(|&n| within[n]) {
                if next == start {
                    let mut cycle = vec![node];
                    while let Some(&before) = parent.get(cycle.last().expect("never empty")) {
                        cycle.push(before);
                    }
                    cycle.reverse();
                    return Some(cycle);
                }
                if let std::collections::hash_map::Entry::Vacant(entry) = parent.entry(next) {
                    entry.insert(node);
                    queue.push(next);
                }
            }
        }
        None
    }

    fn describe(&self, node: usize) -> CycleHop {
        let port = PortId((node / self.classes) as u32);
        let (from, local) = self.network.local_port(port);
        CycleHop {
            from: from.0,
            to: self.head(node).0,
            port: local,
            vc_class: (node % self.classes) as u32,
            link: self.network.ports()[port.index()].class,
        }
    }
}

/// All states of packets that head for one target.
struct Walk<'g, 'n> {
    graph: &'g Graph<'n>,
    target: RouterId,
    /// Router, state and hops (with the index of the state each leads to) of every state found.
    states: Vec<Found>,
    /// (state, index) of the states found at each router.
    found: Vec<Vec<(PacketState, u32)>>,
}

/// A state at a router, with the hops that may follow and the state that each leads to.
type Found = (RouterId, PacketState, Vec<(Move, u32)>);

/// Stands for the target, where the phase ends.
const ENDED: u32 = u32::MAX;

impl<'g, 'n> Walk<'g, 'n> {
    fn new(graph: &'g Graph<'n>, target: RouterId) -> Self {
        Self { graph, target, states: Vec::new(), found: vec![Vec::new(); graph.network.num_routers()] }
    }

    /// The index of a state, new or known.
    fn reach(&mut self, at: RouterId, state: PacketState) -> usize {
        let here = &mut self.found[at.index()];
        if let Some((_, index)) = here.iter().find(|(known, _)| *known == state) {
            return *index as usize;
        }
        let index = self.states.len();
        here.push((state, index as u32));
        self.states.push((at, state, Vec::new()));
        index
    }

    fn run(&mut self, routing: &dyn Routing) {
        let mut moves = Vec::new();
        let mut place = 0;
        while place < self.states.len() {
            let (at, state, _) = self.states[place];
            moves.clear();
            routing.moves(at, state, self.target, &mut moves);
            let hops = moves.iter().map(|hop| (*hop, self.follow(at, hop))).collect();
            self.states[place].2 = hops;
            place += 1;
        }
    }

    fn follow(&mut self, at: RouterId, hop: &Move) -> u32 {
        let to = self.graph.head(
            self.graph.network.port_base(at) as usize * self.graph.classes + hop.port as usize * self.graph.classes,
        );
        if to == self.target { ENDED } else { self.reach(to, hop.next) as u32 }
    }

    fn outs(&self, index: usize) -> impl Iterator<Item = &Move> + Clone {
        self.states[index].2.iter().map(|(hop, _)| hop)
    }

    /// Enters the dependencies of this walk into the graph.
    fn record(&self) {
        for (at, _, hops) in &self.states {
            for (hop, next) in hops {
                let node = self.graph.node(*at, hop) as usize;
                self.graph.used.insert(node);
                if *next == ENDED {
                    continue;
                }
                let row = &self.graph.rows[node];
                self.outs(*next as usize).for_each(|after| row.insert(self.graph.bit(after)));
            }
        }
    }

    /// What arrives at the target, if it is an intermediate router.
    fn arrivals(&self) -> Vec<Arrival> {
        let mut arrivals: Vec<Arrival> = Vec::new();
        for (at, _, hops) in &self.states {
            for (hop, _) in hops.iter().filter(|(_, next)| *next == ENDED) {
                let node = self.graph.node(*at, hop);
                match arrivals.iter_mut().find(|a| a.state == hop.next) {
                    Some(known) => known.nodes.push(node),
                    None => arrivals.push(Arrival { state: hop.next, nodes: vec![node] }),
                }
            }
        }
        arrivals.iter_mut().for_each(|a| {
            a.nodes.sort_unstable();
            a.nodes.dedup();
        });
        arrivals
    }

    /// The sources some of whose packets cannot reach the target.
    fn stuck(&self, sources: &[(RouterId, usize)]) -> Vec<RouterId> {
        let mut back = vec![Vec::new(); self.states.len()];
        let mut good: Vec<usize> = Vec::new();
        let mut served = vec![false; self.states.len()];
        for (index, (_, _, hops)) in self.states.iter().enumerate() {
            for (_, next) in hops {
                if *next == ENDED {
                    served[index] = true;
                } else {
                    back[*next as usize].push(index);
                }
            }
            if served[index] {
                good.push(index);
            }
        }
        while let Some(index) = good.pop() {
            for &before in &back[index] {
                if !served[before] {
                    served[before] = true;
                    good.push(before);
                }
            }
        }
        let mut stuck: Vec<RouterId> = sources.iter().filter(|(_, i)| !served[*i]).map(|(src, _)| *src).collect();
        stuck.sort_unstable();
        stuck.dedup();
        stuck
    }
}
