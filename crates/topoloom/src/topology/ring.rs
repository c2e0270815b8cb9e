//! `ring:4096,degree=4,seed=1`: a ring of routers and degree - 2 random perfect matchings (DLN, distributed loop
//! network with random shortcuts).
//!
//! Router ids go round the ring. No two routers have more than one link: a matching is drawn until all its links are
//! new, by exchanging partners of the pairs that are linked already. Network ports of a router: next on the ring,
//! previous, then the matchings in the order in which they were drawn. Link class: `local`.

use std::collections::HashSet;

use super::params::{P, Params, product};
use super::{Family, Roles};
use crate::catalogue::{Key, Kind};
use crate::error::Result;
use crate::network::{LinkClass, Network, NetworkBuilder, Structure};
use crate::rng::Rng;

pub(super) const FAMILY: Family = Family {
    name: "ring",
    summary: "ring with degree-2 random perfect matchings",
    sizes: Some("4096"),
    keys: &[
        Key::new("degree", Kind::count(2), "links of a router, at least 2: two of the ring, the others random"),
        P,
        Key::new("seed", Kind::count(0), "of the random matchings (default 1)"),
    ],
    example: "ring:64,degree=4,seed=1",
    source: "Koibuchi, Matsutani, Amano, Hsu and Casanova, A case for random shortcut topologies for HPC interconnects, \
             ISCA 2012",
    routings: &[],
    roles: Roles::ANY,
    build,
};

/// How many times all matchings are drawn again before an error states that none exist.
const MOST_DRAWS: u64 = 1000;

/// A ring with random matchings.
#[derive(Debug)]
pub struct Ring {
    /// Links of a router.
    pub degree: u32,
}

impl Structure for Ring {
    fn vertex_transitive(&self) -> bool {
        self.degree == 2
    }
}

fn build(params: &Params) -> Result<Network> {
    let &[routers] = params.sizes() else {
        return Err(params.mistake("a ring has one size, as in ring:4096,degree=4"));
    };
    let (degree, p) = (params.required("degree")?, params.concentration());
    let seed = params.count("seed").unwrap_or(1);
    if routers < 3 {
        return Err(params.mistake(format!("the size is {routers}; a ring needs 3 routers or more")));
    }
    if degree >= routers {
        return Err(params.mistake(format!("degree is {degree}; {routers} routers have at most {} links", routers - 1)));
    }
    if degree > 2 && routers % 2 == 1 {
        return Err(params.mistake(format!("the size is {routers}; it must be even, so that matchings are perfect")));
    }
    params.guard_size(routers.into(), product([routers, p]), product([routers, degree]) / 2)?;
    let matchings =
        (0..MOST_DRAWS).find_map(|draw| matchings(routers, degree - 2, &mut Rng::stream(seed.into(), draw)));
    let matchings = matchings.ok_or_else(|| {
        params.mistake(format!("no {} matchings without a link twice were found; lower the degree", degree - 2))
    })?;
    let mut builder = NetworkBuilder::new(routers).terminals_everywhere(p);
    for router in 0..routers {
        builder.ranked_link((router, 0), ((router + 1) % routers, 1), LinkClass::Local);
    }
    for (rank, matching) in (2..).zip(&matchings) {
        for &(a, b) in matching {
            builder.ranked_link((a, rank), (b, rank), LinkClass::Local);
        }
    }
    builder.build(params.spec().to_owned(), FAMILY.name, Box::new(Ring { degree }))
}

/// Perfect matchings without a link of the ring or of each other; `None` if exchanges do not lead to them.
fn matchings(routers: u32, count: u32, rng: &mut Rng) -> Option<Vec<Vec<(u32, u32)>>> {
    let mut links: HashSet<(u32, u32)> = (0..routers).map(|router| ordered(router, (router + 1) % routers)).collect();
    (0..count)
        .map(|_| {
            let matching = new_matching(routers, &links, rng)?;
            links.extend(&matching);
            Some(matching)
        })
        .collect()
}

/// A random perfect matching without any of `links`: pairs that are linked exchange partners with others.
fn new_matching(routers: u32, links: &HashSet<(u32, u32)>, rng: &mut Rng) -> Option<Vec<(u32, u32)>> {
    let mut ends: Vec<u32> = (0..routers).collect();
    rng.shuffle(&mut ends);
    let new = |a: u32, b: u32| !links.contains(&ordered(a, b));
    for pair in 0..ends.len() / 2 {
        let mut tries = 0;
        while !new(ends[2 * pair], ends[2 * pair + 1]) {
            let with = rng.below(routers) as usize;
            let (other, [b, d]) = (with ^ 1, [2 * pair + 1, with]);
            // (a, b) and (c, d) become (a, d) and (c, b), if both are new, or if (c, d) has still its turn to come.
            let settled = with / 2 <= pair;
            if with / 2 != pair && new(ends[b - 1], ends[d]) && (!settled || new(ends[other], ends[b])) {
                ends.swap(b, d);
            }
            tries += 1;
            if tries > 16 * routers {
                return None;
            }
        }
    }
    let mut pairs: Vec<(u32, u32)> = ends.chunks(2).map(|pair| ordered(pair[0], pair[1])).collect();
    pairs.sort_unstable();
    Some(pairs)
}

fn ordered(a: u32, b: u32) -> (u32, u32) {
    (a.min(b), a.max(b))
}
