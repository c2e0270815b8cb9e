//! Layered shortest paths, as InfiniBand sites run them: one path per pair, in one of as few layers (virtual lanes) as
//! breaking all cycles takes.
//!
//! Both balance: towards each destination every router takes, among its minimal outputs, the way that carries the fewest
//! paths so far. `lash` (Lysne, Skeie and Reinemo, 2006): router by router; each pair goes into the first layer in which
//! it closes no cycle. `dfsssp` (Domke, Hoefler and Nagel, 2011): terminal by terminal; all paths begin in layer 0, and
//! while there is a cycle in a layer, the paths over its weakest dependency move to the next.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::tables::{Columns, NO_PORT, TableRouting, Tables};
use super::{AnyRouting, Availability, RoutingInfo};
use crate::error::{Error, Result};
use crate::network::{Network, RouterId};
use crate::watch;

pub(super) const LASH: RoutingInfo = RoutingInfo {
    name: "lash",
    summary: "balanced shortest paths, one a pair of routers, each in the first layer in which it closes no cycle",
    offered: Availability::Anywhere,
    classes: "layers, as few as it finds",
    adapts: Some(false),
    keys: &[],
    build: |network, _| lash(network).map(|tables| Some(layered(tables))),
};

pub(super) const DFSSSP: RoutingInfo = RoutingInfo {
    name: "dfsssp",
    summary: "balanced shortest paths, one per router and terminal, layers by breaking cycles at their weakest dependency",
    offered: Availability::Anywhere,
    classes: "layers, as few as it finds",
    adapts: Some(false),
    keys: &[],
    build: |network, _| dfsssp(network).map(|tables| Some(layered(tables))),
};

fn layered(tables: Tables) -> AnyRouting {
    AnyRouting::new(TableRouting { tables: Arc::new(tables), proved: true })
}

/// LASH's tables by router.
///
/// # Errors
/// A disconnected network, one that is too large, or one that needs too many layers.
pub fn lash(network: &Network) -> Result<Tables> {
    let mut tables = balanced(network, "lash", Columns::Routers)?;
    first_fit(network, &mut tables)?;
    Ok(tables)
}

/// DFSSSP's tables by terminal.
///
/// # Errors
/// As [`lash`].
pub fn dfsssp(network: &Network) -> Result<Tables> {
    let mut tables = balanced(network, "dfsssp", Columns::Terminals)?;
    break_cycles(network, &mut tables)?;
    Ok(tables)
}

/// The most layers: what a class number holds in the engine.
const MAX_LAYERS: usize = crate::limits::MAX_VCS as usize;

/// The network as the two need it: neighbours by port, terminals, channels by number.
struct Graph {
    port_base: Vec<u32>,
    neighbors: Vec<Vec<(u16, u32)>>,
    /// The terminals of each router; none at one that has failed.
    terminals: Vec<u32>,
}

impl Graph {
    fn new(network: &Network) -> Self {
        let neighbors = |at| network.neighbors(at).map(|(port, peer)| (port as u16, peer.0)).collect();
        let mut terminals = vec![0; network.num_routers()];
        network.up_routers().for_each(|at| terminals[at.index()] = network.terminals_of(at).count() as u32);
        Self {
            port_base: network.routers().map(|at| network.port_base(at)).collect(),
            neighbors: network.routers().map(neighbors).collect(),
            terminals,
        }
    }

    /// Routers with their distances to `to`, nearest first.
    fn by_distance(&self, to: u32) -> (Vec<u32>, Vec<u32>) {
        let mut distance = vec![u32::MAX; self.neighbors.len()];
        distance[to as usize] = 0;
        let mut order = vec![to];
        let mut next = 0;
        while let Some(&at) = order.get(next) {
            next += 1;
            for &(_, peer) in &self.neighbors[at as usize] {
                if distance[peer as usize] == u32::MAX {
                    distance[peer as usize] = distance[at as usize] + 1;
                    order.push(peer);
                }
            }
        }
        (order, distance)
    }

