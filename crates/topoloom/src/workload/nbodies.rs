//! `nbodies`: tasks on a ring. In the paper each task starts a chain of messages that travels clockwise over half the
//! ring, one message at a time: n·⌊n/2⌋ messages. INRFlow's kernel sends min(i, n - i) blocks to the task i positions on, for
//! i = 1, 2, 4, …: `reading=inrflow`.

use super::Workload;
use super::builder::Builder;
use super::registry::{AppInfo, SIZE, TASKS};
use super::request::Request;
use crate::catalogue::{Key, Kind};
use crate::error::Result;

/// The most tasks of the paper's reading.
const MOST_CHAINS: u32 = 4096;

pub(super) const INFO: AppInfo = AppInfo {
    name: "nbodies",
    summary: "on a ring of tasks each starts a chain of messages over half the ring",
    keys: &[
        TASKS,
        SIZE,
        Key::new(
            "reading",
            Kind::Choice(&["paper", "inrflow"]),
            "paper (default): chains, up to 4096 tasks, or inrflow: blocks go 1, 2, 4, … positions further on",
        ),
    ],
    argument: None,
    build,
};

fn build(request: &Request) -> Result<Workload> {
    let (tasks, size) = (request.tasks()?, request.size());
    if request.choice("reading") == "inrflow" {
        let steps = tasks.next_power_of_two().ilog2();
        let mut builder = Builder::new(request, tasks, u128::from(tasks) * u128::from(steps))?;
        for distance in (0..steps).map(|k| 1u64 << k) {
            let blocks = distance.min(u64::from(tasks) - distance);
            let to = |task: u32| ((u64::from(task) + distance) % u64::from(tasks)) as u32;
            builder.exchange((0..tasks).map(|task| (task, to(task), blocks * size)));
        }
        return Ok(builder.build());
    }
    if tasks > MOST_CHAINS {
        return Err(request.mistake(format_args!(
            "the paper's chains are {} messages with {tasks} tasks; give tasks={MOST_CHAINS} or fewer, or \
             reading=inrflow",
            u64::from(tasks) * u64::from(tasks / 2)
        )));
    }
    let mut builder = Builder::new(request, tasks, u128::from(tasks) * u128::from(tasks / 2))?;
    for _ in 0..tasks / 2 {
        builder.exchange((0..tasks).map(|task| (task, (task + 1) % tasks, size)));
    }
    Ok(builder.build())
}
