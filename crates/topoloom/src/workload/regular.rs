//! Regular collectives: a rule gives source, target and size of each message, so that no list is needed.
//!
//! The members of a group are in a circular order, as one circle, or in rows of one width, each of which is a circle, as
//! is each column. In each step every member sends to those some places further on in its circle, and then waits for the
//! messages of that step. Messages are numbered step by step, in each by the places that they go, and
//! then by their source: as in the list that [`Regular::list`] makes.

use super::builder::{Builder, guard};
use super::collective::{Steps, Transfer};
use super::{Message, Workload};
use crate::error::Result;

/// Which members a step is among.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Circle {
    /// All of them.
    All,
    /// Those of a row, so many members that follow each other.
    Row(u32),
    /// Those of a column, of rows of so many.
    Column(u32),
}

impl Circle {
    /// The member so many places further on than another, of `n`.
    pub fn on(self, member: usize, shift: usize, n: usize) -> usize {
        match self {
            Self::All => (member + shift) % n,
            Self::Row(width) => {
                let width = width as usize;
                member / width * width + (member % width + shift) % width
            }
            Self::Column(width) => (member + shift * width as usize) % n,
        }
    }

    /// The member so many places before another, of `n`.
    pub fn back(self, member: usize, shift: usize, n: usize) -> usize {
        let length = match self {
            Self::All => n,
            Self::Row(width) => width as usize,
            Self::Column(width) => n / width as usize,
        };
        self.on(member, length - shift % length, n)
    }
}

/// Steps of a regular collective that are alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stage {
    /// The members that a message stays among.
    pub circle: Circle,
    /// Every member sends to the members from so many places further on …
    pub first: u32,
    /// … to so many.
    pub last: u32,
    /// Bytes of each message.
    pub bytes: u64,
    /// Whether receivers combine messages with what they have.
    pub reduces: bool,
    /// How often the step is done.
    pub steps: u32,
}

impl Stage {
    /// How many messages every member sends in a step.
    pub fn shifts(&self) -> u32 {
        self.last - self.first + 1
    }
}

/// A collective that its rule describes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Regular {
    /// All tasks, those included that take no part.
    pub(super) tasks: u32,
    pub(super) members: Vec<u32>,
    pub(super) stages: Vec<Stage>,
    /// How often all stages are gone through.
    pub(super) iterations: u32,
}

impl Regular {
    /// The tasks that take part, in their circle.
    pub fn members(&self) -> &[u32] {
        &self.members
    }

    /// The stages of all iterations, one after the other.
    pub fn stages(&self) -> impl Iterator<Item = &Stage> {
        (0..self.iterations).flat_map(|_| &self.stages)
    }

    /// The stage of each step of all iterations.
    pub fn steps(&self) -> impl Iterator<Item = &Stage> {
        self.stages().flat_map(|stage| (0..stage.steps).map(move |_| stage))
    }

    /// How many messages there are.
    pub fn messages(&self) -> u128 {
        self.sum(|_| 1)
    }

    /// The bytes of all messages.
    pub fn bytes(&self) -> u128 {
        self.sum(|stage| stage.bytes.into())
    }

    /// The sum over all messages.
    fn sum(&self, of: impl Fn(&Stage) -> u128) -> u128 {
        let each = |stage: &Stage| u128::from(stage.shifts()) * u128::from(stage.steps) * of(stage);
        let once: u128 = self.stages.iter().map(each).sum();
        once * self.members.len() as u128 * u128::from(self.iterations)
    }

    /// The stage that stands for all steps, if in each every member sends one message to the same other one, all of one size.
    pub fn only(&self) -> Option<Stage> {
        let first = self.stages[0];
        let same = |stage: &Stage| (stage.first, stage.last, stage.bytes) == (first.first, first.first, first.bytes);
        self.stages.iter().all(|stage| stage.circle == Circle::All && same(stage)).then_some(first)
    }

    /// The message that a member sends so many places further on.
    pub fn message(&self, member: usize, shift: u32, stage: &Stage) -> Message {
        let to = stage.circle.on(member, shift as usize, self.members.len());
        Message { source: self.members[member], target: self.members[to], bytes: stage.bytes }
    }

    /// Rejects more messages than ids can name or memory can hold.
    ///
    /// # Errors
    /// [`Error::TooLarge`](crate::error::Error::TooLarge).
    pub fn guard(&self, spec: &str) -> Result<()> {
        guard(spec, self.tasks.into(), self.messages())
    }

    /// The same of so many tasks, each of which stands for as many others.
    ///
    /// # Errors
    /// [`Error::TooLarge`](crate::error::Error::TooLarge) if even their messages do not fit into memory.
    pub fn of_kinds(&self, spec: &str, kinds: u32) -> Result<Workload> {
        Self { tasks: kinds, members: (0..kinds).collect(), ..self.clone() }.list(spec)
    }

    /// The workload of which these are the messages, one by one.
    ///
    /// # Errors
    /// [`Error::TooLarge`](crate::error::Error::TooLarge) if they do not fit into memory.
    pub(super) fn list(&self, spec: &str) -> Result<Workload> {
        self.guard(spec)?;
        let mut builder = Builder::sized(spec, self.tasks, self.messages() as usize, false);
        for stage in self.steps() {
            let to = |shift: u32, member: usize| {
                let Message { source, target, bytes } = self.message(member, shift, stage);
                let spans = vec![super::Span { start: 0, bytes }];
                Transfer { source, target, spans, reduces: stage.reduces }
            };
            let members = 0..self.members.len();
            let each = |shift: u32| members.clone().map(move |member| to(shift, member));
            builder.step(&mut (stage.first..=stage.last).flat_map(each));
        }
        builder.rounds(self.iterations);
        Ok(builder.build())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn circles_are_closed() {
        // Three rows of four.
        let on = |circle: Circle, member, shift| circle.on(member, shift, 12);
        assert_eq!([on(Circle::All, 10, 3), on(Circle::Row(4), 7, 1), on(Circle::Row(4), 5, 2)], [1, 4, 7]);
        assert_eq!([on(Circle::Column(4), 5, 1), on(Circle::Column(4), 9, 1), on(Circle::Column(4), 2, 2)], [9, 1, 10]);
        for circle in [Circle::All, Circle::Row(4), Circle::Column(4)] {
            for (member, shift) in (0..12).flat_map(|member| (0..14).map(move |shift| (member, shift))) {
                assert_eq!(circle.back(circle.on(member, shift, 12), shift, 12), member, "{circle:?} {shift}");
            }
        }
    }
}
