//! Builds workloads whose operations wait for what a file states, and finds those that wait for each other.

use std::sync::OnceLock;

use super::builder::guard;
use super::calls::Calls;
use super::collective::Payloads;
use super::{Graph, MOST, Message, ON_START, Op, OpWord, Order, Progress, Ready, Workload};
use crate::error::{Error, Result};

/// A workload in the making. Operations are numbered in the order in which they are added, until it is built.
#[derive(Debug, Default)]
pub(super) struct GraphBuilder {
    messages: Vec<Message>,
    /// The connection of each message; empty if none has one.
    connections: Vec<u32>,
    /// What messages carry.
    pub carried: Payloads,
    /// Collectives that stay calls.
    pub calls: Calls,
    /// Tasks and operations.
    ops: Vec<(u32, OpWord)>,
    /// Dependencies: the earlier operation and the later one, with [`ON_START`] if it waits for the start of the other
    /// only.
    edges: Vec<(u32, u32)>,
    durations: Vec<f64>,
    processors: Vec<u32>,
}

impl GraphBuilder {
    /// Adds a message without the operations that send and receive it; returns its id.
    pub fn message(&mut self, source: u32, target: u32, bytes: u64) -> u32 {
        self.messages.push(Message { source, target, bytes });
        self.messages.len() as u32 - 1
    }

    /// The same on a connection, which sends one message at a time, or on [none](NO_CONNECTION); of a workload that has
    /// connections all messages are added so.
    pub fn message_on(&mut self, source: u32, target: u32, bytes: u64, connection: u32) -> u32 {
        self.connections.push(connection);
        self.message(source, target, bytes)
    }

    /// The id of the next message.
    pub fn num_messages(&self) -> u32 {
        self.messages.len() as u32
    }

    /// The position of the next computation among those that take time.
    pub fn num_durations(&self) -> u32 {
        self.durations.len() as u32
    }

    /// How many operations there are.
    pub fn len(&self) -> usize {
        self.ops.len()
    }

    /// Changes what an operation does: a message that was not known when the operation was added.
    pub fn set_op(&mut self, op: u32, what: Op) {
        self.ops[op as usize].1 = what.into();
    }

    /// Adds an operation of `task` that waits for all of these, and takes no time; returns its number.
    pub fn join(&mut self, task: u32, ops: &[u32]) -> u32 {
        let joined = self.compute(task, 0.0, 0);
        ops.iter().for_each(|op| self.follows(joined, *op, false));
        joined
    }

    /// Adds the operation of a rank in a call, which takes no time; returns its number.
    pub fn call(&mut self, task: u32, call: u32) -> u32 {
        let op = self.join(task, &[]);
        self.calls.note(op, call);
        op
    }

    /// Adds an operation; returns its number.
    pub fn op(&mut self, task: u32, op: Op) -> u32 {
        self.ops.push((task, op.into()));
        self.ops.len() as u32 - 1
    }

    /// Adds a computation on one of the processors, which are numbered from 0 for all tasks together.
    pub fn compute(&mut self, task: u32, seconds: f64, processor: u32) -> u32 {
        self.durations.push(seconds);
        self.processors.push(processor);
        self.op(task, Op::Compute(self.durations.len() as u32 - 1))
    }

    /// Operation `later` waits for the end of `earlier`, or for its start only.
    pub fn follows(&mut self, later: u32, earlier: u32, start_only: bool) {
        self.edges.push((earlier, later | if start_only { ON_START } else { 0 }));
    }

