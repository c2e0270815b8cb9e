//! What a run of the flow engine reports: times of messages, use of channels, use over time, the critical path.

use std::collections::HashMap;

use serde::Serialize;

use super::FlowConfig;
use crate::memory::{on_large_pages, prefetch};
use crate::network::{LinkClass, Network, Peer, TerminalId};
use crate::workload::{Message, RunTimes, StepTimes};

/// Intervals of a [`Timeline`], at most.
const INTERVALS: usize = 256;
/// Steps of the critical path that are listed one by one.
pub(super) const PATH_STEPS: usize = 200;
/// Channels that are listed one by one.
const BUSIEST: usize = 10;
/// No cause: the start.
const START: u32 = u32::MAX;
/// Marks a cause that is a computation.
const COMPUTED: u32 = 1 << 31;
/// Marks a cause that is a message when it has left its task, not when it has arrived.
const LEFT: u32 = 1 << 30;

/// The results of a run. The names are the keys of the JSON.
#[derive(Debug, Clone, Serialize)]
pub struct FlowResult {
    /// The time at which the last task was done.
    pub makespan_s: f64,
    /// What it cannot be less than on any network: see [`ideal`](crate::workload::ideal).
    pub ideal_s: f64,
    /// Messages that went through the network.
    pub flows: u64,
    /// Messages between tasks of one terminal, which take no time.
    pub local_messages: u64,
    /// Instants at which something was complete.
    pub events: u64,
    /// How often the rate of a class of flows was recomputed.
    pub rate_changes: u64,
    /// The most classes of flows under way at a time.
    pub most_classes: usize,
    /// Their bytes, as far as they arrived.
    pub bytes: u64,
    /// False if the run was stopped before its end.
    pub completed: bool,
    /// How a regular collective was simulated without a list of its messages; nothing of others.
    pub symbolic: Option<Symbolic>,
    /// The seconds that steps of the critical path waited to be served together with others, as a part of their times. What
    /// such messages hold of their channels meanwhile, others lack: that comes on top.
    pub coalesced_s: f64,
    /// How long messages took.
    pub messages: Option<MessageTimes>,
    /// Channels by class: those between routers, and of terminals those that have a limit.
    pub channels: Vec<ChannelUse>,
    /// The busiest channels.
    pub busiest: Vec<BusyChannel>,
    /// Use over time.
    pub timeline: Timeline,
    /// What the makespan consists of: from the last thing that was done back to the start.
    pub critical_path: CriticalPath,
    /// Where the time of a training step went.
    pub step: Option<StepTimes>,
    /// The options.
    pub config: FlowConfig,
    /// The bytes of each channel; see [`Paths`](super::Paths) for their ids.
    #[serde(skip)]
    pub channel_bytes: Vec<f64>,
    /// When each message began, and when it was complete; not a number for one that never was.
    #[serde(skip)]
    pub times: Vec<[f64; 2]>,
    /// When each computation began and ended, by its operation.
    #[serde(skip)]
    pub computations: Vec<(u32, [f64; 2])>,
}

impl FlowResult {
    /// The times of all messages and computations.
    pub fn run_times(&self) -> RunTimes<'_> {
        RunTimes { messages: &self.times, computations: &self.computations, makespan_s: self.makespan_s }
    }
}

/// How a regular collective was simulated without a list of its messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Symbolic {
    /// `alike`: tasks that are alike share one entry; `delay-lines`: tasks whose flows share no channel pass on what reaches
    /// them after a fixed time; `lock-step`: all messages of a step end together; `at-once`: all messages begin together,
    /// and the rates of none change.
    pub way: &'static str,
    /// Tasks that were simulated. Of `alike` each stands for as many others.
    pub tasks: u32,
}

