//! Clusters: out of a host by one of its interfaces, over the fabric by any routing that it offers, and into the other
//! host.
//!
//! Within a host packets take shortest paths, and of these the widest. Which interface a packet leaves by is drawn at
//! its start; by which it gets into the other host, when it leaves its own: the nearest to its destination among those
//! that the fabric joins with it. The fabric's routing begins at the first router of the fabric, and knows nothing of
//! hosts.
//!
//! VC classes: the fabric's escape classes, if it has any, then those of hosts, then the fabric's others. Links within
//! hosts have separate classes for packets that leave and that enter: one each where the links of a host make a tree,
//! else as many as its longest path has links, by the links that are left. On a link between interface and router, only
//! packets that leave hosts use one direction, and only packets that enter them the other. So the order host,
//! interface, fabric, interface, host adds no cycle to those of the fabric's routing.
//!
//! What a packet carries: in 8 bits the port of its host that it leaves by, or that it enters by; in 14 bits the
//! fabric's intermediate router, or that it has yet to begin there; in 10 bits what the fabric's routing keeps.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use super::{
    ANY_VIA, Again, AnyRouting, Availability, Move, NO_VIA, OutputRow, PacketState, Routing, RoutingInfo, View, build,
    in_role,
};
use crate::catalogue::grammar::bracketed;
use crate::catalogue::{Arguments, Key, Kind};
use crate::error::Result;
use crate::limits::USUAL_VCS;
use crate::network::{Network, Peer, PortId, RouterId};
use crate::rng::Rng;
use crate::topology::{Cluster, Host, cluster_of};

pub(super) const HOSTS: RoutingInfo = RoutingInfo {
    name: "hosts",
    summary: "clusters: by an interface of the host, then by the fabric's own routing, then into the other host",
    offered: Availability::ByFamily,
    classes: "the fabric's, and 2 or more within hosts",
    adapts: None,
    keys: &[
        Key::new(
            "nic",
            Kind::Choice(&["own", "rail", "spread"]),
            "own: the nearest interface (default); rail: that which is joined with the destination's own, over the links within \
             the host (PXN); spread: any, drawn for each packet or message",
        ),
        Key::new(
            "fabric",
            Kind::Text("a routing of the fabric, in brackets if it has keys"),
            "the fabric's own routing, such as adaptive, val or (ugal-l:bias=2) (default minimal)",
        ),
    ],
    build: |network, given| HostRouting::build(network, given).map(|routing| routing.map(AnyRouting::new)),
};

/// Which interface of its host a packet leaves by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Leave {
    Own,
    Rail,
    Spread,
}

/// Bits of a state: the fabric's own, then its intermediate router, then the port of a host.
const OWN_BITS: u32 = 10;
const VIA_BITS: u32 = 14;
const OWN: u32 = (1 << OWN_BITS) - 1;
/// No intermediate router, and: the fabric's routing has yet to begin.
const NO_FABRIC_VIA: u32 = (1 << VIA_BITS) - 1;
const NOT_BEGUN: u32 = NO_FABRIC_VIA - 1;

/// What a packet carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct PacketRecord {
    /// The port of the host that it leaves by, while it is there; else the one that it enters by.
    port: u32,
    /// The state of the fabric's routing, once it has begun.
    fabric: Option<PacketState>,
}

impl PacketRecord {
    fn packed(self) -> PacketState {
        let (via, own) = match self.fabric {
            None => (NOT_BEGUN, 0),
            Some(state) => (if state.via == NO_VIA { NO_FABRIC_VIA } else { state.via }, state.bits.min(OWN)),
        };
        PacketState::direct(self.port << (OWN_BITS + VIA_BITS) | via << OWN_BITS | own)
    }

    fn of(state: PacketState) -> Self {
        let via = state.bits >> OWN_BITS & NO_FABRIC_VIA;
        // All bits set state in several routings that nothing is decided yet.
        let own = if state.bits & OWN == OWN { u32::MAX } else { state.bits & OWN };
        let fabric = match via {
            NOT_BEGUN => None,
            NO_FABRIC_VIA => Some(PacketState::direct(own)),
            via => Some(PacketState { via, bits: own }),
        };
        Self { port: state.bits >> (OWN_BITS + VIA_BITS), fabric }
    }
}

/// Routing over hosts and a fabric.
pub(super) struct HostRouting {
    cluster: Arc<Cluster>,
    leave: Leave,
    routing: AnyRouting,
    escape: u32,
    fabric_classes: u32,
    /// What packets want within a copy of the fabric: [`Routing::wants`].
    fabric_wants: u32,
    /// VC classes of each of the two ways within hosts.
    of_hosts: u32,
    /// Links between each pair of parts of a host.
    distances: Vec<Vec<u32>>,
    /// The local ports of a part that lead nearer to another part, by both.
    nearer: Vec<Vec<Vec<u16>>>,
    /// The ports of a host that a packet leaves by, by the slots of its source and of its destination (`own`, `spread`:
    /// any).
    leaves: Vec<Vec<Vec<u32>>>,
    /// The ports of a host that a packet enters by, by the port that it left by and the slot of its destination.
    enters: Vec<Vec<Vec<u32>>>,
    /// The most routers of its host that a leaving packet passes.
    outwards: u16,
    /// For published occupancies: the port of the network for each of the fabric, copy by copy.
    published: Vec<Vec<u32>>,
}

/// What the fabric's routing sees of a router.
struct FabricView<'a, V> {
    view: &'a V,
    /// The local port for each of the fabric's at this router.
    local: &'a [u16],
    published: &'a [u32],
    /// The first number of this copy of the fabric for what packets want.
    first_want: u32,
    leaves_by: u32,
    classes: FabricClasses,
}

/// The classes of the fabric's routing among those of the network.
#[derive(Debug, Clone, Copy)]
struct FabricClasses {
    /// The first of them, which are escape classes, keep their numbers.
    escape: u32,
    /// Classes of hosts, numbered after these.
    of_hosts: u32,
}

impl FabricClasses {
    /// The class of the network for one of the fabric.
    fn own(self, class: u8) -> u8 {
        if u32::from(class) < self.escape { class } else { class + self.of_hosts as u8 }
    }
}

impl<V: View> FabricView<'_, V> {
    fn port(&self, port: u32) -> u32 {
        u32::from(self.local[port as usize])
    }
}

