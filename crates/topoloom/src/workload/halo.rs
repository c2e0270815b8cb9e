//! `halo`: the exchange of a stencil code on a grid of any dimensions: what a task sends to a neighbour is the face, edge or
//! corner of its block of cells.

use super::Workload;
use super::builder::Builder;
use super::grid::{Step, around, neighbour, straight};
use super::registry::AppInfo;
use super::request::Request;
use crate::catalogue::{Key, Kind};
use crate::error::{Result, several};
use crate::network::Grid;

pub(super) const INFO: AppInfo = AppInfo {
    name: "halo",
    summary: "halo exchange of a stencil on a grid of any dimensions, with computing in between",
    keys: &[
        Key::new(
            "grid",
            Kind::Sides,
            "the grid of tasks, as in 8x8x4 (default: three sides, as even as the tasks allow)",
        ),
        Key::new("block", Kind::Sides, "cells of a task in each dimension, as in 64x64x64 (default: 64 in each)"),
        Key::new("cell", Kind::Bytes, "bytes of a cell (default 8)"),
        Key::new("width", Kind::count(1), "cells across the halo (default 1)"),
        Key::new("corners", Kind::Flag, "true: the neighbours across edges and corners as well (a 27-point stencil)"),
        Key::new("open", Kind::Flag, "true: the grid has edges; it is periodic unless given"),
        Key::new("iterations", Kind::count(1), "how often (default 1)"),
        Key::new("compute", Kind::Time("5us"), "time of computing before each exchange, as in 50us (default 0)"),
    ],
    argument: None,
    build,
};

/// The three sides of a grid of this many tasks that differ least: the largest first.
fn even(tasks: u32) -> Vec<u32> {
    let divisors =
        |of: u32| (1..=of).take_while(move |side| side * side <= of).filter(move |side| of.is_multiple_of(*side));
    let flat = |sides: &[u32; 3]| sides[0] * sides[1] + sides[0] * sides[2] + sides[1] * sides[2];
    let of_side = |least: u32| divisors(tasks / least).map(move |middle| [tasks / least / middle, middle, least]);
    let best = divisors(tasks).flat_map(of_side).min_by_key(flat).unwrap_or([tasks, 1, 1]);
    let mut sides = best.to_vec();
    sides.sort_unstable_by(|a, b| b.cmp(a));
    sides
}

fn build(request: &Request) -> Result<Workload> {
    let grid = match request.grid(1..=6)? {
        Some(grid) => grid,
        None => Grid { sides: even(request.room()) },
    };
    let dimensions = grid.sides.len();
    let block = request.sides("block").unwrap_or_else(|| vec![64; dimensions]);
    if block.len() != dimensions {
        return Err(
            request.mistake(format_args!("block has {}, the grid {dimensions}", several(block.len(), "dimension")))
        );
    }
    let width = request.count("width").unwrap_or(1);
    if let Some(side) = block.iter().find(|side| **side < width) {
        return Err(request.mistake(format_args!("a halo of {width} cells is wider than a block of {side}")));
    }
    let (cell, iterations) = (request.bytes("cell").unwrap_or(8), request.count("iterations").unwrap_or(1));
    let (periodic, compute) = (!request.flag("open"), request.seconds("compute").unwrap_or(0.0));
    let steps = if request.flag("corners") { around(dimensions) } else { straight(dimensions) };
    let bytes = |step: &Step| {
        let cells = block.iter().zip(step).map(|(&side, &part)| if part == 0 { side } else { width });
        cells.fold(cell, |product, side| product.saturating_mul(side.into()))
    };
    let tasks = grid.len() as u32;
    let messages = u128::from(tasks) * steps.len() as u128 * u128::from(iterations);
    let mut builder = Builder::new(request, tasks, messages)?.on(&grid);
    for _ in 0..iterations {
        builder.compute_all(compute);
        let of = |task: u32| {
            let to = |step: &Step| Some((task, neighbour(&grid, task, step, periodic)?, bytes(step)));
            steps.iter().filter_map(to).collect::<Vec<_>>()
        };
        builder.exchange((0..tasks).flat_map(of));
    }
    builder.rounds(iterations);
    Ok(builder.build())
}
