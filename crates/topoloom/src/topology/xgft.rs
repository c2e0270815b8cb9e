//! `xgft:down=32x32x128,up=32x32`: the extended generalised fat tree, leaf level first.
//!
//! `down` gives the terminals of a leaf, then the links down from a router of each further level; `up` the links up from a
//! router of each level but the last. Öhring et al. write XGFT(h; m1, …, mh; w1, …, wh) for what is here
//! down=m1x…xmh,up=w2x…xwh, terminals having one link each (w1 = 1). Ids, wiring, ports and class: see
//! [`tree`](super::tree), whose copies are spread here. `up` smaller than `down` tapers the tree.
//!
//! `trunk=1x6` joins two routers of the second and the third level by six links: a router then has as many links up as
//! the product of both keys states. So the ports of large routers are filled where there are few pods: 10 pods of 32 leaves
//! under 160 routers of 64 ports are down=32x32x10,up=32x5,trunk=1x6, which has 10,240 terminals on 800 routers.

use super::params::Params;
use super::tree::{self, Copies};
use super::{Family, Roles};
use crate::catalogue::{Key, Kind};
use crate::error::{Result, several};
use crate::network::Network;

pub(super) const FAMILY: Family = Family {
    name: "xgft",
    summary: "extended generalised fat tree: any links down and up, level by level",
    sizes: None,
    keys: &[
        Key::new(
            "down",
            Kind::Sides,
            "terminals of a leaf, then routers below each router of each further level, as 32x32x128",
        ),
        Key::new(
            "up",
            Kind::Sides,
            "routers above that each router is linked to, of each level but the last, as 32x32",
        ),
        Key::new("trunk", Kind::Sides, "links to each of these, as 1x6 (default 1)"),
    ],
    example: "xgft:down=4x4x8,up=4x4",
    source: "Öhring, Ibel, Das and Kumar, On generalized fat trees, IPPS 1995",
    routings: &["nca", "anca"],
    roles: Roles { minimal: "nca", adaptive: "anca" },
    build,
};

fn build(params: &Params) -> Result<Network> {
    let list = |key: &str| params.sides(key).ok_or_else(|| params.missing(key));
    let (down, up) = (list("down")?, list("up")?);
    let trunk = params.sides("trunk").unwrap_or_else(|| vec![1; up.len()]);
    if down.len() < 2 {
        return Err(params.mistake("down has 1 number; it must have one for each of 2 or more levels"));
    }
    if up.len() + 1 != down.len() {
        return Err(params.mistake(format!(
            "up has {}; it must have {}, one for each of the {} levels but the last",
            several(up.len(), "number"),
            down.len() - 1,
            down.len()
        )));
    }
    if trunk.len() != up.len() {
        let (given, wanted) = (trunk.len(), up.len());
        return Err(
            params.mistake(format!("trunk has {}; it must have {wanted}, as many as up", several(given, "number")))
        );
    }
    let pod = down[1].saturating_add(up[0]);
    tree::build(params, FAMILY.name, [down, up, trunk], Copies::Spread, pod)
}
