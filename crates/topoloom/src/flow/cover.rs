//! Channels that cannot fill up before others do.
//!
//! On a mesh or a torus paths run along lines: a path is a few *runs* of consecutive channels. A channel is *covered* by the
//! next one if every run that crosses it crosses that one as well, and likewise by the one before. With the same capacity
//! it cannot fill up first, and progressive filling need not look at it. What is left of a line are the places where a
//! run ends and another one has begun since the last that ended: the largest sets of intervals with a point in common
//! (Gilmore and Hoffman, 1964). Of flows that go 16 hops along a line, all cross the channel in the middle.
//!
//! The channel of a terminal that has as much capacity as any link is *spare*: while only one run crosses it, the links of
//! that path cover it.

use crate::memory::prefetch;

/// A set of channels, a bit for each.
#[derive(Debug)]
struct Bits(Vec<u64>);

impl Bits {
    fn new(len: usize) -> Self {
        Self(vec![0; len / 64 + 1])
    }

    fn has(&self, at: u32) -> bool {
        self.0[at as usize / 64] >> (at % 64) & 1 != 0
    }

    fn set(&mut self, at: u32, on: bool) {
        let word = &mut self.0[at as usize / 64];
        *word = *word & !(1 << (at % 64)) | u64::from(on) << (at % 64);
    }

    /// The word of `at` without what is below it.
    fn from(&self, at: u32) -> u64 {
        self.0[at as usize / 64] & u64::MAX << (at % 64)
    }

    /// The highest member up to `at`, which must exist.
    fn last_to(&self, at: u32) -> u32 {
        let mut word = at as usize / 64;
        let mut bits = self.0[word] & u64::MAX >> (63 - at % 64);
        while bits == 0 {
            word -= 1;
            bits = self.0[word];
        }
        64 * word as u32 + bits.ilog2()
    }

    /// The members from `low` up to `high`.
    fn between(&self, low: u32, high: u32) -> Members<'_> {
        let upto = u64::MAX >> (63 - high % 64);
        let (word, last) = (low as usize / 64, high as usize / 64);
        let bits = self.from(low) & if word == last { upto } else { u64::MAX };
        Members { words: &self.0, word, last, upto, bits }
    }
}

/// The members of a set in a range.
pub(super) struct Members<'a> {
    words: &'a [u64],
    word: usize,
    last: usize,
    /// What counts of the last word.
    upto: u64,
    bits: u64,
}

impl Iterator for Members<'_> {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        while self.bits == 0 {
            if self.word >= self.last {
                return None;
            }
            self.word += 1;
            self.bits = self.words[self.word] & if self.word == self.last { self.upto } else { u64::MAX };
        }
        let at = self.bits.trailing_zeros();
        self.bits &= self.bits - 1;
        Some(64 * self.word as u32 + at)
    }
}

/// The runs of paths on all channels.
#[derive(Debug)]
pub(super) struct Cover {
    /// Channels that begin a line: no run continues with them from the one before.
    starts: Bits,
    /// How many runs have their lowest channel here, and their highest.
    counts: Vec<[u32; 2]>,
    /// Channels where these numbers are not 0.
    begins: Bits,
    ends: Bits,
    uncovered: Bits,
    spare: Bits,
    /// Where `begins` or `ends` has changed.
    touched: Vec<u32>,
}

impl Cover {
    /// No runs on this many channels. `joined` is true of channels that follow the one before them in a line, with the same
    /// capacity.
    pub fn new(channels: usize, mut joined: impl FnMut(u32) -> bool) -> Self {
        let mut starts = Bits::new(channels);
        let begins = |channel: &u32| *channel == 0 || !joined(*channel);
        (0..channels as u32).filter(begins).for_each(|channel| starts.set(channel, true));
        Self {
            starts,
            counts: vec![[0; 2]; channels],
            begins: Bits::new(channels),
            ends: Bits::new(channels),
            uncovered: Bits::new(channels),
            spare: Bits::new(channels),
            touched: Vec::new(),
        }
    }

    /// Makes a channel spare; it has no runs.
    pub fn set_spare(&mut self, channel: u32) {
        self.spare.set(channel, true);
    }

