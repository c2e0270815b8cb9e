//! The expected load of every channel, and the saturation load that follows from it.
//!
//! If every terminal that sends offers one flit per cycle (load 1; where links have rates: the rate of its own link),
//! how many flits would each channel carry per cycle? This is the mean over the random choices of routing and pattern.
//! A channel carries at most one, so the network saturates at 1 / the largest load, however good its routers are. For
//! routings that ignore congestion the expectation is exact. For the others there is a bound that holds for any
//! routing: no path is shorter than the shortest.

use std::collections::BTreeMap;
use std::ops::Range;

use rayon::prelude::*;
use serde::Serialize;

use super::spread::Spread;
use crate::distances::distances_from;
use crate::error::{Error, Result};
use crate::graph::Graph;
use crate::network::{Network, Peer, PortId, RouterId};
use crate::routing::{self, ANY_VIA, Alike, AnyRouting, EvenPaths, Move, PacketState, Routing};
use crate::statistics::rounded;
use crate::traffic::{Demands, Matrix, Traffic};
use crate::watch::{self, Stage};

/// Expected loads, in flits per cycle for each flit per cycle that an active terminal offers; where links have rates, in
/// parts of each link's rate at load 1. The names are the keys of the JSON.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ChannelLoad {
    /// The largest load of a channel between routers; 0 if there is none.
    pub max_channel_load: f64,
    /// The mean load of the channels between routers.
    pub mean_channel_load: Option<f64>,
    /// Channels between routers: two per link.
    pub channels: usize,
    /// The most loaded channel: the router that sends, its output, the router that receives.
    pub busiest: Option<RouterChannel>,
    /// The largest load of a channel from or to a terminal.
    pub max_terminal_load: f64,
    /// The load of the channel that each port of the network sends into.
    #[serde(skip)]
    pub by_port: Vec<f64>,
}

/// A channel between routers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct RouterChannel {
    /// The router that sends.
    pub from: RouterId,
    /// Its output, counted within the router.
    pub port: u32,
    /// The router that receives.
    pub to: RouterId,
}

/// What a bound on the saturation load rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BoundIs {
    /// The exact expected loads of this routing.
    ExpectedLoad,
    /// The shortest distances: holds for any routing, adaptive ones among them.
    Distance,
}

/// An offered load that a network cannot carry more than. The names are the keys of the JSON.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SaturationBound {
    /// Flits per active terminal per cycle; more than 1 if the terminals' own links saturate last, as they can offer 1.
    pub saturation_bound: f64,
    /// What it rests on.
    pub saturation_bound_is: BoundIs,
    /// The loads, where the routing does not look at congestion.
    #[serde(flatten)]
    pub load: Option<ChannelLoad>,
}

impl ChannelLoad {
    /// (router, output counted within it, load) of every channel between routers.
    pub fn channels<'a>(&'a self, network: &'a Network) -> impl Iterator<Item = (RouterId, u32, f64)> + 'a {
        let between = |(port, _): &(u32, _)| matches!(network.ports()[*port as usize].peer, Peer::Port(_));
        (0..).zip(&self.by_port).filter(between).map(|(port, &load)| {
            let (router, port) = network.local_port(PortId(port));
            (router, port, load)
        })
    }

    /// 1 / the largest load, of links between routers and of terminals' links.
    pub fn saturation_bound(&self) -> f64 {
        rounded(1.0 / self.max_channel_load.max(self.max_terminal_load))
    }
}

/// The largest load that `routing` can carry under `traffic` on `network`: from the expected loads, or for an adaptive
/// routing from the distances.
///
/// # Errors
/// As [`channel_load`], but for adaptive routings.
pub fn saturation_bound(network: &Network, routing: &AnyRouting, traffic: &Traffic) -> Result<SaturationBound> {
    if routing.oblivious() {
        let load = channel_load(network, "", routing, traffic)?;
        let (saturation_bound, saturation_bound_is) = (load.saturation_bound(), BoundIs::ExpectedLoad);
        return Ok(SaturationBound { saturation_bound, saturation_bound_is, load: Some(load) });
    }
    let saturation_bound = distance_bound(network, &Demands::new(network, traffic)?);
    Ok(SaturationBound { saturation_bound, saturation_bound_is: BoundIs::Distance, load: None })
}

