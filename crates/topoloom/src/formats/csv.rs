//! Tables of links, as `topoloom show --edges` writes them: a header with the columns' names, then a link a line.
//!
//! The columns `router_a` and `router_b` (or `source` and `target`, `from` and `to`) must be there; `port_a`, `port_b`,
//! `class` and `latency` (cycles) may be. Where ports are given, the ports of a router below those of its links are its
//! terminals', as in every network of this program. Cabling lists of `topoloom layout --cables` are such tables, too: a line
//! that names a `terminal` is its cable, with one router.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;

use super::{Draft, DraftLink, Format, Holds, Mistake, Timing, edges, link_class, number, text};
use crate::network::Network;

pub(super) const FORMAT: Format = Format {
    name: "csv",
    endings: &["csv"],
    summary: "the table that show --edges writes: router_a,port_a,router_b,port_b,class,latency",
    holds: &[Holds::Terminals, Holds::ParallelLinks, Holds::Classes, Holds::Latencies],
    read: Some(edges::read),
    write: Some(write),
    beside: None,
};

/// The names that the columns of the two ends may have.
const ENDS: [[&str; 2]; 4] = [["router_a", "router_b"], ["source", "target"], ["from", "to"], ["src", "dst"]];

/// True if a line is the header of a table of links.
pub(super) fn is_header(line: &str) -> bool {
    let columns: Vec<String> = line.split(',').map(column).collect();
    ENDS.iter().any(|ends| ends.iter().all(|end| columns.iter().any(|column| column == end)))
}

fn column(name: &str) -> String {
    name.trim().trim_matches('"').to_ascii_lowercase()
}

/// Where the columns stand.
struct Columns {
    ends: [usize; 2],
    ports: Option<[usize; 2]>,
    class: Option<usize>,
    latency: Option<usize>,
    terminal: Option<usize>,
}

impl Columns {
    fn of(header: &[String]) -> Result<Self, Mistake> {
        let place = |name: &str| header.iter().position(|column| column == name);
        let both = |[a, b]: [&str; 2]| Some([place(a)?, place(b)?]);
        let ends =
            ENDS.into_iter().find_map(both).ok_or_else(|| Mistake::at(1, "router_a and router_b are missing"))?;
        if let Some(twice) = (1..header.len()).find(|&at| header[..at].contains(&header[at])) {
            return Err(Mistake::at(1, format!("the column '{}' stands there twice", header[twice])));
        }
        Ok(Self {
            ends,
            ports: both(["port_a", "port_b"]),
            class: place("class"),
            latency: place("latency"),
            terminal: place("terminal"),
        })
    }

    fn known(&self) -> impl Iterator<Item = usize> {
        let ports = self.ports.into_iter().flatten();
        self.ends.into_iter().chain(ports).chain(self.class).chain(self.latency).chain(self.terminal)
    }
}

/// Reads a table; its first line is a header.
pub(super) fn read(bytes: &[u8]) -> Result<Draft, Mistake> {
    let mut reader =
        csv::ReaderBuilder::new().trim(csv::Trim::All).comment(Some(b'#')).from_reader(text(bytes)?.as_bytes());
    let header: Vec<String> = reader.headers().map_err(mistake)?.iter().map(column).collect();
    let columns = Columns::of(&header)?;
    let mut draft = Draft::default();
    let (mut used, mut terminals) = (HashMap::new(), BTreeMap::new());
    for record in reader.records() {
        let record = record.map_err(mistake)?;
        let line = record.position().map_or(0, |position| position.line() as usize);
        let ends = columns.ends.map(|end| &record[end]);
        let filled = |place: Option<usize>| place.map(|place| &record[place]).filter(|field| !field.is_empty());
        if ends[0].is_empty() || (ends[1].is_empty() && filled(columns.terminal).is_none()) {
            return Err(Mistake::at(line, "a router has no name"));
        }
        if let Some(field) = filled(columns.terminal) {
            let router = draft.node(ends[0], line);
            if let Some(port) = columns.ports.map(|ports| &record[ports[0]]) {
                take_port(&mut used, ends[0], router, number("port_a", port, line)?, line)?;
            }
            let terminal: u32 = number("the terminal", field, line)?;
            if terminals.insert(terminal, router).is_some() {
                return Err(Mistake::at(line, format!("terminal {terminal} has a cable already")));
            }
            continue;
        }
        let mut link = DraftLink::new(draft.node(ends[0], line), draft.node(ends[1], line), line);
        link.class = filled(columns.class).map(|name| link_class(name, line)).transpose()?;
        link.latency = filled(columns.latency).map(|field| number("the latency", field, line)).transpose()?;
        if let Some([a, b]) = columns.ports {
            let ports = [number("port_a", &record[a], line)?, number("port_b", &record[b], line)?];
            take_ports(&mut used, ends, link.ends, ports, line)?;
            link.ports = Some(ports);
        }
        draft.link(link)?;
    }
    let ignored: Vec<&str> = (0..header.len())
        .filter(|at| columns.known().all(|known| known != *at))
        .map(|at| header[at].as_str())
        .collect();
    if !ignored.is_empty() {
        draft.notes.push(format!("columns that were ignored: {}", ignored.join(", ")));
    }
    if terminals.is_empty() {
        terminals_below_links(&mut draft, &used);
    }
    for (wanted, (terminal, router)) in (0..).zip(terminals) {
        if terminal != wanted {
            return Err(Mistake::whole(format!("terminal {wanted} is missing; terminals count from 0")));
        }
        draft.terminal(router);
    }
    Ok(draft)
}

/// The lines on which ports were used, by (router, port).
type Used = HashMap<(u32, u32), usize>;

fn take_ports(used: &mut Used, names: [&str; 2], ends: [u32; 2], ports: [u32; 2], line: usize) -> Result<(), Mistake> {
    for ((router, port), name) in ends.into_iter().zip(ports).zip(names) {
        take_port(used, name, router, port, line)?;
    }
    Ok(())
}

fn take_port(used: &mut Used, name: &str, router: u32, port: u32, line: usize) -> Result<(), Mistake> {
    match used.insert((router, port), line) {
        None => Ok(()),
        Some(first) => {
            let what = format!("port {port} of router '{name}' has a link already, on line {first}");
            Err(Mistake::at(line, what))
        }
    }
}

/// The ports of a router below those of its links are its terminals'.
fn terminals_below_links(draft: &mut Draft, used: &Used) {
    let mut lowest: HashMap<u32, u32> = HashMap::new();
    for &(router, port) in used.keys() {
        lowest.entry(router).and_modify(|lowest| *lowest = port.min(*lowest)).or_insert(port);
    }
    for (router, terminals) in lowest {
        draft.node_mut(router).terminals = Some(terminals.into());
    }
}

fn mistake(error: csv::Error) -> Mistake {
    let line = error.position().map(|position| position.line() as u32);
    let what = match error.kind() {
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            format!("{len} fields stand here, where the header has {expected_len}")
        }
        _ => "this does not read as a line of a table".to_owned(),
    };
    Mistake { line, what }
}

fn write(network: &Network, timing: &Timing) -> crate::error::Result<String> {
    let mut text = String::from("router_a,port_a,router_b,port_b,class,latency\n");
    for link in network.links() {
        let [(a, port_a), (b, port_b)] = link.ends.map(|port| network.local_port(port));
        let latency = timing.of(network, link).unwrap_or(1);
        writeln!(text, "{a},{port_a},{b},{port_b},{},{latency}", link.class.name()).expect("a string takes it");
    }
    Ok(text)
}
