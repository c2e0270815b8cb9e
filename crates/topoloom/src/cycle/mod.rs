//! The cycle engine: flit by flit, cost following the flits. See docs/cycle-model.md for its semantics.
//!
//! The engine owns channels, time wheels, credits, terminals and statistics; a `router::RouterModel` owns buffers and
//! arbitration. Routers are split into domains, one a thread, that exchange what crosses between them once a window.

mod barrier;
mod channels;
mod config;
mod deadlock;
mod domain;
mod engine;
mod flit;
mod measurement;
mod pace;
mod quick_log;
mod router;
mod send_window;
mod sizes;
mod snapshot;
mod stats;
mod table;
mod terminals;
mod workload_driver;

pub use config::{Config, Injection};
pub use deadlock::Deadlock;
pub use measurement::Point;
pub use router::buffer_policy::Buffers;
pub use router::{Key, Kind, ROUTERS, RouterInfo, RouterOptions, Unless, Value, keys};
pub use sizes::Sizes;
pub use workload_driver::{Times, Units, WorkloadPlan, WorkloadResult, WorkloadRun};

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};
use std::ops::Range;
use std::sync::Arc;

use crate::error::{Error, Result, several};
use crate::limits::{MAX_VCS, class_vcs};
use crate::links::{FLIT_BYTES, Latencies, LinkTimes};
use crate::memory::available_memory;
use crate::network::{LinkClass, Network, Peer, PortId, RouterId, TerminalId};
use crate::routing::{Again, AnyRouting, Looks, NamedRouting, PacketState, Routing};
use crate::traffic::{self, Trace, Traffic};
use crate::watch::Control;
use domain::Arrivals;
use pace::Pace;
use router::{Case, Interface, Router, Simulation, Wishes};
use terminals::Offer;

/// A checked configuration for one network and routing.
#[derive(Debug, Clone)]
pub struct Setup {
    /// The options, filled in.
    pub config: Config,
    /// What the router model states about its ports.
    pub interface: Interface,
    /// Virtual channels per port.
    pub vcs: u32,
    /// VC classes of the routing.
    pub classes: u32,
    /// The latency of each link.
    pub links: LinkTimes,
    /// Slots a port has for its VCs: a power of two.
    pub stride: u32,
    /// VCs of each class; behind them all VCs.
    pub class_masks: Vec<u64>,
    /// Flits of the largest packet.
    pub largest: u32,
    /// VCs that take a packet only if they are empty or have room for all of it, because the routing asks for it.
    pub whole: u64,
    /// The rate of each terminal beside the mean of those that send; empty if all are the same.
    pub rates: Vec<f64>,
    /// Where heads decide again: see [`Routing::decides_again`].
    pub again: Again,
    /// The state in which one decided follows from the one behind its hop: see [`Routing::undo`].
    pub undoes: bool,
    /// Queues are counted by VC class too: see [`Routing::compares_classes`].
    pub by_class: bool,
    /// Heads look at queues at their first two routers alone.
    pub second_apart: bool,
    /// Flits of the largest packet, if rings keep bubbles ([`Routing::keeps_bubbles`]); else 0.
    pub bubble: u32,
    /// The VCs into which each terminal may send, a bit each; empty if all of them send into any.
    pub injection: Vec<u64>,
    /// Flits per cycle that a terminal sends at load 1.
    pub unit: f64,
    /// The rate at which a flit takes a cycle, in Gb/s; `None` where links have no rates.
    pub clock_gbps: Option<f64>,
    /// Cycles from flit to flit on the slowest link, rounded up.
    pub slowest: u32,
    /// True if terminals' links are slower than one flit per cycle, or may be: each terminal has a link of its own.
    pub paces_terminals: bool,
    /// How far apart each terminal sends; empty if all send one flit per cycle.
    pub injection_paces: Vec<Pace>,
    /// Cycles from a flit's sending at a terminal to its being at hand in the router.
    pub injection_cycles: u32,
    /// Cycles in which a packet crosses the empty network and back, about: a run that finds its length itself lasts some of
    /// them at least.
    pub crossing: u32,
}

