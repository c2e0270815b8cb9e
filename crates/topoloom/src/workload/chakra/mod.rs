//! `chakra:FILE`: execution traces in the format of MLCommons' Chakra, schema 1, one file per rank.
//!
//! A node begins once the nodes that it depends on are done. Computations of a rank run one at a time on its
//! accelerator, or on its processor if they are marked so; memory accesses run one at a time beside them. A send is
//! done when it has begun. The k-th send from one rank to another with one tag goes to the k-th receive there. The k-th
//! collective of a rank in a group, in the order of its file, is the k-th of all others of that group; it runs by an
//! algorithm of ours.

pub(super) mod nccl;
mod schema;
mod trace;
mod write;

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use self::trace::{Step, Trace, Work};
use super::calls::Call;
use super::collective::{Collective, Lanes, Plan};
use super::registry::AppInfo;
use super::request::Request;
use super::{NO_CONNECTION, Op, Workload};
use crate::catalogue::{FILE, Key, Kind};
use crate::error::{Error, Result};

pub use self::write::ChakraTraces;

/// The attribute with the exact time of a computation, in seconds, where that is no whole number of microseconds.
const SECONDS: &str = "topoloom_seconds";

/// The attribute with the number of what computes in a rank: 0 its accelerator, 1 its processor, others beside them.
const PROCESSOR: &str = "topoloom_processor";

/// The key of what recorded collectives run by.
const ALGORITHM: Key = Key::new(
    "algorithm",
    Kind::Choice(&["ring", "double-binary-tree", "recursive-doubling", "halving-doubling", "direct"]),
    "of collectives, where they have it; else ring, or direct (default ring)",
);

/// The key of what nodes wait for.
const DEPENDENCIES: Key = Key::new(
    "dependencies",
    Kind::Choice(&["all", "data"]),
    "what nodes wait for: data and control dependencies, or data alone (default all)",
);

pub(super) const INFO: AppInfo = AppInfo {
    name: "chakra",
    summary: "Chakra execution traces, a file for each rank",
    keys: &[
        Key::new("file", Kind::File, "the trace of rank 0, such as step.0.et; the others are step.1.et and so on"),
        Key::new(
            "ranks",
            Kind::count(2),
            "the number of ranks that all follow this one file (default: one file per rank)",
        ),
        ALGORITHM,
        DEPENDENCIES,
        Key::new("tflops", Kind::Above(1e9), "10^12 operations per second, of nodes that give operations and no time"),
    ],
    argument: None,
    build,
};

/// A mistake: the path of a trace, and the rest of the sentence.
type Wrong = (String, String);

fn build(request: &Request) -> Result<Workload> {
    let Some(path) = request.text("file") else {
        return Err(request.mistake(format_args!("needs a {FILE}, as in chakra:step.0.et")));
    };
    let mut traces = read_all(path, request.count("ranks")).map_err(|(path, what)| request.unreadable(&path, what))?;
    request.check_tasks(traces.ranks.into(), "the trace")?;
    if request.choice(DEPENDENCIES.name) == "data" {
        traces.files.iter_mut().for_each(Trace::keep_data_alone);
    }
    run(request, &traces)
}

/// What the ranks of traces do.
fn run(request: &Request, traces: &Traces) -> Result<Workload> {
    let wrong = |(path, what): Wrong| request.mistake(format_args!("{path}: {what}"));
    let mut made = Making::new(request, traces);
    made.nodes().map_err(wrong)?;
    made.messages().map_err(wrong)?;
    made.collectives(request).map_err(|error| error.unwrap_or_else(wrong))?;
    made.build(request)
}

/// The traces of all ranks: one each, or one for all.
struct Traces {
    files: Vec<Trace>,
    ranks: u32,
}

impl Traces {
    fn of(&self, rank: u32) -> &Trace {
        &self.files[if self.files.len() == 1 { 0 } else { rank as usize }]
    }

    /// True if nodes of a rank wait for each other, and would not without control dependencies.
    fn control_makes_cycles(&self) -> bool {
        let any = |data_only| self.files.iter().any(|trace| trace.is_cyclic(data_only));
        any(false) && !any(true)
    }
}

