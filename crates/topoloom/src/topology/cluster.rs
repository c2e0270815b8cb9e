//! `cluster:hosts=64,host=hgx-h100,fabric=(clos:radix=32,levels=2,rate=400G),attach=rail`: hosts whose network
//! interfaces are plugged into the terminals' ports of a fabric, or of several copies of it.
//!
//! Routers, in this order: the parts of each host (accelerators, then switches), host by host; then what is kept of
//! each copy of the fabric, in the fabric's order. Each accelerator has one terminal: terminal h A + s is slot s of
//! host h, of A accelerators each. Ports of a part: its terminal, its links in the order of the host's file, its
//! interfaces. Ports of a fabric's router: those of the fabric in its order, without those that nothing is plugged
//! into.
//!
//! Which port an interface is plugged into, with N interfaces per host:
//!
//! - `rail`: N copies; interface i of host h is terminal h of copy i;
//! - `block`: one copy; terminal h N + i;
//! - `plane`: `planes` copies (unless given: N); interface i is plugged into copy i mod `planes`, host by host;
//! - `dual-tor`: one copy; each interface has two ports of half its rate, on two neighbours among
//!   those with terminals; pairs are filled one after the other;
//! - `spread`: one copy; the interfaces, host by host, are dealt to the routers with terminals in turn.
//!
//! `block` and `plane` plug the interfaces into one router after the other. With `leaves=L` they deal them round L
//! neighbouring routers with terminals, and continue to the next L when these are full.
//!
//! With `join=(…)` another tree joins the top routers of the copies of a tree, as in [`rails`](super::rails): then there is
//! one fabric, the copies with what joins them. Without it packets change rails within hosts alone.
//!
//! A link between an interface and a router (class `nic`) has the lower of the two rates. Copies of trees are trimmed to the routers
//! below which something is plugged in, and the levels that join them. Other fabrics keep all their routers.

use std::sync::Arc;

use super::hosts::Host;
use super::params::Params;
use super::rails::{self, dealt, kept};
use super::{Family, Roles};
use crate::catalogue::{Key, Kind};
use crate::error::{Error, Result, several};
use crate::network::{
    HostParts, Hosts, LinkClass, Network, NetworkBuilder, Peer, Plugs, PortId, RouterId, Structure, TerminalId, Wire,
    WorstCase,
};

pub(super) const FAMILY: Family = Family {
    name: "cluster",
    summary: "hosts with several network interfaces on a fabric, on rails or on planes",
    sizes: None,
    keys: &[
        Key::new("hosts", Kind::count(1), "hosts"),
        Key::new("host", Kind::Host, "a host, or a file that describes one (default plain)"),
        Key::new(
            "fabric",
            Kind::Network,
            "what joins the hosts, with rates, in brackets: (clos:radix=32,levels=2,rate=400G)",
        ),
        Key::new(
            "attach",
            Kind::Choice(&["rail", "block", "plane", "dual-tor", "spread"]),
            "rail: a copy of the fabric for each interface of a host (default); block: neighbouring ports of one fabric; plane: \
             interface i on copy i modulo planes; dual-tor: two ports on two routers; spread: dealt round the routers",
        ),
        Key::new("planes", Kind::count(1), "copies of the fabric, for attach=plane (default: one for each interface)"),
        Key::new(
            "leaves",
            Kind::count(1),
            "for attach=block and plane: neighbouring routers that the interfaces of a host are dealt round (default 1)",
        ),
        rails::JOIN,
        rails::UPLINKS,
    ],
    example: "cluster:hosts=16,host=hgx-h100,fabric=(clos:radix=16,levels=2,rate=400G),attach=rail",
    source: "rails: NVIDIA DGX SuperPOD reference architecture; dual-ToR and planes: Qian et al., Alibaba HPN, SIGCOMM 2024",
    routings: &["hosts"],
    roles: Roles { minimal: "hosts", adaptive: "hosts:fabric=adaptive" },
    build,
};

/// No router, no port: what was trimmed.
const TRIMMED: u32 = u32::MAX;
const NO_PORT: u16 = u16::MAX;

/// A port of every host: an interface, or one of its two.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HostPort {
    /// The part that it is attached to.
    pub at: u32,
    /// The copy of the fabric that it is plugged into; 0 of copies that are joined, which are one.
    pub copy: u32,
    /// The rail: its copy, joined or not.
    pub rail: u32,
    /// Its local number at the part.
    pub local: u16,
    wire: Wire,
}

