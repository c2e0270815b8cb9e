//! A workload on the terminals of a network, as the cycle engine runs it: messages cut into packets, times in cycles.
//!
//! What a task can send next depends on what it has received alone, so each domain keeps the progress of the tasks on
//! its own terminals, and no domain asks another. A terminal with several messages to send takes turns: a packet of
//! each.
//!
//! Where endpoints cost something ([`Endpoint`]), a message passes through its task and its interface before it is sent
//! and after it has arrived. One that shakes hands sends a packet of one flit first, and waits for another that comes
//! back. Where the data in flight has a limit, what exceeds it waits beside the queue ([`SendWindows`]).

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::sync::Arc;

use serde::Serialize;

use super::measurement::Point;
use super::send_window::{Acknowledgement, SendWindows, Transmission, WindowPlan};
use super::{Config, Run, Setup, Sizes};
use crate::catalogue::values;
use crate::error::{Error, Result};
use crate::network::{Network, TerminalId};
use crate::routing::{AnyRouting, NamedRouting};
use crate::traffic::Traffic;
use crate::watch::Control;
use crate::workload::{Endpoint, Endpoints, IdealNetwork, Mapping, Message, Progress, Ready, Workload, ideal};

/// Marks a terminal without a task.
const IDLE: u32 = u32::MAX;

/// What flits and cycles stand for.
#[derive(Debug, Clone, Copy)]
pub struct Units {
    /// Bytes of a flit.
    pub flit_bytes: u32,
    /// Bytes per second of a link: one flit per cycle.
    pub bytes_per_s: f64,
}

impl Units {
    /// Reads sizes as users write them: `64B`, `10Gb/s`.
    ///
    /// # Errors
    /// [`Error::Config`] for a size or a rate that is none.
    pub fn read(flit: &str, rate: &str) -> Result<Self> {
        let bytes = values::bytes(flit).and_then(|bytes| u32::try_from(bytes).ok());
        let flit_bytes = bytes.ok_or_else(|| {
            Error::Config(format!("flit is '{flit}'; it must be a number of bytes from 1 up, as in 64B"))
        })?;
        let bytes_per_s = values::rate(rate).ok_or_else(|| {
            Error::Config(format!("rate is '{rate}'; it must be bits or bytes per second, as in 10Gb/s or 25GB/s"))
        })?;
        Ok(Self { flit_bytes, bytes_per_s })
    }

    /// The same on `network`: where its links have rates, they set the length of a cycle.
    pub fn on(self, network: &Network) -> Self {
        network.clock_gbps().map_or(self, |gbps| Self { bytes_per_s: gbps * 1e9 / 8.0, ..self })
    }

    /// Seconds of a cycle.
    pub fn cycle_s(&self) -> f64 {
        f64::from(self.flit_bytes) / self.bytes_per_s
    }

    /// Flits of this many bytes.
    fn flits(&self, bytes: u64) -> u64 {
        bytes.div_ceil(self.flit_bytes.into())
    }

    /// A lower bound of the makespan of a workload: terminals send and receive one flit per cycle, and routers take no
    /// time.
    fn ideal_s(&self, workload: &Workload) -> f64 {
        let cycles = |bytes: u64| self.flits(bytes) as f64;
        ideal(
            workload,
            &IdealNetwork {
                send: self.bytes_per_s,
                receive: self.bytes_per_s,
                bytes: &|message| cycles(message.bytes) * f64::from(self.flit_bytes),
                alone_s: &|message| cycles(workload.messages()[message as usize].bytes) * self.cycle_s(),
            },
        )
    }

    /// When a cycle begins, in seconds.
    fn seconds(&self, cycle: u32) -> f64 {
        f64::from(cycle) * self.cycle_s()
    }

    /// Cycles of this many seconds, at least one.
    fn cycles(&self, seconds: f64) -> u64 {
        self.cycle(seconds).max(1)
    }

    /// The first cycle that does not begin before a time, to rounding.
    fn cycle(&self, seconds: f64) -> u64 {
        (seconds / self.cycle_s() - 1e-6).ceil() as u64
    }
}