    /// The channels from `src` to a column's router.
    fn path(&self, network: &Network, tables: &Tables, src: u32, column: u32, out: &mut Vec<u32>) {
        out.clear();
        let (mut at, to) = (src, tables.router_of(column).0);
        while at != to {
            let port = self.port_base[at as usize] + u32::from(tables.next(RouterId(at), column));
            out.push(port);
            let crate::network::Peer::Port(peer) = network.ports()[port as usize].peer else { unreachable!("a link") };
            at = network.ports()[peer.index()].router.0;
        }
    }

    fn sources(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.terminals.len() as u32).filter(|&at| self.terminals[at as usize] > 0)
    }
}

/// Shortest paths, balanced: each column in turn adds its paths to what the channels carry.
fn balanced(network: &Network, name: &str, kind: Columns) -> Result<Tables> {
    let graph = Graph::new(network);
    let (routers, up) = (network.num_routers(), network.up_routers().count());
    let mut tables = Tables::new(network, name, kind)?;
    let mut carried = vec![0u64; network.ports().len()];
    let (mut order, mut distance) = (Vec::new(), Vec::new());
    let mut last = None;
    let stage = watch::stage("routing tables", tables.columns().into());
    for column in 0..tables.columns() {
        stage.step();
        let to = tables.router_of(column).0;
        if graph.terminals[to as usize] == 0 {
            continue;
        }
        if last.replace(to) != Some(to) {
            (order, distance) = graph.by_distance(to);
        }
        if order.len() < up {
            let reached = order.len();
            return Err(Error::Routing(format!(
                "{} is disconnected: {reached} of {up} routers reach router {to}",
                network.spec()
            )));
        }
        let mut cost = vec![0u64; routers];
        let mut parent = vec![0u32; routers];
        for &at in &order[1..] {
            let closer = graph.neighbors[at as usize]
                .iter()
                .filter(|(_, peer)| distance[*peer as usize] < distance[at as usize]);
            let base = graph.port_base[at as usize];
            let way = |&(port, peer): &(u16, u32)| {
                (cost[peer as usize] + carried[(base + u32::from(port)) as usize], port, peer)
            };
            let (least, port, peer) = closer.map(way).min().expect("a neighbour is nearer");
            (cost[at as usize], parent[at as usize]) = (least, peer);
            tables.set_next(RouterId(at), column, port);
        }
        let mut paths: Vec<u64> = graph.terminals.iter().map(|&terminals| u64::from(terminals)).collect();
        for &at in order[1..].iter().rev() {
            let port = tables.next(RouterId(at), column);
            debug_assert_ne!(port, NO_PORT);
            carried[(graph.port_base[at as usize] + u32::from(port)) as usize] += paths[at as usize];
            paths[parent[at as usize] as usize] += paths[at as usize];
        }
    }
    Ok(tables)
}

fn too_many(network: &Network, name: &str) -> Error {
    Error::Routing(format!("{name} on {} needs more than {MAX_LAYERS} layers", network.spec()))
}

/// Dependencies that are known to be acyclic, with an order that shows it (Pearce and Kelly, 2006).
struct Acyclic {
    place: Vec<u32>,
    next: Vec<Vec<u32>>,
    previous: Vec<Vec<u32>>,
}

impl Acyclic {
    fn new(nodes: usize) -> Self {
        Self { place: (0..nodes as u32).collect(), next: vec![Vec::new(); nodes], previous: vec![Vec::new(); nodes] }
    }

    /// The nodes from `start` on along `edges` whose places `within` allows.
    fn found(edges: &[Vec<u32>], start: u32, within: impl Fn(u32) -> bool) -> Vec<u32> {
        let (mut found, mut seen) = (vec![start], HashSet::from([start]));
        let mut next = 0;
        while let Some(&node) = found.get(next) {
            next += 1;
            found.extend(edges[node as usize].iter().filter(|&&to| within(to) && seen.insert(to)));
        }
        found
    }