impl<V: View> View for FabricView<'_, V> {
    fn copy(&self) -> Self {
        Self { ..*self }
    }

    fn occupancy(&self, port: u32) -> u32 {
        self.view.occupancy(self.port(port))
    }

    fn queue(&self, port: u32) -> u32 {
        self.view.queue(self.port(port))
    }

    fn shortest_queue(&self, outputs: &OutputRow) -> Option<u32> {
        let own = OutputRow { first: self.port(outputs.first), ..*outputs };
        let are_neighbours =
            outputs.count > 0 && self.port(outputs.first + outputs.count - 1) + 1 == own.first + own.count;
        if !are_neighbours {
            return outputs.shortest((0..outputs.count).map(|place| self.queue(outputs.first + place)));
        }
        Some(self.view.shortest_queue(&own)? - own.first + outputs.first)
    }

    fn backlog(&self, port: u32) -> u32 {
        self.view.backlog(self.port(port))
    }

    fn queue_of(&self, port: u32, class: u8) -> u32 {
        self.view.queue_of(self.port(port), self.classes.own(class))
    }

    fn published(&self, port: PortId) -> u32 {
        self.view.published(PortId(self.published[port.index()]))
    }

    fn published_backlog(&self, port: PortId) -> u32 {
        self.view.published_backlog(PortId(self.published[port.index()]))
    }

    fn published_mean(&self, set: PortId, outputs: &mut dyn Iterator<Item = PortId>) -> u32 {
        let own = |port: PortId| PortId(self.published[port.index()]);
        self.view.published_mean(own(set), &mut outputs.map(own))
    }

    fn published_sum(&self, set: PortId, outputs: &mut dyn Iterator<Item = PortId>) -> u32 {
        let own = |port: PortId| PortId(self.published[port.index()]);
        self.view.published_sum(own(set), &mut outputs.map(own))
    }

    fn want(&self, what: u32) {
        self.view.want(self.first_want + what);
    }

    fn wanted(&self, what: u32) -> u32 {
        self.view.wanted(self.first_want + what)
    }

    fn wanted_by_all(&self, set: Range<u32>) -> u32 {
        self.view.wanted_by_all(self.first_want + set.start..self.first_want + set.end)
    }

    fn interval(&self) -> u32 {
        self.view.interval()
    }

    fn sent_before(&self, source: RouterId, new: bool) -> u32 {
        self.view.sent_before(source, new)
    }

    fn is_blind(&self) -> bool {
        self.view.is_blind()
    }

    fn free_vcs(&self, port: u32, class: u8) -> u32 {
        self.view.free_vcs(self.port(port), self.classes.own(class))
    }

    fn has_free_vc(&self, port: u32, class: u8) -> bool {
        self.view.has_free_vc(self.port(port), self.classes.own(class))
    }

    fn buffer(&self, class: u8) -> u32 {
        self.view.buffer(self.classes.own(class))
    }

    fn decides_again(&self) -> bool {
        self.view.decides_again()
    }

    fn arrived_by(&self) -> u32 {
        let by = self.view.arrived_by();
        self.local.iter().position(|&local| u32::from(local) == by).unwrap_or(0) as u32
    }

    fn leaves_by(&self) -> u32 {
        self.leaves_by
    }
}

/// Where a packet stands.
enum At {
    /// In the host of its destination, at a part.
    Home(u32),
    /// In its own host, at a part.
    Source(u32),
    /// In a copy of the fabric.
    Fabric(u32, RouterId),
}

impl HostRouting {
    fn build(network: &Network, given: &Arguments) -> Result<Option<Self>> {
        let Some(cluster) = cluster_of(network) else { return Ok(None) };
        let leave = match given.choice("nic") {
            "rail" => Leave::Rail,
            "spread" => Leave::Spread,
            _ => Leave::Own,
        };
        let text = given.text("fabric").unwrap_or("minimal");
        let text = bracketed(text).unwrap_or(text);
        let name = in_role(&cluster.fabric, text).unwrap_or(text);
        let routing = build(&cluster.fabric, name)?;
        check_fabric(&cluster, &routing, name).map_err(|what| given.mistake(what))?;
        let distances = cluster.host.distances();
        let is_tree = cluster.host.links.len() as u32 + 1 == cluster.host.parts();
        let longest = distances.iter().flatten().copied().max().unwrap_or(0);
        let of_hosts = if is_tree { 1 } else { longest.max(1) };
        let nearer = nearer(&cluster, &distances);
        let mut this = Self {
            leave,
            escape: routing.escape_classes(),
            fabric_classes: routing.classes(),
            fabric_wants: routing.wants(),
            routing,
            of_hosts,
            distances,
            nearer,
            leaves: Vec::new(),
            enters: Vec::new(),
            outwards: 0,
            published: Vec::new(),
            cluster,
        };
        if this.classes() > crate::limits::MAX_VCS {
            return Err(given.mistake(format!(
                "{name} needs {} VC classes on this cluster; at most 64 are possible",
                this.classes()
            )));
        }
        this.choose_ports();
        if this.routing.snapshot_period() > 0 {
            this.map_published(network);
        }
        Ok(Some(this))
    }

    /// The ports of `ports` that are nearest to a part.
    fn nearest(&self, part: u32, ports: impl Iterator<Item = u32> + Clone) -> Vec<u32> {
        let distance = |port: &u32| self.distances[self.cluster.ports[*port as usize].at as usize][part as usize];
        let least = ports.clone().map(|port| distance(&port)).min();
        ports.filter(|port| Some(distance(port)) == least).collect()
    }

    /// Which ports packets leave by, and which they get in by.
    fn choose_ports(&mut self) {
        let count = self.cluster.ports.len() as u32;
        let copy = |port: u32| self.cluster.ports[port as usize].copy;
        let rail = |port: u32| self.cluster.ports[port as usize].rail;
        let of_copy = |wanted: u32| (0..count).filter(move |&port| copy(port) == wanted);
        let slots = 0..self.cluster.host.accelerators;
        let enters = |out: u32| slots.clone().map(|slot| self.nearest(slot, of_copy(copy(out)))).collect();
        let leaves = |source: u32| {
            let by = |target: u32| match self.leave {
                Leave::Own => self.nearest(source, 0..count),
                Leave::Spread => (0..count).collect(),
                Leave::Rail => {
                    let own = self.nearest(target, 0..count);
                    let rails = (0..count).filter(|&port| own.iter().any(|&near| rail(near) == rail(port)));
                    // On one fabric every port is joined with the destination's: then the nearest one will do.
                    self.nearest(if own.len() == 1 && self.is_railed() { target } else { source }, rails)
                }
            };
            slots.clone().map(by).collect()
        };
        let (enters, leaves) = ((0..count).map(enters).collect(), slots.clone().map(leaves).collect());
        (self.enters, self.leaves) = (enters, leaves);
        let routers =
            |(source, port): (usize, &u32)| 1 + self.distances[source][self.cluster.ports[*port as usize].at as usize];
        let out = self.leaves.iter().enumerate().flat_map(|(source, by)| by.iter().flatten().map(move |p| (source, p)));
        self.outwards = out.map(routers).max().unwrap_or(0) as u16;
    }

