//! A configuration for BookSim2 that runs the network from an anynet file, with the router that `--model iq` is.

use super::{Format, Timing, anynet};
use crate::error::Result;
use crate::network::Network;

pub(super) const FORMAT: Format = Format {
    name: "booksim",
    endings: &["booksim"],
    summary: "a configuration for BookSim2, with the graph as anynet beside it",
    holds: anynet::FORMAT.holds,
    read: None,
    write: Some(write),
    beside: Some(&anynet::FORMAT),
};

fn write(network: &Network, timing: &Timing) -> Result<String> {
    let (spec, graph) = (network.spec(), timing.beside(&FORMAT));
    Ok(format!(
        "// {spec}
// BookSim's anynet routes by one shortest path a pair: it can deadlock where these make circles.
topology = anynet;
routing_function = min;
network_file = {graph};

num_vcs = 4;
vc_buf_size = 64;
wait_for_tail_credit = 0;
vc_allocator = separable_input_first;
sw_allocator = separable_input_first;
alloc_iters = 1;
credit_delay = 2;
routing_delay = 0;
vc_alloc_delay = 1;
sw_alloc_delay = 1;
st_prepare_delay = 0;
st_final_delay = 1;
input_speedup = 1;
output_speedup = 1;
internal_speedup = 2.0;

traffic = uniform;
packet_size = 1;
injection_rate = 0.1;
injection_process = bernoulli;
sim_type = latency;
sample_period = 2000;
warmup_periods = 3;
latency_thres = 500.0;
seed = 1;
"
    ))
}
