//! Simulations and proofs.

use std::sync::Arc;

use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use topoloom::cycle::{self, Config, Point};
use topoloom::metrics::{load, routes};
use topoloom::routing::Routing as _;
use topoloom::watch::Watch;
use topoloom::{Result, routing, threads, traffic};

use crate::compute::try_compute;
use crate::error::raise;
use crate::network::{Network, json};

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

    /// Steps of the stage at hand: cycles simulated, or messages that have begun, of the simulation that told last.
    #[getter]
    fn done(&self) -> u64 {
        self.0.done()
    }

    /// The threads that a simulation went on with, if the system gave fewer than it was to have.
    #[getter]
    fn threads(&self) -> Option<u32> {
        self.0.threads()
    }

    /// What a computation is at: a name, the steps that are done, and all (0 if nobody knows).
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

/// Simulates one point; nothing if it was cancelled before it began.
fn point(
    py: Python<'_>,
    cancel: &CancelToken,
    engine: impl Send + FnOnce() -> Result<Point>,
) -> PyResult<Option<Point>> {
    cancel.run(py, || cancel.0.run(engine).map_or(Ok(None), |point| point.map(Some)))
}

/// The JSON of a simulation that was cancelled before it began.
const INTERRUPTED: &str = r#"{"interrupted": true}"#;

/// Simulates one point without the interpreter's lock; returns its JSON.
#[pyfunction]
pub fn simulate(
    py: Python<'_>,
    network: &Network,
    routing: &str,
    traffic: &str,
    load: f64,
    config_json: &str,
    cancel: &CancelToken,
) -> PyResult<String> {
    let config = raise(read(config_json))?;
    let run = || cycle::simulate(&network.0, routing, traffic, load, &config, &*cancel.0);
    Ok(point(py, cancel, run)?.map_or_else(|| INTERRUPTED.to_owned(), |point| json(&point)))
}

/// Simulates one point; returns its JSON, and the flits a cycle on each channel between routers: two channels a
/// link, in the order of `Network.edges`, from its first router to its second and back.
#[pyfunction]
pub fn simulate_channels<'py>(
    py: Python<'py>,
    network: &Network,
    routing: &str,
    traffic: &str,
    load: f64,
    config_json: &str,
    cancel: &CancelToken,
) -> PyResult<(String, Bound<'py, PyArray1<f32>>)> {
    let config = raise(read(config_json))?;
    let run = || cycle::simulate(&network.0, routing, traffic, load, &config, &*cancel.0);
    let Some(point) = point(py, cancel, run)? else {
        return Ok((INTERRUPTED.to_owned(), Vec::new().into_pyarray(py)));
    };
    let ports = network.0.links().iter().flat_map(|link| link.ends);
    // A run that was stopped early has counted nothing.
    let flits = ports.map(|port| point.link_utilisation.get(port.index()).map_or(0.0, |&flits| flits as f32));
    let flits: Vec<f32> = flits.collect();
    Ok((json(&point), flits.into_pyarray(py)))
}

/// Checks all that can be checked before a run at `load`; returns the options with everything filled in, as JSON.
#[pyfunction]
pub fn check(
    py: Python<'_>,
    network: &Network,
    routing: &str,
    traffic: &str,
    load: f64,
    config_json: &str,
) -> PyResult<String> {
    let config = raise(read(config_json))?;
    let run = try_compute(py, || cycle::Run::new(&network.0, routing, traffic, load, &config));
    run.map(|run| json(run.config()))
}

/// How the router of a configuration is set up, in words: (what, value with its unit).
#[pyfunction]
pub fn router_settings(config_json: &str) -> PyResult<Vec<(&'static str, String)>> {
    let config = raise(read(config_json))?;
    Ok((config.router.model().describe)(&config.router))
}

/// The load that a trace has by itself; None for traffic that takes any load.
#[pyfunction]
pub fn trace_load(py: Python<'_>, network: &Network, traffic: &str) -> PyResult<Option<f64>> {
    let traffic = try_compute(py, || topoloom::traffic::build(&network.0, traffic))?;
    Ok(traffic.trace().map(topoloom::traffic::Trace::load))
}

