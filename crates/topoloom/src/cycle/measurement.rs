//! Runs a point: warm-up, measurement, drain, verdict.
//!
//! Without a fixed length, the warm-up ends when MSER (White, 1997) finds the start of the series of mean latencies
//! behind it, and the run ends when the 95 % interval of the mean latency, from batch means and widened by what
//! correlation is left between them, is narrow enough. Packets are measured by when they are *created*, and all of them
//! are waited for, so that slow packets count as much as fast ones.

use serde::Serialize;

use super::Setup;
use super::deadlock::{self, Deadlock};
use super::domain::Arrivals;
use super::engine::Engine;
use super::pace::Pace;
use super::router::RouterModel;
use super::stats::{SLOT, Slot, Stats};
use super::terminals::Offer;
use super::workload_driver::Times;
use crate::error::Result;
use crate::network::{Network, Peer, PortId};
use crate::statistics::student_t;
use crate::traffic::Trace;
use crate::watch::Control;

/// One point of a latency-load curve.
#[derive(Debug, Clone, Serialize)]
pub struct Point {
    /// Load asked for, in flits per active terminal per cycle.
    pub offered: f64,
    /// Flits that arrived within the window, per active terminal per cycle.
    pub accepted: f64,
    /// Mean latency from creation to the tail's arrival, in cycles; `None` if no packet arrived.
    pub latency_cycles: Option<f64>,
    /// Half the width of its 95 % confidence interval; `None` if there are too few batches.
    pub latency_ci95: Option<f64>,
    /// Mean latency from the head's leaving the terminal, in cycles.
    pub network_latency_cycles: Option<f64>,
    /// Mean latency of flits, from their packet's creation to their own arrival: that of cells.
    pub flit_latency_cycles: Option<f64>,
    /// Median latency.
    pub p50: Option<u32>,
    /// 99th percentile of the latency.
    pub p99: Option<u32>,
    /// Mean number of routers visited.
    pub hops: Option<f64>,
    /// Packets by the routers that they visited, from 0 on; 31 stands for all that are more.
    pub hop_counts: Vec<u64>,
    /// True if the run was long enough: a narrow interval, or a fixed length that drained.
    pub converged: bool,
    /// True if the network does not carry the load.
    pub saturated: bool,
    /// True if packets can never move again.
    pub deadlocked: bool,
    /// Where.
    pub deadlock: Option<Deadlock>,
    /// True if the run was cancelled before its end.
    pub interrupted: bool,
    /// Cycles simulated, warm-up and drain included.
    pub cycles: u64,
    /// Cycles before the window.
    pub warmup_cycles: u64,
    /// Cycles of the window.
    pub measured_cycles: u64,
    /// Packets created within the window that arrived.
    pub packets: u64,
    /// Terminals that send.
    pub active_terminals: u32,
    /// Flits through routers over all cycles.
    pub flit_hops: u64,
    /// Cycles until the last packet of a trace has arrived; `None` without a trace, or if some did not arrive.
    pub makespan_cycles: Option<u32>,
    /// Share of the window in which the busiest link between routers sent a flit.
    pub link_utilisation_max: f64,
    /// The same, averaged over both directions of all links between routers.
    pub link_utilisation_mean: f64,
    /// Flits per cycle on each channel, by port id (terminals' too); for maps of the network.
    #[serde(skip)]
    pub link_utilisation: Vec<f64>,
    /// When the messages of a workload could be sent and had arrived.
    #[serde(skip)]
    pub message_times: Times,
    /// Seconds on the clock.
    pub wall_s: f64,
    /// Seconds of processor time.
    pub cpu_s: f64,
    /// The largest memory of the process so far, in bytes; 0 where the system does not report it.
    pub peak_rss_bytes: u64,
}

