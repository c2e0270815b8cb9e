//! How networks came about, as results have it: the records of permutations. Plain data, which lies below those who permute
//! and those who ask a network for it.

use serde::Serialize;

/// The distances of a cabling in short. The names are keys of the JSON.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct DistanceSummary {
    /// The largest distance between two vertices that a path joins.
    pub diameter: u32,
    /// The mean distance over ordered pairs of distinct vertices that a path joins.
    pub average_distance: f64,
    /// The sum of these distances.
    #[serde(skip)]
    pub sum: u64,
}

/// What became of the pairs of cables that were drawn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Pairs that exchanged ends.
    pub exchanged: u64,
    /// Pairs without four distinct vertices, with a parallel cable afterwards, or without a cabinet in common.
    pub refused: u64,
    /// Pairs that would have disconnected the network.
    pub disconnecting: u64,
    /// Pairs that stayed because not all cables are swappable.
    pub fixed: u64,
}

/// What one permutation came to. The names are keys of the JSON.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Trial {
    /// Its distances.
    #[serde(flatten)]
    pub told: DistanceSummary,
    /// What became of the pairs of cables.
    #[serde(flatten)]
    pub counts: Counts,
}

/// What the searches did, all of them together. The names are keys of the JSON.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct SearchRecord {
    /// Exchanges that were looked at.
    pub tried: u64,
    /// Exchanges that were kept.
    pub kept: u64,
    /// Exchanges that were discarded because they would have disconnected the network.
    pub disconnecting: u64,
    /// Symmetric copies applied per exchange, at first: one per cabinet that looks alike; 1 if none do.
    pub alike: u64,
}

/// What a search found. The names are keys of the JSON.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Optimisation {
    /// The distances found.
    #[serde(flatten)]
    pub told: DistanceSummary,
    /// What the searches did.
    #[serde(flatten)]
    pub searched: SearchRecord,
    /// Metres of cable of the base and afterwards, if only length is conserved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cable_m: Option<[f64; 2]>,
}

/// How a permuted network came about. The names are keys of the JSON.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Permutation {
    /// The method.
    pub method: String,
    /// The base network.
    pub base: String,
    /// How routers are put into cabinets.
    pub cabinet: String,
    /// Cabinets, node-only ones included.
    pub cabinets: u32,
    /// The number of the trial that was taken, from 0.
    pub best_trial: u32,
    /// Ends of cables that are plugged in elsewhere than in the base.
    pub moved_ends: usize,
    /// The largest distance afterwards, between routers; also terminals, if their cables are swapped.
    pub diameter: u32,
    /// The mean distance afterwards.
    pub average_distance: f64,
    /// The largest distance of the base, between routers; also terminals, if their cables are swapped.
    pub base_diameter: u32,
    /// The mean distance of the base.
    pub base_average_distance: f64,
    /// The mean distance of cabinets: as long as the cables between each two cabinets stay, no network is below it.
    pub cabinet_distance: f64,
    /// Every trial.
    pub trials: Vec<Trial>,
    /// What was searched for behind the trials.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub optimised: Option<Optimisation>,
}
