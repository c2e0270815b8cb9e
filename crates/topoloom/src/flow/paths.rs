//! The channels that a flow takes: what its routing decides in an idle network, or by queues that are drawn.
//!
//! A channel is one direction of a link, with the id of the port that sends into it: of a router's port to another router,
//! or to a terminal (consumption). What terminals send into (injection) has the ids after these, by terminal. Only
//! terminals whose capacity has a limit have channels.

use super::FlowConfig;
use super::lines::Lines;
use crate::error::Result;
use crate::memory::prefetch;
use crate::network::{Network, Peer, Port, PortId, TerminalId};
use crate::rng::{Rng, mix};
use crate::routing::{AnyRouting, DimensionOrder, Idle, Links, Min, PathView, Routing, View, walk};

/// Walks a routing from terminal to terminal.
pub struct Paths<'a> {
    network: &'a Network,
    links: Links,
    routing: &'a AnyRouting,
    injection: bool,
    consumption: bool,
    seed: u64,
    config: FlowConfig,
    /// True if messages take time for links.
    delays: bool,
    /// True if terminals have links of their own.
    terminal_links: bool,
}

/// The queues that a packet sees on its path.
#[derive(Debug, Clone, Copy)]
pub(super) enum Queues {
    /// All are empty.
    Idle,
    /// Each output's is drawn, short or long; that of the channel `avoided` is the longest.
    Drawn {
        /// Of the draws.
        seed: u64,
        /// A channel.
        avoided: u32,
    },
}

/// Flits in a buffer where queues are drawn, below those of a long queue.
const BUFFER: u32 = 64;
/// Short queues have fewer flits than this.
const SHORT: u32 = 4;
/// Flits in the queue of the channel that is avoided: more than any hop count times a queue that is drawn.
const AVOIDED: u32 = 1 << 16;

impl Queues {
    fn of(self, channel: u32) -> u32 {
        match self {
            Self::Idle => 0,
            Self::Drawn { avoided, .. } if channel == avoided => AVOIDED,
            Self::Drawn { seed, .. } => {
                let mut rng = Rng::stream(seed, u64::from(channel));
                if rng.coin() { rng.below(SHORT) } else { BUFFER + rng.below(BUFFER) }
            }
        }
    }
}

/// What a packet between two terminals sees at a router.
struct PacketView {
    arrived_by: u32,
    leaves_by: u32,
    /// The router's first port.
    base: u32,
    queues: Queues,
}

impl PathView for PacketView {
    fn arrive(&mut self, first_port: u32, arrived_by: u32) {
        (self.base, self.arrived_by) = (first_port, arrived_by);
    }
}

impl View for PacketView {
    fn copy(&self) -> Self {
        Self { ..*self }
    }

    fn occupancy(&self, port: u32) -> u32 {
        self.queues.of(self.base + port)
    }

    fn published(&self, port: PortId) -> u32 {
        self.queues.of(port.0)
    }

    /// Not drawn: a path that is taken if others are congested less is offered.
    fn published_mean(&self, _set: PortId, _outputs: &mut dyn Iterator<Item = PortId>) -> u32 {
        0
    }

    fn interval(&self) -> u32 {
        match self.queues {
            Queues::Idle => 0,
            Queues::Drawn { seed, .. } => seed as u32 >> 1,
        }
    }

    fn free_vcs(&self, _port: u32, _class: u8) -> u32 {
        1
    }

    fn buffer(&self, class: u8) -> u32 {
        match self.queues {
            Queues::Idle => Idle.buffer(class),
            Queues::Drawn { .. } => BUFFER,
        }
    }

    fn arrived_by(&self) -> u32 {
        self.arrived_by
    }

    fn leaves_by(&self) -> u32 {
        self.leaves_by
    }
}

impl<'a> Paths<'a> {
    /// Paths by `routing`, with the channels of terminals that `config` limits.
    pub fn new(network: &'a Network, routing: &'a AnyRouting, config: &FlowConfig) -> Self {
        // Along lines no link is looked up.
        let by_lines = routing.downcast_ref::<Min<DimensionOrder<true>>>().is_some()
            || routing.downcast_ref::<Min<DimensionOrder<false>>>().is_some();
        let links = if by_lines { Links::for_few() } else { Links::new(network) };
        Self::over(links, network, routing, config)
    }

    fn over(links: Links, network: &'a Network, routing: &'a AnyRouting, config: &FlowConfig) -> Self {
        let [injection, consumption] = config.limits(network).map(|limit| limit.is_some());
        let delays = config.latency_s > 0.0 || network.has_delays();
        let (config, terminal_links) = (config.clone(), network.has_terminal_links());
        Self { network, links, routing, injection, consumption, seed: config.seed, config, delays, terminal_links }
    }

    /// The same for a few paths.
    pub(super) fn few(network: &'a Network, routing: &'a AnyRouting, config: &FlowConfig) -> Self {
        Self::over(Links::for_few(), network, routing, config)
    }

    /// Seconds that the last byte of a message takes from `source` to `target` once it has been sent, over the links of
    /// `path` between routers and those of the two terminals.
    pub(super) fn delay_s(&self, [source, target]: [TerminalId; 2], path: impl Iterator<Item = u32>) -> f64 {
        if !self.delays {
            return 0.0;
        }
        let ports = self.network.ports();
        let between = |channel: &u32| matches!(ports.get(*channel as usize), Some(Port { peer: Peer::Port(_), .. }));
        let links = path.filter(between);
        if !self.network.has_delays() {
            return self.config.latency_s * (links.count() + if self.terminal_links { 2 } else { 0 }) as f64;
        }
        let delay = |port: PortId| self.config.delay_of(self.network, port);
        let between: f64 = links.map(|channel| delay(PortId(channel))).sum();
        between + self.terminal_delay_s([source, target])
    }

