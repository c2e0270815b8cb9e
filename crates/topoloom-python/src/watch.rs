//! What ends computations from another thread, and reports how far they are.

use std::sync::Arc;

use pyo3::prelude::*;
use topoloom::watch::Watch;
use topoloom::{Result, threads};

use crate::error::raise;

/// Stops the computations that it was given to, and hears how far they are, from any thread.
#[pyclass(frozen, module = "topoloom._core")]
pub struct CancelToken(pub Arc<Watch>);

#[pymethods]
impl CancelToken {
    #[new]
    fn new() -> Self {
        Self(Arc::default())
    }

    /// Asks for a stop.
    fn cancel(&self) {
        self.0.cancel();
    }

    /// Lets this thread compute under the token from now on.
    fn enter(&self) {
        self.0.enter();
    }

    /// Steps of the stage at hand: cycles simulated, or messages that have begun, of the simulation that reported last.
    #[getter]
    fn done(&self) -> u64 {
        self.0.done()
    }

    /// The threads that a simulation uses, if the system gave fewer than requested.
    #[getter]
    fn threads(&self) -> Option<u32> {
        self.0.threads()
    }

    /// The stage of a computation: its name, the steps that are done, and all (0 if unknown).
    #[getter]
    fn stage(&self) -> Option<(&'static str, u64, u64)> {
        self.0.stage().map(|progress| (progress.stage, progress.done, progress.total))
    }
}

impl CancelToken {
    /// Runs an engine, which looks at the token itself.
    pub fn run<T: Send>(&self, py: Python<'_>, engine: impl Send + FnOnce() -> Result<T>) -> PyResult<T> {
        raise(threads::start())?;
        raise(py.detach(engine))
    }
}
