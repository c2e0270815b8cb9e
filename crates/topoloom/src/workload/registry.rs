//! The applications by name.

use super::request::Request;
use super::{
    Workload, allreduce, alltoall, bisection, broadcast, flood, goal, gpcnet, halo, mapreduce, messages, nbodies,
    nearneighbors, permutation, reduce, sweep3d, training, unstructured,
};
use crate::error::{Error, Result, unknown};
use crate::keys::file;

/// What users read about an application, and how it is built.
#[derive(Debug, Clone, Copy)]
pub struct AppInfo {
    /// The name that users type.
    pub name: &'static str,
    /// Who sends what to whom.
    pub summary: &'static str,
    /// The keys it takes, written `name:key=value,…`, with their meaning.
    pub keys: &'static [(&'static str, &'static str)],
    /// What stands behind the name instead of keys, such as FILE.
    pub argument: Option<&'static str>,
    pub(super) build: fn(&Request) -> Result<Workload>,
}

/// Every application, in the order in which users see them.
pub static APPS: &[AppInfo] = &[
    reduce::INFO,
    allreduce::INFO,
    mapreduce::INFO,
    sweep3d::INFO,
    flood::INFO,
    nearneighbors::INFO,
    nbodies::INFO,
    unstructured::APP,
    unstructured::MGMT,
    unstructured::HR,
    bisection::INFO,
    alltoall::INFO,
    broadcast::INFO,
    halo::INFO,
    permutation::INFO,
    training::INFO,
    gpcnet::INFO,
    goal::INFO,
    messages::INFO,
];

/// Keys that many applications take.
pub(super) const TASKS: (&str, &str) = ("tasks", "the number of tasks (default: as many as there are terminals)");
pub(super) const SIZE: (&str, &str) = ("size", "bytes of a message, as in 64KiB (the default)");
pub(super) const SIZES: (&str, &str) =
    ("size", "bytes of a message (default 64KiB), or a range to draw from: 1KiB-64KiB");
pub(super) const GRID: (&str, &str) = ("grid", "the grid of tasks, as in 16x16x16 (default: the largest cube)");
pub(super) const SEED: (&str, &str) = ("seed", "of all that is drawn (default 1)");

/// The paths of the files that the application `spec` reads.
pub fn files(spec: &str) -> Vec<String> {
    let (name, rest) = spec.split_once(':').unwrap_or((spec, ""));
    APPS.iter().find(|app| app.name == name).map_or_else(Vec::new, |app| file(app.argument, rest))
}

/// Builds the application that `spec` (`name`, `name:key=value,…`) names, for at most `room` tasks.
///
/// # Errors
/// [`Error::Workload`] if there is no such application or key, or a value that is not allowed;
/// [`Error::TooLarge`] if the messages do not fit into memory.
pub fn build(spec: &str, room: u32) -> Result<Workload> {
    let (name, rest) = spec.split_once(':').unwrap_or((spec, ""));
    let info = APPS
        .iter()
        .find(|app| app.name == name)
        .ok_or_else(|| Error::Workload(unknown("application", name, APPS.iter().map(|app| app.name))))?;
    let request = Request::read(spec, info, rest, room)?;
    let workload = (info.build)(&request)?;
    Ok(Workload { fills_room: request.fills_room(), ..workload })
}
