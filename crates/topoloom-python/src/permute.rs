//! Permutation of machines that stand, and what permutation does to bandwidth.

use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use topoloom::permute::bandwidth::side_by_side;
use topoloom::permute::list::List;
use topoloom::permute::moves::plan;
use topoloom::permute::{BandwidthComparison, How, PermutationSummary, permuted};

use crate::compute::{compute, try_compute};
use crate::error::TopoloomError;
use crate::network::{Network, sides};
use crate::results::Record;

/// Permutes the cabling list `text` of a file; `how` has the method and its options, as JSON. Returns what came of it, the
/// moves and the list afterwards, both as CSV, and the networks before and afterwards.
#[pyfunction]
pub fn permute_list(
    py: Python<'_>,
    file: &str,
    text: &str,
    how: &str,
) -> PyResult<(Record<PermutationSummary>, String, String, Network, Network)> {
    let how: How = serde_json::from_str(how).map_err(|error| TopoloomError::new_err(error.to_string()))?;
    let (summary, moves, after, [from, to]) = try_compute(py, || {
        let list = List::read(file, text)?;
        let found = permuted(&list, &how)?;
        let plan = plan(&list.cabling, &found.cabling);
        let summary = PermutationSummary::new(file, &list, &how, &found, &plan);
        let networks = [list.network(&list.cabling)?, list.network(&plan.reached)?];
        Ok((Record::sorted(&summary), plan.write(&list), list.write(&plan.reached), networks))
    })?;
    Ok((summary, moves, after, from.into(), to.into()))
}

/// Bandwidth before and after by the same means, given partitions to start from (an array of 0 and 1 for the routers each).
#[pyfunction]
pub fn bandwidth_side_by_side(
    py: Python<'_>,
    before: &Network,
    after: &Network,
    partitions: [Vec<PyReadonlyArray1<'_, i32>>; 2],
) -> PyResult<Record<BandwidthComparison>> {
    let [of_before, of_after] = partitions;
    let partitions = [sides(before, &of_before)?, sides(after, &of_after)?];
    let found = compute(py, || side_by_side([&before.network, &after.network], partitions))?;
    Ok(Record::sorted(&found.into()))
}
