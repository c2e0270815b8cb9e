//! Subnets of InfiniBand, as `ibnetdiscover` prints them and the simulator ibsim reads them.
//!
//! Each node has a record: `Switch 36 "S-0002c90200404e50" # "leaf 1" base port 0 lid 3 lmc 0`, then one line per
//! connected port, `[1] "H-0002c903000a1b2c"[1](2c903000a1b2d) # "node001 HCA-1" lid 5 4xQDR`. `Ca` (or `Hca`) begins a
//! channel adapter, whose lines are `[1](2c903000a1b2d) "S-0002c90200404e50"[1]`. Each connected port of an adapter is
//! a terminal. The network's [`Fabric`] keeps GUIDs and port numbers, so that forwarding tables fit it. The reader
//! omits nodes that are no hosts (see [`Kind`]) and names them. It also names links at a lower rate than the others,
//! and keeps them.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write;

use super::ibrate::{Ends, Rate, Rates};
use super::{Format, Holds, Mistake, RawGraph, RawLink, Timing, comment, commented, number, short, text};
use crate::error::{Error, Result, several};
use crate::network::{Fabric, Network, Peer, RouterId};

pub(super) const FORMAT: Format = Format {
    name: "ibsim",
    endings: &["ibnet", "ibsim", "topo"],
    summary: "an InfiniBand subnet: what ibnetdiscover prints of a real cluster, and ibsim simulates",
    holds: &[Holds::Terminals, Holds::TerminalIds, Holds::ParallelLinks, Holds::LoneRouters, Holds::Spec],
    read: Some(read),
    write: Some(write),
    beside: None,
};

/// The most ports that a switch of InfiniBand can have.
const MOST_PORTS: usize = 254;

/// GUIDs that we give: of switches, and of channel adapters, between which ibsim has room for those of their ports.
const SWITCH_GUIDS: u64 = 0x1000_0000_0000;
const ADAPTER_GUIDS: u64 = 0x2000_0000_0000;
const GUIDS_APART: u64 = 16;

/// GUIDs and port numbers of a network: its own, or those that we give it.
pub fn fabric(network: &Network) -> Fabric {
    network.fabric().cloned().unwrap_or_else(|| Fabric {
        switches: (0..network.num_routers() as u64).map(|router| SWITCH_GUIDS + GUIDS_APART * router).collect(),
        adapters: (0..network.num_terminals() as u64).map(|id| ADAPTER_GUIDS + GUIDS_APART * id + 1).collect(),
        left_out: Vec::new(),
        numbers: network.routers().flat_map(|router| 1..=network.radix_of(router) as u16).collect(),
    })
}

/// An end of a cable: the node's name, the number of its port, and the port's GUID where it is given.
#[derive(Debug, Clone, PartialEq, Eq)]
struct End<'t> {
    node: &'t str,
    port: u16,
    guid: Option<u64>,
}

/// What kind of node a record is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Switch,
    Adapter,
    /// The node of a switch that reduces messages in flight (SHARP), which is listed as a channel adapter.
    Aggregation,
    /// A router to other subnets.
    Router,
    /// A target channel adapter: an I/O device.
    Target,
}

impl Kind {
    /// What a node that is no part of the network is called, and why it is none; the same of several.
    fn left_out(self) -> Option<[&'static str; 2]> {
        match self {
            Self::Switch | Self::Adapter => None,
            Self::Aggregation => Some([
                "aggregation node of a switch (SHARP), which is no host",
                "aggregation nodes of switches (SHARP), which are no hosts",
            ]),
            Self::Router => Some(["router to other subnets", "routers to other subnets"]),
            Self::Target => Some([
                "target channel adapter, which is an I/O device",
                "target channel adapters, which are I/O devices",
            ]),
        }
    }

    /// The kind of the records that begin with `word`.
    fn of_word(word: &str) -> Option<Self> {
        match word {
            "Switch" => Some(Self::Switch),
            "Ca" | "Hca" => Some(Self::Adapter),
            "Rt" => Some(Self::Router),
            "Tca" => Some(Self::Target),
            _ => None,
        }
    }

