//! Routing tables: the output at every router towards every destination, and the layer (VC class) of the packet or of
//! the hop. Those of users are here, from files and from memory; `layers.rs` computes its own.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use super::cards::ByCards;
use super::{AnyRouting, Availability, CardTables, Move, PacketState, Routing, RoutingInfo, View, cardfile, lft};
use crate::catalogue::{FILE, Key, Kind};
use crate::error::{Error, Result};
use crate::inputs;
use crate::memory::available_memory;
use crate::network::{Network, Peer, RouterId, TerminalId};
use crate::rng::{Rng, mix};
use crate::watch;

pub(super) const TABLE: RoutingInfo = RoutingInfo {
    name: "table",
    summary: "custom tables: a CSV of at,destination,port[,class], an OpenSM dump (dump_lfts), tables of cards (export \
              --format extoll), or from Python",
    offered: Availability::Anywhere,
    classes: "those in the table",
    adapts: None,
    keys: &[Key::new(
        FILE,
        Kind::File,
        "the table, written table:FILE; destinations are terminals, or routers in destination_router",
    )],
    build: |network, options| {
        let name = options.lead();
        if in_memory(name) {
            return Err(Error::Routing(format!("table:{name} stands for no table that this network holds")));
        }
        let text = open(name)?;
        if text.lines().take(20).any(cardfile::is_header) {
            return Ok(Some(AnyRouting::new(ByCards(CardTables::read(network, name, &text)?))));
        }
        by_tables(network, Arc::new(read(network, name, &text)?)).map(Some)
    },
};

/// Routing by tables that may have been made for another network.
pub(super) fn by_tables(network: &Network, tables: Arc<Tables>) -> Result<AnyRouting> {
    tables.check(network)?;
    Ok(AnyRouting::new(TableRouting { tables, proved: false }))
}

/// No output: a hole, or the destination's own router.
pub const NO_PORT: u16 = u16::MAX;

/// What the columns of a table stand for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Columns {
    /// Destination routers.
    Routers,
    /// Destination terminals.
    Terminals,
}

/// Next outputs by destination and router.
#[derive(Debug)]
pub struct Tables {
    /// What mistakes call it.
    name: String,
    routers: usize,
    /// The first column of each router, and behind them the number of columns. A router's terminals are in the order
    /// of their ports.
    first: Vec<u32>,
    /// The id of the destination of each column.
    ids: Vec<u32>,
    kind: Columns,
    /// The output at router `at` for a column, at `column * routers + at`.
    next: Vec<u16>,
    /// The class of that hop; empty if it is the packet's layer.
    hop_class: Vec<u8>,
    /// The layer of packets from a router to a column, in the same order; empty if all are in layer 0.
    layer: Vec<u8>,
}

impl Tables {
    /// A table without an entry.
    ///
    /// # Errors
    /// If it would not fit in memory.
    pub fn new(network: &Network, name: &str, kind: Columns) -> Result<Self> {
        let (mut first, mut ids) = (vec![0], Vec::new());
        for router in network.routers() {
            match kind {
                Columns::Routers => ids.push(router.0),
                Columns::Terminals => ids.extend(network.terminals_of(router).map(|terminal| terminal.0)),
            }
            first.push(ids.len() as u32);
        }
        let routers = network.num_routers();
        let bytes = ids.len() as u128 * routers as u128 * 4;
        if bytes > available_memory() / 2 {
            return Err(Error::TooLarge(format!(
                "{}: a routing table of {routers} routers by {} destinations needs about {} GB",
                network.spec(),
                ids.len(),
                bytes.div_ceil(1_000_000_000)
            )));
        }
        let next = vec![NO_PORT; ids.len() * routers];
        let (hop_class, layer) = (Vec::new(), Vec::new());
        Ok(Self { name: name.to_owned(), routers, first, ids, kind, next, hop_class, layer })
    }

