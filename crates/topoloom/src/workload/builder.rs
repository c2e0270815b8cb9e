//! Builds workloads of tasks that do one thing after the other.

use std::collections::HashMap;
use std::sync::OnceLock;

use super::collective::{Payloads, Transfer};
use super::request::Request;
use super::{MOST, Message, Op, OpWord, Order, Workload};
use crate::error::{Error, Result};
use crate::memory::available_memory;
use crate::network::Grid;

/// Bytes of a message while a workload is built: itself, two operations, and their tasks.
const MESSAGE: u128 = 16 + 2 * 12;

/// Rejects, before anything is allocated, what ids cannot name or memory cannot hold.
pub(super) fn guard(spec: &str, tasks: u64, messages: u128) -> Result<()> {
    if messages > u128::from(MOST) {
        return Err(Error::TooLarge(format!(
            "{spec}: {tasks} tasks send {messages} messages, about {} GB; at most {MOST} messages are possible",
            (messages * MESSAGE).div_ceil(1_000_000_000)
        )));
    }
    let (bytes, available) = (messages * MESSAGE + u128::from(tasks) * 16, available_memory());
    if bytes > available {
        return Err(Error::TooLarge(format!(
            "{spec}: {tasks} tasks that send {messages} messages need about {} GB; {} GB are available",
            bytes.div_ceil(1_000_000_000),
            available / 1_000_000_000
        )));
    }
    Ok(())
}

/// A workload in the making. Operations can be added in any order of tasks; those of one task are done in the order in
/// which they are added.
pub(super) struct Builder {
    spec: String,
    tasks: u32,
    messages: Vec<Message>,
    ops: Vec<(u32, OpWord)>,
    durations: Vec<f64>,
    /// The position of each duration, by its bits.
    places: HashMap<u64, u32>,
    endless: u32,
    rounds: u32,
    grid: Option<Grid>,
    notes: Vec<String>,
    carried: Payloads,
    in_order: bool,
}

impl Builder {
    /// For `tasks` tasks that send about `messages` messages.
    ///
    /// # Errors
    /// [`Error::TooLarge`] if this many do not fit into memory.
    pub fn new(request: &Request, tasks: u32, messages: u128) -> Result<Self> {
        guard(request.spec(), tasks.into(), messages)?;
        Ok(Self::sized(request.spec(), tasks, messages as usize, request.records()))
    }

    /// The same of messages that are known to fit; what they carry is recorded or not.
    pub fn sized(spec: &str, tasks: u32, messages: usize, records: bool) -> Self {
        Self {
            spec: spec.to_owned(),
            tasks,
            messages: Vec::with_capacity(messages),
            ops: Vec::with_capacity(2 * messages),
            durations: Vec::new(),
            places: HashMap::new(),
            endless: tasks,
            rounds: 1,
            grid: None,
            notes: Vec::new(),
            carried: Payloads::new(records),
            in_order: false,
        }
    }

    /// Messages from one task to another are sent one at a time.
    pub fn in_order(self, in_order: bool) -> Self {
        Self { in_order, ..self }
    }

    /// The tasks are on a grid.
    pub fn on(mut self, grid: &Grid) -> Self {
        self.grid = Some(grid.clone());
        self
    }

    /// Attaches a note for users, if there is one.
    pub fn note(mut self, note: Option<String>) -> Self {
        self.notes.extend(note);
        self
    }

    /// Tasks from `first` on begin again at their end; each of them must wait for something.
    pub fn endless_from(&mut self, first: u32) {
        self.endless = first;
    }

    /// The messages so far were sent in this many rounds of equally many.
    pub fn rounds(&mut self, rounds: u32) {
        self.rounds = rounds;
    }

    /// A message that is sent and received later; returns its id.
    pub fn message(&mut self, source: u32, target: u32, bytes: u64) -> u32 {
        // A task that stands for all others sends to itself.
        debug_assert!((source != target || self.tasks == 1) && bytes > 0, "{source} to {target}: {bytes}");
        self.messages.push(Message { source, target, bytes });
        self.messages.len() as u32 - 1
    }

    /// The source of a message sends it.
    pub fn hand_over(&mut self, message: u32) {
        self.ops.push((self.messages[message as usize].source, Op::Send(message).into()));
    }

    /// `source` sends to `target`; returns the message's id.
    pub fn send(&mut self, source: u32, target: u32, bytes: u64) -> u32 {
        let message = self.message(source, target, bytes);
        self.hand_over(message);
        message
    }

    /// The target of a message waits for it.
    pub fn receive(&mut self, message: u32) {
        self.ops.push((self.messages[message as usize].target, Op::Receive(message).into()));
    }

    /// One step of all tasks: each sends all that it has to send, then waits for all that it is sent.
    pub fn exchange(&mut self, messages: impl IntoIterator<Item = (u32, u32, u64)>) {
        let first = self.messages.len() as u32;
        for (source, target, bytes) in messages {
            self.send(source, target, bytes);
        }
        (first..self.messages.len() as u32).for_each(|message| self.receive(message));
    }

    /// The same of messages of a collective; what is empty is not sent.
    pub fn exchange_moves(&mut self, moves: &mut dyn Iterator<Item = Transfer>) {
        let first = self.messages.len() as u32;
        for carries in moves {
            let bytes = carries.bytes();
            if bytes > 0 {
                let message = self.send(carries.source, carries.target, bytes);
                self.carried.note(message, carries);
            }
        }
        (first..self.messages.len() as u32).for_each(|message| self.receive(message));
    }

    /// `task` computes; not at all for 0 seconds.
    pub fn compute(&mut self, task: u32, seconds: f64) {
        if seconds > 0.0 {
            let durations = &mut self.durations;
            let place = *self.places.entry(seconds.to_bits()).or_insert_with(|| {
                durations.push(seconds);
                durations.len() as u32 - 1
            });
            self.ops.push((task, Op::Compute(place).into()));
        }
    }

    /// All tasks compute.
    pub fn compute_all(&mut self, seconds: f64) {
        (0..self.tasks).for_each(|task| self.compute(task, seconds));
    }

    /// The workload.
    pub fn build(self) -> Workload {
        let mut starts = vec![0u32; self.tasks as usize + 1];
        self.ops.iter().for_each(|(task, _)| starts[*task as usize + 1] += 1);
        (1..starts.len()).for_each(|place| starts[place] += starts[place - 1]);
        let mut next = starts.clone();
        let mut ops = vec![OpWord(0); self.ops.len()];
        for (task, op) in self.ops {
            let place = &mut next[task as usize];
            ops[*place as usize] = op;
            *place += 1;
        }
        let connections = if self.in_order { connections(&self.messages) } else { Vec::new() };
        Workload {
            spec: self.spec,
            tasks: self.tasks,
            messages: self.messages,
            ops,
            starts,
            durations: self.durations,
            order: Order::Sequence { endless: self.endless },
            connections,
            rounds: self.rounds,
            grid: self.grid,
            notes: self.notes,
            fills_room: false,
            carried: self.carried,
            yardstick: None,
            labels: None,
            step: None,
            calls: None,
            regular: None,
            listed: OnceLock::new(),
        }
    }
}

/// The connection of each message: one from each task to each that it sends to.
fn connections(messages: &[Message]) -> Vec<u32> {
    let mut known = HashMap::new();
    let mut of = |message: &Message| {
        let next = known.len() as u32;
        *known.entry((message.source, message.target)).or_insert(next)
    };
    messages.iter().map(&mut of).collect()
}
