//! SimGrid's platforms: routers, one host per terminal, links with rates and delays in both directions, shortest paths.
//!
//! SimGrid finds shortest paths itself (`routing="Dijkstra"`). It knows one link between neighbours, so parallel links
//! become one with the sum of their bandwidths. By default a link has 100 Gb/s, a cycle is 1 ns, and a host computes
//! 1 Gflop/s: change these to the values of your machines.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::{Format, Holds, Timing};
use crate::error::Result;
use crate::network::{LinkClass, Network, PortId, TerminalId};

pub(super) const FORMAT: Format = Format {
    name: "simgrid",
    endings: &["simgrid"],
    summary: "a platform for SimGrid, with shortest paths",
    holds: &[Holds::Terminals, Holds::TerminalIds, Holds::ParallelLinks, Holds::LoneRouters, Holds::Latencies],
    read: None,
    write: Some(write),
    beside: None,
};

/// Gigabytes per second of a link of 100 Gb/s.
const BANDWIDTH: f64 = 12.5;

fn write(network: &Network, timing: &Timing) -> Result<String> {
    let mut text = String::from(
        "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n<platform version=\"4.1\">\n",
    );
    let mut add = |line: std::fmt::Arguments| text.write_fmt(line).expect("a string takes what is written");
    add(format_args!("  <zone id=\"network\" routing=\"Dijkstra\">\n"));
    let terminals = 0..network.num_terminals() as u32;
    terminals.clone().for_each(|id| add(format_args!("    <host id=\"terminal-{id}\" speed=\"1Gf\"/>\n")));
    network.routers().for_each(|router| add(format_args!("    <router id=\"router-{router}\"/>\n")));
    let bandwidth = |port: PortId| network.gbps(port).map_or(BANDWIDTH, |gbps| gbps / 8.0);
    let mut trunks: BTreeMap<[u32; 2], (f64, f64)> = BTreeMap::new();
    for link in network.links() {
        let trunk = trunks.entry(network.routers_of(link).map(|router| router.0)).or_default();
        let cycles = || f64::from(timing.of(network, link).unwrap_or(1));
        trunk.0 += bandwidth(link.ends[0]);
        trunk.1 = trunk.1.max(network.wire(link.ends[0]).latency_ns.unwrap_or_else(cycles));
    }
    for id in terminals.clone() {
        let port = network.terminal_port(TerminalId(id));
        let cycles = || f64::from(timing.of_class(LinkClass::Terminal));
        let of_terminals = network.wire(port).latency_ns.unwrap_or_else(cycles);
        let bandwidth = bandwidth(port);
        add(format_args!(
            "    <link id=\"terminal-link-{id}\" bandwidth=\"{bandwidth}GBps\" latency=\"{of_terminals}ns\" sharing_policy=\"SPLITDUPLEX\"/>\n"
        ));
    }
    for ([a, b], (bandwidth, latency)) in &trunks {
        add(format_args!(
            "    <link id=\"link-{a}-{b}\" bandwidth=\"{bandwidth}GBps\" latency=\"{latency}ns\" sharing_policy=\"SPLITDUPLEX\"/>\n"
        ));
    }
    for id in terminals {
        let router = network.router_of(TerminalId(id));
        add(format_args!(
            "    <route src=\"terminal-{id}\" dst=\"router-{router}\"><link_ctn id=\"terminal-link-{id}\" direction=\"UP\"/></route>\n"
        ));
    }
    for [a, b] in trunks.keys() {
        add(format_args!(
            "    <route src=\"router-{a}\" dst=\"router-{b}\"><link_ctn id=\"link-{a}-{b}\" direction=\"UP\"/></route>\n"
        ));
    }
    add(format_args!("  </zone>\n</platform>\n"));
    Ok(text)
}