    /// The table of which a program has the rows, one per router: the output towards each destination, -1 for none; and
    /// the layers of packets from that router.
    ///
    /// # Errors
    /// Rows of the wrong number or length, ports or layers that do not exist, holes, loops.
    pub fn from_rows(
        network: &Network,
        name: &str,
        kind: Columns,
        next: &[Vec<i64>],
        layers: Option<&[Vec<i64>]>,
    ) -> Result<Self> {
        let mut tables = Self::new(network, name, kind)?;
        tables.check_shape("ports", next)?;
        for (at, row) in network.routers().zip(next) {
            for (id, &port) in (0..).zip(row) {
                let column = tables.column_of(network, id);
                match u16::try_from(port) {
                    Ok(port) if port != NO_PORT => tables.set_next(at, column, port),
                    _ if port == -1 => {}
                    _ => {
                        let to = tables.destination(column);
                        let ports = network.radix_of(at) as i64 - 1;
                        return Err(tables.mistake(&format!(
                            "router {at} sends to port {port} towards {to}; it has ports 0 to {ports} (-1 stands for none)"
                        )));
                    }
                }
            }
        }
        let Some(layers) = layers else {
            tables.check(network)?;
            return Ok(tables);
        };
        tables.check_shape("layers", layers)?;
        for (src, row) in network.routers().zip(layers) {
            for (id, &layer) in (0..).zip(row) {
                let column = tables.column_of(network, id);
                let most = i64::from(crate::limits::MAX_VCS) - 1;
                if !(0..=most).contains(&layer) {
                    let to = tables.destination(column);
                    let what = format!("the layer from router {src} to {to} is {layer}; it must be from 0 to {most}");
                    return Err(tables.mistake(&what));
                }
                tables.set_layer(src, column, layer as u8);
            }
        }
        tables.check(network)?;
        Ok(tables)
    }

    /// The ports and the layers by router and destination id, -1 where there is no port.
    pub fn to_rows(&self, network: &Network) -> [Vec<Vec<i64>>; 2] {
        let row = |at: RouterId, entry: &dyn Fn(RouterId, u32) -> i64| {
            (0..self.columns()).map(|id| entry(at, self.column_of(network, id))).collect::<Vec<i64>>()
        };
        let port = |at, column| match self.next(at, column) {
            NO_PORT => -1,
            port => i64::from(port),
        };
        let layer = |src, column| i64::from(self.layer(src, column));
        let rows = |entry: &dyn Fn(RouterId, u32) -> i64| network.routers().map(|at| row(at, entry)).collect();
        [rows(&port), rows(&layer)]
    }

    fn check_shape(&self, what: &str, rows: &[Vec<i64>]) -> Result<()> {
        let (routers, columns) = (self.routers, self.ids.len());
        let width = rows.iter().map(Vec::len).find(|width| *width != columns).unwrap_or(columns);
        if rows.len() == routers && width == columns {
            return Ok(());
        }
        let kind = if self.kind == Columns::Routers { "routers" } else { "terminals" };
        Err(self.mistake(&format!(
            "{what} of shape ({}, {width}); there are {routers} routers (rows) and {columns} destination {kind} (columns)",
            rows.len()
        )))
    }

    /// The number of columns.
    pub fn columns(&self) -> u32 {
        self.ids.len() as u32
    }

    /// The column of a destination, a router's or a terminal's id.
    pub fn column_of(&self, network: &Network, id: u32) -> u32 {
        match self.kind {
            Columns::Routers => id,
            Columns::Terminals => {
                let (router, port) = network.local_port(network.terminal_port(TerminalId(id)));
                self.first[router.index()] + port
            }
        }
    }

    /// The router that a column leads to.
    pub fn router_of(&self, column: u32) -> RouterId {
        RouterId(self.first.partition_point(|&first| first <= column) as u32 - 1)
    }

    fn place(&self, at: RouterId, column: u32) -> usize {
        column as usize * self.routers + at.index()
    }

    /// The output at a router, or [`NO_PORT`].
    #[inline(always)]
    pub fn next(&self, at: RouterId, column: u32) -> u16 {
        self.next[self.place(at, column)]
    }

    /// Sets the output at a router.
    pub fn set_next(&mut self, at: RouterId, column: u32, port: u16) {
        let place = self.place(at, column);
        self.next[place] = port;
    }

    /// Sets the class of a hop.
    pub fn set_hop_class(&mut self, at: RouterId, column: u32, class: u8) {
        self.hop_class.resize(self.next.len(), 0);
        let place = self.place(at, column);
        self.hop_class[place] = class;
    }

    /// Sets the layer of packets from `src`.
    pub fn set_layer(&mut self, src: RouterId, column: u32, layer: u8) {
        self.layer.resize(self.next.len(), 0);
        let place = self.place(src, column);
        self.layer[place] = layer;
    }

    /// "terminal 7" or "router 7".
    fn destination(&self, column: u32) -> String {
        let kind = if self.kind == Columns::Routers { "router" } else { "terminal" };
        format!("{kind} {}", self.ids[column as usize])
    }

    fn mistake(&self, what: &str) -> Error {
        Error::Routing(format!("{}: {what}", self.name))
    }

