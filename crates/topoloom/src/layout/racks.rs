//! Racks that are filled by one rule, whatever the family: a router shares one with its nodes, as many as units and kW
//! allow.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use serde::Serialize;

use super::rules::{Rows, Rules, mistake};
use crate::catalogue::Arguments;
use crate::error::{Result, several};
use crate::network::{Network, RouterId};

/// What a rack holds, beside the rack units of [`Rules`].
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Racking {
    /// kW that a rack powers and cools.
    pub kw: f64,
    /// kW of a router.
    pub router_kw: f64,
    /// kW of a node, a terminal.
    pub node_kw: f64,
    /// Routers of a rack at most.
    pub most_routers: Option<u32>,
    /// Nodes of a rack at most.
    pub most_nodes: Option<u32>,
    /// In which order routers fill racks; `None`: in that of all with the least cable.
    pub order: Option<Order>,
}

/// The numbers of the rule `rack`. Lengths are in metres.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RackNumbers {
    /// Rack units of a rack.
    pub units: u32,
    /// kW that a rack powers and cools.
    pub kw: f64,
    /// Rack units of a router.
    pub router_units: u32,
    /// Rack units of a node.
    pub node_units: f64,
    /// kW of a router.
    pub router_kw: f64,
    /// kW of a node.
    pub node_kw: f64,
    /// Routers of a rack at most.
    pub max_routers: Option<u32>,
    /// Nodes of a rack at most.
    pub max_nodes: Option<u32>,
    /// From a rack to the next one in its row.
    pub width_m: f64,
    /// From a row to the next one.
    pub depth_m: f64,
    /// Aisles behind even and behind odd rows.
    pub aisles_m: [f64; 2],
    /// What a cable between racks needs beside the distance.
    pub overhead_m: f64,
    /// A cable within a rack.
    pub inside_m: f64,
    /// A cable to a terminal; `None` where these are left out.
    pub terminal_m: Option<f64>,
    /// Rows of racks.
    pub rows: Option<u32>,
    /// Racks of a row.
    pub columns: Option<u32>,
}

impl Rules {
    /// The numbers of the rule `rack`; `None` for another layout.
    pub fn rack_numbers(&self) -> Option<RackNumbers> {
        let racks = self.racks.as_ref()?;
        Some(RackNumbers {
            units: self.units?,
            kw: racks.kw,
            router_units: self.router_units,
            node_units: self.node_units,
            router_kw: racks.router_kw,
            node_kw: racks.node_kw,
            max_routers: racks.most_routers,
            max_nodes: racks.most_nodes,
            width_m: self.width_m,
            depth_m: self.depth_m,
            aisles_m: self.aisles_m,
            overhead_m: self.overhead_m,
            inside_m: self.inside_m?,
            terminal_m: self.terminal_m,
            rows: self.rows.and_then(Rows::count),
            columns: self.columns,
        })
    }
}

/// In which order routers fill racks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// What the family packages as one cabinet is kept together, such as the pod of a tree.
    Cabinets,
    /// The family's groups are kept together.
    Groups,
    /// By ids.
    Ids,
    /// A rack grows by the router with the most links into it.
    Growth,
}

impl Order {
    /// All, in the order in which they are tried.
    pub const ALL: &[Self] = &[Self::Cabinets, Self::Groups, Self::Ids, Self::Growth];

    /// Their names.
    pub const NAMES: &[&str] = &["cabinets", "groups", "ids", "growth"];

    /// What `order=` takes.
    pub const DOC: &str = "cabinets or groups: what the family keeps together stays together; ids: routers by their ids; \
                           growth: each rack takes the routers with the most links into it (default: whichever has the \
                           least cable)";

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }
}

impl Racking {
    /// Sets what keys state.
    pub(super) fn set(&mut self, given: &Arguments) {
        self.kw = given.real("kw").unwrap_or(self.kw);
        self.router_kw = given.real("router-kw").unwrap_or(self.router_kw);
        self.node_kw = given.real("node-kw").unwrap_or(self.node_kw);
        self.most_routers = given.unless_word("max-routers").unwrap_or(self.most_routers);
        self.most_nodes = given.unless_word("max-nodes").unwrap_or(self.most_nodes);
        let order = given.text("order").and_then(|name| Order::ALL.iter().find(|order| order.name() == name));
        self.order = order.copied().or(self.order);
    }

    /// What racks hold, in words.
    pub(super) fn words(&self, rules: &Rules) -> String {
        let most = |count: Option<u32>, noun: &str| {
            count.map_or_else(String::new, |most| format!(", {} at most", several(most, noun)))
        };
        format!(
            "racks of {} U and {} kW{}{}; routers of {} U and {} kW, nodes of {} U and {} kW",
            rules.units.unwrap_or_default(),
            self.kw,
            most(self.most_routers, "router"),
            most(self.most_nodes, "node"),
            rules.router_units,
            self.router_kw,
            rules.node_units,
            self.node_kw
        )
    }