/// A workload, where its tasks are, and how its messages are cut.
#[derive(Debug)]
pub struct WorkloadPlan {
    workload: Arc<Workload>,
    mapping: Mapping,
    /// The task of each terminal, or [`IDLE`].
    task_of: Vec<u32>,
    units: Units,
    /// Flits of a packet, but for the last of a message.
    packet: u32,
    /// What sending and receiving costs, unless all is free.
    endpoint: Option<Endpoint>,
    /// What may be in flight between two terminals, if that has a limit.
    window: Option<WindowPlan>,
}

impl WorkloadPlan {
    /// Bytes of a flit.
    pub fn flit_bytes(&self) -> u32 {
        self.units.flit_bytes
    }

    /// Puts `workload` on the terminals of `network`.
    ///
    /// # Errors
    /// [`Error::Config`] for options that a workload gives itself, for packets of several sizes, and for messages of more
    /// flits than can be counted.
    pub fn new(
        network: &Network,
        workload: Arc<Workload>,
        mapping: Mapping,
        units: Units,
        (endpoint, config): (Endpoint, &Config),
    ) -> Result<Self> {
        config.check_given("a workload")?;
        let Sizes::One(packet) = config.packet else {
            return Err(Error::Config(
                "a workload cuts its messages into packets of one size; give packet=16".to_owned(),
            ));
        };
        endpoint.check_cycles(u64::from(packet) * u64::from(units.flit_bytes))?;
        let endpoint = Some(endpoint).filter(|costs| !costs.is_free());
        let most = workload.messages().iter().map(|message| message.bytes).max().unwrap_or(0);
        let mut task_of = vec![IDLE; network.num_terminals()];
        for (task, terminal) in (0..).zip(mapping.terminals()) {
            task_of[terminal.index()] = task;
        }
        let plan = Self { workload, mapping, task_of, units, packet, endpoint, window: None };
        plan.check_most(most)?;
        Ok(plan)
    }

    /// The same with what its endpoints may have in flight, on a network that is set up.
    ///
    /// # Errors
    /// [`Error::Routing`](crate::error::Error::Routing) if the routing has a cycle, as custom tables may.
    pub fn with_window(self, network: &Network, routing: &AnyRouting, setup: &Setup) -> Result<Self> {
        let Some(bytes) = self.endpoint.as_ref().and_then(|costs| costs.window) else { return Ok(self) };
        let most = bytes / u64::from(self.units.flit_bytes);
        let window = WindowPlan::new(most, self.workload.messages(), &self.mapping, network, (routing, setup))?;
        Ok(Self { window: Some(window), ..self })
    }

    /// Rejects messages of more flits, and more messages, than can be counted.
    fn check_most(&self, most: u64) -> Result<()> {
        let flits = self.flits_of(most);
        if flits > u64::from(u32::MAX / 2) {
            return Err(Error::Config(format!(
                "a message of {most} bytes has {flits} flits of {} bytes; at most {} are possible: larger flits are fewer",
                self.units.flit_bytes,
                u32::MAX / 2
            )));
        }
        if self.workload.messages().len() > MESSAGE as usize {
            return Err(Error::Config(format!("more than {MESSAGE} messages cannot be numbered in packets")));
        }
        Ok(())
    }

    /// The task of a terminal.
    pub fn task_of(&self, terminal: TerminalId) -> Option<u32> {
        Some(self.task_of[terminal.index()]).filter(|task| *task != IDLE)
    }

    /// The terminals with a task.
    pub fn active(&self) -> u32 {
        self.task_of.iter().filter(|task| **task != IDLE).count() as u32
    }

    /// True unless the message is of a task that begins again and again.
    fn counts(&self, message: u32) -> bool {
        self.workload.messages()[message as usize].source < self.workload.endless()
    }

    fn flits(&self, message: u32) -> u32 {
        self.flits_of(self.workload.messages()[message as usize].bytes) as u32
    }

    /// The flits of this many bytes, with the headers of their packets.
    fn flits_of(&self, bytes: u64) -> u64 {
        let header = self.endpoint.as_ref().map_or(0, |costs| costs.header);
        if header == 0 || bytes == 0 {
            return self.units.flits(bytes);
        }
        let data = u64::from(self.packet) * u64::from(self.units.flit_bytes) - header;
        let others = bytes.div_ceil(data) - 1;
        others * u64::from(self.packet) + self.units.flits(bytes - others * data + header)
    }

