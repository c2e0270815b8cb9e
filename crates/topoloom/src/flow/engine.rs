//! From instant to instant: what is complete, what begins, and the rates until the next completion.

use std::cmp::Ordering;
use std::collections::hash_map::Entry;
use std::collections::{BinaryHeap, HashMap, VecDeque};
use std::hash::{BuildHasherDefault, Hasher};

use super::adaptive::{AdaptivePaths, Part};
use super::lines::Lines;
use super::rates::TOGETHER;
use super::record::Record;
use super::schedule::{HasTimes, Schedule, Times};
use super::symbolic::{self, Alike};
use super::uncongested::Alone;
use super::{FlowConfig, FlowResult, Paths, Rates, Sharing, check_ends};
use crate::error::{Error, Result};
use crate::memory::{available_memory, on_large_pages, prefetch, prefetch_whole};
use crate::network::{Network, TerminalId};
use crate::rng::mix;
use crate::routing::AnyRouting;
use crate::watch::Control;
use crate::workload::{Endpoints, Mapping, Message, Progress, Ready, Workload, ideal, ideal_at_once, step_times};

/// What begins when.
pub trait Script {
    /// Appends what begins at the start.
    fn start(&mut self, out: &mut Vec<Ready>);

    /// A message was delivered: appends what that lets begin.
    fn delivered(&mut self, message: u32, out: &mut Vec<Ready>);

    /// These messages are soon delivered: asks for the memory that this needs.
    fn ahead(&self, _messages: &mut dyn Iterator<Item = u32>) {}

    /// All of a message has left its task: appends what that lets begin. Called where [`Script::waits_for_leaving`].
    fn left(&mut self, _message: u32, _out: &mut Vec<Ready>) {}

    /// True if something may wait for messages to leave their tasks.
    fn waits_for_leaving(&self) -> bool {
        false
    }

    /// A message asks its target whether it may come: appends the answer once its receive is posted.
    fn asked(&mut self, message: u32, out: &mut Vec<Ready>);

    /// A computation has ended: appends what that lets begin.
    fn computed(&mut self, op: u32, out: &mut Vec<Ready>);

    /// True once all is done that is to be waited for.
    fn finished(&self) -> bool;

    /// The task of an operation.
    fn task_of(&self, op: u32) -> u32;
}

impl<W: AsRef<Workload>> Script for Progress<W> {
    fn start(&mut self, out: &mut Vec<Ready>) {
        self.start(out);
    }

    fn delivered(&mut self, message: u32, out: &mut Vec<Ready>) {
        self.delivered(message, out);
    }

    fn left(&mut self, message: u32, out: &mut Vec<Ready>) {
        self.left(message, out);
    }

    fn ahead(&self, messages: &mut dyn Iterator<Item = u32>) {
        self.ahead(messages);
    }

    fn waits_for_leaving(&self) -> bool {
        self.has_connections()
    }

    fn asked(&mut self, message: u32, out: &mut Vec<Ready>) {
        self.asked(message, out);
    }

    fn computed(&mut self, op: u32, out: &mut Vec<Ready>) {
        self.computed(op, out);
    }

    fn finished(&self) -> bool {
        self.finished()
    }

    fn task_of(&self, op: u32) -> u32 {
        self.task_of(op)
    }
}

/// This many messages, all sent at the start.
#[derive(Debug)]
pub struct AtOnce {
    left: u32,
}

impl Script for AtOnce {
    fn start(&mut self, out: &mut Vec<Ready>) {
        out.extend((0..self.left).map(Ready::Message));
    }

    fn delivered(&mut self, _message: u32, _out: &mut Vec<Ready>) {
        self.left -= 1;
    }

    fn asked(&mut self, message: u32, out: &mut Vec<Ready>) {
        out.push(Ready::Answer(message));
    }

    fn computed(&mut self, _op: u32, _out: &mut Vec<Ready>) {}

    fn finished(&self) -> bool {
        self.left == 0
    }

    fn task_of(&self, _op: u32) -> u32 {
        unreachable!("messages that are all sent at the start wait for no computation")
    }
}

/// Runs a workload, its tasks on the terminals that `mapping` states.
///
/// # Errors
/// [`Error::TooLarge`] if the flows under way would not fit in memory; [`Error::Workload`] if tasks wait for what never
/// comes, or send messages more than once.
pub fn run(
    network: &Network,
    routing: &AnyRouting,
    workload: &Workload,
    mapping: &Mapping,
    config: &FlowConfig,
    control: &dyn Control,
) -> Result<FlowResult> {
    check_workload(workload)?;
    check_window(network, config)?;
    if let Some(result) = symbolic::run(network, routing, workload, mapping, config, control)? {
        return Ok(result);
    }
    let workload = workload.listed()?;
    let ends = |message: u32| {
        let Message { source, target, .. } = workload.messages()[message as usize];
        [mapping.terminal(source), mapping.terminal(target)]
    };
    let alone = Alone::new(network, routing, workload.messages(), &ends, config);
    let ideal_s = alone.bound(|network| ideal(workload, network));
    let reduces = |message: u32| workload.reduces(message);
    let message = |id: u32| workload.messages()[id as usize];
    let alone_s = |id: u32| alone.on_idle_paths(&message(id), ends(id));
    let result = shorter(|detours, most_s| {
        let facts = Facts::listed(workload.messages(), &message, &ends, &reduces, &alone_s);
        let engine = Engine::new(network, routing, facts, config, ideal_s, detours).until(most_s);
        engine.run(&mut Progress::new(workload), control)
    })?;
    let step = step_times(workload, result.run_times()).filter(|_| result.completed);
    Ok(FlowResult { step, ..result })
}

/// The run in which an adaptive routing makes detours, or that in which all take the paths of an idle network, if it is
/// shorter: packets decide one by one, and go back to minimal paths where detours do not pay, which messages that begin
/// one after another cannot. The second run ends as soon as it takes as long as the first.
fn shorter(run: impl Fn(bool, f64) -> Result<(FlowResult, bool)>) -> Result<FlowResult> {
    let (adapted, diverted) = run(true, f64::INFINITY)?;
    if !diverted || !adapted.completed {
        return Ok(adapted);
    }
    let (direct, _) = run(false, adapted.makespan_s)?;
    Ok(if direct.completed && direct.makespan_s < adapted.makespan_s { direct } else { adapted })
}

/// Rejects a workload that sends messages more than once: times and causes are kept by message.
///
/// # Errors
/// [`Error::Workload`].
pub fn check_workload(workload: &Workload) -> Result<()> {
    if !workload.repeats() {
        return Ok(());
    }
    Err(Error::Workload(format!(
        "{} repeats messages until other tasks are done, which the flow engine does not model; give engine cycle",
        workload.spec()
    )))
}