    /// True if the interfaces of a host are on more than one copy of the fabric, joined or not.
    fn is_railed(&self) -> bool {
        self.cluster.ports.iter().any(|port| port.rail > 0)
    }

    fn map_published(&mut self, network: &Network) {
        let fabric = &self.cluster.fabric;
        let of = |copy: u32| {
            let port = |id: u32| {
                let (router, local) = fabric.local_port(PortId(id));
                let own = self.cluster.router(copy, router)?;
                Some(network.port_base(own) + u32::from(self.cluster.locals(copy, router)[local as usize]))
            };
            (0..fabric.ports().len() as u32).map(|id| port(id).unwrap_or(0)).collect()
        };
        self.published = (0..self.cluster.copies()).map(of).collect();
    }

    fn at(&self, at: RouterId, dst: RouterId) -> At {
        let (home, _) = self.cluster.part(dst).expect("destinations are accelerators");
        match self.cluster.part(at) {
            Some((host, part)) if host == home => At::Home(part),
            Some((_, part)) => At::Source(part),
            None => {
                let (copy, router) = self.cluster.place(at);
                At::Fabric(copy, router)
            }
        }
    }

    /// The class of the network for one of the fabric.
    fn of_fabric(&self, class: u8) -> u8 {
        self.classes_of_fabric().own(class)
    }

    fn classes_of_fabric(&self) -> FabricClasses {
        FabricClasses { escape: self.escape, of_hosts: 2 * self.of_hosts }
    }

    /// The class of a link within a host for packets that leave or enter, by the number of links left.
    fn within(&self, left: u32, inwards: bool) -> u8 {
        let class = if self.of_hosts == 1 { 0 } else { self.of_hosts - left.min(self.of_hosts) };
        (self.escape + class + if inwards { self.of_hosts } else { 0 }) as u8
    }

    /// The hops within a host from one part towards another.
    fn inside(&self, from: u32, to: u32, inwards: bool, next: PacketState) -> impl Iterator<Item = Move> + '_ {
        let class = self.within(self.distances[from as usize][to as usize], inwards);
        self.nearer[from as usize][to as usize].iter().map(move |&port| Move { port, class, next })
    }

    /// The fabric's router that a packet to `dst` leaves the fabric at, and the local port there, by port `port` of its
    /// host.
    fn exit(&self, dst: RouterId, port: u32) -> (RouterId, u32) {
        let (home, _) = self.cluster.part(dst).expect("destinations are accelerators");
        let terminal = self.cluster.terminal(home, port as usize);
        self.cluster.fabric.local_port(self.cluster.fabric.terminal_port(terminal))
    }

    /// The hop out of the fabric.
    fn out_of_fabric(&self, copy: u32, exit: RouterId, local: u32) -> Move {
        let port = self.cluster.locals(copy, exit)[local as usize];
        Move { port, class: self.within(1, true), next: not_begun(0) }
    }

    /// A hop of the fabric's routing.
    fn in_fabric(&self, copy: u32, at: RouterId, port: u32, hop: Move) -> Move {
        let own = self.cluster.locals(copy, at)[usize::from(hop.port)];
        let next = PacketRecord { port, fabric: Some(hop.next) }.packed();
        Move { port: own, class: self.of_fabric(hop.class), next }
    }

    /// The fabric's states that a packet begins with at `at`, each with its probability; over every intermediate router
    /// by itself.
    fn begins(&self, at: RouterId, exit: RouterId, likely: bool, out: &mut Vec<(f64, PacketState)>) {
        let mut starts = Vec::new();
        if likely {
            self.routing.likely_starts(at, exit, &mut starts);
        } else {
            let mut plain = Vec::new();
            self.routing.starts(at, exit, &mut plain);
            starts.extend(plain.into_iter().map(|state| (1.0, state)));
        }
        for (chance, state) in starts {
            self.over_each(at, exit, (chance, state), out);
        }
    }

    /// A state of the fabric's routing with its probability; if it is over any intermediate router, over each by itself.
    fn over_each(
        &self,
        at: RouterId,
        exit: RouterId,
        (chance, state): (f64, PacketState),
        out: &mut Vec<(f64, PacketState)>,
    ) {
        if state.via != ANY_VIA {
            out.push((chance, state));
            return;
        }
        let routers = self.cluster.fabric.num_routers() as u32;
        let each = chance / f64::from(routers.saturating_sub(2).max(1));
        let others = (0..routers).filter(|&via| via != at.0 && via != exit.0);
        out.extend(others.map(|via| (each, PacketState { via, bits: state.bits })));
    }

    /// Every hop from a router of the fabric, with probabilities if they are asked for.
    fn fabric_moves(
        &self,
        copy: u32,
        at: RouterId,
        state: PacketState,
        dst: RouterId,
        likely: bool,
    ) -> Vec<(f64, Move)> {
        let PacketRecord { port, fabric } = PacketRecord::of(state);
        let (exit, local) = self.exit(dst, port);
        if at == exit {
            return vec![(1.0, self.out_of_fabric(copy, exit, local))];
        }
        let mut states = Vec::new();
        match fabric {
            Some(state) => states.push((1.0, state)),
            None => self.begins(at, exit, likely, &mut states),
        }
        if !likely {
            let mut turned = Vec::new();
            states.iter().for_each(|(_, state)| self.routing.diverts(at, *state, exit, &mut turned));
            turned.into_iter().for_each(|state| self.over_each(at, exit, (1.0, state), &mut states));
        }
        let mut found = Vec::new();
        for (chance, state) in states {
            let mut moves = Vec::new();
            if likely {
                self.routing.likely_moves(at, state, exit, &mut moves);
            } else {
                let mut plain = Vec::new();
                self.routing.moves(at, state, exit, &mut plain);
                moves.extend(plain.into_iter().map(|hop| (1.0, hop)));
            }
            let own = moves.into_iter().map(|(more, hop)| (chance * more, self.in_fabric(copy, at, port, hop)));
            found.extend(own);
        }
        found
    }

    /// Every hop, with probabilities if they are asked for.
    fn all_moves(&self, at: RouterId, state: PacketState, dst: RouterId, likely: bool) -> Vec<(f64, Move)> {
        let (_, target) = self.cluster.part(dst).expect("destinations are accelerators");
        let evenly = |moves: Vec<Move>| {
            let each = 1.0 / moves.len() as f64;
            moves.into_iter().map(|hop| (each, hop)).collect()
        };
        match self.at(at, dst) {
            At::Home(part) => evenly(self.inside(part, target, true, state).collect()),
            At::Source(part) => {
                let out = PacketRecord::of(state).port;
                let port = self.cluster.ports[out as usize];
                if part != port.at {
                    return evenly(self.inside(part, port.at, false, state).collect());
                }
                let into = self.enters[out as usize][target as usize].iter();
                let class = self.within(1, false);
                evenly(into.map(|&port_in| Move { port: port.local, class, next: not_begun(port_in) }).collect())
            }
            At::Fabric(copy, router) => self.fabric_moves(copy, router, state, dst, likely),
        }
    }
}

