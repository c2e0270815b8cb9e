//! Coordinates of all routers, as the closed forms on grids compare them at every hop.

use crate::network::{Grid, Network, RouterId};

/// Bits of a coordinate in a packed place, and the most dimensions that fit into one.
const LANE: u32 = 16;
const LANES: usize = 4;

/// The coordinates of every router.
pub(super) struct Coordinates {
    dims: usize,
    /// Router by router, dimension by dimension.
    all: Vec<u16>,
    /// The same in a word for each router, lowest dimension lowest, where there are few: two are compared at once.
    packed: Vec<u64>,
}

impl Coordinates {
    pub(super) fn new(network: &Network, grid: &Grid) -> Self {
        let dims = grid.sides.len();
        let all: Vec<u16> = network.routers().flat_map(|r| grid.coordinates(r.0)).map(|c| c as u16).collect();
        let word = |place: &[u16]| place.iter().rev().fold(0, |word, &c| word << LANE | u64::from(c));
        let packed = if (1..=LANES).contains(&dims) { all.chunks(dims).map(word).collect() } else { Vec::new() };
        Self { dims, all, packed }
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
            Some(word) => (word >> (LANE * dim as u32)) as u32 & ((1 << LANE) - 1),
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
            let differs = |dim: u32| u32::from(difference >> (LANE * dim) & ((1 << LANE) - 1) != 0) << dim;
            return differs(0) | differs(1) | differs(2) | differs(3);
        }
        let pairs = self.of(a).iter().zip(self.of(b)).enumerate();
        pairs.map(|(dim, (a, b))| u32::from(a != b) << dim).sum()
    }

    /// What differs in two packed places.
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
    fn packed_or_not_routers_differ_in_the_same_dimensions() {
        for spec in ["mesh:3x4", "hyperx:2x3x2", "mesh:2x2x3x2", "mesh:2x3x2x2x2"] {
            let network = topology::build(spec).expect(spec);
            let grid = network.any_structure().grid().expect("a grid");
            let quick = Coordinates::new(&network, grid);
            let slow = Coordinates { packed: Vec::new(), ..Coordinates::new(&network, grid) };
            assert_eq!(quick.packed.is_empty(), grid.sides.len() > LANES, "{spec}");
            for (a, b) in network.routers().flat_map(|a| network.routers().map(move |b| (a, b))) {
                assert_eq!(quick.first_difference(a, b), slow.first_difference(a, b), "{spec} {a:?} {b:?}");
                assert_eq!(quick.unaligned(a, b), slow.unaligned(a, b), "{spec} {a:?} {b:?}");
                assert!((0..grid.sides.len()).all(|dim| quick.at(a, dim) == slow.at(a, dim)), "{spec} {a:?}");
            }
        }
    }
}
