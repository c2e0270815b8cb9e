//! Minimal routing on a dragonfly: local, global, local (Kim et al., 2008). VC class = global hops taken.

use super::channels::ChannelEnds;
use super::global_links::GlobalLinks;
use super::{Minimal, Step, UgalRule};
use crate::bits::bits;
use crate::memory::prefetch;
use crate::network::{Network, PortId, RouterId};
use crate::rng::Rng;

/// This many exits are near: asking for their memory does not pay.
const FEW_EXITS: usize = 2048;

/// The steps of this many pairs of routers are in a table: as much memory as is near.
const FEW_PAIRS: usize = 1 << 18;

/// In the table of steps, beside the output: it is a global one.
const GLOBAL: u8 = 1 << 7;

/// One global link as seen from a group: the router and output that it leaves by, the router it arrives at.
#[derive(Debug, Clone, Copy)]
struct Exit {
    output: PortId,
    router: u32,
    port: u16,
    peer: u32,
}

/// The first hop of a minimal path.
#[derive(Debug, Clone, Copy)]
pub struct FirstHop {
    /// Its output.
    pub port: u16,
    /// The output to the global link behind it, if it leads to another router that has it.
    pub exit: Option<PortId>,
}

/// Local-global-local on any graph whose groups are complete and joined pairwise. Its steps may be `TABLED`, which is known
/// when it is compiled: to ask at each step takes registers from what arrives.
pub struct DragonflyMinimal<const TABLED: bool> {
    links: GlobalLinks,
    group_size: u32,
    /// Output to the i-th router of the own group, router by router.
    local: Vec<u16>,
    /// The global links in the order of `links`.
    exits: Vec<Exit>,
    /// Each pair of groups has one.
    single: bool,
    /// If steps are tabled: the output of each router towards each other one, and [`GLOBAL`].
    table: Vec<u8>,
    nearby: Nearby,
}

/// Which of the exits between two groups begin or end at a router, where some pairs have several.
///
/// Sets of exits are bits, in the order of the exits: large machines have dozens of links per pair, and each packet draws
/// among those on its shortest paths.
#[derive(Debug, Default)]
struct Nearby {
    groups: usize,
    /// Bytes of a set.
    stride: usize,
    /// By router and other group: the exits of the router's group to the other one that the router has.
    begin: Vec<u8>,
    /// The same: those of the other group to the router's that end at it.
    end: Vec<u8>,
}

impl Nearby {
    fn new(links: &GlobalLinks, exits: &[Exit], routers: usize) -> Self {
        let groups = links.groups() as usize;
        let most = links.most_of_a_pair();
        if most < 2 {
            return Self::default();
        }
        let stride = most.div_ceil(8);
        // A word is read at the last set, too.
        let empty = || vec![0; routers * groups * stride + size_of::<u64>()];
        let mut nearby = Self { groups, stride, begin: empty(), end: empty() };
        for (here, there) in (0..links.groups()).flat_map(|here| (0..links.groups()).map(move |there| (here, there))) {
            for (place, exit) in exits[links.of_pair(here, there)].iter().enumerate() {
                let bit = |router: u32, other: u32| {
                    ((router as usize * groups + other as usize) * stride + place / 8, 1 << (place % 8))
                };
                let ((begin, own), (end, other)) = (bit(exit.router, there), bit(exit.peer, here));
                nearby.begin[begin] |= own;
                nearby.end[end] |= other;
            }
        }
        nearby
    }

    /// The first byte of the sets of a router and another group.
    #[inline(always)]
    fn first(&self, router: RouterId, other: u32) -> usize {
        (router.index() * self.groups + other as usize) * self.stride
    }

    /// Word number `word` of a set.
    #[inline(always)]
    fn word(sets: &[u8], first: usize, word: usize) -> u64 {
        let bytes = &sets[first + 8 * word..][..size_of::<u64>()];
        u64::from_le_bytes(bytes.try_into().expect("as many bytes as a word has"))
    }
}

/// The exits between two groups that are on a shortest path from a router of the first to one of the second.
#[derive(Debug, Clone, Copy)]
struct Shortest<'a> {
    exits: &'a [Exit],
    nearby: &'a Nearby,
    /// Where the sets of the two routers begin.
    begin: usize,
    end: usize,
    among: Among,
    /// The first 64 of the set.
    first: u64,
}