/// Reads `step.0.et`, `step.1.et`, … as far as there are files, or the one file for all ranks.
fn read_all(path: &str, ranks: Option<u32>) -> std::result::Result<Traces, Wrong> {
    let read = |path: &str| Trace::read(path).map_err(|what| (path.to_owned(), what));
    let first = read(path)?;
    if let Some(ranks) = ranks {
        return Ok(Traces { files: vec![first], ranks });
    }
    let mut files = vec![first];
    let named = path.rfind(".0.").map(|at| (&path[..at], &path[at + 3..]));
    if let Some((name, ending)) = named {
        for rank in 1.. {
            let next = format!("{name}.{rank}.{ending}");
            if !Path::new(&next).exists() {
                break;
            }
            files.push(read(&next)?);
        }
    }
    if files.len() < 2 {
        let what = "it is the trace of one rank; give those of the others as step.0.et, step.1.et, …, or ranks=8";
        return Err((path.to_owned(), what.to_owned()));
    }
    let ranks = files.len() as u32;
    Ok(Traces { files, ranks })
}

/// A collective as the ranks of a group come to it.
struct Meeting {
    what: Collective,
    bytes: u64,
    /// Ranks in their order, with the operation that begins it and the one that ends it.
    members: Vec<(u32, [u32; 2])>,
}

impl Meeting {
    /// The operations of a rank, if it came.
    fn member(&self, rank: u32) -> Option<[u32; 2]> {
        self.members.binary_search_by_key(&rank, |(own, _)| *own).ok().map(|place| self.members[place].1)
    }

    /// The bytes of the whole vector: traces state what each rank has at the beginning. Of an all-to-all, those of a
    /// block.
    fn vector(&self, ranks: u64) -> u64 {
        match self.what {
            Collective::AllGather => self.bytes.saturating_mul(ranks),
            Collective::AllToAll => (self.bytes / ranks).max(1),
            _ => self.bytes,
        }
    }
}

/// Source, target and tag, by which sends and receives meet.
type Meets = BTreeMap<(u32, u32, u64), [Vec<(u32, u32)>; 2]>;

struct Making<'a> {
    traces: &'a Traces,
    lanes: Lanes,
    tflops: Option<f64>,
    /// Of each rank, the first and the last operation of each node.
    ops: Vec<Vec<[u32; 2]>>,
    /// The rank and the position of the node of each operation, for messages to users.
    nodes: Vec<(u32, u32)>,
    meets: Meets,
    groups: BTreeMap<Option<String>, Vec<Meeting>>,
    /// The number of what computes, by its rank and its place there.
    units: HashMap<(u32, u32), u32>,
    notes: Vec<String>,
}

/// The position of memory among what computes in a rank.
const MEMORY: u32 = u32::MAX;

impl<'a> Making<'a> {
    fn new(request: &Request, traces: &'a Traces) -> Self {
        Self {
            traces,
            lanes: Lanes::new(request, traces.ranks),
            tflops: request.declares("tflops").then(|| request.real("tflops")).flatten(),
            ops: Vec::new(),
            nodes: Vec::new(),
            meets: BTreeMap::new(),
            groups: BTreeMap::new(),
            units: HashMap::new(),
            notes: Vec::new(),
        }
    }

    /// The operations of all nodes, sends and receives aside, and what waits for what.
    fn nodes(&mut self) -> std::result::Result<(), Wrong> {
        let mut timeless = 0u64;
        for rank in 0..self.traces.ranks {
            let trace = self.traces.of(rank);
            let mut came: BTreeMap<Option<&str>, usize> = BTreeMap::new();
            for (place, step) in (0u32..).zip(&trace.steps) {
                let ops = match &step.work {
                    Work::Collective { what, bytes, group } => {
                        let turn = came.entry(group.as_deref()).or_default();
                        *turn += 1;
                        self.meet(rank, place, (*what, *bytes, group.as_ref()), *turn - 1)?
                    }
                    work => {
                        timeless += u64::from(matches!(work, Work::Operations(_)) && self.tflops.is_none());
                        let op = self.op(rank, place, step).map_err(|what| self.wrong(rank, place, &what))?;
                        [op, op]
                    }
                };
                if self.ops.len() == rank as usize {
                    self.ops.push(Vec::with_capacity(trace.steps.len()));
                }
                self.ops[rank as usize].push(ops);
            }
            self.ops.resize(rank as usize + 1, Vec::new());
            for (place, step) in trace.steps.iter().enumerate() {
                for before in &step.after {
                    let ops = &self.ops[rank as usize];
                    self.lanes.graph.follows(ops[place][0], ops[trace.places[before] as usize][1], false);
                }
            }
        }
        if timeless > 0 {
            self.notes.push(format!("{timeless} nodes give operations and no time; without tflops they take no time"));
        }
        let starts: u64 = self.traces.files.iter().map(|trace| trace.starts).sum();
        let missing: u64 = self.traces.files.iter().map(|trace| trace.missing).sum();
        if missing > 0 {
            self.notes.push(format!(
                "{missing} control dependencies name nodes that the file does not contain; they count as done"
            ));
        }
        if starts > 0 {
            self.notes.push(format!(
                "{starts} nodes of communication are marked is_cpu_op: they compute on the processor, which starts the \
                 communication of other nodes"
            ));
        }
        Ok(())
    }

