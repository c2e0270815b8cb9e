//! A training step as operations: what each rank computes and sends, and what waits for what.
//!
//! A rank does its passes one after the other, on one processor. Gradients are reduced, and weights gathered, beside
//! that, one collective after the other of each kind.

use std::rc::Rc;

use super::collectives::{Pattern, Patterns};
use super::plan::{Plan, Recompute};
use super::schedule::{Pass, order};
use crate::error::Result;
use crate::workload::builder::guard;
use crate::workload::calls::Call;
use crate::workload::collective::Collective;
use crate::workload::graph::GraphBuilder;
use crate::workload::labels::{Label, Labels, Purpose};
use crate::workload::request::Request;
use crate::workload::{Op, Workload};

/// Builds the step of a plan.
pub fn build(request: &Request, plan: &Plan) -> Result<Workload> {
    plan.check_size(request)?;
    let mut counting = Making::new(request, plan, true);
    counting.run()?;
    guard(request.spec(), plan.ranks().into(), counting.messages)?;
    let mut making = Making::new(request, plan, false);
    making.run()?;
    let Making { graph, mut labels, .. } = making;
    labels.shown = (0..plan.pipeline).map(|stage| plan.rank([0, 0, 0, stage])).collect();
    let built = graph.build(request.spec(), plan.ranks(), |op| format!("operation {op}"))?;
    Ok(Workload { labels: Some(labels), ..built })
}

/// The ranks of a stage that work together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Among {
    Tensor,
    Context,
    Expert,
    /// Those with the same part of all weights but experts'.
    Data,
    /// Those with the same experts.
    SameExperts,
}

/// Streams of operations that a rank runs side by side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stream {
    Main,
    Gather,
    Reduce,
}

/// Layers of a chunk whose gradients are reduced together, with the bytes of their weights in a rank: shared ones,
/// experts'.
struct Bucket {
    layers: std::ops::Range<u32>,
    bytes: [u64; 2],
}

/// What the next operation of each rank waits for.
type Fronts = Vec<Vec<u32>>;

struct Making<'a> {
    plan: &'a Plan,
    patterns: Patterns<'a>,
    graph: GraphBuilder,
    labels: Labels,
    /// Messages are counted, and nothing is made.
    counting: bool,
    /// Collectives stay calls.
    keeps_calls: bool,
    messages: u128,
    /// By [`Stream`].
    fronts: [Fronts; 3],
    /// What the gathering of weights waits for: the beginning of the layers before.
    gate: Fronts,
    /// By chunk of the stage and bucket, what computing waits for: the weights of a bucket, gathered.
    gathered: Vec<Vec<Fronts>>,
    /// First messages between chunks, by the lower chunk and the microbatch: forward, backward.
    handed: [Vec<Vec<u32>>; 2],
    /// Ranks of the stage at hand that work together, by [`Among`].
    groups: [Vec<Vec<u32>>; 5],
    stage: u32,
    pass: Pass,
    /// What computing may have waited for.
    waits: u16,
}

impl<'a> Making<'a> {
    fn new(request: &Request<'a>, plan: &'a Plan, counting: bool) -> Self {
        let none = || vec![Vec::new(); plan.ranks() as usize];
        Self {
            plan,
            patterns: Patterns::new(request.spec(), plan.algorithm, plan.pipelined),
            graph: GraphBuilder::default(),
            labels: Labels::default(),
            counting,
            keeps_calls: request.keeps_calls(),
            messages: 0,
            fronts: [none(), none(), none()],
            gate: none(),
            gathered: Vec::new(),
            handed: [Vec::new(), Vec::new()],
            groups: Default::default(),
            stage: 0,
            pass: Pass { backward: false, chunk: 0, microbatch: 0 },
            waits: 0,
        }
    }

    fn run(&mut self) -> Result<()> {
        self.announce();
        for stage in 0..self.plan.pipeline {
            self.stage = stage;
            self.groups = self.groups_of_stage();
            self.stage()?;
        }
        Ok(())
    }

