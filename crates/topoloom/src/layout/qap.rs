//! The quadratic assignment problem: which cabinet stands where, so that cables are as short as can be.
//!
//! Simulated annealing over exchanges of two positions, each judged by its difference alone, several times from random
//! beginnings, then descent until no exchange helps (Connolly, An improved annealing scheme for the QAP, EJOR 1990,
//! whose sequence of pairs is kept; cooling is geometric).

use rayon::prelude::*;

use crate::rng::Rng;
use crate::watch::{self, Stage};

/// Facilities with flows between them, to be put on positions.
#[derive(Debug, Clone)]
pub struct Qap {
    /// The facilities that each one exchanges something with, and how much; both ends list it.
    flows: Vec<Vec<(u32, f64)>>,
    /// The distance from each place to each, row by row; symmetric.
    distances: Vec<f64>,
}

/// Beginnings of which the best end is taken.
const RUNS: u64 = 4;

/// Exchanges that a run looks at, at least, and for each pair of positions in large problems.
const STEPS: usize = 1_000_000;

/// Exchanges after which they are counted.
const LOOK: usize = 4096;

impl Qap {
    /// Facilities with symmetric flows, (a, b, how much), for as many positions as `distances` has rows.
    pub fn new(places: usize, flows: impl IntoIterator<Item = (u32, u32, f64)>, distances: Vec<f64>) -> Self {
        let mut of = vec![Vec::new(); places];
        for (a, b, flow) in flows {
            if a != b {
                of[a as usize].push((b, flow));
                of[b as usize].push((a, flow));
            }
        }
        Self { flows: of, distances }
    }

    fn distance(&self, a: u32, b: u32) -> f64 {
        self.distances[a as usize * self.flows.len() + b as usize]
    }

    /// The sum over pairs of facilities of flow times distance, if facility i is at `places[i]`.
    pub fn cost(&self, places: &[u32]) -> f64 {
        let of = |(a, flows): (usize, &Vec<(u32, f64)>)| -> f64 {
            flows.iter().map(|&(b, flow)| flow * self.distance(places[a], places[b as usize])).sum()
        };
        self.flows.iter().enumerate().map(of).sum::<f64>() / 2.0
    }

    /// What the cost grows by if two facilities exchange their positions.
    fn difference(&self, places: &[u32], a: u32, b: u32) -> f64 {
        let [at_a, at_b] = [a, b].map(|facility| places[facility as usize]);
        let one = |of: u32, other: u32, from: u32, to: u32| -> f64 {
            let others = self.flows[of as usize].iter().filter(|&&(peer, _)| peer != other);
            others
                .map(|&(peer, flow)| {
                    let there = places[peer as usize];
                    flow * (self.distance(to, there) - self.distance(from, there))
                })
                .sum()
        };
        one(a, b, at_a, at_b) + one(b, a, at_b, at_a)
    }

    /// Good positions, the same for any number of threads.
    pub fn anneal(&self, seed: u64) -> Vec<u32> {
        let all: Vec<u32> = (0..self.flows.len() as u32).collect();
        if all.len() < 2 {
            return all;
        }
        let stage = watch::stage("places", RUNS * self.steps() as u64);
        let run = |run: u64| {
            let places = self.run(&mut Rng::stream(seed, run), run == 0, &stage);
            (self.cost(&places), places)
        };
        let runs: Vec<(f64, Vec<u32>)> = (0..RUNS).into_par_iter().map(run).collect();
        let best = runs.into_iter().reduce(|best, other| if other.0 < best.0 { other } else { best });
        best.map_or(all, |(_, places)| places)
    }

    /// Exchanges that a run tries.
    fn steps(&self) -> usize {
        STEPS.max(16 * self.flows.len() * self.flows.len())
    }

    /// One run; the first one begins with the facilities in order, so that no result is worse than that.
    fn run(&self, rng: &mut Rng, in_order: bool, stage: &Stage) -> Vec<u32> {
        let count = self.flows.len() as u32;
        let mut places: Vec<u32> = (0..count).collect();
        if in_order {
            self.descend(&mut places, stage);
        } else {
            rng.shuffle(&mut places);
        }
        let mut best = places.clone();
        let (mut cost, mut least) = (0.0, 0.0);
        let steps = self.steps();
        let [mut temperature, last] = self.temperatures(&places, rng);
        let cooling = (last / temperature).powf(1.0 / steps as f64);
        let (mut a, mut b) = (0, 0);
        for step in 0..steps {
            if step % LOOK == 0 {
                stage.steps(LOOK.min(steps - step) as u64);
            }
            b += 1;
            if b == count {
                a = (a + 1) % (count - 1);
                b = a + 1;
            }
            let difference = self.difference(&places, a, b);
            if difference <= 0.0 || rng.unit() < (-difference / temperature).exp() {
                places.swap(a as usize, b as usize);
                cost += difference;
                if cost < least - 1e-9 {
                    least = cost;
                    best.clone_from(&places);
                }
            }
            temperature *= cooling;
        }
        self.descend(&mut best, stage);
        best
    }

    /// Where cooling begins and ends, by exchanges at random: most are allowed at first, hardly any in the end.
    fn temperatures(&self, places: &[u32], rng: &mut Rng) -> [f64; 2] {
        let count = self.flows.len() as u32;
        let mut sizes: Vec<f64> = (0..1000)
            .map(|_| self.difference(places, rng.below(count), rng.below(count)).abs())
            .filter(|&size| size > 1e-9)
            .collect();
        sizes.sort_by(f64::total_cmp);
        match sizes.as_slice() {
            [] => [1.0, 1.0],
            sizes => [0.5 * sizes[sizes.len() / 2], 0.1 * sizes[0]],
        }
    }

