//! Which classes of flows cross which channels.
//!
//! A path is a few *runs*, each of consecutive channels of a line, up or down; where no lines are known, each channel is a
//! line of its own. What crosses a line is in one list, with where it begins and ends there: a class that comes or
//! goes changes an entry for each run, not for each channel.
//!
//! A class that goes leaves a gap in each of its lists. Those behind it move up when a list is full, or read and has more
//! gaps than entries, all at a time: each is an access to the memory of another class.

use super::cover::Cover;
use crate::memory::{on_large_pages, prefetch};

/// A piece of a path: consecutive channels of a line.
#[derive(Debug, Clone, Copy)]
pub(super) struct Run {
    first: u32,
    last: u32,
    /// The position of its class in the list of what crosses the line.
    place: u32,
}

impl Run {
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

/// The position of a run that is in no list.
const NOWHERE: u32 = u32::MAX;

/// A path has its runs beside its class if they take no more than this; all those of a longer one are kept elsewhere.
const BESIDE: usize = 6;

/// The path of a class.
#[derive(Debug, Clone, Copy)]
pub(super) struct PathRuns {
    beside: [u32; BESIDE],
    /// Where they are kept elsewhere.
    first: u32,
    runs: u32,
}

impl PathRuns {
    /// One that is yet to be [added](Crossings::add).
    pub const NONE: Self = Self { beside: [NOWHERE; BESIDE], first: 0, runs: 0 };
}

/// Classes with their paths.
pub(super) trait HavePaths {
    fn path(&self, class: u32) -> &PathRuns;

    fn path_mut(&mut self, class: u32) -> &mut PathRuns;

    /// Asks for the memory of one.
    fn ask_for(&self, class: u32);
}

/// What crosses one line: where it is among the entries of all, how many there are with the gaps, and how many without.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct List {
    first: u32,
    len: u32,
    live: u32,
}

impl List {
    /// How many runs cross the line.
    #[inline]
    pub fn live(self) -> u32 {
        self.live
    }

    /// Where they are among the entries of all.
    #[inline]
    fn entries(self) -> std::ops::Range<usize> {
        self.first as usize..(self.first + self.len) as usize
    }
}

/// Lines with their lists, each at its first channel.
pub(super) trait HaveLists {
    fn list(&self, line: u32) -> List;

    /// The same with the logarithm of the number of entries that there is room for; 0 for none.
    fn list_mut(&mut self, line: u32) -> (&mut List, &mut u8);

    /// Asks for the memory of one.
    fn ask_for(&self, line: u32);
}

/// The logarithm of the entries that a line has room for at first; full lists get twice their room.
const ROOM: u8 = 2;
/// Up to this length a list may have any number of gaps.
const SHORT: u32 = 16;

/// No class: a gap.
const NO_CLASS: u32 = u32::MAX;
/// What a gap crosses: nothing.
const NO_SPAN: Span = Span(1);

/// The channels of a line that a run crosses, counted from the line's first.
#[derive(Debug, Clone, Copy)]
struct Span(u32);

impl Span {
    fn new(low: u32, high: u32) -> Self {
        Self(high << 16 | low)
    }

    #[inline]
    fn has(self, at: u32) -> bool {
        self.0 & 0xffff <= at && at <= self.0 >> 16
    }
}

/// A line has no more channels; a longer one is cut.
pub(super) const LONGEST: u32 = 1 << 16;

/// The paths of classes, and what crosses each line.
#[derive(Debug)]
pub(super) struct Crossings {
    /// Whether there are lines: a run is then kept as its first channel, its position, and its last channel, else without the
    /// last.
    lines: bool,
    /// The runs of long paths.
    runs: Vec<u32>,
    /// Where such runs can be kept again, by their number.
    free_runs: Vec<Vec<u32>>,
    /// What crosses each line, one list behind the other: millions of small vectors take long to make and to free.
    classes: Vec<u32>,
    /// Where there are lines, what each crosses of its line.
    spans: Vec<Span>,
    /// Where rooms for entries are to be used again, by the logarithm of their size.
    free: [Vec<u32>; 32],
    /// The runs of the path at hand.
    fresh: Vec<(u32, u32)>,
}

