//! By partners whose numbers differ in one bit (Thakur, Rabenseifner and Gropp, 2005). Numbers of ranks that are no power
//! of two are folded as there: the first 2r ranks pair up, one of each pair takes part for both, and hands the result back.

use super::blocks::{Span, Steps, Transfer};

/// The ranks that take part in algorithms for powers of two.
pub struct Folding<'a> {
    ranks: &'a [u32],
    /// Pairs of which one rank takes part.
    pairs: usize,
    /// Those that take part: a power of two.
    members: usize,
}

impl<'a> Folding<'a> {
    /// For this many ranks.
    pub fn new(ranks: &'a [u32]) -> Self {
        let members = 1 << ranks.len().ilog2();
        Self { ranks, pairs: ranks.len() - members, members }
    }

    /// How many take part.
    pub fn members(&self) -> usize {
        self.members
    }

    /// The rank that takes part as number `member`.
    fn rank(&self, member: usize) -> u32 {
        self.ranks[if member < self.pairs { 2 * member + 1 } else { member + self.pairs }]
    }

    /// For each that takes part, what `own` states about it and of the rank that it stands for.
    pub fn joined(&self, own: &[Vec<Span>]) -> Vec<Vec<Span>> {
        let both = |member: usize| {
            if member < self.pairs {
                own[2 * member..2 * member + 2].concat()
            } else {
                own[member + self.pairs].clone()
            }
        };
        (0..self.members).map(both).collect()
    }

    /// Those that do not take part hand all that they have to those that do.
    pub fn reduce_in(&self, steps: &mut dyn Steps, spans: &[Span]) {
        let to = |pair: usize| Transfer::reduce(self.ranks[2 * pair], self.ranks[2 * pair + 1], spans.to_vec());
        steps.step(&mut (0..self.pairs).map(to));
    }

    /// Those that do not take part hand over what is theirs alone.
    pub fn copy_in(&self, steps: &mut dyn Steps, own: &[Vec<Span>]) {
        let to = |pair: usize| Transfer::copy(self.ranks[2 * pair], self.ranks[2 * pair + 1], own[2 * pair].clone());
        steps.step(&mut (0..self.pairs).map(to));
    }

    /// Those that do not take part get what is theirs, or all.
    pub fn hand_back(&self, steps: &mut dyn Steps, spans: impl Fn(usize) -> Vec<Span>) {
        let to = |pair: usize| Transfer::copy(self.ranks[2 * pair + 1], self.ranks[2 * pair], spans(2 * pair));
        steps.step(&mut (0..self.pairs).map(to));
    }

    /// In step k all exchange everything with the one whose number differs in bit k.
    fn doubling(&self, steps: &mut dyn Steps, spans: &[Span]) {
        for k in 0..self.members.ilog2() {
            let pair = |m: usize| Transfer::reduce(self.rank(m), self.rank(m ^ 1 << k), spans.to_vec());
            steps.step(&mut (0..self.members).map(pair));
        }
    }

    /// An allreduce by recursive doubling.
    pub fn allreduce(&self, steps: &mut dyn Steps, spans: &[Span]) {
        self.reduce_in(steps, spans);
        self.doubling(steps, spans);
        self.hand_back(steps, |_| spans.to_vec());
    }

    /// Each keeps the half in which its own spans lie, and sends the other one.
    pub fn halve(&self, steps: &mut dyn Steps, own: &[Vec<Span>]) {
        for half in (0..self.members.ilog2()).rev().map(|k| 1usize << k) {
            let first = |m: usize| (m ^ half) & !(half - 1);
            let spans = |m: usize| own[first(m)..first(m) + half].concat();
            steps.step(&mut (0..self.members).map(|m| Transfer::reduce(self.rank(m), self.rank(m ^ half), spans(m))));
        }
    }

    /// Doubles what each knows, from its own spans on.
    pub fn double(&self, steps: &mut dyn Steps, own: &[Vec<Span>]) {
        for half in (0..self.members.ilog2()).map(|k| 1usize << k) {
            let first = |m: usize| m & !(half - 1);
            let spans = |m: usize| own[first(m)..first(m) + half].concat();
            steps.step(&mut (0..self.members).map(|m| Transfer::copy(self.rank(m), self.rank(m ^ half), spans(m))));
        }
    }

    /// The messages of folding, in and out.
    pub fn folded(&self) -> u128 {
        2 * self.pairs as u128
    }

    /// The messages of the steps over all bits.
    pub fn steps(&self) -> u128 {
        self.members as u128 * u128::from(self.members.ilog2())
    }
}
