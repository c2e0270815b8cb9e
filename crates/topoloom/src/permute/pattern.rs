//! Exchanges that are made everywhere alike: a search in a small pattern for a large network.
//!
//! Where a base looks the same from each cabinet, a cabling may as well: what is exchanged in one cabinet is exchanged in
//! all. The sum of all distances then is that from the vertices of one cabinet, times the number of [`Shifts`].

use super::shifts::Shifts;
use crate::rng::Rng;
use crate::watch::Stage;

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
    sums: Vec<Sums>,
    /// Whether such a shift is none, and whether it takes itself back.
    is_none: Vec<bool>,
    takes_back: Vec<bool>,
}

/// The sums of one shift with all.
#[derive(Debug, Clone)]
enum Sums {
    /// Few pieces in which sums follow each other: the first shift, the sum with it, and how many follow.
    Pieces(Vec<[usize; 3]>),
    /// One by one.
    Each(Vec<u32>),
}

impl Sums {
    fn new(shifts: &Shifts, by: u32) -> Self {
        let each: Vec<u32> = (0..shifts.len() as u32).map(|shift| shifts.sum(by, shift)).collect();
        let mut pieces: Vec<[usize; 3]> = Vec::new();
        for (shift, &sum) in each.iter().enumerate() {
            match pieces.last_mut() {
                Some([_, first, length]) if *first + *length == sum as usize => *length += 1,
                _ => pieces.push([shift, sum as usize, 1]),
            }
        }
        if pieces.len() * LEAST_PIECE <= each.len() { Self::Pieces(pieces) } else { Self::Each(each) }
    }

    /// Adds to `next` of each shift what `there` has of its sum.
    fn add(&self, next: &mut [Sources], there: &[Sources]) {
        match self {
            Self::Pieces(pieces) => {
                for &[shift, sum, length] in pieces {
                    let there = &there[sum..sum + length];
                    next[shift..shift + length].iter_mut().zip(there).for_each(|(next, there)| *next |= there);
                }
            }
            Self::Each(sums) => next.iter_mut().zip(sums).for_each(|(next, &sum)| *next |= there[sum as usize]),
        }
    }
}

/// Pieces that are shorter on average are not worth their loops.
const LEAST_PIECE: usize = 8;

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
            sums: known.iter().map(|&by| Sums::new(shifts, by)).collect(),
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

/// The result of measuring a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PatternMeasure {
    /// The sum of the distances from all vertices of the pattern to all vertices.
    Sum(u64),
    /// It is above the limit.
    Above,
    /// To some vertices there is no path.
    Apart,
}

impl PatternMeasure {
    fn sum(self) -> Option<u64> {
        match self {
            Self::Sum(sum) => Some(sum),
            Self::Above | Self::Apart => None,
        }
    }
}

/// Measures patterns.
struct Measure {
    /// By vertex: the sources that have reached it, that reached it last, that reach it next.
    seen: Vec<Sources>,
    frontier: Vec<Sources>,
    next: Vec<Sources>,
}

impl Measure {
    fn new(pattern: &Pattern) -> Self {
        let [seen, frontier, next] = [(); 3].map(|()| vec![0; pattern.vertices() * pattern.shifts]);
        Self { seen, frontier, next }
    }

    /// Measures a pattern, no further than to a `limit`.
    fn measure(&mut self, pattern: &Pattern, limit: u64) -> PatternMeasure {
        let (mut sum, mut sources) = (0, 0..pattern.vertices());
        while !sources.is_empty() {
            let together: Vec<usize> = sources.by_ref().take(TOGETHER).collect();
            match self.add(pattern, &together, sum, limit) {
                PatternMeasure::Sum(more) => sum = more,
                other => return other,
            }
        }
        PatternMeasure::Sum(sum)
    }

    /// Adds the distances from some sources to a sum.
    fn add(&mut self, pattern: &Pattern, sources: &[usize], mut sum: u64, limit: u64) -> PatternMeasure {
        self.seen.fill(0);
        self.frontier.fill(0);
        for (bit, &source) in sources.iter().enumerate() {
            let place = source * pattern.shifts;
            (self.seen[place], self.frontier[place]) = (1 << bit, 1 << bit);
        }
        // All pairs that are further apart count once at each distance.
        let mut left = ((self.seen.len() - 1) * sources.len()) as u64;
        while left > 0 {
            sum += left;
            if sum > limit {
                return PatternMeasure::Above;
            }
            let found = self.step(pattern);
            if found == 0 {
                return PatternMeasure::Apart;
            }
            left -= found;
        }
        PatternMeasure::Sum(sum)
    }

    /// All vertices ask their neighbours; returns the pairs that are new.
    fn step(&mut self, pattern: &Pattern) -> u64 {
        let mut pairs = 0;
        let of_vertex = self.next.chunks_exact_mut(pattern.shifts).zip(self.seen.chunks_exact_mut(pattern.shifts));
        for (vertex, (next, seen)) in of_vertex.enumerate() {
            next.fill(0);
            for plug in pattern.plugs_of(vertex) {
                let first = pattern.vertex[pattern.mate[plug] as usize] as usize * pattern.shifts;
                pattern.sums[pattern.by[plug] as usize].add(next, &self.frontier[first..first + pattern.shifts]);
            }
            for (next, seen) in next.iter_mut().zip(seen) {
                *next &= !*seen;
                *seen |= *next;
                pairs += u64::from(next.count_ones());
            }
        }
        std::mem::swap(&mut self.frontier, &mut self.next);
        pairs
    }
}

