//! Extended generalised fat trees: what `fattree`, `clos` and `xgft` have in common.
//!
//! A tree of n levels has down(0) terminals on a leaf, down(i) links down from a router of level i > 0 and up(i) links
//! up from a router of level i < n - 1. A router of level i is (g, r): the group of leaves below it, 0 ≤ g <
//! down(i+1) … down(n-1), and one of the copies(i) = up(0) … up(i-1) routers above just these leaves. Its id is that of
//! the level's first router + g copies(i) + r; levels follow each other, leaves first, so that ids of the routers below
//! a router are consecutive in each level.
//!
//! Up port p of (g, r) leads to the router (g / down(i+1), r') of level i+1, where r' is r + p copies(i), or r up(i) +
//! p depending on [`Copies`]; the port there is down port g % down(i+1). Ports of a router: terminals or ports down,
//! then ports up. Terminal t is at leaf t / down(0). Link class: `up`. With a trunk(i) of two or more, that many links
//! join the two routers, on ports that follow each other.

use super::params::{Params, product};
use crate::catalogue::grammar::sides;
use crate::catalogue::{Key, Kind};
use crate::error::{Error, Result, several};
use crate::network::{LinkClass, Network, NetworkBuilder, RouterId, Structure, WorstCase};

/// The key of trees whose links up are as many as those down, unless it is given.
pub(super) const TAPER: Key = Key::new(
    "taper",
    Kind::Text("a number from 1 up, or several as in 2x1.5, leaves first"),
    "divides the links up from the leaves, or (2x1.5) from each level, leaves first (default 1)",
);

/// More levels have more terminals than ids can name, every router having two links down at least.
const MOST_LEVELS: u32 = 31;

/// How the routers above the same leaves are numbered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Copies {
    /// r' = r + p copies(i): those that one router is linked to are spread (k-ary n-trees, XGFT).
    Spread,
    /// r' = r up(i) + p: those that one router is linked to are consecutive (the cores of Al-Fares et al.).
    Consecutive,
}

/// The parameters of a tree, and what is special about it.
#[derive(Debug)]
pub struct Tree {
    /// Terminals of a leaf, then routers below a router of each further level.
    pub down: Vec<u32>,
    /// Routers that a router of each level but the last is linked to above.
    pub up: Vec<u32>,
    /// Links between two routers that are linked, of each level but the last.
    pub trunk: Vec<u32>,
    /// The numbering of routers above the same leaves.
    pub copies: Copies,
    /// Routers that a cabinet above the pods holds.
    pub cabinet_size: u32,
    /// The first router of each level, and the number of all.
    first: Vec<u32>,
}

impl Tree {
    /// Levels of routers.
    pub fn levels(&self) -> u32 {
        self.down.len() as u32
    }

    /// The first router of a level, 0 for the leaves.
    pub fn first(&self, level: u32) -> u32 {
        self.first[level as usize]
    }

    /// Routers of a level.
    pub fn width(&self, level: u32) -> u32 {
        self.first(level + 1) - self.first(level)
    }

    /// Links from a router of a level to one below it that it is linked to, or to a terminal.
    pub fn trunk_below(&self, level: usize) -> u32 {
        if level == 0 { 1 } else { self.trunk[level - 1] }
    }

    /// Ports down of a router of a level.
    pub fn down_ports(&self, level: usize) -> u32 {
        self.down[level] * self.trunk_below(level)
    }

    /// Routers of a level that stand above the same leaves.
    pub fn copies(&self, level: u32) -> u32 {
        self.up[..level as usize].iter().product()
    }

    /// The level of a router, 0 for a leaf.
    pub fn level_of(&self, router: RouterId) -> u32 {
        self.first.partition_point(|&first| first <= router.0) as u32 - 1
    }

    /// The level, group and copy of a router: see the module's documentation.
    pub fn place(&self, router: RouterId) -> (u32, u32, u32) {
        let level = self.level_of(router);
        let (place, copies) = (router.0 - self.first(level), self.copies(level));
        (level, place / copies, place % copies)
    }

    /// The tree without its routers' cabinets, its routers numbered from `base` on.
    pub(super) fn above(base: u32, down: Vec<u32>, up: Vec<u32>, copies: Copies) -> Self {
        let trunk = vec![1; up.len()];
        let mut tree = Self { down, up, trunk, copies, cabinet_size: 1, first: Vec::new() };
        let widths = (0..tree.down.len()).map(|level| {
            let groups: u32 = tree.down[level + 1..].iter().product();
            groups * tree.copies(level as u32)
        });
        let first = std::iter::once(base).chain(widths.scan(base, |sum, width| {
            *sum += width;
            Some(*sum)
        }));
        tree.first = first.collect();
        tree
    }

    /// Adds the links between all levels.
    pub(super) fn link_levels(&self, builder: &mut NetworkBuilder) {
        for level in 0..self.levels() - 1 {
            let copies = self.copies(level);
            for place in 0..self.width(level) {
                self.link(builder, level, place / copies, place % copies);
            }
        }
    }

