//! Routing tables of cards: one for each input of a card and each group of packets, from the destination to an output
//! and a VC, as EXTOLL's cards load them.
//!
//! A card looks up a destination by the input that a packet came in by and by its traffic class; it does not know where
//! the packet comes from, nor its VC. A routing fits if these determine its hop: `ts-dor`, where the group gives the
//! order of dimensions; dimension order with the rule upper-lower, but not with a dateline, whose VC depends on the
//! packet's history. An adaptive routing fits if its escape is one hop. `cardfile.rs` writes and reads them.

use std::collections::{HashMap, HashSet};
use std::fmt::Display;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::duato::least_occupied;
use super::{Again, AnyRouting, Move, NO_VIA, NamedRouting, PacketState, Routing, View};
use crate::error::{Error, Result};
use crate::limits::CARD_PORTS;
use crate::memory::available_memory;
use crate::network::{Network, Peer, PortId, RouterId, TerminalId};
use crate::rng::Rng;
use crate::watch;

/// No entry: no packet for that destination comes here.
pub(super) const NONE: u32 = u32::MAX;

/// Where a packet goes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Entry {
    /// The output, counted within the card; the destination's own if it hangs at this card.
    pub(super) port: u16,
    /// The deterministic VC within the group.
    pub(super) vc: u8,
    /// The outputs with an adaptive VC that may be taken instead.
    pub(super) adaptive: Vec<u16>,
}

/// The VCs that tables distinguish.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Classes {
    /// Groups of packets, each in traffic classes of its own.
    pub(super) groups: u32,
    /// Deterministic VCs of a group.
    pub(super) vcs: u32,
    /// Each group has an adaptive VC as well.
    pub(super) adaptive: bool,
}

/// The inputs of all cards: input 0 of a card is that of its terminals, the others its links', in the order of ports.
#[derive(Debug, PartialEq, Eq)]
struct Inputs {
    /// The first input of each card, and behind them the number of inputs.
    first: Vec<u32>,
    terminals: Vec<u32>,
    port_base: Vec<u32>,
    /// The card and its input behind each port of the network; a terminal's leads nowhere.
    behind: Vec<Option<(RouterId, u32)>>,
}

impl Inputs {
    fn new(network: &Network) -> Self {
        let terminals: Vec<u32> = network.routers().map(|at| network.terminals_of(at).count() as u32).collect();
        let behind = |peer: PortId| {
            let (to, port) = network.local_port(peer);
            (to, port + 1 - terminals[to.index()])
        };
        let behind = network.ports().iter().map(|port| match port.peer {
            Peer::Port(peer) => Some(behind(peer)),
            Peer::Terminal(_) => None,
        });
        let behind = behind.collect();
        let mut first = vec![0];
        for at in network.routers() {
            first.push(first[at.index()] + 1 + network.radix_of(at) as u32 - terminals[at.index()]);
        }
        Self { first, terminals, port_base: network.routers().map(|at| network.port_base(at)).collect(), behind }
    }

    fn of(&self, at: RouterId) -> std::ops::Range<u32> {
        0..self.first[at.index() + 1] - self.first[at.index()]
    }

    fn behind(&self, at: RouterId, port: u16) -> Option<(RouterId, u32)> {
        self.behind[(self.port_base[at.index()] + u32::from(port)) as usize]
    }
}

/// The tables of all cards of a network.
#[derive(Debug)]
pub struct CardTables {
    /// What mistakes call it.
    name: String,
    pub(super) classes: Classes,
    /// The group of the packets that come from a card.
    pub(super) group_of: Vec<u8>,
    inputs: Inputs,
    /// The terminals, card by card in the order of their ports, and where each card's begin.
    first_terminal: Vec<u32>,
    terminals: Vec<u32>,
    /// All different entries.
    entries: Vec<Entry>,
    known: HashMap<Entry, u32>,
    /// By input and group, the entry for each terminal, or [`NONE`]; empty where no packet comes.
    tables: Vec<Vec<u32>>,
}

