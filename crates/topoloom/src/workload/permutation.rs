//! `permutation`: every task sends one message to the task that a random permutation names; one that it maps to itself
//! sends nothing.

use super::Workload;
use super::builder::Builder;
use super::registry::{AppInfo, SEED, SIZES, TASKS};
use super::request::Request;
use crate::catalogue::{Key, Kind};
use crate::error::Result;

pub(super) const INFO: AppInfo = AppInfo {
    name: "permutation",
    summary: "every task sends to the task that a random permutation names",
    keys: &[
        TASKS,
        SIZES,
        Key::new("rounds", Kind::count(1), "how often, each time with another permutation (default 1)"),
        SEED,
    ],
    argument: None,
    build,
};

fn build(request: &Request) -> Result<Workload> {
    let (tasks, sizes, mut rng) = (request.tasks()?, request.sizes()?, request.rng(1));
    let rounds = request.count("rounds").unwrap_or(1);
    let mut builder = Builder::new(request, tasks, u128::from(tasks) * u128::from(rounds))?;
    let mut to: Vec<u32> = (0..tasks).collect();
    for _ in 0..rounds {
        rng.shuffle(&mut to);
        let moved = (0..tasks).zip(&to).filter(|(from, to)| from != *to);
        builder.exchange(moved.map(|(from, &to)| (from, to, sizes.draw(&mut rng))));
    }
    Ok(builder.build())
}
