//! Linear forwarding tables as they are dumped by OpenSM itself, and by `ibroute` and `dump_lfts` of InfiniBand's
//! tools.
//!
//! Our own are written as OpenSM writes them, and as `opensm -R file -U FILE` reads them.
//!
//! Each switch has a section, `Unicast lids [0x0-0x2a] of switch Lid 5 guid 0x… (NAME):`, with one line per LID,
//! `0x0007 004 : (Channel Adapter portguid 0x…: 'NAME')`; OpenSM writes `0x0007 004 # Channel Adapter portguid 0x…:
//! 'NAME'`. IB counts ports from 1: port k is our port k - 1; port 0 is the switch itself. A network that was read from
//! `ibnetdiscover` has GUIDs and numbers of ports, which identify switches, adapters and ports. In other networks, the
//! first number in the names of switches is the router id if it runs through all ids, from 0 or from 1. Otherwise the
//! switches are in the order of the routers. Channel adapters likewise, else by the port at which their switch has
//! them, else by ascending LID. Of an adapter that has several LIDs the first counts.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write;

use super::table::TableMinimal;
use super::tables::{Columns, NO_PORT, Tables};
use crate::error::{Error, Result};
use crate::formats::{fabric, is_aggregation_node};
use crate::network::{Fabric, Network, Peer, RouterId, TerminalId};

/// True for the line that begins a switch's section.
pub(super) fn is_header(line: &str) -> bool {
    line.trim_start().starts_with("Unicast lids")
}

/// A switch: its name, and (LID, port) of its entries, with their lines.
struct Switch<'t> {
    name: &'t str,
    guid: Option<u64>,
    entries: Vec<(u32, u32, usize)>,
}

/// Reads a dump as tables by terminal.
pub(super) fn read(network: &Network, file: &str, text: &str) -> Result<Tables> {
    let mistake = |line: usize, what: String| Error::Routing(format!("{file}, line {line}: {what}"));
    let mut switches: Vec<Switch> = Vec::new();
    let mut adapters: BTreeMap<u32, &str> = BTreeMap::new();
    let mut first_lids: HashMap<&str, u32> = HashMap::new();
    for (line, number) in text.lines().zip(1..) {
        let line = line.trim();
        if is_header(line) {
            let name =
                line.split_once('(').map_or("", |(_, name)| name.rsplit_once(')').map_or(name, |(name, _)| name));
            switches.push(Switch { name, guid: guid_after(line, "guid 0x"), entries: Vec::new() });
            continue;
        }
        let Some((lid, rest)) = line.strip_prefix("0x").and_then(|line| line.split_once(' ')) else { continue };
        let (port, info) = rest.trim_start().split_once(' ').unwrap_or((rest, ""));
        let (Ok(lid), Ok(port)) = (u32::from_str_radix(lid, 16), port.parse::<u32>()) else {
            return Err(mistake(number, format!("'{line}' is not a LID with its port")));
        };
        let Some(switch) = switches.last_mut() else {
            return Err(mistake(number, "an entry before the first 'Unicast lids … of switch'".to_owned()));
        };
        if info.contains("Channel Adapter")
            && !is_left_out(network, info)
            && *first_lids.entry(info).or_insert(lid) == lid
        {
            adapters.insert(lid, info);
            switch.entries.push((lid, port, number));
        }
    }
    let count = |kind: &str, found: usize, wanted: usize| {
        let what = format!("{file}: tables of {found} {kind}; {} has {wanted}", network.spec());
        if found == wanted { Ok(()) } else { Err(Error::Routing(what)) }
    };
    count("switches", switches.len(), network.num_routers())?;
    count("channel adapters", adapters.len(), network.num_terminals())?;
    let (routers, terminals) = match network.fabric() {
        Some(fabric) => {
            by_guids(fabric, &switches, &adapters).map_err(|what| Error::Routing(format!("{file}: {what}")))?
        }
        None => by_names(network, &switches, &adapters),
    };
    let mut tables = Tables::new(network, file, Columns::Terminals)?;
    for (switch, router) in switches.iter().zip(routers) {
        let at = RouterId(router);
        for &(lid, port, number) in &switch.entries {
            let column = tables.column_of(network, terminals[&lid]);
            let Some(place) = place_of(network, at, port) else {
                let (name, has) = (switch.name, ports_of(network, at));
                return Err(mistake(number, format!("port {port} of switch {name}; router {at} has {has}")));
            };
            let (home, own) = network.local_port(network.terminal_port(TerminalId(terminals[&lid])));
            if home != at {
                tables.set_next(at, column, place);
            } else if u32::from(place) != own {
                let (terminal, name) = (terminals[&lid], switch.name);
                return Err(mistake(
                    number,
                    format!(
                        "port {port} of switch {name}, which stands for router {at}, where terminal {terminal} hangs at port {}",
                        number_of(network, at, own)
                    ),
                ));
            }
        }
    }
    Ok(tables)
}

