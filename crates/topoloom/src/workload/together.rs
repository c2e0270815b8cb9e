//! Several applications as one: jobs that run beside each other.

use super::collective::Payloads;
use super::graph::GraphBuilder;
use super::{NO_CONNECTION, Op, Order, Workload};
use crate::error::Result;

/// One workload of several, each of which begins at its time, in seconds. Their tasks follow one another.
///
/// # Errors
/// [`Error::TooLarge`](crate::error::Error::TooLarge).
pub fn together(jobs: &[(&Workload, f64)]) -> Result<Workload> {
    let jobs: Vec<(&Workload, f64)> =
        jobs.iter().map(|(job, start_s)| Ok((job.listed()?, *start_s))).collect::<Result<_>>()?;
    let connected = jobs.iter().any(|(job, _)| job.has_connections());
    let mut all = Together { graph: GraphBuilder::default(), connected, tasks: 0, connections: 0, processors: 0 };
    jobs.iter().for_each(|(job, start_s)| all.add(job, *start_s));
    let specs: Vec<&str> = jobs.iter().map(|(job, _)| job.spec()).collect();
    let Together { mut graph, tasks, .. } = all;
    let copies = jobs.iter().flat_map(|(job, _)| (0..job.messages.len() as u32).map(|message| !job.reduces(message)));
    graph.carried = Payloads { copies: copies.collect(), spans: None };
    graph.build(&specs.join(" + "), tasks, |op| format!("operation {op}"))
}

/// The workload in the making, with what its jobs so far have taken.
struct Together {
    graph: GraphBuilder,
    /// Whether messages of some job are on connections.
    connected: bool,
    tasks: u32,
    connections: u32,
    processors: u32,
}

impl Together {
    fn add(&mut self, job: &Workload, start_s: f64) {
        let first_message = self.graph.num_messages();
        for (id, message) in (0..).zip(&job.messages) {
            self.message(job, id, [message.source, message.target].map(|task| self.tasks + task), message.bytes);
        }
        let first_op = self.graph.len() as u32;
        let sequence = matches!(job.order, Order::Sequence { .. });
        for task in 0..job.tasks {
            for op in job.program(task) {
                let own = self.tasks + task;
                match op {
                    Op::Send(message) => self.graph.op(own, Op::Send(first_message + message)),
                    Op::Receive(message) => self.graph.op(own, Op::Receive(first_message + message)),
                    Op::Compute(place) => {
                        let processor = if sequence { task } else { job.processor(place) };
                        self.graph.compute(own, job.durations[place as usize], self.processors + processor)
                    }
                };
            }
        }
        self.order(job, first_op);
        self.delay(job, first_op, start_s);
        self.tasks += job.tasks;
        let processors = match &job.order {
            Order::Sequence { .. } => job.tasks,
            Order::Graph(graph) => graph.processors.iter().max().map_or(0, |last| last + 1),
        };
        self.processors += processors.max(job.tasks);
        self.connections += job.num_connections();
    }

    /// Adds a message between tasks, on the connection that it has in its job.
    fn message(&mut self, job: &Workload, id: u32, [source, target]: [u32; 2], bytes: u64) {
        if self.connected {
            let connection = job.connection(id).map_or(NO_CONNECTION, |own| self.connections + own);
            self.graph.message_on(source, target, bytes, connection);
        } else {
            self.graph.message(source, target, bytes);
        }
    }

    /// What waits for what within a job.
    fn order(&mut self, job: &Workload, first: u32) {
        if let Some(listed) = job.dependencies() {
            listed.iter().for_each(|(before, later, start)| self.graph.follows(first + later, first + before, *start));
            return;
        }
        for task in 0..job.tasks {
            let range = job.range(task);
            for op in range.clone().skip(1) {
                self.graph.follows(first + op as u32, first + op as u32 - 1, false);
            }
        }
    }

    /// Nothing of a job begins before its time.
    fn delay(&mut self, job: &Workload, first: u32, start_s: f64) {
        if start_s <= 0.0 {
            return;
        }
        let begins = |op: &usize, first: usize| match &job.order {
            Order::Sequence { .. } => *op == first,
            Order::Graph(graph) => graph.needs[*op] == 0,
        };
        for task in 0..job.tasks {
            let waits = self.graph.compute(self.tasks + task, start_s, self.processors + task);
            let range = job.range(task);
            for op in range.clone().filter(|op| begins(op, range.start)) {
                self.graph.follows(first + op as u32, waits, false);
            }
        }
    }
}
