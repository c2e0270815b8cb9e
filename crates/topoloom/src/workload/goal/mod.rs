//! `goal:FILE`: a schedule in GOAL, the text format of LogGOPSim (Hoefler, Schneider and Lumsdaine, 2010).
//!
//! ```text
//! num_ranks 2
//! rank 0 {
//!   l1: calc 1000 cpu 0
//!   l2: send 64b to 1 tag 7
//!   l2 requires l1
//! }
//! rank 1 {
//!   l1: recv 64b from 0 tag 7
//! }
//! ```
//!
//! Times are nanoseconds, sizes bytes. A send is done as soon as it has begun; `requires` waits for the end of an
//! operation, `irequires` for its start. Computations of a rank on one `cpu` (0 unless given) are done one at a time,
//! in the order in which they can begin. The k-th send from one rank to another with one tag (0 unless given) goes to
//! the k-th receive there; where receives take messages of any rank, or with any tag (`-1`), see [`wildcards`].

mod binary;
mod wildcards;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::io::{BufRead, BufReader};

use super::Workload;
use super::graph::GraphBuilder;
use super::registry::AppInfo;
use super::request::Request;
use crate::catalogue::{FILE, Key, Kind};
use crate::error::{Result, reason, several};
use crate::inputs;
use crate::workload::Op;

pub(super) const INFO: AppInfo = AppInfo {
    name: "goal",
    summary: "a schedule in GOAL, LogGOPSim's format, as text or in binary form",
    keys: &[
        Key::new("file", Kind::File, "the schedule"),
        Key::new(
            "ranks-per-terminal",
            Kind::count(1),
            "the number of consecutive ranks that share a terminal; messages between them take no time (default 1)",
        ),
    ],
    argument: None,
    build,
};

/// Bytes of memory that a byte of a file may cost.
const COST: u128 = 8;

fn build(request: &Request) -> Result<Workload> {
    let Some(path) = request.text("file") else {
        return Err(request.mistake(format_args!("needs a {FILE}, as in goal:own.goal")));
    };
    let wrong = |why: String| request.mistake(format_args!("{path}: {why}"));
    let unreadable = |error: std::io::Error| wrong(reason(&error));
    let mut file =
        BufReader::with_capacity(1 << 20, inputs::open(path, COST).map_err(|why| request.unreadable(path, why))?);
    let each = request.count("ranks-per-terminal").unwrap_or(1);
    let (mut at, mut reader) = (1, Reader { each, ..Reader::default() });
    let (read, unit) = if binary::is_binary(file.fill_buf().map_err(unreadable)?) {
        (binary::read(&mut file, &mut reader, &mut at), "operation")
    } else {
        (read(&mut file, &mut reader, &mut at), "line")
    };
    read.map_err(|(place, what)| request.mistake(format_args!("{path}, {unit} {}: {what}", place.unwrap_or(at))))?;
    let tasks = reader.ranks.unwrap_or(0).div_ceil(each);
    request.check_tasks(tasks.into(), if each == 1 { "num_ranks" } else { "num_ranks over ranks-per-terminal" })?;
    let Reader { graph, planned, ends, empty, .. } = reader;
    let built = graph.build(request.spec(), tasks, |op| {
        let op = ends.get((op as usize).wrapping_sub(planned.len())).copied().unwrap_or(op);
        let GoalOp { at, label, task, .. } = &planned[op as usize];
        match label {
            _ if unit == "operation" => format!("operation {at} of rank {task}"),
            Some(label) => format!("line {at} ({label} of rank {task})"),
            None => format!("line {at} (rank {task})"),
        }
    })?;
    let notes = match empty {
        0 => Vec::new(),
        _ => vec![format!("{}: {} of 0 bytes, sent with one byte each", request.spec(), several(empty, "message"))],
    };
    Ok(Workload { notes, ..built })
}