/// True for a node that the subnet has and the network has not.
fn is_left_out(network: &Network, info: &str) -> bool {
    let known = |guid: u64| network.fabric().is_some_and(|fabric| fabric.left_out.contains(&guid));
    is_aggregation_node(info) || guid_after(info, "portguid 0x").is_some_and(known)
}

/// The number behind a word such as `guid 0x`.
fn guid_after(text: &str, word: &str) -> Option<u64> {
    let digits = text.split_once(word)?.1;
    let end = digits.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(digits.len());
    u64::from_str_radix(&digits[..end], 16).ok()
}

/// The local port that has a number in the subnet.
fn place_of(network: &Network, at: RouterId, number: u32) -> Option<u16> {
    let ports = network.radix_of(at);
    let Some(fabric) = network.fabric() else {
        return (1..=ports as u32).contains(&number).then(|| number as u16 - 1);
    };
    let first = network.port_base(at) as usize;
    fabric.numbers[first..first + ports].iter().position(|&known| u32::from(known) == number).map(|place| place as u16)
}

/// The number of a local port in the subnet.
fn number_of(network: &Network, at: RouterId, place: u32) -> u32 {
    network.fabric().map_or(place + 1, |fabric| fabric.numbers[(network.port_base(at) + place) as usize].into())
}

/// "ports 1 to 8", or which of them are connected.
fn ports_of(network: &Network, at: RouterId) -> String {
    let numbers: Vec<u32> = (0..network.radix_of(at) as u32).map(|place| number_of(network, at, place)).collect();
    let all = (1..).zip(&numbers).all(|(wanted, &number)| number == wanted);
    match numbers.last() {
        Some(last) if all => format!("ports 1 to {last}"),
        _ => format!("ports {}", numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(" ")),
    }
}

/// The router of each switch and the terminal of each LID.
type Ids = (Vec<u32>, BTreeMap<u32, u32>);

/// By the GUIDs that the subnet has.
fn by_guids(fabric: &Fabric, switches: &[Switch], adapters: &BTreeMap<u32, &str>) -> std::result::Result<Ids, String> {
    let places = |guids: &[u64]| guids.iter().copied().zip(0..).collect::<HashMap<u64, u32>>();
    let (routers, terminals) = (places(&fabric.switches), places(&fabric.adapters));
    let router = |switch: &Switch| {
        let known = switch.guid.and_then(|guid| routers.get(&guid)).copied();
        known.ok_or_else(|| format!("the network has no switch with the GUID of {}", switch.name))
    };
    let terminal = |(&lid, info): (&u32, &&str)| {
        let known = guid_after(info, "portguid 0x").and_then(|guid| terminals.get(&guid)).copied();
        known
            .map(|terminal| (lid, terminal))
            .ok_or_else(|| format!("the network has no {}", info.trim_start_matches(['#', ' ', ':', '('])))
    };
    let routers = switches.iter().map(router).collect::<std::result::Result<_, String>>()?;
    Ok((routers, adapters.iter().map(terminal).collect::<std::result::Result<_, String>>()?))
}

/// By numbers in names, by ports, or in their order.
fn by_names(network: &Network, switches: &[Switch], adapters: &BTreeMap<u32, &str>) -> Ids {
    let routers =
        numbered(switches.iter().map(|switch| switch.name)).unwrap_or_else(|| (0..switches.len() as u32).collect());
    let names = adapters.values().map(|info| info.split('\'').nth(1).unwrap_or(""));
    let terminals = match numbered(names) {
        Some(numbers) => adapters.keys().copied().zip(numbers).collect(),
        None => by_ports(network, switches, &routers, adapters.len())
            .unwrap_or_else(|| adapters.keys().copied().zip(0..).collect()),
    };
    (routers, terminals)
}

