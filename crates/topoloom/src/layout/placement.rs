//! Positions of routers, and the lengths of the cables between them.

use serde::Serialize;

use super::Qap;
use super::packing::{Packing, note_on_nodes};
use super::racks::{Order, Racking, Racks};
use super::rules::{Rows, Rules, mistake};
use crate::error::{Error, Result, several};
use crate::network::{Grid, Network, RouterId, TerminalId};

/// Where every router stands: in a cabinet, which has a place on the floor. Cables run along the axes.
#[derive(Debug, Clone, PartialEq)]
pub struct Layout {
    rules: Rules,
    rows: u32,
    columns: u32,
    /// The cabinet of each router.
    cabinets: Vec<u32>,
    /// The position of each cabinet, node-only ones behind the others: row place / columns and column place % columns.
    places: Vec<u32>,
    /// The first node-only cabinet, if terminals are in such.
    first_of_nodes: u32,
    /// The cabinet of each terminal; empty if they are with their routers, or in node-only cabinets.
    homes: Vec<u32>,
    /// In which order routers filled racks, if they did.
    order: Option<Order>,
    /// The lowest rack unit of each router in its cabinet, from 1.
    units: Vec<u32>,
    /// The height of each router in its cabinet, in metres; empty if heights do not count.
    heights: Vec<u32>,
    /// A cable within a cabinet; `None` where it is as any other, with its difference of heights.
    inside_m: Option<f64>,
}

/// A cabinet on the floor, as JSON has it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cabinet {
    /// Its number.
    pub cabinet: u32,
    /// Its row, from 0.
    pub row: u32,
    /// Its position in the row, from 0.
    pub column: u32,
    /// Along the row, from the first cabinet.
    pub x_m: f64,
    /// Across the rows, from the first row.
    pub y_m: f64,
    /// Routers in it.
    pub routers: u32,
    /// Terminals in it: those of its routers, unless terminals have cabinets of their own.
    pub terminals: u32,
}

/// An aisle between two rows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Aisle {
    /// The row that it is behind, from 0.
    pub behind_row: u32,
    /// Where it begins, across the rows, as the y of cabinets counts: half a place behind the middle of its row.
    pub from_m: f64,
    /// How wide it is.
    pub width_m: f64,
}

impl Layout {
    /// The layout that the family itself packages by.
    pub fn of_family(network: &Network) -> Self {
        Self::new(network, &Rules::family()).expect("a family fits on its own floor")
    }

    /// The default layout of a network: that of its file, else the racks that are the same for every family.
    pub fn usual(network: &Network) -> Self {
        let racks =
            || Self::new(network, &Rules::default()).expect("every network fits into racks of the default rule");
        Self::of_file(network).unwrap_or_else(racks)
    }

    /// The layout that was written into the file that a network comes from, or at least the cabinets that are there;
    /// `None` if the file has no cabinets.
    pub fn of_file(network: &Network) -> Option<Self> {
        let floor = network.source()?.floor.as_ref()?;
        let (of, cabinets) = (floor.of.as_ref().unwrap_or(network), &floor.cabinets);
        let Some(rules) = &floor.rules else {
            let rules = Rules { cabinet: Packing::File(network.spec().to_owned()), ..Rules::family() };
            return Self::with_cabinets(of, &rules, cabinets.clone()).ok();
        };
        let rules = Rules::parse(rules).ok()?;
        // The cabinets of routers do not determine everything: a family's own packages have heights, and a rack may
        // hold nodes of another rack's routers.
        let own = |laid: &Network| Self::new(laid, &rules).ok().filter(|layout| layout.cabinets == *cabinets);
        let racked = || rules.racks.is_some().then(|| own(network)).flatten();
        let known = || floor.of.as_ref().and_then(own).or_else(racked);
        let own = if rules.cabinet == Packing::Own { known() } else { None };
        own.or_else(|| Self::with_cabinets(of, &Rules { racks: None, ..rules }, cabinets.clone()).ok())
    }

