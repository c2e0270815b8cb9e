//! How far the tasks of a workload are, and what can be done next: the state machine that both engines drive.

use std::collections::{HashSet, VecDeque};

use super::{Graph, ON_START, Op, Order, Workload};
use crate::memory::prefetch;

/// What an engine can begin now.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Ready {
    /// The message with this id can be sent. Its delivery is to be reported.
    Message(u32),
    /// A task computes. The end is to be reported.
    Compute {
        /// The operation, to be named when it is done.
        op: u32,
        /// How long it takes.
        seconds: f64,
    },
    /// The receive of a message that has [asked](Progress::asked) is posted: its target answers.
    Answer(u32),
}

/// The state of the tasks of a workload, or of some of them.
///
/// A delivery or a computation concerns one task alone, so parts of the tasks can be driven separately. Each part has
/// its own `Progress`: it receives the deliveries to its tasks and returns what they send. `W` is a `&Workload`, or an
/// `Arc` of one.
#[derive(Debug)]
pub struct Progress<W> {
    workload: W,
    tasks: Vec<u32>,
    /// How often each message has arrived and has not been received.
    arrived: Vec<u16>,
    /// Tasks, or operations of a graph, that are not finished.
    left: usize,
    state: State,
    /// What each connection sends, and what waits for it.
    connections: Vec<Connection>,
    /// Which receives are posted, once a message has asked.
    posted: Option<Receives>,
}

/// Which receives are posted: those that a task waits for, and all that follow them before it sends or computes.
#[derive(Debug)]
struct Receives {
    /// The operation that receives each message, of tasks that do one thing after the other; empty of a graph.
    receives: Vec<u32>,
    /// Of each of these tasks, the first operation after the receives that it has posted.
    until: Vec<u32>,
    /// Messages that have asked and are not answered.
    waiting: HashSet<u32>,
}

#[derive(Debug)]
enum State {
    /// The next operation of each task; tasks from the second on begin again at their end.
    Sequence(Vec<u32>, u32),
    Graph(Dependencies),
}

/// The state of a graph of operations.
#[derive(Debug)]
struct Dependencies {
    /// What each operation still waits for.
    needs: Vec<u32>,
    /// Whether each operation is under way.
    begun: Vec<bool>,
    /// Computations that wait for each processor; `None` if it is idle.
    processors: Vec<Option<VecDeque<u32>>>,
    /// Operations that can begin; empty between calls.
    next: VecDeque<u32>,
}

/// A connection between two tasks, which sends one message at a time.
#[derive(Debug, Clone, Default)]
struct Connection {
    busy: bool,
    /// What waits for it, in the order in which it could have begun: messages, or operations of a graph that send them.
    queue: VecDeque<u32>,
}

impl Connection {
    /// True if it is free, and now busy; else it takes what waits for it.
    fn take(&mut self, waits: u32) -> bool {
        if self.busy {
            self.queue.push_back(waits);
            return false;
        }
        self.busy = true;
        true
    }
}

impl<W: AsRef<Workload>> Progress<W> {
    /// The state of all tasks before anything is done.
    pub fn new(workload: W) -> Self {
        let tasks = (0..workload.as_ref().tasks).collect();
        Self::of(workload, tasks)
    }

    /// The state of some tasks.
    pub fn of(workload: W, tasks: Vec<u32>) -> Self {
        let read = workload.as_ref();
        let (left, state) = match &read.order {
            &Order::Sequence { endless } => {
                let next = read.starts[..read.tasks as usize].to_vec();
                (tasks.iter().filter(|task| **task < endless).count(), State::Sequence(next, endless))
            }
            Order::Graph(graph) => {
                let processors = graph.processors.iter().max().map_or(0, |last| *last as usize + 1);
                let waiting = Dependencies {
                    needs: graph.needs.clone(),
                    begun: vec![false; read.ops.len()],
                    processors: vec![None; processors],
                    next: VecDeque::new(),
                };
                (tasks.iter().map(|task| read.range(*task).len()).sum(), State::Graph(waiting))
            }
        };
        let arrived = vec![0; read.messages.len()];
        let connections = vec![Connection::default(); read.num_connections() as usize];
        Self { workload, tasks, arrived, left, state, connections, posted: None }
    }

    /// True if messages wait for others to leave their tasks.
    pub fn has_connections(&self) -> bool {
        self.workload.as_ref().has_connections()
    }

    /// The task of an operation.
    pub fn task_of(&self, op: u32) -> u32 {
        self.workload.as_ref().task_of(op)
    }

    /// Begins: appends all that can be done at the start. To be called once, before anything else.
    pub fn start(&mut self, out: &mut Vec<Ready>) {
        let tasks = std::mem::take(&mut self.tasks);
        match &mut self.state {
            State::Sequence(..) => tasks.iter().for_each(|task| self.run(*task, out)),
            State::Graph(waiting) => {
                let ops = tasks.iter().flat_map(|task| self.workload.as_ref().range(*task)).map(|op| op as u32);
                waiting.next.extend(ops.filter(|op| waiting.needs[*op as usize] == 0));
                self.flow(out);
            }
        }
        self.tasks = tasks;
    }