/// The expected load of every channel under `routing`, which users call `name`, and `traffic`.
///
/// # Errors
/// [`Error::Routing`] if what the routing does depends on congestion, or if it leads packets round in cycles;
/// [`Error::TooLarge`] if the demands between all routers do not fit in memory.
pub fn channel_load(network: &Network, name: &str, routing: &AnyRouting, traffic: &Traffic) -> Result<ChannelLoad> {
    let demands = Demands::new(network, traffic)?;
    if !routing.oblivious() {
        return Err(Error::Routing(format!(
            "{name} on {} decides by congestion, so that its expected channel load is not known before a simulation; \
             it is known of routings such as dor, min, val and nca",
            network.spec()
        )));
    }
    load_of(network, routing, &demands)
}

/// The expected load of every channel under a routing that does not look at congestion.
pub(super) fn load_of(network: &Network, routing: &AnyRouting, demands: &Demands) -> Result<ChannelLoad> {
    let by_port = in_parts_of_rates(network, loads(network, routing, demands)?);
    Ok(summary(network, by_port, demands.max_terminal_load))
}

/// The paths of a routing that may not be built yet.
pub(super) enum Paths<'a> {
    /// Of one that is.
    Of(&'a AnyRouting),
    /// Of that with this name. It is built only where its loads need its tables.
    Named(&'a Network, &'a str),
}

/// A routing.
enum Built<'a> {
    Given(&'a AnyRouting),
    Own(AnyRouting),
}

impl Built<'_> {
    fn as_ref(&self) -> &AnyRouting {
        match self {
            Self::Given(routing) => routing,
            Self::Own(routing) => routing,
        }
    }
}

impl Paths<'_> {
    /// True if packets take any output on a shortest path, all equally likely.
    fn spread_evenly(&self) -> bool {
        match self {
            Self::Of(routing) => routing.spreads_evenly(),
            Self::Named(network, name) => routing::even_paths(network, name).is_some(),
        }
    }

    fn routing(&self) -> Result<Built<'_>> {
        Ok(match self {
            Self::Of(routing) => Built::Given(routing),
            Self::Named(network, name) => Built::Own(routing::build(network, name)?),
        })
    }

    /// The expected load of every channel on them; `None` if they depend on congestion.
    pub fn load(&self, network: &Network, demands: &Demands) -> Result<Option<ChannelLoad>> {
        if let Self::Named(_, name) = self
            && routing::even_paths(network, name) == Some(EvenPaths::Minimal)
        {
            let stage = watch::stage("loads of channels", demands.flits.routers as u64);
            let by_port = in_parts_of_rates(network, spread_evenly(network, &demands.flits, &stage)?);
            return Ok(Some(summary(network, by_port, demands.max_terminal_load)));
        }
        let built = self.routing()?;
        built.as_ref().oblivious().then(|| load_of(network, built.as_ref(), demands)).transpose()
    }
}

/// The expected load of every channel under Valiant's routing, nearly, in a fraction of the time.
///
/// Packets that meet their destination before the intermediate router leave the network there. Here they pass it and come
/// back. Of many routers, few are on a path, so that channels carry but a little more than by [`load_of`]. `None` where
/// detours carry at least the demands themselves between any two routers, as under uniform traffic: minimal paths alone
/// are better then.
pub(super) fn load_of_detours(network: &Network, paths: &Paths, demands: &Demands) -> Result<Option<ChannelLoad>> {
    let halves = halves(network, demands);
    let sources = || network.routers();
    if sources().all(|src| demands.flits.of(src).all(|(dst, flits)| halves.at(src, dst) >= flits * (1.0 - 1e-9))) {
        return Ok(None);
    }
    let stage = watch::stage("loads of detours", network.num_routers() as u64);
    if paths.spread_evenly() {
        let by_port = spread_evenly(network, &halves, &stage)?;
        return Ok(Some(summary(network, in_parts_of_rates(network, by_port), demands.max_terminal_load)));
    }
    let built = paths.routing()?;
    let routing = built.as_ref();
    let ground = Ground::new(network);
    let (by_port, _) = in_chunks(network, |targets, loads| {
        let mut walk = Walk::new(network, &ground, routing);
        for group in targets.chunks(TOGETHER) {
            for (&target, column) in group.iter().zip(halves.columns(group)) {
                stage.step();
                walk.aim(target);
                // As from an intermediate router on: both halves of a detour take the same paths.
                let turned = |via: RouterId| PacketState { via: via.0, bits: 0 };
                senders(column).for_each(|(via, flits)| walk.put(via, turned(via), flits));
                walk.run(|_, _, _| (), |port, flits| loads[port] += flits)?;
            }
        }
        Ok(Vec::<()>::new())
    })?;
    Ok(Some(summary(network, in_parts_of_rates(network, by_port), demands.max_terminal_load)))
}

