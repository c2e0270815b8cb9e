//! Collectives: what ranks do together, by several algorithms each.
//!
//! An algorithm is a list of [steps](Steps), in each of which every rank sends what it has to send and waits for what
//! it is sent. A message states which [spans](Span) of the collective's buffer it carries, and whether the receiver
//! combines them with its own: so that each algorithm can be checked against what its collective means, by carrying
//! contributions through it.
//!
//! The buffer is `size` bytes that all ranks have alike (allreduce, reduce-scatter, all-gather, broadcast, reduce), cut
//! into blocks, of which reduce-scatter and all-gather give one to each rank of the group in its order; of an
//! all-to-all it is what each rank has for each, n x n blocks of `size` bytes by source and target.

mod algorithms;
mod auto;
mod blocks;
mod direct;
mod group;
mod halving;
mod lanes;
mod levels;
mod ring;
mod tree;

use blocks::Blocks;
pub use blocks::{Payloads, Span, Steps, Transfer};
pub use group::{GROUP, RANKS, turned};
pub use halving::Folding;

use algorithms::Algorithm;
use group::Group;
pub use lanes::Lanes;

use super::builder::{Builder, guard};
use super::calls::Call;
use super::graph::GraphBuilder;
use super::registry::{AppInfo, SEED, SIZE, SIZES, TASKS};
use super::request::Request;
use super::{Workload, Yardstick};
use crate::catalogue::{Key, Kind};
use crate::error::Result;

/// What ranks do together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Collective {
    /// All get the combined values of all.
    Allreduce,
    /// Each gets one block of them.
    ReduceScatter,
    /// All get the block of each.
    AllGather,
    /// Each gets a block from each.
    AllToAll,
    /// All get what the root has.
    Broadcast,
    /// The root gets the combined values of all.
    Reduce,
    /// Each sends to another, and receives from a third.
    SendRecv,
    /// No rank continues before all have arrived.
    Barrier,
}

pub const CHANNELS: Key = Key::new(
    "channels",
    Kind::count(1),
    "parts of the data that go side by side, rings each from another rank of a host on (default 1)",
);
pub const CHUNK: Key = Key::new(
    "chunk",
    Kind::Bytes,
    "the largest piece, in bytes, into which the data is cut; pieces follow one another as in a pipeline (default: one piece)",
);
pub const ITERATIONS: Key = Key::new("iterations", Kind::count(1), "how often (default 1)");
pub const ROOT: Key =
    Key::new("root", Kind::count(0), "the rank that has, or gets, the result (default: the group's first)");
pub const WIDTH: Key =
    Key::new("width", Kind::count(1), "ranks of a row, of 2d (default: the divisor nearest to the square root)");
/// Bytes of a vector, of collectives whose ranks all deal with one.
const VECTOR: Key = Key::new("size", Kind::Bytes, "bytes of all blocks together, as in 64KiB (the default)");

pub(super) const REDUCE_SCATTER: AppInfo = AppInfo {
    name: "reduce-scatter",
    summary: "all tasks reduce a vector of size bytes, of which each gets one block",
    keys: &[
        TASKS,
        VECTOR,
        Key::new(
            "algorithm",
            Kind::Choice(&["ring", "halving-doubling", "bruck", "direct", "hierarchical", "2d", "auto"]),
            "ring (default), halving-doubling: by halving, bruck: all-gather's backwards, direct: all at once, hierarchical: \
             within hosts, then across, 2d: round rows, then columns, or auto",
        ),
        GROUP,
        RANKS,
        WIDTH,
        CHANNELS,
        CHUNK,
        ITERATIONS,
    ],
    argument: None,
    build: |request| build(request, Collective::ReduceScatter),
};

pub(super) const ALL_GATHER: AppInfo = AppInfo {
    name: "all-gather",
    summary: "all tasks get a vector of size bytes, of which each has one block",
    keys: &[
        TASKS,
        VECTOR,
        Key::new(
            "algorithm",
            Kind::Choice(&["ring", "recursive-doubling", "bruck", "direct", "hierarchical", "2d", "auto"]),
            "ring (default), recursive-doubling, bruck: log2 steps for any number, direct: all at once, hierarchical: across \
             hosts, then within, 2d: round columns, then rows, or auto",
        ),
        GROUP,
        RANKS,
        WIDTH,
        CHANNELS,
        CHUNK,
        ITERATIONS,
    ],
    argument: None,
    build: |request| build(request, Collective::AllGather),
};