/// What is kept of a copy of the fabric.
#[derive(Debug, Clone)]
pub struct Copy {
    /// The router of the cluster for each of the fabric, or [`TRIMMED`].
    routers: Vec<u32>,
    /// The local port for each port of the fabric, or [`NO_PORT`].
    ports: Vec<u16>,
}

/// A cluster: its hosts, its fabric, and how they are joined.
#[derive(Debug)]
pub struct Cluster {
    /// A host.
    pub host: Host,
    /// The number of hosts.
    pub hosts: u32,
    /// The fabric before it was trimmed, with as many terminals as it has ports.
    pub fabric: Network,
    /// The ports of every host.
    pub ports: Vec<HostPort>,
    /// The fabric's terminal that each port of each host is plugged into, host by host.
    terminals: Vec<u32>,
    copies: Vec<Copy>,
    /// The copy and the fabric's router of each router behind those of the hosts.
    places: Vec<(u32, u32)>,
    bought: Network,
}

impl Cluster {
    /// The first router that is no part of a host.
    pub fn first_fabric(&self) -> u32 {
        self.hosts * self.host.parts()
    }

    /// The host and the part that a router is, if it is one.
    pub fn part(&self, router: RouterId) -> Option<(u32, u32)> {
        (router.0 < self.first_fabric()).then(|| (router.0 / self.host.parts(), router.0 % self.host.parts()))
    }

    /// The number of copies of the fabric.
    pub fn copies(&self) -> u32 {
        self.copies.len() as u32
    }

    /// The copy and the router of the fabric that a router is, if it is no part of a host.
    pub fn place(&self, router: RouterId) -> (u32, RouterId) {
        let (copy, at) = self.places[(router.0 - self.first_fabric()) as usize];
        (copy, RouterId(at))
    }

    /// The fabric's terminal that a port of a host is plugged into.
    pub fn terminal(&self, host: u32, port: usize) -> TerminalId {
        TerminalId(self.terminals[host as usize * self.ports.len() + port])
    }

    /// The local ports, at a router of a copy, of the fabric's ports there in their order.
    pub fn locals(&self, copy: u32, router: RouterId) -> &[u16] {
        let first = self.fabric.port_base(router) as usize;
        &self.copies[copy as usize].ports[first..first + self.fabric.radix_of(router)]
    }

    /// The router of the cluster that a router of a copy is, unless it was trimmed.
    pub fn router(&self, copy: u32, router: RouterId) -> Option<RouterId> {
        let kept = self.copies[copy as usize].routers[router.index()];
        (kept != TRIMMED).then_some(RouterId(kept))
    }
}

impl Structure for Cluster {
    fn injection_gbps(&self) -> Option<f64> {
        let all: f64 = self.ports.iter().filter_map(|port| port.wire.gbps).sum();
        Some(all / f64::from(self.host.accelerators))
    }

    fn host_parts(&self) -> HostParts {
        let count = |each: usize| self.hosts as usize * each;
        let (routers, links) = (count(self.host.parts() as usize), count(self.host.links.len()));
        HostParts { routers, links, interfaces: self.terminals.len() }
    }

    fn hosts(&self) -> Option<Hosts> {
        let own = self.host.links.iter().filter(|(ends, _)| ends.contains(&0));
        let inside_gbps = own.filter_map(|(_, wire)| wire.gbps).sum();
        Some(Hosts { terminals: self.host.accelerators, inside_gbps })
    }

    fn bought(&self) -> Option<&Network> {
        Some(&self.bought)
    }

    /// Of several interfaces that are as near, on the same copy, the accelerators of a host and of the hosts after it have
    /// each in turn.
    fn plugged(&self) -> Option<Plugs<'_>> {
        let distances = self.host.distances();
        let nearest = |slot: u32| {
            let distance = |port: &HostPort| distances[port.at as usize][slot as usize];
            let least = self.ports.iter().map(distance).min();
            let first = self.ports.iter().find(|port| Some(distance(port)) == least).expect("a host has an interface");
            let there = |port: &HostPort| Some(distance(port)) == least && port.copy == first.copy;
            (0..self.ports.len()).filter(|&port| there(&self.ports[port])).collect::<Vec<_>>()
        };
        let ports: Vec<Vec<usize>> = (0..self.host.accelerators).map(nearest).collect();
        let at = |host: u32, slot: usize| {
            let port = ports[slot][(host as usize + slot) % ports[slot].len()];
            (self.ports[port].copy, self.fabric.router_of(self.terminal(host, port)))
        };
        let slots = 0..ports.len();
        let at = (0..self.hosts).flat_map(|host| slots.clone().map(move |slot| (host, slot))).map(|(h, s)| at(h, s));
        Some(Plugs { fabric: &self.fabric, at: at.collect() })
    }

    fn worst_case(&self) -> WorstCase {
        WorstCase::OfFabric
    }
}

