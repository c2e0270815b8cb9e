//! `allreduce`: recursive doubling (the paper's), ring, binomial tree, and Rabenseifner's algorithm (Thakur, Rabenseifner
//! and Gropp, 2005). Numbers of tasks that are no power of two are folded as there: the first 2r tasks pair up, one of each
//! pair takes part for both, and hands the result back.

use super::Workload;
use super::broadcast::{binomial, down, part, up};
use super::builder::Builder;
use super::registry::{AppInfo, SIZE, TASKS};
use super::request::Request;
use crate::catalogue::{Key, Kind};
use crate::error::Result;

pub(super) const INFO: AppInfo = AppInfo {
    name: "allreduce",
    summary: "all tasks reduce a vector of size bytes and get the result",
    keys: &[
        TASKS,
        SIZE,
        Key::new(
            "algorithm",
            Kind::Choice(&["recursive-doubling", "ring", "tree", "rabenseifner"]),
            "recursive-doubling (default), ring, tree: up and down a binomial tree, or rabenseifner: reduce-scatter by \
             halving, allgather by doubling",
        ),
        Key::new("iterations", Kind::count(1), "how often (default 1)"),
    ],
    argument: None,
    build,
};

fn build(request: &Request) -> Result<Workload> {
    let (tasks, size) = (request.tasks()?, request.size());
    let iterations = request.count("iterations").unwrap_or(1);
    let algorithm = request.choice("algorithm");
    let (n, folding) = (u128::from(tasks), Folding::new(tasks));
    let steps = u128::from(folding.members.ilog2());
    let folded = 2 * u128::from(folding.pairs);
    let (messages, blocks) = match algorithm {
        "recursive-doubling" => (folding.messages(), 1),
        "ring" => (2 * n * (n - 1), tasks),
        "tree" => (2 * (n - 1), 1),
        _ => (2 * u128::from(folding.members) * steps + folded, folding.members),
    };
    if size < blocks.into() {
        return Err(request.mistake(format_args!(
            "{algorithm} cuts the data into {blocks} blocks, but size is {size} bytes; give {blocks} at least"
        )));
    }
    let mut builder = Builder::new(request, tasks, messages * u128::from(iterations))?;
    let group: Vec<u32> = (0..tasks).collect();
    for _ in 0..iterations {
        match algorithm {
            "recursive-doubling" => folding.around(&mut builder, size, |builder| folding.doubling(builder, size)),
            "ring" => ring(&mut builder, &group, size),
            "tree" => {
                let steps = binomial(tasks);
                up(&mut builder, &steps, size);
                down(&mut builder, &steps, size);
            }
            _ => folding.around(&mut builder, size, |builder| folding.rabenseifner(builder, size)),
        }
    }
    builder.rounds(iterations);
    Ok(builder.build())
}

/// The tasks that take part in algorithms for powers of two.
pub(super) struct Folding {
    /// Pairs of which one task takes part.
    pairs: u32,
    /// Those that take part: a power of two.
    members: u32,
}

impl Folding {
    pub fn new(tasks: u32) -> Self {
        let members = 1 << tasks.ilog2();
        Self { pairs: tasks - members, members }
    }

    /// Messages of recursive doubling.
    pub fn messages(&self) -> u128 {
        u128::from(self.members) * u128::from(self.members.ilog2()) + 2 * u128::from(self.pairs)
    }

    /// The task that takes part as number `member`.
    fn task(&self, member: u32) -> u32 {
        if member < self.pairs { 2 * member + 1 } else { member + self.pairs }
    }

    /// Folds, does `inner`, and hands the result back.
    pub fn around(&self, builder: &mut Builder, size: u64, inner: impl Fn(&mut Builder)) {
        builder.exchange((0..self.pairs).map(|pair| (2 * pair, 2 * pair + 1, size)));
        inner(builder);
        builder.exchange((0..self.pairs).map(|pair| (2 * pair + 1, 2 * pair, size)));
    }

    /// In step k all exchange everything with the task whose number differs in bit k.
    pub fn doubling(&self, builder: &mut Builder, size: u64) {
        for k in 0..self.members.ilog2() {
            let pair = |member: u32| (self.task(member), self.task(member ^ 1 << k), size);
            builder.exchange((0..self.members).map(pair));
        }
    }

    /// Halves the blocks that each is responsible for, then doubles those that each knows.
    fn rabenseifner(&self, builder: &mut Builder, size: u64) {
        let until = |block: u32| (u128::from(size) * u128::from(block) / u128::from(self.members)) as u64;
        let bytes = |first: u32, blocks: u32| until(first + blocks) - until(first);
        for k in (0..self.members.ilog2()).rev() {
            let half = 1u32 << k;
            // It keeps the half in which its own block lies, and sends the other one.
            let send = |member: u32| bytes((member ^ half) & !(half - 1), half);
            builder.exchange((0..self.members).map(|m| (self.task(m), self.task(m ^ half), send(m))));
        }
        for k in 0..self.members.ilog2() {
            let half = 1u32 << k;
            let send = |member: u32| bytes(member & !(half - 1), half);
            builder.exchange((0..self.members).map(|m| (self.task(m), self.task(m ^ half), send(m))));
        }
    }
}

/// Blocks go round a ring of the tasks `group`: first reduced until each task has one block of the result, then handed to
/// all. Every block has a byte at least.
pub(super) fn ring(builder: &mut Builder, group: &[u32], size: u64) {
    let n = group.len();
    for step in 0..2 * (n - 1) {
        // In step s member i passes block i - s on; the second round goes on where the first has ended.
        let block = |member: usize| part(size, ((member + 2 * n - step) % n) as u64, n as u64);
        builder.exchange((0..n).map(|member| (group[member], group[(member + 1) % n], block(member))));
    }
}