    /// The layout that follows `rules`.
    ///
    /// With `rack`, every family's routers fill the same racks, with their nodes, in the order that takes the least
    /// cable. Otherwise, without `cabinet`, a family on a grid (mesh, torus, HyperX, FleX) puts its routers a step
    /// apart along each dimension, without folding (see `on_grid`). A family with cabinets (dragonfly groups, …; see
    /// [`Structure::cabinet`]) puts these, and any other family its routers, row by row on the floor, which is as near
    /// to a square as can be unless rows or columns are given. With `cabinet=N`, N routers by their ids share a
    /// cabinet.
    ///
    /// # Errors
    /// [`Error::Config`](crate::error::Error::Config) if the floor is too small, or has rows and columns where the
    /// family's coordinates decide.
    ///
    /// [`Structure::cabinet`]: crate::network::Structure::cabinet
    pub fn new(network: &Network, rules: &Rules) -> Result<Self> {
        if let Some(racking) = &rules.racks {
            return Self::in_racks(network, rules, racking);
        }
        let structure = network.any_structure();
        let routers = network.routers();
        let (cabinets, inside_m): (Vec<u32>, f64) = match (&rules.cabinet, structure.grid()) {
            (Packing::Own, Some(grid)) => return Self::on_grid(network, grid, rules),
            (Packing::Own, None) => {
                let place = |router: RouterId| structure.cabinet(router).unwrap_or(router.0);
                (routers.map(place).collect(), structure.cabinet_cable_m())
            }
            (Packing::Fit, _) => (fitting(network, rules)?, 2.0),
            (packing, _) => (packing.cabinets(network)?, 2.0),
        };
        Self::of_cabinets(network, rules, cabinets, inside_m)
    }

    /// The layout of routers in given cabinets, by what else `rules` state.
    ///
    /// # Errors
    /// As [`Layout::new`], and if `rules` fill racks themselves.
    pub fn with_cabinets(network: &Network, rules: &Rules, cabinets: Vec<u32>) -> Result<Self> {
        if rules.racks.is_some() {
            return Err(mistake("rack cannot be combined with given cabinets; it defines what a rack holds"));
        }
        Self::of_cabinets(network, rules, cabinets, 2.0)
    }

    fn of_cabinets(network: &Network, rules: &Rules, cabinets: Vec<u32>, inside_m: f64) -> Result<Self> {
        let first_of_nodes = cabinets.iter().max().map_or(0, |&last| last + 1);
        let of_nodes = rules.nodes.map_or(0, |size| (network.num_terminals() as u32).div_ceil(size));
        let count = first_of_nodes + of_nodes;
        let [rows, columns] = floor(count, rules)?;
        let inside_m = Some(rules.inside_m.unwrap_or(inside_m));
        let units = units(network, &cabinets, rules)?;
        let (rules, places, heights, homes) = (rules.clone(), (0..count).collect(), Vec::new(), Vec::new());
        let order = None;
        let layout =
            Self { rules, rows, columns, cabinets, places, first_of_nodes, homes, order, units, heights, inside_m };
        Ok(layout.placed(network))
    }

    /// Routers in racks, in the order that is asked for, or that of all with the least cable; the first one among
    /// equals.
    fn in_racks(network: &Network, rules: &Rules, racking: &Racking) -> Result<Self> {
        let mut best: Option<(f64, Self)> = None;
        for &order in Order::ALL.iter().filter(|order| racking.order.is_none_or(|only| only == **order)) {
            let Some(racks) = Racks::fill(network, rules, racking, order)? else { continue };
            let layout = Self::of_racks(network, rules, racks, order)?;
            let metres = layout.total_m(network);
            if best.as_ref().is_none_or(|(least, _)| metres < least - LEAST_GAIN_M) {
                best = Some((metres, layout));
            }
        }
        let none = || {
            let order = racking.order.map_or("", Order::name);
            mistake(format!("{} has nothing to keep together for order={order}; leave order out", network.spec()))
        };
        best.map(|(_, layout)| layout.placed(network)).ok_or_else(none)
    }

