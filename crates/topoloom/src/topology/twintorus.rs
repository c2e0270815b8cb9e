//! `twin-torus:4x4x2x2x2`: an n-dimensional torus whose nodes are two cards of n + 1 ports each, joined by one internal
//! link. Each card is a router with its own terminals.
//!
//! The ports of a node are in the order d0-, d0+, d1-, d1+, …: card 0 has the first n of them, card 1 the others. For
//! odd n that splits the middle dimension, - on card 0 and + on card 1, which is the definition of the paper; for even n
//! each card has n / 2 whole dimensions. Port + of a dimension leads to port - of the next node, so a hop in the split
//! dimension changes the card.
//!
//! Router ids: 2 node + card; the first dimension varies fastest in node ids. Network ports of a router: by dimension,
//! + before -, then the internal link. A dimension of size 2 has both its links. Link classes: `local`, `internal`.

use super::params::{P, Params, product};
use super::{Family, Roles};
use crate::error::Result;
use crate::network::{Grid, LinkClass, Network, NetworkBuilder, RouterId, Structure};

pub(super) const FAMILY: Family = Family {
    name: "twin-torus",
    summary: "n-dimensional twin torus: two cards of n + 1 ports per node, joined by an internal link",
    sizes: Some("4x4x2x2x2"),
    keys: &[P],
    example: "twin-torus:4x4x2x2x2",
    source: "Andújar, Villar, Sánchez, Alfaro and Duato, IEEE Transactions on Computers, 2015",
    routings: &["ts-dor", "dort"],
    roles: Roles { minimal: "ts-dor", adaptive: "duato" },
    build,
};

/// Cards of a node.
const CARDS: u32 = 2;

/// A twin torus's cards as a grid: the card's number, then the coordinates of its node.
#[derive(Debug)]
pub struct TwinTorus {
    grid: Grid,
}

impl TwinTorus {
    /// Nodes in each dimension.
    pub fn sides(&self) -> &[u32] {
        &self.grid.sides[1..]
    }

    /// The card, 0 or 1, that bears a port of dimension `dimension`: + if `plus`, else -.
    pub fn card_of(&self, dimension: usize, plus: bool) -> u32 {
        u32::from(2 * dimension + usize::from(plus) >= self.sides().len())
    }

    /// The dimension whose two ports are on different cards, if there are an odd number of dimensions.
    pub fn split(&self) -> Option<usize> {
        let dimensions = self.sides().len();
        (dimensions % 2 == 1).then_some(dimensions / 2)
    }
}

impl Structure for TwinTorus {
    fn grid(&self) -> Option<&Grid> {
        Some(&self.grid)
    }

    fn moves_by_coordinates(&self) -> bool {
        true
    }

    fn node_dimension(&self) -> Option<usize> {
        Some(0)
    }

    /// The third dimension of the torus, as of a torus of single cards.
    fn upright_dimension(&self) -> usize {
        3
    }

    /// Nodes are all alike; their two cards need not be.
    fn orbits(&self) -> Vec<(RouterId, u32)> {
        let nodes = self.grid.len() as u32 / CARDS;
        (0..CARDS).map(|card| (RouterId(card), nodes)).collect()
    }
}

fn build(params: &Params) -> Result<Network> {
    let sides = params.sizes();
    if sides.len() < 2 {
        return Err(params.mistake("a twin torus has 2 dimensions or more, as in twin-torus:4x4x4"));
    }
    if let Some(dimension) = sides.iter().position(|&side| side < 2) {
        let size = sides[dimension];
        return Err(params.mistake(format!(
            "dimension {dimension} has size {size}; each dimension of a twin torus has 2 nodes or more"
        )));
    }
    let p = params.concentration();
    let nodes = product(sides.iter().copied());
    let links = product([nodes, sides.len() as u128 + 1]);
    params.guard_size(product([nodes, CARDS.into()]), product([nodes, CARDS.into(), p.into()]), links)?;
    let torus = TwinTorus { grid: Grid { sides: [&[CARDS], sides].concat() } };
    let nodes = nodes as u32;
    let mut builder = NetworkBuilder::new(CARDS * nodes).terminals_everywhere(p);
    let mut stride = 1;
    for (dimension, &side) in sides.iter().enumerate() {
        let [plus, minus] = [true, false].map(|plus| torus.card_of(dimension, plus));
        let rank = 2 * dimension as u32;
        for node in 0..nodes {
            let place = node / stride % side;
            let next = if place + 1 < side { node + stride } else { node - place * stride };
            builder.ranked_link((CARDS * node + plus, rank), (CARDS * next + minus, rank + 1), LinkClass::Local);
        }
        stride *= side;
    }
    let last = 2 * sides.len() as u32;
    (0..nodes)
        .for_each(|node| builder.ranked_link((CARDS * node, last), (CARDS * node + 1, last), LinkClass::Internal));
    builder.build(params.spec().to_owned(), FAMILY.name, Box::new(torus))
}
