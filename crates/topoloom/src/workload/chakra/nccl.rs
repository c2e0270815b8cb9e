//! `nccl:FILE`: the calls of a job's ranks as a table, such as can be made of the log of NCCL (`NCCL_DEBUG=INFO`,
//! `NCCL_DEBUG_SUBSYS=COLL`).
//!
//! ```text
//! rank,collective,count,datatype,comm,compute_us
//! 0,AllReduce,1048576,bfloat16,dp0,350
//! 1,AllReduce,1048576,bfloat16,dp0,340
//! ```
//!
//! Each row is a call. A rank's calls on one `stream` follow each other in the order of the file, each after `compute_us` of
//! computing; neighbouring calls with one `opcount` are one group, whose calls begin together. `count` is that of NCCL's
//! function: the elements that a rank sends, or, of a reduce-scatter, receives, or, of an all-to-all, sends to each other.
//! What calls mean is what the nodes of traces mean: see [`super`].

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::trace::{Step, Trace, Work};
use super::{ALGORITHM, Traces, run};
use crate::catalogue::{FILE, Key, Kind};
use crate::error::{Result, unknown};
use crate::inputs;
use crate::table::{Row, Rows, heading};
use crate::workload::Workload;
use crate::workload::collective::Collective;
use crate::workload::registry::AppInfo;
use crate::workload::request::Request;

pub(in crate::workload) const INFO: AppInfo = AppInfo {
    name: "nccl",
    summary: "the calls of NCCL of all ranks, as a table",
    keys: &[
        Key::new("file", Kind::File, "the table, CSV"),
        Key::new("ranks", Kind::count(2), "the number of ranks that make all calls of a table without the column rank"),
        ALGORITHM,
    ],
    argument: None,
    build,
};

/// A mistake: the line, and the rest of the sentence.
type Late = (usize, String);

/// Bytes of the types of NCCL, by their names and, in this order, by their numbers in its logs.
const TYPES: &[(&[&str], u64)] = &[
    (&["int8", "char"], 1),
    (&["uint8"], 1),
    (&["int32", "int"], 4),
    (&["uint32"], 4),
    (&["int64"], 8),
    (&["uint64"], 8),
    (&["float16", "half"], 2),
    (&["float32", "float"], 4),
    (&["float64", "double"], 8),
    (&["bfloat16"], 2),
    (&["float8e4m3"], 1),
    (&["float8e5m2"], 1),
];

/// What is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Call {
    Collective(Collective),
    Send,
    Receive,
}

/// By the names of NCCL's functions, without `nccl`.
const CALLS: &[(&str, Call)] = &[
    ("allreduce", Call::Collective(Collective::Allreduce)),
    ("allgather", Call::Collective(Collective::AllGather)),
    ("reducescatter", Call::Collective(Collective::ReduceScatter)),
    ("broadcast", Call::Collective(Collective::Broadcast)),
    ("bcast", Call::Collective(Collective::Broadcast)),
    ("reduce", Call::Collective(Collective::Reduce)),
    ("alltoall", Call::Collective(Collective::AllToAll)),
    ("send", Call::Send),
    ("recv", Call::Receive),
];

fn build(request: &Request) -> Result<Workload> {
    let Some(path) = request.text("file") else {
        return Err(request.mistake(format_args!("needs a {FILE}, as in nccl:calls.csv")));
    };
    let bytes = inputs::read(path).map_err(|why| request.unreadable(path, why))?;
    let wrong = |(line, what): Late| request.mistake(format_args!("{path}, line {line}: {what}"));
    let text = inputs::text(&bytes).map_err(|line| wrong((line, "this is no text in UTF-8".to_owned())))?;
    let calls = read(text).map_err(wrong)?;
    let ranks = match (calls.iter().filter_map(|call| call.rank).max(), request.count("ranks")) {
        (None, None) => return Err(wrong((1, "there is no column rank; give it, or ranks=8".to_owned()))),
        (Some(_), Some(_)) => return Err(request.mistake("ranks is for a table without the column rank")),
        (None, Some(ranks)) => ranks,
        (Some(last), None) => last.saturating_add(1),
    };
    request.check_tasks(ranks.into(), "the table")?;
    run(request, &traces(path, &calls, ranks))
}

