//! The cycle engine: flit by flit, cost following the flits. See docs/cycle-model.md for its semantics.
//!
//! The engine owns channels, time wheels, credits, terminals and statistics; a [`RouterModel`] owns buffers and
//! arbitration. Routers are split into domains, one a thread, that exchange what crosses between them once a window.

mod channels;
mod config;
mod deadlock;
mod domain;
mod engine;
mod flit;
mod measurement;
mod router;
mod sizes;
mod snapshot;
mod stats;
mod table;
mod terminals;
mod workload_driver;

pub use config::{
    Allocator, Buffers, Config, Flow, Injection, Latencies, LinkTimes, MAX_CYCLES, MAX_VCS, Model, TcUse, check_vcs,
};
pub use deadlock::Deadlock;
pub use measurement::{Control, NoControl, Point};
pub use router::voq::MOST_PORTS;
pub use sizes::Sizes;
pub use workload_driver::{Times, Units, WorkloadPlan, WorkloadResult, WorkloadRun};

use std::ops::Range;

use crate::error::{Error, Result};
use crate::memory::available_memory;
use crate::network::{LinkClass, Network, PortId, TerminalId};
use crate::routing::{AnyRouting, DynRouting, PacketState, Routing};
use crate::traffic::{Trace, Traffic};
use crate::{routing, traffic};
use channels::Channels;
use domain::Arrivals;
use flit::Flit;
use router::input_queued::{ADAPTIVE, GENERAL, InputQueued, PLAIN};
use router::voq::{TrafficClasses, Voq};

/// What an input VC that cannot move waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wait {
    /// A credit for the output VC that it holds.
    Credit(u32),
    /// Any of these output VCs, all held by others.
    Vcs(Vec<u32>),
    /// The next flit of the packet whose output VC it holds.
    Flit,
    /// Nothing: it can move.
    Nothing,
}

/// Buffers and arbitration of all routers of a domain. VCs are numbered `port * stride + vc`.
pub trait RouterModel: Send {
    /// Empty routers: the first port of each, and behind them the number of ports.
    fn new(setup: &Setup, first_ports: &[u32], ports: usize) -> Self;

    /// The router of an input VC.
    fn router_of(&self, vc: u32) -> u32;

    /// A flit has arrived at input VC `vc`, its output decided.
    fn accept(&mut self, vc: u32, flit: Flit, now: u32);

    /// A credit has come back for output VC `vc`.
    fn credit(&mut self, vc: u32);

    /// A flit will arrive at input VC `vc` soon: its memory may be asked for.
    fn expect_flit(&self, _vc: u32) {}

    /// A credit will come back for output VC `vc` soon: its memory may be asked for.
    fn expect_credit(&self, _vc: u32) {}

    /// Runs the internal steps of cycle `now` of all routers that have work.
    fn step(&mut self, now: u32, channels: &mut Channels);

    /// Places taken behind output `port`: flits sent whose credits have not come back; under virtual cut-through also
    /// those still to be sent of packets that have been given a VC.
    fn occupancy(&self, port: u32) -> u32;

    /// VCs of `class` at output `port` that a packet of `size` flits in input VC `from` could be given.
    fn free_vcs(&self, port: u32, class: u8, size: u32, from: u32) -> u32;

    /// Places of the buffer behind an output that packets of `class` may wait in: see
    /// [`View::buffer`](crate::routing::View::buffer).
    fn buffer(&self, class: u8) -> u32;

    /// The head that was accepted last at input VC `vc` decided in state `before`. Only where heads decide again.
    fn remember(&mut self, vc: u32, before: PacketState);

    /// The heads that shall decide again, with the state in which they decided before, by input VC.
    fn undecided(&mut self, heads: &mut Vec<(u32, Flit)>);

    /// The head at the front of input VC `vc`, one of [`RouterModel::undecided`], has decided: here it is.
    fn redirect(&mut self, vc: u32, flit: Flit);

    /// Flits that have crossed a switch so far.
    fn grants(&self) -> u64;

    /// Flits in input buffers.
    fn buffered(&self) -> u64;

    /// Flits in one input VC.
    fn flits(&self, vc: u32) -> u32;

    /// What input VC `vc` waits for.
    fn waits_for(&self, vc: u32) -> Wait;

    /// The input VC that holds output VC `vc`, if any.
    fn owner(&self, vc: u32) -> Option<u32>;

    /// Places taken behind output VC `vc`: see [`RouterModel::occupancy`].
    fn taken(&self, vc: u32) -> u32;

    /// The output VCs of its port, itself among them, that would make room in output VC `vc` if places behind them
    /// were given back.
    fn takers(&self, vc: u32) -> Vec<u32>;
}

