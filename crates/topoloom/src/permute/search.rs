//! Exchanges that are chosen: simulated annealing of the average distance.
//!
//! A search exchanges ends of cables as the random methods do. It keeps exchanges that shorten paths, and now and then
//! others. It does not measure all distances again: it stores the distances from some routers, the *sources*. An
//! exchange updates only the vertices that lose their shortest path or gain a shorter one. In networks of up to 4096
//! vertices all are sources; in larger ones each round draws new ones. Several searches run at a time, each with a
//! random stream of its own; after each round all continue from the best of them.
//!
//! Where shifts of its grid map the base onto itself and cabinets onto others, the search begins with exchanges that
//! are made in all cabinets alike: the distances of one cabinet are then those of all, and one exchange does the work
//! of hundreds. Each round preserves fewer shifts.
//!
//! A search that keeps [`Bandwidth`] measures the busiest channel at each exchange that it would keep, and all the rest
//! of bandwidth at the end of each round, which it throws away if that has become less.

use rayon::prelude::*;

use super::cabling::Cabling;
use super::load::Limit;
use super::pattern::{Heat, PatternResult, anneal};
use super::shifts::{CablingPattern, Shifts};
use crate::provenance::SearchRecord;
use crate::rng::Rng;
use crate::watch::{self, Stage};

/// Searches that run at a time: a constant, so that results do not depend on the number of threads.
const SEARCHES: u64 = 4;

/// Rounds, at whose beginning sources are drawn and searches begin with the best cabling there is.
const ROUNDS: u64 = 4;

/// Rounds in which exchanges are made everywhere alike, each with fewer shifts than the one before.
const ALIKE: u64 = 3;

/// An exchange everywhere costs no more than a single one, and is worth many.
const OFTENER: u64 = 4;

/// What is found in more places than this by exchanges everywhere, single ones make hardly better.
const MANY_ALIKE: u64 = 16;

/// Largest number of sources. With few of them a search shortens only their own paths.
const SOURCES: usize = 4096;

/// No path leads there.
const FAR: u16 = u16::MAX;

/// What cables must keep.
#[derive(Debug, Clone)]
pub enum Keeps {
    /// Each joins the same two cabinets.
    Cabinets,
    /// All together are no longer than before, by the metres between each pair of cabinets, row by row.
    Length(Vec<f64>),
}

/// What a search may not make less.
pub struct Bandwidth<'a> {
    /// The load of the busiest channel.
    pub limit: Limit,
    /// True for cablings with no less bandwidth, measured in every way.
    pub is_kept: &'a (dyn Fn(&Cabling) -> bool + Sync),
}

/// How to search.
#[derive(Clone)]
pub struct Search<'a> {
    /// What is kept.
    pub keeps: Keeps,
    /// Exchanges that each search looks at one by one, in all rounds, and one in four made everywhere alike. The
    /// more places there are that look alike, the fewer are left for one by one.
    pub steps: u64,
    /// The seed.
    pub seed: u64,
    /// Bandwidth that is kept, if any.
    pub bandwidth: Option<&'a Bandwidth<'a>>,
}

/// Steps of arithmetic that a search may spend on channel loads unless it is given how many exchanges to look at.
const LOAD_STEPS: u64 = 2_000_000_000;

impl Search<'_> {
    /// The usual number of steps: one a cable, and in small networks, where exchanges cost little, more.
    pub fn usual_steps(cabling: &Cabling) -> u64 {
        (cabling.cables() as u64).max(5_000_000 / (cabling.len() as u64).max(250))
    }

    /// The usual number where bandwidth is kept: an exchange then costs vertices times channels.
    pub fn usual_steps_of_bandwidth(cabling: &Cabling) -> u64 {
        let each = cabling.len() as u64 * 2 * cabling.cables() as u64;
        Self::usual_steps(cabling).min((LOAD_STEPS / each.max(1)).max(100))
    }
}

