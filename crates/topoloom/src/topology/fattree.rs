//! `fattree:k=10,levels=3`: the k-ary n-tree of k^levels terminals and levels * k^(levels-1) routers.
//!
//! A router is a level (0 = leaves) and a word of levels-1 digits in base k; its id is level * k^(levels-1) + word.
//! A router of level l is linked to the k routers of level l+1 whose words differ from its own in digit l at most
//! (digit 0 is the lowest): with three levels and words (a, b), leaf (a,b) - middle (a,c) and middle (a,b) - top
//! (c,b). Ports of a router: k down by the digit they set (terminals on a leaf), then k up by the digit they set;
//! the top level has its k down ports only. Terminal t hangs on leaf t / k. Link class: `up`.

use super::Family;
use super::params::{Key, Params, product};
use crate::error::Result;
use crate::network::{LinkClass, Network, NetworkBuilder, RouterId, Structure, WorstCase};

pub(super) const FAMILY: Family = Family {
    name: "fattree",
    summary: "k-ary n-tree: k^levels terminals",
    sizes: None,
    keys: &[
        Key { name: "k", doc: "ports down and ports up of a router, at least 2" },
        Key { name: "levels", doc: "levels of routers, at least 2" },
    ],
    example: "fattree:k=10,levels=3",
    source: "Petrini and Vanneschi, k-ary n-trees: high performance networks for massively parallel architectures, \
             IPPS 1997",
    build,
};

/// A k-ary n-tree's parameters, and what its routings ask.
#[derive(Debug)]
pub struct FatTree {
    /// Ports down, and ports up, of a router.
    pub k: u32,
    /// Levels of routers.
    pub levels: u32,
    /// k to the power of 0, 1, …, levels-1.
    powers: Vec<u32>,
}

impl FatTree {
    fn new(k: u32, levels: u32) -> Self {
        Self { k, levels, powers: (0..levels).map(|exponent| k.pow(exponent)).collect() }
    }

    /// Routers of one level.
    #[inline(always)]
    pub fn width(&self) -> u32 {
        self.powers[self.levels as usize - 1]
    }

    /// The level of a router, 0 for a leaf.
    #[inline(always)]
    pub fn level_of(&self, router: RouterId) -> u32 {
        router.0 / self.width()
    }

    /// The word of a router: its place in its level.
    #[inline(always)]
    pub fn word_of(&self, router: RouterId) -> u32 {
        router.0 % self.width()
    }

    /// Digit `place` (0 = lowest) of a router's word.
    #[inline(always)]
    pub fn digit(&self, router: RouterId, place: u32) -> u32 {
        router.0 / self.powers[place as usize] % self.k
    }

    /// True if only steps down lead from `router` to `leaf` (a router is an ancestor of itself).
    #[inline(always)]
    pub fn is_ancestor(&self, router: RouterId, leaf: RouterId) -> bool {
        let free = self.powers[self.level_of(router) as usize];
        self.word_of(router) / free == self.word_of(leaf) / free
    }

    /// The local port of `router`, above the leaves, that leads down towards `leaf`, of which it is an ancestor.
    #[inline(always)]
    pub fn down_port(&self, router: RouterId, leaf: RouterId) -> u32 {
        self.digit(leaf, self.level_of(router) - 1)
    }

    /// The local ports of `router` that lead up; none at the top.
    #[inline(always)]
    pub fn up_ports(&self, router: RouterId) -> std::ops::Range<u32> {
        if self.level_of(router) + 1 < self.levels { self.k..2 * self.k } else { self.k..self.k }
    }
}

impl Structure for FatTree {
    fn level(&self, router: RouterId) -> Option<u32> {
        Some(self.level_of(router))
    }

    /// A pod of k leaves and the k routers above them, then cabinets of k routers of each further level.
    fn cabinet(&self, router: RouterId) -> Option<u32> {
        let cabinets = self.width() / self.k;
        Some(self.level_of(router).saturating_sub(1) * cabinets + self.word_of(router) / self.k)
    }

    /// All packets go through the top level (Galaxyfly, section 5.1): one flit a cycle on every channel.
    fn worst_case(&self) -> WorstCase {
        WorstCase::AcrossTheTop
    }

    /// Short cables within a pod, as in the published packaging of the tree of Al-Fares et al.
    fn cabinet_cable_m(&self) -> f64 {
        1.0
    }

    /// Digits of words can be permuted place by place: all routers of a level are alike.
    fn orbits(&self) -> Vec<(RouterId, u32)> {
        (0..self.levels).map(|level| (RouterId(level * self.width()), self.width())).collect()
    }
}

fn build(params: &Params) -> Result<Network> {
    let (k, levels) = (params.required("k", 2)?, params.required("levels", 2)?);
    let terminals = u128::from(k).saturating_pow(levels);
    let width = terminals / u128::from(k);
    let links = product([terminals, u128::from(levels) - 1]);
    params.guard_size(product([width, levels.into()]), terminals, links)?;
    let tree = FatTree::new(k, levels);
    let width = tree.width();
    let mut builder = NetworkBuilder::new(levels * width);
    (0..width).for_each(|leaf| builder.terminals(leaf, k));
    for lower in 0..(levels - 1) * width {
        let (level, own) = (lower / width, tree.digit(RouterId(lower), lower / width));
        let step = tree.powers[level as usize];
        for digit in 0..k {
            let upper = lower + width - own * step + digit * step;
            builder.ranked_link((lower, k + digit), (upper, own), LinkClass::Up);
        }
    }
    builder.build(params.spec().to_owned(), FAMILY.name, Box::new(tree))
}