/// Times from a message's beginning to its completion.
#[derive(Debug, Clone, Serialize)]
pub struct MessageTimes {
    /// Their mean.
    pub mean_s: f64,
    /// Their median.
    pub p50_s: f64,
    /// Their 99th percentile.
    pub p99_s: f64,
    /// The longest.
    pub max_s: f64,
    /// The mean of the factors by which they are longer than at the rate of a link.
    pub mean_stretch: f64,
    /// The largest of these.
    pub max_stretch: f64,
}

impl MessageTimes {
    /// Of messages that took so long, each of which stands for `copies`; with the sum of their stretches, and the largest.
    pub(super) fn of(mut took: Vec<f64>, copies: u64, [stretches, max_stretch]: [f64; 2]) -> Option<Self> {
        let count = took.len() as u64 * copies;
        let last = count.checked_sub(1)?;
        let mut nth = |place: u64| *took.select_nth_unstable_by((place / copies) as usize, f64::total_cmp).1;
        let [p50_s, p99_s, max_s] = Self::ranks(last + 1).map(&mut nth);
        let mean = |sum: f64| sum / took.len() as f64;
        Some(Self { mean_s: mean(took.iter().sum()), p50_s, p99_s, max_s, mean_stretch: mean(stretches), max_stretch })
    }

    /// The positions of the median, the 99th percentile and the longest among this many sorted times: the least that this many per
    /// cent of them do not exceed.
    fn ranks(count: u64) -> [u64; 3] {
        [(count - 1) / 2, (count * 99).div_ceil(100) - 1, count - 1]
    }

    /// Of messages that took so long, this many each; `unit_s` is what their stretches are measured by.
    pub(super) fn weighted(mut took: Vec<(f64, u64)>, unit_s: f64) -> Self {
        took.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let count: u64 = took.iter().map(|(_, times)| times).sum();
        let nth = |place: u64| {
            let mut before = 0;
            let reaches = |(_, times): &&(f64, u64)| {
                before += times;
                before > place
            };
            took.iter().find(reaches).expect("there are as many").0
        };
        let mean_s = took.iter().map(|(seconds, times)| seconds * *times as f64).sum::<f64>() / count as f64;
        let [p50_s, p99_s, max_s] = Self::ranks(count).map(nth);
        Self { mean_s, p50_s, p99_s, max_s, mean_stretch: mean_s / unit_s, max_stretch: max_s / unit_s }
    }
}

/// Channels of one class.
#[derive(Debug, Clone, Serialize)]
pub struct ChannelUse {
    /// The class of their links; `injection` for channels from terminals.
    pub class: &'static str,
    /// How many there are.
    pub channels: usize,
    /// How many carried anything.
    pub used: usize,
    /// The bytes they carried, over what they could have carried until the end: the mean of all …
    pub mean_utilisation: f64,
    /// … and the largest.
    pub max_utilisation: f64,
}

/// A channel and its use.
#[derive(Debug, Clone, Serialize)]
pub struct BusyChannel {
    /// Its id.
    pub channel: u32,
    /// The router that sends; of a channel from a terminal the terminal.
    pub from: u32,
    /// The router's port.
    pub port: Option<u32>,
    /// The router or the terminal that receives.
    pub to: u32,
    /// The class, as in [`ChannelUse`].
    pub class: &'static str,
    /// The part of its capacity that was used.
    pub utilisation: f64,
}

impl BusyChannel {
    /// The channel with this id, of which this part is used.
    pub(super) fn of(network: &Network, channel: u32, utilisation: f64) -> Self {
        let ports = network.ports();
        let (from, port, to, class) = match ports.get(channel as usize) {
            Some(port) => {
                let to = match port.peer {
                    Peer::Port(peer) => ports[peer.index()].router.0,
                    Peer::Terminal(terminal) => terminal.0,
                };
                (port.router.0, Some(channel - network.port_base(port.router)), to, port.class.name())
            }
            None => {
                let terminal = TerminalId(channel - ports.len() as u32);
                (terminal.0, None, network.router_of(terminal).0, "injection")
            }
        };
        Self { channel, from, port, to, class, utilisation }
    }
}

