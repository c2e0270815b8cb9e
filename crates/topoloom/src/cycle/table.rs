//! An array for the engine's inner loops.

use std::ops::{Index, IndexMut};

/// An array of fixed length whose indices are checked in debug builds (and so in the tests) only.
///
/// Bounds checks cost the engine a seventh of its speed. Every index it uses is a port, VC or request number that the
/// construction of the network bounds; nothing that a user gives reaches one unchecked.
#[derive(Debug, Clone)]
pub struct Table<T>(Box<[T]>);

impl<T: Clone> Table<T> {
    /// `len` copies of `value`.
    pub fn filled(value: T, len: usize) -> Self {
        Self(vec![value; len].into_boxed_slice())
    }
}

impl<T> Table<T> {
    /// The number of entries.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Asks for the memory at `index`, which will be used soon; does nothing beyond the end.
    ///
    /// A large network does not fit into the caches that are near: what a cycle touches of it can be on its way before it
    /// is needed.
    #[inline(always)]
    pub fn prefetch(&self, index: usize) {
        #[cfg(target_arch = "x86_64")]
        if let Some(entry) = self.0.get(index) {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            // SAFETY: the instruction is part of every x86-64 processor, and changes nothing but caches.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(entry).cast()) };
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = index;
    }

    /// All entries.
    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.0.iter()
    }

    /// All entries, to change.
    pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, T> {
        self.0.iter_mut()
    }
}

impl<T: Ord> Table<T> {
    /// Sorts the first `len` entries.
    pub fn sort(&mut self, len: usize) {
        self.0[..len].sort_unstable();
    }
}

impl<T> FromIterator<T> for Table<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        Self(items.into_iter().collect())
    }
}

impl<T> Index<usize> for Table<T> {
    type Output = T;

    #[inline(always)]
    fn index(&self, index: usize) -> &T {
        debug_assert!(index < self.0.len(), "{index} of {}", self.0.len());
        // SAFETY: see the type's documentation.
        unsafe { self.0.get_unchecked(index) }
    }
}

impl<T> IndexMut<usize> for Table<T> {
    #[inline(always)]
    fn index_mut(&mut self, index: usize) -> &mut T {
        debug_assert!(index < self.0.len(), "{index} of {}", self.0.len());
        // SAFETY: see the type's documentation.
        unsafe { self.0.get_unchecked_mut(index) }
    }
}
