//! Linear forwarding tables as they are dumped by OpenSM itself, and by `ibroute` and `dump_lfts` of InfiniBand's tools.
//!
//! A section a switch, `Unicast lids [0x0-0x2a] of switch Lid 5 guid 0x… (NAME):`, and a line a LID,
//! `0x0007 004 : (Channel Adapter portguid 0x…: 'NAME')`; OpenSM writes `0x0007 004 # Channel Adapter portguid 0x…: 'NAME'`.
//! IB counts ports from 1: port k is our port k - 1; port 0 is the switch itself. Which switch is which router: if the
//! first number in the names runs through all router ids, from 0 or from 1, it is the id; otherwise the switches stand
//! in the order of the routers. Channel adapters likewise, else by the port at which their switch has them, else by
//! ascending LID. Of an adapter that has several LIDs the first counts.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::tables::{Columns, Tables};
use crate::error::{Error, Result};
use crate::network::{Network, Peer, RouterId, TerminalId};

/// True for the line that begins a switch's section.
pub(super) fn is_header(line: &str) -> bool {
    line.trim_start().starts_with("Unicast lids")
}

/// A switch: its name, and (LID, port) of its entries, with their lines.
struct Switch<'t> {
    name: &'t str,
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
            switches.push(Switch { name, entries: Vec::new() });
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
        if info.contains("Channel Adapter") && *first_lids.entry(info).or_insert(lid) == lid {
            adapters.insert(lid, info.split('\'').nth(1).unwrap_or(""));
            switch.entries.push((lid, port, number));
        }
    }
    let count = |kind: &str, found: usize, wanted: usize| {
        let what = format!("{file}: tables of {found} {kind}; {} has {wanted}", network.spec());
        if found == wanted { Ok(()) } else { Err(Error::Routing(what)) }
    };
    count("switches", switches.len(), network.num_routers())?;
    count("channel adapters", adapters.len(), network.num_terminals())?;
    let routers =
        numbered(switches.iter().map(|switch| switch.name)).unwrap_or_else(|| (0..switches.len() as u32).collect());
    let terminals = match numbered(adapters.values().copied()) {
        Some(numbers) => adapters.keys().copied().zip(numbers).collect(),
        None => by_ports(network, &switches, &routers, adapters.len())
            .unwrap_or_else(|| adapters.keys().copied().zip(0..).collect()),
    };
    let mut tables = Tables::new(network, file, Columns::Terminals)?;
    for (switch, router) in switches.iter().zip(routers) {
        let at = RouterId(router);
        for &(lid, port, number) in &switch.entries {
            let column = tables.column_of(network, terminals[&lid]);
            if port == 0 || port as usize > network.radix_of(at) {
                let (name, ports) = (switch.name, network.radix_of(at));
                return Err(mistake(
                    number,
                    format!("port {port} of switch {name}; router {at} has ports 1 to {ports}"),
                ));
            }
            let (home, own) = network.local_port(network.terminal_port(TerminalId(terminals[&lid])));
            if home != at {
                tables.set_next(at, column, port as u16 - 1);
            } else if port != own + 1 {
                let (terminal, name) = (terminals[&lid], switch.name);
                return Err(mistake(
                    number,
                    format!(
                        "port {port} of switch {name}, which stands for router {at}, where terminal {terminal} hangs at port {}",
                        own + 1
                    ),
                ));
            }
        }
    }
    Ok(tables)
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
