//! The options of the flow engine, as users type them: `model=max-min,gbps=400,…`.

use serde::Serialize;

use super::rates::Sharing;
use crate::catalogue::values::rate as bytes_per_s;
use crate::catalogue::{Alone, Arguments, Entry, Key, Kind, Lead};
use crate::error::{Error, Result};
use crate::network::{Network, PortId};
use crate::workload::{DEFAULT_GBPS, Endpoint};

/// The keys, with their meaning.
pub const KEYS: &[Key] = &[
    Key::new(
        "model",
        Kind::Choice(&["max-min", "share", "sticky"]),
        "how flows share channels: max-min (default), share or sticky",
    ),
    Key::new(
        "gbps",
        Kind::Text("a number above 0"),
        "the rate in each direction, in Gb/s, of links that have none of their own (default 400)",
    ),
    Key::new(
        "injection",
        Kind::Text("a number above 0, or inf"),
        "what a terminal can send at most, in link rates; inf: no limit but its link (default inf)",
    ),
    Key::new(
        "consumption",
        Kind::Text("a number above 0, or inf"),
        "what a terminal can receive at most, in link rates; inf: no limit but its link (default 1)",
    ),
    Key::new(
        "latency",
        Kind::Time("100ns"),
        "the time that a message takes for each link of its path that has no delay of its own, as in 100ns (default 0)",
    ),
    Key::new("paths", Kind::count(1), "parts that each message is split into, each on a path drawn for it (default 1)"),
    Key::new(
        "coalesce",
        Kind::Text("from 0 to below 1"),
        "completions within this share of the time that the first took are served together (default 0)",
    ),
    Key::new(
        "symmetry",
        Kind::Choice(&["auto", "on", "off"]),
        "whether tasks of a regular collective that are alike share one entry: from 65,536 messages on (auto, default), on or off",
    ),
    Key::new("seed", Kind::SEED, "of the paths that a routing draws (default 1)"),
];

/// How the options of the flow engine are read.
pub const ENTRY: Entry = Entry {
    noun: "the flow engine",
    name: "flow",
    lead: Lead::Nothing,
    keys: KEYS,
    shared: &[],
    alone: Alone::Flag,
    wrong: Error::Config,
};

/// Whether tasks of a regular collective that are alike share one entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Symmetry {
    /// Where there are many messages.
    #[default]
    Auto,
    /// Wherever they are alike.
    On,
    /// Never.
    Off,
}

impl Symmetry {
    /// Whether it is looked for among that many messages.
    pub fn is_wanted(self, messages: u128) -> bool {
        match self {
            Self::Auto => messages > MANY,
            Self::On => true,
            Self::Off => false,
        }
    }
}

/// Messages beyond which tasks that are alike are looked for.
const MANY: u128 = 1 << 16;

/// How a run of the flow engine goes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FlowConfig {
    /// How flows share channels.
    pub model: Sharing,
    /// The rate of a link in each direction, in Gb/s.
    pub gbps: f64,
    /// What a terminal can send, in link rates; `None`: no limit but that of its link, where it has one.
    pub injection: Option<f64>,
    /// What a terminal can receive, in link rates; `None`: no limit but that of its link, where it has one.
    pub consumption: Option<f64>,
    /// Seconds for each link of a path.
    pub latency_s: f64,
    /// Parts of a message.
    pub paths: u32,
    /// Completions within this share of the time that the first took are served together.
    pub coalesce: f64,
    /// Whether tasks of a regular collective that are alike share one entry.
    pub symmetry: Symmetry,
    /// Of the paths that a routing draws.
    pub seed: u64,
    /// What sending and receiving costs; nothing: all is free.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<Endpoint>,
}

impl Default for FlowConfig {
    fn default() -> Self {
        Self {
            model: Sharing::MaxMin,
            gbps: DEFAULT_GBPS,
            injection: None,
            consumption: Some(1.0),
            latency_s: 0.0,
            paths: 1,
            coalesce: 0.0,
            symmetry: Symmetry::Auto,
            seed: 1,
            endpoint: None,
        }
    }
}

