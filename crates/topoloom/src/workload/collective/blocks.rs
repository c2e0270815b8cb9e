//! What the messages of a collective carry: spans of a buffer, and the blocks that algorithms cut it into.

/// Consecutive bytes of the buffer of a collective.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// Where it begins.
    pub start: u64,
    /// How long it is.
    pub bytes: u64,
}

/// A buffer in equal blocks, of each of which one piece is dealt with: pieces of all blocks make one pass of an
/// algorithm.
#[derive(Debug, Clone, Copy)]
pub struct Blocks {
    /// Bytes of the buffer.
    size: u128,
    /// Blocks.
    count: u64,
    /// Which piece of each block, of this many.
    piece: [u64; 2],
}

impl Blocks {
    /// A buffer of `size` bytes in `count` blocks, of which `piece` is one of `pieces` pieces.
    pub fn new(size: u128, count: u64, [piece, pieces]: [u64; 2]) -> Self {
        Self { size, count, piece: [piece, pieces] }
    }

    /// The piece of a block.
    pub fn span(&self, block: u64) -> Span {
        let until = |place: u64| self.size * u128::from(place) / u128::from(self.count);
        let (start, end) = (until(block), until(block + 1));
        let [piece, pieces] = self.piece.map(u128::from);
        let within = |place: u128| (start + (end - start) * place / pieces) as u64;
        Span { start: within(piece), bytes: within(piece + 1) - within(piece) }
    }

    /// The pieces of some blocks; neighbours are one span.
    pub fn spans(&self, blocks: impl IntoIterator<Item = u64>) -> Vec<Span> {
        let mut spans: Vec<Span> = Vec::new();
        for span in blocks.into_iter().map(|block| self.span(block)).filter(|span| span.bytes > 0) {
            match spans.last_mut() {
                Some(last) if last.start + last.bytes == span.start => last.bytes += span.bytes,
                _ => spans.push(span),
            }
        }
        spans
    }

    /// The pieces of all blocks.
    pub fn all(&self) -> Vec<Span> {
        self.spans(0..self.count)
    }
}

/// What one rank sends to another in a step of a collective.
#[derive(Debug, Clone)]
pub struct Transfer {
    /// The task that sends.
    pub source: u32,
    /// The task that receives.
    pub target: u32,
    /// What it carries: the sender's values as they are when it sends.
    pub spans: Vec<Span>,
    /// Whether the receiver combines them with its own, or takes them instead of its own.
    pub reduces: bool,
}

impl Transfer {
    /// The receiver combines what it has with what it gets.
    pub fn reduce(source: u32, target: u32, spans: Vec<Span>) -> Self {
        Self { source, target, spans, reduces: true }
    }

    /// The receiver takes what it gets.
    pub fn copy(source: u32, target: u32, spans: Vec<Span>) -> Self {
        Self { source, target, spans, reduces: false }
    }

    /// Bytes of the message; 0 if there is nothing to send.
    pub fn bytes(&self) -> u64 {
        self.spans.iter().map(|span| span.bytes).sum()
    }
}

/// A receiver for the steps of an algorithm. In each step every rank sends all its messages, then waits for all that
/// are sent to it.
pub trait Steps {
    /// One step.
    fn step(&mut self, moves: &mut dyn Iterator<Item = Transfer>);
}

/// What is known of the messages of a collective beside their ends and sizes.
#[derive(Debug, Default)]
pub struct Payloads {
    /// Whether each message is taken as it is, not combined; empty if no message is known to be.
    pub copies: Vec<bool>,
    /// What each message carries, where that is recorded.
    pub spans: Option<Vec<Vec<Span>>>,
}

impl Payloads {
    /// Records what messages carry if asked to.
    pub fn new(records: bool) -> Self {
        Self { copies: Vec::new(), spans: records.then(Vec::new) }
    }

    /// Notes what message number `message` carries.
    pub fn note(&mut self, message: u32, carries: Transfer) {
        if !carries.reduces {
            self.copies.resize(message as usize, false);
            self.copies.push(true);
        }
        if let Some(spans) = &mut self.spans {
            spans.resize(message as usize, Vec::new());
            spans.push(carries.spans);
        }
    }
}
