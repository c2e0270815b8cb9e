//! What any family takes: rates and delays of links, all at once or by their class.

use super::params::Params;
use super::torus::WIDTHS;
use crate::catalogue::{Key, Kind};
use crate::error::{Error, Result};
use crate::network::{LinkClass, Network, Peer, PortId, Wire};

const RATE: Kind = Kind::Rate;
const DELAY: Kind = Kind::Delay("350ns");

/// The keys of links, which every family takes beside its own.
pub const LINK_KEYS: &[Key] = &[
    Key::new("rate", RATE, "what links carry in each direction, as in 400G (default: none, all are alike)"),
    Key::new("delay", DELAY, "how long a bit takes over a link, as in 350ns (default: that of the run)"),
    Key::new("rate.terminal", RATE, "the rate of terminals' links"),
    Key::new("rate.local", RATE, "the rate of local links"),
    Key::new("rate.global", RATE, "the rate of global links"),
    Key::new("rate.up", RATE, "the rate of links between the levels of a tree"),
    Key::new("rate.internal", RATE, "the rate of links between the routers of one node"),
    Key::new("rate.nic", RATE, "the rate of links between network interfaces of hosts and routers"),
    Key::new("delay.terminal", DELAY, "the delay of terminals' links"),
    Key::new("delay.local", DELAY, "the delay of local links"),
    Key::new("delay.global", DELAY, "the delay of global links"),
    Key::new("delay.up", DELAY, "the delay of links between the levels of a tree"),
    Key::new("delay.internal", DELAY, "the delay of links between the routers of one node"),
    Key::new("delay.nic", DELAY, "the delay of links between network interfaces of hosts and routers"),
];

/// The keys of one class.
const fn keys_of(class: LinkClass) -> [&'static str; 2] {
    match class {
        LinkClass::Terminal => ["rate.terminal", "delay.terminal"],
        LinkClass::Local => ["rate.local", "delay.local"],
        LinkClass::Global => ["rate.global", "delay.global"],
        LinkClass::Up => ["rate.up", "delay.up"],
        LinkClass::Internal => ["rate.internal", "delay.internal"],
        LinkClass::Nic => ["rate.nic", "delay.nic"],
    }
}

/// The network with the rates and delays that its spec gives. What the spec states about a class, or of all links, holds in the
/// place of what a file or a network within states.
///
/// # Errors
/// [`Error::Spec`](crate::Error::Spec) for a class that the network has no links of, and for links without a rate where
/// others have one.
pub(super) fn with_rates(network: Network, params: &Params) -> Result<Network> {
    let given = LINK_KEYS.iter().any(|key| params.has(key.name));
    let network = if given { applied(network, params)? } else { network };
    check_whole(network, |what| params.mistake(what))
}

fn applied(network: Network, params: &Params) -> Result<Network> {
    let mut there = [false; LinkClass::ALL.len()];
    network.ports().iter().for_each(|port| there[port.class as usize] = true);
    let unknown = LinkClass::ALL.iter().filter(|class| !there[**class as usize]).flat_map(|&class| keys_of(class));
    if let Some(key) = unknown.into_iter().find(|key| params.has(key)) {
        let has: Vec<&str> = LinkClass::ALL.iter().filter(|c| there[**c as usize]).map(|class| class.name()).collect();
        return Err(params.mistake(format!(
            "{key} is given, but this network has no such links; it has the classes {}",
            has.join(", ")
        )));
    }
    let wires = LinkClass::ALL.map(|class| of_class(params, class));
    let terminals = keys_of(LinkClass::Terminal).iter().any(|key| params.has(key));
    let ports: Vec<LinkClass> = network.ports().iter().map(|port| port.class).collect();
    // A torus has multiplied the rate of each dimension itself.
    let multiplied = params.has(WIDTHS.name);
    let network = network.with_wires(|port, known| {
        let class = ports[port.index()];
        let said = wires[class as usize];
        if multiplied && class == LinkClass::Local { known.or(said) } else { said.or(known) }
    });
    Ok(if terminals { network.with_terminal_wires() } else { network })
}

/// The rate of local links in Gb/s, if the spec states one.
pub(super) fn local_gbps(params: &Params) -> Option<f64> {
    of_class(params, LinkClass::Local).gbps
}

/// What the spec states about a class of links.
fn of_class(params: &Params, class: LinkClass) -> Wire {
    let [rate, delay] = keys_of(class);
    Wire {
        gbps: params.rate(rate).or_else(|| params.rate("rate")).map(gbps),
        latency_ns: params.seconds(delay).or_else(|| params.seconds("delay")).map(nanoseconds),
        length_m: None,
    }
}

/// Gb/s, as they were written: 400 for 400G, whatever bytes per second have rounded.
fn gbps(bytes_per_s: f64) -> f64 {
    (bytes_per_s * 8.0 / 1e3).round() / 1e6
}

/// Nanoseconds, likewise.
fn nanoseconds(seconds: f64) -> f64 {
    (seconds * 1e15).round() / 1e6
}