/// A row.
struct CallRow {
    line: usize,
    rank: Option<u32>,
    name: String,
    call: Call,
    /// Bytes of `count` elements.
    bytes: u64,
    comm: Option<String>,
    peer: Option<u64>,
    stream: String,
    opcount: String,
    compute_us: f64,
}

/// Where the columns stand.
struct Columns(HashMap<String, usize>);

/// Those that are read, as users write them.
const COLUMNS: [&str; 10] =
    ["rank", "collective", "count", "datatype", "bytes", "comm", "peer", "stream", "opcount", "compute_us"];

impl Columns {
    fn of(header: &Row) -> std::result::Result<Self, Late> {
        let mut places = HashMap::new();
        for (place, name) in header.fields.iter().enumerate() {
            if places.insert(heading(name), place).is_some() && COLUMNS.iter().any(|own| heading(own) == heading(name))
            {
                return Err((header.line, format!("the column '{name}' is listed twice")));
            }
        }
        let this = Self(places);
        let has = |name: &str| this.0.contains_key(&heading(name));
        if !has("collective") {
            return Err((header.line, "the column collective is missing; the first line names the columns".to_owned()));
        }
        if !(has("bytes") || has("count") && has("datatype")) {
            return Err((header.line, "the column bytes is missing, or count and datatype".to_owned()));
        }
        Ok(this)
    }

    fn text<'a>(&self, row: &'a Row, name: &str) -> Option<&'a str> {
        self.0.get(&heading(name)).map(|&place| row.field(place)).filter(|text| !text.is_empty())
    }

    fn number<T: std::str::FromStr>(&self, row: &Row, name: &str, what: &str) -> std::result::Result<Option<T>, Late> {
        let parsed =
            |text: &str| text.parse().map_err(|_| (row.line, format!("{name} is '{text}'; it must be {what}")));
        self.text(row, name).map(parsed).transpose()
    }

    fn call(&self, row: &Row) -> std::result::Result<CallRow, Late> {
        let late = |what: String| (row.line, what);
        let name = self.text(row, "collective").ok_or_else(|| late("it names no collective".to_owned()))?;
        let own = heading(name);
        let own = own.strip_prefix("nccl").unwrap_or(&own);
        let known = CALLS.iter().find(|(known, _)| *known == own).map(|(_, call)| *call);
        let call = known.ok_or_else(|| late(unknown("collective", own, CALLS.iter().map(|(known, _)| *known))))?;
        let whole = "a whole number";
        let rank: Option<u32> = self.number(row, "rank", whole)?;
        if rank.is_none() && self.0.contains_key("rank") {
            return Err(late("it names no rank".to_owned()));
        }
        let peer = self.number(row, "peer", whole)?;
        if peer.is_none() && !matches!(call, Call::Collective(_)) {
            return Err(late(format!("{name} needs a peer")));
        }
        let compute_us: f64 = self.number(row, "compute_us", "microseconds from 0 up")?.unwrap_or(0.0);
        if !(compute_us >= 0.0 && compute_us.is_finite()) {
            return Err(late(format!("compute_us is {compute_us}; it must be microseconds from 0 up")));
        }
        let words = |name: &str| self.text(row, name).unwrap_or("").to_owned();
        Ok(CallRow {
            line: row.line,
            rank,
            name: name.to_owned(),
            call,
            bytes: self.bytes(row)?,
            comm: self.text(row, "comm").map(str::to_owned),
            peer,
            stream: words("stream"),
            opcount: words("opcount"),
            compute_us,
        })
    }

    fn bytes(&self, row: &Row) -> std::result::Result<u64, Late> {
        let whole = "a whole number";
        if let Some(bytes) = self.number(row, "bytes", whole)? {
            return Ok(bytes);
        }
        let count: Option<u64> = self.number(row, "count", whole)?;
        let count = count.ok_or_else(|| (row.line, "it gives neither count nor bytes".to_owned()))?;
        let given = self.text(row, "datatype").ok_or_else(|| (row.line, "it gives no datatype".to_owned()))?;
        let own = heading(given);
        let own = own.strip_prefix("nccl").unwrap_or(&own);
        let named = |names: &[&str]| names.contains(&own);
        let by_number = own.parse::<usize>().ok().and_then(|number| TYPES.get(number));
        let found = by_number.or_else(|| TYPES.iter().find(|(names, _)| named(names)));
        let (_, size) = found.ok_or_else(|| {
            (row.line, unknown("datatype", own, TYPES.iter().flat_map(|(names, _)| names.iter().copied())))
        })?;
        count.checked_mul(*size).ok_or_else(|| (row.line, format!("{count} elements are too many")))
    }
}

