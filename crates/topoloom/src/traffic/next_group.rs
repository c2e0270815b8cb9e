//! `next-group`: any terminal of the next group of routers (dragonfly) or the next layer (FleX), the first one after the
//! last. The worst case of minimal routing on a dragonfly (Kim, Dally, Scott and Abts, ISCA 2008), used on FleX by its
//! paper (fig. 12); BookSim's `bad_dragon`.

use super::Pattern;
use super::draw::{Rows, Share, ranges};
use super::keys::Request;
use super::registry::PatternInfo;
use crate::error::{Error, Result};
use crate::network::TerminalId;

pub(super) const INFO: PatternInfo = PatternInfo {
    name: "next-group",
    summary: "a random terminal of the next group (dragonfly) or layer (FleX)",
    keys: &[],
    argument: None,
    build,
};

pub(super) fn build(request: &Request) -> Result<Pattern> {
    let network = request.network;
    let size = network.any_structure().group_size().ok_or_else(|| {
        Error::Traffic(format!("next-group: the routers of {} do not come in groups or layers", network.spec()))
    })?;
    let group = |terminal: u32| network.router_of(TerminalId(terminal)).0 / size;
    let mut members = vec![Vec::new(); network.num_routers().div_ceil(size as usize)];
    (0..request.terminals).for_each(|terminal| members[group(terminal) as usize].push(terminal));
    let mut rows = Rows::new(request.terminals);
    for of in 0..members.len() {
        let next = &members[(of + 1) % members.len()];
        let each = 1.0 / next.len() as f64;
        let row = rows.push(ranges(next.iter().copied()).into_iter().map(|destinations| Share { destinations, each }));
        members[of].iter().for_each(|&source| rows.assign(source, row));
    }
    Ok(Pattern::Drawn(rows))
}
