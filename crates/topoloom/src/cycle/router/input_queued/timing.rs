//! Internal steps, and the cycles that they belong to.

/// Whole cycles that stages take beyond their step; `routing` is `None` if the router looks ahead.
#[derive(Debug, Clone, Copy)]
pub(super) struct Delays {
    pub(super) routing: Option<u32>,
    pub(super) vc_alloc: u32,
    pub(super) sw_alloc: u32,
}

/// The first internal step of a cycle.
#[inline(always)]
pub(super) fn first_step(speedup: f64, cycle: u32) -> u32 {
    (f64::from(cycle) * speedup) as u32
}

/// The internal step at the same place of its cycle, `cycles` cycles after `step`.
pub(super) fn after(speedup: f64, step: u32, cycles: u32) -> u32 {
    if cycles == 0 {
        return step;
    }
    let mut cycle = (f64::from(step) / speedup) as u32;
    while first_step(speedup, cycle + 1) <= step {
        cycle += 1;
    }
    first_step(speedup, cycle + cycles) + step - first_step(speedup, cycle)
}