/// Cycles of measuring after which a run that has not converged gives up.
const LONGEST: u32 = 60_000;
/// Cycles after which a latency that still rises shows that the load is not carried …
const RISING: u32 = 16_000;
/// … and for each flit of a VC, if that is more: in deep buffers queues of adaptive routings fill for longer, and settle.
const RISING_PER_FLIT: u32 = 250;
/// Packets that a run to a precision of 1 % waits for: with fewer, chance alone moves the accepted load by a third of a
/// percent. A lower precision needs fewer, by its square root.
const ENOUGH_PACKETS: f64 = 100_000.0;
/// Cycles within which the end of the warm-up must be found.
const LONGEST_WARMUP: u32 = 60_000;
/// The longest crossing that the lengths of runs follow.
const LONGEST_CROSSING: u32 = 1 << 20;
/// Cycles between two exact searches for a deadlock.
const WATCH: u32 = 8192;
/// Cycles after which the replay of a trace gives up.
const LONGEST_REPLAY: u32 = u32::MAX / 2;
/// Terminals that send from which on a network is large: a cycle creates so many packets that chance hardly moves the means
/// of an interval. A drift shows in them long before it matters. That is for a precision of 1 %; a lower one needs fewer,
/// by its square, but [`FEW`] at least.
const LARGE: f64 = 4096.0;
/// With fewer terminals a network is never large.
const FEW: u32 = 64;
/// Batches that an interval needs …
const BATCHES: usize = 16;
/// … and in a large network, where each of them is the mean of tens of thousands of packets.
const BATCHES_OF_LARGE: usize = 8;
/// Cycles over which a drift of the mean latency matters: queues of routings that weigh them fill for thousands of cycles.
const HORIZON: f64 = 4096.0;
/// A network carries a load if it accepts this share of it.
const CARRIED: f64 = 0.98;

/// Runs one point.
pub fn run<M: RouterModel>(
    network: &Network,
    routing: &dyn Arrivals<M>,
    offer: Offer<'_>,
    setup: &Setup,
    plan: &M::Plan,
    control: &dyn Control,
) -> Result<Point> {
    let engine = Engine::<M>::new(network, routing, offer, setup, plan);
    let mut run = Measurement {
        engine,
        setup,
        load: offer.load,
        active: setup.senders(offer),
        control,
        chunk: 64,
        watched: 0,
        deadlock: None,
        stopped: false,
        makespan: None,
        sent: Vec::new(),
    };
    if offer.workload.is_some() {
        let verdict = run.play();
        return Ok(run.point(verdict));
    }
    let verdict = match (offer.trace(), setup.config.warmup, setup.config.measure) {
        (Some(trace), _, _) => run.replay(trace),
        (None, Some(warmup), Some(measure)) => run.fixed(warmup as u32, measure as u32),
        _ => run.adaptive(),
    };
    if !verdict.converged && !run.stopped {
        // A run that ended for another reason must not hide that packets can never move again.
        run.watch();
    }
    Ok(run.point(verdict))
}

/// How a run ended.
struct Verdict {
    from: u32,
    until: u32,
    converged: bool,
    saturated: bool,
}

/// How a window of measuring ended.
enum Window {
    /// Its interval is narrow enough, or will not be; or the load is past saturation.
    Ended { converged: bool, saturated: bool },
    /// The latency had not settled when it began.
    Drifts,
}

struct Measurement<'a, 'c, M> {
    engine: Engine<'a, M>,
    setup: &'a Setup,
    load: f64,
    active: u32,
    control: &'c dyn Control,
    /// Cycles between two looks at the clock.
    chunk: u32,
    /// The last cycle in which a deadlock was looked for.
    watched: u32,
    deadlock: Option<Deadlock>,
    stopped: bool,
    /// Cycles until the last packet of a trace has arrived.
    makespan: Option<u32>,
    /// Flits sent by port within the window.
    sent: Vec<u32>,
}

impl<M: RouterModel> Measurement<'_, '_, M> {
    /// Simulates up to cycle `until`, unless cancelled or deadlocked; returns false if so.
    fn advance(&mut self, until: u32) -> bool {
        while self.engine.now < until && !self.stopped {
            let before = self.engine.wall_s;
            let (now, threads) = (self.engine.now, self.engine.threads);
            // Deadlocks are looked for in the same cycles whatever the clock shows: results do not depend on it.
            let stop = now.saturating_add(self.chunk).min(self.watched + WATCH);
            self.engine.advance(until.min(stop));
            // Looks up often enough to stop within a fraction of a second, seldom enough to cost nothing.
            let took = self.engine.wall_s - before;
            if took < 0.02 && self.engine.now - now == self.chunk {
                self.chunk = (self.chunk * 2).min(WATCH);
            } else if took > 0.1 {
                self.chunk = (self.chunk / 2).max(1);
            }
            self.control.progress(u64::from(self.engine.now));
            if self.engine.threads < threads {
                self.control.fewer_threads(self.engine.threads as u32);
            }
            if self.engine.now - self.watched >= WATCH {
                self.watch();
            }
            self.stopped |= self.control.cancelled();
        }
        !self.stopped
    }