impl Crossings {
    /// No path yet, on this many channels.
    pub fn new(channels: usize) -> Self {
        Self {
            lines: false,
            runs: on_large_pages(4 * channels),
            free_runs: Vec::new(),
            classes: on_large_pages(2 * channels),
            spans: Vec::new(),
            free: std::array::from_fn(|_| Vec::new()),
            fresh: Vec::new(),
        }
    }

    /// The same where paths go along lines.
    pub fn in_lines(self) -> Self {
        Self { lines: true, ..self }
    }

    /// How many words a run is kept in.
    #[inline]
    fn words(&self) -> usize {
        if self.lines { 3 } else { 2 }
    }

    /// Calls with the first channel and the last of each run of a path.
    #[inline]
    pub fn each_run(path: &[u32], cover: Option<&Cover>, mut each: impl FnMut(u32, u32)) {
        match cover {
            Some(cover) => cover.runs(path).for_each(|(first, last)| each(first, last)),
            None => path.iter().for_each(|&channel| each(channel, channel)),
        }
    }

    /// Keeps the path of one of some classes, which has none.
    pub fn add(
        &mut self,
        class: u32,
        path: &[u32],
        cover: Option<&Cover>,
        classes: &mut impl HavePaths,
        lists: &mut impl HaveLists,
    ) {
        let mut fresh = std::mem::take(&mut self.fresh);
        Self::each_run(path, cover, |first, last| fresh.push((first, last)));
        let own = classes.path_mut(class);
        own.runs = fresh.len() as u32;
        if fresh.len() * self.words() > BESIDE {
            own.first = self.room_of_runs(fresh.len());
        }
        for (at, (first, last)) in fresh.drain(..).enumerate() {
            let line = line_of(cover, first);
            let span = Span::new(first.min(last) - line, first.max(last) - line);
            let place = self.push(line, (class, span), cover, classes, lists);
            self.set_run(classes.path_mut(class), at, Run { first, last, place });
        }
        self.fresh = fresh;
    }

    /// Where this many runs can be kept; the positions there are [`NOWHERE`].
    fn room_of_runs(&mut self, runs: usize) -> u32 {
        let words = self.words();
        self.free_runs.get_mut(runs).and_then(Vec::pop).unwrap_or_else(|| {
            let first = self.runs.len();
            self.runs.resize(first + runs * words, NOWHERE);
            first as u32
        })
    }

    /// Appends to a list; returns the position.
    fn push(
        &mut self,
        line: u32,
        (class, span): (u32, Span),
        cover: Option<&Cover>,
        classes: &mut impl HavePaths,
        lists: &mut impl HaveLists,
    ) -> u32 {
        let (list, room) = lists.list_mut(line);
        if list.len == room_for(*room) {
            if list.live <= list.len / 2 && list.len > 0 {
                self.close_gaps(line, cover, classes, lists);
            } else {
                self.widen(list, room);
            }
        }
        let (list, _) = lists.list_mut(line);
        let (place, at) = (list.len, (list.first + list.len) as usize);
        (list.len, list.live) = (list.len + 1, list.live + 1);
        self.classes[at] = class;
        if self.lines {
            self.spans[at] = span;
        }
        place
    }

    /// Gives a list twice the room.
    fn widen(&mut self, list: &mut List, room: &mut u8) {
        let wider = if *room == 0 { ROOM } else { *room + 1 };
        let first = self.free[wider as usize].pop().unwrap_or_else(|| {
            let first = self.classes.len();
            let end = first + room_for(wider) as usize;
            self.classes.resize(end, NO_CLASS);
            if self.lines {
                self.spans.resize(end, NO_SPAN);
            }
            first as u32
        });
        let old = list.first as usize..(list.first + list.len) as usize;
        self.classes.copy_within(old.clone(), first as usize);
        if self.lines {
            self.spans.copy_within(old, first as usize);
        }
        if *room > 0 {
            self.free[*room as usize].push(list.first);
        }
        (list.first, *room) = (first, wider);
    }

