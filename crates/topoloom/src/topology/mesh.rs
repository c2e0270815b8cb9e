//! `mesh:8x8`: a k-ary n-dimensional mesh, any radix per dimension.
//!
//! Router ids: the first dimension varies fastest. Network ports of a router, in order of dimension: + before -,
//! where they exist. Link class: `local`.

use super::params::{P, Params, product};
use super::{Family, Roles};
use crate::error::Result;
use crate::network::{Grid, Lattice, LinkClass, Network, NetworkBuilder, Structure, WorstCase};

pub(super) const FAMILY: Family = Family {
    name: "mesh",
    summary: "k-ary n-dimensional mesh, any radix per dimension",
    sizes: Some("8x8"),
    keys: &[P],
    example: "mesh:8x8,p=1",
    source: "Dally and Towles, Principles and Practices of Interconnection Networks, chapter 5",
    routings: &["dor"],
    roles: Roles { minimal: "dor", ..Roles::ANY },
    build,
};

/// A mesh's grid of routers. Terminals of one router share its coordinates.
#[derive(Debug)]
pub struct Mesh {
    grid: Grid,
}

impl Structure for Mesh {
    fn grid(&self) -> Option<&Grid> {
        Some(&self.grid)
    }

    fn lattice(&self) -> Option<Lattice> {
        Some(Lattice::Mesh)
    }

    fn moves_by_coordinates(&self) -> bool {
        true
    }

    /// All packets cross the middle of every dimension: floor(k / 2) p flits per cycle on the busiest channels in dimension
    /// order, k being the longest side; if it is even, every routing has as much to carry across the middle.
    fn worst_case(&self) -> WorstCase {
        WorstCase::Complement
    }
}

fn build(params: &Params) -> Result<Network> {
    let grid = Grid { sides: params.sizes().to_vec() };
    let p = params.concentration();
    let routers = product(grid.sides.iter().copied());
    params.guard_size(routers, product([routers, p.into()]), product([routers, grid.sides.len() as u128]))?;
    let routers = routers as u32;
    let mut builder = NetworkBuilder::new(routers).terminals_everywhere(p);
    let mut stride = 1;
    for (dimension, &side) in (0..).zip(&grid.sides) {
        for router in 0..routers {
            if router / stride % side + 1 < side {
                let [plus, minus] = [2 * dimension, 2 * dimension + 1];
                builder.ranked_link((router, plus), (router + stride, minus), LinkClass::Local);
            }
        }
        stride *= side;
    }
    builder.build(params.spec().to_owned(), FAMILY.name, Box::new(Mesh { grid }))
}
