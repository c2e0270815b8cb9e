//! Tables of links, as `topoloom show --edges` writes them: a header with the columns' names, then one link per line.
//!
//! The columns `router_a` and `router_b` (or `switch_a` and `switch_b`, `source` and `target`, `from` and `to`) must be
//! there; `port_a`, `port_b`, `class`, `latency` (cycles), `rate_gbps` (in each direction), `latency_ns` and `length_m` may be. Where ports are given, the ports of a router below
//! those of its links are its terminals', as in every network of this program; ports that have names keep links apart,
//! and no more. Cabling lists of `topoloom layout --cables` and `topoloom permute --after` are such tables, too: a line
//! that names a `terminal` is its cable, with one router.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;

use super::{
    Format, Holds, Mistake, RawGraph, RawLink, Timing, WIRE, edges, link_class, number, real, short, text, wire,
    wire_values,
};
use crate::error::several;
use crate::network::{LinkClass, Network, PortId, TerminalId, Wire};
use crate::table::{Row, Rows, heading};

pub(super) const FORMAT: Format = Format {
    name: "csv",
    endings: &["csv"],
    summary: "the table that show --edges writes: router_a,port_a,router_b,port_b,class,latency",
    holds: &[Holds::Terminals, Holds::ParallelLinks, Holds::Classes, Holds::Latencies, Holds::Wires],
    read: Some(edges::read),
    write: Some(write),
    beside: None,
};

/// The names that the columns of the two ends may have.
const ENDS: [[&str; 2]; 5] =
    [["router_a", "router_b"], ["switch_a", "switch_b"], ["source", "target"], ["from", "to"], ["src", "dst"]];

/// The largest number of a port: a router has at most 65,535, as in routing tables. The ports below a link's are
/// terminals, so that a larger number would stand for as many of them.
const MOST_PORT: u32 = u16::MAX as u32 - 1;

/// True if a line is the header of a table of links.
pub(super) fn is_header(line: &str) -> bool {
    let columns: Vec<String> = line.split(',').map(heading).collect();
    ENDS.iter().any(|ends| ends.iter().all(|end| columns.contains(&heading(end))))
}

/// Where the columns stand.
struct Columns {
    ends: [usize; 2],
    ports: Option<[usize; 2]>,
    class: Option<usize>,
    latency: Option<usize>,
    wire: [Option<usize>; WIRE.len()],
    terminal: Option<usize>,
    cabinets: Option<[usize; 2]>,
    /// What the table was written of, in its first row: the spec of the network, and the rules of its layout.
    written: [Option<usize>; 2],
}

impl Columns {
    fn of(header: &Row) -> Result<Self, Mistake> {
        let keys: Vec<String> = header.fields.iter().map(heading).collect();
        let place = |name: &str| keys.iter().position(|key| *key == heading(name));
        let both = |[a, b]: [&str; 2]| Some([place(a)?, place(b)?]);
        let ends = ENDS
            .into_iter()
            .find_map(both)
            .ok_or_else(|| Mistake::at(header.line, "router_a and router_b are missing"))?;
        if let Some(twice) = (1..keys.len()).find(|&at| !keys[at].is_empty() && keys[..at].contains(&keys[at])) {
            return Err(Mistake::at(header.line, format!("the column '{}' is listed twice", header.field(twice))));
        }
        Ok(Self {
            ends,
            ports: both(["port_a", "port_b"]),
            class: place("class"),
            latency: place("latency"),
            wire: WIRE.map(place),
            terminal: place("terminal"),
            cabinets: both(["cabinet_a", "cabinet_b"]),
            written: ["spec", "layout"].map(place),
        })
    }

    fn known(&self) -> impl Iterator<Item = usize> {
        let of_ends = self.ports.into_iter().chain(self.cabinets).flatten();
        let of_links =
            self.class.into_iter().chain(self.latency).chain(self.terminal).chain(self.wire.into_iter().flatten());
        self.ends.into_iter().chain(of_ends).chain(of_links).chain(self.written.into_iter().flatten())
    }
}

/// Reads a table; its first line is a header.
pub(super) fn read(bytes: &[u8]) -> Result<RawGraph, Mistake> {
    let mut rows = Rows::of(text(bytes)?);
    let header = rows.next().ok_or_else(|| Mistake::whole("there is no table in it"))?;
    let mut reading = Reading::new(Columns::of(&header)?);
    for row in rows.by_ref() {
        let (fields, wanted) = (row.fields.len(), header.fields.len());
        if fields != wanted {
            return Err(Mistake::at(row.line, format!("{}, where the header has {wanted}", several(fields, "field"))));
        }
        reading.row(&row)?;
    }
    let ignored: Vec<&str> = (0..header.fields.len())
        .filter(|at| reading.columns.known().all(|known| known != *at))
        .map(|at| header.field(at))
        .filter(|name| !name.is_empty())
        .collect();
    let ignored = (!ignored.is_empty()).then(|| format!("columns that were ignored: {}", ignored.join(", ")));
    let notes = ignored.into_iter().chain(rows.note(header.fields.len())).collect();
    reading.finish(notes)
}