/// Reads a text line by line; `line` is where it is.
fn read(file: &mut impl BufRead, reader: &mut Reader, line: &mut usize) -> std::result::Result<(), Late> {
    // The line on which a comment begins that has not ended.
    let (mut bytes, mut comment) = (Vec::new(), None);
    for number in 1.. {
        bytes.clear();
        if file.read_until(b'\n', &mut bytes).map_err(|error| (Some(number), error.to_string()))? == 0 {
            break;
        }
        *line = number;
        let text = std::str::from_utf8(&bytes).map_err(|_| (None, "this is no text in UTF-8".to_owned()))?;
        let text = if number == 1 { text.strip_prefix(inputs::BYTE_ORDER_MARK).unwrap_or(text) } else { text };
        // Braces end a statement as the end of a line does.
        for statement in uncommented(text, number, &mut comment).split_inclusive(['{', '}']).flat_map(around_brace) {
            let words: Vec<&str> = statement.split_whitespace().collect();
            match (words.as_slice(), reader.rank) {
                (["}"], Some((_, true))) => reader.close()?,
                (words, _) => reader.statement(number, words).map_err(|what| (None, what))?,
            }
        }
    }
    if comment.is_some() {
        return Err((comment, "a comment that begins here with /* never ends".to_owned()));
    }
    reader.end()
}

/// A piece of text without the brace that it ends with, and the brace; a label's colon is a word of its own.
fn around_brace(piece: &str) -> [String; 2] {
    let body = piece.trim_end_matches(['{', '}']);
    [body.replace(':', " : "), piece[body.len()..].to_owned()]
}

/// What begins comments.
const COMMENTS: [&str; 3] = ["/*", "//", "#"];

/// A line without its comments; `comment` is the line on which one begins that has not ended.
fn uncommented<'a>(text: &'a str, line: usize, comment: &mut Option<usize>) -> Cow<'a, str> {
    let begins = |text: &str| COMMENTS.iter().filter_map(|mark| text.find(mark)).min();
    if comment.is_none() && begins(text).is_none() {
        return Cow::Borrowed(text);
    }
    let (mut kept, mut rest) = (String::new(), text);
    loop {
        if comment.is_some() {
            let Some(end) = rest.find("*/") else { return Cow::Owned(kept) };
            (*comment, rest) = (None, &rest[end + 2..]);
            kept.push(' ');
        }
        let Some(start) = begins(rest) else { return Cow::Owned(kept + rest) };
        kept.push_str(&rest[..start]);
        if !rest[start..].starts_with("/*") {
            return Cow::Owned(kept);
        }
        (*comment, rest) = (Some(line), &rest[start + 2..]);
    }
}

/// What stands for any rank, or for any tag, of a receive.
const ANY: [&str; 2] = ["-1", "*"];

/// A mistake, with its line where it is not the present one.
type Late = (Option<usize>, String);

/// Whose sends meet whose receives: source, target and tag.
type MatchKey = (u32, u32, u32);

/// What an operation does.
enum What {
    Send {
        peer: u32,
        tag: u32,
        bytes: u64,
    },
    /// From any rank, or with any tag, where this is not given.
    Receive {
        peer: Option<u32>,
        tag: Option<u32>,
        bytes: u64,
    },
    Compute {
        nanoseconds: u64,
        cpu: u32,
    },
}

/// What became of a send or a receive.
#[derive(Debug, Clone, Copy)]
enum Role {
    /// Its message goes to another terminal.
    Through(Op),
    /// It stays on its terminal; a receive waits for this send.
    Local(Option<u32>),
}

/// An operation before messages have ids.
struct GoalOp {
    task: u32,
    /// Its line, or its number in its rank.
    at: usize,
    /// Its label, if it has one.
    label: Option<Box<str>>,
    what: What,
}

#[derive(Default)]
struct Reader {
    ranks: Option<u32>,
    /// Ranks that share a terminal, and are one task.
    each: u32,
    /// The rank whose operations are being read, and whether its brace has been opened.
    rank: Option<(u32, bool)>,
    seen: HashMap<u32, usize>,
    /// The operations of the rank by their labels.
    names: HashMap<String, u32>,
    /// Requirements of the rank: line, the waiting operation, the one it waits for, whether only for its start.
    requirements: Vec<(usize, String, String, bool)>,
    /// The same of all ranks, by operations: the earlier one, the later one.
    edges: Vec<(u32, u32, bool)>,
    graph: GraphBuilder,
    /// Processors by rank and number.
    processors: HashMap<(u32, u32), u32>,
    planned: Vec<GoalOp>,
    /// Messages of 0 bytes.
    empty: u64,
    /// Receives from ranks on the same terminal, each of which ends with an operation of its own behind all others.
    ends: Vec<u32>,
}

