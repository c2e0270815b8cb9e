//! An array for the engine's inner loops.

use std::fmt;
use std::ops::{Index, IndexMut};
use std::ptr::NonNull;

use crate::memory::{Region, on_large_pages, prefetch, prefetch_part};

/// An array of fixed length that `table[index]` does not check in release builds; debug builds, and so the tests, do.
///
/// Bounds checks cost the engine a seventh of its speed. So an index out of bounds is undefined behaviour, and only a
/// [`TableMaker`] makes tables: its creator promises, in an `unsafe` block, that no such index is ever used. Every
/// index is the number of a router, port, VC, terminal or request, whose range follows from the network. What others
/// decide (the ports and classes that a routing returns) is checked where it enters the engine, or read by
/// [`Table::checked`] and [`Table::slice`].
pub struct Table<T> {
    entries: NonNull<[T]>,
    /// Where they lie, if not in a box of their own.
    region: Option<Region>,
}

// SAFETY: a table owns its entries, as a box does, and nothing else points to them.
unsafe impl<T: Send> Send for Table<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for Table<T> {}

/// Makes tables for one owner, which has promised how it uses them.
pub struct TableMaker {
    region: Option<Region>,
}

impl TableMaker {
    /// A maker of tables.
    ///
    /// # Safety
    /// Whatever code can reach a table of this maker indexes it (`[]`) below its length only. State at the call which
    /// numbers index the tables, and what bounds them.
    pub unsafe fn promise() -> Self {
        Self { region: None }
    }

    /// Puts tables into a region as long as it has room.
    pub fn within(self, region: Option<&Region>) -> Self {
        Self { region: region.cloned() }
    }

    /// `len` copies of `value`.
    pub fn filled<T: Clone>(&self, value: T, len: usize) -> Table<T> {
        self.of(std::iter::repeat_n(value, len))
    }

    /// The router of each port, given the first port of each and behind them the number of ports.
    pub fn owners(&self, first_ports: &[u32]) -> Table<u32> {
        let ports_of = |(router, ends): (u32, &[u32])| std::iter::repeat_n(router, (ends[1] - ends[0]) as usize);
        // In a vector first: how many come out of parts of several lengths no iterator knows.
        self.of((0..).zip(first_ports.windows(2)).flat_map(ports_of).collect::<Vec<_>>())
    }

    /// The items, in their order.
    pub fn of<T>(&self, items: impl IntoIterator<Item = T>) -> Table<T> {
        let items = items.into_iter();
        let (least, most) = items.size_hint();
        if let Some(region) = &self.region
            && most == Some(least)
            && let Some(first) = region.take::<T>(least)
        {
            let mut len = 0;
            for item in items.take(least) {
                // SAFETY: there is room for `least` of them.
                unsafe { first.add(len).write(item) };
                len += 1;
            }
            return Table { entries: NonNull::slice_from_raw_parts(first, len), region: Some(region.clone()) };
        }
        let mut entries = on_large_pages(least);
        entries.extend(items);
        let entries = Box::leak(entries.into_boxed_slice()).into();
        Table { entries, region: None }
    }
}

impl<T> Drop for Table<T> {
    fn drop(&mut self) {
        // SAFETY: the table owns its entries. They are in a box that was leaked, or else in the region, which lives as long as
        // the table does.
        unsafe {
            match self.region {
                None => drop(Box::from_raw(self.entries.as_ptr())),
                Some(_) => self.entries.drop_in_place(),
            }
        }
    }
}

impl<T: fmt::Debug> fmt::Debug for Table<T> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.all().fmt(to)
    }
}

impl<T> Table<T> {
    #[inline(always)]
    fn all(&self) -> &[T] {
        // SAFETY: the table owns its entries, all of which are initialized.
        unsafe { self.entries.as_ref() }
    }

    #[inline(always)]
    fn all_mut(&mut self) -> &mut [T] {
        // SAFETY: as above.
        unsafe { self.entries.as_mut() }
    }

