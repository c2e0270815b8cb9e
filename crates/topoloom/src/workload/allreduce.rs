//! `allreduce`: all tasks combine a vector and get the result.

use super::collective::{CHANNELS, CHUNK, Collective, GROUP, ITERATIONS, RANKS, WIDTH, build};
use super::registry::{AppInfo, SIZE, TASKS};
use crate::catalogue::{Key, Kind};

pub(super) const INFO: AppInfo = AppInfo {
    name: "allreduce",
    summary: "all tasks reduce a vector of size bytes and get the result",
    keys: &[
        TASKS,
        SIZE,
        Key::new(
            "algorithm",
            Kind::Choice(&[
                "recursive-doubling",
                "ring",
                "tree",
                "rabenseifner",
                "halving-doubling",
                "double-binary-tree",
                "direct",
                "hierarchical",
                "2d",
                "auto",
            ]),
            "recursive-doubling (default), ring, tree: up and down a binomial tree, rabenseifner or halving-doubling: \
             reduce-scatter by halving, allgather by doubling, double-binary-tree: half of the data by each, direct: blocks \
             to their owners and back, all at once, hierarchical: within hosts, across, within, 2d: round rows and columns, \
             or auto: as NCCL's cost model chooses",
        ),
        GROUP,
        RANKS,
        WIDTH,
        CHANNELS,
        CHUNK,
        ITERATIONS,
    ],
    argument: None,
    build: |request| build(request, Collective::Allreduce),
};
