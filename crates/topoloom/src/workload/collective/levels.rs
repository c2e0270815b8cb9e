//! Algorithms of two levels: ranks form rows of one width, which are hosts or the rows of a grid. Reductions combine
//! data within rows, then along columns; distributions send it along columns, then within rows.

use super::blocks::{Span, Steps};
use super::{direct, ring};

/// How the ranks of a row work together. Those of a column go round a ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Within {
    /// All at once, as behind a switch.
    Direct,
    /// Round a ring.
    Ring,
}

/// Ranks in rows.
#[derive(Debug, Clone, Copy)]
pub struct Rows<'a> {
    /// The ranks, row by row.
    pub members: &'a [u32],
    /// Ranks of a row.
    pub width: usize,
    /// How they work together.
    pub within: Within,
}

impl Rows<'_> {
    fn rows(&self) -> usize {
        self.members.len() / self.width
    }

    /// The ranks of a column, and the spans of each.
    fn column(&self, column: usize, own: &[Vec<Span>]) -> (Vec<u32>, Vec<Vec<Span>>) {
        let places = (column..self.members.len()).step_by(self.width);
        (places.clone().map(|place| self.members[place]).collect(), places.map(|place| own[place].clone()).collect())
    }

    /// For each rank of a row, what is its whole column's own.
    fn columns(&self, own: &[Vec<Span>]) -> Vec<Vec<Span>> {
        let column = |column: usize| own.iter().skip(column).step_by(self.width).flatten().copied().collect();
        (0..self.width).map(column).collect()
    }

    /// Reduces each member's `own` spans to it.
    pub fn reduce_scatter(&self, steps: &mut dyn Steps, own: &[Vec<Span>]) {
        let columns = self.columns(own);
        for row in self.members.chunks(self.width) {
            match self.within {
                Within::Direct => direct::reduce_scatter(steps, row, &columns),
                Within::Ring => ring::reduce_scatter(steps, row, &columns),
            }
        }
        for column in 0..self.width {
            let (members, own) = self.column(column, own);
            ring::reduce_scatter(steps, &members, &own);
        }
    }

    /// Hands each member's `own` spans to all.
    pub fn all_gather(&self, steps: &mut dyn Steps, own: &[Vec<Span>]) {
        for column in 0..self.width {
            let (members, own) = self.column(column, own);
            ring::all_gather(steps, &members, &own);
        }
        let columns = self.columns(own);
        for row in self.members.chunks(self.width) {
            match self.within {
                Within::Direct => direct::all_gather(steps, row, &columns),
                Within::Ring => ring::all_gather(steps, row, &columns),
            }
        }
    }

    /// Messages of one of these, or of an all-to-all in two levels.
    pub fn messages(&self) -> u128 {
        let (n, width, rows) = (self.members.len() as u128, self.width as u128, self.rows() as u128);
        n * (width - 1) + n * (rows - 1)
    }
}
