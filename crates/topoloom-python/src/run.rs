//! Simulations and proofs.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use topoloom::cycle::{self, Config, Control};
use topoloom::metrics::{load, routes};
use topoloom::routing::Routing as _;
use topoloom::{routing, traffic};

use crate::error::raise;
use crate::network::{Network, json};

/// Stops the simulations that it was given to, and hears how far they are, from any thread.
#[pyclass(frozen, module = "topoloom._core")]
pub struct CancelToken {
    stop: Arc<AtomicBool>,
    done: Arc<AtomicU64>,
}

#[pymethods]
impl CancelToken {
    #[new]
    fn new() -> Self {
        Self { stop: Arc::default(), done: Arc::default() }
    }

    /// Asks for a stop.
    fn cancel(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Cycles simulated, or messages that have begun, of the simulation that told last.
    #[getter]
    fn done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }
}

impl CancelToken {
    /// What an engine looks at.
    pub fn flag(&self) -> Flag {
        Flag { stop: Arc::clone(&self.stop), done: Arc::clone(&self.done) }
    }
}

/// Tells an engine when to stop, and hears from it.
pub struct Flag {
    stop: Arc<AtomicBool>,
    done: Arc<AtomicU64>,
}

impl Control for Flag {
    fn cancelled(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn progress(&self, done: u64) {
        self.done.store(done, Ordering::Relaxed);
    }
}

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
    let flag = cancel.flag();
    let point = py.detach(|| cycle::simulate(&network.0, routing, traffic, load, &config, &flag));
    raise(point).map(|point| json(&point))
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
    let flag = cancel.flag();
    let point = py.detach(|| cycle::simulate(&network.0, routing, traffic, load, &config, &flag));
    let point = raise(point)?;
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
    let run = py.detach(|| cycle::Run::new(&network.0, routing, traffic, load, &config));
    raise(run).map(|run| json(run.config()))
}

/// The load that a trace has by itself; None for traffic that takes any load.
#[pyfunction]
pub fn trace_load(py: Python<'_>, network: &Network, traffic: &str) -> PyResult<Option<f64>> {
    let traffic = raise(py.detach(|| topoloom::traffic::build(&network.0, traffic)))?;
    Ok(traffic.trace().map(topoloom::traffic::Trace::load))
}

/// The largest load, of 1 at most, at which every terminal can create its packets.
#[pyfunction]
pub fn most_load(py: Python<'_>, network: &Network, traffic: &str, config_json: &str) -> PyResult<f64> {
    let config = raise(read(config_json))?;
    raise(py.detach(|| cycle::most_load(&network.0, traffic, &config)))
}

/// The 97.5 % quantile of Student's t.
#[pyfunction]
pub fn student_t(degrees: usize) -> f64 {
    topoloom::statistics::student_t(degrees)
}

/// Checks that the network offers a routing. Returns what a user should know of how it runs there, if anything.
#[pyfunction]
pub fn check_routing(py: Python<'_>, network: &Network, routing: &str) -> PyResult<Option<String>> {
    raise(py.detach(|| routing::build(&network.0, routing))).map(|built| built.note())
}

/// Proves a routing free of deadlock, or finds a cycle; returns the proof's JSON.
#[pyfunction]
#[pyo3(signature = (network, routing, vcs=None))]
pub fn verify(py: Python<'_>, network: &Network, routing: &str, vcs: Option<u32>) -> PyResult<String> {
    let proof = py.detach(|| {
        let algorithm = routing::build(&network.0, routing)?;
        routing::verify::verify(&network.0, routing, &algorithm, vcs)
    });
    raise(proof).map(|proof| json(&proof))
}

/// The largest load that a routing can carry under a traffic pattern, as JSON.
#[pyfunction]
pub fn saturation_bound(py: Python<'_>, network: &Network, routing: &str, traffic: &str) -> PyResult<String> {
    let bound = py.detach(|| {
        let algorithm = routing::build(&network.0, routing)?;
        load::saturation_bound(&network.0, &algorithm, &traffic::build(&network.0, traffic)?)
    });
    raise(bound).map(|bound| json(&bound))
}

/// The lengths of the ways of a routing, as JSON.
#[pyfunction]
pub fn route_lengths(py: Python<'_>, network: &Network, routing: &str, seed: u64) -> PyResult<String> {
    let lengths = py.detach(|| routes::route_lengths(&network.0, &routing::build(&network.0, routing)?, seed));
    raise(lengths).map(|lengths| json(&lengths))
}

/// (router, port, expected load) of every channel between routers; refused for routings that decide by congestion.
#[pyfunction]
pub fn channel_loads(
    py: Python<'_>,
    network: &Network,
    routing: &str,
    traffic: &str,
) -> PyResult<Vec<(u32, u32, f64)>> {
    let loads = py.detach(|| {
        let algorithm = routing::build(&network.0, routing)?;
        load::channel_load(&network.0, routing, &algorithm, &traffic::build(&network.0, traffic)?)
    });
    let loads = raise(loads)?;
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
    let demands = py.detach(|| load::router_demands(&network.0, &traffic::build(&network.0, traffic)?));
    raise(demands).map(|(flits, terminals)| (flits.into_pyarray(py), terminals))
}

/// Reads options; what is wrong with them is said without the place in the JSON, which nobody typed.
pub fn read(config: &str) -> topoloom::Result<Config> {
    serde_json::from_str(config).map_err(|error| {
        let text = error.to_string();
        topoloom::Error::Config(text.rsplit_once(" at line ").map_or(text.as_str(), |(what, _)| what).to_owned())
    })
}
