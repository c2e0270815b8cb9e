//! Options of the cycle engine. All have defaults; all are checked before a run.

use serde::{Deserialize, Serialize};

use super::sizes::Sizes;
use crate::error::{Error, Result, unknown};
use crate::layout::Packing;
use crate::network::{LinkClass, Network, Peer, PortId};

/// The router model: who owns buffers and arbitration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
pub enum Model {
    /// Input-queued with virtual channels, timed like BookSim2's router.
    #[default]
    Iq,
    /// The same router under virtual cut-through; its options are given the times of a paper where users choose it.
    Vct,
    /// Cards with virtual output queues, iSLIP, whole packets and traffic classes.
    Extoll,
}

/// The traffic classes of cards that packets are sent in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TcUse {
    /// All of them.
    All,
    /// Those without an adaptive VC.
    Deterministic,
    /// Those with one.
    Adaptive,
}

/// How virtual channels and the switch are allocated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
pub enum Allocator {
    /// Inputs choose an output each, then outputs choose an input each, both round robin.
    #[default]
    SeparableInputFirst,
    /// Outputs grant, then inputs accept (McKeown, 1999); pointers move only when a first-iteration grant is accepted.
    Islip,
    /// Diagonal by diagonal over the matrix of requests, as many as fit (Tamir and Chi, 1993).
    Wavefront,
}

/// Flow control: what a packet needs to advance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
pub enum Flow {
    /// A credit for each flit.
    #[default]
    Wormhole,
    /// Virtual cut-through: room for all of it before its head is given a VC.
    Vct,
}

/// How the buffer of a port is divided among its VCs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(try_from = "String", into = "String")]
pub enum Buffers {
    /// Each VC has its own places.
    #[default]
    Private,
    /// Each VC has so many places of its own, or those of the largest packet where that must fit whole; the rest of the
    /// port's belong to whoever comes first.
    Shared(u32),
}

impl Buffers {
    /// The places of each VC's own, and those that a port's VCs share, if there are `buffer` a VC and packets of up to
    /// `whole` flits must fit whole.
    ///
    /// A VC that is empty must always have room for any packet. Else packets of early classes could take all that is
    /// shared, and wait, from router to router, for a packet of a later class that waits for one of these places.
    pub fn divide(self, buffer: u32, vcs: u32, whole: u32) -> (u32, u32) {
        match self {
            Self::Private => (buffer, 0),
            Self::Shared(reserve) => {
                let own = reserve.max(whole);
                (own, vcs * (buffer - own))
            }
        }
    }
}

impl TryFrom<String> for Buffers {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        let (name, rest) = text.split_once(':').unwrap_or((&text, ""));
        match (name, rest.parse::<u32>()) {
            ("private", _) if rest.is_empty() => Ok(Self::Private),
            ("private", _) => Err(Error::Config(format!("buffers=private takes no number, but '{rest}' is given"))),
            ("shared", Ok(reserve)) => Ok(Self::Shared(reserve)),
            ("shared", Err(_)) => Err(Error::Config(format!(
                "buffers is '{text}'; shared buffers need the flits that are each VC's own: buffers=shared:5"
            ))),
            _ => Err(Error::Config(unknown("kind of buffers", name, ["private", "shared"]))),
        }
    }
}

impl From<Buffers> for String {
    fn from(buffers: Buffers) -> Self {
        match buffers {
            Buffers::Private => "private".to_owned(),
            Buffers::Shared(reserve) => format!("shared:{reserve}"),
        }
    }
}

/// Latency in cycles, by link class or by cabinets. A flit that is sent over a link of latency L in cycle s is at hand in
/// s + L + 1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Latencies {
    /// Terminal links.
    pub terminal: u32,
    /// Links within a group, or of a family without a hierarchy.
    pub local: u32,
    /// Links between groups.
    pub global: u32,
    /// Links of trees.
    pub up: u32,
    /// Links between the routers of one node.
    pub internal: u32,
    /// Links between routers of one cabinet, of whatever class.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inside: Option<u32>,
    /// Links between routers of different cabinets, of whatever class.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub between: Option<u32>,
    /// Which routers share a cabinet, as [`Packing::parse`] reads it; the family's own packaging unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cabinet: Option<String>,
}