    /// Seconds of the links of two terminals.
    pub(super) fn terminal_delay_s(&self, ends: [TerminalId; 2]) -> f64 {
        let delay = |end| self.config.delay_of(self.network, self.network.terminal_port(end));
        if self.terminal_links { ends.map(delay).iter().sum() } else { 0.0 }
    }

    /// Seconds of the links of a path between two terminals in an idle network.
    ///
    /// # Errors
    /// As [`Paths::walk`].
    pub(super) fn idle_delay_s(&self, ends: [TerminalId; 2]) -> Result<f64> {
        let mut path = Vec::new();
        self.walk(ends[0], ends[1], &mut self.stream(ends[0], ends[1]), &mut path)?;
        Ok(self.delay_s(ends, path.iter().copied()))
    }

    /// True if messages take time for links.
    pub(super) fn have_delays(&self) -> bool {
        self.delays
    }

    /// The capacities of all channels in bytes per second.
    pub fn capacities<'n>(network: &'n Network, config: &'n FlowConfig) -> impl Iterator<Item = f64> + 'n {
        let [injection, consumption] = config.limits(network);
        let ports = (0..).map(PortId).zip(network.ports()).map(move |(port, at)| match (at.peer, consumption) {
            (Peer::Port(_), _) => config.rate_of(network, port),
            (Peer::Terminal(_), Some(links)) => (links * config.rate_of(network, port)).min(config.byte_rate()),
            (Peer::Terminal(_), None) => f64::INFINITY,
        });
        let terminals = (0..network.num_terminals() as u32).map(|id| network.terminal_port(TerminalId(id)));
        let sent = move |links: f64| {
            terminals.clone().map(move |port| (links * config.rate_of(network, port)).min(config.byte_rate()))
        };
        ports.chain(injection.into_iter().flat_map(sent))
    }

    /// How many channels there are.
    pub(super) fn num_channels(network: &Network, config: &FlowConfig) -> usize {
        let [injection, _] = config.limits(network);
        network.ports().len() + injection.map_or(0, |_| network.num_terminals())
    }

    /// The random stream that the paths of a pair are drawn from.
    pub fn stream(&self, source: TerminalId, target: TerminalId) -> Rng {
        Rng::stream(self.seed, mix(u64::from(source.0) << 32 | u64::from(target.0)))
    }

    /// The random stream that part `part` of a message decides from, again and again.
    pub(super) fn stream_of_part(&self, message: u32, part: u32) -> Rng {
        Rng::stream(!self.seed, mix(u64::from(message) << 32 | u64::from(part)))
    }

    /// True if the routing decides by congestion.
    pub(super) fn adapt(&self) -> bool {
        !self.routing.oblivious()
    }

    /// The channels of a path before those between routers.
    pub(super) fn before(&self) -> usize {
        usize::from(self.injection)
    }

    /// Asks for the memory that a path between two terminals begins with.
    pub(super) fn ask_for(&self, ends: [TerminalId; 2]) {
        for end in ends {
            prefetch(self.network.ports(), self.network.terminal_port(end).index());
        }
    }

    /// Appends the channels of a path in an idle network, and returns how many are between routers. A channel may stand
    /// there more than once.
    ///
    /// # Errors
    /// [`Error::Routing`](crate::error::Error::Routing) if the routing has a cycle, as custom tables may.
    pub fn walk(&self, source: TerminalId, target: TerminalId, rng: &mut Rng, path: &mut Vec<u32>) -> Result<u32> {
        self.walk_by(Queues::Idle, source, target, rng, path)
    }

    /// As [`Paths::walk`], each channel at its [place](Lines::place), where the lines and the routing are so regular that
    /// no table is asked; else nothing is appended or drawn.
    pub(super) fn walk_in(
        &self,
        lines: &Lines,
        [source, target]: [TerminalId; 2],
        rng: &mut Rng,
        path: &mut Vec<u32>,
    ) -> Option<u32> {
        let Min(order) = self.routing.downcast_ref::<Min<DimensionOrder<true>>>().filter(|_| lines.are_full())?;
        if self.injection {
            path.push(lines.place(self.network.ports().len() as u32 + source.0));
        }
        let first = path.len();
        let [from, to] = [source, target].map(|end| self.network.router_of(end));
        order.pieces(from, to, rng, |piece| lines.along(piece, path));
        let between = (path.len() - first) as u32;
        if self.consumption {
            path.push(lines.place(self.network.terminal_port(target).0));
        }
        Some(between)
    }

    /// As [`Paths::walk`], by other queues.
    pub(super) fn walk_by(
        &self,
        queues: Queues,
        source: TerminalId,
        target: TerminalId,
        rng: &mut Rng,
        path: &mut Vec<u32>,
    ) -> Result<u32> {
        let to = self.network.terminal_port(target);
        let (_, leaves_by) = self.network.local_port(to);
        let mut view = PacketView { arrived_by: 0, leaves_by, base: 0, queues };
        if self.injection {
            path.push(self.network.ports().len() as u32 + source.0);
        }
        let first = path.len();
        walk(self.network, &self.links, self.routing, [source, target], &mut view, rng, path)?;
        let between = (path.len() - first) as u32;
        if self.consumption {
            path.push(to.0);
        }
        Ok(between)
    }
}