/// Means over intervals of equal length, from the start on.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Timeline {
    /// Their length.
    pub interval_s: f64,
    /// Bytes per second of all flows.
    pub bytes_per_s: Vec<f64>,
    /// The mean utilisation of the channels between routers.
    pub utilisation: Vec<f64>,
    /// Flows under way.
    pub flows: Vec<f64>,
}

/// The chain of messages and computations that ends last: each began when the one before was complete, the first one at
/// the start. The times of all of them add up to the makespan.
#[derive(Debug, Clone, Default, Serialize)]
pub struct CriticalPath {
    /// Messages on it.
    pub messages: usize,
    /// Seconds of messages under way.
    pub message_s: f64,
    /// Of these, what the messages would have taken alone on their paths.
    pub alone_s: f64,
    /// Computations on it.
    pub computations: usize,
    /// Seconds of computing.
    pub compute_s: f64,
    /// The last steps, in the order of time.
    pub steps: Vec<Step>,
}

/// A step of the critical path.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Step {
    /// The id of a message; none of a computation.
    pub message: Option<u32>,
    /// The task that sends it.
    pub source: Option<u32>,
    /// The task that receives it.
    pub target: Option<u32>,
    /// When it began.
    pub start_s: f64,
    /// When it was complete.
    pub end_s: f64,
}

/// A computation under way, or done.
#[derive(Debug, Clone, Copy)]
struct Computation {
    cause: u32,
    start: f64,
    /// When it is complete.
    due: f64,
    /// When that is served, which lets others begin: at an instant, so not to the last bit when it is due.
    end: f64,
}

/// What is written down during a run.
pub(super) struct Record {
    /// Messages that each of those that are written down stands for.
    copies: u64,
    /// Bytes per second that messages alone are measured by.
    unit_rate: f64,
    ideal_s: f64,
    pub flows: u64,
    pub bytes: u64,
    pub local_messages: u64,
    pub events: u64,
    pub rate_changes: u64,
    pub most_classes: usize,
    pub channel_bytes: Vec<f64>,
    /// Where there are lines, what is carried besides from each channel on, and behind the last one that carries it less by so
    /// much.
    pub bytes_from: Vec<f64>,
    times: Vec<[f64; 2]>,
    causes: Vec<u32>,
    /// How much later than it was complete each message was served; empty unless completions are coalesced.
    late: Vec<f32>,
    computing: HashMap<u32, Computation>,
    /// The last thing that was done, as a cause.
    last: u32,
    timeline: Timeline,
    /// Rates of all flows now: of all, times the channels between routers, and their number.
    pub now: [f64; 3],
}

impl Record {
    pub fn new(channels: usize, messages: usize, config: &FlowConfig, unit_rate: f64, ideal_s: f64) -> Self {
        let late = if config.coalesce > 0.0 { messages } else { 0 };
        let mut times = on_large_pages(messages);
        times.resize(messages, [f64::NAN; 2]);
        let mut causes = on_large_pages(messages);
        causes.resize(messages, START);
        Self {
            copies: 1,
            unit_rate,
            ideal_s,
            flows: 0,
            bytes: 0,
            local_messages: 0,
            events: 0,
            rate_changes: 0,
            most_classes: 0,
            channel_bytes: vec![0.0; channels],
            bytes_from: Vec::new(),
            times,
            causes,
            late: vec![0.0; late],
            computing: HashMap::new(),
            last: START,
            timeline: Timeline::default(),
            now: [0.0; 3],
        }
    }

    /// The same where each message stands for this many.
    pub fn with_copies(self, copies: u32) -> Self {
        Self { copies: copies.into(), ..self }
    }

    /// The same where paths are runs along lines.
    pub fn by_runs(self) -> Self {
        let bytes_from = vec![0.0; self.channel_bytes.len() + 1];
        Self { bytes_from, ..self }
    }

