//! `msccl:FILE`: a custom schedule for a collective, in the XML that MSCCL's runtime reads.
//!
//! ```xml
//! <algo name="pair" nchunksperloop="2" ngpus="2" coll="allgather">
//!   <gpu id="0" i_chunks="1" o_chunks="2" s_chunks="0">
//!     <tb id="0" send="1" recv="1" chan="0">
//!       <step s="0" type="s" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" cnt="1" depid="-1" deps="-1"/>
//! …
//! ```
//!
//! Each `tb`, a thread block, takes its steps one after the other; `depid` and `deps` name a thread block and a step of
//! the same GPU that must be done before. What the thread blocks of one GPU send to another on one channel is received
//! there in the same order. Copies within a GPU take no time. Whatever `coll` promises is checked by carrying
//! contributions through the schedule.

mod check;

use std::collections::HashMap;

use roxmltree::{Document, Node};

use super::collective::{Transfer, yardstick_of};
use super::graph::GraphBuilder;
use super::registry::AppInfo;
use super::request::Request;
use super::{Op, Workload};
use crate::catalogue::{FILE, Key, Kind};
use crate::error::Result;
use crate::inputs;

pub(super) const INFO: AppInfo = AppInfo {
    name: "msccl",
    summary: "a collective by a schedule in the XML of MSCCL",
    keys: &[
        Key::new("file", Kind::File, "the schedule"),
        Key::new("size", Kind::Bytes, "bytes of all chunks of a loop together, as in 64KiB (the default)"),
    ],
    argument: None,
    build,
};

/// What a step does, by its type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Kinds {
    receives: bool,
    /// Received or copied data is combined with the data of the destination.
    reduces: bool,
    /// The result is written to the target.
    writes: bool,
    sends: bool,
}

/// The types of steps.
const TYPES: &[(&str, Kinds)] = &[
    ("s", Kinds { receives: false, reduces: false, writes: false, sends: true }),
    ("r", Kinds { receives: true, reduces: false, writes: true, sends: false }),
    ("rcs", Kinds { receives: true, reduces: false, writes: true, sends: true }),
    ("rrc", Kinds { receives: true, reduces: true, writes: true, sends: false }),
    ("rrs", Kinds { receives: true, reduces: true, writes: false, sends: true }),
    ("rrcs", Kinds { receives: true, reduces: true, writes: true, sends: true }),
    ("cpy", Kinds { receives: false, reduces: false, writes: true, sends: false }),
    ("re", Kinds { receives: false, reduces: true, writes: true, sends: false }),
    ("nop", Kinds { receives: false, reduces: false, writes: false, sends: false }),
];

/// A buffer of a GPU: input, output, scratch.
const BUFFERS: [&str; 3] = ["i", "o", "s"];

#[derive(Debug)]
struct Step {
    line: u32,
    kinds: Kinds,
    /// Buffer and first chunk of what is read and of what is written.
    from: (usize, u32),
    to: (usize, u32),
    chunks: u32,
    /// A thread block and a step of it.
    after: Option<(i64, i64)>,
}

#[derive(Debug)]
struct ThreadBlock {
    id: i64,
    line: u32,
    /// The GPUs that it sends to and receives from.
    send: Option<u32>,
    receive: Option<u32>,
    channel: i64,
    steps: Vec<Step>,
}

#[derive(Debug)]
struct Schedule {
    collective: String,
    chunks: u32,
    in_place: bool,
    /// Of each GPU, the chunks of its buffers and its thread blocks.
    gpus: Vec<([u32; 3], Vec<ThreadBlock>)>,
}

/// A mistake, with its line.
type Wrong = (u32, String);

fn build(request: &Request) -> Result<Workload> {
    let Some(path) = request.text("file") else {
        return Err(request.mistake(format_args!("needs a {FILE}, as in msccl:{FILE}")));
    };
    let bytes = inputs::read(path).map_err(|why| request.unreadable(path, why))?;
    let wrong = |(line, what): Wrong| request.mistake(format_args!("{path}, line {line}: {what}"));
    let text = inputs::text(&bytes).map_err(|line| wrong((line as u32, "this is no text in UTF-8".to_owned())))?;
    let document = Document::parse(text).map_err(|error| wrong((error.pos().row, format!("no XML: {error}"))))?;
    let schedule = Schedule::read(&document).map_err(wrong)?;
    request.check_tasks(schedule.gpus.len() as u128, "ngpus")?;
    let size = request.size();
    if size < schedule.chunks.into() {
        return Err(request.mistake(format_args!(
            "the schedule cuts the data into {} chunks, but size is {size} bytes; give {} at least",
            schedule.chunks, schedule.chunks
        )));
    }
    let messages = schedule.connect().map_err(wrong)?;
    let workload = schedule.workload(request, size, &messages)?;
    check::check(&schedule, &messages).map_err(wrong)?;
    let yardstick = yardstick_of(&schedule.collective, schedule.gpus.len() as f64, size as f64);
    Ok(Workload { yardstick, ..workload })
}

/// Where a step stands: GPU, thread block by its place, and step.
type Place = (usize, usize, usize);

