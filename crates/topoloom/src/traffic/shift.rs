//! `neighbor` and `tornado`: every coordinate of a terminal moves by 1, or by nearly half its side, ceil(k / 2) - 1,
//! modulo the side. Terminals have coordinates of their own on a HyperX with a tile, else those of their router (mesh,
//! torus, twin torus, HyperX: the i-th terminal of a router sends to the i-th of another; on a twin torus the node moves,
//! not the card); on all other networks their ids are a ring. With `by=routers` routers move on all networks, along their
//! coordinates or on the ring of those that have terminals. With `sides` the ids are positions on a grid of these sides,
//! whatever the network: equal sides are the digits by which BookSim moves.
//!
//! Dally and Towles, Principles and Practices of Interconnection Networks, section 3.2.

use super::keys::Request;
use super::registry::PatternInfo;
use super::{Pattern, SILENT};
use crate::catalogue::{Key, Kind};
use crate::error::Result;
use crate::network::{Grid, Network, RouterId};

const KEYS: &[Key] = &[
    Key::new(
        "by",
        Kind::Choice(&["terminals", "routers"]),
        "what moves: terminals, or routers with all of their terminals (default terminals)",
    ),
    Key::new(
        "sides",
        Kind::Sides,
        "the grid whose positions the ids of terminals are, whatever the network, as in 10x10x10; the first side varies \
         fastest",
    ),
];

pub(super) const NEIGHBOR: PatternInfo = PatternInfo {
    name: "neighbor",
    summary: "the next one in each coordinate (mesh, torus, twin torus, HyperX), else on the ring of terminal ids",
    keys: KEYS,
    argument: None,
    build: |request| shifted(request, |_| 1),
};

pub(super) const TORNADO: PatternInfo = PatternInfo {
    name: "tornado",
    summary: "nearly half way round in each coordinate (mesh, torus, twin torus, HyperX), else on the ring of terminal ids",
    keys: KEYS,
    argument: None,
    build: |request| shifted(request, tornado),
};

/// How far a tornado moves on a ring.
pub(super) fn tornado(side: u32) -> u32 {
    side.div_ceil(2) - 1
}

/// Moves each coordinate of a terminal by `by(side)`.
fn shifted(request: &Request, by: fn(u32) -> u32) -> Result<Pattern> {
    let (network, terminals) = (request.network, request.terminals);
    let structure = network.any_structure();
    let on_terminals = |grid: &Grid| Pattern::Fixed((0..terminals).map(|t| moved(grid, None, t, by)).collect());
    let routers = request.text("by") == Some("routers");
    if let Some(sides) = request.sides("sides") {
        return if routers {
            Err(request.mistake("sides are those of a grid of terminals; by=routers moves along those of the routers"))
        } else {
            on_grid_of_ids(request, sides, by)
        };
    }
    if let Some(grid) = structure.terminal_grid().filter(|_| !routers) {
        let sides = grid.routers.sides.iter().zip(&grid.tile).map(|(side, tile)| side * tile).collect();
        return Ok(on_terminals(&Grid { sides }));
    }
    Ok(match structure.grid() {
        Some(grid) if structure.moves_by_coordinates() || (routers && grid.len() == network.num_routers()) => {
            let node = structure.node_dimension();
            Pattern::Fixed(by_routers(network, |router| RouterId(moved(grid, node, router.0, by))))
        }
        _ if routers => Pattern::Fixed(on_ring_of_routers(network, by)),
        _ => on_terminals(&Grid { sides: vec![terminals] }),
    })
}

/// Ids move as positions on a grid of these sides. Those behind its last position are silent, and so are terminals whose
/// destination does not exist.
fn on_grid_of_ids(request: &Request, sides: Vec<u32>, by: fn(u32) -> u32) -> Result<Pattern> {
    let Some(positions) = sides.iter().try_fold(1u32, |product, &side| product.checked_mul(side)) else {
        return Err(request.mistake("the product of sides must be less than 2^32"));
    };
    let grid = Grid { sides };
    let exists = |id: &u32| *id < request.terminals;
    let destination = |id| Some(id).filter(|id| *id < positions).map(|id| moved(&grid, None, id, by)).filter(exists);
    Ok(Pattern::Fixed((0..request.terminals).map(|id| destination(id).unwrap_or(SILENT)).collect()))
}

/// The destinations if routers that have terminals are a ring, in the order of their ids.
fn on_ring_of_routers(network: &Network, by: fn(u32) -> u32) -> Vec<u32> {
    let ring: Vec<_> = network.routers().filter(|router| network.has_terminals(*router)).collect();
    let step = by(ring.len() as u32) as usize;
    by_routers(network, |router| match ring.binary_search(&router) {
        Ok(place) => ring[(place + step) % ring.len()],
        Err(_) => router,
    })
}

/// The place whose coordinates are those of `place`, each but that of dimension `fixed` moved by `by(side)` modulo its
/// side.
pub(super) fn moved(grid: &Grid, fixed: Option<usize>, place: u32, by: fn(u32) -> u32) -> u32 {
    let step = |dimension: usize, side: u32| if Some(dimension) == fixed { 0 } else { by(side) };
    let coordinates = grid.coordinates(place).into_iter().zip(&grid.sides).enumerate();
    let moved = coordinates.map(|(dimension, (c, &side))| (c + step(dimension, side)) % side);
    grid.id(&moved.collect::<Vec<_>>())
}

/// The destinations if the i-th terminal of a router sends to the i-th terminal of the router `to`; silent if there is
/// none.
pub(super) fn by_routers(network: &Network, to: impl Fn(RouterId) -> RouterId) -> Vec<u32> {
    let mut destinations = vec![SILENT; network.num_terminals()];
    for router in network.routers() {
        for (here, there) in network.terminals_of(router).zip(network.terminals_of(to(router))) {
            destinations[here.index()] = there.0;
        }
    }
    destinations
}
