//! What the time of a training step went into: computing, communication that computing waited for, and nothing.

use serde::Serialize;

use super::labels::{ANY, Label, Labels, Purpose};
use super::{Op, Workload};

/// What is known of a training step before it runs. The names are the keys of the JSON.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StepFacts {
    /// How it is spread over ranks, as users write it.
    pub shape: String,
    /// Where the sizes of its model are from, of a preset.
    pub source: Option<String>,
    /// Tokens.
    pub tokens: f64,
    /// Operations of the model for them: 6 for each weight and token, and those of attention. What is computed again does not
    /// count.
    pub flops: f64,
    /// 10^12 operations per second of a rank that computes.
    pub tflops: f64,
    /// The same at most: what model FLOPs utilisation is a part of.
    pub peak_tflops: f64,
    /// Bytes of weights, gradients and the optimizer's numbers of the rank that has most.
    pub state_bytes: f64,
}

/// Where the time of a training step went, in seconds of a rank in the mean: they add up to the makespan.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StepTimes {
    /// Computing.
    pub compute_s: f64,
    /// Communication that computing waited for.
    pub exposed_s: f64,
    /// Neither, as the pipeline fills and drains: the bubble.
    pub bubble_s: f64,
    /// Neither, as slower ranks are waited for: those with the busiest experts, or behind the busiest links.
    pub skew_s: f64,
    /// Communication by parallelism and collective.
    pub communication: Vec<StepTraffic>,
}

/// Communication of one kind.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StepTraffic {
    /// Which ranks work together: tensor, context, expert, pipeline or data.
    pub parallelism: &'static str,
    /// What they do: allreduce, reduce-scatter, all-gather, all-to-all or send-recv.
    pub collective: &'static str,
    /// Bytes of all ranks together.
    pub bytes: u64,
    /// Seconds in which messages of it were under way to a rank, in the mean.
    pub in_flight_s: f64,
    /// Of these, seconds in which the rank did nothing and waited for them, in the mean.
    pub exposed_s: f64,
}

/// The times of a run: of each message its beginning and its end, of each computation its operation and these.
#[derive(Debug, Clone, Copy)]
pub struct RunTimes<'a> {
    /// By message; not a number where it never was.
    pub messages: &'a [[f64; 2]],
    /// By operation, in their order.
    pub computations: &'a [(u32, [f64; 2])],
    /// The end of the last.
    pub makespan_s: f64,
}

/// Something that a task did, or was sent.
#[derive(Debug, Clone, Copy)]
pub(super) struct Activity<'a> {
    /// Its beginning and its end.
    pub span: [f64; 2],
    /// What it is for, and the number of those that are for the same.
    pub label: (usize, &'a Label),
}

/// What a task computed, and what was under way to it, each in the order in which it began.
pub(super) fn activities<'a>(
    workload: &'a Workload,
    labels: &'a Labels,
    times: RunTimes,
    task: u32,
) -> [Vec<Activity<'a>>; 2] {
    let range = workload.range(task);
    let from = |op: usize| times.computations.partition_point(|(own, _)| (*own as usize) < op);
    let mut both = [Vec::new(), Vec::new()];
    for &(op, span) in &times.computations[from(range.start)..from(range.end)] {
        let Op::Compute(place) = workload.ops[op as usize].unpack() else { continue };
        let label = labels.computation(place);
        both[usize::from(label.1.purpose.is_some())].push(Activity { span, label });
    }
    for op in workload.program(task) {
        let Op::Receive(message) = op else { continue };
        let span = times.messages[message as usize];
        if span[1].is_finite() {
            both[1].push(Activity { span, label: labels.message(message) });
        }
    }
    both.iter_mut().for_each(|own| own.sort_by(|a, b| a.span[0].total_cmp(&b.span[0])));
    both
}