impl CardTables {
    /// Tables without an entry.
    ///
    /// # Errors
    /// Cards of more ports than the model has, or tables that would not fit in memory.
    pub(super) fn new(network: &Network, name: &str, classes: Classes) -> Result<Self> {
        let radix = network.radix() as u64;
        if radix > CARD_PORTS {
            let spec = network.spec();
            return Err(Error::TooLarge(format!(
                "{spec} has routers of {radix} ports; cards have at most {CARD_PORTS}"
            )));
        }
        let inputs = Inputs::new(network);
        let tables = inputs.first[network.num_routers()] as usize * classes.groups as usize;
        let bytes = tables as u128 * network.num_terminals() as u128 * 4;
        if bytes > available_memory() / 2 {
            let (spec, needed) = (network.spec(), bytes.div_ceil(1_000_000_000));
            return Err(Error::TooLarge(format!("{spec}: tables for each input of a card need about {needed} GB")));
        }
        let (mut first_terminal, mut terminals) = (vec![0], Vec::new());
        for at in network.routers() {
            terminals.extend(network.terminals_of(at).map(|terminal| terminal.0));
            first_terminal.push(terminals.len() as u32);
        }
        let (group_of, tables) = (vec![0; network.num_routers()], vec![Vec::new(); tables]);
        let (entries, known) = (Vec::new(), HashMap::new());
        Ok(Self { name: name.to_owned(), classes, group_of, inputs, first_terminal, terminals, entries, known, tables })
    }

    /// The tables of a routing.
    ///
    /// # Errors
    /// A routing whose hops depend on more than a card can look up, or that does not serve every pair.
    pub fn of(network: &Network, routing: &NamedRouting) -> Result<Self> {
        let text = routing.name();
        let groups = routing.traffic_groups();
        let escape = routing.escape_classes();
        let safe = if escape > 0 { escape } else { routing.classes() };
        let classes = Classes { groups, vcs: safe / groups, adaptive: escape > 0 };
        let mut walk = Walk { network, routing, text, tables: Self::new(network, text, classes)? };
        for at in network.routers() {
            walk.tables.group_of[at.index()] = routing.traffic_group(at) as u8;
        }
        let stage = watch::stage("routing tables", network.num_routers() as u64);
        for dst in network.up_routers() {
            stage.step();
            for (place, terminal) in network.terminals_of(dst).enumerate() {
                walk.towards(dst, place, terminal)?;
            }
        }
        walk.tables.check(network)?;
        Ok(walk.tables)
    }

    /// The number of destinations.
    pub(super) fn destinations(&self) -> usize {
        self.terminals.len()
    }

    /// The inputs of a card.
    pub(super) fn inputs(&self, at: RouterId) -> std::ops::Range<u32> {
        self.inputs.of(at)
    }

    /// The output beside an input: input 0 has none of its own.
    pub(super) fn port_of(&self, at: RouterId, input: u32) -> u32 {
        input + self.inputs.terminals[at.index()] - 1
    }

    fn slot(&self, at: RouterId, input: u32, group: u32) -> usize {
        ((self.inputs.first[at.index()] + input) * self.classes.groups + group) as usize
    }

    /// A table: the entry for each terminal, or [`NONE`]; empty where no packet comes.
    pub(super) fn table(&self, at: RouterId, input: u32, group: u32) -> &[u32] {
        &self.tables[self.slot(at, input, group)]
    }

    /// All tables.
    pub(super) fn tables(&self) -> impl Iterator<Item = &[u32]> {
        self.tables.iter().map(Vec::as_slice).filter(|table| !table.is_empty())
    }

    /// What an entry's number stands for.
    pub(super) fn entry(&self, number: u32) -> &Entry {
        &self.entries[number as usize]
    }