    /// This many cycles, or the time in which packets cross the empty network this many times, if that is longer.
    fn cycles(&self, least: u32, crossings: u32) -> u32 {
        least.max((crossings * self.setup.crossing.min(LONGEST_CROSSING)).next_multiple_of(SLOT))
    }

    fn watch(&mut self) {
        self.watched = self.engine.now;
        self.deadlock = deadlock::find(&self.engine, self.setup.stride, self.setup.interface.cut_through);
        self.stopped |= self.deadlock.is_some();
    }

    fn fixed(&mut self, warmup: u32, measure: u32) -> Verdict {
        let (from, until) = (warmup, warmup + measure);
        self.engine.measure(from, until);
        self.advance(from);
        self.engine.clear_channels();
        self.advance(until);
        self.sent = self.engine.sent();
        let short = self.is_short(self.engine.stats().accepted, measure);
        let given = self.setup.config.drain;
        // Past saturation the packets of the window may never all arrive; a few times its length suffices.
        let patience = match given {
            Some(cycles) => cycles as u32,
            None if short => self.cycles(2 * (warmup + measure) + 2_000, 2),
            None => self.cycles((8 * (warmup + measure) + 20_000).min(measure + 2_000_000), 2),
        };
        let drained = self.drain(until, until.saturating_add(patience));
        // Packets that nothing waits for do not show that the load is too high.
        Verdict { from, until, converged: drained, saturated: short || (!drained && given.is_none()) }
    }

    /// Replays a trace until all of its packets have arrived.
    fn replay(&mut self, trace: &Trace) -> Verdict {
        self.engine.measure(0, u32::MAX);
        let created = trace.last() + 1;
        self.advance(created);
        let drained = self.drain(created, LONGEST_REPLAY);
        self.sent = self.engine.sent();
        let until = if drained { self.engine.stats().last_arrival + 1 } else { self.engine.now };
        self.makespan = drained.then_some(until);
        Verdict { from: 0, until, converged: drained, saturated: false }
    }

    /// Plays a workload to its end.
    fn play(&mut self) -> Verdict {
        self.engine.measure(0, u32::MAX);
        let mut step = 64;
        while !self.engine.finished() && self.engine.now < LONGEST_REPLAY && self.advance(self.engine.now + step) {
            step = (self.engine.now / 16).clamp(64, 4096);
        }
        let finished = self.engine.finished();
        if !finished && !self.stopped {
            self.watch();
        }
        self.sent = self.engine.sent();
        let until = if finished { self.engine.last_event() + 1 } else { self.engine.now };
        self.makespan = finished.then_some(until);
        Verdict { from: 0, until, converged: finished, saturated: false }
    }

    /// Continues, with the load, until all packets created before `until` have arrived.
    fn drain(&mut self, until: u32, limit: u32) -> bool {
        loop {
            let stats = self.engine.stats();
            if stats.arrived == stats.created && self.engine.behind(until) == 0 {
                return true;
            }
            if self.engine.now >= limit || !self.advance(limit.min(self.engine.now + 16)) {
                return false;
            }
            let now = self.engine.now;
            let step = ((now - until) / 8).max(16);
            if !self.advance(limit.min(now + step)) {
                return false;
            }
        }
    }

    /// Flits that the terminals offer in this many cycles.
    fn offered(&self, cycles: u32) -> f64 {
        self.load * f64::from(self.active) * f64::from(cycles)
    }

    /// True if so few flits were accepted that neither chance nor the tolerance explains it.
    fn is_short(&self, accepted: u64, cycles: u32) -> bool {
        let offered = self.offered(cycles);
        let noise = 4.0 * (offered * self.setup.config.dispersion(self.load)).sqrt();
        (accepted as f64) < CARRIED * offered - noise
    }

