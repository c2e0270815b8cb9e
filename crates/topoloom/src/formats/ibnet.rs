//! Subnets of InfiniBand, as `ibnetdiscover` prints them and the simulator ibsim reads them.
//!
//! A record a node: `Switch 36 "S-0002c90200404e50" # "leaf 1" base port 0 lid 3 lmc 0`, then a line a port that is
//! connected, `[1] "H-0002c903000a1b2c"[1](2c903000a1b2d) # "node001 HCA-1" lid 5 4xQDR`; `Ca` (or `Hca`) begins a
//! channel adapter, whose lines are `[1](2c903000a1b2d) "S-0002c90200404e50"[1]`. Each connected port of an adapter is
//! a terminal. GUIDs and port numbers are kept as the network's [`Fabric`], so that forwarding tables fit it.

use std::collections::HashMap;
use std::fmt::Write;

use super::{Draft, DraftLink, Format, Holds, Mistake, Timing, number, short, text};
use crate::error::{Error, Result};
use crate::network::{Fabric, Network, Peer, RouterId};

pub(super) const FORMAT: Format = Format {
    name: "ibsim",
    endings: &["ibnet", "ibsim", "topo"],
    summary: "an InfiniBand subnet: what ibnetdiscover prints of a real cluster, and ibsim simulates",
    holds: &[Holds::Terminals, Holds::TerminalIds, Holds::ParallelLinks, Holds::LoneRouters],
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
        numbers: network.routers().flat_map(|router| 1..=network.radix_of(router) as u16).collect(),
    })
}

/// An end of a cable: the node's name, the number of its port, and the port's GUID where it is told.
#[derive(Debug, Clone, PartialEq, Eq)]
struct End<'t> {
    node: &'t str,
    port: u16,
    guid: Option<u64>,
}

/// What kind of node a record is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Switch,
    Adapter,
}

/// A cable as one of its ends tells it.
struct Cable<'t> {
    ends: [End<'t>; 2],
    line: usize,
}

/// The text before a comment, which begins with `#` outside of quotes.
fn without_comment(line: &str) -> &str {
    let mut quoted = false;
    let end = line.char_indices().find(|&(_, c)| {
        quoted ^= c == '"';
        c == '#' && !quoted
    });
    line[..end.map_or(line.len(), |(place, _)| place)].trim()
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

fn read(bytes: &[u8]) -> std::result::Result<Draft, Mistake> {
    let text = text(bytes)?;
    let mut nodes: Vec<(&str, Kind, usize)> = Vec::new();
    let mut kinds: HashMap<&str, Kind> = HashMap::new();
    let mut cables: Vec<Cable> = Vec::new();
    let mut ignored = 0;
    for (line, whole) in (1..).zip(text.lines()) {
        let content = without_comment(whole);
        let word = content.split_whitespace().next().unwrap_or("");
        if let Some(kind) = kind_of(word) {
            let rest = content[word.len()..].trim_start();
            let name = rest.split_once(char::is_whitespace).and_then(|(_, rest)| quoted(rest)).map(|(name, _)| name);
            let wrong = || Mistake::at(line, format!("a node is like '{word} 36 \"S-0002c90200404e50\"'"));
            let name = name.ok_or_else(wrong)?;
            if kinds.insert(name, kind).is_some() {
                return Err(Mistake::at(line, format!("node '{}' stands here a second time", short(name))));
            }
            nodes.push((name, kind, line));
        } else if content.starts_with('[') {
            let &(node, ..) =
                nodes.last().ok_or_else(|| Mistake::at(line, "a port stands before the first Switch or Ca"))?;
            cables.push(cable(node, content, line)?);
        } else if word == "Rt" {
            return Err(Mistake::at(line, "a router between subnets stands here; a subnet has switches and adapters"));
        } else if !content.is_empty() && !content.contains('=') && !content.starts_with("DR path") {
            ignored += 1;
        }
    }
    if nodes.is_empty() {
        let what = "no Switch stands in it; it is not what ibnetdiscover prints";
        return Err(Mistake::whole(what));
    }
    let mut draft = Subnet { kinds, ..Subnet::default() }.draft(&nodes, &cables)?;
    if ignored > 0 {
        draft.notes.push(format!("{ignored} lines that are neither nodes nor ports were ignored"));
    }
    Ok(draft)
}

fn kind_of(word: &str) -> Option<Kind> {
    match word {
        "Switch" => Some(Kind::Switch),
        "Ca" | "Hca" => Some(Kind::Adapter),
        _ => None,
    }
}

/// The cable that a line of `node` is about.
fn cable<'t>(node: &'t str, content: &'t str, line: usize) -> std::result::Result<Cable<'t>, Mistake> {
    let (own, guid, rest) = port(content, line)?;
    let (peer, rest) =
        quoted(rest).ok_or_else(|| Mistake::at(line, "a port is like '[1] \"S-0002c90200404e50\"[3]'"))?;
    let (theirs, their_guid, _) = port(rest, line)?;
    Ok(Cable { ends: [End { node, port: own, guid }, End { node: peer, port: theirs, guid: their_guid }], line })
}

/// What is gathered over all cables.
#[derive(Default)]
struct Subnet<'t> {
    kinds: HashMap<&'t str, Kind>,
    /// The other end of each end, by node and port.
    peers: HashMap<(&'t str, u16), (&'t str, u16)>,
}