#[derive(Debug, Clone, Copy)]
enum Among {
    /// Those that begin and end at the routers: one hop.
    Both,
    /// Those that begin or end there: two.
    Either,
    /// All of them: three.
    All,
}

impl<'a> Shortest<'a> {
    #[inline(always)]
    fn words(&self) -> usize {
        self.exits.len().div_ceil(64)
    }

    #[inline(always)]
    fn set(&self, among: Among, word: usize) -> u64 {
        // Behind a set the next one follows.
        let exits = u64::MAX >> (64 - (self.exits.len() - 64 * word).min(64));
        let begin = || Nearby::word(&self.nearby.begin, self.begin, word);
        let end = || Nearby::word(&self.nearby.end, self.end, word);
        exits
            & match among {
                Among::Both => begin() & end(),
                Among::Either => begin() | end(),
                Among::All => u64::MAX,
            }
    }

    /// What `count` finds in the words of a set behind the first: none where a pair has up to 64 links.
    #[inline(always)]
    fn behind(&self, among: Among, count: impl Fn(u64) -> u32) -> u32 {
        if self.exits.len() <= 64 { 0 } else { (1..self.words()).map(|word| count(self.set(among, word))).sum() }
    }

    #[inline(always)]
    fn is_empty(&self, among: Among) -> bool {
        self.set(among, 0) == 0 && self.behind(among, u64::count_ones) == 0
    }

    /// How many there are.
    #[inline(always)]
    fn count(&self) -> u32 {
        self.first.count_ones() + self.behind(self.among, u64::count_ones)
    }

    /// Number `n` of them.
    #[inline(always)]
    fn nth(&self, n: u32) -> Option<&'a Exit> {
        let (mut left, mut set, mut word) = (n, self.first, 0);
        while left >= set.count_ones() {
            left -= set.count_ones();
            word += 1;
            if word >= self.words() {
                return None;
            }
            set = self.set(self.among, word);
        }
        (0..left).for_each(|_| set &= set - 1);
        self.exits.get(64 * word + set.trailing_zeros() as usize)
    }

    fn iter(self) -> impl Iterator<Item = &'a Exit> {
        let in_word =
            move |word| bits(self.set(self.among, word)).map(move |bit| &self.exits[64 * word + bit as usize]);
        (0..self.words()).flat_map(in_word)
    }
}

impl DragonflyMinimal<false> {
    /// For a network with groups; `None` if it has none, or if a pair of groups has no link.
    pub fn new(network: &Network) -> Option<Self> {
        let (links, group_size) = (GlobalLinks::new(network)?, network.any_structure().group_size()?);
        let mut local = vec![u16::MAX; network.num_routers() * group_size as usize];
        for router in network.routers() {
            for (port, peer) in network.neighbors(router).filter(|(_, peer)| links.group(router) == links.group(*peer))
            {
                local[(router.0 * group_size + peer.0 % group_size) as usize] = port as u16;
            }
        }
        let channels = ChannelEnds::new(network);
        let exit = |&output: &PortId| {
            let (router, port) = network.local_port(output);
            Exit { output, router: router.0, port: port as u16, peer: channels.behind(output).0 }
        };
        let exits: Vec<Exit> = links.outputs().iter().map(exit).collect();
        let nearby = Nearby::new(&links, &exits, network.num_routers());
        // None has less than one.
        let groups = links.groups() as usize;
        let single = exits.len() == groups * (groups - 1);
        Some(Self { links, group_size, local, exits, single, table: Vec::new(), nearby })
    }

    /// The same with the table of its steps, where it [has one](Self::table).
    pub fn tabled(self, table: Vec<u8>) -> DragonflyMinimal<true> {
        self.with_table(table)
    }

    /// The table of steps, if there are few enough, all of them without choice, and outputs are small numbers.
    pub fn table(&self, network: &Network) -> Option<Vec<u8>> {
        let routers = network.num_routers();
        if !self.single || routers * routers > FEW_PAIRS {
            return None;
        }
        let of_pair = |at: RouterId, target: RouterId| {
            if at == target {
                return Some(0);
            }
            let Step { port, bits, .. } = self.only_step(at, 0, target)?;
            (port < GLOBAL.into()).then_some(port as u8 | if bits > 0 { GLOBAL } else { 0 })
        };
        network.routers().flat_map(|at| network.routers().map(move |target| of_pair(at, target))).collect()
    }
}

impl DragonflyMinimal<true> {
    /// The same without its table.
    pub fn untabled(self) -> DragonflyMinimal<false> {
        self.with_table(Vec::new())
    }
}