    /// All messages between chunks.
    fn announce(&mut self) {
        let plan = self.plan;
        let boundaries = (plan.chunks() - 1) * u32::from(plan.pipeline > 1);
        self.messages += 2 * u128::from(boundaries) * u128::from(plan.microbatches) * u128::from(plan.width());
        if self.counting {
            return;
        }
        for backward in [false, true] {
            for chunk in 0..boundaries {
                let first = |microbatch: u32| {
                    let (purpose, first) = (Some(Purpose::PipelineSendRecv), self.graph.num_messages());
                    self.labels.of_messages_from(first, Label { purpose, waits: 0, backward, chunk, microbatch });
                    let ends = [chunk, chunk + 1].map(|chunk| plan.ranks_of(chunk % plan.pipeline));
                    for (lower, upper) in ends[0].iter().zip(&ends[1]) {
                        let (from, to) = if backward { (upper, lower) } else { (lower, upper) };
                        self.graph.message(*from, *to, plan.handed_bytes());
                    }
                    first
                };
                self.handed[usize::from(backward)].push((0..plan.microbatches).map(first).collect());
            }
        }
    }

    fn groups_of_stage(&self) -> [Vec<Vec<u32>>; 5] {
        let (plan, stage) = (self.plan, self.stage);
        let (tensors, contexts, datas) = (0..plan.tensor, 0..plan.context, 0..plan.data);
        let rank = |t: u32, c: u32, d: u32| plan.rank([t, c, d, stage]);
        let mut groups: [Vec<Vec<u32>>; 5] = Default::default();
        for d in datas.clone() {
            for c in contexts.clone() {
                groups[Among::Tensor as usize].push(tensors.clone().map(|t| rank(t, c, d)).collect());
            }
            for t in tensors.clone() {
                groups[Among::Context as usize].push(contexts.clone().map(|c| rank(t, c, d)).collect());
            }
        }
        for t in tensors {
            for c in contexts.clone() {
                for first in datas.clone().step_by(plan.expert as usize) {
                    groups[Among::Expert as usize].push((first..first + plan.expert).map(|d| rank(t, c, d)).collect());
                }
            }
            let all = |first: u32, step: u32| {
                let datas = (first..plan.data).step_by(step as usize);
                datas.flat_map(|d| (0..plan.context).map(move |c| rank(t, c, d))).collect::<Vec<u32>>()
            };
            groups[Among::Data as usize].push(all(0, 1));
            groups[Among::SameExperts as usize].extend((0..plan.expert).map(|place| all(place, plan.expert)));
        }
        groups
    }

    /// The passes of a stage.
    fn stage(&mut self) -> Result<()> {
        let plan = self.plan;
        let ranks = plan.ranks() as usize;
        self.gathered =
            (0..plan.interleave).map(|own| vec![vec![Vec::new(); ranks]; self.buckets(own).len()]).collect();
        if plan.zero > 0 && plan.zero < 3 {
            self.gather_all()?;
        }
        for pass in order(self.stage, plan.pipeline, plan.interleave, plan.microbatches) {
            self.pass = pass;
            self.receive();
            if pass.backward {
                self.backward()?
            } else {
                self.forward()?
            }
            self.hand_over();
        }
        Ok(())
    }

    /// The chunk of the pass at hand, counted through all stages.
    fn chunk(&self) -> u32 {
        self.pass.chunk * self.plan.pipeline + self.stage
    }

    /// The buckets of a chunk of this stage.
    fn buckets(&self, own: u32) -> Vec<Bucket> {
        let plan = self.plan;
        let chunk = own * plan.pipeline + self.stage;
        let layers = plan.layers_of(chunk);
        let mut buckets: Vec<Bucket> = Vec::new();
        for layer in layers.clone() {
            let ends = u64::from(layer == 0) + u64::from(layer + 1 == plan.model.layers);
            let bytes = plan.weight_bytes(layer, ends);
            match buckets.last_mut().filter(|last| last.bytes.iter().sum::<u64>() < plan.bucket) {
                Some(last) => {
                    last.layers.end = layer + 1;
                    last.bytes = [last.bytes[0] + bytes[0], last.bytes[1] + bytes[1]];
                }
                None => buckets.push(Bucket { layers: layer..layer + 1, bytes }),
            }
        }
        buckets
    }

    /// The weights that other ranks have brought up to date are gathered, bucket by bucket, from the start on.
    fn gather_all(&mut self) -> Result<()> {
        for own in 0..self.plan.interleave {
            self.pass = Pass { backward: false, chunk: own, microbatch: 0 };
            for (place, bucket) in self.buckets(own).iter().enumerate() {
                self.gather(bucket)?;
                self.gathered[own as usize][place].clone_from(&self.fronts[Stream::Gather as usize]);
            }
        }
        Ok(())
    }