/// What both halves of all detours carry between routers: each packet goes to any router but its source and destination.
fn halves(network: &Network, demands: &Demands) -> Matrix {
    let flits = &demands.flits;
    let each = 1.0 / (network.up_routers().count() - 2) as f64;
    let into = flits.column_sums();
    let mut out = vec![0.0; flits.routers];
    flits.sources().for_each(|(src, sum)| out[src.index()] = sum);
    let mut halves = Matrix::new(flits.routers);
    for from in network.up_routers() {
        let row = halves.row(from);
        for to in network.up_routers().filter(|&to| to != from) {
            row[to.index()] = ((out[from.index()] + into[to.index()] - 2.0 * flits.at(from, to)) * each).max(0.0);
        }
    }
    halves
}

fn summary(network: &Network, by_port: Vec<f64>, max_terminal_load: f64) -> ChannelLoad {
    let channels = 2 * network.links().len();
    let busiest = (0..by_port.len()).max_by(|&a, &b| by_port[a].total_cmp(&by_port[b]).then(b.cmp(&a)));
    let total: f64 = by_port.iter().sum();
    ChannelLoad {
        max_channel_load: busiest.map_or(0.0, |port| rounded(by_port[port])),
        mean_channel_load: (channels > 0).then(|| rounded(total / channels as f64)),
        channels,
        busiest: busiest.filter(|&port| by_port[port] > 0.0).and_then(|port| {
            let (from, port) = network.local_port(PortId(port as u32));
            let Peer::Port(peer) = network.ports_of(from)[port as usize].peer else { return None };
            Some(RouterChannel { from, port, to: network.ports()[peer.index()].router })
        }),
        max_terminal_load,
        by_port,
    }
}

/// The load that no routing carries more than, as no path is shorter than a shortest one.
pub(super) fn distance_bound(network: &Network, demands: &Demands) -> f64 {
    rounded(1.0 / demands.max_terminal_load.max(least_load(network, demands)))
}

/// The largest of what the links at once, and those of each router, have to carry at least.
fn least_load(network: &Network, demands: &Demands) -> f64 {
    let graph = Graph::new(network);
    let unit = network.injection_gbps();
    let degree = |router: RouterId| match unit {
        None => f64::from(graph.degree(router.0)),
        Some(_) => capacity(network, network.port_base(router)..network.port_base(RouterId(router.0 + 1)), unit),
    };
    let channels = match unit {
        None => (2 * network.links().len()) as f64,
        Some(_) => capacity(network, 0..network.ports().len() as u32, unit),
    };
    let stage = watch::stage("distances", network.num_routers() as u64);
    let rows: Vec<(f64, f64)> = network
        .routers()
        .collect::<Vec<_>>()
        .into_par_iter()
        .map(|source| {
            stage.step();
            let distance = distances_from(&graph, source.0);
            let hops = demands.flits.of(source).map(|(to, flits)| flits * f64::from(distance[to.index()])).sum::<f64>();
            let out: f64 = demands.flits.of(source).map(|(_, flits)| flits).sum();
            (hops, if out > 0.0 { out / degree(source) } else { 0.0 })
        })
        .collect();
    let into = demands.flits.column_sums();
    let into =
        network.routers().zip(into).map(|(router, flits)| if flits > 0.0 { flits / degree(router) } else { 0.0 });
    let hops: f64 = rows.iter().map(|(hops, _)| hops).sum();
    let all = if hops > 0.0 { hops / channels } else { 0.0 };
    rows.iter().map(|&(_, out)| out).chain(into).fold(all, f64::max)
}

/// What the channels between routers of some ports carry, in units of what a terminal sends at load 1.
fn capacity(network: &Network, ports: Range<u32>, unit: Option<f64>) -> f64 {
    let between = ports.map(PortId).filter(|port| matches!(network.ports()[port.index()].peer, Peer::Port(_)));
    between.map(|port| network.capacity(port, unit)).sum()
}

/// Loads in parts of what each channel carries; as they are where all links are alike.
fn in_parts_of_rates(network: &Network, mut by_port: Vec<f64>) -> Vec<f64> {
    let unit = network.injection_gbps();
    if unit.is_some() {
        (0..).map(PortId).zip(&mut by_port).for_each(|(port, load)| *load /= network.capacity(port, unit));
    }
    by_port
}

/// Routers from which on loads under even demands are found from one of all targets that look alike.
const LOOK_ALIKE: usize = 512;

/// Targets whose demands are looked up together.
const TOGETHER: usize = 8;

/// Those of some routers that send anything, with the flits of each.
fn senders(column: Vec<f64>) -> impl Iterator<Item = (RouterId, f64)> {
    (0..).map(RouterId).zip(column).filter(|(_, flits)| *flits > 0.0)
}

