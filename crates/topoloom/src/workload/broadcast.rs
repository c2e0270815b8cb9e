//! `broadcast`: one task sends to all.

use super::collective::{CHANNELS, CHUNK, Collective, GROUP, ITERATIONS, RANKS, ROOT, build};
use super::registry::{AppInfo, SIZE, TASKS};
use crate::catalogue::{Key, Kind};

pub(super) const INFO: AppInfo = AppInfo {
    name: "broadcast",
    summary: "task 0 sends to all",
    keys: &[
        TASKS,
        SIZE,
        Key::new(
            "algorithm",
            Kind::Choice(&["binomial", "linear", "chain", "ring", "double-binary-tree", "hierarchical", "auto"]),
            "binomial: down a tree (default), linear: directly, chain or ring: from task to task, double-binary-tree: half \
             of the data down each, hierarchical: across hosts, then within, or auto",
        ),
        ROOT,
        GROUP,
        RANKS,
        CHANNELS,
        CHUNK,
        ITERATIONS,
    ],
    argument: None,
    build: |request| build(request, Collective::Broadcast),
};
