//! The network: routers, terminals, ports and links. The one structure that everything else reads.
//!
//! A network is immutable once built. The ports of all routers are in one array, router by router; a *port id*
//! is a place in that array. Ports are bidirectional: the output side of port `p` feeds the input side of its peer.
//! A *channel* is one direction of a link, named by the port that sends into it.

mod levels;
mod wires;

pub use levels::{Level, NO_PART, levels};
pub use wires::Wire;

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result, several};
use crate::fill::filled;
use crate::provenance::Permutation;
use wires::Wires;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub u32);

        impl $name {
            /// The id as an index into an array.
            #[inline(always)]
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

id!(/// A router.
    RouterId);
id!(/// A terminal: a network interface that injects and ejects packets.
    TerminalId);
id!(/// A port of a router, counted over the whole network.
    PortId);
id!(/// An undirected link between two routers; parallel links have ids of their own.
    LinkId);

/// The class of a link: decides its latency, cable and price.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LinkClass {
    /// Between a router and a terminal.
    Terminal,
    /// Within a group, or any link of a family without a hierarchy.
    Local,
    /// Between groups or supernodes.
    Global,
    /// Between two levels of a tree.
    Up,
    /// Between two routers of one node.
    Internal,
    /// Between a network interface of a host and a router of the fabric.
    Nic,
}

impl LinkClass {
    /// All classes, in the order of their discriminants.
    pub const ALL: [LinkClass; 6] =
        [LinkClass::Terminal, LinkClass::Local, LinkClass::Global, LinkClass::Up, LinkClass::Internal, LinkClass::Nic];

    /// The name that users type.
    pub fn name(self) -> &'static str {
        match self {
            LinkClass::Terminal => "terminal",
            LinkClass::Local => "local",
            LinkClass::Global => "global",
            LinkClass::Up => "up",
            LinkClass::Internal => "internal",
            LinkClass::Nic => "nic",
        }
    }

    /// The class that users call `name`.
    pub fn from_name(name: &str) -> Option<LinkClass> {
        Self::ALL.into_iter().find(|class| class.name() == name)
    }
}

/// What a port is connected to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Peer {
    /// Another router's port.
    Port(PortId),
    /// A terminal.
    Terminal(TerminalId),
}

/// One port of a router.
#[derive(Debug, Clone, Copy)]
pub struct Port {
    /// The router that owns the port.
    pub router: RouterId,
    /// What is at the other end.
    pub peer: Peer,
    /// The class of its link.
    pub class: LinkClass,
}

/// An undirected link between two routers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Link {
    /// The ports at its two ends; the first belongs to the router with the smaller id (or is the smaller port).
    pub ends: [PortId; 2],
    /// Its class.
    pub class: LinkClass,
}

/// What a family knows of its own network beyond the graph: parameters that closed-form routings, traffic
/// patterns and drawings ask for, by downcasting with [`Network::structure`].
pub trait Structure: Any + Send + Sync + fmt::Debug {
    /// Coordinates of the routers, where the family has any.
    fn grid(&self) -> Option<&Grid> {
        None
    }

    /// How the routers of each line of [`Structure::grid`] are linked, where links join routers that differ in one
    /// coordinate: dimension-order routing follows.
    fn lattice(&self) -> Option<Lattice> {
        None
    }

    /// The bias, in flits, by which a head of `ugal-l` that was denied a VC compares the queues of its two paths by
    /// themselves; `None` if hops weigh them as before. Buffers end queues: past saturation all are as long, and times
    /// hops the minimal path would always win. That harms where minimal paths alone carry less than uniform traffic.
    fn bias_when_refused(&self) -> Option<u32> {
        None
    }

    /// True if `par` makes detours only where a minimal path's global links are congested more than others of its group.
    fn compares_global_links(&self) -> bool {
        false
    }

    /// True if the patterns `neighbor` and `tornado` move the coordinates of [`Structure::grid`]; else they move
    /// terminals on the ring of their ids.
    fn moves_by_coordinates(&self) -> bool {
        false
    }

    /// The number of routers in a group, where routers come in groups of consecutive ids (dragonfly groups, FleX
    /// layers).
    fn group_size(&self) -> Option<u32> {
        None
    }

    /// The group that a router is in, or what corresponds to one: a layer of FleX, a column of Slim Fly.
    fn group_of(&self, router: RouterId) -> Option<u32> {
        self.group_size().map(|size| router.0 / size)
    }

    /// The cabinet of a router by the family's own packaging, where that does not follow [`Structure::grid`].
    fn cabinet(&self, _router: RouterId) -> Option<u32> {
        None
    }

    /// The dimension of [`Structure::grid`] that a cabinet stacks: its coordinate is a height. By default the third.
    fn upright_dimension(&self) -> usize {
        2
    }

    /// The dimension of [`Structure::grid`] along which routers are parts of one node, where a node has several: they
    /// share a place on the floor, and what moves coordinates leaves this one alone.
    fn node_dimension(&self) -> Option<usize> {
        None
    }

    /// The level of a router in a tree, 0 for the leaves; in a network that is no tree, nothing.
    fn level(&self, _router: RouterId) -> Option<u32> {
        None
    }

