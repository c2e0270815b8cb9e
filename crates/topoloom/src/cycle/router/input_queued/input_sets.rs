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
