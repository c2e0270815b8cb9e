//! The graph of routers, with parallel links merged into weights.

use crate::network::{Network, PortId, RouterId};

/// Adjacency lists of the routers in one array; the neighbours of a router ascend.
pub(crate) struct Graph {
    offsets: Vec<u32>,
    neighbors: Vec<u32>,
    weights: Vec<u32>,
}

impl Graph {
    pub fn new(network: &Network) -> Self {
        Self::gather(network.num_routers(), |router, peers| {
            peers.extend(network.neighbors(RouterId(router)).map(|(_, peer)| peer.0));
        })
    }

    /// The same with what each link weighs, by the port at its one end, in the place of 1.
    pub fn weighted(network: &Network, weight: impl Fn(PortId) -> u32) -> Self {
        let mut graph = Self::new(network);
        for router in network.routers() {
            let place = graph.range(router.0);
            let (neighbors, weights) = (&graph.neighbors[place.clone()], &mut graph.weights[place]);
            weights.fill(0);
            for (port, peer) in network.neighbors(router) {
                let found = neighbors.binary_search(&peer.0).expect("every neighbour is listed");
                weights[found] += weight(PortId(network.port_base(router) + port));
            }
        }
        graph
    }

    /// The graph of `routers` routers whose neighbours `list` appends, one for each link, in any order.
    pub fn gather(routers: usize, list: impl Fn(u32, &mut Vec<u32>)) -> Self {
        let mut graph = Self { offsets: vec![0], neighbors: Vec::new(), weights: Vec::new() };
        let mut peers = Vec::new();
        for router in 0..routers as u32 {
            peers.clear();
            list(router, &mut peers);
            peers.sort_unstable();
            for parallel in peers.chunk_by(|a, b| a == b) {
                graph.neighbors.push(parallel[0]);
                graph.weights.push(parallel.len() as u32);
            }
            graph.offsets.push(graph.neighbors.len() as u32);
        }
        graph
    }

    /// The number of routers.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    fn range(&self, router: u32) -> std::ops::Range<usize> {
        self.offsets[router as usize] as usize..self.offsets[router as usize + 1] as usize
    }

    #[inline]
    pub fn neighbors(&self, router: u32) -> &[u32] {
        &self.neighbors[self.range(router)]
    }

    /// (neighbour, parallel links) of `router`.
    #[inline]
    pub fn links(&self, router: u32) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.range(router).map(|place| (self.neighbors[place], self.weights[place]))
    }

    /// The number of links of `router`.
    pub fn degree(&self, router: u32) -> u32 {
        self.weights[self.range(router)].iter().sum()
    }

    /// Where the neighbours of each router begin, the neighbours, and the links to each.
    pub fn into_parts(self) -> (Vec<u32>, Vec<u32>, Vec<u32>) {
        (self.offsets, self.neighbors, self.weights)
    }
}

/// A graph in METIS's form: `xadj[r]..xadj[r+1]` holds the neighbours of router r, and the number of links to each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MetisGraph {
    /// Where the neighbours of each router begin.
    pub xadj: Vec<u32>,
    /// Neighbours.
    pub adjncy: Vec<u32>,
    /// Parallel links to each neighbour.
    pub adjwgt: Vec<u32>,
    /// Terminals of each router.
    pub vwgt: Vec<u32>,
}

/// The graph for METIS: parallel links merged into weights, a router weighted with its terminals.
pub fn metis_graph(network: &Network) -> MetisGraph {
    let (xadj, adjncy, adjwgt) = Graph::new(network).into_parts();
    MetisGraph { xadj, adjncy, adjwgt, vwgt: terminals_by_router(network) }
}

/// The number of terminals of each router; none of a router that has failed.
pub(crate) fn terminals_by_router(network: &Network) -> Vec<u32> {
    let terminals = |router: RouterId| network.terminals_of(router).count() as u32;
    network.routers().map(|router| if network.is_up(router) { terminals(router) } else { 0 }).collect()
}
