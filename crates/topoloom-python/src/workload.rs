//! Workloads, and what the engines make of them.

use std::sync::Arc;

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use topoloom::cycle::{Units, WorkloadResult, WorkloadRun};
use topoloom::workload::{self, Endpoint, Mapping, Noise, Op, Room, RunTimes, StepFacts};

use crate::compute::try_compute;
use crate::error::{TopoloomError, raise};
use crate::network::Network;
use crate::results::{Record, json};
use crate::routing::Routing;
use crate::simulation::read;
use crate::watch::CancelToken;

/// An application: tasks, their messages, and what each does in which order.
#[pyclass(frozen, module = "topoloom._core")]
pub struct Workload(pub Arc<workload::Workload>);

/// A workload this many times smaller, and with noise.
fn changed(workload: workload::Workload, changes: Option<&(u32, String)>) -> topoloom::Result<workload::Workload> {
    let Some((scale, noise)) = changes else { return Ok(workload) };
    let scaled = workload.scaled(*scale);
    match Noise::read(noise)? {
        Some(noise) => scaled.with_noise(&noise),
        None => Ok(scaled),
    }
}

/// The keys of noise, with their meaning.
#[pyfunction]
pub fn noise_keys() -> Vec<(&'static str, &'static str)> {
    workload::NOISE_KEYS.iter().map(|key| (key.name, key.doc)).collect()
}

/// Message ids, and for each the seconds in which it was ready and had arrived.
type Times<'py> = (Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>);

#[pymethods]
impl Workload {
    /// The application that `spec` names, for at most `room` tasks; what messages of a collective carry is recorded if
    /// asked, and collectives stay calls, without messages.
    #[new]
    #[pyo3(signature = (spec, room, records=None, calls=None))]
    fn new(py: Python<'_>, spec: &str, room: u32, records: Option<bool>, calls: Option<bool>) -> PyResult<Self> {
        let room = Room::from(room);
        let room = if records == Some(true) { room.recording() } else { room };
        let room = if calls == Some(true) { room.with_calls() } else { room };
        try_compute(py, || workload::build(spec, room)).map(|workload| Self(Arc::new(workload)))
    }

    /// The application that `spec` names, for at most `room` tasks on a network, or as many as that has room for; its
    /// links have this rate unless they have rates of their own. It may be this many times smaller, and have noise.
    #[staticmethod]
    #[pyo3(signature = (spec, network, room=None, rate=None, calls=None, changes=None))]
    #[allow(clippy::too_many_arguments)]
    fn on(
        py: Python<'_>,
        spec: &str,
        network: &Network,
        room: Option<u32>,
        rate: Option<&str>,
        calls: Option<bool>,
        changes: Option<(u32, String)>,
    ) -> PyResult<Self> {
        let own = Room::of(&network.network, rate.and_then(topoloom::catalogue::values::rate));
        let own = room.map_or(own, |tasks| own.with_tasks(tasks));
        let own = if calls == Some(true) { own.with_calls() } else { own };
        let build = || workload::build(spec, own).and_then(|workload| changed(workload, changes.as_ref()));
        try_compute(py, build).map(|workload| Self(Arc::new(workload)))
    }

