//! Proves a routing free of deadlock: the dependencies between its channels, exhaustively, and a cycle if there is one.
//!
//! A node is a (channel, VC class); an edge states that some packet may hold the first while it waits for the second. An
//! acyclic graph is a proof (Dally and Seitz, 1987). With escape channels (Duato, 1993, 1995) it is enough that those
//! can be taken in every state that a packet may get into, and that their *extended* dependencies are acyclic: a packet
//! may hold an escape channel, continue over adaptive ones, and ask for an escape channel again, at the next router
//! (directly) or at a later one (indirectly). With bubbles (Carrión et al., 1997) a cycle does no harm if it is a ring
//! that packets only go round, and that keeps room for one whole packet, because whatever enters it needs room for two.
//! The walk is over targets: for each router as the target of a phase, all states of all packets that head for it.
//! Where packets turn at an intermediate router, what arrives there for it is joined with what leaves it for any
//! destination, so the proof holds for any intermediate.
//!
//! Where a routing follows ports, routers that look alike (`Alike`) have the same dependencies by the numbers of their
//! ports: a permutation of routers that keeps these maps the packets that head for one target onto those that head for its
//! image. The walk is then over one target of each kind. What it finds at any router is entered at the first that this one
//! looks like, so that all targets have been seen from there, and is copied to the others in the end.
//!
//! Over hosts the walk is over the fabric's routers, by the fabric's routing; see `over_fabric`.

mod over_fabric;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;
use serde::Serialize;

use super::alike::Alike;
use super::{ANY_VIA, AnyRouting, Move, PacketState, Routing, View};
use crate::bits::bits;
use crate::error::{Error, Result, several};
use crate::memory::on_large_pages;
use crate::network::{LinkClass, Network, Peer, Port, PortId, RouterId};
use crate::rng::Rng;
use crate::watch;

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
    /// States of packets, with their routers and destinations, in which no escape channel can be taken; 0 for routings
    /// without escape channels.
    pub states_without_escape: usize,
    /// VC classes, hence the least number of VCs.
    pub vcs_needed: u32,
    /// A shortest cycle that was found, channel by channel; empty if there is none.
    pub cycle: Vec<CycleHop>,
    /// Pairs of routers with terminals between which some packet could get stuck or never arrive.
    pub unserved_pairs: usize,
    /// The first of them, as (source router, destination router).
    pub unserved_examples: Vec<(u32, u32)>,
    /// What is to be known of how the routing runs on this network, if anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl Proof {
    /// Rejects a routing that can deadlock or lose packets.
    ///
    /// # Errors
    /// [`Error::Routing`] reports which.
    pub fn refuse_unsafe(&self) -> Result<()> {
        let what = match (self.deadlock_free, self.unserved_pairs) {
            (true, 0) => return Ok(()),
            (true, pairs) => format!("leaves {} of routers unreachable", several(pairs, "pair")),
            (false, _) => "can deadlock".to_owned(),
        };
        Err(Error::Routing(format!(
            "{} on {} {what} (topoloom verify shows how); give --unsafe to run it all the same",
            self.routing, self.spec
        )))
    }
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

/// Verifies `routing` on `network`; with fewer `vcs` than it has classes, as the engine runs it then: classes share
/// VCs.
///
/// # Errors
/// [`Error::Config`] if the engine takes no such number of VCs.
pub fn verify(network: &Network, name: &str, routing: &AnyRouting, vcs: Option<u32>) -> Result<Proof> {
    let needed = routing.classes();
    vcs.map_or(Ok(()), crate::limits::check_vcs)?;
    Ok(match vcs {
        Some(vcs) if vcs < needed => {
            Proof { vcs_needed: needed, ..prove(network, name, &ClassMerger { routing, vcs }) }
        }
        _ => match routing.downcast_ref().and_then(|hosts| over_fabric::proof(network, hosts)) {
            Some((graph, found)) => told(network, name, routing, &graph, found),
            None => prove(network, name, routing),
        },
    })
}

/// A routing whose classes share fewer VCs.
struct ClassMerger<'r> {
    routing: &'r AnyRouting,
    vcs: u32,
}

impl Routing for ClassMerger<'_> {
    fn classes(&self) -> u32 {
        self.vcs
    }

    fn starts(&self, src: RouterId, dst: RouterId, out: &mut Vec<PacketState>) {
        self.routing.starts(src, dst, out);
    }

    fn moves(&self, at: RouterId, state: PacketState, dst: RouterId, out: &mut Vec<Move>) {
        let first = out.len();
        self.routing.moves(at, state, dst, out);
        let vc = |class: u8| crate::limits::class_vcs(class.into(), self.routing.classes(), self.vcs).start as u8;
        out[first..].iter_mut().for_each(|hop| hop.class = vc(hop.class));
    }

    fn start<V: View>(&self, src: RouterId, dst: RouterId, view: &V, rng: &mut Rng) -> PacketState {
        self.routing.start(src, dst, view, rng)
    }

    fn choose<V: View>(&self, at: RouterId, state: PacketState, dst: RouterId, view: &V, rng: &mut Rng) -> Move {
        self.routing.choose(at, state, dst, view, rng)
    }

    fn diverts(&self, at: RouterId, state: PacketState, dst: RouterId, out: &mut Vec<PacketState>) {
        self.routing.diverts(at, state, dst, out);
    }

    fn note(&self) -> Option<String> {
        self.routing.note()
    }

    fn follows_ports(&self) -> bool {
        self.routing.follows_ports()
    }
}

fn prove(network: &Network, name: &str, routing: &dyn Routing) -> Proof {
    let ends = ends(network);
    let (graph, found) = match routing.escape_classes() {
        0 if routing.keeps_bubbles() => {
            let graph = Graph::new(network, routing, Alike::none(network));
            let found = bubble(&graph, routing, &ends);
            (graph, found)
        }
        0 => {
            let alike = if routing.follows_ports() { Alike::new(network) } else { Alike::none(network) };
            acyclic_with(network, routing, &ends, alike)
        }
        classes => {
            let graph = Graph::new(network, routing, Alike::none(network));
            let found = escape(&graph, routing, classes, &ends);
            (graph, found)
        }
    };
    told(network, name, routing, &graph, found)
}

/// The proof that was found.
fn told(network: &Network, name: &str, routing: &dyn Routing, graph: &Graph, found: Findings) -> Proof {
    let unserved = found.stuck.iter().map(|(_, sources)| sources.len()).sum();
    let pairs = found.stuck.iter().flat_map(|(dst, sources)| sources.iter().map(|src| (src.0, dst.0)));
    Proof {
        spec: network.spec().to_owned(),
        routing: name.to_owned(),
        deadlock_free: found.cycle.is_empty() && found.states_without_escape == 0,
        method: found.method,
        channels: graph.used.len(),
        dependencies: found.dependencies,
        states_without_escape: found.states_without_escape,
        vcs_needed: routing.classes(),
        cycle: found.cycle.into_iter().map(|node| graph.describe(node)).collect(),
        unserved_pairs: unserved,
        unserved_examples: pairs.take(10).collect(),
        note: routing.note(),
    }
}

