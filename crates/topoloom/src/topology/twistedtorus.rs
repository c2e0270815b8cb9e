//! `twisted-torus:4x4x8`: a torus whose wraparound links shift the dimensions that are twice as long; and
//! `torus:16x16x16,twist=0:4:8/0:0:4/0:0:0`: one whose wraparound links shift the other dimensions by given offsets.
//!
//! A twist has a row per dimension: as many hops as a dimension has routers lead as far as the hops of its row, which
//! count along all dimensions. A wraparound link therefore shifts the others by its row, and where it crosses theirs it
//! shifts by their rows as well. No dimension may shift itself, over others either: every finite Abelian group with one
//! generator a dimension has such a form (Hermite's), so these are all the twisted tori that there are.
//! In `twisted-torus` the sides are all k, but for those that are 2k; dimensions of side k shift those of side 2k by k.
//!
//! Router ids: the first dimension varies fastest. Network ports of a router, in order of dimension: + before -. Both are
//! one link where they lead to one router, or two links with `double=true`; a dimension of size 1 without a twist has
//! none. Link class: `local`.

use super::params::{P, Params, product};
use super::{Family, Roles};
use crate::catalogue::grammar::rows;
use crate::catalogue::{Key, Kind};
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

/// The key of a torus whose wraparound links shift other dimensions.
pub(super) const TWIST: Key = Key::new(
    "twist",
    Kind::Text(FORM),
    "what the wraparound links of each dimension shift: a row per dimension, as in 0:0:4/0:0:4/0:0:0 (default: nothing)",
);

/// What a twist must be.
const FORM: &str =
    "a row per dimension with slashes between them, each an offset per dimension, as in 0:0:4/0:0:4/0:0:0";

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
    let row = |side| sides.iter().map(|&other| if side == short && other > short { short } else { 0 }).collect();
    linked(params, &sides.iter().map(|&side| row(side)).collect::<Vec<Vec<u32>>>(), false)
}

/// The torus whose wraparound links shift by `text`.
pub(super) fn twisted(params: &Params, text: &str) -> Result<Network> {
    let rows = read(params, text)?;
    linked(params, &rows, params.flag("double"))
}

/// The rows of a twist.
fn read(params: &Params, text: &str) -> Result<Vec<Vec<u32>>> {
    let sides = params.sizes();
    let wrong = || params.mistake(format!("twist is '{text}'; it must be {FORM}"));
    let read = |offset: &str| offset.trim().parse().ok();
    let rows: Option<Vec<Vec<u32>>> = rows(text).map(|row| row.map(read).collect()).collect();
    let rows = rows.ok_or_else(wrong)?;
    if rows.len() != sides.len() || rows.iter().any(|row| row.len() != sides.len()) {
        let dimensions = sides.len();
        return Err(params
            .mistake(format!("twist must have {dimensions} rows of {dimensions} offsets, one for each dimension")));
    }
    for row in &rows {
        if let Some((offset, side)) = row.iter().zip(sides).find(|(offset, side)| offset >= side) {
            return Err(params.mistake(format!(
                "twist shifts a dimension of side {side} by {offset}; it must be less than the side"
            )));
        }
    }
    Ok(rows)
}

/// Links every router with the next in each dimension.
fn linked(params: &Params, rows: &[Vec<u32>], double: bool) -> Result<Network> {
    let sides = params.sizes();
    let p = params.concentration();
    let routers = product(sides.iter().copied());
    params.guard_size(routers, product([routers, p.into()]), product([routers, sides.len() as u128]))?;
    let routers = routers as u32;
    let twist = Twist::new(sides, rows).ok_or_else(|| {
        params.mistake("twist lets a dimension shift itself, perhaps over others; it must shift others")
    })?;
    let mut builder = NetworkBuilder::new(routers).terminals_everywhere(p);
    for dimension in 0..sides.len() {
        if sides[dimension] == 1 && rows[dimension].iter().all(|&offset| offset == 0) {
            continue;
        }
        // + and - lead to one router: a link that the lower of the two ids names is theirs.
        let single = !double && twist.next(twist.next(0, dimension), dimension) == 0;
        let [plus, minus] = [0, 1].map(|way| 2 * dimension as u32 + way);
        for router in 0..routers {
            let next = twist.next(router, dimension);
            if !single || router < next {
                builder.ranked_link((router, plus), (next, minus), LinkClass::Local);
            }
        }
    }
    builder.build(params.spec().to_owned(), FAMILY.name, Box::new(TwistedTorus))
}

/// The routers of a torus whose wraparound links shift other dimensions.
#[derive(Debug)]
pub struct Twist {
    sides: Vec<u32>,
    strides: Vec<u32>,
    rows: Vec<Vec<u32>>,
    /// Dimensions, each before those that it shifts.
    order: Vec<usize>,
}

impl Twist {
    /// `None` if a dimension shifts itself, over others perhaps.
    pub fn new(sides: &[u32], rows: &[Vec<u32>]) -> Option<Self> {
        let mut left: Vec<usize> = (0..rows.len()).collect();
        let mut order = Vec::new();
        while !left.is_empty() {
            let free = left.iter().position(|&to| left.iter().all(|&from| rows[from][to] == 0))?;
            order.push(left.remove(free));
        }
        let next = |stride: &mut u32, side: &u32| Some(std::mem::replace(stride, *stride * side));
        let strides = sides.iter().scan(1, next).collect();
        Some(Self { sides: sides.to_vec(), strides, rows: rows.to_vec(), order })
    }

    /// The router after `router` in a dimension.
    pub fn next(&self, router: u32, dimension: usize) -> u32 {
        let (side, stride) = (self.sides[dimension], self.strides[dimension]);
        if router / stride % side + 1 < side { router + stride } else { self.round(router, dimension) }
    }

    /// The router behind a wraparound link.
    fn round(&self, router: u32, dimension: usize) -> u32 {
        let place = |at: usize| u64::from(router / self.strides[at] % self.sides[at]);
        let mut places: Vec<u64> = (0..self.sides.len()).map(place).collect();
        places[dimension] += 1;
        for &from in &self.order {
            let side = u64::from(self.sides[from]);
            let rounds = places[from] / side;
            places[from] %= side;
            let shift = |(at, &offset): (&mut u64, &u32)| *at += rounds * u64::from(offset);
            places.iter_mut().zip(&self.rows[from]).for_each(shift);
        }
        places.iter().zip(&self.strides).map(|(&at, stride)| at as u32 * stride).sum()
    }
}

#[cfg(test)]
mod tests {
    use crate::topology::build;

    #[test]
    fn a_twist_by_half_is_the_family_of_that_name() {
        for (family, twist) in [
            ("twisted-torus:4x4x8", "torus:4x4x8,twist=0:0:4/0:0:4/0:0:0"),
            ("twisted-torus:6x3,p=2", "torus:6x3,p=2,twist=0:0/3:0"),
        ] {
            let [one, other] = [family, twist].map(|spec| build(spec).expect(spec));
            assert_eq!(one.links(), other.links(), "{twist}");
            assert_eq!(one.family(), other.family());
        }
    }

    #[test]
    fn twists_that_make_no_torus_are_rejected() {
        let cases = [
            ("0:1/1:0", "shift itself"),
            ("1:0/0:0", "shift itself"),
            ("0:0/0:4", "less than the side"),
            ("0:0", "2 rows of 2 offsets"),
            ("0:x/0:0", "a row per dimension"),
        ];
        for (twist, what) in cases {
            let sentence = build(&format!("torus:4x4,twist={twist}")).expect_err(twist).to_string();
            assert!(sentence.contains(what), "{sentence}");
        }
    }
}