/// A table as it is read, row by row.
struct Reading {
    columns: Columns,
    raw: RawGraph,
    /// The lines on which ports were used, by (router, port).
    used: HashMap<(u32, u32), usize>,
    ports: Numbers,
    /// The router of each terminal.
    homes: BTreeMap<u32, u32>,
    terminals: Numbers,
}

impl Reading {
    fn new(columns: Columns) -> Self {
        Self {
            columns,
            raw: RawGraph::default(),
            used: HashMap::new(),
            ports: Numbers::default(),
            homes: BTreeMap::new(),
            terminals: Numbers::default(),
        }
    }

    /// Reads a link, or the cable of a terminal.
    fn row(&mut self, row: &Row) -> Result<(), Mistake> {
        let ends = self.columns.ends.map(|end| row.field(end));
        let [spec, layout] = self.columns.written.map(|column| filled(row, column).map(str::to_owned));
        self.raw.written_as = self.raw.written_as.take().or(spec);
        self.raw.layout = self.raw.layout.take().or(layout);
        match filled(row, self.columns.terminal) {
            Some(terminal) => self.terminal(row, terminal, ends),
            None => self.link(row, ends),
        }
    }

    fn link(&mut self, row: &Row, ends: [&str; 2]) -> Result<(), Mistake> {
        let line = row.line;
        if ends.contains(&"") {
            return Err(Mistake::at(line, "a router has no name"));
        }
        let mut link = RawLink::new(self.raw.node(ends[0], line), self.raw.node(ends[1], line), line);
        link.class = filled(row, self.columns.class).map(|name| link_class(name, line)).transpose()?;
        link.latency = filled(row, self.columns.latency).map(|text| number("the latency", text, line)).transpose()?;
        link.wire = self.wire(row)?;
        for (side, &router) in link.ends.iter().enumerate() {
            self.cabinet(row, side, router)?;
        }
        let ports = [self.port(row, 0, link.ends[0])?, self.port(row, 1, link.ends[1])?];
        link.ports = self.ports.are_numbers().then_some(ports).and_then(|[a, b]| Some([a?, b?]));
        self.raw.link(link)
    }

    fn terminal(&mut self, row: &Row, terminal: &str, ends: [&str; 2]) -> Result<(), Mistake> {
        let side = match ends.map(str::is_empty) {
            [false, true] => 0,
            [true, false] => 1,
            [true, true] => return Err(Mistake::at(row.line, "a router has no name")),
            [false, false] => {
                let what = format!("the cable of terminal '{}' leads to two routers; it leads to one", short(terminal));
                return Err(Mistake::at(row.line, what));
            }
        };
        let router = self.raw.node(ends[side], row.line);
        self.cabinet(row, side, router)?;
        self.port(row, side, router)?;
        // Cables of terminals have lengths of their own, each its own.
        let wire = Wire { length_m: None, ..self.wire(row)? };
        if wire != Wire::UNSAID {
            self.raw.terminal_wire(router, wire, row.line)?;
        }
        let number = self.terminals.number("the terminal", terminal, row.line)?;
        if self.homes.insert(number, router).is_some() {
            return Err(Mistake::at(row.line, format!("terminal {terminal} has a cable already")));
        }
        Ok(())
    }

    /// What a row states about its link.
    fn wire(&self, row: &Row) -> Result<Wire, Mistake> {
        let mut values = [None; WIRE.len()];
        for (value, (name, column)) in values.iter_mut().zip(WIRE.into_iter().zip(self.columns.wire)) {
            *value = filled(row, column).map(|text| real(name, text, row.line)).transpose()?;
        }
        Ok(wire(values))
    }

    /// Puts a router into the cabinet at its end, if there is one.
    fn cabinet(&mut self, row: &Row, side: usize, router: u32) -> Result<(), Mistake> {
        let Some(here) = filled(row, self.columns.cabinets.map(|cabinets| cabinets[side])) else { return Ok(()) };
        let node = self.raw.node_mut(router);
        match &node.cabinet {
            Some(known) if known != here => {
                let what =
                    format!("router '{}' is in cabinet '{here}' here, and in '{known}' before", short(&node.name));
                Err(Mistake::at(row.line, what))
            }
            Some(_) => Ok(()),
            None => {
                node.cabinet = Some(here.to_owned());
                Ok(())
            }
        }
    }

