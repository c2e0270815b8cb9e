//! A step as it is asked for: the model, how it is spread over ranks, and how they work.

use std::ops::Range;

use super::model::{Model, PRESETS, Preset};
use super::schedule;
use crate::error::{Error, Result};
use crate::workload::request::Request;

/// What a pass back computes again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recompute {
    Nothing,
    /// Scores of attention.
    Selective,
    /// The whole pass forward, with what it sends within the stage.
    Full,
}

/// A step.
#[derive(Debug)]
pub struct Plan {
    pub preset: Option<&'static Preset>,
    pub model: Model,
    pub tensor: u32,
    pub context: u32,
    pub data: u32,
    pub pipeline: u32,
    pub expert: u32,
    /// Chunks of layers of a stage.
    pub interleave: u32,
    pub microbatches: u32,
    /// Sequences of a microbatch.
    pub batch: u32,
    /// Bytes of a number.
    pub bytes: u32,
    pub zero: u32,
    /// Bytes of gradients that are reduced together at least.
    pub bucket: u64,
    pub overlap: bool,
    pub recompute: Recompute,
    pub sequence_parallel: bool,
    /// The load of the busiest rank among those that share experts, in parts of the mean.
    pub imbalance: f64,
    /// Which of tensor, context, data and pipeline varies fastest in ranks, and so on.
    order: [usize; 4],
    pub algorithm: &'static str,
    pub pipelined: bool,
    pub step_latency_s: f64,
    /// 10^12 operations per second while a rank computes.
    pub tflops: f64,
    /// The same at most.
    pub peak_tflops: f64,
}

/// 10^12 operations a second of an NVIDIA H100 SXM in BF16, without sparsity.
const PEAK: f64 = 989.0;
/// The part of that which matrix products reach.
const EFFICIENCY: f64 = 0.6;
/// Bytes of gradients that are reduced together at least: those of PyTorch's DDP.
const BUCKET: u64 = 25 << 20;

/// Numbers of a token at most, so that weights can be counted.
const MOST_HIDDEN: u32 = 1 << 20;

/// How many ranks share what.
struct Degrees {
    tensor: u32,
    context: u32,
    data: u32,
    pipeline: u32,
    expert: u32,
}

impl Plan {
    pub fn read(request: &Request) -> Result<Self> {
        let preset = PRESETS.iter().find(|preset| preset.name == request.choice("preset"));
        let mut model = match preset {
            Some(preset) => resized(request, preset)?,
            None => own_model(request)?,
        };
        let Degrees { tensor, context, data, pipeline, expert } = degrees(request, preset, &model)?;
        if preset.is_none() {
            model.experts = request.count("experts").unwrap_or(expert);
            model.top = if model.experts > 1 { request.count("top").unwrap_or(2) } else { 1 };
            model.dense_layers = if model.experts > 1 { 0 } else { model.layers };
        }
        let batch = request.count("batch").unwrap_or(1);
        let peak_tflops = request.real("peak").unwrap_or(PEAK);
        let plan = Self {
            preset,
            model,
            tensor,
            context,
            data,
            pipeline,
            expert,
            interleave: request.count("interleave").unwrap_or(1),
            microbatches: microbatches(request, &model, [data, pipeline, batch])?,
            batch,
            bytes: request.count("bytes").unwrap_or(2),
            zero: request.count("zero").unwrap_or(u32::from(preset.is_some())),
            bucket: request.bytes("bucket").unwrap_or(BUCKET),
            overlap: request.text("overlap") != Some("false"),
            recompute: match request.choice("recompute") {
                "selective" => Recompute::Selective,
                "full" => Recompute::Full,
                _ => Recompute::Nothing,
            },
            sequence_parallel: request.flag("sequence-parallel"),
            imbalance: request.real("imbalance").unwrap_or(1.0),
            order: order(request)?,
            algorithm: request.choice("algorithm"),
            pipelined: request.text("pipelined") != Some("false"),
            step_latency_s: request.seconds("step-latency").unwrap_or(0.0),
            tflops: request.real("tflops").unwrap_or(EFFICIENCY * peak_tflops),
            peak_tflops,
        };
        plan.check(request)?;
        Ok(plan)
    }

