//! HyperX (every dimension fully connected): dimension order, minimal routing over two orders, and their UGAL rule.

use super::coordinates::{Coordinates, count, dimension_of, lane_of, lanes};
use super::twophase::BIAS;
use super::{AnyRouting, Minimal, OutputRow, Routing, Step, UgalRule, View};
use crate::catalogue::Arguments;
use crate::network::{Network, RouterId};
use crate::rng::Rng;

/// Minimal routing on a HyperX: one hop for each dimension that differs.
///
/// `ORDERS` = 1: dimensions in ascending order. `ORDERS` = 2: ascending or descending, drawn for each packet, each in a
/// VC class of its own.
pub struct HyperXMinimal<const ORDERS: u32> {
    /// The side of each dimension, and by how much the id of a router grows with its coordinate there.
    lines: Vec<(u32, u32)>,
    coordinates: Coordinates,
    /// Where a dimension's entries begin in a router's row of `ports`.
    offsets: Vec<u32>,
    /// Entries of a router's row: the sum of the sides, times `trunk`.
    row: u32,
    /// By router, packed: where the entries of its coordinate begin in each dimension. Empty if that does not fit into a word.
    entries: Vec<u64>,
    trunk: u32,
    /// The output to each coordinate of each dimension: `trunk` parallel ones, router by router.
    ports: Vec<u16>,
    /// The outputs of every line have consecutive numbers, one to each of the other coordinates, in their order.
    consecutive: bool,
}

impl<const ORDERS: u32> HyperXMinimal<ORDERS> {
    /// For a network with grid coordinates whose dimensions are fully connected; `None` if it has no grid.
    pub fn new(network: &Network) -> Option<Self> {
        let grid = network.any_structure().grid()?;
        let dims = grid.sides.len();
        let coordinates = Coordinates::new(network, grid);
        let strides = grid.sides.iter().scan(1, |stride, side| Some(std::mem::replace(stride, *stride * side)));
        let lines = grid.sides.iter().copied().zip(strides).collect();
        let pairs: u32 = grid.sides.iter().map(|side| side - 1).sum();
        let trunk = (network.network_radix() as u32).checked_div(pairs).unwrap_or(1);
        let offsets: Vec<u32> =
            grid.sides.iter().scan(0, |sum, side| Some(std::mem::replace(sum, *sum + side * trunk))).collect();
        let row = grid.sides.iter().sum::<u32>() * trunk;
        let mut ports = vec![u16::MAX; network.num_routers() * row as usize];
        for router in network.routers() {
            let own = coordinates.of(router);
            for (port, peer) in network.neighbors(router) {
                let other = coordinates.of(peer);
                let dim = (0..dims).find(|&d| own[d] != other[d])?;
                let first = router.0 * row + offsets[dim] + u32::from(other[dim]) * trunk;
                let parallel = &mut ports[first as usize..][..trunk as usize];
                *parallel.iter_mut().find(|p| **p == u16::MAX)? = port as u16;
            }
        }
        let fits = row <= u16::MAX.into();
        let entry = |dim: usize, coordinate| offsets[dim] as u16 + coordinate * trunk as u16;
        let entries = if fits { coordinates.packed_by(entry) } else { Vec::new() };
        let mut this = Self { lines, coordinates, offsets, row, entries, trunk, ports, consecutive: false };
        let mut lines = network.routers().flat_map(|router| (0..dims).map(move |dim| (router, dim)));
        this.consecutive = trunk == 1 && lines.all(|(router, dim)| this.is_consecutive(router, dim));
        Some(this)
    }

    /// True if the outputs of `at` along dimension `dim` have consecutive numbers.
    fn is_consecutive(&self, at: RouterId, dim: usize) -> bool {
        let others = (0..self.side(dim)).filter(|&other| other != self.coordinate(at, dim));
        let outputs: Vec<u32> = others.map(|other| self.toward(at, dim, other)[0].into()).collect();
        outputs.windows(2).all(|pair| pair[0] + 1 == pair[1])
    }

    /// The outputs of `at` along dimension `dim`, where they have consecutive numbers, without the one to coordinate
    /// `straight`; of equal ones the first from coordinate `first` on.
    #[inline(always)]
    fn others_in_row(&self, at: RouterId, dim: usize, straight: u32, first: u32) -> OutputRow {
        let own = self.coordinate(at, dim);
        let place = |coordinate: u32| coordinate - u32::from(coordinate > own);
        OutputRow {
            first: self.toward(at, dim, u32::from(own == 0))[0].into(),
            count: self.side(dim) - 1,
            from: place(first),
            except: place(straight),
        }
    }

