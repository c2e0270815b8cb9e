//! `hypercube:8`: the binary hypercube of 2^8 routers; `folded-hypercube:8`: the same with a link from every router to
//! its complement.
//!
//! Bit d of a router's id is its coordinate in dimension d. Network ports of a router: dimension by dimension, to the
//! router whose id differs in that bit; the folded hypercube's last port leads to the router whose id differs in all
//! bits. Link class: `local`.

use super::params::{P, Params, product};
use super::{Family, Roles};
use crate::error::Result;
use crate::network::{Grid, Lattice, LinkClass, Network, NetworkBuilder, Structure, WorstCase};

pub(super) const FAMILY: Family = Family {
    name: "hypercube",
    summary: "binary hypercube: 2^n routers, linked where one bit differs",
    sizes: Some("8"),
    keys: &[P],
    example: "hypercube:8,p=1",
    source: "Seitz, The cosmic cube, Communications of the ACM 28, 1985",
    routings: &["dor"],
    roles: Roles { minimal: "dor", ..Roles::ANY },
    build: |params| build(params, false),
};

pub(super) const FOLDED: Family = Family {
    name: "folded-hypercube",
    summary: "hypercube with a link from every router to its complement",
    sizes: Some("8"),
    keys: &[P],
    example: "folded-hypercube:8,p=1",
    source: "El-Amawy and Latifi, Properties and performance of folded hypercubes, IEEE Transactions on Parallel and \
             Distributed Systems 2, 1991",
    routings: &[],
    roles: Roles::ANY,
    build: |params| build(params, true),
};

/// A hypercube's grid: as many dimensions as it has, all of size 2.
#[derive(Debug)]
pub struct Hypercube {
    grid: Grid,
    /// True if every router has a link to its complement.
    pub folded: bool,
}

impl Structure for Hypercube {
    fn grid(&self) -> Option<&Grid> {
        Some(&self.grid)
    }

    fn lattice(&self) -> Option<Lattice> {
        (!self.folded).then_some(Lattice::Mesh)
    }

    fn vertex_transitive(&self) -> bool {
        true
    }

    /// Every packet crosses all dimensions, p flits per cycle on every channel in dimension order. The folded hypercube
    /// has a link from every router to just that one; its longest matching is a harder one.
    fn worst_case(&self) -> WorstCase {
        if self.folded { WorstCase::LongestMatching } else { WorstCase::Complement }
    }
}

fn build(params: &Params, folded: bool) -> Result<Network> {
    let &[dimensions] = params.sizes() else {
        return Err(params.mistake("a hypercube has one size, its number of dimensions, as in hypercube:8"));
    };
    if folded && dimensions < 2 {
        return Err(params.mistake("there is 1 dimension; a folded hypercube needs 2 or more"));
    }
    let p = params.concentration();
    let routers = 2u128.saturating_pow(dimensions);
    let degree = u128::from(dimensions) + u128::from(folded);
    params.guard_size(routers, product([routers, p.into()]), routers.saturating_mul(degree) / 2)?;
    let mut builder = NetworkBuilder::new(routers as u32).terminals_everywhere(p);
    let bits = (0..dimensions).map(|dimension| 1 << dimension);
    for flip in bits.chain(folded.then_some(routers as u32 - 1)) {
        for router in (0..routers as u32).filter(|router| *router < router ^ flip) {
            builder.link(router, router ^ flip, LinkClass::Local);
        }
    }
    let family = if folded { FOLDED.name } else { FAMILY.name };
    let grid = Grid { sides: vec![2; dimensions as usize] };
    builder.build(params.spec().to_owned(), family, Box::new(Hypercube { grid, folded }))
}
