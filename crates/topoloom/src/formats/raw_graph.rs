//! A graph as a file or a program gives it, before it is a network: names instead of ids, nothing checked yet.

use std::collections::HashMap;
use std::fmt;

use sha2::{Digest, Sha256};

use crate::error::{Error, Result, several};
use crate::limits::guard_size;
use crate::memory::available_memory;
use crate::network::{Fabric, LinkClass, Network, NetworkBuilder, RouterId, RouterPlacement, Source, Structure, Wire};

/// What is wrong with a graph, and on which line of its file, counted from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistake {
    /// The line, where there is one.
    pub line: Option<u32>,
    /// The mistake, in a sentence.
    pub what: String,
}

impl Mistake {
    /// A mistake on a line; of the whole if that is 0.
    pub fn at(line: usize, what: impl Into<String>) -> Self {
        Self { line: (line > 0).then_some(line as u32), what: what.into() }
    }

    /// A mistake of the whole.
    pub fn whole(what: impl Into<String>) -> Self {
        Self { line: None, what: what.into() }
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "line {line}: {}", self.what),
            None => f.write_str(&self.what),
        }
    }
}

/// A router, or a terminal that the source draws as a node of its own.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Its name in the source.
    pub name: String,
    /// The number of its terminals, where the source gives it.
    pub terminals: Option<u64>,
    /// What the source states about the links of its terminals, or of its own link if it is a terminal itself.
    pub terminal_wire: Wire,
    /// True if it is a terminal itself.
    pub is_terminal: bool,
    /// The name of the cabinet that it is in, where the source gives it.
    pub cabinet: Option<String>,
    /// The line that names it first.
    pub line: Option<u32>,
}

/// A link between two nodes.
#[derive(Debug, Clone, PartialEq)]
pub struct RawLink {
    /// Its ends as positions among the nodes. In a directed source it leads from the first to the second.
    pub ends: [u32; 2],
    /// Its class, where the source gives it.
    pub class: Option<LinkClass>,
    /// Its latency in cycles, where the source gives it.
    pub latency: Option<u32>,
    /// Its rate, delay and length, where the source gives it.
    pub wire: Wire,
    /// The local ports at its ends, where the source gives it.
    pub ports: Option<[u32; 2]>,
    /// Its line.
    pub line: Option<u32>,
}

impl RawLink {
    /// A link that has ends alone.
    pub fn new(a: u32, b: u32, line: usize) -> Self {
        Self { ends: [a, b], class: None, latency: None, wire: Wire::UNSAID, ports: None, line: Some(line as u32) }
    }
}

/// The origin of a network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// The spec that the network will have.
    pub spec: String,
    /// Its family.
    pub family: &'static str,
    /// The hash of the source.
    pub sha256: String,
}

/// What a network knows that comes from a file or a program: at most where its routers stand.
#[derive(Debug)]
pub(crate) struct FileCabinets {
    /// The cabinet of each router, if it gives it.
    pub cabinets: Option<Vec<u32>>,
}

impl Structure for FileCabinets {
    fn cabinet(&self, router: RouterId) -> Option<u32> {
        Some(self.cabinets.as_ref()?[router.index()])
    }
}

/// A graph as its source gives it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RawGraph {
    nodes: Vec<Node>,
    places: HashMap<String, u32>,
    links: Vec<RawLink>,
    /// The node of each terminal by terminal id, where the source numbers them.
    homes: Vec<u32>,
    /// True if links have a direction in the source.
    pub directed: bool,
    /// What the user should know of the way it was read.
    pub notes: Vec<String>,
    /// The spec of the network that the source states it is.
    pub written_as: Option<String>,
    /// The rules of the layout that the cabinets follow.
    pub layout: Option<String>,
    /// GUIDs and numbers of ports, where the source is a subnet of InfiniBand.
    pub(super) wiring: Option<Wiring>,
}