    /// Racks in rows that are run through to and fro, so that one that follows another stands near it.
    fn of_racks(network: &Network, rules: &Rules, racks: Racks, order: Order) -> Result<Self> {
        let [rows, columns] = floor(racks.count, rules)?;
        let place = |place: u32| match [place / columns, place % columns] {
            [row, column] if row % 2 == 1 => row * columns + (columns - 1 - column),
            _ => place,
        };
        let places = racks.sequence().into_iter().map(place).collect();
        let (cabinets, homes, first_of_nodes) = (racks.routers, racks.terminals, racks.count);
        let units = stacked(network, &cabinets, rules);
        let (rules, heights, inside_m, order) = (rules.clone(), Vec::new(), rules.inside_m, Some(order));
        Ok(Self { rules, rows, columns, cabinets, places, first_of_nodes, homes, order, units, heights, inside_m })
    }

    /// Metres of all cables.
    fn total_m(&self, network: &Network) -> f64 {
        let links = network.links().iter().map(|link| {
            let [a, b] = network.routers_of(link);
            self.cable_m(a, b)
        });
        let terminals = (0..network.num_terminals() as u32).map(TerminalId);
        links.sum::<f64>() + terminals.filter_map(|terminal| self.terminal_cable_m(network, terminal)).sum::<f64>()
    }

    /// The same, with cabinets where cables are short if the rules ask for that.
    fn placed(mut self, network: &Network) -> Self {
        if let Some(seed) = self.rules.anneal {
            self.places = self.annealed(network, seed);
        }
        self
    }

    /// Places for the cabinets at which the cables between them are short.
    fn annealed(&self, network: &Network, seed: u64) -> Vec<u32> {
        let mut cables = std::collections::BTreeMap::<(u32, u32), f64>::new();
        let mut count = |a: u32, b: u32| *cables.entry((a.min(b), a.max(b))).or_default() += 1.0;
        for link in network.links() {
            let [a, b] = network.routers_of(link).map(|router| self.cabinet(router));
            count(a, b);
        }
        if (self.rules.nodes.is_some() || !self.homes.is_empty()) && self.rules.terminal_m.is_some() {
            for terminal in (0..network.num_terminals() as u32).map(TerminalId) {
                count(self.cabinet(network.router_of(terminal)), self.terminal_cabinet(network, terminal));
            }
        }
        let places = self.rows * self.columns;
        let distance = |a: u32, b: u32| {
            let [[ax, ay], [bx, by]] = [self.floor_m(a), self.floor_m(b)];
            (ax - bx).abs() + (ay - by).abs()
        };
        let distances = (0..places).flat_map(|a| (0..places).map(move |b| distance(a, b))).collect();
        let flows = cables.into_iter().map(|((a, b), cables)| (a, b, cables));
        let mut found = Qap::new(places as usize, flows, distances).anneal(seed);
        found.truncate(self.places.len());
        found
    }

    /// Routers one step apart along each dimension. One dimension is stacked, with steps of one metre. The first and
    /// the second of the others span the floor; each further one repeats that floor, along the row and across the rows
    /// by turns. The routers of a node share one position.
    fn on_grid(network: &Network, grid: &Grid, rules: &Rules) -> Result<Self> {
        let (structure, routers) = (network.any_structure(), network.num_routers());
        let by_coordinates =
            |keys: &str| Err(mistake(format!("{keys} with cabinet=N; this family places its routers by coordinates")));
        if rules.rows.and_then(Rows::count).or(rules.columns).is_some() {
            return by_coordinates("rows and columns go");
        }
        if rules.anneal.is_some() {
            return by_coordinates("place=anneal goes");
        }
        if rules.nodes.is_some() {
            return by_coordinates("nodes goes");
        }
        let (upright, node) = (structure.upright_dimension(), structure.node_dimension());
        let flat: Vec<usize> = (0..grid.sides.len()).filter(|&d| d != upright && Some(d) != node).collect();
        let extent = |axis: usize| flat.iter().skip(axis).step_by(2).map(|&d| grid.sides[d]).product::<u32>();
        let [columns, rows] = [extent(0), extent(1)];
        let along = |coordinates: &[u32], axis: usize| {
            let nested = flat.iter().skip(axis).step_by(2).rev();
            nested.fold(0, |place, &d| place * grid.sides[d] + coordinates[d])
        };
        let (mut cabinets, mut heights) = (Vec::with_capacity(routers), Vec::with_capacity(routers));
        for router in 0..routers as u32 {
            let coordinates = grid.coordinates(router);
            cabinets.push(along(&coordinates, 1) * columns + along(&coordinates, 0));
            heights.push(coordinates.get(upright).copied().unwrap_or(0));
        }
        let (places, units) = ((0..rows * columns).collect(), units(network, &cabinets, rules)?);
        let (rules, inside_m, first_of_nodes, homes) = (rules.clone(), rules.inside_m, rows * columns, Vec::new());
        let order = None;
        Ok(Self { rules, rows, columns, cabinets, places, first_of_nodes, homes, order, units, heights, inside_m })
    }

