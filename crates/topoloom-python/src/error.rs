//! The engine's errors as one Python exception.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

pyo3::create_exception!(
    topoloom,
    TopoloomError,
    PyValueError,
    "A user's mistake, as one sentence: what was wrong, where, and what is allowed."
);

/// Turns what the engine returns into what Python raises.
pub fn raise<T>(result: topoloom::Result<T>) -> PyResult<T> {
    result.map_err(|error| TopoloomError::new_err(error.to_string()))
}