    /// Sets an entry; returns false if another one is there.
    pub(super) fn set(&mut self, at: RouterId, input: u32, group: u32, terminal: u32, entry: Entry) -> bool {
        let next = self.entries.len() as u32;
        let number = *self.known.entry(entry).or_insert_with_key(|entry| {
            self.entries.push(entry.clone());
            next
        });
        let (slot, destinations) = (self.slot(at, input, group), self.destinations());
        let table = &mut self.tables[slot];
        table.resize(destinations, NONE);
        let old = std::mem::replace(&mut table[terminal as usize], number);
        old == NONE || old == number
    }

    fn mistake(&self, what: impl Display) -> Error {
        Error::Routing(format!("{}: {what}", self.name))
    }

    /// Checks that every packet comes to its destination, whichever of its outputs it takes.
    ///
    /// # Errors
    /// A hole, a wrong terminal, a way that can go round in a circle.
    pub(super) fn check(&self, network: &Network) -> Result<()> {
        let mut seen = vec![VisitState::Not; self.tables.len()];
        let stage = watch::stage("check of the tables", network.num_routers() as u64);
        for dst in network.up_routers() {
            stage.step();
            for terminal in network.terminals_of(dst) {
                seen.fill(VisitState::Not);
                for src in network.up_routers().filter(|&src| network.has_terminals(src)) {
                    let group = self.group_of[src.index()].into();
                    self.follow(network, Place { at: src, input: 0, group }, terminal, &mut seen)?;
                }
            }
        }
        Ok(())
    }

    /// Follows all paths from a place, depth first.
    fn follow(&self, network: &Network, from: Place, terminal: TerminalId, seen: &mut [VisitState]) -> Result<()> {
        let mut way: Vec<(Place, Vec<Place>)> = Vec::new();
        let mut next = Some(from);
        loop {
            if let Some(place) = next {
                let slot = self.slot(place.at, place.input, place.group);
                match seen[slot] {
                    VisitState::Done => {}
                    VisitState::Now => {
                        let at = place.at;
                        return Err(self.mistake(format!(
                            "packets from router {} to terminal {terminal} can go round in a circle at router {at}",
                            from.at
                        )));
                    }
                    VisitState::Not => {
                        seen[slot] = VisitState::Now;
                        way.push((place, self.ways_on(network, place, terminal)?));
                    }
                }
            }
            let Some((place, left)) = way.last_mut() else { return Ok(()) };
            next = left.pop();
            if next.is_none() {
                seen[self.slot(place.at, place.input, place.group)] = VisitState::Done;
                way.pop();
            }
        }
    }

    /// Where the entry for a terminal leads: nowhere else if it hangs here.
    fn ways_on(&self, network: &Network, place: Place, terminal: TerminalId) -> Result<Vec<Place>> {
        let Place { at, input, group } = place;
        let input_name = if input == 0 { "host".to_owned() } else { self.port_of(at, input).to_string() };
        let table = self.table(at, input, group);
        let number = table.get(terminal.index()).copied().filter(|&number| number != NONE).ok_or_else(|| {
            self.mistake(format!(
                "router {at} has no entry for terminal {terminal} at input {input_name}, group {group}, where packets for it \
                 come in"
            ))
        })?;
        let entry = self.entry(number);
        let home = network.local_port(network.terminal_port(terminal));
        let mut ways = Vec::new();
        for &port in [entry.port].iter().chain(&entry.adaptive) {
            match self.inputs.behind(at, port) {
                _ if home.0 == at && home.1 == u32::from(port) => {}
                Some((to, input)) if home.0 != at => ways.push(Place { at: to, input, group }),
                _ => {
                    return Err(self.mistake(format!(
                        "router {at} sends packets for terminal {terminal} from input {input_name}, group {group}, to port \
                         {port}; {}",
                        if home.0 == at { format!("it hangs at port {}", home.1) } else { "another hangs there".to_owned() }
                    )));
                }
            }
        }
        Ok(ways)
    }
}

/// An input of a card, and the group of a packet there.
#[derive(Debug, Clone, Copy)]
struct Place {
    at: RouterId,
    input: u32,
    group: u32,
}

/// How far a walk has come with a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum VisitState {
    Not,
    Now,
    Done,
}

