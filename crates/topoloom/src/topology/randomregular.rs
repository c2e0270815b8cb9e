//! `random-regular:1024,degree=16,seed=1`: a connected random graph in which every router has as many links (Jellyfish).
//!
//! Free ports are joined at random, two at a time, never two of one router or of routers that are linked already; if
//! none can be joined any more, or the graph is not connected, all is drawn again (Steger and Wormald, Combinatorics,
//! Probability and Computing 8, 1999: nearly uniform over all such graphs). Network ports of a router: by ascending peer.
//! Link class: `local`.

use std::collections::HashSet;

use super::params::{P, Params, product};
use super::{Family, Roles};
use crate::catalogue::{Key, Kind};
use crate::error::{Result, several};
use crate::network::{LinkClass, Network, NetworkBuilder, Structure};
use crate::rng::Rng;

pub(super) const FAMILY: Family = Family {
    name: "random-regular",
    summary: "random graph with equally many links on every router, connected (Jellyfish)",
    sizes: Some("1024"),
    keys: &[
        Key::new("degree", Kind::count(1), "links of a router"),
        P,
        Key::new("seed", Kind::count(0), "of the random links (default 1)"),
    ],
    example: "random-regular:64,degree=6,seed=1",
    source: "Singla, Hong, Popa and Godfrey, Jellyfish: networking data centers randomly, NSDI 2012",
    routings: &[],
    roles: Roles::ANY,
    build,
};

/// How often a graph is drawn again before it is stated not to exist.
const MOST_DRAWS: u64 = 1000;

/// Rounds without a new link after which free ports are looked at one by one.
const IDLE_ROUNDS: u32 = 10;

/// A random regular graph.
#[derive(Debug)]
pub struct RandomRegular {
    /// Links of a router.
    pub degree: u32,
}

impl Structure for RandomRegular {}

fn build(params: &Params) -> Result<Network> {
    let &[routers] = params.sizes() else {
        return Err(params.mistake("a random regular graph has one size, as in random-regular:1024,degree=16"));
    };
    let (degree, p) = (params.required("degree")?, params.concentration());
    let seed = params.count("seed").unwrap_or(1);
    if degree >= routers {
        return Err(params.mistake(format!(
            "degree is {degree}; {} have at most {}",
            several(routers, "router"),
            several(routers - 1, "link")
        )));
    }
    if routers % 2 == 1 && degree % 2 == 1 {
        return Err(
            params.mistake(format!("degree is {degree}; with {routers} routers, an odd number, it must be even"))
        );
    }
    if degree == 1 && routers > 2 {
        return Err(params.mistake("degree is 1; more than 2 routers are connected by 2 links per router or more"));
    }
    params.guard_size(routers.into(), product([routers, p]), product([routers, degree]) / 2)?;
    let links = (0..MOST_DRAWS).find_map(|draw| links(routers, degree, &mut Rng::stream(seed.into(), draw)));
    let links = links.ok_or_else(|| params.mistake("no connected graph was found; take another degree or seed"))?;
    let mut builder = NetworkBuilder::new(routers).terminals_everywhere(p);
    links.iter().for_each(|&(a, b)| builder.link(a, b, LinkClass::Local));
    builder.build(params.spec().to_owned(), FAMILY.name, Box::new(RandomRegular { degree }))
}

/// The links of one draw, sorted; `None` if it comes to an end too early or falls apart.
fn links(routers: u32, degree: u32, rng: &mut Rng) -> Option<Vec<(u32, u32)>> {
    let mut links = HashSet::with_capacity(routers as usize * degree as usize / 2);
    let mut free: Vec<u32> = (0..routers).flat_map(|router| std::iter::repeat_n(router, degree as usize)).collect();
    let mut idle = 0;
    while !free.is_empty() {
        rng.shuffle(&mut free);
        let before = free.len();
        let mut left = Vec::new();
        for pair in free.chunks(2) {
            let link = (pair[0].min(pair[1]), pair[0].max(pair[1]));
            if link.0 == link.1 || !links.insert(link) {
                left.extend(pair);
            }
        }
        free = left;
        idle = if free.len() < before { 0 } else { idle + 1 };
        if idle > IDLE_ROUNDS && !joinable(&free, &links) {
            return None;
        }
    }
    let mut links: Vec<(u32, u32)> = links.into_iter().collect();
    links.sort_unstable();
    connected(routers, &links).then_some(links)
}

/// True if two free ports are of routers that have no link yet.
fn joinable(free: &[u32], links: &HashSet<(u32, u32)>) -> bool {
    free.iter().any(|&a| free.iter().any(|&b| a < b && !links.contains(&(a, b))))
}

/// True if a path joins all routers.
fn connected(routers: u32, links: &[(u32, u32)]) -> bool {
    let mut root: Vec<u32> = (0..routers).collect();
    let mut parts = routers;
    for &(a, b) in links {
        let [a, b] = [a, b].map(|end| find(&mut root, end));
        if a != b {
            root[a as usize] = b;
            parts -= 1;
        }
    }
    parts <= 1
}

/// The representative of the part that a router is in; halves the way to it.
fn find(root: &mut [u32], mut router: u32) -> u32 {
    while root[router as usize] != router {
        root[router as usize] = root[root[router as usize] as usize];
        router = root[router as usize];
    }
    router
}
