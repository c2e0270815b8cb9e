//! The turns of channels, the lowest level first: a radix heap (Ahuja, Mehlhorn, Orlin, Tarjan, *Faster Algorithms for the
//! Shortest Path Problem*, 1990).
//!
//! Progressive filling asks for ever higher levels. Turns therefore wait in buckets by the highest bit in which their level
//! differs from the last one that was taken, and only the lowest bucket is ever sorted out. A binary heap of a turn for
//! each of a million channels goes through memory at random; this goes through it in order.

/// A channel that is to be looked at when a level is reached.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Turn {
    pub level: f64,
    pub channel: u32,
}

impl Turn {
    /// As whole numbers, levels from 0 up are in the same order.
    fn key(&self) -> u64 {
        self.level.max(0.0).to_bits()
    }
}

/// Turns by level. One below the level last taken comes at once; equal ones come in no particular order, but always the same.
#[derive(Debug)]
pub struct Turns {
    /// Of the level last taken.
    last: u64,
    /// By one more than the highest bit that differs from `last`; in the first, none does.
    buckets: [Vec<Turn>; 65],
}

impl Turns {
    pub fn new() -> Self {
        Self { last: 0, buckets: std::array::from_fn(|_| Vec::new()) }
    }

    pub fn push(&mut self, turn: Turn) {
        let differs = turn.key().max(self.last) ^ self.last;
        self.buckets[64 - differs.leading_zeros() as usize].push(turn);
    }

    /// Takes a turn of the lowest level. With the last turn taken, levels begin anew.
    pub fn pop(&mut self) -> Option<Turn> {
        if let Some(turn) = self.buckets[0].pop() {
            return Some(turn);
        }
        let Some(lowest) = self.buckets.iter().position(|bucket| !bucket.is_empty()) else {
            self.last = 0;
            return None;
        };
        let mut turns = std::mem::take(&mut self.buckets[lowest]);
        self.last = turns.iter().map(Turn::key).min().expect("the bucket has turns");
        // All of them agree with the new last level in a bit more than with the old one.
        turns.drain(..).for_each(|turn| self.push(turn));
        self.buckets[lowest] = turns;
        self.buckets[0].pop()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn turns_come_by_level(steps in prop::collection::vec(prop::option::weighted(0.6, 0u32..1000), 1..200)) {
            let (mut turns, mut waiting, mut last) = (Turns::new(), Vec::new(), 0.0);
            for (channel, step) in (0..).zip(steps) {
                if let Some(above) = step {
                    // Some below the level last taken: they come as soon as any.
                    let level = (last + f64::from(above) / 7.0 - 5.0) * 1e6;
                    waiting.push(level);
                    turns.push(Turn { level, channel });
                } else if let Some(turn) = turns.pop() {
                    let place = waiting.iter().position(|level| *level == turn.level).expect("it was pushed");
                    waiting.swap_remove(place);
                    last = f64::max(last, turn.level / 1e6);
                    prop_assert!(waiting.iter().all(|level| turn.level <= level.max(last * 1e6)));
                } else {
                    prop_assert!(waiting.is_empty());
                    last = 0.0;
                }
            }
        }
    }
}