/// Rejects a limit of the data in flight where nothing is ever in flight.
fn check_window(network: &Network, config: &FlowConfig) -> Result<()> {
    let limited = config.endpoint.as_ref().is_some_and(|costs| costs.window.is_some());
    if !limited || config.latency_s > 0.0 || network.has_delays() {
        return Ok(());
    }
    Err(Error::Config(format!(
        "the endpoint's window limits nothing on {} in the flow engine: its links have no delay; give latency=100ns to the \
         flow engine, or delays to the network",
        network.spec()
    )))
}

/// Runs flows (source, target, bytes) that all begin at the start.
///
/// # Errors
/// As [`run`], and [`Error::Config`] for an end that is no terminal.
pub fn run_flows(
    network: &Network,
    routing: &AnyRouting,
    flows: &[Message],
    config: &FlowConfig,
    control: &dyn Control,
) -> Result<FlowResult> {
    check_ends(network, flows.iter().map(|flow| [flow.source, flow.target]))?;
    let ends = |flow: u32| {
        let Message { source, target, .. } = flows[flow as usize];
        [TerminalId(source), TerminalId(target)]
    };
    let alone = Alone::new(network, routing, flows, &ends, config);
    let message = |id: u32| flows[id as usize];
    let alone_s = |id: u32| alone.on_idle_paths(&message(id), ends(id));
    let ideal_s = alone.bound(|on| ideal_at_once(flows, network.num_terminals(), on));
    shorter(|detours, most_s| {
        let facts = Facts { in_order: false, ..Facts::listed(flows, &message, &ends, &|_| true, &alone_s) };
        let engine = Engine::new(network, routing, facts, config, ideal_s, detours).until(most_s);
        engine.run(&mut AtOnce { left: flows.len() as u32 }, control)
    })
}

/// The flows of a class that are under way. Each is complete once every flow of the class has got as many bytes as its
/// *goal*; the lowest goal stands here, others in [`Engine::more`].
#[derive(Debug, Clone, Copy)]
struct Flight {
    /// Bytes that each flow of the class had got at `since`.
    served: f64,
    since: f64,
    rate: f64,
    goal: f64,
    /// When the next of its flows is complete, where parts do not share bytes.
    times: Times,
    message: u32,
    /// Channels between routers.
    between: u32,
    /// The task that its messages come from, where one stands for others; else 0.
    kind: u32,
}

/// What else is known of a class, and seldom needed.
#[derive(Debug, Clone, Copy)]
struct OfPath {
    /// What the links of its path take.
    delay_s: f64,
    hash: u64,
}

impl HasTimes for Rates<Flight> {
    #[inline]
    fn times(&mut self, of: u32) -> &mut Times {
        &mut self.own_mut(of).times
    }

    fn ask_for(&self, of: u32) {
        self.ask_for(of);
    }

    fn ids(&self) -> usize {
        self.ids() as usize
    }
}

impl HasTimes for Vec<Pool> {
    fn times(&mut self, of: u32) -> &mut Times {
        &mut self[of as usize].times
    }

    fn ask_for(&self, of: u32) {
        prefetch_whole(self, of as usize);
    }

    fn ids(&self) -> usize {
        self.len()
    }
}

/// A flow that is about to begin.
#[derive(Debug, Clone, Copy)]
struct Fresh {
    message: u32,
    bytes: f64,
    between: u32,
    /// Where its path ends among those that begin with it.
    end: usize,
}

/// A message whose parts share its bytes: each carries as much as its rate allows, as packets do that are sent to
/// whatever path takes them. It is complete once all of them together have carried its bytes.
#[derive(Debug)]
struct Pool {
    message: u32,
    bytes: f64,
    /// Bytes that its parts had carried at `since`.
    served: f64,
    since: f64,
    /// Of all parts together.
    rate: f64,
    /// How often it was changed since it was summed up.
    added: u32,
    /// What the links of its longest path take.
    delay_s: f64,
    /// Waits to be queued.
    noted: bool,
    /// Backlogs do not have its rates yet.
    stale: bool,
    /// When it is complete.
    times: Times,
    parts: Vec<PoolPart>,
}

/// A part of a message in a pool.
#[derive(Debug, Clone, Copy)]
struct PoolPart {
    class: u32,
    /// What each flow of its class had got when it began.
    before: f64,
    /// What it is expected to carry: the channels' backlogs count so much of it, less what it has carried.
    expected: f64,
}

/// What happens at a time of its own.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Event {
    /// A message enters the network.
    Begin(u32),
    /// The request of a message is at its target.
    Asked(u32),
    /// A message is at its terminal.
    Deliver(u32),
    /// The task has taken a message in.
    Received(u32),
    Computed(u32),
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Timer {
    time: f64,
    /// The order of equal times is that in which they were set.
    number: u64,
    event: Event,
}

/// A goal and the message that it completes.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Goal(f64, u32);

macro_rules! earliest_first {
    ($type:ty, $this:ident => $key:expr) => {
        impl Eq for $type {}

        impl Ord for $type {
            fn cmp(&self, other: &Self) -> Ordering {
                let key = |$this: &Self| $key;
                let ((a, x), (b, y)) = (key(self), key(other));
                b.total_cmp(&a).then(y.cmp(&x))
            }
        }

        impl PartialOrd for $type {
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                Some(self.cmp(other))
            }
        }
    };
}

earliest_first!(Timer, timer => (timer.time, timer.number));
earliest_first!(Goal, goal => (goal.0, goal.1));

/// Hashes of paths are mixed already.
#[derive(Default)]
struct PathHasher(u64);

impl Hasher for PathHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _bytes: &[u8]) {
        unreachable!("only 64-bit keys are hashed")
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = value;
    }
}

/// Tasks, or terminals, that messages name.
fn tasks(messages: &[Message]) -> usize {
    messages.iter().map(|message| 1 + message.source.max(message.target) as usize).max().unwrap_or(0)
}

/// Completions that differ by less than this part of the time are at the same instant.
const SAME: f64 = 1e-12;
/// The rate of a pool is summed up again when it was changed more often.
const ADDED: u32 = 256;
/// Where no line has more channels, paths are kept channel by channel.
const SHORT: usize = 4;
/// Among this many classes one on the same path is looked for one by one.
const FEW: usize = 8;
/// Bytes of memory that a flow takes, and for each channel of its path.
const FLOW_BYTES: f64 = 200.0;
const HOP_BYTES: f64 = 24.0;

/// Takes a message, its terminals and its channels.
pub(super) type PathObserver<'a> = &'a dyn Fn(u32, [TerminalId; 2], &[u32]);

/// What is known of messages by their ids.
#[derive(Clone, Copy)]
pub(super) struct Facts<'a> {
    /// How many messages there are.
    pub messages: usize,
    /// How many tasks send and receive them.
    pub tasks: usize,
    pub message: &'a dyn Fn(u32) -> Message,
    /// Their terminals.
    pub ends: &'a dyn Fn(u32) -> [TerminalId; 2],
    /// Whether receivers combine them with what they have.
    pub reduces: &'a dyn Fn(u32) -> bool,
    /// The seconds that each takes alone.
    pub alone_s: &'a dyn Fn(u32) -> f64,
    /// Whether parts that share the bytes of a message wait for those of the message before between the same two tasks.
    pub in_order: bool,
    /// Called with the path of each message that begins.
    pub noted: Option<PathObserver<'a>>,
}

