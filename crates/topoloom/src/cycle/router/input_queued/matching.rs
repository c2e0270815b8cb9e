//! Matchings of inputs and outputs: round robin, and along diagonals.

use crate::cycle::table::{Part, Table, TableMaker};

/// How many come before `index` in a round, the first of which is the one behind `last`, the one served last.
#[inline(always)]
pub(super) fn turn(index: u16, last: u16) -> u16 {
    index.wrapping_sub(last).wrapping_sub(1)
}

/// An empty place in a table of round-robin keys.
const UNSET: u64 = u64::MAX;

/// Round-robin choices in the making: the best (key, request) for each place. Positions are noted only for those who ask
/// for the winners by place; most ask the requests, at hand anyway, whether they have won.
#[derive(Debug)]
pub(super) struct Choices {
    best: Table<u64>,
    touched: Table<u16>,
    /// The ranks of the best, where requests have some.
    ranks: Table<u32>,
    pub(super) len: usize,
}

impl Choices {
    /// Room for `places`, the only ones that may be offered to.
    pub(super) fn new(tables: &TableMaker, places: usize) -> Self {
        let (best, touched) = (tables.filled(UNSET, places), tables.filled(0, places));
        Self { best, touched, ranks: tables.filled(0, places), len: 0 }
    }

    /// As [`Choices::offer`], and notes the place, for [`Choices::take`].
    pub(super) fn offer_noted(&mut self, place: u16, rank: Option<u32>, key: u32, request: usize) {
        if self.best[place as usize] == UNSET {
            self.touched[self.len] = place;
            self.len += 1;
        }
        self.offer(place, rank, key, request);
    }

    /// Offers a request with a round-robin key to a slot; the lowest rank wins, of equal ones the lowest key. All have
    /// a rank, or none has. The caller checks afterwards whether each request has won, or clears its slot.
    #[inline(always)]
    pub(super) fn offer(&mut self, place: u16, rank: Option<u32>, key: u32, request: usize) {
        if let Some(rank) = rank {
            let held = std::mem::replace(&mut self.ranks[place as usize], rank);
            let best = &mut self.best[place as usize];
            if *best != UNSET && held < rank {
                self.ranks[place as usize] = held;
                return;
            }
            if *best != UNSET && held > rank {
                *best = u64::from(key) << 32 | request as u64;
                return;
            }
        }
        let best = &mut self.best[place as usize];
        *best = (*best).min(u64::from(key) << 32 | request as u64);
    }

    /// True if a request has won a place, which is then cleared.
    #[inline(always)]
    pub(super) fn wins(&mut self, place: u16, request: usize) -> bool {
        let best = &mut self.best[place as usize];
        let won = *best as u32 == request as u32;
        if won {
            *best = UNSET;
        }
        won
    }

    /// Clears a place.
    pub(super) fn clear(&mut self, place: u16) {
        self.best[place as usize] = UNSET;
    }

    /// Forgets which positions are noted; their winners stay.
    pub(super) fn forget(&mut self) {
        self.len = 0;
    }

    /// Puts the first `len` positions noted in order.
    pub(super) fn sort(&mut self, len: usize) {
        self.touched.sort(len);
    }

    /// The i-th place noted, and its winner; the place is cleared.
    pub(super) fn take(&mut self, i: usize) -> (u16, usize) {
        let place = self.touched[i];
        let best = std::mem::replace(&mut self.best[place as usize], UNSET);
        (place, best as u32 as usize)
    }
}

/// The same among requests without a rank, of keys and numbers below 2^16, in half the memory.
#[derive(Debug)]
pub(super) struct Turns<'a> {
    best: Part<'a, u32>,
}

impl<'a> Turns<'a> {
    /// An empty place in the memory.
    pub(super) const UNSET: u32 = u32::MAX;

    /// Choices for `places`, the only ones that may be offered to, in memory that is all [`Turns::UNSET`].
    #[inline(always)]
    pub(super) fn of(memory: &'a mut Table<u32>, places: usize) -> Self {
        Self { best: memory.part(0, places) }
    }

    /// Offers a request of an input (VC) to a place, where the first behind `last` wins.
    #[inline(always)]
    pub(super) fn offer(&mut self, place: u16, input: u16, last: u16, request: usize) {
        let best = &mut self.best[place as usize];
        // Its turn and its number, in one sum.
        let key = (u32::from(input.wrapping_sub(last)) << 16).wrapping_add(request as u32).wrapping_sub(1 << 16);
        debug_assert_eq!(key, u32::from(turn(input, last)) << 16 | request as u32);
        *best = (*best).min(key);
    }

    /// True if a request has won a place, which is then cleared.
    #[inline(always)]
    pub(super) fn wins(&mut self, place: u16, request: usize) -> bool {
        let best = &mut self.best[place as usize];
        let won = *best & 0xFFFF == request as u32;
        if won {
            *best = Self::UNSET;
        }
        won
    }

    /// Clears a place.
    #[inline(always)]
    pub(super) fn clear(&mut self, place: u16) {
        self.best[place as usize] = Self::UNSET;
    }
}

/// A request of an input (VC) for an output (VC), to a wavefront allocator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Pairing {
    /// Lower ones come first, whatever their diagonals.
    pub(super) rank: u32,
    /// How many diagonals come before its own.
    pub(super) diagonal: u32,
    pub(super) output: u16,
    pub(super) input: u16,
    /// Whose turn it is, of several VCs of one input that ask for one output.
    pub(super) turn: u32,
    pub(super) place: usize,
}

/// Leaves the requests that a wavefront allocator serves: along the diagonals, whatever takes no input nor output that
/// is taken already.
pub(super) fn wavefront(requests: &mut Vec<Pairing>) {
    requests.sort_unstable();
    let mut served = 0;
    for i in 0..requests.len() {
        let request = requests[i];
        if requests[..served].iter().all(|other| other.input != request.input && other.output != request.output) {
            requests[served] = request;
            served += 1;
        }
    }
    requests.truncate(served);
}

/// The diagonals that a router's wavefront allocators begin with next.
#[derive(Debug, Clone, Copy)]
pub(super) struct Diagonals {
    pub(super) vcs: u32,
    pub(super) switch: u32,
}
