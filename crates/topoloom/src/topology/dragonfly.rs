//! `dragonfly:a=8,h=4,p=4`: groups of a routers, fully connected, with h global ports a router.
//!
//! Router r of group i has the id i * a + r. Ports of a router: terminals, local links by ascending peer, global links
//! by port index. The a * h global ports of a group have the indices k = 0, 1, …; index k is on router k / h. Classes:
//! `local` within a group, `global` between groups.
//!
//! With g = a * h + 1 groups, each pair of groups has one link. The arrangement says which groups the ports of group i
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
//! (`g=1`) has no global links.

use super::Family;
use super::params::{Key, P, Params, product};
use crate::error::Result;
use crate::network::{LinkClass, Network, NetworkBuilder, RouterId, Structure, WorstCase};
use crate::rng::Rng;

pub(super) const FAMILY: Family = Family {
    name: "dragonfly",
    summary: "fully connected groups of a routers, h global ports a router",
    sizes: None,
    keys: &[
        Key { name: "a", doc: "routers per group" },
        Key { name: "h", doc: "global ports per router" },
        P,
        Key { name: "g", doc: "groups, at most a*h+1 (default a*h+1)" },
        Key {
            name: "arrangement",
            doc: "of the global links: absolute, relative, palmtree, circulant or random (default absolute)",
        },
        Key { name: "seed", doc: "of arrangement=random (default 1)" },
    ],
    example: "dragonfly:a=8,h=4,p=4",
    source: "Kim, Dally, Scott and Abts, Technology-driven, highly-scalable dragonfly topology, ISCA 2008; arrangements: \
             Camarero, Vallejo and Beivide, TACO 2014, and Hastings et al., CLUSTER 2015",
    build,
};

/// The order in which the global ports of a group lead to the other groups. See the module's documentation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrangement {
    /// Ascending group.
    Absolute,
    /// Ascending distance from the own group.
    Relative,
    /// Descending distance from the own group.
    Palmtree,
    /// Nearest groups on both sides first.
    Circulant,
    /// Drawn with a seed.
    Random(u32),
}

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

    /// The other groups in the order in which the ports of group `own` lead there, in one round.
    fn order(&self, own: u32) -> Vec<u32> {
        let others = 1..self.g;
        match self.arrangement {
            Arrangement::Absolute | Arrangement::Random(_) => (0..self.g).filter(|&peer| peer != own).collect(),
            Arrangement::Relative => others.map(|step| (own + step) % self.g).collect(),
            Arrangement::Palmtree => others.map(|step| (own + self.g - step) % self.g).collect(),
            Arrangement::Circulant => others
                .map(|k| if k % 2 == 1 { k.div_ceil(2) } else { self.g - k / 2 })
                .map(|step| (own + step) % self.g)
                .collect(),
        }
    }

    /// True if two groups are joined by one of the ports that are left when every pair has its equal share.
    fn joined_by_rest(&self, a: u32, b: u32) -> bool {
        let rest = self.a * self.h % (self.g - 1);
        let step = a.abs_diff(b).min(self.g - a.abs_diff(b));
        if step <= rest / 2 {
            return true;
        }
        if rest % 2 == 0 {
            return false;
        }
        // One port more in each group: a perfect matching, or with an odd number of groups one that leaves one out.
        let half = self.g / 2;
        if self.g % 2 == 0 {
            return step == half;
        }
        // Steps of `half` visit all the groups in one cycle (2 * half = -1 modulo g): every other one of them.
        let place = |group: u32| (2 * u64::from(self.g - group) % u64::from(self.g)) as u32;
        let (first, second) = (place(a).min(place(b)), place(a).max(place(b)));
        second == first + 1 && first % 2 == 0
    }

    /// Where the global ports of group `own` lead, by port index; `None` for a port without a link.
    fn peers(&self, own: u32) -> Vec<Option<u32>> {
        let ports = self.a * self.h;
        if self.g == 1 {
            return vec![None; ports as usize];
        }
        let order = self.order(own);
        let rounds = (ports / (self.g - 1)) as usize;
        let rest = order.iter().filter(|&&peer| self.joined_by_rest(own, peer));
        let mut peers: Vec<Option<u32>> = order.repeat(rounds).iter().chain(rest).map(|&peer| Some(peer)).collect();
        peers.resize(ports as usize, None);
        if let Arrangement::Random(seed) = self.arrangement {
            Rng::stream(u64::from(seed), u64::from(own)).shuffle(&mut peers);
        }
        peers
    }
}

