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

use std::collections::HashMap;

use serde::Serialize;

use super::cover::Cover;
use super::crossings::{Crossings, HaveLists, HavePaths, LONGEST, List, PathRuns};
use super::radix_heap::{LevelEntry, RadixHeap};
use crate::memory::{on_large_pages, prefetch, prefetch_whole, retain_ahead};

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
const ADDED: u16 = 64;
/// This many of the classes on a channel are read ahead.
const FIRST: usize = 8;
/// This many classes at a time are [read](Rates::warm) before they change.
pub(super) const TOGETHER: usize = 32;
/// No channel.
const NOWHERE: u32 = u32::MAX;

/// Whether `a` is less than `b` by more than rounding.
fn less(a: f64, b: f64, eps: f64) -> bool {
    a < b - eps * b.abs()
}

/// Flows on one path. Two lines of the cache hold all that a change of its rate needs.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
struct Class<T> {
    /// The rate of each of its flows.
    rate: f64,
    /// Its path.
    path: PathRuns,
    /// How many flows it has.
    flows: u32,
    /// The channel that its rate was frozen at.
    bottleneck: u32,
    /// The last change that opened it.
    opened: u32,
    /// How often that change opened it again.
    again: u8,
    open: bool,
    /// What else is known of it.
    own: T,
}

impl<T> HavePaths for Vec<Class<T>> {
    fn path(&self, class: u32) -> &PathRuns {
        &self[class as usize].path
    }

    fn path_mut(&mut self, class: u32) -> &mut PathRuns {
        &mut self[class as usize].path
    }

    fn ask_for(&self, class: u32) {
        prefetch(self, class as usize);
    }
}

/// A line of the cache: what is done to one channel is done to all of a path, and waits for memory more than for anything
/// else.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
struct ChannelState {
    /// The rate of the classes whose bottleneck it is.
    level: f64,
    /// How many these are.
    bound: u32,
    /// The last change that looked at it.
    seen: u32,
    /// Open flows.
    open: u32,
    /// Its capacity, among all that differ.
    capacity: u32,
    /// What crosses the line that begins here, and its [room](HaveLists::list_mut).
    list: List,
    room: u8,
    /// Whether it waits to be queued.
    noted: bool,
    /// How often `fixed` was added to since it was summed up, if that can be counted.
    added: u16,
    /// The level at which it is looked at next.
    queued: f64,
    /// What the flows that are not open take.
    fixed: f64,
    /// None of them has a higher rate.
    most: f64,
}

impl ChannelState {
    /// One without flows, with one of the capacities.
    fn of(capacity: u32) -> Self {
        Self {
            level: 0.0,
            bound: 0,
            seen: 0,
            open: 0,
            capacity,
            list: List::default(),
            room: 0,
            noted: false,
            added: 0,
            queued: f64::INFINITY,
            fixed: 0.0,
            most: 0.0,
        }
    }

    /// What each open flow could have, by the capacities of all.
    fn share(&self, capacities: &Capacities) -> f64 {
        (capacities.of(self) - self.fixed) / f64::from(self.open)
    }

    /// Changes what flows that are not open take.
    #[inline]
    fn take(&mut self, more: f64) {
        self.fixed += more;
        self.added = self.added.saturating_add(1);
    }
}

impl HaveLists for Vec<ChannelState> {
    #[inline]
    fn list(&self, line: u32) -> List {
        self[line as usize].list
    }

    #[inline]
    fn list_mut(&mut self, line: u32) -> (&mut List, &mut u8) {
        let own = &mut self[line as usize];
        (&mut own.list, &mut own.room)
    }

    #[inline]
    fn ask_for(&self, line: u32) {
        prefetch(self, line as usize);
    }
}

/// The capacities of channels, each once: most channels have one of a few.
#[derive(Debug, Default)]
struct Capacities {
    all: Vec<f64>,
    known: HashMap<u64, u32>,
    /// The last that was asked for.
    last: u32,
}

impl Capacities {
    /// The position of one among them.
    fn position(&mut self, capacity: f64) -> u32 {
        if self.all.get(self.last as usize).is_none_or(|last| last.to_bits() != capacity.to_bits()) {
            self.last = *self.known.entry(capacity.to_bits()).or_insert_with(|| {
                self.all.push(capacity);
                self.all.len() as u32 - 1
            });
        }
        self.last
    }