/// Messages, by the steps that send and receive them.
#[derive(Debug, Default)]
struct Messages {
    ends: Vec<(Place, Place)>,
    sent: HashMap<Place, u32>,
    received: HashMap<Place, u32>,
}

impl Schedule {
    fn read(document: &Document) -> std::result::Result<Self, Wrong> {
        let root = document.root_element();
        if !root.has_tag_name("algo") {
            let what = format!("the root is <{}>; a schedule of MSCCL is an <algo>", root.tag_name().name());
            return Err((line(root), what));
        }
        let gpus: Vec<Node> = root.children().filter(|node| node.has_tag_name("gpu")).collect();
        let wanted = number(root, "ngpus")?;
        if wanted != gpus.len() as i64 {
            return Err((line(root), format!("ngpus is {wanted}, but there are {} <gpu>", gpus.len())));
        }
        let count = gpus.len() as u32;
        let mut read = Vec::with_capacity(gpus.len());
        for (place, gpu) in (0i64..).zip(gpus) {
            if number(gpu, "id")? != place {
                return Err((line(gpu), format!("gpu {place} stands here; its id is {}", number(gpu, "id")?)));
            }
            read.push(read_gpu(gpu, count)?);
        }
        let chunks = number(root, "nchunksperloop")?;
        let chunks = u32::try_from(chunks).ok().filter(|chunks| *chunks > 0);
        let chunks = chunks.ok_or_else(|| (line(root), "nchunksperloop must be 1 at least".to_owned()))?;
        let collective = attribute(root, "coll")?.to_owned();
        Ok(Self { collective, chunks, in_place: root.attribute("inplace") == Some("1"), gpus: read })
    }

    fn step(&self, (gpu, block, step): Place) -> &Step {
        &self.gpus[gpu].1[block].steps[step]
    }

    /// All steps, GPU by GPU and thread block by thread block.
    fn places(&self) -> impl Iterator<Item = Place> + '_ {
        self.gpus.iter().enumerate().flat_map(|(gpu, (_, blocks))| {
            let steps = move |(block, own): (usize, &ThreadBlock)| {
                (0..own.steps.len()).map(move |step| (gpu, block, step)).collect::<Vec<_>>()
            };
            blocks.iter().enumerate().flat_map(steps)
        })
    }

    /// Sends and receives meet: the k-th of a connection here and there.
    fn connect(&self) -> std::result::Result<Messages, Wrong> {
        type Halves = [Vec<Place>; 2];
        let mut halves: std::collections::BTreeMap<(u32, u32, i64), Halves> = std::collections::BTreeMap::new();
        for place in self.places() {
            let (own, block) = (place.0 as u32, &self.gpus[place.0].1[place.1]);
            let step = &block.steps[place.2];
            let missing =
                |what: &str| (step.line, format!("the thread block on line {} has no {what} peer", block.line));
            if step.kinds.receives {
                let peer = block.receive.ok_or_else(|| missing("recv"))?;
                halves.entry((peer, own, block.channel)).or_default()[1].push(place);
            }
            if step.kinds.sends {
                let peer = block.send.ok_or_else(|| missing("send"))?;
                halves.entry((own, peer, block.channel)).or_default()[0].push(place);
            }
        }
        let mut messages = Messages::default();
        for ((source, target, channel), [sends, receives]) in halves {
            if let Some(place) = receives.get(sends.len()) {
                let what = format!("gpu {target} receives from gpu {source} on channel {channel} what it never sends");
                return Err((self.step(*place).line, what));
            }
            if let Some(place) = sends.get(receives.len()) {
                let what = format!("gpu {source} sends to gpu {target} on channel {channel} what it never receives");
                return Err((self.step(*place).line, what));
            }
            for (send, receive) in sends.into_iter().zip(receives) {
                let (sent, got) = (self.step(send).chunks, self.step(receive).chunks);
                if sent != got {
                    let at = self.step(send).line;
                    return Err((
                        self.step(receive).line,
                        format!("{got} chunks are received; line {at} sends {sent}"),
                    ));
                }
                let id = messages.ends.len() as u32;
                messages.ends.push((send, receive));
                messages.sent.insert(send, id);
                messages.received.insert(receive, id);
            }
        }
        Ok(messages)
    }

    fn workload(&self, request: &Request, size: u64, messages: &Messages) -> Result<Workload> {
        let mut graph = GraphBuilder::default();
        let mut connections = HashMap::new();
        for (id, (send, receive)) in (0..).zip(&messages.ends) {
            let (source, target) = (send.0 as u32, receive.0 as u32);
            let bytes = u128::from(size) * u128::from(self.step(*send).chunks) / u128::from(self.chunks);
            let next = connections.len() as u32;
            let connection = *connections.entry((source, target, self.gpus[send.0].1[send.1].channel)).or_insert(next);
            graph.message_on(source, target, bytes as u64, connection);
            let reduces = self.step(*receive).kinds.reduces;
            graph.carried.note(id, Transfer { source, target, spans: Vec::new(), reduces });
        }
        let mut lines = Vec::new();
        // The first and the last operation of each step.
        let mut ops: HashMap<Place, [u32; 2]> = HashMap::new();
        for place in self.places() {
            let task = place.0 as u32;
            let mut own: Vec<u32> = Vec::new();
            own.extend(messages.received.get(&place).map(|id| graph.op(task, Op::Receive(*id))));
            own.extend(messages.sent.get(&place).map(|id| graph.op(task, Op::Send(*id))));
            if own.is_empty() {
                own.push(graph.join(task, &[]));
            }
            own.windows(2).for_each(|pair| graph.follows(pair[1], pair[0], false));
            lines.extend(own.iter().map(|_| self.step(place).line));
            ops.insert(place, [own[0], own[own.len() - 1]]);
        }
        for place in self.places() {
            for before in self.before(place) {
                graph.follows(ops[&place][0], ops[&before][1], false);
            }
        }
        graph.build(request.spec(), self.gpus.len() as u32, |op| format!("line {}", lines[op as usize]))
    }

    /// The steps that must be done before this one.
    fn before(&self, (gpu, block, step): Place) -> impl Iterator<Item = Place> + '_ {
        let own = (step > 0).then(|| (gpu, block, step - 1));
        let other = self.step((gpu, block, step)).after.and_then(|(id, step)| {
            let block = self.gpus[gpu].1.iter().position(|block| block.id == id)?;
            Some((gpu, block, step as usize))
        });
        own.into_iter().chain(other)
    }
}