    /// The mistake in a node.
    fn wrong(&self, rank: u32, place: u32, what: &str) -> Wrong {
        let trace = self.traces.of(rank);
        (trace.path.clone(), format!("{} of rank {rank} {what}", trace.label(place)))
    }

    /// Notes the node of operations that were added.
    fn note(&mut self, rank: u32, place: u32) {
        self.nodes.resize(self.lanes.graph.len(), (rank, place));
    }

    /// The operation of a node; messages get theirs when all are known.
    fn op(&mut self, rank: u32, place: u32, step: &Step) -> std::result::Result<u32, String> {
        let peer = |peer: u64| match u32::try_from(peer).ok().filter(|peer| *peer < self.traces.ranks) {
            None => Err(format!("names rank {peer}; there are ranks 0 to {}", self.traces.ranks - 1)),
            Some(peer) => Ok(peer),
        };
        let (graph, units) = (&mut self.lanes.graph, &mut self.units);
        let mut compute = |seconds: f64, unit: u32| {
            let next = units.len() as u32 + 1;
            graph.compute(rank, seconds, *units.entry((rank, unit)).or_insert(next))
        };
        let op = match &step.work {
            Work::Compute { seconds, unit } => compute(*seconds, *unit),
            Work::Operations(count) => compute(self.tflops.map_or(0.0, |tflops| count / tflops / 1e12), 0),
            Work::Memory(seconds) => compute(*seconds, MEMORY),
            Work::Send { peer: target, .. } | Work::Receive { peer: target, .. } if peer(*target)? == rank => {
                graph.join(rank, &[])
            }
            Work::Send { peer: target, tag, .. } => {
                let op = graph.op(rank, Op::Send(u32::MAX >> 2));
                self.meets.entry((rank, peer(*target)?, *tag)).or_default()[0].push((place, op));
                op
            }
            Work::Receive { peer: source, tag, .. } => {
                let op = graph.op(rank, Op::Receive(u32::MAX >> 2));
                self.meets.entry((peer(*source)?, rank, *tag)).or_default()[1].push((place, op));
                op
            }
            Work::Collective { .. } | Work::Nothing => graph.join(rank, &[]),
        };
        self.note(rank, place);
        Ok(op)
    }

    /// A rank comes to the collective of its group whose turn it is.
    fn meet(
        &mut self,
        rank: u32,
        place: u32,
        (what, bytes, group): (Collective, u64, Option<&String>),
        turn: usize,
    ) -> std::result::Result<[u32; 2], Wrong> {
        let ops = [self.lanes.graph.join(rank, &[]), self.lanes.graph.join(rank, &[])];
        self.note(rank, place);
        let meetings = self.groups.entry(group.cloned()).or_default();
        match meetings.get_mut(turn) {
            Some(meeting) if (meeting.what, meeting.bytes) == (what, bytes) => meeting.members.push((rank, ops)),
            Some(meeting) => {
                let (other, [begins, _]) = meeting.members[0];
                let theirs = self.traces.of(other).label(self.nodes[begins as usize].1);
                let what = format!("meets {theirs} of rank {other}, which is another collective");
                return Err(self.wrong(rank, place, &what));
            }
            None => meetings.push(Meeting { what, bytes, members: vec![(rank, ops)] }),
        }
        Ok(ops)
    }