impl<'a> Facts<'a> {
    /// Those of listed messages.
    fn listed(
        messages: &[Message],
        message: &'a dyn Fn(u32) -> Message,
        ends: &'a dyn Fn(u32) -> [TerminalId; 2],
        reduces: &'a dyn Fn(u32) -> bool,
        alone_s: &'a dyn Fn(u32) -> f64,
    ) -> Self {
        let (in_order, noted) = (true, None);
        Self { messages: messages.len(), tasks: tasks(messages), message, ends, reduces, alone_s, in_order, noted }
    }
}

/// Messages under way whose parts share their bytes.
#[derive(Debug, Default)]
struct Pools {
    pools: Vec<Pool>,
    /// Pools without a message, to be used again.
    unused: Vec<u32>,
    by_message: HashMap<u32, u32>,
    /// The pools that have parts in each class, once for each part.
    of_class: Vec<Vec<u32>>,
    /// Pools with a part whose rate has changed: those that are to be queued, and those that backlogs do not know yet.
    noted: Vec<u32>,
    stale: Vec<u32>,
    /// What waits behind the message that a task is sending to another.
    behind: HashMap<[u32; 2], VecDeque<u32>>,
}

impl Pools {
    /// The pool of a message, which begins with its first part.
    fn of(&mut self, message: u32, bytes: f64, now: f64) -> u32 {
        if let Some(&known) = self.by_message.get(&message) {
            return known;
        }
        let fresh = Pool {
            message,
            bytes,
            served: 0.0,
            since: now,
            rate: 0.0,
            added: 0,
            delay_s: 0.0,
            noted: false,
            stale: false,
            times: Times::NEVER,
            parts: Vec::new(),
        };
        let id = match self.unused.pop() {
            Some(id) => {
                let own = &mut self.pools[id as usize];
                *own = Pool { parts: std::mem::take(&mut own.parts), times: own.times, ..fresh };
                id
            }
            None => {
                self.pools.push(fresh);
                self.pools.len() as u32 - 1
            }
        };
        self.by_message.insert(message, id);
        id
    }

    /// A part of a pool joins a class of that rate.
    fn join(&mut self, pool: u32, part: PoolPart, [rate, delay_s]: [f64; 2], now: f64) {
        let own = &mut self.pools[pool as usize];
        own.delay_s = own.delay_s.max(delay_s);
        let class = part.class as usize;
        own.parts.push(part);
        if self.of_class.len() <= class {
            self.of_class.resize(class + 1, Vec::new());
        }
        self.of_class[class].push(pool);
        self.change(pool, rate, now);
    }

    /// Changes the rate of one part of a pool.
    fn change(&mut self, pool: u32, more: f64, now: f64) {
        let own = &mut self.pools[pool as usize];
        own.served += own.rate * (now - own.since);
        own.since = now;
        own.rate += more;
        own.added += 1;
        if !std::mem::replace(&mut own.noted, true) {
            self.noted.push(pool);
        }
        if !std::mem::replace(&mut own.stale, true) {
            self.stale.push(pool);
        }
    }

    /// Changes the rate of each part in a class.
    fn change_class(&mut self, class: u32, more: f64, now: f64) {
        for place in 0..self.of_class[class as usize].len() {
            self.change(self.of_class[class as usize][place], more, now);
        }
    }
}

pub(super) struct Engine<'a> {
    network: &'a Network,
    facts: Facts<'a>,
    config: &'a FlowConfig,
    paths: Paths<'a>,
    /// Where sending and receiving costs something.
    endpoints: Option<Endpoints>,
    /// Where the routing decides by congestion.
    adaptive: Option<AdaptivePaths>,
    /// At what places [`Engine::rates`] and the record keep channels.
    lines: Lines,
    rates: Rates<Flight>,
    of_paths: Vec<OfPath>,
    /// Goals beyond the lowest, by class.
    more: HashMap<u32, BinaryHeap<Goal>>,
    /// Classes by the hash of their path, where all its channels had [more](FEW) as they began. One that began among fewer
    /// may be missed later: another class on its path then has the same rate.
    by_path: HashMap<u64, u32, BuildHasherDefault<PathHasher>>,
    /// Parts that are under way of messages that have several.
    parts: HashMap<u32, u32>,
    /// Where parts share the bytes of their message.
    pools: Option<Pools>,
    /// When the next flow of each class is complete, or each pool where parts share bytes.
    due: Schedule,
    /// What is complete at the next instant, in the order of time.
    served: Vec<u32>,
    timers: BinaryHeap<Timer>,
    timers_set: u64,
    now: f64,
    /// When it gives up.
    most_s: f64,
    /// Classes with flows.
    active: usize,
    record: Record,
    path: Vec<u32>,
    /// Flows that begin now, and their paths one behind the other.
    fresh: Vec<Fresh>,
    fresh_paths: Vec<u32>,
    /// What can begin, and what has let it.
    ready: Vec<Ready>,
    causes: Vec<u32>,
    /// Channels of all paths so far, for an estimate of memory.
    hops: u64,
    /// Tasks that stand for others, if they do.
    alike: Option<&'a Alike>,
    /// Channels of the network and its terminals. Behind them are those that keep windows …
    channels: u32,
    /// … by the terminals that these are between; none where nothing is in flight.
    windows: HashMap<[TerminalId; 2], Option<u32>>,
}

impl<'a> Engine<'a> {
    pub fn new(
        network: &'a Network,
        routing: &'a AnyRouting,
        facts: Facts<'a>,
        config: &'a FlowConfig,
        ideal_s: f64,
        detours: bool,
    ) -> Self {
        let (lines, channels) = (Lines::new(network), Paths::num_channels(network, config));
        let rates = if lines.are_known() {
            let capacities: Vec<f64> = Paths::capacities(network, config).collect();
            let at_places = (0..channels as u32).map(|place| capacities[lines.channel(place) as usize]);
            let rates = Rates::new(channels, at_places, config.model);
            match lines.longest() > SHORT {
                true => rates.in_lines(|place| lines.goes_on(place), lines.terminals(network)),
                false => rates,
            }
        } else {
            Rates::new(channels, Paths::capacities(network, config), config.model)
        };
        let paths = Paths::new(network, routing, config);
        let record = Record::new(channels, facts.messages, config, config.unit_rate(network), ideal_s);
        let record = if rates.has_lines() { record.by_runs() } else { record };
        Self {
            network,
            facts,
            config,
            endpoints: config.endpoint.as_ref().map(|costs| Endpoints::new(costs, facts.tasks)),
            adaptive: (detours && paths.adapt())
                .then(|| AdaptivePaths::new(Paths::capacities(network, config), config.paths)),
            pools: (paths.adapt() && config.paths > 1).then(Pools::default),
            paths,
            lines,
            rates,
            of_paths: on_large_pages(channels),
            more: HashMap::new(),
            by_path: HashMap::default(),
            parts: HashMap::new(),
            due: Schedule::new(),
            served: Vec::new(),
            timers: BinaryHeap::new(),
            timers_set: 0,
            now: 0.0,
            most_s: f64::INFINITY,
            active: 0,
            record,
            path: Vec::new(),
            fresh: Vec::with_capacity(TOGETHER),
            fresh_paths: Vec::new(),
            ready: Vec::new(),
            causes: Vec::new(),
            hops: 0,
            alike: None,
            channels: channels as u32,
            windows: HashMap::new(),
        }
    }

