//! Terminals: infinite source queues that create packets ahead of time and send at most one flit per cycle.
//!
//! A source draws the creation time of its next packet, not a trial in each cycle; while it is backlogged its clock
//! lags, which equals an infinite queue at no cost in memory.

use std::ops::Range;
use std::sync::Arc;

use super::channels::Wheel;
use super::config::Injection;
use super::flit::{FRESH, Flit, HEAD, TAIL};
use super::pace::Pace;
use super::quick_log::QuickLog;
use super::sizes::Sizes;
use super::table::{Part, Table, TableMaker};
use super::workload_driver::{WorkloadDriver, WorkloadPlan};
use super::{Config, Setup};
use crate::memory::Region;
use crate::network::TerminalId;
use crate::rng::{KeptRng, Rng};
use crate::traffic::{Trace, Traffic};

/// Never: the creation time of a silent source's next packet.
pub const NEVER: u32 = u32::MAX;

/// One source, in one cache line.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
struct TrafficSource {
    rng: KeptRng,
    /// Creation time of the next packet.
    next: u32,
    /// When it next tries to send; meaningless while it is blocked.
    wake: u32,
    /// The input VC that it fills: VC 0 of its port.
    target: u32,
    /// The terminal's id in the network.
    id: u32,
    /// Flits of the packet still to be sent.
    left: u32,
    /// Flits of the packet after that.
    size: u32,
    /// The VC of the packet being sent, or last used.
    vc: u8,
    /// The VCs that it may send into, a bit each.
    vcs: u64,
    /// The on-off process is on.
    on: bool,
}

/// What the terminals offer to the network: traffic, or the messages of a workload.
#[derive(Debug, Clone, Copy)]
pub struct Offer<'a> {
    /// The traffic; silent beside a workload.
    pub traffic: &'a Traffic,
    /// The workload, if there is one.
    pub workload: Option<&'a Arc<WorkloadPlan>>,
    /// Flits per cycle of a terminal that sends.
    pub load: f64,
}

impl<'a> Offer<'a> {
    /// Traffic alone.
    #[cfg(test)]
    pub fn of(traffic: &'a Traffic, load: f64) -> Self {
        Self { traffic, workload: None, load }
    }

    /// The trace that is replayed, if that is what is offered.
    pub fn trace(self) -> Option<&'a Trace> {
        self.traffic.trace()
    }

    /// True if packets are drawn, not given.
    pub fn is_drawn(self) -> bool {
        self.workload.is_none() && self.trace().is_none()
    }
}

/// The sources of one domain.
#[derive(Debug)]
pub struct Terminals {
    sources: Table<TrafficSource>,
    /// The flit that follows, while a source sends a packet of several; empty if all are of one flit: see `single`.
    following: Table<Flit>,
    /// True for sources that wait for a credit.
    blocked: Table<bool>,
    /// Flits in the router's injection buffers, 2^`log` to a terminal.
    occupancy: Table<u16>,
    /// Those of them in slots that VCs share, by terminal; empty if none are shared.
    shared: Table<u32>,
    /// Slots of each VC's own, and slots that the VCs of a port share.
    reserve: u32,
    pool: u32,
    /// A packet needs room for all of it.
    cut_through: bool,
    log: u32,
    vcs: u32,
    sizes: Sizes,
    latency: u32,
    /// How far apart each source sends; empty unless `paced`.
    pacers: Table<Pacer>,
    paced: bool,
    wheel: Wheel<u32>,
    /// One for all, or one for each source.
    processes: Table<Process>,
    /// Of the process of all.
    gaps: Gaps,
    /// Sources do nothing but what most do, with these gaps between packets, as for [`Process::Bernoulli`]: see
    /// [`Terminals::single_flits`].
    single: Option<f64>,
    demand: Demand,
    /// Sources that have got something to send; empty between calls.
    woken: Vec<u32>,
}

/// When a source whose link is slow may send its next flit.
#[derive(Debug, Clone, Copy)]
struct Pacer {
    pace: Pace,
    free: u32,
}

/// What sources send, if it is not drawn.
#[derive(Debug)]
enum Demand {
    /// Drawn from the pattern.
    Drawn,
    /// The packets that each source still has to send of the trace that is replayed.
    Trace(Table<Range<u32>>),
    /// The messages of a workload.
    Messages(Box<WorkloadDriver>),
}

