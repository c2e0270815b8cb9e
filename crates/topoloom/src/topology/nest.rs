//! `nesttree:t=2,u=4,endpoints=131072` and `nestghc:…`: subtori of side t under a fat tree, or under a generalised
//! hypercube whose routers are the endpoints themselves; one uplink every u endpoints.
//!
//! Endpoint s t³ + x + t y + t² z is at (x, y, z) of subtorus s, a router with one terminal. Then follow the switches of
//! the upper network. Links of a subtorus go round in all three dimensions, two between the same endpoints where t = 2.
//!
//! The uplinked endpoints of a subtorus are numbered a = 0 … K-1, K = t³/u; uplink j = s K + a. With h = t/2:
//!
//! | u | uplinked | a |
//! |---|---|---|
//! | 1 | all | as in the subtorus |
//! | 2 | x even | x/2 + h y + h t z |
//! | 4 | x, y, z all even, or all odd (p = 1) | p K/2 + ⌊x/2⌋ + h ⌊y/2⌋ + h² ⌊z/2⌋ |
//! | 8 | x, y, z all even | x/2 + h y/2 + h² z/2 |
//!
//! The others use the uplink of their pair (u = 2), of the corner of their 2x2x2 with which they share two parities (u =
//! 4), or of their 2x2x2 (u = 8). With `attach=published` and u = 8 it is the nearest round the subtorus, of equally near
//! ones the lowest in each dimension, as the published distances show: uplink 0 then serves 27 endpoints where t > 2.
//!
//! The tree: stages of sizes d0, d1, …, as many links up as down; uplink j is down port j mod d0 of leaf j / d0; see
//! [`tree`](super::tree), whose copies are spread here. The generalised hypercube: the switch of dimension i joins the di
//! uplinked endpoints whose j differ in digit i alone; its id is that of the dimension's first switch + j without digit i.
//!
//! Ports of an endpoint: its terminal; by dimension + before -; its links up, by dimension. Classes: `local` in a
//! subtorus, `up` in the tree, `global` in the generalised hypercube.

use super::params::{Params, product};
use super::tree::{Copies, Tree};
use super::{Family, Roles};
use crate::catalogue::{Key, Kind};
use crate::error::Result;
use crate::network::{LinkClass, Network, NetworkBuilder, RouterId, Structure};

const KEYS: &[Key] = &[
    Key::new("t", Kind::count(2), "side of a subtorus: 2 or more; even unless u=1"),
    Key::new("u", Kind::count(1), "endpoints for each uplink: 1, 2, 4 or 8"),
    Key::new("endpoints", Kind::count(1), "their number, a multiple of t^3"),
    Key::new("upper", Kind::Sides, "sizes of the upper network's stages or dimensions; their product is endpoints / u"),
    Key::new(
        "attach",
        Kind::Choice(&["block", "published"]),
        "block (default); published: with u=8, the nearest uplink, ties to the lowest",
    ),
];

const SOURCE: &str = "Navaridas, Lant, Pascual, Luján and Goodacre, Design Exploration of Multi-tier interconnects for \
                      Exascale systems, ICPP 2019";

pub(super) const TREE: Family = Family {
    name: "nesttree",
    summary: "subtori under a fat tree, one uplink every u endpoints",
    sizes: None,
    keys: KEYS,
    example: "nesttree:t=2,u=4,endpoints=4096",
    source: SOURCE,
    routings: &["dor", "nca", "anca"],
    roles: Roles { minimal: "dor", ..Roles::ANY },
    build: |params| build(params, false),
};

pub(super) const GHC: Family = Family {
    name: "nestghc",
    summary: "subtori under a generalised hypercube, one uplink every u endpoints",
    sizes: None,
    keys: KEYS,
    example: "nestghc:t=2,u=4,endpoints=4096",
    source: SOURCE,
    routings: &["dor", "nca", "anca"],
    roles: Roles { minimal: "dor", ..Roles::ANY },
    build: |params| build(params, true),
};

