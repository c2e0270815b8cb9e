//! What an application does as execution traces, one for each rank, which our own reader takes back as the same application.

use std::collections::HashMap;
use std::sync::Arc;

use super::schema::{Attribute, Metadata, Node, Value};
use super::trace::number;
use super::{PROCESSOR, SECONDS};
use crate::error::{Error, Result};
use crate::workload::calls::{Call, Calls};
use crate::workload::{CallGroup, Graph, ON_START, Op, Order, Workload};

/// The version of the schema that is written.
const VERSION: &str = "1.0.0";

/// Times that differ by less than this part are equal.
const SAME: f64 = 1e-12;

/// An application that can be written as traces.
#[derive(Debug)]
pub struct ChakraTraces {
    workload: Arc<Workload>,
    /// Of each message, how many its source has sent to its target before: its tag, so that the order of sends is free.
    tags: Vec<u32>,
    /// What each operation waits for; `None` if operations of a task follow one another.
    before: Option<Before>,
}

/// Operations that each operation waits for, with [`ON_START`] if it waits for their start only.
#[derive(Debug)]
struct Before {
    starts: Vec<u32>,
    ops: Vec<u32>,
}

impl ChakraTraces {
    /// Traces of `workload`.
    ///
    /// # Errors
    /// [`Error::Workload`] if it repeats messages until other tasks are done, [`Error::TooLarge`] if its messages do not fit into
    /// memory.
    pub fn new(workload: Arc<Workload>) -> Result<Self> {
        if workload.repeats() {
            return Err(Error::Workload(format!(
                "{} repeats messages until other tasks are done, which a trace cannot hold",
                workload.spec()
            )));
        }
        let workload = workload.into_listed()?;
        let mut sent: HashMap<(u32, u32), u32> = HashMap::new();
        let mut tag = |ends: (u32, u32)| {
            let next = sent.entry(ends).or_default();
            *next += 1;
            *next - 1
        };
        let tags = workload.messages().iter().map(|message| tag((message.source, message.target))).collect();
        let before = match &workload.order {
            Order::Sequence { .. } => None,
            Order::Graph(graph) => Some(Before::of(graph)),
        };
        Ok(Self { workload, tags, before })
    }

    /// What other programs, or our own reader, do not find in the traces: a sentence each.
    pub fn losses(&self) -> Vec<String> {
        let (workload, mut lost) = (&self.workload, Vec::new());
        if workload.has_connections() {
            lost.push(
                "traces have no connections; what waits for the message before it on its connection is sent at once",
            );
        }
        if workload.durations().iter().any(|seconds| micros(*seconds).1) {
            lost.push("nodes have whole microseconds; topoloom reads the exact time, other programs the rounded one");
        }
        if self.before.as_ref().is_some_and(|before| before.waits_for_computations(workload)) {
            lost.push(
                "traces cannot wait for the start of a computation; what does so waits for what the computation waits for",
            );
        }
        lost.into_iter().map(|what| format!("{}: {what}", workload.spec())).collect()
    }

    /// The trace of a rank: metadata and nodes, each with its length before it.
    pub fn trace(&self, rank: u32) -> Vec<u8> {
        let mut bytes = Vec::new();
        push(&mut bytes, &Metadata { version: VERSION.to_owned(), attributes: Vec::new() });
        let range = self.workload.range(rank);
        let processors = self.processors(rank);
        for (place, op) in (range.start as u32..).zip(self.workload.program(rank)) {
            let id = |op: u32| u64::from(op) - range.start as u64 + 1;
            let data_deps = match &self.before {
                None if place as usize == range.start => Vec::new(),
                None => vec![id(place - 1)],
                Some(before) => before.ends(place, &self.workload).into_iter().map(id).collect(),
            };
            let node = match self.workload.calls.as_ref().and_then(|calls| Some((calls, calls.of(place)?))) {
                Some((calls, call)) => called(calls, call),
                None => self.node(op, &processors),
            };
            push(&mut bytes, &Node { id: id(place), data_deps, ..node });
        }
        bytes
    }

    /// The groups of ranks that collectives name, if there are any.
    pub fn groups(&self) -> &[CallGroup] {
        self.workload.calls.as_ref().map_or(&[], |calls| &calls.groups)
    }

