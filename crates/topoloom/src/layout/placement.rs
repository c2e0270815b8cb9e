//! Positions of routers, and the lengths of the cables between them.

use crate::network::{Grid, Network, RouterId};

/// Cable from a router to a terminal: they stand in one rack.
const TERMINAL_M: f64 = 1.0;

/// What every cable between two positions needs beside the way: up and down at both ends (Kim, Dally and Abts,
/// ISCA 2007).
const OVERHEAD_M: f64 = 2.0;

/// Positions of all routers, in metres. Cables run along the axes.
#[derive(Debug, Clone, PartialEq)]
pub struct Layout {
    /// Coordinates of a position.
    dimensions: usize,
    /// The coordinates of router r at `r * dimensions`.
    positions: Vec<f64>,
    /// The length of a cable between two routers at one position.
    same_place_m: f64,
}

impl Layout {
    /// The layout that the family itself packages by.
    ///
    /// A family on a grid (mesh, torus, HyperX, FleX) puts its routers a metre apart along each dimension, without
    /// folding. A family with cabinets (dragonfly groups, …; see [`Structure::cabinet`]) puts these, and any other
    /// family its routers, a metre apart on a floor as near to a square as can be, row by row.
    ///
    /// [`Structure::cabinet`]: crate::network::Structure::cabinet
    pub fn of_family(network: &Network) -> Self {
        let structure = network.any_structure();
        if let Some(grid) = structure.grid() {
            return Self::on_grid(grid, network.num_routers() as u32);
        }
        let place = |router: RouterId| structure.cabinet(router).unwrap_or(router.0);
        let places: Vec<u32> = network.routers().map(place).collect();
        Self::on_floor(&places, structure.cabinet_cable_m())
    }

    fn on_grid(grid: &Grid, routers: u32) -> Self {
        let positions = (0..routers).flat_map(|router| grid.coordinates(router)).map(f64::from).collect();
        Self { dimensions: grid.sides.len(), positions, same_place_m: OVERHEAD_M }
    }

    /// Places 0, 1, … row by row on a near-square floor; `places` says which is each router's.
    fn on_floor(places: &[u32], same_place_m: f64) -> Self {
        let count = places.iter().max().map_or(0, |&last| last + 1);
        let columns = f64::from(count).sqrt().ceil().max(1.0) as u32;
        let position = |&place: &u32| [f64::from(place % columns), f64::from(place / columns)];
        Self { dimensions: 2, positions: places.iter().flat_map(position).collect(), same_place_m }
    }

    /// The coordinates of a router, in metres.
    pub fn position(&self, router: RouterId) -> &[f64] {
        let first = router.index() * self.dimensions;
        &self.positions[first..first + self.dimensions]
    }

    /// The length of a cable between two routers.
    pub fn cable_m(&self, a: RouterId, b: RouterId) -> f64 {
        let way: f64 = self.position(a).iter().zip(self.position(b)).map(|(a, b)| (a - b).abs()).sum();
        if way == 0.0 { self.same_place_m } else { way + OVERHEAD_M }
    }

    /// The length of a cable between a router and a terminal.
    pub fn terminal_cable_m(&self) -> f64 {
        TERMINAL_M
    }

    /// The lengths of the links between routers, in the order of [`Network::links`].
    pub fn link_lengths_m(&self, network: &Network) -> Vec<f64> {
        let router = |end: usize| network.ports()[end].router;
        network
            .links()
            .iter()
            .map(|link| self.cable_m(router(link.ends[0].index()), router(link.ends[1].index())))
            .collect()
    }
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
    fn cabinets_stand_row_by_row() {
        let spec = "dragonfly:a=8,h=4";
        assert_eq!(layout(spec).position(RouterId(8 * 32)), [2.0, 5.0], "33 groups in rows of 6");
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
}