impl Default for Latencies {
    fn default() -> Self {
        let (inside, between, cabinet) = (None, None, None);
        Self { terminal: 1, local: 1, global: 1, up: 1, internal: 1, inside, between, cabinet }
    }
}

impl Latencies {
    /// True if cabinets decide.
    pub fn by_cabinet(&self) -> bool {
        self.inside.is_some() || self.between.is_some()
    }

    fn check(&self) -> Result<()> {
        for class in LinkClass::ALL {
            within(&format!("the latency of {} links", class.name()), self.of(class).into(), 1, 10_000)?;
        }
        for (name, latency) in [("inside", self.inside), ("between", self.between)] {
            within(&format!("the latency of links {name} cabinets"), latency.unwrap_or(1).into(), 1, 10_000)?;
        }
        match &self.cabinet {
            Some(cabinet) if !self.by_cabinet() => Err(Error::Config(format!(
                "links: cabinet={cabinet} changes nothing without inside or between, the latencies that go by cabinets"
            ))),
            _ => Ok(()),
        }
    }

    /// The latency of a class.
    pub fn of(&self, class: LinkClass) -> u32 {
        match class {
            LinkClass::Terminal => self.terminal,
            LinkClass::Local => self.local,
            LinkClass::Global => self.global,
            LinkClass::Up => self.up,
            LinkClass::Internal => self.internal,
        }
    }
}

/// The latency of each link of a network.
#[derive(Debug, Clone)]
pub struct LinkTimes {
    latencies: Latencies,
    /// The cabinet of each router; empty if no latency goes by cabinets.
    cabinets: Vec<u32>,
}

impl LinkTimes {
    /// Finds out which links are in which cabinets, if that is asked for.
    ///
    /// # Errors
    /// [`Error::Config`] for cabinets that this network cannot be put into.
    pub fn new(network: &Network, latencies: &Latencies) -> Result<Self> {
        latencies.check()?;
        let packing = Packing::parse(latencies.cabinet.as_deref().unwrap_or("own"));
        let said = |error| match error {
            Error::Config(what) => Error::Config(format!("links: {what}")),
            other => other,
        };
        let cabinets = match latencies.by_cabinet() {
            true => packing.and_then(|packing| packing.cabinets(network)).map_err(said)?,
            false => Vec::new(),
        };
        Ok(Self { latencies: latencies.clone(), cabinets })
    }

    /// The latency of the links of a class, where cabinets do not decide.
    pub fn of_class(&self, class: LinkClass) -> u32 {
        self.latencies.of(class)
    }

    /// The latency of the link at a port: its own if it has one, else by its cabinets or its class.
    pub fn of(&self, network: &Network, port: PortId) -> u32 {
        network.own_latency(port).unwrap_or_else(|| {
            let this = &network.ports()[port.index()];
            self.by_cabinet(network, port, this.peer).unwrap_or_else(|| self.of_class(this.class))
        })
    }

    fn by_cabinet(&self, network: &Network, port: PortId, peer: Peer) -> Option<u32> {
        let (Peer::Port(peer), false) = (peer, self.cabinets.is_empty()) else { return None };
        let [here, there] = [port, peer].map(|port| self.cabinets[network.ports()[port.index()].router.index()]);
        if here == there { self.latencies.inside } else { self.latencies.between }
    }
}

/// When terminals create packets.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, Default)]
#[serde(try_from = "String", into = "String")]
pub enum Injection {
    /// Each cycle with the same probability.
    #[default]
    Bernoulli,
    /// A two-state Markov process: while on, each cycle with probability load (alpha + beta) / alpha.
    OnOff {
        /// Probability a cycle to turn on.
        alpha: f64,
        /// Probability a cycle to turn off.
        beta: f64,
    },
}

