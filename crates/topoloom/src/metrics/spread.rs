//! Loads of channels where packets take any output on a shortest path, all equally likely.
//!
//! Towards one target, packets at a router are then alike whatever they have done before, and a router needs one number: a
//! breadth-first search from the target visits routers in the order of their distance, and backwards each passes on all
//! that it has. This needs neither tables nor states of packets.

use crate::distances::search;
use crate::graph::Graph;
use crate::network::{Network, RouterId};

/// The links of each router.
pub(super) struct Spread {
    graph: Graph,
    /// Where the links of each router begin, and behind them their number.
    first: Vec<u32>,
    /// The router behind each link, and the port of the network that sends into it.
    peers: Vec<u32>,
    ports: Vec<u32>,
    most: usize,
}

impl Spread {
    pub fn new(network: &Network) -> Self {
        let (mut first, mut peers, mut ports) = (vec![0], Vec::new(), Vec::new());
        for router in network.routers() {
            let base = network.port_base(router);
            for (port, peer) in network.neighbors(router) {
                peers.push(peer.0);
                ports.push(base + port);
            }
            first.push(peers.len() as u32);
        }
        let most = first.windows(2).map(|ends| (ends[1] - ends[0]) as usize).max().unwrap_or(0);
        Self { graph: Graph::new(network), first, peers, ports, most }
    }

    /// Adds to `loads`, by port of the network, what channels carry if all routers send `flits` to `target`. Fails with a
    /// router that sends and has no path.
    pub fn add(&self, target: RouterId, flits: &mut [f64], loads: &mut [f64]) -> Result<(), RouterId> {
        let routers = self.graph.len();
        let (mut distance, mut order) = (vec![u32::MAX; routers], Vec::with_capacity(routers));
        search(&self.graph, target.0, &mut vec![false; routers], |hops, router| {
            distance[router as usize] = hops as u32;
            order.push(router);
        });
        flits[target.index()] = 0.0;
        let mut closer = vec![0; self.most + 1];
        for &at in order[1..].iter().rev() {
            let all = std::mem::take(&mut flits[at as usize]);
            if all == 0.0 {
                continue;
            }
            let (next, mut count) = (distance[at as usize] - 1, 0);
            for link in self.first[at as usize]..self.first[at as usize + 1] {
                // Which links lead closer is hard to predict, hence no branch.
                closer[count] = link;
                count += usize::from(distance[self.peers[link as usize] as usize] == next);
            }
            let each = all / count as f64;
            for &link in &closer[..count] {
                loads[self.ports[link as usize] as usize] += each;
                flits[self.peers[link as usize] as usize] += each;
            }
        }
        flits[target.index()] = 0.0;
        match flits.iter().position(|&left| left != 0.0) {
            Some(router) => Err(RouterId(router as u32)),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology;

    /// Sends flits from router to router, each hop by itself, until they are at the target.
    fn send(network: &Network, at: RouterId, target: RouterId, flits: f64, hops: &[Vec<u16>], loads: &mut [f64]) {
        let left = |router: RouterId| hops[router.index()][target.index()];
        let next: Vec<_> = network.neighbors(at).filter(|&(_, peer)| left(peer) < left(at)).collect();
        for &(port, peer) in &next {
            let each = flits / next.len() as f64;
            loads[(network.port_base(at) + port) as usize] += each;
            if peer != target {
                send(network, peer, target, each, hops, loads);
            }
        }
    }

    #[test]
    fn channels_carry_what_packets_carry_that_are_sent_one_by_one() {
        for spec in [
            "hyperx:4x3,trunk=2",
            "torus:4x3",
            "mesh:3x4",
            "slimfly:q=5,p=2",
            "ring:12,degree=4",
            "fattree:k=4,levels=3",
        ] {
            let network = topology::build(spec).expect(spec);
            let (spread, hops) = (Spread::new(&network), crate::distances::matrix(&network));
            let (mut found, mut expected) = (vec![0.0; network.ports().len()], vec![0.0; network.ports().len()]);
            for target in network.routers() {
                let demand = |src: RouterId| f64::from((src.0 * 7 + target.0 * 3) % 5);
                let mut flits: Vec<f64> = network.routers().map(demand).collect();
                spread.add(target, &mut flits, &mut found).expect("one piece");
                for src in network.routers().filter(|&src| src != target) {
                    send(&network, src, target, demand(src), &hops, &mut expected);
                }
            }
            assert!(expected.iter().any(|&load| load > 0.0));
            for (found, expected) in found.iter().zip(&expected) {
                assert!((found - expected).abs() < 1e-9, "{spec}: {found} for {expected}");
            }
        }
    }

    #[test]
    fn a_router_without_a_path_is_reported() {
        let network = topology::build("faulty:routers=12%,seed=1(torus:3x3)").expect("a network that fails in part");
        let failed = network.routers().find(|&router| !network.is_up(router)).expect("one fails");
        let target = network.up_routers().next().expect("others stay");
        let (spread, mut loads) = (Spread::new(&network), vec![0.0; network.ports().len()]);
        let sends =
            |from: &dyn Fn(RouterId) -> bool| network.routers().map(|at| f64::from(u8::from(from(at)))).collect();
        let mut all: Vec<f64> = sends(&|_| true);
        assert_eq!(spread.add(target, &mut all, &mut loads), Err(failed));
        let mut those_left: Vec<f64> = sends(&|at| at != failed);
        assert_eq!(spread.add(target, &mut those_left, &mut loads), Ok(()));
    }
}
