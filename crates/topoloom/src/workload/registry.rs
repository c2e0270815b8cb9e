//! The applications by name.

use super::request::{Request, Room};
use super::{
    Workload, allreduce, alltoall, bisection, broadcast, chakra, collective, flood, goal, gpcnet, halo, mapreduce,
    messages, msccl, nbodies, nearneighbors, permutation, reduce, sweep3d, training, unstructured,
};
use crate::catalogue::grammar::split_head;
use crate::catalogue::{Alone, Entry, Key, Kind, Lead};
use crate::error::{Error, Result, unknown};

/// What users read about an application, and how it is built.
#[derive(Debug, Clone, Copy)]
pub struct AppInfo {
    /// The name that users type.
    pub name: &'static str,
    /// The messages between tasks.
    pub summary: &'static str,
    /// The keys it takes, written `name:key=value,…`, with their meaning.
    pub keys: &'static [Key],
    /// The positional argument behind the name, such as FILE.
    pub argument: Option<&'static str>,
    pub(super) build: fn(&Request) -> Result<Workload>,
}

impl AppInfo {
    /// How its names are read.
    pub fn entry(&self) -> Entry {
        let lead = match (self.argument, self.keys.first()) {
            (Some(argument), _) => Lead::All(argument),
            (None, Some(first)) if first.kind == Kind::File => Lead::Path,
            _ => Lead::Nothing,
        };
        Entry {
            noun: "the application",
            name: self.name,
            lead,
            keys: self.keys,
            shared: &[],
            alone: Alone::Flag,
            wrong: Error::Workload,
        }
    }
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
    collective::ALL_TO_ALL_V,
    broadcast::INFO,
    collective::REDUCE_SCATTER,
    collective::ALL_GATHER,
    collective::SEND_RECV,
    collective::BARRIER,
    halo::INFO,
    permutation::INFO,
    training::INFO,
    gpcnet::INFO,
    msccl::INFO,
    chakra::INFO,
    chakra::nccl::INFO,
    goal::INFO,
    messages::INFO,
];

/// Other names of applications.
const ALIASES: &[(&str, &str)] = &[("all-to-all", "alltoall")];

/// Keys that many applications take.
pub(super) const TASKS: Key =
    Key::new("tasks", Kind::count(1), "the number of tasks (default: as many as there are terminals)");
pub(super) const SIZE: Key = Key::new("size", Kind::Bytes, "bytes of a message, as in 64KiB (the default)");
pub(super) const SIZES: Key = Key::new(
    "size",
    Kind::Text("bytes from 1 up, or a range such as 1KiB-64KiB"),
    "bytes of a message (default 64KiB), or a range to draw from: 1KiB-64KiB",
);
pub(super) const GRID: Key =
    Key::new("grid", Kind::Sides, "the grid of tasks, as in 16x16x16 (default: the largest cube)");
pub(super) const SEED: Key = Key::new("seed", Kind::SEED, "of all that is drawn (default 1)");

/// The application called `name`.
///
/// # Errors
/// [`Error::Workload`] names those that there are.
pub fn find(name: &str) -> Result<&'static AppInfo> {
    let own = ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name, |(_, own)| own);
    let found = APPS.iter().find(|info| info.name == own);
    found.ok_or_else(|| Error::Workload(unknown("application", name, APPS.iter().map(|info| info.name))))
}

/// Builds the application that `spec` (`name`, `name:key=value,…`) names, for at most `room` tasks.
///
/// # Errors
/// [`Error::Workload`] if there is no such application or key, or a value that is not allowed;
/// [`Error::TooLarge`] if the messages do not fit into memory.
pub fn build(spec: &str, room: impl Into<Room>) -> Result<Workload> {
    let (name, rest) = split_head(spec);
    let info = find(name)?;
    let request = Request::read(spec, info, rest, room.into())?;
    let workload = (info.build)(&request)?;
    Ok(Workload { fills_room: request.fills_room(), ..workload })
}