impl Demand {
    fn new(tables: &TableMaker, offer: Offer<'_>, terminals: &[(TerminalId, u32)]) -> Self {
        let ids = terminals.iter().map(|(terminal, _)| *terminal);
        match (offer.workload, offer.trace()) {
            (Some(plan), _) => Self::Messages(Box::new(WorkloadDriver::new(plan, ids))),
            (_, Some(trace)) => Self::Trace(tables.of(ids.map(|terminal| trace.of(terminal)))),
            _ => Self::Drawn,
        }
    }
}

/// The injection process with its probabilities a cycle.
#[derive(Debug, Clone, Copy)]
enum Process {
    Never,
    /// ln(1 - p), for geometric gaps.
    Bernoulli(f64),
    OnOff {
        alpha: f64,
        beta: f64,
        rate: f64,
    },
}

/// How far ahead a source is put into the wheel at most; a later one goes round again.
const HORIZON: u32 = 1023;

impl Terminals {
    /// The sources with these (terminal, input VC 0 of its port).
    pub fn new(setup: &Setup, terminals: &[(TerminalId, u32)], offer: Offer<'_>, region: Option<&Region>) -> Self {
        let (config, Offer { traffic, load, .. }) = (&setup.config, offer);
        let own = if setup.rates.is_empty() { 1 } else { terminals.len() };
        let rates = terminals.iter().take(own).map(|(terminal, _)| load * setup.rate_of(*terminal));
        let processes: Vec<Process> = rates.map(|load| Process::new(config, load)).collect();
        let source = |&(id, target): &(TerminalId, u32)| TrafficSource {
            rng: KeptRng::stream(config.seed, u64::from(id.0) | 1 << 63),
            next: NEVER,
            wake: NEVER,
            target,
            id: id.0,
            left: 0,
            size: 0,
            vc: setup.vcs as u8 - 1,
            vcs: setup.injection_vcs(id),
            on: false,
        };
        let (reserve, pool) = setup.places();
        let plain =
            own == 1 && offer.is_drawn() && setup.injection_paces.is_empty() && matches!(config.packet, Sizes::One(1));
        let single = match processes[..] {
            [Process::Bernoulli(log)] if plain => Some(log),
            _ => None,
        };
        // SAFETY: sources are numbered from 0 without gaps, and their VCs 2^`log` to each. Sources are woken by these
        // numbers, and credits come back with those of the VCs that the domain gave to the channels. Shared slots are
        // counted only where there are some: else no VC holds more than its own. A source has flits left to send only where
        // packets are of several.
        let tables = unsafe { TableMaker::promise() }.within(region);
        let mut this = Self {
            sources: tables.of(terminals.iter().map(source)),
            following: tables.filled(Flit::NONE, if single.is_some() { 0 } else { terminals.len() }),
            blocked: tables.filled(false, terminals.len()),
            occupancy: tables.filled(0, terminals.len() * setup.stride as usize),
            shared: tables.filled(0, if pool > 0 { terminals.len() } else { 0 }),
            reserve,
            pool,
            cut_through: setup.interface.cut_through,
            log: setup.stride.trailing_zeros(),
            vcs: setup.vcs,
            sizes: config.packet.clone(),
            latency: setup.injection_cycles,
            pacers: tables.of(terminals
                .iter()
                .filter_map(|(id, _)| setup.injection_paces.get(id.index()))
                .map(|&pace| Pacer { pace, free: 0 })),
            paced: !setup.injection_paces.is_empty(),
            wheel: Wheel::new(HORIZON),
            gaps: processes.first().map_or_else(Gaps::default, |process| process.gaps(own)),
            processes: tables.of(processes),
            single,
            demand: Demand::new(&tables, offer, terminals),
            woken: Vec::new(),
        };
        if let Demand::Messages(driver) = &mut this.demand {
            driver.start(&mut this.woken);
            this.wake(0);
            return this;
        }
        for place in 0..terminals.len() {
            let source = &mut this.sources[place];
            if traffic.is_active(TerminalId(source.id)) {
                let process = this.processes[if own > 1 { place } else { 0 }];
                source.on = source.rng.draw(|rng| process.starts_on(rng));
                (source.next, source.size) = match (&this.demand, traffic.trace()) {
                    (Demand::Trace(replayed), Some(trace)) => next_of(trace, &replayed[place]),
                    _ => process.next(source, 0, &this.sizes, &this.gaps),
                };
                this.schedule(place as u32, source_wake(&this.sources[place], 0), 0);
            }
        }
        this
    }

