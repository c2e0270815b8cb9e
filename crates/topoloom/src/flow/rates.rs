//! The rates of flows that share channels, brought up to date from one change to the next.
//!
//! Flows on the same path are one *class*. Under max-min fairness every class has a *bottleneck*: a channel that is
//! full and on which no class has a higher rate. Rates that have this property are unique (Bertsekas and Gallager,
//! *Data Networks*, 6.5.2).
//!
//! Progressive filling raises all rates together and freezes, at each level, the classes of the channel that fills up.
//! After a change only part of that is done again. Classes whose rate is to be found are *open*, all others keep
//! theirs; the levels are gone through from the lowest up, and a class is opened as soon as it turns out that its rate
//! cannot stand:
//!
//! - a channel fills up at a level that is lower than the class's rate on it: the class has to give way;
//! - its bottleneck is no longer full at the class's rate, or others there can have more: it can have more, too.
//!
//! Either way its rate was not lower than the level at hand, so that whatever was frozen before stands. A change thus
//! costs what it reaches, and the rates are exact.
//!
//! Where paths run along lines, only channels that no other one [covers](super::cover) are looked at.

use std::ops::Range;

use serde::Serialize;

use super::cover::Cover;
use super::radix_heap::{LevelEntry, RadixHeap};
use crate::memory::on_large_pages;

/// How flows share the capacity of channels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sharing {
    /// Max-min fairness.
    #[default]
    MaxMin,
    /// The smallest of the shares, capacity over flows, of a flow's channels; no other flow takes what a flow leaves.
    Share,
    /// A flow gets its max-min fair part of what is left when it begins, and keeps it; where nothing is left, it waits.
    Sticky,
}

/// Rates that differ by less are equal, at first …
const EPS: f64 = 1e-12;
/// … and by this factor more each time that a class has been opened that many times in one change, which rounding
/// causes.
const COARSER: f64 = 4.0;
const OFTEN: u8 = 8;
/// A channel with less than this part of its capacity left is full for flows that keep their rates.
const FULL: f64 = 1e-9;
/// A sum is made again when it was added to this many times more than it has parts, lest rounding adds up.
const ADDED: u32 = 64;
/// This many classes at a time are [read](Rates::warm) before they change.
pub(super) const TOGETHER: usize = 32;
/// No channel.
const NOWHERE: u32 = u32::MAX;

/// Whether `a` is less than `b` by more than rounding.
fn less(a: f64, b: f64, eps: f64) -> bool {
    a < b - eps * b.abs()
}

/// Flows on one path.
#[derive(Debug, Clone, Copy)]
#[repr(align(32))]
struct Class {
    /// The rate of each of its flows.
    rate: f64,
    /// Where its path is in `hops`: first its runs, each as a hop from the lowest channel to the highest, where channels
    /// are covered, then its channels.
    first: u32,
    runs: u16,
    len: u32,
    /// How many flows it has.
    flows: u32,
    /// The channel that its rate was frozen at.
    bottleneck: u32,
    /// The last change that opened it.
    opened: u32,
    /// How often that change opened it again.
    again: u8,
    open: bool,
}

impl Class {
    /// Where its channels are in `hops`.
    fn channels(&self) -> Range<usize> {
        let first = self.first as usize + usize::from(self.runs);
        first..first + self.len as usize
    }

    /// Where its runs are, or its channels where none are covered.
    fn parts(&self) -> Range<usize> {
        let first = self.first as usize;
        first..first + if self.runs > 0 { usize::from(self.runs) } else { self.len as usize }
    }
}

/// A channel of a class's path.
#[derive(Debug, Clone, Copy)]
struct Hop {
    channel: u32,
    /// The class's place among those that cross the channel.
    place: u32,
}

/// A class that crosses a channel, and the position in `hops` of that which does.
#[derive(Debug, Clone, Copy)]
struct Crossing {
    class: u32,
    hop: u32,
}

/// A line of the cache: what is done to one channel is done to all of a path, and waits for memory more than for anything
/// else.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
struct ChannelState {
    capacity: f64,
    /// The rate of the classes whose bottleneck it is.
    level: f64,
    /// How many these are.
    bound: u32,
    /// The last change that looked at it.
    seen: u32,
    /// Open flows.
    open: u32,
    /// How many classes cross it.
    parts: u32,
    /// Whether it waits to be queued.
    noted: bool,
    /// The level at which it is looked at next.
    queued: f64,
    /// How often `fixed` was added to since it was summed up.
    added: u32,
    /// What the flows that are not open take.
    fixed: f64,
    /// None of them has a higher rate.
    most: f64,
}