    /// The same with tasks that stand for others, on channels of their own.
    pub fn of_alike(self, alike: &'a Alike) -> Self {
        Self {
            lines: Lines::default(),
            rates: Rates::new(alike.capacities.len(), alike.capacities.iter().copied(), self.config.model),
            alike: Some(alike),
            record: self.record.with_copies(alike.copies),
            ..self
        }
    }

    /// Gives up at that time: the run then is not complete.
    pub fn until(self, most_s: f64) -> Self {
        Self { most_s, ..self }
    }

    /// Runs to the end; true with the result if any part left the path of an idle network.
    pub fn run(mut self, script: &mut dyn Script, control: &dyn Control) -> Result<(FlowResult, bool)> {
        let mut completed = true;
        script.start(&mut self.ready);
        self.causes.resize(self.ready.len(), u32::MAX);
        self.begin_all(script)?;
        while !script.finished() {
            if control.cancelled() || self.now >= self.most_s {
                completed = false;
                break;
            }
            if self.record.events.is_multiple_of(256) {
                control.progress(self.record.flows);
            }
            self.place(control)?;
            self.settle();
            let Some(next) = self.next() else {
                return Err(Error::Workload("some tasks wait for messages that no task sends".to_owned()));
            };
            self.instant(next, script)?;
        }
        self.record.most_classes = self.rates.ids() as usize;
        match self.alike {
            Some(alike) => self.record.channel_bytes = alike.channel_bytes(self.record.bytes),
            None => self.account_for_the_rest(),
        }
        self.record.add_runs();
        self.record.channel_bytes = self.lines.by_channel(self.record.channel_bytes);
        let diverted = self.adaptive.as_ref().is_some_and(AdaptivePaths::diverted);
        Ok((
            self.record.finish(self.network, self.facts.message, self.facts.alone_s, self.now, completed, self.config),
            diverted,
        ))
    }

    /// The next instant: the first thing to happen, and what may wait to be served with others.
    fn next(&mut self) -> Option<f64> {
        let timer = self.timers.peek().map_or(f64::INFINITY, |timer| timer.time);
        let Some((time, of)) = self.first().filter(|(time, _)| *time <= timer) else {
            return timer.is_finite().then_some(timer);
        };
        if self.config.coalesce == 0.0 {
            return Some(time);
        }
        let message = match &self.pools {
            Some(pools) => pools.pools[of as usize].message,
            None => self.rates.own(of).message,
        };
        let begun = self.record.begun(message);
        let horizon = time + self.config.coalesce * (time - begun);
        // The instant is that of the last completion before the horizon.
        let mut last = time;
        while let Some((time, of)) = self.take(horizon) {
            self.served.push(of);
            last = time;
        }
        Some(last)
    }

    /// The next completion of a class, or of a pool where parts share bytes.
    fn first(&mut self) -> Option<(f64, u32)> {
        match &mut self.pools {
            Some(pools) => self.due.first(&mut pools.pools),
            None => self.due.first(&mut self.rates),
        }
    }

    /// Takes it if it is not after `until`.
    fn take(&mut self, until: f64) -> Option<(f64, u32)> {
        match &mut self.pools {
            Some(pools) => self.due.take(&mut pools.pools, until),
            None => self.due.take(&mut self.rates, until),
        }
    }

    /// Serves all that is complete at `now`, and begins what can begin.
    fn instant(&mut self, now: f64, script: &mut dyn Script) -> Result<()> {
        self.record.pass(self.now, now);
        self.now = now;
        self.record.events += 1;
        let until = now * (1.0 + SAME);
        let mut done = Vec::new();
        let mut served = std::mem::take(&mut self.served);
        served.extend(std::iter::from_fn(|| self.take(until)).map(|(_, of)| of));
        for some in served.chunks(TOGETHER) {
            self.warm(some);
            some.iter().for_each(|&of| self.complete_all_of(of, until, &mut done));
        }
        served.clear();
        self.served = served;
        // In the order of messages, whichever class was first by a rounding.
        done.sort_unstable_by_key(|(message, _)| *message);
        for &(message, _) in &done {
            self.send_next(message)?;
        }
        if script.waits_for_leaving() {
            for &(message, _) in &done {
                self.left(message, script)?;
            }
        }
        script.ahead(&mut done.iter().map(|(message, _)| *message));
        for (message, delay_s) in done {
            if self.paths.have_delays() || self.config.endpoint.is_some() {
                self.set_timer(now + delay_s + self.latency_s(), Event::Deliver(message));
            } else {
                self.deliver(message, script);
            }
        }
        self.begin_all(script)?;
        while let Some(timer) = self.timers.peek().filter(|timer| timer.time <= until).copied() {
            self.timers.pop();
            match timer.event {
                Event::Begin(message) => {
                    if !self.begin(message)? {
                        self.left(message, script)?;
                        self.set_timer(now + self.latency_s(), Event::Deliver(message));
                    }
                }
                Event::Asked(message) => {
                    script.asked(message, &mut self.ready);
                    self.causes.resize(self.ready.len(), Record::by_message(message));
                    self.begin_all(script)?;
                }
                Event::Received(message) => {
                    self.received(message, script);
                    self.begin_all(script)?;
                }
                Event::Deliver(message) => {
                    self.record.served_late(message, now - timer.time.min(now));
                    self.deliver(message, script);
                    self.begin_all(script)?;
                }
                Event::Computed(op) => {
                    self.record.computation_ends(op, now);
                    script.computed(op, &mut self.ready);
                    self.causes.resize(self.ready.len(), Record::by_computation(op));
                    self.begin_all(script)?;
                }
            }
        }
        Ok(())
    }

    fn set_timer(&mut self, time: f64, event: Event) {
        self.timers_set += 1;
        self.timers.push(Timer { time, number: self.timers_set, event });
    }

    /// What a message takes beside its path and its bytes.
    fn latency_s(&self) -> f64 {
        self.config.endpoint.as_ref().map_or(0.0, |costs| costs.latency_s)
    }

    /// The bytes of a message with what its packets carry beside them.
    fn bytes_of(&self, message: u32) -> f64 {
        let bytes = (self.facts.message)(message).bytes;
        self.config.endpoint.as_ref().map_or(bytes, |costs| costs.carried(bytes)) as f64
    }