    /// The workload of `tasks` tasks.
    ///
    /// # Errors
    /// [`Error::TooLarge`], and [`Error::Workload`] for operations that wait for each other, of which `name` names one.
    pub fn build(self, spec: &str, tasks: u32, name: impl Fn(u32) -> String) -> Result<Workload> {
        guard(spec, tasks.into(), self.messages.len() as u128)?;
        if self.ops.len() as u64 > MOST || self.edges.len() as u64 > u64::from(ON_START) {
            return Err(Error::TooLarge(format!(
                "{spec} has {} operations; at most {MOST} are possible",
                self.ops.len()
            )));
        }
        // Operations of a task stand together.
        let Self { messages, connections, carried, calls, ops: listed, mut edges, durations, processors } = self;
        let mut order: Vec<u32> = (0..listed.len() as u32).collect();
        order.sort_by_key(|op| listed[*op as usize].0);
        let mut place = vec![0u32; order.len()];
        (0u32..).zip(&order).for_each(|(at, op)| place[*op as usize] = at);
        let starts = (0..=tasks).map(|task| order.partition_point(|op| listed[*op as usize].0 < task) as u32).collect();
        let ops: Vec<OpWord> = order.iter().map(|op| listed[*op as usize].1).collect();
        drop(listed);
        let mut receives = vec![0; messages.len()];
        for (at, op) in (0u32..).zip(&ops) {
            if let Op::Receive(message) = op.unpack() {
                receives[message as usize] = at;
            }
        }
        for (from, to) in &mut edges {
            *from = place[*from as usize];
            *to = place[(*to & !ON_START) as usize] | *to & ON_START;
        }
        let calls = (!calls.is_empty()).then(|| calls.moved(&place));
        drop(place);
        edges.sort_unstable();
        edges.dedup();
        let mut needs = vec![0; ops.len()];
        edges.iter().for_each(|(_, to)| needs[(to & !ON_START) as usize] += 1);
        let first = |op: u32| edges.partition_point(|(from, _)| *from < op) as u32;
        let graph = Graph {
            needs,
            starts: (0..=ops.len() as u32).map(first).collect(),
            followers: edges.iter().map(|(_, to)| *to).collect(),
            receives,
            processors,
        };
        drop(edges);
        let workload = Workload {
            spec: spec.to_owned(),
            tasks,
            messages,
            ops,
            starts,
            durations,
            order: Order::Graph(graph),
            connections,
            rounds: 1,
            grid: None,
            notes: Vec::new(),
            fills_room: false,
            carried,
            yardstick: None,
            labels: None,
            step: None,
            calls,
            regular: None,
            listed: OnceLock::new(),
        };
        let circle: Vec<String> = circle(&workload).into_iter().map(|at| name(order[at as usize])).collect();
        match circle.first() {
            None => Ok(workload),
            Some(first) => Err(Error::Workload(format!(
                "{spec}: these wait for each other without end: {} -> {first}",
                circle.join(" -> ")
            ))),
        }
    }
}

/// Operations that wait for each other in a circle; empty if all can be done.
fn circle(workload: &Workload) -> Vec<u32> {
    let mut progress = Progress::new(workload);
    let mut ready = Vec::new();
    progress.start(&mut ready);
    while let Some(next) = ready.pop() {
        match next {
            Ready::Message(message) => {
                progress.left(message, &mut ready);
                progress.delivered(message, &mut ready);
            }
            Ready::Compute { op, .. } => progress.computed(op, &mut ready),
            Ready::Answer(_) => unreachable!("no message asks"),
        }
    }
    let stuck = progress.stuck();
    let Some(&first) = stuck.first() else { return Vec::new() };
    let Order::Graph(graph) = &workload.order else { return Vec::new() };
    // The operation that each one waits for: a requirement, or the send of its message.
    let mut waits_for = vec![None; workload.ops.len()];
    for &op in &stuck {
        graph.followers(op).iter().for_each(|follower| waits_for[(follower & !ON_START) as usize] = Some(op));
        if let Op::Send(message) = workload.ops[op as usize].unpack() {
            let receive = graph.receives[message as usize] as usize;
            waits_for[receive] = waits_for[receive].or(Some(op));
        }
    }
    let mut path = vec![first];
    while let Some(next) = waits_for[path[path.len() - 1] as usize] {
        if let Some(start) = path.iter().position(|op| *op == next) {
            return path.split_off(start);
        }
        path.push(next);
    }
    path
}