    /// One workload of several, each of which begins at its time, in seconds.
    #[staticmethod]
    #[allow(clippy::needless_pass_by_value)]
    fn together(py: Python<'_>, jobs: Vec<(PyRef<'_, Self>, f64)>) -> PyResult<Self> {
        let jobs: Vec<(Arc<workload::Workload>, f64)> =
            jobs.iter().map(|(own, start)| (Arc::clone(&own.0), *start)).collect();
        let all = || {
            let jobs: Vec<(&workload::Workload, f64)> = jobs.iter().map(|(own, start)| (&**own, *start)).collect();
            workload::together(&jobs)
        };
        try_compute(py, all).map(|workload| Self(Arc::new(workload)))
    }

    /// What each message of a collective carries: whether its receiver combines it with what it has, and spans of the
    /// buffer as (first byte, bytes). None if that was not recorded, or no message gives it.
    #[allow(clippy::type_complexity)]
    fn carried(&self) -> Option<Vec<(bool, Vec<(u64, u64)>)>> {
        let spans = |message: u32| {
            let spans = self.0.spans(message)?.iter().map(|span| (span.start, span.bytes)).collect();
            Some((self.0.reduces(message), spans))
        };
        // Where a rule stands for the messages, nothing was recorded.
        self.0.messages().first().and_then(|_| (0..self.0.messages().len() as u32).map(spans).collect())
    }

    /// What it was built from.
    #[getter]
    fn spec(&self) -> &str {
        self.0.spec()
    }

    /// The number of tasks.
    #[getter]
    fn tasks(&self) -> u32 {
        self.0.tasks()
    }

    /// The number of messages.
    #[getter]
    fn num_messages(&self) -> usize {
        self.0.num_messages() as usize
    }

    /// The sum of all sizes.
    #[getter]
    fn total_bytes(&self) -> u128 {
        self.0.total_bytes()
    }

    /// What the bandwidth of a collective is measured by: bytes, and the factor of the bus bandwidth.
    #[getter]
    fn yardstick(&self) -> Option<(f64, f64)> {
        self.0.yardstick().map(|yardstick| (yardstick.bytes, yardstick.bus))
    }

    /// What is known of a training step before it runs.
    #[getter]
    fn step(&self) -> Option<Record<StepFacts>> {
        self.0.step().cloned().map(Record::from)
    }

    /// Tasks that stand for all of them, where some do: the first rank of each stage of a training step.
    #[getter]
    fn shown(&self) -> Option<Vec<u32>> {
        self.0.shown().map(<[u32]>::to_vec)
    }

    /// When each task was done in a run, in seconds, by the times that [`Self::timeline`] takes.
    fn ends(&self, times: PyReadonlyArray2<'_, f64>, computations: PyReadonlyArray2<'_, f64>) -> PyResult<Vec<f64>> {
        let run = Run::read(&times, &computations)?;
        Ok(workload::task_ends(raise(self.0.listed())?, run.times()))
    }

    /// What tasks did in a run, as (task, lane, name, beginning, end) in seconds: of each message its beginning and its
    /// end, of each computation its operation and these.
    fn timeline(
        &self,
        times: PyReadonlyArray2<'_, f64>,
        computations: PyReadonlyArray2<'_, f64>,
        tasks: Vec<u32>,
    ) -> PyResult<Vec<Event>> {
        let run = Run::read(&times, &computations)?;
        let listed = raise(self.0.listed())?;
        if run.times().messages.len() < listed.messages().len() {
            return Err(TopoloomError::new_err(format!(
                "{}: a rule stands for its messages, whose times were not kept; give --flow-engine symmetry=off",
                listed.spec()
            )));
        }
        let of = |task: u32| {
            let events = workload::timeline(listed, run.times(), task).into_iter();
            events.map(move |own| (task, own.lane, own.name, own.span[0], own.span[1]))
        };
        Ok(tasks.into_iter().flat_map(of).collect())
    }

    /// What a user should know, a sentence each.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.0.notes().to_vec()
    }

    /// Whether the number of tasks follows from the room that it was built for, not from its text.
    #[getter]
    fn fills_room(&self) -> bool {
        self.0.fills_room()
    }

    /// Source, target and bytes of all messages.
    #[allow(clippy::type_complexity)]
    fn messages<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<u64>>)> {
        let messages = raise(self.0.listed())?.messages();
        let sources: Vec<u32> = messages.iter().map(|message| message.source).collect();
        let targets: Vec<u32> = messages.iter().map(|message| message.target).collect();
        let bytes: Vec<u64> = messages.iter().map(|message| message.bytes).collect();
        Ok((sources.into_pyarray(py), targets.into_pyarray(py), bytes.into_pyarray(py)))
    }

    /// What a task does, in its order: ("send", message), ("receive", message) and ("compute", seconds).
    fn program(&self, task: u32) -> PyResult<Vec<(&'static str, f64)>> {
        if task >= self.0.tasks() {
            return Ok(Vec::new());
        }
        let told = |op: Op| match op {
            Op::Send(message) => ("send", f64::from(message)),
            Op::Receive(message) => ("receive", f64::from(message)),
            Op::Compute(place) => ("compute", self.0.durations()[place as usize]),
        };
        Ok(raise(self.0.listed())?.program(task).map(told).collect())
    }

    /// What each operation waits for as (operation, the one that waits, whether for its start only), with operations
    /// numbered task by task; None if tasks do one thing after the other.
    fn dependencies(&self) -> Option<Vec<(u32, u32, bool)>> {
        self.0.dependencies()
    }

    /// The processor of each operation of a task, 0 of those that do not compute.
    fn processors(&self, task: u32) -> PyResult<Vec<u32>> {
        if task >= self.0.tasks() {
            return Ok(Vec::new());
        }
        let processor = |op: Op| if let Op::Compute(place) = op { self.0.processor(place) } else { 0 };
        Ok(raise(self.0.listed())?.program(task).map(processor).collect())
    }

    /// Whether some tasks begin again at their end.
    #[getter]
    fn repeats(&self) -> bool {
        self.0.repeats()
    }

    /// Whether messages to one task on one channel are sent one at a time.
    #[getter]
    fn has_connections(&self) -> bool {
        self.0.has_connections()
    }

    /// The terminal of each task under a mapping.
    fn mapping<'py>(&self, py: Python<'py>, network: &Network, mapping: &str) -> PyResult<Bound<'py, PyArray1<u32>>> {
        let mapping = try_compute(py, || Mapping::new(mapping, &self.0, &network.network))?;
        let terminals: Vec<u32> = mapping.terminals().iter().map(|terminal| terminal.0).collect();
        Ok(terminals.into_pyarray(py))
    }
}