/// All rows.
fn read(text: &str) -> std::result::Result<Vec<CallRow>, Late> {
    let mut rows = Rows::of(text);
    let header = rows.next().ok_or_else(|| (1, "the table is empty".to_owned()))?;
    let columns = Columns::of(&header)?;
    let calls: Vec<CallRow> = rows.map(|row| columns.call(&row)).collect::<std::result::Result<_, _>>()?;
    if calls.is_empty() {
        Err((header.line, "there are no rows behind the columns' names".to_owned()))
    } else {
        Ok(calls)
    }
}

/// The calls of one stream of a rank: what its last group waits for, and the group that is being read.
#[derive(Default)]
struct Stream {
    before: Vec<u64>,
    group: Vec<u64>,
    opcount: String,
}

/// The traces of all ranks, or one for all.
fn traces(path: &str, calls: &[CallRow], ranks: u32) -> Traces {
    let mut sizes: BTreeMap<&str, BTreeSet<u32>> = BTreeMap::new();
    for call in calls {
        if let (Some(comm), Some(rank)) = (&call.comm, call.rank) {
            sizes.entry(comm).or_default().insert(rank);
        }
    }
    // Without ranks all are in every communicator.
    let members =
        |comm: &Option<String>| comm.as_deref().and_then(|comm| sizes.get(comm)).map_or(ranks as usize, BTreeSet::len);
    let files = if calls.iter().any(|call| call.rank.is_some()) { ranks } else { 1 };
    let mut files: Vec<Trace> = (0..files).map(|_| Trace::of(path, "line")).collect();
    let mut streams: HashMap<(u32, &str), Stream> = HashMap::new();
    for call in calls {
        let rank = call.rank.unwrap_or(0);
        let stream = streams.entry((rank, &call.stream)).or_default();
        if call.opcount.is_empty() || call.opcount != stream.opcount {
            stream.before = std::mem::take(&mut stream.group);
            stream.opcount.clone_from(&call.opcount);
        }
        let line = call.line as u64;
        let trace = &mut files[rank as usize];
        let mut after = stream.before.clone();
        if call.compute_us > 0.0 {
            // Lines are far fewer.
            let id = 1 << 62 | line;
            let work = Work::Compute { seconds: call.compute_us * 1e-6, unit: 0 };
            let data = after.len();
            trace.push(Step { id, name: format!("computing before line {line}"), work, after, data });
            after = vec![id];
        }
        let work = work(call, members(&call.comm) as u64);
        let data = after.len();
        trace.push(Step { id: line, name: call.name.clone(), work, after, data });
        stream.group.push(line);
    }
    Traces { files, ranks }
}

fn work(call: &CallRow, members: u64) -> Work {
    let peer = call.peer.unwrap_or(0);
    match call.call {
        Call::Send => Work::Send { peer, tag: 0, bytes: call.bytes },
        Call::Receive => Work::Receive { peer, tag: 0, bytes: call.bytes },
        Call::Collective(what) => {
            // What a rank begins with.
            let parts = if matches!(what, Collective::ReduceScatter | Collective::AllToAll) { members } else { 1 };
            Work::Collective { what, bytes: call.bytes.saturating_mul(parts), group: call.comm.clone() }
        }
    }
}
