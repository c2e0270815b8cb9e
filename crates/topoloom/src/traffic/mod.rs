//! Traffic patterns: who sends to whom.

mod registry;

pub use registry::{PATTERNS, PatternInfo, build};

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
}
