//! Flits, and the pool that holds those behind the front of a queue.

use std::hint::select_unpredictable;

use super::table::TableMaker;
use crate::memory::{prefetch, use_large_pages};
use crate::routing::PacketState;

/// A flit with its packet's record inline: 28 bytes, so that it takes half a cache line in its pool.
#[derive(Debug, Clone, Copy)]
pub struct Flit {
    /// Destination router.
    pub dst: u32,
    /// The routing's state.
    pub state: PacketState,
    /// Cycle in which the packet was created.
    pub created: u32,
    /// Cycle in which its head left the terminal; in a head that others follow, the flits of the packet. (No reader
    /// needs both.)
    pub injected: u32,
    /// The destination's output at its router.
    pub eject: u16,
    /// The output decided at the router where the flit is.
    pub out: u16,
    /// Routers visited.
    pub hops: u16,
    /// The VC class decided with `out`.
    pub class: u8,
    /// [`HEAD`], [`TAIL`], [`FRESH`], [`ENTERS`], [`ARRIVED`].
    pub kind: u8,
}

/// The first flit of a packet.
pub const HEAD: u8 = 1;
/// The last flit of a packet.
pub const TAIL: u8 = 2;
/// The packet has not been routed yet.
pub const FRESH: u8 = 4;

/// The packet enters a ring that keeps a bubble, by the output decided.
pub const ENTERS: u8 = 8;

/// The packet is at its destination: it leaves by its terminal's port, and has nothing to decide.
pub const ARRIVED: u8 = 16;

/// The output of a head that decides when it comes to the front of its VC.
pub const UNDECIDED: u16 = u16::MAX;

impl Default for Flit {
    fn default() -> Self {
        Self::NONE
    }
}

impl Flit {
    /// What is in a buffer before anything has arrived.
    pub const NONE: Self = Self {
        dst: 0,
        state: PacketState::direct(0),
        created: 0,
        injected: 0,
        eject: 0,
        out: 0,
        hops: 0,
        class: 0,
        kind: 0,
    };

    /// True for a packet's first flit.
    #[inline(always)]
    pub fn is_head(&self) -> bool {
        self.kind & HEAD != 0
    }

    /// Flits of the packet that begins with this one.
    #[inline(always)]
    pub fn size(&self) -> u32 {
        if self.is_tail() { 1 } else { self.injected }
    }

    /// True for a packet's last flit.
    #[inline(always)]
    pub fn is_tail(&self) -> bool {
        self.kind & TAIL != 0
    }

    /// True for a packet's only flit.
    #[inline(always)]
    pub fn is_single(&self) -> bool {
        self.kind & (HEAD | TAIL) == HEAD | TAIL
    }

    /// The flit has arrived at another router, where this was decided if it is a head.
    #[inline(always)]
    pub fn arrive(&mut self, decision: Option<Decision>) {
        self.hops += 1;
        if let Some(decision) = decision {
            self.decide(decision);
        }
    }

    /// Notes what has been decided.
    #[inline(always)]
    pub fn decide(&mut self, Decision { out, class, kind, state }: Decision) {
        (self.out, self.class, self.kind, self.state) = (out, class, kind, state);
    }
}

/// What is decided about a head at a router: the part of a flit that changes there. The rest is copied as a whole,
/// straight to where it is kept.
#[derive(Debug, Clone, Copy)]
pub struct Decision {
    /// [`Flit::out`].
    pub out: u16,
    /// [`Flit::class`].
    pub class: u8,
    /// [`Flit::kind`].
    pub kind: u8,
    /// [`Flit::state`], behind the hop.
    pub state: PacketState,
}

impl Decision {
    /// If the packet `has_arrived`, that it `leaves` the network: all but the state, which no longer matters then. Most likely
    /// without a branch: whether it has is often mispredicted.
    #[inline(always)]
    pub fn unless(self, has_arrived: bool, leaves: Self) -> Self {
        Self {
            out: select_unpredictable(has_arrived, leaves.out, self.out),
            class: select_unpredictable(has_arrived, leaves.class, self.class),
            kind: select_unpredictable(has_arrived, leaves.kind, self.kind),
            state: self.state,
        }
    }
}

/// How many positions ahead memory is asked for.
const AHEAD: usize = 8;

/// The end of a list.
pub const NIL: u32 = u32::MAX;

/// A flit, or packet, and the next of its list. The fields of a flit and the link fill half a cache line.
#[derive(Debug, Clone, Copy)]
#[repr(align(32))]
struct Node<T> {
    item: T,
    next: u32,
}

/// Flits, or packets, in linked lists. A flit stays at its place from its terminal on, on wires and in buffers, until it
/// leaves the domain; what moves is the number of the place. Freed positions are used again last in, first out: what is hot in the cache is used
/// first.
///
/// As with a [`Table`](super::table::Table), release builds do not check places: its owner promises to ask for those only
/// that [`Pool::insert`] of this pool has returned.
#[derive(Debug)]
pub struct Pool<T> {
    nodes: Vec<Node<T>>,
    /// The positions that were freed, the last one behind the others.
    free: Vec<u32>,
}

impl<T: Copy + Default> Pool<T> {
    /// Bytes that are reserved at most.
    const RESERVED: usize = 64 << 20;

