//! Computations without the interpreter's lock, which Ctrl-C ends.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::thread::{Builder, ScopedJoinHandle, scope};
use std::time::Duration;

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use topoloom::watch::{Cancellation, Watch};
use topoloom::{Result, threads};

use crate::error::raise;

/// How long the main thread waits before it looks for Ctrl-C again.
const LOOK: Duration = Duration::from_millis(50);

/// As large as the main thread's is by default.
const STACK_BYTES: usize = 8 << 20;

/// Computes something without the interpreter's lock. In a thread with a watch of its own that is what may end it; the
/// main thread, which alone hears signals, leaves the work to another and listens.
pub fn compute<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    raise(threads::start())?;
    if let Some(watch) = Watch::current() {
        return py.detach(|| watch.run(work)).map_err(interrupt);
    }
    if is_main(py)? { py.detach(|| listening(work)) } else { Ok(py.detach(work)) }
}

/// Computes something that can fail, likewise.
pub fn try_compute<T: Send>(py: Python<'_>, work: impl FnOnce() -> Result<T> + Send) -> PyResult<T> {
    compute(py, work).and_then(raise)
}

fn interrupt(_: Cancellation) -> PyErr {
    PyKeyboardInterrupt::new_err(())
}

fn is_main(py: Python<'_>) -> PyResult<bool> {
    let threading = py.import("threading")?;
    let main = threading.call_method0("main_thread")?.getattr("ident")?;
    threading.call_method0("get_ident")?.eq(main)
}

/// Computes something in a thread of its own, or in this one if the system gives none, until a signal handler raises.
fn listening<T: Send>(work: impl FnOnce() -> T + Send) -> PyResult<T> {
    let watch = Arc::new(Watch::default());
    let work = Mutex::new(Some(work));
    let taken = || work.lock().expect("no thread panics with the lock").take().expect("it is taken once");
    scope(|scope| {
        let (done, ended) = channel::<()>();
        let begun = Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, || {
            // Its end is heard whether it returns or panics.
            let _done = done;
            watch.run(taken())
        });
        let Ok(thread) = begun else { return Ok(taken()()) };
        let mut raised = None;
        while let Err(RecvTimeoutError::Timeout) = ended.recv_timeout(LOOK) {
            if let Err(error) = Python::attach(|py| py.check_signals()) {
                watch.cancel();
                raised = Some(error);
            }
        }
        let result = join(thread);
        raised.map_or_else(|| result.map_err(interrupt), Err)
    })
}

fn join<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}
