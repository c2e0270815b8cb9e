//! Neighbours on a grid of tasks.

use crate::network::Grid;

/// One step on a grid: -1, 0 or 1 in each dimension.
pub(super) type Step = Vec<i8>;

/// The steps along one dimension: towards higher and lower coordinates in each, first dimension first.
pub(super) fn straight(dimensions: usize) -> Vec<Step> {
    let step = |place: usize| {
        let mut step = vec![0; dimensions];
        step[place / 2] = if place.is_multiple_of(2) { 1 } else { -1 };
        step
    };
    (0..2 * dimensions).map(step).collect()
}

/// All steps to the cells around one, corners included.
pub(super) fn around(dimensions: usize) -> Vec<Step> {
    let all = 3usize.pow(dimensions as u32);
    let digit = |number: usize, place: usize| (number / 3usize.pow(place as u32) % 3) as i8 - 1;
    let step = |number: usize| (0..dimensions).map(|place| digit(number, place)).collect::<Step>();
    (0..all).map(step).filter(|step| step.iter().any(|part| *part != 0)).collect()
}

/// The task one step from `task`; `None` beyond an edge, and where the step leads back to the task itself.
pub(super) fn neighbour(grid: &Grid, task: u32, step: &[i8], periodic: bool) -> Option<u32> {
    let mut at = grid.coordinates(task);
    for ((coordinate, &side), &part) in at.iter_mut().zip(&grid.sides).zip(step) {
        let moved = i64::from(*coordinate) + i64::from(part);
        let inside = moved.rem_euclid(side.into());
        if !periodic && inside != moved {
            return None;
        }
        *coordinate = inside as u32;
    }
    Some(grid.id(&at)).filter(|to| *to != task)
}
