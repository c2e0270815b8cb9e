//! `asymmetric`: terminal s of N sends to s mod h or to s mod h + h, h = floor(N / 2), with equal probability, as in
//! BookSim. If N is odd, the last terminal receives nothing.

use super::Pattern;
use super::draw::{Rows, Share};
use super::keys::Request;
use super::registry::PatternInfo;
use crate::error::Result;

pub(super) const INFO: PatternInfo = PatternInfo {
    name: "asymmetric",
    summary: "s mod N/2, or N/2 more, with equal probability",
    keys: &[],
    argument: None,
    build,
};

fn build(request: &Request) -> Result<Pattern> {
    let half = request.terminals / 2;
    let mut rows = Rows::new(request.terminals);
    for low in 0..half {
        rows.push([low, low + half].map(|to| Share { destinations: to..to + 1, each: 0.5 }));
    }
    if half > 0 {
        (0..request.terminals).for_each(|source| rows.assign(source, source % half));
    }
    Ok(Pattern::Drawn(rows))
}
