//! `training`: one step of training a transformer with data, tensor, pipeline and expert parallelism.
//!
//! Ranks are numbered tensor first, then data, then pipeline (Narayanan et al., 2021). A stage of the pipeline runs its
//! microbatches one forward, one backward (1F1B), and hands activations of batch x sequence x hidden numbers to the next
//! stage, each tensor rank its part. A layer has two ring allreduces among its tensor ranks in each direction; with
//! experts, the rows of `top` experts go there and back in two all-to-alls among the `expert` data ranks that share them.
//! At the end gradients are reduced around a ring: of shared weights among all data ranks, of experts among those that
//! hold the same. A layer has 4 h² weights of attention and 8 h² of each expert, for a hidden size of h, and computes
//! twice as many operations as it has weights (and 4 h for each earlier token of attention) for each token, backwards
//! twice that.

use super::Workload;
use super::builder::Builder;
use super::collective::{all_to_all, ring};
use super::registry::AppInfo;
use super::request::Request;
use crate::catalogue::{Key, Kind};
use crate::error::Result;

pub(super) const INFO: AppInfo = AppInfo {
    name: "training",
    summary: "one training step of a transformer with data, tensor, pipeline and expert parallelism",
    keys: &[
        Key::new("data", Kind::count(1), "data parallel replicas (default: what terminals are left)"),
        Key::new("tensor", Kind::count(1), "ranks that share a layer (default 1)"),
        Key::new("pipeline", Kind::count(1), "stages (default 1)"),
        Key::new(
            "expert",
            Kind::count(1),
            "data ranks that share a layer's experts, one each; divides data (default 1: no experts)",
        ),
        Key::new("top", Kind::count(1), "experts of a token (default 2)"),
        Key::new("layers", Kind::count(1), "layers of all stages together (default: one a stage)"),
        Key::new("microbatches", Kind::count(1), "of a replica in the step (default: twice the stages)"),
        Key::new("batch", Kind::count(1), "sequences of a microbatch (default 1)"),
        Key::new("sequence", Kind::count(1), "tokens of a sequence (default 2048)"),
        Key::new("hidden", Kind::count(1), "numbers of a token (default 4096)"),
        Key::new("bytes", Kind::count(1), "of a number (default 2)"),
        Key::new("tflops", Kind::count(1), "10^12 operations a second of a rank (default 100)"),
    ],
    argument: None,
    build,
};

/// A step as it is asked for.
struct Step {
    data: u32,
    tensor: u32,
    pipeline: u32,
    expert: u32,
    /// Layers of a stage.
    layers: u32,
    microbatches: u32,
    /// Bytes of the activations of a microbatch.
    activations: u64,
    /// Bytes of the weights of attention, and of an expert or the layer's only one, of a rank's part of a layer.
    weights: [u64; 2],
    /// Bytes of a microbatch that go from an expert's rank to another one.
    routed: u64,
    /// Seconds of a layer's attention and experts, forward.
    compute: [f64; 2],
}

fn build(request: &Request) -> Result<Workload> {
    let step = read(request)?;
    let [d, t, p, e] = [step.data, step.tensor, step.pipeline, step.expert].map(u128::from);
    let (layers, batches) = (u128::from(step.layers), u128::from(step.microbatches));
    let passes = 4 * p * layers * batches;
    let rings = |n: u128| 2 * n * (n - 1);
    let gradients = if e > 1 { p * t * (rings(d) + e * rings(d / e)) } else { p * t * rings(d) };
    let exchanged = passes * (d * rings(t) + t * d * (e - 1));
    let handed = 2 * (p - 1) * batches * t * d;
    let tasks = (d * t * p) as u32;
    let mut builder = Builder::new(request, tasks, exchanged + handed + gradients)?;
    step.run(&mut builder);
    Ok(builder.build())
}

