//! Jobs as the accounting of a machine lists them, beside each other: each computes and communicates in turn.
//!
//! A collective is a fluid ([`fluid`]): all messages between its ranks flow at once, in proportion, so that it takes as
//! long as its busiest channel, alone or beside others. That is what pipelined collectives come near to, and what lets
//! a day of a machine with a million collectives be run in minutes. Delays and costs of endpoints are not counted.

mod fluid;
mod loads;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

use serde::Serialize;

use self::fluid::{Fluid, Load};
use self::loads::Loads;
use super::{BusyChannel, FlowConfig};
use crate::catalogue::grammar::split_head;
use crate::catalogue::{Alone, Arguments, Entry, Key, Kind, Lead};
use crate::error::{Error, Result, several};
use crate::network::Network;
use crate::routing::AnyRouting;
use crate::watch::Control;
use crate::workload::{Allocator, Room, Workload, app_and_keys, build, find};

/// A job that ran on a machine once.
#[derive(Debug, Clone)]
pub struct PastJob {
    /// What the accounting calls it.
    pub name: String,
    /// When it was submitted, in seconds.
    pub submit_s: f64,
    /// When it may begin; when it was submitted if this is not given.
    pub start_s: Option<f64>,
    /// How long it ran.
    pub elapsed_s: f64,
    /// How long it was allowed to run; as long as it ran if this is not given.
    pub limit_s: Option<f64>,
    /// Its nodes: hosts, where the network has hosts, else terminals.
    pub nodes: u32,
    /// What it does, a position among the [`Phase`]s.
    pub phase: usize,
}

/// What jobs repeat: they compute, and then communicate.
#[derive(Debug, Clone)]
pub struct Phase {
    /// The application that communicates.
    pub app: String,
    /// Seconds of computing before each time.
    pub computing_s: f64,
}

/// The keys that a phase adds to those of its application.
pub const KEYS: &[Key] =
    &[Key::new("computing", Kind::Time("1s"), "how long a job computes before each time (default 1s)")];

/// Seconds of computing unless they are given.
const COMPUTING_S: f64 = 1.0;

impl Phase {
    /// Reads `APP,computing=1s`.
    ///
    /// # Errors
    /// [`Error::Workload`] for values that are not allowed, and for an application that does not exist.
    pub fn read(text: &str) -> Result<Self> {
        let text = text.trim();
        let [app, own] = app_and_keys(text, KEYS)?;
        let (lead, alone) = (Lead::Nothing, Alone::Mistake(""));
        let entry =
            Entry { noun: "the phase", name: "phase", lead, keys: KEYS, shared: &[], alone, wrong: Error::Workload };
        let keys = Arguments::read(entry, text, &own)?;
        find(split_head(&app).0)?;
        Ok(Self { app, computing_s: keys.seconds("computing").unwrap_or(COMPUTING_S) })
    }
}

/// How a job went.
#[derive(Debug, Clone, Serialize)]
pub struct ReplayedJob {
    /// What the accounting calls it.
    pub name: String,
    /// What it repeats.
    pub app: String,
    /// Its nodes.
    pub nodes: u32,
    /// Its tasks, one on each terminal of its nodes.
    pub tasks: u32,
    /// When it was submitted, in seconds.
    pub submit_s: f64,
    /// When it began.
    pub start_s: f64,
    /// When it ended.
    pub end_s: f64,
    /// How long it waited for its nodes once it could begin.
    pub wait_s: f64,
    /// How often it communicated.
    pub collectives: u64,
    /// Seconds of one collective alone.
    pub collective_s: f64,
    /// Seconds that all of it takes alone.
    pub alone_s: f64,
}

/// A busy channel, with the jobs that put the most bytes on it.
#[derive(Debug, Clone, Serialize)]
pub struct ReplayedChannel {
    /// The channel.
    pub channel: BusyChannel,
    /// The positions of jobs, with the part of its bytes that each has put there.
    pub jobs: Vec<(u32, f64)>,
    /// How many jobs used it.
    pub users: u32,
}

/// How a machine's jobs went.
#[derive(Debug, Clone, Serialize)]
pub struct Replay {
    /// The jobs that were done, in the order in which they could begin.
    pub jobs: Vec<ReplayedJob>,
    /// Collectives of all jobs.
    pub collectives: u64,
    /// When the last job was done, in seconds.
    pub makespan_s: f64,
    /// The part of the time of all nodes, from the first start to the last end, in which they had a job.
    pub occupied: f64,
    /// The channels that carried the most, each in parts of what it can carry in that time.
    pub channels: Vec<ReplayedChannel>,
    /// Whether all jobs were done.
    pub completed: bool,
}

