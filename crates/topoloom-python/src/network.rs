//! Networks.

use std::sync::Arc;

use numpy::ndarray::ArrayView2;
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use topoloom::distances::Distances;
use topoloom::faults::{Failures, Kind};
use topoloom::formats::Use;
use topoloom::links::{FLIT_BYTES, Latencies, LinkTimes, cycle_ns};
use topoloom::metrics::diversity::{PathDiversity, path_diversity};
use topoloom::metrics::faults::{Resilience, Sweep, resilience};
use topoloom::metrics::{Facts, facts, facts_with};
use topoloom::network::{Shape, Wire};
use topoloom::partition::bisection::{self, Bisection};
use topoloom::routing::{self, Columns, Routings, Tables};
use topoloom::topology::{MachineFacts, machine_facts};
use topoloom::{formats, graph, topology};

use crate::compute::{compute, try_compute};
use crate::error::{TopoloomError, raise};
use crate::results::Record;
use crate::routing::Routing;

type MetisArray<'py> = Bound<'py, PyArray1<i32>>;

/// Gb/s in each direction, nanoseconds, metres.
type GraphWire = (Option<f64>, Option<f64>, Option<f64>);
/// Name, terminals, kind, the links of its terminals.
type GraphNode = (String, Option<u64>, Option<String>, GraphWire);
/// The positions of two nodes, class, latency, ports, rate and delay and length.
type GraphLink = (u32, u32, Option<String>, Option<u32>, Option<(u32, u32)>, GraphWire);

fn wire((gbps, latency_ns, length_m): GraphWire) -> Wire {
    Wire { gbps, latency_ns, length_m }
}

fn tuple(wire: Wire) -> GraphWire {
    (wire.gbps, wire.latency_ns, wire.length_m)
}

/// An interconnection network, immutable.
#[pyclass(frozen, module = "topoloom._core")]
pub struct Network {
    /// The network.
    pub network: topoloom::Network,
    /// What its routings share.
    pub routings: Arc<Routings>,
}

impl From<topoloom::Network> for Network {
    fn from(network: topoloom::Network) -> Self {
        Self { network, routings: Arc::default() }
    }
}

#[pymethods]
impl Network {
    #[new]
    fn new(py: Python<'_>, spec: &str) -> PyResult<Self> {
        try_compute(py, || topology::build(spec)).map(Self::from)
    }

    /// A network from a graph that a program has: nodes as (name, terminals, kind, wire of its terminals), links as
    /// (place of one end, of the other, class, latency, ports, wire), where a wire is (Gb/s, nanoseconds, metres);
    /// `written_as` is the spec that the graph claims to be. Its spec is `family:label,sha256=…`.
    #[staticmethod]
    #[allow(clippy::too_many_arguments)]
    fn from_graph(
        py: Python<'_>,
        kind: &str,
        label: &str,
        nodes: Vec<GraphNode>,
        links: Vec<GraphLink>,
        directed: bool,
        p: Option<u32>,
        written_as: Option<String>,
    ) -> PyResult<Self> {
        let built = try_compute(py, || {
            let nodes = nodes.into_iter().map(|(name, terminals, kind, of_terminals)| formats::Node {
                name,
                terminals,
                terminal_wire: wire(of_terminals),
                is_terminal: kind.is_some_and(|kind| formats::is_terminal_kind(&kind)),
                cabinet: None,
                line: None,
            });
            let links = links.into_iter().map(|(a, b, class, latency, ports, own)| topology::GivenLink {
                ends: [a, b],
                class,
                latency,
                wire: wire(own),
                ports: ports.map(|(a, b)| [a, b]),
            });
            topology::given((kind, label), nodes.collect(), links, directed, p, written_as)
        });
        built.map(Self::from)
    }

    /// The network that is left when what `fail` names fails at random.
    fn with_failures(&self, py: Python<'_>, fail: &str) -> PyResult<Self> {
        let network = try_compute(py, || Failures::parse(fail)?.apply(&self.network))?;
        Ok(Self { network, routings: Arc::clone(&self.routings) })
    }

    /// What failed, or None.
    #[getter]
    fn failures(&self) -> Option<&str> {
        self.network.failures()
    }

    #[getter]
    fn spec(&self) -> &str {
        self.network.spec()
    }

    #[getter]
    fn family(&self) -> &str {
        self.network.family()
    }

    #[getter]
    fn num_routers(&self) -> usize {
        self.network.num_routers()
    }

    #[getter]
    fn num_terminals(&self) -> usize {
        self.network.num_terminals()
    }

    /// Links that a search for all distances looks at: those of the network, from every router it searches from.
    #[getter]
    fn distance_steps(&self) -> u64 {
        Distances::sources(&self.network) as u64 * self.network.links().len() as u64
    }