    /// Sides (routers of a column, columns of a block, blocks) where a family is best drawn as blocks of columns, ids
    /// running through a column first.
    fn blocks(&self) -> Option<[u32; 3]> {
        None
    }

    /// The length of a cable between two routers of one cabinet, in metres.
    fn cabinet_cable_m(&self) -> f64 {
        2.0
    }

    /// True if every router can be mapped onto every other by an automorphism that respects terminals.
    fn vertex_transitive(&self) -> bool {
        false
    }

    /// One router of each orbit under such automorphisms, with the number of routers in its orbit; empty if the family
    /// does not know. What depends on a router only up to symmetry then needs to be computed for these alone.
    fn orbits(&self) -> Vec<(RouterId, u32)> {
        Vec::new()
    }

    /// What of the network is parts of hosts.
    fn host_parts(&self) -> HostParts {
        HostParts::default()
    }

    /// The hosts that its terminals are parts of, with as many terminals each, one host behind the other.
    fn hosts(&self) -> Option<Hosts> {
        None
    }

    /// The part of the network that is bought with it, of which hosts are no part: their interfaces are its terminals.
    fn bought(&self) -> Option<&Network> {
        None
    }

    /// Where terminals of hosts are plugged into a fabric.
    fn plugged(&self) -> Option<Plugs<'_>> {
        None
    }

    /// What a terminal sends into the network at load 1, in Gb/s, where that is not the rate of its own link.
    fn injection_gbps(&self) -> Option<f64> {
        None
    }

    /// How the network came about, where its cables are those of another one, permuted.
    fn permutation(&self) -> Option<&Permutation> {
        None
    }

    /// What a user should know of the way the family makes the network, a sentence each.
    fn notes(&self) -> &[String] {
        &[]
    }

    /// The sides of the grid of all terminals (x fastest) and the tile of it that a router holds, where terminals
    /// have coordinates of their own.
    fn terminal_grid(&self) -> Option<TerminalGrid> {
        None
    }

    /// The permutation of terminals, or the groups, under which the family carries least. Each family documents the
    /// load that follows on its busiest channel.
    fn worst_case(&self) -> WorstCase {
        WorstCase::LongestMatching
    }
}

/// Hosts of equally many terminals each, which follow one another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hosts {
    /// Terminals of a host.
    pub terminals: u32,
    /// What one of them sends to others of its host at most, in Gb/s.
    pub inside_gbps: f64,
}

/// A fabric, and where each terminal of hosts is plugged into it.
#[derive(Debug)]
pub struct Plugs<'a> {
    /// The fabric without hosts, of which there may be several copies.
    pub fabric: &'a Network,
    /// By terminal: the copy, and the router of the fabric behind an interface that is nearest to the terminal.
    pub at: Vec<(u32, RouterId)>,
}

/// What of a network is parts of hosts: the rest is the fabric that joins them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HostParts {
    /// Routers: accelerators, and the switches within hosts.
    pub routers: usize,
    /// Links within hosts.
    pub links: usize,
    /// Links between interfaces and the fabric: terminals' links as far as the fabric goes.
    pub interfaces: usize,
}

/// What a drawing asks of a family.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Shape {
    /// The sides of the grid of routers, where they have coordinates.
    pub grid: Option<Vec<u32>>,
    /// Routers of a group, where they come in groups of consecutive ids.
    pub group_size: Option<u32>,
    /// Routers of a column, columns of a block, and blocks, where the family is best drawn so.
    pub blocks: Option<[u32; 3]>,
    /// The level of each router, 0 for the leaves, of a tree.
    pub levels: Option<Vec<u32>>,
}

/// The structure of a network of which nothing is known beyond the graph.
#[derive(Debug)]
pub(crate) struct GraphAlone;

impl Structure for GraphAlone {}

/// How the routers of a line of a grid are linked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lattice {
    /// Each to the next one and to the one before.
    Mesh,
    /// The same, the last one also to the first.
    Torus,
    /// Each to every other.
    Complete,
}

/// Traffic that is hard on a network, whatever the routing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorstCase {
    /// Every coordinate of the grid of routers moves by ceil(k / 2) - 1 modulo its side k, but by 1 at least.
    Tornado,
    /// Every coordinate c of the grid of routers becomes k - 1 - c.
    Complement,
    /// Any terminal of the next group of routers.
    NextGroup,
    /// The terminal half of all terminals further on: in a tree that numbers them in its order, across the top.
    AcrossTheTop,
    /// The same terminal of another router: that of each router.
    Routers(Vec<RouterId>),
    /// A matching of routers that are far from each other.
    LongestMatching,
    /// What the fabric is worst at, between the hosts that are plugged into it.
    OfFabric,
}

/// Where a network comes from that no spec alone can build again, and what was noticed when it was read.
#[derive(Debug, Clone)]
pub struct Source {
    /// The SHA-256 of the file's bytes or of the graph that was given, in hexadecimal digits.
    pub sha256: String,
    /// The routers' names in the source by router id; `None` where they are the ids themselves.
    pub names: Option<Vec<String>>,
    /// Sentences that a user should read: parallel links, renumbered ids, what was ignored.
    pub notes: Vec<String>,
    /// What the network is called in a subnet of InfiniBand that it comes from.
    pub fabric: Option<Fabric>,
    /// The spec of the network that was written into the file, once the graph has been found to be the same.
    pub written_as: Option<String>,
    /// Where its routers stand, if the file gives it.
    pub floor: Option<RouterPlacement>,
}

