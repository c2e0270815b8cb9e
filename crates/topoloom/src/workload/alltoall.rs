//! `alltoall`: every task has `size` bytes for every other one. Pairwise exchange, Bruck's algorithm (1997), or directly.

use super::Workload;
use super::builder::Builder;
use super::registry::{AppInfo, TASKS};
use super::request::Request;
use crate::catalogue::{Key, Kind};
use crate::error::Result;

pub(super) const INFO: AppInfo = AppInfo {
    name: "alltoall",
    summary: "every task has a block for every other one",
    keys: &[
        TASKS,
        Key::new("size", Kind::Bytes, "bytes of a block, for one task from another, as in 64KiB (the default)"),
        Key::new(
            "algorithm",
            Kind::Choice(&["pairwise", "bruck", "direct"]),
            "pairwise: in step s to the task s places on (default), bruck: blocks travel together in log2 steps, or \
             direct: all at once",
        ),
    ],
    argument: None,
    build,
};

fn build(request: &Request) -> Result<Workload> {
    let (tasks, size) = (request.tasks()?, request.size());
    let algorithm = request.choice("algorithm");
    let (n, steps) = (u128::from(tasks), tasks.next_power_of_two().ilog2());
    let messages = if algorithm == "bruck" { n * u128::from(steps) } else { n * (n - 1) };
    let mut builder = Builder::new(request, tasks, messages)?;
    let group: Vec<u32> = (0..tasks).collect();
    match algorithm {
        "pairwise" => pairwise(&mut builder, &group, size),
        "bruck" => {
            for distance in (0..steps).map(|k| 1u64 << k) {
                // Blocks with this bit in the way that they have to go.
                let blocks = (1..u64::from(tasks)).filter(|way| way & distance != 0).count() as u64;
                let to = |task: u32| ((u64::from(task) + distance) % u64::from(tasks)) as u32;
                builder.exchange((0..tasks).map(|task| (task, to(task), blocks * size)));
            }
        }
        _ => {
            let at = |task: u32, step: u32| ((u64::from(task) + u64::from(step)) % u64::from(tasks)) as u32;
            builder.exchange((1..tasks).flat_map(|step| (0..tasks).map(move |task| (task, at(task, step), size))));
        }
    }
    Ok(builder.build())
}

/// In step s each task of `group` sends to the one s places on, and receives before the next step.
pub(super) fn pairwise(builder: &mut Builder, group: &[u32], size: u64) {
    let n = group.len();
    for step in 1..n {
        builder.exchange((0..n).map(|member| (group[member], group[(member + step) % n], size)));
    }
}
