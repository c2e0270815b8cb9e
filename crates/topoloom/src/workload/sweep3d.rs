//! `sweep3d`: a wavefront through a grid without wraparound, from one corner to the opposite one. INRFlow ends each sweep
//! with a message from the last task to the first, which begins the next one: `reading=inrflow`.

use super::Workload;
use super::builder::Builder;
use super::grid::neighbour;
use super::registry::{AppInfo, GRID, SIZE, TASKS};
use super::request::Request;
use crate::catalogue::{Key, Kind};
use crate::error::Result;

pub(super) const INFO: AppInfo = AppInfo {
    name: "sweep3d",
    summary: "a wavefront through a 3D grid: receive from x-1, y-1, z-1, then send to x+1, y+1, z+1",
    keys: &[
        TASKS,
        GRID,
        SIZE,
        Key::new("sweeps", Kind::count(1), "how many follow one another (default 1)"),
        Key::new(
            "reading",
            Kind::Choice(&["paper", "inrflow"]),
            "paper (default), or inrflow: the last task notifies the first before the next sweep",
        ),
    ],
    argument: None,
    build,
};

fn build(request: &Request) -> Result<Workload> {
    let (grid, note) = request.cube()?;
    let (size, sweeps) = (request.size(), request.count("sweeps").unwrap_or(1));
    let told = request.choice("reading") == "inrflow";
    let tasks = grid.len() as u32;
    let along = |d: usize| u128::from(tasks) / u128::from(grid.sides[d]) * u128::from(grid.sides[d] - 1);
    let messages = (0..3).map(along).sum::<u128>() + u128::from(told);
    let mut builder = Builder::new(request, tasks, messages * u128::from(sweeps))?.on(&grid).note(note);
    // What each task waits for; tasks are passed in an order in which all that they wait for has been sent.
    let mut coming: Vec<Vec<u32>> = vec![Vec::new(); tasks as usize];
    for _ in 0..sweeps {
        for task in 0..tasks {
            coming[task as usize].drain(..).for_each(|message| builder.receive(message));
            for dimension in 0..3 {
                let mut step = [0; 3];
                step[dimension] = 1;
                if let Some(to) = neighbour(&grid, task, &step, false) {
                    coming[to as usize].push(builder.send(task, to, size));
                }
            }
        }
        if told {
            let message = builder.send(tasks - 1, 0, size);
            builder.receive(message);
        }
    }
    builder.rounds(sweeps);
    Ok(builder.build())
}
