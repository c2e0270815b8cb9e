//! What can be said of a network without simulating it.

pub mod bisection;
pub mod distances;
mod facts;
pub mod faults;
mod graph;
pub mod load;
mod spectrum;

pub use facts::{Facts, facts, moore_bound};