    #[inline(always)]
    fn schedule(&mut self, place: u32, wake: u32, now: u32) {
        self.sources[place as usize].wake = wake;
        if wake != NEVER {
            self.wheel.push(wake.min(now + HORIZON), place);
        }
    }

    /// A credit has come back for VC `index` (2^`log` to a terminal).
    #[inline(always)]
    pub fn credit(&mut self, index: u32, now: u32) {
        let place = index >> self.log;
        let occupancy = &mut self.occupancy[index as usize];
        if u32::from(*occupancy) > self.reserve {
            self.shared[place as usize] -= 1;
        }
        *occupancy -= 1;
        if self.blocked[place as usize] {
            self.blocked[place as usize] = false;
            self.schedule(place, now, now);
        }
    }

    /// The sources that may send in this cycle; give the vector back with [`Terminals::recycle`].
    #[inline(always)]
    pub fn awake(&mut self, now: u32) -> Vec<u32> {
        self.wheel.take(now)
    }

    /// Gives the memory back.
    #[inline(always)]
    pub fn recycle(&mut self, awake: Vec<u32>) {
        self.wheel.recycle(awake);
    }

    /// The source at `place` will be asked soon.
    #[inline(always)]
    pub fn expect(&self, place: u32) {
        self.sources.prefetch(place as usize);
        self.occupancy.prefetch((place as usize) << self.log);
    }