    /// These messages are soon delivered: asks for the memory that this needs.
    pub fn ahead(&self, messages: &mut dyn Iterator<Item = u32>) {
        let State::Sequence(next, _) = &self.state else { return };
        let workload = self.workload.as_ref();
        let mut sum = 0;
        for message in messages {
            let task = workload.messages[message as usize].target as usize;
            prefetch(&self.arrived, message as usize);
            prefetch(&workload.starts, task);
            prefetch(&workload.ops, next[task] as usize);
            sum ^= next[task];
        }
        std::hint::black_box(sum);
    }

    /// A message has arrived at its task: appends what that lets begin.
    pub fn delivered(&mut self, message: u32, out: &mut Vec<Ready>) {
        self.arrived[message as usize] += 1;
        match (&mut self.state, &self.workload.as_ref().order) {
            (State::Graph(waiting), Order::Graph(graph)) => {
                let receive = graph.receives[message as usize];
                if waiting.begun[receive as usize] {
                    self.complete(receive);
                    self.flow(out);
                }
            }
            (State::Sequence(next, _), _) => {
                let task = self.workload.as_ref().messages[message as usize].target;
                let at = next[task as usize] as usize;
                if at < self.workload.as_ref().range(task).end
                    && self.workload.as_ref().ops[at].unpack() == Op::Receive(message)
                {
                    self.run(task, out);
                }
            }
            _ => unreachable!("the state is that of the order"),
        }
    }

    /// A message asks its target whether it may come: appends the answer, now or with what posts its receive. So long
    /// messages wait for their receivers, as rendezvous does (Hoefler, Schneider and Lumsdaine, HPDC 2010).
    pub fn asked(&mut self, message: u32, out: &mut Vec<Ready>) {
        let target = self.workload.as_ref().messages[message as usize].target;
        if self.posted.is_none() {
            self.posted = Some(Receives::new(self.workload.as_ref()));
        }
        self.post(target, out);
        let posted = self.posted.as_mut().expect("was made above");
        let begun = match (&self.state, &self.workload.as_ref().order) {
            (State::Sequence(next, _), _) => {
                let place = posted.receives[message as usize];
                next[target as usize] <= place && place < posted.until[target as usize]
            }
            (State::Graph(waiting), Order::Graph(graph)) => waiting.begun[graph.receives[message as usize] as usize],
            _ => unreachable!("the state is that of the order"),
        };
        if begun {
            out.push(Ready::Answer(message));
        } else {
            posted.waiting.insert(message);
        }
    }

    /// A task that waits has posted its next receives: answers those that have asked.
    fn post(&mut self, task: u32, out: &mut Vec<Ready>) {
        let (Some(posted), State::Sequence(next, _)) = (&mut self.posted, &self.state) else { return };
        let workload = self.workload.as_ref();
        let (first, end) = (next[task as usize], workload.range(task).end as u32);
        let until = &mut posted.until[task as usize];
        *until = first.max(*until);
        while *until < end
            && let Op::Receive(message) = workload.ops[*until as usize].unpack()
        {
            if posted.waiting.remove(&message) {
                out.push(Ready::Answer(message));
            }
            *until += 1;
        }
    }

    /// All of a message has left its task: appends what that lets begin. To be reported if the workload
    /// [has connections](Workload::has_connections).
    pub fn left(&mut self, message: u32, out: &mut Vec<Ready>) {
        let Some(connection) = self.workload.as_ref().connection(message) else { return };
        let connection = &mut self.connections[connection as usize];
        let waits = connection.queue.pop_front();
        match (waits, &mut self.state) {
            (None, _) => connection.busy = false,
            (Some(message), State::Sequence(..)) => out.push(Ready::Message(message)),
            (Some(op), State::Graph(waiting)) => {
                connection.busy = false;
                waiting.next.push_front(op);
                self.flow(out);
            }
        }
    }

    /// A computation has ended: appends what that lets begin.
    pub fn computed(&mut self, op: u32, out: &mut Vec<Ready>) {
        match (&mut self.state, &self.workload.as_ref().order) {
            (State::Graph(waiting), Order::Graph(graph)) => {
                let Op::Compute(place) = self.workload.as_ref().ops[op as usize].unpack() else { return };
                let processor = &mut waiting.processors[graph.processors[place as usize] as usize];
                let queue = processor.take().unwrap_or_default();
                // Those that have waited come before whatever this one lets begin.
                queue.into_iter().rev().for_each(|op| waiting.next.push_front(op));
                self.complete(op);
                self.flow(out);
            }
            (State::Sequence(next, _), _) => {
                let task = self.workload.as_ref().task_of(op);
                next[task as usize] += 1;
                self.run(task, out);
            }
            _ => unreachable!("the state is that of the order"),
        }
    }

    /// True once every task has done all that it has to do; tasks that begin again do not count.
    pub fn finished(&self) -> bool {
        self.left == 0
    }

