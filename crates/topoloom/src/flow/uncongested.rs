//! What messages take on a network that nobody else uses.

use super::{FlowConfig, Paths};
use crate::network::{Network, TerminalId};
use crate::routing::AnyRouting;
use crate::workload::{IdealNetwork, Message};

/// Messages alone on their paths.
pub(super) struct Alone<'a> {
    network: &'a Network,
    paths: Paths<'a>,
    config: &'a FlowConfig,
    messages: &'a [Message],
    ends: &'a dyn Fn(u32) -> [TerminalId; 2],
    /// Bytes a second that a terminal sends and receives at most.
    terminal: [f64; 2],
    /// Links of terminals on every path.
    terminal_links: u32,
}

impl<'a> Alone<'a> {
    pub fn new(
        network: &'a Network,
        routing: &'a AnyRouting,
        messages: &'a [Message],
        ends: &'a dyn Fn(u32) -> [TerminalId; 2],
        config: &'a FlowConfig,
    ) -> Self {
        let limit = |links: Option<f64>| links.map_or(f64::INFINITY, |links| links * config.link_rate());
        Self {
            network,
            paths: Paths::new(network, routing, config),
            config,
            messages,
            ends,
            terminal: config.limits(network).map(limit),
            terminal_links: super::config::terminal_links(network),
        }
    }

    /// What a lower bound of the makespan takes from `with`.
    pub fn bound(&self, with: impl Fn(&IdealNetwork) -> f64) -> f64 {
        with(&IdealNetwork {
            send: self.terminal[0],
            receive: self.terminal[1],
            bytes: &|message| message.bytes as f64,
            alone_s: &|message| self.seconds(message),
        })
    }

    /// At most the rate of a link on each of its paths, and what its ends can send and receive.
    fn seconds(&self, message: u32) -> f64 {
        let rate = self.terminal.iter().fold(self.config.link_rate() * f64::from(self.config.paths), |a, b| a.min(*b));
        self.messages[message as usize].bytes as f64 / rate + self.latency_s(message)
    }

    /// That of the shortest of its paths. Where the routing adapts, which paths it takes is known at the end alone: each
    /// has a link at least.
    fn latency_s(&self, message: u32) -> f64 {
        if self.config.latency_s == 0.0 {
            return 0.0;
        }
        let ([source, target], mut path) = ((self.ends)(message), Vec::new());
        if self.paths.adapt() {
            let [from, to] = [source, target].map(|end| self.network.router_of(end));
            return self.config.latency_s * f64::from(u32::from(from != to) + self.terminal_links);
        }
        let mut rng = self.paths.stream(source, target);
        let mut between = || {
            path.clear();
            // A path that never ends is reported by the run.
            self.paths.walk(source, target, &mut rng, &mut path).unwrap_or(0)
        };
        let shortest = (0..self.config.paths).map(|_| between()).min().unwrap_or(0);
        self.config.latency_s * f64::from(shortest + self.terminal_links)
    }
}