    /// The same kind, unless the description of an adapter states that it is none.
    fn described(self, description: &str) -> Self {
        if self == Self::Adapter && is_aggregation_node(description) { Self::Aggregation } else { self }
    }
}

/// True for what the aggregation nodes of switches are called: `Mellanox Technologies Aggregation Node`.
pub(crate) fn is_aggregation_node(description: &str) -> bool {
    description.to_ascii_lowercase().contains("aggregation node")
}

/// A node that has a record.
struct Record<'t> {
    name: &'t str,
    kind: Kind,
    line: usize,
}

/// A cable as one of its ends lists it.
struct Cable<'t> {
    ends: [End<'t>; 2],
    /// The rate at which it runs, where that is given.
    rate: Option<Rate>,
    line: usize,
}

/// The text before a comment, which begins with `#` outside of quotes; and the comment.
fn split_comment(line: &str) -> (&str, &str) {
    let mut quoted = false;
    let end = line.char_indices().find(|&(_, c)| {
        quoted ^= c == '"';
        c == '#' && !quoted
    });
    let (content, comment) = line.split_at(end.map_or(line.len(), |(place, _)| place));
    (content.trim(), comment)
}

/// The description of a node in a comment: what stands between the first quote and the last.
fn description(comment: &str) -> &str {
    let (Some(begin), Some(end)) = (comment.find('"'), comment.rfind('"')) else { return "" };
    comment.get(begin + 1..end).unwrap_or("")
}

/// The first few of some things, and how many there are beside.
pub(super) fn listed(things: &[String]) -> String {
    const SHOWN: usize = 8;
    let shown = things[..things.len().min(SHOWN)].join(", ");
    if things.len() > SHOWN { format!("{shown} and {} more", things.len() - SHOWN) } else { shown }
}

/// What stands between the quotes at the beginning, and the rest.
fn quoted(text: &str) -> Option<(&str, &str)> {
    text.trim_start().strip_prefix('"')?.split_once('"')
}

/// `[3]`, perhaps with a GUID behind it, `[3](2c90…)`; and the rest.
fn port(text: &str, line: usize) -> std::result::Result<(u16, Option<u64>, &str), Mistake> {
    let wrong = || Mistake::at(line, format!("'{}' is no port; it must be like [3]", short(text)));
    let (inner, rest) = text.trim_start().strip_prefix('[').and_then(|rest| rest.split_once(']')).ok_or_else(wrong)?;
    let port = number("the number of a port", inner, line)?;
    let Some((guid, rest)) = rest.strip_prefix('(').and_then(|rest| rest.split_once(')')) else {
        return Ok((port, None, rest));
    };
    let guid = u64::from_str_radix(guid.trim_start_matches("0x"), 16)
        .map_err(|_| Mistake::at(line, format!("'{}' is no GUID", short(guid))))?;
    Ok((port, Some(guid), rest))
}

/// The GUID in a node's name, as in `S-0002c90200404e50`.
fn guid_in(name: &str) -> Option<u64> {
    u64::from_str_radix(name.split_once('-')?.1, 16).ok()
}

fn read(bytes: &[u8]) -> std::result::Result<RawGraph, Mistake> {
    let text = text(bytes)?;
    let mut subnet = Subnet::default();
    let mut ignored = 0;
    for (line, whole) in (1..).zip(text.lines()) {
        let (content, comment) = split_comment(whole);
        let word = content.split_whitespace().next().unwrap_or("");
        if let Some(kind) = Kind::of_word(word) {
            let rest = content[word.len()..].trim_start();
            let name = rest.split_once(char::is_whitespace).and_then(|(_, rest)| quoted(rest)).map(|(name, _)| name);
            let wrong = || Mistake::at(line, format!("a node is like '{word} 36 \"S-0002c90200404e50\"'"));
            subnet.record(name.ok_or_else(wrong)?, kind, description(comment), line)?;
        } else if content.starts_with('[') {
            subnet.port(content, comment, line)?;
        } else if !content.is_empty() && !content.contains('=') && !content.starts_with("DR path") {
            ignored += 1;
        }
    }
    if subnet.records.is_empty() {
        let what = "it lists no Switch; it is not what ibnetdiscover prints";
        return Err(Mistake::whole(what));
    }
    let mut raw = subnet.raw()?;
    raw.written_as = commented(text);
    if ignored > 0 {
        raw.notes.push(format!("{} ignored: neither nodes nor ports", several(ignored, "line")));
    }
    Ok(raw)
}

