//! The flow engine.

use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1};
use pyo3::prelude::*;
use topoloom::flow::{self, FlowConfig, FlowResult, Phase, Replay};
use topoloom::workload::{Mapping, Message};

use crate::compute::try_compute;
use crate::error::{TopoloomError, raise};
use crate::results::Record;
use crate::routing::Routing;
use crate::watch::CancelToken;
use crate::workload::Workload;

/// What came of a run, the bytes of every channel, and when each message began and was complete.
type RunOutput<'py> = (Record<FlowResult>, Bound<'py, PyArray1<f64>>, Bound<'py, PyArray2<f64>>);

fn told<'py>(py: Python<'py>, mut result: FlowResult) -> PyResult<RunOutput<'py>> {
    let bytes = std::mem::take(&mut result.channel_bytes);
    let times = std::mem::take(&mut result.times);
    let messages = times.len();
    let times = times.into_flattened().into_pyarray(py).reshape([messages, 2])?;
    Ok((result.into(), bytes.into_pyarray(py), times))
}

/// The same of a workload, and of each computation its operation, its beginning and its end.
type WorkloadOutput<'py> =
    (Record<FlowResult>, Bound<'py, PyArray1<f64>>, Bound<'py, PyArray2<f64>>, Bound<'py, PyArray2<f64>>);

/// The terminals that flows come from, and those that they lead to.
type Pairs<'py> = [PyReadonlyArray1<'py, u32>; 2];

/// Flows from arrays of terminals and bytes, all of one length.
fn flows([sources, targets]: &Pairs<'_>, bytes: &PyReadonlyArray1<'_, u64>) -> PyResult<Vec<Message>> {
    let (sources, targets, bytes) = (sources.as_slice()?, targets.as_slice()?, bytes.as_slice()?);
    if sources.len() != targets.len() || sources.len() != bytes.len() {
        return Err(TopoloomError::new_err("sources, targets and bytes must be of one length"));
    }
    let flows = sources.iter().zip(targets).zip(bytes);
    Ok(flows.map(|((&source, &target), &bytes)| Message { source, target, bytes }).collect())
}

/// The keys of the flow engine, with their meaning.
#[pyfunction]
pub fn flow_keys() -> Vec<(&'static str, &'static str)> {
    flow::FLOW_KEYS.iter().map(|key| (key.name, key.doc)).collect()
}

/// The rates, in bytes per second, of flows that are all under way.
#[pyfunction]
pub fn flow_rates<'py>(
    py: Python<'py>,
    routing: &Routing,
    pairs: Pairs<'_>,
    config: &str,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let config = raise(FlowConfig::read(config))?;
    let (sources, targets) = (pairs[0].as_slice()?, pairs[1].as_slice()?);
    let flows: Vec<[u32; 2]> = sources.iter().zip(targets).map(|(&source, &target)| [source, target]).collect();
    let rates = || flow::rates(routing.on(), &routing.named, &flows, &config);
    try_compute(py, rates).map(|rates| rates.into_pyarray(py))
}

/// The keys of what sending and receiving costs, with their meaning.
#[pyfunction]
pub fn endpoint_keys() -> Vec<(&'static str, &'static str)> {
    topoloom::workload::ENDPOINT_KEYS.iter().map(|key| (key.name, key.doc)).collect()
}

/// Runs flows that all begin at the start.
#[pyfunction]
pub fn flow_run<'py>(
    py: Python<'py>,
    routing: &Routing,
    pairs: Pairs<'_>,
    bytes: PyReadonlyArray1<'_, u64>,
    config: &str,
    cancel: &CancelToken,
) -> PyResult<RunOutput<'py>> {
    let config = raise(FlowConfig::read(config))?;
    let flows = flows(&pairs, &bytes)?;
    let run = || flow::run_flows(routing.on(), &routing.named, &flows, &config, &*cancel.0);
    told(py, cancel.run(py, run)?)
}

/// Checks that the flow engine can run a workload, with links of `rate` and a seed; returns its options.
#[pyfunction]
#[pyo3(signature = (workload, config, rate, seed, endpoint=""))]
pub fn flow_check(
    workload: &Workload,
    config: &str,
    rate: &str,
    seed: u64,
    endpoint: &str,
) -> PyResult<Record<FlowConfig>> {
    raise(flow::check_workload(&workload.0))?;
    let config = FlowConfig::with_rate(config, rate, seed).and_then(|config| config.with_endpoint(endpoint));
    raise(config).map(Record::from)
}

/// A job of the past: its name, a number, when it was submitted and when it may begin, how long it ran and was allowed to,
/// and its nodes.
type PastJob = (String, u64, f64, Option<f64>, f64, Option<f64>, u32);

/// Replays the jobs of a machine; each repeats one of the mix, by its number. Later jobs may be filled in before others.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
pub fn flow_replay(
    py: Python<'_>,
    routing: &Routing,
    jobs: Vec<PastJob>,
    mix: Vec<String>,
    allocator: &str,
    backfill: bool,
    config: &str,
    rate: &str,
    seed: u64,
    cancel: &CancelToken,
) -> PyResult<Record<Replay>> {
    let config = raise(FlowConfig::with_rate(config, rate, seed))?;
    let phases = raise(mix.iter().map(|text| Phase::read(text)).collect::<topoloom::Result<Vec<Phase>>>())?;
    let job = |(name, number, submit_s, start_s, elapsed_s, limit_s, nodes): PastJob| {
        let phase = (number % phases.len().max(1) as u64) as usize;
        flow::PastJob { name, submit_s, start_s, elapsed_s, limit_s, nodes, phase }
    };
    let jobs: Vec<flow::PastJob> = jobs.into_iter().map(job).collect();
    let queue = (allocator, backfill);
    let run = || flow::replay(routing.on(), &routing.named, (&jobs, &phases), queue, &config, &*cancel.0);
    cancel.run(py, run).map(Record::from)
}

/// Runs a workload, its tasks on the terminals that are listed, or else where a mapping states.
#[pyfunction]
#[pyo3(signature = (routing, workload, mapping, config, rate, seed, cancel, endpoint="", terminals=None))]
#[allow(clippy::too_many_arguments)]
pub fn flow_workload<'py>(
    py: Python<'py>,
    routing: &Routing,
    workload: &Workload,
    mapping: &str,
    config: &str,
    rate: &str,
    seed: u64,
    cancel: &CancelToken,
    endpoint: &str,
    terminals: Option<Vec<u32>>,
) -> PyResult<WorkloadOutput<'py>> {
    let config = raise(FlowConfig::with_rate(config, rate, seed).and_then(|config| config.with_endpoint(endpoint)))?;
    let run = || {
        let mapping = match terminals {
            None => Mapping::new(mapping, &workload.0, routing.on())?,
            Some(listed) => Mapping::on(listed, &workload.0, routing.on())?,
        };
        flow::run(routing.on(), &routing.named, &workload.0, &mapping, &config, &*cancel.0)
    };
    let mut result = cancel.run(py, run)?;
    let computations = std::mem::take(&mut result.computations);
    let rows: Vec<f64> = computations.iter().flat_map(|(op, [start, end])| [f64::from(*op), *start, *end]).collect();
    let rows = rows.into_pyarray(py).reshape([computations.len(), 3])?;
    let (result, bytes, times) = told(py, result)?;
    Ok((result, bytes, times, rows))
}
