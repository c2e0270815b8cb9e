//! `twisted-torus:4x4x8`: a torus whose wraparound links shift the dimensions that are twice as long.
//!
//! The sides are all k, but for those that are 2k, at least one of each. Router ids: the first dimension varies fastest. In a dimension
//! of side k the link from the last router back to the first also moves by k in every dimension of side 2k; all others are
//! those of a torus. Network ports of a router, in order of dimension: + before -. Link class: `local`.

use super::params::{P, Params, product};
use super::{Family, Roles};
use crate::catalogue::Key;
use crate::error::Result;
use crate::network::{LinkClass, Network, NetworkBuilder, Structure, WorstCase};

pub(super) const FAMILY: Family = Family {
    name: "twisted-torus",
    summary: "torus whose wraparound links shift the dimensions that are twice as long",
    sizes: Some("4x4x8"),
    keys: KEYS,
    example: "twisted-torus:4x4x8,p=1",
    source: "Camarero, Martinez and Beivide, Lattice graphs for high-scale interconnection topologies, IEEE Transactions on \
             Parallel and Distributed Systems 26, 2015",
    routings: &[],
    roles: Roles::ANY,
    build,
};

const KEYS: &[Key] = &[P];

/// A twisted torus, of which every router sees the same.
#[derive(Debug)]
struct TwistedTorus;

impl Structure for TwistedTorus {
    fn worst_case(&self) -> WorstCase {
        WorstCase::LongestMatching
    }

    fn vertex_transitive(&self) -> bool {
        true
    }
}

fn build(params: &Params) -> Result<Network> {
    let sides = params.sizes();
    let short = sides.iter().copied().min().unwrap_or(1);
    let fits = sides.iter().all(|&side| side == short || u64::from(side) == 2 * u64::from(short));
    if short < 2 || !fits || sides.iter().all(|&side| side == short) {
        return Err(params.mistake("the sides of a twisted torus must be k and 2k, with some of each and k at least 2"));
    }
    let p = params.concentration();
    let routers = product(sides.iter().copied());
    params.guard_size(routers, product([routers, p.into()]), product([routers, sides.len() as u128]))?;
    let routers = routers as u32;
    let mut builder = NetworkBuilder::new(routers).terminals_everywhere(p);
    let strides: Vec<u32> = sides
        .iter()
        .scan(1, |stride, side| {
            let own = *stride;
            *stride *= side;
            Some(own)
        })
        .collect();
    for (dimension, (&side, &stride)) in (0..).zip(sides.iter().zip(&strides)) {
        for router in 0..routers {
            let place = router / stride % side;
            let next = if place + 1 < side {
                router + stride
            } else if side == short {
                shifted(router - place * stride, sides, &strides, short)
            } else {
                router - place * stride
            };
            builder.ranked_link((router, 2 * dimension), (next, 2 * dimension + 1), LinkClass::Local);
        }
    }
    builder.build(params.spec().to_owned(), FAMILY.name, Box::new(TwistedTorus))
}

/// The router that is `by` further in every dimension that is longer than that.
fn shifted(router: u32, sides: &[u32], strides: &[u32], by: u32) -> u32 {
    let long = sides.iter().zip(strides).filter(|(side, _)| **side > by);
    long.fold(router, |router, (&side, &stride)| {
        let place = router / stride % side;
        router - place * stride + (place + by) % side * stride
    })
}