/// A base that shifts map onto itself.
#[derive(Debug)]
pub struct Alike<'a> {
    /// The base.
    pub base: &'a Cabling,
    /// The shifts.
    pub shifts: Shifts,
}

/// Searches from a cabling that is connected, and returns the cabling with the smallest average distance. If a base is
/// `alike` in many positions, a search in all of them at once comes first, and the better of the two cablings is gone on
/// from.
pub fn search(from: &Cabling, alike: Option<&Alike>, how: &Search) -> (Cabling, SearchRecord) {
    let (begin, told) = alike.map_or_else(|| (from.clone(), SearchRecord::default()), |alike| everywhere(alike, how));
    let begin = if begin.told().sum < from.told().sum { begin } else { from.clone() };
    let single = Search { steps: how.steps * MANY_ALIKE / told.alike.max(MANY_ALIKE), ..how.clone() };
    let (best, mut all) = one_by_one(&begin, &single);
    all.tried += told.tried;
    all.kept += told.kept;
    all.disconnecting += told.disconnecting;
    all.alike = told.alike.max(1);
    (best, all)
}

/// Exchanges in all positions that look alike.
fn everywhere(alike: &Alike, how: &Search) -> (Cabling, SearchRecord) {
    let (mut best, mut told) = (alike.base.clone(), SearchRecord::default());
    told.alike = alike.shifts.len() as u64;
    let mut shifts = Some(alike.shifts.clone());
    for round in 0..ALIKE {
        let Some(these) = shifts else { break };
        let steps = (OFTENER * how.steps) >> (2 * round);
        let stage = watch::stage("exchanges everywhere alike", SEARCHES * steps);
        let patterned = CablingPattern::new(&best, &these);
        let one = |number: u64| {
            let rng = Rng::stream(how.seed ^ 0xA11C_E000, round * SEARCHES + number);
            let heat = if round == 0 { Heat::FROM_CHANCE } else { Heat::FROM_GOOD };
            // With half of the shifts an exchange takes twice as long to measure.
            anneal(patterned.pattern.clone(), &patterned.cabinets, steps, heat, rng, &stage)
        };
        let found: Vec<PatternResult> = (0..SEARCHES).into_par_iter().filter_map(one).collect();
        told.tried += found.iter().map(|found| found.tried).sum::<u64>();
        told.kept += found.iter().map(|found| found.kept).sum::<u64>();
        told.disconnecting += found.iter().map(|found| found.disconnecting).sum::<u64>();
        if let Some(found) = found.iter().min_by_key(|found| found.sum) {
            patterned.exchange(&mut best, &found.exchanges);
        }
        shifts = these.fewer(&best);
    }
    (best, told)
}

/// Exchanges one by one.
fn one_by_one(from: &Cabling, how: &Search) -> (Cabling, SearchRecord) {
    let limit = match &how.keeps {
        Keeps::Cabinets => 0.0,
        Keeps::Length(metres) => length(from, metres),
    };
    let (mut best, mut sum, mut told) = (from.clone(), from.told().sum, SearchRecord::default());
    if from.len() < 4 || from.cables() < 2 {
        return (best, told);
    }
    let mut scale = None;
    let steps = how.steps / ROUNDS;
    let stage = watch::stage("exchanges of cables", SEARCHES * ROUNDS * steps);
    for round in 0..ROUNDS {
        let one = |number: u64| {
            let rng = Rng::stream(how.seed ^ 0x5EA5_0C4E, round * SEARCHES + number);
            let mut annealing = Annealing::new(best.clone(), how, limit, rng);
            let scale = scale.unwrap_or_else(|| annealing.scale());
            annealing.run(scale, round, steps, &stage);
            let sum = annealing.cabling.told().sum;
            (annealing.cabling, sum, annealing.told, scale)
        };
        let found: Vec<_> = (0..SEARCHES).into_par_iter().map(one).collect();
        scale = Some(found[0].3);
        for (_, _, did, _) in &found {
            told.tried += did.tried;
            told.kept += did.kept;
            told.disconnecting += did.disconnecting;
        }
        let mut better: Vec<_> = found.into_iter().filter(|&(_, total, ..)| total < sum).collect();
        better.sort_by_key(|&(_, total, ..)| total);
        let kept = |cabling: &Cabling| how.bandwidth.is_none_or(|bandwidth| (bandwidth.is_kept)(cabling));
        if let Some((cabling, total, ..)) = better.into_iter().find(|(cabling, ..)| kept(cabling)) {
            (best, sum) = (cabling, total);
        }
    }
    (best, told)
}

