//! Workloads: applications as messages between tasks, with what each message waits for. One file per application;
//! `registry` knows their names.
//!
//! A workload is written once and has two readers: the flow engine and the cycle engine both drive a [`Progress`] over
//! it, which states what can be sent next. A task is a list of operations. A *send* hands its message to the network and
//! is done at once; a *receive* waits for its message; a *compute* takes its time. Operations follow one another in
//! their order; in a workload that is read from a file, each follows what the file states that it requires.

mod account;
mod allocation;
mod allreduce;
mod alltoall;
mod bisection;
mod broadcast;
mod builder;
mod calls;
mod chakra;
mod changes;
mod collective;
mod endpoint;
mod flood;
mod goal;
mod gpcnet;
mod graph;
mod grid;
mod halo;
mod ideal;
mod jobs;
mod labels;
mod mapping;
mod mapreduce;
mod messages;
mod msccl;
mod nbodies;
mod nearneighbors;
mod permutation;
mod progress;
mod reduce;
mod registry;
mod regular;
mod request;
mod sweep3d;
#[cfg(test)]
mod tests;
mod together;
mod training;
mod unstructured;

pub use account::{RunTimes, StepFacts, StepTimes, StepTraffic, TimelineEvent, step_times, task_ends, timeline};
pub use allocation::{ALLOCATORS, Allocator, AllocatorInfo, Demand, KEYS as ALLOCATOR_KEYS, allocate};
pub use calls::CallGroup;
pub use chakra::ChakraTraces;
pub use changes::{KEYS as NOISE_KEYS, Noise};
pub use collective::{Span, turned};
pub use endpoint::{ENTRY as ENDPOINT, Endpoint, Endpoints, KEYS as ENDPOINT_KEYS};
pub use ideal::{IdealNetwork, ideal, ideal_at_once};
pub use jobs::{Job, KEYS as JOB_KEYS, app_and_keys};
pub use mapping::{MAPPINGS, Mapping, MappingInfo, find as find_mapping};
pub use progress::{Progress, Ready};
pub use registry::{APPS, AppInfo, build, find};
pub use regular::{Circle, Parts, Regular, Stage};
pub use request::{DEFAULT_GBPS, Room};
pub use together::together;

use std::sync::{Arc, OnceLock};

use calls::Calls;
use collective::Payloads;
use labels::Labels;

use crate::error::Result;
use crate::network::Grid;

/// A message from one task to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message {
    /// The task that sends it.
    pub source: u32,
    /// The task that receives it, another one.
    pub target: u32,
    /// Its size, one at least.
    pub bytes: u64,
}

/// What a task does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    /// Hands a message to the network and continues.
    Send(u32),
    /// Waits until a message has arrived.
    Receive(u32),
    /// Takes the time of this place among [`Workload::durations`].
    Compute(u32),
}

/// The most messages that a workload can have, and the most times of computing.
const MOST: u64 = 1 << 30;

/// An operation in 32 bits.
#[derive(Debug, Clone, Copy)]
struct OpWord(u32);

impl OpWord {
    fn unpack(self) -> Op {
        let place = self.0 & (MOST - 1) as u32;
        match self.0 >> 30 {
            0 => Op::Send(place),
            1 => Op::Receive(place),
            _ => Op::Compute(place),
        }
    }
}

impl From<Op> for OpWord {
    fn from(op: Op) -> Self {
        Self(match op {
            Op::Send(message) => message,
            Op::Receive(message) => 1 << 30 | message,
            Op::Compute(place) => 2 << 30 | place,
        })
    }
}

/// In which order the operations of a task are done.
#[derive(Debug)]
enum Order {
    /// One after the other; tasks from `endless` on begin again at their end.
    Sequence { endless: u32 },
    /// Each as soon as what it requires is done.
    Graph(Graph),
}

/// The dependencies of the operations of a workload that is read from a file.
#[derive(Debug)]
struct Graph {
    /// How many operations each one waits for.
    needs: Vec<u32>,
    /// Where the followers of each operation begin, and behind them their number.
    starts: Vec<u32>,
    /// Operations, with [`ON_START`] if they wait for the start only.
    followers: Vec<u32>,
    /// The operation that receives each message.
    receives: Vec<u32>,
    /// The processor that each computation runs on: one at a time, first come, first served.
    processors: Vec<u32>,
}