/// When each task was done, in seconds: the last that it computed, sent or was sent; 0 if it did nothing.
pub fn task_ends(workload: &Workload, times: RunTimes) -> Vec<f64> {
    let mut ends = vec![0.0f64; workload.tasks as usize];
    let mut until = |task: u32, end: f64| ends[task as usize] = ends[task as usize].max(end);
    for (message, [_, end]) in workload.messages.iter().zip(times.messages) {
        [message.source, message.target].into_iter().for_each(|task| until(task, *end));
    }
    times.computations.iter().for_each(|(op, [_, end])| until(workload.task_of(*op), *end));
    ends
}

/// Where the time of a step went; `None` if the workload is no training step.
pub fn step_times(workload: &Workload, times: RunTimes) -> Option<StepTimes> {
    let labels = workload.labels.as_ref()?;
    let stages = labels.shown.len() > 1;
    let mut sums = Sums { stages, ..Sums::default() };
    for task in 0..workload.tasks {
        sums.add(activities(workload, labels, times, task), times.makespan_s);
    }
    let mut bytes = [0u64; Purpose::ALL.len()];
    for (id, message) in (0..).zip(&workload.messages) {
        if let Some(purpose) = labels.message(id).1.purpose {
            bytes[purpose as usize] += message.bytes;
        }
    }
    let mean = |sum: f64| sum / f64::from(workload.tasks);
    let traffic = |purpose: &Purpose| {
        let ([parallelism, collective], place) = (purpose.names(), *purpose as usize);
        let [in_flight_s, exposed_s] = [sums.in_flight[place], sums.exposed[place]].map(mean);
        StepTraffic { parallelism, collective, bytes: bytes[place], in_flight_s, exposed_s }
    };
    let communication = Purpose::ALL.iter().map(traffic).filter(|own| own.bytes > 0).collect();
    let (compute_s, exposed_s) = (mean(sums.compute), mean(sums.exposed.iter().sum()));
    let [bubble_s, skew_s] = [sums.bubble, sums.skew].map(mean);
    Some(StepTimes { compute_s, exposed_s, bubble_s, skew_s, communication })
}

/// Seconds of all ranks.
#[derive(Default)]
struct Sums {
    /// Whether there are several stages.
    stages: bool,
    compute: f64,
    bubble: f64,
    skew: f64,
    in_flight: [f64; Purpose::ALL.len()],
    exposed: [f64; Purpose::ALL.len()],
}

impl Sums {
    /// Adds a rank.
    fn add(&mut self, [computed, sent]: [Vec<Activity>; 2], makespan: f64) {
        let mut until = [0.0f64; Purpose::ALL.len()];
        for Activity { span: [start, end], label } in &sent {
            let Some(purpose) = label.1.purpose else { continue };
            let known = &mut until[purpose as usize];
            self.in_flight[purpose as usize] += (end - start.max(*known)).max(0.0);
            *known = known.max(*end);
        }
        let (mut now, mut next, mut under_way) = (0.0, 0, Vec::new());
        let ends = computed.iter().map(|own| (own.span, own.label.1.waits)).chain([([makespan; 2], ANY)]);
        for ([start, end], waits) in ends {
            if start > now {
                while next < sent.len() && sent[next].span[0] < start {
                    under_way.push(next);
                    next += 1;
                }
                under_way.retain(|place| sent[*place].span[1] > now);
                let waited = under_way.iter().map(|place| &sent[*place]);
                self.expose([now, start], waits, waited);
            }
            now = f64::max(now, end);
            self.compute += end - start;
        }
    }

