//! `training`: one step of training a transformer, with its model, its parallelism and its schedule.
//!
//! Ranks are numbered tensor first, then context, then data, then pipeline. A stage of the pipeline does its passes one forward,
//! one backward, and hands activations to the next stage, each rank its part. In a layer, tensor ranks add up the output of
//! attention and of the MLP; tokens go to the ranks of their experts and back. Gradients are reduced while earlier layers are
//! still at work on the last microbatch.

mod collectives;
mod model;
mod plan;
mod schedule;
mod step;

use self::plan::Plan;
use super::registry::AppInfo;
use super::request::Request;
use super::{StepFacts, Workload};
use crate::catalogue::{Key, Kind};
use crate::error::Result;

pub(super) const INFO: AppInfo = AppInfo {
    name: "training",
    summary: "one training step of a transformer: a preset or a custom model, and its parallelism",
    keys: &[
        Key::new(
            "preset",
            Kind::Choice(model::NAMES),
            "a model as published, else layers, hidden and so on (default none)",
        ),
        Key::new("data", Kind::count(1), "data parallel replicas (default: what terminals are left)"),
        Key::new("tensor", Kind::count(1), "ranks that share a layer (default 1; of presets their own, within a host)"),
        Key::new("pipeline", Kind::count(1), "stages (default 1; of presets their own)"),
        Key::new("context", Kind::count(1), "ranks that share a sequence (default 1)"),
        Key::new(
            "expert",
            Kind::count(1),
            "data ranks that share a layer's experts; divides data (default 1; of presets their own)",
        ),
        Key::new(
            "sequence-parallel",
            Kind::Flag,
            "tensor ranks reduce-scatter and gather what they add up (default false)",
        ),
        Key::new("zero", Kind::Int(0, 3), "stage of ZeRO: 3 is FSDP (default 0; of presets 1)"),
        Key::new("interleave", Kind::count(1), "chunks of layers of a stage (default 1: 1F1B; more: interleaved)"),
        Key::new(
            "order",
            Kind::Text("the letters t, c, d and p"),
            "what varies fastest in ranks, and so on (default tcdp)",
        ),
        Key::new(
            "microbatches",
            Kind::count(1),
            "of a replica in the step (default: twice the stages; of presets as published)",
        ),
        Key::new("global-batch", Kind::count(1), "sequences of the step, instead of microbatches"),
        Key::new("batch", Kind::count(1), "sequences of a microbatch (default 1)"),
        Key::new("layers", Kind::count(1), "layers of all stages together (default: one per chunk)"),
        Key::new("sequence", Kind::count(1), "tokens of a sequence (default 2048)"),
        Key::new("hidden", Kind::count(1), "numbers of a token (default 4096)"),
        Key::new("vocabulary", Kind::count(0), "words, of embeddings (default 0: none)"),
        Key::new("experts", Kind::Int(1, 1 << 16), "experts of a layer (default: as many as expert)"),
        Key::new("top", Kind::count(1), "experts of a token (default 2)"),
        Key::new("imbalance", Kind::Real(1.0, 1e9), "load of the busiest rank with experts, over the mean (default 1)"),
        Key::new(
            "recompute",
            Kind::Choice(&["none", "selective", "full"]),
            "what a pass back computes again (default none)",
        ),
        Key::new("bucket", Kind::Bytes, "the smallest message of gradients in bytes, in whole layers (default 25MiB)"),
        Key::new("overlap", Kind::Flag, "gradients and weights move while ranks compute (default true)"),
        Key::new(
            "algorithm",
            Kind::Choice(&["ring", "recursive-doubling", "halving-doubling", "direct"]),
            "of collectives (default ring)",
        ),
        Key::new(
            "pipelined",
            Kind::Flag,
            "data goes in small pieces, so that all steps of a collective overlap (default true)",
        ),
        Key::new("step-latency", Kind::Time("3us"), "of each step of a collective, beside its bytes (default 0s)"),
        Key::new("bytes", Kind::Int(1, 8), "of a number (default 2)"),
        Key::new(
            "peak",
            Kind::Above(1e9),
            "10^12 operations per second of a rank at most (default 989: an H100 in BF16)",
        ),
        Key::new(
            "tflops",
            Kind::Above(1e9),
            "10^12 operations per second of a rank that computes (default 60 % of peak)",
        ),
    ],
    argument: None,
    build,
};

fn build(request: &Request) -> Result<Workload> {
    let plan = Plan::read(request)?;
    let built = step::build(request, &plan)?;
    let facts = StepFacts {
        shape: plan.shape(),
        source: plan.preset.map(|preset| preset.source.to_owned()),
        tokens: plan.tokens_of_step(),
        flops: plan.tokens_of_step() * plan.model.flops(),
        tflops: plan.tflops,
        peak_tflops: plan.peak_tflops,
        state_bytes: plan.state_bytes(),
    };
    Ok(Workload { step: Some(facts), notes: plan.notes(request), ..built })
}