/// The network, each terminal of which nothing is stated with the rate of the fastest link of its router.
pub(super) fn with_terminal_rates(network: Network) -> Network {
    if !network.has_rates() {
        return network;
    }
    let fastest = |router| {
        let rates =
            (network.port_base(router)..).zip(network.ports_of(router)).filter_map(|(port, at)| match at.peer {
                Peer::Port(_) => network.gbps(PortId(port)),
                Peer::Terminal(_) => None,
            });
        rates.max_by(f64::total_cmp)
    };
    let fastest: Vec<Option<f64>> = network.routers().map(fastest).collect();
    let of: Vec<Option<f64>> = network
        .ports()
        .iter()
        .map(|port| if port.class == LinkClass::Terminal { fastest[port.router.index()] } else { None })
        .collect();
    network.with_wires(|port, said| said.or(Wire { gbps: of[port.index()], ..Wire::UNSAID }))
}

/// Rejects a network of which some links have a rate and others have none.
///
/// # Errors
/// `wrong` with a sentence that states which.
pub(super) fn check_whole(network: Network, wrong: impl FnOnce(String) -> Error) -> Result<Network> {
    let has_rates = network.has_rates();
    let without = (0..).zip(network.ports()).find(|(port, _)| has_rates && network.gbps(PortId(*port)).is_none());
    let Some((_, port)) = without else { return Ok(network) };
    let [key, _] = keys_of(port.class);
    let links = port.class.name();
    Err(wrong(format!("some links have a rate, but {links} links have none; give {key}, or rate for all other links")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::build;

    #[test]
    fn every_class_has_its_keys() {
        for class in LinkClass::ALL {
            for key in keys_of(class) {
                assert!(LINK_KEYS.iter().any(|known| known.name == key && key.ends_with(class.name())));
            }
        }
        assert_eq!(LINK_KEYS.len(), 2 + 2 * LinkClass::ALL.len());
    }

    #[test]
    fn links_have_the_rates_of_their_classes() {
        let network = build("dragonfly:a=4,h=2,p=2,rate=400G,rate.global=25GB/s,delay.global=350ns").expect("small");
        for (port, at) in (0..).zip(network.ports()) {
            let (rate, delay) = if at.class == LinkClass::Global { (200.0, Some(350.0)) } else { (400.0, None) };
            assert_eq!(network.wire(PortId(port)), Wire { gbps: Some(rate), latency_ns: delay, length_m: None });
        }
        assert_eq!((network.injection_gbps(), network.has_terminal_links()), (Some(400.0), true));
        let board = build("torus:4x4,rate=106.25G").expect("small");
        assert_eq!((board.injection_gbps(), board.has_terminal_links()), (Some(106.25), false));
        let apart = build("torus:4x4,rate=200G,rate.terminal=50GB/s").expect("small");
        assert_eq!((apart.injection_gbps(), apart.has_terminal_links()), (Some(400.0), true));
        let plain = build("torus:4x4").expect("small");
        assert_eq!((plain.has_rates(), plain.injection_gbps(), plain.wire(PortId(0))), (false, None, Wire::UNSAID));
    }

    #[test]
    fn dimensions_of_a_torus_may_have_rates_of_their_own() {
        let network = build("torus:3x4x5,p=2,widths=2x1x3,rate=10G,rate.terminal=7G,delay=5ns").expect("small");
        for (port, at) in (0..).zip(network.ports()) {
            let (_, local) = network.local_port(PortId(port));
            let gbps = if at.class == LinkClass::Terminal { 7.0 } else { [20.0, 10.0, 30.0][(local as usize - 2) / 2] };
            assert_eq!(network.wire(PortId(port)), Wire { gbps: Some(gbps), latency_ns: Some(5.0), length_m: None });
        }
        for (spec, words) in [
            ("torus:4x4,widths=2x1", "widths needs rate or rate.local"),
            ("torus:4x4,widths=2,rate=1G", "widths has 1 number; it must have 2, one for each dimension"),
        ] {
            let sentence = build(spec).expect_err(spec).to_string();
            assert!(sentence.contains(words), "{spec}: {sentence}");
        }
    }

    #[test]
    fn rates_outlive_failures_and_permutations() {
        for spec in [
            "faulty:links=20%,seed=3(dragonfly:a=4,h=2,p=2,rate=400G,rate.global=200G)",
            "permuted:two-cab(dragonfly:a=4,h=2,p=2,rate=400G,rate.global=200G),cabinet=8",
            "permuted:two-cab(dragonfly:a=4,h=2,p=2),cabinet=8,rate=400G,rate.global=200G",
        ] {
            let network = build(spec).expect(spec);
            for (port, at) in (0..).zip(network.ports()) {
                let rate = if at.class == LinkClass::Global { 200.0 } else { 400.0 };
                assert_eq!(network.gbps(PortId(port)), Some(rate), "{spec}");
            }
        }
    }

    #[test]
    fn mistakes_name_the_class() {
        for (spec, words) in [
            (
                "torus:4x4,rate.global=200G",
                "rate.global is given, but this network has no such links; it has the classes terminal, local",
            ),
            (
                "dragonfly:a=4,h=2,rate.global=200G",
                "terminal links have none; give rate.terminal, or rate for all other links",
            ),
            ("torus:4x4,rate=0G", "rate is '0G'; it must be bits or bytes per second above 0"),
            ("torus:4x4,rate.locl=1G", "did you mean 'rate.local'"),
            ("torus:4x4,delay=5", "delay is '5'; it must be a time above 0 with its unit, as in 350ns"),
        ] {
            let sentence = build(spec).expect_err(spec).to_string();
            assert!(sentence.contains(words), "{spec}: {sentence}");
        }
    }
}
