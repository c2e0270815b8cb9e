//! `lbr`: stochastic load-balanced routing, the global version (Jeon et al., FleX, IEEE Access 2022, section III-C2).
//!
//! A pair of routers has N minimal paths and M Valiant paths as candidates; paths that repeat another or come back to
//! source or destination are left out. Every T cycles all queues are published. A source then splits its packets among
//! the candidates so that their queues become equally long: water-filling, which is what equations (9) and (10) of the
//! paper amount to when busy paths are removed one by one (removed at once, they can leave probabilities below zero).
//! q(p) is the sum of the published occupancies of the outputs along path p, the packets to split are those that the
//! source router sent in the interval before. Of candidates with equal queues the shorter ones take all, or, with
//! `ties=paper`, share evenly as in the equations, which at zero load sends M of N + M packets by Valiant.
//! `equations=printed` takes (9) and (10) as they stand: busy paths are removed once, and where a probability comes out
//! below zero, the paths behind it in their order get less, as in a program that adds them up to what it has drawn.
//!
//! A path is a pure function of its number and its ends, so that a packet carries the path that its source has weighed:
//! the Valiant candidates of an interval differ in their intermediate routers, and between two routers, path number k
//! draws its hops from a stream of their ids and k.

use std::sync::atomic::{AtomicU32, Ordering};

use super::channels::ChannelEnds;
use super::minimal::{self, with_minimal};
use super::paths::{Hop, Paths};
use super::twophase::TwoPhase;
use super::{
    Again, AnyRouting, Availability, Looks, Minimal, Move, NO_VIA, PacketState, Routing, RoutingInfo, Step, View,
    twophase,
};
use crate::catalogue::{Arguments, Key, Kind};
use crate::error::Result;
use crate::network::{Network, RouterId};
use crate::rng::{Rng, mix};

pub(super) const LBR: RoutingInfo = RoutingInfo {
    name: "lbr",
    summary: "stochastic load-balanced routing: splits packets among minimal and Valiant paths so that their queues \
              become equally long",
    offered: Availability::Anywhere,
    classes: "as val",
    adapts: Some(true),
    keys: &[
        Key::new(
            "n",
            Kind::Or("all", &Kind::Int(1, MOST as u64)),
            "minimal candidates of a pair (default 1); all: as many as there are first hops on minimal paths",
        ),
        Key::new("m", Kind::Int(0, MOST as u64), "Valiant candidates of a pair (default 3)"),
        Key::new("t", Kind::Int(1, 1_000_000), "cycles from one publication of all queues to the next (default 1)"),
        Key::new(
            "ties",
            Kind::Choice(&["shorter", "paper"]),
            "shorter: of equal queues the shorter paths take all (default); paper: they share evenly",
        ),
        Key::new(
            "equations",
            Kind::Choice(&["corrected", "printed"]),
            "corrected: probabilities that cannot be below zero (default); printed: equations (9) and (10) as they \
             appear in the paper, whatever `ties`",
        ),
    ],
    build,
};

/// As many candidates are listed without memory that is allocated.
const FEW: usize = 8;

/// The most candidates of either kind: their numbers are in 8 bits of a packet's state.
const MOST: u32 = 64;

fn build(network: &Network, given: &Arguments) -> Result<Option<AnyRouting>> {
    let minimal = given.unless_word("n").unwrap_or(Some(1));
    let all = minimal.is_none();
    let valiant = given.count("m").unwrap_or(3);
    let period = given.count("t").unwrap_or(1);
    let rule = match (given.choice("equations"), given.choice("ties")) {
        ("printed", _) => Rule::Printed,
        (_, "paper") => Rule::Even,
        _ => Rule::Shorter,
    };
    // All minimal paths are those of the tables; the few are those of the family's own minimal routing.
    let ways = if all { minimal::terminal_table(network)? } else { minimal::phase(network)? };
    let given = LbrKeys { minimal, valiant, period, rule };
    Ok(Some(with_minimal!(ways, m => AnyRouting::new(LoadBalancing::new(m, network, given)))))
}

/// What users choose.
struct LbrKeys {
    /// N, or `None` for all.
    minimal: Option<u32>,
    /// M.
    valiant: u32,
    /// T.
    period: u32,
    rule: Rule,
}

/// See the module's documentation.
pub struct LoadBalancing<M> {
    two: TwoPhase<M, true>,
    given: LbrKeys,
    channels: ChannelEnds,
    /// Path number 0 of each pair, unless the network is large.
    paths: Option<Paths>,
}

/// How packets are split among candidates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rule {
    /// Water-filling; of equal queues the shorter paths take all.
    Shorter,
    /// Water-filling; of equal queues all take the same.
    Even,
    /// Equations (9) and (10) as they are printed.
    Printed,
}