/// The fabric of a cluster without its hosts, the interfaces being its terminals.
#[derive(Debug)]
struct FabricAlone {
    levels: Vec<Option<u32>>,
    group_size: Option<u32>,
}

impl Structure for FabricAlone {
    fn level(&self, router: RouterId) -> Option<u32> {
        self.levels[router.index()]
    }

    fn group_size(&self) -> Option<u32> {
        self.group_size
    }
}

fn build(params: &Params) -> Result<Network> {
    let hosts = params.required("hosts")?;
    let named = |error: Error| match error {
        Error::TooLarge(_) => error,
        other => params.mistake(other.to_string()),
    };
    let host = Host::named(params.text("host").unwrap_or("plain")).map_err(named)?;
    let fabric = fabric_in(params, "fabric")?;
    let mut plugged = Attachment::new(params, hosts, &host, &fabric)?;
    let fabric = match params.text("join") {
        Some(_) => plugged.join(params, &fabric)?,
        None if params.count("uplinks").is_some() => return Err(params.mistake("uplinks is for join=(…)")),
        None => fabric,
    };
    let each = host.parts() as u128;
    let copies = u128::from(plugged.copies);
    let links =
        u128::from(hosts) * (host.links.len() + plugged.ports.len()) as u128 + copies * fabric.links().len() as u128;
    let routers = u128::from(hosts) * each + copies * fabric.num_routers() as u128;
    params.guard_size(routers, u128::from(hosts) * u128::from(host.accelerators), links)?;
    assembled(params.spec(), hosts, host, fabric, plugged)
}

/// The whole network with rates that a key names.
fn fabric_in(params: &Params, key: &str) -> Result<Network> {
    let fabric = rails::tree_in(params, key)?;
    if !fabric.has_rates() {
        let spec = fabric.spec();
        return Err(params.mistake(format!("the {key} has no rates; write it like ({spec},rate=400G)")));
    }
    if fabric.failures().is_some() || fabric.any_structure().bought().is_some() {
        return Err(
            params.mistake(format!("the {key} has failures or hosts of its own; let what joins the hosts be whole"))
        );
    }
    Ok(fabric)
}

/// Which port of each host is plugged in where.
struct Attachment {
    ports: Vec<HostPort>,
    terminals: Vec<u32>,
    copies: u32,
}

impl Attachment {
    fn new(params: &Params, hosts: u32, host: &Host, fabric: &Network) -> Result<Self> {
        let attach = params.choice("attach");
        let nics = host.nics.len() as u32;
        if params.text("planes").is_some() && attach != "plane" {
            return Err(params.mistake(format!("planes is for attach=plane; attach is {attach}")));
        }
        if params.count("leaves").is_some() && !matches!(attach, "block" | "plane") {
            return Err(params.mistake(format!("leaves is for attach=block and attach=plane; attach is {attach}")));
        }
        let planes = match attach {
            "rail" => nics,
            "plane" => params.count("planes").unwrap_or(nics),
            _ => 1,
        };
        if planes > nics {
            let has = several(nics, "interface");
            return Err(params.mistake(format!("planes is {planes}, but host {} has {has}", host.name)));
        }
        let each = if attach == "dual-tor" { 2 } else { 1 };
        let ports = host_ports(host, planes, each);
        let order = Order::new(params, attach, fabric)?;
        let mut next = vec![0u32; planes as usize];
        let mut terminals = Vec::with_capacity(hosts as usize * ports.len());
        for at in 0..hosts {
            for (number, port) in ports.iter().enumerate() {
                let place = next[port.copy as usize];
                next[port.copy as usize] += 1;
                let found = order.terminal(place).ok_or_else(|| {
                    let of_copy = ports.iter().filter(|other| other.copy == port.copy).count() as u64;
                    let (wanted, there) = (of_copy * u64::from(hosts), u64::from(order.places()));
                    let copies = if planes > 1 { format!(" for copy {} of the fabric", port.copy) } else { String::new() };
                    params.mistake(format!(
                        "interface {} of host {at} finds no port: {hosts} hosts have {wanted} ports to plug in{copies}, and {} \
                         has {there} for attach={attach}; {} are missing",
                        number / each as usize,
                        fabric.spec(),
                        wanted - there
                    ))
                })?;
                terminals.push(found);
            }
        }
        let mut this = Self { ports, terminals, copies: planes };
        this.fill_wires(fabric, each, host);
        Ok(this)
    }

