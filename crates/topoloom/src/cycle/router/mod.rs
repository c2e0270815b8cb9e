//! Router models, a folder each: buffers and arbitration, and the options that are theirs alone.
//!
//! A model is a [`RouterInfo`] in [`ROUTERS`], and a [`RouterModel`] that the engine is compiled with. Nothing outside
//! a model's folder knows its options: the engine asks for its [`Interface`]. See docs/adding-a-router-model.md.

pub mod buffer_policy;
mod hot;
pub mod input_queued;
mod key;
mod options;
pub mod voq;
mod words;

pub use key::{Key, Kind, Unless, Value};
pub use options::{RouterOptions, keys};

use std::collections::BTreeSet;

use super::channels::Channels;
use super::flit::{Decision, Flit, Pool};
use super::measurement::{self, Point};
use super::pace::Pace;
use super::terminals::Offer;
use super::{Arrivals, Config, Setup};
use crate::error::{Error, Result, unknown};
use crate::memory::Region;
use crate::network::Network;
use crate::routing::{AnyRouting, PacketState};
use crate::watch::Control;
use buffer_policy::Buffers;

/// What users read about a router model, and what the engine asks of it.
pub struct RouterInfo {
    /// The name that users type.
    pub name: &'static str,
    /// What it is.
    pub summary: &'static str,
    /// Where it was published.
    pub source: &'static str,
    /// Nanoseconds of a cycle, where its times are those of a machine.
    pub cycle_ns: Option<f64>,
    /// Its options, in the order of results.
    pub keys: &'static [Key],
    /// Options that have these values if a request for the model does not give them.
    pub preset: &'static [(&'static str, Value)],
    /// The same for options of the engine, such as the latency of links.
    pub preset_engine: fn(&mut Config),
    /// Checks options against each other, each by itself being in its range, and packets of this many flits at most.
    pub check: fn(&RouterOptions, u32) -> Result<()>,
    /// Fills in what depends on other options, and on what network and routing do well with.
    pub fill: fn(&mut RouterOptions, &Wishes),
    /// What the engine must know of a router with these options, which are filled in.
    pub interface: fn(&RouterOptions) -> Interface,
    /// The most ports of a router, if the model bounds them.
    pub most_ports: Option<u64>,
    /// Bytes of a port, of a router of `radix` ports with `stride` slots for VCs each: (stride, radix).
    pub memory: fn(u64, u64) -> u64,
    /// What a run is set up like, in words: (what, value with its unit). The options need not be filled in.
    pub describe: fn(&RouterOptions) -> Vec<(&'static str, String)>,
    /// Meets a network and a routing.
    pub prepare: fn(&Case<'_>) -> Result<Box<dyn Router>>,
}

/// What a network and a routing do well with.
#[derive(Debug, Clone, Default)]
pub struct Wishes {
    /// VCs.
    pub vcs: u32,
    /// Latency and pace of each kind of link, where links have rates; else nothing.
    pub links: BTreeSet<(u32, Pace)>,
}

impl Wishes {
    /// The flits that a VC must hold to keep any link busy, each credit being processed within `turnaround` cycles; 0
    /// where links have no rates.
    pub fn credit_loop(&self, turnaround: u32) -> u32 {
        let flits = |&(latency, pace): &(u32, Pace)| pace.flits(2 * (latency + pace.cycles()) + turnaround + 2);
        self.links.iter().map(flits).max().unwrap_or(0)
    }
}

impl std::fmt::Debug for RouterInfo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "RouterInfo({})", self.name)
    }
}

impl RouterInfo {
    /// The key of this name.
    pub fn key(&self, name: &str) -> Option<&'static Key> {
        self.keys.iter().find(|key| key.name == name)
    }
}

/// Every router model, in the order in which users see them; the first is the one unless another is asked for.
pub static ROUTERS: &[&RouterInfo] = &[&input_queued::INFO, &input_queued::VCT, &voq::INFO];

/// The model that users call `name`.
///
/// # Errors
/// [`Error::Config`] if there is none.
pub fn named(name: &str) -> Result<&'static RouterInfo> {
    let found = ROUTERS.iter().find(|model| model.name == name);
    found.copied().ok_or_else(|| Error::Config(unknown("router model", name, ROUTERS.iter().map(|model| model.name))))
}

/// The facts of a router that the engine needs, whatever its model: its ports, as seen by the senders into them.
#[derive(Debug, Clone, Copy)]
pub struct Interface {
    /// Virtual channels per port.
    pub vcs: u32,
    /// Flits of a virtual channel's buffer.
    pub buffer: u32,
    /// How they are divided among the VCs of a port.
    pub buffers: Buffers,
    /// Packets are sent only where all of them fits.
    pub cut_through: bool,
    /// Cycles before a router uses a credit that has arrived.
    pub credit_delay: u32,
    /// Cycles between a flit's departure over a link without latency and the use of its credit, if nothing holds it up.
    pub turnaround: u32,
    /// Cycles that a flit may take from winning an output to departing, the queue for the channel aside.
    pub output_delay: u32,
}