    /// The rules that it follows.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// Rows of cabinets, and cabinets of a row.
    pub fn floor(&self) -> [u32; 2] {
        [self.rows, self.columns]
    }

    /// The cabinet of a router.
    pub fn cabinet(&self, router: RouterId) -> u32 {
        self.cabinets[router.index()]
    }

    /// The cabinet of each router of the network that is laid out.
    pub fn router_cabinets(&self, network: &Network) -> Vec<u32> {
        network.routers().map(|router| self.cabinet(router)).collect()
    }

    /// The position of a router, in metres: along the row, across the rows, up.
    pub fn position(&self, router: RouterId) -> [f64; 3] {
        let [x, y] = self.place_m(self.cabinet(router));
        [x, y, self.heights.get(router.index()).copied().unwrap_or(0).into()]
    }

    /// The lowest rack unit of a router in its cabinet, from 1.
    pub fn unit(&self, router: RouterId) -> u32 {
        self.units[router.index()]
    }

    /// In which order routers filled racks: `cabinets`, `groups`, `ids` or `growth`; nothing without the rule `rack`.
    pub fn order(&self) -> Option<&'static str> {
        self.order.map(Order::name)
    }

    /// The cabinet of a terminal: its router's, unless its rack has no room or terminals have cabinets of their own.
    pub fn terminal_cabinet(&self, network: &Network, terminal: TerminalId) -> u32 {
        match self.rules.nodes {
            _ if !self.homes.is_empty() => self.homes[terminal.0 as usize],
            Some(size) => self.first_of_nodes + terminal.0 / size,
            None => self.cabinet(network.router_of(terminal)),
        }
    }

    fn place_m(&self, cabinet: u32) -> [f64; 2] {
        self.floor_m(self.places[cabinet as usize])
    }

    /// A place on the floor, in metres along the row and across the rows.
    fn floor_m(&self, place: u32) -> [f64; 2] {
        let [row, column] = [place / self.columns, place % self.columns];
        let aisles = f64::from(row.div_ceil(2)) * self.rules.aisles_m[0] + f64::from(row / 2) * self.rules.aisles_m[1];
        [f64::from(column) * self.rules.width_m, f64::from(row) * self.rules.depth_m + aisles]
    }

    /// The aisles between rows, where the rules have some of their own.
    pub fn aisles(&self) -> Vec<Aisle> {
        let behind = |row: u32| {
            let from_m = self.floor_m(row * self.columns)[1] + self.rules.depth_m / 2.0;
            Aisle { behind_row: row, from_m, width_m: self.rules.aisles_m[row as usize % 2] }
        };
        (0..self.rows.saturating_sub(1)).map(behind).filter(|aisle| aisle.width_m > 0.0).collect()
    }

    /// The length of a cable between two routers, in metres.
    pub fn cable_m(&self, a: RouterId, b: RouterId) -> f64 {
        if let Some(inside) = self.inside_m.filter(|_| self.cabinet(a) == self.cabinet(b)) {
            return inside;
        }
        let way: f64 = self.position(a).iter().zip(self.position(b)).map(|(a, b)| (a - b).abs()).sum();
        way + self.rules.overhead_m
    }

    /// The length of a cable between each two cabinets of routers, in metres, row by row; within one on the diagonal.
    pub fn between_cabinets_m(&self) -> Vec<f64> {
        let cabinets = 0..self.first_of_nodes;
        let inside = self.inside_m.unwrap_or(self.rules.overhead_m);
        let between = |a: u32, b: u32| {
            let [[ax, ay], [bx, by]] = [self.place_m(a), self.place_m(b)];
            (ax - bx).abs() + (ay - by).abs() + self.rules.overhead_m
        };
        cabinets
            .clone()
            .flat_map(|a| cabinets.clone().map(move |b| if a == b { inside } else { between(a, b) }))
            .collect()
    }

    /// The length of the cable of a terminal, in metres; `None` if these cables are left out. To another cabinet it is
    /// as long as any other cable.
    pub fn terminal_cable_m(&self, network: &Network, terminal: TerminalId) -> Option<f64> {
        let length = self.rules.terminal_m?;
        let [at, home] = [self.cabinet(network.router_of(terminal)), self.terminal_cabinet(network, terminal)];
        if at == home {
            return Some(length);
        }
        let [[ax, ay], [bx, by]] = [at, home].map(|cabinet| self.place_m(cabinet));
        Some((ax - bx).abs() + (ay - by).abs() + self.rules.overhead_m)
    }

    /// Sentences on cabinets that are not full.
    pub fn notes(&self, network: &Network) -> Vec<String> {
        let of_nodes = self.rules.nodes.and_then(|size| note_on_nodes(network, size));
        self.rules.cabinet.note(network, &self.cabinets).into_iter().chain(of_nodes).collect()
    }

    /// The cabinets that hold anything.
    pub fn cabinets(&self, network: &Network) -> Vec<Cabinet> {
        let mut held = vec![[0u32; 2]; self.places.len()];
        network.routers().for_each(|router| held[self.cabinet(router) as usize][0] += 1);
        for terminal in (0..network.num_terminals() as u32).map(TerminalId) {
            held[self.terminal_cabinet(network, terminal) as usize][1] += 1;
        }
        let cabinet = |(cabinet, [routers, terminals]): (u32, [u32; 2])| {
            let [x_m, y_m] = self.place_m(cabinet);
            let place = self.places[cabinet as usize];
            let (row, column) = (place / self.columns, place % self.columns);
            Cabinet { cabinet, row, column, x_m, y_m, routers, terminals }
        };
        (0..).zip(held).filter(|(_, [routers, terminals])| routers + terminals > 0).map(cabinet).collect()
    }
}