    /// The sources, if all packets are of one flit, and drawn by one Bernoulli process, and sent over links of full rate:
    /// then they have less to look at than [`Terminals::send`].
    #[inline(always)]
    pub fn single_flits(&mut self) -> Option<SingleFlits<'_>> {
        let log = self.single?;
        let (sources, vcs, sharing) = (self.sources.len(), self.occupancy.len(), self.shared.len());
        Some(SingleFlits {
            sources: self.sources.part(0, sources),
            blocked: self.blocked.part(0, sources),
            occupancy: self.occupancy.part(0, vcs),
            shared: self.shared.part(0, sharing),
            reserve: self.reserve,
            pool: self.pool,
            stride: self.log,
            vcs: self.vcs,
            wheel: &mut self.wheel,
            gaps: &self.gaps,
            log,
        })
    }

    /// Lets the source at `place` send: returns the flit, with the input VC that it is sent into.
    #[inline(always)]
    pub fn send(&mut self, place: u32, now: u32, traffic: &Traffic, targets: &[(u32, u16)]) -> Option<(u32, Flit)> {
        let wake = self.sources[place as usize].wake;
        if wake > now {
            self.schedule(place, wake, now);
            return None;
        }
        if self.paced && self.pacers[place as usize].free > now {
            self.schedule(place, self.pacers[place as usize].free, now);
            return None;
        }
        if self.sources[place as usize].is_undecided() && !self.decide(place, now) {
            return None;
        }
        let Some(vc) = self.choose_vc(place) else {
            self.blocked[place as usize] = true;
            return None;
        };
        let mut flit = if self.sources[place as usize].left == 0 {
            self.begin(place, vc as u8, now, traffic, targets)
        } else {
            self.following[place as usize]
        };
        let source = &mut self.sources[place as usize];
        source.left -= 1;
        if source.left == 0 {
            flit.kind |= TAIL;
        } else {
            self.following[place as usize] = Flit { kind: 0, ..flit };
            if flit.is_head() {
                flit.injected = source.left + 1;
            }
        }
        let target = source.target + vc;
        let occupancy = &mut self.occupancy[((place as usize) << self.log) + vc as usize];
        *occupancy += 1;
        if u32::from(*occupancy) > self.reserve {
            self.shared[place as usize] += 1;
        }
        let next = if self.paced { self.pace(place, now) } else { now + 1 };
        let wake = source_wake(&self.sources[place as usize], next);
        self.schedule(place, wake, now);
        Some((target, flit))
    }

    /// The head of the next packet of the source at `place`, which fills VC `vc`; draws the packet after it.
    #[inline(always)]
    fn begin(&mut self, place: u32, vc: u8, now: u32, traffic: &Traffic, targets: &[(u32, u16)]) -> Flit {
        let source = &mut self.sources[place as usize];
        let mut created = source.next;
        (source.left, source.vc) = (source.size, vc);
        let given = Self::given(&mut self.demand, place, now, traffic, &mut created);
        // Not a closure, which is called instead of inlined.
        let (terminal, next) = match given {
            Some(given) => given,
            None => {
                let terminal = source.rng.draw(|rng| traffic.destination(TerminalId(source.id), rng));
                let process = &self.processes[if self.processes.len() > 1 { place as usize } else { 0 }];
                (terminal, process.next(source, created.saturating_add(1), &self.sizes, &self.gaps))
            }
        };
        (source.next, source.size) = next;
        head_of_packet(targets[terminal.index()], created, now)
    }

    /// The destination of the packet that the source at `place` begins, and when it creates the next one, of how many flits;
    /// `None` where they are drawn.
    #[inline(always)]
    fn given(
        demand: &mut Demand,
        place: u32,
        now: u32,
        traffic: &Traffic,
        created: &mut u32,
    ) -> Option<(TerminalId, (u32, u32))> {
        match demand {
            Demand::Drawn => None,
            Demand::Trace(replayed) => {
                let (rest, trace) = (&mut replayed[place as usize], traffic.trace().expect("one is replayed"));
                let packet = trace.packet(rest.start);
                rest.start += 1;
                Some((packet.destination, next_of(trace, rest)))
            }
            Demand::Messages(driver) => {
                let packet = driver.take(place, now);
                // Packets of a workload bear their message where others bear the cycle of their creation.
                *created = packet.message;
                let next = driver.next(place, now).map_or((NEVER, 0), |next| (next.cycle, next.flits));
                Some((packet.destination, next))
            }
        }
    }

    /// A source has sent a flit: returns when its link is free for the next one.
    fn pace(&mut self, place: u32, now: u32) -> u32 {
        let Pacer { pace, free } = &mut self.pacers[place as usize];
        *free = pace.next(0, now, now <= *free);
        *free
    }

    /// Follows the injection process of a source up to `now`, and returns whether a packet waits there; if not, the
    /// source is asked again.
    #[cold]
    fn decide(&mut self, place: u32, now: u32) -> bool {
        let process = self.processes[if self.processes.len() > 1 { place as usize } else { 0 }];
        let source = &mut self.sources[place as usize];
        while source.is_undecided() && source.next <= now {
            (source.next, source.size) = process.next(source, source.next, &self.sizes, &self.gaps);
        }
        let next = source.next;
        if next > now {
            self.schedule(place, next, now);
        }
        next <= now
    }

    /// The VC for the next flit: the packet's own, or the next one after the last used that is not full.
    #[inline(always)]
    fn choose_vc(&self, place: u32) -> Option<u32> {
        let source = &self.sources[place as usize];
        let base = (place as usize) << self.log;
        let shared = if self.pool > 0 { self.pool - self.shared[place as usize] } else { 0 };
        let room = |vc: u32, flits: u32| {
            let before = u32::from(self.occupancy[base + vc as usize]);
            before + flits <= self.reserve.max(before) + shared
        };
        let last = u32::from(source.vc);
        if source.left > 0 {
            return room(last, 1).then_some(last);
        }
        let flits = if self.cut_through { source.size } else { 1 };
        source.next_vc(self.vcs, |vc| room(vc, flits))
    }

    /// The messages of the workload that is played.
    pub fn driver(&self) -> Option<&WorkloadDriver> {
        match &self.demand {
            Demand::Messages(driver) => Some(driver),
            _ => None,
        }
    }

    /// The same, to be changed.
    pub fn driver_mut(&mut self) -> Option<&mut WorkloadDriver> {
        match &mut self.demand {
            Demand::Messages(driver) => Some(driver),
            _ => None,
        }
    }

    /// The cycle in which the packet of a head that is sent now was created; for a workload, now.
    #[inline(always)]
    pub fn created(&self, flit: &Flit, now: u32) -> u32 {
        if matches!(self.demand, Demand::Messages(_)) { now } else { flit.created }
    }

    /// A tail has reached its terminal; returns when its packet was created, as [`Terminals::created`] set it.
    #[inline(always)]
    pub fn arrived(&mut self, flit: &Flit, now: u32) -> u32 {
        if let Demand::Messages(driver) = &mut self.demand {
            driver.arrived(flit.created, now, &mut self.woken);
            self.wake(now);
            return flit.injected;
        }
        flit.created
    }

    /// Lets the tasks of a workload continue that have computed until now, and takes in acknowledgements.
    #[inline(always)]
    pub fn tick(&mut self, now: u32) {
        if let Demand::Messages(driver) = &mut self.demand {
            driver.tick(now, &mut self.woken);
            driver.take_acknowledgements(now, &mut self.woken);
            self.wake(now);
        }
    }

    /// The woken sources have a packet to send from `now` on, after the one that they are sending.
    fn wake(&mut self, now: u32) {
        let mut woken = std::mem::take(&mut self.woken);
        for place in woken.drain(..) {
            let next = self.driver().and_then(|driver| driver.next(place, now));
            let source = &mut self.sources[place as usize];
            (source.next, source.size) = next.map_or((now, 0), |next| (next.cycle, next.flits));
            if source.left == 0 {
                let wake = source.next;
                self.schedule(place, wake, now);
            }
        }
        self.woken = woken;
    }

    /// Cycles from sending a flit to its being at hand in the router.
    pub fn latency(&self) -> u32 {
        self.latency
    }

    /// Sources that still have a packet created before `time` to send, or one half sent.
    pub fn behind(&self, time: u32) -> usize {
        let half_sent = |place: usize| self.following[place].created < time;
        let is_behind = |(place, s): &(usize, &TrafficSource)| s.next < time || (s.left > 0 && half_sent(*place));
        self.sources.iter().enumerate().filter(is_behind).count()
    }
}

