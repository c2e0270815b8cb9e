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
//! operation, `irequires` for its start. Computations of a rank on one `cpu` (0 unless given) are done one at a time, in
//! the order in which they can begin. The k-th send from one rank to another with one tag (0 unless given) goes to the
//! k-th receive there.

use std::collections::HashMap;

use super::Workload;
use super::graph::GraphBuilder;
use super::registry::AppInfo;
use super::request::Request;
use crate::catalogue::FILE;
use crate::error::Result;
use crate::inputs;
use crate::workload::Op;

pub(super) const INFO: AppInfo = AppInfo {
    name: "goal",
    summary: "a schedule in GOAL, the text format of LogGOPSim",
    keys: &[],
    argument: Some(FILE),
    build,
};

fn build(request: &Request) -> Result<Workload> {
    let path = request.lead();
    let bytes = inputs::read(path).map_err(|why| request.mistake(format_args!("{path}: {why}")))?;
    let mut line = 1;
    let mut reader = Reader::default();
    read(&bytes, &mut reader, &mut line)
        .map_err(|(at, what)| request.mistake(format_args!("{path}, line {}: {what}", at.unwrap_or(line))))?;
    let ranks = reader.ranks.unwrap_or(0);
    request.check_tasks(ranks.into(), "num_ranks")?;
    let Reader { graph, lines, labels, .. } = reader;
    graph.build(request.spec(), ranks, |op| format!("line {} ({})", lines[op as usize], labels[op as usize]))
}

/// Reads a whole file; `line` is where it is.
fn read(bytes: &[u8], reader: &mut Reader, line: &mut usize) -> std::result::Result<(), Late> {
    let text = inputs::text(bytes).map_err(|line| (Some(line), "this is no text in UTF-8".to_owned()))?;
    let text = uncommented(text)?;
    for (number, text) in (1..).zip(text.lines()) {
        *line = number;
        // Braces end a statement as the end of a line does.
        for statement in text.split_inclusive(['{', '}']).flat_map(around_brace) {
            let words: Vec<&str> = statement.split_whitespace().collect();
            match (words.as_slice(), reader.rank) {
                (["}"], Some((_, true))) => reader.close()?,
                (words, _) => reader.statement(number, words).map_err(|what| (None, what))?,
            }
        }
    }
    reader.end()
}

/// A piece of text without the brace that it ends with, and the brace; a label's colon is a word of its own.
fn around_brace(piece: &str) -> [String; 2] {
    let body = piece.trim_end_matches(['{', '}']);
    [body.replace(':', " : "), piece[body.len()..].to_owned()]
}

