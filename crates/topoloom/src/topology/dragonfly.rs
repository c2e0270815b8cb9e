//! `dragonfly:a=8,h=4,p=4`: groups of a routers, fully connected, with h global ports per router.
//!
//! Router r of group i has the id i * a + r. Ports of a router: terminals, local links by ascending peer, global links
//! by port index. The a * h global ports of a group have the indices k = 0, 1, …; index k is on router k / h. Classes:
//! `local` within a group, `global` between groups.
//!
//! With g = a * h + 1 groups, each pair of groups has one link. The arrangement states which groups the ports of group i
//! lead to, in order of k:
//!
//! - `absolute` (consecutive; BookSim's `dragonflynew`): 0, 1, …, g-1 without i;
//! - `relative`: i+1, i+2, …, modulo g;
//! - `palmtree`: i-1, i-2, …, modulo g;
//! - `circulant`: i+1, i-1, i+2, i-2, …, modulo g;
//! - `random`: any order, drawn for each group with `seed`.
//!
//! With fewer groups every pair has floor(a*h / (g-1)) links, the arrangement's order being gone through as many
//! times, and the ports left over join groups in a circulant graph, in the same order; with an odd number of groups
//! and an odd number of ports left over in each, one port of the network stays unused. One group alone
//! (`g=1`) has no global links. With `links=N` every pair has N links, and all other ports stay unused. With `pair=N`
//! every pair has N links too, but these are spread evenly over the routers of a group: of the N (g - 1) = K links of a
//! group, k = 0, 1, … is on router floor(k a / K), whether or not a divides K.

use super::groups::{ARRANGEMENT, Arrangement, Groups, SEED, read_arrangement, read_count};
use super::params::{P, Params, product};
use super::{Family, Roles};
use crate::catalogue::{Key, Kind};
use crate::error::Result;
use crate::network::{LinkClass, Network, NetworkBuilder, RouterId, Structure, WorstCase};

pub(super) const FAMILY: Family = Family {
    name: "dragonfly",
    summary: "fully connected groups of a routers, h global ports per router",
    sizes: None,
    keys: &[
        Key::new("a", Kind::count(1), "routers per group"),
        Key::new("h", Kind::count(1), "global ports per router (with pair: default as many as are needed)"),
        P,
        Key::new("g", Kind::count(1), "groups, at most a*h+1 (default a*h+1)"),
        Key::new(
            "links",
            Kind::count(1),
            "links between each two groups (default: all that a*h ports per group allow)",
        ),
        Key::new(
            "pair",
            Kind::count(1),
            "the same, spread evenly over the routers of a group, whose number need not divide that of links; needs g",
        ),
        ARRANGEMENT,
        SEED,
    ],
    example: "dragonfly:a=8,h=4,p=4",
    source: "Kim, Dally, Scott and Abts, Technology-driven, highly-scalable dragonfly topology, ISCA 2008; arrangements: \
             Camarero, Vallejo and Beivide, TACO 2014, and Hastings et al., CLUSTER 2015",
    routings: &["par"],
    roles: Roles { adaptive: "par", ..Roles::ANY },
    build,
};

/// A dragonfly's parameters.
#[derive(Debug)]
pub struct Dragonfly {
    /// Routers per group.
    pub a: u32,
    /// Global ports per router.
    pub h: u32,
    /// Groups.
    pub g: u32,
    /// The arrangement of its global links.
    pub arrangement: Arrangement,
}

impl Dragonfly {
    /// The group of a router.
    #[inline(always)]
    pub fn group_of(&self, router: RouterId) -> u32 {
        router.0 / self.a
    }
}

impl Structure for Dragonfly {
    fn group_size(&self) -> Option<u32> {
        Some(self.a)
    }

    /// The a p terminals of a group share its links to the next one: a p flits per cycle over their number, one in a
    /// dragonfly of full size (Kim, Dally, Scott and Abts, ISCA 2008).
    fn worst_case(&self) -> WorstCase {
        WorstCase::NextGroup
    }

    /// One cabinet per group.
    fn cabinet(&self, router: RouterId) -> Option<u32> {
        Some(self.group_of(router))
    }
}

fn build(params: &Params) -> Result<Network> {
    let (a, p) = (params.required("a")?, params.concentration());
    let arrangement = read_arrangement(params)?;
    let pair = params.count("pair");
    let h = if let Some(pair) = pair { read_spread(params, a, pair)? } else { params.required("h")? };
    let ports = u64::from(a) * u64::from(h);
    let g = read_count(params, ports, "a*h+1")?;
    let routers = u128::from(a) * u128::from(g);
    let local = routers.saturating_mul(u128::from(a) - 1) / 2;
    let links = local.saturating_add(product([u128::from(g), ports.into()]) / 2);
    params.guard_size(routers, product([routers, p.into()]), links)?;
    let dragonfly = Dragonfly { a, h, g: g as u32, arrangement };
    let mut builder = NetworkBuilder::new(routers as u32).terminals_everywhere(p);
    link_groups(&mut builder, &dragonfly);
    let (each, used) = match pair {
        Some(pair) => (Some(pair), u64::from(pair) * (g - 1)),
        None => (links_of_pair(params, ports, g)?, ports),
    };
    let groups = Groups { count: dragonfly.g, ports: used as u32, each, arrangement };
    let router = |port: u32| if pair.is_some() { u64::from(port) * u64::from(a) / used } else { u64::from(port / h) };
    groups.link(&mut builder, |group, port| (group * a + router(port) as u32, port + 1));
    builder.build(params.spec().to_owned(), FAMILY.name, Box::new(dragonfly))
}

/// The most global ports that a router needs for `pair` links between each two groups, spread evenly; or `h` if given.
fn read_spread(params: &Params, a: u32, pair: u32) -> Result<u32> {
    if params.count("links").is_some() {
        return Err(params.mistake("links and pair are given; both set the number of links between each two groups"));
    }
    let needed = u64::from(pair).saturating_mul(u64::from(params.required("g")?) - 1).div_ceil(a.into()).max(1);
    match params.count("h") {
        Some(h) if u64::from(h) < needed => Err(params.mistake(format!(
            "h is {h}; {pair} links between each two groups need {needed} global ports of some routers"
        ))),
        Some(h) => Ok(h),
        None => {
            u32::try_from(needed).map_err(|_| params.mistake(format!("{needed} global ports per router are too many")))
        }
    }
}

/// The key `links`: no more than `ports` global ports per group allow between each pair of `groups` groups.
fn links_of_pair(params: &Params, ports: u64, groups: u64) -> Result<Option<u32>> {
    let links = params.count("links");
    let most = ports / (groups - 1).max(1);
    match links {
        Some(links) if u64::from(links) > most => Err(params.mistake(format!(
            "links is {links}; {ports} global ports per group allow at most {most} between each two of {groups} groups"
        ))),
        links => Ok(links),
    }
}

fn link_groups(builder: &mut NetworkBuilder, dragonfly: &Dragonfly) {
    for router in 0..dragonfly.a * dragonfly.g {
        let end = (router / dragonfly.a + 1) * dragonfly.a;
        (router + 1..end).for_each(|peer| builder.link(router, peer, LinkClass::Local));
    }
}
