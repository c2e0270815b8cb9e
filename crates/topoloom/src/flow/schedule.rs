//! When classes of flows, or pools, are next complete: the earliest first.
//!
//! Rates change far more often than flows are complete, and each change moves a completion. Most of these are far ahead and
//! will move again. Only those up to a *limit* are therefore queued; beyond it the time is written down, and looked at when
//! no entry is queued any more. Those up to the new limit are then sorted at once; what is queued later waits in a heap,
//! which is small. A completion that is put off leaves its entry where it is: when that is the earliest, the completion is
//! queued again for its present time.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::memory::retain_ahead;

/// The time at which something may be complete.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Entry {
    time: f64,
    of: u32,
}

impl Eq for Entry {}

impl Ord for Entry {
    /// The earliest is the greatest, of equal ones that with the lowest id.
    fn cmp(&self, other: &Self) -> Ordering {
        other.time.total_cmp(&self.time).then(other.of.cmp(&self.of))
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// When a class or a pool is next complete; never is infinite.
#[derive(Debug, Clone, Copy)]
pub(super) struct Times {
    /// When it is complete.
    due: f64,
    /// The earliest time that the heap has it for.
    queued: f64,
    /// Whether it is among those beyond the limit.
    far: bool,
}

impl Times {
    pub const NEVER: Self = Self { due: f64::INFINITY, queued: f64::INFINITY, far: false };
}

/// What has times of completion.
pub(super) trait HasTimes {
    fn times(&mut self, of: u32) -> &mut Times;

    /// Asks for the memory of these times.
    fn ask_for(&self, of: u32);

    /// Ids are below.
    fn ids(&self) -> usize;
}

/// The heap takes in this part of those beyond the limit at a time, but as many as this.
const PART: usize = 8;
const FEW: usize = 256;
/// The heap is sorted out when it has this many entries for each id.
const ENTRIES: usize = 4;

/// Completions by time.
#[derive(Debug)]
pub(super) struct Schedule {
    limit: f64,
    /// Those up to the limit: as the limit was moved, the earliest last, and those that have come since.
    sorted: Vec<Entry>,
    near: BinaryHeap<Entry>,
    /// Ids of those beyond it, each once; some may have come nearer or be put off for good in the meantime.
    far: Vec<u32>,
    /// Their times, while the limit moves.
    dues: Vec<f64>,
}

impl Schedule {
    pub fn new() -> Self {
        Self {
            limit: f64::NEG_INFINITY,
            sorted: Vec::new(),
            near: BinaryHeap::new(),
            far: Vec::new(),
            dues: Vec::new(),
        }
    }

    /// Sets the time at which `of` is complete, or puts it off for good if that is infinite.
    #[inline]
    pub fn set(&mut self, all: &mut impl HasTimes, of: u32, time: f64) {
        let own = all.times(of);
        own.due = time;
        if time > self.limit {
            if time.is_finite() && !std::mem::replace(&mut own.far, true) {
                self.far.push(of);
            }
        } else if time < own.queued {
            own.queued = time;
            self.near.push(Entry { time, of });
        }
    }

    /// The next completion, and its time; the lowest id at equal times.
    pub fn first(&mut self, all: &mut impl HasTimes) -> Option<(f64, u32)> {
        loop {
            let Some(Entry { time, of }) = self.peek() else {
                if self.far.is_empty() {
                    return None;
                }
                self.move_limit(all);
                continue;
            };
            let Times { due, queued, .. } = *all.times(of);
            if time == queued && time == due {
                return Some((time, of));
            }
            self.pop();
            if time == queued {
                all.times(of).queued = f64::INFINITY;
                self.set(all, of, due);
            }
        }
    }

    /// The earliest entry of those up to the limit.
    fn peek(&self) -> Option<Entry> {
        // The order is reversed: the earliest is the greatest, and any entry is greater than none.
        self.sorted.last().max(self.near.peek()).copied()
    }

    fn pop(&mut self) {
        if self.sorted.last() > self.near.peek() {
            self.sorted.pop()
        } else {
            self.near.pop()
        };
    }

    /// Takes the next completion if it is not after `until`.
    pub fn take(&mut self, all: &mut impl HasTimes, until: f64) -> Option<(f64, u32)> {
        let (time, of) = self.first(all).filter(|(time, _)| *time <= until)?;
        self.pop();
        let own = all.times(of);
        (own.due, own.queued) = (f64::INFINITY, f64::INFINITY);
        Some((time, of))
    }

    /// Moves the limit so that the heap, which is empty, gets the next completions.
    fn move_limit(&mut self, all: &mut impl HasTimes) {
        let mut dues = std::mem::take(&mut self.dues);
        dues.clear();
        dues.reserve(self.far.len());
        retain_ahead(&mut self.far, all, HasTimes::ask_for, |all, of| {
            let own = all.times(of);
            // What was queued in the meantime has been taken, or comes to the heap again.
            own.far = own.due.is_finite();
            dues.extend(Some(own.due).filter(|due| due.is_finite()));
            own.far
        });
        if let Some(last) = dues.len().checked_sub(1) {
            let place = last.min(FEW.max(dues.len() / PART));
            self.limit = *dues.select_nth_unstable_by(place, f64::total_cmp).1;
        }
        self.dues = dues;
        if self.far.is_empty() {
            return;
        }
        let (limit, sorted) = (self.limit, &mut self.sorted);
        retain_ahead(&mut self.far, all, HasTimes::ask_for, |all, of| {
            let own = all.times(of);
            own.far = own.due > limit;
            if !own.far {
                own.queued = own.due;
                sorted.push(Entry { time: own.due, of });
            }
            own.far
        });
        sorted.sort_unstable();
    }

    /// Drops entries of the heap that no longer count if they are many.
    pub fn sort_out(&mut self, all: &mut impl HasTimes) {
        if self.near.len() > ENTRIES * all.ids() + FEW {
            self.near.retain(|entry| entry.time == all.times(entry.of).queued);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    impl HasTimes for Vec<Times> {
        fn times(&mut self, of: u32) -> &mut Times {
            &mut self[of as usize]
        }

        fn ask_for(&self, _of: u32) {}

        fn ids(&self) -> usize {
            self.len()
        }
    }

    proptest! {
        #[test]
        fn completions_come_as_they_were_last_set(
            steps in prop::collection::vec((0u32..400, prop::option::weighted(0.8, 0u32..900), 0..3), 1..3000)
        ) {
            // More ids than the heap takes in at a time.
            let (mut schedule, mut wanted, mut now) = (Schedule::new(), [f64::INFINITY; 400], 0.0);
            let mut all = vec![Times::NEVER; 400];
            for (of, later, take) in steps {
                let time = later.map_or(f64::INFINITY, |later| now + f64::from(later));
                schedule.set(&mut all, of, time);
                wanted[of as usize] = time;
                schedule.sort_out(&mut all);
                let order = |a: &(f64, u32), b: &(f64, u32)| a.partial_cmp(b).expect("no time is missing");
                let next = wanted.into_iter().zip(0..).min_by(order).filter(|(time, _)| time.is_finite());
                prop_assert_eq!(schedule.first(&mut all), next);
                for _ in 0..take {
                    let next = wanted.into_iter().zip(0..).min_by(order).filter(|(time, _)| time.is_finite());
                    let until = now + 5.0;
                    let taken = schedule.take(&mut all, until);
                    prop_assert_eq!(taken, next.filter(|(time, _)| *time <= until));
                    if let Some((time, of)) = taken {
                        (now, wanted[of as usize]) = (time, f64::INFINITY);
                    }
                }
            }
        }
    }
}
