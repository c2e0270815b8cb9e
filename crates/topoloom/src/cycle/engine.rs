//! All domains together: advances them, on one thread or one thread a domain.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::Instant;

use super::Setup;
use super::channels::Channels;
use super::channels::Outbox;
use super::domain::{Arrivals, Domain, RunContext};
use super::router::RouterModel;
use super::snapshot::Snapshot;
use super::stats::Stats;
use super::terminals::Offer;
use super::workload_driver::{Times, WorkloadDriver};
use crate::network::{Network, PortId, TerminalId};
use crate::threads;

/// A network being simulated.
pub struct Engine<'a, M> {
    /// The network.
    pub network: &'a Network,
    /// What all domains read.
    pub shared: RunContext<'a, M>,
    /// The domains.
    pub domains: Vec<Domain<M>>,
    /// Threads that simulate them, this one included: as many as domains, or fewer if the system gives no more.
    pub threads: usize,
    /// The next cycle.
    pub now: u32,
    /// Seconds of processor time spent in cycles.
    pub cpu_s: f64,
    /// Seconds on the clock spent in cycles.
    pub wall_s: f64,
    /// Cycles that domains may run before they exchange: the shortest crossing.
    window: u32,
}

impl<'a, M: RouterModel> Engine<'a, M> {
    /// An empty network at cycle 0.
    pub fn new(
        network: &'a Network,
        routing: &'a dyn Arrivals<M>,
        offer: Offer<'a>,
        setup: &Setup,
        plan: &M::Plan,
    ) -> Self {
        let bounds = bounds(network, setup.config.threads);
        let domain = |index| Domain::new(network, setup, plan, offer, &bounds, index);
        let targets = (0..network.num_terminals() as u32)
            .map(|terminal| {
                let port = network.terminal_port(TerminalId(terminal));
                let (router, local) = network.local_port(port);
                (router.0, local as u16)
            })
            .collect();
        let crossing = network.links().iter().flat_map(|link| link.ends);
        let window = crossing.map(|port| setup.links.of(network, port) + 1).min().unwrap_or(1);
        let snapshot = Snapshot::new(network, routing.snapshot_period());
        Self {
            network,
            threads: bounds.len() - 1,
            domains: (0..bounds.len() - 1).map(domain).collect(),
            shared: RunContext {
                routing,
                offer,
                targets,
                seed: setup.config.seed,
                all_vcs: setup.classes as u8,
                snapshot,
            },
            now: 0,
            cpu_s: 0.0,
            wall_s: 0.0,
            window,
        }
    }

    /// Simulates up to, not including, cycle `until`.
    pub fn advance(&mut self, until: u32) {
        let clock = Instant::now();
        if self.domains.len() == 1 {
            let cpu = thread_cpu_s();
            for now in self.now..until {
                self.domains[0].cycle(now, &self.shared);
                if self.shared.snapshot.is_due(now + 1) {
                    self.domains[0].publish(&self.shared.snapshot, now + 1);
                }
            }
            self.cpu_s += thread_cpu_s() - cpu;
        } else {
            self.advance_threads(until);
        }
        self.now = self.now.max(until);
        self.wall_s += clock.elapsed().as_secs_f64();
    }

    fn advance_threads(&mut self, until: u32) {
        self.cpu_s += loop {
            match self.try_threads(until) {
                Ok(cpu_s) => break cpu_s,
                // Those that it gave have taken what memory there was, and the run needs some as well.
                Err(given) => self.threads = given.div_ceil(2),
            }
        };
    }