    /// Routers in a line of dimension `dim`.
    #[inline(always)]
    pub fn side(&self, dim: usize) -> u32 {
        self.lines[dim].0
    }

    /// The coordinate of a router in dimension `dim`.
    #[inline(always)]
    pub fn coordinate(&self, router: RouterId, dim: usize) -> u32 {
        self.coordinates.at(router, dim)
    }

    /// The parallel outputs of `at` to another coordinate of dimension `dim`.
    #[inline(always)]
    pub fn toward(&self, at: RouterId, dim: usize, coordinate: u32) -> &[u16] {
        let first = at.0 * self.row + self.offsets[dim] + coordinate * self.trunk;
        &self.ports[first as usize..][..self.trunk as usize]
    }

    /// The next dimension to correct, in the packet's order.
    #[inline(always)]
    pub fn dimension(&self, at: RouterId, target: RouterId, order: u32) -> usize {
        let dim = if ORDERS == 2 {
            // Which order a packet has is often mispredicted, hence no branch.
            let dims = self.unaligned(at, target);
            let [lowest, highest] = [dims.trailing_zeros(), (u32::BITS - 1).wrapping_sub(dims.leading_zeros())];
            (if order == 1 { highest } else { lowest }) as usize
        } else {
            self.coordinates.first_difference(at, target)
        };
        debug_assert!(dim < self.lines.len(), "the target is another router");
        dim
    }

    /// The dimensions with more than one router.
    pub fn dimensions(&self) -> u32 {
        self.lines.iter().filter(|(side, _)| *side > 1).count() as u32
    }

    /// The dimensions in which two routers differ, as bits.
    #[inline(always)]
    pub fn unaligned(&self, at: RouterId, target: RouterId) -> u32 {
        self.coordinates.unaligned(at, target)
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

    /// The best detour in the line of dimension `dim`, by its queue, over the outputs that are `open` and whose queue is
    /// shorter than `limit`; on a tie the first from a random coordinate on.
    #[inline(always)]
    pub fn line_detour<V: View>(
        &self,
        [at, target]: [RouterId; 2],
        dim: usize,
        limit: u32,
        view: &V,
        rng: &mut Rng,
        open: impl Fn(u16) -> bool,
    ) -> Option<(u32, u16)> {
        let (side, trunk) = (self.side(dim) as usize, self.trunk as usize);
        let (first, straight) = (rng.below(side as u32), self.coordinate(target, dim));
        let outputs = &self.ports[(at.0 * self.row + self.offsets[dim]) as usize..][..side * trunk];
        let line = Line {
            outputs,
            first: first as usize * trunk,
            own: self.coordinate(at, dim) as usize * trunk,
            straight: straight as usize * trunk,
            trunk,
        };
        if outputs.len() <= Line::SHORT {
            let best = if self.consecutive {
                let port = view.shortest_queue(&self.others_in_row(at, dim, straight, first))?;
                (view.queue(port), port as u16)
            } else {
                line.shortest(view)?
            };
            if best.0 >= limit {
                return None;
            }
            if open(best.1) {
                return Some(best);
            }
        }
        line.shortest_open(limit, view, open)
    }

    /// The best detour in any of the dimensions `dims` whose queue is shorter than `limit`, and its dimension.
    #[inline(always)]
    pub fn best_detour<V: View>(
        &self,
        ends: [RouterId; 2],
        dims: u32,
        limit: u32,
        view: &V,
        rng: &mut Rng,
        open: impl Fn(u16) -> bool,
    ) -> Option<(u32, u16, usize)> {
        let (mut limit, mut best) = (limit, None);
        for dim in each(dims) {
            if let Some((queue, port)) = self.line_detour(ends, dim, limit, view, rng, &open) {
                (limit, best) = (queue, Some((queue, port, dim)));
            }
            if limit == 0 {
                break;
            }
        }
        best
    }

    /// Where the entries of the next coordinate to correct begin in the row of `at`.
    #[inline(always)]
    fn next_entry(&self, at: RouterId, order: u32, target: RouterId) -> u32 {
        if let (Some(from), Some(to)) = (self.entries.get(at.index()), self.entries.get(target.index())) {
            // The lanes of the dimensions that differ: the lowest, or the highest.
            let difference = from ^ to;
            let lowest = difference.trailing_zeros();
            let highest = (u64::BITS - 1).wrapping_sub(difference.leading_zeros());
            return lane_of(*to, if ORDERS == 2 && order == 1 { highest } else { lowest });
        }
        let dim = self.dimension(at, target, order);
        self.offsets[dim] + self.coordinate(target, dim) * self.trunk
    }

    /// Where the outputs of the next hop begin in `ports`. At the target it is some entry of the row, if
    /// [`Minimal::answers_at_target`]; that may have no output.
    #[inline(always)]
    fn next_outputs(&self, at: RouterId, order: u32, target: RouterId) -> usize {
        (at.0 * self.row + self.next_entry(at, order, target)) as usize
    }

    #[inline(always)]
    fn outputs(&self, at: RouterId, order: u32, target: RouterId) -> &[u16] {
        debug_assert!(at != target, "the target is another router");
        &self.ports[self.next_outputs(at, order, target)..][..self.trunk as usize]
    }

    /// The router that a packet from router `id` meets first on a detour: moved to a random coordinate in each dimension of
    /// the `left` lanes; and the draws that are left. Its coordinates are those of the word `own`.
    #[inline(always)]
    fn moved(&self, mut id: u32, own: u64, mut left: u64, mut rng: Rng) -> (u32, Rng) {
        while left != 0 {
            let bit = left.trailing_zeros();
            left &= left - 1;
            let (side, stride) = self.lines[dimension_of(bit)];
            // Modulo 2^32, as coordinates may become less.
            id = id.wrapping_add(rng.below(side).wrapping_sub(lane_of(own, bit)).wrapping_mul(stride));
        }
        (id, rng)
    }

    /// The same of coordinates that do not fit into a word.
    #[inline(never)]
    fn moved_far(&self, src: RouterId, dst: RouterId, mut rng: Rng) -> (u32, Rng) {
        let mut id = src.0;
        for dim in each(self.unaligned(src, dst)) {
            let (side, stride) = self.lines[dim];
            id = id.wrapping_add(rng.below(side).wrapping_sub(self.coordinate(src, dim)).wrapping_mul(stride));
        }
        (id, rng)
    }
}

/// The outputs along a line, coordinate by coordinate, and which of them are no detour: those to the coordinates of the
/// router itself and of the destination.
struct Line<'a> {
    outputs: &'a [u16],
    /// The place from which on the first of equal queues is taken.
    first: usize,
    own: usize,
    straight: usize,
    trunk: usize,
}