/// What a subnet of InfiniBand gives beside the graph; its links have their numbers of ports.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Wiring {
    /// The GUIDs of switches, in the order of the nodes.
    pub switches: Vec<u64>,
    /// The number of the port at the switch and the GUID of each terminal, in the order of their ids.
    pub terminals: Vec<(u16, u64)>,
    /// The GUIDs of the ports of nodes that are no part of the network.
    pub left_out: Vec<u64>,
}

impl RawGraph {
    /// The position of the node called `name`, which becomes one unless it is one already.
    pub fn node(&mut self, name: &str, line: usize) -> u32 {
        if let Some(&place) = self.places.get(name) {
            return place;
        }
        let place = self.nodes.len() as u32;
        self.places.insert(name.to_owned(), place);
        let line = (line > 0).then_some(line as u32);
        let terminal_wire = Wire::UNSAID;
        let (name, terminals, cabinet) = (name.to_owned(), None, None);
        self.nodes.push(Node { name, terminals, terminal_wire, is_terminal: false, cabinet, line });
        place
    }

    /// Adds a node that a program gives; returns false if its name is taken.
    pub fn add_node(&mut self, node: Node) -> bool {
        let place = self.nodes.len() as u32;
        let free = self.places.insert(node.name.clone(), place).is_none();
        self.nodes.push(node);
        free
    }

    /// The position of the node called `name`, if there is one.
    pub fn find(&self, name: &str) -> Option<u32> {
        self.places.get(name).copied()
    }

    /// The node at a place.
    pub fn node_mut(&mut self, place: u32) -> &mut Node {
        &mut self.nodes[place as usize]
    }

    /// Adds a link.
    ///
    /// # Errors
    /// A mistake if it leads from a node to itself, or its latency is 0.
    pub fn link(&mut self, link: RawLink) -> std::result::Result<(), Mistake> {
        let [a, b] = link.ends;
        let name = &self.nodes[a as usize].name;
        let mistake = |what: String| Err(Mistake { line: link.line, what });
        if a == b {
            return mistake(format!("router '{name}' is linked to itself; a link joins two routers"));
        }
        if link.latency.is_some_and(|latency| !(1..=10_000).contains(&latency)) {
            let latency = link.latency.unwrap_or(0);
            return mistake(format!("a latency is {latency}; it must be from 1 to 10000 cycles"));
        }
        if let Err(what) = check_wire(link.wire) {
            return mistake(what);
        }
        self.links.push(link);
        Ok(())
    }

    /// States what the links of a node's terminals are.
    ///
    /// # Errors
    /// A mistake on `line` if a value is not above 0.
    pub fn terminal_wire(&mut self, node: u32, wire: Wire, line: usize) -> std::result::Result<(), Mistake> {
        check_wire(wire).map_err(|what| Mistake::at(line, what))?;
        let own = &mut self.nodes[node as usize].terminal_wire;
        if *own != Wire::UNSAID && *own != wire {
            let name = &self.nodes[node as usize].name;
            let what = format!("the terminals of router '{name}' differ in rate, delay or length; all must be alike");
            return Err(Mistake::at(line, what));
        }
        *own = wire;
        Ok(())
    }

    /// True if the source gives the ports at both ends of every link.
    pub fn has_ports(&self) -> bool {
        self.links.iter().all(|link| link.ports.is_some())
    }

    /// Checks that memory can hold that many more links, which a few bytes of a file stand for.
    ///
    /// # Errors
    /// A mistake on `line` if not.
    pub fn make_room(&mut self, links: u32, line: usize) -> std::result::Result<(), Mistake> {
        /// Bytes of a link, here and in the network that is made of it.
        const LINK: u128 = 200;
        if links as usize <= self.links.capacity() - self.links.len() {
            return Ok(());
        }
        let (all, available) = (self.links.len() as u128 + u128::from(links), available_memory());
        // Twice as many at a time, so that the system is not asked for every line.
        if all * 2 * LINK > available {
            let what = format!("{all} links up to here need about {} GB", (all * 2 * LINK).div_ceil(1_000_000_000));
            return Err(Mistake::at(line, format!("{what}; {} GB are available", available / 1_000_000_000)));
        }
        self.links.reserve(links as usize);
        Ok(())
    }