    /// Advances with the threads that it should have, if the system gives them; returns the processor time.
    ///
    /// # Errors
    /// The threads that it gave, this one included. Nothing has been simulated.
    fn try_threads(&mut self, until: u32) -> Result<f64, usize> {
        let (domains, shares) = (self.domains.len(), self.domains.len().div_ceil(self.threads));
        let mut shares = self.domains.chunks_mut(shares);
        let meeting = Meeting {
            shared: &self.shared,
            window: self.window,
            barrier: SpinBarrier::new(shares.len() as u32),
            mail: (0..domains * domains).map(|_| Mutex::default()).collect(),
        };
        let (meeting, from) = (&meeting, self.now);
        // No thread begins before all are there: one that waited for another that never comes would wait for ever.
        let complete = &OnceLock::new();
        std::thread::scope(|scope| {
            let own = shares.next().expect("there is a domain");
            let mut handles = Vec::with_capacity(shares.len());
            for share in shares {
                let work = move || if *complete.wait() { meeting.run(share, from, until) } else { 0.0 };
                match threads::spawn(scope, work) {
                    Ok(handle) => handles.push(handle),
                    Err(_) => {
                        let _ = complete.set(false);
                        return Err(handles.len() + 1);
                    }
                }
            }
            let _ = complete.set(true);
            let cpu_s = meeting.run(own, from, until);
            let join = |handle: std::thread::ScopedJoinHandle<'_, f64>| handle.join().expect("a domain's thread ends");
            Ok(cpu_s + handles.into_iter().map(join).sum::<f64>())
        })
    }

    /// Measures packets created in `from..until`.
    pub fn measure(&mut self, from: u32, until: u32) {
        for domain in &mut self.domains {
            (domain.stats.from, domain.stats.until) = (from, until);
        }
    }

    /// The counts of all domains, with a slot for all time up to now.
    pub fn stats(&self) -> Stats {
        let mut all = Stats::default();
        all.cover(self.now);
        self.domains.iter().for_each(|domain| all.add(&domain.stats));
        all
    }

    /// Sources that have not caught up with `time`.
    pub fn behind(&self, time: u32) -> usize {
        self.domains.iter().map(|domain| domain.terminals.behind(time)).sum()
    }

    /// True once the tasks of the workload that is played are done.
    pub fn finished(&self) -> bool {
        self.domains.iter().filter_map(|domain| domain.terminals.driver()).all(WorkloadDriver::finished)
    }

    /// The cycle in which something last happened in the workload.
    pub fn last_event(&self) -> u32 {
        self.domains.iter().filter_map(|domain| domain.terminals.driver()).map(|driver| driver.last).max().unwrap_or(0)
    }

    /// When messages could be sent and had arrived; they are taken out.
    pub fn take_times(&mut self) -> Times {
        let mut all = Times::default();
        for driver in self.domains.iter_mut().filter_map(|domain| domain.terminals.driver_mut()) {
            all.ready.append(&mut driver.times.ready);
            all.arrived.append(&mut driver.times.arrived);
        }
        all
    }

    /// Flits that have crossed a switch.
    pub fn flit_hops(&self) -> u64 {
        self.domains.iter().map(|domain| domain.model.grants()).sum()
    }

    /// Starts counting the flits that depart on channels from this cycle on.
    pub fn clear_channels(&mut self) {
        let now = self.now;
        for channels in self.domains.iter_mut().map(|domain| &mut domain.channels) {
            for port in (0..channels.ends.len() as u32).map(PortId) {
                channels.ends[port.index()].sent = channels.waiting(port, now);
            }
        }
    }

    /// Flits that have departed through each port of the network since the count was started. What still queues for
    /// its departure cycle is left out.
    pub fn sent(&self) -> Vec<u32> {
        let of_domain = |channels: &Channels| -> Vec<u32> {
            let ports = (0..channels.ends.len() as u32).map(PortId);
            let departed = |port: PortId| {
                let sent = channels.ends[port.index()].sent;
                sent - channels.waiting(port, self.now).min(sent)
            };
            ports.map(departed).collect()
        };
        self.domains.iter().flat_map(|domain| of_domain(&domain.channels)).collect()
    }
}

/// First routers of the domains, of about equal numbers of ports, and behind them the number of routers.
fn bounds(network: &Network, threads: u32) -> Vec<u32> {
    let routers = network.num_routers() as u32;
    let domains = threads.min(routers);
    let ports = network.ports().len() as u64;
    let mut bounds = vec![0];
    for domain in 1..domains {
        let wanted = ports * u64::from(domain) / u64::from(domains);
        let first = network.routers().find(|r| u64::from(network.port_base(*r)) >= wanted).map_or(routers, |r| r.0);
        bounds.push(first.max(bounds[bounds.len() - 1] + 1).min(routers - (domains - domain)));
    }
    bounds.push(routers);
    bounds
}