fn read(request: &Request) -> Result<Step> {
    let number = |key: &str, default: u32| request.count(key).unwrap_or(default);
    let (tensor, pipeline, expert) = (number("tensor", 1), number("pipeline", 1), number("expert", 1));
    let shared = u128::from(tensor) * u128::from(pipeline);
    let data = match request.count("data") {
        Some(data) => data,
        // As many as fit, in whole groups of experts.
        None => ((u128::from(request.room()) / shared) as u32 / expert * expert).max(1),
    };
    request.check_tasks(shared * u128::from(data), "data x tensor x pipeline")?;
    if data % expert != 0 {
        return Err(request.mistake(format_args!("expert is {expert}; it must divide data, {data}")));
    }
    let layers = number("layers", pipeline);
    if layers % pipeline != 0 {
        return Err(request.mistake(format_args!("{layers} layers do not divide among {pipeline} stages")));
    }
    let (hidden, sequence) = (number("hidden", 4096), number("sequence", 2048));
    let (batch, bytes, top) = (number("batch", 1), number("bytes", 2), number("top", 2));
    if top > expert && expert > 1 {
        return Err(request.mistake(format_args!("top is {top}; there are {expert} experts")));
    }
    let tflops = number("tflops", 100);
    let tokens = u128::from(batch) * u128::from(sequence);
    let activations = tokens * u128::from(hidden) * u128::from(bytes);
    let square = u128::from(hidden) * u128::from(hidden);
    let experts = if expert > 1 { u128::from(top) } else { 1 };
    let sizes = [
        activations,
        4 * square * u128::from(bytes) / u128::from(tensor),
        8 * square * u128::from(bytes) / u128::from(tensor),
    ];
    let stage = u128::from(layers / pipeline);
    if sizes.iter().any(|size| size * stage.max(experts) > u128::from(u64::MAX / 4)) {
        return Err(request.mistake("the numbers of a layer do not fit into 2^62 bytes"));
    }
    // Gradients of all of a stage's layers are reduced together.
    let smallest = [sizes[0] / u128::from(tensor.max(expert)), sizes[1] * stage / u128::from(data)];
    if smallest.contains(&0) {
        return Err(request.mistake("the layers are so small that messages would be empty"));
    }
    let flops = |weights: u128, more: u128| (tokens * (2 * weights + more)) as f64 / f64::from(tensor);
    let attention = flops(4 * square, 4 * u128::from(sequence) * u128::from(hidden));
    let speed = f64::from(tflops) * 1e12;
    Ok(Step {
        data,
        tensor,
        pipeline,
        expert,
        layers: layers / pipeline,
        microbatches: number("microbatches", 2 * pipeline),
        activations: activations as u64,
        weights: [sizes[1] as u64, sizes[2] as u64],
        routed: (activations * experts / u128::from(expert)) as u64,
        compute: [attention / speed, flops(8 * square * experts, 0) / speed],
    })
}

/// The messages between stages: their ids are consecutive for the ranks of a stage.
struct StageMessages {
    forward: Vec<Vec<u32>>,
    backward: Vec<Vec<u32>>,
}

impl Step {
    fn rank(&self, tensor: u32, data: u32, stage: u32) -> u32 {
        tensor + self.tensor * (data + self.data * stage)
    }

    /// Ranks of a stage.
    fn width(&self) -> u32 {
        self.tensor * self.data
    }

    fn run(&self, builder: &mut Builder) {
        let handed = self.hand(builder);
        for stage in 0..self.pipeline {
            let warm = (self.pipeline - 1 - stage).min(self.microbatches);
            (0..warm).for_each(|batch| self.forward(builder, stage, batch, &handed));
            for batch in warm..self.microbatches {
                self.forward(builder, stage, batch, &handed);
                self.backward(builder, stage, batch - warm, &handed);
            }
            (self.microbatches - warm..self.microbatches)
                .for_each(|batch| self.backward(builder, stage, batch, &handed));
            self.reduce(builder, stage);
        }
    }

