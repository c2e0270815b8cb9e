//! Coordinates of all routers, as the closed forms on grids compare them at every hop.

use crate::network::{Grid, Network, RouterId};

/// Bits of a coordinate in a packed place, and the most dimensions that fit into one.
const LANE: u32 = 16;
const LANES: usize = 4;

/// The lowest bit of each lane.
const LOWEST: u64 = 0x0001_0001_0001_0001;

/// The lowest bit of each lane that is not 0.
#[inline(always)]
pub(super) fn lanes(word: u64) -> u64 {
    // All bits but the highest of a lane carry into it.
    let low = !(LOWEST << (LANE - 1));
    (((word & low) + low) | word) >> (LANE - 1) & LOWEST
}

/// The sum of all lanes.
#[inline(always)]
pub(super) fn count(lanes: u64) -> u32 {
    // It comes out in the highest.
    (lanes.wrapping_mul(LOWEST) >> (LANE * (LANES as u32 - 1))) as u32
}

/// The dimension of the lane that has this bit.
#[inline(always)]
pub(super) fn dimension_of(bit: u32) -> usize {
    (bit / LANE) as usize
}

/// What is in the lane that has this bit of a word; in any lane, if a word has no such bit.
#[inline(always)]
pub(super) fn lane_of(word: u64, bit: u32) -> u32 {
    word.wrapping_shr(bit / LANE * LANE) as u32 & ((1 << LANE) - 1)
}

/// The coordinates of every router.
#[derive(Clone)]
pub(super) struct Coordinates {
    dims: usize,
    /// Router by router, dimension by dimension.
    all: Vec<u16>,
    /// The same in a word for each router, lowest dimension lowest, where there are few: two are compared at once.
    packed: Vec<u64>,
    /// The sides in such a word, if twice as much fits below the highest bit of a lane.
    sides: Option<u64>,
}

impl Coordinates {
    pub(super) fn new(network: &Network, grid: &Grid) -> Self {
        let dims = grid.sides.len();
        let all: Vec<u16> = network.routers().flat_map(|r| grid.coordinates(r.0)).map(|c| c as u16).collect();
        let mut this = Self { dims, all, packed: Vec::new(), sides: None };
        this.packed = this.packed_by(|_, coordinate| coordinate);
        let small = !this.packed.is_empty() && grid.sides.iter().all(|&side| side < 1 << (LANE - 2));
        this.sides = small.then(|| grid.sides.iter().rev().fold(0, |word, &side| word << LANE | u64::from(side)));
        this
    }

    /// By router, in a word, what `number` makes of each dimension and the router's coordinate in it, lowest dimension lowest.
    /// None where there are more dimensions than lanes.
    pub(super) fn packed_by(&self, number: impl Fn(usize, u16) -> u16) -> Vec<u64> {
        if !(1..=LANES).contains(&self.dims) {
            return Vec::new();
        }
        let lane = |(dim, &coordinate): (usize, &u16)| u64::from(number(dim, coordinate));
        let word = |own: &[u16]| own.iter().enumerate().map(lane).rev().fold(0, |word, lane| word << LANE | lane);
        self.all.chunks(self.dims).map(word).collect()
    }

