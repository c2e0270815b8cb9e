//! A domain: consecutive routers with their terminals, simulated by one thread.

use super::flit::{FRESH, Flit};
use super::snapshot::Snapshot;
use super::stats::Stats;
use super::terminals::{Sent, Terminals};
use super::wires::{Channel, FlitEvent, Outbox, TERMINAL, Wheel, Wires};
use super::{RouterModel, Setup};
use crate::network::{Network, Peer, PortId, RouterId, TerminalId};
use crate::rng::Rng;
use crate::routing::{Routing, View};
use crate::traffic::Traffic;

/// Routes what arrives in a domain in a cycle. The one part of the engine that is compiled again for each routing;
/// called through a reference, but once a cycle only.
pub trait Arrivals<M>: Sync {
    /// Takes in the flits that arrive at routers and terminals in cycle `now`.
    fn take_in(&self, domain: &mut Domain<M>, events: &[FlitEvent], now: u32, shared: &Shared<'_, M>);

    /// Cycles between two snapshots that the routing asks for, or 0.
    fn snapshot_period(&self) -> u32;
}

impl<M: RouterModel, R: Routing> Arrivals<M> for R {
    fn take_in(&self, domain: &mut Domain<M>, events: &[FlitEvent], now: u32, shared: &Shared<'_, M>) {
        for event in events {
            if event.to & TERMINAL != 0 {
                domain.eject(event, now);
            } else {
                domain.arrive(self, event, now, shared);
            }
        }
    }

    fn snapshot_period(&self) -> u32 {
        Routing::snapshot_period(self)
    }
}

/// What all domains read.
pub struct Shared<'a, M> {
    /// The routing.
    pub routing: &'a dyn Arrivals<M>,
    /// The traffic.
    pub traffic: &'a Traffic,
    /// Router and output of each terminal.
    pub targets: Vec<(u32, u16)>,
    /// The seed.
    pub seed: u64,
    /// The class index that stands for all VCs.
    pub all_vcs: u8,
    /// What routings may know about the whole network.
    pub snapshot: Snapshot,
}

/// The routers `first..first + n` with all that arrives at them. Aligned so that threads share no cache line.
#[repr(align(128))]
pub struct Domain<M> {
    /// The first router.
    pub first_router: u32,
    /// The first port.
    pub first_port: u32,
    /// First port of each router in the domain's numbering, and behind them the number of ports.
    first_ports: Vec<u32>,
    /// The routers' buffers and arbitration.
    pub model: M,
    /// The channels.
    pub wires: Wires,
    /// The sources.
    pub terminals: Terminals,
    /// The counts.
    pub stats: Stats,
    stride: u32,
}

/// The state of one router, for its routing.
struct RouterView<'a, M> {
    model: &'a M,
    first_port: u32,
    snapshot: &'a Snapshot,
}

impl<M: RouterModel> View for RouterView<'_, M> {
    #[inline(always)]
    fn occupancy(&self, port: u32) -> u32 {
        self.model.occupancy(self.first_port + port)
    }

    #[inline(always)]
    fn published(&self, port: PortId) -> u32 {
        self.snapshot.occupancy(port)
    }
}

impl<M: RouterModel> Domain<M> {
    /// Builds domain `index` of those that begin at the routers `bounds` (the last bound is the number of routers).
    pub fn new(network: &Network, setup: &Setup, traffic: &Traffic, load: f64, bounds: &[u32], index: usize) -> Self {
        let (first, end) = (bounds[index], bounds[index + 1]);
        let first_port = network.port_base(RouterId(first));
        let routers = (first..end).map(RouterId);
        let mut first_ports = vec![0];
        for router in routers.clone() {
            first_ports.push(first_ports[first_ports.len() - 1] + network.radix_of(router) as u32);
        }
        let ports = first_ports[first_ports.len() - 1] as usize;
        let mut terminals: Vec<(TerminalId, u32)> = Vec::new();
        let mut channels = Vec::with_capacity(ports);
        for port in (first_port..first_port + ports as u32).map(PortId) {
            let here = network.ports()[port.index()];
            let (peer, domain) = match here.peer {
                Peer::Terminal(terminal) => {
                    let place = terminals.len() as u32;
                    terminals.push((terminal, (port.0 - first_port) * setup.stride));
                    (TERMINAL | (place * setup.stride), index)
                }
                Peer::Port(peer) => {
                    let router = network.ports()[peer.index()].router.0;
                    let domain = bounds.partition_point(|&b| b <= router) - 1;
                    let base = network.port_base(RouterId(bounds[domain]));
                    ((peer.0 - base) * setup.stride, domain)
                }
            };
            let latency = setup.latency(network, port) + 1;
            channels.push(Channel { peer, latency, domain: domain as u32, free: 0, credit_free: 0, sent: 0 });
        }
        let horizon = setup.horizon(network);
        let wires = Wires {
            channels: channels.into_iter().collect(),
            flits: Wheel::new(horizon),
            credits: Wheel::new(horizon),
            outboxes: (1..bounds.len()).map(|_| Outbox::default()).collect(),
            domain: index as u32,
            credit_delay: setup.config.credit_delay,
        };
        Self {
            first_router: first,
            first_port,
            model: M::new(setup, &first_ports, ports),
            first_ports,
            wires,
            terminals: Terminals::new(setup, &terminals, traffic, load),
            stats: Stats::default(),
            stride: setup.stride,
        }
    }

