//! `flood`: wavefronts from task 0 in all directions through a grid with wraparound, several under way at once: a task
//! waits for all of its neighbours that are nearer to task 0, then sends to all that are farther. INRFlow's tasks send
//! to all six neighbours: `reading=inrflow`; messages that no wave waits for are received at the end.

use super::Workload;
use super::builder::Builder;
use super::grid::{neighbour, straight};
use super::registry::{AppInfo, GRID, SIZE, TASKS};
use super::request::Request;
use crate::catalogue::{Key, Kind};
use crate::error::Result;
use crate::network::Grid;

pub(super) const INFO: AppInfo = AppInfo {
    name: "flood",
    summary: "wavefronts from task 0 in all directions through a periodic 3D grid, several under way at once",
    keys: &[
        TASKS,
        GRID,
        SIZE,
        Key::new("waves", Kind::count(1), "wavefronts (default 4)"),
        Key::new(
            "reading",
            Kind::Choice(&["paper", "inrflow"]),
            "paper (default): to all neighbours farther from task 0, or inrflow: to all neighbours",
        ),
    ],
    argument: None,
    build,
};

/// Wavefronts unless given.
const WAVES: u32 = 4;

fn build(request: &Request) -> Result<Workload> {
    let (grid, note) = request.cube()?;
    let (size, waves) = (request.size(), request.count("waves").unwrap_or(WAVES));
    let to_all = request.choice("reading") == "inrflow";
    let tasks = grid.len() as u32;
    // Without ties every link carries a wave once; with all neighbours, twice.
    let most = u128::from(tasks) * if to_all { 6 } else { 3 };
    let mut builder = Builder::new(request, tasks, most * u128::from(waves))?.on(&grid).note(note);
    let levels: Vec<u32> = (0..tasks).map(|task| level(&grid, task)).collect();
    let mut order: Vec<u32> = (0..tasks).collect();
    order.sort_by_key(|task| levels[*task as usize]);
    let mut coming: Vec<Vec<u32>> = vec![Vec::new(); tasks as usize];
    let mut rest = Vec::new();
    for _ in 0..waves {
        for &task in &order {
            coming[task as usize].drain(..).for_each(|message| builder.receive(message));
            for to in neighbours(&grid, task) {
                let farther = levels[to as usize] > levels[task as usize];
                if farther {
                    coming[to as usize].push(builder.send(task, to, size));
                } else if to_all {
                    rest.push(builder.send(task, to, size));
                }
            }
        }
    }
    rest.into_iter().for_each(|message| builder.receive(message));
    Ok(builder.build())
}

/// Steps from task 0.
fn level(grid: &Grid, task: u32) -> u32 {
    grid.coordinates(task).iter().zip(&grid.sides).map(|(&at, &side)| at.min(side - at)).sum()
}

/// The different neighbours of a task.
fn neighbours(grid: &Grid, task: u32) -> Vec<u32> {
    let mut found = Vec::with_capacity(6);
    for step in straight(grid.sides.len()) {
        if let Some(to) = neighbour(grid, task, &step, true)
            && !found.contains(&to)
        {
            found.push(to);
        }
    }
    found
}