impl TryFrom<String> for Injection {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        let (name, rest) = text.split_once(':').unwrap_or((&text, ""));
        match name {
            "bernoulli" if rest.is_empty() => Ok(Self::Bernoulli),
            "bernoulli" => Err(Error::Config(format!("injection: bernoulli takes no keys, but '{rest}' is given"))),
            "on-off" => on_off(rest),
            _ => Err(Error::Config(unknown("injection", name, ["bernoulli", "on-off"]))),
        }
    }
}

fn on_off(rest: &str) -> Result<Injection> {
    let (mut alpha, mut beta) = (None, None);
    for item in rest.split(',').filter(|item| !item.is_empty()) {
        let (key, value) = item.split_once('=').unwrap_or((item, ""));
        let slot = match key {
            "alpha" => &mut alpha,
            "beta" => &mut beta,
            _ => return Err(Error::Config(unknown("key of on-off", key, ["alpha", "beta"]))),
        };
        let read = value.parse::<f64>().ok().filter(|p| *p > 0.0 && *p <= 1.0);
        *slot = Some(read.ok_or_else(|| {
            Error::Config(format!("on-off: {key} is '{value}'; it must be a probability above 0, at most 1"))
        })?);
    }
    match (alpha, beta) {
        (Some(alpha), Some(beta)) => Ok(Injection::OnOff { alpha, beta }),
        _ => Err(Error::Config("on-off needs both probabilities: on-off:alpha=0.1,beta=0.2".to_owned())),
    }
}

impl From<Injection> for String {
    fn from(injection: Injection) -> Self {
        match injection {
            Injection::Bernoulli => "bernoulli".to_owned(),
            Injection::OnOff { alpha, beta } => format!("on-off:alpha={alpha},beta={beta}"),
        }
    }
}

/// Everything that a run depends on but network, routing, traffic and load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// The router model.
    pub model: Model,
    /// Virtual channels a port; unless given, the larger of 4 and what the routing needs.
    pub vcs: Option<u32>,
    /// Flits a virtual channel.
    pub buffer: u32,
    /// How they are divided among the VCs of a port.
    pub buffers: Buffers,
    /// Flow control.
    pub flow: Flow,
    /// Internal steps a cycle, at least 1; 1.5 alternates one and two.
    pub speedup: f64,
    /// Stages before VC allocation; 0, which `iq` has unless given, looks ahead. Cards have 1 unless given.
    pub routing_delay: Option<u32>,
    /// Cycles of VC allocation.
    pub vc_alloc_delay: u32,
    /// Cycles of switch allocation.
    pub sw_alloc_delay: u32,
    /// Cycles before a router uses a credit that has arrived.
    pub credit_delay: u32,
    /// Of cards: cycles to store a packet; 1 unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buffer_delay: Option<u32>,
    /// Of cards: cycles through the crossbar; 1 unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub crossbar_delay: Option<u32>,
    /// Of cards: traffic classes; 4 unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tcs: Option<u32>,
    /// Of cards: deterministic VCs of a traffic class; 2 unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tc_vcs: Option<u32>,
    /// Of cards: traffic classes with an adaptive VC as well; 2 unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adaptive_tcs: Option<u32>,
    /// Of cards: the traffic classes used; unless given all, or with an adaptive routing those with an adaptive VC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tc_use: Option<TcUse>,
    /// The allocator of VCs and switch.
    pub allocator: Allocator,
    /// Iterations of the allocator.
    pub iterations: u32,
    /// Link latencies.
    pub links: Latencies,
    /// Flits a packet.
    pub packet: Sizes,
    /// The injection process.
    pub injection: Injection,
    /// A file of the terminals' relative rates; all are equal if none is given.
    pub rates: Option<String>,
    /// Cycles before measuring, or `None` to detect the end of the warm-up.
    pub warmup: Option<u64>,
    /// Cycles of measuring, or `None` to stop when the interval is narrow enough.
    pub measure: Option<u64>,
    /// Mean latency past which the network counts as saturated and a run without a fixed length ends early, in cycles.
    pub latency_limit: Option<f64>,
    /// Half-width of the interval of the mean latency, relative to it, at which a run without a fixed length ends.
    pub precision: f64,
    /// Seed of all random streams.
    pub seed: u64,
    /// Threads of one run. Results do not depend on it.
    pub threads: u32,
    /// Runs even with fewer VCs than the routing needs.
    #[serde(rename = "unsafe")]
    pub run_unsafe: bool,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            model: Model::Iq,
            vcs: None,
            buffer: 64,
            buffers: Buffers::Private,
            flow: Flow::Wormhole,
            speedup: 2.0,
            routing_delay: None,
            vc_alloc_delay: 1,
            sw_alloc_delay: 1,
            credit_delay: 2,
            buffer_delay: None,
            crossbar_delay: None,
            tcs: None,
            tc_vcs: None,
            adaptive_tcs: None,
            tc_use: None,
            allocator: Allocator::SeparableInputFirst,
            iterations: 1,
            links: Latencies::default(),
            packet: Sizes::One(1),
            injection: Injection::Bernoulli,
            rates: None,
            warmup: None,
            measure: None,
            latency_limit: None,
            precision: 0.01,
            seed: 1,
            threads: 1,
            run_unsafe: false,
        }
    }
}

