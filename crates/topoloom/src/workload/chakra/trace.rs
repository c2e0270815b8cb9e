//! The trace of one rank: a stream of messages of protobuf, each with its length before it.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, ErrorKind, Read};

use prost::Message;

use super::schema::{Metadata, Node, Value, attribute};
use super::{PROCESSOR, SECONDS};
use crate::inputs;
use crate::workload::collective::Collective;

/// Bytes of a node at most: what a broken file states is no reason to take all memory.
const MOST: u64 = 1 << 28;

/// What a node does.
#[derive(Debug, Clone, PartialEq)]
pub enum Work {
    /// Takes this many seconds of its rank's accelerator (0), of its processor (1) or of another unit.
    Compute { seconds: f64, unit: u32 },
    /// Has this many operations to compute, and no time.
    Operations(f64),
    /// Takes this many seconds of memory.
    Memory(f64),
    /// Sends to a rank, with a tag.
    Send { peer: u64, tag: u64, bytes: u64 },
    /// Receives from a rank.
    Receive { peer: u64, tag: u64, bytes: u64 },
    /// Does a collective in a group: none is that of all ranks.
    Collective { what: Collective, bytes: u64, group: Option<String> },
    /// Nothing that takes time.
    Nothing,
}

/// A node of a trace.
#[derive(Debug)]
pub struct Step {
    pub id: u64,
    pub name: String,
    pub work: Work,
    /// Nodes that must be done before, those of data dependencies first.
    pub after: Vec<u64>,
    /// How many of these are data dependencies; the others are control dependencies alone.
    pub data: usize,
}

/// The trace of a rank.
#[derive(Debug)]
pub struct Trace {
    pub path: String,
    pub steps: Vec<Step>,
    /// The position of each node by its id.
    pub places: HashMap<u64, u32>,
    /// Nodes of communication that only start it, on the processor.
    pub starts: u64,
    /// Control dependencies on nodes that the file does not contain.
    pub missing: u64,
    /// What the ids of nodes number.
    unit: &'static str,
}

impl Trace {
    /// A trace without nodes, whose ids number `unit`s of the file.
    pub fn of(path: &str, unit: &'static str) -> Self {
        Self { path: path.to_owned(), steps: Vec::new(), places: HashMap::new(), starts: 0, missing: 0, unit }
    }

    /// Adds a node; false if there is one of its id.
    pub fn push(&mut self, step: Step) -> bool {
        let is_new = self.places.insert(step.id, self.steps.len() as u32).is_none();
        self.steps.push(step);
        is_new
    }

    /// A node's name for users.
    pub fn label(&self, place: u32) -> String {
        let step = &self.steps[place as usize];
        format!("{} {} ({})", self.unit, step.id, step.name)
    }

    /// Forgets control dependencies.
    pub fn keep_data_alone(&mut self) {
        self.steps.iter_mut().for_each(|step| step.after.truncate(step.data));
        self.missing = 0;
    }

    /// True if nodes wait for each other, by data dependencies alone or by all.
    pub fn is_cyclic(&self, data_only: bool) -> bool {
        let before = |step: &Step| if data_only { step.data } else { step.after.len() };
        let mut waits: Vec<usize> = vec![0; self.steps.len()];
        let mut followers: HashMap<u64, Vec<u32>> = HashMap::new();
        for (place, step) in (0u32..).zip(&self.steps) {
            waits[place as usize] = before(step);
            step.after[..before(step)].iter().for_each(|id| followers.entry(*id).or_default().push(place));
        }
        let mut ready: Vec<usize> = (0..waits.len()).filter(|place| waits[*place] == 0).collect();
        let mut done = 0;
        while let Some(place) = ready.pop() {
            done += 1;
            for follower in followers.get(&self.steps[place].id).into_iter().flatten() {
                waits[*follower as usize] -= 1;
                ready.extend((waits[*follower as usize] == 0).then_some(*follower as usize));
            }
        }
        done < self.steps.len()
    }

    /// Reads a file; the error is the rest of a sentence that begins with its path.
    pub fn read(path: &str) -> Result<Self, String> {
        let mut file = BufReader::with_capacity(1 << 20, inputs::open(path, 1)?);
        let mut this = Self::of(path, "node");
        let mut bytes = Vec::new();
        if !next(&mut file, &mut bytes).map_err(|what| format!("{what} within its metadata"))? {
            return Err("it is empty; a Chakra trace begins with its metadata".to_owned());
        }
        let metadata = Metadata::decode(bytes.as_slice()).map_err(|_| "it is no Chakra trace".to_owned())?;
        check_version(&metadata)?;
        let at = |steps: usize| format!("behind {steps} nodes");
        while next(&mut file, &mut bytes).map_err(|what| format!("{what} {}", at(this.steps.len())))? {
            let node = Node::decode(bytes.as_slice())
                .map_err(|error| format!("what stands {} is no node: {error}", at(this.steps.len())))?;
            this.starts += u64::from(starts_communication(&node));
            let step = read_node(node).map_err(|(id, name, what)| format!("node {id} ({name}) {what}"))?;
            if !this.push(step) {
                return Err(format!("{} is listed twice", this.label(this.steps.len() as u32 - 1)));
            }
        }
        for step in &mut this.steps {
            let Step { after, data, .. } = step;
            if let Some(missing) = after[..*data].iter().find(|id| !this.places.contains_key(id)) {
                return Err(format!(
                    "node {} ({}) depends on node {missing}, which does not exist",
                    step.id, step.name
                ));
            }
            let all = after.len();
            after.retain(|id| this.places.contains_key(id));
            this.missing += (all - after.len()) as u64;
        }
        Ok(this)
    }
}