    /// Rejects what does not go together.
    fn check(&self, request: &Request) -> Result<()> {
        let Self { model, data, expert, pipeline, interleave, microbatches, context, .. } = self;
        let (experts, top) = (model.experts, model.top);
        let wrong = if data % expert > 0 {
            format!("expert is {expert}; it must divide data, {data}")
        } else if experts % expert > 0 {
            format!("expert is {expert}; it must divide the {experts} experts of a layer")
        } else if top > experts {
            format!("top is {top}; there are {experts} experts")
        } else if u64::from(model.layers) < u64::from(*pipeline) * u64::from(*interleave) {
            let chunks = u64::from(*pipeline) * u64::from(*interleave);
            format!("{} layers do not fill {chunks} chunks of the pipeline; each needs one at least", model.layers)
        } else if *interleave > 1 && *pipeline == 1 {
            format!("interleave is {interleave}, but there is one stage; give pipeline=2 or more")
        } else if *interleave > 1 && microbatches % pipeline > 0 {
            format!("interleaved stages take microbatches in rounds of {pipeline}; microbatches is {microbatches}")
        } else if model.sequence % u64::from(*context) > 0 {
            format!("context is {context}; it must divide the sequence of {} tokens", model.sequence)
        } else if self.imbalance < 1.0 || self.imbalance > f64::from(*expert) {
            format!("imbalance is {}; it must be from 1 to the {expert} ranks that share experts", self.imbalance)
        } else if self.tflops > self.peak_tflops {
            format!("tflops is {}, more than peak, {}", self.tflops, self.peak_tflops)
        } else {
            return Ok(());
        };
        Err(request.mistake(wrong))
    }

    /// Rejects what ids cannot name before anything is gone through.
    pub fn check_size(&self, request: &Request) -> Result<()> {
        let ranks = u128::from(self.ranks());
        let computations =
            2 * 2 * u128::from(self.model.layers) * u128::from(self.microbatches) * ranks / u128::from(self.pipeline);
        if computations > 1 << 30 {
            return Err(Error::TooLarge(format!(
                "{}: {ranks} ranks compute {computations} times; at most 2^30 are possible",
                request.spec()
            )));
        }
        let largest = self.activation_bytes().max(self.context_bytes()).max(self.routed_bytes() as u64);
        let weights = (0..self.model.layers).flat_map(|layer| self.weight_bytes(layer, 2)).map(u128::from);
        if u128::from(largest).max(weights.sum()) > 1 << 62 {
            return Err(request.mistake("the numbers of a layer do not fit into 2^62 bytes"));
        }
        Ok(())
    }

    /// What users should know.
    pub fn notes(&self, request: &Request) -> Vec<String> {
        let mut notes = Vec::new();
        let idle = request.terminals() - self.ranks();
        if !request.has("data") && idle > 0 {
            notes.push(format!("{}: {} ranks take part; {idle} stay idle", request.spec(), self.ranks()));
        }
        if let Some(host) = request.hosts().map(|hosts| hosts.terminals)
            && self.order[0] == 0
            && host % self.tensor > 0
        {
            notes.push(format!("{}: {} tensor ranks span hosts of {host}", request.spec(), self.tensor));
        }
        notes
    }

    pub fn ranks(&self) -> u32 {
        self.width() * self.pipeline
    }

    /// Ranks of a stage.
    pub fn width(&self) -> u32 {
        self.tensor * self.context * self.data
    }

    /// Chunks of all stages.
    pub fn chunks(&self) -> u32 {
        self.pipeline * self.interleave
    }

    /// The rank with these positions in tensor, context, data and pipeline.
    pub fn rank(&self, places: [u32; 4]) -> u32 {
        let sizes = [self.tensor, self.context, self.data, self.pipeline];
        self.order.iter().rev().fold(0, |rank, &which| rank * sizes[which] + places[which])
    }

    /// The ranks of a stage: tensor first, then context, then data.
    pub fn ranks_of(&self, stage: u32) -> Vec<u32> {
        let place = |at: u32| {
            let above = at / self.tensor;
            [at % self.tensor, above % self.context, above / self.context, stage]
        };
        (0..self.width()).map(|at| self.rank(place(at))).collect()
    }

    /// The layers of a chunk, counted through all stages.
    pub fn layers_of(&self, chunk: u32) -> Range<u32> {
        schedule::layers_of(chunk, self.chunks(), self.model.layers)
    }

    /// Tokens of a microbatch that a rank deals with.
    fn tokens(&self) -> f64 {
        f64::from(self.batch) * self.model.sequence as f64 / f64::from(self.context)
    }

    /// Bytes of this many numbers of each token of a rank.
    fn of_tokens(&self, numbers: u64) -> u64 {
        (self.tokens() * numbers as f64 * f64::from(self.bytes)) as u64
    }

    /// Bytes of the activations of a microbatch, of all tensor ranks together.
    pub fn activation_bytes(&self) -> u64 {
        self.of_tokens(self.model.hidden)
    }

    /// The part of these that a rank hands to the next stage.
    pub fn handed_bytes(&self) -> u64 {
        (self.activation_bytes() / u64::from(self.tensor)).max(1)
    }