    /// An empty pool, under the promise of `_tables`, that holds `most` at a time. Memory is reserved for them: a pool that
    /// grows is copied, and to map pages for the copy takes time. Pages that are reserved and not used take no memory.
    pub fn new(_tables: &TableMaker, most: usize) -> Self {
        let mut nodes = Vec::new();
        // Without it, the pool grows.
        _ = nodes.try_reserve_exact(most.min(Self::RESERVED / size_of::<Node<T>>()));
        use_large_pages(&nodes);
        Self { nodes, free: Vec::new() }
    }

    /// The node at `place`.
    #[inline(always)]
    fn node(&self, place: u32) -> &Node<T> {
        debug_assert!((place as usize) < self.nodes.len(), "{place} of {}", self.nodes.len());
        // SAFETY: the owner of the pool has a `TableMaker`: it has promised that `insert` has returned the place. Nodes never
        // become fewer.
        unsafe { self.nodes.get_unchecked(place as usize) }
    }

    /// The same, to change.
    #[inline(always)]
    fn node_mut(&mut self, place: u32) -> &mut Node<T> {
        debug_assert!((place as usize) < self.nodes.len(), "{place} of {}", self.nodes.len());
        // SAFETY: as above.
        unsafe { self.nodes.get_unchecked_mut(place as usize) }
    }

    /// Stores one, with nothing behind it that counts.
    #[inline(always)]
    pub fn insert(&mut self, item: T) -> u32 {
        let place = match self.free.pop() {
            Some(place) => place,
            None => self.grow(),
        };
        if let Some(&soon) = self.free.get(self.free.len().wrapping_sub(AHEAD)) {
            self.prefetch(soon);
        }
        self.node_mut(place).item = item;
        place
    }

    /// A position more, empty: an item passed on to here would be built in memory, and copied, at each call of `insert`.
    #[cold]
    fn grow(&mut self) -> u32 {
        self.nodes.push(Node { item: T::default(), next: NIL });
        self.nodes.len() as u32 - 1
    }

    /// Puts the list at `next` behind `place`.
    #[inline(always)]
    pub fn link(&mut self, place: u32, next: u32) {
        self.node_mut(place).next = next;
    }

    /// Frees `place`; returns its item, which stays until the place is used again.
    #[inline(always)]
    pub fn release(&mut self, place: u32) -> &T {
        self.free.push(place);
        &self.node(place).item
    }

    /// Frees all these places, in their order; their items stay until the places are used again.
    #[inline(always)]
    pub fn release_all(&mut self, places: impl Iterator<Item = u32>) {
        self.free.extend(places);
    }

    /// The bytes of all positions.
    pub fn bytes(&self) -> usize {
        self.nodes.len() * size_of::<Node<T>>()
    }

    /// Asks for the memory of `place`, which will be used soon.
    #[inline(always)]
    pub fn prefetch(&self, place: u32) {
        prefetch(&self.nodes, place as usize);
    }

    /// What is at `place`, to change.
    #[inline(always)]
    pub fn at(&mut self, place: u32) -> &mut T {
        &mut self.node_mut(place).item
    }

    /// What is at `place`, to read.
    #[inline(always)]
    pub fn get(&self, place: u32) -> &T {
        &self.node(place).item
    }

    /// The rest of the list behind `place`.
    #[inline(always)]
    pub fn behind(&self, place: u32) -> u32 {
        self.node(place).next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pool() -> Pool<u64> {
        // SAFETY: the tests ask for places that `insert` has returned; where not, debug builds find it.
        Pool::new(&unsafe { TableMaker::promise() }, 2)
    }

    #[test]
    fn places_that_were_freed_are_used_again_last_in_first_out() {
        let mut pool = pool();
        let places: Vec<u32> = (0..20).map(|item| pool.insert(item)).collect();
        assert_eq!(places, (0..20).collect::<Vec<_>>());
        assert_eq!([3, 11, 7].map(|place| *pool.release(place)), [3, 11, 7]);
        assert_eq!([100, 101, 102, 103].map(|item| pool.insert(item)), [7, 11, 3, 20]);
        pool.release_all([7, 20, 3].into_iter());
        assert_eq!([(7, 100), (20, 103), (3, 102)].map(|(place, item)| *pool.get(place) == item), [true; 3]);
        assert_eq!([102, 103, 100].map(|item| pool.insert(item)), [3, 20, 7]);
        assert_eq!([7, 11, 3, 20, 4].map(|place| *pool.get(place)), [100, 101, 102, 103, 4]);
        *pool.at(11) += 1;
        assert_eq!(*pool.get(11), 102);
    }

    #[test]
    fn a_list_stays_linked_while_the_pool_grows() {
        let mut pool = pool();
        let first = pool.insert(0);
        let mut last = first;
        for item in 1..1_000 {
            let place = pool.insert(item);
            pool.link(last, place);
            last = place;
        }
        let list = std::iter::successors(Some(first), |&place| Some(pool.behind(place)).filter(|&next| next != NIL));
        assert_eq!(list.map(|place| *pool.get(place)).collect::<Vec<_>>(), (0..1_000).collect::<Vec<_>>());
        // Memory is asked for at any place, or none.
        [0, 999, 1_000, NIL].into_iter().for_each(|place| pool.prefetch(place));
    }

    #[test]
    #[should_panic(expected = "2 of 2")]
    fn debug_builds_find_a_place_that_there_is_not() {
        let mut pool = pool();
        (0..2).for_each(|item| _ = pool.insert(item));
        pool.get(2);
    }
}
