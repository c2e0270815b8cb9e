//! Options of the cycle engine. All have defaults; all are checked before a run.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::router::RouterOptions;
use super::sizes::Sizes;
use crate::catalogue::grammar::split_head;
use crate::catalogue::{Alone, Arguments, Entry, FilePath, Key, Kind, Lead};
use crate::error::{Error, Result, unknown};
use crate::limits::{MAX_CYCLES, within};
use crate::links::Latencies;

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
        let given = Arguments::read(*entry, entry.name, rest)?;
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
    Entry {
        noun: "the injection",
        name,
        lead: Lead::Nothing,
        keys,
        shared: &[],
        alone: Alone::Flag,
        wrong: Error::Config,
    }
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
/// In JSON the model and its options are among the rest. Where a model is asked for, options that are not given are
/// what goes with it, as in [`Config::of`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self", deny_unknown_fields, default)]
pub struct Config {
    /// The router model, with its options.
    #[serde(flatten, skip_deserializing)]
    pub router: RouterOptions,
    /// Latency of a link by class, or by cabinets.
    pub links: Latencies,
    /// Flits of a packet: one size such as 4, any of a range such as 1-32, or sizes with weights such as 4:0.8,16:0.2.
    pub packet: Sizes,
    /// The injection process.
    pub injection: Injection,
    /// A CSV file of terminal,rate: how much each terminal sends beside the others; None if all send the same.
    pub rates: Option<FilePath>,
    /// Cycles before measurement; None to detect the end of warm-up.
    pub warmup: Option<u64>,
    /// Cycles of measurement; None to stop when the confidence interval is narrow enough.
    pub measure: Option<u64>,
    /// At most this many cycles after a window of fixed length, until its packets have arrived; None for a few times its
    /// length. What the window accepts does not depend on it.
    pub drain: Option<u64>,
    /// Mean latency past which a network counts as saturated and its simulation ends early; None for no limit.
    pub latency_limit: Option<f64>,
    /// Half-width of the interval of the mean latency, relative to it, at which a simulation ends that has no fixed length.
    pub precision: f64,
    /// The seed of every random choice.
    pub seed: u64,
    /// Threads within one simulation.
    pub threads: u32,
    /// Run a routing that can deadlock.
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
            drain: None,
            latency_limit: None,
            precision: 0.01,
            seed: 1,
            threads: 1,
            run_unsafe: false,
        }
    }
}

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
            (None, None) if self.drain.is_some() => {
                Err(Error::Config("drain follows a window: give warmup and measure, or leave it out".to_owned()))
            }
            (None, None) => Ok(()),
            (Some(warmup), Some(measure)) => {
                within("warmup", warmup, 0, MAX_CYCLES)?;
                within("measure", measure, 1, MAX_CYCLES)?;
                within("drain", self.drain.unwrap_or(0), 0, MAX_CYCLES)
            }
            _ => Err(Error::Config("warmup and measure go together: give both or neither".to_owned())),
        }
    }
}

impl Config {
    /// Checks that nothing is set that a trace states itself.
    ///
    /// # Errors
    /// [`Error::Config`] names the option.
    pub fn check_trace(&self) -> Result<()> {
        if self.packet != Sizes::One(1) {
            return Err(Error::Config("a trace has sizes of packets of its own; leave packet out".to_owned()));
        }
        self.check_given("a trace")
    }

    /// Checks that nothing is set that given packets or messages state themselves.
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

    /// The packets per cycle that a terminal creates while it may, if its load is `load`: their probability.
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
