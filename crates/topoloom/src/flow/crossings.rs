//! Which classes of flows cross which channels.
//!
//! A path is a few *runs*, each of consecutive channels of a line, up or down; where no lines are known, each channel is a
//! line of its own. What crosses a line is in one list, with where it begins and ends there: a class that comes or
//! goes changes an entry for each run, not for each channel.

use super::cover::Cover;
use crate::memory::{on_large_pages, prefetch};

/// A piece of a path: consecutive channels of a line.
#[derive(Debug, Clone, Copy)]
pub(super) struct Run {
    first: u32,
    last: u32,
    /// The position of its class among those that cross the line.
    place: u32,
}

impl Run {
    const NONE: Self = Self { first: 0, last: 0, place: u32::MAX };

    /// Its lowest channel and its highest.
    #[inline]
    pub fn span(self) -> (u32, u32) {
        (self.first.min(self.last), self.first.max(self.last))
    }

    /// Its channels, in the order of the path.
    fn channels(self) -> impl Iterator<Item = u32> {
        let Self { first, last, .. } = self;
        (0..=first.abs_diff(last)).map(move |step| if first < last { first + step } else { first - step })
    }
}

/// A class that crosses a line.
#[derive(Debug, Clone, Copy)]
struct Crossing {
    class: u32,
    of_run: OfRun,
}

/// Where lines are known: the channels that a run crosses. Else each channel is a line, and this is the position of the
/// run, [`OfRun::BESIDE`] where it is kept beside its class.
#[derive(Debug, Clone, Copy, PartialEq)]
struct OfRun(u32);

impl OfRun {
    const BESIDE: Self = Self(u32::MAX);

    /// From one channel up to another, counted from the line's first.
    fn span(low: u32, high: u32) -> Self {
        Self(high << 16 | low)
    }

    /// Whether a run with this span crosses a channel.
    #[inline]
    fn crosses(self, at: u32) -> bool {
        (self.0 & 0xffff..=self.0 >> 16).contains(&at)
    }
}

/// A line has no more channels; a longer one is cut.
pub(super) const LONGEST: u32 = 1 << 16;

/// A path has up to this many runs beside its class; all runs of a longer one are kept elsewhere.
const BESIDE: usize = 2;

/// The path of a class.
#[derive(Debug, Clone, Copy)]
pub(super) struct PathRuns {
    beside: [Run; BESIDE],
    /// Where they are kept elsewhere.
    first: u32,
    runs: u32,
}

/// Classes with their paths.
pub(super) trait HavePaths {
    fn path_mut(&mut self, class: u32) -> &mut PathRuns;
}

/// What crosses one line: where it is among the entries of all, how many there are, and how many have room.
#[derive(Debug, Clone, Copy, Default)]
struct List {
    first: u32,
    len: u32,
    room: u32,
}

/// The first entry of a line makes room for this many; full lists get twice their room.
const ROOM: u32 = 4;

/// Lists of what crosses each line. They share one allocation: millions of small ones take long to make and to free.
#[derive(Debug)]
struct Lists {
    lists: Vec<List>,
    entries: Vec<Crossing>,
    /// Where rooms are to be used again, by the logarithm of their size.
    free: [Vec<u32>; 32],
}

impl Lists {
    fn new(lines: usize) -> Self {
        let mut lists = on_large_pages(lines);
        lists.resize(lines, List::default());
        Self { lists, entries: on_large_pages(2 * lines), free: std::array::from_fn(|_| Vec::new()) }
    }

    #[inline]
    fn of(&self, line: u32) -> &[Crossing] {
        let List { first, len, .. } = self.lists[line as usize];
        &self.entries[first as usize..][..len as usize]
    }

