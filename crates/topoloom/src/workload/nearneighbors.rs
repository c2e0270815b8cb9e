//! `nearneighbors`: each task of a periodic grid sends to its six neighbours, then waits for what they send.

use super::Workload;
use super::builder::Builder;
use super::grid::{neighbour, straight};
use super::registry::{AppInfo, GRID, SIZE, TASKS};
use super::request::Request;
use crate::catalogue::{Key, Kind};
use crate::error::Result;

pub(super) const INFO: AppInfo = AppInfo {
    name: "nearneighbors",
    summary: "each task of a periodic 3D grid sends to its six neighbours, then waits for theirs",
    keys: &[TASKS, GRID, SIZE, Key::new("iterations", Kind::count(1), "how often (default 1)")],
    argument: None,
    build,
};

fn build(request: &Request) -> Result<Workload> {
    let (grid, note) = request.cube()?;
    let (size, iterations) = (request.size(), request.count("iterations").unwrap_or(1));
    let tasks = grid.len() as u32;
    let messages = u128::from(tasks) * 6 * u128::from(iterations);
    let mut builder = Builder::new(request, tasks, messages)?.on(&grid).note(note);
    let steps = straight(3);
    for _ in 0..iterations {
        let of = |task: u32| steps.iter().filter_map(|step| neighbour(&grid, task, step, true)).collect::<Vec<u32>>();
        builder.exchange((0..tasks).flat_map(|task| of(task).into_iter().map(move |to| (task, to, size))));
    }
    builder.rounds(iterations);
    Ok(builder.build())
}
