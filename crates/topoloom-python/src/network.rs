//! Networks.

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use topoloom::faults::Kind;
use topoloom::metrics::distances::Distances;
use topoloom::metrics::diversity::path_diversity;
use topoloom::metrics::faults::{Sweep, resilience};
use topoloom::metrics::{bisection, facts, facts_with};

use crate::error::{TopoloomError, raise};

type MetisArray<'py> = Bound<'py, PyArray1<i32>>;

/// An interconnection network, immutable.
#[pyclass(frozen, module = "topoloom._core")]
pub struct Network(pub topoloom::Network);

#[pymethods]
impl Network {
    #[new]
    fn new(py: Python<'_>, spec: &str) -> PyResult<Self> {
        raise(py.detach(|| topoloom::topology::build(spec))).map(Self)
    }

    #[getter]
    fn spec(&self) -> &str {
        self.0.spec()
    }

    #[getter]
    fn family(&self) -> &str {
        self.0.family()
    }

    #[getter]
    fn num_routers(&self) -> usize {
        self.0.num_routers()
    }

    #[getter]
    fn num_terminals(&self) -> usize {
        self.0.num_terminals()
    }

    /// The facts that need no partitioner, as a JSON object; with distances from (a number of routers, a seed) only if
    /// these are given.
    #[pyo3(signature = (sample=None))]
    fn facts_json(&self, py: Python<'_>, sample: Option<(u32, u64)>) -> String {
        json(&py.detach(|| match sample {
            Some((sources, seed)) => facts_with(&self.0, Distances::sampled(&self.0, sources, seed)),
            None => facts(&self.0),
        }))
    }

    /// Numbers of shortest paths, as a JSON object; null if they cost more than some seconds and nobody insists.
    fn path_diversity_json(&self, py: Python<'_>, insists: bool) -> String {
        json(&py.detach(|| path_diversity(&self.0, insists)))
    }

    /// What random failures of a kind leave of the network, as a JSON object.
    fn resilience_json(
        &self,
        py: Python<'_>,
        kind: &str,
        fractions: Vec<f64>,
        trials: u32,
        seed: u64,
        distances: bool,
    ) -> PyResult<String> {
        let kind = raise(Kind::named(kind))?;
        let sweep = Sweep { kind, fractions, trials, seed, distances };
        raise(py.detach(|| resilience(&self.0, &sweep))).map(|result| json(&result))
    }

    /// (router, port, router, port, class) of every link between routers.
    fn edges(&self) -> Vec<(u32, u32, u32, u32, &'static str)> {
        let ends = |link: &topoloom::network::Link| {
            let [(a, port_a), (b, port_b)] = link.ends.map(|port| self.0.local_port(port));
            (a.0, port_a, b.0, port_b, link.class.name())
        };
        self.0.links().iter().map(ends).collect()
    }

    /// What each terminal sends to whom under a traffic: (first, last + 1, weight of each) of ranges of destinations.
    fn traffic_weights(&self, py: Python<'_>, traffic: &str) -> PyResult<Vec<Vec<(u32, u32, f64)>>> {
        let of_terminals = py.detach(|| {
            let traffic = topoloom::traffic::build(&self.0, traffic)?;
            let weights = |source| {
                let mut shares = Vec::new();
                traffic.weights(topoloom::network::TerminalId(source), &mut shares);
                shares.into_iter().map(|share| (share.destinations.start, share.destinations.end, share.each)).collect()
            };
            Ok((0..self.0.num_terminals() as u32).map(weights).collect())
        });
        raise(of_terminals)
    }

    /// What a drawing asks of the family, as a JSON object: `grid`, `upright`, `group_size`, `blocks` and `levels` (one a
    /// router), null where the family has none.
    fn structure_json(&self) -> String {
        let structure = self.0.any_structure();
        let levels: Option<Vec<u32>> = self.0.routers().map(|router| structure.level(router)).collect();
        let value = serde_json::json!({
            "grid": structure.grid().map(|grid| &grid.sides),
            "upright": structure.upright_dimension(),
            "group_size": structure.group_size(),
            "blocks": structure.blocks(),
            "levels": levels,
        });
        value.to_string()
    }

    /// METIS's arrays: offsets, neighbours, weights of routers, weights of neighbours.
    fn metis_graph<'py>(&self, py: Python<'py>) -> [MetisArray<'py>; 4] {
        let graph = bisection::metis_graph(&self.0);
        [graph.xadj, graph.adjncy, graph.vwgt, graph.adjwgt].map(|values| {
            let values: Vec<i32> = values.into_iter().map(|value| value as i32).collect();
            values.into_pyarray(py)
        })
    }

    /// The best bisection that can be had from partitions (an array of 0 and 1 for the routers each), as JSON.
    fn best_bisection(&self, py: Python<'_>, partitions: Vec<PyReadonlyArray1<'_, i32>>) -> PyResult<String> {
        let sides = |partition: &PyReadonlyArray1<'_, i32>| -> PyResult<Vec<u8>> {
            let sides: Vec<u8> = partition.as_slice()?.iter().map(|&side| u8::from(side != 0)).collect();
            if sides.len() == self.0.num_routers() {
                return Ok(sides);
            }
            let (given, routers) = (sides.len(), self.0.num_routers());
            Err(TopoloomError::new_err(format!("a partition has {given} entries for {routers} routers")))
        };
        let partitions = partitions.iter().map(sides).collect::<PyResult<Vec<_>>>()?;
        Ok(json(&py.detach(|| bisection::best(&self.0, partitions))))
    }
}

/// JSON of something that has no maps with keys other than strings, and so always serialises.
pub fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).expect("plain data serialises")
}