/// The most VCs a port may have: what a 64-bit mask holds.
pub const MAX_VCS: u32 = 64;
/// The longest fixed-length run, in cycles.
pub const MAX_CYCLES: u64 = 50_000_000;

impl Config {
    /// Checks every option by itself.
    ///
    /// # Errors
    /// [`Error::Config`] names the option and what is allowed.
    pub fn check(&self) -> Result<()> {
        if self.model == Model::Vct && self.flow != Flow::Vct {
            return Err(Error::Config("model=vct is virtual cut-through: leave flow out, or flow=vct".to_owned()));
        }
        self.vcs.map_or(Ok(()), check_vcs)?;
        within("buffer", self.buffer.into(), 1, 65_535)?;
        self.check_model()?;
        within("routing-delay", self.routing_delay.unwrap_or(0).into(), 0, 1000)?;
        within("vc-alloc-delay", self.vc_alloc_delay.into(), 1, 1000)?;
        within("sw-alloc-delay", self.sw_alloc_delay.into(), 1, 1000)?;
        within("credit-delay", self.credit_delay.into(), 0, 1000)?;
        within("iterations", self.iterations.into(), 1, 64)?;
        if self.allocator == Allocator::Wavefront && self.iterations != 1 {
            return Err(Error::Config(format!(
                "iterations is {}; the wavefront allocator leaves nothing to a second iteration: it must be 1",
                self.iterations
            )));
        }
        self.links.check()?;
        self.packet.check()?;
        self.check_room()?;
        within("threads", self.threads.into(), 1, 1024)?;
        if !(1.0..=16.0).contains(&self.speedup) {
            return Err(Error::Config(format!("speedup is {}; it must be from 1 to 16", self.speedup)));
        }
        if self.latency_limit.is_some_and(|limit| limit.is_nan() || limit <= 0.0) {
            return Err(Error::Config("latency-limit must be a number of cycles above 0".to_owned()));
        }
        if !(0.001..=0.5).contains(&self.precision) {
            return Err(Error::Config(format!("precision is {}; it must be from 0.001 to 0.5", self.precision)));
        }
        match (self.warmup, self.measure) {
            (None, None) => Ok(()),
            (Some(warmup), Some(measure)) => {
                within("warmup", warmup, 0, MAX_CYCLES)?;
                within("measure", measure, 1, MAX_CYCLES)
            }
            _ => Err(Error::Config("warmup and measure go together: give both or neither".to_owned())),
        }
    }
}