/// The sources of a domain where they do nothing but what most do: see [`Terminals::single_flits`].
pub struct SingleFlits<'a> {
    sources: Part<'a, TrafficSource>,
    blocked: Part<'a, bool>,
    occupancy: Part<'a, u16>,
    shared: Part<'a, u32>,
    reserve: u32,
    pool: u32,
    /// VCs stand 2^`stride` to a terminal.
    stride: u32,
    vcs: u32,
    wheel: &'a mut Wheel<u32>,
    gaps: &'a Gaps,
    log: f64,
}

impl SingleFlits<'_> {
    /// As [`Terminals::expect`].
    #[inline(always)]
    pub fn expect(&self, place: u32) {
        self.sources.prefetch(place as usize);
        self.occupancy.prefetch((place as usize) << self.stride);
    }

    /// As [`Terminals::send`].
    #[inline(always)]
    pub fn send(&mut self, place: u32, now: u32, traffic: &Traffic, targets: &[(u32, u16)]) -> Option<(u32, Flit)> {
        let source = &mut self.sources[place as usize];
        if source.next > now {
            self.wheel.push(source.next.min(now + HORIZON), place);
            return None;
        }
        let base = (place as usize) << self.stride;
        let has_room = |vc: u32| {
            u32::from(self.occupancy[base + vc as usize]) < self.reserve
                || self.pool > 0 && self.shared[place as usize] < self.pool
        };
        let Some(vc) = source.next_vc(self.vcs, has_room) else {
            self.blocked[place as usize] = true;
            return None;
        };
        let occupancy = &mut self.occupancy[base + vc as usize];
        *occupancy += 1;
        if self.pool > 0 && u32::from(*occupancy) > self.reserve {
            self.shared[place as usize] += 1;
        }
        source.vc = vc as u8;
        let created = source.next;
        // Not in a closure, which is called instead of inlined.
        let mut rng = source.rng.get();
        let terminal = traffic.destination(TerminalId(source.id), &mut rng);
        source.next = self.gaps.next(created.saturating_add(1), self.log, &mut rng);
        source.rng.keep(rng);
        if source.next != NEVER {
            self.wheel.push(source.next.max(now + 1).min(now + HORIZON), place);
        }
        let mut flit = head_of_packet(targets[terminal.index()], created, now);
        flit.kind |= TAIL;
        Some((source.target + vc, flit))
    }
}

