//! Networks that a search makes for a number of routers and a degree.

use pyo3::prelude::*;
use topoloom::synthesis::{Aim, Question, Synthesis, synthesise as search};

use crate::compute::try_compute;
use crate::results::Record;

/// Searches for the Cayley graph of the least average distance, or with `load` of the least loaded channels: for `seconds`,
/// or until `graphs` were compared.
#[pyfunction]
#[pyo3(signature = (routers, degree, load, group, seed, seconds, graphs))]
#[expect(clippy::too_many_arguments, reason = "they are the fields of a question")]
pub fn synthesise(
    py: Python<'_>,
    routers: u32,
    degree: u32,
    load: bool,
    group: Option<String>,
    seed: u64,
    seconds: f64,
    graphs: Option<u64>,
) -> PyResult<Record<Synthesis>> {
    let aim = if load { Aim::Load } else { Aim::Distance };
    let question = Question { routers, degree, group, aim, seed, seconds, graphs };
    try_compute(py, || search(&question)).map(Record::from)
}
