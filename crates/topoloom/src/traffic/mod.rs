//! Traffic patterns: the destinations of each terminal. Each pattern, or a few similar ones, has a file; `registry`
//! lists their names.
//!
//! A pattern is written once and has two readers: the cycle engine draws the [`Traffic::destination`] of each packet;
//! code that computes expectations reads the [`Traffic::weights`] of those draws.

mod asymmetric;
mod bits;
mod blended;
mod demands;
mod draw;
mod hosted;
mod hotspot;
mod keys;
mod next_group;
mod pairs;
mod permutation;
mod rates;
mod registry;
mod shift;
mod trace;
mod uniform;
mod worst_case;

pub use demands::router_demands;
pub(crate) use demands::{Demands, Matrix};
pub use draw::Share;
pub use rates::rates;
pub use registry::{PATTERNS, PatternInfo, build, find};
pub use trace::{Packet, Trace};

use std::ops::Range;

use crate::network::TerminalId;
use crate::rng::{KeptRng, Rng};
use draw::{Rows, ranges};

/// Marks a terminal that sends nothing.
const SILENT: u32 = u32::MAX;

/// A pattern on one network.
#[derive(Debug, Clone)]
pub struct Traffic {
    pattern: Pattern,
    terminals: u32,
    /// Terminals that send.
    active: u32,
    /// What failures change; `None` if nothing has failed.
    lost: Option<Losses>,
}

/// Terminals that take no part any more.
#[derive(Debug, Clone)]
struct Losses {
    /// Those that have failed with their routers: no terminal sends to them.
    down: Vec<bool>,
    /// The others, as ranges that ascend.
    up: Vec<Range<u32>>,
    /// Those that do not send, as they have failed themselves or as all their destinations have.
    silent: Vec<bool>,
}

/// How destinations are drawn: what every pattern comes down to.
#[derive(Debug, Clone)]
enum Pattern {
    /// Any terminal, the source included.
    Uniform,
    /// Any terminal but the source.
    UniformOthers,
    /// The destination of each terminal, or [`SILENT`].
    Fixed(Vec<u32>),
    /// A few ranges of terminals with a probability each, by source.
    Drawn(Rows),
    /// Packets that are given one by one.
    Trace(Trace),
}

impl Traffic {
    fn new(pattern: Pattern, terminals: u32) -> Self {
        let mut traffic = Self { pattern, terminals, active: 0, lost: None };
        traffic.active = traffic.count_active();
        traffic
    }

    /// No terminal sends.
    pub fn silent(terminals: u32) -> Self {
        Self::new(Pattern::Fixed(vec![SILENT; terminals as usize]), terminals)
    }

    fn count_active(&self) -> u32 {
        (0..self.terminals).filter(|&t| self.is_active(TerminalId(t))).count() as u32
    }

    /// The same pattern where some terminals have failed: sources draw among the destinations that are left to them, in
    /// the same proportions, and are silent if none is.
    fn without(mut self, down: Vec<bool>) -> Self {
        let mut shares = Vec::new();
        let mut is_silent = |source: u32| {
            self.weights(TerminalId(source), &mut shares);
            let lost = shares.drain(..).all(|share| share.destinations.into_iter().all(|to| down[to as usize]));
            down[source as usize] || lost
        };
        let silent = (0..self.terminals).map(&mut is_silent).collect();
        let up = ranges((0..self.terminals).filter(|&to| !down[to as usize]));
        self.lost = Some(Losses { down, up, silent });
        self.active = self.count_active();
        self
    }

    /// The number of terminals that send.
    pub fn active(&self) -> u32 {
        self.active
    }

    /// True if `terminal` sends.
    pub fn is_active(&self, terminal: TerminalId) -> bool {
        if self.lost.as_ref().is_some_and(|lost| lost.silent[terminal.index()]) {
            return false;
        }
        match &self.pattern {
            Pattern::Uniform => true,
            Pattern::UniformOthers => self.terminals > 1,
            Pattern::Fixed(to) => to[terminal.index()] != SILENT,
            Pattern::Drawn(rows) => rows.of(terminal).is_some(),
            Pattern::Trace(trace) => !trace.of(terminal).is_empty(),
        }
    }

    /// The trace, if packets are given and not drawn.
    #[inline(always)]
    pub fn trace(&self) -> Option<&Trace> {
        match &self.pattern {
            Pattern::Trace(trace) => Some(trace),
            _ => None,
        }
    }