/// An application that is written as Chakra traces.
#[pyclass(frozen, module = "topoloom._core")]
pub struct ChakraTraces(workload::ChakraTraces);

#[pymethods]
impl ChakraTraces {
    /// Traces of an application that does not repeat its messages.
    #[new]
    fn new(py: Python<'_>, workload: &Workload) -> PyResult<Self> {
        try_compute(py, || workload::ChakraTraces::new(Arc::clone(&workload.0))).map(Self)
    }

    /// What is lost in them, a sentence each.
    fn losses(&self) -> Vec<String> {
        self.0.losses()
    }

    /// The groups that collectives name, and their ranks.
    fn groups(&self) -> Vec<(String, Vec<u32>)> {
        let groups = self.0.groups().iter();
        groups.filter_map(|own| Some((own.name.clone()?, own.members.clone()))).collect()
    }

    /// The trace of a rank.
    fn trace<'py>(&self, py: Python<'py>, rank: u32) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &py.detach(|| self.0.trace(rank)))
    }
}

/// Task, lane, name, beginning and end of a part of what a task did.
type Event = (u32, &'static str, String, f64, f64);

/// The times of a run, as Python has them.
struct Run {
    messages: Vec<[f64; 2]>,
    computations: Vec<(u32, [f64; 2])>,
}

impl Run {
    fn read(times: &PyReadonlyArray2<'_, f64>, computations: &PyReadonlyArray2<'_, f64>) -> PyResult<Self> {
        let messages = times.as_slice()?.chunks_exact(2).map(|row| [row[0], row[1]]).collect();
        let rows = computations.as_slice()?.chunks_exact(3);
        Ok(Self { messages, computations: rows.map(|row| (row[0] as u32, [row[1], row[2]])).collect() })
    }

    fn times(&self) -> RunTimes<'_> {
        RunTimes { messages: &self.messages, computations: &self.computations, makespan_s: 0.0 }
    }
}

/// A job that shares a machine with others.
#[pyclass(frozen, module = "topoloom._core")]
pub struct Job(workload::Job);

#[pymethods]
impl Job {
    /// Reads `APP,tasks=256,start=0s`.
    #[new]
    fn new(text: &str) -> PyResult<Self> {
        raise(workload::Job::read(text)).map(Self)
    }