    /// True if a rack has room for all that.
    fn has_room(&self, rules: &Rules, load: Load) -> bool {
        let kw = f64::from(load.routers) * self.router_kw + f64::from(load.nodes) * self.node_kw;
        rules.has_room(rules.units_of(load.routers, load.nodes))
            && kw <= self.kw + 1e-9
            && self.most_routers.is_none_or(|most| load.routers <= most)
            && self.most_nodes.is_none_or(|most| load.nodes <= most)
    }

    /// Rejects what no rack can hold.
    fn check(&self, rules: &Rules) -> Result<()> {
        let refused = |what: &str, units: f64, kw: f64| {
            let rack = format!("a rack of {} and {} kW", several(rules.units.unwrap_or_default(), "unit"), self.kw);
            Err(mistake(format!("{rack} has no room for a {what} of {} and {kw} kW", several(units, "unit"))))
        };
        if !self.has_room(rules, Load { routers: 1, nodes: 0 }) {
            return refused("router", rules.router_units.into(), self.router_kw);
        }
        if !self.has_room(rules, Load { routers: 0, nodes: 1 }) {
            return refused("node", rules.node_units, self.node_kw);
        }
        Ok(())
    }
}

/// The equipment of a rack, placed or still to be placed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Load {
    routers: u32,
    nodes: u32,
}

impl Load {
    fn of(network: &Network, router: RouterId) -> Self {
        Self { routers: 1, nodes: network.terminals_of(router).count() as u32 }
    }

    fn with(self, other: Self) -> Self {
        Self { routers: self.routers + other.routers, nodes: self.nodes + other.nodes }
    }
}

/// The rack of each router and node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Racks {
    /// The rack of each router.
    pub routers: Vec<u32>,
    /// The rack of each terminal.
    pub terminals: Vec<u32>,
    /// Racks in all.
    pub count: u32,
    /// The first rack of routers whose whole group has no terminals; `count` if there is none.
    pub first_hub: u32,
}

impl Racks {
    /// Fills racks in one order; nothing if the network has no such order.
    ///
    /// # Errors
    /// [`Error::Config`](crate::error::Error::Config) if a rack has no room for a router, or for a node.
    pub fn fill(network: &Network, rules: &Rules, racking: &Racking, order: Order) -> Result<Option<Self>> {
        racking.check(rules)?;
        let structure = network.any_structure();
        let mut filler = Filler::new(network, rules, racking);
        match order {
            Order::Cabinets | Order::Groups if structure.node_dimension().is_some() => filler.nodes(),
            // The parts of one node cannot stand apart.
            _ if structure.node_dimension().is_some() => return Ok(None),
            Order::Cabinets | Order::Groups => {
                let of = |router| match order {
                    Order::Cabinets => structure.cabinet(router),
                    _ => structure.group_of(router),
                };
                let Some(groups) = groups(network, of) else { return Ok(None) };
                filler.groups(groups);
            }
            Order::Ids => network.routers().for_each(|router| filler.put(router)),
            Order::Growth => filler.grow(),
        }
        Ok(Some(filler.finish()))
    }

    /// Where each rack is in the row of all: those of hubs amid the others.
    pub fn sequence(&self) -> Vec<u32> {
        let (others, hubs) = (self.first_hub, self.count - self.first_hub);
        let before = others.div_ceil(2);
        let place = |rack: u32| match rack {
            _ if rack < before => rack,
            _ if rack < others => rack + hubs,
            _ => rack - others + before,
        };
        (0..self.count).map(place).collect()
    }
}

/// Routers by the group that they are in; nothing if some are in none.
fn groups(network: &Network, of: impl Fn(RouterId) -> Option<u32>) -> Option<Vec<Vec<RouterId>>> {
    let mut found = BTreeMap::<u32, Vec<RouterId>>::new();
    for router in network.routers() {
        found.entry(of(router)?).or_default().push(router);
    }
    Some(found.into_values().collect())
}

/// Fills one rack after the other.
struct Filler<'a> {
    network: &'a Network,
    rules: &'a Rules,
    racking: &'a Racking,
    /// What is in the last rack.
    load: Load,
    racks: Racks,
}

impl<'a> Filler<'a> {
    fn new(network: &'a Network, rules: &'a Rules, racking: &'a Racking) -> Self {
        let (routers, terminals) = (vec![0; network.num_routers()], vec![0; network.num_terminals()]);
        let racks = Racks { routers, terminals, count: 1, first_hub: u32::MAX };
        Self { network, rules, racking, load: Load::default(), racks }
    }

    fn finish(mut self) -> Racks {
        self.racks.first_hub = self.racks.first_hub.min(self.racks.count);
        self.racks
    }

    fn has_room(&self, load: Load) -> bool {
        self.racking.has_room(self.rules, load)
    }

    /// Begins another rack, unless the last one is empty.
    fn open(&mut self) {
        if self.load != Load::default() {
            self.racks.count += 1;
            self.load = Load::default();
        }
    }

