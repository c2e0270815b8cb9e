//! `reduce`: all tasks send to task 0, all at once (the paper's, with a hot spot) or up a tree.

use super::collective::{CHANNELS, CHUNK, Collective, GROUP, ITERATIONS, RANKS, ROOT, build};
use super::registry::{AppInfo, SIZE, TASKS};
use crate::catalogue::{Key, Kind};

pub(super) const INFO: AppInfo = AppInfo {
    name: "reduce",
    summary: "all tasks send to task 0: a collective with a hot spot",
    keys: &[
        TASKS,
        SIZE,
        Key::new(
            "algorithm",
            Kind::Choice(&["linear", "binomial", "chain", "ring", "double-binary-tree", "hierarchical", "auto"]),
            "linear: all at once (default), binomial: up a tree, chain or ring: from task to task, double-binary-tree: half \
             of the data up each, hierarchical: within hosts, then across, or auto",
        ),
        ROOT,
        GROUP,
        RANKS,
        CHANNELS,
        CHUNK,
        ITERATIONS,
    ],
    argument: None,
    build: |request| build(request, Collective::Reduce),
};
