//! The cables of a network as a cabling: routers for vertices.

use super::Cabling;
use crate::network::{Network, TerminalId};

/// The cables of a network. Vertices are routers; with `nodes`, terminals follow, this many to a cabinet behind the
/// routers' ones, and their cables follow the links.
pub fn cables(base: &Network, cabinets: &[u32], nodes: Option<u32>) -> Cabling {
    let mut cables: Vec<[(u32, u32); 2]> =
        base.links().iter().map(|link| link.ends.map(|port| (base.ports()[port.index()].router.0, port.0))).collect();
    let mut cabinets = cabinets.to_vec();
    if let Some(size) = nodes {
        let first = cabinets.iter().max().map_or(0, |&last| last + 1);
        let routers = base.num_routers() as u32;
        for terminal in 0..base.num_terminals() as u32 {
            let port = base.terminal_port(TerminalId(terminal));
            cabinets.push(first + terminal / size);
            cables.push([(base.ports()[port.index()].router.0, port.0), (routers + terminal, 0)]);
        }
    }
    Cabling::new(cabinets, &cables)
}

/// The cables between the routers of a network, in no cabinets.
pub fn router_cables(network: &Network) -> Cabling {
    cables(network, &vec![0; network.num_routers()], None)
}