impl Reader {
    fn statement(&mut self, line: usize, words: &[&str]) -> std::result::Result<(), String> {
        match (words, self.rank) {
            ([], _) => Ok(()),
            (["num_ranks", number], None) if self.ranks.is_none() => {
                self.ranks = Some(whole(number, "num_ranks").and_then(|ranks| {
                    if ranks > 0 { Ok(ranks) } else { Err("num_ranks is 0; it must be 1 at least".to_owned()) }
                })?);
                Ok(())
            }
            (["num_ranks", ..], _) => Err("num_ranks stands once, before the ranks, with a number".to_owned()),
            (["rank", number], None) => self.begin(line, number),
            (["rank", ..], Some((rank, _))) => Err(format!("rank {rank} is still open; it ends with }}")),
            (["{"], Some((rank, false))) => {
                self.rank = Some((rank, true));
                Ok(())
            }
            (_, Some((rank, false))) => Err(format!("rank {rank} needs a {{ before its operations")),
            (["}"], None) => Err("a } without a rank".to_owned()),
            (_, None) => Err(format!("'{}' stands outside of any rank", words.join(" "))),
            ([later, "requires", earlier], _) => self.require(line, later, earlier, false),
            ([later, "irequires", earlier], _) => self.require(line, later, earlier, true),
            ([label, ":", op @ ..], Some((rank, true))) => self.operation(line, rank, Some(label), op),
            (op, Some((rank, true))) => self.operation(line, rank, None, op),
        }
    }

    fn begin(&mut self, line: usize, number: &str) -> std::result::Result<(), String> {
        let rank = self.rank_id(number)?;
        if let Some(before) = self.seen.insert(rank, line) {
            return Err(format!("rank {rank} is on line {before} already"));
        }
        self.rank = Some((rank, false));
        Ok(())
    }

    fn rank_id(&self, text: &str) -> std::result::Result<u32, String> {
        let ranks = self.ranks.ok_or("num_ranks must come before the first rank")?;
        let rank = whole(text, "rank")?;
        if rank < ranks { Ok(rank) } else { Err(format!("rank {rank} does not exist; num_ranks is {ranks}")) }
    }

    fn require(&mut self, line: usize, later: &str, earlier: &str, start: bool) -> std::result::Result<(), String> {
        self.requirements.push((line, later.to_owned(), earlier.to_owned(), start));
        Ok(())
    }

    fn operation(
        &mut self,
        line: usize,
        rank: u32,
        label: Option<&str>,
        words: &[&str],
    ) -> std::result::Result<(), String> {
        if let Some(label) = label
            && self.names.insert(label.to_owned(), self.planned.len() as u32).is_some()
        {
            return Err(format!("the label {label} is used twice in rank {rank}"));
        }
        let what = match words {
            ["calc", time, rest @ ..] => {
                let [_, cpu] = numbers(rest, ["nic", "cpu"])?.map(|number| number.unwrap_or(0));
                let nanoseconds = time
                    .parse()
                    .map_err(|_| format!("the time of calc is '{time}'; it must be a whole number of nanoseconds"))?;
                What::Compute { nanoseconds, cpu }
            }
            ["send", bytes, "to", peer, rest @ ..] => {
                let [tag, ..] = numbers(rest, ["tag", "cpu", "nic"])?;
                What::Send { peer: self.rank_id(peer)?, tag: tag.unwrap_or(0), bytes: size(bytes)? }
            }
            ["recv", bytes, "from", peer, rest @ ..] => {
                let peer = if ANY.contains(peer) { None } else { Some(self.rank_id(peer)?) };
                let any_tag = rest.chunks(2).position(|pair| matches!(pair, ["tag", tag] if ANY.contains(tag)));
                let rest = match any_tag {
                    None => rest.to_vec(),
                    Some(place) => [&rest[..2 * place], &rest[2 * place + 2..]].concat(),
                };
                let [tag, ..] = numbers(&rest, ["tag", "cpu", "nic"])?;
                let tag = if any_tag.is_some() { None } else { Some(tag.unwrap_or(0)) };
                What::Receive { peer, tag, bytes: size(bytes)? }
            }
            _ => {
                return Err(format!(
                    "'{}' is no operation; there are: send BYTESb to RANK, recv BYTESb from RANK, calc NANOSECONDS, and \
                     LABEL requires LABEL, LABEL irequires LABEL",
                    words.join(" ")
                ));
            }
        };
        self.add(line, rank, label, what)
    }