    /// A message can be sent now: its task sends one after the other, its interface begins them with gaps, and a long one
    /// asks first. Returns when it enters the network, or none if it waits for an answer.
    fn enters(&mut self, message: u32) -> Result<Option<f64>> {
        let (ends, now) = ((self.facts.ends)(message), self.now);
        let Message { source, bytes, .. } = (self.facts.message)(message);
        let (Some(endpoints), Some(costs)) = (&mut self.endpoints, &self.config.endpoint) else { return Ok(Some(now)) };
        if ends[0] == ends[1] {
            return Ok(Some(now));
        }
        let sent = endpoints.send(source, now);
        if !costs.shakes_hands(bytes) {
            return Ok(Some(sent));
        }
        let there = self.asking_s(ends)?;
        self.set_timer(sent + there, Event::Asked(message));
        Ok(None)
    }

    /// Seconds that a request takes between two terminals, or an answer.
    fn asking_s(&self, ends: [TerminalId; 2]) -> Result<f64> {
        let own_s = self.config.endpoint.as_ref().map_or(0.0, |costs| costs.latency_s + costs.overhead_s);
        Ok(self.paths.idle_delay_s(ends)? + own_s)
    }

    /// A message is at its terminal: its task takes it in as soon as it is free.
    fn deliver(&mut self, message: u32, script: &mut dyn Script) {
        let Message { target, bytes, .. } = (self.facts.message)(message);
        let (now, combined) = (self.now, if (self.facts.reduces)(message) { bytes } else { 0 });
        match self.endpoints.as_mut().map(|endpoints| endpoints.receive(target, combined, now)) {
            Some(taken) if taken > now => self.set_timer(taken, Event::Received(message)),
            _ => self.received(message, script),
        }
    }

    /// All of a message has left its task, and perhaps lets others be sent.
    fn left(&mut self, message: u32, script: &mut dyn Script) -> Result<()> {
        script.left(message, &mut self.ready);
        self.causes.resize(self.ready.len(), Record::by_leaving(message));
        self.begin_all(script)
    }

    /// A task has a message, which perhaps lets others be sent.
    fn received(&mut self, message: u32, script: &mut dyn Script) {
        self.record.message_ends(message, self.now);
        script.delivered(message, &mut self.ready);
        self.causes.resize(self.ready.len(), Record::by_message(message));
    }

    /// Reads what the completion of these classes will read: see [`Rates::warm`].
    fn warm(&self, classes: &[u32]) {
        if self.pools.is_some() {
            return;
        }
        self.rates.warm_to_leave(classes);
        let mut bytes = 0;
        for &class in classes {
            let message = self.rates.own(class).message;
            bytes ^= (self.facts.message)(message).bytes;
            self.record.ask_for(message);
            for (low, high) in self.rates.spans(class) {
                prefetch(self.record.bytes_by_run(), low as usize);
                prefetch(self.record.bytes_by_run(), high as usize);
            }
        }
        std::hint::black_box(bytes);
        let known = classes.iter().map(|&class| match self.by_path.is_empty() {
            true => 0,
            false => self.by_path.get(&self.of_paths[class as usize].hash).map_or(0, |class| *class),
        });
        std::hint::black_box(known.fold(0, |sum, class| sum ^ class));
    }

    /// Takes what is complete out of a class, or completes a pool where parts share bytes.
    fn complete_all_of(&mut self, of: u32, until: f64, done: &mut Vec<(u32, f64)>) {
        match self.pools {
            Some(_) => self.complete_pool(of, done),
            None => self.complete(of, until, done),
        }
    }

    /// Takes the flows of a class that are complete out of it; appends messages that are, with the delay of their path.
    fn complete(&mut self, class: u32, until: f64, done: &mut Vec<(u32, f64)>) {
        let flight = *self.rates.own(class);
        let mut gone = 0;
        let (mut goal, mut message) = (flight.goal, flight.message);
        loop {
            let time = flight.since + (goal - flight.served) / flight.rate;
            if time > until {
                break;
            }
            gone += 1;
            self.carried(class, self.bytes_of(message) / f64::from(self.config.paths));
            self.record.carried_nothing(time, self.now, flight.rate, flight.between);
            self.change_backlogs(class, flight.rate * (self.now - time.min(self.now)), [0.0, 0.0]);
            if self.last_part(message) {
                self.record.message_carried((self.facts.message)(message).bytes);
                self.record.served_late(message, self.now - time.min(self.now));
                done.push((message, self.of_paths[class as usize].delay_s));
            }
            let next = self.more.get_mut(&class).and_then(BinaryHeap::pop);
            (goal, message) = next.map_or((f64::INFINITY, u32::MAX), |Goal(goal, message)| (goal, message));
        }
        self.count(class, -f64::from(gone) * flight.rate, -f64::from(gone));
        let flight = self.rates.own_mut(class);
        (flight.goal, flight.message) = (goal, message);
        if !self.leave(class, gone) {
            self.queue(class);
        }
    }

    /// This many flows leave their class; true if it has none left and is gone.
    fn leave(&mut self, class: u32, gone: u32) -> bool {
        let last = self.rates.leave(class, gone);
        if last {
            self.active -= 1;
            if self.active == 0 {
                // What rounding leaves is not to be carried on.
                self.record.now = [0.0; 3];
            }
            self.more.remove(&class);
            if !self.by_path.is_empty()
                && let Entry::Occupied(known) = self.by_path.entry(self.of_paths[class as usize].hash)
                && *known.get() == class
            {
                known.remove();
            }
        }
        last
    }

    /// A message whose parts share its bytes is complete: appends it with the delay of its longest path.
    fn complete_pool(&mut self, pool: u32, done: &mut Vec<(u32, f64)>) {
        let now = self.now;
        let pools = self.pools.as_mut().expect("pools are due where there are some");
        let own = &mut pools.pools[pool as usize];
        let time = (own.since + (own.bytes - own.served) / own.rate).min(now);
        let (message, delay_s, mut parts) = (own.message, own.delay_s, std::mem::take(&mut own.parts));
        pools.by_message.remove(&message);
        pools.unused.push(pool);
        for part in &parts {
            let members = &mut pools.of_class[part.class as usize];
            let place = members.iter().position(|&member| member == pool).expect("a part is in its class");
            members.swap_remove(place);
        }
        for &PoolPart { class, before, expected } in &parts {
            let flight = *self.rates.own(class);
            let served = flight.served + flight.rate * (now - flight.since) - before;
            self.carried(class, (served - flight.rate * (now - time)).max(0.0));
            self.record.carried_nothing(time, now, flight.rate, flight.between);
            self.change_backlogs(class, served - expected, [0.0, 0.0]);
            self.count(class, -flight.rate, -1.0);
            self.leave(class, 1);
        }
        parts.clear();
        self.pools.as_mut().expect("as above").pools[pool as usize].parts = parts;
        self.record.message_carried((self.facts.message)(message).bytes);
        self.record.served_late(message, now - time);
        done.push((message, delay_s));
    }

