//! `messages:FILE`: messages that are given one by one, a CSV of `source,target,bytes` or `source,target,bytes,after`:
//! two tasks, a size, and the messages, by their positions in the file from 0 on and with blanks between them, that must have
//! arrived at the source before it sends this one.

use super::graph::GraphBuilder;
use super::registry::AppInfo;
use super::request::Request;
use super::{Op, Workload};
use crate::catalogue::FILE;
use crate::error::Result;
use crate::rows::{Columns, some_rows};

pub(super) const INFO: AppInfo = AppInfo {
    name: "messages",
    summary: "the messages of a CSV file: source,target,bytes or source,target,bytes,after",
    keys: &[],
    argument: Some(FILE),
    build,
};

const COLUMNS: Columns = Columns { names: &["source", "target", "bytes", "after"], needed: 3 };

/// A row that was read.
struct MessageRow {
    line: usize,
    source: u32,
    target: u32,
    after: Vec<u32>,
}

fn build(request: &Request) -> Result<Workload> {
    let mut graph = GraphBuilder::default();
    let mut given: Vec<MessageRow> = Vec::new();
    some_rows(request, u32::MAX, &COLUMNS, |row| {
        let (source, target) = (row.terminal(0)?, row.terminal(1)?);
        if source == target {
            return Err(row.mistake(format_args!("task {source} sends to itself")));
        }
        graph.message(source, target, row.bytes(2)?);
        given.push(MessageRow { line: row.line(), source, target, after: row.list(3)? });
        Ok(())
    })?;
    let path = request.lead();
    let tasks = given.iter().map(|row| row.source.max(row.target)).max().map_or(0, |last| u64::from(last) + 1);
    request.check_tasks(tasks.into(), path)?;
    for (message, row) in (0u32..).zip(&given) {
        graph.op(row.source, Op::Send(message));
        graph.op(row.target, Op::Receive(message));
    }
    for (message, row) in (0u32..).zip(&given) {
        for &before in &row.after {
            let wrong = match given.get(before as usize) {
                None => format!("there are messages 0 to {}", given.len() - 1),
                Some(earlier) if earlier.target != row.source => {
                    format!("that goes to task {}, but task {} sends this one", earlier.target, row.source)
                }
                Some(_) => {
                    graph.follows(2 * message, 2 * before + 1, false);
                    continue;
                }
            };
            return Err(request.mistake(format_args!("{path}, line {}: after message {before}: {wrong}", row.line)));
        }
    }
    graph.build(request.spec(), tasks as u32, |op| {
        let row = &given[op as usize / 2];
        let what = if op % 2 == 0 { "sends" } else { "arrives as" };
        format!("line {} ({what} {} to {})", row.line, row.source, row.target)
    })
}
