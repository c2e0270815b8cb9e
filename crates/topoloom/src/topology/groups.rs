//! The global links of groups that are alike: which global port of a group leads to which other group. The dragonfly
//! and the dragonfly+ have them in common; the arrangements are documented with the dragonfly.

use super::params::Params;
use crate::catalogue::{Key, Kind};
use crate::error::Result;
use crate::network::{LinkClass, NetworkBuilder};
use crate::rng::Rng;

/// The keys of families with global links.
pub(super) const ARRANGEMENT: Key = Key::new(
    "arrangement",
    Kind::Choice(&["absolute", "relative", "palmtree", "circulant", "random"]),
    "of the global links: absolute, relative, palmtree, circulant or random (default absolute)",
);
pub(super) const SEED: Key = Key::new("seed", Kind::count(0), "of arrangement=random (default 1)");

/// The order in which the global ports of a group lead to the other groups. See the dragonfly's module.
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

/// Groups with equally many global ports, and how these are joined.
#[derive(Debug, Clone, Copy)]
pub(super) struct Groups {
    /// The number of groups.
    pub count: u32,
    /// Global ports of a group.
    pub ports: u32,
    /// Links between each pair of groups, if fewer than the ports allow; the ports left over then have none.
    pub each: Option<u32>,
    /// Where they lead.
    pub arrangement: Arrangement,
}

impl Groups {
    /// The other groups in the order in which the ports of group `own` lead there, in one round.
    fn order(&self, own: u32) -> Vec<u32> {
        let others = 1..self.count;
        match self.arrangement {
            Arrangement::Absolute | Arrangement::Random(_) => (0..self.count).filter(|&peer| peer != own).collect(),
            Arrangement::Relative => others.map(|step| (own + step) % self.count).collect(),
            Arrangement::Palmtree => others.map(|step| (own + self.count - step) % self.count).collect(),
            Arrangement::Circulant => others
                .map(|k| if k % 2 == 1 { k.div_ceil(2) } else { self.count - k / 2 })
                .map(|step| (own + step) % self.count)
                .collect(),
        }
    }

    /// True if two groups are joined by one of the ports that are left when every pair has its equal share.
    fn joined_by_rest(&self, a: u32, b: u32) -> bool {
        let rest = self.ports % (self.count - 1);
        let step = a.abs_diff(b).min(self.count - a.abs_diff(b));
        if step <= rest / 2 {
            return true;
        }
        if rest.is_multiple_of(2) {
            return false;
        }
        // One port more in each group: a perfect matching, or with an odd number of groups one that leaves one out.
        let half = self.count / 2;
        if self.count.is_multiple_of(2) {
            return step == half;
        }
        // Steps of `half` visit all the groups in one cycle (2 * half = -1 modulo g): every other one of them.
        let place = |group: u32| (2 * u64::from(self.count - group) % u64::from(self.count)) as u32;
        let (first, second) = (place(a).min(place(b)), place(a).max(place(b)));
        second == first + 1 && first % 2 == 0
    }

    /// Where the global ports of group `own` lead, by port index; `None` for a port without a link.
    fn peers(&self, own: u32) -> Vec<Option<u32>> {
        if self.count == 1 {
            return vec![None; self.ports as usize];
        }
        let order = self.order(own);
        let rounds = self.each.unwrap_or(self.ports / (self.count - 1)) as usize;
        let rest = order.iter().filter(|&&peer| self.each.is_none() && self.joined_by_rest(own, peer));
        let mut peers: Vec<Option<u32>> = order.repeat(rounds).iter().chain(rest).map(|&peer| Some(peer)).collect();
        peers.resize(self.ports as usize, None);
        if let Arrangement::Random(seed) = self.arrangement {
            Rng::stream(u64::from(seed), u64::from(own)).shuffle(&mut peers);
        }
        peers
    }

    /// Joins the n-th port of group i that leads to group j with the n-th port of j that leads to i; `end` states on
    /// which router and rank a port (group, index) is.
    pub fn link(&self, builder: &mut NetworkBuilder, end: impl Fn(u32, u32) -> (u32, u32)) {
        // (lower group, higher group, port index in the one) and in the other: sorted, the two lists match line by line.
        let (mut lower, mut higher) = (Vec::new(), Vec::new());
        for own in 0..self.count {
            for (port, peer) in (0u32..).zip(self.peers(own)) {
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
            builder.ranked_link(end(i, port_i), end(j, port_j), LinkClass::Global);
        }
    }
}

/// The key `g`: as many groups as `ports` global ports of a group can link, which is `most` in terms of the keys, or fewer.
pub(super) fn read_count(params: &Params, ports: u64, most: &str) -> Result<u64> {
    match params.count("g").map(u64::from) {
        Some(g) if g > ports + 1 => {
            Err(params.mistake(format!("g is {g}; at most {most} = {} groups can be linked", ports + 1)))
        }
        g => Ok(g.unwrap_or(ports + 1)),
    }
}

/// The keys `arrangement` and `seed`.
pub(super) fn read_arrangement(params: &Params) -> Result<Arrangement> {
    let seed = params.count("seed");
    let name = params.choice("arrangement");
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
