//! `broadcast`: task 0 sends to all: down a binomial tree, directly, or along a chain.

use super::Workload;
use super::builder::Builder;
use super::registry::{AppInfo, SIZE, TASKS};
use super::request::Request;
use crate::catalogue::{Key, Kind};
use crate::error::Result;

pub(super) const INFO: AppInfo = AppInfo {
    name: "broadcast",
    summary: "task 0 sends to all",
    keys: &[
        TASKS,
        SIZE,
        Key::new(
            "algorithm",
            Kind::Choice(&["binomial", "linear", "chain"]),
            "binomial: down a tree (default), linear: directly, or chain: from task to task",
        ),
    ],
    argument: None,
    build,
};

fn build(request: &Request) -> Result<Workload> {
    let (tasks, size) = (request.tasks()?, request.size());
    let steps = match request.choice("algorithm") {
        "binomial" => binomial(tasks),
        "linear" => vec![(1..tasks).map(|task| (0, task)).collect()],
        _ => (1..tasks).map(|task| vec![(task - 1, task)]).collect(),
    };
    let mut builder = Builder::new(request, tasks, u128::from(tasks - 1))?;
    down(&mut builder, &steps, size);
    Ok(builder.build())
}

/// The bytes of part `place` of `parts` nearly equal ones.
pub(super) fn part(size: u64, place: u64, parts: u64) -> u64 {
    let until = |place: u64| (u128::from(size) * u128::from(place) / u128::from(parts)) as u64;
    until(place + 1) - until(place)
}

/// The steps of a broadcast down the binomial tree below task 0: who sends to whom in each.
pub(super) fn binomial(tasks: u32) -> Vec<Vec<(u32, u32)>> {
    let top = tasks.next_power_of_two().ilog2();
    let step = |distance: u64| {
        let pairs = (0..u64::from(tasks)).step_by(2 * distance as usize).map(|from| (from, from + distance));
        pairs.filter(|(_, to)| *to < tasks.into()).map(|(from, to)| (from as u32, to as u32)).collect()
    };
    (0..top).rev().map(|k| step(1u64 << k)).collect()
}

/// Data goes down a tree.
pub(super) fn down(builder: &mut Builder, steps: &[Vec<(u32, u32)>], size: u64) {
    steps.iter().for_each(|step| builder.exchange(step.iter().map(|&(from, to)| (from, to, size))));
}

/// Data goes up a tree.
pub(super) fn up(builder: &mut Builder, steps: &[Vec<(u32, u32)>], size: u64) {
    steps.iter().rev().for_each(|step| builder.exchange(step.iter().map(|&(from, to)| (to, from, size))));
}
