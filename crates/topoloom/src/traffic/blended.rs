//! `blended`: computing nodes send 90 % of their packets to any computing node, 10 % to any of a fixed range of I/O nodes
//! (Galaxyfly, section 5.1). The paper gives neither the number of I/O nodes nor their ids nor what they send: here
//! they are the last ids, a tenth of all terminals unless `io` states otherwise, and silent. Nor does it state which I/O
//! nodes a computing node sends to: any of them, or with `to=fixed` always those of one router, by turns.

use super::Pattern;
use super::draw::{Rows, Share, ranges};
use super::keys::Request;
use super::registry::PatternInfo;
use crate::catalogue::{Key, Kind};
use crate::error::Result;
use crate::network::TerminalId;

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
        Key::new(
            "to",
            Kind::Choice(&["any", "fixed"]),
            "any: each of these packets goes to any I/O node (default); fixed: those of a router go to the I/O nodes of \
             one router, routers taking these in turn",
        ),
    ],
    argument: None,
    build,
};

fn build(request: &Request) -> Result<Pattern> {
    let terminals = request.terminals;
    let io = request.terminals_of("io")?.unwrap_or(terminals.div_ceil(10));
    if io == terminals {
        return Err(
            request.mistake(format_args!("io is {io}, as many as there are terminals; one at least must compute"))
        );
    }
    let share = request.part("share").unwrap_or(0.1);
    let computing = terminals - io;
    let router = |terminal: &u32| request.network.router_of(TerminalId(*terminal));
    let ids: Vec<u32> = (computing..terminals).collect();
    let nodes: Vec<&[u32]> = match request.choice("to") {
        "fixed" => ids.chunk_by(|one, next| router(one) == router(next)).collect(),
        _ => vec![&ids[..]],
    };
    let mut rows = Rows::new(terminals);
    let row_of: Vec<u32> = nodes
        .iter()
        .map(|&of| {
            let each = share / of.len() as f64;
            let io = ranges(of.iter().copied()).into_iter().map(|destinations| Share { destinations, each });
            rows.push(std::iter::once(Share::evenly(0..computing, 1.0 - share)).chain(io))
        })
        .collect();
    let sources: Vec<u32> = (0..computing).collect();
    for (turn, of) in sources.chunk_by(|one, next| router(one) == router(next)).enumerate() {
        of.iter().for_each(|&source| rows.assign(source, row_of[turn % row_of.len()]));
    }
    Ok(Pattern::Drawn(rows))
}