    /// Exchanges positions as long as that helps.
    fn descend(&self, places: &mut [u32], stage: &Stage) {
        let count = self.flows.len() as u32;
        let mut helped = true;
        while helped {
            helped = false;
            for a in 0..count {
                stage.steps(0);
                for b in a + 1..count {
                    if self.difference(places, a, b) < -1e-9 {
                        places.swap(a as usize, b as usize);
                        helped = true;
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::{ProptestConfig, prop, prop_assert, proptest};

    /// The Manhattan distances of a floor.
    fn floor(rows: u32, columns: u32) -> Vec<f64> {
        let places = 0..rows * columns;
        let distance =
            |a: u32, b: u32| f64::from((a / columns).abs_diff(b / columns) + (a % columns).abs_diff(b % columns));
        places.clone().flat_map(|a| places.clone().map(move |b| distance(a, b))).collect()
    }

    /// The least cost of all orders.
    fn exhaustively(qap: &Qap, places: &mut Vec<u32>, from: usize) -> f64 {
        if from == places.len() {
            return qap.cost(places);
        }
        let mut least = f64::INFINITY;
        for other in from..places.len() {
            places.swap(from, other);
            least = least.min(exhaustively(qap, places, from + 1));
            places.swap(from, other);
        }
        least
    }

    #[test]
    fn a_grid_finds_its_own_floor() {
        // Flows between neighbours of a shuffled 5 x 6 grid: every cable can have length 1, and so 49 is the optimum.
        let mut names: Vec<u32> = (0..30).collect();
        Rng::stream(3, 3).shuffle(&mut names);
        let of = |row: u32, column: u32| names[(row * 6 + column) as usize];
        let across = (0..5).flat_map(|r| (0..5).map(move |c| ((r, c), (r, c + 1))));
        let down = (0..4).flat_map(|r| (0..6).map(move |c| ((r, c), (r + 1, c))));
        let flows = across.chain(down).map(|((r, c), (s, d))| (of(r, c), of(s, d), 1.0));
        let qap = Qap::new(30, flows, floor(5, 6));
        assert_eq!(qap.cost(&qap.anneal(1)), 49.0);
    }

    /// Nugent, Vollmann and Ruml's instance of twelve on a floor of 3 x 4, nug12 of QAPLIB. Its optimum, 578, counts
    /// each pair twice.
    #[test]
    fn nug12_reaches_its_optimum() {
        const FLOWS: [[u8; 12]; 12] = [
            [0, 5, 2, 4, 1, 0, 0, 6, 2, 1, 1, 1],
            [5, 0, 3, 0, 2, 2, 2, 0, 4, 5, 0, 0],
            [2, 3, 0, 0, 0, 0, 0, 5, 5, 2, 2, 2],
            [4, 0, 0, 0, 5, 2, 2, 10, 0, 0, 5, 5],
            [1, 2, 0, 5, 0, 10, 0, 0, 0, 5, 1, 1],
            [0, 2, 0, 2, 10, 0, 5, 1, 1, 5, 4, 0],
            [0, 2, 0, 2, 0, 5, 0, 10, 5, 2, 3, 3],
            [6, 0, 5, 10, 0, 1, 10, 0, 0, 0, 5, 0],
            [2, 4, 5, 0, 0, 1, 5, 0, 0, 0, 10, 10],
            [1, 5, 2, 0, 5, 5, 2, 0, 0, 0, 5, 0],
            [1, 0, 2, 5, 1, 4, 3, 5, 10, 5, 0, 2],
            [1, 0, 2, 5, 1, 0, 3, 0, 10, 0, 2, 0],
        ];
        let pairs = (0..12u32).flat_map(|a| (a + 1..12).map(move |b| (a, b)));
        let flows = pairs.map(|(a, b)| (a, b, f64::from(FLOWS[a as usize][b as usize])));
        let qap = Qap::new(12, flows, floor(3, 4));
        for seed in 1..4 {
            assert_eq!(2.0 * qap.cost(&qap.anneal(seed)), 578.0);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(6))]
        #[test]
        fn small_problems_reach_their_optimum(values in prop::collection::vec(0u8..10, 21), seed in 0u64..99) {
            let pairs = (0..7).flat_map(|a| (a + 1..7).map(move |b| (a, b)));
            let flows = pairs.zip(&values).map(|((a, b), &flow)| (a, b, f64::from(flow)));
            let all = floor(2, 4);
            let distances = (0..7).flat_map(|a| all[a * 8..a * 8 + 7].to_vec()).collect();
            let qap = Qap::new(7, flows, distances);
            let least = exhaustively(&qap, &mut (0..7).collect(), 0);
            prop_assert!((qap.cost(&qap.anneal(seed)) - least).abs() < 1e-9);
        }

        #[test]
        fn differences_are_those_of_costs(seed in 0u64..1000) {
            let mut rng = Rng::stream(seed, 0);
            let flows: Vec<_> = (0..40).map(|_| (rng.below(12), rng.below(12), rng.unit())).collect();
            let qap = Qap::new(12, flows, floor(3, 4));
            let mut places: Vec<u32> = (0..12).collect();
            rng.shuffle(&mut places);
            let (a, b, before) = (rng.below(12), rng.below(12), qap.cost(&places));
            if a != b {
                let told = qap.difference(&places, a, b);
                places.swap(a as usize, b as usize);
                prop_assert!((qap.cost(&places) - before - told).abs() < 1e-9);
            }
        }
    }
}
