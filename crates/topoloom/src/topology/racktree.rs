//! `rack-tree:racks=32,leaf=4,p=18,upper=3,trunk=6,top=2,links=4`: racks of leaves under switches of their own, joined by
//! director switches.
//!
//! A rack has `leaf` leaves of p terminals each and `upper` switches above them; each leaf is joined with each of these by `trunk`
//! parallel links. Each of the `top` director switches is joined with each upper switch of every rack by `links` parallel
//! links. A single rack has no director switches.
//!
//! Ids: rack by rack, its leaves, then its upper switches; the director switches last. Ports: terminals, or links down in the order
//! of the ids below; then links up in the order of the ids above, parallel ones side by side. Class: `up`.

use super::params::{P, Params, product};
use super::{Family, Roles};
use crate::catalogue::{Key, Kind};
use crate::error::Result;
use crate::network::{LinkClass, Network, NetworkBuilder, RouterId, Structure, WorstCase};

pub(super) const FAMILY: Family = Family {
    name: "rack-tree",
    summary: "racks of leaves under switches of their own, joined by director switches with parallel links",
    sizes: None,
    keys: &[
        Key::new("racks", Kind::count(1), "racks"),
        Key::new("leaf", Kind::count(1), "leaves of a rack"),
        P,
        Key::new("upper", Kind::count(1), "switches above the leaves of a rack"),
        Key::new("trunk", Kind::count(1), "links between a leaf and an upper switch of its rack (default 1)"),
        Key::new("top", Kind::count(1), "director switches above all racks"),
        Key::new("links", Kind::count(1), "links between an upper switch and a director switch (default 1)"),
    ],
    example: "rack-tree:racks=4,leaf=4,p=4,upper=3,trunk=2,top=2,links=2",
    source: "the InfiniBand fabric of ABCI, AIST",
    routings: &[],
    roles: Roles::ANY,
    build,
};

/// A tree of racks.
#[derive(Debug)]
struct RackTree {
    racks: u32,
    leaf: u32,
    upper: u32,
    /// Director switches that there are: none of a single rack.
    top: u32,
}

impl RackTree {
    fn rack(&self) -> u32 {
        self.leaf + self.upper
    }

    /// The first director switch.
    fn first_top(&self) -> u32 {
        self.racks * self.rack()
    }
}

impl Structure for RackTree {
    fn level(&self, router: RouterId) -> Option<u32> {
        let upper = router.0 % self.rack() >= self.leaf;
        Some(if router.0 >= self.first_top() { 2 } else { u32::from(upper) })
    }

    /// A rack is a cabinet, and so is each director switch.
    fn cabinet(&self, router: RouterId) -> Option<u32> {
        let above = router.0.saturating_sub(self.first_top());
        Some(if router.0 >= self.first_top() { self.racks + above } else { router.0 / self.rack() })
    }

    fn worst_case(&self) -> WorstCase {
        WorstCase::AcrossTheTop
    }

    /// All leaves are alike, and so are all upper and all director switches.
    fn orbits(&self) -> Vec<(RouterId, u32)> {
        let all = [(0, self.racks * self.leaf), (self.leaf, self.racks * self.upper), (self.first_top(), self.top)];
        all.into_iter().filter(|(_, size)| *size > 0).map(|(first, size)| (RouterId(first), size)).collect()
    }
}

fn build(params: &Params) -> Result<Network> {
    let [racks, leaf, upper] = [params.required("racks")?, params.required("leaf")?, params.required("upper")?];
    let (p, top) = (params.concentration(), params.required("top")?);
    let [trunk, links] = ["trunk", "links"].map(|key| params.count(key).unwrap_or(1));
    let top = if racks > 1 { top } else { 0 };
    let within = product([racks, leaf, upper, trunk]);
    let above = product([racks, upper, top, links]);
    let routers = product([u128::from(racks), u128::from(leaf) + u128::from(upper)]).saturating_add(top.into());
    params.guard_size(routers, product([racks, leaf, p]), within.saturating_add(above))?;
    let tree = RackTree { racks, leaf, upper, top };
    let mut builder = NetworkBuilder::new(routers as u32);
    for first in (0..racks).map(|rack| rack * tree.rack()) {
        (first..first + leaf).for_each(|leaf| builder.terminals(leaf, p));
    }
    for first in (0..racks).map(|rack| rack * tree.rack()) {
        let uppers = first + leaf..first + tree.rack();
        for lower in first..first + leaf {
            let pairs = uppers.clone().flat_map(|above| std::iter::repeat_n(above, trunk as usize));
            pairs.for_each(|above| builder.link(lower, above, LinkClass::Up));
        }
        for lower in uppers {
            let tops = tree.first_top()..tree.first_top() + top;
            let pairs = tops.flat_map(|above| std::iter::repeat_n(above, links as usize));
            pairs.for_each(|above| builder.link(lower, above, LinkClass::Up));
        }
    }
    builder.build(params.spec().to_owned(), FAMILY.name, Box::new(tree))
}
