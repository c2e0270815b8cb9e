//! `torus:16x8x8`: a k-ary n-dimensional torus, any radix per dimension.
//!
//! Router ids: the first dimension varies fastest. Network ports of a router, in order of dimension: + before -.
//! A dimension of size 2 has one link between its two routers (the one that both + and - would be), or two with
//! `double=true`; a dimension of size 1 has none. Link class: `local`. With `widths=2x1x2` links of the first and of the third
//! dimension carry twice what `rate` states. With `twist` the wraparound links shift other dimensions: `twistedtorus.rs`.

use super::params::{P, Params, product};
use super::rates::local_gbps;
use super::twistedtorus::{TWIST, twisted};
use super::{Family, Roles};
use crate::catalogue::{Key, Kind};
use crate::error::{Result, several};
use crate::network::{Grid, Lattice, LinkClass, Network, NetworkBuilder, Structure, Wire, WorstCase};

pub(super) const FAMILY: Family = Family {
    name: "torus",
    summary: "k-ary n-dimensional torus, any radix per dimension",
    sizes: Some("16x8x8"),
    keys: &[
        P,
        Key::new("double", Kind::Flag, "true: two links in dimensions of size 2 (default false)"),
        WIDTHS,
        TWIST,
    ],
    example: "torus:16x8x8,p=1",
    source: "Dally and Towles, Principles and Practices of Interconnection Networks, chapter 5",
    routings: &["dor"],
    roles: Roles { minimal: "dor", adaptive: "amin" },
    build,
};

/// What the links of a dimension carry.
pub(super) const WIDTHS: Key =
    Key::new("widths", Kind::Sides, "how many times the rate links of each dimension carry, as 2x1x2 (default 1 each)");

/// A torus's grid of routers. Terminals of one router share its coordinates.
#[derive(Debug)]
pub struct Torus {
    grid: Grid,
    /// True if a dimension of size 2 has two links.
    pub double: bool,
}

impl Structure for Torus {
    fn grid(&self) -> Option<&Grid> {
        Some(&self.grid)
    }

    fn lattice(&self) -> Option<Lattice> {
        Some(Lattice::Torus)
    }

    fn moves_by_coordinates(&self) -> bool {
        true
    }

    /// All packets go the same way round: (ceil(k / 2) - 1) p flits per cycle on every channel of that direction in
    /// dimension order, k being the longest side (Dally and Towles, section 3.2).
    fn worst_case(&self) -> WorstCase {
        WorstCase::Tornado
    }

    fn vertex_transitive(&self) -> bool {
        true
    }
}

fn build(params: &Params) -> Result<Network> {
    if let Some(twist) = params.text(TWIST.name) {
        if params.has(WIDTHS.name) {
            return Err(params.mistake("widths and twist do not go together; links of a twisted torus are all alike"));
        }
        return twisted(params, twist);
    }
    let grid = Grid { sides: params.sizes().to_vec() };
    let (p, double) = (params.concentration(), params.flag("double"));
    let routers = product(grid.sides.iter().copied());
    let loops = grid.sides.iter().filter(|&&side| side > 1).count();
    params.guard_size(routers, product([routers, p.into()]), product([routers, loops as u128]))?;
    let widths = read_widths(params, grid.sides.len())?;
    let routers = routers as u32;
    let mut builder = NetworkBuilder::new(routers).terminals_everywhere(p);
    let mut stride = 1;
    for (dimension, &side) in (0..).zip(&grid.sides) {
        let [plus, minus] = [2 * dimension, 2 * dimension + 1];
        for router in (0..routers).filter(|_| side > 1) {
            let place = router / stride % side;
            if side == 2 && place == 1 && !double {
                continue;
            }
            let next = if place + 1 < side { router + stride } else { router - place * stride };
            builder.ranked_link((router, plus), (next, minus), LinkClass::Local);
            if let Some(rates) = &widths {
                builder.wire(Wire { gbps: Some(rates[dimension as usize]), ..Wire::UNSAID });
            }
        }
        stride *= side;
    }
    builder.build(params.spec().to_owned(), FAMILY.name, Box::new(Torus { grid, double }))
}

/// The rate of the links of each dimension in Gb/s, if `widths` states that they differ.
fn read_widths(params: &Params, dimensions: usize) -> Result<Option<Vec<f64>>> {
    let Some(widths) = params.sides(WIDTHS.name) else { return Ok(None) };
    if widths.len() != dimensions {
        return Err(params.mistake(format!(
            "widths has {}; it must have {dimensions}, one for each dimension",
            several(widths.len(), "number")
        )));
    }
    let rate =
        local_gbps(params).ok_or_else(|| params.mistake("widths needs rate or rate.local, which it multiplies"))?;
    Ok(Some(widths.into_iter().map(|width| f64::from(width) * rate).collect()))
}
