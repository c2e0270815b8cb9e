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

    /// Asks for the memory of the set of `owner`.
    #[inline(always)]
    pub(super) fn prefetch(&self, owner: usize) {
        self.bits.prefetch(owner * self.words);
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

    /// Takes the first member of the set of `owner` behind `last` that is `suited` out of it.
    #[inline(always)]
    pub(super) fn take_first_behind(
        &mut self,
        owner: usize,
        last: u16,
        suited: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        if self.words > 1 {
            return self.take_first_of_several(owner, last, suited);
        }
        // Rotated to the first one that counts, they are in their order.
        let from = u32::from(last) + 1;
        let mut bits = self.bits[owner].rotate_right(from);
        while bits != 0 {
            let input = ((bits.trailing_zeros() + from) % u64::BITS) as usize;
            if suited(input) {
                self.bits[owner] &= !(1 << input);
                return Some(input);
            }
            bits &= bits - 1;
        }
        None
    }

    /// The same in sets of several words.
    // Not inlined, like what else is seldom: the loops of a step need the registers.
    #[inline(never)]
    fn take_first_of_several(&mut self, owner: usize, last: u16, suited: impl Fn(usize) -> bool) -> Option<usize> {
        let first = self.words_behind(last).find_map(|(word, part)| {
            let mut bits = self.word(owner, word) & part;
            while bits != 0 {
                let input = word * 64 + bits.trailing_zeros() as usize;
                if suited(input) {
                    return Some(input);
                }
                bits &= bits - 1;
            }
            None
        })?;
        self.remove(owner, first);
        Some(first)
    }

    /// Puts the first one that is not in the set of `owner` into it; some is not.
    #[inline(always)]
    pub(super) fn insert_first(&mut self, owner: usize) -> usize {
        let (mut word, first) = (0, owner * self.words);
        while self.bits[first + word] == u64::MAX {
            word += 1;
        }
        let bits = &mut self.bits[first + word];
        let place = word * 64 + bits.trailing_ones() as usize;
        *bits |= *bits + 1;
        place
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

    #[test]
    fn the_first_that_is_missing_is_put_in() {
        for inputs in [5, 64, 65, 130] {
            // SAFETY: as above.
            let mut sets = InputSets::new(&unsafe { TableMaker::promise() }, 3, inputs);
            assert!((0..inputs).all(|place| sets.insert_first(1) == place));
            for place in [inputs - 1, inputs / 2, 0] {
                sets.remove(1, place);
                assert_eq!(sets.insert_first(1), place);
            }
            [inputs - 1, 1].into_iter().for_each(|place| sets.remove(1, place));
            assert_eq!([sets.insert_first(1), sets.insert_first(1)], [1, inputs - 1]);
            assert!((0..inputs).all(|place| !sets.contains(0, place) && !sets.contains(2, place)));
        }
    }

    #[test]
    fn the_first_behind_is_taken_in_turn_and_no_other() {
        for inputs in [5, 64, 65, 130] {
            // SAFETY: as above.
            let mut sets = InputSets::new(&unsafe { TableMaker::promise() }, 2, inputs);
            let members = |sets: &InputSets| (0..inputs).filter(|&input| sets.contains(1, input)).collect::<Vec<_>>();
            for last in (0..inputs as u16).chain([u16::MAX]) {
                for step in [1, 3, 40] {
                    let all: Vec<usize> = (0..inputs).step_by(step).collect();
                    members(&sets).into_iter().for_each(|input| sets.remove(1, input));
                    all.iter().for_each(|&input| sets.insert(1, input));
                    let suited = |input: usize| input % 2 == 1;
                    // Behind the last one, and round again from the first.
                    let turn = |input: &usize| (*input + inputs - (usize::from(last.wrapping_add(1)))) % inputs;
                    let first = all.iter().copied().filter(|&input| suited(input)).min_by_key(turn);
                    assert_eq!(sets.take_first_behind(1, last, suited), first, "{inputs} {last} {step}");
                    let left: Vec<usize> = all.into_iter().filter(|&input| Some(input) != first).collect();
                    assert_eq!(members(&sets), left);
                }
            }
        }
    }
}