    /// Takes the port at an end, if ports are given.
    fn port(&mut self, row: &Row, side: usize, router: u32) -> Result<Option<u32>, Mistake> {
        let Some(ports) = self.columns.ports else { return Ok(None) };
        let text = row.field(ports[side]);
        let name = ["port_a", "port_b"][side];
        let port = self.ports.number(name, text, row.line)?;
        if port > MOST_PORT && self.ports.are_numbers() {
            let what = format!("{name} is {port}; the largest number of a port is {MOST_PORT}");
            return Err(Mistake::at(row.line, what));
        }
        match self.used.insert((router, port), row.line) {
            None => Ok(Some(port)),
            Some(first) => {
                let name = row.field(self.columns.ends[side]);
                let what = format!("port {text} of router '{name}' has a link already, on line {first}");
                Err(Mistake::at(row.line, what))
            }
        }
    }

    fn finish(mut self, notes: Vec<String>) -> Result<RawGraph, Mistake> {
        self.raw.notes.extend(notes);
        if !self.ports.are_numbers() {
            self.raw.notes.push("ports have names: the links of a router are in the order of the table".to_owned());
        }
        if !self.terminals.are_numbers() {
            self.raw.notes.push("terminals have names: they are numbered in the order of the table".to_owned());
        }
        if self.homes.is_empty() && self.ports.are_numbers() {
            terminals_below_links(&mut self.raw, self.used.keys());
        }
        for (wanted, (terminal, router)) in (0..).zip(self.homes) {
            if terminal != wanted {
                return Err(Mistake::whole(format!("terminal {wanted} is missing; terminals count from 0")));
            }
            self.raw.terminal(router);
        }
        Ok(self.raw)
    }
}

/// What is in a column that there may be.
fn filled(row: &Row, column: Option<usize>) -> Option<&str> {
    column.map(|column| row.field(column)).filter(|field| !field.is_empty())
}

/// Ports or terminals: whole numbers, or names if the first of them is no number.
#[derive(Default)]
struct Numbers {
    begun: bool,
    /// Numbers of names, in the order of their appearance.
    names: HashMap<String, u32>,
}

impl Numbers {
    fn number(&mut self, what: &str, text: &str, line: usize) -> Result<u32, Mistake> {
        let named = if self.begun { !self.are_numbers() } else { !text.is_empty() && text.parse::<f64>().is_err() };
        self.begun = true;
        if !named {
            return number(what, text, line);
        }
        if text.is_empty() {
            return Err(Mistake::at(line, format!("{what} is missing")));
        }
        let next = self.names.len() as u32;
        Ok(*self.names.entry(text.to_owned()).or_insert(next))
    }

    fn are_numbers(&self) -> bool {
        self.names.is_empty()
    }
}

/// The ports of a router below those of its links are its terminals'.
fn terminals_below_links<'a>(raw: &mut RawGraph, used: impl Iterator<Item = &'a (u32, u32)>) {
    let mut lowest: HashMap<u32, u32> = HashMap::new();
    for &(router, port) in used {
        lowest.entry(router).and_modify(|lowest| *lowest = port.min(*lowest)).or_insert(port);
    }
    for (router, terminals) in lowest {
        raw.node_mut(router).terminals = Some(terminals.into());
    }
}

/// As [`write`], with columns for what is stated of links, and a row for each terminal, whose link is one, too.
fn write_wires(network: &Network, timing: &Timing) -> String {
    let mut text = format!("router_a,port_a,router_b,port_b,class,latency,terminal,{}\n", WIRE.join(","));
    let said = |port: PortId| {
        let value = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
        wire_values(network.wire(port)).map(value).join(",")
    };
    for link in network.links() {
        let [(a, port_a), (b, port_b)] = link.ends.map(|port| network.local_port(port));
        let (class, latency, said) = (link.class.name(), timing.of(network, link).unwrap_or(1), said(link.ends[0]));
        writeln!(text, "{a},{port_a},{b},{port_b},{class},{latency},,{said}").expect("a string takes it");
    }
    let apart = network.has_terminal_links();
    for terminal in (0..network.num_terminals() as u32).map(TerminalId) {
        let port = network.terminal_port(terminal);
        let ((router, place), latency) = (network.local_port(port), timing.of_class(LinkClass::Terminal));
        let said = if apart { said(port) } else { ",".repeat(WIRE.len() - 1) };
        writeln!(text, "{router},{place},,,terminal,{latency},{terminal},{said}").expect("a string takes it");
    }
    text
}

fn write(network: &Network, timing: &Timing) -> crate::error::Result<String> {
    if network.has_wires() {
        return Ok(write_wires(network, timing));
    }
    let mut text = String::from("router_a,port_a,router_b,port_b,class,latency\n");
    for link in network.links() {
        let [(a, port_a), (b, port_b)] = link.ends.map(|port| network.local_port(port));
        let latency = timing.of(network, link).unwrap_or(1);
        writeln!(text, "{a},{port_a},{b},{port_b},{},{latency}", link.class.name()).expect("a string takes it");
    }
    Ok(text)
}
