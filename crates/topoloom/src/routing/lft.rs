//! Linear forwarding tables as OpenSM's `dump_lfts` prints them.
//!
//! A section a switch, `Unicast lids [0x0-0x2a] of switch Lid 5 guid 0x… (NAME):`, and a line a LID,
//! `0x0007 004 : (Channel Adapter portguid 0x…: 'NAME')`. IB counts ports from 1: port k is our port k - 1; port 0 is the
//! switch itself. Which switch is which router: if the first number in the names runs through all router ids, it is the
//! id; otherwise the switches stand in the order of the routers. Channel adapters likewise, else by ascending LID.

use std::collections::BTreeMap;

use super::tables::{Columns, Tables};
use crate::error::{Error, Result};
use crate::network::{Network, RouterId};

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
    for (line, number) in text.lines().zip(1..) {
        let line = line.trim();
        if is_header(line) {
            let name =
                line.split_once('(').map_or("", |(_, name)| name.rsplit_once(')').map_or(name, |(name, _)| name));
            switches.push(Switch { name, entries: Vec::new() });
            continue;
        }
        let Some((lid, rest)) = line.strip_prefix("0x").and_then(|line| line.split_once(' ')) else { continue };
        let (port, info) = rest.split_once(':').unwrap_or((rest, ""));
        let (Ok(lid), Ok(port)) = (u32::from_str_radix(lid, 16), port.trim().parse::<u32>()) else {
            return Err(mistake(number, format!("'{line}' is not a LID with its port")));
        };
        let Some(switch) = switches.last_mut() else {
            return Err(mistake(number, "an entry before the first 'Unicast lids … of switch'".to_owned()));
        };
        if info.contains("Channel Adapter") {
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
    let routers = numbered(switches.iter().map(|switch| switch.name));
    let terminals: BTreeMap<u32, u32> = adapters.keys().copied().zip(numbered(adapters.values().copied())).collect();
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
            // At its own router the port is the terminal's: no hop.
            if tables.router_of(column) != at {
                tables.set_next(at, column, port as u16 - 1);
            }
        }
    }
    Ok(tables)
}

/// The first number in each name, if these are 0 to n - 1, each once; otherwise 0 to n - 1 in order.
fn numbered<'t>(names: impl Iterator<Item = &'t str> + Clone) -> Vec<u32> {
    let first = |name: &str| {
        let digits = name.split(|c: char| !c.is_ascii_digit()).find(|part| !part.is_empty());
        digits.and_then(|digits| digits.parse::<u32>().ok())
    };
    let count = names.clone().count();
    let found: Option<Vec<u32>> = names.map(first).collect();
    let all = |found: &Vec<u32>| {
        let mut sorted = found.clone();
        sorted.sort_unstable();
        sorted.into_iter().eq(0..count as u32)
    };
    found.filter(all).unwrap_or_else(|| (0..count as u32).collect())
}
