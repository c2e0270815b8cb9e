//! What is published of machines, and what the networks state that are built for them.

use serde::Serialize;

use super::cluster::Cluster;
use super::machine::{self, Form};
use super::params::Params;
use crate::catalogue::grammar::split_head;
use crate::network::{LinkClass, Network, RouterId};

/// A number that machines publish, and how a network gives it.
pub(super) struct Fact {
    /// Its name in the files of machines.
    pub name: &'static str,
    /// What it is, with its unit.
    pub doc: &'static str,
    of: fn(&Network) -> Option<f64>,
}

/// Every number that machines publish, in the order in which users see them.
pub(super) static FIGURES: &[Fact] = &[
    Fact { name: "terminals", doc: "accelerators, sockets or nodes", of: |n| count(n.num_terminals()) },
    Fact { name: "hosts", doc: "hosts", of: |n| Some(hosts(n)) },
    Fact { name: "host_terminals", doc: "accelerators or sockets of a host", of: |n| Some(terminals_of_host(n)) },
    Fact { name: "host_nics", doc: "ports of a host into the fabric", of: nics_of_host },
    Fact { name: "routers", doc: "switches, or routers", of: |n| count(n.bought().num_routers()) },
    Fact { name: "links", doc: "links between switches", of: |n| count(n.bought().links().len()) },
    Fact { name: "terminal_links", doc: "links between hosts and switches", of: |n| count(n.bought().num_terminals()) },
    Fact { name: "local_links", doc: "links within groups", of: |n| class(n, LinkClass::Local) },
    Fact { name: "global_links", doc: "links between groups", of: |n| class(n, LinkClass::Global) },
    Fact { name: "up_links", doc: "links between levels", of: |n| class(n, LinkClass::Up) },
    Fact { name: "radix", doc: "ports in use of the largest switch", of: |n| count(n.bought().radix()) },
    Fact {
        name: "network_radix",
        doc: "the largest number of links from a switch to others",
        of: |n| count(n.bought().network_radix()),
    },
    Fact { name: "levels", doc: "levels of switches", of: levels },
    Fact { name: "groups", doc: "groups of switches", of: groups },
    Fact { name: "group_routers", doc: "switches of a group", of: |n| group_size(n).map(f64::from) },
    Fact { name: "pair_links", doc: "the smallest number of links between two groups", of: pair_links },
    Fact { name: "link_gbps", doc: "Gb/s of the fastest link between switches, in one direction", of: link_gbps },
    Fact { name: "injection_gbps", doc: "Gb/s of a terminal into the fabric", of: Network::injection_gbps },
    Fact { name: "host_gbps", doc: "Gb/s of a host into the fabric", of: host_gbps },
    Fact { name: "total_gbps", doc: "Gb/s of all hosts into the fabric", of: |n| Some(host_gbps(n)? * hosts(n)) },
    Fact { name: "global_gbps", doc: "Gb/s of all links between groups, in one direction", of: global_gbps },
    Fact { name: "top_gbps", doc: "Gb/s of all links up to the highest level", of: top_gbps },
    Fact {
        name: "halves_gbps",
        doc: "Gb/s between the switches of the lower half of ids and the others, in one direction",
        of: halves_gbps,
    },
];

fn count(number: usize) -> Option<f64> {
    Some(number as f64)
}

fn hosts(network: &Network) -> f64 {
    network.structure::<Cluster>().map_or(network.num_terminals() as f64, |cluster| f64::from(cluster.hosts))
}

fn terminals_of_host(network: &Network) -> f64 {
    network.structure::<Cluster>().map_or(1.0, |cluster| f64::from(cluster.host.accelerators))
}

fn nics_of_host(network: &Network) -> Option<f64> {
    count(network.structure::<Cluster>()?.ports.len())
}

fn host_gbps(network: &Network) -> Option<f64> {
    Some(network.injection_gbps()? * terminals_of_host(network))
}

fn class(network: &Network, class: LinkClass) -> Option<f64> {
    count(network.bought().links().iter().filter(|link| link.class == class).count())
}

fn levels(network: &Network) -> Option<f64> {
    let bought = network.bought();
    let levels: Option<Vec<u32>> = bought.routers().map(|router| bought.any_structure().level(router)).collect();
    Some(f64::from(levels?.into_iter().max()? + 1))
}

fn group_size(network: &Network) -> Option<u32> {
    network.bought().any_structure().group_size()
}