    fn adaptive(&mut self) -> Verdict {
        if self.load == 0.0 {
            // Nothing will ever be sent.
            self.advance(SLOT);
            return Verdict { from: 0, until: SLOT, converged: true, saturated: false };
        }
        let (warm, saturated) = self.warm_up();
        let mut from = self.engine.begin_window();
        if saturated || !warm {
            let verdict = self.past_saturation(from);
            if self.stopped || !self.carries_after_all(from) {
                return verdict;
            }
            from = self.engine.begin_window();
        }
        let (converged, saturated) = loop {
            match self.measure(from) {
                Window::Ended { converged, saturated } => break (converged, saturated),
                // What was measured belongs to the warm-up.
                Window::Drifts => {
                    let now = self.engine.now;
                    self.advance(now + (now / 4).max(256) / SLOT * SLOT);
                    from = self.engine.begin_window();
                }
            }
        };
        let until = self.engine.now;
        self.engine.measure(from, until);
        self.sent = self.engine.sent();
        let limit = until.saturating_add((until - from) / 2 + self.cycles(10_000, 4));
        let drained = !self.stopped && self.drain(until, limit);
        Verdict { from, until, converged: converged && drained, saturated: saturated || (!drained && !self.stopped) }
    }

    /// The network does not carry the load: the throughput is measured, and the latency, which has no mean, is what it
    /// is.
    fn past_saturation(&mut self, from: u32) -> Verdict {
        // What is accepted settles slowly, whatever the precision of the latency.
        let least = if f64::from(self.active) >= LARGE { 512 } else { 2_000 };
        let until = from + (from / 2).clamp(self.cycles(least, 2), self.cycles(10_000, 4));
        self.engine.measure(from, until);
        self.engine.domains.iter_mut().for_each(|domain| domain.stats.by_arrival = true);
        self.advance(until);
        self.sent = self.engine.sent();
        Verdict { from, until: self.engine.now, converged: false, saturated: true }
    }

    /// True if the window after a verdict of saturation shows none: queues that fill take flits out of the flow, until they
    /// are full.
    fn carries_after_all(&self, from: u32) -> bool {
        let (now, stats) = (self.engine.now, self.engine.stats());
        let late = mean_latency(&stats.slots[(from / SLOT) as usize..(now / SLOT) as usize]);
        !self.is_short(stats.accepted, now - from) && !self.is_hopeless(late) && !self.rises(&stats)
    }

    /// Slots in a group: long enough for neighbouring groups to differ by chance more than by their past.
    fn grain(stats: &Stats) -> usize {
        let packets: u64 = stats.slots.iter().map(|s| s.packets).sum();
        let latency: u64 = stats.slots.iter().map(|s| s.latency_of_packets).sum();
        let mean = latency as f64 / packets.max(1) as f64;
        let wanted = ((mean / f64::from(SLOT)).ceil() as usize).next_power_of_two().max(2);
        // Past saturation the mean latency grows with time; the series must not shrink with it.
        wanted.min(stats.slots.len() / 16).max(1)
    }

    /// Returns whether the end of the warm-up was found, and whether the network is past saturation.
    fn warm_up(&mut self) -> (bool, bool) {
        self.advance(self.cycles(512, 1));
        while self.engine.now < self.cycles(LONGEST_WARMUP, 32) {
            let now = self.engine.now;
            let stats = self.engine.stats();
            let grain = Self::grain(&stats);
            let series = arrivals(&stats.slots[..(now / SLOT) as usize], grain);
            if series.len() >= 10 {
                let start = truncation(&series);
                let recent = &stats.slots[(now / SLOT) as usize / 2..(now / SLOT) as usize];
                let cycles = recent.len() as u32 * SLOT;
                let short = self.is_short(recent.iter().map(|s| s.flits).sum(), cycles);
                let late = mean_latency(recent);
                if self.is_hopeless(late) || (short && is_growing(&series) && now >= self.cycles(2048, 2)) {
                    return (false, true);
                }
                let settled = if self.is_large() {
                    let so_far = &stats.slots[..(now / SLOT) as usize];
                    !self.drifts(so_far) && (start <= series.len() / 2 || self.is_steady(so_far))
                } else {
                    start <= series.len() / 2
                };
                if settled && !short {
                    return (true, false);
                }
                if self.rises(&stats) {
                    return (false, true);
                }
            }
            if !self.advance(now + (now / 4).max(256) / SLOT * SLOT) {
                return (false, false);
            }
        }
        // Too few packets, or too slow a drift, to detect: the measurement from here on shows it.
        (true, false)
    }