    fn gather(&mut self, bucket: &Bucket) -> Result<()> {
        let (what, purpose) = (Collective::AllGather, Purpose::DataAllGather);
        for (among, bytes) in [Among::Data, Among::SameExperts].into_iter().zip(bucket.bytes) {
            self.collective(Stream::Gather, purpose, what, among, bytes)?;
        }
        Ok(())
    }

    fn reduce(&mut self, bucket: &Bucket) -> Result<()> {
        let (what, purpose) = match self.plan.zero {
            0 => (Collective::Allreduce, Purpose::DataAllreduce),
            _ => (Collective::ReduceScatter, Purpose::DataReduceScatter),
        };
        for (among, bytes) in [Among::Data, Among::SameExperts].into_iter().zip(bucket.bytes) {
            self.collective(Stream::Reduce, purpose, what, among, bytes)?;
        }
        Ok(())
    }

    /// Layers can begin once their weights are there.
    fn await_weights(&mut self, place: usize, bucket: &Bucket) -> Result<()> {
        let plan = self.plan;
        let whole = plan.zero == 3;
        if whole {
            self.gather(bucket)?;
            // Those of the next layers are gathered while these compute.
            self.gate.clone_from(&self.fronts[Stream::Main as usize]);
        }
        let first = plan.zero > 0 && self.pass.microbatch == 0 && !self.pass.backward;
        if self.counting || !(whole || first) {
            return Ok(());
        }
        self.waits |= Purpose::DataAllGather.bit();
        for rank in plan.ranks_of(self.stage) {
            let rank = rank as usize;
            let ends = match whole {
                true => self.fronts[Stream::Gather as usize][rank].clone(),
                false => std::mem::take(&mut self.gathered[self.pass.chunk as usize][place][rank]),
            };
            self.fronts[Stream::Main as usize][rank].extend(ends);
        }
        Ok(())
    }

    fn forward(&mut self) -> Result<()> {
        for (place, bucket) in self.buckets(self.pass.chunk).into_iter().enumerate() {
            self.await_weights(place, &bucket)?;
            bucket.layers.clone().try_for_each(|layer| self.layer_forward(layer))?;
        }
        if self.chunk() + 1 == self.plan.chunks() {
            self.compute(|plan, _| plan.head_seconds());
        }
        Ok(())
    }

    fn backward(&mut self) -> Result<()> {
        let plan = self.plan;
        if self.chunk() + 1 == plan.chunks() {
            self.compute(|plan, _| 2.0 * plan.head_seconds());
        }
        let last = self.pass.microbatch + 1 == plan.microbatches;
        for (place, bucket) in self.buckets(self.pass.chunk).into_iter().enumerate().rev() {
            self.await_weights(place, &bucket)?;
            bucket.layers.clone().rev().try_for_each(|layer| self.layer_backward(layer))?;
            if plan.zero > 1 || last {
                self.reduce(&bucket)?;
            }
        }
        Ok(())
    }

    fn layer_forward(&mut self, layer: u32) -> Result<()> {
        self.gather_context()?;
        self.compute(|plan, _| plan.attention_seconds());
        self.share()?;
        self.mlp(layer, 1.0)?;
        self.share()
    }

    fn layer_backward(&mut self, layer: u32) -> Result<()> {
        if self.plan.recompute == Recompute::Full {
            self.layer_forward(layer)?;
        }
        self.mlp(layer, 2.0)?;
        self.share()?;
        self.gather_context()?;
        self.compute(|plan, _| plan.attention_backward_seconds());
        let (purpose, bytes) = (Purpose::ContextReduceScatter, self.plan.context_bytes());
        self.collective(Stream::Main, purpose, Collective::ReduceScatter, Among::Context, bytes)?;
        self.share()
    }

    /// The MLP, for which tokens go to the ranks of their experts and back, `factor` times what it takes forward.
    fn mlp(&mut self, layer: u32, factor: f64) -> Result<()> {
        let routes = self.plan.expert > 1 && self.plan.model.has_experts(layer);
        if routes {
            self.route(false)?;
        }
        self.compute(|plan, place| factor * plan.mlp_seconds(layer, place));
        if routes {
            self.route(true)?;
        }
        Ok(())
    }