/// Reads the next message of the stream; false at its end.
fn next(file: &mut impl BufRead, bytes: &mut Vec<u8>) -> Result<bool, String> {
    if file.fill_buf().map_err(|error| error.to_string())?.is_empty() {
        return Ok(false);
    }
    let mut length = 0u64;
    for shift in (0..64).step_by(7) {
        let mut byte = [0];
        file.read_exact(&mut byte).map_err(ended)?;
        length |= u64::from(byte[0] & 0x7f) << shift;
        if byte[0] < 0x80 {
            break;
        }
    }
    if length > MOST {
        return Err(format!("a message of {length} bytes begins"));
    }
    bytes.clear();
    let read = file.take(length).read_to_end(bytes).map_err(|error| error.to_string())?;
    if (read as u64) < length {
        return Err("the file ends".to_owned());
    }
    Ok(true)
}

fn ended(error: std::io::Error) -> String {
    match error.kind() {
        ErrorKind::UnexpectedEof => "the file ends".to_owned(),
        _ => error.to_string(),
    }
}

/// Versions are those of the schema, or, in traces of PyTorch, of an attribute that ends with the schema's.
fn check_version(metadata: &Metadata) -> Result<(), String> {
    let schema = match attribute(&metadata.attributes, "schema") {
        Some(Value::Text(text)) => text.as_str(),
        _ => "",
    };
    let version = if metadata.version.is_empty() { schema } else { &metadata.version };
    if version.is_empty() || version == "0.0.4" || version.starts_with("1.") {
        return Ok(());
    }
    Err(format!("its schema has the version '{version}'; 1.x is read, and 0.0.4, which it grew from"))
}

/// A node, or its id, its name and what is wrong with it.
fn read_node(node: Node) -> Result<Step, (u64, String, String)> {
    let work = read_work(&node).map_err(|what| (node.id, node.name.clone(), what))?;
    let [mut after, mut control] = [node.data_deps, node.control_deps];
    for ids in [&mut after, &mut control] {
        ids.sort_unstable();
        ids.dedup();
    }
    let data = after.len();
    control.retain(|id| after.binary_search(id).is_err());
    after.append(&mut control);
    after.shrink_to_fit();
    Ok(Step { id: node.id, name: node.name, work, after, data })
}

/// True if a node of communication is the call of a library on the processor, which starts the kernel that communicates.
fn starts_communication(node: &Node) -> bool {
    let on_cpu = attribute(&node.attributes, "is_cpu_op").and_then(Value::whole);
    (5..=7).contains(&node.kind) && on_cpu == Some(1)
}

fn read_work(node: &Node) -> Result<Work, String> {
    let value = |name: &str| attribute(&node.attributes, name).and_then(Value::whole);
    let seconds = node.duration_micros as f64 * 1e-6;
    let size = || value("comm_size").ok_or_else(|| "has no comm_size".to_owned());
    let peer = |name: &str| value(name).ok_or_else(|| format!("has no {name}"));
    let tag = value("comm_tag").unwrap_or(0);
    if starts_communication(node) {
        return Ok(Work::Compute { seconds, unit: 1 });
    }
    Ok(match node.kind {
        // Metadata; storage, batches and checkpoints carry nothing over the network.
        1 => Work::Nothing,
        2 | 3 | 8..=10 => Work::Memory(seconds),
        4 => match (node.duration_micros, value("num_ops")) {
            (0, Some(operations)) => Work::Operations(operations as f64),
            _ => {
                let exact = attribute(&node.attributes, SECONDS).and_then(Value::real);
                let unit = value(PROCESSOR).and_then(|unit| u32::try_from(unit).ok());
                let unit = unit.unwrap_or(u32::from(value("is_cpu_op") == Some(1)));
                Work::Compute { seconds: exact.unwrap_or(seconds), unit }
            }
        },
        5 => Work::Send { peer: peer("comm_dst")?, tag, bytes: size()? },
        6 => Work::Receive { peer: peer("comm_src")?, tag, bytes: size()? },
        7 => {
            let group = match attribute(&node.attributes, "pg_name") {
                Some(Value::Text(name)) => Some(name.clone()).filter(|name| !name.is_empty()),
                Some(other) => other.whole().map(|number| number.to_string()),
                None => None,
            };
            let what = collective(value("comm_type").ok_or("has no comm_type")?)?;
            let bytes = if what == Collective::Barrier { value("comm_size").unwrap_or(8).max(1) } else { size()? };
            Work::Collective { what, bytes, group }
        }
        kind => return Err(format!("has the type {kind}; there are 1 to 10")),
    })
}

/// The numbers of collectives in the schema.
const COLLECTIVES: [(i64, Collective); 8] = [
    (0, Collective::Allreduce),
    (1, Collective::Reduce),
    (2, Collective::AllGather),
    (5, Collective::Broadcast),
    (6, Collective::AllToAll),
    (7, Collective::ReduceScatter),
    (8, Collective::ReduceScatter),
    (9, Collective::Barrier),
];

/// The number of a collective in the schema, if it has one.
pub fn number(what: Collective) -> Option<i64> {
    COLLECTIVES.iter().find(|(_, own)| *own == what).map(|(number, _)| *number)
}

/// A collective by its number in the schema.
fn collective(number: u64) -> Result<Collective, String> {
    if let Some((_, what)) = COLLECTIVES.iter().find(|(own, _)| *own as u64 == number) {
        return Ok(*what);
    }
    Err(match number {
        3 => "is a gather, which no library of collectives for accelerators has".to_owned(),
        4 => "is a scatter, which no library of collectives for accelerators has".to_owned(),
        _ => format!("has the comm_type {number}; there are 0 to 9"),
    })
}