/// A packet that has yet to begin in the fabric, or that is yet in its host, with a port of a host.
fn not_begun(port: u32) -> PacketState {
    PacketRecord { port, fabric: None }.packed()
}

/// One of these.
fn drawn(ports: &[u32], rng: &mut Rng) -> u32 {
    if ports.len() == 1 { ports[0] } else { ports[rng.below(ports.len() as u32) as usize] }
}

/// The local ports of each part that lead nearer to each other part.
fn nearer(cluster: &Cluster, distances: &[Vec<u32>]) -> Vec<Vec<Vec<u16>>> {
    let host = &cluster.host;
    let widths: Vec<Vec<f64>> = (0..host.parts()).map(|target| widths(host, target, distances)).collect();
    let towards = |part: u32, target: u32| {
        let first = u16::from(part < host.accelerators);
        let left = |peer: u32| distances[peer as usize][target as usize];
        let width = |link: usize, peer: u32| rate(host, link).min(widths[target as usize][peer as usize]);
        let ways = (first..).zip(host.neighbors(part)).filter(|(_, (_, peer))| left(*peer) + 1 == left(part));
        let widest = widths[target as usize][part as usize];
        ways.filter(|(_, (link, peer))| width(*link, *peer) == widest).map(|(port, _)| port).collect()
    };
    (0..host.parts()).map(|part| (0..host.parts()).map(|target| towards(part, target)).collect()).collect()
}

fn rate(host: &Host, link: usize) -> f64 {
    host.links[link].1.gbps.unwrap_or(f64::INFINITY)
}

/// For each part of a host the rate of the slowest link on the widest shortest path to `target`.
fn widths(host: &Host, target: u32, distances: &[Vec<u32>]) -> Vec<f64> {
    let left = |part: u32| distances[part as usize][target as usize];
    let mut parts: Vec<u32> = (0..host.parts()).filter(|&part| part != target).collect();
    parts.sort_by_key(|&part| left(part));
    let mut widths = vec![f64::INFINITY; host.parts() as usize];
    for part in parts {
        let ways = host.neighbors(part).filter(|(_, peer)| left(*peer) + 1 == left(part));
        let width = ways.map(|(link, peer)| rate(host, link).min(widths[peer as usize])).reduce(f64::max);
        widths[part as usize] = width.unwrap_or(0.0);
    }
    widths
}

/// Rejects a routing of the fabric that a cluster has no room for.
fn check_fabric(cluster: &Cluster, routing: &AnyRouting, name: &str) -> std::result::Result<(), String> {
    let fabric = &cluster.fabric;
    if routing.by_terminal() || routing.keeps_bubbles() || routing.traffic_groups() > 1 {
        return Err(format!("{name} uses terminals, bubbles or groups of packets of its own, which a cluster has not"));
    }
    let most = NOT_BEGUN;
    if fabric.num_routers() as u32 > most {
        return Err(format!("the fabric has {} routers; at most {most} are possible", fabric.num_routers()));
    }
    match widest(fabric, routing) {
        bits if bits >= OWN => Err(format!("packets of {name} carry more than a cluster has room for")),
        _ => Ok(()),
    }
}

/// The largest bits that packets to the first and the last router of a fabric carry, all of them set aside.
fn widest(fabric: &Network, routing: &AnyRouting) -> u32 {
    let ends: Vec<RouterId> = fabric.routers().filter(|&router| fabric.has_terminals(router)).collect();
    let (Some(&first), Some(&last)) = (ends.first(), ends.last()) else { return 0 };
    let mut widest = 0;
    for dst in [first, last] {
        let mut seen = std::collections::HashSet::new();
        let mut queue = Vec::new();
        for &src in ends.iter().filter(|&&src| src != dst) {
            let mut starts = Vec::new();
            routing.starts(src, dst, &mut starts);
            // What a packet carries towards an intermediate router it also carries towards its destination.
            queue.extend(starts.into_iter().map(|state| (src, PacketState::direct(state.bits))));
        }
        while let Some((at, state)) = queue.pop() {
            widest = widest.max(if state.bits == u32::MAX { 0 } else { state.bits });
            if at == dst || !seen.insert((at, state)) {
                continue;
            }
            let mut moves = Vec::new();
            routing.moves(at, state, dst, &mut moves);
            for hop in moves {
                let port = &fabric.ports_of(at)[usize::from(hop.port)];
                if let Peer::Port(peer) = port.peer {
                    queue.push((fabric.ports()[peer.index()].router, PacketState::direct(hop.next.bits)));
                }
            }
        }
    }
    widest
}

impl Routing for HostRouting {
    fn classes(&self) -> u32 {
        self.fabric_classes + 2 * self.of_hosts
    }

    /// As many for each class as the fabric's classes have without hosts: with fewer, packets would block each other in the
    /// fabric because their hosts have several links.
    fn vcs(&self) -> u32 {
        self.routing.vcs().max(USUAL_VCS).div_ceil(self.fabric_classes.max(1)) * self.classes()
    }