impl Rule {
    /// A queue that is longer than another one by this many flits, or more, gets nothing of `packets` packets: the other one,
    /// filled alone, stays shorter.
    #[inline(always)]
    fn most(self, packets: u32) -> u32 {
        if self == Rule::Printed { LONGEST } else { packets.max(1) }
    }
}

/// No path has queues of as many flits, and no router sends as many packets in an interval. What is no path has longer ones.
const LONGEST: u32 = 1 << 30;

/// A path that a packet may take.
#[derive(Debug, Clone, Copy, Default)]
struct Candidate {
    /// Flits in its queues.
    queue: u32,
    /// 0 where no other path may take packets: then they may not be counted.
    hops: u32,
    /// A hash of its links, or 0 as long as queue and hops differ from those of other paths.
    mark: u64,
    /// Its intermediate router, or [`NO_VIA`].
    via: u32,
    /// Its number among the paths to its intermediate router or, without one, to its destination.
    path: u32,
}

/// What is found of the candidates of a packet.
struct Search<'a> {
    /// See [`Rule::most`].
    most: u32,
    /// Room for all candidates, and how many have been found.
    room: &'a mut [Candidate],
    found: usize,
}

impl Search<'_> {
    #[inline(always)]
    fn add(&mut self, path: Candidate) {
        self.room[self.found] = path;
        self.found += 1;
    }

    /// The length from which on a queue gets nothing.
    #[inline(always)]
    fn limit(&self) -> u32 {
        let shortest = self.room[..self.found].iter().fold(LONGEST, |shortest, path| shortest.min(path.queue));
        shortest + self.most
    }

    /// Keeps the paths that may take packets; returns how many there are.
    #[inline(always)]
    fn keep(&mut self) -> usize {
        let limit = self.limit().min(LONGEST);
        retain(&mut self.room[..self.found], |_, path| path.queue < limit)
    }
}

/// Keeps the paths that `keeps` is true of, in their order; returns how many there are. It sees those kept before as well.
#[inline(always)]
fn retain(paths: &mut [Candidate], mut keeps: impl FnMut(&mut [Candidate], &mut Candidate) -> bool) -> usize {
    let mut kept = 0;
    for place in 0..paths.len() {
        let mut path = paths[place];
        let keep = keeps(&mut paths[..kept], &mut path);
        // Which ones are kept is often mispredicted, hence no branch.
        paths[kept] = path;
        kept += usize::from(keep);
    }
    kept
}

/// The queues of all outputs in the network, as last published.
struct Queues<'a, V> {
    view: &'a V,
    /// The same as a table, where the view has one: a packet looks at some twenty queues.
    all: Option<&'a [AtomicU32]>,
}

impl<V: View> Queues<'_, V> {
    /// That of a hop, or 0 if there is none.
    #[inline(always)]
    fn of(&self, hop: &Hop) -> u32 {
        match self.all {
            Some(all) => all[hop.port.index()].load(Ordering::Relaxed),
            None if hop.exists() => self.view.published(hop.port),
            None => 0,
        }
    }
}

/// The number of a path and the bits of its minimal algorithm, in the bits of a packet.
#[inline(always)]
fn pack(path: u32, bits: u32) -> u32 {
    path << 24 | bits & 0xFF_FFFF
}

/// The inverse of [`pack`]; a minimal algorithm may set all bits.
#[inline(always)]
fn unpack(packed: u32) -> (u32, u32) {
    let bits = packed & 0xFF_FFFF;
    (packed >> 24, if bits == 0xFF_FFFF { u32::MAX } else { bits })
}

/// The stream of path number `path` from one router towards another.
#[inline(always)]
fn stream(path: u32, at: RouterId, target: RouterId) -> Rng {
    Rng::stream(u64::from(path), u64::from(at.0) << 32 | u64::from(target.0))
}

impl<M: Minimal> LoadBalancing<M> {
    fn new(minimal: M, network: &Network, given: LbrKeys) -> Self {
        let two = TwoPhase::new(minimal, network, twophase::Options::default());
        let mut made = Self { two, given, channels: ChannelEnds::new(network), paths: None };
        made.paths = Paths::new(network.num_routers(), network.ports().len(), |[from, to], hops| {
            if made.two.minimal().reaches(from, to) {
                made.walk(from, to, 0, |hop| {
                    hops.push(hop);
                    true
                });
            }
        });
        made
    }

    /// The state in which path number `path` begins to the destination itself.
    #[inline(always)]
    fn begin(&self, at: RouterId, dst: RouterId, path: u32) -> PacketState {
        PacketState::direct(pack(path, self.two.minimal().begin(&mut stream(path, at, dst))))
    }

    /// The paths that are kept, if every path of their number to a target takes the same hop at a router.
    #[inline(always)]
    fn first_hops(&self) -> Option<&Paths> {
        self.paths.as_ref().filter(|_| self.given.minimal.is_some() && self.two.minimal().counts_hops())
    }

