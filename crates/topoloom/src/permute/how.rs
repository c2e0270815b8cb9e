//! How a user asks for the permutation of a cabling list, and the permutation.

use serde::Deserialize;

use super::bandwidth::side_by_side;
use super::cabling::Cabling;
use super::list::List;
use super::load::Limit;
use super::methods::Method;
use super::search::{Bandwidth, Keeps, Search, search};
use super::trials::{Trials, best};
use crate::error::{Error, Result, unknown};
use crate::provenance::{SearchRecord, Trial};

/// The method that searches.
pub const OPTIMISED: &str = "optimised";

/// The names of all methods, the one that searches last.
pub fn method_names() -> impl Iterator<Item = &'static str> {
    Method::NAMES.iter().map(|&(name, _)| name).chain([OPTIMISED])
}

/// How to permute a list.
#[derive(Debug, Clone, Deserialize)]
pub struct How {
    /// A random method, or [`OPTIMISED`].
    pub method: String,
    /// Random permutations, of which the best is taken.
    pub trials: u32,
    /// The probability that a pair of cables may exchange ends.
    pub swappable: f64,
    /// The seed.
    pub seed: u64,
    /// What a search keeps beside cables: `bandwidth`, or nothing.
    pub keep: Option<String>,
    /// Exchanges that each search looks at.
    pub steps: Option<u64>,
}

/// A permutation of a list.
#[derive(Debug, Clone)]
pub struct ListPermutation {
    /// The cables.
    pub cabling: Cabling,
    /// The best random trial, from 0.
    pub trial: u32,
    /// All random trials.
    pub trials: Vec<Trial>,
    /// What a search did.
    pub searched: Option<SearchRecord>,
}

/// Permutes the cables of `list`.
///
/// # Errors
/// [`Error::Config`] for a method that there is not, and an option that is not allowed.
pub fn permuted(list: &List, how: &How) -> Result<ListPermutation> {
    let searches = how.method == OPTIMISED;
    let method = Method::NAMES.iter().find(|(name, _)| *name == how.method).map(|&(_, method)| method);
    let Some(method) = method.or(searches.then_some(Method::TwoCab)) else {
        return Err(Error::Config(unknown("method of permutation", &how.method, method_names())));
    };
    if let Some(keep) = how.keep.as_deref().filter(|keep| *keep != "bandwidth") {
        return Err(Error::Config(unknown("thing to keep", keep, ["bandwidth"])));
    }
    for (option, given) in [("keep", how.keep.is_some()), ("steps", how.steps.is_some())] {
        if given && !searches {
            return Err(Error::Config(format!("{option} is for a search: method {OPTIMISED}")));
        }
    }
    let trials = Trials { method, trials: how.trials, swappable: how.swappable, seed: how.seed }.checked()?;
    let found = best(&list.cabling, &trials)?;
    let (cabling, searched) = match searches {
        false => (found.cabling, None),
        true => searched(list, found.cabling, how)?,
    };
    Ok(ListPermutation { cabling, trial: found.trial, trials: found.trials, searched })
}

/// Searches from `from`; from the list itself, if bandwidth is kept and `from` has less.
fn searched(list: &List, from: Cabling, how: &How) -> Result<(Cabling, Option<SearchRecord>)> {
    let before = list.network(&list.cabling)?;
    let kept = |cabling: &Cabling| {
        list.network(cabling).is_ok_and(|after| {
            let [before, after] = side_by_side([&before, &after], [Vec::new(), Vec::new()]);
            before.losses(&after).is_empty()
        })
    };
    let limit = || Limit::of(&list.cabling, list.terminals().to_vec());
    let bandwidth = how.keep.as_ref().map(|_| Bandwidth { limit: limit(), is_kept: &kept });
    let usual = if bandwidth.is_some() { Search::usual_steps_of_bandwidth } else { Search::usual_steps };
    let from = if bandwidth.is_none() || kept(&from) { from } else { list.cabling.clone() };
    let steps = how.steps.unwrap_or_else(|| usual(&from));
    let (cabling, searched) =
        search(&from, None, &Search { keeps: Keeps::Cabinets, steps, seed: how.seed, bandwidth: bandwidth.as_ref() });
    cabling.check_conserved(&list.cabling)?;
    Ok((cabling, Some(searched)))
}