/// The VCs of a class, of `classes` that share `vcs`. Where there are fewer VCs than classes (only if asked for), some
/// have the same.
pub fn class_vcs(class: u32, classes: u32, vcs: u32) -> Range<u32> {
    let (first, end) = (class * vcs / classes, (class + 1) * vcs / classes);
    first..end.max(first + 1)
}

/// A checked configuration for one network and routing.
#[derive(Debug, Clone)]
pub struct Setup {
    /// The options.
    pub config: Config,
    /// Virtual channels a port.
    pub vcs: u32,
    /// VC classes of the routing.
    pub classes: u32,
    /// The latency of each link.
    pub links: LinkTimes,
    /// Places a port has for its VCs: a power of two.
    pub stride: u32,
    /// VCs of each class; behind them all VCs.
    pub class_masks: Vec<u64>,
    /// Flits of the largest packet, if packets are sent only where all of them fits; else 0.
    pub largest: u32,
    /// VCs that take a packet only if they are empty or have room for all of it, because the routing asks for it.
    pub whole: u64,
    /// The rate of each terminal beside the mean of those that send; empty if all are the same.
    pub rates: Vec<f64>,
    /// Heads without a VC decide again: see [`Routing::decides_again`].
    pub decides_again: bool,
    /// Flits of the largest packet, if rings keep bubbles ([`Routing::keeps_bubbles`]); else 0.
    pub bubble: u32,
    /// How VCs belong to traffic classes, where routers have such.
    pub traffic_classes: Option<TrafficClasses>,
}

