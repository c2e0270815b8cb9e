//! Channels by level, the lowest first: a radix heap (Ahuja, Mehlhorn, Orlin, Tarjan, *Faster Algorithms for the
//! Shortest Path Problem*, 1990).
//!
//! Progressive filling asks for levels in increasing order. Entries therefore wait in buckets by the highest bit in
//! which their level differs from the last one that was taken, and only the lowest bucket is ever sorted out. A binary
//! heap of an entry for each of a million channels goes through memory at random; this goes through it in order.

/// A channel that is to be looked at when a level is reached.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C, packed(4))]
pub struct LevelEntry {
    pub level: f64,
    pub channel: u32,
}

impl LevelEntry {
    /// As whole numbers, levels from 0 up are in the same order.
    fn key(&self) -> u64 {
        self.level.max(0.0).to_bits()
    }
}

/// Entries by level. One below the level last taken comes at once; equal ones come in no particular order, but always
/// the same.
#[derive(Debug)]
pub struct RadixHeap {
    /// Of the level last taken.
    last: u64,
    /// Those of this very level.
    first: Vec<LevelEntry>,
    /// All others by the highest bit that differs from `last`.
    buckets: [Vec<LevelEntry>; 64],
    /// The bits whose buckets have entries.
    filled: u64,
}

impl RadixHeap {
    pub fn new() -> Self {
        Self { last: 0, first: Vec::new(), buckets: std::array::from_fn(|_| Vec::new()), filled: 0 }
    }

    pub fn push(&mut self, entry: LevelEntry) {
        let differs = entry.key().max(self.last) ^ self.last;
        let Some(highest) = differs.checked_ilog2() else { return self.first.push(entry) };
        self.buckets[highest as usize].push(entry);
        self.filled |= 1 << highest;
    }

    /// The channel of the entry that is taken after this many others, if they are all of the level last taken.
    #[inline]
    pub fn ahead(&self, entries: usize) -> Option<u32> {
        let at = self.first.len().checked_sub(entries + 1)?;
        Some(self.first[at].channel)
    }

    /// Takes an entry of the lowest level. With the last entry taken, levels begin again.
    pub fn pop(&mut self) -> Option<LevelEntry> {
        if let Some(entry) = self.first.pop() {
            return Some(entry);
        }
        if self.filled == 0 {
            self.last = 0;
            return None;
        }
        let lowest = self.filled.trailing_zeros() as usize;
        self.filled &= self.filled - 1;
        let mut entries = std::mem::take(&mut self.buckets[lowest]);
        self.last = entries.iter().map(LevelEntry::key).min().expect("the bucket has entries");
        // All of them agree with the new last level in a bit more than with the old one.
        entries.drain(..).for_each(|entry| self.push(entry));
        self.buckets[lowest] = entries;
        self.first.pop()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn turns_come_by_level(steps in prop::collection::vec(prop::option::weighted(0.6, 0u32..1000), 1..200)) {
            let (mut heap, mut waiting, mut last) = (RadixHeap::new(), Vec::new(), 0.0);
            for (channel, step) in (0..).zip(steps) {
                if let Some(above) = step {
                    // Some below the level last taken: they come as soon as any.
                    let level = (last + f64::from(above) / 7.0 - 5.0) * 1e6;
                    waiting.push(level);
                    heap.push(LevelEntry { level, channel });
                } else if let Some(entry) = heap.pop() {
                    let place = waiting.iter().position(|level| *level == entry.level).expect("it was pushed");
                    waiting.swap_remove(place);
                    last = f64::max(last, entry.level / 1e6);
                    prop_assert!(waiting.iter().all(|level| entry.level <= level.max(last * 1e6)));
                } else {
                    prop_assert!(waiting.is_empty());
                    last = 0.0;
                }
            }
        }
    }
}
