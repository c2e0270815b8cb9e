//! `hotspot:nodes=…`: every terminal sends to a few hot terminals, as in BookSim; or only a share of its packets, and the
//! others to any terminal.

use super::Pattern;
use super::draw::{Rows, Share};
use super::keys::Request;
use super::registry::PatternInfo;
use crate::catalogue::grammar::{list, range as range_of};
use crate::catalogue::{Key, Kind};
use crate::error::{Result, several};

pub(super) const INFO: PatternInfo = PatternInfo {
    name: "hotspot",
    summary: "one of a few hot terminals",
    keys: &[
        Key::new(
            "nodes",
            Kind::List("ids of terminals, or a part of them"),
            "ids and ranges of ids, as in 0,7,16-31; or a part of all terminals, evenly spread, as in 0.01 or 1%",
        ),
        Key::new(
            "rates",
            Kind::List("numbers from 0 to 1e100, as in 3,1,1"),
            "how the listed ids and ranges share the hot traffic, as in 3,1,1 (default: each id alike)",
        ),
        Key::new(
            "share",
            Kind::Part,
            "the part of every terminal's packets that is hot; the others go to any terminal (default 1)",
        ),
    ],
    argument: None,
    build,
};

fn build(request: &Request) -> Result<Pattern> {
    let hot = hot(request)?;
    let share = request.part("share").unwrap_or(1.0);
    let all: f64 = hot.iter().map(|(_, weight)| weight).sum();
    let mut rows = Rows::new(request.terminals);
    let hot = hot.into_iter().map(|(ids, weight)| Share::evenly(ids, share * weight / all));
    let row = rows.push(hot.chain([Share::evenly(0..request.terminals, 1.0 - share)]));
    (0..request.terminals).for_each(|source| rows.assign(source, row));
    Ok(Pattern::Drawn(rows))
}

type Hot = Vec<(std::ops::Range<u32>, f64)>;

/// The hot terminals, in ranges with their weights.
fn hot(request: &Request) -> Result<Hot> {
    let Some(nodes) = request.text("nodes") else {
        return Err(
            request.mistake("nodes is missing; give ids or a part, as in hotspot:nodes=0,7 or hotspot:nodes=0.01")
        );
    };
    if nodes.contains(['.', '%']) {
        if request.text("rates").is_some() {
            return Err(request.mistake("rates go with a list of ids, not with a part of all terminals"));
        }
        let count = request.terminals_of("nodes")?.unwrap_or(1);
        let place = |i: u32| (u64::from(i) * u64::from(request.terminals) / u64::from(count)) as u32;
        return Ok((0..count).map(|i| (place(i)..place(i) + 1, 1.0)).collect());
    }
    let ranges = list(nodes).map(|item| range(request, item)).collect::<Result<Vec<_>>>()?;
    let weights = match request.text("rates") {
        None => ranges.iter().map(|ids| ids.len() as f64).collect(),
        Some(rates) => weights(request, rates, ranges.len())?,
    };
    Ok(ranges.into_iter().zip(weights).collect())
}

/// The ids of `7` or `16-31`.
fn range(request: &Request, item: &str) -> Result<std::ops::Range<u32>> {
    let (first, last) = range_of(item).unwrap_or((item, item));
    let (first, last) = (request.terminal(first)?, request.terminal(last)?);
    if first > last {
        return Err(request.mistake(format_args!("the range '{item}' ends before it begins")));
    }
    Ok(first..last + 1)
}

fn weights(request: &Request, rates: &str, wanted: usize) -> Result<Vec<f64>> {
    let read = |rate: &str| rate.parse::<f64>().ok().filter(|rate| (0.0..=1e100).contains(rate));
    let Some(weights) = list(rates).map(read).collect::<Option<Vec<f64>>>() else {
        return Err(
            request.mistake(format_args!("rates is '{rates}'; it must be numbers from 0 to 1e100, as in 3,1,1"))
        );
    };
    if weights.len() != wanted {
        return Err(request.mistake(format_args!(
            "rates has {}, and nodes has {wanted}; they must be as many",
            several(weights.len(), "number")
        )));
    }
    if weights.iter().sum::<f64>() <= 0.0 {
        return Err(request.mistake("all rates are 0; one at least must be more"));
    }
    Ok(weights)
}