/// The cable that a line of `node` is about.
fn cable<'t>(node: &'t str, content: &'t str, comment: &str, line: usize) -> std::result::Result<Cable<'t>, Mistake> {
    let (own, guid, rest) = port(content, line)?;
    let (peer, rest) =
        quoted(rest).ok_or_else(|| Mistake::at(line, "a port is like '[1] \"S-0002c90200404e50\"[3]'"))?;
    let (theirs, their_guid, _) = port(rest, line)?;
    let ends = [End { node, port: own, guid }, End { node: peer, port: theirs, guid: their_guid }];
    let rate = comment.rsplit('"').next().and_then(|tail| tail.split_whitespace().next_back()).and_then(Rate::parse);
    Ok(Cable { ends, rate, line })
}

/// A port of an adapter: its number, the switch and the port there, its GUID.
type Attachment = (u16, u32, u16, u64);

/// What is gathered over all lines.
#[derive(Default)]
struct Subnet<'t> {
    records: Vec<Record<'t>>,
    /// Their names.
    recorded: HashSet<&'t str>,
    cables: Vec<Cable<'t>>,
    kinds: HashMap<&'t str, Kind>,
    /// What nodes are called by people, where that is given.
    descriptions: HashMap<&'t str, &'t str>,
    /// The other end of each end, by node and port.
    peers: HashMap<(&'t str, u16), (&'t str, u16)>,
    rates: Rates,
    /// Adapters in the order of their records, those without one behind the others.
    adapters: Vec<&'t str>,
    attached: HashMap<&'t str, Vec<Attachment>>,
    /// Nodes that are no part of the network, each with an end of a cable at a switch.
    left_out: BTreeMap<(Kind, &'t str), Option<(&'t str, u16)>>,
    /// GUIDs of the ports that are given.
    guids: HashMap<(&'t str, u16), u64>,
}

impl<'t> Subnet<'t> {
    /// Takes the first line of a record.
    fn record(
        &mut self,
        name: &'t str,
        kind: Kind,
        description: &'t str,
        line: usize,
    ) -> std::result::Result<(), Mistake> {
        let kind = kind.described(description);
        if !self.recorded.insert(name) {
            return Err(Mistake::at(line, format!("node '{}' stands here a second time", short(name))));
        }
        self.kinds.insert(name, kind);
        self.descriptions.insert(name, description);
        self.records.push(Record { name, kind, line });
        Ok(())
    }

    /// Takes a line of the last record.
    fn port(&mut self, content: &'t str, comment: &'t str, line: usize) -> std::result::Result<(), Mistake> {
        let last = self.records.last().map(|record| record.name);
        let node = last.ok_or_else(|| Mistake::at(line, "a port comes before the first Switch or Ca"))?;
        let cable = cable(node, content, comment, line)?;
        for end in &cable.ends {
            end.guid.map(|guid| self.guids.insert((end.node, end.port), guid));
        }
        // An adapter may have no record of its own: its description is at the switch as well.
        let peer = cable.ends[1].node;
        if self.kind(node) == Kind::Switch && self.kind(peer) == Kind::Adapter {
            let described = description(comment);
            self.descriptions.entry(peer).or_insert(described);
            if is_aggregation_node(described) {
                self.kinds.insert(peer, Kind::Aggregation);
            }
        }
        self.cables.push(cable);
        Ok(())
    }

    fn raw(mut self) -> std::result::Result<RawGraph, Mistake> {
        let mut raw = RawGraph::default();
        for record in self.records.iter().filter(|record| record.kind == Kind::Switch) {
            raw.node(record.name, record.line);
        }
        let of_kind = |kind: Kind| self.records.iter().filter(move |record| record.kind == kind);
        self.adapters = of_kind(Kind::Adapter).map(|record| record.name).collect();
        let alone = self.records.iter().filter(|record| record.kind.left_out().is_some());
        self.left_out = alone.map(|record| ((record.kind, record.name), None)).collect();
        for cable in std::mem::take(&mut self.cables) {
            let new = self.is_new(&cable)?;
            self.take(&cable, new, &mut raw)?;
        }
        raw.wiring = Some(self.wiring(&mut raw));
        raw.notes.extend(self.notes());
        Ok(raw)
    }