    /// Adds a dependency; false, and nothing is changed, if it closes a cycle.
    fn add(&mut self, from: u32, to: u32) -> bool {
        if from == to {
            return false;
        }
        let (low, high) = (self.place[to as usize], self.place[from as usize]);
        if low < high {
            let mut ahead = Self::found(&self.next, to, |node| self.place[node as usize] <= high);
            if ahead.contains(&from) {
                return false;
            }
            let mut behind = Self::found(&self.previous, from, |node| self.place[node as usize] >= low);
            ahead.sort_unstable_by_key(|&node| self.place[node as usize]);
            behind.sort_unstable_by_key(|&node| self.place[node as usize]);
            let nodes: Vec<u32> = behind.into_iter().chain(ahead).collect();
            let mut places: Vec<u32> = nodes.iter().map(|&node| self.place[node as usize]).collect();
            places.sort_unstable();
            nodes.iter().zip(places).for_each(|(&node, place)| self.place[node as usize] = place);
        }
        self.next[from as usize].push(to);
        self.previous[to as usize].push(from);
        true
    }

    fn has(&self, from: u32, to: u32) -> bool {
        self.next[from as usize].contains(&to)
    }

    /// Takes back the dependency that was added last.
    fn take_back(&mut self, from: u32, to: u32) {
        self.next[from as usize].pop();
        self.previous[to as usize].pop();
    }

    /// Adds all dependencies of a path, or none.
    fn add_path(&mut self, path: &[u32]) -> bool {
        let mut added: Vec<(u32, u32)> = Vec::new();
        for (&from, &to) in path.iter().zip(&path[path.len().min(1)..]) {
            if self.has(from, to) {
                continue;
            }
            if !self.add(from, to) {
                added.into_iter().rev().for_each(|(from, to)| self.take_back(from, to));
                return false;
            }
            added.push((from, to));
        }
        true
    }
}

/// LASH: each pair in the first layer in which it closes no cycle.
fn first_fit(network: &Network, tables: &mut Tables) -> Result<()> {
    let graph = Graph::new(network);
    let mut layers: Vec<Acyclic> = Vec::new();
    let mut path = Vec::new();
    let stage = watch::stage("layers without cycles", graph.sources().count() as u64);
    for src in graph.sources() {
        stage.step();
        for dst in graph.sources().filter(|&dst| dst != src) {
            graph.path(network, tables, src, dst, &mut path);
            let layer = match layers.iter_mut().position(|layer| layer.add_path(&path)) {
                Some(layer) => layer,
                None if layers.len() == MAX_LAYERS => return Err(too_many(network, "lash")),
                None => {
                    let mut layer = Acyclic::new(network.ports().len());
                    layer.add_path(&path);
                    layers.push(layer);
                    layers.len() - 1
                }
            };
            tables.set_layer(RouterId(src), dst, layer as u8);
        }
    }
    Ok(())
}

/// One layer's dependencies, with the paths over each.
struct Layer {
    /// Numbers of dependencies.
    number: HashMap<(u32, u32), u32>,
    ends: Vec<(u32, u32)>,
    paths: Vec<Vec<u32>>,
    /// Paths over each that are still in the layer.
    count: Vec<u32>,
    /// The dependencies from each channel.
    out: Vec<Vec<u32>>,
}

/// A channel that the search has not met, has on its stack, or is done with.
#[derive(Clone, Copy, PartialEq)]
enum Mark {
    New,
    Open,
    Done,
}

impl Layer {
    fn new(channels: usize) -> Self {
        let (number, ends, paths, count) = (HashMap::new(), Vec::new(), Vec::new(), Vec::new());
        Self { number, ends, paths, count, out: vec![Vec::new(); channels] }
    }