/// When the first of the packets in these slots of a trace is created, and its flits.
fn next_of(trace: &Trace, rest: &Range<u32>) -> (u32, u32) {
    if rest.is_empty() {
        return (NEVER, 0);
    }
    let packet = trace.packet(rest.start);
    (packet.created, packet.flits)
}

/// The head of a packet to a terminal at that router and output.
#[inline(always)]
fn head_of_packet((dst, eject): (u32, u16), created: u32, injected: u32) -> Flit {
    Flit { dst, eject, created, injected, kind: HEAD | FRESH, ..Flit::NONE }
}

/// When a source next has something to send, from `earliest` on.
#[inline(always)]
fn source_wake(source: &TrafficSource, earliest: u32) -> u32 {
    if source.left > 0 { earliest } else { source.next.max(earliest) }
}

impl Process {
    fn new(config: &Config, load: f64) -> Self {
        let rate = config.packet_rate(load);
        match config.injection {
            _ if rate == 0.0 => Self::Never,
            Injection::Bernoulli => Self::Bernoulli((-rate.min(1.0)).ln_1p()),
            Injection::OnOff { alpha, beta } => Self::OnOff { alpha, beta, rate },
        }
    }

    /// What spares it most logarithms, if it is the only one of `processes`.
    fn gaps(&self, processes: usize) -> Gaps {
        match *self {
            Self::Bernoulli(log) if processes == 1 => Gaps::new(log),
            _ => Gaps::default(),
        }
    }

    fn starts_on(&self, rng: &mut Rng) -> bool {
        match self {
            Process::OnOff { alpha, beta, .. } => rng.unit() <= alpha / (alpha + beta),
            _ => true,
        }
    }

    /// The first packet from cycle `from` on: when it is created, and its flits; 0 flits if none is up to then.
    #[inline(always)]
    fn next(&self, source: &mut TrafficSource, from: u32, sizes: &Sizes, gaps: &Gaps) -> (u32, u32) {
        let created = match *self {
            Process::Never => NEVER,
            Process::Bernoulli(log) => source.rng.draw(|rng| gaps.next(from, log, rng)),
            Process::OnOff { alpha, beta, rate } => match source.on_off(from, alpha, beta, rate) {
                Ok(created) => created,
                Err(reached) => return (reached, 0),
            },
        };
        (created, source.rng.draw(|rng| sizes.draw(rng)))
    }
}

/// Failures before a success, log being ln(1 - p), as a real to be rounded down.
#[inline(always)]
fn failures(grains: u64, log: f64) -> f64 {
    Rng::real(grains).ln() / log
}

/// When a packet is created where neither short nor quick gaps decide.
#[cold]
fn slowly(from: u32, grains: u64, log: f64) -> u32 {
    later(from, failures(grains, log))
}

/// `from` plus a number of failures, as a cycle that is not past the end of time.
#[inline(always)]
fn later(from: u32, failures: f64) -> u32 {
    (f64::from(from) + failures.min(4e9)).min(f64::from(NEVER)) as u32
}

/// Geometric gaps, the short ones without a logarithm.
#[derive(Debug)]
struct Gaps {
    /// For each number of failures, the first and last draws that certainly mean it, whatever is rounded; behind them, none.
    draws: [(u64, u64); 16],
    /// By the highest bits of a draw, the least number of failures that it can mean.
    least: [u8; 1 << Self::BITS[1]],
    /// Longer ones.
    quick: QuickLog,
}

impl Default for Gaps {
    /// A logarithm decides all.
    fn default() -> Self {
        Self { draws: [Self::NO_DRAW; 16], least: [0; 1 << Self::BITS[1]], quick: QuickLog::default() }
    }
}

impl Gaps {
    /// ln(1 - p) of the least p at which short ones pay.
    const LEAST: f64 = -0.16;
    /// Gaps that are looked for.
    const LONGEST: u32 = 12;
    /// The first and last of no draws.
    const NO_DRAW: (u64, u64) = (0, 0);
    /// How far from a whole number failures must be: more than the sum with any cycle is rounded by.
    const MARGIN: f64 = 1e-6;
    /// The bits of a draw, and how many of the highest are the index into [`Gaps::least`].
    const BITS: [u32; 2] = [53, 8];