/// Where routers stand by the file that they come from.
#[derive(Debug, Clone)]
pub struct RouterPlacement {
    /// The cabinet of each router.
    pub cabinets: Vec<u32>,
    /// The rules of the layout that was written, if there was one.
    pub rules: Option<String>,
    /// The network that was laid out, if it can be built and has the same routers: its cables may have moved since.
    pub of: Option<Network>,
}

/// GUIDs and numbers of ports in a subnet of InfiniBand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fabric {
    /// The GUIDs of switches by router id.
    pub switches: Vec<u64>,
    /// The GUIDs of the ports of channel adapters by terminal id.
    pub adapters: Vec<u64>,
    /// The GUIDs of ports of nodes that the subnet has and the network has not: aggregation nodes of switches, routers.
    pub left_out: Vec<u64>,
    /// The numbers of ports, which count from 1 in each switch and may have gaps, in the order of [`Network::ports`].
    pub numbers: Vec<u16>,
}

/// Mixed-radix coordinates: the first dimension varies fastest in router ids.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grid {
    /// Routers in each dimension.
    pub sides: Vec<u32>,
}

impl Grid {
    /// The number of positions.
    pub fn len(&self) -> usize {
        self.sides.iter().map(|&s| s as usize).product()
    }

    /// True if there is no position.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The coordinates of position `id`.
    pub fn coordinates(&self, id: u32) -> Vec<u32> {
        let mut rest = id;
        self.sides
            .iter()
            .map(|&side| {
                let digit = rest % side;
                rest /= side;
                digit
            })
            .collect()
    }

    /// The position at `coordinates`.
    pub fn id(&self, coordinates: &[u32]) -> u32 {
        coordinates.iter().zip(&self.sides).rev().fold(0, |id, (&c, &side)| id * side + c)
    }
}

/// How terminals are on a grid: a router holds a tile of `tile` terminals, `sides[d] * tile[d]` in dimension d.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TerminalGrid {
    /// The routers' grid.
    pub routers: Grid,
    /// Terminals of one router in each dimension; their product is the concentration.
    pub tile: Vec<u32>,
}

/// An interconnection network. See the module's documentation.
#[derive(Clone)]
pub struct Network {
    spec: String,
    family: &'static str,
    structure: Arc<dyn Structure>,
    source: Option<Arc<Source>>,
    machine: Option<Arc<str>>,
    port_base: Vec<u32>,
    ports: Vec<Port>,
    terminal_ports: Vec<PortId>,
    links: Vec<Link>,
    /// The latency in cycles of each port's link, 0 where it has none of its own; empty if none has.
    latencies: Vec<u32>,
    wires: Wires,
    /// True if something is stated of the links of terminals by themselves: each terminal has one then.
    terminal_wires: bool,
}

impl fmt::Debug for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Network({}: {}, {})",
            self.spec,
            several(self.num_routers(), "router"),
            several(self.num_terminals(), "terminal")
        )
    }
}

impl Network {
    /// A network whose family can compute every port, for large ones: it needs no list of links, and all cores fill in
    /// the ports. Each of `degrees.len()` routers has `p` terminals and `degrees[router]` links, in slots 0, 1, …,
    /// after the terminals. `end` maps a router and a slot to the router and slot at the other end of the link.
    ///
    /// # Errors
    /// [`Error::TooLarge`] if there are more ports than ids.
    pub(crate) fn by_places(
        spec: String,
        (family, structure): (&'static str, Arc<dyn Structure>),
        p: u32,
        degrees: &[u32],
        end: impl Fn(u32, u32) -> (u32, u32, LinkClass) + Sync,
    ) -> Result<Self> {
        let mut port_base = Vec::with_capacity(degrees.len() + 1);
        let mut total = 0u64;
        for &degree in degrees {
            port_base.push(total as u32);
            total += u64::from(p) + u64::from(degree);
            check_ports(&spec, total)?;
        }
        port_base.push(total as u32);
        let (end, base) = (&end, &port_base);
        let radices: Vec<u32> = degrees.iter().map(|degree| p + degree).collect();
        let ports: Vec<Port> = filled(&radices, |router| {
            let (own, of) = (router as u32, RouterId(router as u32));
            let terminal = (0..p).map(move |i| Peer::Terminal(TerminalId(own * p + i)));
            let links = (0..degrees[router]).map(move |place| {
                let (to, there, class) = end(own, place);
                Port { router: of, peer: Peer::Port(PortId(base[to as usize] + p + there)), class }
            });
            terminal.map(move |peer| Port { router: of, peer, class: LinkClass::Terminal }).chain(links)
        });
        // A link stands where its first end does.
        let own = |router: usize| {
            let links = (port_base[router]..port_base[router + 1]).map(|port| (port, &ports[port as usize]));
            links.filter_map(|(port, at)| match at.peer {
                Peer::Port(peer) if peer.0 > port => Some(Link { ends: [PortId(port), peer], class: at.class }),
                _ => None,
            })
        };
        let counts: Vec<u32> = (0..degrees.len()).into_par_iter().map(|router| own(router).count() as u32).collect();
        let links = filled(&counts, own);
        let terminals = degrees.len() as u32 * p;
        let terminal_port = |terminal: u32| PortId(port_base[(terminal / p) as usize] + terminal % p);
        let terminal_ports = (0..terminals).map(terminal_port).collect();
        Ok(Self {
            spec,
            family,
            structure,
            source: None,
            machine: None,
            port_base,
            ports,
            terminal_ports,
            links,
            latencies: Vec::new(),
            wires: Wires::default(),
            terminal_wires: false,
        })
    }

    /// The spec that built it.
    pub fn spec(&self) -> &str {
        &self.spec
    }

    /// The family's name; [`faults::FAMILY`](crate::faults::FAMILY) once links or routers have failed.
    pub fn family(&self) -> &'static str {
        self.family
    }

