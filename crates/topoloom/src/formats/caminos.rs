//! CAMINOS: a configuration, and beside it the adjacency lists that its topology `File` reads.
//!
//! `NODOS 4`, `GRADO 2`, then `N 0` and a line with the neighbours of router 0, and so on. Every router has as many
//! servers as every other there; parallel links are one, as its reader would mix up their ports, and all links have one
//! latency. The configuration runs shortest paths with a VC for each hop, which cannot deadlock.

use std::fmt::Write;

use super::{Format, Holds, Timing};
use crate::distances::Distances;
use crate::error::{Error, Result};
use crate::network::{LinkClass, Network};

pub(super) const FORMAT: Format = Format {
    name: "caminos",
    endings: &["caminos"],
    summary: "a configuration for CAMINOS, with the graph as adjacency lists beside it",
    holds: &[Holds::Terminals, Holds::LoneRouters, Holds::OneLatency],
    read: None,
    write: Some(write),
    beside: Some(&GRAPH),
};

pub(super) const GRAPH: Format = Format {
    name: "caminos-graph",
    endings: &["adj"],
    summary: "adjacency lists, as the topology File of CAMINOS reads them",
    holds: &[Holds::LoneRouters],
    read: None,
    write: Some(write_graph),
    beside: None,
};

fn write_graph(network: &Network, _timing: &Timing) -> Result<String> {
    let mut text = format!("NODOS {}\nGRADO {}\n", network.num_routers(), network.network_radix());
    for router in network.routers() {
        let mut peers: Vec<u32> = network.neighbors(router).map(|(_, peer)| peer.0).collect();
        peers.sort_unstable();
        peers.dedup();
        let peers: Vec<String> = peers.iter().map(u32::to_string).collect();
        writeln!(text, "N {router}\n{}", peers.join(" ")).expect("a string takes what is written");
    }
    Ok(text)
}

fn write(network: &Network, timing: &Timing) -> Result<String> {
    let counts: Vec<usize> = network.routers().map(|router| network.terminals_of(router).count()).collect();
    let (first, spec) = (counts.first().copied().unwrap_or(0), network.spec());
    if counts.iter().any(|&count| count != first) {
        return Err(Error::Spec(format!(
            "{spec}: routers have different numbers of terminals; a file of CAMINOS gives every router as many"
        )));
    }
    let (graph, terminals) = (timing.beside(&FORMAT), network.num_terminals());
    let vcs = Distances::new(network).largest().max(1);
    let (between, host) = (timing.of_most(network), timing.of_class(LinkClass::Terminal));
    Ok(format!(
        "Configuration
{{
	random_seed: 1,
	warmup: 5000,
	measured: 10000,
	topology: File
	{{
		filename: \"{graph}\",
		format: 0,
		servers_per_router: {first},
		legend_name: \"{spec}\",
	}},
	traffic: HomogeneousTraffic
	{{
		pattern: Uniform,
		servers: {terminals},
		load: ![0.1, 0.3, 0.5, 0.7, 0.9],
		message_size: 16,
	}},
	maximum_packet_size: 16,
	router: Basic
	{{
		virtual_channels: {vcs},
		virtual_channel_policies: [ WideHops {{ width: 1 }}, EnforceFlowControl, Random ],
		delay: 0,
		buffer_size: 64,
		bubble: false,
		flit_size: 16,
		allow_request_busy_port: true,
		intransit_priority: false,
		output_prioritize_lowest_label: false,
		output_buffer_size: 32,
	}},
	routing: Shortest {{ legend_name: \"shortest paths\" }},
	link_classes: [ LinkClass {{ delay: {between} }}, LinkClass {{ delay: {host} }} ],
	launch_configurations: [ Slurm {{ job_pack_size: 1, time: \"0-12:00:00\" }} ],
}}
"
    ))
}