    fn new(log: f64) -> Self {
        let [all, high] = Self::BITS;
        let mut gaps = Self { quick: QuickLog::new(log), ..Self::default() };
        if log >= Self::LEAST {
            return gaps;
        }
        if log == f64::NEG_INFINITY {
            // A packet in each cycle: any draw means no failure.
            gaps.draws[0] = (0, u64::MAX);
            return gaps;
        }
        let draw = |failures: f64| (log * failures).exp() * (1u64 << 53) as f64;
        let of = |gap: f64| (draw(gap + 1.0 - Self::MARGIN).ceil() as u64, draw(gap + Self::MARGIN).floor() as u64);
        for (gap, draws) in (0..Self::LONGEST).zip(&mut gaps.draws) {
            *draws = of(gap.into());
        }
        for (highest, least) in (0u64..).zip(&mut gaps.least) {
            let last = (highest + 1) << (all - high);
            *least = gaps.draws.iter().take_while(|&&(first, _)| first > last).count() as u8;
        }
        gaps
    }

    /// When a packet is created, from cycle `from` on, by a process whose probability of none in a cycle is e^`log`.
    #[inline(always)]
    fn next(&self, from: u32, log: f64, rng: &mut Rng) -> u32 {
        let grains = rng.grains();
        match self.of(grains) {
            Some(gap) => from.saturating_add(gap),
            None => self.quick.cycle(from, grains).unwrap_or_else(|| slowly(from, grains, log)),
        }
    }

    /// The failures that a draw means; `None` if a logarithm must decide.
    #[inline(always)]
    fn of(&self, grains: u64) -> Option<u32> {
        let [all, high] = Self::BITS;
        let mut gap = usize::from(self.least[((grains - 1) >> (all - high)) as usize & (self.least.len() - 1)]);
        loop {
            let (first, last) = self.draws[gap & (self.draws.len() - 1)];
            if grains >= first {
                return (grains <= last).then_some(gap as u32);
            }
            gap += 1;
        }
    }
}

/// How many cycles the on-off process is followed at a time: at a low load it may be 10^9 to the next packet, more than
/// most runs have.
const STRETCH: u32 = 4096;

impl TrafficSource {
    /// The next of the VCs that it may send into, of `vcs` in all, from the one behind the last used on, that has room.
    #[inline(always)]
    fn next_vc(&self, vcs: u32, has_room: impl Fn(u32) -> bool) -> Option<u32> {
        let from = if u32::from(self.vc) + 1 == vcs { 0 } else { u32::from(self.vc) + 1 };
        // Only those that it may send into are looked at: where they are half of all, each look at a bit is mispredicted half
        // the time.
        let mut left = self.vcs.rotate_right(from);
        while left != 0 {
            let vc = (left.trailing_zeros() + from) % u64::BITS;
            if has_room(vc) {
                return Some(vc);
            }
            left &= left - 1;
        }
        None
    }

    /// True if the injection process was followed up to `next`, and has created no packet.
    #[inline(always)]
    fn is_undecided(&self) -> bool {
        self.left == 0 && self.size == 0
    }