    /// The processors on which a rank's computations take time, in the order of their numbers.
    fn processors(&self, rank: u32) -> Vec<u32> {
        let on = |op: Op| match op {
            Op::Compute(at) if self.workload.durations()[at as usize] > 0.0 => Some(self.workload.processor(at)),
            _ => None,
        };
        let mut found: Vec<u32> = self.workload.program(rank).filter_map(on).collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    /// What an operation does.
    fn node(&self, op: Op, processors: &[u32]) -> Node {
        match op {
            Op::Send(message) => self.message("send", 5, message),
            Op::Receive(message) => self.message("receive", 6, message),
            Op::Compute(at) => {
                let (seconds, processor) = (self.workload.durations()[at as usize], self.workload.processor(at));
                match processors.binary_search(&processor) {
                    Ok(unit) => computation(seconds, unit as u32),
                    // Nothing else runs where this would: it takes no time, and joins what it waits for.
                    Err(_) => Node { name: "join".to_owned(), kind: 1, ..Node::default() },
                }
            }
        }
    }

    fn message(&self, what: &str, kind: i32, id: u32) -> Node {
        let message = self.workload.messages()[id as usize];
        let tag = self.tags[id as usize];
        let attributes = vec![
            attribute("is_cpu_op", Value::Bool(false)),
            attribute("comm_src", Value::Int32(message.source as i32)),
            attribute("comm_dst", Value::Int32(message.target as i32)),
            attribute("comm_tag", Value::Int32(tag as i32)),
            attribute("comm_size", Value::Int64(message.bytes as i64)),
        ];
        Node { name: format!("{what} {id}"), kind, attributes, ..Node::default() }
    }
}

/// A rank's part of a collective.
fn called(calls: &Calls, call: Call) -> Node {
    let group = calls.groups[call.group as usize].name.clone();
    let mut attributes = vec![
        attribute("is_cpu_op", Value::Bool(false)),
        attribute("comm_type", Value::Int64(number(call.what).unwrap_or_default())),
        attribute("comm_size", Value::Int64(call.bytes as i64)),
    ];
    attributes.extend(group.map(|name| attribute("pg_name", Value::Text(name))));
    Node { name: "collective".to_owned(), kind: 7, attributes, ..Node::default() }
}

/// A computation on a rank's accelerator, its processor, or another unit.
fn computation(seconds: f64, unit: u32) -> Node {
    let mut attributes = vec![attribute("is_cpu_op", Value::Bool(unit > 0))];
    let (duration_micros, is_rounded) = micros(seconds);
    if is_rounded {
        attributes.push(attribute(SECONDS, Value::Double(seconds)));
    }
    if unit > 1 {
        attributes.push(attribute(PROCESSOR, Value::Uint32(unit)));
    }
    Node { name: "compute".to_owned(), kind: 4, duration_micros, attributes, ..Node::default() }
}

/// Whole microseconds, and whether that is another time.
fn micros(seconds: f64) -> (u64, bool) {
    let micros = (seconds * 1e6).round();
    (micros as u64, (micros * 1e-6 - seconds).abs() > SAME * seconds)
}

fn attribute(name: &str, value: Value) -> Attribute {
    Attribute { name: name.to_owned(), value: Some(value) }
}

fn push(bytes: &mut Vec<u8>, message: &impl prost::Message) {
    message.encode_length_delimited(bytes).expect("a vector grows");
}

impl Before {
    fn of(graph: &Graph) -> Self {
        let mut starts = vec![0u32; graph.needs.len() + 1];
        for (op, needs) in graph.needs.iter().enumerate() {
            starts[op + 1] = starts[op] + needs;
        }
        let mut next = starts.clone();
        let mut ops = vec![0u32; graph.followers.len()];
        for op in 0..graph.needs.len() as u32 {
            for follower in graph.followers(op) {
                let place = &mut next[(follower & !ON_START) as usize];
                ops[*place as usize] = op | (follower & ON_START);
                *place += 1;
            }
        }
        Self { starts, ops }
    }

    fn of_op(&self, op: u32) -> &[u32] {
        &self.ops[self.starts[op as usize] as usize..self.starts[op as usize + 1] as usize]
    }

    /// Operations that must be done before `op`. A send is done when it begins; another operation begins once all that it waits
    /// for itself is done.
    fn ends(&self, op: u32, workload: &Workload) -> Vec<u32> {
        let (mut found, mut seen, mut left) = (Vec::new(), Vec::new(), vec![op]);
        while let Some(op) = left.pop() {
            for &before in self.of_op(op) {
                let own = before & !ON_START;
                if before & ON_START == 0 || matches!(workload.ops[own as usize].unpack(), Op::Send(_)) {
                    found.push(own);
                } else if !seen.contains(&own) {
                    seen.push(own);
                    left.push(own);
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    fn waits_for_computations(&self, workload: &Workload) -> bool {
        let is_computation = |op: u32| matches!(workload.ops[op as usize].unpack(), Op::Compute(_));
        self.ops.iter().any(|before| before & ON_START != 0 && is_computation(before & !ON_START))
    }
}
