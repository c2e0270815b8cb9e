//! Large vectors, filled in by all cores.

use std::mem::MaybeUninit;

use rayon::prelude::*;

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
    prefer_huge_pages(room);
    let mut parts = Vec::with_capacity(sizes.len());
    for &size in sizes {
        let (own, rest) = room.split_at_mut(size as usize);
        parts.push(own);
        room = rest;
    }
    parts.into_par_iter().enumerate().for_each(|(index, own)| {
        let mut values = part(index);
        for place in own {
            place.write(values.next().expect("a part is as long as its size says"));
        }
    });
    // SAFETY: every place of every part has been written, and the parts make up the first `total` places.
    unsafe { all.set_len(total) };
    all
}

/// Asks the system for pages of 2 MB, where there are such: the first touch of many small ones takes as long as the rest.
fn prefer_huge_pages<T>(room: &mut [MaybeUninit<T>]) {
    #[cfg(target_os = "linux")]
    {
        const PAGE: usize = 4096;
        let range = room.as_mut_ptr_range();
        let (first, end) = ((range.start as usize).next_multiple_of(PAGE), range.end as usize / PAGE * PAGE);
        if end > first {
            // SAFETY: the pages belong to `room` alone. The advice changes neither what they hold nor who may use them,
            // and that it may be refused does not matter.
            unsafe { libc::madvise(first as *mut libc::c_void, end - first, libc::MADV_HUGEPAGE) };
        }
    }
}