    /// Nanoseconds of a cycle of a simulation, in which a flit of 64 bytes crosses the fastest link; nothing where
    /// links have no rates.
    #[getter]
    fn cycle_ns(&self) -> Option<f64> {
        cycle_ns(&self.network, FLIT_BYTES)
    }

    /// The routing that plays a role, `minimal` or `adaptive`, here; nothing if there is no such role.
    fn routing_in_role(&self, py: Python<'_>, role: &str) -> PyResult<Option<&'static str>> {
        compute(py, || topoloom::routing::in_role(&self.network, role))
    }

    /// The facts that need no partitioner; with distances from (a number of routers, a seed) only if these are given.
    #[pyo3(signature = (sample=None))]
    fn facts(&self, py: Python<'_>, sample: Option<(u32, u64)>) -> PyResult<Record<Facts>> {
        let facts = compute(py, || match sample {
            Some((sources, seed)) => facts_with(&self.network, Distances::sampled(&self.network, sources, seed)),
            None => facts(&self.network),
        });
        facts.map(Record::from)
    }

    /// What is known of the machine that this is; nothing if it is none.
    fn machine(&self, py: Python<'_>) -> PyResult<Option<Record<MachineFacts>>> {
        Ok(compute(py, || machine_facts(&self.network))?.map(Record::from))
    }

    /// Numbers of shortest paths; nothing if they take more than some seconds, unless `insists`.
    fn path_diversity(&self, py: Python<'_>, insists: bool) -> PyResult<Option<Record<PathDiversity>>> {
        Ok(compute(py, || path_diversity(&self.network, insists))?.map(Record::from))
    }

    /// What random failures of a kind leave of the network.
    fn resilience(
        &self,
        py: Python<'_>,
        kind: &str,
        fractions: Vec<f64>,
        trials: u32,
        seed: u64,
        distances: bool,
    ) -> PyResult<Record<Resilience>> {
        let kind = raise(Kind::named(kind))?;
        let sweep = Sweep { kind, fractions, trials, seed, distances };
        try_compute(py, || resilience(&self.network, &sweep)).map(Record::from)
    }

    /// (router, port, router, port, class) of every link between routers.
    fn edges(&self) -> Vec<(u32, u32, u32, u32, &'static str)> {
        let ends = |link: &topoloom::network::Link| {
            let [(a, port_a), (b, port_b)] = link.ends.map(|port| self.network.local_port(port));
            (a.0, port_a, b.0, port_b, link.class.name())
        };
        self.network.links().iter().map(ends).collect()
    }

    /// What a drawing asks of the family.
    fn shape(&self) -> Record<Shape> {
        self.network.shape().into()
    }

    /// What was noticed when the network was read.
    fn notes(&self) -> Vec<String> {
        self.network.notes()
    }

    /// The SHA-256 of the file or graph that the network comes from, if it comes from one.
    fn source_sha256(&self) -> Option<&str> {
        self.network.source().map(|source| source.sha256.as_str())
    }

    /// The spec that builds the same graph without the file that it comes from, if one does.
    fn written_as(&self) -> Option<&str> {
        self.network.written_as()
    }

    /// The routings that are offered.
    fn routings(&self) -> Vec<&'static str> {
        routing::offered(&self.network)
    }

    /// The names of the routers in the file or graph, where they are not the ids.
    fn router_names(&self) -> Option<Vec<String>> {
        self.network.router_names().map(<[String]>::to_vec)
    }

    /// The number of terminals of each router.
    fn terminals_by_router(&self) -> Vec<usize> {
        self.network.routers().map(|router| self.network.terminals_of(router).count()).collect()
    }

    /// The latencies of the links that have one of their own, None for the others, in the order of `edges`.
    fn own_latencies(&self) -> Vec<Option<u32>> {
        self.network.links().iter().map(|link| self.network.own_latency(link.ends[0])).collect()
    }

    /// Rate (Gb/s), delay (ns) and length (m) of each link, in the order of `edges`; None where no link has any.
    fn link_wires(&self) -> Option<Vec<GraphWire>> {
        let links = || self.network.links().iter().map(|link| tuple(self.network.wire(link.ends[0])));
        self.network.has_wires().then(|| links().collect())
    }

    /// Rate, delay and length of the links of each router's terminals; None where they have none of their own.
    fn terminal_wires(&self) -> Option<Vec<GraphWire>> {
        let of = |router| {
            let first = self.network.terminals_of(router).next();
            first.map_or(Wire::UNSAID, |terminal| self.network.wire(self.network.terminal_port(terminal)))
        };
        let apart = self.network.has_wires() && self.network.has_terminal_links();
        apart.then(|| self.network.routers().map(|router| tuple(of(router))).collect())
    }

