//! What can be said of a network without simulating it.

pub mod distances;
mod facts;
mod graph;

pub use facts::{Facts, facts};