impl ChannelState {
    /// One without flows.
    fn of(capacity: f64) -> Self {
        Self {
            capacity,
            level: 0.0,
            bound: 0,
            seen: 0,
            open: 0,
            parts: 0,
            noted: false,
            queued: f64::INFINITY,
            added: 0,
            fixed: 0.0,
            most: 0.0,
        }
    }

    /// What each open flow could have.
    fn share(&self) -> f64 {
        (self.capacity - self.fixed) / f64::from(self.open)
    }
}

/// Classes of flows on channels, and their rates.
#[derive(Debug)]
pub struct Rates {
    sharing: Sharing,
    /// Only channels that are not covered have a state that is kept up to date.
    channels: Vec<ChannelState>,
    /// Where channels may be covered.
    cover: Option<Cover>,
    crossings: Vec<Vec<Crossing>>,
    classes: Vec<Class>,
    /// Classes without flows, to be used again.
    unused: Vec<u32>,
    hops: Vec<Hop>,
    /// Paths to be used again, by length.
    free: Vec<Vec<u32>>,
    /// The number of the change at hand.
    change: u32,
    /// Rates that differ by less are equal.
    eps: f64,
    /// Channels and classes that the change concerns.
    dirty: Vec<u32>,
    fresh: Vec<u32>,
    /// Those of a class at hand.
    crossed: Vec<u32>,
    /// Channels that are no longer covered, and those that now are.
    uncovered: Vec<u32>,
    covered: Vec<u32>,
    /// Channels to be queued.
    noted: Vec<u32>,
    heap: RadixHeap,
    /// Classes whose rate was to be found.
    changed: Vec<u32>,
    /// Those that are to be opened together.
    together: Vec<u32>,
    /// Rates and numbers of the flows that keep theirs on a channel.
    fixed: Vec<(f64, u32)>,
}

impl Rates {
    /// No flows yet, on channels of these capacities.
    pub fn new(capacities: impl IntoIterator<Item = f64>, sharing: Sharing) -> Self {
        let capacities: Vec<f64> = capacities.into_iter().collect();
        let mut channels = on_large_pages(capacities.len());
        channels.extend(capacities.into_iter().map(ChannelState::of));
        let mut crossings = on_large_pages(channels.len());
        crossings.resize(channels.len(), Vec::new());
        Self {
            sharing,
            cover: None,
            crossings,
            classes: on_large_pages(channels.len()),
            unused: Vec::new(),
            hops: on_large_pages(4 * channels.len()),
            channels,
            free: Vec::new(),
            change: 0,
            eps: EPS,
            dirty: Vec::new(),
            fresh: Vec::new(),
            crossed: Vec::new(),
            uncovered: Vec::new(),
            covered: Vec::new(),
            noted: Vec::new(),
            heap: RadixHeap::new(),
            changed: Vec::new(),
            together: Vec::new(),
            fixed: Vec::new(),
        }
    }

    /// The same without flows where paths go along lines; `follows` is true of a channel that follows the one before it in
    /// a line.
    pub fn in_lines(self, follows: impl Fn(u32) -> bool) -> Self {
        let capacity = |channel: u32| self.channels[channel as usize].capacity;
        let joined = |channel: u32| follows(channel) && capacity(channel) == capacity(channel - 1);
        let cover = (self.sharing == Sharing::MaxMin).then(|| Cover::new(self.channels.len(), joined));
        Self { cover, ..self }
    }

    /// Adds a channel behind all others; returns its id.
    pub fn add_channel(&mut self, capacity: f64) -> u32 {
        self.channels.push(ChannelState::of(capacity));
        if let Some(cover) = &mut self.cover {
            cover.add_channel();
        }
        self.crossings.push(Vec::new());
        self.channels.len() as u32 - 1
    }

