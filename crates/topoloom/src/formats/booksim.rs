//! A configuration for BookSim2 that runs the network from an anynet file, with the router that `--model iq` is.

use super::{Format, Holds, Timing, anynet};
use crate::error::{Error, Result};
use crate::network::Network;

pub(super) const FORMAT: Format = Format {
    name: "booksim",
    endings: &["booksim"],
    summary: "a configuration for BookSim2, with the graph as anynet beside it",
    // Anynet files have parallel links; BookSim2 merges them.
    holds: &[Holds::Terminals, Holds::TerminalIds, Holds::Latencies],
    read: None,
    write: Some(write),
    beside: Some(&anynet::FORMAT),
};

fn write(network: &Network, timing: &Timing) -> Result<String> {
    let (spec, graph) = (network.spec(), timing.beside(&FORMAT));
    if !is_word(&graph) {
        return Err(Error::Spec(format!(
            "BookSim2 cannot read the name '{graph}'; it may have letters, digits, _, - and ., beginning with a letter or _"
        )));
    }
    Ok(format!(
        "// {spec}
// BookSim's anynet routes by one shortest path per pair: it can deadlock where these paths form cycles.
topology = anynet;
routing_function = min;
network_file = {graph};

// The router.
num_vcs = 4; vc_buf_size = 64; wait_for_tail_credit = 0;
vc_allocator = separable_input_first; sw_allocator = separable_input_first; alloc_iters = 1;
credit_delay = 2; routing_delay = 0; vc_alloc_delay = 1; sw_alloc_delay = 1; st_prepare_delay = 0; st_final_delay = 1;
input_speedup = 1; output_speedup = 1; internal_speedup = 2.0;

// The traffic, and how it is measured.
traffic = uniform; injection_process = bernoulli; injection_rate = 0.1; packet_size = 1;
sim_type = latency; sample_period = 2000; warmup_periods = 3; latency_thres = 500.0; seed = 1;
"
    ))
}

/// True if BookSim2's configuration takes `name` without quotes, of which it has none.
fn is_word(name: &str) -> bool {
    let mut letters = name.chars();
    letters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && letters.all(|letter| letter.is_ascii_alphanumeric() || "_-.".contains(letter))
}