/// Routers by their ids, as many a cabinet as have room in its rack units, with their terminals if these are there.
fn fitting(network: &Network, rules: &Rules) -> Result<Vec<u32>> {
    let (mut cabinet, mut used) = (0, 0.0);
    let place = |router: RouterId| {
        let terminals = if rules.nodes.is_none() { network.terminals_of(router).count() as u32 } else { 0 };
        let needed = rules.units_of(1, terminals);
        if !rules.has_room(needed) {
            return Err(too_full(&format!("router {router}", router = router.0), 1, terminals, rules));
        }
        if !rules.has_room(used + needed) {
            (cabinet, used) = (cabinet + 1, 0.0);
        }
        used += needed;
        Ok(cabinet)
    };
    network.routers().map(place).collect()
}

fn too_full(what: &str, routers: u32, terminals: u32, rules: &Rules) -> Error {
    let terminals = match (terminals, rules.node_units) {
        (0, _) | (_, 0.0) => String::new(),
        (terminals, units) => format!(" and {} of {units}", several(terminals, "terminal")),
    };
    mistake(format!(
        "{what} holds {} of {} each{terminals}; units is {}",
        several(routers, "router"),
        several(rules.router_units, "rack unit"),
        rules.units.unwrap_or(u32::MAX)
    ))
}

/// A difference of less is none: sums of the same steps may differ in their last digit.
const LEAST_GAIN_M: f64 = 1e-6;