    /// The family's own structure, if it is a `T`.
    pub fn structure<T: Structure>(&self) -> Option<&T> {
        let any: &dyn Any = &*self.structure;
        any.downcast_ref()
    }

    /// The same, to be kept.
    pub(crate) fn shared_structure<T: Structure>(&self) -> Option<Arc<T>> {
        let any: Arc<dyn Any + Send + Sync> = self.structure.clone();
        any.downcast().ok()
    }

    /// The family's structure, for what every family can answer.
    pub fn any_structure(&self) -> &dyn Structure {
        &*self.structure
    }

    /// The network as it is bought: before failures, and without the parts of hosts.
    pub fn bought(&self) -> &Self {
        let whole = self.intact();
        whole.structure.bought().unwrap_or(whole)
    }

    /// What a drawing asks of the family.
    pub fn shape(&self) -> Shape {
        Shape {
            grid: self.structure.grid().map(|grid| grid.sides.clone()),
            group_size: self.structure.group_size(),
            blocks: self.structure.blocks(),
            levels: self.routers().map(|router| self.structure.level(router)).collect(),
        }
    }

    /// Its origin, if a spec alone does not describe it: a file, or a graph that a program gave.
    pub fn source(&self) -> Option<&Source> {
        self.source.as_deref()
    }

    /// The same network as the machine that `spec` names.
    pub(crate) fn of_machine(self, spec: &str) -> Self {
        Self { spec: spec.to_owned(), machine: Some(spec.into()), ..self }
    }

    /// The spec of the machine that it is, if it is one.
    pub(crate) fn machine(&self) -> Option<&str> {
        self.machine.as_deref()
    }

    /// The same network, from a source.
    pub(crate) fn with_source(self, source: Source) -> Self {
        Self { source: Some(Arc::new(source)), ..self }
    }

    /// The same network, of which something else is known beside the graph.
    pub(crate) fn with_structure(self, structure: Box<dyn Structure>) -> Self {
        Self { structure: Arc::from(structure), ..self }
    }

    /// What a user should know of the way the network was read and made, a sentence each.
    pub fn notes(&self) -> Vec<String> {
        let read = self.source().map_or(&[][..], |source| &source.notes);
        read.iter().chain(self.structure.notes()).cloned().collect()
    }

    /// The spec that builds the same graph without the file that it comes from, if one does.
    pub fn written_as(&self) -> Option<&str> {
        self.source().map_or(Some(&self.spec), |source| source.written_as.as_ref()).map(String::as_str)
    }

    /// The same network under the spec of `self` and from its source, with what the family of `known` knows of it, its
    /// ids of terminals and its order of ports. `twins` has for each link of `known` the same one of `self`, whose
    /// latency it gets.
    pub(crate) fn known_as(&self, known: &Self, twins: &[usize]) -> Self {
        let mut network = Self { spec: self.spec.clone(), source: self.source.clone(), ..known.clone() };
        if !self.wires.are_unsaid() {
            network = network.with_wires_of(self, twins);
        }
        if !self.latencies.is_empty() {
            network.latencies = vec![0; network.ports.len()];
            for (link, &twin) in known.links.iter().zip(twins) {
                let latency = self.latencies[self.links[twin].ends[0].index()];
                link.ends.iter().for_each(|port| network.latencies[port.index()] = latency);
            }
        }
        network
    }

    /// The same network with the wires of `other`, which has the same terminals at the same routers, and for each link
    /// of this one its twin.
    fn with_wires_of(self, other: &Self, twins: &[usize]) -> Self {
        let mut of_port: Vec<Wire> = vec![Wire::UNSAID; self.ports.len()];
        for (link, &twin) in self.links.iter().zip(twins) {
            link.ends.iter().for_each(|port| of_port[port.index()] = other.wire(other.links[twin].ends[0]));
        }
        for router in self.routers() {
            for (own, theirs) in self.terminals_of(router).zip(other.terminals_of(router)) {
                of_port[self.terminal_port(own).index()] = other.wire(other.terminal_port(theirs));
            }
        }
        let terminal_wires = other.terminal_wires;
        let known = |port: PortId, own: Wire| of_port[port.index()].or(own);
        let network = self.with_wires(known);
        Self { terminal_wires: terminal_wires || network.terminal_wires, ..network }
    }