fn read_gpu(gpu: Node, gpus: u32) -> std::result::Result<([u32; 3], Vec<ThreadBlock>), Wrong> {
    let mut chunks = [0; 3];
    for (own, name) in chunks.iter_mut().zip(["i_chunks", "o_chunks", "s_chunks"]) {
        let count = number(gpu, name)?;
        *own = u32::try_from(count).map_err(|_| (line(gpu), format!("{name} is {count}; it must be 0 at least")))?;
    }
    let mut blocks = Vec::new();
    for node in gpu.children().filter(|node| node.has_tag_name("tb")) {
        let peer = |name: &str| match number(node, name)? {
            -1 => Ok(None),
            peer if (0..i64::from(gpus)).contains(&peer) => Ok(Some(peer as u32)),
            peer => Err((line(node), format!("{name} is {peer}; there are gpus 0 to {}", gpus - 1))),
        };
        let (send, receive) = (peer("send")?, peer("recv")?);
        let steps = node.children().filter(|node| node.has_tag_name("step"));
        let steps = steps.map(read_step).collect::<std::result::Result<_, Wrong>>()?;
        let (id, channel) = (number(node, "id")?, number(node, "chan")?);
        blocks.push(ThreadBlock { id, line: line(node), send, receive, channel, steps });
    }
    let known = |(id, step): (i64, i64)| {
        blocks.iter().any(|block| block.id == id && (0..block.steps.len() as i64).contains(&step))
    };
    for step in blocks.iter().flat_map(|block| &block.steps) {
        if let Some((id, after)) = step.after.filter(|after| !known(*after)) {
            return Err((step.line, format!("it waits for step {after} of thread block {id}, which does not exist")));
        }
    }
    Ok((chunks, blocks))
}

fn read_step(node: Node) -> std::result::Result<Step, Wrong> {
    let name = attribute(node, "type")?;
    let found = TYPES.iter().find(|(known, _)| *known == name);
    let kinds = found.map(|(_, kinds)| *kinds).ok_or_else(|| {
        let known: Vec<&str> = TYPES.iter().map(|(known, _)| *known).collect();
        (line(node), format!("a step has the type '{name}'; there are: {}", known.join(", ")))
    })?;
    let end = |buffer: &str, offset: &str| -> std::result::Result<(usize, u32), Wrong> {
        let name = attribute(node, buffer)?;
        let place = BUFFERS.iter().position(|known| *known == name);
        let place = place.ok_or_else(|| (line(node), format!("{buffer} is '{name}'; it must be i, o or s")))?;
        let first = number(node, offset)?;
        Ok((place, u32::try_from(first).unwrap_or(0)))
    };
    let after = match (number(node, "depid")?, number(node, "deps")?) {
        (-1, _) | (_, -1) => None,
        after => Some(after),
    };
    let chunks = u32::try_from(number(node, "cnt")?).unwrap_or(0);
    if chunks == 0 && name != "nop" {
        return Err((line(node), "cnt must be 1 at least".to_owned()));
    }
    Ok(Step { line: line(node), kinds, from: end("srcbuf", "srcoff")?, to: end("dstbuf", "dstoff")?, chunks, after })
}

fn line(node: Node) -> u32 {
    node.document().text_pos_at(node.range().start).row
}

fn attribute<'a>(node: Node<'a, '_>, name: &str) -> std::result::Result<&'a str, Wrong> {
    node.attribute(name).ok_or_else(|| (line(node), format!("<{}> has no {name}", node.tag_name().name())))
}

fn number(node: Node, name: &str) -> std::result::Result<i64, Wrong> {
    let text = attribute(node, name)?;
    text.parse().map_err(|_| (line(node), format!("{name} is '{text}'; it must be a whole number")))
}
