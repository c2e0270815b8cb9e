//! Metrics of a network that need no simulation.

pub mod diversity;
mod facts;
pub mod faults;
pub mod load;
pub mod routes;
pub mod split;
mod spread;
pub mod taper;

pub use facts::{Facts, facts, facts_with, moore_bound};
