//! The network: routers, terminals, ports and links. The one structure that everything else reads.
//!
//! A network is immutable once built. The ports of all routers stand in one array, router by router; a *port id*
//! is a place in that array. Ports are bidirectional: the output side of port `p` feeds the input side of its peer.
//! A *channel* is one direction of a link, named by the port that sends into it.

use std::any::Any;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

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
}

impl LinkClass {
    /// All classes, in the order of their discriminants.
    pub const ALL: [LinkClass; 4] = [LinkClass::Terminal, LinkClass::Local, LinkClass::Global, LinkClass::Up];

    /// The name that users type.
    pub fn name(self) -> &'static str {
        match self {
            LinkClass::Terminal => "terminal",
            LinkClass::Local => "local",
            LinkClass::Global => "global",
            LinkClass::Up => "up",
        }
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
    /// What stands at the other end.
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

    /// The number of routers in a group, where routers come in groups of consecutive ids (dragonfly groups, FleX layers).
    fn group_size(&self) -> Option<u32> {
        None
    }

    /// True if every router can be mapped onto every other by an automorphism that respects terminals.
    fn vertex_transitive(&self) -> bool {
        false
    }

    /// The sides of the grid of all terminals (x fastest) and the tile of it that a router holds, where terminals
    /// have coordinates of their own.
    fn terminal_grid(&self) -> Option<TerminalGrid> {
        None
    }
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

/// How terminals stand on a grid: a router holds a tile of `tile` terminals, `sides[d] * tile[d]` in dimension d.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TerminalGrid {
    /// The routers' grid.
    pub routers: Grid,
    /// Terminals of one router in each dimension; their product is the concentration.
    pub tile: Vec<u32>,
}

/// An interconnection network. See the module's documentation.
pub struct Network {
    spec: String,
    family: &'static str,
    structure: Box<dyn Structure>,
    port_base: Vec<u32>,
    ports: Vec<Port>,
    terminal_ports: Vec<PortId>,
    links: Vec<Link>,
}

impl fmt::Debug for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Network({}: {} routers, {} terminals)", self.spec, self.num_routers(), self.num_terminals())
    }
}

impl Network {
    /// The spec that built it.
    pub fn spec(&self) -> &str {
        &self.spec
    }

    /// The family's name.
    pub fn family(&self) -> &'static str {
        self.family
    }

    /// The family's own structure, if it is a `T`.
    pub fn structure<T: Structure>(&self) -> Option<&T> {
        let any: &dyn Any = &*self.structure;
        any.downcast_ref()
    }

    /// The family's structure, for what every family can answer.
    pub fn any_structure(&self) -> &dyn Structure {
        &*self.structure
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

    /// (local port, neighbour) of `router`, one for each link: parallel links stand as often as they are.
    pub fn neighbors(&self, router: RouterId) -> impl Iterator<Item = (u32, RouterId)> + '_ {
        self.ports_of(router).iter().enumerate().filter_map(|(local, port)| match port.peer {
            Peer::Port(peer) => Some((local as u32, self.ports[peer.index()].router)),
            Peer::Terminal(_) => None,
        })
    }

    /// The router port that `terminal` hangs on.
    #[inline(always)]
    pub fn terminal_port(&self, terminal: TerminalId) -> PortId {
        self.terminal_ports[terminal.index()]
    }

    /// The router that `terminal` hangs on.
    #[inline(always)]
    pub fn router_of(&self, terminal: TerminalId) -> RouterId {
        self.ports[self.terminal_port(terminal).index()].router
    }

    /// The links between routers, each once, in the family's order.
    pub fn links(&self) -> &[Link] {
        &self.links
    }
}

/// Builds a [`Network`]. Ports are numbered in the order of the calls, terminals of a router before its links.
pub struct NetworkBuilder {
    concentration: Vec<u32>,
    links: Vec<(u32, u32, LinkClass)>,
}

impl NetworkBuilder {
    /// `routers` routers without terminals or links.
    pub fn new(routers: u32) -> Self {
        Self { concentration: vec![0; routers as usize], links: Vec::new() }
    }

    /// Puts `count` terminals on each router; terminal ids then are router id * count + i.
    pub fn terminals_everywhere(mut self, count: u32) -> Self {
        self.concentration.fill(count);
        self
    }

    /// Puts `count` terminals on one router. Terminal ids follow router ids.
    pub fn terminals(&mut self, router: u32, count: u32) {
        self.concentration[router as usize] = count;
    }

    /// Adds an undirected link. Repeated calls make parallel links.
    pub fn link(&mut self, a: u32, b: u32, class: LinkClass) {
        debug_assert!(a != b, "a self-loop at router {a}");
        self.links.push((a, b, class));
    }

    /// Builds the network. `order` is by call: the k-th link added at a router takes its k-th network port.
    pub fn build(self, spec: String, family: &'static str, structure: Box<dyn Structure>) -> Result<Network> {
        let routers = self.concentration.len();
        let mut degree: Vec<u32> = self.concentration.clone();
        for &(a, b, _) in &self.links {
            degree[a as usize] += 1;
            degree[b as usize] += 1;
        }
        let mut port_base = Vec::with_capacity(routers + 1);
        let mut total: u64 = 0;
        for &d in &degree {
            port_base.push(total as u32);
            total += u64::from(d);
        }
        if total > u64::from(u32::MAX) {
            return Err(Error::TooLarge(format!("{spec} has {total} ports; at most {} are possible", u32::MAX)));
        }
        port_base.push(total as u32);

        let nowhere = Port { router: RouterId(0), peer: Peer::Terminal(TerminalId(0)), class: LinkClass::Terminal };
        let mut ports = vec![nowhere; total as usize];
        let mut next = port_base[..routers].to_vec();
        let mut terminal_ports = Vec::new();
        for (router, &count) in self.concentration.iter().enumerate() {
            for _ in 0..count {
                let terminal = TerminalId(terminal_ports.len() as u32);
                let port = next[router];
                next[router] += 1;
                ports[port as usize] =
                    Port { router: RouterId(router as u32), peer: Peer::Terminal(terminal), class: LinkClass::Terminal };
                terminal_ports.push(PortId(port));
            }
        }
        let mut links = Vec::with_capacity(self.links.len());
        for &(a, b, class) in &self.links {
            let (pa, pb) = (next[a as usize], next[b as usize]);
            next[a as usize] += 1;
            next[b as usize] += 1;
            ports[pa as usize] = Port { router: RouterId(a), peer: Peer::Port(PortId(pb)), class };
            ports[pb as usize] = Port { router: RouterId(b), peer: Peer::Port(PortId(pa)), class };
            let ends = if a <= b { [PortId(pa), PortId(pb)] } else { [PortId(pb), PortId(pa)] };
            links.push(Link { ends, class });
        }
        Ok(Network { spec, family, structure, port_base, ports, terminal_ports, links })
    }
}
