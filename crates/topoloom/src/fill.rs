//! Large vectors, filled in by all cores.

use rayon::prelude::*;

use crate::watch;

/// Parts after which progress is counted: it would cost more than a small part does.
const LOOK: usize = 4096;

/// The vector that consists of the parts `part(0)`, `part(1)`, …, whose lengths are `sizes`.
///
/// # Panics
/// If a part is shorter than its size.
pub fn filled<T, I>(sizes: &[u32], part: impl Fn(usize) -> I + Sync) -> Vec<T>
where
    T: Copy + Send,
    I: Iterator<Item = T>,
{
    let total = sizes.iter().map(|&size| size as usize).sum();
    let mut all: Vec<T> = Vec::with_capacity(total);
    let mut room = &mut all.spare_capacity_mut()[..total];
    let mut parts = Vec::with_capacity(sizes.len());
    for &size in sizes {
        let (own, rest) = room.split_at_mut(size as usize);
        parts.push(own);
        room = rest;
    }
    let stage = watch::stage("building", parts.len() as u64);
    parts.into_par_iter().enumerate().for_each(|(index, own)| {
        if index % LOOK == 0 {
            stage.steps(LOOK as u64);
        }
        let mut values = part(index);
        for place in own {
            place.write(values.next().expect("a part is as long as its size"));
        }
    });
    // SAFETY: every place of every part has been written, and the parts make up the first `total` positions.
    unsafe { all.set_len(total) };
    all
}

#[cfg(test)]
mod tests {
    use super::filled;

    #[test]
    fn parts_stand_one_behind_the_other() {
        let sizes = [2, 0, 3];
        let parts = |part: usize| (0..10).map(move |i| 10 * part as u32 + i);
        assert_eq!(filled(&sizes, parts), [0, 1, 20, 21, 22]);
        assert!(filled(&[], parts).is_empty());
    }

    #[test]
    #[should_panic(expected = "a part is as long as its size")]
    fn a_part_that_is_too_short_is_noticed() {
        filled(&[2], |_| std::iter::once(1));
    }
}
