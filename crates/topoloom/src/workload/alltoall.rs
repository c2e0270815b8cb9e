//! `alltoall`: every task has `size` bytes for every other one.

use super::collective::{CHANNELS, CHUNK, Collective, GROUP, ITERATIONS, RANKS, WIDTH, build};
use super::registry::{AppInfo, TASKS};
use crate::catalogue::{Key, Kind};

pub(super) const INFO: AppInfo = AppInfo {
    name: "alltoall",
    summary: "every task has a block for every other one; all-to-all is the same",
    keys: &[
        TASKS,
        Key::new("size", Kind::Bytes, "bytes of a block, for one task from another, as in 64KiB (the default)"),
        Key::new(
            "algorithm",
            Kind::Choice(&["direct", "pairwise", "bruck", "hierarchical", "2d", "auto"]),
            "direct: all at once (default), pairwise: in step s to the task s positions further on, bruck: blocks travel together in \
             log2 steps, hierarchical: within hosts, then across, 2d: within rows, then columns, or auto",
        ),
        GROUP,
        RANKS,
        WIDTH,
        CHANNELS,
        CHUNK,
        ITERATIONS,
    ],
    argument: None,
    build: |request| build(request, Collective::AllToAll),
};