    /// Where bytes of runs are noted.
    pub fn bytes_by_run(&self) -> &[f64] {
        if self.bytes_from.is_empty() { &self.channel_bytes } else { &self.bytes_from }
    }

    /// Adds what runs have carried to their channels.
    pub fn add_runs(&mut self) {
        let mut carried = 0.0;
        for (bytes, more) in self.channel_bytes.iter_mut().zip(&self.bytes_from) {
            carried += more;
            *bytes += carried;
        }
    }

    /// A message goes through the network.
    pub fn message_enters(&mut self) {
        self.flows += self.copies;
    }

    /// All bytes of a message have gone through.
    pub fn message_carried(&mut self, bytes: u64) {
        self.bytes += bytes * self.copies;
    }

    /// The cause of what a message lets begin.
    pub const fn by_message(message: u32) -> u32 {
        message
    }

    /// The cause of what a message lets begin when it has left its task.
    pub const fn by_leaving(message: u32) -> u32 {
        message | LEFT
    }

    /// The cause of what a computation lets begin.
    pub const fn by_computation(op: u32) -> u32 {
        op | COMPUTED
    }

    pub fn message_begins(&mut self, message: u32, now: f64, cause: u32) {
        self.times[message as usize] = [now, f64::NAN];
        self.causes[message as usize] = cause;
    }

    /// Asks for the memory of what is noted of a message.
    pub fn ask_for(&self, message: u32) {
        prefetch(&self.times, message as usize);
        prefetch(&self.late, message as usize);
        prefetch(&self.causes, message as usize);
    }

    /// A message is served at `now`.
    pub fn message_ends(&mut self, message: u32, now: f64) {
        self.times[message as usize][1] = now;
        self.last = Self::by_message(message);
    }

    /// The last flow of a message, or its latency, was complete earlier than it is served.
    pub fn served_late(&mut self, message: u32, seconds: f64) {
        if let Some(late) = self.late.get_mut(message as usize) {
            *late += seconds as f32;
        }
    }

    pub fn computation_begins(&mut self, op: u32, now: f64, seconds: f64, cause: u32) {
        let due = now + seconds;
        self.computing.insert(op, Computation { cause, start: now, due, end: due });
    }

    /// A computation is served at `now`.
    pub fn computation_ends(&mut self, op: u32, now: f64) {
        self.computing.get_mut(&op).expect("it has begun").end = now;
        self.last = Self::by_computation(op);
    }

    /// When a message began.
    pub fn begun(&self, message: u32) -> f64 {
        self.times[message as usize][0]
    }

    /// The rates stood still from one time to another.
    pub fn pass(&mut self, from: f64, to: f64) {
        self.spread(from, to, self.now);
    }

    /// A flow that was complete at `from` has waited until now; the rates that stood still counted it as well.
    pub fn carried_nothing(&mut self, from: f64, now: f64, rate: f64, between: u32) {
        self.spread(from, now, [-rate, -rate * f64::from(between), 0.0]);
    }

    /// Adds to the timeline what has had these rates for a time.
    pub fn spread(&mut self, from: f64, to: f64, rates: [f64; 3]) {
        if to <= from {
            return;
        }
        let line = &mut self.timeline;
        if line.interval_s == 0.0 {
            line.interval_s = to / INTERVALS as f64;
        }
        while to > line.interval_s * INTERVALS as f64 {
            line.interval_s *= 2.0;
            for series in [&mut line.bytes_per_s, &mut line.utilisation, &mut line.flows] {
                *series = series.chunks(2).map(|pair| pair.iter().sum()).collect();
            }
        }
        let interval = |time: f64| ((time / line.interval_s) as usize).min(INTERVALS - 1);
        let (first, last) = (interval(from), interval(to));
        for (series, rate) in [&mut line.bytes_per_s, &mut line.utilisation, &mut line.flows].into_iter().zip(rates) {
            series.resize(series.len().max(last + 1), 0.0);
            for (place, sum) in series.iter_mut().enumerate().take(last + 1).skip(first) {
                let start = (place as f64 * line.interval_s).max(from);
                let end = if place == last { to } else { (place + 1) as f64 * line.interval_s };
                *sum += rate * (end - start).max(0.0);
            }
        }
    }

