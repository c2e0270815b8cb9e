//! The collectives of a step: the bytes between members, by their indices in a group.

use std::collections::HashMap;
use std::rc::Rc;

use crate::error::Result;
use crate::workload::builder::guard;
use crate::workload::collective::{Collective, Plan, Steps, Transfer};

/// A message between two positions of a group: from, to, bytes.
pub type Hop = (u32, u32, u64);

/// The messages of a collective.
#[derive(Debug, PartialEq, Eq)]
pub struct Pattern {
    /// Step by step, or all at once where pieces follow one another.
    pub steps: Vec<Vec<Hop>>,
    /// The steps that a byte takes one after the other.
    pub depth: usize,
}

/// Patterns, each made once.
pub struct Patterns<'a> {
    spec: &'a str,
    algorithm: &'static str,
    /// Whether the data goes in so many pieces that all steps are under way at once.
    pipelined: bool,
    made: HashMap<(u8, u32, u64), Rc<Pattern>>,
}

impl<'a> Patterns<'a> {
    pub fn new(spec: &'a str, algorithm: &'static str, pipelined: bool) -> Self {
        Self { spec, algorithm, pipelined, made: HashMap::new() }
    }

    /// A collective of `members` ranks on a vector of `size` bytes.
    ///
    /// # Errors
    /// [`Error::TooLarge`](crate::error::Error::TooLarge) if its messages do not fit into memory.
    pub fn get(&mut self, what: Collective, members: u32, size: u64) -> Result<Rc<Pattern>> {
        let key = (what as u8, members, size);
        if let Some(made) = self.made.get(&key) {
            return Ok(Rc::clone(made));
        }
        let made = Rc::new(self.make(what, members, size)?);
        self.made.insert(key, Rc::clone(&made));
        Ok(made)
    }

    fn make(&self, what: Collective, members: u32, size: u64) -> Result<Pattern> {
        if self.pipelined && self.algorithm == "ring" {
            return Ok(ring(what, members, size));
        }
        let plan = Plan::of(what, self.algorithm, (0..members).collect(), members, size);
        guard(self.spec, members.into(), plan.messages())?;
        let mut taken = Taken(Vec::new());
        plan.take(&mut taken);
        let depth = taken.0.len();
        let steps = if self.pipelined { vec![merged(taken.0)] } else { taken.0 };
        Ok(Pattern { steps, depth })
    }

    /// Messages from each rank to each of the others, of `load` times the mean to the first of them: what goes to
    /// experts, or comes `back` from them.
    pub fn exchange(members: u32, bytes: f64, load: f64, back: bool) -> Pattern {
        let rest = (f64::from(members) - load) / f64::from(members - 1);
        let size = |expert: u32| ((bytes * if expert == 0 { load } else { rest }).round() as u64).max(1);
        let hop = |from: u32, to: u32| (from, to, size(if back { from } else { to }));
        let hops = (1..members).flat_map(|by| (0..members).map(move |from| hop(from, (from + by) % members)));
        Pattern { steps: vec![hops.collect()], depth: 1 }
    }
}

/// A ring whose pieces are small: each rank sends all that it ever sends to the next one.
fn ring(what: Collective, members: u32, size: u64) -> Pattern {
    let n = u64::from(members);
    let size = size.max(n);
    let block = |place: u64| {
        let until = |place: u64| (u128::from(size) * u128::from(place) / u128::from(n)) as u64;
        until(place % n + 1) - until(place % n)
    };
    // Each passes on all blocks but its own in a reduce-scatter, and all but the next one's in an all-gather. An
    // allreduce is both, on blocks one place further on.
    let sent = |place: u64| match what {
        Collective::ReduceScatter => size - block(place),
        Collective::AllGather => size - block(place + 1),
        _ => (size - block(place + 1)) + (size - block(place + 2)),
    };
    let halves = if what == Collective::Allreduce { 2 } else { 1 };
    let hops = (0..members).map(|place| (place, (place + 1) % members, sent(place.into())));
    Pattern { steps: vec![hops.collect()], depth: halves * (members as usize - 1) }
}

/// Messages between the same two ranks are one.
fn merged(steps: Vec<Vec<Hop>>) -> Vec<Hop> {
    let mut places: HashMap<(u32, u32), usize> = HashMap::new();
    let mut hops: Vec<Hop> = Vec::new();
    for (from, to, bytes) in steps.into_iter().flatten() {
        let place = *places.entry((from, to)).or_insert(hops.len());
        if place == hops.len() {
            hops.push((from, to, 0));
        }
        hops[place].2 += bytes;
    }
    hops
}

/// The steps of an algorithm.
struct Taken(Vec<Vec<Hop>>);

impl Steps for Taken {
    fn step(&mut self, moves: &mut dyn Iterator<Item = Transfer>) {
        let hop = |carries: Transfer| (carries.source, carries.target, carries.bytes());
        self.0.push(moves.map(hop).filter(|(.., bytes)| *bytes > 0).collect());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The closed form of a ring is what its steps add up to.
    #[test]
    fn rings_in_pieces_send_what_their_steps_send() {
        for what in [Collective::Allreduce, Collective::ReduceScatter, Collective::AllGather] {
            for (members, size) in [(2, 10), (3, 100), (7, 1001), (8, 1 << 20)] {
                let steps = Patterns::new("", "ring", false).get(what, members, size).expect("it fits");
                let mut expected = merged(steps.steps.clone());
                expected.sort_unstable();
                let own = Patterns::new("", "ring", true).get(what, members, size).expect("it fits");
                assert_eq!((&own.steps, own.depth), (&vec![expected], steps.depth), "{what:?} {members} {size}");
            }
        }
    }

    #[test]
    fn loads_of_experts_keep_their_mean() {
        let there = &Patterns::exchange(4, 1000.0, 1.6, false).steps[0];
        let to = |expert: u32| there.iter().filter(|hop| hop.1 == expert).map(|hop| hop.2).collect::<Vec<_>>();
        assert_eq!((to(0), to(3)), (vec![1600; 3], vec![800; 3]));
        let back = &Patterns::exchange(4, 1000.0, 1.6, true).steps[0];
        assert!(back.iter().all(|hop| there.contains(&(hop.1, hop.0, hop.2))));
    }
}