    /// True if many terminals send, for the precision of the mean latency that is asked for.
    fn is_large(&self) -> bool {
        let coarser = (self.setup.config.precision / 0.01).max(1.0);
        self.active >= FEW && f64::from(self.active) * coarser * coarser >= LARGE
    }

    /// True if the mean latency moved by less than half the precision asked for, from the third quarter of the time to the last.
    fn is_steady(&self, slots: &[Slot]) -> bool {
        let quarter = slots.len() / 4;
        let (third, last) = slots[slots.len() - 2 * quarter..].split_at(quarter);
        let moved = |(before, after): (f64, f64)| (after - before).abs() <= 0.5 * self.setup.config.precision * after;
        mean_latency(third).zip(mean_latency(last)).is_some_and(moved)
    }

    /// True if the mean latency in the last half of the time moves, whatever chance added, so fast that it would leave the precision
    /// asked for.
    fn drifts(&self, slots: &[Slot]) -> bool {
        let recent: Vec<f64> = arrivals(&slots[slots.len() / 2..], 1);
        let mean = recent.iter().sum::<f64>() / recent.len().max(1) as f64;
        let allowed = self.setup.config.precision * mean * f64::from(SLOT) / HORIZON;
        trend(&recent).is_some_and(|(slope, half)| slope.abs() - half > allowed)
    }

    /// True if a mean latency is past the limit that the user has set.
    fn is_hopeless(&self, latency: Option<f64>) -> bool {
        latency.zip(self.setup.config.latency_limit).is_some_and(|(latency, limit)| latency > limit)
    }

    /// True if the mean latency has risen from the start on, and still does.
    fn rises(&self, stats: &Stats) -> bool {
        let slots = &stats.slots[..(self.engine.now / SLOT) as usize];
        let enough = || slots.iter().map(|s| s.packets).sum::<u64>() as f64 >= ENOUGH_PACKETS;
        let deep = RISING_PER_FLIT.saturating_mul(self.setup.interface.buffer);
        self.engine.now >= self.cycles(RISING.max(deep), 32)
            && enough()
            && is_rising(&arrivals(slots, slots.len() / 24))
    }

    /// Measures until the interval is narrow enough, or until it shows that the latency still drifts.
    fn measure(&mut self, from: u32) -> Window {
        let ended = |converged, saturated| Window::Ended { converged, saturated };
        // Eleven intervals: of the last ones some packets are still under way.
        let (first, least) = if self.is_large() { (352, BATCHES_OF_LARGE) } else { (512, BATCHES) };
        // What settles slowly also wavers slowly.
        let first = if self.is_large() { first.max(from / 4 / SLOT * SLOT) } else { first };
        let (mut next, longest) = (from + self.cycles(first, 1), self.cycles(LONGEST, 32));
        loop {
            if !self.advance(next) {
                return ended(false, false);
            }
            let now = self.engine.now;
            let stats = self.engine.stats();
            let late = mean_latency(&stats.slots[(from / SLOT) as usize..(now / SLOT) as usize]);
            let short = now - from >= self.cycles(2048, 1) && self.is_short(stats.accepted, now - from);
            if short || self.is_hopeless(late) || self.rises(&stats) {
                return ended(false, true);
            }
            let batches = batches(&stats, from, now);
            let precision = self.setup.config.precision;
            let narrow = interval(&batches).is_some_and(|(mean, half)| half <= precision * mean);
            let enough = (ENOUGH_PACKETS * (0.01 / precision).min(1.0).sqrt()) as u64;
            let counted = stats.arrived >= enough || now - from >= 4 * longest;
            if narrow && counted && batches.len() >= least {
                let so_far = &stats.slots[..(now / SLOT) as usize];
                if self.is_large() && now < self.cycles(LONGEST_WARMUP, 32) && self.drifts(so_far) {
                    return Window::Drifts;
                }
                return ended(true, false);
            }
            let few = stats.arrived < enough && now - from < 64 * longest;
            if now - from >= longest && !few {
                return ended(false, self.is_short(stats.accepted, now - from) || is_growing(&batches));
            }
            next = now + ((now - from) / 4).max(256);
        }
    }