/// The routers with terminals.
fn ends(network: &Network) -> Vec<RouterId> {
    network.up_routers().filter(|&r| network.has_terminals(r)).collect()
}

/// All dependencies between all channels, found from one of all routers that look alike.
fn acyclic_with<'n>(
    network: &'n Network,
    routing: &dyn Routing,
    ends: &[RouterId],
    alike: Alike,
) -> (Graph<'n>, Findings) {
    let graph = Graph::new(network, routing, alike);
    let found = acyclic(&graph, routing, ends);
    if found.stuck.iter().all(|(_, sources)| sources.is_empty()) || graph.alike.is_none() {
        return (graph, found);
    }
    // All pairs are to be listed.
    acyclic_with(network, routing, ends, Alike::none(network))
}

/// What a method has found.
struct Findings {
    method: &'static str,
    dependencies: usize,
    cycle: Vec<usize>,
    states_without_escape: usize,
    /// By destination, the sources that are not served.
    stuck: Vec<(RouterId, Vec<RouterId>)>,
}

/// All dependencies between all channels.
fn acyclic(graph: &Graph, routing: &dyn Routing, ends: &[RouterId]) -> Findings {
    let stuck = phases(graph, routing, ends, None);
    graph.copy();
    judged(graph, stuck)
}

/// Enters all dependencies into the graph, and what the ends of paths are. Returns, by destination, the sources that are
/// not served.
fn phases(
    graph: &Graph,
    routing: &dyn Routing,
    ends: &[RouterId],
    seams: Option<&Seams>,
) -> Vec<(RouterId, Vec<RouterId>)> {
    let diversions = diversions(graph, routing, ends);
    let (arrivals, first_hops) = first_phase(graph, routing, ends, &diversions, seams);
    let turns: Vec<Vec<Row>> = arrivals.iter().map(|at| at.iter().map(|_| Row::new(graph.words)).collect()).collect();
    let stuck = last_phase(graph, routing, ends, (&arrivals, &turns), seams);
    graph.join(arrivals.iter().flatten(), turns.iter().flatten());
    graph.join(diversions.iter().map(|(_, arrival)| arrival), first_hops.iter());
    if let Some(seams) = seams {
        seams.join(&diversions, &first_hops);
    }
    stuck
}

/// What all dependencies of a graph come to.
fn judged(graph: &Graph, stuck: Vec<(RouterId, Vec<RouterId>)>) -> Findings {
    let dependencies = graph.rows.len();
    let next: Vec<Vec<u32>> = (0..graph.nodes()).into_par_iter().map(|node| graph.successors(node)).collect();
    let cycle = shortest_cycle(&next);
    Findings { method: "acyclic", dependencies, cycle, states_without_escape: 0, stuck }
}

/// Where the paths of a graph begin and where they may end, by router.
struct Seams {
    /// The hops that packets begin with.
    out: Vec<Row>,
    /// The channels on which packets arrive that may leave here: all but those that arrive at their intermediate router.
    into: Vec<Row>,
    /// The routers and bits of packets that turn to a detour where they begin.
    turned: Mutex<BTreeSet<(RouterId, u32)>>,
}

impl Seams {
    fn new(graph: &Graph) -> Self {
        let rows = || graph.network.routers().map(|_| Row::new(graph.words)).collect();
        Self { out: rows(), into: rows(), turned: Mutex::default() }
    }

    /// Notes what packets begin with, of sources and their states.
    fn begin(&self, walk: &Walk, sources: &[(RouterId, usize)]) {
        for &(src, index) in sources {
            walk.outs(index).for_each(|hop| self.out[src.index()].insert(walk.graph.bit(hop)));
        }
    }

    /// Notes the detours that packets turn to where they begin.
    fn turn(&self, walk: &Walk, routing: &dyn Routing, sources: &[(RouterId, usize)]) {
        let mut found = Vec::new();
        for &(src, index) in sources {
            let mut turned = Vec::new();
            routing.diverts(src, walk.states[index].1, walk.target, &mut turned);
            found.extend(turned.into_iter().map(|state| (src, state.bits)));
        }
        if !found.is_empty() {
            self.turned.lock().expect("no thread panics").extend(found);
        }
    }

    /// Notes what arrives somewhere, at the target or else before it.
    fn arrive(&self, walk: &Walk, at_target: bool) {
        for (at, _, hops) in walk.each() {
            for (hop, _) in hops.iter().filter(|(_, next)| (*next == ENDED) == at_target) {
                let node = walk.graph.node(at, hop);
                self.into[walk.graph.head(node as usize).index()].insert(walk.graph.arrival_bit(node));
            }
        }
    }

    /// Packets that turn where they begin do so with the first hops of the detour.
    fn join(&self, diversions: &[(RouterId, Arrival)], first_hops: &[Row]) {
        let turned = self.turned.lock().expect("no thread panics");
        for ((at, arrival), hops) in diversions.iter().zip(first_hops) {
            if turned.contains(&(*at, arrival.state.bits)) {
                hops.bits().for_each(|bit| self.out[at.index()].insert(bit));
            }
        }
    }
}

/// The extended dependencies between escape channels, the classes below `classes`.
fn escape(graph: &Graph, routing: &dyn Routing, classes: u32, ends: &[RouterId]) -> Findings {
    let next: Vec<Mutex<BTreeSet<u32>>> = (0..graph.nodes()).map(|_| Mutex::default()).collect();
    let stage = watch::stage("paths to destinations", ends.len() as u64);
    let walk = |walk: &mut Walk, &dst: &RouterId| {
        stage.step();
        walk.restart(dst);
        let sources = walk.enter(routing, ends);
        walk.run(routing);
        walk.use_channels();
        let lost = walk.extend(classes, &next);
        (lost, (dst, walk.stuck(&sources)))
    };
    let (lost, stuck): (Vec<usize>, Vec<_>) = ends.par_iter().map_init(|| Walk::new(graph), walk).unzip();
    let next: Vec<Vec<u32>> =
        next.into_iter().map(|row| row.into_inner().expect("no thread panics").into_iter().collect()).collect();
    let (dependencies, states_without_escape) = (next.iter().map(Vec::len).sum(), lost.iter().sum());
    Findings { method: "escape", dependencies, cycle: shortest_cycle(&next), states_without_escape, stuck }
}

/// The node that a packet holds, or [`SOURCE`]; the one that it waits for; whether it enters a ring by that.
type Wait = (u32, u32, bool);