/// The walk over all paths of a routing that fills its tables.
struct Walk<'n> {
    network: &'n Network,
    routing: &'n AnyRouting,
    text: &'n str,
    tables: CardTables,
}

impl Walk<'_> {
    fn refuse(&self, at: RouterId, terminal: TerminalId, why: &str) -> Error {
        let (spec, text) = (self.network.spec(), self.text);
        Error::Routing(format!(
            "{spec}: {text} is no table of cards: at router {at} the way to terminal {terminal} {why}"
        ))
    }

    /// Follows the paths of all packets to a terminal, the one at place `place` of `dst`.
    fn towards(&mut self, dst: RouterId, place: usize, terminal: TerminalId) -> Result<()> {
        let mut open = Vec::new();
        for src in self.network.up_routers().filter(|&src| self.network.has_terminals(src)) {
            let here = Place { at: src, input: 0, group: self.tables.group_of[src.index()].into() };
            if src == dst {
                open.push((here, PacketState::direct(0)));
                continue;
            }
            let mut starts = Vec::new();
            self.routing.starts(src, dst, &mut starts);
            if self.routing.by_terminal() {
                starts = starts.get(place).copied().into_iter().collect();
            }
            if starts.is_empty() {
                return Err(self.refuse(src, terminal, "is missing"));
            }
            open.extend(starts.into_iter().map(|state| (here, state)));
        }
        let mut seen = HashSet::new();
        while let Some((here, state)) = open.pop() {
            if here.at == dst {
                let (_, port) = self.network.local_port(self.network.terminal_port(terminal));
                let entry = Entry { port: port as u16, vc: 0, adaptive: Vec::new() };
                self.tables.set(here.at, here.input, here.group, terminal.0, entry);
            } else if seen.insert((here.at, here.input, here.group, state)) {
                self.hop(here, state, dst, terminal, &mut open)?;
            }
        }
        Ok(())
    }

    /// Enters a packet's hop into the table, and the positions behind it into `open`.
    fn hop(
        &mut self,
        here: Place,
        state: PacketState,
        dst: RouterId,
        terminal: TerminalId,
        open: &mut Vec<(Place, PacketState)>,
    ) -> Result<()> {
        let Place { at, input, group } = here;
        let (mut moves, mut detours) = (Vec::new(), Vec::new());
        self.routing.diverts(at, state, dst, &mut detours);
        if state.via != NO_VIA || !detours.is_empty() {
            return Err(self.refuse(at, terminal, "goes over another router first"));
        }
        self.routing.moves(at, state, dst, &mut moves);
        let Classes { groups, vcs, .. } = self.tables.classes;
        let (safe, adaptive): (Vec<Move>, Vec<Move>) =
            moves.iter().partition(|hop| u32::from(hop.class) < groups * vcs);
        let [fixed] = safe[..] else {
            return Err(self.refuse(at, terminal, if safe.is_empty() { "is missing" } else { "is one of several" }));
        };
        let own = u32::from(fixed.class).checked_sub(group * vcs).filter(|&vc| vc < vcs);
        let own_adaptive = adaptive.iter().all(|hop| u32::from(hop.class) == groups * vcs + group);
        let Some(vc) = own.filter(|_| own_adaptive) else {
            return Err(self.refuse(at, terminal, "takes VCs of other packets"));
        };
        let adaptive = adaptive.iter().map(|hop| hop.port).collect();
        let entry = Entry { port: fixed.port, vc: vc as u8, adaptive };
        if !self.tables.set(at, input, group, terminal.0, entry) {
            return Err(self.refuse(
                at,
                terminal,
                "depends on more than the input, the traffic class and the destination, or is one of several",
            ));
        }
        for hop in moves {
            if let Some((at, input)) = self.tables.inputs.behind(at, hop.port) {
                open.push((Place { at, input, group }, hop.next));
            }
        }
        Ok(())
    }
}

/// Routing by the tables of cards. A packet's bits are the position of its terminal at the destination, from bit 16 on the
/// input that it has come in by, and from bit 24 on its group.
pub(super) struct ByCards(pub(super) CardTables);