    fn point(mut self, verdict: Verdict) -> Point {
        let stats = self.engine.stats();
        // A run that was stopped has not simulated all of its window.
        let (from, until) = (verdict.from.min(self.engine.now), verdict.until.min(self.engine.now));
        let mean = |sum: u64| (stats.arrived > 0).then(|| sum as f64 / stats.arrived as f64);
        let cycles = f64::from(until.saturating_sub(from).max(1));
        // The latencies of a trace are all there are, and need not be stationary: their mean has no interval.
        let drawn = self.engine.shared.offer.is_drawn();
        let interval = if drawn { interval(&batches(&stats, from, until)) } else { None };
        let unit = self.setup.unit;
        let clock = self.setup.clock_gbps.filter(|_| self.setup.slowest > 1);
        let share = |port: u32| clock.map_or(1.0, |_| Pace::of_port(self.engine.network, PortId(port), clock).share());
        let sent = (0..).zip(&self.sent).map(|(port, &flits)| f64::from(flits) / cycles / share(port));
        let link_utilisation: Vec<f64> = sent.collect();
        let (max, mean_utilisation) = utilisation(self.engine.network, &link_utilisation);
        let deadlocked = self.deadlock.is_some();
        Point {
            offered: self.load,
            accepted: stats.accepted as f64 / cycles / f64::from(self.active) / unit,
            latency_cycles: mean(stats.latency),
            latency_ci95: interval.map(|(_, half)| half),
            network_latency_cycles: mean(stats.network_latency),
            flit_latency_cycles: (stats.flits > 0).then(|| stats.flit_latency as f64 / stats.flits as f64),
            p50: stats.histogram.quantile(0.5),
            p99: stats.histogram.quantile(0.99),
            hops: mean(stats.hops),
            hop_counts: stats.hop_counts[..stats.hop_counts.iter().rposition(|&n| n > 0).map_or(0, |last| last + 1)]
                .to_vec(),
            converged: verdict.converged && !deadlocked && !self.stopped,
            saturated: verdict.saturated,
            deadlocked,
            deadlock: self.deadlock,
            interrupted: self.stopped && !deadlocked,
            cycles: u64::from(self.engine.now),
            warmup_cycles: u64::from(from),
            measured_cycles: u64::from(until.saturating_sub(from)),
            packets: stats.arrived,
            active_terminals: self.active,
            flit_hops: self.engine.flit_hops(),
            makespan_cycles: self.makespan,
            link_utilisation_max: max,
            link_utilisation_mean: mean_utilisation,
            link_utilisation,
            message_times: self.engine.take_times(),
            wall_s: self.engine.wall_s,
            cpu_s: self.engine.cpu_s,
            peak_rss_bytes: peak_rss_bytes(),
        }
    }
}

/// Largest and mean utilisation of the channels between routers.
fn utilisation(network: &Network, by_port: &[f64]) -> (f64, f64) {
    let channels = network.ports().iter().zip(by_port).filter(|(port, _)| matches!(port.peer, Peer::Port(_)));
    let (mut max, mut sum, mut count) = (0.0, 0.0, 0);
    for (_, &share) in channels {
        max = f64::max(max, share);
        sum += share;
        count += 1;
    }
    (max, sum / f64::from(count.max(1)))
}

/// Mean latencies of the packets that arrived in groups of `grain` slots; groups without packets are left out.
fn arrivals(slots: &[Slot], grain: usize) -> Vec<f64> {
    slots.chunks_exact(grain).filter_map(mean_latency).collect()
}

/// Mean latency of the packets that arrived within some slots; `None` if there are none.
fn mean_latency(slots: &[Slot]) -> Option<f64> {
    let packets: u64 = slots.iter().map(|s| s.packets).sum();
    let latency: u64 = slots.iter().map(|s| s.latency_of_packets).sum();
    (packets > 0).then(|| latency as f64 / packets as f64)
}

