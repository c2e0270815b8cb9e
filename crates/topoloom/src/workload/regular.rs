//! Regular collectives: a rule gives source, target and size of each message, so that no list is needed.
//!
//! The members of a group are in a circular order, as one circle, or in rows of one width, each of which is a circle, as
//! is each column. In each step every member sends to those some positions further on in its circle, and then waits for the
//! messages of that step. Messages are numbered step by step, in each by the positions that they go, and
//! then by their source: as in the list that [`Regular::list`] makes.
//!
//! Where the data goes in several [parts](Parts), each part goes through all steps by itself, and waits for others at
//! connections alone. Messages are then numbered part by part.

use super::builder::{Builder, guard};
use super::collective::{Lanes, Steps, Transfer, turned};
use super::{Message, Span, Workload};
use crate::error::Result;

/// Which members a step is among.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Circle {
    /// All of them.
    All,
    /// Those of a row, this many members that follow each other.
    Row(u32),
    /// Those of a column, of rows of this many.
    Column(u32),
}

impl Circle {
    /// The member this many positions further on than another, of `n`.
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

    /// The member this many positions before another, of `n`.
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
    /// Every member sends to the members from this many positions further on …
    pub first: u32,
    /// … to this many.
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

/// Parts of the data of a regular collective: pieces, each of which goes over all channels side by side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parts {
    /// Pieces of the data of a channel, which follow one another on its connections.
    pub pieces: u32,
    /// Channels, each of which begins its circle one member of each host further on.
    pub channels: u32,
    /// Members of a host.
    pub on_host: u32,
}

impl Parts {
    /// All data in one part.
    pub const ONE: Self = Self { pieces: 1, channels: 1, on_host: 1 };

    /// How many parts there are.
    pub fn count(self) -> u64 {
        u64::from(self.pieces) * u64::from(self.channels)
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
    /// Whether messages from one member to another are sent one at a time, as those of several parts always are.
    pub(super) in_order: bool,
    /// What goes through them by itself.
    pub(super) parts: Parts,
}

impl Regular {
    /// The tasks that take part, in their circle.
    pub fn members(&self) -> &[u32] {
        &self.members
    }

    /// What goes through all stages by itself.
    pub fn parts(&self) -> Parts {
        self.parts
    }

    /// True if messages from one member to another are sent one at a time.
    pub fn in_order(&self) -> bool {
        self.in_order
    }

    /// The members in the order of a channel.
    pub fn on_channel(&self, channel: u32) -> Vec<u32> {
        turned(&self.members, channel, self.parts.on_host as usize)
    }

    /// Messages of a part in an iteration.
    pub fn messages_of_part(&self) -> u128 {
        self.messages() / u128::from(self.parts.count()) / u128::from(self.iterations)
    }

    /// The stages of all iterations, one after the other, of each part.
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
        once * self.members.len() as u128 * u128::from(self.iterations) * u128::from(self.parts.count())
    }

    /// The stage that stands for all steps, if in each every member sends one message to the same other one, all of one size.
    pub fn only(&self) -> Option<Stage> {
        let first = self.stages[0];
        let same = |stage: &Stage| (stage.first, stage.last, stage.bytes) == (first.first, first.first, first.bytes);
        self.stages.iter().all(|stage| stage.circle == Circle::All && same(stage)).then_some(first)
    }

    /// The message that a member sends this many positions further on.
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

    /// The same of this many tasks, each of which stands for as many others.
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
        if self.parts != Parts::ONE {
            return self.in_lanes(spec);
        }
        let builder = Builder::sized(spec, self.tasks, self.messages() as usize, false);
        let mut builder = builder.in_order(self.in_order);
        for stage in self.steps() {
            let to = |shift: u32, member: usize| {
                let Message { source, target, bytes } = self.message(member, shift, stage);
                let spans = vec![Span { start: 0, bytes }];
                Transfer { source, target, spans, reduces: stage.reduces }
            };
            let members = 0..self.members.len();
            let each = |shift: u32| members.clone().map(move |member| to(shift, member));
            builder.step(&mut (stage.first..=stage.last).flat_map(each));
        }
        builder.rounds(self.iterations);
        Ok(builder.build())
    }

    /// The same of several parts, each of which is a lane on its channel.
    fn in_lanes(&self, spec: &str) -> Result<Workload> {
        let mut lanes = Lanes::of(self.tasks, false);
        let orders: Vec<Vec<u32>> = (0..self.parts.channels).map(|channel| self.on_channel(channel)).collect();
        for _ in 0..self.iterations {
            for part in 0..self.parts.count() {
                let channel = (part % u64::from(self.parts.channels)) as u32;
                lanes.add(channel, |steps| self.part(steps, &orders[channel as usize]));
            }
            lanes.join();
        }
        let built = lanes.graph.build(spec, self.tasks, |op| format!("operation {op}"))?;
        Ok(Workload { rounds: self.iterations, ..built })
    }

    /// The steps of a part, whose members are in this order.
    fn part(&self, steps: &mut dyn Steps, order: &[u32]) {
        for stage in &self.stages {
            let to = |shift: u32, member: usize| {
                let target = order[stage.circle.on(member, shift as usize, order.len())];
                let spans = vec![Span { start: 0, bytes: stage.bytes }];
                Transfer { source: order[member], target, spans, reduces: stage.reduces }
            };
            let each = |shift: u32| (0..order.len()).map(move |member| to(shift, member));
            (0..stage.steps).for_each(|_| steps.step(&mut (stage.first..=stage.last).flat_map(each)));
        }
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