pub(super) const ALL_TO_ALL_V: AppInfo = AppInfo {
    name: "all-to-all-v",
    summary: "every task has a block for every other one, each of a size of its own",
    keys: &[
        TASKS,
        SIZES,
        Key::new(
            "algorithm",
            Kind::Choice(&["direct", "pairwise"]),
            "direct: all at once (default), or pairwise: in step s to the task s positions further on",
        ),
        GROUP,
        ITERATIONS,
        SEED,
    ],
    argument: None,
    build: all_to_all_v,
};

pub(super) const SEND_RECV: AppInfo = AppInfo {
    name: "send-recv",
    summary: "every task sends to another one, and receives from a third",
    keys: &[
        TASKS,
        SIZE,
        Key::new("shift", Kind::count(1), "how many ranks further on the other one is (default 1)"),
        GROUP,
        CHANNELS,
        CHUNK,
        ITERATIONS,
    ],
    argument: None,
    build: |request| build(request, Collective::SendRecv),
};

pub(super) const BARRIER: AppInfo = AppInfo {
    name: "barrier",
    summary: "no task continues before all have arrived",
    keys: &[
        TASKS,
        Key::new("size", Kind::Bytes, "bytes of a message (default 8B)"),
        Key::new(
            "algorithm",
            Kind::Choice(&["dissemination", "tree"]),
            "dissemination: in step k to the rank 2^k positions further on (default), or tree: up and down a binomial tree",
        ),
        GROUP,
        ITERATIONS,
    ],
    argument: None,
    build: |request| build(request, Collective::Barrier),
};

/// A regular collective of more messages is kept as its rule alone.
const LISTED: u128 = 1 << 16;
/// Blocks of this many bytes and more may be rounded up to a byte.
const PADDED: u64 = 1024;

/// How a collective is done.
pub struct Plan {
    what: Collective,
    algorithm: Algorithm,
    group: Group,
    /// The members that broadcast and reduce go through, the root first.
    rooted: Vec<u32>,
    size: u64,
    /// Bytes of the data that was asked for; `size` may be more, to divide evenly.
    data: u64,
    channels: u32,
    /// Pieces of the data of each channel.
    pieces: u64,
    /// Ranks of a row, of algorithms in two levels.
    width: usize,
    /// Distance in ranks that a message travels, of [`Collective::SendRecv`].
    shift: usize,
    notes: Vec<String>,
}

/// Builds the collective that is asked for.
pub(super) fn build(request: &Request, what: Collective) -> Result<Workload> {
    let plan = Plan::read(request, what)?;
    let iterations = request.count("iterations").unwrap_or(1);
    let yardstick = plan.yardstick(iterations);
    if let Some(call) = plan.call().filter(|_| request.keeps_calls()) {
        return plan.called(request, iterations, call);
    }
    Ok(Workload { yardstick, ..plan.built(request, iterations)? })
}

impl Plan {
    fn built(self, request: &Request, iterations: u32) -> Result<Workload> {
        let plan = self;
        let passes = u128::from(plan.pieces) * u128::from(plan.channels) * u128::from(iterations);
        let messages = plan.messages() * passes;
        let regular = plan.regular(iterations);
        if let Some(regular) = regular.clone().filter(|_| messages > LISTED && !request.records()) {
            let builder = Builder::sized(request.spec(), plan.group.tasks, 0, false);
            let mut unlisted = plan.noted(builder).build();
            (unlisted.regular, unlisted.rounds) = (Some(regular), iterations);
            return Ok(unlisted);
        }
        if !plan.in_lanes() {
            let mut builder = Builder::new(request, plan.group.tasks, messages)?.in_order(plan.in_order());
            let order = plan.group.on_channel(0);
            (0..iterations).for_each(|_| plan.pass(&mut builder, &order, [0, 1]));
            builder.rounds(iterations);
            return Ok(Workload { regular, ..plan.noted(builder).build() });
        }
        guard(request.spec(), plan.group.tasks.into(), messages)?;
        let mut lanes = Lanes::new(request, plan.group.tasks);
        for _ in 0..iterations {
            plan.lanes(&mut lanes);
            lanes.join();
        }
        Ok(Workload { regular, ..lanes.build(request, iterations, plan.notes)? })
    }