impl Setup {
    /// Checks `config` against a network, the VC classes of its routing, and the VCs `wanted` unless it states how many.
    ///
    /// # Errors
    /// [`Error::Config`] for an option out of range, [`Error::Routing`] for too few VCs, [`Error::TooLarge`] for a run
    /// that does not fit in memory.
    pub fn new(network: &Network, routing: &str, classes: u32, wanted: u32, config: &Config) -> Result<Self> {
        config.check()?;
        let links = LinkTimes::new(network, &config.links)?;
        let wishes = Wishes { vcs: wanted.min(MAX_VCS).max(classes), links: kinds_of_links(network, &links) };
        let router = config.router.filled(&wishes);
        let interface = (router.model().interface)(&router);
        let vcs = interface.vcs;
        if vcs > MAX_VCS {
            return Err(Error::Routing(format!(
                "{routing} on {} needs {classes} VCs; at most {MAX_VCS} are possible",
                network.spec()
            )));
        }
        // Strides for which the engine is compiled: a power of two near the number of VCs.
        let stride = [1, 2, 4, 8, 16, MAX_VCS].into_iter().find(|s| *s >= vcs).unwrap_or(MAX_VCS);
        let all = if vcs == 64 { u64::MAX } else { (1 << vcs) - 1 };
        let mask = |class: u32| {
            let Range { start: first, end } = class_vcs(class, classes, vcs);
            all & !((1u64 << first) - 1) & if end >= 64 { u64::MAX } else { (1 << end) - 1 }
        };
        let class_masks = (0..classes).map(mask).chain([all]).collect();
        let setup = Self {
            config: Config { router, ..config.clone() },
            interface,
            vcs,
            classes,
            links,
            stride,
            class_masks,
            largest: config.packet.largest(),
            whole: 0,
            rates: Vec::new(),
            again: Again::Never,
            undoes: false,
            by_class: false,
            second_apart: false,
            bubble: 0,
            injection: Vec::new(),
            unit: 1.0,
            clock_gbps: None,
            slowest: 1,
            paces_terminals: false,
            injection_paces: Vec::new(),
            injection_cycles: config.links.terminal + 1,
            crossing: 0,
        };
        setup.check_latencies(network)?;
        let setup = setup.paced(network)?;
        setup.check_size(network)?;
        Ok(setup)
    }

    /// Rejects latencies of classes that links with latencies of their own would not follow.
    fn check_latencies(&self, network: &Network) -> Result<()> {
        let asked = &self.config.links;
        for class in LinkClass::ALL {
            let of_class = network.links().iter().filter(|link| link.class == class);
            let said = |port| network.own_latency(port).is_some() || network.wire(port).latency_ns.is_some();
            let own = of_class.filter(|link| said(link.ends[0])).count();
            let unheard = match (asked.inside, asked.between) {
                _ if asked.of(class) != Latencies::default().of(class) => (class.name(), asked.of(class)),
                (Some(inside), _) => ("inside", inside),
                (_, Some(between)) => ("between", between),
                _ => continue,
            };
            if own > 0 {
                return Err(Error::Config(format!(
                    "{} gives {own} {} links latencies of their own, which {}={} would not change; give latencies=class \
                     in the spec of a file to forget them, or leave the delays out",
                    network.spec(),
                    class.name(),
                    unheard.0,
                    unheard.1
                )));
            }
        }
        Ok(())
    }

    /// The same with flits of `bytes` bytes, which set the number of cycles of a delay.
    fn of_flits(self, network: &Network, bytes: u32) -> Result<Self> {
        Self { links: LinkTimes::of_flits(network, &self.config.links, bytes)?, ..self }.paced(network)
    }