    #[inline(always)]
    fn step(&self, at: RouterId, bits: u32, target: RouterId, path: u32) -> Step {
        let minimal = self.two.minimal();
        if let (0, Some(paths)) = (path, self.first_hops()) {
            // At the target itself it is any port.
            let port = self.channels.local(at, paths.first(at, target).port);
            return Step { port, class: bits as u8, bits: bits + 1 };
        }
        // Only the first hop distinguishes minimal paths of one pair: bits count hops in the tables.
        let numbered =
            if self.given.minimal.is_none() && bits == 0 { minimal.nth_step(at, bits, target, path) } else { None };
        numbered.unwrap_or_else(|| minimal.step(at, bits, target, &mut stream(path, at, target)))
    }

    /// The one hop that follows from a state.
    #[inline(always)]
    fn hop(&self, at: RouterId, state: PacketState, dst: RouterId) -> Move {
        let state = if state.via == at.0 { self.begin(at, dst, 0) } else { state };
        let (path, bits) = unpack(state.bits);
        let step = self.step(at, bits, state.target(dst), path);
        self.two.hop(Step { bits: pack(path, step.bits), ..step }, state.via)
    }

    /// Shows `visit` the hops of path number `path`, until it returns false; false if it did.
    #[inline(always)]
    fn walk(&self, from: RouterId, target: RouterId, path: u32, mut visit: impl FnMut(Hop) -> bool) -> bool {
        if let (0, Some(paths)) = (path, &self.paths) {
            return paths.between(from, target).all(visit);
        }
        let mut at = from;
        let mut bits = unpack(self.begin(from, target, path).bits).1;
        while at != target {
            let step = self.step(at, bits, target, path);
            let port = self.channels.output(at, step.port);
            at = self.channels.behind(port);
            bits = unpack(pack(path, step.bits)).1;
            if !visit(Hop { port, to: at }) {
                return false;
            }
        }
        true
    }

    /// Shows `visit` the hops of path number `path` over `via`, each with the router that it leads towards.
    #[inline(always)]
    fn legs(
        &self,
        [src, dst]: [RouterId; 2],
        via: u32,
        path: u32,
        mut visit: impl FnMut(RouterId, Hop) -> bool,
    ) -> bool {
        if via == NO_VIA {
            return self.walk(src, dst, path, |hop| visit(dst, hop));
        }
        let turn = RouterId(via);
        self.walk(src, turn, path, |hop| visit(turn, hop)) && self.walk(turn, dst, 0, |hop| visit(dst, hop))
    }

    /// A path by its intermediate router and its number; `None` if it comes back to its source, or to its destination before
    /// its intermediate router, or as soon as its queues are as long as `limit`.
    // Not inlined: it would take all registers of those that rarely call it.
    #[inline(never)]
    fn follow<V: View>(
        &self,
        ends: [RouterId; 2],
        [via, path]: [u32; 2],
        limit: u32,
        queues: &Queues<'_, V>,
    ) -> Option<Candidate> {
        let [src, dst] = ends;
        let (mut queue, mut hops) = (0, 0);
        let whole = self.legs(ends, via, path, |target, hop| {
            queue += queues.of(&hop);
            hops += 1;
            let lost = hop.to == src || (hop.to == dst && target != dst);
            !lost && queue < limit
        });
        whole.then_some(Candidate { queue, hops, mark: 0, via, path })
    }

    /// The same of path number 0 where paths are kept, with a queue of [`LONGEST`] flits or more if it is none: without a branch
    /// that depends on the path or its queues. Those are often mispredicted. Its hops are not counted.
    #[inline(always)]
    fn follow_kept<V: View, const HOPS: usize>(
        [src, dst]: [RouterId; 2],
        via: u32,
        paths: &Paths,
        queues: &Queues<'_, V>,
    ) -> Candidate {
        let queue_of = |places: &[Hop]| places.iter().map(|hop| queues.of(hop)).sum::<u32>();
        if via == NO_VIA {
            let queue = queue_of(paths.places::<HOPS>(src, dst));
            return Candidate { queue, hops: 0, mark: 0, via, path: 0 };
        }
        let turn = RouterId(via);
        let (before, behind) = (paths.places::<HOPS>(src, turn), paths.places::<HOPS>(turn, dst));
        // No path comes to one router twice, but two of them may. The last hop of each leads where it ends.
        let meets = |places: &[Hop], end: RouterId| {
            places[..places.len() - 1].iter().fold(0, |met, hop| met | u32::from(hop.to == end))
        };
        let lost = meets(before, dst) | meets(behind, src);
        let queue = (queue_of(before) + queue_of(behind)) | (lost * LONGEST);
        Candidate { queue, hops: 0, mark: 0, via, path: 0 }
    }