impl Config {
    /// Checks that nothing is set that a trace says itself.
    ///
    /// # Errors
    /// [`Error::Config`] names the option.
    pub fn check_trace(&self) -> Result<()> {
        if self.packet != Sizes::One(1) {
            return Err(Error::Config("a trace has sizes of packets of its own; leave packet out".to_owned()));
        }
        self.check_given("a trace")
    }

    /// Checks that nothing is set that given packets or messages say themselves.
    ///
    /// # Errors
    /// [`Error::Config`] names the option; `what` is given.
    pub fn check_given(&self, what: &str) -> Result<()> {
        let said = [
            ("rates", self.rates.is_some(), "rates"),
            ("injection", self.injection != Injection::Bernoulli, "times"),
            ("warmup and measure", self.measure.is_some(), "a length"),
            ("latency-limit", self.latency_limit.is_some(), "a length"),
        ];
        match said.into_iter().find(|(_, given, _)| *given) {
            None => Ok(()),
            Some((name, _, own)) => Err(Error::Config(format!("{what} has {own} of its own; leave {name} out"))),
        }
    }

    /// Checks that nothing is set that the router model does not have.
    fn check_model(&self) -> Result<()> {
        let card = [
            ("buffer-delay", self.buffer_delay),
            ("crossbar-delay", self.crossbar_delay),
            ("tcs", self.tcs),
            ("tc-vcs", self.tc_vcs),
            ("adaptive-tcs", self.adaptive_tcs),
            ("tc-use", self.tc_use.map(|_| 0)),
        ];
        if self.model != Model::Extoll {
            return match card.iter().find(|(_, given)| given.is_some()) {
                None => Ok(()),
                Some((name, _)) => Err(Error::Config(format!("{name} is for model=extoll, which alone has it"))),
            };
        }
        let usual = Self::default();
        let other = [
            ("vcs", self.vcs.is_some(), "tcs, tc-vcs and adaptive-tcs say how many there are"),
            ("speedup", self.speedup != usual.speedup && self.speedup != 1.0, "its crossbar is as fast as its links"),
            ("allocator", self.allocator != usual.allocator && self.allocator != Allocator::Islip, "it has iSLIP"),
            ("vc-alloc-delay", self.vc_alloc_delay != usual.vc_alloc_delay, "routing has decided on the VC"),
        ];
        if let Some((name, _, why)) = other.into_iter().find(|(_, given, _)| *given) {
            return Err(Error::Config(format!("model=extoll has no {name}: {why}")));
        }
        let [tcs, tc_vcs, adaptive] = self.traffic_classes();
        within("tcs", tcs.into(), 1, 16)?;
        within("tc-vcs", tc_vcs.into(), 1, 16)?;
        within("adaptive-tcs", adaptive.into(), 0, tcs.into())?;
        within("tcs times tc-vcs", (tcs * tc_vcs).into(), 1, u64::from(MAX_VCS - tcs))?;
        within("buffer-delay", self.buffer_delay.unwrap_or(1).into(), 0, 1000)?;
        within("crossbar-delay", self.crossbar_delay.unwrap_or(1).into(), 0, 1000)
    }

    /// Of cards: traffic classes, deterministic VCs of each, and how many have an adaptive VC as well.
    fn traffic_classes(&self) -> [u32; 3] {
        let tcs = self.tcs.unwrap_or(4);
        [tcs, self.tc_vcs.unwrap_or(2), self.adaptive_tcs.unwrap_or(tcs.min(2))]
    }