/// Which targets look alike, if every router sends as much to every other one, on paths that follow ports.
fn alike(network: &Network, follows_ports: bool, flits: &Matrix) -> Alike {
    if follows_ports && network.num_routers() >= LOOK_ALIKE && flits.is_even() {
        Alike::new(network)
    } else {
        Alike::none(network)
    }
}

/// The loads by port under even demands to all targets, from those to the first of each kind of routers.
///
/// A permutation of routers that keeps the numbers of ports maps packets for one target onto those for another. What all
/// send over a port of one router is then what those for the first targets send over this port of all routers like it.
fn of_all_targets(network: &Network, alike: &Alike, by_port: Vec<f64>) -> Vec<f64> {
    if alike.is_none() {
        return by_port;
    }
    let ports =
        |router: RouterId| network.port_base(router) as usize..network.port_base(RouterId(router.0 + 1)) as usize;
    let mut sums = vec![0.0; by_port.len()];
    for router in network.routers() {
        let own = ports(router).zip(ports(alike.first(router)));
        own.for_each(|(port, first)| sums[first] += by_port[port]);
    }
    for router in network.routers().filter(|&router| !alike.is_first(router)) {
        sums.copy_within(ports(alike.first(router)), ports(router).start);
    }
    sums
}

/// The load of the channel of every port, in flits per cycle, if packets take any output on a shortest path.
fn spread_evenly(network: &Network, flits: &Matrix, stage: &Stage) -> Result<Vec<f64>> {
    spread_from(network, flits, &alike(network, true, flits), stage)
}

fn spread_from(network: &Network, flits: &Matrix, alike: &Alike, stage: &Stage) -> Result<Vec<f64>> {
    let spread = Spread::new(network);
    let (by_port, _) = in_chunks(network, |targets, loads| {
        let targets: Vec<RouterId> = targets.iter().copied().filter(|&target| alike.is_first(target)).collect();
        for group in targets.chunks(TOGETHER) {
            for (&target, mut to_target) in group.iter().zip(flits.columns(group)) {
                stage.step();
                spread.add(target, &mut to_target, loads).map_err(|at| lost(network, target, at, "has no hop at"))?;
            }
        }
        Ok(Vec::<()>::new())
    })?;
    Ok(of_all_targets(network, alike, by_port))
}

/// The load of the channel of every port, in flits per cycle.
fn loads(network: &Network, routing: &AnyRouting, demands: &Demands) -> Result<Vec<f64>> {
    let follows_ports = routing.follows_ports() && !routing.takes_detours();
    loads_from(network, routing, demands, &alike(network, follows_ports, &demands.flits))
}

/// The same from one of all targets that look alike, for a routing without detours.
fn loads_from(network: &Network, routing: &AnyRouting, demands: &Demands, alike: &Alike) -> Result<Vec<f64>> {
    if routing.spreads_evenly() && !routing.takes_detours() {
        let stage = watch::stage("loads of channels", demands.flits.routers as u64);
        return spread_from(network, &demands.flits, alike, &stage);
    }
    let detours = detours(routing, demands);
    let second = Matrix::new(demands.flits.routers);
    let (mut total, second) = if detours.is_empty() {
        (vec![0.0; network.ports().len()], second)
    } else {
        first_phase(network, routing, &detours, second)?
    };
    let (ground, stage) = (Ground::new(network), watch::stage("loads of channels", demands.flits.routers as u64));
    let (last, _) = in_chunks(network, |targets, loads| {
        let (mut walk, mut starts) = (Walk::new(network, &ground, routing), Vec::new());
        let targets: Vec<RouterId> = targets.iter().copied().filter(|&target| alike.is_first(target)).collect();
        for group in targets.chunks(TOGETHER) {
            for (&target, column) in group.iter().zip(demands.flits.columns(group)) {
                stage.step();
                walk.aim(target);
                for (src, flits) in senders(column) {
                    routing.likely_starts(src, target, &mut starts);
                    for (likely, state) in starts.drain(..) {
                        if state.via != ANY_VIA {
                            walk.put(src, state, likely * flits);
                        } else if !routing.takes_detours() {
                            return Err(Error::Routing(format!("{}: a detour that was not announced", network.spec())));
                        }
                    }
                }
                // A packet at its intermediate router turns to its destination.
                let turned = |via: RouterId| PacketState { via: via.0, bits: 0 };
                if !detours.is_empty() {
                    second.column(target).for_each(|(via, flits)| walk.put(via, turned(via), flits));
                }
                walk.run(|_, _, _| (), |port, flits| loads[port] += flits)?;
            }
        }
        Ok(Vec::<()>::new())
    })?;
    total.iter_mut().zip(of_all_targets(network, alike, last)).for_each(|(sum, load)| *sum += load);
    Ok(total)
}