/// Where the threads of a run exchange what crosses between domains.
struct Meeting<'e, 'a, M> {
    shared: &'e RunContext<'a, M>,
    window: u32,
    barrier: SpinBarrier,
    /// From each domain, a row, to each.
    mail: Vec<Mutex<Outbox>>,
}

impl<M: RouterModel> Meeting<'_, '_, M> {
    /// Simulates one thread's share of the domains; returns its processor time.
    fn run(&self, share: &mut [Domain<M>], from: u32, until: u32) -> f64 {
        let cpu = thread_cpu_s();
        let _guard = BreakOnPanic(&self.barrier);
        let snapshot = &self.shared.snapshot;
        let mut start = from;
        while start < until {
            let end = snapshot.next_due(start).min(until).min(start + self.window);
            for domain in &mut *share {
                for now in start..end {
                    domain.cycle(now, self.shared);
                }
                self.send(domain);
            }
            self.barrier.wait();
            for domain in &mut *share {
                self.fetch(domain);
                // Between the barriers nobody reads the snapshot.
                if snapshot.is_due(end) {
                    domain.publish(snapshot, end);
                }
            }
            // A fast thread must not put its next mail where a slow one has not yet read the last.
            self.barrier.wait();
            start = end;
        }
        thread_cpu_s() - cpu
    }

    fn send(&self, domain: &mut Domain<M>) {
        let (domains, own) = (domain.channels.outboxes.len(), domain.channels.domain as usize);
        for to in (0..domains).filter(|to| *to != own) {
            let mut slot = self.mail[own * domains + to].lock().expect("no thread panics with the lock");
            std::mem::swap(&mut *slot, &mut domain.channels.outboxes[to]);
        }
    }

    fn fetch(&self, domain: &mut Domain<M>) {
        let (domains, own) = (domain.channels.outboxes.len(), domain.channels.domain as usize);
        for other in (0..domains).filter(|other| *other != own) {
            let mut slot = self.mail[other * domains + own].lock().expect("no thread panics with the lock");
            domain.receive(&mut slot);
        }
    }
}

/// A barrier for short waits: spins, then gives the processor away.
///
/// A thread that panics breaks it, so that the others do not wait for ever.
struct SpinBarrier {
    threads: u32,
    arrived: AtomicU32,
    round: AtomicU32,
    broken: AtomicBool,
}

/// Breaks the barrier if its thread panics.
struct BreakOnPanic<'b>(&'b SpinBarrier);

impl Drop for BreakOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.broken.store(true, Ordering::Release);
        }
    }
}

impl SpinBarrier {
    fn new(threads: u32) -> Self {
        Self { threads, arrived: AtomicU32::new(0), round: AtomicU32::new(0), broken: AtomicBool::new(false) }
    }

    fn wait(&self) {
        /// Looks at the round before the processor is given away: some 10 µs. On a busy machine, or with more threads
        /// than processors, the thread that is waited for needs this one's.
        const SPINS: u32 = 200;
        let round = self.round.load(Ordering::Acquire);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.threads {
            self.arrived.store(0, Ordering::Relaxed);
            self.round.store(round.wrapping_add(1), Ordering::Release);
            return;
        }
        let mut spins = 0;
        while self.round.load(Ordering::Acquire) == round {
            spins += 1;
            assert!(!self.broken.load(Ordering::Relaxed), "another thread of the run has panicked");
            if spins < SPINS { std::hint::spin_loop() } else { std::thread::yield_now() }
        }
    }
}

/// Processor time of this thread, in seconds; 0 where the system does not tell.
fn thread_cpu_s() -> f64 {
    // Miri has no such clock.
    #[cfg(all(unix, not(miri)))]
    {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: `time` is a valid timespec for the call to fill.
        if unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) } == 0 {
            return time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9;
        }
    }
    0.0
}