    /// Adds an operation of a rank.
    fn add(&mut self, at: usize, task: u32, label: Option<&str>, what: What) -> std::result::Result<(), String> {
        let (ranks, peer) = match &what {
            What::Send { peer, .. } => (self.ranks.unwrap_or(0), Some(*peer)),
            What::Receive { peer, .. } => (self.ranks.unwrap_or(0), *peer),
            What::Compute { .. } => (0, None),
        };
        match peer {
            Some(peer) if peer == task => return Err(format!("rank {task} has itself for a partner")),
            Some(peer) if peer >= ranks => {
                return Err(format!("rank {peer} does not exist; num_ranks is {ranks}"));
            }
            _ => {}
        }
        self.planned.push(GoalOp { task, at, label: label.map(Box::from), what });
        Ok(())
    }

    /// Operation `later` waits for the end of `earlier`, or for its start only.
    fn follows(&mut self, later: u32, earlier: u32, start_only: bool) {
        self.edges.push((earlier, later, start_only));
    }

    fn close(&mut self) -> std::result::Result<(), Late> {
        self.rank = None;
        let names = std::mem::take(&mut self.names);
        for (line, later, earlier, start) in std::mem::take(&mut self.requirements) {
            let find = |label: &str| {
                let found = names.get(label).copied();
                found.ok_or_else(|| (Some(line), format!("no operation of the rank has the label {label}")))
            };
            self.edges.push((find(&earlier)?, find(&later)?, start));
        }
        Ok(())
    }

    /// The end of the file: sends and receives meet.
    fn end(&mut self) -> std::result::Result<(), Late> {
        if let Some((rank, _)) = self.rank {
            return Err((None, format!("the file ends before rank {rank} does")));
        }
        if self.ranks.is_none() {
            return Err((None, "num_ranks is missing".to_owned()));
        }
        if self.planned.is_empty() {
            return Err((None, "there are no operations".to_owned()));
        }
        let pairs = match self
            .planned
            .iter()
            .any(|own| matches!(own.what, What::Receive { peer: None, .. } | What::Receive { tag: None, .. }))
        {
            true => wildcards::meet(&self.planned, &self.edges),
            false => self.in_order(),
        };
        let mut ops: Vec<Option<Role>> = self.planned.iter().map(|_| None).collect();
        for (send, receive) in pairs {
            let (from, to) = (&self.planned[send as usize], &self.planned[receive as usize]);
            let (What::Send { bytes, .. }, What::Receive { bytes: room, .. }) = (&from.what, &to.what) else {
                continue;
            };
            if room < bytes {
                let what = format!("there is room for {room} bytes, but {bytes} are sent on line {}", from.at);
                return Err((Some(to.at), what));
            }
            let roles = match [from.task, to.task].map(|rank| rank / self.each) {
                [source, target] if source == target => [Role::Local(None), Role::Local(Some(send))],
                [source, target] => {
                    self.empty += u64::from(*bytes == 0);
                    let message = self.graph.message(source, target, (*bytes).max(1));
                    [Role::Through(Op::Send(message)), Role::Through(Op::Receive(message))]
                }
            };
            [ops[send as usize], ops[receive as usize]] = roles.map(Some);
        }
        self.check_met(&ops)?;
        self.add_ops(&ops);
        Ok(())
    }