/// Flits per cycle between routers, by the bits that a packet starts with.
type ByBits = BTreeMap<u32, Matrix>;

/// The demands of packets that go over any intermediate router.
fn detours(routing: &AnyRouting, demands: &Demands) -> ByBits {
    if !routing.takes_detours() {
        return ByBits::new();
    }
    let sources: Vec<RouterId> = (0..demands.flits.routers as u32).map(RouterId).collect();
    let rows: Vec<BTreeMap<u32, Vec<f64>>> = sources
        .par_iter()
        .map(|&src| {
            let (mut rows, mut starts) = (BTreeMap::new(), Vec::new());
            for (dst, flits) in demands.flits.of(src) {
                routing.likely_starts(src, dst, &mut starts);
                for (likely, state) in starts.drain(..).filter(|(_, state)| state.via == ANY_VIA) {
                    let row = rows.entry(state.bits).or_insert_with(|| vec![0.0; demands.flits.routers]);
                    row[dst.index()] += likely * flits;
                }
            }
            rows
        })
        .collect();
    let mut all = ByBits::new();
    for (src, rows) in sources.into_iter().zip(rows) {
        for (bits, row) in rows {
            all.entry(bits).or_insert_with(|| Matrix::new(demands.flits.routers)).row(src).copy_from_slice(&row);
        }
    }
    all
}

/// Packets that take detours and begin with the same bits.
struct Detours<'a> {
    bits: u32,
    flits: &'a Matrix,
    /// The routers that send, and the sum of each.
    sources: Vec<(RouterId, f64)>,
    product: Option<Product>,
}

/// A demand that is a product of a number of its source and one of its destination, as uniform traffic is.
struct Product {
    source: Vec<f64>,
    destination: Vec<f64>,
}

impl Product {
    /// Numbers that differ by less than this part are equal.
    const SAME: f64 = 1e-12;

    /// The numbers, relative to the first source; none unless all demands between different routers are such products.
    fn of(flits: &Matrix, sources: &[(RouterId, f64)]) -> Option<Self> {
        let [(first, _), (second, _), ..] = sources else { return None };
        let mut source = vec![0.0; flits.routers];
        let to = |router: usize| RouterId(router as u32);
        let mut destination: Vec<f64> = (0..flits.routers).map(|dst| flits.at(*first, to(dst))).collect();
        destination[first.index()] = 0.0;
        for &(src, _) in sources {
            let dst = (0..flits.routers).find(|&dst| dst != src.index() && destination[dst] > 0.0)?;
            source[src.index()] = flits.at(src, to(dst)) / destination[dst];
        }
        destination[first.index()] = flits.at(*second, *first) / source[second.index()];
        let holds = |src: RouterId, dst: usize| {
            let (own, product) = (flits.at(src, to(dst)), source[src.index()] * destination[dst]);
            dst == src.index() || (own - product).abs() <= Self::SAME * own.max(product)
        };
        let all = sources.iter().all(|&(src, _)| (0..flits.routers).all(|dst| holds(src, dst)));
        all.then_some(Self { source, destination })
    }
}

impl<'a> Detours<'a> {
    fn new(bits: u32, flits: &'a Matrix) -> Self {
        let sources: Vec<(RouterId, f64)> = flits.sources().collect();
        let product = Product::of(flits, &sources);
        Self { bits, flits, sources, product }
    }

    /// The sources but one.
    fn besides(&self, via: RouterId) -> impl Iterator<Item = (RouterId, f64)> {
        self.sources.iter().copied().filter(move |&(src, _)| src != via)
    }

    /// Lets packets leave at their destinations before the router `via` that `alone` is aimed at; each source sends them
    /// there with probability `each`. Sources walk `alone` one by one, or all at once if demands are products.
    fn leave_early(
        &self,
        via: RouterId,
        each: f64,
        alone: &mut Walk,
        mut leave: impl FnMut(RouterId, PacketState, f64),
    ) -> Result<()> {
        let state = PacketState { via: via.0, bits: self.bits };
        if let Some(Product { source, destination }) = &self.product {
            self.besides(via).for_each(|(src, _)| alone.put(src, state, each * source[src.index()]));
            let arrive = |at: RouterId, state, likely: f64| {
                if at != via {
                    leave(at, state, likely * destination[at.index()]);
                }
            };
            return alone.run(arrive, |_, _| ());
        }
        for (src, _) in self.besides(via) {
            alone.put(src, state, each);
            let arrive = |at: RouterId, state, likely: f64| {
                if at != via {
                    leave(at, state, likely * self.flits.at(src, at));
                }
            };
            alone.run(arrive, |_, _| ())?;
        }
        Ok(())
    }
}