/// Means of the thirds of a series.
fn thirds(series: &[f64]) -> [f64; 3] {
    let third = series.len() / 3;
    [&series[..third], &series[third..2 * third], &series[2 * third..]]
        .map(|part| part.iter().sum::<f64>() / part.len().max(1) as f64)
}

/// True if latency goes up through the thirds of a series, by a tenth at least in all.
fn is_growing(series: &[f64]) -> bool {
    let [a, b, c] = thirds(series);
    a < b && b < c && 1.1 * a < c
}

/// True if latency goes up by half at least, more than chance explains, and does not level off: where a load is just not
/// carried, queues fill for as long as it is offered.
fn is_rising(series: &[f64]) -> bool {
    let [a, b, c] = thirds(series);
    let certain = trend(series).is_some_and(|(slope, half)| slope > 2.0 * half);
    certain && a < b && 1.5 * a <= c && c - b >= 0.6 * (b - a)
}

/// MSER: the start of a series whose rest has the least variance over its squared length.
fn truncation(series: &[f64]) -> usize {
    let score = |start: usize| {
        let rest = &series[start..];
        let mean = rest.iter().sum::<f64>() / rest.len() as f64;
        rest.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (rest.len() as f64).powi(2)
    };
    let last = series.len().saturating_sub(4);
    (0..=last).min_by(|&a, &b| score(a).total_cmp(&score(b))).unwrap_or(0)
}

/// Mean latencies of the packets *created* in between 16 and 32 stretches of the window, as far as they have all been
/// there long enough to have arrived.
fn batches(stats: &Stats, from: u32, until: u32) -> Vec<f64> {
    let slots = &stats.slots[(from.div_ceil(SLOT) as usize).min(stats.slots.len())..];
    let slots = &slots[..slots.len().min((until.saturating_sub(from) / SLOT) as usize)];
    let complete = slots.iter().rposition(|s| s.created > 0 && s.arrived == s.created).map_or(0, |last| last + 1);
    let grain = (complete / 16).max(1);
    let group = |group: &[Slot]| {
        let arrived: u64 = group.iter().map(|s| s.arrived).sum();
        let latency: u64 = group.iter().map(|s| s.latency).sum();
        (arrived > 0).then(|| latency as f64 / arrived as f64)
    };
    slots[..complete].chunks_exact(grain).filter_map(group).collect()
}

/// Mean of the batches and half the width of its 95 % interval. Correlation that is left between neighbouring batches
/// widens it, as for a first-order autoregressive series.
fn interval(batches: &[f64]) -> Option<(f64, f64)> {
    let n = batches.len();
    if n < 2 {
        return None;
    }
    let mean = batches.iter().sum::<f64>() / n as f64;
    let variance = batches.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1) as f64;
    Some((mean, student_t(n - 1) * (widened(variance, batches) / n as f64).sqrt()))
}

/// A variance, widened by the correlation between neighbours of a series.
fn widened(variance: f64, series: &[f64]) -> f64 {
    let rho = lag1(series).clamp(0.0, 0.9);
    variance * (1.0 + rho) / (1.0 - rho)
}

/// The slope a step of the straight line through a series, by least squares, and half the width of its 95 % interval;
/// `None` of a short series.
fn trend(series: &[f64]) -> Option<(f64, f64)> {
    let n = series.len();
    if n < 8 {
        return None;
    }
    let (middle, mean) = ((n - 1) as f64 / 2.0, series.iter().sum::<f64>() / n as f64);
    let spread: f64 = (0..n).map(|i| (i as f64 - middle).powi(2)).sum();
    let slope = (0..n).zip(series).map(|(i, y)| (i as f64 - middle) * (y - mean)).sum::<f64>() / spread;
    let off: Vec<f64> = (0..n).zip(series).map(|(i, y)| y - mean - slope * (i as f64 - middle)).collect();
    let variance = off.iter().map(|x| x * x).sum::<f64>() / (n - 2) as f64;
    Some((slope, student_t(n - 2) * (widened(variance, &off) / spread).sqrt()))
}

