//! `blended`: computing nodes send 90 % of their packets to any computing node, 10 % to any of a fixed range of I/O nodes
//! (Galaxyfly, section 5.1). The paper gives neither the number of I/O nodes nor their ids nor what they send: here
//! they are the last ids, a tenth of all terminals unless `io` says otherwise, and silent.

use super::Pattern;
use super::draw::{Rows, Share};
use super::keys::Request;
use super::registry::PatternInfo;
use crate::catalogue::{Key, Kind};
use crate::error::Result;

pub(super) const INFO: PatternInfo = PatternInfo {
    name: "blended",
    summary: "computing nodes send to any computing node, and a tenth of their packets to I/O nodes, the last ids",
    keys: &[
        Key::new(
            "io",
            Kind::Text("a number of terminals, or a part of them"),
            "I/O nodes: how many, or what part of all terminals (default 10%)",
        ),
        Key::new("share", Kind::Part, "the part of the packets that goes to I/O nodes (default 0.1)"),
    ],
    argument: None,
    build,
};

fn build(request: &Request) -> Result<Pattern> {
    let terminals = request.terminals;
    let io = request.terminals_of("io")?.unwrap_or(terminals.div_ceil(10));
    if io == terminals {
        return Err(request.mistake(format_args!("all {terminals} terminals are I/O nodes; one at least must compute")));
    }
    let share = request.part("share").unwrap_or(0.1);
    let computing = terminals - io;
    let mut rows = Rows::new(terminals);
    let row = rows.push([Share::evenly(0..computing, 1.0 - share), Share::evenly(computing..terminals, share)]);
    (0..computing).for_each(|source| rows.assign(source, row));
    Ok(Pattern::Drawn(rows))
}
