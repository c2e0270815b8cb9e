//! Long computations, watched and stopped from outside.
//!
//! The caller runs a computation under a [`Watch`], which any thread may read or cancel. A long loop opens a [`stage`]
//! and counts its steps; without a watch that costs a branch. A cancelled computation unwinds from its next step,
//! without a message, up to [`Watch::run`]: no function in between needs an error that it has no other use for. Steps
//! are counted where no lock is held and nothing is half done that outlives the computation.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The watcher of a run.
pub trait Control: Sync {
    /// True if the run is to stop as soon as possible.
    fn cancelled(&self) -> bool;

    /// Called some times a second with the cycles simulated so far.
    fn progress(&self, _cycles: u64) {}

    /// Called when the system has rejected threads: the run continues with this many.
    fn fewer_threads(&self, _threads: u32) {}
}

/// No watcher.
#[derive(Debug, Clone, Copy)]
pub struct NoControl;

impl Control for NoControl {
    fn cancelled(&self) -> bool {
        false
    }
}

/// Stops computations, and knows how far they are.
#[derive(Debug, Default)]
pub struct Watch {
    cancelled: AtomicBool,
    done: AtomicU64,
    total: AtomicU64,
    stage: Mutex<Option<&'static str>>,
    threads: AtomicU32,
}

/// The computation was cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cancellation;

/// What unwinds a cancelled computation.
struct Stop;

/// How far a computation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// What it is at.
    pub stage: &'static str,
    /// Steps that are done.
    pub done: u64,
    /// All steps; 0 if unknown.
    pub total: u64,
}

thread_local! {
    /// The watch of what this thread computes.
    static CURRENT: RefCell<Option<Arc<Watch>>> = const { RefCell::new(None) };
}

impl Watch {
    /// Asks for a stop.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// The steps that are done of the stage at hand, or of the last one.
    pub fn done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }

    /// The stage at hand, if one is open.
    pub fn stage(&self) -> Option<Progress> {
        let stage = (*self.stage.lock().unwrap_or_else(PoisonError::into_inner))?;
        Some(Progress { stage, done: self.done(), total: self.total.load(Ordering::Relaxed) })
    }

    /// The threads that a simulation went on with, if the system gave fewer than it was to have.
    pub fn threads(&self) -> Option<u32> {
        Some(self.threads.load(Ordering::Relaxed)).filter(|&threads| threads > 0)
    }

    /// The watch that this thread computes under.
    pub fn current() -> Option<Arc<Self>> {
        CURRENT.with_borrow(Clone::clone)
    }

    /// Lets this thread compute under the watch from now on.
    pub fn enter(self: &Arc<Self>) {
        CURRENT.set(Some(Arc::clone(self)));
    }

    /// Computes something under the watch.
    ///
    /// # Errors
    /// [`Cancellation`], some steps after [`Watch::cancel`].
    pub fn run<T>(self: &Arc<Self>, work: impl FnOnce() -> T) -> Result<T, Cancellation> {
        let before = CURRENT.replace(Some(Arc::clone(self)));
        let result = catch_unwind(AssertUnwindSafe(work));
        CURRENT.set(before);
        result.or_else(|panic| if panic.is::<Stop>() { Err(Cancellation) } else { resume_unwind(panic) })
    }

    /// Puts another stage in the place of the one at hand, which is returned.
    fn exchange(&self, stage: Option<Progress>) -> Option<Progress> {
        let before = self.stage();
        let counts = |count: fn(Progress) -> u64| stage.map_or(0, count);
        *self.stage.lock().unwrap_or_else(PoisonError::into_inner) = stage.map(|stage| stage.stage);
        self.total.store(counts(|stage| stage.total), Ordering::Relaxed);
        self.done.store(counts(|stage| stage.done), Ordering::Relaxed);
        before
    }
}

/// A watch is all that a simulation looks at.
impl Control for Watch {
    fn cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    fn progress(&self, done: u64) {
        self.done.store(done, Ordering::Relaxed);
    }

