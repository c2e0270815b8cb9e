//! The messages of a collective: one pass after the other, or several passes side by side, each a *lane*.
//!
//! Within a lane each rank does one step after the other. Lanes wait for each other only at connections: a connection,
//! from one rank to another on one channel, sends one message at a time, in the order in which they can be sent. That
//! makes a pipeline of the pieces of a buffer.

use std::collections::{BTreeMap, HashMap};

use super::Plan;
use super::blocks::{Payloads, Steps, Transfer};
use crate::error::Result;
use crate::workload::builder::Builder;
use crate::workload::graph::GraphBuilder;
use crate::workload::request::Request;
use crate::workload::{Op, Workload};

/// A workload of lanes in the making.
pub struct Lanes {
    tasks: u32,
    /// Its operations.
    pub graph: GraphBuilder,
    /// The number of each connection: channel, source, target.
    connections: HashMap<(u32, u32, u32), u32>,
    /// What the lanes of a task begin after, and what they have ended with.
    begins: Vec<Vec<u32>>,
    ends: Vec<Vec<u32>>,
}

impl Lanes {
    /// For tasks that do nothing as yet.
    pub fn new(request: &Request, tasks: u32) -> Self {
        Self::of(tasks, request.records())
    }

    /// The same, which record what messages carry or do not.
    pub fn of(tasks: u32, records: bool) -> Self {
        let none = || vec![Vec::new(); tasks as usize];
        let mut graph = GraphBuilder::default();
        graph.carried = Payloads::new(records);
        Self { tasks, graph, connections: HashMap::new(), begins: none(), ends: none() }
    }

    /// Adds a lane on a channel, whose steps `take` takes.
    pub fn add(&mut self, channel: u32, take: impl FnOnce(&mut dyn Steps)) {
        let mut lane = Lane { front: BTreeMap::new(), lanes: self, channel };
        take(&mut lane);
        let Lane { front, .. } = lane;
        front.into_iter().for_each(|(task, ops)| self.ends[task as usize].extend(ops));
    }

    /// What the next lanes of a task begin after.
    pub fn begin_after(&mut self, task: u32, op: u32) {
        self.begins[task as usize] = vec![op];
    }

    /// Adds the lane of a plan that is a part of something else; returns what each task that received something has
    /// ended with.
    pub fn within(&mut self, plan: &Plan, channel: u32) -> BTreeMap<u32, Vec<u32>> {
        plan.lanes_on(self, 2 * channel);
        let taken = self.ends.iter_mut().zip(0u32..).filter(|(ends, _)| !ends.is_empty());
        taken.map(|(ends, task)| (task, std::mem::take(ends))).collect()
    }

    /// What follows begins once all lanes of its task have ended.
    pub fn join(&mut self) {
        for task in 0..self.tasks {
            let ends = std::mem::take(&mut self.ends[task as usize]);
            if ends.len() > 1 {
                let joined = self.graph.join(task, &ends);
                self.begins[task as usize] = vec![joined];
            } else if !ends.is_empty() {
                self.begins[task as usize] = ends;
            }
        }
    }

    /// The workload, of this many rounds.
    ///
    /// # Errors
    /// [`Error::TooLarge`](crate::error::Error::TooLarge).
    pub fn build(self, request: &Request, rounds: u32, notes: Vec<String>) -> Result<Workload> {
        self.named(request, rounds, notes, |op| format!("operation {op}"))
    }

    /// The same, of operations that have names for users.
    ///
    /// # Errors
    /// As before, and [`Error::Workload`](crate::error::Error::Workload) for operations that wait for each other.
    pub fn named(
        self,
        request: &Request,
        rounds: u32,
        notes: Vec<String>,
        name: impl Fn(u32) -> String,
    ) -> Result<Workload> {
        let built = self.graph.build(request.spec(), self.tasks, name)?;
        Ok(Workload { rounds, notes, ..built })
    }
}

/// A lane in the making.
struct Lane<'a> {
    lanes: &'a mut Lanes,
    channel: u32,
    /// What the next step of a task waits for, once it has taken one.
    front: BTreeMap<u32, Vec<u32>>,
}

impl Lane<'_> {
    /// An operation of a task follows its last step.
    fn follow(&mut self, task: u32, op: u32) {
        let Lanes { graph, begins, .. } = self.lanes;
        let front = self.front.get(&task).unwrap_or(&begins[task as usize]);
        front.iter().for_each(|before| graph.follows(op, *before, false));
    }

    /// Adds a message of this step; returns its receive.
    fn send(&mut self, carries: Transfer) -> Option<u32> {
        let Transfer { source, target, .. } = carries;
        let bytes = carries.bytes();
        if bytes == 0 {
            return None;
        }
        let Lanes { graph, connections, .. } = self.lanes;
        let next = connections.len() as u32;
        let connection = *connections.entry((self.channel, source, target)).or_insert(next);
        let message = graph.message_on(source, target, bytes, connection);
        graph.carried.note(message, carries);
        let (send, receive) = (graph.op(source, Op::Send(message)), graph.op(target, Op::Receive(message)));
        self.follow(source, send);
        Some(receive)
    }
}

impl Steps for Lane<'_> {
    fn step(&mut self, moves: &mut dyn Iterator<Item = Transfer>) {
        let receives: Vec<(u32, u32)> =
            moves.filter_map(|carries| Some((carries.target, self.send(carries)?))).collect();
        let mut next: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for (task, receive) in receives {
            self.follow(task, receive);
            next.entry(task).or_default().push(receive);
        }
        for (task, receives) in next {
            let joined = match receives.len() {
                1 => receives,
                _ => vec![self.lanes.graph.join(task, &receives)],
            };
            self.front.insert(task, joined);
        }
    }
}

impl Steps for Builder {
    fn step(&mut self, moves: &mut dyn Iterator<Item = Transfer>) {
        self.exchange_moves(moves);
    }
}
