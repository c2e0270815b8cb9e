//! Routings on a network: built once, asked often.

use std::sync::Arc;

use pyo3::prelude::*;
use topoloom::metrics::load::{self, SaturationBound};
use topoloom::metrics::routes::{self, RouteLengths};
use topoloom::metrics::split::{self, SplitBound};
use topoloom::routing::verify::Proof;
use topoloom::routing::{self, CardSizes, CardTables, NamedRouting, Routing as _};

use crate::compute::try_compute;
use crate::network::Network;
use crate::results::Record;
use crate::traffic::Traffic;

/// A routing on a network, with the proof if it needs one.
#[pyclass(frozen, module = "topoloom._core")]
pub struct Routing {
    /// The network that it was built for.
    pub network: Py<Network>,
    /// The routing.
    pub named: Arc<NamedRouting>,
}

impl Routing {
    /// The network that it was built for.
    pub fn on(&self) -> &topoloom::Network {
        &self.network.get().network
    }
}

/// The largest load that a network can carry under a traffic if a share of every flow takes the paths of one routing, and the
/// rest those of another, if there is one. Only what is needed of them is built.
#[pyfunction]
#[pyo3(signature = (network, minimal, detours, traffic))]
pub fn split_bound(
    py: Python<'_>,
    network: Py<Network>,
    minimal: &str,
    detours: Option<&str>,
    traffic: &Traffic,
) -> PyResult<Record<SplitBound>> {
    traffic.check_network(&network)?;
    let on = &network.get().network;
    try_compute(py, || split::split_bound_of(on, minimal, detours, &traffic.traffic)).map(Record::from)
}

#[pymethods]
impl Routing {
    /// The routing that `name` names, for `network`.
    #[new]
    pub fn new(py: Python<'_>, network: Py<Network>, name: &str) -> PyResult<Self> {
        let own = network.get();
        let named = try_compute(py, || own.routings.build(&own.network, name))?;
        Ok(Self { network, named: Arc::new(named) })
    }

    /// The name that it was built by.
    #[getter]
    fn name(&self) -> &str {
        self.named.name()
    }

    /// The VC classes that it needs.
    #[getter]
    fn classes(&self) -> u32 {
        self.named.classes()
    }

    /// The VCs that it is given unless an option states how many.
    #[getter]
    fn vcs(&self) -> u32 {
        self.named.vcs()
    }

    /// What users should know of how it runs on this network, if anything.
    #[getter]
    fn note(&self) -> Option<String> {
        self.named.note()
    }

    /// Whether it decides by congestion.
    #[getter]
    fn adapts(&self) -> bool {
        !self.named.oblivious()
    }

    /// Proves it free of deadlock, or finds a cycle; with fewer `vcs` than it needs, VC classes share them.
    #[pyo3(signature = (vcs=None))]
    fn verify(&self, py: Python<'_>, vcs: Option<u32>) -> PyResult<Record<Proof>> {
        try_compute(py, || self.named.verify(self.on(), vcs)).map(Record::from)
    }

    /// The largest load that it can carry under a traffic.
    fn bound(&self, py: Python<'_>, traffic: &Traffic) -> PyResult<Record<SaturationBound>> {
        traffic.check_network(&self.network)?;
        try_compute(py, || load::saturation_bound(self.on(), &self.named, &traffic.traffic)).map(Record::from)
    }

    /// (router, port, expected load) of every channel between routers; rejected for routings that decide by congestion.
    fn channel_loads(&self, py: Python<'_>, traffic: &Traffic) -> PyResult<Vec<(u32, u32, f64)>> {
        traffic.check_network(&self.network)?;
        let loads =
            try_compute(py, || load::channel_load(self.on(), self.named.name(), &self.named, &traffic.traffic))?;
        Ok(loads.channels(self.on()).map(|(router, port, load)| (router.0, port, load)).collect())
    }

    /// The lengths of its paths.
    fn route_lengths(&self, py: Python<'_>, seed: u64) -> PyResult<Record<RouteLengths>> {
        try_compute(py, || routes::route_lengths(self.on(), &self.named, seed)).map(Record::from)
    }

    /// Its forwarding tables: `lft` as OpenSM writes them, `csv` as `table:FILE` reads them.
    fn forwarding_text(&self, py: Python<'_>, form: &str) -> PyResult<String> {
        try_compute(py, || {
            let tables = routing::forwarding(self.on(), &self.named)?;
            let write_csv = || Ok(routing::write_csv(self.on(), &tables));
            if form == "lft" { routing::write_lft(self.on(), &tables) } else { write_csv() }
        })
    }

    /// Its tables for cards, as `table:FILE` reads them, and their sizes.
    fn card_tables(&self, py: Python<'_>) -> PyResult<(String, Record<CardSizes>)> {
        try_compute(py, || {
            let tables = CardTables::of(self.on(), &self.named)?;
            Ok((tables.write(self.on()), tables.sizes().into()))
        })
    }
}