    fn starts(&self, src: RouterId, dst: RouterId, out: &mut Vec<PacketState>) {
        let ([from, source], [to, target]) = self.ends(src, dst);
        if from == to {
            out.push(not_begun(0));
        } else {
            out.extend(self.leaves[source as usize][target as usize].iter().map(|&port| not_begun(port)));
        }
    }

    fn moves(&self, at: RouterId, state: PacketState, dst: RouterId, out: &mut Vec<Move>) {
        out.extend(self.all_moves(at, state, dst, false).into_iter().map(|(_, hop)| hop));
    }

    fn start<V: View>(&self, src: RouterId, dst: RouterId, _view: &V, rng: &mut Rng) -> PacketState {
        let ([from, source], [to, target]) = self.ends(src, dst);
        if from == to { not_begun(0) } else { not_begun(drawn(&self.leaves[source as usize][target as usize], rng)) }
    }

    fn choose<V: View>(&self, at: RouterId, state: PacketState, dst: RouterId, view: &V, rng: &mut Rng) -> Move {
        let (_, target) = self.cluster.part(dst).expect("destinations are accelerators");
        let of = |ports: &[u16], rng: &mut Rng| ports[rng.below(ports.len() as u32) as usize];
        match self.at(at, dst) {
            At::Home(part) => {
                let class = self.within(self.distances[part as usize][target as usize], true);
                let port = of(&self.nearer[part as usize][target as usize], rng);
                Move { port, class, next: state }
            }
            At::Source(part) => {
                let out = PacketRecord::of(state).port;
                let port = self.cluster.ports[out as usize];
                if part != port.at {
                    let class = self.within(self.distances[part as usize][port.at as usize], false);
                    return Move { port: of(&self.nearer[part as usize][port.at as usize], rng), class, next: state };
                }
                let next = not_begun(drawn(&self.enters[out as usize][target as usize], rng));
                Move { port: port.local, class: self.within(1, false), next }
            }
            At::Fabric(copy, router) => {
                let PacketRecord { port, fabric } = PacketRecord::of(state);
                let (exit, leaves_by) = self.exit(dst, port);
                if router == exit {
                    return self.out_of_fabric(copy, exit, leaves_by);
                }
                let local = self.cluster.locals(copy, router);
                let published = self.published.get(copy as usize).map_or(&[][..], Vec::as_slice);
                let first_want = copy * self.fabric_wants;
                let classes = self.classes_of_fabric();
                let view = FabricView { view, local, published, first_want, leaves_by, classes };
                let state = fabric.unwrap_or_else(|| self.routing.start(router, exit, &view, rng));
                self.in_fabric(copy, router, port, self.routing.choose(router, state, exit, &view, rng))
            }
        }
    }

    fn snapshot_period(&self) -> u32 {
        self.routing.snapshot_period()
    }

    /// Copies of the fabric share no counts.
    fn wants(&self) -> u32 {
        self.cluster.copies() * self.fabric_wants
    }

    /// Where the fabric's routing does. Paths begin with up to `outwards` routers of the host: packets that pass fewer
    /// decide again in as many more of the fabric's routers. At its source a packet also draws its interface again.
    fn decides_again(&self) -> Again {
        match self.routing.decides_again() {
            Again::Revocable(routers) => Again::Revocable(routers.saturating_add(self.outwards)),
            as_it_is => as_it_is,
        }
    }

    fn compares_classes(&self) -> bool {
        self.routing.compares_classes()
    }

    fn takes_whole_packets(&self, class: u8) -> bool {
        let (first, behind) = (self.escape, self.escape + 2 * self.of_hosts);
        match u32::from(class) {
            class if class < first => self.routing.takes_whole_packets(class as u8),
            class if class < behind => false,
            class => self.routing.takes_whole_packets((class - 2 * self.of_hosts) as u8),
        }
    }

    fn escape_classes(&self) -> u32 {
        if self.escape == 0 { 0 } else { self.escape + 2 * self.of_hosts }
    }

    fn unproved(&self) -> bool {
        self.routing.unproved()
    }

    fn contents(&self) -> u64 {
        self.routing.contents()
    }

    fn note(&self) -> Option<String> {
        self.routing.note()
    }

    fn oblivious(&self) -> bool {
        self.routing.oblivious()
    }

    fn likely_moves(&self, at: RouterId, state: PacketState, dst: RouterId, out: &mut Vec<(f64, Move)>) {
        out.extend(self.all_moves(at, state, dst, true));
    }
}

impl HostRouting {
    /// Host and part of a source and of a destination.
    fn ends(&self, src: RouterId, dst: RouterId) -> ([u32; 2], [u32; 2]) {
        let of = |router| {
            let (host, part) = self.cluster.part(router).expect("terminals are on accelerators");
            [host, part]
        };
        (of(src), of(dst))
    }
}

/// A channel of a host: the part that sends, its local port, and the VC class.
pub(super) type HostChannel = (u32, u16, u8);

/// The paths of packets through a host, which are the same in every host.
#[derive(Debug, Default)]
pub(super) struct HostWays {
    /// Channels that are used, links of interfaces included.
    pub used: BTreeSet<HostChannel>,
    /// Channels that packets hold while they wait for another one.
    pub waits: BTreeSet<(HostChannel, HostChannel)>,
    /// The channels that packets wait for that come in by a port of the host.
    pub behind: BTreeSet<(u32, HostChannel)>,
}

/// What a proof by parts reads.
impl HostRouting {
    pub(super) fn cluster(&self) -> &Cluster {
        &self.cluster
    }

    pub(super) fn of_fabric_alone(&self) -> &AnyRouting {
        &self.routing
    }

    /// By which ports packets leave their host, and get into another one.
    pub(super) fn joins(&self) -> BTreeSet<(u32, u32)> {
        let into = |(_, target, out): (u32, u32, u32)| {
            self.enters[out as usize][target as usize].iter().map(move |&into| (out, into))
        };
        self.outs().flat_map(into).collect()
    }

