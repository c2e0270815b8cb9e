//! HyperX (every dimension fully connected): dimension order, minimal routing over two orders, and their UGAL rule.

use super::twophase::BIAS;
use super::{AnyRouting, Minimal, Routing, Step, UgalRule, View};
use crate::catalogue::Arguments;
use crate::network::{Network, RouterId};
use crate::rng::Rng;

/// Minimal routing on a HyperX: one hop for each dimension that differs.
///
/// `ORDERS` = 1: dimensions in ascending order. `ORDERS` = 2: ascending or descending, drawn for each packet, each in a
/// VC class of its own.
pub struct HyperXMinimal<const ORDERS: u32> {
    sides: Vec<u32>,
    coordinates: Vec<u16>,
    /// Where a dimension's entries begin in a router's row of `ports`.
    offsets: Vec<u32>,
    /// Entries of a router's row: the sum of the sides.
    row: u32,
    trunk: u32,
    /// The output to each coordinate of each dimension: `trunk` parallel ones, router by router.
    ports: Vec<u16>,
}

impl<const ORDERS: u32> HyperXMinimal<ORDERS> {
    /// For a network with grid coordinates whose dimensions are fully connected; `None` if it has no grid.
    pub fn new(network: &Network) -> Option<Self> {
        let grid = network.any_structure().grid()?;
        let dims = grid.sides.len();
        let coordinates: Vec<u16> = network.routers().flat_map(|r| grid.coordinates(r.0)).map(|c| c as u16).collect();
        let offsets: Vec<u32> =
            grid.sides.iter().scan(0, |sum, side| Some(std::mem::replace(sum, *sum + side))).collect();
        let row: u32 = grid.sides.iter().sum();
        let pairs: u32 = grid.sides.iter().map(|side| side - 1).sum();
        let trunk = (network.network_radix() as u32).checked_div(pairs).unwrap_or(1);
        let mut ports = vec![u16::MAX; network.num_routers() * (row * trunk) as usize];
        for router in network.routers() {
            let own = &coordinates[router.index() * dims..][..dims];
            for (port, peer) in network.neighbors(router) {
                let other = &coordinates[peer.index() * dims..][..dims];
                let dim = (0..dims).find(|&d| own[d] != other[d])?;
                let entry = router.0 * row + offsets[dim] + u32::from(other[dim]);
                let parallel = &mut ports[(entry * trunk) as usize..][..trunk as usize];
                *parallel.iter_mut().find(|p| **p == u16::MAX)? = port as u16;
            }
        }
        Some(Self { sides: grid.sides.clone(), coordinates, offsets, row, trunk, ports })
    }

    #[inline(always)]
    fn place(&self, router: RouterId) -> &[u16] {
        let dims = self.sides.len();
        &self.coordinates[router.index() * dims..][..dims]
    }

    /// Routers in a line of dimension `dim`.
    #[inline(always)]
    pub fn side(&self, dim: usize) -> u32 {
        self.sides[dim]
    }

    /// The coordinate of a router in dimension `dim`.
    #[inline(always)]
    pub fn coordinate(&self, router: RouterId, dim: usize) -> u32 {
        self.place(router)[dim].into()
    }

    /// The parallel outputs of `at` to another coordinate of dimension `dim`.
    #[inline(always)]
    pub fn toward(&self, at: RouterId, dim: usize, coordinate: u32) -> &[u16] {
        let entry = at.0 * self.row + self.offsets[dim] + coordinate;
        &self.ports[(entry * self.trunk) as usize..][..self.trunk as usize]
    }

    /// The next dimension to correct, in the packet's order.
    #[inline(always)]
    pub fn dimension(&self, at: RouterId, target: RouterId, order: u32) -> usize {
        let (a, b) = (self.place(at), self.place(target));
        let differ = |d: &usize| a[*d] != b[*d];
        let dims = 0..self.sides.len();
        let found = if ORDERS == 2 && order == 1 { dims.rev().find(differ) } else { dims.into_iter().find(differ) };
        found.expect("the target is another router")
    }

    /// The dimensions with more than one router.
    pub fn dimensions(&self) -> u32 {
        self.sides.iter().filter(|&&side| side > 1).count() as u32
    }

    /// The dimensions in which two routers differ, as bits.
    #[inline(always)]
    pub fn unaligned(&self, at: RouterId, target: RouterId) -> u32 {
        let pairs = self.place(at).iter().zip(self.place(target)).enumerate();
        pairs.map(|(dim, (a, b))| u32::from(a != b) << dim).sum()
    }

    /// The outputs to the coordinate of `target` in dimension `dim`.
    #[inline(always)]
    pub fn straight(&self, at: RouterId, target: RouterId, dim: usize) -> &[u16] {
        self.toward(at, dim, self.coordinate(target, dim))
    }