impl Setup {
    /// Checks `config` against a network and the VC classes of its routing.
    ///
    /// # Errors
    /// [`Error::Config`] for an option out of range, [`Error::Routing`] for too few VCs, [`Error::TooLarge`] for a run
    /// that does not fit in memory.
    pub fn new(network: &Network, routing: &str, classes: u32, config: &Config) -> Result<Self> {
        config.check()?;
        let config = &config.filled(classes);
        let vcs = config.vcs.unwrap_or(classes);
        if vcs < classes && config.model != Model::Extoll && !config.run_unsafe {
            return Err(Error::Routing(format!(
                "{routing} on {} needs {classes} VCs to be free of deadlock, but vcs is {vcs}; give vcs={classes} or \
                 more, or --unsafe to run it all the same",
                network.spec()
            )));
        }
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
            config: config.clone(),
            vcs,
            classes,
            links: LinkTimes::new(network, &config.links)?,
            stride,
            class_masks,
            largest: if config.cuts_through() { config.packet.largest() } else { 0 },
            whole: 0,
            rates: Vec::new(),
            decides_again: false,
            bubble: 0,
            traffic_classes: None,
        };
        setup.check_latencies(network)?;
        setup.check_size(network)?;
        Ok(setup)
    }

    /// Refuses latencies of classes that links with latencies of their own would not follow.
    fn check_latencies(&self, network: &Network) -> Result<()> {
        let asked = &self.config.links;
        for class in LinkClass::ALL {
            let of_class = network.links().iter().filter(|link| link.class == class);
            let own = of_class.filter(|link| network.own_latency(link.ends[0]).is_some()).count();
            let unheard = match (asked.inside, asked.between) {
                _ if asked.of(class) != Latencies::default().of(class) => (class.name(), asked.of(class)),
                (Some(inside), _) => ("inside", inside),
                (_, Some(between)) => ("between", between),
                _ => continue,
            };
            if own > 0 {
                return Err(Error::Config(format!(
                    "{} gives {own} {} links latencies of their own, which {}={} would not change; give latencies=class \
                     in the spec to forget them",
                    network.spec(),
                    class.name(),
                    unheard.0,
                    unheard.1
                )));
            }
        }
        Ok(())
    }

    /// How much a terminal sends beside the mean of those that send.
    pub fn rate_of(&self, terminal: TerminalId) -> f64 {
        self.rates.get(terminal.index()).copied().unwrap_or(1.0)
    }

    /// The number of terminals that send.
    pub fn senders(&self, traffic: &Traffic) -> u32 {
        if self.rates.is_empty() {
            return traffic.active();
        }
        self.rates.iter().filter(|rate| **rate > 0.0).count() as u32
    }

    /// Checks that every terminal can create its packets at `load`.
    fn check_rates(&self, load: f64) -> Result<()> {
        let highest = self.rates.iter().copied().fold(1.0, f64::max);
        let rate = self.config.packet_rate(load * highest);
        // Without bursts a terminal that creates a packet every cycle has more than it can send: past saturation.
        if rate <= 1.0 || self.config.injection == Injection::Bernoulli {
            return Ok(());
        }
        let injection = String::from(self.config.injection);
        let who = if highest > 1.0 { "the terminal of the highest rate" } else { "a terminal that is on" };
        Err(Error::Config(format!(
            "{injection} cannot reach load {load}: {who} would have to create {rate:.3} packets a cycle; at most 1 is \
             possible"
        )))
    }

    /// Takes in what else `routing` asks of a router.
    pub fn serve<R: Routing>(mut self, routing: &R) -> Self {
        self.decides_again = routing.decides_again();
        let whole = (0..self.classes).filter(|class| routing.takes_whole_packets(*class as u8));
        self.whole = whole.fold(0, |mask, class| mask | self.class_masks[class as usize]);
        self
    }

    /// Divides the VCs into the traffic classes of the cards, if routers are such.
    fn divide(self, name: &str, network: &Network, routing: &AnyRouting) -> Result<Self> {
        if self.config.model != Model::Extoll {
            return Ok(self);
        }
        let classes = TrafficClasses::new(&self.config, name, network, routing)?;
        Ok(Self { traffic_classes: Some(classes), ..self })
    }

    /// The VCs into which a terminal may send, a bit each.
    fn injection_vcs(&self, terminal: TerminalId) -> u64 {
        self.traffic_classes
            .as_ref()
            .map_or(self.class_masks[self.classes as usize], |classes| classes.injection[terminal.index()])
    }

    /// The places of each VC's own, and those that the VCs of a port share.
    pub fn places(&self) -> (u32, u32) {
        self.config.buffers.divide(self.config.buffer, self.vcs, self.largest)
    }

    /// Keeps bubbles for packets of up to `largest` flits, if the routing asks for it.
    fn keep_bubbles(self, name: &str, routing: &AnyRouting, largest: u32) -> Result<Self> {
        let config = &self.config;
        let mistake = |what: String| Err(Error::Config(format!("{name} keeps bubbles in its rings: {what}")));
        if !routing.keeps_bubbles() {
            return Ok(self);
        }
        if config.flow != Flow::Vct {
            return mistake("it needs virtual cut-through, flow=vct".to_owned());
        }
        if config.buffers != Buffers::Private {
            return mistake("each VC needs a buffer of its own, buffers=private".to_owned());
        }
        if config.buffer < 2 * largest {
            let (buffer, least) = (config.buffer, 2 * largest);
            return mistake(format!(
                "two packets of {largest} flits must fit into a buffer, but buffer is {buffer}; give {least} or more"
            ));
        }
        Ok(Self { bubble: largest, ..self })
    }

    /// The simplest router that can do what is asked: [`PLAIN`], [`ADAPTIVE`] or [`GENERAL`].
    fn kind(&self) -> u8 {
        let config = &self.config;
        let simple = config.allocator == Allocator::SeparableInputFirst
            && config.iterations == 1
            && (config.routing_delay.unwrap_or(0), config.vc_alloc_delay, config.sw_alloc_delay) == (0, 1, 1)
            && config.flow == Flow::Wormhole
            && config.buffers == Buffers::Private;
        match (simple, self.decides_again, self.whole) {
            (true, true, _) => ADAPTIVE,
            (true, false, 0) => PLAIN,
            _ => GENERAL,
        }
    }

    fn check_size(&self, network: &Network) -> Result<()> {
        let per_port = u64::from(self.vcs) * u64::from(self.config.buffer);
        if per_port > 1 << 20 {
            return Err(Error::Config(format!(
                "{} VCs of {} flits are {per_port} flits a port; at most {} are possible",
                self.vcs,
                self.config.buffer,
                1 << 20
            )));
        }
        if self.config.buffers != Buffers::Private && per_port > 65_535 {
            return Err(Error::Config(format!(
                "{} VCs of {} flits share {per_port} flits a port; at most 65535 can be shared",
                self.vcs, self.config.buffer
            )));
        }
        let radix = network.radix() as u64;
        if radix * u64::from(self.stride) > u64::from(u16::MAX) {
            return Err(Error::TooLarge(format!(
                "{}: routers of {radix} ports with {} VCs; at most {} ports are possible with so many",
                network.spec(),
                self.vcs,
                u64::from(u16::MAX) / u64::from(self.stride)
            )));
        }
        if self.config.model == Model::Extoll && radix > MOST_PORTS {
            return Err(Error::TooLarge(format!(
                "{}: routers of {radix} ports; model=extoll has at most {}",
                network.spec(),
                MOST_PORTS
            )));
        }
        let ports = network.ports().len() as u128;
        let queues = if self.config.model == Model::Extoll { u128::from(radix) * 8 } else { 0 };
        let bytes = ports * (u128::from(self.stride) * (80 + queues) + 64) + network.num_terminals() as u128 * 256;
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
        let config = &self.config;
        let ports = (0..network.ports().len() as u32).map(PortId);
        let longest = ports.map(|port| self.links.of(network, port)).max().unwrap_or(1);
        longest + config.credit_delay + config.crossbar_delay.unwrap_or(0) + self.vcs * config.buffer + 4
    }
}