/// The sizes of the published networks, of 131,072 endpoints: u, tree, generalised hypercube. Their switches are those of
/// the paper's table 2; no other powers of two have as many, but in another order.
const PUBLISHED: [(u32, [u32; 3], [u32; 3]); 4] = [
    (1, [32, 32, 128], [32, 64, 64]),
    (2, [32, 32, 64], [32, 32, 64]),
    (4, [32, 32, 32], [32, 32, 32]),
    (8, [32, 32, 16], [32, 32, 16]),
];

/// The upper network.
#[derive(Debug)]
pub enum Upper {
    /// A fat tree, whose terminals would be the uplinks.
    Tree(Tree),
    /// A generalised hypercube: the first switch of each dimension, and the number of all routers.
    Ghc(Vec<u32>),
}

/// Subtori under an upper network: the parameters, and what a routing needs.
#[derive(Debug)]
pub struct Nest {
    /// The side of a subtorus.
    pub side: u32,
    /// Endpoints, the first routers.
    pub endpoints: u32,
    /// The upper network.
    pub upper: Upper,
    /// Its stages or dimensions.
    pub sizes: Vec<u32>,
    /// The number a of the uplink that each endpoint of a subtorus uses.
    uses: Vec<u32>,
    /// The endpoint of a subtorus that has uplink a.
    holders: Vec<u32>,
}

impl Nest {
    /// Endpoints of a subtorus.
    pub fn subtorus(&self) -> u32 {
        self.uses.len() as u32
    }

    /// Uplinks of a subtorus.
    pub fn uplinks(&self) -> u32 {
        self.holders.len() as u32
    }

    /// The uplink that an endpoint uses.
    #[inline]
    pub fn uplink_of(&self, endpoint: u32) -> u32 {
        endpoint / self.subtorus() * self.uplinks() + self.uses[(endpoint % self.subtorus()) as usize]
    }

    /// The endpoint that has an uplink.
    #[inline]
    pub fn holder_of(&self, uplink: u32) -> u32 {
        uplink / self.uplinks() * self.subtorus() + self.holders[(uplink % self.uplinks()) as usize]
    }

    /// The product of the sizes before stage or dimension `i`.
    #[inline]
    pub fn stride(&self, i: usize) -> u32 {
        self.sizes[..i].iter().product()
    }

    /// The dimension of a switch of the generalised hypercube, and its position in the dimension.
    #[inline]
    pub fn dimension_of(first: &[u32], switch: RouterId) -> (usize, u32) {
        let dimension = first.partition_point(|&first| first <= switch.0) - 1;
        (dimension, switch.0 - first[dimension])
    }

    fn link_subtori(&self, builder: &mut NetworkBuilder) {
        let t = self.side;
        for (dimension, stride) in [1, t, t * t].into_iter().enumerate() {
            let [plus, minus] = [2 * dimension as u32, 2 * dimension as u32 + 1];
            for router in 0..self.endpoints {
                let place = router / stride % t;
                let next = if place + 1 < t { router + stride } else { router - place * stride };
                builder.ranked_link((router, plus), (next, minus), LinkClass::Local);
            }
        }
    }

    fn link_upper(&self, builder: &mut NetworkBuilder) {
        /// Ports of a subtorus.
        const RANK: u32 = 6;
        let uplinks = self.endpoints / self.subtorus() * self.uplinks();
        match &self.upper {
            Upper::Tree(tree) => {
                for uplink in 0..uplinks {
                    let (leaf, port) = (uplink / self.sizes[0], uplink % self.sizes[0]);
                    builder.ranked_link((self.holder_of(uplink), RANK), (tree.first(0) + leaf, port), LinkClass::Up);
                }
                tree.link_levels(builder);
            }
            Upper::Ghc(first) => {
                for (dimension, &size) in self.sizes.iter().enumerate() {
                    let stride = self.stride(dimension);
                    for uplink in 0..uplinks {
                        let switch = first[dimension] + uplink / (stride * size) * stride + uplink % stride;
                        let up = (self.holder_of(uplink), RANK + dimension as u32);
                        builder.ranked_link(up, (switch, uplink / stride % size), LinkClass::Global);
                    }
                }
            }
        }
    }

