//! topoloom: design and evaluate the interconnection networks of supercomputers.
//!
//! This crate is the engine, complete without Python: networks, metrics, routing with its proof of deadlock freedom,
//! traffic, workloads, and the cycle engine.
#![warn(missing_docs)]

mod bits;
pub mod catalogue;
pub mod cycle;
pub mod distances;
pub mod error;
pub mod faults;
mod fill;
pub mod flow;
pub mod formats;
pub mod graph;
pub mod inputs;
pub mod layout;
pub mod limits;
pub mod links;
pub mod memory;
pub mod metrics;
pub mod names;
pub mod network;
pub mod partition;
pub mod permute;
pub mod provenance;
pub mod rng;
pub mod routing;
mod rows;
pub mod statistics;
pub mod synthesis;
mod table;
pub mod threads;
pub mod topology;
pub mod traffic;
pub mod watch;
pub mod workload;

// What the tests of the public interface call the crate. They are compiled with the unit tests: in executables of their
// own they would need the whole crate compiled again, which takes longer than all of them run.
#[cfg(test)]
extern crate self as topoloom;
#[cfg(test)]
#[path = "../tests/routing.rs"]
mod tests_of_routings;
#[cfg(test)]
#[path = "../tests/engine.rs"]
mod tests_of_the_engine;

pub use error::{Error, Result};
pub use network::Network;

/// The version of the models. Whatever changes the numbers of a result raises it, and stored results are made again.
pub const MODEL_VERSION: u32 = 26;
