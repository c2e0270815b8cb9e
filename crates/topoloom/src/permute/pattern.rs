//! Exchanges that are made everywhere alike: a search in a small pattern for a large network.
//!
//! Where a base looks the same from each cabinet, a cabling may as well: what is exchanged in one cabinet is exchanged in
//! all. The sum of all distances then is that from the vertices of one cabinet, times the number of [`Shifts`].

use super::shifts::Shifts;
use crate::rng::Rng;

/// Vertices from which distances are measured at a time: the bits of [`Sources`].
const TOGETHER: usize = 16;
type Sources = u16;

/// The links of the vertices of a pattern. Vertex g of n shifts of pattern vertex v is v * n + g.
#[derive(Debug, Clone, Default)]
pub(super) struct Pattern {
    /// The number of shifts.
    shifts: usize,
    /// The first plug of each vertex, and behind them the number of plugs.
    base: Vec<u32>,
    /// The vertex of each plug.
    vertex: Vec<u32>,
    /// The plug at the other end of each plug's link; itself if a vertex is linked to a shift of itself that way.
    mate: Vec<u32>,
    /// By what the other end is shifted: a number of `sums`.
    by: Vec<u16>,
    /// For each such shift, the sum with each shift.
    sums: Vec<Vec<u32>>,
    /// Whether such a shift is none, and whether it takes itself back.
    is_none: Vec<bool>,
    takes_back: Vec<bool>,
}

/// An exchange that is made everywhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Everywhere {
    /// The ends in two plugs of one cabinet.
    All(u32, u32),
    /// The same in one of every two shifts, which a shift that takes itself back maps onto each other: two links of
    /// vertices with shifts of themselves become one link of the two vertices, or the reverse.
    Half(u32, u32),
}

impl Pattern {
    /// From the plugs of each vertex: the plug at the other end, and by what that is shifted.
    pub fn new(shifts: &Shifts, plugs: &[Vec<(u32, u32)>]) -> Self {
        let mut known: Vec<u32> = plugs.iter().flatten().map(|plug| plug.1).collect();
        known.sort_unstable();
        known.dedup();
        let mut this = Self {
            shifts: shifts.len(),
            base: vec![0],
            vertex: Vec::new(),
            mate: Vec::new(),
            by: Vec::new(),
            sums: known.iter().map(|&by| (0..shifts.len() as u32).map(|g| shifts.sum(by, g)).collect()).collect(),
            is_none: known.iter().map(|&by| by == 0).collect(),
            takes_back: known.iter().map(|&by| by != 0 && shifts.sum(by, by) == 0).collect(),
        };
        for (vertex, plugs) in (0..).zip(plugs) {
            for &(mate, by) in plugs {
                this.vertex.push(vertex);
                this.mate.push(mate);
                this.by.push(known.partition_point(|&other| other < by) as u16);
            }
            this.base.push(this.vertex.len() as u32);
        }
        this
    }

    fn vertices(&self) -> usize {
        self.base.len() - 1
    }

    fn plugs_of(&self, vertex: usize) -> std::ops::Range<usize> {
        self.base[vertex] as usize..self.base[vertex + 1] as usize
    }

    /// Does an exchange; twice is as if nothing had happened. None, and nothing done, if there is no such exchange.
    fn exchange(&mut self, what: Everywhere) -> Option<()> {
        match what {
            Everywhere::All(x, y) => {
                let swapped = |plug: u32| [plug, y, x][usize::from(plug == x) + 2 * usize::from(plug == y)];
                let [of_x, of_y] = [x, y].map(|plug| swapped(self.mate[plug as usize]));
                self.by.swap(x as usize, y as usize);
                for (plug, mate) in [(x, of_y), (y, of_x)] {
                    self.mate[plug as usize] = mate;
                    self.mate[mate as usize] = plug;
                }
            }
            Everywhere::Half(x, y) => {
                let by = self.by[x as usize];
                if by != self.by[y as usize] || !self.takes_back[by as usize] {
                    return None;
                }
                let [of_x, of_y] = [x, y].map(|plug| self.mate[plug as usize]);
                let (to_x, to_y) = match (of_x, of_y) {
                    own if own == (x, y) => (y, x),
                    other if other == (y, x) => (x, y),
                    _ => return None,
                };
                (self.mate[x as usize], self.mate[y as usize]) = (to_x, to_y);
            }
        }
        Some(())
    }

    /// True if the links in two plugs and in their mates lead to other vertices, and are parallel to no other link.
    fn is_plain(&self, x: u32, y: u32) -> bool {
        [x, y, self.mate[x as usize], self.mate[y as usize]].into_iter().all(|plug| {
            let (to, by) = (self.vertex[self.mate[plug as usize] as usize], self.by[plug as usize]);
            let own = self.vertex[plug as usize] as usize;
            let leads_there = |other: usize| self.vertex[self.mate[other] as usize] == to && self.by[other] == by;
            !(to as usize == own && self.is_none[by as usize])
                && self.plugs_of(own).all(|other| other == plug as usize || !leads_there(other))
        })
    }
}