    /// What a message's endpoints cost; nothing within a terminal.
    fn costs(&self, message: u32) -> Option<&Endpoint> {
        let Message { source, target, .. } = self.workload.messages()[message as usize];
        self.endpoint.as_ref().filter(|_| source != target)
    }
}

/// The bits of a packet that name its message.
const MESSAGE: u32 = REQUEST - 1;
/// Marks a packet that asks whether a message may be sent, …
const REQUEST: u32 = 1 << 30;
/// … and its answer.
const ANSWER: u32 = 1 << 31;

/// What happens at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// A computation ends.
    Computed(u32),
    /// A message, or a packet that asks or answers, can be sent.
    Send(u32),
    /// The request of a message has been taken in.
    Asked(u32),
    /// A message is at its terminal.
    Deliver(u32),
    /// A message has been taken in by its task.
    Received(u32),
}

/// How busy the endpoints of a domain are.
#[derive(Debug)]
struct Busy {
    ends: Endpoints,
    /// By the terminal's place, when its interface can begin its next packet, and when it has taken in what has come:
    /// cycles with parts.
    sends: Vec<f64>,
    receives: Vec<f64>,
}

/// When messages could be sent, and when they had arrived: (message, cycle).
#[derive(Debug, Clone, Default)]
pub struct Times {
    /// Cycles in which messages could first be sent.
    pub ready: Vec<(u32, u32)>,
    /// Cycles in which their last flits arrived.
    pub arrived: Vec<(u32, u32)>,
}

/// A packet to be sent.
pub struct MessagePacket {
    /// Its message, with what it is of it; given back by [`WorkloadDriver::arrived`].
    pub message: u32,
    /// Where it goes.
    pub destination: TerminalId,
}

/// The next packet of a terminal.
pub struct NextPacket {
    /// Its flits.
    pub flits: u32,
    /// The first cycle in which it may be sent.
    pub cycle: u32,
}

/// What the terminals of one domain have to send.
#[derive(Debug)]
pub struct WorkloadDriver {
    plan: Arc<WorkloadPlan>,
    progress: Progress<Arc<Workload>>,
    /// Of each task in the domain, its terminal's place there.
    places: Vec<u32>,
    /// Messages under way, by the terminal's place; the front one sends the next packet.
    queues: Vec<VecDeque<Transmission>>,
    /// Packets of each message that have not arrived.
    missing: Vec<u32>,
    /// What will happen, by its cycle.
    events: BinaryHeap<Reverse<(u64, Event)>>,
    /// What endpoints are doing, unless all is free.
    busy: Option<Busy>,
    /// What is in flight, if that has a limit.
    windows: Option<SendWindows>,
    /// What can begin; empty between calls.
    ready: Vec<Ready>,
    /// When messages were ready and arrived.
    pub times: Times,
    /// The cycle in which something last happened.
    pub last: u32,
}

impl WorkloadDriver {
    /// For these terminals.
    pub fn new(plan: &Arc<WorkloadPlan>, terminals: impl Iterator<Item = TerminalId>) -> Self {
        let mut places = vec![IDLE; plan.workload.tasks() as usize];
        let mut tasks = Vec::new();
        let mut count = 0;
        for (place, terminal) in (0..).zip(terminals) {
            count += 1;
            if let Some(task) = plan.task_of(terminal) {
                places[task as usize] = place;
                tasks.push(task);
            }
        }
        tasks.sort_unstable();
        let busy = plan.endpoint.as_ref().map(|costs| Busy {
            ends: Endpoints::new(costs, plan.workload.tasks() as usize),
            sends: vec![0.0; count],
            receives: vec![0.0; count],
        });
        Self {
            progress: Progress::of(Arc::clone(&plan.workload), tasks),
            places,
            queues: (0..count).map(|_| VecDeque::new()).collect(),
            missing: vec![0; plan.workload.messages().len()],
            events: BinaryHeap::new(),
            busy,
            windows: plan.window.as_ref().map(|window| SendWindows::new(window, plan.packet)),
            ready: Vec::new(),
            times: Times::default(),
            last: 0,
            plan: Arc::clone(plan),
        }
    }

