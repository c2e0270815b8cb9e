//! `fattree:k=10,levels=3`: the k-ary n-tree of k^levels terminals and levels * k^(levels-1) routers.
//!
//! A router is a level (0 = leaves) and a word of levels-1 digits in base k; its id is level * k^(levels-1) + word.
//! A router of level l is linked to the k routers of level l+1 whose words differ from its own in digit l at most
//! (digit 0 is the lowest): with three levels and words (a, b), leaf (a,b) - middle (a,c) and middle (a,b) - top
//! (c,b). Ports of a router: k down by the digit they set (terminals on a leaf), then k up by the digit they set;
//! the top level has its k down ports only. Terminal t is attached to leaf t / k. Link class: `up`. In the terms of
//! [`tree`](super::tree) digits from l on are the group and those below the copy, and copies are spread.
//!
//! `taper=2` halves the links up from the leaves, rounded down, and with them the routers above (digit 0 of their words
//! then is in base k/2); `taper=2x1.5` tapers the next level as well, and so on.

use super::params::Params;
use super::tree::{self, Copies};
use super::{Family, Roles};
use crate::catalogue::{Key, Kind};
use crate::error::Result;
use crate::network::Network;

pub(super) const FAMILY: Family = Family {
    name: "fattree",
    summary: "k-ary n-tree: k^levels terminals",
    sizes: None,
    keys: &[
        Key::new("k", Kind::count(2), "ports down and ports up of a router, at least 2"),
        Key::new("levels", Kind::count(2), "levels of routers, at least 2"),
        tree::TAPER,
    ],
    example: "fattree:k=10,levels=3",
    source: "Petrini and Vanneschi, k-ary n-trees: high performance networks for massively parallel architectures, \
             IPPS 1997",
    routings: &["nca", "anca"],
    roles: Roles { minimal: "nca", adaptive: "anca" },
    build,
};

fn build(params: &Params) -> Result<Network> {
    let (k, levels) = (params.required("k")?, tree::levels(params)?);
    let up = tree::tapered(params, k, levels)?;
    let single = vec![1; up.len()];
    tree::build(params, FAMILY.name, [vec![k; levels as usize], up, single], Copies::Spread, k)
}