    /// (slot of the source, slot of the destination, port that packets leave by).
    fn outs(&self) -> impl Iterator<Item = (u32, u32, u32)> + '_ {
        let by_source = (0..).zip(&self.leaves);
        let by_target =
            by_source.flat_map(|(source, by)| (0..).zip(by).map(move |(target, ports)| (source, target, ports)));
        by_target.flat_map(|(source, target, ports)| ports.iter().map(move |&port| (source, target, port)))
    }

    /// The link between interface and router by which packets leave by a port.
    pub(super) fn out_by(&self, port: u32) -> HostChannel {
        let port = self.cluster.ports[port as usize];
        (port.at, port.local, self.within(1, false))
    }

    /// The class on the link between router and interface.
    pub(super) fn class_in(&self) -> u8 {
        self.within(1, true)
    }

    /// The network's router and hop for a hop of the fabric's routing.
    pub(super) fn hop_of_fabric(&self, copy: u32, at: RouterId, port: u16, class: u8) -> Option<(RouterId, u16, u8)> {
        let router = self.cluster.router(copy, at)?;
        Some((router, self.cluster.locals(copy, at)[usize::from(port)], self.of_fabric(class)))
    }

    /// All paths of packets through a host.
    pub(super) fn ways(&self) -> HostWays {
        let mut ways = HostWays::default();
        let slots = 0..self.cluster.host.accelerators;
        for (source, target, port) in self.outs() {
            let out = self.out_by(port);
            ways.used.insert(out);
            self.way(source, out.0, false, Some(out), &mut ways);
            for &into in &self.enters[port as usize][target as usize] {
                let at = self.cluster.ports[into as usize].at;
                self.way(at, target, true, None, &mut ways);
                ways.behind.extend(self.next(at, target, true).map(|hop| (into, hop)));
            }
        }
        for (source, target) in slots.clone().flat_map(|source| slots.clone().map(move |target| (source, target))) {
            self.way(source, target, true, None, &mut ways);
        }
        ways
    }

    fn next(&self, part: u32, target: u32, inwards: bool) -> impl Iterator<Item = HostChannel> + '_ {
        let hops = (part != target).then(|| self.inside(part, target, inwards, not_begun(0)));
        hops.into_iter().flatten().map(move |hop| (part, hop.port, hop.class))
    }

    /// Adds the paths from one part to another, and `then` behind them.
    fn way(&self, from: u32, target: u32, inwards: bool, then: Option<HostChannel>, ways: &mut HostWays) {
        let mut parts = vec![from];
        let mut place = 0;
        while let Some(&part) = parts.get(place) {
            place += 1;
            for hop in self.next(part, target, inwards) {
                let link = hop.1 - u16::from(part < self.cluster.host.accelerators);
                let (_, to) = self.cluster.host.neighbors(part).nth(link.into()).expect("it is a link of the host");
                ways.used.insert(hop);
                if to == target {
                    ways.waits.extend(then.map(|then| (hop, then)));
                } else {
                    ways.waits.extend(self.next(to, target, inwards).map(|next| (hop, next)));
                }
                if !parts.contains(&to) {
                    parts.push(to);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;
    use crate::network::{LinkClass, TerminalId};
    use crate::routing::{Idle, verify};
    use crate::topology;

    const CLOS: &str = "(clos:radix=4,levels=2,rate=400G)";

    fn network(rest: &str) -> Network {
        let spec = format!("cluster:{rest}");
        topology::build(&spec).expect(&spec)
    }

    /// The classes of the links that a packet takes.
    fn path(network: &Network, routing: &AnyRouting, ends: [u32; 2], seed: u64) -> Vec<LinkClass> {
        let [mut at, dst] = ends.map(|end| network.router_of(TerminalId(end)));
        let mut rng = Rng::stream(seed, 0);
        let mut state = routing.start(at, dst, &Idle, &mut rng);
        let mut classes = Vec::new();
        while at != dst {
            let hop = routing.choose(at, state, dst, &Idle, &mut rng);
            let port = network.ports_of(at)[usize::from(hop.port)];
            classes.push(port.class);
            let Peer::Port(peer) = port.peer else { panic!("a hop to a terminal") };
            (at, state) = (network.ports()[peer.index()].router, hop.next);
            assert!(classes.len() < 50, "a path without an end");
        }
        classes
    }

    #[test]
    fn packets_leave_as_they_are_told() {
        use LinkClass::{Internal as I, Nic as N, Up as U};
        let rails = network(&format!("hosts=4,host=hgx-h100,fabric={CLOS}"));
        let named = |name: &str| build(&rails, name).expect(name);
        // Host 0 and host 2 are at different leaves of each rail; hosts 0 and 1 at one.
        let (own, rail) = (named("hosts"), named("hosts:nic=rail"));
        assert_eq!(path(&rails, &own, [0, 3], 1), [I, I], "within a host");
        assert_eq!(path(&rails, &own, [0, 16], 1), [N, U, U, N], "along a rail");
        assert_eq!(path(&rails, &own, [0, 19], 1), [N, U, U, N, I, I], "over at the end");
        assert_eq!(path(&rails, &rail, [0, 19], 1), [I, I, N, U, U, N], "over at the beginning");
        assert_eq!(path(&rails, &rail, [0, 8], 1), [N, N], "one leaf");
        let spread = named("hosts:nic=spread");
        let lengths: Vec<usize> = (0..64).map(|seed| path(&rails, &spread, [0, 16], seed).len()).collect();
        assert!(lengths.contains(&4) && lengths.contains(&8), "{lengths:?}");
    }

    /// Two GPUs below one PCIe switch of abci-a are as near over it as over the NVSwitch, which is nine times as fast.
    #[test]
    fn the_widest_of_the_shortest_ways_is_taken() {
        let network = network("hosts=2,host=abci-a,fabric=(mesh:2,p=4,rate=200G),attach=block");
        let routing = build(&network, "hosts").expect("offered");
        for seed in 0..32 {
            let mut rng = Rng::stream(seed, 0);
            let state = routing.start(RouterId(0), RouterId(1), &Idle, &mut rng);
            let hop = routing.choose(RouterId(0), state, RouterId(1), &Idle, &mut rng);
            let port = PortId(network.port_base(RouterId(0)) + u32::from(hop.port));
            assert_eq!(network.gbps(port), Some(2400.0));
        }
    }

    /// Rails that are joined are crossed by the way that is asked for: above, or within a host.
    #[test]
    fn joined_rails_are_crossed_above_or_within_hosts() {
        use LinkClass::{Internal as I, Nic as N, Up as U};
        let network = network(&format!("hosts=4,host=hgx-h100,fabric={CLOS},join=(mesh:1,p=64,rate=400G)"));
        let [own, rail] = ["hosts", "hosts:nic=rail"].map(|name| build(&network, name).expect(name));
        assert_eq!(path(&network, &own, [0, 16], 1), [N, U, U, N], "along a rail");
        assert_eq!(path(&network, &own, [0, 19], 1), [N, U, U, U, U, N], "over the join");
        assert_eq!(path(&network, &rail, [0, 19], 1), [I, I, N, U, U, N], "over within the host");
    }

    #[test]
    fn clusters_are_proved_as_a_whole() {
        for (rest, routing) in [
            (
                "hosts=4,host=cray-ex,fabric=(clos:radix=4,levels=2,rate=200G),join=(clos:radix=4,levels=2,rate=200G),uplinks=1",
                "hosts:fabric=adaptive",
            ),
            ("hosts=4,host=hgx-h100,fabric=(clos:radix=4,levels=2,rate=400G)", "hosts"),
            ("hosts=4,host=hgx-h100,fabric=(clos:radix=4,levels=2,rate=400G)", "hosts:nic=spread,fabric=anca"),
            ("hosts=4,host=mi300x,fabric=(clos:radix=4,levels=2,rate=400G)", "hosts:nic=rail"),
            ("hosts=4,host=v100-4,fabric=(clos:radix=4,levels=2,rate=100G)", "hosts:nic=spread"),
            ("hosts=4,host=tpu-v4,fabric=(torus:4,rate=100G)", "hosts"),
            ("hosts=9,host=cray-ex,fabric=(dragonfly:a=2,h=2,p=4,g=5,rate=200G),attach=block", "hosts:fabric=val"),
            ("hosts=9,host=cray-ex,fabric=(dragonfly:a=2,h=2,p=4,g=5,rate=200G),attach=spread", "hosts:fabric=par"),
            (
                "hosts=6,host=leonardo,fabric=(dragonfly-plus:leaf=2,spine=2,p=4,h=2,g=3,rate=200G),attach=block",
                "hosts:fabric=par",
            ),
            ("hosts=9,host=cray-ex,fabric=(hyperx:3x3,p=4,rate=200G),attach=block", "hosts:fabric=par"),
            ("hosts=18,host=cray-ex,fabric=(slimfly:q=3,p=4,rate=200G),attach=block", "hosts:fabric=par"),
            (
                "hosts=4,host=cray-ex,fabric=(hyperx:3x3,p=2,rate=200G),attach=plane,planes=2",
                "hosts:nic=spread,fabric=(ugal-l:bias=2)",
            ),
            ("hosts=4,host=cray-ex,fabric=(torus:3x3,p=4,rate=200G),attach=block", "hosts:fabric=duato"),
            (
                "hosts=4,host=dgx-a100,fabric=(clos:radix=16,levels=2,rate=200G),attach=dual-tor",
                "hosts:fabric=adaptive",
            ),
        ] {
            let network = network(rest);
            let built = build(&network, routing).expect(routing);
            let proof = verify::verify(&network, routing, &built, None).expect("fits");
            assert!(proof.deadlock_free && proof.unserved_pairs == 0, "{rest} {routing}: {:?}", proof.cycle);
        }
    }

    /// With one class for both directions within a host, packets that go out wait for those that come in.
    #[test]
    fn a_proof_can_fail() {
        let network = network("hosts=4,host=v100-4,fabric=(clos:radix=4,levels=2,rate=100G)");
        let routing = build(&network, "hosts:nic=spread").expect("offered");
        let proof = verify::verify(&network, "hosts", &routing, Some(1)).expect("fits");
        assert!(!proof.deadlock_free);
    }

    #[test]
    fn what_is_decided_is_among_what_is_enumerated() {
        for (rest, routing) in [
            (
                "hosts=4,host=v100-4,fabric=(dragonfly:a=2,h=1,p=2,rate=100G),attach=spread",
                "hosts:nic=spread,fabric=ugal-l",
            ),
            ("hosts=4,host=hgx-h100,fabric=(clos:radix=4,levels=2,rate=400G)", "hosts:nic=rail,fabric=anca"),
            (
                "hosts=6,host=leonardo,fabric=(dragonfly-plus:leaf=2,spine=2,p=4,h=2,g=3,rate=200G),attach=block",
                "hosts:fabric=par",
            ),
        ] {
            let network = network(rest);
            let built = build(&network, routing).expect(routing);
            let terminals = network.num_terminals() as u32;
            for seed in 0..400u32 {
                let mut rng = Rng::stream(7, seed.into());
                let (source, target) = (rng.below(terminals), rng.below(terminals));
                let [mut at, dst] = [source, target].map(|end| network.router_of(TerminalId(end)));
                if at == dst {
                    continue;
                }
                let mut starts = Vec::new();
                built.starts(at, dst, &mut starts);
                let mut state = built.start(at, dst, &Idle, &mut rng);
                assert!(starts.contains(&state));
                while at != dst {
                    let (mut moves, mut likely) = (Vec::new(), Vec::new());
                    built.moves(at, state, dst, &mut moves);
                    let hop = built.choose(at, state, dst, &Idle, &mut rng);
                    assert!(moves.contains(&hop), "{rest}: {hop:?} of {moves:?}");
                    if built.oblivious() {
                        built.likely_moves(at, state, dst, &mut likely);
                        let sum: f64 = likely.iter().map(|(chance, _)| chance).sum();
                        assert!((sum - 1.0).abs() < 1e-9 && likely.iter().all(|(_, hop)| moves.contains(hop)));
                    }
                    let Peer::Port(peer) = network.ports_of(at)[usize::from(hop.port)].peer else {
                        panic!("a terminal")
                    };
                    (at, state) = (network.ports()[peer.index()].router, hop.next);
                }
            }
        }
    }

    /// Packets pass routers of their host before those of the fabric, in which heads decide again.
    #[test]
    fn heads_decide_again_in_the_fabric() {
        let dragonfly = "(dragonfly:a=2,h=1,p=2,rate=100G)";
        for (host, routing, again) in [
            ("leonardo", "hosts:fabric=min", Again::Never),
            ("leonardo", "hosts:fabric=ugal-l", Again::Revocable(2)),
            ("leonardo", "hosts:fabric=par", Again::Revocable(2)),
            // The second accelerator of a module has its interface at the first one.
            ("mi250x-8", "hosts:fabric=ugal-l", Again::Revocable(3)),
            ("leonardo", "hosts:nic=spread,fabric=ugal-l", Again::Revocable(3)),
        ] {
            let network = network(&format!("hosts=3,host={host},fabric={dragonfly},attach=block"));
            let built = build(&network, routing).expect(routing);
            assert_eq!(built.decides_again(), again, "{host}, {routing}");
        }
        let rows = network("hosts=4,host=cray-ex,fabric=(hyperx:3x3,p=2,rate=200G),attach=block");
        for (routing, again) in [("par", Again::Revocable(3)), ("dimwar", Again::Revocable(u16::MAX))] {
            let built = build(&rows, &format!("hosts:fabric={routing}")).expect("offered");
            assert_eq!(built.decides_again(), again, "{routing}");
        }
    }

    #[test]
    fn the_fabric_has_as_many_vcs_as_without_hosts() {
        for (rest, routing, vcs) in [
            // A class of the fabric, and two and six of hosts.
            ("hosts=4,host=hgx-h100,fabric=(clos:radix=4,levels=2,rate=400G)", "hosts", 3 * 4),
            ("hosts=4,host=summit,fabric=(clos:radix=4,levels=2,rate=400G),attach=block", "hosts", 7 * 4),
            ("hosts=3,host=leonardo,fabric=(dragonfly:a=2,h=1,p=2,rate=100G),attach=block", "hosts:fabric=par", 7 * 2),
            ("hosts=4,host=tpu-v4,fabric=(torus:4,rate=100G)", "hosts", 6 * 2),
        ] {
            let network = network(rest);
            let built = build(&network, routing).expect(routing);
            assert_eq!(built.vcs(), vcs, "{rest}, {routing} has {} classes", built.classes());
        }
    }

    /// A view that reports the port and class of each request.
    struct Asked;

    impl View for Asked {
        fn copy(&self) -> Self {
            Self
        }

        fn occupancy(&self, port: u32) -> u32 {
            port
        }

        fn queue_of(&self, port: u32, class: u8) -> u32 {
            100 * port + u32::from(class)
        }

        fn published(&self, port: PortId) -> u32 {
            port.0
        }

        fn wanted(&self, what: u32) -> u32 {
            what
        }

        fn interval(&self) -> u32 {
            0
        }

        fn free_vcs(&self, port: u32, class: u8) -> u32 {
            100 * port + u32::from(class)
        }

        fn buffer(&self, class: u8) -> u32 {
            class.into()
        }
    }

    #[test]
    fn the_fabric_sees_its_own_ports_and_classes() {
        let classes = FabricClasses { escape: 1, of_hosts: 4 };
        let view = FabricView {
            view: &Asked,
            local: &[NO, 0, 1],
            published: &[7, 8, 9],
            first_want: 20,
            leaves_by: 2,
            classes,
        };
        assert_eq!((view.occupancy(2), view.queue(1), view.published(PortId(2)), view.leaves_by()), (1, 0, 9, 2));
        // Copies of the fabric share no counts.
        assert_eq!((view.wanted(3), view.wanted_by_all(3..5)), (23, 23 + 24));
        assert_eq!([0, 1, 2].map(|class| view.free_vcs(2, class)), [100, 105, 106]);
        assert_eq!([0, 1, 2].map(|class| view.queue_of(1, class)), [0, 5, 6]);
        assert_eq!([0, 1].map(|class| view.buffer(class)), [0, 5]);
        assert!(!view.has_free_vc(1, 0) && view.has_free_vc(1, 1));
        for local in [&[3, 4, 5, 6], &[6, 3, 5, 4]] {
            let view = FabricView { view: &Asked, local, published: &[], first_want: 0, leaves_by: 0, classes };
            let row = |except| OutputRow { first: 1, count: 3, from: 2, except };
            let least = |except| (1..4).filter(|port| port - 1 != except).min_by_key(|&port| view.queue(port));
            assert_eq!([0, 1, 9].map(|except| view.shortest_queue(&row(except))), [0, 1, 9].map(least));
        }
    }

    /// A port that was trimmed.
    const NO: u16 = u16::MAX;

    /// A view of idle routers that notes what is wanted.
    struct Wanted(RefCell<Vec<u32>>);

    impl View for &Wanted {
        fn copy(&self) -> Self {
            self
        }

        fn occupancy(&self, _port: u32) -> u32 {
            0
        }

        fn published(&self, _port: PortId) -> u32 {
            0
        }

        fn want(&self, what: u32) {
            self.0.borrow_mut().push(what);
        }

        fn interval(&self) -> u32 {
            0
        }

        fn free_vcs(&self, _port: u32, _class: u8) -> u32 {
            1
        }

        fn buffer(&self, _class: u8) -> u32 {
            1
        }
    }

    #[test]
    fn packets_on_two_planes_want_different_things() {
        let fabric = "(dragonfly:a=4,h=2,p=2,rate=200G)";
        let planes = network(&format!("hosts=36,host=cray-ex,fabric={fabric},attach=plane,planes=2"));
        let routing = build(&planes, "hosts:fabric=par").expect("a routing of the fabric");
        let cluster = cluster_of(&planes).expect("it is one");
        let mut wanted = [(); 2].map(|()| BTreeSet::new());
        let dst = RouterId(0);
        for at in (cluster.first_fabric()..planes.num_routers() as u32).map(RouterId) {
            let (copy, _) = cluster.place(at);
            let view = Wanted(RefCell::new(Vec::new()));
            let out = (0..).zip(&cluster.ports).find(|(_, port)| port.copy == copy).expect("a host is on each plane").0;
            _ = routing.choose(at, not_begun(out), dst, &&view, &mut Rng::stream(1, at.0.into()));
            wanted[copy as usize].extend(view.0.take());
        }
        // From each of nine groups to that of the destination.
        assert_eq!(wanted.each_ref().map(BTreeSet::len), [9, 9]);
        assert!(wanted[0].is_disjoint(&wanted[1]));
        assert!(wanted.iter().flatten().all(|&what| what < routing.wants()));
    }

    #[test]
    fn mistakes_are_sentences() {
        let rails = network(&format!("hosts=4,host=hgx-h100,fabric={CLOS}"));
        for (name, words) in [
            ("hosts:nic=rial", "did you mean 'rail'"),
            ("hosts:fabric=ncaa", "did you mean 'nca'"),
            ("hosts:fabric=dor", "does not offer the routing 'dor'"),
        ] {
            let sentence = build(&rails, name).err().expect(name).to_string();
            assert!(sentence.contains(words), "{name}: {sentence}");
        }
        let plain = topology::build("mesh:4x4").expect("small");
        assert!(build(&plain, "hosts").is_err());
    }
}
