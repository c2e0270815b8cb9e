//! `dragonfly-plus:leaf=8,spine=8,p=8,h=8`: Dragonfly+ or Megafly, groups of leaf and spine routers in two levels.
//!
//! In a group every leaf is linked to every spine. Each leaf has p terminals, each spine h global ports. Router ids,
//! group by group: the leaves of group i are i (leaf + spine) + l, its spines i (leaf + spine) + leaf + s. Ports of a
//! leaf: its terminals, then the spines in order; of a spine: the leaves in order, then its global ports by index. The
//! spine * h global ports of a group have the indices k = 0, 1, …; index k is on spine k / h. They lead to the other
//! groups as those of the [dragonfly](super::dragonfly) do, with as many groups as there are ports and one, or fewer,
//! and in the same arrangements. Terminal t is attached to leaf t / p, leaves counted over all groups. Classes: `local`
//! within a group, `global` between groups.

use super::groups::{ARRANGEMENT, Arrangement, Groups, SEED, read_arrangement, read_count};
use super::params::{Params, product};
use super::{Family, Roles};
use crate::catalogue::{Key, Kind};
use crate::error::Result;
use crate::network::{LinkClass, Network, NetworkBuilder, RouterId, Structure, WorstCase};

pub(super) const FAMILY: Family = Family {
    name: "dragonfly-plus",
    summary: "Dragonfly+, Megafly: groups of leaves and spines, h global ports per spine",
    sizes: None,
    keys: &[
        Key::new("leaf", Kind::count(1), "leaf routers per group"),
        Key::new("spine", Kind::count(1), "spine routers per group"),
        Key::new("p", Kind::count(1), "terminals per leaf router (default 1)"),
        Key::new("h", Kind::count(1), "global ports per spine router"),
        Key::new("g", Kind::count(1), "groups, at most spine*h+1 (default spine*h+1)"),
        ARRANGEMENT,
        SEED,
    ],
    example: "dragonfly-plus:leaf=4,spine=4,p=4,h=4",
    source: "Shpiner, Haramaty, Eliad, Zdornov, Gafni and Zahavi, Dragonfly+: low cost topology for scaling \
             datacenters, HiPINEB 2017; Flajslik, Borch and Parker, Megafly: a topology for exascale systems, ISC 2018",
    routings: &["par"],
    roles: Roles { adaptive: "par", ..Roles::ANY },
    build,
};

/// A dragonfly+'s parameters.
#[derive(Debug)]
pub struct DragonflyPlus {
    /// Leaf routers per group.
    pub leaf: u32,
    /// Spine routers per group.
    pub spine: u32,
    /// Global ports per spine.
    pub h: u32,
    /// Groups.
    pub g: u32,
    /// The arrangement of its global links.
    pub arrangement: Arrangement,
}

impl Structure for DragonflyPlus {
    /// To the next group on leaf=8,spine=8,p=8,h=8,g=9 at load 1: 0.13 accepted without, 0.26 with it.
    fn bias_when_refused(&self) -> Option<u32> {
        Some(8)
    }

    /// On leaf=4,spine=4,p=4,h=2,g=5 under uniform traffic at load 1: 0.39 accepted without, 0.59 with it, and 0.54 by `min`.
    fn compares_global_links(&self) -> bool {
        true
    }

    fn group_size(&self) -> Option<u32> {
        Some(self.leaf + self.spine)
    }

    /// One cabinet per group.
    fn cabinet(&self, router: RouterId) -> Option<u32> {
        self.group_of(router)
    }

    /// The leaf p terminals of a group share its links to the next one, as in a dragonfly.
    fn worst_case(&self) -> WorstCase {
        WorstCase::NextGroup
    }
}

fn build(params: &Params) -> Result<Network> {
    let [leaf, spine, h] = [params.required("leaf")?, params.required("spine")?, params.required("h")?];
    let (p, arrangement) = (params.concentration(), read_arrangement(params)?);
    let ports = u64::from(spine) * u64::from(h);
    let g = read_count(params, ports, "spine*h+1")?;
    let routers = product([u128::from(g), u128::from(leaf) + u128::from(spine)]);
    let links = product([u128::from(g), (u128::from(leaf) * u128::from(spine)).saturating_add(u128::from(ports / 2))]);
    params.guard_size(routers, product([g, leaf.into(), p.into()]), links)?;
    let dragonfly = DragonflyPlus { leaf, spine, h, g: g as u32, arrangement };
    let mut builder = NetworkBuilder::new(routers as u32);
    for group in 0..dragonfly.g {
        link_group(&mut builder, group * (leaf + spine), &dragonfly, p);
    }
    let groups = Groups { count: dragonfly.g, ports: ports as u32, each: None, arrangement };
    groups.link(&mut builder, |group, port| (group * (leaf + spine) + leaf + port / h, port + 1));
    builder.build(params.spec().to_owned(), FAMILY.name, Box::new(dragonfly))
}

/// Terminals and local links of the group whose first router is `first`.
fn link_group(builder: &mut NetworkBuilder, first: u32, dragonfly: &DragonflyPlus, p: u32) {
    for leaf in first..first + dragonfly.leaf {
        builder.terminals(leaf, p);
        for spine in 0..dragonfly.spine {
            builder.link(leaf, first + dragonfly.leaf + spine, LinkClass::Local);
        }
    }
}