    /// The directions of all shortest paths between two routers, on a torus where `WRAP`, else on a mesh: bit 2 i is set if
    /// upwards in dimension i is one, the bit above it if downwards is. `None` where positions are not packed.
    #[inline(always)]
    pub(super) fn directions<const WRAP: bool>(&self, from: RouterId, to: RouterId) -> Option<u32> {
        const HIGHEST: u64 = LOWEST << (LANE - 1);
        let (sides, from, to) = (self.sides?, *self.packed.get(from.index())?, *self.packed.get(to.index())?);
        // The highest bit of each lane keeps a difference from borrowing of the next lane, and remains if it is not below 0.
        let difference = (to | HIGHEST) - from;
        let (above, below) = (difference & HIGHEST, !difference & HIGHEST);
        let (up, down) = if WRAP {
            let around = below - (below >> (LANE - 1));
            let way = ((difference & !HIGHEST) + (sides & around)) & !HIGHEST;
            (((sides | HIGHEST) - 2 * way) & HIGHEST, (((2 * way) | HIGHEST) - sides) & HIGHEST)
        } else {
            (above, below)
        };
        let apart = ((difference & !HIGHEST) + !HIGHEST) & HIGHEST;
        let pairs = (up & apart) >> (LANE - 1) | (down & apart) >> (LANE - 2);
        // Bits 16 i and 16 i + 1 move to 48 + 2 i and 49 + 2 i; no two of the others meet.
        let gather = 1 << 48 | 1 << 34 | 1 << 20 | 1 << 6;
        Some((pairs.wrapping_mul(gather) >> 48) as u32 & 0xFF)
    }

    /// The same where they do not fit into words.
    #[cfg(test)]
    pub(super) fn unpacked(&self) -> Self {
        Self { packed: Vec::new(), sides: None, ..self.clone() }
    }

    /// The coordinates of a router.
    #[inline(always)]
    pub(super) fn of(&self, router: RouterId) -> &[u16] {
        &self.all[router.index() * self.dims..][..self.dims]
    }

    /// The coordinate of a router in dimension `dim`.
    #[inline(always)]
    pub(super) fn at(&self, router: RouterId, dim: usize) -> u32 {
        match self.packed.get(router.index()) {
            Some(word) => lane_of(*word, LANE * dim as u32),
            None => self.of(router)[dim].into(),
        }
    }

    /// The lowest dimension in which two routers differ; the number of dimensions if they are one.
    #[inline(always)]
    pub(super) fn first_difference(&self, a: RouterId, b: RouterId) -> usize {
        match self.difference(a, b) {
            Some(0) => self.dims,
            Some(difference) => (difference.trailing_zeros() / LANE) as usize,
            None => self.of(a).iter().zip(self.of(b)).take_while(|(a, b)| a == b).count(),
        }
    }

    /// The dimensions in which two routers differ, as bits.
    #[inline(always)]
    pub(super) fn unaligned(&self, a: RouterId, b: RouterId) -> u32 {
        if let Some(difference) = self.difference(a, b) {
            // Bit 16 i moves to 48 + i; no two of the others meet.
            let gather = 1 << 48 | 1 << 33 | 1 << 18 | 1 << 3;
            return (lanes(difference).wrapping_mul(gather) >> 48) as u32 & 0xF;
        }
        let pairs = self.of(a).iter().zip(self.of(b)).enumerate();
        pairs.map(|(dim, (a, b))| u32::from(a != b) << dim).sum()
    }

    /// The number of dimensions in which two routers differ.
    #[inline(always)]
    pub(super) fn differences(&self, a: RouterId, b: RouterId) -> u32 {
        if let Some(difference) = self.difference(a, b) {
            return count(lanes(difference));
        }
        self.of(a).iter().zip(self.of(b)).map(|(a, b)| u32::from(a != b)).sum()
    }

    /// The number of dimensions in which two routers differ from a third one, together.
    #[inline(always)]
    pub(super) fn differences_from(&self, via: RouterId, [a, b]: [RouterId; 2]) -> u32 {
        if let (Some(here), Some(a), Some(b)) =
            (self.packed.get(via.index()), self.packed.get(a.index()), self.packed.get(b.index()))
        {
            return count(lanes(here ^ a) + lanes(here ^ b));
        }
        self.differences(via, a) + self.differences(via, b)
    }

    /// The packed position of a router, and what differs in that of another.
    #[inline(always)]
    pub(super) fn packed(&self, a: RouterId, b: RouterId) -> Option<(u64, u64)> {
        let from = *self.packed.get(a.index())?;
        Some((from, from ^ self.packed.get(b.index())?))
    }

