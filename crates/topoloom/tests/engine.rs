//! The engine through its own interface: what crosses each link, cancellation and progress.

use std::sync::atomic::{AtomicU64, Ordering};

use proptest::prelude::*;
use proptest::sample::select;
use topoloom::Error;
use topoloom::cycle::{Config, Injection, RouterOptions, Run, Sizes, simulate};
use topoloom::links::Latencies;
use topoloom::network::{Network, Peer};
use topoloom::routing::Routing;
use topoloom::topology;
use topoloom::watch::{Control, NoControl};

fn fixed(warmup: u64, measure: u64) -> Config {
    Config { warmup: Some(warmup), measure: Some(measure), ..Config::default() }
}

/// Router and peer of every channel between routers, with its utilisation.
fn channels(network: &Network, utilisation: &[f64]) -> Vec<(u32, u32, f64)> {
    let ports = network.ports().iter().zip(utilisation);
    let links = ports.filter_map(|(port, &share)| match port.peer {
        Peer::Port(peer) => Some((port.router.0, network.ports()[peer.index()].router.0, share)),
        Peer::Terminal(_) => None,
    });
    links.collect()
}

/// Uniform traffic on a k x k mesh in dimension order: between the places i and i + 1 of any line go
/// load * (i + 1) (k - 1 - i) / k flits per cycle, either way.
#[test]
fn every_link_of_a_mesh_carries_what_it_must() {
    let (k, load) = (5, 0.3);
    let network = topology::build("mesh:5x5").expect("a mesh");
    let point = simulate(&network, "dor", "uniform", load, &fixed(500, 100_000), &NoControl).expect("a run");
    let found = channels(&network, &point.link_utilisation);
    assert_eq!(found.len(), 2 * network.links().len());
    for (from, to, share) in found {
        let (low, high) = (from.min(to), from.max(to));
        let place = f64::from(if high - low == 1 { low % k } else { low / k });
        let side = f64::from(k);
        let expected = load * (place + 1.0) * (side - 1.0 - place) / side;
        let noise = (expected / 100_000.0).sqrt();
        assert!((share - expected).abs() < 5.0 * noise, "{from} to {to}: {share}, not {expected}");
    }
    for (port, &share) in network.ports().iter().zip(&point.link_utilisation) {
        if matches!(port.peer, Peer::Terminal(_)) {
            assert!((share - load).abs() < 0.01, "router {} ejects {share}", port.router);
        }
    }
}

/// Every router sends as much to its two neighbours on a ring where all packets go round to the tornado's destination.
#[test]
fn a_tornado_turns_one_way_round() {
    let network = topology::build("torus:8").expect("a ring");
    let point = simulate(&network, "dor", "tornado", 0.2, &fixed(500, 50_000), &NoControl).expect("a run");
    for (from, to, share) in channels(&network, &point.link_utilisation) {
        let expected = if to == (from + 1) % 8 { 3.0 * 0.2 } else { 0.0 };
        assert!((share - expected).abs() < 0.02, "{from} to {to}: {share}, not {expected}");
    }
}

/// Flits through links and ejection ports within a window make up what was accepted and how far it went.
#[test]
fn links_carry_hops() {
    for (spec, routing) in
        [("slimfly:q=5,p=2", "min"), ("dragonfly:a=4,h=2,p=2", "val"), ("fattree:k=3,levels=3", "nca")]
    {
        let network = topology::build(spec).expect(spec);
        let point = simulate(&network, routing, "uniform", 0.2, &fixed(1_000, 20_000), &NoControl).expect("a run");
        let crossed: f64 = point.link_utilisation.iter().sum();
        let visited = point.accepted * network.num_terminals() as f64 * point.hops.expect("packets arrived");
        assert!((crossed / visited - 1.0).abs() < 0.005, "{spec}: {crossed} flits per cycle for {visited} visits");
    }
}

struct Watch {
    cycles: AtomicU64,
    stop_at: u64,
}

impl Control for Watch {
    fn cancelled(&self) -> bool {
        self.cycles.load(Ordering::Relaxed) >= self.stop_at
    }

    fn progress(&self, cycles: u64) {
        assert!(cycles >= self.cycles.swap(cycles, Ordering::Relaxed), "time goes forward");
    }
}

#[test]
fn a_run_is_watched_and_can_be_stopped() {
    let network = topology::build("mesh:4x4").expect("a mesh");
    for config in [Config::default(), fixed(1_000_000, 40_000_000)] {
        let watch = Watch { cycles: AtomicU64::new(0), stop_at: 700 };
        let point = simulate(&network, "dor", "uniform", 0.2, &config, &watch).expect("a run");
        assert!(point.interrupted && !point.converged && !point.deadlocked);
        assert!((700..20_000).contains(&point.cycles), "stopped at {}", point.cycles);
    }
    let watch = Watch { cycles: AtomicU64::new(0), stop_at: u64::MAX };
    let point = simulate(&network, "dor", "uniform", 0.2, &Config::default(), &watch).expect("a run");
    assert!(point.converged && !point.interrupted);
    assert_eq!(watch.cycles.into_inner(), point.cycles);
}