    /// Puts a router with its nodes into the last rack, or into another one. Nodes for which no rack has room beside
    /// their router run over into the next one.
    fn put(&mut self, router: RouterId) {
        let whole = Load::of(self.network, router);
        let least = if self.has_room(whole) { whole } else { Load { routers: 1, nodes: 0 } };
        if !self.has_room(self.load.with(least)) {
            self.open();
        }
        self.racks.routers[router.index()] = self.racks.count - 1;
        self.load.routers += 1;
        for terminal in self.network.terminals_of(router) {
            if !self.has_room(self.load.with(Load { routers: 0, nodes: 1 })) {
                self.open();
            }
            self.racks.terminals[terminal.0 as usize] = self.racks.count - 1;
            self.load.nodes += 1;
        }
    }

    /// A group that one rack can hold is not divided; groups without terminals come last, in racks of their own.
    fn groups(&mut self, groups: Vec<Vec<RouterId>>) {
        let network = self.network;
        let load =
            |group: &[RouterId]| group.iter().fold(Load::default(), |sum, &router| sum.with(Load::of(network, router)));
        let (hubs, others): (Vec<_>, Vec<_>) =
            groups.into_iter().map(|group| (load(&group), group)).partition(|(load, _)| load.nodes == 0);
        self.undivided(others);
        if !hubs.is_empty() {
            self.open();
            self.racks.first_hub = self.racks.count - 1;
            self.undivided(hubs);
        }
    }

    fn undivided(&mut self, groups: Vec<(Load, Vec<RouterId>)>) {
        for (load, group) in groups {
            if !self.has_room(self.load.with(load)) && self.has_room(load) {
                self.open();
            }
            group.into_iter().for_each(|router| self.put(router));
        }
    }

    /// The routers of a node, which are parts of it, stay together.
    fn nodes(&mut self) {
        let structure = self.network.any_structure();
        let (Some(grid), Some(node)) = (structure.grid(), structure.node_dimension()) else { return };
        let of = |router: RouterId| {
            let mut coordinates = grid.coordinates(router.0);
            coordinates[node] = 0;
            Some(grid.id(&coordinates))
        };
        self.groups(groups(self.network, of).unwrap_or_default());
    }

    /// Each rack takes the routers with the most links into it, and begins with the one that has the most links to all
    /// racks before; the lowest id among equals.
    fn grow(&mut self) {
        let mut front = Front::new(self.network);
        while let Some(mut router) = front.best() {
            let load = Load::of(self.network, router);
            if !self.has_room(self.load.with(load)) && self.has_room(load) {
                self.open();
                front.next_rack();
                router = front.best().expect("there is one");
            }
            let last = self.racks.count;
            self.put(router);
            let own = self.racks.routers[router.index()] + 1;
            if own > last {
                front.next_rack();
            }
            front.take(router);
            if self.racks.count > own {
                front.next_rack();
            }
        }
    }
}

/// Links into the last rack, and into all racks; the lower id wins among equals.
type Rank = (u32, u32, Reverse<u32>);

/// Routers that are in no rack yet, by their links to those that are.
struct Front<'a> {
    network: &'a Network,
    /// Links of each router into the last rack, and into all; `None` once it is in one.
    links: Vec<Option<[u32; 2]>>,
    /// The routers that have links into the last rack.
    touched: Vec<RouterId>,
    /// Ranks, past ones among them.
    heap: BinaryHeap<Rank>,
}

impl<'a> Front<'a> {
    fn new(network: &'a Network) -> Self {
        let heap = network.routers().map(|router| (0, 0, Reverse(router.0))).collect();
        Self { network, links: vec![Some([0; 2]); network.num_routers()], touched: Vec::new(), heap }
    }

    fn rank(&self, router: RouterId) -> Option<Rank> {
        self.links[router.index()].map(|[inside, all]| (inside, all, Reverse(router.0)))
    }

    fn best(&mut self) -> Option<RouterId> {
        while let Some(&rank) = self.heap.peek() {
            let router = RouterId(rank.2.0);
            if self.rank(router) == Some(rank) {
                return Some(router);
            }
            self.heap.pop();
        }
        None
    }

    fn take(&mut self, router: RouterId) {
        self.links[router.index()] = None;
        for (_, peer) in self.network.neighbors(router) {
            if let Some([inside, all]) = &mut self.links[peer.index()] {
                *inside += 1;
                *all += 1;
                let rank = (*inside, *all, Reverse(peer.0));
                self.touched.push(peer);
                self.heap.push(rank);
            }
        }
    }

    fn next_rack(&mut self) {
        for router in std::mem::take(&mut self.touched) {
            if let Some([inside, all]) = &mut self.links[router.index()] {
                *inside = 0;
                let rank = (0, *all, Reverse(router.0));
                self.heap.push(rank);
            }
        }
    }
}