    /// Begins; appends the positions of terminals that had nothing to send and now have.
    pub fn start(&mut self, wake: &mut Vec<u32>) {
        self.progress.start(&mut self.ready);
        self.begin(0, wake);
    }

    /// True once all tasks are done.
    pub fn finished(&self) -> bool {
        self.progress.finished()
    }

    /// The next packet of the terminal at `place` after one in `now`; `None` if it has nothing to send.
    #[inline]
    pub fn next(&self, place: u32, now: u32) -> Option<NextPacket> {
        let sending = self.queues[place as usize].front()?;
        let free = self.busy.as_ref().map_or(0, |busy| busy.sends[place as usize].ceil() as u32);
        Some(NextPacket { flits: sending.left.min(self.plan.packet), cycle: now.max(free) })
    }

    /// Takes the next packet of the terminal at `place`, which has one. What waits for the message to leave begins with
    /// its last packet, at the same terminal.
    pub fn take(&mut self, place: u32, now: u32) -> MessagePacket {
        let sending = self.queues[place as usize].pop_front();
        let Some(Transmission { marked, left }) = sending else { unreachable!("the terminal has a packet") };
        let flits = left.min(self.plan.packet);
        let left = left - flits;
        let message = marked & MESSAGE;
        if left > 0 {
            let rest = self.admit(Transmission { marked, left });
            self.queues[place as usize].extend(rest);
        } else if marked == message && self.progress.has_connections() {
            self.progress.left(message, &mut self.ready);
            self.begin(now, &mut Vec::new());
        }
        let takes = self.interface_cycles(flits);
        if let Some(busy) = &mut self.busy {
            let free = &mut busy.sends[place as usize];
            // One that has waited for its interface begins at that time, of which this is the cycle.
            *free = if free.ceil() >= f64::from(now) { *free } else { now.into() } + takes;
        }
        let ends = &self.plan.workload.messages()[message as usize];
        let target = if marked & ANSWER == 0 { ends.target } else { ends.source };
        MessagePacket { message: marked, destination: self.plan.mapping.terminal(target) }
    }

    /// The cycles that this many flits take at a terminal's interface.
    fn interface_cycles(&self, flits: u32) -> f64 {
        let Some(costs) = &self.plan.endpoint else { return 0.0 };
        let bytes = u64::from(flits) * u64::from(self.plan.units.flit_bytes);
        costs.per_byte_s * bytes as f64 / self.plan.units.cycle_s()
    }

    /// A packet's tail has arrived.
    pub fn arrived(&mut self, marked: u32, now: u32, wake: &mut Vec<u32>) {
        let message = marked & MESSAGE;
        if marked != message {
            let costs = self.plan.endpoint.as_ref().expect("free endpoints do not ask");
            let takes = self.plan.units.cycle(costs.latency_s + costs.overhead_s);
            let next = if marked & REQUEST == 0 { Event::Send(message) } else { Event::Asked(message) };
            self.events.push(Reverse((u64::from(now) + takes, next)));
            return self.tick(now, wake);
        }
        let flits = self.plan.flits(message);
        let missing = &mut self.missing[message as usize];
        *missing = if *missing == 0 { flits.div_ceil(self.plan.packet) } else { *missing } - 1;
        let last = *missing == 0;
        let place = self.places[self.plan.workload.messages()[message as usize].target as usize];
        // Whichever comes last counts as the short one.
        let flits = if last { (flits - 1) % self.plan.packet + 1 } else { self.plan.packet };
        let free = self.take_in(place, flits, now);
        self.acknowledge(message, flits, free);
        if !last {
            return;
        }
        match self.plan.costs(message) {
            None => self.received(message, now, wake),
            Some(costs) => {
                let takes = self.plan.units.cycle(costs.latency_s);
                self.events.push(Reverse((free + takes, Event::Deliver(message))));
                self.tick(now, wake);
            }
        }
    }

    /// An interface takes in a packet that has come: returns the cycle in which it has.
    fn take_in(&mut self, place: u32, flits: u32, now: u32) -> u64 {
        let takes = self.interface_cycles(flits);
        let Some(busy) = &mut self.busy else { return now.into() };
        let free = &mut busy.receives[place as usize];
        // A packet comes in while it arrives: no later than now if it comes alone and no faster than the interface
        // takes it.
        *free = (*free + takes).max(now.into());
        free.ceil() as u64
    }