/// What a model's options meet.
pub struct Case<'a> {
    /// The options, filled in, and what the engine makes of them.
    pub setup: &'a Setup,
    /// The network.
    pub network: &'a Network,
    /// The routing.
    pub routing: &'a AnyRouting,
    /// What users call the routing.
    pub name: &'a str,
}

/// A router model that has met a network and a routing.
pub trait Router: std::fmt::Debug + Send + Sync {
    /// The VCs into which each terminal may send, a bit each; none if all of them send into any.
    fn injection(&self) -> Vec<u64> {
        Vec::new()
    }

    /// Runs a point: [`Simulation::run`] with the model.
    ///
    /// # Errors
    /// Those of [`Run::run`](super::Run::run).
    fn run(&self, simulation: &Simulation<'_>) -> Result<Point>;
}

/// A point that is about to be simulated.
pub struct Simulation<'a> {
    /// The network.
    pub network: &'a Network,
    /// The routing.
    pub routing: &'a AnyRouting,
    /// What terminals send.
    pub offer: Offer<'a>,
    /// The options.
    pub setup: &'a Setup,
    /// The watcher.
    pub control: &'a dyn Control,
}

impl Simulation<'_> {
    /// Runs it with the engine that is compiled for the model `M`; `routing` is the point's, compiled for it or not.
    ///
    /// # Errors
    /// Those of [`Run::run`](super::Run::run).
    pub fn run<M: RouterModel>(&self, routing: &dyn Arrivals<M>, plan: &M::Plan) -> Result<Point> {
        measurement::run::<M>(self.network, routing, self.offer, self.setup, plan, self.control)
    }
}

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

/// A head that has come to the front of its input VC undecided.
#[derive(Debug, Clone, Copy)]
pub struct FreshHead {
    /// The input VC (domain numbering).
    pub vc: u32,
    /// Its router (domain numbering).
    pub router: u32,
    /// Its position in the pool.
    pub place: u32,
}

/// Buffers and arbitration of all routers of a domain. VCs are numbered `port * stride + vc`.
pub trait RouterModel: Send {
    /// What it is built from, besides what the engine knows of every model.
    type Plan: Sync;

    /// Empty routers: the first port of each, and behind them the number of ports. Their tables may lie in a region.
    fn new(setup: &Setup, plan: &Self::Plan, first_ports: &[u32], ports: usize, region: Option<&Region>) -> Self;

    /// The router of an input VC.
    fn router_of(&self, vc: u32) -> u32;

    /// The port of an input VC, or of an output VC.
    fn port_of(&self, vc: u32) -> u32;

    /// The flits in its buffers and on the domain's wires.
    fn pool(&self) -> &Pool<Flit>;

    /// The same, to be changed.
    fn pool_mut(&mut self) -> &mut Pool<Flit>;

    /// The flit at `place` in the pool has arrived at input VC `vc` of `router`; if it is a head, with what has been
    /// decided about it, and the state in which it was.
    fn accept(&mut self, vc: u32, router: u32, place: u32, decided: Option<(Decision, PacketState)>, now: u32);

    /// The same, of a head that has decided, where none that arrives in this cycle looks at queues any more.
    fn accept_last(&mut self, vc: u32, router: u32, place: u32, decided: (Decision, PacketState), now: u32) {
        self.accept(vc, router, place, Some(decided), now);
    }

    /// A credit has come back for output VC `vc`.
    fn credit(&mut self, vc: u32);

    /// The flit at `place` of the pool will arrive at input VC `vc` soon: the memory of both may be asked for.
    fn expect_flit(&self, _vc: u32, _place: u32) {}

    /// True if the memory of queues that heads look at is asked for before they decide.
    fn are_queues_far(&self) -> bool {
        false
    }

    /// A head will soon decide at `router`: the memory of its outputs' queues may be asked for.
    fn expect_queues(&self, _router: u32) {}

    /// A head will soon be given output `out`: memory may be asked for.
    fn expect_decision(&self, _head: FreshHead, _out: u16) {}

    /// True if its tables do not fit into the near caches: memory is asked for before it is needed.
    fn is_far(&self) -> bool {
        true
    }

    /// A credit will come back for output VC `vc` soon: its memory may be asked for.
    fn expect_credit(&self, _vc: u32) {}