/// Metres of all cables.
pub fn length(cabling: &Cabling, metres: &[f64]) -> f64 {
    (0..cabling.cables() as u32)
        .map(|cable| {
            let [a, b] = cabling.ends(cable);
            between(metres, cabling.cabinet(a), cabling.cabinet(b))
        })
        .sum()
}

fn between(metres: &[f64], a: u32, b: u32) -> f64 {
    let cabinets = metres.len().isqrt();
    metres[a as usize * cabinets + b as usize]
}

struct Annealing<'a> {
    cabling: Cabling,
    how: &'a Search<'a>,
    /// The plugs of each cabinet.
    plugs: Vec<Vec<u32>>,
    /// Metres of cable that there are still, if length is kept.
    spare: f64,
    ways: Distances,
    rng: Rng,
    told: SearchRecord,
}

impl<'a> Annealing<'a> {
    fn new(cabling: Cabling, how: &'a Search, limit: f64, mut rng: Rng) -> Self {
        let mut plugs = vec![Vec::new(); cabling.cabinets().iter().max().map_or(0, |&last| last as usize + 1)];
        (0..2 * cabling.cables() as u32).for_each(|plug| plugs[cabling.cabinet(plug) as usize].push(plug));
        let spare = match &how.keeps {
            Keeps::Cabinets => 0.0,
            Keeps::Length(metres) => limit - length(&cabling, metres),
        };
        let mut sources: Vec<u32> = (0..cabling.len() as u32).collect();
        rng.shuffle(&mut sources);
        sources.truncate(SOURCES);
        let ways = Distances::new(&cabling, &sources);
        Self { cabling, how, plugs, spare, ways, rng, told: SearchRecord::default() }
    }

    /// The size of the difference that an exchange makes, as a median.
    fn scale(&mut self) -> f64 {
        let mut sizes = Vec::new();
        for _ in 0..2000 {
            if let Some([x, y]) = self.draw()
                && let Some(difference) = self.try_exchange(x, y)
            {
                sizes.push(difference.unsigned_abs() as f64);
                self.take_back(x, y);
            }
        }
        sizes.sort_by(f64::total_cmp);
        sizes.get(sizes.len() / 2).copied().unwrap_or(1.0).max(1.0)
    }

    fn run(&mut self, scale: f64, round: u64, steps: u64, stage: &Stage) {
        for step in 0..steps {
            stage.step();
            // From a small part of the usual difference down to nearly nothing: searches begin with good cablings.
            let done = (round as f64 + step as f64 / steps as f64) / ROUNDS as f64;
            let temperature = 0.02 * scale * (0.01f64).powf(done);
            let Some([x, y]) = self.draw() else { continue };
            let longer = self.longer(x, y);
            if longer > self.spare + 1e-9 {
                continue;
            }
            self.told.tried += 1;
            let Some(difference) = self.try_exchange(x, y) else {
                self.told.disconnecting += 1;
                continue;
            };
            let wanted = difference <= 0 || self.rng.unit() < (-(difference as f64) / temperature).exp();
            if wanted && self.how.bandwidth.is_none_or(|bandwidth| bandwidth.limit.holds(&self.cabling)) {
                self.ways.keep();
                self.spare -= longer;
                self.told.kept += 1;
            } else {
                self.take_back(x, y);
            }
        }
    }