/// The text without its comments, line by line as it was.
fn uncommented(text: &str) -> std::result::Result<String, Late> {
    let (mut kept, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(start) = ["/*", "//", "#"].iter().filter_map(|mark| rest.find(mark)).min() {
        kept.push_str(&rest[..start]);
        rest = &rest[start..];
        let end = if rest.starts_with("/*") {
            let line = kept.matches('\n').count() + 1;
            rest.find("*/").ok_or_else(|| (Some(line), "a comment that begins here with /* never ends".to_owned()))? + 2
        } else {
            rest.find('\n').unwrap_or(rest.len())
        };
        kept.push(' ');
        kept.extend(rest[..end].matches('\n'));
        rest = &rest[end..];
    }
    Ok(kept + rest)
}

/// A mistake, with its line where it is not the present one.
type Late = (Option<usize>, String);

/// Whose sends meet whose receives: source, target and tag.
type MatchKey = (u32, u32, u32);

/// A send or a receive that waits for its other half: its operation, line and bytes.
type Half = (u32, usize, u64);

#[derive(Default)]
struct Reader {
    ranks: Option<u32>,
    /// The rank whose operations are being read, and whether its brace has been opened.
    rank: Option<(u32, bool)>,
    seen: HashMap<u32, usize>,
    /// The operations of the rank by their labels.
    names: HashMap<String, u32>,
    /// Requirements of the rank: line, who waits, for whom, for the start only.
    requirements: Vec<(usize, String, String, bool)>,
    graph: GraphBuilder,
    /// Of each operation, its line and a name for users.
    lines: Vec<usize>,
    labels: Vec<String>,
    sends: HashMap<MatchKey, Vec<Half>>,
    receives: HashMap<MatchKey, Vec<Half>>,
    /// Processors by rank and number.
    processors: HashMap<(u32, u32), u32>,
    /// What each operation is before messages have ids: the task and, of a computation, its time and processor.
    planned: Vec<OpPlan>,
}

struct OpPlan {
    task: u32,
    compute: Option<(f64, u32)>,
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
        if text == "*" {
            return Err("rank is '*'; every message here has one sender and one receiver".to_owned());
        }
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
        let op = self.planned.len() as u32;
        let name = label.map_or_else(|| format!("rank {rank}"), |label| format!("{label} of rank {rank}"));
        if let Some(label) = label
            && self.names.insert(label.to_owned(), op).is_some()
        {
            return Err(format!("the label {label} is used twice in rank {rank}"));
        }
        let compute = match words {
            ["calc", time, rest @ ..] => {
                let [_, cpu] = numbers(rest, ["nic", "cpu"])?;
                let next = self.processors.len() as u32;
                let processor = *self.processors.entry((rank, cpu)).or_insert(next);
                let nanoseconds = time
                    .parse::<u64>()
                    .map_err(|_| format!("the time of calc is '{time}'; it must be a whole number of nanoseconds"))?;
                Some((nanoseconds as f64 * 1e-9, processor))
            }
            ["send", bytes, "to", peer, rest @ ..] => {
                let half = (op, line, size(bytes)?);
                let [tag, ..] = numbers(rest, ["tag", "cpu", "nic"])?;
                let peer = self.peer(rank, peer)?;
                self.sends.entry((rank, peer, tag)).or_default().push(half);
                None
            }
            ["recv", bytes, "from", peer, rest @ ..] => {
                let half = (op, line, size(bytes)?);
                let [tag, ..] = numbers(rest, ["tag", "cpu", "nic"])?;
                let peer = self.peer(rank, peer)?;
                self.receives.entry((peer, rank, tag)).or_default().push(half);
                None
            }
            _ => {
                return Err(format!(
                    "'{}' is no operation; there are: send BYTESb to RANK, recv BYTESb from RANK, calc NANOSECONDS, and \
                     LABEL requires LABEL, LABEL irequires LABEL",
                    words.join(" ")
                ));
            }
        };
        self.planned.push(OpPlan { task: rank, compute });
        self.lines.push(line);
        self.labels.push(name);
        Ok(())
    }

    fn peer(&self, rank: u32, text: &str) -> std::result::Result<u32, String> {
        let peer = self.rank_id(text)?;
        if peer == rank { Err(format!("rank {rank} has itself for a partner")) } else { Ok(peer) }
    }

    fn close(&mut self) -> std::result::Result<(), Late> {
        self.rank = None;
        let names = std::mem::take(&mut self.names);
        for (line, later, earlier, start) in std::mem::take(&mut self.requirements) {
            let find = |label: &str| {
                let found = names.get(label).copied();
                found.ok_or_else(|| (Some(line), format!("no operation of the rank has the label {label}")))
            };
            self.graph.follows(find(&later)?, find(&earlier)?, start);
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
        let mut message_of = vec![None; self.planned.len()];
        let mut channels: Vec<&MatchKey> = self.sends.keys().chain(self.receives.keys()).collect();
        channels.sort_unstable();
        channels.dedup();
        let none = Vec::new();
        let halves = |channel: &MatchKey| {
            (self.sends.get(channel).unwrap_or(&none), self.receives.get(channel).unwrap_or(&none))
        };
        // A receive without a send is what hangs: it is told first.
        for channel in &channels {
            let &&(source, target, tag) = channel;
            let (sends, receives) = halves(channel);
            if let Some(&(_, line, _)) = receives.get(sends.len()) {
                let what = format!("rank {target} receives from rank {source} with tag {tag} what no rank sends");
                return Err((Some(line), what));
            }
        }
        for channel in channels {
            let &(source, target, tag) = channel;
            let (sends, receives) = halves(channel);
            if let Some(&(_, line, _)) = sends.get(receives.len()) {
                let what = format!("rank {source} sends to rank {target} with tag {tag} what no rank receives");
                return Err((Some(line), what));
            }
            for (&(send, sent, bytes), &(receive, line, room)) in sends.iter().zip(receives) {
                if room < bytes {
                    let what = format!("there is room for {room} bytes, but {bytes} are sent on line {sent}");
                    return Err((Some(line), what));
                }
                let message = self.graph.message(source, target, bytes);
                message_of[send as usize] = Some(Op::Send(message));
                message_of[receive as usize] = Some(Op::Receive(message));
            }
        }
        for (planned, message) in self.planned.iter().zip(message_of) {
            match (message, planned.compute) {
                (Some(op), _) => self.graph.op(planned.task, op),
                (None, Some((seconds, processor))) => self.graph.compute(planned.task, seconds, processor),
                (None, None) => unreachable!("an operation sends, receives or computes"),
            };
        }
        Ok(())
    }
}

fn whole(text: &str, what: &str) -> std::result::Result<u32, String> {
    text.parse().map_err(|_| format!("{what} is '{text}'; it must be a whole number from 0 to {}", u32::MAX))
}

fn size(text: &str) -> std::result::Result<u64, String> {
    let bytes = text.strip_suffix('b').unwrap_or(text).parse::<u64>().ok().filter(|bytes| *bytes > 0);
    bytes.ok_or_else(|| format!("the size is '{text}'; it must be a number of bytes from 1 up, as in 64b"))
}

/// The numbers behind keywords, 0 where they are not given.
fn numbers<const N: usize>(words: &[&str], known: [&str; N]) -> std::result::Result<[u32; N], String> {
    let mut found = [0; N];
    for pair in words.chunks(2) {
        let place = known.iter().position(|word| *word == pair[0]);
        let (Some(place), [_, number]) = (place, pair) else {
            return Err(format!("'{}' is not understood here; there may be: {}", pair.join(" "), known.join(", ")));
        };
        found[place] = whole(number, pair[0])?;
    }
    Ok(found)
}