/// Correlation between neighbouring batches.
fn lag1(batches: &[f64]) -> f64 {
    let mean = batches.iter().sum::<f64>() / batches.len() as f64;
    let variance: f64 = batches.iter().map(|x| (x - mean).powi(2)).sum();
    let covariance: f64 = batches.windows(2).map(|w| (w[0] - mean) * (w[1] - mean)).sum();
    if variance > 0.0 { covariance / variance } else { 0.0 }
}

fn peak_rss_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|rest| rest.trim().trim_end_matches("kB").trim().parse::<u64>().ok()).map_or(0, |kb| kb * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mser_cuts_off_a_transient_and_nothing_else() {
        let noise = |i: usize| (crate::rng::mix(i as u64) % 100) as f64 / 100.0;
        let steady: Vec<f64> = (0..100).map(|i| 20.0 + noise(i)).collect();
        assert!(truncation(&steady) < 50);
        let transient: Vec<f64> = (0..100).map(|i| 20.0 + noise(i) + 30.0 * (-(i as f64) / 5.0).exp()).collect();
        assert!((8..50).contains(&truncation(&transient)), "{}", truncation(&transient));
    }

    #[test]
    fn a_slow_drift_is_found_and_noise_is_none() {
        let noise = |i: usize| (crate::rng::mix(i as u64) % 100) as f64 / 100.0;
        let drift = |slope: f64| (0..40).map(|i| 20.0 + slope * i as f64 + noise(i)).collect::<Vec<f64>>();
        for slope in [-0.2, 0.04, 1.0] {
            let (found, half) = trend(&drift(slope)).unwrap();
            assert!((found - slope).abs() <= half && found.abs() > half, "{slope}: {found} +- {half}");
        }
        let mut rng = crate::rng::Rng::stream(3, 4);
        let alarms = (0..2000).filter(|_| {
            let series: Vec<f64> = (0..16).map(|_| (0..12).map(|_| rng.unit()).sum()).collect();
            let (slope, half) = trend(&series).unwrap();
            slope.abs() > half
        });
        assert!((30..130).contains(&alarms.count()));
        assert_eq!(trend(&drift(1.0)[..7]), None);
        assert_eq!(trend(&[5.0; 9]), Some((0.0, 0.0)));
    }

    #[test]
    fn a_latency_that_rises_differs_from_one_that_settles_and_from_chance() {
        let series = |latency: fn(f64) -> f64| {
            let noise = |i: u32| f64::from(crate::rng::mix(u64::from(i)) as u32 % 100) / 100.0;
            (0..20).map(|i| latency(f64::from(i) / 20.0) + noise(i)).collect::<Vec<f64>>()
        };
        assert!(is_rising(&series(|time| 40.0 + 60.0 * time)));
        assert!(is_rising(&series(|time| 20.0 + 80.0 * time.sqrt())));
        assert!(!is_rising(&series(|time| 40.0 + 15.0 * time)), "by less than half");
        assert!(!is_rising(&series(|time| 100.0 - 60.0 * time)));
        assert!(!is_rising(&series(|time| 30.0 + 60.0 * (1.0 - (-time * 4.0).exp()))), "settles");
        assert!(!is_rising(&series(|_| 50.0)));
        assert!(!is_rising(&[]));
        // Queues of a load that is nearly full wander: each batch is nine tenths of the one before, and chance.
        let mut rng = crate::rng::Rng::stream(3, 5);
        let alarms = (0..2000).filter(|_| {
            let mut queue = 0.0;
            let mut batch = || {
                queue = 0.9 * queue + 6.0 * (rng.unit() - 0.5);
                40.0 + queue
            };
            is_rising(&(0..24).map(|_| batch()).collect::<Vec<f64>>())
        });
        assert!(alarms.count() <= 20);
    }

    #[test]
    fn the_interval_of_independent_batches_covers_the_mean_nineteen_times_in_twenty() {
        let mut rng = crate::rng::Rng::stream(3, 3);
        let covered = (0..2000)
            .filter(|_| {
                let batches: Vec<f64> = (0..16).map(|_| (0..12).map(|_| rng.unit()).sum::<f64>()).collect();
                let (mean, half) = interval(&batches).unwrap();
                (mean - 6.0).abs() <= half
            })
            .count();
        assert!((1880..1980).contains(&covered), "{covered} of 2000");
    }
}