    /// Joins the copies of `fabric`, and is plugged into the one network that they make with what joins them.
    fn join(&mut self, params: &Params, fabric: &Network) -> Result<Network> {
        let join = fabric_in(params, "join")?;
        if self.copies == 1 {
            return Err(params.mistake("join is for several copies of the fabric: attach=rail or attach=plane"));
        }
        let mut used = vec![false; fabric.num_terminals()];
        self.terminals.iter().for_each(|&terminal| used[terminal as usize] = true);
        let parts = rails::Parts::new(fabric, &used, &join, self.copies, params.count("uplinks"))
            .map_err(|refusal| params.mistake(refusal))?;
        let [routers, links] = parts.size();
        let kept = parts.terminals();
        params.guard_size(routers, u128::from(self.copies) * kept.len() as u128, links)?;
        let mut numbers = vec![0; used.len()];
        (0u32..).zip(&kept).for_each(|(number, terminal)| numbers[terminal.index()] = number);
        for (terminal, port) in self.terminals.iter_mut().zip(self.ports.iter().cycle()) {
            *terminal = port.rail * kept.len() as u32 + numbers[*terminal as usize];
        }
        self.ports.iter_mut().for_each(|port| port.copy = 0);
        let [inner, outer] = [fabric, &join].map(Network::spec);
        let spec = format!("rails:copies={},fabric=({inner}),join=({outer})", self.copies);
        self.copies = 1;
        parts.assembled(&spec)
    }

    /// The rates of the links of interfaces: those of the interface and of the first port that it is plugged into.
    fn fill_wires(&mut self, fabric: &Network, each: u32, host: &Host) {
        for (number, port) in self.ports.iter_mut().enumerate() {
            let nic = host.nics[number / each as usize];
            let plug = fabric.wire(fabric.terminal_port(TerminalId(self.terminals[number])));
            let own = nic.gbps.map(|gbps| gbps / f64::from(each));
            let gbps = own.into_iter().chain(plug.gbps).reduce(f64::min);
            port.wire = Wire { gbps, latency_ns: plug.latency_ns.or(nic.latency_ns), length_m: plug.length_m };
        }
    }
}

/// The ports of a host, interface by interface.
fn host_ports(host: &Host, planes: u32, each: u32) -> Vec<HostPort> {
    let mut used: Vec<u16> = (0..host.parts())
        .map(|part| u16::from(part < host.accelerators) + host.neighbors(part).count() as u16)
        .collect();
    let numbered = (0u32..).zip(&host.nics).flat_map(|(number, nic)| (0..each).map(move |_| (number, nic.at)));
    let port = |(number, at): (u32, u32)| {
        let local = used[at as usize];
        used[at as usize] += 1;
        let copy = number % planes;
        HostPort { at, copy, rail: copy, local, wire: Wire::UNSAID }
    };
    numbered.map(port).collect()
}

/// The order in which the terminals of a fabric are plugged in.
enum Order {
    /// By id, this many.
    Ids(u32),
    /// As listed.
    Listed(Vec<u32>),
}

impl Order {
    fn new(params: &Params, attach: &str, fabric: &Network) -> Result<Self> {
        let leaves: Vec<Vec<u32>> = fabric
            .routers()
            .map(|router| fabric.terminals_of(router).map(|terminal| terminal.0).collect())
            .filter(|terminals: &Vec<u32>| !terminals.is_empty())
            .collect();
        Ok(match attach {
            "dual-tor" => {
                if leaves.len() < 2 {
                    let spec = fabric.spec();
                    return Err(params.mistake(format!("attach=dual-tor needs two routers with ports; {spec} has one")));
                }
                let pairs = leaves.chunks_exact(2).flat_map(|pair| pair[0].iter().zip(&pair[1]));
                Self::Listed(pairs.flat_map(|(&a, &b)| [a, b]).collect())
            }
            "spread" => Self::Listed(dealt(&leaves)),
            _ => match params.count("leaves").unwrap_or(1) as usize {
                1 => Self::Ids(fabric.num_terminals() as u32),
                count if count > leaves.len() => {
                    return Err(params.mistake(format!(
                        "leaves is {count}, but {} has {} with ports",
                        fabric.spec(),
                        several(leaves.len(), "router")
                    )));
                }
                count => Self::Listed(leaves.chunks(count).flat_map(dealt).collect()),
            },
        })
    }