    #[inline]
    fn of(&self, channel: &ChannelState) -> f64 {
        self.all[channel.capacity as usize]
    }
}

/// Classes of flows on channels, their rates, and something of each.
#[derive(Debug)]
pub struct Rates<T = ()> {
    sharing: Sharing,
    /// Only channels that are not covered have a state that is kept up to date.
    channels: Vec<ChannelState>,
    capacities: Capacities,
    /// Where channels may be covered, with the first channel of a terminal.
    cover: Option<Cover>,
    terminals: u32,
    crossings: Crossings,
    classes: Vec<Class<T>>,
    /// Classes without flows, to be used again.
    unused: Vec<u32>,
    /// The number of the change at hand, and whether the rates after it are known.
    change: u32,
    settled: bool,
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
    /// Those on a channel.
    found: Vec<u32>,
    /// Rates and numbers of the flows that keep theirs on a channel.
    fixed: Vec<(f64, u32)>,
}

impl<T: Copy> Rates<T> {
    /// No flows yet, on this many channels, of these capacities.
    pub fn new(channels: usize, all: impl IntoIterator<Item = f64>, sharing: Sharing) -> Self {
        let (mut capacities, mut of) = (Capacities::default(), on_large_pages(channels));
        of.extend(all.into_iter().map(|capacity| ChannelState::of(capacities.position(capacity))));
        let channels: Vec<ChannelState> = of;
        Self {
            sharing,
            cover: None,
            terminals: 0,
            crossings: Crossings::new(channels.len()),
            classes: on_large_pages(channels.len()),
            unused: Vec::new(),
            channels,
            capacities,
            change: 0,
            settled: true,
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
            found: Vec::new(),
            fixed: Vec::new(),
        }
    }

    /// The same without flows where paths go along lines; `follows` is true of a channel that follows the one before it in
    /// a line. Channels from `terminals` on are those of terminals.
    pub fn in_lines(self, follows: impl Fn(u32) -> bool, terminals: u32) -> Self {
        let capacity = |channel: u32| self.capacities.of(&self.channels[channel as usize]);
        let mut length = 1;
        let joined = |channel: u32| {
            let goes_on = follows(channel) && capacity(channel) == capacity(channel - 1) && length < LONGEST;
            length = if goes_on { length + 1 } else { 1 };
            goes_on
        };
        let mut cover = (self.sharing == Sharing::MaxMin).then(|| Cover::new(self.channels.len(), joined));
        if let Some(cover) = &mut cover {
            let fastest = (0..terminals).map(capacity).fold(0.0, f64::max);
            let spare = |channel: &u32| capacity(*channel) >= fastest;
            (terminals..self.channels.len() as u32).filter(spare).for_each(|channel| cover.set_spare(channel));
        }
        let crossings = if cover.is_some() { self.crossings.in_lines() } else { self.crossings };
        Self { cover, terminals, crossings, ..self }
    }

    /// Adds a channel behind all others; returns its id.
    pub fn add_channel(&mut self, capacity: f64) -> u32 {
        self.channels.push(ChannelState::of(self.capacities.position(capacity)));
        if let Some(cover) = &mut self.cover {
            cover.add_channel();
        }
        self.channels.len() as u32 - 1
    }

    /// True if what is added is opened at once. Where channels may be covered, it waits until it is known which are.
    fn opens_at_once(&self) -> bool {
        self.cover.is_none() && self.sharing == Sharing::MaxMin
    }

    /// Begins the next change, unless it has begun.
    fn begin_change(&mut self) {
        if std::mem::replace(&mut self.settled, false) {
            self.change += 1;
            self.eps = EPS;
            self.changed.clear();
        }
    }