    /// The same with the rates and delays of the network's links.
    fn paced(mut self, network: &Network) -> Result<Self> {
        self.crossing = 2 * (self.eccentricity(network) + self.injection_cycles);
        let delays = (0..network.ports().len() as u32).map(PortId).any(|port| network.wire(port).latency_ns.is_some());
        let Some(clock) = network.clock_gbps() else {
            return if delays {
                Err(Error::Config(format!(
                    "{} has delays in nanoseconds but no rates, so that the length of a cycle is not defined; give rate in the \
                     spec, or latencies in cycles by --links",
                    network.spec()
                )))
            } else {
                Ok(self)
            };
        };
        let injection = network.injection_gbps();
        self.unit = injection.map_or(1.0, |gbps| gbps / clock);
        self.clock_gbps = Some(clock);
        self.paces_terminals = network.paces_terminals();
        let pace = |port| Pace::of_port(network, port, Some(clock));
        let between = network.links().iter().map(|link| pace(link.ends[0]).cycles());
        self.slowest = between.max().unwrap_or(1);
        if self.paces_terminals {
            let ports = (0..network.num_terminals() as u32).map(|id| network.terminal_port(TerminalId(id)));
            let paces: Vec<Pace> = ports.clone().map(pace).collect();
            let slowest = paces.iter().map(Pace::cycles).max().unwrap_or(1);
            self.slowest = self.slowest.max(slowest);
            let longest = ports.map(|port| self.links.of(network, port)).max();
            self.injection_cycles = longest.unwrap_or(self.config.links.terminal) + slowest;
            self.injection_paces = if slowest > 1 { paces } else { Vec::new() };
        }
        self.crossing = 2 * (self.eccentricity(network) + self.injection_cycles);
        let share = |id| network.injection_share(TerminalId(id), injection);
        let shares: Vec<f64> = (0..network.num_terminals() as u32).map(share).collect();
        if shares.iter().any(|share| *share != 1.0) {
            self.rates = shares;
        }
        Ok(self)
    }

    /// Cycles to the router that is farthest from the first one, over links and through routers without a queue.
    fn eccentricity(&self, network: &Network) -> u32 {
        let mut times = vec![u32::MAX; network.num_routers()];
        let mut heap: BinaryHeap<_> = network.up_routers().take(1).map(|first| Reverse((0, first.0))).collect();
        let mut longest = 0;
        while let Some(Reverse((time, at))) = heap.pop() {
            if times[at as usize] <= time {
                continue;
            }
            times[at as usize] = time;
            longest = time;
            for (port, here) in (network.port_base(RouterId(at))..).zip(network.ports_of(RouterId(at))) {
                let Peer::Port(peer) = here.peer else { continue };
                let next = network.ports()[peer.index()].router;
                heap.push(Reverse((
                    time + self.link_cycles(network, PortId(port)) + self.interface.turnaround,
                    next.0,
                )));
            }
        }
        longest
    }

    /// Cycles from a flit's sending over the link between routers at a port to its being at hand.
    fn link_cycles(&self, network: &Network, port: PortId) -> u32 {
        self.links.of(network, port) + Pace::of_port(network, port, self.clock_gbps).cycles()
    }

    /// Cycles in which one flit comes to `target` in an idle network, by the ports of `path` between routers.
    pub fn idle_cycles(&self, network: &Network, path: &[u32], target: TerminalId) -> u32 {
        let own = network.terminal_port(target);
        let last = if self.paces_terminals { self.link_cycles(network, own) } else { self.links.of(network, own) + 1 };
        let links: u32 = path.iter().map(|&port| self.link_cycles(network, PortId(port))).sum();
        let router = self.interface.turnaround - self.interface.credit_delay;
        self.injection_cycles + links + (path.len() as u32 + 1) * router + last
    }

    /// How much a terminal sends beside the mean of those that send.
    pub fn rate_of(&self, terminal: TerminalId) -> f64 {
        self.rates.get(terminal.index()).copied().unwrap_or(1.0)
    }