    /// Counts the hops of those paths of which [`LoadBalancing::follow_kept`] does not.
    #[inline(always)]
    fn count_hops<const HOPS: usize>([src, dst]: [RouterId; 2], paths: &Paths, candidates: &mut [Candidate]) {
        let count = |from, to| paths.places::<HOPS>(from, to).iter().map(|hop| u32::from(hop.exists())).sum::<u32>();
        for candidate in candidates.iter_mut().filter(|candidate| candidate.path == 0) {
            let turn = RouterId(candidate.via);
            candidate.hops =
                if candidate.via == NO_VIA { count(src, dst) } else { count(src, turn) + count(turn, dst) };
        }
    }

    /// Keeps each path once, in their order; returns how many there are. Few have equally many hops and equally long queues:
    /// these alone get marks.
    #[inline(always)]
    fn unique(&self, ends: [RouterId; 2], paths: &mut [Candidate]) -> usize {
        retain(paths, |kept, new| !self.is_there(ends, kept, new))
    }

    /// True if a path is among others.
    #[inline(always)]
    fn is_there(&self, ends: [RouterId; 2], paths: &mut [Candidate], new: &mut Candidate) -> bool {
        let cost = (new.queue, new.hops);
        for old in paths.iter_mut().filter(|old| (old.queue, old.hops) == cost) {
            for path in [&mut *old, &mut *new] {
                if path.mark == 0 {
                    path.mark = self.mark(ends, path.via, path.path);
                }
            }
            if old.mark == new.mark {
                return true;
            }
        }
        false
    }

    /// A hash of the links of a path.
    fn mark(&self, ends: [RouterId; 2], via: u32, path: u32) -> u64 {
        let mut mark = 0;
        self.legs(ends, via, path, |_, hop| {
            mark = mix(mark ^ (u64::from(hop.port.0) + 1));
            true
        });
        mark
    }

    /// Lists those of `minimal` and Valiant candidates of a pair in this interval that may take any of `packets` packets, each
    /// path once; returns how many there are. There is `room` for all.
    #[inline(always)]
    fn candidates<V: View>(
        &self,
        ends: [RouterId; 2],
        minimal: u32,
        packets: u32,
        view: &V,
        room: &mut [Candidate],
    ) -> usize {
        let queues = Queues { view, all: view.published_table() };
        let search = Search { most: self.given.rule.most(packets), room, found: 0 };
        let found = match &self.paths {
            Some(paths) if paths.longest() == 2 => self.search::<V, 2>(ends, minimal, Some(paths), &queues, search),
            Some(paths) if paths.longest() == 3 => self.search::<V, 3>(ends, minimal, Some(paths), &queues, search),
            paths => self.search::<V, 0>(ends, minimal, paths.as_ref(), &queues, search),
        };
        if found > 1 { self.unique(ends, &mut room[..found]) } else { found }
    }

    /// The same, where a path may be found twice. `HOPS` is what [`Paths::places`] takes.
    #[inline(never)]
    fn search<V: View, const HOPS: usize>(
        &self,
        ends: [RouterId; 2],
        minimal: u32,
        paths: Option<&Paths>,
        queues: &Queues<'_, V>,
        mut search: Search<'_>,
    ) -> usize {
        let [src, dst] = ends;
        for path in 0..minimal {
            self.consider::<V, HOPS>(ends, [NO_VIA, path], paths, queues, &mut search);
        }
        let mut rng = Rng::stream(u64::from(queues.view.interval()), u64::from(src.0) << 32 | u64::from(dst.0));
        rng.begin();
        for _ in 0..self.given.valiant {
            if let Some(via) = self.two.candidate(src, dst, &mut rng) {
                self.consider::<V, HOPS>(ends, [via.0, 0], paths, queues, &mut search);
            }
        }
        let found = search.keep();
        // Those of an only one are not looked at.
        if let (Some(paths), true) = (paths, found > 1) {
            Self::count_hops::<HOPS>(ends, paths, &mut search.room[..found]);
        }
        found
    }

    /// Adds a path by its intermediate router and its number.
    #[inline(always)]
    fn consider<V: View, const HOPS: usize>(
        &self,
        ends: [RouterId; 2],
        [via, path]: [u32; 2],
        paths: Option<&Paths>,
        queues: &Queues<'_, V>,
        search: &mut Search<'_>,
    ) {
        if let (Some(paths), 0) = (paths, path) {
            search.add(Self::follow_kept::<V, HOPS>(ends, via, paths, queues));
        } else if let Some(candidate) = self.follow(ends, [via, path], search.limit(), queues) {
            search.add(candidate);
        }
    }

    /// The state in which a packet begins a path.
    #[inline(always)]
    fn state(&self, [src, dst]: [RouterId; 2], chosen: Candidate) -> PacketState {
        let target = if chosen.via == NO_VIA { dst } else { RouterId(chosen.via) };
        PacketState { via: chosen.via, ..self.begin(src, target, chosen.path) }
    }

