//! Traffic patterns: who sends to whom.
//!
//! A pattern is written once and has two readers: the cycle engine draws the `destination` of each packet, and whoever
//! computes expectations reads the `weights` that those draws follow.

mod registry;

pub use registry::{PATTERNS, PatternInfo, build};

use std::ops::Range;

use crate::network::TerminalId;
use crate::rng::Rng;

/// Marks a terminal that sends nothing.
const SILENT: u32 = u32::MAX;

/// A pattern on one network.
#[derive(Debug, Clone)]
pub struct Traffic {
    pattern: Pattern,
    terminals: u32,
    /// Terminals that send.
    active: u32,
}

#[derive(Debug, Clone)]
enum Pattern {
    /// Any terminal, the source included.
    Uniform,
    /// Any terminal but the source.
    UniformOthers,
    /// The destination of each terminal, or [`SILENT`].
    Fixed(Vec<u32>),
    /// Any terminal of the next block of terminals.
    NextGroup { size: u32 },
}

/// A range of terminals that get equally much from a source.
#[derive(Debug, Clone, PartialEq)]
pub struct Share {
    /// The ids of the terminals.
    pub destinations: Range<u32>,
    /// The flits that each of them is expected to get for a flit that the source sends.
    pub each: f64,
}

impl Traffic {
    /// The number of terminals that send.
    pub fn active(&self) -> u32 {
        self.active
    }

    /// True if `terminal` sends.
    pub fn is_active(&self, terminal: TerminalId) -> bool {
        match &self.pattern {
            Pattern::Fixed(to) => to[terminal.index()] != SILENT,
            Pattern::UniformOthers => self.terminals > 1,
            _ => true,
        }
    }

    /// The destination of the next packet of an active terminal.
    #[inline(always)]
    pub fn destination(&self, source: TerminalId, rng: &mut Rng) -> TerminalId {
        TerminalId(match &self.pattern {
            Pattern::Uniform => rng.below(self.terminals),
            Pattern::UniformOthers => {
                let draw = rng.below(self.terminals - 1);
                draw + u32::from(draw >= source.0)
            }
            Pattern::Fixed(to) => to[source.index()],
            Pattern::NextGroup { size } => {
                let next = (source.0 / size + 1) * size;
                (if next >= self.terminals { 0 } else { next }) + rng.below(*size)
            }
        })
    }

    /// Appends what `source` sends to whom: the exact distribution that [`Traffic::destination`] draws from. Weights
    /// times sizes add up to 1, terminals that are in several ranges get the sum; a silent terminal has no shares.
    pub fn weights(&self, source: TerminalId, out: &mut Vec<Share>) {
        if !self.is_active(source) {
            return;
        }
        let ranges = match &self.pattern {
            Pattern::Uniform => [0..self.terminals, 0..0],
            Pattern::UniformOthers => [0..source.0, source.0 + 1..self.terminals],
            Pattern::Fixed(to) => [to[source.index()]..to[source.index()] + 1, 0..0],
            Pattern::NextGroup { size } => {
                let next = (source.0 / size + 1) * size;
                let first = if next >= self.terminals { 0 } else { next };
                [first..first + size, 0..0]
            }
        };
        let all: usize = ranges.iter().map(ExactSizeIterator::len).sum();
        let shares = ranges.into_iter().map(|destinations| Share { destinations, each: 1.0 / all as f64 });
        out.extend(shares.filter(|share| !share.destinations.is_empty()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology;

    /// Every pattern, with its keys as they are by default, and some with keys.
    fn patterns() -> impl Iterator<Item = String> {
        let keyed = ["uniform:exclude-self", "random-permutation:seed=3", "transpose:bits=4"];
        PATTERNS.iter().map(|info| info.name).chain(keyed).map(str::to_owned)
    }

    #[test]
    fn draws_follow_the_weights() {
        const DRAWS: u32 = 4000;
        let mut checked = 0;
        for spec in
            ["mesh:4x4", "torus:5x3,p=2", "dragonfly:a=2,h=1,p=2", "flex:3x3x3", "hyperx:4x4,tile=2x2", "mesh:2"]
        {
            let network = topology::build(spec).expect(spec);
            for pattern in patterns() {
                let Ok(traffic) = build(&network, &pattern) else { continue };
                checked += 1;
                for source in (0..network.num_terminals() as u32).map(TerminalId) {
                    let mut shares = Vec::new();
                    traffic.weights(source, &mut shares);
                    let mut expected = vec![0.0; network.num_terminals()];
                    for share in shares {
                        share.destinations.for_each(|to| expected[to as usize] += share.each);
                    }
                    let sum: f64 = expected.iter().sum();
                    assert!((sum - f64::from(u8::from(traffic.is_active(source)))).abs() < 1e-9, "{spec} {pattern}");
                    let mut drawn = vec![0u32; network.num_terminals()];
                    let mut rng = Rng::stream(3, source.0.into());
                    for _ in 0..if traffic.is_active(source) { DRAWS } else { 0 } {
                        drawn[traffic.destination(source, &mut rng).index()] += 1;
                    }
                    for (to, (&drawn, expected)) in drawn.iter().zip(expected).enumerate() {
                        let mean = expected * f64::from(DRAWS);
                        let close = (f64::from(drawn) - mean).abs() <= 6.0 * (mean * (1.0 - expected)).sqrt() + 1e-6;
                        assert!(close, "{spec} {pattern}: {source} to {to}: {drawn} drawn, {mean} expected");
                    }
                }
            }
        }
        assert!(checked > 40, "only {checked} patterns were offered");
    }
}
