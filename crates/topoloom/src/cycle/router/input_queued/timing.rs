//! Internal steps, and the cycles that they belong to.

/// Whole cycles that stages take beyond their step; `routing` is `None` if the router looks ahead.
#[derive(Debug, Clone, Copy)]
pub(super) struct Delays {
    pub(super) routing: Option<u32>,
    pub(super) vc_alloc: u32,
    pub(super) sw_alloc: u32,
}

/// When a head that comes to the front of its VC may be allocated.
#[derive(Debug, Clone, Copy)]
pub(super) struct Delay {
    /// The internal step in which it has come there.
    pub(super) step: u32,
    /// The first one in which it may.
    pub(super) ready: u32,
    /// The cycle of that one.
    pub(super) cycle: u32,
    /// That is a later cycle.
    pub(super) later: bool,
    /// That is not the first step of its cycle.
    pub(super) late: bool,
}

impl Delay {
    /// Until the internal step `ready`.
    #[inline(always)]
    pub(super) fn until(speedup: f64, ready: u32) -> Self {
        let cycle = cycle_of(speedup, ready);
        Self { ready, cycle, late: ready != first_step(speedup, cycle), ..Self::NONE }
    }

    /// At once.
    pub(super) const NONE: Self = Self { step: u32::MAX, ready: 0, cycle: 0, later: false, late: false };
}

/// The first internal step of a cycle.
#[inline(always)]
pub(super) fn first_step(speedup: f64, cycle: u32) -> u32 {
    (f64::from(cycle) * speedup) as u32
}

/// The cycle of an internal step.
pub(super) fn cycle_of(speedup: f64, step: u32) -> u32 {
    let mut cycle = (f64::from(step) / speedup) as u32;
    while first_step(speedup, cycle) > step {
        cycle -= 1;
    }
    while first_step(speedup, cycle + 1) <= step {
        cycle += 1;
    }
    cycle
}

/// The internal step at the same place of its cycle, `cycles` cycles after `step`.
pub(super) fn after(speedup: f64, step: u32, cycles: u32) -> u32 {
    if cycles == 0 {
        return step;
    }
    let cycle = cycle_of(speedup, step);
    first_step(speedup, cycle + cycles) + step - first_step(speedup, cycle)
}