/// Channels that are reported, and jobs of each.
const BUSIEST: usize = 10;
const SHARERS: usize = 3;
/// Events between two looks at whether the run is to stop.
const LOOK: u64 = 1024;

/// Runs the jobs of a machine: each begins once it may, in this order, as soon as the allocator has nodes for it. With
/// `backfill` later jobs begin on nodes that the first one that waits leaves free (EASY backfilling, Mu'alem and
/// Feitelson, 2001).
///
/// # Errors
/// [`Error::Workload`] for a job that the network has no room for, for an application that cannot be built for a job, and for
/// an unknown allocator; [`Error::Routing`] as [`Paths::walk`](super::Paths::walk).
pub fn replay(
    network: &Network,
    routing: &AnyRouting,
    (jobs, phases): (&[PastJob], &[Phase]),
    (allocator, backfill): (&str, bool),
    config: &FlowConfig,
    control: &dyn Control,
) -> Result<Replay> {
    check(config)?;
    let each = network.any_structure().hosts().map_or(1, |hosts| hosts.terminals);
    let mut allocator = Allocator::new(allocator, network, each)?;
    allocator.occupy(network);
    let room = allocator.num_free();
    if let Some(job) = jobs.iter().find(|job| job.nodes as usize > room) {
        return Err(Error::Workload(format!(
            "job {} has {}; {} has {room} for jobs",
            job.name,
            several(job.nodes, "node"),
            network.spec()
        )));
    }
    let mut order: Vec<usize> = (0..jobs.len()).collect();
    order.sort_by(|a, b| jobs[*a].eligible_s().total_cmp(&jobs[*b].eligible_s()));
    let loads = Loads::new(network, routing, config);
    let machine = Machine {
        jobs,
        phases,
        room: Room::of(network, None),
        each,
        allocator,
        backfill,
        fluid: Fluid::new(loads.capacities.len()),
        loads,
        running: BTreeMap::new(),
        computing: BinaryHeap::new(),
        queue: VecDeque::new(),
        now_s: 0.0,
        done: Vec::new(),
        collectives: 0,
        totals: BTreeMap::new(),
    };
    machine.run(&order, network, room, control)
}

/// Rejects options that mean nothing to fluids.
fn check(config: &FlowConfig) -> Result<()> {
    let default = FlowConfig::default();
    let given = [
        ("model", config.model != default.model),
        ("latency", config.latency_s > 0.0),
        ("coalesce", config.coalesce > 0.0),
        ("symmetry", config.symmetry != default.symmetry),
    ];
    match given.iter().find(|(_, given)| *given) {
        None => Ok(()),
        Some((name, _)) => {
            Err(Error::Config(format!("{name} of the flow engine does not go with jobs that are replayed")))
        }
    }
}

impl PastJob {
    /// When it may begin.
    fn eligible_s(&self) -> f64 {
        self.start_s.unwrap_or(self.submit_s)
    }

    /// How long it may run.
    fn limit_s(&self) -> f64 {
        self.limit_s.unwrap_or(self.elapsed_s)
    }
}

/// A job that has its nodes.
struct Running {
    job: usize,
    terminals: Vec<u32>,
    start_s: f64,
    collectives: u64,
    left: u64,
    collective_s: f64,
}

/// Bytes of a channel, those who put the most on it, and how many used it.
#[derive(Default)]
struct Total {
    bytes: f64,
    most: Vec<(f64, usize)>,
    users: u32,
}

struct Machine<'a> {
    jobs: &'a [PastJob],
    phases: &'a [Phase],
    room: Room,
    each: u32,
    allocator: Allocator,
    backfill: bool,
    loads: Loads<'a>,
    fluid: Fluid,
    /// By their slots.
    running: BTreeMap<usize, Running>,
    /// Ends of computing, in bits that sort as times do, and slots.
    computing: BinaryHeap<Reverse<(u64, usize)>>,
    queue: VecDeque<usize>,
    now_s: f64,
    done: Vec<(usize, ReplayedJob)>,
    collectives: u64,
    totals: BTreeMap<u32, Total>,
}

