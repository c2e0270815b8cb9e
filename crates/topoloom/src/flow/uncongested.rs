//! The time of messages on an otherwise empty network.

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
    /// Bytes per second that a terminal sends and receives at most.
    terminal: [f64; 2],
    /// Bytes per second of each channel, where they differ or have delays of their own.
    channels: Option<Vec<f64>>,
    /// Bytes per second of the fastest link between routers, and the seconds of the shortest.
    best: (f64, f64),
}

impl<'a> Alone<'a> {
    pub fn new(
        network: &'a Network,
        routing: &'a AnyRouting,
        messages: &'a [Message],
        ends: &'a dyn Fn(u32) -> [TerminalId; 2],
        config: &'a FlowConfig,
    ) -> Self {
        let ports = (0..network.num_terminals() as u32).map(|id| network.terminal_port(TerminalId(id)));
        let fastest = ports.map(|port| config.rate_of(network, port)).fold(0.0, f64::max);
        let limit = |links: Option<f64>| links.map_or(f64::INFINITY, |links| links * fastest).min(config.byte_rate());
        let links = || network.links().iter().map(|link| link.ends[0]);
        let rates = links().map(|port| config.rate_of(network, port));
        let best =
            (rates.fold(0.0, f64::max), links().map(|p| config.delay_of(network, p)).fold(f64::INFINITY, f64::min));
        // Each message's path is asked for where it takes time or links differ; else those of the critical path.
        let all = network.has_rates() || network.has_delays() || config.latency_s > 0.0;
        Self {
            best,
            network,
            paths: if all { Paths::new(network, routing, config) } else { Paths::few(network, routing, config) },
            config,
            messages,
            ends,
            terminal: config.limits(network).map(limit),
            channels: (network.has_rates() || network.has_delays())
                .then(|| Paths::capacities(network, config).collect()),
        }
    }

    /// Bytes per second that a terminal sends, and receives, at most.
    pub fn terminal(&self) -> [f64; 2] {
        self.terminal
    }

    /// What a lower bound of the makespan takes from `with`.
    pub fn bound(&self, with: impl Fn(&IdealNetwork) -> f64) -> f64 {
        self.bound_by(&|message| self.seconds(message), with)
    }

    /// The same where it is known what each message takes alone.
    pub fn bound_by(&self, alone_s: &dyn Fn(u32) -> f64, with: impl Fn(&IdealNetwork) -> f64) -> f64 {
        let [send, receive] = self.terminal;
        with(&IdealNetwork { send, receive, bytes: &|message| message.bytes as f64, alone_s })
    }

    /// Seconds of a message of that many bytes on its only path.
    pub fn seconds_on(&self, bytes: f64, ends: [TerminalId; 2], path: &[u32]) -> f64 {
        let (delay_s, limit) = (self.paths.delay_s(ends, path.iter().copied()), self.terminal[0].min(self.terminal[1]));
        let Some(channels) = &self.channels else { return bytes / limit.min(self.config.link_rate()) + delay_s };
        let slowest = path.iter().map(|&channel| channels[channel as usize]).fold(f64::INFINITY, f64::min);
        (bytes / slowest + delay_s).max(bytes / limit)
    }

    /// Seconds of a message on its paths through an idle network, which those of a routing that adapts begin with.
    pub fn on_idle_paths(&self, message: &Message, ends: [TerminalId; 2]) -> f64 {
        if ends[0] == ends[1] {
            return 0.0;
        }
        let (bytes, mut path) = (message.bytes as f64, Vec::new());
        let mut rng = self.paths.stream(ends[0], ends[1]);
        let one = |_| {
            path.clear();
            // A path that never ends is reported by the run.
            let _ = self.paths.walk(ends[0], ends[1], &mut rng, &mut path);
            self.seconds_on(bytes / f64::from(self.config.paths), ends, &path)
        };
        let limit = self.terminal[0].min(self.terminal[1]);
        (0..self.config.paths).map(one).fold(bytes / limit, f64::max)
    }

    /// At most the rate of a link on each of its paths, and what its ends can send and receive.
    fn seconds(&self, message: u32) -> f64 {
        if let Some(channels) = &self.channels {
            return self.seconds_of_path(message, channels);
        }
        let rate = self.terminal.iter().fold(self.config.link_rate() * f64::from(self.config.paths), |a, b| a.min(*b));
        self.messages[message as usize].bytes as f64 / rate + self.latency_s(message)
    }

    /// The longest that a part takes over its path. Where the routing adapts, paths are known at the end alone: they
    /// take as long as links between the fastest routers do.
    fn seconds_of_path(&self, message: u32, channels: &[f64]) -> f64 {
        let (ends, mut path) = ((self.ends)(message), Vec::new());
        let bytes = self.messages[message as usize].bytes as f64;
        let part = bytes / f64::from(self.config.paths);
        let limited = bytes / self.terminal[0].min(self.terminal[1]);
        if ends[0] == ends[1] {
            return 0.0;
        }
        if self.paths.adapt() {
            let [from, to] = ends.map(|end| self.network.router_of(end));
            let (fastest, least_s) = self.best;
            let links = if from == to { 0.0 } else { (part / fastest).max(limited) + least_s };
            return links + self.paths.terminal_delay_s(ends);
        }
        let mut rng = self.paths.stream(ends[0], ends[1]);
        let one = |_| {
            path.clear();
            // A path that never ends is reported by the run.
            let _ = self.paths.walk(ends[0], ends[1], &mut rng, &mut path);
            let slowest = path.iter().map(|&channel| channels[channel as usize]).fold(f64::INFINITY, f64::min);
            part / slowest + self.paths.delay_s(ends, path.iter().copied())
        };
        (0..self.config.paths).map(one).fold(limited, f64::max)
    }

    /// That of the shortest of its paths. Where the routing adapts, which paths it takes is known at the end alone:
    /// each has a link at least.
    fn latency_s(&self, message: u32) -> f64 {
        if self.config.latency_s == 0.0 {
            return 0.0;
        }
        let ([source, target], mut path) = ((self.ends)(message), Vec::new());
        if self.paths.adapt() {
            let [from, to] = [source, target].map(|end| self.network.router_of(end));
            return self.config.latency_s * f64::from(from != to) + self.paths.terminal_delay_s([source, target]);
        }
        let mut rng = self.paths.stream(source, target);
        let delay_s = |_| {
            path.clear();
            // A path that never ends is reported by the run.
            let _ = self.paths.walk(source, target, &mut rng, &mut path);
            self.paths.delay_s([source, target], path.iter().copied())
        };
        (0..self.config.paths).map(delay_s).fold(f64::INFINITY, f64::min)
    }
}