    /// The result of a run on `network` that ended at `makespan`, with what messages are, and what each takes alone.
    pub fn finish(
        mut self,
        network: &Network,
        messages: &dyn Fn(u32) -> Message,
        alone_s: &dyn Fn(u32) -> f64,
        makespan: f64,
        completed: bool,
        config: &FlowConfig,
    ) -> FlowResult {
        let (critical_path, coalesced_s) = self.critical_path(messages, alone_s, config);
        let (channels, busiest) = self.channels(network, makespan, config);
        let of_op = |(op, own): (&u32, &Computation)| (*op, [own.start, own.end]);
        let mut computations: Vec<(u32, [f64; 2])> = self.computing.iter().map(of_op).collect();
        computations.sort_unstable_by_key(|(op, _)| *op);
        FlowResult {
            makespan_s: makespan,
            ideal_s: self.ideal_s,
            flows: self.flows,
            local_messages: self.local_messages,
            events: self.events,
            rate_changes: self.rate_changes,
            most_classes: self.most_classes,
            bytes: self.bytes,
            completed,
            symbolic: None,
            coalesced_s,
            messages: self.message_times(messages),
            channels,
            busiest,
            timeline: self.timeline(network, makespan, config),
            critical_path,
            step: None,
            config: config.clone(),
            channel_bytes: self.channel_bytes,
            times: self.times,
            computations,
        }
    }

    fn timeline(&mut self, network: &Network, makespan: f64, config: &FlowConfig) -> Timeline {
        let mut line = std::mem::take(&mut self.timeline);
        let channels = channel_rates(network, config);
        let last = line.flows.len().saturating_sub(1);
        if makespan <= last as f64 * line.interval_s * (1.0 + 1e-9) {
            // The end is a boundary: nothing is left for the last one.
            for series in [&mut line.bytes_per_s, &mut line.utilisation, &mut line.flows] {
                series.truncate(last);
            }
        }
        for place in 0..line.flows.len() {
            // The last interval is as long as there was anything under way.
            let length = if place == last { makespan - last as f64 * line.interval_s } else { line.interval_s };
            let mean = |sum: f64| if length > 0.0 { sum / length } else { 0.0 };
            line.bytes_per_s[place] = mean(line.bytes_per_s[place]);
            line.flows[place] = mean(line.flows[place]);
            line.utilisation[place] = if channels > 0.0 { mean(line.utilisation[place]) / channels } else { 0.0 };
        }
        line
    }

    fn message_times(&self, messages: &dyn Fn(u32) -> Message) -> Option<MessageTimes> {
        let done = || self.times.iter().zip(0u32..).filter(|(times, _)| times[1].is_finite());
        let mut took = Vec::with_capacity(self.times.len());
        took.extend(done().map(|([start, end], _)| end - start));
        let stretch = |([start, end], message): (&[f64; 2], u32)| {
            let bytes = messages(message).bytes;
            (bytes > 0).then(|| (end - start) / (bytes as f64 / self.unit_rate))
        };
        let stretches = done().filter_map(stretch).fold([0.0f64; 2], |[sum, most], own| [sum + own, most.max(own)]);
        MessageTimes::of(took, self.copies, stretches)
    }