    /// Checks that every way from every router with terminals leads to its destination.
    ///
    /// # Errors
    /// A table for another network, a port that does not exist, a hole, a loop router by router.
    pub fn check(&self, network: &Network) -> Result<()> {
        let expected = match self.kind {
            Columns::Routers => network.num_routers(),
            Columns::Terminals => network.num_terminals(),
        };
        if self.routers != network.num_routers() || self.ids.len() != expected {
            return Err(self.mistake(&format!(
                "a table of {} routers and {} destinations; {} has {} and {expected}",
                self.routers,
                self.ids.len(),
                network.spec(),
                network.num_routers()
            )));
        }
        let stage = watch::stage("check of the tables", self.columns().into());
        (0..self.columns()).try_for_each(|column| {
            stage.step();
            self.check_column(network, column)
        })
    }

    fn check_column(&self, network: &Network, column: u32) -> Result<()> {
        let dst = self.router_of(column);
        if !network.up_routers().any(|router| router == dst) {
            return Ok(());
        }
        let mut arrives = vec![false; self.routers];
        arrives[dst.index()] = true;
        for src in network.up_routers().filter(|&src| network.has_terminals(src)) {
            let (mut at, mut way) = (src, Vec::new());
            while !arrives[at.index()] {
                if let Some(start) = way.iter().position(|&router| router == at) {
                    way.push(at);
                    let circle: Vec<String> = way[start..].iter().map(|router| format!("router {router}")).collect();
                    return Err(self.mistake(&format!(
                        "packets from router {src} to {} go round in a circle: {}",
                        self.destination(column),
                        circle.join(" → ")
                    )));
                }
                way.push(at);
                at = self.follow(network, src, at, column)?;
            }
            way.into_iter().for_each(|router| arrives[router.index()] = true);
        }
        Ok(())
    }

    fn follow(&self, network: &Network, src: RouterId, at: RouterId, column: u32) -> Result<RouterId> {
        let port = self.next(at, column);
        let to = self.destination(column);
        if port == NO_PORT {
            let from = if src == at { String::new() } else { format!(", which packets from router {src} meet,") };
            return Err(self.mistake(&format!("router {at}{from} has no port towards {to}")));
        }
        let ports = network.ports_of(at);
        match ports.get(port as usize).map(|port| port.peer) {
            Some(Peer::Port(peer)) => Ok(network.ports()[peer.index()].router),
            Some(Peer::Terminal(terminal)) => Err(self
                .mistake(&format!("router {at} sends to port {port} towards {to}, where terminal {terminal} hangs"))),
            None => Err(self.mistake(&format!(
                "router {at} sends to port {port} towards {to}; it has ports 0 to {}",
                ports.len() as i64 - 1
            ))),
        }
    }

    /// The name of the routing by these tables where a program holds them, which depends on what is in them alone.
    pub fn name_in_memory(&self) -> String {
        let words = self.next.iter().map(|&port| u64::from(port));
        let classes = self.layer.iter().chain(&self.hop_class).map(|&class| u64::from(class));
        let hash = words.chain([self.routers as u64]).chain(classes).fold(0, |hash, word| mix(hash ^ mix(word)));
        format!("{}:{IN_MEMORY}{:012x}", TABLE.name, hash >> 16)
    }

    fn classes(&self) -> u32 {
        let most = |classes: &[u8]| classes.iter().copied().max().unwrap_or(0);
        u32::from(most(&self.layer).max(most(&self.hop_class))) + 1
    }

    /// The layer of packets from `src` to a column.
    #[inline(always)]
    fn layer(&self, src: RouterId, column: u32) -> u8 {
        if self.layer.is_empty() { 0 } else { self.layer[self.place(src, column)] }
    }

    #[inline(always)]
    fn class(&self, at: RouterId, column: u32, layer: u8) -> u8 {
        if self.hop_class.is_empty() { layer } else { self.hop_class[self.place(at, column)] }
    }
}

/// Routing by tables. A packet's bits are the position of its terminal at the destination router, and above 16 its layer.
pub struct TableRouting {
    /// The tables.
    pub tables: Arc<Tables>,
    /// They are known to be free of deadlock.
    pub proved: bool,
}

impl TableRouting {
    #[inline(always)]
    fn begin(&self, src: RouterId, dst: RouterId, place: u32) -> PacketState {
        let layer = self.tables.layer(src, self.tables.first[dst.index()] + place);
        PacketState::direct(place | u32::from(layer) << 16)
    }

    #[inline(always)]
    fn hop(&self, at: RouterId, state: PacketState, dst: RouterId) -> Move {
        let column = self.tables.first[dst.index()] + (state.bits & 0xFFFF);
        let class = self.tables.class(at, column, (state.bits >> 16) as u8);
        Move { port: self.tables.next(at, column), class, next: state }
    }
}

