//! The global links of groups that are joined pairwise: whether those of a minimal path are congested more than others, or
//! wanted by more packets.
//!
//! Past saturation all queues are full, whatever packets want. How many want a link then shows what queues do not: after the
//! contention counters of Fuentes et al., *Contention-based nonminimal adaptive routing in high-radix networks* (IPDPS 2015),
//! which the routers of a group publish to each other.

use std::ops::Range;

use super::View;
use crate::network::{LinkClass, Network, Peer, PortId, RouterId};

/// A link is crowded if this many times as many packets want it as the group's links on average: under a pattern that spreads
/// over all groups about as many want each.
const CROWDED: u32 = 3;

/// The outputs to other groups, group by group and in each by the other group.
#[derive(Debug)]
pub(super) struct GlobalLinks {
    group: Vec<u32>,
    groups: u32,
    /// Where the outputs from each group to each other one begin, and behind them their number.
    start: Vec<u32>,
    outputs: Vec<PortId>,
}

impl GlobalLinks {
    /// Those of a network; none if it has no groups, or if a pair of groups has no link.
    pub fn new(network: &Network) -> Option<Self> {
        let size = network.any_structure().group_size()?;
        let group: Vec<u32> = (0..network.num_routers() as u32).map(|router| router / size).collect();
        let groups = group.last()? + 1;
        let mut links: Vec<(u32, PortId)> = Vec::new();
        for (id, port) in (0..).map(PortId).zip(network.ports()) {
            if let (LinkClass::Global, Peer::Port(peer)) = (port.class, port.peer) {
                let to = network.ports()[peer.index()].router;
                links.push((group[port.router.index()] * groups + group[to.index()], id));
            }
        }
        links.sort_unstable();
        let mut start = vec![0u32; (groups * groups) as usize + 1];
        links.iter().for_each(|(pair, _)| start[*pair as usize + 1] += 1);
        (1..start.len()).for_each(|pair| start[pair] += start[pair - 1]);
        let is_joined = |pair: u32| pair / groups == pair % groups || start[pair as usize] < start[pair as usize + 1];
        let outputs = links.into_iter().map(|(_, output)| output).collect();
        (0..groups * groups).all(is_joined).then_some(Self { group, groups, start, outputs })
    }

    /// The number of a router's group.
    #[inline(always)]
    pub fn group(&self, router: RouterId) -> u32 {
        self.group[router.index()]
    }

    /// How many routers there are.
    #[inline(always)]
    pub fn routers(&self) -> usize {
        self.group.len()
    }

    /// What packets want: each pair of groups has a number.
    pub fn wants(&self) -> u32 {
        self.groups * self.groups
    }

    /// How many groups there are.
    #[inline(always)]
    pub fn groups(&self) -> u32 {
        self.groups
    }

    /// All outputs, of which each pair of groups has a [range](Self::between).
    pub fn outputs(&self) -> &[PortId] {
        &self.outputs
    }

    /// Which of the [outputs](Self::outputs) lead from a router's group to another's; none within a group.
    #[inline(always)]
    pub fn between(&self, at: RouterId, to: RouterId) -> Range<usize> {
        self.of_pair(self.group(at), self.group(to))
    }

    /// Which of the [outputs](Self::outputs) lead from one group to another.
    #[inline(always)]
    pub fn of_pair(&self, from: u32, to: u32) -> Range<usize> {
        let pair = self.pair(from, to);
        self.of_pairs(pair, pair + 1)
    }

    /// The most outputs from one group to another.
    pub fn most_of_a_pair(&self) -> usize {
        self.start.windows(2).map(|pair| (pair[1] - pair[0]) as usize).max().unwrap_or(0)
    }

    /// The mean backlog of the global links from a router's group to another's, and that of all others of the group, as last
    /// published; none within a group.
    #[inline(always)]
    pub fn backlogs<V: View>(&self, at: RouterId, to: RouterId, view: &V) -> Option<(u32, u32)> {
        let (minimal, all) = (&self.outputs[self.between(at, to)], &self.outputs[self.of_group(at)]);
        let sum = match minimal {
            [] => return None,
            [output] => view.published_backlog(*output),
            // The first output of the first pair stands for the group, a last one of several for its pair.
            [.., last] => view.published_sum(*last, &mut minimal.iter().copied()),
        };
        let count = minimal.len() as u32;
        let total = all.len() as u32 * view.published_mean(*all.first()?, &mut all.iter().copied());
        let others = total.saturating_sub(sum).checked_div(all.len() as u32 - count).unwrap_or(0);
        Some((sum / count, others))
    }