    fn channels(&self, network: &Network, makespan: f64, config: &FlowConfig) -> (Vec<ChannelUse>, Vec<BusyChannel>) {
        let ports = network.ports();
        let class = |channel: usize| match ports.get(channel) {
            Some(port) => LinkClass::ALL.iter().position(|class| *class == port.class).expect("it is one of all"),
            None => LinkClass::ALL.len(),
        };
        let names = LinkClass::ALL.iter().map(|class| class.name()).chain(["injection"]);
        let none = |class| ChannelUse { class, channels: 0, used: 0, mean_utilisation: 0.0, max_utilisation: 0.0 };
        let mut uses: Vec<ChannelUse> = names.map(none).collect();
        // The busiest so far, in their order.
        let mut busiest: Vec<(f64, usize)> = Vec::with_capacity(BUSIEST + 1);
        let all = super::Paths::capacities(network, config).zip(&self.channel_bytes).enumerate();
        for (channel, (capacity, &bytes)) in all.filter(|(_, (capacity, _))| capacity.is_finite()) {
            let utilisation = if makespan > 0.0 { bytes / (capacity * makespan) } else { 0.0 };
            let of_class = &mut uses[class(channel)];
            of_class.channels += 1;
            of_class.used += usize::from(bytes > 0.0);
            of_class.mean_utilisation += utilisation;
            of_class.max_utilisation = of_class.max_utilisation.max(utilisation);
            if bytes > 0.0 && (busiest.len() < BUSIEST || busiest.last().is_some_and(|last| last.0 < utilisation)) {
                let place = busiest.partition_point(|other| other.0 >= utilisation);
                busiest.insert(place, (utilisation, channel));
                busiest.truncate(BUSIEST);
            }
        }
        uses.retain(|class| class.channels > 0);
        uses.iter_mut().for_each(|class| class.mean_utilisation /= class.channels as f64);
        let described = |&(utilisation, channel): &(f64, usize)| BusyChannel::of(network, channel as u32, utilisation);
        (uses, busiest.iter().map(described).collect())
    }

    /// The critical path, and how long its steps waited to be served together with others. Each step ends at the instant
    /// that lets the next one begin, so that together they take the makespan.
    fn critical_path(
        &self,
        messages: &dyn Fn(u32) -> Message,
        alone_s: &dyn Fn(u32) -> f64,
        config: &FlowConfig,
    ) -> (CriticalPath, f64) {
        let (mut path, mut coalesced, mut cause) = (CriticalPath::default(), 0.0, self.last);
        let mut until = f64::NAN;
        while cause != START {
            let (step, before) = if cause & COMPUTED == 0 {
                let left = cause & LEFT != 0;
                cause &= !LEFT;
                let (message, [start_s, arrived]) = (messages(cause), self.times[cause as usize]);
                let end_s = if left { until } else { arrived };
                path.messages += 1;
                path.message_s += end_s - start_s;
                // What waits for it to leave does not wait for its links.
                path.alone_s += if left { alone_s(cause).min(end_s - start_s) } else { alone_s(cause) };
                coalesced += f64::from(self.late.get(cause as usize).copied().unwrap_or(0.0));
                let ends = [message.source, message.target].map(Some);
                (
                    Step { message: Some(cause), source: ends[0], target: ends[1], start_s, end_s },
                    self.causes[cause as usize],
                )
            } else {
                let Computation { cause, start, due, end } = self.computing[&(cause & !COMPUTED)];
                path.computations += 1;
                path.compute_s += end - start;
                if config.coalesce > 0.0 {
                    coalesced += end - due;
                }
                (Step { message: None, source: None, target: None, start_s: start, end_s: end }, cause)
            };
            cause = before;
            until = step.start_s;
            if path.steps.len() < PATH_STEPS {
                path.steps.push(step);
            }
        }
        path.steps.reverse();
        (path, coalesced)
    }
}

/// Bytes per second of all channels between routers.
fn channel_rates(network: &Network, config: &FlowConfig) -> f64 {
    if !network.has_rates() {
        return 2.0 * network.links().len() as f64 * config.link_rate();
    }
    network.links().iter().map(|link| 2.0 * config.rate_of(network, link.ends[0])).sum()
}