    /// Simulates cycle `now`.
    pub fn cycle(&mut self, now: u32, shared: &Shared<'_, M>) {
        let events = self.wires.flits.take(now);
        shared.routing.take_in(self, &events, now, shared);
        self.wires.flits.recycle(events);
        self.take_credits(now);
        self.inject(now, shared.traffic, &shared.targets);
        self.model.step(now, &mut self.wires);
    }

    /// Tells the whole network what the outputs of this domain hold.
    pub fn publish(&self, snapshot: &Snapshot) {
        let ports = self.first_ports[self.first_ports.len() - 1];
        (0..ports).for_each(|port| snapshot.publish(PortId(self.first_port + port), self.model.occupancy(port)));
    }

    /// A flit has reached its terminal: it is counted, and its credit goes back.
    #[inline(always)]
    fn eject(&mut self, event: &FlitEvent, now: u32) {
        let vc = event.to & !TERMINAL;
        let channel = &self.wires.channels[(vc / self.stride) as usize];
        let time = now + channel.latency + self.wires.credit_delay;
        self.wires.credits.push(time, vc);
        self.stats.ejected(now);
        if event.flit.is_tail() {
            self.stats.delivered(event.flit.created, event.flit.injected, event.flit.hops, now);
        }
    }

    /// A flit has reached a router: a head is routed, from the state at the end of the previous internal step.
    #[inline(always)]
    fn arrive<R: Routing>(&mut self, routing: &R, event: &FlitEvent, now: u32, shared: &Shared<'_, M>) {
        let mut flit = event.flit;
        flit.hops += 1;
        if flit.is_head() {
            self.route(routing, event.to, &mut flit, now, shared);
        }
        self.model.accept(event.to, flit, now);
    }

    #[inline(always)]
    fn route<R: Routing>(&self, routing: &R, vc: u32, flit: &mut Flit, now: u32, shared: &Shared<'_, M>) {
        let local = self.model.router_of(vc);
        let at = RouterId(self.first_router + local);
        if at.0 == flit.dst {
            flit.out = flit.eject;
            flit.class = routing.eject_class(flit.state).unwrap_or(shared.all_vcs);
            return;
        }
        let dst = RouterId(flit.dst);
        let first_port = self.first_ports[local as usize];
        let view = RouterView { model: &self.model, first_port, snapshot: &shared.snapshot };
        let port = self.first_port + vc / self.stride;
        let mut rng = Rng::stream(shared.seed, u64::from(port) << 32 | u64::from(now));
        if flit.kind & FRESH != 0 {
            flit.kind &= !FRESH;
            flit.state = routing.start(at, dst, &view, &mut rng);
        }
        let hop = routing.choose(at, flit.state, dst, &view, &mut rng);
        flit.out = hop.port;
        flit.class = hop.class;
        flit.state = hop.next;
    }

    #[inline(never)]
    fn take_credits(&mut self, now: u32) {
        let credits = self.wires.credits.take(now);
        for &credit in &credits {
            if credit & TERMINAL != 0 {
                self.terminals.credit(credit & !TERMINAL, now);
            } else {
                self.model.credit(credit, 1);
            }
        }
        self.wires.credits.recycle(credits);
    }

    #[inline(never)]
    fn inject(&mut self, now: u32, traffic: &Traffic, targets: &[(u32, u16)]) {
        let awake = self.terminals.awake(now);
        for &place in &awake {
            if let Sent::Flit(to, flit) = self.terminals.send(place, now, traffic, targets) {
                self.stats.injected_flits += 1;
                if flit.is_head() {
                    self.stats.injected(flit.created);
                }
                self.wires.flits.push(now + self.terminals.latency(), FlitEvent { to, flit });
            }
        }
        self.terminals.recycle(awake);
    }

    /// Takes in what another domain has sent.
    pub fn receive(&mut self, outbox: &mut Outbox) {
        for (time, event) in outbox.flits.drain(..) {
            self.wires.flits.push(time, event);
        }
        for (time, vc) in outbox.credits.drain(..) {
            self.wires.credits.push(time, vc);
        }
    }
}