    /// Ranks with other parts of a sequence hand each other keys and values.
    fn gather_context(&mut self) -> Result<()> {
        let (purpose, bytes) = (Purpose::ContextAllGather, self.plan.context_bytes());
        self.collective(Stream::Main, purpose, Collective::AllGather, Among::Context, bytes)
    }

    /// Tensor ranks add up what each has of a layer's output.
    fn share(&mut self) -> Result<()> {
        let (bytes, main) = (self.plan.activation_bytes(), Stream::Main);
        if !self.plan.sequence_parallel {
            return self.collective(main, Purpose::TensorAllreduce, Collective::Allreduce, Among::Tensor, bytes);
        }
        self.collective(main, Purpose::TensorReduceScatter, Collective::ReduceScatter, Among::Tensor, bytes)?;
        self.collective(main, Purpose::TensorAllGather, Collective::AllGather, Among::Tensor, bytes)
    }

    /// Tokens go to the ranks of their experts, or back.
    fn route(&mut self, back: bool) -> Result<()> {
        let (members, bytes) = (self.plan.expert, self.plan.routed_bytes());
        // Calls have one size of block.
        if self.keeps_calls && self.plan.imbalance == 1.0 {
            let all = (bytes.round() as u64).max(1) * u64::from(members);
            self.call(Stream::Main, Purpose::ExpertAllToAll, Collective::AllToAll, Among::Expert, all);
            return Ok(());
        }
        let pattern = Rc::new(Patterns::exchange(members, bytes, self.plan.imbalance, back));
        self.exchange(Stream::Main, Purpose::ExpertAllToAll, Among::Expert, &pattern);
        Ok(())
    }

    /// A collective on a vector of this many bytes, in all groups of the stage.
    fn collective(
        &mut self,
        stream: Stream,
        purpose: Purpose,
        what: Collective,
        among: Among,
        bytes: u64,
    ) -> Result<()> {
        let members = self.groups[among as usize][0].len() as u32;
        if members > 1 && bytes > 0 && self.keeps_calls {
            let own = if what == Collective::AllGather { bytes.div_ceil(members.into()) } else { bytes };
            self.call(stream, purpose, what, among, own);
        } else if members > 1 && bytes > 0 {
            let pattern = self.patterns.get(what, members, bytes)?;
            self.exchange(stream, purpose, among, &pattern);
        }
        Ok(())
    }

    fn exchange(&mut self, stream: Stream, purpose: Purpose, among: Among, pattern: &Pattern) {
        // Without overlap nothing runs beside the passes.
        let stream = if self.plan.overlap { stream } else { Stream::Main };
        let groups = std::mem::take(&mut self.groups[among as usize]);
        let hops: usize = pattern.steps.iter().map(Vec::len).sum();
        self.messages += hops as u128 * groups.len() as u128;
        if !self.counting {
            self.label(purpose);
            for group in &groups {
                self.exchange_in(stream, group, pattern);
            }
            if stream == Stream::Main {
                self.waits |= purpose.bit();
            }
        }
        self.groups[among as usize] = groups;
    }

    /// A collective that stays a call, in all groups of the stage.
    fn call(&mut self, stream: Stream, purpose: Purpose, what: Collective, among: Among, bytes: u64) {
        if self.counting {
            return;
        }
        let stream = if self.plan.overlap { stream } else { Stream::Main };
        self.label(purpose);
        let groups = std::mem::take(&mut self.groups[among as usize]);
        for members in &groups {
            let group = self.graph.calls.numbered(among as u8, members);
            let call = self.graph.calls.add(Call { what, bytes, group });
            for &rank in members {
                let front = self.begin(stream, rank);
                let op = self.graph.call(rank, call);
                front.iter().for_each(|before| self.graph.follows(op, *before, false));
                self.fronts[stream as usize][rank as usize] = vec![op];
            }
        }
        self.groups[among as usize] = groups;
    }

    /// What is added from here on is for this.
    fn label(&mut self, purpose: Purpose) {
        let label = self.own_label(Some(purpose), 0);
        self.labels.of_messages_from(self.graph.num_messages(), label);
        self.labels.of_computations_from(self.graph.num_durations(), label);
    }

    fn own_label(&self, purpose: Option<Purpose>, waits: u16) -> Label {
        let Pass { backward, microbatch, .. } = self.pass;
        Label { purpose, waits, backward, chunk: self.chunk(), microbatch }
    }