    /// Runs the Markov process from cycle `from` on to the next cycle that creates a packet. In each cycle the state
    /// changes first, then an on source creates with probability `rate`. Returns the cycle to continue from, as an
    /// error, if there is no packet for a while.
    fn on_off(&mut self, from: u32, alpha: f64, beta: f64, rate: f64) -> Result<u32, u32> {
        let mut cycle = from;
        while cycle < from.saturating_add(STRETCH) {
            if !self.on {
                // Geometric: cycles that it stays off.
                cycle = later(cycle, if alpha < 1.0 { self.rng.draw(Rng::unit).ln() / (-alpha).ln_1p() } else { 0.0 });
                self.on = true;
            } else if self.rng.draw(Rng::unit) <= beta {
                self.on = false;
                cycle = cycle.saturating_add(1);
                continue;
            }
            if self.rng.draw(Rng::unit) <= rate {
                return Ok(cycle);
            }
            cycle = cycle.saturating_add(1);
        }
        Err(cycle)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the terminals of a small network send in the first cycles, when credits come back after 9 of them, or never.
    fn sent(quick: bool, config: &str, load: f64, credits: bool) -> Vec<(u32, u32, String)> {
        let network = crate::topology::build("hyperx:3,p=2").unwrap();
        let config: Config = serde_json::from_str(config).unwrap();
        let setup = Setup::new(&network, "dor", 1, 2, &config).unwrap();
        let traffic = crate::traffic::build(&network, "uniform").unwrap();
        let places: Vec<(TerminalId, u32)> = (0..6).map(|id| (TerminalId(id), id * setup.stride)).collect();
        let mut terminals = Terminals::new(&setup, &places, Offer::of(&traffic, load), None);
        assert!(terminals.single_flits().is_some());
        let (targets, mut sent) = ([(0, 0); 6], Vec::new());
        for now in 0..400 {
            let awake = terminals.awake(now);
            for &place in &awake {
                let single = terminals.single_flits().filter(|_| quick);
                let flit = match single {
                    Some(mut sources) => sources.send(place, now, &traffic, &targets),
                    None => terminals.send(place, now, &traffic, &targets),
                };
                if let Some((to, flit)) = flit {
                    sent.push((now, to, format!("{flit:?}")));
                }
            }
            terminals.recycle(awake);
            let back: Vec<u32> = sent.iter().filter(|sent| credits && sent.0 + 9 == now).map(|sent| sent.1).collect();
            back.iter().for_each(|&vc| terminals.credit(vc, now));
        }
        sent
    }

    #[test]
    fn single_flits_are_sent_as_any_others() {
        for config in ["{}", r#"{"buffer": 8, "buffers": "shared:6"}"#] {
            for (load, credits) in [(0.05, true), (0.6, true), (1.0, true), (0.6, false)] {
                let quick = sent(true, config, load, credits);
                assert!(quick.len() > 50);
                assert_eq!(quick, sent(false, config, load, credits), "{config} {load} {credits}");
            }
        }
    }

    #[test]
    fn gaps_that_are_looked_up_are_those_of_the_logarithm() {
        for p in [0.15f64, 0.3, 0.5, 0.9, 0.999_999, 1.0] {
            let (log, mut rng) = ((-p).ln_1p(), Rng::stream(1, 2));
            let gaps = Gaps::new(log);
            let found = (0..20_000).filter(|draw| {
                let grains = rng.grains();
                let Some(gap) = gaps.of(grains) else { return false };
                let from = draw * 200_000;
                assert_eq!(from + gap, later(from, failures(grains, log)), "{p} {grains}");
                true
            });
            let enough = 1.0 - (1.0 - p).powi(12);
            assert!(found.count() as f64 > 19_700.0 * enough, "{p}");
        }
    }

    #[test]
    fn where_a_logarithm_is_close_to_a_whole_number_it_decides() {
        let log = (-0.5f64).ln_1p();
        let gaps = Gaps::new(log);
        // Two to the minus gap: as many failures exactly.
        assert!((0..12).all(|gap| gaps.of((1u64 << 53) >> gap).is_none()));
        assert_eq!(gaps.of((1u64 << 53) / 3), Some(1));
    }

    #[test]
    fn the_next_vc_is_the_first_with_room_behind_the_last_one() {
        let source = |vc, vcs| TrafficSource {
            rng: KeptRng::stream(1, 1),
            next: NEVER,
            wake: NEVER,
            target: 0,
            id: 0,
            left: 0,
            size: 0,
            vc,
            vcs,
            on: false,
        };
        for (all, last) in (1..=4u32).flat_map(|all| (0..all).map(move |last| (all, last))) {
            for (allowed, room) in
                (0..1u64 << all).flat_map(|allowed| (0..1u64 << all).map(move |room| (allowed, room)))
            {
                let turn = (1..=all).map(|after| (last + after) % all);
                let expected = turn.into_iter().find(|&vc| allowed >> vc & 1 == 1 && room >> vc & 1 == 1);
                let found = source(last as u8, allowed).next_vc(all, |vc| room >> vc & 1 == 1);
                assert_eq!(found, expected, "{all} VCs, {allowed:b} behind {last}, room in {room:b}");
            }
        }
        // The last of as many as there can be is followed by the first.
        assert_eq!(source(63, u64::MAX).next_vc(64, |_| true), Some(0));
        assert_eq!(source(62, u64::MAX).next_vc(64, |vc| vc != 63), Some(0));
    }
}