    fn fewer_threads(&self, threads: u32) {
        self.threads.store(threads, Ordering::Relaxed);
    }
}

/// A part of a computation whose steps are counted, from any thread. It ends when this is dropped; a stage around it
/// then continues.
#[derive(Debug)]
pub struct Stage {
    watch: Option<Arc<Watch>>,
    around: Option<Progress>,
    counts: bool,
}

/// Opens a stage of what this thread computes; `total` is the number of its steps, or 0 if unknown.
pub fn stage(name: &'static str, total: u64) -> Stage {
    let watch = Watch::current();
    let around = watch.as_ref().and_then(|watch| watch.exchange(Some(Progress { stage: name, done: 0, total })));
    Stage { watch, around, counts: true }
}

impl Stage {
    /// A step is done. Of a cancelled computation this is the last.
    pub fn step(&self) {
        self.steps(1);
    }

    /// What a step of this stage does itself, on any thread: it ends when the stage is cancelled, and counts no steps.
    pub fn within(&self) -> Self {
        Self { watch: self.watch.clone(), around: None, counts: false }
    }

    /// This many steps are done; none where a long step is only to be cancelled within.
    pub fn steps(&self, count: u64) {
        let Some(watch) = &self.watch else { return };
        if count > 0 && self.counts {
            watch.done.fetch_add(count, Ordering::Relaxed);
        }
        if watch.cancelled.load(Ordering::Relaxed) {
            resume_unwind(Box::new(Stop));
        }
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        if let (Some(watch), true) = (&self.watch, self.counts) {
            watch.exchange(self.around);
        }
    }
}

#[cfg(test)]
mod tests {
    use rayon::prelude::*;

    use super::*;

    #[test]
    fn the_innermost_stage_is_what_is_seen() {
        let watch = Arc::new(Watch::default());
        let seen = watch.run(|| {
            let outer = stage("outer", 3);
            outer.step();
            let inner = stage("inner", 100);
            inner.steps(50);
            let within = watch.stage();
            drop(inner);
            outer.step();
            [within, watch.stage()]
        });
        let inner = Progress { stage: "inner", done: 50, total: 100 };
        assert_eq!(seen, Ok([inner, Progress { stage: "outer", done: 2, total: 3 }].map(Some)));
        assert_eq!(watch.stage(), None, "the stage has ended");
    }

    #[test]
    fn what_a_step_does_counts_no_steps_and_is_cancelled_on_any_thread() {
        let watch = Arc::new(Watch::default());
        let ended = watch.run(|| {
            let stage = stage("trials", 3);
            stage.step();
            let within = stage.within();
            within.steps(50);
            drop(within);
            assert_eq!(watch.stage(), Some(Progress { stage: "trials", done: 1, total: 3 }));
            watch.cancel();
            let within = &stage.within();
            std::thread::scope(|scope| {
                scope.spawn(|| catch_unwind(AssertUnwindSafe(|| within.steps(0))).is_err()).join()
            })
        });
        assert!(matches!(ended, Ok(Ok(true))), "the thread has no watch of its own");
    }

    #[test]
    fn a_cancelled_computation_ends_on_all_threads() {
        let watch = Arc::new(Watch::default());
        let work = || {
            let stage = stage("forever", 0);
            (0..4u64).into_par_iter().for_each(|_| {
                loop {
                    watch.cancel();
                    stage.step();
                }
            });
        };
        assert_eq!(watch.run(work), Err(Cancellation));
        assert!(Watch::current().is_none());
        stage("unwatched", 1).step();
    }

    #[test]
    fn other_panics_go_on() {
        let watch = Arc::new(Watch::default());
        let caught = catch_unwind(|| watch.run(|| resume_unwind(Box::new("another"))));
        assert_eq!(caught.expect_err("it panics").downcast_ref(), Some(&"another"));
    }
}