    /// Splits packets among the candidates of their pair: the state in which one begins.
    #[inline(always)]
    fn decide<V: View>(
        &self,
        ends: [RouterId; 2],
        minimal: u32,
        packets: u32,
        view: &V,
        room: &mut [Candidate],
        rng: &mut Rng,
    ) -> PacketState {
        let chosen = match self.candidates(ends, minimal, packets, view, room) {
            0 => return self.begin(ends[0], ends[1], 0),
            1 => draw_only(room[0], rng),
            found => draw(&mut room[..found], packets, self.given.rule, rng),
        };
        self.state(ends, chosen)
    }

    fn minimal_paths(&self, src: RouterId, dst: RouterId) -> u32 {
        self.given.minimal.unwrap_or_else(|| {
            let there = |path: &u32| self.two.minimal().nth_step(src, 0, dst, *path).is_some();
            (0..MOST).take_while(there).count() as u32
        })
    }
}

/// Draws an only path: a number all the same, so that what is listed without a chance changes nothing.
#[inline(always)]
fn draw_only(only: Candidate, rng: &mut Rng) -> Candidate {
    rng.unit();
    only
}

/// Draws a path, so that `packets` packets make the queues equally long.
fn draw(paths: &mut [Candidate], packets: u32, rule: Rule, rng: &mut Rng) -> Candidate {
    if rule == Rule::Printed {
        return draw_as_printed(paths, packets, rng);
    }
    if let [only] = paths[..] {
        return draw_only(only, rng);
    }
    paths.sort_unstable_by_key(|path| (path.queue, path.hops, path.mark));
    let paths = if rule == Rule::Shorter { shorter(paths) } else { paths };
    let level = level(paths.iter().map(|path| path.queue), packets);
    let mut left = rng.unit() * paths.iter().map(|path| share(path.queue, level)).sum::<f64>();
    for path in &paths[1..] {
        let share = share(path.queue, level);
        if left <= share {
            return *path;
        }
        left -= share;
    }
    paths[0]
}

/// Of paths in the order of their queues and hops, those as short as the first one of their queue.
fn shorter(paths: &mut [Candidate]) -> &mut [Candidate] {
    let mut first = (u32::MAX, 0);
    let kept = retain(paths, |_, path| {
        if path.queue != first.0 {
            first = (path.queue, path.hops);
        }
        path.hops == first.1
    });
    &mut paths[..kept]
}

/// Draws a path by equations (9) and (10), with the packets of an interval as q_s T. Where (9) removes all paths, none
/// is removed.
fn draw_as_printed(paths: &[Candidate], packets: u32, rng: &mut Rng) -> Candidate {
    let queues = |paths: &[Candidate]| paths.iter().map(|path| f64::from(path.queue)).sum::<f64>();
    let busy = (f64::from(packets) + queues(paths)) / paths.len() as f64;
    let kept: Vec<Candidate> = paths.iter().filter(|path| f64::from(path.queue) < busy).copied().collect();
    let kept = if kept.is_empty() { paths } else { &kept };
    let (mean, all) = (queues(kept) / kept.len() as f64, f64::from(packets));
    let even = 1.0 / kept.len() as f64;
    let alpha = |path: &Candidate| if packets == 0 { even } else { even + (mean - f64::from(path.queue)) / all };
    let (drawn, mut sum) = (rng.unit(), 0.0);
    let chosen = kept.iter().find(|path| {
        sum += alpha(path);
        sum >= drawn
    });
    *chosen.unwrap_or(&kept[kept.len() - 1])
}

/// How long several ascending queues become that `packets` packets fill up to one length. With no packet, just over
/// the shortest one.
fn level(queues: impl Iterator<Item = u32>, packets: u32) -> f64 {
    let (mut kept, mut level, mut sum) = (0, f64::INFINITY, f64::from(packets));
    for queue in queues.map(f64::from) {
        if queue >= level {
            break;
        }
        kept += 1;
        sum += queue;
        level = sum / f64::from(kept);
    }
    if packets == 0 { level + 1e-9 } else { level }
}

/// The packets that a queue gets.
fn share(queue: u32, level: f64) -> f64 {
    (level - f64::from(queue)).max(0.0)
}

impl<M: Minimal> Routing for LoadBalancing<M> {
    fn classes(&self) -> u32 {
        self.two.classes()
    }

    fn vcs(&self) -> u32 {
        self.two.vcs()
    }

    fn starts(&self, src: RouterId, dst: RouterId, out: &mut Vec<PacketState>) {
        let mut starts = Vec::new();
        self.two.starts(src, dst, &mut starts);
        for start in starts {
            let paths = if start.via == NO_VIA { self.minimal_paths(src, dst) } else { 1 };
            out.extend((0..paths).map(|path| PacketState { bits: pack(path, start.bits), ..start }));
        }
    }