    /// The options with everything filled in that depends on the model, and on the VC classes of the routing.
    pub fn filled(&self, classes: u32) -> Self {
        match self.model {
            Model::Iq | Model::Vct => Self {
                vcs: Some(self.vcs.unwrap_or(classes.max(4))),
                routing_delay: Some(self.routing_delay.unwrap_or(0)),
                ..self.clone()
            },
            Model::Extoll => {
                let [tcs, tc_vcs, adaptive_tcs] = self.traffic_classes();
                Self {
                    vcs: Some(tcs * tc_vcs + adaptive_tcs),
                    flow: Flow::Vct,
                    speedup: 1.0,
                    allocator: Allocator::Islip,
                    routing_delay: Some(self.routing_delay.unwrap_or(1)),
                    buffer_delay: Some(self.buffer_delay.unwrap_or(1)),
                    crossbar_delay: Some(self.crossbar_delay.unwrap_or(1)),
                    tcs: Some(tcs),
                    tc_vcs: Some(tc_vcs),
                    adaptive_tcs: Some(adaptive_tcs),
                    ..self.clone()
                }
            }
        }
    }

    /// Checks that packets go through where they must have room.
    fn check_room(&self) -> Result<()> {
        if let Buffers::Shared(reserve) = self.buffers {
            if reserve == 0 {
                return Err(Error::Config(
                    "buffers=shared:0 leaves VCs without a place of their own, and packets could wait for each other \
                     for ever; give each VC at least 1 flit"
                        .to_owned(),
                ));
            }
            if reserve > self.buffer {
                return Err(Error::Config(format!(
                    "buffers=shared:{reserve} reserves more flits for a VC than its buffer of {}; at most {} are \
                     possible",
                    self.buffer, self.buffer
                )));
            }
        }
        self.check_packet(self.packet.largest())
    }

    /// Checks that a packet of `size` flits goes through.
    ///
    /// # Errors
    /// [`Error::Config`] if it never can, under virtual cut-through.
    pub fn check_packet(&self, size: u32) -> Result<()> {
        if self.cuts_through() && size > self.buffer {
            let asked = if self.model == Model::Extoll { "model=extoll" } else { "flow=vct" };
            return Err(Error::Config(format!(
                "{asked} sends packets only where all of them fits, but packets of {size} flits do not fit into \
                 buffers of {} flits",
                self.buffer
            )));
        }
        Ok(())
    }

    /// True if packets are sent only where all of them fits.
    pub fn cuts_through(&self) -> bool {
        self.flow == Flow::Vct || self.model == Model::Extoll
    }

    /// The packets a cycle that a terminal creates while it may, if its load is `load`: their probability.
    pub fn packet_rate(&self, load: f64) -> f64 {
        let rate = load / self.packet.mean();
        match self.injection {
            Injection::Bernoulli => rate,
            Injection::OnOff { alpha, beta } => rate * (alpha + beta) / alpha,
        }
    }

    /// The variance of the number of flits that a terminal creates in a long time, over its mean, at `load`: that of
    /// packets of different sizes that come one by one, and what bursts add to it.
    pub fn dispersion(&self, load: f64) -> f64 {
        let mean = self.packet.mean();
        let packets = self.packet.mean_square() / mean;
        match self.injection {
            Injection::Bernoulli => packets,
            Injection::OnOff { alpha, beta } => {
                // The state is a chain whose correlation falls by 1 - alpha - beta a cycle.
                let (on, memory) = (alpha / (alpha + beta), (1.0 - alpha - beta) / (alpha + beta));
                packets + (load / on * (1.0 - on) * 2.0 * memory).max(0.0)
            }
        }
    }
}

/// Checks a number of VCs a port.
///
/// # Errors
/// [`Error::Config`] says what is allowed.
pub fn check_vcs(vcs: u32) -> Result<()> {
    within("vcs", vcs.into(), 1, MAX_VCS.into())
}

fn within(name: &str, value: u64, least: u64, most: u64) -> Result<()> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(Error::Config(format!("{name} is {value}; it must be from {least} to {most}")))
}