    /// True if moving all of a subtorus's uplinks to another's moves digits alone: if the uplinks of a subtorus are all
    /// values of some digits and equal parts of the next.
    fn aligned(&self) -> bool {
        let mut left = self.uplinks();
        for &size in &self.sizes {
            if !left.is_multiple_of(size) {
                return size % left == 0;
            }
            left /= size;
        }
        left == 1
    }
}

impl Structure for Nest {
    /// The stage of a switch of the tree, counted from 1; endpoints are level 0.
    fn level(&self, router: RouterId) -> Option<u32> {
        match &self.upper {
            _ if router.0 < self.endpoints => Some(0),
            Upper::Tree(tree) => Some(tree.level_of(router) + 1),
            Upper::Ghc(_) => Some(1),
        }
    }

    /// A subtorus, then cabinets of 32 switches.
    fn cabinet(&self, router: RouterId) -> Option<u32> {
        Some(match router.0.checked_sub(self.endpoints) {
            None => router.0 / self.subtorus(),
            Some(switch) => self.endpoints / self.subtorus() + switch / 32,
        })
    }

    /// Subtori are alike where they hold equal parts of the upper network's digits: their endpoints differ by place,
    /// switches by the part of a subtorus that is below them.
    fn orbits(&self) -> Vec<(RouterId, u32)> {
        if !self.aligned() {
            return Vec::new();
        }
        let subtori = self.endpoints / self.subtorus();
        let mut orbits: Vec<(RouterId, u32)> = (0..self.subtorus()).map(|place| (RouterId(place), subtori)).collect();
        let switches = subtori * self.uplinks();
        match &self.upper {
            Upper::Tree(tree) => orbits.extend((0..tree.levels()).flat_map(|level| {
                let below = self.stride(level as usize + 1);
                let kinds = self.uplinks().div_ceil(below);
                let place = move |kind| RouterId(tree.first(level) + kind * tree.copies(level));
                (0..kinds).map(move |kind| (place(kind), tree.width(level) / kinds))
            })),
            Upper::Ghc(first) => orbits.extend(self.sizes.iter().enumerate().flat_map(|(dimension, &size)| {
                let stride = self.stride(dimension);
                // The values of a subtorus's uplinks without this digit.
                let kinds = if self.uplinks() <= stride { self.uplinks() } else { stride.max(self.uplinks() / size) };
                (0..kinds).map(move |kind| (RouterId(first[dimension] + kind), switches / size / kinds))
            })),
        }
        orbits
    }
}

fn build(params: &Params, ghc: bool) -> Result<Network> {
    let t = params.required("t")?;
    let u = params.required("u")?;
    let endpoints = params.required("endpoints")?;
    let published = params.choice("attach") == "published";
    if ![1, 2, 4, 8].contains(&u) {
        return Err(params.mistake(format!("u is {u}; it must be 1, 2, 4 or 8")));
    }
    if u > 1 && t % 2 == 1 {
        return Err(params.mistake(format!("t is {t}; with u={u} it must be even, so that u divides a subtorus")));
    }
    let place = product([t, t, t]);
    if u128::from(endpoints) % place != 0 || u128::from(endpoints) == place {
        return Err(params.mistake(format!(
            "endpoints is {endpoints}; it must be a multiple of t^3 = {place}, and at least two subtori"
        )));
    }
    let uplinks = endpoints / u;
    let sizes = match params.sides("upper") {
        Some(sizes) => sizes,
        None => default_sizes(endpoints, u, ghc),
    };
    if product(sizes.iter().copied()) != uplinks.into() || sizes.contains(&1) {
        return Err(params.mistake(format!(
            "upper is {}; it must be sizes of 2 or more whose product is endpoints / u = {uplinks}",
            sizes.iter().map(u32::to_string).collect::<Vec<_>>().join("x")
        )));
    }
    let terminals = u128::from(endpoints);
    let routers = terminals + sizes.iter().map(|size| u128::from(uplinks / size)).sum::<u128>();
    params.guard_size(routers, terminals, 3 * terminals + product([uplinks, sizes.len() as u32]))?;
    let nest = Nest::new(t, u, endpoints, sizes, [ghc, published]);
    let mut builder = NetworkBuilder::new(routers as u32);
    (0..endpoints).for_each(|endpoint| builder.terminals(endpoint, 1));
    nest.link_subtori(&mut builder);
    nest.link_upper(&mut builder);
    let family = if ghc { GHC.name } else { TREE.name };
    builder.build(params.spec().to_owned(), family, Box::new(nest))
}