    /// A path that crosses no link crosses this channel, which therefore is not spare any more.
    pub fn keep(&mut self, channel: u32) {
        if self.spare.has(channel) {
            self.spare.set(channel, false);
            self.touched.push(channel);
        }
    }

    /// Adds a channel behind all others, which belongs to no line.
    pub fn add_channel(&mut self) {
        self.counts.push([0; 2]);
        for bits in [&mut self.starts, &mut self.begins, &mut self.ends, &mut self.uncovered, &mut self.spare] {
            bits.0.resize(self.counts.len() / 64 + 1, 0);
        }
        self.starts.set(self.counts.len() as u32 - 1, true);
    }

    /// The first channel of a channel's line.
    #[inline]
    pub fn line_of(&self, channel: u32) -> u32 {
        self.starts.last_to(channel)
    }

    /// The runs of a path, first and last channel of each.
    pub fn runs<'a>(&'a self, path: &'a [u32]) -> impl Iterator<Item = (u32, u32)> + 'a {
        let up = |a: u32, b: u32| b == a.wrapping_add(1) && !self.starts.has(b);
        let mut rest = path;
        std::iter::from_fn(move || {
            let (&first, mut left) = rest.split_first()?;
            let (mut last, mut direction) = (first, None);
            while let Some((&next, behind)) = left.split_first() {
                let goes = if up(last, next) {
                    Some(true)
                } else if up(next, last) {
                    Some(false)
                } else {
                    None
                };
                if goes.is_none() || direction.is_some() && direction != goes {
                    break;
                }
                (last, left, direction) = (next, behind, goes);
            }
            rest = left;
            Some((first, last))
        })
    }

    /// Asks for the memory of what is counted at a channel.
    pub fn ask_for(&self, channel: u32) {
        prefetch(&self.counts, channel as usize);
    }

    pub fn add(&mut self, run: (u32, u32)) {
        self.count(run, 1);
    }

    pub fn remove(&mut self, run: (u32, u32)) {
        self.count(run, -1);
    }

    /// Counts this many runs more at both of their ends.
    fn count(&mut self, (low, high): (u32, u32), more: i32) {
        for (end, at) in [low, high].into_iter().enumerate() {
            let count = &mut self.counts[at as usize][end];
            let before = *count;
            *count = before.wrapping_add_signed(more);
            if (before == 0) != (*count == 0) {
                [&mut self.begins, &mut self.ends][end].set(at, *count > 0);
                self.touched.push(at);
            } else if before.min(*count) == 1 && self.spare.has(at) {
                self.touched.push(at);
            }
        }
    }

