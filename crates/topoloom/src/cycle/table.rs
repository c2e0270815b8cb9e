//! An array for the engine's inner loops.

use std::ops::{Index, IndexMut};

use crate::memory::{on_large_pages, prefetch, prefetch_part};

/// An array of fixed length that `table[index]` does not check in release builds; debug builds, and so the tests, do.
///
/// Bounds checks cost the engine a seventh of its speed. So an index out of bounds is undefined behaviour, and only a
/// [`TableMaker`] makes tables: its creator promises, in an `unsafe` block, that no such index is ever used. Every
/// index is the number of a router, port, VC, terminal or request, whose range follows from the network. What others
/// decide (the ports and classes that a routing returns) is checked where it enters the engine, or read by
/// [`Table::checked`] and [`Table::slice`].
#[derive(Debug, Clone)]
pub struct Table<T>(Box<[T]>);

/// Makes tables for one owner, which has promised how it uses them.
pub struct TableMaker(());

impl TableMaker {
    /// A maker of tables.
    ///
    /// # Safety
    /// Whatever code can reach a table of this maker indexes it (`[]`) below its length only. State at the call which
    /// numbers index the tables, and what bounds them.
    pub unsafe fn promise() -> Self {
        Self(())
    }

    /// `len` copies of `value`.
    pub fn filled<T: Clone>(&self, value: T, len: usize) -> Table<T> {
        let mut entries = on_large_pages(len);
        entries.resize(len, value);
        Table(entries.into_boxed_slice())
    }

    /// The items, in their order.
    pub fn of<T>(&self, items: impl IntoIterator<Item = T>) -> Table<T> {
        let items = items.into_iter();
        let mut entries = on_large_pages(items.size_hint().0);
        entries.extend(items);
        Table(entries.into_boxed_slice())
    }
}

impl<T> Table<T> {
    /// The number of entries.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Asks for the memory at `index`, which will be used soon; changes nothing, wherever that is.
    ///
    /// A large network does not fit into the near caches: the memory that a cycle touches can be in flight before it is
    /// needed.
    #[inline(always)]
    pub fn prefetch(&self, index: usize) {
        prefetch(&self.0, index);
    }

    /// The same for all entries from `first` on, `len` of them.
    #[inline(always)]
    pub fn prefetch_part(&self, first: usize, len: usize) {
        prefetch_part(&self.0, first, len);
    }

    /// The entry at `index`.
    ///
    /// # Panics
    /// If there is none.
    #[inline(always)]
    pub fn checked(&self, index: usize) -> &T {
        &self.0[index]
    }

    /// The entries from `first` on, `len` of them.
    ///
    /// # Panics
    /// If there are fewer.
    #[inline(always)]
    pub fn slice(&self, first: usize, len: usize) -> &[T] {
        &self.0[first..][..len]
    }

    /// The entries from `first` on, `len` of them, under the same promise as single ones.
    #[inline(always)]
    pub fn part(&mut self, first: usize, len: usize) -> Part<'_, T> {
        debug_assert!(first + len <= self.0.len(), "{first} + {len} of {}", self.0.len());
        // SAFETY: the table was made by a `TableMaker`, whose owner promises that what it indexes is in the table.
        Part(unsafe { self.0.get_unchecked_mut(first..first + len) })
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

impl<T> Index<usize> for Table<T> {
    type Output = T;

    #[inline(always)]
    fn index(&self, index: usize) -> &T {
        debug_assert!(index < self.0.len(), "{index} of {}", self.0.len());
        // SAFETY: the table was made by a `TableMaker`, whose owner promises that the index is below its length.
        unsafe { self.0.get_unchecked(index) }
    }
}

impl<T> IndexMut<usize> for Table<T> {
    #[inline(always)]
    fn index_mut(&mut self, index: usize) -> &mut T {
        debug_assert!(index < self.0.len(), "{index} of {}", self.0.len());
        // SAFETY: as above.
        unsafe { self.0.get_unchecked_mut(index) }
    }
}

/// Entries of a [`Table`] that are used together, such as those of one router, indexed from 0. Code that holds the parts
/// of several tables need not look up where each table is.
#[derive(Debug)]
pub struct Part<'a, T>(&'a mut [T]);