impl Routing for TableRouting {
    fn classes(&self) -> u32 {
        self.tables.classes()
    }

    fn starts(&self, src: RouterId, dst: RouterId, out: &mut Vec<PacketState>) {
        let places = self.tables.first[dst.index() + 1] - self.tables.first[dst.index()];
        out.extend((0..places).map(|place| self.begin(src, dst, place)));
    }

    fn moves(&self, at: RouterId, state: PacketState, dst: RouterId, out: &mut Vec<Move>) {
        out.push(self.hop(at, state, dst));
    }

    fn start<V: View>(&self, src: RouterId, dst: RouterId, view: &V, _rng: &mut Rng) -> PacketState {
        let place = if self.tables.kind == Columns::Routers { 0 } else { view.leaves_by() };
        self.begin(src, dst, place)
    }

    #[inline(always)]
    fn choose<V: View>(&self, at: RouterId, state: PacketState, dst: RouterId, _view: &V, _rng: &mut Rng) -> Move {
        self.hop(at, state, dst)
    }

    fn by_terminal(&self) -> bool {
        self.tables.kind == Columns::Terminals
    }

    fn unproved(&self) -> bool {
        !self.proved
    }

    fn contents(&self) -> u64 {
        let Tables { first, ids, next, hop_class, layer, .. } = &*self.tables;
        let mut hasher = DefaultHasher::new();
        (first, ids, next, hop_class, layer).hash(&mut hasher);
        hasher.finish()
    }

    fn oblivious(&self) -> bool {
        true
    }
}

/// Tables that a program holds in memory, by what their names begin with.
const IN_MEMORY: &str = "@";

/// True if `table:NAME` stands for tables in memory, not for a file.
pub fn in_memory(name: &str) -> bool {
    name.starts_with(IN_MEMORY)
}

fn open(file: &str) -> Result<String> {
    inputs::read_text(file).map_err(|why| Error::Routing(format!("table:{file}: {why}")))
}

fn read(network: &Network, file: &str, text: &str) -> Result<Tables> {
    if text.lines().take(20).any(lft::is_header) {
        lft::read(network, file, text)
    } else {
        read_csv(network, file, text)
    }
}

fn read_csv(network: &Network, file: &str, text: &str) -> Result<Tables> {
    let mistake = |line: usize, what: String| Error::Routing(format!("{file}, line {line}: {what}"));
    let mut lines = text.lines().zip(1..).map(|(line, number)| (line.trim(), number));
    let mut lines = lines.by_ref().filter(|(line, _)| !line.is_empty() && !line.starts_with('#'));
    let (header, number) = lines.next().unwrap_or(("", 1));
    let kind = match header.split(',').map(str::trim).collect::<Vec<_>>().as_slice() {
        ["at", "destination", "port"] | ["at", "destination", "port", "class"] => Columns::Terminals,
        ["at", "destination_router", "port"] | ["at", "destination_router", "port", "class"] => Columns::Routers,
        _ => {
            let wanted = "at,destination,port or at,destination_router,port, with or without ,class (a dump of OpenSM \
                          has 'Unicast lids' in its first lines)";
            return Err(mistake(number, format!("'{header}' is not the header of a table; it must be {wanted}")));
        }
    };
    let fields = header.split(',').count();
    let mut tables = Tables::new(network, file, kind)?;
    let destinations = tables.columns();
    for (line, number) in lines {
        let values: Vec<&str> = line.split(',').map(str::trim).collect();
        if values.len() != fields {
            return Err(mistake(number, format!("'{line}' has {} fields; the header has {fields}", values.len())));
        }
        let value = |place: usize, what: &str, end: u32| -> Result<u32> {
            values[place].parse().ok().filter(|value| *value < end).ok_or_else(|| {
                mistake(number, format!("{what} is '{}'; it must be from 0 to {}", values[place], i64::from(end) - 1))
            })
        };
        let at = RouterId(value(0, "at", network.num_routers() as u32)?);
        let column = tables.column_of(network, value(1, "destination", destinations)?);
        let port = value(2, "port", network.radix_of(at) as u32)? as u16;
        if tables.next(at, column) != NO_PORT {
            return Err(mistake(
                number,
                format!("router {at} has a port towards {} already", tables.destination(column)),
            ));
        }
        tables.set_next(at, column, port);
        if fields == 4 {
            tables.set_hop_class(at, column, value(3, "class", crate::limits::MAX_VCS)? as u8);
        }
    }
    Ok(tables)
}
