//! Speed of the flow engine, beside its peers: `make bench`.
//!
//! Prints CPU seconds, and flows per CPU second. In some runs flows of unequal sizes begin together, and the rates are
//! computed again after every completion; another is a collective of millions of flows. The peers' figures are CPU
//! seconds on one core of a cloud machine like those that test the project; `benches/flow_simgrid.py` runs SimGrid
//! beside it.

use std::fs;

use topoloom::flow::{FlowConfig, FlowResult, run, run_flows};
use topoloom::rng::Rng;
use topoloom::routing::build;
use topoloom::topology;
use topoloom::watch::NoControl;
use topoloom::workload::{self, Mapping, Message};

/// Name, network, routing, flows per terminal (one: a permutation), options, the peer and its CPU seconds.
type Flows = (&'static str, &'static str, &'static str, u32, &'static str, &'static str);

const FLOWS: &[Flows] = &[
    ("permutation, torus 16^3", "torus:16x16x16", "dor", 1, "", "SimGrid 3.32: stopped after 60 s"),
    ("8 per host, 1,024 fat tree", "xgft:down=16x8x8,up=16x8", "updown", 8, "", "SimGrid 3.32: stopped after 60 s"),
    ("permutation, 16,384 fat tree", "xgft:down=32x32x16,up=32x32", "updown", 1, "", "SimGrid 3.32: 6.9 s"),
    ("permutation, 16,512 dragonfly", "dragonfly:a=16,h=8,p=8", "min", 1, "", "SimGrid 3.32, 4,096: 12.2 s"),
    ("10 per node, torus 20^3, share", "torus:20x20x20", "dor", 10, "model=share", "INRFlow 0.4.1: 6.3 s"),
    ("10 per node, torus 20^3, 2 %", "torus:20x20x20", "dor", 10, "coalesce=0.02", "INRFlow 0.4.1: 6.3 s"),
];

/// Network, routing, application, the peer.
const APPS: &[(&str, &str, &str, &str)] = &[
    ("fattree:k=40,levels=3", "updown", "allreduce", "INRFlow 0.4.1: 36 s, 3.1 GB"),
    ("torus:40x40x40", "dor:ties=sign", "allreduce", "INRFlow 0.4.1: stopped after 53 s"),
    ("nesttree:t=2,u=2,endpoints=131072", "dor", "allreduce", "–"),
];

/// CPU seconds of this process.
fn cpu_s() -> f64 {
    let stat = fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    stat.split(' ').next().and_then(|first| first.parse::<f64>().ok()).map_or(f64::NAN, |nanoseconds| nanoseconds / 1e9)
}

fn flows(terminals: u32, each: u32) -> Vec<Message> {
    let mut rng = Rng::stream(1, 1);
    let mut targets: Vec<u32> = (0..terminals).collect();
    rng.shuffle(&mut targets);
    let pairs = (0..terminals * each).map(|flow| match each {
        1 => (flow, targets[flow as usize]),
        _ => (flow / each, rng.below(terminals)),
    });
    let pairs: Vec<(u32, u32)> = pairs.collect();
    let mut size = || 1_000_000 + u64::from(rng.below(99_000_000));
    pairs.into_iter().map(|(source, target)| Message { source, target, bytes: size() }).collect()
}

fn print(name: &str, began: f64, result: &FlowResult, peer: &str) {
    let took = cpu_s() - began;
    println!(
        "{name:36} {took:8.3} {:10.0} {:10} {:10}   {peer}",
        result.flows as f64 / took,
        result.flows,
        result.events
    );
}

fn main() {
    println!("{:36} {:>8} {:>10} {:>10} {:>10}   peer", "", "CPU s", "flows/s", "flows", "instants");
    for &(name, spec, routing, each, options, peer) in FLOWS {
        let network = topology::build(spec).expect("a spec that works");
        let routing = build(&network, routing).expect("a routing that is offered");
        let config = FlowConfig::read(options).expect("options that work");
        let flows = flows(network.num_terminals() as u32, each);
        let began = cpu_s();
        let result = run_flows(&network, &routing, &flows, &config, &NoControl).expect("a run that works");
        print(name, began, &result, peer);
    }
    for &(spec, routing, app, peer) in APPS {
        let network = topology::build(spec).expect("a spec that works");
        let routing = build(&network, routing).expect("a routing that is offered");
        let began = cpu_s();
        // A power of two of tasks; others of the terminals are idle.
        let tasks = 1 << network.num_terminals().ilog2();
        let workload = workload::build(&format!("{app}:tasks={tasks}"), tasks).expect("an application that works");
        let mapping = Mapping::new("linear", &workload, &network).expect("room for all tasks");
        let config = FlowConfig::default();
        let result = run(&network, &routing, &workload, &mapping, &config, &NoControl).expect("a run that works");
        print(&format!("{app}, {spec}"), began, &result, peer);
    }
}
