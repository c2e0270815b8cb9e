//! Sets of the input VCs of a router.

use crate::cycle::table::{Table, TableMaker};

/// Sets of the input VCs of a router, a bit each: one for each port, or for each router.
#[derive(Debug)]
pub(super) struct InputSets {
    bits: Table<u64>,
    /// Words of a set.
    pub(super) words: usize,
}

impl InputSets {
    /// Empty sets of input VCs below `inputs`, for each of these `owners`.
    pub(super) fn new(tables: &TableMaker, owners: usize, inputs: usize) -> Self {
        let words = inputs.div_ceil(64);
        Self { bits: tables.filled(0, owners * words), words }
    }

    /// Word `word` of the set of `owner`: the input VCs from 64 times its number on.
    #[inline(always)]
    pub(super) fn word(&self, owner: usize, word: usize) -> u64 {
        self.bits[owner * self.words + word]
    }

    /// The words of a set, with the bits that count: from the input VC behind `last` to the end, then from the start to it.
    #[inline(always)]
    pub(super) fn words_behind(&self, last: u16) -> impl Iterator<Item = (usize, u64)> + use<> {
        let pointer = last.wrapping_add(1);
        let (words, first, from) = (self.words, usize::from(pointer / 64), u64::MAX << (pointer % 64));
        (0..=words).map(move |turn| {
            let word = if first + turn < words { first + turn } else { first + turn - words };
            let part = match turn {
                0 => from,
                _ if turn == words => !from,
                _ => u64::MAX,
            };
            (word, part)
        })
    }

    /// The first member of the set of `owner` behind `last` that is `suited`.
    // Not inlined, like what else is seldom: the loops of a step need the registers.
    #[inline(never)]
    pub(super) fn first_behind(&self, owner: usize, last: u16, suited: impl Fn(usize) -> bool) -> Option<usize> {
        let in_word = |word: usize, part: u64| {
            let mut bits = self.word(owner, word) & part;
            while bits != 0 {
                let input = word * 64 + bits.trailing_zeros() as usize;
                if suited(input) {
                    return Some(input);
                }
                bits &= bits - 1;
            }
            None
        };
        if self.words == 1 {
            let behind = u64::MAX.checked_shl(u32::from(last) + 1).unwrap_or(0);
            return in_word(0, behind).or_else(|| in_word(0, !behind));
        }
        self.words_behind(last).find_map(|(word, part)| in_word(word, part))
    }

    /// Puts an input VC into the set of `owner`, in which it is not.
    #[inline(always)]
    pub(super) fn insert(&mut self, owner: usize, input: usize) {
        debug_assert!(!self.contains(owner, input), "{input} is in the set of {owner} already");
        self.bits[owner * self.words + input / 64] |= 1 << (input % 64);
    }

    /// Takes an input VC out of the set of `owner`, in which it is.
    #[inline(always)]
    pub(super) fn remove(&mut self, owner: usize, input: usize) {
        debug_assert!(self.contains(owner, input), "{input} is not in the set of {owner}");
        self.bits[owner * self.words + input / 64] &= !(1 << (input % 64));
    }

    /// True if an input VC is in the set of `owner`.
    #[inline(always)]
    pub(super) fn contains(&self, owner: usize, input: usize) -> bool {
        self.bits[owner * self.words + input / 64] >> (input % 64) & 1 == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_of_several_words_keep_their_members_apart() {
        // SAFETY: the tests ask for owners and input VCs that there are.
        let mut sets = InputSets::new(&unsafe { TableMaker::promise() }, 3, 130);
        assert_eq!(sets.words, 3);
        [0, 63, 64, 129].into_iter().for_each(|input| sets.insert(1, input));
        sets.remove(1, 63);
        assert_eq!([0, 1, 2].map(|word| sets.word(1, word)), [1, 1, 2]);
        assert_eq!((0..130).filter(|&input| sets.contains(1, input)).collect::<Vec<_>>(), [0, 64, 129]);
        assert!((0..130).all(|input| !sets.contains(0, input) && !sets.contains(2, input)));
    }
}