/// Measures patterns.
struct Measure {
    /// By vertex: the sources that have reached it, that reached it last, that reach it next.
    seen: Vec<Sources>,
    frontier: Vec<Sources>,
    next: Vec<Sources>,
    /// The vertices, with the shift apart, whose frontier is not empty.
    active: Vec<(u32, u32)>,
    touched: Vec<(u32, u32)>,
}

impl Measure {
    fn new(pattern: &Pattern) -> Self {
        let empty = || vec![0; pattern.vertices() * pattern.shifts];
        Self { seen: empty(), frontier: empty(), next: empty(), active: Vec::new(), touched: Vec::new() }
    }

    /// The sum of the distances from all vertices of a pattern to all vertices; none if it is above `limit` or if there
    /// is no way.
    fn sum(&mut self, pattern: &Pattern, limit: u64) -> Option<u64> {
        let all: Vec<u32> = (0..pattern.vertices() as u32).collect();
        all.chunks(TOGETHER).try_fold(0, |sum, sources| self.add(pattern, sources, sum, limit))
    }

    fn add(&mut self, pattern: &Pattern, sources: &[u32], mut sum: u64, limit: u64) -> Option<u64> {
        self.active.iter().for_each(|&(v, g)| self.frontier[v as usize * pattern.shifts + g as usize] = 0);
        self.active.clear();
        self.seen.fill(0);
        for (bit, &source) in sources.iter().enumerate() {
            let place = source as usize * pattern.shifts;
            (self.seen[place], self.frontier[place]) = (1 << bit, 1 << bit);
            self.active.push((source, 0));
        }
        // All pairs that are further apart count once at each distance.
        let mut left = ((self.seen.len() - 1) * sources.len()) as u64;
        while left > 0 {
            sum += left;
            if sum > limit || self.active.is_empty() {
                return None;
            }
            left -= if 6 * self.active.len() < self.seen.len() { self.push(pattern) } else { self.pull(pattern) };
        }
        Some(sum)
    }

    /// Few vertices tell their neighbours; returns the pairs that are new.
    fn push(&mut self, pattern: &Pattern) -> u64 {
        for (vertex, shift) in self.active.drain(..) {
            let place = vertex as usize * pattern.shifts + shift as usize;
            let arriving = std::mem::take(&mut self.frontier[place]);
            for plug in pattern.plugs_of(vertex as usize) {
                let to = pattern.vertex[pattern.mate[plug] as usize];
                let shift = pattern.sums[pattern.by[plug] as usize][shift as usize];
                let next = &mut self.next[to as usize * pattern.shifts + shift as usize];
                if *next == 0 {
                    self.touched.push((to, shift));
                }
                *next |= arriving;
            }
        }
        let mut pairs = 0;
        for (vertex, shift) in self.touched.drain(..) {
            let place = vertex as usize * pattern.shifts + shift as usize;
            let new = std::mem::take(&mut self.next[place]) & !self.seen[place];
            if new != 0 {
                self.seen[place] |= new;
                self.frontier[place] = new;
                self.active.push((vertex, shift));
                pairs += u64::from(new.count_ones());
            }
        }
        pairs
    }

    /// All vertices ask their neighbours; returns the pairs that are new.
    fn pull(&mut self, pattern: &Pattern) -> u64 {
        let mut pairs = 0;
        let before = std::mem::take(&mut self.active);
        for (vertex, next) in (0..).zip(self.next.chunks_exact_mut(pattern.shifts)) {
            for plug in pattern.plugs_of(vertex) {
                let first = pattern.vertex[pattern.mate[plug] as usize] as usize * pattern.shifts;
                let there = &self.frontier[first..first + pattern.shifts];
                let by = pattern.by[plug] as usize;
                if pattern.is_none[by] {
                    next.iter_mut().zip(there).for_each(|(next, there)| *next |= there);
                } else {
                    next.iter_mut().zip(&pattern.sums[by]).for_each(|(next, &from)| *next |= there[from as usize]);
                }
            }
            let seen = &mut self.seen[vertex * pattern.shifts..(vertex + 1) * pattern.shifts];
            for (shift, (next, seen)) in (0..).zip(next.iter_mut().zip(seen)) {
                *next &= !*seen;
                if *next != 0 {
                    *seen |= *next;
                    pairs += u64::from(next.count_ones());
                    self.active.push((vertex as u32, shift));
                }
            }
        }
        before.iter().for_each(|&(v, g)| self.frontier[v as usize * pattern.shifts + g as usize] = 0);
        std::mem::swap(&mut self.frontier, &mut self.next);
        pairs
    }
}

