//! All domains together: advances them, on one thread or one thread a domain.

use std::cmp::Reverse;
use std::sync::{Mutex, OnceLock};
use std::time::Instant;

use super::Setup;
use super::barrier::{Barrier, BreakOnPanic};
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
    /// Cycles that domains may run before they exchange.
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
        let bounds = bounds(network, setup);
        let domain = |index| Domain::new(network, setup, plan, offer, &bounds, index);
        let targets = (0..network.num_terminals() as u32)
            .map(|terminal| {
                let port = network.terminal_port(TerminalId(terminal));
                let (router, local) = network.local_port(port);
                (router.0, local as u16)
            })
            .collect();
        let window = window(network, setup, &bounds);
        let domains: Vec<Domain<M>> = (0..bounds.len() - 1).map(domain).collect();
        // Domains hold consecutive routers, so their outputs follow each other, too.
        let in_flight = domains.iter().flat_map(Domain::in_flight);
        let snapshot = Snapshot::new(routing.snapshot_period(), routing.wants(), in_flight, network, domains.len());
        Self {
            network,
            threads: bounds.len() - 1,
            domains,
            shared: RunContext {
                routing,
                offer,
                targets,
                bounds,
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
            barrier: Barrier::new(shares.len() as u32),
            mail: (0..domains * domains).map(|_| Mutex::default()).collect(),
        };
        let (meeting, from) = (&meeting, self.now);
        // No thread begins before all are there: one that waited for another that never comes would wait without end.
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

    /// From now on packets are measured, and nothing that was before; returns the cycle.
    pub fn begin_window(&mut self) -> u32 {
        let now = self.now;
        self.domains.iter_mut().for_each(|domain| domain.stats.begin_window(now));
        self.clear_channels();
        now
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
        self.domains.iter().map(|domain| domain.channels.sent()).sum()
    }

    /// Starts counting the flits that depart on channels from this cycle on.
    pub fn clear_channels(&mut self) {
        self.domains.iter_mut().for_each(|domain| domain.channels.clear(self.now));
    }

    /// Flits that have departed through each port of the network since the count was started. What still queues for
    /// its departure cycle is left out.
    pub fn sent(&self) -> Vec<u32> {
        let of_domain = |channels: &Channels| -> Vec<u32> {
            let ports = (0..channels.ends.len() as u32).map(PortId);
            let departed = |port: PortId| channels.ends[port.index()].sent - channels.waiting(port, self.now);
            ports.map(departed).collect()
        };
        self.domains.iter().flat_map(|domain| of_domain(&domain.channels)).collect()
    }
}

/// First routers of the domains, of about equal numbers of ports, and behind them the number of routers. Near an equal
/// cut the one is taken whose shortest crossing link is longest: so much the less often domains have to exchange.
fn bounds(network: &Network, setup: &Setup) -> Vec<u32> {
    let routers = network.num_routers() as u32;
    let domains = setup.config.threads.min(routers);
    let ports = network.ports().len() as u64;
    let shortest = if domains > 1 { shortest_crossings(network, setup) } else { Vec::new() };
    // A twentieth of a domain, more or less.
    let slack = routers / domains.max(1) / 20;
    let mut bounds = vec![0];
    for domain in 1..domains {
        let wanted = ports * u64::from(domain) / u64::from(domains);
        let even = network.routers().find(|r| u64::from(network.port_base(*r)) >= wanted).map_or(routers, |r| r.0);
        let (least, most) = (bounds[bounds.len() - 1] + 1, routers - (domains - domain));
        let even = even.clamp(least, most);
        let near = even.saturating_sub(slack).max(least)..=(even + slack).min(most);
        let best = near.max_by_key(|&first| (shortest[first as usize], Reverse(first.abs_diff(even))));
        bounds.push(best.unwrap_or(even));
    }
    bounds.push(routers);
    bounds
}

/// The latency of the shortest link across each cut before a router, `u32::MAX` where there is none.
fn shortest_crossings(network: &Network, setup: &Setup) -> Vec<u32> {
    let mut links: Vec<(u32, [usize; 2])> = network
        .links()
        .iter()
        .map(|link| {
            let [a, b] = link.ends.map(|port| network.ports()[port.index()].router.index());
            (setup.links.of(network, link.ends[0]).min(setup.links.of(network, link.ends[1])), [a.min(b), a.max(b)])
        })
        .collect();
    links.sort_unstable();
    let mut shortest = vec![u32::MAX; network.num_routers() + 1];
    // The first cut from each on that no link has crossed yet: each cut is set once.
    let mut open: Vec<usize> = (0..=shortest.len()).collect();
    for (latency, [first, last]) in links {
        let mut cut = first_open(&mut open, first + 1);
        while cut <= last {
            shortest[cut] = latency;
            open[cut] = cut + 1;
            cut = first_open(&mut open, cut);
        }
    }
    shortest
}