    /// The other coordinates of the line in dimension `dim` than those of `at` and `target`, from the one `first` on.
    #[inline(always)]
    pub fn others(&self, at: RouterId, target: RouterId, dim: usize, first: u32) -> impl Iterator<Item = u32> {
        let side = self.side(dim);
        let (from, to) = (self.coordinate(at, dim), self.coordinate(target, dim));
        (first..side).chain(0..first).filter(move |&other| other != from && other != to)
    }

    /// The best detour in the line of dimension `dim`, by its queue, over the outputs that are `open`; on a tie the first
    /// from a random coordinate on.
    #[inline(always)]
    pub fn line_detour<V: View>(
        &self,
        [at, target]: [RouterId; 2],
        dim: usize,
        view: &V,
        rng: &mut Rng,
        open: impl Fn(u16) -> bool,
    ) -> Option<(u32, u16)> {
        let others = self.others(at, target, dim, rng.below(self.side(dim)));
        let outputs = others.flat_map(|other| self.toward(at, dim, other)).filter(|port| open(**port));
        outputs.map(|&port| (view.queue(port.into()), port)).min_by_key(|(queue, _)| *queue)
    }

    /// The best detour in any of the dimensions `dims`, and its dimension.
    #[inline(always)]
    pub fn best_detour<V: View>(
        &self,
        ends: [RouterId; 2],
        dims: u32,
        view: &V,
        rng: &mut Rng,
        open: impl Fn(u16) -> bool,
    ) -> Option<(u32, u16, usize)> {
        let detours = each(dims).filter_map(|dim| {
            let (queue, port) = self.line_detour(ends, dim, view, rng, &open)?;
            Some((queue, port, dim))
        });
        detours.min_by_key(|(queue, ..)| *queue)
    }

    #[inline(always)]
    fn outputs(&self, at: RouterId, order: u32, target: RouterId) -> &[u16] {
        let dim = self.dimension(at, target, order);
        self.toward(at, dim, self.coordinate(target, dim))
    }
}

/// Makes a routing that weighs detours on a HyperX, of its dimension order and the bias that a user gives, or else that
/// of its UGAL rule; `None` if the network is none.
pub fn weighing<R: Routing + 'static>(
    network: &Network,
    given: &Arguments,
    make: impl FnOnce(HyperXMinimal<1>, u32) -> R,
) -> Option<AnyRouting> {
    let minimal = HyperXMinimal::new(network)?;
    let bias = given.count(BIAS.name).unwrap_or(minimal.ugal().bias);
    Some(AnyRouting::new(make(minimal, bias)))
}

/// The shortest of outputs' queues, and its output.
#[inline(always)]
pub fn shortest<V: View>(outputs: &[u16], view: &V) -> (u32, u16) {
    let queues = outputs.iter().map(|&port| (view.queue(port.into()), port));
    queues.min().expect("two routers of a line have a link")
}

/// The dimensions in a set of bits, lowest first.
#[inline(always)]
pub fn each(mut bits: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let dim = bits.checked_ilog2().map(|_| bits.trailing_zeros() as usize);
        bits &= bits.wrapping_sub(1);
        dim
    })
}

impl<const ORDERS: u32> Minimal for HyperXMinimal<ORDERS> {
    fn classes(&self) -> u32 {
        ORDERS
    }

    fn begins(&self) -> Vec<u32> {
        (0..ORDERS).collect()
    }

    #[inline(always)]
    fn begin(&self, rng: &mut Rng) -> u32 {
        if ORDERS == 2 { u32::from(rng.coin()) } else { 0 }
    }

    fn steps(&self, at: RouterId, bits: u32, target: RouterId, out: &mut Vec<Step>) {
        let outputs = self.outputs(at, bits, target).iter();
        out.extend(outputs.map(|&port| Step { port, class: bits as u8, bits }));
    }

    #[inline(always)]
    fn step(&self, at: RouterId, bits: u32, target: RouterId, rng: &mut Rng) -> Step {
        let outputs = self.outputs(at, bits, target);
        let port = if self.trunk == 1 { outputs[0] } else { outputs[rng.below(self.trunk) as usize] };
        Step { port, class: bits as u8, bits }
    }

    #[inline(always)]
    fn hops(&self, from: RouterId, to: RouterId) -> u32 {
        self.place(from).iter().zip(self.place(to)).map(|(a, b)| u32::from(a != b)).sum()
    }

    fn ugal(&self) -> UgalRule {
        UgalRule { weights: None, bias: 2, bias_by_sent: 2 }
    }

    /// Drawn within the dimensions in which source and destination differ, so that the detour never leaves them.
    #[inline(always)]
    fn candidate(&self, src: RouterId, dst: RouterId, _routers: u32, rng: &mut Rng) -> Option<RouterId> {
        let (a, b) = (self.place(src), self.place(dst));
        let (mut id, mut stride) = (0, 1);
        for (dim, &side) in self.sides.iter().enumerate() {
            let c = if a[dim] == b[dim] { u32::from(a[dim]) } else { rng.below(side) };
            id += c * stride;
            stride *= side;
        }
        (id != src.0 && id != dst.0).then_some(RouterId(id))
    }
}
