//! Where outputs lead, for routings that follow whole paths.

use crate::network::{Network, PortId, RouterId};

/// Where outputs lead.
pub struct ChannelEnds {
    port_base: Vec<u32>,
    /// The router behind each port of the network; its own for a terminal's.
    peer: Vec<u32>,
}

impl ChannelEnds {
    pub(super) fn new(network: &Network) -> Self {
        let mut peer: Vec<u32> = network.ports().iter().map(|port| port.router.0).collect();
        for router in network.routers() {
            for (port, to) in network.neighbors(router) {
                peer[(network.port_base(router) + port) as usize] = to.0;
            }
        }
        Self { port_base: network.routers().map(|router| network.port_base(router)).collect(), peer }
    }

    /// The port of the network that a router's own output is.
    #[inline(always)]
    pub(super) fn output(&self, at: RouterId, port: u16) -> PortId {
        PortId(self.port_base[at.index()] + u32::from(port))
    }

    /// The inverse: which of a router's own outputs a port is.
    #[inline(always)]
    pub(super) fn local(&self, at: RouterId, port: PortId) -> u16 {
        (port.0 - self.port_base[at.index()]) as u16
    }

    /// The router behind an output.
    #[inline(always)]
    pub(super) fn behind(&self, port: PortId) -> RouterId {
        RouterId(self.peer[port.index()])
    }
}
