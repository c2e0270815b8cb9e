//! Graphviz's DOT: routers as boxes with the number of their terminals, links by class. Parallel links are kept apart.

use std::fmt::Write;

use super::{ATTRIBUTES, Format, Timing};
use crate::error::Result;
use crate::network::Network;

pub(super) const FORMAT: Format = Format {
    name: "dot",
    endings: &["dot", "gv"],
    summary: "DOT, for Graphviz and whatever draws its graphs",
    holds: ATTRIBUTES,
    read: None,
    write: Some(write),
    beside: None,
};

/// A text between quotes.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

fn write(network: &Network, timing: &Timing) -> Result<String> {
    let names = network.router_names();
    let name = |router: usize| quoted(&names.map_or_else(|| router.to_string(), |names| names[router].clone()));
    let mut text = format!("graph {} {{\n  node [shape=box]\n", quoted(network.spec()));
    let mut add = |line: std::fmt::Arguments| text.write_fmt(line).expect("a string takes what is written");
    for router in network.routers() {
        let terminals = network.terminals_of(router).count();
        add(format_args!("  {} [terminals={terminals}]\n", name(router.index())));
    }
    for link in network.links() {
        let [a, b] = network.routers_of(link).map(|router| name(router.index()));
        let latency = timing.of(network, link).map_or(String::new(), |latency| format!(", latency={latency}"));
        add(format_args!("  {a} -- {b} [link_class={}{latency}]\n", quoted(link.class.name())));
    }
    add(format_args!("}}\n"));
    Ok(text)
}