fn configs() -> impl Strategy<Value = Config> {
    let router = (1u32..10, 1u32..12, select(vec![1.0, 1.5, 2.0, 2.5, 3.0, 16.0]), 0usize..3, 1u32..4);
    let delays = (0u32..4, 1u32..4, 1u32..4, 0u32..6);
    let links = (1u32..6, 1u32..12, 1u32..30, 1u32..6);
    let room = (
        select(vec!["wormhole", "vct"]),
        prop_oneof![Just("private".to_owned()), (1u32..6).prop_map(|own| format!("shared:{own}"))],
    );
    let sizes = prop_oneof![
        (1u32..9).prop_map(Sizes::One),
        (1u32..4, 4u32..9).prop_map(|(first, last)| Sizes::Between(first, last)),
        Just(Sizes::Weighted(vec![(5, 1.0), (2, 0.5)])),
    ];
    let run = (sizes, 0u64..300, 1u64..400, any::<u64>(), select(vec![1, 1, 1, 1, 1, 1, 2]), any::<bool>());
    (router, room, delays, links, run).prop_map(|(router, (flow, buffers), delays, links, run)| {
        let (vcs, buffer, speedup, allocator, iterations) = router;
        let (routing_delay, vc_alloc_delay, sw_alloc_delay, credit_delay) = delays;
        let (terminal, local, global, up) = links;
        let (packet, warmup, measure, seed, threads, bursts) = run;
        let given = [
            ("vcs", vcs.into()),
            ("buffer", buffer.into()),
            ("speedup", speedup.into()),
            ("routing_delay", routing_delay.into()),
            ("vc_alloc_delay", vc_alloc_delay.into()),
            ("sw_alloc_delay", sw_alloc_delay.into()),
            ("credit_delay", credit_delay.into()),
            ("allocator", ["separable-input-first", "islip", "wavefront"][allocator].into()),
            ("iterations", if allocator == 2 { 1 } else { iterations }.into()),
            ("flow", flow.into()),
            ("buffers", buffers.into()),
        ];
        Config {
            router: RouterOptions::new("iq", given).expect("options of a router"),
            links: Latencies { terminal, local, global, up, internal: local, ..Latencies::default() },
            packet,
            injection: if bursts { Injection::OnOff { alpha: 0.5, beta: 0.4 } } else { Injection::Bernoulli },
            warmup: Some(warmup),
            measure: Some(measure),
            seed,
            threads,
            run_unsafe: true,
            ..Config::default()
        }
    })
}

/// A network and a routing that it offers.
fn routed() -> impl Strategy<Value = (&'static str, &'static str)> {
    select(vec![
        ("mesh:4x3,p=2", "dor"),
        ("mesh:1,p=3", "dor"),
        ("mesh:3x3", "val"),
        ("torus:5x2", "dor"),
        ("torus:4x4", "ugal-l"),
        ("torus:2x2,double=true,p=2", "dor"),
        ("hyperx:3x3,trunk=2,p=2", "min"),
        ("hyperx:4x4,tile=2x2", "ugal-l"),
        ("fattree:k=2,levels=3", "anca"),
        ("fattree:k=3,levels=2", "ugal-l"),
        ("dragonfly:a=3,h=1,p=2", "min"),
        ("dragonfly:a=4,h=2,g=4", "ugal-l"),
        ("slimfly:q=3,p=2", "val:via=any"),
        ("flex:3x3x3", "min"),
        ("flex:3x3x2,p=2", "ugal-l"),
    ])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    /// Any options that are allowed run, with the array bounds and the arithmetic that debug builds check; what comes
    /// out can be true of what went in.
    #[test]
    fn any_options_run(
        (spec, routing) in routed(),
        traffic in select(vec!["uniform", "uniform:exclude-self", "bit-complement:bits=3", "neighbor", "random-permutation"]),
        load in prop_oneof![Just(0.0), Just(1.0), 0.0..1.0],
        config in configs(),
    ) {
        let network = topology::build(spec).expect(spec);
        let run = match Run::new(&network, routing, traffic, load, &config) {
            Ok(run) => run,
            // Bursts cannot reach every load, packets must fit under virtual cut-through, reserves into buffers;
            // uniform:exclude-self needs two terminals.
            Err(Error::Config(_) | Error::Traffic(_)) => return Ok(()),
            Err(other) => panic!("{other}"),
        };
        let point = run.run(&network, &NoControl).expect("a checked run");
        prop_assert!(point.accepted >= 0.0);
        prop_assert!(!point.interrupted);
        prop_assert!(point.link_utilisation.iter().all(|share| (0.0..=1.0).contains(share)));
        if let (Some(latency), Some(network_latency), Some(hops)) =
            (point.latency_cycles, point.network_latency_cycles, point.hops)
        {
            let links = &config.links;
            let smallest = match config.packet {
                Sizes::One(size) | Sizes::Between(size, _) => size,
                Sizes::Weighted(_) => 2,
            };
            let least = 2.0 * f64::from(links.terminal + 1) + f64::from(smallest - 1);
            prop_assert!(latency >= network_latency && network_latency >= least, "{latency} {network_latency}");
            prop_assert!(hops >= 1.0 && f64::from(point.p50.expect("packets")) >= least);
        }
        if load == 0.0 {
            prop_assert_eq!((point.packets, point.saturated), (0, false));
        }
        // Only a routing with a class too few can be stuck without end.
        let classes = topoloom::routing::build(&network, routing).expect(routing).classes();
        if config.router.int("vcs") >= classes {
            prop_assert!(!point.deadlocked, "{:?}", point.deadlock);
        }
    }
}