/// The dependencies with every ring that keeps a bubble drawn together into its first channel.
fn bubble(graph: &Graph, routing: &dyn Routing, ends: &[RouterId]) -> Findings {
    let stage = watch::stage("paths to destinations", ends.len() as u64);
    let walk = |walk: &mut Walk, &dst: &RouterId| {
        stage.step();
        walk.restart(dst);
        let sources = walk.enter(routing, ends);
        walk.run(routing);
        walk.use_channels();
        (walk.waits(routing, &sources), (dst, walk.stuck(&sources)))
    };
    let (waits, stuck): (Vec<_>, Vec<_>) = ends.par_iter().map_init(|| Walk::new(graph), walk).unzip();
    let waits: BTreeSet<Wait> = waits.into_iter().flatten().collect();
    let pairs: BTreeSet<(u32, u32)> = waits.iter().map(|&(from, to, _)| (from, to)).filter(|w| w.0 != SOURCE).collect();
    let cycle = Rings::new(graph.nodes(), &waits).cycle(&waits);
    Findings { method: "bubble", dependencies: pairs.len(), cycle, states_without_escape: 0, stuck }
}

/// Stands for the source of a packet among the nodes.
const SOURCE: u32 = u32::MAX;
/// No node.
const NOWHERE: u32 = u32::MAX;

/// The rings that keep a bubble.
struct Rings {
    /// The node after each in its ring; [`NOWHERE`] for one in no ring.
    next: Vec<u32>,
    /// The first node of its ring; of one in no ring, itself.
    first: Vec<u32>,
}

impl Rings {
    /// Rings are the cycles of dependencies of packets that continue, from each node to one other at most, which
    /// nothing gets into but by entering it.
    fn new(nodes: usize, waits: &BTreeSet<Wait>) -> Self {
        let mut after: Vec<Vec<u32>> = vec![Vec::new(); nodes];
        for &(from, to, _) in waits.iter().filter(|(from, _, enters)| !enters && *from != SOURCE) {
            after[from as usize].push(to);
        }
        let only = |node: u32| match after.get(node as usize).map(Vec::as_slice) {
            Some(&[next]) => next,
            _ => NOWHERE,
        };
        let mut this = Self { next: vec![NOWHERE; nodes], first: (0..nodes as u32).collect() };
        for start in 0..nodes as u32 {
            let ring: Vec<u32> = std::iter::successors(Some(start), |&node| Some(only(node)))
                .take(nodes + 1)
                .skip(1)
                .take_while(|&node| node != NOWHERE && node > start)
                .collect();
            let last = ring.last().copied().unwrap_or(start);
            if only(last) == start {
                let ring: Vec<u32> = std::iter::once(start).chain(ring).collect();
                for &node in &ring {
                    (this.next[node as usize], this.first[node as usize]) = (only(node), start);
                }
            }
        }
        for &(from, to, _) in waits.iter().filter(|wait| !wait.2) {
            if from == SOURCE || this.first[from as usize] != this.first[to as usize] {
                this.dissolve(to);
            }
        }
        this
    }

    /// Takes the ring of a node for what it is without a bubble.
    fn dissolve(&mut self, mut node: u32) {
        while self.next[node as usize] != NOWHERE {
            self.first[node as usize] = node;
            node = std::mem::replace(&mut self.next[node as usize], NOWHERE);
        }
    }

    /// A cycle that no bubble keeps moving, node by node; empty if there is none.
    fn cycle(&self, waits: &BTreeSet<Wait>) -> Vec<usize> {
        let mut next: Vec<Vec<u32>> = vec![Vec::new(); self.first.len()];
        let mut behind: BTreeMap<(u32, u32), (u32, u32)> = BTreeMap::new();
        let inside = |from: u32, to: u32, enters: bool| !enters && self.next[from as usize] == to;
        for &(from, to, _) in waits.iter().filter(|&&(from, to, enters)| from != SOURCE && !inside(from, to, enters)) {
            let ends = (self.first[from as usize], self.first[to as usize]);
            next[ends.0 as usize].push(ends.1);
            behind.entry(ends).or_insert((from, to));
        }
        let rings = shortest_cycle(&next);
        let hop = |place: usize| behind[&(rings[place] as u32, rings[(place + 1) % rings.len()] as u32)];
        let mut cycle = Vec::new();
        for place in 0..rings.len() {
            // From where the ring is entered to where it is left.
            let ((_, mut node), (end, _)) = (hop((place + rings.len() - 1) % rings.len()), hop(place));
            cycle.push(node as usize);
            while node != end {
                node = self.next[node as usize];
                cycle.push(node as usize);
            }
        }
        cycle
    }
}

/// Where packets may turn to a detour in flight: a router and the state they turn to, with the nodes that they
/// arrive on. Routers that look like another have none of their own.
fn diversions(graph: &Graph, routing: &dyn Routing, ends: &[RouterId]) -> Vec<(RouterId, Arrival)> {
    let targets = graph.firsts(ends.iter().copied());
    let stage = watch::stage("paths that turn to detours", targets.len() as u64);
    // By router: what packets turn to there, with the channels that they arrive on.
    let found: Vec<Mutex<BTreeMap<u32, Row>>> = graph.network.routers().map(|_| Mutex::default()).collect();
    let walk = |walk: &mut Walk, &dst: &RouterId| {
        stage.step();
        walk.restart(dst);
        walk.enter(routing, ends);
        walk.run(routing);
        walk.note_diverted(routing, &found);
    };
    targets.par_iter().for_each_init(|| Walk::new(graph), walk);
    let at_router = |(at, found): (RouterId, Mutex<BTreeMap<u32, Row>>)| {
        let found = found.into_inner().expect("no thread panics");
        found.into_iter().map(move |(bits, arrived)| {
            let mut nodes: Vec<u32> = arrived.bits().map(|bit| graph.arrived_on(at, bit)).collect();
            nodes.sort_unstable();
            (at, Arrival { state: PacketState { via: ANY_VIA, bits }, nodes })
        })
    };
    graph.network.routers().zip(found).flat_map(at_router).collect()
}

/// What arrives at a router that is its intermediate one: a state, and the nodes it arrives on.
struct Arrival {
    state: PacketState,
    nodes: Vec<u32>,
}

/// Adds bits to a word that many threads add to. Most bits are set already, and cost a read alone.
fn add(word: &AtomicU64, bits: u64) {
    if bits & !word.load(Ordering::Relaxed) != 0 {
        word.fetch_or(bits, Ordering::Relaxed);
    }
}

/// The positions of the bits of words, from the first up.
fn bits_of(words: &[AtomicU64]) -> impl Iterator<Item = usize> + '_ {
    let in_word = |(place, word): (usize, &AtomicU64)| {
        bits(word.load(Ordering::Relaxed)).map(move |bit| place * 64 + bit as usize)
    };
    words.iter().enumerate().flat_map(in_word)
}

/// A set of (local port, class) of one router, filled by many threads.
struct Row(Vec<AtomicU64>);

impl Row {
    fn new(words: usize) -> Self {
        Self((0..words).map(|_| AtomicU64::new(0)).collect())
    }

    fn len(&self) -> usize {
        self.0.iter().map(|word| word.load(Ordering::Relaxed).count_ones() as usize).sum()
    }

    fn insert(&self, bit: usize) {
        add(&self.0[bit / 64], 1 << (bit % 64));
    }