    /// The bytes of the call that it stands for, if it is one that traces have: that of a root names no other rank.
    fn call(&self) -> Option<u64> {
        let ranks = self.group.len() as u64;
        let bytes = match self.what {
            Collective::SendRecv => return None,
            Collective::AllGather => self.data.div_ceil(ranks),
            Collective::AllToAll => self.data.saturating_mul(ranks),
            _ => self.data,
        };
        (self.rooted.first().is_none_or(|root| *root == self.group.members[0])).then_some(bytes)
    }

    /// The workload of such calls alone.
    fn called(self, request: &Request, iterations: u32, bytes: u64) -> Result<Workload> {
        let Self { what, group, notes, .. } = self;
        let mut graph = GraphBuilder::default();
        let is_all = group.len() == group.tasks as usize;
        let name = if is_all { None } else { Some("1") };
        let place = graph.calls.named(name, &group.members);
        let calls: Vec<u32> = (0..iterations).map(|_| graph.calls.add(Call { what, bytes, group: place })).collect();
        for &member in &group.members {
            let mut last = None;
            for &call in &calls {
                let op = graph.call(member, call);
                last.into_iter().for_each(|last| graph.follows(op, last, false));
                last = Some(op);
            }
        }
        let built = graph.build(request.spec(), group.tasks, |op| format!("operation {op}"))?;
        Ok(Workload { rounds: iterations, notes, ..built })
    }

    fn noted(self, builder: Builder) -> Builder {
        self.notes.into_iter().fold(builder, |builder, note| builder.note(Some(note)))
    }

    fn read(request: &Request, what: Collective) -> Result<Self> {
        let group = Group::read(request)?;
        let size = request.bytes("size").unwrap_or(if what == Collective::Barrier { 8 } else { request.size() });
        let mut notes = Vec::new();
        let algorithm = Algorithm::read(request, what, &group, size, &mut notes);
        let rooted = match what {
            Collective::Broadcast | Collective::Reduce => group.rooted(request)?,
            _ => Vec::new(),
        };
        let width = algorithm.width(request, &group)?;
        let channels = request.count_if_declared("channels").unwrap_or(1);
        let each = size.div_ceil(channels.into());
        let chunk = request.declares("chunk").then(|| request.bytes("chunk")).flatten();
        let pieces = chunk.map_or(1, |chunk| each.div_ceil(chunk));
        let shift = request.count_if_declared("shift").unwrap_or(1) as usize;
        if shift.is_multiple_of(group.len()) {
            return Err(request.mistake(format_args!(
                "shift is {shift}; in a group of {} each rank would send to itself",
                group.len()
            )));
        }
        let data = size;
        let mut plan = Self { what, algorithm, group, rooted, size, data, channels, pieces, width, shift, notes };
        plan.check(request)?;
        plan.pad(request.spec());
        Ok(plan)
    }

    /// Rounds the data up to blocks of one size where there are many messages and this changes little: a rule then
    /// stands for all of them.
    fn pad(&mut self, spec: &str) {
        let ranks = self.group.len() as u64;
        let parts = u64::from(self.channels) * self.pieces;
        let equal = ranks.saturating_mul(parts);
        let (many, blocks) = (self.messages() * u128::from(parts) > LISTED, self.size / equal >= PADDED);
        let padded = self.size.div_ceil(equal).saturating_mul(equal);
        if !many || !blocks || self.regular(1).is_some() {
            return;
        }
        self.size = padded;
        if self.regular(1).is_none() {
            self.size = self.data;
            return;
        }
        self.notes.push(format!(
            "{spec}: the data is rounded up by {} bytes, so that {} of all {ranks} ranks are equal",
            padded - self.data,
            if parts > 1 { "the pieces" } else { "the blocks" }
        ));
    }

    /// Rejects data that is less than its pieces.
    fn check(&self, request: &Request) -> Result<()> {
        let blocks = self.blocks_of_vector();
        if u128::from(self.size) >= u128::from(blocks) {
            return Ok(());
        }
        let algorithm = request.choice("algorithm");
        Err(request.mistake(format_args!(
            "{algorithm} cuts the data into {blocks} blocks, but size is {} bytes; give {blocks} at least",
            self.size
        )))
    }

    /// What its bandwidth is measured by.
    fn yardstick(&self, iterations: u32) -> Option<Yardstick> {
        let (n, size) = (self.group.len() as f64, self.data as f64 * f64::from(iterations));
        match self.what {
            Collective::Allreduce => yardstick_of("allreduce", n, size),
            Collective::ReduceScatter | Collective::AllGather => yardstick_of("allgather", n, size),
            Collective::AllToAll => yardstick_of("alltoall", n, n * size),
            Collective::Broadcast | Collective::Reduce | Collective::SendRecv => yardstick_of("broadcast", n, size),
            Collective::Barrier => None,
        }
    }