    /// The same network, the wire of each port replaced by what `wire` returns for the port and the wire that it has.
    pub(crate) fn with_wires(self, wire: impl Fn(PortId, Wire) -> Wire) -> Self {
        let ports = (0..self.ports.len() as u32).map(PortId);
        let wires = Wires::of_ports(ports.map(|port| wire(port, self.wires.of(port))));
        Self { wires, ..self }
    }

    /// The same network, each terminal with a link of its own.
    pub(crate) fn with_terminal_wires(self) -> Self {
        Self { terminal_wires: true, ..self }
    }

    /// What the network states about the link at `port`: its rate, delay and length.
    #[inline]
    pub fn wire(&self, port: PortId) -> Wire {
        self.wires.of(port)
    }

    /// True if the network states anything of a link by itself.
    pub fn has_wires(&self) -> bool {
        !self.wires.are_unsaid()
    }

    /// True if links have delays in nanoseconds.
    pub fn has_delays(&self) -> bool {
        self.wires.have_delays()
    }

    /// True if links have rates; then all have one, those of terminals among them.
    pub fn has_rates(&self) -> bool {
        self.wires.have_rates()
    }

    /// The rate of the link at `port` in each direction, in Gb/s, if links have rates.
    pub fn gbps(&self, port: PortId) -> Option<f64> {
        self.wire(port).gbps
    }

    /// True if the link between a terminal and its router counts: routers have several terminals, or terminals' links
    /// have attributes of their own. Else a terminal and its router are one board.
    pub fn has_terminal_links(&self) -> bool {
        self.terminal_wires || self.routers().any(|router| self.terminals_of(router).nth(1).is_some())
    }

    /// The rate of the fastest link that counts, in Gb/s, if links have rates.
    pub fn fastest_gbps(&self) -> Option<f64> {
        let between = self.links.iter().filter_map(|link| self.gbps(link.ends[0]));
        let terminals = self.terminal_ports.iter().filter_map(|&port| self.gbps(port));
        let of_terminals = if self.has_terminal_links() || self.links.is_empty() { usize::MAX } else { 0 };
        between.chain(terminals.take(of_terminals)).reduce(f64::max)
    }

    /// True if what each terminal sends is limited by its own rate: by its link where it has one, or by all links of its
    /// accelerator together.
    pub fn paces_terminals(&self) -> bool {
        self.has_terminal_links() || (self.has_rates() && self.any_structure().hosts().is_some())
    }

    /// The rate at which a flit takes a cycle, in Gb/s, if links have rates: that of the fastest link, or of the
    /// accelerator that sends most by all of its links together.
    pub fn clock_gbps(&self) -> Option<f64> {
        let of_terminals = if self.paces_terminals() { usize::MAX } else { 0 };
        let terminals = self.terminal_ports.iter().take(of_terminals).filter_map(|&port| self.gbps(port));
        terminals.chain(self.fastest_gbps()).reduce(f64::max)
    }

    /// What a terminal sends into the network at load 1, in Gb/s, if links have rates; their mean where terminals
    /// differ.
    pub fn injection_gbps(&self) -> Option<f64> {
        if !self.has_rates() || self.terminal_ports.is_empty() {
            return None;
        }
        self.structure.injection_gbps().or_else(|| {
            let rates = || self.terminal_ports.iter().filter_map(|&port| self.gbps(port));
            let first = rates().next()?;
            let mean = || rates().sum::<f64>() / self.terminal_ports.len() as f64;
            Some(if rates().all(|rate| rate == first) { first } else { mean() })
        })
    }

    /// What `terminal` sends at load 1, in parts of [`Network::injection_gbps`].
    pub fn injection_share(&self, terminal: TerminalId, injection_gbps: Option<f64>) -> f64 {
        match (self.structure.injection_gbps(), injection_gbps, self.gbps(self.terminal_port(terminal))) {
            (None, Some(mean), Some(own)) => own / mean,
            _ => 1.0,
        }
    }

    /// What the channel that `port` sends into carries, in parts of [`Network::injection_gbps`]; 1 without rates.
    pub fn capacity(&self, port: PortId, injection_gbps: Option<f64>) -> f64 {
        match (self.gbps(port), injection_gbps) {
            (Some(own), Some(unit)) => own / unit,
            _ => 1.0,
        }
    }

    /// One router of each orbit under the symmetries that the family knows of, and the size of the orbit; empty if it
    /// knows of none.
    pub fn orbits(&self) -> Vec<(RouterId, u32)> {
        if self.structure.vertex_transitive() && self.num_routers() > 0 {
            return vec![(RouterId(0), self.num_routers() as u32)];
        }
        self.structure.orbits()
    }

    /// Number of routers.
    pub fn num_routers(&self) -> usize {
        self.port_base.len() - 1
    }

    /// Number of terminals.
    pub fn num_terminals(&self) -> usize {
        self.terminal_ports.len()
    }

    /// All router ids.
    pub fn routers(&self) -> impl ExactSizeIterator<Item = RouterId> + Clone + use<> {
        (0..self.num_routers() as u32).map(RouterId)
    }