    /// Counts the packet at hand, a new one, for the global links of its minimal path. Those from a group to another have the
    /// number of this pair of groups. Packets within a group are counted as well, which takes less than to see which are.
    #[inline(always)]
    pub fn want<V: View>(&self, at: RouterId, to: RouterId, view: &V) {
        view.want(self.pair(self.group(at), self.group(to)));
    }

    /// True if far more packets want the global links of the minimal path than the group's on average.
    #[inline(always)]
    pub fn are_crowded<V: View>(&self, at: RouterId, to: RouterId, view: &V) -> bool {
        let (from, to) = (self.group(at), self.group(to));
        let wanted = if from == to { 0 } else { u64::from(view.wanted(self.pair(from, to))) };
        if wanted == 0 {
            return false;
        }
        let within = view.wanted(self.pair(from, from));
        let of_all = u64::from(view.wanted_by_all(self.pair(from, 0)..self.pair(from, self.groups)) - within);
        let (minimal, all) = (self.of_pair(from, to).len() as u64, self.of_group(at).len() as u64);
        wanted * all > u64::from(CROWDED) * of_all * minimal
    }

    /// The number of a pair of groups.
    #[inline(always)]
    pub fn pair(&self, from: u32, to: u32) -> u32 {
        from * self.groups + to
    }

    /// Which of the [outputs](Self::outputs) lead from a router's group to others.
    #[inline(always)]
    fn of_group(&self, at: RouterId) -> Range<usize> {
        let first = self.group(at) * self.groups;
        self.of_pairs(first, first + self.groups)
    }

    /// The outputs of pairs of groups that follow each other.
    #[inline(always)]
    fn of_pairs(&self, first: u32, end: u32) -> Range<usize> {
        self.start[first as usize] as usize..self.start[end as usize] as usize
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU32;
    use std::sync::atomic::Ordering::Relaxed;

    use super::*;
    use crate::topology;

    #[test]
    fn groups_are_joined_by_as_many_links_as_there_are() {
        let links = |spec: &str| GlobalLinks::new(&topology::build(spec).expect("a spec that works"));
        for (spec, between, all) in [
            ("dragonfly:a=4,h=2,p=2", 1, 8),
            ("dragonfly:a=6,h=2,p=4,g=7", 2, 12),
            ("dragonfly-plus:leaf=4,spine=4,p=4,h=4,g=5", 4, 16),
        ] {
            let links = links(spec).expect("every group is joined with every other one");
            let last = RouterId(links.group.len() as u32 - 1);
            let minimal = |to: RouterId| links.between(RouterId(0), to).len();
            let count = |first: u32| links.of_pairs(first, first + links.groups).len();
            assert_eq!((minimal(last), count(0), count(links.groups)), (between, all, all), "{spec}");
            assert_eq!(minimal(RouterId(1)), 0, "{spec}: of one group");
        }
        assert!(links("torus:4x4").is_none());
    }

    /// How many packets want what.
    struct Counts(Vec<AtomicU32>);

    impl View for &Counts {
        fn copy(&self) -> Self {
            self
        }

        fn occupancy(&self, _port: u32) -> u32 {
            0
        }

        fn published(&self, _port: PortId) -> u32 {
            0
        }

        fn want(&self, what: u32) {
            self.0[what as usize].fetch_add(1, Relaxed);
        }

        fn wanted(&self, what: u32) -> u32 {
            self.0[what as usize].load(Relaxed)
        }

        fn interval(&self) -> u32 {
            0
        }

        fn free_vcs(&self, _port: u32, _class: u8) -> u32 {
            0
        }

        fn buffer(&self, _class: u8) -> u32 {
            0
        }
    }

    #[test]
    fn a_link_is_crowded_if_packets_of_its_group_want_it_more_than_others() {
        let network = topology::build("dragonfly:a=4,h=2,p=2").expect("a spec that works");
        let links = GlobalLinks::new(&network).expect("groups are joined");
        let counts = Counts(network.ports().iter().map(|_| AtomicU32::new(0)).collect());
        let (view, from, within, to) = (&counts, RouterId(0), RouterId(3), RouterId(4));
        (0..5).for_each(|_| links.want(within, to, &view));
        assert!(links.are_crowded(from, to, &view) && !links.are_crowded(to, from, &view));
        (0..100).for_each(|_| links.want(from, within, &view));
        assert!(links.are_crowded(from, to, &view), "packets within the group want no global link");
        assert!(!links.are_crowded(from, within, &view));
        for group in 2..links.groups() {
            (0..2).for_each(|_| links.want(from, RouterId(4 * group), &view));
        }
        // Five of nineteen, by eight links: not over three times the mean.
        assert!(!links.are_crowded(from, to, &view));
    }
}
