//! Simulations: a routing, a traffic and options that go together.

use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use topoloom::cycle::{Config, Point, Run};

use crate::compute::try_compute;
use crate::error::raise;
use crate::results::{Record, json};
use crate::routing::Routing;
use crate::traffic::Traffic;
use crate::watch::CancelToken;

/// A routing and a traffic on their network, with options of the engine: points are simulated at any load.
#[pyclass(frozen, module = "topoloom._core")]
pub struct Simulation {
    routing: Py<Routing>,
    traffic: Py<Traffic>,
    config: Config,
}

#[pymethods]
impl Simulation {
    /// `config_json` has the options that are not to be as they are by default.
    #[new]
    fn new(routing: Py<Routing>, traffic: Py<Traffic>, config_json: &str) -> PyResult<Self> {
        traffic.get().check_network(&routing.get().network)?;
        Ok(Self { routing, traffic, config: raise(read(config_json))? })
    }

    /// Checks all that can be checked before a run at `load`; returns the options with everything filled in, as JSON.
    fn check(&self, py: Python<'_>, load: f64) -> PyResult<String> {
        try_compute(py, || self.run(load, None)).map(|run| json(run.config()))
    }

    /// Simulates one point; nothing if it was cancelled before it began. The seed is that of the options unless given.
    #[pyo3(signature = (load, cancel, seed=None))]
    fn point(
        &self,
        py: Python<'_>,
        load: f64,
        cancel: &CancelToken,
        seed: Option<u64>,
    ) -> PyResult<Option<Record<Point>>> {
        Ok(self.simulate(py, load, cancel, seed)?.map(Record::from))
    }

    /// The same, with the flits per cycle on each channel between routers: two channels per link, in the order of
    /// `Network.edges`, from its first router to its second and back.
    #[pyo3(signature = (load, cancel, seed=None))]
    #[allow(clippy::type_complexity)]
    fn point_and_channels<'py>(
        &self,
        py: Python<'py>,
        load: f64,
        cancel: &CancelToken,
        seed: Option<u64>,
    ) -> PyResult<Option<(Record<Point>, Bound<'py, PyArray1<f32>>)>> {
        let Some(point) = self.simulate(py, load, cancel, seed)? else { return Ok(None) };
        let ports = self.routing.get().on().links().iter().flat_map(|link| link.ends);
        // A run that was stopped early has counted nothing.
        let flits = ports.map(|port| point.link_utilisation.get(port.index()).map_or(0.0, |&flits| flits as f32));
        let flits: Vec<f32> = flits.collect();
        Ok(Some((point.into(), flits.into_pyarray(py))))
    }
}

impl Simulation {
    fn run(&self, load: f64, seed: Option<u64>) -> topoloom::Result<Run> {
        let (routing, traffic) = (self.routing.get(), self.traffic.get());
        let config = Config { seed: seed.unwrap_or(self.config.seed), ..self.config.clone() };
        Run::of(routing.on(), &routing.named, &traffic.traffic, load, &config)
    }

    fn simulate(&self, py: Python<'_>, load: f64, cancel: &CancelToken, seed: Option<u64>) -> PyResult<Option<Point>> {
        let network = self.routing.get().on();
        let engine = || self.run(load, seed)?.run(network, &*cancel.0);
        cancel.run(py, || cancel.0.run(engine).map_or(Ok(None), |point| point.map(Some)))
    }
}

/// How the router of a configuration is set up, in words: (what, value with its unit).
#[pyfunction]
pub fn router_settings(config_json: &str) -> PyResult<Vec<(&'static str, String)>> {
    let config = raise(read(config_json))?;
    Ok((config.router.model().describe)(&config.router))
}

/// The 97.5 % quantile of Student's t.
#[pyfunction]
pub fn student_t(degrees: usize) -> f64 {
    topoloom::statistics::student_t(degrees)
}

/// Reads options; an error omits the position in the JSON, which no user typed.
pub fn read(config: &str) -> topoloom::Result<Config> {
    serde_json::from_str(config).map_err(|error| {
        let text = error.to_string();
        topoloom::Error::Config(text.rsplit_once(" at line ").map_or(text.as_str(), |(what, _)| what).to_owned())
    })
}
