//! Options of the cycle engine. All have defaults; all are checked before a run.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::router::RouterOptions;
use super::sizes::Sizes;
use crate::catalogue::grammar::split_head;
use crate::catalogue::{Alone, Entry, Given, Key, Kind, Lead};
use crate::error::{Error, Result, unknown};
use crate::layout::{Layout, Packing};
use crate::network::{LinkClass, Network, Peer, PortId};

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
    /// Which routers share a cabinet, as [`Packing::parse`] reads it; those of [`Layout::usual`] unless given.
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
        let said = |error| match error {
            Error::Config(what) => Error::Config(format!("links: {what}")),
            other => other,
        };
        let cabinets = match (latencies.by_cabinet(), &latencies.cabinet) {
            (false, _) => Vec::new(),
            (true, None) => Layout::usual(network).router_cabinets(network),
            (true, Some(text)) => Packing::parse(text).and_then(|packing| packing.cabinets(network)).map_err(said)?,
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
        let (name, rest) = split_head(&text);
        let entry = INJECTIONS.iter().find(|entry| entry.name == name);
        let names = || INJECTIONS.iter().map(|entry| entry.name);
        let entry = entry.ok_or_else(|| Error::Config(unknown("injection", name, names())))?;
        let given = Given::read(*entry, entry.name, rest)?;
        if entry.keys.is_empty() {
            return Ok(Self::Bernoulli);
        }
        match (given.real("alpha"), given.real("beta")) {
            (Some(alpha), Some(beta)) => Ok(Self::OnOff { alpha, beta }),
            _ => Err(Error::Config("on-off needs both probabilities: on-off:alpha=0.1,beta=0.2".to_owned())),
        }
    }
}

/// An injection process, as users name it.
const fn injection(name: &'static str, keys: &'static [Key]) -> Entry {
    Entry { noun: "the injection", name, lead: Lead::Nothing, keys, alone: Alone::Flag, wrong: Error::Config }
}

/// The injection processes by name.
pub const INJECTIONS: &[Entry] = &[
    injection("bernoulli", &[]),
    injection(
        "on-off",
        &[
            Key::new("alpha", Kind::Above(1.0), "probability a cycle to turn on"),
            Key::new("beta", Kind::Above(1.0), "probability a cycle to turn off"),
        ],
    ),
];

impl From<Injection> for String {
    fn from(injection: Injection) -> Self {
        match injection {
            Injection::Bernoulli => "bernoulli".to_owned(),
            Injection::OnOff { alpha, beta } => format!("on-off:alpha={alpha},beta={beta}"),
        }
    }
}

/// Everything that a run depends on but network, routing, traffic and load.
///
/// In JSON the model and its options stand beside the rest. Where a model is asked for, options that are not given are
/// what goes with it, as in [`Config::of`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self", deny_unknown_fields, default)]
pub struct Config {
    /// The router model, with its options.
    #[serde(flatten, skip_deserializing)]
    pub router: RouterOptions,
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
            router: RouterOptions::default(),
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

impl Serialize for Config {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        Self::serialize(self, serializer)
    }
}

impl<'de> Deserialize<'de> for Config {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let mut object = serde_json::Map::deserialize(deserializer)?;
        let router = RouterOptions::take(&mut object).map_err(D::Error::custom)?;
        let mut config = Self { router: router.clone(), ..Self::default() };
        (router.model().preset_engine)(&mut config);
        let usual = serde_json::to_value(&config).map_err(D::Error::custom)?;
        for (name, value) in usual.as_object().into_iter().flatten().filter(|(name, _)| !router.names(name)) {
            object.entry(name).or_insert_with(|| value.clone());
        }
        let given = Self::deserialize(serde_json::Value::Object(object)).map_err(D::Error::custom)?;
        Ok(Self { router, ..given })
    }
}

impl Config {
    /// The options that go with the router model `model`, where no others are given.
    ///
    /// # Errors
    /// [`Error::Config`] for a model that does not exist.
    pub fn of(model: &str) -> Result<Self> {
        let mut config = Self { router: RouterOptions::new(model, [])?, ..Self::default() };
        (config.router.model().preset_engine)(&mut config);
        Ok(config)
    }

    /// Checks every option by itself.
    ///
    /// # Errors
    /// [`Error::Config`] names the option and what is allowed.
    pub fn check(&self) -> Result<()> {
        self.links.check()?;
        self.packet.check()?;
        self.router.check(self.packet.largest())?;
        within("threads", self.threads.into(), 1, 1024)?;
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