    /// Runs the internal steps of cycle `now` of all routers that have work.
    fn step(&mut self, now: u32, channels: &mut Channels);

    /// Heads may decide at the front of their VC.
    const MAY_DEFER: bool = false;

    /// They may do so at other routers than their first one.
    fn defers_in_flight(&self) -> bool {
        false
    }

    /// True for a head, as it is on the link, that decides at the front of its VC: when it arrives if that is empty, else with
    /// [`RouterModel::undecided`]. What it finds does not depend on the order in which flits arrive in the cycle.
    fn defers(&self, _head: &Flit) -> bool {
        false
    }

    /// Takes in such a head, as [`RouterModel::accept`] does others.
    fn accept_undecided(&mut self, _vc: u32, _router: u32, _place: u32, _now: u32) {
        unreachable!("all heads decide when they arrive in this model")
    }

    /// Takes in such a head that comes to the front at once, as its VC is empty: it has decided by what there was before the
    /// cycle's arrivals, in this state.
    fn accept_front(&mut self, _vc: u32, _router: u32, _place: u32, _decided: (Decision, PacketState), _now: u32) {
        unreachable!("all heads decide when they arrive in this model")
    }

    /// All that arrives in the cycle is there: queues count it from now on.
    fn settle_queues(&mut self) {}

    /// Slots taken behind output `port`: flits sent whose credits have not come back; under virtual cut-through also
    /// those still to be sent of packets that have been given a VC.
    fn occupancy(&self, port: u32) -> u32;

    /// [`View::queue`](crate::routing::View::queue) of output `port`.
    fn queue(&self, port: u32) -> u32 {
        self.occupancy(port)
    }

    /// What waits for and behind `count` outputs from the one `first` on, if the model keeps that.
    ///
    /// # Panics
    /// If there are fewer outputs.
    fn queues(&self, _first: u32, _count: u32) -> Option<impl ExactSizeIterator<Item = u32>> {
        None::<std::iter::Empty<u32>>
    }

    /// [`View::queue_of`](crate::routing::View::queue_of) of output `port` and a VC class.
    fn queue_of(&self, port: u32, _class: u8) -> u32 {
        self.queue(port)
    }

    /// VCs of `class` at output `port` that a packet of `size` flits in input VC `from` could be given.
    fn free_vcs(&self, port: u32, class: u8, size: u32, from: u32) -> u32;

    /// True if there is such a VC.
    fn has_free_vc(&self, port: u32, class: u8, size: u32, from: u32) -> bool {
        self.free_vcs(port, class, size, from) > 0
    }

    /// Slots of the buffer behind an output that packets of `class` may wait in: see
    /// [`View::buffer`](crate::routing::View::buffer).
    fn buffer(&self, class: u8) -> u32;

    /// The heads that shall decide in the cycle at hand, all at the same time: those that decide for the first time and are
    /// at the front, then the input VC of each other one and a number by which the model knows it. Both lists are empty
    /// before. This and the next three only where heads decide again: a model on which they do not rejects
    /// such routings.
    fn undecided(&mut self, _fresh: &mut Vec<FreshHead>, _waiting: &mut Vec<(u32, u32)>) {}

    /// True if it keeps the state in which a head decided; else heads come back in the one behind their hop.
    fn remembers(&self) -> bool {
        true
    }

    /// The other one of this `number`, in the state in which it decides, if the model remembers that.
    fn waiting_head(&self, _number: u32) -> Flit {
        unreachable!("no head decides again in this model")
    }

    /// One of the heads that decide for the first time has decided this in cycle `_now`; in their order.
    fn decide_first(&mut self, _head: FreshHead, _decision: Decision, _now: u32) {}

    /// The head `number` in input VC `vc`, one of the others, has decided this in cycle `_now`; after those, in their order.
    fn redirect(&mut self, _vc: u32, _number: u32, _decision: Decision, _now: u32) {}

    /// Flits in one input VC, without those of [`RouterModel::in_stages`].
    fn flits(&self, vc: u32) -> u32;

    /// Flits in each input VC that are in no queue yet: they wait for time alone. Nothing if there never are such.
    fn in_stages(&self) -> Vec<u32> {
        Vec::new()
    }

    /// What input VC `vc` waits for.
    fn waits_for(&self, vc: u32) -> Wait;

    /// The input VC that holds output VC `vc`, if any.
    fn owner(&self, vc: u32) -> Option<u32>;

    /// Slots taken behind output VC `vc`: see [`RouterModel::occupancy`].
    fn taken(&self, vc: u32) -> u32;

    /// The output VCs of its port, itself among them, that would make room in output VC `vc` if slots behind them
    /// were given back.
    fn takers(&self, vc: u32) -> Vec<u32>;
}