    fn places(&self) -> u32 {
        match self {
            Self::Ids(count) => *count,
            Self::Listed(list) => list.len() as u32,
        }
    }

    fn terminal(&self, place: u32) -> Option<u32> {
        match self {
            Self::Ids(count) => (place < *count).then_some(place),
            Self::Listed(list) => list.get(place as usize).copied(),
        }
    }
}

/// The copies of a fabric, whose routers count on from `first`, and the position of each router.
fn copies(fabric: &Network, plugged: &Attachment, first: u32) -> (Vec<Copy>, Vec<(u32, u32)>) {
    let mut places = Vec::new();
    let mut used = vec![vec![false; fabric.num_terminals()]; plugged.copies as usize];
    for (terminal, port) in plugged.terminals.iter().zip(plugged.ports.iter().cycle()) {
        used[port.copy as usize][*terminal as usize] = true;
    }
    let copy = |(number, used): (usize, &Vec<bool>)| {
        let kept = kept(fabric, used);
        let mut routers = vec![TRIMMED; kept.len()];
        for router in (0..kept.len()).filter(|&router| kept[router]) {
            routers[router] = first + places.len() as u32;
            places.push((number as u32, router as u32));
        }
        let mut ports = vec![NO_PORT; fabric.ports().len()];
        for router in fabric.routers().filter(|router| kept[router.index()]) {
            let mut next = 0;
            for (port, at) in (fabric.port_base(router)..).zip(fabric.ports_of(router)) {
                let stays = match at.peer {
                    Peer::Terminal(terminal) => used[terminal.index()],
                    Peer::Port(peer) => kept[fabric.ports()[peer.index()].router.index()],
                };
                if stays {
                    ports[port as usize] = next;
                    next += 1;
                }
            }
        }
        Copy { routers, ports }
    };
    let copies = used.iter().enumerate().map(copy).collect();
    (copies, places)
}

/// Adds the links of all copies, router ids less `shift`.
fn link_copies(builder: &mut NetworkBuilder, fabric: &Network, copies: &[Copy], shift: u32) {
    for copy in copies {
        for link in fabric.links() {
            let ends = link.ends.map(|port| {
                let (router, local) = fabric.local_port(port);
                (copy.routers[router.index()], local)
            });
            if ends.iter().all(|(router, _)| *router != TRIMMED) {
                let [a, b] = ends.map(|(router, local)| (router - shift, local));
                builder.timed_link(a, b, link.class, fabric.own_latency(link.ends[0]));
                builder.wire(fabric.wire(link.ends[0]));
            }
        }
    }
}

fn assembled(spec: &str, hosts: u32, host: Host, fabric: Network, plugged: Attachment) -> Result<Network> {
    /// Interfaces come after the links of their part.
    const BEHIND: u32 = 1 << 20;
    let first = hosts * host.parts();
    let (copies, places) = copies(&fabric, &plugged, first);
    let mut builder = NetworkBuilder::new(first + places.len() as u32);
    let at = |of: u32, part: u32| of * host.parts() + part;
    (0..hosts).for_each(|of| (0..host.accelerators).for_each(|part| builder.terminal(at(of, part))));
    for of in 0..hosts {
        for (rank, ([a, b], wire)) in (0u32..).zip(&host.links) {
            builder.ranked_link((at(of, *a), rank), (at(of, *b), rank), LinkClass::Internal);
            builder.wire(*wire);
        }
    }
    link_copies(&mut builder, &fabric, &copies, 0);
    let mut alone = NetworkBuilder::new(places.len() as u32);
    for ((number, port), &terminal) in plugged.ports.iter().enumerate().cycle().zip(&plugged.terminals) {
        let of = (alone.num_terminals() / plugged.ports.len()) as u32;
        let (router, local) = fabric.local_port(fabric.terminal_port(TerminalId(terminal)));
        let leaf = copies[port.copy as usize].routers[router.index()];
        builder.ranked_link((at(of, port.at), BEHIND + number as u32), (leaf, local), LinkClass::Nic);
        builder.wire(port.wire);
        alone.terminal(leaf - first);
        alone.terminal_wire(port.wire);
    }
    link_copies(&mut alone, &fabric, &copies, first);
    let levels = places.iter().map(|&(_, router)| fabric.any_structure().level(RouterId(router))).collect();
    let known = FabricAlone { levels, group_size: fabric.any_structure().group_size() };
    let bought = alone.build(spec.to_owned(), FAMILY.name, Box::new(known))?;
    let Attachment { ports, terminals, .. } = plugged;
    let cluster = Cluster { host, hosts, fabric, ports, terminals, copies, places, bought };
    let network = builder.build(spec.to_owned(), FAMILY.name, Box::new(cluster))?;
    Ok(with_boards(network))
}