/// What a search in a pattern found.
#[derive(Debug)]
pub(super) struct PatternResult {
    /// The exchanges that lead there.
    pub exchanges: Vec<Everywhere>,
    /// The sum of the distances from the vertices of the pattern.
    pub sum: u64,
    /// Exchanges that were measured.
    pub tried: u64,
    /// Exchanges that were kept.
    pub kept: u64,
    /// Exchanges that were discarded because they would have disconnected the network.
    pub disconnecting: u64,
}

/// The usual difference of an exchange is the median of this many.
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
    /// The cabling was found by such a search.
    pub const FROM_GOOD: Self = Self { shuffles: 0, temperatures: [0.05, 0.002] };
}

/// Simulated annealing. `cabinets` has the plugs of each cabinet of the pattern. None if it begins with what is
/// disconnected.
pub(super) fn anneal(
    pattern: Pattern,
    cabinets: &[Vec<u32>],
    steps: u64,
    heat: Heat,
    rng: Rng,
    stage: &Stage,
) -> Option<PatternResult> {
    let mut annealing = Annealing::new(pattern, cabinets, rng);
    for _ in 0..heat.shuffles * annealing.pattern.vertex.len() as u32 {
        annealing.exchange();
    }
    let mut sum = annealing.measure.measure(&annealing.pattern, u64::MAX).sum()?;
    let scale = annealing.scale(sum);
    let (mut best, [mut tried, mut kept, mut disconnecting]) = ((sum, annealing.done.len()), [0; 3]);
    for step in 0..steps {
        stage.step();
        let [from, to] = heat.temperatures;
        let temperature = scale * from * (to / from).powf(step as f64 / steps as f64);
        if annealing.exchange().is_none() {
            continue;
        }
        tried += 1;
        let limit = sum as f64 - temperature * annealing.rng.unit().ln();
        let measured = annealing.measure.measure(&annealing.pattern, limit as u64);
        if let PatternMeasure::Sum(found) = measured {
            (sum, kept) = (found, kept + 1);
            if sum < best.0 {
                best = (sum, annealing.done.len());
            }
        } else {
            annealing.take_back();
            disconnecting += u64::from(measured == PatternMeasure::Apart);
        }
    }
    annealing.done.truncate(best.1);
    Some(PatternResult { exchanges: annealing.done, sum: best.0, tried, kept, disconnecting })
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
                let measured = self.measure.measure(&self.pattern, u64::MAX);
                sizes.extend(measured.sum().map(|other| other.abs_diff(sum) as f64));
                self.take_back();
            }
        }
        sizes.sort_by(f64::total_cmp);
        sizes.get(sizes.len() / 2).copied().unwrap_or(1.0).max(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::super::cabling::Cabling;
    use super::super::shifts::{CablingPattern, Shifts};
    use super::*;

    /// A torus in cabinets of its rows.
    fn torus(sides: [u32; 2]) -> Cabling {
        let [wide, high] = sides;
        let id = |x: u32, y: u32| x % wide + y % high * wide;
        let plug = |vertex: u32, port: u32| (vertex, vertex * 4 + port);
        let of = |x: u32, y: u32| {
            let at = id(x, y);
            [[plug(at, 0), plug(id(x + 1, y), 1)], [plug(at, 2), plug(id(x, y + 1), 3)]]
        };
        let cables: Vec<_> = (0..high).flat_map(|y| (0..wide).flat_map(move |x| of(x, y))).collect();
        Cabling::new((0..wide * high).map(|vertex| vertex / wide).collect(), &cables)
    }

    #[test]
    fn a_pattern_has_the_distances_of_its_network() {
        for sides in [[4, 6], [5, 16], [18, 9]] {
            let mut cabling = torus(sides);
            let shifts = Shifts::of(&cabling, &sides).expect("a torus has shifts");
            let patterned = CablingPattern::new(&cabling, &shifts);
            let mut annealing = Annealing::new(patterned.pattern.clone(), &patterned.cabinets, Rng::stream(3, 1));
            for _ in 0..40 {
                annealing.exchange();
            }
            patterned.exchange(&mut cabling, &annealing.done);
            let sum = cabling.told().sum / shifts.len() as u64;
            assert_eq!(annealing.measure.measure(&annealing.pattern, sum), PatternMeasure::Sum(sum), "{sides:?}");
            assert_eq!(annealing.measure.measure(&annealing.pattern, sum - 1), PatternMeasure::Above, "{sides:?}");
        }
    }

    #[test]
    fn what_falls_apart_is_told() {
        let cabling = torus([4, 6]);
        let shifts = Shifts::of(&cabling, &[4, 6]).expect("a torus has shifts");
        let mut pattern = CablingPattern::new(&cabling, &shifts).pattern;
        // Links that lead to other cabinets are bent back to their own vertex's.
        pattern.by.fill(pattern.is_none.iter().position(|&none| none).expect("links within cabinets") as u16);
        assert_eq!(Measure::new(&pattern).measure(&pattern, u64::MAX), PatternMeasure::Apart);
    }
}
