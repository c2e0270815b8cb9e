//! The threads that computations share, as many as the system gives.

use std::sync::Mutex;
use std::sync::mpsc::channel;
use std::thread::{Builder, Scope, ScopedJoinHandle, available_parallelism};

use crate::error::{Error, Result};
use crate::memory;

/// Starts the threads that computations share, unless they have been: one per processor, or `RAYON_NUM_THREADS`. Where
/// the system gives fewer, half of those: the computations themselves need memory, too. Left to itself rayon starts its
/// threads at their first use, and panics if one is rejected.
///
/// # Errors
/// [`Error::TooLarge`] if the system gives no thread at all; it may give one later.
pub fn start() -> Result<()> {
    static STARTED: Mutex<bool> = Mutex::new(false);
    let mut started = STARTED.lock().expect("no thread panics with the lock");
    if *started {
        return Ok(());
    }
    let wanted = wanted();
    let threads = match granted(wanted) {
        0 => return Err(refused()),
        all if all == wanted => all,
        some => some.div_ceil(2),
    };
    // It fails where another part of the process has started the threads, and has set their number.
    let _ = rayon::ThreadPoolBuilder::new().num_threads(threads).build_global();
    *started = true;
    Ok(())
}

/// Starts a thread, unless the system rejects it or hardly any memory would be left: threads without memory to work
/// with make the process abort at the next allocation.
pub(crate) fn spawn<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    work: impl FnOnce() -> T + Send + 'scope,
) -> std::io::Result<ScopedJoinHandle<'scope, T>> {
    /// What must be left. So large a block is asked of the system, and goes back to it at once.
    const LEFT_BYTES: usize = 40 << 20;
    memory::share_heaps();
    let mut left = Vec::<u8>::new();
    left.try_reserve_exact(LEFT_BYTES).map_err(|_| std::io::ErrorKind::OutOfMemory)?;
    drop(std::hint::black_box(left));
    Builder::new().spawn_scoped(scope, work)
}

/// The error for a system that does not start even one thread.
fn refused() -> Error {
    Error::TooLarge(
        "the system starts no more threads; raise the limit on processes or on memory (ulimit -u, ulimit -v)"
            .to_owned(),
    )
}

/// The processors that this process may use: those that it is bound to, or fewer if a control group grants less time.
pub fn processors() -> usize {
    available_parallelism().map_or(1, usize::from)
}

fn wanted() -> usize {
    let named = std::env::var("RAYON_NUM_THREADS").ok().and_then(|text| text.parse().ok()).filter(|&number| number > 0);
    named.unwrap_or_else(processors)
}

/// How many of this many threads the system lets live at a time.
fn granted(wanted: usize) -> usize {
    let (keep, wait) = channel::<()>();
    let wait = Mutex::new(wait);
    std::thread::scope(|scope| {
        // They wait, one for the sender's end and the others for the lock.
        let hold = || drop(wait.lock().map(|wait| wait.recv()));
        let threads = (0..wanted).map_while(|_| spawn(scope, hold).ok()).count();
        drop(keep);
        threads
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_that_are_to_be_had_are_counted() {
        assert_eq!(granted(3), 3);
        assert_eq!(start(), Ok(()));
        assert_eq!(start(), Ok(()), "once more does no harm");
    }
}
