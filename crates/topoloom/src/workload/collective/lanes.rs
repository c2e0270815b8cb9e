//! The messages of a collective: one pass after the other, or several passes side by side, each a *lane*.
//!
//! Within a lane a rank does one step after the other. Lanes wait for each other in one place alone: a connection, from one
//! rank to another on one channel, sends one message at a time, in the order in which they can be sent. That makes a
//! pipeline of the pieces of a buffer.

use std::collections::{BTreeMap, HashMap};

use super::blocks::{Carried, Move, Steps};
use crate::error::Result;
use crate::workload::builder::Builder;
use crate::workload::graph::GraphBuilder;
use crate::workload::request::Request;
use crate::workload::{Op, Workload};

/// A workload of lanes in the making.
pub struct Lanes {
    tasks: u32,
    graph: GraphBuilder,
    /// The number of each connection: channel, source, target.
    connections: HashMap<(u32, u32, u32), u32>,
    /// What the lanes of a task begin after, and what they have ended with.
    begins: Vec<Vec<u32>>,
    ends: Vec<Vec<u32>>,
}

impl Lanes {
    /// For tasks that do nothing as yet.
    pub fn new(request: &Request, tasks: u32) -> Self {
        let none = || vec![Vec::new(); tasks as usize];
        let mut graph = GraphBuilder::default();
        graph.carried = Carried::new(request.records());
        Self { tasks, graph, connections: HashMap::new(), begins: none(), ends: none() }
    }

    /// Adds a lane on a channel, whose steps `take` takes.
    pub fn add(&mut self, channel: u32, take: impl FnOnce(&mut dyn Steps)) {
        let mut lane = Lane { front: self.begins.clone(), lanes: self, channel };
        take(&mut lane);
        let Lane { front, .. } = lane;
        for ((ends, front), begins) in self.ends.iter_mut().zip(front).zip(&self.begins) {
            if front != *begins {
                ends.extend(front);
            }
        }
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

    /// The workload, of so many rounds.
    ///
    /// # Errors
    /// [`Error::TooLarge`](crate::error::Error::TooLarge).
    pub fn build(self, request: &Request, rounds: u32, notes: Vec<String>) -> Result<Workload> {
        let built = self.graph.build(request.spec(), self.tasks, |op| format!("operation {op}"))?;
        Ok(Workload { rounds, notes, ..built })
    }
}

/// A lane in the making.
struct Lane<'a> {
    lanes: &'a mut Lanes,
    channel: u32,
    /// What the next step of each task waits for.
    front: Vec<Vec<u32>>,
}

impl Lane<'_> {
    /// Adds a message of this step; returns its receive.
    fn send(&mut self, carries: Move) -> Option<u32> {
        let Move { source, target, .. } = carries;
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
        self.front[source as usize].iter().for_each(|before| graph.follows(send, *before, false));
        Some(receive)
    }
}

impl Steps for Lane<'_> {
    fn step(&mut self, moves: &mut dyn Iterator<Item = Move>) {
        let receives: Vec<(u32, u32)> =
            moves.filter_map(|carries| Some((carries.target, self.send(carries)?))).collect();
        let mut next: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for (task, receive) in receives {
            let graph = &mut self.lanes.graph;
            self.front[task as usize].iter().for_each(|before| graph.follows(receive, *before, false));
            next.entry(task).or_default().push(receive);
        }
        for (task, receives) in next {
            self.front[task as usize] = match receives.len() {
                1 => receives,
                _ => vec![self.lanes.graph.join(task, &receives)],
            };
        }
    }
}

impl Steps for Builder {
    fn step(&mut self, moves: &mut dyn Iterator<Item = Move>) {
        self.exchange_moves(moves);
    }
}
