//! How much of what enters a level of a network can leave it upwards.

use serde::Serialize;

use crate::network::{LinkClass, Network, Peer, PortId, RouterId, TerminalId};

/// What the routers of a level carry below and above, all together. The names are keys of the JSON.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Taper {
    /// The level: `0` for the leaves of a tree, `1` above them, …; `router` and `group` where a network is no tree, and `host`
    /// before them.
    pub level: String,
    /// What the links below it carry in one direction, in Gb/s: those of terminals at the lowest level.
    pub down_gbps: f64,
    /// What the links above it carry in one direction, in Gb/s.
    pub up_gbps: f64,
    /// The first over the second: 1 without a taper; `None` where nothing leads up.
    pub taper: Option<f64>,
}

impl Taper {
    fn new(level: String, [down_gbps, up_gbps]: [f64; 2]) -> Self {
        Self { level, down_gbps, up_gbps, taper: (up_gbps > 0.0).then(|| down_gbps / up_gbps) }
    }
}

/// The levels of a network from the lowest up: those of a tree but the last; of other networks the routers, and the groups
/// that they come in. `None` where links have no rates.
pub fn tapers(network: &Network) -> Option<Vec<Taper>> {
    if let Some(bought) = network.any_structure().bought() {
        return Some(of_hosts(network).into_iter().chain(tapers(bought)?).collect());
    }
    network.has_rates().then(|| match levels(network) {
        Some(levels) => of_tree(network, &levels),
        None => of_groups(network),
    })
}

/// What accelerators send within their hosts, and what interfaces send out of them.
fn of_hosts(network: &Network) -> Option<Taper> {
    let mut sums = [0.0; 2];
    for terminal in (0..network.num_terminals() as u32).map(TerminalId) {
        let own = network.router_of(terminal);
        for (port, at) in (network.port_base(own)..).zip(network.ports_of(own)) {
            let inside = at.class == LinkClass::Internal;
            sums[0] += network.gbps(PortId(port)).filter(|_| inside).unwrap_or(0.0);
        }
    }
    let nics = network.links().iter().filter(|link| link.class == LinkClass::Nic);
    sums[1] = nics.filter_map(|link| network.gbps(link.ends[0])).sum();
    (sums[0] > 0.0).then(|| Taper::new("host".to_owned(), sums))
}

/// The level of each router of a tree.
fn levels(network: &Network) -> Option<Vec<u32>> {
    let levels: Option<Vec<u32>> = network.routers().map(|router| network.any_structure().level(router)).collect();
    levels.filter(|levels| levels.iter().any(|&level| level > 0))
}

/// The rate of a port, and the router at its other end; none of a terminal.
fn links(network: &Network, router: RouterId) -> impl Iterator<Item = (f64, Option<RouterId>)> + '_ {
    (network.port_base(router)..).zip(network.ports_of(router)).map(|(port, at)| {
        let peer = match at.peer {
            Peer::Port(peer) => Some(network.ports()[peer.index()].router),
            Peer::Terminal(_) => None,
        };
        (network.gbps(PortId(port)).unwrap_or(0.0), peer)
    })
}

fn of_tree(network: &Network, levels: &[u32]) -> Vec<Taper> {
    let top = levels.iter().copied().max().unwrap_or(0);
    let mut sums = vec![[0.0; 2]; top as usize];
    for router in network.up_routers().filter(|router| levels[router.index()] < top) {
        let own = levels[router.index()];
        for (gbps, peer) in links(network, router) {
            let up = peer.is_some_and(|peer| levels[peer.index()] > own);
            sums[own as usize][usize::from(up)] += gbps;
        }
    }
    (0..).zip(sums).map(|(level, sums): (u32, _)| Taper::new(level.to_string(), sums)).collect()
}

fn of_groups(network: &Network) -> Vec<Taper> {
    let (mut of_routers, mut of_groups) = ([0.0; 2], [0.0; 2]);
    let group = |router| network.any_structure().group_size().and_then(|_| network.any_structure().group_of(router));
    let mut grouped = false;
    for router in network.up_routers() {
        for (gbps, peer) in links(network, router) {
            of_routers[usize::from(peer.is_some())] += gbps;
            let (own, other) = (group(router), peer.map(group));
            grouped |= own.is_some();
            if other.is_none_or(|other| other != own) {
                of_groups[usize::from(peer.is_some())] += gbps;
            }
        }
    }
    let groups = grouped.then(|| Taper::new("group".to_owned(), of_groups));
    [Taper::new("router".to_owned(), of_routers)].into_iter().chain(groups).collect()
}

#[cfg(test)]
mod tests {
    use super::tapers;
    use crate::topology::build;

    #[test]
    fn levels_have_what_their_links_carry() {
        for (spec, expected) in [
            ("clos:radix=8,levels=3,rate=400G", vec![("0", 51_200.0, 51_200.0), ("1", 51_200.0, 51_200.0)]),
            (
                "clos:radix=8,levels=3,taper=2,rate=400G,rate.terminal=200G",
                vec![("0", 25_600.0, 25_600.0), ("1", 25_600.0, 25_600.0)],
            ),
            ("xgft:down=4x4x2,up=2x4,rate=100G", vec![("0", 3_200.0, 1_600.0), ("1", 1_600.0, 1_600.0)]),
            // 9 groups of 4 routers: 2 terminals, 3 local and 2 global links each.
            (
                "dragonfly:a=4,h=2,p=2,rate=400G,rate.global=200G",
                vec![("router", 28_800.0, 57_600.0), ("group", 28_800.0, 14_400.0)],
            ),
            ("torus:4x4,rate=10G", vec![("router", 160.0, 640.0)]),
        ] {
            let found = tapers(&build(spec).expect(spec)).expect("rates");
            let found: Vec<_> =
                found.iter().map(|taper| (taper.level.as_str(), taper.down_gbps, taper.up_gbps)).collect();
            assert_eq!(found, expected, "{spec}");
        }
        assert_eq!(tapers(&build("torus:4x4").expect("small")), None);
    }
}