    /// Adds a class of `flows` flows on `path`, which is not empty; returns its id. A channel that occurs there several
    /// times carries each flow as often.
    pub fn add(&mut self, path: &[u32], flows: u32) -> u32 {
        let runs = self.cover.as_ref().map_or(0, |cover| cover.runs(path).count());
        let room = runs + path.len();
        let first = self.free.get_mut(room).and_then(Vec::pop).unwrap_or_else(|| {
            self.hops.resize(self.hops.len() + room, Hop { channel: NOWHERE, place: 0 });
            (self.hops.len() - room) as u32
        });
        let (runs, len, opened) = (runs as u16, path.len() as u32, self.change);
        let class = Class { rate: 0.0, first, runs, len, flows, bottleneck: NOWHERE, opened, again: 0, open: false };
        let id = match self.unused.pop() {
            Some(id) => {
                self.classes[id as usize] = class;
                id
            }
            None => {
                self.classes.push(class);
                self.classes.len() as u32 - 1
            }
        };
        for (hop, &channel) in (class.channels().start as u32..).zip(path) {
            let crossings = &mut self.crossings[channel as usize];
            self.hops[hop as usize] = Hop { channel, place: crossings.len() as u32 };
            crossings.push(Crossing { class: id, hop });
        }
        if let Some(cover) = &mut self.cover {
            for (at, (low, high)) in cover.runs(path).enumerate() {
                self.hops[first as usize + at] = Hop { channel: low, place: high };
            }
            self.hops[class.parts()].iter().for_each(|run| cover.add((run.channel, run.place)));
        }
        self.each_channel(class, |there| there.parts += 1);
        self.fresh.push(id);
        id
    }

    /// One more flow in a class.
    pub fn join(&mut self, class: u32) {
        let own = &mut self.classes[class as usize];
        own.flows += 1;
        let own = *own;
        self.each_channel(own, |there| there.fixed += own.rate);
        self.fresh.push(class);
    }

    /// Calls with the channels of a class that are not covered.
    #[inline]
    fn crossed(hops: &[Hop], cover: Option<&Cover>, class: Class, mut each: impl FnMut(u32)) {
        match cover {
            None => hops[class.channels()].iter().for_each(|hop| each(hop.channel)),
            Some(cover) => {
                hops[class.parts()]
                    .iter()
                    .for_each(|run| cover.uncovered((run.channel, run.place)).for_each(&mut each));
            }
        }
    }

    /// Changes the states of the channels of a class that are not covered.
    #[inline]
    fn each_channel(&mut self, class: Class, mut change: impl FnMut(&mut ChannelState)) {
        let channels = &mut self.channels;
        Self::crossed(&self.hops, self.cover.as_ref(), class, |channel| change(&mut channels[channel as usize]));
    }

    /// This many flows fewer in a class; returns true if it has none left and is gone.
    pub fn leave(&mut self, class: u32, flows: u32) -> bool {
        let own = &mut self.classes[class as usize];
        own.flows -= flows;
        let own = *own;
        let Class { rate, first, flows: left, bottleneck, .. } = own;
        let (channels, dirty, gone) = (&mut self.channels, &mut self.dirty, u32::from(left == 0));
        Self::crossed(&self.hops, self.cover.as_ref(), own, |channel| {
            dirty.push(channel);
            let there = &mut channels[channel as usize];
            there.fixed -= rate * f64::from(flows);
            there.added += 1;
            there.parts -= gone;
        });
        if left > 0 {
            return false;
        }
        for hop in own.channels() {
            let Hop { channel, place } = self.hops[hop];
            let crossings = &mut self.crossings[channel as usize];
            crossings.swap_remove(place as usize);
            if let Some(moved) = crossings.get(place as usize) {
                self.hops[moved.hop as usize].place = place;
            }
        }
        if let Some(cover) = &mut self.cover {
            self.hops[own.parts()].iter().for_each(|run| cover.remove((run.channel, run.place)));
        }
        if bottleneck != NOWHERE {
            self.channels[bottleneck as usize].bound -= 1;
        }
        let room = own.channels().end - first as usize;
        if self.free.len() <= room {
            self.free.resize(room + 1, Vec::new());
        }
        self.free[room].push(first);
        self.unused.push(class);
        true
    }

    /// The rate of each flow of a class.
    #[inline]
    pub fn rate(&self, class: u32) -> f64 {
        self.classes[class as usize].rate
    }

    /// The flows of a class.
    #[inline]
    pub fn flows(&self, class: u32) -> u32 {
        self.classes[class as usize].flows
    }