    /// All ports of the network.
    pub fn ports(&self) -> &[Port] {
        &self.ports
    }

    /// The id of the first port of `router`; its ports are consecutive.
    #[inline(always)]
    pub fn port_base(&self, router: RouterId) -> u32 {
        self.port_base[router.index()]
    }

    /// The ports of `router`: terminals first, then links in the family's order.
    pub fn ports_of(&self, router: RouterId) -> &[Port] {
        let (first, end) = (self.port_base[router.index()], self.port_base[router.index() + 1]);
        &self.ports[first as usize..end as usize]
    }

    /// The number of ports in use at `router`, terminals included.
    pub fn radix_of(&self, router: RouterId) -> usize {
        self.ports_of(router).len()
    }

    /// The largest number of ports in use at a router, terminals included.
    pub fn radix(&self) -> usize {
        self.routers().map(|r| self.radix_of(r)).max().unwrap_or(0)
    }

    /// The largest number of ports to other routers.
    pub fn network_radix(&self) -> usize {
        self.routers().map(|r| self.neighbors(r).count()).max().unwrap_or(0)
    }

    /// The local port number (place among its router's ports) and router of a port.
    pub fn local_port(&self, port: PortId) -> (RouterId, u32) {
        let router = self.ports[port.index()].router;
        (router, port.0 - self.port_base(router))
    }

    /// The terminals of `router`, by local port.
    pub fn terminals_of(&self, router: RouterId) -> impl Iterator<Item = TerminalId> + '_ {
        self.ports_of(router).iter().filter_map(|port| match port.peer {
            Peer::Terminal(terminal) => Some(terminal),
            Peer::Port(_) => None,
        })
    }

    /// True if `router` has a terminal.
    pub fn has_terminals(&self, router: RouterId) -> bool {
        self.terminals_of(router).next().is_some()
    }

    /// (local port, neighbour) of `router`, one for each link: parallel links stand as many times as they are.
    pub fn neighbors(&self, router: RouterId) -> impl Iterator<Item = (u32, RouterId)> + '_ {
        self.ports_of(router).iter().enumerate().filter_map(|(local, port)| match port.peer {
            Peer::Port(peer) => Some((local as u32, self.ports[peer.index()].router)),
            Peer::Terminal(_) => None,
        })
    }

    /// The router port that `terminal` is attached to.
    #[inline(always)]
    pub fn terminal_port(&self, terminal: TerminalId) -> PortId {
        self.terminal_ports[terminal.index()]
    }

    /// The router that `terminal` is attached to.
    #[inline(always)]
    pub fn router_of(&self, terminal: TerminalId) -> RouterId {
        self.ports[self.terminal_port(terminal).index()].router
    }

    /// The links between routers, each once, in the family's order.
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// The routers of a link: those of its first and of its second end.
    pub fn routers_of(&self, link: &Link) -> [RouterId; 2] {
        link.ends.map(|port| self.ports[port.index()].router)
    }

    /// The latency in cycles of the link at `port`, if it has one of its own (a file may give it) and does not follow
    /// its class.
    #[inline]
    pub fn own_latency(&self, port: PortId) -> Option<u32> {
        self.latencies.get(port.index()).copied().filter(|&latency| latency > 0)
    }

    /// The names of the routers in the file or graph that the network comes from, where they are not the ids.
    pub fn router_names(&self) -> Option<&[String]> {
        self.source().and_then(|source| source.names.as_deref())
    }

    /// The same routers, terminals, ports and cables, with the ends of the cables in other ports: `ends` are the two of
    /// each link, and together every port that a link was in. Classes and latencies go with the cables.
    pub(crate) fn rewired(
        &self,
        ends: &[[PortId; 2]],
        spec: String,
        family: &'static str,
        structure: Box<dyn Structure>,
    ) -> Self {
        let mut network =
            Self { spec, family, structure: Arc::from(structure), source: None, machine: None, ..self.clone() };
        for ((link, old), &[a, b]) in network.links.iter_mut().zip(&self.links).zip(ends) {
            for (port, peer) in [(a, b), (b, a)] {
                let port = &mut network.ports[port.index()];
                (port.peer, port.class) = (Peer::Port(peer), old.class);
            }
            link.ends = if a < b { [a, b] } else { [b, a] };
            network.wires.move_to([a, b], &self.wires, old.ends[0]);
            if !self.latencies.is_empty() {
                let latency = self.latencies[old.ends[0].index()];
                [a, b].iter().for_each(|port| network.latencies[port.index()] = latency);
            }
        }
        network
    }

    /// What the network is called in the subnet of InfiniBand that it comes from; nothing where links have failed.
    pub fn fabric(&self) -> Option<&Fabric> {
        let fabric = self.source().and_then(|source| source.fabric.as_ref())?;
        (fabric.numbers.len() == self.ports.len()).then_some(fabric)
    }

    /// The same routers and terminals with some of the links, under another name. Ids of routers and terminals stay;
    /// ports and links are counted again, in the same order.
    pub(crate) fn with_links_of(
        &self,
        keep: impl Fn(LinkId) -> bool,
        spec: String,
        family: &'static str,
        structure: Arc<dyn Structure>,
    ) -> Self {
        let mut gone = vec![false; self.ports.len()];
        for (_, link) in (0..).zip(&self.links).filter(|(id, _)| !keep(LinkId(*id))) {
            link.ends.iter().for_each(|port| gone[port.index()] = true);
        }
        // The ports before each one that stay: its new id, if it stays itself.
        let mut stay = 0;
        let mut new_id = Vec::with_capacity(gone.len());
        for &gone in &gone {
            new_id.push(stay);
            stay += u32::from(!gone);
        }
        let moved = |port: PortId| PortId(new_id[port.index()]);
        let ports = self.ports.iter().zip(&gone).filter(|(_, gone)| !**gone).map(|(port, _)| match port.peer {
            Peer::Port(peer) => Port { peer: Peer::Port(moved(peer)), ..*port },
            Peer::Terminal(_) => *port,
        });
        let links = self.links.iter().filter(|link| !gone[link.ends[0].index()]);
        let latencies = self.latencies.iter().zip(&gone).filter(|(_, gone)| !**gone).map(|(&latency, _)| latency);
        Self {
            spec,
            family,
            structure,
            source: self.source.clone(),
            machine: None,
            port_base: self.port_base.iter().map(|&port| new_id.get(port as usize).copied().unwrap_or(stay)).collect(),
            ports: ports.collect(),
            terminal_ports: self.terminal_ports.iter().copied().map(moved).collect(),
            links: links.map(|link| Link { ends: link.ends.map(moved), class: link.class }).collect(),
            latencies: latencies.collect(),
            wires: self.wires.kept(|port| !gone[port]),
            terminal_wires: self.terminal_wires,
        }
    }
}