impl<'t> Subnet<'t> {
    fn draft(mut self, nodes: &[(&'t str, Kind, usize)], cables: &[Cable<'t>]) -> std::result::Result<Draft, Mistake> {
        let mut draft = Draft::default();
        for &(name, _, line) in nodes.iter().filter(|(_, kind, _)| *kind == Kind::Switch) {
            draft.node(name, line);
        }
        // Adapters that have no record of their own stand behind the others.
        let mut adapters: Vec<&str> =
            nodes.iter().filter(|(_, kind, _)| *kind == Kind::Adapter).map(|&(name, ..)| name).collect();
        let mut terminals: HashMap<&str, Vec<(u16, u32, u16, u64)>> = HashMap::new();
        let mut guids: HashMap<(&str, u16), u64> = HashMap::new();
        cables.iter().flat_map(|cable| &cable.ends).for_each(|end| {
            end.guid.map(|guid| guids.insert((end.node, end.port), guid));
        });
        for cable in cables {
            if !self.is_new(cable)? {
                continue;
            }
            let [a, b] = &cable.ends;
            let (switch, other) = if self.kind(a.node) == Kind::Switch { (a, b) } else { (b, a) };
            let known = |end: &End| {
                let what = format!("a port leads to '{}', of which there is no record", short(end.node));
                draft.find(end.node).ok_or_else(|| Mistake::at(cable.line, what))
            };
            match self.kind(other.node) {
                Kind::Switch => {
                    let ends = [known(switch)?, known(other)?];
                    let ports = Some([u32::from(switch.port), u32::from(other.port)]);
                    draft.link(DraftLink { ports, ..DraftLink::new(ends[0], ends[1], cable.line) })?;
                }
                Kind::Adapter if self.kind(switch.node) == Kind::Switch => {
                    let guid = guids.get(&(other.node, other.port)).copied().or(guid_in(other.node));
                    let guid = guid.unwrap_or(ADAPTER_GUIDS + terminals.len() as u64);
                    if !terminals.contains_key(other.node) && !adapters.contains(&other.node) {
                        adapters.push(other.node);
                    }
                    let entry = (other.port, known(switch)?, switch.port, guid);
                    terminals.entry(other.node).or_default().push(entry);
                }
                Kind::Adapter => {
                    let what = format!("channel adapters '{}' and '{}' are linked without a switch", a.node, b.node);
                    return Err(Mistake::at(cable.line, what));
                }
            }
        }
        let switches = nodes.iter().filter(|(_, kind, _)| *kind == Kind::Switch);
        let guid = |(place, &(name, ..)): (u64, &(&str, Kind, usize))| guid_in(name).unwrap_or(SWITCH_GUIDS + place);
        let mut wiring =
            super::draft::Wiring { switches: (0..).zip(switches).map(guid).collect(), terminals: Vec::new() };
        for adapter in adapters {
            let mut ports = terminals.remove(adapter).unwrap_or_default();
            ports.sort_unstable();
            for (_, switch, number, guid) in ports {
                draft.terminal(switch);
                wiring.terminals.push((number, guid));
            }
        }
        draft.wiring = Some(wiring);
        Ok(draft)
    }

    fn kind(&self, node: &str) -> Kind {
        let by_name = if node.starts_with("S-") { Kind::Switch } else { Kind::Adapter };
        self.kinds.get(node).copied().unwrap_or(by_name)
    }

    /// True for a cable whose other end has not told it yet.
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
    let mut text = format!("# {}\n", network.spec());
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