    /// The number of terminals that send.
    pub fn senders(&self, offer: Offer<'_>) -> u32 {
        match offer.workload {
            Some(plan) => plan.active(),
            None if self.rates.is_empty() => offer.traffic.active(),
            None => self.rates.iter().filter(|rate| **rate > 0.0).count() as u32,
        }
    }

    /// Checks that every terminal can create its packets at `load`.
    fn check_rates(&self, load: f64) -> Result<()> {
        let highest = self.rates.iter().copied().fold(1.0, f64::max);
        let rate = self.config.packet_rate(load * highest * self.unit);
        // Without bursts a terminal that creates a packet every cycle has more than it can send: past saturation.
        if rate <= 1.0 || self.config.injection == Injection::Bernoulli {
            return Ok(());
        }
        let injection = String::from(self.config.injection);
        let who = if highest > 1.0 { "the terminal of the highest rate" } else { "a terminal that is on" };
        Err(Error::Config(format!(
            "{injection} cannot reach load {load}: {who} would have to create {rate:.3} packets per cycle; at most 1 is \
             possible"
        )))
    }

    /// Takes in what else `routing` asks of a router.
    pub fn serve<R: Routing>(mut self, routing: &R) -> Self {
        self.again = routing.decides_again();
        self.undoes = routing.undo(PacketState::direct(1)).is_some();
        self.by_class = routing.compares_classes();
        self.second_apart = routing.looks_in_transit() == Looks::AtSecond;
        assert!(!self.second_apart || self.again.routers() <= 2, "heads that decide again look at queues");
        let whole = (0..self.classes).filter(|class| routing.takes_whole_packets(*class as u8));
        self.whole = whole.fold(0, |mask, class| mask | self.class_masks[class as usize]);
        self
    }

    /// The VCs into which a terminal may send, a bit each.
    fn injection_vcs(&self, terminal: TerminalId) -> u64 {
        self.injection.get(terminal.index()).copied().unwrap_or(self.class_masks[self.classes as usize])
    }

    /// The slots of each VC's own, and those that the VCs of a port share.
    pub fn places(&self) -> (u32, u32) {
        // Where packets are sent only if all of them fits.
        let whole = if self.interface.cut_through { self.largest } else { 0 };
        self.interface.buffers.divide(self.interface.buffer, self.vcs, whole)
    }

    /// The slots of the buffers of `ports` ports.
    fn slots(&self, ports: usize) -> usize {
        ports * self.vcs as usize * self.interface.buffer as usize
    }

    /// Keeps bubbles for packets of up to the largest size, if the routing asks for it.
    fn keep_bubbles(self, name: &str, routing: &AnyRouting) -> Result<Self> {
        let largest = self.largest;
        let Interface { buffer, buffers, cut_through, .. } = self.interface;
        let mistake = |what: String| Err(Error::Config(format!("{name} keeps bubbles in its rings: {what}")));
        if !routing.keeps_bubbles() {
            return Ok(self);
        }
        if !cut_through {
            return mistake("it needs virtual cut-through, flow=vct".to_owned());
        }
        if buffers != Buffers::Private {
            return mistake("each VC needs a buffer of its own, buffers=private".to_owned());
        }
        if buffer < 2 * largest {
            let least = 2 * largest;
            return mistake(format!(
                "two packets of {} must fit into a buffer, but buffer is {buffer}; give {least} or more",
                several(largest, "flit")
            ));
        }
        Ok(Self { bubble: largest, ..self })
    }

    /// About the bytes that a run takes for this many ports and terminals of a network.
    fn memory(&self, network: &Network, ports: usize, terminals: usize) -> u128 {
        let of_port = (self.config.router.model().memory)(self.stride.into(), network.radix() as u64);
        ports as u128 * u128::from(of_port) + terminals as u128 * 256
    }

