//! Permutation of machines that stand.

use pyo3::prelude::*;
use serde_json::json;
use topoloom::permute::list::List;
use topoloom::permute::moves::plan;
use topoloom::permute::{Method, Trials, best};

use crate::compute::try_compute;
use crate::network::json;

/// Permutes the cabling list `text` of a file. Returns what came of it as a JSON object, the moves and the list
/// afterwards, both as CSV.
#[pyfunction]
pub fn permute_list(
    py: Python<'_>,
    file: &str,
    text: &str,
    method: &str,
    trials: u32,
    swappable: f64,
    seed: u64,
) -> PyResult<(String, String, String)> {
    try_compute(py, || {
        let list = List::read(file, text)?;
        let how = Trials { method: Method::named(method)?, trials, swappable, seed }.checked()?;
        let found = best(&list.cabling, &how)?;
        let plan = plan(&list.cabling, &found.cabling);
        let told = json!({
            "file": file, "method": how.method.name(), "seed": seed, "swappable": swappable,
            "switches": list.cabling.len(), "cables": list.cabling.cables(), "cabinets": list.cabinets(),
            "best_trial": found.trial, "trials": found.trials, "notes": &list.notes,
            "moves": plan.moves.len(), "moved_ends": plan.reached.moved_ends(&list.cabling),
            "left_out": plan.left_out,
            "before": list.cabling.told(), "after": plan.reached.told(),
        });
        Ok((json(&told), plan.write(&list), list.write(&plan.reached)))
    })
}