    fn has(&self, bit: usize) -> bool {
        self.0[bit / 64].load(Ordering::Relaxed) >> (bit % 64) & 1 != 0
    }

    fn bits(&self) -> impl Iterator<Item = usize> + '_ {
        bits_of(&self.0)
    }
}

/// As many rows side by side.
struct Rows {
    words: usize,
    all: Row,
}

impl Rows {
    fn new(rows: usize, words: usize) -> Self {
        let mut all = on_large_pages(rows * words);
        all.resize_with(rows * words, || AtomicU64::new(0));
        Self { words, all: Row(all) }
    }

    fn row(&self, row: usize) -> &[AtomicU64] {
        &self.all.0[row * self.words..][..self.words]
    }

    fn len(&self) -> usize {
        self.all.len()
    }
}

/// Walks the way to every possible intermediate router. Returns what arrives there, and where packets go that turn to a
/// detour in flight. Nothing is listed for routers that look like another.
fn first_phase(
    graph: &Graph,
    routing: &dyn Routing,
    ends: &[RouterId],
    diversions: &[(RouterId, Arrival)],
    seams: Option<&Seams>,
) -> (Vec<Vec<Arrival>>, Vec<Row>) {
    let first_hops: Vec<Row> = diversions.iter().map(|_| Row::new(graph.words)).collect();
    let starts: Vec<(RouterId, u32)> = ends.iter().flat_map(|&src| starts_over_any(routing, ends, src)).collect();
    // Everywhere: a router, and what packets turn to there, by its position in the list.
    let mut places = vec![Vec::new(); graph.network.num_routers()];
    (0..).zip(diversions).for_each(|(place, (at, _))| places[at.index()].push(place));
    let places = |at: RouterId| places[graph.alike.first(at).index()].iter().map(move |&place: &usize| (place, at));
    let diverted: Vec<(usize, RouterId)> = graph.network.routers().flat_map(places).collect();
    let vias = graph.firsts(graph.network.routers());
    let stage = watch::stage("paths to intermediate routers", vias.len() as u64);
    let walk = |walk: &mut Walk, &via: &RouterId| {
        stage.step();
        walk.restart(via);
        let begun: Vec<(RouterId, usize)> = starts
            .iter()
            .filter(|(src, _)| *src != via)
            .map(|&(src, bits)| (src, walk.reach(src, PacketState { via: via.0, bits })))
            .collect();
        let diverted: Vec<(usize, usize)> = diverted
            .iter()
            .filter(|(_, at)| *at != via)
            .map(|&(place, at)| {
                let bits = diversions[place].1.state.bits;
                (place, walk.reach(at, PacketState { via: via.0, bits }))
            })
            .collect();
        walk.run(routing);
        walk.record();
        for (place, index) in diverted {
            walk.outs(index).for_each(|hop| first_hops[place].insert(graph.bit(hop)));
        }
        if let Some(seams) = seams {
            seams.begin(walk, &begun);
            // Packets that meet their destination before their intermediate router stay there.
            seams.arrive(walk, false);
        }
        walk.arrivals()
    };
    let mut arrivals: Vec<Vec<Arrival>> = graph.network.routers().map(|_| Vec::new()).collect();
    let found: Vec<Vec<Arrival>> = vias.par_iter().map_init(|| Walk::new(graph), walk).collect();
    vias.iter().zip(found).for_each(|(via, found)| arrivals[via.index()] = found);
    (arrivals, first_hops)
}

/// The states in which packets start from a router for any intermediate one.
fn starts_over_any(routing: &dyn Routing, ends: &[RouterId], src: RouterId) -> Vec<(RouterId, u32)> {
    let mut starts = Vec::new();
    // Which destination is asked for does not matter: a start over any router has none in it.
    if let Some(&dst) = ends.iter().find(|&&dst| dst != src) {
        routing.starts(src, dst, &mut starts);
    }
    starts.iter().filter(|state| state.via == ANY_VIA).map(|state| (src, state.bits)).collect()
}

/// Walks the way to every destination, from sources and from intermediate routers. Returns, by destination, the
/// sources that are not served.
fn last_phase(
    graph: &Graph,
    routing: &dyn Routing,
    ends: &[RouterId],
    (arrivals, turns): (&[Vec<Arrival>], &[Vec<Row>]),
    seams: Option<&Seams>,
) -> Vec<(RouterId, Vec<RouterId>)> {
    let targets = graph.firsts(ends.iter().copied());
    let stage = watch::stage("paths to destinations", targets.len() as u64);
    let met = |via: &RouterId| !arrivals[graph.alike.first(*via).index()].is_empty();
    let vias: Vec<RouterId> = graph.network.routers().filter(met).collect();
    let walk = |walk: &mut Walk, &dst: &RouterId| {
        stage.step();
        walk.restart(dst);
        let mut sources = walk.enter(routing, ends);
        let entered = sources.len();
        let mut turned = Vec::new();
        for &via in vias.iter().filter(|&&via| via != dst) {
            let first = graph.alike.first(via);
            for (arrival, turns) in arrivals[first.index()].iter().zip(&turns[first.index()]) {
                // Of what has come to the first of those that look alike this is the image: here the packet turns, too.
                let turns_here = arrival.state.via == first.0;
                let state = if turns_here { PacketState { via: via.0, ..arrival.state } } else { arrival.state };
                let index = walk.reach(via, state);
                sources.push((via, index));
                turned.push((turns, index));
            }
        }
        walk.run(routing);
        walk.record();
        for (row, index) in turned {
            walk.outs(index).for_each(|hop| row.insert(graph.bit(hop)));
        }
        if let Some(seams) = seams {
            seams.begin(walk, &sources[..entered]);
            seams.turn(walk, routing, &sources[..entered]);
            seams.arrive(walk, true);
        }
        (dst, walk.stuck(&sources))
    };
    targets.par_iter().map_init(|| Walk::new(graph), walk).collect()
}

/// The channel dependency graph. A node is `port id * classes + class`.
struct Graph<'a> {
    network: &'a Network,
    classes: usize,
    words: usize,
    /// The router at the other end of each port; [`NOWHERE`] if that is a terminal.
    heads: Vec<u32>,
    /// Which routers look alike. Until [`Graph::copy`], nodes are those of the first of these.
    alike: Alike,
    /// For each node, the nodes at the receiving router that wait behind it.
    rows: Rows,
    /// The nodes that some packet uses, whether or not anything waits behind them.
    used: Row,
}

impl<'a> Graph<'a> {
    fn new(network: &'a Network, routing: &dyn Routing, alike: Alike) -> Self {
        let classes = routing.classes() as usize;
        let words = (network.radix() * classes).div_ceil(64);
        let nodes = network.ports().len() * classes;
        let head = |port: &Port| match port.peer {
            Peer::Port(peer) => network.ports()[peer.index()].router.0,
            Peer::Terminal(_) => NOWHERE,
        };
        let heads = network.ports().iter().map(head).collect();
        let (rows, used) = (Rows::new(nodes, words), Row::new(nodes.div_ceil(64)));
        Self { network, classes, words, heads, alike, rows, used }
    }

