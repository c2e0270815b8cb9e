//! Routing on subtori under an upper network. Within a subtorus: dimension order in the shorter direction, on a tie in
//! the direction of the difference of the coordinates. To another subtorus: so to the uplink that the source uses, over
//! the upper network to the one that the destination uses, and so on to the destination.
//!
//! `dor`: in the tree up to the lowest common stage by the digits of the uplink's number, lowest first, and down; in
//! the generalised hypercube digit by digit, lowest first. There is one path from each router to each.
//!
//! `nca` draws each output up the tree, or the next digit of those that are still to be corrected; `anca` takes the
//! less occupied of two that are drawn.
//!
//! Classes: packets towards an uplink have others than those that have only a subtorus left to cross, so that uplinks
//! wait for the latter alone. Either have two, for the hops before and after the wrap-around link, unless no dimension
//! takes two hops (t < 4). The upper network is free of cycles in any class: its links take that of their uplink's
//! number, modulo the classes. Only where digits of the hypercube are corrected in any order, they take that of the
//! number of digits left, which falls with each.

use std::sync::Arc;

use super::{Move, PacketState, Routing, View};
use crate::network::{Network, RouterId};
use crate::rng::Rng;
use crate::topology::{Nest, Upper};

/// The bits of a packet that is in its destination's subtorus for good; of any other they are the number of the uplink
/// that it heads for or, while it crosses the upper network, that it left.
const LAST: u32 = u32::MAX;
/// The port of an endpoint's first link.
const TORUS: u16 = 1;
/// The port of its first link up.
const UP: u16 = 7;

/// Which of several outputs a packet takes in the upper network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ways {
    /// The one that the uplinks' numbers name.
    Fixed,
    /// Any, at random.
    Drawn,
    /// The less occupied of two drawn ones; the first on a tie.
    Compared,
}

/// The outputs that a packet may take at a router.
#[derive(Debug, Clone, Copy)]
enum Outputs {
    /// This one alone.
    One(u16),
    /// This many from the first on.
    Up(u16, u16),
    /// The links up of the dimensions whose bits are set.
    Dimensions(u32),
}

impl Outputs {
    fn count(self) -> u32 {
        match self {
            Self::One(_) => 1,
            Self::Up(_, count) => count.into(),
            Self::Dimensions(differ) => differ.count_ones(),
        }
    }

    fn nth(self, n: u32) -> u16 {
        match self {
            Self::One(port) => port,
            Self::Up(first, _) => first + n as u16,
            Self::Dimensions(differ) => {
                let rest = (0..n).fold(differ, |rest, _| rest & (rest - 1));
                UP + rest.trailing_zeros() as u16
            }
        }
    }
}

/// What a packet may do next: its outputs, and the class and the bits that it has behind any of them.
struct Next {
    outputs: Outputs,
    class: u8,
    bits: u32,
}

impl Next {
    fn by(&self, port: u16) -> Move {
        Move { port, class: self.class, next: PacketState::direct(self.bits) }
    }
}

/// Routing on `nesttree` and `nestghc`.
pub struct NestRouting {
    nest: Arc<Nest>,
    /// VC classes of one direction: to the uplink, or from it.
    rings: u32,
    ways: Ways,
}

impl NestRouting {
    /// `None` unless the network is nested.
    pub fn new(network: &Network, ways: Ways) -> Option<Self> {
        let nest = network.shared_structure::<Nest>()?;
        Some(Self { rings: if nest.side > 3 { 2 } else { 1 }, nest, ways })
    }

    #[inline(always)]
    fn nest(&self) -> &Nest {
        &self.nest
    }

    fn starting(&self, src: RouterId, dst: RouterId) -> PacketState {
        let nest = self.nest();
        let same = src.0 / nest.subtorus() == dst.0 / nest.subtorus();
        PacketState::direct(if same { LAST } else { nest.uplink_of(src.0) })
    }

    fn next(&self, at: RouterId, bits: u32, dst: RouterId) -> Next {
        let nest = self.nest();
        if bits == LAST {
            return self.around(at.0, dst.0, bits);
        }
        let to = nest.uplink_of(dst.0);
        if at.0 < nest.endpoints {
            let gate = nest.holder_of(bits);
            return if at.0 == gate { self.up(bits, to) } else { self.around(at.0, gate, bits) };
        }
        match &nest.upper {
            Upper::Tree(tree) => {
                let (level, group, _) = tree.place(at);
                let (level, low) = (level as usize, nest.stride(level as usize));
                let size = nest.sizes[level];
                let below = to / (low * size) == group;
                let outputs = match self.ways {
                    _ if below => Outputs::One((to / low % size) as u16),
                    Ways::Fixed => Outputs::One((size + bits / low % size) as u16),
                    Ways::Drawn | Ways::Compared => Outputs::Up(size as u16, size as u16),
                };
                let next = if below && level == 0 { LAST } else { bits };
                let uplink = if next == LAST { to } else { bits };
                Next { outputs, class: self.upper_class(uplink), bits: next }
            }
            Upper::Ghc(first) => {
                let (dimension, _) = Nest::dimension_of(first, at);
                let (low, size) = (nest.stride(dimension), nest.sizes[dimension]);
                let digit = to / low % size;
                let next = bits - bits / low % size * low + digit * low;
                let class = if self.ways == Ways::Fixed { self.upper_class(next) } else { self.left(bits, to) };
                Next { outputs: Outputs::One(digit as u16), class, bits: if next == to { LAST } else { next } }
            }
        }
    }