    /// The number of entries.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.all().len()
    }

    /// Asks for the memory at `index`, which will be used soon; changes nothing, wherever that is.
    ///
    /// A large network does not fit into the near caches: the memory that a cycle touches can be in flight before it is
    /// needed.
    #[inline(always)]
    pub fn prefetch(&self, index: usize) {
        prefetch(self.all(), index);
    }

    /// The same for all entries from `first` on, `len` of them.
    #[inline(always)]
    pub fn prefetch_part(&self, first: usize, len: usize) {
        prefetch_part(self.all(), first, len);
    }

    /// The entry at `index`.
    ///
    /// # Panics
    /// If there is none.
    #[inline(always)]
    pub fn checked(&self, index: usize) -> &T {
        &self.all()[index]
    }

    /// The entries from `first` on, `len` of them.
    ///
    /// # Panics
    /// If there are fewer.
    #[inline(always)]
    pub fn slice(&self, first: usize, len: usize) -> &[T] {
        &self.all()[first..][..len]
    }

    /// The entries from `first` on, `len` of them, under the same promise as single ones.
    #[inline(always)]
    pub fn part(&mut self, first: usize, len: usize) -> Part<'_, T> {
        debug_assert!(first + len <= self.all().len(), "{first} + {len} of {}", self.all().len());
        // SAFETY: the table was made by a `TableMaker`, whose owner promises that what it indexes is in the table.
        Part(unsafe { self.all_mut().get_unchecked_mut(first..first + len) })
    }

    /// All entries.
    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.all().iter()
    }

    /// All entries, to change.
    pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, T> {
        self.all_mut().iter_mut()
    }
}

impl<T: Ord> Table<T> {
    /// Sorts the first `len` entries.
    pub fn sort(&mut self, len: usize) {
        self.all_mut()[..len].sort_unstable();
    }
}

impl<T> Index<usize> for Table<T> {
    type Output = T;

    #[inline(always)]
    fn index(&self, index: usize) -> &T {
        debug_assert!(index < self.all().len(), "{index} of {}", self.all().len());
        // SAFETY: the table was made by a `TableMaker`, whose owner promises that the index is below its length.
        unsafe { self.all().get_unchecked(index) }
    }
}

impl<T> IndexMut<usize> for Table<T> {
    #[inline(always)]
    fn index_mut(&mut self, index: usize) -> &mut T {
        debug_assert!(index < self.all().len(), "{index} of {}", self.all().len());
        // SAFETY: as above.
        unsafe { self.all_mut().get_unchecked_mut(index) }
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
    use std::rc::Rc;

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
    fn tables_lie_in_a_region_as_long_as_it_has_room() {
        let region = Region::of(1).expect("a large page");
        let held = Rc::new(0);
        // Of the others it has no room for all.
        let entry = (Rc::clone(&held), [0u8; 1000]);
        let tables = [8, 1100, 1100].map(|len| maker().within(Some(&region)).filled(entry.clone(), len));
        drop(entry);
        assert_eq!(tables.each_ref().map(|table| table.region.is_some()), [true, true, false]);
        drop(region);
        for (number, table) in tables.iter().enumerate() {
            let ends = [table.checked(0), table.checked(table.len() - 1)];
            assert!(ends.iter().all(|(end, _)| Rc::ptr_eq(end, &held)), "{number}");
        }
        assert_eq!(Rc::strong_count(&held), 1 + 8 + 2 * 1100);
        drop(tables);
        assert_eq!(Rc::strong_count(&held), 1);
        assert_eq!(maker().owners(&[0, 2, 2, 5]).slice(0, 5), [0, 0, 2, 2, 2]);
        // How many these are is not known before.
        let mut odd = maker().within(Region::of(1).as_ref()).of((0..9).filter(|number| number % 2 == 1));
        odd[3] += 4;
        assert_eq!((odd.slice(0, 4), odd.region.is_some()), (&[1, 3, 5, 11][..], false));
    }

    #[test]
    fn no_more_is_put_into_a_region_than_was_expected() {
        /// Its hint is of two more, always.
        struct Endless;

        impl Iterator for Endless {
            type Item = u8;

            fn next(&mut self) -> Option<u8> {
                Some(7)
            }

            fn size_hint(&self) -> (usize, Option<usize>) {
                (2, Some(2))
            }
        }

        let region = Region::of(1).expect("a large page");
        assert_eq!(maker().within(Some(&region)).of(Endless).iter().as_slice(), [7, 7]);
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