    /// Adds a class of `flows` flows along a path, which is not empty; returns its id. `own` is what is known of it,
    /// by that of the class which had the id before. A channel that occurs there several
    /// times carries each flow as often.
    pub fn add_with(&mut self, along: &[u32], flows: u32, own: impl FnOnce(Option<&T>) -> T) -> u32 {
        let id = self.unused.pop().unwrap_or(self.classes.len() as u32);
        let own = own(self.classes.get(id as usize).map(|class| &class.own));
        self.begin_change();
        let (path, opened) = (PathRuns::NONE, self.change.wrapping_sub(1));
        let class = Class { rate: 0.0, path, flows, bottleneck: NOWHERE, opened, again: 0, open: false, own };
        match self.classes.get_mut(id as usize) {
            Some(unused) => *unused = class,
            None => self.classes.push(class),
        }
        self.crossings.add(id, along, self.cover.as_ref(), &mut self.classes, &mut self.channels);
        if let Some(cover) = &mut self.cover {
            let runs = || self.crossings.runs(&self.classes[id as usize].path).map(|run| run.span());
            runs().for_each(|run| cover.add(run));
            if runs().all(|(low, _)| low >= self.terminals) {
                // It crosses no link.
                runs().for_each(|(channel, _)| cover.keep(channel));
            }
        }
        if self.opens_at_once() {
            self.open(id);
        } else {
            self.fresh.push(id);
        }
        id
    }

    /// Asks for the memory of a class.
    #[inline]
    pub fn ask_for(&self, class: u32) {
        prefetch_whole(&self.classes, class as usize);
    }

    /// What is known of a class.
    #[inline]
    pub fn own(&self, class: u32) -> &T {
        &self.classes[class as usize].own
    }

    /// The same, to be changed.
    #[inline]
    pub fn own_mut(&mut self, class: u32) -> &mut T {
        &mut self.classes[class as usize].own
    }

    /// How many classes there have been at a time, at most: their ids are below.
    pub fn ids(&self) -> u32 {
        self.classes.len() as u32
    }

    /// One more flow in a class.
    pub fn join(&mut self, class: u32) {
        let own = &mut self.classes[class as usize];
        own.flows += 1;
        let (rate, open) = (own.rate, own.open);
        if open {
            self.each_channel(class, |there| there.open += 1);
            return;
        }
        self.each_channel(class, |there| there.fixed += rate);
        self.fresh.push(class);
    }

    /// Calls with the channels of a class that are not covered.
    #[inline]
    fn crossed(crossings: &Crossings, cover: Option<&Cover>, class: &Class<T>, each: impl FnMut(u32)) {
        crossings.each_uncovered(&class.path, cover, each);
    }

    /// Changes the states of the channels of a class that are not covered.
    #[inline]
    fn each_channel(&mut self, class: u32, mut change: impl FnMut(&mut ChannelState)) {
        let (channels, class) = (&mut self.channels, &self.classes[class as usize]);
        Self::crossed(&self.crossings, self.cover.as_ref(), class, |channel| change(&mut channels[channel as usize]));
    }

    /// This many flows fewer in a class; returns true if it has none left and is gone.
    pub fn leave(&mut self, class: u32, flows: u32) -> bool {
        let own = &mut self.classes[class as usize];
        own.flows -= flows;
        let Class { rate, path, flows: left, bottleneck, open, .. } = *own;
        let cover = self.cover.as_ref();
        if left == 0 {
            self.crossings.remove(class, cover, &mut self.classes, &mut self.channels);
        }
        let (channels, dirty, own) = (&mut self.channels, &mut self.dirty, &self.classes[class as usize]);
        Self::crossed(&self.crossings, cover, own, |channel| {
            let there = &mut channels[channel as usize];
            if there.list.live() == 0 && cover.is_none() {
                // Nothing else is to be found here.
                (there.fixed, there.added, there.most, there.open) = (0.0, 0, 0.0, 0);
            } else if open {
                there.open -= flows;
            } else {
                there.take(-rate * f64::from(flows));
                dirty.push(channel);
            }
        });
        if left > 0 {
            return false;
        }
        if let Some(cover) = &mut self.cover {
            self.crossings.runs(&path).for_each(|run| cover.remove(run.span()));
        }
        self.crossings.forget(&path);
        if bottleneck != NOWHERE {
            self.channels[bottleneck as usize].bound -= 1;
        }
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
    pub fn path(&self, class: u32) -> impl Iterator<Item = u32> + '_ {
        self.crossings.path(&self.classes[class as usize].path)
    }