    /// The dimensions in which two uplinks differ, a bit each.
    fn differ(&self, from: u32, to: u32) -> u32 {
        let nest = self.nest();
        let digit = |uplink: u32, i: usize| uplink / nest.stride(i) % nest.sizes[i];
        (0..nest.sizes.len()).filter(|&i| digit(from, i) != digit(to, i)).fold(0, |found, i| found | 1 << i)
    }

    /// The class of a link of the upper network by the number of an uplink.
    fn upper_class(&self, uplink: u32) -> u8 {
        (uplink % self.classes()) as u8
    }

    /// The class of a hop of the generalised hypercube by the digits that are still to be corrected.
    fn left(&self, from: u32, to: u32) -> u8 {
        self.differ(from, to).count_ones() as u8 - 1
    }

    /// The hop from an endpoint with uplink `from` into the upper network.
    fn up(&self, from: u32, to: u32) -> Next {
        let tree = matches!(self.nest().upper, Upper::Tree(_));
        let differ = self.differ(from, to);
        let (outputs, class) = match self.ways {
            _ if tree => (Outputs::One(UP), self.upper_class(from)),
            Ways::Fixed => (Outputs::One(UP + differ.trailing_zeros() as u16), self.upper_class(from)),
            Ways::Drawn | Ways::Compared => (Outputs::Dimensions(differ), self.left(from, to)),
        };
        Next { outputs, class, bits: from }
    }

    /// Links of the path between two endpoints of a subtorus.
    fn round(&self, from: u32, to: u32) -> u32 {
        let t = self.nest().side;
        let gap = |stride: u32| (from / stride % t).abs_diff(to / stride % t);
        [1, t, t * t].into_iter().map(gap).map(|gap| gap.min(t - gap)).sum()
    }

    /// The next hop in a subtorus.
    fn around(&self, at: u32, to: u32, bits: u32) -> Next {
        let t = self.nest().side;
        let differs = |stride: &u32| at / stride % t != to / stride % t;
        let strides = [1, t, t * t];
        let dimension = strides.iter().position(differs).expect("another endpoint");
        let [from, to] = [at, to].map(|endpoint| endpoint / strides[dimension] % t);
        let ahead = if to > from { to - from } else { to + t - from };
        let minus = if 2 * ahead == t { to < from } else { 2 * ahead > t };
        let wraps = if minus { to > from } else { to < from };
        let class = u32::from(bits == LAST) * self.rings + u32::from(wraps && self.rings > 1);
        let port = TORUS + 2 * dimension as u16 + u16::from(minus);
        Next { outputs: Outputs::One(port), class: class as u8, bits }
    }
}

impl Routing for NestRouting {
    fn classes(&self) -> u32 {
        let nest = self.nest();
        match nest.upper {
            Upper::Ghc(_) if self.ways != Ways::Fixed => (2 * self.rings).max(nest.sizes.len() as u32),
            _ => 2 * self.rings,
        }
    }

    fn starts(&self, src: RouterId, dst: RouterId, out: &mut Vec<PacketState>) {
        out.push(self.starting(src, dst));
    }

    fn moves(&self, at: RouterId, state: PacketState, dst: RouterId, out: &mut Vec<Move>) {
        let next = self.next(at, state.bits, dst);
        out.extend((0..next.outputs.count()).map(|n| next.by(next.outputs.nth(n))));
    }

    fn start<V: View>(&self, src: RouterId, dst: RouterId, _view: &V, _rng: &mut Rng) -> PacketState {
        self.starting(src, dst)
    }

    fn choose<V: View>(&self, at: RouterId, state: PacketState, dst: RouterId, view: &V, rng: &mut Rng) -> Move {
        let next = self.next(at, state.bits, dst);
        let count = next.outputs.count();
        if count == 1 {
            return next.by(next.outputs.nth(0));
        }
        let one = next.outputs.nth(rng.below(count));
        if self.ways == Ways::Drawn {
            return next.by(one);
        }
        let other = next.outputs.nth(rng.below(count));
        next.by(if view.occupancy(other.into()) < view.occupancy(one.into()) { other } else { one })
    }

    fn hops(&self, src: RouterId, dst: RouterId) -> Option<u32> {
        let nest = self.nest();
        if src.0 / nest.subtorus() == dst.0 / nest.subtorus() {
            return Some(self.round(src.0, dst.0));
        }
        let [from, to] = [src, dst].map(|end| nest.uplink_of(end.0));
        let ends = self.round(src.0, nest.holder_of(from)) + self.round(nest.holder_of(to), dst.0);
        let (mut stages, mut differ, mut a, mut b) = (0, 0, from, to);
        for (stage, size) in (1..).zip(&nest.sizes) {
            if a % size != b % size {
                (stages, differ) = (stage, differ + 1);
            }
            (a, b) = (a / size, b / size);
        }
        // Two links per stage, up and down; two per dimension, to the switch and from it.
        Some(ends + 2 * if matches!(nest.upper, Upper::Tree(_)) { stages } else { differ })
    }

    fn oblivious(&self) -> bool {
        self.ways != Ways::Compared
    }
}
