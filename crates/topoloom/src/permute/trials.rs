//! The best of several random permutations.

use rayon::prelude::*;

use super::cabling::Cabling;
use super::methods::{Method, permute};
use crate::error::{Error, Result};
use crate::provenance::Trial;
use crate::rng::Rng;
use crate::watch;

/// How to permute.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trials {
    /// Which cables may exchange ends.
    pub method: Method,
    /// How many permutations are tried.
    pub trials: u32,
    /// The probability that a pair of cables may exchange ends.
    pub swappable: f64,
    /// The seed; each trial has a stream of its own.
    pub seed: u64,
}

impl Trials {
    /// Checks the numbers.
    ///
    /// # Errors
    /// [`Error::Config`] names the one that is not allowed.
    pub fn checked(self) -> Result<Self> {
        if self.trials == 0 {
            return Err(Error::Config("trials is 0; it must be a whole number from 1 up".to_owned()));
        }
        if !(0.0..=1.0).contains(&self.swappable) {
            return Err(Error::Config(format!("swappable is {}; it must be a number from 0 to 1", self.swappable)));
        }
        Ok(self)
    }
}

/// The best permutation, and all that were tried.
#[derive(Debug, Clone)]
pub struct Best {
    /// The cables.
    pub cabling: Cabling,
    /// Its number, from 0.
    pub trial: u32,
    /// All trials.
    pub trials: Vec<Trial>,
}

/// Permutes `trials` times, on all cores, and returns the permutation with the smallest diameter and, among these, the
/// smallest average distance: the first of them.
///
/// # Errors
/// [`Error::Spec`](crate::error::Error::Spec) if cable was not conserved, which would be a mistake of this program.
pub fn best(cabling: &Cabling, how: &Trials) -> Result<Best> {
    let sets = cabling.by_cabinets();
    let stage = watch::stage("permutations", how.trials.into());
    let one = |trial: u32| -> Result<(TrialRank, Vec<(u32, Trial)>)> {
        let mut rng = Rng::stream(how.seed, trial.into());
        let mut permuted = cabling.clone();
        let counts = permute(&mut permuted, &sets, how.method, how.swappable, &mut rng);
        permuted.check_conserved(cabling)?;
        stage.steps(0);
        let told = permuted.told();
        stage.step();
        let trial_told = Trial { told, counts };
        Ok((TrialRank { rank: (told.diameter, told.sum, trial), cabling: permuted }, vec![(trial, trial_told)]))
    };
    let better = |a: (TrialRank, Vec<(u32, Trial)>), b: (TrialRank, Vec<(u32, Trial)>)| {
        let (mut told, more) = (a.1, b.1);
        told.extend(more);
        Ok((if a.0.rank <= b.0.rank { a.0 } else { b.0 }, told))
    };
    let found = (0..how.trials).into_par_iter().panic_fuse().map(one).try_reduce_with(better);
    let (winner, mut trials) = found.expect("there is a trial")?;
    trials.sort_unstable_by_key(|&(trial, _)| trial);
    let trials = trials.into_iter().map(|(_, trial)| trial).collect();
    Ok(Best { cabling: winner.cabling, trial: winner.rank.2, trials })
}

/// A permutation with its diameter, its sum of distances and its number.
struct TrialRank {
    rank: (u32, u64, u32),
    cabling: Cabling,
}