/// The loads towards the intermediate routers, and the demands from these to the destinations.
///
/// All packets to one intermediate router walk at once, whatever their destinations. Some reach their destination
/// before it and leave the network there; separate walks count these.
fn first_phase(
    network: &Network,
    routing: &AnyRouting,
    detours: &ByBits,
    mut second: Matrix,
) -> Result<(Vec<f64>, Matrix)> {
    let routers = network.num_routers();
    let each = 1.0 / (network.up_routers().count() - 2) as f64;
    let kinds: Vec<Detours> = detours.iter().map(|(&bits, flits)| Detours::new(bits, flits)).collect();
    let (ground, stage) = (Ground::new(network), watch::stage("loads of detours", routers as u64));
    let (loads, met) = in_chunks(network, |vias, loads| {
        let (mut alone, mut walk) = (Walk::new(network, &ground, routing), Walk::new(network, &ground, routing));
        let mut all_met = Vec::new();
        for &via in vias.iter().filter(|&&via| network.is_up(via)) {
            stage.step();
            walk.aim(via);
            alone.aim_as(&walk);
            let mut met = vec![0.0; routers];
            for kind in &kinds {
                let state = PacketState { via: via.0, bits: kind.bits };
                for (src, sum) in kind.besides(via) {
                    walk.put(src, state, (sum - kind.flits.at(src, via)) * each);
                }
                stage.steps(0);
                kind.leave_early(via, each, &mut alone, |at, state, leaving| {
                    if leaving > 0.0 {
                        met[at.index()] += leaving;
                        walk.put(at, state, -leaving);
                    }
                })?;
            }
            walk.run(|_, _, _| (), |port, flits| loads[port] += flits)?;
            all_met.push(met);
        }
        Ok(all_met)
    })?;
    for flits in detours.values() {
        let to = flits.column_sums();
        for via in network.up_routers() {
            let row = second.row(via);
            for (dst, to) in to.iter().enumerate().filter(|&(dst, _)| dst != via.index()) {
                row[dst] += (to - flits.at(via, RouterId(dst as u32))) * each;
            }
        }
    }
    for (via, met) in network.up_routers().zip(met) {
        second.row(via).iter_mut().zip(met).for_each(|(flits, met)| *flits = (*flits - met).max(0.0));
    }
    Ok((loads, second))
}

/// Works on all routers in chunks, in parallel. Returns the sum of the loads (by port) of the chunks, and the results
/// in the order of the routers. Chunks and order of summation do not depend on the number of threads.
fn in_chunks<T: Send>(
    network: &Network,
    work: impl Fn(&[RouterId], &mut [f64]) -> Result<Vec<T>> + Sync,
) -> Result<(Vec<f64>, Vec<T>)> {
    const CHUNKS: usize = 16;
    let routers: Vec<RouterId> = network.routers().collect();
    let chunks: Vec<_> = routers
        .par_chunks(routers.len().div_ceil(CHUNKS).max(1))
        .map(|chunk| {
            let mut loads = vec![0.0; network.ports().len()];
            work(chunk, &mut loads).map(|results| (loads, results))
        })
        .collect::<Result<_>>()?;
    let (mut total, mut all) = (vec![0.0; network.ports().len()], Vec::new());
    for (loads, results) in chunks {
        total.iter_mut().zip(loads).for_each(|(sum, load)| *sum += load);
        all.extend(results);
    }
    Ok((total, all))
}

/// Where packets walk.
struct Ground {
    graph: Graph,
    /// The router behind each port, or [`NOT_BETWEEN`]: walks look here far more often than at all that is known of ports.
    next: Vec<RouterId>,
}

/// Behind a port is no router.
const NOT_BETWEEN: RouterId = RouterId(u32::MAX);

impl Ground {
    fn new(network: &Network) -> Self {
        let behind = |peer| match peer {
            Peer::Port(peer) => network.ports()[peer.index()].router,
            _ => NOT_BETWEEN,
        };
        let next = network.ports().iter().map(|port| behind(port.peer)).collect();
        Self { graph: Graph::new(network), next }
    }
}