    /// The application.
    #[getter]
    fn app(&self) -> &str {
        &self.0.app
    }

    /// When it begins, in seconds.
    #[getter]
    fn start_s(&self) -> f64 {
        self.0.start_s
    }

    /// The terminals of its tasks, if given.
    #[getter]
    fn on(&self) -> Option<Vec<u32>> {
        self.0.on.clone()
    }

    /// Builds its application for a network whose links have this rate unless they have rates of their own; it may be
    /// this many times smaller, and have noise.
    #[pyo3(signature = (network, rate, changes=None))]
    fn workload(
        &self,
        py: Python<'_>,
        network: &Network,
        rate: &str,
        changes: Option<(u32, String)>,
    ) -> PyResult<Workload> {
        let own = Room::of(&network.network, topoloom::catalogue::values::rate(rate));
        let build = || self.0.workload(own).and_then(|workload| changed(workload, changes.as_ref()));
        try_compute(py, build).map(|workload| Workload(Arc::new(workload)))
    }
}

/// The request of a job: its name, the number of terminals, and which ones, if given.
type Demand = (String, u32, Option<Vec<u32>>);

/// The terminals of each job as an allocator states, and how many others have.
#[pyfunction]
pub fn allocate(
    py: Python<'_>,
    allocator: &str,
    network: &Network,
    jobs: Vec<Demand>,
) -> PyResult<(Vec<Vec<u32>>, usize)> {
    let demand = |(name, tasks, on)| workload::Demand { name, tasks, on };
    let jobs: Vec<workload::Demand> = jobs.into_iter().map(demand).collect();
    let (placed, occupied) = try_compute(py, || workload::allocate(allocator, &network.network, &jobs))?;
    Ok((placed.into_iter().map(|own| own.into_iter().map(|terminal| terminal.0).collect()).collect(), occupied))
}

/// The most tasks that a network has room for: its terminals whose routers have not failed.
#[pyfunction]
pub fn room(network: &Network) -> u32 {
    Mapping::room(&network.network).len() as u32
}

/// A workload on the cycle engine, checked but not started.
#[pyclass(frozen, module = "topoloom._core")]
pub struct CyclePlay(WorkloadRun, Py<Routing>);

#[pymethods]
impl CyclePlay {
    /// Checks all that can be checked.
    #[new]
    #[allow(clippy::too_many_arguments)]
    fn new(
        py: Python<'_>,
        routing: Py<Routing>,
        workload: &Workload,
        mapping: &str,
        flit: &str,
        rate: &str,
        endpoint: &str,
        config_json: &str,
    ) -> PyResult<Self> {
        let config = raise(read(config_json))?;
        let endpoint = raise(Endpoint::read(endpoint))?;
        let own = routing.get();
        let play = try_compute(py, || {
            let units = Units::read(flit, rate)?.on(own.on());
            let placed = Mapping::new(mapping, &workload.0, own.on())?;
            WorkloadRun::new(own.on(), &own.named, Arc::clone(&workload.0), placed, units, (endpoint, &config))
        });
        Ok(Self(play?, routing))
    }

    /// The options with everything filled in, as JSON.
    fn config(&self) -> String {
        json(self.0.config())
    }

    /// Runs without the interpreter's lock; returns what came of it, and when messages were ready and arrived.
    fn run<'py>(&self, py: Python<'py>, cancel: &CancelToken) -> PyResult<(Record<WorkloadResult>, Times<'py>)> {
        let network = self.1.get().on();
        let played = cancel.run(py, || self.0.run(network, &*cancel.0))?;
        let ids: Vec<u32> = played.messages.iter().map(|(message, ..)| *message).collect();
        let ready: Vec<f64> = played.messages.iter().map(|(_, ready, _)| *ready).collect();
        let arrived: Vec<f64> = played.messages.iter().map(|(.., arrived)| *arrived).collect();
        Ok((played.into(), (ids.into_pyarray(py), ready.into_pyarray(py), arrived.into_pyarray(py))))
    }
}