    /// A packet has been taken in at `time`: its sender gets an acknowledgement.
    #[inline]
    fn acknowledge(&mut self, message: u32, flits: u32, time: u64) {
        let (Some(windows), Some(plan)) = (&mut self.windows, &self.plan.window) else { return };
        let Message { source, target, .. } = self.plan.workload.messages()[message as usize];
        let (time, to) = (time + u64::from(plan.back([source, target])), self.plan.mapping.terminal(source));
        let acknowledgement = Acknowledgement { time, message, flits, to };
        if self.places[source as usize] == IDLE {
            windows.abroad.push(acknowledgement);
        } else {
            windows.expect(acknowledgement);
        }
    }

    /// Takes the acknowledgements that are for terminals of other domains.
    pub fn take_abroad(&mut self) -> Vec<Acknowledgement> {
        self.windows.as_mut().map_or_else(Vec::new, |windows| std::mem::take(&mut windows.abroad))
    }

    /// An acknowledgement comes from another domain.
    pub fn expect(&mut self, acknowledgement: Acknowledgement) {
        self.windows.as_mut().expect("every domain has windows, or none").expect(acknowledgement);
    }

    /// Takes in the acknowledgements that are back; appends the positions of terminals that had nothing to send and now
    /// have.
    #[inline]
    pub fn take_acknowledgements(&mut self, now: u32, wake: &mut Vec<u32>) {
        let Some(windows) = &mut self.windows else { return };
        while let Some(Acknowledgement { message, flits, .. }) = windows.due(now) {
            let Message { source, target, .. } = self.plan.workload.messages()[message as usize];
            let place = self.places[source as usize];
            let queue = &mut self.queues[place as usize];
            let idle = queue.is_empty();
            windows.acknowledged([source, target], flits, queue);
            if idle && !queue.is_empty() {
                wake.push(place);
            }
        }
    }

    /// Gives back what can send its next packet now, unless it has to wait for its window.
    #[inline]
    fn admit(&mut self, sending: Transmission) -> Option<Transmission> {
        let Some(windows) = &mut self.windows else { return Some(sending) };
        if sending.marked & (REQUEST | ANSWER) != 0 {
            return Some(sending);
        }
        let Message { source, target, .. } = self.plan.workload.messages()[sending.marked as usize];
        windows.admit([source, target], sending)
    }

    /// Lets happen what is due.
    #[inline]
    pub fn tick(&mut self, now: u32, wake: &mut Vec<u32>) {
        while let Some(&Reverse((time, event))) = self.events.peek()
            && time <= now.into()
        {
            self.events.pop();
            match event {
                Event::Computed(op) => {
                    self.progress.computed(op, &mut self.ready);
                    self.begin(now, wake);
                }
                Event::Send(marked) => self.send(marked, wake),
                Event::Asked(message) => {
                    self.progress.asked(message, &mut self.ready);
                    self.begin(now, wake);
                }
                Event::Deliver(message) => self.deliver(message, now, wake),
                Event::Received(message) => self.received(message, now, wake),
            }
        }
    }

    /// A message is at its terminal: its task takes it in as soon as it is free.
    fn deliver(&mut self, message: u32, now: u32, wake: &mut Vec<u32>) {
        let Message { target, bytes, .. } = self.plan.workload.messages()[message as usize];
        let combined = if self.plan.workload.reduces(message) { bytes } else { 0 };
        let busy = self.busy.as_mut().expect("free endpoints deliver at once");
        let taken = self.plan.units.cycle(busy.ends.receive(target, combined, self.plan.units.seconds(now)));
        if taken <= now.into() {
            return self.received(message, now, wake);
        }
        self.events.push(Reverse((taken, Event::Received(message))));
    }

    fn received(&mut self, message: u32, now: u32, wake: &mut Vec<u32>) {
        if self.plan.counts(message) {
            self.times.arrived.push((message, now));
        }
        self.progress.delivered(message, &mut self.ready);
        self.begin(now, wake);
    }