    /// Puts the terminal of the next id on a node.
    pub fn terminal(&mut self, node: u32) {
        self.homes.push(node);
    }

    /// The same graph, its links without latencies of their own.
    pub fn without_latencies(mut self) -> Self {
        self.links.iter_mut().for_each(|link| link.latency = None);
        self
    }

    /// The hash of everything that a network is made of.
    pub fn sha256(&self) -> String {
        let nodes =
            self.nodes.iter().map(|node| format!("{:?} {:?} {}\n", node.name, node.terminals, node.is_terminal));
        let links = self.links.iter().map(|l| format!("{:?} {:?} {:?} {:?}\n", l.ends, l.class, l.latency, l.ports));
        let rest = format!("{:?} {}", self.homes, self.directed);
        let wires = || self.nodes.iter().map(|node| node.terminal_wire).chain(self.links.iter().map(|link| link.wire));
        let said = wires().any(|wire| wire != Wire::UNSAID);
        let wires = said.then(|| wires().map(|wire| format!("\n{wire:?}"))).into_iter().flatten();
        sha256(nodes.chain(links).chain([rest]).chain(wires).collect::<String>().as_bytes())
    }

    /// Checks the graph and makes it a network, with `p` terminals on every router if given, else with the source's own,
    /// else with one each.
    ///
    /// # Errors
    /// [`Error::Spec`] for what is wrong with the graph, with the line; [`Error::TooLarge`].
    pub fn into_network(mut self, origin: Origin, p: Option<u32>) -> Result<Network> {
        let spec = origin.spec.clone();
        let refuse = |mistake: Mistake| Error::Spec(format!("{spec}: {mistake}"));
        self.take_terminal_nodes().map_err(refuse)?;
        if self.nodes.is_empty() {
            return Err(refuse(Mistake::whole("the graph has no routers")));
        }
        if self.directed {
            self.merge_directions().map_err(refuse)?;
        }
        let names = self.renumber();
        self.tell_of_parallel_links();
        let wiring = self.wiring.take().filter(|_| p.is_none());
        let homes = self.terminals(&spec, p)?;
        let routers = self.nodes.len() as u32;
        let fabric = wiring.map(|wiring| self.fabric(wiring, &homes));
        guard_size(&spec, routers.into(), homes.len() as u128, self.links.len() as u128)?;
        let mut builder = NetworkBuilder::new(routers);
        for router in homes {
            builder.terminal(router);
            let wire = self.nodes[router as usize].terminal_wire;
            if wire != Wire::UNSAID {
                builder.terminal_wire(wire);
            }
        }
        for link in &self.links {
            let [(a, port_a), (b, port_b)] =
                std::array::from_fn(|end| (link.ends[end], link.ports.map_or(0, |p| p[end])));
            builder.timed_link((a, port_a), (b, port_b), link.class.unwrap_or(LinkClass::Local), link.latency);
            if link.wire != Wire::UNSAID {
                builder.wire(link.wire);
            }
        }
        let cabinets = self.cabinets();
        let floor = cabinets.clone().map(|cabinets| RouterPlacement { cabinets, rules: self.layout, of: None });
        let source = Source { sha256: origin.sha256, names, notes: self.notes, fabric, written_as: None, floor };
        let network = builder.build(spec, origin.family, Box::new(FileCabinets { cabinets }))?;
        Ok(network.with_source(source))
    }

    /// The number of the cabinet of each router, if the source names all: the number that names it, if all are numbers and
    /// small, else by the order of their appearance.
    fn cabinets(&self) -> Option<Vec<u32>> {
        /// Numbers of cabinets that may be left out, beside as many as there are routers.
        const GAPS: u64 = 1000;
        let names: Vec<&str> = self.nodes.iter().map(|node| node.cabinet.as_deref()).collect::<Option<_>>()?;
        let most = names.len() as u64 + GAPS;
        let numbers: Option<Vec<u32>> =
            names.iter().map(|name| name.parse().ok().filter(|&number: &u32| u64::from(number) < most)).collect();
        let mut known: HashMap<&str, u32> = HashMap::new();
        let mut number = |name| {
            let next = known.len() as u32;
            *known.entry(name).or_insert(next)
        };
        numbers.or_else(|| Some(names.iter().map(|&name| number(name)).collect()))
    }

