//! Swap-and-randomize: shorter paths at the same length of cable.
//!
//! A machine is in cabinets, and two cables that have an end in one cabinet may exchange these two ends: each is as
//! long as before, and leads between the same two cabinets (Fujiwara, Koibuchi, Matsutani and Casanova). [`Method`]
//! exchanges at random, [`search`] where it shortens paths, and [`moves`] states in which order to do it on a machine that
//! runs.

pub mod bandwidth;
mod cables;
mod cabling;
mod how;
pub mod list;
pub mod load;
mod methods;
pub mod moves;
mod pattern;
pub mod search;
mod shifts;
mod summary;
mod trials;

pub use cables::{cables, router_cables};
pub use cabling::{Cabling, End};
pub use how::{How, ListPermutation, OPTIMISED, method_names, permuted};
pub use methods::Method;
pub use shifts::Shifts;
pub use summary::{BandwidthComparison, PermutationSummary};
pub use trials::{Best, Trials, best};