fn groups(network: &Network) -> Option<f64> {
    Some(network.bought().num_routers() as f64 / f64::from(group_size(network)?))
}

/// The groups at the ends of each global link.
fn global_pairs(network: &Network) -> Option<Vec<[u32; 2]>> {
    let (bought, size) = (network.bought(), group_size(network)?);
    let between = bought.links().iter().filter(|link| link.class == LinkClass::Global);
    Some(between.map(|link| bought.routers_of(link).map(|router| router.0 / size)).collect())
}

fn pair_links(network: &Network) -> Option<f64> {
    let groups = groups(network)? as u32;
    let mut of_pair = std::collections::BTreeMap::new();
    for [a, b] in global_pairs(network)? {
        *of_pair.entry((a.min(b), a.max(b))).or_insert(0u32) += 1;
    }
    let joined = of_pair.len() as u64 == u64::from(groups) * u64::from(groups.saturating_sub(1)) / 2;
    if joined { of_pair.values().min().copied().map(f64::from) } else { Some(0.0) }
}

/// The rates of the links of the fabric between two routers of which `joins` is true, all together.
fn sum_gbps(network: &Network, joins: impl Fn([RouterId; 2]) -> bool) -> Option<f64> {
    let bought = network.bought();
    let links = bought.links().iter().filter(|link| joins(bought.routers_of(link)));
    bought.has_rates().then(|| links.filter_map(|link| bought.gbps(link.ends[0])).sum())
}

fn link_gbps(network: &Network) -> Option<f64> {
    let bought = network.bought();
    bought.links().iter().filter_map(|link| bought.gbps(link.ends[0])).reduce(f64::max)
}

fn global_gbps(network: &Network) -> Option<f64> {
    let size = group_size(network)?;
    sum_gbps(network, |[a, b]| a.0 / size != b.0 / size)
}

fn top_gbps(network: &Network) -> Option<f64> {
    let (bought, top) = (network.bought(), levels(network)? as u32 - 1);
    sum_gbps(network, |ends| ends.iter().any(|&router| bought.any_structure().level(router) == Some(top)))
}

fn halves_gbps(network: &Network) -> Option<f64> {
    let half = network.bought().num_routers() as u32 / 2;
    sum_gbps(network, |[a, b]| (a.0 < half) != (b.0 < half))
}

/// A figure of a machine, as it was published and as the network has it.
#[derive(Debug, Clone, Serialize)]
pub struct BuiltFigure {
    /// What it is a number of.
    pub fact: &'static str,
    /// The same in words, with the unit.
    pub meaning: &'static str,
    /// What was published of the whole machine.
    pub published: f64,
    /// What this network has.
    pub built: Option<f64>,
    /// Where it was published; `None` of an assumption.
    pub source: Option<String>,
}

/// What is known of the machine that a network is.
#[derive(Debug, Clone, Serialize)]
pub struct MachineFacts {
    /// The machine.
    pub name: String,
    /// Where most of it is published.
    pub source: String,
    /// The spec that it stands for.
    pub stands_for: String,
    /// The routing that it runs.
    pub routing: String,
    /// What sending and receiving costs, where that was published.
    pub endpoint: Option<String>,
    /// True unless it is the whole machine.
    pub is_scaled: bool,
    /// Assumptions without a source.
    pub assumptions: Vec<String>,
    /// Its figures.
    pub figures: Vec<BuiltFigure>,
}

/// What is known of the machine that `network` is, if it is one.
pub fn machine_facts(network: &Network) -> Option<MachineFacts> {
    let spec = network.machine()?;
    let (_, rest) = split_head(spec);
    let Form { machine, sizes, spec } = Form::of(&Params::parse(spec, &machine::FAMILY, rest).ok()?).ok()?;
    let built = |figure: &super::Figure| {
        let fact = FIGURES.iter().find(|fact| fact.name == figure.fact)?;
        let (published, source) = (figure.value, figure.source.clone());
        Some(BuiltFigure { fact: fact.name, meaning: fact.doc, published, built: (fact.of)(network), source })
    };
    Some(MachineFacts {
        figures: machine.figures.iter().filter_map(built).collect(),
        is_scaled: machine.sizes(&[]).ok()? != sizes,
        name: machine.name,
        source: machine.source,
        stands_for: spec,
        routing: machine.routing,
        endpoint: machine.endpoint,
        assumptions: machine.assumptions,
    })
}
