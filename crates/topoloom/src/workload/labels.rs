//! What the messages and computations of a training step are for.

/// What a message is for: which ranks work together, and on what.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Purpose {
    TensorAllreduce,
    TensorReduceScatter,
    TensorAllGather,
    ContextAllGather,
    ContextReduceScatter,
    ExpertAllToAll,
    PipelineSendRecv,
    DataAllGather,
    DataReduceScatter,
    DataAllreduce,
}

impl Purpose {
    /// All of them. Of two that a rank waits for at once, the first counts.
    pub const ALL: [Self; 10] = [
        Self::TensorAllreduce,
        Self::TensorReduceScatter,
        Self::TensorAllGather,
        Self::ContextAllGather,
        Self::ContextReduceScatter,
        Self::ExpertAllToAll,
        Self::PipelineSendRecv,
        Self::DataAllGather,
        Self::DataReduceScatter,
        Self::DataAllreduce,
    ];

    /// The parallelism, and the collective.
    pub fn names(self) -> [&'static str; 2] {
        match self {
            Self::TensorAllreduce => ["tensor", "allreduce"],
            Self::TensorReduceScatter => ["tensor", "reduce-scatter"],
            Self::TensorAllGather => ["tensor", "all-gather"],
            Self::ContextAllGather => ["context", "all-gather"],
            Self::ContextReduceScatter => ["context", "reduce-scatter"],
            Self::ExpertAllToAll => ["expert", "all-to-all"],
            Self::PipelineSendRecv => ["pipeline", "send-recv"],
            Self::DataAllGather => ["data", "all-gather"],
            Self::DataReduceScatter => ["data", "reduce-scatter"],
            Self::DataAllreduce => ["data", "allreduce"],
        }
    }

    /// Its bit in a set of purposes.
    pub const fn bit(self) -> u16 {
        1 << self as u16
    }
}

/// The set of all purposes.
pub const ANY: u16 = u16::MAX;

/// What messages or computations that follow one another are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Label {
    /// What is sent, or what a collective waits for beside its messages; `None`: the rank computes.
    pub purpose: Option<Purpose>,
    /// The purposes that a computation may have waited for.
    pub waits: u16,
    /// Whether it belongs to a pass back.
    pub backward: bool,
    /// The chunk of layers, counted through all stages.
    pub chunk: u32,
    /// The microbatch.
    pub microbatch: u32,
}

/// Labels of messages by their ids, and of computations by their positions among [`Workload::durations`](super::Workload::durations).
#[derive(Debug, Default)]
pub struct Labels {
    messages: Vec<(u32, Label)>,
    computations: Vec<(u32, Label)>,
    /// Tasks that stand for the others.
    pub shown: Vec<u32>,
}

impl Labels {
    /// Messages from this one on are for this.
    pub fn of_messages_from(&mut self, first: u32, label: Label) {
        push(&mut self.messages, first, label);
    }

    /// Computations from this place on are for this.
    pub fn of_computations_from(&mut self, first: u32, label: Label) {
        push(&mut self.computations, first, label);
    }

    /// The label of a message, with the number of those that have it.
    pub fn message(&self, message: u32) -> (usize, &Label) {
        find(&self.messages, message)
    }

    /// The label of a computation, likewise.
    pub fn computation(&self, place: u32) -> (usize, &Label) {
        find(&self.computations, place)
    }
}

/// Labels that would label nothing are replaced.
fn push(runs: &mut Vec<(u32, Label)>, first: u32, label: Label) {
    if runs.last().is_some_and(|(last, _)| *last == first) {
        runs.pop();
    }
    runs.push((first, label));
}

fn find(runs: &[(u32, Label)], id: u32) -> (usize, &Label) {
    let place = runs.partition_point(|(first, _)| *first <= id) - 1;
    (place, &runs[place].1)
}