    /// The classes that cross a channel.
    pub fn on(&self, channel: u32) -> impl Iterator<Item = u32> + '_ {
        self.crossings.on(channel, self.cover.as_ref(), &self.channels)
    }

    /// Appends them to `found`.
    fn find_on(&mut self, channel: u32, found: &mut Vec<u32>) {
        let both = (&mut self.classes, &mut self.channels);
        self.crossings.find_on(channel, self.cover.as_ref(), both, found);
    }

    /// How many runs cross the line of a channel, or the channel itself where there are no lines.
    pub fn in_line(&self, channel: u32) -> usize {
        let line = self.cover.as_ref().map_or(channel, |cover| cover.line_of(channel));
        self.channels.list(line).live() as usize
    }

    /// Reads what changes of these classes are about to read. Here no read waits for another, so that memory delivers many at
    /// a time; in the changes themselves nearly each waits for the one before.
    pub fn warm(&self, classes: &[u32]) {
        classes.iter().for_each(|&class| prefetch_whole(&self.classes, class as usize));
        classes.iter().for_each(|&class| self.crossings.ask_for_runs(&self.classes[class as usize].path));
        for &class in classes {
            let own = &self.classes[class as usize];
            Self::crossed(&self.crossings, self.cover.as_ref(), own, |channel| {
                prefetch(&self.channels, channel as usize)
            });
        }
    }

    /// The same for classes that are about to leave: also where the lists of what they cross have them.
    pub fn warm_to_leave(&self, classes: &[u32]) {
        self.warm(classes);
        let cover = self.cover.as_ref();
        let runs = || classes.iter().flat_map(|&class| self.crossings.runs(&self.classes[class as usize].path));
        runs().for_each(|run| Crossings::ask_for_run(run.span(), cover, &self.channels));
        runs().for_each(|run| self.crossings.ask_for_entry_of(run, cover, &self.channels));
    }

    /// The same for classes that are about to come, on these paths.
    pub fn warm_to_add<'p>(&self, paths: impl Iterator<Item = &'p [u32]> + Clone) {
        let cover = self.cover.as_ref();
        for path in paths.clone() {
            Crossings::each_run(path, cover, |first, last| {
                let run = (first.min(last), first.max(last));
                Crossings::ask_for_run(run, cover, &self.channels);
                let there = |channel: u32| prefetch(&self.channels, channel as usize);
                match cover {
                    None => there(first),
                    Some(cover) => cover.uncovered(run).for_each(there),
                }
            });
        }
        for path in paths {
            Crossings::each_run(path, cover, |first, _| {
                self.crossings.ask_for_entry(first, None, cover, &self.channels);
            });
        }
    }

    /// True if paths are runs along lines.
    pub fn has_lines(&self) -> bool {
        self.cover.is_some()
    }

    /// The lowest channel and the highest of each straight piece of a class's path.
    pub fn spans(&self, class: u32) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.crossings.runs(&self.classes[class as usize].path).map(|run| run.span())
    }

    /// The classes whose rate the last change may have changed.
    pub fn changed(&self) -> &[u32] {
        &self.changed
    }

    /// Finds the rates after all that was added and has left since the last time.
    pub fn settle(&mut self) {
        self.begin_change();
        self.settled = true;
        let (mut dirty, mut fresh) = (std::mem::take(&mut self.dirty), std::mem::take(&mut self.fresh));
        // A class may have come and gone again, and its id be another's.
        fresh.retain(|&class| self.classes[class as usize].flows > 0);
        self.changed.retain(|&class| self.classes[class as usize].flows > 0);
        match self.sharing {
            Sharing::Share => self.share(&dirty, &fresh),
            Sharing::MaxMin => {
                self.update_cover();
                dirty.retain(|&channel| self.is_uncovered(channel));
                for some in dirty.chunks(TOGETHER) {
                    some.iter().for_each(|&channel| prefetch(&self.channels, channel as usize));
                    some.iter().for_each(|&channel| self.look(channel));
                }
                for some in fresh.chunks(TOGETHER) {
                    self.warm(some);
                    some.iter().for_each(|&class| self.open(class));
                }
            }
            Sharing::Sticky => {
                let waiting = |class: &u32| self.classes[*class as usize].rate == 0.0;
                fresh.extend(dirty.iter().flat_map(|&channel| self.on(channel)).filter(waiting));
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
        let mut found = std::mem::take(&mut self.found);
        self.find_on(channel, &mut found);
        found.iter().for_each(|&class| prefetch(&self.classes, class as usize));
        let (mut fixed, mut most) = (0.0, 0.0f64);
        for class in found.drain(..) {
            let class = &self.classes[class as usize];
            fixed += class.rate * f64::from(class.flows);
            most = most.max(class.rate);
        }
        let here = &mut self.channels[channel as usize];
        (here.added, here.fixed, here.most) = (0, fixed, most);
        self.found = found;
    }

    /// Goes through the levels until no class is open.
    fn fill(&mut self) {
        self.queue_noted();
        while let Some(LevelEntry { level, channel }) = self.heap.pop() {
            self.warm_ahead();
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
                if due && less(here.fixed, self.capacities.of(&here), self.eps) {
                    self.open_bound(channel);
                }
                continue;
            }
            let share = here.share(&self.capacities);
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

    /// Asks for the memory of channels that are looked at soon, and of what crosses them.
    #[inline]
    fn warm_ahead(&self) {
        const AHEAD: usize = 4;
        let cover = self.cover.as_ref();
        if let Some(channel) = self.heap.ahead(3 * AHEAD) {
            prefetch(&self.channels, channel as usize);
        }
        if let Some(channel) = self.heap.ahead(2 * AHEAD) {
            self.crossings.ask_for_entry(channel, Some(0), cover, &self.channels);
        }
        if let Some(channel) = self.heap.ahead(AHEAD).filter(|_| cover.is_none()) {
            self.on(channel).take(FIRST).for_each(|class| prefetch_whole(&self.classes, class as usize));
        }
    }

    /// Takes a channel into the change at hand.
    fn look(&mut self, channel: u32) {
        let here = &mut self.channels[channel as usize];
        if here.seen == self.change {
            return;
        }
        here.seen = self.change;
        let added = here.added;
        if added > ADDED && (added == u16::MAX || usize::from(added - ADDED) > self.in_line(channel)) {
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
        let Class { rate, flows, bottleneck, open, opened, mut again, .. } = self.classes[class as usize];
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
        let own = &self.classes[class as usize];
        Self::crossed(&self.crossings, self.cover.as_ref(), own, |channel| crossed.push(channel));
        for &channel in &crossed {
            if self.channels[channel as usize].seen != self.change {
                self.look(channel);
            }
        }
        for channel in crossed.drain(..) {
            let here = &mut self.channels[channel as usize];
            if rate > 0.0 {
                here.take(-rate * f64::from(flows));
            }
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
        for (at, &channel) in noted.iter().enumerate() {
            if let Some(&later) = noted.get(at + TOGETHER) {
                prefetch(&self.channels, later as usize);
            }
            let here = &mut self.channels[channel as usize];
            here.noted = false;
            let share = here.share(&self.capacities);
            self.queue(channel, share);
        }
        noted.clear();
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

    /// Keeps those of some classes of which `stays` is true, in their order.
    fn keep_where(&mut self, classes: &mut Vec<u32>, stays: impl Fn(&Class<T>) -> bool) {
        let ask_for = |all: &Vec<Class<T>>, class: u32| prefetch(all, class as usize);
        retain_ahead(classes, &mut self.classes, ask_for, |all, class| stays(&all[class as usize]));
    }

    /// Opens the classes of a channel that `which` names.
    fn open_where(&mut self, channel: u32, which: impl Fn(&Class<T>) -> bool) {
        let mut together = std::mem::take(&mut self.together);
        self.find_on(channel, &mut together);
        self.keep_where(&mut together, |own| !own.open && which(own));
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
        let (open, share, eps) = (here.open, here.share(&self.capacities), self.eps);
        let mut fixed = std::mem::take(&mut self.fixed);
        let mut found = std::mem::take(&mut self.found);
        self.find_on(channel, &mut found);
        found.iter().for_each(|&class| prefetch(&self.classes, class as usize));
        let classes = found.drain(..).map(|class| &self.classes[class as usize]);
        fixed.extend(classes.filter(|class| !class.open).map(|class| (class.rate, class.flows)));
        self.found = found;
        let (mut level, mut above) = (share, 0);
        loop {
            let (mut left, mut flows, mut more) = (self.capacities.of(&here), here.open, 0);
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
        let full =
            self.sharing == Sharing::Sticky && share < FULL * self.capacities.of(&self.channels[channel as usize]);
        let rate = if full { 0.0 } else { share };
        let mut together = std::mem::take(&mut self.together);
        self.find_on(channel, &mut together);
        self.keep_where(&mut together, |own| own.open);
        for some in together.chunks(TOGETHER) {
            self.warm(some);
            some.iter().for_each(|&class| self.freeze_class(class, channel, rate));
        }
        together.clear();
        self.together = together;
        self.channels[channel as usize].level = rate;
    }

    /// Freezes an open class at the rate of a channel, unless that was done at another of its runs there.
    fn freeze_class(&mut self, class: u32, channel: u32, rate: f64) {
        let own = &mut self.classes[class as usize];
        if !own.open {
            return;
        }
        (own.open, own.rate, own.bottleneck) = (false, rate, channel);
        let flows = own.flows;
        self.channels[channel as usize].bound += 1;
        self.each_channel(class, |there| {
            there.fixed += rate * f64::from(flows);
            there.most = there.most.max(rate);
            there.open -= flows;
        });
    }

    /// The rates by [`Sharing::Share`] of all classes that cross a channel of the change.
    fn share(&mut self, dirty: &[u32], fresh: &[u32]) {
        let of_fresh = fresh.iter().flat_map(|&class| self.path(class));
        let mut channels: Vec<u32> = dirty.iter().copied().chain(of_fresh).collect();
        channels.retain(|&channel| {
            let here = &mut self.channels[channel as usize];
            std::mem::replace(&mut here.seen, self.change) != self.change
        });
        for &channel in &channels {
            let flows = self.on(channel).map(|class| self.classes[class as usize].flows);
            self.channels[channel as usize].open = flows.sum();
        }
        for &channel in &channels {
            for class in self.crossings.on(channel, None, &self.channels) {
                let own = &mut self.classes[class as usize];
                if own.opened == self.change {
                    continue;
                }
                let shares = self.crossings.path(&own.path).map(|channel| &self.channels[channel as usize]);
                let rate =
                    shares.map(|there| self.capacities.of(there) / f64::from(there.open)).fold(f64::INFINITY, f64::min);
                self.changed.push(class);
                (own.rate, own.opened) = (rate, self.change);
            }
        }
    }
}

impl Rates {
    /// Adds a class of which nothing else is known: see [`Rates::add_with`].
    pub fn add(&mut self, path: &[u32], flows: u32) -> u32 {
        self.add_with(path, flows, |_| ())
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
        fn rates_after_each_change_are_those_found_from_the_start(
            (capacities, changes) in networks(), line in 0u32..14, terminals in 0u32..6
        ) {
            let mut rates = Rates::new(capacities.len(), capacities.iter().copied(), Sharing::MaxMin);
            if line > 0 {
                // Two lines, or one; some channels behind them may be those of terminals.
                let links = (capacities.len() as u32).saturating_sub(terminals).max(1);
                rates = rates.in_lines(|channel| (1..links).contains(&channel) && channel != line, links);
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
    fn a_line_may_be_longer_than_a_list_can_count() {
        let mut rates = Rates::new(70_000, vec![1.0; 70_000], Sharing::MaxMin).in_lines(|_| true, 70_000);
        let all: Vec<u32> = (0..70_000).collect();
        let long = rates.add(&all, 1);
        for channel in [0, LONGEST - 1, LONGEST, LONGEST + 1, 69_999] {
            let short = rates.add(&[channel], 1);
            rates.settle();
            assert_eq!([long, short].map(|class| rates.rate(class)), [0.5; 2], "{channel}");
            rates.leave(short, 1);
        }
        rates.settle();
        assert!(rates.rate(long) == 1.0 && rates.path(long).eq(all));
    }

    #[test]
    fn channels_of_terminals_count_where_no_link_does() {
        // A link, and what three terminals have; the last one has more than the link.
        let mut rates = Rates::new(4, [1.0, 1.0, 1.0, 2.0], Sharing::MaxMin).in_lines(|_| false, 1);
        let [one, two, linked] =
            [(&[3][..], 1), (&[3, 1], 2), (&[0, 2], 1)].map(|(path, flows)| rates.add(path, flows));
        rates.settle();
        assert_eq!([one, two, linked].map(|class| rates.rate(class)), [1.0, 0.5, 1.0]);
        rates.leave(one, 1);
        let other = rates.add(&[0, 2], 1);
        rates.settle();
        assert_eq!([two, linked, other].map(|class| rates.rate(class)), [0.5, 0.5, 0.5]);
    }

    #[test]
    fn a_change_reaches_no_further_than_it_must() {
        let mut rates = Rates::new(9, [1.0; 9], Sharing::MaxMin);
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
