//! The engine through its own interface: what crosses each link, who may stop it, who may watch.

use std::sync::atomic::{AtomicU64, Ordering};

use topoloom::cycle::{Config, Control, Uncontrolled, simulate};
use topoloom::network::{Network, Peer};
use topoloom::topology;

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
/// load * (i + 1) (k - 1 - i) / k flits a cycle, either way.
#[test]
fn every_link_of_a_mesh_carries_what_it_must() {
    let (k, load) = (5, 0.3);
    let network = topology::build("mesh:5x5").expect("a mesh");
    let point = simulate(&network, "dor", "uniform", load, &fixed(500, 100_000), &Uncontrolled).expect("a run");
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
    let point = simulate(&network, "dor", "tornado", 0.2, &fixed(500, 50_000), &Uncontrolled).expect("a run");
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
        let point = simulate(&network, routing, "uniform", 0.2, &fixed(1_000, 20_000), &Uncontrolled).expect("a run");
        let crossed: f64 = point.link_utilisation.iter().sum();
        let visited = point.accepted * network.num_terminals() as f64 * point.hops.expect("packets arrived");
        assert!((crossed / visited - 1.0).abs() < 0.005, "{spec}: {crossed} flits a cycle for {visited} visits");
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
    for config in [Config::default(), fixed(1_000_000, 100_000_000)] {
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
