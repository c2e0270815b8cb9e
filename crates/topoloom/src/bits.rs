//! Sets as the bits of words.

/// The positions of the bits of a word that are set, from the lowest up.
#[inline]
pub(crate) fn bits(mut word: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let bit = (word != 0).then(|| word.trailing_zeros());
        word &= word.wrapping_sub(1);
        bit
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_listed_from_the_lowest_up() {
        let all = |word| bits(word).collect::<Vec<_>>();
        assert_eq!([all(0), all(0b1010), all(1 << 63 | 1)], [vec![], vec![1, 3], vec![0, 63]]);
    }
}