    /// The channels of a run that were uncovered at the last [update](Cover::update).
    #[inline]
    pub fn uncovered(&self, (low, high): (u32, u32)) -> Members<'_> {
        self.uncovered.between(low, high)
    }

    /// True if a channel was uncovered at the last update.
    pub fn is_uncovered(&self, channel: u32) -> bool {
        self.uncovered.has(channel)
    }

    /// Finds what is covered now; appends channels that are no longer covered, and those that now are or have no runs.
    pub fn update(&mut self, uncovered: &mut Vec<u32>, covered: &mut Vec<u32>) {
        let touched = std::mem::take(&mut self.touched);
        for &at in &touched {
            self.update_at(at, uncovered, covered);
            if let Some(next) = self.next_end(at) {
                self.update_at(next, uncovered, covered);
            }
        }
        self.touched = touched;
        self.touched.clear();
    }

    fn update_at(&mut self, at: u32, uncovered: &mut Vec<u32>, covered: &mut Vec<u32>) {
        let now = self.ends.has(at) && {
            let begin = self.begins.last_to(at);
            begin == at || self.ends.between(begin, at - 1).next().is_none()
        };
        let now = now && (self.counts[at as usize][0] > 1 || !self.spare.has(at));
        if now != self.uncovered.has(at) {
            self.uncovered.set(at, now);
            if now { uncovered.push(at) } else { covered.push(at) }
        }
    }

    /// The next channel behind where runs end, if none begins before it or there, and the line does not end.
    fn next_end(&self, at: u32) -> Option<u32> {
        let mut from = at + 1;
        loop {
            let word = from as usize / 64;
            if word >= self.ends.0.len() {
                return None;
            }
            let breaks = (self.begins.0[word] | self.starts.0[word]) & u64::MAX << (from % 64);
            let ends = self.ends.from(from);
            if breaks | ends != 0 {
                let (first, stop) = (ends.trailing_zeros(), breaks.trailing_zeros());
                return (first < stop).then_some(64 * word as u32 + first);
            }
            from = 64 * (word as u32 + 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    const CHANNELS: u32 = 200;

    /// Two lines of 90 and 100 channels, and ten that are in none.
    fn joined(channel: u32) -> bool {
        (1..90).contains(&channel) || (91..190).contains(&channel)
    }

    fn runs() -> impl Strategy<Value = (u32, u32)> {
        let line = |first: u32, len: u32| (0..len, 0..len).prop_map(move |(a, b)| (first + a.min(b), first + a.max(b)));
        prop_oneof![4 => line(0, 90), 4 => line(90, 100), 1 => (190u32..CHANNELS).prop_map(|at| (at, at))]
    }

    proptest! {
        /// The definition: the sets of runs that cross channels; those that no other set contains, each once.
        #[test]
        fn uncovered_channels_have_the_largest_sets(
            changes in prop::collection::vec(prop::collection::vec((any::<prop::sample::Index>(), runs(), any::<bool>()), 1..6), 1..30),
        ) {
            let (mut cover, mut live, mut shown) = (Cover::new(CHANNELS as usize, joined), Vec::new(), BTreeSet::new());
            let mut number = 0;
            for change in changes {
                for (which, run, leaves) in change {
                    if leaves && !live.is_empty() {
                        let (_, run) = live.swap_remove(which.index(live.len()));
                        cover.remove(run);
                    } else {
                        cover.add(run);
                        live.push((number, run));
                        number += 1;
                    }
                }
                let (mut on, mut off) = (Vec::new(), Vec::new());
                cover.update(&mut on, &mut off);
                for channel in on { prop_assert!(shown.insert(channel)); }
                for channel in off { prop_assert!(shown.remove(&channel)); }
                let of = |at: u32| live.iter().filter(move |(_, (low, high))| (*low..=*high).contains(&at)).map(|(id, _)| *id);
                let sets: Vec<BTreeSet<u32>> = (0..CHANNELS).map(|at| of(at).collect()).collect();
                let largest: BTreeSet<&BTreeSet<u32>> = sets.iter().filter(|set| {
                    !set.is_empty() && !sets.iter().any(|other| other.len() > set.len() && other.is_superset(set))
                }).collect();
                let found: Vec<&BTreeSet<u32>> = shown.iter().map(|at| &sets[*at as usize]).collect();
                prop_assert_eq!(found.len(), largest.len());
                prop_assert_eq!(found.into_iter().collect::<BTreeSet<_>>(), largest);
                for run in [(0, 89), (90, 189), (63, 64), (100, 100)] {
                    let wanted: Vec<u32> = shown.range(run.0..=run.1).copied().collect();
                    prop_assert_eq!(cover.uncovered(run).collect::<Vec<_>>(), wanted);
                }
            }
        }

        #[test]
        fn runs_are_the_path(steps in prop::collection::vec((0..CHANNELS, 0u32..9, any::<bool>()), 1..8)) {
            let mut path: Vec<u32> = Vec::new();
            for (first, more, up) in steps {
                path.extend((0..=more).map_while(|step| if up { Some(first + step) } else { first.checked_sub(step) }));
            }
            path.retain(|channel| *channel < CHANNELS);
            let cover = Cover::new(CHANNELS as usize, joined);
            let mut crossed: Vec<u32> = cover.runs(&path).flat_map(|(a, b)| a.min(b)..=a.max(b)).collect();
            let mut rest = &path[..];
            for (first, last) in cover.runs(&path) {
                let (low, high) = (first.min(last), first.max(last));
                prop_assert!((low + 1..=high).all(joined));
                let (run, others) = rest.split_at((high - low + 1) as usize);
                prop_assert_eq!([run[0], run[run.len() - 1]], [first, last]);
                prop_assert!(run.iter().copied().eq(low..=high) || run.iter().rev().copied().eq(low..=high));
                rest = others;
            }
            crossed.sort_unstable();
            let mut wanted = path.clone();
            wanted.sort_unstable();
            prop_assert_eq!(crossed, wanted);
        }
    }
}
