//! A workload on the terminals of a network, as the cycle engine runs it: messages cut into packets, times in cycles.
//!
//! What a task can send next depends on what it has received alone, so each domain keeps the progress of the tasks on its
//! own terminals, and no domain asks another. A terminal with several messages to send takes turns: a packet of each.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::sync::Arc;

use serde::Serialize;

use super::measurement::Point;
use super::{Config, Run, Sizes};
use crate::catalogue::values;
use crate::error::{Error, Result};
use crate::network::{Network, TerminalId};
use crate::routing::NamedRouting;
use crate::traffic::Traffic;
use crate::watch::Control;
use crate::workload::{IdealNetwork, Mapping, Progress, Ready, Workload, ideal};

/// Marks a terminal without a task.
const IDLE: u32 = u32::MAX;

/// What flits and cycles stand for.
#[derive(Debug, Clone, Copy)]
pub struct Units {
    /// Bytes of a flit.
    pub flit_bytes: u32,
    /// Bytes a second of a link: one flit per cycle.
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
            Error::Config(format!("rate is '{rate}'; it must be bits or bytes a second, as in 10Gb/s or 25GB/s"))
        })?;
        Ok(Self { flit_bytes, bytes_per_s })
    }

    /// The same on `network`: where its links have rates, a cycle is a flit at the fastest one's.
    pub fn on(self, network: &Network) -> Self {
        network.fastest_gbps().map_or(self, |gbps| Self { bytes_per_s: gbps * 1e9 / 8.0, ..self })
    }

    /// Seconds of a cycle.
    pub fn cycle_s(&self) -> f64 {
        f64::from(self.flit_bytes) / self.bytes_per_s
    }

    /// Flits of so many bytes.
    fn flits(&self, bytes: u64) -> u64 {
        bytes.div_ceil(self.flit_bytes.into())
    }

    /// A lower bound of the makespan of a workload: terminals send and receive a flit a cycle, and routers take no time.
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

    /// Cycles of so many seconds.
    fn cycles(&self, seconds: f64) -> u64 {
        (seconds / self.cycle_s()).ceil().max(1.0) as u64
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
        config: &Config,
    ) -> Result<Self> {
        config.check_given("a workload")?;
        let Sizes::One(packet) = config.packet else {
            return Err(Error::Config(
                "a workload cuts its messages into packets of one size; give packet=16".to_owned(),
            ));
        };
        let most = workload.messages().iter().map(|message| message.bytes).max().unwrap_or(0);
        if units.flits(most) > u64::from(u32::MAX / 2) {
            return Err(Error::Config(format!(
                "a message of {most} bytes has {} flits of {} bytes; at most {} are possible: larger flits are fewer",
                units.flits(most),
                units.flit_bytes,
                u32::MAX / 2
            )));
        }
        let mut task_of = vec![IDLE; network.num_terminals()];
        for (task, terminal) in (0..).zip(mapping.terminals()) {
            task_of[terminal.index()] = task;
        }
        Ok(Self { workload, mapping, task_of, units, packet })
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
        self.units.flits(self.workload.messages()[message as usize].bytes) as u32
    }
}

/// A message that a terminal is sending.
#[derive(Debug)]
struct Transmission {
    message: u32,
    /// Flits that have not been sent.
    left: u32,
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
    /// Its message.
    pub message: u32,
    /// Where it goes.
    pub destination: TerminalId,
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
    /// Computations by the cycle in which they end.
    computing: BinaryHeap<Reverse<(u64, u32)>>,
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
        Self {
            progress: Progress::of(Arc::clone(&plan.workload), tasks),
            places,
            queues: (0..count).map(|_| VecDeque::new()).collect(),
            missing: vec![0; plan.workload.messages().len()],
            computing: BinaryHeap::new(),
            ready: Vec::new(),
            times: Times::default(),
            last: 0,
            plan: Arc::clone(plan),
        }
    }

    /// Begins; appends the places of terminals that had nothing to send and now have.
    pub fn start(&mut self, wake: &mut Vec<u32>) {
        self.progress.start(&mut self.ready);
        self.begin(0, wake);
    }

    /// True once all tasks are done.
    pub fn finished(&self) -> bool {
        self.progress.finished()
    }

    /// The flits of the next packet of the terminal at `place`; `None` if it has nothing to send.
    #[inline]
    pub fn next_size(&self, place: u32) -> Option<u32> {
        self.queues[place as usize].front().map(|sending| sending.left.min(self.plan.packet))
    }

    /// Takes the next packet of the terminal at `place`, which has one. What waits for the message to leave begins with its
    /// last packet, at the same terminal.
    pub fn take(&mut self, place: u32, now: u32) -> MessagePacket {
        let queue = &mut self.queues[place as usize];
        let Some(Transmission { message, left }) = queue.pop_front() else { unreachable!("the terminal has a packet") };
        let left = left - left.min(self.plan.packet);
        if left > 0 {
            queue.push_back(Transmission { message, left });
        } else if self.progress.has_connections() {
            self.progress.left(message, &mut self.ready);
            self.begin(now, &mut Vec::new());
        }
        let target = self.plan.workload.messages()[message as usize].target;
        MessagePacket { message, destination: self.plan.mapping.terminal(target) }
    }

    /// A packet's tail has arrived.
    pub fn arrived(&mut self, message: u32, now: u32, wake: &mut Vec<u32>) {
        let packets = self.plan.flits(message).div_ceil(self.plan.packet);
        let missing = &mut self.missing[message as usize];
        *missing = if *missing == 0 { packets } else { *missing } - 1;
        if *missing == 0 {
            if self.plan.counts(message) {
                self.times.arrived.push((message, now));
            }
            self.progress.delivered(message, &mut self.ready);
            self.begin(now, wake);
        }
    }

    /// Ends the computations that are due.
    #[inline]
    pub fn tick(&mut self, now: u32, wake: &mut Vec<u32>) {
        while let Some(&Reverse((time, op))) = self.computing.peek()
            && time <= now.into()
        {
            self.computing.pop();
            self.progress.computed(op, &mut self.ready);
            self.begin(now, wake);
        }
    }

    fn begin(&mut self, now: u32, wake: &mut Vec<u32>) {
        self.last = now;
        let mut ready = std::mem::take(&mut self.ready);
        for next in ready.drain(..) {
            match next {
                Ready::Message(message) => {
                    let place = self.places[self.plan.workload.messages()[message as usize].source as usize];
                    let queue = &mut self.queues[place as usize];
                    if queue.is_empty() {
                        wake.push(place);
                    }
                    queue.push_back(Transmission { message, left: self.plan.flits(message) });
                    if self.plan.counts(message) {
                        self.times.ready.push((message, now));
                    }
                }
                Ready::Compute { op, seconds } => {
                    self.computing.push(Reverse((u64::from(now) + self.plan.units.cycles(seconds), op)));
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
        config: &Config,
    ) -> Result<Self> {
        let workload = workload.into_listed()?;
        let plan = WorkloadPlan::new(network, Arc::clone(&workload), mapping, units, config)?;
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