    /// Those of some routers that look like none before them.
    fn firsts(&self, routers: impl Iterator<Item = RouterId>) -> Vec<RouterId> {
        routers.filter(|&router| self.alike.is_first(router)).collect()
    }

    /// Gives every router what was found of the first that it looks like.
    fn copy(&self) {
        for router in self.network.routers().filter(|&router| !self.alike.is_first(router)) {
            let [from, to] =
                [self.alike.first(router), router].map(|router| self.network.port_base(router) as usize * self.classes);
            for node in 0..self.network.radix_of(router) * self.classes {
                let rows = self.rows.row(to + node).iter().zip(self.rows.row(from + node));
                rows.for_each(|(to, from)| add(to, from.load(Ordering::Relaxed)));
                if self.used.has(from + node) {
                    self.used.insert(to + node);
                }
            }
        }
    }

    fn nodes(&self) -> usize {
        self.heads.len() * self.classes
    }

    fn bit(&self, hop: &Move) -> usize {
        hop.port as usize * self.classes + hop.class as usize
    }

    fn node(&self, at: RouterId, hop: &Move) -> u32 {
        self.network.port_base(self.alike.first(at)) * self.classes as u32 + self.bit(hop) as u32
    }

    /// The router that a node leads to, a link between routers.
    fn head(&self, node: usize) -> RouterId {
        RouterId(self.heads[node / self.classes])
    }

    /// The node that leads to a local port and class of a router, as a bit of a row of arrivals.
    fn arrived_on(&self, at: RouterId, bit: usize) -> u32 {
        let port = &self.network.ports()[self.network.port_base(at) as usize + bit / self.classes];
        let Peer::Port(peer) = port.peer else { unreachable!("packets arrive from routers") };
        let (from, local) = self.network.local_port(peer);
        let peer = self.network.port_base(self.alike.first(from)) + local;
        peer * self.classes as u32 + (bit % self.classes) as u32
    }

    /// The bit of a row of arrivals that stands for a node.
    fn arrival_bit(&self, node: u32) -> usize {
        let Peer::Port(peer) = self.network.ports()[node as usize / self.classes].peer else {
            unreachable!("packets arrive over links between routers")
        };
        let (_, local) = self.network.local_port(peer);
        local as usize * self.classes + node as usize % self.classes
    }

