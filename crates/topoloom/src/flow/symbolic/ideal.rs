//! The lower bound of the makespan of a regular collective, step by step: each message takes its time on an empty
//! network, and terminals send and receive at their rates.

use super::Case;
use crate::workload::Stage;

/// How far all members are, at the earliest.
pub(super) struct Ideal {
    /// Bytes per second that a terminal sends, and receives.
    terminal: [f64; 2],
    /// When each member can send next.
    sent: Vec<f64>,
    /// Bytes that each has sent, and has received.
    bytes: f64,
}

impl Ideal {
    /// Nothing is sent yet.
    pub fn new(case: &Case) -> Self {
        Self { terminal: case.alone().terminal(), sent: vec![0.0; case.regular.members().len()], bytes: 0.0 }
    }

    /// A step, of whose messages each takes this many seconds alone, by the positions that they go and then by their source.
    pub fn step(&mut self, stage: &Stage, alone_s: &[f64]) {
        let (n, shifts) = (self.sent.len(), stage.shifts());
        let bytes = stage.bytes as f64 * f64::from(shifts);
        let receive_s = bytes / self.terminal[1];
        let next = |member: usize| {
            let (mut delivered, mut first) = (self.sent[member], f64::INFINITY);
            for place in 0..shifts as usize {
                let source = stage.circle.back(member, stage.first as usize + place, n);
                delivered = delivered.max(self.sent[source] + alone_s[place * n + source]);
                first = first.min(self.sent[source]);
            }
            delivered.max(first + receive_s)
        };
        self.sent = (0..n).map(next).collect();
        self.bytes += bytes;
    }

    /// The end of all of them.
    pub fn end(&self) -> f64 {
        let busy = self.terminal.iter().map(|rate| self.bytes / rate);
        self.sent.iter().copied().chain(busy).fold(0.0, f64::max)
    }
}