    /// Sends what waits behind a message that is complete.
    fn send_next(&mut self, message: u32) -> Result<()> {
        let tasks = self.tasks_of(message);
        let Some(pools) = self.pools.as_mut().filter(|_| self.facts.in_order) else { return Ok(()) };
        let behind = pools.behind.get_mut(&tasks).expect("its tasks were noted as it began");
        let Some(next) = behind.pop_front() else {
            pools.behind.remove(&tasks);
            return Ok(());
        };
        self.send(next)?;
        Ok(())
    }

    /// True if no other part of a message is under way.
    fn last_part(&mut self, message: u32) -> bool {
        if self.config.paths == 1 {
            return true;
        }
        let left = self.parts.get_mut(&message).expect("parts are counted from their beginning");
        *left -= 1;
        let last = *left == 0;
        if last {
            self.parts.remove(&message);
        }
        last
    }

    /// Writes down what a flow has carried over the channels of its class.
    fn carried(&mut self, class: u32, bytes: f64) {
        if self.alike.is_some() {
            return;
        }
        if self.rates.has_lines() && bytes.fract() == 0.0 {
            // Whole numbers of bytes are added up exactly: what a run carries is noted at its ends.
            for (low, high) in self.rates.spans(class).filter(|(low, _)| *low < self.channels) {
                self.record.bytes_from[low as usize] += bytes;
                self.record.bytes_from[high as usize + 1] -= bytes;
            }
            return;
        }
        for channel in self.rates.path(class).filter(|channel| *channel < self.channels) {
            self.record.channel_bytes[channel as usize] += bytes;
        }
    }

    /// Keeps the sums over all flows.
    fn count(&mut self, class: u32, rate: f64, flows: f64) {
        let Flight { between, kind, .. } = *self.rates.own(class);
        let (copies, between) = self.alike.map_or((1.0, between.into()), |alike| alike.weights(kind));
        let [bytes, channels, number] = &mut self.record.now;
        *bytes += rate * copies;
        *channels += rate * between;
        *number += flows * copies;
        self.change_backlogs(class, 0.0, [rate, flows]);
    }

    /// Updates the bytes that are still to cross the channels of a class, where the routing depends on them.
    fn change_backlogs(&mut self, class: u32, bytes: f64, change: [f64; 2]) {
        if let Some(adaptive) = &mut self.adaptive {
            let shared = self.rates.path(class).filter(|channel| *channel < self.channels);
            shared.for_each(|place| adaptive.change(self.lines.channel(place), bytes, change, self.now));
        }
    }

    /// Notes when the next flow of a class is complete.
    fn queue(&mut self, class: u32) {
        if self.pools.is_some() {
            return;
        }
        let flight = self.rates.own(class);
        let time = match flight.rate > 0.0 {
            true => (flight.since + (flight.goal - flight.served) / flight.rate).max(self.now),
            false => f64::INFINITY,
        };
        self.due.set(&mut self.rates, class, time);
    }

    /// Begins all that can begin.
    fn begin_all(&mut self, script: &mut dyn Script) -> Result<()> {
        let mut at = 0;
        while at < self.ready.len() {
            if at % TOGETHER == 0 {
                self.warm_to_begin(at);
            }
            let (ready, cause) = (self.ready[at], self.causes[at]);
            at += 1;
            if at % 4096 == 0 {
                self.guard_memory(self.ready.len() - at)?;
            }
            match ready {
                Ready::Message(message) => {
                    self.record.message_begins(message, self.now, cause);
                    let Some(enters) = self.enters(message)? else { continue };
                    if enters > self.now {
                        self.set_timer(enters, Event::Begin(message));
                    } else if !self.begin(message)? {
                        self.record.local_messages += 1;
                        self.record.message_ends(message, self.now);
                        script.left(message, &mut self.ready);
                        script.delivered(message, &mut self.ready);
                        self.causes.resize(self.ready.len(), Record::by_message(message));
                    }
                }
                Ready::Answer(message) => {
                    let [source, target] = (self.facts.ends)(message);
                    let back_s = self.asking_s([target, source])?;
                    self.set_timer(self.now + back_s, Event::Begin(message));
                }
                Ready::Compute { op, seconds } => {
                    let waits = self
                        .endpoints
                        .as_ref()
                        .map_or(0.0, |endpoints| endpoints.compute(script.task_of(op), self.now) - self.now);
                    let seconds = waits + seconds;
                    self.record.computation_begins(op, self.now, seconds, cause);
                    self.set_timer(self.now + seconds, Event::Computed(op));
                }
            }
        }
        self.ready.clear();
        self.causes.clear();
        Ok(())
    }

    /// Asks for the memory that the next messages which can begin need.
    fn warm_to_begin(&self, at: usize) {
        let messages = self.ready[at..].iter().take(TOGETHER).filter_map(|ready| match ready {
            Ready::Message(message) => Some(*message),
            _ => None,
        });
        for message in messages {
            self.record.ask_for(message);
            self.paths.ask_for((self.facts.ends)(message));
        }
    }

    /// Rejects `left` more messages if their flows would not fit.
    fn guard_memory(&self, left: usize) -> Result<()> {
        let parts = f64::from(self.config.paths);
        let each = FLOW_BYTES * parts + HOP_BYTES * self.hops as f64 / self.record.flows.max(1) as f64;
        let need = left as f64 * each;
        let available = available_memory();
        if need <= available as f64 {
            return Ok(());
        }
        Err(Error::TooLarge(format!(
            "{}: {left} more messages are to be under way at the same time, which needs about {} GB; {} GB are available",
            self.network.spec(),
            (need / 1e9).ceil(),
            available / 1_000_000_000
        )))
    }

    /// Begins the flows of a message; false if it does not go through the network, or takes no time there.
    fn begin(&mut self, message: u32) -> Result<bool> {
        let [source, target] = (self.facts.ends)(message);
        let bytes = self.bytes_of(message) / f64::from(self.config.paths);
        if let Some(alike) = self.alike {
            let kind = alike.kind(message, (self.facts.message)(message).source);
            self.add(message, bytes, alike.path(kind), [0, kind]);
            self.record.message_enters();
            return Ok(true);
        }
        if source == target || bytes == 0.0 {
            return Ok(false);
        }
        let tasks = self.tasks_of(message);
        if let Some(pools) = self.pools.as_mut().filter(|_| self.facts.in_order) {
            match pools.behind.entry(tasks) {
                Entry::Occupied(behind) => {
                    behind.into_mut().push_back(message);
                    return Ok(true);
                }
                Entry::Vacant(first) => {
                    first.insert(VecDeque::new());
                }
            }
        }
        let through = self.send(message)?;
        if let Some(pools) = self.pools.as_mut().filter(|_| !through) {
            pools.behind.remove(&tasks);
        }
        Ok(through)
    }