    /// Two plugs whose cables may exchange these ends: in one cabinet, unless only length is kept.
    fn draw(&mut self) -> Option<[u32; 2]> {
        let x = self.rng.below(2 * self.cabling.cables() as u32);
        let y = match self.how.keeps {
            Keeps::Cabinets => {
                let there = &self.plugs[self.cabling.cabinet(x) as usize];
                there[self.rng.below(there.len() as u32) as usize]
            }
            Keeps::Length(_) => self.rng.below(2 * self.cabling.cables() as u32),
        };
        self.cabling.may_exchange(x, y).then_some([x, y])
    }

    /// Metres of cable that an exchange needs more.
    fn longer(&self, x: u32, y: u32) -> f64 {
        let Keeps::Length(metres) = &self.how.keeps else { return 0.0 };
        let of = |vertex: u32| self.cabling.cabinets()[vertex as usize];
        let [a, b, c, d] = [self.cabling.vertex(x), self.cabling.peer(x), self.cabling.vertex(y), self.cabling.peer(y)];
        let metres = |p: u32, q: u32| between(metres, of(p), of(q));
        metres(c, b) + metres(a, d) - metres(a, b) - metres(c, d)
    }

    /// Exchanges, and returns by how much the sum of distances grows; none, and nothing done, if that disconnects.
    fn try_exchange(&mut self, x: u32, y: u32) -> Option<i64> {
        let [a, b, c, d] = [self.cabling.vertex(x), self.cabling.peer(x), self.cabling.vertex(y), self.cabling.peer(y)];
        self.cabling.exchange(x, y);
        let difference = self.ways.update(&self.cabling, [[a, b], [c, d]], [[a, d], [c, b]]);
        if difference.is_none() {
            self.take_back(x, y);
        }
        difference
    }

    fn take_back(&mut self, x: u32, y: u32) {
        self.cabling.exchange(x, y);
        self.ways.take_back();
    }
}

/// Distances from some sources, kept up to date.
struct Distances {
    vertices: usize,
    /// From each source, a row, to each vertex.
    rows: Vec<u16>,
    /// What changed since the last exchange that was kept: place among `rows`, distance before.
    changed: Vec<(u32, u16)>,
    /// Vertices to look at, by their distance.
    buckets: Vec<Vec<u32>>,
    /// Vertices of the row at hand that have lost their shortest path.
    lost: Vec<u32>,
    is_lost: Vec<bool>,
}

impl Distances {
    fn new(cabling: &Cabling, sources: &[u32]) -> Self {
        let vertices = cabling.len();
        let mut rows = vec![FAR; vertices * sources.len()];
        for (row, &source) in rows.chunks_mut(vertices).zip(sources) {
            let (mut frontier, mut next) = (vec![source], Vec::new());
            row[source as usize] = 0;
            for distance in 1.. {
                for &vertex in &frontier {
                    for &peer in cabling.peers(vertex) {
                        if row[peer as usize] == FAR {
                            row[peer as usize] = distance;
                            next.push(peer);
                        }
                    }
                }
                if next.is_empty() {
                    break;
                }
                std::mem::swap(&mut frontier, &mut next);
                next.clear();
            }
        }
        let (changed, lost, is_lost) = (Vec::new(), Vec::new(), vec![false; vertices]);
        Self { vertices, rows, changed, buckets: Vec::new(), lost, is_lost }
    }

    /// Forgets how to take back.
    fn keep(&mut self) {
        self.changed.clear();
    }

    /// Undoes what was done since the last exchange that was kept.
    fn take_back(&mut self) {
        for (place, before) in self.changed.drain(..).rev() {
            self.rows[place as usize] = before;
        }
    }