    fn check_size(&self, network: &Network) -> Result<()> {
        let Interface { vcs, buffer, buffers, .. } = self.interface;
        let per_port = u64::from(vcs) * u64::from(buffer);
        if per_port > 1 << 20 {
            return Err(Error::Config(format!(
                "{vcs} VCs of {buffer} flits are {per_port} flits per port; at most {} are possible",
                1 << 20
            )));
        }
        if buffers != Buffers::Private && per_port > 65_535 {
            return Err(Error::Config(format!(
                "{vcs} VCs of {buffer} flits share {per_port} flits per port; at most 65535 can be shared"
            )));
        }
        let radix = network.radix() as u64;
        if radix * u64::from(self.stride) > u64::from(u16::MAX) {
            return Err(Error::TooLarge(format!(
                "{}: routers of {radix} ports with {} VCs; at most {} ports are possible with as many",
                network.spec(),
                self.vcs,
                u64::from(u16::MAX) / u64::from(self.stride)
            )));
        }
        let model = self.config.router.model();
        if let Some(most) = model.most_ports.filter(|most| radix > *most) {
            return Err(Error::TooLarge(format!(
                "{}: routers of {radix} ports; model={} has at most {most}",
                network.spec(),
                model.name
            )));
        }
        let bytes = self.memory(network, network.ports().len(), network.num_terminals());
        let available = available_memory();
        if bytes > available {
            return Err(Error::TooLarge(format!(
                "a run on {} needs about {} GB; {} GB are available",
                network.spec(),
                bytes.div_ceil(1_000_000_000),
                available / 1_000_000_000
            )));
        }
        Ok(())
    }

    /// The farthest that a flit or credit can be ahead of its sending: the link, and the queue for it, which credits
    /// bound.
    fn horizon(&self, network: &Network) -> u32 {
        let Interface { vcs, buffer, credit_delay, output_delay, .. } = self.interface;
        let ports = (0..network.ports().len() as u32).map(PortId);
        let longest = ports.map(|port| self.links.of(network, port)).max().unwrap_or(1);
        longest + credit_delay + output_delay + (vcs * buffer + 1) * self.slowest + 3
    }
}

/// Latency and pace of each kind of link, where links have rates; else nothing.
fn kinds_of_links(network: &Network, links: &LinkTimes) -> BTreeSet<(u32, Pace)> {
    let Some(clock) = network.clock_gbps() else { return BTreeSet::new() };
    let between = network.links().iter().map(|link| link.ends[0]);
    let terminals = (0..network.num_terminals() as u32).map(|id| network.terminal_port(TerminalId(id)));
    let terminals = terminals.filter(|_| network.paces_terminals());
    let kind = |port| (links.of(network, port), Pace::of_port(network, port, Some(clock)));
    between.chain(terminals).map(kind).collect()
}

/// A run that has been checked but not started.
pub struct Run {
    routing: Arc<NamedRouting>,
    traffic: Arc<Traffic>,
    workload: Option<Arc<WorkloadPlan>>,
    setup: Setup,
    router: Box<dyn Router>,
    load: f64,
}

impl std::fmt::Debug for Run {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Run({}, load {})", self.routing.name(), self.load)
    }
}

impl Run {
    /// Checks everything that can be checked before running. `load` is in flits per active terminal per cycle; a trace
    /// has a load of its own instead, which is more than 1 where it creates packets faster than terminals can send.
    ///
    /// # Errors
    /// Whatever is wrong with routing, traffic, load or options, in a sentence.
    pub fn new(network: &Network, routing: &str, traffic: &str, load: f64, config: &Config) -> Result<Self> {
        let traffic = Arc::new(traffic::build(network, traffic)?);
        Self::of(network, &Arc::new(NamedRouting::build(network, routing)?), &traffic, load, config)
    }

    /// The same for a routing and a traffic that are at hand, both built for `network`: loads of one curve share them.
    ///
    /// # Errors
    /// Those of [`Run::new`].
    pub fn of(
        network: &Network,
        routing: &Arc<NamedRouting>,
        traffic: &Arc<Traffic>,
        load: f64,
        config: &Config,
    ) -> Result<Self> {
        if traffic.trace().is_none() && !(0.0..=1.0).contains(&load) {
            return Err(Error::Config(format!(
                "the load is {load}; it must be from 0 to 1 flits per terminal per cycle"
            )));
        }
        Self::with(network, routing, (traffic, None), load, config)
    }