    /// The path of a class.
    pub fn path(&self, class: u32) -> impl ExactSizeIterator<Item = u32> + '_ {
        self.hops[self.classes[class as usize].channels()].iter().map(|hop| hop.channel)
    }

    /// The classes that cross a channel.
    pub fn on(&self, channel: u32) -> impl ExactSizeIterator<Item = u32> + '_ {
        self.crossings[channel as usize].iter().map(|crossing| crossing.class)
    }

    /// Reads what changes of these classes are about to read. Here no read waits for another, so that memory delivers many at
    /// a time; in the changes themselves nearly each waits for the one before.
    pub fn warm(&self, classes: &[u32]) {
        let mut sum = 0;
        for &class in classes {
            let own = self.classes[class as usize];
            Self::crossed(&self.hops, self.cover.as_ref(), own, |channel| sum ^= self.channels[channel as usize].seen);
        }
        std::hint::black_box(sum);
    }

    /// The same for classes that are about to leave: also which others move to their positions.
    pub fn warm_to_leave(&self, classes: &[u32]) {
        self.warm(classes);
        let mut sum = 0;
        for &class in classes {
            for hop in &self.hops[self.classes[class as usize].channels()] {
                let moved = self.crossings[hop.channel as usize].last();
                sum ^= moved.map_or(0, |moved| self.hops[moved.hop as usize].place);
            }
        }
        std::hint::black_box(sum);
    }

    /// The classes whose rate the last change may have changed.
    pub fn changed(&self) -> &[u32] {
        &self.changed
    }

    /// Finds the rates after all that was added and has left since the last time.
    pub fn settle(&mut self) {
        self.change += 1;
        self.eps = EPS;
        self.changed.clear();
        let (mut dirty, mut fresh) = (std::mem::take(&mut self.dirty), std::mem::take(&mut self.fresh));
        // A class may have come and gone again, and its id be another's.
        fresh.retain(|&class| self.classes[class as usize].flows > 0);
        match self.sharing {
            Sharing::Share => self.share(&dirty, &fresh),
            Sharing::MaxMin => {
                self.update_cover();
                dirty.retain(|&channel| self.is_uncovered(channel));
                dirty.iter().for_each(|&channel| self.look(channel));
                fresh.iter().for_each(|&class| self.open(class));
            }
            Sharing::Sticky => {
                let waiting = |crossing: &&Crossing| self.classes[crossing.class as usize].rate == 0.0;
                let crossings = dirty.iter().flat_map(|&channel| &self.crossings[channel as usize]);
                fresh.extend(crossings.filter(waiting).map(|crossing| crossing.class));
                fresh.iter().for_each(|&class| self.open(class));
            }
        }
        self.fill();
        dirty.clear();
        fresh.clear();
        (self.dirty, self.fresh) = (dirty, fresh);
    }

    /// Takes channels in that are no longer covered, and opens what was frozen at those that now are.
    fn update_cover(&mut self) {
        let Some(cover) = &mut self.cover else { return };
        let (mut uncovered, mut covered) = (std::mem::take(&mut self.uncovered), std::mem::take(&mut self.covered));
        cover.update(&mut uncovered, &mut covered);
        uncovered.drain(..).for_each(|channel| self.sum_up(channel));
        for channel in covered.drain(..) {
            if self.channels[channel as usize].bound > 0 {
                self.open_where(channel, |class| class.bottleneck == channel);
            }
        }
        (self.uncovered, self.covered) = (uncovered, covered);
    }

    /// True if a channel counts.
    fn is_uncovered(&self, channel: u32) -> bool {
        self.cover.as_ref().is_none_or(|cover| cover.is_uncovered(channel))
    }

    /// Sums up what the classes that cross a channel take; none of them is open.
    fn sum_up(&mut self, channel: u32) {
        let (here, crossings) = (&mut self.channels[channel as usize], &self.crossings[channel as usize]);
        (here.added, here.fixed, here.most, here.parts) = (0, 0.0, 0.0, crossings.len() as u32);
        for crossing in crossings {
            let class = &self.classes[crossing.class as usize];
            here.fixed += class.rate * f64::from(class.flows);
            here.most = here.most.max(class.rate);
        }
    }

    /// Goes through the levels until no class is open.
    fn fill(&mut self) {
        self.queue_noted();
        while let Some(LevelEntry { level, channel }) = self.heap.pop() {
            let here = self.channels[channel as usize];
            if level > here.queued {
                // An earlier entry has come in the meantime.
                continue;
            }
            self.channels[channel as usize].queued = f64::INFINITY;
            let due = here.bound > 0 && !less(level, here.level, self.eps);
            if here.bound > 0 && !due {
                self.queue(channel, here.level);
            }
            if here.open == 0 {
                if due && less(here.fixed, here.capacity, self.eps) {
                    self.open_bound(channel);
                }
                continue;
            }
            let share = here.share();
            if due && less(here.level, share, self.eps) && self.sharing == Sharing::MaxMin {
                self.open_bound(channel);
            } else if less(level, share, self.eps) {
                self.queue(channel, share);
            } else if less(share, here.most, self.eps) && self.sharing == Sharing::MaxMin {
                self.give_way(channel);
            } else {
                self.freeze(channel, share);
            }
        }
    }

    /// Takes a channel into the change at hand.
    fn look(&mut self, channel: u32) {
        let here = &mut self.channels[channel as usize];
        if here.seen == self.change {
            return;
        }
        here.seen = self.change;
        if here.parts == 0 || here.added > ADDED + here.parts {
            self.sum_up(channel);
        }
        let here = &self.channels[channel as usize];
        if here.bound > 0 && self.sharing == Sharing::MaxMin {
            let level = here.level;
            self.queue(channel, level);
        }
    }

    /// Opens a class: its rate is to be found.
    fn open(&mut self, class: u32) {
        let own = self.classes[class as usize];
        let Class { rate, flows, bottleneck, open, opened, mut again, .. } = own;
        if open {
            return;
        }
        if opened != self.change {
            self.changed.push(class);
            again = 0;
        } else {
            again += 1;
            if again == OFTEN {
                (again, self.eps) = (0, self.eps * COARSER);
            }
        }
        let mut crossed = std::mem::take(&mut self.crossed);
        Self::crossed(&self.hops, self.cover.as_ref(), own, |channel| crossed.push(channel));
        for &channel in &crossed {
            if self.channels[channel as usize].seen != self.change {
                self.look(channel);
            }
        }
        for channel in crossed.drain(..) {
            let here = &mut self.channels[channel as usize];
            here.fixed -= rate * f64::from(flows);
            here.added += 1;
            here.open += flows;
            if !std::mem::replace(&mut here.noted, true) {
                self.noted.push(channel);
            }
        }
        self.crossed = crossed;
        if bottleneck != NOWHERE {
            self.channels[bottleneck as usize].bound -= 1;
        }
        let own = &mut self.classes[class as usize];
        (own.open, own.opened, own.again, own.bottleneck) = (true, self.change, again, NOWHERE);
    }

    /// Queues the channels whose shares may have become smaller.
    fn queue_noted(&mut self) {
        let mut noted = std::mem::take(&mut self.noted);
        for channel in noted.drain(..) {
            let here = &mut self.channels[channel as usize];
            here.noted = false;
            let share = here.share();
            self.queue(channel, share);
        }
        self.noted = noted;
    }

    /// Queues a channel for a level, unless it is queued for one before: it is then looked at as it is, and queued for
    /// the next.
    fn queue(&mut self, channel: u32, level: f64) {
        let here = &mut self.channels[channel as usize];
        if level < here.queued {
            here.queued = level;
            self.heap.push(LevelEntry { level, channel });
        }
    }

    /// Opens the classes of a channel that `which` names.
    fn open_where(&mut self, channel: u32, which: impl Fn(&Class) -> bool) {
        let mut together = std::mem::take(&mut self.together);
        let classes = self.crossings[channel as usize].iter().map(|crossing| crossing.class);
        together.extend(classes.filter(|&class| {
            let own = &self.classes[class as usize];
            !own.open && which(own)
        }));
        for some in together.chunks(TOGETHER) {
            self.warm(some);
            some.iter().for_each(|&class| self.open(class));
        }
        together.clear();
        self.together = together;
        self.queue_noted();
    }

    /// Opens the classes whose bottleneck a channel is.
    fn open_bound(&mut self, channel: u32) {
        self.open_where(channel, |class| class.bottleneck == channel);
    }

    /// Opens the classes that have more than their fair part of a channel, as far as the others on it show.
    fn give_way(&mut self, channel: u32) {
        let here = self.channels[channel as usize];
        let (open, share, eps) = (here.open, here.share(), self.eps);
        let mut fixed = std::mem::take(&mut self.fixed);
        let classes = self.crossings[channel as usize].iter().map(|crossing| &self.classes[crossing.class as usize]);
        fixed.extend(classes.filter(|class| !class.open).map(|class| (class.rate, class.flows)));
        let (mut level, mut above) = (share, 0);
        loop {
            let (mut left, mut flows, mut more) = (here.capacity, here.open, 0);
            for &(rate, some) in &fixed {
                if less(level, rate, eps) {
                    flows += some;
                    more += 1;
                } else {
                    left -= rate * f64::from(some);
                }
            }
            level = level.max(left / f64::from(flows));
            if more == above {
                break;
            }
            above = more;
        }
        let kept = fixed.drain(..).map(|(rate, _)| rate).filter(|rate| !less(level, *rate, eps));
        let most = kept.fold(0.0, f64::max);
        self.fixed = fixed;
        self.channels[channel as usize].most = most;
        self.open_where(channel, |class| less(level, class.rate, eps));
        let here = &mut self.channels[channel as usize];
        if here.open == open {
            // No class had to give way: the bound was too high, or a class exceeded it by rounding alone.
            here.most = most.min(share);
            self.queue(channel, level);
        }
    }

    /// Freezes the open classes of a channel that fills up.
    fn freeze(&mut self, channel: u32, share: f64) {
        let full = self.sharing == Sharing::Sticky && share < FULL * self.channels[channel as usize].capacity;
        let rate = if full { 0.0 } else { share };
        for place in 0..self.crossings[channel as usize].len() {
            let class = self.crossings[channel as usize][place].class;
            let own = &mut self.classes[class as usize];
            if !own.open {
                continue;
            }
            (own.open, own.rate, own.bottleneck) = (false, rate, channel);
            self.channels[channel as usize].bound += 1;
            let own = *own;
            self.each_channel(own, |there| {
                there.fixed += rate * f64::from(own.flows);
                there.most = there.most.max(rate);
                there.open -= own.flows;
            });
        }
        self.channels[channel as usize].level = rate;
    }

    /// The rates by [`Sharing::Share`] of all classes that cross a channel of the change.
    fn share(&mut self, dirty: &[u32], fresh: &[u32]) {
        let of_fresh = fresh.iter().flat_map(|&class| &self.hops[self.classes[class as usize].channels()]);
        let mut channels: Vec<u32> = dirty.iter().copied().chain(of_fresh.map(|hop| hop.channel)).collect();
        channels.retain(|&channel| {
            let here = &mut self.channels[channel as usize];
            std::mem::replace(&mut here.seen, self.change) != self.change
        });
        for &channel in &channels {
            let crossings = &self.crossings[channel as usize];
            self.channels[channel as usize].open = crossings.iter().map(|c| self.classes[c.class as usize].flows).sum();
        }
        for &channel in &channels {
            for crossing in &self.crossings[channel as usize] {
                let own = &mut self.classes[crossing.class as usize];
                if own.opened == self.change {
                    continue;
                }
                let path = &self.hops[own.channels()];
                let shares = path.iter().map(|hop| &self.channels[hop.channel as usize]);
                let rate = shares.map(|there| there.capacity / f64::from(there.open)).fold(f64::INFINITY, f64::min);
                self.changed.push(crossing.class);
                (own.rate, own.opened) = (rate, self.change);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The definition: every flow that crosses the channel with the smallest share stays at it.
    fn filled(capacities: &[f64], flows: &[(Vec<u32>, u32)]) -> Vec<f64> {
        let mut rates = vec![None; flows.len()];
        loop {
            let share = |channel: u32| {
                let times = |path: &[u32]| path.iter().filter(|own| **own == channel).count() as u32;
                let crossing = || flows.iter().zip(&rates).map(|((path, n), rate)| (times(path) * n, rate));
                let fixed: f64 = crossing().filter_map(|(n, rate)| rate.map(|rate: f64| rate * f64::from(n))).sum();
                let open: u32 = crossing().filter(|(_, rate)| rate.is_none()).map(|(n, _)| n).sum();
                (open > 0).then(|| ((capacities[channel as usize] - fixed) / f64::from(open), channel))
            };
            let shares = (0..capacities.len() as u32).filter_map(share);
            let Some((level, channel)) = shares.min_by(|a, b| a.0.total_cmp(&b.0)) else { break };
            for ((path, _), rate) in flows.iter().zip(&mut rates) {
                if rate.is_none() && path.contains(&channel) {
                    *rate = Some(level);
                }
            }
        }
        rates.into_iter().map(|rate| rate.expect("every path has a channel")).collect()
    }

    /// What comes and goes: a path with a number of flows, or the position of a class to change.
    #[derive(Debug, Clone)]
    enum Event {
        Add(Vec<u32>, u32),
        Join(usize),
        Leave(usize, bool),
    }

    /// A path along lines: up or down from some channels.
    fn along(pieces: Vec<(u32, u32, bool)>, channels: u32) -> Vec<u32> {
        let piece = |(first, more, up): (u32, u32, bool)| {
            (0..=more).map_while(move |step| if up { Some(first + step) } else { first.checked_sub(step) })
        };
        pieces.into_iter().flat_map(piece).filter(|channel| *channel < channels).collect()
    }

    fn events(channels: u32) -> impl Strategy<Value = Vec<Vec<Event>>> {
        // A channel may be on a path several times: that of a flow that stands for several.
        let path = prop::collection::vec(0..channels, 1..=channels.min(4) as usize);
        let pieces = prop::collection::vec((0..channels, 0..channels, any::<bool>()), 1..3);
        let path = prop_oneof![path, pieces.prop_map(move |pieces| along(pieces, channels))];
        let event = prop_oneof![
            5 => (path, 1u32..4).prop_map(|(path, flows)| Event::Add(path, flows)),
            1 => any::<usize>().prop_map(Event::Join),
            4 => (any::<usize>(), any::<bool>()).prop_map(|(place, all)| Event::Leave(place, all)),
        ];
        prop::collection::vec(prop::collection::vec(event, 1..4), 1..30)
    }

    fn networks() -> impl Strategy<Value = (Vec<f64>, Vec<Vec<Event>>)> {
        let capacity = || prop_oneof![4 => Just(1.0), 1 => (1u32..5).prop_map(f64::from), 1 => 0.1f64..1.0];
        (2u32..12).prop_flat_map(move |channels| {
            let equal = capacity().prop_map(move |all| vec![all; channels as usize]);
            let capacities = prop_oneof![equal, prop::collection::vec(capacity(), channels as usize)];
            (capacities, events(channels))
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn rates_after_each_change_are_those_found_from_the_start((capacities, changes) in networks(), line in 0u32..14) {
            let mut rates = Rates::new(capacities.iter().copied(), Sharing::MaxMin);
            if line > 0 {
                // Two lines, or one.
                rates = rates.in_lines(|channel| channel > 0 && channel != line);
            }
            let mut live: Vec<(u32, Vec<u32>, u32)> = Vec::new();
            for change in changes {
                for event in change {
                    match event {
                        Event::Add(path, flows) => live.push((rates.add(&path, flows), path, flows)),
                        Event::Join(place) if !live.is_empty() => {
                            let place = place % live.len();
                            live[place].2 += 1;
                            rates.join(live[place].0);
                        }
                        Event::Leave(place, all) if !live.is_empty() => {
                            let place = place % live.len();
                            let (class, _, flows) = &mut live[place];
                            let gone = if all { *flows } else { 1 };
                            *flows -= gone;
                            prop_assert_eq!(rates.leave(*class, gone), *flows == 0);
                            live.retain(|(_, _, flows)| *flows > 0);
                        }
                        _ => {}
                    }
                }
                rates.settle();
                let flows: Vec<(Vec<u32>, u32)> = live.iter().map(|(_, path, flows)| (path.clone(), *flows)).collect();
                for ((class, path, _), wanted) in live.iter().zip(filled(&capacities, &flows)) {
                    let found = rates.rate(*class);
                    prop_assert!((found - wanted).abs() <= 1e-11 * wanted, "{} for {} on {:?}", found, wanted, path);
                }
            }
        }
    }

    #[test]
    fn a_change_reaches_no_further_than_it_must() {
        let mut rates = Rates::new([1.0; 9], Sharing::MaxMin);
        // Three channels in a row, and a pair of flows far from there.
        let [long, short, far] = [&[0, 1, 2][..], &[2], &[7, 8]].map(|path| rates.add(path, 1));
        rates.add(&[7], 1);
        rates.settle();
        assert_eq!([long, short, far].map(|class| rates.rate(class)), [0.5; 3]);
        rates.leave(short, 1);
        rates.settle();
        assert_eq!((rates.rate(long), rates.changed()), (1.0, &[long][..]));
    }
}