    fn moves(&self, at: RouterId, state: PacketState, dst: RouterId, out: &mut Vec<Move>) {
        // What is in flight has one hop; more states are listed than occur, so every one that could is listed here.
        let (path, bits) = unpack(state.bits);
        let mut all = Vec::new();
        self.two.moves(at, PacketState { bits, ..state }, dst, &mut all);
        out.extend(all.into_iter().map(|hop| {
            let path = if state.via == at.0 { 0 } else { path };
            Move { next: PacketState { bits: pack(path, hop.next.bits), ..hop.next }, ..hop }
        }));
    }

    #[inline(always)]
    fn start<V: View>(&self, src: RouterId, dst: RouterId, view: &V, rng: &mut Rng) -> PacketState {
        let packets = view.sent_before(src, !view.decides_again());
        let minimal = self.minimal_paths(src, dst);
        let all = (minimal + self.given.valiant) as usize;
        if all <= FEW {
            return self.decide([src, dst], minimal, packets, view, &mut [Candidate::default(); FEW], rng);
        }
        self.decide([src, dst], minimal, packets, view, &mut vec![Candidate::default(); all], rng)
    }

    #[inline(always)]
    fn choose<V: View>(&self, at: RouterId, state: PacketState, dst: RouterId, _view: &V, _rng: &mut Rng) -> Move {
        self.hop(at, state, dst)
    }

    #[inline(always)]
    fn answers_at_destination(&self, fresh: bool) -> bool {
        !fresh && self.given.minimal == Some(1) && self.first_hops().is_some()
    }

    #[inline(always)]
    fn eject_class(&self, state: PacketState) -> Option<u8> {
        self.two.eject_class(PacketState { bits: unpack(state.bits).1, ..state })
    }

    fn decides_again(&self) -> Again {
        Again::Revocable(1)
    }

    #[inline(always)]
    fn draws(&self, _fresh: bool) -> bool {
        false
    }

    #[inline(always)]
    fn looks_in_transit(&self) -> Looks {
        Looks::Nowhere
    }