    /// Closes the gaps of a list: those behind them move up.
    fn close_gaps(
        &mut self,
        line: u32,
        cover: Option<&Cover>,
        classes: &mut impl HavePaths,
        lists: &mut impl HaveLists,
    ) {
        let (list, _) = lists.list_mut(line);
        let (first, len) = (list.first as usize, list.len as usize);
        for &class in &self.classes[first..first + len] {
            if class != NO_CLASS {
                classes.ask_for(class);
            }
        }
        let mut kept = 0;
        for at in 0..len {
            let class = self.classes[first + at];
            if class == NO_CLASS {
                continue;
            }
            if at > kept {
                self.classes[first + kept] = class;
                if self.lines {
                    self.spans[first + kept] = self.spans[first + at];
                }
                self.moves(classes.path_mut(class), (line, at as u32), kept as u32, cover);
            }
            kept += 1;
        }
        list.len = kept as u32;
    }

    /// Notes that the run of a path that was at one position of a line is at another one now.
    fn moves(&mut self, path: &mut PathRuns, (line, from): (u32, u32), to: u32, cover: Option<&Cover>) {
        let is_it = |run: &Run| run.place == from && line_of(cover, run.first) == line;
        let found = self.runs(path).enumerate().find(|(_, run)| is_it(run));
        let (at, _) = found.expect("what crosses a line has a run there");
        self.set_place(path, at, to);
    }

    /// Takes the path of one of some classes out of the lists.
    pub fn remove(
        &mut self,
        class: u32,
        cover: Option<&Cover>,
        classes: &mut impl HavePaths,
        lists: &mut impl HaveLists,
    ) {
        for at in 0..classes.path(class).runs as usize {
            // Read again: gaps that were closed have moved it.
            let path = classes.path_mut(class);
            let run = self.run(path, at);
            // No longer found when others move.
            self.set_place(path, at, NOWHERE);
            let line = line_of(cover, run.first);
            let (list, _) = lists.list_mut(line);
            let gap = (list.first + run.place) as usize;
            self.classes[gap] = NO_CLASS;
            if self.lines {
                self.spans[gap] = NO_SPAN;
            }
            list.live -= 1;
            if list.live == 0 {
                list.len = 0;
            }
        }
    }

    /// Forgets a path that was [removed](Crossings::remove).
    pub fn forget(&mut self, path: &PathRuns) {
        let runs = path.runs as usize;
        if runs * self.words() > BESIDE {
            if self.free_runs.len() <= runs {
                self.free_runs.resize(runs + 1, Vec::new());
            }
            self.free_runs[runs].push(path.first);
        }
    }

    /// Where the runs of a path are kept.
    #[inline]
    fn kept<'p>(&'p self, path: &'p PathRuns) -> &'p [u32] {
        let len = path.runs as usize * self.words();
        if len <= BESIDE { &path.beside[..len] } else { &self.runs[path.first as usize..][..len] }
    }

    #[inline]
    fn run(&self, path: &PathRuns, at: usize) -> Run {
        let kept = self.kept(path);
        match self.lines {
            true => Run { first: kept[3 * at], place: kept[3 * at + 1], last: kept[3 * at + 2] },
            false => Run { first: kept[2 * at], place: kept[2 * at + 1], last: kept[2 * at] },
        }
    }

    #[inline]
    fn kept_mut<'p>(&'p mut self, path: &'p mut PathRuns) -> &'p mut [u32] {
        let len = path.runs as usize * self.words();
        if len <= BESIDE { &mut path.beside[..len] } else { &mut self.runs[path.first as usize..][..len] }
    }

    fn set_run(&mut self, path: &mut PathRuns, at: usize, Run { first, last, place }: Run) {
        let (lines, kept) = (self.lines, self.kept_mut(path));
        if lines {
            (kept[3 * at], kept[3 * at + 1], kept[3 * at + 2]) = (first, place, last);
        } else {
            (kept[2 * at], kept[2 * at + 1]) = (first, place);
        }
    }

    /// Notes where the list of its line has a run.
    fn set_place(&mut self, path: &mut PathRuns, at: usize, place: u32) {
        let words = self.words();
        self.kept_mut(path)[words * at + 1] = place;
    }

    /// Calls with the channels of a path that are not covered, each run's from the lowest up.
    #[inline]
    pub fn each_uncovered(&self, path: &PathRuns, cover: Option<&Cover>, mut each: impl FnMut(u32)) {
        let kept = self.kept(path);
        match cover {
            None => kept.chunks_exact(2).for_each(|run| each(run[0])),
            Some(cover) => {
                for run in kept.chunks_exact(3) {
                    cover.uncovered((run[0].min(run[2]), run[0].max(run[2]))).for_each(&mut each);
                }
            }
        }
    }