    /// Bytes of the keys and values of a microbatch, of all context ranks together, of a tensor rank.
    pub fn context_bytes(&self) -> u64 {
        self.of_tokens(self.model.keys_values) / u64::from(self.tensor) * u64::from(self.context)
    }

    /// Bytes of a microbatch that go from a rank to each of those that share experts, in the mean: of its part of the rows, each
    /// `top` times.
    pub fn routed_bytes(&self) -> f64 {
        self.activation_bytes() as f64 * f64::from(self.model.top) / f64::from(self.expert) / f64::from(self.tensor)
    }

    /// Bytes of a rank's part of the weights of a layer, with this many embeddings: those that all data ranks have, and experts'.
    pub fn weight_bytes(&self, layer: u32, embeddings: u64) -> [u64; 2] {
        let common = self.model.common(layer) + embeddings * self.model.embeddings();
        let experts = self.model.of_experts(layer) / u64::from(self.expert);
        [common, experts].map(|weights| weights * u64::from(self.bytes) / u64::from(self.tensor))
    }

    fn seconds(&self, flops_of_token: f64) -> f64 {
        self.tokens() * flops_of_token / f64::from(self.tensor) / (self.tflops * 1e12)
    }

    /// Seconds of the attention of a layer, forward.
    pub fn attention_seconds(&self) -> f64 {
        self.seconds(self.model.attention_flops())
    }

    /// The same backward, with what is computed again of it.
    pub fn attention_backward_seconds(&self) -> f64 {
        let again = if self.recompute == Recompute::Selective { self.model.score_flops() } else { 0.0 };
        self.seconds(2.0 * self.model.attention_flops() + again)
    }

    /// Seconds of the MLP of a layer, forward, of the rank at this place among those that share experts.
    pub fn mlp_seconds(&self, layer: u32, place: u32) -> f64 {
        let load = match place {
            0 => self.imbalance,
            _ => (f64::from(self.expert) - self.imbalance) / f64::from(self.expert - 1),
        };
        self.seconds(self.model.mlp_flops(layer, load))
    }

    /// Seconds of the last embeddings, forward.
    pub fn head_seconds(&self) -> f64 {
        self.seconds(self.model.head_flops())
    }

    /// Tokens of a step.
    pub fn tokens_of_step(&self) -> f64 {
        f64::from(self.data) * f64::from(self.microbatches) * f64::from(self.batch) * self.model.sequence as f64
    }

    /// Bytes of weights, gradients and the optimizer's numbers of the rank that has most of them: 2, 4 and 12 for each weight, with
    /// what is dealt out to data ranks.
    pub fn state_bytes(&self) -> f64 {
        let parts = |zero: u32, ranks: u32| if self.zero >= zero { f64::from(ranks) } else { 1.0 };
        let of = |ranks: u32| 12.0 / parts(1, ranks) + 4.0 / parts(2, ranks) + 2.0 / parts(3, ranks);
        let data = self.data * self.context;
        let each = [of(data), of(data / self.expert)];
        let stage = |stage: u32| {
            let chunks = (0..self.interleave).map(|own| own * self.pipeline + stage);
            let layers = chunks.flat_map(|chunk| self.layers_of(chunk));
            layers.fold(0.0, |sum, layer| {
                let ends = u64::from(layer == 0) + u64::from(layer + 1 == self.model.layers);
                let bytes = self.weight_bytes(layer, ends).map(|bytes| bytes as f64 / f64::from(self.bytes));
                sum + bytes[0] * each[0] + bytes[1] * each[1]
            })
        };
        (0..self.pipeline).map(stage).fold(0.0, f64::max)
    }

    /// How it is spread, as users write it.
    pub fn shape(&self) -> String {
        let all = [
            ("tensor", self.tensor, 0),
            ("context", self.context, 1),
            ("pipeline", self.pipeline, 0),
            ("interleave", self.interleave, 1),
            ("data", self.data, 0),
            ("expert", self.expert, 1),
            ("zero", self.zero, 0),
            ("microbatches", self.microbatches, 0),
            ("batch", self.batch, 0),
        ];
        let told = all.iter().filter(|(_, value, silent)| value > silent || *silent == 0);
        told.map(|(name, value, _)| format!("{name}={value}")).collect::<Vec<_>>().join(",")
    }
}

/// A preset with what users may change of it.
fn resized(request: &Request, preset: &Preset) -> Result<Model> {
    if let Some(key) = ["hidden", "experts", "top", "vocabulary"].into_iter().find(|key| request.has(key)) {
        return Err(request.mistake(format_args!("{key} is that of preset {}; leave one of them out", preset.name)));
    }
    let layers = request.count("layers").unwrap_or(preset.model.layers);
    let sequence = request.count("sequence").map_or(preset.model.sequence, u64::from);
    let dense_layers = if preset.model.experts > 1 { preset.model.dense_layers } else { layers };
    Ok(Model { layers, sequence, dense_layers, ..preset.model })
}