/// Stands for the connection of a message that has none.
const NO_CONNECTION: u32 = u32::MAX;

/// Marks a follower that waits for the start of an operation, not for its end.
const ON_START: u32 = 1 << 31;

impl Graph {
    fn followers(&self, op: u32) -> &[u32] {
        &self.followers[self.starts[op as usize] as usize..self.starts[op as usize + 1] as usize]
    }
}

/// An application: tasks, their messages, and what each does in which order.
#[derive(Debug)]
pub struct Workload {
    spec: String,
    tasks: u32,
    messages: Vec<Message>,
    ops: Vec<OpWord>,
    /// Where the operations of each task begin, and behind them their number.
    starts: Vec<u32>,
    /// Seconds of computing.
    durations: Vec<f64>,
    order: Order,
    /// The connection that each message is sent on, one at a time in the order in which they can be sent, or
    /// [`NO_CONNECTION`]; empty if there are none.
    connections: Vec<u32>,
    /// Rounds of the messages of tasks that do not begin again, each of equally many that follow one another.
    rounds: u32,
    grid: Option<Grid>,
    notes: Vec<String>,
    /// Whether it has as many tasks as there was room for.
    fills_room: bool,
    /// What is known of what messages carry.
    carried: Payloads,
    yardstick: Option<Yardstick>,
    /// What its messages and computations are for, of a training step.
    labels: Option<Labels>,
    step: Option<StepFacts>,
    /// Its collectives, if they stay [calls](Room::with_calls).
    calls: Option<Calls>,
    /// The rule of its messages, if it has one.
    regular: Option<Regular>,
    /// The same with its messages, if the rule stands for them.
    listed: OnceLock<Arc<Workload>>,
}

/// What the bandwidth of a collective is measured by, as nccl-tests define it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Yardstick {
    /// Bytes of data, of all iterations together: over the time, the algorithm bandwidth.
    pub bytes: f64,
    /// What that is multiplied by for the bus bandwidth, which hardware bounds whatever the number of ranks.
    pub bus: f64,
}

impl AsRef<Workload> for Workload {
    fn as_ref(&self) -> &Workload {
        self
    }
}

impl Workload {
    /// The text that it was built from.
    pub fn spec(&self) -> &str {
        &self.spec
    }

    /// The number of tasks.
    pub fn tasks(&self) -> u32 {
        self.tasks
    }

    /// The messages, by their ids; none of a workload whose [rule](Workload::regular) stands for them.
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// How many messages there are.
    pub fn num_messages(&self) -> u128 {
        self.regular.as_ref().map_or(self.messages.len() as u128, Regular::messages)
    }

    /// The rule of its messages, if it is a regular collective.
    pub fn regular(&self) -> Option<&Regular> {
        self.regular.as_ref()
    }

    /// The same workload with its messages listed one by one; this one unless a rule stands for them.
    ///
    /// # Errors
    /// [`Error::TooLarge`](crate::error::Error::TooLarge) if they do not fit into memory.
    pub fn listed(&self) -> Result<&Self> {
        Ok(self.list()?.map_or(self, |listed| listed))
    }

    /// As [`Workload::listed`], shared.
    ///
    /// # Errors
    /// The same.
    pub fn into_listed(self: Arc<Self>) -> Result<Arc<Self>> {
        Ok(self.list()?.cloned().unwrap_or(self))
    }

    /// The list that a rule stands for.
    fn list(&self) -> Result<Option<&Arc<Self>>> {
        let Some(regular) = self.regular.as_ref().filter(|_| self.messages.is_empty()) else { return Ok(None) };
        if self.listed.get().is_none() {
            let (notes, fills_room, yardstick) = (self.notes.clone(), self.fills_room, self.yardstick);
            let list = Self { notes, fills_room, yardstick, ..regular.list(&self.spec)? };
            // Another thread may have been first; the lists are the same.
            let _ = self.listed.set(Arc::new(list));
        }
        Ok(self.listed.get())
    }

    /// The grid on which its tasks are, if they are on one: the first dimension varies fastest in their ids.
    pub fn grid(&self) -> Option<&Grid> {
        self.grid.as_ref()
    }

