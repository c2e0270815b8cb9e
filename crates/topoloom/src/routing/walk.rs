//! The path of one packet from terminal to terminal, without a simulation.

use super::{AnyRouting, Idle, Routing, View};
use crate::error::{Error, Result};
use crate::network::{Network, Peer, PortId, TerminalId};
use crate::rng::Rng;

/// A path with more hops has no end.
const MOST_HOPS: usize = 1 << 16;

/// What a packet sees on its path.
pub trait PathView: View {
    /// The packet is at a router whose first port this is, by that local port of it.
    fn arrive(&mut self, first_port: u32, arrived_by: u32);
}

/// Appends the ports that a packet leaves routers by on its path between two terminals, that to the terminal aside.
///
/// # Errors
/// [`Error::Routing`] if the routing goes round and round, as custom tables may.
pub fn walk<V: PathView>(
    network: &Network,
    routing: &AnyRouting,
    [source, target]: [TerminalId; 2],
    view: &mut V,
    rng: &mut Rng,
    path: &mut Vec<u32>,
) -> Result<()> {
    let (mut at, arrived_by) = network.local_port(network.terminal_port(source));
    let end = network.router_of(target);
    if at == end {
        return Ok(());
    }
    let (first, mut base) = (path.len(), network.port_base(at));
    view.arrive(base, arrived_by);
    let mut state = routing.start(at, end, view, rng);
    while at != end {
        let hop = routing.choose(at, state, end, view, rng);
        let port = base + u32::from(hop.port);
        path.push(port);
        let Peer::Port(peer) = network.ports()[port as usize].peer else {
            unreachable!("a hop between routers leads to a router")
        };
        let arrived_by;
        ((at, arrived_by), state) = (network.local_port(peer), hop.next);
        base = network.port_base(at);
        view.arrive(base, arrived_by);
        if path.len() > first + MOST_HOPS {
            let spec = network.spec();
            return Err(Error::Routing(format!("{spec}: a path from terminal {source} to {target} never ends")));
        }
    }
    Ok(())
}

/// The same in an idle network.
///
/// # Errors
/// As [`walk`].
pub fn idle_path(network: &Network, routing: &AnyRouting, ends: [TerminalId; 2], rng: &mut Rng) -> Result<Vec<u32>> {
    let (_, leaves_by) = network.local_port(network.terminal_port(ends[1]));
    let (mut view, mut path) = (IdlePath { arrived_by: 0, leaves_by }, Vec::new());
    walk(network, routing, ends, &mut view, rng, &mut path)?;
    Ok(path)
}

/// What a packet sees between two terminals of an idle network.
struct IdlePath {
    arrived_by: u32,
    leaves_by: u32,
}

impl PathView for IdlePath {
    fn arrive(&mut self, _first_port: u32, arrived_by: u32) {
        self.arrived_by = arrived_by;
    }
}

impl View for IdlePath {
    fn occupancy(&self, port: u32) -> u32 {
        Idle.occupancy(port)
    }

    fn published(&self, port: PortId) -> u32 {
        Idle.published(port)
    }

    fn interval(&self) -> u32 {
        Idle.interval()
    }

    fn free_vcs(&self, port: u32, class: u8) -> u32 {
        Idle.free_vcs(port, class)
    }

    fn buffer(&self, class: u8) -> u32 {
        Idle.buffer(class)
    }

    fn arrived_by(&self) -> u32 {
        self.arrived_by
    }

    fn leaves_by(&self) -> u32 {
        self.leaves_by
    }
}