/// The lowest rack unit of each router: they are in their cabinet from below, by their ids. Terminals, if they take
/// units, stand above them.
fn stacked(network: &Network, cabinets: &[u32], rules: &Rules) -> Vec<u32> {
    let mut held = vec![0; cabinets.iter().max().map_or(0, |&last| last as usize + 1)];
    let place = |router: RouterId| {
        let routers: &mut u32 = &mut held[cabinets[router.index()] as usize];
        *routers += 1;
        (*routers - 1) * rules.router_units + 1
    };
    network.routers().map(place).collect()
}

/// As [`stacked`], if no cabinet holds more than it can.
fn units(network: &Network, cabinets: &[u32], rules: &Rules) -> Result<Vec<u32>> {
    let mut held = vec![[0; 2]; cabinets.iter().max().map_or(0, |&last| last as usize + 1)];
    for router in network.routers() {
        let [routers, terminals] = &mut held[cabinets[router.index()] as usize];
        *routers += 1;
        *terminals += if rules.nodes.is_none() { network.terminals_of(router).count() as u32 } else { 0 };
    }
    let full =
        (0u32..).zip(held).find(|(_, [routers, terminals])| !rules.has_room(rules.units_of(*routers, *terminals)));
    if let Some((cabinet, [routers, terminals])) = full {
        return Err(too_full(&format!("cabinet {cabinet}"), routers, terminals, rules));
    }
    let nodes = rules.nodes.unwrap_or(0).min(network.num_terminals() as u32);
    if !rules.has_room(rules.units_of(0, nodes)) {
        return Err(too_full("a node-only cabinet", 0, nodes, rules));
    }
    Ok(stacked(network, cabinets, rules))
}

