//! Failures of links and routers: which ones fail.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result, unknown};
use crate::network::Network;
use crate::rng::Rng;

/// What fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Links between routers; links to terminals never fail.
    Links,
    /// Routers, with their links and terminals.
    Routers,
}

impl Kind {
    /// Both kinds.
    pub const ALL: [Kind; 2] = [Kind::Links, Kind::Routers];

    /// The name that users type.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Links => "links",
            Kind::Routers => "routers",
        }
    }

    /// The kind called `name`.
    ///
    /// # Errors
    /// [`Error::Config`] names the kinds that there are.
    pub fn named(name: &str) -> Result<Self> {
        let found = Self::ALL.into_iter().find(|kind| kind.name() == name);
        found.ok_or_else(|| Error::Config(unknown("kind of failure", name, Self::ALL.map(Self::name))))
    }

    /// How many of them `network` has.
    pub fn count(self, network: &Network) -> usize {
        match self {
            Kind::Links => network.links().len(),
            Kind::Routers => network.num_routers(),
        }
    }

    /// The order in which all of them fail in one trial: a uniformly random permutation of their ids. A failed fraction
    /// is a prefix of it, so that more failures include fewer.
    pub fn order(self, network: &Network, seed: u64, trial: u64) -> Vec<u32> {
        let mut ids: Vec<u32> = (0..self.count(network) as u32).collect();
        Rng::stream(seed, 2 * trial + self as u64).shuffle(&mut ids);
        ids
    }
}

/// The number that a fraction of `count` means: the nearest, halves up.
pub fn failures(fraction: f64, count: usize) -> usize {
    // A little more, so that a half is up although 0.35, say, is a little less in binary.
    ((fraction * count as f64 + 0.5 + 1e-9).floor() as usize).min(count)
}
