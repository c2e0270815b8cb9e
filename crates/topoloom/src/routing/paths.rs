//! One path of every pair of routers in memory, for routings that look through whole paths for each packet.

use crate::network::{PortId, RouterId};

/// The most hops that are kept: 128 MB.
const MOST_HOPS: usize = 1 << 24;

/// A hop of a path: the output, and the router behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Hop {
    pub port: PortId,
    pub to: RouterId,
}

impl Hop {
    /// What follows the last hop of a path that is shorter than others, in a network of `ports`. It names one behind them,
    /// so that it can be looked up all the same.
    fn none(ports: usize) -> Self {
        Self { port: PortId(ports as u32), to: RouterId(u32::MAX) }
    }

    /// False for what follows the last hop.
    #[inline(always)]
    pub(super) fn exists(self) -> bool {
        self.to != RouterId(u32::MAX)
    }
}

/// The hops from each router to each other one.
pub(super) struct Paths {
    routers: usize,
    /// Hops of the longest path: all paths have as many positions, so that reading one takes no branch that depends on it.
    longest: usize,
    hops: Vec<Hop>,
}

impl Paths {
    /// Keeps what `walk` adds for every pair of different routers of a network of `ports`; `None` if that is too much.
    pub(super) fn new(
        routers: usize,
        ports: usize,
        mut walk: impl FnMut([RouterId; 2], &mut Vec<Hop>),
    ) -> Option<Self> {
        let (mut longest, mut hops, none) = (1, Vec::new(), Hop::none(ports));
        let mut path = Vec::new();
        for pair in 0..routers * routers {
            let ends = [pair / routers, pair % routers];
            path.clear();
            if ends[0] != ends[1] {
                walk(ends.map(|router| RouterId(router as u32)), &mut path);
            }
            if path.len() > longest {
                hops = widened(&hops, none, longest, path.len());
                longest = path.len();
            }
            if routers * routers * longest > MOST_HOPS {
                return None;
            }
            path.resize(longest, none);
            hops.extend_from_slice(&path);
        }
        Some(Self { routers, longest, hops })
    }

    /// Hops of the longest path.
    #[inline(always)]
    pub(super) fn longest(&self) -> usize {
        self.longest
    }

    /// The hops from one router to another, and behind them places without one: as many as the longest path has, which
    /// `HOPS` states, unless it is 0. Loops over few of a known number take no branch.
    #[inline(always)]
    pub(super) fn places<const HOPS: usize>(&self, from: RouterId, to: RouterId) -> &[Hop] {
        let longest = if HOPS == 0 { self.longest } else { HOPS };
        debug_assert_eq!(longest, self.longest);
        &self.hops[(from.index() * self.routers + to.index()) * longest..][..longest]
    }

    /// The first hop from one router to another one.
    #[inline(always)]
    pub(super) fn first(&self, from: RouterId, to: RouterId) -> Hop {
        self.hops[(from.index() * self.routers + to.index()) * self.longest]
    }

    /// The hops from one router to another.
    #[inline(always)]
    pub(super) fn between(&self, from: RouterId, to: RouterId) -> impl Iterator<Item = Hop> {
        self.places::<0>(from, to).iter().copied().take_while(|hop| hop.exists())
    }
}

/// Paths of `from` places each, with `to` places each, the new ones filled with `none`.
fn widened(hops: &[Hop], none: Hop, from: usize, to: usize) -> Vec<Hop> {
    let mut wide = vec![none; hops.len() / from * to];
    wide.chunks_exact_mut(to).zip(hops.chunks_exact(from)).for_each(|(wide, path)| wide[..from].copy_from_slice(path));
    wide
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_has_the_hops_that_were_added() {
        let on = |at: u32| Hop { port: PortId(10 * at), to: RouterId(at + 1) };
        let walk = |[from, to]: [RouterId; 2], hops: &mut Vec<Hop>| hops.extend((from.0..to.0).map(on));
        let paths = Paths::new(4, 40, walk).expect("few");
        let between = |from, to| paths.between(RouterId(from), RouterId(to)).collect::<Vec<_>>();
        assert_eq!(between(1, 3), [on(1), on(2)]);
        assert_eq!(between(0, 3), [on(0), on(1), on(2)]);
        assert_eq!(between(2, 2), []);
        assert_eq!(between(3, 0), []);
        let (places, known) =
            (paths.places::<0>(RouterId(1), RouterId(3)), paths.places::<3>(RouterId(1), RouterId(3)));
        assert_eq!((paths.longest(), places), (3, known));
        assert_eq!(places, [on(1), on(2), Hop::none(40)]);
        assert_eq!(paths.first(RouterId(1), RouterId(3)), on(1));
        // A line of 300 routers has paths of up to 299 hops.
        assert!(Paths::new(300, 3_000, walk).is_none());
    }
}
