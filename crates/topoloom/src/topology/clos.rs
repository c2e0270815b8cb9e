//! `clos:radix=16,levels=3`: the fat tree of Al-Fares et al., a folded Clos network of routers with `radix` ports.
//!
//! With k = radix, routers have k/2 ports down and k/2 up, those of the top level k down: 2 (k/2)^levels terminals, 2
//! (k/2)^(levels-1) routers of each level but the top, which has half as many. At three levels these are k pods of k/2
//! edge and k/2 aggregation routers, and k^2/4 cores. Ids, level by level: edge e of pod P is P k/2 + e, aggregation router
//! a of pod P is k^2/2 + P k/2 + a, core c is k^2 + c; aggregation router a is linked to the k/2 cores from a k/2 on. More
//! levels continue in the same way: see [`tree`](super::tree), whose copies are consecutive here. Ports of a router:
//! terminals or ports down, by ascending peer, then ports up, by ascending peer. Terminal t is attached to edge router
//! t / (k/2). Link class: `up`.
//!
//! `taper=2` halves the links up from the leaves, rounded down, and with them the routers above; `taper=2x1.5` tapers the
//! next level as well, and so on. Terminals stay, ports are left unused.

use super::params::Params;
use super::tree::{self, Copies};
use super::{Family, Roles};
use crate::catalogue::{Key, Kind};
use crate::error::Result;
use crate::network::Network;

pub(super) const FAMILY: Family = Family {
    name: "clos",
    summary: "fat tree of routers with equally many ports: at three levels radix^3/4 terminals",
    sizes: None,
    keys: &[
        Key::new("radix", Kind::count(4), "ports of a router, even, at least 4"),
        Key::new("levels", Kind::count(2), "levels of routers, at least 2"),
        tree::TAPER,
    ],
    example: "clos:radix=16,levels=3",
    source: "Al-Fares, Loukissas and Vahdat, A scalable, commodity data center network architecture, SIGCOMM 2008",
    routings: &["nca", "anca"],
    roles: Roles { minimal: "nca", adaptive: "anca" },
    build,
};

fn build(params: &Params) -> Result<Network> {
    let (radix, levels) = (params.required("radix")?, tree::levels(params)?);
    if radix % 2 == 1 {
        return Err(params.mistake(format!("radix is {radix}; it must be even, half of the ports lead up")));
    }
    let up = tree::tapered(params, radix / 2, levels)?;
    let mut down = vec![radix / 2; levels as usize];
    down[levels as usize - 1] = radix;
    let single = vec![1; up.len()];
    tree::build(params, FAMILY.name, [down, up, single], Copies::Consecutive, radix)
}
