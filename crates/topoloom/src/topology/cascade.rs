//! `cascade:columns=16,rows=6,trunk=3,p=4,g=14,pair=72`: a dragonfly whose groups are grids of routers.
//!
//! Router x + columns y of a group is in chassis y. It is joined with each other router of its chassis by one link, and with each router
//! of the same x in each other chassis by `trunk` parallel links. Each two groups are joined by `pair` links, spread evenly over
//! the routers of a group: of the K = pair (g - 1) links of a group, k = 0, 1, … is on router floor(k a / K), a being columns times rows;
//! they lead to the groups in the order of the arrangement, gone through `pair` times (see [`dragonfly`](super::dragonfly)).
//!
//! Router r of group i has the id i a + r. Ports: terminals, links of the chassis by ascending peer, links to other chassis by ascending peer,
//! global links by k. Classes: `local` within a group, `global` between groups.

use super::groups::{ARRANGEMENT, Groups, SEED, read_arrangement};
use super::params::{P, Params, product};
use super::{Family, Roles};
use crate::catalogue::{Key, Kind};
use crate::error::Result;
use crate::network::{LinkClass, Network, NetworkBuilder, RouterId, Structure, WorstCase};

pub(super) const FAMILY: Family = Family {
    name: "cascade",
    summary: "dragonfly whose groups are grids of routers: chassis of columns, rows of chassis",
    sizes: None,
    keys: &[
        Key::new("columns", Kind::count(1), "routers of a chassis, fully connected"),
        Key::new("rows", Kind::count(1), "chassis of a group"),
        Key::new("trunk", Kind::count(1), "links between the routers of one column in two chassis (default 1)"),
        P,
        Key::new("g", Kind::count(1), "groups"),
        Key::new("pair", Kind::count(1), "links between each two groups, spread evenly over their routers"),
        ARRANGEMENT,
        SEED,
    ],
    example: "cascade:columns=4,rows=2,trunk=2,p=2,g=3,pair=4",
    source: "Faanes et al., Cray Cascade: A Scalable HPC System Based on a Dragonfly Network, SC 2012",
    routings: &[],
    roles: Roles::ANY,
    build,
};

/// The size of a group.
#[derive(Debug)]
struct Cascade {
    group: u32,
}

impl Structure for Cascade {
    fn group_size(&self) -> Option<u32> {
        Some(self.group)
    }

    /// One cabinet per group.
    fn cabinet(&self, router: RouterId) -> Option<u32> {
        Some(router.0 / self.group)
    }

    fn worst_case(&self) -> WorstCase {
        WorstCase::NextGroup
    }
}

fn build(params: &Params) -> Result<Network> {
    let [columns, rows] = [params.required("columns")?, params.required("rows")?];
    let (g, pair, p) = (params.required("g")?, params.required("pair")?, params.concentration());
    let (trunk, arrangement) = (params.count("trunk").unwrap_or(1), read_arrangement(params)?);
    let group = product([columns, rows]);
    let routers = product([group, g.into()]);
    let used = product([u128::from(pair), u128::from(g) - 1]);
    let local = u128::from(columns) - 1 + product([u128::from(rows) - 1, trunk.into()]);
    let links = product([routers, local]).saturating_add(product([used, g.into()])) / 2;
    params.guard_size(routers, product([routers, p.into()]), links)?;
    let a = group as u32;
    let mut builder = NetworkBuilder::new(routers as u32).terminals_everywhere(p);
    for first in (0..g).map(|group| group * a) {
        link_group(&mut builder, first, [columns, rows, trunk]);
    }
    let groups = Groups { count: g, ports: used as u32, each: Some(pair), arrangement };
    let router = |port: u32| (u64::from(port) * u64::from(a) / used as u64) as u32;
    groups.link(&mut builder, |group, port| (group * a + router(port), columns + rows + port));
    builder.build(params.spec().to_owned(), FAMILY.name, Box::new(Cascade { group: a }))
}

/// Local links of the group whose first router is `first`.
fn link_group(builder: &mut NetworkBuilder, first: u32, [columns, rows, trunk]: [u32; 3]) {
    for router in 0..columns * rows {
        let (x, y) = (router % columns, router / columns);
        for other in x + 1..columns {
            let peer = first + y * columns + other;
            builder.ranked_link((first + router, other), (peer, x), LinkClass::Local);
        }
        for other in y + 1..rows {
            let peer = first + other * columns + x;
            for _ in 0..trunk {
                builder.ranked_link((first + router, columns + other), (peer, columns + y), LinkClass::Local);
            }
        }
    }
}