/// The network, each accelerator with as much as its router can send.
fn with_boards(network: Network) -> Network {
    let sum = |port: &crate::network::Port| {
        let ports =
            network.port_base(port.router)..network.port_base(port.router) + network.radix_of(port.router) as u32;
        ports.map(PortId).filter_map(|port| network.gbps(port)).sum::<f64>()
    };
    let of: Vec<Option<f64>> =
        network.ports().iter().map(|port| (port.class == LinkClass::Terminal).then(|| sum(port))).collect();
    network.with_wires(|port, said| said.or(Wire { gbps: of[port.index()], ..Wire::UNSAID }))
}

/// What is shared by a network that hosts and a fabric make.
pub(crate) fn cluster_of(network: &Network) -> Option<Arc<Cluster>> {
    network.shared_structure::<Cluster>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::build;

    fn counts(spec: &str) -> [usize; 6] {
        let network = build(spec).expect(spec);
        let (parts, bought) = (network.any_structure().host_parts(), network.bought());
        let nics = network.links().iter().filter(|link| link.class == LinkClass::Nic).count();
        assert_eq!(bought.num_routers() + parts.routers, network.num_routers(), "{spec}");
        assert_eq!(bought.links().len() + parts.links + nics, network.links().len(), "{spec}");
        assert_eq!((bought.num_terminals(), parts.interfaces), (nics, nics), "{spec}");
        [network.num_terminals(), parts.routers, parts.links, nics, bought.num_routers(), bought.links().len()]
    }

    /// Terminals, routers and links of hosts, links of interfaces, routers and links of the fabric.
    #[test]
    fn closed_forms_of_counts() {
        for (spec, expected) in [
            // 8 rails of 16 leaves of 32 and 32 spines of 16: 512 links of interfaces, 512 up, a rail.
            (
                "cluster:hosts=512,host=hgx-h100,fabric=(clos:radix=64,levels=2,taper=1,rate=400G)",
                [4096, 4608, 4096, 4096, 8 * (16 + 32), 8 * 512],
            ),
            // 4 hosts on one leaf of 8: no spine joins anything.
            ("cluster:hosts=8,host=mi300x,fabric=(clos:radix=16,levels=2,rate=400G)", [64, 64, 8 * 28, 64, 8, 0]),
            // 2 of 8 leaves are used; 8 spines with two links each.
            (
                "cluster:hosts=16,host=plain,fabric=(clos:radix=16,levels=3,rate=400G),attach=block",
                [16, 16, 0, 16, 2 + 8, 16],
            ),
            // 9 leaves: a second pod, and with it the cores, of which each leads to both.
            (
                "cluster:hosts=72,host=plain,fabric=(clos:radix=16,levels=3,rate=400G),attach=block",
                [72, 72, 0, 72, 9 + 16 + 64, 72 + 128],
            ),
            // One leaf a rail of 32 hosts, whose 32 links up go round 8 routers of 32 positions: 256 links.
            (
                "cluster:hosts=32,host=hgx-h100,fabric=(clos:radix=64,levels=2,rate=400G),join=(clos:radix=64,levels=2,rate=400G)",
                [256, 288, 256, 256, 8 + 8, 256],
            ),
            // 2 leaves and 32 spines a rail; each spine has 2 links down and, with uplinks=1, one up: 256, round 8 routers.
            (
                "cluster:hosts=64,host=hgx-h100,fabric=(clos:radix=64,levels=2,rate=400G),join=(clos:radix=64,levels=2,rate=400G),uplinks=1",
                [512, 576, 512, 512, 8 * 34 + 8, 8 * 64 + 256],
            ),
            // Grids keep all their routers.
            ("cluster:hosts=3,host=cray-ex,fabric=(hyperx:4x4,p=1,rate=200G),attach=block", [12, 12, 18, 12, 16, 48]),
            (
                "cluster:hosts=4,host=v100-4,fabric=(clos:radix=4,levels=2,rate=100G),attach=rail",
                [16, 24, 44, 8, 2 * 4, 2 * 4],
            ),
            (
                "cluster:hosts=4,host=hgx-h100,fabric=(clos:radix=8,levels=2,rate=400G),attach=plane,planes=4",
                [32, 36, 32, 32, 4 * (2 + 4), 4 * 8],
            ),
            (
                "cluster:hosts=2,host=hgx-h100,fabric=(clos:radix=16,levels=2,rate=400G),attach=dual-tor",
                [16, 18, 16, 32, 4 + 8, 32],
            ),
        ] {
            assert_eq!(counts(spec), expected, "{spec}");
        }
    }

    /// The router of the fabric behind each port of a host, counted among those with ports.
    fn leaves(spec: &str, host: u32) -> Vec<(u32, u32)> {
        let network = build(spec).expect(spec);
        let cluster = cluster_of(&network).expect("a cluster");
        let leaf = |port: usize| {
            let part = RouterId(host * cluster.host.parts() + cluster.ports[port].at);
            let at = network.ports_of(part)[usize::from(cluster.ports[port].local)];
            let Peer::Port(peer) = at.peer else { panic!("an interface leads to a router") };
            assert_eq!(at.class, LinkClass::Nic);
            let (copy, router) = cluster.place(network.ports()[peer.index()].router);
            (copy, router.0)
        };
        (0..cluster.ports.len()).map(leaf).collect()
    }

    #[test]
    fn interfaces_are_plugged_in_as_documented() {
        let of = |attach: &str, host| {
            leaves(
                &format!("cluster:hosts=4,host=cray-ex,fabric=(clos:radix=8,levels=2,rate=200G),attach={attach}"),
                host,
            )
        };
        assert_eq!(of("rail", 3), [(0, 0), (1, 0), (2, 0), (3, 0)]);
        assert_eq!(of("block", 1), [(0, 1); 4]);
        assert_eq!(of("plane,planes=2", 1), [(0, 0), (1, 0), (0, 0), (1, 0)]);
        assert_eq!(of("plane,planes=2", 2), [(0, 1), (1, 1), (0, 1), (1, 1)]);
        assert_eq!(of("spread", 1), [(0, 4), (0, 5), (0, 6), (0, 7)]);
        assert_eq!(of("block,leaves=2", 0), [(0, 0), (0, 1), (0, 0), (0, 1)]);
        assert_eq!(of("block,leaves=2", 2), [(0, 2), (0, 3), (0, 2), (0, 3)]);
        assert_eq!(of("plane,planes=2,leaves=2", 1), [(0, 0), (1, 0), (0, 1), (1, 1)]);
        assert_eq!(of("dual-tor", 0), [0, 1, 0, 1, 0, 1, 0, 1].map(|leaf| (0, leaf)));
    }

    #[test]
    fn joined_rails_are_one_fabric() {
        let spec = "cluster:hosts=4,host=cray-ex,fabric=(clos:radix=4,levels=2,rate=200G),join=(mesh:1,p=64,rate=200G)";
        // 2 leaves and 2 spines a rail: host 3 is below the second leaf of each.
        assert_eq!(leaves(spec, 3), [1, 5, 9, 13].map(|leaf| (0, leaf)));
        let network = build(spec).expect("small");
        let cluster = cluster_of(&network).expect("a cluster");
        assert_eq!(cluster.ports.iter().map(|port| port.rail).collect::<Vec<_>>(), [0, 1, 2, 3]);
        assert_eq!(cluster.fabric.num_routers(), 4 * 4 + 1);
    }

    #[test]
    fn rates_are_those_of_interface_and_port() {
        let network =
            build("cluster:hosts=4,host=cray-ex,fabric=(clos:radix=8,levels=2,rate=100G,rate.up=400G),attach=block")
                .expect("small");
        let of =
            |class| network.links().iter().find(|link| link.class == class).and_then(|link| network.gbps(link.ends[0]));
        assert_eq!(of(LinkClass::Nic), Some(100.0), "the port's");
        assert_eq!((of(LinkClass::Up), of(LinkClass::Internal)), (Some(400.0), Some(800.0)));
        assert_eq!(network.injection_gbps(), Some(100.0));
        assert_eq!(network.gbps(network.terminal_port(TerminalId(0))), Some(3.0 * 800.0 + 100.0));
        let two = build("cluster:hosts=2,host=hgx-h100,fabric=(clos:radix=16,levels=2,rate=400G),attach=dual-tor")
            .expect("small");
        let nic = two.links().iter().find(|link| link.class == LinkClass::Nic).expect("there are some");
        assert_eq!((two.gbps(nic.ends[0]), two.injection_gbps()), (Some(200.0), Some(400.0)));
    }

    #[test]
    fn mistakes_name_the_port_that_is_missing() {
        for (spec, words) in [
            (
                "cluster:hosts=9,host=cray-ex,fabric=(clos:radix=8,levels=2,rate=200G),attach=block",
                "interface 0 of host 8 finds no port: 9 hosts have 36 ports to plug in, and clos:radix=8,levels=2,rate=200G has 32 for attach=block; 4 are missing",
            ),
            (
                "cluster:hosts=40,host=cray-ex,fabric=(clos:radix=8,levels=2,rate=200G)",
                "interface 0 of host 32 finds no port: 40 hosts have 40 ports to plug in for copy 0 of the fabric, and clos:radix=8,levels=2,rate=200G has 32 for attach=rail; 8 are missing",
            ),
            (
                "cluster:hosts=4,host=cray-ex,fabric=(clos:radix=8,levels=2)",
                "the fabric has no rates; write it like (clos:radix=8,levels=2,rate=400G)",
            ),
            ("cluster:hosts=4,host=cray-ex", "fabric is missing"),
            ("cluster:host=cray-ex,fabric=(mesh:4,rate=1G)", "hosts is missing"),
            ("cluster:hosts=4,host=cray-x,fabric=(mesh:4,rate=1G)", "did you mean 'cray-ex'"),
            ("cluster:hosts=4,fabric=(mesh:4,rate=1G),planes=2", "planes is for attach=plane; attach is rail"),
            (
                "cluster:hosts=4,fabric=(mesh:4,rate=1G),attach=plane,planes=2",
                "planes is 2, but host plain has 1 interface",
            ),
            (
                "cluster:hosts=1,fabric=(mesh:1,p=4,rate=1G),attach=dual-tor",
                "attach=dual-tor needs two routers with ports",
            ),
            ("cluster:hosts=4,fabric=(cluster:hosts=4,fabric=(mesh:4,rate=1G))", "has failures or hosts of its own"),
            ("cluster:hosts=4,fabric=(mesh:4,rate=1G),attach=rails", "did you mean 'rail'"),
            ("cluster:hosts=4,fabric=(mesh:4,rate=1G),uplinks=2", "uplinks is for join=(…)"),
            (
                "cluster:hosts=2,fabric=(clos:radix=4,levels=2,rate=1G),attach=block,join=(mesh:1,p=8,rate=1G)",
                "join is for several copies of the fabric",
            ),
            (
                "cluster:hosts=4,host=cray-ex,fabric=(mesh:4,rate=1G),join=(mesh:1,p=8,rate=1G)",
                "fabric must be a tree, with terminals at its lowest level alone; mesh:4,rate=1G is none",
            ),
            (
                "cluster:hosts=4,host=cray-ex,fabric=(clos:radix=4,levels=2,rate=1G),join=(mesh:1,p=8)",
                "the join has no rates",
            ),
            (
                "cluster:hosts=4,fabric=(mesh:4,rate=1G),leaves=2",
                "leaves is for attach=block and attach=plane; attach is rail",
            ),
            (
                "cluster:hosts=4,fabric=(mesh:4,rate=1G),attach=block,leaves=5",
                "leaves is 5, but mesh:4,rate=1G has 4 routers with ports",
            ),
            (
                "cluster:hosts=4,host=/nowhere/mine.toml,fabric=(mesh:4,rate=1G)",
                "cannot read the host '/nowhere/mine.toml'",
            ),
        ] {
            let sentence = build(spec).expect_err(spec).to_string();
            assert!(sentence.contains(words) && !sentence.contains('\n'), "{spec}: {sentence}");
        }
    }
}