    /// The numbers of ports in the order in which the network will have them: a router's terminals by their ids, then
    /// its links by their ports.
    fn fabric(&self, wiring: Wiring, homes: &[u32]) -> Fabric {
        let mut terminals = vec![Vec::new(); self.nodes.len()];
        for (&home, &(number, _)) in homes.iter().zip(&wiring.terminals) {
            terminals[home as usize].push(number);
        }
        let mut links = vec![Vec::new(); self.nodes.len()];
        for (link, ports) in self.links.iter().filter_map(|link| Some((link, link.ports?))) {
            link.ends.iter().zip(ports).for_each(|(&end, port)| links[end as usize].push(port as u16));
        }
        links.iter_mut().for_each(|ports| ports.sort_unstable());
        let numbers = terminals.into_iter().zip(links).flat_map(|(terminals, links)| [terminals, links].concat());
        let adapters = wiring.terminals.iter().map(|&(_, guid)| guid).collect();
        Fabric { switches: wiring.switches, adapters, left_out: wiring.left_out, numbers: numbers.collect() }
    }

    /// Turns nodes that are terminals into terminals of the routers that they are linked to.
    fn take_terminal_nodes(&mut self) -> std::result::Result<(), Mistake> {
        if !self.nodes.iter().any(|node| node.is_terminal) {
            return Ok(());
        }
        let mut home: Vec<Option<u32>> = vec![None; self.nodes.len()];
        let mut links = Vec::with_capacity(self.links.len());
        for link in std::mem::take(&mut self.links) {
            let [a, b] = link.ends;
            let (terminal, router) = match link.ends.map(|end| self.nodes[end as usize].is_terminal) {
                [false, false] => {
                    links.push(link);
                    continue;
                }
                [true, false] => (a, b),
                [false, true] => (b, a),
                [true, true] => {
                    let [a, b] = [a, b].map(|end| &self.nodes[end as usize].name);
                    let what = format!("terminals '{a}' and '{b}' are linked; a terminal is attached to a router");
                    return Err(Mistake { line: link.line, what });
                }
            };
            let node = &mut self.nodes[terminal as usize];
            node.terminal_wire = node.terminal_wire.or(link.wire);
            let known = home[terminal as usize].replace(router);
            if known.is_some_and(|known| known != router || !self.directed) {
                let name = &self.nodes[terminal as usize].name;
                let what = format!("terminal '{name}' has a second link; a terminal is attached to one router");
                return Err(Mistake { line: link.line, what });
            }
        }
        self.links = links;
        self.drop_terminal_nodes(&home)
    }

    /// Keeps the routers alone; `home` states for each terminal on which router it hangs.
    fn drop_terminal_nodes(&mut self, home: &[Option<u32>]) -> std::result::Result<(), Mistake> {
        let nodes = std::mem::take(&mut self.nodes);
        let mut place = vec![0; nodes.len()];
        let mut terminals = Vec::new();
        for (old, node) in nodes.into_iter().enumerate() {
            match (node.is_terminal, home[old]) {
                (false, _) => {
                    place[old] = self.nodes.len() as u32;
                    self.nodes.push(node);
                }
                (true, Some(router)) => terminals.push((node.name, node.terminal_wire, router)),
                (true, None) => {
                    return Err(Mistake {
                        line: node.line,
                        what: format!("terminal '{}' is attached to no router", node.name),
                    });
                }
            }
        }
        let order =
            ascending(terminals.iter().map(|(name, ..)| name.as_str())).unwrap_or((0..terminals.len()).collect());
        self.homes = order.into_iter().map(|terminal| place[terminals[terminal].2 as usize]).collect();
        for (_, wire, router) in terminals.into_iter().filter(|(_, wire, _)| *wire != Wire::UNSAID) {
            self.terminal_wire(place[router as usize], wire, 0)?;
        }
        self.links.iter_mut().for_each(|link| link.ends = link.ends.map(|end| place[end as usize]));
        Ok(())
    }

