//! The makespan on a network that is never congested: a lower bound, which no topology and no routing can beat.
//!
//! Every message takes its time on an empty network. Besides, only tasks and terminals take time: computation, waiting
//! for messages of others, and the bytes that a terminal sends and receives in all, and receives before a task
//! continues.

use super::{Graph, Message, ON_START, Op, Order, Workload};

/// Where nothing but terminals limits messages.
pub struct IdealNetwork<'a> {
    /// Bytes per second that a terminal sends at most; may be infinite.
    pub send: f64,
    /// The same of what it receives.
    pub receive: f64,
    /// Bytes of a message on a link.
    pub bytes: &'a dyn Fn(&Message) -> f64,
    /// Seconds from the beginning of a message, by its id, to its delivery, alone.
    pub alone_s: &'a dyn Fn(u32) -> f64,
}

/// A lower bound of the makespan of `workload` in seconds, whatever the network between its terminals. Tasks that begin
/// again and again do not count.
pub fn ideal(workload: &Workload, network: &IdealNetwork) -> f64 {
    let terminals = Terminals::new(workload.tasks as usize, network);
    let mut walk = Walk { workload, network, sent: vec![f64::NAN; workload.messages.len()], terminals, end: 0.0 };
    match &workload.order {
        Order::Sequence { endless } => walk.sequences(*endless),
        Order::Graph(graph) => walk.graph(graph),
    }
    walk.terminals.end().max(walk.end)
}

/// The same of messages between this many terminals that are all sent at the start. Those that a terminal sends to itself
/// take no time.
pub fn ideal_at_once(messages: &[Message], terminals: usize, network: &IdealNetwork) -> f64 {
    let mut terminals = Terminals::new(terminals, network);
    let mut longest = 0.0f64;
    for (id, message) in (0..).zip(messages).filter(|(_, message)| message.source != message.target) {
        terminals.add(message, 0.0);
        longest = longest.max((network.alone_s)(id));
    }
    terminals.end().max(longest)
}

/// What each terminal sends and receives.
struct Terminals<'a> {
    loads: Vec<[Load; 2]>,
    network: &'a IdealNetwork<'a>,
}

impl<'a> Terminals<'a> {
    fn new(terminals: usize, network: &'a IdealNetwork) -> Self {
        Self { loads: vec![[Load::default(); 2]; terminals], network }
    }

    /// Adds a message that is sent at a time; returns the seconds for which it fills its receiver.
    fn add(&mut self, message: &Message, sent: f64) -> f64 {
        let bytes = (self.network.bytes)(message);
        let [sends, receives] = [self.network.send, self.network.receive].map(|rate| bytes / rate);
        self.loads[message.source as usize][0].add(sent, sends);
        self.loads[message.target as usize][1].add(sent, receives);
        receives
    }

    /// When the last terminal is done, at the earliest.
    fn end(&self) -> f64 {
        self.loads.iter().flatten().map(Load::end).fold(0.0, f64::max)
    }
}

/// What a terminal sends or receives.
#[derive(Clone, Copy)]
struct Load {
    /// When the first message can begin.
    first: f64,
    /// Seconds that all of them take, one after the other at its rate.
    seconds: f64,
}

impl Default for Load {
    fn default() -> Self {
        Self { first: f64::INFINITY, seconds: 0.0 }
    }
}

impl Load {
    fn add(&mut self, sent: f64, seconds: f64) {
        self.first = self.first.min(sent);
        self.seconds += seconds;
    }

    /// The end of all of them, at the earliest; 0 if there are none.
    fn end(&self) -> f64 {
        if self.first.is_finite() { self.first + self.seconds } else { 0.0 }
    }
}

/// Goes through all operations, each as soon as what it waits for can be done.
struct Walk<'a> {
    workload: &'a Workload,
    network: &'a IdealNetwork<'a>,
    /// When each message can be sent; not a number until that is known.
    sent: Vec<f64>,
    /// What each task's terminal sends and receives, of what is waited for.
    terminals: Terminals<'a>,
    /// The latest end of an operation so far.
    end: f64,
}

