//! The facts of a network, as `topoloom show` prints them.

use serde::Serialize;

use super::taper::{Taper, tapers};
use crate::distances::{Distances, Sample};
use crate::graph::terminals_by_router;
use crate::layout::{Cost, Layout, cost, usual_prices};
use crate::network::Network;
use crate::provenance::Permutation;
use crate::topology::{MachineFacts, machine_facts};

/// The facts of a network that need no partitioner. The names are the keys of the JSON.
#[derive(Debug, Clone, Serialize)]
pub struct Facts {
    /// The spec that built the network.
    pub spec: String,
    /// Its family.
    pub family: String,
    /// The SHA-256 of the file or graph that the network comes from, if its spec does not identify it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_sha256: Option<String>,
    /// What was noticed when the network was read: parallel links, renumbered ids.
    pub notes: Vec<String>,
    /// How a permuted network came about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permutation: Option<Permutation>,
    /// Terminals.
    pub terminals: usize,
    /// Routers.
    pub routers: usize,
    /// The largest number of ports in use at a router, terminals included.
    pub radix: usize,
    /// The largest number of ports to other routers.
    pub network_radix: usize,
    /// The smallest number of ports to other routers.
    pub min_degree: usize,
    /// Links between routers, parallel ones each.
    pub links: usize,
    /// Links between a router and a terminal.
    pub terminal_links: usize,
    /// Routers that are parts of hosts, beside `routers`: accelerators and the switches within hosts.
    pub host_routers: usize,
    /// Links within hosts, beside `links`.
    pub host_links: usize,
    /// What a terminal sends into the network at load 1, in Gb/s: its own link's rate, or its part of the network interfaces
    /// of its host; their mean where terminals differ; null where links have no rates.
    pub injection_gbps: Option<f64>,
    /// What each level of the network carries below and above it; null where links have no rates.
    pub taper: Option<Vec<Taper>>,
    /// Links that failed, those of failed routers among them; 0 of a network without failures. They are not among
    /// `links`, nor are failed routers and their terminals in any other count.
    pub failed_links: usize,
    /// Routers that failed.
    pub failed_routers: usize,
    /// True if a path joins every pair of routers.
    pub connected: bool,
    /// Routers of each connected component, the largest first.
    pub component_sizes: Vec<u32>,
    /// How distances were sampled; `None` if all were measured.
    pub distance_sample: Option<Sample>,
    /// The largest distance between two routers; `None` if the network is not connected, or only sampled.
    pub diameter: Option<u32>,
    /// The largest distance that was measured: the diameter, unless it is `None`.
    pub diameter_at_least: u32,
    /// The mean distance over ordered pairs of distinct routers.
    pub average_distance: Option<f64>,
    /// The mean number of links between routers on a minimal path, over ordered pairs of distinct terminals.
    pub average_hops: Option<f64>,
    /// Ordered pairs of routers by distance, from 0 on.
    pub distance_histogram: Vec<u64>,
    /// Routers over the Moore bound for the network radix and the diameter; `None` of networks with hosts, whose parts are no
    /// routers of one kind.
    pub moore_ratio: Option<f64>,
    /// What is known of the machine that the network is, if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub machine: Option<MachineFacts>,
    /// Prices, layout, cost, power and cable; with failures, of the network before them.
    #[serde(flatten)]
    pub cost: Cost,
}

/// Computes the facts of a network, in the default layout and at the prices of its rate.
pub fn facts(network: &Network) -> Facts {
    facts_with(network, Distances::new(network))
}

/// Computes the facts of a network whose distances are there already, such as sampled ones.
pub fn facts_with(network: &Network, distances: Distances) -> Facts {
    let whole = network.intact();
    let hosts = whole.any_structure().host_parts();
    let bought = whole.bought();
    let layout = Layout::usual(bought);
    let cost = cost(bought, &layout, usual_prices(bought, &layout));
    // What is counted is the fabric, of which hosts are no part; failures are counted in the network itself.
    let fabric = if hosts.routers > 0 { bought } else { network };
    let routers = network.up_routers().count();
    let terminals = terminals_by_router(network).iter().map(|&count| count as usize).sum();
    let up = || fabric.up_routers();
    let network_radix = network.network_radix();
    Facts {
        spec: network.spec().to_owned(),
        family: network.intact().family().to_owned(),
        source_sha256: network.source().map(|source| source.sha256.clone()),
        notes: network.notes(),
        permutation: network.intact().any_structure().permutation().cloned(),
        terminals,
        routers: routers - hosts.routers,
        radix: up().map(|router| fabric.radix_of(router)).max().unwrap_or(0),
        network_radix: fabric.network_radix(),
        min_degree: up().map(|router| fabric.neighbors(router).count()).min().unwrap_or(0),
        links: network.links().len() - hosts.links - hosts.interfaces,
        terminal_links: if hosts.routers > 0 { bought.num_terminals() } else { terminals },
        host_routers: hosts.routers,
        host_links: hosts.links,
        injection_gbps: network.injection_gbps(),
        taper: tapers(network),
        failed_links: network.intact().links().len() - network.links().len(),
        failed_routers: network.num_routers() - routers,
        connected: distances.connected(),
        distance_sample: distances.sample,
        diameter: distances.diameter(),
        diameter_at_least: distances.largest(),
        average_distance: distances.average_distance(),
        average_hops: distances.average_hops(),
        moore_ratio: distances
            .diameter()
            .filter(|_| hosts.routers == 0)
            .map(|diameter| routers as f64 / moore_bound(network_radix, diameter)),
        machine: machine_facts(network),
        cost: cost.expect("the default list prices every network"),
        component_sizes: distances.component_sizes,
        distance_histogram: distances.histogram,
    }
}