macro_rules! compiled {
    ($(#[$doc:meta])* $name:ident, $kind:ident: $($log:literal)*) => {
        $(#[$doc])*
        pub trait $name: DynRouting $(+ Arrivals<InputQueued<$log, $kind>>)* {}

        impl<R: Routing> $name for R {}
    };
}

compiled! {
    /// A routing that is compiled with the plain model of a router, once for each stride of VCs.
    Compiled, PLAIN: 0 1 2 3 4 6
}
compiled! {
    /// The same for routings that decide again: they need more of a router than the plain one has.
    CompiledAdaptive, ADAPTIVE: 0 1 2 3 4 6
}

/// A run that has been checked but not started.
pub struct Run {
    routing: AnyRouting,
    traffic: Traffic,
    setup: Setup,
    load: f64,
    names: (String, String),
}

impl std::fmt::Debug for Run {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Run({}, {}, load {})", self.names.0, self.names.1, self.load)
    }
}

impl Run {
    /// Checks everything that can be checked before running. `load` is in flits per active terminal per cycle; a trace
    /// has a load of its own instead.
    ///
    /// # Errors
    /// Whatever is wrong with routing, traffic, load or options, in a sentence.
    pub fn new(network: &Network, routing: &str, traffic: &str, load: f64, config: &Config) -> Result<Self> {
        if !(0.0..=1.0).contains(&load) {
            return Err(Error::Config(format!(
                "the load is {load}; it must be from 0 to 1 flits per terminal per cycle"
            )));
        }
        Self::with(network, routing, traffic::build(network, traffic)?, traffic, load, config)
    }

    /// The same for traffic that is at hand, under a name; a workload has no load.
    fn with(
        network: &Network,
        routing: &str,
        pattern: Traffic,
        traffic: &str,
        load: f64,
        config: &Config,
    ) -> Result<Self> {
        let load = pattern.trace().map_or(load, Trace::load);
        if pattern.trace().is_some() {
            config.check_trace()?;
        }
        pattern.trace().map_or(Ok(()), |trace| config.check_packet(trace.largest()))?;
        let algorithm = routing::build(network, routing)?;
        if algorithm.unproved() && !config.run_unsafe {
            routing::verify::require_safe(network, routing, &algorithm)?;
        }
        let setup = Setup::new(network, routing, algorithm.classes(), config)?.serve(&algorithm);
        let setup = setup.divide(routing, network, &algorithm)?;
        let largest = pattern.trace().map_or(config.packet.largest(), Trace::largest);
        let setup = Setup { largest: if config.cuts_through() { largest } else { 0 }, ..setup };
        let setup = setup.keep_bubbles(routing, &algorithm, largest)?;
        let setup = match &config.rates {
            None => setup,
            Some(path) => Setup { rates: traffic::rates(network, &pattern, path)?, ..setup },
        };
        if pattern.trace().is_none() {
            setup.check_rates(load)?;
        }
        let names = (routing.to_owned(), traffic.to_owned());
        Ok(Self { routing: algorithm, traffic: pattern, setup, load, names })
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
        macro_rules! with_stride {
            ($($stride:literal => $log:literal),*) => {
                match (self.setup.stride, self.setup.kind()) {
                    $(($stride, PLAIN) => measurement::run::<InputQueued<$log, PLAIN>>(
                        network, self.routing.compiled(), &self.traffic, &self.setup, self.load, control),
                    ($stride, ADAPTIVE) => measurement::run::<InputQueued<$log, ADAPTIVE>>(
                        network, self.routing.compiled_adaptive(), &self.traffic, &self.setup, self.load, control),
                    // With options that few runs have, routings are called through a reference.
                    ($stride, _) => measurement::run::<InputQueued<$log, GENERAL>>(
                        network, &self.routing, &self.traffic, &self.setup, self.load, control),)*
                    (other, _) => unreachable!("no engine for a stride of {other}"),
                }
            };
        }
        if self.setup.config.model == Model::Extoll {
            return measurement::run::<Voq>(network, &self.routing, &self.traffic, &self.setup, self.load, control);
        }
        with_stride!(1 => 0, 2 => 1, 4 => 2, 8 => 3, 16 => 4, 64 => 6)
    }
}

/// The largest load, of 1 at most, at which every terminal can create its packets: less where bursts make up for pauses.
///
/// # Errors
/// [`Error::Traffic`] for traffic that does not fit, and for a mistake in the file of rates.
pub fn most_load(network: &Network, traffic: &str, config: &Config) -> Result<f64> {
    if config.injection == Injection::Bernoulli {
        return Ok(1.0);
    }
    let pattern = traffic::build(network, traffic)?;
    let highest = match &config.rates {
        None => 1.0,
        Some(path) => traffic::rates(network, &pattern, path)?.into_iter().fold(1.0, f64::max),
    };
    Ok((1.0 / config.packet_rate(highest)).min(1.0))
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