    /// Appends to a list; returns how many were there before.
    fn push(&mut self, line: u32, crossing: Crossing) -> u32 {
        let List { first, len, room } = self.lists[line as usize];
        let mut list = List { first, len: len + 1, room };
        if len == room {
            list.room = if room == 0 { ROOM } else { 2 * room };
            list.first = self.room(list.room);
            let old = first as usize..(first + len) as usize;
            self.entries.copy_within(old, list.first as usize);
            if room > 0 {
                self.free[room.ilog2() as usize].push(first);
            }
        }
        self.entries[(list.first + len) as usize] = crossing;
        self.lists[line as usize] = list;
        len
    }

    fn room(&mut self, room: u32) -> u32 {
        self.free[room.ilog2() as usize].pop().unwrap_or_else(|| {
            let first = self.entries.len();
            self.entries.resize(first + room as usize, Crossing { class: 0, of_run: OfRun(0) });
            first as u32
        })
    }

    /// Takes an entry out of a list; the last one moves to its position. Returns that, if it is another.
    fn take(&mut self, line: u32, place: u32) -> Option<Crossing> {
        let list = &mut self.lists[line as usize];
        list.len -= 1;
        let last = self.entries[(list.first + list.len) as usize];
        self.entries[(list.first + place) as usize] = last;
        (place < list.len).then_some(last)
    }
}

/// The paths of classes, and what crosses each line.
#[derive(Debug)]
pub(super) struct Crossings {
    /// Those of paths that have more than a few.
    runs: Vec<Run>,
    /// Paths to be used again, by their number of runs.
    free: Vec<Vec<u32>>,
    /// What crosses each line, by its first channel.
    lists: Lists,
    /// The runs of the path at hand.
    fresh: Vec<(u32, u32)>,
}

impl Crossings {
    /// No path yet, on this many channels.
    pub fn new(channels: usize) -> Self {
        Self { runs: on_large_pages(2 * channels), free: Vec::new(), lists: Lists::new(channels), fresh: Vec::new() }
    }

    /// Adds a channel behind all others, which belongs to no line.
    pub fn add_channel(&mut self) {
        self.lists.lists.push(List::default());
    }

    /// Calls with the first channel and the last of each run of a path.
    #[inline]
    pub fn each_run(path: &[u32], cover: Option<&Cover>, mut each: impl FnMut(u32, u32)) {
        match cover {
            Some(cover) => cover.runs(path).for_each(|(first, last)| each(first, last)),
            None => path.iter().for_each(|&channel| each(channel, channel)),
        }
    }

    /// Keeps the path of a class.
    pub fn add(&mut self, class: u32, path: &[u32], cover: Option<&Cover>) -> PathRuns {
        let mut fresh = std::mem::take(&mut self.fresh);
        Self::each_run(path, cover, |first, last| fresh.push((first, last)));
        let mut path = PathRuns { beside: [Run::NONE; BESIDE], first: 0, runs: fresh.len() as u32 };
        if fresh.len() > BESIDE {
            path.first = self.room(fresh.len());
        }
        for (at, (first, last)) in fresh.drain(..).enumerate() {
            let line = line_of(cover, first);
            let of_run = match cover {
                Some(_) => OfRun::span(first.min(last) - line, first.max(last) - line),
                None if path.runs as usize <= BESIDE => OfRun::BESIDE,
                None => OfRun(path.first + at as u32),
            };
            let place = self.lists.push(line, Crossing { class, of_run });
            self.runs_mut(&mut path)[at] = Run { first, last, place };
        }
        self.fresh = fresh;
        path
    }

    /// Where this many runs can be kept.
    fn room(&mut self, runs: usize) -> u32 {
        self.free.get_mut(runs).and_then(Vec::pop).unwrap_or_else(|| {
            self.runs.resize(self.runs.len() + runs, Run::NONE);
            (self.runs.len() - runs) as u32
        })
    }