    /// Lets a task continue until it waits.
    fn run(&mut self, task: u32, out: &mut Vec<Ready>) {
        self.advance(task, out);
        self.post(task, out);
    }

    fn advance(&mut self, task: u32, out: &mut Vec<Ready>) {
        let range = self.workload.as_ref().range(task);
        let State::Sequence(next, endless) = &mut self.state else { return };
        let at = &mut next[task as usize];
        loop {
            if *at as usize == range.end {
                if task < *endless || range.is_empty() {
                    self.left -= usize::from(task < *endless);
                    return;
                }
                *at = range.start as u32;
                if let Some(posted) = &mut self.posted {
                    posted.until[task as usize] = *at;
                }
            }
            match self.workload.as_ref().ops[*at as usize].unpack() {
                Op::Send(message) => {
                    let connection = self.workload.as_ref().connection(message);
                    if connection.is_none_or(|own| self.connections[own as usize].take(message)) {
                        out.push(Ready::Message(message));
                    }
                }
                Op::Receive(message) => {
                    let arrived = &mut self.arrived[message as usize];
                    if *arrived == 0 {
                        return;
                    }
                    *arrived -= 1;
                }
                Op::Compute(place) => {
                    out.push(Ready::Compute { op: *at, seconds: self.workload.as_ref().durations[place as usize] });
                    return;
                }
            }
            *at += 1;
        }
    }

    /// Begins the operations of a graph that can begin, and those that they let begin.
    fn flow(&mut self, out: &mut Vec<Ready>) {
        loop {
            let (State::Graph(waiting), Order::Graph(graph)) = (&mut self.state, &self.workload.as_ref().order) else {
                return;
            };
            let Some(op) = waiting.next.pop_front() else { return };
            let kind = self.workload.as_ref().ops[op as usize].unpack();
            let seconds = |place: u32| self.workload.as_ref().durations[place as usize];
            if let Op::Compute(place) = kind
                && seconds(place) > 0.0
            {
                let processor = &mut waiting.processors[graph.processors[place as usize] as usize];
                if let Some(queue) = processor {
                    queue.push_back(op);
                    continue;
                }
                *processor = Some(VecDeque::new());
                out.push(Ready::Compute { op, seconds: seconds(place) });
            }
            if let Op::Send(message) = kind
                && let Some(connection) = self.workload.as_ref().connection(message)
                && !self.connections[connection as usize].take(op)
            {
                continue;
            }
            waiting.begun[op as usize] = true;
            waiting.release(graph, op, ON_START);
            if let (Op::Receive(message), Some(posted)) = (kind, &mut self.posted)
                && posted.waiting.remove(&message)
            {
                out.push(Ready::Answer(message));
            }
            match kind {
                Op::Send(message) => {
                    out.push(Ready::Message(message));
                    self.complete(op);
                }
                Op::Receive(message) if self.arrived[message as usize] > 0 => self.complete(op),
                Op::Compute(place) if seconds(place) == 0.0 => self.complete(op),
                Op::Receive(_) | Op::Compute(_) => {}
            }
        }
    }

    /// An operation of a graph is done.
    fn complete(&mut self, op: u32) {
        let (State::Graph(waiting), Order::Graph(graph)) = (&mut self.state, &self.workload.as_ref().order) else {
            return;
        };
        self.left -= 1;
        waiting.release(graph, op, 0);
    }

    /// The operations of a graph that have not begun, or wait for a message.
    pub(super) fn stuck(&self) -> Vec<u32> {
        let (State::Graph(waiting), Order::Graph(graph)) = (&self.state, &self.workload.as_ref().order) else {
            return Vec::new();
        };
        let waits = |op: &u32| match self.workload.as_ref().ops[*op as usize].unpack() {
            Op::Receive(message) => !waiting.begun[*op as usize] || self.arrived[message as usize] == 0,
            _ => !waiting.begun[*op as usize],
        };
        (0..graph.needs.len() as u32).filter(waits).collect()
    }
}

impl Receives {
    /// Nothing is known to be posted.
    fn new(workload: &Workload) -> Self {
        let (mut receives, mut until) = (Vec::new(), Vec::new());
        if let Order::Sequence { .. } = workload.order {
            receives.resize(workload.messages.len(), 0);
            until.extend_from_slice(&workload.starts[..workload.tasks as usize]);
            for (place, op) in (0..).zip(&workload.ops) {
                if let Op::Receive(message) = op.unpack() {
                    receives[message as usize] = place;
                }
            }
        }
        Self { receives, until, waiting: HashSet::new() }
    }
}

impl Dependencies {
    /// The followers of `op` with this mark need one thing less.
    fn release(&mut self, graph: &Graph, op: u32, mark: u32) {
        for follower in graph.followers(op).iter().filter(|follower| **follower & ON_START == mark) {
            let follower = follower & !ON_START;
            self.needs[follower as usize] -= 1;
            if self.needs[follower as usize] == 0 {
                self.next.push_back(follower);
            }
        }
    }
}