    /// The runs of a path.
    #[inline]
    pub fn runs<'p>(&'p self, path: &'p PathRuns) -> impl Iterator<Item = Run> + 'p {
        (0..path.runs as usize).map(move |at| self.run(path, at))
    }

    /// The channels of a path, in its order.
    pub fn path<'p>(&'p self, path: &'p PathRuns) -> impl Iterator<Item = u32> + 'p {
        self.runs(path).flat_map(|run| run.channels())
    }

    /// The classes that cross a channel, in the order in which the list has them.
    #[inline]
    pub fn on(&self, channel: u32, cover: Option<&Cover>, lists: &impl HaveLists) -> impl Iterator<Item = u32> + '_ {
        let line = line_of(cover, channel);
        let (at, all) = (channel - line, lists.list(line).entries());
        let span = move |entry: usize| self.lines.then(|| self.spans[entry]);
        let crosses = move |entry: &usize| span(*entry).is_none_or(|span| span.has(at));
        all.filter(crosses).map(|entry| self.classes[entry]).filter(|&class| class != NO_CLASS)
    }

    /// Appends them to `found`. It is not foreseeable which entries cross a channel, so that none is a branch.
    #[inline]
    pub fn find_on(
        &mut self,
        channel: u32,
        cover: Option<&Cover>,
        (classes, lists): (&mut impl HavePaths, &mut impl HaveLists),
        found: &mut Vec<u32>,
    ) {
        let line = line_of(cover, channel);
        let List { len, live, .. } = lists.list(line);
        if len > SHORT && live < len / 2 {
            self.close_gaps(line, cover, classes, lists);
        }
        let all = lists.list(line).entries();
        let classes = &self.classes[all.clone()];
        if !self.lines {
            found.extend(classes.iter().filter(|class| **class != NO_CLASS));
            return;
        }
        let (at, mut end) = (channel - line, found.len());
        found.resize(end + classes.len(), NO_CLASS);
        for (&class, span) in classes.iter().zip(&self.spans[all]) {
            found[end] = class;
            end += usize::from(span.has(at));
        }
        found.truncate(end);
    }

    /// Asks for the memory of where the list of a run's line is, and of what is counted at the run's ends.
    pub fn ask_for_run((first, last): (u32, u32), cover: Option<&Cover>, lists: &impl HaveLists) {
        lists.ask_for(line_of(cover, first));
        if let Some(cover) = cover {
            cover.ask_for(first);
            cover.ask_for(last);
        }
    }

    /// Asks for the memory of the runs of a path that are kept elsewhere.
    pub fn ask_for_runs(&self, path: &PathRuns) {
        const LINE: usize = 16;
        let len = path.runs as usize * self.words();
        if len > BESIDE {
            (0..len + LINE - 1)
                .step_by(LINE)
                .for_each(|at| prefetch(&self.runs, path.first as usize + at.min(len - 1)));
        }
    }

    /// Asks for the memory of an entry of the line of a channel: that at a position, or behind the last.
    pub fn ask_for_entry(&self, channel: u32, place: Option<u32>, cover: Option<&Cover>, lists: &impl HaveLists) {
        let List { first, len, .. } = lists.list(line_of(cover, channel));
        let at = (first + place.unwrap_or(len)) as usize;
        prefetch(&self.classes, at);
        if self.lines {
            prefetch(&self.spans, at);
        }
    }

    /// The same of the entry of a run.
    pub fn ask_for_entry_of(&self, run: Run, cover: Option<&Cover>, lists: &impl HaveLists) {
        self.ask_for_entry(run.first, Some(run.place), cover, lists);
    }
}

/// The entries that a list has room for.
fn room_for(room: u8) -> u32 {
    if room == 0 { 0 } else { 1 << room }
}

/// The first channel of a channel's line.
#[inline]
fn line_of(cover: Option<&Cover>, channel: u32) -> u32 {
    cover.map_or(channel, |cover| cover.line_of(channel))
}