    /// The same for a workload, which has no load.
    fn with(
        network: &Network,
        routing: &Arc<NamedRouting>,
        (traffic, workload): (&Arc<Traffic>, Option<WorkloadPlan>),
        load: f64,
        config: &Config,
    ) -> Result<Self> {
        let (name, trace) = (routing.name(), traffic.trace());
        let load = trace.map_or(load, Trace::load);
        if let Some(trace) = trace {
            config.check_trace()?;
            config.router.check(trace.largest())?;
        }
        if !config.run_unsafe {
            routing.require_safe(network)?;
        }
        let setup = Setup::new(network, name, routing.classes(), routing.vcs(), config)?.serve(&***routing);
        let setup = match workload.as_ref().map(WorkloadPlan::flit_bytes) {
            Some(bytes) if bytes != FLIT_BYTES && network.has_delays() => setup.of_flits(network, bytes)?,
            _ => setup,
        };
        let router = (config.router.model().prepare)(&Case { setup: &setup, network, routing, name })?;
        let setup = Setup { injection: router.injection(), ..setup };
        let largest = trace.map_or(config.packet.largest(), Trace::largest);
        let setup = Setup { largest, ..setup }.keep_bubbles(name, routing)?;
        let setup = match &config.rates {
            None => setup,
            Some(path) => Setup { rates: traffic::rates(network, traffic, path)?, ..setup },
        };
        let setup = if trace.is_some() { Setup { unit: 1.0, ..setup } } else { setup };
        if trace.is_none() {
            setup.check_rates(load)?;
        }
        let workload = workload.map(|plan| plan.with_window(network, routing, &setup)).transpose()?.map(Arc::new);
        let (routing, traffic) = (Arc::clone(routing), Arc::clone(traffic));
        Ok(Self { routing, traffic, workload, setup, router, load })
    }

    /// The options with everything filled in.
    pub fn config(&self) -> &Config {
        &self.setup.config
    }

    /// Runs.
    ///
    /// # Errors
    /// [`Error::Config`] if a fixed-length run would last longer than time does.
    pub fn run(&self, network: &Network, control: &dyn Control) -> Result<Point> {
        let Self { routing, traffic, setup, load, .. } = self;
        let offer = Offer { traffic, workload: self.workload.as_ref(), load: *load * setup.unit };
        let point = self.router.run(&Simulation { network, routing, offer, setup, control })?;
        // As it was asked for: in flits per cycle and back it may be off in its last digit.
        Ok(Point { offered: *load, ..point })
    }
}

/// The largest load, of 1 at most, at which every terminal can create its packets: less where bursts make up for
/// pauses.
///
/// # Errors
/// [`Error::Traffic`] for a mistake in the file of rates.
pub fn most_load(network: &Network, traffic: &Traffic, config: &Config) -> Result<f64> {
    if config.injection == Injection::Bernoulli {
        return Ok(1.0);
    }
    let highest = match &config.rates {
        None => 1.0,
        Some(path) => traffic::rates(network, traffic, path)?.into_iter().fold(1.0, f64::max),
    };
    let unit = network.injection_gbps().zip(network.clock_gbps()).map_or(1.0, |(own, clock)| own / clock);
    Ok((1.0 / config.packet_rate(highest * unit)).min(1.0))
}

/// Simulates one point: [`Run::new`], then [`Run::run`].
///
/// # Errors
/// Those of the two.
pub fn simulate(
    network: &Network,
    routing: &str,
    traffic: &str,
    load: f64,
    config: &Config,
    control: &dyn Control,
) -> Result<Point> {
    Run::new(network, routing, traffic, load, config)?.run(network, control)
}