    /// What a user should know: tasks left over, choices that sizes forced. A sentence each.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The operations of a task, in the order in which they are done or written.
    pub fn program(&self, task: u32) -> impl Iterator<Item = Op> + '_ {
        self.ops[self.range(task)].iter().map(|op| op.unpack())
    }

    /// What each operation waits for, where tasks do not do one thing after the other: an operation, one that waits for
    /// it, and whether that waits for its start only. Operations are numbered task by task in the order of
    /// [`Workload::program`].
    pub fn dependencies(&self) -> Option<Vec<(u32, u32, bool)>> {
        let Order::Graph(graph) = &self.order else { return None };
        let of = |op: u32| graph.followers(op).iter().map(move |later| (op, later & !ON_START, later & ON_START != 0));
        Some((0..self.ops.len() as u32).flat_map(of).collect())
    }

    /// The processor that runs the computation at this place among [`Workload::durations`]; 0 if a task has one alone.
    pub fn processor(&self, place: u32) -> u32 {
        let Order::Graph(graph) = &self.order else { return 0 };
        graph.processors[place as usize]
    }

    /// Seconds of computing, by the positions that [`Op::Compute`] names.
    pub fn durations(&self) -> &[f64] {
        &self.durations
    }

    /// The first of the tasks that begin again at their end, so that their messages are sent more than once; none
    /// unless it is less than the number of tasks. The workload is finished once all others are.
    pub fn endless(&self) -> u32 {
        match self.order {
            Order::Sequence { endless } => endless,
            Order::Graph(_) => self.tasks,
        }
    }

    /// True if the number of its tasks follows from the room that it was built for, not from its text.
    pub fn fills_room(&self) -> bool {
        self.fills_room
    }

    /// True if some of its tasks begin again at their end.
    pub fn repeats(&self) -> bool {
        self.endless() < self.tasks
    }

    /// How often the tasks that do not begin again do the same: in each round as many messages, with ids that follow
    /// one another.
    pub fn rounds(&self) -> u32 {
        self.rounds
    }

    /// False if the receiver of a message takes it as it is; true if it combines it with what it has, or if the
    /// application does not state.
    pub fn reduces(&self, message: u32) -> bool {
        !self.carried.copies.get(message as usize).copied().unwrap_or(false)
    }

    /// What a message carries, if it was built to [record](Room::recording) that and is a collective.
    pub fn spans(&self, message: u32) -> Option<&[Span]> {
        self.carried.spans.as_ref().map(|spans| spans.get(message as usize).map_or(&[][..], Vec::as_slice))
    }

    /// The connection that a message is sent on, if it is on one.
    fn connection(&self, message: u32) -> Option<u32> {
        self.connections.get(message as usize).copied().filter(|own| *own != NO_CONNECTION)
    }

    /// Connections, counted up to the last.
    fn num_connections(&self) -> u32 {
        self.connections.iter().filter(|own| **own != NO_CONNECTION).max().map_or(0, |last| last + 1)
    }

    /// True if messages wait for connections, so that engines must report when one has left its task.
    pub fn has_connections(&self) -> bool {
        !self.connections.is_empty()
    }

    /// What its bandwidth is measured by, if it is a collective that nccl-tests know.
    pub fn yardstick(&self) -> Option<Yardstick> {
        self.yardstick
    }

    /// What is known of it if it is a training step.
    pub fn step(&self) -> Option<&StepFacts> {
        self.step.as_ref()
    }

    /// Tasks that stand for all of them, where some do: the first rank of each stage of a training step.
    pub fn shown(&self) -> Option<&[u32]> {
        self.labels.as_ref().map(|labels| labels.shown.as_slice())
    }

    /// The sum of all sizes.
    pub fn total_bytes(&self) -> u128 {
        if let Some(regular) = &self.regular {
            return regular.bytes();
        }
        self.messages.iter().map(|message| u128::from(message.bytes)).sum()
    }

    /// The positions of a task's operations.
    fn range(&self, task: u32) -> std::ops::Range<usize> {
        self.starts[task as usize] as usize..self.starts[task as usize + 1] as usize
    }

    /// The task of an operation.
    pub fn task_of(&self, op: u32) -> u32 {
        self.starts.partition_point(|start| *start <= op) as u32 - 1
    }
}
