//! `hyperx:10x10,p=10`: routers on a grid, every line of it fully connected (flattened butterfly, generalised
//! hypercube).
//!
//! Router ids: the first dimension varies fastest. Network ports of a router: dimension by dimension, in each by
//! ascending coordinate of the peer, the `trunk` parallel links side by side. Link class: `local`.
//!
//! Terminal ids are router id * p + i, unless `tile` is given: `tile=2x2` spreads the terminals of a router over a
//! 2x2 tile of the grid of all terminals and numbers them over that whole grid, the first dimension fastest. With
//! sides S and tile t, terminal (X, Y) is on router (X / tx, Y / ty) and has the id Y * Sx * tx + X.

use super::params::{P, Params, product};
use super::{Family, Roles};
use crate::catalogue::{Key, Kind};
use crate::error::{Result, several};
use crate::network::{Grid, Lattice, LinkClass, Network, NetworkBuilder, Structure, TerminalGrid, WorstCase};

pub(super) const FAMILY: Family = Family {
    name: "hyperx",
    summary: "every dimension fully connected: flattened butterfly, generalised hypercube",
    sizes: Some("10x10"),
    keys: &[
        Key::new("p", Kind::count(1), "terminals per router (default 1, or the size of the tile)"),
        Key::new("trunk", Kind::count(1), "parallel links between two neighbours (default 1)"),
        Key::new(
            "tile",
            Kind::Sides,
            "numbers terminals over the grid of all terminals, a tile like 2x2 of it per router",
        ),
    ],
    example: "hyperx:10x10,p=10",
    source: "Ahn, Binkert, Davis, McLaren and Schreiber, HyperX: topology, routing, and packaging of efficient \
             large-scale networks, SC 2009",
    routings: &["dor", "par", "dimwar", "omniwar", "dal"],
    roles: Roles { adaptive: "dal", ..Roles::ANY },
    build,
};

/// A HyperX's grid of routers. Without a tile the terminals of one router share its coordinates.
#[derive(Debug)]
pub struct HyperX {
    grid: Grid,
    /// Parallel links between two neighbours.
    pub trunk: u32,
    /// The tile of the grid of all terminals that one router holds, if terminals are numbered over that grid.
    pub tile: Option<Vec<u32>>,
}

impl Structure for HyperX {
    fn grid(&self) -> Option<&Grid> {
        Some(&self.grid)
    }

    fn lattice(&self) -> Option<Lattice> {
        Some(Lattice::Complete)
    }

    fn moves_by_coordinates(&self) -> bool {
        true
    }

    /// The p terminals of a router share the one link to another in each dimension: p / trunk flits per cycle (Kim, Dally
    /// and Abts, Flattened butterfly, ISCA 2007; Galaxyfly, section 5.1).
    fn worst_case(&self) -> WorstCase {
        WorstCase::Tornado
    }

    fn terminal_grid(&self) -> Option<TerminalGrid> {
        let tile = self.tile.clone()?;
        Some(TerminalGrid { routers: self.grid.clone(), tile })
    }

    fn vertex_transitive(&self) -> bool {
        true
    }
}

fn build(params: &Params) -> Result<Network> {
    let grid = Grid { sides: params.sizes().to_vec() };
    let tile = read_tile(params, grid.sides.len())?;
    let p = concentration(params, tile.as_deref())?;
    let trunk = params.count("trunk").unwrap_or(1);
    let routers = product(grid.sides.iter().copied());
    let peers: u128 = grid.sides.iter().map(|&side| u128::from(side) - 1).sum();
    let links = product([routers, peers, trunk.into()]) / 2;
    params.guard_size(routers, product([routers, p]), links)?;
    let mut builder = NetworkBuilder::new(routers as u32);
    match &tile {
        None => builder = builder.terminals_everywhere(p as u32),
        Some(tile) => place_tiles(&mut builder, &grid, tile),
    }
    link_lines(&mut builder, &grid, trunk);
    builder.build(params.spec().to_owned(), FAMILY.name, Box::new(HyperX { grid, trunk, tile }))
}

fn read_tile(params: &Params, dimensions: usize) -> Result<Option<Vec<u32>>> {
    let tile = params.sides("tile");
    match &tile {
        Some(tile) if tile.len() != dimensions => Err(params.mistake(format!(
            "tile has {}; it must have {dimensions}, as many as the sizes",
            several(tile.len(), "dimension")
        ))),
        _ => Ok(tile),
    }
}

/// `p`, which a tile implies.
fn concentration(params: &Params, tile: Option<&[u32]>) -> Result<u128> {
    let Some(tile) = tile else { return Ok(params.concentration().into()) };
    let area = product(tile.iter().copied());
    match params.count(P.name) {
        Some(p) if u128::from(p) != area => {
            Err(params.mistake(format!("p is {p}, but a tile holds {}; the two must agree", several(area, "terminal"))))
        }
        _ => Ok(area),
    }
}

/// Numbers the terminals over the grid of all of them.
fn place_tiles(builder: &mut NetworkBuilder, grid: &Grid, tile: &[u32]) {
    let all = Grid { sides: grid.sides.iter().zip(tile).map(|(side, width)| side * width).collect() };
    for terminal in 0..all.len() as u32 {
        let place: Vec<u32> = all.coordinates(terminal).iter().zip(tile).map(|(c, width)| c / width).collect();
        builder.terminal(grid.id(&place));
    }
}

fn link_lines(builder: &mut NetworkBuilder, grid: &Grid, trunk: u32) {
    let routers = grid.len() as u32;
    let mut stride = 1;
    for &side in &grid.sides {
        for router in 0..routers {
            for steps in 1..side - router / stride % side {
                for _ in 0..trunk {
                    builder.link(router, router + steps * stride, LinkClass::Local);
                }
            }
        }
        stride *= side;
    }
}