impl ByCards {
    fn begin(&self, src: RouterId, place: u32) -> PacketState {
        PacketState::direct(place | u32::from(self.0.group_of[src.index()]) << 24)
    }

    fn group(state: PacketState) -> u32 {
        state.bits >> 24
    }

    fn entry(&self, at: RouterId, state: PacketState, dst: RouterId) -> &Entry {
        let column = self.0.first_terminal[dst.index()] + (state.bits & 0xFFFF);
        let table = self.0.table(at, state.bits >> 16 & 0xFF, Self::group(state));
        self.0.entry(table[self.0.terminals[column as usize] as usize])
    }

    fn hop(&self, at: RouterId, state: PacketState, port: u16, class: u32) -> Move {
        let (_, input) =
            self.0.inputs.behind(at, port).expect("checked: only the destination's card leads to terminals");
        Move { port, class: class as u8, next: PacketState::direct((state.bits & 0xFF00_FFFF) | input << 16) }
    }

    fn fixed(&self, at: RouterId, state: PacketState, entry: &Entry) -> Move {
        self.hop(at, state, entry.port, Self::group(state) * self.0.classes.vcs + u32::from(entry.vc))
    }

    fn adaptive_class(&self, state: PacketState) -> u32 {
        self.0.classes.groups * self.0.classes.vcs + Self::group(state)
    }
}

impl Routing for ByCards {
    fn classes(&self) -> u32 {
        let Classes { groups, vcs, adaptive } = self.0.classes;
        groups * (vcs + u32::from(adaptive))
    }

    fn starts(&self, src: RouterId, dst: RouterId, out: &mut Vec<PacketState>) {
        let places = self.0.first_terminal[dst.index() + 1] - self.0.first_terminal[dst.index()];
        out.extend((0..places).map(|place| self.begin(src, place)));
    }

    fn moves(&self, at: RouterId, state: PacketState, dst: RouterId, out: &mut Vec<Move>) {
        let entry = self.entry(at, state, dst);
        let class = self.adaptive_class(state);
        out.extend(entry.adaptive.iter().map(|&port| self.hop(at, state, port, class)));
        out.push(self.fixed(at, state, entry));
    }

    fn start<V: View>(&self, src: RouterId, _dst: RouterId, view: &V, _rng: &mut Rng) -> PacketState {
        self.begin(src, view.leaves_by())
    }

    fn choose<V: View>(&self, at: RouterId, state: PacketState, dst: RouterId, view: &V, rng: &mut Rng) -> Move {
        let entry = self.entry(at, state, dst);
        let class = self.adaptive_class(state);
        let free = match &entry.adaptive[..] {
            [] => None,
            outputs => least_occupied(outputs, class as u8, view, rng),
        };
        free.map_or_else(|| self.fixed(at, state, entry), |port| self.hop(at, state, port, class))
    }

    fn by_terminal(&self) -> bool {
        true
    }

    fn traffic_groups(&self) -> u32 {
        self.0.classes.groups
    }

    fn traffic_group(&self, src: RouterId) -> u32 {
        self.0.group_of[src.index()].into()
    }

    fn escape_classes(&self) -> u32 {
        let Classes { groups, vcs, adaptive } = self.0.classes;
        if adaptive { groups * vcs } else { 0 }
    }

    fn decides_again(&self) -> Again {
        if self.0.classes.adaptive { Again::Blocked } else { Again::Never }
    }

    fn takes_whole_packets(&self, class: u8) -> bool {
        self.0.classes.adaptive && u32::from(class) >= self.0.classes.groups * self.0.classes.vcs
    }

    fn unproved(&self) -> bool {
        true
    }

    fn contents(&self) -> u64 {
        let CardTables { classes, group_of, entries, tables, .. } = &self.0;
        let mut hasher = DefaultHasher::new();
        (classes, group_of, entries, tables).hash(&mut hasher);
        hasher.finish()
    }

    fn oblivious(&self) -> bool {
        !self.0.classes.adaptive
    }
}
