//! Destinations drawn from a few ranges of terminals, each with a probability of its own.

use std::ops::Range;

use super::SILENT;
use crate::network::TerminalId;
use crate::rng::KeptRng;

/// A range of terminals that get equally much from a source.
#[derive(Debug, Clone, PartialEq)]
pub struct Share {
    /// The ids of the terminals.
    pub destinations: Range<u32>,
    /// The flits that each of them is expected to get for a flit that the source sends.
    pub each: f64,
}

impl Share {
    /// `weight` spread evenly over `destinations`, of which there is one at least.
    pub fn evenly(destinations: Range<u32>, weight: f64) -> Self {
        let each = weight / f64::from(destinations.end - destinations.start);
        Self { destinations, each }
    }

    /// What all of its terminals get together.
    pub(super) fn weight(&self) -> f64 {
        self.each * f64::from(self.destinations.end - self.destinations.start)
    }
}

/// A part of a row: a range of terminals, any of which is equally likely.
#[derive(Debug, Clone)]
struct Part {
    first: u32,
    count: u32,
    /// The probability of this part and all before it.
    up_to: f64,
}

/// Distributions of destinations, each for one source or shared by several.
#[derive(Debug, Clone)]
pub(super) struct Rows {
    /// The row of each source, or [`SILENT`].
    row_of: Vec<u32>,
    /// Where each row begins, and behind them the number of parts.
    starts: Vec<u32>,
    parts: Vec<Part>,
}

impl Rows {
    /// No rows, and `terminals` silent sources.
    pub fn new(terminals: u32) -> Self {
        Self { row_of: vec![SILENT; terminals as usize], starts: vec![0], parts: Vec::new() }
    }

    /// Adds a row; shares without weight or terminals are left out, the others scaled to a sum of 1.
    pub fn push(&mut self, shares: impl IntoIterator<Item = Share>) -> u32 {
        let first = self.parts.len();
        let mut sum = 0.0;
        for share in shares.into_iter().filter(|share| share.weight() > 0.0) {
            sum += share.weight();
            let Range { start, end } = share.destinations;
            self.parts.push(Part { first: start, count: end - start, up_to: sum });
        }
        self.parts[first..].iter_mut().for_each(|part| part.up_to /= sum);
        self.starts.push(self.parts.len() as u32);
        self.starts.len() as u32 - 2
    }

    /// Gives `source` the distribution `row`; it stays silent if that is empty.
    pub fn assign(&mut self, source: u32, row: u32) {
        if self.starts[row as usize] < self.starts[row as usize + 1] {
            self.row_of[source as usize] = row;
        }
    }

    /// The row of a source; `None` if it is silent.
    #[inline(always)]
    pub fn of(&self, source: TerminalId) -> Option<u32> {
        let row = self.row_of[source.index()];
        (row != SILENT).then_some(row)
    }

    #[inline(always)]
    fn parts(&self, row: u32) -> &[Part] {
        &self.parts[self.starts[row as usize] as usize..self.starts[row as usize + 1] as usize]
    }

    /// A destination for a source that is not silent.
    #[inline(never)]
    pub fn draw(&self, source: TerminalId, rng: KeptRng) -> (u32, KeptRng) {
        let mut rng = rng.get();
        let parts = self.parts(self.row_of[source.index()]);
        let part = if parts.len() == 1 {
            &parts[0]
        } else {
            let draw = rng.unit();
            // Rounding may leave the last bound a trifle below 1.
            &parts[parts.partition_point(|part| part.up_to < draw).min(parts.len() - 1)]
        };
        let drawn = if part.count == 1 { part.first } else { part.first + rng.below(part.count) };
        (drawn, rng.kept())
    }

    /// The distribution that a source draws from.
    pub fn shares(&self, source: TerminalId) -> impl Iterator<Item = Share> + '_ {
        let parts = self.of(source).map_or(&[][..], |row| self.parts(row));
        let before = std::iter::once(0.0).chain(parts.iter().map(|part| part.up_to));
        parts
            .iter()
            .zip(before)
            .map(|(part, before)| Share::evenly(part.first..part.first + part.count, part.up_to - before))
    }
}

/// The ranges of consecutive ids among `ids`, which ascend.
pub(super) fn ranges(ids: impl IntoIterator<Item = u32>) -> Vec<Range<u32>> {
    let mut ranges: Vec<Range<u32>> = Vec::new();
    for id in ids {
        match ranges.last_mut() {
            Some(last) if last.end == id => last.end += 1,
            _ => ranges.push(id..id + 1),
        }
    }
    ranges
}