    /// The network as it is bought: before failures, and without the parts of hosts.
    fn bought(&self) -> Self {
        Self::from(self.network.bought().clone())
    }

    /// What a terminal sends at load 1, in Gb/s, if links have rates.
    #[getter]
    fn injection_gbps(&self) -> Option<f64> {
        self.network.injection_gbps()
    }

    /// The network as text in a format, with latencies by class if given (JSON) for links that have none of their own;
    /// and a sentence on what the format cannot hold. `names` are those of terminals, `beside` the name of the file
    /// with the graph, for formats that have a place for them.
    #[pyo3(signature = (form, latencies_json, names=None, beside=None))]
    fn text(
        &self,
        py: Python<'_>,
        form: &str,
        latencies_json: Option<&str>,
        names: Option<Vec<String>>,
        beside: Option<String>,
    ) -> PyResult<(String, Vec<String>)> {
        let latencies: Option<Latencies> = latencies_json
            .map(serde_json::from_str)
            .transpose()
            .map_err(|error| TopoloomError::new_err(error.to_string()))?;
        let format = raise(formats::named(form, Use::Writing))?;
        let write = || {
            let links = latencies.map(|latencies| LinkTimes::new(&self.network, &latencies)).transpose()?;
            formats::write(&self.network, format, &formats::Timing { links, names, beside })
        };
        try_compute(py, write)
    }

    /// A sentence on what a file of a format cannot state about the family, if it cannot.
    fn unwritten(&self, form: &str) -> PyResult<Option<String>> {
        Ok(formats::unwritten(&self.network, raise(formats::named(form, Use::Writing))?))
    }

    /// METIS's arrays: offsets, neighbours, weights of routers, weights of neighbours.
    fn metis_graph<'py>(&self, py: Python<'py>) -> [MetisArray<'py>; 4] {
        let graph = graph::metis_graph(&self.network);
        [graph.xadj, graph.adjncy, graph.vwgt, graph.adjwgt].map(|values| {
            let values: Vec<i32> = values.into_iter().map(|value| value as i32).collect();
            values.into_pyarray(py)
        })
    }

    /// Routing by tables: the output at each router (row) towards each destination (column), -1 where there is none,
    /// and the layer of packets from each router to each destination. The network knows the routing by its name from
    /// now on.
    fn routing_by_tables(
        slf: PyRef<'_, Self>,
        ports: PyReadonlyArray2<'_, i64>,
        layers: Option<PyReadonlyArray2<'_, i64>>,
        to_terminals: bool,
    ) -> PyResult<Routing> {
        let kind = if to_terminals { Columns::Terminals } else { Columns::Routers };
        let layers = layers.as_ref().map(|layers| layers.as_array());
        let rows = |array: &ArrayView2<'_, i64>| array.outer_iter().map(|row| row.to_vec()).collect::<Vec<_>>();
        let (ports, layers) = (rows(&ports.as_array()), layers.as_ref().map(rows));
        let tables = Tables::from_rows(&slf.network, "the routing table", kind, &ports, layers.as_deref());
        let name = slf.routings.hold(raise(tables)?);
        Routing::new(slf.py(), slf.into(), &name)
    }

    /// The ports and the layers of `lash` (by router) or `dfsssp` (by terminal), -1 where there is no port.
    fn layered_tables(&self, py: Python<'_>, routing: &str) -> PyResult<[Vec<Vec<i64>>; 2]> {
        let build = if routing == "lash" { routing::lash } else { routing::dfsssp };
        try_compute(py, || Ok(build(&self.network)?.to_rows(&self.network)))
    }

    /// The best bisection that can be had from partitions, an array of 0 and 1 for the routers each.
    fn best_bisection(
        &self,
        py: Python<'_>,
        partitions: Vec<PyReadonlyArray1<'_, i32>>,
    ) -> PyResult<Record<Bisection>> {
        let partitions = sides(self, &partitions)?;
        compute(py, || bisection::best(&self.network, partitions)).map(Record::from)
    }
}

/// Partitions of the routers of a network, an array of 0 and 1 each.
pub fn sides(network: &Network, partitions: &[PyReadonlyArray1<'_, i32>]) -> PyResult<Vec<Vec<u8>>> {
    let routers = network.network.num_routers();
    let sides = |partition: &PyReadonlyArray1<'_, i32>| -> PyResult<Vec<u8>> {
        let sides: Vec<u8> = partition.as_slice()?.iter().map(|&side| u8::from(side != 0)).collect();
        if sides.len() == routers {
            return Ok(sides);
        }
        let given = sides.len();
        Err(TopoloomError::new_err(format!("a partition has {given} entries for {routers} routers")))
    };
    partitions.iter().map(sides).collect()
}
