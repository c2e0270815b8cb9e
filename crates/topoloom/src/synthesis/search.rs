//! The search: many starts, each of which climbs from the best of some draws; good ones are started again.

use std::cmp::Ordering;

use rayon::prelude::*;

use super::space::Space;
use super::table::{Score, Scorer, Table};
use crate::rng::Rng;
use crate::watch::Stage;

/// What is to be least.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aim {
    /// The average distance, then the largest load.
    Distance,
    /// The largest load of a channel, then the average distance.
    Load,
}

impl Aim {
    /// The better score first.
    fn compare(self, a: &Score, b: &Score) -> Ordering {
        let (hops, load) = (a.hops.cmp(&b.hops), a.load.total_cmp(&b.load));
        match self {
            Self::Distance => hops.then(load),
            Self::Load => load.then(hops),
        }
    }
}

/// Starts of a round. Rounds follow each other, so that the result of this many does not depend on the number of threads.
const STARTS: u64 = 32;
/// Graphs that a start draws before it climbs.
const DRAWN: u32 = 24;
/// Neighbours in a row that are no better, after which a start ends.
const PATIENCE: u32 = 120;
/// Of the best starts, how many may be started again.
const ELITE: usize = 6;

/// A graph with its score.
#[derive(Debug, Clone)]
pub struct Candidate<P> {
    pub member: P,
    pub score: Score,
}

/// A search through one space.
pub struct Search<'a, S: Space> {
    space: &'a S,
    routers: u32,
    ways: u32,
    aim: Aim,
    seed: u64,
    rounds: u64,
    /// The best starts, best first.
    best: Vec<Candidate<S::Member>>,
    /// Graphs that were scored.
    pub scored: u64,
}

impl<'a, S: Space> Search<'a, S> {
    pub fn new(space: &'a S, routers: u32, degree: u32, aim: Aim, seed: u64) -> Self {
        Self { space, routers, ways: degree, aim, seed, rounds: 0, best: Vec::new(), scored: 0 }
    }

    /// The best graph so far.
    pub fn best(&self) -> Option<&Candidate<S::Member>> {
        self.best.first()
    }

    /// Runs this many starts, in parallel.
    pub fn round(&mut self, stage: &Stage) {
        let starts: Vec<(Option<Candidate<S::Member>>, u64)> = (self.rounds * STARTS..(self.rounds + 1) * STARTS)
            .into_par_iter()
            .map(|start| self.start(start, stage))
            .collect();
        self.rounds += 1;
        for (found, scored) in starts {
            self.scored += scored;
            self.best.extend(found);
        }
        // Stable: of equally good ones the first.
        self.best.sort_by(|a, b| self.aim.compare(&a.score, &b.score));
        self.best.truncate(ELITE);
    }

    /// The hops beyond which a graph is worse than one of this score: channels carry them, at best evenly.
    fn most_hops(&self, score: &Score) -> u64 {
        match self.aim {
            Aim::Distance => score.hops,
            Aim::Load => (score.load * f64::from(self.ways) * f64::from(self.routers)) as u64 + 1,
        }
    }

    /// One start: the best that it finds, and the graphs that it scores.
    fn start(&self, start: u64, stage: &Stage) -> (Option<Candidate<S::Member>>, u64) {
        let mut rng = Rng::stream(self.seed, start);
        let again = if start % 2 == 1 { self.best.get(rng.below(ELITE as u32) as usize) } else { None };
        let first = match again {
            Some(found) => Some(self.space.like(&found.member, &mut rng)),
            None => self.space.draw(&mut rng),
        };
        let Some(first) = first else { return (None, 0) };
        let mut climb = Climb {
            search: self,
            table: Table::new(self.routers, self.ways as usize),
            scorer: Scorer::default(),
            best: None,
            scored: 0,
        };
        climb.offer(first.clone());
        for _ in 1..DRAWN {
            climb.offer(self.space.like(&first, &mut rng));
        }
        let mut failures = 0;
        while let Some(best) = climb.best.as_ref().filter(|_| failures < PATIENCE) {
            stage.step();
            let next = self.space.vary(&best.member, &mut rng);
            failures = if climb.offer(next) { 0 } else { failures + 1 };
        }
        (climb.best, climb.scored)
    }
}

/// A start as it climbs.
struct Climb<'a, S: Space> {
    search: &'a Search<'a, S>,
    table: Table,
    scorer: Scorer,
    best: Option<Candidate<S::Member>>,
    scored: u64,
}

impl<S: Space> Climb<'_, S> {
    /// Takes a graph if it is better; true if so.
    fn offer(&mut self, member: S::Member) -> bool {
        self.search.space.fill(&member, &mut self.table);
        self.scored += 1;
        let most = self.best.as_ref().map_or(u64::MAX, |best| self.search.most_hops(&best.score));
        let Some(score) = self.scorer.score(&self.table, most) else { return false };
        let better = |best: &Candidate<S::Member>| self.search.aim.compare(&score, &best.score).is_lt();
        let taken = self.best.as_ref().is_none_or(better);
        if taken {
            self.best = Some(Candidate { member, score });
        }
        taken
    }
}