/// The largest load, of 1 at most, at which every terminal can create its packets.
#[pyfunction]
pub fn most_load(py: Python<'_>, network: &Network, traffic: &str, config_json: &str) -> PyResult<f64> {
    let config = raise(read(config_json))?;
    try_compute(py, || cycle::most_load(&network.0, traffic, &config))
}

/// The 97.5 % quantile of Student's t.
#[pyfunction]
pub fn student_t(degrees: usize) -> f64 {
    topoloom::statistics::student_t(degrees)
}

/// Checks that the network offers a routing. Returns what a user should know of how it runs there, if anything.
#[pyfunction]
pub fn check_routing(py: Python<'_>, network: &Network, routing: &str) -> PyResult<Option<String>> {
    try_compute(py, || routing::build(&network.0, routing)).map(|built| built.note())
}

/// Whether a routing that the network offers decides by congestion.
#[pyfunction]
pub fn adapts(py: Python<'_>, network: &Network, routing: &str) -> PyResult<bool> {
    try_compute(py, || routing::build(&network.0, routing)).map(|built| !built.oblivious())
}

/// Proves a routing free of deadlock, or finds a cycle; returns the proof's JSON.
#[pyfunction]
#[pyo3(signature = (network, routing, vcs=None))]
pub fn verify(py: Python<'_>, network: &Network, routing: &str, vcs: Option<u32>) -> PyResult<String> {
    let proof = try_compute(py, || {
        let algorithm = routing::build(&network.0, routing)?;
        routing::verify::verify(&network.0, routing, &algorithm, vcs)
    });
    proof.map(|proof| json(&proof))
}

/// The largest load that a routing can carry under a traffic pattern, as JSON.
#[pyfunction]
pub fn saturation_bound(py: Python<'_>, network: &Network, routing: &str, traffic: &str) -> PyResult<String> {
    let bound = try_compute(py, || {
        let algorithm = routing::build(&network.0, routing)?;
        load::saturation_bound(&network.0, &algorithm, &traffic::build(&network.0, traffic)?)
    });
    bound.map(|bound| json(&bound))
}

/// The lengths of the ways of a routing, as JSON.
#[pyfunction]
pub fn route_lengths(py: Python<'_>, network: &Network, routing: &str, seed: u64) -> PyResult<String> {
    let lengths = try_compute(py, || routes::route_lengths(&network.0, &routing::build(&network.0, routing)?, seed));
    lengths.map(|lengths| json(&lengths))
}

/// (router, port, expected load) of every channel between routers; refused for routings that decide by congestion.
#[pyfunction]
pub fn channel_loads(
    py: Python<'_>,
    network: &Network,
    routing: &str,
    traffic: &str,
) -> PyResult<Vec<(u32, u32, f64)>> {
    let loads = try_compute(py, || {
        let algorithm = routing::build(&network.0, routing)?;
        load::channel_load(&network.0, routing, &algorithm, &traffic::build(&network.0, traffic)?)
    });
    let loads = loads?;
    Ok(loads.channels(&network.0).map(|(router, port, load)| (router.0, port, load)).collect())
}

/// Flits a cycle from router s to router d, at s * routers + d, if every active terminal offers one; and the largest load
/// of a terminal's link.
#[pyfunction]
pub fn router_demands<'py>(
    py: Python<'py>,
    network: &Network,
    traffic: &str,
) -> PyResult<(Bound<'py, PyArray1<f64>>, f64)> {
    let demands = try_compute(py, || traffic::router_demands(&network.0, &traffic::build(&network.0, traffic)?));
    demands.map(|(flits, terminals)| (flits.into_pyarray(py), terminals))
}

/// Reads options; what is wrong with them is said without the place in the JSON, which nobody typed.
pub fn read(config: &str) -> topoloom::Result<Config> {
    serde_json::from_str(config).map_err(|error| {
        let text = error.to_string();
        topoloom::Error::Config(text.rsplit_once(" at line ").map_or(text.as_str(), |(what, _)| what).to_owned())
    })
}