impl<const TABLED: bool> DragonflyMinimal<TABLED> {
    fn with_table<const OTHER: bool>(self, table: Vec<u8>) -> DragonflyMinimal<OTHER> {
        let Self { links, group_size, local, exits, single, nearby, .. } = self;
        DragonflyMinimal { links, group_size, local, exits, single, table, nearby }
    }

    /// Where a step is in the table.
    #[inline(always)]
    fn place(&self, at: RouterId, target: RouterId) -> usize {
        at.index() * self.links.routers() + target.index()
    }

    /// What the table has.
    #[inline(always)]
    fn step_in_table(&self, at: RouterId, bits: u32, target: RouterId) -> Step {
        let entry = self.table[self.place(at, target)];
        Step { port: (entry & !GLOBAL).into(), class: bits as u8, bits: bits + u32::from(entry / GLOBAL) }
    }

    /// The global links of all groups.
    pub(super) fn links(&self) -> &GlobalLinks {
        &self.links
    }

    /// True if two routers are in one group.
    pub fn same_group(&self, a: RouterId, b: RouterId) -> bool {
        self.links.group(a) == self.links.group(b)
    }

    /// Any router of a router's group.
    #[inline(always)]
    pub(super) fn in_group(&self, router: RouterId, rng: &mut Rng) -> RouterId {
        RouterId(self.links.group(router) * self.group_size + rng.below(self.group_size))
    }

    #[inline(always)]
    fn exits(&self, from: RouterId, to: RouterId) -> &[Exit] {
        &self.exits[self.links.between(from, to)]
    }

    /// Hops from `at` to `to` by way of `exit`.
    #[inline(always)]
    fn cost(exit: &Exit, at: RouterId, to: RouterId) -> u32 {
        u32::from(exit.router != at.0) + 1 + u32::from(exit.peer != to.0)
    }

    /// The exits that are on a shortest path to another group.
    #[inline(always)]
    fn best(&self, at: RouterId, to: RouterId) -> Shortest<'_> {
        let (exits, nearby) = (self.exits(at, to), &self.nearby);
        let [begin, end] = [(at, to), (to, at)].map(|(router, other)| nearby.first(router, self.links.group(other)));
        let mut best = Shortest { exits, nearby, begin, end, among: Among::All, first: 1 };
        if let [_, _, ..] = exits {
            if !best.is_empty(Among::Both) {
                best.among = Among::Both;
            } else if !best.is_empty(Among::Either) {
                best.among = Among::Either;
            }
            best.first = best.set(best.among, 0);
        }
        best
    }

    /// The first hop of the path that [`Minimal::step`] draws.
    #[inline(always)]
    pub fn first_hop(&self, at: RouterId, target: RouterId, rng: &mut Rng) -> FirstHop {
        if self.same_group(at, target) {
            return FirstHop { port: self.local_step(at, target.0, 0).port, exit: None };
        }
        let exit = self.drawn_exit(at, target, rng);
        let beyond = (exit.router != at.0).then_some(exit.output);
        FirstHop { port: self.towards(at, exit, 0).port, exit: beyond }
    }

    /// The only exit to another group, where there is one alone.
    #[inline(always)]
    fn only_exit(&self, at: RouterId, target: RouterId) -> Option<&Exit> {
        if self.single {
            // In the order of pairs, those of a group with itself left out.
            let [from, to] = [at, target].map(|router| self.links.group(router));
            return self.exits.get((from * (self.links.groups() - 1) + to - u32::from(to > from)) as usize);
        }
        match self.exits(at, target) {
            [exit] => Some(exit),
            _ => None,
        }
    }

    /// One of the exits on a shortest path to another group.
    #[inline(always)]
    fn drawn_exit(&self, at: RouterId, target: RouterId, rng: &mut Rng) -> &Exit {
        if let Some(exit) = self.only_exit(at, target) {
            return exit;
        }
        let best = self.best(at, target);
        best.nth(rng.below(best.count())).expect("drawn below the count")
    }

    /// A step towards [`DragonflyMinimal::drawn_exit`].
    // Not inlined: where one link alone joins two groups what arrives needs the registers.
    #[inline(never)]
    fn drawn_step(&self, at: RouterId, bits: u32, target: RouterId, rng: &mut Rng) -> Step {
        self.towards(at, self.drawn_exit(at, target, rng), bits)
    }

    /// The hop to another router of the group.
    #[inline(always)]
    fn local_step(&self, at: RouterId, to: u32, taken: u32) -> Step {
        let first = self.links.group(at) * self.group_size;
        let port = self.local[(at.0 * self.group_size + to - first) as usize];
        Step { port, class: taken as u8, bits: taken }
    }

    #[inline(always)]
    fn towards(&self, at: RouterId, exit: &Exit, taken: u32) -> Step {
        if exit.router == at.0 {
            Step { port: exit.port, class: taken as u8, bits: taken + 1 }
        } else {
            self.local_step(at, exit.router, taken)
        }
    }
}

