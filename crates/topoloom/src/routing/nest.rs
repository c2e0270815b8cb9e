//! Routing on subtori under an upper network. Within a subtorus: dimension order, the shorter way round, on a tie in the
//! direction of the difference of the coordinates. To another subtorus: so to the uplink that the source uses, over the
//! upper network to the one that the destination uses, and so on to the destination.
//!
//! In the tree up to the lowest common stage by the digits of the uplink's number, lowest first, and down; in the
//! generalised hypercube digit by digit, lowest first. There is one way from each router to each.
//!
//! Classes: packets on their way to an uplink have others than those that have only a subtorus left to cross, so that
//! uplinks wait for the latter alone. Either have two, for the hops before and after the wrap-around link, unless no
//! dimension takes two hops (t < 4). The upper network is free of cycles in any class: its links take that of their
//! uplink's number, modulo the classes.

use super::{Move, PacketState, Routing, View};
use crate::network::{Network, RouterId};
use crate::rng::Rng;
use crate::topology::{Nest, Upper};

/// The bits of a packet that is in its destination's subtorus for good; of any other they are the number of the uplink
/// that it heads for or, on the way over the upper network, that it left.
const LAST: u32 = u32::MAX;
/// The port of an endpoint's first link.
const TORUS: u16 = 1;
/// The port of its first link up.
const UP: u16 = 7;

/// Routing on `nesttree` and `nestghc`.
pub struct NestRouting {
    /// Keeps the network's structure.
    network: Network,
    /// VC classes of one direction: to the uplink, or from it.
    rings: u32,
}

impl NestRouting {
    /// `None` unless the network is nested.
    pub fn new(network: &Network) -> Option<Self> {
        let nest = network.structure::<Nest>()?;
        Some(Self { network: network.clone(), rings: if nest.side > 3 { 2 } else { 1 } })
    }

    #[inline(always)]
    fn nest(&self) -> &Nest {
        self.network.structure().expect("a nested network")
    }

    fn starting(&self, src: RouterId, dst: RouterId) -> PacketState {
        let nest = self.nest();
        let same = src.0 / nest.subtorus() == dst.0 / nest.subtorus();
        PacketState::direct(if same { LAST } else { nest.uplink_of(src.0) })
    }

    fn hop(&self, at: RouterId, bits: u32, dst: RouterId) -> Move {
        let nest = self.nest();
        if bits == LAST {
            return self.around(at.0, dst.0, bits);
        }
        let to = nest.uplink_of(dst.0);
        if at.0 < nest.endpoints {
            let gate = nest.holder_of(bits);
            return if at.0 == gate { self.up(bits, to) } else { self.around(at.0, gate, bits) };
        }
        let (port, bits) = match &nest.upper {
            Upper::Tree(tree) => {
                let (level, group, _) = tree.place(at);
                let (level, low) = (level as usize, nest.stride(level as usize));
                let size = nest.sizes[level];
                let below = to / (low * size) == group;
                let digit = if below { to / low % size } else { bits / low % size };
                let port = if below { digit } else { size + digit };
                (port, if below && level == 0 { LAST } else { bits })
            }
            Upper::Ghc(first) => {
                let (dimension, _) = Nest::dimension_of(first, at);
                let (low, size) = (nest.stride(dimension), nest.sizes[dimension]);
                let digit = to / low % size;
                let next = bits - bits / low % size * low + digit * low;
                (digit, if next == to { LAST } else { next })
            }
        };
        self.go(port as u16, bits, to)
    }

    /// The hop from an endpoint with uplink `from` into the upper network.
    fn up(&self, from: u32, to: u32) -> Move {
        let nest = self.nest();
        let digit = |uplink: u32, i: usize| uplink / nest.stride(i) % nest.sizes[i];
        let differs = |&i: &usize| digit(from, i) != digit(to, i);
        let port = match nest.upper {
            Upper::Tree(_) => UP,
            Upper::Ghc(_) => UP + (0..nest.sizes.len()).find(differs).expect("another uplink") as u16,
        };
        self.go(port, from, to)
    }

    /// A hop over a link of the upper network.
    fn go(&self, port: u16, bits: u32, to: u32) -> Move {
        let uplink = if bits == LAST { to } else { bits };
        Move { port, class: (uplink % self.classes()) as u8, next: PacketState::direct(bits) }
    }

    /// Links of the way between two endpoints of a subtorus.
    fn round(&self, from: u32, to: u32) -> u32 {
        let t = self.nest().side;
        let gap = |stride: u32| (from / stride % t).abs_diff(to / stride % t);
        [1, t, t * t].into_iter().map(gap).map(|gap| gap.min(t - gap)).sum()
    }

    /// The next hop in a subtorus.
    fn around(&self, at: u32, to: u32, bits: u32) -> Move {
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
        Move { port, class: class as u8, next: PacketState::direct(bits) }
    }
}

impl Routing for NestRouting {
    fn classes(&self) -> u32 {
        2 * self.rings
    }

    fn starts(&self, src: RouterId, dst: RouterId, out: &mut Vec<PacketState>) {
        out.push(self.starting(src, dst));
    }

    fn moves(&self, at: RouterId, state: PacketState, dst: RouterId, out: &mut Vec<Move>) {
        out.push(self.hop(at, state.bits, dst));
    }

    fn start<V: View>(&self, src: RouterId, dst: RouterId, _view: &V, _rng: &mut Rng) -> PacketState {
        self.starting(src, dst)
    }

    fn choose<V: View>(&self, at: RouterId, state: PacketState, dst: RouterId, _view: &V, _rng: &mut Rng) -> Move {
        self.hop(at, state.bits, dst)
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
        // Two links a stage, up and down; two a dimension, to the switch and from it.
        Some(ends + 2 * if matches!(nest.upper, Upper::Tree(_)) { stages } else { differ })
    }

    fn oblivious(&self) -> bool {
        true
    }
}