    fn tasks_of(&self, message: u32) -> [u32; 2] {
        let Message { source, target, .. } = (self.facts.message)(message);
        [source, target]
    }

    /// Sends a message over the network; false if it takes no time there.
    fn send(&mut self, message: u32) -> Result<bool> {
        let [source, target] = (self.facts.ends)(message);
        let bytes = self.bytes_of(message) / f64::from(self.config.paths);
        let mut rng = self.paths.stream(source, target);
        for part in 0..self.config.paths {
            let mut path = std::mem::take(&mut self.path);
            path.clear();
            let placed =
                self.by_place().and_then(|lines| self.paths.walk_in(lines, [source, target], &mut rng, &mut path));
            let between = match placed {
                Some(between) => between,
                None => self.paths.walk(source, target, &mut rng, &mut path)?,
            };
            if path.is_empty() {
                self.path = path;
                return Ok(false);
            }
            self.hops += path.len() as u64;
            if let Some(noted) = self.facts.noted {
                noted(message, [source, target], &path);
            }
            if let Some(adaptive) = &mut self.adaptive {
                let rng = self.paths.stream_of_part(message, part);
                let ends = [source, target];
                adaptive.offer(Part { message, bytes, ends, path, between, rng }, self.now);
            } else {
                path.extend(self.window(message)?);
                let place = |&channel: &u32| if placed.is_some() { channel } else { self.lines.place(channel) };
                self.fresh_paths.extend(path.iter().map(place));
                self.fresh.push(Fresh { message, bytes, between, end: self.fresh_paths.len() });
                self.path = path;
                if self.fresh.len() == TOGETHER {
                    self.add_fresh();
                }
            }
        }
        if self.config.paths > 1 && self.pools.is_none() {
            self.parts.insert(message, self.config.paths);
        }
        self.record.message_enters();
        Ok(true)
    }

    /// The lines, where nothing asks for the channels of a path by their ids.
    fn by_place(&self) -> Option<&Lines> {
        (self.facts.noted.is_none() && self.adaptive.is_none()).then_some(&self.lines)
    }

    /// Adds the flows that begin now. What is done to one waits for memory; it is asked for ahead for all of them.
    fn add_fresh(&mut self) {
        let (mut fresh, paths) = (std::mem::take(&mut self.fresh), std::mem::take(&mut self.fresh_paths));
        let begins = |at: usize| if at == 0 { 0 } else { fresh[at - 1].end };
        self.rates.warm_to_add((0..fresh.len()).map(|at| &paths[begins(at)..fresh[at].end]));
        let mut begin = 0;
        for Fresh { message, bytes, between, end } in fresh.drain(..) {
            self.add(message, bytes, &paths[begin..end], [between, 0]);
            begin = end;
        }
        (self.fresh, self.fresh_paths) = (fresh, paths);
        self.fresh_paths.clear();
    }

    /// Begins the parts that an adaptive routing has yet to decide for.
    fn place(&mut self, control: &dyn Control) -> Result<()> {
        if self.adaptive.as_ref().is_some_and(AdaptivePaths::waits) {
            self.share_backlogs();
        }
        let Some(adaptive) = &mut self.adaptive else { return Ok(()) };
        for Part { message, bytes, mut path, between, .. } in adaptive.place(&self.paths, self.now, Some(control))? {
            path.extend(self.window(message)?);
            path.iter_mut().for_each(|channel| *channel = self.lines.place(*channel));
            self.add(message, bytes, &path, [between, 0]);
        }
        Ok(())
    }

    /// The channel that keeps the window between the terminals of a message: what may be in flight each time that a bit
    /// comes there and its acknowledgement back.
    fn window(&mut self, message: u32) -> Result<Option<u32>> {
        let Some(bytes) = self.config.endpoint.as_ref().and_then(|costs| costs.window) else { return Ok(None) };
        let [source, target] = (self.facts.ends)(message);
        if let Some(known) = self.windows.get(&[source, target]) {
            return Ok(*known);
        }
        let round_s = self.paths.idle_delay_s([source, target])? + self.paths.idle_delay_s([target, source])?;
        let channel = (round_s > 0.0).then(|| self.rates.add_channel(bytes as f64 / round_s));
        self.windows.insert([source, target], channel);
        Ok(channel)
    }

    /// The class on a path with that hash, of that kind, and true if it would be looked for [by path](Engine::by_path).
    fn on_path(&self, path: &[u32], hash: u64, kind: u32) -> (Option<u32>, bool) {
        if self.config.model == Sharing::Sticky {
            return (None, false);
        }
        // Most channels that terminals send into have few classes, among which a look finds more quickly than a map.
        let few = path.iter().copied().min_by_key(|channel| self.rates.in_line(*channel)).expect("a path has channels");
        let same = |class: &u32| {
            let known = self.of_paths[*class as usize].hash == hash;
            known && self.rates.own(*class).kind == kind && self.rates.path(*class).eq(path.iter().copied())
        };
        match self.rates.in_line(few) > FEW {
            true => (self.by_path.get(&hash).copied().filter(same), true),
            false => (self.rates.on(few).find(same), false),
        }
    }

    /// Adds a flow to the class of its path, the positions of its channels, with the number of those between routers and its
    /// [kind](Flight::kind).
    fn add(&mut self, message: u32, bytes: f64, path: &[u32], [between, kind]: [u32; 2]) {
        // Not from 0, which a channel 0 would leave as it is.
        let hash = path.iter().fold(!u64::from(kind), |hash, &channel| mix(hash ^ u64::from(channel)));
        let (known, by_path) = self.on_path(path, hash, kind);
        if let Some(class) = known {
            self.rates.join(class);
            let flight = *self.rates.own(class);
            let served = flight.served + flight.rate * (self.now - flight.since);
            if self.pools.is_some() {
                self.count(class, flight.rate, 1.0);
                self.pool(message, class, served);
                return;
            }
            let goal = Goal(served + bytes, message);
            let first = Goal(flight.goal, flight.message);
            // The heap's order is reversed: the lower goal is the greater.
            let (first, other) = if goal > first { (goal, first) } else { (first, goal) };
            let own = self.rates.own_mut(class);
            (own.goal, own.message) = (first.0, first.1);
            self.more.entry(class).or_default().push(other);
            self.count(class, flight.rate, 1.0);
            self.queue(class);
            return;
        }
        let (served, since, rate, goal) = (0.0, self.now, 0.0, bytes);
        let class = self.rates.add_with(path, 1, |before| {
            // The schedule may still have the id.
            let times = before.map_or(Times::NEVER, |flight| flight.times);
            Flight { served, since, rate, goal, times, message, between, kind }
        });
        if by_path {
            self.by_path.entry(hash).or_insert(class);
        }
        let delay_s = match self.alike {
            Some(alike) => alike.delay_s(kind),
            None => {
                let channels = path.iter().map(|&place| self.lines.channel(place));
                self.paths.delay_s((self.facts.ends)(message), channels)
            }
        };
        let of_path = OfPath { delay_s, hash };
        match self.of_paths.get_mut(class as usize) {
            Some(unused) => *unused = of_path,
            None => self.of_paths.push(of_path),
        }
        self.active += 1;
        self.count(class, 0.0, 1.0);
        self.pool(message, class, 0.0);
    }

