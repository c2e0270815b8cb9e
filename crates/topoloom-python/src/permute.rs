//! Permutation of machines that stand, and what permutation does to bandwidth.

use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use serde_json::json;
use topoloom::permute::bandwidth::side_by_side;
use topoloom::permute::list::List;
use topoloom::permute::moves::plan;
use topoloom::permute::{How, permuted};

use crate::compute::{compute, try_compute};
use crate::error::TopoloomError;
use crate::network::{Network, sides};
use crate::results::json;

/// Permutes the cabling list `text` of a file; `how` has the method and its options, as JSON. Returns what came of it as a JSON
/// object, the moves and the list afterwards, both as CSV, and the networks before and afterwards.
#[pyfunction]
pub fn permute_list(
    py: Python<'_>,
    file: &str,
    text: &str,
    how: &str,
) -> PyResult<(String, String, String, Network, Network)> {
    let how: How = serde_json::from_str(how).map_err(|error| TopoloomError::new_err(error.to_string()))?;
    let (told, moves, after, [from, to]) = try_compute(py, || {
        let list = List::read(file, text)?;
        let found = permuted(&list, &how)?;
        let plan = plan(&list.cabling, &found.cabling);
        let told = json!({
            "file": file, "method": how.method, "seed": how.seed, "swappable": how.swappable, "keep": how.keep,
            "switches": list.cabling.len(), "cables": list.cabling.cables(), "cabinets": list.cabinets(),
            "best_trial": found.trial, "trials": found.trials, "searched": found.searched, "notes": &list.notes,
            "moves": plan.moves.len(), "moved_ends": plan.reached.moved_ends(&list.cabling),
            "left_out": plan.left_out,
            "before": list.cabling.told(), "after": plan.reached.told(),
        });
        let networks = [list.network(&list.cabling)?, list.network(&plan.reached)?];
        Ok((json(&told), plan.write(&list), list.write(&plan.reached), networks))
    })?;
    Ok((told, moves, after, from.into(), to.into()))
}

/// Bandwidth before and after by the same means, given partitions to start from (an array of 0 and 1 for the routers each): a
/// JSON object with `before`, `after` and `losses`, a clause for each number that fell.
#[pyfunction]
pub fn bandwidth_side_by_side(
    py: Python<'_>,
    before: &Network,
    after: &Network,
    partitions: [Vec<PyReadonlyArray1<'_, i32>>; 2],
) -> PyResult<String> {
    let [of_before, of_after] = partitions;
    let partitions = [sides(before, &of_before)?, sides(after, &of_after)?];
    let told = compute(py, || side_by_side([&before.network, &after.network], partitions))?;
    let losses = told[0].losses(&told[1]);
    Ok(json(&json!({ "before": told[0], "after": told[1], "losses": losses })))
}