/// The most LIDs for single destinations.
const MOST_LIDS: usize = 0xBFFF;

/// Writes tables by terminal as OpenSM does, with the GUIDs of [`fabric`]: terminal t has LID t + 1, and the switches,
/// which have a shortest path each, follow.
///
/// # Errors
/// More terminals and routers than LIDs, or a disconnected network.
pub fn write(network: &Network, tables: &Tables) -> Result<String> {
    let (terminals, routers) = (network.num_terminals(), network.num_routers());
    if terminals + routers > MOST_LIDS {
        let spec = network.spec();
        return Err(Error::TooLarge(format!(
            "{spec} has {terminals} terminals and {routers} routers; a subnet has {MOST_LIDS} LIDs"
        )));
    }
    let (fabric, shortest) = (fabric(network), TableMinimal::new(network)?);
    let last = terminals + routers;
    let mut text = String::new();
    let mut add = |line: std::fmt::Arguments| text.write_fmt(line).expect("a string takes what is written");
    for at in network.routers() {
        let lid = terminals + at.index() + 1;
        let guid = fabric.switches[at.index()];
        add(format_args!("Unicast lids [0-{last}] of switch Lid {lid} guid 0x{guid:016x} ('router {at}'):\n"));
        for terminal in 0..terminals as u32 {
            let (home, own) = network.local_port(network.terminal_port(TerminalId(terminal)));
            let port = match tables.next(at, tables.column_of(network, terminal)) {
                _ if home == at => own,
                NO_PORT => continue,
                port => port.into(),
            };
            let (number, guid) = (number_of(network, at, port), fabric.adapters[terminal as usize]);
            let lid = terminal + 1;
            add(format_args!(
                "0x{lid:04x} {number:03} # Channel Adapter portguid 0x{guid:016x}: 'terminal {terminal}'\n"
            ));
        }
        for to in network.routers() {
            let number = match shortest.outputs(at, to).first() {
                _ if to == at => 0,
                Some(&port) => number_of(network, at, port.into()),
                None => continue,
            };
            let (lid, guid) = (terminals + to.index() + 1, fabric.switches[to.index()]);
            add(format_args!("0x{lid:04x} {number:03} # Switch portguid 0x{guid:016x}: 'router {to}'\n"));
        }
        add(format_args!("{last} lids dumped\n"));
    }
    Ok(text)
}

/// The terminals of LIDs, if every switch has just its own at ports where terminals hang.
fn by_ports(network: &Network, switches: &[Switch], routers: &[u32], adapters: usize) -> Option<BTreeMap<u32, u32>> {
    let mut found = BTreeMap::new();
    for (switch, &router) in switches.iter().zip(routers) {
        let ports = network.ports_of(RouterId(router));
        for &(lid, port, _) in &switch.entries {
            let peer = (port as usize).checked_sub(1).and_then(|place| ports.get(place)).map(|port| port.peer);
            if let Some(Peer::Terminal(terminal)) = peer
                && found.insert(lid, terminal.0).is_some()
            {
                return None;
            }
        }
    }
    let different: BTreeSet<u32> = found.values().copied().collect();
    (found.len() == adapters && different.len() == adapters).then_some(found)
}

/// The first number in each name, from 0 on, if these are 0 to n - 1 or 1 to n, each once.
fn numbered<'t>(names: impl Iterator<Item = &'t str>) -> Option<Vec<u32>> {
    let first = |name: &str| {
        let digits = name.split(|c: char| !c.is_ascii_digit()).find(|part| !part.is_empty());
        digits.and_then(|digits| digits.parse::<u32>().ok())
    };
    let numbers: Vec<u32> = names.map(first).collect::<Option<_>>()?;
    let least = *numbers.iter().min()?;
    let different: BTreeSet<u32> = numbers.iter().copied().collect();
    let all = different.into_iter().eq(least..least.checked_add(numbers.len() as u32)?);
    (least <= 1 && all).then(|| numbers.iter().map(|number| number - least).collect())
}