impl<const TABLED: bool> Minimal for DragonflyMinimal<TABLED> {
    fn classes(&self) -> u32 {
        self.links.groups().min(2)
    }

    fn steps(&self, at: RouterId, bits: u32, target: RouterId, out: &mut Vec<Step>) {
        if self.same_group(at, target) {
            out.push(self.local_step(at, target.0, bits));
            return;
        }
        for exit in self.best(at, target).iter() {
            let step = self.towards(at, exit, bits);
            if !out.contains(&step) {
                out.push(step);
            }
        }
    }

    /// Every exit is as likely as the others; several may lie behind one output.
    fn likely_steps(&self, at: RouterId, bits: u32, target: RouterId, mut visit: impl FnMut(f64, Step)) {
        if self.same_group(at, target) {
            return visit(1.0, self.local_step(at, target.0, bits));
        }
        let best = self.best(at, target);
        let each = 1.0 / f64::from(best.count());
        best.iter().for_each(|exit| visit(each, self.towards(at, exit, bits)));
    }

    #[inline(always)]
    fn step(&self, at: RouterId, bits: u32, target: RouterId, rng: &mut Rng) -> Step {
        if TABLED {
            return self.step_in_table(at, bits, target);
        }
        if self.same_group(at, target) {
            return self.local_step(at, target.0, bits);
        }
        if let Some(exit) = self.only_exit(at, target) {
            return self.towards(at, exit, bits);
        }
        // A copy: what a function that is not inlined refers to is in memory from the start, whether it is called or not.
        let mut draws = *rng;
        let step = self.drawn_step(at, bits, target, &mut draws);
        *rng = draws;
        step
    }

    #[inline(always)]
    fn first_and_queues(
        &self,
        [from, target]: [RouterId; 2],
        channels: &ChannelEnds,
        queue: impl Fn(PortId) -> u32,
    ) -> Option<(Step, u32)> {
        if !self.single {
            return None;
        }
        if self.same_group(from, target) {
            let step = self.local_step(from, target.0, 0);
            return Some((step, queue(channels.output(from, step.port))));
        }
        // The queues of three outputs, whether the path has the local hops or not: that is often mispredicted.
        let exit = self.only_exit(from, target)?;
        let first = self.towards(from, exit, 0);
        let (before, after) = (exit.router != from.0, exit.peer != target.0);
        let last = self.local_step(RouterId(exit.peer), target.0, 0).port;
        let last = channels.output(RouterId(exit.peer), if after { last } else { 0 });
        let local = |hop: bool, port| queue(port) & u32::from(hop).wrapping_neg();
        let sum = local(before, channels.output(from, first.port)) + queue(exit.output) + local(after, last);
        Some((first, sum))
    }

    #[inline(always)]
    fn expect(&self, at: RouterId, target: RouterId) {
        if TABLED {
            prefetch(&self.table, self.place(at, target));
        } else if self.is_far() {
            prefetch(&self.local, (at.0 * self.group_size) as usize);
            prefetch(&self.exits, self.links.between(at, target).start);
        }
    }

    #[inline(always)]
    fn is_far(&self) -> bool {
        self.exits.len() > FEW_EXITS
    }

    #[inline(always)]
    fn only_step(&self, at: RouterId, bits: u32, target: RouterId) -> Option<Step> {
        if TABLED {
            return Some(self.step_in_table(at, bits, target));
        }
        if self.same_group(at, target) {
            return Some(self.local_step(at, target.0, bits));
        }
        let exit = match self.only_exit(at, target) {
            Some(exit) => exit,
            None => {
                let best = self.best(at, target);
                if best.count() > 1 {
                    return None;
                }
                best.nth(0)?
            }
        };
        Some(self.towards(at, exit, bits))
    }

    #[inline(always)]
    fn draws_only_steps(&self) -> bool {
        !TABLED && !self.single
    }