    /// Follows an exchange: two links went, two are new. Returns by how much the sum of distances grew, or none if a
    /// vertex cannot be reached any more.
    fn update(&mut self, cabling: &Cabling, went: [[u32; 2]; 2], new: [[u32; 2]; 2]) -> Option<i64> {
        let mut difference = 0i64;
        for first in (0..self.rows.len()).step_by(self.vertices) {
            self.lose(cabling, first, went);
            if !self.lost.is_empty() {
                difference += self.find_again(cabling, first)?;
            }
            difference -= self.shorten(cabling, first, new);
        }
        Some(difference)
    }

    fn set(&mut self, first: usize, vertex: u32, distance: u16) {
        let place = first + vertex as usize;
        self.changed.push((place as u32, self.rows[place]));
        self.rows[place] = distance;
    }

    fn put(&mut self, distance: u16, vertex: u32) {
        let distance = distance as usize;
        if self.buckets.len() <= distance {
            self.buckets.resize_with(distance + 1, Vec::new);
        }
        self.buckets[distance].push(vertex);
    }

    /// Finds the vertices that no shortest path of before leads to, nearest first.
    fn lose(&mut self, cabling: &Cabling, first: usize, went: [[u32; 2]; 2]) {
        self.lost.clear();
        let mut nearest = usize::MAX;
        for [a, b] in went {
            let [at_a, at_b] = [a, b].map(|vertex| self.rows[first + vertex as usize]);
            if at_a != at_b {
                let (far, distance) = if at_a > at_b { (a, at_a) } else { (b, at_b) };
                if !self.held(cabling, first, far, distance) {
                    nearest = nearest.min(distance as usize);
                    self.put(distance, far);
                }
            }
        }
        let mut distance = nearest;
        while distance < self.buckets.len() {
            while let Some(vertex) = self.buckets[distance].pop() {
                if self.is_lost[vertex as usize] || self.held(cabling, first, vertex, distance as u16) {
                    continue;
                }
                self.is_lost[vertex as usize] = true;
                self.lost.push(vertex);
                for &peer in cabling.peers(vertex) {
                    if self.rows[first + peer as usize] == distance as u16 + 1 {
                        self.put(distance as u16 + 1, peer);
                    }
                }
            }
            distance += 1;
        }
    }

    /// True if a vertex has a neighbour that is nearer and not lost.
    fn held(&self, cabling: &Cabling, first: usize, vertex: u32, distance: u16) -> bool {
        let nearer = |&peer: &u32| self.rows[first + peer as usize] + 1 == distance && !self.is_lost[peer as usize];
        cabling.peers(vertex).iter().any(nearer)
    }

    /// Measures what was lost from what was not; returns by how much the distances grew, or none if there is no path.
    fn find_again(&mut self, cabling: &Cabling, first: usize) -> Option<i64> {
        let lost = std::mem::take(&mut self.lost);
        let mut before = 0i64;
        for &vertex in &lost {
            let place = first + vertex as usize;
            before += i64::from(self.rows[place]);
            self.changed.push((place as u32, self.rows[place]));
        }
        for &vertex in &lost {
            let held = cabling.peers(vertex).iter().filter(|&&peer| !self.is_lost[peer as usize]);
            let nearest = held.map(|&peer| self.rows[first + peer as usize]).min();
            self.rows[first + vertex as usize] = FAR;
            if let Some(nearest) = nearest {
                self.put(nearest + 1, vertex);
            }
        }
        let (mut found, mut after, mut distance) = (0, 0i64, 0);
        while distance < self.buckets.len() {
            while let Some(vertex) = self.buckets[distance].pop() {
                if !std::mem::replace(&mut self.is_lost[vertex as usize], false) {
                    continue;
                }
                self.rows[first + vertex as usize] = distance as u16;
                found += 1;
                after += distance as i64;
                for &peer in cabling.peers(vertex) {
                    if self.is_lost[peer as usize] {
                        self.put(distance as u16 + 1, peer);
                    }
                }
            }
            distance += 1;
        }
        lost.iter().for_each(|&vertex| self.is_lost[vertex as usize] = false);
        let all = found == lost.len();
        self.lost = lost;
        all.then_some(after - before)
    }