    /// The destination of the next packet of an active terminal; not where packets are given.
    #[inline(always)]
    pub fn destination(&self, source: TerminalId, rng: &mut Rng) -> TerminalId {
        // Most often this: one question, where the patterns would take a table of jumps.
        if let (Pattern::Uniform, None) = (&self.pattern, &self.lost) {
            return TerminalId(rng.below(self.terminals));
        }
        let drawn = self.draw(source, rng);
        match &self.lost {
            None => drawn,
            Some(lost) => {
                // By value: else the stream would have to be in memory where nothing is lost.
                let (drawn, advanced) = self.redraw(source, drawn, lost, rng.kept());
                *rng = advanced.get();
                drawn
            }
        }
    }

    /// Draws until it is a destination that has not failed; an active terminal has one.
    #[cold]
    fn redraw(&self, source: TerminalId, mut drawn: TerminalId, lost: &Losses, rng: KeptRng) -> (TerminalId, KeptRng) {
        let mut rng = rng.get();
        while lost.down[drawn.index()] {
            drawn = self.draw(source, &mut rng);
        }
        (drawn, rng.kept())
    }

    /// A destination, failed or not.
    #[inline(always)]
    fn draw(&self, source: TerminalId, rng: &mut Rng) -> TerminalId {
        TerminalId(match &self.pattern {
            Pattern::Uniform => rng.below(self.terminals),
            Pattern::UniformOthers => {
                let draw = rng.below(self.terminals - 1);
                draw + u32::from(draw >= source.0)
            }
            Pattern::Fixed(to) => to[source.index()],
            Pattern::Drawn(rows) => {
                // As above.
                let (drawn, advanced) = rows.draw(source, rng.kept());
                *rng = advanced.get();
                drawn
            }
            Pattern::Trace(_) => unreachable!("given packets are not drawn"),
        })
    }

    /// Appends the destinations of `source` with their weights: the exact distribution that [`Traffic::destination`]
    /// draws from. Weights times sizes add up to 1; a terminal in several ranges gets the sum; a silent terminal has no
    /// shares.
    pub fn weights(&self, source: TerminalId, out: &mut Vec<Share>) {
        let Some(lost) = &self.lost else { return self.all_weights(source, out) };
        if lost.silent[source.index()] {
            return;
        }
        let mut all = Vec::new();
        self.all_weights(source, &mut all);
        let up = all.into_iter().flat_map(|share| {
            let Range { start, end } = share.destinations;
            let first = lost.up.partition_point(|up| up.end <= start);
            let up = lost.up[first..].iter().take_while(move |up| up.start < end);
            up.map(move |up| Share { destinations: up.start.max(start)..up.end.min(end), each: share.each })
        });
        let first = out.len();
        out.extend(up);
        let left: f64 = out[first..].iter().map(Share::weight).sum();
        out[first..].iter_mut().for_each(|share| share.each /= left);
    }

    /// The distribution before anything failed.
    fn all_weights(&self, source: TerminalId, out: &mut Vec<Share>) {
        match &self.pattern {
            Pattern::Uniform => out.push(Share::evenly(0..self.terminals, 1.0)),
            Pattern::UniformOthers if self.terminals > 1 => {
                let each = 1.0 / f64::from(self.terminals - 1);
                let ranges = [0..source.0, source.0 + 1..self.terminals];
                out.extend(
                    ranges.into_iter().filter(|r| !r.is_empty()).map(|destinations| Share { destinations, each }),
                );
            }
            Pattern::UniformOthers => {}
            Pattern::Fixed(to) => match to[source.index()] {
                SILENT => {}
                to => out.push(Share::evenly(to..to + 1, 1.0)),
            },
            Pattern::Drawn(rows) => out.extend(rows.shares(source)),
            Pattern::Trace(trace) => out.extend(trace.shares(source)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology;

    /// Every pattern, with its keys as they are by default, and some with keys.
    fn patterns() -> impl Iterator<Item = String> {
        let keyed = [
            "uniform:exclude-self",
            "random-permutation:seed=3",
            "transpose:bits=4",
            "hotspot:nodes=0-1,rates=1",
            "hotspot:nodes=1,0,rates=1,4,share=0.3",
            "blended:io=1,share=0.4",
        ];
        PATTERNS.iter().map(|info| info.name).chain(keyed).map(str::to_owned)
    }

    #[test]
    fn draws_follow_the_weights() {
        const DRAWS: u32 = 4000;
        let mut checked = 0;
        for spec in [
            "mesh:4x4",
            "torus:5x3,p=2",
            "dragonfly:a=2,h=1,p=2",
            "flex:3x3x3",
            "hyperx:4x4,tile=2x2",
            "mesh:2",
            "mesh:4x4 --fail routers=5,seed=2",
            "flex:3x3x3,p=2 --fail routers=40%",
        ] {
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