    #[inline(always)]
    fn hops(&self, from: RouterId, to: RouterId) -> u32 {
        if from == to {
            return 0;
        }
        if self.same_group(from, to) {
            return 1;
        }
        self.best(from, to).nth(0).map_or(0, |exit| Self::cost(exit, from, to))
    }

    #[inline(always)]
    fn answers_at_target(&self) -> bool {
        TABLED
    }

    #[inline(always)]
    fn eject_class(&self, bits: u32) -> Option<u8> {
        Some(bits as u8)
    }

    fn ugal(&self) -> UgalRule {
        UgalRule { weights: Some((1, 2)), bias: 3, bias_by_sent: 30 }
    }

    /// Only a third group makes a detour.
    #[inline(always)]
    fn candidate(&self, src: RouterId, dst: RouterId, routers: u32, rng: &mut Rng) -> Option<RouterId> {
        let [from, to] = [src, dst].map(|router| self.links.group(router));
        if from == to {
            return None;
        }
        let via = RouterId(rng.below(routers));
        let group = self.links.group(via);
        (group != from && group != to).then_some(via)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology;

    #[test]
    fn the_best_exits_are_those_of_the_least_cost() {
        for (spec, most) in [
            ("dragonfly:a=4,h=2,p=2", 1),
            ("dragonfly:a=4,h=4,p=2,g=3", 8),
            ("dragonfly:a=6,h=2,p=4,g=7", 2),
            ("dragonfly:a=12,h=6,p=1,g=2", 72),
            ("dragonfly:a=16,h=9,p=1,g=2", 144),
        ] {
            let network = topology::build(spec).expect(spec);
            let minimal = DragonflyMinimal::new(&network).expect("it has groups");
            assert_eq!(minimal.links.most_of_a_pair(), most, "{spec}");
            for (at, to) in network.routers().flat_map(|at| network.routers().map(move |to| (at, to))) {
                if minimal.same_group(at, to) {
                    continue;
                }
                let exits = minimal.exits(at, to);
                let costs: Vec<u32> = exits.iter().map(|exit| DragonflyMinimal::<false>::cost(exit, at, to)).collect();
                let least = costs.iter().min().expect("groups are joined");
                let expected = exits.iter().zip(&costs).filter(|(_, cost)| *cost == least);
                let expected: Vec<PortId> = expected.map(|(exit, _)| exit.output).collect();
                let best = minimal.best(at, to);
                let found: Vec<PortId> = best.iter().map(|exit| exit.output).collect();
                assert_eq!((found, best.count()), (expected.clone(), expected.len() as u32), "{spec}: {at} {to}");
                assert!(best.nth(best.count()).is_none());
                assert_eq!(minimal.hops(at, to), *least);
                assert_eq!(minimal.only_step(at, 0, to).is_some(), expected.len() == 1);
            }
        }
    }

    #[test]
    fn the_table_has_the_steps_of_the_links() {
        for (spec, tabled) in [
            ("dragonfly:a=4,h=2,p=2", true),
            ("dragonfly:a=8,h=4,p=4", true),
            ("dragonfly:a=4,h=2,p=2,g=2", false),
            ("dragonfly:a=12,h=6,p=1", false),
        ] {
            let network = topology::build(spec).expect(spec);
            let by_links = || DragonflyMinimal::new(&network).expect("it has groups");
            let table = by_links().table(&network);
            assert_eq!(table.is_some(), tabled, "{spec}");
            let Some(table) = table else { continue };
            let (minimal, by_links) = (by_links().tabled(table), by_links());
            let pairs = network.routers().flat_map(|at| network.routers().map(move |to| (at, to)));
            for (at, to) in pairs.filter(|(at, to)| at != to) {
                for bits in [0, 1] {
                    let mut rng = Rng::stream(0, 0);
                    let (own, other) = (minimal.step(at, bits, to, &mut rng), by_links.step(at, bits, to, &mut rng));
                    assert_eq!(own, other, "{spec}: {at} {to}");
                    assert_eq!(minimal.only_step(at, bits, to), Some(own));
                    let found = network.neighbors(at).find(|(port, _)| *port == u32::from(own.port));
                    let (peer, group) = (found.expect("a link").1, minimal.same_group(at, to));
                    assert_eq!(minimal.same_group(peer, at), own.bits == bits, "{spec}: {at} {to}");
                    assert!(!group || peer == to);
                }
            }
        }
    }
}
