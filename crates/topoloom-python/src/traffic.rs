//! Traffic on a network: built once, offered often.

use std::sync::Arc;

use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use topoloom::cycle;
use topoloom::network::TerminalId;
use topoloom::traffic::{self, Trace};

use crate::compute::try_compute;
use crate::error::{TopoloomError, raise};
use crate::network::Network;
use crate::simulation::read;

/// A traffic pattern on a network.
#[pyclass(frozen, module = "topoloom._core")]
pub struct Traffic {
    network: Py<Network>,
    #[pyo3(get)]
    name: String,
    /// The pattern.
    pub traffic: Arc<traffic::Traffic>,
}

impl Traffic {
    fn on(&self) -> &topoloom::Network {
        &self.network.get().network
    }

    /// Rejects another network than its own.
    pub fn check_network(&self, network: &Py<Network>) -> PyResult<()> {
        if self.network.is(network) {
            return Ok(());
        }
        let (own, other) = (self.on().spec(), network.get().network.spec());
        Err(TopoloomError::new_err(format!("the traffic {} was built for {own}, the routing for {other}", self.name)))
    }
}

#[pymethods]
impl Traffic {
    /// The pattern that `name` names, for `network`.
    #[new]
    fn new(py: Python<'_>, network: Py<Network>, name: String) -> PyResult<Self> {
        let traffic = try_compute(py, || traffic::build(&network.get().network, &name))?;
        Ok(Self { network, name, traffic: Arc::new(traffic) })
    }

    /// The load that a trace has by itself; None for traffic that takes any load.
    #[getter]
    fn trace_load(&self) -> Option<f64> {
        self.traffic.trace().map(Trace::load)
    }

    /// The number of terminals that send.
    #[getter]
    fn active_terminals(&self) -> u32 {
        self.traffic.active()
    }

    /// The largest load, of 1 at most, at which every terminal can create its packets.
    fn most_load(&self, py: Python<'_>, config_json: &str) -> PyResult<f64> {
        let config = raise(read(config_json))?;
        try_compute(py, || cycle::most_load(self.on(), &self.traffic, &config))
    }

    /// The destinations of each terminal, as ranges: (first, last + 1, weight of each).
    fn weights(&self, py: Python<'_>) -> PyResult<Vec<Vec<(u32, u32, f64)>>> {
        try_compute(py, || {
            let weights = |source| {
                let mut shares = Vec::new();
                self.traffic.weights(TerminalId(source), &mut shares);
                shares.into_iter().map(|share| (share.destinations.start, share.destinations.end, share.each)).collect()
            };
            Ok((0..self.on().num_terminals() as u32).map(weights).collect())
        })
    }

    /// Flits per cycle from router s to router d, at s * routers + d, if every active terminal offers one; and the
    /// largest load of a terminal's link.
    fn router_demands<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyArray1<f64>>, f64)> {
        let demands = try_compute(py, || traffic::router_demands(self.on(), &self.traffic));
        demands.map(|(flits, terminals)| (flits.into_pyarray(py), terminals))
    }
}
