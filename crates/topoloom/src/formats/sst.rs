//! A script for SST that builds the network with merlin's `topoAny` from a networkx graph and runs uniform traffic on it.
//!
//! `topoAny` takes a graph whose nodes state how many endpoints they have, and routes by shortest paths from the source.
//! Parallel links make it a multigraph. One latency holds for all links, that of most of them.

use std::fmt::Write;

use super::{Format, Holds, Timing};
use crate::error::Result;
use crate::network::{LinkClass, Network};

pub(super) const FORMAT: Format = Format {
    name: "sst",
    endings: &["sst.py"],
    summary: "a script for SST: merlin's topoAny from a networkx graph, under uniform traffic",
    holds: &[Holds::Terminals, Holds::ParallelLinks, Holds::LoneRouters, Holds::OneLatency],
    read: None,
    write: Some(write),
    beside: None,
};

const HEAD: &str = r#"import networkx as nx

ENDPOINTS = [
"#;

const MIDDLE: &str = r#"]
LINKS = [
"#;

/// Kept apart so that the graph can be had where SST is not.
const TAIL: &str = r#"]


def graph():
    made = nx.MultiGraph() if len({frozenset(link) for link in LINKS}) < len(LINKS) else nx.Graph()
    made.add_nodes_from((router, {"endpoints": count}) for router, count in enumerate(ENDPOINTS))
    made.add_edges_from(LINKS)
    return made


if __name__ == "__main__":
    import sst
    from sst.merlin.base import *
    from sst.merlin.endpoint import *
    from sst.merlin.interface import *
    from sst.merlin.topology import *
    from sst.merlin.targetgen import *

    topo = topoAny()
    topo.topo_name = "topoloom"
    topo.routing_mode = "source_routing"
    topo.import_graph(graph())

    router = hr_router()
    router.link_bw = "100Gb/s"
    router.xbar_bw = "200Gb/s"
    router.flit_size = "8B"
    router.input_latency = "0ns"
    router.output_latency = "0ns"
    router.input_buf_size = "16kB"
    router.output_buf_size = "16kB"
    router.num_vns = 1
    router.xbar_arb = "merlin.xbar_arb_lru"
    topo.router = router
    topo.link_latency = LINK_LATENCY
    topo.host_link_latency = HOST_LINK_LATENCY

    interface = EndpointNIC(use_reorderLinkControl=True, topo=topo)
    interface.link_bw = "100Gb/s"
    interface.input_buf_size = "16kB"
    interface.output_buf_size = "16kB"
    interface.vn_remap = [0]
    interface.addPlugin("sourceRoutingPlugin", routing_table=topo.calculate_routing_table())

    job = OfferedLoadJob(0, topo.getNumNodes())
    job.setEndpointNIC(interface)
    job.pattern = UniformTarget()
    job.offered_load = [0.1, 0.3, 0.5, 0.7, 0.9]
    job.link_bw = "100Gb/s"
    job.message_size = "64B"
    job.warmup_time = "5us"
    job.collect_time = "20us"
    job.drain_time = "50us"

    system = System()
    system.setTopology(topo)
    system.allocateNodes(job, "linear")
    system.build()
"#;

fn write(network: &Network, timing: &Timing) -> Result<String> {
    let mut text = format!("# {}\n", network.spec());
    let mut add = |line: std::fmt::Arguments| text.write_fmt(line).expect("a string takes what is written");
    let (between, host) = (timing.of_most(network), timing.of_class(LinkClass::Terminal));
    add(format_args!(
        "# A cycle is 1 ns. Endpoint ids count router by router.\nLINK_LATENCY, HOST_LINK_LATENCY = \"{between}ns\", \"{host}ns\"\n{HEAD}"
    ));
    let counts: Vec<String> =
        network.routers().map(|router| network.terminals_of(router).count().to_string()).collect();
    counts.chunks(32).for_each(|row| add(format_args!("    {},\n", row.join(", "))));
    add(format_args!("{MIDDLE}"));
    for row in network.links().chunks(10) {
        let pair = |link| {
            let [a, b] = network.routers_of(link);
            format!("({a}, {b})")
        };
        add(format_args!("    {},\n", row.iter().map(pair).collect::<Vec<_>>().join(", ")));
    }
    add(format_args!("{TAIL}"));
    Ok(text)
}
