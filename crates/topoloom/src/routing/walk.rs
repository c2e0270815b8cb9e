//! The path of one packet from terminal to terminal, without a simulation.

use super::{AnyRouting, DimensionOrder, Idle, Min, Routing, View};
use crate::error::{Error, Result};
use crate::memory::on_large_pages;
use crate::network::{Network, Peer, PortId, RouterId, TerminalId};
use crate::rng::Rng;

/// A path with more hops has no end.
const MOST_HOPS: usize = 1 << 16;

/// What a packet sees on its path.
pub trait PathView: View {
    /// The packet is at a router whose first port this is, by that local port of it.
    fn arrive(&mut self, first_port: u32, arrived_by: u32);
}

/// Where links lead: one look at memory a hop.
pub struct Links {
    /// By port the other end of its link; of a terminal's port, nothing. Empty if each is found when it is asked for.
    behind: Vec<LinkEnd>,
}

/// The end of a link.
#[derive(Clone, Copy)]
struct LinkEnd {
    router: RouterId,
    /// The router's first port, and the position among its ports of that at the end.
    base: u32,
    local: u32,
}

impl Links {
    /// Those of a network.
    pub fn new(network: &Network) -> Self {
        let mut behind = on_large_pages(network.ports().len());
        behind.extend((0..network.ports().len() as u32).map(|port| LinkEnd::of(network, port)));
        Self { behind }
    }

    /// The same for a few paths: nothing is kept.
    pub fn for_few() -> Self {
        Self { behind: Vec::new() }
    }

    #[inline]
    fn behind(&self, network: &Network, port: u32) -> LinkEnd {
        self.behind.get(port as usize).copied().unwrap_or_else(|| LinkEnd::of(network, port))
    }
}

impl LinkEnd {
    fn of(network: &Network, port: u32) -> Self {
        let port = &network.ports()[port as usize];
        match port.peer {
            Peer::Port(peer) => {
                let (router, local) = network.local_port(peer);
                Self { router, base: network.port_base(router), local }
            }
            Peer::Terminal(_) => Self { router: port.router, base: u32::MAX, local: u32::MAX },
        }
    }
}

/// Appends the ports that a packet leaves routers by on its path between two terminals, that to the terminal aside.
///
/// # Errors
/// [`Error::Routing`] if the routing has a cycle, as custom tables may.
pub fn walk<V: PathView>(
    network: &Network,
    links: &Links,
    routing: &AnyRouting,
    ends: [TerminalId; 2],
    view: &mut V,
    rng: &mut Rng,
    path: &mut Vec<u32>,
) -> Result<()> {
    walk_over(network, |port| links.behind(network, port), routing, ends, view, rng, path)
}

/// The same over links that lead to these ends.
#[inline(always)]
fn walk_over<V: PathView>(
    network: &Network,
    behind: impl Fn(u32) -> LinkEnd,
    routing: &AnyRouting,
    [source, target]: [TerminalId; 2],
    view: &mut V,
    rng: &mut Rng,
    path: &mut Vec<u32>,
) -> Result<()> {
    let [from, to] = [source, target].map(|terminal| network.router_of(terminal));
    if let Some(Min(order)) = routing.downcast_ref::<Min<DimensionOrder<true>>>() {
        order.path(network, from, to, rng, path);
        return Ok(());
    }
    if let Some(Min(order)) = routing.downcast_ref::<Min<DimensionOrder<false>>>() {
        order.path(network, from, to, rng, path);
        return Ok(());
    }
    walk_by_hops(network, behind, routing, [source, target], view, rng, path)
}

/// The same, as the routing decides hop by hop.
fn walk_by_hops<V: PathView>(
    network: &Network,
    behind: impl Fn(u32) -> LinkEnd,
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
        let there = behind(port);
        debug_assert!(there.local != u32::MAX, "a hop between routers leads to a router");
        (at, base, state) = (there.router, there.base, hop.next);
        view.arrive(base, there.local);
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
    walk(network, &Links::for_few(), routing, ends, &mut view, rng, &mut path)?;
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
    fn copy(&self) -> Self {
        Self { ..*self }
    }

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{routing, topology};

    #[test]
    fn paths_line_by_line_are_those_hop_by_hop() {
        for spec in ["mesh:3x4", "mesh:5", "torus:4x3", "torus:2x5x4", "torus:6x2", "torus:3x2x2x4x2"] {
            let network = topology::build(spec).expect(spec);
            let routing = routing::build(&network, "dor").expect(spec);
            let links = Links::new(&network);
            for (pair, ends) in (0..network.num_terminals() as u32)
                .flat_map(|a| (0..network.num_terminals() as u32).map(move |b| [a, b].map(TerminalId)))
                .enumerate()
            {
                let (mut line, mut hop) = (Rng::stream(1, pair as u64), Rng::stream(1, pair as u64));
                let (mut by_line, mut by_hop) = (Vec::new(), Vec::new());
                let mut view = IdlePath { arrived_by: 0, leaves_by: 0 };
                let behind = |port| links.behind[port as usize];
                walk(&network, &links, &routing, ends, &mut view, &mut line, &mut by_line).expect("it ends");
                walk_by_hops(&network, behind, &routing, ends, &mut view, &mut hop, &mut by_hop).expect("it ends");
                assert_eq!(by_line, by_hop, "{spec} {ends:?}");
                assert_eq!(line.bits(), hop.bits(), "{spec} {ends:?} draw alike");
            }
        }
    }
}