    fn dependencies(path: &[u32]) -> impl Iterator<Item = (u32, u32)> + '_ {
        path.iter().copied().zip(path.iter().copied().skip(1))
    }

    fn add(&mut self, path: u32, channels: &[u32]) {
        for ends in Self::dependencies(channels) {
            let number = *self.number.entry(ends).or_insert_with(|| {
                self.out[ends.0 as usize].push(self.ends.len() as u32);
                self.ends.push(ends);
                self.paths.push(Vec::new());
                self.count.push(0);
                self.ends.len() as u32 - 1
            });
            self.paths[number as usize].push(path);
            self.count[number as usize] += 1;
        }
    }

    fn remove(&mut self, channels: &[u32]) {
        Self::dependencies(channels).for_each(|ends| self.count[self.number[&ends] as usize] -= 1);
    }

    /// Searches for cycles; `cut` removes what lies on a dependency. In the end there is none.
    fn break_cycles(&mut self, mut cut: impl FnMut(&mut Self, u32)) {
        let mut mark = vec![Mark::New; self.out.len()];
        for start in 0..self.out.len() as u32 {
            // (channel, place among its dependencies): the one before that place leads to the next on the stack.
            let mut stack: Vec<(u32, usize)> = Vec::new();
            if mark[start as usize] == Mark::New {
                mark[start as usize] = Mark::Open;
                stack.push((start, 0));
            }
            while let Some((at, place)) = stack.last_mut() {
                let Some(&dependency) = self.out[*at as usize].get(*place) else {
                    mark[*at as usize] = Mark::Done;
                    stack.pop();
                    continue;
                };
                *place += 1;
                let to = self.ends[dependency as usize].1;
                match mark[to as usize] {
                    _ if self.count[dependency as usize] == 0 => {}
                    Mark::New => {
                        mark[to as usize] = Mark::Open;
                        stack.push((to, 0));
                    }
                    Mark::Done => {}
                    Mark::Open => {
                        let first = stack.iter().position(|(node, _)| *node == to).expect("it is on the stack");
                        let edge = |&(at, place): &(u32, usize)| self.out[at as usize][place - 1];
                        // The first of the weakest; an earlier cut may have taken one already.
                        let weakest = (first..stack.len())
                            .min_by_key(|&place| self.count[edge(&stack[place]) as usize])
                            .expect("a cycle has a channel");
                        let dependency = edge(&stack[weakest]);
                        if self.count[dependency as usize] > 0 {
                            cut(self, dependency);
                        }
                        stack.drain(weakest + 1..).for_each(|(node, _)| mark[node as usize] = Mark::New);
                    }
                }
            }
        }
    }
}

/// DFSSSP: moves the paths over the weakest dependency of a cycle to the next layer, as long as there is a cycle.
fn break_cycles(network: &Network, tables: &mut Tables) -> Result<()> {
    let graph = Graph::new(network);
    let columns = tables.columns();
    let sources: Vec<u32> = graph.sources().collect();
    let served = |path: &u32| graph.terminals[tables.router_of(path % columns).index()] > 0;
    let mut present: Vec<u32> = (0..sources.len() as u32 * columns).filter(served).collect();
    let of = |path: u32| (sources[(path / columns) as usize], path % columns);
    let mut channels = Vec::new();
    let stage = watch::stage("layers without cycles", 0);
    for layer in 0.. {
        let mut moved: Vec<u32> = Vec::new();
        let mut dependencies = Layer::new(network.ports().len());
        for &path in &present {
            stage.step();
            let (src, column) = of(path);
            if layer > 0 {
                tables.set_layer(RouterId(src), column, layer as u8);
            }
            graph.path(network, tables, src, column, &mut channels);
            dependencies.add(path, &channels);
        }
        let mut gone = vec![false; sources.len() * columns as usize];
        dependencies.break_cycles(|dependencies, weakest| {
            stage.steps(0);
            for path in std::mem::take(&mut dependencies.paths[weakest as usize]) {
                if !std::mem::replace(&mut gone[path as usize], true) {
                    let (src, column) = of(path);
                    graph.path(network, tables, src, column, &mut channels);
                    dependencies.remove(&channels);
                    moved.push(path);
                }
            }
        });
        if moved.is_empty() {
            break;
        }
        if layer + 1 == MAX_LAYERS {
            return Err(too_many(network, "dfsssp"));
        }
        moved.sort_unstable();
        present = moved;
    }
    Ok(())
}
