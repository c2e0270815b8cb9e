//! `gpcnet`: a canary that measures while others congest the network, after GPCNeT (Chunduri et al., 2019). The first
//! tasks are canaries; the others repeat what a congestor does until the canaries are done.
//!
//! Canaries are on a ring in random order and send to both neighbours (`latency`: small messages, `bandwidth`: large
//! ones), or do an allreduce. Congestors: `alltoall`, pairwise; `incast`: all put to one, which acknowledges;
//! `broadcast`: all get from one; `onesided`: each puts to another one at random, which acknowledges; `all`: a quarter
//! of them each.

use super::Workload;
use super::builder::Builder;
use super::collective::{Folding, Span, all_to_all};
use super::registry::{AppInfo, SEED, TASKS};
use super::request::Request;
use crate::catalogue::{Key, Kind};
use crate::error::Result;
use crate::rng::Rng;

pub(super) const INFO: AppInfo = AppInfo {
    name: "gpcnet",
    summary: "canaries measure latency or bandwidth while other tasks congest the network",
    keys: &[
        TASKS,
        Key::new(
            "canary",
            Kind::Choice(&["latency", "bandwidth", "allreduce"]),
            "latency: small messages on a random ring (default), bandwidth: large ones there, or allreduce",
        ),
        Key::new(
            "congestor",
            Kind::Choice(&["none", "alltoall", "incast", "broadcast", "onesided", "all"]),
            "none (default), alltoall, incast, broadcast, onesided, or all: a quarter of each",
        ),
        Key::new("share", Kind::Part, "the part of the tasks that are canaries (default 0.2)"),
        Key::new("iterations", Kind::count(1), "of the canary (default 100)"),
        Key::new("size", Kind::Bytes, "bytes of a canary's message (default 8, bandwidth 128KiB)"),
        Key::new("block", Kind::Bytes, "bytes of a congestor's message (default 4KiB)"),
        Key::new("warmup", Kind::Time("5us"), "time before the canary begins, as in 100us (the default)"),
        SEED,
    ],
    argument: None,
    build,
};

/// Bytes of requests and of acknowledgements.
const SMALL: u64 = 8;

/// Fewer tasks cannot do what a congestor does.
const LEAST: u32 = 2;

const CONGESTORS: [&str; 4] = ["alltoall", "incast", "broadcast", "onesided"];

fn build(request: &Request) -> Result<Workload> {
    let tasks = request.tasks()?;
    let canary = request.choice("canary");
    let congestor = request.choice("congestor");
    let share = request.part("share").unwrap_or(0.2);
    let canaries = (f64::from(tasks) * share).round() as u32;
    let chosen: Vec<&str> = match congestor {
        "none" => Vec::new(),
        "all" => CONGESTORS.to_vec(),
        one => vec![one],
    };
    let group = (tasks - canaries.min(tasks)) / chosen.len().max(1) as u32;
    if canaries < LEAST || (!chosen.is_empty() && group < LEAST) {
        return Err(request.mistake(format_args!(
            "{canaries} of {tasks} tasks are canaries; they, and each kind of congestor, must be {LEAST} at least"
        )));
    }
    let iterations = request.count("iterations").unwrap_or(100);
    let size = request.bytes("size").unwrap_or(if canary == "bandwidth" { 128 * 1024 } else { SMALL });
    let block = request.bytes("block").unwrap_or(4096);
    let warmup = request.seconds("warmup").unwrap_or(100e-6);
    let mut rng = request.rng(1);
    let ranks: Vec<u32> = (0..canaries).collect();
    let (n, folding) = (u128::from(canaries), Folding::new(&ranks));
    let each = if canary == "allreduce" { folding.steps() + folding.folded() } else { 2 * n };
    let loads = chosen.iter().map(|name| match *name {
        "alltoall" => u128::from(group) * u128::from(group - 1),
        _ => 2 * u128::from(group),
    });
    let messages = each * u128::from(iterations) + loads.sum::<u128>();
    let mut builder = Builder::new(request, tasks, messages)?;
    let mut ring: Vec<u32> = (0..canaries).collect();
    rng.shuffle(&mut ring);
    (0..canaries).for_each(|task| builder.compute(task, warmup));
    for _ in 0..iterations {
        if canary == "allreduce" {
            folding.allreduce(&mut builder, &[Span { start: 0, bytes: size }]);
            continue;
        }
        let pairs = (0..ring.len()).map(|place| (ring[place], ring[(place + 1) % ring.len()]));
        builder.exchange(pairs.flat_map(|(a, b)| [(a, b, size), (b, a, size)]));
    }
    builder.rounds(iterations);
    builder.endless_from(canaries);
    for (place, name) in (0..).zip(chosen) {
        let first = canaries + place * group;
        let group: Vec<u32> = (first..first + group).collect();
        congest(&mut builder, name, &group, block, &mut rng);
    }
    Ok(builder.build())
}

/// One round of what a congestor does; every task of the group waits for something in it.
fn congest(builder: &mut Builder, name: &str, group: &[u32], block: u64, rng: &mut Rng) {
    let (root, others) = (group[0], &group[1..]);
    match name {
        "alltoall" => all_to_all(builder, group, block),
        "incast" | "broadcast" => {
            let (there, back) = if name == "incast" { (block, SMALL) } else { (SMALL, block) };
            let sent: Vec<u32> = others.iter().map(|task| builder.send(*task, root, there)).collect();
            for (task, message) in others.iter().zip(sent) {
                builder.receive(message);
                let answer = builder.send(root, *task, back);
                builder.receive(answer);
            }
        }
        _ => {
            // A random order, each task to the next one: none sends to itself.
            let mut order = group.to_vec();
            rng.shuffle(&mut order);
            let pair = |place: usize| (order[place], order[(place + 1) % order.len()]);
            builder.exchange((0..order.len()).map(pair).map(|(from, to)| (from, to, block)));
            builder.exchange((0..order.len()).map(pair).map(|(from, to)| (to, from, SMALL)));
        }
    }
}
