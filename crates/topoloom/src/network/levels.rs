//! Which parts of a network are near each other: hosts, switches, groups, parts of a tree.

use super::{Network, RouterId, Structure};

/// A level of a network: parts of it, each of which hangs together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Level {
    /// What one of its parts is called: `host`, `switch`, `level1` and so on, `pod` or `group`.
    pub name: String,
    /// The part that each router is in; [`NO_PART`] of routers above the level.
    pub part_of: Vec<u32>,
}

/// Of a router that is in no part of a level.
pub const NO_PART: u32 = u32::MAX;

/// The levels of a network from the lowest up, without the whole network. The first are hosts, if any; then the
/// terminals of one switch, or of switches that share hosts. In a tree, the connected parts up to each level but the
/// last follow, of which the largest are pods; in other networks, the groups of routers.
pub fn levels(network: &Network) -> Vec<Level> {
    let fabric = Fabric::of(network);
    let named = |name: &str, part_of: Vec<u32>| Level { name: name.to_owned(), part_of };
    let mut found = Vec::new();
    if fabric.first > 0 {
        let inside = |a: RouterId, b: RouterId| fabric.is_host(a) && fabric.is_host(b);
        found.push(named("host", parts(network, &|router| fabric.is_host(router), &inside)));
    }
    let at_hosts = |a: RouterId, b: RouterId| fabric.is_host(a) || fabric.is_host(b);
    found.push(named("switch", parts(network, &|_| true, &at_hosts)));
    if let Some(level) = fabric.each(|structure, router| structure.level(router)) {
        let top = level.iter().copied().max().unwrap_or(0);
        for below in 1..top {
            let low = |router: RouterId| fabric.is_host(router) || level[fabric.place(router)] <= below;
            let name = if below + 1 == top { "pod".to_owned() } else { format!("level{below}") };
            found.push(named(&name, parts(network, &low, &|a, b| low(a) && low(b))));
        }
    } else if let Some(group) = fabric.each(|structure, router| structure.group_of(router)) {
        let of = |router: RouterId| group[fabric.place(router)];
        let near = |a, b| fabric.is_host(a) || fabric.is_host(b) || of(a) == of(b);
        let part_of = match fabric.first {
            0 => group.clone(),
            _ => parts(network, &|_| true, &near),
        };
        found.push(named("group", part_of));
    }
    found
}

/// The routers that are no parts of hosts, and what is known of them.
struct Fabric<'a> {
    structure: &'a dyn Structure,
    routers: u32,
    /// The first of them.
    first: u32,
}

impl<'a> Fabric<'a> {
    fn of(network: &'a Network) -> Self {
        let structure = network.any_structure();
        match structure.bought() {
            None => Self { structure, routers: network.num_routers() as u32, first: 0 },
            Some(bought) => {
                let routers = bought.num_routers() as u32;
                Self { structure: bought.any_structure(), routers, first: network.num_routers() as u32 - routers }
            }
        }
    }

    fn is_host(&self, router: RouterId) -> bool {
        router.0 < self.first
    }

    fn place(&self, router: RouterId) -> usize {
        (router.0 - self.first) as usize
    }

    /// What is known of each router, if it is known of all.
    fn each(&self, known: impl Fn(&dyn Structure, RouterId) -> Option<u32>) -> Option<Vec<u32>> {
        (0..self.routers).map(|router| known(self.structure, RouterId(router))).collect()
    }
}

/// The part of each router that `keeps` keeps, where what the links that `joins` names join hangs together.
fn parts(network: &Network, keeps: &dyn Fn(RouterId) -> bool, joins: &dyn Fn(RouterId, RouterId) -> bool) -> Vec<u32> {
    let mut part = vec![NO_PART; network.num_routers()];
    let mut count = 0;
    for router in network.routers().filter(|router| keeps(*router)) {
        if part[router.index()] != NO_PART {
            continue;
        }
        let mut open = vec![router];
        part[router.index()] = count;
        while let Some(at) = open.pop() {
            for (_, peer) in network.neighbors(at).filter(|&(_, peer)| joins(at, peer)) {
                if part[peer.index()] == NO_PART {
                    part[peer.index()] = count;
                    open.push(peer);
                }
            }
        }
        count += 1;
    }
    part
}