/// A model of the user's own; its experts are known once it is known how many ranks share them.
fn own_model(request: &Request) -> Result<Model> {
    let number = |key: &str, default: u32| request.count(key).unwrap_or(default);
    let chunks = number("pipeline", 1).saturating_mul(number("interleave", 1));
    let (layers, hidden) = (number("layers", chunks), number("hidden", 4096));
    if hidden > MOST_HIDDEN {
        return Err(request.mistake(format_args!("hidden is {hidden}; at most {MOST_HIDDEN} is possible")));
    }
    let model = Model::gpt(layers, hidden.into(), number("sequence", 2048).into());
    Ok(Model { vocabulary: number("vocabulary", 0).into(), ..model })
}

/// How many ranks share what, as users set it, else as fits their number.
fn degrees(request: &Request, preset: Option<&Preset>, model: &Model) -> Result<Degrees> {
    let (given, context) = (|key: &str| request.count(key), request.count("context").unwrap_or(1));
    let room = request.terminals();
    let wanted = preset.map_or([1; 3], |preset| [preset.tensor, preset.pipeline, preset.expert]);
    let host = request.hosts().map_or(wanted[0], |hosts| hosts.terminals);
    let shared = |tensor: u32, pipeline: u32| u128::from(tensor) * u128::from(pipeline) * u128::from(context);
    let tensor = given("tensor").unwrap_or_else(|| {
        let fits = |tensor: &u32| {
            host.is_multiple_of(*tensor) && shared(*tensor, given("pipeline").unwrap_or(1)) <= room.into()
        };
        (1..=wanted[0]).rev().find(fits).unwrap_or(1)
    });
    let pipeline = given("pipeline").unwrap_or_else(|| {
        let halves = std::iter::successors(Some(wanted[1].min(model.layers)), |stages| Some((stages / 2).max(1)));
        let fits = |stages: &u32| *stages == 1 || shared(tensor, *stages) <= room.into();
        halves.into_iter().find(fits).unwrap_or(1)
    });
    let each = shared(tensor, pipeline);
    let replicas = (u128::from(room) / each.max(1)) as u32;
    let expert = given("expert").unwrap_or_else(|| {
        let most = given("data").unwrap_or(replicas).min(wanted[2]);
        let divides =
            |expert: &u32| model.experts.is_multiple_of(*expert) && given("data").is_none_or(|data| data % expert == 0);
        (1..=most).rev().find(divides).unwrap_or(1)
    });
    // As many as fit, in whole groups of experts.
    let data = given("data").unwrap_or_else(|| {
        request.room();
        (replicas / expert * expert).max(1)
    });
    request.check_tasks(each * u128::from(data), "data x tensor x pipeline x context")?;
    Ok(Degrees { tensor, context, data, pipeline, expert })
}

/// The microbatches of a replica: those that are given, or that the sequences of a step make.
fn microbatches(request: &Request, model: &Model, [data, pipeline, batch]: [u32; 3]) -> Result<u32> {
    let (given, sequences) = (request.count("microbatches"), request.count("global-batch"));
    let together = u64::from(data) * u64::from(batch);
    match (given, sequences) {
        (Some(_), Some(_)) => Err(request.mistake("microbatches and global-batch are given; one follows from the other")),
        (Some(given), None) => Ok(given),
        (None, Some(sequences)) if u64::from(sequences) % together > 0 => Err(request.mistake(format_args!(
            "global-batch is {sequences} sequences; {data} replicas with microbatches of {batch} take multiples of {together}"
        ))),
        (None, Some(sequences)) => Ok((u64::from(sequences) / together) as u32),
        (None, None) => {
            let Some(tokens) = model.tokens else { return Ok(pipeline.saturating_mul(2)) };
            let round = u64::from(if request.count("interleave").unwrap_or(1) > 1 { pipeline } else { 1 });
            let each = tokens as f64 / (together as f64 * model.sequence as f64 * round as f64);
            Ok((each.round().max(1.0) as u64 * round) as u32)
        }
    }
}

/// In which order ranks are numbered.
fn order(request: &Request) -> Result<[usize; 4]> {
    let text = request.text("order").unwrap_or("tcdp");
    let places: Vec<usize> = text.chars().filter_map(|letter| "tcdp".find(letter)).collect();
    let mut sorted = places.clone();
    sorted.sort_unstable();
    match <[usize; 4]>::try_from(places) {
        Ok(order) if sorted == [0, 1, 2, 3] && text.len() == 4 => Ok(order),
        _ => {
            Err(request.mistake(format_args!("order is '{text}'; it must be the letters t, c, d and p in some order")))
        }
    }
}