    /// Takes a cable, `new` if its other end has not listed it yet.
    fn take(&mut self, cable: &Cable<'t>, new: bool, raw: &mut RawGraph) -> std::result::Result<(), Mistake> {
        let [a, b] = &cable.ends;
        let (near, far) = if self.kind(a.node) == Kind::Switch { (a, b) } else { (b, a) };
        let kinds = [near, far].map(|end| self.kind(end.node));
        if let Some(end) = [far, near].into_iter().find(|end| self.kind(end.node).left_out().is_some()) {
            let at = (kinds[0] == Kind::Switch).then_some((near.node, near.port));
            let known = self.left_out.entry((self.kind(end.node), end.node)).or_default();
            *known = known.or(at);
            return Ok(());
        }
        if kinds[0] != Kind::Switch {
            let what = format!("channel adapters '{}' and '{}' are linked without a switch", a.node, b.node);
            return Err(Mistake::at(cable.line, what));
        }
        let ends: Ends = [near, far].map(|end| (end.node.to_owned(), end.port));
        self.rates.told(kinds[1] == Kind::Adapter, ends, cable.rate);
        if !new {
            return Ok(());
        }
        let known = |end: &End| {
            let what = format!("a port leads to '{}', of which there is no record", short(end.node));
            raw.find(end.node).ok_or_else(|| Mistake::at(cable.line, what))
        };
        if kinds[1] == Kind::Switch {
            let ends = [known(near)?, known(far)?];
            let ports = Some([u32::from(near.port), u32::from(far.port)]);
            return raw.link(RawLink { ports, ..RawLink::new(ends[0], ends[1], cable.line) });
        }
        let switch = known(near)?;
        let guid = self.guids.get(&(far.node, far.port)).copied().or(guid_in(far.node));
        let guid = guid.unwrap_or(ADAPTER_GUIDS + self.attached.len() as u64);
        if !self.attached.contains_key(far.node) && !self.recorded.contains(far.node) {
            self.adapters.push(far.node);
        }
        self.attached.entry(far.node).or_default().push((far.port, switch, near.port, guid));
        Ok(())
    }

    /// Puts the terminals into the raw graph; returns what tables need.
    fn wiring(&mut self, raw: &mut RawGraph) -> super::raw_graph::Wiring {
        let switches = self.records.iter().filter(|record| record.kind == Kind::Switch);
        let guid = |(place, record): (u64, &Record)| guid_in(record.name).unwrap_or(SWITCH_GUIDS + place);
        let switches = (0..).zip(switches).map(guid).collect();
        let mut terminals = Vec::new();
        for adapter in std::mem::take(&mut self.adapters) {
            let mut ports = self.attached.remove(adapter).unwrap_or_default();
            ports.sort_unstable();
            for (_, switch, number, guid) in ports {
                raw.terminal(switch);
                terminals.push((number, guid));
            }
        }
        let is_left_out = |node: &str| self.kind(node).left_out().is_some();
        let left_out = self.guids.iter().filter(|((node, _), _)| is_left_out(node)).map(|(_, &guid)| guid);
        let mut left_out: Vec<u64> = left_out.collect();
        left_out.sort_unstable();
        super::raw_graph::Wiring { switches, terminals, left_out }
    }

    /// Sentences on nodes that were left out, and on links that run at other rates than most.
    fn notes(&self) -> Vec<String> {
        let mut kinds: BTreeMap<[&str; 2], Vec<String>> = BTreeMap::new();
        for (&(kind, node), at) in &self.left_out {
            let at = at.map_or(String::new(), |(switch, port)| format!(" at port {port} of {}", self.called(switch)));
            kinds.entry(kind.left_out().unwrap_or_default()).or_default().push(format!("{}{at}", self.called(node)));
        }
        let left_out = |([one, several], nodes): ([&str; 2], Vec<String>)| {
            let what = if nodes.len() == 1 { one } else { several };
            format!("{} {what}, left out of the network: {}", nodes.len(), listed(&nodes))
        };
        let end = |(node, port): &(String, u16)| format!("port {port} of {}", self.called(node));
        kinds.into_iter().map(left_out).chain(self.rates.notes(end)).collect()
    }