impl Walk<'_> {
    /// A message that somebody waits for is sent: returns its delivery, and the seconds for which it fills its
    /// receiver.
    fn received(&mut self, message: u32) -> (f64, f64) {
        let sent = self.sent[message as usize];
        let seconds = self.terminals.add(&self.workload.messages[message as usize], sent);
        (sent + (self.network.alone_s)(message), seconds)
    }

    /// Tasks below `endless`, each with its operations one after the other.
    fn sequences(&mut self, endless: u32) {
        let workload = self.workload;
        let mut tasks: Vec<Task> = (0..endless).map(|task| Task::at(workload.starts[task as usize])).collect();
        let mut waking: Vec<u32> = (0..endless).rev().collect();
        while let Some(task) = waking.pop() {
            self.advance(task, &mut tasks, &mut waking);
        }
    }

    /// Lets a task continue until it waits for a message that is not sent; appends the tasks that it wakes.
    fn advance(&mut self, task: u32, tasks: &mut [Task], waking: &mut Vec<u32>) {
        let (workload, mut own) = (self.workload, tasks[task as usize]);
        let end = workload.range(task).end as u32;
        while own.next < end {
            match workload.ops[own.next as usize].unpack() {
                Op::Send(message) => {
                    own.leave_group();
                    self.sent[message as usize] = own.time;
                    let target = workload.messages[message as usize].target;
                    if tasks.get(target as usize).is_some_and(|other| other.waits_for(message, workload)) {
                        waking.push(target);
                    }
                }
                Op::Receive(message) if self.sent[message as usize].is_nan() => break,
                Op::Receive(message) => {
                    let (delivered, seconds) = self.received(message);
                    own.group.add(self.sent[message as usize], seconds);
                    own.delivered = own.delivered.max(delivered);
                }
                Op::Compute(place) => {
                    own.leave_group();
                    own.time += workload.durations[place as usize];
                }
            }
            own.next += 1;
        }
        if own.next == end {
            own.leave_group();
            self.end = self.end.max(own.time);
        }
        tasks[task as usize] = own;
    }

    /// Operations that wait for each other as a file states.
    fn graph(&mut self, graph: &Graph) {
        let mut state = PendingOps {
            graph,
            needs: graph.needs.clone(),
            start: vec![0.0; graph.needs.len()],
            ready: (0u32..).zip(&graph.needs).filter(|(_, needs)| **needs == 0).map(|(op, _)| op).collect(),
        };
        let mut busy = vec![0.0; graph.processors.iter().max().map_or(0, |last| *last as usize + 1)];
        let mut begun = vec![false; self.workload.messages.len()];
        while let Some(op) = state.ready.pop() {
            let start = state.start[op as usize];
            state.release(op, ON_START, start);
            match self.workload.ops[op as usize].unpack() {
                Op::Send(message) => {
                    self.sent[message as usize] = start;
                    if begun[message as usize] {
                        self.deliver(message, &mut state);
                    }
                    state.release(op, 0, start);
                }
                Op::Receive(message) => {
                    begun[message as usize] = true;
                    if !self.sent[message as usize].is_nan() {
                        self.deliver(message, &mut state);
                    }
                }
                Op::Compute(place) => {
                    let (seconds, place) = (self.workload.durations[place as usize], place as usize);
                    busy[graph.processors[place] as usize] += seconds;
                    self.end = self.end.max(start + seconds);
                    state.release(op, 0, start + seconds);
                }
            }
        }
        self.end = busy.into_iter().fold(self.end, f64::max);
    }

    /// A message of a graph is sent, and its task waits for it or will not continue without it.
    fn deliver(&mut self, message: u32, state: &mut PendingOps) {
        let receive = state.graph.receives[message as usize];
        let (delivered, _) = self.received(message);
        let end = delivered.max(state.start[receive as usize]);
        self.end = self.end.max(end);
        state.release(receive, 0, end);
    }
}

/// How far a task is.
#[derive(Clone, Copy)]
struct Task {
    /// Its next operation.
    next: u32,
    /// When it can be done, but for the messages that the task waits for without doing anything in between: their
    /// `group`, of which the last is `delivered`.
    time: f64,
    group: Load,
    delivered: f64,
}

impl Task {
    fn at(next: u32) -> Self {
        Self { next, time: 0.0, group: Load::default(), delivered: 0.0 }
    }

    fn waits_for(&self, message: u32, workload: &Workload) -> bool {
        workload.ops.get(self.next as usize).is_some_and(|op| op.unpack() == Op::Receive(message))
    }

    /// All messages that it waits for have arrived, and have come through its terminal.
    fn leave_group(&mut self) {
        self.time = self.time.max(self.delivered).max(self.group.end());
        self.group = Load::default();
    }
}

/// Operations of a graph that wait.
struct PendingOps<'a> {
    graph: &'a Graph,
    needs: Vec<u32>,
    /// When each operation can begin, as far as that is known.
    start: Vec<f64>,
    /// Those that can begin.
    ready: Vec<u32>,
}

impl PendingOps<'_> {
    /// The followers of `op` with this mark can begin at `time`, as far as it goes.
    fn release(&mut self, op: u32, mark: u32, time: f64) {
        let graph = self.graph;
        for follower in graph.followers(op).iter().filter(|follower| **follower & ON_START == mark) {
            let follower = (follower & !ON_START) as usize;
            self.start[follower] = self.start[follower].max(time);
            self.needs[follower] -= 1;
            if self.needs[follower] == 0 {
                self.ready.push(follower as u32);
            }
        }
    }
}