    /// Drops the path of one of some classes.
    pub fn remove(&mut self, class: u32, cover: Option<&Cover>, classes: &mut impl HavePaths) {
        let PathRuns { first, runs, .. } = *classes.path_mut(class);
        for at in 0..runs as usize {
            // Read again, and no longer found below: what moves may be another run of this path.
            let run = &mut self.runs_mut(classes.path_mut(class))[at];
            let Run { first, place, .. } = std::mem::replace(run, Run::NONE);
            let line = line_of(cover, first);
            let Some(moved) = self.lists.take(line, place) else { continue };
            let last = self.lists.of(line).len() as u32;
            if cover.is_none() && moved.of_run != OfRun::BESIDE {
                self.runs[moved.of_run.0 as usize].place = place;
                continue;
            }
            // No other of its runs is at that position of that line.
            let same = |run: &&mut Run| run.place == last && line_of(cover, run.first) == line;
            let of_moved = self.runs_mut(classes.path_mut(moved.class));
            of_moved.iter_mut().find(same).expect("what crosses a line has a run there").place = place;
        }
        let runs = runs as usize;
        if runs > BESIDE {
            self.free.resize(self.free.len().max(runs + 1), Vec::new());
            self.free[runs].push(first);
        }
    }

    /// The runs of a path.
    #[inline]
    pub fn runs<'p>(&'p self, path: &'p PathRuns) -> &'p [Run] {
        let runs = path.runs as usize;
        if runs <= BESIDE { &path.beside[..runs] } else { &self.runs[path.first as usize..][..runs] }
    }

    fn runs_mut<'p>(&'p mut self, path: &'p mut PathRuns) -> &'p mut [Run] {
        let runs = path.runs as usize;
        if runs <= BESIDE { &mut path.beside[..runs] } else { &mut self.runs[path.first as usize..][..runs] }
    }

    /// The channels of a path, in its order.
    pub fn path<'p>(&'p self, path: &'p PathRuns) -> impl Iterator<Item = u32> + 'p {
        self.runs(path).iter().flat_map(|run| run.channels())
    }

    /// The classes that cross a channel, in the order in which a [list](Crossings::list) has them.
    #[inline]
    pub fn on(&self, channel: u32, cover: Option<&Cover>) -> impl Iterator<Item = u32> + '_ {
        let line = line_of(cover, channel);
        let (all, at) = (cover.is_none(), channel - line);
        let crosses = move |crossing: &&Crossing| all || crossing.of_run.crosses(at);
        self.lists.of(line).iter().filter(crosses).map(|crossing| crossing.class)
    }

    /// How many classes cross the line of a channel.
    pub fn in_line(&self, channel: u32, cover: Option<&Cover>) -> usize {
        self.lists.of(line_of(cover, channel)).len()
    }

    /// Asks for the memory of where the list of a run's line is, and of what is counted at the run's ends.
    pub fn ask_for(&self, (first, last): (u32, u32), cover: Option<&Cover>) {
        prefetch(&self.lists.lists, line_of(cover, first) as usize);
        if let Some(cover) = cover {
            cover.ask_for(first);
            cover.ask_for(last);
        }
    }

    /// Asks for the memory of where the list of a channel's line is.
    pub fn ask_for_list(&self, channel: u32, cover: Option<&Cover>) {
        prefetch(&self.lists.lists, line_of(cover, channel) as usize);
    }

    /// Asks for the memory behind the last of what crosses the line of a channel.
    pub fn ask_for_last(&self, channel: u32, cover: Option<&Cover>) {
        let List { first, len, .. } = self.lists.lists[line_of(cover, channel) as usize];
        prefetch(&self.lists.entries, (first + len) as usize);
    }

    /// Asks for the memory of the run whose position changes if an entry goes; returns its class if it is kept beside that.
    pub fn ask_for_moved(&self, gone: Run, cover: Option<&Cover>) -> Option<u32> {
        let Crossing { class, of_run } = *self.lists.of(line_of(cover, gone.first)).last()?;
        if cover.is_none() && of_run != OfRun::BESIDE {
            prefetch(&self.runs, of_run.0 as usize);
            return None;
        }
        Some(class)
    }
}

/// The first channel of a channel's line.
#[inline]
fn line_of(cover: Option<&Cover>, channel: u32) -> u32 {
    cover.map_or(channel, |cover| cover.line_of(channel))
}