/// Packets towards one router: not each by itself, but how many there are in which state where. Those that are farthest
/// from it move first, so that nearly all that pass a router leave it together.
struct Walk<'a> {
    network: &'a Network,
    ground: &'a Ground,
    routing: &'a AnyRouting,
    target: RouterId,
    /// The distance of each router from the target.
    distance: Vec<u32>,
    /// The states at each router, with the flits per cycle in each, that have yet to move.
    waiting: Vec<Vec<(PacketState, f64)>>,
    /// Routers where states wait, by their distance; no larger one than `farthest` has any.
    rings: Vec<Vec<RouterId>>,
    farthest: usize,
    /// Of the router at hand, kept for their memory.
    states: Vec<(PacketState, f64)>,
    moves: Vec<(f64, Move)>,
}

impl<'a> Walk<'a> {
    fn new(network: &'a Network, ground: &'a Ground, routing: &'a AnyRouting) -> Self {
        Self {
            network,
            ground,
            routing,
            target: RouterId(0),
            distance: Vec::new(),
            waiting: vec![Vec::new(); network.num_routers()],
            rings: Vec::new(),
            farthest: 0,
            states: Vec::new(),
            moves: Vec::new(),
        }
    }

    /// All packets go to `target` from now on.
    fn aim(&mut self, target: RouterId) {
        self.target = target;
        self.distance = distances_from(&self.ground.graph, target.0);
    }

    /// All packets go where those of `other` go.
    fn aim_as(&mut self, other: &Self) {
        self.target = other.target;
        self.distance.clone_from(&other.distance);
    }

    /// Adds packets; negative ones take away.
    fn put(&mut self, at: RouterId, state: PacketState, flits: f64) {
        // What cannot reach the target is as far as can be: the routing has no hop for it.
        let ring = (self.distance[at.index()] as usize).min(self.waiting.len());
        let states = &mut self.waiting[at.index()];
        if states.is_empty() {
            if self.rings.len() <= ring {
                self.rings.resize(ring + 1, Vec::new());
            }
            self.rings[ring].push(at);
            self.farthest = self.farthest.max(ring);
        }
        match states.iter_mut().find(|(known, _)| *known == state) {
            Some((_, sum)) => *sum += flits,
            None => states.push((state, flits)),
        }
    }

    /// The next router where states wait.
    fn next(&mut self) -> Option<RouterId> {
        loop {
            match self.rings.get_mut(self.farthest)?.pop() {
                Some(at) => return Some(at),
                None if self.farthest == 0 => return None,
                None => self.farthest -= 1,
            }
        }
    }

    /// Walks all packets to the target. `arrive(at, state, flits)` sees them at every router after their first one,
    /// `hop(port, flits)` on every channel.
    fn run(
        &mut self,
        mut arrive: impl FnMut(RouterId, PacketState, f64),
        mut hop: impl FnMut(usize, f64),
    ) -> Result<()> {
        let routers = self.network.num_routers();
        let mut left = routers * (4 * routers + 64);
        while let Some(at) = self.next() {
            let mut states = std::mem::take(&mut self.states);
            std::mem::swap(&mut states, &mut self.waiting[at.index()]);
            left = left.checked_sub(1).ok_or_else(|| self.lost(at, "leads packets in a cycle at"))?;
            for (state, flits) in states.drain(..) {
                if at != self.target {
                    self.forward(at, state, flits, &mut arrive, &mut hop)?;
                }
            }
            self.states = states;
        }
        Ok(())
    }

    fn forward(
        &mut self,
        at: RouterId,
        state: PacketState,
        flits: f64,
        arrive: &mut impl FnMut(RouterId, PacketState, f64),
        hop: &mut impl FnMut(usize, f64),
    ) -> Result<()> {
        let mut moves = std::mem::take(&mut self.moves);
        self.routing.likely_moves(at, state, self.target, &mut moves);
        if moves.is_empty() {
            return Err(self.lost(at, "has no hop at"));
        }
        let first = self.network.port_base(at) as usize;
        for (likely, step) in moves.drain(..) {
            let port = first + usize::from(step.port);
            let next = self.ground.next[port];
            if next == NOT_BETWEEN {
                return Err(self.lost(at, "sends packets to a terminal at"));
            }
            hop(port, likely * flits);
            arrive(next, step.next, likely * flits);
            self.put(next, step.next, likely * flits);
        }
        self.moves = moves;
        Ok(())
    }

    fn lost(&self, at: RouterId, what: &str) -> Error {
        lost(self.network, self.target, at, what)
    }
}