    /// Notes that a part of a message is in a class each of whose flows has got that many bytes, where parts share bytes.
    fn pool(&mut self, message: u32, class: u32, before: f64) {
        let (bytes, now) = (self.bytes_of(message), self.now);
        if let Some(pools) = &mut self.pools {
            let pool = pools.of(message, bytes, now);
            let (rate, delay_s) = (self.rates.own(class).rate, self.of_paths[class as usize].delay_s);
            let expected = bytes / f64::from(self.config.paths);
            pools.join(pool, PoolPart { class, before, expected }, [rate, delay_s], now);
        }
    }

    /// Queues the completions of pools whose parts have other rates now.
    fn settle_pools(&mut self) {
        let Some(pools) = &mut self.pools else { return };
        for pool in std::mem::take(&mut pools.noted) {
            let own = &mut pools.pools[pool as usize];
            own.noted = false;
            if own.parts.is_empty() {
                continue;
            }
            if own.added > ADDED || self.config.model == Sharing::Sticky {
                // Lest rounding adds up, or leaves a rate where all parts wait.
                own.rate = own.parts.iter().map(|part| self.rates.own(part.class).rate).sum();
                own.added = 0;
            }
            let left_s = if own.rate > 0.0 { (own.bytes - own.served).max(0.0) / own.rate } else { f64::INFINITY };
            self.due.set(&mut pools.pools, pool, self.now + left_s);
        }
    }

    /// Counts what pools have left as backlogs of their parts in proportion to the rates.
    fn share_backlogs(&mut self) {
        let Some(mut pools) = self.pools.take() else { return };
        let now = self.now;
        for pool in std::mem::take(&mut pools.stale) {
            let own = &mut pools.pools[pool as usize];
            own.stale = false;
            let left = (own.bytes - own.served - own.rate * (now - own.since)).max(0.0);
            if own.rate <= 0.0 {
                continue;
            }
            for part in &mut own.parts {
                let flight = *self.rates.own(part.class);
                let carried = flight.served + flight.rate * (now - flight.since) - part.before;
                let more = carried + left * flight.rate / own.rate - part.expected;
                part.expected += more;
                self.change_backlogs(part.class, more, [0.0, 0.0]);
            }
        }
        self.pools = Some(pools);
    }

    /// Brings the rates up to date, and queues the completions that follow.
    fn settle(&mut self) {
        self.add_fresh();
        let now = self.now;
        self.rates.settle();
        for place in 0..self.rates.changed().len() {
            let changed = self.rates.changed();
            if let Some(&later) = changed.get(place + TOGETHER / 2) {
                self.rates.ask_for(later);
            }
            let class = changed[place];
            let rate = self.rates.rate(class);
            let flight = self.rates.own_mut(class);
            if (rate - flight.rate).abs() <= SAME * flight.rate {
                continue;
            }
            flight.served += flight.rate * (now - flight.since);
            let more = rate - flight.rate;
            (flight.since, flight.rate) = (now, rate);
            if let Some(pools) = &mut self.pools {
                pools.change_class(class, more, now);
            }
            self.record.rate_changes += 1;
            self.count(class, more * f64::from(self.rates.flows(class)), 0.0);
            self.queue(class);
        }
        self.settle_pools();
        match &mut self.pools {
            Some(pools) => self.due.sort_out(&mut pools.pools),
            None => self.due.sort_out(&mut self.rates),
        }
    }

    /// Writes down what flows have carried that are still under way at the end.
    fn account_for_the_rest(&mut self) {
        if let Some(pools) = self.pools.take() {
            for part in pools.pools.iter().flat_map(|pool| &pool.parts) {
                let flight = *self.rates.own(part.class);
                let served = flight.served + flight.rate * (self.now - flight.since);
                self.carried(part.class, served - part.before);
            }
            return;
        }
        for class in 0..self.rates.ids() {
            if self.rates.flows(class) == 0 {
                continue;
            }
            let flight = *self.rates.own(class);
            let served = flight.served + flight.rate * (self.now - flight.since);
            let others = self.more.remove(&class).unwrap_or_default();
            for Goal(goal, message) in others.into_iter().chain([Goal(flight.goal, flight.message)]) {
                let all = self.bytes_of(message) / f64::from(self.config.paths);
                self.carried(class, (all - (goal - served)).max(0.0));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;
    use crate::watch::NoControl;
    use crate::{routing, topology};

    /// Every terminal of a small network sends to one of the router next to its own, on the paths of an idle network. With a
    /// limit of its time.
    fn shifted(most_s: f64) -> FlowResult {
        let network = topology::build("hyperx:4,p=4").expect("small");
        let routing = routing::build(&network, "min").expect("offered");
        let config = FlowConfig::default();
        let flow = |source: u32| Message { source, target: (source + 4) % 16, bytes: 1000 * (1 + u64::from(source)) };
        let flows: Vec<Message> = (0..16).map(flow).collect();
        let ends = |id: u32| [TerminalId(flows[id as usize].source), TerminalId(flows[id as usize].target)];
        let message = |id: u32| flows[id as usize];
        let facts = Facts { in_order: false, ..Facts::listed(&flows, &message, &ends, &|_| true, &|_| 1.0) };
        let engine = Engine::new(&network, &routing, facts, &config, 0.0, false).until(most_s);
        engine.run(&mut AtOnce { left: 16 }, &NoControl).expect("it ends").0
    }

    #[test]
    fn a_run_gives_up_at_its_limit_and_is_the_same_below_it() {
        let whole = shifted(f64::INFINITY);
        assert!(whole.completed);
        let longer = shifted(whole.makespan_s * 1.001);
        assert!(longer.completed && longer.makespan_s == whole.makespan_s);
        assert!(!shifted(whole.makespan_s * 0.5).completed);
    }

    #[test]
    fn the_shorter_run_counts_if_it_was_complete() {
        let result = shifted(f64::INFINITY);
        for (adapted, direct, completed, shortest) in
            [(2.0, 1.0, true, 1.0), (2.0, 3.0, true, 2.0), (2.0, 1.0, false, 2.0)]
        {
            let limits = RefCell::new(Vec::new());
            let run = |detours: bool, most_s: f64| {
                limits.borrow_mut().push(most_s);
                let (makespan_s, completed) = if detours { (adapted, true) } else { (direct, completed) };
                Ok((FlowResult { makespan_s, completed, ..result.clone() }, detours))
            };
            assert_eq!(shorter(run).expect("both runs end").makespan_s, shortest);
            assert_eq!(*limits.borrow(), [f64::INFINITY, adapted]);
        }
    }
}