    /// Announces all messages between stages, by the lower stage and the microbatch.
    fn hand(&self, builder: &mut Builder) -> StageMessages {
        let bytes = self.activations / u64::from(self.tensor);
        let width = self.width();
        let mut all = |back: bool| {
            (0..self.pipeline - 1)
                .map(|stage| {
                    let mut first = |_| {
                        let from = stage * width;
                        let ids = (from..from + width).map(|rank| {
                            let (source, target) = if back { (rank + width, rank) } else { (rank, rank + width) };
                            builder.message(source, target, bytes)
                        });
                        ids.min().unwrap_or(0)
                    };
                    (0..self.microbatches).map(&mut first).collect()
                })
                .collect()
        };
        StageMessages { forward: all(false), backward: all(true) }
    }

    fn forward(&self, builder: &mut Builder, stage: u32, batch: u32, handed: &StageMessages) {
        let ids = |stage: u32| {
            let first = handed.forward[stage as usize][batch as usize];
            first..first + self.width()
        };
        if stage > 0 {
            ids(stage - 1).for_each(|message| builder.receive(message));
        }
        (0..self.layers).for_each(|_| self.layer(builder, stage, 1.0));
        if stage + 1 < self.pipeline {
            ids(stage).for_each(|message| builder.hand_over(message));
        }
    }

    fn backward(&self, builder: &mut Builder, stage: u32, batch: u32, handed: &StageMessages) {
        let ids = |stage: u32| {
            let first = handed.backward[stage as usize][batch as usize];
            first..first + self.width()
        };
        if stage + 1 < self.pipeline {
            ids(stage).for_each(|message| builder.receive(message));
        }
        (0..self.layers).for_each(|_| self.layer(builder, stage, 2.0));
        if stage > 0 {
            ids(stage - 1).for_each(|message| builder.hand_over(message));
        }
    }

    /// One layer in one direction, which takes `factor` times the operations of the forward one.
    fn layer(&self, builder: &mut Builder, stage: u32, factor: f64) {
        let ranks = self.rank(0, 0, stage)..self.rank(0, 0, stage + 1);
        ranks.clone().for_each(|rank| builder.compute(rank, factor * self.compute[0]));
        self.share(builder, stage);
        self.route(builder, stage);
        ranks.for_each(|rank| builder.compute(rank, factor * self.compute[1]));
        self.route(builder, stage);
        self.share(builder, stage);
    }

    /// Tensor ranks add up what each has of a layer's output.
    fn share(&self, builder: &mut Builder, stage: u32) {
        for data in 0..self.data {
            let group: Vec<u32> = (0..self.tensor).map(|tensor| self.rank(tensor, data, stage)).collect();
            ring(builder, &group, self.activations);
        }
    }

    /// Tokens go to the ranks of their experts, or back.
    fn route(&self, builder: &mut Builder, stage: u32) {
        for first in (0..self.data).step_by(self.expert as usize) {
            for tensor in 0..self.tensor {
                let group: Vec<u32> = (first..first + self.expert).map(|data| self.rank(tensor, data, stage)).collect();
                all_to_all(builder, &group, self.routed);
            }
        }
    }

    /// Data ranks add up the gradients of what they share.
    fn reduce(&self, builder: &mut Builder, stage: u32) {
        let [attention, expert] = self.weights.map(|bytes| bytes * u64::from(self.layers));
        let all = if self.expert > 1 { attention } else { attention + expert };
        for tensor in 0..self.tensor {
            let group: Vec<u32> = (0..self.data).map(|data| self.rank(tensor, data, stage)).collect();
            ring(builder, &group, all);
            if self.expert == 1 {
                continue;
            }
            for place in 0..self.expert {
                let same: Vec<u32> = group.iter().skip(place as usize).step_by(self.expert as usize).copied().collect();
                ring(builder, &same, expert);
            }
        }
    }
}