impl Structure for Dragonfly {
    fn group_size(&self) -> Option<u32> {
        Some(self.a)
    }

    /// The a p terminals of a group share its links to the next one: a p flits a cycle over their number, one in a
    /// dragonfly of full size (Kim, Dally, Scott and Abts, ISCA 2008).
    fn worst_case(&self) -> WorstCase {
        WorstCase::NextGroup
    }

    /// One cabinet a group.
    fn cabinet(&self, router: RouterId) -> Option<u32> {
        Some(self.group_of(router))
    }
}

fn build(params: &Params) -> Result<Network> {
    let (a, h, p) = (params.required("a", 1)?, params.required("h", 1)?, params.concentration()?);
    let arrangement = read_arrangement(params)?;
    let ports = u64::from(a) * u64::from(h);
    let g = match params.optional("g", 1)?.map(u64::from) {
        Some(g) if g > ports + 1 => {
            return Err(params.mistake(format!("g is {g}; at most a*h+1 = {} groups can be linked", ports + 1)));
        }
        g => g.unwrap_or(ports + 1),
    };
    let routers = u128::from(a) * u128::from(g);
    let local = routers.saturating_mul(u128::from(a) - 1) / 2;
    let links = local.saturating_add(product([u128::from(g), ports.into()]) / 2);
    params.guard_size(routers, product([routers, p.into()]), links)?;
    let dragonfly = Dragonfly { a, h, g: g as u32, arrangement };
    let mut builder = NetworkBuilder::new(routers as u32).terminals_everywhere(p);
    link_groups(&mut builder, &dragonfly);
    link_globally(&mut builder, &dragonfly);
    builder.build(params.spec().to_owned(), FAMILY.name, Box::new(dragonfly))
}

fn read_arrangement(params: &Params) -> Result<Arrangement> {
    let seed = params.optional("seed", 0)?;
    let name = params.choice("arrangement", &["absolute", "relative", "palmtree", "circulant", "random"])?;
    if seed.is_some() && name != "random" {
        return Err(params.mistake(format!("seed is for arrangement=random only; the arrangement is {name}")));
    }
    Ok(match name {
        "relative" => Arrangement::Relative,
        "palmtree" => Arrangement::Palmtree,
        "circulant" => Arrangement::Circulant,
        "random" => Arrangement::Random(seed.unwrap_or(1)),
        _ => Arrangement::Absolute,
    })
}

fn link_groups(builder: &mut NetworkBuilder, dragonfly: &Dragonfly) {
    for router in 0..dragonfly.a * dragonfly.g {
        let end = (router / dragonfly.a + 1) * dragonfly.a;
        (router + 1..end).for_each(|peer| builder.link(router, peer, LinkClass::Local));
    }
}

/// Joins the n-th port of group i that leads to group j with the n-th port of j that leads to i.
fn link_globally(builder: &mut NetworkBuilder, dragonfly: &Dragonfly) {
    // (lower group, higher group, port index in the one) and in the other: sorted, the two lists match line by line.
    let (mut lower, mut higher) = (Vec::new(), Vec::new());
    for own in 0..dragonfly.g {
        for (port, peer) in (0u32..).zip(dragonfly.peers(own)) {
            match peer {
                Some(peer) if peer > own => lower.push((own, peer, port)),
                Some(peer) => higher.push((peer, own, port)),
                None => {}
            }
        }
    }
    lower.sort_unstable();
    higher.sort_unstable();
    debug_assert_eq!(lower.len(), higher.len());
    for (&(i, j, port_i), &(_, _, port_j)) in lower.iter().zip(&higher) {
        let end = |group: u32, port: u32| (group * dragonfly.a + port / dragonfly.h, port + 1);
        builder.ranked_link(end(i, port_i), end(j, port_j), LinkClass::Global);
    }
}