    /// Makes one link of each edge and its reverse. If no edge at all has a reverse, each is a link.
    fn merge_directions(&mut self) -> std::result::Result<(), Mistake> {
        let mut between: HashMap<[u32; 2], [Vec<usize>; 2]> = HashMap::new();
        for (place, link) in self.links.iter().enumerate() {
            let [a, b] = link.ends;
            between.entry([a.min(b), a.max(b)]).or_default()[usize::from(a > b)].push(place);
        }
        if between.values().all(|ways| ways.iter().any(Vec::is_empty)) {
            if !self.links.is_empty() {
                self.notes.push(
                    "the graph is directed, and no edge has a reverse: each is a link in both directions".to_owned(),
                );
            }
            return Ok(());
        }
        let mut keep = vec![false; self.links.len()];
        for place in 0..self.links.len() {
            let [a, b] = self.links[place].ends;
            let [up, down] = &between[&[a.min(b), a.max(b)]];
            if up.len() != down.len() {
                let [a, b] = [a, b].map(|end| &self.nodes[end as usize].name);
                let what = format!(
                    "the graph is directed, and not every edge between '{a}' and '{b}' has a reverse; a link has both directions"
                );
                return Err(Mistake { line: self.links[place].line, what });
            }
            for (&there, &back) in up.iter().zip(down) {
                self.same_latency(there, back)?;
                keep[there.min(back)] = true;
            }
        }
        let mut kept = keep.into_iter();
        self.links.retain(|_| kept.next() == Some(true));
        Ok(())
    }

    fn same_latency(&self, there: usize, back: usize) -> std::result::Result<(), Mistake> {
        match (self.links[there].latency, self.links[back].latency) {
            (Some(one), Some(other)) if one != other => {
                let [a, b] = self.links[there].ends.map(|end| &self.nodes[end as usize].name);
                let what = format!(
                    "from '{a}' to '{b}' the latency is {one}, back {other}; a link has one for both directions"
                );
                Err(Mistake { line: self.links[back].line, what })
            }
            _ => Ok(()),
        }
    }

    /// Numbers the routers: by the whole numbers that name them, else in the order of their appearance. Returns their
    /// names where these are not the numbers.
    fn renumber(&mut self) -> Option<Vec<String>> {
        if let Some(order) = ascending(self.nodes.iter().map(|node| node.name.as_str())) {
            let mut place = vec![0; order.len()];
            (0u32..).zip(&order).for_each(|(new, &old)| place[old] = new);
            let mut nodes: Vec<Option<Node>> = std::mem::take(&mut self.nodes).into_iter().map(Some).collect();
            self.nodes = order.iter().filter_map(|&old| nodes[old].take()).collect();
            self.links.iter_mut().for_each(|link| link.ends = link.ends.map(|end| place[end as usize]));
            self.homes.iter_mut().for_each(|home| *home = place[*home as usize]);
            if self.nodes.iter().enumerate().all(|(router, node)| node.name == router.to_string()) {
                return None;
            }
            let (first, last) = (&self.nodes[0].name, &self.nodes[order.len() - 1].name);
            let note =
                format!("the routers {first} to {last} are numbered from 0 to {} in their order", order.len() - 1);
            self.notes.push(note);
        }
        Some(self.nodes.iter().map(|node| node.name.clone()).collect())
    }

    /// Notes the links that run beside another.
    fn tell_of_parallel_links(&mut self) {
        let parallel = parallel_links(self.links.iter().map(|link| link.ends.map(RouterId)));
        let Some(first) = parallel.first else { return };
        let link = &self.links[first];
        let [a, b] = link.ends.map(|end| &self.nodes[end as usize].name);
        let line = link.line.map_or(String::new(), |line| format!(" on line {line}"));
        let pairs = if parallel.pairs == 1 { "pair of routers is" } else { "pairs of routers are" };
        self.notes.push(format!(
            "{} {pairs} linked more than once, by {} links in all, which are kept as parallel links (the first is the one \
             between '{a}' and '{b}'{line})",
            parallel.pairs, parallel.links
        ));
    }