    fn link(&self, builder: &mut NetworkBuilder, level: u32, group: u32, copy: u32) {
        let (down, up, trunk) = (self.down[level as usize + 1], self.up[level as usize], self.trunk[level as usize]);
        let (copies, parents) = (self.copies(level), self.copies(level + 1));
        let lower = self.first(level) + group * copies + copy;
        let first = self.first(level + 1) + group / down * parents;
        let below = self.down_ports(level as usize);
        for port in 0..up {
            let copy = match self.copies {
                Copies::Spread => copy + port * copies,
                Copies::Consecutive => copy * up + port,
            };
            for link in 0..trunk {
                let ranks = [below + port * trunk + link, group % down * trunk + link];
                builder.ranked_link((lower, ranks[0]), (first + copy, ranks[1]), LinkClass::Up);
            }
        }
    }
}

impl Structure for Tree {
    fn level(&self, router: RouterId) -> Option<u32> {
        Some(self.level_of(router))
    }

    /// A pod, which is the leaves below a router of the second level and all routers above just these, then cabinets of
    /// [`Tree::cabinet_size`] routers of each further level.
    fn cabinet(&self, router: RouterId) -> Option<u32> {
        let (level, group, _) = self.place(router);
        let pods = self.width(1) / self.copies(1);
        Some(match level {
            0 => group / self.down[1],
            1 => group,
            _ => {
                let below: u32 = (2..level).map(|level| self.width(level).div_ceil(self.cabinet_size)).sum();
                pods + below + (router.0 - self.first(level)) / self.cabinet_size
            }
        })
    }

    /// Short cables within a pod: with them, cabinets row by row cost what the FleX paper's table 6 states about a fat tree.
    fn cabinet_cable_m(&self) -> f64 {
        1.0
    }

    /// All packets go through the top level (Galaxyfly, section 5.1): without a taper one flit per cycle on every
    /// channel.
    fn worst_case(&self) -> WorstCase {
        WorstCase::AcrossTheTop
    }

    /// Groups and copies can be permuted digit by digit: all routers of a level are alike.
    fn orbits(&self) -> Vec<(RouterId, u32)> {
        (0..self.levels()).map(|level| (RouterId(self.first(level)), self.width(level))).collect()
    }
}

/// Builds the tree that `family` asks for: `down` and `up` neighbours of a router, level by level, and links to each
/// above.
pub(super) fn build(
    params: &Params,
    family: &'static str,
    [down, up, trunk]: [Vec<u32>; 3],
    copies: Copies,
    cabinet_size: u32,
) -> Result<Network> {
    let routers = |level: usize| product(down[level + 1..].iter().chain(&up[..level]).copied());
    let above = |level: usize| product([up[level], trunk[level]]);
    let links = (0..up.len()).fold(0u128, |sum, i| sum.saturating_add(routers(i).saturating_mul(above(i))));
    let all = (0..down.len()).fold(0u128, |sum, level| sum.saturating_add(routers(level)));
    params.guard_size(all, product(down.iter().copied()), links)?;
    let tree = Tree { cabinet_size, trunk, ..Tree::above(0, down, up, copies) };
    let mut builder = NetworkBuilder::new(all as u32);
    (0..tree.width(0)).for_each(|leaf| builder.terminals(leaf, tree.down[0]));
    tree.link_levels(&mut builder);
    builder.build(params.spec().to_owned(), family, Box::new(tree))
}

/// The key `levels`: 2 or more.
pub(super) fn levels(params: &Params) -> Result<u32> {
    let levels = params.required("levels")?;
    if levels > MOST_LEVELS {
        let spec = params.spec();
        return Err(Error::TooLarge(format!("{spec}: levels is {levels}; at most {MOST_LEVELS} are possible")));
    }
    Ok(levels)
}

/// The links up from a router of each level, if it would have `full` of them: `taper` divides them, one number for the
/// leaves alone or, as in `2x1.5`, one for each level from the leaves on.
pub(super) fn tapered(params: &Params, full: u32, levels: u32) -> Result<Vec<u32>> {
    let mut up = vec![full; levels as usize - 1];
    let Some(text) = params.text("taper") else { return Ok(up) };
    let tapers: Vec<&str> = sides(text).collect();
    if tapers.len() > up.len() {
        let most = up.len();
        return Err(params
            .mistake(format!("taper has {}; {levels} levels have at most {most}", several(tapers.len(), "number"))));
    }
    for (up, text) in up.iter_mut().zip(tapers) {
        let taper = text.parse::<f64>().ok().filter(|taper| *taper >= 1.0 && taper.is_finite());
        let taper = taper.ok_or_else(|| not_a_taper(params, text))?;
        // 1e-9: where decimals stand for a quotient, as 1.2 does for 6 / 5.
        *up = (f64::from(full) / taper + 1e-9) as u32;
        if *up == 0 {
            return Err(params.mistake(format!(
                "taper={text} leaves no uplink: a router has {} up without a taper, so at most {full} is possible",
                several(full, "link")
            )));
        }
    }
    Ok(up)
}

fn not_a_taper(params: &Params, text: &str) -> Error {
    params.mistake(format!("taper is '{text}'; it must be a number from 1 up, or several as in 2x1.5, leaves first"))
}