/// Builds a [`Network`]. A router's terminals take its first ports, in order of their ids; its links follow by rank,
/// and in the order of the calls where ranks are equal.
pub struct NetworkBuilder {
    routers: u32,
    /// The router of each terminal.
    terminals: Vec<u32>,
    links: Vec<NewLink>,
    ranked: bool,
    /// Attributes of links, then of terminals' links, from the first on; shorter where the last have none.
    wires: Vec<Wire>,
    terminal_wires: Vec<Wire>,
}

/// A link before it has ports.
struct NewLink {
    ends: [u32; 2],
    ranks: [u32; 2],
    class: LinkClass,
    /// In cycles, or 0 if the class decides.
    latency: u32,
}

impl NetworkBuilder {
    /// `routers` routers without terminals or links.
    pub fn new(routers: u32) -> Self {
        Self {
            routers,
            terminals: Vec::new(),
            links: Vec::new(),
            ranked: false,
            wires: Vec::new(),
            terminal_wires: Vec::new(),
        }
    }

    /// Puts `count` more terminals on each router; the ids of the first ones then are router id * count + i.
    pub fn terminals_everywhere(mut self, count: u32) -> Self {
        self.terminals.reserve(self.routers as usize * count as usize);
        for router in 0..self.routers {
            self.terminals(router, count);
        }
        self
    }

    /// Puts `count` more terminals on one router. Terminal ids follow the calls.
    pub fn terminals(&mut self, router: u32, count: u32) {
        self.terminals.extend(std::iter::repeat_n(router, count as usize));
    }

    /// Puts one more terminal on a router, for numberings of terminals that do not follow the routers.
    pub fn terminal(&mut self, router: u32) {
        self.terminals.push(router);
    }

    /// Terminals so far.
    pub fn num_terminals(&self) -> usize {
        self.terminals.len()
    }

    /// Adds an undirected link. Repeated calls make parallel links.
    pub fn link(&mut self, a: u32, b: u32, class: LinkClass) {
        self.ranked_link((a, 0), (b, 0), class);
    }

    /// Adds an undirected link between two (router, rank): the links of a router take its ports by ascending rank.
    pub fn ranked_link(&mut self, a: (u32, u32), b: (u32, u32), class: LinkClass) {
        self.timed_link(a, b, class, None);
    }

    /// Adds an undirected link between two (router, rank) that may have a latency of its own, in cycles from 1 up.
    pub fn timed_link(&mut self, a: (u32, u32), b: (u32, u32), class: LinkClass, latency: Option<u32>) {
        debug_assert!(a.0 != b.0, "a self-loop at router {}", a.0);
        self.ranked |= a.1 != 0 || b.1 != 0;
        self.links.push(NewLink { ends: [a.0, b.0], ranks: [a.1, b.1], class, latency: latency.unwrap_or(0) });
    }

    /// States what the link that was added last is.
    pub fn wire(&mut self, wire: Wire) {
        self.wires.resize(self.links.len() - 1, Wire::UNSAID);
        self.wires.push(wire);
    }

    /// States what the link of the terminal that was added last is.
    pub fn terminal_wire(&mut self, wire: Wire) {
        self.terminal_wires.resize(self.terminals.len() - 1, Wire::UNSAID);
        self.terminal_wires.push(wire);
    }