impl FlowConfig {
    /// Reads `key=value,…`; nothing: the defaults.
    ///
    /// # Errors
    /// [`Error::Config`] for a key that there is not, or a value out of its range.
    pub fn read(text: &str) -> Result<Self> {
        let keys = Arguments::read(ENTRY, ENTRY.name, text)?;
        let default = Self::default();
        let model = match keys.choice("model") {
            "share" => Sharing::Share,
            "sticky" => Sharing::Sticky,
            _ => Sharing::MaxMin,
        };
        let symmetry = match keys.choice("symmetry") {
            "on" => Symmetry::On,
            "off" => Symmetry::Off,
            _ => Symmetry::Auto,
        };
        let config = Self {
            model,
            symmetry,
            gbps: real(&keys, "gbps")?.unwrap_or(default.gbps),
            injection: real(&keys, "injection")?.filter(|limit| limit.is_finite()),
            consumption: real(&keys, "consumption")?.or(default.consumption).filter(|limit| limit.is_finite()),
            latency_s: keys.seconds("latency").unwrap_or(0.0),
            paths: keys.count("paths").unwrap_or(default.paths),
            coalesce: real(&keys, "coalesce")?.unwrap_or(default.coalesce),
            seed: keys.int("seed").unwrap_or(default.seed),
            endpoint: None,
        };
        for (key, value) in [("injection", config.injection), ("consumption", config.consumption)] {
            if value == Some(0.0) {
                return Err(keys.mistake(format_args!("{key} is 0; it must be above 0, or inf")));
            }
        }
        if config.gbps == 0.0 || config.gbps.is_infinite() {
            return Err(keys.mistake(format_args!("gbps is {}; it must be a number above 0", config.gbps)));
        }
        if config.coalesce >= 1.0 {
            return Err(keys.mistake(format_args!("coalesce is {}; it must be from 0 to below 1", config.coalesce)));
        }
        if config.paths > MOST_PATHS {
            return Err(keys.mistake(format_args!("paths is {}; it must be from 1 to {MOST_PATHS}", config.paths)));
        }
        Ok(config)
    }

    /// Reads the options of a workload, for which rate and seed are given by themselves.
    ///
    /// # Errors
    /// As [`FlowConfig::read`], and for either of the two among the keys.
    pub fn with_rate(text: &str, rate: &str, seed: u64) -> Result<Self> {
        let keys = Arguments::read(ENTRY, ENTRY.name, text)?;
        for (key, instead) in [("gbps", "rate"), ("seed", "seed")] {
            if keys.text(key).is_some() {
                return Err(keys.mistake(format_args!("{key} has an option of its own here; give --{instead}")));
            }
        }
        let bytes = bytes_per_s(rate).ok_or_else(|| {
            Error::Config(format!("rate is '{rate}'; it must be bits or bytes per second, as in 10Gb/s or 25GB/s"))
        })?;
        Ok(Self { gbps: bytes * 8e-9, seed, ..Self::read(text)? })
    }

    /// The same with what sending and receiving costs, as users write it.
    ///
    /// # Errors
    /// Those of [`Endpoint::read`].
    pub fn with_endpoint(self, text: &str) -> Result<Self> {
        let costs = Endpoint::read(text)?;
        Ok(Self { endpoint: Some(costs).filter(|costs| !costs.is_free()), ..self })
    }

    /// Bytes per second that a terminal takes in or gives out at most, by what each byte costs it.
    pub fn byte_rate(&self) -> f64 {
        self.endpoint.as_ref().map_or(f64::INFINITY, |costs| 1.0 / costs.per_byte_s)
    }

    /// What a terminal of `network` can send and receive, in rates of its link; `None`: no limit. Where terminals have links
    /// of their own, each has no more than that link's rate.
    pub fn limits(&self, network: &Network) -> [Option<f64>; 2] {
        let link = if network.has_terminal_links() { 1.0 } else { f64::INFINITY };
        let least = |limit: Option<f64>| limit.unwrap_or(f64::INFINITY).min(link);
        [self.injection, self.consumption]
            .map(|limit| Some(least(limit)).filter(|links| links.is_finite() || self.byte_rate().is_finite()))
    }

    /// Bytes per second in one direction of a link that has no rate of its own.
    pub fn link_rate(&self) -> f64 {
        self.gbps * 1e9 / 8.0
    }

    /// Bytes per second in one direction of the link at `port` of `network`.
    pub fn rate_of(&self, network: &Network, port: PortId) -> f64 {
        network.gbps(port).unwrap_or(self.gbps) * 1e9 / 8.0
    }

    /// Bytes per second that a message alone is measured by: of a terminal at load 1, or of a link where all are alike.
    pub fn unit_rate(&self, network: &Network) -> f64 {
        network.injection_gbps().unwrap_or(self.gbps) * 1e9 / 8.0
    }

    /// Seconds that a message takes for the link at `port` of `network`, beside the time that its bytes take.
    pub fn delay_of(&self, network: &Network, port: PortId) -> f64 {
        network.wire(port).latency_ns.map_or(self.latency_s, |ns| ns * 1e-9)
    }
}

/// Parts of a message that there can be.
const MOST_PATHS: u32 = 1024;

/// A number from 0 up, `inf` included.
fn real(keys: &Arguments, key: &str) -> Result<Option<f64>> {
    let Some(text) = keys.text(key) else { return Ok(None) };
    let read = text.parse::<f64>().ok().filter(|value| *value >= 0.0);
    read.map(Some).ok_or_else(|| keys.mistake(format_args!("{key} is '{text}'; it must be a number from 0 up")))
}