    /// Queues a message, or a packet that asks or answers, at its terminal.
    fn send(&mut self, marked: u32, wake: &mut Vec<u32>) {
        let message = marked & MESSAGE;
        let ends = &self.plan.workload.messages()[message as usize];
        let place = self.places[if marked & ANSWER == 0 { ends.source } else { ends.target } as usize];
        let left = if marked == message { self.plan.flits(message) } else { 1 };
        let Some(sending) = self.admit(Transmission { marked, left }) else { return };
        let queue = &mut self.queues[place as usize];
        if queue.is_empty() {
            wake.push(place);
        }
        queue.push_back(sending);
    }

    /// A message can be sent: its task sends one after the other, its interface begins them with gaps, and a long one
    /// asks first.
    fn enter(&mut self, message: u32, now: u32, wake: &mut Vec<u32>) {
        let Some(costs) = self.plan.costs(message) else { return self.send(message, wake) };
        let Message { source, bytes, .. } = self.plan.workload.messages()[message as usize];
        let marked = if costs.shakes_hands(bytes) { message | REQUEST } else { message };
        let busy = self.busy.as_mut().expect("endpoints are not free");
        let sent = self.plan.units.cycle(busy.ends.send(source, self.plan.units.seconds(now)));
        if sent <= now.into() {
            return self.send(marked, wake);
        }
        self.events.push(Reverse((sent, Event::Send(marked))));
    }

    fn begin(&mut self, now: u32, wake: &mut Vec<u32>) {
        self.last = now;
        let mut ready = std::mem::take(&mut self.ready);
        for next in ready.drain(..) {
            match next {
                Ready::Message(message) => {
                    if self.plan.counts(message) {
                        self.times.ready.push((message, now));
                    }
                    self.enter(message, now, wake);
                }
                Ready::Answer(message) => self.send(message | ANSWER, wake),
                Ready::Compute { op, seconds } => {
                    let task = self.progress.task_of(op);
                    let busy = self.busy.as_ref();
                    let start = busy.map_or(now.into(), |busy| {
                        self.plan.units.cycle(busy.ends.compute(task, self.plan.units.seconds(now)))
                    });
                    self.events.push(Reverse((start + self.plan.units.cycles(seconds), Event::Computed(op))));
                }
            }
        }
        self.ready = ready;
    }
}

/// What came out of a workload.
#[derive(Debug, Clone, Serialize)]
pub struct WorkloadResult {
    /// Seconds from the start to the end of the last task; `None` if it did not come to its end.
    pub makespan_s: Option<f64>,
    /// The same in cycles.
    pub makespan_cycles: Option<u32>,
    /// What the makespan cannot be less than on any network: see [`ideal`].
    pub ideal_s: f64,
    /// Messages that arrived, but for those of tasks that begin again and again; so in all that follows.
    pub flows: u64,
    /// Packets that arrived.
    pub packets: u64,
    /// Cycles simulated.
    pub events: u64,
    /// Mean seconds from when a message can be sent to its arrival.
    pub message_mean_s: Option<f64>,
    /// Their 99th percentile.
    pub message_p99_s: Option<f64>,
    /// Mean seconds of a round, from when its first message can be sent until its last one has arrived.
    pub round_s: Option<f64>,
    /// Their 99th percentile.
    pub round_p99_s: Option<f64>,
    /// Mean number of routers that a packet of any task visits.
    pub hops: Option<f64>,
    /// Share of the makespan in which the busiest link between routers sent.
    pub link_utilisation_max: f64,
    /// The same, averaged over both directions of all links between routers.
    pub link_utilisation_mean: f64,
    /// True if packets can never move again.
    pub deadlocked: bool,
    /// True if it was cancelled.
    pub interrupted: bool,
    /// Flits through routers.
    pub flit_hops: u64,
    /// Seconds on the clock.
    pub wall_s: f64,
    /// Seconds of processor time.
    pub cpu_s: f64,
    /// The largest memory of the process so far, in bytes; 0 where the system does not report it.
    pub peak_rss_bytes: u64,
    /// (message, ready, arrived) of all messages that arrived, in seconds, by message.
    #[serde(skip)]
    pub messages: Vec<(u32, f64, f64)>,
}

