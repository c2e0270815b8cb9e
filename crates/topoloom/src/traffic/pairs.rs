//! `pairs:FILE`: the pairs of a file, a CSV of `source,destination` or `source,destination,weight`. A source that stands
//! in several rows draws among them for each packet, in proportion to their weights (1 unless given); every source
//! offers the same load. Terminals that are no source of a row with a weight above 0 are silent.

use super::Pattern;
use super::draw::{Rows, Share};
use super::keys::Request;
use super::registry::PatternInfo;
use crate::catalogue::FILE;
use crate::error::Result;
use crate::rows::{Columns, some_rows};

pub(super) const INFO: PatternInfo = PatternInfo {
    name: "pairs",
    summary: "the pairs of a CSV file: source,destination or source,destination,weight",
    keys: &[],
    argument: Some(FILE),
    build,
};

const COLUMNS: Columns = Columns { names: &["source", "destination", "weight"], needed: 2 };

fn build(request: &Request) -> Result<Pattern> {
    let mut flows = Vec::new();
    some_rows(request, request.terminals, &COLUMNS, |row| {
        flows.push((row.terminal(0)?, row.terminal(1)?, row.weight(2)?.unwrap_or(1.0)));
        Ok(())
    })?;
    flows.sort_by_key(|flow| flow.0);
    let mut all = Rows::new(request.terminals);
    for of_source in flows.chunk_by(|a, b| a.0 == b.0) {
        let row = all.push(of_source.iter().map(|&(_, to, weight)| Share { destinations: to..to + 1, each: weight }));
        all.assign(of_source[0].0, row);
    }
    Ok(Pattern::Drawn(all))
}