/// The largest number of routers that a graph of this degree and diameter could have: a router, its neighbours, and
/// degree - 1 more behind each at every further step.
pub fn moore_bound(degree: usize, diameter: u32) -> f64 {
    let degree = degree as f64;
    let shells = (1..diameter).scan(degree, |shell, _| {
        *shell *= degree - 1.0;
        Some(*shell)
    });
    if diameter == 0 { 1.0 } else { 1.0 + degree + shells.sum::<f64>() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::build;

    fn of(spec: &str) -> Facts {
        facts(&build(spec).expect(spec))
    }

    #[test]
    fn moore_bounds() {
        assert_eq!(moore_bound(3, 2), 10.0, "the Petersen graph meets it");
        assert_eq!(moore_bound(7, 2), 50.0, "so does Hoffman and Singleton's, slimfly:q=5");
        assert_eq!(moore_bound(2, 3), 7.0, "and a ring of seven");
        assert_eq!(moore_bound(4, 0), 1.0);
        assert_eq!(of("slimfly:q=5").moore_ratio, Some(1.0));
        assert_eq!(of("cluster:hosts=4,fabric=(mesh:4,rate=1G)").moore_ratio, None);
        assert!((of("flex:26x26x3").moore_ratio.expect("connected") - 0.20278).abs() < 5e-6, "published: 20.278 %");
    }

    /// Published average hops (Fig. 1 and 16 of the FleX paper, recomputed) and pairs by distance.
    #[test]
    fn published_distances() {
        for (spec, hops) in [
            ("dragonfly:a=8,h=4,p=4", 2.6937),
            ("hyperx:10x10,p=10", 1.8182),
            ("slimfly:q=9,p=6", 1.9193),
            ("flex:6x6x3,p=10", 1.8131),
            ("flex:6x6x4", 2.2238),
            ("flex:6x6x5", 2.1788),
            ("flex:6x6x6", 2.3163),
            ("flex:6x6x7", 2.4143),
            ("hyperx:6x6x6", 2.5116),
        ] {
            assert!((of(spec).average_distance.expect(spec) - hops).abs() < 5e-5, "{spec}");
        }
        assert_eq!(of("flex:6x6x3,p=10").distance_histogram, [108, 2 * 1080, 2 * 4698]);
    }

    /// The published diameters of FleX by layers: max(3, layers / 2) from four on, 4 where a side is 2.
    #[test]
    fn published_diameters_of_flex() {
        let of = |spec: String| of(&spec).diameter;
        for (nx, ny) in [(3, 3), (3, 7), (5, 4)] {
            assert_eq!(of(format!("flex:{nx}x{ny}x3")), Some(2));
            assert_eq!(of(format!("flex:{nx}x{ny}x2")), Some(3));
            for layers in 4..=12 {
                assert_eq!(of(format!("flex:{nx}x{ny}x{layers}")), Some(3.max(layers / 2)));
            }
        }
        assert_eq!(of("flex:2x5x3".into()), Some(3));
        assert_eq!(of("flex:2x5x4".into()), Some(4));
        assert_eq!((of("flex:2x2x4".into()), of("flex:2x2x5".into())), (None, Some(5)));
    }

    #[test]
    fn the_json_has_the_published_keys() {
        let json = serde_json::to_value(of("flex:6x6x3,p=10")).expect("facts serialise");
        let keys = "spec family terminals routers radix network_radix links terminal_links diameter average_distance \
                    average_hops moore_ratio cost_usd power_w";
        for key in keys.split_whitespace() {
            assert!(!json[key].is_null(), "{key} is missing");
        }
        assert_eq!((&json["routers"], &json["diameter"], &json["power_w"]), (&108.into(), &2.into(), &9072.0.into()));
    }

    #[test]
    fn the_json_of_a_disconnected_network_has_nulls() {
        let json = serde_json::to_value(of("flex:2x2x4")).expect("facts serialise");
        assert!(json["diameter"].is_null() && json["moore_ratio"].is_null() && json["average_hops"].is_null());
        assert_eq!((&json["connected"], json["component_sizes"].as_array().map(Vec::len)), (&false.into(), Some(2)));
    }
}