    fn exchange_in(&mut self, stream: Stream, group: &[u32], pattern: &Pattern) {
        let mut fronts: Fronts = group.iter().map(|rank| self.begin(stream, *rank)).collect();
        for step in &pattern.steps {
            let mut next = vec![[Vec::new(), Vec::new()]; group.len()];
            for &(from, to, bytes) in step {
                let [source, target] = [from, to].map(|place| group[place as usize]);
                let message = self.graph.message(source, target, bytes);
                let send = self.graph.op(source, Op::Send(message));
                fronts[from as usize].iter().for_each(|before| self.graph.follows(send, *before, false));
                next[from as usize][0].push(send);
                next[to as usize][1].push(self.graph.op(target, Op::Receive(message)));
            }
            for ((front, next), rank) in fronts.iter_mut().zip(next).zip(group) {
                let [sends, receives] = next;
                // Sends follow what was before, and are done at once: one stands for all.
                let before = sends.first().map_or(&front[..], std::slice::from_ref);
                let ends = [before, &receives].concat();
                *front = if ends.len() > 2 { vec![self.graph.join(*rank, &ends)] } else { ends };
            }
        }
        let wait = pattern.depth as f64 * self.plan.step_latency_s;
        let processor = (stream as u32 + 1) * self.plan.ranks();
        for (rank, front) in group.iter().zip(fronts) {
            let front = match wait > 0.0 {
                true => vec![self.after(&front, *rank, wait, processor + rank)],
                false => front,
            };
            self.fronts[stream as usize][*rank as usize] = front;
        }
    }

    /// What a collective of a stream begins after.
    fn begin(&self, stream: Stream, rank: u32) -> Vec<u32> {
        let own = self.fronts[stream as usize][rank as usize].iter();
        let other = match stream {
            Stream::Main => &[][..],
            Stream::Gather => &self.gate[rank as usize],
            Stream::Reduce => &self.fronts[Stream::Main as usize][rank as usize],
        };
        own.chain(other).copied().collect()
    }

    /// A computation behind all of these.
    fn after(&mut self, front: &[u32], rank: u32, seconds: f64, processor: u32) -> u32 {
        let op = self.graph.compute(rank, seconds, processor);
        front.iter().for_each(|before| self.graph.follows(op, *before, false));
        op
    }

    /// All ranks of the stage compute for as long as the plan states for the position of each among those that share
    /// experts.
    fn compute(&mut self, seconds: impl Fn(&Plan, u32) -> f64) {
        let plan = self.plan;
        if self.counting || seconds(plan, 0) <= 0.0 {
            return;
        }
        let label = self.own_label(None, self.waits);
        self.waits = 0;
        self.labels.of_computations_from(self.graph.num_durations(), label);
        let took = [0, plan.expert - 1].map(|place| seconds(plan, place));
        for (at, rank) in plan.ranks_of(self.stage).into_iter().enumerate() {
            let data = at as u32 / (plan.tensor * plan.context);
            let took = took[usize::from(!data.is_multiple_of(plan.expert))];
            let front = std::mem::take(&mut self.fronts[Stream::Main as usize][rank as usize]);
            self.fronts[Stream::Main as usize][rank as usize] = vec![self.after(&front, rank, took, rank)];
        }
    }

    /// The message between chunks that the pass at hand begins with, or ends with; none at the ends of the model.
    fn between(&self, begins: bool) -> Option<u32> {
        let below = self.pass.backward != begins;
        let chunk = if below { self.chunk().checked_sub(1)? } else { self.chunk() };
        let handed = self.handed[usize::from(self.pass.backward)].get(chunk as usize)?;
        Some(handed[self.pass.microbatch as usize])
    }

    fn receive(&mut self) {
        let Some(first) = self.between(true) else { return };
        self.waits |= Purpose::PipelineSendRecv.bit();
        for (message, rank) in (first..).zip(self.plan.ranks_of(self.stage)) {
            let op = self.graph.op(rank, Op::Receive(message));
            self.fronts[Stream::Main as usize][rank as usize].push(op);
        }
    }

    fn hand_over(&mut self) {
        let Some(first) = self.between(false) else { return };
        for (message, rank) in (first..).zip(self.plan.ranks_of(self.stage)) {
            let op = self.graph.op(rank, Op::Send(message));
            let front = &self.fronts[Stream::Main as usize][rank as usize];
            front.iter().for_each(|before| self.graph.follows(op, *before, false));
        }
    }
}