    /// Builds the network.
    ///
    /// # Errors
    /// [`Error::TooLarge`] if there are more ports than ids.
    pub fn build(self, spec: String, family: &'static str, structure: Box<dyn Structure>) -> Result<Network> {
        let port_base = self.port_base(&spec)?;
        let total = port_base[self.routers as usize];
        let nowhere = Port { router: RouterId(0), peer: Peer::Terminal(TerminalId(0)), class: LinkClass::Terminal };
        let mut ports = vec![nowhere; total as usize];
        let mut next = port_base[..self.routers as usize].to_vec();
        let terminal_ports: Vec<PortId> = self
            .terminals
            .iter()
            .enumerate()
            .map(|(terminal, &router)| {
                let port = take(&mut next[router as usize]);
                let peer = Peer::Terminal(TerminalId(terminal as u32));
                ports[port as usize] = Port { router: RouterId(router), peer, class: LinkClass::Terminal };
                PortId(port)
            })
            .collect();
        let end_ports = self.end_ports(&port_base, next);
        let mut links = Vec::with_capacity(self.links.len());
        for (link, &[pa, pb]) in self.links.iter().zip(&end_ports) {
            let [a, b] = link.ends;
            ports[pa.index()] = Port { router: RouterId(a), peer: Peer::Port(pb), class: link.class };
            ports[pb.index()] = Port { router: RouterId(b), peer: Peer::Port(pa), class: link.class };
            links.push(Link { ends: if a < b { [pa, pb] } else { [pb, pa] }, class: link.class });
        }
        let structure = Arc::from(structure);
        let latencies = self.latencies(&end_ports, ports.len());
        let wires = self.port_wires(&terminal_ports, &end_ports, ports.len());
        let terminal_wires = self.terminal_wires.iter().any(|wire| *wire != Wire::UNSAID);
        Ok(Network {
            spec,
            family,
            structure,
            source: None,
            machine: None,
            port_base,
            ports,
            terminal_ports,
            links,
            latencies,
            wires,
            terminal_wires,
        })
    }

    /// What is stated of the link at each port.
    fn port_wires(&self, terminal_ports: &[PortId], end_ports: &[[PortId; 2]], ports: usize) -> Wires {
        if self.wires.is_empty() && self.terminal_wires.is_empty() {
            return Wires::default();
        }
        let mut of_port = vec![Wire::UNSAID; ports];
        for (port, &wire) in terminal_ports.iter().zip(&self.terminal_wires) {
            of_port[port.index()] = wire;
        }
        for (ends, &wire) in end_ports.iter().zip(&self.wires) {
            ends.iter().for_each(|port| of_port[port.index()] = wire);
        }
        Wires::of_ports(of_port.into_iter())
    }

    /// The own latency of the link at each port, or nothing if no link has one.
    fn latencies(&self, end_ports: &[[PortId; 2]], ports: usize) -> Vec<u32> {
        if self.links.iter().all(|link| link.latency == 0) {
            return Vec::new();
        }
        let mut latencies = vec![0; ports];
        for (link, ends) in self.links.iter().zip(end_ports) {
            ends.iter().for_each(|port| latencies[port.index()] = link.latency);
        }
        latencies
    }

    /// The first port of each router, and behind them the number of ports.
    fn port_base(&self, spec: &str) -> Result<Vec<u32>> {
        check_ports(spec, self.terminals.len() as u64 + 2 * self.links.len() as u64)?;
        let mut base = vec![0; self.routers as usize + 1];
        for router in self.terminals.iter().chain(self.links.iter().flat_map(|link| &link.ends)) {
            base[*router as usize + 1] += 1;
        }
        for router in 1..base.len() {
            base[router] += base[router - 1];
        }
        Ok(base)
    }

    /// The two ports of each link; `next` is the first port of each router that no terminal took.
    fn end_ports(&self, port_base: &[u32], mut next: Vec<u32>) -> Vec<[PortId; 2]> {
        let mut end_ports = vec![[PortId(0); 2]; self.links.len()];
        if !self.ranked {
            for (link, ports) in self.links.iter().zip(&mut end_ports) {
                *ports = link.ends.map(|router| PortId(take(&mut next[router as usize])));
            }
            return end_ports;
        }
        // The ends (2 * link + side) that each router sees, in the order of the calls, then sorted by rank.
        let first = next.clone();
        let mut seen = vec![0u32; port_base[self.routers as usize] as usize];
        for (index, link) in self.links.iter().enumerate() {
            for (side, &router) in link.ends.iter().enumerate() {
                seen[take(&mut next[router as usize]) as usize] = (2 * index + side) as u32;
            }
        }
        for (router, &first) in first.iter().enumerate() {
            let range = first as usize..port_base[router + 1] as usize;
            seen[range.clone()].sort_by_key(|&end| self.links[end as usize / 2].ranks[end as usize % 2]);
            for port in range {
                let end = seen[port] as usize;
                end_ports[end / 2][end % 2] = PortId(port as u32);
            }
        }
        end_ports
    }
}

/// Rejects more ports than ids can name.
fn check_ports(spec: &str, total: u64) -> Result<()> {
    if total <= u64::from(u32::MAX) {
        return Ok(());
    }
    Err(Error::TooLarge(format!("{spec} has {total} ports; at most {} are possible", u32::MAX)))
}

/// The value of a counter before it counts on.
fn take(counter: &mut u32) -> u32 {
    let value = *counter;
    *counter += 1;
    value
}