impl<T> Part<'_, T> {
    /// All of them.
    #[inline(always)]
    pub fn all(&self) -> &[T] {
        self.0
    }

    /// As [`Table::prefetch`].
    #[inline(always)]
    pub fn prefetch(&self, index: usize) {
        prefetch(self.0, index);
    }
}

impl<T> Index<usize> for Part<'_, T> {
    type Output = T;

    #[inline(always)]
    fn index(&self, index: usize) -> &T {
        debug_assert!(index < self.0.len(), "{index} of {}", self.0.len());
        // SAFETY: the promise of the table's maker is for its parts as well.
        unsafe { self.0.get_unchecked(index) }
    }
}

impl<T> IndexMut<usize> for Part<'_, T> {
    #[inline(always)]
    fn index_mut(&mut self, index: usize) -> &mut T {
        debug_assert!(index < self.0.len(), "{index} of {}", self.0.len());
        // SAFETY: as above.
        unsafe { self.0.get_unchecked_mut(index) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn maker() -> TableMaker {
        // SAFETY: the tests use indices below the length with `[]`, and beyond it in debug builds, which check.
        unsafe { TableMaker::promise() }
    }

    #[test]
    fn tables_hold_what_they_are_made_of() {
        let mut table = maker().of([3, 1, 2]);
        table[0] += 1;
        table.sort(2);
        assert_eq!((table.len(), table[0], table[1], *table.checked(2)), (3, 1, 4, 2));
        assert_eq!(table.slice(1, 2), [4, 2]);
        assert_eq!(maker().filled(7, 2).iter().sum::<i32>(), 14);
        table.prefetch(100);
    }

    /// A small run in which every owner of tables keeps its promise: debug builds check the indices, and Miri the
    /// memory.
    fn keeps_within_its_tables(spec: &str, routing: &str, config: &str) {
        let network = crate::topology::build(spec).unwrap();
        let mut config: super::super::Config = serde_json::from_str(config).unwrap();
        (config.warmup, config.measure) = (Some(5), Some(20));
        let point = super::super::simulate(&network, routing, "uniform", 0.4, &config, &crate::watch::NoControl);
        assert!(point.unwrap().flit_hops > 0, "{spec} {routing}");
    }

    #[test]
    fn the_plain_router_keeps_within_its_tables() {
        keeps_within_its_tables("mesh:2x2", "dor", "{}");
    }

    #[test]
    fn threads_keep_within_their_tables() {
        keeps_within_its_tables("torus:3", "duato", r#"{"threads": 2, "seed": 2}"#);
    }

    #[test]
    fn packets_of_any_size_keep_within_their_tables() {
        keeps_within_its_tables("hyperx:2x2,p=1", "ugal-l", r#"{"packet": "1-3"}"#);
    }

    #[test]
    fn cut_through_keeps_within_its_tables() {
        let config = r#"{"allocator": "islip", "iterations": 2, "flow": "vct", "packet": "2"}"#;
        keeps_within_its_tables("mesh:2x2", "dor", config);
    }

    #[test]
    fn delays_keep_within_their_tables() {
        keeps_within_its_tables("mesh:2x2", "dor", r#"{"allocator": "wavefront", "sw_alloc_delay": 2}"#);
    }

    #[test]
    fn virtual_output_queues_keep_within_their_tables() {
        keeps_within_its_tables("torus:3", "duato", r#"{"model": "extoll", "packet": "1-2"}"#);
    }

    #[test]
    #[should_panic(expected = "index out of bounds")]
    fn what_others_decide_is_checked() {
        let table = maker().filled(0, 3);
        table.checked(3);
    }

    #[test]
    #[should_panic(expected = "out of range")]
    fn slices_are_checked() {
        let table = maker().filled(0, 3);
        table.slice(2, 2);
    }

    #[test]
    #[cfg(debug_assertions)]
    #[should_panic(expected = "3 of 3")]
    fn debug_builds_check_every_index() {
        let table = maker().filled(0, 3);
        let _ = table[3];
    }
}