    /// Joins what arrives somewhere with what leaves it.
    fn join<'r>(&self, arrivals: impl Iterator<Item = &'r Arrival>, rows: impl Iterator<Item = &'r Row>) {
        for (arrival, row) in arrivals.zip(rows) {
            for &node in &arrival.nodes {
                for (into, from) in self.rows.row(node as usize).iter().zip(&row.0) {
                    add(into, from.load(Ordering::Relaxed));
                }
            }
        }
    }

    /// The nodes that wait behind a node.
    fn successors(&self, node: usize) -> Vec<u32> {
        let mut bits = bits_of(self.rows.row(node)).peekable();
        if bits.peek().is_none() {
            return Vec::new();
        }
        let first = self.network.port_base(self.head(node)) as usize * self.classes;
        bits.map(|bit| (first + bit) as u32).collect()
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

/// A shortest cycle of a graph given by the successors of its nodes, empty if it is acyclic.
fn shortest_cycle(next: &[Vec<u32>]) -> Vec<usize> {
    /// Breadth-first searches for a shorter cycle, at most.
    const SEARCHES: usize = 4096;
    let left = cyclic_core(next);
    let nodes: Vec<usize> = (0..left.len()).filter(|&n| left[n]).collect();
    let stage = watch::stage("cycles", nodes.len().min(SEARCHES) as u64);
    let shortest = nodes
        .par_iter()
        .take(SEARCHES)
        .filter_map(|&node| {
            stage.step();
            cycle_through(next, node, &left)
        })
        .min_by_key(|cycle| (cycle.len(), cycle[0]));
    shortest.unwrap_or_default()
}

/// Kahn's algorithm, from both ends: what is left lies on cycles or between them.
fn cyclic_core(next: &[Vec<u32>]) -> Vec<bool> {
    let mut previous = vec![Vec::new(); next.len()];
    next.iter().enumerate().for_each(|(n, to)| to.iter().for_each(|&t| previous[t as usize].push(n as u32)));
    let mut left = vec![true; next.len()];
    for (towards, back) in [(next, &*previous), (&*previous, next)] {
        let mut degree: Vec<usize> =
            back.iter().map(|back| back.iter().filter(|&&b| left[b as usize]).count()).collect();
        let mut free: Vec<usize> = (0..left.len()).filter(|&n| left[n] && degree[n] == 0).collect();
        while let Some(node) = free.pop() {
            left[node] = false;
            for to in towards[node].iter().map(|&to| to as usize) {
                degree[to] -= usize::from(left[to]);
                if left[to] && degree[to] == 0 {
                    free.push(to);
                }
            }
        }
    }
    left
}

/// A shortest cycle through `start`.
fn cycle_through(next: &[Vec<u32>], start: usize, within: &[bool]) -> Option<Vec<usize>> {
    let mut parent = std::collections::HashMap::new();
    let mut queue = vec![start];
    let mut place = 0;
    while place < queue.len() {
        let node = queue[place];
        place += 1;
        for next in next[node].iter().map(|&n| n as usize).filter(|&n| within[n]) {
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

/// All states of packets that head for one target.
struct Walk<'g, 'n> {
    graph: &'g Graph<'n>,
    target: RouterId,
    /// Router and state of every state found.
    states: Vec<(RouterId, PacketState)>,
    /// The state found last in each of a router's slots, and the one found there before each state; [`NOWHERE`] if there is
    /// none.
    newest: Vec<u32>,
    before: Vec<u32>,
    /// Slots of each router, a power of two.
    slots: usize,
    /// The hops of all states that were run, one state's after another's, with the index of the state each leads to.
    hops: Vec<(Move, u32)>,
    /// Where the hops of each state begin, and where those of the last one end.
    first: Vec<u32>,
    /// Sets of outputs by state; see [`Walk::record`].
    masks: Vec<u64>,
}

/// Stands for the target, where the phase ends.
const ENDED: u32 = u32::MAX;
/// States of a slot on average from which on routers get more slots.
const MANY: usize = 8;

impl<'g, 'n> Walk<'g, 'n> {
    fn new(graph: &'g Graph<'n>) -> Self {
        Self {
            graph,
            target: RouterId(NOWHERE),
            states: Vec::new(),
            newest: Vec::new(),
            before: Vec::new(),
            slots: 1,
            hops: Vec::new(),
            first: Vec::new(),
            masks: Vec::new(),
        }
    }

    /// Forgets all states, and heads for another target.
    fn restart(&mut self, target: RouterId) {
        self.target = target;
        self.newest.resize(self.graph.network.num_routers() * self.slots, NOWHERE);
        // Few routers may have a state.
        for place in 0..self.states.len() {
            let slot = self.slot(place);
            self.newest[slot] = NOWHERE;
        }
        self.states.clear();
        self.before.clear();
        self.hops.clear();
        self.first.clear();
    }

    /// The slot of a state.
    fn slot_of(&self, at: RouterId, state: PacketState) -> usize {
        let hash = (state.bits ^ state.via.rotate_left(16)).wrapping_mul(0x9e37_79b1) >> 12;
        at.index() * self.slots + (hash as usize & (self.slots - 1))
    }

    fn slot(&self, index: usize) -> usize {
        let (at, state) = self.states[index];
        self.slot_of(at, state)
    }

    /// Gives routers more slots, where they have many states.
    fn widen(&mut self) {
        self.slots *= 8;
        self.newest.clear();
        self.newest.resize(self.graph.network.num_routers() * self.slots, NOWHERE);
        for index in 0..self.states.len() {
            let slot = self.slot(index);
            self.before[index] = std::mem::replace(&mut self.newest[slot], index as u32);
        }
    }

    /// The index of a state, new or known.
    fn reach(&mut self, at: RouterId, state: PacketState) -> usize {
        let slot = self.slot_of(at, state);
        let newest = self.newest[slot];
        let mut known = newest;
        while known != NOWHERE {
            if self.states[known as usize].1 == state {
                return known as usize;
            }
            known = self.before[known as usize];
        }
        let index = self.states.len();
        self.newest[slot] = index as u32;
        self.before.push(newest);
        self.states.push((at, state));
        if index > MANY * self.newest.len() {
            self.widen();
        }
        index
    }

    /// Enters the packets that start for the target, without a detour: from all sources, or from as many as the routing states
    /// are enough. Returns their sources and states.
    fn enter(&mut self, routing: &dyn Routing, ends: &[RouterId]) -> Vec<(RouterId, usize)> {
        let (mut sources, mut starts, mut few) = (Vec::new(), Vec::new(), Vec::new());
        let target = self.target;
        let everywhere = ends.len() == self.graph.network.num_routers();
        let is_enough = everywhere && routing.enough_sources(target, &mut few);
        for &src in if is_enough { &few } else { ends }.iter().filter(|&&src| src != target) {
            starts.clear();
            routing.starts(src, target, &mut starts);
            for state in starts.iter().filter(|state| state.via != ANY_VIA) {
                sources.push((src, self.reach(src, *state)));
            }
        }
        sources
    }

    fn run(&mut self, routing: &dyn Routing) {
        let mut moves = Vec::new();
        self.first.push(0);
        let mut place = 0;
        while place < self.states.len() {
            let (at, state) = self.states[place];
            moves.clear();
            routing.moves(at, state, self.target, &mut moves);
            let base = self.graph.network.port_base(at) as usize;
            for hop in &moves {
                let to = RouterId(self.graph.heads[base + hop.port as usize]);
                let next = if to == self.target { ENDED } else { self.reach(to, hop.next) as u32 };
                self.hops.push((*hop, next));
            }
            self.first.push(self.hops.len() as u32);
            place += 1;
        }
    }

    /// Each state with its router and its hops.
    fn each(&self) -> impl Iterator<Item = (RouterId, PacketState, &[(Move, u32)])> {
        self.states.iter().enumerate().map(|(index, &(at, state))| (at, state, self.hops_of(index)))
    }

    fn hops_of(&self, index: usize) -> &[(Move, u32)] {
        &self.hops[self.first[index] as usize..self.first[index + 1] as usize]
    }

    fn outs(&self, index: usize) -> impl Iterator<Item = &Move> + Clone {
        self.hops_of(index).iter().map(|(hop, _)| hop)
    }

    /// Enters the dependencies of this walk into the graph.
    fn record(&mut self) {
        let words = self.graph.words;
        let mut masks = std::mem::take(&mut self.masks);
        masks.clear();
        masks.resize(self.states.len() * words, 0);
        // Of the states with more outputs than a row has words.
        for index in (0..self.states.len()).filter(|&index| self.hops_of(index).len() > words) {
            let mask = &mut masks[index * words..][..words];
            self.outs(index).map(|hop| self.graph.bit(hop)).for_each(|bit| mask[bit / 64] |= 1 << (bit % 64));
        }
        for (at, _, hops) in self.each() {
            for (hop, next) in hops {
                let node = self.graph.node(at, hop) as usize;
                self.graph.used.insert(node);
                if *next == ENDED {
                    continue;
                }
                let (row, next) = (self.graph.rows.row(node), *next as usize);
                if self.hops_of(next).len() > words {
                    row.iter().zip(&masks[next * words..]).for_each(|(word, bits)| add(word, *bits));
                } else {
                    let bits = self.outs(next).map(|after| self.graph.bit(after));
                    bits.for_each(|bit| add(&row[bit / 64], 1 << (bit % 64)));
                }
            }
        }
        self.masks = masks;
    }

    /// Enters the channels of this walk into the graph, without dependencies.
    fn use_channels(&self) {
        for (at, _, hops) in self.each() {
            hops.iter().for_each(|(hop, _)| self.graph.used.insert(self.graph.node(at, hop) as usize));
        }
    }

    /// The dependencies of this walk, and the first hops from these sources and states.
    fn waits(&self, routing: &dyn Routing, sources: &[(RouterId, usize)]) -> Vec<Wait> {
        let mut waits = Vec::new();
        let mut add = |from: u32, index: usize| {
            let (at, state) = self.states[index];
            waits.extend(self.outs(index).map(|hop| (from, self.graph.node(at, hop), routing.enters(state, hop))));
        };
        sources.iter().for_each(|&(_, index)| add(SOURCE, index));
        for (at, _, hops) in self.each() {
            for (hop, next) in hops.iter().filter(|(_, next)| *next != ENDED) {
                add(self.graph.node(at, hop), *next as usize);
            }
        }
        waits
    }

    /// Enters the extended dependencies of the escape channels, the classes below `classes`, into `next`. Returns the
    /// number of states without an escape channel.
    fn extend(&self, classes: u32, next: &[Mutex<BTreeSet<u32>>]) -> usize {
        let is_escape = |hop: &Move| u32::from(hop.class) < classes;
        // What is found from a state is found from every escape channel that leads to it.
        let mut heads: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for (at, _, hops) in self.each() {
            for (hop, to) in hops.iter().filter(|(hop, to)| is_escape(hop) && *to != ENDED) {
                heads.entry(*to).or_default().push(self.graph.node(at, hop));
            }
        }
        for (head, nodes) in heads {
            let mut wanted = Vec::new();
            let mut seen = vec![false; self.states.len()];
            let mut queue = vec![head];
            seen[head as usize] = true;
            while let Some(state) = queue.pop() {
                let (at, _) = self.states[state as usize];
                for (hop, to) in self.hops_of(state as usize) {
                    if is_escape(hop) {
                        wanted.push(self.graph.node(at, hop));
                    } else if *to != ENDED && !std::mem::replace(&mut seen[*to as usize], true) {
                        queue.push(*to);
                    }
                }
            }
            for node in nodes {
                next[node as usize].lock().expect("no thread panics").extend(&wanted);
            }
        }
        self.each().filter(|(_, _, hops)| !hops.iter().any(|(hop, _)| is_escape(hop))).count()
    }

    /// Notes where packets may turn to a detour: by router the bits they turn to, and the channels that they arrive on.
    fn note_diverted(&self, routing: &dyn Routing, found: &[Mutex<BTreeMap<u32, Row>>]) {
        let back = self.back();
        let mut turned = Vec::new();
        for (index, &(at, state)) in self.states.iter().enumerate() {
            turned.clear();
            routing.diverts(at, state, self.target, &mut turned);
            if turned.is_empty() {
                continue;
            }
            let mut found = found[self.graph.alike.first(at).index()].lock().expect("no thread panics");
            for state in &turned {
                let row = found.entry(state.bits).or_insert_with(|| Row::new(self.graph.words));
                back.of(index).for_each(|node| row.insert(self.graph.arrival_bit(node)));
            }
        }
    }

    /// What arrives at the target, if it is an intermediate router.
    fn arrivals(&self) -> Vec<Arrival> {
        let mut arrivals: Vec<Arrival> = Vec::new();
        for (at, _, hops) in self.each() {
            for (hop, _) in hops.iter().filter(|(_, next)| *next == ENDED) {
                let node = self.graph.node(at, hop);
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
        let mut served = vec![false; self.states.len()];
        let mut serve = |index: usize| {
            let leads = |(_, next): &(Move, u32)| *next == ENDED || served[*next as usize];
            let new = !served[index] && self.hops_of(index).iter().any(leads);
            served[index] |= new;
            new
        };
        // Most hops lead to states that were found later, or most to such that were found before.
        loop {
            let all = 0..self.states.len();
            let new =
                [all.clone().rev().filter(|&index| serve(index)).count(), all.filter(|&index| serve(index)).count()];
            if new[1] == 0 {
                break;
            }
        }
        let mut stuck: Vec<RouterId> = sources.iter().filter(|(_, i)| !served[*i]).map(|(src, _)| *src).collect();
        stuck.sort_unstable();
        stuck.dedup();
        stuck
    }

    /// The nodes that packets arrive on in each state.
    fn back(&self) -> Back {
        let mut first = vec![0; self.states.len() + 2];
        let leads = self.hops.iter().filter(|(_, next)| *next != ENDED);
        leads.for_each(|(_, next)| first[*next as usize + 2] += 1);
        for place in 1..first.len() {
            first[place] += first[place - 1];
        }
        let mut nodes = vec![0; first.last().copied().unwrap_or(0) as usize];
        for (at, _, hops) in self.each() {
            for (hop, next) in hops.iter().filter(|(_, next)| *next != ENDED) {
                let place = &mut first[*next as usize + 1];
                nodes[*place as usize] = self.graph.node(at, hop);
                *place += 1;
            }
        }
        Back { first, nodes }
    }
}

/// The nodes that packets arrive on in each state.
struct Back {
    /// Where those of each state begin; those of the last one end where one more would begin.
    first: Vec<u32>,
    nodes: Vec<u32>,
}

impl Back {
    fn of(&self, index: usize) -> impl Iterator<Item = u32> + '_ {
        self.nodes[self.first[index] as usize..self.first[index + 1] as usize].iter().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::super::twophase::Options;
    use super::super::{Min, TableMinimal, TwoPhase};
    use super::*;
    use crate::{routing, topology};

    /// Bubbles on a torus, with what is left out, or done too much.
    struct Torus {
        order: AnyRouting,
        wrong: Wrong,
    }

    #[derive(PartialEq)]
    enum Wrong {
        Nothing,
        /// No packet leaves room for another.
        Nowhere,
        /// Terminals do not.
        AtSources,
        /// Any dimension that is left, not only the first.
        AnyOrder,
    }

    impl Routing for Torus {
        fn classes(&self) -> u32 {
            1
        }

        fn starts(&self, src: RouterId, dst: RouterId, out: &mut Vec<PacketState>) {
            self.order.starts(src, dst, out);
        }

        fn moves(&self, at: RouterId, state: PacketState, dst: RouterId, out: &mut Vec<Move>) {
            self.order.moves(at, state, dst, out);
            if self.wrong == Wrong::AnyOrder {
                // To the other column first, then on in order.
                let (width, column) = (4, dst.0 % 4);
                if at.0 % width != column {
                    self.order.moves(at, PacketState::direct(u32::MAX), RouterId(at.0 / 4 * 4 + column), out);
                }
                if at.0 / width != dst.0 / width {
                    self.order.moves(at, PacketState::direct(u32::MAX), RouterId(dst.0 / 4 * 4 + at.0 % 4), out);
                }
            }
        }

        fn start<V: View>(&self, _src: RouterId, _dst: RouterId, _view: &V, _rng: &mut Rng) -> PacketState {
            unreachable!("this routing is proved, not run")
        }

        fn choose<V: View>(&self, _at: RouterId, _s: PacketState, _d: RouterId, _view: &V, _rng: &mut Rng) -> Move {
            unreachable!("this routing is proved, not run")
        }

        fn keeps_bubbles(&self) -> bool {
            true
        }

        fn enters(&self, before: PacketState, hop: &Move) -> bool {
            match self.wrong {
                Wrong::Nowhere => false,
                Wrong::AtSources if before.bits == u32::MAX => false,
                _ => self.order.enters(before, hop),
            }
        }
    }

    fn proof(wrong: Wrong) -> Proof {
        let network = topology::build("torus:4x4").expect("a torus");
        let order = routing::build(&network, "dor:bubble=on").expect("a routing of tori");
        prove(&network, "torus", &Torus { order, wrong })
    }

    #[test]
    fn bubbles_are_proved_where_all_who_enter_a_ring_leave_one() {
        assert!(proof(Wrong::Nothing).cycle.is_empty());
        // A ring that is entered without: the cycle is that ring.
        for wrong in [Wrong::Nowhere, Wrong::AtSources] {
            let cycle = proof(wrong).cycle;
            assert_eq!(cycle.len(), 4);
        }
    }

    /// Of detours in flight, of states with many outputs and with few, and of two phases. Tests in Python compare such
    /// numbers with those of listed paths.
    #[test]
    fn dependencies_are_those_of_all_paths() {
        for (spec, name, channels, dependencies) in [
            ("dragonfly:a=4,h=2,p=2", "par", 684, 3384),
            ("hyperx:3x3x3", "dimwar", 324, 1458),
            ("slimfly:q=5,p=2", "ugal-l", 1400, 9100),
            ("torus:5x4", "dor", 116, 200),
        ] {
            let network = topology::build(spec).expect(spec);
            let routing = routing::build(&network, name).expect(name);
            let proof = verify(&network, name, &routing, None).expect("fits");
            assert_eq!((proof.channels, proof.dependencies), (channels, dependencies), "{spec} {name}");
        }
    }

    /// Detours in flight, two phases, one phase; and cycles, where all classes share a VC.
    #[test]
    fn what_is_found_from_one_of_all_routers_that_look_alike_is_what_is_found_from_all() {
        for (spec, kinds) in [
            ("galaxyfly:n=1,q=13,a=3,p=1", 3),
            ("galaxyfly:n=1,q=5,a=2,p=2", 1),
            ("galaxyfly:n=4,q=5,a=2,p=1", 40),
            ("slimfly:q=5,p=2", 10),
            ("hypercube:4", 1),
            ("torus:5x4", 1),
            ("torus:2x3,p=2", 1),
            ("faulty:links=2,seed=1(torus:4x3)", 12),
            ("ring:20,degree=5", 20),
            ("random-regular:24,degree=4,p=2", 24),
            ("xgft:down=3x2,up=2", 4),
            ("mesh:3x3", 9),
        ] {
            let network = topology::build(spec).expect(spec);
            let ends = ends(&network);
            let alike = || Alike::new(&network);
            let found = alike();
            assert_eq!(network.routers().filter(|&router| found.is_first(router)).count(), kinds, "{spec}");
            let table = || TableMinimal::new(&network).expect("small");
            let options = Options::default();
            let tables = [
                ("min", Some(AnyRouting::new(Min(table())))),
                ("ugal-l", Some(AnyRouting::new(TwoPhase::<_, true>::new(table(), &network, options)))),
                ("val", routing::build(&network, "val").ok()),
                ("min", routing::build(&network, "min").ok()),
                ("par", routing::build(&network, "par").ok()),
                ("polarized", routing::build(&network, "polarized").ok()),
            ];
            let tables = tables.into_iter().filter_map(|(name, routing)| Some((name, routing?)));
            for (name, routing) in tables.filter(|(_, routing)| routing.follows_ports()) {
                for vcs in [1, 2, routing.classes()] {
                    let merged = ClassMerger { routing: &routing, vcs };
                    let [few, all] =
                        [alike(), Alike::none(&network)].map(|alike| acyclic_with(&network, &merged, &ends, alike));
                    let what = format!("{spec} {name} {vcs}");
                    let rows = |graph: &Graph| -> Vec<Vec<u32>> {
                        (0..graph.nodes()).map(|node| graph.successors(node)).collect()
                    };
                    assert!(rows(&few.0) == rows(&all.0), "{what}");
                    assert!(few.0.used.bits().eq(all.0.used.bits()), "{what}");
                    assert_eq!((few.1.dependencies, &few.1.cycle), (all.1.dependencies, &all.1.cycle), "{what}");
                    assert!(few.1.stuck.iter().chain(&all.1.stuck).all(|(_, sources)| sources.is_empty()), "{what}");
                }
            }
        }
    }

    #[test]
    fn packets_along_two_dimensions_show_what_all_packets_do() {
        for (spec, name) in [
            ("torus:4x3x5", "dor"),
            ("torus:2x3x2x4,p=2", "dor"),
            ("torus:3x2x3x2x2", "dor"),
            ("torus:7", "dor"),
            ("mesh:3x4x2x2", "dor"),
            ("torus:3x3x3", "dor:dateline=off"),
        ] {
            let network = topology::build(spec).expect(spec);
            let routing = routing::build(&network, name).expect(name);
            let ends = ends(&network);
            let mut few = Vec::new();
            assert!(routing.enough_sources(RouterId(1), &mut few), "{spec} {name}");
            let differ = |src: &RouterId| {
                let grid = network.any_structure().grid().expect("a grid");
                let (from, to) = (grid.coordinates(src.0), grid.coordinates(1));
                from.iter().zip(&to).filter(|(a, b)| a != b).count()
            };
            let expected: BTreeSet<RouterId> = network.routers().filter(|src| (1..=2).contains(&differ(src))).collect();
            assert_eq!(few.len(), expected.len(), "{spec}: none twice");
            assert_eq!(few.into_iter().collect::<BTreeSet<_>>(), expected, "{spec}");
            // A merger of as many VCs as there are classes changes nothing, and asks for all sources.
            let all = ClassMerger { routing: &routing, vcs: routing.classes() };
            let [few, all] = [&routing as &dyn Routing, &all]
                .map(|routing| acyclic_with(&network, routing, &ends, Alike::none(&network)));
            for node in 0..all.0.nodes() {
                assert_eq!(few.0.successors(node), all.0.successors(node), "{spec} {name}");
            }
            assert!(few.0.used.bits().eq(all.0.used.bits()), "{spec} {name}");
            assert_eq!((few.1.dependencies, few.1.cycle), (all.1.dependencies, all.1.cycle), "{spec} {name}");
        }
    }

    /// In a ring of 8, a packet that has three routers left to go upwards has no output.
    struct Holes<'r>(&'r AnyRouting);

    impl Routing for Holes<'_> {
        fn classes(&self) -> u32 {
            self.0.classes()
        }

        fn moves(&self, at: RouterId, state: PacketState, dst: RouterId, out: &mut Vec<Move>) {
            if (dst.0 + 8 - at.0) % 8 != 3 {
                self.0.moves(at, state, dst, out);
            }
        }

        fn start<V: View>(&self, _src: RouterId, _dst: RouterId, _view: &V, _rng: &mut Rng) -> PacketState {
            unreachable!("this routing is proved, not run")
        }

        fn choose<V: View>(&self, _at: RouterId, _s: PacketState, _d: RouterId, _view: &V, _rng: &mut Rng) -> Move {
            unreachable!("this routing is proved, not run")
        }

        fn follows_ports(&self) -> bool {
            true
        }
    }

    #[test]
    fn all_pairs_that_are_not_served_are_listed_where_routers_look_alike() {
        let network = topology::build("torus:8").expect("a ring");
        let table = TableMinimal::new(&network).expect("small");
        let proof = prove(&network, "holes", &Holes(&AnyRouting::new(Min(table))));
        // Those three steps away, and those four steps away that come there.
        assert!(proof.unserved_pairs >= 8, "{}", proof.unserved_pairs);
        assert_eq!(proof.unserved_pairs % 8, 0);
        assert_eq!(proof.unserved_examples.len(), proof.unserved_pairs.min(10));
        let targets: BTreeSet<u32> = proof.unserved_examples.iter().map(|pair| pair.1).collect();
        assert!(targets.len() > 1);
    }

    #[test]
    fn rings_that_wait_for_each_other_are_shown() {
        let cycle = proof(Wrong::AnyOrder).cycle;
        assert!(!cycle.is_empty());
        for (hop, after) in cycle.iter().zip(cycle.iter().cycle().skip(1)) {
            assert_eq!(hop.to, after.from);
        }
        let turns = cycle.iter().zip(cycle.iter().cycle().skip(1));
        assert!(
            turns.filter(|(hop, after)| (hop.from / 4 == hop.to / 4) != (after.from / 4 == after.to / 4)).count() > 1
        );
    }
}