    fn snapshot_period(&self) -> u32 {
        self.given.period
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;
    use crate::network::PortId;
    use crate::rng::Rng;

    proptest! {
        #[test]
        fn queues_that_get_packets_become_equally_long(
            mut queues in prop::collection::vec(0u32..800, 1..8),
            packets in 0u32..400,
        ) {
            queues.sort_unstable();
            let level = level(queues.iter().copied(), packets);
            let shares: Vec<f64> = queues.iter().map(|&queue| share(queue, level)).collect();
            let given: f64 = shares.iter().sum();
            prop_assert!((given - f64::from(packets)).abs() < 1e-6, "all packets are given, and no more");
            for (&queue, &share) in queues.iter().zip(&shares) {
                let after = f64::from(queue) + share;
                let even = if share > 0.0 { (after - level).abs() < 1e-6 } else { after >= level - 1e-6 };
                prop_assert!(even, "a queue ends at {}, not {}", after, level);
            }
        }
    }

    #[test]
    fn what_gets_nothing_changes_no_draw() {
        let path = |hops, queue| Candidate { queue, hops, mark: u64::from(hops), ..Candidate::default() };
        for rule in [Rule::Shorter, Rule::Even] {
            for packets in 0..4 {
                // Of the first list one path is left, unless there are several packets.
                let lists = [
                    [path(2, 3), path(4, 0), path(5, 4), path(6, 9), path(3, 2), path(7, 1)],
                    [path(2, 3), path(4, 1), path(5, 4), path(6, 9), path(3, 2), path(7, 1)],
                ];
                for all in lists {
                    let limit = all.iter().map(|path| path.queue + rule.most(packets)).min().expect("some");
                    let short: Vec<Candidate> = all.iter().filter(|path| path.queue < limit).copied().collect();
                    assert!(short.len() < all.len(), "the longest gets nothing");
                    let (mut one, mut other) = (Rng::stream(3, 3), Rng::stream(3, 3));
                    for _ in 0..200 {
                        let of_all = draw(&mut all.to_vec(), packets, rule, &mut one);
                        assert_eq!(of_all.mark, draw(&mut short.clone(), packets, rule, &mut other).mark);
                    }
                    assert_eq!(one.bits(), other.bits(), "as many draws");
                }
            }
        }
    }

    /// Random short queues of all outputs in the network, perhaps as a table.
    #[derive(Clone)]
    struct Published {
        seed: u64,
        table: Option<Arc<[AtomicU32]>>,
    }

    impl Published {
        fn tabled(self, ports: usize) -> Self {
            let queues = (0..ports as u32).map(|port| self.published(PortId(port)));
            Self { table: Some(queues.chain([0]).map(AtomicU32::new).collect()), ..self }
        }
    }

    impl View for Published {
        fn copy(&self) -> Self {
            self.clone()
        }

        fn published_table(&self) -> Option<&[AtomicU32]> {
            self.table.as_deref()
        }

        fn occupancy(&self, _port: u32) -> u32 {
            unreachable!("a routing that reads what is published")
        }

        fn published(&self, port: PortId) -> u32 {
            (mix(self.seed ^ mix(port.0.into())) % 3) as u32
        }

        fn interval(&self) -> u32 {
            self.seed as u32
        }

        fn free_vcs(&self, _port: u32, _class: u8) -> u32 {
            1
        }

        fn buffer(&self, _class: u8) -> u32 {
            8
        }
    }

    /// The outputs that a packet takes on a path, and its intermediate router and number, unless it comes back to its source,
    /// or to its destination too early.
    fn taken<M: Minimal>(lbr: &LoadBalancing<M>, ends: [RouterId; 2], via: u32, path: u32) -> Option<Taken> {
        let [src, dst] = ends;
        let mut state = lbr.state(ends, Candidate { via, path, ..Candidate::default() });
        let (mut at, mut ports) = (src, Vec::new());
        while at != dst || state.via != NO_VIA {
            let hop = lbr.hop(at, state, dst);
            let port = lbr.channels.output(at, hop.port);
            (at, state) = (lbr.channels.behind(port), hop.next);
            ports.push(port);
            if at == src || (at == dst && state.via != NO_VIA) {
                return None;
            }
        }
        Some((ports, via, path))
    }

    type Taken = (Vec<PortId>, u32, u32);

    /// The paths that may take packets, each once.
    fn expected<M: Minimal>(lbr: &LoadBalancing<M>, ends: [RouterId; 2], packets: u32, view: &Published) -> Vec<Taken> {
        let [src, dst] = ends;
        let mut all: Vec<_> = (0..lbr.minimal_paths(src, dst)).map(|path| taken(lbr, ends, NO_VIA, path)).collect();
        let mut rng = Rng::stream(view.seed, u64::from(src.0) << 32 | u64::from(dst.0));
        let vias: Vec<_> = (0..lbr.given.valiant).map(|_| lbr.two.candidate(src, dst, &mut rng)).collect();
        all.extend(vias.into_iter().flatten().map(|via| taken(lbr, ends, via.0, 0)));
        let queue = |path: &Taken| path.0.iter().map(|&port| view.published(port)).sum::<u32>();
        let all: Vec<Taken> = all.into_iter().flatten().collect();
        let shortest = all.iter().map(queue).min();
        let mut found = Vec::<Taken>::new();
        for path in all {
            let may =
                lbr.given.rule == Rule::Printed || Some(queue(&path)) < shortest.map(|least| least + packets.max(1));
            if may && found.iter().all(|(ports, ..)| *ports != path.0) {
                found.push(path);
            }
        }
        found
    }

    #[test]
    fn candidates_are_the_paths_that_packets_take() {
        let (mut several, mut twice) = (0, 0);
        for spec in ["flex:3x3x3", "hyperx:3x3", "dragonfly:a=4,h=2,p=2", "slimfly:q=5", "hyperx:2x2x2x2", "mesh:3x3"] {
            let network = crate::topology::build(spec).expect(spec);
            for (minimal, valiant, rule) in [
                (Some(1), 4, Rule::Shorter),
                (Some(2), 4, Rule::Printed),
                (Some(1), 1, Rule::Printed),
                (None, 4, Rule::Shorter),
                (Some(1), 12, Rule::Even),
            ] {
                let ways = if minimal.is_none() { minimal::table(&network) } else { minimal::phase(&network) };
                let given = LbrKeys { minimal, valiant, period: 1, rule };
                with_minimal!(ways.expect(spec), m => {
                    let lbr = LoadBalancing::new(m, &network, given);
                    let mut room = [Candidate::default(); 100];
                    for seed in 0..1000 {
                        let routers = network.num_routers() as u32;
                        let src = RouterId(seed as u32 % routers);
                        let ends = [src, RouterId((src.0 + 1 + seed as u32 / 7 % (routers - 1)) % routers)];
                        let (view, packets) = (Published { seed, table: None }, seed as u32 % 4);
                        let view = if seed % 2 == 0 { view } else { view.tabled(network.ports().len()) };
                        let minimal = lbr.minimal_paths(ends[0], ends[1]);
                        let found = lbr.candidates(ends, minimal, packets, &view, &mut room);
                        let of = |path: &Candidate| {
                            let ports = taken(&lbr, ends, path.via, path.path).expect("a path").0;
                            let queue: u32 = ports.iter().map(|&port| view.published(port)).sum();
                            assert_eq!(path.queue, queue, "{spec} {seed}");
                            // Those of an only one are most often not counted.
                            let uncounted = found == 1 && path.hops == 0;
                            assert!(uncounted || path.hops == ports.len() as u32, "{spec} {seed}");
                            (ports, path.via, path.path)
                        };
                        let paths: Vec<Taken> = room[..found].iter().map(of).collect();
                        assert_eq!(paths, expected(&lbr, ends, packets, &view), "{spec} {seed}");
                        several += usize::from(found > 1);
                        // Of no packets in the interval before: this view does not count them.
                        let begun = lbr.start(ends[0], ends[1], &view, &mut Rng::stream(seed, 2));
                        let all = expected(&lbr, ends, 0, &view);
                        let may = |(_, via, path): &Taken| (*via, *path) == (begun.via, unpack(begun.bits).0);
                        assert!(all.iter().any(may), "{spec} {seed}: {begun:?} of {all:?}");
                        twice += usize::from(room[..found].iter().any(|path| path.mark != 0));
                    }
                });
            }
        }
        assert!(several > 1000 && twice > 100, "{several} and {twice}");
    }

    #[test]
    fn kept_hops_are_those_of_the_minimal_algorithm() {
        for (spec, counts) in [("flex:3x4x3", true), ("slimfly:q=5", true), ("torus:4x3", false), ("hyperx:3x3", false)]
        {
            let network = crate::topology::build(spec).expect(spec);
            for minimal in [Some(1), None] {
                let given = LbrKeys { minimal, valiant: 1, period: 1, rule: Rule::Shorter };
                with_minimal!(minimal::phase(&network).expect(spec), m => {
                    let lbr = LoadBalancing::new(m, &network, given);
                    assert_eq!(lbr.two.minimal().counts_hops(), counts, "{spec}");
                    for (at, to) in network.routers().flat_map(|at| network.routers().map(move |to| (at, to))) {
                        // Of all paths, number 0 begins with the first hop of a list.
                        for bits in u32::from(minimal.is_none())..3 {
                            if at != to {
                                let expected = lbr.two.minimal().step(at, bits, to, &mut stream(0, at, to));
                                assert_eq!(lbr.step(at, bits, to, 0), expected, "{spec} {at:?} {to:?} {bits}");
                            }
                        }
                    }
                });
            }
        }
    }

    /// The state of the paper's equations that leaves probabilities of 3 and -2.
    #[test]
    fn a_long_queue_gets_nothing() {
        let shares = |queues: [u32; 3], packets| {
            let level = level(queues.into_iter(), packets);
            queues.map(|queue| share(queue, level))
        };
        assert_eq!(shares([0, 5, 10], 1), [1.0, 0.0, 0.0]);
        assert_eq!(shares([0, 2, 10], 4), [3.0, 1.0, 0.0]);
        let [a, b, c] = shares([0, 0, 10], 0);
        assert!(a > 0.0 && a == b && c == 0.0, "with no packet the shortest queues share evenly");
    }

    #[test]
    fn of_equal_queues_the_shorter_path_takes_all() {
        let path = |queue, hops| Candidate { queue, hops, mark: u64::from(queue * 100 + hops), ..Candidate::default() };
        for (rule, hops) in [(Rule::Shorter, vec![2]), (Rule::Even, vec![2, 4])] {
            let mut rng = Rng::stream(1, 1);
            let mut drawn: Vec<u32> =
                (0..200).map(|_| draw(&mut [path(0, 4), path(0, 2), path(9, 3)], 3, rule, &mut rng).hops).collect();
            drawn.sort_unstable();
            drawn.dedup();
            assert_eq!(drawn, hops);
        }
    }

    /// How often each of three paths is drawn by the equations as printed.
    fn drawn_as_printed(queues: [u32; 3], packets: u32) -> [f64; 3] {
        let path = |(hops, queue)| Candidate { queue, hops, ..Candidate::default() };
        let paths: Vec<Candidate> = (0..).zip(queues).map(path).collect();
        let mut rng = Rng::stream(2, 2);
        let mut counts = [0; 3];
        (0..20_000).for_each(|_| counts[draw_as_printed(&paths, packets, &mut rng).hops as usize] += 1);
        counts.map(|count| f64::from(count) / 20_000.0)
    }

    #[test]
    fn the_equations_as_printed() {
        let near = |found: [f64; 3], wanted: [f64; 3]| found.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 0.02);
        // (10) without a busy path: 1/3 + 4/10 - q/10 of each, which makes all queues 22/3.
        assert!(near(drawn_as_printed([2, 4, 6], 10), [8.0 / 15.0, 1.0 / 3.0, 2.0 / 15.0]));
        // (9) removes the path of 10, and (10) gives 3 and -2.
        assert!(near(drawn_as_printed([0, 5, 10], 1), [1.0, 0.0, 0.0]));
        assert!(near(drawn_as_printed([5, 0, 10], 1), [0.0, 1.0, 0.0]));
        // Without packets (9) removes those no shorter than the mean; of equal ones none is left, and all are kept.
        assert!(near(drawn_as_printed([1, 1, 4], 0), [0.5, 0.5, 0.0]));
        assert!(near(drawn_as_printed([3, 3, 3], 0), [1.0 / 3.0; 3]));
    }

    #[test]
    fn bits_survive_their_packing() {
        for bits in [0, 1, 77, u32::MAX] {
            assert_eq!(unpack(pack(5, bits)), (5, bits));
        }
    }
}