    /// The router of each terminal.
    fn terminals(&mut self, spec: &str, p: Option<u32>) -> Result<Vec<u32>> {
        let routers = self.nodes.len() as u32;
        let counted: u128 = self.nodes.iter().filter_map(|node| node.terminals).map(u128::from).sum();
        let own = self.homes.len() as u128 + counted;
        if own == 0 && p.is_none() && self.nodes.iter().any(|node| node.terminals.is_some()) {
            self.notes.push("the source gives no router a terminal; each has one".to_owned());
        }
        let given = p.or((own == 0).then_some(1));
        let total = given.map_or(own, |p| u128::from(p) * u128::from(routers));
        guard_size(spec, routers.into(), total, self.links.len() as u128)?;
        if let Some(p) = given {
            if own > 0 && p_differs(p, &self.nodes, &self.homes) {
                self.notes.push(format!("p={p} stands for the {} of the source", several(own, "terminal")));
            }
            return Ok((0..routers).flat_map(|router| std::iter::repeat_n(router, p as usize)).collect());
        }
        let mut homes = std::mem::take(&mut self.homes);
        for (router, node) in (0u32..).zip(&self.nodes) {
            homes.extend(std::iter::repeat_n(router, node.terminals.unwrap_or(0) as usize));
        }
        Ok(homes)
    }
}

/// Rejects rates, delays and lengths that no link has.
fn check_wire(wire: Wire) -> std::result::Result<(), String> {
    for (name, value) in [("rate_gbps", wire.gbps), ("latency_ns", wire.latency_ns), ("length_m", wire.length_m)] {
        if let Some(value) = value.filter(|value| !(value.is_finite() && *value > 0.0)) {
            return Err(format!("{name} is {value}; it must be a number above 0"));
        }
    }
    Ok(())
}

/// True if the source does not itself put `p` terminals on every router.
fn p_differs(p: u32, nodes: &[Node], homes: &[u32]) -> bool {
    let mut counts: Vec<u64> = nodes.iter().map(|node| node.terminals.unwrap_or(0)).collect();
    homes.iter().for_each(|&home| counts[home as usize] += 1);
    counts.iter().any(|&count| count != u64::from(p))
}

/// The positions of `names` in ascending order, if all are whole numbers in plain decimal digits.
fn ascending<'a>(names: impl Iterator<Item = &'a str>) -> Option<Vec<usize>> {
    let plain = |name: &str| name.parse::<u64>().ok().filter(|number| number.to_string() == name);
    let numbers: Vec<u64> = names.map(plain).collect::<Option<_>>()?;
    let mut order: Vec<usize> = (0..numbers.len()).collect();
    order.sort_by_key(|&place| numbers[place]);
    Some(order)
}

/// Links that run beside others.
pub(super) struct ParallelLinks {
    /// Pairs of routers that more than one link joins.
    pub pairs: usize,
    /// The links between them.
    pub links: usize,
    /// The position of the first link that runs beside an earlier one.
    pub first: Option<usize>,
}

/// Counts parallel links, given the routers at the ends of each link.
pub(super) fn parallel_links(ends: impl Iterator<Item = [RouterId; 2]>) -> ParallelLinks {
    let mut count: HashMap<[RouterId; 2], usize> = HashMap::new();
    let mut first = None;
    for (place, [a, b]) in ends.enumerate() {
        let links = count.entry([a.min(b), a.max(b)]).or_insert(0);
        *links += 1;
        if *links == 2 && first.is_none() {
            first = Some(place);
        }
    }
    let many = || count.values().filter(|&&links| links > 1);
    ParallelLinks { pairs: many().count(), links: many().sum(), first }
}

/// The SHA-256 of some bytes, in hexadecimal digits.
pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