/// The first open place from `place` on; the paths to it are shortened.
fn first_open(open: &mut [usize], mut place: usize) -> usize {
    while open[place] != place {
        open[place] = open[open[place]];
        place = open[place];
    }
    place
}

/// Cycles that domains may run before they exchange: those of the shortest link between two of them.
fn window(network: &Network, setup: &Setup, bounds: &[u32]) -> u32 {
    let domain = |port: PortId| bounds.partition_point(|&first| first <= network.ports()[port.index()].router.0);
    let crossing = network.links().iter().filter(|link| domain(link.ends[0]) != domain(link.ends[1]));
    let latencies = crossing.flat_map(|link| link.ends).map(|port| setup.links.of(network, port) + 1);
    latencies.min().unwrap_or(LONGEST_WINDOW)
}

/// The window of domains without links between them.
const LONGEST_WINDOW: u32 = 1024;

/// Where the threads of a run exchange what crosses between domains.
struct Meeting<'e, 'a, M> {
    shared: &'e RunContext<'a, M>,
    window: u32,
    barrier: Barrier,
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
                // Between the barriers no domain reads the snapshot.
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
        domain.post(self.shared);
        let (domains, own) = (domain.channels.wires.outboxes.len(), usize::from(domain.channels.wires.domain));
        for to in (0..domains).filter(|to| *to != own) {
            let mut slot = self.mail[own * domains + to].lock().expect("no thread panics with the lock");
            std::mem::swap(&mut *slot, &mut domain.channels.wires.outboxes[to]);
        }
    }

    fn fetch(&self, domain: &mut Domain<M>) {
        let (domains, own) = (domain.channels.wires.outboxes.len(), usize::from(domain.channels.wires.domain));
        for other in (0..domains).filter(|other| *other != own) {
            let mut slot = self.mail[other * domains + own].lock().expect("no thread panics with the lock");
            domain.receive(&mut slot);
        }
    }
}

/// Processor time of this thread, in seconds; 0 where the system does not report it.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cycle::{Config, simulate};
    use crate::topology;
    use crate::watch::NoControl;

    /// (First routers of the domains, the window) of a network on this many threads, its links within groups short.
    fn cut(spec: &str, threads: u32) -> (Vec<u32>, u32) {
        let network = topology::build(spec).expect(spec);
        let config: Config = serde_json::from_str(r#"{"links": {"terminal": 1, "local": 2, "global": 40}}"#).unwrap();
        let setup = Setup::new(&network, "min", 3, 3, &Config { threads, ..config }).expect("allowed options");
        let bounds = bounds(&network, &setup);
        let window = window(&network, &setup, &bounds);
        (bounds, window)
    }

    #[test]
    fn domains_are_cut_between_groups_where_links_are_long() {
        assert_eq!(cut("dragonfly:a=8,h=4,p=4", 2), (vec![0, 136, 264], 41));
        let (bounds, window) = cut("dragonfly:a=8,h=4,p=4", 3);
        assert_eq!((bounds.iter().all(|first| first % 8 == 0), window), (true, 41), "{bounds:?}");
    }

    #[test]
    fn results_are_the_same_wherever_domains_are_cut() {
        let network = topology::build("dragonfly:a=4,h=2,p=2").expect("a dragonfly");
        let config: Config = serde_json::from_str(
            r#"{"links": {"terminal": 1, "local": 2, "global": 40}, "packet": 2, "warmup": 100, "measure": 400}"#,
        )
        .unwrap();
        // Heads of the second one look at queues at their second router, where those from other domains must be known.
        let hyperx = topology::build("hyperx:4x4,p=4").expect("a HyperX");
        for (network, routing, traffic) in
            [(&network, "ugal-l", "next-group"), (&network, "par", "next-group"), (&hyperx, "par", "bit-complement")]
        {
            let [one, two, five] = [1, 2, 5].map(|threads| {
                let config = Config { threads, ..config.clone() };
                let point = simulate(network, routing, traffic, 0.4, &config, &NoControl).expect("a run");
                (point.flit_hops, point.latency_cycles, point.packets, point.cycles)
            });
            assert_eq!(one, two, "{routing} {traffic}");
            assert_eq!(one, five, "{routing} {traffic}");
        }
    }

    #[test]
    fn where_all_links_are_alike_domains_are_even() {
        assert_eq!(cut("mesh:8x8", 2), (vec![0, 32, 64], 3));
        assert_eq!(cut("hyperx:4x4,p=4", 4), (vec![0, 4, 8, 12, 16], 3));
        assert_eq!(cut("mesh:2x2", 9).0, [0, 1, 2, 3, 4]);
    }
}