    /// Follows new links where they are shorter; returns by how much the distances fell.
    fn shorten(&mut self, cabling: &Cabling, first: usize, new: [[u32; 2]; 2]) -> i64 {
        let (mut nearest, mut fell) = (usize::MAX, 0i64);
        // What was lost may have come nearer than it was, by a new link: then its neighbours may, too.
        for place in 0..self.lost.len() {
            let distance = self.rows[first + self.lost[place] as usize] + 1;
            for &peer in cabling.peers(self.lost[place]) {
                if distance < self.rows[first + peer as usize] {
                    nearest = nearest.min(distance as usize);
                    self.put(distance, peer);
                }
            }
        }
        for [a, b] in new {
            let [at_a, at_b] = [a, b].map(|vertex| self.rows[first + vertex as usize]);
            for (to, old, distance) in [(a, at_a, at_b + 1), (b, at_b, at_a + 1)] {
                if distance < old {
                    nearest = nearest.min(distance as usize);
                    self.put(distance, to);
                }
            }
        }
        let mut distance = nearest;
        while distance < self.buckets.len() {
            while let Some(vertex) = self.buckets[distance].pop() {
                let old = self.rows[first + vertex as usize];
                if old as usize <= distance {
                    continue;
                }
                fell += i64::from(old) - distance as i64;
                self.set(first, vertex, distance as u16);
                for &peer in cabling.peers(vertex) {
                    if self.rows[first + peer as usize] as usize > distance + 1 {
                        self.put(distance as u16 + 1, peer);
                    }
                }
            }
            distance += 1;
        }
        fell
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Distances that were kept up to date are those that are measured again.
    #[test]
    fn incremental_distances_are_distances() {
        let mut rng = Rng::stream(5, 5);
        for size in [12u32, 40, 90] {
            // A ring with a few chords: many exchanges disconnect, paths change much.
            let mut links: Vec<[(u32, u32); 2]> = (0..size).map(|v| [(v, 1), ((v + 1) % size, 0)]).collect();
            links.extend((0..size / 4).map(|v| [(v, 2), ((v + size / 2) % size, 3)]));
            let mut cabling = Cabling::new(vec![0; size as usize], &links);
            let sources: Vec<u32> = (0..size).step_by(3).collect();
            let mut kept = Distances::new(&cabling, &sources);
            let (mut done, mut refused) = (0, 0);
            for step in 0..2000 {
                let [x, y] = [rng.below(2 * links.len() as u32), rng.below(2 * links.len() as u32)];
                if !cabling.may_exchange(x, y) {
                    continue;
                }
                let before = kept.rows.clone();
                let [a, b, c, d] = [cabling.vertex(x), cabling.peer(x), cabling.vertex(y), cabling.peer(y)];
                cabling.exchange(x, y);
                let grew = kept.update(&cabling, [[a, b], [c, d]], [[a, d], [c, b]]);
                let anew = Distances::new(&cabling, &sources).rows;
                match grew {
                    Some(grew) if step % 3 > 0 => {
                        let sum = |rows: &[u16]| rows.iter().map(|&d| i64::from(d)).sum::<i64>();
                        assert_eq!(kept.rows, anew);
                        assert_eq!(grew, sum(&anew) - sum(&before));
                        kept.keep();
                        done += 1;
                    }
                    other => {
                        assert_eq!(other.is_none(), anew.contains(&FAR));
                        cabling.exchange(x, y);
                        kept.take_back();
                        assert_eq!(kept.rows, before);
                        refused += 1;
                    }
                }
                assert!(kept.buckets.iter().all(Vec::is_empty) && kept.is_lost.iter().all(|lost| !lost));
            }
            assert!(done > 100 && refused > 100, "{done} {refused}");
        }
    }
}
