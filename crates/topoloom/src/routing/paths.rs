//! One path of every pair of routers in memory, for routings that look through whole paths for each packet.

use crate::network::{PortId, RouterId};

/// The most pairs whose paths are kept: those of 1,024 routers, some 40 MB.
const MOST_PAIRS: usize = 1 << 20;

/// A hop of a path: the output, and the router behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Hop {
    pub port: PortId,
    pub to: RouterId,
}

/// The hops from each router to each other one.
pub(super) struct Paths {
    routers: usize,
    /// Where the hops of a pair begin; those of the next pair end them.
    first: Vec<u32>,
    hops: Vec<Hop>,
}

impl Paths {
    /// Keeps what `walk` adds for every pair of different routers; `None` if there are too many.
    pub(super) fn new(routers: usize, mut walk: impl FnMut([RouterId; 2], &mut Vec<Hop>)) -> Option<Self> {
        if routers * routers > MOST_PAIRS {
            return None;
        }
        let (mut first, mut hops) = (Vec::with_capacity(routers * routers + 1), Vec::new());
        for pair in 0..routers * routers {
            first.push(hops.len() as u32);
            let ends = [pair / routers, pair % routers];
            if ends[0] != ends[1] {
                walk(ends.map(|router| RouterId(router as u32)), &mut hops);
            }
        }
        first.push(hops.len() as u32);
        Some(Self { routers, first, hops })
    }

    /// The hops from one router to another.
    #[inline(always)]
    pub(super) fn between(&self, from: RouterId, to: RouterId) -> &[Hop] {
        let pair = from.index() * self.routers + to.index();
        &self.hops[self.first[pair] as usize..self.first[pair + 1] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_has_the_hops_that_were_added() {
        let on = |at: u32| Hop { port: PortId(10 * at), to: RouterId(at + 1) };
        let walk = |[from, to]: [RouterId; 2], hops: &mut Vec<Hop>| hops.extend((from.0..to.0).map(on));
        let paths = Paths::new(4, walk).expect("few");
        assert_eq!(paths.between(RouterId(1), RouterId(3)), [on(1), on(2)]);
        assert_eq!(paths.between(RouterId(2), RouterId(2)), []);
        assert_eq!(paths.between(RouterId(3), RouterId(0)), []);
        assert!(Paths::new(1025, walk).is_none());
    }
}
