//! `bisection`: in every round all tasks pair up at random, and the two of each pair send to each other.

use super::Workload;
use super::builder::Builder;
use super::registry::{AppInfo, SEED, SIZE, TASKS};
use super::request::Request;
use crate::catalogue::{Key, Kind};
use crate::error::Result;

pub(super) const INFO: AppInfo = AppInfo {
    name: "bisection",
    summary: "in every round random pairs send to each other; of an odd number of tasks one pauses",
    keys: &[TASKS, SIZE, Key::new("rounds", Kind::count(1), "how often (default 4)"), SEED],
    argument: None,
    build,
};

/// Rounds unless given.
const ROUNDS: u32 = 4;

fn build(request: &Request) -> Result<Workload> {
    let (tasks, size, mut rng) = (request.tasks()?, request.size(), request.rng(1));
    let rounds = request.count("rounds").unwrap_or(ROUNDS);
    let mut builder = Builder::new(request, tasks, u128::from(tasks) * u128::from(rounds))?;
    let mut order: Vec<u32> = (0..tasks).collect();
    for _ in 0..rounds {
        rng.shuffle(&mut order);
        builder.exchange(order.chunks_exact(2).flat_map(|pair| [(pair[0], pair[1], size), (pair[1], pair[0], size)]));
    }
    builder.rounds(rounds);
    Ok(builder.build())
}