    /// What differs in two packed positions.
    #[inline(always)]
    fn difference(&self, a: RouterId, b: RouterId) -> Option<u64> {
        Some(self.packed.get(a.index())? ^ self.packed.get(b.index())?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology;

    #[test]
    fn a_lane_counts_whatever_its_bits() {
        for (word, expected) in [
            (0, 0),
            (0x8000_0001_0000_FFFF, 0x0001_0001_0000_0001),
            (0x0000_8000_0002_0000, 0x0000_0001_0001_0000),
            (u64::MAX, LOWEST),
        ] {
            assert_eq!(lanes(word), expected, "{word:x}");
        }
    }

    #[test]
    fn directions_are_those_of_the_shorter_ways() {
        fn all<const WRAP: bool>(spec: &str) {
            let network = topology::build(spec).expect(spec);
            let grid = network.any_structure().grid().expect("a grid");
            let quick = Coordinates::new(&network, grid);
            for (a, b) in network.routers().flat_map(|a| network.routers().map(move |b| (a, b))) {
                let mut expected = 0;
                for (dim, &side) in grid.sides.iter().enumerate() {
                    let (from, to) = (quick.at(a, dim), quick.at(b, dim));
                    let (up, down) = ((to + side - from) % side, (from + side - to) % side);
                    let (is_up, is_down) = if WRAP { (up <= down, down <= up) } else { (to > from, to < from) };
                    let ways = [is_up, is_down].map(|way| u32::from(way && from != to));
                    expected |= (ways[0] | ways[1] << 1) << (2 * dim);
                }
                assert_eq!(quick.directions::<WRAP>(a, b), Some(expected), "{spec} {a:?} {b:?}");
            }
        }
        ["torus:5", "torus:4x5", "torus:2x3x4", "torus:2x3x4x2"].iter().for_each(|spec| all::<true>(spec));
        ["mesh:5", "mesh:4x5", "mesh:2x3x4", "mesh:2x3x4x2"].iter().for_each(|spec| all::<false>(spec));
        let network = topology::build("torus:2x2x2x2x2").expect("small");
        let five = Coordinates::new(&network, network.any_structure().grid().expect("a grid"));
        assert_eq!(five.directions::<true>(RouterId(0), RouterId(1)), None);
    }

    #[test]
    fn packed_or_not_routers_differ_in_the_same_dimensions() {
        for spec in ["mesh:3x4", "hyperx:2x3x2", "mesh:2x2x3x2", "mesh:2x3x2x2x2"] {
            let network = topology::build(spec).expect(spec);
            let grid = network.any_structure().grid().expect("a grid");
            let quick = Coordinates::new(&network, grid);
            let slow = Coordinates::new(&network, grid).unpacked();
            assert_eq!(quick.packed.is_empty(), grid.sides.len() > LANES, "{spec}");
            for (a, b) in network.routers().flat_map(|a| network.routers().map(move |b| (a, b))) {
                assert_eq!(quick.first_difference(a, b), slow.first_difference(a, b), "{spec} {a:?} {b:?}");
                assert_eq!(quick.unaligned(a, b), slow.unaligned(a, b), "{spec} {a:?} {b:?}");
                assert_eq!(quick.differences(a, b), quick.unaligned(a, b).count_ones(), "{spec} {a:?} {b:?}");
                assert_eq!(slow.differences(a, b), quick.differences(a, b), "{spec} {a:?} {b:?}");
                assert!((0..grid.sides.len()).all(|dim| quick.at(a, dim) == slow.at(a, dim)), "{spec} {a:?}");
                for via in network.routers() {
                    let both = quick.differences(a, via) + quick.differences(via, b);
                    let found = [&quick, &slow].map(|coordinates| coordinates.differences_from(via, [a, b]));
                    assert_eq!(found, [both; 2], "{spec} {a:?} {via:?} {b:?}");
                }
            }
        }
    }
}