/// The published sizes; of other networks three sizes as equal as can be, ascending, without those of 1.
fn default_sizes(endpoints: u32, u: u32, ghc: bool) -> Vec<u32> {
    let published = PUBLISHED.iter().find(|published| endpoints == 131_072 && published.0 == u);
    if let Some(&(_, tree, hypercube)) = published {
        return if ghc { hypercube.into() } else { tree.into() };
    }
    let uplinks = endpoints / u;
    let divisors =
        |number: u32, most: f64| (1..=most as u32).rev().find(move |&size| number.is_multiple_of(size)).unwrap_or(1);
    let first = divisors(uplinks, (f64::from(uplinks)).cbrt() + 1e-9);
    let second = divisors(uplinks / first, f64::from(uplinks / first).sqrt() + 1e-9);
    let mut sizes = vec![first, second, uplinks / first / second];
    sizes.retain(|&size| size > 1);
    sizes
}

impl Nest {
    fn new(t: u32, u: u32, endpoints: u32, sizes: Vec<u32>, [ghc, published]: [bool; 2]) -> Self {
        let places = || (0..t * t * t).map(|place| [place % t, place / t % t, place / (t * t)]);
        let numbers: Vec<Option<u32>> = places().map(|place| number(place, t, u)).collect();
        let number_at = |[x, y, z]: [u32; 3]| numbers[(x + t * (y + t * z)) as usize];
        let uses =
            places().map(|place| number_at(attached(place, t, u, published)).expect("it has an uplink")).collect();
        let mut holders = vec![0; (t * t * t / u) as usize];
        for (place, number) in (0..).zip(&numbers) {
            if let Some(number) = *number {
                holders[number as usize] = place;
            }
        }
        let uplinks = endpoints / u;
        let upper = if ghc {
            let widths = sizes.iter().map(|size| uplinks / size);
            let first = std::iter::once(endpoints).chain(widths.scan(endpoints, |sum, width| {
                *sum += width;
                Some(*sum)
            }));
            Upper::Ghc(first.collect())
        } else {
            let up = sizes[..sizes.len() - 1].to_vec();
            Upper::Tree(Tree::above(endpoints, sizes.clone(), up, Copies::Spread))
        };
        Self { side: t, endpoints, upper, sizes, uses, holders }
    }
}

/// The number of the uplink of the endpoint at a place of a subtorus, if it has one.
fn number([x, y, z]: [u32; 3], t: u32, u: u32) -> Option<u32> {
    let h = t / 2;
    let odd = x % 2 + y % 2 + z % 2;
    let block = x / 2 + h * (y / 2) + h * h * (z / 2);
    match u {
        1 => Some(x + t * (y + t * z)),
        2 => (x % 2 == 0).then_some(x / 2 + h * (y + t * z)),
        4 => (odd % 3 == 0).then_some(odd / 3 * h * h * h + block),
        _ => (odd == 0).then_some(block),
    }
}

/// The position of the endpoint whose uplink another one uses.
fn attached(place: [u32; 3], t: u32, u: u32, published: bool) -> [u32; 3] {
    let [x, y, z] = place;
    let odd = x % 2 + y % 2 + z % 2;
    match u {
        1 => place,
        2 => [x - x % 2, y, z],
        4 => place.map(|c| c - c % 2 + odd / 2),
        // Every odd coordinate lies between two even ones: the lower, which beyond the last is 0.
        _ if published => place.map(|c| if c + 1 == t { 0 } else { c - c % 2 }),
        _ => place.map(|c| c - c % 2),
    }
}