impl WorkloadResult {
    fn new(point: Point, workload: &Workload, units: Units) -> Self {
        let seconds = |cycles: u32| f64::from(cycles) * units.cycle_s();
        // A message that is sent again has its times in the order in which it was sent.
        let mut of = point.message_times.arrived;
        let mut ready = point.message_times.ready;
        ready.sort_unstable();
        of.sort_unstable();
        let mut at = 0;
        let messages: Vec<(u32, f64, f64)> = of
            .into_iter()
            .map(|(message, arrived)| {
                while ready[at].0 != message {
                    at += 1;
                }
                at += 1;
                (message, seconds(ready[at - 1].1), seconds(arrived))
            })
            .collect();
        let latency = Spread::of(messages.iter().map(|(_, ready, arrived)| arrived - ready).collect());
        let all = workload.messages().iter().filter(|message| message.source < workload.endless()).count();
        let rounds = messages.chunk_by(|a, b| round_of(a.0, all, workload) == round_of(b.0, all, workload));
        let last = |round: &[(u32, f64, f64)]| round.iter().map(|message| message.2).fold(0.0, f64::max);
        let first = |round: &[(u32, f64, f64)]| round.iter().map(|message| message.1).fold(f64::MAX, f64::min);
        let round = Spread::of(rounds.map(|round| last(round) - first(round)).collect());
        Self {
            makespan_s: point.makespan_cycles.map(seconds),
            makespan_cycles: point.makespan_cycles,
            ideal_s: units.ideal_s(workload),
            flows: messages.len() as u64,
            packets: point.packets,
            events: point.cycles,
            message_mean_s: latency.map(|latency| latency.mean),
            message_p99_s: latency.map(|latency| latency.p99),
            round_s: round.map(|round| round.mean),
            round_p99_s: round.map(|round| round.p99),
            hops: point.hops,
            link_utilisation_max: point.link_utilisation_max,
            link_utilisation_mean: point.link_utilisation_mean,
            deadlocked: point.deadlocked,
            interrupted: point.interrupted,
            flit_hops: point.flit_hops,
            wall_s: point.wall_s,
            cpu_s: point.cpu_s,
            peak_rss_bytes: point.peak_rss_bytes,
            messages,
        }
    }
}

/// The round of a message, of `all` that count.
fn round_of(message: u32, all: usize, workload: &Workload) -> usize {
    message as usize * workload.rounds() as usize / all
}

/// Mean and 99th percentile.
#[derive(Debug, Clone, Copy)]
struct Spread {
    mean: f64,
    p99: f64,
}

impl Spread {
    fn of(mut values: Vec<f64>) -> Option<Self> {
        values.sort_unstable_by(f64::total_cmp);
        let count = values.len();
        let p99 = *values.get((count * 99).div_ceil(100).max(1) - 1)?;
        Some(Self { mean: values.iter().sum::<f64>() / count as f64, p99 })
    }
}

/// A workload that has been checked but not started.
#[derive(Debug)]
pub struct WorkloadRun {
    run: Run,
    workload: Arc<Workload>,
    units: Units,
}

impl WorkloadRun {
    /// Checks everything that can be checked before running.
    ///
    /// # Errors
    /// Those of [`Run::of`] and [`WorkloadPlan::new`].
    pub fn new(
        network: &Network,
        routing: &Arc<NamedRouting>,
        workload: Arc<Workload>,
        mapping: Mapping,
        units: Units,
        (endpoint, config): (Endpoint, &Config),
    ) -> Result<Self> {
        let workload = workload.into_listed()?;
        let plan = WorkloadPlan::new(network, Arc::clone(&workload), mapping, units, (endpoint, config))?;
        let silent = Arc::new(Traffic::silent(network.num_terminals() as u32));
        Ok(Self { run: Run::with(network, routing, (&silent, Some(plan)), 0.0, config)?, workload, units })
    }

    /// The options with everything filled in.
    pub fn config(&self) -> &Config {
        self.run.config()
    }

    /// Runs the workload to its end.
    ///
    /// # Errors
    /// Those of [`Run::run`].
    pub fn run(&self, network: &Network, control: &dyn Control) -> Result<WorkloadResult> {
        Ok(WorkloadResult::new(self.run.run(network, control)?, &self.workload, self.units))
    }
}
