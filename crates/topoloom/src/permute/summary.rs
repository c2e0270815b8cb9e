//! What the permutation of a cabling list came to.

use serde::Serialize;

use super::bandwidth::Bandwidth;
use super::how::{How, ListPermutation};
use super::list::List;
use super::moves::Plan;
use crate::provenance::{DistanceSummary, SearchRecord, Trial};

/// What the permutation of a cabling list came to. The names are keys of the JSON.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PermutationSummary {
    /// The file of the list.
    pub file: String,
    /// The method.
    pub method: String,
    /// The seed.
    pub seed: u64,
    /// The probability that a pair of cables may exchange ends.
    pub swappable: f64,
    /// What a search kept beside cables, if anything was asked for.
    pub keep: Option<String>,
    /// Switches of the list.
    pub switches: usize,
    /// Cables between switches.
    pub cables: usize,
    /// Cabinets.
    pub cabinets: usize,
    /// The number of the random trial that was taken, from 0.
    pub best_trial: u32,
    /// All random trials.
    pub trials: Vec<Trial>,
    /// What a search did behind them.
    pub searched: Option<SearchRecord>,
    /// What was noticed when the list was read.
    pub notes: Vec<String>,
    /// Steps of the plan.
    pub moves: usize,
    /// Ends of cables that are plugged in elsewhere afterwards.
    pub moved_ends: usize,
    /// Ends that stay because the network would fall apart while they are moved.
    pub left_out: usize,
    /// Distances before.
    pub before: DistanceSummary,
    /// Distances behind the last step of the plan.
    pub after: DistanceSummary,
}

impl PermutationSummary {
    /// What became of the `list` in `file`, permuted `how` users asked for it, by the steps of a `plan`.
    pub fn new(file: &str, list: &List, how: &How, found: &ListPermutation, plan: &Plan) -> Self {
        Self {
            file: file.to_owned(),
            method: how.method.clone(),
            seed: how.seed,
            swappable: how.swappable,
            keep: how.keep.clone(),
            switches: list.cabling.len(),
            cables: list.cabling.cables(),
            cabinets: list.cabinets(),
            best_trial: found.trial,
            trials: found.trials.clone(),
            searched: found.searched,
            notes: list.notes.clone(),
            moves: plan.moves.len(),
            moved_ends: plan.reached.moved_ends(&list.cabling),
            left_out: plan.left_out,
            before: list.cabling.told(),
            after: plan.reached.told(),
        }
    }
}

/// Bandwidth before and after, by the same means. The names are keys of the JSON.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BandwidthComparison {
    /// Before.
    pub before: Bandwidth,
    /// Afterwards.
    pub after: Bandwidth,
    /// A clause for each measure that fell.
    pub losses: Vec<String>,
}

impl From<[Bandwidth; 2]> for BandwidthComparison {
    fn from([before, after]: [Bandwidth; 2]) -> Self {
        Self { before, after, losses: before.losses(&after) }
    }
}