impl Machine<'_> {
    fn run(mut self, order: &[usize], network: &Network, nodes: usize, control: &dyn Control) -> Result<Replay> {
        let mut arrivals = order.iter().copied().peekable();
        let (mut ended, mut events, mut completed) = (Vec::new(), 0u64, true);
        loop {
            let arrives_s = arrivals.peek().map_or(f64::INFINITY, |job| self.jobs[*job].eligible_s());
            let computed_s = self.computing.peek().map_or(f64::INFINITY, |Reverse((bits, _))| f64::from_bits(*bits));
            // What is left of a collective can be less than the clock resolves: the fluid passes the time itself.
            let (event_s, fluid_s) = (arrives_s.min(computed_s), self.fluid.next_s());
            if event_s.min(fluid_s) == f64::INFINITY {
                break;
            }
            let until_s = event_s - self.now_s;
            if fluid_s <= until_s {
                self.fluid.pass(fluid_s, &mut ended);
                self.now_s += fluid_s;
            } else {
                self.fluid.pass(until_s, &mut ended);
                self.now_s = event_s;
            }
            let mut is_changed = !ended.is_empty();
            let mut is_free = false;
            for slot in ended.drain(..) {
                is_free |= self.communicated(slot);
            }
            while let Some(Reverse((bits, slot))) = self.computing.peek().copied()
                && f64::from_bits(bits) <= self.now_s
            {
                self.computing.pop();
                is_changed = true;
                is_free |= self.computed(slot);
            }
            while let Some(job) = arrivals.next_if(|job| self.jobs[*job].eligible_s() <= self.now_s) {
                self.queue.push_back(job);
                is_free = true;
            }
            if is_free {
                self.begin_jobs()?;
            }
            if is_changed || is_free {
                self.fluid.settle();
            }
            events += 1;
            if events % LOOK == 0 {
                control.progress(self.collectives);
                if control.cancelled() {
                    completed = false;
                    break;
                }
            }
        }
        Ok(self.finish(order, network, nodes, completed))
    }

    /// Jobs begin in their order, as long as there are nodes for the first.
    fn begin_jobs(&mut self) -> Result<()> {
        while let Some(&job) = self.queue.front() {
            let own = &self.jobs[job];
            match self.allocator.take(own.nodes as usize) {
                Ok(terminals) => self.begin(job, terminals)?,
                Err(what) if self.running.is_empty() => {
                    return Err(Error::Workload(format!("job {} has {} nodes; {what}", own.name, own.nodes)));
                }
                Err(_) => break,
            }
            self.queue.pop_front();
        }
        if self.backfill { self.fill_in() } else { Ok(()) }
    }

    /// Later jobs begin that delay the first one in no case: they end before it can begin, or leave its nodes free.
    fn fill_in(&mut self) -> Result<()> {
        let Some(&first) = self.queue.front() else { return Ok(()) };
        let (begins_s, mut spare) = self.reservation(self.jobs[first].nodes as usize);
        let mut place = 1;
        while place < self.queue.len() && self.allocator.num_free() > 0 {
            let job = self.queue[place];
            let (nodes, limit_s) = (self.jobs[job].nodes as usize, self.jobs[job].limit_s());
            let ends_before = self.now_s + limit_s <= begins_s;
            let taken = if ends_before || nodes <= spare { self.allocator.take(nodes).ok() } else { None };
            let Some(terminals) = taken else {
                place += 1;
                continue;
            };
            spare -= if ends_before { 0 } else { nodes };
            self.begin(job, terminals)?;
            self.queue.remove(place);
        }
        Ok(())
    }

    /// When this many nodes are free at the latest if all jobs end in their limits, and how many more are free then.
    fn reservation(&self, nodes: usize) -> (f64, usize) {
        let end_s = |own: &Running| (own.start_s + self.jobs[own.job].limit_s()).max(self.now_s);
        let mut ends: Vec<(f64, usize)> =
            self.running.values().map(|own| (end_s(own), self.jobs[own.job].nodes as usize)).collect();
        ends.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut free = self.allocator.num_free();
        for (end_s, more) in ends {
            free += more;
            if free >= nodes {
                return (end_s, free - nodes);
            }
        }
        (f64::INFINITY, 0)
    }

    fn begin(&mut self, job: usize, terminals: Vec<u32>) -> Result<()> {
        let own = &self.jobs[job];
        let phase = &self.phases[own.phase];
        let load = match terminals.len() {
            0 | 1 => Load::default(),
            tasks => {
                let named = |error: Error| Error::Workload(format!("job {} of {tasks} tasks: {error}", own.name));
                let workload: Workload = build(&phase.app, self.room.with_tasks(tasks as u32)).map_err(named)?;
                self.loads.of(&workload, &terminals)?
            }
        };
        let collective_s = load.alone_s;
        let (collectives, first_s) = match collective_s > 0.0 {
            true => (((own.elapsed_s / (phase.computing_s + collective_s)).round() as u64).max(1), phase.computing_s),
            false => (0, own.elapsed_s),
        };
        let slot = self.fluid.add(load);
        let (start_s, left) = (self.now_s, collectives);
        self.running.insert(slot, Running { job, terminals, start_s, collectives, left, collective_s });
        self.compute(slot, first_s);
        Ok(())
    }

    fn compute(&mut self, slot: usize, seconds: f64) {
        self.computing.push(Reverse(((self.now_s + seconds).to_bits(), slot)));
    }

    /// A job has computed; true if that was its end.
    fn computed(&mut self, slot: usize) -> bool {
        if self.running[&slot].left == 0 {
            self.end(slot);
            return true;
        }
        self.fluid.begin(slot);
        false
    }

    /// A job has communicated; true if that was its end.
    fn communicated(&mut self, slot: usize) -> bool {
        self.collectives += 1;
        let own = self.running.get_mut(&slot).expect("it communicates");
        own.left -= 1;
        if own.left == 0 {
            self.end(slot);
            return true;
        }
        let computing_s = self.phases[self.jobs[own.job].phase].computing_s;
        self.compute(slot, computing_s);
        false
    }

    fn end(&mut self, slot: usize) {
        let load = self.fluid.remove(slot);
        let own = self.running.remove(&slot).expect("it ran");
        self.allocator.give_back(&own.terminals);
        let seconds = own.collectives as f64 * load.alone_s;
        for (channel, part) in &load.channels {
            let bytes = part * seconds * self.loads.capacities[*channel as usize];
            let total = self.totals.entry(*channel).or_default();
            (total.bytes, total.users) = (total.bytes + bytes, total.users + 1);
            let at = total.most.partition_point(|(more, _)| *more >= bytes);
            total.most.insert(at, (bytes, own.job));
            total.most.truncate(SHARERS);
        }
        let replayed = self.replayed(&own);
        self.done.push((own.job, replayed));
    }

    fn replayed(&self, own: &Running) -> ReplayedJob {
        let job = &self.jobs[own.job];
        let phase = &self.phases[job.phase];
        let cycle_s = phase.computing_s + own.collective_s;
        let alone_s = if own.collectives > 0 { own.collectives as f64 * cycle_s } else { job.elapsed_s };
        ReplayedJob {
            name: job.name.clone(),
            app: phase.app.clone(),
            nodes: job.nodes,
            tasks: job.nodes * self.each,
            submit_s: job.submit_s,
            start_s: own.start_s,
            end_s: self.now_s,
            wait_s: own.start_s - job.eligible_s(),
            collectives: own.collectives,
            collective_s: own.collective_s,
            alone_s,
        }
    }

    fn finish(mut self, order: &[usize], network: &Network, nodes: usize, completed: bool) -> Replay {
        let mut place = vec![0u32; self.jobs.len()];
        (0u32..).zip(order).for_each(|(at, job)| place[*job] = at);
        self.done.sort_by_key(|(job, _)| place[*job]);
        let rank: BTreeMap<usize, u32> = (0u32..).zip(&self.done).map(|(at, (job, _))| (*job, at)).collect();
        let jobs: Vec<ReplayedJob> = self.done.into_iter().map(|(_, job)| job).collect();
        let first_s = jobs.iter().map(|job| job.start_s).fold(f64::INFINITY, f64::min);
        let makespan_s = jobs.iter().map(|job| job.end_s).fold(0.0, f64::max);
        let span_s = (makespan_s - first_s).max(0.0);
        let used: f64 = jobs.iter().map(|job| f64::from(job.nodes) * (job.end_s - job.start_s)).sum();
        let part = |of: f64, all: f64| if all > 0.0 { of / all } else { 0.0 };
        let capacities = &self.loads.capacities;
        let utilisation = |channel: u32, bytes: f64| part(bytes, capacities[channel as usize] * span_s);
        let mut totals: Vec<(u32, Total)> = self.totals.into_iter().collect();
        totals.sort_by(|(a, own), (b, other)| {
            utilisation(*b, other.bytes).total_cmp(&utilisation(*a, own.bytes)).then(a.cmp(b))
        });
        let shared = |(channel, total): &(u32, Total)| ReplayedChannel {
            channel: BusyChannel::of(network, *channel, utilisation(*channel, total.bytes)),
            jobs: total.most.iter().map(|(bytes, job)| (rank[job], bytes / total.bytes)).collect(),
            users: total.users,
        };
        let channels = totals.iter().take(BUSIEST).map(shared).collect();
        let occupied = part(used, nodes as f64 * span_s);
        Replay { jobs, collectives: self.collectives, makespan_s, occupied, channels, completed }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology;
    use crate::watch::NoControl;

    const PHASE: &str = "allreduce:algorithm=ring,size=1MB";

    fn job(name: &str, [submit_s, elapsed_s]: [f64; 2], nodes: u32) -> PastJob {
        PastJob { name: name.to_owned(), submit_s, start_s: None, elapsed_s, limit_s: None, nodes, phase: 0 }
    }

    fn played(spec: &str, jobs: &[PastJob], allocator: &str, computing_s: f64) -> Replay {
        queued(spec, jobs, (allocator, false), computing_s)
    }

    fn queued(spec: &str, jobs: &[PastJob], queue: (&str, bool), computing_s: f64) -> Replay {
        let network = topology::build(spec).expect(spec);
        let routing = crate::routing::build(&network, "min").expect("every network has it");
        let phases = [Phase { app: PHASE.to_owned(), computing_s }];
        let config = FlowConfig { gbps: 8.0, ..FlowConfig::default() };
        replay(&network, &routing, (jobs, &phases), queue, &config, &NoControl).expect("they fit")
    }

    /// Two jobs of two ranks across one link of 1 GB/s: 1 ms of each collective alone, and a link that holds one of
    /// them.
    #[test]
    fn jobs_that_communicate_at_once_share_the_link() {
        let jobs = [job("a", [0.0, 0.1], 2), job("b", [0.0, 0.1], 2)];
        let both = played("mesh:2,p=2", &jobs, "spread", 0.001);
        let [a, b] = both.jobs.as_slice() else { panic!("there are two") };
        assert_eq!((a.collectives, b.collectives, both.collectives), (50, 50, 100));
        assert!((a.collective_s - 1e-3).abs() < 1e-12, "{a:?}");
        assert!((a.end_s - 0.15).abs() < 1e-9 && (b.end_s - 0.15).abs() < 1e-9, "{a:?} {b:?}");
        // Apart they do not meet, and out of step neither.
        assert!((played("mesh:2,p=2", &jobs, "contiguous", 0.001).makespan_s - 0.1).abs() < 1e-9);
        let late = [job("a", [0.0, 0.1], 2), job("b", [0.001, 0.1], 2)];
        assert!((played("mesh:2,p=2", &late, "spread", 0.001).makespan_s - 0.101).abs() < 1e-9);
        let local: Vec<_> = both.channels.iter().filter(|own| own.channel.class == "local").collect();
        assert!((local[0].channel.utilisation - 2.0 / 3.0).abs() < 1e-9, "{local:?}");
        assert_eq!((local[0].users, local[0].jobs.len()), (2, 2));
    }

    #[test]
    fn jobs_wait_in_their_order() {
        let jobs =
            [job("a", [0.0, 10.0], 3), job("b", [1.0, 5.0], 2), job("c", [2.0, 1.0], 1), job("d", [2.0, 1.0], 4)];
        let found = played("mesh:4", &jobs, "contiguous", 1.0);
        let starts: Vec<f64> = found.jobs.iter().map(|job| job.start_s.round()).collect();
        // c would fit at once, but comes after b.
        assert_eq!(starts, [0.0, 10.0, 10.0, 15.0]);
        assert_eq!(found.jobs[1].wait_s.round(), 9.0);
        assert!(found.occupied > 0.7 && found.completed);
    }

    #[test]
    fn jobs_that_delay_no_job_before_them_are_filled_in() {
        let starts = |jobs: &[PastJob]| {
            let found = queued("mesh:4", jobs, ("contiguous", true), 1.0);
            found.jobs.iter().map(|job| job.start_s.round()).collect::<Vec<f64>>()
        };
        let (a, b) = (job("a", [0.0, 10.0], 3), job("b", [1.0, 5.0], 2));
        let [short, long] = [1.0, 20.0].map(|elapsed_s| job("c", [2.0, elapsed_s], 1));
        assert_eq!(starts(&[a.clone(), b.clone(), short.clone(), job("d", [2.0, 1.0], 4)]), [0.0, 10.0, 2.0, 15.0]);
        // One of the two nodes that b leaves free is enough.
        assert_eq!(starts(&[a.clone(), b, long.clone()]), [0.0, 10.0, 2.0]);
        let all = job("b", [1.0, 5.0], 4);
        assert_eq!(starts(&[a.clone(), all.clone(), long]), [0.0, 10.0, 15.0]);
        // It might run as long as it is allowed to.
        let limited = PastJob { limit_s: Some(20.0), ..short };
        assert_eq!(starts(&[a, all, limited]), [0.0, 10.0, 15.0]);
    }
}
