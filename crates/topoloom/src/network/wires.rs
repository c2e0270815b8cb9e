//! The rates, delays and lengths of links, where a network states its own.

use std::collections::HashMap;

use serde::Serialize;

use super::PortId;

/// What is known of a link beyond its class; `None` where nothing is stated.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Wire {
    /// Its rate in each direction, in Gb/s.
    pub gbps: Option<f64>,
    /// How long a bit takes from end to end, in nanoseconds.
    pub latency_ns: Option<f64>,
    /// Its length in metres.
    pub length_m: Option<f64>,
}

impl Wire {
    /// A link of which nothing is stated.
    pub const UNSAID: Self = Self { gbps: None, latency_ns: None, length_m: None };

    /// What `self` states, and what `other` states where `self` does not.
    pub fn or(self, other: Self) -> Self {
        Self {
            gbps: self.gbps.or(other.gbps),
            latency_ns: self.latency_ns.or(other.latency_ns),
            length_m: self.length_m.or(other.length_m),
        }
    }

    fn key(self) -> [Option<u64>; 3] {
        [self.gbps, self.latency_ns, self.length_m].map(|value| value.map(f64::to_bits))
    }
}

/// The wires of all ports: few kinds, and the number of its kind for each port.
#[derive(Debug, Clone, Default)]
pub(super) struct Wires {
    kinds: Vec<Wire>,
    /// By port; empty if nothing is stated of any.
    of_port: Vec<u32>,
}

impl Wires {
    /// Those of ports, in their order.
    pub fn of_ports(wires: impl Iterator<Item = Wire>) -> Self {
        let (mut kinds, mut known) = (Vec::new(), HashMap::new());
        let number = |wire: Wire| {
            *known.entry(wire.key()).or_insert_with(|| {
                kinds.push(wire);
                kinds.len() as u32 - 1
            })
        };
        let of_port: Vec<u32> = wires.map(number).collect();
        if kinds.iter().all(|kind| *kind == Wire::UNSAID) { Self::default() } else { Self { kinds, of_port } }
    }

    /// That of a port.
    #[inline]
    pub fn of(&self, port: PortId) -> Wire {
        self.of_port.get(port.index()).map_or(Wire::UNSAID, |&kind| self.kinds[kind as usize])
    }

    /// True if nothing is stated of any port.
    pub fn are_unsaid(&self) -> bool {
        self.of_port.is_empty()
    }

    /// True if any port has a rate: then all have, once a network is whole.
    pub fn have_rates(&self) -> bool {
        self.kinds.iter().any(|kind| kind.gbps.is_some())
    }

    /// True if any port has a delay.
    pub fn have_delays(&self) -> bool {
        self.kinds.iter().any(|kind| kind.latency_ns.is_some())
    }

    /// Gives the two ports of a link the wire that another port had in `before`.
    pub fn move_to(&mut self, ports: [PortId; 2], before: &Self, from: PortId) {
        if !before.are_unsaid() {
            ports.iter().for_each(|port| self.of_port[port.index()] = before.of_port[from.index()]);
        }
    }

    /// Those of the ports for which `keep` is true.
    pub fn kept(&self, keep: impl Fn(usize) -> bool) -> Self {
        let of_port = self.of_port.iter().enumerate().filter(|(port, _)| keep(*port)).map(|(_, &kind)| kind).collect();
        Self { kinds: self.kinds.clone(), of_port }
    }
}