/// What a search in a pattern found.
#[derive(Debug)]
pub(super) struct Found {
    /// The exchanges that lead there.
    pub exchanges: Vec<Everywhere>,
    /// The sum of the distances from the vertices of the pattern.
    pub sum: u64,
    /// Exchanges that were measured.
    pub tried: u64,
    /// Exchanges that were kept.
    pub kept: u64,
}

/// The usual difference of an exchange is the median of so many.
const SAMPLES: usize = 200;

/// How to anneal.
#[derive(Debug, Clone, Copy)]
pub(super) struct Heat {
    /// Exchanges at random at first, for each plug.
    pub shuffles: u32,
    /// The temperatures at the beginning and in the end, as parts of the usual difference of an exchange.
    pub temperatures: [f64; 2],
}

impl Heat {
    /// Chance is all that there is at first.
    pub const FROM_CHANCE: Self = Self { shuffles: 20, temperatures: [0.2, 0.002] };
    /// What there is was found by such a search.
    pub const FROM_GOOD: Self = Self { shuffles: 0, temperatures: [0.05, 0.002] };
}

/// Simulated annealing. `cabinets` has the plugs of each cabinet of the pattern. None if it begins with what is
/// disconnected.
pub(super) fn anneal(pattern: Pattern, cabinets: &[Vec<u32>], steps: u64, heat: Heat, rng: Rng) -> Option<Found> {
    let mut annealing = Annealing::new(pattern, cabinets, rng);
    for _ in 0..heat.shuffles * annealing.pattern.vertex.len() as u32 {
        annealing.exchange();
    }
    let mut sum = annealing.measure.sum(&annealing.pattern, u64::MAX)?;
    let scale = annealing.scale(sum);
    let (mut best, mut tried, mut kept) = ((sum, annealing.done.len()), 0, 0);
    for step in 0..steps {
        let [from, to] = heat.temperatures;
        let temperature = scale * from * (to / from).powf(step as f64 / steps as f64);
        if annealing.exchange().is_none() {
            continue;
        }
        tried += 1;
        let limit = sum as f64 - temperature * annealing.rng.unit().ln();
        match annealing.measure.sum(&annealing.pattern, limit as u64) {
            Some(found) => {
                (sum, kept) = (found, kept + 1);
                if sum < best.0 {
                    best = (sum, annealing.done.len());
                }
            }
            None => annealing.take_back(),
        }
    }
    annealing.done.truncate(best.1);
    Some(Found { exchanges: annealing.done, sum: best.0, tried, kept })
}

struct Annealing<'a> {
    pattern: Pattern,
    cabinets: &'a [Vec<u32>],
    /// The cabinet of each plug.
    cabinet: Vec<u32>,
    measure: Measure,
    rng: Rng,
    /// What led to the pattern as it is.
    done: Vec<Everywhere>,
}

impl<'a> Annealing<'a> {
    fn new(pattern: Pattern, cabinets: &'a [Vec<u32>], rng: Rng) -> Self {
        let mut cabinet = vec![0; pattern.vertex.len()];
        for (number, plugs) in (0..).zip(cabinets) {
            plugs.iter().for_each(|&plug| cabinet[plug as usize] = number);
        }
        let measure = Measure::new(&pattern);
        Self { pattern, cabinets, cabinet, measure, rng, done: Vec::new() }
    }

    /// Draws an exchange and does it; none, and nothing done, if what was drawn is not allowed.
    fn exchange(&mut self) -> Option<()> {
        let x = self.rng.below(self.pattern.vertex.len() as u32);
        let there = &self.cabinets[self.cabinet[x as usize] as usize];
        let y = there[self.rng.below(there.len() as u32) as usize];
        if self.pattern.vertex[x as usize] == self.pattern.vertex[y as usize] {
            return None;
        }
        let half = self.rng.coin().then_some(Everywhere::Half(x, y));
        let what = half.filter(|&half| self.pattern.exchange(half).is_some());
        let what = what.unwrap_or_else(|| {
            let all = Everywhere::All(x, y);
            self.pattern.exchange(all);
            all
        });
        self.done.push(what);
        if self.pattern.is_plain(x, y) {
            return Some(());
        }
        self.take_back();
        None
    }

    fn take_back(&mut self) {
        if let Some(last) = self.done.pop() {
            self.pattern.exchange(last);
        }
    }

    /// The size of the difference that an exchange makes to a `sum`, as a median.
    fn scale(&mut self, sum: u64) -> f64 {
        let mut sizes = Vec::new();
        for _ in 0..SAMPLES {
            if self.exchange().is_some() {
                sizes.extend(self.measure.sum(&self.pattern, u64::MAX).map(|other| other.abs_diff(sum) as f64));
                self.take_back();
            }
        }
        sizes.sort_by(f64::total_cmp);
        sizes.get(sizes.len() / 2).copied().unwrap_or(1.0).max(1.0)
    }
}