    /// A node as people know it: `'leaf 1' (S-0002c90200404e50)`.
    fn called(&self, node: &str) -> String {
        match self.descriptions.get(node).filter(|text| !text.is_empty()) {
            Some(text) => format!("'{}' ({node})", short(text)),
            None => node.to_owned(),
        }
    }

    fn kind(&self, node: &str) -> Kind {
        let by_name = match node.split_once('-') {
            Some(("S", _)) => Kind::Switch,
            Some(("R", _)) => Kind::Router,
            _ => Kind::Adapter,
        };
        self.kinds.get(node).copied().unwrap_or(by_name)
    }

    /// True for a cable whose other end has not listed it yet.
    fn is_new(&mut self, cable: &Cable<'t>) -> std::result::Result<bool, Mistake> {
        let [a, b] = &cable.ends;
        let ends = [(a.node, a.port), (b.node, b.port)];
        let known = [0, 1].map(|end| self.peers.get(&ends[end]).copied());
        for (end, known) in known.iter().enumerate() {
            let (node, port) = ends[end];
            if let Some((peer, other)) = known.filter(|&known| known != ends[1 - end]) {
                let what = format!(
                    "port {port} of '{}' leads to port {} of '{}' here, and to port {other} of '{}' before",
                    short(node),
                    ends[1 - end].1,
                    short(ends[1 - end].0),
                    short(peer)
                );
                return Err(Mistake::at(cable.line, what));
            }
        }
        self.peers.insert(ends[0], ends[1]);
        self.peers.insert(ends[1], ends[0]);
        Ok(known[0].is_none())
    }
}

fn write(network: &Network, _timing: &Timing) -> Result<String> {
    let radix = network.radix();
    if radix > MOST_PORTS {
        let spec = network.spec();
        return Err(Error::Spec(format!(
            "{spec}: a router has {radix} ports; a switch of InfiniBand has {MOST_PORTS} at most"
        )));
    }
    let fabric = fabric(network);
    let switch = |router: RouterId| format!("\"S-{:016x}\"", fabric.switches[router.index()]);
    let adapter = |terminal: usize| format!("\"H-{:016x}\"", fabric.adapters[terminal] - 1);
    let mut text = comment(network, '#');
    let mut add = |line: std::fmt::Arguments| text.write_fmt(line).expect("a string takes what is written");
    for router in network.routers() {
        let (guid, ports) = (fabric.switches[router.index()], network.radix_of(router));
        let most =
            (network.port_base(router)..).take(ports).map(|port| fabric.numbers[port as usize]).max().unwrap_or(1);
        add(format_args!("\nswitchguid=0x{guid:x}\nSwitch\t{most} {}\t# \"router {router}\"\n", switch(router)));
        for (port, id) in network.ports_of(router).iter().zip(network.port_base(router)..) {
            let number = fabric.numbers[id as usize];
            match port.peer {
                Peer::Terminal(terminal) => {
                    add(format_args!("[{number}]\t{}[1]\t# \"terminal {terminal}\"\n", adapter(terminal.index())))
                }
                Peer::Port(peer) => {
                    let to = network.ports()[peer.index()].router;
                    let theirs = fabric.numbers[peer.index()];
                    add(format_args!("[{number}]\t{}[{theirs}]\t# \"router {to}\"\n", switch(to)));
                }
            }
        }
    }
    for terminal in 0..network.num_terminals() {
        let port = network.terminal_port(crate::network::TerminalId(terminal as u32));
        let (router, guid) = (network.local_port(port).0, fabric.adapters[terminal]);
        add(format_args!(
            "\ncaguid=0x{:x}\nCa\t1 {}\t# \"terminal {terminal}\"\n[1]({guid:x})\t{}[{}]\t# \"router {router}\"\n",
            guid - 1,
            adapter(terminal),
            switch(router),
            fabric.numbers[port.index()]
        ));
    }
    Ok(text)
}