    /// Several lanes are side by side.
    fn in_lanes(&self) -> bool {
        self.channels > 1 || self.pieces > 1 || self.algorithm == Algorithm::DoubleBinaryTree
    }

    /// A collective of these ranks among `tasks`, by the algorithm that is asked for or, if it has no such, by a ring
    /// or directly; the first rank is the root.
    pub fn of(what: Collective, asked: &str, members: Vec<u32>, tasks: u32, size: u64) -> Self {
        let (n, algorithm) = (members.len() as u64, Algorithm::nearest(what, asked));
        // Every block has a byte at least.
        let size = if what == Collective::AllToAll { size } else { size.max(n) };
        let rooted = members.clone();
        let group = Group { tasks, members, on_host: None, hosts: None };
        let (channels, pieces, width, shift, notes) = (1, 1, 1, 1, Vec::new());
        Self { what, algorithm, group, rooted, size, data: size, channels, pieces, width, shift, notes }
    }

    /// Its steps, of an algorithm whose data goes in one piece.
    pub fn take(&self, steps: &mut dyn Steps) {
        self.pass(steps, &self.group.on_channel(0), [0, 1]);
    }

    /// Adds the lanes of one iteration: the pieces of each channel.
    fn lanes(&self, lanes: &mut Lanes) {
        self.lanes_on(lanes, 0);
    }

    /// The same on channels from `first` on.
    fn lanes_on(&self, lanes: &mut Lanes, first: u32) {
        for piece in 0..self.pieces {
            for channel in 0..self.channels {
                let order = self.group.on_channel(channel);
                let place = u64::from(channel) * self.pieces + piece;
                let pieces = u64::from(self.channels) * self.pieces;
                if self.algorithm == Algorithm::DoubleBinaryTree {
                    for tree in 0..2 {
                        let half = [2 * place + tree, 2 * pieces];
                        lanes.add(first + 2 * channel + tree as u32, |steps| {
                            self.half_tree(steps, &order, half, tree == 1)
                        });
                    }
                } else {
                    lanes.add(first + channel, |steps| self.pass(steps, &order, [place, pieces]));
                }
            }
        }
    }
}

/// What the bandwidth of a collective of nccl-tests is measured by, for `n` ranks: bytes are those that each rank sends
/// of all-to-alls, and those of the whole vector of others.
pub(super) fn yardstick_of(name: &str, n: f64, bytes: f64) -> Option<Yardstick> {
    let bus = match name {
        "allreduce" => 2.0 * (n - 1.0) / n,
        "allgather" | "reducescatter" | "reduce_scatter" | "alltoall" => (n - 1.0) / n,
        "broadcast" | "reduce" => 1.0,
        _ => return None,
    };
    Some(Yardstick { bytes, bus })
}

/// An all-to-all of these tasks, with one partner per step.
pub(super) fn all_to_all(steps: &mut dyn Steps, members: &[u32], size: u64) {
    let n = members.len();
    let blocks = Blocks::new((n * n) as u128 * u128::from(size), (n * n) as u64, [0, 1]);
    direct::pairwise(steps, members, &|i, j| blocks.spans([(i * n + j) as u64]));
}

fn all_to_all_v(request: &Request) -> Result<Workload> {
    let group = Group::read(request)?;
    let (n, iterations) = (group.len(), request.count("iterations").unwrap_or(1));
    let (sizes, mut rng) = (request.sizes()?, request.rng(1));
    let messages = (n * (n - 1)) as u128 * u128::from(iterations);
    let mut builder = Builder::new(request, group.tasks, messages)?;
    let mut start = 0;
    let mut draw = |pair: usize| {
        let bytes = if pair / n == pair % n { 0 } else { sizes.draw(&mut rng) };
        start += bytes;
        Span { start: start - bytes, bytes }
    };
    let spans: Vec<Span> = (0..n * n).map(&mut draw).collect();
    let between = |i: usize, j: usize| vec![spans[i * n + j]];
    for _ in 0..iterations {
        match request.choice("algorithm") {
            "pairwise" => direct::pairwise(&mut builder, &group.members, &between),
            _ => direct::at_once(&mut builder, &group.members, &between),
        }
    }
    builder.rounds(iterations);
    Ok(builder.build())
}