fn lost(network: &Network, target: RouterId, at: RouterId, what: &str) -> Error {
    Error::Routing(format!("{}: the routing {what} router {at}, towards router {target}", network.spec()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{routing, topology, traffic};

    /// Packets that leave before each intermediate router, by router and state: in order.
    fn leaving(network: &Network, routing: &AnyRouting, kind: &Detours) -> Vec<((u32, u32), f64)> {
        let ground = Ground::new(network);
        let mut alone = Walk::new(network, &ground, routing);
        let mut all: BTreeMap<(u32, u32), f64> = BTreeMap::new();
        for via in network.routers() {
            alone.aim(via);
            let leave = |at: RouterId, _: PacketState, flits: f64| *all.entry((via.0, at.0)).or_default() += flits;
            kind.leave_early(via, 0.5, &mut alone, leave).expect("a routing that works");
        }
        all.into_iter().filter(|(_, flits)| *flits > 0.0).collect()
    }

    #[test]
    fn loads_from_one_of_all_targets_that_look_alike_are_those_from_all() {
        for (spec, name) in [
            ("galaxyfly:n=1,q=13,a=3,p=1", "min"),
            ("galaxyfly:n=1,q=13,a=3,p=1", "min:common=random"),
            ("galaxyfly:n=1,q=29,a=4,p=2,wiring=round-robin", "min"),
            ("galaxyfly:n=1,q=13,a=1,p=1", "min"),
            ("galaxyfly:n=2,q=5,a=3,p=1", "min"),
            ("slimfly:q=5,p=2", "min"),
            ("slimfly:q=7,p=1", "min"),
        ] {
            let network = topology::build(spec).expect(spec);
            let routing = routing::build(&network, name).expect(name);
            assert!(routing.follows_ports(), "{spec} {name}");
            let traffic = traffic::build(&network, "uniform").expect("a pattern");
            let demands = Demands::new(&network, &traffic).expect("small");
            assert!(demands.flits.is_even());
            let few = Alike::new(&network);
            assert!(!few.is_none(), "{spec}");
            let [few, all] = [few, Alike::none(&network)]
                .map(|alike| loads_from(&network, &routing, &demands, &alike).expect("oblivious"));
            assert!(all.iter().any(|&load| load > 0.0));
            for (few, all) in few.iter().zip(&all) {
                assert!((few - all).abs() < 1e-9, "{spec} {name}: {few} for {all}");
            }
        }
    }

    #[test]
    fn sources_that_walk_together_leave_as_those_that_walk_alone() {
        for (spec, pattern, is_product) in [
            ("mesh:3x4,p=2", "uniform", true),
            ("torus:4x3,p=2", "uniform", true),
            ("dragonfly:a=4,h=2,p=2", "uniform", true),
            ("mesh:4x4", "transpose", false),
        ] {
            let network = topology::build(spec).expect(spec);
            let routing = routing::build(&network, "val").expect("offered");
            let traffic = traffic::build(&network, pattern).expect(pattern);
            let demands = Demands::new(&network, &traffic).expect("small");
            let detours = detours(&routing, &demands);
            for (&bits, flits) in &detours {
                let together = Detours::new(bits, flits);
                assert_eq!(together.product.is_some(), is_product, "{spec} {pattern}");
                let alone = Detours { product: None, ..Detours::new(bits, flits) };
                let [a, b] = [&together, &alone].map(|kind| leaving(&network, &routing, kind));
                assert!(!a.is_empty(), "{spec} {pattern}: some packets pass their destination");
                assert_eq!(a.len(), b.len(), "{spec} {pattern}");
                for ((at, flits), (other, expected)) in a.iter().zip(&b) {
                    assert_eq!(at, other);
                    assert!((flits - expected).abs() < 1e-12, "{spec} {pattern}: {at:?} {flits} {expected}");
                }
            }
        }
    }

    #[test]
    fn products_have_numbers_of_sources_and_destinations() {
        let mut flits = Matrix::new(4);
        let (source, destination) = ([2.0, 0.0, 3.0, 1.0], [1.0, 5.0, 0.0, 2.0]);
        for src in 0..4 {
            let row = flits.row(RouterId(src));
            (0..4).for_each(|dst| row[dst] = source[src as usize] * destination[dst]);
        }
        let sources: Vec<(RouterId, f64)> = flits.sources().collect();
        let found = Product::of(&flits, &sources).expect("a product");
        let scale = found.source[0] / source[0];
        for router in 0..4 {
            assert!((found.source[router] - scale * source[router]).abs() < 1e-12);
            assert!((found.destination[router] * scale - destination[router]).abs() < 1e-12);
        }
        flits.row(RouterId(3))[1] += 1e-9;
        assert!(Product::of(&flits, &sources).is_none());
    }
}