impl Line<'_> {
    /// The most outputs all of whose queues are looked at without a branch, rather than up to the first empty one.
    const SHORT: usize = 16;

    #[inline(always)]
    fn is_detour(&self, place: usize) -> bool {
        place.wrapping_sub(self.own) >= self.trunk && place.wrapping_sub(self.straight) >= self.trunk
    }

    /// The shortest queue of all detours, and its output.
    #[inline(always)]
    fn shortest<V: View>(&self, view: &V) -> Option<(u32, u16)> {
        let (len, mut best) = (self.outputs.len(), u64::MAX);
        for (place, &port) in self.outputs.iter().enumerate() {
            let detour = self.is_detour(place);
            // There is no output to the router itself.
            let port = if detour { port } else { self.outputs[self.straight] };
            let turn = if place < self.first { place + len } else { place };
            let key = u64::from(view.queue(port.into())) << 32 | turn as u64;
            best = best.min(if detour { key } else { u64::MAX });
        }
        let turn = best as u32 as usize;
        let place = if turn < len { turn } else { turn - len };
        (best != u64::MAX).then(|| ((best >> 32) as u32, self.outputs[place]))
    }

    /// The shortest queue below `limit` of the detours whose outputs are `open`, and its output.
    #[inline(always)]
    fn shortest_open<V: View>(&self, mut limit: u32, view: &V, open: impl Fn(u16) -> bool) -> Option<(u32, u16)> {
        let mut best = None;
        for part in [self.first..self.outputs.len(), 0..self.first] {
            for place in part.filter(|&place| self.is_detour(place)) {
                let port = self.outputs[place];
                let queue = view.queue(port.into());
                if queue < limit && open(port) {
                    (limit, best) = (queue, Some((queue, port)));
                    // No queue is shorter than an empty one.
                    if queue == 0 {
                        return best;
                    }
                }
            }
        }
        best
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

/// The queue from which on a detour, a hop longer, is no better than the path with `left` hops behind an output of this
/// `queue`: `left * queue > (left + 1) * other + bias` for the shorter ones alone. 0 if no queue is short enough.
#[inline(always)]
pub fn detour_limit(left: u32, queue: u32, bias: u32) -> u32 {
    let ahead = (left * queue).saturating_sub(bias);
    if ahead == 0 { 0 } else { (ahead - 1) / (left + 1) + 1 }
}

/// By how many flits the queue of a detour must be shorter, where a head's VC request failed.
///
/// Buffers limit queues: past saturation all are equally long, and multiplied by hops the minimal path would always win. For
/// the same reason a Slim Fly has a [bias](crate::network::Structure::bias_when_refused). Bit complement on 4x4,p=4 at load
/// 1 by `omniwar`: 0.34 accepted by products, 0.50 with it. With 8 flits uniform traffic on 5x5,p=8 would lose a tenth, with
/// 32 nothing.
const REFUSED: u32 = 32;

/// [`detour_limit`] of a head whose VC request failed, by queues alone: `port` has the shortest `queue` of minimal hops.
#[inline(always)]
pub fn limit_when_refused<V: View>(queue: u32, port: u16, bias: u32, view: &V) -> u32 {
    // What a full link has in flight while nothing waits is no queue.
    let in_flight = queue - view.backlog(port.into());
    queue.saturating_sub(REFUSED.max(bias).max(in_flight))
}

/// The shortest of outputs' queues, and its output.
#[inline(always)]
pub fn shortest<V: View>(outputs: &[u16], view: &V) -> (u32, u16) {
    if let [port] = outputs {
        return (view.queue((*port).into()), *port);
    }
    let queues = outputs.iter().map(|&port| (view.queue(port.into()), port));
    queues.min().expect("two routers of a line have a link")
}

/// The dimensions in a set of bits, lowest first.
#[inline(always)]
pub fn each(mut bits: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let dim = (bits != 0).then(|| bits.trailing_zeros() as usize);
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

    fn likely_steps(&self, at: RouterId, bits: u32, target: RouterId, mut visit: impl FnMut(f64, Step)) {
        let outputs = self.outputs(at, bits, target);
        let each = 1.0 / outputs.len() as f64;
        outputs.iter().for_each(|&port| visit(each, Step { port, class: bits as u8, bits }));
    }

    #[inline(always)]
    fn step(&self, at: RouterId, bits: u32, target: RouterId, rng: &mut Rng) -> Step {
        debug_assert!(at != target || self.answers_at_target(), "the target is another router");
        let mut place = self.next_outputs(at, bits, target);
        if self.trunk > 1 {
            place += rng.below(self.trunk) as usize;
        }
        Step { port: self.ports[place], class: bits as u8, bits }
    }

    #[inline(always)]
    fn draws(&self, first: bool) -> bool {
        // A draw among parallel links begins its stream by itself: to ask at each hop whether there are such costs all others.
        ORDERS == 2 && first
    }

    #[inline(always)]
    fn answers_at_target(&self) -> bool {
        self.trunk == 1 && !self.entries.is_empty()
    }

    #[inline(always)]
    fn only_step(&self, at: RouterId, bits: u32, target: RouterId) -> Option<Step> {
        if ORDERS > 1 || self.trunk > 1 {
            return None;
        }
        debug_assert!(at != target, "the target is another router");
        let port = self.ports[self.next_outputs(at, bits, target)];
        Some(Step { port, class: bits as u8, bits })
    }

    #[inline(always)]
    fn only_step_and_hops(&self, at: RouterId, bits: u32, target: RouterId) -> (Option<Step>, Option<u32>) {
        if ORDERS > 1 || self.trunk > 1 {
            return (None, None);
        }
        let (Some(from), Some(to)) = (self.entries.get(at.index()), self.entries.get(target.index())) else {
            return (self.only_step(at, bits, target), Some(self.hops(at, target)));
        };
        debug_assert!(at != target, "the target is another router");
        let differ = lanes(from ^ to);
        let entry = at.0 * self.row + lane_of(*to, differ.trailing_zeros());
        let step = Step { port: self.ports[entry as usize], class: bits as u8, bits };
        (Some(step), Some(count(differ)))
    }

    #[inline(always)]
    fn hops(&self, from: RouterId, to: RouterId) -> u32 {
        self.coordinates.differences(from, to)
    }

    #[inline(always)]
    fn hops_over(&self, from: RouterId, via: RouterId, to: RouterId) -> u32 {
        self.coordinates.differences_from(via, [from, to])
    }

    fn ugal(&self) -> UgalRule {
        UgalRule { weights: None, bias: 2, bias_by_sent: 2 }
    }

    /// Drawn within the dimensions in which source and destination differ, so that the detour never leaves them.
    #[inline(always)]
    fn candidate(&self, src: RouterId, dst: RouterId, _routers: u32, rng: &mut Rng) -> Option<RouterId> {
        let id;
        (id, *rng) = match self.coordinates.packed(src, dst) {
            Some((own, difference)) => self.moved(src.0, own, lanes(difference), *rng),
            None => self.moved_far(src, dst, *rng),
        };
        (id != src.0 && id != dst.0).then_some(RouterId(id))
    }
}

#[cfg(test)]
mod tests {
    use super::super::twophase::tests::{OneQueue, Queues};
    use super::*;
    use crate::topology;

    /// The least queue of all detours in a line, in the order of coordinates from the one drawn on.
    fn obvious(
        paths: &HyperXMinimal<1>,
        ends: [RouterId; 2],
        limit: u32,
        view: &Queues,
        mut rng: Rng,
    ) -> Option<(u32, u16)> {
        let first = rng.below(paths.side(0));
        let mut best = None;
        for other in paths.others(ends[0], ends[1], 0, first) {
            for &port in paths.toward(ends[0], 0, other) {
                let queue = view.queue(port.into());
                if queue < best.map_or(limit, |(queue, _)| queue) && view.free_vcs(port.into(), 0) > 0 {
                    best = Some((queue, port));
                }
            }
        }
        best
    }

    #[test]
    fn what_is_found_together_is_what_is_found_one_by_one_packed_or_not() {
        for spec in ["hyperx:3x4", "hyperx:2x3x3x2", "hyperx:4x3,trunk=2", "hyperx:2x2x2x2x3"] {
            let network = topology::build(spec).expect(spec);
            let packed = HyperXMinimal::<1>::new(&network).expect(spec);
            let mut slow = HyperXMinimal::<1>::new(&network).expect(spec);
            (slow.entries, slow.coordinates) = (Vec::new(), slow.coordinates.unpacked());
            let pairs = network.routers().flat_map(|at| network.routers().map(move |to| (at, to)));
            let mut candidates = 0;
            for (at, to) in pairs.filter(|(at, to)| at != to) {
                let (step, hops) = packed.only_step_and_hops(at, 0, to);
                assert_eq!(step, slow.only_step(at, 0, to), "{spec} {at:?} {to:?}");
                assert!(hops.is_none_or(|hops| hops == slow.hops(at, to)), "{spec} {at:?} {to:?}");
                for seed in 0..20 {
                    let [mut draws, mut others] = [Rng::stream(seed, 0); 2];
                    let drawn = packed.candidate(at, to, 0, &mut draws);
                    assert_eq!(drawn, slow.candidate(at, to, 0, &mut others), "{spec} {at:?} {to:?} {seed}");
                    assert_eq!(draws.bits(), others.bits(), "as many draws");
                    candidates += u32::from(drawn.is_some());
                }
            }
            assert!(candidates > 100, "{spec}");
        }
    }

    #[test]
    fn the_next_hop_corrects_the_first_or_last_dimension_that_differs_packed_or_not() {
        for (spec, packed) in [("hyperx:3x4", true), ("hyperx:2x3x3x2,trunk=2", true), ("hyperx:2x2x2x2x3", false)] {
            let network = topology::build(spec).expect(spec);
            let mut paths = HyperXMinimal::<2>::new(&network).expect(spec);
            assert_eq!(!paths.entries.is_empty(), packed, "{spec}");
            let grid = network.any_structure().grid().expect("a grid");
            for pass in ["packed", "not"] {
                for (at, to) in network.routers().flat_map(|at| network.routers().map(move |to| (at, to))) {
                    let (mut next, there) = (grid.coordinates(at.0), grid.coordinates(to.0));
                    let differs = |dim: &usize| next[*dim] != there[*dim];
                    let (first, last) = ((0..next.len()).find(differs), (0..next.len()).rfind(differs));
                    for (order, dim) in [(0, first), (1, last)].into_iter().filter_map(|(o, dim)| dim.map(|d| (o, d))) {
                        let was = std::mem::replace(&mut next[dim], there[dim]);
                        for &port in paths.outputs(at, order, to) {
                            let peers = network.neighbors(at).filter(|&(output, _)| output == u32::from(port));
                            let peers: Vec<_> = peers.map(|(_, peer)| grid.coordinates(peer.0)).collect();
                            assert_eq!(peers, [next.clone()], "{spec} {pass} {at:?} {to:?} {order}");
                        }
                        next[dim] = was;
                    }
                }
                paths.entries.clear();
            }
        }
    }

    #[test]
    fn parallel_links_have_even_shares() {
        for (spec, trunk) in [("hyperx:3x2,trunk=3", 3), ("hyperx:2x2x2x2x2,trunk=2", 2), ("hyperx:3x2", 1)] {
            let network = topology::build(spec).expect(spec);
            let paths = HyperXMinimal::<1>::new(&network).expect(spec);
            let (at, to, draws) = (RouterId(0), RouterId(1), 3_000);
            let mut counts = std::collections::BTreeMap::new();
            for seed in 0..draws {
                let Step { port, .. } = paths.step(at, 0, to, &mut Rng::stream(seed, 0));
                assert!(network.neighbors(at).any(|peer| peer == (port.into(), to)), "{spec} {port}");
                *counts.entry(port).or_insert(0) += 1;
            }
            let expected = draws as i64 / trunk;
            assert_eq!(counts.len() as i64, trunk, "{spec}");
            // Six standard deviations and more.
            assert!(counts.values().all(|count| (count - expected).abs() <= 160), "{spec} {counts:?}");
        }
    }

    #[test]
    fn the_best_detour_is_the_same_whatever_the_numbers_of_ports() {
        for (spec, consecutive) in [("hyperx:7x2,p=2", true), ("hyperx:5x2,trunk=2", false), ("hyperx:40", true)] {
            let network = topology::build(spec).expect(spec);
            let mut paths = HyperXMinimal::<1>::new(&network).expect(spec);
            assert_eq!(paths.consecutive, consecutive, "{spec}");
            for seed in 0..400 {
                let mut rng = Rng::stream(seed, 1);
                let ends = [(); 2].map(|()| RouterId(rng.below(network.num_routers() as u32)));
                if paths.unaligned(ends[0], ends[1]) & 1 == 0 {
                    continue;
                }
                let (limit, view) = (1 + rng.below(4), Queues { seed, below: 3 });
                let expected = obvious(&paths, ends, limit, &view, rng);
                for consecutive in [consecutive, false] {
                    paths.consecutive = consecutive;
                    let open = |port: u16| view.has_free_vc(port.into(), 0);
                    let found = paths.line_detour(ends, 0, limit, &view, &mut rng.clone(), open);
                    assert_eq!(found, expected, "{spec} {seed} {consecutive}");
                }
                paths.consecutive = consecutive;
            }
        }
    }

    #[test]
    fn where_nothing_waits_for_the_minimal_output_no_detour_is_taken() {
        let network = topology::build("hyperx:5x5,p=2").expect("a spec that works");
        let (port, dst) = network.neighbors(RouterId(0)).next().expect("it has links");
        for name in ["par", "dimwar", "omniwar", "dal", "polarized"] {
            let routing = crate::routing::build(&network, name).expect(name);
            let detours = |in_flight, again| {
                let view = OneQueue { port, queue: 40, in_flight, again };
                let detours = |seed: &u64| {
                    let mut rng = Rng::stream(*seed, 0);
                    let state = routing.start(RouterId(0), dst, &view, &mut rng);
                    u32::from(routing.choose(RouterId(0), state, dst, &view, &mut rng).port) != port
                };
                (0..50).filter(detours).count()
            };
            assert_eq!(detours(40, false), 0, "{name}: all are in flight");
            assert!(detours(39, false) > 20, "{name}: one waits");
            assert!(detours(20, true) > 20, "{name}: its VC request failed");
        }
    }

    #[test]
    fn a_detour_is_better_below_its_limit_alone() {
        for (left, bias) in (1..5).flat_map(|left| (0..7).map(move |bias| (left, bias))) {
            for (queue, other) in (0..30).flat_map(|queue| (0..30).map(move |other| (queue, other))) {
                let better = left * queue > (left + 1) * other + bias;
                assert_eq!(other < detour_limit(left, queue, bias), better, "{left} {bias} {queue} {other}");
            }
        }
    }
}