    /// Sends and receives meet.
    fn messages(&mut self) -> std::result::Result<(), Wrong> {
        for ((source, target, tag), [sends, receives]) in std::mem::take(&mut self.meets) {
            if let Some((place, _)) = receives.get(sends.len()) {
                return Err(self.wrong(
                    target,
                    *place,
                    &format!("waits for what rank {source} never sends with tag {tag}"),
                ));
            }
            if let Some((place, _)) = sends.get(receives.len()) {
                return Err(self.wrong(
                    source,
                    *place,
                    &format!("sends what rank {target} never receives with tag {tag}"),
                ));
            }
            for ((place, send), (_, receive)) in sends.into_iter().zip(receives) {
                let Work::Send { bytes, .. } = self.traces.of(source).steps[place as usize].work else { continue };
                let message = self.lanes.graph.message_on(source, target, bytes.max(1), NO_CONNECTION);
                self.lanes.graph.set_op(send, Op::Send(message));
                self.lanes.graph.set_op(receive, Op::Receive(message));
            }
        }
        Ok(())
    }

    /// Every collective, between the operations of its ranks.
    fn collectives(&mut self, request: &Request) -> std::result::Result<(), std::result::Result<Error, Wrong>> {
        let asked = request.choice("algorithm");
        for (channel, (group, meetings)) in (0u32..).zip(std::mem::take(&mut self.groups)) {
            let everybody: Vec<u32> = match (&group, meetings.first()) {
                (None, _) => (0..self.traces.ranks).collect(),
                (Some(_), first) => {
                    first.map_or(Vec::new(), |first| first.members.iter().map(|(rank, _)| *rank).collect())
                }
            };
            for meeting in meetings {
                if let Some(missing) = everybody.iter().find(|rank| meeting.member(**rank).is_none()) {
                    let (rank, [begins, _]) = meeting.members[0];
                    let place = self.nodes[begins as usize].1;
                    let group = group.as_ref().map_or("all ranks".to_owned(), |name| format!("the group {name}"));
                    let what = format!("waits without end: rank {missing} never comes to this collective of {group}");
                    return Err(Err(self.wrong(rank, place, &what)));
                }
                self.collective(request, [asked, group.as_deref().unwrap_or_default()], channel, &meeting)
                    .map_err(Ok)?;
            }
        }
        Ok(())
    }

    fn collective(
        &mut self,
        request: &Request,
        [asked, group]: [&str; 2],
        channel: u32,
        meeting: &Meeting,
    ) -> Result<()> {
        let name = Some(group).filter(|name| !name.is_empty());
        let members: Vec<u32> = meeting.members.iter().map(|(rank, _)| *rank).collect();
        if members.len() > 1 && meeting.bytes > 0 && request.keeps_calls() {
            let calls = &mut self.lanes.graph.calls;
            let group = calls.named(name, &members);
            let call = calls.add(Call { what: meeting.what, bytes: meeting.bytes, group });
            meeting.members.iter().for_each(|(_, [begins, _])| calls.note(*begins, call));
        } else if members.len() > 1 && meeting.bytes > 0 {
            let size = meeting.vector(members.len() as u64);
            let plan = Plan::of(meeting.what, asked, members, self.traces.ranks, size);
            super::builder::guard(
                request.spec(),
                self.traces.ranks.into(),
                plan.messages() + self.lanes.graph.len() as u128,
            )?;
            for (rank, [begins, _]) in &meeting.members {
                self.lanes.begin_after(*rank, *begins);
            }
            for (rank, ends) in self.lanes.within(&plan, channel) {
                let Some([_, end]) = meeting.member(rank) else { continue };
                ends.iter().for_each(|op| self.lanes.graph.follows(end, *op, false));
            }
        }
        for (rank, [begins, end]) in &meeting.members {
            self.lanes.graph.follows(*end, *begins, false);
            let place = self.nodes[*begins as usize].1;
            self.note(*rank, place);
        }
        Ok(())
    }

    fn build(self, request: &Request) -> Result<Workload> {
        let (traces, nodes, notes) = (self.traces, self.nodes, self.notes);
        let notes = notes.into_iter().map(|note| format!("{}: {note}", request.spec())).collect();
        let built = self.lanes.named(request, 1, notes, |op| {
            let (rank, place) = nodes[op as usize];
            format!("{} of rank {rank}", traces.of(rank).label(place))
        });
        built.map_err(|error| match error {
            Error::Workload(cycle) if traces.control_makes_cycles() => Error::Workload(format!(
                "{cycle}; only control dependencies close cycles in this trace: {}=data leaves them out",
                DEPENDENCIES.name
            )),
            other => other,
        })
    }
}