    /// A rank did nothing between two times: what it waited for, as far as that was under way to it.
    fn expose<'a>(&mut self, [from, to]: [f64; 2], waits: u16, under_way: impl Iterator<Item = &'a Activity<'a>>) {
        let purpose = |own: &Activity| own.label.1.purpose.filter(|purpose| waits & purpose.bit() != 0);
        let mut waited: Vec<(Purpose, [f64; 2])> =
            under_way.filter_map(|own| Some((purpose(own)?, own.span))).collect();
        waited.sort_by(|a, b| a.0.cmp(&b.0).then(a.1[0].total_cmp(&b.1[0])));
        let mut free = vec![[from, to]];
        for (purpose, [start, end]) in waited {
            let mut left = Vec::with_capacity(free.len() + 1);
            for [from, to] in free {
                let (begin, finish) = (start.clamp(from, to), end.clamp(from, to));
                self.exposed[purpose as usize] += finish - begin;
                left.extend([[from, begin], [finish, to]].into_iter().filter(|[from, to]| to > from));
            }
            free = left;
        }
        let idle: f64 = free.iter().map(|[from, to]| to - from).sum();
        if self.stages && waits & Purpose::PipelineSendRecv.bit() != 0 {
            self.bubble += idle;
        } else {
            self.skew += idle;
        }
    }
}

/// A part of what a task did, for a timeline.
#[derive(Debug, Clone, PartialEq)]
pub struct TimelineEvent {
    /// What is beside each other in a task: computing, or a parallelism.
    pub lane: &'static str,
    /// What it is.
    pub name: String,
    /// Its beginning and its end, in seconds.
    pub span: [f64; 2],
}

/// What a task computed, sent and was sent, in the order of time. Messages of one collective are one.
pub fn timeline(workload: &Workload, times: RunTimes, task: u32) -> Vec<TimelineEvent> {
    let mut events = match &workload.labels {
        Some(labels) => labelled(activities(workload, labels, times, task)),
        None => plain(workload, times, task),
    };
    events.sort_by(|a, b| a.span[0].total_cmp(&b.span[0]));
    events
}

fn labelled([computed, sent]: [Vec<Activity>; 2]) -> Vec<TimelineEvent> {
    let name = |label: &Label, what: &str| {
        let pass = if label.backward { "backward" } else { "forward" };
        format!("{what}{pass}, microbatch {}, chunk {}", label.microbatch, label.chunk)
    };
    let mut events: Vec<TimelineEvent> = computed
        .iter()
        .map(|own| TimelineEvent { lane: "compute", name: name(own.label.1, ""), span: own.span })
        .collect();
    let mut whole: Vec<(usize, &Label, [f64; 2])> = Vec::new();
    let mut places = std::collections::HashMap::new();
    for Activity { span, label: (run, label) } in sent {
        let place = *places.entry((run, label.purpose)).or_insert(whole.len());
        match whole.get_mut(place) {
            Some((.., known)) => *known = [known[0].min(span[0]), known[1].max(span[1])],
            None => whole.push((run, label, span)),
        }
    }
    events.extend(whole.into_iter().filter_map(|(_, label, span)| {
        let [lane, collective] = label.purpose?.names();
        Some(TimelineEvent { lane, name: name(label, &format!("{collective}: ")), span })
    }));
    events
}

/// Of a workload that does not state what its messages are for.
fn plain(workload: &Workload, times: RunTimes, task: u32) -> Vec<TimelineEvent> {
    let range = workload.range(task);
    let computed = times.computations.iter().filter(|(op, _)| range.contains(&(*op as usize)));
    let mut events: Vec<TimelineEvent> =
        computed.map(|&(_, span)| TimelineEvent { lane: "compute", name: "compute".to_owned(), span }).collect();
    for op in workload.program(task) {
        let (message, lane) = match op {
            Op::Send(message) => (message, "send"),
            Op::Receive(message) => (message, "receive"),
            Op::Compute(_) => continue,
        };
        let (own, span) = (workload.messages[message as usize], times.messages[message as usize]);
        let (word, other) = if lane == "send" { ("to", own.target) } else { ("from", own.source) };
        if span[1].is_finite() {
            events.push(TimelineEvent { lane, name: format!("{} bytes {word} task {other}", own.bytes), span });
        }
    }
    events
}