    /// Adds the operations, and what waits for what.
    fn add_ops(&mut self, ops: &[Option<Role>]) {
        for (planned, op) in self.planned.iter().zip(ops) {
            let task = planned.task / self.each;
            match (op, &planned.what) {
                (Some(Role::Through(op)), _) => self.graph.op(task, *op),
                (Some(Role::Local(_)), _) => self.graph.join(task, &[]),
                (None, What::Compute { nanoseconds, cpu }) => {
                    let next = self.processors.len() as u32;
                    let processor = *self.processors.entry((planned.task, *cpu)).or_insert(next);
                    self.graph.compute(task, *nanoseconds as f64 * 1e-9, processor)
                }
                (None, _) => unreachable!("what is left of sends and receives was rejected"),
            };
        }
        // A receive on one terminal begins as it states, and ends once the other rank has sent.
        let mut end_of = HashMap::new();
        for (receive, op) in (0u32..).zip(ops) {
            if let Some(Role::Local(Some(send))) = op {
                let task = self.planned[receive as usize].task / self.each;
                end_of.insert(receive, self.graph.join(task, &[*send, receive]));
                self.ends.push(receive);
            }
        }
        for &(earlier, later, start_only) in &self.edges {
            let end = if start_only { earlier } else { end_of.get(&earlier).copied().unwrap_or(earlier) };
            self.graph.follows(later, end, start_only);
        }
    }

    /// Sends and receives that meet, where each names its partner and its tag.
    fn in_order(&self) -> Vec<(u32, u32)> {
        let mut halves: BTreeMap<MatchKey, [Vec<u32>; 2]> = BTreeMap::new();
        for (op, GoalOp { task, what, .. }) in (0u32..).zip(&self.planned) {
            match what {
                What::Send { peer, tag, .. } => halves.entry((*task, *peer, *tag)).or_default()[0].push(op),
                What::Receive { peer: Some(peer), tag: Some(tag), .. } => {
                    halves.entry((*peer, *task, *tag)).or_default()[1].push(op);
                }
                _ => {}
            }
        }
        halves.into_values().flat_map(|[sends, receives]| sends.into_iter().zip(receives)).collect()
    }

    /// Rejects receives without a send, which would never end and are reported first, and sends without a receive.
    fn check_met(&self, ops: &[Option<Role>]) -> std::result::Result<(), Late> {
        let alone = || self.planned.iter().zip(ops).filter(|(_, op)| op.is_none()).map(|(planned, _)| planned);
        let of_any = |number: &Option<u32>, what: &str| {
            number.map_or_else(|| format!("any {what}"), |number| format!("{what} {number}"))
        };
        let waits = alone().find_map(|own| match &own.what {
            What::Receive { peer, tag, .. } => Some((own.at, own.task, of_any(peer, "rank"), of_any(tag, "tag"))),
            _ => None,
        });
        if let Some((at, rank, peer, tag)) = waits {
            return Err((Some(at), format!("rank {rank} receives from {peer} with {tag} what no rank sends")));
        }
        let sends = alone().find_map(|own| match &own.what {
            What::Send { peer, tag, .. } => Some((own.at, own.task, *peer, *tag)),
            _ => None,
        });
        match sends {
            Some((at, rank, peer, tag)) => {
                Err((Some(at), format!("rank {rank} sends to rank {peer} with tag {tag} what no rank receives")))
            }
            None => Ok(()),
        }
    }
}

fn whole(text: &str, what: &str) -> std::result::Result<u32, String> {
    text.parse().map_err(|_| format!("{what} is '{text}'; it must be a whole number from 0 to {}", u32::MAX))
}

fn size(text: &str) -> std::result::Result<u64, String> {
    let bytes = text.strip_suffix('b').unwrap_or(text).parse::<u64>().ok();
    bytes.ok_or_else(|| format!("the size is '{text}'; it must be a number of bytes, as in 64b"))
}

/// The numbers behind keywords, as far as they are given.
fn numbers<const N: usize>(words: &[&str], known: [&str; N]) -> std::result::Result<[Option<u32>; N], String> {
    let mut found = [None; N];
    for pair in words.chunks(2) {
        let place = known.iter().position(|word| *word == pair[0]);
        let (Some(place), [_, number]) = (place, pair) else {
            return Err(format!("'{}' is not understood here; there may be: {}", pair.join(" "), known.join(", ")));
        };
        found[place] = Some(whole(number, pair[0])?);
    }
    Ok(found)
}
