//! Where the threads of a run wait for each other.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

/// A barrier for short waits: spins, then gives the processor away, then sleeps. On a busy machine, or with more threads
/// than processors, the thread that is waited for needs the processor of those that wait.
///
/// A thread that panics breaks it, so that the others do not wait without end.
pub struct Barrier {
    threads: u32,
    arrived: AtomicU32,
    round: AtomicU32,
    broken: AtomicBool,
    /// Threads that sleep, or are about to.
    asleep: AtomicU32,
    lock: Mutex<()>,
    woken: Condvar,
}

/// Breaks the barrier if its thread panics.
pub struct BreakOnPanic<'b>(pub &'b Barrier);

impl Drop for BreakOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.broken.store(true, Ordering::SeqCst);
            self.0.wake();
        }
    }
}

impl Barrier {
    /// For this many threads.
    pub fn new(threads: u32) -> Self {
        Self {
            threads,
            arrived: AtomicU32::new(0),
            round: AtomicU32::new(0),
            broken: AtomicBool::new(false),
            asleep: AtomicU32::new(0),
            lock: Mutex::new(()),
            woken: Condvar::new(),
        }
    }

    /// Waits until all threads have come.
    pub fn wait(&self) {
        /// Looks at the round before the processor is given away: some 10 µs …
        const SPINS: u32 = 200;
        /// … and before the thread sleeps: some 100 µs where no other thread wants the processor.
        const YIELDS: u32 = 200;
        let round = self.round.load(Ordering::Acquire);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.threads {
            self.arrived.store(0, Ordering::Relaxed);
            // In one order with `asleep` for all threads: a thread that is about to sleep sees this, or is seen.
            self.round.store(round.wrapping_add(1), Ordering::SeqCst);
            if self.asleep.load(Ordering::SeqCst) > 0 {
                self.wake();
            }
            return;
        }
        let mut spins = 0;
        while self.round.load(Ordering::Acquire) == round {
            spins += 1;
            assert!(!self.broken.load(Ordering::Relaxed), "another thread of the run has panicked");
            if spins < SPINS {
                std::hint::spin_loop();
            } else if spins < SPINS + YIELDS {
                std::thread::yield_now();
            } else {
                self.sleep(round);
            }
        }
    }

    /// Sleeps until the round has ended, or another thread has panicked.
    fn sleep(&self, round: u32) {
        let mut guard = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        self.asleep.fetch_add(1, Ordering::SeqCst);
        while self.round.load(Ordering::SeqCst) == round && !self.broken.load(Ordering::SeqCst) {
            guard = self.woken.wait(guard).unwrap_or_else(PoisonError::into_inner);
        }
        self.asleep.fetch_sub(1, Ordering::SeqCst);
    }

    /// Wakes all that sleep; one that is about to sleep holds the lock until it does.
    fn wake(&self) {
        drop(self.lock.lock().unwrap_or_else(PoisonError::into_inner));
        self.woken.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread::{scope, sleep};
    use std::time::Duration;

    /// Longer than a thread spins and yields.
    const LONG: Duration = Duration::from_millis(20);

    #[test]
    fn no_thread_goes_on_before_all_have_come() {
        let (barrier, come) = (Barrier::new(3), AtomicU32::new(0));
        scope(|threads| {
            for own in 0..3 {
                let (barrier, come) = (&barrier, &come);
                threads.spawn(move || {
                    for round in 0..300 {
                        // In some rounds one thread is so late that the others sleep.
                        if round % 60 == 20 * own {
                            sleep(LONG);
                        }
                        come.fetch_add(1, Ordering::SeqCst);
                        barrier.wait();
                        assert_eq!(come.load(Ordering::SeqCst), 3 * (round + 1));
                        barrier.wait();
                    }
                });
            }
        });
        assert_eq!(barrier.asleep.load(Ordering::SeqCst), 0);
    }

    #[test]
    fn a_panic_ends_those_that_sleep() {
        let barrier = Barrier::new(2);
        scope(|threads| {
            let waits = threads.spawn(|| barrier.wait());
            let panics = threads.spawn(|| {
                let _guard = BreakOnPanic(&barrier);
                sleep(LONG);
                panic!("on purpose");
            });
            assert!(panics.join().is_err());
            assert!(waits.join().is_err(), "it does not wait without end");
        });
    }
}