/// Rows and columns for `count` cabinets: by default as many columns as the root of their number, or, of racks, even
/// rows on a floor that is as wide as it is deep, nearly.
fn floor(count: u32, rules: &Rules) -> Result<[u32; 2]> {
    let count = count.max(1);
    let root = f64::from(count).sqrt().ceil() as u32;
    let square = if rules.racks.is_some() {
        let row_m = rules.depth_m + (rules.aisles_m[0] + rules.aisles_m[1]) / 2.0;
        let rows = (f64::from(count) * rules.width_m / row_m).sqrt().round().max(1.0) as u32;
        count.div_ceil(rows)
    } else {
        root
    };
    let [rows, columns] = match (rules.rows, rules.columns) {
        (Some(Rows::Count(rows)), Some(columns)) => [rows, columns],
        (Some(Rows::Count(rows)), None) => [rows, count.div_ceil(rows)],
        (Some(Rows::Square), None) => [root, count.div_ceil(root)],
        (_, columns) => {
            let columns = columns.unwrap_or(square);
            [count.div_ceil(columns), columns]
        }
    };
    if u64::from(rows) * u64::from(columns) < u64::from(count) {
        return Err(mistake(format!(
            "{count} cabinets do not fit on a floor of {} of {columns}",
            several(rows, "row")
        )));
    }
    Ok([rows, columns])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::build;

    fn layout(spec: &str) -> Layout {
        Layout::of_family(&build(spec).expect(spec))
    }

    fn cable(spec: &str, a: u32, b: u32) -> f64 {
        layout(spec).cable_m(RouterId(a), RouterId(b))
    }

    #[test]
    fn grids_stand_by_coordinates() {
        assert_eq!(cable("flex:6x6x3", 0, 6 * 6 * 2 + 6 * 3), 3.0 + 2.0 + 2.0, "layers 0 and 2 are 2 m apart");
        assert_eq!(cable("torus:16x4", 0, 15), 15.0 + 2.0, "no folding");
        assert_eq!(cable("hyperx:10x10", 3, 93), 9.0 + 2.0);
        assert_eq!(layout("hyperx:4x3x2").position(RouterId(23)), [3.0, 2.0, 1.0]);
    }

    #[test]
    fn a_cabinet_of_flex_holds_a_column_of_a_layer() {
        let flex = layout("flex:4x5x3");
        assert_eq!(flex.floor(), [3, 4], "layers behind each other, x along the row");
        assert_eq!(flex.position(RouterId(20 + 4 * 3 + 2)), [2.0, 1.0, 3.0]);
        assert_eq!(flex.cabinet(RouterId(20 + 2)), flex.cabinet(RouterId(20 + 4 * 3 + 2)));
    }

    #[test]
    fn further_dimensions_repeat_the_floor() {
        let torus = layout("torus:2x3x4x5x6");
        assert_eq!(torus.floor(), [3 * 6, 2 * 5]);
        let id = 1 + 2 * (2 + 3 * (3 + 4 * (4 + 5 * 5)));
        assert_eq!(torus.position(RouterId(id)), [1.0 + 2.0 * 4.0, 2.0 + 3.0 * 5.0, 3.0]);
        assert_eq!(layout("mesh:7").floor(), [1, 7]);
    }

    #[test]
    fn cabinets_stand_row_by_row() {
        let spec = "dragonfly:a=8,h=4";
        assert_eq!(layout(spec).position(RouterId(8 * 32)), [2.0, 5.0, 0.0], "33 groups in rows of 6");
        assert_eq!(cable(spec, 0, 7), 2.0);
        assert_eq!(cable(spec, 0, 8 * 32), 2.0 + 5.0 + 2.0);
        let spec = "slimfly:q=9";
        assert_eq!(
            cable(spec, 9 * 5, 81 + 9 * 5 + 1),
            2.0,
            "column x of the one and m = x of the other share a cabinet"
        );
        assert_eq!(cable(spec, 0, 81 + 9 * 8), 2.0 + 2.0 + 2.0, "9 cabinets in rows of 3");
    }

    #[test]
    fn a_tree_puts_pods_into_cabinets() {
        // k = 4, three levels: 4 pods of 4 leaves and 4 middles, then 4 cabinets of 4 tops; 8 cabinets in rows of 3.
        let spec = "fattree:k=4,levels=3";
        assert_eq!(cable(spec, 4, 16 + 7), 1.0, "leaf (1,0) and middle (1,3) share a cabinet");
        assert_eq!(cable(spec, 16, 32 + 12), 1.0 + 2.0 + 2.0, "from cabinet 0 to cabinet 7");
    }

    #[test]
    fn cabinets_by_id() {
        let network = build("torus:16x16").expect("small");
        let rules = Rules::parse("cabinet=16,width=0.6,depth=2.1,overhead=4,inside=2").expect("reads");
        let layout = Layout::new(&network, &rules).expect("fits");
        assert_eq!((layout.floor(), layout.cabinets(&network).len()), ([4, 4], 16));
        assert_eq!(layout.cable_m(RouterId(0), RouterId(15)), 2.0);
        assert!((layout.cable_m(RouterId(0), RouterId(16)) - 4.6).abs() < 1e-12);
        assert!((layout.cable_m(RouterId(0), RouterId(16 * 15)) - (3.0 * 0.6 + 3.0 * 2.1 + 4.0)).abs() < 1e-12);
        let last =
            Cabinet { cabinet: 15, row: 3, column: 3, x_m: 3.0 * 0.6, y_m: 3.0 * 2.1, routers: 16, terminals: 16 };
        assert_eq!(layout.cabinets(&network).pop(), Some(last));
    }

    #[test]
    fn cabinets_that_are_not_full_are_said() {
        for (spec, text, told) in [
            ("mesh:9x7,p=3", "cabinet=7,nodes=21", None),
            (
                "mesh:9x7",
                "cabinet=8",
                Some("8 routers per cabinet do not divide 63 routers: the last of 8 cabinets holds 7"),
            ),
            ("mesh:9x7,p=3", "cabinet=7,nodes=40", Some("40 terminals per node-only cabinet do not divide 189")),
            (
                "mesh:9x7",
                "cabinet=4x4",
                Some("do not divide the grid 9x7: 4 of 6 cabinets hold fewer than 16 routers, down to 3"),
            ),
            ("mesh:8x4", "cabinet=4x4", None),
            (
                "mesh:5x2",
                "cabinet=fit,units=4",
                Some("a cabinet has room for 4 routers: 1 of 3 cabinets holds fewer than 4"),
            ),
        ] {
            let network = build(spec).expect(spec);
            let notes = Layout::new(&network, &Rules::parse(text).expect(text)).expect(text).notes(&network);
            assert_eq!(notes.len(), usize::from(told.is_some()), "{text}: {notes:?}");
            assert!(notes.iter().all(|note| note.contains(told.unwrap_or_default())), "{text}: {notes:?}");
        }
    }

    #[test]
    fn rack_units_say_how_many_routers_a_cabinet_holds() {
        let network = build("torus:4x4,p=8").expect("small");
        let held = |text: &str| -> Vec<u32> {
            let layout = Layout::new(&network, &Rules::parse(text).expect(text)).expect(text);
            layout.cabinets(&network).iter().map(|cabinet| cabinet.routers).collect()
        };
        assert_eq!(held("cabinet=fit,units=42,router-units=2,nodes=64"), [16, 0, 0]);
        assert_eq!(held("cabinet=fit,units=10,router-units=2"), [5, 5, 5, 1]);
        assert_eq!(
            held("cabinet=fit,units=42,router-units=2,node-units=0.5"),
            [7, 7, 2],
            "six units per router with its own"
        );
        let layout = Layout::new(&network, &Rules::parse("cabinet=fit,units=10,router-units=2").expect("reads"));
        assert_eq!([4, 5].map(|router| layout.as_ref().expect("fits").unit(RouterId(router))), [9, 1]);
        for (text, words) in [
            (
                "cabinet=16,units=42,node-units=0.5",
                "cabinet 0 holds 16 routers of 1 rack unit each and 128 terminals of 0.5",
            ),
            (
                "cabinet=fit,units=4,node-units=0.5",
                "router 0 holds 1 router of 1 rack unit each and 8 terminals of 0.5",
            ),
            ("cabinet=4,nodes=10,units=4,node-units=0.5", "a node-only cabinet holds 0 routers"),
            ("cabinet=4,nodes=8,units=3", "cabinet 0 holds 4 routers of 1 rack unit each; units is 3"),
        ] {
            let sentence = Layout::new(&network, &Rules::parse(text).expect(text)).expect_err(text).to_string();
            assert!(sentence.contains(words), "{sentence}");
        }
    }

    #[test]
    fn aisles_lie_between_rows() {
        let network = build("mesh:8").expect("small");
        let rules = Rules::parse("cabinet=1,columns=2,depth=1,aisle=1.2:0.6").expect("reads");
        let aisles = Layout::new(&network, &rules).expect("fits").aisles();
        let told: Vec<_> = aisles.iter().map(|aisle| (aisle.behind_row, aisle.from_m, aisle.width_m)).collect();
        assert_eq!(told, [(0, 0.5, 1.2), (1, 2.2 + 0.5, 0.6), (2, 1.2 + 0.6 + 2.0 + 0.5, 1.2)]);
        assert_eq!(layout("mesh:4x4").aisles(), []);
    }

    #[test]
    fn floors_that_do_not_fit() {
        for (spec, text, words) in [
            ("dragonfly:a=8,h=4", "rows=4,columns=5", "33 cabinets do not fit on a floor of 4 rows of 5"),
            ("mesh:4x4", "rows=2", "by coordinates"),
            ("mesh:4x4", "cabinet=1,rows=2,columns=7", "16 cabinets"),
        ] {
            let network = build(spec).expect(spec);
            let rules = Rules::parse(text).expect(text);
            let sentence = Layout::new(&network, &rules).expect_err(text).to_string();
            assert!(sentence.contains(words), "{sentence}");
        }
        let network = build("dragonfly:a=8,h=4").expect("small");
        let floor = |text| Layout::new(&network, &Rules::parse(text).expect("reads")).expect("fits").floor();
        assert_eq!((floor("rows=3"), floor("columns=4"), floor("rows=9,columns=9")), ([3, 11], [9, 4], [9, 9]));
    }
}
